//! The PGN of one game, as the server takes it.

use jiff::tz::TimeZone;
use shakmaty::{Color, Outcome};

use super::{
    about::{About, Details},
    delay::Delayed,
    pairing_file::Pairings,
};
use crate::{
    bus::pairings::Player,
    front_end::{
        pgn_text::{Termination, clock, left, movetext, start_tags, tag},
        running_game,
    },
    vocabulary::{BoardName, GameEnd},
};

/// The longest main line of a game, in plies (Lichess, `StudyPgnImport`: 600).
pub const MAX_PLIES: usize = 600;

/// Everything of a game but its moves.
#[derive(Clone, Debug)]
pub(super) struct Heading<'a> {
    pub id: &'a str,
    pub board: &'a BoardName,
    pub linked: Option<&'a BoardName>,
    pub about: &'a About,
    pub pairings: &'a Pairings,
    pub game: &'a Delayed,
    pub details: &'a Details,
}

/// The game as it may be shown now.
pub(super) fn text(heading: &Heading<'_>) -> String {
    let mut text = String::new();
    let known = |words: Option<&String>| words.map_or("?", String::as_str).to_owned();
    let about = heading.about;
    let shown = heading.game.shown();
    let cut = (shown.len() > MAX_PLIES).then(|| shown.truncated(MAX_PLIES));
    let game = cut.as_ref().unwrap_or(shown);
    let end = GameEnd::by_rules(shown).or(heading.game.shown_end());
    let result = end.map_or(Outcome::Unknown, |end| end.outcome).to_string();
    tag(&mut text, "Event", &known(about.event.as_ref()));
    tag(&mut text, "Site", &known(heading.details.site.as_ref()));
    let date = heading.details.began;
    let date = date.map(|at| clock(at, &TimeZone::system(), "%Y.%m.%d"));
    tag(&mut text, "Date", date.as_deref().unwrap_or("????.??.??"));
    tag(&mut text, "Round", &known(about.round.as_ref()));
    for (color, name) in [(Color::White, "White"), (Color::Black, "Black")] {
        let listed = heading.pairings.player(heading.board, color);
        let listed = listed.or_else(|| heading.pairings.player(heading.linked?, color));
        let known = heading.details.players.get(color).clone();
        let player = match listed {
            Some(listed) => Player {
                name: listed.name.clone(),
                title: None,
                rating: listed.elo,
            },
            None => known.unwrap_or_default(),
        };
        let fide = listed.and_then(|listed| listed.fide);
        let name_is_shown = running_game::is_name(&player.name) || fide.is_some();
        let of_board = || running_game::name_of_board(heading.board, color);
        let shown = Some(player.name).filter(|name| name_is_shown && !name.is_empty());
        tag(&mut text, name, &shown.unwrap_or_else(of_board));
        if let Some(title) = &player.title {
            tag(&mut text, &format!("{name}Title"), title);
        }
        if let Some(elo) = player.rating {
            tag(&mut text, &format!("{name}Elo"), &elo.to_string());
        }
        if let Some(fide) = fide {
            tag(&mut text, &format!("{name}FideId"), &fide.to_string());
        }
    }
    tag(&mut text, "Result", &result);
    start_tags(&mut text, game);
    if let Some(termination) = end.and_then(Termination::of) {
        tag(&mut text, "Termination", termination.word());
    }
    tag(&mut text, "Board", &heading.details.number);
    tag(&mut text, "GameId", heading.id);
    text.push('\n');
    movetext(&mut text, game, |ply| {
        let shown = heading.game.clock(ply)?;
        Some(format!("{{{}}}", left(shown)))
    });
    text.push_str(&result);
    text.push_str("\n\n");
    text
}
