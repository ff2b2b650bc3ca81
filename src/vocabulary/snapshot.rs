//! What a board is doing, whole, as of one moment: what a front-end acts on.
//!
//! Events tell what changed, but an event can be missed. A snapshot cannot: every front-end decides by it.

use std::{sync::Arc, time::Duration};

use shakmaty::Move;

use super::{
    advice::Advice,
    board_name::BoardName,
    client_name::ClientName,
    command::ClientId,
    ending::{BoardResult, GameEnd, Judge},
    event::By,
    link_state::LinkState,
};
use crate::{game::Game, guidance::Action};

/// One client's place at the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPlace {
    /// Who.
    pub client: ClientId,
    /// The client's number for its target.
    pub number: u64,
    /// Whether it has the board; otherwise it waits for it.
    pub joined: bool,
    /// What the hand has played in the client's target position: the answer, and what came after it.
    pub answer: Vec<Move>,
}

/// A board at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Which board.
    pub board: BoardName,
    /// How it is connected.
    pub link: LinkState,
    /// Name and version, if the board told them.
    pub id: Option<String>,
    /// The game on the board.
    pub game: Arc<Game>,
    /// Whether that game is known for certain.
    pub sure: bool,
    /// The game it is led to, while a client has the board.
    pub target: Option<Arc<Game>>,
    /// Whether a client awaits the hand's move.
    pub awaiting: bool,
    /// What the player is to know or do.
    pub advice: Advice,
    /// The hand has taken moves back that stand in the target, and the board has not been led anywhere since: what it
    /// played after that still counts as a part of it.
    pub taken_back: bool,
    /// How many times the hand has put all pieces on their starting squares.
    pub put_to_start: u64,
    /// What to do so that the pieces stand as they should, in this order; empty if they do, or if nobody knows.
    pub guidance: Arc<[Action]>,
    /// Who made each move of the game, where it was seen: of the moves shown on the board only those that were the last of
    /// the target.
    pub by: Arc<[Option<By>]>,
    /// How long the hand took for each move of the game, where it was seen.
    pub took: Arc<[Option<Duration>]>,
    /// How the game on it ended.
    pub ending: Option<GameEnd>,
    /// By whose word.
    pub judge: Option<Judge>,
    /// How the board says the game on it ended.
    pub result: Option<BoardResult>,
    /// What is left in the board's battery, in percent, if it told.
    pub battery: Option<u8>,
    /// Every client that has the board or waits for it.
    pub places: Vec<ClientPlace>,
    /// Who has the board, for messages to those who wait.
    pub holders: Vec<ClientName>,
    /// Who waits for it.
    pub waiting: Vec<ClientName>,
}

impl Snapshot {
    /// A board that has not been connected yet.
    pub fn new(board: BoardName) -> Self {
        Self {
            board,
            link: LinkState::Down("not connected yet".to_owned()),
            id: None,
            game: Arc::new(Game::standard()),
            sure: false,
            target: None,
            awaiting: false,
            advice: Advice::Nothing,
            taken_back: false,
            put_to_start: 0,
            guidance: Arc::new([]),
            by: Arc::new([]),
            took: Arc::new([]),
            ending: None,
            judge: None,
            result: None,
            battery: None,
            places: Vec::new(),
            holders: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// A client's place, if the board knows of this target of the client's.
    pub fn place(&self, client: ClientId, number: u64) -> Option<&ClientPlace> {
        self.places
            .iter()
            .find(|place| place.client == client && place.number == number)
    }
}
