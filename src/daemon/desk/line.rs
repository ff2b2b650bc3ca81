//! A serial line with a board that is not added: it is asked what it is, unless another program has it.

use std::{
    io,
    path::{Path, PathBuf},
};

use nix::unistd::geteuid;

use crate::{
    bus::desk::Refused,
    discovery::{
        Sighting, Way,
        probe::{self, Finding},
    },
    system::{
        apart,
        holders::{Holder, Holders},
        traffic::is_used,
    },
    text::escape::escaped,
    transport::{OpenError, serial::SerialPort},
};

/// What is connected to a port, unless another program has it; and the port, which may not be closed yet.
pub(super) async fn which(port: &Path) -> (Finding, SerialPort) {
    let line = SerialPort::new(port.display().to_string(), 0);
    if let Err(error) = is_free(port).await {
        return (Finding::Barred(error), line);
    }
    let open = |baud| {
        let mut line = line.clone();
        line.baud = baud;
        async move { line.open().await }
    };
    (probe::ask(open).await, line)
}

/// Who has this port open, if this user may know.
async fn holder(port: &Path) -> io::Result<Option<Holder>> {
    let path = port.to_owned();
    apart::run("holders", move || Holders::now().of_file(&path)).await
}

/// Why nothing is asked at a port that another program has open.
pub(super) async fn in_use(port: &Path) -> Refused {
    let holder = holder(port).await.ok().flatten();
    let port = port.display().to_string();
    Refused::NotNow(OpenError::Busy { port, holder }.to_string())
}

/// Whether no other program has this port open, as far as that is seen. To open it too could disturb the two.
pub(super) async fn is_free(port: &Path) -> Result<(), OpenError> {
    let used = match holder(port).await {
        Ok(Some(holder)) => Ok(Some(Some(holder))),
        // Programs of other users are not among these.
        Ok(None) if !geteuid().is_root() => {
            let used = is_used(port).await;
            used.map(|used| used.then_some(None))
        }
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    let port = port.display().to_string();
    match used {
        Ok(None) => Ok(()),
        Ok(Some(holder)) => Err(OpenError::Busy { port, holder }),
        Err(source) => Err(OpenError::Other { port, source }),
    }
}

/// Why nothing is known of a board that was asked.
pub(super) fn unanswered(sighting: &Sighting) -> Refused {
    Refused::NotNow(format!(
        "nothing answered at {}: is the board switched on? If you know what it is, say its kind: a Novag Universal Chess Board (`--kind novag-ucb`) answers no question",
        escaped(&sighting.name)
    ))
}

/// What asks a board of this sighting what it is.
///
/// # Errors
/// It is not at a serial port.
pub(super) fn port(sighting: &Sighting) -> Result<PathBuf, Refused> {
    match &sighting.way {
        Way::Serial(port) => Ok(port.clone()),
        _ => Err(Refused::Bad("say which kind it is".to_owned())),
    }
}
