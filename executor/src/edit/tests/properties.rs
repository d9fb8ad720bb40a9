//! What holds for every edit.

use proptest::prelude::*;

use super::*;

proptest! {
    /// An edit and its inverse restore the bytes, and what stands around the place never changes.
    #[test]
    fn an_edit_can_be_undone(
        head in "([ab]{0,3}(\n|\r\n)){0,3}",
        old in "q[ab\n]{0,6}q",
        new in "w[ab\n]{0,6}w",
        tail in "([ab]{0,3}(\n|\r\n)){0,3}",
    ) {
        for end in ["\n", "\r\n"] {
            let with_ends = |text: String| text.replace("\r\n", "\n").replace('\n', end).into_bytes();
            // A first line, so that the file shows its line end.
            let before = with_ends(format!("first\n{head}{old}{tail}"));
            let after = with_ends(format!("first\n{head}{new}{tail}"));
            let there = one(&before, &old, &new).unwrap().content;
            prop_assert_eq!(&there, &after);
            let back = one(&there, &new, &old).unwrap().content;
            prop_assert_eq!(&back, &before);
        }
        let file = format!("{head}{old}{tail}").into_bytes();
        let there = one(&file, &old, &new).unwrap().content;
        prop_assert!(there.starts_with(head.as_bytes()) && there.ends_with(tail.as_bytes()));
    }

    /// Whatever is asked of whatever file: an edit changes one run of bytes and is found again by its inverse, if the new
    /// text stands there once.
    #[test]
    fn nothing_outside_the_place_changes(
        file in "(\u{feff})?([ \t]{0,3}[abq'\"“’\\\\n{}]{0,3} ?(\n|\r\n)){0,8}[ab]{0,2}",
        take in (0_usize..8, 1_usize..4),
        indent in "[ \t]{0,2}",
        new in "([ ]{0,4}[abz]{0,2}\n){0,3}",
        near_line in proptest::option::of(0_usize..9),
    ) {
        let lines: Vec<&str> = file.lines().skip(take.0).take(take.1).collect();
        let old: String = lines.iter().map(|line| format!("{indent}{}\n", line.trim())).collect();
        for extent in [Extent::One, Extent::All] {
            let wanted = Wanted { near_line, ..wanted(&old, &new, extent) };
            let Ok(edited) = edit(file.as_bytes(), &wanted) else { continue };
            if extent == Extent::All && edited.pass == "all" {
                continue;
            }
            let (before, after) = (file.as_bytes(), edited.content.as_slice());
            let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
            let rest = before.len().min(after.len()) - head;
            let tail = before.iter().rev().zip(after.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
            // What changed begins on a quoted line or after it, and spans no more lines than were quoted.
            let changed = &before[head..before.len() - tail];
            prop_assert!(lines::count_newlines(changed) <= lines.len() + 1, "{changed:?}");
        }
    }

    #[test]
    fn no_bytes_make_it_panic(
        file in proptest::collection::vec(proptest::sample::select(&b"ab \t\r\n\\n\"'\xe2\x80\x9c\xef\xbb\xbf{}\0"[..]), 0..60),
        old in proptest::collection::vec(proptest::sample::select(&b"ab \t\r\n\\n\"'\xe2\x80\x9c"[..]), 0..12),
        new in proptest::collection::vec(proptest::sample::select(&b"ab \t\r\n\\n\"'\xe2\x80\x9c"[..]), 0..12),
        near_line in proptest::option::of(0_usize..9),
    ) {
        for extent in [Extent::One, Extent::All] {
            let wanted = Wanted { old: &old, new: &new, extent, near_line };
            let edited = edit(&file, &wanted);
            prop_assert!(edited.is_err() || !old.is_empty());
            lines_of(&file, &old);
        }
    }

    /// Places of a pass do not overlap, unless there is nothing else to show that there are two.
    #[test]
    fn places_do_not_overlap(file in "([ ]{0,2}[ab]\n){0,12}", old in "([ ]{0,1}[ab]\n){1,3}") {
        let (old, new) = (old.as_bytes(), b"z\n".as_slice());
        for pass in PASSES {
            let Some(found) = pass.find(file.as_bytes(), old, new) else { continue };
            let numbers: Vec<(usize, usize)> = found.places.iter().map(Place::numbers).collect();
            let apart = numbers.windows(2).all(|pair| pair[0].1 < pair[1].0);
            let first = numbers[0];
            let hidden = numbers.iter().skip(1).all(|(from, _)| *from <= first.1);
            prop_assert!(apart || hidden, "{numbers:?}");
        }
        let all = edit(file.as_bytes(), &Wanted { old, new, extent: Extent::All, near_line: None });
        if let Ok(Edited { content, pass: "all" }) = all {
            let text = Folded::of(file.as_bytes());
            let count = file.matches(std::str::from_utf8(old).unwrap()).count();
            prop_assert_eq!(content.len() + count * old.len(), text.plain.len() + count * new.len());
        }
    }

    /// A quote that lost its indentation is given that of the file, and the inverse restores the bytes.
    #[test]
    fn a_fitted_edit_can_be_undone(
        depth in "\t{1,3}",
        body in proptest::collection::vec("\t?[a-c]{1,3}", 1..4),
        new in proptest::collection::vec("\t?[d-f]{1,3}", 1..4),
        end in "\r?\n",
    ) {
        let deep = |lines: &[String]| lines.iter().map(|line| format!("{depth}{line}{end}")).collect::<String>();
        let file = |lines: &[String]| format!("top{end}{}last{end}", deep(lines)).into_bytes();
        let (old, text) = (body.join("\n"), new.join("\n"));
        let Ok(there) = one(&file(&body), &old, &text) else { return Ok(()) };
        if there.pass == "exact" {
            return Ok(());
        }
        prop_assert_eq!(&there.content, &file(&new));
        if let Ok(back) = one(&there.content, &text, &old) {
            prop_assert!(back.pass == "exact" || back.content == file(&body));
        }
    }
}
