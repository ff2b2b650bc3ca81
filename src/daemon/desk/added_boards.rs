//! Boards are added, renamed and removed.

use std::{fs, io, path::Path};

use figment::value::{Dict, Value};
use tracing::info;

use super::{
    Desk,
    change::{Change, Edit},
    done, files,
    sightings::shown,
    unwritten,
};
use crate::{
    bus::desk::{BoardKey, Granted, Refused},
    config::added::MAX_ADDED,
    daemon::Daemon,
    discovery::Sighting,
    driver::identity::Identity,
    system::{apart, clock},
    vocabulary::BoardName,
};

/// Names tried for a board: `citrine`, `citrine2` and so on.
const MAX_NUMBER: usize = 4096;
/// What unlocks a board, in its table.
const KEY: &str = "key";

impl Desk {
    pub(super) async fn add(
        &mut self,
        daemon: &mut Daemon,
        sighting: &Sighting,
        make: &'static Identity,
        name: Option<BoardName>,
        baud: Option<u32>,
        key: Option<&BoardKey>,
    ) -> Result<Granted, Refused> {
        if !make.media.contains(&sighting.way.medium()) {
            return Err(Refused::Bad(format!("a {} is not reached so", make.kind)));
        }
        if let Some(key) = key {
            fits(make, key)?;
        }
        let name = match name {
            Some(name) if self.exists(&name).is_ok() => {
                return Err(Refused::NotNow(format!("there is a board {name} already")));
            }
            Some(name) => name,
            None => self.free_name(make)?,
        };
        if self.config.added.len() >= MAX_ADDED {
            return Err(Refused::NotNow(format!(
                "{MAX_ADDED} boards were added already: name the others in {}",
                self.file.display()
            )));
        }
        let state = self.state()?.to_owned();
        let text = files::board(&name, make, &sighting.way, baud, key);
        let edit = Edit::write(files::of_board(&state, &name), text);
        let change = Change::make(&state, vec![edit], None).await?;
        self.change(daemon, change, None).await?;
        let way = sighting.way.clone();
        let welcome = apart::run("added", move || files::welcome(&state, &way));
        welcome.await.map_err(|error| unwritten(&error))?;
        self.places.insert(name.clone(), sighting.place.clone());
        info!(board = %name, "added: {}, a {}", shown(sighting), make.title);
        Ok(Granted::Board { board: name })
    }

    /// A name after its kind that no board has.
    fn free_name(&self, make: &Identity) -> Result<BoardName, Refused> {
        let numbered = (2..MAX_NUMBER).map(|number| format!("{}{number}", make.example));
        let mut names = std::iter::once(make.example.to_owned()).chain(numbered);
        let free = names.find_map(|name| {
            let name = name.parse().ok()?;
            self.exists(&name).is_err().then_some(name)
        });
        free.ok_or_else(|| Refused::NotNow("there are too many boards".to_owned()))
    }

    pub(super) fn exists(&self, name: &BoardName) -> Result<(), Refused> {
        if self.config.all_boards().any(|(known, _)| known == name) {
            return Ok(());
        }
        Err(Refused::Missing(format!("there is no board {name}")))
    }

    /// Whether a board was added here.
    fn is_added(&self, name: &BoardName) -> Result<(), Refused> {
        self.exists(name)?;
        if self.config.added.contains(name) {
            return Ok(());
        }
        Err(Refused::NotNow(format!(
            "{name} is in {}, and is changed there",
            self.file.display()
        )))
    }

    pub(super) async fn remove(
        &mut self,
        daemon: &mut Daemon,
        name: BoardName,
    ) -> Result<Granted, Refused> {
        self.is_added(&name)?;
        let state = self.state()?.to_owned();
        let file = files::of_board(&state, &name);
        let text = text_of(&file).await?;
        let mut edits = vec![
            // It is plugged in, and must not come back by itself.
            Edit::write(files::of_removed(&state, &name, clock::now()), text),
            Edit::remove(file),
        ];
        let plays = self.plays_of(&name);
        edits.extend(plays.map(|id| Edit::remove(files::of_play(&state, id))));
        let without = |text: &str| files::with_board(text, &name, None);
        edits.push(self.edit_of_settings(without).await?);
        let change = Change::make(&state, edits, None).await?;
        self.change(daemon, change, None).await?;
        info!(board = %name, "removed");
        Ok(done(format!("{name} was removed")))
    }

    /// Gives a board another name. Its game, its opponent and its links go on.
    pub(super) async fn rename(
        &mut self,
        daemon: &mut Daemon,
        from: BoardName,
        to: BoardName,
    ) -> Result<Granted, Refused> {
        self.is_added(&from)?;
        if from == to {
            return Ok(Granted::Board { board: to });
        }
        if self.exists(&to).is_ok() {
            return Err(Refused::NotNow(format!("there is a board {to} already")));
        }
        let state = self.state()?.to_owned();
        let old = files::of_board(&state, &from);
        let renamed = files::renamed(&text_of(&old).await?, &from, &to);
        let renamed = renamed.ok_or_else(|| not_its(&old))?;
        let mut edits = vec![
            Edit::write(files::of_board(&state, &to), renamed).in_place_of(&old),
            Edit::remove(old),
        ];
        for id in self.plays_of(&from) {
            let old = files::of_play(&state, id);
            let play = files::renamed_play(&text_of(&old).await?, &from, &to);
            let play = play.ok_or_else(|| not_its(&old))?;
            let id = files::renamed_id(id, &from, &to);
            edits.push(Edit::write(files::of_play(&state, &id), play).in_place_of(&old));
            edits.push(Edit::remove(old));
        }
        let with = |text: &str| files::with_board(text, &from, Some(&to));
        edits.push(self.edit_of_settings(with).await?);
        let renamed = (from, to);
        let change = Change::make(&state, edits, Some(renamed.clone())).await?;
        self.change(daemon, change, Some(&renamed)).await?;
        let (from, to) = renamed;
        info!(board = %to, "renamed: it was {from}");
        Ok(Granted::Board { board: to })
    }

    /// Gives a board that was added this key, or takes the one away that it has.
    pub(super) async fn unlock(
        &mut self,
        daemon: &mut Daemon,
        name: BoardName,
        key: &BoardKey,
    ) -> Result<Granted, Refused> {
        self.is_added(&name)?;
        if let Some(board) = self.config.boards.get(&name) {
            fits(board.make, key)?;
        }
        let file = files::of_board(self.state()?, &name);
        let text = files::unlocked(&text_of(&file).await?, &name, key);
        let text = text.ok_or_else(|| not_its(&file))?;
        let edit = Edit::write(file.clone(), text).in_place_of(&file);
        self.edit(daemon, edit).await?;
        info!(board = %name, "has another key, or none");
        Ok(Granted::Board { board: name })
    }

    /// The boards that were added and that a key unlocks.
    pub(super) fn keyed(&self) -> Vec<BoardName> {
        let makes = |name: &BoardName| Some(self.config.boards.get(name)?.make);
        let is_one = |name: &&BoardName| makes(name).is_some_and(has_key);
        self.config.added.iter().filter(is_one).cloned().collect()
    }

    /// What names the opponent and the links that were started at a board.
    fn plays_of<'a>(&'a self, name: &'a BoardName) -> impl Iterator<Item = &'a str> {
        let is_of = |id: &&String| id.split('.').any(|board| board == name.as_str());
        self.config.plays.iter().filter(is_of).map(String::as_str)
    }
}

/// Whether a key unlocks boards of this make.
pub(super) fn has_key(make: &Identity) -> bool {
    make.key(&[KEY]).is_some()
}

/// Refuses a key that boards of this make cannot have, in the words of their driver.
pub(super) fn fits(make: &Identity, key: &BoardKey) -> Result<(), Refused> {
    if !has_key(make) {
        return Err(Refused::Bad(format!("a {} has no key", make.title)));
    }
    let keys = Dict::from([(KEY.to_owned(), key.0.clone().into())]);
    let read = (make.read)(&Value::from(keys));
    read.map(drop)
        .map_err(|error| Refused::Bad(error.kind.to_string()))
}

fn not_its(path: &Path) -> Refused {
    Refused::NotNow(format!("{} is not its file", path.display()))
}

/// The text of a file; nothing if there is none.
pub(super) async fn text_if_there(file: &Path) -> Result<String, Refused> {
    let file = file.to_owned();
    let read = move || match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read,
    };
    let text = apart::run("added", read).await;
    text.flatten().map_err(|error| unwritten(&error))
}

pub(super) async fn text_of(file: &Path) -> Result<String, Refused> {
    let file = file.to_owned();
    let text = apart::run("added", move || fs::read_to_string(file)).await;
    text.flatten().map_err(|error| unwritten(&error))
}
