//! A board that senses which piece stands where.

mod answered;
mod known;
mod way;

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Board, Move, Position};

use self::{
    answered::Answered,
    way::{Deed, Half, Way, leads_to},
};
use super::{Awaited, Follower, Report, lights::differing};
use crate::{
    chess::{
        game::Game,
        guidance::{self, guide},
        recognise::Waits,
    },
    vocabulary::Misplaced,
};

/// Different pictures remembered: a move and its answer that slide over all squares of a line, with six pieces adjusted
/// meanwhile, make fewer.
const MAX_SEEN: usize = 64;

/// The pieces as the board shows them, and since when.
#[derive(Clone, Debug)]
struct Picture {
    board: Board,
    since: Instant,
    /// It has settled.
    rests: bool,
}

/// Evaluates what a board that senses pieces reports.
///
/// A picture counts once it was unchanged for the settle time: while the hand carries, slides or takes off pieces, the
/// board shows others. Then the player has made a move, or taken back one or two; or pieces are misplaced. A move also
/// counts as soon as a picture shows the opponent's answer to it: so games may be of any pace.
#[derive(Debug)]
pub struct Pieces {
    settle: Duration,
    waits: Waits,
    picture: Option<Picture>,
    /// The different pictures since the board last showed `standing`, the one shown last at the end, at most `MAX_SEEN`.
    seen: Vec<Board>,
    /// When to evaluate the picture.
    due: Option<Instant>,
    /// The pieces after what was reported.
    standing: Board,
    /// Since when no legal sequence leads to the pictures.
    puzzling: Option<Instant>,
    /// How the pieces stood when a set-up began.
    before_setup: Option<Board>,
    /// How the board has left the pieces that it moved itself, not where they were to go: no move of the hand.
    left: Option<Board>,
    follower: Follower,
}

impl Pieces {
    /// A board about which nothing is known yet. A picture counts after `settle`; of the waits, `castling`, `sign`,
    /// `puzzled` and `in_the_air` apply.
    pub fn new(settle: Duration, waits: Waits) -> Self {
        Self {
            settle,
            waits,
            picture: None,
            seen: Vec::new(),
            due: None,
            standing: Board::empty(),
            puzzling: None,
            before_setup: None,
            left: None,
            follower: Follower::default(),
        }
    }

    /// The game, the player's task, and what was reported to the player.
    pub fn follower(&self) -> &Follower {
        &self.follower
    }

    /// The pieces as the board last showed them on this link.
    pub fn picture(&self) -> Option<&Board> {
        self.picture.as_ref().map(|picture| &picture.board)
    }

    /// Since when the board has shown the pieces so.
    pub fn since(&self) -> Option<Instant> {
        self.picture.as_ref().map(|picture| picture.since)
    }

    /// How many times the hand would carry a piece until all stand as on `board`: a measure of what it costs to set that up
    /// from what stands now. `None` without a picture.
    pub fn hand_cost(&self, board: &Board) -> Option<usize> {
        let stands = guidance::Picture::from(self.picture()?.clone());
        Some(guide(&stands, board).len())
    }

    /// The pieces as they stand, if the player was told that these do not continue the game: the player may have put up
    /// another position. `None` as soon as a piece is touched, and in a set-up.
    pub fn foreign(&self) -> Option<&Board> {
        let told = self.follower.correction().about()?;
        let foreign = |board: &&Board| !self.follower.has_setup() && **board == told.stands.board;
        self.picture().filter(foreign)
    }

    /// The link is down. A player in the middle of a move continues unseen; what was shown before proves a move that is answered meanwhile.
    pub fn link_down(&mut self) {
        self.picture = None;
        self.due = None;
        self.puzzling = None;
        self.follower.link_down();
        if !self.follower.is_known() {
            self.seen.clear();
        }
    }

    /// Takes a picture of the pieces; the board may send them as often as it likes. Of the picture before, [`Self::timeout`] has said whether
    /// it has settled, unless this one has waited to be read: then nobody knows how long that one stood.
    pub fn sense(&mut self, now: Instant, board: &Board) {
        if self.picture() != Some(board) {
            self.left = self.left.take().filter(|left| left == board);
            self.see(board);
            self.picture = Some(Picture {
                board: board.clone(),
                since: now,
                rests: false,
            });
            self.due = Some(now + self.settle);
            self.mind_answer(self.seen.len());
        }
    }

    /// The time given by [`Self::deadline`] has come, and nothing was sensed before it that has not been taken.
    pub fn timeout(&mut self, now: Instant) {
        if self.due.take_if(|due| *due <= now).is_some()
            && let Some(mut picture) = self.picture.take()
        {
            picture.rests = true;
            self.due = self.weigh(now, &picture);
            self.picture = Some(picture);
        }
    }

    /// When [`Self::timeout`] is to be called next.
    pub fn deadline(&self) -> Option<Instant> {
        self.due
    }

    /// The next report.
    pub fn poll(&mut self) -> Option<Report> {
        self.follower.poll()
    }

    /// The game as the program knows it. If its position differs from the placement, the player has to carry out
    /// the difference. `may_replace`: the last move may turn out to have been another one.
    pub fn follow(&mut self, now: Instant, game: &Game, may_replace: bool) {
        let follows = !self.follower.has_setup();
        if self.follower.follow(game, may_replace, follows) {
            self.look_again(now);
        }
    }

    /// The player is to set up the last position of this game.
    pub fn set_up(&mut self, now: Instant, game: Game) {
        self.before_setup = self.picture().cloned();
        self.follower.set_up(game);
        self.look_again(now);
    }

    /// Begins the game with the position that was set up. `false` if there is none.
    pub fn begin(&mut self) -> bool {
        self.follower.begin()
    }

    /// Gives the player this task.
    pub fn await_hand(&mut self, awaited: Awaited) {
        self.follower.await_hand(awaited);
    }

    /// Gives the player the game's last move to carry out again, after a restart. `true` if the pieces show that it is unmade.
    pub fn await_again(&mut self) -> bool {
        self.is_settled() && self.follower.await_again(&self.standing)
    }

    /// Asks the player again, after a restart, to take back the move that the pieces show beyond the game; returns it.
    /// Not `next`, which is to be made.
    pub fn await_take_back_again(&mut self, next: Option<Move>) -> Option<Move> {
        let standing = Some(&self.standing).filter(|_| self.is_settled());
        self.follower.await_take_back_again(standing?, next)
    }

    /// The board moves the pieces itself from now on: how they stand is unknown until the next picture.
    pub fn set_out(&mut self) {
        self.picture = None;
        self.seen.clear();
        self.due = None;
        self.puzzling = None;
    }

    /// Takes a picture of the pieces as the board has left them that has moved them itself: nothing of it was done by the hand. Pieces that
    /// have `arrived` where they should stand count at once.
    pub fn sense_motor(&mut self, now: Instant, board: &Board, arrived: bool) {
        if arrived {
            self.sense(now, board);
            self.due = Some(now);
            self.timeout(now);
            return;
        }
        if self.follower.has_setup() {
            self.before_setup = Some(board.clone());
        } else if self.follower.is_awaited() || self.lag() {
            self.stand(board);
        } else {
            self.left = Some(board.clone());
        }
        self.sense(now, board);
    }

    /// Whether the pieces stand as after the program's move, which the player was to carry out, and a reply to it.
    pub fn is_reply(&self, board: &Board) -> bool {
        let game = self.follower.game();
        self.follower.awaited_move().is_some() && leads_to(game.position(), board)
    }

    /// Whether the game has a move, or lacks one, that the pieces have still to follow.
    pub fn lag(&self) -> bool {
        self.standing != *self.follower.game().position().board()
    }

    /// The player reports that the pieces are set up.
    pub fn confirm(&mut self, now: Instant) {
        if let Some(board) = self.follower.close() {
            self.stand(&board);
        }
        if self.follower.drop_awaited() {
            self.stand(&self.follower.game().position().board().clone());
            self.follower.fall_behind();
        }
        self.look_again(now);
    }

    /// The board is to be led to this game: the player's current task may no longer be wanted. `true` if the placement
    /// of the pieces is unknown now.
    pub fn abandon(&mut self, target: Option<&Game>) -> bool {
        self.follower.abandon(target)
    }

    /// The game is over: nothing has to be corrected any more.
    pub fn game_ended(&mut self) {
        self.follower.correction_mut().drop_guidance();
    }

    /// Which squares to light. Those of a move to carry out go dark as soon as it stands there, settled or not.
    pub fn lights(&self) -> Bitboard {
        let lights = self.follower.lights(&self.standing);
        let wanted = self.follower.game().position().board();
        let stands = |picture: &Board| (differing(picture, wanted) & lights).is_empty();
        if self.follower.is_awaited() && self.picture().is_some_and(stands) {
            Bitboard::EMPTY
        } else {
            lights
        }
    }

    /// Whether the pieces stand as on `board`.
    pub fn stand_as(&self, board: &Board) -> bool {
        self.picture() == Some(board)
    }

    /// Remembers a picture that may be the position between two moves.
    fn see(&mut self, board: &Board) {
        if *board == self.standing {
            self.seen.clear();
        } else {
            self.seen.retain(|seen| seen != board);
            if self.seen.len() == MAX_SEEN {
                self.seen.remove(0);
            }
            self.seen.push(board.clone());
        }
    }

    /// Reports a move if the last of the first `count` pictures answers it. Returns whether it does.
    fn mind_answer(&mut self, count: usize) -> bool {
        let follower = &self.follower;
        let game = follower.game();
        let follows = follower.follows() && follower.is_up_to_date();
        if !follows || self.standing != *game.position().board() {
            return false;
        }
        let Some(answered) = self
            .seen
            .get(..count)
            .and_then(|seen| Answered::of(game, seen))
        else {
            return false;
        };
        self.done(answered.deeds);
        self.standing = answered.board;
        self.seen.drain(..=answered.shown);
        self.puzzling = None;
        true
    }

    /// The player did this.
    fn done(&mut self, deeds: Vec<Deed>) {
        for deed in deeds {
            match deed {
                Deed::Executed => self.follower.executed(),
                Deed::TookBack(m) => self.follower.took_back(m),
                Deed::Played(m) => self.follower.moved(m, m.promotion()),
            }
        }
    }

    /// What was shown may have another meaning now.
    fn look_again(&mut self, now: Instant) {
        for count in 1..=self.seen.len() {
            if self.mind_answer(count) {
                break;
            }
        }
        let settled = |picture: &Picture| {
            if picture.rests {
                now
            } else {
                picture.since + self.settle
            }
        };
        self.due = self.picture.as_ref().map(settled);
        if self.picture.as_ref().is_some_and(|picture| picture.rests) {
            self.timeout(now);
        }
    }

    /// Interprets a settled picture. Returns when to do so again if nothing changes.
    fn weigh(&mut self, now: Instant, picture: &Picture) -> Option<Instant> {
        let board = &picture.board;
        if let Some(game) = self.follower.setup() {
            let wanted = game.position().board();
            // The hand was already playing when it was asked: what stood there before is no move of this game.
            let plays =
                self.before_setup.as_ref() != Some(board) && leads_to(game.position(), board);
            if board != wanted && !plays {
                let misplaced = misplaced(wanted, board);
                self.follower.tell(misplaced);
            } else if let Some(board) = self.follower.close() {
                self.stand(&board);
            }
            return None;
        }
        if self.follower.has_setup() || !self.follower.is_up_to_date() {
            return None;
        }
        if !self.follower.is_known() {
            if !self.find(board) {
                return None;
            }
            let mut counts = 1..=self.seen.len();
            if counts.any(|count| self.mind_answer(count)) {
                return None;
            }
        }
        let game = self.follower.game();
        if *board == self.standing {
            self.puzzling = None;
            self.follower.mended();
            self.follower.mind_hand(board);
            return None;
        }
        if self.left.as_ref() == Some(board) {
            let misplaced = misplaced(game.position().board(), board);
            self.follower.tell(misplaced);
            return None;
        }
        match self.way().to(board) {
            Some(way) => {
                let whole = match way.half {
                    Some(Half::Castling) => picture.since + self.waits.castling,
                    Some(Half::Sign) => picture.since + self.waits.sign,
                    None => now,
                };
                if now < whole {
                    return Some(whole);
                }
                self.done(way.deeds);
                self.stand(board);
                None
            }
            None if let Some(m) = self.way().others(board) => {
                self.follower.turn_over();
                self.done(vec![Deed::Played(m)]);
                self.stand(board);
                None
            }
            // Even while the player is to carry out a move.
            None if *board == Board::new() => {
                self.begin_anew(board);
                None
            }
            None => self.mind_puzzle(now, picture),
        }
    }

    /// The search for what the player did.
    fn way(&self) -> Way<'_> {
        Way::new(&self.follower, &self.standing, &self.seen)
    }

    /// No legal sequence leads to this picture: pieces are misplaced, unless the player is still moving.
    fn mind_puzzle(&mut self, now: Instant, picture: &Picture) -> Option<Instant> {
        let board = &picture.board;
        let differing = differing(board, &self.standing);
        let in_the_air = (differing & board.occupied()).is_empty();
        let wait = if in_the_air {
            self.waits.in_the_air
        } else {
            self.waits.puzzled
        };
        // The wait for a player who keeps moving is limited.
        let longest = *self.puzzling.get_or_insert(now) + 2 * self.waits.in_the_air;
        let due = longest.min(picture.since + wait);
        if due > now && !self.follower.correction().is_told() {
            return Some(due);
        }
        // Two rooks that were exchanged on one square look as if both were in the air.
        if (!in_the_air || due <= now)
            && let Some(way) = self.way().unseen(board)
        {
            self.done(way.deeds);
            self.stand(board);
            return None;
        }
        let wanted = self.follower.game().position().board();
        let misplaced = misplaced(wanted, board);
        self.follower.tell(misplaced);
        // Told at once, because something was told before: it may turn out to be an exchange.
        (due > now).then_some(due)
    }

    /// Learns where the pieces stand from a settled picture. They stood as in the game, however briefly: the hand may have begun at once.
    fn find(&mut self, board: &Board) -> bool {
        let placed = self.follower.game().position().board().clone();
        let shown = self.seen.iter().rposition(|seen| *seen == placed);
        if let Some(shown) = shown {
            let since = self.seen.split_off(shown + 1);
            self.follower.find();
            self.stand(&placed);
            self.seen = since;
        } else if *board == placed {
            self.follower.find();
            self.stand(board);
        } else if *board == Board::new() {
            self.begin_anew(board);
        } else {
            // What stood there before a position that has settled is no beginning.
            self.seen = vec![board.clone()];
        }
        self.follower.is_known()
    }

    fn begin_anew(&mut self, board: &Board) {
        self.follower.new_game();
        self.follower.find();
        self.stand(board);
    }

    /// The placement is as in `board`, and nothing is wrong with it.
    fn stand(&mut self, board: &Board) {
        self.standing = board.clone();
        self.seen.clear();
        self.puzzling = None;
    }
}

/// The misplaced pieces.
fn misplaced(wanted: &Board, stands: &Board) -> Misplaced {
    let (full, then) = (stands.occupied(), wanted.occupied());
    Misplaced::on(wanted, then & !full, full & !then, stands)
}
