//! The player's actions on the pieces, one at a time.

use super::*;

impl World {
    pub fn lifts(&mut self, square: Square) {
        self.hand(Hand::Lift(square));
        self.pass(Duration::from_millis(700));
    }

    pub fn puts(&mut self, square: Square, piece: Piece) {
        self.hand(Hand::Put(square, piece));
        self.pass(Duration::from_millis(700));
    }

    pub fn carries(&mut self, from: Square, to: Square) {
        let piece = self.pieces().piece_at(from);
        let piece = piece.unwrap_or_else(|| panic!("{from} to {to}: {}", self.story()));
        self.lifts(from);
        self.puts(to, piece);
    }

    pub fn told(&self) -> Vec<Action> {
        self.snapshot().guidance.to_vec()
    }

    pub fn told_words(&self) -> String {
        in_words(&self.snapshot().guidance)
    }

    /// Does the first action asked for, and nothing else. `hands` are the pieces beside the board.
    pub fn does_first(&mut self, hands: &mut Vec<Piece>, case: &str) {
        let action = self.told()[0];
        let piece = match action.from {
            Some(from) => {
                let piece = self.pieces().piece_at(from);
                let piece = piece.unwrap_or_else(|| panic!("{case}: {action}: {}", self.story()));
                assert!(
                    action.piece.is_none_or(|told| told == piece),
                    "{case}: {action} is a {piece:?}: {}",
                    self.story()
                );
                self.lifts(from);
                piece
            }
            None => {
                let piece = action.piece.unwrap();
                let at = hands.iter().position(|other| *other == piece);
                hands.remove(
                    at.unwrap_or_else(|| panic!("{case}: {action}: {hands:?} {}", self.story())),
                )
            }
        };
        match action.to {
            Some(to) => self.puts(to, piece),
            None => hands.push(piece),
        }
    }

    /// Obeys the list to its end: each action done leaves the rest of it, and at its end the placement is right.
    pub fn obeys_to_the_end(
        &mut self,
        hands: &mut Vec<Piece>,
        rng: &mut fastrand::Rng,
        case: &str,
    ) {
        let mut told = self.told();
        while !told.is_empty() {
            let before = in_words(&told);
            self.does_first(hands, case);
            let rest = &told[1..];
            let now = self.told();
            let undone = now.iter().any(|action| {
                action.piece == told[0].piece && action.from.is_some() && action.from == told[0].to
            });
            assert!(
                now.len() == rest.len() && !undone,
                "{case}: told {before}; after the first of it, {}: {}",
                in_words(&now),
                self.story()
            );
            // A hand that looks up, or does not.
            self.pass(Duration::from_secs(if rng.bool() { 12 } else { 1 }));
            told = self.told();
            assert_eq!(in_words(&told), in_words(&now), "{case}");
        }
        let held = self.snapshot().game.position().board().clone();
        assert_eq!(*self.pieces(), held, "{case}: {}", self.story());
    }
}
