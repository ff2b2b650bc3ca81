//! Mistakes of TOML itself. A parser stops at the first: here each is reported, and the readable rest is still read.

use toml_edit::{ImDocument, Item, Value};

use super::error::MAX_MISTAKES;

/// The parser's message for a key or a table that appears twice.
const TWICE: &str = "duplicate key";

/// A text that is TOML, with the same line numbers as the original.
pub(super) struct Mended {
    /// The text, without its unreadable parts.
    pub text: String,
    /// The lines with mistakes, from 1, and the problems.
    pub mistakes: Vec<(usize, String)>,
    /// Whether the rest can be checked: everything missing in it is a mistake of its own.
    pub judged: bool,
}

/// The names of the boards, in the order of the text.
pub(super) fn boards(text: &str) -> Vec<String> {
    let document = ImDocument::parse(text).ok();
    let boards = document
        .as_ref()
        .and_then(|document| document.get("boards"));
    let boards = boards.and_then(Item::as_table_like);
    let names = boards.into_iter().flat_map(|boards| boards.iter());
    names.map(|(name, _)| name.to_owned()).collect()
}

/// Finds what is wrong, line by line.
pub(super) fn mend(text: &str) -> Mended {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut mended = Mended {
        text: text.to_owned(),
        mistakes: Vec::new(),
        judged: true,
    };
    let mut tries = 0;
    while let Err(error) = ImDocument::parse(&mended.text) {
        let before = error
            .span()
            .map_or(0, |span| span.start.min(mended.text.len()));
        let newlines = mended.text.as_bytes()[..before].iter();
        let index = newlines.filter(|byte| **byte == b'\n').count();
        let index = index.min(lines.len().saturating_sub(1));
        let message = error.message().trim().replace('\n', ", ");
        let twice = message.contains(TWICE);
        let line = lines.get_mut(index).filter(|_| tries < MAX_MISTAKES);
        tries += 1;
        match line {
            Some(line) if quoted_name(line).is_some() => {
                // The names themselves are checked later, with their own messages.
                for line in &mut lines {
                    *line = quoted_name(line).unwrap_or(std::mem::take(line));
                }
            }
            Some(line) if let Some(quoted) = quoted_value(line) => {
                let problem = format!("this is not TOML: text needs quotes, {quoted}");
                mended.mistakes.push((index + 1, problem));
                *line = quoted;
            }
            // A mistake after another line may be caused by that line.
            Some(line) if line.contains('=') && (twice || !is_toml(line)) => {
                let problem = format!("this is not TOML: {message}");
                mended.mistakes.push((index + 1, problem));
                mended.judged &= twice;
                line.clear();
            }
            _ => {
                let problem = format!("this is not TOML: {message}");
                mended.mistakes.push((index + 1, problem));
                mended.judged = false;
                break;
            }
        }
        mended.text = lines.join("\n");
    }
    mended
}

/// Whether a line is valid by itself.
fn is_toml(line: &str) -> bool {
    ImDocument::parse(line).is_ok()
}

/// Puts quotes around the name in `[boards.my board]`, if it lacks them.
fn quoted_name(line: &str) -> Option<String> {
    let head = line.trim_start().strip_prefix("[boards.")?;
    let (name, rest) = head.split_once(']')?;
    let behind = rest.trim_start();
    let fits = behind.is_empty() || behind.starts_with('#');
    let text = format!("[boards.{}]{rest}", Value::from(name.trim()));
    (fits && !name.contains(['"', '\'']) && !is_toml(line) && is_toml(&text)).then_some(text)
}

/// Puts quotes around the value in `kind = swpp`, if it lacks them.
fn quoted_value(line: &str) -> Option<String> {
    let (key, value) = line.split_once('=')?;
    let (value, _) = value.split_once('#').unwrap_or((value, ""));
    let value = value.trim();
    if value.is_empty() || value.contains(['"', '\'', '[', '{', ']', '}']) {
        return None;
    }
    let text = format!("{} = {}", key.trim(), Value::from(value));
    (!is_toml(line) && is_toml(&text)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_toml_are_all_named_and_the_rest_is_read() {
        let text = "[boards.my board]   # the old one\nkind = swpp # yes\n\n[uci]\nlisten = off\nlisten = \"off\"\n";
        let mended = mend(text);
        let lines: Vec<usize> = mended.mistakes.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 5, 6]);
        assert!(mended.mistakes[0].1.contains("\"swpp\""));
        assert!(mended.judged);
        assert_eq!(
            mended.text,
            "[boards.\"my board\"]   # the old one\nkind = \"swpp\"\n\n[uci]\nlisten = \"off\"\n"
        );
    }

    #[test]
    fn what_cannot_be_read_ends_the_reading() {
        for (text, lines) in [
            ("[uci\nlisten = \"off\"\n", &[1][..]),
            ("a = \"x\nb = \"y\nc = 1\n", &[1, 2]),
            ("parking = [8,\n\n[uci]\nlisten = 3 4\n", &[3]),
            ("[uci]\n[uci]\nx = y\n", &[2]),
        ] {
            let mended = mend(text);
            let found: Vec<usize> = mended.mistakes.iter().map(|(line, _)| *line).collect();
            assert_eq!(found, lines, "{text}");
            assert!(!mended.judged, "{text}");
        }
    }
}
