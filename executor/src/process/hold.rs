//! What holds a command.

use super::recording::Keeping;
use super::stream::Tell;
use crate::cage::Cage;
use crate::environment::Environment;
use crate::reach::Reach;

/// What holds a command: its whole environment, and the cage that it runs in.
#[derive(Clone, Copy)]
pub struct Hold<'a> {
    /// Its variables, and the secrets that are masked in its output.
    pub env: &'a Environment,
    /// The session's cage.
    pub cage: &'a Cage,
    /// What it is let do in there.
    pub reach: Reach,
    /// Who hears what it prints while it runs.
    pub tell: Option<Tell<'a>>,
    /// Where a long output is kept.
    pub keeping: Option<&'a Keeping>,
}
