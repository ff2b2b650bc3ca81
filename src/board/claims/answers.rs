//! Who knows which of the hand's moves, and whose answer a move is.
//!
//! What the hand has made is known by the board's game ([`Held::by_hand_from`]). Which of it is news, and to whom, is kept here,
//! and changed only here. A client learns of moves by stating a game that has them, by being told them, or by giving up its claim
//! to them; what the hand takes back is forgotten by all.

use serde::{Deserialize, Serialize};
use shakmaty::{Move, uci::UciMove};

use super::{Claim, Claims, Presence, Wish};
use crate::{
    board::held_game::Held,
    chess::game::{Game, MAX_PLIES, uci},
    state::Text,
    vocabulary::{ClientId, Opponent},
};

/// Moves of the hand that may already stand on the board when a program comes and still answer it: the hand was quick,
/// or played while the daemon was away.
pub const MOVES_BEFORE: usize = 1;

/// What one client knows of the moves on the board, and has of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Answer {
    /// It knows so many plies, or has given up its claim to them.
    knows: usize,
    /// It has come to a game that it did not play on, and what the board held then has not been checked yet.
    comes: bool,
    /// What the hand has made: the client may still await `stop`, but nothing can disturb the answer any more.
    made: Option<Text<UciMove>>,
    /// It was given what the hand has made, and has not said that it took it.
    #[serde(skip)]
    given: bool,
}

impl Answer {
    /// A client states a game; `known` plies are known to front-ends.
    pub fn states(&mut self, known: usize, comes: bool) {
        self.knows = known;
        self.comes |= comes;
    }

    /// Whether it was given one that it has not taken yet.
    pub fn is_given(&self) -> bool {
        self.given
    }

    /// Whether the hand has made one.
    pub fn is_made(&self) -> bool {
        self.made.is_some()
    }
}

impl Claim {
    /// Whether the hand has made what the board holds after its game, and it is news to this client.
    pub(super) fn is_news(&self, held: &Held) -> bool {
        let plies = self.game.len();
        let made = held.game().moves().get(plies).map(|m| Text(uci(*m)));
        // The program may have gone on from there.
        let by_hand = held.by_hand_from() <= plies || made.is_some() && made == self.answer.made;
        by_hand && self.answer.knows <= plies
    }

    /// What the hand has played in the last position of its game, if this game is on the board.
    pub fn answer<'a>(&self, held: &'a Held) -> &'a [Move] {
        let news = self.answer.given || !self.answer.comes && self.is_news(held);
        if self.is_joined() && news && held.game().continues(&self.game) {
            &held.game().moves()[self.game.len()..]
        } else {
            &[]
        }
    }

    /// Whether the hand plays both colours of its game, and it states the very position after which no client knew the
    /// hand's moves. An earlier or later one of a game that nobody plays is a position like any other.
    fn is_where_clients_left(&self, held: &Held) -> bool {
        let news_from = self.answer.knows.max(held.by_hand_from());
        self.occasion.opponent == Opponent::Nobody && news_from == self.game.len()
    }

    /// What it was given is still to be given. `false` if it was given nothing, or has taken it.
    pub(super) fn withdraw(&mut self) -> bool {
        let given = std::mem::take(&mut self.answer.given);
        if given {
            self.wish = Wish::Move;
            self.answer.knows = self.game.len();
        }
        given
    }
}

impl Claims {
    /// Front-ends know so many plies of the game on the board.
    pub fn known(&self) -> usize {
        self.known
    }

    /// Front-ends know these plies of the game on the board.
    pub fn know(&mut self, plies: usize) {
        self.known = self.known.max(plies);
    }

    /// The board turned out to hold other moves from here on.
    pub fn unknown_from(&mut self, plies: usize) {
        self.known = self.known.min(plies);
    }

    /// Gives the hand's move to each client that awaits it and can take it now. `None` if there is none, and otherwise
    /// whether the target goes on by it.
    pub fn give(&mut self, held: &Held) -> Option<bool> {
        let mut goes_on = None;
        for claim in &mut self.all {
            let takes = claim.wish == Wish::Move && claim.presence == Presence::Here;
            let Some(&m) = claim.answer(held).first().filter(|_| takes) else {
                continue;
            };
            claim.stirs();
            claim.answer.given = true;
            claim.wish = Wish::Nothing;
            // A move it was told is not its answer again.
            claim.answer.knows = usize::MAX;
            let extended = self.target.as_mut().filter(|target| **target == claim.game);
            let extended = extended.is_some_and(|target| target.push(m));
            goes_on = Some(goes_on.unwrap_or(false) || extended);
        }
        goes_on
    }

    /// A client has taken this move, which it was given. `false` if it was given nothing, or the hand has made another move
    /// since.
    pub fn take(&mut self, client: ClientId, number: u64, answer: UciMove, held: &Held) -> bool {
        let claim = self.get(client).filter(|claim| claim.number == number);
        claim.is_some_and(|claim| {
            let given = claim.answer(held).first().copied();
            given.is_some_and(|m| uci(m) == answer) && std::mem::take(&mut claim.answer.given)
        })
    }

    /// What a client was given and has not taken is still to be given: the plies of its game are returned.
    pub fn withdraw(&mut self, client: ClientId) -> Option<usize> {
        let claim = self.get(client).filter(|claim| claim.answer.given)?;
        claim.withdraw();
        let game = claim.game.clone();
        self.known = self.known.min(game.len());
        let target = self.target.as_mut();
        if let Some(target) = target.filter(|target| is_next(target, &game)) {
            // Another client's game may go on from there.
            let needs = |other: &Claim| {
                let is_given = other.answer.given && other.game == game;
                other.is_joined() && (is_given || other.game.continues(target))
            };
            if !self.all.iter().any(needs) {
                target.pop();
            }
        }
        Some(game.len())
    }

    /// A client was told the answer to its target, which extends its game. `true` if the target changed.
    pub fn answered(&mut self, client: ClientId, number: u64, answer: Move) -> bool {
        let target = self.target.clone();
        let Some(claim) = self.get(client).filter(|claim| claim.number == number) else {
            return false;
        };
        claim.stirs();
        claim.wish = Wish::Nothing;
        let mut on = claim.game.clone();
        // A move it was told is not its answer again.
        claim.answer.knows = usize::MAX;
        if !claim.is_joined() || !on.push(answer) || target.as_ref() != Some(&claim.game) {
            return false;
        }
        self.target = Some(on);
        true
    }

    /// This client cannot take the hand's answer: none of the board's plies answers any client. `false` if it does not have
    /// the board, or turned to another game.
    pub fn refuse(&mut self, client: ClientId, number: u64, plies: usize) -> bool {
        let refuses = |claim: &Claim| claim.client == client && claim.number == number;
        let holds = self.holders().any(refuses);
        if holds {
            self.give_up(plies);
        }
        holds
    }

    /// None of the plies on the board now is an answer to any client. `true` if something was withdrawn.
    fn give_up(&mut self, plies: usize) -> bool {
        let withdrawn = self.withdraw_all(|_| true);
        self.know(plies);
        for claim in &mut self.all {
            claim.answer.knows = usize::MAX;
        }
        withdrawn
    }

    /// A new game begins: what stands on the board answers nobody, and what is played from now on every client that awaits it
    /// there. `true` if the target changed.
    pub fn begin_anew(&mut self, plies: usize) -> bool {
        let withdrawn = self.give_up(plies);
        self.taken_back_to(plies) || withdrawn
    }

    /// Withdraws what was given to these and not taken. `true` if that is anything.
    fn withdraw_all(&mut self, which: impl Fn(&Claim) -> bool) -> bool {
        let given = |claim: &&Claim| claim.answer.given && which(claim);
        let given: Vec<ClientId> = (self.all.iter().filter(given))
            .map(|claim| claim.client)
            .collect();
        for client in &given {
            self.withdraw(*client);
        }
        !given.is_empty()
    }

    /// What the board holds is known, and `is_found` says which moves were on it when it was first asked. The rule for what
    /// the hand may have played before a program came:
    ///
    /// If a client joins a game instead of continuing its own, one further move on the board is its answer; if there
    /// are more, none is: then the board holds a different game that began the same way. In a game without a move, that
    /// move must have been seen being made. In a game with moves that the hand plays for both colours, all its later
    /// moves count if the client states the last position that clients knew: that is its own game, gone on meanwhile. A
    /// board that is disconnected or has not reported its game is checked once it has.
    ///
    /// While the board is led elsewhere (`on_the_way`) the client is checked again: a take-back may expose an earlier
    /// move that must not count.
    pub fn meet(&mut self, held: &Held, on_the_way: bool) {
        let held_plies = held.game().len();
        for claim in &mut self.all {
            if claim.is_joined() && claim.answer.comes {
                claim.answer.comes = on_the_way;
                let plies = claim.game.len();
                let may_be = match plies {
                    0 if held.is_found(plies) => 0,
                    1.. if claim.is_where_clients_left(held) => MAX_PLIES,
                    _ => MOVES_BEFORE,
                };
                if held_plies > plies + may_be && held.game().continues(&claim.game) {
                    claim.answer.comes = false;
                    claim.answer.knows = held_plies;
                    self.known = self.known.max(held_plies);
                }
            }
        }
    }

    /// The board holds so many plies now: what comes after them will be new to every client. What was given to one that has
    /// not taken it yet, and is taken back, is not its answer. `true` if the target changed by that.
    pub fn taken_back_to(&mut self, plies: usize) -> bool {
        let changed = self.withdraw_all(|claim| claim.game.len() >= plies);
        self.known = self.known.min(plies);
        for claim in &mut self.all {
            claim.answer.knows = claim.answer.knows.min(plies);
        }
        changed
    }

    /// Records the hand's answer to each client.
    pub fn note_answers(&mut self, answer: impl Fn(&Claim) -> Option<Move>) {
        for claim in &mut self.all {
            let answer = answer(claim).map(|m| Text(uci(m)));
            if claim.answer.made != answer {
                claim.answer.made = answer;
                claim.stirs();
            }
        }
    }
}

/// Whether a game is this one with one move more.
pub(super) fn is_next(game: &Game, before: &Game) -> bool {
    game.len() == before.len() + 1 && game.continues(before)
}
