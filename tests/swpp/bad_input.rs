//! Invalid input from a board that speaks SWPP, over every transport: its outcome is documented in
//! `src/driver/swpp/PROTOCOL.md`, and the player's next move is taken.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use boardbridge::transport::Stream;
use simulators::{
    bluez::{ADAPTER, Bluez, address::Address, hosted::Hosted},
    peripheral::{Characteristic, Flags, Peripheral, Profile, Refused, Service},
    pty::Pty,
    swpp::profile::{FROM_BOARD, SERVICE, TO_BOARD},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
    time::timeout,
};
use uuid::Uuid;

use crate::support::{
    Gui, House,
    process::{PATIENCE, Process, Watch, soon},
};

const BOARD: Address = Address([0x02, 0xBB, 0, 0, 0, 0x01]);
const NAME: &str = "A board of mine";
/// The longest notification, in bytes.
const VALUE: usize = 512;
/// How often a line end is sent until the daemon has received it.
const AGAIN: Duration = Duration::from_millis(50);

/// A board on Bluetooth that sends whatever it is told to.
struct Raw {
    profile: Profile,
    says: VecDeque<Vec<u8>>,
    written: mpsc::UnboundedSender<Vec<u8>>,
}

impl Raw {
    fn new(written: mpsc::UnboundedSender<Vec<u8>>) -> Self {
        let characteristic = |uuid, write| Characteristic {
            uuid,
            flags: Flags {
                read: false,
                write,
                write_without_response: false,
                notify: !write,
            },
        };
        let profile = Profile {
            name: NAME.to_owned(),
            advertised: vec![SERVICE],
            maker_data: None,
            services: vec![Service {
                uuid: SERVICE,
                characteristics: vec![
                    characteristic(TO_BOARD, true),
                    characteristic(FROM_BOARD, false),
                ],
            }],
        };
        Self {
            profile,
            says: VecDeque::new(),
            written,
        }
    }
}

impl Peripheral for Raw {
    fn profile(&self) -> &Profile {
        &self.profile
    }
    fn connected(&mut self, _now: Instant) {}
    fn disconnected(&mut self, _now: Instant) {
        self.says.clear();
    }
    fn subscribed(&mut self, _now: Instant, _characteristic: Uuid, _on: bool) {}
    fn read(&mut self, _now: Instant, _characteristic: Uuid) -> Result<Vec<u8>, Refused> {
        Err(Refused)
    }
    fn write(&mut self, _now: Instant, _characteristic: Uuid, value: &[u8]) -> Result<(), Refused> {
        self.written.send(value.to_vec()).map_err(|_| Refused)
    }
    fn timeout(&mut self, _now: Instant) {}
    fn deadline(&self) -> Option<Instant> {
        None
    }
    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)> {
        Some((FROM_BOARD, self.says.pop_front()?))
    }
}

/// The board's transport.
enum Place {
    Serial,
    Tcp(TcpListener),
    Air(Hosted<Raw>, mpsc::UnboundedReceiver<Vec<u8>>),
}

/// A board controlled by the test, the daemon, and a GUI.
struct Room {
    place: Place,
    /// The board's end of a wire.
    wire: Option<Box<dyn Stream>>,
    /// What the board has received and not read yet.
    heard: Vec<u8>,
    process: Process,
    gui: Gui,
    watch: Watch,
    bluez: Bluez,
    _folder: TempDir,
}

#[derive(Clone, Copy)]
enum Way {
    Serial,
    Tcp,
    LowEnergy,
}

impl Room {
    /// The board is connected, the handshake is done, and a game has begun in which the player has White.
    async fn new(way: Way) -> Self {
        let bluez = Bluez::start().unwrap();
        let folder = House::folder();
        let mut wire = None;
        let (place, keys) = match way {
            Way::Serial => {
                let port = folder.path().join("board");
                wire = Some(Box::new(Pty::open(Some(&port)).unwrap()) as Box<dyn Stream>);
                let keys = format!("serial = {{ port = {port:?} }}");
                (Place::Serial, keys)
            }
            Way::Tcp => {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let keys = format!("tcp = {{ address = \"{address}\" }}");
                (Place::Tcp(listener), keys)
            }
            Way::LowEnergy => {
                let (sender, written) = mpsc::unbounded_channel();
                let board = bluez.host(ADAPTER, BOARD, Raw::new(sender)).unwrap();
                (
                    Place::Air(board, written),
                    format!("ble = {{ name = \"{NAME}\" }}"),
                )
            }
        };
        let keys = format!("[boards.mine]\nkind = \"swpp\"\nmove_wait = \"50ms\"\n{keys}\n");
        let mut process = Process::start(&bluez, &keys);
        let gui = process.gui().await;
        let watch = process.watch().await;
        let mut room = Self {
            place,
            wire,
            heard: Vec::new(),
            process,
            gui,
            watch,
            bluez,
            _folder: folder,
        };
        room.is_reached().await;
        room.gui.says("ucinewgame").await;
        room.gui.asks("").await;
        room.hears("NG1Y").await;
        room
    }

    /// The daemon connects, and the handshake is done.
    async fn is_reached(&mut self) {
        if let Place::Tcp(listener) = &self.place {
            let (stream, _) = soon("a connection", listener.accept()).await.unwrap();
            stream.set_nodelay(true).unwrap();
            self.wire = Some(Box::new(stream));
        }
        self.hears("H0010023").await;
        self.says(b"H101     1.2MY_SERIAL\n").await;
    }

    /// The connection is closed, or the board is out of range for a moment.
    async fn is_lost(&mut self) {
        self.wire = None;
        if let Place::Air(..) = self.place {
            self.bluez.control().drop_link(BOARD).unwrap();
        }
        self.heard.clear();
        self.process.logs("no link: ").await;
    }

    async fn says(&mut self, bytes: &[u8]) {
        match (&mut self.wire, &self.place) {
            (Some(wire), _) => soon("a write", wire.write_all(bytes)).await.unwrap(),
            (None, Place::Air(board, _)) => board.with(|raw| {
                raw.says.extend(bytes.chunks(VALUE).map(<[u8]>::to_vec));
            }),
            (None, _) => panic!("no link"),
        }
    }

    /// This is the next line that the board receives.
    async fn hears(&mut self, wanted: &str) {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                assert_eq!(String::from_utf8(line).unwrap(), format!("{wanted}\n"));
                return;
            }
            match (&mut self.wire, &mut self.place) {
                (Some(wire), _) => {
                    let count = soon(wanted, wire.read_buf(&mut self.heard)).await;
                    assert_ne!(count.unwrap(), 0, "closed");
                }
                (None, Place::Air(_, written)) => {
                    let value = soon(wanted, written.recv()).await.unwrap();
                    self.heard.extend(value);
                }
                (None, _) => panic!("no link"),
            }
        }
    }

    /// Sends it until it is logged: over Bluetooth, input that comes faster than it is read is lost.
    async fn says_until(&mut self, bytes: &[u8], words: &str) {
        if !matches!(self.place, Place::Air(..)) {
            self.says(bytes).await;
            self.process.logs(words).await;
            return;
        }
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            self.says(bytes).await;
            if timeout(AGAIN, self.process.logs(words)).await.is_ok() {
                return;
            }
        }
        panic!("`{words}` is not in the log");
    }

    /// The player's move is taken, and the program's answer sent.
    async fn go_on(&mut self, before: &str, mine: &str, theirs: &str) {
        self.watch.asks_at(before.split_whitespace().count()).await;
        self.says(format!("MB {mine}\n").as_bytes()).await;
        self.gui.hears(&format!("bestmove {mine}")).await;
        self.gui.asks(&format!("{before}{mine} {theirs}")).await;
        self.hears(&format!("MA {theirs}")).await;
    }
}

/// Everything in turn.
async fn is_survived(way: Way) {
    let mut room = Room::new(way).await;
    room.go_on("", "e2e4", "e7e5").await;

    // Junk, what only nearly is a message, what only an app says, and a second answer to the handshake.
    let junk: Vec<u8> = (0..=u8::MAX).cycle().take(16 * 1024).collect();
    room.says(&junk).await;
    room.says(
        b"\n\r\n\0\0X\nMB\nMBe9e4\nH1\nNG1Y\nH0010023\nMA e7e5\nH101     1.2x\n\xff\xfe\xfd\n",
    )
    .await;
    room.says_until(b"ZZ\n", "`ZZ` is an unknown type").await;
    room.go_on("e2e4 e7e5 ", "g1f3", "b8c6").await;

    // Half a line: its end comes too late.
    room.says(b"MB f1").await;
    room.process.logs("a line without its end: MB f1").await;
    room.says(b"c4\n").await;
    room.process.logs("`c4` is an unknown type").await;
    room.go_on("e2e4 e7e5 g1f3 b8c6 ", "f1c4", "g8f6").await;

    // No end at all.
    let all = 1024 * 1024;
    room.says(&vec![b'M'; all]).await;
    let words = match way {
        // Of some that has been lost.
        Way::LowEnergy => " bytes, dropped".to_owned(),
        Way::Serial | Way::Tcp => format!("a line of {all} bytes, dropped"),
    };
    room.says_until(b"\n", &words).await;
    room.go_on("e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 ", "d2d3", "f8c5")
        .await;

    // A flood: what is unknown, and moves that are none.
    room.says(&b"YY wrong\nMBe7e9\n".repeat(VALUE / 16 * 512))
        .await;
    room.says_until(b"QQ\n", "`QQ` is an unknown type").await;
    let before = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 d2d3 f8c5 ";
    room.go_on(before, "b1c3", "d7d6").await;
}

#[tokio::test]
async fn what_a_home_made_board_sends_amiss_on_a_serial_line_harms_nobody() {
    is_survived(Way::Serial).await;
}

#[tokio::test]
async fn what_a_home_made_board_sends_amiss_by_tcp_harms_nobody() {
    is_survived(Way::Tcp).await;
}

#[tokio::test]
async fn what_a_home_made_board_sends_amiss_by_bluetooth_le_harms_nobody() {
    is_survived(Way::LowEnergy).await;
}

/// The link is lost while the program thinks, and again in the middle of a line.
async fn goes_on_in_mid_game(way: Way) {
    let mut room = Room::new(way).await;
    room.go_on("", "e2e4", "e7e5").await;
    room.watch.asks_at(2).await;
    room.says(b"MB g1f3\n").await;
    room.gui.hears("bestmove g1f3").await;
    room.is_lost().await;
    room.gui.asks("e2e4 e7e5 g1f3 b8c6").await;
    room.is_reached().await;
    // The game goes on: no other is announced. The move that waits for the hand is shown again.
    room.hears("MA b8c6").await;
    for half in [&b""[..], b"MB f"] {
        room.says(half).await;
        room.is_lost().await;
        room.is_reached().await;
        room.hears("MA b8c6").await;
    }
    room.go_on("e2e4 e7e5 g1f3 b8c6 ", "f1c4", "g8f6").await;
}

#[tokio::test]
async fn a_game_goes_on_after_a_lost_link_by_tcp() {
    goes_on_in_mid_game(Way::Tcp).await;
}

#[tokio::test]
async fn a_game_goes_on_after_a_lost_link_by_bluetooth_le() {
    goes_on_in_mid_game(Way::LowEnergy).await;
}
