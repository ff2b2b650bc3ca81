//! The `WhitePawn` app gets its H1 at once, whatever the board does: it waits 200 ms and gives up.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use boardbridge::{
    transport::duplex::CABLE,
    vocabulary::{LinkState, Snapshot},
};
use simulators::pty::Pty;
use tokio::{
    io::AsyncWriteExt,
    runtime::Builder,
    sync::oneshot,
    time::{MissedTickBehavior, interval, timeout},
};
use tokio_serial::SerialPortBuilderExt;

use crate::support::{FAST_CITRINE, Gui, House, PATIENCE};

const APP: &str = "[[whitepawn]]\nboard = \"citrine\"\ntcp = { listen = \"127.0.0.1:0\" }\n";
const H0: &str = "H0010023";
const H1: &str = concat!("H101   ", env!("CARGO_PKG_VERSION"), "citrine");

/// The promised limit. The median keeps it on a computer that is busy otherwise, for instance with the rest of the
/// tests.
const AT_ONCE: Duration = Duration::from_millis(50);
/// No single answer takes this long: a slow computer is slow in all of them, and anything that the daemon waits for by
/// mistake (a write, a close, a bound on what is read) has waits of seconds.
const EVER: Duration = Duration::from_secs(1);
/// The app asks at least so many times,
const ASKED: usize = 20;
/// and this often.
const OFTEN: Duration = Duration::from_millis(10);

/// A daemon with a board played by the test, or without one.
async fn house(folder: tempfile::TempDir) -> House {
    House::with(folder, &[("citrine", FAST_CITRINE)], APP).await
}

/// Lets the app ask repeatedly until this holds, and checks how long its answers took.
async fn is_answered_at_once(house: &House, until: impl Fn(&Snapshot) -> bool) {
    let mut app = Gui::connect(house.address("whitepawn for citrine")).await;
    let board = house.daemon.bus().board("citrine").unwrap();
    let mut often = interval(OFTEN);
    often.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut took = Vec::new();
    let began = Instant::now();
    while took.len() < ASKED || !until(&board.state()) {
        assert!(
            began.elapsed() < PATIENCE,
            "what was to come did not: {:?}",
            board.state().link
        );
        often.tick().await;
        let asked = Instant::now();
        app.says(H0).await;
        app.hears_next(H1).await;
        took.push(asked.elapsed());
    }
    took.sort();
    let (median, worst) = (took[took.len() / 2], took[took.len() - 1]);
    println!("{} answers: {median:?}, at most {worst:?}", took.len());
    assert!(median <= AT_ONCE, "{median:?}");
    assert!(worst <= EVER, "{worst:?}");
}

#[tokio::test]
async fn the_app_is_answered_at_once_while_there_is_no_board() {
    let house = house(House::folder()).await;
    // Some attempts to open the port are among it.
    let began = Instant::now();
    is_answered_at_once(&house, |_| began.elapsed() > Duration::from_secs(1)).await;
}

#[tokio::test]
async fn the_app_is_answered_at_once_while_the_board_talks_without_end() {
    let folder = House::folder();
    let link = folder.path().join("citrine");
    let said = Arc::new(AtomicUsize::new(0));
    // It has a thread of its own, as a real board has none of ours.
    let told = Arc::downgrade(&said);
    let (plugged, there) = oneshot::channel();
    let board = thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let mut board = Pty::open(Some(&link)).unwrap();
            plugged.send(()).unwrap();
            let lines = b"M   1   e2-e4\r\n".repeat(64);
            // It looks now and then whether it still has a listener.
            while let Some(said) = told.upgrade() {
                let talk = AsyncWriteExt::write(&mut board, &lines);
                if let Ok(count) = timeout(OFTEN, talk).await {
                    said.fetch_add(count.unwrap(), Ordering::Relaxed);
                }
            }
        });
    });
    there.await.unwrap();
    let house = house(folder).await;
    // All that is read in a second, the pause until the next, and the same again.
    let much = 3 * CABLE.bytes_per_second;
    is_answered_at_once(&house, |_| said.load(Ordering::Relaxed) > much).await;
    drop(said);
    board.join().unwrap();
}

#[tokio::test]
async fn the_app_is_answered_at_once_while_the_board_takes_no_bytes() {
    let folder = House::folder();
    let link = folder.path().join("citrine");
    let _board = Pty::open(Some(&link)).unwrap();
    // Nobody reads there, and what the kernel keeps for it is full.
    let full = tokio_serial::new(link.display().to_string(), 9600).exclusive(false);
    let mut full = full.open_native_async().unwrap();
    // It moves about what it keeps: full is what has had no room for a single byte for a while.
    let mut quiet = Instant::now();
    while quiet.elapsed() < EVER / 2 {
        if full.try_write(&[b'x'; 4096]).is_ok() || full.try_write(b"x").is_ok() {
            quiet = Instant::now();
        }
        tokio::task::yield_now().await;
    }
    drop(full);
    let house = house(folder).await;
    // Until the link is given up, and a little longer: it is closed then.
    let ended = Cell::new(None);
    is_answered_at_once(&house, |snapshot| {
        if matches!(&snapshot.link, LinkState::Down(why) if why.contains("accepts no more data")) {
            ended.set(ended.get().or(Some(Instant::now())));
        }
        ended.get().is_some_and(|at| at.elapsed() > EVER / 4)
    })
    .await;
}
