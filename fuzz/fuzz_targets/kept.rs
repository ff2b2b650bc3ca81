//! Whatever the kept values say, the daemon that starts with them comes to rest.
#![no_main]

use arbitrary::Arbitrary;
use rig::kept::{Clients, Edit, comes_to_rest};

#[derive(Arbitrary, Debug)]
struct Input {
    clients: u8,
    edits: Vec<(u16, u8)>,
}

libfuzzer_sys::fuzz_target!(|input: Input| {
    let clients = Clients::ALL[usize::from(input.clients) % Clients::ALL.len()];
    let edits = input.edits.into_iter().take(40);
    let edits: Vec<Edit> = edits.map(|(at, how)| Edit { at, how }).collect();
    comes_to_rest(clients, |kept| {
        edits.iter().for_each(|edit| edit.apply(kept))
    });
});
