//! A line that its terminal does not show.

use std::io::{self, IsTerminal as _, Read as _, Write as _};

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// The longest line that is read, in bytes: a key has 12 digits, which may be typed with blanks.
const MAX_SECRET: usize = 256;
/// What Ctrl-C sends.
const INTERRUPT: u8 = 3;

/// Asks for a line; on a terminal it is not shown. What is not a terminal is not asked: its first line is taken.
///
/// # Errors
/// It cannot be read, or Ctrl-C was pressed.
pub(super) fn line(question: &str) -> io::Result<String> {
    let input = io::stdin();
    let hidden = input.is_terminal().then(Hidden::new).transpose()?;
    if hidden.is_some() {
        let mut output = io::stderr();
        write!(output, "{question}")?;
        output.flush()?;
    }
    let mut line = Vec::new();
    for byte in input.lock().bytes() {
        match byte? {
            b'\n' | b'\r' => break,
            INTERRUPT => return Err(io::ErrorKind::Interrupted.into()),
            byte => line.push(byte),
        }
        if line.len() == MAX_SECRET {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&line).trim().to_owned())
}

/// While it lives, standard input shows nothing that is typed but the end of the line. Its modes before are set again in the end, which
/// Ctrl-C must not prevent: it ends the line.
struct Hidden(Termios);

impl Hidden {
    fn new() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut hidden = before.clone();
        hidden
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ISIG);
        hidden
            .local_modes
            .insert(LocalModes::ECHONL | LocalModes::ICANON);
        hidden.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // There is no other way to set them.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}
