//! One source against the shape: unknown keys, wrong kinds, keys and secrets in the wrong place, each with its line.

use std::ops::Range;

use toml::Value;
use toml::de::{DeTable, DeValue};

use super::address;
use super::error::{ConfigError, Fault, Origin};
use super::layer::{KeyPath, Layer};
use super::nearest;
use super::shape::Shape;

/// Reads a file's text. `origin` makes an origin of a line, counted from 1.
///
/// # Errors
/// All that is wrong with it, by line.
pub fn file(
    name: &str,
    text: &str,
    shape: &Shape,
    origin: &dyn Fn(usize) -> Origin,
) -> Result<Layer, ConfigError> {
    let line = |span: Range<usize>| origin(line_of(text, span.start));
    let table = DeTable::parse(text).map_err(|error| {
        let at = line(error.span().unwrap_or(0..0));
        ConfigError::one(at, format!("this is not TOML: {}", error.message().replace('\n', ", ")))
    })?;
    let mut walk = Walk { root: shape, origin: &line, layer: Layer::new(name), faults: Vec::new() };
    walk.table(&KeyPath(Vec::new()), table.get_ref(), shape);
    if walk.faults.is_empty() {
        return Ok(walk.layer);
    }
    walk.faults.sort_by_key(|fault| match &fault.origin {
        Origin::File { line, .. } => *line,
        Origin::Default | Origin::Env(_) | Origin::Flag(_) => 0,
    });
    Err(ConfigError::Invalid(walk.faults))
}

/// Adds one `key=value` of a flag to `layer`. The value is TOML, or a bare word as a text.
///
/// # Errors
/// What is wrong with it.
pub fn assignment(text: &str, shape: &Shape, origin: &Origin, layer: &mut Layer) -> Result<(), ConfigError> {
    let fault = |text: String| ConfigError::one(origin.clone(), text);
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| fault("expected KEY=VALUE, as in loop.planner_rounds=20".to_owned()))?;
    let (key, value) = (key.trim(), value.trim());
    let key = KeyPath::parse(key)
        .ok_or_else(|| fault(format!("`{key}` is not a dotted key, as in loop.planner_rounds")))?;
    let parsed = DeValue::parse(value);
    if let Some(text) = misused(&key, &DeValue::String(value.into())) {
        return Err(fault(text));
    }
    let expected = shape.at(&key).map_err(|known| fault(unknown(shape, &key, known)))?;
    let takes_text = matches!(expected, Shape::Text | Shape::Choice(_));
    let mut walk =
        Walk { root: shape, origin: &|_| origin.clone(), layer: Layer::new(""), faults: Vec::new() };
    match parsed {
        // `roles.planner.model=local/2` and `profile=7` are texts, whatever TOML would make of them.
        Ok(parsed) if !takes_text || parsed.get_ref().is_str() => {
            walk.value(&key, 0..0, parsed.get_ref(), expected);
        }
        Err(error) if value.starts_with(['"', '\'', '[', '{']) => {
            return Err(fault(format!(
                "`{value}` is not a TOML value: {}",
                error.message().replace('\n', ", ")
            )));
        }
        _ => walk.value(&key, 0..0, &DeValue::String(value.into()), expected),
    }
    if walk.faults.is_empty() {
        layer.entries.extend(walk.layer.entries);
        return Ok(());
    }
    Err(ConfigError::Invalid(walk.faults))
}

struct Walk<'a> {
    root: &'a Shape,
    origin: &'a dyn Fn(Range<usize>) -> Origin,
    layer: Layer,
    faults: Vec<Fault>,
}

impl Walk<'_> {
    fn fault(&mut self, span: Range<usize>, text: String) {
        self.faults.push(Fault { origin: (self.origin)(span), text });
    }

    fn table(&mut self, at: &KeyPath, table: &DeTable<'_>, shape: &Shape) {
        for (name, value) in table {
            let key = at.join(name.get_ref());
            if let Some(text) = misused(&key, value.get_ref()) {
                self.fault(name.span(), text);
                continue;
            }
            match shape.under(name.get_ref()) {
                Some(below) => self.value(&key, name.span(), value.get_ref(), below),
                None => {
                    let text = unknown(self.root, &key, at.0.len());
                    self.fault(name.span(), text);
                }
            }
        }
    }

    fn value(&mut self, key: &KeyPath, span: Range<usize>, value: &DeValue<'_>, shape: &Shape) {
        match (shape, value) {
            (Shape::Section(_) | Shape::Named(_), DeValue::Table(table)) => {
                if table.is_empty() {
                    let origin = (self.origin)(span);
                    self.layer.set(key.clone(), toml::Table::new(), origin);
                }
                self.table(key, table, shape);
            }
            _ => match plain(value, shape) {
                Some(value) => {
                    let origin = (self.origin)(span);
                    self.layer.set(key.clone(), value, origin);
                }
                None => {
                    let found = match key.0.last() {
                        // Somebody may have put the key itself here.
                        Some(last) if last.starts_with("api_key") => "something else".to_owned(),
                        _ => found(value),
                    };
                    let text = format!("`{key}` is {found}, but takes {}", shape.describe());
                    self.fault(span, text);
                }
            },
        }
    }
}

/// The value, if it is of its kind.
fn plain(value: &DeValue<'_>, shape: &Shape) -> Option<Value> {
    match (shape, value) {
        (Shape::Text, DeValue::String(text)) => Some(Value::String(text.to_string())),
        (Shape::Choice(allowed), DeValue::String(text)) => {
            allowed.iter().find(|one| *one == text).map(|one| Value::String(one.clone()))
        }
        (Shape::Whole(low, high), DeValue::Integer(number)) => {
            let number = i64::from_str_radix(number.as_str(), number.radix()).ok()?;
            (*low <= number && number <= *high).then_some(Value::Integer(number))
        }
        (Shape::Number, DeValue::Integer(number)) => {
            let number = i64::from_str_radix(number.as_str(), number.radix()).ok()?;
            Some(Value::Float(number as f64))
        }
        (Shape::Number, DeValue::Float(number)) => {
            let number: f64 = number.as_str().parse().ok()?;
            number.is_finite().then_some(Value::Float(number))
        }
        (Shape::Flag, DeValue::Boolean(flag)) => Some(Value::Boolean(*flag)),
        (Shape::List(inner), DeValue::Array(items)) => {
            let items: Option<Vec<Value>> = items.iter().map(|item| plain(item.get_ref(), inner)).collect();
            items.map(Value::Array)
        }
        (Shape::Any, value) => any(value),
        _ => None,
    }
}

/// The value, if JSON has it too.
fn any(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::String(_) => plain(value, &Shape::Text),
        DeValue::Integer(_) => plain(value, &Shape::Whole(i64::MIN, i64::MAX)),
        DeValue::Float(_) => plain(value, &Shape::Number),
        DeValue::Boolean(_) => plain(value, &Shape::Flag),
        DeValue::Array(items) => {
            let items: Option<Vec<Value>> = items.iter().map(|item| any(item.get_ref())).collect();
            items.map(Value::Array)
        }
        DeValue::Table(table) => {
            let fields: Option<toml::Table> = table
                .iter()
                .map(|(name, value)| Some((name.get_ref().to_string(), any(value.get_ref())?)))
                .collect();
            fields.map(Value::Table)
        }
        DeValue::Datetime(_) => None,
    }
}

fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.chars().count() <= 60 => {
            format!("the text {}", Value::String(text.to_string()))
        }
        DeValue::String(_) => "a long text".to_owned(),
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(date) => format!("the date {date}"),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Headers that carry a key.
const KEY_HEADERS: [&str; 5] =
    ["authorization", "proxy-authorization", "api-key", "x-api-key", "x-goog-api-key"];

/// A key in a file, or a name that could not be used. The value itself is never repeated.
fn misused(key: &KeyPath, value: &DeValue<'_>) -> Option<String> {
    let where_to =
        "name the variable that holds it in api_key_env, or a command that prints it in api_key_command";
    match key.parts().as_slice() {
        [.., "api_key" | "apikey" | "api-key"] => {
            Some(format!("`{key}`: a key never stands on a command line or in a file; {where_to}"))
        }
        ["providers", _, "headers", name] if carries_key(name) => Some(format!(
            "`{key}` would hold a key, and a key never stands on a command line or in a file; {where_to}"
        )),
        ["providers", _, "api_key_env"] if value.as_str().is_some_and(|name| !is_variable(name)) => {
            Some(format!(
                "`{key}` takes the name of an environment variable, as in \"OPENAI_API_KEY\"; never the key itself"
            ))
        }
        ["providers", _, "base_url"] if value.as_str().is_some_and(address::has_password) => Some(format!(
            "`{key}` holds a password, and a key never stands on a command line or in a file; {where_to}"
        )),
        // A table here is a value: what it holds is seen nowhere else.
        ["providers", _, "extra_body", _, ..] => value
            .as_table()?
            .iter()
            .find_map(|(name, value)| misused(&key.join(name.get_ref()), value.get_ref())),
        ["providers" | "profiles", name, ..] if !is_name(name) => {
            Some(format!("`{key}`: a name has letters, digits, `-` and `_` only"))
        }
        _ => None,
    }
}

fn carries_key(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    KEY_HEADERS.iter().any(|part| header.contains(part))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

fn is_variable(name: &str) -> bool {
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    letters && name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
}

fn unknown(root: &Shape, key: &KeyPath, known: usize) -> String {
    format!(
        "unknown key `{}`; {}",
        KeyPath(key.0.iter().take(known + 1).cloned().collect()),
        nearest::advice(root, key, known)
    )
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}
