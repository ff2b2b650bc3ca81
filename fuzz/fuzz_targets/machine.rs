//! Whatever a board sends, whole or in pieces, with a program awaiting a move: the machine goes on.
#![no_main]

use std::time::{Duration, Instant};

use boardbridge::{
    board::{
        command::{ClientId, Command},
        machine::Machine,
        name::BoardName,
    },
    driver::{Channel, Driver, citrine, swpp, ucb},
    game::Game,
};

libfuzzer_sys::fuzz_target!(|input: (u8, Vec<(u8, Vec<u8>)>)| {
    let (kind, chunks) = input;
    let driver: Box<dyn Driver> = match kind % 3 {
        0 => Box::new(citrine::Citrine::new(citrine::Timing::default(), None)),
        1 => Box::new(ucb::Ucb::new(ucb::Timing::default(), ucb::codec::PositionFormat::V2)),
        _ => Box::new(swpp::Swpp::new(swpp::Way::Stream, swpp::MOVE_WAIT)),
    };
    let mut now = Instant::now();
    let mut machine = Machine::new(BoardName::default(), driver, Duration::from_secs(3));
    machine.link_up(now);
    machine.command(now, Command::Target {
        client: ClientId(1),
        label: "fuzz".into(),
        number: 1,
        game: Box::new(Game::standard()),
        occasion: boardbridge::board::occasion::Occasion::default(),
    });
    machine.command(now, Command::Await { client: ClientId(1), on: true });
    for (wait, bytes) in chunks {
        now += Duration::from_millis(u64::from(wait) * 20);
        machine.timeout(now);
        machine.received(now, Channel::Serial, &bytes);
        while machine.poll_transmit(now).is_some() {}
        while machine.poll_event().is_some() {}
        let _ = machine.poll_snapshot();
    }
});
