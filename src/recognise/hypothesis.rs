//! What the hand may have done, worked out before it does: the squares that each possibility changes.

use shakmaty::{Bitboard, Board, Color, Move, Position, Role, Square};

use crate::game::Game;

/// What a possibility means for the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A legal move was made.
    Played(Move),
    /// What was still to be carried out has been carried out.
    Executed,
    /// Both: first what was still to be carried out, then a legal move, in any order.
    ExecutedAndPlayed(Move),
    /// The last move was taken back.
    TookBack(Move),
    /// The last move was taken back and another one made instead.
    Replaced {
        /// The move taken back.
        last: Move,
        /// The move made.
        m: Move,
    },
}

/// Where a piece that has landed may go on to, so that it cannot be known yet whether it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ambiguity {
    /// The piece has no other way: the move is made when it lands.
    None,
    /// It has other squares to go to, and may still be in the hand.
    Touch,
    /// Two pieces were in the air: which of them stands on the square now?
    Swap,
    /// The rook stands where castling would put it: the king may follow.
    Castling,
    /// A king in the centre may be the first half of a result sign.
    Sign,
    /// The piece that landed is the shown one, or the one that took it.
    Meeting,
}

/// One possibility, relative to the pieces as they stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hypothesis {
    /// Squares that hold a piece before and none after.
    pub vacates: Bitboard,
    /// Squares that hold none before and one after.
    pub fills: Bitboard,
    /// Squares that hold a piece before and another one after.
    pub swaps: Bitboard,
    /// The square the moving piece leaves, and the one it reaches (of castling, the king).
    pub mover: Option<(Square, Square)>,
    /// The same of the shown piece, where that is moved too.
    pub shown: Option<(Square, Square)>,
    /// Whether it is castling.
    pub castling: bool,
    /// Whether it takes the very piece that was still to be moved, where that goes.
    pub meets: bool,
    /// What it means.
    pub meaning: Meaning,
    /// What it may be confused with.
    pub ambiguity: Ambiguity,
}

/// The four squares that tell a result with the kings on them.
pub(crate) const CENTRE: Bitboard = Bitboard(0x0000_0018_1800_0000);

/// Everything the hand may do next.
#[derive(Clone, Debug)]
pub(super) struct Hypotheses {
    list: Vec<Hypothesis>,
    /// How the pieces stand afterwards; apart, because it is looked at only when one has come true.
    afters: Vec<Board>,
    /// The pieces as in the game.
    board: Board,
    /// Where the piece that is still to be moved goes from and to.
    shown: Option<(Square, Square)>,
}

impl Hypotheses {
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            list: Vec::with_capacity(capacity),
            afters: Vec::with_capacity(capacity),
            board: Board::empty(),
            shown: None,
        }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Hypothesis> {
        self.list.iter()
    }

    pub fn get(&self, index: usize) -> Hypothesis {
        self.list[index]
    }

    pub fn after(&self, index: usize) -> &Board {
        &self.afters[index]
    }

    /// Works out everything the hand may do in `game` while the pieces stand as on `standing`.
    pub fn collect(&mut self, game: &Game, standing: &Board, may_replace: bool) {
        self.list.clear();
        self.afters.clear();
        let position = game.position();
        let board = position.board();
        self.board = board.clone();
        let executed = standing == board;
        let there = |(from, _): &(Square, Square)| standing.piece_at(*from).is_some();
        self.shown = game
            .last()
            .filter(|_| !executed)
            .and_then(way)
            .filter(there);
        if !executed {
            self.add(standing, board, Meaning::Executed, self.shown);
        }
        for m in position.legal_moves() {
            if promotes_to_another(m) {
                continue;
            }
            let after = played(board, m, position.turn());
            if executed {
                self.add(standing, &after, Meaning::Played(m), way(m));
                continue;
            }
            // A piece that is not there yet is not moved on by the same hand.
            let there = |from| standing.piece_at(from) == board.piece_at(from);
            if m.from().is_some_and(there) {
                let meaning = Meaning::ExecutedAndPlayed(m);
                self.add(standing, &after, meaning, way(m));
            }
            // The hand may also make its move first, where its pieces stand as they will.
            if undisturbed(standing, board, m) {
                let alone = played(standing, m, position.turn());
                self.add(standing, &alone, Meaning::Played(m), way(m));
            }
        }
        if executed && let Some(last) = game.last() {
            let before = game.position_at(game.len() - 1);
            let back = way(last).map(|(from, to)| (to, from));
            self.add(standing, before.board(), Meaning::TookBack(last), back);
            if may_replace {
                for m in before.legal_moves() {
                    if m != last && !promotes_to_another(m) {
                        let after = played(before.board(), m, before.turn());
                        let way = back.map(|(at, _)| (at, m.to()));
                        self.add(standing, &after, Meaning::Replaced { last, m }, way);
                    }
                }
            }
        }
        mark(&mut self.list, position);
    }

    fn add(
        &mut self,
        before: &Board,
        after: &Board,
        meaning: Meaning,
        mover: Option<(Square, Square)>,
    ) {
        let there = mover.and_then(|(_, to)| self.board.piece_at(to));
        let (full, then) = (before.occupied(), after.occupied());
        let same_color = before.white() & after.white() | before.black() & after.black();
        let same = Role::ALL
            .into_iter()
            .map(|role| before.by_role(role) & after.by_role(role))
            .fold(Bitboard::EMPTY, |all, set| all | set)
            & same_color;
        let castling = matches!(meaning, Meaning::Played(m) if m.is_castle());
        let both = matches!(meaning, Meaning::ExecutedAndPlayed(_));
        let meets = match meaning {
            Meaning::ExecutedAndPlayed(m) if m.is_capture() => there != before.piece_at(m.to()),
            _ => false,
        };
        // A piece may be taken by one of its own kind, the shown move before.
        let taken = mover.map_or(Bitboard::EMPTY, |(_, to)| Bitboard::from(to));
        let new = Hypothesis {
            castling,
            meets,
            vacates: full & !then,
            fills: then & !full,
            swaps: full & then & (!same | taken),
            mover,
            shown: self.shown.filter(|_| both),
            meaning,
            ambiguity: Ambiguity::None,
        };
        // Whatever is done, a piece is put down somewhere.
        if (new.fills | new.swaps).is_empty() {
            return;
        }
        // What changes the same squares cannot be told apart: the first meaning stands.
        let like_new = |old: &Hypothesis| {
            (old.vacates, old.fills, old.swaps) == (new.vacates, new.fills, new.swaps)
        };
        if !self.list.iter().any(like_new) {
            self.list.push(new);
            self.afters.push(after.clone());
        }
    }
}

/// Where the moving piece goes from and to; of castling, the king.
fn way(m: Move) -> Option<(Square, Square)> {
    if let (Move::Castle { king, rook }, Some(side)) = (m, m.castling_side()) {
        let square = |file| Square::from_coords(file, king.rank());
        let to = square(side.king_to_file());
        // In Chess960 the king may stay where it is.
        return Some(if king == to {
            (rook, square(side.rook_to_file()))
        } else {
            (king, to)
        });
    }
    Some((m.from()?, m.to()))
}

/// Promotions change the same squares whichever piece the pawn becomes; the piece is settled elsewhere.
fn promotes_to_another(m: Move) -> bool {
    m.promotion().is_some_and(|role| role != Role::Queen)
}

fn played(board: &Board, m: Move, turn: Color) -> Board {
    let mut after = board.clone();
    match m {
        Move::Normal {
            role,
            from,
            to,
            promotion,
            ..
        } => {
            after.discard_piece_at(from);
            after.set_piece_at(to, promotion.unwrap_or(role).of(turn));
        }
        Move::EnPassant { from, to } => {
            after.discard_piece_at(from);
            after.discard_piece_at(Square::from_coords(to.file(), from.rank()));
            after.set_piece_at(to, turn.pawn());
        }
        Move::Castle { king, rook } => {
            let side = shakmaty::CastlingSide::from_king_side(king < rook);
            let square = |file| Square::from_coords(file, king.rank());
            after.discard_piece_at(king);
            after.discard_piece_at(rook);
            after.set_piece_at(square(side.king_to_file()), turn.king());
            after.set_piece_at(square(side.rook_to_file()), turn.rook());
        }
        Move::Put { .. } => {}
    }
    after
}

/// Whether every square a move touches holds the same on both boards.
fn undisturbed(standing: &Board, board: &Board, m: Move) -> bool {
    let touched = match m {
        Move::EnPassant { from, to } => {
            Bitboard::from(from)
                | Bitboard::from(to)
                | Bitboard::from(Square::from_coords(to.file(), from.rank()))
        }
        Move::Castle { king, rook } => {
            let side = shakmaty::CastlingSide::from_king_side(king < rook);
            let square = |file| Bitboard::from(Square::from_coords(file, king.rank()));
            Bitboard::from(king)
                | Bitboard::from(rook)
                | square(side.king_to_file())
                | square(side.rook_to_file())
        }
        m => m.from().map_or(Bitboard::EMPTY, Bitboard::from) | Bitboard::from(m.to()),
    };
    touched
        .into_iter()
        .all(|square| standing.piece_at(square) == board.piece_at(square))
}

/// Marks which possibilities may be confused with others while they happen.
fn mark(list: &mut [Hypothesis], position: &shakmaty::Chess) {
    let mut ways = [0u8; 64];
    for h in list.iter() {
        if let Some((from, _)) = h.mover {
            ways[usize::from(from)] = ways[usize::from(from)].saturating_add(1);
        }
    }
    for index in 0..list.len() {
        let h = list[index];
        let castling = |other: &Hypothesis| {
            other.castling
                && h.vacates.count() == 1
                && h.vacates.is_subset(other.vacates)
                && h.fills.is_subset(other.fills)
        };
        let king = (h.fills & CENTRE).any()
            && h.mover
                .is_some_and(|(from, _)| position.board().role_at(from) == Some(Role::King));
        let others = h.mover.is_some_and(|(from, _)| ways[usize::from(from)] > 1);
        let en_passant = h.vacates.count() == 2 && h.fills.count() == 1;
        list[index].ambiguity = if h.meets {
            Ambiguity::Meeting
        } else if h.swaps.any() || en_passant {
            Ambiguity::Swap
        } else if h.fills.any() && list.iter().any(castling) {
            Ambiguity::Castling
        } else if king {
            Ambiguity::Sign
        } else if others {
            Ambiguity::Touch
        } else {
            Ambiguity::None
        };
    }
}
