//! The pairing file: every table is read as it was written, nothing makes it panic, and mistakes have their line.

use boardbridge::{
    front_end::broadcast::pairing_file::{Pairings, Wrong},
    vocabulary::BoardName,
};
use proptest::prelude::*;
use shakmaty::Color;

fn boards() -> Vec<BoardName> {
    ["citrine", "neo", "7"]
        .map(|name| name.parse().unwrap())
        .to_vec()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

proptest! {
    #[test]
    fn whatever_is_in_the_file_it_is_read_or_the_line_named(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Err(error) = Pairings::read(&bytes, &boards()) {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            prop_assert!((1..=lines).contains(&error.line), "{error}");
        }
    }

    #[test]
    fn text_like_a_pairing_file_is_read_or_the_line_named(text in "[\\[\\]a-z0-9\",;#\\\\. \n]{0,200}") {
        if let Err(error) = Pairings::read(text.as_bytes(), &boards()) {
            prop_assert!((1..=text.lines().count()).contains(&error.line), "{error}");
        }
    }

    #[test]
    fn a_table_is_read_as_it_was_written(
        white in "[A-Za-zÄöüŁż][A-Za-zÄöüŁż,;\"'. -]{0,30}[a-z]",
        black in "[A-Z][a-z]{1,20}",
        elo in 1..=4000u32,
        fide in 1..=99_999_999u32,
    ) {
        let csv = format!("Board,White,Black,White_Elo,Black_FIDE\r\n\r\nneo,{},{black},{elo},{fide}\r\n", quoted(&white));
        let escaped = white.replace('\\', "\\\\").replace('"', "\\\"");
        let pgn = format!("[Event \"x\"]\n[Board \"2\"]\n[White \"{escaped}\"]\n[Black \"{black}\"]\n[WhiteElo \"{elo}\"]\n[BlackFideId \"{fide}\"]\n\n*\n");
        for text in [csv, pgn] {
            let read = Pairings::read(text.as_bytes(), &boards()).unwrap();
            let neo = "neo".parse().unwrap();
            let (first, second) = (read.player(&neo, Color::White).unwrap(), read.player(&neo, Color::Black).unwrap());
            prop_assert_eq!((&first.name, first.elo, first.fide), (&white, Some(elo), None));
            prop_assert_eq!((&second.name, second.elo, second.fide), (&black, None, Some(fide)));
        }
    }
}

#[test]
fn each_mistake_has_its_line_and_its_remedy() {
    for (text, line, words) in [
        ("board,white,blak\n", 1, "no column `blak`"),
        ("white,black,board\nZoë,Cleo,oak\n", 2, "no board `oak`"),
        (
            "# round 3\ncitrine,Zoë,Cleo\ncitrine,Dan,Eva\n",
            3,
            "already",
        ),
        ("citrine,Zoë,Cleo,strong\n", 1, "not a rating"),
        ("citrine,\"Zoë,Cleo\n", 1, "not closed"),
        ("citrine,Zoë,Cleo,1,2,3,4,5\n", 1, "more cells"),
        ("citrine,Zoë,Cleo\n\n,Dan,Eva\n", 3, "board is missing"),
        ("[White \"Zoë\n", 1, "not a tag"),
        ("[Event \"x\"]\n[White \"Zoë\"]\n", 1, "board is missing"),
    ] {
        let error = Pairings::read(text.as_bytes(), &boards()).unwrap_err();
        assert_eq!(error.line, line, "{text}");
        assert!(error.to_string().contains(words), "{error}");
    }
    // One file for the boards of several broadcasts.
    let text = "citrine,Zoë,Cleo\noak,Dan,Eva\nelm,Fay,Gil\n";
    let read = Pairings::read(text.as_bytes(), &boards()).unwrap();
    let left_out = read.left_out().unwrap().to_string();
    assert_eq!(read.len(), 1);
    assert!(
        left_out.starts_with("line 2: there is no board `oak`"),
        "{left_out}"
    );
    let latin = b"citrine,Zo\xeb,Cleo\n";
    assert_eq!(
        Pairings::read(latin, &boards()).unwrap_err().wrong,
        Wrong::NotUtf8
    );
    // A board is its name before it is a number; semicolons as spreadsheets write them; a mark at the beginning.
    let read = Pairings::read(
        "\u{feff}board;white;black\n7;Zoë;Cleo\n1;Dan;Eva\n".as_bytes(),
        &boards(),
    )
    .unwrap();
    let named = |board: &str| {
        read.player(&board.parse().unwrap(), Color::White)
            .unwrap()
            .name
            .clone()
    };
    assert_eq!(
        (named("7"), named("citrine")),
        ("Zoë".to_owned(), "Dan".to_owned())
    );
}

#[test]
fn a_line_without_a_separator_says_nothing_of_it() {
    let read = Pairings::read(b"citrine\nneo;Anna;Eva\n", &boards()).unwrap();
    let neo = "neo".parse().unwrap();
    assert_eq!(read.player(&neo, Color::White).unwrap().name, "Anna");
}

#[test]
fn one_separator_holds_for_the_whole_file_whatever_is_in_a_name() {
    for text in [
        "board;white;black\ncitrine;Müller, Zoë;Cleo, Dan\nneo;Anna;Eva, Frank\n",
        "sep=;\r\nboard;white;black\r\ncitrine;Müller, Zoë;Cleo, Dan\r\nneo;Anna;Eva, Frank\r\n",
        "\u{feff}sep=,\n\"citrine\",\"Müller, Zoë\",\"Cleo, Dan\"\nneo,Anna,\"Eva, Frank\"\n",
        "citrine\tMüller, Zoë\tCleo, Dan\nneo\tAnna\tEva, Frank\n",
    ] {
        let read = Pairings::read(text.as_bytes(), &boards()).unwrap();
        let named = |board: &str, color| {
            let board = board.parse().unwrap();
            read.player(&board, color).unwrap().name.clone()
        };
        assert_eq!(named("citrine", Color::White), "Müller, Zoë", "{text}");
        assert_eq!(named("citrine", Color::Black), "Cleo, Dan", "{text}");
        assert_eq!(named("neo", Color::White), "Anna", "{text}");
        assert_eq!(named("neo", Color::Black), "Eva, Frank", "{text}");
    }
}
