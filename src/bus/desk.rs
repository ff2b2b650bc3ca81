//! What a player asks of the daemon itself: which boards are plugged in, add this one, let an engine play there.
//!
//! The daemon opens the desk; the API reads its state and sends wishes. Neither knows the other.

use std::{collections::BTreeMap, fmt, net::SocketAddr, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use crate::vocabulary::{Accept, AppWay, BoardKind, BoardName, TakeBacks};

/// Wishes that may wait: a person presses one button at a time.
const WISHES: usize = 8;
/// How long one may take: a serial port is asked for some 10 s what is connected to it.
pub const GRANT_WAIT: Duration = Duration::from_secs(17);

/// The key that unlocks a board, as it was entered: no log has it.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct BoardKey(pub String);

impl fmt::Debug for BoardKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoardKey")
    }
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Which boards are plugged in or in the air, and not used.
    Found,
    /// Use a board that was found.
    Add {
        /// Which one.
        id: String,
        /// How it is to be called; without one it is called as its kind is.
        name: Option<BoardName>,
        /// What it is, where that cannot be known; without it, it is asked.
        kind: Option<String>,
        /// The key that unlocks it, for a kind that has one.
        key: Option<BoardKey>,
    },
    /// Let the lamps of a board that was found run, to see which one it is. It is not added.
    Try {
        /// Which one.
        id: String,
        /// What it is, where that cannot be known; without it, it is asked.
        kind: Option<String>,
        /// The key that unlocks it, for a kind that has one.
        key: Option<BoardKey>,
    },
    /// No longer use a board that was added.
    Remove(BoardName),
    /// Give a board that was added another name.
    Rename {
        /// The name it has.
        from: BoardName,
        /// The name it gets.
        to: BoardName,
    },
    /// Give a board that was added this key; it has none any more if that is empty.
    Unlock(BoardName, BoardKey),
    /// Which engines are installed.
    Engines,
    /// Let an engine, or two people, play at a board.
    Play(BoardName, Play),
    /// End what plays at a board.
    Stop(BoardName),
    /// Let two boards play each other; the first one has White.
    Link([BoardName; 2]),
    /// End what links two boards.
    Unlink(String),
    /// Change a setting.
    Set(Setting),
}

/// A setting that is changed here, unless the main file has it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// Which chess programs may connect.
    Programs(Programs),
    /// Where games on Lichess are played.
    LichessBoard(BoardName),
    /// What is done with challenges on Lichess.
    LichessAccept(Accept),
    /// How take-back proposals on Lichess are answered.
    LichessTakeBacks(TakeBacks),
    /// The name of the player in saved games; none if it is empty.
    Player(String),
    /// The place of saved games; none if it is empty.
    Site(String),
    /// Whether each move of a running game is written at once.
    EveryMove(bool),
    /// The board that the `WhitePawn` app reaches by TCP; none if it is empty.
    WhitepawnTcp(String),
    /// The same by Bluetooth LE.
    WhitepawnBle(String),
    /// The same by Bluetooth Classic.
    WhitepawnRfcomm(String),
}

/// Which chess programs may connect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Programs {
    /// Those on this machine.
    #[default]
    Here,
    /// Those of the network, too.
    Network,
}

/// Who plays at a board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Play {
    /// The engine: one of those installed. Without one, two people play.
    pub engine: Option<String>,
    /// Its strength as a rating.
    pub elo: Option<u16>,
    /// Its strength as a level, 0 to 20.
    pub level: Option<u8>,
    /// What the hand plays: `white`, `black` or `alternate`.
    pub hand: Option<String>,
    /// The limit of its search, such as `movetime 1000`.
    pub go: Option<String>,
    /// The name of the one who plays White, of two people.
    pub white: Option<String>,
    /// The name of the one who plays Black, of two people.
    pub black: Option<String>,
}

/// A board that is plugged in or in the air, and not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Stays the same while it is there.
    pub id: String,
    /// What it is, or may be.
    pub kinds: Vec<BoardKind>,
    /// How it is reached: `serial`, `hid`, `ble` or `rfcomm`.
    pub transport: &'static str,
    /// What it calls itself, or its port.
    pub name: String,
    /// Why it is thought to be a board, and what to do.
    pub why: String,
}

/// An engine that is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Engine {
    /// Its program's name, such as `stockfish`.
    pub name: String,
    /// Its program.
    pub path: String,
}

/// The answer to a wish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Granted {
    /// The boards.
    Found(Vec<Found>),
    /// The engines.
    Engines(Vec<Engine>),
    /// The board, by the name it has now.
    Board {
        /// Its name.
        board: BoardName,
    },
    /// A board was tried.
    Tried {
        /// What it showed, in words, or what can be done instead.
        done: String,
        /// Whether its lamps ran.
        lamps: bool,
    },
    /// In words.
    Done {
        /// What was done.
        done: String,
    },
}

/// A kind of board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kind {
    /// Its name in the configuration.
    pub kind: BoardKind,
    /// What it is called.
    pub title: &'static str,
    /// How it can be reached, the usual way first.
    pub media: Vec<&'static str>,
    /// Whether a key unlocks it.
    pub key: bool,
}

/// What was added or started here, and may be ended here: all else is in the main file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Boards that were added.
    pub added: Vec<BoardName>,
    /// Those of them that a key unlocks.
    pub keyed: Vec<BoardName>,
    /// Boards at which an engine, or two people, were started.
    pub started: Vec<BoardName>,
    /// Links that were started.
    pub linked: Vec<String>,
    /// Boards whose opponent or link is in the main file, and is changed there.
    pub fixed: Vec<BoardName>,
    /// Which chess programs may connect.
    pub programs: Programs,
    /// Whether that is in the main file, and is changed there.
    pub programs_fixed: bool,
    /// Where they connect, if they can.
    pub programs_at: Option<SocketAddr>,
    /// Where games on Lichess are played, if there is a board for them.
    pub lichess_board: Option<BoardName>,
    /// The board that was named or chosen for that: it cannot be linked.
    pub lichess_chosen: Option<BoardName>,
    /// What is done with challenges on Lichess.
    pub lichess_accept: Accept,
    /// How take-back proposals on Lichess are answered.
    pub lichess_take_backs: TakeBacks,
    /// The keys of `[lichess]` that are in the main file, and are changed there.
    pub lichess_fixed: Vec<&'static str>,
    /// The keys of `[games]` that are in the main file, and are changed there.
    pub games_fixed: Vec<&'static str>,
    /// Which board the `WhitePawn` app reaches in which way.
    pub apps: BTreeMap<AppWay, BoardName>,
    /// The ways in which the main file lets it play on one.
    pub apps_fixed: Vec<&'static str>,
    /// Why some boards are not found, however near they are: a sentence each.
    pub unseen: Vec<String>,
    /// The kinds of boards that there are.
    pub kinds: Vec<Kind>,
}

/// Why a wish is not granted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// Nobody grants wishes: a demonstration, or a test.
    #[error(
        "this BoardBridge runs without a configuration file, and adds nothing: install it as a service"
    )]
    Closed,
    /// There is no such thing.
    #[error("{0}")]
    Missing(String),
    /// It is not possible now.
    #[error("{0}")]
    NotNow(String),
    /// It is not possible at all.
    #[error("{0}")]
    Bad(String),
    /// No answer came.
    #[error("that took more than {} s: look again", GRANT_WAIT.as_secs())]
    NoAnswer,
}

/// A wish, and where its answer goes.
#[derive(Debug)]
pub struct Wished {
    /// The wish.
    pub wish: Wish,
    /// Where the answer goes.
    pub answer: oneshot::Sender<Result<Granted, Refused>>,
}

#[derive(Debug)]
struct Open {
    standing: Arc<Standing>,
    wishes: mpsc::Sender<Wished>,
}

/// Where wishes are left, while somebody grants them.
#[derive(Clone, Debug, Default)]
pub struct Desk {
    open: Arc<watch::Sender<Option<Open>>>,
}

impl Desk {
    /// Opens it, until the clerk is dropped.
    pub fn open(&self) -> Clerk {
        let (wishes, wished) = mpsc::channel(WISHES);
        self.open.send_replace(Some(Open {
            standing: Arc::default(),
            wishes,
        }));
        Clerk {
            desk: self.clone(),
            wished,
        }
    }

    /// What was added or started here.
    pub fn standing(&self) -> Arc<Standing> {
        let open = self.open.borrow();
        open.as_ref()
            .map_or_else(Arc::default, |open| open.standing.clone())
    }

    /// Sends a wish, and waits for the answer.
    ///
    /// # Errors
    /// [`Refused`], in words.
    pub async fn ask(&self, wish: Wish) -> Result<Granted, Refused> {
        let wishes = self.open.borrow().as_ref().map(|open| open.wishes.clone());
        let wishes = wishes.ok_or(Refused::Closed)?;
        let (answer, answered) = oneshot::channel();
        let asked = async {
            let wished = Wished { wish, answer };
            wishes.send(wished).await.map_err(|_| Refused::Closed)?;
            answered.await.map_err(|_| Refused::Closed)?
        };
        timeout(GRANT_WAIT, asked)
            .await
            .unwrap_or(Err(Refused::NoAnswer))
    }
}

/// Who grants the wishes.
#[derive(Debug)]
pub struct Clerk {
    desk: Desk,
    wished: mpsc::Receiver<Wished>,
}

impl Clerk {
    /// Says what was added or started.
    pub fn stands(&self, standing: Standing) {
        self.desk.open.send_modify(|open| {
            if let Some(open) = open {
                open.standing = Arc::new(standing);
            }
        });
    }

    /// The next wish. Cancel safe.
    pub async fn wished(&mut self) -> Wished {
        match self.wished.recv().await {
            Some(wished) => wished,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Clerk {
    fn drop(&mut self) {
        self.desk.open.send_replace(None);
    }
}
