//! Events without secrets: what front ends hear.

use tandem_shared::call::Receipt;
use tandem_shared::event::Event;
use tandem_shared::record::Decision;
use tandem_shared::secret::Masker;
use tandem_shared::undo::Fate;

/// Masks what front ends hear. The arguments of a call are masked here and not in the history: there they are the model's
/// own words, which go back to it as they were. A plan stays as it is, because leave is given to its digest.
pub(super) fn masked(mut event: Event, masker: &Masker) -> Event {
    match &mut event {
        Event::Delta { text }
        | Event::Reasoning { text }
        | Event::Thinking { text }
        | Event::Critique { text, .. }
        | Event::Retry { reason: text, .. }
        | Event::Notice { text }
        | Event::Output { text, .. }
        | Event::Error { message: text, .. }
        | Event::PlanDecided { decision: Decision::Revise { comment: text }, .. } => masker.clean(text),
        Event::ToolCall { summary, arguments, .. } => {
            masker.clean(summary);
            masker.clean(arguments);
        }
        Event::ToolResult { preview, receipts, .. } => {
            masker.clean(preview);
            receipts.iter_mut().for_each(|receipt: &mut Receipt| masker.clean(&mut receipt.diff));
        }
        Event::Asked { question, .. } => question.mask(masker),
        Event::Check { run, .. } => {
            masker.clean(&mut run.command);
            masker.clean(&mut run.output);
        }
        Event::Undone(report) => report.files.iter_mut().for_each(|row| {
            if let Fate::Conflict { why } = &mut row.fate {
                masker.clean(why);
            }
        }),
        Event::Jobs { jobs } => jobs.iter_mut().for_each(|job| masker.clean(&mut job.command)),
        Event::Done { report } => masker.clean(&mut report.answer),
        Event::SessionOpened { .. }
        | Event::TurnOpened { .. }
        | Event::Plan { .. }
        | Event::PlanDecided { decision: Decision::Approve { .. } | Decision::Reject, .. }
        | Event::Reminder { .. }
        | Event::Context { .. }
        | Event::Loop { .. }
        | Event::Status(_)
        | Event::Window(_)
        | Event::Usage { .. }
        | Event::Ready => {}
    }
    event
}
