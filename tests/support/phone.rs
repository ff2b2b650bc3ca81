//! The simulated `WhitePawn` app on a phone, over any transport to the board.

use std::{collections::VecDeque, time::Duration, time::Instant};

use simulators::{
    bluez::phone::{Phone as Handset, Serial},
    hand::{Player, Plays},
    swpp::{Opponent, Order, Place, Seen, Style, WhitePawnApp, app, call::Call},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::mpsc,
    time::timeout,
};
use uuid::Uuid;

use super::PATIENCE;

/// The app's transport over Bluetooth.
pub enum Air {
    /// By Bluetooth LE: the board's name, its service, the written characteristic, and the notifying one.
    Ble(String, [Uuid; 3]),
    /// By Bluetooth Classic: the service.
    Classic(Uuid),
}

/// The app and its reports.
pub struct Phone {
    orders: mpsc::Sender<Order>,
    told: mpsc::UnboundedReceiver<Seen>,
    pub log: Vec<String>,
}

/// An app with an opponent for one colour of a game, or none.
fn app(games: &str, opponent: Option<(usize, Plays)>) -> WhitePawnApp {
    let opponent = opponent.map(|(number, plays)| {
        let player = Player::of_game(games, number, plays).unwrap();
        Opponent::new(player, Duration::ZERO, 3)
    });
    let settings = app::Settings {
        style: Style::Exact,
        ..app::Settings::default()
    };
    WhitePawnApp::new(settings, opponent)
}

impl Phone {
    /// A phone with a wire.
    pub async fn new(place: Place, games: &str, opponent: Option<(usize, Plays)>) -> Self {
        let mut call = Call::new(app(games, opponent), place).await.unwrap();
        let (orders, mut next) = mpsc::channel::<Order>(64);
        let (seen, told) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    what = call.next() => if seen.send(what).is_err() { return },
                    order = next.recv() => match order {
                        Some(order) => call.order(order),
                        None => return,
                    },
                }
            }
        });
        Self::of(orders, told)
    }

    /// A phone on Bluetooth. It connects at once.
    pub fn on_air(
        handset: Handset,
        air: Air,
        games: &str,
        opponent: Option<(usize, Plays)>,
    ) -> Self {
        let (orders, next) = mpsc::channel::<Order>(64);
        let (seen, told) = mpsc::unbounded_channel();
        let caller = Caller {
            app: app(games, opponent),
            handset,
            air,
            link: None,
            seen,
        };
        tokio::spawn(caller.run(next));
        Self::of(orders, told)
    }

    fn of(orders: mpsc::Sender<Order>, told: mpsc::UnboundedReceiver<Seen>) -> Self {
        Self {
            orders,
            told,
            log: Vec::new(),
        }
    }

    pub async fn does(&self, order: &str) {
        self.orders.send(order.parse().unwrap()).await.unwrap();
    }

    /// Waits for this report; a fault is never reported.
    pub async fn tells(&mut self, words: &str) {
        loop {
            let Ok(Some(seen)) = timeout(PATIENCE, self.told.recv()).await else {
                panic!("`{words}` was not told, but {:?}", self.log);
            };
            let told = seen.to_string();
            self.log.push(told.clone());
            let wrong = ["fault", "jammed", "gave-up", "failed", "astray"];
            assert!(
                !wrong.iter().any(|wrong| told.starts_with(wrong)),
                "{:?}",
                self.log
            );
            if told.starts_with(words) {
                return;
            }
        }
    }

    /// The moves of the board that it has reported.
    pub fn made(&self) -> Vec<&str> {
        let told = self.log.iter();
        told.filter_map(|told| told.strip_prefix("made ")).collect()
    }
}

/// The transport between phone and board.
enum Link {
    Ble,
    Classic(Serial),
}

/// The app's end of the Bluetooth link.
struct Caller {
    app: WhitePawnApp,
    handset: Handset,
    air: Air,
    link: Option<Link>,
    seen: mpsc::UnboundedSender<Seen>,
}

impl Caller {
    async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        let mut waiting = VecDeque::from([Order::Connect]);
        loop {
            self.tell();
            while let Some(message) = self.app.poll_transmit() {
                self.write(&message).await;
            }
            match waiting.pop_front() {
                Some(Order::HangUp) => self.hang_up(),
                Some(Order::Connect) => {
                    self.hang_up();
                    self.connect().await;
                }
                Some(order) => self.app.order(Instant::now(), order),
                None => {
                    let due = self.app.deadline();
                    tokio::select! {
                        heard = heard(&self.handset, &self.air, &mut self.link) => match heard {
                            Some(bytes) => self.app.received(Instant::now(), &bytes),
                            None => self.gone(Seen::Disconnected),
                        },
                        order = orders.recv() => match order {
                            Some(order) => waiting.push_back(order),
                            None => return,
                        },
                        () = at(due) => self.app.timeout(Instant::now()),
                    }
                }
            }
        }
    }

    fn tell(&mut self) {
        while let Some(seen) = self.app.poll_seen() {
            // Who listened may have heard enough.
            let _ = self.seen.send(seen);
        }
    }

    fn gone(&mut self, why: Seen) {
        self.link = None;
        self.app.disconnected(Instant::now());
        self.tell();
        let _ = self.seen.send(why);
    }

    fn hang_up(&mut self) {
        if self.link.is_some() {
            self.handset.disconnect();
            self.gone(Seen::HungUp);
        }
    }

    /// As the app was seen to: it subscribes, and writes afterwards.
    async fn connect(&mut self) {
        self.link = Some(match &self.air {
            Air::Ble(name, [service, _, notify]) => {
                let heard = self.handset.finds(name).await;
                assert_eq!(heard.services, [*service]);
                self.handset.connect().unwrap();
                self.handset.subscribe(*notify, true).unwrap();
                Link::Ble
            }
            Air::Classic(service) => {
                self.handset.finds_record(*service).await;
                Link::Classic(self.handset.connect_serial(*service).await.unwrap())
            }
        });
        self.app.connected(Instant::now());
    }

    /// One message a write, with response.
    async fn write(&mut self, message: &[u8]) {
        match (&mut self.link, &self.air) {
            (Some(Link::Ble), Air::Ble(_, [_, write, _])) => {
                let written = self.handset.write(*write, message, true);
                written.await.unwrap();
            }
            (Some(Link::Classic(line)), _) => line.write_all(message).await.unwrap(),
            _ => {}
        }
    }
}

/// The board's output; `None` when the link is gone.
async fn heard(handset: &Handset, air: &Air, link: &mut Option<Link>) -> Option<Vec<u8>> {
    match (link, air) {
        (Some(Link::Ble), Air::Ble(_, [_, _, notify])) => {
            let (of, value) = handset.notified().await?;
            assert_eq!(of, *notify);
            Some(value)
        }
        (Some(Link::Classic(line)), _) => {
            let mut bytes = vec![0; 256];
            let count = line.read(&mut bytes).await.unwrap_or(0);
            bytes.truncate(count);
            (count > 0).then_some(bytes)
        }
        _ => std::future::pending().await,
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
