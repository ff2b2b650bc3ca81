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
        let message = if twice {
            first_of(&lines, index).unwrap_or(message)
        } else {
            format!("this is not TOML: {message}")
        };
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
                let problem = format!("this is not TOML: text needs straight quotes, {quoted}");
                mended.mistakes.push((index + 1, problem));
                *line = quoted;
            }
            // A mistake after another line may be caused by that line.
            Some(line) if line.contains('=') && (twice || !is_toml(line)) => {
                mended.mistakes.push((index + 1, message));
                mended.judged &= twice;
                line.clear();
            }
            _ => {
                mended.mistakes.push((index + 1, message));
                mended.judged = false;
                break;
            }
        }
        mended.text = lines.join("\n");
    }
    mended
}

/// Where the table or the key in this line stands for the first time, and what to do.
fn first_of(lines: &[String], index: usize) -> Option<String> {
    let is_head = |line: &str| line.trim_start().starts_with('[');
    let key = |line: &str| Some(line.split_once('=')?.0.trim().to_owned());
    let line = lines.get(index)?;
    let before = &lines[..index];
    if is_head(line) {
        let name = |line: &str| line.split_once(']').map(|(name, _)| name.trim().to_owned());
        let wanted = name(line)?;
        let first = before
            .iter()
            .position(|line| name(line).as_ref() == Some(&wanted))?
            + 1;
        return Some(format!(
            "{wanted}] is in line {first} already: move what stands here up there, and delete this line"
        ));
    }
    let wanted = key(line)?;
    let same = |line: &String| key(line).as_ref() == Some(&wanted);
    let table = before.iter().rposition(|line| is_head(line)).unwrap_or(0);
    let first = table + before[table..].iter().position(same)? + 1;
    Some(format!(
        "`{wanted}` is in line {first} already: change that line, and delete this one"
    ))
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

/// Puts quotes around the value in `kind = swpp`, if it lacks them or has those of a printed text.
fn quoted_value(line: &str) -> Option<String> {
    let (key, value) = line.split_once('=')?;
    let (value, _) = value.split_once('#').unwrap_or((value, ""));
    let value = value.trim().trim_matches(['“', '”', '„', '‘', '’']);
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
    fn what_stands_there_twice_is_found_the_first_time() {
        let text = "[games]\nlisten = 1\n[uci]\nlisten = \"off\"\nlisten = \"x\"\n[ games ]\n[games]\na = 1\n";
        let mended = mend(text);
        let told: Vec<_> = mended
            .mistakes
            .iter()
            .map(|(_, told)| told.as_str())
            .collect();
        assert!(
            told[0].contains("`listen` is in line 4 already"),
            "{told:?}"
        );
        let mended = mend("[uci]\nlisten = \"off\"\n[games]\n[uci]\n");
        let (line, told) = &mended.mistakes[0];
        assert!(
            *line == 4 && told.contains("[uci] is in line 1 already"),
            "{told}"
        );
    }

    #[test]
    fn quotes_of_a_printed_text_are_named() {
        let mended = mend("kind = “swpp”\n");
        assert!(
            mended.mistakes[0]
                .1
                .ends_with("straight quotes, kind = \"swpp\"")
        );
        assert_eq!(mended.text, "kind = \"swpp\"");
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
