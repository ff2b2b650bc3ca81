//! The board as a Bluetooth LE peripheral: a service that an app finds, writes to, and is notified by.
//!
//! The behaviour of `BlueZ` shapes it:
//! - It reports that a central subscribed, but not which: a central is known by its first write, and not before. Other
//!   connected devices, such as a keyboard, are not disturbed. Notifications reach every subscribed central.
//! - The alternative it offers, a socket for each subscription, would tell which. But a paired phone that comes
//!   back is already subscribed, and then `BlueZ` opens no socket (`gatt_ccc_write_cb` in `src/gatt-database.c`).
//! - It responds to writes itself as soon as writes without response are allowed, so a central cannot be made to wait.
//! - After connecting, a central reads the device's name from the adapter: that gets the board's name, and its own
//!   one back at the end.

mod central;
mod centrals;
mod stream;

use std::{future::Future, pin::Pin, sync::Arc};

use bluer::{
    Adapter, AdapterEvent, AdapterProperty, Session, SessionEvent,
    adv::{Advertisement, AdvertisementHandle},
    gatt::local::{
        Application, ApplicationHandle, Characteristic, CharacteristicNotifier,
        CharacteristicNotify, CharacteristicNotifyMethod, CharacteristicWrite,
        CharacteristicWriteMethod, ReqError, Service,
    },
};
use futures_util::StreamExt;
use tokio::{
    sync::{Mutex, mpsc, watch},
    task::{JoinSet, yield_now},
    time::{Duration, Instant, MissedTickBehavior, interval_at, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::debug;

use self::{
    central::{Central, Notifier},
    centrals::{Centrals, Fresh},
};
use super::{
    Availability, Connection,
    radio::{self, Attempts, Bus, CHECK, RadioError, ask},
};
use crate::{
    front_end::whitepawn::settings::BleServed, system::sleep::sleep_until_some,
    transport::ble::CALL_WAIT,
};

/// The advertising intervals, minimum and maximum: a searching phone finds the board within a second. (`BlueZ` would
/// use 1.28 s.)
const INTERVAL: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(200)];
/// How long no app is connected before the board advertises again: a controller that does not resume by itself has to
/// be told, and an app that comes back at once must not be disturbed.
const QUIET: Duration = Duration::from_secs(2);
/// How often that is put off while a device is connected: it may be an app that has not written yet, which would lose its
/// link. An app writes within a second or two; what stays connected for longer is another device, such as a keyboard.
const PUT_OFF: u8 = 3;
/// Subscriptions that wait to be processed.
const SUBSCRIPTIONS: usize = 8;

/// The end of a subscription.
type Stopped = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

/// Advertises and serves until it is stopped or the receiver is gone. Each Bluetooth problem is reported
/// once and waited out; Bluetooth that is off is never switched on.
pub async fn serve(
    config: BleServed,
    connections: mpsc::Sender<Connection>,
    availability: Availability,
    stop: CancellationToken,
) {
    let mut attempts = Attempts::new("over Bluetooth LE", availability);
    let mut bus = Bus::default();
    let mut alias = None;
    loop {
        let opening = Air::open(&config, &mut bus, &mut alias);
        let Some(opened) = radio::open(opening, &connections, &stop).await else {
            return;
        };
        let ended = match opened {
            Ok(air) => {
                attempts.succeeded(&format!(
                    "\"{}\" is advertised by {}",
                    config.name(),
                    air.adapter.name()
                ));
                air.run(&config, &mut alias, &connections, &stop).await
            }
            Err(error) => Err(error),
        };
        match ended {
            Ok(()) => return,
            Err(error) => {
                bus.failed(&error);
                if !attempts.failed(error, &connections, &stop).await {
                    return;
                }
            }
        }
    }
}

/// The board on the air; it stops when this is dropped.
struct Air {
    session: Session,
    adapter: Adapter,
    _application: ApplicationHandle,
    advertisement: AdvertisementHandle,
    centrals: Arc<Centrals>,
    fresh: mpsc::Receiver<Fresh>,
    subscriptions: mpsc::Receiver<CharacteristicNotifier>,
    /// The current subscription, for the tasks that send.
    notifier: watch::Sender<Option<Notifier>>,
    /// Completes when it ends.
    stopped: Option<Stopped>,
    /// One task per central; true when a link was lost.
    tasks: JoinSet<bool>,
    /// Ends every central's connection.
    leave: CancellationToken,
}

impl Air {
    async fn open(
        config: &BleServed,
        bus: &mut Bus,
        alias: &mut Option<String>,
    ) -> Result<Self, RadioError> {
        let session = bus.session().await?;
        let adapters = radio::adapters(&session).await?;
        let wanted = config.adapter.as_deref();
        let mut all = adapters.iter();
        let chosen = all.find(|(adapter, _)| wanted.is_none_or(|name| name == adapter.name()));
        let Some((adapter, on)) = chosen.cloned() else {
            return Err(radio::none(wanted, &adapters));
        };
        if !on {
            return Err(radio::off(&adapter));
        }
        let (centrals, fresh) = Centrals::new();
        let (subscribed, subscriptions) = mpsc::channel(SUBSCRIPTIONS);
        let application = application(config, &centrals, subscribed);
        let application = adapter.serve_gatt_application(application);
        let application = ask("offer the board's service", application).await?;
        // First, because a new name restarts the controller.
        rename(&adapter, config, alias).await;
        let advertisement = adapter.advertise(advertised(config));
        let advertisement = match ask("advertise the board", advertisement).await {
            Ok(advertisement) => advertisement,
            Err(error) => {
                restore(&adapter, alias).await;
                return Err(error);
            }
        };
        Ok(Self {
            session,
            adapter,
            _application: application,
            advertisement,
            centrals,
            fresh,
            subscriptions,
            notifier: watch::Sender::default(),
            stopped: None,
            tasks: JoinSet::new(),
            leave: CancellationToken::new(),
        })
    }

    /// Serves until it is stopped, or until something is wrong.
    async fn run(
        mut self,
        config: &BleServed,
        alias: &mut Option<String>,
        connections: &mpsc::Sender<Connection>,
        stop: &CancellationToken,
    ) -> Result<(), RadioError> {
        let ended = self.serve(config, connections, stop).await;
        if ended.is_ok() {
            self.disconnect().await;
        }
        restore(&self.adapter, alias).await;
        ended
    }

    async fn serve(
        &mut self,
        config: &BleServed,
        connections: &mpsc::Sender<Connection>,
        stop: &CancellationToken,
    ) -> Result<(), RadioError> {
        let adapters = ask("tell of its adapters", self.session.events()).await?;
        let events = ask("tell of its adapter", self.adapter.events()).await?;
        tokio::pin!(adapters, events);
        let mut again: Option<Again> = None;
        let mut checks = interval_at(Instant::now() + CHECK, CHECK);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                () = connections.closed() => return Ok(()),
                Some(notifier) = self.subscriptions.recv() => self.subscribed(notifier),
                () = ended(&mut self.stopped) => {
                    self.unsubscribed().await;
                    if self.stopped.is_none() {
                        // One that never wrote may have lost its link.
                        again = Some(Again::after_app());
                    }
                }
                Some(fresh) = self.fresh.recv() => self.connected(fresh, connections),
                Some(ended) = self.tasks.join_next() => {
                    if matches!(ended, Ok(true)) && self.centrals.is_empty() {
                        again = Some(Again::after_app());
                    }
                }
                () = sleep_until_some(again.as_ref().map(|again| again.at)) => {
                    let later = again.take().and_then(Again::later);
                    if self.centrals.is_empty() {
                        if later.is_some() && self.linked().await? {
                            again = later;
                        } else {
                            self.advertise(config).await?;
                        }
                    }
                }
                event = events.next() => match event {
                    Some(AdapterEvent::PropertyChanged(AdapterProperty::Powered(false))) => {
                        return Err(radio::off(&self.adapter));
                    }
                    Some(_) => {}
                    None => return Err(radio::none(config.adapter.as_deref(), &[])),
                },
                event = adapters.next() => match event {
                    Some(SessionEvent::AdapterAdded(name) | SessionEvent::AdapterRemoved(name))
                        if name != self.adapter.name() => {}
                    _ => return Err(RadioError::Restarted),
                },
                _ = checks.tick() => self.check().await?,
            }
        }
    }

    /// A central has subscribed.
    fn subscribed(&mut self, notifier: CharacteristicNotifier) {
        self.stopped = Some(Box::pin(notifier.stopped()));
        self.notifier
            .send_replace(Some(Arc::new(Mutex::new(notifier))));
    }

    /// The last subscribed central has unsubscribed.
    async fn unsubscribed(&mut self) {
        // Another one's subscription replaces the previous one, which then ends.
        yield_now().await;
        if let Ok(notifier) = self.subscriptions.try_recv() {
            self.subscribed(notifier);
        } else {
            self.stopped = None;
            self.notifier.send_replace(None);
            self.centrals.end_all();
        }
    }

    fn connected(&mut self, fresh: Fresh, connections: &mpsc::Sender<Connection>) {
        debug!(address = %fresh.address, "an app has connected");
        let central = Central {
            adapter: self.adapter.clone(),
            centrals: Arc::clone(&self.centrals),
            notifier: self.notifier.subscribe(),
            leave: self.leave.clone(),
        };
        self.tasks.spawn(central.serve(fresh, connections.clone()));
    }

    /// Whether a device is connected to the adapter.
    async fn linked(&self) -> Result<bool, RadioError> {
        let known = ask("tell of its devices", self.adapter.device_addresses()).await?;
        for address in known {
            // One that BlueZ has forgotten since is not connected.
            if let Ok(device) = self.adapter.device(address)
                && let Ok(true) = ask("tell of a device", device.is_connected()).await
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Advertises again, which takes the board off the air for some milliseconds.
    async fn advertise(&mut self, config: &BleServed) -> Result<(), RadioError> {
        let advertisement = self.adapter.advertise(advertised(config));
        self.advertisement = ask("advertise the board", advertisement).await?;
        Ok(())
    }

    /// Whether it is still advertised.
    async fn check(&self) -> Result<(), RadioError> {
        if !ask("tell whether it is on", self.adapter.is_powered()).await? {
            return Err(radio::off(&self.adapter));
        }
        let active = self.adapter.active_advertising_instances();
        match ask("tell what it advertises", active).await? {
            0 => Err(RadioError::Restarted),
            _ => Ok(()),
        }
    }

    /// Disconnects all centrals, so that apps see that the board is gone.
    async fn disconnect(&mut self) {
        self.leave.cancel();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        // A hung controller must not delay the end.
        let _ = timeout(CALL_WAIT, all).await;
    }
}

/// When the board is to be advertised again.
struct Again {
    at: Instant,
    /// How often that may still be put off.
    left: u8,
}

impl Again {
    /// The app has left.
    fn after_app() -> Self {
        Self {
            at: Instant::now() + QUIET,
            left: PUT_OFF,
        }
    }

    /// Once more put off, if that may be.
    fn later(self) -> Option<Self> {
        let left = self.left.checked_sub(1)?;
        let at = Instant::now() + QUIET;
        Some(Self { at, left })
    }
}

/// Gives the adapter the board's name, and remembers its own.
async fn rename(adapter: &Adapter, config: &BleServed, alias: &mut Option<String>) {
    let named = async {
        let own = adapter.alias().await?;
        if own != config.name() {
            adapter.set_alias(config.name().to_owned()).await?;
            alias.get_or_insert(own);
        }
        Ok(())
    };
    // An app looks for the name in the advertisement; the adapter's name should only not confuse a person.
    if let Err(error) = ask("take the board's name", named).await {
        debug!(%error, "the adapter keeps its name");
    }
}

/// Gives the adapter its own name back, if possible.
async fn restore(adapter: &Adapter, alias: &mut Option<String>) {
    if let Some(own) = alias.take()
        && let Err(error) = ask("have its name back", adapter.set_alias(own.clone())).await
    {
        debug!(%error, "the adapter keeps the board's name");
        *alias = Some(own);
    }
}

/// Waits for the end of a subscription, if there is one.
async fn ended(stopped: &mut Option<Stopped>) {
    match stopped {
        Some(stopped) => stopped.await,
        None => std::future::pending().await,
    }
}

fn advertised(config: &BleServed) -> Advertisement {
    let [service, ..] = config.uuids();
    let [shortest, longest] = INTERVAL;
    // BlueZ adds the name to the scan response, and makes the advertisement connectable.
    Advertisement {
        service_uuids: [service].into(),
        discoverable: Some(true),
        local_name: Some(config.name().to_owned()),
        min_interval: Some(shortest),
        max_interval: Some(longest),
        ..Advertisement::default()
    }
}

fn application(
    config: &BleServed,
    centrals: &Arc<Centrals>,
    subscribed: mpsc::Sender<CharacteristicNotifier>,
) -> Application {
    let [service, write, notify] = config.uuids();
    let centrals = Arc::clone(centrals);
    let write = Characteristic {
        uuid: write,
        write: Some(CharacteristicWrite {
            write: true,
            write_without_response: true,
            method: CharacteristicWriteMethod::Fun(Box::new(move |value, request| {
                // At once, before the next one is processed: so they stay in order.
                let done = if request.offset == 0 {
                    centrals.wrote(request.device_address, request.mtu, value)
                } else {
                    Err(ReqError::InvalidOffset)
                };
                Box::pin(std::future::ready(done))
            })),
            ..CharacteristicWrite::default()
        }),
        ..Characteristic::default()
    };
    let notify = Characteristic {
        uuid: notify,
        notify: Some(CharacteristicNotify {
            notify: true,
            method: CharacteristicNotifyMethod::Fun(Box::new(move |notifier| {
                let subscribed = subscribed.clone();
                Box::pin(async move {
                    // Fails when the board stops serving: then there is no one to notify.
                    let _ = subscribed.send(notifier).await;
                })
            })),
            ..CharacteristicNotify::default()
        }),
        ..Characteristic::default()
    };
    Application {
        services: vec![Service {
            uuid: service,
            primary: true,
            characteristics: vec![write, notify],
            ..Service::default()
        }],
        ..Application::default()
    }
}
