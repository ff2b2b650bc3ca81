//! Finds what the player did to get from a game to the present placement.

use shakmaty::{Board, CastlingSide, Chess, Move, Position, Role};

use crate::{
    chess::{game::Game, recognise::CENTRE},
    driver::sensing::{Follower, lights::differing},
};

/// A position after no more moves than these may stand for a moment while the next game is put up.
const FIRST_PLIES: usize = 2;

/// One action of the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Carried out a change that the game already had.
    Executed,
    /// Took this move back.
    TookBack(Move),
    /// Made this move.
    Played(Move),
}

/// What a move may be the first half of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// The other piece of castling may follow.
    Castling,
    /// The other king may follow to the centre: the sign of a result.
    Sign,
}

/// What the player did, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deeds {
    /// The actions, in order.
    pub deeds: Vec<Deed>,
    /// What the last move may be the first half of.
    pub half: Option<Half>,
}

/// The start of a search.
pub(super) struct Way<'a> {
    game: &'a Game,
    standing: &'a Board,
    may_replace: bool,
    /// The hand is to take back a move that the game no longer has.
    takes_back: bool,
    /// The pictures since then.
    seen: &'a [Board],
}

impl<'a> Way<'a> {
    /// Starts from the placement `standing` and the game of the `follower`; `seen` are the pictures since.
    pub fn new(follower: &'a Follower, standing: &'a Board, seen: &'a [Board]) -> Self {
        Self {
            game: follower.game(),
            standing,
            may_replace: follower.may_replace(),
            takes_back: follower.is_take_back_awaited(),
            seen,
        }
    }

    /// Whether the pieces stand as in the game.
    fn stands(&self) -> bool {
        self.standing == self.game.position().board()
    }

    /// The only legal sequence that leads to these pieces; `None` if there is none, or more than one.
    pub fn to(&self, pieces: &Board) -> Option<Deeds> {
        let position = self.game.position();
        let executed = (!self.stands()).then_some(Deed::Executed);
        if pieces == position.board() {
            return Some(deeds(executed));
        }
        let mut ways = Vec::new();
        for m in self.forward(pieces) {
            ways.push(Deeds {
                half: half(position, m),
                ..deeds(executed.into_iter().chain([Deed::Played(m)]))
            });
        }
        if self.stands() {
            ways.extend(self.back(pieces));
        } else if let Some((shown, own)) = self.takes_back_own(pieces) {
            ways.push(deeds(executed.into_iter().chain([shown, own])));
        } else if let Some(plies) = self.left_of_more(pieces) {
            let more = self.game.moves()[plies..].iter().rev();
            let more = more.copied().map(Deed::TookBack);
            ways.push(deeds(executed.into_iter().chain(more)));
        }
        ways.extend(self.replaced(pieces));
        if ways.is_empty() && self.stands() {
            ways.extend(self.far_back(pieces));
        }
        let way = ways.pop()?;
        ways.is_empty().then_some(way)
    }

    /// The shown move, made or not, and the player's own before it, if both are taken back.
    fn takes_back_own(&self, pieces: &Board) -> Option<(Deed, Deed)> {
        let [.., own, shown] = self.game.moves() else {
            return None;
        };
        let stood = |plies| self.game.position_at(plies).board().clone();
        let plies = self.game.len();
        let back = *self.standing == stood(plies - 1) && *pieces == stood(plies - 2);
        back.then_some((Deed::TookBack(*shown), Deed::TookBack(*own)))
    }

    /// The plies that are left if further moves were taken back after the change that the game already had: a program that takes moves back
    /// asks for one after the other, and the hand need neither wait for that, nor let a picture show them one by one.
    fn left_of_more(&self, pieces: &Board) -> Option<usize> {
        let plies = self.game.len();
        let shown = self.seen.contains(self.game.position().board());
        let least = plies.saturating_sub(usize::from(shown));
        // All the way to the start is a new game.
        let least = if self.takes_back { least.min(1) } else { least };
        let stood = |plies: &usize| self.game.position_at(*plies).board() == pieces;
        (least..plies).rev().find(stood)
    }

    /// The change that the game already had, and the only move of the player's after it that leads to these pieces, though no
    /// picture showed one without the other: both were made during an absence, or by two hands at once.
    pub fn unseen(&self, pieces: &Board) -> Option<Deeds> {
        let position = self.game.position();
        let moves = position.legal_moves();
        let mut leads = moves
            .into_iter()
            .filter(|m| after(position, *m).board() == pieces);
        let m = leads.next().filter(|_| !self.stands())?;
        let only = leads.next().is_none();
        only.then(|| deeds([Deed::Executed, Deed::Played(m)]))
    }

    /// The only first move of the other side that leads to these pieces, in a position that was put up by hand: the side that moves
    /// first was assumed.
    pub fn others(&self, pieces: &Board) -> Option<Move> {
        let position = self.game.position();
        let put_up = self.game.is_empty() && !self.game.is_standard() && self.stands();
        let other = Game::of_pieces(position.board(), !position.turn()).filter(|_| put_up)?;
        let moves = other.position().legal_moves();
        let mut leads = moves
            .into_iter()
            .filter(|m| after(other.position(), *m).board() == pieces);
        let m = leads.next()?;
        leads.next().is_none().then_some(m)
    }

    /// All moves that lead to these pieces.
    ///
    /// After a change that the game already had, one counts only if either was shown alone: pieces in the hand may look
    /// like both.
    fn forward(&self, pieces: &Board) -> Vec<Move> {
        let position = self.game.position();
        let shown = self.stands() || self.has_seen_half(position.board(), pieces);
        let moves = position.legal_moves().into_iter();
        let leads = |m: &Move| after(position, *m).board() == pieces;
        moves.filter(|_| shown).filter(leads).collect()
    }

    /// Whether a picture showed the pieces after the move that the game already has, or after the player's own move,
    /// which may come first if the two do not interfere.
    fn has_seen_half(&self, shown: &Board, both: &Board) -> bool {
        let own = differing(shown, both);
        let mut alone = self.standing.clone();
        for square in own {
            match both.piece_at(square) {
                Some(piece) => alone.set_piece_at(square, piece),
                None => alone.discard_piece_at(square),
            }
        }
        let apart = (own & differing(self.standing, shown)).is_empty();
        self.seen.contains(shown) || apart && self.seen.contains(&alone)
    }

    /// More than two moves taken back at once: a quick hand, of which no picture shows each. All the way to the start, or nearly, is a new
    /// game; so is whatever is put up after a mate.
    fn far_back(&self, pieces: &Board) -> Option<Deeds> {
        if self.game.position().is_game_over() || pieces == self.game.start().board() {
            return None;
        }
        let moves = self.game.moves();
        let mut position = self.game.start().clone();
        let mut stood = None;
        for (plies, &m) in (1..moves.len()).zip(moves) {
            position.play_unchecked(m);
            if plies > FIRST_PLIES && position.board() == pieces {
                stood = Some(plies);
            }
        }
        let back = moves[stood?..].iter().rev();
        Some(deeds(back.copied().map(Deed::TookBack)))
    }

    /// Another move in place of the last one, which may be replaced, made or not.
    fn replaced(&self, pieces: &Board) -> Vec<Deeds> {
        let Some((&last, earlier)) = self.game.moves().split_last().filter(|_| self.may_replace)
        else {
            return Vec::new();
        };
        let before = self.game.position_at(earlier.len());
        if !self.stands() && self.standing != before.board() {
            return Vec::new();
        }
        let moves = before.legal_moves().into_iter();
        let leads = |m: &Move| *m != last && after(&before, *m).board() == pieces;
        let replaced = moves.filter(leads).map(|m| Deeds {
            half: half(&before, m),
            ..deeds([Deed::TookBack(last), Deed::Played(m)])
        });
        replaced.collect()
    }

    /// Sequences that take back one or two moves.
    fn back(&self, pieces: &Board) -> Vec<Deeds> {
        let mut ways = Vec::new();
        let moves = self.game.moves();
        let Some((&last, earlier)) = moves.split_last() else {
            return ways;
        };
        let before = self.game.position_at(earlier.len());
        if before.board() == pieces {
            ways.push(deeds([Deed::TookBack(last)]));
        }
        if let Some((&first, earliest)) = earlier.split_last()
            && self.game.position_at(earliest.len()).board() == pieces
        {
            ways.push(deeds([Deed::TookBack(last), Deed::TookBack(first)]));
        }
        ways
    }
}

fn deeds(deeds: impl IntoIterator<Item = Deed>) -> Deeds {
    Deeds {
        deeds: deeds.into_iter().collect(),
        half: None,
    }
}

/// Whether one legal move leads to these pieces.
pub(super) fn leads_to(position: &Chess, pieces: &Board) -> bool {
    let moves = position.legal_moves();
    moves
        .into_iter()
        .any(|m| after(position, m).board() == pieces)
}

/// The position after this legal move.
pub(super) fn after(position: &Chess, m: Move) -> Chess {
    let mut next = position.clone();
    next.play_unchecked(m);
    next
}

/// What this move may be the first half of.
pub(super) fn half(position: &Chess, m: Move) -> Option<Half> {
    let color = position.turn();
    let begins = |castling: Move| {
        let Move::Castle { king, rook } = castling else {
            return false;
        };
        let side = CastlingSide::from_king_side(king < rook);
        let mut legs = [(king, side.king_to(color)), (rook, side.rook_to(color))].into_iter();
        legs.any(|(from, to)| m.from() == Some(from) && m.to() == to)
    };
    let castlings = |side| position.castling_moves(side);
    if m.is_castle() {
        None
    } else if CastlingSide::ALL
        .into_iter()
        .flat_map(castlings)
        .any(begins)
    {
        Some(Half::Castling)
    } else {
        let sign = m.role() == Role::King && CENTRE.contains(m.to());
        sign.then_some(Half::Sign)
    }
}
