//! What an untidy hand does to make a move.

use std::{ops::Range, time::Duration};

use fastrand::Rng;
use shakmaty::{
    Bitboard, Board, CastlingSide, Chess, Move, Piece, Position, Role, Square, attacks,
};

/// One touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    Lift(Square),
    Put(Square, Piece),
}

impl Touch {
    /// The same on a board that lies the other way round.
    pub fn turned(self) -> Self {
        match self {
            Self::Lift(square) => Self::Lift(square.rotate_180()),
            Self::Put(square, piece) => Self::Put(square.rotate_180(), piece),
        }
    }

    pub fn apply(self, board: &mut Board) {
        match self {
            Self::Lift(square) => board.discard_piece_at(square),
            Self::Put(square, piece) => board.set_piece_at(square, piece),
        }
    }
}

/// How a hand plays.
#[derive(Clone, Debug)]
pub struct Habit {
    /// How long it rests between two moves, ms.
    pub pause: Range<u64>,
    /// How long it waits once the board is there again.
    pub looks: Duration,
    /// The board tells its pieces apart.
    pub tells_pieces: bool,
    /// How many of a hundred moves have each untidiness.
    pub untidy: u8,
    /// How many of a hundred captures never leave their square empty.
    pub pushes: u8,
    /// How long a piece rests at most where it is not to stay, ms.
    pub rests: u64,
}

/// Touches, each with the time since the one before.
type Deeds = Vec<(Duration, Touch)>;

struct Pen<'a> {
    rng: &'a mut Rng,
    deeds: Deeds,
}

impl Pen<'_> {
    fn after(&mut self, ms: Range<u64>, touch: Touch) {
        let wait = Duration::from_millis(self.rng.u64(ms));
        self.deeds.push((wait, touch));
    }
    fn lift(&mut self, square: Square) {
        self.after(60..250, Touch::Lift(square));
    }
    fn put(&mut self, square: Square, piece: Piece) {
        self.after(90..350, Touch::Put(square, piece));
    }
    fn adjust(&mut self, square: Square, piece: Piece) {
        self.lift(square);
        self.put(square, piece);
    }
    fn happens(&mut self, percent: u8) -> bool {
        self.rng.u8(..100) < percent
    }
}

/// All that the hand does for this move.
pub fn makes(position: &Chess, m: Move, habit: &Habit, rng: &mut Rng) -> Deeds {
    let deeds = Vec::new();
    let mut pen = Pen { rng, deeds };
    let board = position.board();
    let own: Vec<Square> = (board.by_color(position.turn()) & !touched(m))
        .into_iter()
        .collect();
    let pick = |pen: &mut Pen<'_>| {
        let square = pen.rng.choice(&own).copied()?;
        Some((square, board.piece_at(square)?))
    };
    if pen.happens(habit.untidy)
        && let Some((square, piece)) = pick(&mut pen)
    {
        pen.adjust(square, piece);
    }
    match m {
        Move::Castle { king, rook } => castles(&mut pen, board, king, rook),
        Move::EnPassant { from, to } => en_passant(&mut pen, board, from, to),
        Move::Normal { from, to, .. } => {
            let other = pen
                .happens(habit.untidy / 3)
                .then(|| pick(&mut pen))
                .flatten();
            goes(&mut pen, board, m, from, to, other, habit);
        }
        Move::Put { .. } => panic!("no such move"),
    }
    let promoted = m.promotion().is_some();
    if !promoted && pen.happens(habit.untidy / 2) {
        // The piece is put straight at once.
        if let (Some(from), false) = (m.from(), m.is_castle()) {
            let piece = board.piece_at(from).unwrap();
            pen.after(30..130, Touch::Lift(m.to()));
            pen.after(30..130, Touch::Put(m.to(), piece));
        }
    }
    pen.deeds
}

/// The squares of a move.
fn touched(m: Move) -> Bitboard {
    let mut all: Bitboard = m.from().into_iter().collect();
    all.add(m.to());
    if let Move::Castle { king, rook } = m {
        let rank = king.rank();
        all |= Bitboard::from_rank(rank) & (attacks::between(king, rook) | all);
    }
    all
}

fn castles(pen: &mut Pen<'_>, board: &Board, king: Square, rook: Square) {
    let side = CastlingSide::from_king_side(king < rook);
    let at = |file| Square::from_coords(file, king.rank());
    let (king_to, rook_to) = (at(side.king_to_file()), at(side.rook_to_file()));
    let [k, r] = [king, rook].map(|square| board.piece_at(square).unwrap());
    let mut steps = [(king, king_to, k), (rook, rook_to, r)];
    let order = pen.rng.u8(..4);
    if order % 2 == 1 {
        steps.reverse();
    }
    // One after the other, or both in the hands at once.
    let at_once = if order < 2 { 1 } else { 2 };
    for part in steps.chunks(at_once) {
        for &(from, ..) in part {
            pen.lift(from);
        }
        for &(_, to, piece) in part {
            pen.put(to, piece);
        }
    }
}

fn en_passant(pen: &mut Pen<'_>, board: &Board, from: Square, to: Square) {
    let taken = Square::from_coords(to.file(), from.rank());
    let pawn = board.piece_at(from).unwrap();
    match pen.rng.u8(..3) {
        0 => {
            pen.lift(taken);
            pen.lift(from);
            pen.put(to, pawn);
        }
        1 => {
            pen.lift(from);
            pen.lift(taken);
            pen.put(to, pawn);
        }
        _ => {
            pen.lift(from);
            pen.put(to, pawn);
            pen.lift(taken);
        }
    }
}

fn goes(
    pen: &mut Pen<'_>,
    board: &Board,
    m: Move,
    from: Square,
    to: Square,
    other: Option<(Square, Piece)>,
    habit: &Habit,
) {
    let mover = board.piece_at(from).unwrap();
    let becomes = m.promotion().map_or(mover, |role| role.of(mover.color));
    let taken = board.piece_at(to).is_some();
    if m.promotion().is_some() && !taken && pen.happens(25) {
        // The new piece comes first.
        pen.put(to, becomes);
        pen.lift(from);
        return;
    }
    let pushes = taken && pen.happens(habit.pushes);
    let first = taken && !pushes && pen.rng.bool();
    if first {
        pen.lift(to);
    }
    pen.lift(from);
    // With three pieces in the hand squares cannot tell which of them went where.
    if let Some((square, piece)) = other.filter(|_| !first) {
        pen.adjust(square, piece);
    }
    if pen.happens(habit.untidy) {
        let over = attacks::between(from, to);
        let stops: Vec<Square> = if over.any() && mover.role != Role::Knight {
            over.into_iter().collect()
        } else {
            (!board.occupied()).without(to).into_iter().collect()
        };
        if let Some(square) = pen.rng.choice(stops).filter(|square| *square != to) {
            pen.put(square, mover);
            pen.after(30..habit.rests, Touch::Lift(square));
        }
    }
    if taken && !first && !pushes {
        pen.lift(to);
    }
    if pushes {
        pen.lift(to);
        let wait = Duration::ZERO;
        let down = if m.promotion().is_some() {
            becomes
        } else {
            mover
        };
        pen.deeds.push((wait, Touch::Put(to, down)));
    } else if m.promotion().is_some() && pen.rng.bool() {
        pen.put(to, mover);
        pen.lift(to);
        pen.put(to, becomes);
    } else {
        pen.put(to, becomes);
    }
}

/// All that the hand does to take this move back; the position is that before it.
pub fn takes_back(before: &Chess, m: Move, rng: &mut Rng) -> Deeds {
    let mut after = before.clone();
    after.play_unchecked(m);
    let mut pen = Pen {
        rng,
        deeds: Vec::new(),
    };
    let (from, to) = (after.board(), before.board());
    let changed = |board: &Board| -> Vec<Square> {
        let differs = |s: &Square| from.piece_at(*s) != to.piece_at(*s);
        board.occupied().into_iter().filter(differs).collect()
    };
    // The king of a castling goes first; what was taken comes back last.
    let mut lifted = changed(from);
    lifted.sort_by_key(|s| from.piece_at(*s).map(|piece| piece.role != Role::King));
    let mut put = changed(to);
    put.sort_by_key(|s| {
        to.piece_at(*s)
            .map(|p| (p.color != before.turn(), p.role != Role::King))
    });
    for square in lifted {
        pen.lift(square);
        if m.is_castle() {
            let square = put.remove(0);
            pen.put(square, to.piece_at(square).unwrap());
        }
    }
    for square in put {
        pen.put(square, to.piece_at(square).unwrap());
    }
    pen.deeds
}

/// Brings the pieces to another placement: some from square to square, the rest off the board and onto it.
pub fn places(stands: &Board, wanted: &Board, rng: &mut Rng) -> Deeds {
    let mut board = stands.clone();
    let mut pen = Pen {
        rng,
        deeds: Vec::new(),
    };
    let differs = |board: &Board, s: &Square| board.piece_at(*s) != wanted.piece_at(*s);
    loop {
        let mut open: Vec<Square> = Square::ALL
            .into_iter()
            .filter(|s| differs(&board, s))
            .collect();
        if open.is_empty() {
            return pen.deeds;
        }
        pen.rng.shuffle(&mut open);
        let free = |board: &Board, s: Square| board.piece_at(s).is_none();
        let surplus: Vec<Square> = open.iter().copied().filter(|s| !free(&board, *s)).collect();
        let Some(&from) = surplus.first() else {
            for square in open {
                let piece = wanted.piece_at(square).unwrap();
                pen.after(200..700, Touch::Put(square, piece));
            }
            return pen.deeds;
        };
        let piece = board.piece_at(from).unwrap();
        board.discard_piece_at(from);
        pen.after(200..700, Touch::Lift(from));
        let to = open
            .into_iter()
            .find(|s| free(&board, *s) && wanted.piece_at(*s) == Some(piece));
        if let Some(to) = to {
            board.set_piece_at(to, piece);
            pen.put(to, piece);
        }
    }
}

/// Both kings in the centre, on whatever of its squares; what stood there is beside the board.
pub fn kings_in_the_centre(board: &Board, rng: &mut Rng) -> Board {
    let mut centre = [Square::D4, Square::E4, Square::D5, Square::E5];
    rng.shuffle(&mut centre);
    let mut board = board.clone();
    let kings: Vec<(Square, Piece)> = (board.kings().into_iter())
        .map(|square| (square, board.piece_at(square).unwrap()))
        .collect();
    for (square, _) in &kings {
        board.discard_piece_at(*square);
    }
    for (square, (_, king)) in centre.into_iter().zip(kings) {
        board.set_piece_at(square, king);
    }
    board
}
