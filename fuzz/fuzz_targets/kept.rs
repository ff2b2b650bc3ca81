//! Whatever the kept values say, the daemon that starts with them comes to rest.
#![no_main]

use arbitrary::Arbitrary;
use rig::kept::{Back, Clients, Edit, claims, comes_to_rest};

/// Edits of each kind at most.
const MOST: usize = 20;

#[derive(Arbitrary, Debug)]
struct Input {
    clients: u8,
    back: bool,
    /// Of who has the boards.
    claims: Vec<(u16, u8)>,
    /// Of all that is kept.
    edits: Vec<(u16, u8)>,
}

fn edits(of: Vec<(u16, u8)>) -> impl Iterator<Item = Edit> {
    of.into_iter().take(MOST).map(|(at, how)| Edit { at, how })
}

libfuzzer_sys::fuzz_target!(|input: Input| {
    let clients = Clients::ALL[usize::from(input.clients) % Clients::ALL.len()];
    let back = if input.back { Back::Soon } else { Back::Never };
    comes_to_rest(clients, back, |kept| {
        for edit in edits(input.claims) {
            claims(kept).for_each(|claims| edit.apply(claims));
        }
        edits(input.edits).for_each(|edit| edit.apply(kept));
    });
});
