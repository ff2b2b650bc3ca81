//! The game a board holds, as far as we know it, and the meaning of a reported move in it.

use serde::{Deserialize, Serialize};
use shakmaty::{Board, Chess, Color, Move, Position, Role, Square};

use crate::{
    chess::{game::Game, guidance::guide},
    state::is_default,
    vocabulary::{Reported, Wording},
};

/// A list that shares this many moves with the program's game belongs to that game: the moves of a set-up position match them
/// only by chance.
const PROOF: usize = 2;

/// How far the game is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// The board reported it, or was told it, and nothing unseen has happened since.
    Sure,
    /// The board was away: ask it, if it can be asked.
    Unsure,
    /// It was asked, and its answer is not a game we can follow: only a new game or a set-up helps.
    Lost,
}

/// What a report turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The hand made this legal move.
    Played(Move),
    /// The hand executed the move that was shown.
    Executed(Move),
    /// The last move once more; nothing new.
    Repeated,
    /// The pieces stand right again after something wrong.
    Mended,
    /// The hand took these moves back, the last one first.
    TookBack(Vec<Move>),
    /// The hand made a move that is not legal here, or not the one that was shown.
    Wrong,
    /// It cannot be explained.
    Unexplained,
}

/// A board's own list of its game.
#[derive(Clone, Copy, Debug)]
pub struct List<'a> {
    /// Plies before the first one listed, by the board's numbers.
    pub skipped: usize,
    /// The moves, first to last.
    pub moves: &'a [Reported],
    /// The list is as long as the board can make it: later moves may be missing.
    pub full: bool,
}

/// The outcome of reading a board's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// It identifies the game.
    Followed,
    /// It identifies a game, but only the squares can show whether it is complete.
    Doubtful,
    /// It does not begin where any known game does.
    NotFollowed,
}

/// Our evidence for this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Grounds {
    /// Nothing was ever known of this board.
    Nothing,
    /// No client has the board, and the hand's moves fit the start position. Nothing shows that it began there.
    Guess,
    /// A list that the squares have not confirmed. A game now found on the board is compared with it.
    List,
    /// The board was told, or the moves were seen as they were played.
    Proof,
}

/// How far the first position of the game is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Opening {
    /// It is known.
    #[default]
    Known,
    /// The board began a game by itself, or refused a move that is legal in the known game: the pieces may have been set up by
    /// hand. The start position is assumed until the squares show another.
    Assumed,
    /// The squares have shown another. The side to move may be assumed until the first move shows it.
    Shown,
}

/// What a picture of the squares shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A position of a known game, or one move beyond.
    Followed,
    /// Another position, in which the board may have begun a game. A second picture must confirm it: a line may be damaged.
    Doubtful,
    /// The board has begun a game in this position.
    Begun,
    /// Nothing known.
    Strange,
}

/// The game on one board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Held {
    game: Game,
    certainty: Certainty,
    /// The ply at which the board's own record of the game begins: the ply of its last set-up.
    #[serde(skip_serializing_if = "is_default")]
    base: usize,
    /// The moves that the board lists before that ply: they began in an unknown position.
    #[serde(skip_serializing_if = "is_default")]
    lead: Vec<Reported>,
    /// The board's last list.
    #[serde(skip)]
    list: Vec<Reported>,
    /// The moves from this ply on were made by the hand. Earlier ones were told to the board, or found on it.
    #[serde(skip_serializing_if = "is_default")]
    by_hand_from: usize,
    /// This many moves stood on the board when it was first asked: it is unknown when they were made.
    #[serde(skip_serializing_if = "is_default")]
    found: usize,
    /// A move that was seen being made while nothing was known of the game.
    #[serde(skip_serializing_if = "is_default")]
    seen: Option<Reported>,
    grounds: Grounds,
    #[serde(skip_serializing_if = "is_default")]
    opening: Opening,
    /// The squares shown once where a game may have begun.
    #[serde(skip)]
    pictured: Option<Box<Board>>,
    /// A position was on its way to the board when the link was lost: the board may or may not hold it.
    #[serde(skip_serializing_if = "is_default")]
    suspected: bool,
    /// The last move was shown, and nothing has proved yet that the hand executed it.
    #[serde(skip_serializing_if = "is_default")]
    unconfirmed: bool,
    /// The last move of the board's list, if the game's last move is known from the list alone: the list shows that the board
    /// has the move, not that the hand made it.
    #[serde(skip_serializing_if = "is_default")]
    listed: Option<Reported>,
    /// The game was sure when the daemon ended, and the board has reported nothing since but moves that go on from there. The moves
    /// that the hand had made then, and those, count as made.
    #[serde(skip_serializing_if = "is_default")]
    remembered: bool,
    /// Where the pieces stand while that differs from the game.
    #[serde(skip)]
    misplaced: Option<Box<Board>>,
}

impl Default for Held {
    fn default() -> Self {
        Self {
            game: Game::standard(),
            certainty: Certainty::Unsure,
            base: 0,
            lead: Vec::new(),
            list: Vec::new(),
            by_hand_from: 0,
            found: 0,
            seen: None,
            grounds: Grounds::Nothing,
            opening: Opening::Known,
            pictured: None,
            suspected: false,
            unconfirmed: false,
            listed: None,
            remembered: false,
            misplaced: None,
        }
    }
}

impl Held {
    /// Restores a saved game: every number is brought into its range, and the game is in doubt because the daemon was
    /// not running.
    pub fn recalled(mut self) -> Self {
        let plies = self.game.len();
        for number in [&mut self.base, &mut self.by_hand_from, &mut self.found] {
            *number = plies.min(*number);
        }
        self.unconfirmed &= plies > 0;
        let made = self.has_been_made();
        self.doubt();
        self.remembered = made;
        self
    }

    /// Whether it was sure when the daemon ended, and nothing has been heard of the board since but moves that go on from there.
    pub fn is_remembered(&self) -> bool {
        self.remembered && self.certainty == Certainty::Unsure
    }

    /// Whether the moves of the game are known to have been made: it is on the board, or it was when the daemon ended.
    pub fn has_been_made(&self) -> bool {
        self.certainty == Certainty::Sure || self.is_remembered()
    }

    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// How far it is known.
    pub fn certainty(&self) -> Certainty {
        self.certainty
    }

    /// Whether anything was ever known of this board's game, or is assumed.
    pub fn is_known(&self) -> bool {
        self.grounds != Grounds::Nothing
    }

    /// Whether the game is a guess: see [`Self::guess`].
    pub fn is_guess(&self) -> bool {
        self.grounds == Grounds::Guess
    }

    /// The game is unknown: assumes that the pieces stand at the start. From there the hand's moves are followed until a client states a
    /// game.
    pub fn guess(&mut self) {
        *self = Self {
            certainty: Certainty::Sure,
            grounds: Grounds::Guess,
            ..Self::default()
        };
    }

    /// A client states its game on a board whose game is a guess. The guess is proved if the stated game has all its moves, or
    /// all but the last `beyond` of them and these are `news` to every client. Otherwise it is dropped. A guess without a move
    /// is proved by any game from the start: a hand that moves at that moment need not put its piece back. `true` if proved.
    pub fn prove_guess(&mut self, target: &Game, beyond: usize, news: bool) -> bool {
        let (held, plies) = (&self.game, target.len());
        let is_answered = news && held.len() <= plies + beyond;
        let proved = target.continues(held) || is_answered && held.continues(target);
        if proved {
            self.grounds = Grounds::Proof;
        } else {
            self.lose();
        }
        proved
    }

    /// Whether a reported move fits the game: it continues it, or is part of it.
    pub fn fits(&self, reported: Reported, promotion: Role) -> bool {
        let meaning = self.clone().hand_moved(reported, promotion);
        !matches!(meaning, Meaning::Wrong | Meaning::Unexplained)
    }

    /// Whether the board may hold an unknown game, which its list and its squares will show.
    pub fn is_suspect(&self) -> bool {
        self.grounds == Grounds::Nothing || self.suspected
    }

    /// Whether the game is in doubt and no more than a list or a guess.
    pub fn is_unproved(&self) -> bool {
        self.certainty == Certainty::Unsure && self.grounds != Grounds::Proof
    }

    /// The game is no longer proved: a move was made, or a position sent, before the board confirmed its list.
    pub fn disprove(&mut self) {
        if self.grounds == Grounds::Proof {
            self.grounds = Grounds::List;
        }
        self.doubt();
    }

    /// The ply at which the board's own record begins.
    pub fn base(&self) -> usize {
        self.base
    }

    /// The ply from which on the moves were made by the hand.
    pub fn by_hand_from(&self) -> usize {
        self.by_hand_from
    }

    /// The moves from here on were made by the hand, although the board may have been told of them since.
    pub fn made_from(&mut self, plies: usize) {
        self.by_hand_from = self.by_hand_from.min(plies);
    }

    /// Whether the first move after this many plies was found on the board, so that it is unknown when it was made.
    pub fn is_found(&self, plies: usize) -> bool {
        plies < self.found
    }

    /// The shown move that the hand may not have executed yet.
    pub fn unconfirmed(&self) -> Option<Move> {
        self.game.last().filter(|_| self.unconfirmed)
    }

    /// Whether the last move is known from the board's list alone.
    pub fn is_only_listed(&self) -> bool {
        let mover = self.game.turn().other();
        let last = self.listed.zip(self.game.last());
        last.is_some_and(|(listed, last)| listed.names(last, mover))
    }

    /// Whether the pieces stand differently from the game.
    pub fn is_misplaced(&self) -> bool {
        self.misplaced.is_some()
    }

    /// Where the pieces stand while that differs from the game.
    pub fn misplaced(&self) -> Option<&Board> {
        self.misplaced.as_deref()
    }

    /// The position to restore when the pieces stand like `misplaced`: the one before a shown move that was not made, or the
    /// one after it if that takes no more actions.
    pub fn nearest(&self, misplaced: &Board) -> Board {
        let after = self.game.position().board();
        if !self.unconfirmed {
            return after.clone();
        }
        let before = self.game.position_at(self.game.len() - 1).board().clone();
        let way = |board: &Board| guide(&misplaced.clone().into(), board).len();
        if way(after) <= way(&before) {
            after.clone()
        } else {
            before
        }
    }

    /// The board holds exactly this game: it was told so, or reported it.
    pub fn replace(&mut self, game: Game) {
        self.by_hand_from = game.len();
        self.found = 0;
        self.base = game.len();
        self.lead.clear();
        self.game = game;
        self.opening = Opening::Known;
        self.prove();
        self.confirm();
    }

    /// The board has begun a game by itself: at the start, unless its answer shows another position.
    pub fn begins(&mut self) {
        self.replace(Game::standard());
        self.list.clear();
        self.opening_in_doubt();
    }

    /// The pieces may have been set up by hand: the next pictures of the squares decide.
    pub fn opening_in_doubt(&mut self) {
        self.opening = Opening::Assumed;
        self.pictured = None;
    }

    /// Whether pictures of the squares decide where the game began.
    pub fn is_opening_in_doubt(&self) -> bool {
        self.opening == Opening::Assumed
    }

    /// The first move of a list that belongs to the known game.
    pub fn first_listed(&self, moves: &[Reported]) -> Option<Reported> {
        let known = moves.strip_prefix(self.lead.as_slice())?;
        known.first().copied()
    }

    /// This move was the first of a game whose side to move may have been assumed. `true` if the other side moves first.
    pub fn opens_with(&mut self, reported: Reported) -> bool {
        reported.color.is_some_and(|mover| self.opens_for(mover))
    }

    /// The same for the last move before it.
    fn opens_after(&mut self, reported: Reported) -> bool {
        reported
            .color
            .is_some_and(|mover| self.opens_for(mover.other()))
    }

    fn opens_for(&mut self, turn: Color) -> bool {
        if self.opening != Opening::Shown || !self.game.is_empty() || self.game.turn() == turn {
            return false;
        }
        let Some(game) = Game::of_pieces(self.game.position().board(), turn) else {
            return false;
        };
        let lead = std::mem::take(&mut self.lead);
        self.replace(game);
        self.lead = lead;
        self.opening = Opening::Shown;
        true
    }

    /// The game may have changed unseen.
    pub fn doubt(&mut self) {
        self.remembered &= self.certainty == Certainty::Unsure;
        self.certainty = Certainty::Unsure;
    }

    /// The hand has made a move while the game was in doubt, and so it stays. `remembered`: whether the game was.
    pub fn doubt_again(&mut self, remembered: bool) {
        self.doubt();
        self.remembered = remembered;
    }

    /// The board holds the known game: it was told it again, its squares show it, or it cannot say otherwise.
    pub fn assure(&mut self) {
        self.prove();
        self.misplaced = None;
    }

    /// It is certain that the board holds this game.
    pub fn prove(&mut self) {
        self.certainty = Certainty::Sure;
        self.grounds = Grounds::Proof;
        self.suspected = false;
    }

    /// A position was on its way to the board, and it is unknown whether it has arrived: the board's list may begin
    /// there.
    pub fn suspect(&mut self) {
        self.disprove();
        self.suspected = true;
    }

    /// The hand made this move, in a game that the board has yet to report.
    pub fn saw(&mut self, reported: Reported) {
        self.seen = Some(reported);
        self.doubt();
    }

    /// Whether a game may begin with this move: the hand was seen making no other one while nothing was known.
    pub fn may_begin_with(&self, reported: Reported) -> bool {
        self.seen.is_none_or(|seen| seen == reported)
    }

    /// The board was switched off and on.
    pub fn restarted(&mut self) {
        self.seen = None;
        self.doubt();
    }

    /// The board cannot report a game that we can follow. A guess is dropped.
    pub fn lose(&mut self) {
        if self.is_guess() {
            *self = Self::default();
        }
        self.certainty = Certainty::Lost;
    }

    /// The first `plies` moves were not made by the hand: they were told to the board.
    pub fn told(&mut self, plies: usize) {
        self.by_hand_from = self.by_hand_from.max(plies.min(self.game.len()));
    }

    /// A move was shown and taken over by the board. An illegal one puts the game in doubt.
    pub fn shown(&mut self, m: Move) {
        if self.game.push(m) {
            self.by_hand_from = self.game.len();
            self.unconfirmed = true;
            self.listed = None;
            self.misplaced = None;
        } else {
            self.doubt();
        }
    }

    /// The last move was shown, and the hand may still have to execute it.
    pub fn await_execution(&mut self) {
        self.unconfirmed = !self.game.is_empty();
        self.listed = None;
    }

    /// The last move is not one that was to be shown: the hand made it, though only the list shows it.
    pub fn made_by_hand(&mut self) {
        self.listed = None;
    }

    /// The hand has executed what was shown, and the pieces stand as in the game.
    pub fn confirm(&mut self) {
        self.unconfirmed = false;
        self.listed = None;
        self.misplaced = None;
    }

    /// The last move was taken back.
    pub fn taken_back(&mut self) {
        self.game.pop();
        let gone = self.base.saturating_sub(self.game.len());
        self.base -= gone;
        self.lead.truncate(self.lead.len().saturating_sub(gone));
        self.by_hand_from = self.by_hand_from.min(self.game.len());
        self.found = self.found.min(self.game.len());
        self.confirm();
    }

    fn played(&mut self, m: Move) -> Meaning {
        if !self.game.push(m) {
            return Meaning::Unexplained;
        }
        if self.is_guess() {
            // The daemon may have been away when it was made.
            self.remembered = false;
        } else {
            self.prove();
        }
        self.confirm();
        Meaning::Played(m)
    }

    /// Handles a move that the board reports. `promotion` is the piece a pawn becomes where the board does not say.
    pub fn hand_moved(&mut self, reported: Reported, promotion: Role) -> Meaning {
        let position = self.game.position();
        let legal = reported.resolve(position, promotion);
        if let Some(last) = self.game.last()
            && legal.is_none()
            && reported.names(last, position.turn().other())
        {
            let meaning = match (self.unconfirmed, &self.misplaced) {
                (true, _) => Meaning::Executed(last),
                (false, Some(_)) => Meaning::Mended,
                (false, None) => Meaning::Repeated,
            };
            self.confirm();
            return meaning;
        }
        match legal {
            Some(m) if self.misplaced.is_none() || self.refuted_by(m) => self.played(m),
            None if self.misplaced.is_none() && self.is_late(reported) => Meaning::Repeated,
            _ => self.misplace(reported, promotion),
        }
    }

    /// Whether the report repeats what the game already has: a shown move that the hand made only after its own move, or the
    /// rook's half of the castling just made.
    fn is_late(&self, reported: Reported) -> bool {
        let moves = self.game.moves();
        let before_last = moves.len().checked_sub(2).map(|at| moves[at]);
        if before_last.is_some_and(|m| reported.names(m, self.game.turn())) {
            return true;
        }
        let castling = self.game.last().and_then(|m| Some((m, m.castling_side()?)));
        castling.is_some_and(|(m, side)| {
            let rank = self.game.turn().other().backrank();
            let to = Square::from_coords(side.rook_to_file(), rank);
            reported.wording
                == Wording::Squares {
                    from: m.to(),
                    to,
                    promotion: None,
                }
        })
    }

    /// Whether a legal move leaves a square where, by earlier reports, its piece does not stand: then the earlier
    /// reports no longer apply.
    fn refuted_by(&self, m: Move) -> bool {
        let from = m.from();
        self.misplaced
            .as_ref()
            .zip(from)
            .is_some_and(|(misplaced, from)| {
                misplaced.piece_at(from) != self.game.position().board().piece_at(from)
            })
    }

    /// The pieces differ from the game, or will after this report: follows them square by square until they stand in a
    /// position of the game, or one legal move away from it.
    fn misplace(&mut self, reported: Reported, promotion: Role) -> Meaning {
        let before_shown = self
            .unconfirmed
            .then(|| self.game.position_at(self.game.len() - 1));
        let base = match (&self.misplaced, &before_shown) {
            (Some(board), _) => (**board).clone(),
            (None, Some(before)) if reported.resolve(before, promotion).is_some() => {
                before.board().clone()
            }
            (None, _) => self.game.position().board().clone(),
        };
        let Some(board) = carried(base, reported, self.game.turn()) else {
            return Meaning::Unexplained;
        };
        if board == *self.game.position().board() {
            let executed = self.unconfirmed();
            self.confirm();
            return executed.map_or(Meaning::Mended, Meaning::Executed);
        }
        if before_shown.is_some_and(|before| board == *before.board()) {
            // Put back; the shown move is still to be made.
            self.misplaced = None;
            return Meaning::Mended;
        }
        if let Some(m) = leads_to(self.game.position(), &board) {
            return self.played(m);
        }
        if let Some(plies) = self.last_ply_with(&board) {
            let back: Vec<Move> = self.game.moves()[plies..].iter().rev().copied().collect();
            self.game = self.game.truncated(plies + 1);
            self.taken_back();
            return Meaning::TookBack(back);
        }
        self.misplaced = Some(Box::new(board));
        Meaning::Wrong
    }

    /// The latest ply, before the last one, after which the pieces stood as on `board`.
    fn last_ply_with(&self, board: &Board) -> Option<usize> {
        let mut position = self.game.start().clone();
        let mut found = None;
        for (ply, &m) in self.game.moves().iter().enumerate() {
            if position.board() == board {
                found = Some(ply);
            }
            position.play_unchecked(m);
        }
        found
    }

    /// Handles a take-back that the board reports.
    pub fn hand_took_back(&mut self, reported: Option<Reported>) -> Meaning {
        if self.misplaced.take().is_some() {
            // The wrong move was taken back. What the board makes of it is unknown.
            self.doubt();
            return Meaning::Mended;
        }
        let mover = self.game.turn().other();
        match self.game.last() {
            Some(last) if reported.is_none_or(|r| r.names(last, mover)) => {
                if self.unconfirmed && reported.is_none() {
                    // It is unknown whether the board counts a move that it shows and the hand has not made.
                    self.doubt();
                }
                self.taken_back();
                Meaning::TookBack(vec![last])
            }
            // A move was taken back whose report was lost: the board holds this position again.
            None if reported.is_none() => Meaning::Repeated,
            _ => Meaning::Unexplained,
        }
    }

    /// Handles the board's own list of its game.
    ///
    /// `target` is a game the board may be in, besides the one known.
    pub fn learn(&mut self, list: List<'_>, target: Option<&Game>) -> Listed {
        self.list = list.moves.to_vec();
        let held = self.game.clone();
        // Where the board's record may begin: at the known ply plus the moves it skipped, at the known ply, or one before it;
        // or at the standard start.
        let (base, lead) = (self.base, self.lead.len());
        let skipped = if lead == 0 { list.skipped } else { 0 };
        let led = list.moves.starts_with(&self.lead);
        let known = [base + skipped, base, base.wrapping_sub(1)]
            .into_iter()
            .filter(|plies| led && *plies <= held.len())
            .map(|plies| (plies, lead, held.truncated(plies)));
        // Pieces that were put up on this link are no new game. While nobody looked they may have been put back to the start.
        let shown = self.opening == Opening::Shown && self.certainty == Certainty::Sure;
        let standard = list.skipped == 0 && !shown;
        let standard = standard.then(|| (0, 0, Game::standard()));
        let follows = |game: &Game| target.is_some_and(|target| game.is_in_line_with(target));
        let begun: Vec<_> = known
            .chain(standard)
            .filter_map(|(base, lead, start)| {
                Some((base, lead, replayed(start, &list.moves[lead..])?))
            })
            .collect();
        let proved = self.grounds == Grounds::Proof;
        let trusted = |(.., game): &&(usize, usize, Game)| proved || follows(game);
        let end = list.moves.last().copied();
        let Some((base, led, found)) = begun.iter().find(trusted).or(begun.first()).cloned() else {
            self.listed = end;
            return Listed::NotFollowed;
        };
        if list.full && held.continues(&found) {
            self.doubt();
            return Listed::Doubtful;
        }
        // A board that was set up lists nothing before the set-up. If the same list may also begin at the start, or if it is
        // unknown where it begins, the squares decide.
        let same =
            |(.., game): &(usize, usize, Game)| game.position().board() == found.position().board();
        let proves = |target: &Game| target.len() >= PROOF && found.continues(target);
        let known = proved && led == lead;
        let sure = (known || target.is_some_and(proves)) && begun.iter().all(same);
        self.base = base;
        self.lead.truncate(led);
        if !held.continues(&found) {
            self.listed = end;
        }
        self.adopt(found);
        if sure && !list.full {
            // The position that was on its way has not arrived.
            self.suspected = false;
            return Listed::Followed;
        }
        self.doubt();
        Listed::Doubtful
    }

    /// Whether the board, asked again, may turn out to hold `target` after all: what it listed was understood before any client
    /// stated a game.
    pub fn may_be_told_better(&self, target: &Game) -> bool {
        self.grounds == Grounds::List && !self.game.is_in_line_with(target)
    }

    /// The game is now `found`: its moves beyond the held game were played by the hand, unseen.
    pub fn adopt(&mut self, found: Game) {
        (self.by_hand_from, self.found) = match found.common_plies(&self.game) {
            Some(common) if self.is_known() => {
                (self.by_hand_from.min(common), self.found.min(common))
            }
            // Nothing was known: at most the last move was made while we were away.
            _ => {
                let last = self.seen.zip(found.last());
                let seen = last.is_some_and(|(seen, last)| seen.names(last, found.turn().other()));
                let before = found.len().saturating_sub(1);
                (before, if seen { before } else { found.len() })
            }
        };
        self.seen = None;
        if self.grounds == Grounds::Nothing {
            self.grounds = Grounds::List;
        }
        self.unconfirmed &= found == self.game;
        self.game = found;
        self.certainty = Certainty::Sure;
        self.misplaced = None;
    }

    /// Handles the board's own picture of its squares.
    pub fn see(&mut self, board: &Board, turn: Option<Color>, target: Option<&Game>) -> Seen {
        if self.follows(board, turn, target) {
            if self.opening == Opening::Assumed {
                self.opening = Opening::Known;
            }
            // Its list shows moves that were made before the first picture.
            let last = self.lead.last().copied();
            let turned = last.is_some_and(|last| self.opens_after(last));
            return if turned { Seen::Begun } else { Seen::Followed };
        }
        let is_known = match self.opening {
            Opening::Known => true,
            Opening::Assumed => false,
            Opening::Shown => !self.game.is_empty(),
        };
        if is_known {
            return Seen::Strange;
        }
        match self.pictured.take() {
            None => {
                self.pictured = Some(Box::new(board.clone()));
                Seen::Doubtful
            }
            Some(before) if goes_on(&before, board) && self.begin_in(board, turn) => Seen::Begun,
            // Two pictures that contradict each other, or show no legal position, count for nothing.
            Some(_) => {
                self.assure();
                Seen::Followed
            }
        }
    }

    /// The hand has put up this position. `false` if it is none of a game.
    pub fn put_up(&mut self, board: &Board) -> bool {
        let list = std::mem::take(&mut self.list);
        let begun = self.begin_in(board, None);
        if !begun {
            self.list = list;
        }
        begun
    }

    /// The board has begun a game from this placement, after the moves that it lists. `false` if that is impossible.
    fn begin_in(&mut self, board: &Board, turn: Option<Color>) -> bool {
        let mover = self.list.last().and_then(|last| last.color);
        let known = turn.or(mover.map(Color::other));
        let white = || Game::of_pieces(board, Color::White);
        let game = match known {
            Some(turn) => Game::of_pieces(board, turn),
            // White, unless Black's king is in check.
            None => white().or_else(|| Game::of_pieces(board, Color::Black)),
        };
        let Some(game) = game else {
            return false;
        };
        let list = std::mem::take(&mut self.list);
        self.replace(game);
        self.lead = list;
        self.opening = Opening::Shown;
        true
    }

    /// Whether the squares show a known game's last position, or one move beyond. If so, that becomes the game.
    fn follows(&mut self, board: &Board, turn: Option<Color>, target: Option<&Game>) -> bool {
        let fits = |position: &Chess| {
            position.board() == board && turn.is_none_or(|turn| turn == position.turn())
        };
        if fits(self.game.position()) {
            self.assure();
            self.begin_record(None);
            return true;
        }
        if let Some(m) = leads_to(self.game.position(), board) {
            let unknown = self.grounds != Grounds::Proof;
            if matches!(self.played(m), Meaning::Unexplained) {
                return false;
            }
            if self.list.is_empty() {
                // The record may begin after it.
                self.base = self.game.len();
            }
            self.begin_record(Some(m));
            if unknown {
                self.found = self.game.len();
            }
            return true;
        }
        let Some(target) = target else { return false };
        let next = leads_to(target.position(), board);
        if next.is_none() && !fits(target.position()) {
            return false;
        }
        let listed = self.listed;
        self.replace(target.clone());
        self.listed = listed;
        if let Some(m) = next {
            self.played(m);
            if self.list.is_empty() {
                // The move was part of the position given to the board: the hand did not make it there.
                self.base = self.game.len();
                self.by_hand_from = self.base;
            }
        }
        self.begin_record(next);
        true
    }

    /// The squares have identified the game; `next` is its last move if that was not known before. A list that does not fit the
    /// game began in an unknown position and led here.
    fn begin_record(&mut self, next: Option<Move>) {
        let list = std::mem::take(&mut self.list);
        let rest = list.strip_prefix(self.lead.as_slice());
        let told = rest.and_then(|rest| replayed(self.game.truncated(self.base), rest));
        if told.is_some_and(|told| self.game.continues(&told)) {
            return;
        }
        let mover = self.game.turn().other();
        let ends_with = |m: Move| list.last().is_some_and(|last| last.names(m, mover));
        let is_later = next.is_some_and(|m| !ends_with(m));
        self.base = self.game.len() - usize::from(is_later);
        self.lead = list;
    }
}

/// Whether the pieces stand as in `before`, or one legal move later.
fn goes_on(before: &Board, board: &Board) -> bool {
    let moved = |turn| {
        let game = Game::of_pieces(before, turn);
        game.is_some_and(|game| leads_to(game.position(), board).is_some())
    };
    before == board || Color::ALL.into_iter().any(moved)
}

/// The one legal move of `position` after which the pieces stand as on `board`.
fn leads_to(position: &Chess, board: &Board) -> Option<Move> {
    let mut found = None;
    for m in position.legal_moves() {
        let mut next = position.clone();
        next.play_unchecked(m);
        if next.board() == board {
            if found.is_some() {
                return None;
            }
            found = Some(m);
        }
    }
    found
}

/// `board` with a piece carried as reported, legal or not. `None` if there was no piece to carry.
pub(super) fn carried(mut board: Board, reported: Reported, turn: Color) -> Option<Board> {
    match reported.wording {
        Wording::Squares {
            from,
            to,
            promotion,
        } => {
            let piece = board.remove_piece_at(from)?;
            let role = promotion.unwrap_or(piece.role);
            board.set_piece_at(to, role.of(piece.color));
        }
        Wording::Castle(side) => {
            let rank = reported.color.unwrap_or(turn).backrank();
            let square = |file| Square::from_coords(file, rank);
            let king = board.remove_piece_at(square(shakmaty::File::E))?;
            let corner = if side.is_king_side() {
                shakmaty::File::H
            } else {
                shakmaty::File::A
            };
            let rook = board.remove_piece_at(square(corner))?;
            board.set_piece_at(square(side.king_to_file()), king);
            board.set_piece_at(square(side.rook_to_file()), rook);
        }
    }
    Some(board)
}

fn replayed(mut game: Game, listed: &[Reported]) -> Option<Game> {
    for reported in listed {
        let m = reported.resolve(game.position(), Role::Queen)?;
        game.push(m);
    }
    Some(game)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(moves: &str) -> Vec<Reported> {
        let squares = |text: &str| {
            let (from, to) = text.split_at(2);
            let square = |name: &str| name.parse().unwrap();
            Reported::squares(square(from), square(to), None)
        };
        moves.split_whitespace().map(squares).collect()
    }

    fn learned(held: &mut Held, moves: &str, target: &Game) -> Listed {
        let moves = &reported(moves);
        let list = List {
            skipped: 0,
            moves,
            full: false,
        };
        held.learn(list, Some(target))
    }

    #[test]
    fn a_list_that_began_in_a_set_up_position_is_not_taken_for_a_game_from_the_start() {
        // The same moves are legal there.
        let fen = "rnbqkbnr/pppppp1p/8/6p1/P7/8/1PPPPPPP/RNBQKBNR w KQkq - 0 2";
        let mut target = Game::from_fen(fen).unwrap();
        target.play_uci(["b2b4", "a7a6"]).unwrap();
        for is_told_from_its_start in [true, false] {
            if !is_told_from_its_start {
                target = Game::from_fen(&target.fen().to_string()).unwrap();
            }
            let mut held = Held::default();
            assert_ne!(
                learned(&mut held, "b2b4 a7a6", &target),
                Listed::Followed,
                "that is a guess"
            );
            let seen = held.see(target.position().board(), None, Some(&target));
            assert_eq!(seen, Seen::Followed);
            assert_eq!(*held.game(), target);
            // The hand plays on, and the board is asked again.
            learned(&mut held, "b2b4 a7a6 h2h3", &target);
            let mut on = target.clone();
            on.play_uci(["h2h3"]).unwrap();
            assert_eq!(*held.game(), on);
            // The hand takes back moves from before the program came.
            held.hand_took_back(None);
            held.hand_took_back(None);
            let listed = learned(&mut held, "b2b4", &target);
            let is_known = *held.game() == target.truncated(1);
            assert!(is_known == is_told_from_its_start && listed != Listed::Followed);
        }
    }

    #[test]
    fn the_record_of_a_set_up_may_begin_before_the_one_move_that_its_empty_list_did_not_have() {
        let mut set_up = Game::standard();
        set_up.play_uci(["g1h3", "a7a6"]).unwrap();
        let mut on = set_up.clone();
        on.play_uci(["a2a3"]).unwrap();
        let mut held = Held::default();
        held.replace(set_up.clone());
        learned(&mut held, "", &set_up);
        let seen = held.see(on.position().board(), None, Some(&set_up));
        assert_eq!(seen, Seen::Followed);
        assert_eq!(*held.game(), on);
        learned(&mut held, "a2a3", &set_up);
        assert_eq!(*held.game(), on);
    }

    #[test]
    fn only_a_move_that_was_seen_before_the_first_list_is_known_to_be_the_hands() {
        let e2e4 = Reported {
            color: Some(Color::White),
            wording: Wording::Squares {
                from: Square::E2,
                to: Square::E4,
                promotion: None,
            },
        };
        for is_seen in [true, false] {
            let mut held = Held::default();
            if is_seen {
                held.saw(e2e4);
            }
            let list = List {
                skipped: 0,
                moves: &[e2e4],
                full: false,
            };
            held.learn(list, Some(&Game::standard()));
            assert_eq!(held.game().len(), 1);
            assert_eq!(held.is_found(0), !is_seen);
        }
    }
}
