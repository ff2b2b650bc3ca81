//! The connection to a broker. The only file that knows the MQTT library.

use std::{
    future::Future,
    io,
    path::{Path, PathBuf},
    pin::Pin,
    time::Duration,
};

use bytes::Bytes;
use rumqttc::{
    AsyncClient, Broker as Host, ConnectReturnCode, ConnectionError, DisconnectReasonCode, Event,
    EventLoop, LastWill, MqttOptions, NetworkOptions, Outgoing, Packet, PubAckReason,
    PublishOptions, PublishProperties, QoS, StateError, SubscribeFilterInput, SubscribeReasonCode,
    TlsError, Transport, mqttbytes,
};
use rustls::{
    CertificateError, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use thiserror::Error;
use tokio::{sync::mpsc, time::sleep};

use super::{
    messages::MAX_MESSAGE,
    outbox::{Message, WINDOW},
    settings::{MqttConfig, PasswordError},
};
use crate::{system::regular_file::read as read_file, transport::Backoff};

/// How often the broker is asked for a sign, in seconds: it tells others that we are away after one and a half of these.
const KEEP_ALIVE: u16 = 10;
/// How long a connection may take, in seconds.
const CONNECT_WAIT: u64 = 5;
/// The largest file with certificates, in bytes: those of all of the world's authorities take 220 kB.
const MAX_CERTIFICATE: u64 = 1024 * 1024;
/// Requests that may wait for the library: a window of messages, and the subscriptions.
const REQUESTS: usize = 2 * WINDOW;
/// What was heard and not yet taken: as many messages as the library reads at once.
const HEARD: usize = 128;
/// Many daemons that lost the same broker do not come back at the same moment: up to this is added to a wait.
const SPREAD_MS: u64 = 500;

/// What is heard from the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The broker is reached, and knows nothing of us.
    Reached,
    /// The connection is lost, or could not be made, for this reason.
    Lost(String),
    /// A message.
    Said {
        /// Its topic.
        topic: String,
        /// What is said.
        payload: Bytes,
        /// Whether the broker had kept it, or keeps it where nothing may be kept; otherwise it was said now.
        kept: bool,
    },
    /// The oldest message sent is confirmed.
    Confirmed,
    /// The broker has the oldest message sent, and does not pass it on, for this reason.
    NotTaken(String),
    /// The broker has acknowledged a subscription: what it has kept there follows. `refused` is the reason if it refuses a part of it.
    Subscribed {
        /// Why a part of it is refused.
        refused: Option<String>,
    },
}

/// What is listened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The topics.
    pub topics: String,
    /// Whether what is said now to be kept counts as kept already: for topics under which nothing may be.
    pub tells_retained: bool,
    /// Whether what we say ourselves is left out: for topics under which only we speak.
    pub of_others: bool,
}

impl Filter {
    /// These topics, as they come.
    pub fn of(topics: &impl ToString) -> Self {
        Self {
            topics: topics.to_string(),
            tells_retained: false,
            of_others: false,
        }
    }
}

/// A way to a broker.
pub trait Broker {
    /// Hands a message over. `false` if it cannot be taken now.
    fn send(&mut self, message: &Message) -> bool;
    /// Asks for what is said under these topics. `false` if that cannot be taken now.
    fn subscribe(&mut self, filters: &[Filter]) -> bool;
    /// What is heard next. Cancel safe.
    fn heard(&mut self) -> impl Future<Output = Heard> + Send;
    /// Leaves, without the last will: the last thing that is asked of it.
    fn leave(&mut self) -> impl Future<Output = ()> + Send;
}

/// Why the broker cannot even be tried.
#[derive(Debug, Error)]
pub enum BrokerError {
    /// The password.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// The certificate of its authority.
    #[error("the certificate in {} cannot be read: {source}", .file.display())]
    Certificate {
        /// Where it is.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file with it has none.
    #[error(
        "there is no certificate in {} that can be used: ca_file names that of the broker's authority, as PEM",
        .0.display()
    )]
    NoCertificate(PathBuf),
    /// TLS.
    #[error("TLS cannot be used: {0}; name the certificate of the broker's authority as ca_file")]
    Tls(String),
}

/// The connection over MQTT 5.
pub struct Connection {
    client: AsyncClient,
    heard: mpsc::Receiver<Heard>,
    /// All that the library does. It is driven by whoever waits for what is heard, so that nothing else runs in between.
    library: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Connection {
    /// Connects while it is listened to; if we vanish, the broker says `will`.
    ///
    /// # Errors
    /// [`BrokerError`].
    pub fn new(config: &MqttConfig, client_id: &str, will: &Message) -> Result<Self, BrokerError> {
        let host = Host::tcp(config.url.host.clone(), config.url.port);
        let mut options = MqttOptions::new(client_id, host);
        options.set_keep_alive(KEEP_ALIVE);
        options.set_max_packet_size(Some(MAX_MESSAGE));
        // What is handed over together is written together.
        options.set_max_request_batch(WINDOW);
        let mut network = NetworkOptions::new();
        network.set_tcp_nodelay(true);
        network.set_connection_timeout(CONNECT_WAIT);
        options.set_network_options(network);
        options.set_last_will(LastWill::new(
            will.topic.clone(),
            will.payload.to_vec(),
            QoS::AtLeastOnce,
            will.retain,
            None,
        ));
        if let Some(user) = &config.user {
            options.set_credentials(
                user.clone(),
                config.password()?.unwrap_or_default().into_bytes(),
            );
        }
        if config.url.tls {
            options.set_transport(tls(config)?);
        }
        let (client, events) = AsyncClient::builder(options).capacity(REQUESTS).build();
        let (sender, heard) = mpsc::channel(HEARD);
        Ok(Self {
            client,
            heard,
            library: Box::pin(poll(events, config.url.tls, sender)),
        })
    }
}

/// Checks the certificate of the authority, if a connection needs it.
///
/// # Errors
/// [`BrokerError`].
pub fn check_authority(config: &MqttConfig) -> Result<(), BrokerError> {
    if config.url.tls
        && let Some(file) = &config.ca_file
    {
        authority(file)?;
    }
    Ok(())
}

fn tls(config: &MqttConfig) -> Result<Transport, BrokerError> {
    match &config.ca_file {
        Some(file) => Ok(Transport::tls(authority(file)?, None, None)),
        None => Transport::try_tls_with_default_config()
            .map_err(|error| BrokerError::Tls(error.to_string())),
    }
}

/// The certificates of the broker's authority, as PEM. The library would find out only at the connection that there are none.
fn authority(file: &Path) -> Result<Vec<u8>, BrokerError> {
    let unreadable = |source| BrokerError::Certificate {
        file: file.to_owned(),
        source,
    };
    let pem = read_file(file, MAX_CERTIFICATE).map_err(unreadable)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let (usable, _) =
        RootCertStore::empty().add_parsable_certificates(certificates.unwrap_or_default());
    if usable == 0 {
        return Err(BrokerError::NoCertificate(file.to_owned()));
    }
    Ok(pem)
}

impl Broker for Connection {
    fn send(&mut self, message: &Message) -> bool {
        let mut options = PublishOptions::at_least_once().retain(message.retain);
        if let Some(life) = message.life {
            options = options.properties(PublishProperties {
                message_expiry_interval: u32::try_from(life.as_secs()).ok(),
                ..PublishProperties::default()
            });
        }
        let (topic, payload) = (message.topic.as_str(), message.payload.clone());
        self.client.try_publish(topic, payload, options).is_ok()
    }

    fn subscribe(&mut self, filters: &[Filter]) -> bool {
        let filters = filters.iter().map(|filter| {
            SubscribeFilterInput::new(filter.topics.clone(), QoS::AtLeastOnce)
                .preserve_retain(filter.tells_retained)
                .no_local(filter.of_others)
        });
        self.client.try_subscribe_many(filters).is_ok()
    }

    async fn heard(&mut self) -> Heard {
        tokio::select! {
            biased;
            // First: what was handed over is written at once.
            () = &mut self.library, if !self.heard.is_closed() => std::future::pending().await,
            Some(heard) = self.heard.recv() => heard,
            else => std::future::pending().await,
        }
    }

    async fn leave(&mut self) {
        if self.client.try_disconnect().is_ok() && !self.heard.is_closed() {
            self.library.as_mut().await;
        }
    }
}

/// Does all that the library does, and nothing else: it lives only while it is polled.
async fn poll(mut events: EventLoop, tls: bool, heard: mpsc::Sender<Heard>) {
    let mut backoff = Backoff::default();
    let mut is_reached = false;
    loop {
        let said = match events.poll().await {
            Ok(Event::Incoming(packet)) => {
                if matches!(packet, Packet::ConnAck(_)) {
                    backoff.reset();
                    is_reached = true;
                }
                read(packet)
            }
            Ok(Event::Outgoing(Outgoing::Disconnect)) => return,
            Ok(_) => None,
            Err(ConnectionError::RequestsDone) => return,
            Err(error) => {
                let why = words(&error, tls, std::mem::take(&mut is_reached));
                let told = heard.send(Heard::Lost(why)).await;
                // After an error the library connects at once.
                let spread = Duration::from_millis(u64::from(std::process::id()) % SPREAD_MS);
                let wait = backoff.next_wait() + spread;
                sleep(wait).await;
                if told.is_err() {
                    return;
                }
                None
            }
        };
        if let Some(said) = said
            && heard.send(said).await.is_err()
        {
            return;
        }
    }
}

/// What a packet means.
fn read(packet: Packet) -> Option<Heard> {
    match packet {
        Packet::ConnAck(_) => Some(Heard::Reached),
        Packet::Publish(publish) => {
            let topic = String::from_utf8(publish.topic.to_vec()).ok()?;
            Some(Heard::Said {
                topic,
                payload: publish.payload,
                kept: publish.retain,
            })
        }
        Packet::PubAck(ack) => Some(match ack.reason {
            PubAckReason::Success | PubAckReason::NoMatchingSubscribers => Heard::Confirmed,
            reason => Heard::NotTaken(format!("{reason:?}")),
        }),
        Packet::SubAck(ack) => {
            let refused =
                |code: &&SubscribeReasonCode| !matches!(code, SubscribeReasonCode::Success(_));
            let code = ack.return_codes.iter().find(refused);
            let words =
                |code| format!("it does not let us listen ({code:?}): has this user the right to?");
            Some(Heard::Subscribed {
                refused: code.map(words),
            })
        }
        _ => None,
    }
}

/// Why the broker cannot be reached, and what to do.
fn words(error: &ConnectionError, tls: bool, was_reached: bool) -> String {
    if let Some(error) = tls_error(error) {
        return words_of_tls(error);
    }
    let other_port = if tls { "mqtt://" } else { "mqtts://" };
    match error {
        ConnectionError::ConnectionRefused(
            ConnectReturnCode::NotAuthorized | ConnectReturnCode::BadUserNamePassword,
        ) => "it refuses us: are `user` and the password right?".to_owned(),
        ConnectionError::ConnectionRefused(code) => format!("it refuses us ({code:?})"),
        ConnectionError::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            "nothing listens there: is the broker running?".to_owned()
        }
        ConnectionError::Timeout(_) | ConnectionError::MqttState(StateError::AwaitPingResp) => {
            "it does not answer".to_owned()
        }
        error if is_closed(error) && was_reached => {
            "it has closed the connection: was it stopped? It is tried again".to_owned()
        }
        error if is_closed(error) => {
            format!("it closes the connection at once: does this port want {other_port}?")
        }
        ConnectionError::Io(error) => {
            format!("{error}: is the address right, and is this machine in the network?")
        }
        ConnectionError::Tls(error) => format!("TLS cannot be used ({error}): is `ca_file` right?"),
        other if was_reached => format!("the connection fails ({other}). It is tried again"),
        ConnectionError::NotConnAck(_)
        | ConnectionError::MqttState(
            StateError::Deserialization(_) | StateError::ProtocolViolation(_),
        ) => "it does not answer as a broker for MQTT 5 does: is the port right?".to_owned(),
        other => format!("the connection cannot be made ({other}): is the port right?"),
    }
}

/// What the system, or TLS, says of the connection.
fn io_error(error: &ConnectionError) -> Option<&io::Error> {
    match error {
        ConnectionError::Io(error)
        | ConnectionError::Tls(TlsError::Io(error))
        | ConnectionError::MqttState(
            StateError::Io(error) | StateError::Deserialization(mqttbytes::Error::Io(error)),
        ) => Some(error),
        _ => None,
    }
}

/// What is wrong with TLS: the library hides it in an error of the system.
fn tls_error(error: &ConnectionError) -> Option<&rustls::Error> {
    if let ConnectionError::Tls(TlsError::TLS(error)) = error {
        return Some(error);
    }
    io_error(error)?.get_ref()?.downcast_ref()
}

fn words_of_tls(error: &rustls::Error) -> String {
    use CertificateError::{
        Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet,
        NotValidYetContext,
    };
    match error {
        rustls::Error::InvalidCertificate(
            Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. },
        ) => "its certificate is not valid today: is the clock of this machine right?".to_owned(),
        rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }) => {
            "its certificate is for another name: write that name in `url`".to_owned()
        }
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "its certificate is not trusted: does `ca_file` name that of its authority?".to_owned()
        }
        rustls::Error::InvalidCertificate(error) => {
            format!(
                "its certificate cannot be used ({error}): does `ca_file` name that of its authority?"
            )
        }
        other => format!("TLS fails ({other}): does this port want mqtt://?"),
    }
}

/// Whether the broker has closed the connection.
fn is_closed(error: &ConnectionError) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let by_its_word = matches!(
        error,
        ConnectionError::MqttState(
            StateError::ConnectionAborted
                | StateError::ServerDisconnect {
                    reason_code: DisconnectReasonCode::ServerShuttingDown,
                    ..
                }
        )
    );
    by_its_word
        || io_error(error).is_some_and(|error| {
            let kind = error.kind();
            matches!(
                kind,
                BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed() -> [ConnectionError; 3] {
        let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
        let read = StateError::Deserialization(mqttbytes::Error::Io(reset()));
        [
            ConnectionError::MqttState(StateError::ConnectionAborted),
            ConnectionError::MqttState(read),
            ConnectionError::Tls(TlsError::Io(reset())),
        ]
    }

    #[test]
    fn a_broker_that_closes_the_connection_is_told_by_when_it_does() {
        for error in closed() {
            let at_once = words(&error, false, false);
            assert!(
                at_once.ends_with("does this port want mqtts://?"),
                "{at_once}"
            );
            let at_once = words(&error, true, false);
            assert!(
                at_once.ends_with("does this port want mqtt://?"),
                "{at_once}"
            );
            let later = words(&error, false, true);
            assert!(later.contains("was it stopped?"), "{later}");
        }
    }

    #[test]
    fn each_wrong_certificate_has_its_remedy() {
        for (wrong, remedy) in [
            (CertificateError::UnknownIssuer, "`ca_file`"),
            (CertificateError::NotValidYet, "clock"),
            (CertificateError::Expired, "clock"),
            (CertificateError::NotValidForName, "`url`"),
        ] {
            let error = rustls::Error::InvalidCertificate(wrong);
            let error = io::Error::new(io::ErrorKind::InvalidData, error);
            let said = words(&ConnectionError::Tls(TlsError::Io(error)), true, false);
            assert!(
                said.contains("certificate") && said.contains(remedy),
                "{said}"
            );
        }
    }
}
