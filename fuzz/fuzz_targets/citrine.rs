//! Any line from a Citrine is read without fault.
#![no_main]

libfuzzer_sys::fuzz_target!(|line: &[u8]| {
    let _ = boardbridge::driver::citrine::codec::parse(line);
});
