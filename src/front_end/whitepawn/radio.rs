//! What the two radio transports share: the adapter, its problems in words, and retrying without limit.

use std::{future::Future, time::Duration};

use bluer::{Adapter, Error, ErrorKind, InternalErrorKind, Session};
use thiserror::Error;
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{Availability, Connection};
use crate::transport::{
    Backoff,
    backoff::LONGEST,
    ble::{BleError, CALL_WAIT, error::unanswered},
};

/// How often Bluetooth is asked whether it still has our registration: not every end of it is reported. The same as for
/// a link to a board.
pub(super) const CHECK: Duration = Duration::from_secs(5);

/// How long to wait after a refusal that did not pass soon: the cause is another program, and bluer leaks a little for
/// every registration that fails.
const REFUSED_WAIT: Duration = Duration::from_secs(30);
/// How long an opening may still take after a stop was requested: a hung Bluetooth service must not delay
/// the end.
const GRACE: Duration = Duration::from_secs(2);

/// Why the app cannot reach the board by radio, and what to do.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RadioError {
    /// Something is wrong with Bluetooth itself.
    #[error(transparent)]
    Bluetooth(#[from] BleError),
    /// Bluetooth, or D-Bus before it, does not answer.
    #[error(transparent)]
    Silent(BleError),
    /// `BlueZ` refuses a request.
    #[error("Bluetooth cannot {what} ({why}): `bluetoothctl show` tells what the adapter can do")]
    Cannot {
        /// The request.
        what: &'static str,
        /// What it says.
        why: String,
    },
    /// Another program has registered the serial port profile.
    #[error(
        "another program, or another [[whitepawn]], has Bluetooth's serial port already: only one can have it"
    )]
    Taken,
    /// `BlueZ` has lost our registration.
    #[error("Bluetooth was restarted")]
    Restarted,
}

/// The `dbus` crate's error for a dead connection, on which nothing is sent any more.
const NOT_SENT: &str = "org.freedesktop.DBus.Error.Failed";

/// Bluetooth does not answer.
fn silent() -> RadioError {
    RadioError::Silent(BleError::NoBluetooth("it does not answer".to_owned()))
}

/// Sends Bluetooth a request, and gives it [`CALL_WAIT`] to answer.
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

/// Translates an error.
fn meant(what: &'static str, error: &Error) -> RadioError {
    match &error.kind {
        ErrorKind::NotAuthorized => BleError::NotAllowed.into(),
        ErrorKind::Internal(InternalErrorKind::DBus(name)) if name.ends_with(".AccessDenied") => {
            BleError::NotAllowed.into()
        }
        // The service answers, but has no such interface: an adapter without low energy, or one that is gone.
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
            if ![".NoReply", ".Disconnected", NOT_SENT]
                .iter()
                .any(|end| name.ends_with(end)) =>
        {
            unanswered(error.message.clone()).into()
        }
        ErrorKind::Internal(_) => RadioError::Silent(unanswered(error.message.clone())),
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

/// The connection to D-Bus. It outlives Bluetooth: bluer leaks a task for each one that is closed.
#[derive(Debug, Default)]
pub(super) struct Bus(Option<Session>);

impl Bus {
    /// The connection; a new one if there is none yet.
    pub async fn session(&mut self) -> Result<Session, RadioError> {
        if let Some(session) = &self.0 {
            return Ok(session.clone());
        }
        let session = ask("be reached", Session::new()).await?;
        Ok(self.0.insert(session).clone())
    }

    /// Drops the connection, if it may be the cause of the silence.
    pub fn failed(&mut self, error: &RadioError) {
        if matches!(error, RadioError::Silent(_)) {
            self.0 = None;
        }
    }
}

/// All adapters by name, and whether each is on. Only the user switches one on.
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

/// Opens something. If a stop is requested meanwhile, it is still opened, and then closed properly: `BlueZ` would keep
/// a half-finished registration. `None` if that takes too long.
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

/// Unlimited retries; each problem is reported once, until it changes.
#[derive(Debug)]
pub(super) struct Attempts {
    /// How the app would reach the board.
    way: &'static str,
    backoff: Backoff,
    said: Option<RadioError>,
    availability: Availability,
}

impl Attempts {
    /// No attempt yet.
    pub fn new(way: &'static str, availability: Availability) -> Self {
        Self {
            way,
            availability,
            backoff: Backoff::default(),
            said: None,
        }
    }

    /// The attempt has succeeded.
    pub fn succeeded(&mut self, words: &str) {
        info!("{words}");
        self.backoff.reset();
        self.said = None;
        self.availability.is_over();
    }

    /// Bluetooth does not work, or no longer. Waits until the next attempt; false if there is none.
    pub async fn failed(
        &mut self,
        error: RadioError,
        connections: &mpsc::Sender<Connection>,
        stop: &CancellationToken,
    ) -> bool {
        let refused = matches!(error, RadioError::Cannot { .. } | RadioError::Taken);
        if self.said.as_ref() != Some(&error) {
            warn!("the app cannot reach the board {}: {error}", self.way);
            self.availability.is(&error);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_connection_is_replaced() {
        let error = Error {
            kind: ErrorKind::Internal(InternalErrorKind::DBus(NOT_SENT.to_owned())),
            message: "Failed to send message".to_owned(),
        };
        assert!(matches!(meant("answer", &error), RadioError::Silent(_)));
    }
}
