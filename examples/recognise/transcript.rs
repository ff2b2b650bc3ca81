//! A recorded session, instead of games: what its board sensed goes through the recogniser.

use std::{fs, path::Path, time::Instant};

use boardbridge::{
    board::transcript::{Item, Transcript},
    chess::{
        game::{Game, uci},
        recognise::{Recognised, Recogniser, Waits},
        sense::Sensed,
    },
    driver::neo::codec::{self, Message},
    vocabulary::{Channel, Request},
};
use rig::noise::gesture;
use shakmaty::{Bitboard, Board, File, Move, Position, Rank, Square};

/// The transcript in a file; `None` if the file holds games.
pub fn read(file: &Path) -> Result<Option<Transcript>, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let first = text
        .lines()
        .find(|line| !line.is_empty() && !line.starts_with('#'));
    if !first.is_some_and(|line| line.starts_with('!')) {
        return Ok(None);
    }
    text.parse()
        .map(Some)
        .map_err(|error: boardbridge::board::transcript::TranscriptError| error.to_string())
}

/// Follows the session and prints each move found, with when and by whom it was made.
pub fn follow(transcript: &Transcript, print: &mut dyn FnMut(&str)) -> Result<Game, String> {
    let base = Instant::now();
    let game = Game::standard();
    let standing = game.position().board().clone();
    let mut recogniser = Recogniser::new(Waits::default(), standing.clone());
    recogniser.follow(base, &game, false);
    let mut session = Session {
        recogniser,
        game,
        standing,
        base,
        now: base,
        begun: false,
        print,
    };
    for entry in &transcript.entries {
        session.advance(base + entry.at)?;
        session.take(&entry.item)?;
        session.listen()?;
    }
    // A recording may stop with the last touch: what that was is told a little later.
    session.advance(session.now + Waits::default().doubtful)?;
    if session.begun {
        return Err("the last path is only a part of a move".to_owned());
    }
    Ok(session.game)
}

struct Session<'a> {
    recogniser: Recogniser,
    game: Game,
    /// The pieces, with what the motor has carried so far.
    standing: Board,
    base: Instant,
    now: Instant,
    /// The motor has carried a part of a move.
    begun: bool,
    print: &'a mut dyn FnMut(&str),
}

impl Session<'_> {
    fn advance(&mut self, to: Instant) -> Result<(), String> {
        while let Some(due) = self.recogniser.deadline().filter(|due| *due <= to) {
            self.now = self.now.max(due);
            self.recogniser.timeout(self.now);
            self.listen()?;
        }
        self.now = to;
        Ok(())
    }

    fn take(&mut self, item: &Item) -> Result<(), String> {
        match item {
            Item::LinkDown(_) => self.recogniser.resume(),
            Item::Received(Channel::Gatt(characteristic), value) => {
                let sensed = match codec::parse(*characteristic, value) {
                    Some(Message::Lifted(square)) => Sensed::Lifted(square),
                    Some(Message::Placed(square)) => Sensed::Placed(square),
                    Some(Message::Picture(occupied)) => Sensed::Occupied(occupied),
                    _ => return Ok(()),
                };
                self.recogniser.sense(self.now, sensed);
            }
            Item::Sent(outgoing) => {
                if let Request::Write(value) = &outgoing.request {
                    if outgoing.channel == Channel::Gatt(codec::PATHS) {
                        return self.carry(value);
                    }
                    if outgoing.channel == codec::reset().channel
                        && **value == *codec::reset().bytes()
                    {
                        self.game = Game::standard();
                        self.begun = false;
                        self.stand();
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The motor carries a piece; with that it may have made a move, or taken the last one back.
    fn carry(&mut self, path: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(path);
        let (from, to) = ends(&text).ok_or_else(|| format!("`{text}` is not a path"))?;
        if let Some(from) = from {
            let piece = self.standing.remove_piece_at(from);
            let piece = piece.ok_or_else(|| format!("`{text}`: no piece stands on {from}"))?;
            if let Some(to) = to {
                self.standing.set_piece_at(to, piece);
            }
        } else if let Some(to) = to {
            // From beside the board: of a take-back, what had been taken.
            let before = self.game.position_at(self.game.len().saturating_sub(1));
            let piece = before.board().piece_at(to);
            let piece = piece.ok_or_else(|| format!("`{text}`: nothing was taken on {to}"))?;
            self.standing.set_piece_at(to, piece);
        }
        let after = |m: Move| {
            let mut board = self.game.position().board().clone();
            gesture::apply(&mut board, m);
            board
        };
        // A promotion's piece is put by hand: the motor carries the pawn.
        let shape = |board: &Board| (board.occupied(), board.white());
        let stands = shape(&self.standing);
        let legal = self.game.position().legal_moves();
        let touched = |m: &Move| from.is_none_or(|from| gesture::squares(*m).contains(&from));
        if let Some(m) = legal.iter().copied().find(|m| shape(&after(*m)) == stands) {
            self.say("motor", &uci(m).to_string());
            self.game.push(m);
            self.stand();
        } else if let Some(m) = self.game.last()
            && shape(self.game.position_at(self.game.len() - 1).board()) == stands
        {
            self.say("motor takes back", &uci(m).to_string());
            self.game.pop();
            self.stand();
        } else if legal.iter().any(touched) || self.game.last().as_ref().is_some_and(touched) {
            self.begun = true;
        } else {
            return Err(format!(
                "`{text}` carries out no legal move in {}",
                self.game.fen()
            ));
        }
        Ok(())
    }

    /// The pieces stand as in the game.
    fn stand(&mut self) {
        self.begun = false;
        self.standing = self.game.position().board().clone();
        self.recogniser.stand(self.standing.clone());
        self.recogniser.follow(self.now, &self.game, false);
    }

    fn listen(&mut self) -> Result<(), String> {
        while let Some(recognised) = self.recogniser.poll() {
            match recognised {
                Recognised::Played(m) => {
                    self.say("hand", &uci(m).to_string());
                    if self.begun || !self.game.push(m) {
                        return Err(
                            "a move of the hand came between the paths of a move".to_owned()
                        );
                    }
                    self.standing = self.game.position().board().clone();
                    self.recogniser.follow(self.now, &self.game, false);
                }
                Recognised::TookBack(m) => {
                    self.say("hand takes back", &uci(m).to_string());
                    self.game.pop();
                    self.standing = self.game.position().board().clone();
                    self.recogniser.follow(self.now, &self.game, false);
                }
                Recognised::Puzzled { lacking, surplus } => {
                    let squares = |set: Bitboard| {
                        let all: Vec<String> = set.into_iter().map(|s| s.to_string()).collect();
                        all.join(" ")
                    };
                    let what = format!(
                        "lacking [{}] surplus [{}]",
                        squares(lacking),
                        squares(surplus)
                    );
                    self.say("asks", &what);
                }
                Recognised::Executed | Recognised::Mended => {}
            }
        }
        Ok(())
    }

    fn say(&mut self, who: &str, what: &str) {
        let at = (self.now - self.base).as_secs_f64();
        (self.print)(&format!("{at:9.3} {who} {what}"));
    }
}

/// Where a path begins and ends; `None` for a place beside the board.
fn ends(path: &str) -> Option<(Option<Square>, Option<Square>)> {
    let mut points = path.trim().strip_suffix('|')?.split(':').map(point);
    let first = points.next()??;
    let last = points.next_back()??;
    Some((square(first), square(last)))
}

fn point(text: &str) -> Option<(f64, f64)> {
    let (x, y) = text.split_once(',')?;
    Some((x.parse().ok()?, y.parse().ok()?))
}

/// The nearest square: paths end a little beyond its centre.
fn square((x, y): (f64, f64)) -> Option<Square> {
    let index = |at: f64| (0u32..8).find(|index| (at - f64::from(*index)).abs() < 0.5);
    Some(Square::from_coords(
        File::new(index(x)?),
        Rank::new(index(y)?),
    ))
}
