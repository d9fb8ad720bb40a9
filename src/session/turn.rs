//! What a turn is made of: its opening and closing, and the parts that its run is handed.

use std::borrow::Cow;
use std::sync::Arc;

use tandem_shared::agent::{self, Agent, End, Overseer, Settings, SystemTexts};
use tandem_shared::event::Event;
use tandem_shared::interrupt::Interrupt;
use tandem_shared::prompt::{self, Attended, Situation};
use tandem_shared::record::Record;
use tandem_shared::role::{ActingRole, Role, WordsRole};
use tandem_shared::tool::{ReadCx, Toolbox};

use super::actor::Session;
use super::report;
use super::setup::Attendance;

impl Session {
    pub(super) fn open_turn(&self, role: ActingRole, prompt: &str, plan_demanded: bool) -> bool {
        let prompt = self.setup.masker.mask(prompt);
        if let Cow::Owned(_) = prompt {
            let text = "Your words hold a token or key, which is masked: models and the log never get one. Where a command \
                        needs it, name a variable or a file that holds it.";
            self.tell(Event::Notice { text: text.to_owned() });
        }
        let opened = self.record(Record::TurnOpened { role, prompt: prompt.into_owned(), plan_demanded });
        if opened {
            self.note_state();
            self.tell(Event::TurnOpened { role, model: self.router.info(role.into()).name });
        }
        opened
    }

    pub(super) fn close_turn(&self, end: End) {
        let closing = self.store.facts(|facts| report::close(end, facts));
        if !self.record(Record::TurnClosed { end: closing.end.clone() }) {
            return;
        }
        self.note_state();
        let report = self.store.facts(|facts| report::report(self.store.id(), closing, facts));
        self.tell(Event::Done { report });
    }

    pub(super) fn read_cx(&self, interrupt: &Interrupt) -> ReadCx {
        ReadCx {
            workspace: self.setup.workspace.clone(),
            archive: self.store.clone(),
            person: self.person.clone(),
            interrupt: interrupt.clone(),
            leave: self.leave.clone(),
            limits: Arc::new(self.setup.loaded.config.tools.clone()),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each is a part of one run, named by its field in Agent")]
    pub(super) fn agent<'a>(
        &'a self,
        role: ActingRole,
        toolbox: &'a dyn Toolbox,
        system: &'a SystemTexts,
        settings: &'a Settings,
        overseer: &'a dyn Overseer,
        hear: agent::Hear<'a>,
        interrupt: &'a Interrupt,
    ) -> Agent<'a> {
        Agent {
            role,
            model: self.router.acting(role),
            thinker: self.router.words(WordsRole::Thinking),
            compactor: self.router.words(WordsRole::Compaction),
            toolbox,
            store: &self.store,
            system,
            project: &self.notes,
            settings,
            overseer,
            masker: &self.setup.masker,
            hear,
            interrupt,
        }
    }

    pub(super) fn settings(&self) -> Settings {
        let config = &self.setup.loaded.config;
        Settings {
            limits: config.r#loop.clone(),
            context: config.context.clone(),
            thinking: config.thinking.clone(),
        }
    }

    pub(super) fn system_texts(&self, role: ActingRole) -> SystemTexts {
        SystemTexts { acting: self.system_text(role.into()), thinking: self.system_text(Role::Thinking) }
    }

    pub(super) fn system_text(&self, role: Role) -> String {
        prompt::system(&Situation {
            role,
            root: self.setup.workspace.root().display().to_string(),
            date: self.today.clone(),
            attended: match self.setup.attendance {
                Attendance::Attended => Attended::Yes,
                Attendance::Unattended => Attended::No,
            },
        })
    }
}
