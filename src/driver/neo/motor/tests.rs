use proptest::prelude::*;
use shakmaty::{Chess, Position};

use super::*;
use crate::chess::game::Game;

/// The game of the protocol document, and every path that its app sent: one for each of Black's moves.
const DOCUMENT_GAME: &str = "d2d4 c7c6 c1f4 c6c5 e2e3 d7d5 g1f3 g8f6 b1d2 c8d7 f3e5 c5c4 f1e2 d7e6 c2c3 f6h5 d1a4 \
                             d8d7 e5d7 g7g6 d7f6 e8d8 a4e8";
const DOCUMENT_PATHS: [&str; 11] = [
    "2,6:2,4.92|",
    "2,5:2,3.92|",
    "3,6:3,3.92|",
    "6,7:5.5,6.5:5.5,5.5:4.92,4.92|",
    "2,7:3.08,5.92|",
    "2,4:2,2.92|",
    "3,6:4.08,4.92|",
    "5,5:6,5:7.08,3.92|",
    "3,7:3,5.92|",
    "6,6:6,4.92|",
    "4,7:2.92,7|",
];

fn game(fen: &str, uci: &str) -> (Game, Move) {
    let before = Game::from_fen(fen).unwrap();
    let mut after = before.clone();
    after.play_uci([uci]).unwrap();
    (before, after.last().unwrap())
}

/// The actions as text, one a line: paths as sent, requests to the player in words.
fn words(actions: &[Action]) -> Vec<String> {
    let word = |action: &Action| match action {
        Action::Carry(carry) => carry.path.to_string(),
        Action::Bring { square, piece } => format!("bring {} to {square}", piece.char()),
        Action::Remove { square } => format!("remove {square}"),
    };
    actions.iter().map(word).collect()
}

fn done(actions: &[Action], board: &Board, parking: &Parking) -> (Board, Parking) {
    let (mut board, mut parking) = (board.clone(), parking.clone());
    for action in actions {
        action.apply(&mut board, &mut parking);
    }
    (board, parking)
}

/// The plan as text for a move from a position, with these slots all empty.
fn planned(fen: &str, uci: &str, columns: &[i8]) -> Vec<String> {
    let (game, m) = game(fen, uci);
    let position = game.position();
    let parking = Parking::new(columns);
    words(&forward(position.board(), &parking, m, position.turn()))
}

/// The plan as text for taking back a move just made from there.
fn taken_back(fen: &str, uci: &str) -> Vec<String> {
    let (game, m) = game(fen, uci);
    let (board, turn) = (game.position().board(), game.position().turn());
    let actions = forward(board, &Parking::default(), m, turn);
    let (board, parking) = done(&actions, board, &Parking::default());
    words(&back(&board, &parking, m, turn))
}

#[test]
fn the_paths_of_the_documents_game_are_its_apps() {
    let mut position = Chess::new();
    let mut paths = Vec::new();
    for uci in DOCUMENT_GAME.split_whitespace() {
        let uci: shakmaty::uci::UciMove = uci.parse().unwrap();
        let m = uci.to_move(&position).unwrap();
        if position.turn() == Color::Black {
            let plan = forward(position.board(), &Parking::default(), m, Color::Black);
            paths.extend(words(&plan));
        }
        position.play_unchecked(m);
    }
    assert_eq!(paths, DOCUMENT_PATHS);
}

#[test]
fn castling_goes_as_was_tried_on_a_board() {
    let white = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1";
    let black = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R b KQkq - 0 1";
    for (fen, uci, king, rook) in [
        (
            white,
            "e1g1",
            "4,0:6.08,0|",
            "7,0:6.5,0.5:5.5,0.5:4.92,-0.08|",
        ),
        (
            white,
            "e1c1",
            "4,0:1.92,0|",
            "0,0:0.5,0.5:2.5,0.5:3.08,-0.08|",
        ),
        (
            black,
            "e8g8",
            "4,7:6.08,7|",
            "7,7:6.5,6.5:5.5,6.5:4.92,7.08|",
        ),
        (
            black,
            "e8c8",
            "4,7:1.92,7|",
            "0,7:0.5,6.5:2.5,6.5:3.08,7.08|",
        ),
    ] {
        assert_eq!(planned(fen, uci, &[8]), [king, rook], "{uci}");
        let bare = fen.replace("pppppppp", "8").replace("PPPPPPPP", "8");
        assert_eq!(planned(&bare, uci, &[8]), [king, rook], "{uci}");
    }
    assert_eq!(
        taken_back(white, "e1g1"),
        ["5,0:5.5,0.5:6.5,0.5:7.08,-0.08|", "6,0:3.92,0|"]
    );
}

#[test]
fn a_knight_goes_over_an_empty_square_straight_first() {
    let fen = |rows: &str| format!("4k3/8/{rows}/8/8/4K3 w - - 0 1");
    // From d4 to e6, past d5 and e5.
    for (rows, path) in [
        ("8/8/3N4", "3,3:3,4:4.08,5.08|"),
        ("8/3p4/3N4", "3,3:4,4:4,5.08|"),
        ("8/3pp3/3N4", "3,3:3.5,3.5:3.5,4.5:4.08,5.08|"),
    ] {
        assert_eq!(planned(&fen(rows), "d4e6", &[8]), [path]);
    }
}

#[test]
fn a_victim_is_carried_away_before_its_captor_comes() {
    assert_eq!(
        planned("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", &[8]),
        ["3,4:7,4:8.08,2.92|", "4,3:2.92,4.08|"]
    );
    assert_eq!(
        planned("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", &[8])[1],
        "4,4:2.92,5.08|"
    );
}

#[test]
fn a_promotion_takes_the_pawn_away_and_asks_for_the_piece() {
    let fen = "3r1k2/2P5/8/8/8/8/8/4K3 w - - 0 1";
    let plan = planned(fen, "c7d8q", &[8]);
    assert_eq!(plan.len(), 3, "{plan:?}");
    assert!(plan[0].starts_with("3,7:") && plan[1].starts_with("2,6:"));
    assert_eq!(plan[2], "bring Q to d8");
    let undone = taken_back(fen, "c7d8q");
    assert_eq!(undone.len(), 3, "{undone:?}");
    assert!(undone[0].starts_with("3,7:"));
    assert!(undone[1].starts_with("8,4:") && undone[2].starts_with("8,3:"));
}

#[test]
fn a_promoted_piece_comes_from_its_slot_if_one_stands_there() {
    let (game, m) = game("5k2/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7c8q");
    let mut parking = Parking::new(&[8]);
    let slot = parking.slots()[0];
    assert!(parking.put(slot, Role::Queen.of(Color::White)));
    let actions = forward(game.position().board(), &parking, m, Color::White);
    let Action::Carry(carry) = &actions[1] else {
        panic!("{actions:?}");
    };
    assert_eq!(
        (carry.from, carry.to),
        (Spot::Slot(slot), Spot::Square(Square::C8))
    );
}

#[test]
fn the_player_removes_what_finds_no_slot_and_brings_what_is_in_none() {
    let fen = "4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1";
    assert_eq!(planned(fen, "e4d5", &[]), ["remove d5", "4,3:2.92,4.08|"]);
    let (game, m) = game(fen, "e4d5");
    let parking = Parking::new(&[]);
    let board = game.position().board();
    let (board, parking) = done(&forward(board, &parking, m, Color::White), board, &parking);
    assert_eq!(
        words(&back(&board, &parking, m, Color::White)),
        ["3,4:4.08,2.92|", "bring p to d5"]
    );
}

#[test]
fn what_the_hand_has_done_already_takes_nothing() {
    for (fen, uci) in [
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6"),
        ("3r1k2/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7d8n"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1"),
    ] {
        let (game, m) = game(fen, uci);
        let before = game.position();
        let after = before.clone().play(m).unwrap();
        let parking = Parking::default();
        assert_eq!(forward(after.board(), &parking, m, before.turn()), []);
    }
}

proptest! {
    /// The tracked pieces may be wrong: the plan then still ends with the right piece on the square.
    #[test]
    fn any_pieces_are_planned_with(
        squares in proptest::collection::vec((0u32..64, 0u8..12), 0..40),
        parked in proptest::collection::vec(0u8..12, 0..32),
        (from, to) in (0u32..64, 0u32..64),
    ) {
        let piece = |n: u8| Role::ALL[usize::from(n % 6)].of(Color::from_white(n < 6));
        let mut board = Board::empty();
        for (square, n) in squares {
            board.set_piece_at(Square::new(square), piece(n));
        }
        let mut parking = Parking::default();
        let slots = parking.slots().to_vec();
        for (slot, n) in slots.into_iter().zip(parked) {
            parking.put(slot, piece(n));
        }
        let (from, to) = (Square::new(from), Square::new(to));
        prop_assume!(from != to);
        for promotion in [None, Some(Role::Queen)] {
            let m = Move::Normal { role: Role::Pawn, from, capture: None, to, promotion };
            let becomes = promotion.unwrap_or(Role::Pawn).of(Color::White);
            let there = done(&forward(&board, &parking, m, Color::White), &board, &parking);
            prop_assert_eq!(there.0.piece_at(to), Some(becomes));
            let again = done(&back(&there.0, &there.1, m, Color::White), &there.0, &there.1);
            prop_assert_eq!(again.0.piece_at(from), Some(Role::Pawn.of(Color::White)));
        }
    }
}
