//! Boards on USB that are HID devices, each with the lines to paste.

use std::io::{self, Write};

use super::{Cable, Look, Names};
use crate::{
    discovery::{OnUsb, on_usb},
    text::escape::{escaped, escaped_json},
    transport::hid::{Device, Roots, may_open},
};

/// Looks for such boards and writes what was found. Nothing is opened: their numbers say what they are.
///
/// # Errors
/// It cannot be written.
pub fn usb(output: &mut impl Write, look: Look<'_>, names: &mut Names) -> io::Result<Cable> {
    let boards = on_usb(&Roots {
        sys: look.sys.to_owned(),
        dev: look.dev.to_owned(),
    });
    for board in &boards {
        let Device {
            path,
            name,
            vendor,
            product,
            socket,
            ..
        } = &board.device;
        writeln!(
            output,
            "# {} ({vendor:04x}:{product:04x}) on USB at {}",
            escaped(name),
            escaped(socket)
        )?;
        if let Err(error) = may_open(path) {
            writeln!(output, "# {error}")?;
        }
        let which = match board {
            OnUsb {
                id: Some(id),
                is_only: false,
                ..
            } => {
                if id == socket {
                    writeln!(
                        output,
                        "# This is the name of the socket, because the board has no unique one: leave the cable in this socket."
                    )?;
                }
                // A JSON string is a valid TOML string.
                let id = escaped_json(&serde_json::Value::from(id.as_str()).to_string());
                format!("{{ id = {id} }}")
            }
            _ => "{}".to_owned(),
        };
        let table = names.take(board.make.example);
        writeln!(output, "[boards.{table}]")?;
        writeln!(output, "kind = \"{}\"\nhid = {which}\n", board.make.kind)?;
    }
    Ok(if boards.is_empty() {
        Cable::None
    } else {
        Cable::Board
    })
}
