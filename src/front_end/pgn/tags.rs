//! A game's file: PGN, the seven tags first.

use jiff::tz::TimeZone;
use shakmaty::Color;

use super::record::{Heading, Record, Standing};
use crate::{
    front_end::pgn_text::{clock, elapsed, movetext, start_tags, tag},
    vocabulary::By,
};

/// A game as PGN.
pub fn pgn(record: &Record, heading: &Heading) -> String {
    let mut text = String::new();
    let local = |format| clock(record.began, &heading.zone, format);
    let utc = |format| clock(record.began, &TimeZone::UTC, format);
    let player = |color| match (record.names.get(color), record.player(color)) {
        (Some(name), _) => name,
        (None, None) => "?",
        (None, Some(By::Target)) => record.program.as_deref().unwrap_or("?"),
        (None, Some(By::Hand | By::HandUnseen)) => &heading.player,
    };
    let result = record.outcome().to_string();
    let event = record.event.as_deref().unwrap_or("?");
    tag(&mut text, "Event", event);
    let site = record.site.as_ref().unwrap_or(&heading.site);
    tag(&mut text, "Site", site);
    tag(&mut text, "Date", &local("%Y.%m.%d"));
    tag(&mut text, "Round", "-");
    tag(&mut text, "White", player(Color::White));
    tag(&mut text, "Black", player(Color::Black));
    tag(&mut text, "Result", &result);
    start_tags(&mut text, &record.game);
    tag(&mut text, "Time", &local("%H:%M:%S"));
    tag(&mut text, "GameStartTime", &local("%Y-%m-%dT%H:%M:%S %z"));
    tag(&mut text, "UTCDate", &utc("%Y.%m.%d"));
    tag(&mut text, "UTCTime", &utc("%H:%M:%S"));
    tag(&mut text, "TimeControl", "?");
    if let Standing::Over(_, Some(termination)) = record.standing {
        tag(&mut text, "Termination", termination.word());
    }
    tag(&mut text, "Annotator", &heading.annotator);
    text.push('\n');
    let took = |ply: usize| record.took.get(ply).copied().flatten();
    movetext(&mut text, &record.game, |ply| {
        Some(format!("{{{}}}", elapsed(took(ply)?)))
    });
    text.push_str(&result);
    text.push_str("\n\n");
    text
}
