//! The status line that `systemctl status` shows.

use std::{fmt::Write as _, time::Duration};

use tokio::{sync::watch, time::sleep};

use super::Notify;
use crate::{
    bus::{BoardHandle, Bus},
    text::escape::escaped,
    vocabulary::ClientName,
};

/// The least time between two status lines: no one reads faster.
const PACE: Duration = Duration::from_secs(1);
/// At most this many boards are named with their players, and this many problems.
const NAMED: usize = 3;
/// The most characters of a trouble: the status is one line.
const MAX_TROUBLE: usize = 160;

/// Tells systemd the status whenever it has changed; `player`: the name of the player at the boards.
pub(super) async fn tell(notify: Notify, bus: Bus, mut player: watch::Receiver<Option<String>>) {
    let bus = bus.own();
    let mut subscription = bus.subscribe();
    let mut changes = bus.changes();
    let mut clients = bus.clients().subscribe();
    let mut told = String::new();
    loop {
        let status = status(&bus, player.borrow_and_update().as_deref());
        if status != told {
            notify.send(&format!("STATUS={}", escaped(&status))).await;
            told = status;
        }
        tokio::select! {
            _ = subscription.next() => {}
            () = changes.next() => {}
            Ok(()) = player.changed() => {}
            Ok(()) = clients.changed() => {}
        }
        sleep(PACE).await;
        // What was published meanwhile is in the boards' states.
        subscription = bus.subscribe();
    }
}

/// The status in words: how many boards, who plays (the player, or else the clients), and what does not work.
fn status(bus: &Bus, player: Option<&str>) -> String {
    let states: Vec<_> = bus.boards().iter().map(BoardHandle::state).collect();
    let up = states.iter().filter(|state| state.link.is_open()).count();
    let mut status = match states.len() {
        0 => "no boards".to_owned(),
        1 => format!("1 board, {up} up"),
        count => format!("{count} boards, {up} up"),
    };
    let played: Vec<_> = states
        .iter()
        .filter(|state| !state.holders.is_empty())
        .collect();
    for state in played.iter().take(NAMED) {
        let clients = ClientName::join(&state.holders, " and ");
        let verb = if player.is_some() || state.holders.len() == 1 {
            "plays"
        } else {
            "play"
        };
        let who = player.unwrap_or(&clients);
        // Writing to a string does not fail.
        let _ = write!(status, "; {who} {verb} on {}", state.board);
    }
    match played.len().saturating_sub(NAMED) {
        0 => {}
        1 => status.push_str("; one more board is played on"),
        more => {
            let _ = write!(status, "; {more} more boards are played on");
        }
    }
    for why in bus
        .clients()
        .list()
        .iter()
        .filter_map(|client| client.why.as_deref())
        .take(NAMED)
    {
        let why: String = why.chars().take(MAX_TROUBLE).collect();
        let _ = write!(status, "; {why}");
    }
    status
}
