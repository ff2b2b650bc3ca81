//! Closing, on a thread of its own, what may wait for a board.
//!
//! Closing a serial port waits until its last bytes are out. The kernel gives a board that takes none 30 s for that
//! (`closing_wait`), and discarding the bytes first does not help on every port: the daemon has but one thread, which
//! cannot wait for any board.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    thread,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tracing::warn;

/// Whoever has a port open or is closing it, at once. So one thread a port is closing at most, should it take for ever;
/// whoever opens the port next waits for it.
pub const MAX_USERS: usize = 1;
/// How long a port that is still being closed is waited for. The longest message (a position, 100 bytes) takes 0.8 s at
/// 1200 baud.
pub const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// Whether a port is in use by ourselves. Its clones are of the same port.
#[derive(Clone, Debug)]
pub struct Usage(Arc<Semaphore>);

impl Default for Usage {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_USERS)))
    }
}

impl Usage {
    /// Takes the port, as soon as whoever had it has closed it. `None` if that lasts longer than [`CLOSE_WAIT`].
    pub async fn begin(&self) -> Option<InUse> {
        let begun = timeout(CLOSE_WAIT, self.0.clone().acquire_owned()).await;
        Some(InUse(begun.ok()?.ok()?))
    }
}

/// A port is in use until this is dropped.
#[derive(Debug)]
pub struct InUse(#[expect(dead_code, reason = "to be held")] OwnedSemaphorePermit);

/// A stream that is closed on a thread of its own when it is dropped, and is in use until it is closed.
#[derive(Debug)]
pub struct ClosedApart<S: Send + 'static>(Option<(S, InUse)>);

impl<S: Send + 'static> ClosedApart<S> {
    /// A stream, and the place it takes.
    pub fn new(stream: S, in_use: InUse) -> Self {
        Self(Some((stream, in_use)))
    }

    fn stream(&mut self) -> io::Result<Pin<&mut S>>
    where
        S: Unpin,
    {
        // It is there until it is dropped.
        let held = self.0.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        Ok(Pin::new(&mut held.0))
    }
}

impl<S: Send + 'static> Drop for ClosedApart<S> {
    fn drop(&mut self) {
        let Some((stream, in_use)) = self.0.take() else {
            return;
        };
        let close = move || {
            drop(stream);
            drop(in_use);
        };
        // Where there can be no thread it is closed here, with what that may take.
        if let Err(error) = thread::Builder::new()
            .name("closing".to_owned())
            .spawn(close)
        {
            warn!(%error, "no thread to close a port on");
        }
    }
}

impl<S: AsyncRead + Unpin + Send + 'static> AsyncRead for ClosedApart<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream()?.poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin + Send + 'static> AsyncWrite for ClosedApart<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write(context, bytes)
    }

    /// Nothing is held back here. To wait until a board has its bytes would block the thread as closing does.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// A port has no end of its own: it is closed when it is dropped.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::oneshot;

    use super::*;

    /// What ends the test where a stream is closed on the runtime's thread, which then waits for itself.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// A port of a board that takes nothing: it tells that it is being closed, and is closed once it is let.
    struct Stuck {
        closing: Option<oneshot::Sender<()>>,
        let_go: mpsc::Receiver<()>,
    }

    impl Stuck {
        fn new() -> (Self, oneshot::Receiver<()>, mpsc::Sender<()>) {
            let (closing, began) = oneshot::channel();
            let (go, let_go) = mpsc::channel();
            let stuck = Self {
                closing: Some(closing),
                let_go,
            };
            (stuck, began, go)
        }
    }

    impl Drop for Stuck {
        fn drop(&mut self) {
            let began = self.closing.take().map(|closing| closing.send(()));
            assert_eq!(began, Some(Ok(())));
            let _ = self.let_go.recv_timeout(PATIENCE);
        }
    }

    #[tokio::test]
    async fn a_port_that_is_long_in_closing_holds_up_nobody_and_is_in_use_until_then() {
        let usage = Usage::default();
        let (stuck, closing, go) = Stuck::new();
        drop(ClosedApart::new(stuck, usage.begin().await.unwrap()));
        closing.await.unwrap();
        // The runtime goes on, and nobody takes the port meanwhile.
        assert_eq!(usage.0.available_permits(), 0);
        let next = tokio::spawn({
            let usage = usage.clone();
            async move { usage.begin().await.is_some() }
        });
        go.send(()).unwrap();
        assert!(next.await.unwrap(), "the port stayed in use");
        assert_eq!(usage.0.available_permits(), MAX_USERS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_port_that_is_never_closed_is_not_waited_for_without_end() {
        let usage = Usage::default();
        let (stuck, closing, go) = Stuck::new();
        drop(ClosedApart::new(stuck, usage.begin().await.unwrap()));
        closing.await.unwrap();
        for _ in 0..3 {
            let began = tokio::time::Instant::now();
            assert!(usage.begin().await.is_none());
            assert_eq!(began.elapsed(), CLOSE_WAIT);
        }
        drop(go);
    }
}
