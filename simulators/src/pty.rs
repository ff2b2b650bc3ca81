//! A pseudo-terminal: a serial line without the wire.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::{ffi::OsStringExt, fs::OpenOptionsExt},
    path::{Path, PathBuf},
    pin::Pin,
    task::{Context, Poll},
};

use rustix::{
    fs::OFlags,
    io::Errno,
    pty::{ptsname, unlockpt},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf},
    net::unix::pipe::{Receiver, Sender},
};

/// The board's end of a pseudo-terminal, with a name for the other end. Programs that are started meanwhile do not inherit it: one
/// that did would count as another user of the port.
#[derive(Debug)]
pub struct Pty {
    reader: Receiver,
    writer: Sender,
    /// Held so that the board's end stays open while the computer's is not open.
    _computer: File,
    name: PathBuf,
    link: Option<PathBuf>,
}

/// Opens a terminal that does not become this process's own, and that no program inherits.
fn terminal(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = (flags | OFlags::NOCTTY).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(flags);
    options.open(path)
}

impl Pty {
    /// Opens a pseudo-terminal; `link` becomes a symbolic link to the computer's end, replacing an existing
    /// one.
    ///
    /// # Errors
    /// A pseudo-terminal cannot be opened, or `link` is not a symbolic link.
    pub fn open(link: Option<&Path>) -> io::Result<Self> {
        let board = terminal(Path::new("/dev/ptmx"), OFlags::NONBLOCK)?;
        unlockpt(&board)?;
        let name = ptsname(&board, Vec::new())?.into_bytes();
        let name = PathBuf::from(std::ffi::OsString::from_vec(name));
        let computer = terminal(&name, OFlags::empty())?;
        let mut raw = tcgetattr(&computer)?;
        raw.make_raw();
        tcsetattr(&computer, OptionalActions::Now, &raw)?;
        if let Some(link) = link {
            if link.is_symlink() {
                std::fs::remove_file(link)?;
            }
            std::os::unix::fs::symlink(&name, link)?;
        }
        Ok(Self {
            reader: Receiver::from_file_unchecked(board.try_clone()?)?,
            writer: Sender::from_file_unchecked(board)?,
            _computer: computer,
            name,
            link: link.map(Path::to_owned),
        })
    }

    /// The path to open at the other end.
    pub fn name(&self) -> &Path {
        self.link.as_deref().unwrap_or(&self.name)
    }

    /// Reads what came from the computer.
    ///
    /// # Errors
    /// The error of the system.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer).await
    }

    /// Writes as much as the line takes at once; a serial line without a reader loses the rest.
    ///
    /// # Errors
    /// The error of the system.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Not by tokio, which has to see it writable first.
        match rustix::io::write(&self.writer, bytes) {
            Err(Errno::AGAIN) => Ok(0),
            other => Ok(other?),
        }
    }
}

impl AsyncRead for Pty {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.reader).poll_read(context, buffer)
    }
}

impl AsyncWrite for Pty {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writer).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(context)
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if let Some(link) = &self.link {
            // Another simulator may use the name by now; only our own link is removed.
            if std::fs::read_link(link).is_ok_and(|target| target == self.name) {
                let _ = std::fs::remove_file(link);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::process::Command;

    use super::*;

    #[tokio::test]
    async fn bytes_go_through_as_they_are_and_a_program_started_meanwhile_inherits_no_end() {
        let mut pty = Pty::open(None).unwrap();
        let listed = Command::new("ls")
            .args(["-l", "/proc/self/fd"])
            .output()
            .unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let name = pty.name().to_str().unwrap();
        assert!(
            !listed.contains("ptmx") && !listed.contains(&format!("{name}\n")),
            "{listed}"
        );
        let mut computer = terminal(pty.name(), OFlags::NONBLOCK).unwrap();
        assert_eq!(pty.write(b"b\n").unwrap(), 2);
        io::Write::write_all(&mut computer, b"a\r\n\x03").unwrap();
        let mut buffer = [0; 8];
        let count = pty.read(&mut buffer).await.unwrap();
        assert_eq!(&buffer[..count], b"a\r\n\x03");
        let mut back = [0; 8];
        let count = io::Read::read(&mut computer, &mut back).unwrap();
        assert_eq!(&back[..count], b"b\n");
    }
}
