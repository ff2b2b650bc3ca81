//! The boards and the hands at them: on pseudo-terminals, on the network, on a Bluetooth of our own.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use simulators::{
    HandAction, Report,
    bluez::{ADAPTER, Bluez, address::Address, hosted::Hosted, phone::Phone},
    neo::{self, Hand, Neo},
    peripheral::{Peripheral, Profile, Refused},
    port::{Happened, Port},
};
use tokio::{
    sync::{Notify, mpsc},
    time::{MissedTickBehavior, interval, sleep},
};
use uuid::Uuid;

use crate::{phone, seat::Seat};

/// How often a hand looks at its board.
const LOOK: Duration = Duration::from_millis(20);
/// After this long the player at a Neo puts the pieces right that its motor has left elsewhere.
const UNTIDY: Duration = Duration::from_secs(8);
/// Orders that may wait for a hand.
const MAX_ORDERS: usize = 16;

/// A board of a game.
#[derive(Clone, Debug)]
pub struct Place {
    /// The game.
    pub seat: Arc<Seat>,
    /// Which of its boards this is.
    pub board: usize,
    /// Whether it is a home-made board, which is told its whole game again if need be.
    pub swpp: bool,
}

impl Place {
    fn saw(&self, report: &Report) {
        if matches!(
            report,
            Report::Lit(_) | Report::Carried(..) | Report::Missing(_)
        ) {
            return;
        }
        self.seat.note(format!("board {}: {report}", self.board));
        if *report == Report::NewGame {
            self.seat.told_new_game(self.swpp);
        }
    }
}

/// A board on a line: orders are for its cable.
pub type Cable = mpsc::Sender<HandAction>;

/// Starts the hand at a board on a line.
pub fn on_a_line(place: Place, mut port: Port) -> Cable {
    let (orders, mut hand) = mpsc::channel(MAX_ORDERS);
    let own = orders.clone();
    tokio::spawn(async move {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                happened = port.next(&mut hand) => match happened {
                    Ok(Happened::Seen(report)) => place.saw(&report),
                    Ok(Happened::HandGone) => return,
                    Err(error) => {
                        place.seat.wrong(&format!("the line failed: {error}"));
                        return;
                    }
                },
                _ = looks.tick() => {
                    let board = port.board();
                    if let Some(action) = place.seat.hand(place.board, board.game(), board.shown().is_some()) {
                        // It looks again.
                        let _ = own.try_send(action);
                    }
                }
            }
        }
    });
    orders
}

/// A Neo that outlives the Bluetooth it is on.
struct Same {
    profile: Profile,
    neo: Arc<Mutex<Neo>>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Peripheral for Same {
    fn profile(&self) -> &Profile {
        &self.profile
    }
    fn connected(&mut self, now: Instant) {
        lock(&self.neo).connected(now);
    }
    fn disconnected(&mut self, now: Instant) {
        lock(&self.neo).disconnected(now);
    }
    fn subscribed(&mut self, now: Instant, characteristic: Uuid, on: bool) {
        lock(&self.neo).subscribed(now, characteristic, on);
    }
    fn read(&mut self, now: Instant, characteristic: Uuid) -> Result<Vec<u8>, Refused> {
        lock(&self.neo).read(now, characteristic)
    }
    fn write(&mut self, now: Instant, characteristic: Uuid, value: &[u8]) -> Result<(), Refused> {
        lock(&self.neo).write(now, characteristic, value)
    }
    fn timeout(&mut self, now: Instant) {
        lock(&self.neo).timeout(now);
    }
    fn deadline(&self) -> Option<Instant> {
        lock(&self.neo).deadline()
    }
    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)> {
        lock(&self.neo).poll_notify()
    }
}

/// The simulated `BlueZ` while it runs, the boards on it, and the apps' phones.
type OnAir = (Bluez, Vec<Hosted<Same>>, [Arc<Phone>; 2]);

/// The Bluetooth, and the Neos on it. The bus itself may go and come back.
pub struct Air {
    socket: PathBuf,
    neos: Vec<(Address, Arc<Mutex<Neo>>)>,
    on: Arc<Mutex<Option<OnAir>>>,
    /// The phones leave.
    leave: Notify,
    /// The phone by Bluetooth Classic has its board.
    classic: AtomicBool,
}

impl Air {
    /// A Bluetooth with these many Neos, named by their numbers, and the hands at them.
    pub fn new(
        socket: PathBuf,
        settings: Vec<neo::Settings>,
        places: Vec<Place>,
    ) -> io::Result<Self> {
        let neos: Vec<_> = (0u8..)
            .zip(settings)
            .map(|(n, settings)| {
                let address = Address([0x02, 0x4E, 0x45, 0x4F, 0x01, n]);
                (address, Arc::new(Mutex::new(Neo::new(settings))))
            })
            .collect();
        let air = Self {
            socket,
            neos,
            on: Arc::default(),
            leave: Notify::new(),
            classic: AtomicBool::new(false),
        };
        air.comes()?;
        for (n, place) in places.into_iter().enumerate() {
            tokio::spawn(at_a_neo(place, air.neos[n].1.clone(), n, air.on.clone()));
        }
        Ok(air)
    }

    /// The bus goes, with everything on it.
    pub fn goes(&self) {
        self.phones_leave();
        *lock(&self.on) = None;
        for (_, neo) in &self.neos {
            lock(neo).disconnected(Instant::now());
        }
    }

    /// The bus is back.
    pub fn comes(&self) -> io::Result<()> {
        let bluez = Bluez::start_at(&self.socket)?;
        let mut hosted = Vec::new();
        for (address, neo) in &self.neos {
            let same = Same {
                profile: lock(neo).profile().clone(),
                neo: neo.clone(),
            };
            let host = bluez.host(ADAPTER, *address, same);
            hosted.push(host.map_err(io::Error::other)?);
        }
        let phone = |address| {
            let phone = bluez.phone(ADAPTER, address, phone::MTU);
            phone.map(Arc::new).map_err(io::Error::other)
        };
        let [low_energy, classic] = phone::ADDRESSES;
        let phones = [phone(low_energy)?, phone(classic)?];
        *lock(&self.on) = Some((bluez, hosted, phones));
        Ok(())
    }

    /// The phones on it: by Bluetooth LE, and by Bluetooth Classic.
    pub fn phones(&self) -> Option<[Arc<Phone>; 2]> {
        let on = lock(&self.on);
        on.as_ref().map(|(_, _, phones)| phones.clone())
    }

    /// The phones' links end.
    pub fn phones_leave(&self) {
        for phone in self.phones().into_iter().flatten() {
            phone.disconnect();
        }
        self.leave.notify_waiters();
    }

    /// Waits until the phones leave.
    pub async fn left(&self) {
        self.leave.notified().await;
    }

    /// The phone by Bluetooth Classic has its board, or no longer.
    pub fn has_line(&self, has: bool) {
        self.classic.store(has, Ordering::Relaxed);
    }

    /// Waits until both phones have their boards again, or so long.
    pub async fn phones_are_back(&self, patience: Duration) {
        let until = Instant::now() + patience;
        let low_energy = || self.phones().is_some_and(|[phone, _]| phone.is_connected());
        let back = || self.classic.load(Ordering::Relaxed) && low_energy();
        while !back() && Instant::now() < until {
            sleep(LOOK).await;
        }
    }

    /// Does something to the Bluetooth, for each Neo.
    pub fn each(&self, act: impl Fn(&Bluez, Address)) {
        if let Some((bluez, ..)) = &*lock(&self.on) {
            for (address, _) in &self.neos {
                act(bluez, *address);
            }
        }
    }

    /// Where a program finds it.
    pub fn address(&self) -> String {
        simulators::bluez::bus_address(&self.socket)
    }
}

/// The person at a Neo: puts the pieces up for a new game, and makes moves.
async fn at_a_neo(
    place: Place,
    neo: Arc<Mutex<Neo>>,
    number: usize,
    air: Arc<Mutex<Option<OnAir>>>,
) {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut game = usize::MAX;
    let mut settled = Instant::now();
    loop {
        looks.tick().await;
        let now = Instant::now();
        {
            let mut neo = lock(&neo);
            // Without a bus, only we drive it.
            neo.timeout(now);
            while let Some(report) = neo.poll_report() {
                // What a program says whenever it connects changes nothing on a Neo.
                if report != Report::NewGame {
                    place.saw(&report);
                }
            }
            let (next, plies, _) = place.seat.game();
            let action = if next != game && plies == 0 && !neo.is_driving() {
                game = next;
                Some(HandAction::NewGame)
            } else if neo.is_settled() {
                settled = now;
                place
                    .seat
                    .hand(place.board, neo.game(), neo.shown().is_some())
            } else if settled.elapsed() > UNTIDY && !neo.is_driving() && !neo.is_at_work() {
                // A capture was cut off: the player puts the pieces as the program shows them.
                settled = now;
                place.seat.note("the hand puts the pieces right");
                neo.hand(now, Hand::SetUp(Box::new(place.seat.ought(place.board))));
                None
            } else {
                None
            };
            if let Some(action) = action {
                neo.hand(now, action);
            }
        }
        if let Some((_, hosted, _)) = &*lock(&air) {
            // What the hand did is to be sent.
            hosted[number].with(|_| ());
        }
    }
}
