//! Runs one `[[opponent]]`: connects the game to its board, the engine's process, and what the player says.

use std::future::pending;

use shakmaty::{ByColor, Color};
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug, info, info_span, warn};

use super::{
    engine::{Action, Engine},
    notice::Notice,
    process::Process,
    session::{OpponentGame, Phase, Place, SavedOpponent},
    settings::{EngineSettings, Hand},
};
use crate::{
    bus::{
        BoardHandle, Bus,
        clients::{Client, ClientKind, Presence},
        pairings::{Entry, Pairing, Player, Said},
    },
    front_end::seat::serve::{Keeper, give, tell},
    system::{cgroup::Cgroup, clock, sleep::sleep_until_some},
    text::lines::printable,
    vocabulary::{ClientId, ClientName},
};

/// How much of an engine's line the debug log shows, in bytes.
const LOGGED: usize = 256;
/// The name of two players in messages.
const TWO_PLAYERS: &str = "two players";

/// What an opponent's task receives at start.
pub struct Table {
    /// Its number as a client of the board.
    pub client: ClientId,
    /// The board.
    pub board: BoardHandle,
    /// The engine, and what the hand plays against it; `None`: two hands.
    pub engine: Option<(EngineSettings, Hand)>,
    /// The names of two hands.
    pub names: ByColor<Option<String>>,
    /// Where the engine gets a control group with limits of its own.
    pub cgroup: Option<Cgroup>,
    /// The name of the player at the board, if it is known; it may change.
    pub player: watch::Receiver<Option<String>>,
    /// Its game before a restart.
    pub memory: Option<SavedOpponent>,
    /// Where it keeps its game.
    pub shelf: Keeper<SavedOpponent>,
    /// Where it reports what happens.
    pub bus: Bus,
}

/// Runs until `stop` is cancelled.
pub async fn serve(mut table: Table, stop: CancellationToken) {
    let span = info_span!("opponent", board = %table.board.name);
    let engine = table.engine.clone();
    let engine = engine.map(|(settings, _)| Engine::new(now(), settings));
    let label = label(engine.as_ref());
    let place = Place {
        client: table.client,
        board: table.board.name.clone(),
        hand: table.engine.as_ref().map(|(_, hand)| *hand),
    };
    let session = match table.memory.take() {
        Some(memory) => OpponentGame::restored(memory, place, label.clone(), &table.board.state()),
        None => OpponentGame::new(place, label.clone()),
    };
    let presence = engine.is_some().then(|| {
        let mut client = Client::new(table.client, label.clone(), ClientKind::Engine);
        client.board = Some(table.board.name.clone());
        client.since = None;
        table.bus.clients().enter(client)
    });
    let entry = table
        .bus
        .pairings()
        .enter(table.board.name.clone(), Pairing::default());
    let mut server = Server {
        table,
        session,
        engine,
        process: None,
        presence,
        entry,
    };
    server.run(stop).instrument(span).await;
}

/// The client's name in messages.
fn label(engine: Option<&Engine>) -> ClientName {
    match engine {
        Some(engine) => ClientName::Engine(engine.name().clone()),
        None => ClientName::Other(TWO_PLAYERS.into()),
    }
}

struct Server {
    table: Table,
    session: OpponentGame,
    engine: Option<Engine>,
    process: Option<Process>,
    presence: Option<Presence>,
    entry: Entry,
}

impl Server {
    async fn run(&mut self, stop: CancellationToken) {
        let mut feed = self.table.board.feed();
        let board = self.table.board.clone();
        let mut pairings = self.table.bus.pairings().changes();
        loop {
            self.settle();
            self.table.shelf.keep(self.session.memory()).await;
            self.tell();
            self.act();
            self.appear();
            let engine = self.engine.as_ref().and_then(Engine::deadline);
            let deadlines = [self.session.deadline(), engine];
            let deadline = deadlines.into_iter().flatten().min();
            tokio::select! {
                () = stop.cancelled() => break,
                () = give(&board, self.session.seat()) => {}
                (events, state) = feed.next() => self.session.snapshot(now(), &events, &state),
                said = self.entry.said() => self.said(said),
                () = pairings.next() => self.enter(),
                Ok(()) = self.table.player.changed() => {}
                () = sleep_until_some(deadline.map(Instant::from_std)) => {
                    self.session.timeout(now());
                    self.listen();
                    if let Some(engine) = &mut self.engine {
                        engine.timeout(now());
                    }
                }
                heard = next_line(&mut self.process) => self.heard(heard),
            }
        }
        self.entry.leaves(self.session.game());
        if let Some(process) = self.process.take() {
            process.quit().await;
        }
    }

    /// Passes the engine's answers to the game, and the game's question to the engine.
    fn settle(&mut self) {
        let Some(engine) = &mut self.engine else {
            return;
        };
        while let Some(answer) = engine.poll_answer() {
            self.session.reply(answer);
        }
        engine.want(now(), self.session.question());
        self.session.seat().rename(label(Some(engine)));
    }

    fn tell(&mut self) {
        let engine = self.engine.as_mut();
        let engines = engine.map(|engine| std::iter::from_fn(|| engine.poll_notice()).collect());
        let mut notices: Vec<Notice> = engines.unwrap_or_default();
        notices.extend(std::iter::from_fn(|| self.session.poll_notice()));
        for notice in notices {
            let (bus, board) = (&self.table.bus, &self.table.board.name);
            let label = label(self.engine.as_ref());
            tell(bus, board, &label, &notice, notice.is_trouble());
        }
    }

    /// Does what the engine's process needs.
    fn act(&mut self) {
        let Some(engine) = &mut self.engine else {
            return;
        };
        while let Some(action) = engine.poll_action() {
            match action {
                Action::Start => match started(&mut self.table, engine.settings()) {
                    Ok(process) => {
                        debug!(id = process.id(), "the engine is started");
                        self.process = Some(process);
                        engine.started(now());
                    }
                    Err(why) => engine.ended(now(), why),
                },
                Action::Write(line) => {
                    debug!(line, ">");
                    if let Some(process) = &mut self.process {
                        process.write(&line);
                    }
                }
                // Dropping the process kills it.
                Action::Kill => self.process = None,
            }
        }
        // Reports at once that an engine could not be started.
        self.tell();
    }

    /// Passes the process's last words on.
    fn listen(&mut self) {
        if let (Some(engine), Some(process)) = (&mut self.engine, &self.process) {
            engine.last_words(process.last_words());
        }
    }

    fn heard(&mut self, heard: Result<Vec<u8>, String>) {
        self.listen();
        let Some(engine) = &mut self.engine else {
            return;
        };
        match heard {
            Ok(line) => {
                if !line.starts_with(b"info") {
                    debug!(line = %printable(&line, LOGGED), "<");
                }
                engine.line(now(), &line);
            }
            Err(why) => {
                self.process = None;
                engine.ended(now(), why);
            }
        }
    }

    fn said(&mut self, said: Said) {
        let answer = self.session.said(said.saying);
        info!(saying = %said.saying, refused = answer.as_ref().err(), "the player says");
        // The receiver may have stopped waiting.
        let _ = said.answer.send(answer);
    }

    /// Enters the pairing again, if another front-end had replaced it and has left.
    fn enter(&mut self) {
        let pairings = self.table.bus.pairings();
        if pairings.at(&self.table.board.name).is_none() {
            self.entry = pairings.enter(self.table.board.name.clone(), self.pairing());
        }
    }

    /// Publishes who plays whom.
    fn appear(&self) {
        let pairing = self.pairing();
        self.entry.change(|shown| *shown = pairing);
        let awaiting = self.session.awaits_hand();
        if let Some(presence) = &self.presence {
            let trouble = self.engine.as_ref().and_then(Engine::trouble).cloned();
            let label = label(self.engine.as_ref());
            let peer = self.process.as_ref().map(|_| label.to_string().into());
            presence.change(|client| {
                if client.peer.is_some() != peer.is_some() {
                    client.since = Some(clock::now());
                }
                client.label = label;
                client.peer = peer;
                client.why = trouble;
                client.awaiting = awaiting;
            });
        }
    }

    fn pairing(&self) -> Pairing {
        let player = |name: &str| Player {
            name: name.to_owned(),
            ..Player::default()
        };
        let engine = self.engine.as_ref();
        let hand = self.table.player.borrow();
        let lent = self.session.phase() == Phase::Rests && self.session.occupied().is_some();
        let side = |color: Color| {
            let name = match self.session.hand() {
                Some(plays) if plays == color => hand.as_deref(),
                // Until it states its name: a game that is kept has the first that it is given.
                Some(_) => engine.and_then(Engine::stated).map(|name| &**name),
                None => self.table.names.get(color).as_deref(),
            };
            name.filter(|_| !lent).map(player)
        };
        let players = ByColor::new_with(side);
        let trouble = engine.and_then(Engine::trouble).cloned();
        let trouble = trouble.map(Notice::Fault);
        let waits = match self.session.phase() {
            Phase::Rests => self.session.over().map(Notice::Over),
            Phase::Waits => Some(Notice::NewGame {
                hand: self.session.hand(),
            }),
            Phase::Plays => None,
        };
        let rests = self.session.phase() == Phase::Rests;
        let waits = if !rests && engine.is_some_and(Engine::is_at_full_strength) {
            Some(Notice::FullStrength(waits.map(Box::new)))
        } else {
            waits
        };
        let notice = trouble.or(self.session.occupied()).or(waits);
        Pairing {
            client: Some(label(self.engine.as_ref())),
            over: rests.then(|| self.session.game().clone()),
            players,
            hand: self.session.hand(),
            notice: notice.map(|notice| notice.to_string()),
            evaluation: self.session.evaluation(),
            can: self.session.can(),
            ..Pairing::default()
        }
    }
}

/// A new process of the board's engine.
fn started(table: &mut Table, settings: &EngineSettings) -> Result<Process, String> {
    let name = table.board.name.as_str();
    let group = table.cgroup.as_ref();
    let group = group.map(|cgroup| cgroup.subgroup(name, settings.memory.bytes()));
    let group = group.transpose().unwrap_or_else(|error| {
        warn!("the engine plays without a limit on its memory: it gets no control group: {error}");
        // Logged once.
        table.cgroup = None;
        None
    });
    Process::start(&settings.program, group)
}

/// The engine's next line, or its end.
async fn next_line(process: &mut Option<Process>) -> Result<Vec<u8>, String> {
    match process {
        Some(process) => process.next_line().await,
        None => pending().await,
    }
}

/// The runtime's clock, which a test may have paused.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}
