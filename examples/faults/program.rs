//! A chess program that plays through the relay.

use std::{
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};

use crate::{
    daemon::apart,
    seat::{Heard, Seat},
};

/// How often a program that waits looks whether its game was given up.
const LOOK: Duration = Duration::from_millis(250);

/// `boardbridge uci`.
struct Relay {
    child: Child,
    input: ChildStdin,
    lines: mpsc::UnboundedReceiver<String>,
}

impl Relay {
    fn start(program: &Path, address: &str, board: &str) -> io::Result<Self> {
        let mut child = apart(program)
            .args(["uci", "--connect", address, "--board", board])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let missing = || io::Error::other("no pipe");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let (sender, lines) = mpsc::unbounded_channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            child,
            input,
            lines,
        })
    }

    fn says(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.input, "{text}")?;
        self.input.flush()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Plays for ever. A relay that fails is a lost game.
pub async fn play(seat: Arc<Seat>, program: std::path::PathBuf, address: String, board: String) {
    loop {
        if let Err(error) = play_on(&seat, &program, &address, &board).await {
            seat.wrong(&format!("the relay: {error}"));
            sleep(LOOK).await;
        }
        seat.begins();
    }
}

/// Plays until a game is given up.
async fn play_on(seat: &Seat, program: &Path, address: &str, board: &str) -> io::Result<()> {
    let mut relay = Relay::start(program, address, board)?;
    relay.says("uci\nisready\nucinewgame")?;
    loop {
        let (_, plies, script) = seat.game();
        if seat.is_given_up() {
            return Ok(());
        }
        if plies == script.len() {
            seat.begins();
            relay.says("ucinewgame")?;
            continue;
        }
        let mut told = plies;
        if !seat.is_hands(plies) {
            sleep(Duration::from_millis(fastrand::u64(5..150))).await;
            seat.sends();
            told += 1;
        }
        let moves: Vec<String> = script.iter().take(told).map(ToString::to_string).collect();
        let moves = if moves.is_empty() {
            String::new()
        } else {
            format!(" moves {}", moves.join(" "))
        };
        relay.says(&format!(
            "position startpos{moves}\ngo wtime 900000 btime 900000"
        ))?;
        seat.asks();
        loop {
            match timeout(LOOK, relay.lines.recv()).await {
                Err(_) if seat.is_given_up() => return Ok(()),
                Err(_) => {}
                Ok(None) => return Err(io::Error::other("it ended")),
                Ok(Some(line)) => {
                    if let Some(best) = line.strip_prefix("bestmove ") {
                        let m = best.split(' ').next().unwrap_or_default();
                        if seat.hears(m) == Heard::Wrong {
                            return Ok(());
                        }
                        break;
                    }
                }
            }
        }
    }
}
