//! A phone near an adapter, controlled by a test: what a central, or an app with a serial port, can do to a program
//! that offers something.

use std::{
    io,
    os::unix::net::UnixStream as StdStream,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::UnixStream,
    sync::oneshot,
};
use uuid::Uuid;

use super::{
    adapter::Adapter,
    address::Address,
    control::Shared,
    offers::{Advertised, Denied, Recorded, phones::Write},
    radio::Radio,
};
use crate::peripheral::{Peripheral, Profile, Refused};

/// A phone. Each call takes effect before it returns; programs see its consequences on the bus later.
pub struct Phone {
    address: Address,
    shared: Arc<Shared>,
}

impl Phone {
    pub(super) fn new(address: Address, shared: Arc<Shared>) -> Self {
        Self { address, shared }
    }

    /// Its address.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The advertisements it hears: none from an adapter that is off.
    pub fn hears(&self) -> Vec<Advertised> {
        let radio = self.shared.radio();
        let mut adapters = radio.adapters.iter();
        let near = adapters.any(|adapter| {
            let mut devices = adapter.devices.iter();
            adapter.is_powered() && devices.any(|device| device.address == self.address)
        });
        if near && !radio.away {
            radio.offers.advertised(self.address)
        } else {
            Vec::new()
        }
    }

    /// Waits until it hears this name.
    pub async fn finds(&self, name: &str) -> Advertised {
        self.until(|| {
            let mut heard = self.hears().into_iter();
            heard.find(|ad| ad.name.as_deref() == Some(name))
        })
        .await
    }

    /// Waits until it hears no advertisement any more.
    pub async fn loses_sight(&self) {
        self.until(|| self.hears().is_empty().then_some(())).await;
    }

    /// The service records it can read.
    pub fn reads_records(&self) -> Vec<Recorded> {
        self.shared.radio().offers.recorded()
    }

    /// Waits until there is a record of this service.
    pub async fn finds_record(&self, service: Uuid) -> Recorded {
        self.until(|| {
            let mut all = self.reads_records().into_iter();
            all.find(|record| record.uuid == service)
        })
        .await
    }

    /// Connects to the advertised program.
    ///
    /// # Errors
    /// It hears no connectable advertisement.
    pub fn connect(&self) -> Result<(), Denied> {
        if !self.hears().iter().any(|ad| ad.connectable) {
            return Err(Denied);
        }
        self.order(|radio| {
            let (device, outbox) = radio.device(self.address).ok_or(Denied)?;
            device.arrive(Instant::now(), outbox);
            radio.offers.linked(self.address);
            Ok(())
        })
    }

    /// Ends its link: the phone hangs up or goes out of range.
    pub fn disconnect(&self) {
        self.order(|radio| {
            let now = Instant::now();
            let Radio { offers, outbox, .. } = radio;
            offers.leave(now, self.address, outbox);
            if let Some((device, outbox)) = radio.device(self.address) {
                device.disconnect(now, outbox);
            }
        });
    }

    /// Pairs, for this link and later ones: its subscriptions then outlive its links, and are not announced again.
    pub fn pair(&self) {
        self.order(|radio| radio.offers.pair(self.address));
    }

    /// Whether it has a link.
    pub fn is_connected(&self) -> bool {
        let mut radio = self.shared.radio();
        radio
            .device(self.address)
            .is_some_and(|(device, _)| device.is_connected())
    }

    /// Waits until its link is gone.
    pub async fn loses_link(&self) {
        self.until(|| (!self.is_connected()).then_some(())).await;
    }

    /// Subscribes to a characteristic, or unsubscribes.
    ///
    /// # Errors
    /// There is no link, or no such characteristic that notifies.
    pub fn subscribe(&self, characteristic: Uuid, on: bool) -> Result<(), Denied> {
        self.order(|radio| {
            let Radio { offers, outbox, .. } = radio;
            offers.subscribe(Instant::now(), self.address, characteristic, on, outbox)
        })
    }

    /// Writes, and waits for the response if one is requested.
    ///
    /// # Errors
    /// There is no link, or the write is refused.
    pub async fn write(
        &self,
        characteristic: Uuid,
        value: &[u8],
        respond: bool,
    ) -> Result<(), Denied> {
        let (sender, done) = oneshot::channel();
        let write = Write {
            characteristic,
            value,
            respond,
        };
        self.order(|radio| {
            let Radio { offers, outbox, .. } = radio;
            let now = Instant::now();
            offers.write(now, self.address, write, sender, outbox)
        })?;
        done.await.unwrap_or(Err(Denied))
    }

    /// Waits for the next notification; `None` when the link is gone.
    pub async fn notified(&self) -> Option<(Uuid, Vec<u8>)> {
        self.until(|| {
            let next = self.shared.radio().offers.next_notified(self.address);
            match next {
                Some(next) => Some(Some(next)),
                None => (!self.is_connected()).then_some(None),
            }
        })
        .await
    }

    /// Connects to a service by RFCOMM, as a paired phone.
    ///
    /// # Errors
    /// The service does not exist, the adapter is off, or the program refuses.
    pub async fn connect_serial(&self, service: Uuid) -> io::Result<Serial> {
        let denied = |_| io::Error::from(io::ErrorKind::ConnectionRefused);
        let (near, far) = StdStream::pair()?;
        near.set_nonblocking(true)?;
        let (sender, done) = oneshot::channel();
        self.order(|radio| {
            let mut adapters = radio.adapters.iter();
            if !adapters.any(Adapter::is_powered) || radio.away {
                return Err(Denied);
            }
            let Radio { offers, outbox, .. } = radio;
            let now = Instant::now();
            offers.connect(now, self.address, service, &far, sender, outbox)
        })
        .map_err(denied)?;
        done.await.unwrap_or(Err(Denied)).map_err(denied)?;
        Ok(Serial {
            stream: UnixStream::from_std(near)?,
            _held: far,
        })
    }

    fn order<R>(&self, order: impl FnOnce(&mut Radio) -> R) -> R {
        let result = order(&mut self.shared.radio());
        self.shared.poke.notify_one();
        result
    }

    /// Waits until `what` returns something.
    async fn until<R>(&self, what: impl Fn() -> Option<R>) -> R {
        let mut changes = self.shared.changes();
        loop {
            changes.mark_unchanged();
            if let Some(found) = what() {
                return found;
            }
            if changes.changed().await.is_err() {
                // The sender lives as long as this phone.
                std::future::pending::<()>().await;
            }
        }
    }
}

/// A serial line over Bluetooth.
pub struct Serial {
    stream: UnixStream,
    /// The service keeps the program's end open too: the program cannot end the line by closing only its own.
    _held: StdStream,
}

impl AsyncRead for Serial {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Serial {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The phone as a device: it has no services, and requests nothing by itself.
pub(super) struct Handset(Profile);

impl Handset {
    /// A phone with a name.
    pub fn new(name: &str) -> Self {
        Self(Profile {
            name: name.to_owned(),
            advertised: Vec::new(),
            maker_data: None,
            services: Vec::new(),
        })
    }
}

impl Peripheral for Handset {
    fn profile(&self) -> &Profile {
        &self.0
    }
    fn connected(&mut self, _now: Instant) {}
    fn disconnected(&mut self, _now: Instant) {}
    fn subscribed(&mut self, _now: Instant, _characteristic: Uuid, _on: bool) {}
    fn read(&mut self, _now: Instant, _characteristic: Uuid) -> Result<Vec<u8>, Refused> {
        Err(Refused)
    }
    fn write(
        &mut self,
        _now: Instant,
        _characteristic: Uuid,
        _value: &[u8],
    ) -> Result<(), Refused> {
        Err(Refused)
    }
    fn timeout(&mut self, _now: Instant) {}
    fn deadline(&self) -> Option<Instant> {
        None
    }
    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)> {
        None
    }
}
