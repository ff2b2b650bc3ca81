//! Whether a board is there, and whether its absence has been reported and waited for.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// How long a board is awaited before the link lets other clients have the other board: longer than a radio needs to
/// find a board again, shorter than a player would wait in vain.
pub const AWAY_WAIT: Duration = Duration::from_mins(1);

/// What has changed about a board's presence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presently {
    /// It is gone.
    Left,
    /// It is back, and its absence was reported.
    Back,
}

#[derive(Debug)]
enum State {
    Here,
    Away {
        /// The other player has been told.
        told: bool,
        /// When other clients may have the other board.
        yields_at: Option<Instant>,
    },
}

/// Whether a board is there.
#[derive(Debug)]
pub(super) struct Presence {
    state: State,
    /// Other clients may have the other board.
    yielded: bool,
}

/// What survives a restart. After it, no board has been heard of yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Absence {
    /// The other player was told that the board is away.
    told: bool,
    /// Other clients may have the other board.
    yielded: bool,
}

impl Presence {
    /// A board of which nothing has been heard since the start.
    pub fn unheard(now: Instant, before: Absence) -> Self {
        Self {
            state: State::Away {
                told: before.told,
                yields_at: (!before.yielded).then(|| now + AWAY_WAIT),
            },
            yielded: before.yielded,
        }
    }

    /// What survives a restart.
    pub fn absence(&self) -> Absence {
        Absence {
            told: matches!(self.state, State::Away { told: true, .. }),
            yielded: self.yielded,
        }
    }

    /// Notes that the other player is told of the board's absence. `false` if that player was told already.
    pub fn tell_away(&mut self) -> bool {
        match &mut self.state {
            State::Here => false,
            State::Away { told, .. } => !std::mem::replace(told, true),
        }
    }

    /// Whether it is not there, and the other player was told so.
    pub fn is_away(&self) -> bool {
        self.absence().told
    }

    /// Notes whether the board is there.
    pub fn seen(&mut self, now: Instant, here: bool) -> Option<Presently> {
        match (here, &self.state) {
            (true, State::Away { told, .. }) => {
                let back = told.then_some(Presently::Back);
                self.state = State::Here;
                back
            }
            (false, State::Here) => {
                self.state = State::Away {
                    told: true,
                    yields_at: Some(now + AWAY_WAIT),
                };
                Some(Presently::Left)
            }
            (true, State::Here) | (false, State::Away { .. }) => None,
        }
    }

    /// Whether other clients may have the other board.
    pub fn has_yielded(&self) -> bool {
        self.yielded
    }

    /// `Some` if the link's claim to the other board changes: whether other clients may have that board from now on.
    pub fn yields(&mut self, now: Instant) -> Option<bool> {
        match &mut self.state {
            State::Here => std::mem::take(&mut self.yielded).then_some(false),
            State::Away { yields_at, .. } => {
                yields_at.take_if(|at| *at <= now)?;
                self.yielded = true;
                Some(true)
            }
        }
    }

    /// When other clients may have the other board.
    pub fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Here => None,
            State::Away { yields_at, .. } => yields_at,
        }
    }
}
