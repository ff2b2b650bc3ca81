//! Observable events in the app.

use std::{fmt, time::Duration};

use shakmaty::Move;

use super::message::NewGame;
use crate::game::uci;

/// How long a handshake waits for its answer, and the distance between two (field notes: 200 ms each). Read as one and
/// the same time: that leaves a board the least.
pub const HANDSHAKE_WAIT: Duration = Duration::from_millis(200);
/// How often it asks again (field notes).
pub const RETRIES: u32 = 3;

/// What is to be seen in the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The link is up.
    Connected(String),
    /// The link is gone: the other end closed it.
    Disconnected,
    /// The app closed the link.
    HungUp,
    /// It asked the board for the handshake, for the n-th time.
    Asked(u32),
    /// The board answered as it should.
    Ready {
        /// The protocol's version, as it was sent.
        protocol: String,
        /// The board's version, without the spaces that fill it up.
        version: String,
        /// The board's serial number; may be empty.
        serial: String,
    },
    /// The board did not answer the handshake in time, however often it was asked.
    GaveUp,
    /// Input received instead of an answer to the handshake is not a line.
    Unreadable(String),
    /// The board's answer may not be as intended.
    Doubt(String),
    /// The board's answer is not a valid handshake.
    Failed(String),
    /// A line too short: the app reads nothing more over this link.
    Jammed,
    /// A new game was announced.
    NewGame(NewGame),
    /// A move was made in the app.
    Sent(Move),
    /// A move was made on the board.
    Made(Move),
    /// The end of the game was announced.
    Ended(char),
    /// Input from the board is wrong.
    Fault(String),
    /// The app could not carry out an order.
    Refused(String),
    /// The board left the game that the opponent plays.
    Astray,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected(place) => write!(f, "connected {place}"),
            Self::Disconnected => f.write_str("disconnected"),
            Self::HungUp => f.write_str("hung-up"),
            Self::Asked(times) => write!(f, "asked {times}"),
            Self::Ready {
                protocol,
                version,
                serial,
            } => write!(
                f,
                "ready protocol {protocol} version `{version}` serial `{serial}`"
            ),
            Self::GaveUp => write!(
                f,
                "gave-up: no H1 within {} ms, {} times: the speed, TX and RX, a board that is still starting? `connect` tries \
                 again",
                HANDSHAKE_WAIT.as_millis(),
                RETRIES + 1
            ),
            Self::Unreadable(what) => write!(f, "unreadable {what}"),
            Self::Doubt(what) => write!(f, "doubt {what}"),
            Self::Failed(why) => write!(f, "failed {why}"),
            Self::Jammed => f.write_str("jammed"),
            Self::NewGame(new) => write!(f, "new-game {new}"),
            Self::Sent(m) => write!(f, "sent {}", uci(*m)),
            Self::Made(m) => write!(f, "made {}", uci(*m)),
            Self::Ended(code) => write!(f, "ended {code}"),
            Self::Fault(what) => write!(f, "fault {what}"),
            Self::Refused(what) => write!(f, "refused {what}"),
            Self::Astray => f.write_str("astray"),
        }
    }
}
