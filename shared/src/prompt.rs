//! The system message: sections of a table, filtered by their conditions, sorted, filled and joined. It is composed
//! once for a session and role and then stays the same, so that a provider's cache of the prefix holds.

use crate::role::Role;
use crate::template::fill;

/// What decides about sections and fills their places.
#[derive(Clone, Debug)]
pub struct Situation {
    /// Who is addressed.
    pub role: Role,
    /// The canonical root.
    pub root: String,
    /// The day, as `2026-01-31`.
    pub date: String,
    /// Whether a person can answer.
    pub attended: Attended,
}

/// Whether a person can answer questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attended {
    /// Somebody is there.
    Yes,
    /// Nobody is.
    No,
}

struct Section {
    /// Lower comes first.
    order: u32,
    when: fn(&Situation) -> bool,
    text: &'static str,
}

macro_rules! section {
    ($order:literal, $file:literal, $when:expr) => {
        Section {
            order: $order,
            when: $when,
            text: include_str!(concat!("../../prompts/system/", $file, ".md")),
        }
    };
}

const SECTIONS: &[Section] = &[
    section!(10, "identity", |_| true),
    section!(20, "rules", acts),
    section!(30, "looking", acts),
    section!(40, "planner", |s| s.role == Role::Planner),
    section!(40, "executor", |s| s.role == Role::Executor),
    section!(40, "thinking", |s| s.role == Role::Thinking),
    section!(40, "critique", |s| s.role == Role::Critique),
    section!(50, "untrusted", |_| true),
    section!(60, "unattended", |s| acts(s) && s.attended == Attended::No),
];

/// The system message for a situation.
pub fn system(situation: &Situation) -> String {
    let mut sections: Vec<&Section> = SECTIONS.iter().filter(|section| (section.when)(situation)).collect();
    sections.sort_by_key(|section| section.order);
    let values = [("root", situation.root.as_str()), ("date", situation.date.as_str())];
    sections.iter().map(|section| fill(section.text, &values)).collect::<Vec<_>>().join("\n\n")
}

fn acts(situation: &Situation) -> bool {
    matches!(situation.role, Role::Planner | Role::Executor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn composed(role: Role, attended: Attended) -> String {
        system(&Situation { role, root: "/p".into(), date: "2026-01-31".into(), attended })
    }

    #[test]
    fn each_role_gets_its_own_sections() {
        for role in Role::ALL {
            let text = composed(role, Attended::Yes);
            assert!(!text.contains("{{"), "{role}: {text}");
            assert!(text.contains("/p") && text.contains("# Material"), "{role}");
            assert_eq!(text.contains("# Plan mode"), role == Role::Planner, "{role}");
            assert_eq!(text.contains("# Execution"), role == Role::Executor, "{role}");
            assert_eq!(text.contains("# Thinking"), role == Role::Thinking, "{role}");
            assert!(!text.contains("# Nobody"), "{role}");
        }
    }

    #[test]
    fn roles_without_tools_read_nothing_about_tools() {
        for role in [Role::Thinking, Role::Critique] {
            assert!(!composed(role, Attended::No).contains("read_file"));
        }
        assert!(composed(Role::Planner, Attended::No).contains("# Nobody is watching"));
    }
}
