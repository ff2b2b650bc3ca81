//! The time of day.

use std::time::{Duration, SystemTime};

/// 31 December 9999, the last second whose year has four digits (RFC 3339), since 1970.
const LATEST: Duration = Duration::from_secs(253_402_300_799);

/// The time of day. A clock before 1970 or after 9999 is wrong, and no format has room for it: the nearest time counts.
pub(crate) fn now() -> SystemTime {
    written(SystemTime::now())
}

/// Whether the clock shows a time that no format has room for.
pub(crate) fn is_impossible() -> bool {
    let now = SystemTime::now();
    now != written(now)
}

/// The nearest time that can be written.
pub(crate) fn written(at: SystemTime) -> SystemTime {
    at.clamp(SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + LATEST)
}

/// A time to the nanosecond, in RFC 3339.
#[cfg(target_os = "linux")]
pub(crate) fn exact(at: SystemTime) -> String {
    humantime::format_rfc3339_nanos(written(at)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_has_no_date_counts_as_the_nearest_that_has_one() {
        let epoch = SystemTime::UNIX_EPOCH;
        let day = Duration::from_hours(24);
        assert_eq!(written(epoch - day), epoch);
        assert_eq!(written(epoch + LATEST + day), epoch + LATEST);
        let last = humantime::format_rfc3339_millis(written(epoch + LATEST * 2)).to_string();
        assert_eq!(last, "9999-12-31T23:59:59.000Z");
    }
}
