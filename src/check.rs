//! `boardbridge check`: says what a configuration would run.

use std::{fmt::Write as _, path::Path};

use crate::{
    config::{Config, Listen},
    driver::registry,
    transport::ble::Radio,
};

/// What the configuration would run, in words.
pub fn describe(config: &Config, file: &str) -> String {
    let mut text = format!("{file} is fine. It would run:\n");
    let _ = writeln!(
        text,
        "  uci      every board        {}",
        at(&config.uci.listen)
    );
    let _ = writeln!(
        text,
        "  status   event stream       {}",
        at(&config.status.listen)
    );
    let _ = match config.games.folder() {
        Some(folder) => writeln!(
            text,
            "  games    every board        in {}",
            folder.display()
        ),
        None => writeln!(text, "  games    every board        off"),
    };
    for (name, board) in &config.boards {
        let _ = match registry::transport(board, &Radio::default()) {
            Ok(transport) => writeln!(text, "  board    {name:<18} {} on {transport}", board.kind),
            Err(error) => writeln!(text, "  board    {name:<18} not run: {error}"),
        };
        if let Some(listen) = &board.uci_listen {
            let _ = writeln!(text, "  uci      {name:<18} {}", at(listen));
        }
        if let Some(directory) = &board.record {
            let _ = writeln!(text, "  record   {name:<18} in {}", directory.display());
        }
        if let Some(serial) = &board.serial
            && cfg!(unix)
            && !Path::new(&serial.port).exists()
        {
            let _ = writeln!(
                text,
                "  note     {name:<18} {} is not there now; the daemon waits for it",
                serial.port
            );
        }
    }
    for entry in &config.whitepawn {
        let name = &entry.board;
        let _ = writeln!(text, "  app      {name:<18} WhitePawn by {}", entry.way());
    }
    if config.boards.is_empty() {
        text.push_str(
            "  note     no board: add a [boards.NAME]; `boardbridge scan` shows the ports\n",
        );
    }
    text
}

fn at(listen: &Listen) -> String {
    match listen {
        Listen::Off => "off".to_owned(),
        Listen::At(address) => format!("at {address}"),
    }
}
