//! `[boards.NAME]`: a board's kind, how it is reached, and its settings. The keys of one kind are with its driver.

use std::{
    fmt,
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
use thiserror::Error;
use toml_edit::de::from_str;

use crate::{
    driver::{
        Driver,
        identity::{Identity, Key, Medium, Settings},
        registry::{self, MAKES},
    },
    net::door::Served,
    text::{
        durations::span,
        toml_value::{Wrong, checked, from_home, text},
    },
    transport::settings::{BleConfig, HidConfig, RfcommConfig, SerialConfig, TcpConfig},
    vocabulary::{BoardKind, CORRECTION_WAIT},
};

/// Every kind.
pub static KINDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| MAKES.iter().map(|make| make.kind.as_str()).collect());
/// The address in recordings: whose board it is, is nobody's business.
const NO_ADDRESS: &str = "00:00:00:00:00:00";
/// Keys of every board, and of its transport.
pub const KEYS: [Key; 21] = [
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
        &["rfcomm"],
        "For a board with Bluetooth Classic: { address = \"AA:BB:CC:DD:EE:FF\" }.",
    ),
    key(
        &["rfcomm", "address"],
        "Its hardware address; `bluetoothctl devices` lists it.",
    ),
    key(
        &["rfcomm", "adapter"],
        "The adapter to use, such as \"hci1\"; without it the first.",
    ),
    key(
        &["hid"],
        "For a board on USB that is no serial port: {} for the only one that no other entry names, or { id = \"…\" }.",
    ),
    key(
        &["hid", "id"],
        "Its serial number, or the socket that it is plugged into; `boardbridge scan` shows it.",
    ),
    key(
        &["hid", "path"],
        "Its file in place of that: \"/dev/hidraw0\", or a link of your own.",
    ),
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
    Key {
        path,
        meaning,
        stand_in: None,
    }
}

/// `[boards.NAME]`
#[derive(Clone)]
pub struct BoardConfig {
    /// The make.
    pub make: &'static Identity,
    /// Reached over a serial port.
    pub serial: Option<SerialConfig>,
    /// Reached over Bluetooth LE.
    pub ble: Option<BleConfig>,
    /// Reached over TCP.
    pub tcp: Option<TcpConfig>,
    /// Reached over Bluetooth Classic.
    pub rfcomm: Option<RfcommConfig>,
    /// Reached over USB, as a HID device.
    pub hid: Option<HidConfig>,
    /// A UCI port for this board alone.
    pub uci_listen: Option<Served>,
    /// A directory for recordings.
    pub record: Option<PathBuf>,
    /// How long the hand may take to correct a mistake before the board is led back.
    pub correction_wait: Duration,
    /// The settings of its kind.
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
    rfcomm: Option<RfcommConfig>,
    hid: Option<HidConfig>,
    uci_listen: Option<Served>,
    #[serde(default, deserialize_with = "folder")]
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

fn folder<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    let path = checked(deserializer, |path| from_home(Path::new(path)))?;
    Ok(Some(path.into()))
}

/// Its secrets are shown to no one: the tables as they were written have them.
impl fmt::Debug for BoardConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoardConfig")
            .field("settings", &self.to_toml())
            .field("serial", &self.serial)
            .field("ble", &self.ble)
            .field("tcp", &self.tcp)
            .field("rfcomm", &self.rfcomm)
            .field("hid", &self.hid)
            .field("uci_listen", &self.uci_listen)
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}

/// Compares the tables as they were written.
impl PartialEq for BoardConfig {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

impl BoardConfig {
    /// Whether the same keys lead to this board and to the other one.
    pub fn is_reached_as(&self, other: &Self) -> bool {
        let ports = [self, other].map(|board| board.serial.as_ref().map(|serial| &serial.port));
        ports[0] == ports[1]
            && self.ble == other.ble
            && self.tcp == other.tcp
            && self.rfcomm == other.rfcomm
            && self.hid == other.hid
    }

    /// Reads `[boards.NAME]`.
    ///
    /// serde alone cannot: which keys there are depends on the kind.
    ///
    /// # Errors
    /// The first mistake, with its path within the board.
    pub fn read(value: &Value) -> Result<Self, Box<Error>> {
        let Value::Dict(_, given) = value else {
            let wanted = "a table [boards.NAME] with a kind and a port".to_owned();
            return Err(Box::new(
                Kind::InvalidType(value.to_actual(), wanted).into(),
            ));
        };
        let make = given.get("kind").and_then(Value::as_str);
        let make = make.and_then(registry::make);
        let (mut common, mut own) = sorted(make, &[], given)?;
        if let Some(Value::Dict(tag, given)) = given.get("ble") {
            let (ble, more) = sorted(make, &["ble"], given)?;
            common.insert("ble".to_owned(), Value::Dict(*tag, ble));
            own.extend(more);
        }
        let common: Common = Value::from(common).deserialize()?;
        Ok(Self {
            make: common.kind,
            serial: common.serial,
            ble: common.ble,
            tcp: common.tcp,
            rfcomm: common.rfcomm,
            hid: common.hid,
            uci_listen: common.uci_listen,
            record: common.record,
            correction_wait: common.correction_wait,
            settings: (common.kind.read)(&Value::from(own))?,
            given: given.clone(),
        })
    }

    /// Reads a board that is TOML by itself, as at the head of a recording.
    ///
    /// # Errors
    /// The first mistake.
    pub fn from_toml(text: &str) -> Result<Self, Box<Error>> {
        let value: Value = from_str(text).map_err(|error| Error::from(error.to_string()))?;
        Self::read(&value)
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
        self.settings.driver(self.media().next())
    }

    /// How it is reached; exactly one way once it has passed [`Self::problems`].
    fn media(&self) -> impl Iterator<Item = Medium> {
        let given = [
            (Medium::Serial, self.serial.is_some()),
            (Medium::Ble, self.ble.is_some()),
            (Medium::Tcp, self.tcp.is_some()),
            (Medium::Rfcomm, self.rfcomm.is_some()),
            (Medium::Hid, self.hid.is_some()),
        ];
        let given = given.into_iter().filter(|(_, given)| *given);
        given.map(|(medium, _)| medium)
    }

    /// Checks what the types cannot.
    pub fn problems(&self) -> Vec<Wrong> {
        let given: Vec<Medium> = self.media().collect();
        let medium = match given[..] {
            [medium] if self.make.media.contains(&medium) => None,
            [medium] => {
                let ways = joined(self.make.media, " or ");
                let problem = format!("a {} is reached by {ways}", self.make.kind);
                Some((medium.key(), problem))
            }
            _ => {
                let found = match given.len() {
                    0 => "none is given".to_owned(),
                    _ => format!("{} are given", joined(&given, " and ")),
                };
                let problem = format!(
                    "a board has exactly one of {}: {found}; for instance serial = {{ port = \"/dev/ttyUSB0\" }}",
                    joined(&Medium::ALL, ", ")
                );
                Some(("", problem))
            }
        };
        let ble = self.ble.as_ref().and_then(BleConfig::problem);
        let hid = self.hid.as_ref().and_then(HidConfig::problem);
        medium.into_iter().chain(ble).chain(hid).collect()
    }

    /// The board without its transport, as TOML: the head of a recording.
    pub fn to_toml(&self) -> String {
        let mut lines = vec![format!("kind = \"{}\"", self.make.kind)];
        let mut inside = Vec::new();
        let waits = key(&["correction_wait"], "");
        for key in std::iter::once(&waits).chain(self.make.keys) {
            match *key.path {
                [name] => lines.extend(self.given.get(name).map(|value| match key.stand_in {
                    Some(stand_in) if value.as_str() != Some("") => line(name, &stand_in.into()),
                    _ => line(name, value),
                })),
                [table, name] => {
                    let value = self.given.get(table).and_then(|table| table.find_ref(name));
                    inside.extend(value.map(|value| line(name, value)));
                }
                _ => {}
            }
        }
        // Over Bluetooth LE the driver of such a board behaves differently: a replay has to know.
        if self.ble.is_some() && self.make.keys.iter().any(|key| key.parts().1.is_some()) {
            lines.push(format!("ble = {{ {} }}", inside.join(", ")));
        }
        // So may it over Bluetooth Classic, which an address has to show.
        if self.rfcomm.is_some() {
            lines.push(format!("rfcomm = {{ address = \"{NO_ADDRESS}\" }}"));
        }
        // And over USB, where the messages are other ones.
        if self.hid.is_some() {
            lines.push("hid = {}".to_owned());
        }
        lines.join("\n")
    }
}

/// A board has no usable transport; [`BoardConfig::problems`] rules this out.
#[derive(Debug, Error)]
#[error("a {kind} does not support this connection: `boardbridge check` says what is wrong")]
pub struct NoWay {
    /// The kind.
    pub kind: BoardKind,
}

#[cfg(target_os = "linux")]
mod reached {
    use super::{BoardConfig, NoWay};
    use crate::transport::{
        Transport,
        ble::{BleBoard, Radio, Wanted},
        hid::{self, HidBoard, Roots},
        peer::TcpPeer,
        rfcomm::RfcommBoard,
        serial::SerialPort,
    };

    impl BoardConfig {
        /// The transport to this board, with the machine's Bluetooth.
        ///
        /// # Errors
        /// [`NoWay`].
        pub fn transport(&self, radio: &Radio) -> Result<Transport, NoWay> {
            let serial = self.serial.as_ref().and_then(|serial| {
                let baud = serial.baud.or_else(|| self.settings.baud())?;
                Some(Transport::Serial(SerialPort::new(&serial.port, baud)))
            });
            let tcp = self.tcp.as_ref().map(|tcp| {
                let address = tcp.address.0.clone();
                Transport::Tcp(TcpPeer { address })
            });
            let ble = self.ble.as_ref().and_then(|ble| {
                let name = ble.name.clone().map(Wanted::Name);
                let wanted = name.or_else(|| ble.address.clone().map(Wanted::Address))?;
                Some(Transport::Ble(BleBoard {
                    radio: radio.clone(),
                    wanted,
                    adapter: ble.adapter.clone(),
                }))
            });
            let rfcomm = self.rfcomm.as_ref().map(|rfcomm| {
                let adapter = rfcomm.adapter.clone();
                Transport::Rfcomm(RfcommBoard::new(&rfcomm.address, adapter))
            });
            let hid = self.hid.as_ref().and_then(|hid| {
                let wanted = match (&hid.id, &hid.path) {
                    (Some(id), _) => hid::Wanted::Id(id.clone()),
                    (None, Some(path)) => hid::Wanted::Path(path.clone()),
                    (None, None) => hid::Wanted::Only(hid.others.clone()),
                };
                let boards = self.settings.hid()?;
                Some(Transport::Hid(HidBoard::new(
                    boards,
                    wanted,
                    Roots::default(),
                )))
            });
            let kind = self.make.kind;
            let ways = [serial, tcp, ble, rfcomm, hid];
            ways.into_iter().flatten().next().ok_or(NoWay { kind })
        }
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

/// The keys of a board's table: those of every board, and those of its make.
fn sorted(
    make: Option<&'static Identity>,
    table: &[&str],
    given: &Dict,
) -> Result<(Dict, Dict), Box<Error>> {
    let (mut common, mut own) = (Dict::new(), Dict::new());
    for (name, value) in given {
        let path = [table, &[name]].concat();
        let kind = if KEYS.iter().any(|key| key.path == path) {
            &mut common
        } else {
            own_key(make, &path, value).map_err(|mut error| {
                error
                    .path
                    .splice(0..0, table.iter().map(ToString::to_string));
                error
            })?;
            &mut own
        };
        kind.insert(name.clone(), value.clone());
    }
    Ok((common, own))
}

/// Checks that boards of this make have the key at this path, and accept this value. If the make is unknown, the key of any
/// make is accepted.
fn own_key(
    make: Option<&'static Identity>,
    path: &[&str],
    value: &Value,
) -> Result<(), Box<Error>> {
    let name = path.last().copied().unwrap_or_default();
    let has = |make: &&'static Identity| make.key(path).is_some();
    let any = || MAKES.iter().copied().find(has);
    let error = match (make.filter(has).or_else(any), make) {
        (None, _) => Error::from(Kind::UnknownField(name.to_owned(), &[])),
        (Some(of), Some(make)) if of.kind != make.kind => {
            let kinds = MAKES.iter().copied().filter(has).map(|make| make.kind);
            let kinds: Vec<BoardKind> = kinds.collect();
            let problem = format!(
                "is a key of {} only: remove it from this {}",
                joined(&kinds, " and "),
                make.kind
            );
            Error::from(problem).with_path(name)
        }
        (Some(of), _) => {
            let alone = Dict::from([(name.to_owned(), value.clone())]);
            (of.read)(&Value::from(alone))?;
            return Ok(());
        }
    };
    Err(Box::new(error))
}

/// The keys allowed in the table of a board of this make, or in this table within it.
pub fn keys(make: Option<&Identity>, table: Option<&str>) -> Vec<&'static str> {
    let media = Medium::ALL.iter();
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
    keys
}
