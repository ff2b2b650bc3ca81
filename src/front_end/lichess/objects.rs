//! What Lichess sends: one JSON object a line, on the stream of events and on that of a game.
//!
//! Only what is used is read; every other key, and every unknown kind of line, is ignored. What the published schemas do not
//! require is optional here.

use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::status::{self, Status};

/// The longest line read: that of a game of 600 moves has some 10 kB.
pub const MAX_LINE: usize = 64 * 1024;

/// The longest text that is taken from it, in bytes: a position has up to 90, a name 30. The rest is left out.
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
    /// A game runs.
    GameStart {
        /// It.
        game: GameInfo,
    },
    /// A game is over.
    GameFinish {
        /// It.
        game: GameInfo,
    },
    /// A challenge, to this account or by it.
    Challenge {
        /// It.
        challenge: Challenge,
        /// Who may play it.
        #[serde(default)]
        compat: Option<Compat>,
    },
    /// A challenge was withdrawn.
    ChallengeCanceled {
        /// It.
        challenge: Challenge,
    },
    /// A challenge was declined.
    ChallengeDeclined {
        /// It.
        challenge: Challenge,
    },
    /// Anything else.
    #[serde(other)]
    Unknown,
}

/// What the stream of events has of a game.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GameInfo {
    /// Its name, with which everything is asked.
    pub game_id: String,
    /// This account's colour.
    pub color: Option<String>,
    /// The position.
    pub fen: Option<String>,
    /// Where it is from: `pool`, `friend`, `ai` …
    pub source: Option<String>,
    /// Its variant.
    pub variant: Option<Keyed>,
    /// `blitz`, `rapid`, `correspondence` …
    pub speed: Option<String>,
    /// The opponent.
    pub opponent: Option<Opponent>,
    /// Who may play it.
    pub compat: Option<Compat>,
    /// How it stands.
    #[serde(default, deserialize_with = "status::read")]
    pub status: Option<Status>,
    /// Who has won.
    pub winner: Option<String>,
}

/// Which programs may play a game.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Compat {
    /// Boards may.
    pub board: Option<bool>,
}

/// Something with a key.
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
    /// Its name.
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
    /// The challenger's colour: `white`, `black`, `random`.
    pub color: Option<String>,
    /// `in` or `out`.
    pub direction: Option<String>,
    /// Why it was declined.
    pub decline_reason: Option<String>,
}

/// A clock, in a challenge.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeControl {
    /// In words, such as `10+5`.
    pub show: Option<String>,
    /// Days for each move, in correspondence.
    pub days_per_turn: Option<u8>,
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
    /// How the game stands now.
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
    /// Its name.
    pub id: String,
    /// Its variant.
    pub variant: Option<Keyed>,
    /// Its clock; `None` for none.
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
    /// How it stands.
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

/// How a game stands.
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
    /// How it stands; being played if it does not say.
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
    /// The first move has to come in time.
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
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Me {
    /// Its name.
    pub username: String,
}

/// A time that has run out may be told as less than nothing, and must not make the whole line unreadable.
fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(value.as_u64().or_else(|| value.as_i64().map(|_| 0)))
}

/// Reads a line. One that cannot be read is like an unknown one: a single bad line stops no game. Texts are cut to what the
/// server's own may have: they are kept, shown and sent to every reader of the API.
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
