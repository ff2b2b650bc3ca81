//! An open line of Bluetooth Classic.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bluer::rfcomm::{
    Stream,
    stream::{OwnedReadHalf, OwnedWriteHalf},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// An open line.
pub struct Line {
    reader: OwnedReadHalf,
    writer: OwnedWriteHalf,
}

impl Line {
    /// A line over a connected stream. Once dropped it is closed, although `BlueZ` may keep the socket open as well.
    pub fn new(stream: Stream) -> Self {
        // Only dropping the halves shuts it down.
        let (reader, writer) = stream.into_split();
        Self { reader, writer }
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match ready!(Pin::new(&mut self.reader).poll_read(cx, buf)) {
            // This is how Linux shows that the other end has disconnected.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Poll::Ready(Ok(())),
            done => Poll::Ready(done),
        }
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writer).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(cx)
    }
}
