//! A TCP port that a simulated board is to be found at: one computer at a time, and the newest wins.

use std::{
    io,
    net::{self, SocketAddr, ToSocketAddrs},
};

use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, TcpStream},
};

/// The board's end of a network.
#[derive(Debug)]
pub struct Socket {
    listener: TcpListener,
    address: SocketAddr,
    computer: Option<TcpStream>,
}

/// What came over a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// So many bytes.
    Bytes(usize),
    /// A computer, in the place of the one before.
    Computer,
    /// The computer has gone.
    Gone,
}

impl Socket {
    /// Listens at an address; port 0 takes any that is free.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(address: impl ToSocketAddrs) -> io::Result<Self> {
        let listener = net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            address: listener.local_addr()?,
            listener: TcpListener::from_std(listener)?,
            computer: None,
        })
    }

    /// What to connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for a computer, or for what it sends.
    ///
    /// # Errors
    /// What the system says of the listener; a lost connection is no error.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<Came> {
        let reading = async {
            match &mut self.computer {
                Some(computer) => computer.read(buffer).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // What the older computer sent before it went is not lost to the newer one.
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
                // Messages are short: they are not to wait for one another.
                computer.set_nodelay(true)?;
                self.computer = Some(computer);
                Ok(Came::Computer)
            }
        }
    }

    /// Writes as much as the connection takes at once; the rest is lost, as on a line that nobody reads.
    pub fn write(&mut self, bytes: &[u8]) {
        if let Some(computer) = &self.computer {
            // A connection that has broken is noticed when reading.
            let _ = computer.try_write(bytes);
        }
    }
}
