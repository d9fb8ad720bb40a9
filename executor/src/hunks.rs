//! The hunks of a patch on the content of one file: each is an edit, looked for behind the one before it.

use tandem_shared::call::{ErrorKind, ToolError};

use crate::edit::{self, Edited, Extent, Refused, Wanted};
use crate::patch::Hunk;
use crate::refusal;

/// Applies `hunks` in order. Answers the content and how the places were found.
///
/// # Errors
/// When a hunk's place cannot be told; the error says which hunk and what stands there.
pub fn apply(name: &str, content: &[u8], hunks: &[Hunk]) -> Result<(Vec<u8>, &'static str), ToolError> {
    let mut content = content.to_vec();
    let mut pass = "patched";
    // Where the search begins, and by how many lines the file has grown so far.
    let (mut from, mut grown) = (0, 0);
    for (at, hunk) in hunks.iter().enumerate() {
        let (edited, end) = one(name, &content, from, grown, hunk).map_err(|mut error| {
            if hunks.len() > 1 {
                error.text = format!("Hunk {} of {}: {}", at + 1, hunks.len(), error.text);
            }
            error
        })?;
        grown += lines(&edited.content) as isize - lines(&content) as isize;
        if edited.pass != "exact" {
            pass = edited.pass;
        }
        (content, from) = (edited.content, end);
    }
    Ok((content, pass))
}

/// Applies one hunk to what stands behind `from`, and answers where it ends.
fn one(
    name: &str,
    content: &[u8],
    from: usize,
    grown: isize,
    hunk: &Hunk,
) -> Result<(Edited, usize), ToolError> {
    let from = behind_sections(name, content, from, &hunk.section)?;
    let near_line = hunk.near_line.map(|line| line.saturating_add_signed(grown));
    if hunk.old.is_empty() {
        let at = insertion_place(name, content, from, near_line, hunk)?;
        return Ok(insert(content, at, &hunk.new));
    }
    let (head, rest) = content.split_at_checked(from).unwrap_or((content, b""));
    let skipped = lines(head);
    let wanted = Wanted {
        old: hunk.old.as_bytes(),
        new: hunk.new.as_bytes(),
        extent: Extent::One,
        near_line: near_line.map(|line| line.saturating_sub(skipped).max(1)),
    };
    let found = edit::edit(rest, &wanted).or_else(|refused| match refused {
        // The end of a file may lack the newline that a patch always writes.
        Refused::NotFound if !rest.ends_with(b"\n") => without_last_newline(rest, &wanted),
        other => Err(other),
    });
    match found {
        Ok(edited) => {
            let end = common_tail(rest, &edited.content);
            let end = head.len() + edited.content.len() - end;
            Ok((Edited { content: [head, &edited.content].concat(), ..edited }, end))
        }
        Err(refused) => Err(refusal::told(name, rest, &hunk.old, &hunk.new, &refused)),
    }
}

fn without_last_newline(rest: &[u8], wanted: &Wanted<'_>) -> Result<Edited, Refused> {
    let newline: &[u8] = if has_crlf(rest) { b"\r\n" } else { b"\n" };
    let edited = edit::edit(&[rest, newline].concat(), wanted)?;
    let kept = edited.content.len() - if edited.content.ends_with(newline) { newline.len() } else { 0 };
    let content = edited.content.get(..kept).unwrap_or_default().to_vec();
    Ok(Edited { content, ..edited })
}

fn has_crlf(content: &[u8]) -> bool {
    content.windows(2).any(|pair| pair == b"\r\n")
}

/// Behind the lines that name the sections, each looked for behind the one before it.
fn behind_sections(name: &str, content: &[u8], from: usize, sections: &[String]) -> Result<usize, ToolError> {
    let mut from = from;
    for section in sections {
        let wanted = section.trim();
        let rest = content.get(from..).unwrap_or_default();
        let mut at = from;
        let mut found = None;
        for line in rest.split_inclusive(|&byte| byte == b'\n') {
            let text = String::from_utf8_lossy(line);
            if text.trim() == wanted || (!wanted.is_empty() && text.trim_start().starts_with(wanted)) {
                found = Some(at);
                break;
            }
            at += line.len();
        }
        from = found.ok_or_else(|| {
            ToolError::new(
                ErrorKind::TextNotFound,
                format!(
                    "No line of {name} behind the hunk before reads `{wanted}`. Nothing was changed. Copy the line \
                     after @@ from the file, or leave it out."
                ),
            )
        })?;
    }
    Ok(from)
}

fn insertion_place(
    name: &str,
    content: &[u8],
    from: usize,
    near_line: Option<usize>,
    hunk: &Hunk,
) -> Result<usize, ToolError> {
    if hunk.at_end || content.is_empty() {
        return Ok(content.len());
    }
    if let Some(line) = near_line {
        return Ok(start_of_line(content, line));
    }
    if !hunk.section.is_empty() {
        // Behind the line that names the section.
        let rest = content.get(from..).unwrap_or_default();
        return Ok(rest.iter().position(|&byte| byte == b'\n').map_or(content.len(), |end| from + end + 1));
    }
    Err(ToolError::new(
        ErrorKind::Ambiguous,
        format!(
            "A hunk only adds lines, and nothing says where in {name}. Nothing was changed. Give it the lines before or \
             behind the place as context."
        ),
    ))
}

fn insert(content: &[u8], at: usize, new: &str) -> (Edited, usize) {
    let (head, tail) = content.split_at_checked(at).unwrap_or((content, b""));
    let crlf = has_crlf(content);
    let new = if crlf { new.replace('\n', "\r\n") } else { new.to_owned() };
    let glue: &[u8] = match (head.is_empty() || head.ends_with(b"\n"), crlf) {
        (true, _) => b"",
        (false, true) => b"\r\n",
        (false, false) => b"\n",
    };
    let content = [head, glue, new.as_bytes(), tail].concat();
    let end = head.len() + glue.len() + new.len();
    (Edited { content, pass: "exact" }, end)
}

fn start_of_line(content: &[u8], line: usize) -> usize {
    let newlines = content.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(newlines).nth(line.saturating_sub(1)).unwrap_or(content.len())
}

fn common_tail(a: &[u8], b: &[u8]) -> usize {
    a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

fn lines(content: &[u8]) -> usize {
    content.iter().filter(|&&byte| byte == b'\n').count()
}
