//! What a GUI should show of a board: three tables, arrows and bubbles, from one snapshot.

use std::time::Duration;

use shakmaty::{Color, Move, Position, Square, san::SanPlus};

use super::{
    line::{Arrow, Bubble, Cell, Row, Value},
    text::Text,
};
use crate::{
    chess::{
        game::Game,
        guidance::{self, Action},
    },
    vocabulary::{Advice, ClientName, LinkState, Reported, Snapshot, Wording},
};

/// The name for a place that is not a square.
const BESIDE: &str = "beside the board";
/// Squares named in one cell: the bubbles show the others.
const MAX_SQUARES: usize = 8;

/// A table with its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns. The first one identifies a row.
    pub header: &'static [&'static str],
    /// Whether every change replaces all of it, because its rows mean little one by one.
    pub whole: bool,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// Everything that is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The tables, in the order in which they are sent.
    pub tables: [Table; 3],
    /// The arrows.
    pub arrows: Vec<Arrow>,
    /// The bubbles, one per square.
    pub bubbles: Vec<Bubble>,
}

impl Default for Picture {
    /// Nothing is shown.
    fn default() -> Self {
        let table = |name, header, whole| Table {
            name,
            header,
            whole,
            rows: Vec::new(),
        };
        Self {
            tables: [
                table("Board", &["What", "State"], false),
                table("Set-up", &["No", "Piece", "From", "To"], true),
                table("Moves", &["Ply", "Move", "Seconds"], false),
            ],
            arrows: Vec::new(),
            bubbles: Vec::new(),
        }
    }
}

impl Picture {
    /// The picture for a client that has the board, or could have it.
    pub fn of(snapshot: &Snapshot, client: &ClientName) -> Self {
        let mut picture = Self::default();
        let [board, set_up, moves] = &mut picture.tables;
        board.rows = board_rows(snapshot, client, true);
        set_up.rows = set_up_rows(&snapshot.guidance);
        moves.rows = move_rows(&snapshot.game, &snapshot.took);
        picture.arrows = arrows(snapshot);
        picture.bubbles = bubbles(&snapshot.guidance);
        picture
    }

    /// The picture for a client that waits for the board: nothing of the other clients' game.
    pub fn from_afar(snapshot: &Snapshot, client: &ClientName) -> Self {
        let mut picture = Self::default();
        picture.tables[0].rows = board_rows(snapshot, client, false);
        picture
    }
}

/// The board itself. What a board does not report has no row; those rows come last, so that they can be added later.
fn board_rows(snapshot: &Snapshot, client: &ClientName, own: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |what: &str, state: String| rows.push(vec![what.into(), state.into()]);
    row("Board", snapshot.board.to_string());
    row(
        "Link",
        match &snapshot.link {
            LinkState::Down(why) => format!("down: {why}"),
            LinkState::Asking { why: None } => "the board has not told its game yet".to_owned(),
            LinkState::Up => "up".to_owned(),
            LinkState::Silent { garbled: false } => "the board does not answer".to_owned(),
            link => link.why().unwrap_or_default(),
        },
    );
    row("Played by", players(&snapshot.holders, client));
    if own {
        let turn = snapshot.game.turn();
        row("To move", turn.fold_wb("White", "Black").to_owned());
        row("To do", to_do(snapshot));
        row("Misplaced pieces", misplaced(snapshot));
    } else {
        row("To do", "wait until the board is free".to_owned());
    }
    if let Some(id) = &snapshot.id {
        row("Firmware", id.clone());
    }
    if let Some(percent) = snapshot.battery {
        row("Battery", format!("{percent} %"));
    }
    if let Some(end) = snapshot.ending.filter(|_| own) {
        row("The game is over", end.to_string());
    }
    rows
}

/// The clients that have the board.
fn players(holders: &[ClientName], client: &ClientName) -> String {
    let name = |holder: &ClientName| match holder {
        holder if holder == client => "this program".to_owned(),
        holder => holder.to_string(),
    };
    let names: Vec<String> = holders.iter().map(name).collect();
    if names.is_empty() {
        "nobody".to_owned()
    } else {
        names.join(" and ")
    }
}

/// What the player should do.
fn to_do(snapshot: &Snapshot) -> String {
    match &snapshot.advice {
        Advice::Nothing => "nothing".to_owned(),
        // The row of the link says the rest.
        Advice::NoLink(_) => "restore the link".to_owned(),
        advice @ Advice::Misplaced(_) if !snapshot.guidance.is_empty() => {
            format!("{advice}: see Set-up")
        }
        advice => advice.to_string(),
    }
}

/// How many pieces are misplaced, and on which squares they stand.
fn misplaced(snapshot: &Snapshot) -> String {
    let mut squares = Vec::new();
    // Pieces put beside the board on the way do not count as waiting there.
    let mut parked = Vec::new();
    let mut beside: usize = 0;
    for action in snapshot.guidance.iter() {
        match (action.from, action.to) {
            (Some(from), to) => {
                if !squares.contains(&from) {
                    squares.push(from);
                }
                if to.is_none() {
                    parked.push(action.piece);
                }
            }
            (None, _) => match parked.iter().position(|piece| *piece == action.piece) {
                Some(at) => {
                    parked.swap_remove(at);
                }
                None => beside += 1,
            },
        }
    }
    if squares.is_empty() && beside == 0 {
        // A board that is away, or does not sense squares, cannot tell.
        let known = if snapshot.link.is_open() {
            "none known"
        } else {
            "not known"
        };
        return known.to_owned();
    }
    let named = squares.iter().take(MAX_SQUARES);
    let mut places: Vec<String> = named.map(ToString::to_string).collect();
    if let more @ 1.. = squares.len().saturating_sub(MAX_SQUARES)
        && let Some(last) = places.pop()
    {
        places.push(format!("{last} and {more} more"));
    }
    if beside > 0 {
        places.push(format!("{beside} {BESIDE}"));
    }
    format!("{}: {}", squares.len() + beside, places.join(", "))
}

/// What to do, one row per carry.
fn set_up_rows(actions: &[Action]) -> Vec<Row> {
    let place = |square: Option<Square>| {
        square.map_or_else(|| BESIDE.to_owned(), |square| square.to_string())
    };
    let row = |(index, action): (usize, &Action)| {
        let piece = action
            .piece
            .map_or_else(|| "piece".to_owned(), |p| guidance::name(p).to_string());
        vec![
            Cell::Number(index + 1),
            piece.into(),
            place(action.from).into(),
            place(action.to).into(),
        ]
    };
    actions.iter().enumerate().map(row).collect()
}

/// The moves of the game on the board, with the seconds the hand took if that was seen.
fn move_rows(game: &Game, took: &[Option<Duration>]) -> Vec<Row> {
    let mut position = game.start().clone();
    let row = |(index, &m): (usize, &Move)| {
        let dots = position.turn().fold_wb(".", "...");
        let number = position.fullmoves();
        let san = SanPlus::from_move_and_play_unchecked(&mut position, m);
        vec![
            Cell::Number(index + 1),
            format!("{number}{dots} {san}").into(),
            match took.get(index) {
                Some(Some(took)) => Cell::Decimal((took.as_secs_f64() * 10.0).round() / 10.0),
                _ => "".into(),
            },
        ]
    };
    game.moves().iter().enumerate().map(row).collect()
}

/// The carries between two squares, and the move that should be made or taken back.
fn arrows(snapshot: &Snapshot) -> Vec<Arrow> {
    let between = |action: &Action| {
        Some(Arrow {
            from: action.from?,
            to: action.to?,
        })
    };
    let mut arrows: Vec<Arrow> = snapshot.guidance.iter().filter_map(between).collect();
    let of_advice = match &snapshot.advice {
        Advice::Make(m) | Advice::Shown { m, .. } | Advice::PutBack { made: m, .. } => ways(*m),
        Advice::TakeBack(m) => back(ways(*m)),
        Advice::Mistake {
            expected: Some(expected),
            ..
        } => ways(*expected),
        // If the squares of the mistake are known, the guidance has them.
        Advice::Mistake { made, .. } if arrows.is_empty() => back(reported(*made)),
        _ => Vec::new(),
    };
    for arrow in of_advice {
        // In Chess960 the king or the rook may stay on its square.
        if arrow.from != arrow.to && !arrows.contains(&arrow) {
            arrows.push(arrow);
        }
    }
    arrows
}

/// The paths of a move's pieces: castling has two.
fn ways(m: Move) -> Vec<Arrow> {
    match (m, m.castling_side()) {
        (Move::Castle { king, rook }, Some(side)) => {
            let color = if king < Square::A2 {
                Color::White
            } else {
                Color::Black
            };
            vec![
                Arrow {
                    from: king,
                    to: side.king_to(color),
                },
                Arrow {
                    from: rook,
                    to: side.rook_to(color),
                },
            ]
        }
        _ => m
            .from()
            .map(|from| Arrow { from, to: m.to() })
            .into_iter()
            .collect(),
    }
}

/// The path of a reported move; a castling is not split into squares.
fn reported(made: Reported) -> Vec<Arrow> {
    match made.wording {
        Wording::Squares { from, to, .. } => vec![Arrow { from, to }],
        Wording::Castle(_) => Vec::new(),
    }
}

fn back(ways: Vec<Arrow>) -> Vec<Arrow> {
    let turned = |Arrow { from, to }| Arrow { from: to, to: from };
    ways.into_iter().map(turned).collect()
}

/// What is wrong on each square: a piece to take away, one that is missing, or both.
fn bubbles(actions: &[Action]) -> Vec<Bubble> {
    let mut squares: Vec<(Square, Vec<Text>)> = Vec::new();
    let mut note = |cell: Square, text: String| {
        let text = Text::from(text);
        match squares.iter_mut().find(|(square, _)| *square == cell) {
            Some((_, texts)) if texts.contains(&text) => {}
            Some((_, texts)) => texts.push(text),
            None => squares.push((cell, vec![text])),
        }
    };
    for action in actions {
        // As in a FEN: capitals are White's.
        let letter = action.piece.map_or('?', shakmaty::Piece::char);
        match (action.from, action.to) {
            (Some(from), Some(to)) => {
                note(from, format!("to {to}"));
                note(to, letter.to_string());
            }
            (Some(from), None) => note(from, "off".to_owned()),
            (None, Some(to)) => note(to, format!("put {letter}")),
            (None, None) => {}
        }
    }
    let bubble = |(cell, mut texts): (Square, Vec<Text>)| Bubble {
        cell,
        value: match (texts.len(), texts.pop()) {
            (1, Some(text)) => Value::One(text),
            (_, last) => {
                texts.extend(last);
                Value::Several(texts)
            }
        },
    };
    squares.into_iter().map(bubble).collect()
}
