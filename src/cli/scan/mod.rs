//! `boardbridge scan`: serial ports, and boards on USB and Bluetooth in reach, each with the TOML to paste.

mod usb;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use tokio::time::timeout;

pub use self::usb::usb;
use crate::{
    cli::call,
    discovery::{
        Port, makes_on_air, own_make,
        probe::{self, Finding},
        serial_ports,
    },
    driver::{
        identity::{Identity, Medium, SWITCH_WAIT},
        registry::MAKES,
        usb::Likeness,
    },
    system::usb::UsbDevice,
    text::escape::{escaped, escaped_json},
    transport::{
        ble::{BleError, Radio, Seen, Wanted},
        serial::SerialPort,
    },
};

/// How long to listen for Bluetooth devices. They advertise once or more a second; their names come with the
/// answer to an active scan.
pub const LISTEN: Duration = Duration::from_secs(8);
/// Ports that are asked at most.
const MAX_PORTS: usize = 64;
/// How long a running daemon may take to say which boards it has: it is on this machine.
const DAEMON_WAIT: Duration = Duration::from_secs(2);

/// Where and how to look.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The folder of the serial ports: `/dev`.
    pub dev: &'a Path,
    /// Where the kernel describes devices: `/sys`.
    pub sys: &'a Path,
    /// Whether to ask what is connected to the serial ports.
    pub probe: bool,
    /// The Bluetooth adapter to use; the first one by default.
    pub adapter: Option<&'a str>,
    /// The API of the daemon that may have some of the ports.
    pub daemon: &'a str,
}

/// A board that the running daemon has, at a serial port.
struct Held {
    port: PathBuf,
    /// Which board, and how it is, in words.
    board: String,
}

/// Names for boards, each used once.
#[derive(Debug, Default)]
pub struct Names(Vec<String>);

impl Names {
    /// This name, with a number if it was used before.
    fn take(&mut self, name: &str) -> String {
        self.take_beside(name, &[])
    }

    /// The same, for another board than these.
    fn take_beside(&mut self, name: &str, boards: &[Value]) -> String {
        let numbered = (2..).map(|number| format!("{name}{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let is_other = |name: &String| boards.iter().all(|board| board["board"] != name.as_str());
        let free = names.find(|name| !self.0.contains(name) && is_other(name));
        let free = free.unwrap_or_else(|| name.to_owned());
        self.0.push(free.clone());
        free
    }
}

/// What was found at the serial ports, and on USB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cable {
    /// Nothing, or ports of the machine itself.
    None,
    /// A port that may have a board.
    Port,
    /// A board.
    Board,
}

/// Looks for boards and writes what was found.
///
/// # Errors
/// It cannot be written.
pub async fn run(output: &mut impl Write, look: Look<'_>) -> io::Result<()> {
    let mut names = Names::default();
    let cable = serial(output, look, &mut names).await?;
    let cable = cable.max(usb(output, look, &mut names)?);
    let radio = Radio::default();
    let written = match radio.ready(look.adapter).await {
        Ok(()) => listened(output, &radio, look.adapter, cable, &mut names).await,
        Err(error) => without_bluetooth(output, &error, cable),
    };
    radio.close().await;
    written
}

/// Listens for Bluetooth boards, and writes what was found.
async fn listened(
    output: &mut impl Write,
    radio: &Radio,
    adapter: Option<&str>,
    cable: Cable,
    names: &mut Names,
) -> io::Result<()> {
    writeln!(
        output,
        "# Listening for Bluetooth boards for {} seconds…",
        LISTEN.as_secs()
    )?;
    output.flush()?;
    match radio.look_around(adapter, LISTEN).await {
        Ok(seen) => bluetooth(output, &seen, adapter, cable, names),
        Err(error) => without_bluetooth(output, &error, cable),
    }
}

/// Says why there is no Bluetooth, unless a board was found without it.
fn without_bluetooth(output: &mut impl Write, error: &BleError, cable: Cable) -> io::Result<()> {
    match cable {
        Cable::Board => Ok(()),
        Cable::Port => writeln!(
            output,
            "# No Bluetooth, which a board with a cable does not need: {error}"
        ),
        Cable::None => writeln!(output, "# No Bluetooth: {error}"),
    }
}

/// Writes the Bluetooth devices, boards first with their TOML.
fn bluetooth(
    output: &mut impl Write,
    seen: &[Seen],
    adapter: Option<&str>,
    cable: Cable,
    names: &mut Names,
) -> io::Result<()> {
    let by = adapter.map_or(String::new(), |adapter| format!(", adapter = {adapter:?}"));
    let mut others = Vec::new();
    let mut found = false;
    for device in seen {
        // A Chessnut Air ends its name with a line feed.
        let name = device.name.as_deref().unwrap_or_default().trim();
        let (makes, sure) = makes_on_air(name, &device.services, &device.maker_data);
        let Some(make) = makes.first() else {
            if !name.is_empty() {
                others.push(format!("\"{}\" ({})", escaped(name), device.address));
            }
            continue;
        };
        let (table, kind) = match makes[..] {
            [make] => (make.example, format!("kind = \"{}\"", make.kind)),
            _ => ("board", unknown_kind(&makes)),
        };
        let table = names.take(table);
        found = true;
        let signal = device
            .rssi
            .map_or(String::new(), |rssi| format!(", {rssi} dBm"));
        let perhaps = if sure {
            ""
        } else {
            ": has a serial service, as home-made boards and a DGT Pegasus do; other things do, too"
        };
        let shown = escaped(if name.is_empty() { make.title } else { name });
        writeln!(output, "# {shown} at {}{signal}{perhaps}", device.address)?;
        writeln!(output, "[boards.{table}]\n{kind}")?;
        let address = &device.address;
        if make.media.contains(&Medium::Ble) && is_own(name, seen) {
            // A JSON string is a valid TOML string.
            let name = escaped_json(&Value::from(name).to_string());
            writeln!(output, "ble = {{ name = {name}{by} }}\n")?;
        } else if make.media.contains(&Medium::Ble) {
            writeln!(output, "ble = {{ address = \"{address}\"{by} }}\n")?;
        } else {
            writeln!(
                output,
                "rfcomm = {{ address = \"{address}\"{by} }}     # pair it once: docs/boards/{}.md says how\n",
                make.room
            )?;
        }
    }
    // A player with a board on a cable may have no Bluetooth board.
    if !found && cable == Cable::Board {
        return Ok(());
    }
    if !found {
        writeln!(
            output,
            "# No Bluetooth board that BoardBridge knows is in reach. Is it switched on, and not connected to an app?"
        )?;
    }
    if !others.is_empty() {
        others.sort();
        writeln!(output, "# Other devices: {}", others.join(", "))?;
    }
    Ok(())
}

/// Whether a name tells a board from others of its model: it has a number, and no other device has it.
fn is_own(name: &str, seen: &[Seen]) -> bool {
    let wanted = Wanted::Name(name.to_owned());
    let fits = |other: &&Seen| wanted.fits(other.name.as_deref(), &other.address);
    let is_numbered = name.bytes().any(|byte| byte.is_ascii_digit());
    is_numbered && seen.iter().filter(fits).count() == 1
}

/// Looks for serial ports, asks what is connected if that is wanted, and writes what was found.
///
/// # Errors
/// It cannot be written.
pub async fn serial(
    output: &mut impl Write,
    look: Look<'_>,
    names: &mut Names,
) -> io::Result<Cable> {
    let boards = running(look.daemon).await;
    let held = held(&boards);
    let holder = |port: &Port| {
        let path = port.path.canonicalize().ok()?;
        held.iter().find(|held| held.port == path)
    };
    let (ours, ports): (Vec<Port>, Vec<Port>) = serial_ports(look.dev, look.sys)
        .into_iter()
        .partition(|port| holder(port).is_some());
    let mut cable = Cable::None;
    for (port, held) in ours.iter().filter_map(|port| Some((port, holder(port)?))) {
        let (path, board) = (port.path.display(), &held.board);
        writeln!(
            output,
            "# {path}: the running BoardBridge has it for its board {board}. To have it asked, stop the service first.\n"
        )?;
        cable = Cable::Board;
    }
    if ours.is_empty() && ports.is_empty() {
        writeln!(
            output,
            "# No serial port is in reach. Plug the board's cable in and scan again."
        )?;
    }
    let findings = if look.probe && !ports.is_empty() {
        probed(output, &ports).await?
    } else {
        Vec::new()
    };
    let findings = findings
        .into_iter()
        .map(Some)
        .chain(std::iter::repeat_with(|| None));
    for (port, finding) in ports.iter().zip(findings) {
        cable = cable.max(match finding {
            Some(Finding::Board { .. }) => Cable::Board,
            _ if port.is_built_in() => Cable::None,
            _ => Cable::Port,
        });
        table(output, port, finding.as_ref(), names, &boards)?;
    }
    Ok(cable)
}

/// The boards of a running daemon; none without one.
async fn running(daemon: &str) -> Vec<Value> {
    let asked = timeout(DAEMON_WAIT, call::boards(daemon)).await;
    asked.ok().and_then(Result::ok).unwrap_or_default()
}

/// Those of them that are at serial ports.
fn held(boards: &[Value]) -> Vec<Held> {
    let held = boards.iter().filter_map(|board| {
        // `/dev/ttyUSB0 at 57600 baud`
        let (port, _) = board["transport"].as_str()?.rsplit_once(" at ")?;
        let name = escaped(board["board"].as_str()?);
        let state = escaped(board["link"].as_str()?);
        let why = board["why"]
            .as_str()
            .map_or(String::new(), |why| format!(": {}", escaped(why)));
        Some(Held {
            port: Path::new(port).canonicalize().ok()?,
            board: format!("{name} ({state}{why})"),
        })
    });
    held.collect()
}

/// What is connected to the ports.
async fn probed(output: &mut impl Write, ports: &[Port]) -> io::Result<Vec<Finding>> {
    writeln!(output, "# Asking what is at the serial ports…")?;
    output.flush()?;
    // The clones of a `SerialPort` know when it is closed: only then it is opened at another speed.
    let lines = ports.iter().take(MAX_PORTS);
    let lines = lines.map(|port| SerialPort::new(port.path.display().to_string(), 0));
    let lines: Vec<SerialPort> = lines.collect();
    let at = |line: &SerialPort| {
        let line = line.clone();
        move |baud| {
            let mut line = line.clone();
            line.baud = baud;
            async move { line.open().await }
        }
    };
    let asked = lines.iter().map(|line| tokio::spawn(probe::ask(at(line))));
    let mut findings = Vec::new();
    for asked in asked.collect::<Vec<_>>() {
        findings.push(asked.await.map_err(io::Error::other)?);
    }
    let silent = |finding: &Finding| matches!(finding, Finding::Silent);
    if findings.iter().any(silent) {
        let quiet = probe::probes(false).map(|(make, _)| make.title);
        writeln!(
            output,
            "# Not every port answered. If one has a {}: switch it off and on now, within {} seconds…",
            quiet.collect::<Vec<_>>().join(" or a "),
            SWITCH_WAIT.as_secs()
        )?;
        output.flush()?;
        let waits = lines.iter().zip(&findings).map(|(line, finding)| {
            silent(finding).then(|| tokio::spawn(probe::wait_for_switch(at(line))))
        });
        let waits: Vec<_> = waits.collect();
        for (finding, wait) in findings.iter_mut().zip(waits) {
            if let Some(wait) = wait {
                *finding = wait.await.map_err(io::Error::other)?;
            }
        }
    }
    Ok(findings)
}

/// The line for a board that may be any of several kinds.
fn unknown_kind(makes: &[&Identity]) -> String {
    let kinds: Vec<&str> = makes.iter().map(|make| make.kind.as_str()).collect();
    let (last, first) = kinds.split_last().unwrap_or((&"", &[]));
    format!("kind = \"?\"      # {} or {last}", first.join(", "))
}

/// What is plugged in, in words.
fn plugged(usb: &UsbDevice) -> String {
    let UsbDevice {
        vendor,
        product,
        name,
        ..
    } = usb;
    let likeness = |make: &&Identity| make.on_usb(*vendor, *product, name);
    let adapter = MAKES.iter().filter_map(likeness).max() == Some(Likeness::Adapter);
    let many = if adapter {
        ", an adapter that many devices have"
    } else {
        ""
    };
    let name = escaped(name);
    let name = if name.is_empty() { "a device" } else { &name };
    format!("On USB: {name} ({vendor:04x}:{product:04x}){many}")
}

/// Writes the lines to paste for a serial port.
fn table(
    output: &mut impl Write,
    port: &Port,
    finding: Option<&Finding>,
    names: &mut Names,
    boards: &[Value],
) -> io::Result<()> {
    // A port that always exists says nothing about a board.
    if port.is_built_in() && !matches!(finding, Some(Finding::Board { .. })) {
        let path = port.path.display();
        return match finding {
            Some(Finding::Barred(error)) => writeln!(output, "# {path}: was not asked: {error}\n"),
            Some(_) => writeln!(
                output,
                "# {path}: a port of the machine itself; nothing answered\n"
            ),
            None => writeln!(
                output,
                "# {path}: a port of the machine itself; if your board is there, `boardbridge scan --probe` asks it\n"
            ),
        };
    }
    let usb = port.usb.as_ref();
    let likely = usb.and_then(own_make);
    let (name, kind) = match finding {
        Some(Finding::Board { make, .. }) => (make.example, format!("kind = \"{}\"", make.kind)),
        None | Some(Finding::Silent | Finding::Barred(_)) if let Some(make) = likely => {
            (make.example, format!("kind = \"{}\"", make.kind))
        }
        None | Some(Finding::Silent | Finding::Barred(_)) => {
            let kinds = MAKES
                .iter()
                .filter(|make| make.media.contains(&Medium::Serial));
            let kinds: Vec<&Identity> = kinds.copied().collect();
            ("board", unknown_kind(&kinds))
        }
    };
    let what = match finding {
        Some(Finding::Board { said, .. }) => said.clone(),
        Some(Finding::Silent) => {
            "nothing answered. Is the board switched on, and the cable the right one?".to_owned()
        }
        Some(Finding::Barred(error)) => format!("was not asked: {error}"),
        None if let Some(make) = likely => {
            format!("a {}, as its name on USB shows", make.title)
        }
        None => {
            "if your board is there, say which kind; `boardbridge scan --probe` asks it".to_owned()
        }
    };
    let path = port.path.display().to_string();
    writeln!(output, "# {}: {what}", escaped(&path))?;
    if let Some(usb) = usb {
        writeln!(output, "# {}", plugged(usb))?;
    }
    if port.of_socket && port.lasting.is_some() {
        writeln!(
            output,
            "# This is the name of the socket, because the adapter has no unique one: leave the cable in this socket."
        )?;
    }
    let baud = match finding {
        Some(Finding::Board { make, baud, .. }) if make.usual_baud() != Some(*baud) => {
            format!(", baud = {baud}")
        }
        _ => String::new(),
    };
    writeln!(
        output,
        "[boards.{}]\n{kind}",
        names.take_beside(name, boards)
    )?;
    // A JSON string is a valid TOML string.
    let name = Value::from(port.name().display().to_string());
    let name = escaped_json(&name.to_string());
    writeln!(output, "serial = {{ port = {name}{baud} }}\n")
}
