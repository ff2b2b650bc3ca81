//! `[boards.NAME]`: a board's kind, how it is reached, and its pacing.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::value::{Address, Listen, LongUuid, Span};
use crate::{
    driver::neo::{
        Promotion,
        motor::parking::{LEFTMOST, RIGHTMOST},
    },
    transport::ble::Wanted,
    vocabulary::BoardKind,
};

/// A problem in a part of the configuration: the key, relative to that part, and the message.
pub(super) type Wrong = (Vec<&'static str>, String);

/// Keys that only some kinds have.
const KEYS_OF_KINDS: [(&str, &[BoardKind]); 20] = {
    use BoardKind::{MikoNeo, NovagCitrine, NovagUcb, Swpp};
    [
        ("serial", &[NovagCitrine, NovagUcb, Swpp]),
        ("ble", &[MikoNeo, Swpp]),
        ("tcp", &[Swpp]),
        ("write", &[Swpp]),
        ("notify", &[Swpp]),
        ("position_format", &[NovagUcb]),
        ("line_gap", &[NovagUcb]),
        ("dialect", &[NovagCitrine]),
        ("level", &[NovagCitrine]),
        ("command_gap", &[NovagCitrine]),
        ("second_send", &[NovagCitrine]),
        ("second_send_capture", &[NovagCitrine]),
        ("move_wait", &[NovagCitrine, NovagUcb, Swpp]),
        ("setup_wait", &[NovagCitrine, NovagUcb]),
        ("motor", &[MikoNeo]),
        ("promotion", &[MikoNeo]),
        ("old_signs", &[MikoNeo]),
        ("parking", &[MikoNeo]),
        ("settle", &[MikoNeo]),
        ("forgets", &[Swpp]),
    ]
};

/// Whether a board of this kind has this key, if it is one of them.
pub(super) fn takes(kind: BoardKind, key: &str) -> bool {
    let found = KEYS_OF_KINDS.iter().find(|(known, _)| *known == key);
    found.is_none_or(|(_, kinds)| kinds.contains(&kind))
}

fn refuses(kind: BoardKind, key: &str) -> String {
    let found = KEYS_OF_KINDS.iter().find(|(known, _)| *known == key);
    let kinds = found.map_or(&[][..], |(_, kinds)| kinds);
    let kinds: Vec<_> = kinds.iter().map(ToString::to_string).collect();
    format!(
        "is a key of {} only: take it out of this {kind}",
        kinds.join(" and ")
    )
}

/// Boards that speak the Citrine's dialect; they differ in speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Citrine: 57600 baud.
    #[default]
    Citrine,
    /// Star Diamond: 57600 baud.
    StarDiamond,
    /// Star Sapphire: 57600 baud.
    StarSapphire,
    /// Sapphire I and II: 9600 baud.
    Sapphire,
    /// Diamond I and II: 9600 baud.
    Diamond,
    /// Super Forte: 9600 baud (some 1200: set `baud`).
    SuperForte,
    /// Super Expert C: 9600 baud (some 1200: set `baud`).
    ExpertC,
}

impl Dialect {
    /// The default speed of these boards, in baud.
    pub fn baud(self) -> u32 {
        match self {
            Self::Citrine | Self::StarDiamond | Self::StarSapphire => 57_600,
            Self::Sapphire | Self::Diamond | Self::SuperForte | Self::ExpertC => 9_600,
        }
    }
}

/// `serial = { … }`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table: { port = \"/dev/ttyUSB0\" }"
)]
pub struct SerialConfig {
    /// For instance `/dev/ttyUSB0`.
    pub port: String,
    /// Bits per second; the default depends on the kind.
    pub baud: Option<u32>,
}

impl SerialConfig {
    /// Checks what the types cannot: returns the key, relative to the owner of the port, and the problem.
    pub(super) fn problems(&self) -> Vec<Wrong> {
        let mut problems = Vec::new();
        let port = vec!["serial", "port"];
        if self.port.is_empty() {
            problems.push((port, "is empty: for instance \"/dev/ttyUSB0\"".to_owned()));
        } else if cfg!(unix) && !self.port.starts_with('/') {
            let problem = format!("`{0}` is no path: write \"/dev/{0}\"", self.port);
            problems.push((port, problem));
        }
        if self.baud.is_some_and(|baud| !BAUDS.contains(&baud)) {
            let problem = format!("is a speed in baud, {} to {}", BAUDS.start(), BAUDS.end());
            problems.push((vec!["serial", "baud"], problem));
        }
        problems
    }
}

/// `ble = { … }`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table: { name = \"…\" } or { address = \"…\" }"
)]
pub struct BleConfig {
    /// The name the board advertises, or its beginning.
    pub name: Option<String>,
    /// The board's hardware address.
    pub address: Option<String>,
    /// The adapter to use, such as `hci1`; the first one by default.
    pub adapter: Option<String>,
    /// SWPP: the characteristic written to; Nordic UART by default.
    pub write: Option<LongUuid>,
    /// SWPP: the characteristic the board notifies.
    pub notify: Option<LongUuid>,
}

impl BleConfig {
    /// The board to connect to.
    pub fn wanted(&self) -> Option<Wanted> {
        let name = self.name.clone().map(Wanted::Name);
        let address = self.address.clone().map(Wanted::Address);
        name.or(address)
    }

    fn problems(&self) -> Vec<Wrong> {
        let mut problems = Vec::new();
        let keys = [("name", &self.name), ("address", &self.address)];
        let given = keys.iter().filter(|(_, value)| value.is_some()).count();
        if given != 1 {
            let problem = "give either name or address".to_owned();
            problems.push((vec!["ble"], problem));
        }
        for (key, value) in keys {
            let named = check_name(value.as_deref(), MAX_BLE_NAME);
            problems.extend(named.err().map(|problem| (vec!["ble", key], problem)));
        }
        let adapter = check_adapter(self.adapter.as_deref());
        problems.extend(
            adapter
                .err()
                .map(|problem| (vec!["ble", "adapter"], problem)),
        );
        if let Some(address) = self.address.as_ref().filter(|address| !address.is_empty()) {
            let parts: Vec<&str> = address.split(':').collect();
            let byte = |part: &&str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit());
            if parts.len() != 6 || !parts.iter().all(byte) {
                let problem =
                    format!("`{address}` is no address: for instance \"AA:BB:CC:DD:EE:FF\"");
                problems.push((vec!["ble", "address"], problem));
            }
        }
        problems
    }
}

/// Checks that this can be the name of a Bluetooth device or service; otherwise returns the problem.
pub(super) fn check_name(name: Option<&str>, longest: usize) -> Result<(), String> {
    let Some(name) = name else { return Ok(()) };
    if !(1..=longest).contains(&name.len()) {
        return Err(format!("has 1 to {longest} characters"));
    }
    if name.contains(char::is_control) {
        return Err(format!(
            "{name:?} is no name: write it on one line, in plain text"
        ));
    }
    Ok(())
}

/// Checks that this can be the name of an adapter; otherwise returns the problem.
pub(super) fn check_adapter(adapter: Option<&str>) -> Result<(), String> {
    match adapter {
        Some(adapter)
            if adapter.is_empty() || !adapter.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            Err(format!(
                "{adapter:?} is no adapter: for instance \"hci1\"; `bluetoothctl list` shows them"
            ))
        }
        _ => Ok(()),
    }
}

/// `tcp = { … }`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table: { address = \"127.0.0.1:9700\" }"
)]
pub struct TcpConfig {
    /// Address and port.
    pub address: Address,
}

/// `[boards.NAME]`
#[derive(Clone, Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table [boards.NAME] with a kind and a port"
)]
pub struct BoardConfig {
    /// The make.
    pub kind: BoardKind,
    /// Reached over a serial port.
    pub serial: Option<SerialConfig>,
    /// Reached over Bluetooth LE.
    pub ble: Option<BleConfig>,
    /// Reached over TCP.
    pub tcp: Option<TcpConfig>,
    /// A UCI port for this board alone.
    pub uci_listen: Option<Listen>,
    /// A directory for recordings.
    pub record: Option<PathBuf>,
    /// How long the hand may take to correct a mistake before the board is led back.
    pub correction_wait: Option<Span>,
    /// How long the hand may take for a shown move before the next is shown.
    pub move_wait: Option<Span>,
    /// How long the hand may take to set up a position.
    pub setup_wait: Option<Span>,
    /// UCB: the "UCB Version", 1 or 2.
    pub position_format: Option<u8>,
    /// UCB: minimum time between two lines.
    pub line_gap: Option<Span>,
    /// Citrine: which of the sister boards.
    pub dialect: Option<Dialect>,
    /// Citrine: the level set at every new game.
    pub level: Option<String>,
    /// Citrine: minimum time between two commands.
    pub command_gap: Option<Span>,
    /// Citrine: time between the two sends of a move.
    pub second_send: Option<Span>,
    /// Citrine: time between the two sends of a capture.
    pub second_send_capture: Option<Span>,
    /// Neo: whether its motor makes the program's moves.
    pub motor: Option<bool>,
    /// Neo: how the player's promotion piece is chosen.
    pub promotion: Option<Promotion>,
    /// Neo: its firmware takes signs as `27#…` commands.
    pub old_signs: Option<bool>,
    /// Neo: columns beside the board for captured pieces, the best first.
    pub parking: Option<Vec<i8>>,
    /// Neo: how long to wait for a piece that may still move on.
    pub settle: Option<Span>,
    /// SWPP: whether the board forgets its game when its link is opened again; by default it does on a serial line, and
    /// on others its answer decides.
    pub forgets: Option<bool>,
}

/// Default of `correction_wait`: time to see the mistake and to put the piece back.
pub const CORRECTION_WAIT: Duration = Duration::from_secs(3);
/// The longest name of a Bluetooth device, in bytes (Bluetooth core specification, local name).
pub const MAX_BLE_NAME: usize = 248;
/// Speeds a serial line can have, in baud.
pub const BAUDS: std::ops::RangeInclusive<u32> = 300..=921_600;
/// The longest gap between two commands: with a longer one a board only seems dead.
pub const LONGEST_GAP: Duration = Duration::from_secs(10);

impl BoardConfig {
    /// How long the hand may take to correct a mistake.
    pub fn correction_wait(&self) -> Duration {
        self.correction_wait.map_or(CORRECTION_WAIT, |span| span.0)
    }

    /// Checks what the types cannot: returns the key, relative to the board, and the problem.
    pub(super) fn problems(&self) -> Vec<Wrong> {
        let mut problems = self.transport_problems();
        problems.extend(self.keys_of_other_kinds());
        if !matches!(self.position_format, None | Some(1 | 2)) {
            problems.push((
                vec!["position_format"],
                "is 1 or 2, the \"UCB Version\"".to_owned(),
            ));
        }
        if let Some(level) = &self.level {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == ' ';
            if level.is_empty() || level.len() > 16 || !level.chars().all(plain) {
                let problem = format!("{level:?} is no level: for instance \"TR8\" or \"AT1\"");
                problems.push((vec!["level"], problem));
            }
        }
        for (key, gap) in [
            ("line_gap", self.line_gap),
            ("command_gap", self.command_gap),
            ("second_send", self.second_send),
            ("second_send_capture", self.second_send_capture),
            ("settle", self.settle),
        ] {
            if gap.is_some_and(|gap| gap.0 > LONGEST_GAP) {
                problems.push((vec![key], "is too long: at most \"10s\"".to_owned()));
            }
        }
        if let Some(parking) = &self.parking {
            let beside =
                |column: &i8| (LEFTMOST..0).contains(column) || (8..=RIGHTMOST).contains(column);
            if !parking.iter().all(beside) {
                let problem = format!(
                    "names columns beside the board: {LEFTMOST} to -1 on the left, 8 to {RIGHTMOST} on the right"
                );
                problems.push((vec!["parking"], problem));
            }
        }
        problems
    }

    fn transport_problems(&self) -> Vec<Wrong> {
        let mut problems = Vec::new();
        let given: Vec<&'static str> = [
            ("serial", self.serial.is_some()),
            ("ble", self.ble.is_some()),
            ("tcp", self.tcp.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, given)| given.then_some(key))
        .collect();
        match given[..] {
            [way] if !takes(self.kind, way) => {
                let right = if self.kind == BoardKind::MikoNeo {
                    "ble"
                } else {
                    "serial"
                };
                problems.push((vec![way], format!("a {} is reached by {right}", self.kind)));
            }
            [_] => {}
            _ => {
                let found = match given.len() {
                    0 => "none is given".to_owned(),
                    _ => format!("{} are given", given.join(" and ")),
                };
                let problem = format!(
                    "a board has exactly one of serial, ble, tcp: {found}; for instance serial = {{ port = \
                     \"/dev/ttyUSB0\" }}"
                );
                problems.push((Vec::new(), problem));
            }
        }
        if let Some(serial) = &self.serial {
            problems.extend(serial.problems());
        }
        if let Some(ble) = &self.ble {
            problems.extend(ble.problems());
            for (key, given) in [("write", ble.write), ("notify", ble.notify)] {
                if given.is_some() && !takes(self.kind, key) {
                    problems.push((vec!["ble", key], refuses(self.kind, key)));
                }
            }
        }
        problems
    }

    fn keys_of_other_kinds(&self) -> impl Iterator<Item = Wrong> {
        let keys = [
            ("position_format", self.position_format.is_some()),
            ("line_gap", self.line_gap.is_some()),
            ("dialect", self.dialect.is_some()),
            ("level", self.level.is_some()),
            ("command_gap", self.command_gap.is_some()),
            ("second_send", self.second_send.is_some()),
            ("second_send_capture", self.second_send_capture.is_some()),
            ("move_wait", self.move_wait.is_some()),
            ("setup_wait", self.setup_wait.is_some()),
            ("motor", self.motor.is_some()),
            ("promotion", self.promotion.is_some()),
            ("old_signs", self.old_signs.is_some()),
            ("parking", self.parking.is_some()),
            ("settle", self.settle.is_some()),
            ("forgets", self.forgets.is_some()),
        ];
        let kind = self.kind;
        keys.into_iter()
            .filter(move |(key, given)| *given && !takes(kind, key))
            .map(move |(key, _)| (vec![key], refuses(kind, key)))
    }
}

impl BoardConfig {
    /// The board without its transport, as TOML: the head of a recording.
    pub fn to_toml(&self) -> String {
        let mut lines = vec![format!("kind = \"{}\"", self.kind)];
        if let Some(format) = self.position_format {
            lines.push(format!("position_format = {format}"));
        }
        if let Some(level) = &self.level {
            lines.push(format!("level = {level:?}"));
        }
        if let Some(dialect) = self.dialect
            && let Ok(serde_json::Value::String(name)) = serde_json::to_value(dialect)
        {
            lines.push(format!("dialect = \"{name}\""));
        }
        for (key, span) in [
            ("correction_wait", self.correction_wait),
            ("move_wait", self.move_wait),
            ("setup_wait", self.setup_wait),
            ("line_gap", self.line_gap),
            ("command_gap", self.command_gap),
            ("second_send", self.second_send),
            ("second_send_capture", self.second_send_capture),
            ("settle", self.settle),
        ] {
            if let Some(span) = span {
                lines.push(format!(
                    "{key} = \"{}\"",
                    humantime::format_duration(span.0)
                ));
            }
        }
        if let Some(ble) = self.ble.as_ref().filter(|_| self.kind == BoardKind::Swpp) {
            // The transport decides what such a board is told.
            let keys = [("write", ble.write), ("notify", ble.notify)];
            let keys = keys
                .into_iter()
                .filter_map(|(key, uuid)| Some(format!("{key} = \"{}\"", uuid?.0)));
            lines.push(format!(
                "ble = {{ {} }}",
                keys.collect::<Vec<_>>().join(", ")
            ));
        }
        if let Some(motor) = self.motor {
            lines.push(format!("motor = {motor}"));
        }
        if let Some(promotion) = self.promotion {
            lines.push(format!("promotion = \"{promotion}\""));
        }
        if let Some(old_signs) = self.old_signs {
            lines.push(format!("old_signs = {old_signs}"));
        }
        if let Some(parking) = &self.parking {
            lines.push(format!("parking = {parking:?}"));
        }
        lines.join("\n")
    }
}
