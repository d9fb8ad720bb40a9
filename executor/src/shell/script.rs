//! What a command line is made of: simple commands with their words, redirects and pipes.

/// A whole command line, flattened: every simple command at any depth, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The simple commands, also those inside substitutions, functions and wrappers.
    pub commands: Vec<Simple>,
    /// What could not be understood, in words; empty for a command that is understood throughout.
    pub odd: Vec<String>,
    /// Names of functions that it defines.
    pub functions: Vec<String>,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// The program and its arguments, quotes removed; empty for a bare redirect or assignment.
    pub words: Vec<Word>,
    /// Names of the variables set before the program.
    pub assigns: Vec<String>,
    /// Redirects of this command or of a group around it.
    pub redirects: Vec<Redirect>,
    /// Text fed to it by a here-document or here-string, where it is known.
    pub stdin: Option<Word>,
    /// Whether it, or a group around it, runs in the background.
    pub background: bool,
    /// Commands whose output is piped into it, as places in [`Script::commands`].
    pub upstream: Vec<usize>,
    /// Commands inside its own words (substitutions), as places in [`Script::commands`].
    pub inner: Vec<usize>,
    /// Whether it stands in a substitution, so that its output becomes words of another command.
    pub captured: bool,
    /// The wrapper that starts it, for example `env` or `xargs`.
    pub via: Option<String>,
    /// The function whose body holds it.
    pub function: Option<String>,
    /// Where it runs, relative to the root or absolute; `None` when nobody can say.
    pub dir: Option<String>,
}

/// A word after quote removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The text; for an unknown word, the source with quotes removed.
    pub text: String,
    /// Whether the text is what the program will get; an expansion makes a word unknown.
    pub known: bool,
    /// Whether it holds an unquoted file-name pattern.
    pub glob: bool,
    /// What an unknown word may come to, with the marks of [`super::meaning`] for what nobody can tell; none: anything.
    pub may: Vec<String>,
}

/// A redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The operator, for example `>`, `>>`, `<`, `>&`.
    pub op: String,
    /// Where to.
    pub target: Word,
}

impl Script {
    /// Adds the commands of `other` behind its own.
    pub(super) fn append(&mut self, other: Script) {
        let offset = self.commands.len();
        self.odd.extend(other.odd);
        self.functions.extend(other.functions);
        self.commands.extend(other.commands.into_iter().map(|mut simple| {
            for at in simple.upstream.iter_mut().chain(&mut simple.inner) {
                *at += offset;
            }
            simple
        }));
    }
}

impl Simple {
    /// The program's name without its folder; empty when there is none.
    pub fn name(&self) -> &str {
        let text = self.words.first().map_or("", |word| word.text.as_str());
        text.rsplit('/').next().unwrap_or(text)
    }

    /// The arguments.
    pub fn args(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }
}

impl Word {
    /// A word whose text is certain.
    pub fn known(text: impl Into<String>) -> Word {
        Word { text: text.into(), known: true, ..Word::default() }
    }
}
