//! Games on a board that moves its pieces itself.

use std::time::Duration;

use boardbridge::{
    chess::game::Game,
    vocabulary::{Advice, Command, GameEnd},
};
use rig::clock::Clocked as _;
use shakmaty::{Board, CastlingMode, Color, Position, Square, fen::Fen, uci::UciMove};
use simulators::{
    HandAction,
    chessnut::{Chessnut, Model, Settings},
    gesture::Touch,
    pieces::{self, Order},
};

use super::table::Table;

/// Games of real players.
const GAMES: &str = include_str!("../games/lichess-428.uci");

/// A Chessnut Move.
fn robot() -> Settings {
    Settings {
        model: Model::Move,
        ..Settings::default()
    }
}

fn table(settings: Settings) -> Table<Chessnut> {
    Table::new(Chessnut::new(settings), "")
}

fn tidily(m: UciMove) -> Order {
    Order::Do(HandAction::Move(m))
}

fn board(table: &Table<Chessnut>) -> Board {
    table.wood.pieces().board().clone()
}

/// Makes this move for the program, and returns while the pieces are on their way.
fn begins(table: &mut Table<Chessnut>, m: &str) {
    let m: UciMove = m.parse().unwrap();
    let m = m.to_move(table.game.position()).unwrap();
    assert!(table.game.push(m));
    table.states(false);
    table.comes("the drive", |table| table.wood.is_driving());
    assert_eq!(table.snapshot().advice, Advice::Nothing);
    table.waits(Duration::from_secs(2));
    assert!(table.wood.is_driving());
}

/// The pieces come to stand as in the program's game, and the board's game is that.
fn arrives(table: &mut Table<Chessnut>) {
    table.waits(Duration::from_secs(1));
    table.comes("the position", |table| {
        let wanted = table.game.position().board();
        !table.wood.is_driving()
            && table.wood.pieces().board() == wanted
            && *table.snapshot().game == table.game
            && table.snapshot().guidance.is_empty()
    });
    table.waits(Duration::from_secs(2));
    assert!(table.wood.lamps().is_empty() && !table.wood.is_driving());
}

#[test]
fn whole_games_are_played_and_no_hand_makes_the_programs_moves() {
    for turned in [false, true] {
        for (index, moves) in GAMES.lines().take(8).enumerate() {
            let mut settings = robot();
            settings.pieces.turned = turned;
            let mut table = table(settings);
            table.plays(moves, index % 2 == 0, tidily);
            // Nothing was ever lit: the hand had nothing to do for the program.
            assert_eq!(table.wood.lamp_writes(), 1, "{}", table.story());
        }
    }
}

#[test]
fn what_the_program_takes_back_is_taken_back_by_the_board() {
    let mut table = table(robot());
    table.plays("e2e4 d7d5 e4d5 d8d5", true, tidily);
    for plies in [1, 2] {
        for _ in 0..plies {
            table.game.pop();
        }
        table.states(false);
        arrives(&mut table);
    }
    table.plays("e7e6 d2d4 d7d5", true, tidily);
}

#[test]
fn a_position_and_a_new_game_are_set_up_by_the_board() {
    let mut table = table(robot());
    let moves = GAMES.lines().next().unwrap();
    table.plays(moves, true, tidily);
    let fen: Fen = "4k3/1P6/8/3q4/8/5N2/8/R3K3 w Q - 0 1".parse().unwrap();
    let position = fen.into_position(CastlingMode::Standard).unwrap();
    table.game = Game::from_start(position);
    table.states(false);
    arrives(&mut table);
    table.game = Game::standard();
    table.states(false);
    arrives(&mut table);
    table.plays("e2e4 e7e5", true, tidily);
}

#[test]
fn a_spare_piece_comes_for_a_promoted_pawn_and_the_hand_brings_what_there_is_no_spare_of() {
    let moves = "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 h7h6";
    for (role, spare) in [("q", true), ("n", false)] {
        let mut table = table(robot());
        table.states(false);
        table.is_ready();
        for m in moves.split(' ') {
            let m: UciMove = m.parse().unwrap();
            assert!(table.game.push(m.to_move(table.game.position()).unwrap()));
        }
        table.states(false);
        arrives(&mut table);
        let m: UciMove = format!("b7a8{role}").parse().unwrap();
        let m = m.to_move(table.game.position()).unwrap();
        if spare {
            assert!(table.game.push(m));
            table.states(false);
            arrives(&mut table);
            assert_eq!(table.faults, [""; 0]);
            continue;
        }
        assert!(table.game.push(m));
        table.states(false);
        table.comes("words", |table| !table.faults.is_empty());
        assert!(table.faults[0].contains("b7a8n"), "{:?}", table.faults);
        table.waits(Duration::from_secs(3));
        assert_eq!(table.wood.lamps(), [Square::A8]);
        let knight = Color::White.knight();
        table.wood.grab(table.now, Touch::Put(Square::A8, knight));
        arrives(&mut table);
    }
}

#[test]
fn a_hand_that_interferes_stops_the_pieces_and_is_guided_from_there() {
    let mut table = table(robot());
    table.plays("e2e4", true, tidily);
    begins(&mut table, "e7e5");
    table.wood.grab(table.now, Touch::Lift(Square::E7));
    assert!(!table.wood.is_driving());
    table.comes("words", |table| !table.faults.is_empty());
    table.comes("the advice", |table| {
        matches!(table.snapshot().advice, Advice::Make(_))
    });
    table.waits(Duration::from_secs(1));
    assert_eq!(table.wood.lamps(), [Square::E5]);
    let pawn = Color::Black.pawn();
    table
        .wood
        .hand(table.now, Order::Touch(Touch::Put(Square::E5, pawn)));
    arrives(&mut table);
    table.faults.clear();
    // The next move is the board's again.
    table.plays("g1f3 b8c6", true, tidily);
}

#[test]
fn a_piece_that_is_stuck_is_carried_by_the_hand_and_only_that_one() {
    let mut table = table(Settings {
        stuck: Some(Square::H8),
        ..robot()
    });
    table.plays("e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1", true, tidily);
    begins(&mut table, "e8g8");
    table.comes("words", |table| !table.faults.is_empty());
    table.waits(Duration::from_secs(3));
    // The king has arrived.
    assert_eq!(table.wood.lamps(), [Square::F8, Square::H8]);
    table.wood.grab(table.now, Touch::Lift(Square::H8));
    let rook = Color::Black.rook();
    table.wood.grab(table.now, Touch::Put(Square::F8, rook));
    arrives(&mut table);
}

#[test]
fn what_the_motor_leaves_half_done_is_no_move_of_the_hand() {
    // To take back two double steps of White is to make one of them seem to have been played.
    let mut table = table(Settings {
        stuck: Some(Square::E4),
        ..robot()
    });
    table.plays("e2e4 e7e5 d2d4 d7d5", true, tidily);
    table.game = Game::standard();
    table.states(true);
    table.comes("words", |table| !table.faults.is_empty());
    table.waits(Duration::from_secs(20));
    assert!(table.snapshot().game.len() != 1, "{}", table.story());
    table.wood.grab(table.now, Touch::Lift(Square::E4));
    let pawn = Color::White.pawn();
    table.wood.grab(table.now, Touch::Put(Square::E2, pawn));
    arrives(&mut table);
}

#[test]
fn a_link_lost_and_a_daemon_killed_while_the_pieces_are_on_their_way_cost_nothing() {
    for back in [1, 20] {
        for killed in [false, true] {
            let mut table = table(robot());
            table.plays("e2e4 e7e5 g1f3", true, tidily);
            begins(&mut table, "b8c6");
            if killed {
                table.restart(false);
            } else {
                table.unlink();
                table.waits(Duration::from_secs(back));
                table.link();
            }
            arrives(&mut table);
            table.plays("f1c4 g8f6", true, tidily);
        }
    }
}

#[test]
fn a_hand_that_plays_on_while_the_link_is_lost_is_understood_before_anything_drives() {
    let mut table = table(robot());
    table.plays("e2e4 e7e5 g1f3", true, tidily);
    begins(&mut table, "b8c6");
    table.unlink();
    table.waits(Duration::from_secs(10));
    let m: UciMove = "f1c4".parse().unwrap();
    table.wood.hand(table.now, tidily(m));
    table.waits(Duration::from_secs(10));
    table.states(true);
    table.link();
    table.told(m.to_move(table.game.position()).unwrap());
    table.plays("g8f6 d2d3", true, tidily);
}

#[test]
fn a_board_that_was_switched_off_in_mid_drive_drives_again() {
    let mut table = table(robot());
    table.plays("e2e4", true, tidily);
    begins(&mut table, "e7e5");
    table.wood.hand(table.now, HandAction::Off);
    table.unlink();
    table.waits(Duration::from_secs(20));
    table
        .wood
        .hand(table.now, HandAction::On { forgetful: true });
    table.link();
    arrives(&mut table);
}

#[test]
fn a_program_that_changes_its_mind_is_followed_from_where_the_pieces_are() {
    let mut table = table(robot());
    table.plays("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1", true, tidily);
    begins(&mut table, "g8f6");
    table.game.pop();
    table.states(false);
    arrives(&mut table);
    begins(&mut table, "d7d6");
    arrives(&mut table);
}

#[test]
fn a_mistake_is_left_to_the_hand_for_a_while_and_then_put_right() {
    let mut table = table(robot());
    table.plays("e2e4 e7e5", true, tidily);
    table.states(true);
    let before = board(&table);
    let wrong = HandAction::Wrong("a1a4".parse().unwrap());
    table.wood.hand(table.now, wrong);
    table.comes("what is wrong", |table| {
        !table.snapshot().guidance.is_empty()
    });
    table.comes("the drive", |table| table.wood.is_driving());
    table.comes("the pieces", |table| {
        *table.wood.pieces().board() == before && table.snapshot().guidance.is_empty()
    });
    // A piece in the hand is no mistake that motors could put right.
    table.wood.grab(table.now, Touch::Lift(Square::A1));
    table.waits(Duration::from_secs(40));
    assert!(!table.wood.is_driving());
}

#[test]
fn in_a_set_up_nothing_drives_before_the_hand_has_rested() {
    let mut table = table(robot());
    table.plays("e2e4 e7e5 g1f3 b8c6", true, tidily);
    table.game = Game::standard();
    // The hand begins to put the pieces back, too.
    table.wood.grab(table.now, Touch::Lift(Square::F3));
    table.states(false);
    for rank in [Square::A3, Square::A4, Square::A5, Square::A6] {
        table.waits(Duration::from_millis(1800));
        assert!(!table.wood.is_driving(), "{}", table.story());
        let knight = Color::White.knight();
        table.wood.grab(table.now, Touch::Put(rank, knight));
        table.waits(Duration::from_millis(600));
        table.wood.grab(table.now, Touch::Lift(rank));
    }
    let knight = Color::White.knight();
    table.wood.grab(table.now, Touch::Put(Square::G1, knight));
    let rests = table.now;
    table.comes("the drive", |table| table.wood.is_driving());
    let rested = (table.now - rests).as_secs_f64();
    assert!((2.0..3.0).contains(&rested), "{rested}");
    arrives(&mut table);
}

#[test]
fn after_the_end_of_a_game_no_piece_is_put_back() {
    let wrong = || HandAction::Wrong("a1a4".parse().unwrap());
    // The hand clears the board after the game, or was about to when it ended.
    for before in [false, true] {
        let mut table = table(robot());
        table.plays("e2e4 e7e5", true, tidily);
        table.states(true);
        if before {
            table.wood.hand(table.now, wrong());
            table.comes("what is wrong", |table| {
                !table.snapshot().guidance.is_empty()
            });
        }
        let ended = Command::Ended {
            client: table.program.client,
            end: GameEnd::resigned(Color::White),
        };
        table.core.command(table.now, ended);
        if !before {
            table.waits(Duration::from_secs(2));
            table.wood.hand(table.now, wrong());
        }
        let drives = table.until(Duration::from_secs(30), |table| table.wood.is_driving());
        assert!(!drives, "{}", table.story());
        // The next game is set up as ever.
        table.game = Game::standard();
        table.states(false);
        arrives(&mut table);
    }
}

#[test]
fn a_move_that_did_not_say_what_it_is_is_asked_again_and_not_for_ever() {
    let settings = |kinds_ignored| Settings {
        kinds_ignored,
        ..robot()
    };
    let mut table = table(settings(2));
    table.waits(Duration::from_secs(20));
    table.faults.clear();
    table.plays("e2e4 e7e5 g1f3 b8c6", true, tidily);
    assert_eq!(asked(&table), 3);
    let mut table = self::table(settings(u8::MAX));
    table.waits(Duration::from_mins(3));
    assert_eq!(asked(&table), 3, "{}", table.story());
    // A board that slept is asked anew.
    table.wood.go_stale();
    table.waits(Duration::from_secs(25));
    assert_eq!(asked(&table), 6, "{}", table.story());
}

/// How often the board was asked what it is.
fn asked(table: &Table<Chessnut>) -> usize {
    table.whole_story().matches(r"> A\x01\x15").count()
}

#[test]
fn a_board_that_answers_nothing_while_it_drives_is_not_hung_up() {
    let mut table = table(Settings {
        mute: true,
        drive_time: Duration::from_secs(70),
        ..robot()
    });
    table.plays("e2e4", true, tidily);
    begins(&mut table, "e7e5");
    let arrives = |table: &Table<Chessnut>| {
        table.wood.pieces().board() == table.game.position().board()
            && *table.snapshot().game == table.game
            && table.snapshot().guidance.is_empty()
    };
    assert!(table.until(Duration::from_secs(80), arrives));
    assert_eq!(table.faults, [""; 0], "{}", table.story());
    assert!(!table.whole_story().contains("silent"), "{}", table.story());
}

#[test]
fn without_the_motor_the_lamps_show_what_to_do() {
    let settings = Settings {
        pieces: pieces::Settings {
            hand_delay: Some(Duration::from_millis(700)),
            ..pieces::Settings::default()
        },
        battery: 42,
        ..robot()
    };
    let mut table = Table::new(Chessnut::new(settings), "motor = false");
    table.plays("e2e4 e7e5 g1f3 b8c6", true, tidily);
    assert!(table.story().contains(". executed b8c6"));
    assert_eq!(table.snapshot().battery, Some(42));
}
