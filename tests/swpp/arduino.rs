//! The board of `docs/swpp-board`, compiled for Linux (`tests/arduino`), on a pseudo-terminal instead of its serial
//! port: the promises of its README, message by message.

use std::{
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::TcpStream,
    os::unix::fs::{OpenOptionsExt, symlink},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        OnceLock,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

/// A board that has been silent for this long sends nothing.
const PATIENCE: Duration = Duration::from_mins(1);
/// The player takes 200 ms for a move.
const SILENCE: Duration = Duration::from_millis(500);
/// `O_NOCTTY` of Linux: the board's port must not become the test's own terminal.
const NO_CONTROLLING_TERMINAL: i32 = 0o400;

/// The compiled sketch; `None` without a C++ compiler.
fn sketch() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compiled = PROGRAM.get_or_init(|| {
        let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arduino/host.cpp");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("swpp-board");
        let output = Command::new("c++")
            .args(["-std=c++11", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&program)
            .arg(host)
            .output();
        match output {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                eprintln!("SKIPPED: there is no C++ compiler (c++) to compile the sketch with");
                None
            }
            output => {
                let output = output.unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{said}");
                Some(program)
            }
        }
    });
    compiled.as_deref()
}

/// Everything that can be read there, piece by piece.
fn reader<T: Send + 'static>(mut next: impl FnMut() -> Option<T> + Send + 'static) -> Receiver<T> {
    let (give, take) = mpsc::channel();
    thread::spawn(move || while next().is_some_and(|piece| give.send(piece).is_ok()) {});
    take
}

/// Every line that can be read there.
fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let mut lines = BufReader::new(from).lines();
    reader(move || lines.next()?.ok())
}

/// A running sketch.
struct Sketch {
    process: Child,
    hand: ChildStdin,
    lamp: Receiver<String>,
    port: String,
}

impl Sketch {
    fn switched_on() -> Option<Self> {
        let mut process = Command::new(sketch()?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lamp = lines(process.stdout.take().unwrap());
        let said = lamp.recv_timeout(PATIENCE).unwrap();
        assert_eq!(lamp.recv_timeout(PATIENCE).unwrap(), "ready");
        Some(Self {
            hand: process.stdin.take().unwrap(),
            process,
            lamp,
            port: said.strip_prefix("port ").unwrap().to_owned(),
        })
    }

    fn hand(&mut self, squares: &str) {
        writeln!(self.hand, "{squares}").unwrap();
    }

    /// The next event that the board's maker sees.
    fn shows(&self) -> String {
        self.lamp.recv_timeout(PATIENCE).unwrap()
    }

    /// The lamp goes `on` or `off`.
    fn lamp(&self, state: &str) {
        assert_eq!(self.shows(), format!("lamp {state}"));
    }

    /// It has read that a new game begins.
    fn begins(&self) {
        assert_eq!(self.shows(), "new game");
    }
}

impl Drop for Sketch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A board with the test as its app.
struct Board {
    sketch: Sketch,
    port: File,
    bytes: Receiver<u8>,
}

impl Board {
    fn switched_on() -> Option<Self> {
        let sketch = Sketch::switched_on()?;
        let port = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(NO_CONTROLLING_TERMINAL)
            .open(&sketch.port)
            .unwrap();
        let mut from = port.try_clone().unwrap();
        let bytes = reader(move || {
            let mut byte = [0];
            from.read_exact(&mut byte).is_ok().then_some(byte[0])
        });
        Some(Self {
            sketch,
            port,
            bytes,
        })
    }

    /// A board that has been greeted, in a game that has begun.
    fn in_a_game() -> Option<Self> {
        let mut board = Self::switched_on()?;
        board.hears("H0010023\n");
        board.says("H101     1.0DIY-1\n");
        board.hears("NG2Y\n");
        board.sketch.begins();
        Some(board)
    }

    fn hears(&mut self, text: &str) {
        self.port.write_all(text.as_bytes()).unwrap();
    }

    fn hand(&mut self, squares: &str) {
        self.sketch.hand(squares);
    }

    fn lamp(&self, state: &str) {
        self.sketch.lamp(state);
    }

    /// The board sends exactly this next.
    fn says(&self, text: &str) {
        let mut said = String::new();
        while said.len() < text.len() {
            match self.bytes.recv_timeout(PATIENCE) {
                Ok(byte) => said.push(char::from(byte)),
                Err(error) => panic!("{error}: {said:?} came, {text:?} was to come"),
            }
        }
        assert_eq!(said, text);
    }

    fn is_silent(&self) {
        let said = self.bytes.recv_timeout(SILENCE);
        assert_eq!(said, Err(RecvTimeoutError::Timeout));
    }
}

#[test]
fn every_greeting_is_answered_with_a_version_of_eight_characters() {
    let Some(mut board) = Board::switched_on() else {
        return;
    };
    board.hears("H0010023\nH0010023\r\nH0020100\n");
    for _ in 0..3 {
        board.says("H101     1.0DIY-1\n");
    }
    board.is_silent();
}

#[test]
fn a_game_goes_to_and_fro() {
    let Some(mut board) = Board::in_a_game() else {
        return;
    };
    board.hand("e2e4");
    board.says("MB e2e4\n");
    board.hears("MA e7e5\n");
    board.lamp("on");
    // The opponent's move made on the board is not the hand's move.
    board.hand("e7e5");
    board.lamp("off");
    board.is_silent();
    board.hand("g1f3");
    board.says("MB g1f3\n");
}

#[test]
fn a_hand_that_plays_black_is_heard_too() {
    let Some(mut board) = Board::in_a_game() else {
        return;
    };
    board.hears("NG3N\nMA e2e4\n");
    board.sketch.begins();
    board.lamp("on");
    board.hand("e2e4");
    board.lamp("off");
    board.hand("e7e5");
    board.says("MB e7e5\n");
}

#[test]
fn while_a_move_is_shown_another_is_not_taken() {
    let Some(mut board) = Board::in_a_game() else {
        return;
    };
    board.hears("MAd2d4\n");
    board.lamp("on");
    board.hand("d7d5");
    // It blinks, and nothing else.
    board.lamp("off");
    board.lamp("on");
    board.is_silent();
    board.hand("d2d4");
    board.lamp("off");
    board.hand("d7d5");
    board.says("MB d7d5\n");
}

#[test]
fn castling_is_told_as_castling() {
    let Some(mut board) = Board::in_a_game() else {
        return;
    };
    board.hand("e1g1");
    board.says("MB  0-0\n");
    board.hears("MA0-0-0\n");
    board.lamp("on");
    board.hand("e8c8");
    board.lamp("off");
    // A rook that goes from e1 to g1 later is a rook.
    board.hand("e1g1");
    board.says("MB e1g1\n");
    board.hears("NG0Y\n");
    board.sketch.begins();
    board.hand("e8c8");
    board.says("MB0-0-0\n");
}

#[test]
fn a_promotion_is_shown_whatever_it_becomes() {
    let Some(mut board) = Board::in_a_game() else {
        return;
    };
    board.hears("MAe7e8q\n");
    board.lamp("on");
    board.hand("e7e8");
    board.lamp("off");
    board.hand("a2a1");
    board.says("MB a2a1\n");
}

#[test]
fn moves_that_come_faster_than_the_hand_are_all_kept() {
    let Some(mut board) = Board::in_a_game() else {
        return;
    };
    board.hears("MA e2e4\nMA e7e5\nMA g1f3\n");
    board.lamp("on");
    board.hand("e2e4");
    board.hand("e7e5");
    board.hand("g1f3");
    for state in ["off", "on", "off", "on", "off"] {
        board.lamp(state);
    }
    board.hand("b8c6");
    board.says("MB b8c6\n");
}

#[test]
fn a_move_that_comes_back_is_not_shown() {
    let Some(mut board) = Board::in_a_game() else {
        return;
    };
    board.hand("e2e4");
    board.says("MB e2e4\n");
    board.hears("MA e2e4\n");
    board.hand("e7e5");
    board.says("MB e7e5\n");
}

#[test]
fn messages_in_pieces_and_garbage_do_no_harm() {
    let Some(mut board) = Board::switched_on() else {
        return;
    };
    // Before the first greeting the board says nothing.
    board.hand("e2e4");
    board.is_silent();
    let long = "x".repeat(300);
    board.hears(&format!(
        "\n\r\nH\nXX\nMA\nMA zz99\nMA e2e2\nMA -\n{long}\u{fe}\nH00"
    ));
    board.is_silent();
    board.hears("10023");
    board.is_silent();
    board.hears("\n");
    board.says("H101     1.0DIY-1\n");
}

#[test]
fn a_game_that_is_over_takes_no_moves() {
    let Some(mut board) = Board::in_a_game() else {
        return;
    };
    board.hears("GE3\n");
    board.hand("e2e4");
    board.is_silent();
    board.hears("NG1Y\n");
    board.sketch.begins();
    board.hand("e2e4");
    board.says("MB e2e4\n");
}

#[test]
fn what_is_no_square_is_named_and_nothing_is_pressed() {
    let Some(mut board) = Board::in_a_game() else {
        return;
    };
    for (wrong, named) in [
        ("zz", "zz"),
        ("e9e4", "e9e4"),
        ("e2i4", "i4"),
        ("e2e4 ", " "),
        ("e2e", "e"),
    ] {
        board.hand(wrong);
        assert_eq!(board.sketch.shows(), format!("no square: {named}"));
    }
    board.hand("d2d4");
    board.says("MB d2d4\n");
}

#[test]
fn a_square_pressed_twice_is_forgotten() {
    let Some(mut board) = Board::in_a_game() else {
        return;
    };
    board.hand("e2");
    board.hand("e2");
    board.hand("d2d4");
    board.says("MB d2d4\n");
}

/// A running daemon.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A chess program that is connected to a daemon.
struct Program {
    out: TcpStream,
    lines: Receiver<String>,
}

impl Program {
    fn says(&mut self, line: &str) {
        writeln!(self.out, "{line}").unwrap();
    }

    fn hears(&self, line: &str) {
        loop {
            let heard = self.lines.recv_timeout(PATIENCE);
            if heard.unwrap_or_else(|error| panic!("{error}: no `{line}`")) == line {
                return;
            }
        }
    }
}

#[test]
fn the_daemon_plays_on_it_and_a_reset_in_mid_game_is_no_harm() {
    let Some(mut board) = Sketch::switched_on() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bb.toml");
    let port = folder.path().join("board");
    symlink(&board.port, &port).unwrap();
    let config = format!(
        "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"off\"\n[games]\ndirectory = \"off\"\n\
         [boards.diy]\nkind = \"swpp\"\nserial = {{ port = {port:?} }}\nmove_wait = \"100ms\"\n"
    );
    fs::write(&file, config).unwrap();
    let mut daemon = Daemon(
        Command::new(env!("CARGO_BIN_EXE_boardbridge"))
            .args(["run", "--config"])
            .arg(&file)
            .env("BOARDBRIDGE_STATE__DIRECTORY", "off")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let log = lines(daemon.0.stderr.take().unwrap());
    // What follows these words in the log.
    let logged = |words: &str| {
        loop {
            let line = log.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| panic!("{error}: no `{words}`"));
            if let Some((_, rest)) = line.split_once(words) {
                return rest.to_owned();
            }
        }
    };
    let address = logged("uci listens at ");
    assert_eq!(
        logged("the board answers: "),
        "SWPP 1, version 1.0, serial number DIY-1"
    );
    let out = TcpStream::connect(address).unwrap();
    let mut program = Program {
        lines: lines(out.try_clone().unwrap()),
        out,
    };
    program.says("uci");
    program.hears("uciok");
    program.says("isready");
    program.hears("readyok");
    let mut game = "position startpos moves".to_owned();
    program.says("position startpos");
    program.says("go wtime 900000 btime 900000");
    board.begins();
    for (by_hand, answer) in [
        ("e2e4", "e7e5"),
        ("g1f3", "b8c6"),
        ("f1c4", "f8c5"),
        ("e1g1", "g8f6"),
        ("d2d3", "c6d4"),
    ] {
        board.hand(by_hand);
        program.hears(&format!("bestmove {by_hand}"));
        game = format!("{game} {by_hand} {answer}");
        program.says(&game);
        program.says("go wtime 900000 btime 900000");
        board.lamp("on");
        if by_hand == "f1c4" {
            // It restarts: its lamps are off, and it knows of no game.
            drop(board);
            board = Sketch::switched_on().unwrap();
            fs::remove_file(&port).unwrap();
            symlink(&board.port, &port).unwrap();
            board.begins();
            board.lamp("on");
        }
        board.hand(answer);
        board.lamp("off");
    }
}
