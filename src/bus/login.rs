//! Logging in to the account's server from a browser: what the page asks, and who answers.
//!
//! The front-end that plays on the server opens the desk; the page and the API ask there. Neither knows the other.

use std::{
    future::pending,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use super::account::{ANSWER_WAIT, NotDone};

/// How long a login that was begun can be finished: a person has to log in to the server, perhaps with a code by mail.
pub const LOGIN_WAIT: Duration = Duration::from_mins(10);
/// Requests that may wait: a person presses one button at a time.
const ASKS: usize = 8;

/// A login that has begun.
#[derive(Debug)]
pub struct Begun {
    /// The page of the server, where the player agrees.
    pub url: String,
    /// The secret by which the browser that began it is known again; none if any browser may finish it.
    pub browser: Option<String>,
}

/// What the server's page sends back, by way of the browser.
#[derive(Clone)]
pub struct Returned {
    /// Which login it belongs to.
    pub state: String,
    /// The code, or the name of an error.
    pub code: Result<String, String>,
}

/// Where the answer to a request goes.
pub type Answer<T> = oneshot::Sender<Result<T, NotDone>>;

/// What is asked at the desk.
pub enum Asked {
    /// A login begins.
    Begin {
        /// The address to which the browser is sent back.
        back: String,
        /// Whether a browser that has not begun it may finish it.
        any_browser: bool,
        /// Where the answer goes.
        answer: Answer<Begun>,
    },
    /// The player has agreed, or not.
    Finish {
        /// What came back.
        returned: Returned,
        /// The secret of the browser that it came from.
        browser: Option<String>,
        /// Where the answer goes: in words.
        answer: Answer<String>,
    },
    /// The token is forgotten.
    LogOut {
        /// Where the answer goes: in words.
        answer: Answer<String>,
    },
}

/// Where logins are asked for.
#[derive(Clone, Debug, Default)]
pub struct Logins {
    desk: Arc<Mutex<Option<mpsc::Sender<Asked>>>>,
}

/// Where they are answered.
#[derive(Debug)]
pub struct Desk(mpsc::Receiver<Asked>);

impl Logins {
    /// Opens the desk, until it is dropped.
    pub fn open(&self) -> Desk {
        let (ask, asked) = mpsc::channel(ASKS);
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        *desk = Some(ask);
        Desk(asked)
    }

    /// Begins a login; the browser will be sent back to this address.
    ///
    /// # Errors
    /// [`NotDone`], in words.
    pub async fn begin(&self, back: String, any_browser: bool) -> Result<Begun, NotDone> {
        self.ask(|answer| Asked::Begin {
            back,
            any_browser,
            answer,
        })
        .await
    }

    /// Finishes a login with what came back; returns what was done, in words.
    ///
    /// # Errors
    /// [`NotDone`], in words.
    pub async fn finish(
        &self,
        returned: Returned,
        browser: Option<String>,
    ) -> Result<String, NotDone> {
        self.ask(|answer| Asked::Finish {
            returned,
            browser,
            answer,
        })
        .await
    }

    /// Forgets the token, and tells the server so; returns what was done, in words.
    ///
    /// # Errors
    /// [`NotDone`], in words.
    pub async fn log_out(&self) -> Result<String, NotDone> {
        self.ask(|answer| Asked::LogOut { answer }).await
    }

    async fn ask<T>(&self, what: impl FnOnce(Answer<T>) -> Asked) -> Result<T, NotDone> {
        let desk = {
            let desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
            desk.clone().ok_or(NotDone::NoAccount)?
        };
        let (answer, answered) = oneshot::channel();
        let closed =
            || NotDone::NotNow("BoardBridge is reading its configuration: try again".to_owned());
        let asked = async {
            desk.send(what(answer)).await.map_err(|_| closed())?;
            answered.await.map_err(|_| closed())?
        };
        timeout(ANSWER_WAIT, asked)
            .await
            .unwrap_or(Err(NotDone::NoAnswer))
    }
}

impl Desk {
    /// The next request. Cancel safe.
    pub async fn asked(&mut self) -> Asked {
        match self.0.recv().await {
            Some(asked) => asked,
            None => pending().await,
        }
    }
}
