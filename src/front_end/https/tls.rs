//! TLS toward a server, on a machine whose clock may be wrong.

use std::{sync::Arc, time::SystemTime};

use hyper_rustls::ConfigBuilderExt as _;
use rustls::{ClientConfig, pki_types::UnixTime, time_provider::TimeProvider};

/// The settings of TLS: Mozilla's root certificates are trusted.
pub(super) fn settings() -> ClientConfig {
    let settings = ClientConfig::builder().with_webpki_roots();
    let mut settings = settings.with_no_client_auth();
    settings.time_provider = Arc::new(Clock);
    settings
}

/// The clock of this computer. The library's own panics before 1970, also on a connection that is open when the clock is set.
#[derive(Debug)]
struct Clock;

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        unix_time(SystemTime::now())
    }
}

/// The time in the library's form; `None` makes the connection fail.
fn unix_time(now: SystemTime) -> Option<UnixTime> {
    let since = now.duration_since(SystemTime::UNIX_EPOCH);
    since.ok().map(UnixTime::since_unix_epoch)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn before_1970_there_is_no_time_and_no_panic() {
        let epoch = SystemTime::UNIX_EPOCH;
        let day = Duration::from_hours(24);
        assert_eq!(unix_time(epoch - day), None);
        assert_eq!(
            unix_time(epoch + day).map(|time| time.as_secs()),
            Some(86_400)
        );
        assert!(settings().time_provider.current_time().is_some());
    }
}
