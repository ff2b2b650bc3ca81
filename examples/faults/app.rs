//! The `WhitePawn` app: it connects again whenever it notices that the daemon is gone, and never announces its game again.

use std::{sync::Arc, time::Duration};

use shakmaty::{Move, uci::UciMove};
use simulators::{
    game::{Game, uci},
    swpp::{Order, Place, Seen, Style, WhitePawnApp, app, call::Call},
};
use tokio::time::{Instant, interval, sleep};

use crate::seat::{Heard, Seat};

/// How often the person with the app looks.
const LOOK: Duration = Duration::from_millis(20);
/// How long the app waits before it connects again.
const AGAIN: Duration = Duration::from_millis(100);

/// Calls until the daemon is there.
async fn call(place: &Place) -> Call {
    loop {
        let settings = app::Settings {
            style: Style::Exact,
            ..app::Settings::default()
        };
        let app = WhitePawnApp::new(settings, None);
        match Call::new(app, place.clone()).await {
            Ok(call) => return call,
            Err(_) => sleep(AGAIN).await,
        }
    }
}

/// The move after these plies as a message.
fn written(command: &str, script: &[UciMove], plies: usize) -> String {
    let mut game = Game::standard();
    for m in &script[..plies] {
        if let Ok(m) = m.to_move(game.position()) {
            game.push(m);
        }
    }
    let castles = match script[plies].to_move(game.position()) {
        Ok(Move::Castle { king, rook }) if rook > king => Some("0-0"),
        Ok(Move::Castle { .. }) => Some("0-0-0"),
        _ => None,
    };
    let text = castles.map_or_else(|| script[plies].to_string(), str::to_owned);
    format!("{command}{text:>5}")
}

/// The hand's next move, as the app is told it.
fn awaited(seat: &Seat) -> Option<String> {
    let (_, plies, script) = seat.game();
    (plies < script.len()).then(|| written("MB", &script, plies))
}

/// Plays for ever.
pub async fn play(seat: Arc<Seat>, place: Place) {
    let mut call = call(&place).await;
    let mut looks = interval(LOOK);
    let (mut ready, mut begun, mut sent) = (false, false, None);
    let mut connects: Option<Instant> = None;
    let mut last: Option<String> = None;
    loop {
        tokio::select! {
            seen = call.next() => match seen {
                Seen::Ready { .. } => {
                    seat.note("the app is ready");
                    ready = true;
                    seat.is_there(true);
                }
                Seen::Made(m) => {
                    // It may be told again, also in the game after its own.
                    last = awaited(&seat);
                    if seat.hears(&uci(m).to_string()) == Heard::Wrong {
                        begun = false;
                    }
                }
                Seen::Fault(what)
                    if last.as_ref().is_some_and(|last| what.contains(last))
                        && seat.hears_again() => {}
                Seen::Fault(what) => seat.wrong(&format!("the app: {what}")),
                Seen::Disconnected
                | Seen::GaveUp
                | Seen::Failed(_)
                | Seen::Jammed
                | Seen::Refused(_) => {
                    if !matches!(seen, Seen::Refused(_)) {
                        seat.note(format!("the app: {seen}"));
                    }
                    ready = false;
                    seat.is_there(false);
                    connects = Some(Instant::now() + AGAIN);
                }
                other => seat.note(format!("the app: {other}")),
            },
            _ = looks.tick() => {
                if connects.is_some_and(|at| at <= Instant::now()) {
                    connects = None;
                    call.order(Order::Connect);
                }
                if !ready {
                    continue;
                }
                let (number, plies, script) = seat.game();
                if seat.opens_again() {
                    call.order(Order::Connect);
                    continue;
                }
                let over = plies == script.len() || seat.is_given_up();
                if over || !begun {
                    if begun {
                        call.order(Order::End('1'));
                    }
                    if over {
                        seat.begins();
                    }
                    announce(&mut call, &seat);
                    begun = true;
                } else if let Some(since) = seat.is_unknown() {
                    seat.begins_again(since);
                    announce(&mut call, &seat);
                    sent = None;
                } else if !seat.is_hands(plies) && sent != Some((number, plies)) {
                    seat.sends();
                    call.order(Order::Move(script[plies]));
                    sent = Some((number, plies));
                } else if !seat.is_hands(plies) && let Some(made) = seat.is_unheard() {
                    seat.sends_again(made);
                    call.order(Order::Raw(written("MA", &script, plies)));
                }
            }
        }
    }
}

fn announce(call: &mut Call, seat: &Seat) {
    let first = if seat.hand_begins() { "Y" } else { "N" };
    if let Ok(order) = format!("new-game 3 {first}").parse() {
        call.order(order);
    }
    seat.asks();
}
