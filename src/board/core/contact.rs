//! What the board tells of itself: whether it is there, what it is, how long its battery will last.

use crate::vocabulary::{BoardKind, LinkState};

/// How the board is connected, and what it told of itself.
#[derive(Debug)]
pub(super) struct Contact {
    state: LinkState,
    /// Something came over this link that cannot be read, and nothing else.
    garbled: bool,
    id: Option<String>,
    battery: Option<u8>,
}

impl Default for Contact {
    fn default() -> Self {
        Self {
            state: LinkState::Down("not connected yet".to_owned()),
            garbled: false,
            id: None,
            battery: None,
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

    /// Name and version, if the board told them.
    pub fn id(&self) -> Option<String> {
        self.id.clone()
    }

    /// What is left in the battery, in percent, if the board told.
    pub fn battery(&self) -> Option<u8> {
        self.battery
    }

    /// The link is up.
    pub fn up(&mut self) {
        self.state = LinkState::Asking;
        self.garbled = false;
    }

    /// The link is down. `true` if that is news.
    pub fn down(&mut self, why: String) -> bool {
        self.turn(LinkState::Down(why))
    }

    /// The board answers. `true` if that is news.
    pub fn answers(&mut self, id: Option<String>) -> bool {
        self.garbled = false;
        let names_itself = id.is_some();
        self.id = id.or(self.id.take());
        self.turn(LinkState::Up) || names_itself
    }

    /// The board has said nothing yet.
    pub fn unheard(&mut self) {
        self.state = LinkState::Unheard { garbled: false };
    }

    /// The board does not answer any more. `false` if another one has been named that is there instead.
    pub fn silent(&mut self) -> bool {
        let named = matches!(self.state, LinkState::Stranger(_));
        if !named {
            let garbled = self.garbled;
            self.state = LinkState::Silent { garbled };
        }
        !named
    }

    /// What is connected talks as another kind does. `true` if that is news.
    pub fn stranger(&mut self, kind: BoardKind) -> bool {
        self.turn(LinkState::Stranger(kind))
    }

    /// Something came that cannot be read.
    pub fn unreadable(&mut self) {
        self.garbled = self.state != LinkState::Up;
        if let LinkState::Unheard { garbled } | LinkState::Silent { garbled } = &mut self.state {
            *garbled = true;
        }
    }

    /// The board tells of its battery. `true` if that is news.
    pub fn charged(&mut self, percent: u8) -> bool {
        self.battery.replace(percent) != Some(percent)
    }

    fn turn(&mut self, state: LinkState) -> bool {
        let news = self.state != state;
        self.state = state;
        news
    }
}
