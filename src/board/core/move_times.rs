//! Who makes the moves, and how long the hand takes for its own.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize, Serializer};

use super::ply::{Made, Ply};
use crate::{
    chess::game::{Game, MAX_PLIES, uci},
    vocabulary::{Advice, By},
};

/// The hand's move is awaited.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    /// After this many plies.
    plies: usize,
    /// Since then.
    since: Instant,
    /// The move shown before was made, or none was shown. Until then the hand has to make that move too.
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
    /// Of this only the start position is saved; the moves are saved as [`Self::plies`].
    #[serde(serialize_with = "start")]
    game: Game,
    /// The moves of that game. They grow in number, and are saved separately. What is saved shares them until they change.
    #[serde(skip)]
    plies: Arc<Vec<Ply>>,
    #[serde(skip)]
    awaited: Option<Awaited>,
}

/// Serialises only the start of a game.
fn start<S: Serializer>(game: &Game, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Game::from_start(game.start().clone()))
}

impl MoveTimes {
    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The game, move by move, with what was seen of each being made.
    pub fn plies(&self) -> &[Ply] {
        &self.plies
    }

    /// Whether it is the same move by move, also in what was seen of each being made.
    pub fn has_plies_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.plies, &other.plies) || self.plies == other.plies
    }

    /// Restores the game from its saved start and these moves; `None` if a move is illegal.
    pub fn with(mut self, plies: &[Ply]) -> Option<Self> {
        if plies.len() > MAX_PLIES {
            return None;
        }
        self.game = Game::from_start(self.game.start().clone());
        let known = Arc::make_mut(&mut self.plies);
        for Ply { uci: text, made } in plies {
            let m = text.to_move(self.game.position()).ok()?;
            self.game.push(m);
            known.push(Ply {
                uci: uci(m),
                made: *made,
            });
        }
        Some(self)
    }

    /// The player was given this advice in this game. The hand's time begins when its move is awaited: on a board that does not
    /// report that a shown move was made, when it was shown; on a free board, with the move before.
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

    /// The board was not observed for a while.
    pub fn interrupted(&mut self) {
        self.awaited = None;
    }

    /// The moves after this many plies belong to another game, even where they are the same.
    pub fn forget_from(&mut self, plies: usize) {
        let known = Arc::make_mut(&mut self.plies);
        for ply in known.iter_mut().skip(plies) {
            ply.made = Made::default();
        }
    }

    /// This game is on the board: what was seen of other moves is forgotten.
    pub fn follow(&mut self, game: &Game) {
        if self.game == *game {
            return;
        }
        let common = self.common(game);
        let plies = Arc::make_mut(&mut self.plies);
        plies.truncate(common);
        let new = game.moves()[common..].iter();
        plies.extend(new.map(|m| Ply {
            uci: uci(*m),
            made: Made::default(),
        }));
        self.game = game.clone();
    }

    fn common(&self, game: &Game) -> usize {
        self.game.common_plies(game).unwrap_or(0)
    }

    /// How this move of the game was made; plies count from 1.
    pub fn made(&mut self, ply: usize, by: Option<By>, took: Option<Duration>) {
        let plies = Arc::make_mut(&mut self.plies);
        let index = ply.checked_sub(1);
        if let Some(ply) = index.and_then(|index| plies.get_mut(index)) {
            ply.made = Made { by, took };
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
        self.of_each(game, |made| made.by)
    }

    /// How long each move of this game took.
    pub fn took(&self, game: &Game) -> Arc<[Option<Duration>]> {
        self.of_each(game, |made| made.took)
    }

    /// What is known of each of this game's moves.
    fn of_each<T>(&self, game: &Game, of: impl Fn(&Made) -> Option<T>) -> Arc<[Option<T>]> {
        let known = &self.plies[..self.common(game)];
        let unknown = game.len() - known.len();
        let known = known.iter().map(|ply| of(&ply.made));
        known.chain((0..unknown).map(|_| None)).collect()
    }
}
