//! One board without I/O: its driver, the game it holds, the clients that follow it, and the steps between.
//!
//! Bytes, commands and time go in; bytes, events, a snapshot and the next deadline come out. The actor gives it
//! a transport and a clock, a replay gives it a transcript, a test gives it both by hand.

mod advise;
mod commands;
mod guide;
mod reports;
mod timing;
mod wood;

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use shakmaty::{Board, Color, Move, Position};

use self::{timing::Times, wood::Wood};
use super::{
    advice::Advice,
    claims::{Claim, Claims},
    held::{Certainty, Held, Listed},
    name::BoardName,
    occasion::{GameEnd, Judge},
    plan::{Circumstances, Plan, plan},
    snapshot::{LinkState, Place, Snapshot},
};
use crate::{
    bus::{By, Event},
    driver::{BoardResult, Channel, Driver, Misplaced, Outcome, Outgoing, Reported, Step},
    game::Game,
    guidance::{Action, Picture},
};

/// A board that was switched on asks for its position within its start sequence; wait that long for it before
/// leading it anywhere. At 9600 baud the sequence of seven requests and answers takes about a second.
pub const RESTART_WAIT: Duration = Duration::from_secs(5);
/// The longest wait before a step that failed is tried again; it begins with a second and doubles.
pub const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);

/// Set-ups that a board may refuse before the player is asked to do it by hand: one answer may be disturbed.
pub const MAX_REFUSALS: u8 = 2;

/// Moves that cannot be played, told one after the other by a board that tells of moves only, before it is only heard in
/// the debug log.
pub const MAX_MISTAKES: u8 = 10;

/// Moves that cannot be played, made one after the other, that are remembered so as to know when all are taken back: a player
/// makes two, for the kings.
const MAX_UNPLAYABLE: usize = 16;

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
    /// How the game on the board ended, and by whose word.
    ended: Option<(GameEnd, Judge)>,
    /// The step the driver is carrying out.
    step: Option<Step>,
    /// A set-up or take-back that the hand is still following.
    following: Option<Advice>,
    /// Where the pieces stand.
    wood: Wood,
    /// Both kings were put in the centre, and what stands otherwise than in the game is no mistake.
    kings_up: bool,
    /// The game that a program's word on its end was about.
    ended_game: Option<Game>,
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
    /// How the last game ended, until the board has been told.
    ending: Option<GameEnd>,
    /// Moves in a row that could not be played.
    mistakes: u8,
    /// The colour the hand plays in the game the board was told to begin; none if both, or if nobody said.
    hand: Option<Color>,
    /// What the hand is awaited for may not be wanted any more.
    abandon: bool,
    hand_took_back: bool,
    /// Times the hand has put all pieces to the start.
    put_to_start: u64,
    mistake: Option<Reported>,
    /// Moves that cannot be played and were not taken back, on a board that tells of moves only.
    unplayable: Vec<Reported>,
    /// Where the pieces stand after moves that cannot be played, on a board that tells of moves only.
    stray: Option<Board>,
    misplaced: Option<Misplaced>,
    battery: Option<u8>,
    /// What stands and what should, when the hand was last told what to put right.
    scene: Option<(Picture, Board)>,
    guidance: Arc<[Action]>,
    times: Times,
    events: VecDeque<Event>,
    last_advice: Advice,
    /// Who had the board, and who waited for it, when that was last told.
    players: [Vec<Arc<str>>; 2],
    changed: bool,
    /// The game on the board has changed.
    unjudged: bool,
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
            ended: None,
            step: None,
            following: None,
            wood: Wood::AsHeld,
            kings_up: false,
            ended_game: None,
            leading: false,
            lead_after: None,
            starts_until: None,
            failures: 0,
            refusals: 0,
            listed: Listed::Followed,
            given: Circumstances::default(),
            by_hand: false,
            ending: None,
            mistakes: 0,
            hand: None,
            abandon: false,
            hand_took_back: false,
            put_to_start: 0,
            mistake: None,
            unplayable: Vec::new(),
            stray: None,
            misplaced: None,
            battery: None,
            scene: None,
            guidance: Arc::new([]),
            times: Times::default(),
            events: VecDeque::new(),
            last_advice: Advice::Nothing,
            players: [Vec::new(), Vec::new()],
            changed: true,
            unjudged: false,
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
        self.hand_took_back = false;
        self.mistake = None;
        self.stray = None;
        self.misplaced = None;
        self.times.interrupted();
        self.drive(now);
    }

    /// Bytes came from the board.
    pub fn received(&mut self, now: Instant, channel: Channel, bytes: &[u8]) {
        self.driver.received(now, channel, bytes);
        self.drive(now);
    }

    /// What [`Self::poll_transmit`] gave on this channel was done, or refused.
    pub fn answered(&mut self, now: Instant, channel: Channel, outcome: Outcome) {
        self.driver.answered(now, channel, outcome);
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

    /// The next thing to do on the link, now.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        let outgoing = self.driver.poll_transmit(now);
        if outgoing.is_some() {
            self.drive(now);
        }
        outgoing
    }

    /// Why the link is of no use and is to be opened anew, once.
    pub fn poll_hang_up(&mut self) -> Option<String> {
        self.driver.poll_hang_up()
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
        let stands = !self.held.is_astray() || self.kings_up;
        let sure = self.held.certainty() == Certainty::Sure && stands;
        Snapshot {
            board: self.name.clone(),
            link: self.link.clone(),
            id: self.id.clone(),
            game: Arc::new(self.held.game().clone()),
            sure,
            target: self.claims.target().cloned().map(Arc::new),
            awaiting: self.claims.awaiting(),
            advice: self.advice(),
            guidance: self.guidance.clone(),
            by: self.times.by(self.held.game()),
            took: self.times.took(self.held.game()),
            ending: self.ended.map(|(end, _)| end),
            judge: self.ended.map(|(_, judge)| judge),
            taken_back: self.hand_took_back,
            put_to_start: self.put_to_start,
            result: self.result,
            battery: self.battery,
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
            holders: labels(self.claims.holders()),
            waiting: labels(self.claims.waiting()),
        }
    }

    fn confirm(&mut self, now: Instant) {
        self.following = None;
        self.wood = Wood::AsHeld;
        self.driver.confirm(now);
    }

    fn event(&mut self, event: Event) {
        self.changed = true;
        if let Event::NewGame { .. } = event {
            self.times.forget_from(0);
            self.ended = None;
        }
        let changes = matches!(
            event,
            Event::Moved { .. }
                | Event::TookBack { .. }
                | Event::NewGame { .. }
                | Event::SetUp { .. }
                | Event::Executed { .. }
                | Event::Mended
        );
        if changes {
            self.times.follow(self.held.game());
        }
        if let Event::Moved { ply, by, took, .. } = event {
            // What is shown on the way to the target's last move was made some time, by whomever.
            let last = self.claims.target().is_some_and(|t| t.len() == ply);
            let seen = by != By::Target || last;
            self.times.made(ply, seen.then_some(by), took);
        }
        self.unjudged |= changes;
        self.events.push_back(event);
    }

    fn may_lead(&self) -> bool {
        !self.kings_up
            && self.leading
            && self.link == LinkState::Up
            && self.claims.target().is_some()
    }

    /// Takes what the driver has to say and starts what is to be done next, until nothing is left.
    fn drive(&mut self, now: Instant) {
        loop {
            // A game followed may let the driver understand what it sensed before.
            loop {
                while let Some(event) = self.driver.poll_event() {
                    self.driver_event(now, event);
                    // At once: the board may judge the same move next.
                    self.judge();
                    self.claims.taken_back_to(self.held.game().len());
                }
                let fresh = self.held.fresh_from() < self.held.game().len();
                if !self.driver.follow(now, self.held.game(), fresh) {
                    break;
                }
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
            let ends = self.claims.holders().any(|claim| claim.finished);
            if ends {
                // What was in the way of showing its last move may be in the way for ever.
                self.admit_waiting();
            }
            if std::mem::take(&mut self.abandon) {
                self.driver.abandon(self.claims.target());
            }
            if !self.lead(now) {
                break;
            }
        }
        self.judge();
        self.tell_players();
        let advice = self.advice();
        let awaiting = self.claims.awaiting();
        self.times.note(now, &advice, self.held.game(), awaiting);
        let both = (&self.last_advice, &advice);
        // What exactly is wrong is told by the guidance.
        let same = matches!(both, (Advice::Misplaced(_), Advice::Misplaced(_)));
        if same {
            self.last_advice = advice;
        } else if advice != self.last_advice {
            // These have been told as events of their own.
            let told = matches!(
                advice,
                Advice::NoLink(_) | Advice::Silent | Advice::Mistake { .. }
            );
            let text = if told {
                String::new()
            } else {
                advice.to_string()
            };
            self.event(Event::Advice { text });
            self.last_advice = advice;
        }
        // After what it is for.
        self.mind_guidance();
    }

    /// Tells who has the board and who waits for it, where that has changed.
    fn tell_players(&mut self) {
        let players = [labels(self.claims.holders()), labels(self.claims.waiting())];
        if players != self.players {
            self.players = players;
            let [have, wait] = self.players.clone();
            self.event(Event::Players { have, wait });
        }
    }

    /// The last ply of a game after which the pieces stand as they do now, where nobody knows how they came to.
    fn stands_in(&self, target: &Game) -> Option<usize> {
        if self.held.certainty() != Certainty::Lost {
            return None;
        }
        let mut position = target.start().clone();
        let mut found = None;
        for plies in 0..=target.len() {
            if self.driver.stands_as(position.board()) {
                found = Some(plies);
            }
            if let Some(&m) = target.moves().get(plies) {
                position.play_unchecked(m);
            }
        }
        found
    }

    /// The board shows the last move of its target: tells it how that game ended, and lets go whoever had it for that.
    /// `true` if the target changed.
    fn finish(&mut self, now: Instant) -> bool {
        self.tell_ending(now);
        let left = self.claims.leave_finished();
        if left {
            self.target_stated(true);
        }
        left
    }

    /// Starts the next step toward the target, if there is one. `true` if something was started.
    fn lead(&mut self, now: Instant) -> bool {
        let shown = self.claims.target() == Some(self.held.game()) && !self.driver.stepping();
        let sure = self.link == LinkState::Up && self.held.certainty() == Certainty::Sure;
        // The hand may still have to make it.
        if shown && sure && self.finish(now) {
            return true;
        }
        if self.kings_up && self.link == LinkState::Up && self.held.certainty() == Certainty::Unsure
        {
            // The kings may have been put back meanwhile.
            self.driver.learn(now);
            return false;
        }
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
        let beginning = self.claims.occasion().beginning(target.turn());
        let at_start = self.held.game().is_empty() && self.held.game().is_standard();
        let given = Circumstances {
            afresh: at_start && target.is_standard() && !self.driver.knows_of(beginning),
            set_up_refused: self.refusals >= MAX_REFUSALS,
            stands: self.stands_in(target),
            beginning,
            ..self.given
        };
        match plan(&self.held, target, board, given) {
            Plan::There => {
                self.given.new_game = false;
                self.finish(now)
            }
            Plan::Do(step) => {
                if let Some(wanted) = self.asked_by(&step) {
                    self.wood = Wood::asked_for(self.picture(), &wanted);
                }
                self.following = match &step {
                    Step::Show(_) => None,
                    Step::TakeBack(_) if board.moves_itself => None,
                    Step::TakeBack(m) => Some(Advice::TakeBack(*m)),
                    Step::NewGame(_) => Some(Advice::NewGame),
                    Step::SetUp(game) => Some(Advice::SetUp(game.fen())),
                };
                self.mistake = None;
                self.stray = None;
                self.hand_took_back = false;
                self.step = Some(step.clone());
                if matches!(step, Step::NewGame(_)) {
                    // The game before is over, whether or not its last move was shown.
                    self.tell_ending(now);
                }
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
}

/// What clients are called.
fn labels<'a>(claims: impl Iterator<Item = &'a Claim>) -> Vec<Arc<str>> {
    claims.map(|claim| claim.label.clone()).collect()
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
