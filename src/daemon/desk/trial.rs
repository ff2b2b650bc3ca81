//! A board that is not added lets its lamps run, so that a player sees which one it is.

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Square};
use tokio::time::timeout;

use super::{
    added_boards::fits,
    files,
    line::{is_free, port, unanswered, which},
};
use crate::{
    board::settings::BoardConfig,
    bus::desk::{BoardKey, Granted, Refused},
    discovery::{Sighting, Way, probe::Finding},
    driver::{Driver, DriverEvent, Greeting, identity::Identity},
    system::sleep::sleep_until_some,
    text::escape::escaped,
    transport::{Incoming, Link, ble::Radio},
};

/// How long a trial takes at most, less than a [wish](crate::bus::desk::GRANT_WAIT) may: a port is asked for some 10 s what it is, a link
/// by radio takes some 5 s.
pub(super) const TRIAL_WAIT: Duration = Duration::from_secs(16);
/// How long a word stands on a clock.
const WORD: Duration = Duration::from_secs(3);
/// How long each square is lit.
const STEP: Duration = Duration::from_millis(300);
/// The time before the first: a board that begins to answer is still asked other things, and what is not lit at once would be skipped.
const ASKED: Duration = Duration::from_millis(600);
/// The squares that are lit, one after the other: whatever way the board lies, the light crosses it.
const RUN: [Square; 8] = [
    Square::A1,
    Square::B2,
    Square::C3,
    Square::D4,
    Square::E5,
    Square::F6,
    Square::G7,
    Square::H8,
];

/// A board to try.
pub(super) struct Trial {
    /// It.
    pub sighting: Sighting,
    /// What it is; asked if that is not known.
    pub make: Option<&'static Identity>,
    /// What unlocks it.
    pub key: Option<BoardKey>,
    /// For a board in the air.
    pub radio: Radio,
}

/// What a board has shown.
enum Shown {
    /// Its lamps have run.
    Lamps,
    /// A word was on its clock.
    Word,
    /// It answers, by this name, and has neither lamps nor a clock.
    Answers(Option<String>),
    /// It cannot be asked.
    Nothing,
}

impl Trial {
    /// Tries it.
    ///
    /// # Errors
    /// Why that cannot be done, in words.
    pub async fn run(self) -> Result<Granted, Refused> {
        let shown = timeout(TRIAL_WAIT, self.shown()).await;
        let (make, shown) = shown.unwrap_or_else(|_| Err(unanswered(&self.sighting)))?;
        let lamps = matches!(shown, Shown::Lamps);
        let done = match shown {
            Shown::Lamps => format!(
                "the lamps of {} ran from one corner to the other",
                escaped(&self.sighting.name)
            ),
            Shown::Word => format!(
                "the clock of {} has shown a word: here",
                escaped(&self.sighting.name)
            ),
            Shown::Answers(id) => {
                let name = id.map(|id| format!(" ({})", escaped(&id)));
                let board = make.title.to_owned() + &name.unwrap_or_default();
                format!(
                    "it answers: {board}. Nothing on it can be tried: add it and make a move, and the page shows it"
                )
            }
            Shown::Nothing => format!(
                "a {} shows and says nothing before a move: add it and make one, and the page shows it",
                make.title
            ),
        };
        Ok(Granted::Tried { done, lamps })
    }

    async fn shown(&self) -> Result<(&'static Identity, Shown), Refused> {
        let (make, baud) = match (self.make, &self.sighting.way) {
            (Some(make), Way::Serial(port)) => {
                is_free(port).await.map_err(not_now)?;
                (make, None)
            }
            (Some(make), _) => (make, None),
            (None, _) => self.asked().await?,
        };
        let key = self.key.as_ref();
        if let Some(key) = key {
            fits(make, key)?;
        }
        let keys = files::keys(make, &self.sighting.way, baud, key).to_string();
        let config = BoardConfig::from_toml(&keys).map_err(|error| bad(&error))?;
        let transport = config.transport(&self.radio).map_err(bad)?;
        let mut link = transport.open().await.map_err(not_now)?;
        let shown = shown(&mut link, &mut *config.driver()).await;
        drop(link);
        transport.closed().await;
        Ok((make, shown.map_err(not_now)?))
    }

    /// What it is, and its speed.
    async fn asked(&self) -> Result<(&'static Identity, Option<u32>), Refused> {
        let (finding, line) = which(&port(&self.sighting)?).await;
        line.closed().await;
        match finding {
            Finding::Board { make, baud, .. } => Ok((make, Some(baud))),
            Finding::Silent => Err(unanswered(&self.sighting)),
            Finding::Barred(error) => Err(not_now(error)),
        }
    }
}

/// Waits until the board answers, and lets its lamps run. It is given no game.
async fn shown(link: &mut Link, driver: &mut dyn Driver) -> Result<Shown, String> {
    driver.link_up(now());
    let mut run = RUN.map(Bitboard::from).into_iter().chain([Bitboard::EMPTY]);
    let mut answers = false;
    let mut step_at = None;
    let mut greets = None;
    loop {
        while let Some(outgoing) = driver.poll_transmit(now()) {
            link.send(&outgoing);
        }
        while let Some(event) = driver.poll_event() {
            match event {
                DriverEvent::Answers { id } if !answers => {
                    answers = true;
                    if driver.signal(now(), Bitboard::EMPTY) {
                        step_at = Some(now() + ASKED);
                    } else {
                        greets = Some(Greets { id, until: None });
                    }
                }
                DriverEvent::Unheard => return Ok(Shown::Nothing),
                DriverEvent::Stranger(kind) => return Err(format!("it is a {kind}: say so")),
                _ => {}
            }
        }
        if let Some(why) = driver.poll_hang_up() {
            return Err(why);
        }
        if let Some(greets) = &mut greets
            && let Some(shown) = greets.shown(driver)
        {
            return Ok(shown);
        }
        if step_at.is_some_and(|at| at <= now()) {
            let Some(squares) = run.next() else {
                return Ok(Shown::Lamps);
            };
            driver.signal(now(), squares);
            step_at = Some(now() + STEP);
            continue;
        }
        let ends = greets.as_ref().and_then(Greets::deadline);
        let waits = [driver.deadline(), step_at, ends];
        let deadline = waits.into_iter().flatten().min();
        tokio::select! {
            () = sleep_until_some(deadline.map(Into::into)) => driver.timeout(now()),
            incoming = link.next() => match incoming? {
                Incoming::Received(channel, bytes) => driver.received(now(), channel, &bytes),
                Incoming::Answered(channel, outcome) => driver.answered(now(), channel, outcome),
            },
        }
    }
}

/// A word is shown on the clock of a board, if there is one.
struct Greets {
    /// The board's name.
    id: Option<String>,
    /// Until when the word stands, once it does.
    until: Option<Instant>,
}

impl Greets {
    /// Goes on with that. Returns what was seen of it in the end.
    fn shown(&mut self, driver: &mut dyn Driver) -> Option<Shown> {
        let now = now();
        let over = self.until.is_some_and(|until| until <= now);
        match (driver.greet(now, !over), self.until) {
            (Greeting::Awaited, _) => None,
            (Greeting::Done, None) => {
                self.until = Some(now + WORD);
                None
            }
            (Greeting::Done, Some(_)) => over.then_some(Shown::Word),
            (Greeting::Nowhere, None) => Some(Shown::Answers(self.id.take())),
            (Greeting::Nowhere, Some(_)) => Some(Shown::Word),
        }
    }

    /// When the word has stood for long enough.
    fn deadline(&self) -> Option<Instant> {
        self.until.filter(|until| *until > now())
    }
}

/// The runtime's clock, which a test may have paused.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn not_now(why: impl ToString) -> Refused {
    Refused::NotNow(why.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn bad(why: impl ToString) -> Refused {
    Refused::Bad(why.to_string())
}
