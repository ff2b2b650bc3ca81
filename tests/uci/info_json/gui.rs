//! A GUI that knows `info json` as the proposal describes it, and nothing of BoardBridge. It takes lines, and is strict.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// What GUIs act on wherever it stands: the UCI specification's words of an `info` line, the engine's other words that
/// can come within a search, and those that newer engines added.
const FORBIDDEN: &str = "bestmove ponder readyok uciok info depth seldepth time nodes pv multipv score cp mate lowerbound upperbound \
                         currmove currmovenumber hashfull nps tbhits sbhits cpuload string refutation currline wdl movesleft";
/// No line is longer, bytes.
const MAX_LINE: usize = 8 * 1024;

/// A table as it is shown.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Shown {
    pub header: Vec<String>,
    pub rows: Vec<Vec<Value>>,
}

/// The GUI.
#[derive(Debug, Default)]
pub struct ModelGui {
    pub tables: BTreeMap<String, Shown>,
    pub arrows: Vec<String>,
    pub bubbles: Vec<(String, Value)>,
    last: Option<String>,
}

impl ModelGui {
    /// The GUI says `go`: everything is cleared.
    pub fn starts_thinking(&mut self) {
        *self = Self::default();
    }

    /// The GUI switches it off: what it shows stays, and may be told again.
    pub fn switches_off(&mut self) {
        self.last = None;
    }

    /// The rows of a table; none if it is not there.
    pub fn rows(&self, table: &str) -> Vec<Vec<Value>> {
        self.tables
            .get(table)
            .map(|t| t.rows.clone())
            .unwrap_or_default()
    }

    /// The state beside a key of the table `Board`.
    pub fn state(&self, what: &str) -> Option<String> {
        let rows = self.rows("Board");
        let row = rows.iter().find(|row| row[0] == what)?;
        row[1].as_str().map(str::to_owned)
    }

    /// Takes a line in.
    pub fn takes(&mut self, line: &str) {
        assert!(line.is_ascii(), "not ASCII: {line}");
        assert!(line.len() <= MAX_LINE, "{} bytes: {line}", line.len());
        assert!(!line.contains(['\n', '\r', '\t']), "not one line: {line}");
        assert_ne!(self.last.as_deref(), Some(line), "sent twice");
        self.last = Some(line.to_owned());
        let json = line.strip_prefix("info json ").expect("the prefix");
        for word in json.split(|c: char| !c.is_ascii_alphanumeric()) {
            let word = word.to_ascii_lowercase();
            let forbidden = FORBIDDEN.split_whitespace().any(|other| other == word);
            assert!(!forbidden, "`{word}` in {line}");
        }
        let value: Value = serde_json::from_str(json).expect(line);
        assert_eq!(
            value.to_string().len(),
            json.chars().count() - escapes(json),
            "not compact: {line}"
        );
        let object = value.as_object().expect("an object");
        assert_eq!(object.len(), 1, "one thing a line: {line}");
        let (kind, value) = object.iter().next().unwrap();
        match kind.as_str() {
            "table" => self.table(value.as_object().expect("a table")),
            "arrow" => {
                self.arrows = value
                    .as_array()
                    .expect("arrows")
                    .iter()
                    .map(arrow)
                    .collect()
            }
            "bubble" => {
                self.bubbles = value
                    .as_array()
                    .expect("bubbles")
                    .iter()
                    .map(bubble)
                    .collect()
            }
            other => panic!("`{other}` is not a keyword of the proposal"),
        }
    }

    fn table(&mut self, table: &Map<String, Value>) {
        for key in table.keys() {
            let known = ["name", "header", "row", "rows", "updatedby"];
            assert!(
                known.contains(&key.as_str()),
                "`{key}` is not a keyword of the proposal"
            );
        }
        let name = table["name"].as_str().expect("a name");
        let rows = match (table.get("row"), table.get("rows")) {
            (Some(row), None) => vec![cells(row)],
            (None, Some(rows)) => rows.as_array().expect("rows").iter().map(cells).collect(),
            other => panic!("either row or rows: {other:?}"),
        };
        let shown = self.tables.entry(name.to_owned()).or_default();
        if let Some(header) = table.get("header") {
            let text = |cell: &Value| cell.as_str().expect("a column's name").to_owned();
            shown.header = header
                .as_array()
                .expect("a header")
                .iter()
                .map(text)
                .collect();
        }
        assert!(!shown.header.is_empty(), "{name} has had no header");
        for row in &rows {
            assert_eq!(row.len(), shown.header.len(), "{row:?}");
        }
        let Some(key) = table.get("updatedby") else {
            shown.rows = rows;
            return;
        };
        let key = key.as_str().expect("a column's name");
        let column = shown.header.iter().position(|column| column == key);
        let column = column.unwrap_or_else(|| panic!("{name} has no column {key}"));
        for row in rows {
            match shown.rows.iter_mut().find(|old| old[column] == row[column]) {
                Some(old) => {
                    assert_ne!(*old, row, "nothing changed");
                    *old = row;
                }
                None => shown.rows.push(row),
            }
        }
    }
}

/// How many characters the escapes of a JSON text take beyond those that `serde_json` writes by itself.
fn escapes(json: &str) -> usize {
    let text: Value = serde_json::from_str(json).unwrap();
    let plain = text.to_string();
    plain
        .chars()
        .filter(|c| !c.is_ascii())
        .map(|c| 6 * c.len_utf16() - c.len_utf8())
        .sum()
}

fn cells(row: &Value) -> Vec<Value> {
    let row = row.as_array().expect("a row").clone();
    for cell in &row {
        let standard = cell.is_string() || cell.is_number() || cell.is_boolean();
        assert!(standard, "{cell} is not a datum of a table");
    }
    row
}

fn is_square(text: &str) -> bool {
    matches!(text.as_bytes(), [b'a'..=b'h', b'1'..=b'8'])
}

fn arrow(value: &Value) -> String {
    let text = value.as_str().expect("an arrow");
    assert!(is_square(&text[..2]) && is_square(&text[2..]), "{text}");
    text.to_owned()
}

fn bubble(value: &Value) -> (String, Value) {
    let bubble = value.as_object().expect("a bubble");
    let keys: Vec<&str> = bubble.keys().map(String::as_str).collect();
    assert_eq!(keys, ["cell", "value"]);
    let cell = bubble["cell"].as_str().expect("a square");
    assert!(is_square(cell), "{cell}");
    (cell.to_owned(), bubble["value"].clone())
}
