//! `boardbridge simulate`: a simulated board on a pseudo-terminal, its hand led from standard input, a game file,
//! or by chance.

use std::{
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    sync::mpsc,
    time::{Instant, sleep_until},
};

use super::{
    HandAction, Report, SimulatedBoard,
    citrine::Citrine,
    hand::{Next, Player},
    neo,
    port::{Happened, Port},
    radio::{self, Radio},
    ucb::Ucb,
};
use crate::daemon::stop_signal;

/// Orders that may wait for a hand.
const MAX_ORDERS: usize = 64;

/// The kinds of boards that can be simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Novag Citrine.
    NovagCitrine,
    /// Novag Universal Chess Board.
    NovagUcb,
    /// Miko Neo, on a D-Bus of its own or on a real adapter.
    MikoNeo,
}

/// What to simulate.
#[derive(Debug)]
pub struct Settings {
    /// Which board.
    pub kind: Kind,
    /// A name for the pseudo-terminal, or for the socket of the Neo's D-Bus.
    pub link: Option<PathBuf>,
    /// Neo: a real Bluetooth adapter to be on the air by.
    pub adapter: Option<String>,
    /// How many times shorter the board's limits are than a real one's.
    pub speed: f64,
    /// UCB: the "UCB Version".
    pub position_format: u8,
    /// How long the hand takes for a move; absent, it executes shown moves only when told to.
    pub hand_delay: Option<Duration>,
    /// For random moves.
    pub seed: u64,
    /// A hand that plays by itself.
    pub player: Option<Player>,
}

/// How a simulation ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The input ended, or the game in the file was played to its end.
    Done,
    /// The board left the game in the file.
    Astray,
}

/// A board on a serial line, in software. Nothing for one that is on the radio.
pub fn board(settings: &Settings) -> Option<Box<dyn SimulatedBoard>> {
    let Settings {
        speed,
        position_format,
        hand_delay,
        seed,
        ..
    } = *settings;
    match settings.kind {
        Kind::NovagCitrine => Some(Box::new(Citrine::new(speed, hand_delay, seed))),
        Kind::NovagUcb => Some(Box::new(Ucb::new(speed, position_format, hand_delay, seed))),
        Kind::MikoNeo => None,
    }
}

/// A radio board in software.
pub fn neo(settings: &Settings) -> neo::Settings {
    neo::Settings {
        suffix: "1A2".to_owned(),
        speed: settings.speed,
        hand_delay: settings.hand_delay,
        seed: settings.seed,
        ..neo::Settings::default()
    }
}

/// Runs a simulation until its input ends.
///
/// # Errors
/// No pseudo-terminal, D-Bus or adapter is to be had.
pub async fn run(settings: Settings) -> io::Result<Outcome> {
    let Some(board) = board(&settings) else {
        let radio = match &settings.adapter {
            Some(adapter) => Radio::on_air(neo(&settings), adapter).await?,
            None => Radio::on_bus(neo(&settings), settings.link.as_deref())?,
        };
        let hand_delay = settings.hand_delay.unwrap_or_default();
        return radio::run(&radio, settings.player, hand_delay).await;
    };
    let mut port = Port::new(board, settings.link.clone())?;
    let mut output = io::stdout();
    let stop = stop_signal();
    tokio::pin!(stop);
    writeln!(
        output,
        "{}",
        Report::Plugged(port.name().unwrap_or_default())
    )?;
    let (orders, mut hand) = mpsc::channel(MAX_ORDERS);
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    let mut input_open = true;
    let delay = settings.hand_delay.unwrap_or_default();
    let mut plays_at = settings.player.is_some().then(|| Instant::now() + delay);
    loop {
        let due = async {
            match plays_at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // The link to the pseudo-terminal goes with the board.
            stopped = &mut stop => return stopped.map(|()| Outcome::Done),
            happened = port.next(&mut hand) => match happened? {
                Happened::Seen(report) => {
                    writeln!(output, "{report}")?;
                    if settings.player.is_some() {
                        plays_at = Some(Instant::now() + delay);
                    }
                }
                Happened::HandGone => return Ok(Outcome::Done),
            },
            line = input.next_line(), if input_open => match line? {
                Some(line) if line.trim().is_empty() => {}
                Some(line) => match line.parse::<HandAction>() {
                    // The queue is longer than a person types; an order too many waits here.
                    Ok(order) => { let _ = orders.send(order).await; }
                    Err(error) => writeln!(output, "{}", Report::Refused(error.to_string()))?,
                },
                // A hand that plays by itself needs no orders.
                None if settings.player.is_some() => input_open = false,
                None => return Ok(Outcome::Done),
            },
            () = due => {
                plays_at = None;
                match settings.player.as_ref().map(|player| player.next(port.board())) {
                    None | Some(Next::Wait) => {}
                    Some(Next::Do(action)) => { let _ = orders.send(action).await; }
                    Some(Next::Done) => {
                        writeln!(output, "done")?;
                        return Ok(Outcome::Done);
                    }
                    Some(Next::Astray) => {
                        writeln!(output, "astray")?;
                        return Ok(Outcome::Astray);
                    }
                }
            }
        }
    }
}
