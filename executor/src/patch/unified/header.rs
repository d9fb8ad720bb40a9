//! Reads the headers of one file in a unified diff.

use super::super::fault::PatchFault;
use super::super::lines::Lines;

/// What the headers of a file say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The path; of a moved file, the old one.
    pub path: String,
    /// What becomes of the file.
    pub kind: Kind,
}

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is made.
    New {
        /// Whether its owner may run it.
        executable: bool,
    },
    /// It is removed.
    Deleted,
    /// It stays, perhaps elsewhere or with another mode.
    Changed {
        /// Its new path.
        move_to: Option<String>,
        /// Whether its owner may run it from now on.
        mode: Option<bool>,
    },
}

/// Stands for a file that is not there.
const NOTHING: &str = "/dev/null";

/// What was read so far.
#[derive(Default)]
struct Seen {
    /// From `diff --git`, where both names are one.
    git: Option<String>,
    moved: (Option<String>, Option<String>),
    new: Option<bool>,
    deleted: bool,
    mode: Option<bool>,
    sides: Option<[Option<String>; 2]>,
}

impl Header {
    /// Reads up to the first hunk, or the next file.
    ///
    /// # Errors
    /// When there is no path, or something that a patch cannot do.
    pub fn read(lines: &mut Lines<'_>) -> Result<Header, PatchFault> {
        let (line, text) = (lines.number(), lines.peek().unwrap_or_default().to_owned());
        let mut seen = Seen::default();
        if let Some(names) = text.strip_prefix("diff --git ") {
            seen.git = same_name(names);
            lines.advance();
            while let Some(text) = lines.peek() {
                if !seen.extended(lines.number(), text)? {
                    break;
                }
                lines.advance();
            }
        }
        if lines.name_two_sides() {
            let mut side = |mark| {
                let text = lines.peek().unwrap_or_default();
                let name = text.strip_prefix(mark).and_then(name_of);
                let path =
                    name.ok_or_else(|| PatchFault::NoPath { line: lines.number(), text: text.to_owned() });
                lines.advance();
                path
            };
            seen.sides = Some(without_prefixes([side("--- ")?, side("+++ ")?]));
        }
        seen.header(line, text)
    }
}

impl Seen {
    /// Reads a header of git's own; `false` when it is none.
    fn extended(&mut self, line: usize, text: &str) -> Result<bool, PatchFault> {
        let unsupported = |what, instead| Err(PatchFault::Unsupported { line, what, instead });
        let path = |name| {
            let path = unquoted(name).filter(|path| !path.is_empty());
            path.ok_or_else(|| PatchFault::NoPath { line, text: text.to_owned() }).map(Some)
        };
        let after = |header| text.strip_prefix(header);
        if let Some(name) = after("rename from ") {
            self.moved.0 = path(name)?;
        } else if let Some(name) = after("rename to ") {
            self.moved.1 = path(name)?;
        } else if let Some(mode) = after("new file mode ") {
            self.new = Some(executable(line, mode)?);
        } else if let Some(mode) = after("new mode ") {
            self.mode = Some(executable(line, mode)?);
        } else if let Some(mode) = after("deleted file mode ") {
            executable(line, mode)?;
            self.deleted = true;
        } else if let Some(mode) = after("old mode ") {
            executable(line, mode)?;
        } else if text.starts_with("copy from ") || text.starts_with("copy to ") {
            return unsupported("a copy", "Add the new file with its whole content.");
        } else if text.starts_with("Binary files ") || text.starts_with("GIT binary patch") {
            return unsupported("a binary file", "Leave it out, or make it with a command.");
        } else {
            let ignored = ["index ", "similarity index ", "dissimilarity index "];
            return Ok(ignored.iter().any(|header| text.starts_with(header)));
        }
        Ok(true)
    }

    fn header(self, line: usize, text: String) -> Result<Header, PatchFault> {
        let no_path = || PatchFault::NoPath { line, text: text.clone() };
        if let (Some(from), Some(to)) = self.moved {
            if let Some(sides) =
                self.sides.filter(|[old, new]| (old, new) != (&Some(from.clone()), &Some(to.clone())))
            {
                let [old, new] = sides.map(|side| side.unwrap_or_else(|| NOTHING.to_owned()));
                return Err(PatchFault::TwoPaths { line, old, new });
            }
            let kind = Kind::Changed { move_to: Some(to), mode: self.mode };
            return Ok(Header { path: from, kind });
        }
        let [old, new] = self.sides.unwrap_or_else(|| [self.git.clone(), self.git]);
        let kind = match (&old, &new) {
            _ if self.deleted => Kind::Deleted,
            (_, None) if old.is_some() => Kind::Deleted,
            _ if self.new.is_some() => Kind::New { executable: self.new.unwrap_or_default() },
            (None, Some(_)) => Kind::New { executable: false },
            _ => Kind::Changed { move_to: None, mode: self.mode },
        };
        let path = match (old, new) {
            (Some(old), Some(new)) if old != new => return Err(PatchFault::TwoPaths { line, old, new }),
            (Some(path), _) | (None, Some(path)) => path,
            (None, None) => return Err(no_path()),
        };
        if path.is_empty() { Err(no_path()) } else { Ok(Header { path, kind }) }
    }
}

fn executable(line: usize, mode: &str) -> Result<bool, PatchFault> {
    match mode.trim() {
        "100755" => Ok(true),
        "100644" => Ok(false),
        _ => Err(PatchFault::Unsupported {
            line,
            what: "anything but a regular file of mode 100644 or 100755",
            instead: "Make it with a command.",
        }),
    }
}

/// The name in a `---` or `+++` line, before the tab that a time or nothing follows; `None` inside for `/dev/null`.
fn name_of(text: &str) -> Option<Option<String>> {
    let name = if text.starts_with('"') { text } else { text.split('\t').next()? };
    let path = unquoted(name)?;
    if path.is_empty() { None } else { Some((path != NOTHING).then_some(path)) }
}

/// Takes `a/` from the old and `b/` from the new name, where no name speaks against it.
fn without_prefixes([old, new]: [Option<String>; 2]) -> [Option<String>; 2] {
    let bare = |name: &Option<String>, prefix| match name {
        None => Some(None),
        Some(name) => name.strip_prefix(prefix).map(|path| Some(path.to_owned())),
    };
    match (bare(&old, "a/"), bare(&new, "b/")) {
        (Some(old), Some(new)) => [old, new],
        _ => [old, new],
    }
}

/// The one name that `a/NAME b/NAME` holds.
fn same_name(names: &str) -> Option<String> {
    let (old, new) = if names.starts_with('"') {
        let (old, rest) = quoted(names)?;
        (old, unquoted(rest.strip_prefix(' ')?)?)
    } else {
        let (old, new) = names.split_at_checked(names.len() / 2)?;
        (old.to_owned(), unquoted(new.strip_prefix(' ')?)?)
    };
    match without_prefixes([Some(old), Some(new)]) {
        [Some(old), Some(new)] if old == new => Some(old),
        _ => None,
    }
}

/// A name as it is, or as git quotes it.
fn unquoted(name: &str) -> Option<String> {
    if name.starts_with('"') { quoted(name).map(|(name, _)| name) } else { Some(name.to_owned()) }
}

/// Reads a string in quotes as C writes it; answers it and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut bytes = Vec::new();
    let mut rest = text.strip_prefix('"')?;
    loop {
        let end = rest.find(['"', '\\'])?;
        let (plain, more) = rest.split_at_checked(end)?;
        bytes.extend_from_slice(plain.as_bytes());
        if let Some(after) = more.strip_prefix('"') {
            return Some((String::from_utf8(bytes).ok()?, after));
        }
        let escape = more.strip_prefix('\\')?;
        if let Some(byte) = escape.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(byte);
            rest = escape.get(3..)?;
            continue;
        }
        let letter = escape.chars().next()?;
        bytes.push(match letter {
            'a' => 7,
            'b' => 8,
            't' => b'\t',
            'n' => b'\n',
            'v' => 11,
            'f' => 12,
            'r' => b'\r',
            '"' => b'"',
            '\\' => b'\\',
            _ => return None,
        });
        rest = escape.get(letter.len_utf8()..)?;
    }
}
