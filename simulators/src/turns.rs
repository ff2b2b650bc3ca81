//! When an automatic player acts.

use std::{future::pending, time::Duration};

use tokio::time::{Instant, sleep_until};

use super::{
    Report,
    hand::{Next, Player},
};
use crate::game::Game;

/// How long to wait for the announced end of a game played out on the board: longer than a program needs.
const END_WAIT: Duration = Duration::from_secs(2);

/// How often a player at work looks whether the work is done.
const LOOK: Duration = Duration::from_millis(20);

/// What a board is told about a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing reliable: the player may move at any time.
    Nothing,
    /// Its beginning.
    Beginning,
    /// Its beginning and its end.
    Both,
}

/// Decides when an automatic player acts, if there is one.
#[derive(Debug)]
pub struct Turns {
    player: Option<Player>,
    delay: Duration,
    told: Told,
    begun: bool,
    ended: bool,
    at: Option<Instant>,
    ends_at: Option<Instant>,
}

impl Turns {
    /// A player with this delay, at a board that is told this much.
    pub fn new(player: Option<Player>, delay: Duration, told: Told) -> Self {
        let begun = told == Told::Nothing;
        let at = (begun && player.is_some()).then(|| Instant::now() + delay);
        Self {
            player,
            delay,
            told,
            begun,
            ended: false,
            at,
            ends_at: None,
        }
    }

    /// Whether there is an automatic player.
    pub fn has_player(&self) -> bool {
        self.player.is_some()
    }

    /// This event was seen on the board: the player looks at it again.
    pub fn seen(&mut self, report: &Report) {
        self.begun |= *report == Report::NewGame;
        self.ended |= self.begun && matches!(report, Report::Ended(_));
        if self.begun && self.player.is_some() {
            self.at = Some(Instant::now() + self.delay);
        }
    }

    /// Waits until the player is due.
    pub async fn due(&self) {
        match self.at {
            Some(at) => sleep_until(at).await,
            None => pending().await,
        }
    }

    /// Whether the player is due.
    pub fn is_due(&self) -> bool {
        self.at.is_some_and(|at| at <= Instant::now())
    }

    /// The player looks at the board again, whether or not there was an event.
    pub fn again(&mut self) {
        self.at = Some(Instant::now() + self.delay);
    }

    /// The player is at work with their hands, and looks at the board again soon.
    pub fn later(&mut self) {
        self.at = Some(Instant::now() + self.delay.max(LOOK));
    }

    /// What the player does now with this game on the board; a shown move may not be executed yet.
    pub fn next(&mut self, game: &Game, shown: bool) -> Next {
        self.at = None;
        let Some(player) = &self.player else {
            return Next::Wait;
        };
        if self.ended && !shown {
            return Next::Done;
        }
        let now = Instant::now();
        match player.next_in(game, shown) {
            Next::Done if self.told == Told::Both => {
                let ends_at = *self.ends_at.get_or_insert(now + END_WAIT);
                if ends_at <= now {
                    return Next::Done;
                }
                self.at = Some(ends_at);
                Next::Wait
            }
            next => next,
        }
    }
}
