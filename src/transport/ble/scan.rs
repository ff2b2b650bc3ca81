//! One scan per adapter, shared by all boards that are looked for.

use std::{collections::HashMap, sync::Arc, time::Duration};

use btleplug::{
    api::{Central, CentralState, Peripheral as _, ScanFilter},
    platform::Peripheral,
};
use tokio::{
    sync::watch,
    time::{MissedTickBehavior, interval, timeout},
};
use tracing::{debug, warn};
use uuid::Uuid;

use super::{BleError, CALL_WAIT, Hub, error, link::is_under_way};

/// How often the list of devices is read. A name that comes with the scan response does not change the list or cause an
/// event.
const LOOK: Duration = Duration::from_millis(300);
/// Devices kept at most. A fair has some hundred in range; a board's neighbours are few.
pub const MAX_SEEN: usize = 256;
/// Names listed for the player at most.
const MAX_NAMES: usize = 12;

/// A device in range.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The device.
    pub(super) peripheral: Peripheral,
    /// Its name, if known.
    pub name: Option<String>,
    /// Its address.
    pub address: String,
    /// Its signal strength, in dBm.
    pub rssi: Option<i16>,
    /// The services it advertises.
    pub services: Vec<Uuid>,
    /// The manufacturer data that it advertises, by the number of the company.
    pub maker_data: HashMap<u16, Vec<u8>>,
}

/// What an adapter sees.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The devices.
    pub seen: Vec<Seen>,
    /// Why it sees nothing.
    pub failure: Option<BleError>,
}

impl View {
    /// The names of the devices seen; those without a name by address, last.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .seen
            .iter()
            .filter_map(|seen| seen.name.as_ref().map(|name| format!("\"{name}\"")))
            .collect();
        names.sort();
        names.dedup();
        let nameless = self.seen.iter().filter(|seen| seen.name.is_none()).count();
        let more = names.len().saturating_sub(MAX_NAMES) + nameless;
        names.truncate(MAX_NAMES);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        names
    }
}

/// Scans until no receiver is left.
pub(super) async fn run(hub: Arc<Hub>, sender: watch::Sender<View>) {
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut scanning = false;
    loop {
        ticks.tick().await;
        if hub.lost.is_cancelled() || hub.end_scan(&sender, scanning).await {
            return;
        }
        // Starting a scan would switch Bluetooth on, which is up to the user.
        if hub.adapter.adapter_state().await.ok() == Some(CentralState::PoweredOff) {
            scanning = false;
            let adapter = hub.name.clone();
            fail(&sender, BleError::Off { adapter });
            continue;
        }
        // Many adapters fail to connect while they scan.
        let connecting = hub.connecting.available_permits() == 0;
        if connecting && scanning {
            scanning = false;
            stop(&hub).await;
        } else if !connecting && !scanning {
            match timeout(CALL_WAIT, hub.adapter.start_scan(ScanFilter::default())).await {
                Ok(Ok(())) => {
                    debug!(adapter = %hub.name, "scanning");
                    scanning = true;
                }
                // It went on, or began after all, though a call before this one was not answered.
                Ok(Err(error)) if is_under_way(&error) => scanning = true,
                Ok(Err(error)) => {
                    fail(&sender, error::session(&error));
                    continue;
                }
                Err(_) => {
                    fail(
                        &sender,
                        BleError::NoBluetooth("it does not answer".to_owned()),
                    );
                    continue;
                }
            }
        }
        match timeout(CALL_WAIT, look(&hub)).await {
            Ok(Ok(seen)) => {
                sender.send_replace(View {
                    seen,
                    failure: None,
                });
            }
            Ok(Err(error)) => fail(&sender, error::session(&error)),
            Err(_) => fail(
                &sender,
                BleError::NoBluetooth("it does not answer".to_owned()),
            ),
        }
    }
}

fn fail(sender: &watch::Sender<View>, failure: BleError) {
    sender.send_replace(View {
        seen: Vec::new(),
        failure: Some(failure),
    });
}

pub(super) async fn stop(hub: &Hub) {
    match timeout(CALL_WAIT, hub.adapter.stop_scan()).await {
        Ok(Ok(())) => debug!(adapter = %hub.name, "scan ended"),
        Ok(Err(error)) => debug!(adapter = %hub.name, %error, "the scan does not end"),
        Err(_) => warn!(adapter = %hub.name, "the scan does not end"),
    }
}

async fn look(hub: &Hub) -> btleplug::Result<Vec<Seen>> {
    let mut seen = Vec::new();
    for peripheral in hub.adapter.peripherals().await?.into_iter().take(MAX_SEEN) {
        // It may have disappeared since.
        let Ok(Some(properties)) = peripheral.properties().await else {
            continue;
        };
        let address = properties.address.to_string();
        // BlueZ uses the address as a name if there is none.
        let told = |name: &String| *name != address.replace(':', "-");
        let name = properties.advertisement_name.or(properties.local_name);
        seen.push(Seen {
            peripheral,
            name: name.filter(told),
            address,
            rssi: properties.rssi,
            services: properties.services,
            maker_data: properties.manufacturer_data,
        });
    }
    Ok(seen)
}
