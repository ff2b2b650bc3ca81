//! The board's opponent in the app.

use std::time::Duration;

use shakmaty::{Chess, Position, uci::UciMove};

use super::message::NewGame;
use crate::{
    HandAction,
    game::Game,
    hand::{Next, Player},
};

/// The type of a game online, on `WhitePawn` (document).
pub const GAME_TYPE: u8 = 2;
/// Halfmoves without a capture or a pawn move after which a random game is a draw (FIDE's fifty moves).
const DRAWN_OUT: u32 = 100;
/// Ended by checkmate (document: types of ending).
const CHECKMATE: char = '1';
/// Ended by a draw.
const DRAW: char = '2';
/// Ended: the person at the board resigned.
const USER_RESIGNED: char = '3';
/// Ended: the opponent resigned.
const OPPONENT_RESIGNED: char = '4';

/// An opponent.
#[derive(Debug)]
pub struct Opponent {
    player: Player,
    delay: Duration,
    kind: u8,
}

/// What an opponent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Plays this move, or any legal one.
    Play(Option<UciMove>),
    /// Waits for the board.
    Wait,
    /// The game has ended like this.
    End(char),
    /// It does not know this game.
    Astray,
}

impl Opponent {
    /// An opponent who answers after `delay`, in games announced as `kind`.
    pub fn new(player: Player, delay: Duration, kind: u8) -> Self {
        Self {
            player,
            delay,
            kind,
        }
    }

    /// How long it thinks.
    pub(super) fn delay(&self) -> Duration {
        self.delay
    }

    /// The game as it is announced.
    pub(super) fn game(&self) -> NewGame {
        NewGame {
            kind: self.kind,
            board_first: !self.plays(&Chess::new()),
        }
    }

    /// Whether it makes the next move.
    fn plays(&self, position: &Chess) -> bool {
        match &self.player {
            Player::Game { plays, .. } | Player::Random { plays } => plays.has(position.turn()),
        }
    }

    /// What it does in this game.
    pub(super) fn turn(&self, game: &Game) -> Turn {
        let position = game.position();
        let random = matches!(self.player, Player::Random { .. });
        let drawn = position.is_insufficient_material() || position.halfmoves() >= DRAWN_OUT;
        if position.is_checkmate() {
            return Turn::End(CHECKMATE);
        }
        if position.is_stalemate() || (random && drawn) {
            return Turn::End(DRAW);
        }
        match self.player.next_in(game, false) {
            Next::Do(HandAction::Move(m)) => Turn::Play(Some(m)),
            Next::Do(_) => Turn::Play(None),
            Next::Wait => Turn::Wait,
            Next::Astray => Turn::Astray,
            Next::Done if drawn => Turn::End(DRAW),
            // The game from the file has ended: a person resigns on their move.
            Next::Done if self.plays(position) => Turn::End(OPPONENT_RESIGNED),
            Next::Done => Turn::End(USER_RESIGNED),
        }
    }
}
