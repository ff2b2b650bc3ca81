//! Whatever is in a pairing file: it is read, or the line of the mistake is named in words that a terminal can show.
#![no_main]

use boardbridge::{
    front_end::broadcast::pairing_file::{MAX_NAME, Pairings},
    text::escape::is_plain,
    vocabulary::BoardName,
};
use shakmaty::Color;

#[derive(Debug, arbitrary::Arbitrary)]
enum Input {
    /// A file that may be anything.
    File(Vec<u8>),
    /// A table with these cells.
    Table(Head, Vec<[String; 7]>),
    /// A PGN of these tags.
    Tags(Vec<(Tag, String)>),
}

#[derive(Debug, arbitrary::Arbitrary)]
enum Head {
    None,
    Commas,
    Semicolons,
    Cells(String),
}

#[derive(Debug, arbitrary::Arbitrary)]
enum Tag {
    Board,
    Round,
    White,
    BlackElo,
    WhiteFideId,
    /// The next game.
    Next,
}

const BOARDS: [&str; 3] = ["citrine", "neo", "7"];

fn text(input: Input) -> Vec<u8> {
    match input {
        Input::File(bytes) => bytes,
        Input::Table(head, lines) => {
            let (head, separator) = match head {
                Head::None => (String::new(), ","),
                Head::Commas => ("white,board,black,white_elo\n".to_owned(), ","),
                Head::Semicolons => ("board;white;black;black_fide\n".to_owned(), ";"),
                Head::Cells(cells) => (format!("board,{cells}\n"), ","),
            };
            let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
            let lines = lines.iter().enumerate().map(|(number, cells)| {
                let cells: Vec<String> = cells.iter().map(quoted).collect();
                let board = BOARDS[number % BOARDS.len()];
                format!("{board}{separator}{}\n", cells.join(separator))
            });
            (head + &lines.collect::<String>()).into_bytes()
        }
        Input::Tags(tags) => {
            let tags = tags.iter().map(|(tag, value)| match tag {
                Tag::Board => format!("[Board \"{value}\"]\n"),
                Tag::Round => format!("[Round \"3.{value}\"]\n"),
                Tag::White => format!("[White \"{value}\"]\n"),
                Tag::BlackElo => format!("[BlackElo \"{value}\"]\n"),
                Tag::WhiteFideId => format!("[WhiteFideId \"{value}\"]\n"),
                Tag::Next => "\n*\n\n[Board \"2\"]\n".to_owned(),
            });
            tags.collect::<String>().into_bytes()
        }
    }
}

libfuzzer_sys::fuzz_target!(|input: Input| {
    let boards: Vec<BoardName> = BOARDS.iter().flat_map(|name| name.parse()).collect();
    let file = text(input);
    match Pairings::read(&file, &boards) {
        Ok(pairings) => {
            assert!(pairings.len() <= boards.len());
            let players = boards
                .iter()
                .flat_map(|board| Color::ALL.map(|color| pairings.player(board, color)));
            for player in players.flatten() {
                assert!(player.name.chars().count() <= MAX_NAME, "{player:?}");
                assert!(player.name.chars().all(is_plain), "{player:?}");
                assert!(!player.name.is_empty() || player.fide.is_some());
            }
        }
        Err(error) => {
            let lines = file.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(error.to_string().chars().all(is_plain), "{error}");
        }
    }
});
