//! The simulated `BlueZ` against an unmodified central, btleplug.
//!
//! libdbus reads the address of the bus from the environment, once per process; so every test runs itself again in a
//! process of its own, with the address of the bus that it starts there.

use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    time::{Duration, Instant},
};

use btleplug::{
    api::{
        Central as _, CentralEvent, CentralState, Manager as _, Peripheral as _, ScanFilter,
        ValueNotification, WriteType,
    },
    platform::{Adapter, Manager, Peripheral as Remote},
};
use futures_util::{Stream, StreamExt};
use simulators::{
    bluez::{ADAPTER, Bluez, address::Address, hosted::Hosted},
    peripheral::{Characteristic, Flags, Peripheral, Profile, Refused, Service},
};
use tokio::time::timeout;
use uuid::Uuid;

use crate::support::alone::on_a_bus;

const SERVICE: Uuid = Uuid::from_u128(0xb0a2_d000_0000_1000_8000_0080_5f9b_34fb);
const INPUT: Uuid = Uuid::from_u128(0xb0a2_d001_0000_1000_8000_0080_5f9b_34fb);
const OUTPUT: Uuid = Uuid::from_u128(0xb0a2_d002_0000_1000_8000_0080_5f9b_34fb);
const LEVEL: Uuid = Uuid::from_u128(0xb0a2_d003_0000_1000_8000_0080_5f9b_34fb);
const ECHO: Address = Address([0xB0, 0xA2, 0xD0, 0, 0, 1]);
const NAME: &str = "Echo";
/// The time limit for an expected event.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long to wait for an event that must not happen.
const QUIET: Duration = Duration::from_millis(300);

/// Notifies every value written.
struct Echo {
    profile: Profile,
    out: VecDeque<Vec<u8>>,
    beat: Option<Instant>,
    log: Vec<&'static str>,
}

impl Echo {
    fn new() -> Self {
        let characteristic = |uuid, read, write, notify| Characteristic {
            uuid,
            flags: Flags {
                read,
                write,
                write_without_response: false,
                notify,
            },
        };
        Self {
            profile: Profile {
                name: NAME.into(),
                advertised: vec![SERVICE],
                maker_data: None,
                services: vec![Service {
                    uuid: SERVICE,
                    characteristics: vec![
                        characteristic(INPUT, false, true, false),
                        characteristic(OUTPUT, false, false, true),
                        characteristic(LEVEL, true, false, false),
                    ],
                }],
            },
            out: VecDeque::new(),
            beat: None,
            log: Vec::new(),
        }
    }
}

impl Peripheral for Echo {
    fn profile(&self) -> &Profile {
        &self.profile
    }
    fn connected(&mut self, _now: Instant) {
        self.log.push("connected");
    }
    fn disconnected(&mut self, _now: Instant) {
        self.log.push("disconnected");
        self.out.clear();
    }
    fn subscribed(&mut self, _now: Instant, _characteristic: Uuid, on: bool) {
        self.log
            .push(if on { "subscribed" } else { "unsubscribed" });
    }
    fn read(&mut self, _now: Instant, _characteristic: Uuid) -> Result<Vec<u8>, Refused> {
        Ok(vec![99])
    }
    fn write(&mut self, now: Instant, _characteristic: Uuid, value: &[u8]) -> Result<(), Refused> {
        match value {
            b"refuse" => return Err(Refused),
            b"later" => self.beat = Some(now + Duration::from_millis(50)),
            _ => self.out.push_back(value.to_vec()),
        }
        Ok(())
    }
    fn timeout(&mut self, _now: Instant) {
        self.beat = None;
        self.out.push_back(b"beat".to_vec());
    }
    fn deadline(&self) -> Option<Instant> {
        self.beat
    }
    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)> {
        Some((OUTPUT, self.out.pop_front()?))
    }
}

/// The body of a test in its own process.
type Test = fn(Bluez, Hosted<Echo>) -> Pin<Box<dyn Future<Output = ()>>>;

/// Runs a test in a process of its own, with a bus of its own.
fn alone(name: &str, test: Test) {
    on_a_bus(module_path!(), name, |socket| {
        let bluez = Bluez::start_at(socket).unwrap();
        let echo = bluez.host(ADAPTER, ECHO, Echo::new()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(test(bluez, echo));
    });
}

/// An error's text, with its D-Bus name, which the text lacks.
fn refusal<T>(result: Result<T, btleplug::Error>) -> String {
    let error = result.err().unwrap();
    println!("{error} is {error:?}");
    format!("{error:?}")
}

type Events = Pin<Box<dyn Stream<Item = CentralEvent> + Send>>;
type Notifications = Pin<Box<dyn Stream<Item = ValueNotification> + Send>>;

async fn adapter() -> Adapter {
    let adapters = Manager::new().await.unwrap().adapters().await.unwrap();
    adapters.into_iter().next().unwrap()
}

/// Waits for an event.
async fn event(events: &mut Events, wanted: impl Fn(&CentralEvent) -> bool) {
    timeout(PATIENCE, async {
        loop {
            let event = events.next().await.unwrap();
            if wanted(&event) {
                return;
            }
        }
    })
    .await
    .unwrap();
}

/// Finds the device by its name.
async fn find(adapter: &Adapter, events: &mut Events) -> Remote {
    adapter.start_scan(ScanFilter::default()).await.unwrap();
    let found = timeout(PATIENCE, async {
        loop {
            for remote in adapter.peripherals().await.unwrap() {
                let properties = remote.properties().await.unwrap().unwrap();
                if properties.advertisement_name.as_deref() == Some(NAME) {
                    assert_eq!(properties.local_name.as_deref(), Some(NAME));
                    assert_eq!(properties.services, [SERVICE]);
                    return remote;
                }
            }
            // Of the name alone there is no event; the strength comes with it.
            events.next().await.unwrap();
        }
    })
    .await
    .unwrap();
    adapter.stop_scan().await.unwrap();
    found
}

fn characteristic(remote: &Remote, uuid: Uuid) -> btleplug::api::Characteristic {
    let mut all = remote.characteristics().into_iter();
    all.find(|one| one.uuid == uuid).unwrap()
}

async fn write(remote: &Remote, value: &[u8]) -> Result<(), btleplug::Error> {
    let input = characteristic(remote, INPUT);
    remote.write(&input, value, WriteType::WithResponse).await
}

async fn notification(notifications: &mut Notifications) -> Vec<u8> {
    let next = timeout(PATIENCE, notifications.next()).await;
    next.unwrap().unwrap().value
}

/// Connects and subscribes.
async fn open(remote: &Remote) -> Notifications {
    remote.connect().await.unwrap();
    remote.discover_services().await.unwrap();
    let notifications = remote.notifications().await.unwrap();
    remote
        .subscribe(&characteristic(remote, OUTPUT))
        .await
        .unwrap();
    notifications
}

#[test]
fn a_central_finds_connects_reads_writes_and_listens() {
    alone(
        "a_central_finds_connects_reads_writes_and_listens",
        |bluez, echo| {
            Box::pin(async move {
                let control = bluez.control();
                let adapter = adapter().await;
                let mut events = adapter.events().await.unwrap();
                assert!(adapter.peripherals().await.unwrap().is_empty());
                let remote = find(&adapter, &mut events).await;
                assert!(!control.is_discovering(ADAPTER).unwrap());
                let mut notifications = open(&remote).await;
                assert_eq!(remote.mtu(), 517);
                assert!(control.is_connected(ECHO).unwrap());
                assert!(control.is_notifying(ECHO, OUTPUT).unwrap());
                event(&mut events, |event| {
                    matches!(event, CentralEvent::DeviceConnected(_))
                })
                .await;

                write(&remote, b"hello").await.unwrap();
                assert_eq!(notification(&mut notifications).await, b"hello");
                write(&remote, b"later").await.unwrap();
                assert_eq!(notification(&mut notifications).await, b"beat");

                echo.with(|echo| {
                    echo.out = (0..1000_u32).map(|i| i.to_le_bytes().to_vec()).collect();
                });
                for i in 0..1000_u32 {
                    assert_eq!(notification(&mut notifications).await, i.to_le_bytes());
                }
                let level = characteristic(&remote, LEVEL);
                assert_eq!(remote.read(&level).await.unwrap(), [99]);
                // What is read is seen as if it had been notified.
                let seen = timeout(PATIENCE, notifications.next())
                    .await
                    .unwrap()
                    .unwrap();
                assert_eq!((seen.uuid, seen.value), (LEVEL, vec![99]));

                remote.disconnect().await.unwrap();
                event(&mut events, |event| {
                    matches!(event, CentralEvent::DeviceDisconnected(_))
                })
                .await;
                assert_eq!(
                    echo.with(|echo| echo.log.clone()),
                    ["connected", "subscribed", "disconnected"]
                );
            })
        },
    );
}

#[test]
fn links_break_and_are_made_again() {
    alone("links_break_and_are_made_again", |bluez, echo| {
        Box::pin(async move {
            let control = bluez.control();
            let adapter = adapter().await;
            let mut events = adapter.events().await.unwrap();
            let remote = find(&adapter, &mut events).await;

            control.refuse_connects(ECHO, 1).unwrap();
            assert!(refusal(remote.connect().await).contains("org.bluez.Error.Failed"));
            let mut notifications = open(&remote).await;

            control.refuse_writes(ECHO, INPUT, 1).unwrap();
            assert!(refusal(write(&remote, b"x").await).contains("org.bluez.Error.Failed"));
            assert!(refusal(write(&remote, b"refuse").await).contains("org.bluez.Error.Failed"));
            write(&remote, b"y").await.unwrap();
            assert_eq!(notification(&mut notifications).await, b"y");

            control.drop_link(ECHO).unwrap();
            event(&mut events, |event| {
                matches!(event, CentralEvent::DeviceDisconnected(_))
            })
            .await;
            assert!(!remote.is_connected().await.unwrap());
            assert!(refusal(write(&remote, b"x").await).contains("Not connected"));
            // The stream of notifications knows nothing of the link.
            assert!(timeout(QUIET, notifications.next()).await.is_err());

            remote.connect().await.unwrap();
            remote.discover_services().await.unwrap();
            assert!(
                refusal(remote.subscribe(&characteristic(&remote, OUTPUT)).await)
                    .contains("Already notifying")
            );
            write(&remote, b"z").await.unwrap();
            assert_eq!(notification(&mut notifications).await, b"z");
            assert_eq!(
                echo.with(|echo| echo.log.clone()),
                [
                    "connected",
                    "subscribed",
                    "disconnected",
                    "connected",
                    "subscribed"
                ]
            );

            control.power(ADAPTER, false).unwrap();
            event(&mut events, |event| {
                matches!(event, CentralEvent::StateUpdate(CentralState::PoweredOff))
            })
            .await;
            assert!(!control.is_connected(ECHO).unwrap());
            assert!(refusal(remote.connect().await).contains("org.bluez.Error.NotReady"));
            assert_eq!(
                adapter.adapter_state().await.unwrap(),
                CentralState::PoweredOff
            );
            control.power(ADAPTER, true).unwrap();
            event(&mut events, |event| {
                matches!(event, CentralEvent::StateUpdate(CentralState::PoweredOn))
            })
            .await;
            remote.connect().await.unwrap();
            write(&remote, b"again").await.unwrap();
            assert_eq!(notification(&mut notifications).await, b"again");

            remote
                .unsubscribe(&characteristic(&remote, OUTPUT))
                .await
                .unwrap();
            assert!(!control.is_notifying(ECHO, OUTPUT).unwrap());
            drop(notifications);
            drop(events);
            // A scan switches the adapter on.
            control.power(ADAPTER, false).unwrap();
            adapter.start_scan(ScanFilter::default()).await.unwrap();
            assert!(control.is_powered(ADAPTER).unwrap());
        })
    });
}

#[test]
fn notifications_go_wrong_as_ordered() {
    alone("notifications_go_wrong_as_ordered", |bluez, echo| {
        Box::pin(async move {
            let control = bluez.control();
            let adapter = adapter().await;
            let mut events = adapter.events().await.unwrap();
            let remote = find(&adapter, &mut events).await;
            let mut notifications = open(&remote).await;
            let send = |value: &[u8]| echo.with(|echo| echo.out.push_back(value.to_vec()));

            control.corrupt_notifications(ECHO, 1).unwrap();
            send(&[0, 0, 0]);
            send(&[0, 0, 0]);
            assert_eq!(notification(&mut notifications).await, [0, 1, 0]);
            assert_eq!(notification(&mut notifications).await, [0, 0, 0]);

            control.lose_notifications(ECHO, 2).unwrap();
            for i in 0..3 {
                send(&[i]);
            }
            assert_eq!(notification(&mut notifications).await, [2]);

            control.notify(ECHO, OUTPUT, vec![0xFF; 600]).unwrap();
            assert_eq!(notification(&mut notifications).await, [0xFF; 600]);

            control.delay_notifications(QUIET);
            let before = Instant::now();
            send(b"late");
            assert_eq!(notification(&mut notifications).await, b"late");
            assert!(before.elapsed() >= QUIET);
            send(b"lost with the link");
            // The poke is served by another thread; the delay leaves it the time.
            tokio::time::sleep(QUIET / 3).await;
            control.drop_link(ECHO).unwrap();
            assert!(timeout(2 * QUIET, notifications.next()).await.is_err());
            control.delay_notifications(Duration::ZERO);

            control.delay_replies(QUIET);
            let before = Instant::now();
            remote.connect().await.unwrap();
            assert!(before.elapsed() >= QUIET);
        })
    });
}

#[test]
fn the_radio_goes_away_and_comes_back() {
    alone("the_radio_goes_away_and_comes_back", |bluez, _echo| {
        Box::pin(async move {
            let control = bluez.control();
            let manager = Manager::new().await.unwrap();
            let adapter = adapter().await;
            let mut events = adapter.events().await.unwrap();
            let remote = find(&adapter, &mut events).await;
            let _listening = open(&remote).await;

            control.vanish(ECHO).unwrap();
            event(&mut events, |event| {
                matches!(event, CentralEvent::DeviceDisconnected(_))
            })
            .await;
            assert!(refusal(remote.connect().await).contains("org.bluez.Error.Failed"));
            control.appear(ECHO).unwrap();
            remote.connect().await.unwrap();
            control.forget(ECHO).unwrap();
            event(&mut events, |event| {
                matches!(event, CentralEvent::DeviceDisconnected(_))
            })
            .await;
            assert!(
                refusal(remote.connect().await)
                    .contains("org.freedesktop.DBus.Error.UnknownObject")
            );
            assert!(
                refusal(remote.is_connected().await)
                    .contains("org.freedesktop.DBus.Error.UnknownObject")
            );
            let remote = find(&adapter, &mut events).await;
            let _listening = open(&remote).await;

            control.plug(ADAPTER, false).unwrap();
            event(&mut events, |event| {
                matches!(event, CentralEvent::DeviceDisconnected(_))
            })
            .await;
            assert!(manager.adapters().await.unwrap().is_empty());
            assert!(
                refusal(adapter.start_scan(ScanFilter::default()).await)
                    .contains("org.freedesktop.DBus.Error.UnknownObject")
            );
            assert_eq!(
                adapter.adapter_state().await.unwrap(),
                CentralState::PoweredOff
            );
            assert!(
                refusal(remote.connect().await)
                    .contains("org.freedesktop.DBus.Error.UnknownObject")
            );
            control.plug(ADAPTER, true).unwrap();
            // The same object serves the adapter that is back.
            let remote = find(&adapter, &mut events).await;
            let _listening = open(&remote).await;

            control.run(false);
            // The service's end is not reported.
            while timeout(QUIET, events.next()).await.is_ok() {}
            assert!(
                refusal(manager.adapters().await)
                    .contains("org.freedesktop.DBus.Error.ServiceUnknown")
            );
            assert!(
                refusal(remote.is_connected().await)
                    .contains("org.freedesktop.DBus.Error.ServiceUnknown")
            );
            assert!(
                refusal(write(&remote, b"x").await)
                    .contains("org.freedesktop.DBus.Error.ServiceUnknown")
            );
            control.run(true);
            tokio::time::sleep(QUIET).await;
            assert!(adapter.peripherals().await.unwrap().is_empty());
            let remote = find(&adapter, &mut events).await;
            let _listening = open(&remote).await;

            control.deny(true);
            assert!(
                refusal(manager.adapters().await)
                    .contains("org.freedesktop.DBus.Error.AccessDenied")
            );
            assert!(
                refusal(adapter.start_scan(ScanFilter::default()).await)
                    .contains("org.freedesktop.DBus.Error.AccessDenied")
            );
            assert!(
                refusal(write(&remote, b"x").await)
                    .contains("org.freedesktop.DBus.Error.AccessDenied")
            );
            assert_eq!(
                adapter.adapter_state().await.unwrap(),
                CentralState::PoweredOff
            );
            control.deny(false);
            write(&remote, b"x").await.unwrap();

            bluez
                .add_adapter("hci1", Address([2, 0, 0, 0, 0, 9]))
                .unwrap();
            assert_eq!(manager.adapters().await.unwrap().len(), 2);
        })
    });
}

/// bluez-async panics in a task of its own when a stream with waiting signals is dropped. That affects nothing else.
#[test]
fn streams_may_be_dropped_while_signals_wait() {
    alone(
        "streams_may_be_dropped_while_signals_wait",
        |bluez, echo| {
            Box::pin(async move {
                let control = bluez.control();
                let adapter = adapter().await;
                let mut events = adapter.events().await.unwrap();
                let remote = find(&adapter, &mut events).await;
                drop(open(&remote).await);
                for _ in 0..20 {
                    let mut notifications = remote.notifications().await.unwrap();
                    echo.with(|echo| echo.out = vec![vec![0; 20]; 200].into());
                    notification(&mut notifications).await;
                    std::thread::sleep(Duration::from_millis(3));
                    tokio::task::yield_now().await;
                }
                // Of two streams with the same rules one is left alone when the other goes.
                drop(events);
                let mut notifications = remote.notifications().await.unwrap();
                drop(remote.notifications().await.unwrap());
                control.drop_link(ECHO).unwrap();
                remote.connect().await.unwrap();
                write(&remote, b"end").await.unwrap();
                while notification(&mut notifications).await != b"end" {}
            })
        },
    );
}
