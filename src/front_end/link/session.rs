//! The game between two boards, without I/O: snapshots of both and time go in, commands and notices for both come out.
//!
//! There is one game, and only one hand is to move. Its move is stated as the target of the other board. Whatever else happens to
//! a board (it leaves, comes back, was switched off, has misplaced pieces), its own core puts right. So nothing that happens to
//! one board blocks the other, and boards that differ are led together by the same rule.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, Color, Move};

use super::{
    notice::Notice,
    side::{End, EndMemory, Matter, Player, Presently, Side},
};
use crate::{
    bus::pairings::{self, Pairing, Saying},
    chess::game::Game,
    front_end::seat::{Seat, left_by_hand},
    vocabulary::{
        Advice, ClientId, ClientName, ClientPlace, GameEnd, Occasion, Opponent, Snapshot,
    },
};

/// How long the other board has to ask for a new game too, in the middle of a game: time to set up 32 pieces.
pub const WISH_WAIT: Duration = Duration::from_mins(1);
/// The pause before the next game, if no hand can ask for it.
pub const NEXT_WAIT: Duration = Duration::from_secs(10);
/// In a game of fewer plies, pieces that are put to the start ask for no new game: the second player may still be setting up
/// this one.
const BEGUN: usize = 2;

/// A request for a new game on one board in the middle of a game.
#[derive(Clone, Copy, Debug)]
struct Wish {
    side: Side,
    until: Instant,
}

/// The state that a link needs after a restart. Take-backs and their waits are not in it: they follow from the hand's
/// moves, which the boards save.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedLink {
    white: Side,
    game: Game,
    over: Option<GameEnd>,
    /// The board on which the hand wishes a new game.
    wish: Option<Side>,
    ends: [EndMemory; 2],
}

impl SavedLink {
    /// The side that plays White.
    pub fn white(&self) -> Side {
        self.white
    }

    /// The link's numbers as a client of each board.
    pub fn clients(&self) -> [ClientId; 2] {
        self.ends.each_ref().map(|end| end.seat.client)
    }
}

/// The game. See the module documentation.
#[derive(Debug)]
pub struct LinkedGame {
    ends: [End; 2],
    white: Side,
    game: Game,
    over: Option<GameEnd>,
    wish: Option<Wish>,
    /// When the next game begins by itself.
    next_at: Option<Instant>,
    notices: VecDeque<(Side, Notice)>,
}

impl LinkedGame {
    /// A link at the start of its first game; `white` plays White in every game.
    pub fn new(now: Instant, players: [Player; 2], white: Side, boards: [&Snapshot; 2]) -> Self {
        let [here, there] = players;
        let mut session = Self {
            ends: [
                End::new(now, here, boards[0]),
                End::new(now, there, boards[1]),
            ],
            white,
            game: Game::standard(),
            over: None,
            wish: None,
            next_at: None,
            notices: VecDeque::new(),
        };
        session.begin(Game::standard());
        session
    }

    /// A link that goes on after a restart, with its boards as they were restored. The players are not told.
    pub fn restored(
        now: Instant,
        memory: SavedLink,
        players: [Player; 2],
        boards: [&Snapshot; 2],
    ) -> Self {
        let [first, second] = memory.ends;
        let [here, there] = players;
        let mut session = Self {
            ends: [
                End::restored(now, here, first, boards[0]),
                End::restored(now, there, second, boards[1]),
            ],
            white: memory.white,
            game: memory.game,
            over: memory.over,
            wish: memory.wish.map(|side| Wish {
                side,
                until: now + WISH_WAIT,
            }),
            next_at: None,
            notices: VecDeque::new(),
        };
        for side in Side::BOTH {
            session.resume(side, boards[side.index()]);
        }
        session.next_at = session.over.and(session.next_game_at(now));
        session
    }

    /// The state that it needs after a restart.
    pub fn memory(&self) -> SavedLink {
        SavedLink {
            white: self.white,
            game: self.game.clone(),
            over: self.over,
            wish: self.wish.map(|wish| wish.side),
            ends: self.ends.each_ref().map(End::memory),
        }
    }

    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// How it ended.
    pub fn over(&self) -> Option<GameEnd> {
        self.over
    }

    /// Who plays whom at a board.
    pub fn pairing(&self, side: Side) -> Pairing {
        let hand = self.color(side);
        let other = pairings::Player {
            name: format!("Hand on {}", self.name(side.other())),
            ..pairings::Player::default()
        };
        let players = ByColor::new_with(|color| (color != hand).then(|| other.clone()));
        let is_away = self.over.is_none() && self.ends[side.other().index()].presence.is_away();
        Pairing {
            client: Some(self.ends[side.index()].seat.label().clone()),
            over: self.over.map(|_| self.game.clone()),
            players,
            hand: Some(hand),
            notice: is_away.then(|| Notice::Away(self.name(side.other())).to_string()),
            can: self.can(),
            ..Pairing::default()
        }
    }

    /// What a player can say, other than with the pieces.
    fn can(&self) -> Vec<Saying> {
        match self.over {
            Some(_) => vec![Saying::NewGame],
            None if self.game.is_empty() => Vec::new(),
            None => vec![Saying::Resign],
        }
    }

    /// A player says this.
    ///
    /// # Errors
    /// Why that is impossible now, and what to do.
    pub fn said(&mut self, now: Instant, side: Side, saying: Saying) -> Result<(), String> {
        match saying {
            Saying::Resign if self.can().contains(&Saying::Resign) => {
                self.finish(now, GameEnd::resigned(self.color(side)));
                Ok(())
            }
            Saying::NewGame if self.over.is_some() => {
                self.begin(Game::standard());
                Ok(())
            }
            Saying::NewGame => {
                Err("a game is in progress: both players put the pieces on their starting squares, or one resigns".to_owned())
            }
            _ if self.over.is_some() || self.game.is_empty() => {
                Err("no game in progress: make the first move, or press 'new game'".to_owned())
            }
            _ => {
                Err("two linked boards are played with the pieces: take moves back there, agree on a draw with one king on a light and one on a dark square of the centre, or resign".to_owned())
            }
        }
    }

    /// The link's seats at the boards.
    pub fn seats(&mut self) -> [&mut Seat; 2] {
        self.ends.each_mut().map(|end| &mut end.seat)
    }

    /// The next notice for the player at a board.
    pub fn poll_notice(&mut self) -> Option<(Side, Notice)> {
        self.notices.pop_front()
    }

    /// When to call [`Self::timeout`] next.
    pub fn deadline(&self) -> Option<Instant> {
        let ends = self.ends.iter().filter_map(End::deadline);
        let wish = self.wish.map(|wish| wish.until);
        ends.chain(wish).chain(self.next_at).min()
    }

    /// The time returned by [`Self::deadline`] has come.
    pub fn timeout(&mut self, now: Instant) {
        for side in Side::BOTH {
            if let Some(left) = self.end(side).seat.take_back_due(now) {
                self.follow_take_back(side, left);
            }
            self.make_way(now, side);
        }
        if let Some(wish) = self.wish
            && wish.until <= now
        {
            self.drop_wish();
            self.state(wish.side);
        }
        if self.next_at.take_if(|at| *at <= now).is_some() {
            self.begin(Game::standard());
        }
    }

    /// A board has a new snapshot.
    pub fn snapshot(&mut self, now: Instant, side: Side, snapshot: &Snapshot) {
        self.presence(now, side, snapshot);
        let was_at_start = self.end(side).is_at_start();
        let put_to_start = self.end(side).put_to_start(snapshot);
        if self.over.is_some() {
            // They may have been put there while the link was lost, or the daemon stopped.
            let at_start = put_to_start || (self.end(side).is_at_start() && !was_at_start);
            let ours = self
                .end(side)
                .seat
                .place(snapshot)
                .is_some_and(|p| p.joined);
            if at_start && (ours || snapshot.holders.is_empty()) {
                self.begin(snapshot.game.truncated(0));
            } else {
                // The board may have turned out to be one that cannot report this.
                self.next_at = self.next_at.or_else(|| self.next_game_at(now));
            }
            return;
        }
        if self.wish.is_some_and(|wish| wish.side == side)
            && self.end(side).has_left_start(snapshot)
        {
            self.drop_wish();
            self.state(side);
            return;
        }
        let end = self.end(side);
        let Some(place) = end.seat.look(snapshot) else {
            // The hand did it in the game as stated before: what that means follows once the board knows this one.
            let ours = end.seat.known(snapshot).is_some_and(|p| p.joined);
            if put_to_start && ours {
                end.heed_later();
            }
            return;
        };
        if !place.joined {
            self.waits(now, side, snapshot);
            return;
        }
        end.is_news(Matter::Occupied, false);
        if let Some(ending) = self.ends[side.index()].ending(snapshot, &self.game) {
            self.finish(now, ending);
            return;
        }
        self.illegal(side, snapshot);
        if put_to_start {
            let start = snapshot.game.truncated(0);
            if self.game.len() >= BEGUN {
                self.wishes(now, side);
            } else if start != self.game.truncated(0) {
                self.begin(start);
            } else {
                // Its core has dropped the game.
                self.state(side);
            }
            return;
        }
        self.take_back(now, side, snapshot);
        self.answer(now, side, place);
    }

    fn end(&mut self, side: Side) -> &mut End {
        &mut self.ends[side.index()]
    }

    fn name(&self, side: Side) -> std::sync::Arc<str> {
        self.ends[side.index()].name.clone()
    }

    fn tell(&mut self, side: Side, notice: Notice) {
        self.notices.push_back((side, notice));
    }

    fn color(&self, side: Side) -> Color {
        Color::from_white(side == self.white)
    }

    fn is_to_move(&self, side: Side) -> bool {
        self.over.is_none() && self.color(side) == self.game.turn()
    }

    /// States the game to a board.
    fn state(&mut self, side: Side) {
        let occasion = Occasion {
            takes_back: true,
            opponent: Opponent::WhitePawn,
            hand_next: self.color(side) == self.game.turn(),
        };
        let awaits = self.is_to_move(side);
        let yields = self.ends[side.other().index()].presence.has_yielded();
        let game = &self.game;
        self.ends[side.index()].state(game, occasion, awaits, yields);
    }

    /// Tells a board after a restart what it may have missed.
    fn resume(&mut self, side: Side, board: &Snapshot) {
        let seat = &self.end(side).seat;
        let (known, knows_game) = (seat.known(board), seat.knows_game(board));
        if let Some(ending) = self.over {
            // A board that no longer knows the game has shown its end, and may be in another one.
            if known.is_some() {
                self.state(side);
                self.end(side).seat.end(ending);
            }
            return;
        }
        if self.game.is_empty() && !knows_game {
            self.end(side).begin();
        }
        if self.wish.is_some_and(|wish| wish.side == side) {
            self.end(side).seat.announce();
        } else {
            self.state(side);
        }
        let yields = self.ends[side.other().index()].presence.has_yielded();
        self.end(side).seat.is_away(yields);
    }

    fn begin(&mut self, start: Game) {
        self.game = start;
        self.over = None;
        self.wish = None;
        self.next_at = None;
        for side in Side::BOTH {
            self.end(side).begin();
            self.state(side);
            let notice = Notice::NewGame {
                color: self.color(side),
                other: self.name(side.other()),
            };
            self.tell(side, notice);
        }
    }

    fn finish(&mut self, now: Instant, ending: GameEnd) {
        self.over = Some(ending);
        self.wish = None;
        for side in Side::BOTH {
            self.end(side).seat.end(ending);
            self.tell(side, Notice::Over(ending));
        }
        self.next_at = self.next_game_at(now);
    }

    /// When the game after one that is over begins by itself.
    fn next_game_at(&self, now: Instant) -> Option<Instant> {
        // Pieces that already stand at the start cannot be put there again.
        let nobody_tells = self.ends.iter().all(|end| !end.tells_all);
        (nobody_tells || self.game.is_empty()).then(|| now + NEXT_WAIT)
    }

    fn presence(&mut self, now: Instant, side: Side, snapshot: &Snapshot) {
        let name = self.name(side);
        match self.end(side).seen(now, snapshot) {
            Some(Presently::Left) => self.tell(side.other(), Notice::Away(name)),
            Some(Presently::Back) => self.tell(side.other(), Notice::Back(name)),
            None => {}
        }
        self.make_way(now, side);
    }

    /// While one board is away, other clients may have the other.
    fn make_way(&mut self, now: Instant, side: Side) {
        if let Some(on) = self.end(side).presence.yields(now) {
            self.end(side.other()).seat.is_away(on);
        }
    }

    /// Other clients have the board.
    fn waits(&mut self, now: Instant, side: Side, snapshot: &Snapshot) {
        if snapshot.holders.is_empty() {
            // Put out, it gets the board back at once.
            if self.end(side).seat.restates(now) {
                self.state(side);
            }
            return;
        }
        if !self.end(side).is_news(Matter::Occupied, true) {
            return;
        }
        let notice = Notice::Occupied {
            board: self.name(side),
            holders: ClientName::join(&snapshot.holders, " and "),
        };
        for to in Side::BOTH {
            self.tell(to, notice.clone());
        }
    }

    /// Tells the other player of an unplayable move that a board has reported: a board that speaks SWPP, and may hold a
    /// different game.
    fn illegal(&mut self, side: Side, snapshot: &Snapshot) {
        let made = match &snapshot.advice {
            Advice::Mistake { made, .. } if !snapshot.tells_all => Some(*made),
            _ => None,
        };
        let news = self.end(side).is_news(Matter::Illegal, made.is_some());
        if let Some(made) = made.filter(|_| news) {
            let other = self.name(side);
            self.tell(side.other(), Notice::Illegal { made, other });
        }
    }

    /// The hand has put all pieces at the start in the middle of a game.
    fn wishes(&mut self, now: Instant, side: Side) {
        let other = side.other();
        if !self.end(other).tells_all {
            let notice = Notice::NoNewGame(self.name(other));
            self.tell(side, notice);
            self.state(side);
            return;
        }
        if self.wish.is_some_and(|wish| wish.side == other) {
            let starts = Side::BOTH.map(|side| self.end(side).start().clone());
            let set_up = starts.into_iter().find(|start| !start.is_standard());
            self.begin(set_up.unwrap_or_default());
            return;
        }
        let until = now + WISH_WAIT;
        let wished = self.wish.replace(Wish { side, until }).is_some();
        if wished {
            return;
        }
        // The board is not led back meanwhile.
        self.end(side).seat.announce();
        let here = Notice::WantsNewGame {
            other: self.name(other),
        };
        let there = Notice::NewGameWanted {
            other: self.name(side),
        };
        self.tell(side, here);
        self.tell(other, there);
    }

    /// The game continues; the board that asked for a new one must be led back.
    fn drop_wish(&mut self) {
        if self.wish.take().is_some() {
            for side in Side::BOTH {
                self.tell(side, Notice::GoesOn);
            }
        }
    }

    /// Handles what the hand may have taken back.
    fn take_back(&mut self, now: Instant, side: Side, snapshot: &Snapshot) {
        let left = left_by_hand(snapshot, &self.game);
        let deaf = self.ends.iter().find(|end| !end.tells_all);
        let deaf = deaf.map(|end| end.name.clone());
        // At half the wait: the take-back counts before the board is led back.
        let wait = snapshot.correction_wait / 2;
        let end = self.end(side);
        end.seat
            .note_take_back(now, left.filter(|_| deaf.is_none()), snapshot, wait);
        let news = end.is_news(Matter::NoTakeBack, left.is_some() && deaf.is_some());
        if let Some(deaf) = deaf.filter(|_| news) {
            self.tell(side, Notice::NoTakeBack(deaf));
        }
    }

    fn follow_take_back(&mut self, side: Side, left: usize) {
        let plies = self.game.len().saturating_sub(left);
        self.game = self.game.truncated(left);
        self.drop_wish();
        let board = self.name(side);
        for side in Side::BOTH {
            self.state(side);
            let board = board.clone();
            self.tell(side, Notice::TookBack { plies, board });
        }
    }

    /// Handles what the hand has played.
    fn answer(&mut self, now: Instant, side: Side, place: &ClientPlace) {
        let Some(m) = self.end(side).seat.answer(place) else {
            return;
        };
        if self.is_to_move(side) {
            self.moved(now, side, m);
        } else {
            self.end(side).seat.refuse();
            let notice = Notice::out_of_turn(m, self.name(side.other()));
            self.tell(side, notice);
        }
    }

    fn moved(&mut self, now: Instant, side: Side, m: Move) {
        if !self.game.push(m) {
            self.end(side).seat.refuse();
            self.tell(side, Notice::TooLong);
            return;
        }
        self.end(side).seat.answered(m);
        self.drop_wish();
        let ending = GameEnd::by_rules(&self.game);
        // Set before the game is stated, so that no hand is awaited.
        self.over = ending;
        for side in Side::BOTH {
            self.state(side);
        }
        if self.end(side.other()).presence.tell_away() {
            let notice = Notice::MoveWaits(self.name(side.other()));
            self.tell(side, notice);
        }
        if let Some(ending) = ending {
            self.finish(now, ending);
        }
    }
}
