//! Logs the account in and out, and lets it play while there is a token.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use tracing::{Instrument as _, info, warn};

use super::{
    http::Http,
    login::{LoginError, Logins},
    server::{self, Table},
    session::{LichessAccount, Outcome},
    token::{Place, Token},
};
use crate::{
    bus::{
        Bus,
        account::NotDone,
        login::{Asked, Begun, Returned},
    },
    system::apart,
    vocabulary::{BoardName, Command},
};

/// How long a board may take to accept that a player has logged out. Its task answers at once, unless it hangs.
const RELEASE_WAIT: Duration = Duration::from_secs(1);

/// Everything that logging in needs.
pub struct Entrance {
    /// What is played with, or why nothing is.
    pub table: Result<Table, String>,
    /// Whether the configuration wants the account to be connected without a login, too.
    pub always: bool,
    /// Where the token is.
    pub token: Place,
    /// The server.
    pub url: String,
    /// What logins are for.
    pub scope: &'static str,
    /// Where logins are asked for.
    pub bus: Bus,
}

/// The account while it is connected.
struct Playing {
    stop: CancellationToken,
    task: AbortOnDropHandle<Table>,
}

struct Room {
    /// `None` while it is used.
    table: Option<Table>,
    playing: Option<Playing>,
    board: Result<BoardName, String>,
    token: Place,
    url: String,
    logins: Logins,
    stop: CancellationToken,
}

/// Runs until `stop` is cancelled.
pub async fn serve(entrance: Entrance, stop: CancellationToken) {
    let mut desk = entrance.bus.logins().open();
    let board = entrance
        .table
        .as_ref()
        .map(|table| table.board.name.clone());
    let mut room = Room {
        board: board.map_err(Clone::clone),
        table: entrance.table.ok(),
        playing: None,
        token: entrance.token,
        logins: Logins::new(&entrance.url, entrance.scope),
        url: entrance.url,
        stop: stop.clone(),
    };
    if entrance.always || room.token.is_kept() {
        room.play();
    }
    loop {
        let asked = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            asked = desk.asked() => asked,
        };
        // Whoever asked may have left.
        match asked {
            Asked::Begin {
                back,
                any_browser,
                answer,
            } => drop(answer.send(room.begin(back, any_browser))),
            Asked::Finish {
                returned,
                browser,
                answer,
            } => {
                let done = tokio::select! {
                    biased;
                    () = stop.cancelled() => break,
                    done = room.finish(returned, browser.as_deref()) => done,
                };
                drop(answer.send(done));
            }
            Asked::LogOut { answer } => drop(answer.send(room.log_out().await)),
        }
    }
    if let Some(playing) = room.playing.take() {
        let _ = playing.task.await;
    }
}

impl Room {
    /// Connects the account.
    fn play(&mut self) {
        if let Some(mut table) = self.table.take() {
            let stop = self.stop.child_token();
            let halt = stop.clone();
            let playing = async move {
                server::serve(&mut table, halt).await;
                table
            };
            let task = AbortOnDropHandle::new(tokio::spawn(playing.in_current_span()));
            self.playing = Some(Playing { stop, task });
        }
    }

    /// Disconnects the account; its game is kept in the table.
    async fn halt(&mut self) {
        let Some(playing) = self.playing.take() else {
            return;
        };
        playing.stop.cancel();
        match playing.task.await {
            Ok(mut table) => {
                table.memory = table.shelf.latest().get();
                self.table = Some(table);
            }
            Err(error) => warn!("games on Lichess need a restart of BoardBridge: {error}"),
        }
    }

    fn begin(&mut self, back: String, any_browser: bool) -> Result<Begun, NotDone> {
        self.token.is_open()?;
        self.board.as_ref().map_err(Clone::clone)?;
        let now = Instant::now().into_std();
        Ok(self.logins.begin(now, back, any_browser)?)
    }

    async fn finish(
        &mut self,
        returned: Returned,
        browser: Option<&str>,
    ) -> Result<String, NotDone> {
        let now = Instant::now().into_std();
        let started = self.logins.take(now, &returned.state, browser)?;
        let code = returned
            .code
            .map_err(|name| LoginError::returned(&self.url, &name))?;
        let wrong = |outcome| LoginError::of(&self.url, outcome);
        let mut http = Http::new(&self.url);
        let token = http.granted(started.form(&code)).await.map_err(wrong)?;
        http.set_token(Some(token.clone()));
        let owner = http.owner().await.map_err(wrong)?;
        if !owner.may_play {
            return Err(LoginError::NotForPlay(owner.name).into());
        }
        let before = self.token.kept().and_then(Result::ok);
        let place = self.token.clone();
        let kept = apart::run("token", move || place.keep(&token)).await;
        kept.and_then(|kept| kept)
            .map_err(|error| format!("the token cannot be kept: {error}. Log in again"))?;
        info!("logged in to {} as {}", self.url, owner.name);
        if let Some(before) = before {
            let url = self.url.clone();
            // If it fails, the token before lives on until it expires; no one waits for it.
            tokio::spawn(async move { revoked(&url, before).await });
        }
        // With the new token; a game that runs goes on if it is this player's.
        self.halt().await;
        self.play();
        let board = self.board.as_ref().map(ToString::to_string);
        Ok(format!(
            "You are logged in as {}. Games are played on {}",
            owner.name,
            board.unwrap_or_default()
        ))
    }

    async fn log_out(&mut self) -> Result<String, NotDone> {
        self.token.is_open()?;
        let Some(token) = self.token.kept() else {
            return match self.token.read() {
                Ok(_) => Err(NotDone::NotNow(format!(
                    "the token was not made by a login here: remove {}, then reload",
                    self.token.elsewhere().display()
                ))),
                Err(_) => Ok("No one is logged in".to_owned()),
            };
        };
        let place = self.token.clone();
        let forgotten = apart::run("token", move || place.forget()).await;
        forgotten
            .and_then(|forgotten| forgotten)
            .map_err(|error| format!("the token cannot be deleted: {error}"))?;
        self.halt().await;
        if let Some(table) = &mut self.table {
            // The next player has another game.
            let fresh = LichessAccount::new(table.client, table.settings.clone());
            table.memory = None;
            table.shelf.keep(fresh.memory()).await;
            let client = table.client;
            let release = table.board.commands.send(Command::Release { client });
            let _ = timeout(RELEASE_WAIT, release).await;
        }
        info!("logged out of {}", self.url);
        let told = match token {
            Ok(token) => revoked(&self.url, token).await,
            Err(error) => Outcome::Refused(error.to_string()),
        };
        let why = match told {
            // It is revoked already.
            Outcome::Done(_) | Outcome::NoToken => {
                return Ok("You are logged out".to_owned());
            }
            Outcome::TooMany => "it asks for a pause".to_owned(),
            Outcome::Refused(why) | Outcome::Lost(why) => why,
        };
        Ok(format!(
            "The token is forgotten here, but {} could not be told ({why}): revoke it at {}/account/security",
            self.url, self.url
        ))
    }
}

/// Revokes a token.
async fn revoked(url: &str, token: Token) -> Outcome {
    let mut http = Http::new(url);
    http.set_token(Some(token));
    http.revoke().await
}
