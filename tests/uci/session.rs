//! The messages to a GUI, and their times: a session without I/O, and a clock that only the test moves.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use boardbridge::{
    chess::{
        game::{Game, uci},
        guidance::{Action, Picture, guide},
    },
    front_end::uci::{
        command::ALIVE,
        info_json::NOTICE,
        relay::session::ALIVE_EVERY,
        session::{self, ALIVE_WAIT, GuiConversation, REMINDER},
        throttle::{INSTANT, PROGRESS},
    },
    vocabulary::{
        Advice, BoardName, BoardResult, ClientId, ClientPlace, Command, GameEnd, Judge, LinkState,
        Misplaced, Reported, Snapshot,
    },
};
use shakmaty::{Board, Color, Move, Position, Square};

const CLIENT: ClientId = ClientId(7);
const LABEL: &str = "127.0.0.1:4242";

struct Desk {
    session: GuiConversation,
    now: Instant,
    number: u64,
}

impl Desk {
    /// A GUI that waits for the player's move.
    fn new() -> Self {
        let boards = vec![name("ucb"), name("neo")];
        let mut desk = Self {
            session: GuiConversation::new(CLIENT, LABEL.into(), boards),
            now: Instant::now(),
            number: 0,
        };
        desk.says("position startpos");
        desk.says("go infinite");
        desk
    }

    fn says(&mut self, line: &str) -> Vec<String> {
        self.session.line(line, self.now);
        self.hears()
    }

    fn sees(&mut self, snapshot: &Snapshot) -> Vec<String> {
        self.session.snapshot(&Arc::new(snapshot.clone()), self.now);
        self.hears()
    }

    /// The output within this time, and when it came.
    fn waits(&mut self, time: Duration) -> Vec<String> {
        let until = self.now + time;
        let mut heard = Vec::new();
        while let Some(deadline) = self.session.deadline().filter(|at| *at <= until) {
            self.now = self.now.max(deadline);
            self.session.timeout(self.now);
            heard.extend(self.hears());
        }
        self.now = until;
        heard
    }

    fn hears(&mut self) -> Vec<String> {
        let mut heard = Vec::new();
        while let Some(action) = self.session.poll_action() {
            match action {
                session::Action::Say(line) => {
                    heard.push(line.trim_start_matches("info string ").to_owned());
                }
                session::Action::Ask(Command::Target { number, .. }) => self.number = number,
                _ => {}
            }
        }
        heard
    }

    /// The board is this GUI's, or it waits for it.
    fn at(&self, board: &str, joined: bool) -> Snapshot {
        Snapshot {
            link: LinkState::Up,
            sure: true,
            awaiting: true,
            holders: vec![if joined { LABEL } else { "the app" }.into()],
            places: vec![ClientPlace {
                client: CLIENT,
                number: self.number,
                joined,
                put_out: false,
                answer: Vec::new(),
            }],
            ..Snapshot::new(name(board))
        }
    }

    fn own(&self, advice: Advice, guidance: &[Action]) -> Snapshot {
        Snapshot {
            advice,
            guidance: guidance.into(),
            ..self.at("ucb", true)
        }
    }
}

fn name(text: &str) -> BoardName {
    text.parse().unwrap()
}

fn board(fen: &str) -> Board {
    fen.parse().unwrap()
}

/// A correction, as seen by a board of sensors.
fn misplaced(stands: &Board, wanted: &Board) -> Advice {
    let stands = Picture::from(stands.clone());
    Advice::Misplaced(Misplaced {
        stands,
        wanted: wanted.clone(),
        ..Misplaced::default()
    })
}

/// All pieces but four are cleared, one by one.
fn clearing() -> (Board, Vec<Square>) {
    let wanted = board("4k3/8/8/8/8/8/4P3/4K3");
    let surplus = Board::default().occupied() & !wanted.occupied();
    (wanted, surplus.into_iter().collect())
}

#[test]
fn one_who_waits_is_not_told_to_end_the_others_game() {
    let mut desk = Desk::new();
    let mut snapshot = desk.at("ucb", false);
    desk.sees(&snapshot);
    assert!(desk.waits(NOTICE)[0].contains("is in another game, with the app"));
    snapshot.ending = Some(GameEnd::AGREED);
    snapshot.judge = Some(Judge::Hand);
    snapshot.result = Some(BoardResult::Stalemate);
    assert_eq!(desk.sees(&snapshot), [""; 0]);
    // Nor when it gets the board: that is over.
    snapshot.places[0].joined = true;
    assert_eq!(desk.sees(&snapshot), [""; 0]);
}

#[test]
fn one_who_waits_is_reminded_why_and_what_to_do_as_long_as_it_awaits_a_move() {
    let mut desk = Desk::new();
    let mut snapshot = desk.at("ucb", false);
    // It may get the board as soon as that notices the `go`.
    assert_eq!(desk.sees(&snapshot), [""; 0]);
    let said = desk.waits(NOTICE);
    assert!(said[0].contains("`boardbridge release ucb`"), "{said:?}");
    assert!(desk.waits(REMINDER - PROGRESS).is_empty());
    assert_eq!(desk.waits(PROGRESS), said);
    // With the client that has the board by then.
    snapshot.holders = vec!["192.168.1.7:4242".into()];
    assert_eq!(desk.sees(&snapshot), [""; 0]);
    let said = desk.waits(2 * REMINDER);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[1].contains("with 192.168.1.7:4242"), "{said:?}");
    desk.says("stop");
    assert_eq!(desk.waits(2 * REMINDER), [""; 0]);
    assert_eq!(desk.session.deadline(), None);
    // A new search is told at once. Nobody is once it has the board.
    desk.says("position startpos");
    desk.says("go infinite");
    desk.sees(&desk.at("ucb", false));
    assert_eq!(desk.waits(NOTICE).len(), 1);
    assert_eq!(desk.sees(&desk.at("ucb", true)), [""; 0]);
    assert_eq!(desk.waits(2 * REMINDER), [""; 0]);
}

#[test]
fn who_turns_to_another_board_waits_no_more_for_the_first() {
    let mut desk = Desk::new();
    desk.sees(&desk.at("ucb", false));
    desk.waits(NOTICE);
    desk.says("setoption name Board value neo");
    desk.says("position startpos");
    desk.says("go infinite");
    let mut game = Game::standard();
    game.play_uci(["e2e4"]).unwrap();
    let snapshot = Snapshot {
        game: Arc::new(game),
        ..desk.at("neo", false)
    };
    assert_eq!(desk.sees(&snapshot), [""; 0]);
    let said = desk.waits(NOTICE);
    assert!(said[0].contains("waiting for neo"), "{said:?}");
}

#[test]
fn who_has_the_board_is_told_of_the_kings_and_of_the_boards_word_once() {
    let mut desk = Desk::new();
    let mut snapshot = desk.at("ucb", true);
    assert_eq!(desk.sees(&snapshot), [""; 0]);
    snapshot.ending = Some(GameEnd::resigned(Color::White));
    snapshot.judge = Some(Judge::Hand);
    snapshot.result = Some(BoardResult::Stalemate);
    let said = desk.sees(&snapshot);
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(said[0], "the board says: stalemate");
    assert!(said[1].contains("End it in the program too"), "{said:?}");
    assert_eq!(desk.sees(&snapshot), [""; 0]);
}

#[test]
fn the_same_result_on_the_next_board_is_told_again() {
    let mut desk = Desk::new();
    let result = |desk: &mut Desk, board: &str| {
        let mut snapshot = desk.at(board, true);
        snapshot.result = Some(BoardResult::Stalemate);
        desk.sees(&snapshot)
    };
    assert_eq!(result(&mut desk, "ucb"), ["the board says: stalemate"]);
    desk.says("setoption name Board value neo");
    desk.says("position startpos");
    desk.says("go infinite");
    assert_eq!(result(&mut desk, "neo"), ["the board says: stalemate"]);
}

#[test]
fn who_waited_for_the_board_is_told_what_to_do_once_it_has_it() {
    let mut desk = Desk::new();
    let mut snapshot = desk.at("ucb", false);
    snapshot.advice = Advice::YourMove(Color::White);
    desk.sees(&snapshot);
    desk.now += PROGRESS;
    snapshot.places[0].joined = true;
    assert_eq!(desk.sees(&snapshot), ["ucb: White to move on the board"]);
}

#[test]
fn pieces_cleared_one_by_one_are_told_now_and_then_and_the_last_state_in_the_end() {
    let mut desk = Desk::new();
    let (wanted, squares) = clearing();
    let mut stands = Board::default();
    let mut told = Vec::new();
    // All but the last four, five a second.
    for square in &squares[..squares.len() - 4] {
        let list = guide(&Picture::from(stands.clone()), &wanted);
        told.extend(desk.sees(&desk.own(misplaced(&stands, &wanted), &list)));
        told.extend(desk.waits(Duration::from_millis(200)));
        stands.discard_piece_at(*square);
    }
    assert!((3..=4).contains(&told.len()), "{told:#?}");
    assert_eq!(
        told[0],
        "ucb: to put the pieces right, clear a1, b1, c1, d1, f1, g1, h1 and a2, and 21 more"
    );
    let list = guide(&Picture::from(stands.clone()), &wanted);
    let mut last = desk.sees(&desk.own(misplaced(&stands, &wanted), &list));
    last.extend(desk.waits(10 * PROGRESS));
    assert_eq!(last, ["ucb: clear d8, f8, g8 and h8"]);
    // And that nothing is left needs no word.
    assert_eq!(
        desk.sees(&desk.own(misplaced(&wanted, &wanted), &[])),
        [""; 0]
    );
    assert_eq!(desk.waits(10 * PROGRESS), [""; 0]);
}

#[test]
fn a_loose_sensor_is_told_every_two_seconds_at_most_and_how_it_came_to_rest() {
    let mut desk = Desk::new();
    let wanted = Board::default();
    let mut stands = wanted.clone();
    stands.discard_piece_at(Square::E2);
    let list = guide(&Picture::from(stands.clone()), &wanted);
    let mut told = Vec::new();
    for step in 0..100 {
        let snapshot = if step % 2 == 0 {
            desk.own(misplaced(&stands, &wanted), &list)
        } else {
            desk.own(Advice::YourMove(Color::White), &[])
        };
        told.extend(desk.sees(&snapshot));
        told.extend(desk.waits(Duration::from_millis(100)));
    }
    // Ten seconds, two things to say.
    assert!((4..=12).contains(&told.len()), "{told:#?}");
    told.extend(desk.sees(&desk.own(misplaced(&stands, &wanted), &list)));
    told.extend(desk.waits(10 * PROGRESS));
    assert_eq!(
        told.last().unwrap(),
        "ucb: to put the pieces right, put the white pawn on e2"
    );
}

#[test]
fn what_is_new_is_told_at_once() {
    let mut desk = Desk::new();
    let mut game = Game::standard();
    game.play_uci(["e2e4", "e7e5"]).unwrap();
    let [e4, e5] = [game.moves()[0], game.moves()[1]];
    let castling = Move::Castle {
        king: Square::E8,
        rook: Square::B8,
    };
    for (advice, words) in [
        (Advice::YourMove(Color::White), "White to move on the board"),
        (Advice::Make(e4), "make the move e2e4 on the board"),
        (
            Advice::Make(castling),
            "castle on the board: king e8 to c8, rook b8 to d8",
        ),
        (Advice::Make(e5), "make the move e7e5 on the board"),
        (
            Advice::Shown {
                m: e5,
                awaited: true,
            },
            "shown: e7e5. Make it if you have not, then your move.",
        ),
        (
            Advice::PutBack {
                made: e4,
                takes_back: true,
            },
            "e2e4 was taken back on the board, but it still stands in the game: make e2e4 again, or take it back there \
             too",
        ),
    ] {
        let said = desk.sees(&desk.own(advice, &[]));
        assert_eq!(said, [format!("ucb: {words}")]);
    }
    // A `go` is told what to do, however short ago that was, but nothing is told twice at once.
    desk.waits(INSTANT);
    let your_move = Advice::YourMove(Color::White);
    for _ in 0..2 {
        desk.says("go infinite");
        assert_eq!(desk.sees(&desk.own(your_move.clone(), &[])).len(), 1);
        desk.says("go infinite");
        assert_eq!(desk.sees(&desk.own(your_move.clone(), &[])), [""; 0]);
        assert_eq!(desk.waits(INSTANT), ["ucb: White to move on the board"]);
        assert_eq!(desk.waits(10 * PROGRESS), [""; 0]);
    }
}

#[test]
fn a_go_is_told_what_to_do_once() {
    let mut desk = Desk::new();
    let make = Advice::Make(Game::standard().position().legal_moves()[0]);
    // The board has noticed the position, and then that a move is awaited.
    let before = Snapshot {
        awaiting: false,
        ..desk.own(make.clone(), &[])
    };
    assert_eq!(desk.sees(&before), [""; 0]);
    let unheard = Snapshot {
        link: LinkState::Unheard { garbled: false },
        ..desk.own(make, &[])
    };
    let said = desk.sees(&unheard);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[1].contains("nothing heard yet"), "{said:?}");
    let next = Snapshot {
        link: unheard.link.clone(),
        ..desk.own(Advice::YourMove(Color::White), &[])
    };
    assert_eq!(desk.sees(&next), ["ucb: White to move on the board"]);
    assert_eq!(desk.waits(10 * PROGRESS), [""; 0]);
}

/// Some GUIs show nothing between two searches: xboard, by polyglot.
#[test]
fn a_take_back_by_hand_while_the_program_thinks_is_told_in_its_next_search_too() {
    let mut game = Game::standard();
    game.play_uci(["e2e4"]).unwrap();
    let e4 = game.last().unwrap();
    for (next, board, told) in [
        ("e2e4 e7e5", "", true),
        ("e2e4 e7e5", "e2e4", false),
        ("d2d4 d7d5", "", false),
    ] {
        let mut desk = Desk::new();
        desk.says("stop");
        desk.says("position startpos");
        desk.says("go wtime 900000");
        let mut snapshot = desk.at("ucb", true);
        snapshot.places[0].answer = vec![e4];
        desk.sees(&snapshot);
        let put_back = Advice::PutBack {
            made: e4,
            takes_back: true,
        };
        let taken_back = Snapshot {
            target: Some(Arc::new(game.clone())),
            awaiting: false,
            ..desk.own(put_back, &[])
        };
        assert_eq!(desk.sees(&taken_back).len(), 1);
        desk.waits(PROGRESS);
        desk.says(&format!("position startpos moves {next}"));
        desk.says("go wtime 900000");
        let mut stands = Game::standard();
        stands.play_uci(board.split_whitespace()).unwrap();
        let next = Snapshot {
            game: Arc::new(stands),
            ..desk.own(Advice::Make(e4), &[])
        };
        let said = desk.sees(&next);
        let again = "ucb: e2e4 was taken back on the board, but it stands in the program's game";
        assert_eq!(said.len(), 1 + usize::from(told), "{said:?}");
        assert_eq!(
            said.last().is_some_and(|line| line == again),
            told,
            "{said:?}"
        );
        assert_eq!(desk.says("stop"), ["bestmove 0000"]);
    }
}

#[test]
fn the_board_is_told_the_clocks_of_a_game_and_that_there_are_none() {
    let mut session = GuiConversation::new(CLIENT, LABEL.into(), vec![name("ucb")]);
    for line in [
        "position startpos moves e2e4",
        "go wtime 60000 btime 61500 winc 1000 binc 1000",
        "stop",
        "go ponder wtime 60000 btime 60000",
        "stop",
        "go movetime 1000",
    ] {
        session.line(line, Instant::now());
    }
    let actions = std::iter::from_fn(|| session.poll_action());
    let asked = actions.filter_map(|action| match action {
        session::Action::Ask(command @ Command::Clocks { .. }) => Some(command.to_string()),
        _ => None,
    });
    let asked: Vec<String> = asked.collect();
    assert_eq!(asked, ["clocks 7 60 61.5 black", "clocks 7 off"]);
}

/// The player would be told that the program only analyses.
#[test]
fn after_a_ponderhit_the_board_is_told_that_the_game_is_played() {
    let asked = |lines: &[&str]| {
        let mut session = GuiConversation::new(CLIENT, LABEL.into(), vec![name("ucb")]);
        for line in lines {
            session.line(line, Instant::now());
        }
        let actions = std::iter::from_fn(|| session.poll_action());
        let asked = actions.filter_map(|action| match action {
            session::Action::Ask(command @ (Command::Await { .. } | Command::Analyse { .. })) => {
                Some(command.to_string())
            }
            _ => None,
        });
        asked.collect::<Vec<_>>()
    };
    let ponders = ["position startpos moves e2e4", "go ponder", "ponderhit"];
    let wanted = ["await 7 on", "analyse 7", "await 7 on"];
    assert_eq!(asked(&ponders), wanted);
    let mated = [
        "position startpos moves f2f3 e7e5 g2g4 d8h4",
        "go ponder",
        "ponderhit",
    ];
    assert_eq!(asked(&mated), [""; 0]);
}

#[test]
fn what_the_gui_plays_is_what_it_was_last_shown() {
    let mut desk = Desk::new();
    desk.says("stop");
    desk.says("position startpos");
    desk.says("go wtime 900000");
    let mut snapshot = desk.at("ucb", true);
    let made = Game::standard().position().legal_moves()[0];
    snapshot.places[0].answer = vec![made];
    let m = uci(made);
    let said = desk.sees(&snapshot);
    assert_eq!(
        said,
        [
            format!("info depth 1 score cp 0 pv {m}"),
            format!("bestmove {m}")
        ]
    );
    // An analysis has shown it already.
    desk.says("position startpos");
    desk.says("go infinite");
    snapshot = desk.at("ucb", true);
    snapshot.places[0].answer = vec![made];
    assert_eq!(
        desk.sees(&snapshot),
        [format!("info depth 1 score cp 0 pv {m}")]
    );
    assert_eq!(desk.says("stop"), [format!("bestmove {m}")]);
}

#[test]
fn what_matters_is_within_the_fifty_characters_that_xboard_shows() {
    let m = Game::standard().position().legal_moves()[0];
    let name = uci(m);
    let take = Action {
        piece: None,
        from: Some(Square::E4),
        to: None,
    };
    for (advice, gist) in [
        (
            Advice::NewGame { may_move: true },
            "put the pieces on their starting squares".to_owned(),
        ),
        (
            Advice::Analysed(m),
            format!("your program only analyses: it gets {name}"),
        ),
        (Advice::Make(m), format!("make the move {name}")),
        (Advice::TakeBack(m), format!("take {name} back")),
        (
            Advice::PutBack {
                made: m,
                takes_back: true,
            },
            format!("{name} was taken back on the board"),
        ),
    ] {
        for list in [&[][..], &[take]] {
            let mut desk = Desk::new();
            let said = desk.sees(&desk.own(advice.clone(), list)).remove(0);
            let said = said.replacen("ucb: ", "citrine: ", 1);
            assert!(said[..said.len().min(50)].contains(&gist), "{said}");
        }
    }
    let mut desk = Desk::new();
    desk.sees(&desk.at("ucb", false));
    let said = desk.waits(NOTICE).remove(0);
    assert!(
        said[..50].contains("waiting for ucb: it is in another game"),
        "{said}"
    );
}

#[test]
fn nothing_that_waited_is_told_to_a_program_that_no_longer_asks() {
    let mut desk = Desk::new();
    let list = |squares: &[Square]| -> Vec<Action> {
        let take = |&square: &Square| Action {
            piece: None,
            from: Some(square),
            to: None,
        };
        squares.iter().map(take).collect()
    };
    let fen = Game::standard().fen();
    let two = desk.own(
        Advice::SetUp {
            fen: fen.clone(),
            may_move: true,
        },
        &list(&[Square::E4, Square::E5]),
    );
    assert_eq!(desk.sees(&two).len(), 1);
    let one = desk.own(
        Advice::SetUp {
            fen,
            may_move: true,
        },
        &list(&[Square::E5]),
    );
    assert_eq!(desk.sees(&one), [""; 0]);
    desk.says("stop");
    assert_eq!(desk.waits(10 * PROGRESS), [""; 0]);
    assert_eq!(desk.session.deadline(), None);
}

#[test]
fn the_thing_to_do_comes_before_what_is_to_be_looked_up() {
    let take = |square| Action {
        piece: None,
        from: Some(square),
        to: None,
    };
    let fen = || Game::standard().fen();
    let list = [take(Square::E4), take(Square::E5)];
    let short = "take the piece off e4, then take the piece off e5";
    let told = |advice: Advice, list: &[Action]| {
        let mut desk = Desk::new();
        desk.sees(&desk.own(advice, list)).remove(0)
    };
    assert_eq!(
        told(
            Advice::SetUp {
                fen: fen(),
                may_move: true
            },
            &list
        ),
        format!(
            "ucb: set up the position: {short}. Then press 'Board ready' or just move. (FEN {})",
            fen()
        )
    );
    assert_eq!(
        told(
            Advice::SetUp {
                fen: fen(),
                may_move: true
            },
            &[]
        ),
        format!(
            "ucb: set up the position, then press 'Board ready' or just move (FEN {})",
            fen()
        )
    );
    assert_eq!(
        told(Advice::SetUpByHand(fen()), &list),
        format!(
            "ucb: set up the position by hand: {short}. Do so in the board's own set-up mode too if it has one, then press \
             'Board ready'. (FEN {})",
            fen()
        )
    );
    assert_eq!(
        told(Advice::NewGame { may_move: true }, &list),
        format!(
            "ucb: put the pieces on their starting squares: {short}. Then press 'Board ready' or just move"
        )
    );
    assert_eq!(
        told(Advice::YourMove(Color::White), &list),
        format!("ucb: White to move on the board. Before that, unless it is done, {short}")
    );
    let mistake = Advice::Mistake {
        made: Reported::squares(Square::E7, Square::E4, None),
        expected: None,
    };
    assert_eq!(
        told(mistake, &list),
        format!("ucb: e7e4 cannot be played here: {short}")
    );
}

#[test]
fn a_relay_that_gives_no_sign_of_life_is_away_until_it_does_and_other_programs_give_none() {
    let mut desk = Desk::new();
    desk.says("stop");
    let away = |desk: &mut Desk| {
        let commands = std::iter::from_fn(|| desk.session.poll_action());
        let away = |action| match action {
            session::Action::Ask(Command::Away { on, .. }) => Some(on),
            _ => None,
        };
        commands.filter_map(away).collect::<Vec<_>>()
    };
    let passes = |desk: &mut Desk, time| {
        desk.now += time;
        desk.session.timeout(desk.now);
        away(desk)
    };
    assert_eq!(passes(&mut desk, 10 * ALIVE_WAIT), [false; 0]);
    for _ in 0..3 {
        desk.session.line(ALIVE, desk.now);
        assert_eq!(passes(&mut desk, ALIVE_EVERY), [false; 0]);
    }
    assert_eq!(passes(&mut desk, ALIVE_WAIT), [true]);
    assert_eq!(passes(&mut desk, ALIVE_WAIT), [false; 0]);
    desk.session.line("isready", desk.now);
    assert_eq!(away(&mut desk), [false]);
    assert_eq!(passes(&mut desk, ALIVE_WAIT), [true]);
}

#[test]
fn a_board_that_there_is_not_is_said_with_the_one_meant_and_can_still_be_chosen() {
    let mut desk = Desk::new();
    desk.says("stop");
    assert_eq!(
        desk.says("setoption name Board value neoo"),
        [
            "there is no board named neoo (did you mean neo?): set the option Board to one of ucb, neo"
        ]
    );
    let said = desk.says("uci");
    assert!(
        said.contains(&"option name Board type combo default neo var ucb var neo".to_owned()),
        "{said:?}"
    );
    assert_eq!(desk.says("go"), ["bestmove 0000"], "it has just been said");
    desk.waits(INSTANT);
    let said = desk.says("go");
    assert!(said[0].contains("did you mean neo?"), "{said:?}");
    assert_eq!(said[1..], ["bestmove 0000"]);
    desk.says("setoption name Board value x");
    let said = desk.says("uci");
    assert!(
        said.contains(&"option name Board type combo default ucb var ucb var neo".to_owned()),
        "{said:?}"
    );
    desk.says("setoption name Board value neo");
    assert!(desk.says("setoption name Board value <empty>").is_empty());
    let said = desk.says("uci");
    assert!(said[0].ends_with("(neo)"), "{said:?}");
}
