//! Text that is safe in an `info json` line, whatever its origin.

use serde::Serialize;

/// The longest text of a cell, in bytes as it is sent; longer text ends in `...`. The longest advice, a set-up by hand
/// with its FEN, has some 230. Hyphens against [`KEYWORDS`] come on top, one in three bytes at most.
pub const MAX_TEXT: usize = 256;

/// Words with a meaning in an `info` line, or in any line from an engine during a search (UCI specification,
/// Meyer-Kahlen and Huber, 2006; `wdl`, `sbhits` and `movesleft` are later engines'). Some GUIs act on them anywhere,
/// even within a string.
pub const KEYWORDS: [&str; 27] = [
    "bestmove",
    "cp",
    "cpuload",
    "currline",
    "currmove",
    "currmovenumber",
    "depth",
    "hashfull",
    "info",
    "lowerbound",
    "mate",
    "movesleft",
    "multipv",
    "nodes",
    "nps",
    "ponder",
    "pv",
    "readyok",
    "refutation",
    "sbhits",
    "score",
    "seldepth",
    "string",
    "tbhits",
    "time",
    "upperbound",
    "wdl",
];

/// A text of one line, bounded, in which no word is one of [`KEYWORDS`].
///
/// The rule: runs of control characters and blanks become one blank; text longer than [`MAX_TEXT`] is cut; then every
/// keyword that stands by itself, in any case, gets a hyphen after its first letter: `t-ime`. A word ends at anything
/// other than an ASCII letter or digit, because a GUI sees escapes and signs there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Text(String);

impl Text {
    /// Makes a text safe.
    pub fn new(text: &str) -> Self {
        Self(broken(&cut(text)))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

/// Bytes that a character takes within a string of an ASCII JSON line.
fn width(c: char) -> usize {
    match c {
        '"' | '\\' => 2,
        c if c.is_ascii() => 1,
        // One escape for each unit of UTF-16.
        c => 6 * c.len_utf16(),
    }
}

/// The text on one line, with single blanks, not longer than [`MAX_TEXT`].
fn cut(text: &str) -> String {
    const MORE: &str = "...";
    let mut line = String::new();
    let mut bytes = 0;
    // Where to cut if it is too long, leaving room for the dots.
    let mut fits = 0;
    let words = text.split(|c: char| c.is_control() || c.is_whitespace());
    for word in words.filter(|word| !word.is_empty()) {
        let blank = (!line.is_empty()).then_some(' ');
        for c in blank.into_iter().chain(word.chars()) {
            bytes += width(c);
            if bytes > MAX_TEXT {
                line.truncate(fits);
                line.push_str(MORE);
                return line;
            }
            line.push(c);
            if bytes + MORE.len() <= MAX_TEXT {
                fits = line.len();
            }
        }
    }
    line
}

/// The text with its keywords broken up.
fn broken(text: &str) -> String {
    let is_sign = |c: char| !c.is_ascii_alphanumeric();
    let mut safe = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_sign) {
        let word = piece.trim_end_matches(is_sign);
        let is_keyword = KEYWORDS
            .iter()
            .any(|keyword| word.eq_ignore_ascii_case(keyword));
        // Keywords are ASCII: the first letter is one byte.
        if is_keyword {
            safe.push_str(&piece[..1]);
            safe.push('-');
            safe.push_str(&piece[1..]);
        } else {
            safe.push_str(piece);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn safe(text: &str) -> String {
        Text::new(text).0
    }

    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.split(|c: char| !c.is_ascii_alphanumeric())
    }

    fn is_keyword(word: &str) -> bool {
        KEYWORDS.contains(&word.to_ascii_lowercase().as_str())
    }

    #[test]
    fn a_keyword_by_itself_is_broken_and_stays_readable() {
        assert_eq!(
            safe("time is up: Score, (PV)"),
            "t-ime is up: S-core, (P-V)"
        );
        assert_eq!(
            safe("sometimes timely checkmate"),
            "sometimes timely checkmate"
        );
        assert_eq!(safe("é\u{a0}pvé"), "é p-vé");
    }

    #[test]
    fn control_characters_and_blanks_become_one_blank() {
        assert_eq!(safe(" a\r\n\tb\u{7f}c  d\0"), "a b c d");
        assert_eq!(safe("\n\n"), "");
    }

    #[test]
    fn a_keyword_that_only_the_cut_makes_is_broken_as_well() {
        let long = format!("{}pvs", "a ".repeat(MAX_TEXT));
        assert!(safe(&long).ends_with("..."), "{}", safe(&long));
        for blanks in 0..8 {
            let text = format!(
                "{}timetable and more",
                "a".repeat(MAX_TEXT - 8 - blanks) + " "
            );
            assert!(!words(&safe(&text)).any(is_keyword), "{}", safe(&text));
        }
    }

    #[test]
    fn no_broken_keyword_is_made_of_keywords() {
        for keyword in KEYWORDS {
            assert!(!words(&safe(keyword)).any(is_keyword), "{keyword}");
        }
    }

    proptest! {
        #[test]
        fn whatever_was_written_is_one_bounded_line_without_keywords(
            pieces in prop::collection::vec(
                prop_oneof![prop::sample::select(KEYWORDS.to_vec()).prop_map(str::to_owned), ".{0,9}", "[ \"\\\\\n_-]"],
                0..40,
            )
        ) {
            let text = safe(&pieces.concat());
            prop_assert!(text.chars().map(width).sum::<usize>() <= MAX_TEXT + MAX_TEXT / 3, "{text}");
            prop_assert!(!text.contains(char::is_control), "{text}");
            prop_assert!(!words(&text).any(is_keyword), "{text}");
        }
    }
}
