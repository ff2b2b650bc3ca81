//! Invalid input from an app, over every transport: its outcome is documented in
//! `src/driver/swpp/PROTOCOL.md`, and the game continues.

use std::time::Duration;

use boardbridge::{
    front_end::whitepawn::rfcomm::SERIAL_PORT,
    text::swpp::NORDIC_UART,
    transport::{Stream, duplex::RADIO},
};
use simulators::{
    bluez::{ADAPTER, Bluez, address::Address, phone::Phone},
    pty::Pty,
    run::Kind,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{MissedTickBehavior, interval, timeout},
};

use crate::support::{
    Hand, House,
    process::{Process, Watch, soon},
};

/// Pacing for a fast Citrine in another process: a message late on a loaded machine must not come too close to the
/// next.
const CITRINE: &str = "kind = \"novag-citrine\"\ncommand_gap = \"60ms\"\nsecond_send = \"60ms\"\n\
     second_send_capture = \"250ms\"\nmove_wait = \"50ms\"\nsetup_wait = \"50ms\"\ncorrection_wait = \"150ms\"\n";
const PHONE: Address = Address([0xB0, 0xA2, 0xD0, 0, 0, 1]);
/// The MTU of a present-day phone.
const MTU: u16 = 517;
/// The longest write, in bytes.
const WRITE: usize = 512;
const H0: &[u8] = b"H0010023\n";
const H1: &str = concat!("H101   ", env!("CARGO_PKG_VERSION"), "citrine");

/// An app that is not answered asks again, so many times.
const ASK_AGAIN: Duration = Duration::from_secs(2);
const ASKED: u32 = 30;

/// The app's transport.
enum Link {
    Wire(Box<dyn Stream>),
    Air,
}

/// An app, a Citrine and the daemon between them.
struct Room {
    way: Way,
    bluez: Bluez,
    process: Process,
    watch: Watch,
    hand: Hand,
    phone: Phone,
    link: Option<Link>,
    /// What the app has received and not read yet.
    heard: Vec<u8>,
    folder: TempDir,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Serial,
    Tcp,
    Classic,
    LowEnergy,
}

impl Room {
    async fn new(way: Way) -> Self {
        let bluez = Bluez::start().unwrap();
        let phone = bluez.phone(ADAPTER, PHONE, MTU).unwrap();
        let folder = House::folder();
        let [board, port] = ["board", "port"].map(|name| folder.path().join(name));
        let hand = Hand::new(Kind::NovagCitrine, board.clone(), true);
        let link = (way == Way::Serial)
            .then(|| Link::Wire(Box::new(Pty::open(Some(&port)).unwrap()) as Box<dyn Stream>));
        let keys = match way {
            Way::Serial => format!("serial = {{ port = {port:?} }}"),
            Way::Tcp => "tcp = { listen = \"127.0.0.1:0\" }".to_owned(),
            Way::Classic => "rfcomm = {}".to_owned(),
            Way::LowEnergy => "ble = { name = \"Citrine\" }".to_owned(),
        };
        let mut process = Process::start(
            &bluez,
            &format!(
                "[boards.citrine]\n{CITRINE}serial = {{ port = {board:?} }}\n\
                 [[whitepawn]]\nboard = \"citrine\"\n{keys}\n"
            ),
        );
        let watch = process.watch().await;
        let mut room = Self {
            way,
            bluez,
            process,
            watch,
            hand,
            phone,
            link,
            heard: Vec::new(),
            folder,
        };
        room.connects().await;
        room
    }

    /// Connects the app unless connected, and does the handshake; repeats it if it is turned away, or not answered: what is
    /// asked while the link before is still being ended may be lost, and the app asks again.
    async fn connects(&mut self) {
        for _ in 0..ASKED {
            if self.link.is_none() {
                self.heard.clear();
                self.link = Some(self.connected().await);
            }
            self.says(H0).await;
            match timeout(ASK_AGAIN, self.hears(H1)).await {
                Ok(true) => return,
                Ok(false) => self.link = None,
                Err(_) => {}
            }
        }
        panic!("the app is never answered");
    }

    async fn connected(&mut self) -> Link {
        match self.way {
            Way::Serial => panic!("the cable stays in"),
            Way::Tcp => {
                let address = self.process.address("whitepawn for citrine").await;
                Link::Wire(Box::new(TcpStream::connect(address).await.unwrap()))
            }
            Way::Classic => {
                soon("a serial port", self.phone.finds_record(SERIAL_PORT)).await;
                let line = self.phone.connect_serial(SERIAL_PORT).await;
                Link::Wire(Box::new(line.unwrap()))
            }
            Way::LowEnergy => {
                let [_, _, notify] = NORDIC_UART;
                soon("the board", self.phone.finds("Citrine")).await;
                self.phone.connect().unwrap();
                self.phone.subscribe(notify, true).unwrap();
                Link::Air
            }
        }
    }

    fn hangs_up(&mut self) {
        if let Some(Link::Air) = self.link.take() {
            self.phone.disconnect();
        }
    }

    /// Sends it all. Over Bluetooth LE never faster than it is read.
    async fn says(&mut self, bytes: &[u8]) {
        match self.link.as_mut().unwrap() {
            Link::Wire(stream) => soon("a write", stream.write_all(bytes)).await.unwrap(),
            Link::Air => {
                let a_second = RADIO.bytes_per_second / WRITE;
                let mut pace = interval(Duration::from_secs(1) / u32::try_from(a_second).unwrap());
                pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
                for value in bytes.chunks(WRITE) {
                    pace.tick().await;
                    self.write(value).await;
                }
            }
        }
    }

    async fn write(&self, value: &[u8]) {
        let [_, write, _] = NORDIC_UART;
        // There may be no link any more.
        let _ = soon("a write", self.phone.write(write, value, false)).await;
    }

    /// Whether this is the next line that the app receives; `false` if its connection has ended.
    async fn hears(&mut self, wanted: &str) -> bool {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                let line = String::from_utf8(line).unwrap();
                let line = line.trim_end_matches('\n');
                // What was asked twice, or on a link that broke, may be answered once more.
                if line == H1 && wanted != H1 {
                    continue;
                }
                assert_eq!(line, wanted);
                return true;
            }
            match self.link.as_mut().unwrap() {
                Link::Wire(stream) => {
                    let count = soon(wanted, stream.read_buf(&mut self.heard)).await;
                    assert_ne!(count.unwrap(), 0, "closed");
                }
                Link::Air => match soon(wanted, self.phone.notified()).await {
                    Some((_, value)) => self.heard.extend(value),
                    None => return false,
                },
            }
        }
    }

    /// The player moves, and the app answers: each receives the other's move.
    async fn go_on(&mut self, plies: usize, mine: &str, theirs: &str) {
        self.watch.asks_at(plies).await;
        self.hand.does(mine).await;
        assert!(self.hears(&format!("MB {mine}")).await);
        self.says(format!("MA {theirs}\n").as_bytes()).await;
        self.hand.sees(&format!("executed {theirs}")).await;
    }
}

/// Everything in turn.
async fn is_survived(way: Way) {
    let mut room = Room::new(way).await;
    room.says(b"NG3Y\n").await;
    room.go_on(0, "e2e4", "e7e5").await;

    // Junk, and what only nearly is a message.
    let junk: Vec<u8> = (0..=u8::MAX).cycle().take(16 * 1024).collect();
    room.says(&junk).await;
    room.says(b"\n\r\n\0\0X\nMA\nNG9Z\nGE\nH101     1.2x\nMB e2e4\n\xff\xfe\xfd\n")
        .await;
    room.says(H0).await;
    assert!(room.hears(H1).await);
    room.go_on(2, "g1f3", "b8c6").await;

    // Half a line: its end comes too late.
    room.says(b"MA g8").await;
    room.process.logs("`MA g8`, and no end of the line").await;
    room.says(b"f6\n").await;
    room.process.logs("`f6` is an unknown type").await;
    room.go_on(4, "f1c4", "g8f6").await;

    // No end at all.
    room.says(&vec![b'M'; 1024 * 1024]).await;
    room.says(b"\n").await;
    room.process.logs("a line of 1048576 bytes, dropped").await;
    room.says(H0).await;
    assert!(room.hears(H1).await);
    room.go_on(6, "d2d3", "f8c5").await;

    // A flood: moves that are none, and the last one again and again.
    let flood = b"MA a1a8\nMA f8c5\n".repeat(WRITE / 16);
    if way == Way::LowEnergy {
        // More quickly than any radio, and than it is read: that costs the connection.
        for _ in 0..768 {
            room.write(&flood).await;
        }
    } else {
        room.says(&flood.repeat(128)).await;
    }
    room.connects().await;

    // Half a line, and the link is lost.
    if way != Way::Serial {
        room.says(b"MA d7").await;
        room.hangs_up();
        room.connects().await;
    }
    room.go_on(8, "b1c3", "d7d6").await;
    drop((room.bluez, room.folder));
}

#[tokio::test]
async fn what_an_app_sends_amiss_on_a_serial_line_harms_nobody() {
    is_survived(Way::Serial).await;
}

#[tokio::test]
async fn what_an_app_sends_amiss_by_tcp_harms_nobody() {
    is_survived(Way::Tcp).await;
}

#[tokio::test]
async fn what_an_app_sends_amiss_by_bluetooth_classic_harms_nobody() {
    is_survived(Way::Classic).await;
}

#[tokio::test]
async fn what_an_app_sends_amiss_by_bluetooth_le_harms_nobody() {
    is_survived(Way::LowEnergy).await;
}
