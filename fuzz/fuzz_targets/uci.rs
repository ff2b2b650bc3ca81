//! Any lines from a GUI are read without fault, and a game means the same whatever was stated before it.
#![no_main]

use std::time::Instant;

use boardbridge::{
    front_end::uci::session::{Action, GuiConversation},
    vocabulary::{BoardName, ClientId, ClientName, Command},
};

fn gui() -> GuiConversation {
    let board: BoardName = "board".parse().unwrap();
    GuiConversation::new(ClientId(1), ClientName::Other("fuzz".into()), vec![board])
}

/// The games that it states at these lines.
fn stated(gui: &mut GuiConversation, lines: &[&str]) -> Option<String> {
    let now = Instant::now();
    let mut last = None;
    for line in lines {
        gui.line(line, now);
        last = None;
        while let Some(action) = gui.poll_action() {
            if let Action::Ask(Command::Target { game, .. }) = action {
                last = Some(game.to_string());
            }
        }
    }
    last
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    let lines: Vec<&str> = text.lines().collect();
    let alone = lines.last().map(|last| stated(&mut gui(), &[last]));
    let last = stated(&mut gui(), &lines);
    if let Some(alone) = alone
        && lines.iter().all(|line| line.starts_with("position"))
    {
        assert_eq!(last, alone);
    }
});
