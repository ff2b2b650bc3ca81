//! What the board reports about the game it holds: its list, its squares, or nothing.

use std::time::Instant;

use shakmaty::{Board, Color, Position};

use super::Core;
use crate::{
    board::held_game::{Held, List, Listed, Seen},
    chess::game::Game,
    driver::{Step, StepFailure},
    vocabulary::{By, Event, Reported},
};

impl Core {
    /// The board sent its list.
    pub(super) fn listed(&mut self, now: Instant, list: List<'_>) {
        let held = self.held.game().clone();
        let before = held.len();
        if let Some(first) = self.held.first_listed(list.moves) {
            self.turned(now, first);
        }
        self.listed = self.held.learn(list, self.claims.target());
        let sent = self.current_step.sent();
        let refused = sent.is_some_and(|(plies, _)| plies == before) && *self.held.game() == held;
        if refused && self.waits.has_failed_twice() {
            // The refused move is legal in the game that we believe to be on the board.
            self.held.opening_in_doubt();
        }
        if self.held.is_opening_in_doubt() || self.listed != Listed::Followed {
            self.driver.look(now);
        }
        self.learned(&held);
        if self.held.game().is_empty() && self.held.game().is_standard() {
            self.went_to_start(held);
        }
    }

    /// The board answers, but does not report its game.
    pub(super) fn not_listed(&mut self, now: Instant) {
        if self.is_blank() {
            self.lost();
            return;
        }
        // A board that cannot report its game is assumed to hold what we know.
        self.held.assure();
        let held = self.held.game().clone();
        self.learned(&held);
        if self.held.is_opening_in_doubt() {
            self.driver.look(now);
        }
        let position = self.held.game().position();
        if self.verdict.kings_are_up() && self.driver.stands_as(position.board()) {
            self.verdict.kings_down();
        }
    }

    /// The board's list cannot be read.
    pub(super) fn list_unreadable(&mut self, now: Instant) {
        self.listed = Listed::NotFollowed;
        self.driver.look(now);
    }

    /// The board does not show its squares.
    pub(super) fn not_placed(&mut self) {
        if self.listed == Listed::NotFollowed {
            self.lost();
        } else {
            self.held.assure();
            self.published.changed();
        }
    }

    /// What the board holds is unknown, and it cannot report it.
    pub(super) fn lost(&mut self) {
        self.held.lose();
        self.published.changed();
    }

    /// The board sent its squares: after a set-up, or because its list alone did not identify the game.
    pub(super) fn placed(&mut self, now: Instant, board: &Board, turn: Option<Color>) {
        if let Some(Step::SetUp(game)) = self.current_step.step() {
            let mut given = Held::default();
            given.replace((**game).clone());
            // If the pieces stand as before, or at the start, the board may not have received the position, even if one legal
            // move leads from it to them.
            let same = |game: &Game| game.position().board() == board;
            let is_as_before = (same(self.held.game()) || same(&Game::standard())) && !same(game);
            // The hand may have moved already.
            if !is_as_before && given.see(board, turn, None) == Seen::Followed {
                let plies = game.len();
                // The squares tell whether a move that came early was made there.
                self.current_step.take_early();
                self.accepted(now);
                let played = given.game().moves().get(plies).copied();
                if let Some(m) = played {
                    self.moved(now, Reported::of(m));
                }
            } else {
                self.failed(now, StepFailure::Refused);
            }
            return;
        }
        let held = self.held.game().clone();
        match self.held.see(board, turn, self.claims.target()) {
            Seen::Followed => {
                self.learned(&held);
                if self.claims.target() == Some(self.held.game()) {
                    // Also if the player was asked to set it up by hand.
                    self.leading.set_up();
                }
            }
            Seen::Doubtful => self.driver.look(now),
            Seen::Begun => {
                self.went_to_start(held);
                self.begun_elsewhere(now);
            }
            Seen::Strange => self.lost(),
        }
    }

    /// The game on the board begins in a position that the hand has set up.
    pub(super) fn begun_elsewhere(&mut self, now: Instant) {
        self.current_step.take_sent();
        self.move_times.forget_from(0);
        self.verdict.begins();
        self.begun_by_hand(now);
        let fen = self.held.game().fen();
        self.event(Event::SetUp { fen });
    }

    /// The side of a move shows who moved first in a position that the hand has set up.
    pub(super) fn turned(&mut self, now: Instant, made: Reported) {
        if self.held.opens_with(made) {
            self.begun_elsewhere(now);
        }
    }

    /// The game was learned from the board; its moves beyond those known before are new.
    fn learned(&mut self, known: &Game) {
        let before = known.len();
        let common = known.common_plies(self.held.game()).unwrap_or(0);
        self.published.changed();
        if self.held.game().len() != before {
            self.verdict.doubt();
        }
        self.deviation.mended();
        self.claims.unknown_from(common);
        self.front_ends_know();
        let news = self.held.game().moves().get(before).copied();
        let sent = self.current_step.take_sent();
        // A sent move that is there has reached the board: the hand did not make it.
        let arrived = sent.is_some() && news.map(|m| (before, m)) == sent;
        let reached = if arrived { before + 1 } else { 0 };
        if arrived {
            self.held.told(reached);
        }
        if self.held.game().len() > before {
            // Played unseen, perhaps before the new game was announced.
            self.forget_old_game();
        }
        // The learned game may have replaced a move that clients knew.
        self.taken_back_to(self.news_from());
        let game = self.held.game();
        // Moves that the target has were shown, and their echo was lost. The others are the hand's.
        let shown = self
            .claims
            .target()
            .and_then(|target| target.common_plies(game))
            .unwrap_or(0)
            .max(reached);
        let goes_beyond = |target: &Game| game.continues(target) && game.len() > target.len();
        if game.len() > reached && self.claims.target().is_some_and(goes_beyond) {
            self.held.made_by_hand();
        }
        let game = self.held.game();
        let news: Vec<_> = game.uci_moves().enumerate().skip(before).collect();
        for (index, uci) in news {
            let by = if index < shown {
                By::Target
            } else {
                By::HandUnseen
            };
            self.event(Event::Moved {
                uci,
                ply: index + 1,
                by,
                took: None,
            });
        }
        let game = self.held.game().clone();
        self.claims.rebase(&game);
    }

    /// Whether nothing is known of the game on a board that reports moves only: it was told of no new game, and the player has
    /// confirmed no position.
    pub(super) fn is_blank(&self) -> bool {
        self.driver.profile().tells_moves_only() && !self.held.is_known()
    }
}
