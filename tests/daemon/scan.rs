//! `boardbridge scan`: the lines it prints can be pasted, and report what was found.

use std::{
    fs,
    io::{self, Read as _, Write},
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
};

use boardbridge::{
    cli::scan::{self, Cable, Look, Names},
    config::Config,
    driver::{citrine, swpp, ucb},
    transport::settings::HidConfig,
    vocabulary::{LinkState, Snapshot},
};
use simulators::run::Kind;
use tokio::{sync::mpsc, time::timeout};

use crate::support::{FAST_CITRINE, Hand, House, PATIENCE};

/// Where no daemon is.
const NOWHERE: &str = "127.0.0.1:1";

/// The output of a scan, which a test reads.
struct Paper(mpsc::UnboundedSender<String>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        self.0.send(text).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn look(dev: &Path, probe: bool) -> Look<'_> {
    Look {
        dev,
        sys: Path::new("/no/sys"),
        probe,
        adapter: None,
        daemon: NOWHERE,
    }
}

async fn scanned(dev: &Path, probe: bool) -> String {
    let mut output = Vec::new();
    scan::serial(&mut output, look(dev, probe), &mut Names::default())
        .await
        .unwrap();
    String::from_utf8(output).unwrap()
}

/// A folder like `/sys`, with the interfaces of boards on USB: a number, a serial number and a socket each.
pub fn plugged(sys: &Path, boards: &[(u32, &str, &str)]) {
    let vendor: &[u8] = &[0x06, 0x00, 0xff, 0x09, 0x01, 0xa1, 0x01, 0xc0];
    let keyboard: &[u8] = &[0x05, 0x01, 0x09, 0x06, 0xa1, 0x01, 0xc0];
    for (number, serial, socket) in boards {
        for (interface, descriptor) in [(0, keyboard), (1, vendor)] {
            let name = format!("class/hidraw/hidraw{}/device", number + interface);
            let device = sys.join(name);
            fs::create_dir_all(&device).unwrap();
            let uevent = format!(
                "HID_ID=0003:00002D80:00008002\nHID_NAME=Chessnut\tAir\nHID_PHYS={socket}/input{interface}\nHID_UNIQ={serial}\n"
            );
            fs::write(device.join("uevent"), uevent).unwrap();
            fs::write(device.join("report_descriptor"), descriptor).unwrap();
        }
    }
}

#[test]
fn boards_on_usb_are_listed_with_what_tells_them_apart() {
    let machine = tempfile::tempdir().unwrap();
    let [sys, dev] = ["sys", "dev"].map(|name| machine.path().join(name));
    let look = Look {
        sys: &sys,
        ..look(&dev, false)
    };
    let scanned = || {
        let mut output = Vec::new();
        let cable = scan::usb(&mut output, look, &mut Names::default()).unwrap();
        (cable, String::from_utf8(output).unwrap())
    };
    assert_eq!(scanned(), (Cable::None, String::new()));
    plugged(&sys, &[(0, "", "usb-0000:00:14.0-1")]);
    let (cable, said) = scanned();
    assert_eq!(cable, Cable::Board);
    // The folder has no /dev.
    assert!(said.contains("60-boardbridge.rules"), "{said}");
    assert!(!said.contains('\t'), "{said}");
    let config = Config::from_text(&said, "the scan").unwrap();
    let only = config
        .boards
        .values()
        .next()
        .and_then(|board| board.hid.clone());
    assert_eq!(only, Some(HidConfig::default()), "{said}");
    plugged(&sys, &[(4, "A7", "usb-0000:00:14.0-2")]);
    let (_, said) = scanned();
    let config = Config::from_text(&said, "the scan").unwrap();
    let boards = config.boards.values();
    let ids: Vec<_> = boards.filter_map(|board| board.hid.clone()?.id).collect();
    assert_eq!(ids, ["usb-0000:00:14.0-1", "A7"], "{said}");
    assert_eq!(said.matches("leave the cable").count(), 1, "{said}");
}

#[tokio::test]
async fn a_probe_names_the_kind_of_every_board() {
    let dev = tempfile::tempdir().unwrap();
    let at = |name: &str| dev.path().join(name);
    let _citrine = Hand::new(Kind::NovagCitrine, at("ttyUSB0"), true);
    let ucb = Hand::new(Kind::NovagUcb, at("ttyUSB1"), true);
    let _own = Hand::new(Kind::SwppBoard, at("ttyACM0"), true);
    let (paper, mut text) = mpsc::unbounded_channel();
    let path = dev.path().to_owned();
    let scan = tokio::spawn(async move {
        let mut paper = Paper(paper);
        scan::serial(&mut paper, look(&path, true), &mut Names::default()).await
    });
    let mut said = String::new();
    while let Some(more) = timeout(PATIENCE, text.recv()).await.unwrap() {
        said += &more;
        if more.contains("switch it off and on now") {
            ucb.does("off").await;
            ucb.does("on").await;
        }
    }
    scan.await.unwrap().unwrap();
    let lines = said.split_once("# ").unwrap().1;
    let config = Config::from_text(&format!("# {lines}"), "the scan").unwrap();
    let found: Vec<_> = config.boards.values().collect();
    for (name, kind) in [
        ("ttyUSB0", citrine::KIND),
        ("ttyUSB1", ucb::KIND),
        ("ttyACM0", swpp::KIND),
    ] {
        let port = at(name).display().to_string();
        let here = |serial: &boardbridge::transport::settings::SerialConfig| serial.port == port;
        let board = found
            .iter()
            .find(|board| board.serial.as_ref().is_some_and(here));
        assert_eq!(board.unwrap().make.kind, kind, "{said}");
    }
    assert!(said.contains("UCBII V1.09"), "{said}");
}

/// Describes what is plugged in at this port, as the kernel does.
pub fn plug(dev: &Path, sys: &Path, port: &str, numbers: [&str; 2], texts: [&str; 2]) {
    let device = sys.join("devices").join(port);
    let class = sys.join("class/tty").join(port);
    for folder in [&device, &class] {
        fs::create_dir_all(folder).unwrap();
    }
    symlink(&device, class.join("device")).unwrap();
    let names = ["idVendor", "idProduct", "manufacturer", "product"];
    for (name, text) in names.iter().zip([numbers, texts].concat()) {
        fs::write(device.join(name), text).unwrap();
    }
    fs::write(dev.join(port), "").unwrap();
}

#[tokio::test]
async fn a_board_with_a_name_of_its_own_on_usb_is_named_and_one_behind_an_adapter_is_not() {
    let (dev, sys) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (dev, sys) = (dev.path(), sys.path());
    let board = ["DGT", "DGT Chessboard"];
    plug(dev, sys, "ttyACM0", ["045b", "8111"], board);
    let adapter = ["FTDI", "FT232R\u{1b}[2J"];
    plug(dev, sys, "ttyUSB0", ["0403", "6001"], adapter);
    let mut output = Vec::new();
    let look = Look {
        sys,
        ..look(dev, false)
    };
    scan::serial(&mut output, look, &mut Names::default())
        .await
        .unwrap();
    let said = String::from_utf8(output).unwrap();
    let (of_board, of_adapter) = said.split_once("ttyUSB0").unwrap();
    for words in [
        "ttyACM0: a DGT e-board, as its name on USB shows\n# On USB: DGT DGT Chessboard (045b:8111)\n",
        "[boards.dgt]\nkind = \"dgt\"\n",
    ] {
        assert!(of_board.contains(words), "{words} is not in {said}");
    }
    for words in [
        "(0403:6001), an adapter that many devices have\n",
        "kind = \"?\"",
    ] {
        assert!(of_adapter.contains(words), "{words} is not in {said}");
    }
    assert!(!said.contains('\u{1b}'), "{said}");
}

#[tokio::test]
async fn nothing_is_guessed_without_a_probe_and_nothing_sent() {
    let dev = tempfile::tempdir().unwrap();
    let mut citrine = Hand::new(Kind::NovagCitrine, dev.path().join("ttyUSB0"), true);
    let said = scanned(dev.path(), false).await;
    assert!(said.contains("scan --probe"), "{said}");
    let error = Config::from_text(&said, "the scan")
        .unwrap_err()
        .to_string();
    assert!(error.contains("boards.board.kind: `?`"), "{error}");
    assert!(error.contains("novag-citrine, novag-ucb"), "{error}");
    assert_eq!(citrine.seen(), Vec::<String>::new());
}

#[tokio::test]
async fn a_port_that_cannot_be_asked_is_listed_with_the_reason() {
    let dev = tempfile::tempdir().unwrap();
    fs::write(dev.path().join("ttyUSB0"), "").unwrap();
    let said = scanned(dev.path(), true).await;
    assert!(said.contains("was not asked: "), "{said}");
    assert!(said.contains("is not a serial port"), "{said}");
    // A running daemon's.
    let citrine = Hand::new(Kind::NovagCitrine, dev.path().join("ttyUSB1"), true);
    let daemons = boardbridge::transport::serial::SerialPort::new(
        dev.path().join("ttyUSB1").display().to_string(),
        57_600,
    );
    let open = daemons.open().await.unwrap();
    let said = scanned(dev.path(), true).await;
    assert!(said.contains("in use by another program"), "{said}");
    drop((open, citrine));
}

#[tokio::test]
async fn a_port_that_the_daemon_has_is_named_with_its_board_and_left_alone() {
    let folder = House::folder();
    let dev = folder.path().to_owned();
    let _citrine = Hand::new(Kind::NovagCitrine, dev.join("ttyUSB0"), true);
    let house = House::start(folder, &[("ttyUSB0", FAST_CITRINE)]).await;
    let is_up = |board: &Snapshot| board.link == LinkState::Up;
    house.until("ttyUSB0", is_up).await;
    let daemon = house.address("web").to_string();
    for probe in [false, true] {
        let mut output = Vec::new();
        let look = Look {
            daemon: &daemon,
            ..look(&dev, probe)
        };
        let mut names = Names::default();
        let cable = scan::serial(&mut output, look, &mut names).await.unwrap();
        assert_eq!(cable, Cable::Board);
        let said = String::from_utf8(output).unwrap();
        let words = "ttyUSB0: the running BoardBridge has it for its board ttyUSB0 (up)";
        assert!(said.contains(words), "{said}");
        assert!(!said.contains("kind ="), "{said}");
    }
}

#[tokio::test]
async fn a_port_of_the_machine_itself_is_no_board_until_one_answers() {
    let dev = tempfile::tempdir().unwrap();
    let port = dev.path().join("ttyAMA0");
    fs::write(&port, "").unwrap();
    let said = scanned(dev.path(), false).await;
    assert!(said.contains("a port of the machine itself"), "{said}");
    // Everything that is printed is a comment.
    Config::from_text(&said, "the scan").unwrap();
    let asked = scanned(dev.path(), true).await;
    for said in [said, asked] {
        assert!(said.contains("ttyAMA0: "), "{said}");
        assert!(!said.contains("kind ="), "{said}");
    }
    fs::remove_file(&port).unwrap();
    let _citrine = Hand::new(Kind::NovagCitrine, port, true);
    let said = scanned(dev.path(), true).await;
    assert!(said.contains("kind = \"novag-citrine\""), "{said}");
}

#[tokio::test]
async fn a_port_in_use_is_told_with_the_program_that_has_it() {
    let dev = tempfile::tempdir().unwrap();
    let port = dev.path().join("ttyUSB0");
    let _citrine = Hand::new(Kind::NovagCitrine, port.clone(), true);
    // Locked, as programs for serial ports do, and with no file of this test's: whoever made the port is not its user.
    let alone = "for n in $(ls /proc/self/fd); do [ $n -gt 2 ] && eval \"exec $n>&-\"; done; exec flock --no-fork $0 cat";
    let mut other = Command::new("bash")
        .args(["-c", alone])
        .arg(&port)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // It is there when it says something.
    other.stdin.as_mut().unwrap().write_all(b"x\n").unwrap();
    let mut said = [0; 2];
    other
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut said)
        .unwrap();
    let said = scanned(dev.path(), true).await;
    let words = format!("in use by another program, cat (process {})", other.id());
    assert!(said.contains(&words), "{said}");
    drop(other.stdin.take());
    other.wait().unwrap();
}

#[test]
fn a_machine_without_bluetooth_is_not_told_to_install_it_nor_is_the_owner_of_a_board_with_a_cable()
{
    if fs::read_dir("/sys/class/bluetooth").is_ok_and(|found| found.count() > 0) {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
    command
        .args(["scan", "--connect", NOWHERE])
        .env_remove("DBUS_SYSTEM_BUS_ADDRESS");
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(!said.contains("apt install"), "{said}");
    assert!(!said.contains("Listening for Bluetooth"), "{said}");
    assert!(
        said.contains("this machine has no Bluetooth adapter"),
        "{said}"
    );
}
