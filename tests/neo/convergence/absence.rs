//! What the hand does while the link is down.

use super::*;

/// Absences: the link is lost, and the player continues.
impl World {
    pub fn away(&mut self, moves: &[&str]) {
        self.unlink();
        for m in moves {
            self.hand(HandAction::Move(m.parse().unwrap()));
        }
        self.pass(Duration::from_secs(5));
        self.link();
    }
}

#[test]
fn a_move_made_while_the_link_was_down_is_taken_from_the_first_pictures() {
    for (before, m) in [
        ("e2e4 e7e5", "g1f3"),
        ("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5", "e1g1"),
        ("e2e4 a7a6 e4e5 d7d5", "e5d6"),
        ("e2e4 d7d5", "e4d5"),
    ] {
        let mut world = World::at(before);
        world.unlink();
        world.hand(HandAction::Move(m.parse().unwrap()));
        world.pass(LONG);
        world.link();
        let plies = before.split_whitespace().count() + 1;
        world.comes(|w| w.snapshot().game.len() == plies && w.snapshot().sure, m);
        assert_eq!(world.take_answer().as_deref(), Some(m));
        world.stands(&format!("{before} {m}"));
    }
}

#[test]
fn a_capture_made_while_the_link_was_down_is_asked_for_where_two_are_possible() {
    let before = "e2e4 d7d5 a2a3 f7f5";
    let mut world = World::at(before);
    world.unlink();
    world.hand(HandAction::Move("e4d5".parse().unwrap()));
    world.pass(LONG);
    world.link();
    world.comes(
        |w| matches!(&w.snapshot().advice, Advice::Misplaced(m) if m.lacking[0].0 == Square::E4),
        "the question",
    );
    world.obey();
    world.pass(LONG);
    world.stands(before);
    world.knows();
    world.plays("e4f5");
    assert_eq!(world.take_answer().as_deref(), Some("e4f5"));
}

#[test]
fn what_was_not_understood_is_forgotten_once_all_pieces_stand() {
    let mut world = World::begun();
    world.away(&["a2a3"]);
    world.pass(Duration::from_secs(1));
    for (from, to) in [(Square::A7, Square::A6), (Square::A6, Square::A7)] {
        world.hand(Hand::Lift(from));
        world.pass(Duration::from_secs(1));
        world.hand(Hand::Put(to, Color::Black.pawn()));
        world.pass(Duration::from_secs(1));
    }
    world.comes(|w| !w.told().is_empty(), "the list");
    world.carries(Square::A3, Square::A2);
    world.pass(LONG);
    world.stands("");
    world.plays("a2a3");
}

#[test]
fn a_capture_taken_back_while_the_link_was_down_is_seen() {
    for dark in [None, Some(Square::A1)] {
        let before = "h2h4 e7e5 g2g4";
        let mut world = World::at(&format!("{before} d8h4"));
        if let Some(square) = dark {
            world.neo.stick(square);
            world.pass(SEEN);
        }
        world.unlink();
        world.hand(HandAction::TakeBack);
        world.pass(Duration::from_secs(5));
        world.link();
        world.comes(|w| w.snapshot().game.len() == 3, "the take-back");
        world.stands(before);
    }
}

#[test]
fn a_square_that_was_dark_before_the_link_was_lost_tells_of_no_capture() {
    let before = "e2e3 b7b5";
    let mut world = World::at(before);
    world.neo.stick(Square::F1);
    world.pass(SEEN);
    world.away(&[]);
    for _ in 0..2 {
        world.pass(LONG);
        world.obey();
    }
    world.stands(before);
}

#[test]
fn a_piece_that_moved_on_before_any_picture_is_asked_for_until_it_stands() {
    let mut world = World::begun();
    world.hand(HandAction::Move("g1f3".parse().unwrap()));
    world.comes(|w| w.snapshot().game.len() == 1, "the move");
    world.away(&["a7a6", "f3g5"]);
    world.comes(|w| !w.told().is_empty(), "the list");
    world.lifts(Square::A6);
    world.lifts(Square::G5);
    world.puts(Square::A7, Color::Black.pawn());
    assert_eq!(world.told_words(), "put the white knight on f3");
    world.puts(Square::F3, Color::White.knight());
    world.pass(LONG);
    world.stands("g1f3");
}

#[test]
fn a_piece_that_took_another_before_any_picture_is_asked_for() {
    let mut world = World::at("c2c4 c7c6 g1h3");
    world.hand(HandAction::Move("d8a5".parse().unwrap()));
    world.comes(|w| w.snapshot().game.len() == 4, "the move");
    world.away(&["b2b3", "a5a2"]);
    world.comes(|w| !w.told().is_empty(), "the list");
    let words = world.told_words();
    assert!(words.contains("a5"), "{words}");
}

#[test]
fn a_capture_that_was_sensed_before_two_restarts_is_found() {
    let before = "e2e4 d7d5 a2a3 f7f5";
    let mut world = World::at(before);
    world.hand(HandAction::Move("e4d5".parse().unwrap()));
    let taken = |w: &World| w.pieces().piece_at(Square::D5) == Some(Color::White.pawn());
    world.comes(taken, "the capture");
    world.goes_on();
    world.pass(Duration::from_millis(300));
    world.goes_on();
    world.pass(LONG);
    world.stands(&format!("{before} e4d5"));
}
