//! The Miko Neo, formerly Square Off Neo (Bluetooth LE): senses squares, not pieces, and moves its own pieces.
//!
//! Source: "Miko Neo communication protocol" and captures of a real board, see `PROTOCOL.md`. What shaped
//! this driver:
//!
//! - Every write is answered; the next one waits for that ([`crate::driver::outbox`]), and while the motor runs nothing is
//!   written, because nobody knows what the board would make of it.
//! - The board's pictures of its squares lie: a square that holds a piece may read empty for many moves. The
//!   [recogniser](crate::recognise) knows; nothing here waits for equality without an end.
//! - A move of the program is a few paths of the motor, each awaited ([`motor`]). What remains to be done is worked
//!   out anew from where the pieces stand before each path, so that a link that was lost in the middle only means
//!   to go on, and a path that was carried out is not sent again.

mod assembling;
pub mod codec;
mod contact;
mod correction;
mod driving;
mod gesture;
mod leftover;
mod make;
pub mod motor;
pub mod part;
mod recognition;
mod settings;
mod showing;
mod signs;
mod squares;
mod task;
mod touched;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Bitboard, Board, Chess, Move, Position, Square};

pub use self::make::{KIND, MAKE};
pub use self::settings::{Promotion, Settings};
use self::{
    codec::Message,
    contact::Contact,
    correction::Correction,
    gesture::Gesture,
    leftover::Leftover,
    motor::{Action, Parking},
    part::Part,
    signs::Signs,
    squares::Squares,
    task::{Driving, Interrupted, Motion, Task},
    touched::Touched,
};
use super::{
    Capabilities, Driver, DriverEvent, Step, StepFailure,
    outbox::{Outbox, Settled},
};
use crate::{
    game::Game,
    guidance,
    lines::printable,
    recognise::Recogniser,
    sense::Sensed,
    vocabulary::{Beginning, Channel, GameEnd, Outcome, Outgoing},
};

/// A path has its `OK` after 3 to 7 s (measured, 11 paths); one that has none after this long was lost, or the
/// motor is stuck.
pub const PATH_WAIT: Duration = Duration::from_secs(20);
/// No path takes longer than this (measured: 3 to 7 s); a picture that comes later shows what became of it.
pub const LONGEST_PATH: Duration = Duration::from_secs(8);
/// Pictures come every 2 s (measured: 2.04 s at most while nothing moves); ask for one after this long.
pub const PICTURE_WAIT: Duration = Duration::from_secs(6);
/// A board that has sent nothing for this long is gone, whatever the radio says.
pub const SILENCE: Duration = Duration::from_secs(30);
/// The answer to the greeting came within 0.1 s in all captures.
pub const HELLO_WAIT: Duration = Duration::from_secs(3);
/// A set-up that lacks a few pieces and does not change for this long is believed: the squares may read wrong.
pub const ASSEMBLE_PATIENCE: Duration = Duration::from_secs(20);
/// A set-up whose squares are right, but with pieces that are known to be others, is believed after this long without a
/// change: a lift may not have been heard.
pub const OTHERS_PATIENCE: Duration = Duration::from_mins(1);
/// So many squares may read wrong at once. The captured game had three.
pub const ASSEMBLE_LACKING: usize = 4;
/// How long the piece a pawn became may still be lifted and put back to choose another.
pub const PROMOTION_WAIT: Duration = Duration::from_secs(3);
/// How long the motor rests before pieces are asked for that only the hand can bring: the next step may want them
/// elsewhere.
pub const OWED_WAIT: Duration = Duration::from_secs(1);
/// Pictures in which both ends of a path that was broken off read empty, before its piece is thought to stand where it should,
/// unseen, rather than to be in a hand.
const PICTURES_TO_DECIDE: u8 = 3;
/// Pictures that must show the start position before it counts as a new game.
const NEW_GAME_PICTURES: u8 = 2;
/// Bytes of an unreadable value that are shown.
const SHOWN: usize = 80;

/// The driver. See the module's introduction.
#[derive(Debug)]
pub struct Neo {
    settings: Settings,
    contact: Contact,
    outbox: Outbox<Part>,
    recogniser: Recogniser,
    touched: Touched,
    parking: Parking,
    /// Whether it is known which piece stands where.
    known: bool,
    game: Game,
    /// The game followed is not the recogniser's yet.
    behind: bool,
    may_replace: bool,
    task: Option<Task>,
    leftover: Leftover,
    gesture: Gesture,
    /// [`Driver::learn`] was called and not answered.
    asked: bool,
    squares: Squares,
    owed_due: Option<Instant>,
    signs: Signs,
    correction: Correction,
    lit: Bitboard,
    paths: u32,
    events: VecDeque<DriverEvent>,
}

impl Neo {
    /// A driver that knows nothing of its board yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            parking: Parking::new(&settings.parking),
            recogniser: Recogniser::new(settings.waits(), Board::new()),
            touched: Touched::nothing(),
            settings,
            contact: Contact::default(),
            outbox: Outbox::default(),
            known: false,
            game: Game::standard(),
            behind: true,
            may_replace: false,
            task: None,
            leftover: Leftover::default(),
            gesture: Gesture::default(),
            asked: false,
            squares: Squares::default(),
            owed_due: None,
            signs: Signs::default(),
            correction: Correction::default(),
            lit: Bitboard::EMPTY,
            paths: 0,
            events: VecDeque::new(),
        }
    }

    fn say(&mut self, outgoing: Outgoing) {
        self.outbox.push(outgoing, Part::Plain);
    }

    /// The start as the maker's app makes it (captured twice).
    fn begin(&mut self) {
        self.outbox
            .push(codec::subscribe(codec::ANSWERS), Part::Plain);
        self.say(codec::read(codec::BATTERY));
        self.say(codec::subscribe(codec::BATTERY));
        self.say(codec::read(codec::FIRMWARE));
        self.say(codec::subscribe(codec::UNKNOWN));
        self.outbox
            .push(codec::subscribe(codec::EVENTS), Part::Essential);
        self.outbox
            .push(codec::subscribe(codec::OCCUPANCY), Part::Essential);
        self.say(codec::read(codec::SETTINGS));
        self.outbox.push(codec::hello(), Part::Hello);
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
            Message::Lifted(square) => self.lifted(now, square),
            Message::Placed(square) => self.placed(now, square),
            Message::Picture(picture) => self.pictured(now, picture),
            Message::PathDone => self.path_done(now),
            Message::Address => self.ready(),
            Message::Battery(percent) => self.events.push_back(DriverEvent::Battery(percent)),
            Message::Firmware(version) => self.contact.version(version),
            Message::Other => {}
        }
    }

    fn lifted(&mut self, now: Instant, square: Square) {
        self.squares.lifted(square);
        self.crossed(square);
        match self.correction.told(|action| action.from == Some(square)) {
            Some(guidance::Action { to: None, .. }) => self.touched.take_off(square),
            told => self.touched.lift(square, told.and_then(|action| action.to)),
        }
        self.gesture.lifted(now, square);
        self.sense(now, Sensed::Lifted(square));
    }

    fn placed(&mut self, now: Instant, square: Square) {
        self.squares.placed(square);
        self.crossed(square);
        let brought =
            |action: &guidance::Action| action.from.is_none() && action.to == Some(square);
        let told = self
            .correction
            .told(brought)
            .and_then(|action| action.piece);
        self.touched.put(square, told);
        self.gesture.placed(now, square);
        self.sense(now, Sensed::Placed(square));
    }

    fn pictured(&mut self, now: Instant, picture: Bitboard) {
        self.squares.pictured(picture);
        self.contact.look_later(now);
        // No picture comes while the motor moves.
        self.leftover.stopped();
        if let Some(mut interrupted) = self.leftover.take_path() {
            interrupted.pictures += 1;
            match self.carried_out(&interrupted, picture) {
                None if interrupted.pictures < PICTURES_TO_DECIDE => {
                    // Nothing follows from this picture before that is known.
                    self.leftover.interrupt(interrupted);
                    return;
                }
                Some(false) => {}
                None | Some(true) => {
                    self.apply(&Action::Carry(interrupted.carry));
                    self.recogniser.resume();
                }
            }
        }
        if self.ok_was_lost(now, picture) {
            self.path_done(now);
        }
        self.sense(now, Sensed::Occupied(picture));
        if self.known && std::mem::take(&mut self.asked) {
            self.events.push_back(DriverEvent::NoList);
        }
        self.mind_new_game(now, picture);
    }

    /// The pieces stand so.
    fn stand(&mut self, board: Board) {
        self.recogniser.stand(board);
        self.behind = true;
    }

    /// The pieces were set up so: what was sensed before is void.
    fn stand_anew(&mut self, board: Board) {
        self.touched = Touched::pieces(board.clone());
        self.recogniser = Recogniser::new(self.settings.waits(), board);
        self.behind = true;
    }

    /// Does everything that can be done now.
    fn work(&mut self, now: Instant) {
        if self.known {
            self.touched.follow(self.recogniser.standing());
        }
        self.recognised(now);
        self.mind_touched(now);
        self.look_again();
        if !self.contact.is_ready() {
            return;
        }
        if self.asked && !self.known && self.squares.are_read() {
            self.asked = false;
            self.events.push_back(DriverEvent::Adrift);
        }
        match self.task.take().or_else(|| self.tidy()) {
            None => {}
            Some(Task::Assemble(assembling)) => self.assemble(now, assembling),
            Some(Task::Drive(driving)) => self.drive(now, driving),
            Some(Task::Hand(step)) => {
                let carried_out = self.recogniser.standing() == self.game.position().board();
                // The game that has the step is followed only after it was accepted.
                self.task = (self.behind || !carried_out).then_some(Task::Hand(step));
            }
        }
        self.mind_owed(now);
        self.light();
    }

    fn settled(&mut self, now: Instant, settled: Settled<Part>) {
        match settled {
            Settled::Done(Part::Hello) => self.contact.greeted(now),
            Settled::Done(Part::Path(path)) => {
                if let Some(Task::Drive(Driving {
                    motion: Motion::Moving { number, due, .. },
                    ..
                })) = &mut self.task
                    && *number == path
                {
                    *due = Some(now + PATH_WAIT);
                }
            }
            Settled::Done(Part::GameBegun) | Settled::GivenUp(Part::GameBegun, _) => self.begun(),
            Settled::Done(_) => {}
            Settled::GivenUp(Part::Path(_), _) => {
                if let Some(Task::Drive(driving)) = self.task.take() {
                    self.broke_off(&driving);
                }
            }
            Settled::GivenUp(Part::Essential | Part::Hello, why) => {
                self.contact.give_up(format!(
                    "the board refuses to talk ({why}): switch it off and on, and close the maker's app"
                ));
            }
            Settled::GivenUp(Part::Plain, _) => {}
        }
    }
}

impl Driver for Neo {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            take_back: true,
            // Every piece by hand, against a few paths of the motor.
            set_up_cost: Some(12),
            new_game_cost: 8,
            tells_game: true,
            moves_itself: self.settings.motor,
            sees_squares: true,
            castles_anyhow: true,
            keeps_record: false,
            tells_moves_only: false,
        }
    }

    fn link_up(&mut self, now: Instant) {
        self.outbox.clear();
        self.contact.up(now);
        self.squares.link_up();
        self.lit = Bitboard::EMPTY;
        self.owed_due = None;
        self.leftover.link_up(now);
        if self.known {
            self.recogniser.resume();
        }
        self.begin();
    }

    fn link_down(&mut self) {
        self.contact.down();
        self.outbox.clear();
        self.events.clear();
        self.asked = false;
        self.leftover.stopped();
        self.owed_due = None;
        self.correction.mended();
        self.touched = Touched::nothing();
        if self.known {
            // A hand that is at work goes on unseen.
            self.recogniser.resume();
        }
        match self.task.take() {
            Some(Task::Drive(driving)) => {
                self.leftover.break_off(&driving);
                if let Motion::Moving { carry, dim, .. } = driving.motion {
                    self.leftover.interrupt(Interrupted::of(carry, dim));
                }
            }
            Some(Task::Hand(step)) => self.task = Some(Task::Hand(step)),
            Some(Task::Assemble(_)) => self.known = false,
            None => {}
        }
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

    fn answered(&mut self, now: Instant, _channel: Channel, outcome: Outcome) {
        self.contact.heard(now);
        if let Some(settled) = self.outbox.answered(now, outcome) {
            self.settled(now, settled);
            self.work(now);
        }
    }

    fn timeout(&mut self, now: Instant) {
        self.recogniser.timeout(now);
        if let Some((m, role)) = self.gesture.take_done(now) {
            self.played(m, Some(role));
        }
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
        let path = match &self.task {
            Some(Task::Drive(Driving {
                motion: Motion::Moving { due, .. },
                ..
            })) => *due,
            Some(Task::Assemble(a)) if self.squares.are_read() && a.may_be_believed() => {
                Some(a.since + a.patience())
            }
            _ => None,
        };
        let may_write = !self.motor_is_out() && !self.leftover.is_quiet();
        let retry = self.outbox.deadline().filter(|_| may_write);
        [
            self.recogniser.deadline(),
            self.gesture.deadline(),
            self.contact.deadline(),
            self.owed_due.filter(|_| !self.correction.is_told()),
            self.leftover.deadline(),
            path,
            retry,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn idle(&self) -> bool {
        let busy = match &self.task {
            None => false,
            Some(Task::Assemble(assembling)) => !assembling.abandoned,
            Some(_) => true,
        };
        let untidy = self.known && self.leftover.is_unwanted();
        let promotes = self.gesture.is_awaited();
        self.contact.is_ready() && !busy && !untidy && !promotes && !self.asked
    }

    fn stepping(&self) -> bool {
        match &self.task {
            Some(Task::Assemble(assembling)) => !assembling.abandoned,
            Some(Task::Drive(driving)) => !driving.tidying,
            Some(Task::Hand(_)) | None => false,
        }
    }

    fn start(&mut self, now: Instant, step: Step) {
        if !self.idle() {
            return;
        }
        let mover = self.game.turn();
        match step {
            Step::Show(_) | Step::TakeBack(_) if !self.known => {
                self.events.push_back(DriverEvent::Adrift);
            }
            Step::Show(m) | Step::TakeBack(m) if self.settings.motor => {
                let forward = matches!(step, Step::Show(_));
                if self.leftover.resume(forward, m) {
                    self.task = Some(Task::Drive(Driving {
                        forward,
                        m,
                        mover: if forward { mover } else { !mover },
                        motion: Motion::Ready,
                        tidying: false,
                        unwanted: false,
                    }));
                } else {
                    self.events
                        .push_back(DriverEvent::Failed(StepFailure::NoAnswer));
                }
            }
            Step::Show(_) | Step::TakeBack(_) => {
                self.signs.show(matches!(step, Step::Show(_)));
                self.task = Some(Task::Hand(step));
                self.behind = true;
                self.accepted();
            }
            Step::NewGame(_) | Step::SetUp(_) => self.start_assembling(now, step),
        }
        self.work(now);
    }

    fn knows_of(&self, _beginning: Beginning) -> bool {
        !self.signs.has_ended()
    }

    fn game_ended(&mut self, now: Instant, end: GameEnd) {
        // Where the kings tell it, nothing is to be put right.
        self.correction.drop_guidance();
        self.sign_of(end);
        self.work(now);
    }

    fn confirm(&mut self, now: Instant) {
        match self.task.take() {
            Some(Task::Assemble(mut assembling)) => {
                if !assembling.closing {
                    self.close(&mut assembling);
                }
                self.task = Some(Task::Assemble(assembling));
            }
            Some(Task::Hand(_)) => {
                // The player says that the pieces stand.
                self.stand(self.game.position().board().clone());
            }
            other => self.task = other,
        }
        if self.correction.is_puzzled() {
            // The player says that no pieces are exchanged.
            self.touched = Touched::pieces(self.recogniser.standing().clone());
        }
        self.work(now);
    }

    fn tell_position(&mut self, _now: Instant, _position: &Chess, _new_to_board: bool) {}

    fn learn(&mut self, now: Instant) {
        self.asked = true;
        // A picture of this link was looked at already.
        if self.known && self.squares.are_read() {
            self.asked = false;
            self.events.push_back(DriverEvent::NoList);
        }
        self.work(now);
    }

    fn look(&mut self, _now: Instant) {
        // It knows squares, not pieces.
        self.events.push_back(DriverEvent::NoPicture);
    }

    fn follow(&mut self, now: Instant, game: &Game, may_replace: bool) -> bool {
        let changed = *game != self.game;
        if changed {
            self.game = game.clone();
            if self.known && self.contact.is_ready() {
                self.show_signs();
            }
        }
        let driving =
            matches!(&self.task, Some(Task::Drive(d)) if !matches!(d.motion, Motion::Ready));
        let assembling = matches!(self.task, Some(Task::Assemble(_)));
        if !self.known || driving || assembling || self.gesture.is_awaited() {
            self.behind |= changed;
            return false;
        }
        if changed || self.behind || may_replace != self.may_replace {
            self.behind = false;
            self.may_replace = may_replace;
            self.recogniser.follow(now, &self.game, may_replace);
            self.work(now);
        }
        if self.leftover.is_unwanted() && self.task.is_none() {
            self.work(now);
        }
        !self.events.is_empty()
    }

    fn stands_as(&self, board: &Board) -> bool {
        self.squares.stand_as(board)
    }

    fn abandon(&mut self, target: Option<&Game>) {
        let leads_there = |forward: bool, m: Move| {
            let mut game = self.game.clone();
            let legal = !forward || game.push(m);
            let reached = target.is_some_and(|target| target.continues(&game));
            legal && reached == forward
        };
        if let Some(unfinished) = self.leftover.step() {
            unfinished.unwanted = !leads_there(unfinished.forward, unfinished.m);
        }
        if let Some(Task::Drive(driving)) = &mut self.task {
            driving.unwanted = driving.tidying || !leads_there(driving.forward, driving.m);
        }
        match &mut self.task {
            Some(Task::Assemble(assembling)) if !assembling.closing => {
                let wanted = target.is_some_and(|target| target.continues(&assembling.game));
                if !wanted && !assembling.abandoned {
                    assembling.abandoned = true;
                    self.events.push_back(DriverEvent::Adrift);
                }
            }
            Some(Task::Hand(_)) if !target.is_some_and(|target| target.continues(&self.game)) => {
                self.task = None;
            }
            _ => {}
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
