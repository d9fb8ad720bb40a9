//! Commands, by leave: run and waited for, run once more outside the cage, or started in the background.

use tandem_shared::call::{Artifact, ErrorKind, ToolError};
use tandem_shared::journal::{Granted, GrantedBy};
use tandem_shared::person::{Answer, Effect, Question};

use super::WriteCx;
use crate::around;
use crate::cage::Hindrance;
use crate::coverage::Before;
use crate::jobs::{self, Opening};
use crate::process::{self, Behind, Ended, Hold, Limits};
use crate::reach::Reach;

/// What came of a command.
pub struct Ran {
    /// How it ended.
    pub ended: Ended,
    /// What it changed.
    pub changes: Vec<Artifact>,
    /// The job that what it left running belongs to.
    pub job: Option<u32>,
}

impl WriteCx {
    /// Runs the command that leave was given to, and answers with how it ended and what it changed.
    ///
    /// # Errors
    /// When the grant is not for a command, when no process could be started, or when what it changed could not be kept.
    pub async fn run_command(&self, limits: Limits, reach: Reach) -> Result<Ran, ToolError> {
        let Effect::Command { command } = self.grant.effect() else {
            return Err(ToolError::new(ErrorKind::Permission, "Leave was not given to run a command."));
        };
        let read = self.cx.read();
        let around = &self.cx.around;
        let id = &self.grant.call().id;
        let tell = |text: &str| (around.output)(id, text);
        let keeping = around.keeping();
        let hold =
            Hold { env: &around.env, cage: &around.cage, reach, tell: Some(&tell), keeping: Some(&keeping) };
        let run = process::run(command, &read.workspace, limits, hold, &read.interrupt);
        if reach == Reach::Looks {
            let (ended, behind) = run.await?;
            return Ok(Ran { job: self.adopt(behind, &ended, hold).await?, ended, changes: Vec::new() });
        }
        let before = around::before(&around.coverage, &read.interrupt).await;
        let Some(before) = before else {
            let (ended, _) = run.await?;
            return Ok(Ran { ended, changes: Vec::new(), job: None });
        };
        let (ended, behind) = run.await?;
        let job = self.adopt(behind, &ended, hold).await?;
        let changes = self.settle(before).await?;
        Ok(Ran { ended, changes, job })
    }

    /// Makes a job of what a command left running.
    async fn adopt(
        &self,
        behind: Option<Behind>,
        ended: &Ended,
        hold: Hold<'_>,
    ) -> Result<Option<u32>, ToolError> {
        let (Some(behind), Effect::Command { command }) = (behind, self.grant.effect()) else {
            return Ok(None);
        };
        let jobs = &self.cx.around.jobs;
        let job = jobs.adopt(command, behind, ended.by, &self.cx.read().workspace, hold).await?;
        if hold.reach != Reach::Looks {
            self.goes_on(job)?;
        }
        Ok(Some(job))
    }

    /// The same outside the cage, when a person is there and gives leave to that as well. `None` when not.
    ///
    /// # Errors
    /// As of [`WriteCx::run_command`].
    pub async fn run_outside_the_cage(
        &self,
        limits: Limits,
        hindrance: Hindrance,
    ) -> Result<Option<Ran>, ToolError> {
        let Effect::Command { command } = self.grant.effect() else { return Ok(None) };
        let call = self.grant.call();
        let mut effect = Effect::Uncaged { command: command.clone() };
        effect.mask(&self.cx.around.env.secrets);
        let granted = Granted { by: GrantedBy::Person, effect_digest: Some(effect.digest()) };
        let question = Question::Approve {
            call: call.clone(),
            effect,
            why: format!(
                "it failed, most likely because the cage keeps it from {}; yes runs it once more, outside the cage",
                hindrance.what()
            ),
            always: Vec::new(),
        };
        match self.cx.read().person.ask(question).await {
            Some(Answer::Yes) => {
                self.cx.journal().started(call, &granted)?;
                self.run_command(limits, Reach::Beyond).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Starts the command that leave was given to in the background, and answers with what it changed so far.
    ///
    /// # Errors
    /// When the grant is not for a command, when no process could be started, or when what it changed could not be kept.
    pub async fn start_job(&self) -> Result<(Opening, Vec<Artifact>), ToolError> {
        let Effect::Command { command } = self.grant.effect() else {
            return Err(ToolError::new(ErrorKind::Permission, "Leave was not given to run a command."));
        };
        let around = &self.cx.around;
        let keeping = around.keeping();
        let hold = Hold {
            env: &around.env,
            cage: &around.cage,
            reach: Reach::Acts,
            tell: None,
            keeping: Some(&keeping),
        };
        let read = &around.read;
        let before = around::before(&around.coverage, &read.interrupt).await.ok_or_else(jobs::unbegun)?;
        let opening = around.jobs.start(command, &read.workspace, hold, &read.interrupt).await?;
        let changes = self.settle(before).await?;
        if opening.end.is_none() {
            self.goes_on(opening.id)?;
        }
        Ok((opening, changes))
    }

    /// Keeps what the command changed.
    async fn settle(&self, before: Before<'_>) -> Result<Vec<Artifact>, ToolError> {
        let (id, read) = (&self.grant.call().id, self.cx.read());
        let kept = around::settle(before, id, &read.workspace, self.cx.journal(), &read.interrupt).await;
        kept.map_err(|mut fault| {
            fault.text = format!("The command ran, but what it changed could not be kept. {}", fault.text);
            fault
        })
    }

    /// Nobody looks at the tree when a job changes something.
    fn goes_on(&self, job: u32) -> Result<(), ToolError> {
        let blind = format!("what job {job} changes in the background is not known");
        self.cx.journal().turned(&self.grant.call().id, &[], &[blind])
    }
}
