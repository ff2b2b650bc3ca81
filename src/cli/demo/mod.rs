//! `boardbridge demo`: the daemon on simulated boards, whose hands move by themselves.
//!
//! Two of the boards are linked and play famous games, which are shown in the terminal. The third plays against Stockfish, where
//! that is installed. A board gives way to any program that wants it.

pub mod famous;
pub mod hand;
mod ports;
pub mod show;

use std::{
    env,
    fmt::Write as _,
    fs::{DirBuilder, remove_dir},
    io::{self, IsTerminal as _, Write as _},
    os::unix::{
        fs::{DirBuilderExt, PermissionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use simulators::{
    HandAction, Report,
    bluez::bus_address,
    neo::{self, Neo},
    port::{Happened, Port},
    radio::Radio,
    run::{Kind, Settings, board},
};
use thiserror::Error;
use tokio::{sync::mpsc, time::sleep};
use tracing::{debug, warn};

use crate::{
    bus::{BoardHandle, Bus},
    config::{Config, ConfigError},
    daemon::{Daemon, Service, StartError, stop_signal},
    state::settings::Directory,
    system::apart,
    vocabulary::{BoardName, Command as Order},
};
use famous::Programme;
use hand::{HAND_DELAY, Player, is_ours};
use show::Show;

/// Orders that may wait for a hand.
const MAX_ORDERS: usize = 16;
/// How often a board is left to a program that waits for it: once is enough, unless the link states its game meanwhile.
const GIVES_WAY: Duration = Duration::from_millis(250);
/// The linked boards: White's and Black's.
const LINKED: [&str; 2] = ["citrine", "ucb"];
/// Where Debian has games, which is not on every `PATH`.
const GAMES: &str = "/usr/games";

/// Why the demonstration cannot run.
#[derive(Debug, Error)]
pub enum DemoError {
    /// A pseudo-terminal or a signal handler cannot be opened.
    #[error("the simulated boards need pseudo-terminals: {0}")]
    Io(#[from] io::Error),
    /// An override in the environment is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A port cannot be opened.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// Restarts the program with a simulated Bluetooth: a process chooses its Bluetooth when it starts. Returns only if
/// that fails, with the reason.
pub fn restart_with_bluetooth(seed: u64) -> io::Error {
    let name = format!("boardbridge-demo-{}", std::process::id());
    let directory = env::temp_dir().join(name);
    if let Err(error) = DirBuilder::new().mode(0o700).create(&directory) {
        return error;
    }
    let program = match env::current_exe() {
        Ok(program) => program,
        Err(error) => return error,
    };
    let error = Command::new(program)
        .args(["demo", "--seed", &seed.to_string(), "--bus"])
        .arg(&directory)
        .env("DBUS_SYSTEM_BUS_ADDRESS", bus_address(&directory.join(BUS)))
        .exec();
    // It is empty, and stays if it cannot be removed.
    let _ = remove_dir(&directory);
    error
}

/// The name of the socket in the directory of the simulated Bluetooth.
const BUS: &str = "bus";

/// Runs until it is stopped. `seed` chooses the hands' moves, `bus` is the directory of the simulated Bluetooth,
/// `why_no_neo` says why there is none.
///
/// # Errors
/// [`DemoError`], with a message for the player.
pub async fn run(
    seed: u64,
    bus: Option<&Path>,
    why_no_neo: Option<io::Error>,
) -> Result<(), DemoError> {
    let mut missing = why_no_neo.map(|error| error.to_string());
    let mut radio = None;
    if let Some(directory) = bus {
        match Radio::on_bus(Neo::new(neo_settings(seed)), Some(&directory.join(BUS))) {
            Ok(on_bus) => radio = Some(on_bus),
            Err(error) => missing = Some(error.to_string()),
        }
    }
    let mut boards = Vec::new();
    let mut text = String::from("# the demonstration\n");
    for (name, kind, keys) in [
        (
            "citrine",
            Kind::NovagCitrine,
            "kind = \"novag-citrine\"\nmove_wait = \"1s\"\nsetup_wait = \"2s\"",
        ),
        (
            "ucb",
            Kind::NovagUcb,
            "kind = \"novag-ucb\"\nmove_wait = \"2s\"\nsetup_wait = \"3s\"",
        ),
    ] {
        let settings = Settings {
            hand_delay: Some(HAND_DELAY),
            seed,
            ..Settings::of(kind)
        };
        let Some(board) = board(&settings) else {
            continue;
        };
        let port = Port::new(board, None)?;
        let device = PathBuf::from(port.name().unwrap_or_default());
        let _ = write!(
            text,
            "[boards.{name}]\n{keys}\nserial = {{ port = {:?} }}\n",
            device.display().to_string()
        );
        boards.push((name, port));
    }
    if radio.is_some() {
        text.push_str("[boards.neo]\nkind = \"miko-neo\"\nble = { name = \"Square Off Neo\" }\n");
    }
    text.push_str(
        "[[whitepawn]]\nboard = \"citrine\"\ntcp = { listen = \"127.0.0.1:0\" }\n\
         [[link]]\nboards = [\"citrine\", \"ucb\"]\n",
    );
    let engine = stockfish().filter(|_| radio.is_some());
    if let Some(engine) = &engine {
        let _ = write!(
            text,
            "[[opponent]]\nboard = \"neo\"\nengine = {:?}\noptions = {{ UCI_LimitStrength = true, UCI_Elo = 1500 }}\n\
             go = \"movetime 300\"\n",
            engine.display().to_string()
        );
    }
    let mut config = Config::from_text(&text, "the demonstration's own configuration")?;
    config.state.directory = Some(Directory::Off);
    let taken = ports::avoid_taken(&mut config);
    let daemon = Daemon::start(&config).await?;
    let programme = Arc::new(Programme::new(seed));
    for (name, port) in boards {
        let (orders, hand) = mpsc::channel(MAX_ORDERS);
        tokio::spawn(simulate(name, port, hand));
        if let Some(board) = daemon.bus().board(name) {
            let player = Player {
                board,
                programme: Some(programme.clone()),
                begins: name == LINKED[0],
            };
            tokio::spawn(player.play(orders));
        }
    }
    let neo = radio.as_ref().and_then(Radio::board);
    if let (Some(neo), Some(board)) = (neo, daemon.bus().board("neo")) {
        let player = Player {
            board,
            programme: None,
            begins: engine.is_some(),
        };
        tokio::spawn(player.play_neo(neo));
    }
    for board in daemon.bus().boards() {
        tokio::spawn(gives_way(board));
    }
    let welcome = welcome(&daemon, &taken, missing.as_deref(), engine.is_some());
    let boards = daemon.bus().clone();
    tokio::spawn(show(welcome, boards, programme, engine.is_some()));
    stop_signal().await?;
    daemon.stop().await;
    drop(radio);
    if let Some(directory) = bus {
        // It is empty now.
        let _ = remove_dir(directory);
    }
    Ok(())
}

/// Stockfish, where it is installed.
fn stockfish() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let runs = |file: &PathBuf| {
        let found = file.metadata();
        file.is_absolute()
            && found.is_ok_and(|f| f.is_file() && f.permissions().mode() & 0o111 != 0)
    };
    let folders = env::split_paths(&path).chain([PathBuf::from(GAMES)]);
    folders.map(|folder| folder.join("stockfish")).find(runs)
}

/// Whether the terminal can show one picture over the other.
pub fn draws() -> bool {
    io::stdout().is_terminal() && env::var_os("TERM").is_some_and(|term| term != "dumb")
}

/// Makes the link and the engine give way to any program that waits for their board.
async fn gives_way(board: BoardHandle) {
    let mut feed = board.feed();
    loop {
        let state = board.state();
        let ours = state.holders.iter().all(is_ours);
        if !ours || state.waiting.iter().all(is_ours) {
            feed.latest().await;
            continue;
        }
        for place in state.places.iter().filter(|place| place.joined) {
            let client = place.client;
            if board.commands.send(Order::Yield { client }).await.is_err() {
                return;
            }
        }
        // When the link states its game again, it gives way no longer: the program may not have the board by then.
        sleep(GIVES_WAY).await;
    }
}

/// Writes what happens, until the output is closed. An output that is not read stops only this.
async fn show(welcome: String, bus: Bus, programme: Arc<Programme>, engine: bool) {
    let mut text = welcome;
    let [Ok(white), Ok(black)] = LINKED.map(str::parse::<BoardName>) else {
        return;
    };
    let mut show = Show::new([white, black], engine, draws());
    let mut news = bus.subscribe();
    loop {
        let write = move || {
            let mut output = io::stdout().lock();
            output.write_all(text.as_bytes())?;
            output.flush()
        };
        if !matches!(apart::run("output", write).await, Ok(Ok(()))) {
            return;
        }
        text = loop {
            let states: Vec<_> = bus.boards().iter().map(BoardHandle::state).collect();
            let text = show.look(&states, |game| programme.title(game));
            if !text.is_empty() {
                break text;
            }
            news.next().await;
        };
    }
}

/// A Neo three times as fast as a real one, to keep the demonstration short.
fn neo_settings(seed: u64) -> neo::Settings {
    neo::Settings {
        suffix: "1A2".to_owned(),
        speed: 3.0,
        hand_delay: Some(HAND_DELAY),
        seed,
        ..neo::Settings::default()
    }
}

fn welcome(daemon: &Daemon, taken: &[&str], no_neo: Option<&str>, stockfish: bool) -> String {
    let port = |is_it: fn(&Service) -> bool| {
        let mut ports = daemon.ports().into_iter();
        let found = ports.find(|(service, _)| is_it(service));
        found.map_or("(off)".to_owned(), |(_, address)| address.to_string())
    };
    let uci = port(|service| matches!(service, Service::Uci));
    let status = port(|service| matches!(service, Service::Status));
    let app = port(|service| matches!(service, Service::WhitePawn(_)));
    let web = port(|service| matches!(service, Service::Web));
    let program =
        env::current_exe().map_or("boardbridge".to_owned(), |path| path.display().to_string());
    let (boards, third) = match no_neo {
        None => (
            "three simulated boards: citrine, ucb and neo".to_owned(),
            "neo",
        ),
        Some(why) => (
            format!("two simulated boards, citrine and ucb (no neo: {why})"),
            LINKED[0],
        ),
    };
    let third_plays = match (no_neo, stockfish) {
        (None, true) => " neo plays against Stockfish.",
        (None, false) => " neo waits for your chess program.",
        (Some(_), _) => "",
    };
    let taken = if taken.is_empty() {
        String::new()
    } else {
        format!(
            "In use, perhaps by another BoardBridge: {}. The demonstration took other ports, shown below.\n",
            taken.join(", ")
        )
    };
    format!(
        "BoardBridge runs on {boards}. Their hands move by themselves.\n\
         citrine and ucb play each other.{third_plays} Nothing is kept. Stop with Ctrl-C.\n\
         {taken}\
         \n\
         Watch the boards: http://{web} in a browser, or {program} watch --connect {status}\n\
         Play on any of them, and the hand answers:\n\
         A program that starts engines (Arena, cutechess, Scid, Banksia, En Croissant):\n    \
             {program} uci --connect {uci} --board {third}\n\
         A program that connects by network (DroidFish): {uci}\n\
         The WhitePawn app, simulated: {program} simulate whitepawn-app --connect {app} --seed 1 --plays black\n\
         \n"
    )
}

async fn simulate(name: &'static str, mut port: Port, mut hand: mpsc::Receiver<HandAction>) {
    loop {
        match port.next(&mut hand).await {
            Ok(Happened::Seen(report @ (Report::Lost(_) | Report::Fault(_)))) => {
                warn!(board = name, "the simulated board: {report}");
            }
            Ok(Happened::Seen(report)) => debug!(board = name, "the simulated board: {report}"),
            Ok(Happened::HandGone) => return,
            Err(error) => {
                warn!(board = name, %error, "the simulated board failed");
                return;
            }
        }
    }
}
