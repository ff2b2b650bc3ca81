//! Connects the app to a link, a clock and the orders of `boardbridge simulate whitepawn-app`.

use std::{
    collections::VecDeque,
    io,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    task::{JoinHandle, spawn_blocking},
    time::timeout,
};

use super::{app::WhitePawnApp, line::Line, order::Order, place::Place, seen::Seen};
use crate::{clock::sleep_until_some, outcome::Outcome};

/// Bytes read at once.
const READ_CHUNK: usize = 1024;
/// Orders that may wait while a link is opened or closed: more than a person types.
const MAX_ORDERS: usize = 64;

/// How long a line may take to close. A serial port closes once its last bytes are out, or after half a minute if its
/// board accepts none.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// An app with a link to its board, or without.
pub struct Call {
    app: WhitePawnApp,
    place: Place,
    line: Option<Line>,
    closing: Option<JoinHandle<()>>,
    orders: VecDeque<Order>,
    buffer: Vec<u8>,
}

impl Call {
    /// Connects the app to its board.
    ///
    /// # Errors
    /// The board cannot be reached; the message says where.
    pub async fn new(app: WhitePawnApp, place: Place) -> io::Result<Self> {
        let line = place.open().await?;
        let mut call = Self {
            app,
            place,
            line: None,
            closing: None,
            orders: VecDeque::new(),
            buffer: vec![0; READ_CHUNK],
        };
        call.connected(line);
        Ok(call)
    }

    /// The app.
    pub fn app(&self) -> &WhitePawnApp {
        &self.app
    }

    /// Gives the app an order.
    pub fn order(&mut self, order: Order) {
        if self.orders.len() < MAX_ORDERS {
            self.orders.push_back(order);
        } else {
            self.app.refuse(format!("{order:?}: too many orders wait"));
        }
    }

    /// Whether every order was obeyed.
    pub fn is_idle(&self) -> bool {
        self.orders.is_empty()
    }

    /// Runs until there is an observable event. Cancel-safe: nothing is lost.
    pub async fn next(&mut self) -> Seen {
        loop {
            if let Some(seen) = self.app.poll_seen() {
                return seen;
            }
            self.transmit();
            if self.obey().await {
                continue;
            }
            let deadline = self.app.deadline().map(Into::into);
            let coming = async {
                match &mut self.line {
                    Some(line) => line.next(&mut self.buffer).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                came = coming => match came {
                    Ok(count) if count > 0 => {
                        self.app.received(Instant::now(), &self.buffer[..count]);
                    }
                    Ok(_) | Err(_) => self.disconnected(Seen::Disconnected),
                },
                () = sleep_until_some(deadline) => self.app.timeout(Instant::now()),
            }
        }
    }

    /// Sends the queued messages, and closes the link.
    pub async fn end(mut self) {
        self.transmit();
        if let Some(line) = &mut self.line {
            farewell(&self.place, line).await;
        }
        self.close();
        self.closed().await;
    }

    /// Obeys the next order, if there is one. It stays the next one until it is done.
    async fn obey(&mut self) -> bool {
        match self.orders.front() {
            None => return false,
            Some(Order::HangUp) => self.hang_up().await,
            Some(Order::Connect) => {
                self.hang_up().await;
                self.closed().await;
                match self.place.open().await {
                    Ok(line) => self.connected(line),
                    Err(error) => self.app.refuse(format!("connect: {error}")),
                }
            }
            Some(order) => {
                let order = order.clone();
                self.app.order(Instant::now(), order);
            }
        }
        self.orders.pop_front();
        true
    }

    fn connected(&mut self, line: Line) {
        self.app.see(Seen::Connected(line.name().to_owned()));
        self.app.connected(Instant::now());
        self.line = Some(line);
    }

    fn disconnected(&mut self, why: Seen) {
        self.close();
        self.app.disconnected(Instant::now());
        self.app.see(why);
    }

    /// Closes the line on another thread: the kernel may wait for the board.
    fn close(&mut self) {
        if let Some(line) = self.line.take() {
            self.closing = Some(spawn_blocking(move || drop(line)));
        }
    }

    /// Waits until the line is closed: a program that ends sooner loses its last messages.
    async fn closed(&mut self) {
        if let Some(closing) = self.closing.take() {
            // A board that does not take them in time is not waited for.
            let _ = timeout(CLOSE_WAIT, closing).await;
        }
    }

    async fn hang_up(&mut self) {
        if let Some(line) = &mut self.line {
            farewell(&self.place, line).await;
            self.disconnected(Seen::HungUp);
        }
    }

    fn transmit(&mut self) {
        while let Some(message) = self.app.poll_transmit() {
            if let Some(line) = &mut self.line
                && !line.send(message)
            {
                self.disconnected(Seen::Disconnected);
                return;
            }
        }
    }
}

/// Sends the queued messages; over Bluetooth the link needs time to end, and is waited for.
async fn farewell(place: &Place, line: &mut Line) {
    match place {
        Place::Ble(_) => line.close().await,
        Place::Tcp(_) | Place::Serial(_) | Place::Pty(_) => line.flush().await,
    }
}

/// Runs the app until its input ends, or the game of its opponent.
///
/// # Errors
/// The board cannot be reached, or it was lost before the opponent's game ended.
pub async fn run(
    app: WhitePawnApp,
    place: Place,
    say: impl Fn(String),
    stop: impl AsyncFnOnce() -> io::Result<()>,
) -> io::Result<Outcome> {
    let mut call = Call::new(app, place).await?;
    let stop = stop();
    tokio::pin!(stop);
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    let mut input_open = true;
    loop {
        tokio::select! {
            // Orders are obeyed before the next one is read.
            biased;
            stopped = &mut stop => {
                call.end().await;
                return stopped.map(|()| Outcome::Done);
            }
            seen = call.next() => {
                say(seen.to_string());
                match seen {
                    Seen::Ended(_) if call.app().has_opponent() => {
                        call.end().await;
                        say("done".to_owned());
                        return Ok(Outcome::Done);
                    }
                    Seen::Astray => return Ok(Outcome::Astray),
                    _ => {}
                }
            },
            line = input.next_line(), if input_open => match line? {
                Some(line) if line.trim().is_empty() => {}
                Some(line) => match line.parse::<Order>() {
                    Ok(order) => call.order(order),
                    Err(error) => say(Seen::Refused(error.to_string()).to_string()),
                },
                // An automatic opponent needs no orders.
                None if call.app().has_opponent() => input_open = false,
                None => {
                    let failed = call.app().has_failed();
                    call.end().await;
                    if failed {
                        return Err(io::Error::other(
                            "the board did not shake hands: what is printed says how far it came",
                        ));
                    }
                    return Ok(Outcome::Done);
                }
            },
        }
        if !input_open && call.is_idle() && call.app().is_deaf() {
            return Err(io::Error::other("the board was lost before the game ended"));
        }
    }
}
