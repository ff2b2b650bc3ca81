//! When a hand that plays by itself does something.

use std::{future::pending, time::Duration};

use tokio::time::{Instant, sleep_until};

use super::{
    Report,
    hand::{Next, Player},
};
use crate::game::Game;

/// How long the end of a game is waited for that was played out on the board: more than a program takes to announce it.
const END_WAIT: Duration = Duration::from_secs(2);

/// What a board is told of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing that can be relied on: the hand may play at any time.
    Nothing,
    /// That it begins.
    Beginning,
    /// That it begins and ends.
    Both,
}

/// When a hand that plays by itself does something, if there is one.
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
    /// A hand that takes so long for a move, at a board that is told so much.
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

    /// Whether there is such a hand.
    pub fn has_player(&self) -> bool {
        self.player.is_some()
    }

    /// This was to be seen on the board: the hand looks at it again.
    pub fn seen(&mut self, report: &Report) {
        self.begun |= *report == Report::NewGame;
        self.ended |= self.begun && matches!(report, Report::Ended(_));
        if self.begun && self.player.is_some() {
            self.at = Some(Instant::now() + self.delay);
        }
    }

    /// Waits until the hand's time has come.
    pub async fn due(&self) {
        match self.at {
            Some(at) => sleep_until(at).await,
            None => pending().await,
        }
    }

    /// Whether the hand's time has come.
    pub fn is_due(&self) -> bool {
        self.at.is_some_and(|at| at <= Instant::now())
    }

    /// The hand looks at the board again, whether or not something is to be seen.
    pub fn again(&mut self) {
        self.at = Some(Instant::now() + self.delay);
    }

    /// What the hand does now, where this game is on the board and a move may be shown that was not executed yet.
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
