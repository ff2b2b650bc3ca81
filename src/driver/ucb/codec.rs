//! Parses and formats the UCB's lines. Source: "Novag UCB Communications", see `PROTOCOL.md`.

use shakmaty::{Chess, File, Move, Position, Rank, Role, Square};

use crate::vocabulary::BoardKind;
use crate::{chess::game, vocabulary::Reported};

/// Its kind.
pub const KIND: BoardKind = BoardKind::new("novag-ucb");

/// What this program answers to `I`: the computer that the UCB was built to talk to.
pub const IDENTITY: &str = "ID SAPPHIRE II 1.02";

/// The two formats in which a UCB wants a position ("UCB Version").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionFormat {
    /// Eight lines: `.rnbqkbnr`.
    V1,
    /// A head and eight lines with rank numbers: `.8rnbqkbnr`.
    #[default]
    V2,
}

/// One line from the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A blank: the first thing a UCB sends when it is switched on.
    Hello,
    /// `I`: who is there?
    AsksIdentity,
    /// `E OFF`: no echo, please. Not answered.
    EchoOff,
    /// `V`: video mode, please.
    AsksVideo,
    /// `A OFF`: no clock times, please.
    AsksAutoclockOff,
    /// `X ON`: transmit moves, please.
    AsksXmit,
    /// `P`: where does every piece stand?
    AsksPosition,
    /// `Me2e4`: the hand made a move.
    Moved(Reported),
    /// `N`: the pieces are on their starting squares.
    NewGame,
    /// `J`: the player wants the computer to move.
    Go,
    /// `T`: the player takes a move back.
    TakesBack,
}

/// Parses one line (without its end). `None` if it is not a message of this board.
pub fn parse(line: &[u8]) -> Option<Message> {
    let text = std::str::from_utf8(line).ok()?;
    let words = text.trim();
    if words.is_empty() {
        return text.contains(' ').then_some(Message::Hello);
    }
    Some(match words.to_ascii_uppercase().as_str() {
        "I" => Message::AsksIdentity,
        "E OFF" => Message::EchoOff,
        "V" => Message::AsksVideo,
        "A OFF" => Message::AsksAutoclockOff,
        "X ON" => Message::AsksXmit,
        "P" => Message::AsksPosition,
        "N" => Message::NewGame,
        "J" => Message::Go,
        "T" => Message::TakesBack,
        _ => return moved(words),
    })
}

/// Whether this is a move as sent to the board: with a hyphen, which no UCB writes.
pub fn is_echo(line: &[u8]) -> bool {
    let text = std::str::from_utf8(line).unwrap_or_default().trim();
    let plain = text.replacen('-', "", 1);
    plain != text && moved(&plain).is_some()
}

/// `Me2e4`, `Ma7a8/Q`
fn moved(words: &str) -> Option<Message> {
    if !words.is_ascii() {
        return None;
    }
    let rest = words.strip_prefix(['M', 'm'])?.trim_start();
    let from = Square::from_ascii(rest.get(..2)?.as_bytes()).ok()?;
    let rest = &rest[2..];
    let to = Square::from_ascii(rest.get(..2)?.as_bytes()).ok()?;
    let promotion = match &rest[2..] {
        "" => None,
        suffix => {
            let mut letters = suffix.strip_prefix('/')?.chars();
            let role = Role::from_char(letters.next()?)?;
            if letters.next().is_some() || matches!(role, Role::King | Role::Pawn) {
                return None;
            }
            Some(role)
        }
    };
    Some(Message::Moved(Reported::squares(from, to, promotion)))
}

/// Whether an unfinished line is a command of one letter: some boards send those without a line end.
pub fn is_lone_letter(partial: &[u8]) -> bool {
    matches!(
        partial,
        [b' ' | b'N' | b'J' | b'T' | b'I' | b'V' | b'P'] | [b' ', b'I']
    )
}

/// The command that shows a move: `Me2-e4`, `Me1-g1`, `Ma7-a8/q`. The promotion piece is always sent.
pub fn show(m: Move) -> String {
    let uci = game::uci(m);
    let square = |square: Option<Square>| square.map(|s| s.to_string()).unwrap_or_default();
    let mut command = format!("M{}-{}", square(uci.from()), square(uci.to()));
    if let Some(role) = m.promotion() {
        command.push('/');
        command.push(role.char());
    }
    command
}

/// The lines that send a position: rank by rank from the eighth, empty squares as blanks, the side to move
/// at the end.
pub fn position(position: &Chess, format: PositionFormat) -> Vec<String> {
    let mut lines = Vec::with_capacity(9);
    if format == PositionFormat::V2 {
        lines.push("Position Board".to_owned());
    }
    for rank in Rank::ALL.into_iter().rev() {
        let mut line = String::from(".");
        if format == PositionFormat::V2 {
            line.push(rank.char());
        }
        for file in File::ALL {
            let piece = position.board().piece_at(Square::from_coords(file, rank));
            line.push(piece.map_or(' ', shakmaty::Piece::char));
        }
        if rank == Rank::First {
            line.push(position.turn().fold_wb('+', '-'));
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chess::game::Game;

    #[test]
    fn the_documents_moves_are_read() {
        for (line, from, to, promotion) in [
            ("Me2e4", Square::E2, Square::E4, None),
            ("Me1g1", Square::E1, Square::G1, None),
            ("Ma7a8/Q", Square::A7, Square::A8, Some(Role::Queen)),
            ("Ma7a8/n", Square::A7, Square::A8, Some(Role::Knight)),
        ] {
            assert_eq!(
                parse(line.as_bytes()),
                Some(Message::Moved(Reported::squares(from, to, promotion)))
            );
        }
    }

    #[test]
    fn the_documents_moves_are_written() {
        let mut game = Game::from_fen("8/P5k1/8/8/8/8/4P3/4K2R w K - 0 1").unwrap();
        for (uci, line) in [
            ("e1g1", "Me1-g1"),
            ("g7g6", "Mg7-g6"),
            ("a7a8q", "Ma7-a8/q"),
        ] {
            game.play_uci([uci]).unwrap();
            assert_eq!(show(game.last().unwrap()), line);
        }
    }

    #[test]
    fn both_position_formats_are_those_of_the_document() {
        let start = Chess::new();
        let one = position(&start, PositionFormat::V1);
        assert_eq!(one.len(), 8);
        assert_eq!(one[0], ".rnbqkbnr");
        assert_eq!(one[2], ".        ");
        assert_eq!(one[7], ".RNBQKBNR+");
        let two = position(&start, PositionFormat::V2);
        assert_eq!(two.len(), 9);
        assert_eq!(two[0], "Position Board");
        assert_eq!(two[1], ".8rnbqkbnr");
        assert_eq!(two[3], ".6        ");
        assert_eq!(two[8], ".1RNBQKBNR+");
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for line in [
            &b"Me2e"[..],
            b"Me2e9",
            b"Ma7a8/K",
            b"Ma7a8/QQ",
            b"Me2-e4",
            b"hello",
            b"\xff\xfe",
            b"",
        ] {
            assert_eq!(parse(line), None, "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_read_without_fault(line in proptest::collection::vec(any::<u8>(), 0..32)) {
            let _ = parse(&line);
        }

        #[test]
        fn nearly_right_lines_are_read_without_fault(line in "[MIVPNJT ]{0,2}[a-h1-9/QRBNé-]{0,8}") {
            let _ = parse(line.as_bytes());
        }
    }
}
