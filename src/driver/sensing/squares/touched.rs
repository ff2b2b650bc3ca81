//! Tracks which piece went where, as far as lifts and placements show: for reports to the player, not for moves.
//!
//! One piece lifted and put down is the same piece. If several are off the board at once, it is unknown which is put
//! where: it is assumed to be the one that the player was told to put there. Otherwise only evident actions of the
//! player count.

use shakmaty::{Bitboard, Board, Piece, Role, Square};

use crate::chess::recognise::CENTRE;

/// Pieces off the board, or put down since and not identified, at once. Two hands hold fewer; with more a position is
/// being set up, and a piece put down may come from anywhere.
const MAX_LOOSE: usize = 8;

/// A piece that was lifted.
#[derive(Clone, Copy, Debug)]
struct Lifted {
    /// The piece, if it was known.
    piece: Option<Piece>,
    from: Square,
    /// Where the player was told to carry it.
    goal: Option<Square>,
    /// The player was told to take it off the board. It stays in the hand until the player handles another piece.
    off: bool,
}

/// The pieces where the player has put them, as far as that is known.
#[derive(Debug)]
pub(super) struct Touched {
    /// The pieces known for certain.
    certain: Board,
    /// The certain pieces, and those that the player has evidently put down.
    board: Board,
    /// Lifted pieces that are either in the air or on one of the open squares.
    loose: Vec<Lifted>,
    /// The squares on which loose pieces were put.
    open: Bitboard,
    /// The open squares, in the order of the landings.
    order: Vec<Square>,
    /// A loose piece was put down unidentified, and lifted again.
    strayed: bool,
    /// More were lifted than tracked: pieces put down are unknown.
    too_many: bool,
    /// The game's last known placement.
    game: Option<Board>,
}

impl Touched {
    /// No piece is known.
    pub fn nothing() -> Self {
        Self {
            game: None,
            ..Self::pieces(Board::empty())
        }
    }

    /// All pieces are known, as on `board`.
    pub fn pieces(board: Board) -> Self {
        Self {
            certain: board.clone(),
            game: Some(board.clone()),
            board,
            loose: Vec::new(),
            open: Bitboard::EMPTY,
            order: Vec::new(),
            strayed: false,
            too_many: false,
        }
    }

    /// The pieces of which the square is known.
    pub fn known(&self) -> &Board {
        &self.board
    }

    /// Whether all pieces are known for certain to stand as on `board`.
    pub fn stands_as(&self, board: &Board) -> bool {
        self.certain == *board && self.loose.is_empty() && !self.too_many
    }

    /// Squares that want a piece of `wanted`, and are known to hold another one.
    pub fn others(&self, wanted: &Board) -> Bitboard {
        let known = self.board.occupied() & wanted.occupied();
        let other = |square: &Square| self.board.piece_at(*square) != wanted.piece_at(*square);
        known.into_iter().filter(other).collect()
    }

    /// Takes over the game's placement. If it changed, a move was understood, or the motor made it.
    pub fn follow(&mut self, board: &Board) {
        if self.game.as_ref() == Some(board) {
            return;
        }
        if let Some(before) = self.game.replace(board.clone()) {
            let differs = |square: &Square| before.piece_at(*square) != board.piece_at(*square);
            let changed: Bitboard = Square::ALL.into_iter().filter(differs).collect();
            for square in changed {
                let known = self.certain.piece_at(square);
                if let Some(piece) = board.piece_at(square) {
                    self.certain.set_piece_at(square, piece);
                } else if known == before.piece_at(square) {
                    // Otherwise the player has put another piece there since.
                    self.certain.discard_piece_at(square);
                }
            }
            self.open = self.open.without(changed);
            let certain = &self.certain;
            // A piece that was put somewhere on its way is where the move has brought it.
            let lacks = |piece| board.by_piece(piece).count() > certain.by_piece(piece).count();
            self.loose
                .retain(|lifted| !changed.contains(lifted.from) && lifted.piece.is_none_or(lacks));
            if self.loose.len() < self.open.count() {
                // A loose piece was identified wrongly.
                self.loose.clear();
                self.open = Bitboard::EMPTY;
            }
            self.conclude();
        }
    }

    /// Takes over the game's placement, as [`Self::follow`], but the pieces on these squares were guessed.
    pub fn doubt(&mut self, board: &Board, squares: impl IntoIterator<Item = Square>) {
        self.follow(board);
        for square in squares {
            self.certain.discard_piece_at(square);
        }
        self.conclude();
    }

    /// The piece on this square was lifted, to be carried to `goal` if the player follows the request.
    pub fn lift(&mut self, square: Square, goal: Option<Square>) {
        let was_open = self.open.contains(square);
        let gone = !was_open && self.certain.piece_at(square).is_none();
        if gone && self.loose.iter().any(|lifted| lifted.from == square) {
            // A square may report twice that it is empty.
            return;
        }
        self.set_aside();
        self.open.discard(square);
        if was_open
            && let Some(piece) = self.board.piece_at(square)
            && let Some(taker) = self.loose.iter_mut().find(|l| l.piece == Some(piece))
        {
            // The player takes a capture back.
            taker.from = square;
            taker.goal = goal;
        }
        self.strayed |= was_open && self.board.piece_at(square).is_none();
        let piece = self.certain.remove_piece_at(square);
        if !was_open {
            if self.loose.len() == MAX_LOOSE {
                self.loose.clear();
                self.open = Bitboard::EMPTY;
                self.too_many = true;
            }
            if !self.too_many {
                self.loose.push(Lifted {
                    piece,
                    from: square,
                    goal,
                    off: false,
                });
            }
        }
        self.conclude();
    }

    /// The piece on this square was lifted, to be put beside the board if the player follows the request.
    pub fn take_off(&mut self, square: Square) {
        // Of several pieces put down unidentified, it is unknown which one this is.
        let known = !self.open.contains(square);
        self.lift(square, None);
        let lifted = self.loose.iter_mut().find(|lifted| lifted.from == square);
        if let Some(lifted) = lifted.filter(|_| known) {
            lifted.off = true;
        }
    }

    /// The player handles another piece: the one to be taken off is beside the board.
    fn set_aside(&mut self) {
        let in_the_air = self.in_the_air() > 0;
        if let Some(at) = self.loose.iter().position(|lifted| lifted.off) {
            self.loose[at].off = false;
            if in_the_air {
                self.loose.remove(at);
            }
        }
    }

    /// A piece was put down: `told`, if the player followed the request.
    pub fn put(&mut self, square: Square, told: Option<Piece>) {
        // A square may report twice that it is occupied.
        if self.open.contains(square) || self.certain.piece_at(square).is_some() {
            return;
        }
        let in_the_air = self.in_the_air() > 0;
        let goal = |lifted: &Lifted| lifted.goal == Some(square);
        let kind = |lifted: &Lifted| told.is_some() && lifted.piece == told;
        let meant = self.loose.iter().rposition(goal);
        let meant = meant.or_else(|| self.loose.iter().rposition(kind));
        let piece = if let Some(index) = meant.filter(|_| in_the_air) {
            self.loose.remove(index).piece
        } else {
            if told.is_some() {
                // From beside the board.
                self.set_aside();
            }
            told
        };
        if let Some(piece) = piece {
            self.certain.set_piece_at(square, piece);
        } else if in_the_air && meant.is_none() {
            self.open.add(square);
            self.order.push(square);
        }
        self.conclude();
    }

    /// Whether a landing on `square` follows a request. If the piece just lifted from `last`, the square touched last, was to
    /// be carried somewhere, that request counts; otherwise one to put the piece `told` here.
    pub fn follows(&self, square: Square, told: Option<Piece>, last: Option<Square>) -> bool {
        let carried = |lifted: &&Lifted| lifted.goal.is_some() && Some(lifted.from) == last;
        match self.loose.iter().find(carried) {
            Some(lifted) => lifted.goal == Some(square) || lifted.piece == told,
            None => told.is_some(),
        }
    }

    fn in_the_air(&self) -> usize {
        self.loose.len() - self.open.count()
    }

    /// Identifies the pieces on the open squares, if possible.
    fn conclude(&mut self) {
        let open = self.open;
        self.order.retain(|square| open.contains(*square));
        let pieces: Vec<(Square, Option<Piece>)> = match self.alike().or_else(|| self.all_down()) {
            Some(certain) => {
                for &(square, piece) in &certain {
                    if let Some(piece) = piece {
                        self.certain.set_piece_at(square, piece);
                    }
                }
                self.loose.drain(..certain.len());
                self.strayed &= !self.loose.is_empty();
                self.open = Bitboard::EMPTY;
                Vec::new()
            }
            None => match self.kings() {
                Some(kings) => kings,
                None => self.capture().into_iter().collect(),
            },
        };
        self.board = self.certain.clone();
        for (square, piece) in pieces {
            if let Some(piece) = piece {
                self.board.set_piece_at(square, piece);
            }
        }
    }

    /// There is only one piece, or all are of one kind.
    fn alike(&self) -> Option<Vec<(Square, Option<Piece>)>> {
        let first = self.loose.first()?;
        let rest = &self.loose[1..];
        let alike = |other: &Lifted| first.piece.is_some() && other.piece == first.piece;
        let put = self.open.into_iter().map(|square| (square, first.piece));
        rest.iter().all(alike).then(|| put.collect())
    }

    /// All are down again: on their former squares, or as the kings in the centre, where it does not matter which is
    /// which.
    fn all_down(&self) -> Option<Vec<(Square, Option<Piece>)>> {
        let homes: Bitboard = self.loose.iter().map(|lifted| lifted.from).collect();
        let king = |lifted: &Lifted| lifted.piece.is_some_and(|p| p.role == Role::King);
        if self.loose.is_empty() || self.in_the_air() > 0 {
            None
        } else if homes == self.open {
            let home = |lifted: &Lifted| (lifted.from, lifted.piece);
            Some(self.loose.iter().map(home).collect())
        } else if self.open.is_subset(CENTRE) && self.loose.iter().all(king) {
            let kings = self.loose.iter().map(|lifted| lifted.piece);
            Some(self.order.iter().copied().zip(kings).collect())
        } else {
            None
        }
    }

    /// Both kings were lifted, and two squares of the centre were filled; the pieces that stood there are beside the
    /// board. The kings stand there, and it does not matter which is which.
    fn kings(&self) -> Option<Vec<(Square, Option<Piece>)>> {
        let king = |lifted: &&Lifted| lifted.piece.is_some_and(|p| p.role == Role::King);
        let kings: Vec<Option<Piece>> = self.loose.iter().filter(king).map(|l| l.piece).collect();
        let others = self.loose.iter().filter(|lifted| !king(lifted));
        let made_room = others.map(|lifted| lifted.from).all(|s| CENTRE.contains(s));
        let both = kings.len() == 2 && self.open.count() == 2;
        let stand = both && made_room && self.open.is_subset(CENTRE);
        // The one lifted first was most likely put down first.
        stand.then(|| self.order.iter().copied().zip(kings).collect())
    }

    /// One of two pieces of different colours is in the air, and a piece stands on its former square: the other one,
    /// unless the first comes down again.
    fn capture(&self) -> Option<(Square, Option<Piece>)> {
        let [one, other] = *self.loose.as_slice() else {
            return None;
        };
        let colors = one.piece?.color != other.piece?.color;
        let square = self.open.single_square().filter(|_| colors)?;
        let [taken, taker] = [one.from, other.from].map(|from| from == square);
        match (taken, taker) {
            // One of the two was put elsewhere in between: it may just have come back.
            _ if self.strayed => None,
            (true, false) => Some((square, other.piece)),
            (false, true) => Some((square, one.piece)),
            _ => None,
        }
    }
}
