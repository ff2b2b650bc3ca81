//! `[mqtt]`: boards on a broker; and `kind = "remote"`: a board of another daemon there.

use std::{
    fmt, fs, io,
    net::IpAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, de};
use thiserror::Error;

use crate::{
    net::door::Served,
    system::{credential, regular_file},
    text::toml_value::{Wrong, checked, from_home},
    vocabulary::BoardName,
};

/// The kind of a board that another daemon has.
pub const REMOTE: &str = "remote";
/// The file with the password that the packaged service is handed, and may not read itself.
const HANDED: &str = "/etc/boardbridge/mqtt.password";
/// The port of a broker, unless another is named (MQTT 5.0, section 4.2: as registered with IANA).
const PORT: u16 = 1883;
/// The same, over TLS.
const TLS_PORT: u16 = 8883;
/// The longest name of a daemon, in characters: the longest label of a host's name (RFC 1035, section 2.3.4).
pub const MAX_DAEMON: usize = 63;
/// The longest password, in bytes: MQTT's own limit (MQTT 5.0, section 3.1.3.6).
const MAX_PASSWORD: u64 = 65_535;

/// `[mqtt]`
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [mqtt]")]
pub struct MqttConfig {
    /// The broker.
    pub url: BrokerUrl,
    /// The name of this daemon on the broker; the host's if left out.
    #[serde(default)]
    pub name: Option<DaemonName>,
    /// The user at the broker.
    #[serde(default)]
    pub user: Option<String>,
    /// The file with the password.
    #[serde(default, deserialize_with = "whole_path")]
    pub password_file: Option<PathBuf>,
    /// The certificate of the authority that the broker's own is signed by, as PEM: for a broker of your own.
    #[serde(default, deserialize_with = "whole_path")]
    pub ca_file: Option<PathBuf>,
    /// A broker beyond this machine may do without a password.
    #[serde(default)]
    pub insecure: bool,
    /// Boards are announced to Home Assistant.
    #[serde(default)]
    pub home_assistant: bool,
    /// Where Home Assistant looks for announcements.
    #[serde(default = "discovery_prefix", deserialize_with = "prefix")]
    pub discovery_prefix: String,
}

impl fmt::Debug for MqttConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MqttConfig")
            .field("url", &self.url.to_string())
            .finish_non_exhaustive()
    }
}

fn discovery_prefix() -> String {
    "homeassistant".to_owned()
}

fn prefix<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, |text| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_/".contains(c);
        let good = !text.is_empty() && text.len() <= 100 && text.chars().all(plain);
        (!good || text.starts_with('/') || text.ends_with('/'))
            .then(|| "is not the beginning of a topic: write for instance \"homeassistant\"".into())
    })
}

fn whole_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    let path = checked(deserializer, |text| {
        let path = Path::new(text);
        let whole = || "is not a whole path: write for instance \"/etc/boardbridge/mqtt.password\"";
        let problem = || from_home(path).unwrap_or_else(|| whole().to_owned());
        path.is_relative().then(problem)
    })?;
    Ok(Some(path.into()))
}

/// A board of another daemon: `[boards.NAME]` with `kind = "remote"`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteConfig {
    /// `remote`.
    #[serde(rename = "kind")]
    _kind: String,
    /// Which board.
    pub mqtt: FarBoard,
    /// A UCI port for this board alone.
    #[serde(default)]
    pub uci_listen: Option<Served>,
}

/// A board of another daemon.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table { daemon = \"hall-2\", board = \"citrine\" }"
)]
pub struct FarBoard {
    /// The daemon.
    pub daemon: DaemonName,
    /// The board's name there.
    pub board: BoardName,
}

impl fmt::Display for FarBoard {
    /// As in messages: `hall-2/citrine`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.daemon, self.board)
    }
}

/// The name of a daemon on a broker: 1 to [`MAX_DAEMON`] letters, digits, `-` or `_`, so that it is one level of a topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DaemonName(String);

/// The text is not the name of a daemon.
#[derive(Debug, Error)]
#[error(
    "`{0}` is not a valid name for a daemon: use 1 to {MAX_DAEMON} letters, digits, `-` or `_`"
)]
pub struct NoDaemonName(String);

impl DaemonName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A name made of the host's: its first label.
    pub fn of_host(host: &str) -> Self {
        let label = host.split('.').next().unwrap_or_default();
        let plain = |c: char| if is_plain(c) { c } else { '-' };
        let name: String = label.chars().take(MAX_DAEMON).map(plain).collect();
        Self(if name.is_empty() {
            "boardbridge".to_owned()
        } else {
            name
        })
    }

    /// A name made of this machine's.
    pub fn of_this_host() -> Self {
        let host = nix::unistd::gethostname().ok();
        Self::of_host(
            &host
                .and_then(|host| host.into_string().ok())
                .unwrap_or_default(),
        )
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

impl FromStr for DaemonName {
    type Err = NoDaemonName;

    fn from_str(text: &str) -> Result<Self, NoDaemonName> {
        let fits = (1..=MAX_DAEMON).contains(&text.len());
        if fits && text.chars().all(is_plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NoDaemonName(text.chars().take(2 * MAX_DAEMON).collect()))
        }
    }
}

impl fmt::Display for DaemonName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for DaemonName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// Where a broker is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerUrl {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether the connection is encrypted.
    pub tls: bool,
}

impl BrokerUrl {
    /// Whether it is on this machine.
    pub fn is_here(&self) -> bool {
        let address: Option<IpAddr> = self.host.parse().ok();
        self.host == "localhost" || address.is_some_and(|address| address.is_loopback())
    }
}

/// The text is not the address of a broker.
#[derive(Debug, Error)]
#[error(
    "`{0}` is not the address of a broker: write for instance \"mqtt://broker.local:1883\", or mqtts for TLS; user and \
     password_file are keys of their own"
)]
pub struct NoBroker(String);

impl FromStr for BrokerUrl {
    type Err = NoBroker;

    fn from_str(text: &str) -> Result<Self, NoBroker> {
        let wrong = || {
            NoBroker(
                text.split('@')
                    .next_back()
                    .unwrap_or_default()
                    .chars()
                    .take(100)
                    .collect(),
            )
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let tls = match scheme {
            "mqtt" => false,
            "mqtts" => true,
            _ => return Err(wrong()),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        // An IPv6 address has brackets.
        let (host, port) = match rest.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or_else(wrong)?;
                host.parse::<std::net::Ipv6Addr>().map_err(|_| wrong())?;
                (host, port.strip_prefix(':'))
            }
            None => match rest.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (rest, None),
            },
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
        if host.is_empty() || !host.chars().all(is_name) {
            return Err(wrong());
        }
        let port = match port {
            Some(port) => port
                .parse()
                .ok()
                .filter(|port| *port > 0)
                .ok_or_else(wrong)?,
            None if tls => TLS_PORT,
            None => PORT,
        };
        let host = host.to_owned();
        Ok(Self { host, port, tls })
    }
}

impl fmt::Display for BrokerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "mqtts" } else { "mqtt" };
        if self.host.contains(':') {
            write!(f, "{scheme}://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{scheme}://{}:{}", self.host, self.port)
        }
    }
}

impl<'de> Deserialize<'de> for BrokerUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// Why there is no password.
#[derive(Debug, Error)]
pub enum PasswordError {
    /// The file is missing, or cannot be read.
    #[error("the password in {} cannot be read: {source}", .file.display())]
    Unreadable {
        /// Where it is.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Only another user may read it.
    #[error("this user may not read the password in {}. {remedy}", .file.display())]
    NotOurs {
        /// Where it is.
        file: PathBuf,
        /// How the service reads it all the same.
        remedy: String,
    },
    /// Others may read it.
    #[error("others may read the password in {file}: chmod 600 {file}", file = .0.display())]
    Open(PathBuf),
}

impl MqttConfig {
    /// The name of this daemon.
    pub fn daemon(&self) -> DaemonName {
        self.name.clone().unwrap_or_else(DaemonName::of_this_host)
    }

    /// The file with the password.
    pub fn file_of_password(&self) -> &Path {
        self.password_file.as_deref().unwrap_or(Path::new(HANDED))
    }

    /// Where the password is read: the file named, or what systemd hands the service of it, or of its own file.
    pub fn password_place(&self) -> Option<PathBuf> {
        match &self.password_file {
            Some(file) => Some(credential::place(file)),
            None => credential::handed(Path::new(HANDED)),
        }
    }

    /// The password, without the end of its line; `None` if none is configured.
    ///
    /// # Errors
    /// [`PasswordError`].
    pub fn password(&self) -> Result<Option<String>, PasswordError> {
        let Some(file) = self.password_place() else {
            return Ok(None);
        };
        let unreadable = |source: io::Error| match source.kind() {
            io::ErrorKind::PermissionDenied => PasswordError::NotOurs {
                file: file.clone(),
                remedy: credential::remedy(&file, HANDED),
            },
            _ => PasswordError::Unreadable {
                file: file.clone(),
                source,
            },
        };
        if !credential::is_credential(&file) {
            let mode = fs::metadata(&file)
                .map_err(unreadable)?
                .permissions()
                .mode();
            if mode & 0o077 != 0 {
                return Err(PasswordError::Open(file));
            }
        }
        let bytes = regular_file::read(&file, MAX_PASSWORD).map_err(unreadable)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| unreadable(io::Error::from(io::ErrorKind::InvalidData)))?;
        Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
    }

    /// Checks what the types cannot.
    pub fn problems(&self) -> Vec<Wrong> {
        let mut problems = Vec::new();
        let password = self.password_place().is_some();
        if password && self.user.is_none() {
            problems.push((
                "user",
                "is missing: a password belongs to a user".to_owned(),
            ));
        }
        if !self.url.is_here() && !password && !self.insecure {
            let problem = "is a broker beyond this machine, where anybody could play on your boards: give `user` and \
                           `password_file`, or say `insecure = true` if only you can reach it";
            problems.push(("url", problem.to_owned()));
        }
        if self.ca_file.is_some() && !self.url.tls {
            problems.push(("ca_file", "is used with mqtts only".to_owned()));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_broker_is_read_and_written() {
        for (text, written) in [
            ("mqtt://broker.local", "mqtt://broker.local:1883"),
            ("mqtts://broker.local/", "mqtts://broker.local:8883"),
            ("mqtt://127.0.0.1:18830", "mqtt://127.0.0.1:18830"),
            ("mqtts://[::1]:9", "mqtts://[::1]:9"),
        ] {
            assert_eq!(text.parse::<BrokerUrl>().unwrap().to_string(), written);
        }
        for wrong in [
            "",
            "broker.local",
            "http://broker.local",
            "mqtt://",
            "mqtt://a:0",
            "mqtt://a:99999",
            "mqtt://anna:secret@a",
            "mqtt://[::1",
            "mqtt://[x]:1",
            "mqtt://a/b",
        ] {
            let words = wrong.parse::<BrokerUrl>().unwrap_err().to_string();
            assert!(!words.contains("secret"), "{words}");
        }
    }

    #[test]
    fn a_hosts_name_makes_the_name_of_a_daemon() {
        for (host, name) in [
            ("hall-1.club.example", "hall-1"),
            ("", "boardbridge"),
            ("p\u{e9}ter", "p-ter"),
        ] {
            assert_eq!(DaemonName::of_host(host).as_str(), name);
        }
        assert!("hall/1".parse::<DaemonName>().is_err());
        assert!("+".parse::<DaemonName>().is_err());
    }
}
