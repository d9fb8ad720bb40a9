//! The options of a program told from its operands, by which of them take a value.

use super::script::Word;

/// The arguments of a program, told apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told<'a> {
    /// The options in their order, each with its value: `-A`, `--include`. A cluster is taken to pieces.
    pub options: Vec<(String, Option<String>)>,
    /// What is no option and no value of one.
    pub operands: Vec<&'a Word>,
}

/// Tells `args` apart. `valued` are the options that take the next word unless their value is joined to them.
pub(super) fn tell<'a>(args: &'a [Word], valued: &[&str]) -> Told<'a> {
    let mut told = Told::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.text.as_str();
        if text == "--" && arg.known {
            told.operands.extend(args);
            break;
        }
        // Long options may be shortened.
        let takes = |name: &str| {
            let shortened = name.len() > 3 && name.starts_with("--");
            valued.iter().any(|option| *option == name || (shortened && option.starts_with(name)))
        };
        let mut next = |joined: String, name: &str| match joined.is_empty() {
            true if takes(name) => args.next().map(|word| word.text.clone()),
            true => None,
            false => Some(joined),
        };
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (format!("--{name}"), Some(value.to_owned())),
                None => (text.to_owned(), next(String::new(), text)),
            };
            told.options.push((name, value));
        } else if let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
            for (at, letter) in cluster.char_indices() {
                let name = format!("-{letter}");
                if valued.contains(&name.as_str()) {
                    let joined = cluster.get(at + letter.len_utf8()..).unwrap_or_default().to_owned();
                    let value = next(joined, &name);
                    told.options.push((name, value));
                    break;
                }
                told.options.push((name, None));
            }
        } else {
            told.operands.push(arg);
        }
    }
    told
}

impl Told<'_> {
    /// Whether one of `wanted` is given: `-r`, `--recursive` also when it is shortened, `-d=recurse` with this value, which
    /// may be shortened as well.
    pub(super) fn has_any(&self, wanted: &[&str]) -> bool {
        wanted.iter().any(|wanted| {
            let (name, value) =
                wanted.split_once('=').map_or((*wanted, None), |(name, value)| (name, Some(value)));
            self.options.iter().any(|(given, with)| {
                let named = given == name
                    || (given.len() > 3 && given.starts_with("--") && name.starts_with(given.as_str()));
                named
                    && value.is_none_or(|value| {
                        with.as_deref().is_some_and(|with| !with.is_empty() && value.starts_with(with))
                    })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse::parse;

    #[test]
    fn values_are_told_from_operands() {
        for (command, options, operands) in [
            ("grep -rnA 3 x src", "-r -n -A=3", "x src"),
            ("grep -rA3 x", "-r -A=3", "x"),
            ("grep --include=*.py -ex --after-context 2 .", "--include=*.py -e=x --after-context=2", "."),
            ("grep -r -- -x .", "-r", "-x ."),
            ("grep x -", "", "x -"),
        ] {
            let script = parse(command);
            let told = tell(script.commands[0].args(), &["-A", "-e", "--after-context"]);
            let shown = |(name, value): &(String, Option<String>)| match value {
                Some(value) => format!("{name}={value}"),
                None => name.clone(),
            };
            let found: Vec<String> = told.options.iter().map(shown).collect();
            let words: Vec<&str> = told.operands.iter().map(|word| word.text.as_str()).collect();
            assert_eq!((found.join(" "), words.join(" ")), (options.to_owned(), operands.to_owned()));
        }
    }
}
