//! Games between linked boards, and games in the app, go on after the daemon was killed at any moment: every move is made
//! once, none is lost, and no board and no app is told of a new game. The real binary, simulated boards and a simulated
//! phone.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
    time::Duration,
};

use boardbridge::chess::game::{Game, uci};
use shakmaty::Position;
use simulators::{run::Kind, swpp::Place};
use tempfile::TempDir;
use tokio::{net::TcpSocket, time::sleep};

use crate::support::{
    FAST_CITRINE, FAST_UCB, Gui, Hand, logged::Logged, phone::Phone, ports::unused_address,
    process::Watch,
};

const GAMES: &str = include_str!("../games/lichess.uci");
const HOME_MADE: &str = "kind = \"swpp\"\nmove_wait = \"50ms\"\ncorrection_wait = \"150ms\"\n";
/// The longest time between a move and a kill: all that follows a move is done by then.
const SOON: u64 = 40_000;

/// A process that is started while another test opens a pseudo-terminal would keep that open.
static STARTING: Mutex<()> = Mutex::new(());

/// The moves of a game.
fn moves(number: usize, plies: usize) -> Vec<String> {
    let mut game = Game::standard();
    let line = GAMES.lines().nth(number - 1).unwrap();
    game.play_uci(line.split_whitespace()).unwrap();
    let moves = game.moves().iter().take(plies);
    moves.map(|&m| uci(m).to_string()).collect()
}

/// A daemon that can be killed, and goes on with what it has kept.
struct Mortal {
    config: PathBuf,
    process: Logged,
    status: SocketAddr,
    random: fastrand::Rng,
    _folder: TempDir,
}

impl Mortal {
    async fn new(boards: &str, seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (config, state) = (folder.path().join("bb.toml"), folder.path().join("state"));
        let text = format!(
            "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"127.0.0.1:0\"\n\
             [games]\ndirectory = \"off\"\n[state]\ndirectory = {state:?}\n{boards}"
        );
        fs::write(&config, text).unwrap();
        let mut mortal = Self {
            process: started(&config, Logged::start),
            config,
            status: ([127, 0, 0, 1], 0).into(),
            random: fastrand::Rng::with_seed(seed),
            _folder: folder,
        };
        mortal.is_up().await;
        mortal
    }

    async fn is_up(&mut self) {
        self.status = self.process.address("status").await;
    }

    async fn watch(&self, board: &'static str) -> Watch {
        Watch::at(self.status, Some(board)).await
    }

    /// SIGKILL, and another daemon.
    async fn is_killed(&mut self) {
        self.process.signal("KILL");
        self.process.ends();
        started(&self.config, |command| self.process.restart(command));
        self.is_up().await;
    }

    /// The same, somewhere between before and after all that follows a move.
    async fn is_killed_soon(&mut self) {
        let moment = Duration::from_micros(self.random.u64(0..SOON));
        sleep(moment).await;
        self.is_killed().await;
    }
}

/// Has the daemon started on this configuration.
fn started<T>(config: &Path, by: impl FnOnce(&mut Command) -> T) -> T {
    let _alone = STARTING.lock();
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
    command
        .args(["run", "--config"])
        .arg(config)
        .env("RUST_LOG", "boardbridge=debug")
        .env_remove("JOURNAL_STREAM");
    by(&mut command)
}

/// A player at a board, and all that was seen there.
struct Player {
    board: &'static str,
    kind: Kind,
    hand: Hand,
    seen: Vec<String>,
    /// In the configuration.
    keys: String,
}

impl Player {
    fn new(kind: Kind, board: &'static str, folder: &TempDir) -> Self {
        let _alone = STARTING.lock();
        let port = folder.path().join(board);
        let serial = format!("serial = {{ port = {port:?} }}\n");
        let (hand, keys) = match kind {
            Kind::SwppBoard => {
                let (hand, address) = Hand::listening(kind, true);
                (
                    hand,
                    format!("{HOME_MADE}tcp = {{ address = \"{address}\" }}\n"),
                )
            }
            Kind::NovagUcb => (Hand::new(kind, port, true), format!("{FAST_UCB}{serial}")),
            _ => (
                Hand::new(kind, port, true),
                format!("{FAST_CITRINE}{serial}"),
            ),
        };
        Self {
            board,
            kind,
            hand,
            seen: Vec::new(),
            keys: format!("[boards.{board}]\n{keys}"),
        }
    }

    /// Makes a move when the daemon asks for it, and the daemon is killed soon after that.
    async fn plays(&mut self, ply: usize, m: &str, daemon: &mut Mortal) {
        let mut watch = daemon.watch(self.board).await;
        watch.asks_at(ply).await;
        self.hand.does(m).await;
        if self.kind != Kind::NovagCitrine {
            // Boards that cannot be asked tell of a move once: the daemon has to be there.
            watch.knows(ply + 1).await;
        }
        daemon.is_killed_soon().await;
    }

    /// Waits until the player has made the last of these moves, which is shown. A UCB may be given the position after it
    /// instead: it cannot be asked for its own.
    async fn executes(&mut self, moves: &[String]) {
        let executed = format!("executed {}", moves.last().unwrap());
        let before = if self.kind == Kind::NovagUcb {
            let mut game = Game::standard();
            game.play_uci(moves.iter().map(String::as_str)).unwrap();
            let placed = format!("set-up {}", game.position().board());
            self.hand.sees_one_of(&[&executed, &placed]).await
        } else {
            self.hand.sees(&executed).await
        };
        self.seen.extend(before);
        self.seen.push(executed);
    }

    /// Each of these moves was shown and made once, and the board was told of no new game after its first move.
    fn has_seen(&mut self, moves: &[&String]) {
        self.seen.extend(self.hand.seen());
        let executed = self
            .seen
            .iter()
            .filter_map(|seen| seen.strip_prefix("executed "));
        assert!(executed.eq(moves.iter().copied()), "{:?}", self.seen);
        let first = self
            .seen
            .iter()
            .position(|seen| seen.starts_with("executed") || seen.starts_with("made"));
        let later = &self.seen[first.unwrap_or(0)..];
        // A UCB that is being given a position when the daemon is killed may misread what comes after that.
        let fault = if self.kind == Kind::NovagUcb {
            "a fault"
        } else {
            "fault"
        };
        let wrong = ["new-game", "announced", "ended", fault];
        let mut crossed = String::new();
        let wrong = |seen: &&String| {
            if self.kind == Kind::NovagCitrine
                && let Some(m) = seen.strip_prefix("executed ")
            {
                // It is shown its last move once more after a restart, and a hand without any delay may be quicker.
                crossed = format!("fault illegal: {}", m.to_uppercase());
            }
            **seen != crossed && wrong.iter().any(|word| seen.starts_with(word))
        };
        assert_eq!(later.iter().find(wrong), None, "{:?}", self.seen);
    }
}

/// The moves of White, and those of Black.
fn of(moves: &[String], parity: usize) -> Vec<&String> {
    moves.iter().skip(parity).step_by(2).collect()
}

/// Two linked boards of these kinds play a game while the daemon is killed after every move.
async fn linked(kinds: [Kind; 2], game: usize) {
    let folder = tempfile::tempdir().unwrap();
    let [white, black] = kinds;
    let mut players = [
        Player::new(white, "first", &folder),
        Player::new(black, "second", &folder),
    ];
    let [first, second] = players.each_ref().map(|player| player.keys.as_str());
    let link = "[[link]]\nboards = [\"first\", \"second\"]\n";
    let mut daemon = Mortal::new(&format!("{first}{second}{link}"), game as u64).await;
    let moves = moves(game, 14);
    for player in players
        .iter_mut()
        .filter(|player| player.kind == Kind::SwppBoard)
    {
        // It counts as told of the game as soon as that is kept.
        player.hand.sees("new-game").await;
    }
    for (ply, m) in moves.iter().enumerate() {
        players[ply % 2].plays(ply, m, &mut daemon).await;
        players[1 - ply % 2].executes(&moves[..=ply]).await;
        // Also while nothing happens.
        if ply % 4 == 2 {
            daemon.is_killed().await;
        }
    }
    for (index, player) in players.iter_mut().enumerate() {
        daemon.watch(player.board).await.knows(moves.len()).await;
        player.has_seen(&of(&moves, 1 - index));
    }
}

#[tokio::test]
async fn two_linked_citrines_go_on() {
    linked([Kind::NovagCitrine, Kind::NovagCitrine], 25).await;
}

#[tokio::test]
async fn a_citrine_and_a_ucb_go_on() {
    linked([Kind::NovagCitrine, Kind::NovagUcb], 26).await;
}

#[tokio::test]
async fn a_home_made_board_and_a_citrine_go_on() {
    linked([Kind::SwppBoard, Kind::NovagCitrine], 33).await;
}

#[tokio::test]
async fn two_home_made_boards_go_on() {
    linked([Kind::SwppBoard, Kind::SwppBoard], 21).await;
}

/// A board here and one at another daemon; each daemon is killed in its turn.
#[tokio::test]
async fn boards_of_two_daemons_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut here = Player::new(Kind::NovagCitrine, "here", &folder);
    let mut there = Player::new(Kind::NovagCitrine, "there", &folder);
    let address = unused_address();
    let app = format!("[[whitepawn]]\nboard = \"there\"\ntcp = {{ listen = \"{address}\" }}\n");
    let mut far = Mortal::new(&format!("{}{app}", there.keys), 1).await;
    let link = format!("[[link]]\nboards = [\"here\"]\nwith = \"tcp:{address}\"\n");
    let mut near = Mortal::new(&format!("{}{link}", here.keys), 2).await;
    let moves = moves(25, 16);
    for (ply, m) in moves.iter().enumerate() {
        let (mover, other) = if ply % 2 == 0 {
            (&mut here, &mut there)
        } else {
            (&mut there, &mut here)
        };
        let its = if ply % 2 == 0 { &near } else { &far };
        its.watch(mover.board).await.asks_at(ply).await;
        mover.hand.does(m).await;
        // What one daemon has read of the other and not kept is lost with it: it has the move.
        near.watch("here").await.is_led_to(m).await;
        if ply % 4 < 2 {
            near.is_killed_soon().await;
        } else {
            far.is_killed_soon().await;
        }
        other.executes(&moves[..=ply]).await;
    }
    here.has_seen(&of(&moves, 1));
    there.has_seen(&of(&moves, 0));
}

/// A game in the app on a board of this kind, while the daemon is killed after every move: of the hand's moves at any
/// moment if the app is away, otherwise when the app has it.
async fn in_the_app(kind: Kind, game: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut player = Player::new(kind, "board", &folder);
    let address = unused_address();
    let app = format!("[[whitepawn]]\nboard = \"board\"\ntcp = {{ listen = \"{address}\" }}\n");
    let mut daemon = Mortal::new(&format!("{}{app}", player.keys), game as u64).await;
    let mut phone = Phone::new(Place::Tcp(address.to_string()), GAMES, None).await;
    phone.tells("ready").await;
    phone.does("new-game 3 Y").await;
    let moves = moves(game, 16);
    for (ply, m) in moves.iter().enumerate() {
        let mut watch = daemon.watch("board").await;
        if ply % 4 == 0 {
            watch.asks_at(ply).await;
            player.hand.does(m).await;
            phone.tells(&format!("made {m}")).await;
            daemon.is_killed_soon().await;
            phone.tells("disconnected").await;
        } else if ply % 4 == 2 {
            phone.does("hang-up").await;
            phone.tells("hung-up").await;
            daemon.process.logs("left: it closed the connection").await;
            player.plays(ply, m, &mut daemon).await;
        } else {
            phone.does(m).await;
            phone.tells(&format!("sent {m}")).await;
            // What the daemon has not received is lost with it, and no message asks for it.
            watch.is_led_to(m).await;
            daemon.is_killed_soon().await;
            phone.tells("disconnected").await;
        }
        phone.does("connect").await;
        phone.tells("ready").await;
        match ply % 4 {
            0 => {}
            2 => phone.tells(&format!("made {m}")).await,
            _ => player.executes(&moves[..=ply]).await,
        }
        let told: Vec<&str> = of(&moves[..=ply], 0).iter().map(|m| m.as_str()).collect();
        assert_eq!(phone.made(), told, "{:?}", phone.log);
    }
    player.has_seen(&of(&moves, 1));
    // It goes on as if nothing had been.
    phone.does("end 1").await;
    phone.tells("ended").await;
}

#[tokio::test]
async fn a_game_in_the_app_on_a_citrine_goes_on() {
    in_the_app(Kind::NovagCitrine, 25).await;
}

#[tokio::test]
async fn a_game_in_the_app_on_a_ucb_goes_on() {
    in_the_app(Kind::NovagUcb, 33).await;
}

#[tokio::test]
async fn a_game_in_the_app_on_a_home_made_board_goes_on() {
    in_the_app(Kind::SwppBoard, 26).await;
}

/// After a kill the daemon knows whose game it has kept.
#[tokio::test]
async fn a_game_in_the_app_is_not_taken_over_from_another_address_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let player = Player::new(Kind::NovagCitrine, "board", &folder);
    let address = unused_address();
    let app = format!("[[whitepawn]]\nboard = \"board\"\ntcp = {{ listen = \"{address}\" }}\n");
    let mut daemon = Mortal::new(&format!("{}{app}", player.keys), 7).await;
    // Other addresses of this machine stand for other machines.
    let comes = async |last| {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(([127, 0, 0, last], 0).into()).unwrap();
        Gui::over(socket.connect(address).await.unwrap())
    };
    let mut owner = comes(2).await;
    owner.says("H0010023\nNG1Y").await;
    owner.hears("H1").await;
    let mut watch = daemon.watch("board").await;
    watch.asks_at(0).await;
    drop(owner);
    daemon.process.logs("left: it closed the connection").await;
    player.hand.does("e2e4").await;
    watch.knows(1).await;
    daemon.is_killed().await;
    for line in ["H0010023", "NG1Y", "MA e7e5"] {
        let mut stranger = comes(3).await;
        stranger.says(line).await;
        assert_eq!(stranger.line().await, None, "{line}");
    }
    let mut owner = comes(2).await;
    owner.says("H0010023").await;
    owner.hears("H1").await;
    owner.hears_next("MB e2e4").await;
}

/// A cable does not tell the app that the daemon was away: the app says nothing, and waits for the hand.
#[tokio::test]
async fn a_game_in_the_app_by_cable_goes_on_without_a_handshake() {
    let folder = tempfile::tempdir().unwrap();
    let mut player = Player::new(Kind::NovagCitrine, "board", &folder);
    let link = folder.path().join("phone");
    let mut phone = Phone::new(Place::Pty(Some(link.clone())), GAMES, None).await;
    let app = format!("[[whitepawn]]\nboard = \"board\"\nserial = {{ port = {link:?} }}\n");
    let mut daemon = Mortal::new(&format!("{}{app}", player.keys), 5).await;
    phone.tells("ready").await;
    phone.does("new-game 3 Y").await;
    let moves = moves(25, 12);
    for (ply, m) in moves.iter().enumerate() {
        let mut watch = daemon.watch("board").await;
        if ply % 2 == 0 {
            watch.asks_at(ply).await;
            daemon.is_killed().await;
            daemon.watch("board").await.asks_at(ply).await;
            player.hand.does(m).await;
            phone.tells(&format!("made {m}")).await;
        } else {
            phone.does(m).await;
            watch.is_led_to(m).await;
            daemon.is_killed_soon().await;
            player.executes(&moves[..=ply]).await;
        }
    }
    player.has_seen(&of(&moves, 1));
}

/// A link that plays another colour, or another board, has another game.
#[tokio::test]
async fn what_is_no_longer_configured_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let mut players =
        ["first", "second"].map(|board| Player::new(Kind::NovagCitrine, board, &folder));
    let [first, second] = players.each_ref().map(|player| player.keys.as_str());
    let link = "[[link]]\nboards = [\"first\", \"second\"]\n";
    let mut daemon = Mortal::new(&format!("{first}{second}{link}"), 3).await;
    players[0].plays(0, "e2e4", &mut daemon).await;
    players[1].executes(&["e2e4".to_owned()]).await;
    let text = fs::read_to_string(&daemon.config).unwrap();
    fs::write(&daemon.config, text.replace(link, "")).unwrap();
    daemon.is_killed().await;
    fs::write(&daemon.config, text.clone()).unwrap();
    daemon.is_killed().await;
    daemon.process.logs("new game with second").await;
    fs::write(&daemon.config, format!("{text}white = \"second\"\n")).unwrap();
    daemon.is_killed().await;
    daemon.process.logs("new game with second").await;
}
