//! Fills the `{{name}}` places of an embedded prompt file.

/// `text` without its final line break, with each `{{name}}` replaced. A place that no pair names stays as it is, where
/// a test over all prompt files finds it. Values are not looked into: a value that holds `{{x}}` stays as it is.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text.trim_end();
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let known = after.split_once("}}").and_then(|(name, tail)| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (value, tail))
        });
        match known {
            Some((value, tail)) => {
                filled.push_str(value);
                rest = tail;
            }
            None => {
                filled.push_str("{{");
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn places_are_filled_once() {
        let values = [("a", "1{{b}}"), ("b", "2")];
        assert_eq!(fill("x {{a}} {{b}} {{c}} {{\n", &values), "x 1{{b}} 2 {{c}} {{");
    }
}
