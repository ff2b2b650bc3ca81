//! The opponent on Lichess.

use std::{sync::Arc, time::Duration};

use shakmaty::{Color, uci::UciMove};
use simulators::game::uci;
use tokio::time::{interval, sleep};

use crate::{
    lichess::Lichess,
    seat::{Heard, Seat},
};

/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Plays for ever.
pub async fn play(seat: Arc<Seat>, lichess: Lichess) {
    loop {
        lichess.begins(if seat.hand_begins() {
            Color::White
        } else {
            Color::Black
        });
        seat.asks();
        if !play_on(&seat, &lichess).await {
            lichess.ends("aborted", None);
        }
        seat.begins();
    }
}

/// Plays a game; returns whether it came to its end.
async fn play_on(seat: &Seat, lichess: &Lichess) -> bool {
    let mut looks = interval(LOOK);
    loop {
        looks.tick().await;
        let (_, plies, script) = seat.game();
        if seat.is_given_up() || plies == script.len() {
            return !seat.is_given_up();
        }
        let game = lichess.game();
        if seat.is_hands(plies) {
            let m: Option<UciMove> = game.moves().get(plies).map(|m| uci(*m));
            if let Some(m) = m
                && seat.hears(&m.to_string()) == Heard::Wrong
            {
                return false;
            }
        } else if game.len() == plies {
            sleep(Duration::from_millis(fastrand::u64(5..150))).await;
            seat.sends();
            lichess.moves(script[plies]);
        }
    }
}
