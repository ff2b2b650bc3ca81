//! How one deed is done by hand.

/// The order in which a capture is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaptureOrder {
    /// The victim is lifted before the mover.
    VictimFirst,
    /// The mover is lifted before the victim (captured: `e5u d7u d7d`).
    #[default]
    MoverFirst,
}

/// The order of the two pieces in castling. Nobody has seen it on a real Neo (field notes: unknown).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CastlingOrder {
    /// As the rules of chess have it.
    #[default]
    KingFirst,
    /// Until the king moves this is a rook's move.
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

/// How a pawn becomes a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Promoting {
    /// Pawn down, pawn up, piece down.
    #[default]
    PawnDown,
    /// The pawn is put aside and the piece put down at once.
    Direct,
}

/// A thought before the deed that comes to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Another piece is lifted and put back.
    Lift,
    /// A piece that could be captured is lifted and put back.
    Victim,
    /// The mover touches another square for 0.2 to 0.4 s, and goes on.
    Touch,
    /// A capture is tried out for 0.2 to 0.4 s, and both pieces go back.
    Capture,
}

/// How one deed is done by hand. The default is the tidiest way.
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
    /// Pieces slide over the squares between instead of flying.
    pub slides: bool,
    /// Pieces bounce when they land.
    pub bounces: bool,
    /// Pieces adjusted before the deed.
    pub adjusts_before: usize,
    /// Pieces adjusted while one is in the hand.
    pub adjusts_between: usize,
    /// Whether these may be pieces that the one in the hand could capture. Squares cannot tell that from the capture until
    /// the mover lands.
    pub adjusts_victims: bool,
    /// Pieces adjusted afterwards.
    pub adjusts_after: usize,
    /// Whether the piece just moved is put straight.
    pub straightens: bool,
    /// A thought that comes to nothing.
    pub doubt: Option<Doubt>,
}
