//! The messages of a Chessnut board. Source: `PROTOCOL.md`.

use bytes::Bytes;
use shakmaty::{Bitboard, Board, Color, Piece, Role, Square};
use uuid::Uuid;

use crate::{
    driver::picture::Picture,
    vocabulary::{Channel, HidBoards, Outgoing, Request},
};

const fn characteristic(number: u128) -> Uuid {
    Uuid::from_u128(0x1b7e_0000_2877_41c3_b46e_cf05_7c56_2023 | number << 96)
}

/// Notifies where the pieces stand.
pub const POSITIONS: Uuid = characteristic(0x8262);
/// Takes commands.
pub const COMMANDS: Uuid = characteristic(0x8272);
/// Notifies answers, and the key.
pub const ANSWERS: Uuid = characteristic(0x8273);

/// The boards on USB. The high byte of the product number is the model: Air, Pro, Air+, and among others Go (0x85). The Evo (0x83) speaks
/// otherwise.
pub const HID: HidBoards = HidBoards {
    title: "Chessnut Air, Air+, Pro or Go",
    vendor: 0x2d80,
    families: &[0x80, 0x81, 0x82, 0x84, 0x85, 0x86],
    usage_page: 0xff00,
};

/// The longest message: its type, its length, and what that counts.
const HEADER: usize = 2;
/// The length byte of the longest answer: four bytes for each of the 34 pieces of a Move, and one before them.
const RECORDS: u8 = 1 + 34 * 4;
/// The bytes of a placement: a nibble for each square.
const PLACEMENT: usize = 32;
/// What a nibble means; 0 is an empty square, and 13 to 15 mean nothing.
const PIECES: [Option<(Role, Color)>; 13] = [
    None,
    Some((Role::Queen, Color::Black)),
    Some((Role::King, Color::Black)),
    Some((Role::Bishop, Color::Black)),
    Some((Role::Pawn, Color::Black)),
    Some((Role::Knight, Color::Black)),
    Some((Role::Rook, Color::White)),
    Some((Role::Pawn, Color::White)),
    Some((Role::Rook, Color::Black)),
    Some((Role::Bishop, Color::White)),
    Some((Role::Knight, Color::White)),
    Some((Role::Queen, Color::White)),
    Some((Role::King, Color::White)),
];

/// What a board says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Where its pieces stand.
    Position(Board),
    /// It has taken a command; which one, it does not say.
    Taken,
    /// The charge of its battery.
    Battery {
        /// In percent.
        percent: u8,
        /// It is being charged.
        charges: bool,
    },
    /// Its key for a new game was pressed.
    NewGame,
    /// It is a Move: its pieces have motors.
    IsMove,
    /// Where each piece of a Move is: not needed, but the board is there.
    Records,
    /// A message that we do not need.
    Other,
}

/// The message in a report: its number is the message's type, and what follows the message fills the report up.
pub fn of_report(report: &[u8]) -> &[u8] {
    let length = report.get(1).map_or(0, |length| usize::from(*length));
    report.get(..HEADER + length).unwrap_or(report)
}

/// Reads one whole message. `None`: it is none of this protocol.
pub fn read(message: &[u8]) -> Option<Message> {
    let (header, data) = message.split_at_checked(HEADER)?;
    Some(match (header[0], data) {
        // Older boards send less after the placement.
        (0x01, data) if data.len() >= PLACEMENT => Message::Position(position(&data[..PLACEMENT])?),
        (0x23, _) => Message::Taken,
        // Percent, with bit 7 or the second byte for charging: the makers' texts differ. A board with a cable sends 0 for unknown.
        (0x2a, [level, ..]) => match level & 0x7f {
            percent @ 1..=100 => Message::Battery {
                percent,
                charges: level & 0x80 != 0 || data.get(1) == Some(&1),
            },
            _ => Message::Other,
        },
        (0x0f, [2, ..]) => Message::NewGame,
        // Whether it is charged comes first.
        (0x41, [0x0c, charges, percent @ 1..=100, ..]) => Message::Battery {
            percent: *percent,
            charges: *charges != 0,
        },
        (0x41, [0x15, ..]) => Message::IsMove,
        (0x41, [0x0b, ..]) => Message::Records,
        (0x0f | 0x28 | 0x32 | 0x41, _) => Message::Other,
        _ => return None,
    })
}

/// How its messages tell where the pieces stand.
pub static PICTURE: Picture = Picture {
    find: |bytes| {
        let whole = begins_position(bytes) && bytes.len() >= HEADER + PLACEMENT;
        whole.then_some(HEADER..HEADER + PLACEMENT)
    },
    read: position,
    write: |board| {
        let code = |index| {
            let piece = board.piece_at(square(index));
            let piece = piece.map(|piece| (piece.role, piece.color));
            let codes = (0u8..).zip(PIECES);
            let found = codes.into_iter().find(|(_, code)| *code == piece);
            found.map_or(0, |(code, _)| code)
        };
        let pairs = (0..64).step_by(2);
        pairs.map(|at| code(at) | code(at + 1) << 4).collect()
    },
};

fn position(nibbles: &[u8]) -> Option<Board> {
    let mut board = Board::empty();
    let each = nibbles.iter().flat_map(|byte| [byte & 15, byte >> 4]);
    for (index, nibble) in (0..64).zip(each) {
        if let Some((role, color)) = PIECES.get(usize::from(nibble))? {
            let piece = Piece {
                role: *role,
                color: *color,
            };
            board.set_piece_at(square(index), piece);
        }
    }
    Some(board)
}

/// The squares in the board's order: h8, g8 … a8, h7 … a1.
fn square(index: u32) -> Square {
    Square::new(63 - index)
}

/// Whether a value begins a position: its type, and a length that one has.
fn begins_position(value: &[u8]) -> bool {
    matches!(value, [0x01, 0x20..=0x28, ..])
}

/// Whether a value begins an answer.
fn begins_answer(value: &[u8]) -> bool {
    matches!(
        value,
        [0x0f | 0x23 | 0x28 | 0x2a | 0x32, 1..=64, ..] | [0x41, 1..=RECORDS, ..]
    )
}

/// Puts together what Bluetooth has cut: the length is in the second byte, and a value either begins a message or goes on with one.
#[derive(Debug)]
pub struct Joined {
    begins: fn(&[u8]) -> bool,
    /// What is behind so many bytes is not needed.
    enough: usize,
    begun: Vec<u8>,
}

impl Joined {
    /// For the positions. Some boards count four bytes behind the squares and send two, or none.
    pub fn positions() -> Self {
        Self::new(begins_position, HEADER + PLACEMENT)
    }

    /// For the answers.
    pub fn answers() -> Self {
        Self::new(begins_answer, usize::MAX)
    }

    fn new(begins: fn(&[u8]) -> bool, enough: usize) -> Self {
        Self {
            begins,
            enough,
            begun: Vec::new(),
        }
    }

    /// Takes a value. Returns the message that it completes.
    pub fn push(&mut self, value: &[u8]) -> Option<Vec<u8>> {
        let whole = |bytes: &[u8]| bytes.get(1).map(|length| HEADER + usize::from(*length));
        let begun = self.begun.len() + value.len();
        if whole(&self.begun).is_none_or(|whole| begun > whole) {
            // The rest of the message before it was lost, or the beginning of this one.
            self.begun.clear();
            if !(self.begins)(value) {
                return None;
            }
        }
        self.begun.extend_from_slice(value);
        let whole = whole(&self.begun)?.min(self.enough);
        (self.begun.len() >= whole).then(|| std::mem::take(&mut self.begun))
    }
}

/// Has the board send its positions from now on.
pub const REAL_TIME: [u8; 3] = [0x21, 1, 0];
/// Whether the board says that it has taken this.
pub fn is_answered(request: &Request) -> bool {
    match request {
        Request::Command(bytes) | Request::Write(bytes) => {
            matches!(bytes.first(), Some(0x0a | 0x0b | 0x21))
        }
        Request::Secret(_) | Request::Read | Request::Subscribe => false,
    }
}

/// Asks for the charge of the battery.
pub const BATTERY: [u8; 3] = [0x29, 1, 0];
/// A beep of 1000 Hz for 0.2 s.
pub const BEEP: [u8; 6] = [0x0b, 4, 0x03, 0xe8, 0, 0xc8];

/// Lights these squares and no others: a byte for each rank, the eighth first, bit 7 for the a file.
pub fn lights(squares: Bitboard) -> Vec<u8> {
    let ranks = squares.0.to_be_bytes().map(u8::reverse_bits);
    [0x0a, 8].into_iter().chain(ranks).collect()
}

/// Asks a board whether it is a Move. Only a Move answers.
pub const KIND: [u8; 3] = [0x41, 1, 0x15];
/// Asks a Move for the charge of its battery.
pub const MOVE_BATTERY: [u8; 3] = [0x41, 1, 0x0c];
/// Asks a Move where its pieces are.
pub const PIECE_RECORDS: [u8; 3] = [0x41, 1, 0x0b];
/// Has a Move stop driving.
pub const STOP: [u8; 35] = {
    let mut stop = [0; 35];
    stop[0] = 0x42;
    stop[1] = 0x21;
    stop
};
/// Has a Move drive on only until a hand moves a piece.
const YIELDS: u8 = 1;
/// The colour of the lamps of a Move: blue.
const COLOUR: u8 = 3;

/// Has a Move drive its pieces to where they stand on `board`, as long as no hand interferes.
pub fn drive(board: &Board) -> Vec<u8> {
    let nibble = |square| {
        let piece = board.piece_at(square);
        let piece = piece.map(|piece| (piece.role, piece.color));
        let found = (0..).zip(PIECES).find(|(_, other)| *other == piece);
        found.map_or(0, |(nibble, _)| nibble)
    };
    let nibbles = nibbles(nibble);
    [&[0x42, 0x21], &nibbles[..], &[YIELDS]].concat()
}

/// Lights these squares of a Move and no others.
pub fn coloured_lights(squares: Bitboard) -> Vec<u8> {
    let colour = |square| if squares.contains(square) { COLOUR } else { 0 };
    [&[0x43, 0x20], &nibbles(colour)[..]].concat()
}

/// A nibble for each square in the board's order, the low one first.
fn nibbles(nibble: impl Fn(Square) -> u8) -> [u8; PLACEMENT] {
    let mut bytes = [0; PLACEMENT];
    for (byte, first) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = nibble(square(first)) | nibble(square(first + 1)) << 4;
    }
    bytes
}

/// A command on this channel whose receipt the board confirms.
pub fn confirmed(channel: Channel, bytes: impl Into<Bytes>) -> Outgoing {
    Outgoing {
        channel,
        request: Request::Write(bytes.into()),
    }
}

/// A command, on this channel.
pub fn command(channel: Channel, bytes: impl Into<Bytes>) -> Outgoing {
    Outgoing {
        channel,
        request: Request::Command(bytes.into()),
    }
}

/// Asks for the values of a characteristic.
pub fn subscribe(characteristic: Uuid) -> Outgoing {
    Outgoing {
        channel: Channel::Gatt(characteristic),
        request: Request::Subscribe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let hex: String = hex.split_whitespace().collect();
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(byte).collect()
    }

    fn board(fen: &str) -> Board {
        Board::from_ascii_board_fen(fen.as_bytes()).unwrap()
    }

    /// A real board's start position (egdels/moveapiece, `tools/chessnut-sniffer/CHESSNUT_PROTOCOL.md`), and those of a test of another
    /// program (JohanSjoblom/picochess, `tests/test_chessnut_parser.py`).
    #[test]
    fn published_positions_are_read_as_they_are_meant() {
        let middle = "00".repeat(16);
        let start = format!("0124 58233185 44444444 {middle} 77777777 A6C99B6A CB010000");
        assert_eq!(read(&bytes(&start)), Some(Message::Position(Board::new())));
        let open = format!("0124 58233185 44440044 {middle} 77700777 A6C99B6A FFFFFFFF");
        assert_eq!(
            read(&bytes(&open)),
            Some(Message::Position(board(
                "rnbqkbnr/pp2pppp/8/8/8/8/PP1PP1PP/RNBQKBNR"
            )))
        );
        let turned = format!("0124 A6B99C6A 77777777 {middle} 44444444 58133285 FFFFFFFF");
        let mut other = Board::new();
        other.rotate_180();
        assert_eq!(read(&bytes(&turned)), Some(Message::Position(other)));
        // Older boards: a shorter tail, or none.
        for (length, tail) in [("22", "FFFF"), ("20", "")] {
            let old = format!("01{length} 58233185 44444444 {middle} 77777777 A6C99B6A {tail}");
            assert_eq!(read(&bytes(&old)), Some(Message::Position(Board::new())));
        }
        let unknown = format!("0124 D8233185 44444444 {middle} 77777777 A6C99B6A FFFFFFFF");
        assert_eq!(read(&bytes(&unknown)), None);
    }

    /// JohanSjoblom/picochess, `tests/test_chessnut_parser.py`; fianchettochess/BoardKit, `GoldenFrameTests`; egdels/moveapiece.
    #[test]
    fn the_charge_is_read_in_both_forms() {
        for (hex, percent, charges) in [
            ("2A026401", 100, true),
            ("2A025800", 88, false),
            ("2A020900", 9, false),
            ("2A020400", 4, false),
            ("2A026400", 100, false),
            ("2A02C300", 67, true),
        ] {
            let message = Message::Battery { percent, charges };
            assert_eq!(read(&bytes(hex)), Some(message), "{hex}");
        }
        assert_eq!(read(&bytes("2A020000")), Some(Message::Other));
        assert_eq!(read(&bytes("230100")), Some(Message::Taken));
        assert_eq!(read(&bytes("0F0102")), Some(Message::NewGame));
    }

    /// JohanSjoblom/picochess, `tests/test_chessnut_command.py`; chessnutech/ChessnutNext, `test/physical_board_protocol_test.dart`;
    /// fianchettochess/BoardKit, `GoldenFrameTests`.
    #[test]
    fn lights_are_written_as_published() {
        let lit = |squares: &[Square]| lights(squares.iter().copied().collect());
        assert_eq!(
            lit(&[Square::E2, Square::E4]),
            bytes("0A08 0000000008000800")
        );
        assert_eq!(
            lit(&[Square::A1, Square::H8]),
            bytes("0A08 0100000000000080")
        );
        assert_eq!(lit(&[Square::C4]), bytes("0A08 0000000020000000"));
    }

    /// chessnutech/EasyLinkSDK, `sdk/EasyLink.cpp`: the second byte counts what follows it, and zeros fill the report up.
    #[test]
    fn a_report_is_a_message_that_is_filled_up() {
        let mut start = bytes("013D 58233185 44444444");
        start.extend([0; 16]);
        start.extend(bytes("77777777 A6C99B6A CB010000"));
        start.resize(65, 0);
        let message = of_report(&start);
        assert_eq!(message.len(), 63);
        assert_eq!(read(message), Some(Message::Position(Board::new())));
        let mut charge = bytes("2A025800");
        charge.resize(65, 0);
        let told = Message::Battery {
            percent: 88,
            charges: false,
        };
        assert_eq!(read(of_report(&charge)), Some(told));
        // A board tells its charge unasked, also when it does not know it.
        assert_eq!(read(of_report(&bytes("2A020001"))), Some(Message::Other));
        // Cut, and of another kind.
        assert_eq!(read(of_report(&start[..33])), None);
        assert_eq!(read(of_report(&[0, 0, 4])), None);
        assert_eq!(read(of_report(&[1])), None);
        assert_eq!(read(of_report(&[])), None);
    }

    #[test]
    fn boards_are_known_by_their_models() {
        for product in [0x8001, 0x8002, 0x8100, 0x8200, 0x8400, 0x85ff, 0x8600] {
            assert!(HID.has(0x2d80, product), "{product:x}");
        }
        for (vendor, product) in [
            (0x2d80, 0x8300),
            (0x2d80, 0x8700),
            (0x2d80, 0x0080),
            (0x2d81, 0x8000),
        ] {
            assert!(!HID.has(vendor, product), "{vendor:x}:{product:x}");
        }
    }

    /// JohanSjoblom/picochess, `tests/test_chessnut_command.py` and `test_chessnut_parser.py`; chessnutech/ChessnutNext,
    /// `test/physical_board_protocol_test.dart`. Theirs drive in spite of a hand: their last byte is 0.
    #[test]
    fn a_move_is_commanded_and_read_as_published() {
        let start = format!(
            "4221 58233185 44444444 {} 77777777 A6C99B6A 01",
            "00".repeat(16)
        );
        assert_eq!(drive(&Board::new()), bytes(&start));
        let mut after = board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR");
        let plain = "422158233185444444440000000000000000007000000000000077077777a6c99b6a01";
        assert_eq!(drive(&after), bytes(plain));
        after.rotate_180();
        let turned = "4221a6b99c6a7777707700000000000007000000000000000000444444445813328501";
        assert_eq!(drive(&after), bytes(turned));
        let lit = coloured_lights([Square::E2, Square::E4].into_iter().collect());
        let blue = "43200000000000000000000000000000000000300000000000000030000000000000";
        assert_eq!(lit, bytes(blue));
        assert_eq!(STOP.to_vec(), bytes(&format!("4221{}", "00".repeat(33))));
        for (hex, percent, charges) in [("41030c0164", 100, true), ("41030c0058", 88, false)] {
            let message = Message::Battery { percent, charges };
            assert_eq!(read(&bytes(hex)), Some(message), "{hex}");
        }
        assert_eq!(read(&bytes("41051500000000")), Some(Message::IsMove));
        let records = format!("41890b{}", "0101FF64".repeat(34));
        assert_eq!(read(&bytes(&records)), Some(Message::Records));
        // In parts, as Bluetooth cuts it.
        let mut joined = Joined::answers();
        let parts = bytes(&records);
        let whole = parts.chunks(20).filter_map(|part| joined.push(part));
        assert_eq!(whole.collect::<Vec<_>>().concat(), parts);
    }

    #[test]
    fn a_message_that_was_cut_is_joined_and_one_that_lost_a_part_is_dropped() {
        let whole: Vec<u8> = [1, 0x24].into_iter().chain(2..38).collect();
        let mut joined = Joined::positions();
        assert_eq!(joined.push(&whole[..20]), None);
        assert_eq!(joined.push(&whole[20..]), Some(whole.clone()));
        // Its second half was lost, and the next message comes.
        assert_eq!(joined.push(&whole[..20]), None);
        assert_eq!(joined.push(&whole[..20]), None);
        assert_eq!(joined.push(&whole[20..]), Some(whole.clone()));
        // Its first half was lost; a white pawn on a4 looks like a length.
        for _ in 0..20 {
            assert_eq!(joined.push(&[0x70, 0x70, 0]), None);
        }
        assert_eq!(joined.push(&whole[..20]), None);
        assert_eq!(joined.push(&whole[20..]), Some(whole));
    }

    /// `chessnutech/Chessnut_eBoards`, `README.md`: 36 bytes in all; an early emulator counts 38 of them.
    #[test]
    fn a_position_that_is_shorter_than_it_counts_is_read_at_once() {
        let whole: Vec<u8> = [1, 0x24].into_iter().chain(2..36).collect();
        for size in [36, 20] {
            let mut joined = Joined::positions();
            for _ in 0..3 {
                let mut parts = whole.chunks(size);
                let read = parts.find_map(|part| joined.push(part));
                assert_eq!(read.as_ref(), Some(&whole), "{size}");
            }
        }
    }
}
