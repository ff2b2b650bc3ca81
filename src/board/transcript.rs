//! Transcripts: one text format for golden tests of drivers, recordings of real sessions, and
//! `boardbridge replay`.
//!
//! ```text
//! # anything
//! ! kind = "novag-ucb"              what the board is, as in the configuration; before all else
//! 0.000 @ up                        the link is up
//! 0.000 > serial "New Game\r\n"     sent to the board
//! 1.250 < serial "Me2e4\r\n"        came from the board
//! 0.000 > 777ac5a4 subscribe        on Bluetooth LE each characteristic is a channel
//! 0.020 > 777ac5a4 command "…"      written without a response
//! 0.030 @ done 777ac5a4             the board took it
//! 0.060 @ refused f9664d70 WHY      the board refused it
//! 1.300 * target 1 1 startpos       a front-end's command: client, number, game
//! 1.300 * await 1 on
//! 1.300 * clocks 1 300 298.5 white   seconds of White and Black, and whose clock runs
//! 1.300 = {"event":"moved",…}       what happened, as `boardbridge watch --json` prints it
//! 9.000 @ end                       nothing more; time runs to here
//! ```
//!
//! Seconds since the beginning; payloads in quotes, with Rust's byte escapes. Where the pieces stand is written as in a FEN if the board's
//! [`Picture`] has exactly these bytes for it: `0.700 < serial "\x86\x00C" rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR`.
//!
//! ```
//! use boardbridge::cli::replay::replay;
//! use boardbridge::board::transcript::Transcript;
//!
//! let recorded: Transcript = r#"
//! ! kind = "novag-ucb"
//! 0.000 @ up
//! 0.500 < serial "N\r\n"
//! 4.000 < serial "Me2e4\r\n"
//! 4.000 @ end
//! "#.parse()?;
//!
//! // What comes out is computed again, without a board: a golden test, or the answer to a bug report.
//! let played = replay(&recorded)?.to_string();
//! assert!(played.contains(r#"4.000 = {"event":"moved","uci":"e2e4","ply":1,"by":"hand""#), "{played}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{
    fmt::{self, Write as _},
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use shakmaty::{Board, ByColor, Color, Role, uci::UciMove};
use thiserror::Error;
use toml_edit::DocumentMut;
use tracing::warn;

use crate::{
    chess::game::Game,
    driver::{picture::Picture, registry},
    system::{clock, private},
    vocabulary::{
        BoardName, Channel, ClientId, ClientName, Clocks, Command, Event, NoChannel, NoEnd,
        Outgoing, Reply, Request, Secret,
    },
};

/// A recording stops at this size: a session of a whole day has some 2 MB, a flood is unbounded.
pub const MAX_RECORDING: u64 = 64 * 1024 * 1024;
/// Items that may wait for the disk. Further items are dropped, and the recording says so.
pub const MAX_WAITING: usize = 1024;
/// Bytes that may wait for the disk, besides one item.
pub const MAX_WAITING_BYTES: usize = 512 * 1024;
/// The latest time in a transcript: no recording runs for a year.
const MAX_TIME: Duration = Duration::from_hours(365 * 24);
/// The longest line read from a transcript, in bytes.
pub const MAX_LINE: usize = 256 * 1024;

/// One item of a transcript.
#[derive(Clone, Debug)]
pub enum Item {
    /// The link came up.
    LinkUp,
    /// The link went down, for this reason.
    LinkDown(String),
    /// The transcript ends.
    End,
    /// Bytes came from the board.
    Received(Channel, Vec<u8>),
    /// A request was sent to the board.
    Sent(Outgoing),
    /// A request on a channel was done, or refused.
    Answered(Channel, Reply),
    /// A command came from a front-end.
    Command(Command),
    /// Something happened.
    Event(Event),
    /// An event as written in a file: to be compared, not acted on.
    Expected(String),
}

/// One line of a transcript.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The time since the beginning.
    pub at: Duration,
    /// What happened.
    pub item: Item,
}

/// A whole transcript.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// The board's configuration, as TOML.
    pub board: String,
    /// What happened, in order.
    pub entries: Vec<Entry>,
}

/// The text is not a valid transcript.
#[derive(Debug, Error)]
#[error("line {line}: {problem}")]
pub struct TranscriptError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, and what is expected.
    pub problem: String,
}

impl FromStr for Transcript {
    type Err = TranscriptError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut transcript = Self::default();
        let mut picture = None;
        for (index, line) in text.lines().enumerate() {
            let error = |problem: String| TranscriptError {
                line: index + 1,
                problem,
            };
            if line.len() > MAX_LINE {
                return Err(error(format!("longer than {MAX_LINE} bytes")));
            }
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(board) = line.strip_prefix('!') {
                transcript.board.push_str(board.trim());
                transcript.board.push('\n');
                continue;
            }
            let picture = *picture.get_or_insert_with(|| picture_of(&transcript.board));
            let entry = parse_entry(line, picture).map_err(error)?;
            if transcript.entries.last().is_some_and(|e| e.at > entry.at) {
                return Err(error(
                    "its time is before that of the line before".to_owned(),
                ));
            }
            transcript.entries.push(entry);
        }
        Ok(transcript)
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.board.lines() {
            writeln!(f, "! {line}")?;
        }
        let picture = picture_of(&self.board);
        self.entries
            .iter()
            .try_for_each(|entry| writeln!(f, "{}", Written { entry, picture }))
    }
}

/// How a board with this configuration tells where its pieces stand.
fn picture_of(board: &str) -> Option<&'static Picture> {
    let board: DocumentMut = board.parse().ok()?;
    registry::make(board.get("kind")?.as_str()?)?.picture
}

fn seconds(word: &str) -> Result<Duration, String> {
    let seconds = word.parse().ok();
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = time.filter(|time| *time <= MAX_TIME);
    time.ok_or_else(|| format!("`{word}` is not a number of seconds, up to those of a year"))
}

fn parse_entry(line: &str, picture: Option<&Picture>) -> Result<Entry, String> {
    let mut words = line.splitn(3, ' ');
    let (Some(time), Some(kind), Some(rest)) = (words.next(), words.next(), words.next()) else {
        return Err(
            "expected `SECONDS KIND …`, for instance `1.250 < serial \"Me2e4\\r\\n\"`".into(),
        );
    };
    let at = seconds(time)?;
    let item = match kind {
        "@" => match rest.split_once(' ').unwrap_or((rest, "")) {
            ("up", _) => Item::LinkUp,
            ("down", why) => Item::LinkDown(why.to_owned()),
            ("end", _) => Item::End,
            ("done", channel) => Item::Answered(parse_channel(channel)?, Reply::Done),
            ("refused", rest) => {
                let (channel, why) = rest.split_once(' ').unwrap_or((rest, ""));
                Item::Answered(parse_channel(channel)?, Reply::Refused(why.to_owned()))
            }
            _ => {
                return Err(format!(
                    "`{rest}` is not `up`, `down REASON`, `done CHANNEL`, `refused CHANNEL REASON` or `end`"
                ));
            }
        },
        ">" => Item::Sent(outgoing(rest, picture)?),
        "<" => {
            let (channel, bytes) = payload(rest, picture)?;
            Item::Received(channel, bytes)
        }
        "*" => Item::Command(parse_command(rest)?),
        "=" => Item::Expected(rest.to_owned()),
        _ => return Err(format!("`{kind}` is not one of @ > < * =")),
    };
    Ok(Entry { at, item })
}

fn parse_channel(text: &str) -> Result<Channel, String> {
    text.trim()
        .parse()
        .map_err(|error: NoChannel| error.to_string())
}

/// `serial "…"`, `777ac5a4 command "…"`, `777ac5a4 subscribe` or `d804b644 read`.
fn outgoing(text: &str, picture: Option<&Picture>) -> Result<Outgoing, String> {
    let request = match text.split_once(' ') {
        Some((_, "read")) => Request::Read,
        Some((_, "subscribe")) => Request::Subscribe,
        Some((_, "secret")) => Request::Secret(Secret::default()),
        _ => {
            let command = text.split_once(" command ");
            let plain = command.map(|(channel, quoted)| format!("{channel} {quoted}"));
            let (channel, bytes) = payload(plain.as_deref().unwrap_or(text), picture)?;
            let request = if plain.is_some() {
                Request::Command(bytes.into())
            } else {
                Request::Write(bytes.into())
            };
            return Ok(Outgoing { channel, request });
        }
    };
    let (channel, _) = text.split_once(' ').unwrap_or((text, ""));
    Ok(Outgoing {
        channel: parse_channel(channel)?,
        request,
    })
}

/// `serial "…"`, or `serial "…" 8/8/8/8/8/8/8/K1k5 "…"`.
fn payload(text: &str, picture: Option<&Picture>) -> Result<(Channel, Vec<u8>), String> {
    const EXPECTED: &str = "expected a channel and a payload in quotes: serial \"Me2e4\\r\\n\"";
    let (channel, rest) = text.split_once(' ').ok_or(EXPECTED)?;
    let channel = parse_channel(channel)?;
    let mut rest = rest.trim();
    if rest.is_empty() {
        return Err(EXPECTED.to_owned());
    }
    let mut bytes = Vec::new();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = end_of_quoted(quoted).ok_or(EXPECTED)?;
            let quoted_bytes = unescape(&quoted[..end]);
            let wrong = || format!("`{}` contains an invalid escape", &quoted[..end]);
            bytes.extend(quoted_bytes.ok_or_else(wrong)?);
            rest = &quoted[end + 1..];
        } else {
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            let board = Board::from_ascii_board_fen(word.as_bytes()).map_err(|_| EXPECTED)?;
            let picture = picture.ok_or("this kind of board does not tell its pieces in bytes")?;
            bytes.extend((picture.write)(&board));
            rest = after;
        }
        rest = rest.trim_start();
    }
    Ok((channel, bytes))
}

/// Where the quote is that ends this text.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'r' => b'\r',
            b'n' => b'\n',
            b't' => b'\t',
            b'0' => 0,
            b'x' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let high = digit(rest.next()?)?;
                let low = digit(rest.next()?)?;
                u8::try_from(high * 16 + low).ok()?
            }
            byte @ (b'\\' | b'"' | b'\'') => byte,
            _ => return None,
        });
    }
    Some(bytes)
}

fn parse_command(text: &str) -> Result<Command, String> {
    let mut words = text.split_whitespace();
    let mut word = |what: &str| words.next().ok_or(format!("`{text}`: {what} is missing"));
    let verb = word("a command")?;
    if verb == "put-out" {
        return Ok(Command::PutOut);
    }
    let id = word("a client")?;
    let client = ClientId(
        id.parse()
            .map_err(|_| format!("`{id}` is not a client's number"))?,
    );
    let number = |text: &str| {
        text.parse()
            .map_err(|_| format!("`{text}` is not a number"))
    };
    Ok(match verb {
        "target" => {
            let number = number(word("a number")?)?;
            let mut rest: Vec<&str> = words.collect();
            // The occasion is left out if it is the default.
            let given = rest.first().and_then(|word| word.parse().ok());
            if given.is_some() {
                rest.remove(0);
            }
            let game = Game::from_words(&rest).map_err(|error| error.to_string())?;
            Command::Target {
                client,
                label: ClientName::Other(format!("client {client}").into()),
                number,
                game: Box::new(game),
                occasion: given.unwrap_or_default(),
            }
        }
        "await" | "away" => {
            let on = match word("on or off")? {
                "on" => true,
                "off" => false,
                other => return Err(format!("`{other}` is neither on nor off")),
            };
            if verb == "away" {
                Command::Away { client, on }
            } else {
                Command::Await { client, on }
            }
        }
        "analyse" => Command::Analyse { client },
        "yield" => Command::Yield { client },
        "answered" => Command::Answered {
            client,
            number: number(word("a number")?)?,
            answer: {
                let text = word("a move")?;
                text.parse::<UciMove>()
                    .map_err(|error| format!("`{text}`: {error}"))?
            },
        },
        "refuse" => Command::Refuse {
            client,
            number: number(word("a number")?)?,
        },
        "new-game" => Command::NewGame { client },
        "ready" => Command::Ready { client },
        "promotion" => Command::Promotion {
            client,
            role: {
                let text = word("a piece")?;
                let role = text.chars().next().and_then(Role::from_char);
                role.ok_or(format!("`{text}` is not the letter of a piece"))?
            },
        },
        "clocks" => Command::Clocks {
            client,
            clocks: {
                let rest: Vec<&str> = words.collect();
                clocks(&rest)?
            },
        },
        "ended" => Command::Ended {
            client,
            end: {
                let end: Vec<&str> = words.collect();
                end.join(" ")
                    .parse()
                    .map_err(|error: NoEnd| error.to_string())?
            },
        },
        "release" => Command::Release { client },
        "lost" => Command::Lost { client },
        _ => return Err(format!("`{verb}` is not a front-end's command")),
    })
}

/// `off`, or what White and Black have left in seconds and which clock runs: `300 298.5 white`.
fn clocks(words: &[&str]) -> Result<Option<Clocks>, String> {
    let &[white, black, runs] = words else {
        return match words {
            ["off"] => Ok(None),
            _ => Err("expected `off`, or clocks such as `300 298.5 white`".to_owned()),
        };
    };
    let runs = match runs {
        "white" => Some(Color::White),
        "black" => Some(Color::Black),
        "stopped" => None,
        other => return Err(format!("`{other}` is not `white`, `black` or `stopped`")),
    };
    let left = ByColor {
        white: seconds(white)?,
        black: seconds(black)?,
    };
    Ok(Some(Clocks { left, runs }))
}

/// An entry, as a line.
struct Written<'a> {
    entry: &'a Entry,
    /// How the board tells where its pieces stand.
    picture: Option<&'static Picture>,
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { at, item } = self.entry;
        let payload = |bytes| Payload(bytes, self.picture);
        write!(f, "{:.3} ", at.as_secs_f64())?;
        match item {
            Item::LinkUp => f.write_str("@ up"),
            Item::LinkDown(why) => write!(f, "@ down {}", why.replace(['\r', '\n'], " ")),
            Item::End => f.write_str("@ end"),
            Item::Received(channel, bytes) => {
                write!(f, "< {channel} {}", payload(bytes))
            }
            Item::Sent(Outgoing { channel, request }) => match request {
                Request::Write(bytes) => write!(f, "> {channel} {}", payload(bytes)),
                Request::Command(bytes) => {
                    write!(f, "> {channel} command {}", payload(bytes))
                }
                Request::Secret(_) => write!(f, "> {channel} secret"),
                Request::Read => write!(f, "> {channel} read"),
                Request::Subscribe => write!(f, "> {channel} subscribe"),
            },
            Item::Answered(channel, Reply::Done) => write!(f, "@ done {channel}"),
            Item::Answered(channel, Reply::Refused(why)) => {
                write!(f, "@ refused {channel} {}", why.replace(['\r', '\n'], " "))
            }
            Item::Command(command) => write!(f, "* {command}"),
            Item::Event(event) => {
                let json = serde_json::to_string(event).map_err(|_| fmt::Error)?;
                write!(f, "= {json}")
            }
            Item::Expected(json) => write!(f, "= {json}"),
        }
    }
}

impl fmt::Display for Entry {
    /// All bytes in quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let picture = None;
        Written {
            entry: self,
            picture,
        }
        .fmt(f)
    }
}

/// Bytes: in quotes, but for where the pieces stand.
struct Payload<'a>(&'a [u8], Option<&'static Picture>);

impl fmt::Display for Payload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(mut rest, picture) = *self;
        while let Some((before, board, after)) = picture.and_then(|picture| picture.split(rest)) {
            if !before.is_empty() {
                write!(f, "\"{}\" ", before.escape_ascii())?;
            }
            write!(f, "{}", board.board_fen())?;
            if after.is_empty() {
                return Ok(());
            }
            f.write_str(" ")?;
            rest = after;
        }
        write!(f, "\"{}\"", rest.escape_ascii())
    }
}

/// Writes a recording on a thread of its own: a slow disk never blocks a board.
#[derive(Debug)]
pub struct Recorder {
    lines: SyncSender<String>,
    /// Bytes that wait for the disk.
    waiting: Arc<AtomicUsize>,
    began: Instant,
    dropped: u64,
    path: PathBuf,
    /// How the board tells where its pieces stand.
    picture: Option<&'static Picture>,
}

impl Recorder {
    /// Begins a recording in `directory`, which is created if missing. `board_toml` describes the board.
    ///
    /// # Errors
    /// If the directory or the file cannot be created.
    pub fn begin(directory: &Path, board: &BoardName, board_toml: &str) -> io::Result<Self> {
        private::create_folder(directory)?;
        let time = humantime::format_rfc3339_millis(clock::now()).to_string();
        let path = directory.join(format!("{board}-{}.transcript", time.replace(':', "")));
        let mut options = fs::File::options();
        options.write(true).create_new(true);
        let mut file = io::BufWriter::new(private::file(&mut options).open(&path)?);
        let mut head = format!("# boardbridge {} {time}\n", env!("CARGO_PKG_VERSION"));
        for line in board_toml.lines() {
            let _ = writeln!(head, "! {line}");
        }
        file.write_all(head.as_bytes())?;
        file.flush()?;
        let (lines, incoming) = sync_channel::<String>(MAX_WAITING);
        let shown = path.clone();
        let waiting = Arc::<AtomicUsize>::default();
        let waited = waiting.clone();
        thread::Builder::new().name("recorder".to_owned()).spawn(move || {
            let mut size = 0;
            while let Ok(line) = incoming.recv() {
                waited.fetch_sub(line.len(), Ordering::Relaxed);
                size += line.len() as u64;
                let written = if size > MAX_RECORDING {
                    warn!(path = %shown.display(), "the recording is full and ends here");
                    return;
                } else {
                    // Flushed at once: what happened just before a crash matters most.
                    file.write_all(line.as_bytes()).and_then(|()| file.flush())
                };
                if let Err(error) = written {
                    warn!(path = %shown.display(), %error, "the recording cannot be written and ends here");
                    return;
                }
            }
        })?;
        Ok(Self {
            lines,
            waiting,
            began: Instant::now(),
            dropped: 0,
            path,
            picture: picture_of(board_toml),
        })
    }

    /// The path of the recording.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records one thing, now.
    pub fn record(&mut self, item: Item) {
        let at = self.began.elapsed();
        let mut line = String::new();
        if self.dropped > 0 {
            let _ = writeln!(
                line,
                "# {} lines are missing here: the disk was too slow",
                self.dropped
            );
        }
        let entry = &Entry { at, item };
        let picture = self.picture;
        let _ = writeln!(line, "{}", Written { entry, picture });
        if self.waiting.load(Ordering::Relaxed) > MAX_WAITING_BYTES {
            self.dropped += 1;
            return;
        }
        // Counted before the thread can take the line.
        self.waiting.fetch_add(line.len(), Ordering::Relaxed);
        match self.lines.try_send(line) {
            Ok(()) => self.dropped = 0,
            Err(TrySendError::Full(line)) => {
                self.waiting.fetch_sub(line.len(), Ordering::Relaxed);
                self.dropped += 1;
            }
            // The recording ended, and said why.
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}
