//! Intervals and limits of the conversation with a Citrine.

use std::time::Duration;

/// The longest line read, bytes. The longest the documents show has 41 (a row of the game list).
pub const MAX_LINE: usize = 128;
/// How long an answer may take before the question is asked again. Answers were seen within 50 ms of the
/// command (the documents' read timeout); the board may be busy with the player's move.
pub const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// How long the echo of a shown move may take after its second send before the board is asked for its game.
/// Longer than [`ANSWER_WAIT`]: the question turns off the lamps that show the move.
pub const ECHO_WAIT: Duration = Duration::from_secs(5);
/// A castling that is reported this soon after we sent the same words was made by them: an echo takes 50 ms, and no hand sees lamps and
/// castles in that time.
pub const CASTLING_ECHO: Duration = Duration::from_millis(500);
/// The pause that ends a list from the board, which has no end mark. At 57600 baud a row takes 7 ms, at the 1200 baud
/// of the oldest sister board 340 ms.
pub const LIST_PAUSE: Duration = Duration::from_millis(500);
/// Unanswered questions before the board counts as silent.
pub const ATTEMPTS: u8 = 3;
/// How often a silent board is asked again.
pub const SILENT_RETRY: Duration = Duration::from_secs(5);
/// The driver asks for the game after a damaged line at most this often.
pub const LEARN_EVERY: Duration = Duration::from_secs(3);
/// How often an idle board is asked whether its settings are on. A board that has lost them does not report the
/// player's move: the player waits at most this long for the reply.
pub const CHECK_EVERY: Duration = Duration::from_secs(15);
/// How long the board has to be quiet before it is asked for its settings: the reply to the player's move goes first.
pub const CHECK_QUIET: Duration = Duration::from_secs(3);
/// How long the player has for a move that the lamps show before the board is asked: the question turns them off, and
/// the move is lit again afterwards. A player who knows where to move takes some seconds.
pub const LIT_WAIT: Duration = Duration::from_secs(30);
/// The longest game `G` lists, in plies (field notes).
pub const LIST_PLIES: usize = 112;
