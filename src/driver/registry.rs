//! Every kind of board this program can drive: one line a kind.

use thiserror::Error;

use super::{
    Driver,
    citrine::{self, Citrine},
    neo::{self, Neo},
    swpp::{self, Swpp, Way},
    ucb::{self, Ucb, codec::PositionFormat},
};
use crate::{
    config::{BoardConfig, whitepawn::NORDIC_UART},
    transport::{
        Transport,
        ble::{BleBoard, Radio},
        serial::SerialPort,
        tcp::TcpPeer,
    },
    vocabulary::{BoardKind, Channel},
};

/// The speed of a UCB's serial line, in baud.
pub const UCB_BAUD: u32 = 9600;

/// The speed of a home-made board's serial line unless it is given, in baud: what most Arduino sketches use today. The
/// protocol names none.
pub const SWPP_BAUD: u32 = 115_200;

/// A board whose configuration names no way to it, or one that its kind does not have: no checked one does.
#[derive(Debug, Error)]
#[error("a {kind} cannot be reached so: `boardbridge check` says what is wrong")]
pub struct NoWay {
    /// The kind.
    pub kind: BoardKind,
}

/// The driver for a board so configured.
pub fn driver(board: &BoardConfig) -> Box<dyn Driver> {
    match board.kind {
        BoardKind::NovagCitrine => Box::new(citrine(board)),
        BoardKind::NovagUcb => Box::new(ucb(board)),
        BoardKind::MikoNeo => Box::new(neo(board)),
        BoardKind::Swpp => Box::new(swpp(board)),
    }
}

/// The transport to a board so configured, with the machine's Bluetooth.
///
/// # Errors
/// [`NoWay`].
pub fn transport(board: &BoardConfig, radio: &Radio) -> Result<Transport, NoWay> {
    let kind = board.kind;
    if let Some(serial) = &board.serial {
        let default_baud = match kind {
            BoardKind::NovagCitrine => board.dialect.unwrap_or_default().baud(),
            BoardKind::NovagUcb => UCB_BAUD,
            BoardKind::Swpp => SWPP_BAUD,
            BoardKind::MikoNeo => return Err(NoWay { kind }),
        };
        let baud = serial.baud.unwrap_or(default_baud);
        return Ok(Transport::Serial(SerialPort::new(&serial.port, baud)));
    }
    if let Some(tcp) = &board.tcp {
        return Ok(Transport::Tcp(TcpPeer {
            address: tcp.address.0.clone(),
        }));
    }
    let ble = board.ble.as_ref().ok_or(NoWay { kind })?;
    Ok(Transport::Ble(BleBoard {
        radio: radio.clone(),
        wanted: ble.wanted().ok_or(NoWay { kind })?,
        adapter: ble.adapter.clone(),
    }))
}

fn swpp(board: &BoardConfig) -> Swpp {
    let [_, write, notify] = NORDIC_UART;
    let way = match &board.ble {
        Some(ble) => Way::Gatt {
            write: Channel::Gatt(ble.write.map_or(write, |given| given.0)),
            notify: Channel::Gatt(ble.notify.map_or(notify, |given| given.0)),
        },
        None => Way::Stream,
    };
    let move_wait = board.move_wait.map_or(swpp::MOVE_WAIT, |span| span.0);
    // An Arduino restarts when its port is opened, and its boot loader may be done before our first greeting.
    let forgets = board.forgets.or(board.serial.as_ref().map(|_| true));
    Swpp::new(way, move_wait).forgetting(forgets)
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
