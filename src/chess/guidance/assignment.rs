//! Assigns wrong pieces to the squares they go to.

use pathfinding::{kuhn_munkres::kuhn_munkres, matrix::Matrix};
use shakmaty::{Bitboard, Board, ByColor, Color, Piece, Role, Square};

use super::{
    carry_length::{LONGER_THAN_ALL, Way, way},
    picture::Picture,
};

/// The value of a carry that puts a piece where another is wanted: such a carry is never made.
const NOTHING: Way = 0;

/// Which wrong piece goes to which square that lacks its piece. The others go to, or come from, beside the board.
#[derive(Clone)]
pub(super) struct Assignment<'a> {
    picture: &'a Picture,
    pub(super) wanted: &'a Board,
    /// Squares whose piece does not belong there.
    pub(super) surplus: Bitboard,
    /// Surplus squares with an unknown piece.
    pub(super) unknown: Bitboard,
    /// Squares that lack their piece.
    pub(super) missing: Bitboard,
    /// Where the piece of a surplus square goes.
    goals: [Option<Square>; 64],
    /// Missing squares that a piece is carried to.
    pub(super) reached: Bitboard,
    /// Carries that are excluded.
    barred: Vec<(Square, Square)>,
}

impl<'a> Assignment<'a> {
    /// As many carries from square to square as possible, known pieces first, with the shortest total distance.
    pub(super) fn of(picture: &'a Picture, wanted: &'a Board) -> Self {
        let stands = &picture.board;
        let occupied = picture.occupied();
        let same = kinds()
            .map(|piece| stands.by_piece(piece) & wanted.by_piece(piece))
            .fold(Bitboard::EMPTY, |all, some| all | some);
        let taken_for_right = (picture.unknown & wanted.occupied()).without(stands.occupied());
        let right = same.without(picture.unknown) | taken_for_right;
        let mut assignment = Self {
            picture,
            wanted,
            surplus: occupied.without(right),
            unknown: picture.unknown.without(right),
            missing: wanted.occupied().without(right),
            goals: [None; 64],
            reached: Bitboard::EMPTY,
            barred: Vec::new(),
        };
        if assignment.unknown.is_empty() {
            kinds().for_each(|piece| assignment.assign_kind(piece));
        } else {
            assignment.assign(assignment.surplus, assignment.missing);
        }
        assignment
    }

    /// The same without this carry: the best assignment of the other pieces.
    pub(super) fn without(&self, (from, to): (Square, Square)) -> Self {
        let mut other = self.clone();
        other.barred.push((from, to));
        match self.stands_on(from) {
            // Then the kinds are independent.
            Some(piece) if self.unknown.is_empty() => other.assign_kind(piece),
            _ => other.assign(other.surplus, other.missing),
        }
        other
    }

    /// The total value of all carries: the better of two assignments has more.
    pub(super) fn total(&self) -> Way {
        let worth = |from| self.goal(from).map(|to| self.worth(from, to));
        self.surplus.into_iter().filter_map(worth).sum()
    }

    fn assign_kind(&mut self, piece: Piece) {
        let surplus = self.surplus_of(piece);
        let missing = self.missing & self.wanted.by_piece(piece);
        self.assign(surplus, missing);
    }

    /// Sends the pieces of these surplus squares to these missing ones.
    fn assign(&mut self, surplus: Bitboard, missing: Bitboard) {
        if surplus.is_empty() || missing.is_empty() {
            return;
        }
        surplus.into_iter().for_each(|from| self.send(from, None));
        let mut sides: [Vec<Square>; 2] = [surplus, missing].map(|some| some.into_iter().collect());
        // The algorithm needs at most as many rows as columns.
        let turned = sides[0].len() > sides[1].len();
        if turned {
            sides.reverse();
        }
        let [rows, columns] = sides;
        let pair = |row: usize, column: usize| {
            let (row, column) = (rows[row], columns[column]);
            if turned { (column, row) } else { (row, column) }
        };
        let worths = Matrix::from_fn(rows.len(), columns.len(), |(row, column)| {
            let (from, to) = pair(row, column);
            self.worth(from, to)
        });
        let (_, chosen) = kuhn_munkres(&worths);
        for (row, column) in chosen.into_iter().enumerate() {
            let (from, to) = pair(row, column);
            if worths[(row, column)] != NOTHING {
                self.send(from, Some(to));
            }
        }
    }

    /// The value of a carry: a known piece outweighs any number of unknown ones, and one of these outweighs any
    /// distance.
    fn worth(&self, from: Square, to: Square) -> Way {
        if self.barred.contains(&(from, to)) {
            return NOTHING;
        }
        match self.stands_on(from) {
            Some(piece) if self.wanted_on(to) == Some(piece) => {
                128 * LONGER_THAN_ALL - way(from, to)
            }
            Some(_) => NOTHING,
            None if from == to => NOTHING,
            None => LONGER_THAN_ALL - way(from, to),
        }
    }

    /// Where the piece of this square goes, if to another square.
    pub(super) fn goal(&self, from: Square) -> Option<Square> {
        self.goals[usize::from(from)]
    }

    /// The piece of a square, if it is known.
    pub(super) fn stands_on(&self, square: Square) -> Option<Piece> {
        self.picture.known(square)
    }

    /// Surplus squares with a piece that is known to be of this kind.
    pub(super) fn surplus_of(&self, kind: Piece) -> Bitboard {
        (self.surplus & self.picture.board.by_piece(kind)).without(self.unknown)
    }

    /// The piece wanted on a square.
    pub(super) fn wanted_on(&self, square: Square) -> Option<Piece> {
        self.wanted.piece_at(square)
    }

    /// Missing squares whose piece comes from beside the board.
    pub(super) fn fetched(&self) -> Bitboard {
        self.missing.without(self.reached)
    }

    /// Squares that no carry leads to: each begins a trail of carries, and each trail has one.
    pub(super) fn unreached(&self) -> Bitboard {
        (self.surplus | self.missing).without(self.reached)
    }

    pub(super) fn send(&mut self, from: Square, to: Option<Square>) {
        if let Some(before) = self.goal(from) {
            self.reached.discard(before);
        }
        self.goals[usize::from(from)] = to;
        if let Some(to) = to {
            self.reached.add(to);
        }
    }
}

/// Every colour and role.
fn kinds() -> impl Iterator<Item = Piece> {
    let kind = |color: Color| Role::ALL.map(|role| Piece { color, role });
    ByColor::new_with(kind).into_iter().flatten()
}
