//! Where the recogniser is plugged in.

use std::time::Instant;

use boardbridge::chess::{game::Game, recognise, sense::Sensed};
use rig::noise::Model;
use shakmaty::{Board, Move, Position};

/// What a recogniser says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recognised {
    /// The player made this move.
    Played(Move),
    /// The opponent's move, still to be made, was made.
    Executed(Move),
    /// This move, the last one, was taken back.
    TookBack(Move),
    /// It cannot tell, and the player has to be asked.
    Lost,
    /// It can tell again.
    Mended,
}

/// A recogniser.
pub trait Recogniser {
    /// The game as the program knows it, and the pieces as they stand: they may lack a move the hand has still to make.
    fn follow(&mut self, now: Instant, game: &Game, standing: &Board);
    /// Something was sensed.
    fn sense(&mut self, now: Instant, sensed: Sensed);
    /// The time given by [`Self::deadline`] has come.
    fn timeout(&mut self, now: Instant);
    /// When [`Self::timeout`] is to be called.
    fn deadline(&self) -> Option<Instant>;
    /// What was recognised.
    fn poll(&mut self) -> Option<Recognised>;
}

/// The project's own recogniser.
struct Own {
    recogniser: recognise::Recogniser,
    game: Game,
    /// The move the hand has still to carry out.
    owed: Option<Move>,
}

impl Recogniser for Own {
    fn follow(&mut self, now: Instant, game: &Game, standing: &Board) {
        if self.recogniser.standing() != standing {
            self.recogniser.stand(standing.clone());
        }
        if standing == game.position().board() {
            self.owed = None;
        } else if self.owed.is_none() {
            self.owed = game.last();
        }
        self.game = game.clone();
        self.recogniser.follow(now, game, false);
    }

    fn sense(&mut self, now: Instant, sensed: Sensed) {
        self.recogniser.sense(now, sensed);
    }

    fn timeout(&mut self, now: Instant) {
        self.recogniser.timeout(now);
    }

    fn deadline(&self) -> Option<Instant> {
        self.recogniser.deadline()
    }

    fn poll(&mut self) -> Option<Recognised> {
        Some(match self.recogniser.poll()? {
            recognise::Recognised::Played(m) => Recognised::Played(m),
            recognise::Recognised::Executed => Recognised::Executed(self.owed.take()?),
            recognise::Recognised::TookBack(m) => Recognised::TookBack(m),
            recognise::Recognised::Puzzled { .. } => Recognised::Lost,
            recognise::Recognised::Mended => Recognised::Mended,
        })
    }
}

/// The recogniser to be tried.
pub fn recogniser(model: &Model) -> Box<dyn Recogniser> {
    let own = recognise::Recogniser::new(recognise::Waits::default(), Board::empty());
    let sensing = recognise::Sensing {
        events: !model.faults.strings_only,
        ..recognise::Sensing::default()
    };
    Box::new(Own {
        recogniser: own.sensing(sensing),
        game: Game::standard(),
        owed: None,
    })
}
