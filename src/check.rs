//! `boardbridge check`: shows what a configuration would run.

use std::{
    env,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use tokio::time::Instant;

use crate::{
    config::{Config, Listen, board::SerialConfig},
    door::Allow,
    lichess::token,
    opponent::trial,
    serial_access::barred,
    state::settings::default_directory,
    transport::{ble::Radio, is_gadget_port},
    vocabulary::BoardName,
};

/// What the configuration would run, in words.
pub fn describe(config: &Config, file: &str) -> String {
    let mut text = format!("{file} is fine. It would run:\n");
    let _ = writeln!(
        text,
        "  uci      every board        {}",
        at(&config.uci.listen, &config.uci.allow)
    );
    let _ = writeln!(
        text,
        "  status   event stream       {}",
        at(&config.status.listen, &config.status.allow)
    );
    let _ = writeln!(
        text,
        "  web      page and API       {}",
        at(&config.web.listen(), &config.web.allow)
    );
    let livechess = &config.livechess;
    let _ = writeln!(
        text,
        "  pages    LiveChess          {}",
        at(&livechess.listen(), &livechess.allow)
    );
    let _ = match config.state.path() {
        Some(folder) => writeln!(
            text,
            "  state    kept for restarts  in {}",
            folder.display()
        ),
        None => writeln!(text, "  state    kept for restarts  off"),
    };
    let _ = match config.games.folder() {
        Some(folder) => writeln!(
            text,
            "  games    every board        in {}",
            folder.display()
        ),
        None => writeln!(text, "  games    every board        off"),
    };
    if is_of_user(config) {
        text.push_str("  note     the service keeps these    in /var/lib/boardbridge\n");
    }
    for (name, board) in &config.boards {
        let _ = match board.transport(&Radio::default()) {
            Ok(transport) => writeln!(
                text,
                "  board    {name:<18} {} on {transport}",
                board.make.kind
            ),
            Err(error) => writeln!(text, "  board    {name:<18} not run: {error}"),
        };
        if let Some(served) = &board.uci_listen {
            let at = at(&served.listen, &served.allow);
            let _ = writeln!(text, "  uci      {name:<18} {at}");
        }
        if let Some(directory) = &board.record {
            let _ = writeln!(text, "  record   {name:<18} in {}", directory.display());
        }
        text += &notes(name, board.serial.as_ref());
    }
    for entry in &config.whitepawn {
        let name = &entry.board;
        let _ = writeln!(
            text,
            "  app      {name:<18} WhitePawn by {}{}",
            entry.way(),
            entry.details()
        );
        text += &notes(name, entry.serial.as_ref());
    }
    for entry in &config.link {
        let mut names: Vec<String> = entry.boards.iter().map(ToString::to_string).collect();
        if let Some(with) = &entry.with {
            names.push(format!("tcp {}", with.0.0));
        }
        let white = names[entry.white().index().min(names.len() - 1)].clone();
        let _ = writeln!(
            text,
            "  link     {:<18} White on {white}",
            names.join(" + ")
        );
    }
    for entry in &config.opponent {
        let name = &entry.board;
        let _ = writeln!(text, "  opponent {name:<18} {}", entry.in_words());
    }
    if let Some(entry) = &config.lichess {
        let name = entry.board.as_str();
        let _ = writeln!(text, "  lichess  {name:<18} {}", entry.server());
        let file = token::place(entry.token_file.as_deref());
        if let Err(error) = token::read(&file) {
            let _ = writeln!(text, "  note     {name:<18} {error}");
        }
    }
    if config.boards.is_empty() {
        text.push_str(
            "  note     no board: add a [boards.NAME]; `boardbridge scan` shows the ports\n",
        );
    }
    text
}

/// Starts every engine briefly: notes about those that do not start, or lack an option.
pub async fn engines(config: &Config) -> String {
    let until = Instant::now() + trial::TRIAL_WAIT;
    let mut text = String::new();
    for entry in &config.opponent {
        let Some((settings, _)) = entry.engine() else {
            continue;
        };
        for problem in trial::problems(&settings, until).await {
            let _ = writeln!(text, "  note     {:<18} {problem}", entry.board);
        }
    }
    text
}

/// Whether something is kept in a folder of the user's that a service would keep in its own.
fn is_of_user(config: &Config) -> bool {
    let default = default_directory(|name| env::var_os(name));
    let kept = [config.state.path(), config.games.folder()];
    let below = |default: PathBuf| kept.iter().flatten().any(|path| path.starts_with(&default));
    env::var_os("STATE_DIRECTORY").is_none() && default.is_some_and(below)
}

/// Notes about a serial port that is missing, or that the user may not open.
fn notes(name: &BoardName, serial: Option<&SerialConfig>) -> String {
    let Some(SerialConfig { port, .. }) = serial else {
        return String::new();
    };
    let notes = if Path::new(port).exists() {
        barred(port)
    } else {
        let hint = if is_gadget_port(port) {
            ": boardbridge-gadget makes it"
        } else {
            ""
        };
        vec![format!(
            "{port} is not there now; the daemon waits for it{hint}"
        )]
    };
    let line = |note: String| format!("  note     {name:<18} {note}\n");
    notes.into_iter().map(line).collect()
}

fn at(listen: &Listen, allow: &Allow) -> String {
    match (listen, allow) {
        (Listen::Off, _) => "off".to_owned(),
        (Listen::At(address), Allow::Private) => format!("at {address}"),
        (Listen::At(address), allow) => format!("at {address}, for {allow}"),
    }
}
