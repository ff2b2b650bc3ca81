//! The distances and bounds of a Citrine's conversation.

use std::time::Duration;

/// The longest line read, bytes. The longest the documents show has 41 (a row of the game list).
pub const MAX_LINE: usize = 128;
/// How long an answer may take before the question is asked again. Answers were seen within 50 ms of the
/// command (the documents' read timeout); the board may be busy with the player's hand.
pub const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// How long the echo of a shown move may take after its second send before the board is asked for its game.
/// Longer than [`ANSWER_WAIT`]: the question puts out the lamps that show the move.
pub const ECHO_WAIT: Duration = Duration::from_secs(5);
/// A list from the board has no end mark: it ends when the board is silent for so long. At 57600 baud a row
/// takes 7 ms, at the 1200 baud of the oldest sister board 340 ms.
pub const LIST_PAUSE: Duration = Duration::from_millis(500);
/// Questions asked in vain before the board counts as silent.
pub const ATTEMPTS: u8 = 3;
/// How often a silent board is asked again.
pub const SILENT_RETRY: Duration = Duration::from_secs(5);
/// A damaged line makes the driver ask for the game, at most this often.
pub const LEARN_EVERY: Duration = Duration::from_secs(3);
/// How often a board is asked whether its settings are on, while nothing else is to be done. A board that has lost them
/// tells nothing of the hand's move: the player waits so long for the answer at most.
pub const CHECK_EVERY: Duration = Duration::from_secs(15);
/// How long the board has to be quiet before it is asked for its settings: the answer to a move of the hand's goes first.
pub const CHECK_QUIET: Duration = Duration::from_secs(3);
/// How long the hand has for a move that the lamps show before the board is asked: the question puts them out, and the
/// move is lit again afterwards. A hand that knows where to move takes some seconds.
pub const LIT_WAIT: Duration = Duration::from_secs(30);
/// The longest game `G` lists, in plies (field notes).
pub const LIST_PLIES: usize = 112;
