//! The radio of a simulated phone: finds a board by its name over Bluetooth LE and talks to it as the `WhitePawn` app
//! was seen to, with btleplug on an adapter of this machine.
//!
//! It subscribes, waits briefly, and then writes with response, one message per write.

use std::{io, time::Duration};

use btleplug::{
    api::{
        Central as _, CentralEvent, Characteristic, Manager as _, Peripheral as _, ScanFilter,
        ValueNotification, WriteType,
    },
    platform::{Adapter, Manager, Peripheral},
};
use futures_util::{StreamExt, stream::BoxStream};
use thiserror::Error;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split},
    time::{Instant, interval, sleep, timeout},
};
use tracing::debug;
use uuid::Uuid;

use crate::Stream;

/// From the subscription to the first write (seen in a capture of the app).
pub const WRITE_AFTER: Duration = Duration::from_millis(210);
/// How often to look for the board: a name that comes with the scan response causes no event.
const LOOK: Duration = Duration::from_millis(100);
/// How long a scan lasts before it is restarted. Virtual radios are heard only when a scan or an advertisement begins,
/// and Linux does not listen in the first moment of a scan.
const SCAN: Duration = Duration::from_secs(3);
/// The limit for finding the board, and for each write. A virtual machine is slow.
const STEP_WAIT: Duration = Duration::from_secs(30);
/// The limit for one attempt to reach the board, from the connection to the subscription. It is lost when the board
/// restarts its advertisement just then, or when the link ends on which another program of this machine had the board;
/// a successful one takes about a second.
const ATTEMPT_WAIT: Duration = Duration::from_secs(8);
/// The limit for all attempts: four of them, each with the time to give it up.
const REACH_WAIT: Duration = ATTEMPT_WAIT.saturating_mul(8);
/// Bytes buffered in each direction between the radio and the app.
const BUFFER: usize = 4096;

/// D-Bus errors that mean that this user may not use Bluetooth.
const DENIED: [&str; 3] = ["AccessDenied", "NotAuthorized", "NotPermitted"];

/// The phone cannot reach the board.
#[derive(Debug, Error)]
pub enum PhoneError {
    /// There is no Bluetooth service.
    #[error(
        "Bluetooth does not answer ({0}): is it installed and running? `sudo apt install bluez`, then `sudo systemctl \
         start bluetooth`"
    )]
    NoBluetooth(btleplug::Error),
    /// This user may not use Bluetooth.
    #[error(
        "this user is not allowed to use Bluetooth: add it to the group bluetooth (`sudo usermod -aG bluetooth \
         USER`) and log in again"
    )]
    NotAllowed,
    /// There is no adapter, or not the requested one.
    #[error("{0}")]
    NoAdapter(String),
    /// A step timed out.
    #[error("the phone cannot {0} in time")]
    Late(&'static str),
    /// The board has no such characteristic.
    #[error("the board has no characteristic {0}")]
    Missing(Uuid),
    /// Bluetooth refused something.
    #[error(transparent)]
    Bluetooth(#[from] btleplug::Error),
}

/// What a phone looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhoneRadio {
    /// The adapter it looks with, such as `hci0`; the first one by default.
    pub adapter: Option<String>,
    /// The board's name.
    pub name: String,
    /// The characteristic it writes to.
    pub write: Uuid,
    /// The characteristic it subscribes to.
    pub notify: Uuid,
}

/// A board that the phone has subscribed to.
struct Link {
    write: Characteristic,
    notify: Characteristic,
    values: BoxStream<'static, ValueNotification>,
    events: BoxStream<'static, CentralEvent>,
}

impl PhoneRadio {
    /// Finds the board, connects and subscribes. Data written to the stream is sent line by line; the stream ends
    /// with the link, and the link with the stream.
    ///
    /// # Errors
    /// [`PhoneError`].
    pub async fn connect(&self) -> Result<Box<dyn Stream>, PhoneError> {
        let adapter = self.adapter().await?;
        let board = in_time("find the board", STEP_WAIT, self.find(&adapter)).await?;
        let Link {
            write,
            notify,
            values,
            events,
        } = in_time("subscribe", REACH_WAIT, self.reach(&adapter, &board)).await?;
        sleep(WRITE_AFTER).await;

        let (mut near, far) = duplex(BUFFER);
        let id = board.id();
        let gone = async move {
            let mut events = events;
            while let Some(event) = events.next().await {
                if matches!(&event, CentralEvent::DeviceDisconnected(other) if *other == id) {
                    return;
                }
            }
        };
        tokio::spawn(async move {
            let values = values.filter_map(|value| async { Some(value.value) });
            tokio::select! {
                () = gone => debug!("the board has ended the link"),
                done = talk(&mut near, &board, &write, values) => debug!(?done, "the app has ended the link"),
            }
            // `BlueZ` keeps the subscription over a lost link, and would report every value twice after the next one.
            // Both may fail if the board is gone already.
            let _ = timeout(STEP_WAIT, board.unsubscribe(&notify)).await;
            let _ = timeout(STEP_WAIT, board.disconnect()).await;
            // Only now the stream ends for its reader.
            drop(near);
        });
        Ok(Box::new(far))
    }

    /// Connects and subscribes, with as many attempts as needed.
    async fn reach(&self, adapter: &Adapter, board: &Peripheral) -> Result<Link, PhoneError> {
        loop {
            match timeout(ATTEMPT_WAIT, self.attempt(adapter, board)).await {
                Ok(Err(PhoneError::Bluetooth(error))) => debug!(%error, "not reached"),
                Ok(done) => return done,
                Err(_) => debug!("not reached in time"),
            }
            // Gives the attempt up.
            let _ = timeout(ATTEMPT_WAIT, board.disconnect()).await;
            sleep(LOOK).await;
        }
    }

    async fn attempt(&self, adapter: &Adapter, board: &Peripheral) -> Result<Link, PhoneError> {
        board.connect().await?;
        board.discover_services().await?;
        let characteristic = |uuid| {
            let mut all = board.characteristics().into_iter();
            all.find(|one| one.uuid == uuid)
                .ok_or(PhoneError::Missing(uuid))
        };
        let write = characteristic(self.write)?;
        let notify = characteristic(self.notify)?;
        // Before subscribing, so that nothing is missed.
        let values = board.notifications().await?;
        let events = adapter.events().await?;
        board.subscribe(&notify).await?;
        Ok(Link {
            write,
            notify,
            values,
            events,
        })
    }

    async fn adapter(&self) -> Result<Adapter, PhoneError> {
        let adapters = async { Manager::new().await?.adapters().await }.await;
        let mut there = Vec::new();
        for adapter in adapters.map_err(no_session)? {
            // "hci0 (usb:…)": the name is the first word.
            let info = adapter.adapter_info().await?;
            let name = info.split(' ').next().unwrap_or_default();
            if self.adapter.as_deref().is_none_or(|wanted| wanted == name) {
                return Ok(adapter);
            }
            there.push(name.to_owned());
        }
        Err(PhoneError::NoAdapter(match &self.adapter {
            Some(wanted) if !there.is_empty() => format!(
                "there is no Bluetooth adapter {wanted}: write adapter = \"{}\" or leave it out",
                there.join("\" or \"")
            ),
            _ => "this machine has no Bluetooth adapter: plug one in, or check `rfkill list` and `dmesg`".to_owned(),
        }))
    }

    async fn find(&self, adapter: &Adapter) -> Result<Peripheral, PhoneError> {
        adapter.start_scan(ScanFilter::default()).await?;
        let mut looks = interval(LOOK);
        let mut begun = Instant::now();
        let found = loop {
            looks.tick().await;
            if begun.elapsed() > SCAN {
                begun = Instant::now();
                adapter.stop_scan().await?;
                adapter.start_scan(ScanFilter::default()).await?;
            }
            let mut found = None;
            for one in adapter.peripherals().await? {
                // It may have gone since.
                let Ok(Some(properties)) = one.properties().await else {
                    continue;
                };
                let name = properties.advertisement_name.or(properties.local_name);
                // A board that was seen before and is not heard now has no signal strength; one that is just
                // disconnecting is still connected.
                let heard = properties.rssi.is_some() && !one.is_connected().await?;
                if heard && name.as_ref() == Some(&self.name) {
                    found = Some(one);
                }
            }
            if let Some(found) = found {
                break found;
            }
        };
        // Many adapters fail to connect while they scan.
        adapter.stop_scan().await?;
        Ok(found)
    }
}

/// Classifies an error of the Bluetooth service. The name of a D-Bus error appears in its debug text only.
fn no_session(error: btleplug::Error) -> PhoneError {
    let shown = format!("{error:?}");
    if DENIED.iter().any(|name| shown.contains(name)) {
        PhoneError::NotAllowed
    } else {
        PhoneError::NoBluetooth(error)
    }
}

/// Carries lines and values until the stream is closed or the link breaks.
async fn talk(
    near: &mut DuplexStream,
    board: &Peripheral,
    write: &Characteristic,
    values: impl futures_util::Stream<Item = Vec<u8>>,
) -> io::Result<()> {
    let (reader, mut writer) = split(near);
    let mut reader = BufReader::with_capacity(BUFFER, reader);
    let outgoing = async {
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).await? > 0 {
            let written = board.write(write, &line, WriteType::WithResponse);
            match timeout(STEP_WAIT, written).await {
                Ok(Ok(())) => line.clear(),
                Ok(Err(error)) => return Err(io::Error::other(error)),
                Err(_) => return Err(io::ErrorKind::TimedOut.into()),
            }
        }
        Ok(())
    };
    let incoming = async {
        let mut values = std::pin::pin!(values);
        while let Some(value) = values.next().await {
            writer.write_all(&value).await?;
        }
        Ok(())
    };
    tokio::select! {
        done = outgoing => done,
        done = incoming => done,
    }
}

async fn in_time<T>(
    what: &'static str,
    limit: Duration,
    step: impl Future<Output = Result<T, PhoneError>>,
) -> Result<T, PhoneError> {
    timeout(limit, step)
        .await
        .unwrap_or(Err(PhoneError::Late(what)))
}
