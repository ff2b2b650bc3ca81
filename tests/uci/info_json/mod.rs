//! The output for a GUI with `UCI_InfoJSON`: judged by a model GUI that reads only the lines.

mod gui;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use boardbridge::{
    chess::{
        game::Game,
        guidance::{Action, Picture as Stands, guide},
    },
    driver::ucb,
    front_end::uci::{
        info_json::{
            REFRESH,
            picture::{Picture, Table},
            text::KEYWORDS,
        },
        session::{self, GuiConversation},
    },
    vocabulary::{
        Advice, BoardName, ClientId, ClientPlace, Command, GameEnd, LinkState, Misplaced, Reason,
        Reported, Snapshot,
    },
};
use proptest::prelude::*;
use serde_json::{Value, json};
use shakmaty::{Bitboard, Board, Color, Piece, Position, Square};

use self::gui::ModelGui;

const CLIENT: ClientId = ClientId(7);
const LABEL: &str = "127.0.0.1:4242";
const PAGE: &str = include_str!("../../../docs/info-json.md");

/// A session connected to a model GUI, and a clock that only the test moves.
struct Desk {
    session: GuiConversation,
    gui: ModelGui,
    now: Instant,
    /// The number of the client's last target.
    number: u64,
    /// Every `info json` line.
    log: Vec<String>,
    other: Vec<String>,
}

impl Desk {
    fn new() -> Self {
        let boards = vec![name("neo"), name("citrine")];
        Self {
            session: GuiConversation::new(CLIENT, LABEL.into(), boards),
            gui: ModelGui::default(),
            now: Instant::now(),
            number: 0,
            log: Vec::new(),
            other: Vec::new(),
        }
    }

    /// With the option on.
    fn on() -> Self {
        let mut desk = Self::new();
        desk.says("setoption name UCI_InfoJSON value true");
        desk
    }

    fn says(&mut self, line: &str) -> Vec<String> {
        if line.starts_with("go") {
            self.gui.starts_thinking();
        }
        self.session.line(line, self.now);
        self.hears()
    }

    fn sees(&mut self, snapshot: &Arc<Snapshot>) -> Vec<String> {
        self.session.snapshot(snapshot, self.now);
        self.hears()
    }

    /// Advances the time until no more output follows; returns the output.
    fn rests(&mut self) -> Vec<String> {
        let mut heard = Vec::new();
        for _ in 0..8 {
            // Who waits for the board is reminded for ever.
            let reminder = self.now + session::REMINDER;
            let Some(deadline) = self.session.deadline().filter(|&at| at < reminder) else {
                self.now += REFRESH;
                return heard;
            };
            self.now = self.now.max(deadline);
            self.session.timeout(self.now);
            heard.extend(self.hears());
        }
        panic!("there is always something more to come");
    }

    /// `info json` lines since then, which the GUI has taken in.
    fn hears(&mut self) -> Vec<String> {
        let mut heard = Vec::new();
        while let Some(action) = self.session.poll_action() {
            match action {
                session::Action::Say(line) if line.starts_with("info json") => {
                    self.gui.takes(&line);
                    heard.push(line);
                }
                session::Action::Say(line) => self.other.push(line),
                session::Action::Ask(Command::Target { number, .. }) => self.number = number,
                _ => {}
            }
        }
        self.log.extend_from_slice(&heard);
        heard
    }

    /// A snapshot in which this client has the board.
    fn own(&self, change: impl FnOnce(&mut Snapshot)) -> Arc<Snapshot> {
        let mut snapshot = up("neo");
        snapshot.holders = vec![LABEL.into()];
        snapshot.awaiting = true;
        snapshot.places = vec![place(CLIENT, self.number, true)];
        change(&mut snapshot);
        Arc::new(snapshot)
    }

    fn shows(&self, picture: &Picture) {
        for Table { name, rows, .. } in &picture.tables {
            assert_eq!(json!(self.gui.rows(name)), json!(rows), "{name}");
        }
        assert_eq!(json!(self.gui.arrows), json!(picture.arrows));
        let bubbles: Vec<Value> = (self.gui.bubbles.iter())
            .map(|(cell, value)| json!({"cell": cell, "value": value}))
            .collect();
        assert_eq!(json!(bubbles), json!(picture.bubbles));
    }
}

fn name(text: &str) -> BoardName {
    text.parse().unwrap()
}

fn place(client: ClientId, number: u64, joined: bool) -> ClientPlace {
    ClientPlace {
        client,
        number,
        joined,
        put_out: false,
        answer: Vec::new(),
    }
}

fn up(board: &str) -> Snapshot {
    Snapshot {
        link: LinkState::Up,
        sure: true,
        ..Snapshot::new(name(board))
    }
}

fn game(moves: &str) -> Arc<Game> {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    Arc::new(game)
}

fn carry(piece: Option<char>, from: Option<Square>, to: Option<Square>) -> Action {
    Action {
        piece: piece.map(|c| Piece::from_char(c).unwrap()),
        from,
        to,
    }
}

/// A knight on g3 that belongs on f3, a surplus piece on e5, a rook that is missing on a1.
fn three_wrong() -> Arc<[Action]> {
    Arc::new([
        carry(Some('N'), Some(Square::G3), Some(Square::F3)),
        carry(None, Some(Square::E5), None),
        carry(Some('R'), None, Some(Square::A1)),
    ])
}

#[test]
fn the_option_is_offered_and_nothing_is_sent_unless_it_is_on() {
    let mut desk = Desk::new();
    desk.says("uci");
    let option = "option name UCI_InfoJSON type check default false";
    assert!(
        desk.other.iter().any(|line| line == option),
        "{:?}",
        desk.other
    );
    desk.says("position startpos");
    desk.says("go");
    let snapshot = desk.own(|s| s.guidance = three_wrong());
    assert!(desk.sees(&snapshot).is_empty());
    assert!(desk.rests().is_empty());
    desk.says("setoption name UCI_InfoJSON value perhaps");
    assert!(desk.rests().is_empty());
    assert_eq!(
        desk.other.last().unwrap(),
        "info string UCI_InfoJSON is true or false"
    );
}

#[test]
fn turned_on_in_mid_game_it_tells_how_things_stand_and_turned_off_it_is_silent_at_once() {
    let mut desk = Desk::new();
    desk.says("position startpos");
    desk.says("go");
    let snapshot = desk.own(|s| {
        s.guidance = three_wrong();
        s.game = game("e2e4 e7e5");
    });
    desk.sees(&snapshot);
    assert_eq!(desk.says("setoption name UCI_InfoJSON value true").len(), 5);
    desk.shows(&Picture::of(&snapshot, &LABEL.into()));
    let changed = desk.own(|s| s.battery = Some(3));
    assert!(desk.sees(&changed).is_empty(), "too soon");
    desk.says("setoption name uci_infojson value FALSE");
    assert!(desk.rests().is_empty());
    desk.says("setoption name UCI_InfoJSON value true");
    // Also what holds no longer is replaced.
    desk.shows(&Picture::of(&changed, &LABEL.into()));
}

#[test]
fn every_go_brings_everything_anew_and_between_them_only_changes_come() {
    let mut desk = Desk::on();
    let mut goes = Vec::new();
    for _ in 0..3 {
        desk.says("position startpos moves e2e4");
        desk.says("go");
        let snapshot = desk.own(|s| s.game = game("e2e4"));
        let mut heard = desk.sees(&snapshot);
        heard.extend(desk.rests());
        desk.shows(&Picture::of(&snapshot, &LABEL.into()));
        goes.push(heard);
        assert!(desk.sees(&snapshot).is_empty(), "nothing has changed");
        let row = desk.own(|s| {
            s.game = game("e2e4");
            s.battery = Some(73);
        });
        assert_eq!(
            desk.sees(&row),
            [r#"info json {"table":{"name":"Board","updatedby":"What","row":["Battery","73 %"]}}"#]
        );
        desk.rests();
    }
    assert_eq!(goes[0].len(), 2);
    assert!(goes.iter().all(|heard| *heard == goes[0]), "{goes:?}");
}

#[test]
fn what_was_from_before_go_is_not_shown_as_long_as_the_board_is_about_to_tell() {
    let mut desk = Desk::on();
    desk.says("position startpos");
    desk.says("go");
    let first = desk.own(|s| s.advice = Advice::YourMove(Color::White));
    desk.sees(&first);
    desk.rests();
    desk.says("position startpos moves e2e4 e7e5");
    desk.says("go");
    assert!(
        desk.sees(&first).is_empty(),
        "this is of the position before"
    );
    let second = desk.own(|s| s.game = game("e2e4 e7e5"));
    assert!(!desk.sees(&second).is_empty());
    desk.shows(&Picture::of(&second, &LABEL.into()));
    // A board that is held up is not waited for.
    desk.rests();
    desk.says("go");
    assert!(!desk.rests().is_empty());
    desk.shows(&Picture::of(&second, &LABEL.into()));
}

#[test]
fn a_piece_that_flickers_does_not_flood_and_its_rest_is_told() {
    let mut desk = Desk::on();
    let mut refreshes = 0;
    let began = desk.now;
    for step in 0..1000_u64 {
        desk.now = began + Duration::from_millis(step);
        let snapshot = desk.own(|s| {
            if step % 2 == 0 {
                s.guidance = three_wrong();
            }
        });
        refreshes += usize::from(!desk.sees(&snapshot).is_empty());
        if desk
            .session
            .deadline()
            .is_some_and(|deadline| deadline <= desk.now)
        {
            desk.session.timeout(desk.now);
            refreshes += usize::from(!desk.hears().is_empty());
        }
    }
    assert!(refreshes <= 5, "{refreshes} in a second");
    desk.rests();
    assert!(desk.gui.bubbles.is_empty());
}

#[test]
fn the_board_table_has_the_link_the_battery_the_firmware_and_what_is_to_be_done() {
    let mut desk = Desk::on();
    let snapshot = desk.own(|s| {
        s.link = LinkState::Down("there is no /dev/ttyUSB0: is the cable in?".to_owned());
        s.advice = Advice::NoLink("there is no /dev/ttyUSB0: is the cable in?".to_owned());
        s.id = Some("Neo 3.0.7".to_owned());
        s.battery = Some(73);
        s.holders.push("127.0.0.1:9".into());
        s.ending = Some(GameEnd::resigned(Color::Black));
    });
    desk.sees(&snapshot);
    let rows = [
        ["Board", "neo"],
        ["Link", "down: there is no /dev/ttyUSB0: is the cable in?"],
        ["Played by", "this program and 127.0.0.1:9"],
        ["To move", "White"],
        ["To do", "restore the link"],
        ["Misplaced pieces", "not known"],
        ["Firmware", "Neo 3.0.7"],
        ["Battery", "73 %"],
        ["The game is over", "Black resigned"],
    ];
    assert_eq!(json!(desk.gui.rows("Board")), json!(rows));
    desk.rests();
    let snapshot = desk.own(|s| {
        s.guidance = three_wrong();
        s.advice = Advice::YourMove(Color::White);
    });
    desk.sees(&snapshot);
    assert_eq!(
        desk.gui.state("Misplaced pieces").unwrap(),
        "3: g3, e5, 1 beside the board"
    );
    assert_eq!(
        desk.gui.state("To do").unwrap(),
        "White to move on the board"
    );
    assert_eq!(desk.gui.state("Battery"), None);
}

#[test]
fn of_many_pieces_off_their_squares_eight_are_named() {
    let mut desk = Desk::on();
    let set_up = |stands: &Board, wanted: &Board| guide(&Stands::from(stands.clone()), wanted);
    let kings: Board = "4k3/8/8/8/8/8/8/4K3".parse().unwrap();
    let snapshot = desk.own(|s| s.guidance = set_up(&Board::default(), &kings).into());
    desk.sees(&snapshot);
    assert_eq!(
        desk.gui.state("Misplaced pieces").unwrap(),
        "30: a1, b1, c1, d1, f1, g1, h1, a2 and 22 more"
    );
    desk.rests();
    let snapshot = desk.own(|s| s.guidance = set_up(&kings, &Board::default()).into());
    desk.sees(&snapshot);
    assert_eq!(
        desk.gui.state("Misplaced pieces").unwrap(),
        "30: 30 beside the board"
    );
}

#[test]
fn a_piece_that_is_parked_on_its_way_counts_once() {
    let mut desk = Desk::on();
    let snapshot = desk.own(|s| {
        s.guidance = Arc::new([
            carry(Some('N'), Some(Square::B1), None),
            carry(Some('B'), Some(Square::C1), Some(Square::B1)),
            carry(Some('N'), None, Some(Square::C1)),
        ]);
    });
    desk.sees(&snapshot);
    assert_eq!(desk.gui.state("Misplaced pieces").unwrap(), "2: b1, c1");
}

#[test]
fn the_set_up_table_has_a_row_a_carry_and_is_emptied_when_all_is_done() {
    let mut desk = Desk::on();
    let snapshot = desk.own(|s| s.guidance = three_wrong());
    desk.sees(&snapshot);
    let rows = json!([
        [1, "white knight", "g3", "f3"],
        [2, "piece", "e5", "beside the board"],
        [3, "white rook", "beside the board", "a1"],
    ]);
    assert_eq!(json!(desk.gui.rows("Set-up")), rows);
    assert_eq!(
        desk.gui.tables["Set-up"].header,
        ["No", "Piece", "From", "To"]
    );
    assert_eq!(desk.gui.arrows, ["g3f3"]);
    let bubbles = json!([["g3", "to f3"], ["f3", "N"], ["e5", "off"], ["a1", "put R"],]);
    assert_eq!(json!(desk.gui.bubbles), bubbles);
    desk.rests();
    let snapshot = desk.own(|_| {});
    desk.sees(&snapshot);
    assert!(desk.gui.rows("Set-up").is_empty());
    assert!(desk.gui.arrows.is_empty());
    assert!(desk.gui.bubbles.is_empty());
}

#[test]
fn a_square_to_be_cleared_for_another_piece_says_both() {
    let mut desk = Desk::on();
    let snapshot = desk.own(|s| {
        s.guidance = Arc::new([
            carry(Some('p'), Some(Square::E4), Some(Square::E5)),
            carry(Some('P'), Some(Square::E3), Some(Square::E4)),
        ]);
    });
    desk.sees(&snapshot);
    let bubbles = json!([["e4", ["to e5", "P"]], ["e5", "p"], ["e3", "to e4"]]);
    assert_eq!(json!(desk.gui.bubbles), bubbles);
}

#[test]
fn the_moves_table_grows_by_rows_and_is_replaced_after_a_take_back() {
    let mut desk = Desk::on();
    let moved = |desk: &Desk, moves: &str, took: &[Option<u64>]| {
        desk.own(|s| {
            s.game = game(moves);
            s.took = took.iter().map(|t| t.map(Duration::from_millis)).collect();
        })
    };
    let snapshot = moved(&desk, "e2e4 e7e5 g1f3", &[Some(4249), None, Some(12_000)]);
    desk.sees(&snapshot);
    let rows = json!([[1, "1. e4", 4.2], [2, "1... e5", ""], [3, "2. Nf3", 12.0]]);
    assert_eq!(json!(desk.gui.rows("Moves")), rows);
    desk.rests();
    let snapshot = moved(
        &desk,
        "e2e4 e7e5 g1f3 b8c6",
        &[Some(4249), None, Some(12_000), None],
    );
    let heard = desk.sees(&snapshot);
    let added = r#"info json {"table":{"name":"Moves","updatedby":"Ply","row":[4,"2... Nc6",""]}}"#;
    assert!(heard.iter().any(|line| line == added), "{heard:?}");
    desk.rests();
    for moves in ["e2e4 e7e5", "d2d4", ""] {
        let snapshot = moved(&desk, moves, &[]);
        desk.sees(&snapshot);
        desk.shows(&Picture::of(&snapshot, &LABEL.into()));
        desk.rests();
    }
    assert!(desk.gui.rows("Moves").is_empty());
}

#[test]
fn a_game_longer_than_a_line_comes_whole() {
    let mut desk = Desk::on();
    let shuffle = "g1f3 g8f6 f3g1 f6g8 ".repeat(60);
    let snapshot = desk.own(|s| s.game = game(&shuffle));
    desk.sees(&snapshot);
    assert_eq!(desk.gui.rows("Moves").len(), 240);
    desk.shows(&Picture::of(&snapshot, &LABEL.into()));
}

#[test]
fn arrows_show_the_move_to_be_made_and_the_one_to_be_taken_back() {
    let castled = game("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 d2d3 e8g8");
    let white = castled.moves()[6];
    let black = castled.moves()[9];
    let plain = castled.moves()[0];
    let wrong = Reported::squares(Square::A1, Square::H7, None);
    for (advice, arrows) in [
        (Advice::Make(plain), vec!["e2e4"]),
        (
            Advice::Shown {
                m: plain,
                awaited: true,
            },
            vec!["e2e4"],
        ),
        (
            Advice::PutBack {
                made: plain,
                takes_back: true,
            },
            vec!["e2e4"],
        ),
        (Advice::TakeBack(plain), vec!["e4e2"]),
        (Advice::Make(white), vec!["e1g1", "h1f1"]),
        (Advice::TakeBack(black), vec!["g8e8", "f8h8"]),
        (
            Advice::Mistake {
                made: wrong,
                expected: Some(plain),
            },
            vec!["e2e4"],
        ),
        (
            Advice::Mistake {
                made: wrong,
                expected: None,
            },
            vec!["h7a1"],
        ),
        (Advice::YourMove(Color::White), vec![]),
    ] {
        let mut desk = Desk::on();
        let snapshot = desk.own(|s| s.advice = advice);
        desk.sees(&snapshot);
        assert_eq!(desk.gui.arrows, arrows);
    }
}

#[test]
fn one_who_waits_sees_who_has_the_board_and_nothing_of_the_others_game() {
    let mut desk = Desk::on();
    desk.says("position startpos moves d2d4");
    desk.says("go");
    let others = desk.own(|s| {
        s.holders = vec!["127.0.0.1:9".into()];
        s.places = vec![place(ClientId(9), 1, true), place(CLIENT, 1, false)];
        s.guidance = three_wrong();
        s.game = game("e2e4");
        s.advice = Advice::Make(game("e2e4").moves()[0]);
    });
    desk.sees(&others);
    let rows = json!([
        ["Board", "neo"],
        ["Link", "up"],
        ["Played by", "127.0.0.1:9"],
        ["To do", "wait until the board is free"],
    ]);
    assert_eq!(json!(desk.gui.rows("Board")), rows);
    assert!(
        desk.gui.tables.len() == 1 && desk.gui.arrows.is_empty() && desk.gui.bubbles.is_empty()
    );
    // And when it gets the board, everything.
    desk.rests();
    let own = desk.own(|s| s.guidance = three_wrong());
    desk.sees(&own);
    desk.shows(&Picture::of(&own, &LABEL.into()));
}

#[test]
fn another_boards_snapshots_are_not_shown_and_the_board_left_is_cleared() {
    let mut desk = Desk::on();
    let neo = desk.own(|s| s.guidance = three_wrong());
    desk.sees(&neo);
    desk.rests();
    desk.says("setoption name Board value citrine");
    assert!(desk.sees(&neo).is_empty());
    let citrine = Arc::new(up("citrine"));
    desk.sees(&citrine);
    desk.rests();
    desk.shows(&Picture::of(&citrine, &LABEL.into()));
    desk.says("setoption name Board value none");
    desk.rests();
    desk.shows(&Picture::default());
}

/// Misplaced pieces of any kind are reported.
fn misplaced() -> Misplaced {
    Misplaced {
        lacking: Vec::new(),
        surplus: Bitboard::EMPTY,
        stands: Stands::from(Board::empty()),
        wanted: Board::new(),
    }
}

/// A game on a Neo as described in `docs/info-json.md`.
fn story() -> Vec<String> {
    let mut desk = Desk::on();
    let neo = |s: &mut Snapshot| {
        s.id = Some("3.0.7".to_owned());
        s.battery = Some(73);
        s.advice = Advice::YourMove(Color::White);
    };
    desk.says("position startpos");
    desk.says("go");
    let state = desk.own(neo);
    desk.sees(&state);
    desk.rests();
    let state = desk.own(|s| {
        neo(s);
        s.game = game("e2e4");
        s.took = Arc::new([Some(Duration::from_millis(4230))]);
        s.advice = Advice::Nothing;
    });
    desk.sees(&state);
    desk.rests();
    desk.says("position startpos moves e2e4 e7e5");
    desk.says("go");
    let shown = |s: &mut Snapshot| {
        neo(s);
        s.game = game("e2e4 e7e5");
        s.took = Arc::new([Some(Duration::from_millis(4230)), None]);
    };
    let state = desk.own(|s| {
        shown(s);
        s.advice = Advice::Make(game("e2e4 e7e5").moves()[1]);
    });
    desk.sees(&state);
    desk.rests();
    let state = desk.own(shown);
    desk.sees(&state);
    desk.rests();
    let state = desk.own(|s| {
        shown(s);
        s.advice = Advice::Misplaced(misplaced());
        s.guidance = Arc::new([
            carry(Some('N'), Some(Square::G3), Some(Square::G1)),
            carry(Some('p'), Some(Square::D6), None),
            carry(Some('R'), None, Some(Square::A1)),
        ]);
    });
    desk.sees(&state);
    desk.rests();
    let state = desk.own(|s| {
        shown(s);
        s.battery = Some(72);
    });
    desk.sees(&state);
    desk.rests();
    let state = desk.own(|s| {
        shown(s);
        s.battery = Some(72);
        s.id = Some("Zürich pv 2".to_owned());
        s.holders = vec!["the WhitePawn app (tcp 127.0.0.1:9690)".into()];
        s.places = vec![place(CLIENT, desk.number, false)];
    });
    desk.sees(&state);
    desk.log
}

#[test]
fn the_page_shows_lines_that_are_sent() {
    let story = story();
    let page: Vec<&str> = PAGE
        .lines()
        .filter_map(|line| line.strip_prefix("    info json"))
        .collect();
    let story: Vec<&str> = story
        .iter()
        .filter_map(|line| line.strip_prefix("info json"))
        .collect();
    assert_eq!(
        page,
        story,
        "docs/info-json.md; sent is:\n{}",
        story.join("\n")
    );
    for word in KEYWORDS {
        assert!(PAGE.contains(&format!("`{word}`")), "the page lacks {word}");
    }
    assert!(PAGE.contains(&format!("{} ms", REFRESH.as_millis())));
}

// Anything at any time.

/// What a session may encounter.
#[derive(Clone, Debug)]
enum Act {
    Switch(bool),
    Go(Vec<usize>),
    Stop,
    Board(&'static str),
    Snapshot(Box<Any>),
    Waits(u64),
}

/// The parts of a snapshot.
#[derive(Clone, Debug)]
struct Any {
    moves: Vec<usize>,
    took: Vec<Option<u64>>,
    guidance: Vec<(Option<char>, Option<u8>, Option<u8>)>,
    advice: (u8, String),
    link: (u8, String),
    id: Option<String>,
    battery: Option<u8>,
    holders: Vec<String>,
    stand: u8,
    ending: Option<bool>,
}

fn played(choices: &[usize]) -> Game {
    let mut game = Game::standard();
    for choice in choices {
        let legal = game.position().legal_moves();
        if !legal.is_empty() {
            game.push(legal[choice % legal.len()]);
        }
    }
    game
}

impl Any {
    fn snapshot(&self, board: &str, number: u64) -> Snapshot {
        let game = played(&self.moves);
        let square = |n: Option<u8>| n.map(|n| Square::new(u32::from(n % 64)));
        let text = self.advice.1.clone();
        let last = game.last();
        let (place_now, holders) = match self.stand % 4 {
            0 => (vec![], vec![]),
            1 => (vec![place(CLIENT, number, false)], self.holders.clone()),
            2 => (vec![place(ClientId(1), 3, true)], self.holders.clone()),
            _ => (vec![place(CLIENT, number, true)], vec![LABEL.to_owned()]),
        };
        let mut snapshot = up(board);
        snapshot.took = self
            .took
            .iter()
            .map(|t| t.map(Duration::from_millis))
            .collect();
        snapshot.guidance = (self.guidance.iter())
            .map(|(piece, from, to)| carry(*piece, square(*from), square(*to)))
            .collect();
        snapshot.advice = match (self.advice.0 % 9, last) {
            (0, Some(m)) => Advice::Make(m),
            (8, Some(m)) => Advice::Shown { m, awaited: false },
            (1, Some(m)) => Advice::TakeBack(m),
            (2, Some(made)) => Advice::PutBack {
                made,
                takes_back: true,
            },
            (3, _) => Advice::NoLink(text),
            (4, _) => Advice::SetUpByHand(game.fen()),
            (5, last) => Advice::Mistake {
                made: Reported::squares(Square::A1, Square::H7, None),
                expected: last,
            },
            (6, _) => Advice::YourMove(game.turn()),
            _ => Advice::Nothing,
        };
        snapshot.link = match self.link.0 % 7 {
            0 => LinkState::Down(self.link.1.clone()),
            1 => LinkState::Asking {
                why: Some(self.link.1.clone()),
            },
            2 => LinkState::Silent { garbled: false },
            3 => LinkState::Silent { garbled: true },
            4 => LinkState::Unheard { garbled: false },
            5 => LinkState::Stranger(ucb::KIND),
            _ => LinkState::Up,
        };
        snapshot.id.clone_from(&self.id);
        snapshot.battery = self.battery;
        snapshot.holders = holders.iter().map(|h| h.as_str().into()).collect();
        snapshot.awaiting = self.stand > 100;
        snapshot.places = place_now;
        snapshot.ending = self.ending.map(|mate| {
            if mate {
                GameEnd::won(Reason::Checkmate, Color::White)
            } else {
                GameEnd::AGREED
            }
        });
        snapshot.game = Arc::new(game);
        snapshot
    }

    fn is_own(&self) -> bool {
        matches!(self.stand % 4, 0 | 3)
    }
}

/// Hostile firmware versions, errors and names.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(KEYWORDS.to_vec()).prop_map(str::to_owned),
        2 => Just(" ".to_owned()),
        1 => prop::sample::select(vec!["\"", "\\", "\n", "\u{0}", "{\"table\":", "}", "TIME", "é", "♞", "🐴"]).prop_map(str::to_owned),
        1 => "\\PC{0,8}",
        1 => "[a-z ]{0,300}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn any_snapshot() -> impl Strategy<Value = Any> {
    let small = (
        prop::collection::vec(any::<usize>(), 0..90),
        prop::collection::vec(prop::option::of(0..10_000_000_u64), 0..90),
        prop::collection::vec(
            (
                prop::option::of(prop::sample::select(
                    "PNBRQKpnbrqk".chars().collect::<Vec<_>>(),
                )),
                prop::option::of(0..64_u8),
                prop::option::of(0..64_u8),
            ),
            0..6,
        ),
        (any::<u8>(), hostile()),
        (any::<u8>(), hostile()),
    );
    let rest = (
        prop::option::of(hostile()),
        prop::option::of(0..=100_u8),
        prop::collection::vec(hostile(), 1..3),
        any::<u8>(),
        prop::option::of(any::<bool>()),
    );
    (small, rest).prop_map(
        |((moves, took, guidance, advice, link), (id, battery, holders, stand, ending))| Any {
            moves,
            took,
            guidance,
            advice,
            link,
            id,
            battery,
            holders,
            stand,
            ending,
        },
    )
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => prop::bool::weighted(0.8).prop_map(Act::Switch),
        3 => prop::collection::vec(any::<usize>(), 0..6).prop_map(Act::Go),
        1 => Just(Act::Stop),
        1 => prop::sample::select(vec!["neo", "citrine"]).prop_map(Act::Board),
        8 => any_snapshot().prop_map(|any| Act::Snapshot(Box::new(any))),
        4 => (0..400_u64).prop_map(Act::Waits),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_gui_that_reads_the_lines_alone_shows_the_board_as_it_is(
        acts in prop::collection::vec(act(), 1..40)
    ) {
        let mut desk = Desk::on();
        let mut on = true;
        let mut board = "neo";
        let mut expected = Picture::default();
        let mut last_refresh: Option<Instant> = None;
        for act in acts {
            let mut switched = false;
            let heard = match act {
                Act::Switch(now_on) => {
                    switched = now_on && !on;
                    on = now_on;
                    if !on {
                        desk.gui.switches_off();
                    }
                    desk.says(&format!("setoption name UCI_InfoJSON value {on}"))
                }
                Act::Go(choices) => {
                    let game = played(&choices);
                    let heard = desk.says(&format!("position {game}"));
                    prop_assert!(heard.is_empty());
                    desk.says("go")
                }
                Act::Stop => desk.says("stop"),
                Act::Board(name) => {
                    if name != board {
                        board = name;
                        expected = Picture::default();
                    }
                    desk.says(&format!("setoption name Board value {name}"))
                }
                Act::Snapshot(any) => {
                    let snapshot = Arc::new(any.snapshot(board, desk.number));
                    expected = if any.is_own() {
                        Picture::of(&snapshot, &LABEL.into())
                    } else {
                        Picture::from_afar(&snapshot, &LABEL.into())
                    };
                    desk.sees(&snapshot)
                }
                Act::Waits(ms) => {
                    desk.now += Duration::from_millis(ms);
                    desk.session.timeout(desk.now);
                    desk.hears()
                }
            };
            prop_assert!(on || heard.is_empty());
            if !heard.is_empty() {
                let rested = last_refresh.is_none_or(|last| desk.now >= last + REFRESH);
                prop_assert!(rested || switched, "too often");
                last_refresh = Some(desk.now);
            }
        }
        let heard = desk.rests();
        prop_assert!(on || heard.is_empty());
        if on {
            desk.shows(&expected);
        }
    }
}
