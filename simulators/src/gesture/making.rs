//! How a move is made by hand, touch by touch.

use std::ops::Range;

use shakmaty::{Chess, Move, Piece, Position, Role, Square};

use super::{
    CaptureOrder, CastlingOrder, Deed, Doubt, EnPassantOrder, Promoting, Style,
    pen::{CARRY, GAP, Pen},
    pieces::{legs, squares, victim},
};

/// How long a square touched in passing is touched, ms.
const TOUCH: Range<u64> = 200..400;
/// How long a piece lifted in doubt is in the hand, ms.
const DOUBT: Range<u64> = 400..2500;
/// Between the two pieces of castling, ms. If longer, the board cannot distinguish the rook's half from a rook's move.
pub(super) const CASTLING_GAP: Range<u64> = 250..1300;
/// To fetch a piece for a promotion, ms.
pub(super) const FETCH: Range<u64> = 600..2500;

/// Hesitation before the move, and pieces adjusted.
pub(super) fn doubt(pen: &mut Pen<'_>, position: &Chess, m: Move, style: &Style) {
    let spare = squares(m);
    let legal = position.legal_moves();
    match style.doubt {
        Some(Doubt::Lift) => {
            let mut others: Vec<Square> = legal.iter().filter_map(|m| m.from()).collect();
            others.sort_unstable();
            others.dedup();
            others.retain(|square| Some(*square) != m.from());
            if let Some(square) = pen.rng.choice(others) {
                touched(pen, square);
            }
        }
        Some(Doubt::Victim) => {
            let victims: Vec<Square> = legal.iter().copied().filter_map(victim).collect();
            if let Some(square) = pen.rng.choice(victims) {
                touched(pen, square);
            }
        }
        Some(Doubt::Capture) => {
            let captures: Vec<Move> = legal
                .iter()
                .copied()
                .filter(|other| other.is_capture() && !other.is_promotion() && *other != m)
                .collect();
            if let Some(other) = pen.rng.choice(captures) {
                tried(pen, other);
            }
        }
        // Done while the mover is in the hand.
        Some(Doubt::Touch) | None => {}
    }
    pen.adjust(style.adjusts_before, &spare);
}

/// Lifts a piece and puts it back.
fn touched(pen: &mut Pen<'_>, square: Square) {
    if let Some(piece) = pen.lift(square) {
        pen.wait(DOUBT);
        pen.put(square, piece);
        pen.wait(GAP);
    }
}

/// Tries a capture and takes it back.
fn tried(pen: &mut Pen<'_>, m: Move) {
    let (Some(from), to, Some(taken)) = (m.from(), m.to(), victim(m)) else {
        return;
    };
    let Some(piece) = pen.lift(from) else {
        return;
    };
    pen.wait(GAP);
    let Some(captured) = pen.lift(taken) else {
        return;
    };
    pen.wait(GAP);
    pen.put(to, piece);
    pen.wait(TOUCH);
    pen.lift(to);
    pen.wait(GAP);
    pen.put(from, piece);
    pen.wait(GAP);
    pen.put(taken, captured);
    pen.wait(GAP);
}

/// The pieces that the one on a square could capture.
pub(super) fn victims(position: &Chess, from: Square) -> Vec<Square> {
    let legal = position.legal_moves().into_iter();
    legal
        .filter(|m| m.from() == Some(from))
        .filter_map(victim)
        .collect()
}

/// The move itself. It is legal in `position`; the pen's board may lack a move of the opponent.
pub(super) fn make(pen: &mut Pen<'_>, position: &Chess, m: Move, deed: Deed, style: &Style) {
    if m.is_castle() {
        castle(pen, m, deed, style);
        return;
    }
    let (Some(from), to) = (m.from(), m.to()) else {
        return;
    };
    let taken = victim(m);
    let mut spare = squares(m);
    if !style.adjusts_victims {
        spare.extend(victims(position, from));
    }
    let first = match m {
        Move::EnPassant { .. } => style.en_passant == EnPassantOrder::VictimFirst,
        _ => style.capture == CaptureOrder::VictimFirst,
    };
    let last = m.is_en_passant() && style.en_passant == EnPassantOrder::VictimLast;
    if let Some(square) = taken.filter(|_| first) {
        pen.lift(square);
        pen.adjust(style.adjusts_between, &spare);
        pen.wait(GAP);
    }
    let Some(mut piece) = pen.lift(from) else {
        return;
    };
    if !first {
        pen.adjust(style.adjusts_between, &spare);
    }
    let touches = style.doubt == Some(Doubt::Touch) && touch(pen, position, m, piece);
    if let Some(square) = taken.filter(|_| !first && !last) {
        pen.wait(GAP);
        pen.lift(square);
    }
    if style.slides && !touches {
        pen.slide(from, to, piece);
    }
    pen.wait(CARRY);
    if let Some(role) = m.promotion() {
        let pawn = piece;
        piece = role.of(piece.color);
        if style.promoting == Promoting::PawnDown {
            pen.committed(deed);
            pen.put(to, pawn);
            pen.wait(FETCH);
            pen.lift(to);
            pen.wait(GAP);
        } else {
            pen.wait(FETCH);
            pen.committed(deed);
        }
    } else {
        pen.committed(deed);
    }
    pen.land(to, piece, style.bounces);
    if let Some(square) = taken.filter(|_| last) {
        pen.wait(GAP);
        pen.lift(square);
    }
    pen.made(deed);
}

/// The mover, in the hand, touches another square it could go to. Returns whether there is one.
fn touch(pen: &mut Pen<'_>, position: &Chess, m: Move, piece: Piece) -> bool {
    let others: Vec<Square> = position
        .legal_moves()
        .into_iter()
        .filter(|other| {
            other.from() == m.from()
                && other.to() != m.to()
                && !other.is_capture()
                && !other.is_castle()
        })
        .map(Move::to)
        .filter(|square| pen.board.piece_at(*square).is_none())
        .collect();
    let Some(square) = pen.rng.choice(others) else {
        return false;
    };
    pen.wait(CARRY);
    pen.put(square, piece);
    pen.wait(TOUCH);
    pen.lift(square);
    true
}

fn castle(pen: &mut Pen<'_>, m: Move, deed: Deed, style: &Style) {
    let mut ways = legs(m);
    // In Chess960 one of the two may stay, or each may go to the other's square.
    ways.retain(|(from, to)| from != to);
    if style.castling == CastlingOrder::RookFirst {
        ways.reverse();
    }
    let stood_on = |square| ways.iter().any(|(from, _)| *from == square);
    let in_the_way = ways.iter().any(|(_, to)| stood_on(*to));
    let together = in_the_way || style.castling == CastlingOrder::Together;
    let mut hand: Vec<(Square, Square, Piece)> = Vec::new();
    if together {
        for &(from, to) in &ways {
            if let Some(piece) = pen.lift(from) {
                hand.push((from, to, piece));
                pen.wait(CASTLING_GAP);
            }
        }
        if pen.rng.bool() {
            hand.reverse();
        }
    }
    for (index, (from, to)) in ways.into_iter().enumerate() {
        if index > 0 {
            pen.wait(CASTLING_GAP);
        }
        let next = if together {
            hand.get(index).copied()
        } else {
            pen.lift(from).map(|piece| (from, to, piece))
        };
        let Some((from, to, piece)) = next else {
            continue;
        };
        if style.slides && !together {
            pen.slide(from, to, piece);
        }
        pen.wait(CARRY);
        if piece.role == Role::King {
            pen.committed(deed);
        }
        pen.land(to, piece, style.bounces);
    }
    pen.made(deed);
}
