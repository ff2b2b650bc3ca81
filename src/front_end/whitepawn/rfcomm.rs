//! The board as a serial port of Bluetooth Classic: RFCOMM, found by its service record.
//!
//! A phone has to be paired once, by a person at the machine:
//!
//! ```text
//! bluetoothctl
//! power on
//! discoverable on
//! pairable on
//! agent on
//! default-agent
//! ```
//!
//! Then find the machine in the phone's Bluetooth settings, compare the codes and say `yes` on both. After that
//! `discoverable off`: a paired phone connects without it. Only a paired phone is admitted, and the user is not
//! asked again.

use bluer::{
    Session, SessionEvent,
    rfcomm::{ConnectRequest, Profile, ProfileHandle, ReqError, Role},
};
use futures_util::StreamExt;
use tokio::{
    sync::mpsc::{self, error::TrySendError},
    time::{Instant, MissedTickBehavior, interval_at},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{
    Availability, Connection,
    radio::{self, Attempts, Bus, CHECK, RadioError, ask},
};
use crate::{
    front_end::whitepawn::settings::RfcommServed,
    transport::{bluez::SERIAL_PORT_TURN, duplex::RADIO, rfcomm::Line},
};

pub use crate::transport::bluez::SERIAL_PORT;

/// Has `BlueZ` choose a free channel.
const ANY_CHANNEL: u16 = 0;

/// Accepts connections until it is stopped or the receiver is gone. Each Bluetooth problem is reported once
/// and waited out.
pub async fn serve(
    config: RfcommServed,
    connections: mpsc::Sender<Connection>,
    availability: Availability,
    stop: CancellationToken,
) {
    let mut attempts = Attempts::new("by Bluetooth's serial port", availability);
    let mut bus = Bus::default();
    loop {
        let opening = Port::open(&config, &mut bus);
        let Some(opened) = radio::open(opening, &connections, &stop).await else {
            return;
        };
        let ended = match opened {
            Ok(port) => {
                attempts.succeeded(&format!(
                    "\"{}\" is a serial port of Bluetooth for phones that are paired",
                    config.name()
                ));
                port.run(&connections, &stop).await
            }
            Err(error) => Err(error),
        };
        match ended {
            Ok(()) => return,
            Err(error) => {
                bus.failed(&error);
                if !attempts.failed(error, &connections, &stop).await {
                    return;
                }
            }
        }
    }
}

/// The registered profile. `BlueZ` serves it on all adapters.
struct Port {
    session: Session,
    profile: ProfileHandle,
    /// The record was seen; so its absence means that it was lost.
    recorded: bool,
}

impl Port {
    async fn open(config: &RfcommServed, bus: &mut Bus) -> Result<Self, RadioError> {
        let session = bus.session().await?;
        let adapters = radio::adapters(&session).await?;
        match adapters.first() {
            None => return Err(radio::none(None, &adapters)),
            Some((first, _)) if !adapters.iter().any(|(_, on)| *on) => {
                return Err(radio::off(first));
            }
            Some(_) => {}
        }
        let profile = Profile {
            uuid: SERIAL_PORT,
            name: Some(config.name().to_owned()),
            role: Some(Role::Server),
            channel: Some(config.channel.map_or(ANY_CHANNEL, u16::from)),
            require_authentication: Some(true),
            // No one is at the board to confirm each connection: it is enough that the phone was paired.
            require_authorization: Some(false),
            ..Profile::default()
        };
        let _turn = SERIAL_PORT_TURN.acquire().await;
        let registered = ask("offer a serial port", session.register_profile(profile)).await;
        let profile = registered.map_err(|error| match error {
            RadioError::Cannot { why, .. } if why.contains("already registered") => {
                RadioError::Taken
            }
            other => other,
        })?;
        Ok(Self {
            session,
            profile,
            recorded: false,
        })
    }

    async fn run(
        mut self,
        connections: &mpsc::Sender<Connection>,
        stop: &CancellationToken,
    ) -> Result<(), RadioError> {
        let events = ask("tell of its adapters", self.session.events()).await?;
        tokio::pin!(events);
        let mut checks = interval_at(Instant::now() + CHECK, CHECK);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = connections.closed() => return Ok(()),
                request = self.profile.next() => match request {
                    Some(request) => accept(request, connections),
                    None => return Err(RadioError::Restarted),
                },
                event = events.next() => match event {
                    // Perhaps all of Bluetooth is gone, with the profile: registering again does no harm.
                    Some(SessionEvent::AdapterAdded(_) | SessionEvent::AdapterRemoved(_)) | None => return Err(RadioError::Restarted),
                },
                _ = checks.tick() => self.check().await?,
            }
        }
    }

    /// Whether a phone can still connect.
    async fn check(&mut self) -> Result<(), RadioError> {
        let adapters = radio::adapters(&self.session).await?;
        let mut recorded = false;
        let mut on = false;
        for (adapter, powered) in &adapters {
            let services = ask("tell its services", adapter.uuids()).await?;
            recorded |= services.is_some_and(|services| services.contains(&SERIAL_PORT));
            on |= powered;
        }
        match adapters.first() {
            None => Err(radio::none(None, &adapters)),
            Some((first, _)) if !on => Err(radio::off(first)),
            Some(_) if self.recorded && !recorded => Err(RadioError::Restarted),
            Some(_) => {
                self.recorded = recorded;
                Ok(())
            }
        }
    }
}

/// Hands a connection on, unless the front-end is full.
fn accept(request: ConnectRequest, connections: &mpsc::Sender<Connection>) {
    let peer = format!("Bluetooth {}", request.device());
    let place = match connections.try_reserve() {
        Ok(place) => place,
        Err(TrySendError::Full(())) => {
            warn!(%peer, "too many apps connect at once: this one is turned away");
            return request.reject(ReqError::Rejected);
        }
        Err(TrySendError::Closed(())) => return request.reject(ReqError::Rejected),
    };
    match request.accept() {
        Ok(stream) => {
            debug!(%peer, "connected");
            place.send(Connection {
                address: None,
                peer: peer.into(),
                stream: Box::new(Line::new(stream)),
                medium: RADIO,
                receipt: None,
                lease: None,
            });
        }
        Err(error) => debug!(%peer, %error, "it has gone again"),
    }
}
