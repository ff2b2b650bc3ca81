//! A program on the private bus.

use std::{os::unix::net::UnixStream, time::Duration};

use futures_util::StreamExt;
use tokio::{
    sync::mpsc::{self, error::SendTimeoutError},
    task::AbortHandle,
};
use zbus::{
    Connection, MatchRule, Message, OwnedGuid, OwnedMatchRule, connection::Builder,
    match_rule::PathSpec,
};

use super::failure::Failure;

/// Messages that may wait for a client.
const QUEUE: usize = 256;
/// How long a client may read nothing before it is disconnected.
const MAX_STALL: Duration = Duration::from_secs(10);
/// Match rules that a client may have.
const MAX_RULES: usize = 1024;

/// Input from a client: its number, and a message, or `None` when it leaves.
pub(super) type Incoming = (u64, Option<Message>);

/// A program on the bus, as the bus sees it.
pub(super) struct Client {
    /// Its name on the bus.
    pub name: String,
    /// Its match rules, in order; a rule added twice has to be removed twice.
    rules: Vec<OwnedMatchRule>,
    outgoing: mpsc::Sender<Message>,
    task: AbortHandle,
}

impl Client {
    /// Accepts a program.
    pub fn new(
        id: u64,
        stream: UnixStream,
        guid: OwnedGuid,
        incoming: mpsc::Sender<Incoming>,
    ) -> Self {
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let task = tokio::spawn(async move {
            if let Err(error) = serve(id, stream, guid, &incoming, queue).await {
                tracing::debug!("a client of the private bus has gone: {error}");
            }
            let _ = incoming.send((id, None)).await;
        });
        Self {
            name: format!(":1.{id}"),
            rules: Vec::new(),
            outgoing,
            task: task.abort_handle(),
        }
    }

    /// Adds a match rule.
    pub fn add_rule(&mut self, rule: &str) -> Result<(), Failure> {
        if self.rules.len() >= MAX_RULES {
            return Err(Failure::limits_exceeded());
        }
        let rule = OwnedMatchRule::try_from(rule).map_err(|_| Failure::invalid_rule())?;
        self.rules.push(rule);
        Ok(())
    }

    /// Removes a match rule: the newest one that counts as equal.
    pub fn remove_rule(&mut self, rule: &str) -> Result<(), Failure> {
        let rule = OwnedMatchRule::try_from(rule).map_err(|_| Failure::invalid_rule())?;
        let taken_for_it = |other: &OwnedMatchRule| same(other.inner(), rule.inner());
        let index = self.rules.iter().rposition(taken_for_it);
        self.rules.remove(index.ok_or_else(Failure::unknown_rule)?);
        Ok(())
    }

    /// Whether a rule matches. Rules name the sender by a name that it has, of which the bus knows one.
    pub fn wants(&self, message: &Message) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.matches(message).unwrap_or(false))
    }

    /// Ends it.
    pub fn stop(&self) {
        self.task.abort();
    }

    /// Sends a message; `false` if the client does not take it.
    pub async fn send(&self, message: Message) -> bool {
        match self.outgoing.send_timeout(message, MAX_STALL).await {
            Ok(()) => true,
            Err(SendTimeoutError::Timeout(_)) => {
                tracing::warn!("a client of the private bus takes no messages");
                false
            }
            Err(SendTimeoutError::Closed(_)) => false,
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether dbus-daemon treats two rules as equal: it does not compare `path_namespace` (1.14, as in
/// Debian 12: `match_rule_equal` in its `bus/signals.c`).
fn same<'a>(one: &'a MatchRule<'a>, other: &'a MatchRule<'a>) -> bool {
    let but_path = |rule: &'a MatchRule<'a>| {
        let names = (rule.sender(), rule.interface(), rule.member());
        let arguments = (rule.args(), rule.arg_paths(), rule.arg0ns());
        (rule.msg_type(), names, rule.destination(), arguments)
    };
    let alike = match (one.path_spec(), other.path_spec()) {
        (Some(PathSpec::PathNamespace(_)), Some(PathSpec::PathNamespace(_))) => true,
        (one, other) => one == other,
    };
    alike && but_path(one) == but_path(other)
}

async fn serve(
    id: u64,
    stream: UnixStream,
    guid: OwnedGuid,
    incoming: &mpsc::Sender<Incoming>,
    mut queue: mpsc::Receiver<Message>,
) -> zbus::Result<()> {
    let builder = Builder::unix_stream(stream).server(guid).p2p();
    let mut messages = builder.build_message_stream().await?;
    let connection = Connection::from(&messages);
    loop {
        let reading = async {
            // Reserve the capacity first, so that no message read is lost.
            let room = incoming.reserve().await.ok()?;
            Some((room, messages.next().await?))
        };
        tokio::select! {
            read = reading => match read {
                Some((room, message)) => room.send((id, Some(message?))),
                None => return Ok(()),
            },
            message = queue.recv() => match message {
                Some(message) => connection.send(&message).await?,
                None => return Ok(()),
            },
        }
    }
}
