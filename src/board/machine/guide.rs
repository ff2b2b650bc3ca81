//! What the hand is to put right, and what the kings in the centre mean.

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Board, Color, Piece, Position, Role};

use super::Machine;
use crate::{
    board::{
        advice::Advice,
        held::Certainty,
        occasion::{GameEnd, Judge},
        snapshot::LinkState,
    },
    bus::Event,
    game::is_chess960_castling,
    guidance::{Action, Picture, guide},
};

/// The squares on which both kings are put at the end of a game, as on other makers' boards.
const CENTRE: Bitboard = Bitboard(0x0000_0018_1800_0000);
/// One king stands in the centre where it cannot have gone: so long for the other one to follow, before that is taken for
/// a mistake.
const KINGS_WAIT: Duration = Duration::from_secs(10);

impl Machine {
    /// Looks at what stands and what should, and tells what has changed about it.
    pub(super) fn mind_guidance(&mut self) {
        let scene = self.scene();
        if scene == self.scene {
            return;
        }
        let mut actions = match &scene {
            Some((stands, wanted)) => guide(stands, wanted),
            None => Vec::new(),
        };
        if let Some(Advice::TakeBack(m)) = &self.following
            && m.is_castle()
            && !is_chess960_castling(*m)
        {
            // Boards that know castling want the king first; neither is in the other's way.
            let is_king = |action: &Action| action.piece.is_some_and(|p| p.role == Role::King);
            actions.sort_by_key(|action| !is_king(action));
        }
        self.scene = scene;
        if *actions != *self.guidance {
            self.guidance = actions.into();
            let actions = self.guidance.clone();
            self.event(Event::Guidance { actions });
        }
    }

    /// Something stands wrong: `true` if it is the kings that stand so, and the game is over by that.
    pub(super) fn ends_by_kings(&mut self, now: Instant) -> bool {
        if let Some((stands, _)) = self.scene()
            && let Some(end) = self.kings_say(&stands)
        {
            self.over(end, Judge::Hand);
            self.driver.game_ended(now, end);
        }
        self.is_over_by_hand()
    }

    /// What stands on the board and what should, where the hand is to put it right.
    fn scene(&self) -> Option<(Picture, Board)> {
        if self.link != LinkState::Up || self.is_over_by_hand() && self.is_off() {
            return None;
        }
        let position = self.held.game().position().board();
        if let Some(misplaced) = &self.misplaced {
            return Some((misplaced.stands.clone(), misplaced.wanted.clone()));
        }
        if self.following.is_some() {
            return self.given_to_hand.clone();
        }
        if let Some(astray) = self.held.astray() {
            let wanted = self.held.nearest(astray);
            return Some((astray.clone().into(), wanted));
        }
        if let Some(stray) = &self.stray {
            return Some((stray.clone().into(), position.clone()));
        }
        let target = self.claims.target()?;
        let stands = || (self.held.certainty() == Certainty::Sure).then(|| position.clone().into());
        if self.by_hand {
            return Some((stands()?, target.position().board().clone()));
        }
        if let Advice::PutBack(m) = self.advice() {
            let mut after = self.held.game().position().clone();
            after.play_unchecked(m);
            return Some((stands()?, after.board().clone()));
        }
        None
    }

    /// Whether the pieces stand otherwise than in the game.
    fn is_off(&self) -> bool {
        self.misplaced.is_some() || self.held.is_astray() || self.stray.is_some()
    }

    /// What stands now, as far as that is known, before the hand is asked for another position.
    pub(super) fn picture(&self) -> Option<Picture> {
        let known = self.held.certainty() == Certainty::Sure;
        let board = self.held.astray().or(self.stray.as_ref());
        let board = board.unwrap_or(self.held.game().position().board());
        known.then(|| board.clone().into())
    }

    /// The game's end by the kings in the centre: on the light squares White has won, on the dark ones Black, on one of
    /// each it is a draw.
    fn kings_say(&self, stands: &Picture) -> Option<GameEnd> {
        if self.following.is_some() || self.claims.target().is_none() {
            return None;
        }
        let game = self.held.game().position().board();
        let king = |color: Color| stands.board.king_of(color);
        let kings: Bitboard = [king(Color::White)?, king(Color::Black)?]
            .into_iter()
            .collect();
        if !kings.is_subset(CENTRE) {
            return None;
        }
        // Whatever stood in the centre may have made room; everything else stands as in the game.
        let apart = CENTRE | game.kings();
        let same = |piece: Option<Piece>| piece.filter(|piece| piece.role != Role::King);
        let others = (!apart)
            .into_iter()
            .all(|square| same(stands.board.piece_at(square)) == same(game.piece_at(square)));
        if !others || stands.unknown.any() {
            return None;
        }
        Some(match (kings & Bitboard::LIGHT_SQUARES).count() {
            2 => GameEnd::BlackResigned,
            0 => GameEnd::WhiteResigned,
            _ => GameEnd::Draw,
        })
    }

    /// How much longer than usual the hand has for what it does: for the second king.
    pub(super) fn patience(&self) -> Duration {
        let stands = self.held.astray().or(self.stray.as_ref());
        let game = self.held.game().position().board();
        let signs = stands.is_some_and(|stands| {
            let moved = stands.kings() & !game.kings() & CENTRE;
            moved.any()
        });
        if signs { KINGS_WAIT } else { Duration::ZERO }
    }

    /// The game is over.
    pub(super) fn over(&mut self, end: GameEnd, by: Judge) {
        if self.ended.is_some_and(|(told, _)| told == end) {
            return;
        }
        self.ended = Some((end, by));
        self.event(Event::Ended { end, by });
    }

    /// Whether the player has ended the game, and nothing is to be put right.
    pub(super) fn is_over_by_hand(&self) -> bool {
        matches!(self.ended, Some((_, Judge::Hand)))
    }

    /// The game on the board has changed: its rules tell whether it is over.
    pub(super) fn judge(&mut self) {
        match GameEnd::by_rules(self.held.game()) {
            Some(end) => self.over(end, Judge::Rules),
            None if self.goes_on => self.ended = None,
            None => {
                self.ended.take_if(|(_, by)| *by != Judge::Program);
            }
        }
        self.goes_on = false;
    }
}
