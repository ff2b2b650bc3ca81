//! A JSON Schema checker for the part that our schemas use: a complete one would more than double what the tests have to
//! compile. An unknown keyword is a failure, so that nothing in the schema goes unchecked.

#![allow(dead_code, reason = "each room uses a part of it")]

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// The event stream's schema.
pub fn events() -> Schema {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/events.schema.json");
    let text = std::fs::read_to_string(file).unwrap();
    Schema(serde_json::from_str(&text).unwrap())
}

/// The API's schema, with what it takes from that of the event stream.
pub fn api() -> Schema {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/api.schema.json");
    let text = std::fs::read_to_string(file).unwrap();
    let alone: Value = serde_json::from_str(&text).unwrap();
    for named in text.split("\"#/$defs/").skip(1) {
        let name = named.split('"').next().unwrap();
        let is_there = alone["$defs"].get(name).is_some();
        assert!(
            is_there,
            "{name} is in events.schema.json, and has to be named there"
        );
    }
    let text = text.replace("events.schema.json#", "#");
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    for (name, of) in events().0["$defs"].as_object().unwrap() {
        let before = schema["$defs"]
            .as_object_mut()
            .unwrap()
            .insert(name.clone(), of.clone());
        assert!(before.is_none(), "{name} is in both");
    }
    Schema(schema)
}

/// What Lichess's published API says of the lines, answers and forms that are used.
pub fn lichess() -> Schema {
    Schema(serde_json::from_str(include_str!("lichess.schema.json")).unwrap())
}

/// A schema.
pub struct Schema(pub Value);

impl Schema {
    /// The errors of a value by the schema, if any. The schema permits unknown keys, as readers have to; our own output
    /// has none.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.fits(&self.0, value, "line")
    }

    /// The errors of a value by one of the schema's definitions, if any.
    pub fn check_as(&self, name: &str, value: &Value) -> Result<(), String> {
        self.fits(&self.0["$defs"][name], value, name)
    }

    /// Whether it has a definition of this name.
    pub fn defines(&self, name: &str) -> bool {
        self.0["$defs"].get(name).is_some()
    }

    /// Every event the schema has, with the keys it may have.
    pub fn events(&self) -> Vec<(String, BTreeSet<String>)> {
        let kinds = self.0["oneOf"].as_array().unwrap().iter();
        let kind = |of: &Value| {
            let keys = self.object(of).unwrap();
            let name = keys["event"]["const"].as_str().unwrap().to_owned();
            (name, keys.keys().cloned().collect())
        };
        kinds.map(kind).collect()
    }

    fn object<'a>(&'a self, schema: &'a Value) -> Option<&'a Map<String, Value>> {
        self.followed(schema)["properties"].as_object()
    }

    fn followed<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(to) => self.followed(self.0.pointer(to.strip_prefix('#').unwrap()).unwrap()),
            None => schema,
        }
    }

    fn fits(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let schema = self.followed(schema);
        let wrong = |what: &str| Err(format!("{at}: {value} {what}"));
        for (keyword, rule) in schema.as_object().unwrap() {
            match keyword.as_str() {
                "$schema" | "$id" | "$defs" | "title" | "description" => {}
                "type" => {
                    let types: Vec<&str> = match rule {
                        Value::Array(types) => types.iter().map(|t| t.as_str().unwrap()).collect(),
                        one => vec![one.as_str().unwrap()],
                    };
                    if !types.iter().any(|name| is_a(value, name)) {
                        return wrong(&format!("is none of {types:?}"));
                    }
                }
                "const" if value != rule => return wrong(&format!("is not {rule}")),
                "const" => {}
                "enum" if !rule.as_array().unwrap().contains(value) => {
                    return wrong(&format!("is none of {rule}"));
                }
                "enum" => {}
                "minimum" | "maximum" => {
                    let limit = rule.as_f64().unwrap();
                    let out = value.as_f64().is_some_and(|number| {
                        (keyword == "minimum" && number < limit)
                            || (keyword == "maximum" && number > limit)
                    });
                    if out {
                        return wrong(&format!("is beyond the {keyword}"));
                    }
                }
                "multipleOf" => {
                    let of = rule.as_u64().unwrap();
                    if value.as_u64().is_some_and(|number| number % of != 0) {
                        return wrong(&format!("is not a multiple of {of}"));
                    }
                }
                "required" => {
                    let names = rule.as_array().unwrap().iter().map(|n| n.as_str().unwrap());
                    let lacks =
                        |name: &&str| value.as_object().is_some_and(|o| !o.contains_key(*name));
                    if let Some(name) = names.into_iter().find(lacks) {
                        return wrong(&format!("lacks {name}"));
                    }
                }
                "properties" => {
                    for (key, value) in value.as_object().into_iter().flatten() {
                        let Some(of) = rule.get(key) else {
                            return wrong(&format!("has the unknown key {key}"));
                        };
                        self.fits(of, value, &format!("{at}.{key}"))?;
                    }
                }
                "items" => {
                    for (index, value) in value.as_array().into_iter().flatten().enumerate() {
                        self.fits(rule, value, &format!("{at}[{index}]"))?;
                    }
                }
                "oneOf" => {
                    let all = rule.as_array().unwrap();
                    let fits: Vec<_> = all.iter().map(|one| self.fits(one, value, at)).collect();
                    match fits.iter().filter(|fits| fits.is_ok()).count() {
                        1 => {}
                        0 => {
                            // The one that is of the same event says what is wrong.
                            let same = |one: &&Value| {
                                let keys = self.object(one);
                                keys.is_some_and(|keys| keys["event"]["const"] == value["event"])
                            };
                            return match all.iter().find(same) {
                                Some(one) => self.fits(one, value, at),
                                None => wrong("fits none"),
                            };
                        }
                        _ => return wrong("fits more than one"),
                    }
                }
                other => panic!("the checker does not know the keyword {other}"),
            }
        }
        Ok(())
    }
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type {other}"),
    }
}
