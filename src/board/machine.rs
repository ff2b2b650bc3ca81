//! One board without I/O: its driver, the game it holds, the clients that follow it, and the steps between.
//!
//! Bytes, commands and time go in; bytes, events, a snapshot and the next deadline come out. The actor gives it
//! a transport and a clock, a replay gives it a transcript, a test gives it both by hand.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use shakmaty::{Move, Role};

use super::{
    advice::Advice,
    claims::Claims,
    command::Command,
    held::{Certainty, Held, Meaning},
    name::BoardName,
    plan::{Circumstances, Plan, plan},
    snapshot::{LinkState, Place, Snapshot},
};
use crate::{
    bus::{By, Event},
    driver::{BoardResult, Driver, DriverEvent, Reported, Step, StepFailure},
    game::{Game, uci},
};

/// A board that was switched on asks for its position within its start sequence; wait that long for it before
/// leading it anywhere. At 9600 baud the sequence of seven requests and answers takes about a second.
pub const RESTART_WAIT: Duration = Duration::from_secs(5);
/// The longest wait before a step that failed is tried again; it begins with a second and doubles.
pub const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);

/// One board, without I/O. See the module's introduction.
pub struct Machine {
    name: BoardName,
    driver: Box<dyn Driver>,
    /// How long the hand may take to mend what it did, before the board is led back.
    correction_wait: Duration,
    link: LinkState,
    id: Option<String>,
    held: Held,
    claims: Claims,
    promotion: Role,
    result: Option<BoardResult>,
    /// The step the driver is carrying out.
    step: Option<Step>,
    /// A set-up or take-back that the hand is still following.
    following: Option<Advice>,
    /// Whether the board is to be led to the target. Not while a new game is announced and not stated, nor
    /// when the player put the pieces back and nobody waits.
    leading: bool,
    /// Not before this time.
    lead_after: Option<Instant>,
    failures: u32,
    given: Circumstances,
    by_hand: bool,
    hand_took_back: bool,
    mistake: Option<Reported>,
    events: VecDeque<Event>,
    last_advice: Advice,
    changed: bool,
}

impl Machine {
    /// A board that is not connected.
    pub fn new(name: BoardName, driver: Box<dyn Driver>, correction_wait: Duration) -> Self {
        Self {
            name,
            driver,
            correction_wait,
            link: LinkState::Down("not connected yet".to_owned()),
            id: None,
            held: Held::default(),
            claims: Claims::default(),
            promotion: Role::Queen,
            result: None,
            step: None,
            following: None,
            leading: false,
            lead_after: None,
            failures: 0,
            given: Circumstances::default(),
            by_hand: false,
            hand_took_back: false,
            mistake: None,
            events: VecDeque::new(),
            last_advice: Advice::Nothing,
            changed: true,
        }
    }

    /// The link is up.
    pub fn link_up(&mut self, now: Instant) {
        self.link = LinkState::Asking;
        self.lead_after = None;
        self.event(Event::Connected);
        self.driver.link_up(now);
        self.drive(now);
    }

    /// The link is gone, or could not be had; `why` is for the player.
    pub fn link_down(&mut self, now: Instant, why: String) {
        if self.link != LinkState::Down(why.clone()) {
            self.event(Event::Disconnected { why: why.clone() });
        }
        self.link = LinkState::Down(why);
        self.driver.link_down();
        self.held.doubt();
        self.step = None;
        self.following = None;
        self.mistake = None;
        self.drive(now);
    }

    /// Bytes came from the board.
    pub fn received(&mut self, now: Instant, bytes: &[u8]) {
        self.driver.received(now, bytes);
        self.drive(now);
    }

    /// The time given by [`Self::deadline`] has come.
    pub fn timeout(&mut self, now: Instant) {
        self.driver.timeout(now);
        self.drive(now);
    }

    /// When [`Self::timeout`] or [`Self::poll_transmit`] is to be called next.
    pub fn deadline(&self) -> Option<Instant> {
        let lead = self.lead_after.filter(|_| self.may_lead());
        [self.driver.deadline(), lead].into_iter().flatten().min()
    }

    /// The next bytes to send now.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Bytes> {
        let bytes = self.driver.poll_transmit(now);
        if bytes.is_some() {
            self.drive(now);
        }
        bytes
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// A new snapshot, if anything changed since the last one was taken.
    pub fn poll_snapshot(&mut self) -> Option<Snapshot> {
        std::mem::take(&mut self.changed).then(|| self.snapshot())
    }

    /// How the board stands.
    pub fn snapshot(&self) -> Snapshot {
        let sure = self.held.certainty() == Certainty::Sure && !self.held.is_astray();
        Snapshot {
            board: self.name.clone(),
            link: self.link.clone(),
            id: self.id.clone(),
            game: Arc::new(self.held.game().clone()),
            sure,
            target: self.claims.target().cloned().map(Arc::new),
            awaiting: self.claims.awaiting(),
            advice: self.advice(),
            result: self.result,
            places: self
                .claims
                .iter()
                .map(|claim| Place {
                    client: claim.client,
                    number: claim.number,
                    joined: claim.joined,
                    answer: if claim.joined {
                        self.answer_to(&claim.game).to_vec()
                    } else {
                        Vec::new()
                    },
                })
                .collect(),
            holders: self.claims.holders().map(|c| c.label.clone()).collect(),
        }
    }

    /// What the hand has played in the last position of `game`.
    fn answer_to(&self, game: &Game) -> &[Move] {
        let held = self.held.game();
        let fresh = self.held.fresh_from() <= game.len();
        if self.held.certainty() == Certainty::Sure && fresh && held.continues(game) {
            &held.moves()[game.len()..]
        } else {
            &[]
        }
    }

    /// Takes a front-end's command.
    pub fn command(&mut self, now: Instant, command: Command) {
        self.changed = true;
        match command {
            Command::Target {
                client,
                label,
                number,
                game,
            } => {
                let game = game.rebased(self.held.game());
                let game = match self.claims.target() {
                    Some(target) => game.rebased(target),
                    None => game,
                };
                let game = game.before_double_step();
                let changed = self.claims.state(client, label, number, game);
                self.target_stated(changed);
            }
            Command::Await { client, on } => {
                self.claims.set_awaiting(client, on);
                self.leading |= on;
                self.admit_waiting();
            }
            Command::Answered {
                client,
                number,
                answer,
            } => {
                let claim = self.claims.iter().find(|c| c.client == client);
                let played = claim.and_then(|c| answer.to_move(c.game.position()).ok());
                if let Some(m) = played
                    && self.claims.answered(client, number, m)
                {
                    self.front_ends_know();
                    self.tell_target();
                }
                self.admit_waiting();
            }
            Command::Refuse { client, number } => {
                let holds = |c: &&super::claims::Claim| c.client == client && c.number == number;
                if self.claims.holders().any(|c| holds(&c)) {
                    self.held.known_to_front_ends(self.held.game().len());
                    self.lead_after = Some(now + self.correction_wait);
                }
            }
            Command::NewGame { client } => {
                if self.claims.may_lead(client) {
                    self.held.known_to_front_ends(self.held.game().len());
                    self.given.new_game = true;
                    self.leading = false;
                }
            }
            Command::Ready { client } => {
                if self.claims.holders().any(|c| c.client == client) {
                    self.ready(now);
                }
            }
            Command::Promotion { client, role } => {
                if self.claims.may_lead(client) {
                    self.promotion = role;
                }
            }
            Command::Release { client } => {
                if self.claims.release(client) {
                    self.target_stated(true);
                }
            }
        }
        self.drive(now);
    }

    fn admit_waiting(&mut self) {
        if self.claims.admit_waiting() {
            self.target_stated(true);
        }
    }

    /// A client stated a target; it may be the one the board is led to already.
    fn target_stated(&mut self, changed: bool) {
        if changed {
            self.lead_after = None;
            self.by_hand = false;
            self.hand_took_back = false;
            self.failures = 0;
            self.tell_target();
        }
        self.leading = self.claims.target().is_some();
        self.front_ends_know();
    }

    fn tell_target(&mut self) {
        let game = self.claims.target().map(ToString::to_string);
        self.event(Event::Target { game });
    }

    /// What the target has of the held game is known to front-ends.
    fn front_ends_know(&mut self) {
        if let Some(target) = self.claims.target()
            && let Some(common) = target.common_plies(self.held.game())
        {
            self.held.known_to_front_ends(common);
        }
    }

    /// The player says that the board stands as it should.
    fn ready(&mut self, now: Instant) {
        if self.by_hand
            && let Some(target) = self.claims.target().cloned()
        {
            self.held.replace(target);
        }
        self.by_hand = false;
        self.mistake = None;
        self.held.confirm();
        self.confirm(now);
        self.lead_after = None;
    }

    fn confirm(&mut self, now: Instant) {
        self.following = None;
        self.driver.confirm(now);
    }

    fn event(&mut self, event: Event) {
        self.changed = true;
        self.events.push_back(event);
    }

    fn may_lead(&self) -> bool {
        self.leading && self.link == LinkState::Up && self.claims.target().is_some()
    }

    /// Takes what the driver has to say and starts what is to be done next, until nothing is left.
    fn drive(&mut self, now: Instant) {
        loop {
            while let Some(event) = self.driver.poll_event() {
                self.driver_event(now, event);
            }
            if self.driver.idle() && self.following.is_some() && self.step.is_none() {
                self.following = None;
                self.changed = true;
            }
            if self.lead_after.is_some_and(|at| at <= now) {
                self.lead_after = None;
            }
            if !self.lead(now) {
                break;
            }
        }
        let advice = self.advice();
        if advice != self.last_advice {
            self.event(Event::Advice {
                text: advice.to_string(),
            });
            self.last_advice = advice;
        }
    }

    /// Starts the next step toward the target, if there is one. `true` if something was started.
    fn lead(&mut self, now: Instant) -> bool {
        if !self.may_lead() || self.lead_after.is_some() || !self.driver.idle() || self.by_hand {
            return false;
        }
        let board = self.driver.capabilities();
        if self.held.certainty() == Certainty::Unsure && board.tells_game {
            self.driver.learn(now);
            return false;
        }
        let Some(target) = self.claims.target() else {
            return false;
        };
        match plan(&self.held, target, board, self.given) {
            Plan::There => {
                self.given.new_game = false;
                false
            }
            Plan::Do(step) => {
                self.following = match &step {
                    Step::Show(_) => None,
                    Step::TakeBack(m) => Some(Advice::TakeBack(*m)),
                    Step::NewGame => Some(Advice::NewGame),
                    Step::SetUp(game) => Some(Advice::SetUp(game.fen())),
                };
                self.mistake = None;
                self.hand_took_back = false;
                self.step = Some(step.clone());
                self.driver.start(now, step);
                self.changed = true;
                true
            }
            Plan::ByHand => {
                self.by_hand = true;
                self.changed = true;
                false
            }
        }
    }

    fn driver_event(&mut self, now: Instant, event: DriverEvent) {
        match event {
            DriverEvent::Answers { id } => {
                if self.link != LinkState::Up || id.is_some() {
                    self.event(Event::Answers { id: id.clone() });
                }
                self.link = LinkState::Up;
                self.id = id.or(self.id.take());
            }
            DriverEvent::Silent => {
                self.link = LinkState::Silent;
                self.held.doubt();
                self.step = None;
                self.event(Event::Silent);
            }
            DriverEvent::Restarted => {
                self.held.doubt();
                self.step = None;
                self.following = None;
                self.lead_after = Some(now + RESTART_WAIT);
                self.event(Event::Restarted);
            }
            DriverEvent::AsksPosition => self.tell_position(now),
            DriverEvent::Moved(reported) => self.moved(now, reported),
            DriverEvent::TookBack(reported) => {
                let meaning = self.held.hand_took_back(reported);
                self.meant(now, reported, meaning);
            }
            DriverEvent::NewGame => {
                self.held.replace(Game::standard());
                self.result = None;
                self.mistake = None;
                self.step = None;
                self.confirm(now);
                self.lead_after = Some(now + self.correction_wait);
                // Pieces put back after a game are the next game's start; while somebody waits for a move they
                // are a mistake.
                self.leading &= self.claims.awaiting();
                self.event(Event::NewGame { by: By::Hand });
            }
            DriverEvent::Accepted => self.accepted(),
            DriverEvent::Failed(failure) => self.failed(now, failure),
            DriverEvent::Listed {
                skipped,
                moves,
                full,
            } => {
                let before = self.held.game().len();
                let targets: Vec<&Game> = self.claims.target().into_iter().collect();
                let followed = self.held.learn(skipped, &moves, full, &targets);
                if !followed || full {
                    self.driver.look(now);
                }
                self.learned(before);
            }
            DriverEvent::Placed { board, turn } => {
                let before = self.held.game().len();
                if !self.held.see(&board, turn) {
                    self.held.lose();
                }
                self.learned(before);
            }
            DriverEvent::NoPicture => {
                self.held.lose();
                self.changed = true;
            }
            DriverEvent::Ended(result) => {
                self.result = Some(result);
                self.event(Event::Result { result });
            }
            DriverEvent::Unreadable(text) => self.event(Event::Unreadable { text }),
        }
    }

    /// The game was learned from the board; what it has beyond `before` plies is news.
    fn learned(&mut self, before: usize) {
        self.changed = true;
        self.front_ends_know();
        let game = self.held.game();
        // What the target has was shown: its echo was lost. The rest is the hand's.
        let shown = self
            .claims
            .target()
            .and_then(|target| target.common_plies(game))
            .unwrap_or(0);
        let news: Vec<_> = game.uci_moves().enumerate().skip(before).collect();
        if shown == game.len() && !news.is_empty() {
            self.held.await_execution();
        }
        for (index, uci) in news {
            let by = if index < shown {
                By::Target
            } else {
                By::HandUnseen
            };
            self.event(Event::Moved {
                uci,
                ply: index + 1,
                by,
            });
        }
        let game = self.held.game().clone();
        self.claims.rebase(&game);
    }

    fn moved(&mut self, now: Instant, reported: Reported) {
        if self.held.certainty() == Certainty::Lost {
            self.held.doubt();
            self.driver.learn(now);
            return;
        }
        let meaning = self.held.hand_moved(reported, self.promotion);
        self.meant(now, Some(reported), meaning);
    }

    /// Acts on what a report turned out to be.
    fn meant(&mut self, now: Instant, reported: Option<Reported>, meaning: Meaning) {
        self.changed = true;
        self.lead_after = Some(now + self.correction_wait);
        let ply = self.held.game().len();
        match meaning {
            Meaning::Played(m) => {
                self.mistake = None;
                self.hand_took_back = false;
                self.by_hand = false;
                self.result = None;
                self.confirm(now);
                self.event(Event::Moved {
                    uci: uci(m),
                    ply,
                    by: By::Hand,
                });
                // The hand may simply have put back what it took back.
                self.front_ends_know();
            }
            Meaning::Executed(m) => {
                self.mistake = None;
                self.confirm(now);
                self.event(Event::Executed { uci: uci(m) });
            }
            Meaning::Mended => {
                self.mistake = None;
                if self.held.unconfirmed().is_none() {
                    self.confirm(now);
                }
                self.event(Event::Mended);
            }
            Meaning::Repeated => self.confirm(now),
            Meaning::TookBack(moves) => {
                self.mistake = None;
                self.result = None;
                self.hand_took_back = true;
                self.confirm(now);
                let mut ply = ply + moves.len();
                for m in moves {
                    self.event(Event::TookBack {
                        uci: uci(m),
                        ply,
                        by: By::Hand,
                    });
                    ply -= 1;
                }
            }
            Meaning::Wrong | Meaning::Unexplained if self.driver.capabilities().tells_game => {
                // The board judges moves itself: something was missed, and it can be asked.
                self.held.doubt();
                self.step = None;
                self.driver.learn(now);
            }
            Meaning::Wrong | Meaning::Unexplained => {
                self.mistake = reported;
                let text = self.advice().to_string();
                self.event(Event::Mistake { text });
                if meaning == Meaning::Unexplained {
                    self.held.doubt();
                }
            }
        }
    }

    fn tell_position(&mut self, now: Instant) {
        let held = self.held.game();
        let game = match self.claims.target() {
            Some(target) if held.continues(target) && self.held.fresh_from() <= target.len() => {
                held.clone()
            }
            Some(target) => target.clone(),
            // A board that is switched on while nobody plays begins a new game.
            None if self.held.certainty() == Certainty::Unsure => Game::standard(),
            None => held.clone(),
        };
        let new_to_board = game != *held;
        if new_to_board {
            self.held.replace(game);
            self.following = Some(Advice::SetUp(self.held.game().fen()));
        } else {
            self.held.assure();
        }
        self.lead_after = None;
        self.changed = true;
        let position = self.held.game().position().clone();
        self.driver.tell_position(now, &position, new_to_board);
    }

    fn accepted(&mut self) {
        self.failures = 0;
        self.result = None;
        let ply = self.held.game().len();
        match self.step.take() {
            None => {}
            Some(Step::Show(m)) => {
                self.held.shown(m);
                self.event(Event::Moved {
                    uci: uci(m),
                    ply: ply + 1,
                    by: By::Target,
                });
            }
            Some(Step::TakeBack(m)) => {
                self.held.taken_back();
                self.event(Event::TookBack {
                    uci: uci(m),
                    ply,
                    by: By::Target,
                });
            }
            Some(Step::NewGame) => {
                self.held.replace(Game::standard());
                self.event(Event::NewGame { by: By::Target });
            }
            Some(Step::SetUp(game)) => {
                let fen = game.fen().to_string();
                self.held.replace(*game);
                self.event(Event::SetUp { fen });
            }
        }
        self.front_ends_know();
    }

    fn failed(&mut self, now: Instant, failure: StepFailure) {
        let step = self.step.take();
        self.following = None;
        if matches!(step, Some(Step::SetUp(_))) && failure == StepFailure::Refused {
            self.given.set_up_refused = true;
        }
        self.held.doubt();
        let wait = Duration::from_secs(1 << self.failures.min(5)).min(MAX_RETRY_WAIT);
        self.failures += 1;
        // What the board holds is asked at once; what it did not take is tried again later.
        if self.driver.capabilities().tells_game {
            self.driver.learn(now);
        }
        self.lead_after = Some(now + wait);
        self.changed = true;
    }

    fn advice(&self) -> Advice {
        match &self.link {
            LinkState::Down(why) => return Advice::NoLink(why.clone()),
            LinkState::Silent => return Advice::Silent,
            LinkState::Asking => return Advice::Nothing,
            LinkState::Up => {}
        }
        if let Some(made) = self.mistake {
            return Advice::Mistake {
                made,
                expected: self.held.unconfirmed(),
            };
        }
        if let Some(following) = &self.following {
            return following.clone();
        }
        let target = self.claims.target();
        if let Some(target) = target.filter(|_| self.by_hand) {
            return Advice::SetUpByHand(target.fen());
        }
        if let Some(m) = self.held.unconfirmed() {
            return Advice::Make(m);
        }
        let Some(target) = target else {
            return Advice::Nothing;
        };
        let held = self.held.game();
        let next = target.moves().get(held.len()).copied();
        match next.filter(|_| self.leading && target.continues(held)) {
            Some(m) if self.hand_took_back => Advice::PutBack(m),
            Some(m) => Advice::Make(m),
            None if self.held.certainty() != Certainty::Sure => Advice::Nothing,
            None if self.claims.awaiting() && held == target => Advice::YourMove(held.turn()),
            None => Advice::Nothing,
        }
    }
}
