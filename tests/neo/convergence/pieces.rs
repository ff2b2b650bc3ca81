//! Pieces that are missing, exchanged, taken off and brought.

use super::*;

#[test]
fn a_missing_piece_is_asked_for_and_the_start_goes_on_when_it_stands() {
    let mut world = World::with(DriverSettings::default(), Settings::default());
    world.hand(Hand::Lift(Square::C8));
    world.link();
    world.state();
    world.awaits(true);
    world.pass(Duration::from_secs(10));
    assert!(
        world.reports.contains(&"missing c8".to_owned()),
        "{}",
        world.story()
    );
    assert!(
        in_words(&world.snapshot().guidance).contains("the black bishop on c8"),
        "{}",
        world.story()
    );
    world.hand(Hand::Put(Square::C8, Color::Black.bishop()));
    world.pass(Duration::from_secs(5));
    world.stands("");
}

#[test]
fn squares_that_read_empty_do_not_stop_the_game() {
    let mut world = World::begun();
    for square in [Square::G7, Square::E7, Square::E2, Square::D8] {
        world.neo.stick(square);
    }
    world.pass(Duration::from_secs(30));
    let moves = "e2e4 e7e5 d2d4 e5d4 d1d4 d8h4 d4g7 h4e4 f1e2 f8g7";
    for (index, m) in moves.split_whitespace().enumerate() {
        if index % 2 == 0 {
            world.plays(m);
            world.take_answer();
        } else {
            world.target.play_uci([m]).unwrap();
            world.state();
            world.pass(LONG);
        }
        if index == 3 {
            world.neo.stick(Square::D4);
        }
    }
    world.stands(moves);
}

#[test]
fn two_pieces_lifted_together_are_not_taken_for_each_other() {
    let fen = "rnb1kbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1";
    let mut world = World::begun();
    world.target = Game::from_fen(fen).unwrap();
    world.state();
    world.pass(Duration::from_secs(3));
    for square in [Square::G1, Square::H1] {
        world.hand(Hand::Lift(square));
        world.pass(Duration::from_secs(1));
    }
    world.hand(Hand::Put(Square::F3, Color::White.knight()));
    world.pass(Duration::from_secs(3));
    let told = in_words(&world.snapshot().guidance);
    assert!(told.contains("put the white rook on h1"), "{told}");
    assert!(!told.contains("f3"), "{told}");
}

#[test]
fn a_capture_that_cannot_be_is_led_back_whichever_piece_was_lifted_first() {
    let moves = "e2e4 d7d5";
    for lifts in [[Square::D5, Square::G1], [Square::G1, Square::D5]] {
        let mut world = World::at(moves);
        for square in lifts {
            world.hand(Hand::Lift(square));
            world.pass(Duration::from_secs(1));
        }
        world.hand(Hand::Put(Square::D5, Color::White.knight()));
        world.pass(Duration::from_secs(10));
        assert_eq!(
            in_words(&world.snapshot().guidance),
            "move the white knight from d5 to g1, then put the black pawn on d5"
        );
        world.hand(Hand::Lift(Square::D5));
        world.hand(Hand::Put(Square::D5, Color::Black.pawn()));
        world.hand(Hand::Put(Square::G1, Color::White.knight()));
        world.pass(LONG);
        world.stands(moves);
        // It is put back in either order.
        for (square, piece) in [
            (Square::D5, Color::Black.pawn()),
            (Square::G1, Color::White.knight()),
        ] {
            for square in lifts {
                world.hand(Hand::Lift(square));
            }
            world.hand(Hand::Put(Square::D5, Color::White.knight()));
            world.pass(Duration::from_secs(10));
            world.hand(Hand::Lift(Square::D5));
            world.hand(Hand::Put(square, piece));
            world.pass(Duration::from_secs(10));
            let told = in_words(&world.snapshot().guidance);
            let (other, piece) = match square {
                Square::D5 => (Square::G1, Color::White.knight()),
                _ => (Square::D5, Color::Black.pawn()),
            };
            assert_eq!(told, format!("put the {} on {other}", name(piece)));
            world.hand(Hand::Put(other, piece));
            world.pass(LONG);
            world.stands(moves);
        }
    }
}

#[test]
fn pieces_straightened_together_or_put_down_twice_are_still_known() {
    let mut world = World::at("e2e4 d7d5");
    // One stands wrong all the time.
    world.hand(Hand::Lift(Square::G1));
    world.hand(Hand::Put(Square::D4, Color::White.knight()));
    for _ in 0..2 {
        world.hand(Hand::Lift(Square::D4));
        world.hand(Hand::Put(Square::D4, Color::White.knight()));
    }
    for square in [Square::D5, Square::A1] {
        world.hand(Hand::Lift(square));
        world.pass(Duration::from_secs(1));
    }
    for (square, piece) in [
        (Square::D5, Color::Black.pawn()),
        (Square::A1, Color::White.rook()),
    ] {
        world.hand(Hand::Put(square, piece));
        world.pass(Duration::from_secs(1));
    }
    world.pass(Duration::from_secs(10));
    assert_eq!(
        in_words(&world.snapshot().guidance),
        "move the white knight from d4 to g1"
    );
}

#[test]
fn a_piece_taken_off_as_told_is_not_taken_for_the_next_that_is_brought() {
    let fen = "r1bqkbnr/pppppppp/8/8/8/Q6Q/1PPPPPP1/RNBQKBNR w KQkq - 0 1";
    let mut world = World::begun();
    world.target = Game::from_fen(fen).unwrap();
    world.state();
    world.pass(Duration::from_secs(5));
    for square in [Square::A2, Square::H2, Square::B8] {
        world.hand(Hand::Lift(square));
        world.pass(Duration::from_secs(3));
    }
    world.hand(Hand::Put(Square::H3, Color::White.queen()));
    world.pass(Duration::from_secs(3));
    assert_eq!(
        in_words(&world.snapshot().guidance),
        "put the white queen on a3"
    );
    world.hand(Hand::Put(Square::A3, Color::White.queen()));
    world.comes(
        |w| w.snapshot().sure && *w.snapshot().game == w.target,
        "the set-up",
    );
}

#[test]
fn a_piece_that_is_asked_for_is_asked_for_until_it_stands() {
    let mut world = World::at("e2e4 d7d5");
    world.plays("e4d5");
    world.take_answer();
    world.follows("e2e4 d7d5");
    let asked = |w: &World| matches!(w.snapshot().advice, Advice::Misplaced(_));
    world.comes(asked, "the question");
    let after = "e2e4 d7d5 b1c3";
    world.follows(after);
    world.comes(|w| w.snapshot().game.len() == 3, "the move");
    world.pass(Duration::from_secs(5));
    assert_eq!(world.told_words(), "put the black pawn on d5");
    world.obey();
    world.pass(LONG);
    world.stands(after);
}

#[test]
fn a_set_up_is_not_done_because_a_square_goes_dark() {
    let mut world = World::begun();
    world.plays("c2c4");
    world.command(Command::NewGame { client: CLIENT });
    world.follows("");
    world.pass(Duration::from_secs(5));
    world.neo.stick(Square::C4);
    world.pass(Duration::from_secs(40));
    assert_eq!(world.told_words(), "move the white pawn from c4 to c2");
    world.obey();
    world.pass(LONG);
    world.stands("");
}

#[test]
fn the_motor_does_not_look_for_a_piece_that_the_hand_took_from_beside_the_board() {
    let before = "e2e4 d7d5 a2a3";
    let mut world = World::at(before);
    world.follows("e2e4 d7d5 a2a3 d5e4");
    world.pass(LONG);
    world.hand(HandAction::TakeBack);
    world.comes(|w| w.snapshot().game.len() == 3, "the take-back");
    world.follows(before);
    world.pass(LONG);
    world.plays("d5e4");
    world.take_answer();
    world.follows(before);
    world.pass(LONG);
    world.obey();
    world.pass(LONG);
    world.stands(before);
}

/// The program takes back the player's capture, and asks for the captured pawn.
fn asked_for_a_pawn() -> World {
    let mut world = World::at("e2e4 d7d5");
    world.plays("e4d5");
    world.take_answer();
    world.follows("e2e4 d7d5");
    let asked = |w: &World| w.told_words() == "put the black pawn on d5";
    world.comes(asked, "the question");
    world
}

#[test]
fn a_piece_that_was_brought_as_the_link_was_lost_is_not_asked_for() {
    let mut world = asked_for_a_pawn();
    world.puts(Square::D5, Color::Black.pawn());
    world.away(&[]);
    world.pass(LONG);
    world.stands("e2e4 d7d5");
}

#[test]
fn a_piece_that_was_brought_unasked_is_not_asked_for() {
    let before = "e2e4 d7d5";
    let mut world = World::at(before);
    world.plays("e4d5");
    world.take_answer();
    world.follows(before);
    world.comes(|w| w.pieces().piece_at(Square::D5).is_none(), "the path");
    world.pass(Duration::from_millis(300));
    world.puts(Square::D5, Color::Black.pawn());
    world.pass(LONG);
    world.stands(before);
    assert!(
        !world.events.iter().any(|told| told.contains("on d5")),
        "{}",
        world.story()
    );
}

#[test]
fn a_capture_taken_back_right_after_an_asked_piece_was_brought_is_seen() {
    let before = "e2e4 d7d5 e4d5 d8d5 b1c3 d5a2";
    for gap in [200, 400, 700, 1_000, 2_000, 4_000] {
        for victim_first in [false, true] {
            let mut world = World::at(before);
            world.plays("a1a2");
            world.take_answer();
            world.follows(before);
            let asked = |w: &World| w.told_words() == "put the black queen on a2";
            world.comes(asked, "the question");
            world.pass(Duration::from_secs(3));
            world.hand(Hand::Put(Square::A2, Color::Black.queen()));
            world.pass(Duration::from_millis(gap));
            let capture = if victim_first {
                CaptureOrder::VictimFirst
            } else {
                CaptureOrder::MoverFirst
            };
            let style = Style {
                capture,
                ..Style::default()
            };
            world.knows();
            world.hand(Hand::TakeBack(style));
            world.comes(|w| w.snapshot().game.len() == 5, "the take-back");
            world.pass(LONG);
            world.obey();
            world.pass(LONG);
            // The program has not taken it back: the board shows it again.
            world.stands(before);
        }
    }
}

#[test]
fn what_was_asked_for_is_not_to_be_taken_off_again() {
    let mut world = asked_for_a_pawn();
    world.puts(Square::D5, Color::Black.pawn());
    world.carries(Square::A2, Square::A5);
    world.carries(Square::G7, Square::G4);
    world.comes(|w| w.told().len() == 2, "the list");
    for (from, to) in [(Square::A5, Square::A2), (Square::G4, Square::G7)] {
        world.carries(from, to);
    }
    world.pass(LONG);
    world.stands("e2e4 d7d5");
}
