//! The lines of the proposal: its keywords as types, one compact ASCII JSON object each.

use std::io;

use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;
use shakmaty::Square;

use super::text::Text;

/// The prefix of every line.
pub const PREFIX: &str = "info json ";
/// The most rows in one line; further ones follow in lines that add to the table. A set-up of all pieces fits.
pub const MAX_ROWS: usize = 64;
/// The longest line, in bytes. The longest possible is a `Board` with every text at its bound.
pub const MAX_LINE: usize = 8 * 1024;

/// One cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A whole number.
    Number(usize),
    /// A number with decimals.
    Decimal(f64),
    /// A text.
    Text(Text),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

/// A row of a table. Its first cell identifies it.
pub type Row = Vec<Cell>;

/// `"table": {…}`
#[derive(Debug, Serialize)]
pub struct TableLine<'a> {
    /// Which table.
    pub name: &'a str,
    /// Its columns; sent once, at the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<&'a [&'a str]>,
    /// The column that identifies the rows to change. Without it the table is replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updatedby: Option<&'a str>,
    /// The rows.
    #[serde(flatten)]
    pub rows: Rows<'a>,
}

/// One row or several.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rows<'a> {
    /// One.
    Row(&'a [Cell]),
    /// Any number.
    Rows(&'a [Row]),
}

/// An arrow from one square to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Where it begins.
    pub from: Square,
    /// Where it points.
    pub to: Square,
}

impl Serialize for Arrow {
    /// `"e2e4"`
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}{}", self.from, self.to))
    }
}

/// A circle with something in it, on a square.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bubble {
    /// The square.
    #[serde(serialize_with = "square")]
    pub cell: Square,
    /// What is in it.
    pub value: Value,
}

/// What is in a bubble.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// One thing.
    One(Text),
    /// Several.
    Several(Vec<Text>),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn square<S: Serializer>(square: &Square, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(square)
}

/// The content of one line.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Info<'a> {
    /// A table, or rows of it.
    Table(TableLine<'a>),
    /// All arrows there are.
    Arrow(&'a [Arrow]),
    /// All bubbles there are.
    Bubble(&'a [Bubble]),
}

impl Info<'_> {
    /// The line, without its end.
    pub fn line(&self) -> Option<String> {
        let mut bytes = PREFIX.as_bytes().to_vec();
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Ascii);
        // Neither a vector nor these types can fail; a line that cannot be written is `None`.
        self.serialize(&mut serializer).ok()?;
        String::from_utf8(bytes).ok()
    }
}

/// Compact JSON, with everything beyond ASCII escaped.
struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for piece in fragment.split_inclusive(|c: char| !c.is_ascii()) {
            let ascii = piece.trim_end_matches(|c: char| !c.is_ascii());
            writer.write_all(ascii.as_bytes())?;
            for unit in piece[ascii.len()..].encode_utf16() {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_ascii_is_escaped_and_reads_the_same() {
        let text = "“Zug” \\ ♞ 🐴 \"é\"";
        let rows = [vec![Cell::from(text)]];
        let info = Info::Table(TableLine {
            name: "Board",
            header: None,
            updatedby: None,
            rows: Rows::Rows(&rows),
        });
        let line = info.line().unwrap();
        assert!(line.is_ascii(), "{line}");
        assert!(line.contains(r"\ud83d\udc34"), "{line}");
        let json: serde_json::Value = serde_json::from_str(&line[PREFIX.len()..]).unwrap();
        assert_eq!(json["table"]["rows"][0][0], text);
    }

    #[test]
    fn the_keywords_are_those_of_the_proposal() {
        let row = [Cell::Number(1), Cell::Decimal(2.0), Cell::from("a")];
        let table = Info::Table(TableLine {
            name: "T",
            header: Some(&["A"]),
            updatedby: Some("A"),
            rows: Rows::Row(&row),
        });
        assert_eq!(
            table.line().unwrap(),
            r#"info json {"table":{"name":"T","header":["A"],"updatedby":"A","row":[1,2.0,"a"]}}"#
        );
        let arrow = Arrow {
            from: Square::E2,
            to: Square::E4,
        };
        assert_eq!(
            Info::Arrow(&[arrow]).line().unwrap(),
            r#"info json {"arrow":["e2e4"]}"#
        );
        let bubble = |value| Bubble {
            cell: Square::E5,
            value,
        };
        let bubbles = [
            bubble(Value::One("off".into())),
            bubble(Value::Several(vec!["off".into(), "N".into()])),
        ];
        assert_eq!(
            Info::Bubble(&bubbles).line().unwrap(),
            r#"info json {"bubble":[{"cell":"e5","value":"off"},{"cell":"e5","value":["off","N"]}]}"#
        );
    }
}
