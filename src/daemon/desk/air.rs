//! Boards in the air: listened for while somebody looks for boards, and not otherwise.

use std::time::Duration;

use tokio::{task::JoinHandle, time::Instant};
use tracing::info;

use crate::{
    discovery::{Sighting, in_the_air},
    transport::ble::{BleError, Radio, Seen, Wanted},
};

/// How long is listened at once. Boards advertise once or more a second.
const LISTEN: Duration = Duration::from_secs(8);
/// What was heard longer ago is not shown.
const FRESH: Duration = Duration::from_mins(1);

/// What is in the air.
#[derive(Debug)]
pub(super) struct Air {
    radio: Radio,
    listening: Option<JoinHandle<Result<Vec<Seen>, BleError>>>,
    heard: Vec<Sighting>,
    at: Option<Instant>,
    /// Why nothing can be heard.
    deaf: Option<BleError>,
}

impl Air {
    /// Nothing was heard yet.
    pub fn new(radio: Radio) -> Self {
        Self {
            radio,
            listening: None,
            heard: Vec::new(),
            at: None,
            deaf: None,
        }
    }

    /// Whether a board has the device at this address.
    pub fn has(&self, address: &str) -> bool {
        self.radio.has(address)
    }

    /// Whether a board that looks for this name has no device yet, and may take one of that name, at that address.
    pub fn may_have(&self, looked_for: &str, name: &str, address: &str) -> bool {
        let wanted = Wanted::Name(looked_for.to_owned());
        wanted.fits(Some(name), address) && !self.radio.has_found(&wanted)
    }

    /// Why nothing could be heard when it listened last.
    pub fn deaf(&self) -> Option<&BleError> {
        self.deaf.as_ref()
    }

    /// What was heard lately. Whoever asks makes it listen: the next answer has more.
    pub async fn boards(&mut self) -> Vec<Sighting> {
        if let Some(listening) = self.listening.take_if(|listening| listening.is_finished()) {
            match listening.await {
                Ok(Ok(seen)) => {
                    self.heard = in_the_air(&seen);
                    self.at = Some(Instant::now());
                    self.deaf = None;
                }
                Ok(Err(error)) => {
                    if self.deaf.is_none() {
                        info!("no Bluetooth board can be found: {error}");
                    }
                    self.deaf = Some(error);
                }
                Err(_) => {}
            }
        }
        if self.listening.is_none() {
            let radio = self.radio.clone();
            let listen = async move { radio.look_around(None, LISTEN).await };
            self.listening = Some(tokio::spawn(listen));
        }
        if self.at.is_none_or(|at| at.elapsed() > FRESH) {
            self.heard.clear();
        }
        self.heard.clone()
    }
}

impl Drop for Air {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}
