//! Boards of one make without numbers of their own have the same name. The only one of them is the same board in every socket; once there
//! are two, each is known by its socket.

use std::path::Path;

use tracing::{info, warn};

use super::{
    Desk,
    added_boards::text_of,
    change::{Change, Edit},
    files,
};
use crate::{
    board::settings::BoardConfig,
    bus::desk::Refused,
    daemon::Daemon,
    discovery::{Sighting, Way},
    transport::settings::HidConfig,
    vocabulary::BoardName,
};

impl Desk {
    /// Has every board that was added known by its socket, if another one has come that has its name.
    pub(super) async fn tell_twins_apart(&mut self, daemon: &mut Daemon, sightings: &[Sighting]) {
        for name in self.config.added.clone() {
            let Some(board) = self.config.boards.get(&name) else {
                continue;
            };
            let before = self.places.get(&name);
            match among(board, sightings, before.map(String::as_str)) {
                Among::Alone(place) => {
                    self.places.insert(name, place);
                }
                Among::Twins(way) => {
                    if let Err(refused) = self.moves(daemon, &name, &way).await {
                        warn!(board = %name, "it cannot be told from another one: {refused}");
                    }
                }
                Among::Else => {}
            }
        }
    }

    /// Has a board be reached this way from now on.
    async fn moves(
        &mut self,
        daemon: &mut Daemon,
        name: &BoardName,
        way: &Way,
    ) -> Result<(), Refused> {
        let state = self.state()?.to_owned();
        let file = files::of_board(&state, name);
        let text = files::moved(&text_of(&file).await?, name, way);
        let text =
            text.ok_or_else(|| Refused::NotNow(format!("{} is not its file", file.display())))?;
        let edit = Edit::write(file.clone(), text).in_place_of(&file);
        let change = Change::make(&state, vec![edit], None).await?;
        self.change(daemon, change, None).await?;
        info!(board = %name, "another one of its make is there: leave each in its socket");
        Ok(())
    }
}

/// What a board is among those that are plugged in.
enum Among {
    /// The only one of its name, at this place.
    Alone(String),
    /// One of several, which is to be reached this way.
    Twins(Way),
    /// It is not there, or has a name of its own, or a place.
    Else,
}

fn among(board: &BoardConfig, sightings: &[Sighting], before: Option<&str>) -> Among {
    let (now, same): (Option<String>, Vec<&Sighting>) = if let Some(serial) = &board.serial {
        let Ok(now) = Path::new(&serial.port).canonicalize() else {
            return Among::Else;
        };
        let now = now.display().to_string();
        let it = sightings.iter().find(|sighting| sighting.place == now);
        let Some(it) = it.filter(|it| matches!(it.way, Way::Serial(_))) else {
            return Among::Else;
        };
        let is_trusted = it.way == Way::Serial(serial.port.clone().into());
        let is_same =
            |other: &&Sighting| matches!(other.way, Way::Serial(_)) && other.name == it.name;
        let same: Vec<&Sighting> = sightings.iter().filter(is_same).collect();
        if is_trusted && same.len() > 1 {
            // It has a number, or is known by its socket already.
            return Among::Else;
        }
        (Some(now), same)
    } else if board.hid.as_ref().is_some_and(HidConfig::is_only) {
        let is_same = |other: &&Sighting| {
            let makes = other.makes.iter();
            matches!(other.way, Way::Hid(_)) && makes.map(|make| make.kind).eq([board.make.kind])
        };
        (None, sightings.iter().filter(is_same).collect())
    } else {
        return Among::Else;
    };
    let at = |place: Option<&str>| same.iter().find(|one| Some(one.place.as_str()) == place);
    match &same[..] {
        [] => Among::Else,
        [only] => Among::Alone(only.place.clone()),
        [first, ..] => {
            // The name may lead to the one that has come.
            let it = at(before).or_else(|| at(now.as_deref())).unwrap_or(first);
            Among::Twins(it.way.clone())
        }
    }
}
