//! The text of a game in PGN, in the export format (PGN standard, chapter 8): lines of 79. Names are UTF-8, as programs
//! read them today; the rest is ASCII.
//!
//! No maintained crate writes PGN: pgn-reader only reads.

use std::{
    fmt::Write as _,
    sync::Arc,
    time::{Duration, SystemTime},
};

use jiff::{Timestamp, fmt::strtime, tz::TimeZone};
use serde::{Deserialize, Deserializer, de};
use shakmaty::{CastlingMode, Position, san::SanPlus};

use crate::{
    chess::game::{Game, fen},
    text::escape::is_plain,
    vocabulary::{ClientName, GameEnd, Reason},
};

/// The longest line of movetext, in characters (PGN standard 4.3: fewer than 80).
const MAX_LINE: usize = 79;
/// The longest value of a tag, in characters: a line of PGN has at most 255 (PGN standard 4.3), and the name and the
/// escapes need room.
const MAX_VALUE: usize = 110;
/// The longest text for a tag in the configuration, in characters: with its name it fits a line of PGN.
pub const MAX_TAG: usize = 60;
/// The longest time that a comment can express.
const MAX_TOOK: Duration = Duration::from_hours(24 * 99);

/// The latest start that is written: `Date` has four digits for the year. A clock beyond it, or before 1970, is wrong.
const LATEST: Duration = Duration::from_hours(24 * 365 * 8000);

/// The parts of a time as `strftime` names them, in a time zone.
pub fn clock(at: SystemTime, zone: &TimeZone, format: &str) -> String {
    let since = at.duration_since(SystemTime::UNIX_EPOCH);
    let since = since.unwrap_or_default().min(LATEST);
    let at = Timestamp::try_from(SystemTime::UNIX_EPOCH + since).unwrap_or_default();
    strtime::format(format, &at.to_zoned(zone.clone())).unwrap_or_default()
}

/// A text that fits a tag of a PGN file: one line, with any letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagText(pub String);

impl TagText {
    /// This text, if it fits.
    pub fn new(text: &str) -> Option<Self> {
        let plain = text.chars().all(is_plain);
        let fits = (1..=MAX_TAG).contains(&text.chars().count()) && text.trim() == text;
        (plain && fits).then(|| Self(text.to_owned()))
    }

    /// The text, if there is one.
    pub fn text(this: Option<&Self>) -> Option<String> {
        this.map(|text| text.0.clone())
    }
}

impl<'de> Deserialize<'de> for TagText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "`{}` is not allowed in a PGN file: write 1 to {MAX_TAG} letters, digits, signs and spaces in one line, \
                 for instance \"Jürgen Müller\"",
                text.escape_debug()
            ))
        })
    }
}

/// How a game ended, as the value of the tag `Termination` (PGN standard 9.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// It was left.
    Abandoned,
    /// By the rules, by agreement or by resignation.
    Normal,
    /// A player broke the rules.
    RulesInfraction,
    /// Time ran out.
    TimeForfeit,
}

impl Termination {
    const ALL: [Self; 4] = [
        Self::Abandoned,
        Self::Normal,
        Self::RulesInfraction,
        Self::TimeForfeit,
    ];

    /// The value for a game that ended like this; `None` if there is none.
    pub fn of(end: GameEnd) -> Option<Self> {
        match end.reason {
            Reason::Time => Some(Self::TimeForfeit),
            Reason::Cheat => Some(Self::RulesInfraction),
            Reason::Abandoned | Reason::Aborted | Reason::NoStart => Some(Self::Abandoned),
            Reason::Unknown => None,
            Reason::Checkmate
            | Reason::Stalemate
            | Reason::InsufficientMaterial
            | Reason::Repetition
            | Reason::FiftyMoves
            | Reason::Variant
            | Reason::Agreement
            | Reason::Resignation => Some(Self::Normal).filter(|_| end.outcome.is_known()),
        }
    }

    /// The one with this value.
    pub fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.word() == text)
    }

    /// The value of the tag.
    pub fn word(self) -> &'static str {
        match self {
            Self::Abandoned => "abandoned",
            Self::Normal => "normal",
            Self::RulesInfraction => "rules infraction",
            Self::TimeForfeit => "time forfeit",
        }
    }
}

/// `[Name "value"]`, with characters that are not printed replaced.
pub fn tag(text: &mut String, name: &str, value: &str) {
    let _ = write!(text, "[{name} \"");
    for c in value.chars().take(MAX_VALUE) {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            _ if is_plain(c) => text.push(c),
            _ => text.push('?'),
        }
    }
    text.push_str("\"]\n");
}

/// The tags of a game that does not begin as standard chess does.
pub fn start_tags(text: &mut String, game: &Game) {
    let start = game.start();
    let chess960 = start.castles().mode() == CastlingMode::Chess960;
    if chess960 {
        tag(text, "Variant", "Chess960");
    }
    if chess960 || !game.is_standard() {
        tag(text, "SetUp", "1");
        tag(text, "FEN", &fen(start).to_string());
    }
}

/// The moves, each with its comment if it has one, without the result.
pub fn movetext(text: &mut String, game: &Game, comment: impl Fn(usize) -> Option<String>) {
    let mut line = 0;
    let mut word = |text: &mut String, word: &str| {
        // The result, the longest word after it, still fits.
        if line > 0 && line + 1 + word.len() > MAX_LINE - " 1/2-1/2".len() {
            text.pop();
            text.push('\n');
            line = 0;
        }
        text.push_str(word);
        text.push(' ');
        line += word.len() + 1;
    };
    let mut position = game.start().clone();
    // A number is written before Black's move only where none stands before it.
    let mut numbered = false;
    for (ply, &m) in game.moves().iter().enumerate() {
        let (number, turn) = (position.fullmoves(), position.turn());
        let san = SanPlus::from_move_and_play_unchecked(&mut position, m);
        if turn.is_white() {
            word(text, &format!("{number}. {san}"));
        } else if numbered {
            word(text, &san.to_string());
        } else {
            word(text, &format!("{number}... {san}"));
        }
        let comment = comment(ply);
        numbered = turn.is_white() && comment.is_none();
        if let Some(comment) = comment {
            word(text, &comment);
        }
    }
}

/// The seconds a move took: `[%emt 0:00:12]`.
pub fn elapsed(took: Duration) -> String {
    format!("[%emt {}]", time(took))
}

/// The time in `[%emt 0:00:12]`.
pub fn read_elapsed(comment: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(comment).ok()?.trim();
    let text = text.strip_prefix("[%emt ")?.strip_suffix(']')?;
    let mut seconds: u64 = 0;
    for part in text.split(':') {
        let part: u64 = part.parse().ok()?;
        seconds = seconds.checked_mul(60)?.checked_add(part)?;
    }
    Some(Duration::from_secs(seconds))
}

/// What a clock shows after a move: `[%clk 0:09:58]`.
pub fn left(left: Duration) -> String {
    format!("[%clk {}]", time(left))
}

fn time(time: Duration) -> String {
    let took = time.min(MAX_TOOK).as_secs_f64().round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is bounded"
    )]
    let seconds = took as u64;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours}:{minutes:02}:{:02}", seconds % 60)
}

/// The name of a client in a tag.
pub fn program(client: &ClientName) -> Arc<str> {
    match client {
        ClientName::Program(address) if address.ip().is_loopback() => "Chess program".into(),
        ClientName::Program(address) => format!("Chess program at {}", address.ip()).into(),
        ClientName::App(_) => "WhitePawn app".into(),
        ClientName::Link(board) => format!("link with {board}").into(),
        ClientName::LiveChess(_) => "LiveChess".into(),
        ClientName::Lichess => "Lichess".into(),
        ClientName::Engine(name) | ClientName::Other(name) => name.clone(),
    }
}
