//! The boards that are there: plugged in or in the air, and not used.

use std::path::Path;

use tracing::{info, warn};

use super::{Desk, files};
use crate::{
    board::settings::BoardConfig,
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
            let deaf = self.air.deaf().cloned();
            sightings.extend(self.air.boards().await);
            if self.air.deaf() != deaf.as_ref() {
                self.stand();
            }
        }
        self.place_only_ones(&sightings);
        sightings.retain(|sighting| !self.is_used(sighting));
        sightings
    }

    /// Why some boards are not found, however near they are.
    pub(super) fn unseen(&self) -> Vec<String> {
        let discovery = &self.config.discovery;
        let mut why = Vec::new();
        if discovery.serial == Cables::Off {
            why.push(format!(
                "boards with a cable are not looked for: serial = \"off\" under [discovery] in {}",
                self.file.display()
            ));
        }
        if discovery.bluetooth == InAir::Off {
            why.push(format!(
                "boards with Bluetooth are not looked for: bluetooth = \"off\" under [discovery] in {}",
                self.file.display()
            ));
        } else if let Some(deaf) = self.air.deaf() {
            why.push(deaf.to_string());
        }
        why
    }

    /// The boards that are plugged in.
    async fn plugged(&self) -> Vec<Sighting> {
        if self.config.discovery.serial == Cables::Off {
            return Vec::new();
        }
        let roots = self.roots.clone();
        let looked = apart::run("ports", move || at_cables(&roots)).await;
        let plugged = looked.unwrap_or_else(|error| {
            warn!("{error}");
            Vec::new()
        });
        for sighting in &plugged {
            if let (Way::Serial(port), Some(opened)) = (&sighting.way, &self.opened) {
                // Of one that may not be read nothing is known.
                let _ = opened.see(port);
            }
        }
        plugged
    }

    /// Whether a program has opened this port since it was seen first; this one has closed it before it is asked again.
    pub(super) fn is_opened(&mut self, port: &Path) -> bool {
        let opened = self.opened.as_mut();
        opened.is_some_and(|opened| opened.is_open(port))
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
            Way::Hid(_) => {
                let is_here = |name| self.places.get(name) == Some(&sighting.place);
                self.config.boards.iter().any(|(name, board)| {
                    let hid = board.hid.as_ref().filter(|_| is_of(board, sighting));
                    hid.is_some_and(|hid| match hid.name() {
                        Some(other) => is_named(sighting, &other),
                        None => is_here(name),
                    })
                })
            }
            Way::Ble(address) => {
                self.air.has(address)
                    || boards().filter_map(|board| board.ble.as_ref()).any(|ble| {
                        let by_address = ble.address.as_ref();
                        let by_name = ble.name.as_ref();
                        by_address.is_some_and(|other| other.eq_ignore_ascii_case(address))
                            || by_name.is_some_and(|name| {
                                self.air.may_have(name, &sighting.name, address)
                            })
                    })
            }
            Way::Rfcomm(address) => boards().any(|board| {
                let other = board.rfcomm.as_ref();
                other.is_some_and(|other| other.address.eq_ignore_ascii_case(address))
            }),
        }
    }

    /// Remembers which one on USB it is that is meant to be the only one of its make: it stays that when others come.
    fn place_only_ones(&mut self, sightings: &[Sighting]) {
        for (name, board) in &self.config.boards {
            let hid = board.hid.as_ref().filter(|hid| hid.is_only());
            let Some(hid) = hid else { continue };
            let is_free = |sighting: &&Sighting| {
                let mut others = hid.others.iter();
                is_of(board, sighting) && !others.any(|other| is_named(sighting, other))
            };
            let free: Vec<&Sighting> = sightings.iter().filter(is_free).collect();
            let before = self.places.get(name);
            let stays = free.iter().find(|one| Some(&one.place) == before);
            if let Some(it) = stays.or(free.first()) {
                self.places.insert(name.clone(), it.place.clone());
            }
        }
    }

    /// Whether the player has removed a board that is reached this way.
    async fn was_removed(&self, way: &Way) -> bool {
        let Ok(state) = self.state() else {
            // Nothing can be added.
            return true;
        };
        let (state, way) = (state.to_owned(), way.clone());
        let looked = apart::run("added", move || files::was_removed(&state, &way)).await;
        // What is not known is not taken.
        looked.unwrap_or(true)
    }

    /// Takes the boards that come by themselves, and tells of the others once.
    pub(in crate::daemon) async fn welcome(&mut self, daemon: &mut Daemon) {
        self.welcome_those(daemon, |_| true).await;
    }

    /// The same, of the boards with these ids alone.
    pub(super) async fn welcome_those(
        &mut self,
        daemon: &mut Daemon,
        those: impl Fn(&String) -> bool,
    ) {
        let mut sightings = self.plugged().await;
        self.tell_twins_apart(daemon, &sightings).await;
        self.place_only_ones(&sightings);
        sightings.retain(|sighting| !self.is_used(sighting));
        self.told
            .retain(|told| sightings.iter().any(|sighting| sighting.id() == *told));
        self.refused
            .retain(|refused| sightings.iter().any(|sighting| sighting.id() == *refused));
        for sighting in sightings {
            let id = sighting.id();
            if self.told.contains(&id) || !those(&id) {
                continue;
            }
            let comes = sighting.is_sure && self.config.discovery.serial == Cables::Known;
            let comes = comes && !self.was_removed(&sighting.way).await;
            if let (true, [make]) = (comes, &sighting.makes[..]) {
                // What keeps it from being used may have gone at the next time.
                let added = self.add(daemon, &sighting, make, None, None, None).await;
                let is_known = self.refused.contains(&id);
                self.refused.retain(|refused| *refused != id);
                if let Err(refused) = added {
                    if !is_known {
                        warn!("{} is not used: {refused}", escaped(&sighting.name));
                    }
                    self.refused.push(id);
                }
                continue;
            }
            info!(
                "found {}: if it is a board, add it on the page or by `boardbridge add`",
                shown(&sighting)
            );
            self.told.push(id);
        }
    }
}

/// Whether it is a board of this make on USB.
fn is_of(board: &BoardConfig, sighting: &Sighting) -> bool {
    let mut makes = sighting.makes.iter();
    sighting.device.is_some() && makes.any(|make| make.kind == board.make.kind)
}

/// Whether a board on USB has this serial number, is in this socket, or has this file.
fn is_named(sighting: &Sighting, name: &str) -> bool {
    let device = sighting.device.as_ref();
    device.is_some_and(|device| device.is_named(name))
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
        (_, false) if matches!(sighting.way, Way::Ble(_)) => format!(
            "has a service that home-made boards and a DGT Pegasus have; other things have it, too ({at})"
        ),
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
