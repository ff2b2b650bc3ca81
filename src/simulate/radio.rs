//! `boardbridge simulate miko-neo`: a simulated radio board on a D-Bus of its own, or on the air by a real adapter.

use std::{
    io::{self, Write},
    path::Path,
    time::{Duration, Instant as StdInstant},
};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    sync::oneshot,
    time::{Instant, MissedTickBehavior, interval},
};

use super::{
    HandAction, Report,
    air::{self, Air},
    bluez::{self, Bluez, address::Address, control::Control},
    hand::{Next, Player},
    neo::{Neo, Settings},
    run::Outcome,
};
use crate::daemon::stop_signal;

/// How often the board is looked at. A hand makes a move a second at most.
const LOOK: Duration = Duration::from_millis(20);
/// The simulated board's address on a D-Bus of its own.
pub const ADDRESS: Address = Address([0x02, 0x4E, 0x45, 0x4F, 0x01, 0xA2]);

/// What the board is put on.
pub enum Radio {
    /// A D-Bus of its own.
    Bus {
        /// The service on it.
        bluez: Bluez,
        /// The board.
        neo: bluez::hosted::Hosted<Neo>,
    },
    /// A real adapter; it leaves when this is dropped.
    Air {
        /// The board.
        neo: air::Hosted<Neo>,
        /// The adapter's name.
        adapter: String,
        /// Ends it.
        stop: Option<oneshot::Sender<()>>,
    },
}

impl Radio {
    /// Puts a board on a D-Bus of its own, its socket at `link` if that is given.
    ///
    /// # Errors
    /// No bus is to be had.
    pub fn on_bus(settings: Settings, link: Option<&Path>) -> io::Result<Self> {
        let bluez = match link {
            Some(path) => Bluez::start_at(path)?,
            None => Bluez::start()?,
        };
        let neo = bluez
            .host(bluez::ADAPTER, ADDRESS, Neo::new(settings))
            .map_err(|_| io::Error::other("the simulated adapter takes no board"))?;
        Ok(Self::Bus { bluez, neo })
    }

    /// Puts a board on the air.
    ///
    /// # Errors
    /// The adapter cannot be had.
    pub async fn on_air(settings: Settings, adapter: &str) -> io::Result<Self> {
        let neo = air::Hosted::new(Neo::new(settings));
        let air = Air::open(Some(adapter), &neo).await;
        let air = air.map_err(io::Error::other)?;
        let adapter = air.adapter().to_owned();
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(async move {
            let stopped = async {
                // Dropped or told: both end it.
                let _ = stopped.await;
            };
            if let Err(error) = air.run(stopped).await {
                tracing::error!("the simulated board is off the air: {error}");
            }
        });
        Ok(Self::Air {
            neo,
            adapter,
            stop: Some(stop),
        })
    }

    /// Where the board is to be found: the address of its D-Bus, or its adapter.
    pub fn place(&self) -> String {
        match self {
            Self::Bus { bluez, .. } => bluez.address(),
            Self::Air { adapter, .. } => format!("on the air by {adapter}"),
        }
    }

    /// Does something with the board.
    pub fn with<R>(&self, action: impl FnOnce(&mut Neo) -> R) -> R {
        match self {
            Self::Bus { neo, .. } => neo.with(action),
            Self::Air { neo, .. } => neo.with(action),
        }
    }

    /// The board, where it is on a bus.
    pub fn board(&self) -> Option<bluez::hosted::Hosted<Neo>> {
        match self {
            Self::Bus { neo, .. } => Some(neo.clone()),
            Self::Air { .. } => None,
        }
    }

    /// Has the hand do something; the radio's part of it too.
    pub fn hand(&self, action: HandAction) {
        if let Self::Bus { bluez, .. } = self {
            link(&bluez.control(), &action);
        }
        self.with(|neo| neo.hand(StdInstant::now(), action));
    }
}

/// A cable that is pulled is a board out of reach here.
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

impl Drop for Radio {
    fn drop(&mut self) {
        if let Self::Air { stop, .. } = self
            && let Some(stop) = stop.take()
        {
            // It may have ended by itself.
            let _ = stop.send(());
        }
    }
}

/// Runs a simulation until its input ends, or the game of its player.
///
/// # Errors
/// The output cannot be written.
pub async fn run(
    radio: &Radio,
    player: Option<Player>,
    hand_delay: Duration,
) -> io::Result<Outcome> {
    let mut output = io::stdout();
    writeln!(output, "{}", Report::Plugged(radio.place()))?;
    let stop = stop_signal();
    tokio::pin!(stop);
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    let mut input_open = true;
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut plays_at = Instant::now() + hand_delay;
    // What is done before the game began tells nobody anything: the board knows squares only.
    let mut begun = false;
    loop {
        tokio::select! {
            stopped = &mut stop => return stopped.map(|()| Outcome::Done),
            line = input.next_line(), if input_open => match line? {
                Some(line) if line.trim().is_empty() => {}
                Some(line) => match line.parse::<HandAction>() {
                    Ok(action) => radio.hand(action),
                    Err(error) => writeln!(output, "{}", Report::Refused(error.to_string()))?,
                },
                // A hand that plays by itself needs no orders.
                None if player.is_some() => input_open = false,
                None => return Ok(Outcome::Done),
            },
            _ = looks.tick() => {
                while let Some(report) = radio.with(Neo::poll_report) {
                    writeln!(output, "{report}")?;
                    begun |= report == Report::NewGame;
                    plays_at = Instant::now() + hand_delay;
                }
                let due = player.as_ref().filter(|_| begun && plays_at <= Instant::now());
                let next = due.and_then(|player| {
                    radio.with(|neo| {
                        let settled = neo.is_settled();
                        settled.then(|| player.next_in(neo.game(), neo.shown().is_some()))
                    })
                });
                match next {
                    None | Some(Next::Wait) => {}
                    Some(Next::Do(action)) => {
                        radio.hand(action);
                        plays_at = Instant::now() + hand_delay;
                    }
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
