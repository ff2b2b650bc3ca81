//! Whatever an engine says: a move that is taken is legal in the position it was asked about, and nothing comes after a fault.
#![no_main]

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use boardbridge::{
    chess::game::Game,
    front_end::opponent::{
        uci::{Conversation, Heard},
        settings::{EngineSettings, Go, MemoryLimit, OptionValue, PATIENCE},
    },
};
use shakmaty::Position;

#[derive(Debug, arbitrary::Arbitrary)]
enum Input {
    /// A line that may be anything.
    Line(Vec<u8>),
    /// One that is awaited.
    Said(u8),
    BestMove(String),
    /// The range of the first option.
    Range(i64, i64),
    Ask(bool),
    Stop,
    Wait(u8),
}

libfuzzer_sys::fuzz_target!(|inputs: Vec<Input>| {
    let mut now = Instant::now();
    let settings = EngineSettings {
        program: "engine".into(),
        options: BTreeMap::from([
            ("Threads".to_owned(), OptionValue::Spin(4)),
            (
                "SyzygyPath".to_owned(),
                OptionValue::Text("/tables".to_owned()),
            ),
        ]),
        go: Go::default(),
        patience: PATIENCE,
        memory: MemoryLimit::for_options(&BTreeMap::new()),
    };
    let mut engine = Conversation::new(now, Arc::new(settings));
    let mut asked = Game::standard();
    let mut failed = false;
    for input in inputs {
        match input {
            Input::Line(line) => engine.line(now, &line),
            Input::Said(which) => {
                let said = ["uciok", "readyok", "bestmove e2e4", "id name Engine 1"];
                engine.line(now, said[usize::from(which) % said.len()].as_bytes());
            }
            Input::BestMove(m) => engine.line(now, format!("bestmove {m}").as_bytes()),
            Input::Range(from, to) => {
                let text = format!("option name Threads type spin default 1 min {from} max {to}");
                engine.line(now, text.as_bytes());
            }
            Input::Ask(fresh) if engine.is_free() => engine.ask(now, asked.clone(), fresh),
            Input::Ask(_) => {}
            Input::Stop => engine.stop(now),
            Input::Wait(seconds) => {
                now += Duration::from_secs(u64::from(seconds));
                engine.timeout(now);
            }
        }
        while let Some(line) = engine.poll_line() {
            assert!(!line.contains('\n'), "{line:?}");
        }
        while let Some(heard) = engine.poll_heard() {
            assert!(!failed, "{heard:?} after a fault");
            match heard {
                Heard::Moved(m, _) => {
                    assert!(asked.position().is_legal(m));
                    assert!(asked.push(m));
                }
                Heard::Fault(_) => failed = true,
                Heard::Name(_) | Heard::Option(_) => {}
            }
        }
    }
});
