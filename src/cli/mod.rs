//! The command line.

#[cfg(target_os = "linux")]
mod add;
#[cfg(target_os = "linux")]
pub mod call;
#[cfg(target_os = "linux")]
pub mod check;
#[cfg(all(feature = "simulate", target_os = "linux"))]
pub mod demo;
#[cfg(target_os = "linux")]
mod lichess;
#[cfg(target_os = "linux")]
mod pair;
pub mod replay;
#[cfg(target_os = "linux")]
pub mod scan;
#[cfg(target_os = "linux")]
mod secret;
#[cfg(all(feature = "simulate", target_os = "linux"))]
mod simulate;
pub mod watch;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::net::default_ports::DEFAULT_LIVECHESS;
#[cfg(target_os = "linux")]
use crate::{config::DEFAULT_FILE, net::default_ports::DEFAULT_WEB, vocabulary::BoardName};

#[cfg(all(feature = "simulate", target_os = "linux"))]
pub use self::simulate::Simulate;
#[cfg(target_os = "linux")]
pub use self::{
    add::{Add, add},
    lichess::{Lichess, run_lichess},
    pair::{Pair, run_pair},
};

/// Links electronic chess boards to chess programs.
#[derive(Debug, Parser)]
#[command(version, about, long_about = None)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the daemon.
    #[cfg(target_os = "linux")]
    Run {
        /// The configuration.
        #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE)]
        config: PathBuf,
    },
    /// Run the daemon on simulated boards: no hardware, no configuration.
    #[cfg(all(feature = "simulate", target_os = "linux"))]
    Demo {
        /// The random seed for the simulated hands' moves.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The directory of the simulated Bluetooth; the program restarts itself with it.
        #[arg(long, hide = true)]
        bus: Option<PathBuf>,
    },
    /// What a chess program starts as "the engine": a relay to the daemon.
    Uci {
        /// The daemon's address. Left out: this machine's daemon, else the only one on this network.
        #[arg(long, value_name = "HOST:PORT")]
        connect: Option<String>,
        /// The board; the chess program can also choose it by the option Board.
        #[arg(long, value_name = "NAME")]
        board: Option<String>,
    },
    /// Check a configuration and show what it would run.
    #[cfg(target_os = "linux")]
    Check {
        /// The configuration.
        #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE)]
        config: PathBuf,
    },
    /// List the serial ports, and the boards on USB and Bluetooth in reach, each with the TOML to paste.
    #[cfg(target_os = "linux")]
    Scan {
        /// The Bluetooth adapter to scan with, such as hci1; the first one by default.
        #[arg(long, value_name = "NAME")]
        adapter: Option<String>,
        /// Ask what is at each serial port that no program has open. Do not use it while devices other than boards are
        /// connected: they are sent a line or two at three speeds.
        #[arg(long)]
        probe: bool,
        /// The API of the daemon that may run here: its boards' ports are named instead of asked.
        #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_WEB)]
        connect: String,
    },
    /// Show what a running daemon's boards and clients do: the current state, then what happens.
    Watch {
        /// The address of the daemon's event stream. Left out: this machine's daemon, else the only one on this network.
        #[arg(long, value_name = "HOST:PORT")]
        connect: Option<String>,
        /// Only this board.
        #[arg(long, value_name = "NAME")]
        board: Option<String>,
        /// One JSON object per line, for programs.
        #[arg(long)]
        json: bool,
    },
    /// Offer the boards of a daemon elsewhere to pages on this machine, as LiveChess does.
    #[expect(clippy::doc_markdown, reason = "it is printed as help")]
    Livechess {
        /// The daemon's address for LiveChess. Left out: the only one on this network, else raspberrypi.local:1982.
        #[arg(long, value_name = "HOST:PORT")]
        connect: Option<String>,
        /// Where pages look for LiveChess.
        #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_LIVECHESS)]
        listen: String,
    },
    /// Add a board that is plugged in or in the air; without an ID, list what is found.
    #[cfg(target_os = "linux")]
    Add(Add),
    /// Remove a board that was added.
    #[cfg(target_os = "linux")]
    Remove {
        /// The board.
        board: BoardName,
        /// The address of the daemon's API.
        #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_WEB)]
        connect: String,
    },
    /// Give a board that was added another name.
    #[cfg(target_os = "linux")]
    Rename {
        /// Its name.
        old: BoardName,
        /// Its new name.
        new: BoardName,
        /// The address of the daemon's API.
        #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_WEB)]
        connect: String,
    },
    /// Put out the program that has a board: it is told, and has to begin a new game to get the board again.
    #[cfg(target_os = "linux")]
    Release {
        /// The board.
        board: BoardName,
        /// The address of the daemon's API.
        #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_WEB)]
        connect: String,
    },
    /// Play on Lichess at a board: log in, look for an opponent, answer offers.
    #[cfg(target_os = "linux")]
    Lichess(Lichess),
    /// Show a code for a phone, which may look and press buttons on the page once it has entered that.
    #[cfg(target_os = "linux")]
    Pair(Pair),
    /// Simulate a board on a pseudo-terminal, on TCP or on Bluetooth, or the WhitePawn app; moves and orders
    /// come from standard input.
    ///
    /// A Neo, a Chessnut, and a board with --ble, print the address of a D-Bus of their own: run and scan find them there with
    /// DBUS_SYSTEM_BUS_ADDRESS set to it. With --adapter they are on the air through a second real adapter, for any
    /// program in range.
    ///
    /// Orders for a hand: a move (e2e4, e7e8q), execute, hear MOVE (of the one to execute: lamps do not say what a pawn becomes),
    /// wrong MOVE, take-back, new-game, set-up FEN (on a Citrine, a DGT or a Chessnut), random, off, on, on forgetful,
    /// forget-settings, lift-king (the wrong one: a Citrine then moves by itself), unplug, plug, garbage COUNT.
    ///
    /// Orders for the app: a move, new-game TYPE Y (the board moves first) or new-game TYPE N, random, wrong MOVE
    /// (sent but not played), end CODE, hang-up, connect, garbage COUNT, raw TEXT. Types: 0 offline, 1 engine, 2
    /// WhitePawn, 3 Lichess. Codes: 0 aborted, 1 checkmate, 2 draw, 3 the player resigned, 4 the opponent resigned.
    ///
    /// Every effect is printed, one per line, or the reason why an order cannot be followed. Without --game or --seed
    /// the simulation ends with its input.
    #[cfg(all(feature = "simulate", target_os = "linux"))]
    #[expect(
        clippy::doc_markdown,
        reason = "it is printed as help, where there are no marks"
    )]
    Simulate(Simulate),
    /// Feed a recorded transcript to its driver and print the events.
    Replay {
        /// The transcript.
        file: PathBuf,
        /// One JSON object per line.
        #[arg(long)]
        json: bool,
        /// Print the whole transcript with the output produced now, instead of the events.
        #[arg(long, conflicts_with = "json")]
        transcript: bool,
    },
}
