//! The user as whom `check` tries: this user, or, for root, the user of the service, who has fewer rights.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use nix::unistd::{Gid, Group, Uid, User, geteuid, setgroups, setresgid, setresuid};

use crate::system::{
    access::{self, HOMES},
    credential,
};

/// Where the service may write: `StateDirectory=` in `systemd/boardbridge.service`.
pub const STATE: &str = "/var/lib/boardbridge";
/// This folder exists where systemd runs the machine (`sd_booted(3)`).
const BOOTED: &str = "/run/systemd/system";
/// The unit, where packages and people put it.
const UNITS: [&str; 3] = [
    "/usr/lib/systemd/system/boardbridge.service",
    "/lib/systemd/system/boardbridge.service",
    "/etc/systemd/system/boardbridge.service",
];
/// Changes to the unit, by `systemctl edit` and by the package.
const DROP_INS: &str = "/etc/systemd/system/boardbridge.service.d";
/// The group that the unit has.
const GROUP: &str = "dialout";
/// What the unit hands over.
const HANDED: [&str; 3] = [
    "lichess.token:/etc/boardbridge/lichess.token",
    "broadcast.token:/etc/boardbridge/broadcast.token",
    "mqtt.password:/etc/boardbridge/mqtt.password",
];
/// The name that systemd gives the service's user while it runs.
const NAME: &str = "boardbridge";
/// The user without rights (systemd, `nobody`): it stands for that of a service that does not run.
const NOBODY: u32 = 65_534;
/// What the unit hides, by which key, and the values of the key with which it can be read (`systemd.exec(5)`).
const HIDDEN: [(&[&str], &str, &[&str]); 2] = [
    (
        &HOMES,
        "ProtectHome",
        &["no", "false", "off", "0", "read-only"],
    ),
    (
        &["/tmp", "/var/tmp"],
        "PrivateTmp",
        &["no", "false", "off", "0"],
    ),
];

/// Whether the service is installed on this machine.
pub fn is_installed() -> bool {
    UNITS.iter().any(|unit| Path::new(unit).exists())
}

/// Whether this is root on a machine with the service: then `check` is for the service.
pub fn is_for_service() -> bool {
    geteuid().is_root() && Path::new(BOOTED).is_dir() && is_installed()
}

/// The user as whom `check` tries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The user who has called.
    User(String),
    /// The service: this process has given up root's rights.
    Service {
        /// Its user.
        as_user: String,
        /// The groups that it is in besides.
        groups: Vec<String>,
    },
}

impl Identity {
    /// This user.
    pub fn user() -> Self {
        Self::User(access::user())
    }

    /// Makes root the service's user, where there is a service, for the rest of this process.
    pub fn settle() -> Self {
        let this_user = Self::user();
        if !is_for_service() {
            return this_user;
        }
        let user = User::from_name(NAME).ok().flatten();
        let (uid, gid) = user
            .as_ref()
            .map_or((Uid::from_raw(NOBODY), Gid::from_raw(NOBODY)), |user| {
                (user.uid, user.gid)
            });
        let groups = drop_in("SupplementaryGroups", &[GROUP]).into_iter();
        let found = groups.filter_map(|name| Some((Group::from_name(&name).ok()??.gid, name)));
        let (gids, groups): (Vec<Gid>, Vec<String>) = found.unzip();
        // Without the right to change users it stays root.
        let changed = setgroups(&gids)
            .and_then(|()| setresgid(gid, gid, gid))
            .and_then(|()| setresuid(uid, uid, uid));
        match changed {
            Ok(()) => Self::Service {
                as_user: access::user(),
                groups,
            },
            Err(_) => this_user,
        }
    }

    /// Whether it is the service.
    pub fn is_service(&self) -> bool {
        matches!(self, Self::Service { .. })
    }

    /// Whether the unit lets the service write below this path, whoever owns it.
    pub fn has(&self, path: &Path) -> bool {
        self.is_service() && path.starts_with(STATE)
    }

    /// Whether the unit, as it is packaged and changed here, keeps the service from writing below this path.
    pub fn is_kept_from(&self, path: &Path) -> bool {
        let is_below = |open: &String| path.starts_with(open);
        self.is_service() && !self.has(path) && !drop_in("ReadWritePaths", &[]).iter().any(is_below)
    }

    /// Whether systemd hands this file to the service, by the unit as it is packaged and changed here.
    pub fn is_handed(&self, file: &Path) -> bool {
        let is_its = |line: String| drop_in("LoadCredential", &HANDED).contains(&line);
        self.is_service() && credential::line(file).is_some_and(is_its)
    }

    /// The key by which the unit, as it is packaged and changed here, hides this path from the service.
    pub fn hides(&self, path: &Path) -> Option<&'static str> {
        let hides = |(folders, key, open): &(&[&str], &str, &[&str])| {
            let set = drop_in(key, &["yes"]);
            let is_open = set.last().is_some_and(|value| open.contains(&&**value));
            folders.iter().any(|folder| path.starts_with(folder)) && !is_open
        };
        let (_, key, _) = HIDDEN.iter().find(|hidden| hides(hidden))?;
        let shown = ["BindPaths", "BindReadOnlyPaths"].map(|key| drop_in(key, &[]));
        let mut shown = shown.iter().flatten();
        let is_shown =
            |bound: &String| path.starts_with(bound.split(':').next_back().unwrap_or_default());
        (self.is_service() && !shown.any(is_shown)).then_some(*key)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) => f.write_str(name),
            Self::Service { .. } => f.write_str("the service"),
        }
    }
}

/// The values of a key of the unit: as it is packaged, and then as its drop-ins change it.
fn drop_in(key: &str, packaged: &[&str]) -> Vec<String> {
    let files = fs::read_dir(DROP_INS).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    // systemd reads them in this order.
    files.sort();
    let texts = files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    let text: Vec<String> = texts.collect();
    changed(key, packaged, &text.join("\n"))
}

/// The same, with the text of the changes.
fn changed(key: &str, packaged: &[&str], text: &str) -> Vec<String> {
    let mut words: Vec<String> = packaged.iter().map(ToString::to_string).collect();
    for line in text.lines() {
        match line.split_once('=') {
            Some((name, value)) if name.trim() == key => {
                let found = unquoted(value);
                if found.is_empty() {
                    // An empty value resets the key.
                    words.clear();
                }
                // `-`: it may be missing; `+`: below the root folder of the unit.
                let bare = |word: &String| word.trim_start_matches(['-', '+']).to_owned();
                words.extend(found.iter().map(bare));
            }
            _ => {}
        }
    }
    words
}

/// The words of a value, those in quotes as one.
fn unquoted(value: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in value.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c.is_whitespace() => words.push(String::new()),
            _ => words.last_mut().into_iter().for_each(|word| word.push(c)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_to_the_unit_are_read_as_systemd_does() {
        let of_paths = |text: &str| changed("ReadWritePaths", &[], text).join("|");
        for (text, words) in [
            ("[Service]\nReadWritePaths=/srv/a /srv/b", "/srv/a|/srv/b"),
            (
                "  ReadWritePaths = -/srv/a\t+/srv/b -+/c\r",
                "/srv/a|/srv/b|/c",
            ),
            (
                "ReadWritePaths=\"/srv/my games\" '-/srv/b'",
                "/srv/my games|/srv/b",
            ),
            (
                "ReadWritePaths=/a\nReadWritePaths=\nReadWritePaths=/b",
                "/b",
            ),
            ("ReadWritePathsX=/a\n#ReadWritePaths=/b\nno words", ""),
        ] {
            assert_eq!(of_paths(text), words, "{text}");
        }
        let groups = |text: &str| changed("SupplementaryGroups", &[GROUP], text);
        assert_eq!(
            groups("SupplementaryGroups=bluetooth"),
            [GROUP, "bluetooth"]
        );
        assert_eq!(
            groups("SupplementaryGroups=\nSupplementaryGroups=uucp"),
            ["uucp"]
        );
    }

    #[test]
    fn the_unit_hides_homes_and_temporary_folders_from_the_service() {
        let service = Identity::Service {
            as_user: "nobody".to_owned(),
            groups: Vec::new(),
        };
        let key = |identity: &Identity, path: &str| identity.hides(Path::new(path));
        for (path, hidden) in [
            ("/home/pi/engine", Some("ProtectHome")),
            ("/root/engine", Some("ProtectHome")),
            ("/var/tmp/engine", Some("PrivateTmp")),
            ("/usr/games/stockfish", None),
            ("/homes/engine", None),
        ] {
            assert_eq!(key(&service, path), hidden, "{path}");
            assert_eq!(key(&Identity::user(), path), None, "{path}");
        }
    }
}
