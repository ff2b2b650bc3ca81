//! An open link to a Bluetooth board: requests one at a time, notifications in order.

use std::{collections::BTreeSet, pin::Pin, sync::Arc, time::Duration};

use btleplug::{
    api::{CharPropFlags, Characteristic, Peripheral as _, WriteType, bleuuid::BleUuid},
    platform::Peripheral,
};
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::{
    sync::mpsc,
    time::{interval, timeout},
};
use tracing::{debug, warn};
use uuid::Uuid;

use super::{BUS_GONE, CALL_WAIT, Claim, Hub, Lost};
use crate::{
    transport::Incoming,
    vocabulary::{Channel, Outgoing, Reply, Request, Secret},
};

/// Requests that may wait. A driver makes one at a time.
const MAX_REQUESTS: usize = 64;
/// Values that may wait for the board's task. A board sends about ten a second at most; more are dropped,
/// which the recogniser tolerates.
const MAX_WAITING: usize = 256;
/// How long a request may take: the attribute protocol itself gives a request 30 s, a board answers in 0.2.
pub const REQUEST_WAIT: Duration = Duration::from_secs(10);
/// How often the system is asked whether the link is still up: a disconnect may go unreported.
const CHECK: Duration = Duration::from_secs(5);
/// Characteristics listed when the right one is missing: a home-made board has a handful.
const MAX_NAMED: usize = 16;
/// Ways to write a characteristic.
const WRITTEN: CharPropFlags = CharPropFlags::WRITE.union(CharPropFlags::WRITE_WITHOUT_RESPONSE);
/// Ways to receive its new values.
const NOTIFIED: CharPropFlags = CharPropFlags::NOTIFY.union(CharPropFlags::INDICATE);

/// An open link.
pub struct GattLink {
    requests: mpsc::Sender<Outgoing>,
    incoming: mpsc::Receiver<Result<Incoming, String>>,
    _claim: Claim,
}

type Answer = Pin<Box<dyn Future<Output = (Channel, Result<Option<Vec<u8>>, String>)> + Send>>;

impl GattLink {
    /// Takes over a device whose services are known.
    pub(super) async fn begin(
        hub: &Arc<Hub>,
        peripheral: Peripheral,
        claim: Claim,
    ) -> btleplug::Result<Self> {
        // Before anything is subscribed to, so that nothing is missed.
        let mut values = peripheral.notifications().await?;
        let mut losses = hub.losses();
        let id = peripheral.id();
        let (requests, mut asked) = mpsc::channel::<Outgoing>(MAX_REQUESTS);
        let (sender, incoming) = mpsc::channel(MAX_WAITING);
        let hub = Arc::clone(hub);
        claim.radio.spawn(async move {
            let mut answer: Option<Answer> = None;
            let mut check = interval(CHECK);
            let mut dropped = 0_u64;
            let why = loop {
                let free = answer.is_none();
                let answering = async {
                    match &mut answer {
                        Some(answer) => answer.await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    biased;
                    () = sender.closed() => break None,
                    value = values.next() => match value {
                        Some(value) => {
                            let incoming = Incoming::Received(Channel::Gatt(value.uuid), Bytes::from(value.value));
                            if sender.try_send(Ok(incoming)).is_err() {
                                dropped += 1;
                                if dropped == 1 {
                                    warn!("the board sends faster than it can be read: values are dropped");
                                }
                            }
                        }
                        None => break Some("Bluetooth has ended the connection".to_owned()),
                    },
                    (channel, result) = answering => {
                        answer = None;
                        let outcome = match result {
                            Ok(Some(value)) => {
                                let received = Incoming::Received(channel, Bytes::from(value));
                                if sender.send(Ok(received)).await.is_err() {
                                    break None;
                                }
                                Reply::Done
                            }
                            Ok(None) => Reply::Done,
                            Err(why) => Reply::Refused(why),
                        };
                        if sender.send(Ok(Incoming::Answered(channel, outcome))).await.is_err() {
                            break None;
                        }
                    }
                    // The hub lives as long as this task. If a message is missed, the periodic check finds the loss.
                    Ok(lost) = losses.recv() => match lost {
                        // It may be about an old link that was lost.
                        Lost::Device(gone) if gone == id => check.reset_immediately(),
                        Lost::Device(_) => {}
                        Lost::Adapter => break Some(format!("Bluetooth was switched off ({})", hub.name)),
                    },
                    () = hub.lost.cancelled() => break Some(BUS_GONE.to_owned()),
                    request = asked.recv(), if free => match request {
                        Some(request) => answer = Some(Box::pin(carry_out(peripheral.clone(), request))),
                        None => break None,
                    },
                    _ = check.tick() => {
                        let connected = timeout(CALL_WAIT, peripheral.is_connected()).await;
                        if !matches!(connected, Ok(Ok(true))) {
                            break Some("the board has ended the connection, or is out of reach".to_owned());
                        }
                    }
                }
            };
            drop(answer);
            if let Some(why) = why {
                // The board's task may have ended by now.
                let _ = sender.send(Err(why)).await;
            }
            drop(sender);
            if hub.lost.is_cancelled() {
                return;
            }
            match timeout(CALL_WAIT, peripheral.disconnect()).await {
                Ok(Ok(())) => debug!("disconnected"),
                Ok(Err(error)) => debug!(%error, "disconnecting"),
                Err(_) => debug!("disconnecting takes too long"),
            }
        });
        Ok(Self {
            requests,
            incoming,
            _claim: claim,
        })
    }

    /// Accepts one request. Drivers make one at a time, so that there is always room.
    pub fn send(&mut self, outgoing: &Outgoing) {
        if self.requests.try_send(outgoing.clone()).is_err() {
            debug!("a request is dropped: the link is ending");
        }
    }

    /// Waits for input. Cancel safe: nothing is lost.
    ///
    /// # Errors
    /// Why the link is broken, for the player.
    pub async fn next(&mut self) -> Result<Incoming, String> {
        match self.incoming.recv().await {
            Some(incoming) => incoming,
            None => Err("the connection to the board is lost".to_owned()),
        }
    }
}

/// Whether `BlueZ` says that it does this already.
pub(super) fn is_under_way(error: &btleplug::Error) -> bool {
    let text = error.to_string();
    ["Already notifying", "In Progress", "InProgress"]
        .iter()
        .any(|known| text.contains(known))
}

/// The message for a missing characteristic: lists those that could be meant.
fn missing(uuid: Uuid, there: &BTreeSet<Characteristic>) -> String {
    let usable = there.iter().filter_map(|characteristic| {
        let has = |flags| characteristic.properties.intersects(flags);
        let uses = match (has(WRITTEN), has(NOTIFIED)) {
            (true, true) => "write, notify",
            (true, false) => "write",
            (false, true) => "notify",
            (false, false) => return None,
        };
        Some(format!("{} ({uses})", written(characteristic.uuid)))
    });
    let usable: Vec<String> = usable.take(MAX_NAMED).collect();
    let has = match &usable[..] {
        [] => "none that is written or notifies".to_owned(),
        usable => usable.join(", "),
    };
    format!(
        "the board has no characteristic {}; it has {has}",
        written(uuid)
    )
}

/// A UUID as the configuration and makers write it: in its short form if it has one.
fn written(uuid: Uuid) -> String {
    match uuid.to_ble_u16() {
        Some(short) => format!("{short:04x}"),
        None => uuid.to_string(),
    }
}

/// One request, and the value it returns.
async fn carry_out(
    peripheral: Peripheral,
    outgoing: Outgoing,
) -> (Channel, Result<Option<Vec<u8>>, String>) {
    let channel = outgoing.channel;
    let Channel::Gatt(uuid) = channel else {
        return (channel, Err("this is not a serial line".to_owned()));
    };
    let found: Option<Characteristic> = peripheral
        .characteristics()
        .into_iter()
        .find(|characteristic| characteristic.uuid == uuid);
    let Some(characteristic) = found else {
        return (channel, Err(missing(uuid, &peripheral.characteristics())));
    };
    let request = async {
        match &outgoing.request {
            Request::Write(bytes) => peripheral
                .write(&characteristic, bytes, WriteType::WithResponse)
                .await
                .map(|()| None),
            Request::Command(bytes) | Request::Secret(Secret(bytes)) => {
                command(&peripheral, &characteristic, bytes)
                    .await
                    .map(|()| None)
            }
            Request::Read => peripheral.read(&characteristic).await.map(Some),
            Request::Subscribe => match peripheral.subscribe(&characteristic).await {
                // BlueZ keeps subscriptions after a lost link.
                Err(error) if is_under_way(&error) => Ok(None),
                other => other.map(|()| None),
            },
        }
    };
    let result = match timeout(REQUEST_WAIT, request).await {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("no answer".to_owned()),
    };
    (channel, result)
}

/// Writes without a response if the characteristic takes that, and with one if it does not, or if that failed.
async fn command(
    peripheral: &Peripheral,
    characteristic: &Characteristic,
    bytes: &Bytes,
) -> btleplug::Result<()> {
    let properties = characteristic.properties;
    if properties.contains(CharPropFlags::WRITE_WITHOUT_RESPONSE) {
        let write = peripheral.write(characteristic, bytes, WriteType::WithoutResponse);
        match write.await {
            Err(_) if properties.contains(CharPropFlags::WRITE) => {}
            other => return other,
        }
    }
    peripheral
        .write(characteristic, bytes, WriteType::WithResponse)
        .await
}
