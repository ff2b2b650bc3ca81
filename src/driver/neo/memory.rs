//! What the driver knows of its board when the link breaks, as it is kept through a restart of the daemon.

use serde::{Deserialize, Serialize};
use shakmaty::{Board, Chess, Position, Square, uci::UciMove};

use super::{
    Neo,
    leftover::Leftover,
    motor::{Carry, Path, Slot, Spot, parking},
    task::{Interrupted, Unfinished},
};
use crate::{
    chess::game::{Game, uci},
    driver::sensing::Known,
};

/// See the module documentation.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SavedNeo {
    #[serde(flatten)]
    parking: parking::SavedParking,
    /// Which piece stands where, if that is known, as in a FEN.
    placement: Option<String>,
    /// Squares that hold a piece and have read empty for long.
    dim: Vec<String>,
    /// The capture that a hand was making, from and to which square.
    begun: Option<(String, String)>,
    path: Option<PathMemory>,
    step: Option<StepMemory>,
}

/// A path that may or may not have been carried out.
#[derive(Debug, Serialize, Deserialize)]
struct PathMemory {
    from: SpotMemory,
    to: SpotMemory,
    dim: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum SpotMemory {
    Square(String),
    Slot(Slot),
}

/// A step that was begun and not finished.
#[derive(Debug, Serialize, Deserialize)]
struct StepMemory {
    forward: bool,
    m: String,
    /// The game up to this move.
    game: Game,
    unwanted: bool,
}

impl SavedNeo {
    pub fn of(driver: &Neo) -> Self {
        let leftover = driver.left_now();
        let game = driver.squares.game();
        let known = driver.squares.known();
        let name = |square: Square| square.to_string();
        Self {
            parking: driver.parking.memory(),
            placement: known
                .as_ref()
                .map(|known| known.placement.board_fen().to_string()),
            dim: known.iter().flat_map(|known| known.dim).map(name).collect(),
            begun: known
                .and_then(|known| known.begun)
                .map(|(from, to)| (name(from), name(to))),
            path: leftover.path().map(PathMemory::of),
            step: leftover
                .unfinished()
                .and_then(|step| StepMemory::of(step, game)),
        }
    }

    /// Restores a driver whose link is down.
    pub fn recall(self, driver: &mut Neo) {
        driver.lit = None;
        driver.parking.recall(self.parking);
        let placement = self
            .placement
            .and_then(|fen| Board::from_ascii_board_fen(fen.as_bytes()).ok());
        // Without the placement the rest is useless.
        let Some(placement) = placement else {
            return;
        };
        driver.squares.recall(Known {
            placement,
            dim: self.dim.iter().filter_map(|name| square(name)).collect(),
            begun: self
                .begun
                .and_then(|(from, to)| square(&from).zip(square(&to))),
        });
        let path = self.path.and_then(PathMemory::recalled);
        let step = self.step.and_then(StepMemory::recalled);
        driver.leftover = Leftover::recalled(path, step);
    }
}

fn square(name: &str) -> Option<Square> {
    Square::from_ascii(name.as_bytes()).ok()
}

impl PathMemory {
    fn of(path: &Interrupted) -> Self {
        let spot = |spot| match spot {
            Spot::Square(square) => SpotMemory::Square(square.to_string()),
            Spot::Slot(slot) => SpotMemory::Slot(slot),
        };
        Self {
            from: spot(path.carry.from),
            to: spot(path.carry.to),
            dim: path.dim,
        }
    }

    fn recalled(self) -> Option<Interrupted> {
        let spot = |spot| match spot {
            SpotMemory::Square(name) => square(&name).map(Spot::Square),
            SpotMemory::Slot(slot) => Some(Spot::Slot(slot)),
        };
        // It is never sent again: only its ends count.
        let carry = Carry {
            from: spot(self.from)?,
            to: spot(self.to)?,
            path: Path::through([]),
        };
        Some(Interrupted::of(carry, self.dim))
    }
}

impl StepMemory {
    fn of(step: Unfinished, game: &Game) -> Option<Self> {
        let legal = |game: &Game| {
            let position: &Chess = game.position();
            position.turn() == step.mover && position.is_legal(step.m)
        };
        let before = game.truncated(game.len().saturating_sub(1));
        let game = [game.clone(), before].into_iter().find(legal)?;
        Some(Self {
            forward: step.forward,
            m: uci(step.m).to_string(),
            game,
            unwanted: step.unwanted,
        })
    }

    fn recalled(self) -> Option<Unfinished> {
        let position = self.game.position();
        let m: UciMove = self.m.parse().ok()?;
        Some(Unfinished {
            forward: self.forward,
            m: m.to_move(position).ok()?,
            mover: position.turn(),
            unwanted: self.unwanted,
        })
    }
}
