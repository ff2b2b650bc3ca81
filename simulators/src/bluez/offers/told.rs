//! Parses what clients report about their objects.

use std::collections::BTreeMap;

use uuid::Uuid;
use zbus::{ObjectPath, Variant};

/// The properties of an interface.
pub(super) type Told<'a> = BTreeMap<String, Variant<'a>>;
/// All objects of a client.
pub(super) type Tree<'a> = BTreeMap<ObjectPath<'a>, BTreeMap<String, Told<'a>>>;

/// A string property.
pub(super) fn text(told: &Told<'_>, name: &str) -> Option<String> {
    match told.get(name)? {
        Variant::Str(text) => Some(text.to_string()),
        _ => None,
    }
}

/// A list of strings; empty if the property is missing.
pub(super) fn texts(told: &Told<'_>, name: &str) -> Vec<String> {
    let Some(Variant::Array(list)) = told.get(name) else {
        return Vec::new();
    };
    list.iter()
        .filter_map(|item| match item {
            Variant::Str(text) => Some(text.to_string()),
            _ => None,
        })
        .collect()
}

/// The UUID of an object.
pub(super) fn uuid(told: &Told<'_>) -> Option<Uuid> {
    Uuid::parse_str(&text(told, "UUID")?).ok()
}
