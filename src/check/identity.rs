//! As whom `check` tries: as this user, or for root as the service, whose user has less.

use std::{fmt, fs, path::Path};

use nix::unistd::{Gid, Group, Uid, User, geteuid, setgroups, setresgid, setresuid};

use crate::access;

/// Where the service may write: `StateDirectory=` in `systemd/boardbridge.service`.
pub const STATE: &str = "/var/lib/boardbridge";
/// Changes to the unit, by `systemctl edit` and by the package.
const DROP_INS: &str = "/etc/systemd/system/boardbridge.service.d";
/// The group that the unit has.
const GROUP: &str = "dialout";
/// The name that systemd gives the service's user while it runs.
const NAME: &str = "boardbridge";
/// The user without rights (systemd, `nobody`): it stands for that of a service that does not run.
const NOBODY: u32 = 65_534;

/// As whom.
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

    /// Root becomes what the service is, for the rest of this process.
    pub fn settle() -> Self {
        let this_user = Self::user();
        if !geteuid().is_root() {
            return this_user;
        }
        let user = User::from_name(NAME).ok().flatten();
        let (uid, gid) = user
            .as_ref()
            .map_or((Uid::from_raw(NOBODY), Gid::from_raw(NOBODY)), |user| {
                (user.uid, user.gid)
            });
        let named = drop_in("SupplementaryGroups");
        let groups = std::iter::once(GROUP.to_owned()).chain(named);
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
        self.is_service() && !self.has(path) && !drop_in("ReadWritePaths").iter().any(is_below)
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

/// The words that changes to the unit give a key.
fn drop_in(key: &str) -> Vec<String> {
    let files = fs::read_dir(DROP_INS).into_iter().flatten().flatten();
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    let mut words = Vec::new();
    for text in texts {
        let values = text
            .lines()
            .filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        words.extend(values.flat_map(str::split_whitespace).map(str::to_owned));
    }
    words
}
