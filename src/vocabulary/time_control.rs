//! How much time a game on a server has, as it is asked for and told.

use std::{fmt, str::FromStr};

use serde::Deserialize;
use thiserror::Error;

/// A clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum TimeControl {
    /// Seconds for the game, and for each move.
    Clock {
        /// For the game.
        limit: u32,
        /// For each move.
        increment: u32,
    },
    /// Days for each move.
    Days(u8),
}

/// The text is not a clock.
#[derive(Debug, Error)]
#[error(
    "`{0}` is not a clock: write minutes and seconds for each move, such as 15+10, or days for each move, such as 3d"
)]
pub struct NoTimeControl(String);

impl TimeControl {
    /// Moves assumed per game when its length is estimated, as Lichess does.
    const MOVES: u32 = 40;
    /// A game that is estimated to take each player less than this, in seconds, is not rapid.
    const RAPID: u32 = 8 * 60;
    /// The same for blitz.
    const BLITZ: u32 = 3 * 60;

    /// Whether the estimated time of each player is shorter than this.
    fn is_shorter(self, seconds: u32) -> bool {
        match self {
            Self::Clock { limit, increment } => limit + Self::MOVES * increment < seconds,
            Self::Days(_) => false,
        }
    }

    /// Whether it is faster than rapid.
    pub fn is_fast(self) -> bool {
        self.is_shorter(Self::RAPID)
    }

    /// Whether it is faster than blitz.
    pub fn is_bullet(self) -> bool {
        self.is_shorter(Self::BLITZ)
    }
}

impl FromStr for TimeControl {
    type Err = NoTimeControl;

    fn from_str(text: &str) -> Result<Self, NoTimeControl> {
        let wrong = || NoTimeControl(text.chars().take(20).collect());
        if let Some(days) = text.strip_suffix('d') {
            let days = days.parse().ok();
            let days = days.filter(|days| [1, 2, 3, 5, 7, 10, 14].contains(days));
            return days.map(Self::Days).ok_or_else(wrong);
        }
        let (minutes, increment) = text.split_once('+').ok_or_else(wrong)?;
        // Lichess has no others below one minute and a half.
        let limit = match minutes {
            "0.25" | "1/4" => 15,
            "0.5" | "1/2" => 30,
            "0.75" | "3/4" => 45,
            "1.5" => 90,
            whole => {
                60 * whole
                    .parse::<u32>()
                    .ok()
                    .filter(|m| *m <= 180)
                    .ok_or_else(wrong)?
            }
        };
        let increment = increment.parse().ok().filter(|seconds| *seconds <= 180);
        let increment = increment.ok_or_else(wrong)?;
        Ok(Self::Clock { limit, increment })
    }
}

impl TryFrom<String> for TimeControl {
    type Error = NoTimeControl;

    fn try_from(text: String) -> Result<Self, NoTimeControl> {
        text.parse()
    }
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock { limit, increment } => {
                write!(f, "{}+{increment}", f64::from(*limit) / 60.0)
            }
            Self::Days(days) => write!(f, "{days}d"),
        }
    }
}
