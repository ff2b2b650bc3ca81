//! The engine of an `[[opponent]]`: the daemon starts a script, and that brings both sides' lines to us.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::sleep,
};

use crate::seat::{Heard, Seat};

/// Writes the script, which calls this port.
pub fn program(folder: &Path, port: u16) -> io::Result<PathBuf> {
    let file = folder.join("engine");
    let script =
        format!("#!/bin/bash\nexec 3<> /dev/tcp/127.0.0.1/{port}\ncat <&3 &\ncat >&3\nkill $!\n");
    fs::write(&file, script)?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
    Ok(file)
}

/// One life of the engine.
struct Life {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
    /// The moves of the last `position`.
    moves: Vec<String>,
    thinks: bool,
}

impl Life {
    fn new(stream: TcpStream) -> Self {
        let (reader, writer) = stream.into_split();
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            moves: Vec::new(),
            thinks: false,
        }
    }

    /// Takes a line.
    async fn hears(&mut self, seat: &Seat, line: &str) -> io::Result<()> {
        let mut words = line.split(' ');
        let answer = match words.next() {
            Some("uci") => "id name Judge\nuciok".to_owned(),
            Some("isready") => "readyok".to_owned(),
            Some("position") => {
                let moves = words.skip_while(|word| *word != "moves").skip(1);
                self.moves = moves.map(str::to_owned).collect();
                return Ok(());
            }
            Some("go") => {
                let m = answer(seat, &self.moves).await;
                self.thinks = m.is_none();
                let Some(m) = m else { return Ok(()) };
                format!("bestmove {m}")
            }
            Some("stop") if std::mem::take(&mut self.thinks) => "bestmove 0000".to_owned(),
            _ => return Ok(()),
        };
        self.writer
            .write_all(format!("{answer}\n").as_bytes())
            .await
    }
}

/// The answer after these moves: the hand's last one is news, unless it was asked before.
async fn answer(seat: &Seat, moves: &[String]) -> Option<String> {
    let (_, plies, script) = seat.game();
    if seat.is_given_up() {
        return None;
    }
    let same = |till: usize| {
        let script = script.iter().map(ToString::to_string);
        moves.iter().take(till).cloned().eq(script.take(till))
    };
    match moves {
        [.., m] if moves.len() == plies + 1 && seat.is_hands(plies) && same(plies) => {
            if seat.hears(m) == Heard::Wrong {
                return None;
            }
        }
        _ if moves.len() == plies && same(plies) && !seat.is_hands(plies) => {}
        _ => {
            seat.wrong(&format!("the engine is asked after {}", moves.join(" ")));
            return None;
        }
    }
    sleep(Duration::from_millis(fastrand::u64(5..150))).await;
    seat.sends();
    script.get(moves.len()).map(ToString::to_string)
}

/// Plays for ever, in the newest process that calls.
pub async fn play(seat: Arc<Seat>, lives: TcpListener) {
    let mut life: Option<Life> = None;
    loop {
        let line = async {
            match &mut life {
                Some(life) => life.lines.next_line().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            called = lives.accept() => {
                if let Ok((stream, _)) = called {
                    seat.note("the engine is started");
                    life = Some(Life::new(stream));
                }
            }
            line = line => {
                let heard = match (line, &mut life) {
                    (Ok(Some(line)), Some(life)) => life.hears(&seat, &line).await.is_ok(),
                    _ => false,
                };
                if !heard {
                    life = None;
                }
            }
        }
    }
}
