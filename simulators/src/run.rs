//! `boardbridge simulate`: a simulated board on a line or on the radio, its hand led from standard input, a game file, or
//! by chance; or the `WhitePawn` app.

use std::{
    io::{self, ErrorKind},
    path::PathBuf,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    sync::mpsc,
};

pub use super::registry::Kind;
use super::{
    HandAction, Report,
    hand::{Next, Player},
    port::{Happened, Port},
    radio::{self, Radio},
    registry::{self, Make, OnLine, OnRadio},
    swpp::{self, Opponent, Place, WhitePawnApp},
    turns::Turns,
};
use crate::outcome::Outcome;

/// Orders that may wait for a hand.
const MAX_ORDERS: usize = 64;

/// What to simulate.
#[derive(Debug)]
pub struct Settings {
    /// Which board.
    pub kind: Kind,
    /// A name for the pseudo-terminal, or for the socket of a D-Bus.
    pub link: Option<PathBuf>,
    /// A TCP address to be found at instead of a pseudo-terminal.
    pub listen: Option<String>,
    /// SWPP board: be on the radio, on a D-Bus of its own.
    pub ble: bool,
    /// Chessnut Air: be a HID device on USB, made by Linux.
    pub usb: bool,
    /// A real Bluetooth adapter to be on the air by.
    pub adapter: Option<String>,
    /// How many times shorter the board's limits are than a real one's.
    pub speed: f64,
    /// Chessnut, DGT, Pegasus: the board lies the other way round.
    pub turned: bool,
    /// Chessnut, DGT, Pegasus: the hand slides pieces over the squares in between.
    pub slides: bool,
    /// UCB: the "UCB Version".
    pub position_format: u8,
    /// Chessnut: the MTU of its link; absent, a large one.
    pub mtu: Option<u16>,
    /// How long the hand takes for a move; absent, it executes shown moves only when told to.
    pub hand_delay: Option<Duration>,
    /// For random moves.
    pub seed: u64,
    /// A hand, or an opponent in the app, that plays by itself.
    pub player: Option<Player>,
    /// SWPP board: what it is; its hand and its chances are those given above.
    pub swpp: swpp::board::Settings,
    /// App: what it is; its chances are those given above.
    pub app: swpp::app::Settings,
    /// App: where its board is.
    pub place: Place,
    /// App: the type of the games that its opponent announces.
    pub game_type: u8,
}

impl Settings {
    /// A board of this kind as it usually is, with a hand that waits to be told.
    pub fn of(kind: Kind) -> Self {
        Self {
            kind,
            link: None,
            listen: None,
            ble: false,
            usb: false,
            adapter: None,
            speed: 1.0,
            turned: false,
            slides: false,
            position_format: 2,
            mtu: None,
            hand_delay: None,
            seed: 1,
            player: None,
            swpp: swpp::board::Settings::default(),
            app: swpp::app::Settings::default(),
            place: Place::default(),
            game_type: swpp::opponent::GAME_TYPE,
        }
    }

    /// Whether it is on the radio.
    fn is_radio(&self) -> bool {
        match registry::make(self.kind) {
            Some(Make::Line(_)) | None => false,
            Some(Make::Radio(_)) => true,
            Some(Make::Either(..)) => self.ble || self.adapter.is_some(),
            Some(Make::RadioOrUsb(..)) => !self.usb,
        }
    }

    /// Where it would be, for messages.
    fn place(&self) -> String {
        if let Some(adapter) = &self.adapter {
            return adapter.clone();
        }
        if let Some(address) = &self.listen {
            return address.clone();
        }
        match &self.link {
            _ if self.usb => "the HID device".to_owned(),
            Some(link) => link.display().to_string(),
            None if self.is_radio() => "a D-Bus".to_owned(),
            None => "a pseudo-terminal".to_owned(),
        }
    }
}

/// A board on a line, in software. Nothing for one that is only on the radio, or for the app.
pub fn board(settings: &Settings) -> Option<OnLine> {
    match registry::make(settings.kind)? {
        Make::Line(make) | Make::Either(make, _) | Make::RadioOrUsb(_, make, _) => {
            Some(make(settings))
        }
        Make::Radio(_) => None,
    }
}

/// A board on the radio, in software, if it is wished there.
pub fn radio_board(settings: &Settings) -> Option<OnRadio> {
    match registry::make(settings.kind)? {
        Make::Radio(make) | Make::Either(_, make) | Make::RadioOrUsb(make, ..)
            if settings.is_radio() =>
        {
            Some(make(settings))
        }
        _ => None,
    }
}

/// Runs a simulation until its input ends or `stop` returns; that is called once the board is there. Every line of the output goes to
/// `say`, which must not wait for a reader.
///
/// # Errors
/// The place is not to be had; the words say which.
pub async fn run(
    mut settings: Settings,
    say: impl Fn(String),
    stop: impl AsyncFnOnce() -> io::Result<()>,
) -> io::Result<Outcome> {
    let delay = settings.hand_delay.unwrap_or_default();
    let player = settings.player.take();
    if settings.kind == Kind::WhitepawnApp {
        let opponent = player.map(|player| Opponent::new(player, delay, settings.game_type));
        let app = swpp::app::Settings {
            seed: settings.seed,
            ..settings.app
        };
        return swpp::call::run(WhitePawnApp::new(app, opponent), settings.place, say, stop).await;
    }
    let turns = Turns::new(player, delay, registry::told(settings.kind));
    match radio_board(&settings) {
        Some(board) => on_the_radio(board, &settings, turns, say, stop).await,
        None => on_a_line(&settings, turns, say, stop).await,
    }
}

/// For `map_err`.
fn not_to_be_had(settings: &Settings) -> impl FnOnce(io::Error) -> io::Error {
    let place = settings.place();
    let at_address = settings.listen.is_some();
    move |error| {
        let words = match error.kind() {
            ErrorKind::AddrInUse if at_address => format!(
                "{place} is in use: end the other program there, or take another port; port 0 is any free one"
            ),
            ErrorKind::AddrNotAvailable if at_address => {
                format!("{place} is not an address of this machine: 0.0.0.0 means all of them")
            }
            ErrorKind::AddrInUse | ErrorKind::AlreadyExists => format!(
                "{place} is there already: remove it, if no other simulator is running there, or give --link another name"
            ),
            ErrorKind::NotFound if !at_address => {
                format!("{place} cannot be made: the folder is not there")
            }
            ErrorKind::PermissionDenied => format!("{place}: this user may not do that there"),
            _ => format!("{place} cannot be used: {error}"),
        };
        io::Error::new(error.kind(), words)
    }
}

async fn on_the_radio(
    board: OnRadio,
    settings: &Settings,
    turns: Turns,
    say: impl Fn(String),
    stop: impl AsyncFnOnce() -> io::Result<()>,
) -> io::Result<Outcome> {
    let radio = match &settings.adapter {
        Some(adapter) => Radio::on_air(board, adapter).await,
        None => Radio::on_bus(board, settings.link.as_deref()),
    };
    radio::run(&radio.map_err(not_to_be_had(settings))?, turns, say, stop).await
}

async fn on_a_line(
    settings: &Settings,
    mut turns: Turns,
    say: impl Fn(String),
    stop: impl AsyncFnOnce() -> io::Result<()>,
) -> io::Result<Outcome> {
    let Some(board) = board(settings) else {
        return Ok(Outcome::Done);
    };
    let port = match (registry::make(settings.kind), &settings.listen) {
        (Some(Make::RadioOrUsb(_, _, identity)), _) => Port::on_usb(board, identity()),
        (_, Some(address)) => Port::listening(board, address.as_str()),
        (_, None) => Port::new(board, settings.link.clone()),
    };
    let mut port = port.map_err(not_to_be_had(settings))?;
    let stop = stop();
    tokio::pin!(stop);
    say(Report::Plugged(port.name().unwrap_or_default()).to_string());
    let (orders, mut hand) = mpsc::channel(MAX_ORDERS);
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    let mut input_open = true;
    loop {
        tokio::select! {
            // The link to the pseudo-terminal goes with the board.
            stopped = &mut stop => return stopped.map(|()| Outcome::Done),
            happened = port.next(&mut hand) => match happened? {
                Happened::Seen(report) => {
                    say(report.to_string());
                    turns.seen(&report);
                }
                Happened::HandGone => return Ok(Outcome::Done),
            },
            // Orders are sent while there is room: to wait for it here would be to wait for the hand, which this loop moves.
            line = input.next_line(), if input_open && orders.capacity() > 0 => match line? {
                Some(line) if line.trim().is_empty() => {}
                Some(line) => match line.parse::<HandAction>() {
                    Ok(order) => { let _ = orders.send(order).await; }
                    Err(error) => say(Report::Refused(error.to_string()).to_string()),
                },
                // A hand that plays by itself needs no orders.
                None if turns.has_player() => input_open = false,
                None => return Ok(Outcome::Done),
            },
            () = turns.due(), if orders.capacity() > 0 => {
                let board = port.board();
                if board.is_at_work() {
                    turns.later();
                    continue;
                }
                match turns.next(board.game(), board.shown().is_some()) {
                    Next::Wait => {}
                    Next::Do(action) => { let _ = orders.send(action).await; }
                    Next::Done => {
                        say("done".to_owned());
                        return Ok(Outcome::Done);
                    }
                    Next::Astray => {
                        say("astray".to_owned());
                        return Ok(Outcome::Astray);
                    }
                }
            }
        }
    }
}
