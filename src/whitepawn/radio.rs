//! What the two radio transports share: the adapter, what is wrong with it in words, and trying again for ever.

use std::{future::Future, time::Duration};

use bluer::{Adapter, Error, ErrorKind, InternalErrorKind, Session};
use thiserror::Error;
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{Connection, Trouble};
use crate::transport::{
    Backoff,
    backoff::LONGEST,
    ble::{BleError, CALL_WAIT},
};

/// How often Bluetooth is asked whether it still knows of us: not every end of it is told. The same as for an open
/// link to a board.
pub(super) const CHECK: Duration = Duration::from_secs(5);

/// How long to wait after a refusal that did not pass soon: what refuses is another program, and bluer keeps a little of
/// every registration that fails.
const REFUSED_WAIT: Duration = Duration::from_secs(30);
/// How long what is being opened may take when it is to be stopped: a Bluetooth service that hangs must not hold up
/// the end.
const GRACE: Duration = Duration::from_secs(2);

/// Why the app cannot reach the board by radio, and what to do.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RadioError {
    /// Something is wrong with Bluetooth itself.
    #[error(transparent)]
    Bluetooth(#[from] BleError),
    /// Bluetooth, or D-Bus before it, does not answer at all.
    #[error(transparent)]
    Silent(BleError),
    /// `BlueZ` does not do what it is asked.
    #[error("Bluetooth cannot {what} ({why}): `bluetoothctl show` tells what the adapter can do")]
    Cannot {
        /// What it was asked.
        what: &'static str,
        /// What it says.
        why: String,
    },
    /// Another program has registered the serial port profile.
    #[error(
        "another program, or another [[whitepawn]], has Bluetooth's serial port already: only one can have it"
    )]
    Taken,
    /// `BlueZ` has forgotten what it was asked.
    #[error("Bluetooth was started anew")]
    Restarted,
}

/// Bluetooth does not answer.
fn silent() -> RadioError {
    RadioError::Silent(BleError::NoBluetooth("it does not answer".to_owned()))
}

/// Asks Bluetooth for something, and gives it [`CALL_WAIT`] to answer.
pub(super) async fn ask<T>(
    what: &'static str,
    call: impl Future<Output = bluer::Result<T>>,
) -> Result<T, RadioError> {
    match timeout(CALL_WAIT, call).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(meant(what, &error)),
        Err(_) => Err(silent()),
    }
}

/// What an error means.
fn meant(what: &'static str, error: &Error) -> RadioError {
    match &error.kind {
        ErrorKind::NotAuthorized => BleError::NotAllowed.into(),
        ErrorKind::Internal(InternalErrorKind::DBus(name)) if name.ends_with(".AccessDenied") => {
            BleError::NotAllowed.into()
        }
        // The service answers, but knows no such thing: an adapter without low energy, or one that has gone.
        ErrorKind::Internal(InternalErrorKind::DBus(name))
            if name.starts_with("org.freedesktop.DBus.Error.Unknown") =>
        {
            RadioError::Cannot {
                what,
                why: error.message.clone(),
            }
        }
        // D-Bus answers, and says why the service does not.
        ErrorKind::Internal(InternalErrorKind::DBus(name))
            if ![".NoReply", ".Disconnected"]
                .iter()
                .any(|end| name.ends_with(end)) =>
        {
            BleError::NoBluetooth(error.message.clone()).into()
        }
        ErrorKind::Internal(_) => RadioError::Silent(BleError::NoBluetooth(error.message.clone())),
        _ if error.message.is_empty() => RadioError::Cannot {
            what,
            why: error.kind.to_string(),
        },
        _ => RadioError::Cannot {
            what,
            why: error.message.clone(),
        },
    }
}

/// The connection to D-Bus. It outlives Bluetooth: bluer keeps a task of each that is closed, for good.
#[derive(Debug, Default)]
pub(super) struct Bus(Option<Session>);

impl Bus {
    /// The connection, a new one if there is none.
    pub async fn session(&mut self) -> Result<Session, RadioError> {
        if let Some(session) = &self.0 {
            return Ok(session.clone());
        }
        let session = ask("be reached", Session::new()).await?;
        Ok(self.0.insert(session).clone())
    }

    /// Gives the connection up, if it may be what does not answer.
    pub fn failed(&mut self, error: &RadioError) {
        if matches!(error, RadioError::Silent(_)) {
            self.0 = None;
        }
    }
}

/// Every adapter, in the order of their names, and whether it is on. It is the user's to switch one on.
pub(super) async fn adapters(session: &Session) -> Result<Vec<(Adapter, bool)>, RadioError> {
    let mut names = ask("list its adapters", session.adapter_names()).await?;
    names.sort();
    let mut adapters = Vec::with_capacity(names.len());
    for name in names {
        let adapter = session
            .adapter(&name)
            .map_err(|error| meant("open its adapter", &error))?;
        let on = ask("tell whether it is on", adapter.is_powered()).await?;
        adapters.push((adapter, on));
    }
    Ok(adapters)
}

/// There is no such adapter.
pub(super) fn none(wanted: Option<&str>, adapters: &[(Adapter, bool)]) -> RadioError {
    let there = adapters
        .iter()
        .map(|(adapter, _)| adapter.name().to_owned());
    let error = BleError::NoAdapter {
        wanted: wanted.map(str::to_owned),
        there: there.collect(),
    };
    error.into()
}

/// The adapter is off.
pub(super) fn off(adapter: &Adapter) -> RadioError {
    let adapter = adapter.name().to_owned();
    BleError::Off { adapter }.into()
}

/// Opens something. When it is to be stopped meanwhile it is opened nevertheless, to be closed in order: what is left half
/// registered `BlueZ` would keep. Nothing, if that takes too long.
pub(super) async fn open<T>(
    opening: impl Future<Output = Result<T, RadioError>>,
    connections: &mpsc::Sender<Connection>,
    stop: &CancellationToken,
) -> Option<Result<T, RadioError>> {
    tokio::pin!(opening);
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        () = connections.closed() => {}
        opened = &mut opening => return Some(opened),
    }
    timeout(GRACE, opening).await.ok()
}

/// Attempts without end, and what was said of them: each thing once, until it changes.
#[derive(Debug)]
pub(super) struct Attempts {
    /// By what the app would reach the board.
    way: &'static str,
    backoff: Backoff,
    said: Option<RadioError>,
    trouble: Trouble,
}

impl Attempts {
    /// None so far.
    pub fn new(way: &'static str, trouble: Trouble) -> Self {
        Self {
            way,
            trouble,
            backoff: Backoff::default(),
            said: None,
        }
    }

    /// It works.
    pub fn succeeded(&mut self, words: &str) {
        info!("{words}");
        self.backoff.reset();
        self.said = None;
        self.trouble.is_over();
    }

    /// It does not, or no more. Waits until it is to be tried again; false when it is not.
    pub async fn failed(
        &mut self,
        error: RadioError,
        connections: &mpsc::Sender<Connection>,
        stop: &CancellationToken,
    ) -> bool {
        let refused = matches!(error, RadioError::Cannot { .. } | RadioError::Taken);
        if self.said.as_ref() != Some(&error) {
            warn!("the app cannot reach the board {}: {error}", self.way);
            self.trouble.is(&error);
            self.said = Some(error);
        }
        let mut wait = self.backoff.next_wait();
        if refused && wait == LONGEST {
            wait = REFUSED_WAIT;
        }
        tokio::select! {
            () = sleep(wait) => true,
            () = stop.cancelled() => false,
            () = connections.closed() => false,
        }
    }
}
