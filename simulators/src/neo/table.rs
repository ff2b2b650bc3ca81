//! The pieces, wherever they are: on the board, parked beside it, in a hand, in the box.

use std::collections::BTreeMap;

use shakmaty::{Board, Piece, Square};

use super::{Path, Spot};
use crate::gesture::Touch;

/// The minimum distance of a carried piece from the centre of a standing one, in squares. A path along the grid lines
/// passes at 0.5 (captured: the knight's).
const CLEARANCE: f64 = 0.45;

/// The pieces on and beside the board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    board: Board,
    parked: BTreeMap<Spot, Piece>,
    hand: Vec<Piece>,
    aside: Vec<Piece>,
}

impl Table {
    /// Pieces on their squares, and no others.
    pub fn new(board: Board) -> Self {
        Self {
            board,
            ..Self::default()
        }
    }

    /// The pieces on the board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The pieces the motor has parked.
    pub fn parked(&self) -> &BTreeMap<Spot, Piece> {
        &self.parked
    }

    /// The pieces that a person has taken off the board, oldest first.
    pub fn aside(&self) -> &[Piece] {
        &self.aside
    }

    /// A person touches a square. Returns whether that is possible: a piece to lift, or an empty square to put one on.
    pub(super) fn touch(&mut self, touch: Touch) -> bool {
        match touch {
            Touch::Lift(square) => match self.board.remove_piece_at(square) {
                Some(piece) => self.hand.push(piece),
                None => return false,
            },
            Touch::Put(square, piece) => {
                if self.board.piece_at(square).is_some() {
                    return false;
                }
                self.take(piece);
                self.board.set_piece_at(square, piece);
            }
        }
        true
    }

    /// Takes a piece from where there is one. Spare queens are unlimited.
    fn take(&mut self, piece: Piece) {
        let is = |other: &Piece| *other == piece;
        if let Some(at) = self.hand.iter().rposition(is) {
            self.hand.remove(at);
        } else if let Some(at) = self.aside.iter().rposition(is) {
            self.aside.remove(at);
        } else if let Some(spot) = self
            .parked
            .iter()
            .find(|(_, other)| is(other))
            .map(|(spot, _)| *spot)
        {
            self.parked.remove(&spot);
        }
    }

    /// The person takes all that the motor has parked.
    pub(super) fn clear_beside(&mut self) {
        let parked = std::mem::take(&mut self.parked);
        self.aside.extend(parked.into_values());
    }

    /// The person puts the piece in the hand into the box.
    pub(super) fn let_go(&mut self) {
        self.aside.append(&mut self.hand);
    }

    /// The piece on this spot.
    pub fn piece_at(&self, spot: Spot) -> Option<Piece> {
        match spot.square() {
            Some(square) => self.board.piece_at(square),
            None => self.parked.get(&spot).copied(),
        }
    }

    /// The occupied spots.
    pub fn spots(&self) -> impl Iterator<Item = Spot> + '_ {
        self.board
            .occupied()
            .into_iter()
            .map(Spot::from)
            .chain(self.parked.keys().copied())
    }

    /// What the motor would collide with, or that it has no piece to carry.
    pub(super) fn obstacle(&self, path: &Path) -> Option<String> {
        if self.piece_at(path.from).is_none() {
            return Some(format!("the motor finds no piece on {}", path.from));
        }
        self.spots()
            .find(|spot| *spot != path.from && path.distance(spot.centre()) < CLEARANCE)
            .map(|spot| {
                format!(
                    "the motor carries {} to {} into the piece on {spot}",
                    path.from, path.to
                )
            })
    }

    /// The motor carries a piece.
    pub(super) fn carry(&mut self, path: &Path) {
        let piece = match path.from.square() {
            Some(square) => self.board.remove_piece_at(square),
            None => self.parked.remove(&path.from),
        };
        let Some(piece) = piece else {
            return;
        };
        match path.to.square() {
            Some(square) => self.board.set_piece_at(square, piece),
            None => {
                self.parked.insert(path.to, piece);
            }
        }
    }

    /// The ends of a path as [`Square`]s, if both are on the board.
    pub(super) fn squares(path: &Path) -> Vec<Square> {
        [path.from, path.to]
            .into_iter()
            .filter_map(Spot::square)
            .collect()
    }
}
