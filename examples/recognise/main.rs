//! Plays games by an untidy hand on an untidy board through a recogniser, under every noise model, and counts.
//!
//!     cargo run --release --example recognise -- [--seed N] [--seeds N] [--moves-by both|one] [--model NAME]... GAMES_FILE...
//!
//! A file has one game a line, in UCI moves. Exit status 1 if any move was missed or reported without being made.
//!
//! A file may also be the transcript of a session with a board of sensors: its lifts, placements and pictures go through the
//! recogniser, its motor's paths are taken as the moves they carry out, and the moves found are printed. Exit status 1 if a
//! path fits no legal move.

#![forbid(unsafe_code)]

mod plug;
#[cfg(test)]
mod stopgap;
mod tally;
#[cfg(test)]
mod tests;
mod transcript;
mod world;

use std::{fs, path::PathBuf, process::ExitCode};

use boardbridge::chess::game::Game;
use clap::{Parser, ValueEnum};
use rig::noise::Model;

use crate::{tally::Tally, world::World};

/// Which moves the person makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MovesBy {
    /// Both sides.
    Both,
    /// One side: White in the first game, Black in the second, and so on.
    One,
}

/// Plays games by an untidy hand through the recogniser.
#[derive(Debug, Parser)]
struct Arguments {
    /// For everything that is left to chance.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Play with so many seeds, one after the other.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Which moves the person makes. Some models are about the opponent's moves, and mean `one`.
    #[arg(long, value_enum, default_value = "both")]
    moves_by: MovesBy,
    /// Only these models: those whose name contains the text.
    #[arg(long)]
    model: Vec<String>,
    /// Play at most so many games of each file.
    #[arg(long)]
    games: Option<usize>,
    /// Print each thing that goes wrong, with the game, the ply and what was sensed before.
    #[arg(long)]
    explain: bool,
    /// Files of games, and transcripts.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut games = Vec::new();
    let mut transcripts = false;
    let mut right = true;
    for file in &arguments.files {
        match transcript::read(file) {
            Ok(None) => {}
            Ok(Some(transcript)) => {
                transcripts = true;
                println!("{}", file.display());
                let mut print = |line: &str| println!("{line}");
                if let Err(error) = transcript::follow(&transcript, &mut print) {
                    eprintln!("{}: {error}", file.display());
                    right = false;
                }
                continue;
            }
            Err(error) => {
                eprintln!("{}: {error}", file.display());
                return ExitCode::from(2);
            }
        }
        match read(file, arguments.games.unwrap_or(usize::MAX)) {
            Ok(mut more) => games.append(&mut more),
            Err(error) => {
                eprintln!("{}: {error}", file.display());
                return ExitCode::from(2);
            }
        }
    }
    let models: Vec<Model> = Model::all()
        .into_iter()
        .filter(|model| {
            let named = |text: &String| model.name.contains(text.as_str());
            arguments.model.is_empty() || arguments.model.iter().any(named)
        })
        .collect();
    if transcripts && games.is_empty() {
        return if right {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    let last = arguments.seed.saturating_add(arguments.seeds.max(1) - 1);
    println!("{} games, seeds {} to {last}", games.len(), arguments.seed);
    println!("{}", Tally::HEAD);
    for model in &models {
        let one = model.one_side || arguments.moves_by == MovesBy::One;
        let mut tally = Tally::default();
        for seed in arguments.seed..=last {
            for (number, game) in games.iter().enumerate() {
                let seed = seed.wrapping_mul(0x9e37_79b9).wrapping_add(number as u64);
                let mut world = World::new(plug::recogniser(model), model, game, seed);
                if arguments.explain {
                    world = world.explaining(number + 1);
                }
                let white = one.then(|| number.is_multiple_of(2));
                tally.add(world.play(white));
            }
        }
        let remark = model.unclear.map_or("", |_| "  (cannot always be told)");
        println!("{}{remark}", tally.row(model.name));
        right &= model.unclear.is_some() || tally.is_right();
    }
    for model in &models {
        if let Some(why) = model.unclear {
            println!("{}: {why}", model.name);
        }
    }
    if right {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The games of a file.
fn read(file: &PathBuf, most: usize) -> Result<Vec<Game>, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let mut games = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if games.len() >= most {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let mut game = Game::standard();
        game.play_uci(line.split_whitespace())
            .map_err(|error| format!("line {number}: {error}"))?;
        games.push(game);
    }
    Ok(games)
}
