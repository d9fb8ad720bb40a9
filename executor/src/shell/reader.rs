//! The form of a row of [`super::readers`]: how a program reads all the files of a folder.

use super::options::Told;

/// A program, or a command of git, that reads what lies below the folders it is given.
pub(super) struct Reader {
    /// Its name; one of git's commands is `git grep`.
    pub name: &'static str,
    /// When it goes into folders.
    pub when: When,
    /// What of a folder it takes.
    pub sees: Sees,
    /// What its operands are.
    pub operands: Operands,
    /// Options that take the next word, with blanks between them.
    pub valued: &'static str,
    /// What options change of all this.
    pub narrows: &'static [(&'static str, Narrows)],
}

/// When a program goes into folders.
pub(super) enum When {
    /// Always.
    Always,
    /// With one of these options.
    With(&'static [&'static str]),
    /// With one of these options; without them it takes the files of a folder, and not those below.
    DeepWith(&'static [&'static str]),
    /// Without any of these options.
    Without(&'static [&'static str]),
    /// As tar does when it makes an archive or adds to one: `-c`, `czf`, `rf`.
    Archives,
}

/// What of a folder is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sees {
    /// Everything.
    All,
    /// What git knows.
    Tracked,
    /// Hidden files and ignored ones only where it is told so.
    Chosen {
        /// Hidden files too.
        hidden: bool,
        /// Ignored files too.
        ignored: bool,
    },
}

/// What the operands of a program are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// Files and folders.
    Places,
    /// The same, and the last is where they go.
    Sources,
    /// The same; with none of them, the folder it runs in.
    PlacesOrHere,
    /// A pattern, unless an option gives it, then files and folders; with none of these, the folder it runs in.
    Pattern,
    /// The same, but what is piped into it is read instead of the folder it runs in.
    PatternOrInput,
    /// A pattern as before, then what git takes: names of commits, and patterns of paths.
    PatternInGit,
    /// What git takes alone.
    InGit,
}

/// What an option changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Narrows {
    /// Only files with such a name.
    Only,
    /// No file with such a name.
    Not,
    /// No folder with such a name.
    NotFolder,
    /// A glob as ripgrep takes it.
    Glob,
    /// The same, in small and capital letters.
    GlobAnyCase,
    /// Only files of this type of ripgrep's.
    Type,
    /// No files of it.
    NotType,
    /// Types mean something else than usual.
    OtherTypes,
    /// So many levels.
    Depth,
    /// Hidden files too.
    Hidden,
    /// Ignored files too.
    Ignored,
    /// Ignored files too; given twice, hidden ones as well.
    Unrestricted,
    /// Everything, whatever is usually left out.
    Everything,
    /// Links are followed.
    Follows,
    /// The value is the pattern, or names a file of them.
    Pattern,
    /// The value is a folder in which the operands lie.
    In,
}

impl Narrows {
    /// Whether more is read with it.
    pub(super) fn widens(self) -> bool {
        use Narrows::*;
        match self {
            Hidden | Ignored | Unrestricted | Everything | Follows => true,
            Only | Not | NotFolder | Glob | GlobAnyCase | Type | NotType | OtherTypes | Depth | Pattern
            | In => false,
        }
    }
}

impl Reader {
    /// How far into a folder a program goes that is called so: `Some(None)` to the bottom, `None` not at all.
    pub(super) fn goes(&self, told: &Told<'_>) -> Option<Option<usize>> {
        let goes = match self.when {
            When::Always => true,
            When::With(options) => told.has_any(options),
            When::DeepWith(options) if !told.has_any(options) => return Some(Some(1)),
            When::DeepWith(_) => true,
            When::Without(options) => !told.has_any(options),
            // The oldest form of its options has no dash: `czf x.tgz .`.
            When::Archives => {
                told.has_any(&["-c", "--create", "-r", "--append", "-u", "--update"])
                    || told.operands.first().is_some_and(|word| is_old_cluster(&word.text))
            }
        };
        goes.then_some(None)
    }
}

fn is_old_cluster(text: &str) -> bool {
    text.contains(['c', 'r', 'u']) && text.chars().all(|letter| "cruvzjJafhpPkSWO".contains(letter))
}
