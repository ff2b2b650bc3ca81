//! Recognises a board of another kind than configured, if its lines leave no doubt.

use super::{citrine::codec as citrine, ucb::codec as ucb};
use crate::vocabulary::BoardKind;

/// The kind of board that sends this line, if a `configured` one never does.
pub fn talks_as(line: &[u8], configured: BoardKind) -> Option<BoardKind> {
    match configured {
        ucb::KIND => is_citrines(line).then_some(citrine::KIND),
        citrine::KIND => is_ucbs(line).then_some(ucb::KIND),
        _ => None,
    }
}

/// Whether a line does not prove a Citrine: a UCB sends the same line, or it may be the echo of our own question.
pub fn may_be_no_citrines(line: &[u8]) -> bool {
    ucb::parse(line).is_some() || matches!(line.trim_ascii(), b"G" | b"U" | b"X" | b"U ON")
}

/// Whether a Citrine or a sister board sends this line. These boards can be set to echo their input.
fn is_citrines(line: &[u8]) -> bool {
    use citrine::Message;
    let definite = !matches!(citrine::parse(line), Message::Other(_) | Message::Damaged);
    definite || ucb::is_echo(line)
}

/// Whether only a UCB sends this line. `I`, `P` and `X ON` are also questions to a Citrine, which may echo them.
fn is_ucbs(line: &[u8]) -> bool {
    use ucb::Message;
    matches!(
        ucb::parse(line),
        Some(
            Message::EchoOff
                | Message::AsksVideo
                | Message::AsksAutoclockOff
                | Message::Moved(_)
                | Message::NewGame
                | Message::Go
                | Message::TakesBack
        )
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_citrine_and_a_ucb_are_told_apart_by_their_words() {
        for line in [
            "New Game",
            "M   1   e2-e4",
            "M   1,  e7-e5 |",
            "T   4   d1xd4",
            "ID.UCBII V1.09",
            "M#5",
            "Me2-e4",
        ] {
            let line = line.as_bytes();
            assert_eq!(talks_as(line, ucb::KIND), Some(citrine::KIND));
            assert_eq!(talks_as(line, citrine::KIND), None);
            assert!(!may_be_no_citrines(line));
        }
        for line in ["Me2e4", "Ma7a8/Q", "V", "E OFF", "A OFF", "N", "J", "T"] {
            let line = line.as_bytes();
            assert_eq!(talks_as(line, citrine::KIND), Some(ucb::KIND));
            assert_eq!(talks_as(line, ucb::KIND), None);
        }
        // Echoes of questions to a Citrine, and lines that no board sends.
        for line in ["I", "P", "X ON", "U ON", "G", "hello", "\u{e9}"] {
            let line = line.as_bytes();
            assert_eq!(talks_as(line, citrine::KIND), None);
            assert_eq!(talks_as(line, ucb::KIND), None);
        }
    }
}
