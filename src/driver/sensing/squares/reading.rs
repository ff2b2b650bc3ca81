//! The readings of the squares on this link.

use shakmaty::{Bitboard, Board, Square};

/// Successive pictures that must show a position before it counts by itself.
const PICTURES: u8 = 2;

/// The readings of the squares on this link.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The last picture, without the squares lifted from since.
    picture: Option<Bitboard>,
    /// Squares on which a piece was put and has stayed, since [`Self::forget_put`].
    put: Bitboard,
    /// Squares that read occupied and were not lifted from since.
    stood: Bitboard,
    /// Successive pictures that showed the start position.
    at_start: u8,
    /// Successive pictures that showed the position of the game.
    as_game: u8,
}

impl Reading {
    /// The link is new: there are no readings yet.
    pub fn link_up(&mut self) {
        *self = Self {
            at_start: self.at_start,
            ..Self::default()
        };
    }

    /// A piece was lifted.
    pub fn lifted(&mut self, square: Square) {
        self.put.discard(square);
        self.stood.discard(square);
        if let Some(picture) = &mut self.picture {
            picture.discard(square);
        }
    }

    /// A piece was put down.
    pub fn placed(&mut self, square: Square) {
        self.put.add(square);
    }

    /// A picture came.
    pub fn pictured(&mut self, picture: Bitboard) {
        self.picture = Some(picture);
        self.stood |= picture;
    }

    /// The last picture, without the squares lifted from since.
    pub fn picture(&self) -> Option<Bitboard> {
        self.picture
    }

    /// Whether a picture came on this link.
    pub fn are_read(&self) -> bool {
        self.picture.is_some()
    }

    /// The occupied squares, if a picture came.
    pub fn full(&self) -> Option<Bitboard> {
        self.picture.map(|picture| picture | self.put)
    }

    /// Whether a piece was put on this square and has stayed, since [`Self::forget_put`].
    pub fn was_put(&self, square: Square) -> bool {
        self.put.contains(square)
    }

    /// Forgets where pieces were put.
    pub fn forget_put(&mut self) {
        self.put = Bitboard::EMPTY;
    }

    /// The motor has moved a piece: the last picture is out of date.
    pub fn outdate(&mut self) {
        self.put = Bitboard::EMPTY;
        self.picture = None;
    }

    /// The pieces were moved other than by hand.
    pub fn moved(&mut self, from: Option<Square>, to: Option<Square>) {
        self.put = to.into_iter().collect();
        if let Some(from) = from {
            self.stood.discard(from);
        }
    }

    /// Squares that read occupied on this link and were not lifted from since.
    pub fn stood(&self) -> Bitboard {
        self.stood
    }

    /// Whether enough successive pictures showed the start position to exclude chance. `shown`: this one shows it.
    pub fn show_start(&mut self, shown: bool) -> bool {
        counts(&mut self.at_start, shown)
    }

    /// The same of the position that the game has reached.
    pub fn show_game(&mut self, shown: bool) -> bool {
        counts(&mut self.as_game, shown)
    }

    /// Whether the pieces stand as on `board`, as far as the squares show.
    pub fn stand_as(&self, board: &Board) -> bool {
        self.full() == Some(board.occupied())
    }
}

/// Counts successive pictures. `true` once there are [`PICTURES`] of them, and then from the first again.
fn counts(pictures: &mut u8, shown: bool) -> bool {
    *pictures = if shown { *pictures + 1 } else { 0 };
    let enough = *pictures >= PICTURES;
    if enough {
        *pictures = 0;
    }
    enough
}
