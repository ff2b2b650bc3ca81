//! Who plays whom at each board, where a front-end knows more of the game than the board does: names, clocks, offers.
//!
//! A front-end that plays against the hand enters a [`Pairing`] and keeps its [`Entry`]: it changes the pairing there,
//! and receives what the player says to the opponent by a button of the page or by a command. Dropping the entry removes the
//! pairing; that of a game that is over can still be asked for.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, Color};
use thiserror::Error;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use super::chat::Chat;
use crate::{
    chess::game::Game,
    vocabulary::{BoardName, ClientName, Clocks, Evaluation, Snapshot},
};

/// Sayings that may wait for one opponent: a person presses one button at a time.
const SAYINGS: usize = 8;
/// How long an opponent may take to answer: the server of a game may be far away.
pub const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// What the player says to the opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Saying {
    /// Begin: the pieces stand as they should.
    Ready,
    /// A new game.
    NewGame,
    /// Offers a draw, or accepts the opponent's offer.
    Draw,
    /// Proposes to take the last move back, or agrees to that.
    TakeBack,
    /// Declines what the opponent offers.
    Decline,
    /// Resigns.
    Resign,
    /// Leaves a game that has hardly begun.
    Abort,
    /// Takes half the time, for another point of a tournament.
    Berserk,
}

impl Saying {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Ready,
        Self::NewGame,
        Self::Draw,
        Self::TakeBack,
        Self::Decline,
        Self::Resign,
        Self::Abort,
        Self::Berserk,
    ];
}

impl fmt::Display for Saying {
    /// The name in the API.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready => "ready",
            Self::NewGame => "new-game",
            Self::Draw => "draw",
            Self::TakeBack => "take-back",
            Self::Decline => "decline",
            Self::Resign => "resign",
            Self::Abort => "abort",
            Self::Berserk => "berserk",
        })
    }
}

/// One side of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// The name, for people and for PGN.
    pub name: String,
    /// The title, such as GM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The rating.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<u32>,
}

/// The clocks, and the moment at which they showed that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClocksAt {
    /// The clocks.
    pub clocks: Clocks,
    /// The moment.
    pub at: SystemTime,
}

/// Who plays whom, and the state of the game that the board does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pairing {
    /// The client whose game it is, by its name at the board. While another client has the board, that one's game is
    /// played there.
    pub client: Option<ClientName>,
    /// The game, once it is over.
    pub over: Option<Game>,
    /// The players, as far as their names are known.
    #[serde(with = "sides")]
    pub players: ByColor<Option<Player>>,
    /// The hand's colour; `None` if it plays both.
    #[serde(skip)]
    pub hand: Option<Color>,
    /// The event, for PGN.
    pub event: Option<String>,
    /// When the game began, if the opponent's side knows.
    pub began: Option<SystemTime>,
    /// Where the game is played, for PGN: an address if it has one.
    pub site: Option<String>,
    /// The clocks, if there are any.
    #[serde(skip)]
    pub clocks: Option<ClocksAt>,
    /// What each side had left after each of its moves, from the first ply, if that is known.
    pub clock_times: Vec<Option<Duration>>,
    /// What an engine that plays makes of the position. Nobody else may be told, so only an engine's own is here.
    #[serde(skip)]
    pub evaluation: Option<Evaluation>,
    /// What the opponent offers now: a draw, or to take back.
    #[serde(skip)]
    pub offer: Option<Saying>,
    /// The last lines from the opponent or the server.
    #[serde(skip)]
    pub chat: Chat,
    /// What the player should know: the opponent has left, for instance.
    #[serde(skip)]
    pub notice: Option<String>,
    /// What the player can say now.
    #[serde(skip)]
    pub can: Vec<Saying>,
}

impl Pairing {
    /// Whether it is about the game that is played on a board, or was played there last.
    pub fn is_of(&self, board: &Snapshot) -> bool {
        let has_it = self.client.as_ref().is_none_or(|client| {
            let is_like = |holder: &ClientName| holder.is_like(client);
            board.holders.iter().any(is_like)
        });
        match &self.over {
            None => has_it,
            // A client whose game is over leaves the board.
            Some(over) => (has_it || board.holders.is_empty()) && over == board.played(),
        }
    }
}

/// The two sides are kept as a pair, for serde.
pub mod sides {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use shakmaty::ByColor;

    use super::Player;

    /// # Errors
    /// The errors of the serializer.
    pub fn serialize<S: Serializer>(
        ByColor { white, black }: &ByColor<Option<Player>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        (white, black).serialize(serializer)
    }

    /// # Errors
    /// If the value is not a pair of players.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<ByColor<Option<Player>>, D::Error> {
        let (white, black) = Deserialize::deserialize(deserializer)?;
        Ok(ByColor { white, black })
    }
}

/// Why something could not be said, in words with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotSaid {
    /// There is no opponent.
    #[error("there is no opponent at {0} who could be told")]
    Nobody(BoardName),
    /// The opponent cannot be told this now.
    #[error("{0}")]
    NotNow(String),
    /// No answer came.
    #[error("the opponent has not answered within {} s: try again", ANSWER_WAIT.as_secs())]
    NoAnswer,
}

/// What was said, and the channel for the answer: an error says why it is impossible, and what to do.
#[derive(Debug)]
pub struct Said {
    /// What the player said.
    pub saying: Saying,
    /// Where the answer goes.
    pub answer: oneshot::Sender<Result<(), String>>,
}

#[derive(Debug)]
struct Listed {
    pairing: Arc<Pairing>,
    /// Who hears the player, which is also whose it is; nobody if this is the pairing of another daemon.
    sayings: Option<mpsc::Sender<Said>>,
}

impl Listed {
    fn is_of(&self, entry: &Entry) -> bool {
        let own = |sayings: &mpsc::Sender<Said>| sayings.same_channel(&entry.own);
        self.sayings.as_ref().is_some_and(own)
    }
}

/// All pairings, at most one a board: the last that was entered. Beside it, at most one of a game that is over.
#[derive(Clone, Debug, Default)]
pub struct Pairings {
    listed: Arc<watch::Sender<BTreeMap<BoardName, Listed>>>,
    left: Arc<Mutex<BTreeMap<BoardName, Arc<Pairing>>>>,
}

impl Pairings {
    /// Lists a pairing until its entry is dropped.
    pub fn enter(&self, board: BoardName, pairing: Pairing) -> Entry {
        let (sayings, said) = mpsc::channel(SAYINGS);
        self.listed.send_modify(|listed| {
            let before = listed.remove(&board);
            self.leave(&board, before.map(|before| before.pairing));
            let entered = Listed {
                pairing: Arc::new(pairing),
                sayings: Some(sayings.clone()),
            };
            listed.insert(board.clone(), entered);
        });
        Entry {
            pairings: self.clone(),
            board,
            own: sayings,
            said,
        }
    }

    /// The pairing at a board.
    pub fn at(&self, board: &BoardName) -> Option<Arc<Pairing>> {
        let listed = self.listed.borrow();
        listed.get(board).map(|listed| listed.pairing.clone())
    }

    /// The pairing that another daemon has for its board, or none; unless a front-end here plays there.
    pub fn mirror(&self, board: &BoardName, pairing: Option<Pairing>) {
        self.listed.send_if_modified(|listed| {
            let before = listed.get(board);
            let is_ours = before.is_some_and(|before| before.sayings.is_some());
            let known = before.map(|before| &*before.pairing);
            if is_ours || known == pairing.as_ref() {
                return false;
            }
            let before = listed.remove(board);
            self.leave(board, before.map(|before| before.pairing));
            if let Some(pairing) = pairing {
                let mirrored = Listed {
                    pairing: Arc::new(pairing),
                    sayings: None,
                };
                listed.insert(board.clone(), mirrored);
            }
            true
        });
    }

    /// Whether a front-end here plays at a board, and hears the player.
    pub fn hears(&self, board: &BoardName) -> bool {
        let listed = self.listed.borrow();
        listed
            .get(board)
            .is_some_and(|listed| listed.sayings.is_some())
    }

    /// The pairing of the game that a board holds, also after its entry was dropped, once the game was over.
    pub fn of_game(&self, board: &Snapshot) -> Option<Arc<Pairing>> {
        let now = self.at(&board.board);
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let mut both = now.into_iter().chain(left.get(&board.board).cloned());
        both.find(|pairing| pairing.is_of(board))
    }

    /// The pairing that is shown at a board: also that of the game on it, once that is over and its front-end has left.
    pub fn shown(&self, board: &Snapshot) -> Option<Arc<Pairing>> {
        self.at(&board.board).or_else(|| self.of_game(board))
    }

    /// A front-end has left the game on a board. It is remembered if it is over: nobody hears the player any more.
    pub fn leave(&self, board: &BoardName, pairing: Option<Arc<Pairing>>) {
        if let Some(mut pairing) = pairing.filter(|pairing| pairing.over.is_some()) {
            Arc::make_mut(&mut pairing).can.clear();
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            left.insert(board.clone(), pairing);
        }
    }

    /// Wakes waiters whenever a pairing has come, gone or changed.
    pub fn changes(&self) -> Changes {
        Changes(self.listed.subscribe())
    }

    /// Says something to the opponent at a board, and waits for the answer.
    ///
    /// # Errors
    /// [`NotSaid`], in words for the player.
    pub async fn say(&self, board: &BoardName, saying: Saying) -> Result<(), NotSaid> {
        let nobody = || NotSaid::Nobody(board.clone());
        let sayings = self
            .listed
            .borrow()
            .get(board)
            .and_then(|listed| listed.sayings.clone())
            .ok_or_else(nobody)?;
        let (answer, answered) = oneshot::channel();
        let said = async {
            let said = Said { saying, answer };
            sayings.send(said).await.map_err(|_| nobody())?;
            let answer = answered.await.map_err(|_| nobody())?;
            answer.map_err(NotSaid::NotNow)
        };
        timeout(ANSWER_WAIT, said)
            .await
            .unwrap_or(Err(NotSaid::NoAnswer))
    }
}

/// Changes to the pairings.
#[derive(Debug)]
pub struct Changes(watch::Receiver<BTreeMap<BoardName, Listed>>);

impl Changes {
    /// Waits until something has changed since this was last asked, or since the beginning. Cancel safe.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            // The list ends with the daemon.
            std::future::pending::<()>().await;
        }
    }
}

/// A front-end's place in the list.
#[derive(Debug)]
pub struct Entry {
    pairings: Pairings,
    board: BoardName,
    own: mpsc::Sender<Said>,
    said: mpsc::Receiver<Said>,
}

impl Entry {
    /// Changes the pairing; waiters are woken only if that makes a difference.
    pub fn change(&self, change: impl FnOnce(&mut Pairing)) {
        self.pairings.listed.send_if_modified(|listed| {
            let Some(listed) = listed.get_mut(&self.board) else {
                return false;
            };
            if !listed.is_of(self) {
                return false;
            }
            let mut pairing = Pairing::clone(&listed.pairing);
            change(&mut pairing);
            let changed = pairing != *listed.pairing;
            if changed {
                listed.pairing = Arc::new(pairing);
            }
            changed
        });
    }

    /// Nobody goes on with this game at the board: what is known of it stays until another is played. A game without a move is
    /// forgotten at once.
    pub fn leaves(&self, game: &Game) {
        self.change(|pairing| {
            if pairing.over.is_none() && !game.is_empty() {
                pairing.over = Some(game.clone());
                pairing.notice = None;
            }
        });
    }

    /// What the player says next. Cancel safe.
    pub async fn said(&mut self) -> Said {
        match self.said.recv().await {
            Some(said) => said,
            // Another front-end plays at the board now.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.pairings.listed.send_if_modified(|listed| {
            if !listed
                .get(&self.board)
                .is_some_and(|listed| listed.is_of(self))
            {
                return false;
            }
            let removed = listed.remove(&self.board);
            let pairing = removed.map(|listed| listed.pairing);
            self.pairings.leave(&self.board, pairing);
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board() -> BoardName {
        "neo".parse().unwrap()
    }

    #[test]
    fn a_game_has_the_players_of_whoever_has_the_board_or_left_it() {
        let mut standing = Snapshot::new(board());
        let of = |client: ClientName| Pairing {
            client: Some(client),
            ..Pairing::default()
        };
        // Somebody comes to a board with another game on it.
        let engine = of(ClientName::Engine("Stockfish 17".into()));
        assert!(!engine.is_of(&standing));
        standing.holders = vec![ClientName::Engine("".into())];
        assert!(engine.is_of(&standing));
        let lichess = of(ClientName::Lichess);
        assert!(!lichess.is_of(&standing));
        standing.holders = vec![ClientName::Lichess.elsewhere("hall-1")];
        assert!(lichess.is_of(&standing) && !engine.is_of(&standing));
        // Whoever leaves a game is still who played it, until another one is played.
        let pairings = Pairings::default();
        let start = Arc::new(Game::standard());
        let mut played = Game::standard();
        played.play_uci(["e2e4"]).unwrap();
        standing.game = Arc::new(played);
        standing.holders = Vec::new();
        let leaves = |game: &Game| {
            let entry = pairings.enter(board(), engine.clone());
            entry.leaves(game);
        };
        leaves(&standing.game);
        assert!(pairings.of_game(&standing).is_some());
        standing.game = start.clone();
        assert!(pairings.of_game(&standing).is_none());
        // Nobody has played a game without a move.
        leaves(&start);
        assert!(pairings.of_game(&standing).is_none());
    }

    #[tokio::test]
    async fn what_the_player_says_reaches_the_opponent_and_its_answer_comes_back() {
        let pairings = Pairings::default();
        let mut entry = pairings.enter(board(), Pairing::default());
        let opponent = async {
            let said = entry.said().await;
            assert_eq!(said.saying, Saying::Draw);
            said.answer.send(Err("not yet".to_owned())).unwrap();
        };
        let name = board();
        let (said, ()) = tokio::join!(pairings.say(&name, Saying::Draw), opponent);
        assert_eq!(said, Err(NotSaid::NotNow("not yet".to_owned())));
        drop(entry);
        let said = pairings.say(&name, Saying::Draw).await;
        assert_eq!(said, Err(NotSaid::Nobody(name)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_opponent_that_does_not_answer_does_not_keep_the_player_waiting() {
        let pairings = Pairings::default();
        let _entry = pairings.enter(board(), Pairing::default());
        let said = pairings.say(&board(), Saying::Resign).await;
        assert_eq!(said, Err(NotSaid::NoAnswer));
    }

    #[test]
    fn who_enters_again_after_another_has_left_is_at_the_board() {
        let pairings = Pairings::default();
        let before = pairings.enter(board(), Pairing::default());
        drop(pairings.enter(board(), Pairing::default()));
        assert!(pairings.at(&board()).is_none());
        let again = pairings.enter(board(), Pairing::default());
        drop(before);
        assert!(pairings.at(&board()).is_some());
        drop(again);
        assert!(pairings.at(&board()).is_none());
    }

    #[test]
    fn the_last_to_enter_is_at_the_board_and_the_one_before_changes_nothing() {
        let pairings = Pairings::default();
        let first = pairings.enter(board(), Pairing::default());
        let second = pairings.enter(board(), Pairing::default());
        let noticed = |entry: &Entry, words: &str| {
            entry.change(|pairing| pairing.notice = Some(words.to_owned()));
        };
        noticed(&second, "hers");
        noticed(&first, "his");
        drop(first);
        let notice = pairings.at(&board()).unwrap().notice.clone();
        assert_eq!(notice.as_deref(), Some("hers"));
        drop(second);
        assert_eq!(pairings.at(&board()), None);
    }

    #[test]
    fn the_pairing_of_another_daemon_is_shown_unless_a_front_end_here_plays_there() {
        let pairings = Pairings::default();
        let far = |words: &str| {
            Some(Pairing {
                notice: Some(words.to_owned()),
                ..Pairing::default()
            })
        };
        let notice = || pairings.at(&board()).and_then(|known| known.notice.clone());
        pairings.mirror(&board(), far("there"));
        assert_eq!(notice().as_deref(), Some("there"));
        assert!(!pairings.hears(&board()));
        let here = pairings.enter(board(), Pairing::default());
        pairings.mirror(&board(), far("there again"));
        assert_eq!(notice(), None);
        assert!(pairings.hears(&board()));
        drop(here);
        pairings.mirror(&board(), far("there again"));
        assert_eq!(notice().as_deref(), Some("there again"));
        pairings.mirror(&board(), None);
        assert_eq!(pairings.at(&board()), None);
    }
}
