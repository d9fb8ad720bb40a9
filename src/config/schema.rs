//! The published JSON Schema of a configuration file, with the defaults in it; `config/schema.json` is a copy.

use serde_json::{Map, Value, json};

use super::defaults;
use super::layer::nested;
use super::shape::{Shape, bare_schema};

/// The JSON Schema, for editors and readers. Ends with a line feed.
pub fn schema() -> String {
    let mut schema = bare_schema();
    if let Ok(defaults) = defaults::layer(&Shape::of_config()) {
        note_defaults(&mut schema, &toml::Value::Table(nested(&defaults)));
    }
    let mut root = Map::new();
    root.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    root.insert("title".to_owned(), json!("tandem configuration"));
    if let Value::Object(rest) = schema {
        root.extend(rest.into_iter().filter(|(key, _)| key != "$schema" && key != "title"));
    }
    format!("{:#}\n", Value::Object(root))
}

fn note_defaults(schema: &mut Value, value: &toml::Value) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                if let Some(field) = schema.get_mut("properties").and_then(|fields| fields.get_mut(key)) {
                    note_defaults(field, value);
                }
            }
        }
        leaf => {
            if let (Value::Object(object), Ok(leaf)) = (schema, serde_json::to_value(leaf)) {
                object.insert("default".to_owned(), leaf);
            }
        }
    }
}
