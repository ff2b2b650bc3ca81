//! The boards that are there: plugged in or in the air, and not used.

use std::path::Path;

use tracing::{info, warn};

use super::{Desk, files};
use crate::{
    bus::desk::Found,
    daemon::Daemon,
    discovery::{
        Sighting, Way, at_cables,
        settings::{Air as InAir, Cables},
    },
    system::apart,
    text::escape::escaped,
};

/// Characters shown of what a device calls itself.
const MAX_SHOWN: usize = 60;

impl Desk {
    /// The boards that are there and not used.
    pub(super) async fn sightings(&mut self) -> Vec<Sighting> {
        let mut sightings = self.plugged().await;
        if self.config.discovery.bluetooth != InAir::Off {
            sightings.extend(self.air.boards().await);
        }
        sightings.retain(|sighting| !self.is_used(sighting));
        sightings
    }

    /// The boards that are plugged in.
    async fn plugged(&self) -> Vec<Sighting> {
        if self.config.discovery.serial == Cables::Off {
            return Vec::new();
        }
        let roots = self.roots.clone();
        let looked = apart::run("ports", move || at_cables(&roots)).await;
        looked.unwrap_or_else(|error| {
            warn!("{error}");
            Vec::new()
        })
    }

    /// Whether a board of the configuration, or an app, has it.
    fn is_used(&self, sighting: &Sighting) -> bool {
        let apps = self.config.whitepawn.iter();
        let mut apps = apps.filter_map(|app| Some(&app.serial.as_ref()?.port));
        let boards = || self.config.boards.values();
        match &sighting.way {
            Way::Serial(port) => {
                let mut ports = boards().filter_map(|board| Some(&board.serial.as_ref()?.port));
                ports.any(|other| is_same(port, other)) || apps.any(|other| is_same(port, other))
            }
            Way::Hid(id) => boards().any(|board| {
                let hid = board.hid.as_ref();
                let is_make = sighting
                    .makes
                    .iter()
                    .any(|make| make.kind == board.make.kind);
                hid.is_some_and(|hid| match (&hid.id, &hid.path) {
                    (Some(other), _) => other == id,
                    // The only one of its make, or one whose number is not known here.
                    _ => is_make,
                })
            }),
            Way::Ble(address) => boards().any(|board| {
                board.ble.as_ref().is_some_and(|ble| {
                    let by_address = ble.address.as_ref();
                    let by_name = ble.name.as_ref();
                    by_address.is_some_and(|other| other.eq_ignore_ascii_case(address))
                        || by_name.is_some_and(|name| sighting.name.starts_with(name.trim()))
                })
            }),
            Way::Rfcomm(address) => boards().any(|board| {
                let other = board.rfcomm.as_ref();
                other.is_some_and(|other| other.address.eq_ignore_ascii_case(address))
            }),
        }
    }

    /// Takes the boards that come by themselves, and tells of the others once.
    pub(in crate::daemon) async fn welcome(&mut self, daemon: &mut Daemon) {
        let mut sightings = self.plugged().await;
        self.tell_twins_apart(daemon, &sightings).await;
        sightings.retain(|sighting| !self.is_used(sighting));
        self.told
            .retain(|told| sightings.iter().any(|sighting| sighting.id() == *told));
        for sighting in sightings {
            let id = sighting.id();
            if self.told.contains(&id) {
                continue;
            }
            let comes = sighting.is_sure && self.config.discovery.serial == Cables::Known;
            let comes = comes
                && self
                    .state()
                    .is_ok_and(|state| !files::was_removed(state, &sighting.way));
            if let (true, [make]) = (comes, &sighting.makes[..]) {
                match self.add(daemon, &sighting, make, None, None).await {
                    Ok(_) => continue,
                    Err(refused) => warn!("{} is not used: {refused}", escaped(&sighting.name)),
                }
            } else {
                info!(
                    "found {}: if it is a board, add it on the page or by `boardbridge add`",
                    shown(&sighting)
                );
            }
            self.told.push(id);
        }
    }
}

/// Whether two names lead to the same port.
fn is_same(port: &Path, other: &str) -> bool {
    let other = Path::new(other);
    port == other
        || port
            .canonicalize()
            .is_ok_and(|port| other.canonicalize().is_ok_and(|o| o == port))
}

/// What a device calls itself, where it may be shown.
pub(super) fn shown(sighting: &Sighting) -> String {
    let name: String = sighting.name.chars().take(MAX_SHOWN).collect();
    escaped(&name)
}

pub(super) fn found(sighting: &Sighting) -> Found {
    let (_, at) = sighting.way.key();
    let at = escaped(&at);
    let why = match (&sighting.makes[..], sighting.is_sure) {
        ([make], true) => format!("a {}, by its name ({at})", make.title),
        ([_], false) => {
            format!("has a service that home-made boards have; other things have it, too ({at})")
        }
        _ => format!(
            "a general adapter: a board, or another device. Adding it asks what it is, which may upset a printer ({at})"
        ),
    };
    Found {
        id: sighting.id(),
        kinds: sighting.makes.iter().map(|make| make.kind).collect(),
        transport: sighting.way.medium().key(),
        name: shown(sighting),
        why,
    }
}
