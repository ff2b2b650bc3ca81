//! Disturbs the pieces of positions from real games, asks for guidance, checks every promise, and prints a table.
//!
//!     cargo run --release --example guidance -- [--seed N] [--positions N] [--disturbances N] GAMES_FILE
//!
//! The file has one game a line, in UCI moves. Exit status 1 if any promise was broken.

#![forbid(unsafe_code)]

mod bound;
mod check;
mod disturbance;
mod tally;

use std::{fs, path::PathBuf, process::ExitCode, time::Instant};

use boardbridge::chess::guidance::guide;
use clap::Parser;

use crate::{
    check::check,
    disturbance::{MAX_PIECES, disturbed, positions},
    tally::Tally,
};

/// Checks guidance on disturbed positions.
#[derive(Debug, Parser)]
struct Arguments {
    /// For everything that is left to chance.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many positions of the games are taken.
    #[arg(long, default_value_t = 1000)]
    positions: usize,
    /// How often each is disturbed.
    #[arg(long, default_value_t = 1000)]
    disturbances: usize,
    /// The games.
    file: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let text = fs::read_to_string(&arguments.file).map_err(|error| error.to_string());
    let wanted = match text.and_then(|text| positions(&text, arguments.positions)) {
        Ok(wanted) => wanted,
        Err(error) => {
            eprintln!("{}: {error}", arguments.file.display());
            return ExitCode::from(2);
        }
    };
    let mut rng = fastrand::Rng::with_seed(arguments.seed);
    let mut rows = [Tally::default(); MAX_PIECES];
    for wanted in &wanted {
        for number in 0..arguments.disturbances {
            let row = number % MAX_PIECES;
            let stands = disturbed(wanted, row + 1, &mut rng);
            let start = Instant::now();
            let actions = guide(&stands, wanted);
            let spent = start.elapsed();
            let checked = check(&stands, wanted, &actions).map_err(|error| eprintln!("{error}"));
            rows[row].add(actions.len(), spent, checked);
        }
    }
    println!(
        "{} positions, {} disturbances of each, seed {}",
        wanted.len(),
        arguments.disturbances,
        arguments.seed
    );
    println!("{}", Tally::HEAD);
    let mut all = Tally::default();
    for (pieces, row) in (1..).zip(&rows) {
        println!("{}", row.row(&format!("{pieces}")));
        all.merge(*row);
    }
    println!("{}", all.row("all"));
    if all.wrong == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
