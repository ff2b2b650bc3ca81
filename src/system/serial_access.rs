//! Checks who may open a serial port, or another device, without opening it: opening would restart an Arduino, or take the port from
//! a daemon that is starting.

use std::{
    fs,
    os::unix::fs::{FileTypeExt as _, MetadataExt as _},
    path::Path,
};

use nix::unistd::{AccessFlags, Gid, Group, Uid, User, eaccess, geteuid};

/// The group that `systemd/boardbridge.service` is in.
const SERVICE_GROUP: &str = "dialout";
/// Reading and writing, for the group and for others.
const GROUP_MAY: u32 = 0o060;
const EVERYBODY_MAY: u32 = 0o006;

/// A port and its user, as far as known.
#[derive(Clone, Copy, Debug)]
struct Facts<'a> {
    port: &'a str,
    mode: u32,
    group: &'a str,
    user: &'a str,
    /// Whether this process may open it.
    may: bool,
    /// Whether this process has the service's rights.
    as_service: bool,
    /// Whether the user is in the group, even if only since the last login.
    member: bool,
}

/// The message about a path that exists but is not a serial port.
pub fn no_port(port: &str) -> Option<String> {
    let there = fs::metadata(port).ok()?;
    let device = there.file_type().is_char_device();
    (!device)
        .then(|| format!("{port} is not a serial port: `boardbridge scan` shows those in reach"))
}

/// Reports which of this user and the service may not open a port, and what to do: one text each. `as_service`: this
/// process has the service's rights.
pub fn barred(port: &str, as_service: bool) -> Vec<String> {
    let Ok(there) = fs::metadata(port) else {
        return Vec::new();
    };
    let uid = geteuid();
    let group = Group::from_gid(Gid::from_raw(there.gid())).ok().flatten();
    let user = User::from_uid(uid).ok().flatten();
    let (gid, uid) = (there.gid().to_string(), Uid::as_raw(uid).to_string());
    let user = user.map_or(uid, |user| user.name);
    let facts = Facts {
        port,
        mode: there.mode(),
        group: group.as_ref().map_or(&gid, |group| &group.name),
        user: &user,
        may: eaccess(Path::new(port), AccessFlags::R_OK | AccessFlags::W_OK).is_ok(),
        as_service,
        member: group
            .as_ref()
            .is_some_and(|group| group.mem.contains(&user)),
    };
    facts.barred()
}

/// Whether the packaged service may open a device, as far as its mode tells.
pub fn service_may_open(device: &Path) -> bool {
    let Ok(there) = fs::metadata(device) else {
        return false;
    };
    let group = Group::from_gid(Gid::from_raw(there.gid())).ok().flatten();
    service_may(there.mode(), group.as_ref().map_or("", |group| &group.name))
}

/// Whether a device with this mode and this group is open to the service.
fn service_may(mode: u32, group: &str) -> bool {
    let may = |who: u32| mode & who == who;
    may(EVERYBODY_MAY) || (may(GROUP_MAY) && group == SERVICE_GROUP)
}

impl Facts<'_> {
    fn barred(self) -> Vec<String> {
        let Self {
            port, group, user, ..
        } = self;
        let by_group = self.mode & GROUP_MAY == GROUP_MAY;
        let no_group = || {
            format!(
                "{port} is open to its owner alone: is it a login console, or does a udev rule say so?"
            )
        };
        let service = if self.as_service {
            self.may
        } else {
            service_may(self.mode, group)
        };
        let other = if service { " (the service may)" } else { "" };
        let mut told = Vec::new();
        if !self.may && !self.as_service {
            told.push(if !by_group {
                format!("{user} may not open it: {}", no_group())
            } else if self.member {
                format!(
                    "{user} may open {port} only after logging in again: the group {group} is new"
                )
            } else {
                format!(
                    "{user} may not open {port}{other}: `sudo usermod -aG {group} {user}`, then log in again"
                )
            });
        }
        if !service {
            told.push(if by_group {
                format!(
                    "the service may not open {port}, which is of the group {group}: `sudo systemctl edit boardbridge`, \
                     and there the lines [Service] and SupplementaryGroups={group}"
                )
            } else {
                format!("the service may not open it: {}", no_group())
            });
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Facts<'_> = Facts {
        port: "/dev/ttyUSB0",
        mode: 0o20660,
        group: "dialout",
        user: "anna",
        may: true,
        as_service: false,
        member: true,
    };

    #[test]
    fn whoever_may_open_a_port_is_not_told() {
        assert_eq!(USUAL.barred(), Vec::<String>::new());
        let everybodys = Facts {
            mode: 0o20666,
            group: "root",
            ..USUAL
        };
        assert_eq!(everybodys.barred(), Vec::<String>::new());
    }

    #[test]
    fn the_service_may_open_what_is_everybodys_or_its_groups() {
        for (mode, group, may) in [
            (0o20600, "root", false),
            (0o20660, "root", false),
            (0o20660, "dialout", true),
            (0o20640, "dialout", false),
            (0o20666, "root", true),
        ] {
            assert_eq!(service_may(mode, group), may, "{mode:o} {group}");
        }
        assert!(!service_may_open(Path::new("/nowhere/hidraw0")));
    }

    #[test]
    fn whoever_may_not_is_told_what_to_do() {
        let barred = Facts {
            may: false,
            ..USUAL
        };
        let stranger = Facts {
            member: false,
            ..barred
        };
        let elsewhere = Facts {
            group: "uucp",
            ..USUAL
        };
        let console = Facts {
            mode: 0o20600,
            group: "tty",
            ..barred
        };
        for (facts, words) in [
            (barred, &["logging in again"][..]),
            (stranger, &["anna may not", "usermod -aG dialout anna"]),
            (
                elsewhere,
                &["the service may not", "SupplementaryGroups=uucp"],
            ),
            (console, &["anna may not", "the service may not"]),
        ] {
            let told = facts.barred();
            let all = told.join("\n");
            assert!(words.iter().all(|word| all.contains(word)), "{told:?}");
        }
        assert_eq!(console.barred().len(), 2);
        let service = Facts {
            as_service: true,
            ..elsewhere
        };
        // A drop-in has the group.
        assert_eq!(service.barred(), Vec::<String>::new());
        let told = Facts {
            may: false,
            ..service
        };
        assert_eq!(told.barred().len(), 1);
        assert_eq!(stranger.barred().len(), 1);
    }

    #[test]
    fn only_a_device_is_a_port() {
        assert_eq!(no_port("/dev/no-such-port"), None);
        let told = no_port(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
        assert!(told.contains("is not a serial port"), "{told}");
    }
}
