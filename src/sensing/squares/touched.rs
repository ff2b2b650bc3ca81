//! Which piece went where, as far as lifts and placements tell: for the words that the player is told, not for moves.
//!
//! One piece lifted and put down is the same piece. Of several that are off the board at once nobody knows which is put
//! where: it is the one that the player was told to put there. Otherwise only what a player plainly did is taken for granted.

use shakmaty::{Bitboard, Board, Piece, Role, Square};

use crate::recognise::CENTRE;

/// Pieces off the board, or put down since and not told apart, at once. Two hands hold fewer; with more a position is being
/// set up, and what is put down may come from anywhere.
const MAX_LOOSE: usize = 8;

/// A piece that was lifted.
#[derive(Clone, Copy, Debug)]
struct Lifted {
    /// What it is, if that was known.
    piece: Option<Piece>,
    from: Square,
    /// Where the player was told to carry it.
    goal: Option<Square>,
    /// The player was told to take it off the board. It is in the hand until that takes or brings another one.
    off: bool,
}

/// The pieces where the hand has put them, as far as that is known.
#[derive(Debug)]
pub(super) struct Touched {
    /// What stands where for certain.
    certain: Board,
    /// The same, with what the player plainly did.
    board: Board,
    /// What was lifted, and either is in the air or stands on one of the open squares.
    loose: Vec<Lifted>,
    /// Where they were put.
    open: Bitboard,
    /// The same, in the order in which they were.
    order: Vec<Square>,
    /// One of them was put down where nobody knows which it is, and lifted again.
    strayed: bool,
    /// More than that were lifted: nothing is known of what is put down.
    too_many: bool,
    /// The pieces as the game last had them.
    game: Option<Board>,
}

impl Touched {
    /// Nobody knows what stands where.
    pub fn nothing() -> Self {
        Self {
            game: None,
            ..Self::pieces(Board::empty())
        }
    }

    /// The pieces stand so.
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

    /// The pieces that are known where they stand.
    pub fn known(&self) -> &Board {
        &self.board
    }

    /// Whether the pieces stand so, and nothing else is thought of.
    pub fn stands_as(&self, board: &Board) -> bool {
        self.certain == *board && self.loose.is_empty() && !self.too_many
    }

    /// Squares of these pieces on which another one is known to stand.
    pub fn others(&self, wanted: &Board) -> Bitboard {
        let known = self.board.occupied() & wanted.occupied();
        let other = |square: &Square| self.board.piece_at(*square) != wanted.piece_at(*square);
        known.into_iter().filter(other).collect()
    }

    /// The game has the pieces so. Where that changes, a move was understood, or the motor made it.
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
                    // Otherwise the hand has put another piece there since.
                    self.certain.discard_piece_at(square);
                }
            }
            self.open = self.open.without(changed);
            self.loose.retain(|lifted| !changed.contains(lifted.from));
            if self.loose.len() < self.open.count() {
                // One of them was taken for another.
                self.loose.clear();
                self.open = Bitboard::EMPTY;
            }
            self.conclude();
        }
    }

    /// What stood there was lifted, to be carried to `goal` if the player does as told.
    pub fn lift(&mut self, square: Square, goal: Option<Square>) {
        let was_open = self.open.contains(square);
        let gone = !was_open && self.certain.piece_at(square).is_none();
        if gone && self.loose.iter().any(|lifted| lifted.from == square) {
            // A square may tell twice that it is empty.
            return;
        }
        self.set_aside();
        self.open.discard(square);
        if was_open
            && let Some(piece) = self.board.piece_at(square)
            && let Some(taker) = self.loose.iter_mut().find(|l| l.piece == Some(piece))
        {
            // The hand takes a capture back.
            taker.from = square;
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

    /// What stood there was lifted, to be put beside the board if the player does as told.
    pub fn take_off(&mut self, square: Square) {
        // Of several put down and not told apart nobody knows which it is.
        let known = !self.open.contains(square);
        self.lift(square, None);
        let lifted = self.loose.iter_mut().find(|lifted| lifted.from == square);
        if let Some(lifted) = lifted.filter(|_| known) {
            lifted.off = true;
        }
    }

    /// The hand has another piece to do with: what it was told to take off is beside the board.
    fn set_aside(&mut self) {
        let in_the_air = self.in_the_air() > 0;
        if let Some(at) = self.loose.iter().position(|lifted| lifted.off) {
            self.loose[at].off = false;
            if in_the_air {
                self.loose.remove(at);
            }
        }
    }

    /// Something was put down: `told`, if the player did as told.
    pub fn put(&mut self, square: Square, told: Option<Piece>) {
        // A square may tell twice that a piece stands on it.
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

    fn in_the_air(&self) -> usize {
        self.loose.len() - self.open.count()
    }

    /// Finds out which pieces stand on the open squares.
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

    /// There is one piece only, or all are of one kind.
    fn alike(&self) -> Option<Vec<(Square, Option<Piece>)>> {
        let first = self.loose.first()?;
        let rest = &self.loose[1..];
        let alike = |other: &Lifted| first.piece.is_some() && other.piece == first.piece;
        let put = self.open.into_iter().map(|square| (square, first.piece));
        rest.iter().all(alike).then(|| put.collect())
    }

    /// All are down again: where they stood before, or as the kings in the centre, where it does not matter which is which.
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

    /// Both kings were lifted, and two squares of the centre were filled that others stood on, who are beside the board: the
    /// kings stand there, and it does not matter which is which.
    fn kings(&self) -> Option<Vec<(Square, Option<Piece>)>> {
        let king = |lifted: &&Lifted| lifted.piece.is_some_and(|p| p.role == Role::King);
        let kings: Vec<Option<Piece>> = self.loose.iter().filter(king).map(|l| l.piece).collect();
        let others = self.loose.iter().filter(|lifted| !king(lifted));
        let made_room = others.map(|lifted| lifted.from).all(|s| CENTRE.contains(s));
        let both = kings.len() == 2 && self.open.count() == 2;
        let stand = both && made_room && self.open.is_subset(CENTRE);
        // The one lifted first most likely was put down first.
        stand.then(|| self.order.iter().copied().zip(kings).collect())
    }

    /// One of two of different colours is in the air, and a piece stands where that one stood: the other one, unless the
    /// first comes down again.
    fn capture(&self) -> Option<(Square, Option<Piece>)> {
        let [one, other] = *self.loose.as_slice() else {
            return None;
        };
        let colors = one.piece?.color != other.piece?.color;
        let square = self.open.single_square().filter(|_| colors)?;
        let [taken, taker] = [one.from, other.from].map(|from| from == square);
        match (taken, taker) {
            // One of them has been somewhere else meanwhile: it may just have come home.
            _ if self.strayed => None,
            (true, false) => Some((square, other.piece)),
            (false, true) => Some((square, one.piece)),
            _ => None,
        }
    }
}
