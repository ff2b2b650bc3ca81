//! The hand at a simulated board: it does what a person would who follows the board's advice.

use std::{sync::Arc, time::Duration};

use simulators::{HandAction, bluez::hosted::Hosted, neo, neo::Neo};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};
use tracing::debug;

use super::famous::Programme;
use crate::{
    bus::BoardHandle,
    chess::game::{Game, uci},
    vocabulary::{Advice, ClientName, Snapshot},
};

/// How long a simulated hand takes for a move.
pub const HAND_DELAY: Duration = Duration::from_millis(600);
/// How long the end of a game stays to be seen.
pub const NEXT_GAME: Duration = Duration::from_secs(5);
/// How long a person waits to see whether the Neo is satisfied.
const NEO_PATIENCE: Duration = Duration::from_secs(3);

/// Whether this client is the demonstration's own: it gives way to any other.
pub fn is_ours(client: &ClientName) -> bool {
    matches!(client, ClientName::Link(_) | ClientName::Engine(_))
}

/// A hand.
#[derive(Clone, Debug)]
pub struct Player {
    /// Its board.
    pub board: BoardHandle,
    /// The games that it plays while its board is linked; without them, any move.
    pub programme: Option<Arc<Programme>>,
    /// It sets the pieces up for the next game when a game is over.
    pub begins: bool,
}

/// What it does next.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Deed {
    /// Its own move; `None` for any.
    Move(Option<shakmaty::Move>),
    /// It sets the pieces up as the board waits for them.
    SetUp(Box<Game>),
    /// It puts the pieces on their starting squares, because the board waits for that.
    ToStart,
    /// It does so for the next game.
    NextGame,
}

impl Deed {
    fn pause(&self) -> Duration {
        match self {
            Self::NextGame => NEXT_GAME,
            Self::Move(_) | Self::SetUp(_) | Self::ToStart => HAND_DELAY,
        }
    }
}

impl Player {
    /// What to do at a board in this state. `sets_up`: the board is one whose pieces the hand puts right.
    fn deed(&self, state: &Snapshot, sets_up: bool) -> Option<Deed> {
        if self.begins && is_over(state) {
            return Some(Deed::NextGame);
        }
        let last = state.target.as_ref().and_then(|target| target.last());
        match &state.advice {
            Advice::YourMove(_) if state.awaiting => Some(self.own_move(state)),
            // The simulated hand executes a shown move by itself, and refuses another until then.
            Advice::Make(m) | Advice::Shown { m, .. }
                if state.awaiting && !sets_up && Some(*m) == last =>
            {
                Some(self.own_move(state))
            }
            Advice::NewGame { .. } if sets_up => Some(Deed::ToStart),
            // The board may still wait for the position of a program that has left, before it is led to the next one's.
            Advice::SetUp { fen, .. } if sets_up => {
                let target = state.target.as_deref().filter(|game| game.fen() == *fen);
                let game = target
                    .cloned()
                    .or_else(|| Game::from_fen(&fen.to_string()).ok());
                game.map(|game| Deed::SetUp(Box::new(game)))
            }
            Advice::Misplaced(_) if sets_up => {
                let target = state.target.as_deref();
                target.map(|game| Deed::SetUp(Box::new(game.clone())))
            }
            _ => None,
        }
    }

    fn own_move(&self, state: &Snapshot) -> Deed {
        let shows = state.holders.iter().any(is_ours);
        let programme = self.programme.as_ref().filter(|_| shows);
        let next = programme.zip(state.target.as_ref());
        Deed::Move(next.and_then(|(programme, game)| programme.next(game)))
    }

    /// Waits until there is something to do, and it is still to be done after the hand has thought.
    async fn next(&self, sets_up: bool) -> Deed {
        let mut feed = self.board.feed();
        let mut due: Option<(Deed, Instant)> = None;
        loop {
            let deed = self.deed(&self.board.state(), sets_up);
            due = deed.map(|deed| match due.take() {
                Some((same, at)) if same == deed => (same, at),
                _ => {
                    let at = Instant::now() + deed.pause();
                    (deed, at)
                }
            });
            match &due {
                Some((deed, at)) if *at <= Instant::now() => {
                    if let (Deed::NextGame, Some(programme)) = (deed, &self.programme) {
                        programme.turn_the_page();
                    }
                    return deed.clone();
                }
                Some((_, at)) => {
                    let at = *at;
                    tokio::select! {
                        _ = feed.latest() => {}
                        () = tokio::time::sleep_until(at) => {}
                    }
                }
                None => drop(feed.latest().await),
            }
        }
    }

    /// Plays on a board with lamps, for ever.
    pub async fn play(self, orders: mpsc::Sender<HandAction>) {
        loop {
            let order = match self.next(false).await {
                Deed::Move(Some(m)) => HandAction::Move(uci(m)),
                Deed::Move(None) | Deed::SetUp(_) => HandAction::Random,
                Deed::ToStart | Deed::NextGame => HandAction::NewGame,
            };
            if orders.send(order).await.is_err() {
                return;
            }
            self.looks(HAND_DELAY).await;
        }
    }

    /// Plays on a Neo, for ever.
    pub async fn play_neo(self, neo: Hosted<Neo>) {
        loop {
            let order = match self.next(true).await {
                Deed::Move(Some(m)) => HandAction::Move(uci(m)).into(),
                Deed::Move(None) => HandAction::Random.into(),
                Deed::ToStart | Deed::NextGame => HandAction::NewGame.into(),
                Deed::SetUp(game) => {
                    let game = simulators::game::Game::of(game.start(), game.moves());
                    neo::Hand::SetUp(Box::new(game))
                }
            };
            let moves = matches!(
                order,
                neo::Hand::Board(HandAction::Random | HandAction::Move(_))
            );
            neo.with(|neo| {
                while let Some(report) = neo.poll_report() {
                    debug!(board = "neo", "the simulated board: {report}");
                }
                if neo.is_settled() || !moves {
                    neo.hand(std::time::Instant::now(), order);
                }
            });
            self.looks(NEO_PATIENCE).await;
        }
    }

    /// Waits for an effect of the action, for a limited time: it may not be enough, or not be finished.
    async fn looks(&self, patience: Duration) {
        let mut feed = self.board.feed();
        let before = self.board.state();
        let changes = async {
            while Arc::ptr_eq(&before, &self.board.state()) {
                feed.latest().await;
            }
        };
        tokio::select! {
            () = changes => {}
            () = sleep(patience) => {}
        }
    }
}

/// Whether the game on the board is over: no client has the board, or wants it.
fn is_over(state: &Snapshot) -> bool {
    let free = state.holders.is_empty() && state.waiting.is_empty();
    free && state.link.is_open() && !state.game.is_empty()
}
