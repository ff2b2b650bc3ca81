//! The boards that can be simulated: a kind and a row for each.

use std::{
    fmt,
    time::{Duration, Instant},
};

use clap::{ValueEnum, builder::PossibleValue};
use uuid::Uuid;

use crate::{
    HandAction, Report, SimulatedBoard,
    chessnut::{self, Chessnut, usb::UsbChessnut},
    citrine::Citrine,
    dgt::{self, Dgt},
    game::Game,
    gesture::Style,
    neo::{self, Neo},
    pegasus::{self, Pegasus},
    peripheral::{Peripheral, Profile, Refused},
    pieces,
    radio::RadioBoard,
    run::Settings,
    swpp::{self, SwppBoard},
    turns::Told,
    ucb::Ucb,
    uhid::Identity,
};

/// The kinds of boards that can be simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Novag Citrine.
    #[value(alias = "citrine")]
    NovagCitrine,
    /// Novag Universal Chess Board.
    #[value(alias = "ucb")]
    NovagUcb,
    /// Miko Neo, on a D-Bus of its own or on a real adapter.
    #[value(alias = "neo")]
    MikoNeo,
    /// A home-made board that speaks the SWPP.
    #[value(alias = "swpp")]
    SwppBoard,
    /// DGT e-board with a DGT3000 clock.
    #[value(alias = "dgt")]
    DgtBoard,
    /// DGT Revelation II.
    #[value(alias = "revelation")]
    DgtRevelation,
    /// Chessnut Air, on a D-Bus of its own or on a real adapter.
    #[value(alias = "chessnut")]
    ChessnutAir,
    /// Chessnut Move, on a D-Bus of its own or on a real adapter.
    ChessnutMove,
    /// DGT Pegasus, on a D-Bus of its own or on a real adapter. Its key is 53494D4B4559.
    #[value(alias = "pegasus")]
    DgtPegasus,
    /// The WhitePawn app, which an SWPP board is connected to.
    WhitepawnApp,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", PossibleValue::get_name))
    }
}

impl Kind {
    /// Whether it is a board, and not the app.
    pub fn is_board(self) -> bool {
        make(self).is_some()
    }

    /// Whether it can be on a line.
    pub fn takes_line(self) -> bool {
        matches!(make(self), Some(Make::Line(_) | Make::Either(..)))
    }

    /// Whether it can be on the radio.
    pub fn takes_radio(self) -> bool {
        let made = make(self);
        matches!(
            made,
            Some(Make::Radio(_) | Make::Either(..) | Make::RadioOrUsb(..))
        )
    }
}

/// A board for a line, in software.
pub type OnLine = Box<dyn SimulatedBoard>;
/// A board for the radio, in software.
pub type OnRadio = Box<dyn RadioBoard>;

/// How a board is made.
#[derive(Clone, Copy)]
pub(crate) enum Make {
    /// It is on a line.
    Line(fn(&Settings) -> OnLine),
    /// It is on the radio.
    Radio(fn(&Settings) -> OnRadio),
    /// It is on a line, and on the radio if that is wished.
    Either(fn(&Settings) -> OnLine, fn(&Settings) -> OnRadio),
    /// It is on the radio, and at a cable, as this HID device, if that is wished.
    RadioOrUsb(
        fn(&Settings) -> OnRadio,
        fn(&Settings) -> OnLine,
        fn() -> Identity,
    ),
}

/// In this time the battery of a Pegasus loses one per cent: shorter than on a real one, so that a game meets it.
const PEGASUS_DRAIN: Duration = Duration::from_mins(1);

/// Each board, what it is told of a game, and how it is made.
const BOARDS: &[(Kind, Told, Make)] = &[
    (Kind::NovagCitrine, Told::Nothing, Make::Line(citrine)),
    (Kind::NovagUcb, Told::Nothing, Make::Line(ucb)),
    // Moves before the game began mean nothing: the board senses only squares.
    (
        Kind::MikoNeo,
        Told::Beginning,
        Make::Radio(|of| Box::new(neo(of))),
    ),
    (
        Kind::SwppBoard,
        Told::Both,
        Make::Either(|of| Box::new(swpp(of)), |of| Box::new(swpp(of))),
    ),
    (
        Kind::DgtBoard,
        Told::Nothing,
        Make::Line(|of| dgt(of, dgt::Model::Cable, dgt::clock::Kind::Dgt3000)),
    ),
    (
        Kind::DgtRevelation,
        Told::Nothing,
        Make::Line(|of| dgt(of, dgt::Model::Revelation, dgt::clock::Kind::Revelation)),
    ),
    (
        Kind::ChessnutAir,
        Told::Nothing,
        Make::RadioOrUsb(
            |of| Box::new(chessnut(of, chessnut::Model::Air)),
            |of| Box::new(UsbChessnut::new(chessnut(of, chessnut::Model::Air))),
            chessnut::usb::identity,
        ),
    ),
    (
        Kind::ChessnutMove,
        Told::Nothing,
        Make::Radio(|of| Box::new(chessnut(of, chessnut::Model::Move))),
    ),
    (
        Kind::DgtPegasus,
        Told::Nothing,
        Make::Radio(|of| Box::new(pegasus(of))),
    ),
];

/// How a board of this kind is made; nothing for an app.
pub(crate) fn make(kind: Kind) -> Option<Make> {
    let found = BOARDS.iter().find(|(other, ..)| *other == kind);
    found.map(|(.., make)| *make)
}

/// What a board of this kind is told of a game.
pub(crate) fn told(kind: Kind) -> Told {
    let found = BOARDS.iter().find(|(other, ..)| *other == kind);
    found.map_or(Told::Nothing, |(_, told, _)| *told)
}

fn citrine(of: &Settings) -> OnLine {
    Box::new(Citrine::new(of.speed, of.hand_delay, of.seed))
}

fn ucb(of: &Settings) -> OnLine {
    let ucb = Ucb::new(of.speed, of.position_format, of.hand_delay, of.seed);
    Box::new(ucb)
}

fn neo(of: &Settings) -> Neo {
    Neo::new(neo::Settings {
        suffix: "1A2".to_owned(),
        speed: of.speed,
        hand_delay: of.hand_delay,
        seed: of.seed,
        ..neo::Settings::default()
    })
}

fn swpp(of: &Settings) -> SwppBoard {
    SwppBoard::new(swpp::board::Settings {
        hand_delay: of.hand_delay,
        seed: of.seed,
        ..of.swpp.clone()
    })
}

fn dgt(of: &Settings, model: dgt::Model, clock: dgt::clock::Kind) -> OnLine {
    Box::new(Dgt::new(dgt::Settings {
        model,
        speed: of.speed,
        pieces: pieces(of),
        // A board without lamps shows a move on its clock.
        clock: Some(dgt::clock::Settings {
            kind: clock,
            ..dgt::clock::Settings::default()
        }),
        ..dgt::Settings::default()
    }))
}

fn chessnut(of: &Settings, model: chessnut::Model) -> Chessnut {
    let usual = chessnut::Settings::default();
    Chessnut::new(chessnut::Settings {
        model,
        speed: of.speed,
        pieces: pieces(of),
        mtu: of.mtu.map_or(usual.mtu, usize::from),
        ..usual
    })
}

fn pegasus(of: &Settings) -> Pegasus {
    Pegasus::new(pegasus::Settings {
        speed: of.speed,
        pieces: pieces(of),
        drain: Some(PEGASUS_DRAIN),
        ..pegasus::Settings::default()
    })
}

fn pieces(of: &Settings) -> pieces::Settings {
    pieces::Settings {
        speed: of.speed,
        hand_delay: of.hand_delay,
        style: Style {
            slides: of.slides,
            ..Style::default()
        },
        turned: of.turned,
        seed: of.seed,
    }
}

impl Peripheral for OnRadio {
    fn profile(&self) -> &Profile {
        (**self).profile()
    }

    fn connected(&mut self, now: Instant) {
        (**self).connected(now);
    }

    fn disconnected(&mut self, now: Instant) {
        (**self).disconnected(now);
    }

    fn subscribed(&mut self, now: Instant, characteristic: Uuid, on: bool) {
        (**self).subscribed(now, characteristic, on);
    }

    fn read(&mut self, now: Instant, characteristic: Uuid) -> Result<Vec<u8>, Refused> {
        (**self).read(now, characteristic)
    }

    fn write(&mut self, now: Instant, characteristic: Uuid, value: &[u8]) -> Result<(), Refused> {
        (**self).write(now, characteristic, value)
    }

    fn timeout(&mut self, now: Instant) {
        (**self).timeout(now);
    }

    fn deadline(&self) -> Option<Instant> {
        (**self).deadline()
    }

    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)> {
        (**self).poll_notify()
    }

    fn hangs_up(&mut self) -> bool {
        (**self).hangs_up()
    }
}

impl RadioBoard for OnRadio {
    fn order(&mut self, now: Instant, action: HandAction) {
        (**self).order(now, action);
    }

    fn look(&mut self) -> Option<Report> {
        (**self).look()
    }

    fn stands(&self) -> Option<(&Game, bool)> {
        (**self).stands()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_but_the_app_can_be_made() {
        for kind in Kind::value_variants() {
            let settings = Settings::of(*kind);
            match make(*kind) {
                Some(Make::Line(line)) => assert!(line(&settings).game().is_empty()),
                Some(Make::Radio(radio)) => assert!(radio(&settings).stands().is_some()),
                Some(Make::Either(line, radio) | Make::RadioOrUsb(radio, line, _)) => {
                    assert!(kind.takes_radio());
                    assert!(line(&settings).game().is_empty());
                    assert!(radio(&settings).stands().is_some());
                }
                None => assert_eq!(*kind, Kind::WhitepawnApp),
            }
        }
    }
}
