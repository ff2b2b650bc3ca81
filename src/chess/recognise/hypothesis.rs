//! What the player may have done, computed in advance: the squares that each possibility changes, and the placement of
//! the pieces after it.

use shakmaty::{Bitboard, Board, Chess, Color, Move, Piece, Position, Role, Square};

use super::compare::{differing, kind};
use crate::chess::game::Game;

/// What a possibility means for the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A legal move was made.
    Played(Move),
    /// The hand carried out what the game already has: a shown move or a take-back.
    Executed,
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

impl Meaning {
    /// Whether the last move is taken back.
    pub fn takes_back(self) -> bool {
        matches!(self, Self::TookBack(_) | Self::Replaced { .. })
    }
}

/// Why a piece that has landed may not stay where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ambiguity {
    /// The piece has no other square to go to: the move is made when it lands.
    None,
    /// It has other squares to go to, and may still be in the hand.
    Touch,
    /// Two pieces were in the air: either may stand on the square now.
    Swap,
    /// The rook is on its square after castling: the king may follow.
    Castling,
    /// A king in the centre may be the first half of a result sign.
    Sign,
}

/// One possibility, relative to the present placement of the pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hypothesis {
    /// Squares that hold a piece before and none after.
    pub vacates: Bitboard,
    /// Squares that are empty before and hold a piece after.
    pub fills: Bitboard,
    /// Squares that hold a piece before and another one after.
    pub swaps: Bitboard,
    /// The square the moving piece leaves, and the one it reaches (in castling, the king's).
    pub mover: Option<(Square, Square)>,
    /// Whether it is castling.
    pub castling: bool,
    /// Where a pawn promotes, and to which piece, if that is known.
    pub promotes: Option<(Square, Piece)>,
    /// Its meaning for the game.
    pub meaning: Meaning,
    /// What it may be confused with.
    pub ambiguity: Ambiguity,
}

impl Hypothesis {
    /// The squares that it changes.
    pub fn touches(&self) -> Bitboard {
        self.vacates | self.fills | self.swaps
    }
}

/// The four squares on which the kings show a result.
pub(crate) const CENTRE: Bitboard = Bitboard(0x0000_0018_1800_0000);

/// Everything the player may do next.
#[derive(Clone, Debug)]
pub(super) struct Hypotheses {
    list: Vec<Hypothesis>,
    /// The placement after each one; a pawn on its last rank is still a pawn. Kept apart because it is needed only when the
    /// squares fit.
    afters: Vec<Board>,
    /// Where each kind of piece may be put down.
    goes: [Bitboard; 12],
    /// The captured piece that comes back when the last move is taken back, and its square.
    restores: Option<(Square, Piece)>,
    /// The game's pieces, and the squares whose piece is of a kind that the board lacks: the hand has to bring it.
    brought: (Board, Bitboard),
    /// The promoted piece of the last move, and the pawn that it was.
    demoted: Option<(Piece, Piece)>,
    /// The position before the last move.
    before: Option<Chess>,
}

impl Hypotheses {
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            list: Vec::with_capacity(capacity),
            afters: Vec::with_capacity(capacity),
            goes: [Bitboard::EMPTY; 12],
            restores: None,
            brought: (Board::empty(), Bitboard::EMPTY),
            demoted: None,
            before: None,
        }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Hypothesis> {
        self.list.iter()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn get(&self, index: usize) -> Hypothesis {
        self.list[index]
    }

    pub fn after(&self, index: usize) -> &Board {
        &self.afters[index]
    }

    /// Whether one of them leads to these pieces.
    pub fn leads_to(&self, pieces: &Board) -> bool {
        self.afters.contains(pieces)
    }

    /// Whether such a piece may be put down there.
    pub fn goes(&self, piece: Piece, square: Square) -> bool {
        self.goes[kind(piece)].contains(square)
    }

    /// Whether any piece may be put down there.
    pub fn reaches(&self, square: Square) -> bool {
        self.goes.iter().any(|squares| squares.contains(square))
    }

    /// The captured piece that comes back when the last move is taken back, and its square.
    pub fn restores(&self) -> Option<(Square, Piece)> {
        self.restores
    }

    /// The piece that a hand has to bring to this square from beside the board.
    pub fn brought(&self, square: Square) -> Option<Piece> {
        let (board, squares) = &self.brought;
        board.piece_at(square).filter(|_| squares.contains(square))
    }

    /// The pawn that may become another piece on this square: that piece may be put there before the pawn is taken off.
    pub fn promoted(&self, square: Square) -> Option<Piece> {
        let mut promotions = self.list.iter().filter_map(|h| h.promotes);
        let (_, piece) = promotions.find(|(to, _)| *to == square)?;
        Some(piece.color.pawn())
    }

    /// The pawn that this piece was until the last move.
    pub fn demoted(&self, piece: Piece) -> Option<Piece> {
        self.demoted
            .filter(|(became, _)| *became == piece)
            .map(|(_, pawn)| pawn)
    }

    pub fn clear(&mut self) {
        self.list.clear();
        self.afters.clear();
        self.goes = [Bitboard::EMPTY; 12];
        self.restores = None;
        self.brought.1 = Bitboard::EMPTY;
        self.demoted = None;
        self.before = None;
    }

    /// Computes everything the player may do in `game` with the placement `standing`.
    pub fn collect(&mut self, game: &Game, standing: &Board, may_replace: bool) {
        self.clear();
        let position = game.position();
        let board = position.board();
        if standing == board {
            self.moves(position, standing);
            if let Some(last) = game.last() {
                let before = game.position_at(game.len() - 1);
                self.take_backs(&before, last, standing, may_replace);
                self.before = Some(before);
            }
        } else {
            let there = |(from, _): &(Square, Square)| standing.piece_at(*from).is_some();
            let shown = game.last().and_then(way).filter(there);
            self.execute(standing, board, shown);
            for m in position.legal_moves() {
                // The player may also make the next move first, if its pieces are already in their final places.
                if !promotes_to_another(m) && undisturbed(standing, board, m) {
                    let alone = played(standing, m, position.turn());
                    self.add(standing, &alone, Meaning::Played(m), way(m));
                }
            }
        }
        mark(&mut self.list, position);
    }

    /// Computes what the player may do after the possibility `index` of `first` in `game`.
    pub fn collect_next(&mut self, game: &Game, standing: &Board, first: &Self, index: usize) {
        self.clear();
        let after = first.after(index);
        let position = game.position();
        let played_in = |before: &Chess, m: Move| {
            let mut next = before.clone();
            next.play_unchecked(m);
            next
        };
        match first.get(index).meaning {
            Meaning::Executed => self.moves(position, after),
            Meaning::Played(m) if standing == position.board() => {
                self.moves(&played_in(position, m), after);
            }
            Meaning::Played(m) => {
                let both = played(position.board(), m, position.turn());
                self.execute(after, &both, game.last().and_then(way));
            }
            Meaning::TookBack(_) => {
                if let Some(before) = &first.before {
                    self.moves(before, after);
                }
            }
            Meaning::Replaced { m, .. } => {
                if let Some(before) = &first.before {
                    self.moves(&played_in(before, m), after);
                }
            }
        }
    }

    /// Adds the change from `standing` to `board`, which the game already has.
    fn execute(&mut self, standing: &Board, board: &Board, shown: Option<(Square, Square)>) {
        let more =
            |piece: Piece| (board.by_piece(piece)).count() > (standing.by_piece(piece)).count();
        // A kind has one piece more: a pawn was promoted to it.
        let promotes = (differing(standing, board) & Bitboard::BACKRANKS)
            .into_iter()
            .find_map(|to| Some((to, board.piece_at(to).filter(|piece| more(*piece))?)));
        let mut after = board.clone();
        if let Some((to, piece)) = promotes {
            after.set_piece_at(to, piece.color.pawn());
        }
        self.add(standing, &after, Meaning::Executed, shown);
        let lacking = |square: &Square| {
            let piece = after.piece_at(*square);
            piece.is_some_and(|piece| {
                after.by_piece(piece).count() > standing.by_piece(piece).count()
            })
        };
        let changed = differing(standing, &after).into_iter();
        self.brought = (after.clone(), changed.filter(lacking).collect());
        if let Some(executed) = self.list.last_mut() {
            executed.promotes = promotes;
        }
    }

    fn moves(&mut self, position: &Chess, standing: &Board) {
        for m in position.legal_moves() {
            if !promotes_to_another(m) {
                let after = played(standing, m, position.turn());
                self.add(standing, &after, Meaning::Played(m), way(m));
            }
        }
    }

    fn take_backs(&mut self, before: &Chess, last: Move, standing: &Board, may_replace: bool) {
        let back = way(last).map(|(from, to)| (to, from));
        self.add(standing, before.board(), Meaning::TookBack(last), back);
        self.restores = taken_on(last).and_then(|to| Some((to, before.board().piece_at(to)?)));
        self.demoted = last
            .promotion()
            .map(|role| (role.of(before.turn()), before.turn().pawn()));
        if !may_replace {
            return;
        }
        for m in before.legal_moves() {
            if m != last && !promotes_to_another(m) {
                let after = played(before.board(), m, before.turn());
                let way = back.map(|(at, _)| (at, m.to()));
                self.add(standing, &after, Meaning::Replaced { last, m }, way);
            }
        }
    }

    fn add(
        &mut self,
        before: &Board,
        after: &Board,
        meaning: Meaning,
        mover: Option<(Square, Square)>,
    ) {
        let changed = differing(before, after);
        let (full, then) = (before.occupied(), after.occupied());
        let promoted = match meaning {
            Meaning::Played(m) | Meaning::Replaced { m, .. } if m.is_promotion() => Some(m.to()),
            _ => None,
        };
        let pawn = promoted.and_then(|to| Some((to, after.piece_at(to)?)));
        let new = Hypothesis {
            castling: matches!(meaning, Meaning::Played(m) if m.is_castle()),
            promotes: pawn.map(|(to, pawn)| (to, Role::Queen.of(pawn.color))),
            vacates: full & !then,
            fills: then & !full,
            swaps: full & then & changed,
            mover,
            meaning,
            ambiguity: Ambiguity::None,
        };
        // Every possibility puts a piece down somewhere.
        if (new.fills | new.swaps).is_empty() {
            return;
        }
        // Possibilities with the same placement cannot be told apart: the first one is kept.
        let like_new = |(old, stands): (&Hypothesis, &Board)| {
            (old.vacates, old.fills, old.swaps) == (new.vacates, new.fills, new.swaps)
                && stands == after
        };
        if self.list.iter().zip(&self.afters).any(like_new) {
            return;
        }
        for square in new.fills | new.swaps {
            if let Some(piece) = after.piece_at(square) {
                self.goes[kind(piece)].add(square);
            }
        }
        self.list.push(new);
        self.afters.push(after.clone());
    }
}

/// The square of the piece that a move captures.
fn taken_on(m: Move) -> Option<Square> {
    match m {
        Move::EnPassant { from, to } => Some(Square::from_coords(to.file(), from.rank())),
        _ if m.is_capture() => Some(m.to()),
        _ => None,
    }
}

/// The squares that the moving piece leaves and reaches; in castling, the king's.
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

/// A promotion changes the same squares for every piece; the piece is chosen elsewhere.
fn promotes_to_another(m: Move) -> bool {
    m.promotion().is_some_and(|role| role != Role::Queen)
}

/// The placement after the move; a pawn on its last rank is still a pawn.
fn played(board: &Board, m: Move, turn: Color) -> Board {
    let mut after = board.clone();
    match m {
        Move::Normal { role, from, to, .. } => {
            after.discard_piece_at(from);
            after.set_piece_at(to, role.of(turn));
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

/// Whether all squares of a move are the same on both boards.
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

/// Marks which possibilities may be confused with others while they are happening.
fn mark(list: &mut [Hypothesis], position: &Chess) {
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
        list[index].ambiguity = if h.swaps.any() || en_passant {
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
