//! The small messages: whether a daemon is there, the envelope of a command, its answer.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::settings::DaemonName;
use crate::{front_end::objects::timestamp, vocabulary::BoardName};

/// How often a daemon says that it is there.
pub const HEARTBEAT: Duration = Duration::from_secs(30);
/// A daemon that has not been heard for this long is away: three heartbeats.
pub const AWAY_AFTER: Duration = Duration::from_secs(90);
/// How long a command is good for: what somebody pressed must not come a minute later.
pub const COMMAND_LIFE: Duration = Duration::from_secs(10);
/// A command that claims to be good for longer than this is refused: it could be sent again by anybody until then.
pub const LONGEST_LIFE: Duration = Duration::from_mins(5);
/// The longest identifier of a command, in bytes.
pub const MAX_ID: usize = 64;
/// The largest command, in bytes: a game of the most moves in UCI notation takes 12 kB.
pub const MAX_COMMAND: usize = 32 * 1024;
/// The largest message taken, in bytes: the state of a board with the longest game takes some 115 kB.
pub const MAX_MESSAGE: u32 = 256 * 1024;

/// Who speaks for this daemon on the broker.
#[derive(Clone, Debug)]
pub struct Ours {
    /// Its name.
    pub daemon: DaemonName,
    /// Which start of it this is.
    pub epoch: u64,
}

/// Whether a daemon is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Online {
    /// Whether it is.
    pub online: bool,
    /// Which start of it: a later one has a higher number.
    #[serde(default)]
    pub epoch: u64,
    /// When it said so, by its clock.
    #[serde(default)]
    pub at: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
}

impl Online {
    /// What this daemon says of itself.
    pub fn of_ours(online: bool, epoch: u64, now: SystemTime) -> Self {
        Self {
            online,
            epoch,
            at: timestamp(now),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// When it said so.
    pub fn said_at(&self) -> Option<SystemTime> {
        humantime::parse_rfc3339_weak(&self.at).ok()
    }
}

/// The place of a command among those that one daemon says to a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The sender's name for the board: it may have the same board twice.
    pub of: BoardName,
    /// Grows when the sender says everything again; nothing of an earlier series counts then.
    pub series: u64,
    /// From 1 in each series, without gaps.
    pub number: u64,
}

/// A command on its way.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Envelope {
    /// Its identifier, of no other command of the sender.
    pub id: String,
    /// The sender: where the answer goes.
    pub from: DaemonName,
    /// When it is no longer good, RFC 3339 UTC. A message without it is refused.
    #[serde(default)]
    pub expires: String,
    /// The sender's epoch, if it has any.
    #[serde(default)]
    pub epoch: u64,
    /// Its place among those that the sender says to the board, if that matters.
    #[serde(default)]
    pub turn: Option<Turn>,
    /// What is said: [`super::orders`]. A message without it is refused.
    #[serde(default)]
    pub command: Value,
}

/// Why a command comes too late, or is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// `expires` is not a time.
    NoTime,
    /// It has expired.
    Expired,
    /// It is good for too long.
    TooLong,
}

impl Late {
    /// In words, for the sender.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoTime => "`expires` is not a time such as \"2026-01-31T12:00:00Z\"",
            Self::Expired => "the command has expired: is the clock of its sender right?",
            Self::TooLong => {
                "the command would be good for more than five minutes: is the clock of its sender right?"
            }
        }
    }
}

impl Envelope {
    /// Whether the command is good now, by the receiver's clock.
    ///
    /// # Errors
    /// [`Late`].
    pub fn is_good(&self, now: SystemTime) -> Result<SystemTime, Late> {
        let until = humantime::parse_rfc3339(&self.expires).map_err(|_| Late::NoTime)?;
        if until < now {
            Err(Late::Expired)
        } else if until
            .duration_since(now)
            .is_ok_and(|life| life > LONGEST_LIFE)
        {
            Err(Late::TooLong)
        } else {
            Ok(until)
        }
    }

    /// The JSON of a command of ours.
    pub fn write(
        id: &str,
        from: &DaemonName,
        epoch: u64,
        until: SystemTime,
        turn: &Turn,
        command: &Value,
    ) -> String {
        json!({
            "id": id,
            "from": from.as_str(),
            "epoch": epoch,
            "expires": timestamp(until),
            "turn": turn,
            "command": command,
        })
        .to_string()
    }
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The identifier of the command.
    pub id: String,
    /// It was taken.
    #[serde(default, skip_serializing_if = "is_false")]
    pub done: bool,
    /// Why it was not taken, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it was refused, by the clock of the daemon that did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Answer {
    /// The answer to this command, now.
    pub fn to(now: SystemTime, id: &str, outcome: Result<(), String>) -> Self {
        Self {
            id: id.to_owned(),
            done: outcome.is_ok(),
            at: outcome.is_err().then(|| timestamp(now)),
            error: outcome.err(),
        }
    }

    /// When it was refused.
    pub fn said_at(&self) -> Option<SystemTime> {
        humantime::parse_rfc3339(self.at.as_ref()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_good_for_a_while_by_the_receivers_clock() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000);
        let envelope = |life: i64| {
            let until = if life < 0 {
                now - Duration::from_secs(life.unsigned_abs())
            } else {
                now + Duration::from_secs(life.unsigned_abs())
            };
            let from = "hall-1".parse().unwrap();
            let turn = Turn {
                of: "far".parse().unwrap(),
                series: 1,
                number: 1,
            };
            let text = Envelope::write("1", &from, 5, until, &turn, &json!("ready"));
            serde_json::from_str::<Envelope>(&text).unwrap()
        };
        assert!(envelope(10).is_good(now).is_ok());
        assert_eq!(envelope(-1).is_good(now), Err(Late::Expired));
        assert_eq!(envelope(3_600).is_good(now), Err(Late::TooLong));
        let mut none = envelope(10);
        none.expires = "soon".to_owned();
        assert_eq!(none.is_good(now), Err(Late::NoTime));
    }

    #[test]
    fn an_answer_says_done_or_why_not() {
        let now = SystemTime::UNIX_EPOCH;
        let done = serde_json::to_string(&Answer::to(now, "7", Ok(()))).unwrap();
        assert_eq!(done, r#"{"id":"7","done":true}"#);
        let not = serde_json::to_string(&Answer::to(now, "7", Err("no".to_owned()))).unwrap();
        let words = r#"{"id":"7","error":"no","at":"1970-01-01T00:00:00.000Z"}"#;
        assert_eq!(not, words);
    }
}
