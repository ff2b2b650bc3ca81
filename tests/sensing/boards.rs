//! Whole games on simulated boards of pieces.

use std::time::Duration;

use boardbridge::{
    chess::game::uci,
    vocabulary::{Advice, ClientName, Command, LinkState},
};
use rig::program::Program;
use shakmaty::{Bitboard, CastlingMode, Color, Square, fen::Fen, uci::UciMove};
use simulators::{
    HandAction,
    chessnut::{self, usb::UsbChessnut},
    dgt,
    game::Game,
    gesture::{CaptureOrder, CastlingOrder, Style, Touch},
    pegasus,
    pieces::{self, Order},
};

use super::table::{Late, Table, Wood};

/// Games of real players.
const GAMES: &str = include_str!("../games/lichess-428.uci");
/// Those of them that the usual run plays on each board.
const PLAYED: usize = 12;

/// A person who makes the program's moves.
fn person() -> pieces::Settings {
    pieces::Settings {
        hand_delay: Some(Duration::from_millis(700)),
        ..pieces::Settings::default()
    }
}

fn dgt(pieces: pieces::Settings) -> Table<dgt::Dgt> {
    let settings = dgt::Settings {
        pieces,
        ..dgt::Settings::default()
    };
    Table::new(dgt::Dgt::new(settings), "")
}

fn chessnut(pieces: pieces::Settings) -> Table<chessnut::Chessnut> {
    let settings = chessnut::Settings {
        pieces,
        ..chessnut::Settings::default()
    };
    Table::new(chessnut::Chessnut::new(settings), "")
}

/// Its key, as its simulator has it: `SIMKEY`.
const KEY: &str = "key = \"53494D4B4559\"";

fn pegasus(pieces: pieces::Settings) -> Table<pegasus::Pegasus> {
    let settings = pegasus::Settings {
        pieces,
        ..pegasus::Settings::default()
    };
    Table::new(pegasus::Pegasus::new(settings), KEY)
}

fn chessnut_by_usb(pieces: pieces::Settings) -> Table<UsbChessnut> {
    let settings = chessnut::Settings {
        pieces,
        ..chessnut::Settings::default()
    };
    let board = chessnut::Chessnut::new(settings);
    Table::new(UsbChessnut::new(board), "hid = {}")
}

fn tidily(m: UciMove) -> Order {
    Order::Do(HandAction::Move(m))
}

fn whole_games<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    for (index, moves) in GAMES.lines().take(PLAYED).enumerate() {
        table(person()).plays(moves, index % 2 == 0, tidily);
    }
}

#[test]
fn whole_games_are_played_on_a_dgt_board() {
    whole_games(dgt);
}

#[test]
fn whole_games_are_played_on_a_chessnut_board() {
    whole_games(chessnut);
}

#[test]
fn whole_games_are_played_on_a_pegasus() {
    whole_games(pegasus);
}

#[test]
fn the_lamps_of_a_pegasus_are_lit_again_for_a_hand_that_hesitates() {
    let mut table = pegasus(pieces::Settings::default());
    table.plays("e2e4", true, tidily);
    assert!(table.game.push(legal(&table, "e7e5")));
    table.states(false);
    let lit = |table: &Table<pegasus::Pegasus>| table.wood.lamps() == [Square::E7, Square::E5];
    table.comes("the lamps", lit);
    table
        .wood
        .does(table.now, Order::Touch(Touch::Lift(Square::E7)));
    table.comes("darkness", |table| table.wood.lamps().is_empty());
    table.comes("the lamps again", lit);
}

/// The daemon is killed before the hand has made the program's move: the new one lights it again.
fn a_move_is_lit_again_after_a_restart<W: Wood>(
    mut table: Table<W>,
    lamps: impl Fn(&W) -> Vec<Square>,
) {
    table.plays("e2e4", true, tidily);
    let reply = legal(&table, "e7e5");
    assert!(table.game.push(reply));
    table.states(false);
    let lit = |table: &Table<W>| {
        let lamps = Bitboard::from_iter(lamps(&table.wood));
        lamps == Bitboard::from_iter([Square::E7, Square::E5])
    };
    table.comes("the lamps", lit);
    table.restart(false);
    table.is_ready();
    table.waits(Duration::from_secs(10));
    assert!(lit(&table), "{}", table.whole_story());
    table.wood.does(table.now, Order::Do(HandAction::Execute));
    table.comes("darkness", |table| lamps(&table.wood).is_empty());
    table.plays("g1f3", true, tidily);
}

/// Whether the player is asked to take this move back.
fn asks_back<W: Wood>(table: &Table<W>, made: &str) -> bool {
    let made: UciMove = made.parse().unwrap();
    matches!(table.snapshot().advice, Advice::TakeBack(m) if uci(m) == made)
}

/// The hand has made its first move, and the program takes that back.
fn program_takes_the_first_move_back<W: Wood>(table: &mut Table<W>) {
    table.plays("e2e4", true, tidily);
    table.game = table.game.truncated(0);
    table.states(true);
    table.comes("the take-back", |table| asks_back(table, "e2e4"));
}

fn a_take_back_is_asked_for_while_the_pieces_lack_it<W: Wood>(
    mut table: Table<W>,
    goes: impl FnOnce(&mut Table<W>),
) {
    program_takes_the_first_move_back(&mut table);
    goes(&mut table);
    table.waits(Duration::from_secs(10));
    assert!(asks_back(&table, "e2e4"), "{}", table.whole_story());
    table.wood.does(table.now, Order::Do(HandAction::TakeBack));
    table.comes("the pieces", |table| !asks_back(table, "e2e4"));
    table.plays("d2d4", true, tidily);
}

#[test]
fn a_take_back_is_asked_for_again_after_a_lost_link() {
    fn unlinked<W: Wood>(table: &mut Table<W>) {
        table.unlink();
        table.waits(Duration::from_secs(5));
        table.link();
    }
    let nobody = pieces::Settings::default;
    a_take_back_is_asked_for_while_the_pieces_lack_it(dgt(nobody()), unlinked);
    a_take_back_is_asked_for_while_the_pieces_lack_it(chessnut(nobody()), unlinked);
    a_take_back_is_asked_for_while_the_pieces_lack_it(pegasus(nobody()), unlinked);
}

/// The program has made the move again when the daemon is back: it is not asked back first.
fn what_was_to_be_taken_back_may_stay<W: Wood>(mut table: Table<W>) {
    program_takes_the_first_move_back(&mut table);
    let again = legal(&table, "e2e4");
    assert!(table.game.push(again));
    let before = table.whole_story().lines().count();
    table.restart(false);
    table.is_ready();
    table.waits(Duration::from_secs(10));
    let story = table.whole_story();
    let since: Vec<&str> = story.lines().skip(before).collect();
    assert!(!since.join("\n").contains("take e2e4 back"), "{story}");
    assert!(!asks_back(&table, "e2e4"), "{story}");
}

#[test]
fn a_move_that_stands_and_is_made_again_is_not_asked_back_after_a_restart() {
    let nobody = pieces::Settings::default;
    what_was_to_be_taken_back_may_stay(dgt(nobody()));
    what_was_to_be_taken_back_may_stay(chessnut(nobody()));
    what_was_to_be_taken_back_may_stay(pegasus(nobody()));
}

#[test]
fn a_take_back_is_asked_for_again_after_a_restart() {
    fn restarted<W: Wood>(table: &mut Table<W>) {
        table.restart(false);
        table.is_ready();
    }
    let nobody = pieces::Settings::default;
    a_take_back_is_asked_for_while_the_pieces_lack_it(dgt(nobody()), restarted);
    a_take_back_is_asked_for_while_the_pieces_lack_it(chessnut(nobody()), restarted);
    a_take_back_is_asked_for_while_the_pieces_lack_it(pegasus(nobody()), restarted);
}

/// Two moves are to be taken back, and the daemon is killed before the hand has done anything.
fn two_moves_are_taken_back_in_their_order<W: Wood>(mut table: Table<W>) {
    for (hand, program) in [("d2d4", "d7d5"), ("e2e4", "e7e5")] {
        table.plays(hand, true, tidily);
        let reply = legal(&table, program);
        assert!(table.game.push(reply));
        table.states(false);
        let shown = |table: &Table<W>| *table.snapshot().game == table.game;
        table.comes("the reply", shown);
        let heard = HandAction::Hear(program.parse().unwrap());
        for action in [heard, HandAction::Execute] {
            table.wood.does(table.now, Order::Do(action));
        }
        table.comes("the reply on the board", |table| {
            table.snapshot().guidance.is_empty()
                && table.wood.pieces().game().len() == table.game.len()
        });
        table.waits(Duration::from_secs(2));
    }
    table.game = table.game.truncated(2);
    table.states(true);
    table.comes("the first take-back", |table| asks_back(table, "e7e5"));
    table.restart(true);
    table.is_ready();
    table.waits(Duration::from_secs(10));
    assert!(asks_back(&table, "e7e5"), "{}", table.whole_story());
    table.wood.does(table.now, Order::Do(HandAction::TakeBack));
    table.comes("the second take-back", |table| asks_back(table, "e2e4"));
    table.wood.does(table.now, Order::Do(HandAction::TakeBack));
    table.comes("the hand's turn", |table| {
        table.snapshot().advice == Advice::YourMove(Color::White)
    });
    table.plays("c2c4", true, tidily);
}

#[test]
fn two_moves_are_taken_back_in_their_order_after_a_restart() {
    let nobody = pieces::Settings::default;
    two_moves_are_taken_back_in_their_order(dgt(nobody()));
    two_moves_are_taken_back_in_their_order(chessnut(nobody()));
    two_moves_are_taken_back_in_their_order(pegasus(nobody()));
}

#[test]
fn a_move_of_the_program_is_lit_again_after_a_restart() {
    let nobody = pieces::Settings::default;
    a_move_is_lit_again_after_a_restart(chessnut(nobody()), |board| board.lamps().to_vec());
    a_move_is_lit_again_after_a_restart(pegasus(nobody()), |board| board.lamps().to_vec());
}

#[test]
fn captures_count_on_a_pegasus_that_never_sees_their_squares_empty() {
    for hand_has_white in [true, false] {
        let settings = pegasus::Settings {
            pieces: person(),
            hides_captures: true,
            ..pegasus::Settings::default()
        };
        let mut table = Table::new(pegasus::Pegasus::new(settings), KEY);
        let moves =
            "e2e4 d7d5 e4d5 d8d5 b1c3 d5d8 d2d4 g8f6 g1f3 c8g4 f1e2 g4f3 e2f3 b8c6 f3c6 b7c6";
        table.plays(moves, hand_has_white, tidily);
    }
}

/// How often the player is told that the battery will not last.
fn told_empty<W: Wood>(table: &Table<W>) -> usize {
    let told = |text: &&String| text.contains("battery is almost empty");
    table.faults.iter().filter(told).count()
}

#[test]
fn the_player_is_told_once_that_the_board_will_soon_switch_off() {
    let mut table = pegasus(person());
    table.waits(Duration::from_secs(30));
    for (level, told) in [(10, 0), (5, 1), (4, 1), (60, 1), (5, 2)] {
        table.wood.set_battery(table.now, level);
        table.waits(Duration::from_secs(10));
        assert_eq!(told_empty(&table), told, "{level} %");
    }
    for (battery, charging, told) in [(6, false, 0), (5, false, 1), (5, true, 0)] {
        let mut table = Table::new(
            chessnut::Chessnut::new(chessnut::Settings {
                battery,
                charging,
                ..chessnut::Settings::default()
            }),
            "",
        );
        // It is asked again meanwhile.
        table.waits(Duration::from_mins(6));
        assert_eq!(told_empty(&table), told, "{battery} %, {charging}");
    }
}

/// Boards that show no squares, and what the player is told.
#[test]
fn a_pegasus_that_is_locked_or_not_calibrated_says_so_and_its_squares_are_no_position() {
    let told = |settings: pegasus::Settings, keys: &str, words: &str| {
        let mut table = Table::new(pegasus::Pegasus::new(settings), keys);
        table.comes(words, |table| {
            table.faults.iter().any(|why| why.contains(words))
        });
        assert!(!table.snapshot().sure);
        // Whoever looks while it is tried again is told, too.
        let asks = |table: &Table<pegasus::Pegasus>| {
            matches!(table.snapshot().link, LinkState::Asking { .. })
        };
        table.comes("another try", asks);
        let state = table.snapshot();
        assert!(state.link.why().is_some_and(|why| why.contains(words)));
        assert!(state.advice.to_string().contains(words), "{words}");
    };
    let usual = pegasus::Settings::default;
    told(usual(), "", "set `key`");
    told(
        usual(),
        "key = \"00 11 22 33 44 55\"",
        "does not accept the `key`",
    );
    let tells_no_key = pegasus::Settings {
        tells_key: false,
        ..usual()
    };
    told(tells_no_key, "key = \"001122334455\"", "stays locked");
    let calibrated = pegasus::Settings {
        calibrated: false,
        ..usual()
    };
    told(calibrated, KEY, "is not calibrated");
}

#[test]
fn whole_games_are_played_on_a_chessnut_board_by_usb() {
    whole_games(chessnut_by_usb);
}

#[test]
fn a_board_by_usb_is_told_its_charge_when_it_knows_it() {
    let mut table = chessnut_by_usb(person());
    // It says meanwhile, unasked, that it does not know it.
    table.waits(Duration::from_secs(30));
    assert_eq!(table.snapshot().battery, Some(88));
    // A cable that is out for a moment is there at once; a radio would be left alone for nine seconds.
    assert_eq!(table.core.pause_between_links(), Duration::ZERO);
}

/// A hand slides a pawn, and either side is not given its turn for a while, at any moment: the squares in between are no rest.
fn slides_on_a_busy_machine<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let style = Style {
        slides: true,
        ..Style::default()
    };
    let slide = |m| Order::Move(m, style);
    for late in [Late::Board, Late::Daemon] {
        for after in (0..1_500).step_by(20).map(Duration::from_millis) {
            let mut table = table(person());
            table.plays("e2e4 e7e5 g1f3 b8c6", true, tidily);
            table.states(true);
            let m = legal(&table, "a2a4");
            table.wood.does(table.now, slide(uci(m)));
            table.waits(after);
            table.is_kept_waiting(late, Duration::from_millis(2_900));
            table.told(m);
        }
    }
}

#[test]
fn a_slide_is_one_move_on_a_dgt_board_though_the_machine_is_busy() {
    slides_on_a_busy_machine(dgt);
}

#[test]
fn a_slide_is_one_move_on_a_chessnut_board_though_the_machine_is_busy() {
    slides_on_a_busy_machine(chessnut);
}

#[test]
fn a_slide_is_one_move_on_a_chessnut_board_by_usb_though_the_machine_is_busy() {
    slides_on_a_busy_machine(chessnut_by_usb);
}

#[test]
fn a_slide_is_one_move_on_a_pegasus_though_the_machine_is_busy() {
    slides_on_a_busy_machine(pegasus);
}

fn turned<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let mut table = table(pieces::Settings {
        turned: true,
        ..person()
    });
    table.plays("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6 e1g1", true, tidily);
}

#[test]
fn a_board_that_lies_the_other_way_round_is_played_on_as_it_lies() {
    turned(dgt);
    turned(chessnut);
    turned(pegasus);
    turned(chessnut_by_usb);
}

/// Every act of a game that is not a plain move, and every accident.
fn an_eventful_game<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let mut table = table(person());
    table.plays("e2e4 e7e5 g1f3 b8c6", true, tidily);
    // It takes its own last move back, with the program's, and plays another one.
    table.states(true);
    table.waits(Duration::from_secs(1));
    table.wood.does(table.now, Order::Do(HandAction::TakeBack));
    table.comes("the take-back", |table| table.snapshot().game.len() == 3);
    table.game.pop();
    table.states(false);
    table.wood.does(table.now, Order::Do(HandAction::TakeBack));
    table.comes("the second take-back", |table| {
        table.snapshot().game.len() == 2
    });
    table.game.pop();
    table.plays("f1c4 g8f6", true, tidily);
    // The program takes its move back.
    table.waits(Duration::from_secs(1));
    table.game.pop();
    table.states(false);
    table.comes("the program's take-back", |table| {
        table.snapshot().game.len() == 3 && table.snapshot().advice != Advice::Nothing
    });
    table.wood.does(table.now, Order::Do(HandAction::TakeBack));
    table.comes("the pieces", |table| {
        table.snapshot().advice == Advice::Nothing
    });
    table.plays("f8c5 g1f3 g8f6", true, tidily);
    // The link is lost while the hand moves; the daemon is killed while it moves.
    table.states(true);
    table.unlink();
    table.wood.does(table.now, tidily("e1g1".parse().unwrap()));
    table.waits(Duration::from_secs(5));
    table.link();
    table.told(castling(&table));
    table.plays("d7d6", true, tidily);
    table.states(true);
    table.waits(Duration::from_secs(1));
    table.wood.does(table.now, tidily("d2d3".parse().unwrap()));
    table.waits(Duration::from_millis(300));
    table.restart(true);
    let m = legal(&table, "d2d3");
    table.told(m);
    // A piece goes where it may not, and back.
    table.states(false);
    table.wood.does(
        table.now,
        Order::Do(HandAction::Wrong("a1a5".parse().unwrap())),
    );
    table.comes("what is wrong", |table| {
        !table.snapshot().guidance.is_empty()
    });
    table.wood.does(table.now, Order::Restore);
    table.comes("the pieces", |table| table.snapshot().guidance.is_empty());
    table.faults.clear();
    table.plays("e8g8 c1g5", true, tidily);
}

/// A king that lies does not show; nobody resigns by that, and it is stood up again.
fn a_king_laid_down<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let mut table = table(person());
    table.plays("e2e4 e7e5", true, tidily);
    table.states(true);
    let king = Color::White.king();
    table
        .wood
        .does(table.now, Order::Touch(Touch::Lift(Square::E1)));
    table.comes("the king", |table| !table.snapshot().guidance.is_empty());
    assert_eq!(table.snapshot().game.len(), 2, "{}", table.whole_story());
    table
        .wood
        .does(table.now, Order::Touch(Touch::Put(Square::E1, king)));
    table.comes("the pieces", |table| table.snapshot().guidance.is_empty());
    table.faults.clear();
    table.plays("g1f3 b8c6", true, tidily);
}

#[test]
fn a_king_laid_down_is_asked_for_and_ends_nothing() {
    a_king_laid_down(dgt);
    a_king_laid_down(chessnut);
    a_king_laid_down(chessnut_by_usb);
}

/// The hand takes two captures back without a pause.
fn captures_taken_back<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let mut table = table(person());
    table.plays("e2e4 d7d5 e4d5 d8d5", true, tidily);
    table.states(true);
    table.waits(Duration::from_secs(1));
    for _ in 0..2 {
        table.wood.does(table.now, Order::Do(HandAction::TakeBack));
    }
    table.comes("both take-backs", |table| table.snapshot().game.len() == 2);
    table.game.pop();
    table.game.pop();
    table.plays("b1c3 d5e4", true, tidily);
}

#[test]
fn two_captures_are_taken_back_at_once() {
    captures_taken_back(dgt);
    captures_taken_back(chessnut);
    captures_taken_back(chessnut_by_usb);
}

/// The hand takes a piece while the link is lost, and in another absence makes the program's move.
fn captures_without_a_link<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let mut table = table(person());
    table.plays("e2e4 d7d5", true, tidily);
    table.states(true);
    table.unlink();
    table.wood.does(table.now, tidily("e4d5".parse().unwrap()));
    table.waits(Duration::from_secs(10));
    table.link();
    let m = legal(&table, "e4d5");
    table.told(m);
    let m = legal(&table, "d8d5");
    assert!(table.game.push(m));
    table.states(false);
    table.comes("the program's capture", |table| {
        table.snapshot().advice != Advice::Nothing
    });
    table.unlink();
    table.wood.hears(table.now, m);
    table.waits(Duration::from_secs(10));
    table.link();
    table.comes("the pieces", |table| {
        table.wood.pieces().game().len() == 4 && table.snapshot().advice == Advice::Nothing
    });
    table.plays("b1c3 d5d8", true, tidily);
}

#[test]
fn captures_made_while_the_link_is_lost_are_told_when_it_is_there_again() {
    captures_without_a_link(dgt);
    captures_without_a_link(chessnut);
}

fn legal<W: Wood>(table: &Table<W>, m: &str) -> shakmaty::Move {
    let m: UciMove = m.parse().unwrap();
    m.to_move(table.game.position()).unwrap()
}

fn castling<W: Wood>(table: &Table<W>) -> shakmaty::Move {
    legal(table, "e1g1")
}

#[test]
fn a_game_goes_on_through_take_backs_accidents_and_mistakes() {
    an_eventful_game(dgt);
    an_eventful_game(pegasus);
    an_eventful_game(chessnut);
    an_eventful_game(chessnut_by_usb);
}

fn promotions<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    for role in ["q", "r", "b", "n"] {
        let mut table = table(person());
        let moves = format!("a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 h7h6 b7a8{role} h6h5");
        table.plays(&moves, true, tidily);
    }
}

#[test]
fn a_pawn_becomes_the_piece_that_is_put_there() {
    promotions(dgt);
    promotions(chessnut);
    promotions(chessnut_by_usb);
}

fn dgt_with_clock(kind: dgt::clock::Kind) -> Table<dgt::Dgt> {
    let clock = dgt::clock::Settings {
        kind,
        ..dgt::clock::Settings::default()
    };
    let settings = dgt::Settings {
        clock: Some(clock),
        pieces: person(),
        ..dgt::Settings::default()
    };
    let mut table = Table::new(dgt::Dgt::new(settings), "");
    table.hears = false;
    table
}

#[test]
fn a_board_that_is_switched_off_before_its_clock_has_answered_is_waited_for() {
    let mut table = dgt_with_clock(dgt::clock::Kind::Dgt3000);
    table.plays("e2e4", true, tidily);
    table.game.push(legal(&table, "e7e5"));
    table.states(false);
    table.wood.does(table.now, Order::Do(HandAction::Off));
    table.waits(Duration::from_secs(60));
    assert!(!table.snapshot().link.is_open());
    table
        .wood
        .does(table.now, Order::Do(HandAction::On { forgetful: true }));
    table.comes("the move on the clock", |table| {
        table.wood.clock_text().starts_with("e5")
    });
}

#[test]
fn the_clock_shows_the_programs_moves_and_its_own_times_again() {
    for kind in [dgt::clock::Kind::Dgt3000, dgt::clock::Kind::Xl] {
        let mut table = dgt_with_clock(kind);
        table.plays(
            "e2e4 g8f6 b1c3 d7d5 e4d5 f6d5 c3d5 d8d5 d1f3 d5f3 g1f3",
            true,
            tidily,
        );
        table.comes("the time", |table| table.wood.clock_text().is_empty());
    }
}

fn a_position_put_up_by_hand<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let fen = "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1";
    let fen: Fen = fen.parse().unwrap();
    let position = Game::from_start(fen.into_position(CastlingMode::Standard).unwrap());
    // Black moves first; nobody has said so.
    let mut table = table(person());
    table.waits(Duration::from_secs(3));
    table
        .wood
        .does(table.now, Order::Do(HandAction::SetUp(Box::new(position))));
    table.comes("the position", |table| {
        table
            .snapshot()
            .game
            .fen()
            .to_string()
            .starts_with("8/8/4k3/8/8/4K3/4P3/8 w")
    });
    let king = [("e6", None), ("e5", Some(Color::Black.king()))];
    for (square, piece) in king {
        let square = Square::from_ascii(square.as_bytes()).unwrap();
        let touch = piece.map_or(Touch::Lift(square), |piece| Touch::Put(square, piece));
        table.wood.does(table.now, Order::Touch(touch));
        table.waits(Duration::from_millis(500));
    }
    table.comes("Black's move", |table| {
        let game = table.snapshot().game;
        game.len() == 1 && game.turn() == Color::White
    });
}

#[test]
fn an_engine_that_waits_for_the_first_move_begins_where_the_pieces_are_put_up() {
    let mut table = chessnut(person());
    let mut engine = Program::default();
    let game = boardbridge::chess::game::Game::standard();
    let mut states = engine.states(&game);
    if let Command::Target { label, .. } = &mut states {
        *label = ClientName::Engine("an engine".into());
    }
    table.core.command(table.now, states);
    table.core.command(table.now, engine.awaits(true));
    table.is_ready();
    let before = table.snapshot().put_to_start;
    let fen: Fen = "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1".parse().unwrap();
    let position = Game::from_start(fen.into_position(CastlingMode::Standard).unwrap());
    table
        .wood
        .does(table.now, Order::Do(HandAction::SetUp(Box::new(position))));
    table.comes("the position", |table| {
        table.snapshot().put_to_start > before
    });
}

#[test]
fn a_position_put_up_on_a_board_that_nobody_has_becomes_its_game() {
    a_position_put_up_by_hand(dgt);
    a_position_put_up_by_hand(chessnut);
}

/// The program's new game has moves already, and the hand puts the pieces where these have led, not at the start.
fn a_new_game_put_up_where_it_has_come_to<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let mut table = table(person());
    table.plays("e2e4 e7e5", true, tidily);
    let mut game = boardbridge::chess::game::Game::standard();
    game.play_uci("e2e4 d7d5".split_whitespace()).unwrap();
    let begins = Command::NewGame {
        client: table.program.client,
    };
    table.core.command(table.now, begins);
    table.game = game.clone();
    table.states(true);
    table.comes("what is asked for", |table| {
        !table.snapshot().guidance.is_empty()
    });
    let put_up = HandAction::SetUp(Box::new(Game::from_start(game.position().clone())));
    table.wood.does(table.now, Order::Do(put_up));
    table.comes("the new game", |table| {
        let held = table.snapshot();
        *held.game == game && held.guidance.is_empty()
    });
    let m = legal(&table, "e4d5");
    table.wood.does(table.now, tidily("e4d5".parse().unwrap()));
    table.comes("the hand's move", |table| {
        table.program.answer(&table.snapshot()) == Some(m)
    });
}

#[test]
fn a_new_game_that_has_moves_is_put_up_where_these_have_led() {
    a_new_game_put_up_where_it_has_come_to(dgt);
    a_new_game_put_up_where_it_has_come_to(chessnut);
    a_new_game_put_up_where_it_has_come_to(chessnut_by_usb);
}

/// The pieces stand already where a game goes on with a capture en passant, when the program states that game.
fn a_double_step_that_stands_already<W: Wood>(
    table: impl Fn(pieces::Settings) -> Table<W>,
    knows_pieces: bool,
) {
    use boardbridge::chess::game::Game as Stated;
    let mut told = Stated::standard();
    told.play_uci("e2e4 a7a6 e4e5 d7d5".split_whitespace())
        .unwrap();
    let fen = "rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3";
    let alone = Stated::from_fen(fen).unwrap();
    // A board of squares is led back to where the two games part.
    let whole = knows_pieces.then(|| told.clone());
    for stated in [Some(alone), whole].into_iter().flatten() {
        let mut table = table(person());
        table.plays("d2d4 g8f6", true, tidily);
        let put_up = HandAction::SetUp(Box::new(Game::from_start(told.position().clone())));
        table.wood.does(table.now, Order::Do(put_up));
        table.waits(Duration::from_secs(30));
        table.game = stated;
        table.states(true);
        table.comes("the hand's turn", |table| {
            table.snapshot().advice == Advice::YourMove(Color::White)
        });
        let m = legal(&table, "e5d6");
        table.wood.does(table.now, tidily("e5d6".parse().unwrap()));
        table.comes("the capture", |table| {
            table.program.answer(&table.snapshot()) == Some(m)
        });
    }
}

#[test]
fn a_position_with_a_capture_en_passant_is_taken_as_it_stands() {
    a_double_step_that_stands_already(dgt, true);
    a_double_step_that_stands_already(chessnut, true);
    a_double_step_that_stands_already(pegasus, false);
}

/// A hand that puts back four moves so quickly that no position between stands.
fn many_moves_taken_back_at_once<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let mut table = table(person());
    table.plays("e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 d2d3", true, tidily);
    let wanted = table.game.truncated(3);
    for _ in 3..table.game.len() {
        let back = Order::Do(HandAction::TakeBack);
        table.wood.does(table.now, back);
    }
    table.comes("the take-back", |table| *table.snapshot().game == wanted);
}

#[test]
fn any_number_of_moves_may_be_taken_back_at_once() {
    many_moves_taken_back_at_once(dgt);
    many_moves_taken_back_at_once(chessnut);
}

/// A program takes its move back and makes it again before the hand has touched it, as one that restates its game from the start does.
fn a_move_taken_back_and_made_again<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let mut table = table(person());
    table.plays("e2e4 e7e5", true, tidily);
    table.states(true);
    table.waits(Duration::from_secs(1));
    let whole = table.game.clone();
    table.game.pop();
    table.states(false);
    table.comes("the program's take-back", |table| {
        matches!(table.snapshot().advice, Advice::TakeBack(_))
    });
    table.game = whole;
    table.states(true);
    table.comes("the game as it was", |table| {
        let waits = matches!(
            table.snapshot().advice,
            Advice::TakeBack(_) | Advice::Make(_)
        );
        table.snapshot().game.len() == 2 && !waits
    });
    table.plays("g1f3 b8c6", true, tidily);
}

#[test]
fn a_move_that_is_taken_back_and_made_again_is_left_where_it_stands() {
    a_move_taken_back_and_made_again(dgt);
    a_move_taken_back_and_made_again(chessnut);
    a_move_taken_back_and_made_again(chessnut_by_usb);
}

/// A hand puts up at once where several moves lead, or where another game has come to, though it was asked for the first step only.
fn put_up_where_the_program_is<W: Wood>(
    table: impl Fn(pieces::Settings) -> Table<W>,
    played: &str,
    target: &str,
) {
    let mut table = table(pieces::Settings::default());
    for (ply, m) in played.split_whitespace().enumerate() {
        let by_program = ply % 2 == 1;
        let m: UciMove = m.parse().unwrap();
        if by_program {
            table.game.play_uci([m.to_string().as_str()]).unwrap();
        }
        table.states(true);
        table.is_ready();
        if by_program {
            table.waits(Duration::from_secs(1));
        }
        table.wood.does(table.now, tidily(m));
        if by_program {
            table.waits(Duration::from_secs(3));
        } else {
            table.told(legal(&table, &m.to_string()));
        }
    }
    let mut game = boardbridge::chess::game::Game::standard();
    game.play_uci(target.split_whitespace()).unwrap();
    table.game = game.clone();
    table.states(true);
    table.waits(Duration::from_secs(2));
    let put_up = HandAction::SetUp(Box::new(Game::from_start(game.position().clone())));
    table.wood.does(table.now, Order::Do(put_up));
    table.comes("the program's game", |table| {
        let held = table.snapshot();
        *held.game == game && held.guidance.is_empty()
    });
    let m = legal(&table, "d2d3");
    table.wood.does(table.now, tidily("d2d3".parse().unwrap()));
    table.comes("the hand's move", |table| {
        table.program.answer(&table.snapshot()) == Some(m)
    });
}

#[test]
fn whatever_is_put_up_as_in_the_programs_game_is_that_game() {
    for (played, target) in [
        ("", "e2e4 e7e5 g1f3 b8c6"),
        ("e2e4 e7e5", "g1f3 d7d5"),
        ("e2e4 e7e5 g1f3 d7d6", "e2e4 c7c5"),
    ] {
        put_up_where_the_program_is(dgt, played, target);
    }
    put_up_where_the_program_is(chessnut, "", "e2e4 e7e5 g1f3 b8c6");
}

/// A program shows its move and leaves before the hand has made it; then the hand makes this one.
fn a_move_of_a_program_that_has_left<W: Wood>(
    table: impl Fn(pieces::Settings) -> Table<W>,
    made: &str,
) {
    let mut table = table(pieces::Settings::default());
    table.plays("e2e4", true, tidily);
    table.game.play_uci(["e7e5"]).unwrap();
    table.states(true);
    table.comes("the program's move", |table| {
        matches!(table.snapshot().advice, Advice::Make(_))
    });
    let release = Command::Release {
        client: table.program.client,
    };
    table.core.command(table.now, release);
    table.waits(Duration::from_secs(5));
    assert_eq!(table.snapshot().advice, Advice::Nothing);
    table.wood.does(table.now, tidily(made.parse().unwrap()));
    let mut wanted = boardbridge::chess::game::Game::standard();
    wanted.play_uci(["e2e4", made]).unwrap();
    table.waits(Duration::from_secs(5));
    let held = table.snapshot();
    assert!(*held.game == wanted, "{made}: {}", table.whole_story());
    assert_eq!(held.advice, Advice::Nothing);
    assert!(held.guidance.is_empty(), "{:?}", held.guidance);
}

#[test]
fn a_move_of_a_program_that_has_left_is_made_or_another_in_its_place() {
    for made in ["e7e5", "e7e6", "g8f6"] {
        a_move_of_a_program_that_has_left(dgt, made);
        a_move_of_a_program_that_has_left(chessnut, made);
    }
    a_move_of_a_program_that_has_left(pegasus, "e7e5");
}

/// The player closes an app in mid-game, and puts the pieces up.
fn a_game_of_an_app_that_is_away<W: Wood>(
    table: impl Fn(pieces::Settings) -> Table<W>,
    moves: &str,
) {
    let mut table = table(person());
    table.plays(moves, true, tidily);
    table.states(true);
    table.waits(Duration::from_secs(1));
    let client = table.program.client;
    table
        .core
        .command(table.now, Command::Away { client, on: true });
    table.wood.does(table.now, Order::Do(HandAction::NewGame));
    table.comes("a free board", |table| {
        let board = table.snapshot();
        board.holders.is_empty() && board.game.is_empty()
    });
}

#[test]
fn an_app_that_is_away_keeps_no_board_from_the_next_game() {
    for moves in ["e2e4 e7e5", "e2e4 e7e5 g1f3 b8c6"] {
        a_game_of_an_app_that_is_away(dgt, moves);
        a_game_of_an_app_that_is_away(chessnut, moves);
        a_game_of_an_app_that_is_away(pegasus, moves);
    }
}

/// After a mate the pieces are put up for the next game, a first move's pawn last; the board stands so for a moment.
fn put_up_after_a_mate<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let mut table = table(person());
    table.plays("e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7", true, tidily);
    let release = Command::Release {
        client: table.program.client,
    };
    table.core.command(table.now, release);
    let mut begun = boardbridge::chess::game::Game::standard();
    begun.play_uci(["e2e4"]).unwrap();
    let put_up = HandAction::SetUp(Box::new(Game::from_start(begun.position().clone())));
    table.wood.does(table.now, Order::Do(put_up));
    table.waits(Duration::from_secs(5));
    assert_eq!(table.snapshot().game.len(), 7, "nothing was taken back");
    table.wood.does(table.now, Order::Do(HandAction::NewGame));
    table.comes("the new game", |table| {
        table.snapshot().game.is_empty() && table.snapshot().put_to_start > 0
    });
}

#[test]
fn pieces_that_are_put_up_after_a_mate_are_no_moves_taken_back() {
    put_up_after_a_mate(dgt);
    put_up_after_a_mate(chessnut);
}

fn a_quick_first_move<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    // The pawn is in the hand when the board is first asked.
    let mut table = table(person());
    let m = legal(&table, "e2e4");
    table
        .wood
        .does(table.now, Order::Touch(Touch::Lift(Square::E2)));
    table.waits(Duration::from_secs(2));
    table.states(true);
    table.comes("what is missing", |table| {
        !table.snapshot().guidance.is_empty()
    });
    table.wood.does(
        table.now,
        Order::Touch(Touch::Put(Square::E4, Color::White.pawn())),
    );
    table.told(m);
}

#[test]
fn a_move_that_the_hand_was_making_when_the_board_was_asked_counts() {
    a_quick_first_move(dgt);
    a_quick_first_move(chessnut);
}

/// A game whose hand is untidy: pieces slide, bounce and are put straight.
fn untidily(style: Style) -> impl FnMut(UciMove) -> Order {
    move |m| Order::Move(m, style)
}

fn untidy_games<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let styles = [
        Style {
            slides: true,
            adjusts_after: 1,
            ..Style::default()
        },
        Style {
            capture: CaptureOrder::VictimFirst,
            castling: CastlingOrder::RookFirst,
            adjusts_before: 1,
            ..Style::default()
        },
        Style {
            bounces: true,
            castling: CastlingOrder::Together,
            straightens: true,
            ..Style::default()
        },
    ];
    for (index, moves) in GAMES.lines().skip(PLAYED).take(6).enumerate() {
        let style = styles[index % styles.len()];
        let person = pieces::Settings { style, ..person() };
        let mut table = table(person);
        table.plays_through(moves, index % 2 == 0, untidily(style));
    }
}

#[test]
fn untidy_hands_play_whole_games() {
    untidy_games(dgt);
    untidy_games(chessnut);
    untidy_games(chessnut_by_usb);
}

#[test]
fn a_line_that_loses_and_doubles_bytes_costs_no_move() {
    for moves in GAMES.lines().skip(20).take(3) {
        let settings = dgt::Settings {
            pieces: person(),
            lost: 0.002,
            doubled: 0.002,
            chunk: Some(7),
            ..dgt::Settings::default()
        };
        let mut table = Table::new(dgt::Dgt::new(settings), "");
        table.plays_through(moves, true, tidily);
    }
}

#[test]
fn an_old_board_on_a_poor_radio_costs_no_move() {
    let tails = [
        chessnut::Tail::None,
        chessnut::Tail::Short,
        chessnut::Tail::Untold,
    ];
    for tail in tails {
        let settings = chessnut::Settings {
            pieces: person(),
            tail,
            mtu: 23,
            lost: 0.1,
            spoiled: 0.02,
            charging_bit: true,
            charging: true,
            dense: chessnut::Dense::Refused,
            ..chessnut::Settings::default()
        };
        let mut table = Table::new(chessnut::Chessnut::new(settings), "");
        let moves = GAMES.lines().nth(30).unwrap();
        table.plays_through(moves, false, tidily);
        assert_eq!(table.snapshot().battery, Some(88));
    }
}

#[test]
fn a_board_that_shows_its_pieces_only_when_they_change_is_not_silent() {
    let settings = chessnut::Settings {
        pieces: person(),
        only_changes: true,
        ..chessnut::Settings::default()
    };
    let mut table = Table::new(chessnut::Chessnut::new(settings), "");
    table.plays("e2e4 e7e5", true, tidily);
    for _ in 0..60 {
        table.waits(Duration::from_secs(1));
        assert!(table.snapshot().link.is_open());
    }
    table.plays_through("g1f3 b8c6", true, tidily);
}

#[test]
fn a_board_that_was_switched_off_and_on_tells_its_changes_again() {
    let mut table = dgt(person());
    table.plays("e2e4 e7e5", true, tidily);
    table.wood.does(table.now, Order::Do(HandAction::Off));
    table.waits(Duration::from_secs(10));
    assert!(!table.snapshot().link.is_open());
    table
        .wood
        .does(table.now, Order::Do(HandAction::On { forgetful: true }));
    table.comes("the board", |table| table.snapshot().link.is_open());
    table.plays_through("g1f3 b8c6 f1b5 a7a6", true, tidily);
}

#[test]
fn a_board_by_usb_that_was_switched_off_is_played_on_when_it_is_on_again() {
    let mut table = chessnut_by_usb(person());
    table.plays("e2e4 e7e5", true, tidily);
    table.wood.does(table.now, Order::Do(HandAction::Off));
    table.waits(Duration::from_secs(10));
    assert!(!table.snapshot().link.is_open());
    table.unlink();
    table
        .wood
        .does(table.now, Order::Do(HandAction::On { forgetful: true }));
    table.link();
    table.plays_through("g1f3 b8c6 f1b5 a7a6", true, tidily);
}

#[test]
fn a_key_does_not_confirm_what_the_pieces_contradict() {
    let mut table = chessnut(person());
    table.plays("e2e4 e7e5", true, tidily);
    table.waits(Duration::from_secs(1));
    // The program takes its move back, and the hand has not done so yet.
    table.game.pop();
    table.states(false);
    table.comes("the take-back", |table| {
        table.snapshot().advice != Advice::Nothing
    });
    table.wood.press_new_game(table.now, true);
    table.waits(Duration::from_secs(10));
    assert_eq!(table.snapshot().game.len(), 1);
    assert_ne!(table.snapshot().advice, Advice::Nothing);
}

#[test]
fn a_link_that_was_left_behind_is_given_the_time_that_it_takes() {
    let settings = chessnut::Settings {
        pieces: person(),
        stale_within: Some(Duration::from_secs(8)),
        ..chessnut::Settings::default()
    };
    let mut table = Table::new(chessnut::Chessnut::new(settings), "");
    table.plays("e2e4 e7e5", true, tidily);
    // The daemon is killed, and the new one takes the link too soon.
    table.restart(true);
    table.waits(Duration::from_secs(20));
    assert!(!table.snapshot().link.is_open());
    table.wood.does(table.now, Order::Do(HandAction::Off));
    table
        .wood
        .does(table.now, Order::Do(HandAction::On { forgetful: true }));
    table.plays_through("g1f3 b8c6", true, tidily);
}
