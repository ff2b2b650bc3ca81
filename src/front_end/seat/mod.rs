//! A client's seat at a board: how every client of a board states its game there and reads the answer, without I/O. The session of
//! a front-end holds a [`Seat`] for each of its boards, and contains only its own game.
//!
//! Commands for the board come out of a seat; snapshots of the board go in. [`serve`] is what its server does with them.
//!
//! ```
//! use boardbridge::{chess::game::Game, front_end::seat::Seat, vocabulary::*};
//! use shakmaty::{Position, uci::UciMove};
//!
//! // A client states its game and awaits the hand's move.
//! let game = Game::standard();
//! let mut seat = Seat::new(ClientId(1), "a program".into());
//! seat.state(&game, Occasion::default(), true);
//! let commands = std::iter::from_fn(|| seat.poll_command());
//! let commands: Vec<String> = commands.map(|command| command.to_string()).collect();
//! assert_eq!(commands, ["target 1 1 startpos", "await 1 on"]);
//!
//! // The board knows the game by the number of that target, and the hand has made a move.
//! let made = UciMove::from_ascii(b"e2e4")?.to_move(game.position())?;
//! let mut board = Snapshot::new(BoardName::default());
//! board.places = vec![ClientPlace { client: ClientId(1), number: 1, joined: true, put_out: false, answer: vec![made] }];
//! let place = seat.look(&board).expect("the board knows the game");
//! assert_eq!(seat.answer(place), Some(made));
//!
//! // The client takes it.
//! seat.answered(made);
//! assert_eq!(seat.poll_command().map(|command| command.to_string()), Some("answered 1 1 e2e4".to_owned()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod restating;
pub mod serve;
mod take_back;

use std::{
    collections::VecDeque,
    mem::discriminant,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use shakmaty::{Move, Role};

pub use self::take_back::left_by_hand;
use self::{restating::Restating, take_back::TakeBack};
use crate::{
    chess::game::{Game, uci},
    vocabulary::{ClientId, ClientName, ClientPlace, Clocks, Command, GameEnd, Occasion, Snapshot},
};

/// The state that a seat needs after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSeat {
    /// The client's number: the board has kept its claim under it.
    pub client: ClientId,
    /// The number of the target stated last.
    number: u64,
    /// The number of the first target of this game.
    begun: u64,
}

/// A client's seat at a board. See the module documentation.
#[derive(Debug)]
pub struct Seat {
    saved: SavedSeat,
    label: ClientName,
    /// Commands for the board: of each kind the last one, so that no more than a few ever wait.
    outbox: VecDeque<Command>,
    take_back: Option<TakeBack>,
    /// The hand's answer was refused, and the board may not know that yet.
    refused: bool,
    restating: Restating,
}

impl Seat {
    /// A client that has told the board nothing yet; `label` is its name in messages.
    pub fn new(client: ClientId, label: ClientName) -> Self {
        let saved = SavedSeat {
            client,
            number: 0,
            begun: 0,
        };
        Self::restored(saved, label)
    }

    /// A client after a restart. Its board was told nothing since.
    pub fn restored(saved: SavedSeat, label: ClientName) -> Self {
        Self {
            saved,
            label,
            outbox: VecDeque::new(),
            take_back: None,
            refused: false,
            restating: Restating::default(),
        }
    }

    /// The state that it needs after a restart.
    pub fn saved(&self) -> SavedSeat {
        self.saved
    }

    /// The client's number at the board.
    pub fn client(&self) -> ClientId {
        self.saved.client
    }

    /// The client's name in messages.
    pub fn label(&self) -> &ClientName {
        &self.label
    }

    /// Changes that name, from the next target on.
    pub fn rename(&mut self, label: ClientName) {
        self.label = label;
    }

    /// The number of the target stated last.
    pub fn number(&self) -> u64 {
        self.saved.number
    }

    /// The next command for the board.
    pub fn poll_command(&mut self) -> Option<Command> {
        self.outbox.pop_front()
    }

    /// Whether a command waits for the board.
    pub fn has_commands(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Queues a command for the board, in place of an earlier one of its kind.
    fn ask(&mut self, command: impl FnOnce(ClientId) -> Command) {
        let command = command(self.client());
        let kind = discriminant(&command);
        self.outbox.retain(|before| discriminant(before) != kind);
        self.outbox.push_back(command);
    }

    /// Drops the commands about the target stated last, which is no longer the client's.
    fn leave_target(&mut self) {
        self.outbox.retain(|command| {
            !matches!(
                command,
                Command::Target { .. }
                    | Command::Await { .. }
                    | Command::Refuse { .. }
                    | Command::Yield { .. }
            )
        });
    }

    /// A new game begins with the next target. If the pieces stand for it already, its first move may come at once.
    pub fn begin(&mut self, stands: bool) {
        self.saved.begun = self.saved.number.wrapping_add(1);
        if !stands {
            self.announce();
        }
    }

    /// A new game begins, and what stands on the board does not count as a move in it.
    pub fn announce(&mut self) {
        self.leave_target();
        self.ask(|client| Command::NewGame { client });
    }

    /// The client follows this game, and awaits the hand's move in it or not.
    pub fn state(&mut self, game: &Game, occasion: Occasion, awaits: bool) {
        // The other commands stay: the board needs them to tell what is new in this game.
        self.leave_target();
        self.saved.number = self.saved.number.wrapping_add(1);
        self.take_back = None;
        self.refused = false;
        let (number, label) = (self.number(), self.label.clone());
        self.ask(|client| Command::Target {
            client,
            label,
            number,
            game: Box::new(game.clone()),
            occasion,
        });
        if awaits {
            self.awaits(true);
        }
    }

    /// The client awaits the hand's move, or no longer does.
    pub fn awaits(&mut self, on: bool) {
        self.ask(|client| Command::Await { client, on });
    }

    /// The client that awaits the hand's move only analyses.
    pub fn analyses(&mut self) {
        self.ask(|client| Command::Analyse { client });
    }

    /// The client has taken this move as the hand's answer.
    pub fn answered(&mut self, m: Move) {
        let (number, answer) = (self.number(), uci(m));
        self.ask(|client| Command::Answered {
            client,
            number,
            answer,
        });
    }

    /// The client cannot take the hand's answer.
    pub fn refuse(&mut self) {
        self.refused = true;
        let number = self.number();
        self.ask(|client| Command::Refuse { client, number });
    }

    /// The client's game is over.
    pub fn end(&mut self, end: GameEnd) {
        self.take_back = None;
        self.ask(|client| Command::Ended { client, end });
    }

    /// The player reports that the pieces are in place.
    pub fn ready(&mut self) {
        self.ask(|client| Command::Ready { client });
    }

    /// The promotion piece, for boards that cannot tell it.
    pub fn promotes_to(&mut self, role: Role) {
        self.ask(|client| Command::Promotion { client, role });
    }

    /// The clocks of the client's game are these now; `None` if it has none.
    pub fn clocks(&mut self, clocks: Option<Clocks>) {
        self.ask(|client| Command::Clocks { client, clocks });
    }

    /// The client gives way to any other that wants the board, until it states a game or awaits a move again.
    pub fn make_way(&mut self) {
        self.ask(|client| Command::Yield { client });
    }

    /// The client is disconnected and may come back, or is back. Meanwhile others may have the board.
    pub fn is_away(&mut self, on: bool) {
        self.ask(|client| Command::Away { client, on });
    }

    /// The client no longer needs the board.
    pub fn leave(&mut self) {
        self.leave_target();
        self.take_back = None;
        self.ask(|client| Command::Release { client });
    }

    /// The client's connection is lost for good: in mid-game the board is kept for its address.
    pub fn lose(&mut self) {
        self.leave_target();
        self.ask(|client| Command::Lost { client });
    }

    /// The client's place at the board, whichever of its targets the board knows.
    pub fn known<'b>(&self, board: &'b Snapshot) -> Option<&'b ClientPlace> {
        let mut places = board.places.iter();
        places.find(|place| place.client == self.client())
    }

    /// Whether the board knows that the client's game has begun.
    pub fn knows_game(&self, board: &Snapshot) -> bool {
        let known = self.known(board);
        known.is_some_and(|place| place.number >= self.saved.begun)
    }

    /// The client's place at the board, if the board knows the target stated last.
    pub fn place<'b>(&self, board: &'b Snapshot) -> Option<&'b ClientPlace> {
        board.place(self.client(), self.number())
    }

    /// As [`Self::place`], for a board that has a new snapshot.
    pub fn look<'b>(&mut self, board: &'b Snapshot) -> Option<&'b ClientPlace> {
        let place = self.place(board)?;
        if place.joined || !board.holders.is_empty() {
            self.restating.is_over();
        }
        Some(place)
    }

    /// Whether to state the game again now, to a board that no client has and that does not give it this one.
    pub fn restates(&mut self, now: Instant) -> bool {
        self.restating.is_due(now)
    }

    /// The hand's answer to the target stated last, unless it was refused.
    pub fn answer(&mut self, place: &ClientPlace) -> Option<Move> {
        let answer = place.answer.first().copied();
        self.refused &= answer.is_some();
        answer.filter(|_| !self.refused)
    }

    /// Notes that the hand has taken back all but `left` plies of the game, or nothing. That counts after `wait`, if the pieces
    /// still stand like this.
    pub fn note_take_back(
        &mut self,
        now: Instant,
        left: Option<usize>,
        board: &Snapshot,
        wait: Duration,
    ) {
        let noted = |left| TakeBack::noted(self.take_back, now, left, board, wait);
        self.take_back = left.map(noted);
    }

    /// Whether the hand has taken back moves that the client's game still has.
    pub fn is_taking_back(&self) -> bool {
        self.take_back.is_some()
    }

    /// The plies left of the game, if a take-back counts now. Returned once.
    pub fn take_back_due(&mut self, now: Instant) -> Option<usize> {
        let take_back = self.take_back.as_mut()?;
        take_back.at.take_if(|at| *at <= now)?;
        Some(take_back.left)
    }

    /// When to ask [`Self::take_back_due`].
    pub fn deadline(&self) -> Option<Instant> {
        self.take_back?.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{BoardName, LinkState};

    fn game(moves: &str) -> Game {
        let mut game = Game::standard();
        game.play_uci(moves.split_whitespace()).unwrap();
        game
    }

    fn seat() -> Seat {
        Seat::new(ClientId(1), "a program".into())
    }

    /// A board whose hand has taken back, and which holds this.
    fn board(moves: &str) -> Snapshot {
        let mut board = Snapshot::new(BoardName::default());
        board.link = LinkState::Up;
        board.taken_back = true;
        board.game = game(moves).into();
        board
    }

    fn asked(seat: &mut Seat) -> Vec<String> {
        let commands = std::iter::from_fn(|| seat.poll_command());
        commands.map(|command| command.to_string()).collect()
    }

    #[test]
    fn a_board_that_takes_no_commands_finds_only_the_last_of_each_kind() {
        let mut seat = seat();
        for _ in 0..100 {
            seat.begin(false);
            seat.state(&game(""), Occasion::default(), true);
            seat.refuse();
            seat.make_way();
            seat.is_away(true);
            seat.end(GameEnd::AGREED);
        }
        seat.state(&game("e2e4"), Occasion::default(), false);
        let ended = format!("ended 1 {}", GameEnd::AGREED.words());
        let left = [
            "new-game 1",
            "away 1 on",
            &ended,
            "target 1 101 startpos moves e2e4",
        ];
        assert_eq!(asked(&mut seat), left);
    }

    #[test]
    fn a_take_back_counts_once_when_the_pieces_have_stood_for_a_while() {
        let (mut seat, mut now) = (seat(), Instant::now());
        let (played, wait) = (game("e2e4 e7e5"), Duration::from_secs(1));
        let see = |seat: &mut Seat, now, moves| {
            let board = board(moves);
            seat.note_take_back(now, left_by_hand(&board, &played), &board, wait);
        };
        see(&mut seat, now, "e2e4");
        now += wait / 2;
        assert_eq!(seat.take_back_due(now), None);
        // The hand goes on.
        see(&mut seat, now, "");
        assert_eq!(seat.take_back_due(now + wait / 2), None);
        assert_eq!(seat.deadline(), Some(now + wait));
        assert_eq!(seat.take_back_due(now + wait), Some(0));
        for moves in ["", "d2d4"] {
            see(&mut seat, now + wait, moves);
            assert_eq!(seat.deadline(), None);
            assert!(seat.is_taking_back());
        }
        // The pieces are put back.
        see(&mut seat, now + wait, "e2e4 e7e5");
        assert!(!seat.is_taking_back());
    }

    #[test]
    fn a_refused_answer_is_none_until_the_board_has_dropped_it() {
        let mut seat = seat();
        seat.state(&game(""), Occasion::default(), true);
        let mut place = ClientPlace {
            client: seat.client(),
            number: seat.number(),
            joined: true,
            put_out: false,
            answer: game("e2e4").moves().to_vec(),
        };
        assert!(seat.answer(&place).is_some());
        seat.refuse();
        assert_eq!(seat.answer(&place), None);
        let answer = std::mem::take(&mut place.answer);
        assert_eq!(seat.answer(&place), None);
        place.answer = answer;
        assert!(seat.answer(&place).is_some());
    }
}
