//! Whole games on Lichess: a Lichess in software, the front-end, bus, board and player, over real sockets and
//! pseudo-terminals. Every move of the hand is taken once and none is lost, whatever breaks on the way.

use boardbridge::{
    bus::pairings::Saying,
    chess::game::{Game, uci},
    cli::call,
    front_end::lichess::session::PAUSE,
    vocabulary::{BoardName, Event, GameEnd, Reason, Snapshot},
};
use serde_json::json;
use shakmaty::{CastlingMode, Color, Move, Position};
use simulators::run::Kind;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{Instant, timeout},
};

use crate::support::{
    FAST_CITRINE, FAST_DGT, FAST_UCB, Gui, Hand, House, PATIENCE,
    kept::{games_in, kept_in},
    lichess::{Fault, Lichess, Style},
};

const GAMES: &str = include_str!("../games/lichess.uci");
/// A clock of fifteen minutes.
const RAPID: Style = Style {
    old_castling: false,
    clock: Some(900),
};

fn game(number: usize) -> Game {
    let mut game = Game::standard();
    let line = GAMES.lines().nth(number - 1).unwrap();
    game.play_uci(line.split_whitespace()).unwrap();
    game
}

fn moves(words: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(words.split_whitespace()).unwrap();
    game
}

/// The daemon with a Citrine, which plays on this Lichess.
struct Table {
    house: House,
    hand: Hand,
    lichess: Lichess,
    board: BoardName,
}

impl Table {
    async fn new(style: Style) -> Self {
        Self::on(Kind::NovagCitrine, FAST_CITRINE, style, false).await
    }

    async fn on(kind: Kind, keys: &str, style: Style, lags: bool) -> Self {
        let lichess = Lichess::new(style).await;
        let folder = House::folder();
        let hand = Hand::new(kind, folder.path().join("board"), true);
        let more = lichess.config(folder.path(), "");
        let boards = [("board", keys)];
        let house = if lags {
            House::lagging(folder, &boards, &more).await
        } else {
            House::with(folder, &boards, &more).await
        };
        lichess.is_connected().await;
        Self {
            house,
            hand,
            lichess,
            board: "board".parse().unwrap(),
        }
    }

    /// The hand is asked for its move after so many plies.
    async fn asks_at(&self, plies: usize) {
        self.house.knows("board", plies).await;
        self.house.asks_for_a_move("board").await;
    }

    /// Makes the next move of this game, on whichever side.
    async fn plays(&mut self, game: &Game, ply: usize, hand: Color) {
        let m = uci(game.moves()[ply]);
        if game.position_at(ply).turn() == hand {
            self.asks_at(ply).await;
            self.hand.does(&m.to_string()).await;
            self.lichess.has(ply + 1).await;
        } else {
            self.lichess.moves(m);
            let before = self.hand.sees(&format!("executed {m}")).await;
            assert!(!before.iter().any(|r| r.starts_with("fault")), "{before:?}");
        }
    }

    /// Exactly the hand's moves of this game were taken, in this order.
    fn took_each_move_once(&self, game: &Game, hand: Color) {
        let moves = game.moves().iter().enumerate();
        let own = moves.filter(|(ply, _)| game.position_at(*ply).turn() == hand);
        // The one form of castling that Lichess takes in every variant.
        let sent = |m: &Move| m.to_uci(CastlingMode::Chess960);
        let wanted: Vec<String> = own.map(|(_, m)| format!("move {}", sent(m))).collect();
        let taken = self.lichess.taken();
        let taken: Vec<String> = taken
            .into_iter()
            .filter(|t| t.starts_with("move"))
            .collect();
        assert_eq!(taken, wanted);
        self.lichess.is_content();
    }

    async fn whole_game(&mut self, number: usize, hand: Color) {
        let game = game(number);
        self.lichess.begins(hand);
        for ply in 0..game.len() {
            self.plays(&game, ply, hand).await;
        }
        if !game.position().is_game_over() {
            self.lichess.ends("outoftime", Some(game.turn().other()));
        }
        self.house.awaits("board", 0).await;
        self.took_each_move_once(&game, hand);
    }

    async fn says(&self, saying: Saying) {
        let said = self
            .house
            .daemon
            .bus()
            .pairings()
            .say(&self.board, saying)
            .await;
        said.unwrap();
    }

    /// Waits until the pairing at the board is so.
    async fn pairs(&self, is: impl Fn(&boardbridge::bus::pairings::Pairing) -> bool) {
        let pairings = self.house.daemon.bus().pairings();
        let mut changes = pairings.changes();
        let waited = async {
            while !pairings.at(&self.board).is_some_and(|pairing| is(&pairing)) {
                changes.next().await;
            }
        };
        timeout(PATIENCE, waited).await.unwrap();
    }
}

#[tokio::test]
async fn games_are_played_as_white_and_as_black_on_a_citrine() {
    // Castling either way by either side, en passant, promotions, mate.
    let mut table = Table::new(RAPID).await;
    for (number, hand) in [(1, Color::White), (9, Color::Black), (25, Color::White)] {
        table.whole_game(number, hand).await;
    }
}

#[tokio::test]
async fn a_game_is_played_as_white_on_a_board_of_pieces() {
    let mut table = Table::on(Kind::DgtBoard, FAST_DGT, RAPID, false).await;
    table.whole_game(25, Color::White).await;
}

#[tokio::test]
async fn a_game_is_played_as_black_on_a_board_of_pieces() {
    let mut table = Table::on(Kind::DgtBoard, FAST_DGT, RAPID, false).await;
    table.whole_game(26, Color::Black).await;
}

#[tokio::test]
async fn a_game_misses_no_move_when_its_front_end_lags() {
    let mut table = Table::on(Kind::NovagCitrine, FAST_CITRINE, RAPID, true).await;
    table.whole_game(25, Color::Black).await;
}

#[tokio::test]
async fn castling_may_be_written_as_the_kings_two_squares() {
    let style = Style {
        old_castling: true,
        ..RAPID
    };
    let mut table = Table::new(style).await;
    for (number, hand) in [(2, Color::Black), (38, Color::White)] {
        table.whole_game(number, hand).await;
    }
}

#[tokio::test]
async fn whatever_breaks_on_the_way_every_move_is_taken_once() {
    let mut table = Table::new(RAPID).await;
    let game = game(25);
    let plies = game.len().min(28);
    let game = game.truncated(plies);
    let hand = Color::White;
    table.lichess.begins(hand);
    for ply in 0..plies {
        match ply {
            2 => table.lichess.fails(Fault::Unanswered),
            4 => table.lichess.fails(Fault::Refused),
            6 => table.lichess.fails(Fault::NotArrived),
            8 => table.lichess.fails(Fault::Unshown),
            10 => table.lichess.breaks_game(),
            11 => table.lichess.breaks(),
            12 => table.lichess.fails(Fault::Page),
            14 => table
                .lichess
                .babbles("{\"type\":\"gameState\",\"moves\":12}"),
            15 => table.lichess.babbles("not json at all"),
            16 => table
                .lichess
                .says(&json!({ "type": "somethingNew", "key": [1] })),
            17 => table.lichess.babbles(&"x".repeat(200_000)),
            _ => {}
        }
        if ply == 12 {
            // The hand moves while Lichess is out of reach.
            table.asks_at(ply).await;
            table.lichess.is_away(true);
            let m = uci(game.moves()[ply]);
            table.hand.does(&m.to_string()).await;
            table.house.knows("board", ply + 1).await;
            table.lichess.is_away(false);
            table.lichess.has(ply + 1).await;
        } else {
            table.plays(&game, ply, hand).await;
        }
    }
    table.took_each_move_once(&game, hand);
}

#[tokio::test]
async fn after_too_many_requests_nothing_comes_for_a_minute_and_then_the_move() {
    let mut table = Table::new(RAPID).await;
    let game = moves("e2e4 e7e5 g1f3");
    table.lichess.begins(Color::White);
    for ply in 0..2 {
        table.plays(&game, ply, Color::White).await;
    }
    table.asks_at(2).await;
    table.lichess.fails(Fault::TooMany);
    table.hand.does("g1f3").await;
    table.lichess.until("a refusal", Lichess::is_quiet).await;
    let at = table.house.address("web").to_string();
    for _ in 0..12 {
        tokio::time::pause();
        tokio::time::advance(PAUSE / 12).await;
        tokio::time::resume();
        // Time for a request: as much as others to the daemon and its answers need.
        for _ in 0..8 {
            call::standing(&at).await.unwrap();
        }
    }
    table.lichess.has(3).await;
    table.took_each_move_once(&game, Color::White);
}

#[tokio::test]
async fn a_stream_on_which_nothing_comes_is_opened_again() {
    let mut table = Table::new(RAPID).await;
    let game = moves("e2e4 e7e5 g1f3");
    table.lichess.begins(Color::White);
    table.plays(&game, 0, Color::White).await;
    table.lichess.falls_silent();
    let since = Instant::now();
    table.lichess.moves(uci(game.moves()[1]));
    table
        .lichess
        .until("another stream", |_| {
            since.elapsed() > boardbridge::front_end::lichess::http::SILENCE
        })
        .await;
    table.hand.sees("executed e7e5").await;
    table.plays(&game, 2, Color::White).await;
    table.took_each_move_once(&game, Color::White);
}

#[tokio::test]
async fn a_move_that_is_refused_twice_is_taken_back_by_the_hand() {
    let table = Table::new(RAPID).await;
    table.lichess.begins(Color::White);
    table.asks_at(0).await;
    table.lichess.fails(Fault::Refused);
    table.lichess.fails(Fault::Refused);
    table.hand.does("e2e4").await;
    table.house.knows("board", 1).await;
    // The board is led back, and the hand is asked again.
    table.asks_at(0).await;
    table.hand.does("d2d4").await;
    table.lichess.takes("move d2d4").await;
    assert_eq!(table.lichess.taken(), ["move d2d4"]);
}

#[tokio::test]
async fn the_phone_and_the_board_play_one_game() {
    let mut table = Table::new(RAPID).await;
    let game = moves("e2e4 e7e5 g1f3 b8c6 f1c4");
    table.lichess.begins(Color::White);
    table.asks_at(0).await;
    table.lichess.phone_moves(uci(game.moves()[0]));
    table.hand.sees("executed e2e4").await;
    for ply in 1..3 {
        table.plays(&game, ply, Color::White).await;
    }
    // Agreed on the phone.
    table.lichess.takes_back(1);
    table.asks_at(2).await;
    table.hand.does("g1f3").await;
    table.lichess.has(3).await;
    table.plays(&game, 3, Color::White).await;
    table.plays(&game, 4, Color::White).await;
    let taken = table.lichess.taken();
    assert_eq!(taken, ["move g1f3", "move g1f3", "move f1c4"]);
    table.lichess.is_content();
}

#[tokio::test]
async fn the_hand_proposes_to_take_back_by_taking_back() {
    let mut table = Table::new(RAPID).await;
    let game = moves("e2e4 e7e5 g1f3");
    table.lichess.begins(Color::White);
    for ply in 0..3 {
        table.plays(&game, ply, Color::White).await;
    }
    table.hand.does("take-back").await;
    table.lichess.takes("takeback yes").await;
    table.lichess.takes_back(1);
    table.asks_at(2).await;
    table.hand.does("f1c4").await;
    table.lichess.takes("move f1c4").await;
}

#[tokio::test]
async fn offers_are_shown_and_answered_by_buttons() {
    let mut table = Table::new(RAPID).await;
    let game = moves("e2e4 e7e5 g1f3 b8c6");
    table.lichess.begins(Color::White);
    for ply in 0..4 {
        table.plays(&game, ply, Color::White).await;
    }
    table.lichess.says(&json!({
        "type": "chatLine", "room": "player", "username": "Other", "text": "héllo ♞\u{7}",
    }));
    table
        .pairs(|pairing| *pairing.chat == ["Other: héllo ♞"])
        .await;
    table
        .pairs(|pairing| {
            let left = pairing
                .clocks
                .as_ref()
                .map(|shown| shown.clocks.left.white.as_secs());
            left == Some(896) && pairing.clocks.as_ref().unwrap().clocks.runs == Some(Color::White)
        })
        .await;
    table.lichess.proposes_take_back();
    table
        .pairs(|pairing| pairing.offer == Some(Saying::TakeBack))
        .await;
    table.says(Saying::Decline).await;
    table.lichess.takes("takeback no").await;
    table.pairs(|pairing| pairing.offer.is_none()).await;
    table.lichess.proposes_take_back();
    table
        .pairs(|pairing| pairing.offer == Some(Saying::TakeBack))
        .await;
    // By a button of the board.
    let bus = table.house.daemon.bus();
    bus.tell(Some(&table.board), Event::AsksTakeBack);
    table
        .house
        .until("board", |state| {
            state.target.as_ref().is_some_and(|t| t.len() == 3)
        })
        .await;
    table
        .lichess
        .says(&json!({ "type": "opponentGone", "gone": true, "claimWinInSeconds": 30 }));
    table
        .pairs(|pairing| pairing.notice.as_ref().is_some_and(|n| n.contains("30 s")))
        .await;
    table
        .lichess
        .says(&json!({ "type": "opponentGone", "gone": false }));
    table.pairs(|pairing| pairing.notice.is_none()).await;
    table.lichess.offers_draw();
    table
        .pairs(|pairing| pairing.offer == Some(Saying::Draw))
        .await;
    table.says(Saying::Draw).await;
    table.house.awaits("board", 0).await;
    table.lichess.is_content();
}

#[tokio::test]
async fn a_game_is_resigned_or_aborted_by_buttons_and_the_next_comes_to_the_board() {
    let mut table = Table::new(RAPID).await;
    let game = moves("e2e4 e7e5");
    table.lichess.begins(Color::White);
    for ply in 0..2 {
        table.plays(&game, ply, Color::White).await;
    }
    table.says(Saying::Resign).await;
    table.lichess.takes("resign").await;
    table.house.awaits("board", 0).await;
    // The next game comes to the board at once.
    table.lichess.begins(Color::White);
    table
        .pairs(|pairing| pairing.can.contains(&Saying::Abort))
        .await;
    table.says(Saying::Abort).await;
    table.lichess.takes("abort").await;
    table.house.awaits("board", 0).await;
}

#[tokio::test]
async fn kings_in_the_centre_offer_a_draw_and_resign() {
    let mut table = Table::on(Kind::NovagUcb, FAST_UCB, RAPID, false).await;
    let game = moves("a2a3 a7a6");
    for (kings, asked, away) in [
        (["e1e4", "e8d4"], "draw yes", false),
        (["e1d4", "e8e5"], "resign", false),
        (["e1d4", "e8e5"], "resign", true),
    ] {
        table.lichess.begins(Color::White);
        for ply in 0..2 {
            table.plays(&game, ply, Color::White).await;
        }
        table.asks_at(2).await;
        table.lichess.is_away(away);
        for king in kings {
            table.hand.does(&format!("wrong {king}")).await;
        }
        // Lichess has not said yet how it ends.
        let says = |state: &Snapshot| state.sign.is_some() && state.ending.is_none();
        table.house.until("board", says).await;
        table.lichess.is_away(false);
        table.lichess.takes(asked).await;
        if asked == "draw yes" {
            table.lichess.ends("draw", None);
        }
        table.house.awaits("board", 0).await;
        let ends = |state: &Snapshot| state.ending.is_some();
        table.house.until("board", ends).await;
        assert_eq!(table.lichess.taken(), ["move a2a3", asked]);
    }
}

/// A program that wants to join a game on Lichess after two moves, and has been told that it cannot.
async fn refused(table: &mut Table) -> Gui {
    let game = moves("e2e4 e7e5");
    table.lichess.begins(Color::White);
    for ply in 0..2 {
        table.plays(&game, ply, Color::White).await;
    }
    let mut gui = table.house.gui().await;
    gui.says("position startpos moves e2e4 e7e5").await;
    gui.says("go infinite").await;
    gui.hears_of("Lichess").await;
    gui
}

#[tokio::test]
async fn a_program_cannot_join_a_game_on_lichess() {
    let mut table = Table::new(RAPID).await;
    let mut gui = refused(&mut table).await;
    let m = "g1f3";
    table.hand.does(m).await;
    table.lichess.takes("move g1f3").await;
    gui.says("stop").await;
    let best = gui.hears("bestmove").await;
    assert!(!best.contains(m), "{best}");
}

#[tokio::test]
async fn a_reload_keeps_the_hands_move_and_lets_no_program_in() {
    let mut table = Table::new(RAPID).await;
    let mut gui = refused(&mut table).await;
    table.asks_at(2).await;
    table.lichess.is_away(true);
    table.hand.does("g1f3").await;
    table.house.knows("board", 3).await;
    let more = table
        .lichess
        .config(table.house.folder.path(), "accept = \"all\"\n");
    let boards = [("board", FAST_CITRINE)];
    table.house.reloads(&boards, &more).await;
    table.lichess.is_away(false);
    table.lichess.has(3).await;
    table.took_each_move_once(&moves("e2e4 e7e5 g1f3"), Color::White);
    gui.says("stop").await;
    let best = gui.hears("bestmove").await;
    assert!(!best.contains("g1f3"), "{best}");
}

#[tokio::test]
async fn an_opponent_makes_way_for_a_game_on_lichess_and_does_not_join_it() {
    let lichess = Lichess::new(RAPID).await;
    let folder = House::folder();
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("board"), true);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/opponent/engine.sh");
    let more = format!(
        "{}[[opponent]]\nboard = \"board\"\nengine = [{script:?}, {:?}]\ngo = \"depth 1\"\n",
        lichess.config(folder.path(), ""),
        folder.path()
    );
    let house = House::with(folder, &[("board", FAST_CITRINE)], &more).await;
    lichess.is_connected().await;
    // The opponent has the board, and awaits the first move.
    house.asks_for_a_move("board").await;
    let mut table = Table {
        house,
        hand,
        lichess,
        board: "board".parse().unwrap(),
    };
    let game = moves("e2e4 e7e5 g1f3 b8c6");
    table.lichess.begins(Color::White);
    table
        .house
        .until("board", |state| {
            state.holders == [boardbridge::vocabulary::ClientName::Lichess]
        })
        .await;
    for ply in 0..game.len() {
        table.plays(&game, ply, Color::White).await;
        table.house.awaits("board", 1).await;
    }
    table.took_each_move_once(&game, Color::White);
    let heard = std::fs::read_to_string(table.house.folder.path().join("heard"));
    let heard = heard.unwrap_or_default();
    assert!(!heard.contains("go "), "{heard}");
}

#[tokio::test]
async fn an_end_is_the_same_on_the_board_and_in_the_kept_game_whichever_stream_tells_it() {
    let lichess = Lichess::new(RAPID).await;
    let folder = House::folder();
    let kept = folder.path().join("games");
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("board"), true);
    let more = lichess.config(folder.path(), "") + &kept_in(&kept);
    let house = House::with(folder, &[("board", FAST_CITRINE)], &more).await;
    lichess.is_connected().await;
    let mut table = Table {
        house,
        hand,
        lichess,
        board: "board".parse().unwrap(),
    };
    let game = moves("e2e4 e7e5");
    let ends: [fn(&Lichess); 3] = [
        |lichess| lichess.ends("outoftime", Some(Color::Black)),
        |lichess| lichess.ends_without_event("timeout", Some(Color::White)),
        |lichess| lichess.ends_unseen("cheat", Some(Color::Black)),
    ];
    for (number, (end, told)) in ends
        .into_iter()
        .zip([
            GameEnd::won(Reason::Time, Color::Black),
            GameEnd::won(Reason::Abandoned, Color::White),
            GameEnd::won(Reason::Cheat, Color::Black),
        ])
        .enumerate()
    {
        table.lichess.begins(Color::White);
        for ply in 0..2 {
            table.plays(&game, ply, Color::White).await;
        }
        end(&table.lichess);
        let is_told = |state: &Snapshot| state.ending == Some(told);
        table.house.until("board", is_told).await;
        let live = call_text(table.house.address("web"), "/api/v1/live.pgn").await;
        assert!(
            live.contains(&format!(" {}\n", told.outcome)),
            "{number}: {live}"
        );
        table.house.awaits("board", 0).await;
    }
    table.house.daemon.stop().await;
    let found = games_in(&kept);
    let tags = found
        .iter()
        .map(|game| (game.tag("Result"), game.tag("Termination")));
    let wanted = [
        ("0-1", "time forfeit"),
        ("1-0", "abandoned"),
        ("0-1", "rules infraction"),
    ];
    assert_eq!(tags.collect::<Vec<_>>(), wanted);
}

/// What the API answers to a GET of this path.
async fn call_text(at: std::net::SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(at).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn a_token_that_is_refused_once_is_tried_again() {
    let table = Table::new(RAPID).await;
    table.lichess.begins(Color::White);
    table.asks_at(0).await;
    table.lichess.fails(Fault::NoToken);
    table.hand.does("e2e4").await;
    table.lichess.has(1).await;
    assert_eq!(table.lichess.taken(), ["move e2e4"]);
    let account = table.house.daemon.bus().account();
    let mut changes = account.changes();
    let connected = async {
        while !account
            .standing()
            .is_some_and(|standing| standing.connected)
        {
            changes.next().await;
        }
    };
    timeout(PATIENCE, connected).await.unwrap();
    table.lichess.is_content();
}
