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
        ("0.0 * target 1 1 startpos moves e2e5", 1),
        ("-1 @ up", 1),
        ("1e30 @ up", 1),
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
    let Item::Received(_, bytes) = &transcript.entries[0].item else {
        panic!("not received bytes");
    };
    assert_eq!(*bytes, every);
}

#[test]
fn a_recording_names_neither_a_key_nor_the_bytes_that_carry_it() {
    let given = "kind = \"dgt-pegasus\"\nkey = \"A1B2C3D4E5F6\"\nsettle = \"2s\"";
    let board = BoardConfig::from_toml(given).unwrap();
    let recorded = board.to_toml();
    assert!(recorded.contains("key = \"000000000000\""), "{recorded}");
    assert!(recorded.contains("settle = \"2s\""), "{recorded}");
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
