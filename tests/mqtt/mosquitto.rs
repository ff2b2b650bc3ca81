//! A broker, and a client that says and hears anything.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rumqttc::{
    AsyncClient, Broker, Event, MqttOptions, Packet, PublishOptions, QoS, mqttbytes::v5::Publish,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    net::TcpStream,
    sync::mpsc,
    time::{sleep, timeout},
};

use crate::support::PATIENCE;

/// Where Debian puts it; not on the path of users.
const PLACES: [&str; 3] = [
    "/usr/sbin/mosquitto",
    "/usr/local/sbin/mosquitto",
    "/usr/bin/mosquitto",
];

/// A broker of the test's own.
pub struct Mosquitto {
    program: PathBuf,
    folder: TempDir,
    pub port: u16,
    process: Option<Child>,
}

impl Mosquitto {
    /// Starts one, which keeps nothing over its end unless it `persists`. `None` if none is installed.
    pub async fn start(persists: bool) -> Option<Self> {
        let Some(program) = PLACES.iter().map(Path::new).find(|path| path.exists()) else {
            println!("mosquitto is not installed: skipped");
            return None;
        };
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().display();
        let persistence = if persists {
            format!(
                "persistence true\npersistence_location {kept}/\nautosave_interval 1\nautosave_on_changes true\n"
            )
        } else {
            "persistence false\n".to_owned()
        };
        // As root it would become another user, who cannot write there.
        let config = format!(
            "listener {port} 127.0.0.1\nallow_anonymous true\nlog_dest stderr\nuser root\nset_tcp_nodelay true\n{persistence}"
        );
        fs::write(folder.path().join("mosquitto.conf"), config).unwrap();
        let mut broker = Self {
            program: program.to_owned(),
            folder,
            port,
            process: None,
        };
        broker.again().await;
        Some(broker)
    }

    /// Starts it again.
    pub async fn again(&mut self) {
        let mut command = Command::new(&self.program);
        command
            .arg("-c")
            .arg(self.folder.path().join("mosquitto.conf"));
        command
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .stdin(Stdio::null());
        self.process = Some(command.spawn().unwrap());
        let answers = async {
            while TcpStream::connect(("127.0.0.1", self.port)).await.is_err() {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, answers).await.unwrap();
    }

    /// Kills it.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// The section of a daemon of this name.
    pub fn section(&self, name: &str) -> String {
        format!(
            "[mqtt]\nurl = \"mqtt://127.0.0.1:{}\"\nname = \"{name}\"\n",
            self.port
        )
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A client of the broker.
pub struct Voice {
    client: AsyncClient,
    heard: mpsc::Receiver<Publish>,
}

impl Voice {
    /// Connects, and listens to these topics.
    pub async fn new(broker: &Mosquitto, filters: &[&str]) -> Self {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let id = format!("voice-{}-{number}", std::process::id());
        let mut options = MqttOptions::new(id, Broker::tcp("127.0.0.1", broker.port));
        options.set_max_packet_size(Some(8 * 1024 * 1024));
        let (client, mut events) = AsyncClient::builder(options).capacity(4096).build();
        let (sender, heard) = mpsc::channel(65_536);
        let (ready, mut is_ready) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                match events.poll().await {
                    Ok(Event::Incoming(Packet::Publish(publish))) => {
                        drop(sender.send(publish).await)
                    }
                    Ok(Event::Incoming(Packet::SubAck(_))) => {
                        let _ = ready.try_send(());
                    }
                    Ok(_) => {}
                    Err(_) => sleep(Duration::from_millis(50)).await,
                }
                if sender.is_closed() {
                    return;
                }
            }
        });
        for filter in filters {
            client.subscribe(*filter, QoS::AtLeastOnce).await.unwrap();
            timeout(PATIENCE, is_ready.recv()).await.unwrap();
        }
        Self { client, heard }
    }

    /// Says something.
    pub async fn says(&self, topic: &str, payload: impl Into<Vec<u8>>, retain: bool) {
        let options = PublishOptions::at_least_once().retain(retain);
        self.client
            .publish(topic, payload.into(), options)
            .await
            .unwrap();
    }

    /// The next message of this topic that fits.
    pub async fn hears(&mut self, topic: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let mut others = Vec::new();
        let heard = async {
            loop {
                let publish = self.heard.recv().await.unwrap();
                let value: Value = serde_json::from_slice(&publish.payload).unwrap_or_default();
                if publish.topic == topic && fits(&value) {
                    return value;
                }
                others.push((publish.topic, value));
            }
        };
        let heard = timeout(PATIENCE, heard).await;
        heard.unwrap_or_else(|_| panic!("nothing fitting under {topic}, but {others:?}"))
    }

    /// The next message.
    pub async fn next(&mut self) -> Value {
        let heard = timeout(PATIENCE, self.heard.recv()).await;
        let publish = heard.unwrap().unwrap();
        serde_json::from_slice(&publish.payload).unwrap()
    }

    /// All that has been heard until now.
    pub fn all(&mut self) -> Vec<Publish> {
        std::iter::from_fn(|| self.heard.try_recv().ok()).collect()
    }
}
