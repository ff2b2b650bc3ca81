//! What is asked of Lichess.

use std::fmt;

use shakmaty::{Color, uci::UciMove};

use crate::{
    bus::account::{Level, NotDone, Side},
    vocabulary::TimeControl,
};

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Who this account is.
    Account,
    /// Something in a game.
    InGame(String, InGame),
    /// Something about a challenge.
    OfChallenge(String, OfChallenge),
    /// Challenge a player.
    Challenge {
        /// Their name.
        user: String,
        /// The clock.
        time: TimeControl,
        /// Whether it is rated.
        rated: bool,
        /// This account's colour.
        side: Side,
    },
    /// Challenge the computer.
    Computer {
        /// Its level.
        level: Level,
        /// The clock.
        time: TimeControl,
        /// This account's colour.
        side: Side,
    },
    /// Look for an opponent. The answer lasts until one is found.
    Seek {
        /// The clock.
        time: TimeControl,
        /// Whether it is rated.
        rated: bool,
        /// This account's colour.
        side: Side,
    },
}

/// What can be asked in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InGame {
    /// Make this move.
    Move(UciMove),
    /// Offer or accept a draw, or decline it.
    Draw(bool),
    /// Propose or accept a take-back, or decline it.
    TakeBack(bool),
    /// Resign.
    Resign,
    /// Leave a game that has hardly begun.
    Abort,
    /// Take the win: the opponent has left.
    ClaimVictory,
    /// Take half the time, in a tournament.
    Berserk,
}

/// What can be asked about a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfChallenge {
    /// Accept it.
    Accept,
    /// Decline it, for this reason, in one of the words that Lichess knows.
    Decline(&'static str),
    /// Withdraw it.
    Cancel,
}

impl Request {
    /// Whether it changes nothing.
    pub fn is_get(&self) -> bool {
        *self == Self::Account
    }

    /// The error if Lichess refuses the request in these words. In a game or for a challenge it may be accepted later; any other
    /// request has to be changed.
    pub fn refused(&self, words: &str) -> NotDone {
        let words = format!("Lichess refuses: {words}");
        match self {
            Self::Seek { time, .. } if time.is_fast() => NotDone::Refused(format!(
                "{words}. Boards may seek rapid and slower games: take 10+0 or longer, or challenge someone"
            )),
            Self::Seek { .. } | Self::Challenge { .. } | Self::Computer { .. } => {
                NotDone::Refused(words)
            }
            Self::Account | Self::InGame(..) | Self::OfChallenge(..) => NotDone::NotNow(words),
        }
    }

    /// Its path.
    pub fn path(&self) -> String {
        match self {
            Self::Account => "/api/account".to_owned(),
            Self::InGame(id, what) => format!("/api/board/game/{id}/{what}"),
            Self::OfChallenge(id, what) => format!("/api/challenge/{id}/{what}"),
            Self::Challenge { user, .. } => format!("/api/challenge/{user}"),
            Self::Computer { .. } => "/api/challenge/ai".to_owned(),
            Self::Seek { .. } => "/api/board/seek".to_owned(),
        }
    }

    /// Its body: keys and values, all of which need no escapes.
    pub fn form(&self) -> String {
        let clock = |time: &TimeControl| match *time {
            TimeControl::Clock { limit, increment } => {
                format!("clock.limit={limit}&clock.increment={increment}")
            }
            TimeControl::Days(days) => format!("days={days}"),
        };
        match self {
            Self::OfChallenge(_, OfChallenge::Decline(reason)) => format!("reason={reason}"),
            Self::Challenge {
                time, rated, side, ..
            } => format!("rated={rated}&{}&color={side}", clock(time)),
            Self::Computer { level, time, side } => {
                format!("level={level}&{}&color={side}", clock(time))
            }
            Self::Seek { time, rated, side } => match *time {
                TimeControl::Clock { limit, increment } => {
                    let minutes = f64::from(limit) / 60.0;
                    format!("rated={rated}&time={minutes}&increment={increment}&color={side}")
                }
                // Lichess assigns the colour itself.
                TimeControl::Days(days) => format!("rated={rated}&days={days}"),
            },
            _ => String::new(),
        }
    }
}

impl fmt::Display for InGame {
    /// The end of its path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let yes = |yes: bool| if yes { "yes" } else { "no" };
        match self {
            Self::Move(m) => write!(f, "move/{m}"),
            Self::Draw(agree) => write!(f, "draw/{}", yes(*agree)),
            Self::TakeBack(agree) => write!(f, "takeback/{}", yes(*agree)),
            Self::Resign => f.write_str("resign"),
            Self::Abort => f.write_str("abort"),
            Self::ClaimVictory => f.write_str("claim-victory"),
            Self::Berserk => f.write_str("berserk"),
        }
    }
}

impl fmt::Display for OfChallenge {
    /// The end of its path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accept => "accept",
            Self::Decline(_) => "decline",
            Self::Cancel => "cancel",
        })
    }
}

/// The colour of this name.
pub fn color(name: &str) -> Option<Color> {
    match name {
        "white" => Some(Color::White),
        "black" => Some(Color::Black),
        _ => None,
    }
}

/// Whether a name from outside is safe in a path: it cannot lead to another address.
pub fn is_plain(name: &str) -> bool {
    const LONGEST: usize = 40;
    (1..=LONGEST).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}
