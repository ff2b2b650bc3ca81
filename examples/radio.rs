//! The board's radio and a phone's, in a virtual machine or between two machines: lines go to and fro, without chess.
//!
//! ```text
//! radio board hci1            serves Bluetooth LE and the serial port, and answers every line with itself
//! radio phone hci0            finds the board over Bluetooth LE, twice, and checks what it answers
//! radio serial hci0 ADDRESS CHANNEL   pairs with the board and connects to its serial port
//! ```

#[cfg(target_os = "linux")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .init();
    let done = match *arguments {
        ["board", adapter] => radio::board(adapter).await,
        ["phone", adapter] => radio::phone(adapter).await,
        ["serial", adapter, address, channel] => radio::serial(adapter, address, channel).await,
        _ => Err("radio board|phone|serial ADAPTER [ADDRESS CHANNEL]".into()),
    };
    match done {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("Linux only");
}

#[cfg(target_os = "linux")]
mod radio {
    use std::{error::Error, time::Duration};

    use bluer::{
        AdapterEvent, DiscoveryFilter, DiscoveryTransport, Session,
        agent::Agent,
        rfcomm::{Security, SecurityLevel, Socket, SocketAddr},
    };
    use boardbridge::{
        front_end::whitepawn::{
            Availability, Connection, ble, rfcomm,
            settings::{BleServed, DEFAULT_NAME, RfcommServed},
        },
        text::swpp::NORDIC_UART,
    };
    use futures_util::StreamExt;
    use simulators::phone_radio::PhoneRadio;
    use tokio::{
        io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy, split},
        sync::mpsc,
        time::{Instant, interval, timeout},
    };
    use tokio_util::sync::CancellationToken;

    type Done = Result<(), Box<dyn Error>>;

    /// Nothing awaited here takes so long unless it never comes.
    const PATIENCE: Duration = Duration::from_secs(40);
    /// How often is looked whether a socket is connected, and how soon is tried again.
    const LOOK: Duration = Duration::from_millis(100);
    /// Connections that wait.
    const CONNECTIONS: usize = 4;
    /// Lines in each direction for the time they take.
    const LINES: u32 = 50;

    /// Serves until it is told to end.
    pub async fn board(adapter: &str) -> Done {
        let session = Session::new().await?;
        // Every device may pair: this is a test.
        let agent = Agent {
            request_default: true,
            request_authorization: Some(Box::new(|_| Box::pin(async { Ok(()) }))),
            request_confirmation: Some(Box::new(|_| Box::pin(async { Ok(()) }))),
            authorize_service: Some(Box::new(|_| Box::pin(async { Ok(()) }))),
            ..Agent::default()
        };
        let _agent = session.register_agent(agent).await?;
        let stop = CancellationToken::new();
        let (connections, mut incoming) = mpsc::channel(CONNECTIONS);
        let over_the_air = BleServed {
            adapter: Some(adapter.to_owned()),
            ..BleServed::default()
        };
        let mut ble = tokio::spawn(ble::serve(
            over_the_air,
            connections.clone(),
            Availability::default(),
            stop.clone(),
        ));
        let serial = rfcomm::serve(
            RfcommServed::default(),
            connections,
            Availability::default(),
            stop.clone(),
        );
        let serial = tokio::spawn(serial);
        let mut told = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        loop {
            tokio::select! {
                Some(Connection { peer, stream, .. }) = incoming.recv() => {
                    println!("{peer} came");
                    tokio::spawn(async move {
                        let (mut reader, mut writer) = split(stream);
                        let ended = copy(&mut reader, &mut writer).await;
                        println!("{peer} went: {ended:?}");
                    });
                }
                _ = told.recv() => stop.cancel(),
                _ = &mut ble => break,
            }
        }
        serial.await?;
        Ok(())
    }

    /// Finds the board and talks to it, twice.
    pub async fn phone(adapter: &str) -> Done {
        let [_, write, notify] = NORDIC_UART;
        let radio = PhoneRadio {
            adapter: Some(adapter.to_owned()),
            name: DEFAULT_NAME.to_owned(),
            write,
            notify,
        };
        for _ in 0..2 {
            let started = Instant::now();
            let stream = radio.connect().await?;
            println!("subscribed after {} ms", started.elapsed().as_millis());
            talk(stream).await?;
        }
        Ok(())
    }

    /// Pairs with the board, if that is not done, and talks to it by its serial port.
    pub async fn serial(adapter: &str, address: &str, channel: &str) -> Done {
        let session = Session::new().await?;
        let adapter = session.adapter(adapter)?;
        let address: bluer::Address = address.parse()?;
        let agent = Agent {
            request_default: true,
            request_confirmation: Some(Box::new(|_| Box::pin(async { Ok(()) }))),
            ..Agent::default()
        };
        let _agent = session.register_agent(agent).await?;
        let classic = DiscoveryFilter {
            transport: DiscoveryTransport::BrEdr,
            ..DiscoveryFilter::default()
        };
        adapter.set_discovery_filter(classic).await?;
        let found = async {
            let mut devices = adapter.discover_devices().await?;
            while let Some(event) = devices.next().await {
                if matches!(event, AdapterEvent::DeviceAdded(other) if other == address) {
                    break;
                }
            }
            Ok::<_, bluer::Error>(())
        };
        timeout(PATIENCE, found).await??;
        let device = adapter.device(address)?;
        if !device.is_paired().await? {
            timeout(PATIENCE, device.pair()).await??;
            println!("paired");
        }
        let from = adapter.address().await?;
        let to = SocketAddr::new(address, channel.parse()?);
        let talked = async {
            let mut attempts = interval(LOOK);
            loop {
                attempts.tick().await;
                // The line of the time before may not be closed yet.
                match call(from, to).await {
                    Ok(()) => return,
                    Err(error) => println!("not yet: {error}"),
                }
            }
        };
        Ok(timeout(PATIENCE, talked).await?)
    }

    /// Connects and talks. Not by a profile: the same `BlueZ` serves both ends here, and knows one only once.
    async fn call(from: bluer::Address, to: SocketAddr) -> Done {
        let socket = Socket::new()?;
        socket.bind(SocketAddr::new(from, 0))?;
        socket.set_security(Security {
            level: SecurityLevel::Medium,
            key_size: 0,
        })?;
        let stream = socket.connect(to).await?;
        // bluer believes too early that it is connected.
        let mut looks = interval(LOOK);
        while stream.peer_addr().is_err() {
            looks.tick().await;
        }
        let (reader, writer) = stream.into_split();
        talk(Box::new(tokio::io::join(reader, writer))).await
    }

    /// Says lines and expects each one back, whole.
    async fn talk(stream: Box<dyn simulators::Stream>) -> Done {
        let (reader, mut writer) = split(stream);
        let mut reader = BufReader::new(reader);
        let started = Instant::now();
        let long: String = ('a'..='z').cycle().take(600).collect();
        let lines = (0..LINES).map(|i| format!("line {i}\n"));
        let mut count = 0_u32;
        for said in lines.chain([format!("{}\n", &long[..400])]) {
            writer.write_all(said.as_bytes()).await?;
            writer.flush().await?;
            let mut heard = String::new();
            timeout(PATIENCE, reader.read_line(&mut heard)).await??;
            if heard != said {
                return Err(format!("said {said:?}, heard {heard:?}").into());
            }
            count += 1;
        }
        let each = started.elapsed() / count;
        println!("{count} lines to and fro, {} ms each", each.as_millis());
        Ok(())
    }
}
