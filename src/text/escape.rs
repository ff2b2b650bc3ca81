//! Escapes what others say before it reaches a terminal: names from a server, a board, a phone or the air, lines of a program.
//!
//! A terminal obeys control characters, and shows what follows a sign of writing direction in another order than it is: such
//! characters, and those that have no width, are escaped. It is done once, where text leaves the program: by the log, by
//! the messages of commands and by what they print. Inside, text is kept as it came.

use std::{fmt, io};

/// Whether a character is shown as itself, in its place in the line.
///
/// Not so: control characters (C0, C1, DEL); signs of writing direction, embeddings and isolates; separators of lines and
/// paragraphs; characters without width, which make two names look alike, with the tags (U+E0000 to U+E007F). The two joiners
/// (U+200C, U+200D) are in this list too: Persian and some emoji have them, and are readable with their escape.
pub fn is_plain(c: char) -> bool {
    let hidden = matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    !c.is_control() && !hidden
}

/// How an escape is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notation {
    /// `\n`, `\u{202e}`
    Words,
    /// `\u202e`, the same text to a reader of JSON.
    Json,
}

/// Escapes everything written through it that is not [plain](is_plain).
#[derive(Debug)]
pub struct Escaping<'w, W>(pub &'w mut W);

impl<W: fmt::Write> fmt::Write for Escaping<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(self.0, text, Notation::Words)
    }
}

/// A text with all that is not [plain](is_plain) escaped.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // Writing to a string does not fail.
    let _ = escape(&mut escaped, text, Notation::Words);
    escaped
}

/// Escapes a line of JSON, in JSON's own notation: its meaning stays the same.
pub fn escaped_json(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len());
    // Writing to a string does not fail.
    let _ = escape(&mut escaped, line, Notation::Json);
    escaped
}

/// Output of a command, with every line escaped. What must not break a line is escaped before it is put into one.
#[derive(Debug)]
pub struct Printed<W>(pub W);

impl<W: io::Write> io::Write for Printed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let lines: Vec<String> = text.split('\n').map(escaped).collect();
        self.0.write_all(lines.join("\n").as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn escape(to: &mut impl fmt::Write, text: &str, notation: Notation) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(|c| !is_plain(c)) {
        let (plain, other) = rest.split_at(at);
        to.write_str(plain)?;
        let mut chars = other.chars();
        if let Some(c) = chars.next() {
            match notation {
                Notation::Words => write!(to, "{}", c.escape_default())?,
                Notation::Json => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        write!(to, "\\u{unit:04x}")?;
                    }
                }
            }
        }
        rest = chars.as_str();
    }
    to.write_str(rest)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_terminal_obeys_or_hides_is_escaped_and_the_rest_is_not() {
        for c in [
            '\0',
            '\n',
            '\u{1b}',
            '\u{7f}',
            '\u{9b}',
            '\u{61c}',
            '\u{200b}',
            '\u{200d}',
            '\u{200e}',
            '\u{200f}',
            '\u{2028}',
            '\u{2029}',
            '\u{202a}',
            '\u{202e}',
            '\u{2060}',
            '\u{2066}',
            '\u{2069}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            assert!(!is_plain(c), "{c:?}");
        }
        for c in "aß€ é漢字Жא عربي 😀 \u{301}…".chars() {
            assert!(is_plain(c), "{c:?}");
        }
        assert_eq!(escaped("a\u{202e}b\nc"), "a\\u{202e}b\\nc");
    }

    #[test]
    fn output_keeps_its_lines_and_colours_nothing() {
        let mut output = Printed(Vec::new());
        write!(output, "a\n\u{1b}[2J\u{2028}\n").unwrap();
        assert_eq!(output.0, b"a\n\\u{1b}[2J\\u{2028}\n");
    }

    proptest! {
        #[test]
        fn nothing_but_plain_characters_comes_out_and_json_says_the_same(text in any::<String>()) {
            prop_assert!(escaped(&text).chars().all(is_plain));
            let line = serde_json::to_string(&text).unwrap();
            let shown = escaped_json(&line);
            prop_assert!(shown.chars().all(is_plain));
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }
    }
}
