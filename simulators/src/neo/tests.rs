use super::*;
use crate::{HandAction, gesture::Style};
use shakmaty::{CastlingMode, Role, fen::Fen, uci::UciMove};

/// The person's moves of the captured game, the paths the app wrote, and the true occupancy after both (captured: the
/// table of plies).
const GAME: [(&str, Option<&str>, &str); 12] = [
    ("d2d4", Some("2,6:2,4.92|"), "C3C3C593C3C3C3C3"),
    ("c1f4", Some("2,5:2,3.92|"), "C3C34993C3D3C3C3"),
    ("e2e3", Some("3,6:3,3.92|"), "C3C34999A3D3C3C3"),
    (
        "g1f3",
        Some("6,7:5.5,6.5:5.5,5.5:4.92,4.92|"),
        "C3C34999A3F742C3",
    ),
    ("b1d2", Some("2,7:3.08,5.92|"), "C34348DBA3F742C3"),
    ("f3e5", Some("2,4:2,2.92|"), "C34350DBABD742C3"),
    ("f1e2", Some("3,6:4.08,4.92|"), "C34350D9EF5742C3"),
    ("c2c3", Some("5,5:6,5:7.08,3.92|"), "C34330D9EF5342CB"),
    ("d1a4", Some("3,7:3,5.92|"), "D343305AEF5342CB"),
    ("e5d7", Some("6,6:6,4.92|"), "D343305AE75344CB"),
    ("d7f6", Some("4,7:2.92,7|"), "D3433059E65744CB"),
    ("a4e8", None, "C3433059E75744CB"),
];

struct Rig {
    neo: Neo,
    now: Instant,
}

impl Rig {
    fn new(settings: Settings) -> Self {
        let (mut neo, now) = (Neo::new(settings), Instant::now());
        neo.connected(now);
        for characteristic in [ANSWERS, BATTERY, profile::SILENT, EVENTS, OCCUPANCY] {
            neo.subscribed(now, characteristic, true);
        }
        Self { neo, now }
    }

    fn write(&mut self, characteristic: Uuid, text: &str) {
        self.neo
            .write(self.now, characteristic, text.as_bytes())
            .unwrap();
    }

    /// Advances the time; returns the notifications, each with the seconds until it came.
    fn run(&mut self, seconds: f64) -> Vec<(f64, Uuid, String)> {
        let (from, end) = (self.now, self.now + Duration::from_secs_f64(seconds));
        let mut all = Vec::new();
        loop {
            while let Some((characteristic, value)) = self.neo.poll_notify() {
                let at = self.now.duration_since(from).as_secs_f64();
                let text = String::from_utf8_lossy(&value).into_owned();
                all.push((at, characteristic, text));
            }
            match self.neo.deadline().filter(|at| *at <= end) {
                Some(at) => self.now = at.max(self.now),
                None => break,
            }
            self.neo.timeout(self.now);
        }
        self.now = end;
        all
    }

    fn faults(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.neo.poll_report())
            .filter_map(|report| match report {
                Report::Fault(what) | Report::Refused(what) => Some(what),
                _ => None,
            })
            .collect()
    }

    fn found(&mut self, moves: &str) {
        let mut game = Game::standard();
        game.play_uci(moves.split_whitespace()).unwrap();
        self.neo.found(game);
    }
}

fn events(all: &[(f64, Uuid, String)]) -> Vec<&str> {
    all.iter()
        .filter(|(_, characteristic, _)| *characteristic == EVENTS)
        .map(|(_, _, text)| text.as_str())
        .collect()
}

fn last_string(all: &[(f64, Uuid, String)]) -> String {
    all.iter()
        .rfind(|(_, characteristic, _)| *characteristic == OCCUPANCY)
        .map(|(_, _, text)| text.clone())
        .unwrap()
}

/// `C3…` as ones and zeroes.
fn bits(hex: &str) -> String {
    format!("{:064b}", u64::from_str_radix(hex, 16).unwrap())
}

#[test]
fn the_captured_game_is_accepted_and_its_strings_are_the_true_ones() {
    let mut rig = Rig::new(Settings::default());
    assert_eq!(rig.neo.read(rig.now, profile::STARTED).unwrap(), b"100111");
    for (characteristic, text) in [
        (REQUESTS, "1#*"),
        (SIGNS, "S:po"),
        (REQUESTS, "14#3*"),
        (REQUESTS, "30#2000*"),
        (REQUESTS, "14#1*"),
        (SIGNS, "S:po"),
        (SIGNS, "R:ISG"),
        (GAME_SETTING, "0"),
    ] {
        rig.write(characteristic, text);
    }
    let heard = rig.run(5.0);
    assert!(heard.iter().any(|(_, _, text)| text == ADDRESS));
    for (m, path, hex) in GAME {
        let action = HandAction::Move(m.parse().unwrap());
        rig.neo.hand(rig.now, action);
        let heard = rig.run(6.0);
        assert_eq!(events(&heard).first(), Some(&&*format!("{}u", &m[..2])));
        assert_eq!(events(&heard).last(), Some(&&*format!("{}d", &m[2..])));
        let Some(path) = path else {
            assert_eq!(last_string(&heard), bits(hex));
            continue;
        };
        rig.write(PATHS, path);
        let heard = rig.run(10.0);
        assert_eq!(events(&heard), ["OK"], "{path}");
        assert_eq!(last_string(&heard), bits(hex), "{path}");
    }
    rig.write(SIGNS, "S:wt");
    rig.write(GAME_SETTING, "0");
    rig.write(REQUESTS, "14#3*");
    assert_eq!(rig.faults(), Vec::<String>::new());
    assert_eq!(rig.neo.game().len(), 23);
    assert!(rig.neo.is_settled());
}

#[test]
fn strings_come_every_two_seconds_are_silent_in_a_move_and_follow_its_ok() {
    let mut rig = Rig::new(Settings::default());
    let strings = |all: &[(f64, Uuid, String)]| -> Vec<f64> {
        all.iter()
            .filter(|(_, characteristic, _)| *characteristic == OCCUPANCY)
            .map(|(at, ..)| *at)
            .collect()
    };
    let heard = strings(&rig.run(100.0));
    assert!((48..=54).contains(&heard.len()), "{}", heard.len());
    rig.found("d2d4");
    rig.write(PATHS, "6,7:5.5,6.5:5.5,5.5:4.92,4.92|");
    let heard = rig.run(10.0);
    let ok = heard.iter().find(|(_, _, text)| text == "OK").unwrap().0;
    assert!((3.0..7.1).contains(&ok), "{ok}");
    let first = strings(&heard)[0];
    assert!((0.1..0.3).contains(&(first - ok)), "{first} {ok}");
}

#[test]
fn nothing_is_notified_that_was_not_subscribed() {
    let mut rig = Rig::new(Settings::default());
    rig.neo.disconnected(rig.now);
    rig.neo.connected(rig.now);
    rig.neo.subscribed(rig.now, OCCUPANCY, true);
    rig.write(REQUESTS, "1#*");
    rig.neo
        .hand(rig.now, HandAction::Move("e2e4".parse().unwrap()));
    let heard = rig.run(200.0);
    assert!(heard.iter().all(|(_, from, _)| *from == OCCUPANCY));
    rig.neo.subscribed(rig.now, ANSWERS, true);
    rig.neo.subscribed(rig.now, BATTERY, true);
    rig.write(REQUESTS, "30#R*");
    let heard = rig.run(130.0);
    let has = |text: &str| heard.iter().any(|(_, _, other)| other == text);
    let occupancy = format!("30#{}*", last_string(&heard));
    assert!(has(BATTERY_LEVEL.1) && has("L") && has(&occupancy));
}

#[test]
fn what_no_real_board_was_seen_to_understand_is_a_fault() {
    let mut rig = Rig::new(Settings {
        older_signs: false,
        ..Settings::default()
    });
    for (characteristic, text) in [
        (REQUESTS, "14#1"),
        (REQUESTS, "25#a1a2a3a4a5a6a7a8b"),
        (REQUESTS, "27#wt*"),
        (SIGNS, "S:xx"),
        (SIGNS, "M:a1"),
        (GAME_SETTING, "1"),
        (profile::STARTED, "1"),
        (PATHS, "2,6:2,4.92"),
        (PATHS, "e7e5"),
    ] {
        rig.write(characteristic, text);
        assert_eq!(rig.faults().len(), 1, "{text}");
    }
    assert!(rig.neo.write(rig.now, EVENTS, b"OK").is_err());
    assert!(rig.neo.read(rig.now, PATHS).is_err());
    assert!(!rig.neo.is_driving());
}

#[test]
fn a_path_into_a_piece_from_nowhere_or_during_another_is_a_fault() {
    let mut rig = Rig::new(Settings::default());
    for path in [
        "6,7:5,5|",
        "0,0:0,2.08|",
        "4,6:4,1|",
        "4,4:4,3|",
        "0,6:0,5.5:0.4,5.5:1.08,5.92|",
    ] {
        rig.write(PATHS, path);
        assert_eq!(rig.faults().len(), 1, "{path}");
        assert!(events(&rig.run(10.0)).contains(&"OK"), "{path}");
        assert!(rig.neo.is_settled(), "{path}");
    }
    rig.write(PATHS, "4,6:4,3.92|");
    rig.write(PATHS, "3,6:3,3.92|");
    rig.write(REQUESTS, "4#*");
    assert_eq!(rig.faults().len(), 2);
    assert_eq!(events(&rig.run(10.0)), ["OK"]);
}

#[test]
fn castling_and_a_parked_victim_are_understood_by_the_person() {
    let mut rig = Rig::new(Settings::default());
    rig.found("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5");
    for path in ["4,0:6.08,0|", "7,0:6.5,0.5:5.5,0.5:4.92,-0.08|"] {
        rig.write(PATHS, path);
        rig.run(10.0);
    }
    assert_eq!(
        rig.neo.game().last().map(crate::game::uci),
        Some(mv("e1g1"))
    );
    rig.found("e2e4 d7d5");
    for path in ["3,4:3,5:7.5,5:8.08,3|", "4,3:2.92,4.08|"] {
        rig.write(PATHS, path);
        rig.run(10.0);
    }
    assert_eq!(rig.faults(), Vec::<String>::new());
    assert_eq!(
        rig.neo.game().last().map(crate::game::uci),
        Some(mv("e4d5"))
    );
    let pawn = shakmaty::Color::Black.pawn();
    assert_eq!(rig.neo.parked(pawn), Some(Spot { x: 8, y: 3 }));
    for path in ["3,4:4.08,2.92|", "8,3:7.5,4.5:3,4.5:3,4|"] {
        rig.write(PATHS, path);
        rig.run(10.0);
    }
    assert_eq!(rig.faults(), Vec::<String>::new());
    assert_eq!(rig.neo.game().len(), 2);
    assert!(rig.neo.table().parked().is_empty());
}

#[test]
fn the_motor_says_nothing_of_a_link_that_was_lost_and_finishes_its_path() {
    let mut rig = Rig::new(Settings::default());
    rig.write(PATHS, "4,6:4,3.92|");
    rig.run(1.0);
    rig.neo.disconnected(rig.now);
    rig.run(1.0);
    rig.neo.connected(rig.now);
    rig.neo.subscribed(rig.now, OCCUPANCY, true);
    rig.run(10.0);
    let pawn = shakmaty::Color::Black.pawn();
    assert_eq!(
        rig.neo.table().board().piece_at(Square::E5),
        Some(pawn),
        "pawn"
    );
}

#[test]
fn a_person_executes_what_the_lamps_show_and_puts_what_is_missing() {
    let mut rig = Rig::new(Settings {
        hand_delay: Some(Duration::from_secs(1)),
        ..Settings::default()
    });
    rig.write(REQUESTS, "25#e2e4*");
    assert_eq!(rig.neo.shown().map(crate::game::uci), Some(mv("e2e4")));
    assert_eq!(events(&rig.run(5.0)), ["e2u", "e4d"]);
    assert_eq!(rig.neo.game().len(), 1);
    rig.neo.hand(rig.now, Hand::Lift(Square::C8));
    rig.run(1.0);
    rig.write(SIGNS, "M:c8");
    assert_eq!(events(&rig.run(5.0)), ["c8d"]);
    assert!(rig.neo.is_settled());
}

#[test]
fn a_person_puts_the_queen_where_a_pawn_was_parked() {
    let mut rig = Rig::new(Settings {
        hand_delay: Some(Duration::from_secs(1)),
        ..Settings::default()
    });
    let fen: Fen = "3r3k/4P3/8/8/8/8/8/K7 w - - 0 1".parse().unwrap();
    let start = fen.into_position(CastlingMode::Standard).unwrap();
    rig.neo.found(Game::from_start(start));
    for path in [
        "3,7:3.5,6.5:7.5,6.5:8.08,6|",
        "4,6:2.92,7.08|",
        "3,7:3.5,6.5:7.5,6.5:7.5,5:8.08,5|",
    ] {
        rig.write(PATHS, path);
        rig.run(10.0);
    }
    rig.write(SIGNS, "M:d8");
    assert_eq!(events(&rig.run(5.0)), ["d8d"]);
    assert_eq!(rig.faults(), Vec::<String>::new());
    assert_eq!(
        rig.neo.game().last().map(crate::game::uci),
        Some(mv("e7d8q"))
    );
}

#[test]
fn hands_take_back_arrange_and_begin_anew() {
    let mut rig = Rig::new(Settings::default());
    rig.found("e2e4 d7d5 e4d5 e7e5 d5e6");
    rig.neo.hand(rig.now, Hand::TakeBack(Style::default()));
    rig.neo.hand(rig.now, HandAction::TakeBack);
    rig.neo.hand(rig.now, HandAction::Wrong(mv("e7e6")));
    rig.run(30.0);
    assert_eq!(rig.neo.game().len(), 3);
    assert!(!rig.neo.is_settled());
    rig.neo.hand(rig.now, Hand::Restore);
    rig.run(30.0);
    assert!(rig.neo.is_settled());
    rig.neo.hand(rig.now, HandAction::NewGame);
    rig.run(60.0);
    assert!(rig.neo.is_settled() && rig.neo.game().is_empty());
    assert_eq!(rig.faults(), Vec::<String>::new());
}

#[test]
fn a_piece_is_carried_where_no_rule_allows_it_and_back() {
    let mut rig = Rig::new(Settings::default());
    rig.found("e2e4");
    let before = rig.neo.table().board().clone();
    rig.neo.hand(rig.now, HandAction::Wrong(mv("a1a5")));
    rig.run(5.0);
    assert!(rig.neo.table().board().piece_at(Square::A5).is_some());
    assert!(!rig.neo.is_settled());
    rig.neo.hand(rig.now, HandAction::Wrong(mv("a5a1")));
    rig.run(5.0);
    assert_eq!(*rig.neo.table().board(), before);
    assert!(rig.neo.is_settled());
}

#[test]
fn a_stuck_square_reads_empty_until_its_piece_is_lifted() {
    let mut rig = Rig::new(Settings {
        stuck_motor: 1.0,
        ..Settings::default()
    });
    rig.found("d2d4");
    rig.write(PATHS, "6,7:5.5,6.5:5.5,5.5:4.92,4.92|");
    let heard = rig.run(10.0);
    let g7 = |all: &[(f64, Uuid, String)]| last_string(all).as_bytes()[6 * 8 + 6];
    assert_eq!(g7(&heard), b'0');
    rig.neo.hand(rig.now, Hand::Adjust(Square::G7));
    assert_eq!(g7(&rig.run(5.0)), b'1');
}

fn mv(text: &str) -> UciMove {
    text.parse().unwrap()
}

#[test]
fn a_random_hand_promotes_to_queens_only() {
    let mut promotions = 0;
    for seed in 0..200 {
        let mut rig = Rig::new(Settings {
            seed,
            ..Settings::default()
        });
        rig.found("a2a4 b7b5 a4b5 a7a6 b5a6 h7h6 a6a7 h6h5");
        rig.neo.hand(rig.now, HandAction::Random);
        rig.run(10.0);
        let last = rig.neo.game().last().unwrap();
        assert!(matches!(last.promotion(), None | Some(Role::Queen)));
        promotions += usize::from(last.is_promotion());
    }
    assert!(promotions > 0);
}
