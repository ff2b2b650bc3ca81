//! Any SWPP line is read without fault, and what was read is written as a line that reads the same.
#![no_main]

use boardbridge::text::swpp;

libfuzzer_sys::fuzz_target!(|line: &[u8]| {
    if let Ok(message) = swpp::read(line) {
        let written = swpp::write(&message);
        assert!(written.len() > 2 && written.ends_with('\n'));
        assert!(swpp::read(written.trim_end_matches('\n').as_bytes()).is_ok());
    }
});
