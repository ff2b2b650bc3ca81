//! `boardbridge lichess …`: an account on Lichess.

use std::{
    io::{self, BufRead as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand, ValueEnum};
use nix::unistd::{AccessFlags, eaccess};
use serde_json::{Value, json};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::sleep,
};

use crate::{
    bus::{account::Level, login::LOGIN_WAIT},
    cli::call::{self, CallError},
    config::Config,
    front_end::lichess::{
        http::Http,
        session::Outcome,
        settings::DEFAULT_URL,
        token::{DEFAULT_FILE, Token},
    },
    net::default_ports::DEFAULT_WEB,
    text::escape::escaped,
    vocabulary::TimeControl,
};

/// How often a command that waits asks for the state of the account.
const LOOK: Duration = Duration::from_millis(500);
/// The end of an error message: a token that is there already is kept.
const UNCHANGED: &str = "Nothing was changed";
/// How many times the game is looked for after the search has ended.
const GRACE: usize = 6;

/// Play on Lichess at a board.
#[derive(Debug, Args)]
pub struct Lichess {
    /// What to do.
    #[command(subcommand)]
    pub what: What,
    /// The address of the daemon's API.
    #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_WEB, global = true)]
    pub connect: String,
    /// The board, to be sure that it is this one.
    #[arg(long, value_name = "NAME", global = true)]
    pub board: Option<String>,
}

/// What can be done on Lichess.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Print the link by which to log in, in any browser.
    Login {
        /// If that browser could not open the page it was sent to at the end: that page's address.
        address: Option<String>,
        /// Without the daemon: print where to make a token by hand, and keep it where the daemon reads it.
        #[arg(long, conflicts_with = "address")]
        token: bool,
        /// The configuration, which may name the file for a token made by hand.
        #[arg(long, value_name = "FILE", conflicts_with = "address")]
        config: Option<PathBuf>,
    },
    /// Log out: the token is revoked, and forgotten.
    Logout,
    /// Show how the account stands.
    Status,
    /// Look for an opponent, and wait until there is one. Ctrl-C withdraws. A search for a correspondence game is not waited for: it
    /// stands on Lichess until somebody takes it.
    Seek(Game),
    /// Challenge a player.
    Challenge {
        /// Their name.
        user: String,
        /// The game.
        #[command(flatten)]
        game: Game,
    },
    /// Play the computer.
    Computer {
        /// Its strength: 1 to 8.
        #[arg(value_parser = level)]
        level: u8,
        /// The clock, such as 15+10 (minutes, and seconds for each move), or 3d (days for each move).
        #[arg(value_parser = time)]
        time: String,
        /// The colour to play.
        #[arg(long, default_value = "random")]
        color: Color,
    },
    /// Accept what the opponent offers, or a challenge.
    Accept {
        /// The challenge; not needed if there is only one.
        id: Option<String>,
    },
    /// Decline what the opponent offers, or a challenge.
    Decline {
        /// The challenge; not needed if there is only one.
        id: Option<String>,
    },
    /// Offer a draw, or accept one.
    Draw,
    /// Propose to take back, or agree to it.
    TakeBack,
    /// Resign.
    Resign,
    /// Leave a game that has hardly begun.
    Abort,
    /// Take half the time for another point, in an arena tournament before the first move.
    Berserk,
}

/// A game to look for.
#[derive(Debug, Args)]
pub struct Game {
    /// The clock, such as 15+10 (minutes, and seconds for each move), or 3d (days for each move).
    #[arg(value_parser = time)]
    time: String,
    /// For the rating.
    #[arg(long)]
    rated: bool,
    /// The colour to play.
    #[arg(long, default_value = "random")]
    color: Color,
}

/// A colour to play.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Color {
    /// White.
    White,
    /// Black.
    Black,
    /// Either.
    Random,
}

impl Color {
    fn word(self) -> &'static str {
        match self {
            Self::White => "white",
            Self::Black => "black",
            Self::Random => "random",
        }
    }
}

fn time(text: &str) -> Result<String, String> {
    let time = text.parse::<TimeControl>();
    time.map(|_| text.to_owned())
        .map_err(|error| error.to_string())
}

fn level(text: &str) -> Result<u8, String> {
    let number = text.parse::<u8>().map_err(|error| error.to_string())?;
    Level::try_from(number).map(|_| number)
}

/// Runs the command; returns what to print.
///
/// # Errors
/// In words.
pub async fn run_lichess(lichess: Lichess) -> Result<String, String> {
    let Lichess {
        what,
        connect,
        board,
    } = lichess;
    let at = connect.as_str();
    let words = |error: CallError| error.to_string();
    match &what {
        What::Login {
            token: false,
            config: None,
            address,
        } => return log_in(at, address.as_deref()).await,
        What::Login { config, .. } => {
            let usual = Path::new(crate::config::DEFAULT_FILE);
            return by_token(config.as_deref().unwrap_or(usual)).await;
        }
        What::Logout => return call::lichess(at, "logout", &json!({})).await.map_err(words),
        _ => {}
    }
    let standing = call::standing(at).await.map_err(words)?;
    let plays_on = standing["board"].as_str().unwrap_or_default();
    if let Some(board) = board.filter(|board| board != plays_on) {
        return Err(format!(
            "{board} does not play on Lichess, but {plays_on} does"
        ));
    }
    let (name, body) = match what {
        What::Login { .. } | What::Logout => return Ok(String::new()),
        What::Status => return Ok(status(&standing)),
        What::Seek(game) => return seek(at, &game).await,
        What::Challenge { user, game } => {
            let Game { time, rated, color } = game;
            let color = color.word();
            let body = json!({ "user": user, "time": time, "rated": rated, "color": color });
            ("challenge", body)
        }
        What::Computer { level, time, color } => {
            let body = json!({ "level": level, "time": time, "color": color.word() });
            ("computer", body)
        }
        What::Accept { id } => ("accept", json!({ "id": id })),
        What::Decline { id } => ("decline", json!({ "id": id })),
        What::Draw => ("draw", json!({})),
        What::TakeBack => ("take-back", json!({})),
        What::Resign => ("resign", json!({})),
        What::Abort => ("abort", json!({})),
        What::Berserk => ("berserk", json!({})),
    };
    call::lichess(at, name, &body).await.map_err(words)
}

/// Looks for an opponent until there is one, or until Ctrl-C.
async fn seek(at: &str, game: &Game) -> Result<String, String> {
    let words = |error: CallError| error.to_string();
    // Watched from the beginning, so that Ctrl-C always withdraws the search.
    let mut interrupted = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
    let (time, color) = (&game.time, game.color.word());
    let body = json!({ "time": time, "rated": game.rated, "color": color });
    let looks = call::lichess(at, "seek", &body).await.map_err(words)?;
    if time.ends_with('d') {
        return Ok(format!(
            "{looks}. The game comes to the board when someone accepts it"
        ));
    }
    eprintln!("{looks}; Ctrl-C withdraws");
    let mut ended = 0;
    loop {
        tokio::select! {
            _ = interrupted.recv() => {
                return call::lichess(at, "withdraw", &json!({})).await.map_err(words);
            }
            () = sleep(LOOK) => {}
        }
        let standing = call::standing(at).await.map_err(words)?;
        if !standing["seek"].is_null() {
            continue;
        }
        let mut games = standing["games"].as_array().into_iter().flatten();
        if let Some(game) = games.rfind(|game| game["on_board"] == true) {
            let opponent = game["opponent"].as_str().unwrap_or_default();
            return Ok(escaped(&format!(
                "a game with {opponent} begins at the board"
            )));
        }
        // The game may be told after the search has ended.
        ended += 1;
        if ended > GRACE {
            let last = standing["last"].as_str().unwrap_or("no opponent was found");
            return Err(escaped(last));
        }
    }
}

/// The state of the account, in lines.
fn status(standing: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    let user = standing["user"].as_str().unwrap_or("(not known yet)");
    let (url, board) = (text(&standing["url"]), text(&standing["board"]));
    let connected = standing["connected"] == true;
    let how = if connected {
        "connected"
    } else {
        "not connected"
    };
    lines.push(format!("{user} at {url}, playing on {board}: {how}"));
    if let Some(problem) = standing["problem"].as_str() {
        lines.push(problem.to_owned());
    }
    if let Some(time) = standing["seek"].as_str() {
        lines.push(format!("looking for an opponent ({time})"));
    }
    let list = |key: &str| standing[key].as_array().cloned().unwrap_or_default();
    for game in list("games") {
        let (id, opponent) = (text(&game["id"]), text(&game["opponent"]));
        let speed = text(&game["speed"]);
        let place = match (&game["on_board"], game["unfit"].as_str()) {
            (Value::Bool(true), _) => "at the board".to_owned(),
            (_, Some(why)) => why.to_owned(),
            _ => "not at the board".to_owned(),
        };
        lines.push(format!("game {id} with {opponent} ({speed}): {place}"));
    }
    for challenge in list("challenges") {
        let (id, player) = (text(&challenge["id"]), text(&challenge["player"]));
        let time = text(&challenge["time"]);
        let to = if challenge["own"] == true { "to" } else { "by" };
        lines.push(format!("challenge {id} {to} {player} ({time})"));
    }
    if let Some(last) = standing["last"].as_str() {
        lines.push(format!("last: {last}"));
    }
    let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
    lines.join("\n")
}

/// Begins a login by the daemon, or finishes one with the address that a browser could not open.
async fn log_in(at: &str, address: Option<&str>) -> Result<String, String> {
    let words = |error: CallError| match error {
        CallError::Unreachable { .. } => {
            format!("{error}. Without a daemon: `boardbridge lichess login --token`")
        }
        other => other.to_string(),
    };
    if let Some(address) = address {
        let body = json!({ "address": address });
        return call::lichess(at, "login", &body).await.map_err(words);
    }
    let url = call::login(at).await.map_err(words)?;
    let minutes = LOGIN_WAIT.as_secs() / 60;
    Ok(format!(
        "Open this link within {minutes} minutes, in any browser, and press Authorize:\n\n  {url}\n\n\
         The browser then says that you are logged in. If it cannot open that page, because it is on another computer, copy \
         the page's address within two minutes and type:\n\n  boardbridge lichess login 'ADDRESS'"
    ))
}

/// Prints where to make a token, reads it, asks the server about it, and keeps it.
async fn by_token(config: &Path) -> Result<String, String> {
    // Without a configuration, or with one that has mistakes, the usual file is right.
    let lichess = Config::load(config).ok().and_then(|config| config.lichess);
    let url = lichess
        .as_ref()
        .map_or(DEFAULT_URL, |lichess| lichess.server());
    let named = lichess
        .as_ref()
        .and_then(|lichess| lichess.token_file.clone());
    let file = named.unwrap_or_else(|| DEFAULT_FILE.into());
    // Checked before the player makes the token.
    let parent = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    if !parent.is_dir() {
        let folder = parent.display();
        return Err(format!(
            "there is no folder {folder} for the token: make it (`mkdir -p {folder}`), or name another file with \
             `token_file` under [lichess] in the configuration"
        ));
    }
    if eaccess(parent, AccessFlags::W_OK).is_err() {
        return Err(format!(
            "this user may not write into {}: run it again with sudo",
            parent.display()
        ));
    }
    let line = pasted(url).map_err(|error| error.to_string())?;
    let wrong = "this is not a token: it has letters, digits and _, without blanks";
    let token = Token::of(&line).ok_or(wrong)?;
    // A token that does not work must not replace one that does.
    let mut http = Http::new(url);
    http.set_token(Some(token.clone()));
    let asked = http.owner().await;
    let owner = asked.map_err(|outcome| format!("{}. {UNCHANGED}", not_asked(url, outcome)))?;
    let name = escaped(&owner.name);
    if !owner.may_play {
        return Err(format!(
            "this token of {name} is not for playing at boards: it lacks the scope board:play. {UNCHANGED}"
        ));
    }
    token.write(&file).map_err(|error| {
        let file = file.display();
        // Only the kind of error: its full text names the temporary file.
        let why = error.kind();
        format!("{file} cannot be written: {why}; try it with sudo")
    })?;
    Ok(format!(
        "The token of {name} is in {}, for its owner alone. If BoardBridge runs as a service: sudo systemctl restart \
         boardbridge",
        file.display()
    ))
}

/// Prints where to make a token, and reads it.
fn pasted(url: &str) -> io::Result<String> {
    let mut output = io::stderr();
    writeln!(
        output,
        "Open this page, log in, press Create, and copy the token:\n\n  \
         {url}/account/oauth/token/create?scopes[]=board:play&description=BoardBridge\n"
    )?;
    write!(output, "Token: ")?;
    output.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}

/// Why the server did not say whose token it is.
fn not_asked(url: &str, outcome: Outcome) -> String {
    match outcome {
        Outcome::NoToken => format!("{url} does not take this token: was it copied whole?"),
        Outcome::TooMany => format!("{url} asks for a pause: try again in a minute"),
        Outcome::Refused(why) | Outcome::Lost(why) | Outcome::Done(why) => {
            let why = escaped(&why);
            format!("{url} could not be asked about this token ({why}): try again")
        }
    }
}
