//! `tandem sessions`: the store, readable.

use tandem_shared::journal::Granted;
use tandem_shared::record::{Decision, Entry, Record};
use tandem_shared::store::SessionStore;

use crate::cli::{OutputFormat, Sessions};
use crate::exit::Exit;
use crate::front::{say, say_bytes, tell, words};
use crate::machine;
use crate::scene::{Failure, Scene};

/// Runs one of the commands.
pub fn run(scene: &Scene, what: Sessions) -> Result<Exit, Failure> {
    let folder = scene.state.sessions();
    let project = scene.state.project(scene.workspace.root());
    match what {
        Sessions::List => {
            let mut rows = project.sessions()?;
            rows.sort_by_key(|row| row.updated);
            for row in &rows {
                match scene.global.output_format {
                    OutputFormat::Text => say(&format!(
                        "{}  {}  {:<13}  {} turns  {}\n",
                        row.id,
                        machine::minute(row.updated),
                        row.state,
                        row.turns,
                        words::one_line(&row.title)
                    )),
                    OutputFormat::Json | OutputFormat::StreamJson => {
                        say(&format!("{}\n", serde_json::to_string(row).map_err(not_written)?));
                    }
                }
            }
            if rows.is_empty() {
                tell("This project has no session yet.\n");
            }
        }
        Sessions::Show { id } => {
            for entry in SessionStore::read(&folder, &scene.session_id(Some(&id))?)? {
                say(&shown(&entry));
            }
        }
        Sessions::Export { id } => {
            for entry in SessionStore::read(&folder, &scene.session_id(Some(&id))?)? {
                say(&format!("{}\n", serde_json::to_string(&entry).map_err(not_written)?));
            }
        }
        Sessions::Output { id, output } => {
            let id = scene.session_id(Some(&id))?;
            if !SessionStore::output(&folder, &id, &output, say_bytes)? {
                let text = format!(
                    "the session {id} has no output {output:?}; its ids stand where outputs were cut"
                );
                return Err(Failure::new(text, Exit::NotCompleted));
            }
        }
        // A variable that is not set must not stand for the newest.
        Sessions::Delete { id } if id.is_empty() => {
            return Err(Failure::new("which session is to be deleted? Give its id", Exit::Usage));
        }
        Sessions::Delete { id } => {
            let id = scene.session_id(Some(&id))?;
            SessionStore::delete(&folder, &id)?;
            project.remove_session(&id)?;
            tell(&format!("deleted {id}\n"));
        }
    }
    Ok(Exit::Done)
}

fn not_written(error: serde_json::Error) -> Failure {
    Failure::new(error, Exit::NotCompleted)
}

/// An entry for a person: a line for what is an event, a block for what was said.
fn shown(entry: &Entry) -> String {
    let block = |title: String, text: &str| format!("{title}\n{}", words::indented(text));
    let time = machine::minute(entry.ts);
    match &entry.record {
        Record::Opened { root, version } => format!("{time} opened in {root} by tandem {version}\n"),
        Record::TurnOpened { role, prompt, .. } => {
            block(format!("{time} turn of the {role:?}").to_lowercase(), prompt)
        }
        Record::Replied { model, text, calls, .. } => {
            let calls: String = calls
                .iter()
                .map(|call| format!("  · {} {}\n", call.name, words::clean(&call.summary())))
                .collect();
            block(format!("{time} {model}"), text) + &calls
        }
        Record::Said { role, model, text, .. } => {
            block(format!("{time} {model} ({role:?})").to_lowercase(), text)
        }
        Record::Unsaid { role, error } => {
            format!("{time} {role:?} failed: {}\n", words::one_line(error)).to_lowercase()
        }
        Record::Started { call_id, granted: Granted { by, effect_digest } } => {
            let what = effect_digest.as_ref().map(|digest| format!(" for effect {}", digest.short()));
            format!("{time} {call_id} acts, leave given by {by:?}{}\n", what.unwrap_or_default())
                .to_lowercase()
        }
        Record::Imaged(imaged) => format!("{time} kept {} as it was\n", words::one_line(&imaged.path)),
        Record::Settled { path, before, now, .. } => {
            let what = if before == now { "as it was" } else { "changed" };
            format!("{time} {} was found {what}\n", words::one_line(path))
        }
        Record::Uncovered { call_id, why } => {
            format!("{time} what {call_id} changed is not known: {}\n", words::one_line(why))
        }
        Record::Undone { id, of, why, restored } => {
            let files: Vec<&str> = restored.keys().map(String::as_str).collect();
            format!(
                "{time} {id} took back {} ({}): {}\n",
                of.join(", "),
                words::one_line(why),
                words::one_line(&files.join(", "))
            )
        }
        Record::Halted { why } => {
            format!("{time} ALERT, nothing more is changed: {}\n", words::one_line(why))
        }
        Record::Stepped { call_id, outcome, audit } => block(
            format!("{time} {call_id} {}: {} in {} ms", audit.tool, outcome.as_str(), audit.duration_ms),
            outcome.content(),
        ),
        Record::Noted { id, text, .. } => block(format!("{time} reminder {id}"), text),
        Record::Planned { plan } => {
            block(format!("{time} plan {}", plan.digest().short()), &plan.to_markdown())
        }
        Record::Decided { digest, decision } => {
            let what = match decision {
                Decision::Approve { by } => format!("approved by {by:?}").to_lowercase(),
                Decision::Revise { comment } => format!("sent back: {}", words::one_line(comment)),
                Decision::Reject => "rejected".to_owned(),
            };
            format!("{time} plan {} {what}\n", digest.short())
        }
        Record::Checked { step, moment, run, .. } => format!("{time} {}", words::check(*step, *moment, run)),
        Record::Proved { proof } => {
            format!(
                "{time} step {}: {} ({})\n",
                proof.step,
                proof.verdict.as_str(),
                words::one_line(&proof.reason)
            )
        }
        Record::Struck { strike, .. } => format!("{time} the same calls repeat, strike {strike}\n"),
        Record::Cut { stage, call_ids, freed } => {
            format!("{time} context {stage:?}: {} results cut, about {freed} tokens\n", call_ids.len())
                .to_lowercase()
        }
        Record::Compacted { summary, rounds, .. } => block(
            format!("{time} {rounds} rounds summarised"),
            &format!("{}\n{}\n{}", summary.goal, summary.changes, summary.open),
        ),
        Record::Pressure { high } => {
            format!(
                "{time} context {}\n",
                if *high { "over the warning mark" } else { "under the warning mark" }
            )
        }
        Record::Limited { what } => format!("{time} limit: {what}\n"),
        Record::TurnClosed { end } => format!("{time} turn ended. {}\n", words::end(end)),
        Record::Resumed { interrupted } => format!("{time} taken up again; in flight: {interrupted:?}\n"),
    }
}
