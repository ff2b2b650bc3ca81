//! Devices are files in a folder of the test. What is opened is a pair of packet sockets: like the kernel's `hidraw`, and unlike a
//! pipe or a pseudo-terminal, they keep reports apart, both ways.

use std::{fs, os::fd::OwnedFd, os::unix::fs::symlink, time::Duration};

use bytes::Bytes;
use socket2::{Domain, Socket, Type};
use tokio::time::Instant;

use super::*;
use crate::{
    transport::Incoming,
    vocabulary::{Channel, Outgoing, Reply, Request},
};

const BOARDS: HidBoards = HidBoards {
    title: "Toy",
    vendor: 0x1234,
    families: &[0x80, 0x82],
    usage_page: 0xff00,
};
/// The descriptors of a board's own interface and of a keyboard's, as far as they matter.
const OWN: &[u8] = &[0x06, 0x00, 0xff, 0x09, 0x01, 0xa1, 0x01, 0xc0];
const KEYBOARD: &[u8] = &[0x05, 0x01, 0x09, 0x06, 0xa1, 0x01, 0xc0];

/// Folders like `/sys` and `/dev`.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn roots(&self) -> Roots {
        let [sys, dev] = ["sys", "dev"].map(|name| self.0.path().join(name));
        fs::create_dir_all(&dev).unwrap();
        Roots { sys, dev }
    }

    fn plug(&self, number: u32, id: &str, serial: &str, phys: &str, descriptor: &[u8]) -> PathBuf {
        let Roots { sys, dev } = self.roots();
        let name = format!("hidraw{number}");
        let device = sys.join("class/hidraw").join(&name).join("device");
        fs::create_dir_all(&device).unwrap();
        let uevent = format!(
            "DRIVER=hid-generic\nHID_ID=0003:{id}\nHID_NAME=A device\nHID_PHYS={phys}\nHID_UNIQ={serial}\nMODALIAS=hid:b\n"
        );
        fs::write(device.join("uevent"), uevent).unwrap();
        fs::write(device.join("report_descriptor"), descriptor).unwrap();
        fs::write(dev.join(&name), "").unwrap();
        dev.join(name)
    }

    /// Both interfaces of a board, the keyboard's first.
    fn board(&self, number: u32, serial: &str, socket: &str) -> PathBuf {
        let at = |interface: u8| format!("{socket}/input{interface}");
        let id = "00001234:00008001";
        self.plug(number, id, serial, &at(0), KEYBOARD);
        self.plug(number + 1, id, serial, &at(1), OWN)
    }

    fn finds(&self, wanted: Wanted) -> Result<PathBuf, HidError> {
        HidBoard::new(BOARDS, wanted, self.roots()).find()
    }

    fn refuses(&self, wanted: Wanted, words: &[&str]) {
        let error = self.finds(wanted).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "{word}: {error}");
        }
    }
}

fn id(id: &str) -> Wanted {
    Wanted::Id(id.to_owned())
}

#[test]
fn the_only_board_is_found_by_its_own_interface_whatever_its_number() {
    let machine = Machine::new();
    machine.refuses(Wanted::Only(Vec::new()), &["no Toy is plugged in", "cable"]);
    // Another make, and a model that speaks otherwise.
    machine.plug(0, "00004321:00008001", "", "usb-1/input0", OWN);
    machine.plug(1, "00001234:00008300", "", "usb-2/input0", OWN);
    machine.refuses(Wanted::Only(Vec::new()), &["no Toy is plugged in"]);
    let path = machine.board(12, "", "usb-3");
    assert_eq!(machine.finds(Wanted::Only(Vec::new())).unwrap(), path);
}

#[test]
fn two_boards_are_told_apart_by_their_serial_numbers_or_else_by_their_sockets() {
    let machine = Machine::new();
    let first = machine.board(0, "A1", "usb-0000:00:14.0-1");
    let second = machine.board(2, "A2", "usb-0000:00:14.0-2");
    machine.refuses(Wanted::Only(Vec::new()), &["several", "\"A1\", \"A2\""]);
    // The only one that no other entry names.
    for other in [
        "A1".to_owned(),
        "usb-0000:00:14.0-1".to_owned(),
        first.display().to_string(),
    ] {
        let only = Wanted::Only(vec![other]);
        assert_eq!(machine.finds(only).unwrap(), second);
    }
    let both = Wanted::Only(vec!["A1".to_owned(), "A2".to_owned()]);
    machine.refuses(both, &["no Toy is plugged in"]);
    assert_eq!(machine.finds(id("A2")).unwrap(), second);
    assert_eq!(machine.finds(id("usb-0000:00:14.0-1")).unwrap(), first);
    machine.refuses(id("A3"), &["A3 is not plugged in", "A1, A2"]);
    // Their maker gave them one number.
    let machine = Machine::new();
    machine.board(0, "A1", "usb-0000:00:14.0-1");
    let second = machine.board(2, "A1", "usb-0000:00:14.0-2");
    machine.refuses(
        id("A1"),
        &["\"usb-0000:00:14.0-1\", \"usb-0000:00:14.0-2\""],
    );
    assert_eq!(machine.finds(id("usb-0000:00:14.0-2")).unwrap(), second);
}

#[test]
fn a_file_is_a_board_or_is_called_what_it_is() {
    let machine = Machine::new();
    let board = machine.board(0, "", "usb-1");
    let mouse = machine.plug(5, "0000046D:0000C077", "", "usb-2/input0", KEYBOARD);
    let at = |path: &Path| Wanted::Path(path.to_owned());
    assert_eq!(machine.finds(at(&board)).unwrap(), board);
    let link = machine.roots().dev.join("my-board");
    symlink(&board, &link).unwrap();
    assert_eq!(machine.finds(at(&link)).unwrap(), link);
    machine.refuses(
        at(&mouse),
        &["hidraw5 is not a Toy", "\"A device\"", "scan"],
    );
    let keyboard = machine.roots().dev.join("hidraw0");
    machine.refuses(at(&keyboard), &["not the interface", "leave out `path`"]);
    machine.refuses(at(Path::new("/dev/null")), &["not a HID device"]);
    let gone = machine.roots().dev.join("hidraw7");
    machine.refuses(at(&gone), &["there is no", "hidraw7", "plugged in"]);
}

#[test]
fn what_the_kernel_does_not_tell_is_no_board() {
    let machine = Machine::new();
    for (number, id) in [
        (0, ""),
        (1, "x:y"),
        (2, "00001234"),
        (3, "FFFF1234:00008001"),
    ] {
        machine.plug(number, id, "", "usb-1/input0", OWN);
    }
    let odd = machine.roots().sys.join("class/hidraw");
    for name in ["hidrawX", "hidraw9", "mouse0"] {
        fs::create_dir(odd.join(name)).unwrap();
    }
    machine.refuses(Wanted::Only(Vec::new()), &["no Toy is plugged in"]);
}

#[tokio::test]
async fn a_board_that_another_daemon_has_is_not_shared() {
    let machine = Machine::new();
    let path = machine.board(0, "", "usb-1");
    let other = File::open(&path).unwrap();
    other.lock().unwrap();
    let board = HidBoard::new(BOARDS, Wanted::Only(Vec::new()), machine.roots());
    let error = board.open().await.unwrap_err();
    assert!(matches!(error, HidError::Busy { .. }), "{error}");
    other.unlock().unwrap();
    // A plain file is no device; and a failed attempt does not keep it.
    for _ in 0..2 {
        let error = board.open().await.unwrap_err();
        assert!(matches!(error, HidError::Other { .. }), "{error}");
    }
}

#[test]
fn whoever_may_not_open_a_board_is_told_of_the_udev_rule() {
    let path = "/dev/hidraw0".into();
    let words = HidError::Denied { path }.to_string();
    assert!(words.contains("60-boardbridge.rules"), "{words}");
}

/// A link to a device, which is the socket.
async fn linked(usage: &Usage) -> (HidLink, Socket) {
    let (ours, device) = Socket::pair(Domain::UNIX, Type::SEQPACKET, None).unwrap();
    ours.set_nonblocking(true).unwrap();
    let file = File::from(OwnedFd::from(ours));
    let in_use = usage.begin().await.unwrap();
    let link = HidLink::new(ClosedApart::new(file, in_use)).unwrap();
    (link, device)
}

fn command(bytes: &'static [u8]) -> Outgoing {
    Outgoing {
        channel: Channel::Hid,
        request: Request::Command(Bytes::from_static(bytes)),
    }
}

#[tokio::test]
async fn each_report_comes_by_itself_and_none_waits_for_the_next() {
    let (mut link, device) = linked(&Usage::default()).await;
    let reports = [vec![1; 65], vec![0x2a, 2], vec![1; 65], vec![3; 300]];
    for report in &reports {
        device.send(report).unwrap();
    }
    for report in &reports {
        let whole = report.len().min(256);
        let incoming = Incoming::Received(Channel::Hid, Bytes::copy_from_slice(&report[..whole]));
        assert_eq!(link.next().await.unwrap(), incoming);
    }
}

#[tokio::test]
async fn each_request_is_a_report_and_is_answered_once_it_is_written() {
    let (mut link, device) = linked(&Usage::default()).await;
    let commands: [&[u8]; 3] = [
        &[0x21, 1, 0],
        &[0x29, 1, 0],
        &[0x0a, 8, 0, 0, 0, 0, 0, 0, 0, 0],
    ];
    for bytes in commands {
        link.send(&command(bytes));
    }
    for bytes in commands {
        let answered = Incoming::Answered(Channel::Hid, Reply::Done);
        assert_eq!(link.next().await.unwrap(), answered);
        let mut report = [0; 64];
        let length = io::Read::read(&mut &device, &mut report).unwrap();
        assert_eq!(&report[..length], bytes);
    }
}

#[tokio::test]
async fn a_device_that_goes_ends_the_link_and_what_it_does_not_take_is_refused() {
    let (mut link, device) = linked(&Usage::default()).await;
    drop(device);
    let lost = link.next().await.unwrap_err();
    assert!(lost.contains("is the cable plugged in?"), "{lost}");
    link.send(&command(&[0x21, 1, 0]));
    // Which of the two is seen first is not said.
    let refused = |seen: Incoming| matches!(seen, Incoming::Answered(_, Reply::Refused(_)));
    assert!(link.next().await.is_ok_and(refused) || link.next().await.is_err());
}

#[tokio::test]
async fn a_link_that_is_dropped_is_closed_and_can_be_opened_again() {
    let usage = Usage::default();
    let (link, device) = linked(&usage).await;
    drop(link);
    assert!(usage.begin().await.is_some());
    assert_eq!(io::Read::read(&mut &device, &mut [0; 8]).unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_device_that_floods_is_read_no_faster_than_the_bound() {
    let (mut link, device) = linked(&Usage::default()).await;
    device.set_nonblocking(true).unwrap();
    let flood = || while device.send(&[1; 65]).is_ok() {};
    let began = Instant::now();
    for _ in 0..=REPORTS_PER_SECOND {
        flood();
        assert!(link.next().await.is_ok());
    }
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert!(began.elapsed() < Duration::from_secs(2));
}
