//! How a link handles reports of its boards that no simulated board makes.

use std::{sync::Arc, time::Instant};

use boardbridge::{
    chess::game::Game,
    front_end::{
        link::{
            Player, Side,
            notice::Notice,
            session::{LinkedGame, NEXT_WAIT},
        },
        seat::restating::RESTATE_WAIT,
    },
    vocabulary::{BoardName, ClientId, ClientPlace, Command, GameEnd, LinkState, Snapshot},
};
use shakmaty::Color;

struct Rig {
    session: LinkedGame,
    now: Instant,
    tells_all: bool,
    numbers: [u64; 2],
}

fn players() -> [Player; 2] {
    [1, 2].map(|number| Player {
        client: ClientId(number),
        label: "the link".into(),
        name: "the other".into(),
    })
}

impl Rig {
    /// A board that this game has.
    fn board(&self, side: Side) -> Snapshot {
        let mut board = Snapshot::new(BoardName::default());
        board.places.push(ClientPlace {
            client: ClientId(side.index() as u64 + 1),
            number: self.numbers[side.index()],
            joined: true,
            put_out: false,
            answer: Vec::new(),
        });
        board
    }

    /// The same, on which the hand has put the pieces up for this game.
    fn board_put_up(&self, side: Side, game: &Game) -> Snapshot {
        Snapshot {
            link: LinkState::Up,
            sure: true,
            game: Arc::new(game.clone()),
            put_to_start: 1,
            ..self.board(side)
        }
    }

    fn new(tells_all: bool) -> Self {
        let now = Instant::now();
        let mut board = Snapshot::new(BoardName::default());
        board.tells_all = tells_all;
        let mut rig = Self {
            session: LinkedGame::new(now, players(), Side::First, [&board, &board]),
            now,
            tells_all,
            numbers: [0; 2],
        };
        rig.asked(Side::First);
        rig.asked(Side::Second);
        rig
    }

    /// The requests to a board since then.
    fn asked(&mut self, side: Side) -> Vec<Command> {
        let asked: Vec<_> =
            std::iter::from_fn(|| self.session.seats()[side.index()].poll_command()).collect();
        for command in &asked {
            if let Command::Target { number, .. } = command {
                self.numbers[side.index()] = *number;
            }
        }
        asked
    }

    /// A board was sent everything, with this result.
    fn says(&mut self, side: Side, moves: &str, ending: Option<GameEnd>) {
        let mut game = Game::standard();
        game.play_uci(moves.split_whitespace()).unwrap();
        let ours = self.session.game().len();
        let mut snapshot = Snapshot::new(BoardName::default());
        snapshot.link = LinkState::Up;
        snapshot.sure = true;
        snapshot.tells_all = self.tells_all;
        snapshot.ending = ending;
        snapshot.places.push(ClientPlace {
            client: ClientId(side.index() as u64 + 1),
            number: self.numbers[side.index()],
            joined: true,
            put_out: false,
            answer: game.moves()[ours.min(game.len())..].to_vec(),
        });
        snapshot.game = Arc::new(game);
        self.session.snapshot(self.now, side, &snapshot);
    }
}

#[test]
fn a_hand_that_resigns_on_one_board_has_resigned_on_the_other() {
    let mut rig = Rig::new(true);
    rig.says(Side::First, "e2e4", None);
    rig.asked(Side::First);
    rig.asked(Side::Second);
    rig.says(Side::Second, "e2e4", None);
    let resigned = GameEnd::resigned(Color::Black);
    rig.says(Side::Second, "e2e4", Some(resigned));
    assert_eq!(rig.session.over(), Some(resigned));
    for side in Side::BOTH {
        let told = |c: &Command| matches!(c, Command::Ended { end, .. } if *end == resigned);
        assert!(rig.asked(side).iter().any(told), "{side:?}");
    }
}

#[test]
fn the_end_of_the_game_before_does_not_end_the_next() {
    let mut rig = Rig::new(true);
    rig.says(Side::Second, "", Some(GameEnd::resigned(Color::Black)));
    assert_eq!(rig.session.over(), None);
}

#[test]
fn boards_that_cannot_want_a_new_game_get_one() {
    let mut rig = Rig::new(false);
    rig.says(Side::First, "e2e4", None);
    rig.asked(Side::First);
    rig.says(Side::First, "e2e4", None);
    rig.says(Side::First, "e2e4", Some(GameEnd::resigned(Color::White)));
    assert!(rig.session.over().is_some());
    rig.now += NEXT_WAIT;
    assert!(rig.session.deadline().is_some_and(|at| at <= rig.now));
    rig.session.timeout(rig.now);
    assert_eq!(rig.session.over(), None);
    assert!(rig.session.game().is_empty());
}

#[test]
fn boards_that_can_no_longer_want_a_new_game_get_one() {
    let mut rig = Rig::new(true);
    rig.says(Side::First, "e2e4", None);
    rig.asked(Side::First);
    rig.says(Side::First, "e2e4", None);
    rig.says(Side::First, "e2e4", Some(GameEnd::resigned(Color::White)));
    assert!(rig.session.over().is_some());
    // Their kinds have changed, in a reload.
    rig.tells_all = false;
    for side in Side::BOTH {
        rig.says(side, "e2e4", None);
    }
    rig.now += NEXT_WAIT;
    rig.session.timeout(rig.now);
    assert_eq!(rig.session.over(), None);
}

#[test]
fn after_two_restarts_in_a_row_no_board_is_told_the_same_game_as_a_new_one() {
    let rig = Rig::new(true);
    let boards = Side::BOTH.map(|side| rig.board(side));
    let mut session = rig.session;
    for _ in 0..2 {
        // The boards have not been told anything since.
        let memory = session.memory();
        session = LinkedGame::restored(rig.now, memory, players(), boards.each_ref());
    }
    for side in Side::BOTH {
        let mut asked = std::iter::from_fn(|| session.seats()[side.index()].poll_command());
        assert!(!asked.any(|command| matches!(command, Command::NewGame { .. })));
    }
}

#[test]
fn a_board_put_to_the_start_while_it_was_away_begins_the_next_game() {
    let mut rig = Rig::new(true);
    rig.says(Side::First, "e2e4", None);
    rig.asked(Side::First);
    rig.says(Side::First, "e2e4", None);
    rig.says(Side::First, "e2e4", Some(GameEnd::resigned(Color::White)));
    rig.says(Side::First, "e2e4", None);
    assert!(rig.session.over().is_some());
    rig.says(Side::First, "", None);
    assert_eq!(rig.session.over(), None);
    assert!(rig.session.game().is_empty());
}

#[test]
fn a_board_that_is_free_and_does_not_take_the_game_is_asked_again_once_a_minute() {
    let mut rig = Rig::new(true);
    let mut stated = 0;
    for _ in 0..2 {
        for _ in 0..100 {
            let mut snapshot = Snapshot::new(BoardName::default());
            snapshot.link = LinkState::Up;
            snapshot.places.push(ClientPlace {
                client: ClientId(1),
                number: rig.numbers[0],
                joined: false,
                put_out: true,
                answer: Vec::new(),
            });
            rig.session.snapshot(rig.now, Side::First, &snapshot);
            let is_target = |command: &Command| matches!(command, Command::Target { .. });
            stated += usize::from(rig.asked(Side::First).iter().any(is_target));
        }
        rig.now += RESTATE_WAIT;
    }
    assert_eq!(stated, 2);
}

#[test]
fn a_board_that_takes_no_commands_has_only_a_few_waiting() {
    let mut rig = Rig::new(true);
    for m in ["e2e4", "e2e4 e7e5", "e2e4 e7e5 g1f3"] {
        let side = if m.split(' ').count() % 2 == 1 {
            Side::First
        } else {
            Side::Second
        };
        // The second board has heard of nothing, but what it says is believed to be about the newest.
        rig.says(side, m, None);
        rig.asked(Side::First);
        rig.numbers[1] = rig.numbers[0];
    }
    assert_eq!(rig.session.game().len(), 3);
    assert!(rig.asked(Side::Second).len() <= 6);
}

#[test]
fn a_position_that_the_hand_sets_up_before_a_game_is_the_game_on_both_boards() {
    let pawn = Game::from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").unwrap();
    let mut rig = Rig::new(true);
    let board = rig.board_put_up(Side::First, &pawn);
    rig.session.snapshot(rig.now, Side::First, &board);
    assert_eq!(*rig.session.game(), pawn);
    for side in Side::BOTH {
        let told = |c: &Command| matches!(c, Command::Target { game, .. } if **game == pawn);
        assert!(rig.asked(side).iter().any(told), "{side:?}");
    }
}

#[test]
fn a_position_that_was_put_up_before_the_link_is_not_its_game() {
    let pawn = Game::from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").unwrap();
    let mut rig = Rig::new(true);
    let mut board = rig.board_put_up(Side::First, &pawn);
    board.link = LinkState::Down("not connected yet".to_owned());
    let boards = [&board, &board];
    rig.session = LinkedGame::new(rig.now, players(), Side::First, boards);
    rig.asked(Side::First);
    let known = rig.board_put_up(Side::First, &pawn);
    rig.session.snapshot(rig.now, Side::First, &known);
    assert_eq!(*rig.session.game(), Game::standard());
}

/// One player has set a position up for the next game, and the daemon is started again before the other asks for one too.
#[test]
fn a_position_that_one_player_wishes_is_the_next_game_after_a_restart_too() {
    let pawn = Game::from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").unwrap();
    let mut rig = Rig::new(true);
    for (side, moves) in [(Side::First, "e2e4"), (Side::Second, "e2e4 e7e5")] {
        rig.says(side, moves, None);
        rig.asked(Side::First);
        rig.asked(Side::Second);
    }
    assert_eq!(rig.session.game().len(), 2);
    let first = rig.board_put_up(Side::First, &pawn);
    rig.session.snapshot(rig.now, Side::First, &first);
    assert_eq!(rig.session.game().len(), 2, "the other one has to ask too");
    let kept = serde_json::to_string(&rig.session.memory()).unwrap();
    let mut second = rig.board_put_up(Side::Second, rig.session.game());
    second.put_to_start = 0;
    let kept = serde_json::from_str(&kept).unwrap();
    rig.session = LinkedGame::restored(rig.now, kept, players(), [&first, &second]);
    rig.asked(Side::First);
    rig.asked(Side::Second);
    let second = rig.board_put_up(Side::Second, &Game::standard());
    rig.session.snapshot(rig.now, Side::Second, &second);
    assert_eq!(*rig.session.game(), pawn);
}

/// The other side's move is stated to a board in the moment in which its hand puts the pieces up for a new game.
#[test]
fn pieces_put_up_while_a_move_is_on_its_way_to_the_board_are_a_wish_for_a_new_game() {
    let mut rig = Rig::new(true);
    for (side, moves) in [(Side::First, "e2e4"), (Side::Second, "e2e4 e7e5")] {
        rig.says(side, moves, None);
        rig.asked(Side::Second);
        rig.asked(Side::First);
    }
    let earlier = rig.board_put_up(Side::Second, &Game::standard());
    rig.says(Side::First, "e2e4 e7e5 g1f3", None);
    rig.asked(Side::First);
    rig.asked(Side::Second);
    while rig.session.poll_notice().is_some() {}
    // The board does not know the move yet.
    rig.session.snapshot(rig.now, Side::Second, &earlier);
    assert_eq!(rig.session.poll_notice(), None);
    let knows = rig.board_put_up(Side::Second, &Game::standard());
    rig.session.snapshot(rig.now, Side::Second, &knows);
    let asks = |notice| matches!(notice, (_, Notice::WantsNewGame { .. }));
    assert!(rig.session.poll_notice().is_some_and(asks));
    let first = rig.board_put_up(Side::First, &Game::standard());
    rig.session.snapshot(rig.now, Side::First, &first);
    assert!(rig.session.game().is_empty());
}
