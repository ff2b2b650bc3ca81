//! What is known of how the pieces stand.

use shakmaty::{Board, Position};

use super::Pieces;

impl Pieces {
    /// How the pieces should stand: as in the position that is being set up, or as in the game.
    pub fn wanted(&self) -> Board {
        let game = self
            .follower
            .setup()
            .unwrap_or_else(|| self.follower.game());
        game.position().board().clone()
    }

    /// How the pieces stand after what was reported, to be kept through a restart; `None` if that is unknown.
    pub fn known(&self) -> Option<&Board> {
        self.follower.follows().then_some(&self.standing)
    }

    /// Goes on as before a restart. The link must be down.
    pub fn recall(&mut self, standing: Board) {
        self.follower.find();
        self.standing = standing;
    }

    /// Whether the board has shown its pieces, and they have stood long enough to have been understood.
    pub fn is_settled(&self) -> bool {
        self.picture.is_some() && self.due.is_none()
    }

    /// A key for a new game was pressed. `false` if the pieces do not stand at the start, or the game has not begun anyway.
    pub fn new_game_by_key(&mut self) -> bool {
        let start = Board::new();
        let under_way = !self.follower.game().is_empty() && self.follower.setup().is_none();
        let begins = under_way && self.stand_as(&start);
        if begins {
            self.begin_anew(&start);
        }
        begins
    }
}
