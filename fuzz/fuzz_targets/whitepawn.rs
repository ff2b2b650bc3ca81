//! Whatever an app sends, and whatever the board behind sends meanwhile: the conversation goes on.
#![no_main]

use std::time::{Duration, Instant};

use boardbridge::{
    board::core::Core,
    driver::ucb,
    front_end::whitepawn::session::{Action, AppConversation, Identity},
    vocabulary::{BoardName, Channel, ClientId},
};

#[derive(Debug, arbitrary::Arbitrary)]
enum Input {
    Line(Vec<u8>),
    Sent,
    Gone(bool),
    Board(u8, Vec<u8>),
}

libfuzzer_sys::fuzz_target!(|inputs: Vec<Input>| {
    let driver = Box::new(ucb::Ucb::new(ucb::Settings::default()));
    let mut now = Instant::now();
    let mut core = Core::new(BoardName::default(), driver, Duration::from_secs(3));
    core.link_up(now);
    let identity = Identity {
        version: "1".to_owned(),
        serial: "fuzz".to_owned(),
    };
    let mut session = AppConversation::new(ClientId(1), "fuzz".into(), identity);
    for input in inputs {
        match input {
            Input::Line(line) => session.line("fuzz", &line),
            Input::Sent if session.next_message().is_some() => session.sent(now),
            Input::Sent => {}
            Input::Gone(true) => session.disconnected(now, "gone", Duration::from_secs(1)),
            Input::Gone(false) => session.taken_over(now, "gone", true),
            Input::Board(wait, bytes) => {
                now += Duration::from_millis(u64::from(wait) * 20);
                core.timeout(now);
                core.received(now, Channel::Serial, &bytes);
            }
        }
        while let Some(action) = session.poll_action() {
            if let Action::Ask(command) = action {
                core.command(now, command);
            }
        }
        while core.poll_transmit(now).is_some() {}
        while core.poll_event().is_some() {}
        if let Some(snapshot) = core.poll_snapshot() {
            session.snapshot(&snapshot);
        }
    }
});
