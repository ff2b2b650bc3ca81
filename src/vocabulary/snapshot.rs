//! The complete state of a board at one moment: what a front-end acts on.
//!
//! Events report what changed, but an event can be missed. A snapshot cannot: every front-end decides by it.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use shakmaty::Move;

use super::{
    advice::Advice, board_name::BoardName, board_result::BoardResult, client_name::ClientName,
    command::ClientId, event::By, game_end::GameEnd, judge::Judge, link_state::LinkState,
};
use crate::chess::{game::Game, guidance::Action};

/// One client's place at the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPlace {
    /// The client.
    pub client: ClientId,
    /// The client's number for its target.
    pub number: u64,
    /// Whether it has the board; otherwise it waits for it.
    pub joined: bool,
    /// Whether it was put out, and has to begin a new game before it gets the board again.
    pub put_out: bool,
    /// What the hand has played in the client's target position: the answer, and any moves after it.
    pub answer: Vec<Move>,
}

/// How long a hand has to mend what it did, unless configured: time to see the mistake and to put the piece back.
pub const CORRECTION_WAIT: Duration = Duration::from_secs(3);

/// The game in play on a board that holds one game and is led to another: the target, unless the hand has played on from there.
/// What stands on the board may lag behind it, or be an old game.
pub fn played<'a>(held: &'a Game, target: Option<&'a Game>) -> &'a Game {
    target
        .filter(|target| !held.continues(target))
        .unwrap_or(held)
}

/// The state of a board at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Which board.
    pub board: BoardName,
    /// How it is connected.
    pub link: LinkState,
    /// Name and version, if the board reported them.
    pub id: Option<String>,
    /// Whether it can be told of take-backs, and its hand can signal take-backs and new games: not over SWPP.
    pub tells_all: bool,
    /// How long the hand has to mend what it did before the board is led back.
    pub correction_wait: Duration,
    /// The game on the board.
    pub game: Arc<Game>,
    /// Whether that game is known for certain.
    pub sure: bool,
    /// Whether it was known when the daemon ended, and nothing has been heard of the board since.
    pub remembered: bool,
    /// The game it is led to, while a client has the board.
    pub target: Option<Arc<Game>>,
    /// Whether a client awaits the hand's move.
    pub awaiting: bool,
    /// What the player should know or do.
    pub advice: Advice,
    /// The hand has taken back moves of the target, and the board has not been led anywhere since: what the hand played
    /// after that still counts as part of the take-back.
    pub taken_back: bool,
    /// How many times, since the daemon started, the board has reported the last move once more. Where it cannot tell a take-back,
    /// the hand may have taken that move back and made it again.
    pub repeated: u64,
    /// How many times the hand has put the pieces up for a game: on their starting squares, or in another position from
    /// which the board has begun a game.
    pub put_to_start: u64,
    /// What to do so that the pieces stand as they should, in this order; empty if they do, or if it is unknown.
    pub guidance: Arc<[Action]>,
    /// Who made each move of the game, if that was seen: of the moves shown on the board only those that were the last
    /// of the target.
    pub by: Arc<[Option<By>]>,
    /// How long the hand took for each move of the game, if that was seen.
    pub took: Arc<[Option<Duration>]>,
    /// What was left on the mover's clock after each move of the [game that is played](Self::played), as far as its client told
    /// that; it may end before the game does.
    pub left: Arc<[Option<Duration>]>,
    /// Since when the [game that is played](Self::played) is known: no other game of this board has the same, also
    /// after a restart. `None` before the board's first publication.
    pub since: Option<SystemTime>,
    /// When its first move was seen.
    pub began: Option<SystemTime>,
    /// How the game on it ended.
    pub ending: Option<GameEnd>,
    /// Who decided it.
    pub judge: Option<Judge>,
    /// What the hand says with both kings in the centre: on Lichess a resignation, an offer or a claim, elsewhere the end.
    pub sign: Option<GameEnd>,
    /// The result as the board reports it.
    pub result: Option<BoardResult>,
    /// The battery charge in percent, if the board reported it.
    pub battery: Option<u8>,
    /// Every client that has the board or waits for it.
    pub places: Vec<ClientPlace>,
    /// The clients that have the board, for messages to those that wait. If the board is kept for one that is
    /// disconnected while others wait, that one.
    pub holders: Vec<ClientName>,
    /// The clients that wait for it.
    pub waiting: Vec<ClientName>,
    /// Whether the board is kept for a program that was disconnected in mid-game.
    pub kept: bool,
}

impl Snapshot {
    /// A board that has not been connected yet.
    pub fn new(board: BoardName) -> Self {
        Self {
            board,
            link: LinkState::Down("not connected yet".to_owned()),
            id: None,
            tells_all: true,
            correction_wait: CORRECTION_WAIT,
            game: Arc::new(Game::standard()),
            sure: false,
            remembered: false,
            target: None,
            awaiting: false,
            advice: Advice::Nothing,
            taken_back: false,
            repeated: 0,
            put_to_start: 0,
            guidance: Arc::new([]),
            by: Arc::new([]),
            took: Arc::new([]),
            left: Arc::new([]),
            since: None,
            began: None,
            ending: None,
            judge: None,
            sign: None,
            result: None,
            battery: None,
            places: Vec::new(),
            holders: Vec::new(),
            waiting: Vec::new(),
            kept: false,
        }
    }

    /// The game that is played, for those who follow it from outside.
    pub fn played(&self) -> &Game {
        played(&self.game, self.target.as_deref())
    }

    /// A client's place, if the board knows of this target of the client's.
    pub fn place(&self, client: ClientId, number: u64) -> Option<&ClientPlace> {
        self.places
            .iter()
            .find(|place| place.client == client && place.number == number)
    }
}
