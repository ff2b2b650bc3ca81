//! `boardbridge scan`: the serial ports in reach, each with the TOML to paste.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

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

/// Writes what was found.
///
/// # Errors
/// It cannot be written.
pub fn run(output: &mut impl Write) -> io::Result<()> {
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
    writeln!(
        output,
        "Bluetooth boards: this version does not look for them yet."
    )
}
