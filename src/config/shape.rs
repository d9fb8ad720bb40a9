//! The shape of a configuration file: every key and what it takes, read off the types' JSON schema.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::layer::KeyPath;
use super::settings::Config;

/// Stands for a name that the user chooses, in a known key.
pub const NAME: &str = "NAME";

/// What stands at a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A table of known keys, in the order of the types.
    Section(Vec<(String, Shape)>),
    /// A table whose keys are names that the user chooses.
    Named(Box<Shape>),
    /// A text.
    Text,
    /// One of these texts.
    Choice(Vec<String>),
    /// A whole number between two others.
    Whole(i64, i64),
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// A list.
    List(Box<Shape>),
    /// Whatever JSON has too; a table is taken as a whole.
    Any,
}

impl Shape {
    /// The shape of a whole configuration file.
    pub fn of_config() -> Shape {
        read(&bare_schema())
    }

    /// What stands under `part`, when that is known.
    pub fn under(&self, part: &str) -> Option<&Shape> {
        match self {
            Shape::Section(fields) => fields.iter().find(|(name, _)| name == part).map(|(_, shape)| shape),
            Shape::Named(inner) => Some(inner),
            _ => None,
        }
    }

    /// What stands at `key`, or how many of its parts are known.
    ///
    /// # Errors
    /// The number of leading parts that are known; the next one is not.
    pub fn at(&self, key: &KeyPath) -> Result<&Shape, usize> {
        let mut shape = self;
        for (known, part) in key.0.iter().enumerate() {
            shape = shape.under(part).ok_or(known)?;
        }
        Ok(shape)
    }

    /// Every key below, sections before what is in them, with [`NAME`] for chosen names.
    pub fn keys(&self) -> Vec<(KeyPath, &Shape)> {
        let mut found = Vec::new();
        self.collect(&KeyPath(Vec::new()), &mut found);
        found
    }

    fn collect<'a>(&'a self, at: &KeyPath, found: &mut Vec<(KeyPath, &'a Shape)>) {
        let below: Vec<(KeyPath, &Shape)> = match self {
            Shape::Section(fields) => fields.iter().map(|(name, shape)| (at.join(name), shape)).collect(),
            Shape::Named(inner) => vec![(at.join(NAME), inner)],
            _ => Vec::new(),
        };
        for (key, shape) in below {
            found.push((key.clone(), shape));
            shape.collect(&key, found);
        }
    }

    /// Whether other keys can stand below.
    pub fn is_table(&self) -> bool {
        matches!(self, Shape::Section(_) | Shape::Named(_))
    }

    /// What is expected here, in words.
    pub fn describe(&self) -> String {
        match self {
            Shape::Section(_) => "a table".to_owned(),
            Shape::Named(_) => "a table of named entries".to_owned(),
            Shape::Text => "a text in quotes".to_owned(),
            Shape::Choice(allowed) => match allowed.split_last() {
                Some((last, [])) => format!("\"{last}\""),
                Some((last, others)) => {
                    let others: Vec<String> = others.iter().map(|one| format!("\"{one}\"")).collect();
                    format!("{} or \"{last}\"", others.join(", "))
                }
                None => "nothing".to_owned(),
            },
            Shape::Whole(0, i64::MAX) => "a whole number, 0 or more".to_owned(),
            Shape::Whole(i64::MIN, i64::MAX) => "a whole number".to_owned(),
            Shape::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Shape::Number => "a number".to_owned(),
            Shape::Flag => "true or false".to_owned(),
            Shape::List(inner) => match **inner {
                Shape::Text => "a list of texts, as in [\"one\", \"two\"]".to_owned(),
                _ => format!("a list; each entry {}", inner.describe()),
            },
            Shape::Any => "a value that JSON has too: no date, no nan, no inf".to_owned(),
        }
    }
}

/// The JSON schema of the types, as a file is: nothing is required but both halves of a price, and nothing is null.
pub fn bare_schema() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    simplify(&mut schema);
    schema
}

/// A file need not set anything, and TOML has no null: takes `required` and `null` out. A price is the exception: half of
/// one is a mistake.
fn simplify(schema: &mut Value) {
    let Value::Object(object) = schema else {
        if let Value::Array(items) = schema {
            items.iter_mut().for_each(simplify);
        }
        return;
    };
    let is_price = object.get("properties").is_some_and(|fields| fields.get("cached").is_some());
    if !is_price {
        object.remove("required");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|one| one != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(mut choices)) = object.remove("anyOf") {
        choices.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
        match <[Value; 1]>::try_from(choices) {
            Ok([Value::Object(only)]) => {
                let own = std::mem::take(object);
                object.extend(only);
                // The words of the field say more than those of its type.
                object.extend(own);
            }
            Ok([other]) => {
                object.insert("anyOf".to_owned(), json!([other]));
            }
            Err(choices) => {
                object.insert("anyOf".to_owned(), Value::Array(choices));
            }
        }
    }
    object.remove("default");
    object.values_mut().for_each(simplify);
}

/// Reads the kinds of schema that our own settings give; whatever else would come is taken as a text, and the test that
/// every default has its shape would fail.
fn read(schema: &Value) -> Shape {
    if let Some(Value::Object(fields)) = schema.get("properties") {
        return Shape::Section(fields.iter().map(|(name, field)| (name.clone(), read(field))).collect());
    }
    match schema.get("additionalProperties") {
        Some(inner @ Value::Object(_)) => return Shape::Named(Box::new(read(inner))),
        Some(Value::Bool(true)) => return Shape::Named(Box::new(Shape::Any)),
        _ => {}
    }
    if let Some(Value::Array(choices)) = schema.get("oneOf").or_else(|| schema.get("enum")) {
        let text = |one: &Value| one.get("const").unwrap_or(one).as_str().map(str::to_owned);
        return Shape::Choice(choices.iter().filter_map(text).collect());
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => match schema.get("format").and_then(Value::as_str) {
            Some("uint32") => Shape::Whole(0, i64::from(u32::MAX)),
            Some("int64") => Shape::Whole(i64::MIN, i64::MAX),
            _ => Shape::Whole(0, i64::MAX),
        },
        Some("number") => Shape::Number,
        Some("boolean") => Shape::Flag,
        Some("array") => Shape::List(Box::new(schema.get("items").map_or(Shape::Text, read))),
        _ => Shape::Text,
    }
}
