//! Asks what is connected to a serial port. Only on request: other devices than chess boards may misinterpret a
//! question.
//!
//! What an answer shows: a Citrine or a sister board introduces itself when asked `I`, a home-made board answers the
//! SWPP handshake. A UCB answers nothing; it asks a question itself, whenever it is switched on.

use std::{future::Future, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{sleep, timeout},
};

use crate::{
    driver::{
        citrine::codec as citrine,
        ucb::{BAUD as UCB_BAUD, codec as ucb},
    },
    swpp::{self, LineError, MAX_LINE},
    transport::{OpenError, Stream},
};

/// Speeds of the Citrine and its sister boards, in baud. Not 1200, which few have: opened at that speed, some Arduinos
/// wait for a new program.
const NOVAG_BAUDS: [u32; 2] = [57_600, 9_600];
/// Between an end of line and the question: closer commands are lost (`src/driver/citrine/PROTOCOL.md`).
const COMMAND_GAP: Duration = Duration::from_millis(200);
/// How long a Novag board may take for its answer, which is 20 bytes.
const ANSWER_WAIT: Duration = Duration::from_millis(1500);
/// Between two SWPP handshakes.
const HANDSHAKE_WAIT: Duration = Duration::from_millis(500);
/// Handshakes in all: an Arduino restarts when its port is opened, which takes it two seconds.
const HANDSHAKES: usize = 8;
/// How long to wait for a UCB to be switched off and on.
pub const SWITCH_WAIT: Duration = Duration::from_secs(15);

/// What is connected to a port.
#[derive(Debug)]
pub enum Finding {
    /// A Citrine or a sister board: its answer, and its speed.
    Novag(String, u32),
    /// A Novag Universal Chess Board, which has just been switched on.
    Ucb,
    /// A board that speaks SWPP.
    Swpp,
    /// Nothing answered.
    Silent,
    /// The port could not be asked.
    Barred(OpenError),
}

/// Asks at every speed; `open` opens the port at a given speed.
pub async fn ask<S: Stream, F: Future<Output = Result<S, OpenError>>>(
    open: impl Fn(u32) -> F,
) -> Finding {
    for baud in NOVAG_BAUDS {
        let mut port = match open(baud).await {
            Ok(port) => port,
            Err(error) => return Finding::Barred(error),
        };
        // Bytes sent at another speed may still precede the question: they get an end of line of their own.
        say(&mut port, b"\r\n").await;
        sleep(COMMAND_GAP).await;
        say(&mut port, b"I\r\n").await;
        let id = |line: &[u8]| match citrine::parse(line) {
            citrine::Message::Id(id) => Some(Finding::Novag(id, baud)),
            _ => None,
        };
        if let Some(found) = hear(&mut port, ANSWER_WAIT, id).await {
            return found;
        }
    }
    let mut port = match open(swpp::BAUD).await {
        Ok(port) => port,
        Err(error) => return Finding::Barred(error),
    };
    let question = swpp::write(&swpp::Message::HandshakeRequest {
        protocol: Some(swpp::VERSION),
        build: None,
    });
    let answers = |line: &[u8]| match swpp::read(line) {
        Ok(swpp::Message::HandshakeResponse { .. })
        | Err(LineError::NoProtocol(_) | LineError::ShortVersion(_)) => Some(Finding::Swpp),
        _ => None,
    };
    for _ in 0..HANDSHAKES {
        say(&mut port, question.as_bytes()).await;
        if let Some(found) = hear(&mut port, HANDSHAKE_WAIT, answers).await {
            return found;
        }
    }
    Finding::Silent
}

/// Waits for a UCB to be switched off and on; nothing is sent.
pub async fn wait_for_ucb<S: Stream, F: Future<Output = Result<S, OpenError>>>(
    open: impl Fn(u32) -> F,
) -> Finding {
    let mut port = match open(UCB_BAUD).await {
        Ok(port) => port,
        Err(error) => return Finding::Barred(error),
    };
    // Its first byte, a blank, may be noise.
    let speaks = |line: &[u8]| match ucb::parse(line) {
        None | Some(ucb::Message::Hello) => None,
        Some(_) => Some(Finding::Ucb),
    };
    let found = hear(&mut port, SWITCH_WAIT, speaks).await;
    found.unwrap_or(Finding::Silent)
}

async fn say(port: &mut impl Stream, bytes: &[u8]) {
    // A board that accepts nothing answers nothing either.
    let _ = timeout(ANSWER_WAIT, port.write_all(bytes)).await;
}

/// The result of the first line that identifies something.
async fn hear<T>(
    port: &mut impl Stream,
    wait: Duration,
    known: impl Fn(&[u8]) -> Option<T>,
) -> Option<T> {
    let listening = async {
        let mut line = Vec::new();
        loop {
            match port.read_u8().await.ok()? {
                b'\r' | b'\n' => {
                    if let Some(found) = known(&line) {
                        return Some(found);
                    }
                    line.clear();
                }
                // No board sends a longer line.
                _ if line.len() == MAX_LINE => line.clear(),
                byte => line.push(byte),
            }
        }
    };
    timeout(wait, listening).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use tokio::io::DuplexStream;

    use super::*;

    /// A board that answers `question` at its own speed, and receives nonsense at another.
    fn board(
        baud: u32,
        question: &'static str,
        answer: &'static str,
    ) -> impl Fn(u32) -> std::future::Ready<Result<DuplexStream, OpenError>> {
        move |speed| {
            let (port, mut far) = tokio::io::duplex(1024);
            tokio::spawn(async move {
                let mut heard = Vec::new();
                while let Ok(byte) = far.read_u8().await {
                    heard.push(byte);
                    if speed == baud && heard.ends_with(question.as_bytes()) {
                        // The question is alone, or an end of line separates it from earlier bytes.
                        assert!(heard == question.as_bytes() || heard.contains(&b'\n'));
                        let _ = far.write_all(answer.as_bytes()).await;
                    }
                }
            });
            std::future::ready(Ok(port))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_board_is_known_by_what_it_answers_at_its_speed() {
        let citrine = ask(board(57_600, "\r\nI\r\n", "ID CITRINE 1.0\r\n")).await;
        assert!(matches!(citrine, Finding::Novag(id, 57_600) if id == "CITRINE 1.0"));
        // A sister board that echoes its input.
        let sister = ask(board(9_600, "\r\nI\r\n", "I\r\nID SAPPHIRE II 1.02\r\n")).await;
        assert!(matches!(sister, Finding::Novag(id, 9_600) if id == "SAPPHIRE II 1.02"));
        let own = ask(board(115_200, "H0010000\n", "booting\r\nH101     1.2\n")).await;
        assert!(matches!(own, Finding::Swpp));
        let short = ask(board(115_200, "H0010000\n", "H1011.2\n")).await;
        assert!(matches!(short, Finding::Swpp));
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_that_only_echoes_is_no_board() {
        for question in ["\r\n", "I\r\n", "\n"] {
            let found = ask(board(9_600, question, question)).await;
            assert!(matches!(found, Finding::Silent), "{found:?}");
        }
        let flood = ask(|_| {
            let (port, mut far) = tokio::io::duplex(64);
            tokio::spawn(async move {
                while far.write_all(&[b'I'; 64]).await.is_ok() {
                    sleep(Duration::from_millis(1)).await;
                }
            });
            std::future::ready(Ok::<_, OpenError>(port))
        });
        // It ends.
        assert!(matches!(flood.await, Finding::Silent));
    }

    #[tokio::test(start_paused = true)]
    async fn a_ucb_is_known_by_what_it_asks_when_it_is_switched_on() {
        for (first, is_ucb) in [
            (" I\r\n", true),
            (" \r\nI\r\nE OFF\r\n", true),
            (" \r\n", false),
        ] {
            let found = wait_for_ucb(|baud| {
                assert_eq!(baud, UCB_BAUD);
                let (port, mut far) = tokio::io::duplex(64);
                tokio::spawn(async move {
                    sleep(SWITCH_WAIT / 2).await;
                    far.write_all(first.as_bytes()).await.unwrap();
                    // Nothing has been sent to it: it has no input buffer.
                    assert_eq!(far.read(&mut [0]).await.unwrap(), 0);
                });
                std::future::ready(Ok::<_, OpenError>(port))
            });
            assert_eq!(matches!(found.await, Finding::Ucb), is_ucb, "{first:?}");
        }
    }
}
