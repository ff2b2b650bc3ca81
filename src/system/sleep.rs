//! Sleeping until a time that may not exist.

use tokio::time::{Instant, sleep_until};

/// Sleeps until this time; for ever if there is none.
pub(crate) async fn sleep_until_some(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
