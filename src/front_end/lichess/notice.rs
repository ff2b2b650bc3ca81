//! What the player is told, in words.

use std::fmt;

use shakmaty::{Color, Move};

use crate::{
    chess::game::uci,
    vocabulary::{ClientName, GameEnd},
};

/// Characters kept of what others have written.
const MAX_WORDS: usize = 200;

/// What the player is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The server is connected.
    Connected,
    /// The connection is lost.
    Lost(String),
    /// The token is not accepted.
    NoToken,
    /// The server wants a pause.
    Pause,
    /// A game has begun, or goes on.
    Game {
        /// The opponent.
        opponent: String,
        /// Its kind.
        kind: String,
        /// The hand plays White.
        white: bool,
    },
    /// A game cannot be played on a board.
    Unfit {
        /// The opponent.
        opponent: String,
        /// Why.
        why: String,
    },
    /// Other clients have the board.
    Waits(Vec<ClientName>),
    /// The board was released from this game.
    PutOut,
    /// The first move has to be made within this many seconds.
    Expires(u64),
    /// Lichess does not accept a move.
    NotTaken(Move),
    /// The game went on without this move.
    Overtaken(Move),
    /// What the server says of the game cannot be played.
    Unplayable,
    /// A draw was offered.
    DrawOffered(String),
    /// A take-back was proposed.
    TakeBackProposed(String),
    /// The hand has resigned, but Lichess cannot be told now.
    ResignsLater,
    /// The hand has offered a draw.
    OffersDraw(String),
    /// The hand has proposed a take-back.
    ProposesTakeBack(String),
    /// The kings were put as if the opponent had resigned.
    NotTheirs(String),
    /// Moves were taken back.
    TakenBack(usize),
    /// The opponent has left.
    Gone {
        /// The opponent.
        opponent: String,
        /// Seconds until the win can be claimed.
        claim: Option<u64>,
    },
    /// The opponent is back.
    Back(String),
    /// This player goes berserk: half the time, for another point of the tournament.
    Berserk(String),
    /// Someone said something.
    Chat(String),
    /// The game is over.
    Over {
        /// How it ended.
        end: GameEnd,
        /// The hand's colour.
        hand: Color,
    },
    /// A challenge has come.
    Challenged {
        /// By this player.
        player: String,
        /// The game, such as `15+10, rated`.
        game: String,
    },
    /// The account's own challenge was declined.
    Declined {
        /// By this player.
        player: String,
        /// The reason.
        reason: Option<String>,
    },
    /// A search for an opponent has ended without one.
    NoLongerSought(String),
    /// A request made on the board itself is refused.
    Refused(String),
}

impl Notice {
    /// Whether it is logged as a warning: something was refused or does not work.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Lost(_)
                | Self::NoToken
                | Self::Pause
                | Self::Unfit { .. }
                | Self::NotTaken(_)
                | Self::Unplayable
                | Self::NoLongerSought(_)
                | Self::Refused(_)
        )
    }

    /// A text of others, without control characters and cut to its bound.
    pub fn words(text: &str) -> String {
        text.chars()
            .filter(|c| !c.is_control())
            .take(MAX_WORDS)
            .collect()
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected => f.write_str("connected"),
            Self::Lost(why) => write!(f, "the connection is lost; trying again: {why}"),
            Self::NoToken => f.write_str(
                "Lichess does not accept the token: it has expired or was revoked. Log in again, on the page or with `boardbridge \
                 lichess login`",
            ),
            Self::Pause => f.write_str("Lichess asks for a pause: nothing is sent for a minute"),
            Self::Game {
                opponent,
                kind,
                white,
            } => {
                let color = if *white { "White" } else { "Black" };
                write!(f, "a game with {opponent} ({kind}): you play {color}")
            }
            Self::Unfit { opponent, why } => {
                write!(f, "the game with {opponent} is not played on the board: {why}")
            }
            Self::Waits(holders) => write!(
                f,
                "the game waits for the board, which is with {}: `boardbridge release` frees it",
                ClientName::join(holders, " and ")
            ),
            Self::PutOut => f.write_str(
                "the board was released: this game goes on in the browser or the app, the next one on the board",
            ),
            Self::Expires(seconds) => write!(
                f,
                "make the first move within {seconds} s, or the game is aborted"
            ),
            Self::NotTaken(m) => write!(
                f,
                "Lichess does not accept the move {}: please take it back",
                uci(*m)
            ),
            Self::Overtaken(m) => write!(
                f,
                "the game went on without the move {}: please take it back",
                uci(*m)
            ),
            Self::Unplayable => f.write_str("Lichess has a move in the game that cannot be played here"),
            Self::DrawOffered(by) => write!(
                f,
                "{by} offers a draw: one king on a light and one on a dark square of the centre accepts, a move declines"
            ),
            Self::TakeBackProposed(by) => write!(
                f,
                "{by} asks to take back: take the moves back on the board to agree, or play on"
            ),
            Self::ResignsLater => f.write_str(
                "your resignation will be sent when Lichess can be reached; play on to withdraw it",
            ),
            Self::OffersDraw(to) => write!(
                f,
                "Draw offered to {to}. Put the kings back until they accept"
            ),
            Self::ProposesTakeBack(to) => write!(
                f,
                "Take-back proposed to {to}. Put the pieces back until they accept"
            ),
            Self::NotTheirs(opponent) => write!(
                f,
                "{opponent} has not resigned: please put the kings back"
            ),
            Self::TakenBack(1) => f.write_str("a move was taken back"),
            Self::TakenBack(plies) => write!(f, "{plies} moves were taken back"),
            Self::Gone {
                opponent,
                claim: Some(0),
            } => write!(
                f,
                "{opponent} has left: you can claim the win now, by both kings on light squares of the centre for White, on dark ones for Black"
            ),
            Self::Gone {
                opponent,
                claim: Some(seconds),
            } => write!(
                f,
                "{opponent} has left: in {seconds} s you can claim the win, by both kings on light squares of the centre for White, on dark ones for Black"
            ),
            Self::Gone {
                opponent,
                claim: None,
            } => write!(f, "{opponent} has left"),
            Self::Back(opponent) => write!(f, "{opponent} is back"),
            Self::Berserk(player) => {
                write!(f, "{player} goes berserk: half the time, for another point")
            }
            Self::Chat(words) => f.write_str(words),
            Self::Over { end, hand } => match end.outcome.winner() {
                Some(winner) if winner == *hand => {
                    write!(f, "the game is over: {end}, you have won")
                }
                Some(_) => write!(f, "the game is over: {end}, you have lost"),
                None => write!(f, "the game is over: {end}"),
            },
            Self::Challenged { player, game } => write!(
                f,
                "{player} challenges you ({game}): `boardbridge lichess accept` or `decline`"
            ),
            Self::Declined {
                player,
                reason: Some(reason),
            } => write!(f, "{player} declines: {reason}"),
            Self::Declined {
                player,
                reason: None,
            } => write!(f, "{player} declines"),
            Self::NoLongerSought(why) => {
                write!(f, "no longer looking for an opponent: {why}")
            }
            Self::Refused(words) => f.write_str(words),
        }
    }
}
