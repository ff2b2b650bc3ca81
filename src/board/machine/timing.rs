//! How long the hand takes for its moves.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use shakmaty::Move;

use crate::{board::advice::Advice, game::Game};

/// The hand's move is awaited.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    /// After so many plies.
    plies: usize,
    /// Since then.
    since: Instant,
    /// The move shown before it was made, or there is none: until that is known, the hand has to make it too.
    made: bool,
}

/// How long the hand took for the moves of a game, where that was seen.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// The moves timed, each with the plies before it, in their order.
    moves: Vec<(usize, Move, Duration)>,
    awaited: Option<Awaited>,
}

impl Times {
    /// The player was told this, where this game is on the board. A board that does not report that a shown move was made
    /// lets the hand's time begin when it was shown.
    pub fn note(&mut self, now: Instant, advice: &Advice, game: &Game, awaiting: bool) {
        let plies = game.len();
        let made = match advice {
            Advice::YourMove(_) => Some(true),
            Advice::Make(m) if awaiting && game.last() == Some(*m) => Some(false),
            _ => None,
        };
        let known = self.awaited.filter(|awaited| awaited.plies == plies);
        self.awaited = match (known, made) {
            (Some(known), Some(made)) if made && !known.made => Some(Awaited {
                made,
                since: now,
                ..known
            }),
            (Some(known), _) => Some(known),
            (None, Some(made)) => Some(Awaited {
                plies,
                since: now,
                made,
            }),
            (None, None) => None,
        };
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
        let began = began.filter(|awaited| awaited.plies == plies);
        let took = began.map(|awaited| now.saturating_duration_since(awaited.since));
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
