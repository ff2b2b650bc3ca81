//! What was published about a board, so that each thing is published once, when it changes.

use std::{collections::VecDeque, sync::Arc};

use shakmaty::{Board, Role};

use crate::{
    chess::guidance::{Action, Picture, guide},
    vocabulary::{Advice, ClientName, Event},
};

/// The pieces on the board, and the pieces as they should be.
pub(super) type Scene = (Picture, Board);

/// What was published about a board, and what is still to be published.
pub(super) struct Published {
    events: VecDeque<Event>,
    /// The snapshot that was taken last is out of date.
    changed: bool,
    advice: Advice,
    /// The scene when the player was last told what to put right.
    scene: Option<Scene>,
    guidance: Arc<[Action]>,
    /// The clients that had the board, and those that waited for it.
    players: [Vec<ClientName>; 2],
}

impl Default for Published {
    fn default() -> Self {
        Self {
            events: VecDeque::new(),
            changed: true,
            advice: Advice::Nothing,
            scene: None,
            guidance: Arc::new([]),
            players: [Vec::new(), Vec::new()],
        }
    }
}

impl Published {
    /// Something happened.
    pub fn event(&mut self, event: Event) {
        self.changed = true;
        self.events.push_back(event);
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next snapshot differs from the last.
    pub fn changed(&mut self) {
        self.changed = true;
    }

    /// Whether a new snapshot is due. Resets it.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// What to do so that the pieces stand as they should.
    pub fn guidance(&self) -> Arc<[Action]> {
        self.guidance.clone()
    }

    /// The clients that have the board, and those that wait for it.
    pub fn players(&mut self, players: [Vec<ClientName>; 2]) {
        if players != self.players {
            self.players.clone_from(&players);
            let [have, wait] = players;
            self.event(Event::Players { have, wait });
        }
    }

    /// What the player should know or do.
    pub fn advice(&mut self, advice: Advice) {
        let text = match (&self.advice, &advice) {
            (before, now) if before == now => None,
            // The guidance shows what exactly is wrong.
            (Advice::Misplaced(_), Advice::Misplaced(_)) => None,
            // These are published as events of their own.
            (
                _,
                Advice::NoLink(_)
                | Advice::Silent { garbled: false }
                | Advice::Stranger(_)
                | Advice::Mistake { .. },
            ) => Some(String::new()),
            (_, advice) => Some(advice.to_string()),
        };
        self.advice = advice;
        if let Some(text) = text {
            self.event(Event::Advice { text });
        }
    }

    /// The pieces as they are and as they should be, if the player has to move any. Boards that know castling want the
    /// king first when it is taken back.
    pub fn scene(&mut self, scene: Option<Scene>, king_first: bool) {
        if scene == self.scene {
            return;
        }
        let mut actions = match &scene {
            Some((stands, wanted)) => guide(stands, wanted),
            None => Vec::new(),
        };
        if king_first {
            let is_king = |action: &Action| action.piece.is_some_and(|p| p.role == Role::King);
            actions.sort_by_key(|action| !is_king(action));
        }
        self.scene = scene;
        if *actions != *self.guidance {
            self.guidance = actions.into();
            let actions = self.guidance();
            self.event(Event::Guidance { actions });
        }
    }
}
