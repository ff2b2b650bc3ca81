//! The account with which a board plays on a server: its state, and requests of the API.
//!
//! The front-end that plays there opens it; the API reads its state and sends requests. Neither knows the other.

use std::{fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use crate::vocabulary::{BoardName, TimeControl};

/// Requests that may wait: a person presses one button at a time.
const ASKS: usize = 8;
/// How long an answer may take: the server has 8 s for the request that is under way, and 8 s for this one.
pub const ANSWER_WAIT: Duration = Duration::from_secs(17);

/// A colour to play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// White.
    White,
    /// Black.
    Black,
    /// Either.
    #[default]
    Random,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::White => "white",
            Self::Black => "black",
            Self::Random => "random",
        })
    }
}

/// The strength of the server's computer: 1 to 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u8")]
pub struct Level(u8);

impl TryFrom<u8> for Level {
    type Error = String;

    fn try_from(level: u8) -> Result<Self, String> {
        if (1..=8).contains(&level) {
            Ok(Self(level))
        } else {
            Err(format!("the computer has no level {level}: take 1 to 8"))
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What can be asked of the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Look for an opponent.
    Seek {
        /// The clock.
        time: TimeControl,
        /// Whether it is rated.
        rated: bool,
        /// The colour to play.
        side: Side,
    },
    /// No longer look for an opponent, and withdraw challenges.
    Withdraw,
    /// Challenge a player.
    Challenge {
        /// Their name.
        user: String,
        /// The clock.
        time: TimeControl,
        /// Whether it is rated.
        rated: bool,
        /// The colour to play.
        side: Side,
    },
    /// Play the computer.
    Computer {
        /// Its strength.
        level: Level,
        /// The clock.
        time: TimeControl,
        /// The colour to play.
        side: Side,
    },
    /// Accept this challenge, or the only one.
    Accept(Option<String>),
    /// Decline this challenge, or the only one.
    Decline(Option<String>),
}

/// A challenge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Challenge {
    /// Its identifier.
    pub id: String,
    /// Whether the account has made it.
    pub own: bool,
    /// The other player.
    pub player: String,
    /// Their rating.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<u32>,
    /// The clock, such as `15+10`.
    pub time: String,
    /// Whether it is rated.
    pub rated: bool,
    /// Why it cannot be played on a board.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
}

/// A game that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Running {
    /// Its identifier.
    pub id: String,
    /// The opponent.
    pub opponent: String,
    /// Its speed, such as `rapid`.
    pub speed: String,
    /// Whether it is played on the board.
    pub on_board: bool,
    /// Why it cannot be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
}

/// The state of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// The board it plays with.
    pub board: BoardName,
    /// The server.
    pub url: String,
    /// The player's name there, once known.
    pub user: Option<String>,
    /// Whether the server is connected.
    pub connected: bool,
    /// What is wrong, and what to do.
    pub problem: Option<String>,
    /// The clock of the search for an opponent, if there is one.
    pub seek: Option<String>,
    /// Open challenges.
    pub challenges: Vec<Challenge>,
    /// Games that run.
    pub games: Vec<Running>,
    /// The last message about the game, or about a request.
    pub last: Option<String>,
}

/// Why something is not done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotDone {
    /// No account is configured, and no one is logged in.
    #[error(
        "no Lichess account plays here: log in on the page, under Settings, or with `boardbridge lichess login`"
    )]
    NoAccount,
    /// It cannot be done now.
    #[error("{0}")]
    NotNow(String),
    /// The request is invalid: the server says why.
    #[error("{0}")]
    Refused(String),
    /// No answer came.
    #[error("the server has not answered within {} s: try again", ANSWER_WAIT.as_secs())]
    NoAnswer,
}

impl From<String> for NotDone {
    fn from(words: String) -> Self {
        Self::NotNow(words)
    }
}

/// What was asked, and where the answer goes: in words.
#[derive(Debug)]
pub struct Asked {
    /// The request.
    pub ask: Ask,
    /// Where the answer goes.
    pub answer: oneshot::Sender<Result<String, NotDone>>,
}

#[derive(Debug)]
struct Open {
    standing: Arc<Standing>,
    asks: mpsc::Sender<Asked>,
}

/// The account, while one is open.
#[derive(Clone, Debug, Default)]
pub struct Account {
    open: Arc<watch::Sender<Option<Open>>>,
}

impl Account {
    /// Opens it, until the holder is dropped.
    pub fn open(&self, standing: Standing) -> Holder {
        let (asks, asked) = mpsc::channel(ASKS);
        let standing = Arc::new(standing);
        self.open.send_replace(Some(Open {
            standing,
            asks: asks.clone(),
        }));
        Holder {
            account: self.clone(),
            own: asks,
            asked,
        }
    }

    /// The state of the account, if one is open.
    pub fn standing(&self) -> Option<Arc<Standing>> {
        let open = self.open.borrow();
        open.as_ref().map(|open| open.standing.clone())
    }

    /// The account's changes from now on.
    pub fn changes(&self) -> Changes {
        Changes(self.open.subscribe())
    }

    /// Sends a request, and waits for the answer, in words.
    ///
    /// # Errors
    /// [`NotDone`], in words.
    pub async fn ask(&self, ask: Ask) -> Result<String, NotDone> {
        let asks = self.open.borrow().as_ref().map(|open| open.asks.clone());
        let asks = asks.ok_or(NotDone::NoAccount)?;
        let (answer, answered) = oneshot::channel();
        let asked = async {
            let gone = |_| NotDone::NoAccount;
            asks.send(Asked { ask, answer })
                .await
                .map_err(|_| NotDone::NoAccount)?;
            answered.await.map_err(gone)?
        };
        timeout(ANSWER_WAIT, asked)
            .await
            .unwrap_or(Err(NotDone::NoAnswer))
    }
}

/// Changes of the account.
#[derive(Debug)]
pub struct Changes(watch::Receiver<Option<Open>>);

impl Changes {
    /// Waits for the next one. Cancel safe.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            // The account ends with the daemon.
            std::future::pending::<()>().await;
        }
    }
}

/// The front-end's handle to the open account.
#[derive(Debug)]
pub struct Holder {
    account: Account,
    own: mpsc::Sender<Asked>,
    asked: mpsc::Receiver<Asked>,
}

impl Holder {
    /// Sets the state; waiters are woken only if it has changed.
    pub fn stands(&self, standing: Standing) {
        self.account.open.send_if_modified(|open| {
            let own = open
                .as_mut()
                .filter(|open| open.asks.same_channel(&self.own));
            own.is_some_and(|open| {
                let changed = *open.standing != standing;
                if changed {
                    open.standing = Arc::new(standing);
                }
                changed
            })
        });
    }

    /// The next request. Cancel safe.
    pub async fn asked(&mut self) -> Asked {
        match self.asked.recv().await {
            Some(asked) => asked,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.account.open.send_if_modified(|open| {
            let own = open
                .as_ref()
                .is_some_and(|open| open.asks.same_channel(&self.own));
            if own {
                *open = None;
            }
            own
        });
    }
}
