//! The board as a Bluetooth LE peripheral: a service that an app finds, writes to, and is notified by.
//!
//! What `BlueZ` does shapes it:
//! - It tells that somebody subscribed, but not who: a central is known by its first write, and not before. Whoever else
//!   is connected, such as a keyboard, is left alone. Notifications reach every central that subscribed.
//! - The other way it offers, a socket for each subscription, would tell who. But a phone that has been paired and comes
//!   back is subscribed already, and then `BlueZ` opens no socket (`gatt_ccc_write_cb` in `src/gatt-database.c`).
//! - It responds to writes itself as soon as writes without response are allowed, so nobody can be made to wait.
//! - After connecting, a central reads the device's name from the adapter: that gets the board's name, and has its own
//!   back in the end.

mod central;
mod centrals;

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
    Connection, Trouble,
    radio::{self, Attempts, Bus, CHECK, RadioError, ask},
};
use crate::{clock::sleep_until_some, config::whitepawn::BleServed, transport::ble::CALL_WAIT};

/// How often the board advertises, at least and at most: a phone that looks finds it within a second. (`BlueZ` would
/// do so every 1.28 s.)
const INTERVAL: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(200)];
/// How long no app is there before the board advertises anew: a controller that does not go on by itself has to be told,
/// and an app that comes back at once is not to be disturbed.
const QUIET: Duration = Duration::from_secs(2);
/// Subscriptions that wait to be looked at.
const SUBSCRIPTIONS: usize = 8;

/// The end of a subscription.
type Stopped = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

/// Is on the air until it is stopped or nobody wants connections any more. Whatever is wrong with Bluetooth is said
/// once and waited out; Bluetooth that is off is never switched on.
pub async fn serve(
    config: BleServed,
    connections: mpsc::Sender<Connection>,
    trouble: Trouble,
    stop: CancellationToken,
) {
    let mut attempts = Attempts::new("over Bluetooth LE", trouble);
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
                    "\"{}\" is on the air by {}",
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

/// The board on the air; it leaves when this is dropped.
struct Air {
    session: Session,
    adapter: Adapter,
    _application: ApplicationHandle,
    advertisement: AdvertisementHandle,
    centrals: Arc<Centrals>,
    fresh: mpsc::Receiver<Fresh>,
    subscriptions: mpsc::Receiver<CharacteristicNotifier>,
    /// The subscription there is, for whoever has something to say.
    notifier: watch::Sender<Option<Notifier>>,
    /// Done when it ends.
    stopped: Option<Stopped>,
    /// One a central; true when a link was lost.
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
        // First: a controller begins anew with the name.
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

    /// Serves until it is stopped, and leaves; or until something is wrong.
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
        let mut again = None;
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
                        again = Some(Instant::now() + QUIET);
                    }
                }
                Some(fresh) = self.fresh.recv() => self.connected(fresh, connections),
                Some(ended) = self.tasks.join_next() => {
                    if matches!(ended, Ok(true)) && self.centrals.is_empty() {
                        again = Some(Instant::now() + QUIET);
                    }
                }
                () = sleep_until_some(again) => {
                    again = None;
                    if self.centrals.is_empty() {
                        self.advertise(config).await?;
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

    /// Somebody wants to be notified.
    fn subscribed(&mut self, notifier: CharacteristicNotifier) {
        self.stopped = Some(Box::pin(notifier.stopped()));
        self.notifier
            .send_replace(Some(Arc::new(Mutex::new(notifier))));
    }

    /// The last one that was notified wants no more.
    async fn unsubscribed(&mut self) {
        // Another one's subscription replaces the one before, which then ends.
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

    /// Advertises anew, which takes the board off the air for some milliseconds.
    async fn advertise(&mut self, config: &BleServed) -> Result<(), RadioError> {
        let advertisement = self.adapter.advertise(advertised(config));
        self.advertisement = ask("advertise the board", advertisement).await?;
        Ok(())
    }

    /// Whether it is still on the air.
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

    /// Disconnects everybody: an app shall see that the board has gone.
    async fn disconnect(&mut self) {
        self.leave.cancel();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        // A controller that hangs must not hold up the end.
        let _ = timeout(CALL_WAIT, all).await;
    }
}

/// Gives the adapter the board's name, and keeps its own.
async fn rename(adapter: &Adapter, config: &BleServed, alias: &mut Option<String>) {
    let named = async {
        let own = adapter.alias().await?;
        if own != config.name() {
            adapter.set_alias(config.name().to_owned()).await?;
            alias.get_or_insert(own);
        }
        Ok(())
    };
    // The name in the advertisement is what an app looks for; this one only must not confuse it.
    if let Err(error) = ask("take the board's name", named).await {
        debug!(%error, "the adapter keeps its name");
    }
}

/// Gives the adapter its own name back, if it can be had.
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
    // The name goes into the scan response by itself, and the advertisement can be connected to.
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
                // At once, before the next one is looked at: so they stay in order.
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
                    // Fails when the board leaves the air: then nobody is notified.
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
