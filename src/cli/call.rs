//! Commands to a running daemon, through its API.

use std::{io, time::Duration};

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Method, Request, Response,
    body::{Bytes, Incoming},
    client::conn::http1,
    header,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::time::timeout;

use crate::{
    net::reach::{Responder, Wanted, unreachable},
    system::apart,
    text::escape::escaped,
    vocabulary::{BoardName, MAX_BOARDS},
};

/// How long the daemon may take for an answer: it gives up a request a little earlier.
pub const ANSWER_WAIT: Duration = Duration::from_secs(20);
/// The most bytes of an answer: a list of all boards with games of some 80 moves.
pub const MAX_ANSWER: usize = 4 * 1024 * MAX_BOARDS;
/// The most characters shown of an error.
const MAX_REPEATED: usize = 300;

/// Why a command was not carried out.
#[derive(Debug, Error)]
pub enum CallError {
    /// Nothing can be reached there.
    #[error("{}", unreachable(.address, .source, Wanted::Web))]
    Unreachable {
        /// Where.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// Something else answers there.
    #[error("{}", .found.told(.address, Wanted::Web))]
    Other {
        /// Where.
        address: String,
        /// What.
        found: Responder,
    },
    /// The daemon refuses, in these words.
    #[error("{0}")]
    Refused(String),
}

/// Puts out the clients that have the board; returns what the daemon did, in words.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn release(address: &str, board: &BoardName) -> Result<String, CallError> {
    let path = format!("/api/v1/boards/{board}/release");
    let answer = ask(address, &path, Some(&json!({}))).await?;
    let names = answer["released"].as_array();
    let names: Vec<&str> = names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    Ok(match names.len() {
        0 => format!("{board} is free: no program has it"),
        _ => escaped(&format!("{board}: {} was put out", names.join(" and "))),
    })
}

/// Sends a request to the account on Lichess; returns what the daemon did, in words.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn lichess(address: &str, what: &str, body: &Value) -> Result<String, CallError> {
    let path = format!("/api/v1/lichess/{what}");
    let answer = ask(address, &path, Some(body)).await?;
    Ok(escaped(answer["done"].as_str().unwrap_or("done")))
}

/// The boards that are plugged in or in the air and not used.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn found(address: &str) -> Result<Vec<Value>, CallError> {
    let answer = ask(address, "/api/v1/found", None).await?;
    Ok(answer.as_array().cloned().unwrap_or_default())
}

/// The kinds of boards that a key unlocks.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn keyed(address: &str) -> Result<Vec<String>, CallError> {
    let answer = ask(address, "/api/v1/settings", None).await?;
    let kinds = answer["kinds"].as_array().into_iter().flatten();
    let keyed = kinds.filter(|kind| kind["key"] == true);
    Ok(keyed
        .filter_map(|kind| kind["kind"].as_str().map(str::to_owned))
        .collect())
}

/// Why some boards are not found, in words.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn unseen(address: &str) -> Result<Vec<String>, CallError> {
    let answer = ask(address, "/api/v1/settings", None).await?;
    let why = answer["unseen"].as_array().into_iter().flatten();
    Ok(why.filter_map(|why| why.as_str().map(escaped)).collect())
}

/// Adds a board that was found; returns what the daemon did, in words.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn add(address: &str, id: &str, body: &Value) -> Result<String, CallError> {
    let answer = ask(address, &of_found(id, "add"), Some(body)).await?;
    let name = answer["board"].as_str().unwrap_or_default();
    Ok(escaped(&format!(
        "{name} is added. `boardbridge watch` shows it"
    )))
}

/// Lets the lamps of a board that was found run; returns what it showed, in words.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn attempt(address: &str, id: &str, body: &Value) -> Result<String, CallError> {
    let answer = ask(address, &of_found(id, "try"), Some(body)).await?;
    Ok(escaped(answer["done"].as_str().unwrap_or_default()))
}

/// Where this is done with a board that was found. It has letters and digits, whatever was typed.
fn of_found(id: &str, what: &str) -> String {
    let id: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("/api/v1/found/{id}/{what}")
}

/// Removes a board that was added; returns what the daemon did, in words.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn remove(address: &str, board: &BoardName) -> Result<String, CallError> {
    let path = format!("/api/v1/boards/{board}");
    let answer = send(address, Method::DELETE, &path, None).await?;
    Ok(escaped(answer["done"].as_str().unwrap_or("done")))
}

/// Gives a board that was added another name; returns what the daemon did, in words.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn rename(address: &str, old: &BoardName, new: &BoardName) -> Result<String, CallError> {
    let path = format!("/api/v1/boards/{old}/rename");
    ask(address, &path, Some(&json!({ "name": new }))).await?;
    Ok(format!("{old} is called {new} now"))
}

/// Begins a login to Lichess that any browser may finish; returns the address of the server's page.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn login(address: &str) -> Result<String, CallError> {
    let body = json!({ "terminal": true });
    let answer = ask(address, "/api/v1/lichess/login", Some(&body)).await?;
    Ok(escaped(answer["url"].as_str().unwrap_or_default()))
}

/// Has the daemon show a code for a phone: the code, where to open the page, and a link with both.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn code(address: &str) -> Result<Value, CallError> {
    ask(address, "/api/v1/pair/code", Some(&json!({}))).await
}

/// The phones that are paired.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn phones(address: &str) -> Result<Vec<Value>, CallError> {
    let answer = ask(address, "/api/v1/pairs", None).await?;
    Ok(answer.as_array().cloned().unwrap_or_default())
}

/// Removes a phone; returns its name.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn remove_phone(address: &str, id: u64) -> Result<String, CallError> {
    let path = format!("/api/v1/pairs/{id}");
    let answer = send(address, Method::DELETE, &path, None).await?;
    Ok(answer["name"].as_str().unwrap_or_default().to_owned())
}

/// All boards, each as the API describes it.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn boards(address: &str) -> Result<Vec<Value>, CallError> {
    let answer = ask(address, "/api/v1/boards", None).await?;
    Ok(answer.as_array().cloned().unwrap_or_default())
}

/// Whether a daemon answers there.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn is_there(address: &str) -> Result<(), CallError> {
    ask(address, "/api/v1/settings", None).await.map(drop)
}

/// The state of the account on Lichess.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn standing(address: &str) -> Result<Value, CallError> {
    ask(address, "/api/v1/lichess", None).await
}

/// Sends a POST with this body, or a GET without one.
async fn ask(address: &str, path: &str, body: Option<&Value>) -> Result<Value, CallError> {
    let method = if body.is_some() {
        Method::POST
    } else {
        Method::GET
    };
    send(address, method, path, body).await
}

/// Sends a request.
async fn send(
    address: &str,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, CallError> {
    let other = |found| CallError::Other {
        address: address.to_owned(),
        found,
    };
    let asked = timeout(ANSWER_WAIT, exchange(address, method, path, body)).await;
    let (status, text) = match asked.map_err(|_| other(Responder::Silence))? {
        Ok(answer) => answer,
        Err(Broken::Connect(source)) => {
            return Err(CallError::Unreachable {
                address: address.to_owned(),
                source,
            });
        }
        Err(Broken::Closed) => return Err(other(Responder::Closed)),
        Err(Broken::NotHttp) => return Err(other(Responder::NotWeb)),
    };
    let value: Option<Value> = serde_json::from_slice(&text).ok();
    let error = value.as_ref().and_then(|value| value["error"].as_str());
    match (value.as_ref(), error) {
        (_, Some(error)) => {
            let words: String = error.chars().take(MAX_REPEATED).collect();
            Err(CallError::Refused(escaped(&words)))
        }
        (Some(value), None) if status < 300 => Ok(value.clone()),
        _ => Err(other(Responder::Web)),
    }
}

/// Why there is no answer.
enum Broken {
    Connect(io::Error),
    Closed,
    NotHttp,
}

impl From<hyper::Error> for Broken {
    fn from(error: hyper::Error) -> Self {
        if error.is_parse() {
            Self::NotHttp
        } else {
            Self::Closed
        }
    }
}

/// One request on a connection of its own: the answer's status and body.
async fn exchange(
    address: &str,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<(u16, Bytes), Broken> {
    let stream = apart::connect(address).await.map_err(Broken::Connect)?;
    // The daemon may not know the name that it is called by here.
    let host = stream.peer_addr().map_err(Broken::Connect)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let body = body.map(ToString::to_string).unwrap_or_default();
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, host.to_string())
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))
        .map_err(|_| Broken::NotHttp)?;
    let answered = async {
        let response: Response<Incoming> = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), MAX_ANSWER)
            .collect()
            .await;
        let body = body.map_err(|_| Broken::Closed)?;
        // The connection ends when its sender is dropped.
        drop(sender);
        Ok((status, body.to_bytes()))
    };
    let (answer, _) = tokio::join!(answered, connection);
    answer
}
