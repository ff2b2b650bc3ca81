//! The guarantees for the `WhitePawn` app, over real sockets and pseudo-terminals, with simulated boards.

use boardbridge::{
    front_end::{
        seat::serve::Keeper,
        whitepawn::{
            Availability, Connection,
            server::{App, OWNER_WAIT, serve},
            session::{MAX_ANSWERS, SavedApp},
        },
    },
    state::{Kind as Kept, Store},
    transport::duplex::NETWORK,
    vocabulary::ClientId,
};
use simulators::{pty::Pty, run::Kind};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex},
    net::TcpSocket,
    sync::mpsc,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::support::{FAST_CITRINE, FAST_UCB, Gui, Hand, House, PATIENCE};

const APP: &str = "[[whitepawn]]\nboard = \"citrine\"\ntcp = { listen = \"127.0.0.1:0\" }\n";
const H0: &str = "H0010023";
const H1: &str = concat!("H101   ", env!("CARGO_PKG_VERSION"), "citrine");

/// A daemon that offers a Citrine to the app.
async fn citrine() -> (House, Hand) {
    citrine_with("").await
}

/// The same, with more keys for the app.
async fn citrine_with(keys: &str) -> (House, Hand) {
    let folder = House::folder();
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let app = format!("{APP}{keys}");
    let house = House::with(folder, &[("citrine", FAST_CITRINE)], &app).await;
    (house, hand)
}

/// An app that has done the handshake.
async fn app(house: &House) -> Gui {
    let mut app = stranger(house).await;
    app.says(H0).await;
    app.hears_next(H1).await;
    app
}

/// A daemon that offers a Citrine to the app, and the app.
async fn with_app() -> (House, Hand, Gui) {
    let (house, hand) = citrine().await;
    let app = app(&house).await;
    (house, hand, app)
}

/// The same. The app has announced this game, in which the hand begins, and the hand is asked for its move.
async fn begins(game: &str) -> (House, Hand, Gui) {
    let (house, hand, mut app) = with_app().await;
    app.says(game).await;
    house.asks_for_a_move("citrine").await;
    (house, hand, app)
}

/// A client that has connected.
async fn stranger(house: &House) -> Gui {
    Gui::connect(house.address("whitepawn for citrine")).await
}

/// A client from 127.0.0.`last`, which stands for another machine.
async fn machine(house: &House, last: u8) -> Gui {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, last], 0).into()).unwrap();
    let address = house.address("whitepawn for citrine");
    Gui::over(socket.connect(address).await.unwrap())
}

/// A watcher of the daemon.
async fn watcher(house: &House) -> Gui {
    Gui::connect(house.address("status")).await
}

#[tokio::test]
async fn every_handshake_is_answered_whatever_the_board_does() {
    // There is no board at all.
    let house = House::with(House::folder(), &[("citrine", FAST_CITRINE)], APP).await;
    let mut app = app(&house).await;
    for request in ["H0010023", "H0", "H0FFmore", "H0020024\r"] {
        app.says(request).await;
        app.hears_next(H1).await;
    }
    let many = format!("{H0}\n").repeat(MAX_ANSWERS);
    app.bytes(many.as_bytes()).await;
    for _ in 0..MAX_ANSWERS {
        app.hears_next(H1).await;
    }
}

#[tokio::test]
async fn a_game_goes_both_ways_byte_for_byte_and_executing_is_no_move() {
    let (_house, mut hand, mut app) = begins("NG3Y").await;
    for (mine, told, theirs) in [
        ("e2e4", "MB e2e4", "MA e7e5"),
        ("g1f3", "MB g1f3", "MAb8c6"),
        ("f1c4", "MB f1c4", "MA F8C5 "),
        ("e1g1", "MB  0-0", "MA g8f6"),
        ("d2d3", "MB d2d3", "MA  O-O"),
    ] {
        hand.does(mine).await;
        app.hears_next(told).await;
        app.says(theirs).await;
        hand.sees("executed").await;
    }
    // Nothing but the five moves was said: the answer to H0 comes next.
    app.says(H0).await;
    app.hears_next(H1).await;
}

#[tokio::test]
async fn promotions_are_told_with_their_piece_and_taken_without() {
    promotes("", "MBh7g8n", "MA b2a1").await;
}

#[tokio::test]
async fn promotions_are_told_without_their_piece_to_an_app_that_wants_it_so() {
    promotes("promotion_letter = false\n", "MB h7g8", "MA b2a1").await;
}

#[tokio::test]
async fn a_promotion_cut_to_five_characters_is_played() {
    promotes("", "MBh7g8n", "MAb2a1=").await;
}

/// The player takes a knight, and the app sends `last` for its queen.
async fn promotes(keys: &str, told: &str, last: &str) {
    let (house, mut hand) = citrine_with(keys).await;
    let mut app = app(&house).await;
    app.says("NG1Y").await;
    house.asks_for_a_move("citrine").await;
    let moves = [
        ("h2h4", "g7g5"),
        ("h4g5", "h7h6"),
        ("g5h6", "a7a5"),
        ("h6h7", "a5a4"),
    ];
    for (mine, theirs) in moves {
        hand.tells(&mut app, mine).await;
        app.moves(&mut hand, theirs).await;
    }
    hand.does("h7g8n").await;
    app.hears_next(told).await;
    for (theirs, mine) in [("a4a3", "b1c3"), ("a3b2", "a2a3")] {
        app.moves(&mut hand, theirs).await;
        hand.tells(&mut app, mine).await;
    }
    app.says(last).await;
    hand.sees("executed b2a1q").await;
}

#[tokio::test]
async fn the_hand_waits_for_white_where_the_app_begins() {
    let (house, mut hand, mut app) = with_app().await;
    app.says("NG2N").await;
    house.awaits("citrine", 1).await;
    app.moves(&mut hand, "d2d4").await;
    hand.tells(&mut app, "g8f6").await;
}

#[tokio::test]
async fn a_game_of_an_unknown_type_is_played_like_any_other() {
    let (house, mut hand, mut app) = with_app().await;
    let mut watcher = watcher(&house).await;
    app.says("NG5N\nMA d2d4").await;
    watcher
        .hears_of("a game of the unknown type 5 begins")
        .await;
    hand.sees("executed d2d4").await;
    hand.tells(&mut app, "g8f6").await;
}

#[tokio::test]
async fn every_move_that_is_dropped_is_told_and_not_without_end() {
    let (house, _hand, mut app) = with_app().await;
    let mut watcher = watcher(&house).await;
    app.says("junk\nNG1N\nMA").await;
    for n in 0..20 {
        app.says(&format!("MA zz{n}")).await;
    }
    app.says("NG2N").await;
    watcher.hears_of("a WhitePawn online game begins").await;
    let told = |words: &str| {
        watcher
            .log
            .iter()
            .filter(|line| line.contains(words))
            .count()
    };
    assert_eq!(told("dropped a move"), 10);
    assert_eq!(told("`MA zz0` is not a valid move"), 1, "{:?}", watcher.log);
}

#[tokio::test]
async fn both_sides_of_an_offline_match_are_told() {
    let (_house, mut hand, mut app) = begins("NG0Y").await;
    for m in ["e2e4", "c7c5", "g1f3", "d7d6"] {
        hand.tells(&mut app, m).await;
    }
    // A move made on the phone is shown like any other.
    app.moves(&mut hand, "d2d4").await;
    hand.tells(&mut app, "c5d4").await;
}

#[tokio::test]
async fn a_move_made_while_the_app_is_away_is_told_once_when_it_is_back() {
    let (house, mut hand, mut gone) = begins("NG3Y").await;
    hand.tells(&mut gone, "e2e4").await;
    gone.moves(&mut hand, "e7e5").await;
    let mut watcher = watcher(&house).await;
    drop(gone);
    watcher.hears_of("left:").await;
    hand.does("g1f3").await;
    house.knows("citrine", 3).await;
    let mut back = app(&house).await;
    back.hears_next("MB g1f3").await;
    back.says(H0).await;
    back.hears_next(H1).await;
    back.moves(&mut hand, "b8c6").await;
}

#[tokio::test]
async fn a_board_that_was_away_is_led_on_in_the_same_game() {
    let (_house, mut hand, mut app) = begins("NG3Y").await;
    hand.tells(&mut app, "e2e4").await;
    hand.does("unplug").await;
    hand.sees("unplugged").await;
    app.says(&format!("MA e7e5\n{H0}")).await;
    app.hears_next(H1).await;
    hand.does("plug").await;
    hand.sees("executed e7e5").await;
    hand.tells(&mut app, "g1f3").await;
}

#[tokio::test]
async fn an_illegal_move_of_the_app_is_refused_in_words_and_breaks_nothing() {
    let (house, mut hand, mut app) = with_app().await;
    let mut watcher = watcher(&house).await;
    app.says("MA e2e4").await;
    watcher.hears_of("no game is in progress").await;
    app.says("NG3Y").await;
    house.asks_for_a_move("citrine").await;
    hand.tells(&mut app, "e2e4").await;
    app.says("MA e7e4").await;
    let said = watcher
        .hears_of("refused e7e4 after 1 ply, with Black")
        .await;
    assert!(
        said.contains("\"client\":\"the WhitePawn app (tcp"),
        "{said}"
    );
    // The app's own echo of the hand's move is nothing to refuse.
    app.says("MA e2e4\nMA e7e5").await;
    hand.sees("executed e7e5").await;
    hand.tells(&mut app, "g1f3").await;
}

#[tokio::test]
async fn an_app_that_only_errs_does_not_fill_the_log() {
    let (house, _hand, mut app) = with_app().await;
    let mut watcher = watcher(&house).await;
    app.bytes("MA a1a8\n".repeat(1000).as_bytes()).await;
    app.says(&format!("{H0}\nNG2N")).await;
    watcher.hears_of("begins").await;
    let refused = watcher.log.iter().filter(|line| line.contains("refused"));
    assert_eq!(refused.count(), 10);
}

#[tokio::test]
async fn the_end_of_the_game_is_told_and_the_board_is_free() {
    let (house, hand, mut app) = with_app().await;
    let mut watcher = watcher(&house).await;
    for (code, end) in [
        ("GE0", "aborted *"),
        ("GE1", "checkmate 0-1"),
        ("GE2", "agreement 1/2-1/2"),
        ("GE3", "resignation 0-1"),
        ("GE4", "resignation 1-0"),
    ] {
        let (end, outcome) = end.split_once(' ').unwrap();
        app.says("NG3Y").await;
        house.awaits("citrine", 1).await;
        app.says(code).await;
        let line = watcher.hears_of(&format!("\"end\":\"{end}\"")).await;
        assert!(
            line.contains(&format!("\"outcome\":\"{outcome}\"")),
            "{line}"
        );
        house.awaits("citrine", 0).await;
    }
    // What the hand does now is nobody's move.
    hand.does("e2e4").await;
    house.knows("citrine", 1).await;
    app.says(H0).await;
    app.hears_next(H1).await;
}

#[tokio::test]
async fn a_new_game_in_mid_game_begins_on_the_board_too() {
    let (_house, mut hand, mut app) = begins("NG1Y").await;
    hand.tells(&mut app, "e2e4").await;
    app.says("NG1N\nMA d2d4").await;
    hand.sees("executed d2d4").await;
    hand.tells(&mut app, "d7d5").await;
}

#[tokio::test]
async fn junk_half_lines_and_endless_lines_harm_nobody() {
    let (_house, mut hand, mut app) = begins("NG1Y").await;
    app.bytes(b"\n\r\n\0\0X\nMA\nNG9Z\nGE\nH101     1.2x\nMB e2e4\n\xff\xfe\xfd\n")
        .await;
    app.bytes(&vec![b'M'; 1024 * 1024]).await;
    app.bytes(b"\n").await;
    app.says(H0).await;
    app.hears_next(H1).await;
    // Half a line that never ends is dropped after a while, and the next one is whole.
    app.bytes(b"MA e7").await;
    hand.tells(&mut app, "e2e4").await;
    app.bytes(b"e5\n").await;
    hand.sees("executed e7e5").await;
}

#[tokio::test]
async fn whoever_shook_hands_last_is_the_app_and_strangers_disturb_nobody() {
    let (house, mut hand, mut first) = begins("NG1Y").await;
    let mut strangers = Vec::new();
    for _ in 0..20 {
        let mut stranger = stranger(&house).await;
        stranger.says("MA e2e4\nNG0Y\nGE0").await;
        strangers.push(stranger);
    }
    hand.tells(&mut first, "e2e4").await;
    let mut second = app(&house).await;
    assert_eq!(first.line().await, None, "the first is closed");
    second.moves(&mut hand, "e7e5").await;
    hand.tells(&mut second, "g1f3").await;
}

#[tokio::test]
async fn a_game_whose_connection_is_lost_belongs_to_its_address() {
    let (house, mut hand) = citrine().await;
    let mut watcher = watcher(&house).await;
    let mut owner = machine(&house, 2).await;
    owner.says(&format!("{H0}\nNG1Y")).await;
    owner.hears_next(H1).await;
    house.asks_for_a_move("citrine").await;
    drop(owner);
    watcher.hears_of("left:").await;
    hand.does("e2e4").await;
    house.knows("citrine", 1).await;
    for line in [H0, "NG1Y", "NG0N", "MA e7e5", "GE0"] {
        let mut stranger = machine(&house, 3).await;
        stranger.says(line).await;
        assert_eq!(stranger.line().await, None, "{line}");
    }
    watcher.hears_of("127.0.0.3").await;
    let mut owner = machine(&house, 2).await;
    owner.says(H0).await;
    owner.hears_next(H1).await;
    owner.hears_next("MB e2e4").await;
    owner.moves(&mut hand, "e7e5").await;
}

/// The other addresses of this machine stand for others: so a phone whose address has changed is not shut out for ever.
#[tokio::test(start_paused = true)]
async fn after_a_time_an_app_of_another_address_takes_the_place_and_not_the_game() {
    let house = House::with(House::folder(), &[("citrine", FAST_CITRINE)], APP).await;
    let board = house.daemon.bus().board("citrine").unwrap();
    let mut feed = board.feed();
    let mut stands = async |target: bool| while feed.next().await.1.target.is_some() != target {};
    let mut owner = machine(&house, 2).await;
    owner.says(&format!("{H0}\nNG1Y")).await;
    stands(true).await;
    drop(owner);
    // It has been noticed that the owner is gone.
    while house.daemon.bus().clients().list()[0].peer.is_some() {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(OWNER_WAIT).await;
    let mut other = machine(&house, 3).await;
    other.says(H0).await;
    stands(false).await;
}

#[tokio::test]
async fn an_app_that_hangs_up_is_not_looked_for_in_the_network() {
    let (house, _hand) = citrine().await;
    let app = app(&house).await;
    let mut watcher = watcher(&house).await;
    watcher.hears_of("client-snapshot").await;
    drop(app);
    watcher.hears_of("\"left: it closed the connection\"").await;
}

#[tokio::test]
async fn a_move_taken_back_on_the_board_is_to_be_made_again_for_the_app_cannot() {
    let (house, mut hand, mut app) = with_app().await;
    let mut watcher = watcher(&house).await;
    app.says("NG3Y").await;
    house.asks_for_a_move("citrine").await;
    hand.tells(&mut app, "e2e4").await;
    app.moves(&mut hand, "e7e5").await;
    hand.does("take-back").await;
    let said = watcher.hears_of("e7e5 was taken back on the board").await;
    assert!(
        said.contains("but it stands in the app's game, which cannot take it back: ")
            && !said.contains("program"),
        "{said}"
    );
}

#[tokio::test]
async fn what_is_no_message_is_shown_once_a_connection() {
    let (house, _hand) = citrine().await;
    let mut watcher = watcher(&house).await;
    watcher.hears_of("client-snapshot").await;
    for _ in 0..2 {
        // Before the handshake and after it.
        let mut login = stranger(&house).await;
        login.says("raspberrypi login:").await;
        watcher.hears_of("unreadable: `raspberrypi login:`").await;
        login
            .says(&format!("Password:\n{H0}\nXY\nLast login: never"))
            .await;
        watcher.hears_of("connected by").await;
        drop(login);
        watcher.hears_of("left:").await;
    }
    let mut app = app(&house).await;
    app.says("XYZ\nXYZ\nXYZ\nNG1Y").await;
    watcher.hears_of("begins").await;
    let told = watcher
        .log
        .iter()
        .filter(|line| line.contains("unreadable"));
    assert_eq!(told.count(), 3, "{:?}", watcher.log);
    // A prompt has no end of the line.
    drop(app);
    let mut prompt = stranger(&house).await;
    prompt.bytes(b"raspberrypi login: ").await;
    watcher.hears_of("unreadable: `raspberrypi login: `").await;
}

#[tokio::test]
async fn an_app_that_never_reads_holds_up_nobody() {
    let (house, hand) = citrine().await;
    let mut deaf = app(&house).await;
    let flood = format!("{H0}\n").repeat(20_000);
    // It sends more than it could ever be answered, and reads nothing.
    let _ = timeout(PATIENCE, deaf.bytes(flood.as_bytes())).await;
    let mut app = app(&house).await;
    app.says("NG1Y").await;
    house.asks_for_a_move("citrine").await;
    hand.tells(&mut app, "e2e4").await;
}

#[tokio::test]
async fn a_gui_and_the_app_share_a_board_by_one_rule_and_the_other_sees_the_game() {
    let (house, mut hand, mut app) = begins("NG3Y").await;
    let mut watcher = watcher(&house).await;
    let mut gui = house.gui().await;
    gui.asks("d2d4").await;
    gui.hears_of("in another game, with the WhitePawn app")
        .await;
    let told = watcher.hears_of("\"event\":\"players\"").await;
    assert!(told.contains("\"have\":[\"the WhitePawn app"), "{told}");
    hand.tells(&mut app, "e2e4").await;
    gui.hears("info string in the other game: 1. e4").await;
    app.says("MA e7e5").await;
    gui.hears("info string in the other game: 1... e5").await;
    // The app's game is over: the board is the GUI's.
    app.says("GE2").await;
    hand.sees("executed d2d4").await;
    hand.answers(&mut gui, "g8f6").await;
    // And the app waits until the GUI has gone.
    app.says("NG2N\nMA c2c4").await;
    watcher.hears_of("the board is in another game").await;
    drop(gui);
    hand.sees("executed c2c4").await;
    hand.tells(&mut app, "e7e5").await;
}

#[tokio::test]
async fn an_app_that_is_gone_makes_way_for_a_gui() {
    let (house, mut hand, gone) = begins("NG3Y").await;
    let mut watcher = watcher(&house).await;
    drop(gone);
    watcher.hears_of("left:").await;
    let mut gui = house.gui().await;
    gui.shows(&mut hand, "d2d4").await;
    hand.answers(&mut gui, "d7d5").await;
}

/// Junk, incomplete lines and a megabyte without a line end, on a serial line: the same outcome as over TCP.
#[tokio::test]
async fn junk_on_a_serial_line_harms_nobody() {
    let folder = House::folder();
    let link = folder.path().join("gs0");
    let mut phone = Pty::open(Some(&link)).unwrap();
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let more = format!("[[whitepawn]]\nboard = \"citrine\"\nserial = {{ port = {link:?} }}\n");
    let house = House::with(folder, &[("citrine", FAST_CITRINE)], &more).await;
    phone.write(b"H0010023\nNG1Y\n").unwrap();
    reads(&mut phone, "citrine\n").await;
    house.asks_for_a_move("citrine").await;
    let mut left = 1024 * 1024;
    while left > 0 {
        // The line takes what it has room for.
        left -= phone.write(&vec![b'M'; left.min(4096)]).unwrap();
        tokio::task::yield_now().await;
    }
    while phone.write(b"\n\0\xff\nH1\nMA\n\nH0010023\nMA e7").unwrap() == 0 {
        tokio::task::yield_now().await;
    }
    reads(&mut phone, "citrine\n").await;
    hand.does("e2e4").await;
    reads(&mut phone, "MB e2e4\n").await;
    phone.write(b"e5\n").unwrap();
    house.knows("citrine", 2).await;
}

#[tokio::test]
async fn an_app_that_does_not_know_of_a_restart_is_heard_on_its_line() {
    let folder = House::folder();
    let link = folder.path().join("gs0");
    let mut phone = Pty::open(Some(&link)).unwrap();
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let more = format!("[[whitepawn]]\nboard = \"citrine\"\nserial = {{ port = {link:?} }}\n");
    let house = House::with(folder, &[("citrine", FAST_CITRINE)], &more).await;
    let mut watcher = watcher(&house).await;
    // Its handshake was with the daemon before.
    phone.write(b"MA e7e5\n").unwrap();
    watcher.hears_of("no game is in progress").await;
    phone.write(b"GE0\nNG3Y\n").unwrap();
    house.asks_for_a_move("citrine").await;
    hand.does("e2e4").await;
    reads(&mut phone, "MB e2e4\n").await;
}

/// Reads from the app's end of a serial line until this has come.
async fn reads(pty: &mut Pty, wanted: &str) -> String {
    let mut text = String::new();
    let mut buffer = [0; 256];
    while !text.contains(wanted) {
        let read = timeout(PATIENCE, pty.read(&mut buffer)).await;
        let read = read.unwrap_or_else(|_| panic!("no `{wanted}` in {text:?}"));
        text.push_str(std::str::from_utf8(&buffer[..read.unwrap()]).unwrap());
    }
    text
}

#[tokio::test]
async fn the_same_over_a_serial_line_that_is_raw_without_echo_and_comes_back() {
    let folder = House::folder();
    let link = folder.path().join("gs0");
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let more = format!("[[whitepawn]]\nboard = \"citrine\"\nserial = {{ port = {link:?} }}\n");
    // The daemon is up before the port is there.
    let house = House::with(folder, &[("citrine", FAST_CITRINE)], &more).await;
    let mut phone = Pty::open(Some(&link)).unwrap();
    let said = loop {
        // The app asks until somebody has opened the other end.
        phone.write(b"H0010023\n").unwrap();
        let mut buffer = [0; 256];
        if let Ok(Ok(count)) = timeout(
            std::time::Duration::from_millis(200),
            phone.read(&mut buffer),
        )
        .await
        {
            break String::from_utf8(buffer[..count].to_vec()).unwrap();
        }
    };
    assert!(said.starts_with(H1), "{said:?}");
    phone.write(b"NG1Y\n").unwrap();
    house.asks_for_a_move("citrine").await;
    hand.does("e2e4").await;
    let said = reads(&mut phone, "MB e2e4\n").await;
    assert!(!said.contains("NG1Y"), "no echo: {said:?}");
    let mut watcher = watcher(&house).await;
    drop(phone);
    watcher.hears_of("left:").await;
    phone = Pty::open(Some(&link)).unwrap();
    phone.write(b"H0010023\nMA e7e5\n").unwrap();
    reads(&mut phone, "citrine\n").await;
    house.knows("citrine", 2).await;
}

/// One daemon's emulator is the other daemon's board.
#[tokio::test]
async fn two_daemons_play_over_swpp_and_a_game_crosses_them_whole() {
    let (far, mut hand) = citrine().await;
    let address = far.address("whitepawn for citrine");
    let near = House::with(
        House::folder(),
        &[],
        &format!(
            "[boards.far]\nkind = \"swpp\"\nmove_wait = \"100ms\"\ntcp = {{ address = \"{address}\" }}\n"
        ),
    )
    .await;
    let mut gui = near.gui().await;
    gui.says("uci\nucinewgame").await;
    let mut moves: Vec<&str> = Vec::new();
    let game =
        "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6 e1g1 c8g4 h2h3 g4f3 d1f3 d8f6 f3f6 g8f6 d2d3 e8c8";
    for pair in game.split(' ').collect::<Vec<_>>().chunks(2) {
        gui.asks(&moves.join(" ")).await;
        if let Some(last) = moves.last() {
            hand.sees(&format!("executed {last}")).await;
        } else {
            far.asks_for_a_move("citrine").await;
        }
        hand.answers(&mut gui, pair[0]).await;
        moves.extend(pair);
    }
    gui.asks(&moves.join(" ")).await;
    hand.sees("executed e8c8").await;
}

#[tokio::test]
async fn an_app_on_one_board_and_a_gui_on_another_do_not_meet() {
    let folder = House::folder();
    let mut hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let mut other = Hand::new(Kind::NovagUcb, folder.path().join("ucb"), true);
    let boards = [("citrine", FAST_CITRINE), ("ucb", FAST_UCB)];
    let house = House::with(folder, &boards, APP).await;
    let mut app = app(&house).await;
    let mut gui = house.gui().await;
    gui.says("setoption name Board value ucb").await;
    gui.shows(&mut other, "d2d4").await;
    app.says("NG1N\nMA e2e4").await;
    hand.sees("executed e2e4").await;
    other.answers(&mut gui, "d7d5").await;
    hand.tells(&mut app, "e7e5").await;
}

#[tokio::test]
async fn a_reload_that_changes_its_entry_keeps_the_apps_game() {
    let (mut house, mut hand, mut gone) = begins("NG3Y").await;
    hand.tells(&mut gone, "e2e4").await;
    gone.moves(&mut hand, "e7e5").await;
    let boards = [("citrine", FAST_CITRINE)];
    let more = format!("{APP}promotion_letter = false\n");
    house.reloads(&boards, &more).await;
    hand.does("g1f3").await;
    house.knows("citrine", 3).await;
    // It does not announce the game again.
    let mut back = app(&house).await;
    back.hears_next("MB g1f3").await;
    back.moves(&mut hand, "b8c6").await;
    // Without its entry it has left, and its next one begins anew.
    house.reloads(&boards, "").await;
    house.awaits("citrine", 0).await;
    house.reloads(&boards, &more).await;
    let mut watcher = watcher(&house).await;
    let mut late = app(&house).await;
    late.says("MA d2d4").await;
    watcher.hears_of("no game is in progress").await;
}

#[tokio::test]
async fn a_move_that_the_link_had_not_taken_is_told_after_a_reload() {
    let folder = House::folder();
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let house = House::start(folder, &[("citrine", FAST_CITRINE)]).await;
    let (mut app, stop, left) = served(&house, None, 4).await;
    app.write_all(b"NG3Y\n").await.unwrap();
    house.asks_for_a_move("citrine").await;
    hand.does("e2e4").await;
    // The link takes five bytes of eight.
    assert_eq!(app.read_u8().await.unwrap(), b'M');
    stop.cancel();
    let left = timeout(PATIENCE, left).await.unwrap().unwrap();
    let (mut app, ..) = served(&house, left, 64).await;
    let mut told = [0; 8];
    timeout(PATIENCE, app.read_exact(&mut told))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&told, b"MB e2e4\n");
}

/// An app that has shaken hands, over a link that takes so many bytes; what stops its server, and what that leaves.
async fn served(
    house: &House,
    memory: Option<SavedApp>,
    takes: usize,
) -> (
    DuplexStream,
    CancellationToken,
    tokio::task::JoinHandle<Option<SavedApp>>,
) {
    let (mut app, theirs) = duplex(takes);
    let (connections, waiting) = mpsc::channel(1);
    let connection = Connection {
        peer: "the test".into(),
        address: None,
        stream: Box::new(theirs),
        medium: NETWORK,
        receipt: None,
        lease: None,
    };
    connections.send(connection).await.unwrap();
    let shelf = Keeper::new(Store::off().shelf(Kept::App, "citrine"), memory.clone());
    let latest = shelf.latest();
    let table = App {
        client: ClientId(1_000),
        way: "the test".to_owned(),
        board: house.daemon.bus().board("citrine").unwrap(),
        names_promotion: true,
        bus: house.daemon.bus().clone(),
        availability: Availability::default().subscribe(),
        memory,
        shelf,
    };
    let stop = CancellationToken::new();
    let serving = serve(table, waiting, stop.clone());
    let left = tokio::spawn(async move {
        serving.await;
        drop(connections);
        latest.get()
    });
    app.write_all(format!("{H0}\n").as_bytes()).await.unwrap();
    let mut answer = vec![0; H1.len() + 1];
    app.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, format!("{H1}\n").as_bytes());
    (app, stop, left)
}
