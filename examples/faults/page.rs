//! A page that takes its board from `LiveChess`, as lichess.org's does: once the board stands as its game does, it states
//! the game, and then takes each move that is added to the list. It takes none back.

use std::{sync::Arc, time::Duration};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use shakmaty::{Position as _, san::San};
use simulators::game::{Game, uci};
use tokio::{
    net::TcpStream,
    time::{interval, sleep},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, Message, client::IntoClientRequest},
};

use crate::seat::{Heard, Seat};

/// How often the page looks whether another game has begun.
const LOOK: Duration = Duration::from_millis(20);
/// The number of the call that states a game.
const SETUP: u64 = 3;
/// The time before it connects again.
const AGAIN: Duration = Duration::from_millis(200);

/// Plays for ever on the board of this name.
pub async fn play(seat: Arc<Seat>, port: String, board: &'static str) {
    loop {
        match talk(&seat, &port, board).await {
            Ok(()) | Err(Error::Io(_) | Error::ConnectionClosed | Error::Protocol(_)) => {}
            Err(error) => seat.wrong(&format!("the page: {error}")),
        }
        seat.asks_nothing();
        sleep(AGAIN).await;
    }
}

struct Page<'a> {
    seat: &'a Seat,
    board: &'static str,
    socket: WebSocketStream<TcpStream>,
    /// The pieces on the board, as the list of boards and the feed tell.
    stands: String,
    stated: Option<Stated>,
}

/// The game that was stated.
struct Stated {
    number: usize,
    /// The plies it had then.
    plies: usize,
    /// Moves taken from the list since.
    taken: usize,
    /// What comes is about this game.
    answered: bool,
}

/// The game after these plies of the script.
fn game_at(seat: &Seat, plies: usize) -> Game {
    let (_, _, script) = seat.game();
    let mut game = Game::standard();
    for m in &script[..plies] {
        if let Ok(m) = m.to_move(game.position()) {
            game.push(m);
        }
    }
    game
}

async fn talk(seat: &Seat, port: &str, board: &'static str) -> Result<(), Error> {
    let mut request = "ws://localhost/api/v1.0".into_client_request()?;
    if let Ok(origin) = "https://lichess.org".parse() {
        request.headers_mut().insert("origin", origin);
    }
    let stream = TcpStream::connect(port).await?;
    let (socket, _) = client_async(request, stream).await?;
    let mut page = Page {
        seat,
        board,
        socket,
        stands: String::new(),
        stated: None,
    };
    let feed = json!({ "feed": "eboardevent", "id": 1, "param": { "serialnr": board } });
    page.says(&json!({ "id": 2, "call": "subscribe", "param": feed }))
        .await?;
    let mut looks = interval(LOOK);
    loop {
        tokio::select! {
            message = page.socket.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    let message = serde_json::from_str(&text).unwrap_or(Value::Null);
                    page.hears(&message);
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            },
            _ = looks.tick() => page.states().await?,
        }
    }
}

impl Page<'_> {
    async fn says(&mut self, call: &Value) -> Result<(), Error> {
        self.socket.send(Message::text(call.to_string())).await
    }

    fn hears(&mut self, message: &Value) {
        if message["response"] == "call"
            && message["id"] == SETUP
            && let Some(stated) = &mut self.stated
        {
            stated.answered = true;
        }
        let param = &message["param"];
        if message["response"] != "feed" || param["serialnr"] != self.board {
            return;
        }
        if let Some(stands) = param["board"].as_str() {
            stands.clone_into(&mut self.stands);
        }
        let (number, ..) = self.seat.game();
        let on = self.stated.as_mut();
        let Some(stated) = on.filter(|stated| stated.answered && stated.number == number) else {
            return;
        };
        let sans = param["san"].as_array().map_or(&[][..], Vec::as_slice);
        for san in sans.iter().skip(stated.taken).filter_map(Value::as_str) {
            let game = game_at(self.seat, stated.plies + stated.taken);
            let m = san.parse::<San>().ok();
            let m = m.and_then(|san| san.to_move(game.position()).ok());
            let m = m.map_or_else(|| san.to_owned(), |m| uci(m).to_string());
            if self.seat.hears(&m) == Heard::Wrong {
                return;
            }
            stated.taken += 1;
        }
        if param["match"] == true {
            self.seat.asks();
        }
    }

    /// States the game if it is another one, once the board stands like it.
    async fn states(&mut self) -> Result<(), Error> {
        let (number, plies, script) = self.seat.game();
        self.stated.take_if(|stated| stated.number != number);
        let game = game_at(self.seat, plies);
        let over = plies == script.len() || self.seat.is_given_up();
        let placement = game.position().board().to_string();
        if self.stated.is_some() || over || self.stands != placement {
            return Ok(());
        }
        self.stated = Some(Stated {
            number,
            plies,
            taken: 0,
            answered: false,
        });
        self.seat.note("the page states its game");
        let setup = json!({ "fen": game.fen().to_string() });
        let param = json!({ "id": 1, "method": "setup", "param": setup });
        self.says(&json!({ "id": SETUP, "call": "call", "param": param }))
            .await
    }
}
