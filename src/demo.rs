//! `boardbridge demo`: the daemon on simulated boards, whose hands move by themselves when a GUI waits for them.

use std::{
    fmt::Write as _,
    fs::{DirBuilder, remove_dir},
    io::{self, Write as _},
    os::unix::{fs::DirBuilderExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use simulators::{
    HandAction, Report,
    bluez::{self, bus_address},
    game::Game,
    neo::{self, Hand, Neo},
    port::{Happened, Port},
    radio::Radio,
    run::{Kind, Settings, board},
};
use thiserror::Error;
use tokio::{sync::mpsc, time::sleep};
use tracing::{debug, warn};

use crate::{
    bus::Feed,
    config::{Config, ConfigError},
    daemon::{Daemon, Service, StartError, stop_signal},
    state::settings::Directory,
    vocabulary::Advice,
};

/// How long a simulated hand takes for a move.
pub const HAND_DELAY: Duration = Duration::from_millis(600);
/// How long a person waits to see whether the Neo is satisfied.
const NEO_PATIENCE: Duration = Duration::from_secs(3);
/// Orders that may wait for a hand.
const MAX_ORDERS: usize = 16;

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
    let directory = std::env::temp_dir().join(name);
    if let Err(error) = DirBuilder::new().mode(0o700).create(&directory) {
        return error;
    }
    let program = match std::env::current_exe() {
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
    text.push_str("[[whitepawn]]\nboard = \"citrine\"\ntcp = { listen = \"127.0.0.1:0\" }\n");
    let mut config = Config::from_text(&text, "the demonstration's own configuration")?;
    config.state.directory = Some(Directory::Off);
    let daemon = Daemon::start(&config).await?;
    for (name, port) in boards {
        let (orders, hand) = mpsc::channel(MAX_ORDERS);
        tokio::spawn(simulate(name, port, hand));
        if let Some(board) = daemon.bus().board(name) {
            tokio::spawn(hand_that_waits(board.feed(), orders));
        }
    }
    let neo = radio.as_ref().and_then(Radio::board);
    if let (Some(neo), Some(board)) = (neo, daemon.bus().board("neo")) {
        tokio::spawn(person_at_the_neo(board.feed(), neo));
    }
    // Its output may not be read.
    let _ = write!(io::stdout(), "{}", welcome(&daemon, missing.as_deref()));
    stop_signal().await?;
    daemon.stop().await;
    drop(radio);
    if let Some(directory) = bus {
        // It is empty now.
        let _ = remove_dir(directory);
    }
    Ok(())
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

/// Does what a person would who reads what the Neo waits for.
async fn person_at_the_neo(mut feed: Feed, neo: bluez::hosted::Hosted<Neo>) {
    let mut state = feed.latest().await;
    loop {
        let order = match &state.advice {
            Advice::YourMove(_) if state.awaiting => Some(Hand::from(HandAction::Random)),
            Advice::NewGame => Some(Hand::from(HandAction::NewGame)),
            Advice::SetUp(_) | Advice::Misplaced(_) => {
                let target = state.target.as_deref();
                target.map(|game| Hand::SetUp(Box::new(Game::of(game.start(), game.moves()))))
            }
            _ => None,
        };
        if let Some(order) = order {
            sleep(HAND_DELAY).await;
            neo.with(|neo| {
                while let Some(report) = neo.poll_report() {
                    debug!(board = "neo", "the simulated board: {report}");
                }
                if neo.is_settled() || !matches!(order, Hand::Board(HandAction::Random)) {
                    neo.hand(Instant::now(), order);
                }
            });
            // Not done yet, or not enough: look again.
            tokio::select! {
                latest = feed.latest() => state = latest,
                () = sleep(NEO_PATIENCE) => {}
            }
        } else {
            state = feed.latest().await;
        }
    }
}

fn welcome(daemon: &Daemon, no_neo: Option<&str>) -> String {
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
        std::env::current_exe().map_or("boardbridge".to_owned(), |path| path.display().to_string());
    let boards = match no_neo {
        None => "three simulated boards: citrine, ucb and neo".to_owned(),
        Some(why) => format!("two simulated boards, citrine and ucb (no neo: {why})"),
    };
    format!(
        "BoardBridge runs on {boards}. Their hands move when your chess program waits for a move.\n\
         \n\
         A program that starts engines (Arena, cutechess, Scid, Banksia, En Croissant):\n    \
             {program} uci --connect {uci} --board citrine\n\
         A program that connects by network (DroidFish): {uci}\n\
         The WhitePawn app, simulated: {program} simulate whitepawn-app --connect {app} --seed 1 --plays black\n\
         Watch the boards: http://{web} in a browser, or {program} watch --connect {status}\n\
         Stop with Ctrl-C.\n"
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

/// Makes a move whenever it is the player's turn, like a person who reads what the board waits for.
async fn hand_that_waits(mut feed: Feed, orders: mpsc::Sender<HandAction>) {
    let mut state = feed.latest().await;
    loop {
        // Only the last shown move is followed by the hand's own.
        let last = state.target.as_ref().and_then(|target| target.last());
        let mine = match state.advice {
            Advice::YourMove(_) => true,
            Advice::Make(m) => Some(m) == last,
            _ => false,
        };
        let awaited = mine && state.awaiting;
        if awaited {
            sleep(HAND_DELAY).await;
            // The simulated hand executes a shown move by itself, and refuses another until then.
            if orders.send(HandAction::Random).await.is_err() {
                return;
            }
        }
        if awaited {
            // Not moved yet (a shown move came between): look again.
            tokio::select! {
                latest = feed.latest() => state = latest,
                () = sleep(HAND_DELAY) => {}
            }
        } else {
            state = feed.latest().await;
        }
    }
}
