//! Reports what was sensed to the board and the program.

use shakmaty::Move;

use super::{Neo, codec, request::Purpose};
use crate::driver::{DriverEvent, sensing::Report};

impl Neo {
    /// Reports what was sensed.
    pub(super) fn pass_on(&mut self) {
        while let Some(report) = self.squares.poll() {
            match report {
                Report::Moved { m, reported } => {
                    match self.driving.take() {
                        // The player made the move that the motor was about to make.
                        Some(driving) if driving.makes(m) => {
                            self.events.push_back(DriverEvent::Accepted);
                            self.events
                                .push_back(DriverEvent::Moved(driving.reported()));
                            continue;
                        }
                        Some(driving) => self.broke_off(&driving),
                        None => {}
                    }
                    self.events.push_back(DriverEvent::Moved(reported));
                }
                Report::Executed(reported) => self.events.push_back(DriverEvent::Moved(reported)),
                Report::TookBack { m, reported } => {
                    self.doubt_captured();
                    match self.driving.take() {
                        Some(driving) if driving.takes_back(m) => {
                            self.events.push_back(DriverEvent::Accepted);
                            continue;
                        }
                        Some(driving) => self.broke_off(&driving),
                        None => {}
                    }
                    self.events.push_back(DriverEvent::TookBack(Some(reported)));
                }
                Report::NewGame => {
                    self.parking.clear();
                    self.say(codec::game_begins());
                    self.events.push_back(DriverEvent::NewGame);
                }
                Report::SetUp => {
                    self.say(codec::position_set());
                    self.say(codec::in_sync());
                    self.outbox.push(codec::reset(), Purpose::GameBegun);
                }
                Report::Misplaced(misplaced) => {
                    let more = misplaced.surplus.count() > misplaced.lacking.len();
                    if more && !std::mem::replace(&mut self.surplus_told, more) {
                        // The player may have begun to take a capture back.
                        self.doubt_captured();
                    }
                    self.surplus_told = more;
                    self.events.push_back(DriverEvent::Misplaced(misplaced));
                }
                Report::Stands => {
                    self.surplus_told = false;
                    self.events.push_back(DriverEvent::Stands);
                }
            }
        }
    }

    /// The piece that the last move captured may no longer stand where the motor put it.
    fn doubt_captured(&mut self) {
        let game = self.squares.game();
        if let Some(role) = game.last().and_then(Move::capture) {
            self.parking.doubt(role.of(game.turn()));
        }
    }
}
