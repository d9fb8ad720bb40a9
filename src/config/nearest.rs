//! What an unknown key was probably meant to be: the same key in another section, or the nearest name.

use super::layer::KeyPath;
use super::shape::Shape;

/// A sentence that follows "unknown key …;". The first `known` parts of `key` exist, the next does not.
pub fn advice(root: &Shape, key: &KeyPath, known: usize) -> String {
    let Some(wrong) = key.0.get(known) else { return String::new() };
    let section = KeyPath(key.0.iter().take(known).cloned().collect());
    let all: Vec<KeyPath> = root.keys().into_iter().map(|(key, _)| key).collect();
    if root.at(&section).is_ok_and(|shape| !shape.is_table()) {
        return format!("`{section}` is a setting and has no keys");
    }
    if let Some(place) = elsewhere(&all, &section, wrong) {
        return place;
    }
    let beside = beside(root, &section);
    if let Some(near) = nearest(wrong, beside.iter().map(String::as_str)) {
        return format!("did you mean `{}`?", section.join(near));
    }
    let whole = key.to_string();
    let dotted: Vec<String> = all.iter().map(KeyPath::to_string).collect();
    if let Some(near) = nearest(&whole, dotted.iter().map(String::as_str)) {
        return format!("did you mean `{near}`?");
    }
    match section.0.is_empty() {
        true => format!("the sections are {}", beside.join(", ")),
        false => format!("the keys of [{section}] are {}", beside.join(", ")),
    }
}

/// Of `names`, the one that is at most a third of its letters away from `wrong`.
pub fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    names
        .map(|name| (strsim::damerau_levenshtein(&wrong, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= (name.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The same name in another section. Of several the one whose section has most words in common with where it stood.
fn elsewhere(all: &[KeyPath], section: &KeyPath, wrong: &str) -> Option<String> {
    let common = |key: &KeyPath| key.0.iter().filter(|part| section.0.contains(part)).count();
    let place = all
        .iter()
        .filter(|key| key.0.len() > 1 && key.0.last().is_some_and(|last| last == wrong))
        // `max_by_key` takes the last of equals; the first is the plainest.
        .rev()
        .max_by_key(|key| common(key))?;
    let (_, home) = place.0.split_last()?;
    Some(format!("`{wrong}` belongs in [{}]", KeyPath(home.to_vec())))
}

/// The names that could stand in a section.
fn beside(root: &Shape, section: &KeyPath) -> Vec<String> {
    match root.at(section) {
        Ok(Shape::Section(fields)) => fields.iter().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, expect: &str) {
        let root = Shape::of_config();
        let key = KeyPath::parse(key).unwrap();
        let known = root.at(&key).unwrap_err();
        assert_eq!(advice(&root, &key, known), expect, "{key}");
    }

    #[test]
    fn a_slip_of_the_pen_names_the_neighbour() {
        check("session.aproval", "did you mean `session.approval`?");
        check("roles.planer.model", "did you mean `roles.planner`?");
        check("rolse.planner.model", "did you mean `roles`?");
        check("providers.mine.base-url", "did you mean `providers.mine.base_url`?");
        check("loop.Planner_Rounds", "did you mean `loop.planner_rounds`?");
    }

    #[test]
    fn a_key_in_the_wrong_section_names_the_right_one() {
        check("session.max_tokens", "`max_tokens` belongs in [roles.planner]");
        check("executor.max_tokens", "`executor` belongs in [roles]");
        check("thinking.model", "`model` belongs in [roles.thinking]");
        check("context.approval", "`approval` belongs in [session]");
        check("base_url", "`base_url` belongs in [providers.NAME]");
        check("session.model", "`model` belongs in [roles.planner]");
        check("roles.planner.api_key_env", "`api_key_env` belongs in [providers.NAME]");
    }

    #[test]
    fn a_key_like_no_other_lists_what_there_is() {
        check("session.zzzzzz", "the keys of [session] are plan, approval");
        check("session.plan.x", "`session.plan` is a setting and has no keys");
    }
}
