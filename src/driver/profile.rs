//! What the core may expect of a board: how it knows of the game, and what an action costs the player.

/// The kind of board, as far as the core plans with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// It keeps a record of its game, lists it when asked, and takes moves back: a Citrine.
    Listed,
    /// It keeps a record of its game that nobody can ask for: a UCB.
    Unlisted,
    /// It reports moves and nothing else: neither that a mistake was corrected, nor that a position was set up by hand. A move that
    /// cannot be played leaves its game unchanged. A home-made board.
    MovesOnly,
    /// It senses which squares are occupied. `motor`: it moves the pieces itself.
    Squares {
        /// Whether it makes the program's moves itself.
        motor: bool,
    },
    /// It senses which piece stands where. `motor`: it moves the pieces itself.
    Pieces {
        /// Whether it makes the program's moves itself, takes them back and sets positions up. `false` also while it has given one up
        /// and the hand is asked.
        motor: bool,
    },
}

impl Profile {
    /// The board can be told to take a move back.
    pub fn takes_back(self) -> bool {
        matches!(self, Self::Listed) || self.senses()
    }

    /// The cost of giving the board a position, where that is possible, in units of one shown move. A set-up moves many pieces by
    /// hand, a shown move one.
    pub fn set_up_cost(self) -> Option<usize> {
        match self {
            Self::Listed | Self::Squares { .. } | Self::Pieces { .. } => Some(12),
            Self::Unlisted => Some(5),
            Self::MovesOnly => None,
        }
    }

    /// The cost of starting a new game, in the same units.
    pub fn new_game_cost(self) -> usize {
        match self {
            Self::Squares { .. } | Self::Pieces { .. } => 8,
            Self::Listed => 6,
            Self::Unlisted | Self::MovesOnly => 3,
        }
    }

    /// After a lost link the board, or its driver, can be asked what became of its game ([`learn`](super::Driver::learn)): it is
    /// answered by the list of its moves, or by what the pieces show.
    pub fn answers(self) -> bool {
        !matches!(self, Self::Unlisted)
    }

    /// The board sees its pieces, or at least which squares are occupied, and reports which are wrong while a position is set up.
    pub fn senses(self) -> bool {
        matches!(self, Self::Squares { .. } | Self::Pieces { .. })
    }

    /// The board makes the program's moves itself.
    pub fn moves_itself(self) -> bool {
        matches!(self, Self::Squares { motor: true }) || self.sets_up_itself()
    }

    /// The board moves the pieces to any position itself: for a set-up and a take-back, too, the player is asked for nothing.
    pub fn sets_up_itself(self) -> bool {
        matches!(self, Self::Pieces { motor: true })
    }

    /// The board can be shown castling in Chess960, where the king or the rook starts on an unusual square.
    pub fn castles_anyhow(self) -> bool {
        !self.keeps_rules()
    }

    /// The board keeps its own record of the game, and can take back only moves in it.
    pub fn keeps_record(self) -> bool {
        !self.senses()
    }

    /// It reports moves, and not its game or its squares.
    pub fn reports_moves(self) -> bool {
        matches!(self, Self::MovesOnly | Self::Unlisted)
    }

    /// It reports moves and nothing else: [`Self::MovesOnly`].
    pub fn tells_moves_only(self) -> bool {
        self == Self::MovesOnly
    }

    /// The board knows the rules of chess.
    pub fn keeps_rules(self) -> bool {
        matches!(self, Self::Listed | Self::Unlisted)
    }
}
