//! Any configuration is accepted or refused without fault.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = boardbridge::config::Config::from_text(text, "fuzz");
});
