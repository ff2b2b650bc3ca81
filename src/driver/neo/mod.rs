//! The Miko Neo, formerly Square Off Neo (Bluetooth LE): senses squares, not pieces, and moves its own pieces.
//!
//! Source: "Miko Neo communication protocol" and captures of a real board, see `PROTOCOL.md`. What shaped
//! this driver:
//!
//! - Every write is answered, and the next one waits for that ([`crate::driver::outbox`]). While the motor runs nothing
//!   is written, because it is unknown how the board would react.
//! - The board's pictures of its squares are unreliable: an occupied square may read empty for many moves. The
//!   [recogniser](crate::chess::recognise) allows for that; nothing here waits for equality without a limit.
//! - A move of the program is a few paths of the motor, each awaited ([`motor`]). Before each path the remaining work
//!   is computed from where the pieces stand, so that the driver continues after a lost link and never sends again
//!   a path that was carried out.

pub mod codec;
mod contact;
mod driving;
mod identity;
mod leftover;
mod memory;
pub mod motor;
mod reports;
pub mod request;
mod settings;
mod signs;
mod task;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Bitboard, Board, Chess, Move, Position, Square};

pub use self::identity::{IDENTITY, KIND};
pub use self::settings::{Promotion, Settings};
use self::{
    codec::Message,
    contact::Contact,
    leftover::Leftover,
    memory::SavedNeo,
    motor::{Action, Parking},
    request::Purpose,
    signs::Signs,
    task::{Driving, Interrupted, Motion},
};
use super::{
    Driver, DriverEvent, Profile, Step, StepFailure,
    outbox::{Outbox, Settled},
};
use crate::{
    chess::{game::Game, recognise::Sensing, sense::Sensed},
    driver::sensing::{Awaited, Squares},
    text::lines::printable,
    vocabulary::{Beginning, Channel, GameEnd, Outgoing, Reply},
};

/// A path has its `OK` after 3 to 7 s (measured, 11 paths); after this long without it the `OK` was lost, or the
/// motor is stuck.
pub const PATH_WAIT: Duration = Duration::from_secs(20);
/// No path takes longer than this (measured: 3 to 7 s); a later picture shows its outcome.
pub const LONGEST_PATH: Duration = Duration::from_secs(8);
/// Pictures come every 2 s (measured: 2.04 s at most while nothing moves); ask for one after this long.
pub const PICTURE_WAIT: Duration = Duration::from_secs(6);
/// A board that has been silent for this long is gone, even if the radio still reports a connection.
pub const SILENCE: Duration = Duration::from_secs(30);
/// The answer to the greeting came within 0.1 s in all captures.
pub const HELLO_WAIT: Duration = Duration::from_secs(3);
/// How long the motor rests before the player is asked for pieces that only a hand can bring: the next step may need
/// them elsewhere.
pub const OWED_WAIT: Duration = Duration::from_secs(1);
/// Pictures in which both ends of an interrupted path read empty, before its piece is assumed to be undetected at its
/// destination rather than in a hand.
const PICTURES_TO_DECIDE: u8 = 3;
/// Bytes of an unreadable value that are shown.
const SHOWN: usize = 80;

/// The driver. See the module documentation.
#[derive(Debug)]
pub struct Neo {
    settings: Settings,
    contact: Contact,
    outbox: Outbox<Purpose>,
    squares: Squares,
    parking: Parking,
    driving: Option<Driving>,
    leftover: Leftover,
    /// The player was last told that there are more surplus pieces than missing ones.
    surplus_told: bool,
    /// [`Driver::learn`] was called and not answered.
    asked: bool,
    owed_due: Option<Instant>,
    signs: Signs,
    /// Which squares are lit; `None`: unknown, for lamps may be lit since an earlier link.
    lit: Option<Bitboard>,
    paths: u32,
    events: VecDeque<DriverEvent>,
}

impl Neo {
    /// A driver that knows nothing about its board yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            parking: Parking::new(&settings.parking),
            squares: Squares::new(settings.waits(), Sensing::default())
                .promotes_by_gesture(settings.promotion == Promotion::Gesture),
            settings,
            contact: Contact::default(),
            outbox: Outbox::default(),
            driving: None,
            leftover: Leftover::default(),
            surplus_told: false,
            asked: false,
            owed_due: None,
            signs: Signs::default(),
            lit: Some(Bitboard::EMPTY),
            paths: 0,
            events: VecDeque::new(),
        }
    }

    fn say(&mut self, outgoing: Outgoing) {
        self.outbox.push(outgoing, Purpose::Plain);
    }

    /// The start-up sequence of the maker's app (captured twice).
    fn begin(&mut self) {
        self.outbox
            .push(codec::subscribe(codec::ANSWERS), Purpose::Plain);
        self.say(codec::read(codec::BATTERY));
        self.say(codec::subscribe(codec::BATTERY));
        self.say(codec::read(codec::FIRMWARE));
        self.say(codec::subscribe(codec::UNKNOWN));
        self.outbox
            .push(codec::subscribe(codec::EVENTS), Purpose::Essential);
        self.outbox
            .push(codec::subscribe(codec::OCCUPANCY), Purpose::Essential);
        self.say(codec::read(codec::SETTINGS));
        self.outbox.push(codec::hello(), Purpose::Hello);
    }

    /// The board has answered the greeting, or never will.
    fn ready(&mut self) {
        if !self.contact.ready() {
            return;
        }
        self.say(codec::position_set());
        self.say(codec::no_game());
        let id = self.contact.id();
        self.events.push_back(DriverEvent::Answers { id: Some(id) });
    }

    fn message(&mut self, now: Instant, message: Message) {
        match message {
            Message::Lifted(square) => self.touched(now, square, Sensed::Lifted(square)),
            Message::Placed(square) => self.touched(now, square, Sensed::Placed(square)),
            Message::Picture(picture) => self.pictured(now, picture),
            Message::PathDone => self.path_done(now),
            Message::Address => self.ready(),
            Message::Battery(percent) => self.events.push_back(DriverEvent::Battery {
                percent,
                is_empty: false,
            }),
            Message::Firmware(version) => self.contact.version(version),
            Message::Other => {}
        }
    }

    fn touched(&mut self, now: Instant, square: Square, sensed: Sensed) {
        self.crossed(square);
        self.squares.sense(now, sensed);
        if !self.is_known() && self.squares.follower().is_free() {
            // The player begins to play, or to set up pieces: the touch cannot be interpreted.
            self.events.push_back(DriverEvent::Unplaced);
        }
    }

    fn pictured(&mut self, now: Instant, picture: Bitboard) {
        self.contact.look_later(now);
        // There are no pictures while the motor moves.
        self.leftover.stopped();
        if let Some(mut interrupted) = self.leftover.take_path() {
            interrupted.pictures += 1;
            match self.carried_out(&interrupted, picture) {
                None if interrupted.pictures < PICTURES_TO_DECIDE => {
                    // Until the outcome of the path is known, this picture cannot be interpreted.
                    self.leftover.interrupt(interrupted);
                    return;
                }
                Some(false) => {}
                None | Some(true) => {
                    let ends = [interrupted.carry.from, interrupted.carry.to];
                    self.apply(&Action::Carry(interrupted.carry));
                    self.squares
                        .guessed(ends.into_iter().filter_map(motor::Spot::square));
                }
            }
        }
        if self.ok_was_lost(now, picture) {
            self.path_done(now);
        }
        self.squares.sense(now, Sensed::Occupied(picture));
        if self.is_known() && std::mem::take(&mut self.asked) {
            self.events.push_back(DriverEvent::NoList);
        }
        self.squares.mind_new_game(picture, self.driving.is_some());
        if self.driving.is_none() {
            self.squares.mind_shown(picture);
        }
    }

    /// What is left unfinished if the link breaks now.
    fn left_now(&self) -> Leftover {
        let mut left = self.leftover.clone();
        left.stopped();
        if let Some(driving) = &self.driving {
            left.break_off(driving);
            if let Motion::Moving { carry, dim, .. } = &driving.motion {
                left.interrupt(Interrupted::of(carry.clone(), *dim));
            }
        }
        left
    }

    /// Whether it is known which piece stands where.
    fn is_known(&self) -> bool {
        self.squares.follower().is_known()
    }

    /// Does everything that can be done now.
    fn work(&mut self, now: Instant) {
        let read = self.squares.picture().is_some();
        if self.asked && self.contact.is_ready() && !self.is_known() && read {
            self.asked = false;
            self.events.push_back(DriverEvent::Unplaced);
        }
        self.squares.attend(now, self.motors_work());
        self.pass_on();
        if !self.contact.is_ready() {
            return;
        }
        if let Some(driving) = self.driving.take().or_else(|| self.tidy()) {
            self.drive(now, driving);
        }
        self.mind_owed(now);
        self.light();
    }

    /// The player is to set up the last position of this game.
    fn set_up(&mut self, now: Instant, game: Game) {
        self.squares.set_up(now, game);
        self.leftover.set_up();
        if let Some(square) = self.squares.first_lacking() {
            self.say(codec::missing(square));
        }
        self.say(codec::prepare());
        self.say(codec::game_begins());
        self.work(now);
    }

    /// Asks for the first missing piece, as the maker's app does.
    fn ask_for_missing(&mut self) {
        if let Some(square) = self.squares.next_lacking()
            && self.outbox.is_empty()
        {
            self.say(codec::missing(square));
        }
    }

    /// The position is set up, and the board has begun its game.
    fn begun(&mut self) {
        if self.squares.begin() {
            // Captured pieces may stand beside the board.
            let missing = Board::new().occupied().count();
            let position = self.squares.game().position();
            let stand = position.board().occupied().count();
            let over = position.outcome().is_known();
            self.parking.block(missing.saturating_sub(stand));
            self.leftover.set_up();
            self.signs = Signs::default();
            self.events.push_back(DriverEvent::Accepted);
            if over {
                self.show_signs();
            }
        }
    }

    /// Lights the squares for the player.
    fn light(&mut self) {
        let squares = self.squares.lights();
        let news = self.lit != Some(squares);
        if news && self.outbox.is_empty() && !self.motor_runs() {
            self.lit = Some(squares);
            self.say(codec::light(squares));
        }
    }

    fn settled(&mut self, now: Instant, settled: Settled<Purpose>) {
        match settled {
            Settled::Done(Purpose::Hello) => self.contact.greeted(now),
            Settled::Done(Purpose::Path(path)) => {
                if let Some(Driving {
                    motion: Motion::Moving { number, due, .. },
                    ..
                }) = &mut self.driving
                    && *number == path
                {
                    *due = Some(now + PATH_WAIT);
                }
            }
            Settled::Done(Purpose::GameBegun) | Settled::GivenUp(Purpose::GameBegun, _) => {
                self.begun();
            }
            Settled::Done(_) => {}
            Settled::GivenUp(Purpose::Path(path), _) => {
                let is_driven = |driving: &mut Driving| matches!(driving.motion, Motion::Moving { number, .. } if number == path);
                if let Some(driving) = self.driving.take_if(is_driven) {
                    self.broke_off(&driving);
                    // It may have come to the board all the same: the pictures tell.
                    if let Motion::Moving { carry, dim, .. } = driving.motion {
                        self.leftover.interrupt(Interrupted::of(carry, dim));
                    }
                }
            }
            Settled::GivenUp(Purpose::Essential | Purpose::Hello, why) => {
                self.contact.give_up(format!(
                    "the board rejects the connection ({why}): switch it off and on, and close the maker's app"
                ));
            }
            Settled::GivenUp(Purpose::Plain, _) => {}
        }
    }
}

impl Driver for Neo {
    fn profile(&self) -> Profile {
        Profile::Squares {
            motor: self.settings.motor,
        }
    }

    fn link_up(&mut self, now: Instant) {
        self.outbox.clear();
        self.contact.up(now);
        self.squares.link_up();
        self.lit = self.lit.filter(|lit| lit.is_empty());
        self.owed_due = None;
        self.leftover.link_up(now);
        self.begin();
    }

    fn link_down(&mut self) {
        self.contact.down();
        if !self.outbox.is_empty() {
            self.lit = None;
        }
        self.outbox.clear();
        self.events.clear();
        self.asked = false;
        self.owed_due = None;
        self.squares.link_down();
        self.leftover = self.left_now();
        self.driving = None;
    }

    fn received(&mut self, now: Instant, channel: Channel, bytes: &[u8]) {
        let Channel::Gatt(characteristic) = channel else {
            return;
        };
        self.contact.heard(now);
        match codec::parse(characteristic, bytes) {
            Some(message) => {
                let picture = matches!(message, Message::Picture(_));
                self.message(now, message);
                self.work(now);
                if picture {
                    self.ask_for_missing();
                }
            }
            None => self
                .events
                .push_back(DriverEvent::Unreadable(printable(bytes, SHOWN))),
        }
    }

    fn answered(&mut self, now: Instant, _channel: Channel, outcome: Reply) {
        // What is refused may not have come to the board.
        if outcome == Reply::Done {
            self.contact.heard(now);
        }
        if let Some(settled) = self.outbox.answered(now, outcome) {
            self.settled(now, settled);
            self.work(now);
        }
    }

    fn timeout(&mut self, now: Instant) {
        self.squares.timeout(now);
        self.pass_on();
        if self.contact.take_unanswered(now) {
            self.ready();
        }
        self.leftover.pass(now);
        if self.contact.take_look(now) && self.outbox.is_empty() && !self.motor_runs() {
            self.say(codec::look());
        }
        self.contact.mind_silence(now);
        self.work(now);
    }

    fn deadline(&self) -> Option<Instant> {
        let path = match &self.driving {
            Some(Driving {
                motion: Motion::Moving { due, .. },
                ..
            }) => *due,
            _ => None,
        };
        let may_write = !self.motor_is_out() && !self.leftover.is_quiet();
        let retry = self.outbox.deadline().filter(|_| may_write);
        [
            self.squares.deadline(),
            self.contact.deadline(),
            self.owed_due
                .filter(|_| !self.squares.follower().correction().is_told()),
            self.leftover.deadline(),
            path,
            retry,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn idle(&self) -> bool {
        let follower = self.squares.follower();
        let hand = follower.is_setting_up() || follower.is_awaited();
        let busy = hand || self.driving.is_some() || self.squares.is_gesture_awaited();
        let untidy = self.is_known() && self.leftover.is_unwanted();
        self.contact.is_ready() && !busy && !untidy && !self.asked
    }

    fn stepping(&self) -> bool {
        let drives = self.driving.as_ref().is_some_and(|d| !d.tidying);
        drives || self.squares.follower().is_setting_up()
    }

    fn start(&mut self, now: Instant, step: Step) {
        if !self.idle() {
            return;
        }
        let (forward, m) = match step {
            Step::Show(m) => (true, m),
            Step::TakeBack(m) => (false, m),
            Step::NewGame(_) => return self.set_up(now, Game::standard()),
            Step::SetUp(game) => return self.set_up(now, *game),
        };
        if !self.is_known() {
            self.events.push_back(DriverEvent::Unplaced);
        } else if !self.settings.motor {
            let awaited = if forward {
                Awaited::Move(m)
            } else {
                Awaited::TakeBack
            };
            self.signs.show(forward);
            self.squares.await_hand(awaited);
            self.events.push_back(DriverEvent::Accepted);
        } else if self.leftover.resume(forward, m) {
            let mover = self.squares.game().turn();
            self.driving = Some(Driving {
                forward,
                m,
                mover: if forward { mover } else { !mover },
                motion: Motion::Ready,
                tidying: false,
                unwanted: false,
            });
        } else {
            self.events
                .push_back(DriverEvent::Failed(StepFailure::NoAnswer));
        }
        self.work(now);
    }

    fn knows_of(&self, _beginning: Beginning) -> bool {
        !self.signs.has_ended()
    }

    fn signal(&mut self, _now: Instant, squares: Bitboard) -> bool {
        self.say(codec::light(squares));
        true
    }

    fn game_ended(&mut self, now: Instant, end: GameEnd) {
        // A result shown with the kings leaves nothing to correct.
        self.squares.game_ended();
        self.sign_of(end);
        self.work(now);
    }

    fn confirm(&mut self, now: Instant) {
        self.squares.confirm();
        self.pass_on();
        self.work(now);
    }

    fn tell_position(&mut self, _now: Instant, _position: &Chess, _new_to_board: bool) {}

    fn learn(&mut self, now: Instant) {
        self.asked = true;
        // A picture of this link was evaluated already.
        if self.is_known() && self.squares.picture().is_some() {
            self.asked = false;
            self.events.push_back(DriverEvent::NoList);
        }
        self.work(now);
    }

    fn look(&mut self, _now: Instant) {
        // It senses squares, not pieces.
        self.events.push_back(DriverEvent::NoPicture);
    }

    fn follow(&mut self, now: Instant, game: &Game, may_replace: bool) -> bool {
        let changed = game != self.squares.game();
        let ready = |motion: &Motion| matches!(motion, Motion::Ready);
        let busy = self.driving.as_ref().is_some_and(|d| !ready(&d.motion));
        let news = self.squares.follow(now, game, may_replace, busy);
        if changed && self.is_known() && self.contact.is_ready() {
            self.show_signs();
        }
        if busy || !self.squares.follows() {
            return false;
        }
        let untidy = self.leftover.is_unwanted() && self.driving.is_none();
        if news || untidy {
            self.work(now);
        }
        !self.events.is_empty()
    }

    fn light_again(&mut self, _now: Instant, _game: &Game) -> bool {
        let unmade = !self.settings.motor && self.squares.await_again();
        if unmade {
            self.light();
        }
        unmade
    }

    fn ask_take_back_again(&mut self, _now: Instant, next: Option<Move>) -> Option<Move> {
        if self.settings.motor {
            return None;
        }
        let m = self.squares.await_take_back_again(next)?;
        self.light();
        Some(m)
    }

    fn stands_as(&self, board: &Board) -> bool {
        self.squares.stand_as(board)
    }

    fn assume(&mut self, pieces: Option<&Board>) {
        self.squares.assume(pieces);
        if pieces.is_some() {
            self.parking.clear();
            self.say(codec::game_begins());
        }
    }

    fn abandon(&mut self, target: Option<&Game>) {
        let leads_there = |forward: bool, m: Move| {
            let mut game = self.squares.game().clone();
            let legal = !forward || game.push(m);
            let reached = target.is_some_and(|target| target.continues(&game));
            legal && reached == forward
        };
        if let Some(unfinished) = self.leftover.step() {
            unfinished.unwanted = !leads_there(unfinished.forward, unfinished.m);
        }
        if let Some(driving) = &mut self.driving {
            driving.unwanted = driving.tidying || !leads_there(driving.forward, driving.m);
        }
        if self.squares.abandon(target) {
            self.events.push_back(DriverEvent::Unplaced);
        }
    }

    fn memory(&self) -> Option<serde_json::Value> {
        serde_json::to_value(SavedNeo::of(self)).ok()
    }

    fn recall(&mut self, memory: serde_json::Value) {
        if let Ok(memory) = serde_json::from_value::<SavedNeo>(memory) {
            memory.recall(self);
        }
    }

    fn poll_hang_up(&mut self) -> Option<String> {
        self.contact.take_hang_up()
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        if self.motor_is_out() {
            return None;
        }
        self.outbox.poll(now, self.leftover.is_quiet())
    }

    fn poll_event(&mut self) -> Option<DriverEvent> {
        self.events.pop_front()
    }
}
