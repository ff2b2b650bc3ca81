//! The desk: boards come by themselves, and a player adds them, renames them and says who plays there, without editing a file.
//!
//! What is added is a file in the state directory, in the form of the main file ([`added`](crate::config::added)). So a change is: write
//! the file, read the configuration again, change to it; what does not fit is taken back, and refused in the words in which
//! `boardbridge check` would say it.

mod air;
mod asking;
mod engines;
mod files;
mod trial;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tracing::{info, warn};

use self::{
    air::Air,
    asking::{Asked, Asking, Grant, Question},
    trial::Trial,
};
use super::Daemon;
use crate::{
    bus::desk::{Clerk, Found, Granted, Kind, Play, Programs, Refused, Standing, Wish, Wished},
    config::{Config, added::MAX_ADDED},
    discovery::{
        Sighting, Way, at_cables,
        plugging::Plugging,
        probe::Finding,
        settings::{Air as InAir, Cables},
    },
    driver::{identity::Identity, registry::MAKES},
    system::apart,
    text::escape::escaped,
    transport::hid::Roots,
    vocabulary::BoardName,
};

/// Names tried for a board: `citrine`, `citrine2` and so on.
const MAX_NUMBER: usize = 4096;
/// Characters shown of what a device calls itself.
const MAX_SHOWN: usize = 60;

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
    plugging: Option<Plugging>,
    air: Air,
    asking: Asking,
    /// Boards that are there and were told of.
    told: Vec<String>,
}

/// A file that was changed, and what was in it before.
struct Change {
    path: PathBuf,
    before: Option<Vec<u8>>,
}

impl Change {
    /// Writes this text, or removes the file; a slow disk holds nobody else up.
    async fn make(path: PathBuf, text: Option<&str>) -> io::Result<Self> {
        let text = text.map(str::to_owned);
        apart::run("added", move || Self::made(path, text.as_deref())).await?
    }

    fn made(path: PathBuf, text: Option<&str>) -> io::Result<Self> {
        let before = fs::read(&path).ok();
        match text {
            Some(text) => files::write(&path, text.as_bytes())?,
            None => fs::remove_file(&path)?,
        }
        Ok(Self { path, before })
    }

    async fn take_back(self) {
        let name = self.path.display().to_string();
        let undo = move || match &self.before {
            Some(text) => files::write(&self.path, text),
            None => fs::remove_file(&self.path),
        };
        if let Err(error) = apart::run("added", undo).await.flatten() {
            warn!("{name} cannot be put back: {error}");
        }
    }
}

impl Desk {
    /// Opens the desk of a daemon with this configuration from this file.
    pub fn open(daemon: &Daemon, file: &Path, config: Config, roots: Roots) -> Self {
        let plugging = Plugging::at(roots.dev.clone());
        let plugging = plugging.inspect_err(|error| {
            warn!("boards that are plugged in later are not noticed by themselves: {error}");
        });
        let desk = Self {
            clerk: daemon.bus.desk().open(),
            file: file.to_owned(),
            roots,
            config,
            plugging: plugging.ok(),
            air: Air::new(daemon.radio.clone()),
            asking: Asking::default(),
            told: Vec::new(),
        };
        desk.stand();
        desk
    }

    /// The configuration, with what was added.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The configuration was read again.
    pub fn has(&mut self, config: Config) {
        self.config = config;
        self.stand();
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
            Wish::Add { id, name, kind } => match self.sighting(&id, kind.as_deref()).await? {
                (sighting, Some(make)) => self.add(daemon, &sighting, make, name, None).await,
                (sighting, None) => {
                    let port = asking::port(&sighting)?;
                    return Ok(Grant::Ask(Question::Which(sighting, port, name)));
                }
            },
            Wish::Try { id, kind } => {
                let (sighting, make) = self.sighting(&id, kind.as_deref()).await?;
                let radio = daemon.radio.clone();
                return Ok(Grant::Ask(Question::Try(Trial {
                    sighting,
                    make,
                    radio,
                })));
            }
            Wish::Remove(name) => self.remove(daemon, name).await,
            Wish::Rename { from, to } => self.rename(daemon, from, to).await,
            Wish::Engines => Ok(Granted::Engines(engines::installed())),
            Wish::Play(board, play) => self.play(daemon, board, play).await,
            Wish::Stop(board) => {
                let path = files::of_play(self.state()?, board.as_str());
                let words = "was not started here: what the main file says is changed there";
                self.end(daemon, path, &format!("the opponent of {board} {words}"))
                    .await
            }
            Wish::Link(boards) => self.link(daemon, boards).await,
            Wish::Admit(programs) => self.admit(daemon, programs).await,
            Wish::Unlink(id) => {
                let state = self.state()?;
                let is_known = files::links(state).contains(&id);
                let path = files::of_play(state, if is_known { &id } else { "." });
                self.end(daemon, path, "there is no such link that was started here")
                    .await
            }
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
                self.add(daemon, &sighting, make, name, baud).await
            }
            Finding::Silent => Err(asking::unanswered(&sighting)),
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
    async fn change(&mut self, daemon: &mut Daemon, change: Change) -> Result<(), Refused> {
        match self.changed(daemon, &change.path).await {
            Ok(()) => Ok(()),
            Err(refused) => {
                change.take_back().await;
                Err(refused)
            }
        }
    }

    async fn changed(&mut self, daemon: &mut Daemon, path: &Path) -> Result<(), Refused> {
        let config = Config::load(&self.file).map_err(|error| {
            let first = error.to_string();
            let first = first.lines().next().unwrap_or_default().to_owned();
            Refused::NotNow(format!(
                "the main file has a mistake, which has to be corrected first: {first}"
            ))
        })?;
        let name = path.display().to_string();
        let is_about = |line: &&String| line.starts_with(&name);
        if let Some(line) = config.left_out.iter().find(is_about) {
            let problem = line
                .trim_start_matches(&name)
                .trim_start_matches([':', ' ']);
            return Err(Refused::NotNow(problem.to_owned()));
        }
        let changed = daemon.reload(&config).await;
        changed.map_err(|error| Refused::NotNow(error.to_string()))?;
        self.has(config);
        Ok(())
    }

    /// Says what was added and started.
    fn stand(&self) {
        let state = self.config.state.path();
        let (started, linked) = state.map_or_else(Default::default, |state| {
            (files::started(state), files::links(state))
        });
        self.clerk.stands(Standing {
            added: self.config.added.clone(),
            started,
            linked,
            programs: if self.config.uci.listen.is_here() {
                Programs::Here
            } else {
                Programs::Network
            },
            programs_fixed: self.config.says_programs,
            kinds: MAKES.iter().map(|make| kind(make)).collect(),
        });
    }

    /// The boards that are there and not used.
    async fn sightings(&mut self) -> Vec<Sighting> {
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
    pub async fn welcome(&mut self, daemon: &mut Daemon) {
        let mut sightings = self.plugged().await;
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

    async fn add(
        &mut self,
        daemon: &mut Daemon,
        sighting: &Sighting,
        make: &'static Identity,
        name: Option<BoardName>,
        baud: Option<u32>,
    ) -> Result<Granted, Refused> {
        if !make.media.contains(&sighting.way.medium()) {
            return Err(Refused::Bad(format!("a {} is not reached so", make.kind)));
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
        let state = self.state()?;
        let text = files::board(&name, make, &sighting.way, baud);
        let change = written(files::of_board(state, &name), &text).await?;
        self.change(daemon, change).await?;
        if let Some(state) = self.config.state.path() {
            files::welcome(state, &sighting.way);
        }
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

    fn exists(&self, name: &BoardName) -> Result<(), Refused> {
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

    async fn remove(&mut self, daemon: &mut Daemon, name: BoardName) -> Result<Granted, Refused> {
        self.is_added(&name)?;
        let state = self.state()?.to_owned();
        forget_plays(&state, &name);
        // First that it must not come back by itself: it is plugged in, and a kill may come between the two.
        let text = fs::read_to_string(files::of_board(&state, &name));
        let text = text.map_err(|error| unwritten(&error))?;
        let stays_away = written(files::of_removed(&state, &name), &text).await?;
        let change = removed(files::of_board(&state, &name)).await?;
        if let Err(refused) = self.change(daemon, change).await {
            stays_away.take_back().await;
            return Err(refused);
        }
        info!(board = %name, "removed");
        Ok(done(format!("{name} was removed")))
    }

    async fn rename(
        &mut self,
        daemon: &mut Daemon,
        from: BoardName,
        to: BoardName,
    ) -> Result<Granted, Refused> {
        self.is_added(&from)?;
        if self.exists(&to).is_ok() {
            return Err(Refused::NotNow(format!("there is a board {to} already")));
        }
        let state = self.state()?.to_owned();
        let old = files::of_board(&state, &from);
        let text = fs::read_to_string(&old).map_err(|error| unwritten(&error))?;
        let renamed = files::renamed(&text, &from, &to);
        let renamed =
            renamed.ok_or_else(|| Refused::NotNow(format!("{} is not its file", old.display())))?;
        forget_plays(&state, &from);
        // The new one first: a kill between the two leaves one that is read.
        let change = written(files::of_board(&state, &to), &renamed).await?;
        let gone = match removed(old).await {
            Ok(gone) => gone,
            Err(refused) => {
                change.take_back().await;
                return Err(refused);
            }
        };
        if let Err(refused) = self.change(daemon, change).await {
            gone.take_back().await;
            return Err(refused);
        }
        info!(board = %to, "renamed: it was {from}");
        Ok(Granted::Board { board: to })
    }

    async fn play(
        &mut self,
        daemon: &mut Daemon,
        board: BoardName,
        play: Play,
    ) -> Result<Granted, Refused> {
        self.exists(&board)?;
        let engine = match &play.engine {
            None => None,
            // Only what was found: a page must not start any program.
            Some(wanted) => {
                let engines = engines::installed();
                let found = engines
                    .iter()
                    .find(|engine| engine.name == *wanted || engine.path == *wanted);
                let found = found.ok_or_else(|| {
                    Refused::Missing(format!(
                        "{} is not installed: sudo apt install stockfish",
                        escaped(wanted)
                    ))
                })?;
                Some(found.path.clone())
            }
        };
        let text = files::opponent(&board, engine.as_deref(), &play);
        let change = written(files::of_play(self.state()?, board.as_str()), &text).await?;
        self.change(daemon, change).await?;
        let who = play.engine.as_deref().unwrap_or("two people");
        info!(board = %board, "{who} may play there");
        Ok(done(format!("{who} may play at {board}")))
    }

    async fn link(
        &mut self,
        daemon: &mut Daemon,
        boards: [BoardName; 2],
    ) -> Result<Granted, Refused> {
        let [first, second] = &boards;
        self.exists(first)?;
        self.exists(second)?;
        let path = files::of_play(self.state()?, &format!("{first}.{second}"));
        let change = written(path, &files::link(&boards)).await?;
        self.change(daemon, change).await?;
        Ok(done(format!("{first} and {second} play each other")))
    }

    /// Lets chess programs of the network connect, or those of this machine only.
    async fn admit(&mut self, daemon: &mut Daemon, programs: Programs) -> Result<Granted, Refused> {
        if self.config.says_programs {
            return Err(Refused::NotNow(format!(
                "`listen` under [uci] is in {}, and is changed there",
                self.file.display()
            )));
        }
        let path = files::of_settings(self.state()?);
        let (change, words) = match programs {
            Programs::Network => {
                let change = written(path, &files::open_to_network()).await?;
                (change, "chess programs of the network may connect")
            }
            Programs::Here if !path.exists() => return Ok(done("it is so already".to_owned())),
            Programs::Here => {
                let change = removed(path).await?;
                (change, "only chess programs on this machine may connect")
            }
        };
        self.change(daemon, change).await?;
        info!("{words}");
        Ok(done(words.to_owned()))
    }

    /// Ends what this file says.
    async fn end(
        &mut self,
        daemon: &mut Daemon,
        path: PathBuf,
        missing: &str,
    ) -> Result<Granted, Refused> {
        if !path.is_file() {
            return Err(Refused::Missing(missing.to_owned()));
        }
        let change = removed(path).await?;
        self.change(daemon, change).await?;
        Ok(done("ended".to_owned()))
    }
}

/// Ends what was started at a board that goes.
fn forget_plays(state: &Path, name: &BoardName) {
    let links = files::links(state);
    let links = links
        .iter()
        .filter(|id| id.split('.').any(|board| board == name.as_str()));
    for id in links.map(String::as_str).chain([name.as_str()]) {
        let _ = fs::remove_file(files::of_play(state, id));
    }
}

async fn written(path: PathBuf, text: &str) -> Result<Change, Refused> {
    let made = Change::make(path, Some(text)).await;
    made.map_err(|error| unwritten(&error))
}

async fn removed(path: PathBuf) -> Result<Change, Refused> {
    let made = Change::make(path, None).await;
    made.map_err(|error| unwritten(&error))
}

fn done(done: String) -> Granted {
    Granted::Done { done }
}

fn unwritten(error: &io::Error) -> Refused {
    Refused::NotNow(format!("it cannot be kept: {error}"))
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
fn shown(sighting: &Sighting) -> String {
    let name: String = sighting.name.chars().take(MAX_SHOWN).collect();
    escaped(&name)
}

fn kind(make: &Identity) -> Kind {
    Kind {
        kind: make.kind,
        title: make.title,
        media: make.media.iter().map(|medium| medium.key()).collect(),
    }
}

fn found(sighting: &Sighting) -> Found {
    let (_, at) = sighting.way.key();
    let why = match (&sighting.makes[..], sighting.is_sure) {
        ([make], true) => format!("a {}, by its name", make.title),
        ([_], false) => "has a service that home-made boards have; other things have it, too".to_owned(),
        _ => "a general adapter: a board, or another device. Adding it asks what it is, which may upset a printer".to_owned(),
    };
    Found {
        id: sighting.id(),
        kinds: sighting.makes.iter().map(|make| make.kind).collect(),
        transport: sighting.way.medium().key(),
        name: shown(sighting),
        why: format!("{why} ({})", escaped(&at)),
    }
}
