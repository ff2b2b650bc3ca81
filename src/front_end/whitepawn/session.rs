//! The conversation with one app, without I/O: lines and snapshots go in, messages and commands come out.
//!
//! It outlives the app's connections: a move made on the board while the app is away is sent after its next handshake.

use std::{
    collections::VecDeque,
    net::IpAddr,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use shakmaty::{Color, Move, Position, Role};

use super::notice::{Notice, Notices};
use crate::{
    chess::game::Game,
    front_end::seat::{SavedSeat, Seat},
    text::{
        lines::printable,
        swpp::{self, Ending, GameKind, MAX_LINE, Message},
    },
    vocabulary::{
        ClientId, ClientName, Command, GameEnd, Occasion, Opponent, Reason, Reported, Snapshot,
        Wording,
    },
};

/// Answers that may wait for an app that does not read. Meanwhile, nothing is read from it.
pub const MAX_ANSWERS: usize = 32;

/// Received data is acknowledged within this time if the other end is near (Linux, delayed acknowledgement).
pub const ACK_SOON: Duration = Duration::from_millis(200);
/// The same, plus the time to the other end of the world: data sent more recently may still be acknowledged.
pub const ACK_WAIT: Duration = Duration::from_secs(1);

/// How the board introduces itself in H1.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Of the program.
    pub version: String,
    /// The board's name.
    pub serial: String,
}

/// An action that a session requests.
#[derive(Debug)]
pub enum Action {
    /// Give this command to the board.
    Ask(Command),
    /// Report this to watchers.
    Tell(Notice),
}

/// A game the app has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Match {
    kind: GameKind,
    /// The app waits for the board's first move.
    waits_for_board: bool,
    game: Game,
    told_to_wait: bool,
}

impl Match {
    fn opponent(&self) -> Opponent {
        match self.kind {
            GameKind::Offline => Opponent::Nobody,
            GameKind::Engine => Opponent::Engine,
            // Whatever it is, the opponent is in the app.
            GameKind::WhitePawn | GameKind::Unknown(_) => Opponent::WhitePawn,
            GameKind::Lichess => Opponent::Lichess,
        }
    }

    /// Whether a move of the hand is wanted.
    fn awaits(&self) -> bool {
        self.hand_next() && !self.is_over()
    }

    /// The colour played on the board; `None` for both.
    fn hand(&self) -> Option<Color> {
        hand_in(self.kind, self.waits_for_board)
    }

    fn hand_next(&self) -> bool {
        self.hand().is_none_or(|hand| hand == self.game.turn())
    }

    fn is_over(&self) -> bool {
        self.game.position().legal_moves().is_empty()
    }
}

/// Whether the app may lack the hand's last move: unknown after a restart, or when a link that reports no delivery has ended. A
/// player whose app lacks it takes the move back and makes it again: then it is sent once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    /// The move cannot have been lost since it was made.
    None,
    /// A radio has taken it: doubtful once that link ends.
    Unacknowledged,
    Doubtful,
    /// Doubtful since this process was killed while the app was connected; the app has not come since.
    Killed,
    /// The same, and the app has come back once. A player whose app waits for ever opens it again: then the move is sent once
    /// more, for not every board can take it back.
    Returned,
    TakenBack,
}

/// The state that a conversation needs after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedApp {
    /// The app's seat at the board.
    #[serde(flatten)]
    pub seat: SavedSeat,
    /// Whether the app was connected.
    present: bool,
    /// The address of the app, if it came over the network.
    #[serde(default)]
    owner: Option<IpAddr>,
    on: Option<Match>,
    over: Option<(Match, GameEnd)>,
    /// The hand's moves to be sent on the next connection.
    untold: Vec<Message>,
    /// The conversation was stopped, not killed: what the app was to be told is known.
    #[serde(default)]
    stopped: bool,
}

/// One app's conversation. See the module's introduction.
#[derive(Debug)]
pub struct AppConversation {
    seat: Seat,
    identity: Identity,
    /// Whether MB names the promotion piece.
    names_promotion: bool,
    /// The app has shaken hands on the current connection.
    present: bool,
    /// Before a restart the app was connected, and it has not connected since.
    was_present: bool,
    /// The network address of the app's last connection, if it has one: the game belongs to that address.
    owner: Option<IpAddr>,
    on: Option<Match>,
    /// The game before, and how it ended.
    over: Option<(Match, GameEnd)>,
    /// What has to be sent.
    outbox: VecDeque<Message>,
    /// The message that the link is taking now.
    in_flight: Option<Message>,
    /// That message is a move of a game that has ended: it is not sent again.
    withdrawn: bool,
    /// Moves that were sent, in order, and when. It is not yet proved that they arrived.
    unproven: VecDeque<(Instant, Message)>,
    doubt: Doubt,
    /// The board's count of moves reported once more, as last seen.
    repeated: Option<u64>,
    /// See [`SavedApp::stopped`].
    stopped: bool,
    notices: Notices,
    actions: VecDeque<Action>,
}

impl AppConversation {
    /// A conversation before its first message.
    pub fn new(client: ClientId, label: ClientName, identity: Identity) -> Self {
        Self {
            seat: Seat::new(client, label),
            identity,
            names_promotion: true,
            present: false,
            was_present: false,
            owner: None,
            on: None,
            over: None,
            outbox: VecDeque::new(),
            in_flight: None,
            withdrawn: false,
            unproven: VecDeque::new(),
            doubt: Doubt::None,
            repeated: None,
            stopped: false,
            notices: Notices::default(),
            actions: VecDeque::new(),
        }
    }

    /// A conversation that goes on after a restart, with its board as that was restored. The app is disconnected, and
    /// is not told.
    pub fn restored(
        memory: SavedApp,
        label: ClientName,
        identity: Identity,
        board: &Snapshot,
    ) -> Self {
        let mut session = Self {
            was_present: memory.present,
            owner: memory.owner,
            over: memory.over,
            outbox: memory.untold.into(),
            ..Self::new(memory.seat.client, label.clone(), identity)
        };
        session.seat = Seat::restored(memory.seat, label);
        if let Some(on) = memory.on {
            let begins = on.game.is_empty() && !session.seat.knows_game(board);
            session.on = Some(on);
            session.doubts(if session.was_present && !memory.stopped {
                Doubt::Killed
            } else {
                Doubt::Doubtful
            });
            if begins {
                session.begin();
            } else {
                session.state();
            }
            session.away(true);
        } else if let (Some((on, end)), Some(_)) = (session.over.clone(), session.seat.known(board))
        {
            // The board has not shown the end of the game yet.
            if session.seat.place(board).is_none() {
                session.on = Some(on);
                session.state();
                session.on = None;
            }
            session.finish(end);
        }
        session
    }

    /// What it must know to go on after a restart. `missing`: when last asked, the app had not acknowledged all it was sent, or
    /// Bluetooth not taken it.
    ///
    /// What was sent since then counts as arrived: if this process ends, the kernel still delivers it.
    pub fn memory(&self, missing: bool) -> SavedApp {
        let under_way = self.in_flight.iter().filter(|_| !self.withdrawn);
        let unproven = self.unproven.iter().map(|(_, message)| message);
        let lost = unproven.chain(under_way).filter(|_| missing);
        let untold = lost.chain(&self.outbox);
        SavedApp {
            seat: self.seat.saved(),
            present: self.present || self.was_present,
            owner: self.owner,
            on: self.on.clone(),
            over: self.over.clone(),
            untold: untold.filter(|message| is_move(message)).cloned().collect(),
            stopped: self.stopped,
        }
    }

    /// Whether MB names the promotion piece: the document does not say, and an app may not accept it.
    pub fn name_promotion(&mut self, names: bool) {
        self.names_promotion = names;
    }

    /// The next action.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Whether the app is connected: it has shaken hands on the current connection.
    pub fn is_present(&self) -> bool {
        self.present
    }

    /// Whether the app was connected before a restart, and has not connected since.
    pub fn was_present(&self) -> bool {
        self.was_present
    }

    /// The hand's opponent in the app's game, if there is a game.
    pub fn opponent(&self) -> Option<Opponent> {
        self.on.as_ref().map(Match::opponent)
    }

    /// Whether the app has a game on its board.
    pub fn has_board(&self) -> bool {
        self.on.as_ref().is_some_and(|on| !on.told_to_wait)
    }

    /// Whether the app has a game on its board that belongs to another address than this one.
    pub fn is_of_another(&self, from: Option<IpAddr>) -> bool {
        self.has_board() && self.owner.is_some() && self.owner != from
    }

    /// The app's connection comes from this address now. A game of another address is abandoned: this app is neither
    /// shown it nor continues it.
    pub fn comes_from(&mut self, from: Option<IpAddr>) {
        let owner = std::mem::replace(&mut self.owner, from);
        if owner.is_some() && owner != from && self.on.take().is_some() {
            self.withdraw();
            self.seat.leave();
            self.ask();
        }
    }

    /// Whether the app's game waits for the hand.
    pub fn awaits(&self) -> bool {
        self.on.as_ref().is_some_and(Match::awaits)
    }

    /// The next message to send, if the one before was [sent](Self::sent).
    pub fn next_message(&mut self) -> Option<Message> {
        if self.in_flight.is_some() {
            return None;
        }
        if is_move(self.outbox.front()?) && !self.present {
            return None;
        }
        self.in_flight = self.outbox.pop_front();
        self.withdrawn = false;
        self.in_flight.clone()
    }

    /// Whether to stop reading from the app until it has read its pending messages.
    pub fn is_full(&self) -> bool {
        self.outbox.len() >= MAX_ANSWERS && self.present
    }

    /// The link has taken the whole message.
    pub fn sent(&mut self, now: Instant) {
        let sent = self.in_flight.take();
        let told_again = |message: &Message| is_move(message) && !self.withdrawn;
        if let Some(message) = sent.filter(told_again) {
            self.unproven.push_back((now, message));
        }
    }

    /// The task of this conversation stops, and with it the link: what that has not taken is not sent any more.
    pub fn stops(&mut self) {
        self.stopped = true;
        if let Some(message) = self.in_flight.take()
            && !self.withdrawn
        {
            self.outbox.push_front(message);
        }
    }

    /// When the first of the moves that may not have arrived was sent.
    pub fn unproven(&self) -> Option<Instant> {
        self.unproven.front().map(|(at, _)| *at)
    }

    /// Everything that was sent has arrived.
    pub fn arrived(&mut self) {
        self.unproven.clear();
    }

    /// A radio has taken everything that was sent. Whether it arrived is never told.
    pub fn taken(&mut self) {
        if !self.unproven.is_empty() && self.doubt == Doubt::None {
            self.doubt = Doubt::Unacknowledged;
        }
        self.unproven.clear();
    }

    /// The app's connection is lost, and what was sent longer ago than `delivery` has arrived.
    pub fn disconnected(&mut self, now: Instant, why: &str, delivery: Duration) {
        let since = |at: Instant| now.saturating_duration_since(at);
        let all_proven = self.unproven.is_empty();
        self.unproven.retain(|(at, _)| since(*at) < delivery);
        if self.hang_up(why) {
            self.away(true);
        }
        if !all_proven {
            self.doubts(Doubt::Doubtful);
        }
    }

    /// The hand's last move may not have arrived; unless it is sent again anyway, that is doubtful.
    fn doubts(&mut self, doubt: Doubt) {
        let of_hand = |on: &Match| !on.game.is_empty() && !on.hand_next();
        if self.on.as_ref().is_some_and(of_hand) && !self.outbox.iter().any(is_move) {
            self.doubt = doubt;
        }
    }

    /// The app has made another connection, and the previous one is closed. `missing`: it has not acknowledged all it
    /// was sent, or Bluetooth not taken it.
    pub fn taken_over(&mut self, now: Instant, why: &str, missing: bool) {
        let first = self.unproven();
        let old = first.is_some_and(|at| now.saturating_duration_since(at) >= ACK_WAIT);
        if !(missing && old) {
            self.taken();
        }
        self.hang_up(why);
    }

    /// Keeps the hand's moves that may not have arrived for the app's next connection; the rest is useless then.
    /// Returns whether the app was connected.
    fn hang_up(&mut self, why: &str) -> bool {
        self.outbox.retain(is_move);
        if let Some(message) = self.in_flight.take().filter(is_move)
            && !self.withdrawn
        {
            self.outbox.push_front(message);
        }
        for (_, message) in self.unproven.drain(..).rev() {
            self.outbox.push_front(message);
        }
        if self.doubt == Doubt::Unacknowledged {
            self.doubts(Doubt::Doubtful);
        }
        let present = std::mem::take(&mut self.present);
        if present {
            self.tell(Notice::Left(why.to_owned()));
        }
        present
    }

    /// Whether a line is the app's first message: it makes a connection the app's.
    pub fn is_handshake(line: &[u8]) -> bool {
        matches!(swpp::read(line), Ok(Message::HandshakeRequest { .. }))
    }

    /// Whether only an app sends such a line.
    ///
    /// After `BoardBridge` restarts, a serial line is unchanged, and its app has no reason to shake hands again.
    pub fn is_apps(line: &[u8]) -> bool {
        use Message::{AppMove, GameEnded, HandshakeRequest, NewGame};
        matches!(
            swpp::read(line),
            Ok(HandshakeRequest { .. } | NewGame { .. } | AppMove(_) | GameEnded(_))
        )
    }

    /// A line came from the app at `peer`.
    pub fn line(&mut self, peer: &str, line: &[u8]) {
        let read = swpp::read(line);
        if !self.present && Self::is_apps(line) && !Self::is_handshake(line) {
            self.came(peer, None, None);
        }
        match read {
            Ok(Message::HandshakeRequest { protocol, build }) => {
                self.welcome(peer, protocol, build);
            }
            Ok(Message::NewGame {
                kind,
                waits_for_board,
            }) => self.new_game(kind, waits_for_board),
            Ok(Message::AppMove(wording)) => self.app_moved(wording),
            Ok(Message::GameEnded(ending)) => self.ended(ending),
            // Only a board sends this: it is an echo, or there are two boards on one line.
            Ok(Message::HandshakeResponse { .. } | Message::BoardMove(_)) => {
                let text = printable(line, MAX_LINE);
                self.tell(Notice::Unreadable(format!("a board's message: {text}")));
            }
            Err(error) => self.tell(Notice::unreadable(line, &error)),
        }
    }

    fn welcome(&mut self, peer: &str, protocol: Option<u8>, build: Option<u16>) {
        let welcome = Message::welcome(&self.identity.version, &self.identity.serial);
        // Before any move, but after earlier answers.
        let answers = |m: &&Message| matches!(m, Message::HandshakeResponse { .. });
        let at = self.outbox.iter().filter(answers).count();
        self.outbox.insert(at, welcome);
        if self.present {
            return;
        }
        self.came(peer, protocol, build);
        match self.doubt {
            Doubt::Killed => self.doubt = Doubt::Returned,
            Doubt::Returned => self.tell_again(),
            Doubt::None | Doubt::Unacknowledged | Doubt::Doubtful | Doubt::TakenBack => {}
        }
    }

    /// The serial line is open again after a restart, which the app did not notice: the conversation goes on.
    pub fn goes_on(&mut self, peer: &str) {
        if !self.present {
            self.came(peer, None, None);
        }
    }

    fn came(&mut self, peer: &str, protocol: Option<u8>, build: Option<u16>) {
        self.present = true;
        self.was_present = false;
        self.tell(Notice::Connected {
            peer: peer.to_owned(),
            protocol,
            build,
        });
        self.away(false);
    }

    fn new_game(&mut self, kind: GameKind, waits_for_board: bool) {
        let hand = hand_in(kind, waits_for_board);
        let same = |on: &Match| on.kind == kind && on.hand() == hand && on.game.is_empty();
        if self.on.as_ref().is_some_and(same) {
            // Sent twice: nothing new, but the board behind may not have received it.
            self.begin();
            return;
        }
        // Moves of the previous game no longer concern anyone.
        self.withdraw();
        self.tell(Notice::NewGame { kind, hand });
        self.over = None;
        self.on = Some(Match {
            kind,
            waits_for_board,
            game: Game::standard(),
            told_to_wait: false,
        });
        self.begin();
    }

    /// Has the board begin the game.
    fn begin(&mut self) {
        self.seat.begin(false);
        self.state();
    }

    /// Gives the board the game.
    fn state(&mut self) {
        let Some(on) = &self.on else { return };
        let occasion = Occasion {
            opponent: on.opponent(),
            hand_next: on.hand_next(),
            takes_back: false,
        };
        self.seat.state(&on.game, occasion, on.awaits());
        self.ask();
    }

    fn app_moved(&mut self, wording: Wording) {
        let reported = Reported {
            color: None,
            wording,
        };
        let Some(on) = &mut self.on else {
            self.tell(Notice::NoGame(reported));
            return;
        };
        let position = on.game.position();
        match reported.resolve(position, Role::Queen) {
            Some(m) => {
                if !on.game.push(m) {
                    self.tell(Notice::TooLong);
                    return;
                }
                // The app's move answers the hand's: the hand's has arrived.
                self.withdraw();
                self.notices.all_is_well();
                self.state();
            }
            // Sent twice, or the hand's own move returned.
            None if on
                .game
                .last()
                .is_some_and(|last| reported.names(last, position.turn().other())) => {}
            None => {
                let notice = Notice::Illegal {
                    made: reported,
                    turn: position.turn(),
                    plies: on.game.len(),
                };
                self.tell(notice);
            }
        }
    }

    fn ended(&mut self, ending: Ending) {
        let Some(on) = self.on.take() else { return };
        // If the hand plays both sides, the side to move resigns.
        let turn = on.game.turn();
        let hand = on.hand().unwrap_or(turn);
        let end = match ending {
            Ending::Aborted => GameEnd::ABORTED,
            Ending::Checkmate => GameEnd::won(Reason::Checkmate, turn.other()),
            Ending::Draw => GameEnd::draw_in(&on.game),
            Ending::UserResigned => GameEnd::resigned(hand),
            Ending::OpponentResigned => GameEnd::resigned(hand.other()),
        };
        self.withdraw();
        self.over = Some((on, end));
        self.finish(end);
    }

    fn finish(&mut self, end: GameEnd) {
        self.seat.end(end);
        self.ask();
    }

    fn away(&mut self, on: bool) {
        self.seat.is_away(on);
        self.ask();
    }

    /// The game's moves so far are not sent, nor sent again.
    fn withdraw(&mut self) {
        self.outbox.retain(|message| !is_move(message));
        self.unproven.clear();
        self.withdrawn = true;
        self.doubt = Doubt::None;
    }

    /// The board has a new snapshot.
    pub fn snapshot(&mut self, snapshot: &Snapshot) {
        let count = snapshot.repeated;
        let more = |before| count > before;
        let repeated = snapshot.link.is_open() && self.repeated.replace(count).is_some_and(more);
        let Some(on) = &mut self.on else { return };
        let Some(place) = self.seat.look(snapshot) else {
            return;
        };
        if !place.joined {
            // While the phone was away it may have lost a board that nobody has now.
            let is_others = place.put_out || !snapshot.holders.is_empty();
            if is_others && !std::mem::replace(&mut on.told_to_wait, true) {
                let holders = ClientName::join(&snapshot.holders, " and ");
                self.tell(if place.put_out {
                    Notice::PutOut
                } else {
                    Notice::Waits(holders)
                });
            }
            return;
        }
        on.told_to_wait = false;
        // One at a time: the next one answers the game that includes this one.
        let played = self.seat.answer(place);
        if let Some(m) = played.filter(|_| on.hand_next()) {
            self.hand_moved(m);
        } else {
            self.mind_doubt(snapshot, repeated);
        }
    }

    fn mind_doubt(&mut self, snapshot: &Snapshot, repeated: bool) {
        let Some(on) = &self.on else { return };
        let there = *snapshot.game == on.game;
        match self.doubt {
            Doubt::None | Doubt::Unacknowledged => {}
            Doubt::Doubtful | Doubt::Killed | Doubt::Returned => {
                // Such a board does not tell that a move is taken back before it is made again.
                if repeated && there && !snapshot.tells_all {
                    return self.tell_again();
                }
                let before = on.game.truncated(on.game.len().saturating_sub(1));
                if snapshot.taken_back && snapshot.link.is_open() && *snapshot.game == before {
                    self.doubt = Doubt::TakenBack;
                }
            }
            Doubt::TakenBack if there => self.tell_again(),
            Doubt::TakenBack => {}
        }
    }

    /// The app may lack the hand's last move, and the player has shown that it does.
    fn tell_again(&mut self) {
        self.doubt = Doubt::None;
        if let Some(m) = self.on.as_ref().and_then(|on| on.game.last()) {
            self.tell_move(m);
        }
    }

    /// The hand has made its own move.
    fn hand_moved(&mut self, m: Move) {
        let Some(on) = &mut self.on else { return };
        if !on.game.push(m) {
            self.tell(Notice::TooLong);
            return;
        }
        self.notices.all_is_well();
        self.tell_move(m);
        self.seat.answered(m);
        self.state();
    }

    fn tell_move(&mut self, m: Move) {
        let mut wording = Reported::of(m).wording;
        if let Wording::Squares { promotion, .. } = &mut wording {
            promotion.take_if(|_| !self.names_promotion);
        }
        self.outbox.push_back(Message::BoardMove(wording));
    }

    /// The app's message was dropped.
    pub fn refuse(&mut self, notice: Notice) {
        self.tell(notice);
    }

    /// Passes on all of the seat's commands, in order: the app may end one game and begin the next at once.
    fn ask(&mut self) {
        let commands = std::iter::from_fn(|| self.seat.poll_command());
        self.actions.extend(commands.map(Action::Ask));
    }

    fn tell(&mut self, notice: Notice) {
        if self.notices.admit(&notice) {
            self.actions.push_back(Action::Tell(notice));
        }
    }
}

/// The colour played on the board; `None` for both.
fn hand_in(kind: GameKind, waits_for_board: bool) -> Option<Color> {
    (kind != GameKind::Offline).then(|| Color::from_white(waits_for_board))
}

/// Whether this is a move of the hand.
fn is_move(message: &Message) -> bool {
    matches!(message, Message::BoardMove(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::core::Core,
        driver::{
            Driver,
            swpp::{Framing, Swpp},
            ucb,
        },
        text::swpp::write,
        vocabulary::{BoardName, Channel, Reply},
    };

    /// A conversation with an app in a game on a board without I/O.
    struct Rig {
        session: AppConversation,
        core: Core,
        now: Instant,
    }

    impl Rig {
        fn new() -> Self {
            Self::on(Box::new(ucb::Ucb::new(ucb::Settings::default())))
        }

        fn on(driver: Box<dyn Driver>) -> Self {
            let wait = Duration::from_secs(3);
            let mut core = Core::new(BoardName::default(), driver, wait);
            let opened = Instant::now();
            core.link_up(opened);
            let now = opened + Duration::from_secs(1);
            let identity = Identity {
                version: "1".to_owned(),
                serial: String::new(),
            };
            let session = AppConversation::new(ClientId(1), "the app".into(), identity);
            let mut rig = Self { session, core, now };
            rig.says("H0010023");
            assert_eq!(rig.next(), "H101       1\n");
            rig.session.sent(rig.now);
            rig.says("NG1Y");
            rig
        }

        fn says(&mut self, line: &str) {
            self.session.line("the test", line.as_bytes());
            self.acts();
        }

        /// Carries out what the conversation wants of the board.
        fn acts(&mut self) {
            while let Some(action) = self.session.poll_action() {
                if let Action::Ask(command) = action {
                    self.core.command(self.now, command);
                }
            }
            self.core.timeout(self.now);
            while let Some(outgoing) = self.core.poll_transmit(self.now) {
                self.core.answered(self.now, outgoing.channel, Reply::Done);
            }
        }

        fn hand(&mut self, line: &str) {
            let channel = Channel::Serial;
            self.core.received(self.now, channel, line.as_bytes());
            self.session.snapshot(&self.core.snapshot());
        }

        /// The process ends, and another one goes on with what was kept.
        fn restarts(&mut self) {
            let memory = self.session.memory(false);
            let identity = self.session.identity.clone();
            let board = self.core.snapshot();
            self.session = AppConversation::restored(memory, "the app".into(), identity, &board);
        }

        /// The hand takes e2e4 back and makes it again.
        fn makes_again(&mut self) {
            self.hand("T\r\n");
            self.acts();
            self.hand("Me2e4\r\n");
        }

        /// The link takes this message.
        fn sends(&mut self, message: &str) {
            assert_eq!(self.next(), message);
            self.session.sent(self.now);
        }

        /// The link breaks, and the app comes back.
        fn comes_back(&mut self) {
            self.session
                .disconnected(self.now, "broke", Duration::from_mins(1));
            self.says("H0010023");
            self.sends("H101       1\n");
        }

        fn next(&mut self) -> String {
            self.session
                .next_message()
                .as_ref()
                .map(write)
                .unwrap_or_default()
        }
    }

    #[test]
    fn a_move_that_the_link_is_still_taking_as_a_game_begins_is_not_taken_for_what_comes_after() {
        let mut rig = Rig::new();
        rig.hand("Me2e4\r\n");
        assert_eq!(rig.next(), "MB e2e4\n");
        rig.says("NG2Y");
        rig.says("H0010023");
        rig.session.sent(rig.now);
        assert_eq!(rig.next(), "H101       1\n");
        rig.session.sent(rig.now);
        assert_eq!(rig.next(), "");
    }

    #[test]
    fn a_move_that_the_app_may_not_have_got_before_a_restart_is_told_if_it_is_made_again() {
        let mut rig = Rig::new();
        rig.hand("Me2e4\r\n");
        rig.sends("MB e2e4\n");
        rig.acts();
        for _ in 0..2 {
            rig.restarts();
            assert!(
                rig.session.was_present(),
                "killed again before it came back"
            );
        }
        rig.says("H0010023");
        rig.sends("H101       1\n");
        assert_eq!(rig.next(), "");
        rig.makes_again();
        rig.sends("MB e2e4\n");
        rig.acts();
        // The app has it now.
        rig.makes_again();
        assert_eq!(rig.next(), "");
    }

    #[test]
    fn a_move_that_a_kill_may_have_swallowed_is_told_if_the_app_is_opened_again() {
        let mut rig = Rig::new();
        rig.hand("Me2e4\r\n");
        rig.sends("MB e2e4\n");
        rig.acts();
        rig.restarts();
        for again in ["", "MB e2e4\n", ""] {
            rig.says("H0010023");
            rig.sends("H101       1\n");
            assert_eq!(rig.next(), again);
            rig.session.sent(rig.now);
            rig.session.disconnected(rig.now, "closed", Duration::ZERO);
        }
    }

    #[test]
    fn a_move_that_a_stop_cannot_have_swallowed_is_not_told_again() {
        let mut rig = Rig::new();
        rig.hand("Me2e4\r\n");
        rig.sends("MB e2e4\n");
        rig.acts();
        rig.session.stops();
        rig.restarts();
        for _ in 0..2 {
            rig.says("H0010023");
            rig.sends("H101       1\n");
            assert_eq!(rig.next(), "");
            rig.session.disconnected(rig.now, "closed", Duration::ZERO);
        }
    }

    #[test]
    fn an_app_that_answers_a_move_as_it_comes_back_is_not_told_that_move() {
        let mut rig = Rig::new();
        rig.hand("Me2e4\r\n");
        rig.sends("MB e2e4\n");
        rig.acts();
        rig.session
            .disconnected(rig.now, "broke", Duration::from_mins(1));
        rig.says("H0010023");
        rig.says("MA e7e5");
        rig.sends("H101       1\n");
        assert_eq!(rig.next(), "");
    }

    #[test]
    fn after_two_restarts_in_a_row_the_board_is_not_told_the_same_game_as_a_new_one() {
        let mut rig = Rig::new();
        for _ in 0..2 {
            // The board has not been told anything since.
            rig.restarts();
        }
        let mut asked = std::iter::from_fn(|| rig.session.poll_action());
        assert!(!asked.any(|action| matches!(action, Action::Ask(Command::NewGame { .. }))));
    }

    #[test]
    fn a_move_that_a_link_may_have_lost_long_before_its_end_was_noticed_is_told_if_it_is_made_again()
     {
        let mut rig = Rig::new();
        rig.hand("Me2e4\r\n");
        rig.sends("MB e2e4\n");
        rig.acts();
        rig.session.disconnected(rig.now, "broke", Duration::ZERO);
        rig.says("H0010023");
        rig.sends("H101       1\n");
        assert_eq!(rig.next(), "");
        rig.makes_again();
        rig.sends("MB e2e4\n");
    }

    #[test]
    fn a_move_that_may_be_lost_is_told_if_a_board_without_take_backs_reports_it_again() {
        let mut rig = Rig::on(Box::new(Swpp::new(Framing::Stream, Duration::ZERO)));
        rig.hand("H101     1.2\n");
        rig.acts();
        rig.hand("MB e2e4\n");
        rig.sends("MB e2e4\n");
        rig.acts();
        rig.hand("MB e2e4\n");
        assert_eq!(rig.next(), "", "the app has it");
        rig.session.disconnected(rig.now, "broke", Duration::ZERO);
        rig.says("H0010023");
        rig.sends("H101       1\n");
        assert_eq!(rig.next(), "");
        rig.hand("MB e2e4\n");
        rig.sends("MB e2e4\n");
        rig.acts();
        rig.hand("MB e2e4\n");
        assert_eq!(rig.next(), "", "it has it now");
    }

    #[test]
    fn a_move_that_a_radio_has_taken_is_not_told_again_until_it_is_made_again() {
        let mut rig = Rig::new();
        rig.hand("Me2e4\r\n");
        rig.sends("MB e2e4\n");
        rig.acts();
        rig.session.taken();
        rig.makes_again();
        assert_eq!(rig.next(), "");
        rig.session.disconnected(rig.now, "broke", Duration::MAX);
        rig.says("H0010023");
        rig.sends("H101       1\n");
        assert_eq!(rig.next(), "");
        rig.makes_again();
        rig.sends("MB e2e4\n");
    }

    #[test]
    fn a_move_that_a_radio_had_not_taken_is_told_again_on_the_next_link_and_after_a_restart() {
        let mut rig = Rig::new();
        rig.hand("Me2e4\r\n");
        rig.sends("MB e2e4\n");
        rig.acts();
        assert_eq!(rig.session.memory(true).untold.len(), 1);
        rig.session.disconnected(rig.now, "broke", Duration::MAX);
        rig.says("H0010023");
        rig.sends("H101       1\n");
        rig.sends("MB e2e4\n");
    }

    #[test]
    fn an_app_of_another_address_is_told_nothing_of_the_game_it_finds_and_cannot_go_on_with_it() {
        let mut rig = Rig::new();
        let [owner, stranger] = [2, 3].map(|last| Some(IpAddr::from([192, 168, 1, last])));
        rig.session.comes_from(owner);
        assert!(rig.session.is_of_another(stranger) && !rig.session.is_of_another(owner));
        rig.hand("Me2e4\r\n");
        rig.session.disconnected(rig.now, "broke", Duration::MAX);
        let memory = serde_json::to_string(&rig.session.memory(false)).unwrap();
        let identity = rig.session.identity.clone();
        let board = rig.core.snapshot();
        let memory = serde_json::from_str(&memory).unwrap();
        rig.session = AppConversation::restored(memory, "the app".into(), identity, &board);
        assert!(rig.session.is_of_another(stranger));
        rig.session.comes_from(stranger);
        rig.says("H0010023");
        rig.sends("H101       1\n");
        rig.says("MA e7e5");
        assert_eq!(rig.next(), "");
        assert_eq!(rig.core.snapshot().target, None);
        rig.says("NG1Y");
        assert!(!rig.session.is_of_another(stranger) && rig.session.is_of_another(owner));
    }

    #[test]
    fn what_was_kept_before_addresses_were_is_read() {
        let mut kept = serde_json::to_value(Rig::new().session.memory(false)).unwrap();
        kept.as_object_mut().unwrap().remove("owner").unwrap();
        let memory: SavedApp = serde_json::from_value(kept).unwrap();
        assert_eq!(memory.owner, None);
    }

    #[test]
    fn a_move_of_a_game_that_is_over_is_not_told_on_the_next_link() {
        let mut rig = Rig::new();
        rig.hand("Me2e4\r\n");
        assert_eq!(rig.next(), "MB e2e4\n");
        rig.says("GE0");
        rig.session.disconnected(rig.now, "cut", Duration::MAX);
        rig.says("H0010023");
        assert_eq!(rig.next(), "H101       1\n");
        rig.session.sent(rig.now);
        assert_eq!(rig.next(), "");
    }

    #[test]
    fn every_move_that_may_be_lost_is_told_again() {
        let mut rig = Rig::new();
        rig.says("NG0Y");
        rig.hand("Me2e4\r\n");
        rig.acts();
        rig.sends("MB e2e4\n");
        rig.hand("Me7e5\r\n");
        rig.sends("MB e7e5\n");
        rig.comes_back();
        rig.sends("MB e2e4\n");
        rig.sends("MB e7e5\n");
    }

    #[test]
    fn an_answer_to_h0_does_not_make_the_move_before_it_arrive() {
        let mut rig = Rig::new();
        rig.hand("Me2e4\r\n");
        assert_eq!(rig.next(), "MB e2e4\n");
        rig.says("H0010023");
        rig.session.sent(rig.now);
        rig.sends("H101       1\n");
        rig.comes_back();
        rig.sends("MB e2e4\n");
    }

    #[test]
    fn a_move_that_arrived_or_was_answered_is_not_told_again() {
        for answered in [false, true] {
            let mut rig = Rig::new();
            rig.hand("Me2e4\r\n");
            rig.acts();
            rig.sends("MB e2e4\n");
            if answered {
                rig.says("MA e7e5");
            } else {
                rig.session.arrived();
            }
            rig.comes_back();
            assert_eq!(rig.next(), "", "answered: {answered}");
        }
    }
}
