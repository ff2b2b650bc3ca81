//! Logins that were begun, without I/O: OAuth 2 with PKCE, as Lichess has it.
//!
//! They are kept in memory only, for one use each. The verifier never leaves the program before the exchange, so that a code
//! that someone overhears on the way back is of no use.

use std::{collections::VecDeque, fmt::Write as _, time::Instant};

use subtle::ConstantTimeEq as _;
use thiserror::Error;

use super::{pkce, session::Outcome};
use crate::bus::{
    account::NotDone,
    login::{Begun, LOGIN_WAIT},
};

/// Logins that can be finished at once; a further one replaces the oldest. A player begins one, and perhaps another.
pub const MAX_STARTED: usize = 8;
/// What this program is called at the server.
pub const CLIENT_ID: &str = "boardbridge";
/// What the token is for: games at a board. Lichess takes it for challenges too, so `challenge:read` and `challenge:write` are
/// not asked for.
pub const SCOPE: &str = "board:play";
/// The same, and for pushing games to a broadcast, whose round has to be read, too.
pub const SCOPE_WITH_BROADCASTS: &str = "board:play study:read study:write";
/// The most characters repeated of an error's name.
const MAX_NAME: usize = 40;

/// Why a login does not begin, or is not finished.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LoginError {
    /// No such login was begun, or it is used up.
    #[error(
        "this login is not known here: it is finished already, has made room for newer ones, or BoardBridge was restarted \
         meanwhile. Log in again"
    )]
    Unknown,
    /// It is too old.
    #[error("this login was begun more than {} minutes ago. Log in again", LOGIN_WAIT.as_secs() / 60)]
    Expired,
    /// It came back by another browser.
    #[error("this login was begun in another browser, and is given up. Log in again in this one")]
    OtherBrowser,
    /// The player has not agreed.
    #[error("you have pressed Cancel on Lichess: nothing has changed")]
    Denied,
    /// The server does not like the request.
    #[error("{0} refuses this login ({1}). Log in again; if that does not help, please report it")]
    Refused(String, String),
    /// The server does not take the code.
    #[error(
        "{0} does not take this login any more: it has to be finished within two minutes, and once. Log in again"
    )]
    InvalidGrant(String),
    /// The server wants a pause.
    #[error("{0} asks for a pause: log in again in a minute")]
    Pause(String),
    /// The server cannot be asked.
    #[error("{0} could not be asked ({1}): does the network work here? Log in again")]
    Lost(String, String),
    /// The token is not for playing at boards.
    #[error(
        "the token of {0} is not for playing at boards: it lacks the scope board:play. Log in again"
    )]
    NotForPlay(String),
    /// No secrets can be made.
    #[error("this computer has no random numbers now: try again")]
    NoRandom,
}

impl LoginError {
    /// What an outcome of the exchange means; `server` is its address.
    pub fn of(server: &str, outcome: Outcome) -> Self {
        let server = server.to_owned();
        match outcome {
            Outcome::Refused(name) if name == "invalid_grant" => Self::InvalidGrant(server),
            Outcome::Refused(name) => Self::Refused(server, plain(&name)),
            Outcome::NoToken => Self::Refused(server, "no such token".to_owned()),
            Outcome::TooMany => Self::Pause(server),
            Outcome::Lost(why) | Outcome::Done(why) => Self::Lost(server, why),
        }
    }

    /// What an error means that came back by the browser.
    pub fn returned(server: &str, name: &str) -> Self {
        if name == "access_denied" {
            Self::Denied
        } else {
            Self::Refused(server.to_owned(), plain(name))
        }
    }
}

impl From<LoginError> for NotDone {
    fn from(error: LoginError) -> Self {
        match error {
            LoginError::Unknown | LoginError::Expired | LoginError::OtherBrowser => {
                Self::Refused(error.to_string())
            }
            _ => Self::NotNow(error.to_string()),
        }
    }
}

/// The name of an error, without what is in none.
fn plain(name: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || "_-. ".contains(*c);
    name.chars().filter(plain).take(MAX_NAME).collect()
}

/// A login that was begun.
pub struct Started {
    state: String,
    verifier: String,
    back: String,
    /// The secret of the browser that began it; none if any may finish it.
    browser: Option<String>,
    until: Instant,
}

/// All of them.
pub struct Logins {
    server: String,
    scope: &'static str,
    started: VecDeque<Started>,
}

impl Logins {
    /// None yet, at this server, for what this scope allows.
    pub fn new(server: &str, scope: &'static str) -> Self {
        Self {
            server: server.to_owned(),
            scope,
            started: VecDeque::new(),
        }
    }

    /// Begins one; the browser is sent back to this address.
    ///
    /// # Errors
    /// [`LoginError::NoRandom`].
    pub fn begin(
        &mut self,
        now: Instant,
        back: String,
        any_browser: bool,
    ) -> Result<Begun, LoginError> {
        let no_random = |_| LoginError::NoRandom;
        let started = Started {
            state: pkce::secret().map_err(no_random)?,
            verifier: pkce::verifier().map_err(no_random)?,
            back,
            browser: if any_browser {
                None
            } else {
                Some(pkce::secret().map_err(no_random)?)
            },
            until: now + LOGIN_WAIT,
        };
        let query = query(&[
            ("response_type", "code"),
            ("client_id", CLIENT_ID),
            ("redirect_uri", &started.back),
            ("code_challenge_method", "S256"),
            ("code_challenge", &pkce::challenge(&started.verifier)),
            ("scope", self.scope),
            ("state", &started.state),
        ]);
        let begun = Begun {
            url: format!("{}/oauth?{query}", self.server),
            browser: started.browser.clone(),
        };
        while self.started.len() >= MAX_STARTED {
            self.started.pop_front();
        }
        self.started.push_back(started);
        Ok(begun)
    }

    /// Takes the login with this state out, for one use: also if it came back by another browser, or too late.
    ///
    /// # Errors
    /// There is no such login, or it may not be finished like that.
    pub fn take(
        &mut self,
        now: Instant,
        state: &str,
        browser: Option<&str>,
    ) -> Result<Started, LoginError> {
        // All are compared, so that the time tells nothing.
        let found = self.started.iter().enumerate();
        let found = found.fold(None, |found, (index, started)| {
            if started.state.as_bytes().ct_eq(state.as_bytes()).into() {
                Some(index)
            } else {
                found
            }
        });
        let started = found.and_then(|index| self.started.remove(index));
        let started = started.ok_or(LoginError::Unknown)?;
        if now >= started.until {
            return Err(LoginError::Expired);
        }
        let is_known = |own: &String| {
            browser.is_some_and(|other| own.as_bytes().ct_eq(other.as_bytes()).into())
        };
        if !started.browser.as_ref().is_none_or(is_known) {
            return Err(LoginError::OtherBrowser);
        }
        Ok(started)
    }
}

impl Started {
    /// The form that exchanges this code for a token.
    pub fn form(&self, code: &str) -> String {
        query(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", &self.verifier),
            ("redirect_uri", &self.back),
            ("client_id", CLIENT_ID),
        ])
    }
}

/// A form, or the query of an address.
fn query(pairs: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (name, value) in pairs {
        if !text.is_empty() {
            text.push('&');
        }
        text.push_str(name);
        text.push('=');
        for byte in value.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                text.push(char::from(byte));
            } else {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}
