//! Waiting, where there may be nothing to wait for.

use tokio::time::{Instant, sleep_until};

/// Sleeps until then; for ever, if there is no such time.
pub(crate) async fn sleep_until_some(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
