//! What the app's two radio transports share: problems that are said once, and retrying without limit.

use std::{future::Future, time::Duration};

use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{Availability, Connection};
use crate::transport::{Backoff, backoff::LONGEST};

pub(super) use crate::transport::bluez::{Bus, RadioError, adapters, ask, none, off};

/// How often Bluetooth is asked whether it still has our registration: not every end of it is reported. The same as for
/// a link to a board.
pub(super) const CHECK: Duration = Duration::from_secs(5);

/// How long to wait after a refusal that did not pass soon: the cause is another program, and bluer leaks a little for
/// every registration that fails.
const REFUSED_WAIT: Duration = Duration::from_secs(30);
/// How long an opening may still take after a stop was requested: a hung Bluetooth service must not delay
/// the end.
const GRACE: Duration = Duration::from_secs(2);

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
