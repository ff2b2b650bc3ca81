//! Plans what the motor and the player do for a move.
//!
//! The motor drags one piece at a time along a path and senses nothing: a path that touches another piece topples it.
//! Plans therefore start from where the pieces *stand*, not from the game's position, and the
//! driver tracks them: [`Action::apply`] after each finished path.
//!
//! [`forward`] and [`back`] never fail. The player is asked to do what the motor cannot.
//!
//! A move is a few actions: the motor carries a piece, or the player is asked to add or remove one. Before
//! each path the plan is made again and only its first action is taken. So
//!
//! - a move that the player has already made needs no action, and one made in part is finished;
//! - a link lost in the middle of a path leaves an *interrupted* path: its late `OK`, or the first picture
//!   afterwards, shows whether it was carried out. Until then nothing is written, for at most 20 s. It is never sent
//!   twice on suspicion;
//! - a step that the program no longer wants is undone in the same way, from what is still misplaced.
//!
//! The motor waits while a piece is in the air or misplaced; nothing is written while it runs.

pub mod parking;
pub mod path;
mod route;

use std::fmt;

use shakmaty::{Board, Color, Move, Piece, Role, Square};

use self::route::Field;
pub use self::{
    parking::{Parking, Slot},
    path::{Path, Point},
};

/// Where a piece stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spot {
    /// On the board.
    Square(Square),
    /// Beside it.
    Slot(Slot),
}

impl Spot {
    /// The square, unless it is a slot.
    pub fn square(self) -> Option<Square> {
        match self {
            Self::Square(square) => Some(square),
            Self::Slot(_) => None,
        }
    }

    /// Column and row, counted from a1.
    fn coordinates(self) -> (i8, i8) {
        let small = |index: u32| i8::try_from(index).unwrap_or(i8::MAX);
        match self {
            Self::Square(square) => (small(square.file().to_u32()), small(square.rank().to_u32())),
            Self::Slot(slot) => (slot.column(), slot.row()),
        }
    }

    /// Its centre.
    pub fn centre(self) -> Point {
        let (x, y) = self.coordinates();
        Point {
            x: i16::from(x) * Point::SQUARE,
            y: i16::from(y) * Point::SQUARE,
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Square(square) => square.fmt(f),
            Self::Slot(slot) => slot.fmt(f),
        }
    }
}

/// A piece for the motor to carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carry {
    /// Where it stands.
    pub from: Spot,
    /// Its destination.
    pub to: Spot,
    /// The path there.
    pub path: Path,
}

/// One action of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The motor carries a piece.
    Carry(Carry),
    /// The player puts a piece on a square: it is neither on the board nor in a slot.
    Bring {
        /// The square, empty by then.
        square: Square,
        /// The piece.
        piece: Piece,
    },
    /// The player takes the piece off a square: there is no slot for it.
    Remove {
        /// The square.
        square: Square,
    },
}

impl Action {
    /// Records that it was done. An action that does not fit the placement of the pieces changes nothing.
    pub fn apply(&self, board: &mut Board, parking: &mut Parking) {
        match self {
            Self::Carry(carry) => {
                let piece = match carry.from {
                    Spot::Square(square) => board.piece_at(square),
                    Spot::Slot(slot) => parking.piece_at(slot),
                };
                let Some(piece) = piece else { return };
                match carry.to {
                    Spot::Square(square) => board.set_piece_at(square, piece),
                    Spot::Slot(slot) => {
                        if !parking.put(slot, piece) {
                            return;
                        }
                    }
                }
                match carry.from {
                    Spot::Square(square) => board.discard_piece_at(square),
                    Spot::Slot(slot) => drop(parking.take(slot)),
                }
            }
            Self::Bring { square, piece } => board.set_piece_at(*square, *piece),
            Self::Remove { square } => board.discard_piece_at(*square),
        }
    }
}

/// The actions for `mover`'s move `m`, in this order.
///
/// `board` and `parking` are the pieces as they stand before it. A move already made by hand needs none.
pub fn forward(board: &Board, parking: &Parking, m: Move, mover: Color) -> Vec<Action> {
    let mut plan = Plan::new(board, parking);
    let piece = m.role().of(mover);
    match m {
        Move::Normal {
            from,
            to,
            promotion: Some(role),
            ..
        } => plan.promote(piece, from, role.of(mover), to),
        Move::Normal { from, to, .. } => plan.shift(piece, from, to),
        Move::EnPassant { from, to } => {
            plan.vacate(en_passant_victim(from, to));
            plan.shift(piece, from, to);
        }
        Move::Castle { king, rook } => {
            if let Some(side) = m.castling_side() {
                plan.shift(piece, king, side.king_to(mover));
                plan.shift(Role::Rook.of(mover), rook, side.rook_to(mover));
            }
        }
        Move::Put { to, .. } => plan.supply(piece, to),
    }
    plan.actions
}

/// The actions to take back `mover`'s move `m`, in this order.
///
/// `board` and `parking` are the pieces as they stand after it. A captured piece comes back from its slot; the player
/// is asked for one that is in no slot.
pub fn back(board: &Board, parking: &Parking, m: Move, mover: Color) -> Vec<Action> {
    let mut plan = Plan::new(board, parking);
    let piece = m.role().of(mover);
    match m {
        Move::Normal {
            from,
            to,
            capture,
            promotion,
            ..
        } => {
            match promotion {
                Some(role) => plan.demote(role.of(mover), to, piece, from),
                None => plan.shift(piece, to, from),
            }
            if let Some(victim) = capture {
                plan.supply(victim.of(!mover), to);
            }
        }
        Move::EnPassant { from, to } => {
            plan.shift(piece, to, from);
            plan.supply(Role::Pawn.of(!mover), en_passant_victim(from, to));
        }
        Move::Castle { king, rook } => {
            if let Some(side) = m.castling_side() {
                plan.shift(Role::Rook.of(mover), side.rook_to(mover), rook);
                plan.shift(piece, side.king_to(mover), king);
            }
        }
        Move::Put { to, .. } => plan.vacate(to),
    }
    plan.actions
}

/// The square of the pawn captured en passant.
fn en_passant_victim(from: Square, to: Square) -> Square {
    Square::from_coords(to.file(), from.rank())
}

/// A plan in the making, and the placement of the pieces after its actions so far.
struct Plan {
    board: Board,
    parking: Parking,
    actions: Vec<Action>,
}

impl Plan {
    fn new(board: &Board, parking: &Parking) -> Self {
        Self {
            board: board.clone(),
            parking: parking.clone(),
            actions: Vec::new(),
        }
    }

    fn act(&mut self, action: Action) {
        action.apply(&mut self.board, &mut self.parking);
        self.actions.push(action);
    }

    /// Has the motor carry the piece at `from`, if there is a path.
    fn carry(&mut self, from: Spot, to: Spot) -> bool {
        let path = Field::new(&self.board, &self.parking).route(from, to);
        let found = path.is_some();
        if let Some(path) = path {
            self.act(Action::Carry(Carry { from, to, path }));
        }
        found
    }

    /// Empties a square: its piece goes into the best slot that has a path.
    fn vacate(&mut self, square: Square) {
        if self.board.piece_at(square).is_none() {
            return;
        }
        let free: Vec<Slot> = self.parking.free().collect();
        let mut slots = free.into_iter().map(Spot::Slot);
        if !slots.any(|slot| self.carry(Spot::Square(square), slot)) {
            self.act(Action::Remove { square });
        }
    }

    /// Brings a piece from beside the board to a square: by the motor if one is in a slot.
    fn supply(&mut self, piece: Piece, square: Square) {
        if self.board.piece_at(square) == Some(piece) {
            return;
        }
        self.vacate(square);
        let slot = self.parking.find(piece).map(Spot::Slot);
        if !slot.is_some_and(|slot| self.carry(slot, Spot::Square(square))) {
            self.act(Action::Bring { square, piece });
        }
    }

    /// Moves a piece on the board; a piece on its destination is parked first. A piece that is missing on `from` is on
    /// `to` already or has to come from beside the board.
    fn shift(&mut self, piece: Piece, from: Square, to: Square) {
        if from == to {
            return;
        }
        if self.board.piece_at(from) != Some(piece) {
            self.supply(piece, to);
            return;
        }
        self.vacate(to);
        if !self.carry(Spot::Square(from), Spot::Square(to)) {
            self.act(Action::Remove { square: from });
            self.act(Action::Bring { square: to, piece });
        }
    }

    /// A pawn becomes another piece.
    fn promote(&mut self, pawn: Piece, from: Square, promoted: Piece, to: Square) {
        if self.board.piece_at(to) != Some(promoted) {
            self.vacate(to);
        }
        if self.board.piece_at(from) == Some(pawn) {
            self.vacate(from);
        }
        self.supply(promoted, to);
    }

    /// A piece becomes a pawn again.
    fn demote(&mut self, promoted: Piece, to: Square, pawn: Piece, from: Square) {
        if self.board.piece_at(to) == Some(promoted) {
            self.vacate(to);
        }
        self.supply(pawn, from);
    }
}

#[cfg(test)]
mod tests;
