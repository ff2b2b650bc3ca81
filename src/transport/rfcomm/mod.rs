//! Boards by Bluetooth Classic: a serial port over the air (RFCOMM).
//!
//! `BlueZ` asks the board for its channel, and connects: a program registers as a client of the serial port and calls
//! `ConnectProfile`, and is handed the socket. Only a board that a person has paired is connected.
//!
//! # Two roles in one process
//!
//! `BlueZ` takes a profile under a UUID only if no profile, of whatever program, has that UUID as its service. The app's serial port
//! ([`crate::front_end::whitepawn::rfcomm`]) is registered for good, under the serial port's own UUID, and so may be one of another
//! program. So a connection registers under a UUID of ours, with the serial port as its service, which `BlueZ` always takes; and it
//! withdraws it when the board is connected, because the app's could not be registered meanwhile. The socket outlives it: `BlueZ`
//! only closes its own copy. `SERIAL_PORT_TURN` keeps the two, and two boards, apart. (A plain socket would need no profile, but
//! somebody would have to ask the board for its channel.)

mod error;
mod line;

use std::{fmt, sync::Arc, time::Duration};

use bluer::{
    Address, Device, Uuid,
    rfcomm::{Profile, ProfileHandle, ReqError, Role, Stream},
};
use futures_util::StreamExt;
use tokio::{
    sync::Mutex,
    time::{sleep, timeout},
};
use tracing::debug;

pub use self::{error::RfcommError, line::Line};
use super::{
    ble::BleError,
    bluez::{self, Bus, RadioError, SERIAL_PORT, SERIAL_PORT_TURN, ask},
};

/// How long connecting may take: the controller calls for 5.12 s (Bluetooth Core, page timeout), and a board that answers tells its
/// channel and opens it within 3 s more. The rest is for one that has to wake up.
pub const CONNECT_WAIT: Duration = Duration::from_secs(20);
/// The UUID of our client of the serial port; made up.
const CLIENT: Uuid = Uuid::from_u128(0x4d1f_5a0e_8a52_4c0b_9d36_2f6f_0b1c_7e94);

/// One board by Bluetooth Classic.
#[derive(Clone, Debug)]
pub struct RfcommBoard {
    /// Its hardware address.
    address: String,
    /// Which adapter, such as `hci0`; the first one by default.
    adapter: Option<String>,
    bus: Arc<Mutex<Bus>>,
}

impl RfcommBoard {
    /// The board at this address, by this adapter or the first one.
    pub fn new(address: impl Into<String>, adapter: Option<String>) -> Self {
        Self {
            address: address.into(),
            adapter,
            bus: Arc::default(),
        }
    }

    /// Connects to the board's serial port.
    ///
    /// # Errors
    /// [`RfcommError`], worded for the player.
    pub async fn open(&self) -> Result<Line, RfcommError> {
        let mut bus = self.bus.lock().await;
        let opened = self.open_on(&mut bus).await;
        if let Err(RfcommError::Radio(error)) = &opened {
            bus.failed(error);
        }
        opened
    }

    async fn open_on(&self, bus: &mut Bus) -> Result<Line, RfcommError> {
        let no_address = |_| RfcommError::NoAddress(self.address.clone());
        let address: Address = self.address.parse().map_err(no_address)?;
        let session = bus.session().await?;
        let adapters = bluez::adapters(&session).await?;
        let wanted = self.adapter.as_deref();
        let mut named = adapters.iter();
        let chosen = named.find(|(adapter, _)| wanted.is_none_or(|name| name == adapter.name()));
        let Some((adapter, on)) = chosen else {
            return Err(bluez::none(wanted, &adapters).into());
        };
        if !on {
            return Err(bluez::off(adapter).into());
        }
        let known = ask("list its devices", adapter.device_addresses()).await?;
        let never_paired = || RfcommError::NeverPaired {
            board: address.to_string(),
            adapter: adapter.name().to_owned(),
        };
        if !known.contains(&address) {
            return Err(never_paired());
        }
        let device = ask("open a device", async { adapter.device(address) }).await?;
        if !ask("tell whether a device is paired", device.is_paired()).await? {
            return Err(never_paired());
        }
        let _turn = SERIAL_PORT_TURN.acquire().await;
        let client = Profile {
            uuid: CLIENT,
            service: Some(SERIAL_PORT),
            role: Some(Role::Client),
            require_authentication: Some(true),
            // It was authorised when it was paired.
            require_authorization: Some(false),
            auto_connect: Some(false),
            ..Profile::default()
        };
        let mut profile = ask(
            "register for a serial port",
            session.register_profile(client),
        )
        .await?;
        let connected = connect(&mut profile, &device, adapter.name()).await;
        drop(profile);
        // bluer withdraws it in a task of its own. This call comes after that one, so the next in turn finds it withdrawn.
        tokio::task::yield_now().await;
        let _ = ask("tell whether it is on", adapter.is_powered()).await;
        Ok(Line::new(connected?))
    }
}

/// Connects by a registered profile.
async fn connect(
    profile: &mut ProfileHandle,
    device: &Device,
    adapter: &str,
) -> Result<Stream, RfcommError> {
    let board = device.address().to_string();
    let refused = |why: &str| RfcommError::Refused {
        board: board.clone(),
        why: why.to_owned(),
    };
    let connecting = device.connect_profile(&SERIAL_PORT);
    let late = sleep(CONNECT_WAIT);
    tokio::pin!(connecting, late);
    let mut stream = None;
    loop {
        tokio::select! {
            // A connection comes before the outcome, which waits for our consent.
            biased;
            Some(request) = profile.next() => {
                if request.device() == device.address() {
                    let accepted = request.accept().map_err(|error| refused(&error.to_string()))?;
                    stream = Some(accepted);
                } else {
                    debug!(device = %request.device(), "a connection that was not asked for");
                    request.reject(ReqError::Rejected);
                }
            }
            outcome = &mut connecting => return match outcome {
                // Without a socket another program's client of the serial port was connected.
                Ok(()) => stream.ok_or_else(|| refused("another program has it")),
                Err(error) => Err(match error.kind {
                    bluer::ErrorKind::NotReady => {
                        let adapter = adapter.to_owned();
                        RadioError::from(BleError::Off { adapter }).into()
                    }
                    bluer::ErrorKind::Internal(_) => bluez::meant("connect a board", &error).into(),
                    _ => error::connecting(board, &error),
                }),
            },
            () = &mut late => {
                // BlueZ goes on otherwise, and is busy at the next attempt.
                let _ = timeout(super::ble::CALL_WAIT, device.disconnect()).await;
                return Err(RfcommError::Unreachable {
                    board,
                    why: format!("not within {} s", CONNECT_WAIT.as_secs()),
                });
            }
        }
    }
}

impl PartialEq for RfcommBoard {
    fn eq(&self, other: &Self) -> bool {
        (&self.address, &self.adapter) == (&other.address, &other.adapter)
    }
}

impl Eq for RfcommBoard {}

impl fmt::Display for RfcommBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bluetooth Classic {}", self.address)?;
        match &self.adapter {
            Some(adapter) => write!(f, " by {adapter}"),
            None => Ok(()),
        }
    }
}
