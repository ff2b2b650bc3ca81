//! Every kind of board this program can drive: one line a kind.

use thiserror::Error;

use super::{
    Driver,
    citrine::{self, Citrine},
    neo::{self, Neo},
    ucb::{self, Ucb, codec::PositionFormat},
};
use crate::{
    config::{BoardConfig, BoardKind},
    transport::{
        Transport,
        ble::{BleBoard, Radio},
        serial::SerialPort,
    },
};

/// The speed of a UCB's serial line, in baud.
pub const UCB_BAUD: u32 = 9600;

/// This version has no driver for a kind, or no transport for it.
#[derive(Debug, Error)]
#[error("this version of BoardBridge has no driver for a {kind} yet: the board is left alone")]
pub struct NotYet {
    /// The kind.
    pub kind: BoardKind,
}

/// The driver for a board so configured.
///
/// # Errors
/// [`NotYet`] for kinds this version cannot drive.
pub fn driver(board: &BoardConfig) -> Result<Box<dyn Driver>, NotYet> {
    match board.kind {
        BoardKind::NovagCitrine => Ok(Box::new(citrine(board))),
        BoardKind::NovagUcb => Ok(Box::new(ucb(board))),
        BoardKind::MikoNeo => Ok(Box::new(neo(board))),
        kind @ BoardKind::Swpp => Err(NotYet { kind }),
    }
}

/// The transport to a board so configured, with the machine's Bluetooth.
///
/// # Errors
/// [`NotYet`] for transports this version does not have.
pub fn transport(board: &BoardConfig, radio: &Radio) -> Result<Transport, NotYet> {
    let kind = board.kind;
    let default_baud = match kind {
        BoardKind::NovagCitrine => board.dialect.unwrap_or_default().baud(),
        BoardKind::NovagUcb => UCB_BAUD,
        BoardKind::MikoNeo => {
            let ble = board.ble.as_ref().ok_or(NotYet { kind })?;
            return Ok(Transport::Ble(BleBoard {
                radio: radio.clone(),
                wanted: ble.wanted().ok_or(NotYet { kind })?,
                adapter: ble.adapter.clone(),
            }));
        }
        BoardKind::Swpp => return Err(NotYet { kind }),
    };
    let serial = board.serial.as_ref().ok_or(NotYet { kind })?;
    Ok(Transport::Serial(SerialPort {
        port: serial.port.clone(),
        baud: serial.baud.unwrap_or(default_baud),
    }))
}

fn citrine(board: &BoardConfig) -> Citrine {
    let usual = citrine::Timing::default();
    let timing = citrine::Timing {
        command_gap: board.command_gap.map_or(usual.command_gap, |span| span.0),
        second_send: board.second_send.map_or(usual.second_send, |span| span.0),
        second_send_capture: board
            .second_send_capture
            .map_or(usual.second_send_capture, |span| span.0),
        move_wait: board.move_wait.map_or(usual.move_wait, |span| span.0),
        setup_wait: board.setup_wait.map_or(usual.setup_wait, |span| span.0),
    };
    Citrine::new(timing, board.level.clone())
}

fn neo(board: &BoardConfig) -> Neo {
    let usual = neo::Settings::default();
    let waits = match board.settle {
        Some(span) => usual.waits.settling(span.0),
        None => usual.waits,
    };
    Neo::new(neo::Settings {
        motor: board.motor.unwrap_or(usual.motor),
        promotion: board.promotion.unwrap_or_default(),
        old_signs: board.old_signs.unwrap_or(usual.old_signs),
        parking: board.parking.clone().unwrap_or(usual.parking),
        waits,
    })
}

fn ucb(board: &BoardConfig) -> Ucb {
    let usual = ucb::Timing::default();
    let timing = ucb::Timing {
        line_gap: board.line_gap.map_or(usual.line_gap, |span| span.0),
        move_wait: board.move_wait.map_or(usual.move_wait, |span| span.0),
        setup_wait: board.setup_wait.map_or(usual.setup_wait, |span| span.0),
    };
    let format = match board.position_format {
        Some(1) => PositionFormat::V1,
        _ => PositionFormat::V2,
    };
    Ucb::new(timing, format)
}
