//! Parses the board's messages and builds requests to it, one characteristic at a time.
//!
//! Source: "Miko Neo communication protocol" (the tables of characteristics) and captures of a real board. A
//! value that does not parse is rejected: radio errors happen (one captured notification was corrupt).

use bytes::Bytes;
use shakmaty::{Bitboard, Color, Square};
use uuid::{Uuid, uuid};

use crate::vocabulary::{Channel, Outgoing, Request};

/// The service a Neo advertises (field notes: `d804b643-…`, the rest as in its characteristic).
pub const SERVICE: Uuid = uuid!("d804b643-6ce7-4e81-9f8a-ce0f699085eb");
/// Requests to the board: `<id>#<data>*`.
pub const COMMANDS: Uuid = uuid!("6e400002-b5a3-f393-e0a9-e50e24dcca9e");
/// Answers of the board: `<id>#<data>*`.
pub const ANSWERS: Uuid = uuid!("6e400003-b5a3-f393-e0a9-e50e24dcca9e");
/// Battery level, one byte, percent.
pub const BATTERY: Uuid = uuid!("00002a19-0000-1000-8000-00805f9b34fb");
/// Firmware revision, text.
pub const FIRMWARE: Uuid = uuid!("00002a26-0000-1000-8000-00805f9b34fb");
/// Subscribed to by the maker's app; no notification was ever seen.
pub const UNKNOWN: Uuid = uuid!("c8659211-af91-4ad3-a995-a58d6fd26145");
/// Lifts, placements, and `OK` for a path.
pub const EVENTS: Uuid = uuid!("4496994f-2600-4e7e-81d5-e0f7b67ebd48");
/// Pictures of the occupied squares.
pub const OCCUPANCY: Uuid = uuid!("777ac5a4-6fa8-474b-841d-091bd57d28c4");
/// Read by the maker's app at the start (`100111`).
pub const SETTINGS: Uuid = uuid!("d804b644-6ce7-4e81-9f8a-ce0f699085eb");
/// Paths for the motor.
pub const PATHS: Uuid = uuid!("f9664d70-93ff-4cfe-9bfe-b5866aa5bef2");
/// Signs: check, results, a missing piece.
pub const SIGNS: Uuid = uuid!("c7d64c44-42f0-11ec-81d3-0242ac130003");
/// The app writes `0` at the start and at the end of a game.
pub const CONFIG: Uuid = uuid!("c7d64c45-42f0-11ec-81d3-0242ac130003");

/// Squares in a picture.
const SQUARES: usize = 64;
/// Maximum number of squares lit by one write: all of the board; 25 were seen.
const MAX_LIT: usize = 64;

/// A message from the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A piece was lifted.
    Lifted(Square),
    /// A piece was put down.
    Placed(Square),
    /// The path is done.
    PathDone,
    /// The occupied squares.
    Picture(Bitboard),
    /// Its address: the answer to the greeting.
    Address,
    /// Its battery, in percent.
    Battery(u8),
    /// Its firmware.
    Firmware(String),
    /// Something that needs no answer.
    Other,
}

/// Parses a value of a characteristic. `None` if it is not a message of this protocol.
pub fn parse(characteristic: Uuid, value: &[u8]) -> Option<Message> {
    match characteristic {
        EVENTS => event(value),
        OCCUPANCY => picture(value).map(Message::Picture),
        ANSWERS => answer(value),
        BATTERY => match value {
            [percent @ 0..=100] => Some(Message::Battery(*percent)),
            _ => None,
        },
        FIRMWARE => {
            let text = std::str::from_utf8(value).ok()?;
            let plain =
                !text.is_empty() && text.len() <= 32 && text.bytes().all(|b| b.is_ascii_graphic());
            plain.then(|| Message::Firmware(text.to_owned()))
        }
        _ => Some(Message::Other),
    }
}

fn event(value: &[u8]) -> Option<Message> {
    if value == b"OK" {
        return Some(Message::PathDone);
    }
    let [file, rank, what] = value else {
        return None;
    };
    let square = Square::from_ascii(&[*file, *rank]).ok()?;
    match what {
        b'u' => Some(Message::Lifted(square)),
        b'd' => Some(Message::Placed(square)),
        _ => None,
    }
}

/// 64 digits, a1 to a8, b1 to b8 and so on.
fn picture(value: &[u8]) -> Option<Bitboard> {
    if value.len() != SQUARES {
        return None;
    }
    let mut set = Bitboard::EMPTY;
    for (index, digit) in (0u32..).zip(value) {
        match digit {
            b'0' => {}
            b'1' => set.add(Square::new((index % 8) * 8 + index / 8)),
            _ => return None,
        }
    }
    Some(set)
}

fn answer(value: &[u8]) -> Option<Message> {
    let text = std::str::from_utf8(value).ok()?.strip_suffix('*')?;
    let (id, data) = text.split_once('#')?;
    match id {
        "1" => Some(Message::Address),
        "30" => picture(data.as_bytes()).map(Message::Picture),
        // The battery in units of its own (3752.50): the percentage comes on another characteristic.
        _ if id.bytes().all(|b| b.is_ascii_digit()) => Some(Message::Other),
        _ => None,
    }
}

fn write(characteristic: Uuid, text: String) -> Outgoing {
    Outgoing {
        channel: Channel::Gatt(characteristic),
        request: Request::Write(Bytes::from(text)),
    }
}

/// Asks for the board's address.
pub fn hello() -> Outgoing {
    write(COMMANDS, "1#*".to_owned())
}

/// Asks for a picture.
pub fn look() -> Outgoing {
    write(COMMANDS, "30#R*".to_owned())
}

/// Meaning unknown; the maker's app sends it before a game.
pub fn prepare() -> Outgoing {
    write(COMMANDS, "30#2000*".to_owned())
}

/// A game begins.
pub fn game_begins() -> Outgoing {
    write(COMMANDS, "14#1*".to_owned())
}

/// No game is in progress.
pub fn no_game() -> Outgoing {
    write(COMMANDS, "14#3*".to_owned())
}

/// Meaning unknown; the maker's app sends it at the start, and when the pieces of a new game are set up.
pub fn position_set() -> Outgoing {
    write(SIGNS, "S:po".to_owned())
}

/// The pieces are placed correctly.
pub fn in_sync() -> Outgoing {
    write(SIGNS, "R:ISG".to_owned())
}

/// Resets something at the start and at the end of a game.
pub fn reset() -> Outgoing {
    write(CONFIG, "0".to_owned())
}

/// Reports that a piece is missing on a square.
pub fn missing(square: Square) -> Outgoing {
    write(SIGNS, format!("M:{square}"))
}

/// A path for the motor.
pub fn path(path: &super::motor::Path) -> Outgoing {
    write(PATHS, path.to_string())
}

/// Lights these squares and no others.
pub fn light(squares: Bitboard) -> Outgoing {
    let names: String = squares
        .into_iter()
        .take(MAX_LIT)
        .map(|s| s.to_string())
        .collect();
    write(COMMANDS, format!("25#{names}*"))
}

/// A sign about the game that the board shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Check: the board beeps.
    Check,
    /// A side has won, or none has: the home ranks flash.
    Result(Option<Color>),
}

/// Shows a sign. Older firmware takes it as a command (`old`); which version changed this is unknown.
pub fn sign(sign: Sign, old: bool) -> Outgoing {
    let word = match sign {
        Sign::Check => "ck",
        Sign::Result(Some(Color::White)) => "wt",
        Sign::Result(Some(Color::Black)) => "bl",
        Sign::Result(None) => "dw",
    };
    if old {
        write(COMMANDS, format!("27#{word}*"))
    } else {
        write(SIGNS, format!("S:{word}"))
    }
}

/// Subscribes to a characteristic.
pub fn subscribe(characteristic: Uuid) -> Outgoing {
    Outgoing {
        channel: Channel::Gatt(characteristic),
        request: Request::Subscribe,
    }
}

/// Reads a characteristic.
pub fn read(characteristic: Uuid) -> Outgoing {
    Outgoing {
        channel: Channel::Gatt(characteristic),
        request: Request::Read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_example_is_the_start_position() {
        let text = b"1100001111000011110000101100001111000011110000111100001111000011";
        let Some(Message::Picture(set)) = parse(OCCUPANCY, text) else {
            panic!("not read");
        };
        let missing = shakmaty::Board::new().occupied() & !set;
        // Its c file reads 11000010: the bishop on c8 was not detected.
        assert_eq!(missing, Bitboard::from(Square::C8));
        assert_eq!(set.count(), 31);
    }

    #[test]
    fn lifts_and_placements_are_read_and_junk_is_not() {
        assert_eq!(parse(EVENTS, b"d2u"), Some(Message::Lifted(Square::D2)));
        assert_eq!(parse(EVENTS, b"d4d"), Some(Message::Placed(Square::D4)));
        assert_eq!(parse(EVENTS, b"OK"), Some(Message::PathDone));
        for junk in [
            &b"0#d2u*"[..],
            b"d2",
            b"d9u",
            b"i1d",
            b"d2x",
            b"\xff\xfe\xfd",
            b"",
        ] {
            assert_eq!(parse(EVENTS, junk), None, "{junk:?}");
        }
        assert_eq!(parse(OCCUPANCY, b"1100"), None);
        assert_eq!(parse(OCCUPANCY, &[b'2'; 64]), None);
    }

    #[test]
    fn answers_are_read() {
        assert_eq!(
            parse(ANSWERS, b"1#XX:XX:XX:XX:XX:XX*"),
            Some(Message::Address)
        );
        assert_eq!(parse(ANSWERS, b"4#3752.50*"), Some(Message::Other));
        let board = b"30#0100001111000011110000110100001101000011110000111100000111000011*";
        assert!(matches!(parse(ANSWERS, board), Some(Message::Picture(_))));
        assert_eq!(parse(ANSWERS, b"30#01*"), None);
        assert_eq!(parse(BATTERY, b"I"), Some(Message::Battery(73)));
    }
}
