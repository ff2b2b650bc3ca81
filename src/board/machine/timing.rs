//! How long the hand takes for its moves.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use shakmaty::Move;

use crate::{board::advice::Advice, game::Game};

/// How long the hand took for the moves of a game, where that was seen.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// The moves timed, each with the plies before it, in their order.
    moves: Vec<(usize, Move, Duration)>,
    /// Since when the hand's move after so many plies is awaited.
    awaited: Option<(usize, Instant)>,
}

impl Times {
    /// The player was told this, where this game is on the board.
    pub fn note(&mut self, now: Instant, advice: &Advice, game: &Game) {
        let plies = game.len();
        if let Advice::YourMove(_) = advice {
            if self.awaited.is_none_or(|(awaited, _)| awaited != plies) {
                self.awaited = Some((plies, now));
            }
        } else if self.awaited.is_some_and(|(awaited, _)| awaited != plies) {
            self.awaited = None;
        }
    }

    /// Nobody saw what happened for a while.
    pub fn interrupted(&mut self) {
        self.awaited = None;
    }

    /// The game has other moves after so many plies, or none.
    pub fn forget_from(&mut self, plies: usize) {
        self.moves.retain(|(before, _, _)| *before < plies);
    }

    /// The hand has made this move after so many plies: how long it took.
    pub fn played(&mut self, now: Instant, m: Move, plies: usize) -> Option<Duration> {
        self.forget_from(plies);
        let began = self.awaited.take();
        let began = began.filter(|(awaited, _)| *awaited == plies);
        let took = began.map(|(_, since)| now.saturating_duration_since(since));
        if let Some(took) = took {
            self.moves.push((plies, m, took));
        }
        took
    }

    /// How long each move of this game took.
    pub fn of(&self, game: &Game) -> Arc<[Option<Duration>]> {
        let mut all = vec![None; game.len()];
        for (plies, m, took) in &self.moves {
            if game.moves().get(*plies) == Some(m) {
                all[*plies] = Some(*took);
            }
        }
        all.into()
    }
}
