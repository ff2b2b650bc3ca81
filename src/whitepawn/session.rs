//! The conversation with one app, without I/O: lines and snapshots go in, messages and commands come out.
//!
//! It outlives the app's connections: a move made on the board while the app is away is told after its next handshake.

use std::{collections::VecDeque, sync::Arc};

use shakmaty::{Color, Move, Position, Role};

use super::notice::{Notice, Notices};
use crate::{
    board::{
        command::{ClientId, Command},
        occasion::{GameEnd, Occasion, Opponent},
        snapshot::Snapshot,
    },
    driver::{Reported, Wording, lines::printable},
    game::{Game, uci},
    swpp::{self, Ending, GameKind, MAX_LINE, Message},
};

/// Answers that may wait for an app that does not read. It is not read meanwhile.
pub const MAX_ANSWERS: usize = 32;

/// What the board tells of itself in H1.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Of the program.
    pub version: String,
    /// The board's name.
    pub serial: String,
}

/// What a session wants done.
#[derive(Debug)]
pub enum Action {
    /// Give this command to the board.
    Ask(Command),
    /// Tell whoever watches.
    Tell(Notice),
}

/// A game the app has begun.
#[derive(Debug)]
struct Match {
    kind: GameKind,
    /// The colour played on the board; none for both.
    hand: Option<Color>,
    game: Game,
    /// The client's number for its target.
    number: u64,
    told_to_wait: bool,
}

impl Match {
    fn hand_next(&self) -> bool {
        self.hand.is_none_or(|hand| hand == self.game.turn())
    }

    fn is_over(&self) -> bool {
        self.game.position().legal_moves().is_empty()
    }
}

/// One app's conversation. See the module's introduction.
#[derive(Debug)]
pub struct Session {
    client: ClientId,
    label: Arc<str>,
    identity: Identity,
    /// The app has shaken hands on the connection there is.
    present: bool,
    on: Option<Match>,
    number: u64,
    /// What is to be sent; moves only leave it when the link has taken them.
    outbox: VecDeque<Message>,
    /// The last message sent, if it was a move and the app has said nothing since.
    unanswered: Option<Message>,
    notices: Notices,
    actions: VecDeque<Action>,
}

impl Session {
    /// A conversation of which nothing has been said yet.
    pub fn new(client: ClientId, label: Arc<str>, identity: Identity) -> Self {
        Self {
            client,
            label,
            identity,
            present: false,
            on: None,
            number: 0,
            outbox: VecDeque::new(),
            unanswered: None,
            notices: Notices::default(),
            actions: VecDeque::new(),
        }
    }

    /// The next thing to do.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The next message to send; it stays the next one until it was [sent](Self::sent).
    pub fn next_message(&self) -> Option<&Message> {
        let told = matches!(self.outbox.front()?, Message::BoardMove(_));
        self.outbox.front().filter(|_| self.present || !told)
    }

    /// Whether the app has said enough until it has read what waits for it.
    pub fn is_full(&self) -> bool {
        self.outbox.len() >= MAX_ANSWERS && self.present
    }

    /// The link has taken the whole of the next message.
    pub fn sent(&mut self) {
        let sent = self.outbox.pop_front();
        self.unanswered = sent.filter(|m| matches!(m, Message::BoardMove(_)));
    }

    /// The app's connection is gone. `undelivered`: it has not read all of what it was sent.
    pub fn disconnected(&mut self, why: &str, undelivered: bool) {
        let present = std::mem::take(&mut self.present);
        // What the hand did is told when the app is back, the rest is of no use to anybody then.
        self.outbox.retain(|m| matches!(m, Message::BoardMove(_)));
        if let Some(lost) = self.unanswered.take().filter(|_| undelivered) {
            self.outbox.push_front(lost);
        }
        if present {
            self.tell(Notice::Left(why.to_owned()));
            self.ask(Command::Away {
                client: self.client,
                on: true,
            });
        }
    }

    /// Whether a line is the app's first message: what makes a connection the app's.
    pub fn is_handshake(line: &[u8]) -> bool {
        matches!(swpp::read(line), Ok(Message::HandshakeRequest { .. }))
    }

    /// A line came from the app at `peer`.
    pub fn line(&mut self, peer: &str, line: &[u8]) {
        self.unanswered = None;
        match swpp::read(line) {
            Ok(Message::HandshakeRequest { protocol, build }) => {
                self.welcome(peer, protocol, build);
            }
            Ok(Message::NewGame {
                kind,
                waits_for_board,
            }) => self.new_game(kind, waits_for_board),
            Ok(Message::AppMove(wording)) => self.app_moved(wording),
            Ok(Message::GameEnded(ending)) => self.ended(ending),
            // What only a board says: an echo, or two boards on one line.
            Ok(Message::HandshakeResponse { .. } | Message::BoardMove(_)) => {
                let text = printable(line, MAX_LINE);
                self.tell(Notice::Unreadable(format!("a board's message: {text}")));
            }
            Err(error) => self.tell(Notice::Unreadable(error.to_string())),
        }
    }

    /// A line came that was too long, or without its end.
    pub fn broken_line(&mut self, length: usize) {
        self.tell(Notice::Unreadable(format!(
            "a line of {length} bytes, dropped"
        )));
    }

    fn welcome(&mut self, peer: &str, protocol: Option<u8>, build: Option<u16>) {
        let welcome = Message::welcome(&self.identity.version, &self.identity.serial);
        // Before any move, unless one is on its way already.
        let began = usize::from(self.present && !self.outbox.is_empty());
        let answers = |m: &&Message| matches!(m, Message::HandshakeResponse { .. });
        let at = self.outbox.iter().filter(answers).count().max(began);
        self.outbox.insert(at.min(self.outbox.len()), welcome);
        if !std::mem::replace(&mut self.present, true) {
            self.tell(Notice::Connected {
                peer: peer.to_owned(),
                protocol,
                build,
            });
            self.ask(Command::Away {
                client: self.client,
                on: false,
            });
        }
    }

    fn new_game(&mut self, kind: GameKind, waits_for_board: bool) {
        let hand = match (kind, waits_for_board) {
            (GameKind::Offline, _) => None,
            (_, true) => Some(Color::White),
            (_, false) => Some(Color::Black),
        };
        let same = |on: &Match| on.kind == kind && on.hand == hand && on.game.is_empty();
        if self.on.as_ref().is_some_and(same) {
            // Said twice: nothing new, but the board behind may not have heard of it.
            self.begin();
            return;
        }
        // Moves of the game before are nobody's now.
        self.outbox.retain(|m| !matches!(m, Message::BoardMove(_)));
        self.unanswered = None;
        self.tell(Notice::NewGame { kind, hand });
        self.on = Some(Match {
            kind,
            hand,
            game: Game::standard(),
            number: 0,
            told_to_wait: false,
        });
        self.begin();
    }

    /// Has the board begin the game.
    fn begin(&mut self) {
        self.ask(Command::NewGame {
            client: self.client,
        });
        self.state();
    }

    /// Gives the board the game.
    fn state(&mut self) {
        let Some(on) = &mut self.on else { return };
        self.number += 1;
        on.number = self.number;
        let awaits = on.hand_next() && !on.is_over();
        let command = Command::Target {
            client: self.client,
            label: self.label.clone(),
            number: on.number,
            game: Box::new(on.game.clone()),
            occasion: Occasion {
                opponent: match on.kind {
                    GameKind::Offline => Opponent::Nobody,
                    GameKind::Engine => Opponent::Engine,
                    GameKind::WhitePawn => Opponent::WhitePawn,
                    GameKind::Lichess => Opponent::Lichess,
                },
                hand_next: on.hand_next(),
            },
        };
        self.ask(command);
        if awaits {
            self.ask(Command::Await {
                client: self.client,
                on: true,
            });
        }
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
                on.game.push(m);
                self.notices.all_is_well();
                self.state();
            }
            // Told twice, or the hand's own come back.
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
        // Where the hand plays both sides, whoever is to move resigns.
        let hand = on.hand.unwrap_or(on.game.turn());
        let end = match ending {
            Ending::Aborted => GameEnd::Aborted,
            Ending::Checkmate => GameEnd::Checkmate,
            Ending::Draw => GameEnd::Draw,
            Ending::UserResigned => GameEnd::resigned(hand),
            Ending::OpponentResigned => GameEnd::resigned(hand.other()),
        };
        self.outbox.retain(|m| !matches!(m, Message::BoardMove(_)));
        self.ask(Command::Ended {
            client: self.client,
            end,
        });
        self.release();
    }

    fn release(&mut self) {
        self.ask(Command::Release {
            client: self.client,
        });
    }

    /// The board has a new snapshot.
    pub fn snapshot(&mut self, snapshot: &Snapshot) {
        let Some(on) = &mut self.on else { return };
        let Some(place) = snapshot.place(self.client, on.number) else {
            return;
        };
        if !place.joined {
            if !std::mem::replace(&mut on.told_to_wait, true) {
                let holders = snapshot.holders.join(" and ");
                self.tell(Notice::Waits(holders));
            }
            return;
        }
        on.told_to_wait = false;
        // One at a time: what comes after it answers the game that has it.
        let played = place.answer.first().copied();
        if let Some(m) = played.filter(|_| on.hand_next()) {
            self.hand_moved(m);
        }
    }

    /// The hand has made a move of its own.
    fn hand_moved(&mut self, m: Move) {
        let Some(on) = &mut self.on else { return };
        let number = on.number;
        if !on.game.push(m) {
            return;
        }
        let wording = Reported::of(m).wording;
        self.outbox.push_back(Message::BoardMove(wording));
        self.ask(Command::Answered {
            client: self.client,
            number,
            answer: uci(m),
        });
        self.state();
    }

    fn ask(&mut self, command: Command) {
        self.actions.push_back(Action::Ask(command));
    }

    fn tell(&mut self, notice: Notice) {
        if self.notices.admit(&notice) {
            self.actions.push_back(Action::Tell(notice));
        }
    }
}
