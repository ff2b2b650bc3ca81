//! Any text where a game of ours should be is read or left alone without fault.
#![no_main]

use boardbridge::front_end::pgn::{reading, record::Heading};
use jiff::tz::TimeZone;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let heading = Heading {
        site: "?".into(),
        player: "Anna".into(),
        annotator: "BoardBridge 0 on citrine".into(),
        zone: TimeZone::UTC,
    };
    let _ = reading::own(text, &heading);
});
