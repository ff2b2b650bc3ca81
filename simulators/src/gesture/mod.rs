//! An untidy player: scripts for moves, take-backs, corrected pieces, kings to the centre, as pure generators with a
//! seed.
//!
//! A player's actions are a [`Script`] of timed [`Step`]s: touches, and when an action is done, in a given [`Style`].
//! Times are those of the captured game, if it has them.

mod making;
mod pen;
mod pieces;
mod style;
mod touch;

use std::ops::Range;

use shakmaty::{Board, Chess, Color, Move, Position, Role, Square};

use self::{
    making::{CASTLING_GAP, FETCH, doubt, make, victims},
    pen::{CARRY, GAP, Pen},
};
pub use self::{
    pieces::{apply, legs, squares, victim},
    style::{CaptureOrder, CastlingOrder, Doubt, EnPassantOrder, Promoting, Style},
    touch::{Deed, Script, Step, Touch},
};

/// How long pieces being corrected are in the air, ms.
const RESEAT: Range<u64> = 300..800;
/// The four squares of the centre.
const CENTRE: [Square; 4] = [Square::E4, Square::D5, Square::D4, Square::E5];

/// When the opponent's move is executed if it is late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// After the player's own piece was lifted.
    AfterLift,
    /// After the player's own move was made.
    AfterMove,
}

/// The player's own move.
pub fn played(position: &Chess, m: Move, style: &Style, rng: &mut fastrand::Rng) -> Script {
    let mut pen = Pen::new(position.board().clone(), rng);
    doubt(&mut pen, position, m, style);
    make(&mut pen, position, m, Deed::Played(m), style);
    afterwards(&mut pen, m, style);
    pen.finish()
}

/// The opponent's move, carried out by the player.
pub fn executed(position: &Chess, m: Move, style: &Style, rng: &mut fastrand::Rng) -> Script {
    let mut pen = Pen::new(position.board().clone(), rng);
    make(&mut pen, position, m, Deed::Executed(m), style);
    afterwards(&mut pen, m, style);
    pen.finish()
}

/// Adjusts pieces: the one just moved, and others.
fn afterwards(pen: &mut Pen<'_>, m: Move, style: &Style) {
    if style.straightens
        && let Some((_, to)) = legs(m).first()
    {
        pen.straighten(*to);
    }
    pen.adjust(style.adjusts_after, &[]);
}

/// The opponent's move, carried out late: after the player lifted a piece of their own, or after their own move.
/// `position` is the one before both. `None` if the two moves interfere.
pub fn executed_late(
    position: &Chess,
    opponents: Move,
    own: Move,
    late: Late,
    style: &Style,
    rng: &mut fastrand::Rng,
) -> Option<Script> {
    let mut next = position.clone();
    next.play_unchecked(opponents);
    let special = own.is_castle() || own.is_promotion() || own.is_en_passant();
    let theirs = squares(opponents);
    let (from, to) = (own.from()?, own.to());
    if special || theirs.contains(&from) {
        return None;
    }
    let mut pen = Pen::new(position.board().clone(), rng);
    match late {
        Late::AfterLift => {
            let piece = pen.lift(from)?;
            if !style.adjusts_victims {
                pen.spare = victims(&next, from);
            }
            pen.wait(GAP);
            make(
                &mut pen,
                position,
                opponents,
                Deed::Executed(opponents),
                style,
            );
            pen.wait(GAP);
            if own.is_capture() {
                pen.lift(to)?;
                pen.wait(GAP);
            }
            pen.committed(Deed::Played(own));
            pen.land(to, piece, style.bounces);
            pen.made(Deed::Played(own));
        }
        Late::AfterMove => {
            if theirs.contains(&to) {
                return None;
            }
            make(&mut pen, &next, own, Deed::Played(own), style);
            pen.wait(GAP);
            make(
                &mut pen,
                position,
                opponents,
                Deed::Executed(opponents),
                style,
            );
        }
    }
    let last = if late == Late::AfterMove {
        opponents
    } else {
        own
    };
    afterwards(&mut pen, last, style);
    Some(pen.finish())
}

/// Takes back a move that was made in `before`.
pub fn taken_back(before: &Chess, m: Move, style: &Style, rng: &mut fastrand::Rng) -> Script {
    let mut after = before.clone();
    after.play_unchecked(m);
    let mut pen = Pen::new(after.board().clone(), rng);
    let deed = Deed::TookBack(m);
    pen.adjust(style.adjusts_before, &[]);
    let mut back: Vec<(Square, Square)> =
        legs(m).into_iter().map(|(from, to)| (to, from)).collect();
    if style.castling == CastlingOrder::RookFirst {
        back.reverse();
    }
    let gone = victim(m).and_then(|square| Some((square, before.board().piece_at(square)?)));
    let last = back.len().saturating_sub(1);
    for (index, (from, to)) in back.into_iter().enumerate() {
        let Some(piece) = before.board().piece_at(to) else {
            continue;
        };
        if index > 0 {
            pen.wait(CASTLING_GAP);
        }
        pen.lift(from);
        if style.capture == CaptureOrder::VictimFirst
            && let Some((square, victim)) = gone
        {
            pen.wait(GAP);
            pen.put(square, victim);
        }
        if m.is_promotion() {
            pen.wait(FETCH);
        } else if style.slides {
            pen.slide(from, to, piece);
        }
        pen.wait(CARRY);
        // For castling, the king's way back proves it; the rook alone may have moved.
        if piece.role == Role::King || last == 0 {
            pen.committed(deed);
        }
        pen.land(to, piece, style.bounces);
    }
    if style.capture == CaptureOrder::MoverFirst
        && let Some((square, victim)) = gone
    {
        pen.wait(GAP);
        pen.put(square, victim);
    }
    pen.made(deed);
    pen.adjust(style.adjusts_after, &[]);
    pen.finish()
}

/// Lifts pieces and puts them back: what a person does when told that something is unclear.
pub fn reseated(board: &Board, squares: &[Square], rng: &mut fastrand::Rng) -> Script {
    let mut pen = Pen::new(board.clone(), rng);
    for &square in squares {
        if let Some(piece) = pen.lift(square) {
            pen.wait(RESEAT);
            pen.put(square, piece);
            pen.wait(RESEAT);
        }
    }
    pen.finish()
}

/// Corrects the placement: lifts every wrong piece, then puts every missing one.
pub fn restored(from: &Board, to: &Board, rng: &mut fastrand::Rng) -> Script {
    let mut pen = Pen::new(from.clone(), rng);
    let wrong = |square: &Square| from.piece_at(*square) != to.piece_at(*square);
    for square in Square::ALL.into_iter().filter(wrong) {
        if pen.lift(square).is_some() {
            pen.wait(RESEAT);
        }
    }
    for square in Square::ALL.into_iter().filter(wrong) {
        if let Some(piece) = to.piece_at(square) {
            pen.put(square, piece);
            pen.wait(RESEAT);
        }
    }
    pen.finish()
}

/// Both kings go to the centre: the sign of a result on many boards.
///
/// `None` if it cannot be distinguished from something else: fewer than two of the four squares are empty, or a king's
/// step there is a legal move, or takes back the last one.
pub fn kings_to_centre(
    position: &Chess,
    last: Option<Move>,
    rng: &mut fastrand::Rng,
) -> Option<Script> {
    let board = position.board();
    let mut free = CENTRE
        .into_iter()
        .filter(|square| board.piece_at(*square).is_none());
    let ways = [
        (board.king_of(Color::White)?, free.next()?),
        (board.king_of(Color::Black)?, free.next()?),
    ];
    let unclear = ways.iter().any(|&(from, to)| {
        let legal = position
            .legal_moves()
            .into_iter()
            .any(|m| m.from() == Some(from) && m.to() == to);
        legal || last.is_some_and(|m| m.to() == from && m.from() == Some(to))
    });
    if unclear {
        return None;
    }
    let mut pen = Pen::new(board.clone(), rng);
    for (from, to) in ways {
        if let Some(king) = pen.lift(from) {
            pen.wait(CARRY);
            pen.put(to, king);
            pen.wait(GAP);
        }
    }
    Some(pen.finish())
}
