//! Who makes the moves, and how long the hand takes for its own.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{
    game::Game,
    vocabulary::{Advice, By},
};

/// What was seen of one move being made.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Made {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<By>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    took: Option<Duration>,
}

/// The hand's move is awaited.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    /// After this many plies.
    plies: usize,
    /// Since then.
    since: Instant,
    /// The move shown before it was made, or none was shown: until that is known, the hand has to make it too.
    made: bool,
    /// No client has the board.
    free: bool,
}

/// What is wanted of the hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// A client awaits its move.
    pub awaiting: bool,
    /// No client has the board, and it is connected.
    pub free: bool,
}

/// Who made the moves of the game on the board, and how long the hand took, if that was seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct MoveTimes {
    game: Game,
    /// As many as moves.
    moves: Vec<Made>,
    #[serde(skip)]
    awaited: Option<Awaited>,
}

impl MoveTimes {
    /// The player was given this advice while this game is on the board. On a board that does not report that a shown
    /// move was made, the hand's time begins when the move was shown; on a board that is free, with the move before.
    pub fn note(
        &mut self,
        now: Instant,
        advice: &Advice,
        game: &Game,
        Standing { awaiting, free }: Standing,
    ) {
        let plies = game.len();
        let made = match advice {
            Advice::YourMove(_) => Some(true),
            Advice::Make(m) | Advice::Shown { m, .. } if awaiting && game.last() == Some(*m) => {
                Some(false)
            }
            _ if free && plies > 0 => Some(true),
            _ => None,
        };
        let same = |awaited: &Awaited| awaited.plies == plies && awaited.free == free;
        let known = self.awaited.filter(same);
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
                free,
            }),
            (None, None) => None,
        };
    }

    /// The same, after a restart: as many as moves.
    pub fn recalled(mut self) -> Self {
        self.moves.resize(self.game.len(), Made::default());
        self
    }

    /// The board was not observed for a while.
    pub fn interrupted(&mut self) {
        self.awaited = None;
    }

    /// The moves after this many plies belong to another game, even where they are the same.
    pub fn forget_from(&mut self, plies: usize) {
        self.moves
            .iter_mut()
            .skip(plies)
            .for_each(|made| *made = Made::default());
    }

    /// This game is on the board: what was seen of other moves is forgotten.
    pub fn follow(&mut self, game: &Game) {
        if self.game == *game {
            return;
        }
        let common = self.common(game);
        self.moves.truncate(common);
        self.moves.resize(game.len(), Made::default());
        self.game = game.clone();
    }

    fn common(&self, game: &Game) -> usize {
        self.game.common_plies(game).unwrap_or(0)
    }

    /// How this move of the game was made; plies count from 1.
    pub fn made(&mut self, ply: usize, by: Option<By>, took: Option<Duration>) {
        let index = ply.checked_sub(1);
        if let Some(made) = index.and_then(|index| self.moves.get_mut(index)) {
            *made = Made { by, took };
        }
    }

    /// The hand has made a move after this many plies: how long it took.
    pub fn played(&mut self, now: Instant, plies: usize) -> Option<Duration> {
        let began = self.awaited.take();
        let began = began.filter(|awaited| awaited.plies == plies);
        began.map(|awaited| now.saturating_duration_since(awaited.since))
    }

    /// Who made each move of this game.
    pub fn by(&self, game: &Game) -> Arc<[Option<By>]> {
        self.each(game).map(|made| made.by).collect()
    }

    /// How long each move of this game took.
    pub fn took(&self, game: &Game) -> Arc<[Option<Duration>]> {
        self.each(game).map(|made| made.took).collect()
    }

    fn each(&self, game: &Game) -> impl Iterator<Item = Made> {
        let known = self.moves.iter().copied().take(self.common(game));
        known
            .chain(std::iter::repeat(Made::default()))
            .take(game.len())
    }
}
