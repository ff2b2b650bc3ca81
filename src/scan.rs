//! `boardbridge scan`: serial ports and Bluetooth boards in reach, each with the TOML to paste.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::transport::ble::{Radio, Seen};

/// How long Bluetooth devices are listened to. They advertise once or more a second; their names come with the
/// answer to an active scan.
pub const LISTEN: Duration = Duration::from_secs(8);
/// What the names of boards begin with, and their kind.
const BOARDS: [(&str, &str); 2] = [("Square Off Neo", "miko-neo"), ("Miko", "miko-neo")];

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

/// Writes the Bluetooth devices, boards first with their TOML.
fn bluetooth(output: &mut impl Write, seen: &[Seen], adapter: Option<&str>) -> io::Result<()> {
    let kind = |name: &str| {
        let known = BOARDS.iter().find(|(prefix, _)| name.starts_with(prefix));
        known.map(|(_, kind)| *kind)
    };
    let by = adapter.map_or(String::new(), |adapter| format!(", adapter = {adapter:?}"));
    let mut others = Vec::new();
    let mut number = 0;
    for device in seen {
        let Some(name) = &device.name else {
            continue;
        };
        let Some(kind) = kind(name) else {
            others.push(format!("{name:?} ({})", device.address));
            continue;
        };
        number += 1;
        let table = if number == 1 {
            "neo".to_owned()
        } else {
            format!("neo{number}")
        };
        let signal = device
            .rssi
            .map_or(String::new(), |rssi| format!(", {rssi} dBm"));
        writeln!(output, "# {} at {}{signal}", name, device.address)?;
        writeln!(output, "[boards.{table}]")?;
        writeln!(output, "kind = \"{kind}\"")?;
        writeln!(output, "ble = {{ name = {name:?}{by} }}\n")?;
    }
    if number == 0 {
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
        writeln!(output, "kind = \"novag-citrine\"      # or novag-ucb")?;
        writeln!(output, "serial = {{ port = \"{}\" }}\n", port.display())?;
    }
    Ok(())
}
