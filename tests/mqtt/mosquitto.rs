//! A broker, and a client that says and hears anything.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
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

/// The password of every user of a guarded broker.
const PASSWORD: &str = "secret";
/// The user of a guarded broker who may do anything.
const MASTER: &str = "master";

/// A broker of the test's own.
pub struct Mosquitto {
    program: PathBuf,
    folder: TempDir,
    pub port: u16,
    process: Option<Child>,
    is_guarded: bool,
}

impl Mosquitto {
    /// Starts one, which keeps nothing over its end unless it `persists`. `None` if none is installed.
    pub async fn start(persists: bool) -> Option<Self> {
        let persistence = |kept: &Path| {
            let kept = kept.display();
            if persists {
                format!(
                    "persistence true\npersistence_location {kept}/\nautosave_interval 1\nautosave_on_changes true\n"
                )
            } else {
                "persistence false\n".to_owned()
            }
        };
        Self::with(|folder| format!("allow_anonymous true\n{}", persistence(folder))).await
    }

    /// One that does as docs/mqtt.md advises, for these daemons.
    pub async fn advised(users: &[&str]) -> Option<Self> {
        let guide = include_str!("../../docs/mqtt.md");
        let list: Vec<&str> = guide
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("pattern "))
            .collect();
        Self::guarded(users, &list.join("\n")).await
    }

    /// Starts one that lets in only these users, and lets them do what is in this access list.
    pub async fn guarded(users: &[&str], list: &str) -> Option<Self> {
        let guards = |folder: &Path| {
            let (passwords, rights) = (folder.join("users"), folder.join("rights"));
            fs::write(&passwords, "").unwrap();
            for user in users.iter().chain([&MASTER]) {
                let mut command = Command::new("mosquitto_passwd");
                command.arg("-b").arg(&passwords).args([user, PASSWORD]);
                let made = command.stderr(Stdio::null()).status().unwrap();
                assert!(made.success());
            }
            fs::write(folder.join("password"), PASSWORD).unwrap();
            let private = fs::Permissions::from_mode(0o600);
            fs::set_permissions(folder.join("password"), private).unwrap();
            let all = format!("user {MASTER}\ntopic readwrite #\n{list}\n");
            fs::write(&rights, all).unwrap();
            let (passwords, rights) = (passwords.display(), rights.display());
            format!("allow_anonymous false\npassword_file {passwords}\nacl_file {rights}\n")
        };
        let mut broker = Self::with(guards).await?;
        broker.is_guarded = true;
        Some(broker)
    }

    async fn with(more: impl FnOnce(&Path) -> String) -> Option<Self> {
        let Some(program) = PLACES.iter().map(Path::new).find(|path| path.exists()) else {
            println!("mosquitto is not installed: skipped");
            return None;
        };
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let folder = tempfile::tempdir().unwrap();
        // As root it would become another user, who cannot write there.
        let config = format!(
            "listener {port} 127.0.0.1\nlog_dest stderr\nuser root\nset_tcp_nodelay true\n{}",
            more(folder.path())
        );
        fs::write(folder.path().join("mosquitto.conf"), config).unwrap();
        let mut broker = Self {
            program: program.to_owned(),
            folder,
            port,
            process: None,
            is_guarded: false,
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
        let user = if self.is_guarded {
            let file = self.folder.path().join("password");
            format!("user = \"{name}\"\npassword_file = {file:?}\n")
        } else {
            String::new()
        };
        format!(
            "[mqtt]\nurl = \"mqtt://127.0.0.1:{}\"\nname = \"{name}\"\n{user}",
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
        if broker.is_guarded {
            options.set_credentials(MASTER, PASSWORD);
        }
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
