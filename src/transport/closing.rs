//! Closes ports on a thread of their own, because closing may have to wait for the board.
//!
//! Closing a serial port waits until its last bytes are out. If the board accepts none, the kernel waits 30 s
//! (`closing_wait`), and discarding the bytes first does not help on every port: the daemon has only one thread, which
//! must not wait for any board.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    thread,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};
use tracing::warn;

/// How often this process may have one port open or closing. So at most one thread per port is closing, even if that never
/// ends; the next attempt to open the port waits for it.
pub const MAX_USERS: usize = 1;
/// How long to wait for a port that is still closing. The longest message (a position, 100 bytes) takes 0.8 s at 1200
/// baud.
pub const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// The wait before starting a closing thread is tried again.
const THREAD_AGAIN: Duration = Duration::from_secs(1);

/// Whether this process uses a port. Clones refer to the same port.
#[derive(Clone, Debug)]
pub struct Usage(Arc<Semaphore>);

impl Default for Usage {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_USERS)))
    }
}

impl Usage {
    /// Takes the port, once its previous user has closed it. `None` if that takes longer than [`CLOSE_WAIT`].
    pub async fn begin(&self) -> Option<InUse> {
        let begun = timeout(CLOSE_WAIT, self.0.clone().acquire_owned()).await;
        Some(InUse(begun.ok()?.ok()?))
    }
}

/// A port is in use until this is dropped.
#[derive(Debug)]
pub struct InUse(#[expect(dead_code, reason = "to be held")] OwnedSemaphorePermit);

/// A stream that is closed on a thread of its own when it is dropped; the port is in use until it is closed.
#[derive(Debug)]
pub struct ClosedApart<S: Send + 'static>(Option<(S, InUse)>);

impl<S: Send + 'static> ClosedApart<S> {
    /// A stream, and its claim on the port.
    pub fn new(stream: S, in_use: InUse) -> Self {
        Self(Some((stream, in_use)))
    }

    /// The stream.
    ///
    /// # Errors
    /// None as long as it is not dropped.
    pub fn get(&self) -> io::Result<&S> {
        let held = self.0.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        Ok(&held.0)
    }

    fn stream(&mut self) -> io::Result<Pin<&mut S>>
    where
        S: Unpin,
    {
        // It is present until it is dropped.
        let held = self.0.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        Ok(Pin::new(&mut held.0))
    }
}

impl<S: Send + 'static> Drop for ClosedApart<S> {
    fn drop(&mut self) {
        let Some((stream, in_use)) = self.0.take() else {
            return;
        };
        let held = Arc::new(Mutex::new(Some((stream, in_use))));
        if let Err(error) = close(&held) {
            warn!(%error, "no thread to close a port on: it stays open until there is one");
            // Without a runtime there is nothing else to be held up.
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(async move {
                    while close(&held).is_err() {
                        sleep(THREAD_AGAIN).await;
                    }
                });
            }
        }
    }
}

/// Drops what is held, on a thread of its own.
///
/// # Errors
/// No thread can be started; it is held still.
fn close<T: Send + 'static>(held: &Arc<Mutex<Option<T>>>) -> io::Result<()> {
    let held = held.clone();
    let thread = thread::Builder::new().name("closing".to_owned());
    let take = move || drop(held.lock().unwrap_or_else(PoisonError::into_inner).take());
    thread.spawn(take).map(drop)
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

    /// Nothing is buffered here. Waiting until a board has its bytes would block the thread just as closing does.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// A port has no shutdown of its own: it is closed when it is dropped.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::oneshot;

    use super::*;

    /// Ends the test if a stream is closed on the runtime's thread, which would then wait for itself.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// A port of a board that accepts nothing: it reports that it is being closed, and is closed when the test allows
    /// it.
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
    async fn a_port_that_is_slow_to_close_blocks_nothing_else_and_is_in_use_until_then() {
        let usage = Usage::default();
        let (stuck, closing, go) = Stuck::new();
        drop(ClosedApart::new(stuck, usage.begin().await.unwrap()));
        closing.await.unwrap();
        // The runtime keeps running, and no one can take the port meanwhile.
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
