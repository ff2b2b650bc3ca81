//! `boardbridge scan`: serial ports and Bluetooth boards in reach, each with the TOML to paste.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use uuid::Uuid;

use crate::{
    config::whitepawn::NORDIC_UART,
    transport::ble::{Radio, Seen},
};

/// How long Bluetooth devices are listened to. They advertise once or more a second; their names come with the
/// answer to an active scan.
pub const LISTEN: Duration = Duration::from_secs(8);
/// What the names of Neos begin with.
const BOARDS: [&str; 2] = ["Square Off Neo", "Miko"];
/// The kind of home-made boards.
const SWPP: &str = "swpp";

/// Names of ports that a board may hang on, below `/dev`.
const PREFIXES: [&str; 5] = ["ttyUSB", "ttyACM", "ttyAMA", "ttyS", "rfcomm"];

/// Ports, each with the name that stays the same when cables change sockets, where it has one.
pub fn serial_ports(dev: &Path) -> Vec<(PathBuf, Option<PathBuf>)> {
    let entries = |folder: &Path| {
        let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let lasting: Vec<(PathBuf, PathBuf)> = entries(&dev.join("serial/by-id"))
        .into_iter()
        .filter_map(|name| Some((name.canonicalize().ok()?, name)))
        .collect();
    entries(dev)
        .into_iter()
        .filter(|path| {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or("");
            PREFIXES.iter().any(|prefix| name.starts_with(prefix)) && is_real(name)
        })
        .map(|path| {
            let name = lasting
                .iter()
                .find(|(target, _)| Some(target) == path.canonicalize().ok().as_ref());
            let name = name.map(|(_, name)| name.clone());
            (path, name)
        })
        .collect()
}

/// A PC has `ttyS0` to `ttyS31` whether a socket is there or not: the kernel tells by the driver's type.
fn is_real(name: &str) -> bool {
    if !name.starts_with("ttyS") {
        return true;
    }
    let kind = std::fs::read_to_string(format!("/sys/class/tty/{name}/type"));
    kind.is_ok_and(|kind| kind.trim() != "0")
}

/// Looks for boards and writes what was found.
///
/// # Errors
/// It cannot be written.
pub async fn run(output: &mut impl Write, adapter: Option<&str>) -> io::Result<()> {
    serial(output)?;
    writeln!(
        output,
        "Listening for Bluetooth boards for {} seconds…",
        LISTEN.as_secs()
    )?;
    output.flush()?;
    let radio = Radio::default();
    let found = radio.look_around(adapter, LISTEN).await;
    let written = match found {
        Ok(seen) => bluetooth(output, &seen, adapter),
        Err(error) => writeln!(output, "No Bluetooth: {error}"),
    };
    radio.close().await;
    written
}

/// A board's kind, and what to call it, by what a device tells of itself.
fn board(name: &str, services: &[Uuid]) -> Option<(&'static str, &'static str)> {
    if BOARDS.iter().any(|prefix| name.starts_with(prefix)) {
        return Some(("miko-neo", "neo"));
    }
    let [serial, ..] = NORDIC_UART;
    services.contains(&serial).then_some((SWPP, "diy"))
}

/// Writes the Bluetooth devices, boards first with their TOML.
fn bluetooth(output: &mut impl Write, seen: &[Seen], adapter: Option<&str>) -> io::Result<()> {
    let by = adapter.map_or(String::new(), |adapter| format!(", adapter = {adapter:?}"));
    let mut others = Vec::new();
    let mut tables: Vec<String> = Vec::new();
    for device in seen {
        let Some(name) = &device.name else {
            continue;
        };
        let Some((kind, table)) = board(name, &device.services) else {
            others.push(format!("{name:?} ({})", device.address));
            continue;
        };
        let before = tables.iter().filter(|t| t.starts_with(table)).count();
        let table = match before {
            0 => table.to_owned(),
            _ => format!("{table}{}", before + 1),
        };
        let signal = device
            .rssi
            .map_or(String::new(), |rssi| format!(", {rssi} dBm"));
        let perhaps = if kind == SWPP {
            ": has a serial service, as home-made boards do; other things do, too"
        } else {
            ""
        };
        writeln!(output, "# {} at {}{signal}{perhaps}", name, device.address)?;
        writeln!(output, "[boards.{table}]")?;
        writeln!(output, "kind = \"{kind}\"")?;
        writeln!(output, "ble = {{ name = {name:?}{by} }}\n")?;
        tables.push(table);
    }
    if tables.is_empty() {
        writeln!(
            output,
            "No Bluetooth board that BoardBridge knows is in reach. Is it switched on, and not connected to an app?"
        )?;
    }
    if !others.is_empty() {
        others.sort();
        writeln!(output, "Other devices: {}", others.join(", "))?;
    }
    Ok(())
}

fn serial(output: &mut impl Write) -> io::Result<()> {
    let ports = serial_ports(Path::new("/dev"));
    if ports.is_empty() {
        writeln!(
            output,
            "No serial port is in reach. Plug the board's cable in and scan again."
        )?;
    }
    for (number, (path, name)) in (1..).zip(ports) {
        let port = name.unwrap_or_else(|| path.clone());
        writeln!(
            output,
            "# {}: if your board is there, name it as you like",
            path.display()
        )?;
        writeln!(output, "[boards.board{number}]")?;
        writeln!(output, "kind = \"novag-citrine\"      # or novag-ucb, swpp")?;
        writeln!(output, "serial = {{ port = \"{}\" }}\n", port.display())?;
    }
    Ok(())
}
