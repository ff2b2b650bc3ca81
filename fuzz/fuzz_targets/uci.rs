//! Any line from a GUI is read without fault.
#![no_main]

libfuzzer_sys::fuzz_target!(|line: &str| {
    let _ = boardbridge::front_end::uci::command::parse(line);
});
