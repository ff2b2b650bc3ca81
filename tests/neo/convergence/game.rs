//! A game by hand and motor, from its beginning to its end, with take-backs.

use super::*;

#[test]
fn the_start_is_the_captured_one() {
    let world = World::begun();
    assert_eq!(
        world.asked,
        [
            "6e400003 subscribe",
            "2a19 read",
            "2a19 subscribe",
            "2a26 read",
            "c8659211 subscribe",
            "4496994f subscribe",
            "777ac5a4 subscribe",
            "d804b644 read",
            "6e400002 1#*",
            "c7d64c44 S:po",
            "6e400002 14#3*",
            "6e400002 30#2000*",
            "6e400002 14#1*",
            "c7d64c44 S:po",
            "c7d64c44 R:ISG",
            "c7d64c45 0",
        ]
    );
    world.stands("");
}

#[test]
fn what_the_hand_plays_from_the_start_is_shown_while_nobody_plays_and_a_program_goes_on_with_it() {
    for restarts in [false, true] {
        let mut world = World::alone("");
        world.plays("e2e4");
        world.guesses("e2e4");
        world.plays("d7d5");
        if restarts {
            world.goes_on();
            world.pass(Duration::from_secs(10));
        }
        world.plays("e4d5");
        world.guesses("e2e4 d7d5 e4d5");
        world.asked.clear();
        world.follows("e2e4 d7d5 e4d5");
        world.awaits(true);
        world.pass(LONG);
        let begins = |asked: &String| asked.contains("14#1*") || asked.contains("30#2000*");
        assert!(!world.asked.iter().any(begins), "{:?}", world.asked);
        world.stands("e2e4 d7d5 e4d5");
        assert_eq!(world.take_answer(), None);
        world.plays("d8d5");
        assert_eq!(world.take_answer().as_deref(), Some("d8d5"));
        world.follows("e2e4 d7d5 e4d5 d8d5 b1c3");
        world.pass(LONG);
        world.stands("e2e4 d7d5 e4d5 d8d5 b1c3");
    }
}

#[test]
fn a_first_move_that_crosses_a_programs_new_game_is_its_answer() {
    let mut world = World::alone("");
    world.pass(Duration::from_secs(30));
    world.hand(HandAction::Move("e2e4".parse().unwrap()));
    world.follows("");
    world.awaits(true);
    world.pass(Duration::from_secs(60));
    assert_eq!(world.take_answer().as_deref(), Some("e2e4"));
    world.stands("e2e4");
}

#[test]
fn a_program_that_comes_after_the_hands_last_move_is_answered_by_it() {
    for (before, made) in [("", "g1f3"), ("e2e4", "e7e5")] {
        let mut world = World::alone("");
        before.split_whitespace().for_each(|m| world.plays(m));
        world.plays(made);
        world.follows(before);
        world.awaits(true);
        world.pass(Duration::from_secs(30));
        assert_eq!(world.take_answer().as_deref(), Some(made));
        world.stands(format!("{before} {made}").trim());
    }
}

#[test]
fn a_program_with_another_game_than_the_hands_begins_it_and_is_not_answered_by_a_move_from_before()
{
    for (made, stated) in [
        ("g1f3 g8f6", ""),
        ("e2e4 e7e5 g1f3", "e2e4"),
        ("e2e4", "d2d4"),
    ] {
        let mut world = World::alone("");
        made.split(' ').for_each(|m| world.plays(m));
        world.guesses(made);
        world.follows(stated);
        world.awaits(true);
        for _ in 0..20 {
            world.obey();
            world.pass(Duration::from_secs(5));
            assert_eq!(world.program.answer(&world.snapshot()), None);
        }
        world.stands(stated);
    }
}

#[test]
fn the_player_is_told_that_pieces_which_do_not_stand_at_the_start_are_unknown_and_may_put_them_there()
 {
    let mut world = World::alone("e2e4 e7e5 g1f3");
    world.hand(HandAction::Move("b8c6".parse().unwrap()));
    world.intended.clear();
    world.pass(Duration::from_secs(10));
    assert_eq!(world.snapshot().advice, Advice::Unplaced(None));
    world.guesses("");
    let start = simulators::game::Game::standard();
    world.hand(Hand::SetUp(Box::new(start)));
    world.pass(Duration::from_secs(20));
    assert_eq!(world.snapshot().advice, Advice::Nothing);
    world.plays("d2d4");
    world.guesses("d2d4");
}

#[test]
fn a_whole_game_is_played_by_hand_and_motor() {
    // Captures, castling of both sides, en passant, promotion by capture.
    let moves = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 d2d4 e5d4 e4e5 d7d5 e5d6 f8d6 e1g1 e8g8 f3d4 c6d4 d1d4 c8e6 \
                 c4e6 f7e6 d4e4 b7b5 e4a8 b5b4 a8d8 b4b3 d8d6 b3c2 d6f8 g8f8 a2a4 c2b1r a1b1 a7a6 a4a5 c7c5 b2b4 c5b4 c1b2 b4b3 f1d1 f6d5 d1d5 e6d5";
    let mut world = World::begun();
    for (index, m) in moves.split_whitespace().enumerate() {
        if index % 2 == 0 {
            world.plays(m);
            assert_eq!(world.take_answer().as_deref(), Some(m));
        } else {
            world.target.play_uci([m]).unwrap();
            world.state();
            let plies = index + 1;
            for _ in 0..40 {
                let there = |w: &World| {
                    w.snapshot().game.len() == plies
                        || matches!(w.snapshot().advice, Advice::Misplaced(_))
                };
                world.comes(there, m);
                if world.snapshot().game.len() == plies {
                    break;
                }
                world.obey();
                world.pass(Duration::from_secs(5));
            }
            world.pass(Duration::from_secs(2));
        }
        let so_far: Vec<&str> = moves.split_whitespace().take(index + 1).collect();
        world.stands(&so_far.join(" "));
    }
}

#[test]
fn the_program_takes_back_whatever_the_motor_made() {
    for (before, m) in [
        ("e2e4 d7d5", "e4d5"),
        ("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5", "e1g1"),
        ("d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7", "e1c1"),
        ("e2e4 a7a6 e4e5 d7d5", "e5d6"),
        ("a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 b8c6", "b7a8q"),
        ("a2a4 b7b5 a4b5 h7h6 b5b6 h6h5 b6c7 b8a6", "c7d8n"),
    ] {
        let mut world = World::at(before);
        let after = format!("{before} {m}");
        world.follows(&after);
        world.pass(LONG);
        world.obey();
        world.pass(LONG);
        world.stands(&after);
        world.follows(before);
        world.pass(LONG);
        world.obey();
        world.pass(LONG);
        world.stands(before);
        world.follows(&after);
        world.pass(LONG);
        world.obey();
        world.pass(LONG);
        world.stands(&after);
    }
}

#[test]
fn the_program_takes_back_what_the_hand_made() {
    let before = "e2e4 d7d5";
    let mut world = World::at(before);
    world.plays("e4d5");
    world.take_answer();
    world.follows(before);
    world.pass(LONG);
    // The captured pawn is in the player's hands.
    world.obey();
    world.pass(LONG);
    world.stands(before);
}

#[test]
fn the_player_takes_back_and_plays_another_move() {
    let mut world = World::at("e2e4 d7d5");
    world.plays("e4d5");
    world.hand(HandAction::TakeBack);
    world.comes(|w| w.snapshot().game.len() == 2, "the take-back");
    world.plays("b1c3");
    assert_eq!(world.take_answer().as_deref(), Some("b1c3"));
    world.stands("e2e4 d7d5 b1c3");
}

#[test]
fn a_move_that_was_answered_and_taken_back_is_asked_for_again() {
    let mut world = World::begun();
    world.plays("e2e4");
    world.take_answer();
    world.hand(HandAction::TakeBack);
    world.comes(
        |w| matches!(w.snapshot().advice, Advice::PutBack { .. }) || paths(w).len() == 1,
        "the way back",
    );
    world.pass(LONG);
    world.obey();
    world.pass(LONG);
    world.stands("e2e4");
}

#[test]
fn without_the_motor_the_hand_makes_the_moves_of_both_sides() {
    let driver = DriverSettings {
        motor: false,
        ..DriverSettings::default()
    };
    let board = Settings {
        hand_delay: Some(Duration::from_secs(1)),
        ..Settings::default()
    };
    let mut world = World::at_with("", driver, board);
    for (index, m) in "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5 d2d4 c7c5 c1d2 b8c6 d4c5"
        .split_whitespace()
        .enumerate()
    {
        if index % 2 == 0 {
            world.plays(m);
            world.take_answer();
        } else {
            world.target.play_uci([m]).unwrap();
            world.state();
        }
        world.pass(Duration::from_secs(15));
        let moves = world.target.clone();
        assert_eq!(
            world.pieces(),
            moves.position().board(),
            "{}",
            world.story()
        );
        assert_eq!(*world.snapshot().game, moves, "{}", world.story());
    }
    assert!(paths(&world).is_empty());
    world.is_clean();
}

#[test]
fn without_the_motor_the_programs_move_is_lit_until_the_hand_has_made_it_whatever_is_lost() {
    let driver = DriverSettings {
        motor: false,
        ..DriverSettings::default()
    };
    for is_killed in [false, true] {
        let mut world = World::at_with("", driver.clone(), Settings::default());
        world.plays("e2e4");
        world.take_answer();
        world.follows("e2e4 e7e5");
        let lit = |w: &World| Bitboard::from_iter(w.neo.lamps().iter().copied());
        let shown = Bitboard::from_iter([Square::E7, Square::E5]);
        world.comes(|w| lit(w) == shown, "the lamps");
        let goes_on = |world: &mut World| {
            if is_killed {
                world.goes_on();
            } else {
                world.link();
            }
        };
        world.unlink();
        goes_on(&mut world);
        world.knows();
        world.pass(LONG);
        assert_eq!(lit(&world), shown, "{}", world.story());
        // The hand makes it while nobody sees that: the lamps are still lit when the link comes back.
        world.unlink();
        world.hand(HandAction::Execute);
        world.pass(LONG);
        goes_on(&mut world);
        world.pass(LONG);
        world.stands("e2e4 e7e5");
        assert!(lit(&world).is_empty(), "{}", world.story());
    }
}

#[test]
fn lamps_are_put_out_if_the_mistake_was_mended_while_the_link_was_lost() {
    for is_killed in [false, true] {
        let mut world = World::begun();
        world.plays("e2e4");
        let carries = |world: &mut World, from, to| {
            world.hand(Hand::Lift(from));
            world.pass(Duration::from_secs(1));
            world.hand(Hand::Put(to, Color::White.pawn()));
        };
        carries(&mut world, Square::A2, Square::A5);
        world.comes(|w| !w.neo.lamps().is_empty(), "the lamps");
        world.unlink();
        carries(&mut world, Square::A5, Square::A2);
        world.pass(LONG);
        if is_killed {
            world.goes_on();
        } else {
            world.link();
        }
        world.pass(LONG);
        assert!(world.neo.lamps().is_empty(), "{}", world.story());
        world.stands("e2e4");
    }
}

#[test]
fn the_players_promotion_is_chosen_by_the_gesture() {
    let before = "a2a4 b7b5 a4b5 h7h6 b5b6 h6h5 b6a7 h5h4";
    for (adjusted, m, role) in [
        (0, "a7b8q", Role::Queen),
        (2, "a7b8n", Role::Knight),
        (3, "a7b8r", Role::Rook),
        (4, "a7b8b", Role::Bishop),
    ] {
        let driver = DriverSettings {
            promotion: Promotion::Gesture,
            ..DriverSettings::default()
        };
        let mut world = World::at_with(before, driver, Settings::default());
        // No pawn is put down before its piece.
        let style = Style {
            promoting: Promoting::Direct,
            ..Style::default()
        };
        world.hand(Hand::Move(m.parse().unwrap(), style));
        for _ in 0..adjusted {
            let stands = |w: &World| w.pieces().piece_at(Square::B8) == Some(role.of(Color::White));
            world.comes(stands, "the piece");
            world.pass(Duration::from_millis(400));
            world.hand(Hand::Adjust(Square::B8));
        }
        world.comes(|w| w.snapshot().game.len() == 9, m);
        let board = world.snapshot().game.position().board().clone();
        assert_eq!(board.role_at(Square::B8), Some(role), "{}", world.story());
        assert_eq!(world.take_answer().as_deref(), Some(m));
    }
}

#[test]
fn pieces_put_on_their_starting_squares_begin_a_new_game() {
    let mut world = World::at("e2e4 e7e5 g1f3");
    world.awaits(false);
    world.hand(HandAction::NewGame);
    world.comes(|w| w.snapshot().game.is_empty(), "the new game");
    world.pass(LONG);
    world.stands("");
    world.command(Command::NewGame { client: CLIENT });
    world.follows("");
    world.awaits(true);
    world.pass(Duration::from_secs(5));
    world.plays("d2d4");
    assert_eq!(world.take_answer().as_deref(), Some("d2d4"));
}

/// The castling is the last move. King and rook change places, or the king stays, or goes far.
const CHESS960: [&str; 3] = [
    "fen nrk1bbqn/pp1ppprp/8/2p3p1/2P3P1/8/PP1PPPRP/NRK1BBQN w Qq - 0 1 moves c1b1",
    "fen bb1nqkrn/pppppp1p/8/6p1/6P1/8/PPPPPP1P/BB1NQKRN w KQkq - 0 1 moves f1g1",
    "fen rk2bqnr/pppppppp/8/8/8/8/PPPPPPPP/RK2BQNR w KQkq - 0 1 moves b1a1",
];

#[test]
fn a_chess960_start_is_set_up_and_castled_in_by_motor_and_by_hand() {
    for text in CHESS960 {
        let words: Vec<&str> = text.split(' ').collect();
        let castled = Game::from_words(&words).unwrap();
        let start = castled.truncated(0);
        for by_hand in [false, true] {
            let mut world = World::with(DriverSettings::default(), Settings::default());
            world.link();
            world.target = start.clone();
            world.state();
            world.awaits(true);
            world.pass(Duration::from_secs(5));
            world.hand(Hand::SetUp(Box::new(simulated(&start))));
            world.comes(|w| w.snapshot().sure, "the set-up");
            if by_hand {
                world.hand(HandAction::Move(castled.uci_moves().last().unwrap()));
                world.comes(|w| *w.snapshot().game == castled, "the castling by hand");
            }
            world.target = castled.clone();
            world.state();
            world.comes(|w| *w.snapshot().game == castled, "the castling");
            world.pass(LONG);
            assert_eq!(
                world.pieces(),
                castled.position().board(),
                "{text} {}",
                world.story()
            );
            world.target = start.clone();
            world.state();
            world.comes(|w| *w.snapshot().game == start, "the take-back");
            world.pass(LONG);
            assert_eq!(
                world.pieces(),
                start.position().board(),
                "{text} {}",
                world.story()
            );
            world.is_clean();
        }
    }
}

#[test]
fn the_hand_takes_back_ply_after_ply_over_every_kind_of_move() {
    for moves in [
        "e2e4 d7d5 e4d5",
        "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1",
        "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7 e1c1",
        "e2e4 a7a6 e4e5 d7d5 e5d6",
        "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 b8c6 b7a8q",
        "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 d2d3 e8g8",
    ] {
        let mut world = World::at(moves);
        let all: Vec<&str> = moves.split(' ').collect();
        for left in (all.len() - 3..all.len()).rev() {
            world.hand(HandAction::TakeBack);
            world.comes(|w| w.snapshot().game.len() == left, "the take-back");
            world.follows(&all[..left].join(" "));
            world.awaits(true);
            world.pass(LONG);
            world.stands(&all[..left].join(" "));
        }
    }
}

#[test]
fn what_was_waited_for_does_not_end_the_set_up_of_a_new_game() {
    let mut world = World::at("b1a3");
    world.unlink();
    world.hand(Hand::Lift(Square::A3));
    world.command(Command::NewGame { client: CLIENT });
    world.follows("");
    world.link();
    world.comes(|w| w.snapshot().link == LinkState::Up, "the board");
    world.hand(Hand::Put(Square::B1, Color::White.knight()));
    let begins = |w: &World| matches!(w.snapshot().advice, Advice::NewGame { .. });
    world.comes(begins, "the set-up");
    // The board is slow to take it.
    world.refuses = 1;
    world.pass(LONG);
    world.stands("");
    world.plays("a2a3");
    assert_eq!(world.take_answer().as_deref(), Some("a2a3"));
}

#[test]
fn a_move_made_while_the_board_is_told_of_the_new_game_counts() {
    let mut world = World::at("e2e4");
    world.refuses = 1;
    world.command(Command::NewGame { client: CLIENT });
    world.follows("");
    world.hand(Hand::Lift(Square::E4));
    world.hand(Hand::Put(Square::E2, Color::White.pawn()));
    world.pass(Duration::from_millis(200));
    world.hand(Hand::Lift(Square::D2));
    world.hand(Hand::Put(Square::D4, Color::White.pawn()));
    world.intended.push("d2d4".parse().unwrap());
    let made = |w: &World| *w.snapshot().game == game("d2d4");
    assert!(
        world.until(Duration::from_secs(3), made),
        "{}",
        world.story()
    );
    assert_eq!(world.take_answer().as_deref(), Some("d2d4"));
    world.stands("d2d4");
}

#[test]
fn pieces_set_up_for_a_new_game_without_a_link_are_not_taken_for_those_that_stood_there() {
    // White's queen stands where a black pawn belongs.
    let mut world = World::at("e2e4 e7e5 d1g4 d7d6 g4g7");
    world.unlink();
    world.hand(HandAction::NewGame);
    world.pass(LONG);
    world.command(Command::NewGame { client: CLIENT });
    world.follows("e2e4");
    world.goes_on();
    world.comes(|w| w.snapshot().game.len() == 1, "the program's move");
    world.pass(LONG);
    world.stands("e2e4");
    let asked = world.events.iter().any(|told| told.contains("queen"));
    assert!(!asked, "{}", world.story());
}
