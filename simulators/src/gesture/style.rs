//! How one action is done by hand.

/// The order in which a capture is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaptureOrder {
    /// The victim is lifted before the mover.
    VictimFirst,
    /// The mover is lifted before the victim (captured: `e5u d7u d7d`).
    #[default]
    MoverFirst,
}

/// The order of the two pieces in castling. Unknown on a real Neo (field notes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CastlingOrder {
    /// As required by the rules of chess.
    #[default]
    KingFirst,
    /// Looks like a rook's move until the king moves.
    RookFirst,
    /// Both are lifted before one is put down.
    Together,
}

/// When the captured pawn is lifted in an en-passant capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EnPassantOrder {
    /// After the mover was put down.
    #[default]
    VictimLast,
    /// Before the mover is lifted.
    VictimFirst,
    /// While the mover is in the hand.
    VictimBetween,
}

/// How a pawn is replaced in a promotion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Promoting {
    /// Pawn down, pawn up, piece down.
    #[default]
    PawnDown,
    /// The pawn is put aside and the piece put down at once.
    Direct,
}

/// A hesitation before the action that leads to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Another piece is lifted and put back.
    Lift,
    /// A piece that could be captured is lifted and put back.
    Victim,
    /// The mover touches another square for 0.2 to 0.4 s before it continues.
    Touch,
    /// A capture is tried out for 0.2 to 0.4 s, and both pieces go back.
    Capture,
}

/// How one action is done by hand. The default is the tidiest way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Captures.
    pub capture: CaptureOrder,
    /// Castling.
    pub castling: CastlingOrder,
    /// En passant.
    pub en_passant: EnPassantOrder,
    /// Promotions.
    pub promoting: Promoting,
    /// Whether pieces slide over the squares in between instead of being carried above them.
    pub slides: bool,
    /// Pieces bounce when they land.
    pub bounces: bool,
    /// Pieces adjusted before the action.
    pub adjusts_before: usize,
    /// Pieces adjusted while one is in the hand.
    pub adjusts_between: usize,
    /// Whether these may be pieces that the one in the hand could capture. Square sensors cannot distinguish that from
    /// the capture until the mover lands.
    pub adjusts_victims: bool,
    /// Pieces adjusted afterwards.
    pub adjusts_after: usize,
    /// Whether the piece just moved is adjusted.
    pub straightens: bool,
    /// A hesitation that leads to nothing.
    pub doubt: Option<Doubt>,
}
