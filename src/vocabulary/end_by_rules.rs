//! When the rules of chess end a game: checkmate, stalemate, dead positions, fivefold repetition, 75 moves; and which draws a
//! player may claim: threefold repetition, 50 moves.

use shakmaty::Position;

use super::{GameEnd, Reason};
use crate::chess::game::Game;

/// Occurrences of the same position that end a game (FIDE Laws of Chess 9.6.1).
const FIVEFOLD: u32 = 5;
/// Half-moves without a capture or a pawn's move that end a game (FIDE Laws of Chess 9.6.2).
const SEVENTY_FIVE: u32 = 150;
/// Occurrences of the same position after which a player may claim a draw (FIDE Laws of Chess 9.2).
const THREEFOLD: u32 = 3;
/// Half-moves without a capture or a pawn's move after which a player may claim a draw (FIDE Laws of Chess 9.3).
const FIFTY: u32 = 100;

impl GameEnd {
    /// How a game ended by the rules that need no claim: mate, stalemate, dead positions, five times the same position,
    /// and 75 moves without progress (FIDE Laws of Chess 5.1.1, 5.2.1, 5.2.2, 9.6).
    pub fn by_rules(game: &Game) -> Option<Self> {
        let position = game.position();
        if position.legal_moves().is_empty() {
            Some(if position.is_check() {
                Self::won(Reason::Checkmate, position.turn().other())
            } else {
                Self::drawn(Reason::Stalemate)
            })
        } else if position.is_insufficient_material() {
            Some(Self::drawn(Reason::InsufficientMaterial))
        } else if game.has_stood(FIVEFOLD) {
            Some(Self::drawn(Reason::Repetition))
        } else if position.halfmoves() >= SEVENTY_FIVE {
            Some(Self::drawn(Reason::FiftyMoves))
        } else {
            None
        }
    }

    /// A draw in this game, reported without a reason: claimed if the position allows a claim, else agreed.
    pub fn draw_in(game: &Game) -> Self {
        let position = game.position();
        Self::drawn(match Self::by_rules(game) {
            Some(end) if end.outcome.winner().is_none() => end.reason,
            _ if game.has_stood(THREEFOLD) => Reason::Repetition,
            _ if position.halfmoves() >= FIFTY => Reason::FiftyMoves,
            _ => Reason::Agreement,
        })
    }
}
