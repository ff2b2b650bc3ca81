//! A simulated radio board on a D-Bus of its own, or advertised by a real adapter.

use std::{
    io,
    path::Path,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    sync::oneshot,
    time::{MissedTickBehavior, interval},
};

use super::{
    HandAction, Report,
    air::{self, Air},
    bluez::{self, Bluez, address::Address, control::Control},
    hand::Next,
    outcome::Outcome,
    peripheral::Peripheral,
    turns::Turns,
};
use crate::game::Game;

/// How often the board is polled. A player makes at most one move a second.
const LOOK: Duration = Duration::from_millis(20);
/// The simulated board's address on a D-Bus of its own.
pub const ADDRESS: Address = Address([0x02, 0x4E, 0x45, 0x4F, 0x01, 0xA2]);

/// A board that can be advertised, and the person at it.
pub trait RadioBoard: Peripheral + 'static {
    /// The player does something.
    fn order(&mut self, now: Instant, action: HandAction);
    /// The next observable event.
    fn look(&mut self) -> Option<Report>;
    /// The game on it, and whether a shown move is not executed yet; `None` while the person is busy.
    fn stands(&self) -> Option<(&Game, bool)>;
}

/// The radio that the board uses.
pub enum Radio<P: RadioBoard> {
    /// A D-Bus of its own.
    Bus {
        /// The service on it.
        bluez: Bluez,
        /// The board.
        board: bluez::hosted::Hosted<P>,
    },
    /// A real adapter; it leaves when this is dropped.
    Air {
        /// The board.
        board: air::Hosted<P>,
        /// The adapter's name.
        adapter: String,
        /// Stops it.
        stop: Option<oneshot::Sender<()>>,
    },
}

impl<P: RadioBoard> Radio<P> {
    /// Puts a board on a D-Bus of its own, with its socket at `link` if given.
    ///
    /// # Errors
    /// The bus cannot be created.
    pub fn on_bus(board: P, link: Option<&Path>) -> io::Result<Self> {
        let bluez = match link {
            Some(path) => Bluez::start_at(path)?,
            None => Bluez::start()?,
        };
        let board = bluez
            .host(bluez::ADAPTER, ADDRESS, board)
            .map_err(|_| io::Error::other("the simulated adapter takes no board"))?;
        Ok(Self::Bus { bluez, board })
    }

    /// Advertises a board.
    ///
    /// # Errors
    /// The adapter cannot be used.
    pub async fn on_air(board: P, adapter: &str) -> io::Result<Self> {
        let board = air::Hosted::new(board);
        let air = Air::open(Some(adapter), &board).await;
        let air = air.map_err(io::Error::other)?;
        let adapter = air.adapter().to_owned();
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(async move {
            let stopped = async {
                // Dropping and sending both stop it.
                let _ = stopped.await;
            };
            if let Err(error) = air.run(stopped).await {
                tracing::error!("the simulated board is off the air: {error}");
            }
        });
        Ok(Self::Air {
            board,
            adapter,
            stop: Some(stop),
        })
    }

    /// The board's location: the address of its D-Bus, or its adapter.
    pub fn place(&self) -> String {
        match self {
            Self::Bus { bluez, .. } => bluez.address(),
            Self::Air { adapter, .. } => format!("on the air by {adapter}"),
        }
    }

    /// Accesses the board.
    pub fn with<R>(&self, action: impl FnOnce(&mut P) -> R) -> R {
        match self {
            Self::Bus { board, .. } => board.with(action),
            Self::Air { board, .. } => board.with(action),
        }
    }

    /// The board, if it is on a bus.
    pub fn board(&self) -> Option<bluez::hosted::Hosted<P>> {
        match self {
            Self::Bus { board, .. } => Some(board.clone()),
            Self::Air { .. } => None,
        }
    }

    /// Gives the player an order; also does the radio's part.
    pub fn hand(&self, action: HandAction) {
        if let Self::Bus { bluez, .. } = self {
            link(&bluez.control(), &action);
        }
        self.with(|board| board.order(Instant::now(), action));
    }
}

/// Unplugging means out of range here.
fn link(control: &Control, action: &HandAction) {
    let done = match action {
        HandAction::Unplug | HandAction::Off => control.vanish(ADDRESS),
        HandAction::Plug | HandAction::On { .. } => control.appear(ADDRESS),
        _ => Ok(()),
    };
    if done.is_err() {
        tracing::debug!("the simulated board is on no adapter");
    }
}

impl<P: RadioBoard> Drop for Radio<P> {
    fn drop(&mut self) {
        if let Self::Air { stop, .. } = self
            && let Some(stop) = stop.take()
        {
            // It may have ended by itself.
            let _ = stop.send(());
        }
    }
}

/// Runs a simulation until its input ends, or its automatic player's game.
///
/// # Errors
/// The input cannot be read.
pub async fn run<P: RadioBoard>(
    radio: &Radio<P>,
    mut turns: Turns,
    say: impl Fn(String),
    stop: impl AsyncFnOnce() -> io::Result<()>,
) -> io::Result<Outcome> {
    let stop = stop();
    tokio::pin!(stop);
    let tell = |report: Report| say(report.to_string());
    tell(Report::Plugged(radio.place()));
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    let mut input_open = true;
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            stopped = &mut stop => return stopped.map(|()| Outcome::Done),
            line = input.next_line(), if input_open => match line? {
                Some(line) if line.trim().is_empty() => {}
                Some(line) => match line.parse::<HandAction>() {
                    Ok(action) => {
                        match action {
                            HandAction::Unplug => tell(Report::Unplugged),
                            HandAction::Plug => tell(Report::Plugged(radio.place())),
                            _ => {}
                        }
                        radio.hand(action);
                    }
                    Err(error) => tell(Report::Refused(error.to_string())),
                },
                // An automatic player needs no orders.
                None if turns.has_player() => input_open = false,
                None => return Ok(Outcome::Done),
            },
            _ = looks.tick() => {
                while let Some(report) = radio.with(P::look) {
                    turns.seen(&report);
                    tell(report);
                }
                if !turns.is_due() {
                    continue;
                }
                let next = radio.with(|board| {
                    board.stands().map(|(game, shown)| turns.next(game, shown))
                });
                match next {
                    // Not every action of the player is observable.
                    Some(Next::Wait) => turns.again(),
                    Some(Next::Do(action)) => {
                        radio.hand(action);
                        turns.again();
                    }
                    Some(Next::Done) => {
                        say("done".to_owned());
                        return Ok(Outcome::Done);
                    }
                    Some(Next::Astray) => {
                        say("astray".to_owned());
                        return Ok(Outcome::Astray);
                    }
                    None => {}
                }
            }
        }
    }
}
