//! What Lichess sends: one JSON object per line, on the stream of events and on each game's stream.
//!
//! Only what is used is read; every other key, and every unknown kind of line, is ignored. What the published schemas do not
//! require is optional here.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

use super::status::{self, Status};
use crate::vocabulary;

/// The longest line read: that of a game of 600 moves has some 10 kB.
pub const MAX_LINE: usize = 64 * 1024;

/// The longest text kept of a line, in bytes: a position has up to 90, a name 30. The rest is cut off.
pub const MAX_TEXT: usize = 128;
/// The same for what someone says: 140 characters, of up to 4 bytes each.
pub const MAX_WORDS: usize = 640;
/// The key of the only text that may have any length, up to that of its line: all moves of a game.
const MOVES: &str = "moves";
/// The key of what someone says.
const WORDS: &str = "text";

/// A line of the stream of events.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Event {
    /// A game is running.
    GameStart {
        /// The game.
        game: GameInfo,
    },
    /// A game is over.
    GameFinish {
        /// The game.
        game: GameInfo,
    },
    /// A challenge, to this account or by it.
    Challenge {
        /// The challenge.
        challenge: Challenge,
        /// Which programs may play it.
        #[serde(default)]
        compat: Option<Compat>,
    },
    /// A challenge was withdrawn.
    ChallengeCanceled {
        /// The challenge.
        challenge: Challenge,
    },
    /// A challenge was declined.
    ChallengeDeclined {
        /// The challenge.
        challenge: Challenge,
    },
    /// Anything else.
    #[serde(other)]
    Unknown,
}

/// A game, as the stream of events describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GameInfo {
    /// Its identifier, used in every request about it.
    pub game_id: String,
    /// This account's colour.
    pub color: Option<String>,
    /// The position.
    pub fen: Option<String>,
    /// Its variant.
    pub variant: Option<Keyed>,
    /// `blitz`, `rapid`, `correspondence` …
    pub speed: Option<String>,
    /// The opponent.
    pub opponent: Option<Opponent>,
    /// Which programs may play it.
    pub compat: Option<Compat>,
    /// Its status.
    #[serde(default, deserialize_with = "status::read")]
    pub status: Option<Status>,
    /// Who has won.
    pub winner: Option<String>,
}

/// Which programs may play a game.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Compat {
    /// Whether boards may.
    pub board: Option<bool>,
}

/// An object of which only the key is used.
#[derive(Clone, Debug, Deserialize)]
pub struct Keyed {
    /// The key.
    pub key: Option<String>,
}

/// The opponent in a game.
#[derive(Clone, Debug, Deserialize)]
pub struct Opponent {
    /// Their name.
    pub username: Option<String>,
    /// The level of the computer.
    pub ai: Option<u8>,
}

/// A challenge.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Challenge {
    /// Its identifier.
    pub id: String,
    /// The player who made it.
    pub challenger: Option<User>,
    /// The player it is for.
    pub dest_user: Option<User>,
    /// Its variant.
    pub variant: Option<Keyed>,
    /// Whether it is rated.
    pub rated: Option<bool>,
    /// Its speed.
    pub speed: Option<String>,
    /// Its clock.
    pub time_control: Option<TimeControl>,
    /// `in` or `out`.
    pub direction: Option<String>,
    /// Why it was declined.
    pub decline_reason: Option<String>,
}

/// A clock, in a challenge.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeControl {
    /// In words, such as `10+5`; not every server and kind of challenge has it.
    pub show: Option<String>,
    /// What each player has, in seconds.
    pub limit: Option<u32>,
    /// What each move adds, in seconds.
    pub increment: Option<u32>,
    /// Days for each move, in correspondence.
    pub days_per_turn: Option<u8>,
}

impl TimeControl {
    /// In words, such as `10+5` or `3d`; `None` without a limit.
    pub fn words(&self) -> Option<String> {
        let clock = |limit| vocabulary::TimeControl::Clock {
            limit,
            increment: self.increment.unwrap_or(0),
        };
        let days = self.days_per_turn.map(vocabulary::TimeControl::Days);
        let known = self.limit.map(clock).or(days);
        self.show.clone().or_else(|| Some(known?.to_string()))
    }
}

/// A player.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Their name in lower case.
    pub id: Option<String>,
    /// Their name.
    pub name: Option<String>,
    /// Such as GM.
    pub title: Option<String>,
    /// Their rating.
    pub rating: Option<u32>,
    /// The level of the computer.
    pub ai_level: Option<u8>,
}

/// A line of the stream of a game.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Line {
    /// The whole game: the first line of each stream.
    GameFull(Box<GameFull>),
    /// The state of the game after a change.
    GameState(State),
    /// What someone says.
    ChatLine {
        /// `player` or `spectator`.
        #[serde(default)]
        room: Option<String>,
        /// The speaker.
        #[serde(default)]
        username: Option<String>,
        /// The words.
        #[serde(default)]
        text: Option<String>,
    },
    /// The opponent has left, or is back.
    #[serde(rename_all = "camelCase")]
    OpponentGone {
        /// Whether they are gone.
        gone: bool,
        /// When the win can be claimed.
        #[serde(default, deserialize_with = "count")]
        claim_win_in_seconds: Option<u64>,
    },
    /// Anything else.
    #[serde(other)]
    Unknown,
}

/// A whole game.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GameFull {
    /// Its variant.
    pub variant: Option<Keyed>,
    /// Its clock; `None` if it has none.
    pub clock: Option<Clock>,
    /// Its speed.
    pub speed: Option<String>,
    /// Whether it is rated.
    pub rated: Option<bool>,
    /// The tournament it belongs to.
    pub tournament_id: Option<String>,
    /// When it began, as Unix time in ms.
    pub created_at: Option<u64>,
    /// White.
    #[serde(default)]
    pub white: User,
    /// Black.
    #[serde(default)]
    pub black: User,
    /// Where it began: `startpos` or a FEN.
    pub initial_fen: Option<String>,
    /// Its state now.
    pub state: State,
}

/// The clock of a game.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Clock {
    /// The time to begin with, in ms.
    pub initial: Option<u64>,
    /// The time added for each move, in ms.
    pub increment: Option<u64>,
}

/// The state of a game.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct State {
    /// All moves, in UCI notation.
    #[serde(default)]
    pub moves: String,
    /// White's time in ms.
    #[serde(default, deserialize_with = "count")]
    pub wtime: Option<u64>,
    /// Black's time in ms.
    #[serde(default, deserialize_with = "count")]
    pub btime: Option<u64>,
    /// Its status; a game without one is being played.
    #[serde(default, deserialize_with = "status::read")]
    pub status: Option<Status>,
    /// Who has won.
    pub winner: Option<String>,
    /// White offers a draw.
    #[serde(default)]
    pub wdraw: bool,
    /// Black offers a draw.
    #[serde(default)]
    pub bdraw: bool,
    /// White proposes a take-back.
    #[serde(default)]
    pub wtakeback: bool,
    /// Black proposes a take-back.
    #[serde(default)]
    pub btakeback: bool,
    /// The time limit of the first move, while there is one.
    pub expiration: Option<Expiration>,
}

/// The time for the first move.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expiration {
    /// Passed so far, in ms.
    #[serde(default, deserialize_with = "count")]
    pub idle_millis: Option<u64>,
    /// Allowed, in ms.
    #[serde(default, deserialize_with = "count")]
    pub millis_to_move: Option<u64>,
}

/// The account.
#[derive(Clone, Debug, Deserialize)]
pub struct Me {
    /// Its name.
    pub username: String,
}

/// Lichess may send a negative time once it has run out: it counts as 0, so that the line stays readable.
fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(value.as_u64().or_else(|| value.as_i64().map(|_| 0)))
}

/// Reads a line. Its readers skip one that cannot be read: a single bad line stops no game. Texts are cut to [`MAX_TEXT`] or
/// [`MAX_WORDS`], because they are kept, shown and sent to every reader of the API.
///
/// # Errors
/// What serde says.
pub fn read<T: DeserializeOwned>(line: &[u8]) -> Result<T, serde_json::Error> {
    let mut value = serde_json::from_slice(line)?;
    shorten(&mut value, MAX_TEXT);
    T::deserialize(value)
}

/// Cuts every text in a value.
fn shorten(value: &mut Value, most: usize) {
    match value {
        Value::String(text) => text.truncate(text.floor_char_boundary(most)),
        Value::Array(values) => values.iter_mut().for_each(|value| shorten(value, most)),
        Value::Object(values) => {
            for (key, value) in values {
                shorten(
                    value,
                    match key.as_str() {
                        MOVES => usize::MAX,
                        WORDS => MAX_WORDS,
                        _ => MAX_TEXT,
                    },
                );
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
