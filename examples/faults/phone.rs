//! The phones' Bluetooth: an app calls a port of ours, and is connected with the board that its phone has found.

use std::{io, sync::Arc, time::Duration};

use boardbridge::{front_end::whitepawn::rfcomm::SERIAL_PORT, text::swpp::NORDIC_UART};
use simulators::bluez::{address::Address, phone::Phone};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::TcpListener,
    time::{sleep, timeout},
};

use crate::wood::Air;

/// The board's name on the air.
pub const NAME: &str = "A board for the app";
/// The phones: by Bluetooth LE, and by Bluetooth Classic.
pub const ADDRESSES: [Address; 2] = [
    Address([0xB0, 0xA2, 0xD0, 0, 0, 1]),
    Address([0xB0, 0xA2, 0xD0, 0, 0, 2]),
];
/// The MTU of a present-day phone.
pub const MTU: u16 = 517;
/// How long it looks for a board on one bus, and waits for a response.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it waits before it looks again, for the board or for the end of the link.
const AGAIN: Duration = Duration::from_millis(100);
/// Bytes read at once.
const CHUNK: usize = 256;

/// Connects for ever by Bluetooth LE. The port is open while the phone has its board.
pub async fn by_low_energy(air: Arc<Air>, port: String) {
    loop {
        if let Some([phone, _]) = air.phones() {
            // Whatever failed, the app notices that it is gone, and calls again.
            let _ = carry(&phone, &port).await;
            phone.disconnect();
        }
        sleep(AGAIN).await;
    }
}

/// The same by Bluetooth Classic.
pub async fn by_classic(air: Arc<Air>, port: String) {
    loop {
        if let Some([_, phone]) = air.phones() {
            tokio::select! {
                _ = carry_serial(&air, &phone, &port) => {}
                () = air.left() => {}
            }
            air.has_line(false);
        }
        sleep(AGAIN).await;
    }
}

async fn carry_serial(air: &Air, phone: &Phone, port: &str) -> io::Result<()> {
    timeout(PATIENCE, phone.finds_record(SERIAL_PORT)).await?;
    let mut line = timeout(PATIENCE, phone.connect_serial(SERIAL_PORT)).await??;
    air.has_line(true);
    let calls = TcpListener::bind(port).await?;
    let (mut app, _) = calls.accept().await?;
    drop(calls);
    copy_bidirectional(&mut app, &mut line).await.map(drop)
}

async fn carry(phone: &Phone, port: &str) -> io::Result<()> {
    let [_, to_board, from_board] = NORDIC_UART;
    let denied = |_| io::Error::from(io::ErrorKind::ConnectionReset);
    timeout(PATIENCE, phone.finds(NAME)).await?;
    phone.connect().map_err(denied)?;
    phone.subscribe(from_board, true).map_err(denied)?;
    let calls = TcpListener::bind(port).await?;
    let (mut app, _) = tokio::select! {
        called = calls.accept() => called?,
        () = gone(phone) => return Ok(()),
    };
    drop(calls);
    let mut bytes = [0; CHUNK];
    loop {
        tokio::select! {
            heard = phone.notified() => match heard {
                Some((_, value)) => app.write_all(&value).await?,
                None => return Ok(()),
            },
            () = gone(phone) => return Ok(()),
            read = app.read(&mut bytes) => match read? {
                0 => return Ok(()),
                count => {
                    let written = phone.write(to_board, &bytes[..count], true);
                    timeout(PATIENCE, written).await?.map_err(denied)?;
                }
            },
        }
    }
}

/// Waits for the end of the link. With a bus that has gone it is not announced.
async fn gone(phone: &Phone) {
    while phone.is_connected() {
        sleep(AGAIN).await;
    }
}
