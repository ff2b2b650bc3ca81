//! Logging: to standard error, `info` unless `RUST_LOG` says otherwise.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::{EnvFilter, fmt};

/// Begins to log. A second call does nothing.
pub fn init() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal())
        .with_target(false);
    // The journal knows the time already.
    let result = if std::env::var_os("JOURNAL_STREAM").is_some() {
        builder.without_time().try_init()
    } else {
        builder.try_init()
    };
    // Somebody else, for instance a test, has set logging up: theirs stays.
    let _ = result;
}
