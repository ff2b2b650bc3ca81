use shakmaty::{CastlingMode, Color, Role, fen::Fen};

use super::*;
use crate::gesture::{CaptureOrder, CastlingOrder, Doubt, EnPassantOrder, Promoting};

/// Positions with a move of each sort.
const MOVES: [(&str, &str); 6] = [
    (
        "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
        "e4d5",
    ),
    ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1"),
    ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1"),
    ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6"),
    ("3nk3/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7d8r"),
    ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a7"),
];

fn game(fen: &str) -> Game {
    let fen: Fen = fen.parse().unwrap();
    Game::from_start(fen.into_position(CastlingMode::Standard).unwrap())
}

/// Lets the time pass until nothing is due, and returns when that is.
fn settle(pieces: &mut Pieces, mut now: Instant) -> Instant {
    while let Some(at) = pieces.deadline() {
        now = at.max(now);
        pieces.timeout(now);
    }
    now
}

fn reports(pieces: &mut Pieces) -> Vec<String> {
    std::iter::from_fn(|| pieces.poll_report())
        .map(|report| report.to_string())
        .collect()
}

fn styles() -> Vec<Style> {
    let tidy = Style::default();
    vec![
        tidy,
        Style {
            capture: CaptureOrder::VictimFirst,
            castling: CastlingOrder::RookFirst,
            en_passant: EnPassantOrder::VictimFirst,
            promoting: Promoting::Direct,
            slides: true,
            ..tidy
        },
        Style {
            castling: CastlingOrder::Together,
            en_passant: EnPassantOrder::VictimBetween,
            bounces: true,
            adjusts_before: 1,
            adjusts_between: 1,
            adjusts_after: 2,
            straightens: true,
            doubt: Some(Doubt::Touch),
            ..tidy
        },
    ]
}

#[test]
fn a_move_in_any_style_ends_on_its_squares_and_every_change_is_told_in_the_order_of_time() {
    for style in styles() {
        for (fen, m) in MOVES {
            for seed in 1..20 {
                let mut pieces = Pieces::new(Settings {
                    seed,
                    ..Settings::default()
                });
                pieces.found(game(fen));
                let mut replayed = pieces.board().clone();
                let start = Instant::now();
                pieces.hand(start, Order::Move(m.parse().unwrap(), style));
                settle(&mut pieces, start);
                assert_eq!(reports(&mut pieces), [format!("made {m}")], "{style:?}");
                assert!(pieces.is_settled(), "{m} {style:?}");
                let mut last = start;
                while let Some(change) = pieces.poll_change() {
                    assert!(change.at >= last, "{m} {style:?}");
                    last = change.at;
                    replayed.discard_piece_at(change.square);
                    if let Some(piece) = change.piece {
                        replayed.set_piece_at(change.square, piece);
                    }
                }
                assert_eq!(replayed, *pieces.board(), "{m} {style:?}");
                // And back again.
                pieces.hand(last, Order::TakeBack(style));
                settle(&mut pieces, last);
                assert_eq!(
                    reports(&mut pieces),
                    [format!("took-back {m}")],
                    "{style:?}"
                );
                assert!(pieces.is_settled() && pieces.game().is_empty(), "{m}");
            }
        }
    }
}

#[test]
fn the_hand_executes_a_shown_move_after_its_delay_and_not_before() {
    let delay = Duration::from_secs(3);
    let mut pieces = Pieces::new(Settings {
        hand_delay: Some(delay),
        ..Settings::default()
    });
    let start = Instant::now();
    pieces.lit(start, vec![Square::E4, Square::E2]);
    assert_eq!(pieces.deadline(), Some(start + delay));
    settle(&mut pieces, start);
    assert!(pieces.poll_change().unwrap().at >= start + delay);
    assert_eq!(reports(&mut pieces), ["shown e2e4", "executed e2e4"]);
}

#[test]
fn a_move_whose_lamps_go_out_in_time_is_not_executed() {
    let mut pieces = Pieces::new(Settings {
        hand_delay: Some(Duration::from_secs(3)),
        ..Settings::default()
    });
    let start = Instant::now();
    pieces.lit(start, vec![Square::E4, Square::E2]);
    pieces.lit(start, Vec::new());
    settle(&mut pieces, start);
    assert_eq!(pieces.poll_change(), None);
    assert!(pieces.game().is_empty());
}

#[test]
fn an_answer_shown_before_the_own_move_lies_still_is_executed_after_it() {
    let mut pieces = Pieces::new(Settings {
        hand_delay: Some(Duration::ZERO),
        ..Settings::default()
    });
    let start = Instant::now();
    pieces.hand(start, HandAction::Move("e2e4".parse().unwrap()));
    pieces.lit(start, vec![Square::E7, Square::E5]);
    settle(&mut pieces, start);
    assert_eq!(
        reports(&mut pieces),
        ["made e2e4", "shown e7e5", "executed e7e5"]
    );
    assert!(pieces.is_settled());
}

#[test]
fn a_wrong_move_stays_out_of_the_game_and_a_take_back_puts_it_right() {
    for wrong in ["e2e5", "e2e4", "d1d7"] {
        let mut pieces = Pieces::new(Settings::default());
        let start = Instant::now();
        pieces.hand(start, HandAction::Wrong(wrong.parse().unwrap()));
        let now = settle(&mut pieces, start);
        assert!(pieces.game().is_empty() && !pieces.is_settled());
        pieces.hand(now, HandAction::Move("d2d4".parse().unwrap()));
        pieces.hand(now, HandAction::TakeBack);
        settle(&mut pieces, now);
        assert!(pieces.is_settled());
        assert_eq!(
            reports(&mut pieces),
            [
                &format!("wrong {wrong}"),
                "refused the pieces do not stand as in the game"
            ]
        );
    }
}

#[test]
fn a_new_game_is_told_when_the_last_piece_stands() {
    let mut pieces = Pieces::new(Settings::default());
    let start = Instant::now();
    for m in ["e2e4", "e7e5"] {
        pieces.hand(start, HandAction::Move(m.parse().unwrap()));
    }
    pieces.hand(start, HandAction::NewGame);
    settle(&mut pieces, start);
    assert_eq!(reports(&mut pieces), ["made e2e4", "made e7e5", "new-game"]);
    assert!(pieces.is_settled() && pieces.game().is_empty());
}

#[test]
fn what_a_motor_does_is_understood_as_a_move() {
    let mut pieces = Pieces::new(Settings::default());
    let start = Instant::now();
    pieces.lit(start, vec![Square::G1, Square::F3]);
    let mut board = pieces.board().clone();
    board.discard_piece_at(Square::G1);
    board.set_piece_at(Square::F3, Color::White.knight());
    pieces.driven(start, &board);
    assert_eq!(reports(&mut pieces), ["shown g1f3", "executed g1f3"]);
    assert!(pieces.is_settled());
}

#[test]
fn a_person_who_hears_what_a_pawn_becomes_puts_that_piece_down() {
    let mut pieces = Pieces::new(Settings::default());
    pieces.found(game("8/P6k/8/8/8/8/8/K7 w - - 0 1"));
    let start = Instant::now();
    pieces.lit(start, vec![Square::A7, Square::A8]);
    pieces.hand(start, HandAction::Hear("a7a8n".parse().unwrap()));
    pieces.hand(start, HandAction::Execute);
    settle(&mut pieces, start);
    let seen = ["shown a7a8q", "shown a7a8n", "executed a7a8n"];
    assert_eq!(reports(&mut pieces), seen);
    assert_eq!(
        pieces.board().piece_at(Square::A8),
        Some(Role::Knight.of(Color::White))
    );
}
