//! Sleeping until an optional deadline.

use tokio::time::{Instant, sleep_until};

/// Sleeps until then; forever if there is no deadline.
pub(crate) async fn sleep_until_some(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
