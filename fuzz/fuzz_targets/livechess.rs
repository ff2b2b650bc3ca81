//! Whatever a page calls, and whatever the board says meanwhile: each message is JSON, and fits the socket.
#![no_main]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use boardbridge::{
    board::core::Core,
    driver::ucb,
    front_end::livechess::{
        server::MAX_UNSENT,
        session::{Action, PageConversation},
    },
    vocabulary::{BoardName, Channel, ClientId},
};

#[derive(Debug, arbitrary::Arbitrary)]
enum Input {
    /// A message that may be anything.
    Message(String),
    Boards,
    /// With these parameters.
    Subscribe(String),
    Feed,
    /// This method with these parameters.
    Call(String, String),
    SetUp(u8),
    Unsubscribe,
    Board(u8, Vec<u8>),
}

const GAMES: [&str; 3] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "4k3/P7/8/8/8/8/8/4K2R w K - 0 1",
    "4k3/8/8/8/8/8/8/8 w - - 0 1",
];

libfuzzer_sys::fuzz_target!(|inputs: Vec<Input>| {
    let driver = Box::new(ucb::Ucb::new(ucb::Settings::default()));
    let mut now = Instant::now();
    let mut core = Core::new(BoardName::default(), driver, Duration::from_secs(3));
    core.link_up(now);
    let last = AtomicU64::new(0);
    let number = move || ClientId(last.fetch_add(1, Ordering::Relaxed) + 1);
    let mut session = PageConversation::new("a page".into(), Arc::new(number));
    let board = BoardName::default();
    for input in inputs {
        let call =
            |call: &str, param: &str| format!(r#"{{"id":1,"call":"{call}","param":{param}}}"#);
        let text = match input {
            Input::Message(text) => text,
            Input::Boards => call("eboards", "null"),
            Input::Subscribe(param) => call("subscribe", &param),
            Input::Feed => call(
                "subscribe",
                &format!(r#"{{"feed":"eboardevent","id":1,"param":{{"serialnr":"{board}"}}}}"#),
            ),
            Input::Call(method, param) => call(
                "call",
                &format!(r#"{{"id":1,"method":"{method}","param":{param}}}"#),
            ),
            Input::SetUp(which) => {
                let fen = GAMES[usize::from(which) % GAMES.len()];
                call(
                    "call",
                    &format!(r#"{{"id":1,"method":"setup","param":{{"fen":"{fen}"}}}}"#),
                )
            }
            Input::Unsubscribe => call("unsubscribe", "1"),
            Input::Board(wait, bytes) => {
                now += Duration::from_millis(u64::from(wait) * 20);
                core.timeout(now);
                core.received(now, Channel::Serial, &bytes);
                String::new()
            }
        };
        if !text.is_empty() {
            session.message(1, &text, &[Arc::new(core.snapshot())]);
        }
        while core.poll_transmit(now).is_some() {}
        while core.poll_event().is_some() {}
        if let Some(snapshot) = core.poll_snapshot() {
            session.snapshot(1, &snapshot);
        }
        while let Some(action) = session.poll_action() {
            match action {
                Action::Say(text) => {
                    assert!(text.len() <= MAX_UNSENT);
                    assert!(
                        serde_json::from_str::<serde_json::Value>(&text).is_ok(),
                        "{text}"
                    );
                }
                Action::Ask(_, command) => core.command(now, command),
                Action::Takes(..) => {}
            }
        }
    }
});
