//! The fault suite and the soak: the real daemon, driven from outside.
//!
//!     cargo run --example faults -- [--kills N] [--times N] [--fault NAME]... [--seed N]
//!     cargo run --example faults -- --soak 60m
//!     cargo run --example faults -- --marathon 2m
//!
//! Simulated boards of every kind, chess programs through the relay, apps, links, an engine, Lichess and a `LiveChess` page play whole games at
//! once while the daemon is killed, the cables change and the radio goes. The boards, their hands and the programs live here: the judge
//! asks the daemon nothing. Exit status 1 if a move or a game was lost, or a move came twice; 3 if the daemon ended by
//! itself, or the suite cannot run.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod app;
mod daemon;
mod engine;
mod fault;
mod hostile;
mod house;
#[allow(
    dead_code,
    missing_docs,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "the tests' own"
)]
#[path = "../../tests/support/lichess.rs"]
mod lichess;
mod marathon;
mod online;
mod page;
mod phone;
#[path = "../../tests/support/ports.rs"]
mod ports;
mod program;
#[allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "the tests' own"
)]
#[path = "../../tests/support/schema.rs"]
mod schema;
mod score;
mod seat;
mod soak;
#[cfg(test)]
mod tests;
mod wood;

use std::{
    io,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Command, ExitCode},
    sync::Arc,
    time::Duration,
};

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    fault::Fault,
    house::{House, Plan},
    score::Score,
};

/// For the simulated Lichess in the tests, which waits for a client so long.
const PATIENCE: Duration = Duration::from_secs(20);
/// Set once the process has a file system tree of its own.
const INSIDE: &str = "BOARD_FAULTS_INSIDE";

/// The fault suite and the soak.
#[derive(Debug, Parser)]
struct Arguments {
    /// How often the daemon is killed.
    #[arg(long, default_value_t = 3)]
    kills: u32,
    /// How often each other fault happens.
    #[arg(long, default_value_t = 3)]
    times: u32,
    /// Only these faults.
    #[arg(long, value_enum)]
    fault: Vec<Fault>,
    /// Instead: eight programs and four apps, each with its board, in one process for this long, with random faults that do
    /// not end it.
    #[arg(long, value_parser = humantime::parse_duration)]
    soak: Option<Duration>,
    /// Instead: everybody plays for this long among hostile addresses, boards, engines and servers, with reloads and kills and
    /// a log that nobody reads.
    #[arg(long, value_parser = humantime::parse_duration)]
    marathon: Option<Duration>,
    /// For everything that is left to chance.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The program; default: the one beside this one.
    #[arg(long)]
    boardbridge: Option<PathBuf>,
    /// Keep the daemons' logs in this folder.
    #[arg(long)]
    logs: Option<PathBuf>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// Nothing was lost.
    Clean,
    /// Moves or games were.
    Losses,
    /// The daemon ended by itself.
    Died,
}

/// The exit status of a run that proves a fault, whatever was lost.
const FAILED: u8 = 3;

/// The program that cargo built beside this example.
fn beside() -> Option<PathBuf> {
    let here = std::env::current_exe().ok()?;
    Some(here.parent()?.parent()?.join("boardbridge"))
}

/// Waits for SIGINT or SIGTERM.
async fn stopped() -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

fn main() -> ExitCode {
    // The full disk is a small file system that only this process sees. Where that is forbidden, the fault is left out.
    if std::env::var_os(INSIDE).is_none() && fault::may_mount() {
        // Hostile addresses are on a network that only it sees.
        let alone = std::env::args().any(|word| word.starts_with("--marathon"));
        let error = Command::new("unshare")
            .args(alone.then_some("--net"))
            .args(fault::OWN_MOUNTS)
            .arg(std::env::current_exe().unwrap_or_default())
            .args(std::env::args_os().skip(1))
            .env(INSIDE, "1")
            .exec();
        eprintln!("unshare: {error}");
    }
    let arguments = Arguments::parse();
    if arguments.marathon.is_some() {
        if std::env::var_os(INSIDE).is_none() {
            println!(
                "skipped: the marathon needs a network of its own, as root has it (unshare --net, ip)"
            );
            return ExitCode::SUCCESS;
        }
        if let Err(error) = hostile::network() {
            eprintln!("the suite cannot run: {error}");
            return ExitCode::from(FAILED);
        }
    }
    let Some(program) = arguments.boardbridge.or_else(beside) else {
        eprintln!("say where the program is: --boardbridge PATH");
        return ExitCode::from(2);
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let score = Arc::<Score>::default();
    let plan = Plan {
        program,
        score: score.clone(),
        seed: arguments.seed,
        logs: arguments.logs,
        soak: arguments.soak.is_some(),
        marathon: arguments.marathon.is_some(),
    };
    let ran = runtime.and_then(|runtime| {
        runtime.block_on(async {
            let (kills, times) = (arguments.kills, arguments.times);
            let run = async {
                let mut house = House::build(plan).await?;
                match (arguments.soak, arguments.marathon) {
                    (Some(time), _) => soak::run(&mut house, time).await,
                    (None, Some(time)) => marathon::run(&mut house, time).await,
                    (None, None) => fault::run(&mut house, kills, times, &arguments.fault).await,
                }
            };
            tokio::select! {
                ran = run => ran,
                // A daemon that is left behind would open the ports of the next run.
                stopped = stopped() => {
                    println!("\nstopped\n{}", score.table());
                    stopped.map(|()| Ended::Losses)
                }
            }
        })
    });
    match ran {
        Ok(Ended::Clean) => ExitCode::SUCCESS,
        Ok(Ended::Losses) => ExitCode::FAILURE,
        Ok(Ended::Died) => ExitCode::from(FAILED),
        Err(error) => {
            eprintln!("the suite cannot run: {error}");
            ExitCode::from(FAILED)
        }
    }
}
