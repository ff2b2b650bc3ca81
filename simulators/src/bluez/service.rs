//! The service on its bus: connects the state to a connection and a clock.

use std::{future::pending, io, sync::Arc, time::Instant};

use tokio::{sync::oneshot, time::sleep_until};

use super::{
    bus::{Bus, Happened},
    control::Shared,
};

/// Serves until it is stopped.
pub(super) async fn run(
    mut bus: Bus,
    shared: Arc<Shared>,
    mut stop: oneshot::Receiver<()>,
) -> io::Result<()> {
    loop {
        let here = !shared.radio().away;
        bus.serve(here).await;
        while let Some(message) = shared.next_message(Instant::now()) {
            bus.send(message).await;
        }
        shared.changed();
        let (deadline, full) = {
            let radio = shared.radio();
            (radio.deadline(), radio.outbox.is_full())
        };
        let due = async {
            match deadline {
                Some(at) => sleep_until(at.into()).await,
                None => pending().await,
            }
        };
        tokio::select! {
            happened = bus.next(), if !full => match happened? {
                Happened::Answered(message) => bus.send(message).await,
                Happened::Called(client, message) => {
                    shared.radio().called(Instant::now(), &client, &message);
                }
                Happened::Replied(client, message) => {
                    shared.radio().replied(Instant::now(), &client, &message);
                }
                Happened::Signalled(client, message) => shared.radio().signalled(&client, &message),
                Happened::Left(client) => shared.radio().client_gone(Instant::now(), &client),
            },
            () = shared.poke.notified() => {}
            () = due => {}
            _ = &mut stop => return Ok(()),
        }
    }
}
