//! Whether the game is over, and what kings in the centre mean.

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Board, Color, Piece, Position, Role};

use super::Core;
use crate::{
    board::claims::Claim,
    chess::{guidance::Picture, recognise::CENTRE},
    vocabulary::{Event, GameEnd, Judge},
};

/// How long to wait for the second king, when one stands in the centre where it cannot have gone, before that counts as
/// a mistake.
const KINGS_WAIT: Duration = Duration::from_secs(10);

impl Core {
    /// The game is over. `true` if that is new.
    pub(super) fn over(&mut self, end: GameEnd, by: Judge) -> bool {
        let news = self.verdict.over(end, by);
        if news {
            self.event(Event::Ended { end, by });
        }
        news
    }

    /// Whether the target's game has ended. A program that awaits a move plays on, unless the hand has ended the game.
    pub(super) fn is_over(&self) -> bool {
        let shown = self.claims.target() == Some(self.held.game()) && !self.leading.is_new_game();
        match self.verdict.end() {
            Some((_, Judge::Hand)) => true,
            Some(_) => shown && !self.claims.awaiting(),
            None => false,
        }
    }

    /// If the game on the board has changed, checks by the rules whether it is over.
    pub(super) fn judge(&mut self) {
        if let Some(end) = self.verdict.judge(self.held.game()) {
            self.event(Event::Ended {
                end,
                by: Judge::Rules,
            });
        }
    }

    /// Called when a piece is misplaced. `true` if the kings stand in the centre, which ends the game.
    pub(super) fn ends_by_kings(&mut self, now: Instant) -> bool {
        if !self.verdict.kings_are_up()
            && let Some((stands, _)) = self.scene()
            && let Some(end) = self.kings_say(&stands)
        {
            self.verdict.kings_up(end);
            self.published.changed();
            // On Lichess they resign, offer or claim: how the game ends is said there.
            let is_said_elsewhere = self.claims.holders().any(Claim::is_alone);
            if !is_said_elsewhere && self.over(end, Judge::Hand) {
                self.driver.game_ended(now, end);
            }
        }
        self.verdict.kings_are_up()
    }

    /// The result shown by the kings in the centre: both on light squares, White has won; both on dark squares, Black
    /// has won; one on each, a draw.
    fn kings_say(&self, stands: &Picture) -> Option<GameEnd> {
        let held = self.held.game();
        if self.current_step.following().is_some() || self.is_free() && held.is_empty() {
            return None;
        }
        let king = |color: Color| stands.board.king_of(color);
        let kings: Bitboard = [king(Color::White)?, king(Color::Black)?]
            .into_iter()
            .collect();
        if !kings.is_subset(CENTRE) {
            return None;
        }
        // Any piece that stood in the centre may have made room; everything else stands as in the game, or as before a shown move
        // that the hand has not made.
        let same = |piece: Option<Piece>| piece.filter(|piece| piece.role != Role::King);
        let others = |game: &Board| {
            let apart = CENTRE | game.kings();
            (!apart)
                .into_iter()
                .all(|square| same(stands.board.piece_at(square)) == same(game.piece_at(square)))
        };
        let unmade = self.held.unconfirmed().map(|_| held.len() - 1);
        let mut plies = [Some(held.len()), unmade].into_iter().flatten();
        if !plies.any(|plies| others(held.position_at(plies).board())) || stands.unknown.any() {
            return None;
        }
        Some(match (kings & Bitboard::LIGHT_SQUARES).count() {
            2 => GameEnd::resigned(Color::Black),
            0 => GameEnd::resigned(Color::White),
            _ => GameEnd::AGREED,
        })
    }

    /// The least time the hand has to correct: longer while one king is in the centre, to fetch the second.
    pub(super) fn patience(&self) -> Duration {
        let stands = self.misplaced_board();
        let game = self.held.game().position().board();
        let signs = stands.is_some_and(|stands| {
            let moved = stands.kings() & !game.kings() & CENTRE;
            moved.any()
        });
        if signs { KINGS_WAIT } else { Duration::ZERO }
    }
}
