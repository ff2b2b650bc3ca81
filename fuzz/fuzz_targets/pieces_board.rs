//! Whatever a board of pieces, or of squares without a motor, says, and however requests end: the machine goes on.
#![no_main]

use std::time::{Duration, Instant};

use boardbridge::{
    board::{core::Core, settings::BoardConfig},
    chess::game::Game,
    vocabulary::{BoardName, Channel, ClientId, Command, Occasion, Reply},
};

/// Each kind with the channels on which it is heard.
const BOARDS: [(&str, &[&str]); 4] = [
    ("kind = \"dgt\"", &["serial"]),
    ("kind = \"chessnut\"", &["1b7e8262", "1b7e8273"]),
    ("kind = \"chessnut\"\nhid = {}", &["hid"]),
    ("kind = \"dgt-pegasus\"", &["6e400003"]),
];

libfuzzer_sys::fuzz_target!(|input: (u8, Vec<(u8, u8, Vec<u8>)>)| {
    let (keys, channels) = BOARDS[usize::from(input.0) % BOARDS.len()];
    let Ok(board) = BoardConfig::from_toml(keys) else {
        return;
    };
    let mut now = Instant::now();
    let mut core = Core::new(BoardName::default(), board.driver(), Duration::from_secs(3));
    core.link_up(now);
    let client = ClientId(1);
    core.command(
        now,
        Command::Target {
            client,
            label: "fuzz".into(),
            number: 1,
            game: Box::new(Game::standard()),
            occasion: Occasion::default(),
        },
    );
    core.command(now, Command::Await { client, on: true });
    for (wait, what, bytes) in input.1 {
        now += Duration::from_millis(u64::from(wait) * 20);
        core.timeout(now);
        let channel = channels[usize::from(what) % channels.len()];
        if let Ok(channel) = channel.parse::<Channel>() {
            core.received(now, channel, &bytes);
        }
        while let Some(outgoing) = core.poll_transmit(now) {
            let outcome = if what < 250 {
                Reply::Done
            } else {
                Reply::Refused("fuzz".into())
            };
            if outgoing.channel != Channel::Serial {
                core.answered(now, outgoing.channel, outcome);
            }
        }
        while core.poll_event().is_some() {}
        let _ = core.poll_hang_up();
        let _ = core.poll_snapshot();
    }
});
