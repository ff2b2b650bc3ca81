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

/// How often one that means harm does.
const HARM: Duration = Duration::from_millis(700);

/// Plays for ever. A `hostile` one also says what is no line, and breaks its streams.
pub async fn play(seat: Arc<Seat>, lichess: Lichess, hostile: bool) {
    if hostile {
        tokio::spawn(harms(lichess.clone()));
    }
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

async fn harms(lichess: Lichess) {
    loop {
        sleep(HARM).await;
        match fastrand::u8(..12) {
            0 => lichess.breaks_game(),
            1 => lichess.breaks(),
            2 => lichess.babbles(&"x".repeat(100_000)),
            3 => lichess.babbles(r#"{"type":"gameState","moves":"a1a8 e9e9","status":"started"}"#),
            4 => lichess.babbles("\u{1b}[2J\u{202e}\u{2028}\0"),
            _ => lichess.babbles(
                r#"{"type":"chatLine","room":"player","username":"\u001b[2J","text":"\u202e"}"#,
            ),
        }
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
