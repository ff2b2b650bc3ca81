//! Messages as lines, and back.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use shakmaty::{CastlingSide, Role, Square};
use thiserror::Error;

use super::{BoardVersion, Ending, GameKind, MOVE_WIDTH, Message, VERSION_WIDTH};
use crate::{text::lines::printable, vocabulary::Wording};

/// The longest line read, in bytes without its end. The longest message, H1 with a serial number of any length,
/// has 12 bytes before it; a line for a move has 7.
pub const MAX_LINE: usize = 256;

/// Characters of an unreadable payload quoted in an error.
const QUOTED: usize = 40;

/// A line that is not a message, and what would be one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LineError {
    /// Not one of the six types: ignored, because later versions may have more.
    #[error("`{0}` is an unknown type of message")]
    UnknownType(String),
    /// One or no character: the app's own parser jams on that.
    #[error("a line of less than two characters")]
    TooShort,
    /// H1 without a version of the protocol.
    #[error("H1 begins with two hexadecimal digits, the protocol's version: `{0}` does not")]
    NoProtocol(String),
    /// H1 with fewer than eight characters of version: the app refuses such a board.
    #[error(
        "H1 has {VERSION_WIDTH} characters for the board's version, filled with spaces on the left: `{0}` is too short"
    )]
    ShortVersion(String),
    /// NG with anything else than a kind and Y or N.
    #[error("NG needs a kind of game (one character) and Y or N: `{0}` lacks them")]
    NoGame(String),
    /// GE without an ending.
    #[error("GE needs an ending, 0 to 4: `{0}` has none")]
    NoEnding(String),
    /// MA without a move.
    #[error("`MA{0}` is not a valid move: write for instance e2e4, e7e8q, 0-0 or 0-0-0")]
    NoAppMove(String),
    /// MB without a move.
    #[error("`MB{0}` is not a valid move: write for instance e2e4, e7e8q, 0-0 or 0-0-0")]
    NoBoardMove(String),
}

/// A message as it is sent: exactly as the documents print it, with LF only.
pub fn write(message: &Message) -> String {
    match message {
        Message::HandshakeRequest { protocol, build } => {
            let protocol = protocol.unwrap_or(super::VERSION);
            format!("H0{protocol:02X}{:04X}\n", build.unwrap_or_default())
        }
        Message::HandshakeResponse {
            protocol,
            version,
            serial,
        } => format!(
            "H1{protocol:02X}{:>VERSION_WIDTH$}{serial}\n",
            version.as_str()
        ),
        Message::NewGame {
            kind,
            waits_for_board,
        } => {
            let waits = if *waits_for_board { 'Y' } else { 'N' };
            format!("NG{}{waits}\n", kind.character())
        }
        Message::GameEnded(ending) => format!("GE{}\n", *ending as u8),
        Message::AppMove(wording) => format!("MA{:>MOVE_WIDTH$}\n", in_text(*wording)),
        Message::BoardMove(wording) => format!("MB{:>MOVE_WIDTH$}\n", in_text(*wording)),
    }
}

impl Serialize for Message {
    /// Its line, without the end.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(write(self).trim_end())
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = String::deserialize(deserializer)?;
        read(line.as_bytes()).map_err(de::Error::custom)
    }
}

/// Reads a line, without its line end.
///
/// Tolerates noise before a message, spaces around a payload, both cases of squares and pieces, and `0` or `O` in
/// castling.
///
/// # Errors
/// [`LineError`]: what came, and what would be valid.
pub fn read(line: &[u8]) -> Result<Message, LineError> {
    let begins = line.iter().position(u8::is_ascii_graphic);
    let line = &line[begins.unwrap_or(line.len())..];
    if line.len() < 2 {
        return Err(LineError::TooShort);
    }
    let (kind, payload) = line.split_at(2);
    let text = std::str::from_utf8(payload).unwrap_or_default().trim();
    let quoted = || printable(payload, QUOTED);
    match kind {
        // Every H0 is answered, whatever its content: a newer app may send more.
        b"H0" => Ok(Message::HandshakeRequest {
            protocol: hex(text, 0, 2).and_then(|v| u8::try_from(v).ok()),
            build: hex(text, 2, 6),
        }),
        // Its payload is taken as it is: padding is part of it.
        b"H1" => {
            let protocol = payload
                .get(..2)
                .and_then(|digits| std::str::from_utf8(digits).ok())
                .and_then(|digits| hex(digits, 0, 2))
                .and_then(|v| u8::try_from(v).ok())
                .ok_or_else(|| LineError::NoProtocol(quoted()))?;
            let rest = &payload[2..];
            let (Some(version), Some(serial)) =
                (rest.get(..VERSION_WIDTH), rest.get(VERSION_WIDTH..))
            else {
                return Err(LineError::ShortVersion(quoted()));
            };
            Ok(Message::HandshakeResponse {
                protocol,
                version: BoardVersion::new(&printable(version, VERSION_WIDTH)),
                serial: printable(serial, MAX_LINE).trim().to_owned(),
            })
        }
        b"NG" => {
            let game = match text.as_bytes() {
                [kind, waits] if kind.is_ascii_graphic() => match waits {
                    b'Y' | b'y' => Some((GameKind::of(char::from(*kind)), true)),
                    b'N' | b'n' => Some((GameKind::of(char::from(*kind)), false)),
                    _ => None,
                },
                _ => None,
            };
            let (kind, waits_for_board) = game.ok_or_else(|| LineError::NoGame(quoted()))?;
            Ok(Message::NewGame {
                kind,
                waits_for_board,
            })
        }
        b"GE" => match text.as_bytes() {
            [code] => number(*code, &Ending::ALL).map(Message::GameEnded),
            _ => None,
        }
        .ok_or_else(|| LineError::NoEnding(quoted())),
        b"MA" => of_text(text)
            .map(Message::AppMove)
            .ok_or_else(|| LineError::NoAppMove(quoted())),
        b"MB" => of_text(text)
            .map(Message::BoardMove)
            .ok_or_else(|| LineError::NoBoardMove(quoted())),
        other => Err(LineError::UnknownType(printable(other, 2))),
    }
}

/// The item with this digit as its number.
fn number<T: Copy>(digit: u8, of: &[T]) -> Option<T> {
    let index = digit.checked_sub(b'0')?;
    of.get(usize::from(index)).copied()
}

fn hex(text: &str, from: usize, to: usize) -> Option<u16> {
    let digits = text.get(from..to)?;
    let all = digits.bytes().all(|b| b.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| all)
}

fn in_text(wording: Wording) -> String {
    match wording {
        Wording::Castle(CastlingSide::KingSide) => "0-0".to_owned(),
        Wording::Castle(CastlingSide::QueenSide) => "0-0-0".to_owned(),
        Wording::Squares {
            from,
            to,
            promotion,
        } => {
            let promotion = promotion.map(Role::char);
            format!(
                "{from}{to}{}",
                promotion.map_or(String::new(), String::from)
            )
        }
    }
}

fn of_text(text: &str) -> Option<Wording> {
    match text.replace(['O', 'o'], "0").as_str() {
        "0-0" => return Some(Wording::Castle(CastlingSide::KingSide)),
        "0-0-0" => return Some(Wording::Castle(CastlingSide::QueenSide)),
        _ => {}
    }
    let lower = text.to_ascii_lowercase();
    let square = |from: usize| -> Option<Square> { lower.get(from..from + 2)?.parse().ok() };
    // `a2b1=Q` that was cut to five characters ends in `=`: a character that is not a piece counts as none.
    let rest = lower.get(4..)?;
    let mut letters = rest.strip_prefix('=').unwrap_or(rest).chars();
    let role = letters.next().and_then(Role::from_char);
    let promotion = role.filter(|role| !matches!(role, Role::King | Role::Pawn));
    if letters.next().is_some() {
        return None;
    }
    Some(Wording::Squares {
        from: square(0)?,
        to: square(2)?,
        promotion,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn squares(text: &str) -> Wording {
        of_text(text).unwrap()
    }

    /// Every example of the document and of the field notes, in both directions.
    #[test]
    fn every_example_is_written_and_read_byte_for_byte() {
        let h0 = Message::HandshakeRequest {
            protocol: Some(1),
            build: Some(0x23),
        };
        let ng = Message::NewGame {
            kind: GameKind::WhitePawn,
            waits_for_board: true,
        };
        let long = Wording::Castle(CastlingSide::QueenSide);
        let short = Wording::Castle(CastlingSide::KingSide);
        for (message, line) in [
            (h0, "H0010023"),
            (
                Message::welcome("1.2", "MY_SERIAL"),
                "H101     1.2MY_SERIAL",
            ),
            (Message::welcome("1.2", ""), "H101     1.2"),
            (ng, "NG2Y"),
            (Message::GameEnded(Ending::Checkmate), "GE1"),
            (Message::AppMove(squares("e2e4")), "MA e2e4"),
            (Message::AppMove(long), "MA0-0-0"),
            (Message::AppMove(short), "MA  0-0"),
            (Message::AppMove(squares("e7e8q")), "MAe7e8q"),
            (Message::BoardMove(squares("a2a4")), "MB a2a4"),
            (Message::BoardMove(long), "MB0-0-0"),
            (Message::BoardMove(short), "MB  0-0"),
        ] {
            assert_eq!(write(&message), format!("{line}\n"));
            assert_eq!(read(line.as_bytes()), Ok(message));
        }
    }

    #[test]
    fn every_number_means_what_the_document_says() {
        for (digit, kind) in GameKind::ALL.into_iter().enumerate() {
            let game = Message::NewGame {
                kind,
                waits_for_board: false,
            };
            assert_eq!(write(&game), format!("NG{digit}N\n"));
            assert_eq!(read(format!("NG{digit}N").as_bytes()), Ok(game));
        }
        for (digit, ending) in Ending::ALL.into_iter().enumerate() {
            let line = format!("GE{digit}");
            assert_eq!(read(line.as_bytes()), Ok(Message::GameEnded(ending)));
        }
    }

    #[test]
    fn what_home_made_boards_write_is_read() {
        let e2e4 = Message::BoardMove(squares("e2e4"));
        for line in ["MBe2e4", "MB e2e4", "MB e2e4\r", "MBE2E4 ", "MB   e2e4"] {
            assert_eq!(read(line.as_bytes()), Ok(e2e4.clone()), "{line}");
        }
        for line in ["MB0-0", "MBO-O", "MB  o-o", "MB 0-O "] {
            let castle = Message::BoardMove(Wording::Castle(CastlingSide::KingSide));
            assert_eq!(read(line.as_bytes()), Ok(castle), "{line}");
        }
        assert_eq!(read(b"\0\xff \x07MB e2e4"), Ok(e2e4));
        let knight = Message::BoardMove(squares("e7e8n"));
        assert_eq!(read(b"MBe7e8N"), Ok(knight));
    }

    #[test]
    fn what_is_no_message_is_told_in_words() {
        for line in [
            "", "M", "NG4", "NG1", "NG1YY", "NG9Z", "GE5", "GE", "MB", "MBe2", "MBe2e9",
        ] {
            assert!(read(line.as_bytes()).is_err(), "{line}");
        }
        assert!(matches!(read(b"XYe2e4"), Err(LineError::UnknownType(_))));
        assert!(matches!(read(b"H1011.2"), Err(LineError::ShortVersion(_))));
        assert!(matches!(read(b"H1"), Err(LineError::NoProtocol(_))));
    }

    #[test]
    fn a_promotion_whose_piece_cannot_be_read_names_none() {
        let unnamed = Wording::Squares {
            from: Square::A2,
            to: Square::B1,
            promotion: None,
        };
        for line in ["MAa2b1=", "MAa2b1k", "MAa2b1+", "MAa2b1?", "MA a2b1"] {
            assert_eq!(
                read(line.as_bytes()),
                Ok(Message::AppMove(unnamed)),
                "{line}"
            );
        }
        let named = Message::AppMove(squares("a2b1r"));
        for line in ["MAa2b1r", "MAa2b1=R"] {
            assert_eq!(read(line.as_bytes()), Ok(named.clone()), "{line}");
        }
    }

    #[test]
    fn a_game_of_an_unknown_type_is_a_game() {
        for (line, waits_for_board) in [("NG4Y", true), ("NG9N", false), ("NGxY", true)] {
            let game = Message::NewGame {
                kind: GameKind::Unknown(char::from(line.as_bytes()[2])),
                waits_for_board,
            };
            assert_eq!(read(line.as_bytes()), Ok(game.clone()));
            assert_eq!(write(&game), format!("{line}\n"));
        }
    }

    #[test]
    fn every_handshake_request_is_one_whatever_is_in_it() {
        for line in ["H0", "H001", "H0020042more", "H0zz", "H0\u{e9}"] {
            let read = read(line.as_bytes());
            assert!(
                matches!(read, Ok(Message::HandshakeRequest { .. })),
                "{line}"
            );
        }
    }

    fn wordings() -> impl Strategy<Value = Wording> {
        let side = prop_oneof![Just(CastlingSide::KingSide), Just(CastlingSide::QueenSide)];
        let role = proptest::sample::select(vec![
            None,
            Some(Role::Queen),
            Some(Role::Rook),
            Some(Role::Bishop),
            Some(Role::Knight),
        ]);
        let squares =
            (0u32..64, 0u32..64, role).prop_map(|(from, to, promotion)| Wording::Squares {
                from: Square::new(from),
                to: Square::new(to),
                promotion,
            });
        prop_oneof![side.prop_map(Wording::Castle), squares]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            wording in wordings(),
            version in "[ -~]{0,12}",
            serial in "[ -~]{0,80}",
            protocol: u8,
            build: u16,
            kind in 0usize..4,
            ending in 0usize..5,
            waits_for_board: bool,
        ) {
            let h1 = Message::welcome(&version, serial.trim());
            for message in [
                Message::AppMove(wording),
                Message::BoardMove(wording),
                Message::HandshakeRequest { protocol: Some(protocol), build: Some(build) },
                Message::NewGame { kind: GameKind::ALL[kind], waits_for_board },
                Message::GameEnded(Ending::ALL[ending]),
            ] {
                let line = write(&message);
                prop_assert_eq!(read(line.trim_end_matches('\n').as_bytes()), Ok(message));
            }
            let line = write(&h1);
            prop_assert!(line.len() >= 13 && line.ends_with('\n'));
            prop_assert!(line.bytes().filter(|&b| b == b'\n').count() == 1);
            prop_assert!(read(line.trim_end_matches('\n').as_bytes()).is_ok());
        }

        #[test]
        fn no_bytes_do_harm(line in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = read(&line);
        }

        #[test]
        fn nearly_right_lines_do_no_harm(line in "(H[01]|NG|GE|M[AB])[ -~\u{80}-\u{ff}]{0,12}") {
            if let Ok(message) = read(line.as_bytes()) {
                prop_assert!(write(&message).len() > 2);
            }
        }
    }
}
