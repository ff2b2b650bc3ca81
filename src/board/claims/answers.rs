//! Which client knows which of the hand's moves, and which client a move answers.
//!
//! The held game knows which moves the hand made ([`Held::by_hand_from`]). Which of them are news, and to which client, is kept
//! and changed only here. A client learns of moves by stating a game that has them, by being told them, or by giving up its
//! claim to them; a move that the hand takes back is forgotten for all clients.

use serde::{Deserialize, Serialize};
use shakmaty::{Move, uci::UciMove};

use super::{Claim, Claims, Presence, Wish};
use crate::{
    board::held_game::Held,
    chess::game::{Game, MAX_PLIES, uci},
    state::Text,
    vocabulary::{ClientId, Opponent},
};

/// Moves of the hand that may be on the board before a program comes and still answer it: the hand was quick, or played while
/// the daemon was away.
pub const MOVES_BEFORE: usize = 1;

/// What one client knows of the moves on the board, and what it was given.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Answer {
    /// The client knows this many plies, or has given up its claim to them.
    knows: usize,
    /// It joined a game instead of continuing its own, and what the board held then is still to be checked.
    comes: bool,
    /// The hand's answer. The client may still have to send `stop`, but nothing can change the answer any more.
    made: Option<Text<UciMove>>,
    /// It was given the hand's answer, and has not confirmed that it took it.
    #[serde(skip)]
    given: bool,
}

impl Answer {
    /// A client states a game; `known` plies are known to front-ends.
    pub fn states(&mut self, known: usize, comes: bool) {
        self.knows = known;
        self.comes |= comes;
    }

    /// Whether the client was given an answer that it has not taken yet.
    pub fn is_given(&self) -> bool {
        self.given
    }

    /// Whether the hand has made an answer.
    pub fn is_made(&self) -> bool {
        self.made.is_some()
    }
}

impl Claim {
    /// Whether the moves on the board after this client's game were made by the hand and are news to the client.
    pub(super) fn is_news(&self, held: &Held) -> bool {
        let plies = self.game.len();
        let made = held.game().moves().get(plies).map(|m| Text(uci(*m)));
        // The program may have gone on from there.
        let by_hand = held.by_hand_from() <= plies || made.is_some() && made == self.answer.made;
        by_hand && self.answer.knows <= plies
    }

    /// What the hand has played in the last position of the client's game, if that game is on the board.
    pub fn answer<'a>(&self, held: &'a Held) -> &'a [Move] {
        let news = self.answer.given || !self.answer.comes && self.is_news(held);
        if self.is_joined() && news && held.game().continues(&self.game) {
            &held.game().moves()[self.game.len()..]
        } else {
            &[]
        }
    }

    /// Whether the hand plays both colours, and the client states exactly the position from which on no client knew the hand's
    /// moves. Any other position of that game is treated like one of any game.
    fn is_where_clients_left(&self, held: &Held) -> bool {
        let news_from = self.answer.knows.max(held.by_hand_from());
        self.occasion.opponent == Opponent::Nobody && news_from == self.game.len()
    }

    /// Marks an answer that was not taken as not given. `false` if there was none.
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
    /// How many plies of the game on the board front-ends know.
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

    /// Gives the hand's move to each client that awaits it and can take it now. `None` if no client was given one, otherwise
    /// whether the move extends the target.
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

    /// A client has taken the move it was given. `false` if it was given none, or the hand has made another move since.
    pub fn take(&mut self, client: ClientId, number: u64, answer: UciMove, held: &Held) -> bool {
        let claim = self.get(client).filter(|claim| claim.number == number);
        claim.is_some_and(|claim| {
            let given = claim.answer(held).first().copied();
            given.is_some_and(|m| uci(m) == answer) && std::mem::take(&mut claim.answer.given)
        })
    }

    /// Withdraws an answer that a client was given and has not taken. Returns the number of plies of its game.
    pub fn withdraw(&mut self, client: ClientId) -> Option<usize> {
        let claim = self.get(client).filter(|claim| claim.answer.given)?;
        claim.withdraw();
        let game = claim.game.clone();
        self.known = self.known.min(game.len());
        let is_led = self.is_led_by_another(&game);
        let target = self.target.as_mut().filter(|_| !is_led);
        if let Some(target) = target.filter(|target| is_next(target, &game)) {
            target.pop();
        }
        Some(game.len())
    }

    /// Whether the target, which an answer to this game has led on, is another client's too: it was given the same, or goes on
    /// from there.
    pub(super) fn is_led_by_another(&self, game: &Game) -> bool {
        self.holders().any(|claim| {
            let is_given = claim.answer.given && claim.game == *game;
            let goes_on = |target: &Game| claim.game.continues(target);
            is_given || self.target.as_ref().is_some_and(goes_on)
        })
    }

    /// A client was told the answer to its game. `true` if the target changed: the answer extends it.
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

    /// This client cannot take the hand's answer: none of the moves on the board answers any client now. `false` if the client
    /// does not have the board, or has stated another game.
    pub fn refuse(&mut self, client: ClientId, number: u64, plies: usize) -> bool {
        let refuses = |claim: &Claim| claim.client == client && claim.number == number;
        let holds = self.holders().any(refuses);
        if holds {
            self.give_up(plies);
        }
        holds
    }

    /// No move on the board now is an answer to any client. `true` if an answer was withdrawn.
    fn give_up(&mut self, plies: usize) -> bool {
        let withdrawn = self.withdraw_all(|_| true);
        self.know(plies);
        for claim in &mut self.all {
            claim.answer.knows = usize::MAX;
        }
        withdrawn
    }

    /// A new game begins: no move on the board answers a client, and any move made from now on answers every client that awaits
    /// one. `true` if an answer was withdrawn.
    pub fn begin_anew(&mut self, plies: usize) -> bool {
        let withdrawn = self.give_up(plies);
        self.taken_back_to(plies) || withdrawn
    }

    /// Withdraws the answers that these clients have not taken. `true` if there were any.
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

    /// Applies the rule for moves that the hand made before a client came. Call it once the board's game is known;
    /// [`Held::is_found`] says which moves were already there when the board was first asked.
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

    /// The board holds this many plies now: later ones will be new to every client. Withdraws answers that were taken back
    /// before their client took them. `true` if any was.
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

/// Whether `game` is `before` with one more move.
pub(super) fn is_next(game: &Game, before: &Game) -> bool {
    game.len() == before.len() + 1 && game.continues(before)
}
