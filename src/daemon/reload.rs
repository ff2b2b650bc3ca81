//! Changes a running daemon to another configuration: starting is a change from nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::Path,
};

use tokio::net::TcpListener;
use tracing::{error, info, warn};

use super::{
    Daemon,
    broadcasts::delayed,
    desk::Renamed,
    inherited::Wanted,
    memory::{boards_in, memory_of},
    part::Part,
    ports,
    running::{Running, release},
    service::StartError,
};
use crate::{
    board::actor::Actor,
    bus::{
        BoardHandle,
        clients::{Client, ClientKind},
    },
    config::Config,
    front_end::{
        pgn::{self, settings::GamesConfig},
        pgn_text::TagText,
        web,
    },
    state::Store,
    system::apart,
    vocabulary::{BoardName, ClientId, ClientName},
};

/// A port that was taken.
type Port = (TcpListener, SocketAddr);
/// A part to be started; its port, unless that is about to be freed.
type Ready = (Part, Option<Option<Port>>);
/// Boards whose tasks were stopped.
type Stopped = BTreeMap<BoardName, (BoardHandle, Box<Actor>)>;

impl Daemon {
    /// Changes to this configuration. Only the parts whose configuration has changed are stopped or started; a board that
    /// has changed keeps its clients.
    ///
    /// # Errors
    /// [`StartError`] if a new port cannot be opened; nothing has changed then.
    pub async fn reload(&mut self, config: &Config) -> Result<(), StartError> {
        self.change(config, None).await
    }

    /// The same, to one in which a board may have got another name: it goes on with all that it has.
    ///
    /// # Errors
    /// The same.
    pub(super) async fn change(
        &mut self,
        config: &Config,
        renamed: Option<&Renamed>,
    ) -> Result<(), StartError> {
        if config.state.path() != self.store.path() {
            warn!(
                "the new [state] directory is used after a restart: systemctl restart boardbridge"
            );
        }
        let wanted = Part::all(config);
        let runs = |part: &Part| self.running.iter().any(|running| running.part == *part);
        let new: Vec<Part> = wanted.iter().filter(|part| !runs(part)).cloned().collect();
        let going = self
            .running
            .iter()
            .filter(|running| !wanted.contains(&running.part));
        let freed = going.filter_map(|running| Some(running.port.as_ref()?.1));
        let freed: Vec<SocketAddr> = freed.collect();
        let (new, places) = self.with_ports(config, new, &freed).await?;
        let boards = self.running.iter().map(|running| &running.part);
        let (before, after) = (memory_of(boards), memory_of(&wanted));
        // The old boards need their memory until they have stopped, the new ones from when they start.
        self.limit_memory(before.max(after));
        self.clients.make_room(boards_in(&wanted));
        let keeps_games = |(part, _): &(Part, _)| matches!(part, Part::Games(..));
        if let (Some(path), true) = (config.games.folder(), new.iter().any(keeps_games)) {
            info!("games are saved in {}", path.display());
        }
        self.name(&config.games);
        self.leave_out(&config.left_out);
        let (mut going, staying): (Vec<_>, Vec<_>) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|running| !wanted.contains(&running.part));
        self.running = staying;
        let (mut over, mut left) = (Vec::new(), Vec::new());
        for going in &mut going {
            let goes_on = going.part.goes_on_in(&wanted);
            if !goes_on {
                over.push(going.part.clone());
            }
            if goes_on || renamed.is_some_and(|(from, _)| going.part.plays_at(from)) {
                // Its successor has its places at the boards.
                left.append(&mut going.clients);
            }
        }
        let stopped = self.take_out(going).await;
        for part in &over {
            self.sessions.forget(part);
        }
        if let Some(renamed) = renamed {
            rename(&self.store, config, renamed).await;
            self.sessions.renamed(&renamed.0);
        }
        self.bus.set_renamed(renamed.cloned());
        self.inherited.close_others(&places, &self.served()).await;
        // No front-end starts before it is known what must not be told yet.
        self.bus.delayed().set(delayed(&wanted));
        self.bring_in(config, new, stopped).await;
        // A successor that could not start has not taken its places.
        let clients = self.running.iter().flat_map(|running| &running.clients);
        let taken: BTreeSet<ClientId> = clients.map(|(client, _)| *client).collect();
        left.retain(|(client, _)| !taken.contains(client));
        release(&left).await;
        // A listener may have stayed open because the name of a part could mean its address.
        self.inherited.close_others(&[], &self.served()).await;
        self.limit_memory(after);
        self.announce(config.discovery.announce);
        Ok(())
    }

    /// Limits the daemon to so many bytes of memory, where it has a control group.
    fn limit_memory(&self, bytes: u64) {
        if let Some(cgroup) = self.inherited.cgroup() {
            cgroup.limit_daemon(bytes);
        }
    }

    /// Every address that is served.
    fn served(&self) -> Vec<SocketAddr> {
        self.ports().into_iter().map(|(_, at)| at).collect()
    }

    /// Tells of what is left out, and lists it among the clients.
    fn leave_out(&mut self, left_out: &[String]) {
        self.left_out.clear();
        for why in left_out {
            warn!("{why}");
            let label = ClientName::Other("the configuration".into());
            let mut client = Client::new(self.clients.client(), label, ClientKind::LeftOut);
            client.since = None;
            client.why = Some(why.as_str().into());
            self.left_out.push(self.bus.clients().enter(client));
        }
    }

    /// Tells parts that go on the name of the player, and where games are saved.
    fn name(&self, games: &GamesConfig) {
        let player = TagText::text(games.player.as_ref());
        self.kept.send_replace(web::SavedGames {
            folder: games.folder().map(Path::to_owned),
            site: TagText::text(games.site.as_ref()),
            player: player.clone(),
            every_move: games.every_move,
        });
        self.player.send_if_modified(|named| {
            let changed = *named != player;
            *named = player;
            changed
        });
    }

    /// Opens the ports of new parts; a port that is about to be freed is opened later: `None`. Also returns where the parts want
    /// to listen.
    async fn with_ports(
        &self,
        config: &Config,
        new: Vec<Part>,
        freed: &[SocketAddr],
    ) -> Result<(Vec<Ready>, Vec<Wanted>), StartError> {
        let (mut with, mut places) = (Vec::new(), Vec::new());
        let mut taken = self.served();
        let found = Wanted::by_all(&new).await;
        for (part, wanted) in new.into_iter().zip(found) {
            // A part whose name cannot be looked up is tried, and refused, before anything stops.
            let is_freed =
                |wanted: &Wanted| wanted.is_known() && freed.iter().any(|at| wanted.overlaps(*at));
            let port = if wanted.as_ref().is_some_and(is_freed) {
                self.is_free_for(&part, wanted.as_ref())?;
                None
            } else {
                let port = self.port(config, &part, wanted.as_ref(), &taken).await?;
                taken.extend(port.as_ref().map(|(_, at)| *at));
                Some(port)
            };
            with.push((part, port));
            places.extend(wanted);
        }
        Ok((with, places))
    }

    /// Checks that the socket unit does not have the port that this part is about to take.
    fn is_free_for(&self, part: &Part, wanted: Option<&Wanted>) -> Result<(), StartError> {
        let (Some((what, listen)), Some(wanted)) = (part.listens(), wanted) else {
            return Ok(());
        };
        match self.inherited.in_the_way(&what, wanted) {
            Some(activated) => Err(StartError::Activated {
                what,
                address: listen.to_string(),
                activated,
            }),
            None => Ok(()),
        }
    }

    /// Opens the port of a part, if it has one, unless it is one of those `taken`.
    async fn port(
        &self,
        config: &Config,
        part: &Part,
        wanted: Option<&Wanted>,
        taken: &[SocketAddr],
    ) -> Result<Option<Port>, StartError> {
        let Some((what, listen)) = part.listens() else {
            return Ok(None);
        };
        match ports::bind(&what, &listen, &self.inherited, wanted, taken).await {
            Err(error) if part.may_lack_port(config, self.running.is_empty()) => {
                warn!("{error}");
                Ok(None)
            }
            taken => taken,
        }
    }

    /// Stops these parts, the front-ends first. Returns the boards, which may continue.
    async fn take_out(&mut self, going: Vec<Running>) -> Stopped {
        let (boards, front_ends): (Vec<_>, Vec<_>) = going
            .into_iter()
            .partition(|running| running.part.board().is_some());
        let mut stopped = Stopped::new();
        for group in [front_ends, boards] {
            for running in &group {
                running.stop.cancel();
                if let Some(board) = running.part.board() {
                    self.health.forget(board);
                }
            }
            for running in group {
                let board = running.take_out().await;
                stopped.extend(board.map(|(handle, actor)| (handle.name.clone(), (handle, actor))));
            }
        }
        stopped
    }

    /// Starts these parts: the boards, then the front-ends, which find them on the bus.
    async fn bring_in(&mut self, config: &Config, new: Vec<Ready>, mut stopped: Stopped) {
        let (boards, mut front_ends): (Vec<_>, Vec<_>) = new
            .into_iter()
            .partition(|(part, _)| part.board().is_some());
        for (part, _) in boards {
            let mut running = Running::new(part, &self.stop);
            let before = running.part.board().and_then(|name| stopped.remove(name));
            running.board = self.board(&running.part, before, running.stop.clone());
            self.remote(&mut running);
            self.running.push(running);
        }
        // In the order of the file; those of another `BoardBridge` come last.
        let boards = self.running.iter().filter_map(Running::handle);
        let mut boards: Vec<BoardHandle> = boards.cloned().collect();
        let order = &config.order;
        let place = |name: &BoardName| order.iter().position(|board| board == name.as_str());
        boards.sort_by_cached_key(|board| {
            let place = place(&board.name).unwrap_or(order.len());
            (board.name.is_far(), place, board.name.clone())
        });
        let before = self.bus.boards();
        let is_new = |board: &&BoardHandle| !before.iter().any(|old| old.is_same(board));
        let other_tasks: Vec<BoardName> = boards
            .iter()
            .filter(is_new)
            .map(|board| board.name.clone())
            .collect();
        self.bus.set_boards(boards);
        // The board's task before was left behind, or was of another kind: whoever has its handle begins again.
        let (stale, staying): (Vec<_>, Vec<_>) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|running| other_tasks.iter().any(|board| running.part.holds(board)));
        self.running = staying;
        front_ends.extend(stale.iter().map(|running| (running.part.clone(), None)));
        self.take_out(stale).await;
        for name in stopped.keys() {
            info!(board = %name, "the board is no longer in the configuration");
        }
        // Clients of a removed board see that it has ended.
        drop(stopped);
        for (part, port) in front_ends {
            let port = match port {
                Some(port) => port,
                None => match self.port(config, &part, None, &self.served()).await {
                    Ok(port) => port,
                    Err(error) => {
                        error!("{error}");
                        continue;
                    }
                },
            };
            let mut running = Running::new(part, &self.stop);
            if let (Some((what, _)), Some((listener, _))) = (running.part.listens(), &port) {
                self.inherited.keep(&what, listener).await;
            }
            self.front_end(&mut running, port);
            self.running.push(running);
        }
    }
}

/// What is kept of a board goes with its new name: its memory, and the file of its game. Nothing keeps either at the moment.
pub(super) async fn rename(store: &Store, config: &Config, (from, to): &Renamed) {
    store.rename(from.as_str(), to.as_str()).await;
    let (games, before, after) = (config.games.clone(), from.clone(), to.clone());
    let work = move || pgn::task::rename(&games, &before, &after);
    let renamed = apart::run("games", work).await.flatten();
    if let Err(error) = renamed {
        warn!(board = %to, "its game is saved in a new file, the one of {from} stays ({error})");
    }
}
