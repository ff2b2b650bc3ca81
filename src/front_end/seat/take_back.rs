//! A take-back by the hand.

use std::time::{Duration, Instant};

use crate::{chess::game::Game, vocabulary::Snapshot};

/// A take-back by the hand: it counts once the pieces have stood like this for a while.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakeBack {
    /// When it counts; `None` after that.
    pub at: Option<Instant>,
    /// Plies left of the game.
    pub left: usize,
    /// Plies on the board, including moves made after the take-back.
    on_board: usize,
}

impl TakeBack {
    /// All but `left` plies have just been taken back. `before` is what was noted until now.
    pub fn noted(
        before: Option<Self>,
        now: Instant,
        left: usize,
        board: &Snapshot,
        wait: Duration,
    ) -> Self {
        let on_board = board.game.len();
        let stands = |t: &Self| t.left == left && (t.on_board == on_board || t.at.is_none());
        before.filter(stands).unwrap_or(Self {
            at: Some(now + wait),
            left,
            on_board,
        })
    }
}

/// The plies left of a client's game, if the hand has taken back others.
pub fn left_by_hand(board: &Snapshot, game: &Game) -> Option<usize> {
    let common = board.game.common_plies(game)?;
    let taken_back = board.taken_back && board.link.is_open() && common < game.len();
    taken_back.then_some(common)
}
