//! Games survive a daemon that is killed: on every kind of board no move is lost, none is made twice, and the player is
//! told nothing that is over.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use boardbridge::{chess::game::Game, vocabulary::GameEnd};
use shakmaty::{Position, Role};
use simulators::{
    HandAction,
    bluez::{ADAPTER, Bluez, address::Address, hosted::Hosted},
    neo::{Neo, Settings},
    run::Kind,
};

use crate::support::{
    FAST_CITRINE, FAST_UCB, Gui, Hand, House,
    kept::read,
    process::{PATIENCE, Process, Watch},
};

/// The hand's moves, each with the program's reply.
const GAME: [[&str; 2]; 6] = [
    ["e2e4", "e7e5"],
    ["g1f3", "b8c6"],
    ["f1c4", "g8f6"],
    ["d2d3", "f8c5"],
    ["e1g1", "d7d6"],
    ["h2h3", "e8g8"],
];
/// What the board's reports are called.
const TOLD_AGAIN: [&str; 5] = ["new-game", "set-up", "take-back", "fault", "ended"];
const DIY: &str = "kind = \"swpp\"\nmove_wait = \"50ms\"\n";
const NEO: &str = "kind = \"miko-neo\"\nsettle = \"100ms\"\ncorrection_wait = \"150ms\"\n";

/// A daemon that keeps its state, its GUI, and a watcher.
struct Table {
    process: Process,
    gui: Gui,
    watch: Watch,
}

impl Table {
    async fn new(mut process: Process) -> Self {
        Self {
            gui: process.gui().await,
            watch: process.watch().await,
            process,
        }
    }

    /// The daemon is killed and started again; the GUI comes back.
    async fn killed(&mut self, between: impl FnOnce(&Path)) {
        self.ends("KILL", between).await;
    }

    async fn ends(&mut self, signal: &str, between: impl FnOnce(&Path)) {
        self.process.again(signal, between);
        self.gui = self.process.gui().await;
        self.watch = self.process.watch().await;
    }

    /// The moves of a game after `before`, the daemon ended at another moment in each round: killed, later stopped.
    async fn plays(&mut self, before: &str, player: &mut impl Player) {
        let mut moves = before.to_owned();
        for (round, [mine, reply]) in GAME.into_iter().enumerate() {
            let plies = moves.split_whitespace().count();
            let signal = if round < 3 { "KILL" } else { "TERM" };
            self.gui.asks(&moves).await;
            self.watch.asks_at(plies).await;
            player.follows(&moves).await;
            if round % 3 == 0 {
                self.ends(signal, |_| {}).await;
                self.gui.asks(&moves).await;
                self.watch.asks_at(plies).await;
            }
            player.plays(mine).await;
            if round % 3 == 1 {
                // The answer is lost with the connection.
                self.watch.knows(plies + 1).await;
                self.ends(signal, |_| {}).await;
                self.gui.asks(&moves).await;
            }
            let answer = self.gui.hears("bestmove").await;
            assert_eq!(answer, format!("bestmove {mine}"));
            moves = format!("{moves} {mine} {reply}").trim().to_owned();
            if round % 3 == 2 {
                self.ends(signal, |_| {}).await;
            }
        }
        let plies = moves.split_whitespace().count();
        self.gui.asks(&moves).await;
        self.watch.asks_at(plies).await;
        player.follows(&moves).await;
        // All of it is one game, in one file.
        let kept = self.process.kept().await;
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert_eq!(kept[0].moves(), moves);
    }
}

/// A player at a board.
trait Player {
    /// Waits until the player has made the last of these moves.
    async fn follows(&mut self, moves: &str);
    /// Makes this move.
    async fn plays(&mut self, m: &str);
}

/// A player who reports what happens on the board.
struct Reporting {
    hand: Hand,
    seen: Vec<String>,
    /// On the board, by what was seen.
    game: Game,
}

fn after(moves: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
}

impl Reporting {
    fn at(hand: Hand) -> Self {
        Self {
            hand,
            seen: Vec::new(),
            game: Game::standard(),
        }
    }

    fn seen(mut self) -> Vec<String> {
        self.seen.extend(self.hand.seen());
        self.seen
    }
}

impl Player for Reporting {
    async fn follows(&mut self, moves: &str) {
        let wanted = after(moves).position().board().clone();
        while *self.game.position().board() != wanted {
            let said = self.hand.sees_next().await;
            // Shown if the next one does not come.
            println!("on the board: {said}");
            match said.split_once(' ') {
                Some(("made" | "executed", m)) => self.game.play_uci([m]).unwrap(),
                Some(("set-up", fen)) => self.game = Game::from_fen(fen).unwrap(),
                _ => {}
            }
            self.seen.push(said);
        }
    }

    async fn plays(&mut self, m: &str) {
        self.hand.does(m).await;
    }
}

impl Player for &Hosted<Neo> {
    async fn follows(&mut self, moves: &str) {
        let pieces = after(moves).position().board().clone();
        let end = Instant::now() + PATIENCE;
        while !self.with(|neo| !neo.is_driving() && *neo.table().board() == pieces) {
            assert!(Instant::now() < end, "the pieces do not stand so: {moves}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn plays(&mut self, m: &str) {
        let action = HandAction::Move(m.parse().unwrap());
        self.with(|neo| neo.hand(Instant::now(), action));
    }
}

/// Each of the hand's moves was made once, and each of the program's executed once.
fn once(seen: &[String]) {
    for [mine, reply] in GAME {
        for (word, m) in [("made", mine), ("executed", reply)] {
            let wanted = format!("{word} {m}");
            let times = seen.iter().filter(|said| **said == wanted).count();
            assert_eq!(times, 1, "{wanted}: {seen:?}");
        }
    }
}

fn told_again(seen: &[String]) -> Vec<&String> {
    let again = |said: &&String| TOLD_AGAIN.iter().any(|word| said.starts_with(word));
    seen.iter().filter(again).collect()
}

#[tokio::test]
async fn a_game_goes_on_through_kills_on_a_citrine() {
    let (folder, bluez) = (House::folder(), Bluez::start().unwrap());
    let port = folder.path().join("citrine");
    let mut hand = Reporting::at(Hand::new(Kind::NovagCitrine, port.clone(), true));
    let keys = format!("[boards.citrine]\n{FAST_CITRINE}serial = {{ port = {port:?} }}\n");
    let mut table = Table::new(Process::keeping(&bluez, &keys)).await;
    table.plays("", &mut hand).await;
    let seen = hand.seen();
    once(&seen);
    assert!(told_again(&seen).len() <= 1, "{seen:?}");
}

#[tokio::test]
async fn a_game_goes_on_through_kills_on_a_ucb() {
    let (folder, bluez) = (House::folder(), Bluez::start().unwrap());
    let port = folder.path().join("ucb");
    let mut hand = Reporting::at(Hand::new(Kind::NovagUcb, port.clone(), true));
    let keys = format!("[boards.ucb]\n{FAST_UCB}serial = {{ port = {port:?} }}\n");
    let mut table = Table::new(Process::keeping(&bluez, &keys)).await;
    // It cannot be asked, and is given its position after each start; no piece has to be moved for that.
    table.plays("", &mut hand).await;
    let seen = hand.seen();
    let made = seen.iter().filter(|said| said.starts_with("made")).count();
    assert_eq!(made, GAME.len(), "{seen:?}");
}

#[tokio::test]
async fn a_game_goes_on_through_kills_on_a_home_made_board_which_is_not_rebuilt() {
    let (folder, bluez) = (House::folder(), Bluez::start().unwrap());
    for wire in [true, false] {
        let (hand, at) = if wire {
            let port = folder.path().join("diy");
            let at = format!("serial = {{ port = {port:?} }}");
            (Hand::new(Kind::SwppBoard, port, true), at)
        } else {
            let (hand, address) = Hand::listening(Kind::SwppBoard, true);
            (hand, format!("tcp = {{ address = \"{address}\" }}"))
        };
        let mut hand = Reporting::at(hand);
        let keys = format!("[boards.diy]\n{DIY}{at}\n");
        let mut table = Table::new(Process::keeping(&bluez, &keys)).await;
        table.gui.says("ucinewgame").await;
        // A game that is resumed: each of its moves is shown once.
        let before = "a2a3 a7a6 b2b3 b7b6 a3a4 a6a5 b3b4 b6b5";
        table.plays(before, &mut hand).await;
        let mut seen = hand.seen();
        // The last move, shown again, may cross the hand's next one on the wire; the board ignores it then.
        seen.retain(|said| !said.starts_with("fault illegal: `MA "));
        once(&seen);
        assert_eq!(told_again(&seen).len(), 1, "{seen:?}");
        // Of what was shown, the last move may be shown again after each kill.
        let shown = seen.iter().filter(|said| said.starts_with("shown")).count();
        assert!(shown <= 8 + GAME.len() + GAME.len(), "{seen:?}");
        let first = seen.iter().filter(|said| *said == "shown a2a3").count();
        assert_eq!(first, 1, "{seen:?}");
    }
}

#[tokio::test]
async fn a_game_goes_on_through_kills_on_a_neo() {
    let bluez = Bluez::start().unwrap();
    let neo = Neo::new(Settings {
        suffix: "001".to_owned(),
        speed: crate::support::SPEED,
        hand_delay: Some(Duration::from_millis(20)),
        strict: false,
        ..Settings::default()
    });
    let board = bluez
        .host(ADAPTER, Address([2, 0xBB, 0, 0, 0, 1]), neo)
        .unwrap();
    let keys = format!("[boards.neo]\n{NEO}ble = {{ name = \"Square Off Neo\" }}\n");
    let mut table = Table::new(Process::keeping(&bluez, &keys)).await;
    table.plays("", &mut &board).await;
}

#[tokio::test]
async fn a_damaged_file_costs_a_warning_and_the_game_goes_on_all_the_same() {
    let (folder, bluez) = (House::folder(), Bluez::start().unwrap());
    let port = folder.path().join("citrine");
    let mut hand = Reporting::at(Hand::new(Kind::NovagCitrine, port.clone(), true));
    let keys = format!("[boards.citrine]\n{FAST_CITRINE}serial = {{ port = {port:?} }}\n");
    let mut table = Table::new(Process::keeping(&bluez, &keys)).await;
    table.gui.asks("").await;
    table.watch.asks_at(0).await;
    hand.plays("e2e4").await;
    table.gui.hears("bestmove e2e4").await;
    table
        .killed(|folder| {
            for file in ["boardbridge.db", "boardbridge.db-wal"] {
                fs::write(folder.join("state").join(file), vec![0x5a; 20_000]).unwrap();
            }
        })
        .await;
    let log = table.process.log().join("\n");
    assert!(log.contains("damaged"), "{log}");
    // The board itself has the game.
    table.gui.asks("e2e4 e7e5").await;
    table.watch.asks_at(2).await;
    hand.follows("e2e4 e7e5").await;
    hand.plays("g1f3").await;
    table.gui.hears("bestmove g1f3").await;
}

#[tokio::test]
async fn a_full_disk_costs_a_warning_and_no_move() {
    let (folder, bluez) = (House::folder(), Bluez::start().unwrap());
    let port = folder.path().join("citrine");
    let mut hand = Reporting::at(Hand::new(Kind::NovagCitrine, port.clone(), true));
    let keys = format!("[boards.citrine]\n{FAST_CITRINE}serial = {{ port = {port:?} }}\n");
    let process = Process::keeping_little(&bluez, &keys, 30);
    let mut table = Table::new(process).await;
    let mut moves = String::new();
    for [mine, reply] in GAME {
        table.gui.asks(&moves).await;
        table.watch.asks_at(moves.split_whitespace().count()).await;
        hand.follows(&moves).await;
        hand.plays(mine).await;
        table.gui.hears(&format!("bestmove {mine}")).await;
        moves = format!("{moves} {mine} {reply}").trim().to_owned();
    }
    table.process.logs("may not survive a restart").await;
    table.killed(|_| {}).await;
    table.gui.asks(&moves).await;
    table.watch.asks_at(12).await;
    hand.follows(&moves).await;
    once(&hand.seen());
}

/// What programs want of the board then waits; what the hand does never.
#[tokio::test]
async fn a_program_that_floods_the_disk_loses_no_move_of_the_hand() {
    let bluez = Bluez::start().unwrap();
    let (mut hand, address) = Hand::listening(Kind::SwppBoard, true);
    let keys = format!("[boards.diy]\n{DIY}tcp = {{ address = \"{address}\" }}\n");
    let mut table = Table::new(Process::keeping(&bluez, &keys)).await;
    let moves = ["g1f3", "g8f6", "f3g1", "f6g8"].into_iter().cycle();
    let moves: Vec<&str> = moves.take(401).collect();
    let games = [400, 401].map(|plies| moves[..plies].join(" "));
    let flood = async {
        // One after the other: what comes together is one change.
        for game in games.iter().cycle() {
            let text = format!("ucinewgame\nposition startpos moves {game}\ngo\nstop\nisready");
            table.gui.says(&text).await;
            while table.gui.hears("readyok").await != "readyok" {}
        }
    };
    tokio::select! {
        () = flood => {}
        _ = table.process.logs("changes faster than any game") => {}
    }
    // A change writes one page, so that it takes long until they are too many: a watcher that does not read is dropped before.
    table.watch = table.process.watch().await;
    table.gui.says("ucinewgame\nposition startpos\ngo").await;
    table.watch.asks_at(0).await;
    hand.does("e2e4").await;
    hand.sees("made e2e4").await;
    while table.gui.hears("bestmove").await != "bestmove e2e4" {}
    table.killed(|_| {}).await;
    table.watch.knows(1).await;
    table.gui.asks("").await;
    assert_eq!(table.gui.hears("bestmove").await, "bestmove e2e4");
}

/// What stands in the database's log: which log it is, its commits, and its bytes.
fn logged(folder: &Path) -> (Vec<u8>, usize, usize) {
    let log = fs::read(folder.join("state/boardbridge.db-wal")).unwrap();
    let word = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap()) as usize;
    let (salts, frame) = (&log[16..24], 24 + word(8));
    let starts = (32..).step_by(frame);
    let frames = starts.take_while(|at| log.get(at + 8..at + 16) == Some(salts));
    let commits: Vec<bool> = frames.map(|at| word(at + 4) > 0).collect();
    let count = commits.iter().filter(|is| **is).count();
    (salts.to_vec(), count, commits.len() * frame)
}

/// A game of so many plies that no rule ends.
fn long_game(plies: usize) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(1);
    loop {
        let mut game = Game::standard();
        while game.len() < plies && GameEnd::by_rules(&game).is_none() {
            let mut legal = game.position().legal_moves();
            legal.retain(|m| m.promotion().is_none_or(|role| role == Role::Queen));
            let Some(&m) = random.choice(legal.iter()) else {
                break;
            };
            game.push(m);
        }
        if game.len() == plies {
            return game.uci_moves().map(|m| m.to_string()).collect();
        }
    }
}

/// Pairs of plies that are counted.
const COUNTED: usize = 4;
/// Commits for a ply at most, on average.
const MAX_COMMITS: usize = 3;
/// Bytes in the log for a commit at most: a page, with little around it.
const MAX_BYTES: usize = 2500;

#[tokio::test]
async fn a_ply_costs_the_same_however_long_the_game_is() {
    let (folder, bluez) = (House::folder(), Bluez::start().unwrap());
    let port = folder.path().join("ucb");
    let mut hand = Reporting::at(Hand::new(Kind::NovagUcb, port.clone(), true));
    let keys = format!("[boards.ucb]\n{FAST_UCB}serial = {{ port = {port:?} }}\n");
    let mut table = Table::new(Process::keeping(&bluez, &keys)).await;
    let moves = long_game(420);
    for from in [0, 50, 200, 400] {
        let mut game = moves[..from].join(" ");
        table.gui.says("ucinewgame").await;
        table.gui.asks(&game).await;
        table.watch.asks_at(from).await;
        hand.follows(&game).await;
        let before = logged(table.process.folder());
        for plies in (from..).step_by(2).take(COUNTED) {
            hand.plays(&moves[plies]).await;
            table.gui.hears(&format!("bestmove {}", moves[plies])).await;
            game = moves[..plies + 2].join(" ");
            table.gui.asks(&game).await;
            table.watch.asks_at(plies + 2).await;
            hand.follows(&game).await;
        }
        let after = logged(table.process.folder());
        assert_eq!(before.0, after.0, "the log was moved");
        let (commits, bytes) = (after.1 - before.1, after.2 - before.2);
        println!(
            "from {from}: {commits} commits, {bytes} bytes for {} plies",
            2 * COUNTED
        );
        assert!(commits <= 2 * COUNTED * MAX_COMMITS, "{commits}");
        assert!(bytes <= commits * MAX_BYTES, "{bytes}");
    }
}

#[tokio::test]
async fn a_game_that_was_killed_is_in_its_file_at_the_next_start_without_its_board() {
    let (folder, bluez) = (House::folder(), Bluez::start().unwrap());
    let port = folder.path().join("citrine");
    let mut hand = Reporting::at(Hand::new(Kind::NovagCitrine, port.clone(), true));
    let keys = format!("[boards.citrine]\n{FAST_CITRINE}serial = {{ port = {port:?} }}\n");
    let mut table = Table::new(Process::keeping(&bluez, &keys)).await;
    let mut moves = String::new();
    for [mine, reply] in GAME {
        table.gui.asks(&moves).await;
        hand.follows(&moves).await;
        table.watch.asks_at(moves.split_whitespace().count()).await;
        hand.plays(mine).await;
        table.gui.hears(&format!("bestmove {mine}")).await;
        moves = format!("{moves} {mine} {reply}").trim().to_owned();
    }
    let played = moves.rsplit_once(' ').unwrap().0;
    let games = table.process.folder().join("games");
    // Not the temporary file of one that is being written.
    let written = |games: &Path| -> Vec<String> {
        let files = fs::read_dir(games)
            .unwrap()
            .map(|file| file.unwrap().path());
        let files = files.filter(|file| file.extension().is_some_and(|is| is == "pgn"));
        let text = |file| fs::read_to_string(file).unwrap();
        files.map(|file| read(&text(file)).moves()).collect()
    };
    let before = written(&games);
    assert!(
        before.len() == 1 && before[0].len() < played.len(),
        "{before:?}"
    );
    drop(hand);
    table
        .process
        .again("KILL", |_| fs::remove_file(&port).unwrap_or_default());
    let end = Instant::now() + PATIENCE;
    while written(&games) != [played] {
        assert!(Instant::now() < end, "{:?}", written(&games));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
