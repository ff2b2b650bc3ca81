//! The text of a configuration: parsed once, for figment and for the line of each key.

use figment::{
    Error, Metadata, Profile, Provider,
    value::{Dict, Map},
};
use serde::Deserialize as _;
use toml_edit::{ImDocument, Item, de::Deserializer};

/// A text that is TOML.
#[derive(Debug)]
pub(super) struct Document(ImDocument<String>);

impl Document {
    /// Parses a text.
    ///
    /// # Errors
    /// The first mistake.
    pub fn parse(text: String) -> Result<Self, toml_edit::TomlError> {
        ImDocument::parse(text).map(Self)
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.0.raw()
    }

    /// The names in a table of this name, in the order of the text.
    pub fn names(&self, table: &str) -> Vec<String> {
        let table = self.0.get(table).and_then(Item::as_table_like);
        let names = table.into_iter().flat_map(|table| table.iter());
        names.map(|(name, _)| name.to_owned()).collect()
    }

    /// The line of the key at a path, or of the nearest table that is there.
    pub fn line(&self, path: &[String]) -> usize {
        let mut item = self.0.as_item();
        let mut start = 0;
        for part in path {
            let entry = item
                .as_table_like()
                .and_then(|table| table.get_key_value(part));
            let (span, value) = if let Some((key, value)) = entry {
                // A table's line is its header's, if it has one.
                (value.span().or_else(|| key.span()), value)
            } else if let Some(value) = part.parse().ok().and_then(|index: usize| item.get(index)) {
                (value.span(), value)
            } else {
                break;
            };
            start = span.map_or(start, |span| span.start);
            item = value;
        }
        line_at(self.text().as_bytes(), start)
    }
}

/// The line of the text that has this byte, from 1.
pub(super) fn line_at(text: &[u8], byte: usize) -> usize {
    let before = text.iter().take(byte);
    before.filter(|byte| **byte == b'\n').count() + 1
}

impl Provider for Document {
    fn metadata(&self) -> Metadata {
        Metadata::named("TOML")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        let values = Dict::deserialize(Deserializer::from(self.0.clone()));
        let values = values.map_err(|error| error.message().to_owned())?;
        Ok(Profile::Default.collect(values))
    }
}
