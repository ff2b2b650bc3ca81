//! A player in words: `e2u` lifts, `e4d` puts down, `+500` waits as many ms, `picture` samples the squares, `(e2u)`
//! happens unseen, `down` and `up` are the link's, `arrive` delivers late pictures.

use std::time::{Duration, Instant};

use boardbridge::chess::{
    game::{Game, uci},
    recognise::{Recognised, Recogniser, Sensing, Waits},
    sense::Sensed,
};
use shakmaty::{Bitboard, Board, Position, Square};

/// See the module documentation.
pub struct Hand {
    recogniser: Recogniser,
    game: Game,
    occupied: Bitboard,
    stuck: Bitboard,
    now: Instant,
    late: Option<Vec<Bitboard>>,
    said: Vec<String>,
}

fn game(moves: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
}

impl Hand {
    /// The pieces stand as after these moves, and the recogniser follows.
    pub fn after(moves: &str) -> Self {
        let game = game(moves);
        let board: Board = game.position().board().clone();
        let now = Instant::now();
        let mut recogniser = Recogniser::new(Waits::default(), board.clone());
        recogniser.follow(now, &game, false);
        Self {
            recogniser,
            game,
            occupied: board.occupied(),
            stuck: Bitboard::EMPTY,
            now,
            late: None,
            said: Vec::new(),
        }
    }

    pub fn recogniser(&self) -> &Recogniser {
        &self.recogniser
    }

    /// The program has continued to this game.
    pub fn follow(&mut self, moves: &str) {
        self.game = game(moves);
        self.recogniser.follow(self.now, &self.game, false);
    }

    /// The program shows the last of these moves, and the pieces stand as before it.
    pub fn shown(&mut self, moves: &str) {
        self.follow(moves);
    }

    /// No program has the last move yet: it may turn out to have been another one.
    pub fn may_replace(&mut self) {
        self.recogniser.follow(self.now, &self.game, true);
    }

    /// The board senses like this.
    pub fn sensing(&mut self, sensing: Sensing) {
        let standing = self.game.position().board().clone();
        self.recogniser = Recogniser::new(Waits::default(), standing).sensing(sensing);
        self.recogniser.follow(self.now, &self.game, false);
    }

    /// From now on this square reads empty.
    pub fn stick(&mut self, square: Square) {
        self.stuck.add(square);
    }

    /// Pictures arrive only on request.
    pub fn late(&mut self) {
        self.late = Some(Vec::new());
    }

    fn listen(&mut self) {
        while let Some(said) = self.recogniser.poll() {
            // The program follows.
            match said {
                Recognised::Played(m) => {
                    assert!(self.game.push(m), "illegal");
                    self.recogniser.follow(self.now, &self.game, false);
                }
                Recognised::TookBack(_) => {
                    self.game.pop();
                    self.recogniser.follow(self.now, &self.game, false);
                }
                _ => {}
            }
            let squares =
                |set: Bitboard| set.into_iter().map(|s| s.to_string()).collect::<String>();
            self.said.push(match said {
                Recognised::Played(m) => uci(m).to_string(),
                Recognised::Executed => "executed".to_owned(),
                Recognised::TookBack(m) => format!("back:{}", uci(m)),
                Recognised::Puzzled { lacking, surplus } => {
                    format!("asks:{}/{}", squares(lacking), squares(surplus))
                }
                Recognised::Mended => "mended".to_owned(),
            });
        }
    }

    fn wait(&mut self, millis: u64) {
        let until = self.now + Duration::from_millis(millis);
        while let Some(due) = self.recogniser.deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.recogniser.timeout(self.now);
            self.listen();
        }
        self.now = until;
    }

    fn sense(&mut self, sensed: Sensed) {
        self.recogniser.sense(self.now, sensed);
        self.listen();
    }

    /// Does it, and returns the recogniser's reports meanwhile.
    pub fn does(&mut self, words: &str) -> String {
        self.said.clear();
        for word in words.split_whitespace() {
            if let Some(millis) = word.strip_prefix('+') {
                self.wait(millis.parse().unwrap());
                continue;
            }
            match word {
                "picture" => {
                    let picture = self.occupied & !self.stuck;
                    match &mut self.late {
                        Some(late) => late.push(picture),
                        None => self.sense(Sensed::Occupied(picture)),
                    }
                }
                "arrive" => {
                    for picture in self.late.replace(Vec::new()).unwrap() {
                        self.sense(Sensed::Occupied(picture));
                    }
                }
                "down" => {}
                "up" => self.recogniser.resume(),
                _ => {
                    let seen = !word.starts_with('(');
                    let word = word.trim_matches(['(', ')']);
                    let square: Square = word[..2].parse().unwrap();
                    let lifted = word.ends_with('u');
                    self.occupied.set(square, !lifted);
                    if seen {
                        self.sense(if lifted {
                            Sensed::Lifted(square)
                        } else {
                            Sensed::Placed(square)
                        });
                    }
                }
            }
        }
        self.said.join(" ")
    }
}
