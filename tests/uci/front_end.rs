//! What a GUI may rely on, over real sockets, with simulated boards on real pseudo-terminals.

use boardbridge::chess::game::Game;
use simulators::run::Kind;

use crate::support::{FAST_CITRINE, FAST_UCB, Hand, House};

const HOME_MADE: &str = "kind = \"swpp\"\nmove_wait = \"50ms\"\n";

#[tokio::test]
async fn a_gui_is_introduced_to_every_board() {
    let folder = House::folder();
    let _citrine = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let _ucb = Hand::new(Kind::NovagUcb, folder.path().join("ucb"), true);
    let house = House::start(folder, &[("citrine", FAST_CITRINE), ("ucb", FAST_UCB)]).await;
    let mut gui = house.gui().await;
    gui.says("uci").await;
    gui.hears("uciok").await;
    for line in [
        "option name Board type combo default citrine var citrine var ucb",
        "option name Board ready type button",
    ] {
        assert!(gui.log.iter().any(|said| said == line), "{:?}", gui.log);
    }
    gui.says("setoption name Board value ucb\nuci").await;
    gui.hears("option name Board type combo default ucb").await;
}

#[tokio::test]
async fn a_hands_move_answers_go_and_the_guis_move_is_shown() {
    for citrine in [true, false] {
        let (_house, mut hand, mut gui) = House::with_citrine_or_ucb_and_gui(citrine).await;
        gui.says("uci\nisready\nucinewgame").await;
        gui.begins().await;
        hand.answers(&mut gui, "e2e4").await;
        gui.shows(&mut hand, "e2e4 e7e5").await;
        hand.answers(&mut gui, "g1f3").await;
        let faults = hand
            .seen()
            .into_iter()
            .filter(|r| r.starts_with("lost") || r.starts_with("fault"));
        assert_eq!(faults.count(), 0);
    }
}

#[tokio::test]
async fn a_byte_order_mark_before_the_first_line_does_no_harm() {
    let (_house, _hand, mut gui) = House::with_citrine_and_gui().await;
    gui.says("\u{feff}uci").await;
    gui.hears("uciok").await;
}

#[tokio::test]
async fn isready_is_answered_whatever_the_board_does() {
    let (_house, _hand, mut gui) = House::with_ucb_and_gui(false).await;
    gui.asks("e2e4").await;
    for _ in 0..50 {
        gui.says("isready").await;
        gui.hears("readyok").await;
    }
}

#[tokio::test]
async fn a_board_that_is_not_there_is_named_and_go_can_be_stopped() {
    let house = House::start(House::folder(), &[("citrine", FAST_CITRINE)]).await;
    let mut gui = house.gui().await;
    gui.asks("").await;
    gui.hears_of("no link to the board").await;
    gui.says("stop").await;
    gui.hears("bestmove 0000").await;
}

#[tokio::test]
async fn a_hand_that_moved_before_go_is_answered_at_once() {
    let (house, hand, mut gui) = House::with_citrine_and_gui().await;
    gui.says("position startpos").await;
    // Nobody knows when a move was made that the board has when it is first asked.
    house.knows("citrine", 0).await;
    hand.does("d2d4").await;
    house.knows("citrine", 1).await;
    gui.says("go infinite").await;
    gui.hears("info depth 1 score cp 0 pv d2d4").await;
    gui.says("stop").await;
    gui.hears("bestmove d2d4").await;
}

#[tokio::test]
async fn under_go_infinite_and_ponder_the_move_is_shown_and_becomes_bestmove_only_when_asked() {
    let (_house, mut hand, mut gui) = House::with_citrine_and_gui().await;
    gui.says("position startpos\ngo infinite").await;
    gui.hears_of("White to move").await;
    hand.does("e2e4").await;
    gui.hears("info depth 1 score cp 0 pv e2e4").await;
    hand.does("take-back").await;
    gui.hears_of("e2e4 was taken back").await;
    hand.does("d2d4").await;
    gui.hears("info depth 1 score cp 0 pv d2d4").await;
    gui.has_not_heard("bestmove").await;
    gui.says("stop").await;
    gui.hears("bestmove d2d4").await;
    gui.says("position startpos moves d2d4 d7d5\ngo ponder wtime 1 btime 1")
        .await;
    hand.sees("executed d7d5").await;
    hand.does("c2c4").await;
    gui.hears("info depth 1 score cp 0 pv c2c4").await;
    gui.has_not_heard("bestmove").await;
    gui.says("ponderhit").await;
    gui.hears("bestmove c2c4").await;
}

#[tokio::test]
async fn what_stands_on_the_board_from_before_a_take_back_is_not_the_players_move() {
    for citrine in [true, false] {
        let (_house, mut hand, mut gui) = House::with_citrine_or_ucb_and_gui(citrine).await;
        gui.says("ucinewgame").await;
        gui.begins().await;
        hand.answers(&mut gui, "e2e4").await;
        gui.asks("").await;
        gui.has_not_heard("bestmove").await;
        hand.sees(if citrine {
            "take-back e2e4"
        } else {
            "new-game"
        })
        .await;
        gui.hears_of("White to move").await;
        hand.answers(&mut gui, "d2d4").await;
        assert_eq!(gui.answers(), ["e2e4", "d2d4"]);
    }
}

#[tokio::test]
async fn what_stands_on_the_board_from_before_ucinewgame_is_not_the_players_move() {
    let (house, mut hand, mut gui) = House::with_citrine_and_gui().await;
    gui.begins().await;
    gui.says("stop").await;
    gui.hears("bestmove 0000").await;
    hand.does("e2e4").await;
    house.knows("citrine", 1).await;
    gui.says("ucinewgame").await;
    gui.asks("").await;
    hand.sees("new-game").await;
    gui.hears_of("White to move").await;
    hand.answers(&mut gui, "d2d4").await;
    assert_eq!(gui.answers(), ["0000", "d2d4"]);
}

#[tokio::test]
async fn a_hand_that_takes_a_reported_move_back_is_told_and_led_back() {
    for citrine in [true, false] {
        let (_house, mut hand, mut gui) = House::with_citrine_or_ucb_and_gui(citrine).await;
        gui.begins().await;
        hand.answers(&mut gui, "e2e4").await;
        hand.does("take-back").await;
        gui.hears_of("e2e4 was taken back on the board, but").await;
        hand.sees("executed e2e4").await;
        gui.shows(&mut hand, "e2e4 e7e5").await;
        hand.answers(&mut gui, "g1f3").await;
    }
}

#[tokio::test]
async fn a_wrong_execution_is_pointed_out_and_is_not_the_players_move() {
    let (_house, mut hand, mut gui) = House::with_ucb_and_gui(false).await;
    gui.asks("e2e4").await;
    hand.sees("shown e2e4").await;
    hand.does("wrong d2d4").await;
    gui.hears_of("d2d4 was made instead of e2e4").await;
    hand.does("wrong d4d2").await;
    hand.does("execute").await;
    hand.sees("executed e2e4").await;
    hand.answers(&mut gui, "e7e5").await;
    assert_eq!(gui.answers(), ["e7e5"]);
}

#[tokio::test]
async fn a_position_without_a_legal_move_has_no_move() {
    let (_house, _hand, mut gui) = House::with_citrine_and_gui().await;
    gui.asks("f2f3 e7e5 g2g4 d8h4").await;
    gui.hears("bestmove (none)").await;
    gui.says("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\ngo infinite")
        .await;
    gui.has_not_heard("bestmove").await;
    gui.says("stop").await;
    gui.hears("bestmove (none)").await;
}

#[tokio::test]
async fn illegal_positions_are_refused_in_words_and_go_is_answered() {
    let (house, mut hand, mut gui) = House::with_citrine_and_gui().await;
    for position in [
        "startpos moves e2e5",
        "startpos moves e2e4 e7e5 xyzzy",
        "fen rubbish w - - 0 1",
        "fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "fen",
        "",
    ] {
        // Another program each: what was just said is not said again.
        let mut gui = house.gui().await;
        gui.says(&format!("position {position}\ngo")).await;
        gui.hears("info string position refused").await;
        gui.hears("bestmove 0000").await;
    }
    gui.begins().await;
    hand.answers(&mut gui, "e2e4").await;
    assert!(
        !hand
            .seen()
            .iter()
            .any(|report| report.starts_with("set-up"))
    );
}

#[tokio::test]
async fn only_searchmoves_are_taken() {
    let (_house, mut hand, mut gui) = House::with_citrine_and_gui().await;
    gui.says("position startpos\ngo searchmoves e2e4 d2d4")
        .await;
    gui.hears_of("White to move").await;
    hand.does("g1f3").await;
    gui.hears_of("g1f3 is not among the moves").await;
    hand.sees("take-back g1f3").await;
    hand.answers(&mut gui, "d2d4").await;
}

#[tokio::test]
async fn a_game_given_by_its_last_position_is_the_same_game() {
    let (_house, mut hand, mut gui) = House::with_citrine_and_gui().await;
    gui.says("position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\ngo")
        .await;
    gui.hears_of("White to move").await;
    hand.answers(&mut gui, "e2e4").await;
    gui.says("position fen rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\ngo")
        .await;
    hand.sees("executed e7e5").await;
    hand.answers(&mut gui, "g1f3").await;
    let seen = hand.seen();
    assert!(
        !seen
            .iter()
            .any(|r| r.starts_with("set-up") || r.starts_with("new-game")),
        "{seen:?}"
    );
}

#[tokio::test]
async fn a_game_given_by_its_positions_goes_on_where_one_stands_again() {
    let (_house, mut hand, mut gui) = House::with_citrine_and_gui().await;
    gui.begins().await;
    let mut game = Game::standard();
    let program = ["g8f6", "f6g8", "g8f6", "f6g8"];
    for (m, shown) in ["g1f3", "f3g1", "g1f3", "f3g1"].iter().zip(program) {
        hand.answers(&mut gui, m).await;
        game.play_uci([*m, shown]).unwrap();
        gui.says(&format!("position fen {}\ngo", game.fen())).await;
        let before = hand.sees(&format!("executed {shown}")).await;
        let back = before.iter().find(|seen| seen.starts_with("take-back"));
        assert_eq!(back, None, "{before:?}");
    }
}

#[tokio::test]
async fn a_resumed_game_goes_on_where_it_was() {
    let moves = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5 a4b3 d7d6 c2c3 e8g8";
    for citrine in [true, false] {
        let (_house, mut hand, mut gui) = House::with_citrine_or_ucb_and_gui(citrine).await;
        gui.asks(moves).await;
        hand.sees("set-up r1bq1rk1/2p1bppp/p1np1n2/1p2p3/4P3/1BP2N2/PP1P1PPP/RNBQR1K1 w")
            .await;
        gui.hears_of("White to move").await;
        hand.answers(&mut gui, "h2h3").await;
    }
}

#[tokio::test]
async fn a_move_made_while_the_cable_was_out_answers_go_on_a_citrine() {
    let (_house, mut hand, mut gui) = House::with_citrine_and_gui().await;
    gui.shows(&mut hand, "e2e4").await;
    hand.does("unplug").await;
    gui.hears_of("no link to the board").await;
    hand.does("e7e5").await;
    hand.sees("made e7e5").await;
    hand.does("plug").await;
    gui.hears("bestmove e7e5").await;
}

/// It forgets nothing, and is told nothing twice. On the network no one answers at its address meanwhile.
#[tokio::test]
async fn a_home_made_board_whose_cable_was_out_goes_on_in_the_same_game() {
    for wire in [true, false] {
        let folder = House::folder();
        let (mut hand, house) = if wire {
            let hand = Hand::new(Kind::SwppBoard, folder.path().join("diy"), true);
            // Without it, a board on a wire counts as one that its opened port restarts.
            let keeps = format!("{HOME_MADE}forgets = false\n");
            (hand, House::start(folder, &[("diy", &keeps)]).await)
        } else {
            let (hand, address) = Hand::listening(Kind::SwppBoard, true);
            let keys = format!("[boards.diy]\n{HOME_MADE}tcp = {{ address = \"{address}\" }}\n");
            (hand, House::with(folder, &[], &keys).await)
        };
        let mut gui = house.gui().await;
        gui.says("ucinewgame").await;
        gui.asks("").await;
        hand.sees("new-game").await;
        let mut moves = String::new();
        for [mine, theirs] in [["e2e4", "e7e5"], ["g1f3", "b8c6"]] {
            house.asks_for_a_move("diy").await;
            hand.answers(&mut gui, mine).await;
            hand.does("unplug").await;
            hand.sees("unplugged").await;
            moves = format!("{moves}{mine} {theirs} ");
            gui.asks(moves.trim_end()).await;
            gui.hears_of("no link to the board").await;
            hand.does("plug").await;
            let seen = hand.sees(&format!("executed {theirs}")).await;
            let wrong = ["new-game", "announced", "ended", "fault"];
            let wrong = |seen: &String| wrong.iter().any(|word| seen.starts_with(word));
            assert!(!seen.iter().any(wrong), "{seen:?}");
        }
    }
}

/// Its boot loader may be done before the first greeting, so that no greeting is missed: only the transport shows it.
#[tokio::test]
async fn a_home_made_board_whose_opened_port_restarts_it_is_told_its_game_again() {
    let folder = House::folder();
    let mut hand = Hand::new(Kind::SwppBoard, folder.path().join("diy"), false);
    let house = House::start(folder, &[("diy", HOME_MADE)]).await;
    let mut gui = house.gui().await;
    gui.says("ucinewgame").await;
    gui.asks("e2e4").await;
    hand.sees("shown e2e4").await;
    hand.does("unplug").await;
    hand.sees("unplugged").await;
    hand.does("off").await;
    hand.does("on forgetful").await;
    hand.does("plug").await;
    let seen = hand.sees("shown e2e4").await;
    assert!(
        !seen.iter().any(|said| said.starts_with("fault")),
        "{seen:?}"
    );
    hand.does("wrong e2e4").await;
    hand.sees("executed e2e4").await;
    house.asks_for_a_move("diy").await;
    hand.answers(&mut gui, "e7e5").await;
}

#[tokio::test]
async fn a_power_cycle_does_not_end_the_game() {
    for citrine in [true, false] {
        let (_house, mut hand, mut gui) = House::with_citrine_or_ucb_and_gui(citrine).await;
        gui.shows(&mut hand, "e2e4").await;
        hand.does("off").await;
        hand.does("on forgetful").await;
        // The Citrine forgot the game, the UCB asks for the position: either is given it.
        hand.sees("set-up rnbqkbnr/pppppppp/8/8/4P3").await;
        hand.answers(&mut gui, "c7c5").await;
    }
}

#[tokio::test]
async fn two_clients_of_one_game_share_the_board_and_another_game_is_told_who_has_it() {
    let (house, hand) = House::with_citrine().await;
    let mut white = house.gui().await;
    white.begins().await;
    let mut stranger = house.gui().await;
    stranger.asks("d2d4").await;
    stranger
        .hears_of("is in another game, with 127.0.0.1:")
        .await;
    hand.answers(&mut white, "e2e4").await;
    let mut black = house.gui().await;
    black.asks("e2e4").await;
    black.hears_of("Black to move").await;
    hand.answers(&mut black, "e7e5").await;
    white.asks("e2e4 e7e5").await;
    white.hears_of("White to move").await;
    hand.answers(&mut white, "g1f3").await;
    stranger.has_not_heard("bestmove").await;
    // The board is the stranger's as soon as it is free.
    white.says("quit").await;
    black.says("quit").await;
    stranger.hears_of("d2d4").await;
}

#[tokio::test]
async fn a_client_that_vanishes_loses_the_board() {
    let (house, hand) = House::with_citrine().await;
    let mut first = house.gui().await;
    first.asks("e2e4").await;
    first.hears("info string").await;
    drop(first);
    let mut second = house.gui().await;
    second.says("ucinewgame").await;
    second.begins().await;
    hand.answers(&mut second, "d2d4").await;
}

#[tokio::test]
async fn the_board_ready_button_shortens_the_wait_and_says_what_it_confirmed() {
    let folder = House::folder();
    let mut hand = Hand::new(Kind::NovagUcb, folder.path().join("ucb"), true);
    // An hour for the hand: only the button can help.
    let slow =
        "kind = \"novag-ucb\"\nline_gap = \"50ms\"\nmove_wait = \"1h\"\nsetup_wait = \"1h\"\n";
    let house = House::start(folder, &[("ucb", slow)]).await;
    let mut gui = house.gui().await;
    gui.asks("e2e4 e7e5").await;
    hand.sees("new-game").await;
    gui.hears_of("put the pieces on their starting squares")
        .await;
    gui.says("setoption name Board ready").await;
    gui.hears_of("ucb: Board ready: the pieces are in place again")
        .await;
    hand.sees("executed e2e4").await;
    gui.says("setoption name Board ready").await;
    gui.hears_of("ucb: Board ready: e2e4 executed").await;
    hand.sees("executed e7e5").await;
}

#[tokio::test]
async fn a_gui_with_debug_on_hears_what_happens_on_the_board() {
    let (_house, hand, mut gui) = House::with_citrine_and_gui().await;
    gui.says("debug on\nposition startpos\nisready").await;
    gui.hears("readyok").await;
    hand.does("e2e4").await;
    gui.hears_of("debug citrine: ply 1: e2e4, by hand").await;
}

#[tokio::test]
async fn quit_ends_the_wait_and_the_connection() {
    let (_house, _hand, mut gui) = House::with_citrine_and_gui().await;
    gui.asks("").await;
    gui.says("quit\nquit").await;
    gui.hears("bestmove 0000").await;
    assert_eq!(gui.line().await, None);
}

#[tokio::test]
async fn a_second_go_for_the_same_position_is_a_take_back() {
    let (_house, mut hand, mut gui) = House::with_citrine_and_gui().await;
    gui.begins().await;
    hand.answers(&mut gui, "d2d4").await;
    gui.says("go").await;
    hand.sees("take-back d2d4").await;
    gui.hears_of("White to move").await;
    hand.answers(&mut gui, "e2e4").await;
}

#[tokio::test]
async fn a_new_game_announced_before_the_board_is_known_does_not_take_the_old_games_move() {
    let folder = House::folder();
    let mut hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    // The old game, from before the daemon.
    hand.does("e2e4").await;
    hand.sees("made e2e4").await;
    let house = House::start(folder, &[("citrine", FAST_CITRINE)]).await;
    let mut gui = house.gui().await;
    gui.says("ucinewgame").await;
    gui.asks("").await;
    hand.sees("new-game").await;
    gui.hears_of("White to move").await;
    hand.answers(&mut gui, "d2d4").await;
    assert_eq!(gui.answers(), ["d2d4"]);
}

#[tokio::test]
async fn a_newcomer_that_plays_the_game_on_does_not_take_the_board() {
    let (house, mut hand) = House::with_citrine().await;
    let mut first = house.gui().await;
    first.begins().await;
    hand.answers(&mut first, "e2e4").await;
    let mut second = house.gui().await;
    second.asks("e2e4 c7c5").await;
    second.hears_of("is in another game").await;
    first.shows(&mut hand, "e2e4 e7e5").await;
    hand.answers(&mut first, "g1f3").await;
    second.has_not_heard("bestmove").await;
}

#[tokio::test]
async fn one_clients_answer_does_not_take_anothers_away() {
    let (house, mut hand) = House::with_citrine().await;
    let mut watching = house.gui().await;
    watching.says("position startpos\ngo infinite").await;
    watching.hears_of("White to move").await;
    let mut playing = house.gui().await;
    playing.asks("").await;
    house.awaits("citrine", 2).await;
    hand.answers(&mut playing, "c2c4").await;
    watching.hears("info depth 1 score cp 0 pv c2c4").await;
    // And the one that plays goes on.
    playing.shows(&mut hand, "c2c4 e7e5").await;
    watching.says("stop").await;
    watching.hears("bestmove c2c4").await;
    assert!(
        !watching.log.iter().any(|line| line.contains("taken back")),
        "{:?}",
        watching.log
    );
}

#[tokio::test]
async fn a_program_that_only_analyses_is_told_so_and_what_to_choose_instead() {
    let (house, mut hand, mut gui) = House::with_citrine_and_gui().await;
    gui.says("ucinewgame\nposition startpos moves e2e4\ngo infinite")
        .await;
    hand.sees("executed e2e4").await;
    house.asks_for_a_move("citrine").await;
    hand.does("e7e5").await;
    gui.hears("info depth 1 score cp 0 pv e7e5").await;
    let words = "your program only analyses: it gets e7e5 when it stops. To play, choose a clock";
    gui.hears_of(words).await;
    // Beside the board as well.
    let told = house.until("citrine", |state| {
        state.advice.to_string().starts_with(words)
    });
    told.await;
    // An analysis may go on.
    hand.does("g1f3").await;
    gui.hears("info depth 2 score cp 0 pv e7e5 g1f3").await;
    gui.says("stop").await;
    gui.hears("bestmove e7e5").await;
    let told = gui.log.iter().filter(|line| line.contains(words));
    assert_eq!(told.count(), 1, "{:?}", gui.log);
}

#[tokio::test]
async fn the_option_promotion_decides_where_the_board_does_not_say() {
    let (_house, mut hand, mut gui) = House::with_ucb_and_gui(true).await;
    gui.says("setoption name Promotion value rook").await;
    gui.says("position fen 8/P5k1/8/8/8/8/8/4K3 w - - 0 1\ngo")
        .await;
    hand.sees("set-up 8/P5k1").await;
    gui.hears_of("White to move").await;
    // In the words of older firmware: without the piece.
    hand.does("wrong a7a8").await;
    gui.hears("bestmove a7a8r").await;
}

#[tokio::test]
async fn a_gui_that_wants_info_json_is_told_of_the_board_until_it_wants_it_no_more() {
    let (_house, mut hand, mut gui) = House::with_citrine_and_gui().await;
    gui.says("setoption name UCI_InfoJSON value true").await;
    gui.asks("").await;
    gui.hears_of(r#"["To do","White to move on the board"]"#)
        .await;
    hand.answers(&mut gui, "e2e4").await;
    // Before that, or a moment after it: a refresh may have been too short a time ago.
    let row = r#""1. e4""#;
    if !gui.log.iter().any(|line| line.contains(row)) {
        gui.hears_of(row).await;
    }
    gui.says("setoption name UCI_InfoJSON value false\nisready")
        .await;
    gui.hears("readyok").await;
    let told = gui.log.len();
    gui.shows(&mut hand, "e2e4 e7e5").await;
    hand.answers(&mut gui, "g1f3").await;
    let json = |line: &String| line.starts_with("info json");
    assert!(!gui.log[told..].iter().any(json), "{:?}", gui.log);
}
