//! `boardbridge livechess`: offers the port of `LiveChess` on the machine of the browser and relays it to a daemon
//! elsewhere. Some pages look for the port only there.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    io::copy_bidirectional,
    net::TcpListener,
    sync::Semaphore,
    time::{sleep, timeout},
};

use crate::{
    net::{
        reach::{Wanted, unreachable},
        slots::ACCEPT_WAIT,
    },
    system::apart,
};

/// Connections passed on at once.
pub const MAX_RELAYED: usize = 32;
/// How long one attempt to reach the daemon may take.
pub const ATTEMPT: Duration = Duration::from_secs(5);
/// Relays connections at `listen` to the daemon at `connect`, until the process ends; `say` prints a line.
///
/// # Errors
/// The port cannot be opened, in words with the remedy.
pub async fn run(
    listen: &str,
    connect: &str,
    say: impl Fn(String) + Send + Sync + 'static,
) -> Result<(), String> {
    let bound = async { TcpListener::bind(&*apart::addresses(listen).await?).await };
    let listener = bound.await.map_err(|error| {
        let remedy = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "is LiveChess running here, or BoardBridge? Stop it, or take another port with --listen"
            }
            io::ErrorKind::PermissionDenied => "take a port above 1023 with --listen",
            _ => "give --listen an address of this machine, such as 127.0.0.1:1982",
        };
        format!("cannot listen at {listen} ({error}): {remedy}")
    })?;
    let taken = listener.local_addr();
    let taken = taken.map_or_else(|_| listen.to_owned(), |taken| taken.to_string());
    say(format!("LiveChess at {taken}, boards of {connect}"));
    let room = Arc::new(Semaphore::new(MAX_RELAYED));
    let (connect, say): (Arc<str>, _) = (connect.into(), Arc::new(say));
    loop {
        let Ok(place) = room.clone().acquire_owned().await else {
            return Ok(());
        };
        let Ok((mut near, _)) = listener.accept().await else {
            sleep(ACCEPT_WAIT).await;
            continue;
        };
        let (connect, say) = (connect.clone(), say.clone());
        tokio::spawn(async move {
            let _place = place;
            match timeout(ATTEMPT, apart::connect(&connect)).await {
                Ok(Ok(mut far)) => {
                    for stream in [&near, &far] {
                        // Slower, but it works.
                        let _ = stream.set_nodelay(true);
                    }
                    // However it ends, both are closed.
                    let _ = copy_bidirectional(&mut near, &mut far).await;
                }
                Ok(Err(error)) => say(unreachable(&connect, &error, Wanted::LiveChess)),
                Err(_) => say(format!(
                    "{connect} has not answered within {} s",
                    ATTEMPT.as_secs()
                )),
            }
        });
    }
}
