//! Whether a board is there, and whether its absence has been told and waited for.

use std::time::{Duration, Instant};

/// How long a board is awaited before the link makes way for others on the other board: longer than a radio needs to
/// find a board again, shorter than a player waits for nothing.
pub const AWAY_WAIT: Duration = Duration::from_mins(1);

/// What has changed about a board's presence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presently {
    /// It has gone.
    Left,
    /// It is back, and it was told that it had gone.
    Back,
}

#[derive(Debug)]
enum State {
    Here,
    Away {
        /// The other player has been told.
        told: bool,
        /// When others may have the other board.
        yields_at: Option<Instant>,
    },
}

/// Whether a board is there.
#[derive(Debug)]
pub(super) struct Presence {
    state: State,
    /// Others may have the other board.
    yielded: bool,
}

impl Presence {
    /// A board that has not been heard of.
    pub fn unheard(now: Instant) -> Self {
        Self {
            state: State::Away {
                told: false,
                yields_at: Some(now + AWAY_WAIT),
            },
            yielded: false,
        }
    }

    /// Whether the board is there.
    pub fn is_here(&self) -> bool {
        matches!(self.state, State::Here)
    }

    /// The other player is told that the board is not there. `false` if that was said already.
    pub fn tell_away(&mut self) -> bool {
        match &mut self.state {
            State::Here => false,
            State::Away { told, .. } => !std::mem::replace(told, true),
        }
    }

    /// Takes in whether the board is there.
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

    /// Whether others may have the other board.
    pub fn has_yielded(&self) -> bool {
        self.yielded
    }

    /// Whether the other board's claim is to be changed: nothing, or whether others may have it now.
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

    /// When others may have the other board.
    pub fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Here => None,
            State::Away { yields_at, .. } => yields_at,
        }
    }
}
