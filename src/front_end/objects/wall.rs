//! Many boards on one screen: of each only what a small picture shows, and only when that has changed.
//!
//! What is sent about a move does not grow with its game, nor with the number of boards. States decide here, no event is told: a
//! watcher that is slow gets each board's latest state once. A line is made once, for all watchers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
    vec,
};

use serde::Serialize;
use serde_json::{Value, json};
use shakmaty::Color;
use tokio::time::sleep;

use super::{clocks, link};
use crate::{
    bus::{
        self, BoardHandle, Bus, Subscription,
        pairings::{self, Pairing},
    },
    chess::game::uci,
    vocabulary::{BoardName, Snapshot},
};

/// Changes that come together are told together. A wall shows a move within a moment: no hand moves faster.
pub const GATHER: Duration = Duration::from_millis(100);

/// The lines of all boards as they are now, for every watcher.
#[derive(Clone, Debug, Default)]
pub struct Pictures(Arc<Mutex<BTreeMap<BoardName, Picture>>>);

#[derive(Debug)]
struct Picture {
    state: Arc<Snapshot>,
    paired: Option<Arc<Pairing>>,
    line: Arc<str>,
}

impl Pictures {
    /// The line of a board in this state.
    fn line(&self, state: Arc<Snapshot>, paired: Option<Arc<Pairing>>) -> Arc<str> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &&Picture| Arc::ptr_eq(&known.state, &state) && known.paired == paired;
        if let Some(known) = all.get(&state.board).filter(is_it) {
            return known.line.clone();
        }
        let line = short(&state, paired.as_deref());
        let picture = Picture {
            line: line.clone(),
            paired,
            state,
        };
        all.insert(picture.state.board.clone(), picture);
        line
    }

    /// Forgets boards that are gone.
    fn forget(&self, boards: &[BoardHandle]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|name, _| boards.iter().any(|board| board.name == *name));
    }
}

/// What a watcher of all boards has been told, and what comes next.
#[derive(Debug)]
pub struct Wall {
    bus: Bus,
    pictures: Pictures,
    subscription: Subscription,
    boards: bus::Changes,
    pairings: pairings::Changes,
    /// The list of boards has to be told.
    is_new: bool,
    /// Boards that may have changed.
    turn: vec::IntoIter<BoardHandle>,
    /// What the watcher knows of each board.
    told: BTreeMap<BoardName, Told>,
}

#[derive(Debug)]
struct Told {
    paired: Option<Arc<Pairing>>,
    line: Arc<str>,
}

impl Wall {
    /// A watcher that has not been told anything yet.
    pub fn of(bus: Bus, pictures: Pictures) -> Self {
        Self {
            pictures,
            subscription: bus.subscribe(),
            boards: bus.changes(),
            pairings: bus.pairings().changes(),
            is_new: true,
            turn: bus.boards().into_iter(),
            told: BTreeMap::new(),
            bus,
        }
    }

    /// The next line, if there is one now.
    pub fn ready(&mut self) -> Option<Arc<str>> {
        if std::mem::take(&mut self.is_new) {
            let boards = self.turn.as_slice();
            self.pictures.forget(boards);
            let boards: Vec<&str> = boards.iter().map(|board| board.name.as_str()).collect();
            let version = env!("CARGO_PKG_VERSION");
            let line = json!({ "event": "wall", "version": version, "boards": boards });
            return Some(line.to_string().into());
        }
        loop {
            let board = self.turn.next()?;
            let state = self.subscription.changed(&board);
            let paired = self.bus.pairings().at(&board.name);
            let told = self.told.get(&board.name);
            if state.is_none() && told.is_some_and(|told| told.paired == paired) {
                continue;
            }
            let state = state.unwrap_or_else(|| board.state());
            let line = self.pictures.line(state, paired.clone());
            if told.is_some_and(|told| told.line == line) {
                continue;
            }
            let told = Told {
                paired,
                line: line.clone(),
            };
            self.told.insert(board.name.clone(), told);
            return Some(line);
        }
    }

    /// Waits until something has happened that may make lines, and a moment longer. Cancel safe.
    pub async fn more(&mut self) {
        tokio::select! {
            () = self.boards.next() => {
                // A board that is back under its name is told anew.
                self.told.clear();
                self.is_new = true;
            }
            () = self.pairings.next() => {}
            _ = self.subscription.next() => {}
        }
        self.turn = self.bus.boards().into_iter();
        sleep(GATHER).await;
    }
}

/// A board in short.
#[derive(Serialize)]
struct Short<'a> {
    event: &'a str,
    board: &'a BoardName,
    link: &'a str,
    fen: String,
    ply: usize,
    last: Option<String>,
    outcome: Option<&'a str>,
    white: Option<&'a str>,
    black: Option<&'a str>,
    clocks: Option<Value>,
}

fn short(state: &Snapshot, paired: Option<&Pairing>) -> Arc<str> {
    let player = |color: Color| {
        paired?
            .players
            .get(color)
            .as_ref()
            .map(|player| &*player.name)
    };
    let short = Short {
        event: "board",
        board: &state.board,
        link: link(&state.link),
        fen: state.game.fen().to_string(),
        ply: state.game.len(),
        last: state.game.last().map(|m| uci(m).to_string()),
        outcome: state.ending.map(|end| end.outcome.as_str()),
        white: player(Color::White),
        black: player(Color::Black),
        clocks: paired.and_then(|paired| paired.clocks.as_ref()).map(clocks),
    };
    // Plain values, which JSON has a form for.
    serde_json::to_string(&short).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use tokio::{
        sync::{broadcast, mpsc},
        time::{Instant, timeout},
    };

    use super::*;
    use crate::{
        bus::{CAPACITY, COMMANDS, Publisher},
        chess::game::Game,
    };

    /// More boards than publications that may wait.
    const BOARDS: usize = 300;

    fn hall() -> Bus {
        let (publications, _) = broadcast::channel(CAPACITY);
        let board = |number: usize| {
            let name: BoardName = format!("table-{number}").parse().unwrap();
            let publisher = Publisher::new(publications.clone(), Snapshot::new(name.clone()));
            let (commands, _) = mpsc::channel(COMMANDS);
            let way = "in a test".into();
            BoardHandle {
                name,
                way,
                commands,
                publisher,
            }
        };
        let boards = (0..BOARDS).map(board).collect();
        Bus::new(publications, boards)
    }

    fn lines(wall: &mut Wall) -> Vec<Value> {
        let lines = std::iter::from_fn(|| wall.ready());
        lines
            .map(|line| serde_json::from_str(&line).unwrap())
            .collect()
    }

    fn play(board: &BoardHandle, plies: usize) {
        let mut game = Game::standard();
        let round = ["g1f3", "g8f6", "f3g1", "f6g8"];
        game.play_uci(round.iter().copied().cycle().take(plies))
            .unwrap();
        let state = Snapshot {
            game: Arc::new(game),
            ..(*board.state()).clone()
        };
        board.publisher.publish([], Some(state));
    }

    #[tokio::test(start_paused = true)]
    async fn only_boards_that_changed_are_told_and_a_long_game_costs_no_more_than_a_short_one() {
        let bus = hall();
        let mut wall = Wall::of(bus.clone(), Pictures::default());
        assert_eq!(lines(&mut wall).len(), 1 + BOARDS);
        let board = bus.board("table-7").unwrap();
        let mut sizes = Vec::new();
        for plies in [2, 402] {
            play(&board, plies);
            wall.more().await;
            let told = lines(&mut wall);
            assert_eq!(told.len(), 1);
            assert_eq!(
                (&told[0]["board"], &told[0]["ply"]),
                (&"table-7".into(), &plies.into())
            );
            sizes.push(told[0].to_string().len());
        }
        assert!(sizes[1] <= sizes[0] + 8, "{sizes:?}");
        // What a small picture does not show is not told.
        board.publisher.publish([], None);
        wall.more().await;
        assert!(lines(&mut wall).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_is_made_once_for_all_watchers() {
        let (bus, pictures) = (hall(), Pictures::default());
        let mut walls = [0, 1].map(|_| Wall::of(bus.clone(), pictures.clone()));
        for wall in &mut walls {
            lines(wall);
        }
        play(&bus.board("table-7").unwrap(), 2);
        let mut told = Vec::new();
        for wall in &mut walls {
            wall.more().await;
            told.extend(std::iter::from_fn(|| wall.ready()));
        }
        assert_eq!(told.len(), 2);
        assert!(Arc::ptr_eq(&told[0], &told[1]));
        // A board that is gone leaves nothing behind.
        bus.set_boards(bus.boards().drain(..1).collect());
        walls[0].more().await;
        lines(&mut walls[0]);
        assert_eq!(pictures.0.lock().unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn moves_on_all_boards_at_once_are_all_told_though_the_bus_holds_fewer() {
        let bus = hall();
        let mut wall = Wall::of(bus.clone(), Pictures::default());
        lines(&mut wall);
        for second in 1..=20 {
            for board in bus.boards() {
                play(&board, second);
            }
            wall.more().await;
            let told = lines(&mut wall);
            assert_eq!(told.len(), BOARDS);
            assert!(told.iter().all(|line| line["ply"] == second));
        }
        // What was told is not told again, however many publications are left in the bus.
        let begun = Instant::now();
        while timeout(GATHER * 20, wall.more()).await.is_ok() {
            assert!(lines(&mut wall).is_empty());
            assert!(begun.elapsed() < GATHER * 40);
        }
    }
}
