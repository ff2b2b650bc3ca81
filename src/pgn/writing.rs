//! A game as PGN, in the export format (PGN standard, chapter 8): ASCII, the seven tags first, lines of 79.
//!
//! No maintained crate writes PGN: pgn-reader only reads.

use std::{fmt::Write as _, sync::Arc, time::Duration, time::SystemTime};

use jiff::{Timestamp, fmt::strtime, tz::TimeZone};
use shakmaty::{CastlingMode, Color, Outcome, Position, san::SanPlus};

use super::record::{Heading, Record, Standing};
use crate::{
    game::fen,
    vocabulary::{By, ClientName, GameEnd},
};

/// The longest line of movetext, in characters (PGN standard 4.3: fewer than 80).
const MAX_LINE: usize = 79;
/// The longest value of a tag, in characters: a line of PGN has at most 255 (PGN standard 4.3), and the name and the
/// escapes need room.
const MAX_VALUE: usize = 110;
/// The longest time that the comment can express.
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

/// A game as PGN.
pub fn pgn(record: &Record, heading: &Heading) -> String {
    let mut text = String::new();
    let local = |format| clock(record.began, &heading.zone, format);
    let utc = |format| clock(record.began, &TimeZone::UTC, format);
    let player = |color| match record.player(color) {
        None => "?",
        Some(By::Target) => record.program.as_deref().unwrap_or("?"),
        Some(By::Hand | By::HandUnseen) => &heading.player,
    };
    let result = record.outcome().to_string();
    tag(&mut text, "Event", "?");
    tag(&mut text, "Site", &heading.site);
    tag(&mut text, "Date", &local("%Y.%m.%d"));
    tag(&mut text, "Round", "-");
    tag(&mut text, "White", player(Color::White));
    tag(&mut text, "Black", player(Color::Black));
    tag(&mut text, "Result", &result);
    let start = record.game.start();
    let chess960 = start.castles().mode() == CastlingMode::Chess960;
    if chess960 {
        tag(&mut text, "Variant", "Chess960");
    }
    if chess960 || !record.game.is_standard() {
        tag(&mut text, "SetUp", "1");
        tag(&mut text, "FEN", &fen(start).to_string());
    }
    tag(&mut text, "Time", &local("%H:%M:%S"));
    tag(&mut text, "GameStartTime", &local("%Y-%m-%dT%H:%M:%S %z"));
    tag(&mut text, "UTCDate", &utc("%Y.%m.%d"));
    tag(&mut text, "UTCTime", &utc("%H:%M:%S"));
    tag(&mut text, "TimeControl", "?");
    let termination = match (record.standing, record.outcome()) {
        (Standing::Ended(GameEnd::Aborted), _) => Some("abandoned"),
        (_, Outcome::Known(_)) => Some("normal"),
        (_, Outcome::Unknown) => None,
    };
    if let Some(termination) = termination {
        tag(&mut text, "Termination", termination);
    }
    tag(&mut text, "Annotator", &heading.annotator);
    text.push('\n');
    movetext(&mut text, record);
    text.push_str(&result);
    text.push_str("\n\n");
    text
}

/// `[Name "value"]`, with characters other than printable ASCII replaced.
fn tag(text: &mut String, name: &str, value: &str) {
    let _ = write!(text, "[{name} \"");
    for c in value.chars().take(MAX_VALUE) {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            ' '..='~' => text.push(c),
            _ => text.push('?'),
        }
    }
    text.push_str("\"]\n");
}

/// The moves, without the result.
fn movetext(text: &mut String, record: &Record) {
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
    let mut position = record.game.start().clone();
    // A number is written before Black's move only where none stands before it.
    let mut numbered = false;
    for (ply, &m) in record.game.moves().iter().enumerate() {
        let (number, turn) = (position.fullmoves(), position.turn());
        let san = SanPlus::from_move_and_play_unchecked(&mut position, m);
        if turn.is_white() {
            word(text, &format!("{number}. {san}"));
        } else if numbered {
            word(text, &san.to_string());
        } else {
            word(text, &format!("{number}... {san}"));
        }
        let took = record.took.get(ply).copied().flatten();
        if let Some(took) = took {
            word(text, &elapsed(took));
        }
        numbered = turn.is_white() && took.is_none();
    }
}

/// `{[%emt 0:00:12]}`, the seconds a move took.
fn elapsed(took: Duration) -> String {
    let took = took.min(MAX_TOOK).as_secs_f64().round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is bounded"
    )]
    let seconds = took as u64;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{{[%emt {hours}:{minutes:02}:{:02}]}}", seconds % 60)
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
