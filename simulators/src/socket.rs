//! A TCP port for a simulated board: one computer at a time, the newest wins.

use std::{
    io,
    net::{self, SocketAddr, ToSocketAddrs},
};

use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, TcpStream},
};

/// The board's end of a network connection.
#[derive(Debug)]
pub struct Socket {
    listener: TcpListener,
    address: SocketAddr,
    computer: Option<TcpStream>,
}

/// What came over a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// This many bytes.
    Bytes(usize),
    /// A computer, replacing the previous one.
    Computer,
    /// The computer has disconnected.
    Gone,
}

impl Socket {
    /// Listens on an address; port 0 takes any free one.
    ///
    /// # Errors
    /// The error of the system.
    pub fn open(address: impl ToSocketAddrs) -> io::Result<Self> {
        let listener = net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            address: listener.local_addr()?,
            listener: TcpListener::from_std(listener)?,
            computer: None,
        })
    }

    /// The address to connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for a computer, or for what it sends.
    ///
    /// # Errors
    /// The listener's system error; a lost connection is not an error.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<Came> {
        let reading = async {
            match &mut self.computer {
                Some(computer) => computer.read(buffer).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // What the older computer sent before it disconnected is kept for the newer one.
            biased;
            read = reading => match read {
                Ok(count) if count > 0 => Ok(Came::Bytes(count)),
                // Closed or reset: it is gone either way.
                Ok(_) | Err(_) => {
                    self.computer = None;
                    Ok(Came::Gone)
                }
            },
            came = self.listener.accept() => {
                let (computer, _) = came?;
                // Messages are short and must not wait for one another.
                computer.set_nodelay(true)?;
                self.computer = Some(computer);
                Ok(Came::Computer)
            }
        }
    }

    /// Writes as much as the connection takes at once; the rest is lost, as on a line without a reader.
    pub fn write(&mut self, bytes: &[u8]) {
        if let Some(computer) = &self.computer {
            // A connection that has broken is noticed when reading.
            let _ = computer.try_write(bytes);
        }
    }
}
