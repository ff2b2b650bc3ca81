//! Whether a client is there and does something, and how long it keeps the board if not.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// A client that only looks on makes way after this long: it has not asked for a move, or has withdrawn that.
pub const LOOKS_ON: Duration = Duration::from_mins(1);
/// A client that plays makes way after this long without a sign of its own and without a move: players at a tournament
/// think for less.
pub const IDLE: Duration = Duration::from_hours(1);
/// A disconnected client makes way for other addresses after this long: a program that was started again, or a phone
/// that was out of reach, is back before.
pub const AWAY: Duration = Duration::from_mins(5);
/// A chess program makes way this long after its game ended: its own next game, or a take-back of the last move, is
/// usually stated before, and kings that were in the centre by mistake are put back.
pub const OVER: Duration = Duration::from_secs(5);

/// How long a client that had the board may take to come back after a restart of the daemon. A relay tries every 5 s at
/// most, and waits 15 s for an answer.
pub const RETURN_WAIT: Duration = Duration::from_secs(30);

/// Whether a client is connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Presence {
    /// It is connected.
    #[default]
    Here,
    /// It is disconnected, but may come back.
    Away,
    /// It had the board when the daemon ended, and has not come back yet.
    Returns,
}

/// Since when a client has done nothing at the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub(super) enum Rest {
    /// It has just done something.
    Stirs,
    /// Since then.
    Since(Instant),
    /// For so long that it keeps the board only until another client awaits a move. A client may also ask for this.
    MakesWay,
}

impl From<bool> for Rest {
    fn from(makes_way: bool) -> Self {
        if makes_way {
            Self::MakesWay
        } else {
            Self::Stirs
        }
    }
}

impl From<Rest> for bool {
    fn from(rest: Rest) -> Self {
        rest == Rest::MakesWay
    }
}
