//! What a program may write to a Chessnut board.

use shakmaty::Square;

use super::nibbles::{self, BYTES};

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// `21`: positions are sent, or not.
    RealTime(bool),
    /// `0A`: these lamps are on. The squares are those of the board's own numbers.
    Lamps(Vec<Square>),
    /// `0B`: a tone.
    Beep,
    /// `1B`: the board's own tones.
    OwnBeeps,
    /// `29`: the battery.
    Battery,
    /// `27`: a version, of the controller or of Bluetooth.
    Version {
        /// Whether it is that of the controller.
        controller: bool,
    },
    /// `31`: how many games are stored.
    StoredGames,
    /// `33`, `34`, `39`: stored games, which this board does not have.
    StoredGame,
    /// `41`: a question to a Move, or one of its settings.
    MoveQuestion(u8),
    /// `42`: drive to this position.
    Drive {
        /// The position, and whether a hand stops it.
        target: [u8; BYTES],
        /// Whether a hand that moves a piece stops it.
        stops: bool,
    },
    /// `43`: the coloured lamps of a Move.
    ColouredLamps(Vec<Square>),
}

/// Reads a command; nothing if it is not one.
pub(super) fn read(bytes: &[u8]) -> Option<Command> {
    Some(match *bytes {
        [0x21, 1, mode @ (0 | 1)] => Command::RealTime(mode == 0),
        [0x0A, 8, ref ranks @ ..] => Command::Lamps(lamps(ranks.try_into().ok()?)),
        [0x0B, 4, _, _, _, _] => Command::Beep,
        [0x1B, 1, 0 | 1] => Command::OwnBeeps,
        [0x29, 1, 0] => Command::Battery,
        [0x27, 1, which @ (0 | 1)] => Command::Version {
            controller: which == 1,
        },
        [0x31, 1, 0] => Command::StoredGames,
        [0x33 | 0x39, 1, 0] | [0x34, 1, 1] => Command::StoredGame,
        [0x41, 1, question] => Command::MoveQuestion(question),
        [0x42, 0x21, ref target @ .., force @ (0 | 1)] => Command::Drive {
            target: target.try_into().ok()?,
            stops: force == 1,
        },
        [0x43, 0x20, ref colours @ ..] => {
            let colours: [u8; BYTES] = colours.try_into().ok()?;
            let lit = nibbles::unpacked(&colours).filter(|(_, colour)| *colour != 0);
            Command::ColouredLamps(lit.map(|(square, _)| square).collect())
        }
        _ => return None,
    })
}

/// One byte a rank, rank 8 first; the top bit is file a.
fn lamps(ranks: [u8; 8]) -> Vec<Square> {
    let lit = |square: &Square| {
        let rank = ranks.get(7 - usize::from(square.rank())).copied();
        rank.is_some_and(|rank| rank << usize::from(square.file()) & 0x80 != 0)
    };
    Square::ALL.into_iter().filter(lit).collect()
}
