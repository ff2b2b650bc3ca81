//! A board's transport, from its configuration.

use thiserror::Error;

use super::board::{BleConfig, BoardConfig};
use crate::{
    transport::{
        Transport,
        ble::{BleBoard, Radio, Wanted},
        peer::TcpPeer,
        serial::SerialPort,
    },
    vocabulary::BoardKind,
};

/// A board has no usable transport; [`Config::from_text`](super::Config::from_text) rules this out.
#[derive(Debug, Error)]
#[error("a {kind} does not support this connection: `boardbridge check` says what is wrong")]
pub struct NoWay {
    /// The kind.
    pub kind: BoardKind,
}

impl BleConfig {
    /// The board to connect to.
    pub fn wanted(&self) -> Option<Wanted> {
        let name = self.name.clone().map(Wanted::Name);
        let address = self.address.clone().map(Wanted::Address);
        name.or(address)
    }
}

impl BoardConfig {
    /// The transport to this board, with the machine's Bluetooth.
    ///
    /// # Errors
    /// [`NoWay`].
    pub fn transport(&self, radio: &Radio) -> Result<Transport, NoWay> {
        let no_way = NoWay {
            kind: self.make.kind,
        };
        if let Some(serial) = &self.serial {
            let baud = serial.baud.or_else(|| self.settings.baud()).ok_or(no_way)?;
            return Ok(Transport::Serial(SerialPort::new(&serial.port, baud)));
        }
        if let Some(tcp) = &self.tcp {
            return Ok(Transport::Tcp(TcpPeer {
                address: tcp.address.0.clone(),
            }));
        }
        let Some((ble, wanted)) = self.ble.as_ref().and_then(|ble| Some((ble, ble.wanted()?)))
        else {
            return Err(no_way);
        };
        Ok(Transport::Ble(BleBoard {
            radio: radio.clone(),
            wanted,
            adapter: ble.adapter.clone(),
        }))
    }
}
