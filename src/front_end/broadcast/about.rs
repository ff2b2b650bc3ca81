//! What is known of a round, and of a game beside its moves.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use shakmaty::ByColor;

use crate::{bus::pairings::Player, text::escape::is_plain};

/// The longest name of an event or a round, and the longest words of an error, in characters (Lichess: 140 for a
/// tag).
const MAX_WORDS: usize = 140;

/// What is known of the round on the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The broadcast's name.
    pub event: Option<String>,
    /// The round's name.
    pub round: Option<String>,
    /// How long the server itself holds moves back, if it says.
    pub delay: Option<Duration>,
}

impl About {
    /// Reads the server's answer.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(answer: &str) -> Result<Self, serde_json::Error> {
        let answer: Value = serde_json::from_str(answer)?;
        let words = |value: &Value| Some(short(value.as_str()?));
        Ok(Self {
            event: words(&answer["tour"]["name"]),
            round: words(&answer["round"]["name"]),
            delay: answer["round"]["delay"].as_u64().map(Duration::from_secs),
        })
    }
}

/// What is known of a game beside its moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    /// Its number for servers that do not know `GameId`.
    pub number: String,
    /// When its first move was seen.
    pub began: Option<SystemTime>,
    /// Where it is played, if a front-end knows.
    pub site: Option<String>,
    /// The players, as far as a front-end knows them.
    #[serde(with = "crate::bus::pairings::sides")]
    pub players: ByColor<Option<Player>>,
}

/// Words of the server's, for the log and for tags.
pub(super) fn short(words: &str) -> String {
    let plain = words.chars().map(|c| if is_plain(c) { c } else { '?' });
    plain.take(MAX_WORDS).collect()
}
