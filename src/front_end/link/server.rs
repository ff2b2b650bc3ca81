//! Runs one `[[link]]`: connects the game between two boards to the boards and a clock.

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};

use super::{
    session::{LinkedGame, SavedLink},
    side::{Player, Side},
};
use crate::{
    bus::{
        BoardHandle, Bus,
        clients::{Client, ClientKind},
        pairings::Said,
    },
    front_end::seat::serve::{Keeper, give, tell},
    system::sleep::sleep_until_some,
};

/// What a link's task receives at start.
pub struct Pair {
    /// The two boards.
    pub boards: [BoardHandle; 2],
    /// The players at them.
    pub players: [Player; 2],
    /// The side that plays White.
    pub white: Side,
    /// Its game before a restart.
    pub memory: Option<SavedLink>,
    /// Where it keeps its game.
    pub shelf: Keeper<SavedLink>,
    /// Where it reports what happens.
    pub bus: Bus,
}

/// Runs until `stop` is cancelled.
pub async fn serve(link: Pair, stop: CancellationToken) {
    let [first, second] = &link.boards;
    let span = info_span!("link", boards = %format!("{} {}", first.name, second.name));
    run(link, stop).instrument(span).await;
}

async fn run(mut link: Pair, stop: CancellationToken) {
    // Listed until dropped.
    let _presences = Side::BOTH.map(|side| {
        let player = &link.players[side.index()];
        let mut client = Client::new(player.client, player.label.clone(), ClientKind::Link);
        client.board = Some(link.boards[side.index()].name.clone());
        link.bus.clients().enter(client)
    });
    let labels = link.players.clone().map(|player| player.label);
    let states = link.boards.each_ref().map(BoardHandle::state);
    let states = states.each_ref().map(|state| &**state);
    let mut session = match link.memory {
        Some(memory) => LinkedGame::restored(now(), memory, link.players, states),
        None => LinkedGame::new(now(), link.players, link.white, states),
    };
    let mut entries = Side::BOTH.map(|side| {
        let board = link.boards[side.index()].name.clone();
        let pairings = link.bus.pairings();
        pairings.enter(board, session.pairing(side))
    });
    let [mut first, mut second] = link.boards.each_ref().map(BoardHandle::feed);
    loop {
        link.shelf.keep(session.memory()).await;
        for side in Side::BOTH {
            entries[side.index()].change(|shown| *shown = session.pairing(side));
        }
        while let Some((side, notice)) = session.poll_notice() {
            let board = &link.boards[side.index()].name;
            let (label, refused) = (&labels[side.index()], notice.is_refusal());
            info_span!("at", %board).in_scope(|| tell(&link.bus, board, label, &notice, refused));
        }
        let deadline = session.deadline().map(Instant::from_std);
        let [first_seat, second_seat] = session.seats();
        let [first_said, second_said] = &mut entries;
        // A board that takes no commands makes only its own commands wait.
        tokio::select! {
            () = stop.cancelled() => break,
            () = give(&link.boards[0], first_seat) => {}
            () = give(&link.boards[1], second_seat) => {}
            said = first_said.said() => hear(&mut session, Side::First, said),
            said = second_said.said() => hear(&mut session, Side::Second, said),
            (_, state) = first.next() => session.snapshot(now(), Side::First, &state),
            (_, state) = second.next() => session.snapshot(now(), Side::Second, &state),
            () = sleep_until_some(deadline) => session.timeout(now()),
        }
    }
    for entry in entries {
        entry.leaves(session.game());
    }
}

/// A player says something.
fn hear(session: &mut LinkedGame, side: Side, said: Said) {
    let answer = session.said(now(), side, said.saying);
    // Whoever asked may have gone.
    let _ = said.answer.send(answer);
}

/// The runtime's clock, which a test may have paused.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}
