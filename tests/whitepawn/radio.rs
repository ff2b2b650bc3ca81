//! The board toward the `WhitePawn` app by radio: bluer, unmodified, on a simulated `BlueZ`, and a phone that uses it.
//!
//! libdbus reads the address of the bus from the environment, once per process; so every test runs itself again in a
//! process of its own, with the address of the bus that it starts there.

use std::{
    future::Future,
    io::Write,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use boardbridge::{
    front_end::whitepawn::{
        Availability, Connection, ble, rfcomm,
        settings::{BleServed, RfcommServed},
    },
    text::swpp::NORDIC_UART,
};
use simulators::bluez::{ADAPTER, Bluez, address::Address, control::Control, phone::Phone};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    sync::mpsc,
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::support::alone::on_a_bus;

/// The time limit for an expected event.
const PATIENCE: Duration = Duration::from_mins(1);
const PHONE: Address = Address([0xB0, 0xA2, 0xD0, 0, 0, 1]);
const OTHER: Address = Address([0xB0, 0xA2, 0xD0, 0, 0, 2]);
const NAME: &str = "BoardBridge";
const SERVICE: uuid::Uuid = NORDIC_UART[0];
const WRITE: uuid::Uuid = NORDIC_UART[1];
const NOTIFY: uuid::Uuid = NORDIC_UART[2];
/// The MTU of a present-day phone, and the minimum.
const USUAL_MTU: u16 = 517;
const LEAST_MTU: u16 = 23;

/// The log of the process.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn count(&self, words: &str) -> usize {
        let bytes = self.0.lock().unwrap().clone();
        String::from_utf8_lossy(&bytes).matches(words).count()
    }

    async fn says(&self, words: &str) {
        self.says_more_often(words, 0).await;
    }

    /// Waits until these words occur more than this many times.
    async fn says_more_often(&self, words: &str, count: usize) {
        let said = async {
            while self.count(words) <= count {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        soon(words, said).await;
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        std::io::stderr().write_all(bytes)?;
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The computer with the board, and the front-end's reports.
struct House {
    bluez: Bluez,
    log: Log,
    stop: CancellationToken,
    /// The peers that came and went.
    told: mpsc::UnboundedReceiver<String>,
    connections: mpsc::Sender<Connection>,
}

impl House {
    fn control(&self) -> Control {
        self.bluez.control()
    }

    fn phone(&self, address: Address, mtu: u16) -> Phone {
        self.bluez.phone(ADAPTER, address, mtu).unwrap()
    }

    fn serve_ble(&self, config: BleServed) -> JoinHandle<()> {
        let serving = ble::serve(
            config,
            self.connections.clone(),
            Availability::default(),
            self.stop.clone(),
        );
        tokio::spawn(serving)
    }

    fn serve_rfcomm(&self, config: RfcommServed) -> JoinHandle<()> {
        let serving = rfcomm::serve(
            config,
            self.connections.clone(),
            Availability::default(),
            self.stop.clone(),
        );
        tokio::spawn(serving)
    }

    /// The front-end's next report.
    async fn tells(&mut self, what: &str) {
        let told = soon(what, self.told.recv()).await.unwrap();
        assert_eq!(told, what);
    }
}

/// Echoes every line, answers `two` with two lines at once, `long N` with a line of N, `stop` by reading no more, and
/// `close` by closing.
async fn echo(connection: Connection, tell: mpsc::UnboundedSender<String>) {
    let Connection { peer, stream, .. } = connection;
    tell.send(format!("{peer} came")).unwrap();
    let (reader, mut writer) = tokio::io::split(stream);
    let mut reader = BufReader::new(reader);
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        let answer = match line.trim_end() {
            "close" => break,
            "stop" => std::future::pending().await,
            "two" => "one\ntwo\n".to_owned(),
            // In pieces, as a front-end may write it.
            "pieces" => {
                writer.write_all(b"pie").await.unwrap();
                tokio::task::yield_now().await;
                "ces\n".to_owned()
            }
            other => match other.strip_prefix("long ") {
                Some(length) => long(length.parse().unwrap()),
                None => line,
            },
        };
        if writer.write_all(answer.as_bytes()).await.is_err() {
            break;
        }
    }
    // Told last: the stream is closed by then.
    drop((reader, writer));
    tell.send(format!("{peer} went")).unwrap();
}

fn long(length: usize) -> String {
    let mut line: String = ('a'..='z').cycle().take(length - 1).collect();
    line.push('\n');
    line
}

/// The body of a test in its own process.
type Test = fn(House) -> Pin<Box<dyn Future<Output = ()>>>;

/// Runs a test in a process of its own, with a bus of its own.
fn alone(name: &str, test: Test) {
    on_a_bus(module_path!(), name, |socket| {
        let log = Log::default();
        let writer = log.clone();
        tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing::Level::DEBUG)
            .with_writer(move || writer.clone())
            .init();
        let bluez = Bluez::start_at(socket).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (connections, mut incoming) = mpsc::channel(4);
            let (tell, told) = mpsc::unbounded_channel();
            tokio::spawn(async move {
                while let Some(connection) = incoming.recv().await {
                    tokio::spawn(echo(connection, tell.clone()));
                }
            });
            test(House {
                bluez,
                log,
                stop: CancellationToken::new(),
                told,
                connections,
            })
            .await;
        });
    });
}

async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(PATIENCE, future).await {
        Ok(done) => done,
        Err(_) => panic!("in vain: {what}"),
    }
}

/// Finds the board, connects and subscribes.
async fn open(phone: &Phone) {
    let heard = soon("the board is heard", phone.finds(NAME)).await;
    assert_eq!(heard.services, [SERVICE]);
    assert!(heard.discoverable && heard.connectable);
    phone.connect().unwrap();
    phone.subscribe(NOTIFY, true).unwrap();
}

async fn writes(phone: &Phone, line: &str) {
    let written = phone.write(WRITE, line.as_bytes(), true);
    soon(line, written).await.unwrap();
}

/// The next notification.
async fn hears(phone: &Phone, line: &str) {
    let (of, value) = soon(line, phone.notified()).await.unwrap();
    assert_eq!(of, NOTIFY);
    assert_eq!(String::from_utf8_lossy(&value), line);
}

fn came(phone: Address) -> String {
    format!("Bluetooth {phone} came")
}

fn went(phone: Address) -> String {
    format!("Bluetooth {phone} went")
}

macro_rules! promises {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            alone(stringify!($name), |house| Box::pin(promised::$name(house)));
        })*
    };
}

promises! {
    an_app_finds_the_board_and_lines_go_both_ways_whole
    a_line_that_does_not_fit_is_split_and_nothing_is_lost
    an_app_is_connected_by_its_first_write_whenever_it_subscribes
    an_app_that_goes_ends_its_stream_and_may_come_again
    a_controller_that_stops_advertising_is_made_to_go_on
    a_closed_stream_disconnects_the_app_after_its_last_line
    an_app_that_is_paired_and_comes_back_is_notified
    an_app_that_writes_without_end_is_disconnected
    an_app_that_never_listens_is_disconnected
    two_apps_are_two_connections
    whoever_is_connected_for_something_else_is_left_alone
    the_adapter_has_the_name_of_the_board_while_it_is_served
    a_bluetooth_service_that_ends_and_comes_again_is_got_over
    bluetooth_that_is_off_is_told_and_never_switched_on
    what_is_wrong_with_bluetooth_is_said_once_and_waited_out
    apps_connect_to_the_serial_port
    the_serial_port_comes_back_with_bluetooth
}

mod promised {
    use super::*;

    pub async fn an_app_finds_the_board_and_lines_go_both_ways_whole(mut house: House) {
        house.serve_ble(BleServed::default());
        let phone = house.phone(PHONE, USUAL_MTU);
        open(&phone).await;
        writes(&phone, "H0010023\n").await;
        house.tells(&came(PHONE)).await;
        hears(&phone, "H0010023\n").await;
        // Without a response, two lines a write, and a line in two writes.
        phone.write(WRITE, b"NG2Y\n", false).await.unwrap();
        writes(&phone, "MA e2e4\nMA").await;
        writes(&phone, " e7e5\ntwo\npieces\n").await;
        for line in [
            "NG2Y\n",
            "MA e2e4\n",
            "MA e7e5\n",
            "one\n",
            "two\n",
            "pieces\n",
        ] {
            hears(&phone, line).await;
        }
        // In order, however many.
        for batch in 0..20 {
            let lines: Vec<String> = (0..25).map(|i| format!("{batch}.{i}\n")).collect();
            for line in &lines {
                phone.write(WRITE, line.as_bytes(), false).await.unwrap();
            }
            for line in &lines {
                hears(&phone, line).await;
            }
        }
    }

    pub async fn a_line_that_does_not_fit_is_split_and_nothing_is_lost(house: House) {
        house.serve_ble(BleServed::default());
        for (address, mtu, most) in [(PHONE, LEAST_MTU, 18), (OTHER, USUAL_MTU, 512)] {
            let phone = house.phone(address, mtu);
            open(&phone).await;
            for length in [most, most + 1, 3 * most] {
                writes(&phone, &format!("long {length}\n")).await;
                let whole = long(length);
                for piece in whole.as_bytes().chunks(most) {
                    hears(&phone, std::str::from_utf8(piece).unwrap()).await;
                }
            }
            phone.disconnect();
        }
    }

    pub async fn an_app_is_connected_by_its_first_write_whenever_it_subscribes(mut house: House) {
        house.serve_ble(BleServed::default());
        let phone = house.phone(PHONE, USUAL_MTU);
        open(&phone).await;
        writes(&phone, "H0010023\n").await;
        house.tells(&came(PHONE)).await;
        hears(&phone, "H0010023\n").await;
        phone.subscribe(NOTIFY, false).unwrap();
        house.tells(&went(PHONE)).await;
        assert!(phone.is_connected());
        // What is answered before anybody listens is kept.
        writes(&phone, "H0010023\n").await;
        house.tells(&came(PHONE)).await;
        phone.subscribe(NOTIFY, true).unwrap();
        hears(&phone, "H0010023\n").await;
    }

    pub async fn an_app_that_goes_ends_its_stream_and_may_come_again(mut house: House) {
        house.serve_ble(BleServed::default());
        let phone = house.phone(PHONE, USUAL_MTU);
        for _ in 0..3 {
            open(&phone).await;
            writes(&phone, "H0010023\n").await;
            house.tells(&came(PHONE)).await;
            hears(&phone, "H0010023\n").await;
            phone.disconnect();
            house.tells(&went(PHONE)).await;
        }
    }

    pub async fn a_controller_that_stops_advertising_is_made_to_go_on(mut house: House) {
        house.serve_ble(BleServed::default());
        let control = house.control();
        control.stop_advertising(true);
        let phone = house.phone(PHONE, USUAL_MTU);
        for parting in ["walks away", "is lost", "unsubscribes first"] {
            open(&phone).await;
            writes(&phone, "H0010023\n").await;
            hears(&phone, "H0010023\n").await;
            assert_eq!(phone.hears(), []);
            house.tells(&came(PHONE)).await;
            match parting {
                "walks away" => phone.disconnect(),
                "is lost" => control.drop_link(PHONE).unwrap(),
                _ => phone.subscribe(NOTIFY, false).unwrap(),
            }
            house.tells(&went(PHONE)).await;
            phone.disconnect();
        }
        // Nor does one hinder it that says nothing.
        open(&phone).await;
        phone.disconnect();
        open(&phone).await;
    }

    pub async fn a_closed_stream_disconnects_the_app_after_its_last_line(mut house: House) {
        house.serve_ble(BleServed::default());
        let phone = house.phone(PHONE, USUAL_MTU);
        open(&phone).await;
        writes(&phone, "last\nclose\n").await;
        hears(&phone, "last\n").await;
        soon("the link is gone", phone.loses_link()).await;
        house.tells(&came(PHONE)).await;
        house.tells(&went(PHONE)).await;
        open(&phone).await;
        writes(&phone, "again\n").await;
        hears(&phone, "again\n").await;
    }

    pub async fn an_app_that_is_paired_and_comes_back_is_notified(mut house: House) {
        house.serve_ble(BleServed::default());
        let phone = house.phone(PHONE, USUAL_MTU);
        phone.pair();
        for _ in 0..3 {
            // It may subscribe again: BlueZ does not report that.
            open(&phone).await;
            writes(&phone, "H0010023\n").await;
            hears(&phone, "H0010023\n").await;
            house.tells(&came(PHONE)).await;
            phone.disconnect();
            house.tells(&went(PHONE)).await;
        }
    }

    pub async fn an_app_that_writes_without_end_is_disconnected(house: House) {
        house.serve_ble(BleServed::default());
        let phone = house.phone(PHONE, USUAL_MTU);
        open(&phone).await;
        writes(&phone, "stop\n").await;
        for _ in 0..200 {
            // The last ones are refused.
            let _ = phone.write(WRITE, &[b'x'; 512], false).await;
        }
        soon("the link is gone", phone.loses_link()).await;
        let words = "an app writes more than the board can take";
        house.log.says(words).await;
    }

    pub async fn an_app_that_never_listens_is_disconnected(mut house: House) {
        house.serve_ble(BleServed::default());
        let phone = house.phone(PHONE, USUAL_MTU);
        soon("the board is heard", phone.finds(NAME)).await;
        phone.connect().unwrap();
        writes(&phone, "H0010023\n").await;
        soon("the link is gone", phone.loses_link()).await;
        house
            .log
            .says("an app writes but asks for no notifications")
            .await;
        house.tells(&came(PHONE)).await;
        house.tells(&went(PHONE)).await;
    }

    pub async fn two_apps_are_two_connections(mut house: House) {
        house.serve_ble(BleServed::default());
        let one = house.phone(PHONE, USUAL_MTU);
        let two = house.phone(OTHER, USUAL_MTU);
        open(&one).await;
        writes(&one, "first\n").await;
        house.tells(&came(PHONE)).await;
        hears(&one, "first\n").await;
        open(&two).await;
        writes(&two, "second\n").await;
        house.tells(&came(OTHER)).await;
        // Notifications reach whoever subscribed.
        hears(&one, "second\n").await;
        hears(&two, "second\n").await;
        writes(&two, "close\n").await;
        soon("the other link is gone", two.loses_link()).await;
        house.tells(&went(OTHER)).await;
        writes(&one, "still here\n").await;
        hears(&one, "still here\n").await;
        assert!(one.is_connected());
    }

    /// A keyboard, a headset.
    pub async fn whoever_is_connected_for_something_else_is_left_alone(mut house: House) {
        let serving = house.serve_ble(BleServed::default());
        let phone = house.phone(PHONE, USUAL_MTU);
        let keyboard = house.phone(OTHER, USUAL_MTU);
        soon("the board is heard", phone.finds(NAME)).await;
        keyboard.connect().unwrap();
        phone.connect().unwrap();
        writes(&phone, "H0010023\n").await;
        house.tells(&came(PHONE)).await;
        // The phone is known, and so the keyboard is the only one that may be new.
        phone.subscribe(NOTIFY, true).unwrap();
        hears(&phone, "H0010023\n").await;
        writes(&phone, "again\n").await;
        hears(&phone, "again\n").await;
        house.stop.cancel();
        soon("it ends", serving).await.unwrap();
        assert!(!phone.is_connected());
        assert!(keyboard.is_connected());
        house.tells(&went(PHONE)).await;
        assert!(house.told.try_recv().is_err(), "nobody else came");
    }

    pub async fn the_adapter_has_the_name_of_the_board_while_it_is_served(mut house: House) {
        let before = house.control().alias(ADAPTER).unwrap();
        let name = "Chess at home".to_owned();
        let serving = house.serve_ble(BleServed {
            name: Some(name.clone()),
            ..BleServed::default()
        });
        let phone = house.phone(PHONE, USUAL_MTU);
        soon("the board is heard", phone.finds(&name)).await;
        phone.connect().unwrap();
        phone.subscribe(NOTIFY, true).unwrap();
        writes(&phone, "H0010023\n").await;
        house.tells(&came(PHONE)).await;
        assert_eq!(house.control().alias(ADAPTER).unwrap(), name);
        house.stop.cancel();
        soon("it ends", serving).await.unwrap();
        assert!(!phone.is_connected());
        assert_eq!(house.control().alias(ADAPTER).unwrap(), before);
        soon("the board is off the air", phone.loses_sight()).await;
    }

    pub async fn a_bluetooth_service_that_ends_and_comes_again_is_got_over(mut house: House) {
        house.serve_ble(BleServed::default());
        let control = house.control();
        let phone = house.phone(PHONE, USUAL_MTU);
        open(&phone).await;
        // Nothing is under way that would show it.
        writes(&phone, "before\n").await;
        house.tells(&came(PHONE)).await;
        hears(&phone, "before\n").await;
        control.run(false);
        house.tells(&went(PHONE)).await;
        house.log.says("Bluetooth does not answer").await;
        control.run(true);
        open(&phone).await;
        writes(&phone, "again\n").await;
        hears(&phone, "again\n").await;
        assert_eq!(house.log.count("WARN"), 1);
        // So quickly that nothing was ever missing.
        control.run(false);
        control.run(true);
        house.log.says("Bluetooth was restarted").await;
        open(&phone).await;
        writes(&phone, "and again\n").await;
        hears(&phone, "and again\n").await;
    }

    pub async fn bluetooth_that_is_off_is_told_and_never_switched_on(mut house: House) {
        let control = house.control();
        control.power(ADAPTER, false).unwrap();
        house.serve_ble(BleServed::default());
        house.serve_rfcomm(RfcommServed::default());
        let off = "Bluetooth is off (hci0): switch it on";
        house.log.says(off).await;
        control.power(ADAPTER, true).unwrap();
        let phone = house.phone(PHONE, USUAL_MTU);
        open(&phone).await;
        writes(&phone, "H0010023\n").await;
        house.tells(&came(PHONE)).await;
        let words = house.log.count(off);
        assert!(words <= 2, "once each");
        control.power(ADAPTER, false).unwrap();
        house.tells(&went(PHONE)).await;
        house.log.says_more_often(off, words).await;
        assert!(!control.is_powered(ADAPTER).unwrap());
        let on_air = house.log.count("is advertised by");
        control.power(ADAPTER, true).unwrap();
        // What was on the air before may be there for a moment still.
        house.log.says_more_often("is advertised by", on_air).await;
        open(&phone).await;
        writes(&phone, "again\n").await;
        hears(&phone, "again\n").await;
    }

    pub async fn what_is_wrong_with_bluetooth_is_said_once_and_waited_out(house: House) {
        type Fault = fn(&Control, bool);
        let faults: [(Fault, &str); 3] = [
            (
                |control, on| {
                    if on {
                        control.refuse_advertisements(3);
                    }
                },
                "Bluetooth cannot advertise the board (Maximum advertisements reached)",
            ),
            (
                |control, on| control.deny(on),
                "this user is not allowed to use Bluetooth: add it to the group bluetooth",
            ),
            (
                |control, on| control.plug(ADAPTER, !on).unwrap(),
                "this machine has no Bluetooth adapter: plug one in",
            ),
        ];
        let control = house.control();
        let phone = house.phone(PHONE, USUAL_MTU);
        for (fault, words) in faults {
            fault(&control, true);
            let (stop, availability) = (CancellationToken::new(), Availability::default());
            let mut shown = availability.subscribe();
            let serving = ble::serve(
                BleServed::default(),
                house.connections.clone(),
                availability.clone(),
                stop.clone(),
            );
            let serving = tokio::spawn(serving);
            house.log.says(words).await;
            // Whoever looks later sees it too, as long as it lasts.
            let why = shown.borrow_and_update().clone().unwrap();
            assert!(why.starts_with(words), "{why}");
            fault(&control, false);
            soon("the board is heard", phone.finds(NAME)).await;
            assert_eq!(house.log.count(words), 1);
            soon("nothing is wrong", shown.wait_for(Option::is_none))
                .await
                .unwrap();
            stop.cancel();
            soon("it ends", serving).await.unwrap();
            soon("the board is off the air", phone.loses_sight()).await;
        }
        let other = BleServed {
            adapter: Some("hci7".to_owned()),
            ..BleServed::default()
        };
        house.serve_ble(other);
        let words = "there is no Bluetooth adapter hci7: write adapter = \"hci0\" or leave it out";
        house.log.says(words).await;
    }

    pub async fn apps_connect_to_the_serial_port(mut house: House) {
        house.serve_rfcomm(RfcommServed {
            name: Some("Chess".to_owned()),
            channel: Some(7),
        });
        let one = house.phone(PHONE, USUAL_MTU);
        let two = house.phone(OTHER, USUAL_MTU);
        let record = soon("the record", one.finds_record(rfcomm::SERIAL_PORT)).await;
        assert_eq!((record.name.as_deref(), record.channel), (Some("Chess"), 7));
        // Only paired phones, and nobody has to agree to each connection.
        assert!(record.authentication && !record.authorization);
        let mut first = one.connect_serial(rfcomm::SERIAL_PORT).await.unwrap();
        house.tells(&came(PHONE)).await;
        let mut second = two.connect_serial(rfcomm::SERIAL_PORT).await.unwrap();
        house.tells(&came(OTHER)).await;
        first.write_all(b"H0010023\ntwo\n").await.unwrap();
        second.write_all(b"NG2Y\n").await.unwrap();
        let mut bytes = [0; 17];
        soon("the answers", first.read_exact(&mut bytes))
            .await
            .unwrap();
        assert_eq!(&bytes, b"H0010023\none\ntwo\n");
        let mut bytes = [0; 5];
        soon("the answer", second.read_exact(&mut bytes))
            .await
            .unwrap();
        assert_eq!(&bytes, b"NG2Y\n");
        // Either side can end it.
        second.write_all(b"close\n").await.unwrap();
        let end = soon("the end", second.read(&mut bytes)).await;
        assert_eq!(end.unwrap(), 0);
        house.tells(&went(OTHER)).await;
        drop(first);
        house.tells(&went(PHONE)).await;
        let mut again = one.connect_serial(rfcomm::SERIAL_PORT).await.unwrap();
        again.write_all(b"again\n").await.unwrap();
        let mut bytes = [0; 6];
        soon("the answer", again.read_exact(&mut bytes))
            .await
            .unwrap();
        assert_eq!(&bytes, b"again\n");
    }

    pub async fn the_serial_port_comes_back_with_bluetooth(house: House) {
        let config = RfcommServed::default();
        house.serve_rfcomm(config.clone());
        let control = house.control();
        let phone = house.phone(PHONE, USUAL_MTU);
        soon("the record", phone.finds_record(rfcomm::SERIAL_PORT)).await;
        house.log.says("serial port of Bluetooth").await;
        control.run(false);
        house.log.says("Bluetooth does not answer").await;
        control.run(true);
        soon("the record", phone.finds_record(rfcomm::SERIAL_PORT)).await;
        // A second one is told that there can be only one.
        house.serve_rfcomm(config);
        house
            .log
            .says("another [[whitepawn]], has Bluetooth's serial port already")
            .await;
        let mut line = phone.connect_serial(rfcomm::SERIAL_PORT).await.unwrap();
        line.write_all(b"again\n").await.unwrap();
        let mut bytes = [0; 6];
        soon("the answer", line.read_exact(&mut bytes))
            .await
            .unwrap();
    }
}
