//! Every transcript under `tests/transcripts` matches the program: replaying it reproduces it.
//!
//! To accept a change after reading it: `boardbridge replay --transcript FILE`, with the file's own comments
//! kept at its head.

use std::{fs, path::Path, time::Duration};

use boardbridge::{
    board::{
        settings::BoardConfig,
        transcript::{Entry, Item, Transcript},
    },
    cli::replay::replay,
    vocabulary::{Channel, Outgoing, Request, Secret},
};

fn without_comments(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_transcript_is_reproduced_to_the_letter() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "transcript")
        {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let transcript: Transcript = text.parse().unwrap();
        let made = replay(&transcript).unwrap().to_string();
        assert_eq!(made, without_comments(&text), "{}", path.display());
        count += 1;
    }
    assert!(count >= 50, "only {count} transcripts were found");
}

#[test]
fn a_transcript_that_is_none_names_its_line() {
    for (text, line) in [
        ("0.000 @ up\n0.1 < serial Me2e4", 2),
        ("0.000 @ up\nnonsense", 2),
        ("1.0 @ up\n0.5 @ end", 2),
        ("0.0 < serial \"\\q\"", 1),
        ("0.0 < serial", 1),
        ("0.0 < serial \"N", 1),
        ("0.0 < serial \"N\" 8/8/8", 1),
        ("0.0 * target 1 1 startpos moves e2e5", 1),
        ("-1 @ up", 1),
        ("1e30 @ up", 1),
        ("1e19 @ up", 1),
    ] {
        let error = text.parse::<Transcript>().unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
    }
}

#[test]
fn any_bytes_survive_the_way_into_a_transcript_and_back() {
    let every: Vec<u8> = (0..=255).collect();
    let text = format!("0.000 < serial \"{}\"\n", every.escape_ascii());
    let transcript: Transcript = text.parse().unwrap();
    assert_eq!(transcript.to_string(), text);
    assert_eq!(received(&transcript), every);
}

/// The start position by a DGT board's codes, and by a Chessnut's.
const START: [(&str, &str, &[u8], &[u8]); 2] = [
    (
        "dgt",
        "serial",
        b"\x86\x00\x43",
        b"\x08\x09\x0a\x0c\x0b\x0a\x09\x08\x07\x07\x07\x07\x07\x07\x07\x07\x00\x00\x00\x00\x00\x00\x00\x00\
          \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
          \x01\x01\x01\x01\x01\x01\x01\x01\x02\x03\x04\x06\x05\x04\x03\x02",
    ),
    (
        "chessnut",
        "1b7e8262",
        b"\x01\x24",
        b"X#1\x85DDDD\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00wwww\xa6\xc9\x9bj",
    ),
];

fn received(transcript: &Transcript) -> &[u8] {
    match &transcript.entries[0].item {
        Item::Received(_, bytes) => bytes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn where_the_pieces_stand_is_written_as_in_a_fen_and_read_as_the_same_bytes() {
    const FEN: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    for (kind, channel, header, start) in START {
        let head = format!("! kind = \"{kind}\"\n0.000 < {channel} ");
        // Another message comes in the same breath.
        let bytes = [header, start, b"\x8e\0", header, start].concat();
        let text = format!("{head}\"{}\"\n", bytes.escape_ascii());
        let transcript: Transcript = text.parse().unwrap();
        assert_eq!(received(&transcript), bytes);
        let short = transcript.to_string();
        let begin = format!("{head}\"{}\" {FEN} \"", header.escape_ascii());
        assert!(short.starts_with(&begin), "{short}");
        let again: Transcript = short.parse().unwrap();
        assert_eq!(received(&again), bytes, "{short}");
        assert_eq!(again.to_string(), short);
    }
}

#[test]
fn bytes_that_a_fen_does_not_have_stay_bytes() {
    for (kind, channel, header, start) in START {
        // A code that no piece has; a placement whose end has not come.
        let mut odd = [header, start].concat();
        odd[header.len() + 3] = 0xfd;
        let cut = [header, &start[..start.len() - 1]].concat();
        for bytes in [odd, cut] {
            let text = format!(
                "! kind = \"{kind}\"\n0.000 < {channel} \"{}\"\n",
                bytes.escape_ascii()
            );
            let transcript: Transcript = text.parse().unwrap();
            assert_eq!(transcript.to_string(), text);
        }
    }
    let of_text = "! kind = \"novag-ucb\"\n0.000 < serial 8/8/8/8/8/8/8/8\n";
    let error = of_text.parse::<Transcript>().unwrap_err();
    assert!(error.to_string().contains("does not tell"), "{error}");
}

#[test]
fn a_recording_names_neither_a_key_nor_the_bytes_that_carry_it() {
    let given = "kind = \"dgt-pegasus\"\nkey = \"A1B2C3D4E5F6\"\nsettle = \"2s\"";
    let board = BoardConfig::from_toml(given).unwrap();
    let recorded = board.to_toml();
    assert!(recorded.contains("key = \"000000000000\""), "{recorded}");
    assert!(recorded.contains("settle = \"2s\""), "{recorded}");
    let shown = format!("{board:?} {board:#?}");
    assert!(!shown.contains("A1B2C3D4E5F6"), "{shown}");
    assert!(shown.contains("dgt-pegasus"), "{shown}");
    let secret = Outgoing {
        channel: Channel::Serial,
        request: Request::Secret(Secret(vec![0xa1, 0xb2].into())),
    };
    let entry = Entry {
        at: Duration::ZERO,
        item: Item::Sent(secret),
    };
    assert_eq!(entry.to_string(), "0.000 > serial secret");
    assert!(!format!("{entry:?}").contains("a1"), "{entry:?}");
}
