//! One client's conversation by `LiveChess`, without I/O: its calls and the boards' snapshots go in; messages for it, and
//! commands for boards, come out.
//!
//! A feed without a `setup` shows what stands on the board. With one, the client is the player of both colours from that
//! position: the board is led there if it is free, and every move of the hand is published, one message a move. A page
//! cannot take a published move back, so only what a driver reports as made counts.

use std::{collections::VecDeque, fmt, sync::Arc};

use serde_json::{Map, Value, json};
use shakmaty::{EnPassantMode, fen::Fen};

use crate::{
    chess::game::{Game, fen},
    front_end::seat::{Seat, left_by_hand},
    text::lines::printable,
    vocabulary::{
        Advice, BoardName, ClientId, ClientName, Command, GameEnd, LinkState, Occasion, Opponent,
        Snapshot,
    },
};

/// Feeds of one client: one for every board.
pub const MAX_FEEDS: usize = 64;
/// Bytes repeated of a call that is refused.
const MAX_REPEATED: usize = 60;
/// The kind of connection that clients are told.
const SOURCE: &str = "BoardBridge";

/// What to do next.
#[derive(Clone, Debug)]
pub enum Action {
    /// Send this message.
    Say(String),
    /// Give this client its board: an earlier client from the same machine makes room.
    Takes(BoardName, ClientId),
    /// Send a command to a board.
    Ask(BoardName, Command),
}

/// A game that the client plays on a board.
#[derive(Debug)]
struct Play {
    seat: Seat,
    game: Game,
    over: Option<GameEnd>,
    /// The board knows the game as stated last; earlier snapshots are about an older one.
    heard: bool,
    /// The last message said that the pieces stand as in the game.
    stands: bool,
}

impl Play {
    /// The seat's commands, as actions.
    fn asks(&mut self, board: &BoardName) -> Vec<Action> {
        let commands = std::iter::from_fn(|| self.seat.poll_command());
        commands
            .map(|command| Action::Ask(board.clone(), command))
            .collect()
    }
}

#[derive(Debug)]
struct Feed {
    id: Value,
    board: BoardName,
    flipped: bool,
    play: Option<Play>,
    /// What was sent last.
    shown: Option<Value>,
}

/// One client. See the module documentation.
pub struct PageConversation {
    label: ClientName,
    number_client: Arc<dyn Fn() -> ClientId + Send + Sync>,
    feeds: Vec<Feed>,
    actions: VecDeque<Action>,
}

impl fmt::Debug for PageConversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageConversation")
            .field("label", &self.label)
            .field("feeds", &self.feeds)
            .finish_non_exhaustive()
    }
}

impl PageConversation {
    /// The boards that it follows.
    pub fn boards(&self) -> impl Iterator<Item = &BoardName> {
        self.feeds.iter().map(|feed| &feed.board)
    }

    /// A client that has just connected; `number_client` numbers it as a client of a board.
    pub fn new(label: ClientName, number_client: Arc<dyn Fn() -> ClientId + Send + Sync>) -> Self {
        Self {
            label,
            number_client,
            feeds: Vec::new(),
            actions: VecDeque::new(),
        }
    }

    /// What to do next.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The boards it plays on, and its numbers there.
    pub fn plays(&self) -> Vec<(BoardName, ClientId)> {
        let plays = self.feeds.iter();
        plays
            .filter_map(|feed| Some((feed.board.clone(), feed.play.as_ref()?.seat.client())))
            .collect()
    }

    /// A message came, at this Unix time in milliseconds; `boards` is their state.
    pub fn message(&mut self, time: u64, text: &str, boards: &[Arc<Snapshot>]) {
        let call: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
        let id = call.get("id").filter(|id| id.is_number()).cloned();
        let id = id.unwrap_or(Value::Null);
        let param = call.get("param").unwrap_or(&Value::Null);
        let name = call.get("call").and_then(Value::as_str);
        // The answer goes out before the feed messages that the call causes.
        let mut changed = None;
        let answer = match name {
            Some("eboards") => Ok(eboards(boards)),
            Some("sources") => Ok(json!([SOURCE])),
            Some("subscribe") => self.subscribe(param, boards, &mut changed),
            Some("unsubscribe") => self.unsubscribe(param),
            Some("call") => self.call(param, &mut changed),
            Some(other) => {
                let other = printable(other.as_bytes(), MAX_REPEATED);
                Err(format!("unknown call: {other}"))
            }
            None => Err("a call is a JSON object with id and call".to_owned()),
        };
        let (kind, param) = match answer {
            Ok(param) => ("call", param),
            Err(message) => ("error", json!({ "message": message })),
        };
        self.say(time, kind, &id, &param);
        if let Some(index) = changed {
            let board = self.feeds[index].board.clone();
            if let Some(board) = boards.iter().find(|state| state.board == board) {
                self.publish(time, index, board, None);
            }
        }
    }

    /// A board has a new snapshot.
    pub fn snapshot(&mut self, time: u64, board: &Snapshot) {
        for index in 0..self.feeds.len() {
            if self.feeds[index].board == board.board {
                self.advance(time, index, board);
                if self.feeds[index]
                    .play
                    .as_ref()
                    .is_none_or(|play| play.heard)
                {
                    self.publish(time, index, board, None);
                }
            }
        }
    }

    fn say(&mut self, time: u64, kind: &str, id: &Value, param: &Value) {
        let message = json!({ "response": kind, "id": id, "param": param, "time": time });
        self.actions.push_back(Action::Say(message.to_string()));
    }

    fn subscribe(
        &mut self,
        param: &Value,
        boards: &[Arc<Snapshot>],
        changed: &mut Option<usize>,
    ) -> Result<Value, String> {
        if param["feed"] != "eboardevent" {
            return Err("the only feed is eboardevent".to_owned());
        }
        let id = feed_id(param)?;
        let name = param["param"]["serialnr"].as_str().unwrap_or_default();
        let board = boards.iter().find(|state| state.board.as_str() == name);
        let Some(board) = board else {
            let name = printable(name.as_bytes(), MAX_REPEATED);
            return Err(format!("there is no board {name}"));
        };
        // Another subscription by this number replaces the first.
        self.leave(id);
        if self.feeds.len() >= MAX_FEEDS {
            return Err(format!("at most {MAX_FEEDS} feeds"));
        }
        self.feeds.push(Feed {
            id: id.clone(),
            board: board.board.clone(),
            flipped: false,
            play: None,
            shown: None,
        });
        *changed = Some(self.feeds.len() - 1);
        Ok(Value::Null)
    }

    fn unsubscribe(&mut self, param: &Value) -> Result<Value, String> {
        self.leave(feed_id(param)?);
        Ok(Value::Null)
    }

    /// A feed is no longer wanted.
    fn leave(&mut self, id: &Value) {
        let Some(at) = self.feeds.iter().position(|feed| feed.id == *id) else {
            return;
        };
        let feed = self.feeds.remove(at);
        if let Some(mut play) = feed.play {
            play.seat.leave();
            self.actions.extend(play.asks(&feed.board));
        }
    }

    fn call(&mut self, param: &Value, changed: &mut Option<usize>) -> Result<Value, String> {
        let id = feed_id(param)?;
        let at = self.feeds.iter().position(|feed| feed.id == *id);
        let Some(at) = at else {
            return Err(format!("there is no feed {id}"));
        };
        match param["method"].as_str() {
            Some("setup") => {
                let fen = param["param"]["fen"].as_str();
                let fen = fen.ok_or("setup has a fen")?;
                let game = Game::from_fen(fen).map_err(|error| error.to_string())?;
                self.set_up(at, game);
            }
            Some("flip") => {
                let flip = param["param"]["flip"].as_bool();
                self.feeds[at].flipped = flip.ok_or("flip has a flip: true or false")?;
            }
            _ => return Err("unknown method: setup or flip".to_owned()),
        }
        *changed = Some(at);
        Ok(Value::Null)
    }

    /// The client plays both colours from this position.
    fn set_up(&mut self, at: usize, game: Game) {
        let feed = &mut self.feeds[at];
        let before = feed.play.take();
        let seat = before.map(|play| play.seat);
        let seat = seat.unwrap_or_else(|| Seat::new((self.number_client)(), self.label.clone()));
        let client = seat.client();
        feed.play = Some(Play {
            seat,
            game,
            over: None,
            heard: false,
            stands: false,
        });
        let board = feed.board.clone();
        self.actions.push_back(Action::Takes(board, client));
        self.state(at);
    }

    /// States the game to the board.
    fn state(&mut self, at: usize) {
        let feed = &mut self.feeds[at];
        let Some(play) = &mut feed.play else {
            return;
        };
        // A game that is over needs no place at the board: the board may drop it in the same pass.
        play.heard = play.over.is_some();
        let occasion = Occasion {
            opponent: Opponent::Nobody,
            hand_next: true,
            takes_back: true,
        };
        play.seat.state(&play.game, occasion, play.over.is_none());
        if let Some(end) = play.over {
            play.seat.end(end);
        }
        self.actions.extend(play.asks(&feed.board));
    }

    /// Follows what the hand has played or taken back, and publishes each move.
    fn advance(&mut self, time: u64, at: usize, board: &Snapshot) {
        let Some(play) = &mut self.feeds[at].play else {
            return;
        };
        let Some(place) = play.seat.look(board) else {
            return;
        };
        play.heard = true;
        if !place.joined || play.over.is_some() {
            return;
        }
        // The board may know moves from before the position that was set up.
        let whole = play.game.clone().rebased(&board.game);
        let before = whole.len() - play.game.len();
        let left = left_by_hand(board, &whole);
        if let Some(left) = left.and_then(|left| left.checked_sub(before)) {
            play.game = play.game.truncated(left);
            self.publish(time, at, board, None);
            self.state(at);
            return;
        }
        let answer = place.answer.clone();
        let Some(&first) = answer.first() else {
            return;
        };
        play.seat.answered(first);
        self.actions.extend(play.asks(&board.board));
        for m in answer {
            let Some(play) = &mut self.feeds[at].play else {
                return;
            };
            if !play.game.push(m) {
                break;
            }
            let stands = play.game.clone();
            self.publish(time, at, board, Some(&stands));
        }
        let Some(play) = &mut self.feeds[at].play else {
            return;
        };
        play.over = GameEnd::by_rules(&play.game);
        self.state(at);
    }

    /// Sends the state of the board, if it has changed; `made` is the game right after the move to publish, if there is one.
    fn publish(&mut self, time: u64, at: usize, board: &Snapshot, made: Option<&Game>) {
        let feed = &mut self.feeds[at];
        let on_board = made.unwrap_or(&board.game);
        let mut param = json!({
            "serialnr": feed.board,
            "flipped": feed.flipped,
            "board": placement(on_board),
        });
        if let Some(play) = &mut feed.play {
            let place = play.seat.place(board);
            let joined = place.is_some_and(|place| place.joined);
            let whole = play.game.clone().rebased(on_board);
            // Not before the board awaits a move: until it has begun a new game, it may miss one. Then it stays true until a
            // piece has to be put right, also while the board is away and reports nothing of its pieces.
            let ready = match board.advice {
                Advice::YourMove(_) => true,
                Advice::Nothing | Advice::NoLink(_) | Advice::Silent { .. } | Advice::Mute => {
                    play.stands
                }
                _ => false,
            };
            let goes_on = joined && ready && *on_board == whole;
            let over =
                play.over.is_some() && board.sure && board.game.position() == play.game.position();
            let right = board.guidance.is_empty() && (goes_on || over);
            play.stands = made.is_some() || right;
            param["start"] = json!(fen(play.game.start()).to_string());
            param["san"] = json!(play.game.sans());
            param["match"] = json!(play.stands);
        }
        if feed.shown.as_ref() == Some(&param) {
            return;
        }
        let is_first = feed.shown.replace(param.clone()).is_none();
        if is_first {
            param["clock"] = Value::Null;
        }
        let id = feed.id.clone();
        self.say(time, "feed", &id, &param);
    }
}

/// The number that the client has given a feed.
fn feed_id(param: &Value) -> Result<&Value, String> {
    let id = &param["id"];
    if id.is_number() {
        Ok(id)
    } else {
        Err("a feed has a number as its id".to_owned())
    }
}

/// The pieces, as in a FEN.
fn placement(game: &Game) -> String {
    let position = game.position().clone();
    let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
    fen.split(' ').next().unwrap_or_default().to_owned()
}

/// Every board, as `eboards` lists them.
pub fn eboards(boards: &[Arc<Snapshot>]) -> Value {
    boards.iter().map(|board| eboard(board)).collect()
}

fn eboard(board: &Snapshot) -> Value {
    let state = match &board.link {
        LinkState::Up | LinkState::Unheard { .. } => "ACTIVE",
        LinkState::Asking { .. } => "DELAYED",
        LinkState::Silent { .. } | LinkState::Mute => "NOTRESPONDING",
        LinkState::Down(_) | LinkState::Stranger(_) => "INACTIVE",
    };
    json!({
        "serialnr": board.board,
        "source": SOURCE,
        "state": state,
        "battery": board.battery.map(|percent| format!("{percent}%")),
        "comment": null,
        "board": placement(&board.game),
        "flipped": false,
        "clock": null,
    })
}
