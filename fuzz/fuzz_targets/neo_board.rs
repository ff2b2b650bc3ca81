//! Whatever a Neo says on whichever characteristic, and however requests end: the machine goes on.
#![no_main]

use std::time::{Duration, Instant};

use boardbridge::{
    board::core::Core,
    chess::game::Game,
    driver::neo::{Neo, Settings, codec},
    vocabulary::{BoardName, Channel, ClientId, Command, Reply},
};

const HEARD: [uuid::Uuid; 6] = [
    codec::ANSWERS,
    codec::BATTERY,
    codec::FIRMWARE,
    codec::EVENTS,
    codec::OCCUPANCY,
    codec::SETTINGS,
];

libfuzzer_sys::fuzz_target!(|input: Vec<(u8, u8, Vec<u8>)>| {
    let mut now = Instant::now();
    let driver = Box::new(Neo::new(Settings::default()));
    let mut core = Core::new(BoardName::default(), driver, Duration::from_secs(3));
    core.link_up(now);
    core.command(
        now,
        Command::Target {
            client: ClientId(1),
            label: "fuzz".into(),
            number: 1,
            game: Box::new(Game::standard()),
            occasion: boardbridge::vocabulary::Occasion::default(),
        },
    );
    core.command(
        now,
        Command::Await {
            client: ClientId(1),
            on: true,
        },
    );
    for (wait, what, bytes) in input {
        now += Duration::from_millis(u64::from(wait) * 20);
        core.timeout(now);
        let channel = Channel::Gatt(HEARD[usize::from(what) % HEARD.len()]);
        core.received(now, channel, &bytes);
        while let Some(outgoing) = core.poll_transmit(now) {
            let outcome = if what < 250 {
                Reply::Done
            } else {
                Reply::Refused("fuzz".into())
            };
            core.answered(now, outgoing.channel, outcome);
        }
        while core.poll_event().is_some() {}
        let _ = core.poll_snapshot();
    }
});
