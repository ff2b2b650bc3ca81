//! The desk: boards come by themselves, and a player adds them, renames them and says who plays there, without editing a file.
//!
//! What is added is a file in the state directory, in the form of the main file ([`added`](crate::config::added)). So a change is: write
//! the file, read the configuration again, change to it; what does not fit is taken back, and refused in the words in which
//! `boardbridge check` would say it.

mod added_boards;
mod air;
mod asking;
mod change;
mod chosen;
mod engines;
mod files;
mod line;
mod plays;
mod sightings;
mod trial;
mod twins;

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use tracing::warn;

pub(super) use self::change::{end, finish, left_renamed};
use self::{
    air::Air,
    asking::{Asked, Asking, Grant, Question},
    change::Change,
    sightings::found,
    trial::Trial,
};
use super::{Daemon, service::Service};
use crate::{
    bus::desk::{Clerk, Granted, Kind, Programs, Refused, Standing, Wish, Wished},
    config::{Config, ConfigError, Key, added::LEFT_OUT},
    discovery::{plugging::Plugging, probe::Finding},
    driver::{identity::Identity, registry::MAKES},
    system::{apart, traffic::Opened},
    transport::hid::Roots,
    vocabulary::BoardName,
};

/// The name that a board had, and the one that it gets.
pub(super) type Renamed = (BoardName, BoardName);

/// What is to be done next.
pub(super) enum Turn {
    /// A wish.
    Wished(Wished),
    /// A port has said what is connected to it, or not.
    Asked(Box<Asked>),
    /// Something was plugged in or pulled.
    Plugged,
}

/// The desk of a running daemon.
pub(super) struct Desk {
    clerk: Clerk,
    file: PathBuf,
    roots: Roots,
    config: Config,
    /// Where chess programs connect.
    programs_at: Option<SocketAddr>,
    plugging: Option<Plugging>,
    opened: Option<Opened>,
    air: Air,
    asking: Asking,
    /// Boards that are there and were told of.
    told: Vec<String>,
    /// Boards that are there, come by themselves, and could not be used.
    refused: Vec<String>,
    /// Where boards were when they were the only ones of their names.
    places: BTreeMap<BoardName, String>,
}

impl Desk {
    /// Opens the desk of a daemon with this configuration from this file.
    pub fn open(daemon: &Daemon, file: &Path, config: Config, roots: Roots) -> Self {
        let plugging = Plugging::at(roots.dev.clone());
        let plugging = plugging.inspect_err(|error| {
            warn!("boards that are plugged in later are not noticed by themselves: {error}");
        });
        let opened = Opened::new().inspect_err(|error| {
            warn!("programs that open a board's port are not noticed: {error}");
        });
        let desk = Self {
            clerk: daemon.bus.desk().open(),
            file: file.to_owned(),
            roots,
            config,
            programs_at: programs_at(daemon),
            plugging: plugging.ok(),
            opened: opened.ok(),
            air: Air::new(daemon.radio.clone()),
            asking: Asking::default(),
            told: Vec::new(),
            refused: Vec::new(),
            places: BTreeMap::new(),
        };
        desk.stand();
        desk
    }

    /// The configuration, with what was added.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The daemon has changed to this configuration.
    fn has(&mut self, daemon: &Daemon, config: Config) {
        self.config = config;
        self.programs_at = programs_at(daemon);
        self.stand();
    }

    /// The same, because the file was read again: what could not be used before may be welcome now.
    pub async fn has_read(&mut self, daemon: &mut Daemon, config: Config) {
        self.has(daemon, config);
        let again = std::mem::take(&mut self.refused);
        if !again.is_empty() {
            self.welcome_those(daemon, |id| again.contains(id)).await;
        }
    }

    /// Waits for what is to be done next. Cancel safe.
    pub async fn next(&mut self) -> Turn {
        let plugged = async {
            match &mut self.plugging {
                Some(plugging) => plugging.changed().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            wished = self.clerk.wished() => Turn::Wished(wished),
            () = plugged => Turn::Plugged,
            asked = self.asking.asked() => Turn::Asked(Box::new(asked)),
        }
    }

    /// Does it.
    pub async fn take(&mut self, daemon: &mut Daemon, turn: Turn) {
        match turn {
            Turn::Plugged => self.welcome(daemon).await,
            Turn::Asked(asked) => self.has_asked(daemon, *asked).await,
            Turn::Wished(Wished { wish, answer }) => {
                // The one who asked may have given up.
                let _ = match self.grant(daemon, wish).await {
                    Ok(Grant::Ask(question)) => {
                        self.asking.begin(question, answer);
                        return;
                    }
                    Ok(Grant::Now(granted)) => answer.send(Ok(granted)),
                    Err(refused) => answer.send(Err(refused)),
                };
            }
        }
    }

    async fn grant(&mut self, daemon: &mut Daemon, wish: Wish) -> Result<Grant, Refused> {
        let granted = match wish {
            Wish::Found => {
                let found = self.sightings().await.iter().map(found).collect();
                Ok(Granted::Found(found))
            }
            Wish::Add {
                id,
                name,
                kind,
                key,
            } => match self.sighting(&id, kind.as_deref()).await? {
                (sighting, Some(make)) => {
                    let key = key.as_ref();
                    self.add(daemon, &sighting, make, name, None, key).await
                }
                (sighting, None) => {
                    let port = line::port(&sighting)?;
                    return Ok(Grant::Ask(Question::Which(sighting, port, name)));
                }
            },
            Wish::Try { id, kind, key } => {
                let (sighting, make) = self.sighting(&id, kind.as_deref()).await?;
                let radio = daemon.radio.clone();
                return Ok(Grant::Ask(Question::Try(Trial {
                    sighting,
                    make,
                    key,
                    radio,
                })));
            }
            Wish::Remove(name) => self.remove(daemon, name).await,
            Wish::Rename { from, to } => self.rename(daemon, from, to).await,
            Wish::Unlock(name, key) => self.unlock(daemon, name, &key).await,
            Wish::Engines => Ok(Granted::Engines(engines::installed().await)),
            Wish::Play(board, play) => self.play(daemon, board, play).await,
            Wish::Stop(board) => self.stop(daemon, &board).await,
            Wish::Link(boards) => self.link(daemon, boards).await,
            Wish::Set(setting) => self.set(daemon, setting).await,
            Wish::Unlink(id) => self.unlink(daemon, &id).await,
        };
        granted.map(Grant::Now)
    }

    /// A port was asked what is connected to it.
    async fn has_asked(&mut self, daemon: &mut Daemon, asked: Asked) {
        let Asked {
            sighting,
            name,
            finding,
            answer,
        } = asked;
        let granted = match finding {
            Finding::Board { make, baud, .. } => {
                let baud = Some(baud).filter(|baud| make.usual_baud() != Some(*baud));
                self.add(daemon, &sighting, make, name, baud, None).await
            }
            Finding::Silent => Err(line::unanswered(&sighting)),
            Finding::Barred(error) => Err(Refused::NotNow(error.to_string())),
        };
        let _ = answer.send(granted);
    }

    /// The state directory, where what is added is kept.
    fn state(&self) -> Result<&Path, Refused> {
        self.config.state.path().ok_or_else(|| {
            Refused::NotNow(
                "nothing is kept ([state] directory is off), so nothing can be added here"
                    .to_owned(),
            )
        })
    }

    /// Changes to the configuration with this change in it, or takes it back.
    async fn change(
        &mut self,
        daemon: &mut Daemon,
        change: Change,
        renamed: Option<&Renamed>,
    ) -> Result<(), Refused> {
        match self.changed(daemon, &change, renamed).await {
            Ok(()) => {
                change.stays().await;
                Ok(())
            }
            Err(refused) => {
                change.take_back().await;
                Err(refused)
            }
        }
    }

    async fn changed(
        &mut self,
        daemon: &mut Daemon,
        change: &Change,
        renamed: Option<&Renamed>,
    ) -> Result<(), Refused> {
        let config = loaded(&self.file).await.map_err(|error| {
            let first = error.to_string();
            let first = first.lines().next().unwrap_or_default().to_owned();
            Refused::NotNow(format!(
                "the main file has a mistake, which has to be corrected first: {first}"
            ))
        })?;
        if let Some(wrong) = config.cut_off(&self.config) {
            return Err(Refused::NotNow(wrong.to_owned()));
        }
        let mut names = change.paths().map(|path| path.display().to_string());
        let problem = |name: String| {
            let line = config
                .left_out
                .iter()
                .find(|line| line.starts_with(&name))?;
            Some(in_words(line.trim_start_matches(&name)).to_owned())
        };
        // What names a board that has another name now would be lost.
        let is_new = |line: &&String| {
            let mut before = self.config.left_out.iter();
            renamed.is_some() && !before.any(|before| place(before) == place(line))
        };
        let lost = || config.left_out.iter().find(is_new).cloned();
        if let Some(problem) = names.find_map(problem).or_else(lost) {
            return Err(Refused::NotNow(problem));
        }
        let changed = daemon.change(&config, renamed).await;
        changed.map_err(|error| Refused::NotNow(error.to_string()))?;
        self.has(daemon, config);
        Ok(())
    }

    /// Says what was added and started.
    fn stand(&self) {
        let plays = self.config.plays.iter();
        let (linked, started): (Vec<&String>, Vec<&String>) =
            plays.partition(|id| id.contains('.'));
        let lichess = self.config.lichess.as_ref();
        self.clerk.stands(Standing {
            added: self.config.added.clone(),
            keyed: self.keyed(),
            started: started.iter().filter_map(|id| id.parse().ok()).collect(),
            linked: linked.into_iter().cloned().collect(),
            fixed: self.fixed(),
            programs: if self.config.uci.listen().is_here() {
                Programs::Here
            } else {
                Programs::Network
            },
            programs_fixed: self.config.says(Key::LISTEN),
            programs_at: self.programs_at,
            lichess_board: self.config.lichess_board(),
            lichess_chosen: self.of_lichess().cloned(),
            lichess_accept: lichess.map(|entry| entry.accept).unwrap_or_default(),
            lichess_take_backs: lichess.map(|entry| entry.take_backs).unwrap_or_default(),
            lichess_fixed: self.config.written_of("lichess"),
            games_fixed: self.config.written_of("games"),
            apps: self.apps(),
            apps_fixed: self.apps_fixed(),
            unseen: self.unseen(),
            kinds: MAKES.iter().map(|make| kind(make)).collect(),
        });
    }
}

/// Where chess programs connect: nowhere if that is off, or if another program has the port.
fn programs_at(daemon: &Daemon) -> Option<SocketAddr> {
    let mut ports = daemon.ports().into_iter();
    ports.find_map(|(service, at)| (service == Service::Uci).then_some(at))
}

/// What is wrong with a file that a press has written: nobody knows its lines and keys.
fn in_words(problem: &str) -> &str {
    let mut problem = problem.trim_start_matches([':', ' ']);
    // `3`, `opponent.0.hand`, `[[opponent]] number 1`.
    let is_place = |part: &str| {
        let is_key = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        let is_path = part.bytes().all(is_key) && part.contains('.');
        is_path || part.starts_with('[') || part.bytes().all(|b| b.is_ascii_digit())
    };
    while let Some((_, rest)) = problem.split_once(": ").filter(|(part, _)| is_place(part)) {
        problem = rest;
    }
    problem.trim_end_matches(LEFT_OUT)
}

/// Which file, and which line, one that is left out is about.
fn place(line: &str) -> &str {
    line.split_once(": ").map_or(line, |(place, _)| place)
}

/// Reads the configuration, and what was added, on another thread.
///
/// # Errors
/// [`ConfigError`], or that it cannot be read.
pub(super) async fn loaded(file: &Path) -> Result<Config, ConfigError> {
    let path = file.to_owned();
    let loaded = apart::run("configuration", move || Config::load(&path)).await;
    loaded.unwrap_or_else(|source| {
        Err(ConfigError::Unreadable {
            file: file.to_owned(),
            source,
        })
    })
}

fn done(done: String) -> Granted {
    Granted::Done { done }
}

fn unwritten(error: &io::Error) -> Refused {
    Refused::NotNow(format!("it cannot be kept: {error}"))
}

fn kind(make: &Identity) -> Kind {
    Kind {
        kind: make.kind,
        title: make.title,
        media: make.media.iter().map(|medium| medium.key()).collect(),
        key: added_boards::has_key(make),
    }
}
