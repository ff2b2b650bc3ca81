//! One central's connection: its writes become a stream, and the lines that come back become notifications.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bluer::{Adapter, Address, DeviceEvent, DeviceProperty, gatt::local::CharacteristicNotifier};
use bytes::BytesMut;
use futures_util::StreamExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split},
    sync::{Mutex, mpsc, watch},
    task::yield_now,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{
    centrals::{Centrals, Fresh, Link},
    stream::Far,
};
use crate::{
    front_end::whitepawn::{
        Connection,
        connection::{AskReceipt, Receipt},
    },
    transport::{ble::CALL_WAIT, duplex::AIR},
};

/// Bytes that wait in each direction between the radio and the front-end: about a hundred messages.
const BUFFER: usize = 4096;
/// The longest value of a characteristic, in bytes (Bluetooth Core, ATT 3.2.9); a line without an end is cut there.
const MAX_VALUE: usize = 512;
/// Bytes of a packet that are not part of a notification's value: 3, and 2 more for a central that takes several in one
/// packet (Bluetooth Core, ATT 3.4.7.1 and 3.4.7.4). `BlueZ` cuts off what does not fit.
const HEADER: usize = 5;
/// How long an app may be unsubscribed while the board has something to send. It subscribes before it writes.
const SUBSCRIBE_WAIT: Duration = Duration::from_secs(10);
/// How long `BlueZ` may take to show that it has taken what it was sent.
const RECEIPT_WAIT: Duration = Duration::from_millis(200);
/// Notifications after which `BlueZ` has to prove that it keeps up: it accepts them without an answer.
const WINDOW: usize = 32;

/// The one subscription of all centrals.
pub(super) type Notifier = Arc<Mutex<CharacteristicNotifier>>;

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The central has disconnected.
    Left,
    /// Nobody knows of its link any more: `BlueZ` or D-Bus has gone.
    Lost,
    /// It has unsubscribed.
    Unsubscribed,
    /// It wrote more than can be buffered.
    Overrun,
    /// The front-end has closed the stream.
    Closed,
    /// It writes without having subscribed to notifications.
    Deaf,
    /// Bluetooth does not keep up, or does not answer.
    Stuck,
    /// The board stops advertising and serving.
    Leaving,
}

/// What a central's task needs.
pub(super) struct Central {
    /// The adapter it uses.
    pub adapter: Adapter,
    /// All centrals.
    pub centrals: Arc<Centrals>,
    /// The subscription.
    pub notifier: watch::Receiver<Option<Notifier>>,
    /// Cancelled when the board stops serving.
    pub leave: CancellationToken,
}

impl Central {
    /// Serves a central until one of the two ends it; returns whether its link has ended too, as far as known.
    pub async fn serve(self, fresh: Fresh, connections: mpsc::Sender<Connection>) -> bool {
        let Fresh {
            address,
            writes,
            link,
        } = fresh;
        let (near, far) = duplex(BUFFER);
        let (reader, writer) = split(near);
        let connection = Connection {
            address: None,
            peer: format!("Bluetooth {address}").into(),
            stream: Box::new(Far::new(far, Arc::clone(&link))),
            medium: AIR,
            receipt: Some(asking(self.adapter.clone(), address, Arc::clone(&link))),
            lease: None,
        };
        let room = || usize::from(link.mtu.load(Ordering::Relaxed)).saturating_sub(HEADER);
        let end = tokio::select! {
            biased;
            end = incoming(connection, &connections, writes, writer) => end,
            end = self.outgoing(reader, room, &link) => end,
            end = ended(&self.adapter, address, &link) => end,
            () = self.leave.cancelled() => End::Leaving,
        };
        let end = match end {
            End::Unsubscribed if link.overrun.load(Ordering::Relaxed) => End::Overrun,
            end => end,
        };
        self.end(address, end).await
    }

    async fn end(&self, address: Address, end: End) -> bool {
        match end {
            End::Left => debug!(%address, "the app has disconnected"),
            End::Lost => debug!(%address, "Bluetooth no longer knows of the app's link"),
            End::Unsubscribed => debug!(%address, "the app has unsubscribed"),
            End::Closed => debug!(%address, "the front-end has closed the connection"),
            End::Leaving => debug!(%address, "the board stops advertising"),
            End::Overrun => {
                warn!(%address, "an app writes more than the board can take: it is disconnected");
            }
            End::Deaf => {
                warn!(%address, "an app writes but asks for no notifications: it is disconnected");
            }
            End::Stuck => {
                warn!(%address, "Bluetooth takes no more notifications: the app is disconnected");
            }
        }
        self.centrals.end(address);
        match end {
            End::Left | End::Lost => {}
            End::Unsubscribed => {
                // BlueZ also reports this when the link is lost.
                let again = self.centrals.idle(address);
                tokio::select! {
                    biased;
                    () = again.cancelled() => return false,
                    _ = left(&self.adapter, address) => {}
                    () = self.leave.cancelled() => self.disconnect(address).await,
                }
            }
            // In all other cases its link is cut, so that it notices.
            _ => self.disconnect(address).await,
        }
        self.centrals.forget(address);
        true
    }

    async fn disconnect(&self, address: Address) {
        let Ok(device) = self.adapter.device(address) else {
            return;
        };
        match timeout(CALL_WAIT, device.disconnect()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => debug!(%address, %error, "not disconnected"),
            Err(_) => warn!(%address, "Bluetooth does not disconnect the app"),
        }
    }

    /// Notifies what the front-end sends, one line per notification.
    async fn outgoing(
        &self,
        mut reader: ReadHalf<DuplexStream>,
        room: impl Fn() -> usize,
        link: &Link,
    ) -> End {
        let mut said = BytesMut::with_capacity(BUFFER);
        let mut notifier = self.notifier.clone();
        let mut sent = 0;
        loop {
            while let Some(line) = next_line(&mut said) {
                for value in line.chunks(room().clamp(1, MAX_VALUE)) {
                    if let Err(end) = notify(&mut notifier, value).await {
                        return end;
                    }
                    sent += 1;
                    if sent % WINDOW == 0 && !self.keeps_up().await {
                        return End::Stuck;
                    }
                }
            }
            link.sending.store(!said.is_empty(), Ordering::Relaxed);
            match reader.read_buf(&mut said).await {
                Ok(0) | Err(_) => return End::Closed,
                Ok(_) => link.sending.store(true, Ordering::Relaxed),
            }
        }
    }

    async fn keeps_up(&self) -> bool {
        matches!(
            timeout(CALL_WAIT, self.adapter.is_powered()).await,
            Ok(Ok(true))
        )
    }
}

/// Hands the connection to the front-end, and then what the central writes. Its end is not noticed here.
async fn incoming(
    connection: Connection,
    connections: &mpsc::Sender<Connection>,
    mut writes: mpsc::Receiver<Vec<u8>>,
    mut writer: WriteHalf<DuplexStream>,
) -> End {
    if connections.send(connection).await.is_err() {
        return End::Closed;
    }
    while let Some(value) = writes.recv().await {
        if writer.write_all(&value).await.is_err() {
            // The front-end has closed the stream; what it sent before is still on its way.
            break;
        }
    }
    std::future::pending().await
}

/// Sends one notification, once there is a subscriber.
async fn notify(notifier: &mut watch::Receiver<Option<Notifier>>, value: &[u8]) -> Result<(), End> {
    loop {
        let current = notifier.borrow_and_update().clone();
        let Some(current) = current else {
            match timeout(SUBSCRIBE_WAIT, notifier.changed()).await {
                Ok(Ok(())) => continue,
                Ok(Err(_)) => return Err(End::Leaving),
                Err(_) => return Err(End::Deaf),
            }
        };
        // Lets D-Bus send.
        yield_now().await;
        let mut current = current.lock().await;
        match current.notify(value.to_vec()).await {
            Ok(()) => return Ok(()),
            // bluer reports a full socket as an error, although the message is queued.
            Err(_) if !current.is_stopped() => return Ok(()),
            Err(_) => {
                drop(current);
                if timeout(SUBSCRIBE_WAIT, notifier.changed()).await.is_err() {
                    return Err(End::Deaf);
                }
            }
        }
    }
}

/// Waits for the end of the central's subscription, or of its link.
async fn ended(adapter: &Adapter, address: Address, link: &Link) -> End {
    let end = tokio::select! {
        biased;
        () = link.end.cancelled() => End::Unsubscribed,
        end = left(adapter, address) => end,
    };
    // Noted before the stream ends, whose reader looks at it.
    let all_sent = !link.sending.load(Ordering::Relaxed);
    link.ended
        .store(end != End::Lost && all_sent, Ordering::Relaxed);
    end
}

/// Waits until the central has disconnected.
async fn left(adapter: &Adapter, address: Address) -> End {
    match watch_link(adapter, address).await {
        Ok(true) => End::Left,
        Ok(false) => End::Lost,
        Err(error) => {
            debug!(%address, %error, "its link is not known");
            End::Lost
        }
    }
}

/// Waits until `BlueZ` reports that the link has ended; `false` if its reports end before that.
async fn watch_link(adapter: &Adapter, address: Address) -> bluer::Result<bool> {
    let device = adapter.device(address)?;
    let events = device.events().await?;
    tokio::pin!(events);
    if !device.is_connected().await? {
        return Ok(true);
    }
    while let Some(DeviceEvent::PropertyChanged(property)) = events.next().await {
        if matches!(property, DeviceProperty::Connected(false)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Asks `BlueZ` whether it still has the central's link and our advertisement: then it has not been restarted, and has taken
/// what it was sent before, because D-Bus keeps the order.
fn asking(adapter: Adapter, address: Address, link: Arc<Link>) -> AskReceipt {
    Box::new(move || {
        let (adapter, link) = (adapter.clone(), Arc::clone(&link));
        Box::pin(async move {
            let there = async {
                let advertised = adapter.active_advertising_instances().await? > 0;
                Ok::<_, bluer::Error>(advertised && adapter.device(address)?.is_connected().await?)
            };
            let taken = !link.sending.load(Ordering::Relaxed)
                && matches!(timeout(RECEIPT_WAIT, there).await, Ok(Ok(true)));
            Some(if taken {
                Receipt::Taken
            } else {
                Receipt::Missing
            })
        })
    })
}

/// The next whole line with its end, or as much of it as a value can hold.
fn next_line(said: &mut BytesMut) -> Option<BytesMut> {
    let end = said.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
    let end = end.or_else(|| (said.len() >= MAX_VALUE).then_some(MAX_VALUE))?;
    Some(said.split_to(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_and_what_has_no_end_is_cut() {
        let mut said = BytesMut::from(&b"MB e2e4\nH101"[..]);
        assert_eq!(next_line(&mut said).as_deref(), Some(&b"MB e2e4\n"[..]));
        assert_eq!(next_line(&mut said), None);
        said.extend_from_slice(b"     1.2\n");
        assert_eq!(
            next_line(&mut said).as_deref(),
            Some(&b"H101     1.2\n"[..])
        );
        said.extend_from_slice(&[b'x'; MAX_VALUE + 1]);
        assert_eq!(next_line(&mut said).map(|line| line.len()), Some(MAX_VALUE));
        assert_eq!(next_line(&mut said), None);
        assert_eq!(&said[..], b"x");
    }
}
