//! `boardbridge demo`: the daemon on simulated boards, whose hands move by themselves when a GUI waits for them.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use thiserror::Error;
use tokio::{
    sync::{mpsc, watch},
    time::sleep,
};
use tracing::{debug, warn};

use crate::{
    board::{advice::Advice, snapshot::Snapshot},
    config::{Config, ConfigError},
    daemon::{Daemon, StartError, stop_signal},
    simulate::{
        HandAction, Report,
        port::{Happened, Port},
        run::{Kind, Settings, board},
    },
};

/// How long a simulated hand takes for a move.
pub const HAND_DELAY: Duration = Duration::from_millis(600);
/// Orders that may wait for a hand.
const MAX_ORDERS: usize = 16;

/// Why the demonstration cannot run.
#[derive(Debug, Error)]
pub enum DemoError {
    /// A pseudo-terminal or a signal handler is not to be had.
    #[error("the simulated boards need pseudo-terminals: {0}")]
    Io(#[from] io::Error),
    /// An override in the environment is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A port is not to be had.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// Runs until it is stopped; `seed` chooses the hands' moves.
///
/// # Errors
/// [`DemoError`], worded for the player.
pub async fn run(seed: u64) -> Result<(), DemoError> {
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
            kind,
            link: None,
            speed: 1.0,
            position_format: 2,
            hand_delay: Some(HAND_DELAY),
            seed,
            player: None,
        };
        let port = Port::new(board(&settings), None)?;
        let device = PathBuf::from(port.name().unwrap_or_default());
        let _ = write!(
            text,
            "[boards.{name}]\n{keys}\nserial = {{ port = {:?} }}\n",
            device.display().to_string()
        );
        boards.push((name, port));
    }
    let config = Config::from_text(&text, "the demonstration's own configuration")?;
    let daemon = Daemon::start(&config).await?;
    for (name, port) in boards {
        let (orders, hand) = mpsc::channel(MAX_ORDERS);
        tokio::spawn(simulate(name, port, hand));
        if let Some(board) = daemon.bus().board(name) {
            tokio::spawn(hand_that_waits(board.snapshot.clone(), orders));
        }
    }
    // Whoever started it may not be reading.
    let _ = write!(io::stdout(), "{}", welcome(&daemon));
    stop_signal().await?;
    daemon.stop().await;
    Ok(())
}

fn welcome(daemon: &Daemon) -> String {
    let port = |what: &str| {
        let found = daemon.ports().iter().find(|(name, _)| name == what);
        found.map_or("(off)".to_owned(), |(_, address)| address.to_string())
    };
    let uci = port("uci");
    let status = port("status");
    let program =
        std::env::current_exe().map_or("boardbridge".to_owned(), |path| path.display().to_string());
    format!(
        "BoardBridge runs on two simulated boards: citrine and ucb. Their hands move when your chess program \
         waits for a move.\n\
         \n\
         A program that starts engines (Arena, cutechess, Scid, Banksia, En Croissant):\n    \
             {program} uci --connect {uci} --board citrine\n\
         A program that connects by network (DroidFish): {uci}\n\
         Watch the boards: {program} watch --connect {status}\n\
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

/// Makes a move whenever the player is to move, like a person who reads what the board waits for.
async fn hand_that_waits(
    mut snapshots: watch::Receiver<Arc<Snapshot>>,
    orders: mpsc::Sender<HandAction>,
) {
    loop {
        let awaited = {
            let snapshot = snapshots.borrow_and_update();
            // Only the last shown move is followed by the hand's own.
            let last = snapshot.target.as_ref().and_then(|target| target.last());
            let mine = match snapshot.advice {
                Advice::YourMove(_) => true,
                Advice::Make(m) => Some(m) == last,
                _ => false,
            };
            mine && snapshot.awaiting
        };
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
                changed = snapshots.changed() => if changed.is_err() { return },
                () = sleep(HAND_DELAY) => {}
            }
        } else if snapshots.changed().await.is_err() {
            return;
        }
    }
}
