//! Requests to Lichess, and the streams that it keeps open.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{
    Method, Response, StatusCode,
    body::{Frame, Incoming},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep_until, timeout};

use super::{
    notice::Notice,
    objects::{self, MAX_LINE, Me},
    request::Request,
    session::Outcome,
};
use crate::{
    front_end::https::{self, Https, Unanswered, token::Token},
    system::credit::{Allowance, Credit},
    text::lines::{Line, Lines},
};

/// How long an answer may take.
pub const ANSWER_WAIT: Duration = Duration::from_secs(8);
/// A stream that is silent for this long is dead: Lichess sends an empty line every 7 s.
pub const SILENCE: Duration = Duration::from_secs(20);
/// The most bytes of an answer.
const MAX_ANSWER: usize = 64 * 1024;
/// The limit on the bytes read of one stream: a busy account's burst at connecting, then a hundred times what a bullet game
/// needs. Beyond that the server waits.
pub const INTAKE: Allowance = Allowance {
    at_once: 256 * 1024,
    per_second: 64 * 1024,
};
/// Bytes charged for each line beside its length: even a short line costs work.
const LINE_COST: u64 = 64;
/// The header with the scopes of the token.
const SCOPES: &str = "x-oauth-scopes";
/// The content type of a form.
const FORM: &str = "application/x-www-form-urlencoded";
/// The content type of plain text.
const PLAIN: &str = "text/plain";

/// A client of the Lichess API, with at most one token.
#[derive(Clone, Debug)]
pub struct Http(Https);

/// The owner of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The player's name.
    pub name: String,
    /// Whether the token is for playing at boards.
    pub may_play: bool,
}

/// What the server gives for the code of a login.
#[derive(Deserialize)]
struct Granted {
    access_token: String,
}

/// An answer that stays open: dropping it ends the request.
#[derive(Debug)]
pub struct Lasting {
    body: Incoming,
    intake: Intake,
}

/// How much may still be read of a stream.
#[derive(Debug)]
struct Intake(Credit);

impl Intake {
    fn new() -> Self {
        Self(Credit::new(INTAKE))
    }

    /// Waits until more may be read. Cancel safe.
    async fn wait(&self) {
        if let Some(until) = self.0.waits_until(Instant::now().into_std(), 0) {
            sleep_until(Instant::from_std(until)).await;
        }
    }

    fn took(&mut self, bytes: u64) {
        self.0.spend(Instant::now().into_std(), bytes);
    }
}

impl Lasting {
    /// Waits until the server ends the answer, without a time limit.
    pub async fn ended(mut self) -> Outcome {
        while let Some(frame) = self.body.frame().await {
            match frame {
                Ok(frame) => self.intake.took(size(&frame)),
                Err(error) => return Outcome::Lost(error.to_string()),
            }
            self.intake.wait().await;
        }
        Outcome::Done(String::new())
    }
}

/// An open stream of lines.
#[derive(Debug)]
pub struct Stream {
    body: Incoming,
    lines: Lines,
    intake: Intake,
}

impl Http {
    /// A client of the server at this address, which has a scheme and no slash at its end.
    pub fn new(url: &str) -> Self {
        Self(Https::new(url))
    }

    /// Uses this token from now on.
    pub fn set_token(&mut self, token: Option<Token>) {
        self.0.set_token(token);
    }

    /// Whether a token is set.
    pub fn has_token(&self) -> bool {
        self.0.token().is_some()
    }

    /// Sends a request, and waits for the whole answer.
    pub async fn ask(&self, request: &Request) -> Outcome {
        let answered = async {
            let response = match self.send(request).await {
                Ok(response) => response,
                Err(outcome) => return outcome,
            };
            match text(response).await {
                // Not the page of a proxy on the way.
                Ok(text) => match serde_json::from_str::<Map<String, Value>>(&text) {
                    Ok(_) => Outcome::Done(text),
                    Err(error) => unreadable(&error),
                },
                Err(outcome) => outcome,
            }
        };
        timeout(ANSWER_WAIT, answered)
            .await
            .unwrap_or_else(|_| Outcome::Lost("no answer".to_owned()))
    }

    /// Sends a request that stays in force while its answer stays open.
    ///
    /// # Errors
    /// Why the server does not accept it.
    pub async fn begin(&self, request: &Request) -> Result<Lasting, Outcome> {
        let response = timeout(ANSWER_WAIT, self.send(request)).await;
        let response = response.map_err(|_| Outcome::Lost("no answer".to_owned()))??;
        Ok(Lasting {
            body: response.into_body(),
            intake: Intake::new(),
        })
    }

    /// Asks for the token's owner, and whether the token is for playing at boards.
    ///
    /// # Errors
    /// Why the server did not say.
    pub async fn owner(&self) -> Result<Owner, Outcome> {
        let asked = async {
            let response = self.send(&Request::Account).await?;
            let told = response.headers().get(SCOPES);
            let told = told.and_then(|told| told.to_str().ok());
            let may_play = told.map(has_play);
            let me: Me = objects::read(text(response).await?.as_bytes())
                .map_err(|error| unreadable(&error))?;
            let may_play = match may_play {
                Some(may_play) => may_play,
                None => self.is_for_play().await?,
            };
            Ok(Owner {
                name: Notice::words(&me.username),
                may_play,
            })
        };
        let answered = timeout(ANSWER_WAIT, asked).await;
        answered.unwrap_or_else(|_| Err(Outcome::Lost("no answer".to_owned())))
    }

    /// Exchanges the code of a login, in this form, for a token.
    ///
    /// # Errors
    /// Why the server gives none.
    pub async fn granted(&self, form: String) -> Result<Token, Outcome> {
        let asked = async {
            let path = "/api/token";
            let asked = self
                .0
                .exchange_without_token(Method::POST, path, FORM, form);
            let text = text(judged(asked.await?).await?).await?;
            let granted: Granted =
                serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
            let no_token = || Outcome::Lost("its answer has no token".to_owned());
            Token::of(&granted.access_token).ok_or_else(no_token)
        };
        let answered = timeout(ANSWER_WAIT, asked).await;
        answered.unwrap_or_else(|_| Err(Outcome::Lost("no answer".to_owned())))
    }

    /// Revokes the token.
    pub async fn revoke(&self) -> Outcome {
        let asked = async {
            let path = "/api/token";
            let asked = self.exchange(Method::DELETE, path, FORM, String::new());
            match judged(asked.await?).await {
                Ok(_) => Ok(Outcome::Done(String::new())),
                Err(outcome) => Err(outcome),
            }
        };
        match timeout(ANSWER_WAIT, asked).await {
            Ok(Ok(outcome) | Err(outcome)) => outcome,
            Err(_) => Outcome::Lost("no answer".to_owned()),
        }
    }

    /// Asks for the scopes of the token, on a server that does not tell them with each answer.
    async fn is_for_play(&self) -> Result<bool, Outcome> {
        let token = self.0.token().map(Token::text);
        let token = token.unwrap_or_default().to_owned();
        let path = "/api/token/test";
        let response = self.exchange(Method::POST, path, PLAIN, token.clone());
        let response = match judged(response.await?).await {
            Ok(response) => response,
            // The server reports scopes in neither way, but has accepted the token.
            Err(Outcome::Refused(_)) => return Ok(true),
            Err(outcome) => return Err(outcome),
        };
        let text = text(response).await?;
        // Not by `objects::read`, which cuts texts: a token may have many scopes.
        let tested: Value = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
        Ok(tested[token]["scopes"].as_str().is_some_and(has_play))
    }

    /// Opens a stream of lines; `Ok(None)` if the server has nothing at this path.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub async fn open(&self, path: &str) -> Result<Option<Stream>, Outcome> {
        let asked = self.exchange(Method::GET, path, FORM, String::new());
        let opened = timeout(ANSWER_WAIT, asked).await;
        let response = opened.map_err(|_| Outcome::Lost("no answer".to_owned()))??;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let response = judged(response).await?;
        Ok(Some(Stream {
            body: response.into_body(),
            lines: Lines::new(MAX_LINE),
            intake: Intake::new(),
        }))
    }

    async fn send(&self, request: &Request) -> Result<Response<Incoming>, Outcome> {
        let method = if request.is_get() {
            Method::GET
        } else {
            Method::POST
        };
        let response = self
            .exchange(method, &request.path(), FORM, request.form())
            .await?;
        judged(response).await
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        kind: &'static str,
        body: String,
    ) -> Result<Response<Incoming>, Outcome> {
        let answered = self.0.exchange(method, path, kind, body).await;
        answered.map_err(Outcome::from)
    }
}

impl From<Unanswered> for Outcome {
    fn from(why: Unanswered) -> Self {
        match why {
            Unanswered::NoToken => Self::NoToken,
            Unanswered::Impossible(words) => Self::Refused(words),
            Unanswered::Lost(words) => Self::Lost(words),
        }
    }
}

/// Whether these scopes, with commas between them, let a program play at boards.
fn has_play(scopes: &str) -> bool {
    scopes.split(',').any(|scope| scope.trim() == "board:play")
}

fn unreadable(error: &serde_json::Error) -> Outcome {
    Outcome::Lost(format!("its answer cannot be read: {error}"))
}

/// The response if its status is a success, else the outcome that the status means.
async fn judged(response: Response<Incoming>) -> Result<Response<Incoming>, Outcome> {
    match response.status() {
        status if status.is_success() => Ok(response),
        StatusCode::UNAUTHORIZED => Err(Outcome::NoToken),
        StatusCode::TOO_MANY_REQUESTS => Err(Outcome::TooMany),
        status if status.is_server_error() => Err(Outcome::Lost(status.to_string())),
        status => {
            let text = timeout(ANSWER_WAIT, text(response)).await;
            let text = text.ok().and_then(Result::ok).unwrap_or_default();
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            let words = match &value["error"] {
                Value::String(words) => words.clone(),
                Value::Null => status.to_string(),
                other => other.to_string(),
            };
            if status == StatusCode::FORBIDDEN && words.contains("scope") {
                return Err(Outcome::NoToken);
            }
            Err(Outcome::Refused(words))
        }
    }
}

async fn text(response: Response<Incoming>) -> Result<String, Outcome> {
    Ok(https::text(response, MAX_ANSWER).await?)
}

/// Bytes of a frame.
fn size(frame: &Frame<Bytes>) -> u64 {
    let length = frame.data_ref().map_or(0, Bytes::len);
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl Stream {
    /// The next line; empty and overlong ones are dropped. Reads no faster than [`INTAKE`]. Not cancel safe.
    ///
    /// # Errors
    /// Why the stream has ended.
    pub async fn next(&mut self) -> Result<Vec<u8>, String> {
        loop {
            while let Some(line) = self.lines.next_line() {
                if let Line::Whole(line) = line {
                    self.intake.took(LINE_COST);
                    return Ok(line);
                }
            }
            self.intake.wait().await;
            match timeout(SILENCE, self.body.frame()).await {
                Err(_) => return Err(format!("nothing came for {} s", SILENCE.as_secs())),
                Ok(None) => return Err("Lichess has closed the stream".to_owned()),
                Ok(Some(Err(error))) => return Err(error.to_string()),
                Ok(Some(Ok(frame))) => {
                    self.intake.took(size(&frame));
                    if let Some(bytes) = frame.data_ref() {
                        self.lines.push(bytes);
                    }
                }
            }
        }
    }
}
