//! The Bluetooth service of Linux, `BlueZ`, by bluer: its adapters, and its problems in words. For what btleplug cannot do: Bluetooth
//! Classic, and to be a peripheral.

use std::future::Future;

use bluer::{Adapter, Error, ErrorKind, InternalErrorKind, Session, Uuid};
use thiserror::Error;
use tokio::{sync::Semaphore, time::timeout};

use super::ble::{BleError, CALL_WAIT, error::unanswered};

/// The serial port profile (Bluetooth Assigned Numbers, service classes).
pub const SERIAL_PORT: Uuid = Uuid::from_u128(0x0000_1101_0000_1000_8000_0080_5f9b_34fb);

/// The turn to register for serial ports. From version 5.60 `BlueZ` refuses to register the serial port while a profile of any
/// program has it as its service (`register_profile` in its `src/profile.c`). A connection to a board registers as the serial
/// port's client for a moment; it and the app's serial port, which is registered for good, wait here for each other.
pub(crate) static SERIAL_PORT_TURN: Semaphore = Semaphore::const_new(1);

/// Why `BlueZ` does not do what is asked of it, and what to do.
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
pub(crate) async fn ask<T>(
    what: &'static str,
    call: impl Future<Output = bluer::Result<T>>,
) -> Result<T, RadioError> {
    match timeout(CALL_WAIT, call).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(meant(what, &error)),
        Err(_) => Err(silent()),
    }
}

/// Translates an error of a request.
pub(crate) fn meant(what: &'static str, error: &Error) -> RadioError {
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
pub(crate) struct Bus(Option<Session>);

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
pub(crate) async fn adapters(session: &Session) -> Result<Vec<(Adapter, bool)>, RadioError> {
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
pub(crate) fn none(wanted: Option<&str>, adapters: &[(Adapter, bool)]) -> RadioError {
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
pub(crate) fn off(adapter: &Adapter) -> RadioError {
    let adapter = adapter.name().to_owned();
    BleError::Off { adapter }.into()
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
