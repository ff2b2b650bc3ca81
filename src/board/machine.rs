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
use shakmaty::{Board, Color, Move};

use super::{
    advice::Advice,
    claims::{Claim, Claims},
    command::Command,
    held::{Certainty, Held, List, Listed, Meaning},
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

/// Set-ups that a board may refuse before the player is asked to do it by hand: one answer may be disturbed.
pub const MAX_REFUSALS: u8 = 2;

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
    result: Option<BoardResult>,
    /// The step the driver is carrying out.
    step: Option<Step>,
    /// A set-up or take-back that the hand is still following.
    following: Option<Advice>,
    /// Whether the board is to be led to the target. Not while a new game is announced and not stated, nor
    /// when the player put the pieces back and nobody waits.
    leading: bool,
    /// Not before this time, so that the hand can mend what it did. What a program changes ends the wait.
    lead_after: Option<Instant>,
    /// Not before this time, because the board is starting.
    starts_until: Option<Instant>,
    failures: u32,
    /// Set-ups refused one after the other.
    refusals: u8,
    /// What became of the board's last list.
    listed: Listed,
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
            result: None,
            step: None,
            following: None,
            leading: false,
            lead_after: None,
            starts_until: None,
            failures: 0,
            refusals: 0,
            listed: Listed::Followed,
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
        self.starts_until = None;
        self.refusals = 0;
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
        let may_lead = self.may_lead();
        let waits = [self.lead_after, self.starts_until];
        let lead = waits.into_iter().flatten().filter(|_| may_lead);
        lead.chain(self.driver.deadline()).min()
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
                    answer: answer_to(&self.held, claim).to_vec(),
                })
                .collect(),
            holders: self.claims.holders().map(|c| c.label.clone()).collect(),
        }
    }

    /// Takes a front-end's command.
    pub fn command(&mut self, now: Instant, command: Command) {
        self.changed = true;
        let held = &self.held;
        self.claims
            .note_answers(|claim| !answer_to(held, claim).is_empty());
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
                let fresh_from = self.held.fresh_from();
                let changed = self.claims.state(client, label, number, game, fresh_from);
                self.target_stated(changed);
                self.admit_waiting();
            }
            Command::Await { client, on } => {
                if self.claims.set_awaiting(client, on) {
                    self.target_stated(true);
                }
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
                if self.claims.refuse(client, number) {
                    self.held.known_to_front_ends(self.held.game().len());
                    self.lead_after = Some(now + self.correction_wait);
                }
            }
            Command::NewGame { client } => {
                if self.claims.may_lead(client) {
                    self.given.new_game = true;
                    self.leading = false;
                    self.forget_old_game();
                }
            }
            Command::Ready { client } => {
                if self.claims.holders().any(|c| c.client == client) {
                    self.ready(now);
                }
            }
            Command::Promotion { client, role } => {
                self.claims.set_promotion(client, role);
            }
            Command::Release { client } => {
                if self.claims.release(client) {
                    self.target_stated(true);
                }
            }
        }
        self.drive(now);
    }

    /// While a new game is announced, what stands on the board is nobody's move.
    fn forget_old_game(&mut self) {
        if self.given.new_game {
            self.held.known_to_front_ends(self.held.game().len());
            self.claims.forget_answers();
        }
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
        if let Some(target) = self.claims.target()
            && self.held.may_be_told_better(target)
        {
            self.held.doubt();
        }
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
                self.claims.taken_back_to(self.held.game().len());
            }
            if !self.driver.stepping() {
                self.step = None;
            }
            if self.driver.idle() && self.following.is_some() {
                self.following = None;
                self.changed = true;
            }
            for wait in [&mut self.lead_after, &mut self.starts_until] {
                wait.take_if(|at| *at <= now);
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
        let waits = self.lead_after.is_some() || self.starts_until.is_some();
        if !self.may_lead() || waits || !self.driver.idle() || self.by_hand {
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
        let given = Circumstances {
            set_up_refused: self.refusals >= MAX_REFUSALS,
            ..self.given
        };
        match plan(&self.held, target, board, given) {
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
                self.event(Event::Silent);
            }
            DriverEvent::Restarted => {
                self.held.doubt();
                self.following = None;
                self.starts_until = Some(now + RESTART_WAIT);
                self.event(Event::Restarted);
            }
            DriverEvent::AsksPosition => self.tell_position(now),
            DriverEvent::Moved(reported) => self.moved(now, reported),
            DriverEvent::TookBack(reported) => {
                let meaning = self.held.hand_took_back(reported);
                self.meant(now, reported, meaning);
            }
            DriverEvent::NewGame => {
                self.refusals = 0;
                self.held.replace(Game::standard());

                self.result = None;
                self.mistake = None;
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
                let list = List {
                    skipped,
                    moves: &moves,
                    full,
                };
                self.listed = self.held.learn(list, &targets);
                if self.listed != Listed::Followed {
                    self.driver.look(now);
                }
                self.learned(before);
                // What the target has was shown; the list tells that the board took it, not that the hand made it.
                let target = self.claims.target();
                if self.held.game().len() > before && target == Some(self.held.game()) {
                    self.held.await_execution();
                }
            }
            DriverEvent::Placed { board, turn } => self.placed(now, &board, turn),
            DriverEvent::NoList => {
                // A board that cannot tell is believed to hold what we know.
                self.held.assure();
                self.learned(self.held.game().len());
            }
            DriverEvent::ListUnreadable => {
                self.listed = Listed::NotFollowed;
                self.driver.look(now);
            }
            DriverEvent::NoPicture => {
                if self.listed == Listed::NotFollowed {
                    self.held.lose();
                } else {
                    self.held.assure();
                }
                self.changed = true;
            }
            DriverEvent::Ended(result) => {
                self.result = Some(result);
                self.event(Event::Result { result });
            }
            DriverEvent::Unreadable(text) => self.event(Event::Unreadable { text }),
        }
    }

    /// The board showed its squares: after a set-up, or because its list alone did not tell the game.
    fn placed(&mut self, now: Instant, board: &Board, turn: Option<Color>) {
        if let Some(Step::SetUp(game)) = &self.step {
            let mut given = Held::default();
            given.replace((**game).clone());
            // The hand may have moved already.
            if given.see(board, turn, &[]) {
                let plies = game.len();
                self.accepted();
                let played = given.game().moves().get(plies).copied();
                if let Some(m) = played {
                    self.moved(now, Reported::of(m));
                }
            } else {
                self.failed(now, StepFailure::Refused);
            }
            return;
        }
        let before = self.held.game().len();
        let targets: Vec<&Game> = self.claims.target().into_iter().collect();
        if self.held.see(board, turn, &targets) {
            self.learned(before);
        } else {
            self.held.lose();
            self.changed = true;
        }
    }

    /// The game was learned from the board; what it has beyond `before` plies is news.
    fn learned(&mut self, before: usize) {
        self.changed = true;
        self.mistake = None;
        self.front_ends_know();
        if self.held.game().len() > before {
            // Played unseen, perhaps before the new game was announced.
            self.forget_old_game();
        }
        let game = self.held.game();
        // What the target has was shown: its echo was lost. The rest is the hand's.
        let shown = self
            .claims
            .target()
            .and_then(|target| target.common_plies(game))
            .unwrap_or(0);
        let news: Vec<_> = game.uci_moves().enumerate().skip(before).collect();
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
        let meaning = self.held.hand_moved(reported, self.claims.promotion());
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
            self.following = Some(Advice::SetUp(game.fen()));
        }
        self.lead_after = None;
        self.changed = true;
        self.driver
            .tell_position(now, game.position(), new_to_board);
        // From its last line on the board holds this game, whatever it reported before.
        self.step = Some(Step::SetUp(Box::new(game)));
    }

    fn accepted(&mut self) {
        self.failures = 0;
        self.result = None;
        self.mistake = None;
        // The first step toward a new game is done; what is taken back from now on is its own.
        self.given.new_game = false;
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
                self.refusals = 0;
                let fen = game.fen().to_string();
                if *game == *self.held.game() {
                    self.held.assure();
                } else {
                    self.held.replace(*game);
                }
                self.event(Event::SetUp { fen });
            }
        }
        self.front_ends_know();
    }

    fn failed(&mut self, now: Instant, failure: StepFailure) {
        let step = self.step.take();
        self.following = None;
        if matches!(step, Some(Step::SetUp(_))) && failure == StepFailure::Refused {
            // What its list says from now on begins nobody knows where.
            self.refusals = self.refusals.saturating_add(1);
            self.held.lose();
        } else {
            self.held.doubt();
        }
        let wait = Duration::from_secs(1 << self.failures.min(5)).min(MAX_RETRY_WAIT);
        self.failures += 1;
        // What the board holds is asked at once; what it did not take is tried again later.
        if self.driver.capabilities().tells_game && self.held.certainty() == Certainty::Unsure {
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

/// What the hand has played in the last position of a client's game.
fn answer_to<'a>(held: &'a Held, claim: &Claim) -> &'a [Move] {
    let game = held.game();
    let fresh = claim.joined && claim.fresh_from <= claim.game.len();
    if held.certainty() == Certainty::Sure && fresh && game.continues(&claim.game) {
        &game.moves()[claim.game.len()..]
    } else {
        &[]
    }
}
