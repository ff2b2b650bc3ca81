//! A pseudo-terminal: a serial line without the wire.

use std::{
    io,
    path::{Path, PathBuf},
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio_serial::{SerialPort, SerialStream};

/// The board's end of a pseudo-terminal, with a name for the other end.
#[derive(Debug)]
pub struct Pty {
    board: SerialStream,
    /// Held so that the board's end stays open while the computer's is not open.
    _computer: SerialStream,
    name: PathBuf,
    link: Option<PathBuf>,
}

impl Pty {
    /// Opens a pseudo-terminal; `link` becomes a symbolic link to the computer's end, replacing an existing
    /// one.
    ///
    /// # Errors
    /// A pseudo-terminal cannot be opened, or `link` is not a symbolic link.
    pub fn open(link: Option<&Path>) -> io::Result<Self> {
        let (board, computer) = SerialStream::pair()?;
        let name = computer
            .name()
            .map(PathBuf::from)
            .ok_or(io::ErrorKind::NotFound)?;
        if let Some(link) = link {
            if link.is_symlink() {
                std::fs::remove_file(link)?;
            }
            std::os::unix::fs::symlink(&name, link)?;
        }
        Ok(Self {
            board,
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
        self.board.read(buffer).await
    }

    /// Writes as much as the line takes at once; a serial line without a reader loses the rest.
    ///
    /// # Errors
    /// The error of the system.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.board.try_write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            other => other,
        }
    }
}

impl AsyncRead for Pty {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.board).poll_read(context, buffer)
    }
}

impl AsyncWrite for Pty {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.board).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.board).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.board).poll_shutdown(context)
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
