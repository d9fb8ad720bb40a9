//! A command that acts is seen wherever it stands.

use std::path::Path;

use proptest::prelude::*;

use super::composed::{ACTING, Choices, composed};
use crate::shell::{Judgement, Place, Rules, judge};

fn looks(command: &str) -> bool {
    judge(command, &Rules::default(), Place { root: Path::new("/srv/project") }) == Judgement::Looks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_acts_is_seen_wherever_it_stands(seed: u64, depth in 0_usize..5) {
        let mut choices = Choices(seed);
        let core = choices.of(ACTING);
        let command = composed(core, depth, &mut choices);
        prop_assert!(!looks(&command), "{command}");
    }

    #[test]
    fn what_follows_a_whole_command_is_seen(seed: u64, depth in 0_usize..4) {
        let command = composed("ls", depth, &mut Choices(seed));
        for more in ["; touch x", " && touch x", " | tee x", "\ntouch x", " & touch x", " || touch x"] {
            prop_assert!(!looks(&format!("{command}{more}")), "{command}{more}");
        }
    }
}
