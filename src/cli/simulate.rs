//! The command line of `boardbridge simulate`.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{ArgMatches, ValueEnum as _, parser::ValueSource};
use simulators::{
    hand::Plays,
    phone_radio::PhoneRadio,
    run::Kind,
    serial::SerialPort,
    swpp::{Place, Style, board::Answer, opponent::GAME_TYPE, place::DEFAULT_TCP},
};

use crate::{
    front_end::whitepawn::settings::DEFAULT_NAME, net::address::is_address, text::swpp::NORDIC_UART,
};

/// What to simulate.
#[derive(Debug, clap::Args)]
pub struct Simulate {
    /// The board, or the app.
    pub kind: Kind,
    /// Make this a symbolic link to the pseudo-terminal, or the socket of the D-Bus.
    #[arg(long, value_name = "PATH")]
    pub link: Option<PathBuf>,
    /// Listen here instead of on a pseudo-terminal; port 0 takes any free one. The newest connection wins.
    #[arg(long, value_name = "HOST:PORT", value_parser = address, conflicts_with_all = ["link", "adapter", "ble"])]
    pub listen: Option<String>,
    /// Neo, Chessnut, Pegasus, SWPP board: advertise through this real Bluetooth adapter, such as hci1. App: the adapter to look for its
    /// board with.
    #[arg(long, value_name = "NAME", conflicts_with = "link")]
    pub adapter: Option<String>,
    /// UCB: the "UCB Version", 1 or 2.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub position_format: u8,
    /// Chessnut Air: be plugged in on USB, as a HID device that Linux makes (module uhid). Needs root.
    #[arg(long, conflicts_with_all = ["link", "adapter", "mtu"])]
    pub usb: bool,
    /// Chessnut: the MTU of its link, in bytes. A notification carries 3 less: with 23, the least, its positions are cut.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(23..=517))]
    pub mtu: Option<u16>,
    /// All boards but the SWPP board: how many times faster than a real one the board is.
    #[arg(long, default_value_t = 1.0, value_parser = speed)]
    pub speed: f64,
    /// Chessnut, DGT, Pegasus: the board lies the other way round.
    #[arg(long)]
    pub turned: bool,
    /// Chessnut, DGT, Pegasus: the hand slides the pieces over the squares in between.
    #[arg(long)]
    pub slides: bool,
    /// How long the hand takes to execute a shown move, or never (then it waits for "execute"). App: how long its
    /// opponent thinks.
    #[arg(long, default_value = "500ms", value_parser = hand_delay)]
    pub hand_delay: HandDelay,
    /// Let the hand, or the app's opponent, play a game from this file: one game per line, UCI moves.
    #[arg(long, value_name = "FILE")]
    pub game: Option<PathBuf>,
    /// The line of the file, counted from 1.
    #[arg(long, default_value_t = 1, requires = "game")]
    pub line: usize,
    /// Let the hand, or the app's opponent, play random legal moves chosen by this seed. A Neo's hand, a board in the
    /// style bare and the app promote to queens only: a Neo and its hand cannot learn of other pieces.
    #[arg(long, conflicts_with = "game")]
    pub seed: Option<u64>,
    /// Whose moves are played, with --game or --seed.
    #[arg(long, default_value = "white")]
    pub plays: Plays,
    /// SWPP board and app.
    #[command(flatten)]
    pub swpp: Swpp,
}

impl Simulate {
    /// An option that was given but does not apply.
    pub fn unfit(&self, given: &ArgMatches) -> Option<String> {
        USES.iter()
            .filter(|(option, ..)| given.value_source(option) == Some(ValueSource::CommandLine))
            .find_map(|(option, uses)| self.why_unfit(&option.replace('_', "-"), uses))
    }

    fn why_unfit(&self, option: &str, uses: &[Use]) -> Option<String> {
        let Some((_, when)) = uses.iter().find(|(kinds, _)| kinds.has(self.kind)) else {
            let fits = |kind: &&Kind| uses.iter().any(|(kinds, _)| kinds.has(**kind));
            let kinds = Kind::value_variants().iter().filter(fits);
            let kinds: Vec<String> = kinds.map(ToString::to_string).collect();
            return Some(format!(
                "--{option} is for {} only: see `boardbridge simulate --help`",
                kinds.join(" and ")
            ));
        };
        let plays = self.game.is_some() || self.seed.is_some();
        let (fits, words) = match when {
            When::Always => return None,
            When::OnBle => (self.swpp.ble, "only with --ble"),
            When::OnTheRadio => (
                self.swpp.ble || self.adapter.is_some(),
                "only with --ble or --adapter",
            ),
            When::OffBle => (!self.swpp.ble, "only without --ble"),
            When::Playing => (plays, "only with --game or --seed"),
        };
        (!fits).then(|| format!("--{option} is for {} {words}", self.kind))
    }
}

/// The kinds that an option applies to, and when.
type Use = (Kinds, When);

/// The kinds that an option applies to.
#[derive(Clone, Copy, Debug)]
enum Kinds {
    /// Every board.
    Boards,
    /// Boards that can be on a line.
    Lines,
    /// Boards that can be on the radio.
    Radios,
    /// Boards with limits that can be shortened.
    Paced,
    These(&'static [Kind]),
}

impl Kinds {
    fn has(self, kind: Kind) -> bool {
        match self {
            Self::Boards => kind.is_board(),
            Self::Lines => kind.takes_line(),
            Self::Radios => kind.takes_radio(),
            Self::Paced => kind.is_board() && kind != Kind::SwppBoard,
            Self::These(kinds) => kinds.contains(&kind),
        }
    }
}

/// When an option applies.
#[derive(Clone, Copy, Debug)]
enum When {
    Always,
    OnBle,
    OnTheRadio,
    OffBle,
    /// The hand or the opponent plays by itself.
    Playing,
}

/// The kinds and conditions for each option that does not always apply.
const USES: [(&str, &[Use]); 19] = {
    use Kind::{
        ChessnutAir, ChessnutMove, DgtBoard, DgtPegasus, DgtRevelation, NovagUcb, SwppBoard,
        WhitepawnApp,
    };
    use Kinds::{Boards, Lines, Paced, Radios, These};
    const APP: Kinds = These(&[WhitepawnApp]);
    const SWPP: Kinds = These(&[SwppBoard]);
    const SENSED: Kinds = These(&[
        DgtBoard,
        DgtRevelation,
        ChessnutAir,
        ChessnutMove,
        DgtPegasus,
    ]);
    [
        ("link", &[(Boards, When::Always), (APP, When::OffBle)]),
        ("listen", &[(Lines, When::Always)]),
        ("adapter", &[(Radios, When::Always), (APP, When::OnBle)]),
        ("position_format", &[(These(&[NovagUcb]), When::Always)]),
        ("usb", &[(These(&[ChessnutAir]), When::Always)]),
        (
            "mtu",
            &[(These(&[ChessnutAir, ChessnutMove]), When::Always)],
        ),
        ("speed", &[(Paced, When::Always)]),
        ("turned", &[(SENSED, When::Always)]),
        ("slides", &[(SENSED, When::Always)]),
        (
            "hand_delay",
            &[(Boards, When::Always), (APP, When::Playing)],
        ),
        ("plays", &[(Boards, When::Playing), (APP, When::Playing)]),
        ("style", &[(SWPP, When::Always), (APP, When::Always)]),
        ("ble", &[(SWPP, When::Always), (APP, When::Always)]),
        ("name", &[(SWPP, When::OnTheRadio), (APP, When::OnBle)]),
        ("answer", &[(SWPP, When::Always)]),
        ("connect", &[(APP, When::OffBle)]),
        ("port", &[(APP, When::OffBle)]),
        ("baud", &[(APP, When::OffBle)]),
        ("game_type", &[(APP, When::Playing)]),
    ]
};

/// The two ends of SWPP.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "SWPP board and WhitePawn app")]
pub struct Swpp {
    /// How tidily it writes.
    #[arg(long, value_enum, default_value_t)]
    pub style: Style,
    /// Board: advertise on Bluetooth, on a D-Bus of its own. App: look for its board over Bluetooth LE.
    #[arg(long)]
    pub ble: bool,
    /// The board's name on Bluetooth, for the board and the app that looks for it.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Board: how it answers the handshake: prompt, never, short (its version is not filled up), or after a delay, such
    /// as 250ms.
    #[arg(long, value_name = "HOW", default_value = "prompt", value_parser = answer)]
    pub answer: Answer,
    /// App: connect to this board.
    #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_TCP, value_parser = address, conflicts_with_all = ["port", "link"])]
    pub connect: String,
    /// App: open this serial port or pseudo-terminal instead (8N1). With --link it has a pseudo-terminal of its own.
    #[arg(long, value_name = "PATH", conflicts_with = "link")]
    pub port: Option<PathBuf>,
    /// App: the port's speed.
    #[arg(
        long,
        value_name = "BITS",
        default_value_t = 115_200,
        requires = "port"
    )]
    pub baud: u32,
    /// App: the type of the games that its opponent announces, with --game or --seed.
    #[arg(long, value_name = "TYPE", default_value_t = GAME_TYPE, value_parser = game_type)]
    pub game_type: u8,
}

impl Swpp {
    /// Where the app finds its board.
    pub fn place(&self, link: Option<&Path>, adapter: Option<&str>) -> Place {
        if self.ble {
            let [_, write, notify] = NORDIC_UART;
            return Place::Ble(PhoneRadio {
                adapter: adapter.map(str::to_owned),
                name: self.name.clone().unwrap_or(DEFAULT_NAME.to_owned()),
                write,
                notify,
            });
        }
        match (&self.port, link) {
            (Some(port), _) => {
                Place::Serial(SerialPort::new(port.display().to_string(), self.baud))
            }
            (None, Some(link)) => Place::Pty(Some(link.to_owned())),
            (None, None) => Place::Tcp(self.connect.clone()),
        }
    }
}

/// How long a hand takes for a move; `None` if it waits for an order.
#[derive(Clone, Copy, Debug)]
pub struct HandDelay(pub Option<Duration>);

fn hand_delay(text: &str) -> Result<HandDelay, String> {
    if text == "never" {
        return Ok(HandDelay(None));
    }
    let delay = humantime::parse_duration(text);
    delay
        .map(|delay| HandDelay(Some(delay)))
        .map_err(|error| format!("{error}: write a number with a unit, such as 500ms, or never"))
}

fn address(text: &str) -> Result<String, String> {
    if is_address(text) {
        Ok(text.to_owned())
    } else {
        Err("write HOST:PORT, for instance 127.0.0.1:9700".to_owned())
    }
}

fn game_type(text: &str) -> Result<u8, String> {
    match text {
        "0" => Ok(0),
        "1" => Ok(1),
        "2" => Ok(2),
        "3" => Ok(3),
        _ => Err("write 0 (offline), 1 (engine), 2 (WhitePawn) or 3 (Lichess)".to_owned()),
    }
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if (0.01..=1000.0).contains(&speed) => Ok(speed),
        _ => Err("a number from 0.01 to 1000".to_owned()),
    }
}

fn answer(text: &str) -> Result<Answer, String> {
    match text {
        "prompt" => Ok(Answer::Prompt),
        "never" => Ok(Answer::Never),
        "short" => Ok(Answer::Short),
        late => humantime::parse_duration(late)
            .map(Answer::Late)
            .map_err(|error| {
                format!(
                    "{error}: write prompt, never, short, or a number with a unit, such as 250ms"
                )
            }),
    }
}
