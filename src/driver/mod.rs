//! Drivers: one board's protocol each, *sans I/O*.
//!
//! Bytes, steps and time go in; bytes, events and the next deadline come out. A driver owns no socket, never
//! sleeps and needs no runtime, so a transcript and a fake clock test all of it. A driver does not judge moves:
//! it reports what the board says ([`Reported`]) and carries out one [`Step`] at a time; [`crate::board`]
//! decides whether a move is legal and what is shown next.
//!
//! ```
//! use std::{iter, time::Instant};
//!
//! use boardbridge::driver::ucb::{Settings, Ucb};
//! use boardbridge::driver::{Driver, DriverEvent};
//! use boardbridge::vocabulary::{Channel, Reported};
//! use shakmaty::Square;
//!
//! // Time is a value: nothing in a driver waits.
//! let now = Instant::now();
//! let mut board = Ucb::new(Settings::default());
//! board.link_up(now);
//!
//! // The board reports what the hand did.
//! board.received(now, Channel::Serial, b"Me2e4\r\n");
//! let events: Vec<_> = iter::from_fn(|| board.poll_event()).collect();
//! let moved = Reported::squares(Square::E2, Square::E4, None);
//! assert_eq!(events.last(), Some(&DriverEvent::Moved(moved)));
//!
//! // The board asks who is there. The driver answers at once, or when its deadline comes.
//! board.received(now, Channel::Serial, b"I\r\n");
//! assert!(board.poll_transmit(now).is_some() || board.deadline().is_some());
//! ```

pub mod chessnut;
pub mod citrine;
pub mod dgt;
pub mod identity;
pub mod neo;
pub mod outbox;
pub mod pacer;
pub mod pegasus;
pub mod picture;
pub mod profile;
pub mod registry;
pub mod sensing;
pub mod sensor;
pub mod settings;
pub mod stranger;
pub mod swpp;
#[cfg(test)]
mod toy;
#[cfg(test)]
mod toy_pieces;
pub mod ucb;
pub mod usb;

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Board, Chess, Color, Move};

pub use self::profile::Profile;
use crate::{
    chess::game::Game,
    vocabulary::{
        Beginning, BoardKind, BoardResult, Channel, ClocksSince, GameEnd, Misplaced, Outgoing,
        Reply, Reported,
    },
};

/// One task for a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Show a move for the player to make.
    Show(Move),
    /// Take back the last move; it is given so that a driver can check the board's answer.
    TakeBack(Move),
    /// Start a new game from the standard position.
    NewGame(Beginning),
    /// Set up the last position of this game.
    SetUp(Box<Game>),
}

/// What a driver reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverEvent {
    /// The board answers, with its name and version if it reported them.
    Answers {
        /// For instance `UCBII V1.09`.
        id: Option<String>,
    },
    /// A board that cannot be asked whether it is there has said nothing over this link yet. It is shown moves
    /// nevertheless.
    Unheard,
    /// The board has stopped answering; the driver keeps asking.
    Silent,
    /// The input is that of another kind of board, and nothing from this kind has been heard.
    Stranger(BoardKind),
    /// The board was switched on again: whatever was being sent is void.
    Restarted,
    /// The board asks for the current position; answer with [`Driver::tell_position`].
    AsksPosition,
    /// The board reports a move.
    Moved(Reported),
    /// A move was taken back on the board; given if the board names it.
    TookBack(Option<Reported>),
    /// The board stands at the start of a new game.
    NewGame,
    /// The player reports with a key of the board that the position is set up.
    Ready,
    /// The current step is in the board's game now (the player may still have to move the pieces).
    Accepted,
    /// The current step did not take effect.
    Failed(StepFailure),
    /// The board's own record of its game: the number of plies before the first one listed, and the moves.
    Listed {
        /// Plies played before the first one in `moves`.
        skipped: usize,
        /// The moves, first to last.
        moves: Vec<Reported>,
        /// The list is as long as the board can make it: later moves may be missing.
        full: bool,
    },
    /// The board's own picture of its squares.
    Placed {
        /// The pieces.
        board: Box<Board>,
        /// The side to move, if the board reports it.
        turn: Option<Color>,
    },
    /// The player has put up this position, or it stands there and nothing is known of a game: on a board that no client has, its
    /// game begins with it.
    PutUp(Box<Board>),
    /// The board answers, but does not report its game.
    NoList,
    /// The board reports its game in a form that cannot be read.
    ListUnreadable,
    /// The board does not show its squares.
    NoPicture,
    /// The player asks, by a key of the board, to take the last move back.
    AsksTakeBack,
    /// Something about the board has to be put right by the player, in words. It is not about its pieces.
    Trouble(&'static str),
    /// The board says the game is over.
    Ended(BoardResult),
    /// The placement of the pieces is unknown.
    Unplaced,
    /// Pieces are misplaced, and the board waits for the player to correct them.
    Misplaced(Misplaced),
    /// No piece is misplaced any more.
    Stands,
    /// The board was to move its pieces itself and has not: from now on the hand is asked.
    Stuck,
    /// The charge left in the board's battery.
    Battery {
        /// In percent.
        percent: u8,
        /// The board will soon switch itself off for lack of it.
        is_empty: bool,
    },
    /// Something that is not a message of this protocol. The text is printable and bounded.
    Unreadable(String),
}

/// What has become of a [word](Driver::greet) for somebody who looks for a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// There is no display for it.
    Nowhere,
    /// It may come.
    Awaited,
    /// It is as it was asked for.
    Done,
}

/// Why a step did not take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepFailure {
    /// The board did not answer it.
    NoAnswer,
    /// The board answered, but with something else.
    Refused,
}

/// One board's protocol. See the module documentation.
pub trait Driver: Send {
    /// What the core may expect of this board.
    fn profile(&self) -> Profile;

    /// What giving the board this placement of the pieces costs the player, in units of one shown move, if the board senses how
    /// they stand now. Otherwise its [`Profile`] knows.
    fn set_up_cost(&self, _board: &Board) -> Option<usize> {
        None
    }

    /// The link is up: begin talking.
    fn link_up(&mut self, now: Instant);

    /// The link is lost: forget whatever was being sent.
    fn link_down(&mut self);

    /// Bytes came from the board.
    fn received(&mut self, now: Instant, channel: Channel, bytes: &[u8]);

    /// A request of [`Self::poll_transmit`] was answered. Requests are carried out one at a time, in order; a
    /// serial line answers none.
    fn answered(&mut self, _now: Instant, _channel: Channel, _outcome: Reply) {}

    /// The time given by [`Self::deadline`] has come.
    fn timeout(&mut self, now: Instant);

    /// When [`Self::timeout`] is to be called next.
    fn deadline(&self) -> Option<Instant>;

    /// Whether a new step may be started.
    fn idle(&self) -> bool;

    /// Whether a position or a new game may be started. Some boards take one at any time, also while the player still has
    /// time for the step before.
    fn takes_position(&self) -> bool {
        self.idle()
    }

    /// Whether a step is in progress that the board has neither accepted nor failed to take. A driver drops one
    /// that the board makes void, for instance by a new game.
    fn stepping(&self) -> bool;

    /// Starts a step. Call it only while [`Self::idle`], or [`Self::takes_position`]; otherwise the step is dropped.
    fn start(&mut self, now: Instant, step: Step);

    /// The player has finished the current step: something proved it, or the player said so.
    fn confirm(&mut self, now: Instant);

    /// Answers [`DriverEvent::AsksPosition`]. `new_to_board`: pieces may have to be moved by hand.
    fn tell_position(&mut self, now: Instant, position: &Chess, new_to_board: bool);

    /// Asks the board which game it holds, if it [answers](Profile::answers).
    fn learn(&mut self, now: Instant);

    /// Whether the board was asked for its game and has not answered yet: it may hold more than is known.
    fn is_asked(&self) -> bool {
        false
    }

    /// Asks the board which piece stands where, if it [answers](Profile::answers).
    fn look(&mut self, now: Instant);

    /// Takes the game that the board holds, as far as the core knows. Called whenever that may have changed; a board that does
    /// not identify pieces recognises moves by it. `may_replace`: the last move may turn out to have been another one. Returns
    /// `true` if the driver may have new events.
    fn follow(&mut self, _now: Instant, _game: &Game, _may_replace: bool) -> bool {
        false
    }

    /// Shows the last move of this game again if the board no longer shows it; then returns `true`. The board has the
    /// game, and the player may still have to make that move. Call it only while [`Self::idle`].
    fn light_again(&mut self, _now: Instant, _game: &Game) -> bool {
        false
    }

    /// Asks the hand again to take back a move that the pieces show beyond the game, unless that is the `next` to be made; returns it.
    /// Call it only while [`Self::idle`].
    fn ask_take_back_again(&mut self, _now: Instant, _next: Option<Move>) -> Option<Move> {
        None
    }

    /// Whether the board, as far as it can see, has its pieces as on `board`: then a set-up needs no hand.
    fn stands_as(&self, _board: &Board) -> bool {
        false
    }

    /// For a board that senses squares only and that no client has: its pieces are assumed to stand like this. `None`: it is
    /// unknown after all where they stand.
    fn assume(&mut self, _pieces: Option<&Board>) {}

    /// Whether the board, with its pieces at the start, already knows that such a game is being played. A board that
    /// shows no games need not know.
    fn knows_of(&self, _beginning: Beginning) -> bool {
        true
    }

    /// Lights these squares and no others for somebody who looks for this board: once it [answers](DriverEvent::Answers), while no
    /// one plays there. `false`: it has no lamps that can be lit so.
    fn signal(&mut self, _now: Instant, _squares: Bitboard) -> bool {
        false
    }

    /// Has a display beside the board show a word to somebody who looks for this board, or no longer; called again and again until it
    /// does, while no one plays there.
    fn greet(&mut self, _now: Instant, _on: bool) -> Greeting {
        Greeting::Nowhere
    }

    /// The clocks of the game, for boards that can show them; called again and again. `None`: it has none.
    fn clocks(&mut self, _now: Instant, _clocks: Option<ClocksSince>) {}

    /// Whether a game is being played: a client has the board, and its game is not over. Called again and again, for boards that put a
    /// mistake right by themselves: they do so in a game alone.
    fn in_game(&mut self, _now: Instant, _on: bool) {}

    /// A front-end reports how its game ended, for boards that can show it.
    fn game_ended(&mut self, _now: Instant, _end: GameEnd) {}

    /// The board is led to another game now: what the player was to do may no longer be wanted.
    fn abandon(&mut self, _target: Option<&Game>) {}

    /// What the driver must know after a restart and cannot learn from the board. [`Self::recall`] reads it.
    fn memory(&self) -> Option<serde_json::Value> {
        None
    }

    /// Continues after a restart of the daemon. Call it before the link is up. Ignores what it cannot read.
    fn recall(&mut self, _memory: serde_json::Value) {}

    /// Why the link is unusable and has to be opened again; reported once.
    fn poll_hang_up(&mut self) -> Option<String> {
        None
    }

    /// How long the board must be without a link, at least, before the next.
    fn pause_between_links(&self) -> Duration {
        Duration::ZERO
    }

    /// The next request for the link, if any.
    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing>;

    /// The next event.
    fn poll_event(&mut self) -> Option<DriverEvent>;
}
