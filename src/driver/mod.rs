//! Drivers: one board's protocol each, *sans I/O*.
//!
//! Bytes, steps and time go in; bytes, events and the next deadline come out. A driver owns no socket, never
//! sleeps and needs no runtime, so a transcript and a fake clock test all of it. A driver does not know the
//! game: it reports what the board says ([`Reported`]) and carries out one [`Step`] at a time; whether a
//! move is legal, and what is to be shown next, is the business of [`crate::board`].

pub mod citrine;
pub mod identity;
pub mod neo;
pub mod outbox;
pub mod pacer;
pub mod registry;
pub mod settings;
pub mod stranger;
pub mod swpp;
#[cfg(test)]
mod toy;
pub mod ucb;

use std::time::Instant;

use shakmaty::{Board, Chess, Color, Move};

use crate::{
    game::Game,
    vocabulary::{
        Beginning, BoardKind, BoardResult, Channel, GameEnd, Misplaced, Outgoing, Reply, Reported,
    },
};

/// One thing a board is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Show a move that the hand then executes.
    Show(Move),
    /// Take the last move back; it is given so that a driver can check the board's answer.
    TakeBack(Move),
    /// Start a new game from the standard position.
    NewGame(Beginning),
    /// Set up the last position of this game.
    SetUp(Box<Game>),
}

/// What a driver has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverEvent {
    /// The board answers, with its name and version if it told them.
    Answers {
        /// For instance `UCBII V1.09`.
        id: Option<String>,
    },
    /// A board that cannot be asked whether it is there has said nothing over this link yet. It is shown moves all the
    /// same.
    Unheard,
    /// The board has stopped answering; the driver goes on asking.
    Silent,
    /// What came is in the words of another kind of board, and nothing of this one has been heard.
    Stranger(BoardKind),
    /// The board was switched on again: what was on the way is void.
    Restarted,
    /// The board asks for the current position; answer with [`Driver::tell_position`].
    AsksPosition,
    /// The board reports a move.
    Moved(Reported),
    /// A move was taken back on the board, named where the board names it.
    TookBack(Option<Reported>),
    /// The board stands at the start of a new game.
    NewGame,
    /// The player says, by a key of the board, that the pieces stand as they were to be set up.
    Ready,
    /// The step under way is in the board's game now (the hand may still have to move the pieces).
    Accepted,
    /// The step under way did not take effect.
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
        /// Whose turn it is, if the board says so.
        turn: Option<Color>,
    },
    /// The board answers, but does not tell its game.
    NoList,
    /// The board tells its game in a way that cannot be read.
    ListUnreadable,
    /// The board does not show its squares.
    NoPicture,
    /// The board says the game is over.
    Ended(BoardResult),
    /// Nobody knows where the pieces stand.
    Adrift,
    /// Pieces stand wrong, and the board waits for the hand to mend it.
    Misplaced(Misplaced),
    /// No piece stands wrong any more.
    Stands,
    /// What is left in the board's battery, in percent.
    Battery(u8),
    /// Something came that is no message of this protocol. The text is printable and bounded.
    Unreadable(String),
}

/// Why a step did not take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepFailure {
    /// The board did not answer it.
    NoAnswer,
    /// The board answered that it holds something else.
    Refused,
}

/// What a board can do, and what each thing costs the player, in units of one shown move.
///
/// The costs choose the cheapest way to a target: a set-up moves many pieces by hand, a shown move one.
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    /// The board can be told to take a move back.
    pub take_back: bool,
    /// What giving the board a position costs, where that can be done.
    pub set_up_cost: Option<usize>,
    /// What starting a new game costs.
    pub new_game_cost: usize,
    /// The board can be asked which game it holds ([`Driver::learn`]).
    pub tells_game: bool,
    /// The board makes the moves it is shown by itself.
    pub moves_itself: bool,
    /// The board sees which squares are occupied, and tells which are wrong while a position is set up.
    pub sees_squares: bool,
    /// The board can be shown a castling with the king or the rook elsewhere than in standard chess.
    pub castles_anyhow: bool,
    /// The board keeps a record of its own, and takes back nothing from before its beginning.
    pub keeps_record: bool,
    /// The board reports moves and nothing else: neither that a mistake was put back, nor that a position was set up
    /// by hand. What cannot be played leaves its game as it was.
    pub tells_moves_only: bool,
}

/// One board's protocol. See the module's introduction.
pub trait Driver: Send {
    /// What this board can do.
    fn capabilities(&self) -> Capabilities;

    /// The link is up: begin talking.
    fn link_up(&mut self, now: Instant);

    /// The link is gone: forget what was on the way.
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

    /// Whether a step is under way that the board has neither accepted nor failed to take. A driver drops one
    /// where the board makes it void, for instance by a new game.
    fn stepping(&self) -> bool;

    /// Starts a step. Call it only while [`Self::idle`]; a step given otherwise is dropped.
    fn start(&mut self, now: Instant, step: Step);

    /// The hand has finished the step under way: something proved it, or the player said so.
    fn confirm(&mut self, now: Instant);

    /// Answers [`DriverEvent::AsksPosition`]. `new_to_board` tells that pieces may have to be moved by hand.
    fn tell_position(&mut self, now: Instant, position: &Chess, new_to_board: bool);

    /// Asks the board which game it holds, where [`Capabilities::tells_game`].
    fn learn(&mut self, now: Instant);

    /// Whether the board has been asked what it holds and has not told yet: it may hold more than is known.
    fn is_asked(&self) -> bool {
        false
    }

    /// Asks the board for its squares, where [`Capabilities::tells_game`].
    fn look(&mut self, now: Instant);

    /// The game the board holds, as far as the program knows. Told whenever it may have changed; a board that
    /// knows no pieces recognises moves by it. `may_replace`: nobody has been told its last move yet.
    /// `true` if there is something to say now.
    fn follow(&mut self, _now: Instant, _game: &Game, _may_replace: bool) -> bool {
        false
    }

    /// The board has this game, and the hand may still have to make its last move. A board that shows the move no more
    /// shows it again; `true` if so. Call it only while [`Self::idle`].
    fn light_again(&mut self, _now: Instant, _game: &Game) -> bool {
        false
    }

    /// Whether the board, as far as it can tell, has its pieces as on `board`: a set-up takes no hand then.
    fn stands_as(&self, _board: &Board) -> bool {
        false
    }

    /// Whether the board, where it stands at the start, knows already that a game so begun is on. One that shows no games
    /// needs not know.
    fn knows_of(&self, _beginning: Beginning) -> bool {
        true
    }

    /// A front-end says how its game ended, for boards that can show it.
    fn game_ended(&mut self, _now: Instant, _end: GameEnd) {}

    /// The board is to be led to another game now: what the hand is awaited for may not be wanted any more.
    fn abandon(&mut self, _target: Option<&Game>) {}

    /// Why the link is of no use and is to be opened anew, once.
    fn poll_hang_up(&mut self) -> Option<String> {
        None
    }

    /// The next thing to do on the link, now.
    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing>;

    /// The next event.
    fn poll_event(&mut self) -> Option<DriverEvent>;
}
