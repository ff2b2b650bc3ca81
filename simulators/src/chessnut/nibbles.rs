//! 64 nibbles in 32 bytes, one a square: pieces, or colours of lamps.

use shakmaty::{Board, Color, File, Piece, Rank, Role, Square};

/// The bytes of a position.
pub(super) const BYTES: usize = 32;

/// The squares in the order of the nibbles: h8, g8 to a8, h7 and so on to a1; in each byte the low nibble first.
pub(super) fn squares() -> impl Iterator<Item = Square> {
    Rank::ALL
        .into_iter()
        .rev()
        .flat_map(|rank| File::ALL.into_iter().rev().map(move |file| (file, rank)))
        .map(|(file, rank)| Square::from_coords(file, rank))
}

/// Packs a nibble for each square.
pub(super) fn packed(nibble: impl Fn(Square) -> u8) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (index, square) in squares().enumerate() {
        if let Some(byte) = bytes.get_mut(index / 2) {
            *byte |= (nibble(square) & 0x0F) << (4 * (index % 2));
        }
    }
    bytes
}

/// The squares with their nibbles.
pub(super) fn unpacked(bytes: &[u8; BYTES]) -> impl Iterator<Item = (Square, u8)> {
    let nibbles = bytes.iter().flat_map(|byte| [byte & 0x0F, byte >> 4]);
    squares().zip(nibbles)
}

/// The pieces by their nibbles, from 1.
const PIECES: [(Color, Role); 12] = [
    (Color::Black, Role::Queen),
    (Color::Black, Role::King),
    (Color::Black, Role::Bishop),
    (Color::Black, Role::Pawn),
    (Color::Black, Role::Knight),
    (Color::White, Role::Rook),
    (Color::White, Role::Pawn),
    (Color::Black, Role::Rook),
    (Color::White, Role::Bishop),
    (Color::White, Role::Knight),
    (Color::White, Role::Queen),
    (Color::White, Role::King),
];

/// The nibble of what stands on a square.
pub(super) fn nibble(piece: Option<Piece>) -> u8 {
    let Some(Piece { color, role }) = piece else {
        return 0;
    };
    let found = (1..).zip(PIECES).find(|(_, other)| *other == (color, role));
    found.map_or(0, |(nibble, _)| nibble)
}

/// The board of a position; nothing if a nibble means no piece.
pub(super) fn board(bytes: &[u8; BYTES]) -> Option<Board> {
    let mut board = Board::empty();
    for (square, nibble) in unpacked(bytes) {
        let Some(index) = usize::from(nibble).checked_sub(1) else {
            continue;
        };
        let &(color, role) = PIECES.get(index)?;
        board.set_piece_at(square, Piece { color, role });
    }
    Some(board)
}
