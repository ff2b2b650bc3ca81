//! Whatever Lichess sends, and whatever the board says meanwhile: the account goes on, and nothing that came can change
//! what is asked.
#![no_main]

use std::time::{Duration, Instant, SystemTime};

use boardbridge::{
    board::core::Core,
    driver::ucb,
    front_end::lichess::{
        objects,
        request::is_plain,
        session::{LichessAccount, Outcome},
        settings::{Accept, Settings, TakeBacks},
    },
    vocabulary::{BoardName, Channel, ClientId},
};

#[derive(Debug, arbitrary::Arbitrary)]
enum Input {
    /// A line of the account's stream that may be anything, and one of the game's.
    Event(Vec<u8>),
    Line(Vec<u8>),
    Starts,
    Full(Vec<u8>),
    State(Vec<u8>, u8),
    Finishes,
    Gone(bool),
    Answer(u8),
    Connected(bool),
    Stream,
    Board(u8, Vec<u8>),
}

/// Moves, legal or not.
fn moves(from: &[u8]) -> String {
    let known = [
        "e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "e1g1", "a7a8q", "x", "e8e1",
    ];
    let moves = from.iter().map(|m| known[usize::from(*m) % known.len()]);
    moves.collect::<Vec<_>>().join(" ")
}

fn state(from: &[u8], status: u8) -> String {
    let statuses = [
        "started", "mate", "resign", "aborted", "created", "draw", "?",
    ];
    let status = statuses[usize::from(status) % statuses.len()];
    let moves = moves(from);
    format!(
        r#"{{"type":"gameState","moves":"{moves}","wtime":9000,"btime":-1,"status":"{status}"}}"#
    )
}

libfuzzer_sys::fuzz_target!(|inputs: Vec<Input>| {
    let driver = Box::new(ucb::Ucb::new(ucb::Settings::default()));
    let mut now = Instant::now();
    let mut core = Core::new(BoardName::default(), driver, Duration::from_secs(3));
    core.link_up(now);
    let settings = Settings {
        accept: Accept::All,
        take_backs: TakeBacks::Yes,
        url: "https://lichess.org".to_owned(),
    };
    let mut session = LichessAccount::new(ClientId(1), settings);
    session.connected();
    for input in inputs {
        let game = r#"{"gameId":"Abcd1234","color":"white","fen":"","source":"friend","speed":"rapid",
            "variant":{"key":"standard"},"compat":{"board":true}}"#;
        let mut event = None;
        let mut line = None;
        match input {
            Input::Event(text) => event = Some(text),
            Input::Line(text) => line = Some(text),
            Input::Starts => {
                event = Some(format!(r#"{{"type":"gameStart","game":{game}}}"#).into())
            }
            Input::Finishes => {
                event = Some(format!(r#"{{"type":"gameFinish","game":{game}}}"#).into())
            }
            Input::Full(from) => {
                let state = state(&from, 0);
                let full = format!(
                    r#"{{"type":"gameFull","id":"Abcd1234","white":{{"name":"Me"}},"initialFen":"startpos","state":{state}}}"#
                );
                line = Some(full.into());
            }
            Input::State(from, status) => line = Some(state(&from, status).into()),
            Input::Gone(gone) => {
                line = Some(
                    format!(r#"{{"type":"opponentGone","gone":{gone},"claimWinInSeconds":1}}"#)
                        .into(),
                );
            }
            Input::Answer(which) => {
                let outcome = match which % 4 {
                    0 => Outcome::Done(r#"{"username":"Me"}"#.to_owned()),
                    1 => Outcome::Refused("no".to_owned()),
                    2 => Outcome::Lost("gone".to_owned()),
                    _ => Outcome::TooMany,
                };
                session.answered(now, outcome);
            }
            Input::Connected(true) => session.connected(),
            Input::Connected(false) => session.disconnected("gone"),
            Input::Stream => session.lost_stream(),
            Input::Board(wait, bytes) => {
                now += Duration::from_millis(u64::from(wait) * 20);
                core.timeout(now);
                core.received(now, Channel::Serial, &bytes);
            }
        }
        if let Some(event) = event.and_then(|text| objects::read(&text).ok()) {
            session.event(event);
        }
        if let Some(line) = line.and_then(|text| objects::read(&text).ok()) {
            session.line(now, SystemTime::UNIX_EPOCH, line);
        }
        while let Some(command) = session.seat().poll_command() {
            core.command(now, command);
        }
        while core.poll_transmit(now).is_some() {}
        while core.poll_event().is_some() {}
        if let Some(snapshot) = core.poll_snapshot() {
            session.snapshot(now, &snapshot);
        }
        while session.poll_notice().is_some() {}
        while session.poll_reply().is_some() {}
        if let Some(request) = session.poll_request(now) {
            let path = request.path();
            let names: Vec<&str> = path.split('/').skip(1).collect();
            let known = match names[..] {
                ["api", "account"] => true,
                ["api", "board", "game", id, ..] => names.len() <= 6 && is_plain(id),
                ["api", "challenge", id, ..] => names.len() <= 4 && is_plain(id),
                _ => false,
            };
            assert!(known, "{path}");
        }
    }
});
