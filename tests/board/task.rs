//! A panic in one board's task is noticed, reported and recovered from: the game continues.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use boardbridge::{
    board::{actor::Actor, core::Core, settings::BoardConfig},
    bus::{Bus, CAPACITY},
    chess::game::Game,
    driver::{
        Driver, DriverEvent, Profile, Step,
        ucb::{Settings, Ucb},
    },
    front_end::uci::{server, slots},
    text::lines::LINE_WAIT,
    transport::{Transport, serial::SerialPort},
    vocabulary::{
        Beginning, BoardName, Channel, ClientId, Command, Event, LinkState, Occasion, Outgoing,
        Reply, Snapshot,
    },
};
use shakmaty::{Board, Chess};
use simulators::{pty::Pty, run::Kind};
use tokio::{net::TcpListener, sync::broadcast, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::support::{FAST_CITRINE, Gui, Hand, House, PATIENCE, until};

/// A driver with a bug: it panics when the player moves, as often as it is told to.
struct Faulty {
    driver: Box<dyn Driver>,
    faults: Arc<AtomicU32>,
}

impl Driver for Faulty {
    fn received(&mut self, now: Instant, channel: Channel, bytes: &[u8]) {
        let left = |faults: u32| faults.checked_sub(1);
        if bytes.starts_with(b"M")
            && self
                .faults
                .try_update(Ordering::Relaxed, Ordering::Relaxed, left)
                .is_ok()
        {
            panic!("a fault \u{1b}[31m");
        }
        self.driver.received(now, channel, bytes);
    }
    fn profile(&self) -> Profile {
        self.driver.profile()
    }
    fn link_up(&mut self, now: Instant) {
        self.driver.link_up(now);
    }
    fn link_down(&mut self) {
        self.driver.link_down();
    }
    fn answered(&mut self, now: Instant, channel: Channel, outcome: Reply) {
        self.driver.answered(now, channel, outcome);
    }
    fn timeout(&mut self, now: Instant) {
        self.driver.timeout(now);
    }
    fn deadline(&self) -> Option<Instant> {
        self.driver.deadline()
    }
    fn idle(&self) -> bool {
        self.driver.idle()
    }
    fn stepping(&self) -> bool {
        self.driver.stepping()
    }
    fn start(&mut self, now: Instant, step: Step) {
        self.driver.start(now, step);
    }
    fn confirm(&mut self, now: Instant) {
        self.driver.confirm(now);
    }
    fn tell_position(&mut self, now: Instant, position: &Chess, new_to_board: bool) {
        self.driver.tell_position(now, position, new_to_board);
    }
    fn learn(&mut self, now: Instant) {
        self.driver.learn(now);
    }
    fn look(&mut self, now: Instant) {
        self.driver.look(now);
    }
    fn follow(&mut self, now: Instant, game: &Game, may_replace: bool) -> bool {
        self.driver.follow(now, game, may_replace)
    }
    fn stands_as(&self, board: &Board) -> bool {
        self.driver.stands_as(board)
    }
    fn knows_of(&self, beginning: Beginning) -> bool {
        self.driver.knows_of(beginning)
    }
    fn light_again(&mut self, now: Instant, game: &Game) -> bool {
        self.driver.light_again(now, game)
    }
    fn abandon(&mut self, target: Option<&Game>) {
        self.driver.abandon(target);
    }
    fn poll_hang_up(&mut self) -> Option<String> {
        self.driver.poll_hang_up()
    }
    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        self.driver.poll_transmit(now)
    }
    fn poll_event(&mut self) -> Option<DriverEvent> {
        self.driver.poll_event()
    }
}

#[tokio::test]
async fn a_board_whose_task_fails_is_told_of_and_its_game_goes_on() {
    let folder = House::folder();
    let port = folder.path().join("citrine");
    let mut hand = Hand::new(Kind::NovagCitrine, port.clone(), true);
    let name: BoardName = "citrine".parse().unwrap();
    let keys = format!("{FAST_CITRINE}serial = {{ port = {port:?} }}\n");
    let config = BoardConfig::from_toml(&keys).unwrap();
    let faults = Arc::new(AtomicU32::new(0));
    let make = {
        let (faults, name) = (faults.clone(), name.clone());
        move || {
            let driver = Box::new(Faulty {
                driver: config.driver(),
                faults: faults.clone(),
            });
            Core::new(name.clone(), driver, Duration::from_millis(150))
        }
    };
    let (events, mut told) = broadcast::channel(CAPACITY);
    let transport = Transport::Serial(SerialPort::new(port.display().to_string(), 9600));
    let (actor, handle) = Actor::new(name, make, transport, None, events.clone());
    let stop = CancellationToken::new();
    let task = tokio::spawn(actor.run(stop.clone()));
    let board = handle.clone();
    let bus = Bus::new(events, vec![handle]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = server::serve(listener.into(), bus, slots::Shared::default(), stop.clone());
    let served = tokio::spawn(serving);

    let mut gui = Gui::connect(address).await;
    gui.begins().await;
    hand.answers(&mut gui, "e2e4").await;
    gui.shows(&mut hand, "e2e4 e7e5").await;
    faults.store(1, Ordering::Relaxed);
    hand.does("g1f3").await;
    // The state says so, with the count, and so do the events.
    let down = |state: &Snapshot| matches!(&state.link, LinkState::Down(why) if why.contains("itself failed"));
    until(&board, down).await;
    gui.hears_of("BoardBridge itself failed on this board (for the 1. time")
        .await;
    // The board still has the move: it answers the `go` of before.
    gui.hears("bestmove g1f3").await;
    gui.shows(&mut hand, "e2e4 e7e5 g1f3 b8c6").await;
    faults.store(1, Ordering::Relaxed);
    hand.answers(&mut gui, "f1b5").await;
    let mut failed = 0;
    while let Ok(publication) = told.try_recv() {
        for event in &*publication.events {
            let why = event.to_string();
            let is = matches!(event, Event::Disconnected { .. }) && why.contains("itself failed");
            failed += u32::from(is);
            assert!(!why.contains('\u{1b}'), "{why:?}");
        }
    }
    assert_eq!(failed, 2);
    stop.cancel();
    timeout(PATIENCE, task).await.unwrap().unwrap();
    timeout(PATIENCE, served).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_move_sent_before_the_port_was_opened_is_not_taken_for_the_first_of_the_game_that_begins()
{
    let mut board = Pty::open(None).unwrap();
    board.write(b"Me2e4\r\n").unwrap();
    let name: BoardName = "ucb".parse().unwrap();
    let make = {
        let name = name.clone();
        move || {
            let driver = Box::new(Ucb::new(Settings::default()));
            let mut core = Core::new(name.clone(), driver, Duration::from_secs(1));
            let target = Command::Target {
                client: ClientId(1),
                label: "a program".into(),
                number: 1,
                game: Box::default(),
                occasion: Occasion::default(),
            };
            core.command(Instant::now(), target);
            core
        }
    };
    let (events, mut told) = broadcast::channel(CAPACITY);
    let transport = Transport::Serial(SerialPort::new(board.name().display().to_string(), 9600));
    let (actor, _handle) = Actor::new(name, make, transport, None, events);
    let stop = CancellationToken::new();
    let task = tokio::spawn(actor.run(stop.clone()));
    let first = async {
        loop {
            let publication = told.recv().await.unwrap();
            let mut events = publication.events.iter();
            let of_move =
                |event: &&Event| matches!(event, Event::Moved { .. } | Event::Unreadable { .. });
            if let Some(event) = events.find(of_move) {
                return event.to_string();
            }
        }
    };
    let first = timeout(PATIENCE, first).await.unwrap();
    assert!(first.contains("before any game"), "{first}");
    stop.cancel();
    timeout(PATIENCE, task).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_end_of_a_move_that_came_in_time_counts_though_the_thread_was_held_up_meanwhile() {
    let mut wood = Pty::open(None).unwrap();
    let name: BoardName = "ucb".parse().unwrap();
    let make = {
        let name = name.clone();
        move || {
            let driver = Box::new(Ucb::new(Settings::default()));
            Core::new(name.clone(), driver, Duration::from_secs(1))
        }
    };
    let (events, mut told) = broadcast::channel(CAPACITY);
    let transport = Transport::Serial(SerialPort::new(wood.name().display().to_string(), 9600));
    let (actor, _board) = Actor::new(name, make, transport, None, events);
    let stop = CancellationToken::new();
    let task = tokio::spawn(actor.run(stop.clone()));
    wood.write(b"N\r\nMe2").unwrap();
    let mut next = async || loop {
        let publication = timeout(PATIENCE, told.recv()).await.unwrap().unwrap();
        let mut events = publication.events.iter();
        let of_game = |event: &&Event| {
            matches!(
                event,
                Event::NewGame { .. } | Event::Moved { .. } | Event::Unreadable { .. }
            )
        };
        if let Some(event) = events.find(of_game) {
            return event.to_string();
        }
    };
    assert_eq!(next().await, "new game");
    wood.write(b"e4\r\n").unwrap();
    // The stall itself, as a disk holds the thread up.
    std::thread::sleep(LINE_WAIT + Duration::from_millis(200));
    assert!(next().await.contains("e2e4"));
    stop.cancel();
    timeout(PATIENCE, task).await.unwrap().unwrap();
}
