//! Any text where a game of ours should be is read or left alone without fault.
#![no_main]

use boardbridge::games::{reading, record::Heading};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let heading = Heading {
        site: "?".into(),
        player: "Anna".into(),
        annotator: "BoardBridge 0 on citrine".into(),
    };
    let _ = reading::own(text, &heading);
});
