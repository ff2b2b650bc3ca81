//! One game with what is known of it.

use std::{sync::Arc, time::Duration, time::SystemTime};

use jiff::tz::TimeZone;
use shakmaty::{ByColor, Color, Outcome, Position as _};

use crate::{
    chess::game::Game,
    front_end::pgn_text::Termination,
    vocabulary::{By, GameEnd},
};

/// The tags of a game that do not depend on its moves: the same for all games of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The tag `Site`.
    pub site: Arc<str>,
    /// The player at the board.
    pub player: Arc<str>,
    /// The writer of the file: `BoardBridge 0.1.0 on citrine`.
    pub annotator: Arc<str>,
    /// Where the board is: for the local time.
    pub zone: TimeZone,
}

/// The state of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// It is being played, or was abandoned.
    #[default]
    Open,
    /// It is over.
    Over(Outcome, Option<Termination>),
}

impl From<GameEnd> for Standing {
    fn from(end: GameEnd) -> Self {
        Self::Over(end.outcome, Termination::of(end))
    }
}

/// One game with what is known of it.
#[derive(Clone, Debug)]
pub struct Record {
    /// When its first move was made, as far as it was seen.
    pub began: SystemTime,
    /// The moves.
    pub game: Game,
    /// Who made each move, if that was seen; one entry per move.
    pub by: Vec<Option<By>>,
    /// How long the hand took for each move, if that was seen; one entry per move.
    pub took: Vec<Option<Duration>>,
    /// The hand's opponent.
    pub program: Option<Arc<str>>,
    /// The players' names, as far as a front-end has told them.
    pub names: ByColor<Option<Arc<str>>>,
    /// The tag `Event`, if a front-end has told it.
    pub event: Option<Arc<str>>,
    /// The tag `Site`, if a front-end has told it.
    pub site: Option<Arc<str>>,
    /// Its state.
    pub standing: Standing,
}

impl Record {
    /// A game that begins now.
    pub fn new(began: SystemTime, game: Game) -> Self {
        let plies = game.len();
        Self {
            began,
            game,
            by: vec![None; plies],
            took: vec![None; plies],
            program: None,
            names: ByColor::default(),
            event: None,
            site: None,
            standing: Standing::Open,
        }
    }

    /// The result.
    pub fn outcome(&self) -> Outcome {
        match self.standing {
            Standing::Open => Outcome::Unknown,
            Standing::Over(outcome, _) => outcome,
        }
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.standing != Standing::Open
    }

    /// Who played this colour: the hand or the target, by the most moves seen.
    pub fn player(&self, color: Color) -> Option<By> {
        let first = self.game.start().turn();
        let skipped = usize::from(first != color);
        let mine = || self.by.iter().skip(skipped).step_by(2).flatten();
        let by_target = mine().filter(|by| **by == By::Target).count();
        let by_hand = mine().count() - by_target;
        match (by_hand, by_target) {
            (0, 0) => None,
            _ if by_hand >= by_target => Some(By::Hand),
            _ => Some(By::Target),
        }
    }

    /// The game is now this one; what was known of the moves they have in common stays. `true` if that changes it.
    pub fn follow(&mut self, game: &Game) -> bool {
        if self.game == *game {
            return false;
        }
        let common = self.game.common_plies(game).unwrap_or(0);
        self.by.truncate(common);
        self.took.truncate(common);
        self.by.resize(game.len(), None);
        self.took.resize(game.len(), None);
        self.game = game.clone();
        self.standing = GameEnd::by_rules(game).map_or(Standing::Open, Standing::from);
        true
    }

    /// The game was reported to have ended so; the end by the rules is not overruled. `true` if that changes it.
    pub fn end(&mut self, end: GameEnd) -> bool {
        let end = GameEnd::by_rules(&self.game).unwrap_or(end);
        let before = std::mem::replace(&mut self.standing, end.into());
        before != self.standing
    }

    /// The same game, reported from an earlier position.
    pub fn begin_earlier(&mut self, game: Game) {
        let before = game.len().saturating_sub(self.game.len());
        self.by.splice(0..0, std::iter::repeat_n(None, before));
        self.took.splice(0..0, std::iter::repeat_n(None, before));
        self.game = game;
    }
}
