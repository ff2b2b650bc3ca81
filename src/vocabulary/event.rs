//! What happens on a board.

use std::{fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use shakmaty::{fen::Fen, uci::UciMove};

use super::{
    board_kind::BoardKind,
    board_result::BoardResult,
    client_name::ClientName,
    game_end::GameEnd,
    judge::Judge,
    link_state::{UNHEARD, stranger},
};
use crate::{
    chess::{
        game::Game,
        guidance::{Action, in_short},
    },
    state::text,
};

/// Who made a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The hand, observed as it happened.
    Hand,
    /// The hand, while the board was away; learned afterwards.
    HandUnseen,
    /// The target: the move was shown on the board.
    Target,
}

/// What happened on a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The link is up.
    Connected,
    /// The link is lost.
    Disconnected {
        /// Why, and what to do.
        why: String,
    },
    /// The board answers.
    Answers {
        /// Its name and version, if reported.
        id: Option<String>,
    },
    /// A board that cannot be asked has sent nothing over this link yet.
    Unheard,
    /// The board has stopped answering.
    Silent,
    /// What is connected talks like another kind of board.
    #[serde(skip_deserializing)]
    Stranger {
        /// The kind.
        kind: BoardKind,
    },
    /// The board was switched off and on.
    Restarted,
    /// A move was made.
    Moved {
        /// The move.
        #[serde(with = "text")]
        uci: UciMove,
        /// Counted from 1.
        ply: usize,
        /// Who made it.
        by: By,
        /// How long the hand took for it, if that was seen.
        #[serde(with = "seconds", skip_serializing_if = "Option::is_none", default)]
        took: Option<Duration>,
    },
    /// What the player should do so that the pieces stand as they should; empty when they do.
    Guidance {
        /// The actions, in this order.
        actions: Arc<[Action]>,
    },
    /// A move was taken back.
    TookBack {
        /// The move.
        #[serde(with = "text")]
        uci: UciMove,
        /// Its ply, counted from 1.
        ply: usize,
        /// Who took it back.
        by: By,
    },
    /// The board stands at the start of a new game.
    NewGame {
        /// Who began it.
        by: By,
    },
    /// A position was given to the board, or set up on it by the hand.
    SetUp {
        /// The position.
        #[serde(with = "text")]
        fen: Fen,
    },
    /// The hand executed the move that was shown.
    Executed {
        /// The move.
        #[serde(with = "text")]
        uci: UciMove,
    },
    /// The hand did something that was not awaited.
    Mistake {
        /// What was done, and how to correct it.
        text: String,
    },
    /// What was wrong has been put right.
    Mended,
    /// The player asks, by a key of the board, to take the last move back.
    AsksTakeBack,
    /// The board reports that the game is over.
    Result {
        /// The result.
        result: BoardResult,
    },
    /// The game is over.
    Ended {
        /// How it ended.
        #[serde(flatten)]
        end: GameEnd,
        /// Who decided it.
        by: Judge,
    },
    /// The clients that have the board, or wait for it, have changed.
    Players {
        /// The clients that have it.
        have: Vec<ClientName>,
        /// The clients that wait for it.
        wait: Vec<ClientName>,
    },
    /// A client did something, or was refused something.
    Client {
        /// The client.
        client: ClientName,
        /// What it did, or what was refused to it.
        text: String,
    },
    /// The board is led to another game.
    Target {
        /// The game, or `None` if no client has the board.
        #[serde(with = "text::of_some", default)]
        game: Option<Arc<Game>>,
    },
    /// The board's battery charge.
    Battery {
        /// 0 to 100.
        percent: u8,
    },
    /// The board sent something that is not a message of its protocol.
    Unreadable {
        /// The data, printable and bounded.
        text: String,
    },
    /// The player's advice has changed.
    Advice {
        /// In words; empty for none.
        text: String,
    },
}

/// Seconds as a number.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "serde gives a reference")]
    pub fn serialize<S: Serializer>(
        value: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.map(super::rounded).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(deserializer)?;
        Ok(seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()))
    }
}

/// Seconds, to the millisecond: anything finer is noise.
pub fn rounded(time: Duration) -> f64 {
    Duration::new(time.as_secs(), time.subsec_millis() * 1_000_000).as_secs_f64()
}

impl Event {
    /// Whether it says nothing: empty advice or guidance.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Advice { text } => text.is_empty(),
            Self::Guidance { actions } => actions.is_empty(),
            _ => false,
        }
    }
}

/// Which clients play, and which wait.
fn players(f: &mut fmt::Formatter<'_>, have: &[ClientName], wait: &[ClientName]) -> fmt::Result {
    if have.is_empty() {
        f.write_str("the board is free")?;
    } else {
        write!(f, "the board is with {}", ClientName::join(have, " and "))?;
    }
    if wait.is_empty() {
        return Ok(());
    }
    write!(f, "; waiting for it: {}", ClientName::join(wait, ", "))
}

/// The last moves of a game, which are enough to recognise it.
fn shortened(game: &Game) -> String {
    const SHOWN: usize = 3;
    match game.len().checked_sub(SHOWN) {
        None | Some(0) => game.to_string(),
        Some(before) => {
            let last: Vec<String> = game
                .uci_moves()
                .skip(before)
                .map(|m| m.to_string())
                .collect();
            format!(
                "{}, {} plies: … {}",
                game.truncated(0),
                game.len(),
                last.join(" ")
            )
        }
    }
}

impl fmt::Display for Event {
    /// The form for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected => f.write_str("the port is open"),
            Self::Disconnected { why } => write!(f, "no link: {why}"),
            Self::Answers { id: Some(id) } => write!(f, "the board answers: {id}"),
            Self::Answers { id: None } => f.write_str("the board answers"),
            Self::Unheard => f.write_str(UNHEARD),
            Self::Silent => f.write_str("the board does not answer: is it switched on?"),
            Self::Stranger { kind } => f.write_str(&stranger(*kind)),
            Self::Restarted => f.write_str("the board was switched on"),
            Self::Moved { uci, ply, by, .. } => match by {
                By::Hand => write!(f, "ply {ply}: {uci}, by hand"),
                By::HandUnseen => write!(f, "ply {ply}: {uci}, by hand while the board was away"),
                By::Target => write!(f, "ply {ply}: {uci}, shown on the board"),
            },
            Self::TookBack { uci, ply, by } => match by {
                By::Hand | By::HandUnseen => write!(f, "ply {ply}: {uci} taken back by hand"),
                By::Target => write!(f, "ply {ply}: {uci} taken back for the program"),
            },
            Self::NewGame { .. } => f.write_str("new game"),
            Self::SetUp { fen } => write!(f, "position set up: {fen}"),
            Self::Executed { uci } => write!(f, "{uci} executed"),
            Self::Mistake { text } => f.write_str(text),
            Self::Mended => f.write_str("the pieces are in place again"),
            Self::AsksTakeBack => f.write_str("the player asks to take the last move back"),
            Self::Result { result } => write!(f, "the board says: {result}"),
            Self::Ended { end, .. } => write!(f, "the game is over: {end}"),
            Self::Players { have, wait } => players(f, have, wait),
            Self::Client { client, text } => write!(f, "{client}: {text}"),
            Self::Guidance { actions } => f.write_str(&in_short(actions)),
            Self::Target { game: Some(game) } => write!(f, "target: {}", shortened(game)),
            Self::Target { game: None } => f.write_str("no program has the board"),
            Self::Battery { percent } => write!(f, "battery: {percent} %"),
            Self::Unreadable { text } => write!(f, "unreadable: {text}"),
            Self::Advice { text } => f.write_str(text),
        }
    }
}
