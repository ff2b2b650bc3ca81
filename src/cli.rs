//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::{Parser, Subcommand};

use crate::config::{DEFAULT_FILE, DEFAULT_STATUS, DEFAULT_UCI};

/// Links electronic chess boards to chess programs.
#[derive(Debug, Parser)]
#[command(version, about, long_about = None)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the daemon.
    Run {
        /// The configuration.
        #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE)]
        config: PathBuf,
    },
    /// Run the daemon on simulated boards: no hardware, no configuration.
    #[cfg(target_os = "linux")]
    Demo {
        /// Chooses the simulated hands' moves.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The directory of the simulated Bluetooth; the program starts itself anew with it.
        #[arg(long, hide = true)]
        bus: Option<PathBuf>,
    },
    /// What a chess program starts as "the engine": a relay to the daemon.
    Uci {
        /// Where the daemon listens.
        #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_UCI)]
        connect: String,
        /// Which board; the chess program can also choose it by the option `Board`.
        #[arg(long, value_name = "NAME")]
        board: Option<String>,
    },
    /// Check a configuration and say what it would run.
    Check {
        /// The configuration.
        #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE)]
        config: PathBuf,
    },
    /// List the serial ports and Bluetooth boards in reach, each with the TOML to paste.
    Scan {
        /// The Bluetooth adapter to look with, such as hci1; the first one by default.
        #[arg(long, value_name = "NAME")]
        adapter: Option<String>,
    },
    /// Show the events of a running daemon.
    Watch {
        /// Where the daemon's event stream is.
        #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_STATUS)]
        connect: String,
        /// Only this board.
        #[arg(long, value_name = "NAME")]
        board: Option<String>,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Simulate a board on a pseudo-terminal, or a Neo on a D-Bus of its own; its hand takes moves and orders from
    /// standard input.
    ///
    /// Orders: a move (e2e4, e7e8q), execute, wrong MOVE, take-back, new-game, random, off, on, on forgetful, unplug,
    /// plug, garbage BYTES. Without --game or --seed it ends with its input.
    #[cfg(target_os = "linux")]
    Simulate(Simulate),
    /// Feed a recorded transcript to its driver and print the events.
    Replay {
        /// The transcript.
        file: PathBuf,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
        /// Print the whole transcript with the output made now, instead of the events.
        #[arg(long, conflicts_with = "json")]
        transcript: bool,
    },
}

/// What to simulate.
#[cfg(target_os = "linux")]
#[derive(Debug, clap::Args)]
pub struct Simulate {
    /// The board.
    pub kind: crate::simulate::run::Kind,
    /// Make this a symbolic link to the pseudo-terminal, or the socket of the Neo's D-Bus.
    #[arg(long, value_name = "PATH")]
    pub link: Option<PathBuf>,
    /// Neo: be on the air by this real Bluetooth adapter, such as hci1, instead of on a D-Bus of its own.
    #[arg(long, value_name = "NAME", conflicts_with = "link")]
    pub adapter: Option<String>,
    /// UCB: the "UCB Version", 1 or 2.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub position_format: u8,
    /// How many times faster than a real one the board is.
    #[arg(long, default_value_t = 1.0, value_parser = speed)]
    pub speed: f64,
    /// How long the hand takes to execute a shown move, or `never` (then it waits for `execute`).
    #[arg(long, default_value = "500ms", value_parser = hand_delay)]
    pub hand_delay: HandDelay,
    /// Let the hand play a game of this file: one game a line, UCI moves.
    #[arg(long, value_name = "FILE")]
    pub game: Option<PathBuf>,
    /// Which line of the file, from 1.
    #[arg(long, default_value_t = 1, requires = "game")]
    pub line: usize,
    /// Let the hand play random legal moves chosen by this number.
    #[arg(long, conflicts_with = "game")]
    pub seed: Option<u64>,
    /// Whose moves the hand plays by itself, with --game or --seed.
    #[arg(long, default_value = "white")]
    pub plays: crate::simulate::hand::Plays,
}

/// How long a hand takes for a move; `None` if it waits to be told.
#[derive(Clone, Copy, Debug)]
pub struct HandDelay(pub Option<Duration>);

#[cfg(target_os = "linux")]
fn hand_delay(text: &str) -> Result<HandDelay, String> {
    if text == "never" {
        return Ok(HandDelay(None));
    }
    let delay = humantime::parse_duration(text);
    delay
        .map(|delay| HandDelay(Some(delay)))
        .map_err(|error| format!("{error}: write a number with a unit, such as 500ms, or never"))
}

#[cfg(target_os = "linux")]
fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if (0.01..=1000.0).contains(&speed) => Ok(speed),
        _ => Err("a number from 0.01 to 1000".to_owned()),
    }
}
