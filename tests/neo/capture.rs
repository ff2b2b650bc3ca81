//! A real game on a real Miko Neo, from its radio capture: the board's output is replayed, wrong readings included, and
//! the driver finds the game that was played and the paths that the maker's app sent.

use std::time::Duration;

use boardbridge::{
    board::transcript::{Entry, Item, Transcript},
    cli::replay::replay,
    driver::neo::codec,
    vocabulary::{By, Channel, Event, Request},
};

/// White by hand, Black by the motor.
const GAME: &str = "d2d4 c7c6 c1f4 c6c5 e2e3 d7d5 g1f3 g8f6 b1d2 c8d7 f3e5 c5c4 f1e2 d7e6 c2c3 f6h5 d1a4 d8d7 e5d7 \
                    g7g6 d7f6 e8d8 a4e8";

/// What the maker's app wrote for Black's moves.
const PATHS: [&str; 11] = [
    "2,6:2,4.92|",
    "2,5:2,3.92|",
    "3,6:3,3.92|",
    "6,7:5.5,6.5:5.5,5.5:4.92,4.92|",
    "2,7:3.08,5.92|",
    "2,4:2,2.92|",
    "3,6:4.08,4.92|",
    "5,5:6,5:7.08,3.92|",
    "3,7:3,5.92|",
    "6,6:6,4.92|",
    "4,7:2.92,7|",
];

/// c8 in a picture, which goes a1, a2 … a8, b1 ….
const C8: usize = 23;

fn replayed() -> Vec<Entry> {
    let text = include_str!("../transcripts/neo-captured-game.transcript");
    let transcript: Transcript = text.parse().unwrap();
    replay(&transcript).unwrap().entries
}

fn events(entries: &[Entry]) -> impl Iterator<Item = (Duration, &Event)> {
    entries.iter().filter_map(|entry| match &entry.item {
        Item::Event(event) => Some((entry.at, event)),
        _ => None,
    })
}

/// The writes, without requests to read and to subscribe.
fn written(entries: &[Entry]) -> Vec<(Duration, String)> {
    let writes = entries.iter().filter_map(|entry| match &entry.item {
        Item::Sent(outgoing) => match &outgoing.request {
            Request::Write(bytes) => Some((entry.at, String::from_utf8(bytes.to_vec()).unwrap())),
            Request::Command(_) | Request::Secret(_) | Request::Read | Request::Subscribe => None,
        },
        _ => None,
    });
    writes.collect()
}

fn is_path(entry: &Entry) -> bool {
    matches!(&entry.item, Item::Sent(o) if o.channel == Channel::Gatt(codec::PATHS))
}

fn is_path_done(entry: &Entry) -> bool {
    matches!(&entry.item, Item::Received(_, bytes) if bytes == b"OK")
}

fn seconds(from: f64, to: f64) -> std::ops::Range<Duration> {
    Duration::from_secs_f64(from)..Duration::from_secs_f64(to)
}

#[test]
fn the_moves_of_hand_and_motor_are_the_game_and_nothing_is_taken_back() {
    let entries = replayed();
    let mut moves = Vec::new();
    for (at, event) in events(&entries) {
        match event {
            Event::Moved { uci, ply, by, .. } => {
                assert_eq!(*ply, moves.len() + 1, "at {at:?}");
                let mover = if ply % 2 == 1 { By::Hand } else { By::Target };
                assert_eq!(*by, mover, "{uci} at {at:?}");
                moves.push(uci.to_string());
            }
            Event::TookBack { .. }
            | Event::Mistake { .. }
            | Event::Unreadable { .. }
            | Event::Disconnected { .. }
            | Event::Silent => panic!("{event:?} at {at:?}"),
            _ => {}
        }
    }
    assert_eq!(moves.join(" "), GAME);
}

#[test]
fn the_paths_are_those_of_the_makers_app_and_nothing_is_written_while_one_is_under_way() {
    let entries = replayed();
    let mut paths = Vec::new();
    let mut under_way = false;
    for entry in &entries {
        if let Item::Sent(outgoing) = &entry.item {
            assert!(!under_way, "{entry}");
            if is_path(entry) {
                paths.push(String::from_utf8(outgoing.bytes().to_vec()).unwrap());
                under_way = true;
            }
        } else if is_path_done(entry) {
            assert!(under_way, "{entry}");
            under_way = false;
        }
    }
    assert!(!under_way);
    assert_eq!(paths, PATHS);
}

#[test]
fn pieces_that_are_put_straight_and_squares_that_read_wrong_make_no_noise() {
    let entries = replayed();
    let begun = events(&entries).find(|(_, event)| matches!(event, Event::NewGame { .. }));
    let (begun, _) = begun.unwrap();
    for (at, event) in events(&entries).filter(|(at, _)| *at > begun) {
        if let Event::Advice { text } = event {
            assert!(
                text.is_empty() || text == "White to move on the board",
                "{text} at {at:?}"
            );
        }
    }
    // The black bishop on d7 after move 6; the white queen on e8 after the mate.
    for adjusting in [seconds(108.5, 118.0), seconds(253.5, 263.0)] {
        let noise = events(&entries).find(|(at, _)| adjusting.contains(at));
        assert_eq!(noise, None);
        let noise = written(&entries);
        assert!(!noise.iter().any(|(at, _)| adjusting.contains(at)));
        let adjusted = |entry: &&Entry| {
            let event =
                matches!(&entry.item, Item::Received(Channel::Gatt(c), _) if *c == codec::EVENTS);
            event && adjusting.contains(&entry.at)
        };
        assert!(entries.iter().filter(adjusted).count() >= 5);
    }
}

#[test]
fn the_missing_bishop_is_asked_for_until_it_stands_and_then_the_game_begins() {
    let entries = replayed();
    let mut bishop_stands = None;
    let mut asked = 0;
    for entry in &entries {
        match &entry.item {
            Item::Received(Channel::Gatt(codec::OCCUPANCY), picture) => {
                bishop_stands = Some(picture[C8] == b'1');
            }
            Item::Sent(outgoing) if outgoing.bytes() == b"M:c8" => {
                assert_eq!(bishop_stands, Some(false), "{entry}");
                asked += 1;
            }
            _ => {}
        }
    }
    assert_eq!(asked, 2);

    let written = written(&entries);
    let texts: Vec<&str> = written.iter().map(|(_, text)| text.as_str()).collect();
    // Lights aside, which the app does not use.
    let said: Vec<&str> = texts
        .into_iter()
        .filter(|text| !text.starts_with("25#"))
        .collect();
    let start = [
        "1#*", "S:po", "14#3*", "M:c8", "30#2000*", "14#1*", "M:c8", "S:po", "R:ISG", "0",
    ];
    assert_eq!(said[..start.len()], start);
    assert_eq!(said[start.len()..start.len() + PATHS.len()], PATHS);
}

#[test]
fn the_mate_is_told_to_the_board_as_the_makers_app_tells_it() {
    let entries = replayed();
    let mate = events(&entries)
        .find_map(|(at, event)| matches!(event, Event::Moved { ply: 23, .. }).then_some(at));
    let mate = mate.unwrap();
    let after: Vec<String> = written(&entries)
        .into_iter()
        .filter_map(|(at, text)| (at >= mate).then_some(text))
        .collect();
    assert_eq!(after, ["S:wt", "0", "14#3*"]);
}
