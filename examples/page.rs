//! What `tests/page` looks at beside the demonstration: a daemon with one board at which an opponent takes everything that the
//! player says. `cargo run --example page -- LISTEN CONTROL`; each button that is pressed is a line on the standard output.

#[cfg(target_os = "linux")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(listen), Some(control)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: page LISTEN CONTROL");
        return std::process::ExitCode::from(2);
    };
    match page::run(&listen, &control).await {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("page: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("Linux only");
}

#[cfg(target_os = "linux")]
mod page {
    use std::{
        error::Error,
        io::Write as _,
        time::{Duration, SystemTime},
    };

    use boardbridge::{
        bus::pairings::{ClocksAt, Pairing, Player, Saying},
        config::Config,
        daemon::Daemon,
        vocabulary::Clocks,
    };
    use shakmaty::{ByColor, Color};

    pub async fn run(listen: &str, control: &str) -> Result<(), Box<dyn Error>> {
        let text = format!(
            "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"off\"\n[state]\ndirectory = \"off\"\n\
         [games]\ndirectory = \"off\"\n[web]\nlisten = {listen:?}\ncontrol = {control:?}\n\
         [boards.far]\nkind = \"swpp\"\ntcp = {{ address = \"127.0.0.1:9\" }}\n"
        );
        let daemon = Daemon::start(&Config::from_text(&text, "the test of the page")?).await?;
        let player = |name: &str, rating| {
            let name = name.to_owned();
            Some(Player {
                name,
                title: None,
                rating,
            })
        };
        let pairing = Pairing {
            players: ByColor {
                white: player("Opponent", Some(1900)),
                black: player("You", None),
            },
            hand: Some(Color::Black),
            clocks: Some(ClocksAt {
                clocks: Clocks {
                    left: ByColor {
                        white: Duration::from_mins(10),
                        black: Duration::from_secs(590),
                    },
                    runs: Some(Color::Black),
                },
                at: SystemTime::now(),
            }),
            offer: Some(Saying::Draw),
            chat: ["Opponent: good luck".to_owned()].into_iter().collect(),
            notice: Some("the opponent has left".to_owned()),
            can: Saying::ALL.to_vec(),
            ..Pairing::default()
        };
        let mut entry = daemon.bus().pairings().enter("far".parse()?, pairing);
        loop {
            let said = entry.said().await;
            writeln!(std::io::stdout(), "{}", said.saying)?;
            let answer = match said.saying {
                Saying::Abort => Err("this game has gone too far to be aborted".to_owned()),
                _ => Ok(()),
            };
            // One who no longer waits for the answer does not need it.
            let _ = said.answer.send(answer);
        }
    }
}
