//! Any line from a UCB is read without fault.
#![no_main]

libfuzzer_sys::fuzz_target!(|line: &[u8]| {
    let _ = boardbridge::driver::ucb::codec::parse(line);
});
