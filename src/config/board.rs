//! `[boards.NAME]`: a board's kind, how it is reached, and what it is set to. The keys of one kind are in its driver's
//! room.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
    time::Duration,
};

use figment::{
    Error,
    error::Kind,
    value::{Dict, Value},
};
use serde::{Deserialize, Deserializer, de};

use super::value::{Address, Served, from_home};
use crate::{
    driver::{
        Driver,
        identity::{Identity, Key, Medium, Settings},
        registry::{self, MAKES},
    },
    durations::span,
    toml_value::text,
    vocabulary::{BoardKind, CORRECTION_WAIT},
};

/// A problem in a part of the configuration: the key, relative to that part, and the message.
pub(super) type Wrong = (Vec<&'static str>, String);

/// The longest name of a Bluetooth device, in bytes (Bluetooth core specification, local name).
pub const MAX_BLE_NAME: usize = 248;
/// Speeds a serial line can have, in baud.
pub const BAUDS: std::ops::RangeInclusive<u32> = 300..=921_600;

/// Every kind.
pub(super) static KINDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| MAKES.iter().map(|make| make.kind.as_str()).collect());
/// Keys of every board, and of its transport.
pub const KEYS: [Key; 15] = [
    key(&["kind"], "What board it is."),
    key(
        &["serial"],
        "For a board at a serial port: { port = \"/dev/ttyUSB0\" }.",
    ),
    key(
        &["serial", "port"],
        "The port; `boardbridge scan` shows it.",
    ),
    key(
        &["serial", "baud"],
        "Bits per second, if not those given below.",
    ),
    key(
        &["ble"],
        "For a board with Bluetooth LE: { name = \"…\" } or { address = \"…\" }.",
    ),
    key(&["ble", "name"], "Its name, or the beginning of it."),
    key(
        &["ble", "address"],
        "Its hardware address, such as \"AA:BB:CC:DD:EE:FF\".",
    ),
    key(
        &["ble", "adapter"],
        "The adapter to use, such as \"hci1\"; without it the first.",
    ),
    key(
        &["tcp"],
        "For a board in the network: { address = \"192.168.1.20:9700\" }.",
    ),
    key(&["tcp", "address"], "Where it is: HOST:PORT."),
    key(
        &["uci_listen"],
        "A UCI port for this board alone: \"127.0.0.1:9671\", or { listen = \"…\", allow = … }.",
    ),
    key(&["uci_listen", "listen"], "Its address and port."),
    key(
        &["uci_listen", "allow"],
        "Which addresses may connect there, as `allow` in [uci].",
    ),
    key(
        &["record"],
        "A folder for transcripts of every session, for bug reports.",
    ),
    key(
        &["correction_wait"],
        "How long you have to correct a mistake before the board is led back, \"3s\" without it.",
    ),
];

const fn key(path: &'static [&'static str], meaning: &'static str) -> Key {
    Key { path, meaning }
}

/// Whether every board has this key.
fn is_common(path: &[&str]) -> bool {
    KEYS.iter().any(|key| key.path == path)
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
        } else if let Some(problem) = from_home(Path::new(&self.port)) {
            problems.push((port, problem));
        } else if cfg!(unix) && !self.port.starts_with('/') {
            let problem = if self.port.to_ascii_uppercase().starts_with("COM") {
                format!(
                    "`{}` is a name of Windows: `boardbridge scan` lists the ports of this machine",
                    self.port
                )
            } else {
                format!("`{0}` is not a path: write \"/dev/{0}\"", self.port)
            };
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
}

impl BleConfig {
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
                let problem = format!(
                    "`{address}` is not a valid address: for instance \"AA:BB:CC:DD:EE:FF\""
                );
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
            "{name:?} is not a valid name: use one line of plain text"
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
                "{adapter:?} is not the name of an adapter: write for instance \"hci1\"; `bluetoothctl list` shows them"
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
#[derive(Clone, Debug)]
pub struct BoardConfig {
    /// The make.
    pub make: &'static Identity,
    /// Reached over a serial port.
    pub serial: Option<SerialConfig>,
    /// Reached over Bluetooth LE.
    pub ble: Option<BleConfig>,
    /// Reached over TCP.
    pub tcp: Option<TcpConfig>,
    /// A UCI port for this board alone.
    pub uci_listen: Option<Served>,
    /// A directory for recordings.
    pub record: Option<PathBuf>,
    /// How long the hand may take to correct a mistake before the board is led back.
    pub correction_wait: Duration,
    /// What its kind can be set to.
    pub settings: Arc<dyn Settings>,
    /// As it was written.
    given: Dict,
}

/// The keys of every board, for serde.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    #[serde(deserialize_with = "known_make")]
    kind: &'static Identity,
    serial: Option<SerialConfig>,
    ble: Option<BleConfig>,
    tcp: Option<TcpConfig>,
    uci_listen: Option<Served>,
    record: Option<PathBuf>,
    #[serde(default = "correction_wait", with = "span")]
    correction_wait: Duration,
}

fn correction_wait() -> Duration {
    CORRECTION_WAIT
}

fn known_make<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static Identity, D::Error> {
    let name: String = text(deserializer, "a text in quotes such as \"novag-citrine\"")?;
    let unknown = || de::Error::unknown_variant(&name, &KINDS);
    registry::make(&name).ok_or_else(unknown)
}

/// As they were written.
impl PartialEq for BoardConfig {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

impl BoardConfig {
    /// Reads `[boards.NAME]`.
    ///
    /// serde alone cannot: which keys there are depends on the kind.
    ///
    /// # Errors
    /// The first mistake, with its path within the board.
    pub(super) fn read(value: &Value) -> Result<Self, Box<Error>> {
        let Value::Dict(_, given) = value else {
            let wanted = "a table [boards.NAME] with a kind and a port".to_owned();
            let error = Error::from(Kind::InvalidType(value.to_actual(), wanted));
            let is_list = matches!(value, Value::Array(..));
            return Err(error.with_path(if is_list { "0" } else { "" }).into());
        };
        let kind = given.get("kind").and_then(Value::as_str);
        let make = kind.and_then(registry::make);
        let mut common = Dict::new();
        let mut own = Dict::new();
        for (name, value) in given {
            match value {
                Value::Dict(tag, inside) if name == "ble" => {
                    let mut ble = Dict::new();
                    for (name, value) in inside {
                        if is_common(&["ble", name]) {
                            ble.insert(name.clone(), value.clone());
                        } else {
                            own.insert(own_key(make, &["ble", name], value)?, value.clone());
                        }
                    }
                    common.insert(name.clone(), Value::Dict(*tag, ble));
                }
                _ if is_common(&[name]) => {
                    common.insert(name.clone(), value.clone());
                }
                _ => {
                    own.insert(own_key(make, &[name], value)?, value.clone());
                }
            }
        }
        let common: Common = Value::from(common).deserialize()?;
        Ok(Self {
            make: common.kind,
            serial: common.serial,
            ble: common.ble,
            tcp: common.tcp,
            uci_listen: common.uci_listen,
            record: common.record,
            correction_wait: common.correction_wait,
            settings: (common.kind.read)(&Value::from(own))?,
            given: given.clone(),
        })
    }

    /// The board without its UCI port: what its task depends on.
    pub fn alone(&self) -> Self {
        let mut alone = self.clone();
        alone.uci_listen = None;
        alone.given.remove("uci_listen");
        alone
    }

    /// The driver for this board.
    pub fn driver(&self) -> Box<dyn Driver> {
        self.settings.driver(self.medium())
    }

    /// How it is reached, if that is given.
    fn medium(&self) -> Option<Medium> {
        let serial = self.serial.as_ref().map(|_| Medium::Serial);
        let ble = self.ble.as_ref().map(|_| Medium::Ble);
        let tcp = self.tcp.as_ref().map(|_| Medium::Tcp);
        serial.or(ble).or(tcp)
    }

    /// Checks what the types cannot: returns the key, relative to the board, and the problem.
    pub(super) fn problems(&self) -> Vec<Wrong> {
        let mut problems = Vec::new();
        let given = [
            (Medium::Serial, self.serial.is_some()),
            (Medium::Ble, self.ble.is_some()),
            (Medium::Tcp, self.tcp.is_some()),
        ];
        let given = given.iter().filter(|(_, given)| *given);
        let given: Vec<Medium> = given.map(|(medium, _)| *medium).collect();
        match given[..] {
            [medium] if !self.make.media.contains(&medium) => {
                let problem = format!(
                    "a {} is reached by {}",
                    self.make.kind,
                    joined(self.make.media, " or ")
                );
                problems.push((vec![medium.key()], problem));
            }
            [_] => {}
            _ => {
                let found = match given.len() {
                    0 => "none is given".to_owned(),
                    _ => format!("{} are given", joined(&given, " and ")),
                };
                let problem = format!(
                    "a board has exactly one of serial, ble, tcp: {found}; for instance serial = {{ port = \
                     \"/dev/ttyUSB0\" }}"
                );
                problems.push((Vec::new(), problem));
            }
        }
        problems.extend(self.serial.iter().flat_map(SerialConfig::problems));
        let record = self.record.as_deref().and_then(from_home);
        problems.extend(record.map(|problem| (vec!["record"], problem)));
        problems.extend(self.ble.iter().flat_map(BleConfig::problems));
        problems
    }

    /// The board without its transport, as TOML: the head of a recording.
    pub fn to_toml(&self) -> String {
        let mut lines = vec![format!("kind = \"{}\"", self.make.kind)];
        let mut inside = Vec::new();
        for path in std::iter::once(&["correction_wait"][..])
            .chain(self.make.keys.iter().map(|key| key.path))
        {
            match *path {
                [name] => lines.extend(self.given.get(name).map(|value| line(name, value))),
                [table, name] => {
                    let value = self.given.get(table).and_then(|table| table.find_ref(name));
                    inside.extend(value.map(|value| line(name, value)));
                }
                _ => {}
            }
        }
        // The transport decides what such a board is told.
        if self.ble.is_some() && self.make.keys.iter().any(|key| key.parts().1.is_some()) {
            lines.push(format!("ble = {{ {} }}", inside.join(", ")));
        }
        lines.join("\n")
    }
}

/// A key with its value: a text, a number, true, false or a list of these, which JSON writes as TOML does.
fn line(name: &str, value: &Value) -> String {
    format!(
        "{name} = {}",
        serde_json::to_string(value).unwrap_or_default()
    )
}

fn joined<T: ToString>(all: &[T], with: &str) -> String {
    let all: Vec<String> = all.iter().map(ToString::to_string).collect();
    all.join(with)
}

impl<'de> Deserialize<'de> for BoardConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = <Value as Deserialize>::deserialize(deserializer)?;
        Self::read(&value).map_err(de::Error::custom)
    }
}

/// The name of the key at this path, if boards of this make have it and it takes this value. Of a board whose make is
/// unknown, any board's key.
fn own_key(
    make: Option<&'static Identity>,
    path: &[&str],
    value: &Value,
) -> Result<String, Box<Error>> {
    let Some((name, tables)) = path.split_last() else {
        return Ok(String::new());
    };
    let name = (*name).to_owned();
    let has = |make: &&'static Identity| make.key(path).is_some();
    let any = || MAKES.iter().copied().find(has);
    match (make.filter(has).or_else(any), make) {
        (None, _) => Err(within(tables, Kind::UnknownField(name, &[]))),
        (Some(of), Some(make)) if of.kind != make.kind => {
            let error = Error::from(refuses(make.kind, path)).with_path(&name);
            Err(within(tables, error))
        }
        (Some(of), _) => {
            let alone = Value::from(Dict::from([(name.clone(), value.clone())]));
            (of.read)(&alone).map_err(|error| within(tables, *error))?;
            Ok(name)
        }
    }
}

/// A mistake in a table, with the path of the table before its own.
pub(super) fn within<T: ToString>(tables: &[T], error: impl Into<Error>) -> Box<Error> {
    let mut error = error.into();
    error.path.splice(0..0, tables.iter().map(T::to_string));
    Box::new(error)
}

fn refuses(kind: BoardKind, path: &[&str]) -> String {
    let kinds = MAKES.iter().filter(|make| make.key(path).is_some());
    let kinds: Vec<BoardKind> = kinds.map(|make| make.kind).collect();
    format!(
        "is a key of {} only: remove it from this {kind}",
        joined(&kinds, " and ")
    )
}

/// The keys that may stand in the table of a board that has something at this path.
pub(super) fn keys(path: &[String], make: Option<&Identity>) -> Option<Vec<&'static str>> {
    let table = match path {
        [boards, _, _] if boards == "boards" => None,
        [boards, _, ble, _] if boards == "boards" && ble == "ble" => Some("ble"),
        _ => return None,
    };
    let media = [Medium::Serial, Medium::Ble, Medium::Tcp].iter();
    let out_of_reach = media.filter(|medium| make.is_some_and(|make| !make.media.contains(medium)));
    let out_of_reach: Vec<&str> = out_of_reach.map(|medium| medium.key()).collect();
    let is_its = |known: &&Identity| make.is_none_or(|make| make.kind == known.kind);
    let own = MAKES
        .iter()
        .copied()
        .filter(is_its)
        .flat_map(|make| make.keys);
    let mut keys = Vec::new();
    for (name, of) in KEYS.iter().chain(own).map(Key::parts) {
        if of == table && !keys.contains(&name) && !out_of_reach.contains(&name) {
            keys.push(name);
        }
    }
    Some(keys)
}
