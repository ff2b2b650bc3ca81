//! Splits a byte stream into lines, with a bound on what one line may hold.
//!
//! Line ends are CR, LF or both: boards, GUIs and terminals differ. Empty lines are dropped.

use std::{mem, time::Duration};

use thiserror::Error;

/// If the end of a board's line has not come within this time, it will not come: a line takes at most 0.4 s on the
/// slowest wire (40 bytes at 1200 baud). What comes later is a separate line.
pub const LINE_WAIT: Duration = Duration::from_secs(2);

/// What a byte stream holds next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A whole line without its end.
    Whole(Vec<u8>),
    /// A line longer than the bound; all of it was dropped. The length is the number of bytes dropped.
    Overlong(usize),
}

/// A bounded line splitter. Push bytes, then take lines.
#[derive(Debug)]
pub struct Lines {
    bound: usize,
    partial: Vec<u8>,
    /// Bytes dropped of an overlong line whose end has not come yet.
    dropped: usize,
    input: Vec<u8>,
    at: usize,
}

impl Lines {
    /// A splitter for lines of at most `bound` bytes.
    pub fn new(bound: usize) -> Self {
        Self {
            bound,
            partial: Vec::new(),
            dropped: 0,
            input: Vec::new(),
            at: 0,
        }
    }

    /// Adds bytes. Take every line before adding more: then at most one chunk and one line are held.
    pub fn push(&mut self, bytes: &[u8]) {
        self.input.drain(..self.at);
        self.at = 0;
        self.input.extend_from_slice(bytes);
    }

    /// The next whole or overlong line, or `None` until more bytes come.
    pub fn next_line(&mut self) -> Option<Line> {
        loop {
            let rest = &self.input[self.at..];
            let Some(end) = rest.iter().position(|&b| b == b'\r' || b == b'\n') else {
                let rest_len = rest.len();
                if self.dropped > 0 || self.partial.len() + rest_len > self.bound {
                    self.dropped += self.partial.len() + rest_len;
                    self.partial.clear();
                } else {
                    self.partial.extend_from_slice(rest);
                }
                self.at = self.input.len();
                return None;
            };
            let chunk = self.at..self.at + end;
            self.at += end + 1;
            if self.dropped > 0 || self.partial.len() + end > self.bound {
                let length = mem::take(&mut self.dropped) + self.partial.len() + end;
                self.partial.clear();
                return Some(Line::Overlong(length));
            }
            self.partial.extend_from_slice(&self.input[chunk]);
            if !self.partial.is_empty() {
                return Some(Line::Whole(mem::take(&mut self.partial)));
            }
        }
    }

    /// The bytes of a line whose end has not come yet.
    pub fn partial(&self) -> &[u8] {
        &self.partial
    }

    /// Whether a line has begun whose end has not come yet.
    pub fn is_unfinished(&self) -> bool {
        !self.partial.is_empty() || self.dropped > 0
    }

    /// Takes the unfinished line as if its end had come.
    pub fn take_partial(&mut self) -> Vec<u8> {
        self.dropped = 0;
        mem::take(&mut self.partial)
    }

    /// Forgets everything that has not been taken.
    pub fn clear(&mut self) {
        *self = Self::new(self.bound);
    }
}

/// Bytes as printable text of at most `limit` characters, for logs and messages.
pub fn printable(bytes: &[u8], limit: usize) -> String {
    let mut text: String = bytes
        .iter()
        .take(limit)
        .flat_map(|&b| std::ascii::escape_default(b))
        .map(char::from)
        .collect();
    if bytes.len() > limit {
        text.push('…');
    }
    text
}

/// The protocol of a connection that does not belong at a port for lines of text. A page in a browser can open one to any
/// port, with lines of its own choice in it: below a request of HTTP, or in the bytes of TLS (a session ticket) or of STUN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Foreign {
    /// The line is the first of a request.
    #[error("it speaks HTTP")]
    Http,
    /// The line has bytes that no text has.
    #[error("it does not send text: it may speak TLS")]
    NotText,
}

impl Foreign {
    /// What a connection's first line shows, or the part of it that has come. `None`: it may be text of any kind.
    pub fn of(line: &[u8]) -> Option<Self> {
        let line = after_telnet(line);
        let last = line.trim_ascii_end().rsplit(|byte| *byte == b' ').next();
        if last.is_some_and(|last| last.starts_with(b"HTTP/")) {
            Some(Self::Http)
        } else {
            let is_text = line.iter().all(|byte| is_of_text(*byte));
            (!is_text).then_some(Self::NotText)
        }
    }
}

/// Whether text in UTF-8, or in an older encoding, may have this byte. Of the control characters, those of terminals are text.
fn is_of_text(byte: u8) -> bool {
    !matches!(byte, 0..=6 | 14..=26 | 28..=31 | 0xc0 | 0xc1 | 0xf5..)
}

/// A first line without the options that some telnet programs negotiate before it (RFC 854): IAC, WILL to DONT, the option.
pub fn after_telnet(mut line: &[u8]) -> &[u8] {
    while let [0xff, 0xfb..=0xfe, _, rest @ ..] = line {
        line = rest;
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(lines: &mut Lines) -> Vec<Line> {
        std::iter::from_fn(|| lines.next_line()).collect()
    }

    #[test]
    fn every_line_end_in_use_ends_a_line() {
        let mut lines = Lines::new(8);
        lines.push(b"a\r\nb\nc\rd");
        let whole = |s: &str| Line::Whole(s.into());
        assert_eq!(all(&mut lines), [whole("a"), whole("b"), whole("c")]);
        assert_eq!(lines.partial(), b"d");
    }

    #[test]
    fn an_overlong_line_is_dropped_and_the_next_one_is_read() {
        let mut lines = Lines::new(4);
        lines.push(b"12345");
        assert_eq!(all(&mut lines), []);
        lines.push(b"6\nok\n");
        assert_eq!(
            all(&mut lines),
            [Line::Overlong(6), Line::Whole(b"ok".to_vec())]
        );
    }

    #[test]
    fn the_first_line_of_a_connection_shows_what_is_not_text() {
        let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
        let stun = b"\x00\x01\x00\x08\x21\x12\xa4\x42";
        for bytes in [
            &hello[..],
            stun,
            b"uci\0",
            b"\xff\xfe",
            b"\xff\xfd\x01\x16\x03",
        ] {
            assert_eq!(Foreign::of(bytes), Some(Foreign::NotText), "{bytes:?}");
        }
        assert_eq!(Foreign::of(b"GET / HTTP/1.1"), Some(Foreign::Http));
        for text in [
            "",
            "\u{feff}uci",
            "hello\t",
            "ucii\u{8}\u{7f}\u{1b}[D",
            "caf\u{e9} \u{1f600}",
        ] {
            assert_eq!(Foreign::of(text.as_bytes()), None, "{text:?}");
        }
        let putty = b"\xff\xfb\x1f\xff\xfb\x18\xff\xfd\x01uci";
        assert_eq!(Foreign::of(putty), None);
        assert_eq!(after_telnet(putty), b"uci");
        assert_eq!(Foreign::of(b"caf\xe9"), None, "Latin-1");
    }

    proptest! {
        #[test]
        fn how_the_bytes_were_cut_does_not_matter(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..200),
            cuts in proptest::collection::vec(1usize..20, 1..40),
        ) {
            let mut whole = Lines::new(10);
            whole.push(&bytes);
            let expected = all(&mut whole);
            let mut cut = Lines::new(10);
            let mut got = Vec::new();
            let mut rest = &bytes[..];
            for size in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (now, later) = rest.split_at((*size).min(rest.len()));
                cut.push(now);
                got.extend(all(&mut cut));
                prop_assert!(cut.partial().len() <= 10);
                rest = later;
            }
            prop_assert_eq!(got, expected);
        }
    }
}
