//! Tries what the daemon will do, unless that could disturb anyone.

use std::{
    fs, io,
    net::{SocketAddr, ToSocketAddrs as _},
    path::{Path, PathBuf},
};

use socket2::{Domain, Socket, Type};

use super::user::{Identity, STATE};
use crate::{
    net::{address, door::Listen},
    system::holders::{Holder, Holders},
};

/// The outcome of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It works.
    Works,
    /// It works, or may: the player should know this.
    Note(String),
    /// It does not work until something is changed.
    Problem(String),
}

impl Outcome {
    /// The same where it is optional: the daemon runs without it.
    pub fn unless(self, optional: bool) -> Self {
        match self {
            Self::Problem(why) if optional => Self::Note(why),
            outcome => outcome,
        }
    }
}

/// The addresses that are listened at.
#[derive(Debug)]
pub struct Listeners<'a> {
    identity: &'a Identity,
    holders: &'a Holders,
    /// Whether a daemon answers at its API.
    running: bool,
    taken: Vec<(String, Listen)>,
}

impl<'a> Listeners<'a> {
    /// No address was tried yet.
    pub fn new(identity: &'a Identity, holders: &'a Holders, running: bool) -> Self {
        Self {
            identity,
            holders,
            running,
            taken: Vec::new(),
        }
    }

    /// Takes an address for a moment. No one can connect there meanwhile.
    pub fn attempt(&mut self, what: &str, listen: &Listen) -> Outcome {
        let Listen::At(address) = listen else {
            return Outcome::Works;
        };
        match bound(address) {
            Ok(taken) => {
                let taken = Listen::At(taken.to_string());
                let other = self.taken.iter().find(|(_, other)| other.clashes(&taken));
                let outcome = other.map_or(Outcome::Works, |(other, _)| {
                    Outcome::Problem(format!(
                        "{address} is {taken}, as that of {other}: give one of them another port"
                    ))
                });
                self.taken.push((what.to_owned(), taken));
                outcome
            }
            Err(error) => self.refused(address, &error),
        }
    }

    fn refused(&self, address: &str, error: &io::Error) -> Outcome {
        let identity = self.identity;
        let (host, port) = address::split(address).unwrap_or((address, 0));
        match error.kind() {
            io::ErrorKind::AddrInUse => match self.holders.of_port(port) {
                Some(holder) => held(address, &holder),
                None if self.running => Outcome::Note(format!(
                    "{address} is in use now by the BoardBridge that runs"
                )),
                None => Outcome::Note(format!(
                    "{address} is in use by a program of another user; unless that is BoardBridge, choose another port \
                     (`sudo ss -ltnp` shows it)"
                )),
            },
            io::ErrorKind::AddrNotAvailable => Outcome::Problem(format!(
                "this machine does not have the address {host}: `ip address` shows those it has; 0.0.0.0 stands for all"
            )),
            io::ErrorKind::PermissionDenied => Outcome::Problem(format!(
                "{identity} may not listen at port {port}: choose 1024 or higher"
            )),
            _ => Outcome::Problem(format!(
                "{address} cannot be listened at ({error}): is {host} a name or an address of this machine?"
            )),
        }
    }
}

/// A program listens at an address.
fn held(address: &str, holder: &Holder) -> Outcome {
    match (&*holder.name, holder.process) {
        (env!("CARGO_PKG_NAME"), process) => Outcome::Note(format!(
            "{address} is in use now by the BoardBridge that runs (process {process})"
        )),
        ("systemd", 1) => Outcome::Note(format!(
            "systemd listens at {address}, for a socket unit (`systemctl list-sockets`): unless that is boardbridge.socket, \
             choose another port"
        )),
        _ => Outcome::Problem(format!(
            "{address} is in use by {holder}: stop that, or choose another port"
        )),
    }
}

/// Takes an address without listening at it, as the daemon will. Returns the address taken.
fn bound(address: &str) -> io::Result<SocketAddr> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in address.to_socket_addrs()? {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        match socket.bind(&address.into()) {
            Ok(()) => return Ok(socket.local_addr()?.as_socket().unwrap_or(address)),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Writes a file without a name into the folder, or into the one that it will be made in. `in_service`: what becomes of a
/// folder in which only the service may not write.
pub fn folder(
    path: &Path,
    key: &str,
    identity: &Identity,
    in_service: fn(String) -> Outcome,
) -> Outcome {
    if identity.has(path) {
        // systemd makes it, for the service alone.
        return Outcome::Works;
    }
    if let Some(hidden) = identity.hides(path) {
        return in_service(format!(
            "the service does not see {}, because of {hidden}= in its unit: name a folder below {STATE} by `{key}`",
            path.display()
        ));
    }
    let there = path.ancestors().find(|folder| folder.exists());
    let there = there.unwrap_or(path);
    let listed = if there == path {
        fs::read_dir(path).map(drop)
    } else {
        Ok(())
    };
    let written = listed.and_then(|()| tempfile::tempfile_in(there).map(drop));
    let below = if identity.is_service() {
        format!(", below {STATE}")
    } else {
        String::new()
    };
    match written {
        Err(error) => Outcome::Problem(format!(
            "{identity} cannot write in {} ({error}): name another folder by `{key}`{below}, or let {identity} write there",
            there.display()
        )),
        Ok(()) if identity.is_kept_from(path) => in_service(format!(
            "the packaged unit lets the service write below {STATE} only: name a folder there by `{key}`, or let it \
             (`sudo systemctl edit boardbridge`: [Service] and ReadWritePaths={})",
            path.display()
        )),
        Ok(()) => Outcome::Works,
    }
}

/// The serial ports, each with its use, under the names that the kernel gives them.
#[derive(Debug, Default)]
pub struct Ports(Vec<(PathBuf, String)>);

impl Ports {
    /// Notes a port; returns the earlier use of the same one under another name.
    pub fn take(&mut self, port: &str, what: &str) -> Option<String> {
        let path = Path::new(port).canonicalize().ok()?;
        let other = self.0.iter().find(|(taken, _)| *taken == path);
        let problem = other.map(|(path, other)| {
            format!(
                "{port} is {}, as that of {other}: each needs a port of its own",
                path.display()
            )
        });
        self.0.push((path, what.to_owned()));
        problem
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_of_a_socket_unit_is_no_problem() {
        let held = |name: &str, process| {
            let name = name.to_owned();
            held("127.0.0.1:9670", &Holder { name, process })
        };
        let Outcome::Note(note) = held("systemd", 1) else {
            panic!("a problem");
        };
        assert!(note.contains("`systemctl list-sockets`"), "{note}");
        assert!(matches!(held("boardbridge", 7), Outcome::Note(_)));
        assert!(matches!(held("systemd", 7), Outcome::Problem(_)));
        assert!(matches!(held("init", 1), Outcome::Problem(_)));
    }

    #[test]
    fn the_service_has_a_folder_of_its_own_and_does_not_see_temporary_ones() {
        let service = Identity::Service {
            as_user: "nobody".to_owned(),
            groups: Vec::new(),
        };
        let tried = |path: &str| {
            folder(
                Path::new(path),
                "[games] directory",
                &service,
                Outcome::Problem,
            )
        };
        assert_eq!(tried("/var/lib/boardbridge/games"), Outcome::Works);
        let Outcome::Problem(why) = tried("/tmp/games") else {
            panic!("it works");
        };
        assert!(
            why.contains("PrivateTmp=") && why.contains("below /var/lib"),
            "{why}"
        );
    }
}
