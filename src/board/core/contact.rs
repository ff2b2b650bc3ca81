//! What the board reports about itself: whether it is there, what it is, the charge of its battery.

use crate::vocabulary::{BoardKind, LinkState};

/// How the board is connected, and what it reported about itself.
#[derive(Debug)]
pub(super) struct Contact {
    state: LinkState,
    /// Why the driver gave the last link up.
    given_up: Option<String>,
    /// Only unreadable data has come over this link.
    garbled: bool,
    /// The board has answered, over this link or an earlier one.
    heard: bool,
    id: Option<String>,
    battery: Option<u8>,
    /// The battery will not last.
    is_empty: bool,
}

impl Default for Contact {
    fn default() -> Self {
        Self {
            state: LinkState::Down("not connected yet".to_owned()),
            given_up: None,
            garbled: false,
            heard: false,
            id: None,
            battery: None,
            is_empty: false,
        }
    }
}

impl Contact {
    /// How the board is connected.
    pub fn state(&self) -> &LinkState {
        &self.state
    }

    /// Whether the board may be shown moves.
    pub fn is_open(&self) -> bool {
        self.state.is_open()
    }

    /// Name and version, if the board reported them.
    pub fn id(&self) -> Option<String> {
        self.id.clone()
    }

    /// Battery charge in percent, if the board reported it.
    pub fn battery(&self) -> Option<u8> {
        self.battery
    }

    /// After a restart: whether it has ever answered.
    pub fn recall(&mut self, heard: bool) {
        self.heard = heard;
    }

    /// The link is up.
    pub fn up(&mut self) {
        let why = self.given_up.clone();
        self.state = LinkState::Asking { why };
        self.garbled = false;
    }

    /// The driver gives the link up.
    pub fn gives_up(&mut self, why: String) {
        self.given_up = Some(why);
    }

    /// The link is down. `true` if that is new.
    pub fn down(&mut self, why: String) -> bool {
        self.given_up.take_if(|given_up| *given_up != why);
        self.turn(LinkState::Down(why))
    }

    /// The board answers. `true` if that is new.
    pub fn answers(&mut self, id: Option<String>) -> bool {
        self.given_up = None;
        self.garbled = false;
        self.heard = true;
        let names_itself = id.is_some();
        self.id = id.or(self.id.take());
        self.turn(LinkState::Up) || names_itself
    }

    /// The board has sent nothing yet.
    pub fn unheard(&mut self) {
        self.state = LinkState::Unheard { garbled: false };
    }

    /// The board does not answer, or no longer. `false` if a different one has been recognised in its place.
    pub fn silent(&mut self) -> bool {
        let named = matches!(self.state, LinkState::Stranger(_));
        if !named {
            let garbled = self.garbled;
            self.state = if garbled || self.heard {
                LinkState::Silent { garbled }
            } else {
                LinkState::Mute
            };
        }
        !named
    }

    /// What is connected talks like another kind of board. `true` if that is new.
    pub fn stranger(&mut self, kind: BoardKind) -> bool {
        self.turn(LinkState::Stranger(kind))
    }

    /// Unreadable data came.
    pub fn unreadable(&mut self) {
        self.garbled = self.state != LinkState::Up;
        match &mut self.state {
            LinkState::Unheard { garbled } | LinkState::Silent { garbled } => *garbled = true,
            state @ LinkState::Mute => *state = LinkState::Silent { garbled: true },
            _ => {}
        }
    }

    /// The board reports its battery charge. `true` if that is new.
    pub fn charged(&mut self, percent: u8) -> bool {
        self.battery.replace(percent) != Some(percent)
    }

    /// The board reports whether its battery is almost empty. `true` if it is, and was not before.
    pub fn empties(&mut self, is_empty: bool) -> bool {
        let before = std::mem::replace(&mut self.is_empty, is_empty);
        is_empty && !before
    }

    fn turn(&mut self, state: LinkState) -> bool {
        let news = self.state != state;
        self.state = state;
        news
    }
}
