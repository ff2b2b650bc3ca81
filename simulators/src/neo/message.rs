//! What a program may write to the characteristics of requests and signs.

use shakmaty::Square;

/// The most squares lit by one captured write are 25; there are 64.
const MAX_LAMPS: usize = 64;

/// A message to the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// `1#*`: asks for the address.
    Address,
    /// `4#*`: asks for the battery's voltage.
    Battery,
    /// `30#R*`: asks for the occupancy.
    Occupancy,
    /// `14#1*`: a new game.
    NewGame,
    /// `14#3*`, `30#2000*`, `R:ISG`: captured; their meaning is unknown.
    Unknown,
    /// `25#…*`: lamps.
    Lamps(Vec<Square>),
    /// `S:wt` and others, without the `S:`.
    Sign(&'static str),
    /// `27#wt*` and others: the older form.
    OlderSign(&'static str),
    /// `M:c8`: this square lacks its piece.
    Missing(Square),
}

/// The signs that have a meaning (document: `po` is unknown, and captured at the start of each game).
const SIGNS: [&str; 4] = ["ck", "wt", "bl", "dw"];

fn sign(text: &str) -> Option<&'static str> {
    SIGNS.into_iter().find(|sign| *sign == text)
}

/// A write to the Nordic UART: `<commandId>#<data>*`, whole.
pub(super) fn request(text: &str) -> Option<Message> {
    let (id, data) = text.strip_suffix('*')?.split_once('#')?;
    Some(match (id, data) {
        ("1", "") => Message::Address,
        ("4", "") => Message::Battery,
        ("30", "R") => Message::Occupancy,
        ("14", "1") => Message::NewGame,
        ("14", "3") | ("30", "2000") => Message::Unknown,
        ("25", squares) => Message::Lamps(lamps(squares)?),
        ("27", word) => Message::OlderSign(sign(word)?),
        _ => return None,
    })
}

/// A write to c7d64c44.
pub(super) fn state(text: &str) -> Option<Message> {
    let (verb, word) = text.split_once(':')?;
    Some(match (verb, word) {
        ("S", "po") => Message::Sign("po"),
        ("S", word) => Message::Sign(sign(word)?),
        ("M", square) => Message::Missing(Square::from_ascii(square.as_bytes()).ok()?),
        ("R", "ISG") => Message::Unknown,
        _ => return None,
    })
}

fn lamps(text: &str) -> Option<Vec<Square>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) || text.len() > 2 * MAX_LAMPS {
        return None;
    }
    text.as_bytes()
        .chunks(2)
        .map(|square| Square::from_ascii(square).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_messages_and_unknown_ones_are_none() {
        for text in [
            "", "1#", "#*", "25#a1a*", "25#i9*", "25#é*", "14#2*", "26#ISG*", "27#po*", "1#*1#*",
            "0#d2u*",
        ] {
            assert_eq!(request(text), None, "{text}");
        }
        for text in ["S:", "S:xx", "M:", "M:c", "M:c9", "R:", "S:po\n", "po"] {
            assert_eq!(state(text), None, "{text}");
        }
        assert_eq!(request("25#*"), Some(Message::Lamps(Vec::new())));
        assert_eq!(state("M:c8"), Some(Message::Missing(Square::C8)));
    }
}
