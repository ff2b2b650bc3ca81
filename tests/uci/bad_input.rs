//! Bad input from either side. Each kind has a documented outcome, and no one else loses anything.

use std::time::Duration;

use boardbridge::{
    bus::News,
    front_end::uci::{
        connection::{self, MAX_TURNS},
        slots::MAX_CLIENTS_EACH,
    },
    vocabulary::Event,
};
use futures_util::{FutureExt, future::select_all};
use simulators::run::Kind;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout},
};

use crate::support::{FAST_CITRINE, FAST_UCB, Gui, Hand, House, PATIENCE};

/// A game between a well-behaved GUI and a player continues.
async fn a_move_goes_through(gui: &mut Gui, hand: &Hand) {
    gui.says("ucinewgame").await;
    gui.begins().await;
    hand.answers(gui, "e2e4").await;
}

#[tokio::test]
async fn an_overlong_line_is_ignored_in_words_and_the_conversation_goes_on() {
    let (_house, hand, mut gui) = House::with_citrine_and_gui().await;
    gui.bytes(&vec![b'x'; 1024 * 1024]).await;
    gui.bytes(b"\nisready\n").await;
    gui.hears_of("a line of 1048576 bytes was ignored").await;
    gui.hears("readyok").await;
    a_move_goes_through(&mut gui, &hand).await;
}

#[tokio::test]
async fn junk_is_ignored_and_the_conversation_goes_on() {
    let (_house, hand, mut gui) = House::with_citrine_and_gui().await;
    gui.says("isready").await;
    gui.hears("readyok").await;
    let junk: Vec<u8> = (0..=255u8).cycle().take(64 * 1024).collect();
    gui.bytes(&junk).await;
    gui.bytes(
        b"\n\xff\xfe\nposition\ngo searchmoves\nsetoption\nsetoption name\nstop stop\nisready\n",
    )
    .await;
    gui.hears("readyok").await;
    a_move_goes_through(&mut gui, &hand).await;
}

#[tokio::test]
async fn a_half_line_waits_and_hurts_nobody() {
    let (house, mut hand) = House::with_citrine().await;
    let mut half = house.gui().await;
    half.bytes(b"isrea").await;
    let mut gui = house.gui().await;
    a_move_goes_through(&mut gui, &hand).await;
    half.bytes(b"dy\n").await;
    half.hears("readyok").await;
    half.bytes(b"position startpos moves e2").await;
    drop(half);
    gui.shows(&mut hand, "e2e4 e7e5").await;
    hand.answers(&mut gui, "g1f3").await;
}

#[tokio::test]
async fn of_as_many_guis_as_a_machine_may_have_the_last_to_join_a_game_makes_room_for_one_more() {
    let (house, hand, mut gui) = House::with_citrine_and_gui().await;
    gui.begins().await;
    let mut crowd = Vec::new();
    for _ in 1..MAX_CLIENTS_EACH {
        crowd.push(house.gui().await);
    }
    for other in &mut crowd {
        other.says("uci\nposition startpos\ngo").await;
    }
    for other in &mut crowd {
        other.hears_of("White to move").await;
    }
    // All of them play the same game.
    let mut one_more = house.gui().await;
    one_more.says("uci").await;
    one_more.hears("uciok").await;
    let told = crowd.iter_mut().map(|other| {
        other
            .hears_of("other programs play your game")
            .boxed_local()
    });
    let (_, last, _) = select_all(told).await;
    assert!(last > 0, "the second to join has kept its place");
    hand.answers(&mut gui, "e2e4").await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_dropped_and_nobody_waits_for_it() {
    let (house, hand) = House::with_citrine().await;
    let mut deaf = TcpStream::connect(house.address("uci")).await.unwrap();
    let flood = "isready\n".repeat(8192);
    let flooding = async {
        // Until the daemon closes: it has bytes for a client that does not read.
        while deaf.write_all(flood.as_bytes()).await.is_ok() {}
    };
    let playing = async {
        let mut gui = house.gui().await;
        a_move_goes_through(&mut gui, &hand).await;
    };
    timeout(connection::WRITE_WAIT + PATIENCE, async {
        tokio::join!(flooding, playing)
    })
    .await
    .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_says_nothing_of_uci_is_closed_and_a_gui_that_is_silent_is_not() {
    let house = House::start(House::folder(), &[("citrine", FAST_CITRINE)]).await;
    let address = house.address("uci");
    let mut gui = TcpStream::connect(address).await.unwrap();
    let mut answer = [0; 8];
    gui.write_all(b"isready\n").await.unwrap();
    gui.read_exact(&mut answer).await.unwrap();
    let connected = Instant::now();
    let mut other = TcpStream::connect(address).await.unwrap();
    other.write_all(b"hello\r\n").await.unwrap();
    // It may be reset, as what it said last is not read.
    let _ = other.read_to_end(&mut Vec::new()).await;
    assert!(connected.elapsed() >= connection::FIRST_WAIT);
    gui.write_all(b"isready\n").await.unwrap();
    gui.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"readyok\n");
}

#[tokio::test]
async fn a_board_that_sends_garbage_is_still_played_on() {
    for citrine in [true, false] {
        let (house, hand) = if citrine {
            House::with_citrine().await
        } else {
            House::with_ucb(true).await
        };
        let mut gui = house.gui().await;
        gui.begins().await;
        hand.does("garbage 2000").await;
        gui.has_not_heard("bestmove").await;
        // The end of a line ends the garbage, as the next message of a real board would.
        hand.does("e2e4").await;
        hand.does("take-back").await;
        hand.answers(&mut gui, "e2e4").await;
    }
}

#[tokio::test]
async fn a_home_made_board_that_sends_garbage_is_still_played_on() {
    let folder = House::folder();
    let mut hand = Hand::new(Kind::SwppBoard, folder.path().join("diy"), true);
    let keys = "kind = \"swpp\"\nmove_wait = \"50ms\"\n";
    let house = House::start(folder, &[("diy", keys)]).await;
    let mut gui = house.gui().await;
    for bytes in [1, 1000, 1_000_000] {
        gui.says("ucinewgame").await;
        gui.begins().await;
        // What was sent may not have arrived yet.
        hand.sees("new-game").await;
        hand.does(&format!("garbage {bytes}")).await;
        // The end of a line ends the garbage, as the next message of a real board would; and a line that is full loses what
        // comes then, as a real one does.
        loop {
            hand.does("e2e4").await;
            let heard = timeout(Duration::from_millis(500), gui.hears("bestmove e2e4"));
            if heard.await.is_ok() {
                break;
            }
            hand.does("take-back").await;
        }
        gui.shows(&mut hand, "e2e4 e7e5").await;
        hand.answers(&mut gui, "g1f3").await;
        gui.shows(&mut hand, "e2e4 e7e5 g1f3 d7d6").await;
    }
}

#[tokio::test]
async fn a_board_that_floods_does_not_hold_up_another() {
    let folder = House::folder();
    let citrine = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let flooding = Hand::new(Kind::NovagUcb, folder.path().join("ucb"), true);
    let house = House::start(folder, &[("citrine", FAST_CITRINE), ("ucb", FAST_UCB)]).await;
    let mut events = house.daemon.bus().subscribe();
    for _ in 0..32 {
        flooding.does("garbage 1000000").await;
    }
    // The flood has reached the daemon.
    let unreadable = |event: &Event| matches!(event, Event::Unreadable { .. });
    let flooded = async {
        loop {
            if let News::Published(publication) = events.next().await
                && publication.events.iter().any(unreadable)
            {
                return;
            }
        }
    };
    timeout(PATIENCE, flooded).await.unwrap();
    let mut gui = house.gui().await;
    gui.says("setoption name Board value citrine").await;
    a_move_goes_through(&mut gui, &citrine).await;
    let mut other = house.gui().await;
    other.says("setoption name Board value ucb\nisready").await;
    other.hears("readyok").await;
}

#[tokio::test]
async fn a_silent_board_is_named_and_is_played_on_when_it_answers() {
    let folder = House::folder();
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    hand.does("off").await;
    let house = House::start(folder, &[("citrine", FAST_CITRINE)]).await;
    let mut gui = house.gui().await;
    gui.asks("").await;
    gui.hears_of("the board does not answer").await;
    hand.does("on").await;
    gui.hears_of("White to move").await;
    hand.answers(&mut gui, "e2e4").await;
}

#[tokio::test]
async fn a_port_that_is_no_serial_port_is_tried_again_and_hurts_nobody() {
    let folder = House::folder();
    std::fs::write(folder.path().join("ucb"), "not a port").unwrap();
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let house = House::start(folder, &[("citrine", FAST_CITRINE), ("ucb", FAST_UCB)]).await;
    let mut other = house.gui().await;
    other.says("setoption name Board value ucb").await;
    other.asks("").await;
    other.hears_of("no link to the board").await;
    let mut gui = house.gui().await;
    a_move_goes_through(&mut gui, &hand).await;
}

#[tokio::test]
async fn a_watcher_that_does_not_read_holds_nobody_up() {
    let (house, hand) = House::with_citrine().await;
    let mut deaf = TcpStream::connect(house.address("status")).await.unwrap();
    let mut first = [0; 1];
    timeout(Duration::from_secs(5), deaf.read_exact(&mut first))
        .await
        .unwrap()
        .unwrap();
    let mut gui = house.gui().await;
    let game = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5 a4b3 d7d6 c2c3 e8g8 h2h3 c6a5 b3c2 c7c5";
    let mut played = Vec::new();
    for m in game.split(' ') {
        gui.asks(&played.join(" ")).await;
        house.asks_for_a_move("citrine").await;
        hand.answers(&mut gui, m).await;
        played.push(m);
    }
}

#[tokio::test]
async fn a_gui_that_turns_from_board_to_board_is_told_of_a_few_times() {
    let boards = [("citrine", FAST_CITRINE), ("ucb", FAST_UCB)];
    let house = House::start(House::folder(), &boards).await;
    let mut watcher = Gui::connect(house.address("status")).await;
    watcher.hears_of("\"daemon\"").await;
    let mut gui = house.gui().await;
    for _ in 0..MAX_TURNS {
        gui.says("setoption name Board value ucb").await;
        gui.says("setoption name Board value citrine").await;
    }
    gui.says("quit").await;
    watcher.hears_of("left: it quit").await;
    let turns = watcher
        .log
        .iter()
        .filter(|line| line.contains("chose this board"));
    assert_eq!(turns.count(), usize::from(MAX_TURNS));
}

#[tokio::test]
async fn clients_that_ask_without_end_do_not_keep_the_hand_waiting() {
    let (house, hand, mut gui) = House::with_citrine_and_gui().await;
    gui.begins().await;
    let mut floods = Vec::new();
    for flood in [
        "ucinewgame\n",
        "position startpos moves d2d4\n",
        "setoption name Board ready\n",
    ] {
        let mut stream = TcpStream::connect(house.address("uci")).await.unwrap();
        floods.push(tokio::spawn(async move {
            let flood = flood.repeat(4096);
            while stream.write_all(flood.as_bytes()).await.is_ok() {}
        }));
    }
    for _ in 0..5 {
        hand.answers(&mut gui, "e2e4").await;
        gui.begins().await;
    }
    floods.iter().for_each(tokio::task::JoinHandle::abort);
}
