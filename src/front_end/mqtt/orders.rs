//! What a client of another daemon, or a person, says to a board: commands as JSON.
//!
//! `"ready"` and `{"promotion": {"piece": "n"}}` are the buttons of the API. A client's statements have its number:
//! `{"state": {"client": 7, "number": 1, "game": "startpos moves e2e4", "occasion": "engine/hand"}}`.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use shakmaty::{ByColor, Color, Role, uci::UciMove};
use thiserror::Error;

use crate::{
    bus::{elsewhere::Button, pairings::Saying},
    chess::game::{Game, MAX_PLIES},
    state::text,
    system::clock::exact,
    vocabulary::{ClientId, ClientName, Clocks, Command, GameEnd, Occasion, Snapshot},
};

/// The longest name of a client, in characters.
pub const MAX_LABEL: usize = 100;
/// The longest time on a clock, in seconds: a week, for correspondence.
const MAX_CLOCK: f64 = 7.0 * 24.0 * 3600.0;

/// What is said to a board.
#[derive(Clone, Debug)]
pub enum Order {
    /// A statement of a client; its number is the one it has at its own daemon.
    Statement(Command),
    /// A new game that is said again, of no use if it has begun.
    Again(Command, Begun),
    /// A statement that counts with the client's game of this number, and not with the one before it, where that one was lost.
    OfGame(Command, u64),
    /// A button: what the player says to the opponent, or to the board.
    Say(Saying),
    /// A button: what pawns become.
    Promote(Role),
    /// A button: whoever has the board is put out.
    PutOut,
}

/// What tells whether a new game that is said again has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Then the client's statement of this number, or a later one, is known.
    pub before: u64,
    /// Or the board's game is one that is known since later than this: its daemon died when it had begun it, and does not know
    /// the client any more.
    pub after: Option<SystemTime>,
}

impl Begun {
    /// Whether the new game of this client has begun on a board.
    pub fn is_so(self, client: ClientId, board: &Snapshot) -> bool {
        let mut places = board.places.iter();
        let stated = places.any(|place| place.client == client && place.number >= self.before);
        let is_later = |after| board.since.is_some_and(|since| since > after);
        stated || self.after.is_some_and(is_later)
    }
}

/// Why a command is not one.
#[derive(Debug, Error)]
pub enum NoOrder {
    /// It is no command.
    #[error(
        "the command cannot be read: {0}. Write a name such as \"ready\", or {{\"state\": {{…}}}}; docs/mqtt.md lists them"
    )]
    Unknown(String),
    /// A value in it is impossible.
    #[error("{0}")]
    Value(String),
}

/// The JSON of a command.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Said {
    State {
        client: u64,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        label: String,
        number: u64,
        game: Box<Game>,
        #[serde(default)]
        occasion: Occasion,
    },
    Await {
        client: u64,
        #[serde(default = "yes")]
        on: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u64>,
    },
    Analyse {
        client: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u64>,
    },
    Answered {
        client: u64,
        number: u64,
        #[serde(rename = "move", with = "text")]
        answer: UciMove,
    },
    Refuse {
        client: u64,
        number: u64,
    },
    NewGame {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        /// RFC 3339, nanoseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
    Ready {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<u64>,
    },
    Promotion {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<u64>,
        piece: char,
    },
    Clocks {
        client: u64,
        #[serde(default)]
        clocks: Option<SaidClocks>,
    },
    Away {
        client: u64,
        #[serde(default = "yes")]
        on: bool,
    },
    Yield {
        client: u64,
    },
    Ended {
        client: u64,
        #[serde(flatten)]
        end: GameEnd,
    },
    Release {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<u64>,
    },
    Lost {
        client: u64,
    },
    Draw {},
    TakeBack {},
    Decline {},
    Resign {},
    Abort {},
    Berserk {},
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SaidClocks {
    /// Seconds left.
    white: f64,
    black: f64,
    #[serde(default)]
    runs: Option<Side>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    White,
    Black,
}

fn yes() -> bool {
    true
}

/// Reads a command.
///
/// # Errors
/// [`NoOrder`], in words for whoever sent it.
pub fn read(command: &Value) -> Result<Order, NoOrder> {
    let named;
    let command = match command {
        // A button without anything more.
        Value::String(name) => {
            let nothing = (name.clone(), Value::Object(Map::new()));
            named = Value::Object([nothing].into_iter().collect());
            &named
        }
        other => other,
    };
    let said = Said::deserialize(command).map_err(|error| {
        let words: String = error.to_string().chars().take(MAX_LABEL).collect();
        NoOrder::Unknown(words)
    })?;
    order(said)
}

fn order(said: Said) -> Result<Order, NoOrder> {
    let statement = |command| Ok(Order::Statement(command));
    let of_game = |command, number| {
        Ok(match number {
            Some(number) => Order::OfGame(command, number),
            None => Order::Statement(command),
        })
    };
    match said {
        Said::State {
            client,
            label,
            number,
            game,
            occasion,
        } => {
            if game.len() > MAX_PLIES {
                return Err(NoOrder::Value(format!(
                    "a game has at most {MAX_PLIES} moves here"
                )));
            }
            let plain = |c: &char| !c.is_control();
            let label: String = label.chars().filter(plain).take(MAX_LABEL).collect();
            statement(Command::Target {
                client: ClientId(client),
                label: ClientName::Other(label.into()),
                number,
                game,
                occasion,
            })
        }
        Said::Await { client, on, number } => {
            let client = ClientId(client);
            of_game(Command::Await { client, on }, number)
        }
        Said::Analyse { client, number } => {
            let client = ClientId(client);
            of_game(Command::Analyse { client }, number)
        }
        Said::Answered {
            client,
            number,
            answer,
        } => statement(Command::Answered {
            client: ClientId(client),
            number,
            answer,
        }),
        Said::Refuse { client, number } => {
            let client = ClientId(client);
            statement(Command::Refuse { client, number })
        }
        Said::NewGame { client: None, .. } => Ok(Order::Say(Saying::NewGame)),
        Said::NewGame {
            client: Some(client),
            before,
            after,
        } => {
            let command = Command::NewGame {
                client: ClientId(client),
            };
            Ok(match before {
                Some(before) => {
                    let after = after.and_then(|after| humantime::parse_rfc3339(&after).ok());
                    Order::Again(command, Begun { before, after })
                }
                None => Order::Statement(command),
            })
        }
        Said::Ready { client: None } => Ok(Order::Say(Saying::Ready)),
        Said::Ready {
            client: Some(client),
        } => statement(Command::Ready {
            client: ClientId(client),
        }),
        Said::Promotion { client, piece } => {
            let role = Role::from_char(piece.to_ascii_lowercase());
            let role = role.filter(|role| !matches!(role, Role::Pawn | Role::King));
            let role = role.ok_or_else(|| {
                NoOrder::Value("a pawn becomes a piece of \"q\", \"r\", \"b\" and \"n\"".to_owned())
            })?;
            match client {
                None => Ok(Order::Promote(role)),
                Some(client) => statement(Command::Promotion {
                    client: ClientId(client),
                    role,
                }),
            }
        }
        Said::Clocks { client, clocks } => {
            let clocks = clocks.map(read_clocks).transpose()?;
            let client = ClientId(client);
            statement(Command::Clocks { client, clocks })
        }
        Said::Away { client, on } => {
            let client = ClientId(client);
            statement(Command::Away { client, on })
        }
        Said::Yield { client } => statement(Command::Yield {
            client: ClientId(client),
        }),
        Said::Ended { client, end } => {
            let client = ClientId(client);
            statement(Command::Ended { client, end })
        }
        Said::Release { client: None } => Ok(Order::PutOut),
        Said::Release {
            client: Some(client),
        } => statement(Command::Release {
            client: ClientId(client),
        }),
        Said::Lost { client } => statement(Command::Lost {
            client: ClientId(client),
        }),
        Said::Draw {} => Ok(Order::Say(Saying::Draw)),
        Said::TakeBack {} => Ok(Order::Say(Saying::TakeBack)),
        Said::Decline {} => Ok(Order::Say(Saying::Decline)),
        Said::Resign {} => Ok(Order::Say(Saying::Resign)),
        Said::Abort {} => Ok(Order::Say(Saying::Abort)),
        Said::Berserk {} => Ok(Order::Say(Saying::Berserk)),
    }
}

fn read_clocks(said: SaidClocks) -> Result<Clocks, NoOrder> {
    let time = |seconds: f64| {
        let fits = (0.0..=MAX_CLOCK).contains(&seconds);
        let time = Duration::try_from_secs_f64(seconds).ok().filter(|_| fits);
        time.ok_or_else(|| NoOrder::Value("a clock shows seconds, a week at most".to_owned()))
    };
    Ok(Clocks {
        left: ByColor {
            white: time(said.white)?,
            black: time(said.black)?,
        },
        runs: said.runs.map(|side| match side {
            Side::White => Color::White,
            Side::Black => Color::Black,
        }),
    })
}

/// A new game that is said again.
pub fn new_game_again(client: ClientId, begun: Begun) -> Value {
    let said = Said::NewGame {
        client: Some(client.0),
        before: Some(begun.before),
        after: begun.after.map(exact),
    };
    serde_json::to_value(said).unwrap_or_default()
}

/// A button as JSON.
pub fn button(button: Button) -> Value {
    let said = match button {
        Button::Say(saying) => return serde_json::to_value(saying).unwrap_or_default(),
        Button::Promote(role) => Said::Promotion {
            client: None,
            piece: role.char(),
        },
    };
    serde_json::to_value(said).unwrap_or_default()
}

/// A command as JSON, of a client with its number at its own daemon, which has stated its game under the number `of`.
pub fn write(command: &Command, of: Option<u64>) -> Value {
    let said = match command.clone() {
        Command::Target {
            client,
            label,
            number,
            game,
            occasion,
        } => Said::State {
            client: client.0,
            label: label.to_string(),
            number,
            game,
            occasion,
        },
        Command::Await { client, on } => Said::Await {
            client: client.0,
            on,
            number: of,
        },
        Command::Analyse { client } => Said::Analyse {
            client: client.0,
            number: of,
        },
        Command::Answered {
            client,
            number,
            answer,
        } => Said::Answered {
            client: client.0,
            number,
            answer,
        },
        Command::Refuse { client, number } => Said::Refuse {
            client: client.0,
            number,
        },
        Command::NewGame { client } => Said::NewGame {
            client: Some(client.0),
            before: None,
            after: None,
        },
        Command::Ready { client } => Said::Ready {
            client: Some(client.0),
        },
        Command::Promotion { client, role } => Said::Promotion {
            client: Some(client.0),
            piece: role.char(),
        },
        Command::Clocks { client, clocks } => Said::Clocks {
            client: client.0,
            clocks: clocks.map(|clocks| SaidClocks {
                white: clocks.left.white.as_secs_f64(),
                black: clocks.left.black.as_secs_f64(),
                runs: clocks
                    .runs
                    .map(|color| color.fold_wb(Side::White, Side::Black)),
            }),
        },
        Command::Away { client, on } => Said::Away {
            client: client.0,
            on,
        },
        Command::Yield { client } => Said::Yield { client: client.0 },
        Command::Ended { client, end } => Said::Ended {
            client: client.0,
            end,
        },
        Command::PutOut => Said::Release { client: None },
        Command::Release { client } => Said::Release {
            client: Some(client.0),
        },
        Command::Lost { client } => Said::Lost { client: client.0 },
    };
    // A type of ours, which JSON has a form for.
    serde_json::to_value(said).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_command_is_read_as_it_was_written() {
        let client = ClientId(7);
        let mut game = Game::standard();
        game.play_uci(["e2e4"]).unwrap();
        let clocks = Clocks {
            left: ByColor {
                white: Duration::from_millis(90_500),
                black: Duration::from_secs(3),
            },
            runs: Some(Color::Black),
        };
        let end = GameEnd::resigned(Color::White);
        for command in [
            Command::Target {
                client,
                label: "a program".into(),
                number: 3,
                game: Box::new(game),
                occasion: "lichess/opponent/kept".parse().unwrap(),
            },
            Command::Await { client, on: true },
            Command::Await { client, on: false },
            Command::Analyse { client },
            Command::Answered {
                client,
                number: 3,
                answer: "e7e8q".parse().unwrap(),
            },
            Command::Refuse { client, number: 3 },
            Command::NewGame { client },
            Command::Ready { client },
            Command::Promotion {
                client,
                role: Role::Knight,
            },
            Command::Clocks {
                client,
                clocks: Some(clocks),
            },
            Command::Clocks {
                client,
                clocks: None,
            },
            Command::Away { client, on: true },
            Command::Yield { client },
            Command::Ended { client, end },
            Command::Release { client },
            Command::Lost { client },
        ] {
            for of in [None, Some(3)] {
                let json = write(&command, of);
                let read = match read(&json) {
                    Ok(Order::Statement(read)) => read,
                    Ok(Order::OfGame(read, number)) if Some(number) == of => read,
                    _ => panic!("{json}"),
                };
                assert_eq!(read.to_string(), command.to_string(), "{json}");
            }
        }
        let put_out = read(&write(&Command::PutOut, None));
        assert!(matches!(put_out, Ok(Order::PutOut)));
    }

    #[test]
    fn buttons_are_names_with_or_without_braces() {
        for saying in Saying::ALL {
            for json in [
                button(Button::Say(saying)),
                json!({ saying.to_string(): {} }),
            ] {
                let Ok(Order::Say(said)) = read(&json) else {
                    panic!("{json}");
                };
                assert_eq!(said, saying);
            }
        }
        let knight = button(Button::Promote(Role::Knight));
        assert_eq!(knight, json!({ "promotion": { "piece": "n" } }));
        let knight = read(&knight);
        assert!(matches!(knight, Ok(Order::Promote(Role::Knight))));
        assert!(matches!(read(&json!("release")), Ok(Order::PutOut)));
    }

    #[test]
    fn what_is_no_command_is_refused_in_words() {
        for wrong in [
            json!("castle"),
            json!(7),
            json!({ "state": { "client": 7, "number": 1, "game": "startpos moves e2e5" } }),
            json!({ "promotion": { "piece": "k" } }),
            json!({ "clocks": { "client": 1, "clocks": { "white": -1.0, "black": 1e300 } } }),
            json!({ "await": {}, "release": {} }),
            json!({ "answered": { "client": 7, "number": 1, "move": "castle" } }),
        ] {
            assert!(!read(&wrong).unwrap_err().to_string().is_empty(), "{wrong}");
        }
    }
}
