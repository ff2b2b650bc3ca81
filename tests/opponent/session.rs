//! The game at a board with an opponent, without board and engine: what no simulated board does.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use boardbridge::{
    bus::pairings::Saying,
    chess::{game::Game, guidance::Action},
    front_end::opponent::{
        engine::Answer,
        notice::Notice,
        session::{NEXT_WAIT, OpponentGame, Phase, Place, STANDS_WAIT, TAKE_BACK_WAIT},
        settings::Hand,
    },
    vocabulary::{
        BoardName, ClientId, ClientName, ClientPlace, Command, Evaluation, Event, GameEnd,
        LinkState, Reason, Snapshot,
    },
};
use proptest::prelude::*;
use shakmaty::{Color, Position, Square, uci::UciMove};

const OURS: ClientId = ClientId(1);

struct Rig {
    session: OpponentGame,
    now: Instant,
    number: u64,
    put_to_start: u64,
    tells_all: bool,
}

fn game(moves: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
}

impl Rig {
    fn new(hand: Option<Hand>) -> Self {
        Self::at(hand, true)
    }

    fn at(hand: Option<Hand>, tells_all: bool) -> Self {
        let place = Place {
            client: OURS,
            board: BoardName::default(),
            hand,
        };
        let mut rig = Self {
            session: OpponentGame::new(place, ClientName::Engine("Toy".into())),
            now: Instant::now(),
            number: 0,
            put_to_start: 0,
            tells_all,
        };
        rig.asked();
        rig
    }

    /// The commands for the board since then.
    fn asked(&mut self) -> Vec<Command> {
        let asked: Vec<_> = std::iter::from_fn(|| self.session.seat().poll_command()).collect();
        for command in &asked {
            if let Command::Target { number, .. } = command {
                self.number = *number;
            }
        }
        asked
    }

    fn board(&self, moves: &str) -> Snapshot {
        let held = game(moves);
        let ours = self.session.game();
        let answer = if held.continues(ours) {
            held.moves()[ours.len()..].to_vec()
        } else {
            Vec::new()
        };
        let mut snapshot = Snapshot::new(BoardName::default());
        snapshot.link = LinkState::Up;
        snapshot.sure = true;
        snapshot.tells_all = self.tells_all;
        snapshot.put_to_start = self.put_to_start;
        snapshot.holders = vec![ClientName::Engine("Toy".into())];
        snapshot.places = vec![ClientPlace {
            client: OURS,
            number: self.number,
            joined: true,
            put_out: false,
            answer,
        }];
        snapshot.game = Arc::new(held);
        snapshot
    }

    fn sees(&mut self, snapshot: &Snapshot) -> Vec<Command> {
        self.session.snapshot(self.now, &[], snapshot);
        self.asked()
    }

    /// The board holds this.
    fn holds(&mut self, moves: &str) -> Vec<Command> {
        let board = self.board(moves);
        self.sees(&board)
    }

    fn replies(&mut self, m: &str) -> Vec<Command> {
        let question = self.session.question().unwrap();
        let uci: UciMove = m.parse().unwrap();
        let m = uci.to_move(question.game.position()).unwrap();
        self.session.reply(Answer {
            question,
            m,
            evaluation: Some(Evaluation::Cp(20)),
        });
        self.asked()
    }

    fn passes(&mut self, time: Duration) {
        self.now += time;
        while self.session.deadline().is_some_and(|due| due <= self.now) {
            self.session.timeout(self.now);
        }
    }

    fn notices(&mut self) -> Vec<Notice> {
        std::iter::from_fn(|| self.session.poll_notice()).collect()
    }

    fn moves(&self) -> String {
        let moves = self.session.game().uci_moves();
        moves.map(|m| m.to_string()).collect::<Vec<_>>().join(" ")
    }
}

fn yields(asked: &[Command]) -> bool {
    asked.iter().any(|c| matches!(c, Command::Yield { .. }))
}

#[test]
fn the_board_is_lent_until_the_hand_has_moved() {
    let mut rig = Rig::new(Some(Hand::Black));
    rig.holds("");
    rig.passes(STANDS_WAIT);
    assert!(yields(&rig.replies("e2e4")), "the hand has not moved");
    assert!(!yields(&rig.holds("e2e4 e7e5")));
    assert_eq!(rig.session.phase(), Phase::Plays);
}

#[test]
fn the_engine_begins_after_the_pieces_have_stood_for_three_seconds() {
    let mut rig = Rig::new(Some(Hand::Black));
    rig.holds("");
    rig.passes(STANDS_WAIT - Duration::from_millis(1));
    assert_eq!(rig.session.question(), None);
    let mut disturbed = rig.board("");
    disturbed.sure = false;
    rig.sees(&disturbed);
    rig.holds("");
    rig.passes(STANDS_WAIT - Duration::from_millis(1));
    assert_eq!(rig.session.question(), None);
    rig.passes(Duration::from_millis(1));
    assert!(rig.session.question().is_some());
    let mut rig = Rig::new(Some(Hand::Black));
    rig.session.said(Saying::NewGame).unwrap();
    assert!(rig.session.question().is_some());
}

#[test]
fn a_move_for_the_engine_is_refused() {
    let mut rig = Rig::new(Some(Hand::White));
    rig.holds("e2e4");
    rig.notices();
    let asked = rig.holds("e2e4 e7e5");
    assert!(matches!(asked[..], [Command::Refuse { .. }]), "{asked:?}");
    assert!(matches!(rig.notices()[..], [Notice::OutOfTurn(_)]));
    // Once.
    assert!(rig.holds("e2e4 e7e5").is_empty());
    rig.replies("c7c5");
    assert_eq!(rig.moves(), "e2e4 c7c5");
}

#[test]
fn a_button_of_the_board_takes_the_hands_last_move_back() {
    let mut rig = Rig::new(Some(Hand::White));
    rig.holds("e2e4");
    rig.replies("e7e5");
    let board = rig.board("e2e4 e7e5");
    let pressed = [Event::AsksTakeBack];
    rig.session.snapshot(rig.now, &pressed, &board);
    assert_eq!(rig.moves(), "");
    // There is nothing left to take back.
    rig.asked();
    let board = rig.board("");
    rig.session.snapshot(rig.now, &pressed, &board);
    assert_eq!(rig.moves(), "");
}

#[test]
fn an_answer_to_an_older_position_is_not_played() {
    let mut rig = Rig::new(Some(Hand::White));
    rig.holds("e2e4");
    let old = rig.session.question().unwrap();
    rig.session.said(Saying::TakeBack).unwrap();
    rig.asked();
    rig.holds("");
    rig.holds("d2d4");
    let m = game("e2e4 e7e5").last().unwrap();
    rig.session.reply(Answer {
        question: old,
        m,
        evaluation: None,
    });
    assert_eq!(rig.moves(), "d2d4");
}

#[test]
fn what_the_engine_makes_of_a_game_is_told_while_its_move_stands() {
    let mut rig = Rig::new(Some(Hand::White));
    rig.holds("e2e4");
    assert_eq!(rig.session.evaluation(), None);
    rig.replies("e7e5");
    assert_eq!(rig.session.evaluation(), Some(Evaluation::Cp(20)));
    rig.holds("e2e4 e7e5 g1f3");
    assert_eq!(rig.session.evaluation(), Some(Evaluation::Cp(20)));
    for _ in 0..2 {
        rig.session.said(Saying::TakeBack).unwrap();
    }
    assert_eq!(rig.moves(), "");
    assert_eq!(rig.session.evaluation(), None);
    rig.holds("");
    rig.holds("d2d4");
    rig.replies("d7d5");
    rig.session.said(Saying::NewGame).unwrap();
    assert_eq!(rig.session.evaluation(), None);
}

#[test]
fn a_move_of_the_engine_waits_while_the_hand_takes_back() {
    let mut rig = Rig::new(Some(Hand::White));
    rig.holds("e2e4");
    let mut board = rig.board("");
    board.taken_back = true;
    rig.sees(&board);
    rig.replies("e7e5");
    assert_eq!(rig.moves(), "e2e4");
    // Put back on: the engine's move counts.
    rig.holds("e2e4");
    assert_eq!(rig.moves(), "e2e4 e7e5");
    let mut board = rig.board("e2e4");
    board.taken_back = true;
    rig.sees(&board);
    rig.passes(TAKE_BACK_WAIT);
    assert_eq!(rig.moves(), "e2e4");
    assert_eq!(rig.notices().last(), Some(&Notice::TookBack(1)));
    assert!(rig.session.question().is_some());
}

#[test]
fn the_kings_end_the_game() {
    for end in [GameEnd::resigned(Color::White), GameEnd::AGREED] {
        let mut rig = Rig::new(Some(Hand::White));
        rig.holds("e2e4");
        rig.replies("e7e5");
        rig.holds("e2e4 e7e5");
        let mut board = rig.board("e2e4 e7e5");
        board.ending = Some(end);
        let asked = rig.sees(&board);
        assert!(matches!(asked[..], [Command::Ended { end: told, .. }] if told == end));
        assert_eq!(rig.session.over(), Some(end));
        // The next game, once the pieces are put back.
        rig.put_to_start += 1;
        let mut board = rig.board("");
        board.places.clear();
        board.holders.clear();
        rig.sees(&board);
        assert_eq!(rig.session.phase(), Phase::Waits);
    }
}

#[test]
fn pieces_put_at_the_start_begin_a_new_game_unless_the_board_has_just_come_back() {
    let mut rig = Rig::new(Some(Hand::White));
    rig.holds("e2e4");
    rig.replies("e7e5");
    rig.holds("e2e4 e7e5");
    rig.put_to_start += 1;
    let board = rig.board("");
    rig.session.snapshot(rig.now, &[Event::Restarted], &board);
    rig.asked();
    assert_eq!(rig.moves(), "e2e4 e7e5");
    assert!(rig.notices().contains(&Notice::GoesOn));
    rig.holds("e2e4 e7e5");
    rig.passes(Duration::from_secs(60));
    rig.put_to_start += 1;
    rig.holds("");
    assert_eq!(rig.session.phase(), Phase::Waits);
    assert_eq!(rig.moves(), "");
}

#[test]
fn a_new_game_and_its_first_move_may_come_at_once() {
    let mut rig = Rig::new(Some(Hand::White));
    rig.holds("");
    rig.holds("f2f3");
    rig.replies("e7e5");
    rig.holds("f2f3 e7e5 g2g4");
    rig.replies("d8h4");
    assert_eq!(
        rig.session.over(),
        Some(GameEnd::won(Reason::Checkmate, Color::Black))
    );
    rig.put_to_start += 1;
    let mut board = rig.board("e2e4");
    board.places.clear();
    board.holders.clear();
    let asked = rig.sees(&board);
    let replaced = |c: &Command| matches!(c, Command::NewGame { .. });
    assert!(!asked.iter().any(replaced), "{asked:?}");
    assert_eq!(rig.session.phase(), Phase::Waits);
    rig.holds("e2e4");
    assert_eq!(rig.moves(), "e2e4");
}

#[test]
fn a_board_that_was_released_is_left_and_its_game_is_over() {
    let mut rig = Rig::new(Some(Hand::White));
    rig.holds("e2e4");
    let mut board = rig.board("e2e4");
    board.holders.clear();
    board.places[0].joined = false;
    board.places[0].put_out = true;
    let asked = rig.sees(&board);
    assert!(matches!(asked[..], [Command::Release { .. }]), "{asked:?}");
    assert_eq!(rig.notices().last(), Some(&Notice::PutOut));
    assert_eq!(rig.session.can(), [Saying::NewGame]);
}

#[test]
fn a_board_that_cannot_tell_of_a_set_up_gets_the_next_game_by_itself() {
    let mut rig = Rig::at(None, false);
    rig.holds("e2e4");
    rig.session.said(Saying::Resign).unwrap();
    assert_eq!(rig.session.over(), Some(GameEnd::resigned(Color::Black)));
    let mut board = rig.board("e2e4");
    board.places.clear();
    board.holders.clear();
    rig.sees(&board);
    rig.passes(NEXT_WAIT);
    assert_eq!(rig.session.phase(), Phase::Waits);
}

#[test]
fn on_a_board_that_cannot_tell_of_its_pieces_the_engine_begins_the_next_game_too() {
    let mut rig = Rig::at(Some(Hand::Black), false);
    let mut board = rig.board("");
    board.guidance = Arc::new([Action {
        piece: None,
        from: Some(Square::E4),
        to: None,
    }]);
    rig.sees(&board);
    rig.passes(STANDS_WAIT);
    assert!(rig.session.question().is_some());
}

#[test]
fn a_board_that_is_kept_for_a_program_is_waited_for_and_not_begun_on() {
    let away = ClientName::Other("192.0.2.2:50000 (disconnected)".into());
    // Of another address: the program's place is before ours.
    let mut rig = Rig::new(Some(Hand::White));
    let mut board = rig.board("");
    board.kept = true;
    board.places[0].joined = false;
    board.holders = vec![away];
    rig.notices();
    for _ in 0..3 {
        assert!(rig.sees(&board).is_empty());
    }
    assert_eq!(rig.session.phase(), Phase::Waits);
    assert!(matches!(rig.notices()[..], [Notice::Occupied { .. }]));
    // It stays away.
    assert!(yields(&rig.holds("")), "the hand has not moved");
    rig.holds("e2e4");
    assert_eq!(rig.moves(), "e2e4");
    // Of this machine: on a board that cannot tell of a set-up, its game is not replaced.
    let mut rig = Rig::at(Some(Hand::White), false);
    let mut board = rig.board("e2e4 e7e5");
    board.places[0].joined = false;
    rig.sees(&board);
    board.places.clear();
    board.holders.clear();
    board.kept = true;
    rig.sees(&board);
    rig.passes(NEXT_WAIT);
    assert_eq!(rig.session.phase(), Phase::Rests);
    board.kept = false;
    rig.sees(&board);
    rig.passes(NEXT_WAIT);
    assert_eq!(rig.session.phase(), Phase::Waits);
}

#[test]
fn a_game_that_was_taken_back_to_the_start_has_not_begun() {
    let mut rig = Rig::new(Some(Hand::White));
    rig.holds("e2e4");
    rig.replies("e7e5");
    rig.session.said(Saying::TakeBack).unwrap();
    assert!(yields(&rig.asked()), "the board is lent again");
    assert_eq!(rig.session.phase(), Phase::Waits);
    assert!(rig.session.said(Saying::Resign).is_err());
    rig.holds("");
    rig.holds("d2d4");
    assert_eq!(rig.session.phase(), Phase::Plays);
}

#[test]
fn a_game_that_is_under_way_cannot_be_left_without_a_loser() {
    let mut rig = Rig::new(Some(Hand::White));
    rig.holds("e2e4");
    rig.replies("e7e5");
    rig.session.said(Saying::Abort).unwrap_err();
    rig.session.said(Saying::Resign).unwrap();
}

#[test]
fn a_first_move_whose_set_up_nobody_heard_begins_a_game_for_the_hand_that_has_white() {
    for (hand, begins) in [(Hand::White, true), (Hand::Black, false)] {
        let mut rig = Rig::new(Some(hand));
        rig.session.said(Saying::NewGame).unwrap();
        let released = |rig: &mut Rig, moves: &str| {
            let mut board = rig.board(moves);
            board.places.clear();
            board.holders.clear();
            board.sure = false;
            rig.sees(&board)
        };
        let mut others = rig.board("");
        others.places[0].joined = false;
        rig.sees(&others);
        assert_eq!(rig.session.phase(), Phase::Rests);
        // Not in the middle of a game.
        assert!(released(&mut rig, "e2e4 e7e5").is_empty());
        let asked = released(&mut rig, "e2e4");
        assert_eq!(rig.session.phase() == Phase::Waits, begins);
        // That move counts: no new game is announced.
        let announced = |command: &Command| matches!(command, Command::NewGame { .. });
        assert!(!asked.iter().any(announced), "{asked:?}");
    }
}

#[test]
fn after_a_restart_the_game_is_stated_again_under_the_same_number() {
    let mut rig = Rig::new(Some(Hand::White));
    rig.holds("e2e4");
    rig.replies("e7e5");
    let memory = rig.session.memory();
    assert!(memory.suits(Some(Hand::White)) && !memory.suits(Some(Hand::Black)));
    let text = serde_json::to_string(&memory).unwrap();
    let memory = serde_json::from_str(&text).unwrap();
    let place = Place {
        client: OURS,
        board: BoardName::default(),
        hand: Some(Hand::White),
    };
    let board = rig.board("e2e4 e7e5");
    let label = ClientName::Engine("Toy".into());
    let mut again = OpponentGame::restored(memory, place, label, &board);
    assert_eq!(again.game(), rig.session.game());
    let first = again.seat().poll_command();
    assert!(
        matches!(&first, Some(Command::Target { client: OURS, game, .. }) if game.len() == 2),
        "{first:?}"
    );
    assert_eq!(again.poll_notice(), None);
}

proptest! {
    /// Whatever the board, the engine and the player do: the game is legal, the engine is asked only when it is its turn, and
    /// no more than a few commands ever wait.
    #[test]
    fn whatever_happens_the_game_goes_on_by_the_rules(
        hand in 0..4_u8,
        acts in prop::collection::vec((0..12_u8, 0..40_usize, any::<bool>()), 0..80)
    ) {
        let hand = [None, Some(Hand::White), Some(Hand::Black), Some(Hand::Alternate)][usize::from(hand)];
        let mut rig = Rig::new(hand);
        for (what, which, flag) in acts {
            let ours = rig.session.game().clone();
            let words = |game: &Game| game.uci_moves().map(|m| m.to_string()).collect::<Vec<_>>().join(" ");
            match what {
                // The hand plays, for whichever side.
                0..4 => {
                    let mut held = ours.clone();
                    let legal = held.position().legal_moves();
                    if !legal.is_empty() {
                        held.push(legal[which % legal.len()]);
                    }
                    rig.holds(&words(&held));
                }
                4..6 => {
                    if let Some(mut question) = rig.session.question() {
                        let legal = question.game.position().legal_moves();
                        question.number -= u64::from(which == 0);
                        rig.session.reply(Answer {
                            question,
                            m: legal[which % legal.len()],
                            evaluation: None,
                        });
                        rig.asked();
                    }
                }
                6 => {
                    let mut board = rig.board(&words(&ours.truncated(which % (ours.len() + 1))));
                    board.taken_back = true;
                    rig.sees(&board);
                }
                7 => {
                    rig.put_to_start += 1;
                    rig.holds("");
                }
                8 => {
                    let mut board = rig.board(&words(&ours));
                    board.places[0].joined = false;
                    board.places[0].put_out = flag;
                    board.holders = if flag { vec![] } else { vec!["192.168.1.7:5000".into()] };
                    rig.sees(&board);
                }
                9 => {
                    let mut board = rig.board(&words(&ours));
                    board.ending = Some(GameEnd::AGREED);
                    rig.sees(&board);
                }
                10 => {
                    let saying = [Saying::Ready, Saying::NewGame, Saying::Resign, Saying::TakeBack, Saying::Draw, Saying::Abort];
                    let can = rig.session.can();
                    let saying = saying[which % saying.len()];
                    let said = rig.session.said(saying);
                    prop_assert!(!can.contains(&saying) || said.is_ok(), "{saying}: {said:?}");
                    prop_assert!(rig.asked().len() < 10);
                }
                _ => {
                    let mut board = rig.board(&words(&ours));
                    board.places.clear();
                    board.holders.clear();
                    rig.sees(&board);
                    rig.passes(Duration::from_secs(which as u64));
                }
            }
            rig.asked();
            let game = rig.session.game();
            if let Some(question) = rig.session.question() {
                prop_assert_eq!(&question.game, game);
                prop_assert!(rig.session.hand().is_some_and(|hand| hand != game.turn()));
            }
            if rig.session.phase() != Phase::Rests {
                prop_assert!(GameEnd::by_rules(game).is_none());
            }
            rig.notices();
        }
    }
}

#[test]
fn a_position_that_the_hand_sets_up_on_the_board_is_the_next_game() {
    let pawn = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    for (hand, first) in [(Hand::White, "e2e4"), (Hand::Black, "")] {
        let mut rig = Rig::new(Some(hand));
        rig.holds("");
        // The board says `New Game`, and then shows where.
        rig.put_to_start = 1;
        rig.holds("");
        rig.put_to_start = 2;
        let set_up = |rig: &Rig, moves: &str| {
            let mut held = Game::from_fen(pawn).unwrap();
            held.play_uci(moves.split_whitespace()).unwrap();
            let mut board = rig.board("");
            board.places[0].answer = held.moves().to_vec();
            board.game = Arc::new(held);
            board
        };
        let board = set_up(&rig, "");
        let asked = rig.sees(&board);
        let is_it = |command: &Command| matches!(command, Command::Target { game, .. } if game.fen().to_string() == pawn);
        assert!(asked.iter().any(is_it), "{asked:?}");
        let begins = |command: &Command| matches!(command, Command::NewGame { .. });
        assert!(!asked.iter().any(begins), "the pieces stand: {asked:?}");
        let board = set_up(&rig, first);
        rig.sees(&board);
        rig.passes(STANDS_WAIT);
        let question = rig.session.question().unwrap();
        assert_eq!(question.game, *board.game);
        // Back to the start.
        rig.put_to_start = 3;
        rig.holds("");
        assert_eq!(*rig.session.game(), game(""));
    }
}
