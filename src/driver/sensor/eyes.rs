//! What a board's sensors tell apart.

use std::time::Instant;

use shakmaty::{Bitboard, Board, Move, Position};

use crate::{
    chess::{game::Game, sense::Sensed},
    driver::sensing::{Awaited, Follower, Known, Pieces, Report, Squares, Turn, Work},
};

/// What a board's sensors tell apart: each piece, or only whether a square is occupied.
#[derive(Debug)]
pub(super) enum Eyes {
    Pieces(Box<Pieces>),
    Squares(Box<Squares>),
}

impl Eyes {
    pub fn follower(&self) -> &Follower {
        match self {
            Self::Pieces(pieces) => pieces.follower(),
            Self::Squares(squares) => squares.follower(),
        }
    }

    /// Takes a picture of the pieces.
    pub fn sense(&mut self, now: Instant, board: &Board) {
        if let Self::Pieces(pieces) = self {
            pieces.sense(now, board);
        }
    }

    /// See [`Pieces::sense_motor`].
    pub fn sense_motor(&mut self, now: Instant, board: &Board, arrived: bool) {
        if let Self::Pieces(pieces) = self {
            pieces.sense_motor(now, board, arrived);
        }
    }

    /// See [`Pieces::set_out`].
    pub fn set_out(&mut self) {
        if let Self::Pieces(pieces) = self {
            pieces.set_out();
        }
    }

    /// See [`Pieces::is_reply`].
    pub fn is_reply(&self, board: &Board) -> bool {
        matches!(self, Self::Pieces(pieces) if pieces.is_reply(board))
    }

    /// See [`Pieces::lag`].
    pub fn lag(&self) -> bool {
        matches!(self, Self::Pieces(pieces) if pieces.lag())
    }

    /// Takes a picture of the squares. `true` if they changed although nothing is known of the pieces: the player begins to play, or
    /// to set them up.
    pub fn see_squares(&mut self, now: Instant, turn: &mut Turn, raw: Bitboard) -> bool {
        let Self::Squares(squares) = self else {
            return false;
        };
        let game = squares.wanted();
        // The first move from the start position shows on which side White sits.
        let begins = game.is_standard() && game.len() <= 1;
        let opens = begins && squares.standing().occupied() == Board::new().occupied();
        let picture = turn.squares(raw, opens, |full| may_stand(game, opens, full));
        let before = squares.picture();
        squares.sense(now, Sensed::Occupied(picture));
        squares.mind_new_game(picture, false);
        squares.mind_shown(picture);
        let follower = squares.follower();
        let is_touched = before.is_some_and(|before| before != picture);
        is_touched && !follower.is_known() && follower.is_free()
    }

    /// Evaluates what was seen so far.
    pub fn attend(&mut self, now: Instant) {
        if let Self::Squares(squares) = self {
            squares.attend(now, Work::Rests);
        }
    }

    pub fn poll(&mut self) -> Option<Report> {
        match self {
            Self::Pieces(pieces) => pieces.poll(),
            Self::Squares(squares) => squares.poll(),
        }
    }

    pub fn timeout(&mut self, now: Instant) {
        match self {
            Self::Pieces(pieces) => pieces.timeout(now),
            Self::Squares(squares) => squares.timeout(now),
        }
    }

    pub fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Pieces(pieces) => pieces.deadline(),
            Self::Squares(squares) => squares.deadline(),
        }
    }

    pub fn link_up(&mut self) {
        if let Self::Squares(squares) = self {
            squares.link_up();
        }
    }

    pub fn link_down(&mut self) {
        match self {
            Self::Pieces(pieces) => pieces.link_down(),
            Self::Squares(squares) => squares.link_down(),
        }
    }

    /// Whether the board has shown what it sees, and it is understood.
    pub fn is_settled(&self) -> bool {
        match self {
            Self::Pieces(pieces) => pieces.is_settled(),
            Self::Squares(squares) => squares.picture().is_some(),
        }
    }

    /// Whether the player chooses the piece of a promotion.
    pub fn is_gesture_awaited(&self) -> bool {
        matches!(self, Self::Squares(squares) if squares.is_gesture_awaited())
    }

    /// The pieces as the board last showed them on this link, if it tells them apart.
    pub fn picture(&self) -> Option<&Board> {
        match self {
            Self::Pieces(pieces) => pieces.picture(),
            Self::Squares(_) => None,
        }
    }

    /// See [`Pieces::since`].
    pub fn since(&self) -> Option<Instant> {
        match self {
            Self::Pieces(pieces) => pieces.since(),
            Self::Squares(_) => None,
        }
    }

    /// See [`Pieces::hand_cost`].
    pub fn hand_cost(&self, board: &Board) -> Option<usize> {
        match self {
            Self::Pieces(pieces) => pieces.hand_cost(board),
            Self::Squares(_) => None,
        }
    }

    /// See [`Pieces::foreign`].
    pub fn foreign(&self) -> Option<&Board> {
        match self {
            Self::Pieces(pieces) => pieces.foreign(),
            Self::Squares(_) => None,
        }
    }

    /// How the pieces should stand.
    pub fn wanted(&self) -> Board {
        match self {
            Self::Pieces(pieces) => pieces.wanted(),
            Self::Squares(squares) => squares.game().position().board().clone(),
        }
    }

    /// See [`Pieces::new_game_by_key`].
    pub fn new_game_by_key(&mut self) -> bool {
        match self {
            Self::Pieces(pieces) => pieces.new_game_by_key(),
            Self::Squares(_) => false,
        }
    }

    pub fn stand_as(&self, board: &Board) -> bool {
        match self {
            Self::Pieces(pieces) => pieces.stand_as(board),
            Self::Squares(squares) => squares.stand_as(board),
        }
    }

    pub fn lights(&self) -> Bitboard {
        match self {
            Self::Pieces(pieces) => pieces.lights(),
            Self::Squares(squares) => squares.lights(),
        }
    }

    pub fn set_up(&mut self, now: Instant, game: Game) {
        match self {
            Self::Pieces(pieces) => pieces.set_up(now, game),
            Self::Squares(squares) => squares.set_up(now, game),
        }
    }

    pub fn begin(&mut self) {
        match self {
            Self::Pieces(pieces) => pieces.begin(),
            Self::Squares(squares) => squares.begin(),
        };
    }

    pub fn await_hand(&mut self, awaited: Awaited) {
        match self {
            Self::Pieces(pieces) => pieces.await_hand(awaited),
            Self::Squares(squares) => squares.await_hand(awaited),
        }
    }

    /// See [`Pieces::await_again`] and [`Squares::await_again`].
    pub fn await_again(&mut self) -> bool {
        match self {
            Self::Pieces(pieces) => pieces.await_again(),
            Self::Squares(squares) => squares.await_again(),
        }
    }

    /// See [`Pieces::await_take_back_again`] and [`Squares::await_take_back_again`].
    pub fn await_take_back_again(&mut self, next: Option<Move>) -> Option<Move> {
        match self {
            Self::Pieces(pieces) => pieces.await_take_back_again(next),
            Self::Squares(squares) => squares.await_take_back_again(next),
        }
    }

    pub fn confirm(&mut self, now: Instant) {
        match self {
            Self::Pieces(pieces) => pieces.confirm(now),
            Self::Squares(squares) => squares.confirm(),
        }
    }

    pub fn follow(&mut self, now: Instant, game: &Game, may_replace: bool) {
        match self {
            Self::Pieces(pieces) => pieces.follow(now, game, may_replace),
            Self::Squares(squares) => {
                squares.follow(now, game, may_replace, false);
            }
        }
    }

    /// The pieces are assumed to stand like this; `None`: it is unknown where they stand.
    pub fn assume(&mut self, board: Option<&Board>) {
        if let Self::Squares(squares) = self {
            squares.assume(board);
        }
    }

    pub fn abandon(&mut self, target: Option<&Game>) -> bool {
        match self {
            Self::Pieces(pieces) => pieces.abandon(target),
            Self::Squares(squares) => squares.abandon(target),
        }
    }

    pub fn game_ended(&mut self) {
        match self {
            Self::Pieces(pieces) => pieces.game_ended(),
            Self::Squares(squares) => squares.game_ended(),
        }
    }

    /// What is known of the pieces, to be kept through a restart.
    pub fn known(&self) -> Option<Known> {
        match self {
            Self::Pieces(pieces) => pieces.known().map(|placement| Known {
                placement: placement.clone(),
                dim: Bitboard::EMPTY,
                begun: None,
            }),
            Self::Squares(squares) => squares.known(),
        }
    }

    /// Goes on as before a restart. The link must be down.
    pub fn recall(&mut self, known: Known) {
        match self {
            Self::Pieces(pieces) => pieces.recall(known.placement),
            Self::Squares(squares) => squares.recall(known),
        }
    }
}

/// Whether pieces on these squares may be those of the game; `opens`: or of the game after one of its first moves.
fn may_stand(game: &Game, opens: bool, full: Bitboard) -> bool {
    let position = game.position();
    let stands = |board: &Board| board.occupied() == full;
    if !opens || game.len() == 1 {
        return stands(position.board());
    }
    let after = position.legal_moves().into_iter().map(|m| {
        let mut next = position.clone();
        next.play_unchecked(m);
        next
    });
    after.into_iter().any(|next| stands(next.board()))
}
