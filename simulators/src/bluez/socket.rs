//! The socket of a private bus.

use std::{
    env,
    fmt::Write as _,
    fs::{DirBuilder, remove_dir, remove_file},
    io,
    os::unix::{ffi::OsStrExt, fs::DirBuilderExt, net::UnixListener},
    path::{Path, PathBuf},
};

/// The socket's name in a directory of its own.
const NAME: &str = "bus";

/// A socket that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Socket {
    path: PathBuf,
    /// The directory that was made for it.
    directory: Option<PathBuf>,
}

impl Socket {
    /// A socket in a new temporary directory that no other user can enter.
    pub fn temporary() -> io::Result<(Self, UnixListener)> {
        let name = format!(
            "boardbridge-{}-{:08x}",
            std::process::id(),
            fastrand::u32(..)
        );
        let directory = env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&directory)?;
        let socket = Self {
            path: directory.join(NAME),
            directory: Some(directory),
        };
        let listener = UnixListener::bind(&socket.path)?;
        Ok((socket, listener))
    }

    /// A socket with a given name.
    pub fn at(path: &Path) -> io::Result<(Self, UnixListener)> {
        let listener = UnixListener::bind(path)?;
        let socket = Self {
            path: path.to_owned(),
            directory: None,
        };
        Ok((socket, listener))
    }

    /// Its D-Bus address.
    pub fn address(&self) -> String {
        address(&self.path)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = remove_file(&self.path);
        if let Some(directory) = &self.directory {
            let _ = remove_dir(directory);
        }
    }
}

/// The address of a bus on a socket, for the environment of a program.
pub fn address(path: &Path) -> String {
    let mut address = String::from("unix:path=");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-_/.*".contains(&byte) {
            address.push(char::from(byte));
        } else {
            let _ = write!(address, "%{byte:02x}");
        }
    }
    address
}
