//! Simulated boards, with the faults of the real ones, on real pseudo-terminals and sockets.
//!
//! A simulated board is sans I/O like a driver: [`SimulatedBoard`]. [`port`] gives it a line, [`hand`] a player. They
//! are written from the protocol documents and share no code with the drivers, so that a misreading on one side shows
//! on the other.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod air;
pub mod bluez;
pub mod chessnut;
pub mod citrine;
mod clock;
pub mod dgt;
pub mod game;
pub mod gesture;
pub mod hand;
pub mod line;
pub mod neo;
mod opens;
pub mod outcome;
pub mod pegasus;
pub mod peripheral;
pub mod phone_radio;
pub mod pieces;
pub mod port;
pub mod pty;
pub mod radio;
mod registry;
pub mod run;
pub mod serial;
pub mod socket;
pub mod swpp;
pub mod turns;
pub mod ucb;
pub mod uhid;

use std::{
    fmt,
    time::{Duration, Instant},
};

use shakmaty::{Move, Position, Role, Square, uci::UciMove};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::game::{Game, uci};

/// A byte stream in both directions: a serial line, TCP.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// What a player can do to a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandAction {
    /// Make a move.
    Move(UciMove),
    /// Make a random legal move.
    Random,
    /// Execute the move that is shown.
    Execute,
    /// Hear of the move that is to be executed, on a board that senses its pieces: its lamps do not say what a pawn becomes.
    Hear(UciMove),
    /// Make a move that is not the one shown.
    Wrong(UciMove),
    /// Take the last move back.
    TakeBack,
    /// Put the pieces on their starting squares.
    NewGame,
    /// Set up a start position of one's own, and begin a game there: on a Citrine, or a board that senses its pieces.
    SetUp(Box<Game>),
    /// Switch the board off.
    Off,
    /// Switch the board on.
    On {
        /// Whether it lost its memory.
        forgetful: bool,
    },
    /// Make a Citrine lose its settings and keep its game.
    ForgetSettings,
    /// Lift the king of the side not to move and put it back: a Citrine then makes a move of its own.
    LiftKing,
    /// Unplug the cable.
    Unplug,
    /// Plug the cable in again.
    Plug,
    /// Make the board send this many bytes of garbage.
    Garbage(usize),
}

/// An observable event on a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The lamps show a move.
    Shown(Move),
    /// The player executed the shown move.
    Executed(Move),
    /// The player made a move.
    Made(Move),
    /// A question turned off the lamps that showed a move.
    PutOut(Move),
    /// The lamps show the move again.
    LitAgain(Move),
    /// The board was sent the last move again, which changes nothing.
    ToldAgain(Move),
    /// The lamps ask to take a move back.
    TakeBack(Move),
    /// The player took a move back.
    TookBack(Move),
    /// The player made an illegal move, which the board accepted.
    Wrong(UciMove),
    /// The board was switched off.
    Off,
    /// The board was switched on.
    On {
        /// Whether it had lost its memory.
        forgetful: bool,
    },
    /// The board lost its settings and kept its game.
    ForgotSettings,
    /// The board began a new game.
    NewGame,
    /// The board was given a position.
    SetUp(String),
    /// Something sent to the board was lost, as it would be on a real one.
    Lost(String),
    /// Something sent to the board is wrong.
    Fault(String),
    /// The player could not do what was asked.
    Refused(String),
    /// The board can be reached at this address.
    Plugged(String),
    /// The cable was unplugged.
    Unplugged,
    /// The board ended the link by itself.
    HungUp,
    /// The motor carried a piece from one spot to another.
    Carried(neo::Spot, neo::Spot),
    /// These squares are lit, and no others.
    Lit(Vec<Square>),
    /// The board showed a sign: `wt`, `bl`, `dw`, `ck` or `po`, as the protocol names them.
    Sign(String),
    /// The board asks for a piece on this square.
    Missing(Square),
    /// The player placed the pieces as asked.
    Arranged,
    /// The program greeted the board in these words.
    Greeted(String),
    /// The program announced a game: its type, and `Y` if it waits for the board's move.
    Announced(String),
    /// The program announced the end of the game, by this code.
    Ended(char),
    /// The clock shows this text; empty: its times again.
    Clock(String),
    /// The board or its clock beeps.
    Beeped,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shown(m) => write!(f, "shown {}", uci(*m)),
            Self::Executed(m) => write!(f, "executed {}", uci(*m)),
            Self::Made(m) => write!(f, "made {}", uci(*m)),
            Self::PutOut(m) => write!(f, "put-out {}", uci(*m)),
            Self::LitAgain(m) => write!(f, "lit-again {}", uci(*m)),
            Self::ToldAgain(m) => write!(f, "told-again {}", uci(*m)),
            Self::TakeBack(m) => write!(f, "take-back {}", uci(*m)),
            Self::TookBack(m) => write!(f, "took-back {}", uci(*m)),
            Self::Wrong(m) => write!(f, "wrong {m}"),
            Self::Off => f.write_str("off"),
            Self::On { forgetful: true } => f.write_str("on forgetful"),
            Self::On { forgetful: false } => f.write_str("on"),
            Self::ForgotSettings => f.write_str("forgot-settings"),
            Self::NewGame => f.write_str("new-game"),
            Self::SetUp(fen) => write!(f, "set-up {fen}"),
            Self::Lost(what) => write!(f, "lost {what}"),
            Self::Fault(what) => write!(f, "fault {what}"),
            Self::Refused(what) => write!(f, "refused {what}"),
            Self::Plugged(port) => write!(f, "plugged {port}"),
            Self::Unplugged => f.write_str("unplugged"),
            Self::HungUp => f.write_str("hung-up"),
            Self::Carried(from, to) => write!(f, "carried {from} {to}"),
            Self::Lit(squares) => {
                f.write_str("lit")?;
                squares.iter().try_for_each(|square| write!(f, " {square}"))
            }
            Self::Sign(sign) => write!(f, "sign {sign}"),
            Self::Missing(square) => write!(f, "missing {square}"),
            Self::Arranged => f.write_str("arranged"),
            Self::Greeted(words) => write!(f, "greeted {words}"),
            Self::Announced(game) => write!(f, "announced {game}"),
            Self::Ended(code) => write!(f, "ended {code}"),
            Self::Clock(text) if text.is_empty() => f.write_str("clock times"),
            Self::Clock(text) => write!(f, "clock {text}"),
            Self::Beeped => f.write_str("beeped"),
        }
    }
}

/// A board in software, without I/O.
pub trait SimulatedBoard: Send {
    /// The line was opened: the board sends what it sends by itself at that time.
    fn plugged(&mut self, now: Instant);
    /// Bytes came from the computer.
    fn received(&mut self, now: Instant, bytes: &[u8]);
    /// Bytes came from the computer after `after`, and are read `now`: a loaded machine reads late.
    ///
    /// A board that [loses messages too close together](Self::least_gap) counts from the earlier time.
    fn received_since(&mut self, _after: Instant, now: Instant, bytes: &[u8]) {
        self.received(now, bytes);
    }
    /// The minimum time between messages to the board, if any.
    fn least_gap(&self) -> Option<Duration> {
        None
    }
    /// The player does something.
    fn hand(&mut self, now: Instant, action: HandAction);
    /// The player hears of a move that the board cannot show, and executes it like a shown one.
    fn tell(&mut self, _now: Instant, _m: Move) {}
    /// The time given by [`Self::deadline`] has come.
    fn timeout(&mut self, now: Instant);
    /// When [`Self::timeout`] is to be called next.
    fn deadline(&self) -> Option<Instant>;
    /// The next bytes for the computer.
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
    /// The next observable event.
    fn poll_report(&mut self) -> Option<Report>;
    /// The game on the board.
    fn game(&self) -> &Game;
    /// The move that is shown and not executed yet.
    fn shown(&self) -> Option<Move>;
    /// Whether the player's hands are at work, so that [`Self::game`] is not yet what they are making it.
    fn is_at_work(&self) -> bool {
        false
    }
}

/// The player was given an order that only a Citrine supports.
fn only_a_citrine() -> Report {
    Report::Refused("only a Citrine does that".to_owned())
}

/// The player was told a move that the board itself shows.
fn shows_its_moves() -> Report {
    Report::Refused("the board itself shows the moves".to_owned())
}

/// The player was to take a move back, and there is none.
fn nothing_to_take_back() -> Report {
    Report::Refused("there is no move to take back".to_owned())
}

/// A random legal move.
fn random_move(game: &Game, random: &mut fastrand::Rng) -> Option<Move> {
    random_among(game, random, |_| true)
}

/// A random legal move on a board that cannot name the promotion piece: always a queen, as that is assumed.
fn random_to_queen(game: &Game, random: &mut fastrand::Rng) -> Option<Move> {
    random_among(game, random, |m| {
        m.promotion().is_none_or(|role| role == Role::Queen)
    })
}

fn random_among(
    game: &Game,
    random: &mut fastrand::Rng,
    fits: impl Fn(&Move) -> bool,
) -> Option<Move> {
    let mut moves = game.position().legal_moves();
    moves.retain(|m| fits(m));
    (!moves.is_empty()).then(|| moves[random.usize(..moves.len())])
}

/// Printable bytes that are not a message of any board, the same for the same length.
fn garbage(length: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(length as u64);
    (0..length).map(|_| random.u8(..)).collect()
}
