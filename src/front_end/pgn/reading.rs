//! Reads our own PGN back, so that a game continues in its file after a restart.
//!
//! Files that someone else wrote or edited are not ours: they are not touched.

use std::{io::Cursor, ops::ControlFlow, sync::Arc};

use pgn_reader::{Nag, RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::{ByColor, CastlingMode, Chess, Color, Outcome, fen::Fen};

use super::record::{Heading, Record, Standing};
use crate::{
    chess::game::Game,
    front_end::pgn_text::{Termination, read_elapsed},
    vocabulary::{By, GameEnd},
};

/// The longest file read back, bytes: a game of [`MAX_PLIES`](crate::chess::game::MAX_PLIES) with a time at every move has half of it.
pub const MAX_FILE: usize = 128 * 1024;

/// The one game in a file of ours; `None` if it is not ours, or incomplete.
pub fn own(text: &[u8], heading: &Heading) -> Option<Record> {
    if text.len() > MAX_FILE {
        return None;
    }
    let mut reader = Reader::new(Cursor::new(text));
    let mut reading = Reading { heading };
    let record = reader.read_game(&mut reading).ok()??;
    // A second game in it was added by someone else.
    let more = reader.read_game(&mut reading).ok()?;
    record.filter(|_| more.is_none())
}

/// The board in an `Annotator` tag of ours, whatever the version.
fn board_of(annotator: &str) -> Option<&str> {
    let (program, board) = annotator.rsplit_once(" on ")?;
    program.starts_with("BoardBridge ").then_some(board)
}

struct Reading<'a> {
    heading: &'a Heading,
}

#[derive(Default)]
struct Tags {
    start: Option<Fen>,
    chess960: bool,
    players: [Option<String>; 2],
    event: Option<String>,
    site: Option<String>,
    date: String,
    time: String,
    termination: Option<Termination>,
    ours: bool,
}

struct Moves {
    record: Record,
    outcome: Option<Outcome>,
    termination: Option<Termination>,
    players: [Option<By>; 2],
}

impl Visitor for Reading<'_> {
    type Tags = Tags;
    type Movetext = Moves;
    type Output = Option<Record>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(
        &mut self,
        tags: &mut Tags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        let text = value.decode_utf8_lossy();
        match name {
            b"White" => tags.players[0] = Some(text.into_owned()),
            b"Black" => tags.players[1] = Some(text.into_owned()),
            b"Event" => tags.event = Some(text.into_owned()).filter(|event| event != "?"),
            b"Site" => tags.site = Some(text.into_owned()),
            b"UTCDate" => tags.date = text.replace('.', "-"),
            b"UTCTime" => tags.time = text.into_owned(),
            b"Variant" => tags.chess960 = text == "Chess960",
            b"Termination" => tags.termination = Termination::named(&text),
            b"Annotator" => tags.ours = board_of(&text) == board_of(&self.heading.annotator),
            b"FEN" => match text.parse() {
                Ok(fen) => tags.start = Some(fen),
                Err(_) => return ControlFlow::Break(None),
            },
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Self::Output, Moves> {
        let mode = if tags.chess960 {
            CastlingMode::Chess960
        } else {
            CastlingMode::Standard
        };
        let start = match tags.start {
            Some(fen) => fen.into_position::<Chess>(mode).ok(),
            None => Some(Chess::new()),
        };
        let began = humantime::parse_rfc3339(&format!("{}T{}Z", tags.date, tags.time));
        let (true, Some(start), Ok(began)) = (tags.ours, start, began) else {
            return ControlFlow::Break(None);
        };
        let mut record = Record::new(began, Game::from_start(start));
        // Both are told by a front-end, or neither.
        record.site = tags.event.as_ref().and(tags.site).map(Arc::from);
        record.event = tags.event.map(Arc::from);
        let names = tags.players.clone().map(|name| name.map(Arc::from));
        let players = tags.players.map(|name| match name.as_deref() {
            None | Some("?") => None,
            Some(name) if *name == *self.heading.player => Some(By::Hand),
            Some(name) => {
                record.program = Some(name.into());
                Some(By::Target)
            }
        });
        if players == [Some(By::Target); 2] {
            // Two names that a front-end has told.
            let mut names = names.into_iter();
            record.names = ByColor::new_with(|_| names.next().flatten());
        }
        ControlFlow::Continue(Moves {
            record,
            outcome: None,
            termination: tags.termination,
            players,
        })
    }

    fn san(&mut self, moves: &mut Moves, san: SanPlus) -> ControlFlow<Self::Output> {
        let record = &mut moves.record;
        let Ok(m) = san.san.to_move(record.game.position()) else {
            return ControlFlow::Break(None);
        };
        let by = moves.players[usize::from(record.game.turn() == Color::Black)];
        if !record.game.push(m) {
            return ControlFlow::Break(None);
        }
        record.by.push(by);
        record.took.push(None);
        ControlFlow::Continue(())
    }

    fn comment(&mut self, moves: &mut Moves, comment: RawComment<'_>) -> ControlFlow<Self::Output> {
        match (
            read_elapsed(comment.as_bytes()),
            moves.record.took.last_mut(),
        ) {
            (Some(took), Some(last)) => {
                *last = Some(took);
                ControlFlow::Continue(())
            }
            // It was edited by someone else.
            _ => ControlFlow::Break(None),
        }
    }

    fn nag(&mut self, _moves: &mut Moves, _nag: Nag) -> ControlFlow<Self::Output> {
        ControlFlow::Break(None)
    }

    fn begin_variation(&mut self, _moves: &mut Moves) -> ControlFlow<Self::Output, Skip> {
        ControlFlow::Break(None)
    }

    fn outcome(&mut self, moves: &mut Moves, outcome: Outcome) -> ControlFlow<Self::Output> {
        moves.outcome = Some(outcome);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, moves: Moves) -> Self::Output {
        let Moves {
            mut record,
            outcome,
            termination,
            ..
        } = moves;
        record.standing = match (outcome?, GameEnd::by_rules(&record.game)) {
            (_, Some(end)) => end.into(),
            (Outcome::Unknown, None) if termination.is_none() => Standing::Open,
            (outcome, None) => Standing::Over(outcome, termination),
        };
        (!record.game.is_empty()).then_some(record)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use jiff::tz::TimeZone;

    use super::*;
    use crate::front_end::pgn::tags::pgn;

    #[test]
    fn a_game_keeps_the_event_and_the_site_that_were_told_and_else_has_the_configured_site() {
        let heading = Heading {
            site: "Kitchen".into(),
            player: "Anna".into(),
            annotator: "BoardBridge 0.1.0 on citrine".into(),
            zone: TimeZone::UTC,
        };
        let mut game = Game::standard();
        game.play_uci(["e2e4", "e7e5"]).unwrap();
        let began = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365 * 50);
        let mut record = Record::new(began, game);
        let text = pgn(&record, &heading);
        assert!(
            text.starts_with("[Event \"?\"]\n[Site \"Kitchen\"]\n"),
            "{text}"
        );
        let read = own(text.as_bytes(), &heading).unwrap();
        assert_eq!((read.event, read.site), (None, None));

        record.event = Some("rated blitz game".into());
        record.site = Some("https://lichess.org/abcdefgh".into());
        let text = pgn(&record, &heading);
        assert!(
            text.starts_with(
                "[Event \"rated blitz game\"]\n[Site \"https://lichess.org/abcdefgh\"]\n"
            ),
            "{text}"
        );
        let read = own(text.as_bytes(), &heading).unwrap();
        assert_eq!((read.event, read.site), (record.event, record.site));
    }
}
