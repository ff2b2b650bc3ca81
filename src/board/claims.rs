//! Who has the board.
//!
//! The rule, in order:
//!
//! 1. A free board goes to the first client that states a target.
//! 2. A client that states the game the board is led through, or one that plays it on, joins: one hand plays
//!    both colours. Nobody joins by playing on while another client awaits a move elsewhere.
//! 3. A client that has the board may state any other game (a take-back, a new one) while no other client of
//!    the board awaits a move.
//! 4. Everybody else waits, is told who has the board, and gets it when it is free, first come first served.
//!
//! A client has the board until it leaves, or turns to another board.

use std::sync::Arc;

use super::command::ClientId;
use crate::game::Game;

/// Clients that may follow one board at once; those beyond are told that it is taken. More than the UCI
/// server lets in.
pub const MAX_CLAIMS: usize = 512;

/// One client's claim to the board.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Who.
    pub client: ClientId,
    /// What to call it in messages.
    pub label: Arc<str>,
    /// The client's number for its target.
    pub number: u64,
    /// The game it follows.
    pub game: Game,
    /// Whether it awaits the hand's move.
    pub awaiting: bool,
    /// Whether it has the board; otherwise it waits for it.
    pub joined: bool,
}

/// All claims to one board.
#[derive(Debug, Default)]
pub struct Claims {
    claims: Vec<Claim>,
    /// The game the board is led through.
    target: Option<Game>,
}

impl Claims {
    /// The game the board is to be led to, while somebody has it.
    pub fn target(&self) -> Option<&Game> {
        self.target.as_ref()
    }

    /// Every claim.
    pub fn iter(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter()
    }

    /// The clients that have the board.
    pub fn holders(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().filter(|claim| claim.joined)
    }

    /// Whether a client that has the board awaits a move.
    pub fn awaiting(&self) -> bool {
        self.holders().any(|claim| claim.awaiting)
    }

    /// Whether this client may change the course of the game: it has the board, or the board is free, and no
    /// other holder awaits a move.
    pub fn may_lead(&self, client: ClientId) -> bool {
        let free = self.holders().next().is_none();
        let mine = self.holders().any(|claim| claim.client == client);
        (free || mine) && !self.other_awaits(client)
    }

    fn other_awaits(&self, client: ClientId) -> bool {
        self.holders()
            .any(|claim| claim.client != client && claim.awaiting)
    }

    fn get(&mut self, client: ClientId) -> Option<&mut Claim> {
        self.claims.iter_mut().find(|claim| claim.client == client)
    }

    /// A client states its target. `true` if the board's target changed.
    pub fn state(&mut self, client: ClientId, label: Arc<str>, number: u64, game: Game) -> bool {
        if let Some(claim) = self.get(client) {
            claim.number = number;
            claim.game = game;
            claim.awaiting = false;
        } else if self.claims.len() < MAX_CLAIMS {
            self.claims.push(Claim {
                client,
                label,
                number,
                game,
                awaiting: false,
                joined: false,
            });
        } else {
            return false;
        }
        self.admit(client)
    }

    /// Applies the rule to one client's claim. `true` if the board's target changed.
    fn admit(&mut self, client: ClientId) -> bool {
        let leads = self.may_lead(client);
        let others_await = self.other_awaits(client);
        let target = self.target.clone();
        let Some(claim) = self.get(client) else {
            return false;
        };
        let same = target.as_ref() == Some(&claim.game);
        let plays_on = target
            .as_ref()
            .is_some_and(|target| !target.is_empty() && claim.game.continues(target));
        claim.joined = leads || same || (plays_on && !others_await);
        if claim.joined && !same {
            self.target = Some(claim.game.clone());
            return true;
        }
        false
    }

    /// A client awaits a move, or no longer does.
    pub fn set_awaiting(&mut self, client: ClientId, on: bool) {
        if let Some(claim) = self.get(client) {
            claim.awaiting = on;
        }
    }

    /// A client was told the answer to its target: the game goes on by it. `true` if the target changed.
    pub fn answered(&mut self, client: ClientId, number: u64, answer: shakmaty::Move) -> bool {
        let target = self.target.clone();
        let Some(claim) = self.get(client).filter(|claim| claim.number == number) else {
            return false;
        };
        claim.awaiting = false;
        if !claim.joined || !claim.game.push(answer) {
            return false;
        }
        let on = claim.game.clone();
        if target.is_some_and(|target| on.continues(&target) && on != target) {
            self.target = Some(on);
            return true;
        }
        false
    }

    /// A client leaves. `true` if the board's target changed.
    pub fn release(&mut self, client: ClientId) -> bool {
        let before = self.claims.len();
        self.claims.retain(|claim| claim.client != client);
        before != self.claims.len() && self.admit_waiting()
    }

    /// Lets in those whose time has come. `true` if the board's target changed.
    pub fn admit_waiting(&mut self) -> bool {
        let mut changed = false;
        if self.holders().next().is_none() {
            changed = self.target.take().is_some();
        }
        let waiting: Vec<ClientId> = self
            .claims
            .iter()
            .filter(|claim| !claim.joined)
            .map(|claim| claim.client)
            .collect();
        for client in waiting {
            changed |= self.admit(client);
        }
        changed
    }

    /// Tells the claims in terms of a game now known: see [`Game::rebased`].
    pub fn rebase(&mut self, known: &Game) {
        for claim in &mut self.claims {
            claim.game = claim.game.clone().rebased(known);
        }
        if let Some(target) = self.target.take() {
            self.target = Some(target.rebased(known));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: ClientId = ClientId(1);
    const BLACK: ClientId = ClientId(2);

    fn game(moves: &str) -> Game {
        let mut game = Game::standard();
        game.play_uci(moves.split_whitespace()).unwrap();
        game
    }

    fn state(claims: &mut Claims, client: ClientId, moves: &str) -> bool {
        claims.state(client, "somebody".into(), 1, game(moves))
    }

    fn has(claims: &Claims, client: ClientId) -> bool {
        claims.holders().any(|claim| claim.client == client)
    }

    #[test]
    fn two_clients_of_one_game_share_the_board() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "");
        claims.set_awaiting(WHITE, true);
        let e4 = game("e2e4").last().unwrap();
        assert!(claims.answered(WHITE, 1, e4));
        assert!(!state(&mut claims, BLACK, "e2e4"));
        assert!(has(&claims, BLACK));
        claims.set_awaiting(BLACK, true);
        assert!(!state(&mut claims, WHITE, "d2d4"));
        assert!(!has(&claims, WHITE), "Black awaits a move in another game");
    }

    #[test]
    fn another_game_waits_until_the_board_is_free() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4");
        assert!(!state(&mut claims, BLACK, ""));
        assert!(!has(&claims, BLACK));
        assert_eq!(claims.target(), Some(&game("e2e4")));
        assert!(claims.release(WHITE));
        assert!(has(&claims, BLACK));
        assert_eq!(claims.target(), Some(&game("")));
    }

    #[test]
    fn the_holder_may_take_back_and_begin_anew() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4 e7e5");
        assert!(state(&mut claims, WHITE, ""));
        assert!(state(&mut claims, WHITE, "d2d4"));
        assert!(claims.release(WHITE));
        assert_eq!(claims.target(), None);
    }
}
