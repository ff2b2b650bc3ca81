//! Links that are lost while the motor works or the board is told something, and writes that are refused.

use super::*;

#[test]
fn a_path_whose_write_was_lost_is_sent_again() {
    let mut world = World::begun();
    world.plays("e2e4");
    world.take_answer();
    world.follows("e2e4 e7e5");
    // On its way, and not at the board yet.
    world.comes(|w| !w.air.is_empty(), "the path");
    assert!(paths(&world).is_empty());
    world.unlink();
    world.pass(Duration::from_secs(5));
    world.link();
    world.pass(LONG);
    world.stands("e2e4 e7e5");
    assert_eq!(carried(&world), ["carried e7 e5"]);
}

#[test]
fn a_path_is_not_sent_again_if_the_link_was_lost_while_the_motor_ran() {
    for away in [0, 1, 2, 3, 5, 10, 100] {
        for running in [50, 500, 2500] {
            let mut world = World::begun();
            world.plays("e2e4");
            world.take_answer();
            world.follows("e2e4 b8c6");
            world.comes(|w| w.neo.is_driving(), "the path");
            world.pass(Duration::from_millis(running));
            assert!(world.neo.is_driving());
            world.unlink();
            world.pass(Duration::from_secs(away));
            world.link();
            world.pass(LONG);
            world.stands("e2e4 b8c6");
            assert_eq!(carried(&world), ["carried b8 c6"]);
        }
    }
}

#[test]
fn a_capture_goes_on_where_the_link_was_lost() {
    for step in 0..2 {
        for away in [1, 20] {
            let mut world = World::at("e2e4 d7d5 a2a3");
            let before = carried(&world).len();
            world.follows("e2e4 d7d5 a2a3 d5e4");
            world.comes(
                |w| carried(w).len() == before + step && w.neo.is_driving(),
                "the path",
            );
            world.pass(Duration::from_secs(1));
            world.unlink();
            world.pass(Duration::from_secs(away));
            world.link();
            world.pass(LONG);
            world.stands("e2e4 d7d5 a2a3 d5e4");
            assert_eq!(carried(&world).len(), before + 2);
        }
    }
}

#[test]
fn a_path_whose_square_went_stuck_is_not_sent_again() {
    for away in [1, 10] {
        let mut world = World::begun();
        world.plays("e2e4");
        world.take_answer();
        world.follows("e2e4 b8c6");
        world.comes(|w| w.neo.is_driving(), "the path");
        world.unlink();
        world.pass(PATH);
        world.neo.stick(Square::C6);
        world.pass(Duration::from_secs(away));
        world.link();
        world.pass(LONG);
        world.stands("e2e4 b8c6");
        assert_eq!(carried(&world), ["carried b8 c6"]);
    }
}

#[test]
fn the_program_may_want_another_move_while_the_link_is_lost_in_mid_capture() {
    for then in ["e2e4 d7d5 a2a3", "e2e4 d7d5 a2a3 g8f6", "e2e4 d7d5", ""] {
        let mut world = World::at("e2e4 d7d5 a2a3");
        let before = carried(&world).len();
        world.follows("e2e4 d7d5 a2a3 d5e4");
        world.comes(|w| carried(w).len() == before + 1, "the first path");
        world.unlink();
        world.follows(then);
        world.pass(Duration::from_secs(10));
        world.link();
        for _ in 0..4 {
            world.pass(LONG);
            world.obey();
        }
        world.stands(then);
    }
}

#[test]
fn the_set_up_begins_again_when_the_link_was_lost_in_it() {
    let mut world = World::with(DriverSettings::default(), Settings::default());
    // The pieces stand as after no ply of the game.
    world.hand(Hand::Lift(Square::A2));
    world.hand(Hand::Lift(Square::H7));
    world.link();
    let moves = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6";
    world.follows(moves);
    world.awaits(true);
    world.pass(Duration::from_secs(5));
    assert!(
        matches!(
            world.snapshot().advice,
            Advice::SetUp { .. } | Advice::Misplaced(_)
        ),
        "{}",
        world.story()
    );
    world.unlink();
    world.pass(Duration::from_secs(5));
    world.hand(Hand::SetUp(Box::new(simulated(&game(moves)))));
    world.link();
    world.pass(LONG);
    world.stands(moves);
}

#[test]
fn corrupt_notifications_are_ignored() {
    let mut world = World::begun();
    for (characteristic, value) in [
        (profile::EVENTS, &b"e2x"[..]),
        (profile::EVENTS, b"\xff\xff\xff"),
        (profile::EVENTS, b""),
        (profile::OCCUPANCY, b"1100"),
        (profile::ANSWERS, b"30#0101*"),
        (profile::BATTERY, b"\xff"),
    ] {
        world
            .core
            .received(world.now, Channel::Gatt(characteristic), value);
        world.pass(Duration::from_secs(3));
    }
    world.stands("");
    world.plays("e2e4");
    world.follows("e2e4 e7e5");
    world.pass(LONG);
    world.stands("e2e4 e7e5");
}

#[test]
fn a_refused_write_is_made_again() {
    for refusals in [1, 2, 3, 5] {
        let mut world = World::begun();
        world.plays("e2e4");
        world.take_answer();
        world.refuses = refusals;
        world.follows("e2e4 e7e5");
        world.pass(LONG);
        world.stands("e2e4 e7e5");
        assert_eq!(carried(&world), ["carried e7 e5"]);
    }
}

#[test]
fn refusals_at_the_start_do_not_keep_the_game_from_beginning() {
    for refusals in 1..12 {
        let mut world = World::with(DriverSettings::default(), Settings::default());
        world.refuses = refusals;
        world.link();
        world.state();
        world.awaits(true);
        world.pass(Duration::from_secs(120));
        world.stands("");
    }
}

#[test]
fn a_lost_link_leaves_nothing_due() {
    let before = "e2e4 d7d5";
    let mut world = World::at(before);
    world.plays("e4d5");
    world.take_answer();
    world.follows(before);
    let taken_back = |w: &World| w.snapshot().game.len() == 2;
    world.comes(taken_back, "the take-back");
    // The captured pawn is about to be asked for.
    world.unlink();
    world.pass(LONG);
    world.link();
    world.pass(LONG);
    world.obey();
    world.pass(LONG);
    world.stands(before);
}

#[test]
fn a_piece_that_slides_on_while_the_link_is_lost_has_not_moved_yet() {
    let mut world = World::begun();
    world.hand(Hand::Lift(Square::A2));
    world.hand(Hand::Put(Square::A3, Color::White.pawn()));
    world.unlink();
    world.pass(Duration::from_secs(3));
    world.hand(Hand::Lift(Square::A3));
    world.hand(Hand::Put(Square::A4, Color::White.pawn()));
    world.intended.push("a2a4".parse().unwrap());
    world.link();
    world.comes(|w| w.snapshot().game.len() == 1, "the move");
    world.stands("a2a4");
}

#[test]
fn a_path_that_was_lost_on_the_air_is_sent_again_though_its_square_read_empty_before() {
    let mut world = World::begun();
    world.neo.stick(Square::B2);
    world.pass(Duration::from_secs(8));
    world.follows("b2b3");
    world.comes(|w| !w.air.is_empty(), "the path");
    world.unlink();
    world.pass(Duration::from_secs(1));
    world.link();
    world.pass(LONG);
    // It may be missing.
    assert_eq!(world.told_words(), "put the white pawn on b2");
    world.hand(Hand::Adjust(Square::B2));
    world.pass(LONG);
    world.stands("b2b3");
}

#[test]
fn what_the_hand_did_with_a_piece_whose_path_was_lost_on_the_air_is_seen() {
    for held in [1, 5] {
        for to in [Square::G3, Square::G4] {
            let mut world = World::begun();
            world.follows("g2g3");
            world.comes(|w| !w.air.is_empty(), "the path");
            world.unlink();
            world.hand(Hand::Lift(Square::G2));
            let put = |world: &mut World| {
                world.hand(Hand::Put(to, Color::White.pawn()));
                let m = format!("g2{to}");
                world.intended.push(m.parse().unwrap());
            };
            // It may still be in the hand when the link is back.
            if held == 1 {
                put(&mut world);
            }
            world.pass(Duration::from_secs(1));
            world.link();
            world.pass(Duration::from_secs(held));
            if held > 1 {
                put(&mut world);
            }
            world.pass(LONG);
            world.obey();
            world.pass(LONG);
            world.stands("g2g3");
        }
    }
}

#[test]
fn a_path_whose_piece_was_in_the_hand_carried_nothing() {
    let mut world = World::begun();
    world.follows("b2b3");
    world.comes(|w| !w.air.is_empty(), "the path");
    world.hand(Hand::Lift(Square::B2));
    world.pass(Duration::from_millis(300));
    world.hand(Hand::Put(Square::B2, Color::White.pawn()));
    world.pass(LONG);
    world.stands("b2b3");
}
