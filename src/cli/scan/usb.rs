//! Boards on USB that are HID devices, each with the lines to paste.

use std::io::{self, Write};

use super::{Cable, Look, Names};
use crate::{
    driver::registry::MAKES,
    text::escape::{escaped, escaped_json},
    transport::hid::{Device, Roots, devices, ids, may_open},
};

/// Looks for such boards and writes what was found. Nothing is opened: their numbers say what they are.
///
/// # Errors
/// It cannot be written.
pub fn usb(output: &mut impl Write, look: Look<'_>, names: &mut Names) -> io::Result<Cable> {
    let devices = devices(&Roots {
        sys: look.sys.to_owned(),
        dev: look.dev.to_owned(),
    });
    let mut cable = Cable::None;
    for make in MAKES {
        let Some(of) = make.hid() else {
            continue;
        };
        let mut boards = devices.clone();
        boards.retain(|device| device.is_board(&of));
        for (board, id) in boards.iter().zip(ids(&boards)) {
            cable = Cable::Board;
            let Device {
                path,
                name,
                vendor,
                product,
                socket,
                ..
            } = board;
            writeln!(
                output,
                "# {} ({vendor:04x}:{product:04x}) on USB at {}",
                escaped(name),
                escaped(socket)
            )?;
            if let Err(error) = may_open(path) {
                writeln!(output, "# {error}")?;
            }
            if boards.len() > 1 && id == socket {
                writeln!(
                    output,
                    "# This is the name of the socket, because the board has no unique one: leave the cable in this socket."
                )?;
            }
            let which = if boards.len() > 1 {
                // A JSON string is a valid TOML string.
                let id = escaped_json(&serde_json::Value::from(id).to_string());
                format!("{{ id = {id} }}")
            } else {
                "{}".to_owned()
            };
            let table = names.take(make.example);
            writeln!(output, "[boards.{table}]")?;
            writeln!(output, "kind = \"{}\"\nhid = {which}\n", make.kind)?;
        }
    }
    Ok(cable)
}
