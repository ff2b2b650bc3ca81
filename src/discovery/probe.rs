//! Asks what is connected to a serial port. Only on request: other devices than chess boards may misinterpret a
//! question. What to ask, and what an answer shows, is in each board's room ([`Probe`]).

use std::{future::Future, time::Duration};

use bytes::BytesMut;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{sleep, timeout},
};

use crate::{
    driver::{
        identity::{Identity, Known, Probe},
        registry::MAKES,
    },
    text::{
        frames::{Frame, Frames},
        lines::{Line, Lines},
        swpp::MAX_LINE,
    },
    transport::{OpenError, Stream},
};

/// How long a port may take to accept a question.
const SEND_WAIT: Duration = Duration::from_millis(1500);

/// Bytes read at once.
const CHUNK: usize = 256;

/// What is connected to a port.
#[derive(Debug)]
pub enum Finding {
    /// A board.
    Board {
        /// Its make.
        make: &'static Identity,
        /// What it said, in words.
        said: String,
        /// The speed, in baud.
        baud: u32,
    },
    /// Nothing answered.
    Silent,
    /// The port could not be asked.
    Barred(OpenError),
}

/// Asks for every make that answers, at every speed; `open` opens the port at a given speed.
pub async fn ask<S: Stream, F: Future<Output = Result<S, OpenError>>>(
    open: impl Fn(u32) -> F,
) -> Finding {
    first(true, open).await
}

/// Waits for a board that answers nothing to be switched off and on; nothing is sent.
pub async fn wait_for_switch<S: Stream, F: Future<Output = Result<S, OpenError>>>(
    open: impl Fn(u32) -> F,
) -> Finding {
    first(false, open).await
}

async fn first<S: Stream, F: Future<Output = Result<S, OpenError>>>(
    asked: bool,
    open: impl Fn(u32) -> F,
) -> Finding {
    for (make, probe) in probes(asked) {
        match find(make, probe, &open).await {
            Finding::Silent => {}
            found => return found,
        }
    }
    Finding::Silent
}

/// The makes that can be asked, or those that speak only when they are switched on.
pub fn probes(asked: bool) -> impl Iterator<Item = (&'static Identity, &'static Probe)> {
    // Boards of binary messages first: some take a line of text for a question that they answer for 10 s.
    let binary = |probe: &Probe| matches!(probe.known, Known::Frame { .. });
    let probes = || {
        MAKES
            .iter()
            .filter_map(|make| Some((*make, make.probe.as_ref()?)))
    };
    let first = probes().filter(move |(_, probe)| binary(probe));
    let then = probes().filter(move |(_, probe)| !binary(probe));
    first
        .chain(then)
        .filter(move |(_, probe)| probe.question.is_some() == asked)
}

async fn find<S: Stream, F: Future<Output = Result<S, OpenError>>>(
    make: &'static Identity,
    probe: &Probe,
    open: &impl Fn(u32) -> F,
) -> Finding {
    for &baud in probe.bauds {
        let mut port = match open(baud).await {
            Ok(port) => port,
            Err(error) => return Finding::Barred(error),
        };
        if let Some((first, gap)) = probe.first {
            say(&mut port, first.as_bytes()).await;
            sleep(gap).await;
        }
        for _ in 0..probe.times {
            if let Some(question) = probe.question {
                say(&mut port, &question()).await;
            }
            if let Some(said) = hear(&mut port, probe.wait, probe.known).await {
                return Finding::Board { make, said, baud };
            }
        }
    }
    Finding::Silent
}

async fn say(port: &mut impl Stream, bytes: &[u8]) {
    // A board that accepts nothing answers nothing either.
    let _ = timeout(SEND_WAIT, port.write_all(bytes)).await;
}

/// What the first line or message shows that identifies something.
async fn hear(port: &mut impl Stream, wait: Duration, known: Known) -> Option<String> {
    timeout(wait, async {
        let mut bytes = BytesMut::with_capacity(CHUNK);
        match known {
            Known::Line(known) => {
                let mut lines = Lines::new(MAX_LINE);
                while port.read_buf(&mut bytes).await.ok()? > 0 {
                    lines.push(&bytes.split());
                    while let Some(line) = lines.next_line() {
                        if let Line::Whole(line) = line
                            && let Some(found) = known(&line)
                        {
                            return Some(found);
                        }
                    }
                }
            }
            Known::Frame { cut, bound, known } => {
                let mut frames = Frames::new(bound, cut);
                while port.read_buf(&mut bytes).await.ok()? > 0 {
                    frames.push(&bytes.split());
                    while let Some(frame) = frames.next_frame() {
                        if let Frame::Whole(frame) = frame
                            && let Some(found) = known(&frame)
                        {
                            return Some(found);
                        }
                    }
                }
            }
        }
        None
    })
    .await
    .ok()
    .flatten()
}

#[cfg(test)]
mod tests {
    use tokio::io::DuplexStream;

    use super::*;
    use crate::driver::{
        citrine,
        identity::SWITCH_WAIT,
        swpp,
        ucb::{self, BAUD},
    };

    /// Whether a board of this make was found, which said this, at this speed.
    fn is(finding: &Finding, make: &Identity, words: &str, speed: u32) -> bool {
        matches!(finding, Finding::Board { make: found, said, baud }
            if found.kind == make.kind && said == words && *baud == speed)
    }

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
        assert!(is(
            &citrine,
            &citrine::IDENTITY,
            "answers: CITRINE 1.0",
            57_600
        ));
        // A sister board that echoes its input.
        let sister = ask(board(9_600, "\r\nI\r\n", "I\r\nID SAPPHIRE II 1.02\r\n")).await;
        let words = "answers: SAPPHIRE II 1.02";
        assert!(is(&sister, &citrine::IDENTITY, words, 9_600));
        let own = ask(board(115_200, "H0010000\n", "booting\r\nH101     1.2\n")).await;
        let words = "answers as home-made boards do";
        assert!(is(&own, &swpp::IDENTITY, words, 115_200));
        let short = ask(board(115_200, "H0010000\n", "H1011.2\n")).await;
        assert!(is(&short, &swpp::IDENTITY, words, 115_200));
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
            let found = wait_for_switch(|baud| {
                assert_eq!(baud, BAUD);
                let (port, mut far) = tokio::io::duplex(64);
                tokio::spawn(async move {
                    sleep(SWITCH_WAIT / 2).await;
                    far.write_all(first.as_bytes()).await.unwrap();
                    // Nothing has been sent to it: it has no input buffer.
                    assert_eq!(far.read(&mut [0]).await.unwrap(), 0);
                });
                std::future::ready(Ok::<_, OpenError>(port))
            });
            let found = is(&found.await, &ucb::IDENTITY, "is a UCB, switched on", BAUD);
            assert_eq!(found, is_ucb, "{first:?}");
        }
    }
}
