//! The messages of a DGT board. Source: `PROTOCOL.md`.

use shakmaty::{Board, Color, Piece, Role, Square};

use super::tick::{self, Tick};
use crate::{driver::picture::Picture, text::frames::Cut};

/// Its longest message that is read: 64 squares and the header. The stored changes, of which we ask none, are longer.
pub const MAX_FRAME: usize = 67;
/// Bytes of every message before its data.
pub const HEADER: usize = 3;

/// What a board is asked. Each is one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Nothing more: no changes are sent.
    Idle = 0x40,
    /// What its clock shows.
    Clock = 0x41,
    /// Where the pieces stand.
    Position = 0x42,
    /// Every change from now on, and the clock's when it changes.
    Updates = 0x4b,
    /// Its serial number.
    Serial = 0x45,
    /// Its version.
    Version = 0x4d,
    /// The charge of its battery. Boards by Bluetooth have one.
    Battery = 0x4c,
}

/// A message for the lamps of a Revelation II, and of no other board: these fields are lit, or none.
pub fn lamps(lit: Option<[Square; 2]>) -> Vec<u8> {
    const NONE: u8 = 0x40;
    let field = |square: Square| u8::from(square.flip_vertical());
    let [start, end] = lit.map_or([NONE; 2], |lit| lit.map(field));
    vec![0x60, 4, u8::from(lit.is_some()), start, end, 0]
}

/// What a board says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Where its pieces stand.
    Position(Board),
    /// This square changed: what stands there now.
    Change(Square, Option<Piece>),
    /// Its version.
    Version(u8, u8),
    /// Its serial number.
    Serial(String),
    /// The charge of its battery, in percent.
    Battery(u8),
    /// Something about its clock.
    Clock(Tick),
    /// A message that we do not need: its bus address, its text.
    Other,
}

/// Finds the messages in what a board sends: a byte with bit 7 set, the length in two bytes of 7 bits, which counts these three, and
/// data with bit 7 clear. A byte with bit 7 set where data is expected begins another message: bytes were lost.
pub fn cut(bytes: &[u8]) -> Cut {
    let begins = |byte: &u8| *byte >= 0x80;
    let Some((first, rest)) = bytes.split_first() else {
        return Cut::More;
    };
    if !begins(first) {
        return Cut::Skip(bytes.iter().take_while(|byte| !begins(byte)).count());
    }
    let length = match rest {
        [high, low, ..] if !begins(high) && !begins(low) => {
            usize::from(*high) << 7 | usize::from(*low)
        }
        _ => HEADER,
    };
    if !(HEADER..=MAX_FRAME).contains(&length) {
        return Cut::Skip(1);
    }
    let rest = &rest[..rest.len().min(length - 1)];
    match rest.iter().position(begins) {
        Some(at) => Cut::Skip(at + 1),
        None if rest.len() + 1 < length => Cut::More,
        None => Cut::Whole(length),
    }
}

/// Reads one whole message. `None`: it is none of this protocol.
pub fn read(frame: &[u8]) -> Option<Message> {
    let (header, data) = frame.split_at_checked(HEADER)?;
    Some(match (header[0], data) {
        (0x86, fields) if fields.len() == 64 => Message::Position(position(fields)?),
        (0x8e, [field, code @ ..CODES]) => Message::Change(square(*field)?, piece(*code)),
        (0x93, [major, minor]) => Message::Version(*major, *minor),
        (0x91 | 0xa2, digits) => Message::Serial(printable(digits)?),
        (0xa0, [percent @ ..=100, ..]) => Message::Battery(*percent),
        (0x8d, data) => Message::Clock(tick::read(data)?),
        // The answers 0x8D to 0xA5 of the document; the position and changes above are the only ones that have to be right.
        (0x8f | 0x90 | 0x92 | 0x96 | 0xa0 | 0xa5, _) => Message::Other,
        _ => return None,
    })
}

/// How its messages tell where the pieces stand.
pub static PICTURE: Picture = Picture {
    find: |bytes| {
        let mut begins = bytes.windows(HEADER);
        let at = begins.position(|begins| begins == [0x86, 0, 0x43])? + HEADER;
        (at + 64 <= bytes.len()).then_some(at..at + 64)
    },
    read: position,
    write: |board| {
        let code = |piece| (0..CODES).find(|code| self::piece(*code) == piece);
        let fields = (0..64).filter_map(square);
        let codes = fields.map(|square| code(board.piece_at(square)).unwrap_or(0));
        codes.collect()
    },
};

fn position(fields: &[u8]) -> Option<Board> {
    let mut board = Board::empty();
    for (field, code) in (0u8..).zip(fields) {
        if *code >= CODES {
            return None;
        }
        if let Some(piece) = piece(*code) {
            board.set_piece_at(square(field)?, piece);
        }
    }
    Some(board)
}

/// A field is numbered from a8 to h8, then a7 and so on, with the connector on White's left.
pub fn square(field: u8) -> Option<Square> {
    (field < 64).then(|| Square::new(u32::from(field)).flip_vertical())
}

/// The codes of the document.
const CODES: u8 = 16;

/// The piece of a code, if it has one. The special pieces (draw, White wins, Black wins) are not among those of a game: their squares
/// count as empty.
fn piece(code: u8) -> Option<Piece> {
    const ROLES: [Role; 6] = [
        Role::Pawn,
        Role::Rook,
        Role::Knight,
        Role::Bishop,
        Role::King,
        Role::Queen,
    ];
    let role = |from: u8| ROLES.get(usize::from(code.checked_sub(from)?)).copied();
    let white = role(1).map(|role| role.of(Color::White));
    white.or_else(|| role(7).map(|role| role.of(Color::Black)))
}

/// What a board says of itself, if it is printable.
pub fn printable(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8(bytes.to_vec()).ok()?;
    text.bytes()
        .all(|byte| byte.is_ascii_graphic())
        .then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::frames::{Frame, Frames};

    fn frames(bytes: &[u8]) -> Vec<Frame> {
        let mut frames = Frames::new(MAX_FRAME, cut);
        frames.push(bytes);
        std::iter::from_fn(|| frames.next_frame()).collect()
    }

    /// Composed from the header file of the maker; nobody has published a recording.
    #[test]
    fn the_composed_messages_are_read_as_they_are_meant() {
        let mut start = vec![0x86, 0, 0x43];
        start.extend([8, 9, 10, 12, 11, 10, 9, 8]);
        start.extend([7; 8]);
        start.extend([0; 32]);
        start.extend([1; 8]);
        start.extend([2, 3, 4, 6, 5, 4, 3, 2]);
        assert_eq!(read(&start), Some(Message::Position(Board::new())));
        let pawn = Role::Pawn.of(Color::White);
        let change = |bytes: [u8; 5]| read(&bytes);
        assert_eq!(
            change([0x8e, 0, 5, 0x34, 0]),
            Some(Message::Change(Square::E2, None))
        );
        assert_eq!(
            change([0x8e, 0, 5, 0x24, 1]),
            Some(Message::Change(Square::E4, Some(pawn)))
        );
        assert_eq!(change([0x93, 0, 5, 1, 8]), Some(Message::Version(1, 8)));
        assert_eq!(
            read(&[0x91, 0, 8, 0x31, 0x33, 0x31, 0x31, 0x36]),
            Some(Message::Serial("13116".to_owned()))
        );
        let clock = [0x8d, 0, 10, 1, 5, 0x30, 0, 0x59, 0x59, 0x11];
        assert_eq!(
            read(&clock),
            Some(Message::Clock(Tick::Times { right_high: false }))
        );
        let battery = [0xa0, 0, 12, 0x58, 0, 0, 0, 0, 0, 0, 0, 2];
        assert_eq!(read(&battery), Some(Message::Battery(88)));
    }

    /// picochess, `dgt/board.py`.
    #[test]
    fn the_lamps_of_a_revelation_are_lit_and_put_out() {
        let lit = lamps(Some([Square::E2, Square::E4]));
        assert_eq!(lit, [0x60, 4, 1, 0x34, 0x24, 0]);
        assert_eq!(lamps(None), [0x60, 4, 0, 0x40, 0x40, 0]);
    }

    #[test]
    fn what_is_not_of_the_protocol_is_not_read() {
        for frame in [
            &[0x86, 0, 3][..],
            &[0x8e, 0, 5, 64, 0],
            &[0x8e, 0, 5, 0, 16],
            &[0x8e, 0, 4, 0],
            &[0x93, 0, 4, 1],
            &[0xff, 0, 3],
            &[0x91, 0, 4, 7],
            &[],
        ] {
            assert_eq!(read(frame), None, "{frame:02x?}");
        }
    }

    #[test]
    fn a_byte_with_bit_7_begins_another_message() {
        assert_eq!(
            frames(&[0x8e, 0, 5, 0x34, 0x8e, 0, 5, 0x24, 1, 0x93]),
            [
                Frame::Garbage(vec![0x8e, 0, 5, 0x34]),
                Frame::Whole(vec![0x8e, 0, 5, 0x24, 1]),
            ]
        );
        // A length that no message has.
        assert_eq!(
            frames(&[0x86, 0x7f, 0x7f]),
            [Frame::Garbage(vec![0x86, 0x7f, 0x7f])]
        );
    }
}
