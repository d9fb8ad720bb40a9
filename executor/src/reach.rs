//! What a command can do to files.

/// What a command can do to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It only looks, by the rules.
    Looks,
    /// It may change something.
    Acts,
    /// It may do what the user can do: a person let it out of the cage.
    Beyond,
}
