//! The messages of a Pegasus. Source: `PROTOCOL.md`.

use shakmaty::{Bitboard, Square};
use uuid::Uuid;

use crate::{
    driver::dgt::{HEADER, number_of, square},
    text::swpp::NORDIC_UART,
    vocabulary::{Channel, Outgoing, Request, Secret},
};

/// Takes commands.
const COMMANDS: Uuid = NORDIC_UART[1];
/// Notifies answers, cut to 20 bytes.
pub const ANSWERS: Uuid = NORDIC_UART[2];
/// Squares lit at once at most: their message then fits what the shortest value by Bluetooth carries, 20 bytes.
const MAX_LIT: usize = 13;

/// In the state of its battery: it is low, and empty.
const EMPTY: u8 = 0b1100;

/// What a board is asked. Each is one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Nothing more: no changes are sent.
    Idle = 0x40,
    /// Which squares are occupied.
    Squares = 0x42,
    /// Every change from now on.
    Changes = 0x44,
    /// Its serial number.
    Number = 0x55,
    /// The charge of its battery.
    Battery = 0x4c,
    /// Whether it has taken the key.
    KeyState = 0x5a,
}

/// What a board says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Its occupied squares.
    Squares(Bitboard),
    /// It shows no squares before it has its key.
    Locked,
    /// It has not been calibrated, and knows no squares.
    Uncalibrated,
    /// Whether this square is occupied has changed.
    Change(Square, bool),
    /// Its serial number.
    Number(String),
    /// The charge of its battery.
    Battery {
        /// In percent.
        percent: u8,
        /// The board is off in about three minutes.
        is_empty: bool,
    },
    /// It has a key that it accepts, or none.
    Key(bool),
    /// A message that we do not need: its version, its text.
    Other,
}

/// Reads one whole message. `None`: it is none of this protocol.
pub fn read(frame: &[u8]) -> Option<Message> {
    let (header, data) = frame.split_at_checked(HEADER)?;
    Some(match (header[0], data) {
        (0x86, fields) if fields.len() == 64 => squares(fields)?,
        (0x8e, [field, full @ ..=1]) => Message::Change(square(*field)?, *full == 1),
        (0x91 | 0xa2, digits) => Message::Number(number_of(digits)?),
        (0xa0, [percent @ ..=100, ..]) => Message::Battery {
            percent: *percent,
            is_empty: data.get(8).is_some_and(|state| state & EMPTY == EMPTY),
        },
        (0xa5, [state]) => Message::Key(*state != 0),
        (0x92 | 0x93 | 0x96 | 0xa0, _) => Message::Other,
        _ => return None,
    })
}

fn squares(fields: &[u8]) -> Option<Message> {
    if fields.iter().all(|field| *field == 0x7f) {
        return Some(Message::Locked);
    }
    if fields.iter().all(|field| *field == 1) {
        return Some(Message::Uncalibrated);
    }
    let mut full = Bitboard::EMPTY;
    for (number, field) in (0u8..).zip(fields) {
        match field {
            0 => {}
            1 => full.add(square(number)?),
            _ => return None,
        }
    }
    Some(Message::Squares(full))
}

/// Lights these squares and no others, all together and at their brightest.
pub fn lights(squares: Bitboard) -> Vec<u8> {
    const LIGHTS: u8 = 0x60;
    const TOGETHER: u8 = 0x40;
    const STAYS: u8 = 0;
    const BRIGHTEST: u8 = 1;
    if squares.is_empty() {
        return vec![LIGHTS, 2, 0, 0];
    }
    // From a8 to h1, as the board numbers them.
    let fields = squares.flip_vertical().into_iter().take(MAX_LIT);
    let fields: Vec<u8> = fields.map(u8::from).collect();
    let length = u8::try_from(fields.len()).map_or(0, |lit| lit + 5);
    let head = [LIGHTS, length, 5, TOGETHER, STAYS, BRIGHTEST];
    head.into_iter().chain(fields).chain([0]).collect()
}

/// A command.
pub fn command(bytes: Vec<u8>) -> Outgoing {
    Outgoing {
        channel: Channel::Gatt(COMMANDS),
        request: Request::Command(bytes.into()),
    }
}

/// The key.
pub fn unlock(key: [u8; 6]) -> Outgoing {
    let bytes: Vec<u8> = [0x63, 7].into_iter().chain(key).chain([0]).collect();
    Outgoing {
        channel: Channel::Gatt(COMMANDS),
        request: Request::Secret(Secret(bytes.into())),
    }
}

/// Asks for the answers.
pub fn subscribe() -> Outgoing {
    Outgoing {
        channel: Channel::Gatt(ANSWERS),
        request: Request::Subscribe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(fields: impl IntoIterator<Item = u8>) -> Vec<u8> {
        [0x86, 0, 0x43].into_iter().chain(fields).collect()
    }

    /// fianchettochess/BoardKit, `Tests/BoardKitTests/PegasusAdapterTests.swift`.
    #[test]
    fn published_messages_are_read_as_they_are_meant() {
        let start = [[1; 16], [0; 16], [0; 16], [1; 16]].concat();
        let full = shakmaty::Board::new().occupied();
        let charge = |percent, is_empty| Message::Battery { percent, is_empty };
        assert_eq!(read(&dump(start)), Some(Message::Squares(full)));
        for (bytes, message) in [
            (
                &[0x8e, 0, 5, 0x34, 0][..],
                Message::Change(Square::E2, false),
            ),
            (&[0x8e, 0, 5, 0x24, 1], Message::Change(Square::E4, true)),
            (
                &[0xa0, 0, 0x0c, 0x58, 0, 0, 0, 0, 0, 0, 0, 2],
                charge(88, false),
            ),
            // The same with other bits of its state, which the protocol page describes: low, and empty too.
            (
                &[0xa0, 0, 0x0c, 0x0a, 0, 0, 0, 0, 0, 0, 0, 6],
                charge(10, false),
            ),
            (
                &[0xa0, 0, 0x0c, 3, 0, 0, 0, 0, 0, 0, 0, 0x0e],
                charge(3, true),
            ),
            (&[0xa0, 0, 4, 3], charge(3, false)),
            (&[0x93, 0, 5, 1, 0], Message::Other),
            (
                &[0x91, 0, 8, 0x41, 0x42, 0x43, 0x44, 0x45],
                Message::Number("ABCDE".to_owned()),
            ),
            (&[0xa5, 0, 4, 1], Message::Key(true)),
        ] {
            assert_eq!(read(bytes), Some(message), "{bytes:x?}");
        }
    }

    /// egdels/moveapiece, `pegasus-core`, and Rimsoo/DGT-Pegasus, README: both are no position, and never a full board.
    #[test]
    fn a_locked_board_and_one_that_is_not_calibrated_show_no_position() {
        assert_eq!(read(&dump([0x7f; 64])), Some(Message::Locked));
        assert_eq!(read(&dump([1; 64])), Some(Message::Uncalibrated));
        let mut strange = [0; 64];
        strange[9] = 2;
        assert_eq!(read(&dump(strange)), None);
    }

    /// The first rank: Rimsoo/DGT-Pegasus, README.
    #[test]
    fn lights_are_written_as_published() {
        let rank = shakmaty::Rank::First.into();
        let bytes = [
            0x60, 0x0d, 5, 0x40, 0, 1, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f, 0,
        ];
        assert_eq!(lights(rank), bytes);
        assert_eq!(lights(Bitboard::EMPTY), [0x60, 2, 0, 0]);
        assert_eq!(lights(Bitboard::FULL).len(), 20);
    }
}
