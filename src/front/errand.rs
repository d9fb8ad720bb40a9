//! One task through a session, from its first words to its exit code.

use tandem_shared::event::Op;
use tandem_shared::plan::Approver;
use tandem_shared::record::Decision;
use tandem_shared::store::Clock;

use super::lines::Lines;
use super::show::Show;
use super::terminal::tell;
use super::waiting::{ShownPlan, Verdict, Waited, Watched};
use crate::exit::Exit;
use crate::session::Handle;

/// A task.
pub struct Errand {
    /// What is said first.
    pub first: Op,
    /// Who approves a plan.
    pub leave: Leave,
    /// Whether a plan goes ahead although its files changed.
    pub stale_ok: bool,
    /// The person, if there is one.
    pub person: Option<Lines>,
}

/// Who approves a plan that the errand drafts or brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// The plan is the result; nothing is approved.
    PlanOnly,
    /// It was given on the command line.
    Given,
    /// The person is asked; nobody is no.
    Ask,
}

/// Runs the errand and closes the session.
pub async fn conduct(session: Handle, errand: Errand, show: &mut dyn Show, clock: Clock) -> Exit {
    let Errand { first, leave, stale_ok, person } = errand;
    let mut watched = Watched::new(session, person, show, clock);
    let mut op = first;
    loop {
        let rest = match watched.send(op).await {
            Waited::Rest(rest) => rest,
            Waited::Gone => return watched.close(Exit::NotCompleted).await,
            Waited::Left => return watched.leave(),
        };
        let exit = rest.exit.unwrap_or(Exit::Done);
        let plan = match rest.plan {
            Some(plan) if exit == Exit::Done && leave != Leave::PlanOnly => plan,
            _ => return watched.close(exit).await,
        };
        let decision = match decide(&mut watched, leave, &plan, stale_ok).await {
            Ok(decision) => decision,
            Err(exit) => return watched.close(exit).await,
        };
        let rejected = decision == Decision::Reject;
        op = Op::Decide { digest: plan.digest, decision };
        if rejected {
            watched.send(op).await;
            return watched.close(Exit::NotApproved).await;
        }
    }
}

/// Decides on a plan that was shown, or says with which code the errand ends.
async fn decide(
    watched: &mut Watched<'_>,
    leave: Leave,
    plan: &ShownPlan,
    stale_ok: bool,
) -> Result<Decision, Exit> {
    // A person who is asked has been told which files changed; leave given before cannot know.
    let asked = leave == Leave::Ask && watched.person.is_some();
    if !plan.stale.is_empty() && !stale_ok && !asked {
        tell(
            "The plan is stale: files that it names changed since it was made. Plan again, or use --stale-ok.\n",
        );
        return Err(Exit::NotApproved);
    }
    if leave == Leave::Given {
        return Ok(Decision::Approve { by: Approver::Flag });
    }
    if !asked {
        tell(
            "The plan was not approved: nobody is there to ask. Approve it with --yes, or later with `tandem exec`.\n",
        );
        return Err(Exit::NotApproved);
    }
    match watched.decide().await {
        Verdict::Decided(decision) => Ok(decision),
        // One task has no commands; the words are meant for the planner.
        Verdict::Command(comment) => Ok(Decision::Revise { comment }),
        Verdict::Interrupted => Err(Exit::Interrupted),
    }
}
