//! A linked Citrine on a pseudo-terminal and Neo on Bluetooth: the real binary, the real btleplug, on a simulated
//! `BlueZ`.

use std::time::{Duration, Instant};

use boardbridge::chess::game::{Game, uci};
use shakmaty::Position;
use simulators::{
    HandAction,
    bluez::{ADAPTER, Bluez, address::Address, hosted::Hosted},
    neo::{Neo, Settings},
    run::Kind,
};
use tempfile::TempDir;

use crate::support::{
    Hand,
    process::{PATIENCE, Process, Watch},
};

const GAMES: &str = include_str!("../games/lichess.uci");
const ADDRESS: Address = Address([0x02, 0xBB, 0, 0, 0, 0x01]);
/// Pacing for a fast Citrine in another process.
const CITRINE: &str = "kind = \"novag-citrine\"\ncommand_gap = \"60ms\"\nsecond_send = \"60ms\"\n\
     second_send_capture = \"250ms\"\nmove_wait = \"50ms\"\nsetup_wait = \"50ms\"\ncorrection_wait = \"150ms\"\n";
const NEO: &str = "kind = \"miko-neo\"\nsettle = \"100ms\"\ncorrection_wait = \"150ms\"\n\
     ble = { name = \"Square Off Neo\" }\n";

fn game(number: usize) -> Game {
    let mut game = Game::standard();
    let line = GAMES.lines().nth(number - 1).unwrap();
    game.play_uci(line.split_whitespace()).unwrap();
    game
}

/// The two linked boards.
struct Room {
    bluez: Bluez,
    neo: Hosted<Neo>,
    hand: Hand,
    at_neo: Watch,
    at_citrine: Watch,
    process: Process,
    _folder: TempDir,
}

impl Room {
    async fn new(white: &str) -> Self {
        let bluez = Bluez::start().unwrap();
        let settings = Settings {
            suffix: "001".to_owned(),
            speed: 20.0,
            hand_delay: Some(Duration::from_millis(20)),
            strict: false,
            ..Settings::default()
        };
        let neo = bluez.host(ADAPTER, ADDRESS, Neo::new(settings)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let port = folder.path().join("citrine");
        let config = format!(
            "[boards.citrine]\n{CITRINE}serial = {{ port = {port:?} }}\n[boards.neo]\n{NEO}\
             [[link]]\nboards = [\"citrine\", \"neo\"]\nwhite = \"{white}\"\n"
        );
        let mut process = Process::start(&bluez, &config);
        // Later than the daemon, which would inherit the pseudo-terminal and keep it plugged in.
        let hand = Hand::new(Kind::NovagCitrine, port, true);
        Self {
            at_neo: process.watch_of(Some("neo")).await,
            at_citrine: process.watch_of(Some("citrine")).await,
            bluez,
            neo,
            hand,
            process,
            _folder: folder,
        }
    }

    /// Waits until the Neo has this placement.
    async fn stands(&self, game: &Game) {
        let end = Instant::now() + PATIENCE;
        let so =
            |neo: &mut Neo| !neo.is_driving() && neo.table().board() == game.position().board();
        while !self.neo.with(so) {
            assert!(Instant::now() < end, "the Neo does not come to {game}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The side to move makes the next move of this game, and the other board shows it.
    async fn plays(&mut self, game: &Game, ply: usize, on_neo: bool) {
        let m = uci(game.moves()[ply]);
        if on_neo {
            self.at_neo.asks_at(ply).await;
            self.stands(&game.truncated(ply)).await;
            let action = HandAction::Move(m.to_string().parse().unwrap());
            self.neo.with(|neo| neo.hand(Instant::now(), action));
            self.hand.sees(&format!("executed {m}")).await;
        } else {
            self.at_citrine.asks_at(ply).await;
            self.hand.does(&m.to_string()).await;
            self.at_neo.knows(ply + 1).await;
            self.stands(&game.truncated(ply + 1)).await;
        }
    }

    /// The game of each board, as it was archived.
    async fn kept(&mut self, game: &Game) {
        self.at_citrine.knows(game.len()).await;
        let kept = self.process.kept().await;
        assert_eq!(kept.len(), 2, "{kept:?}");
        for read in kept {
            assert_eq!(read.game, *game);
        }
    }
}

#[tokio::test]
async fn a_citrine_and_a_neo_play_a_game() {
    let mut room = Room::new("citrine").await;
    let game = game(26);
    for ply in 0..game.len() {
        room.plays(&game, ply, ply % 2 == 1).await;
    }
    room.kept(&game).await;
}

#[tokio::test]
async fn a_neo_and_a_citrine_play_a_game_through_lost_links() {
    let mut room = Room::new("neo").await;
    let game = game(33);
    let control = room.bluez.control();
    for ply in 0..game.len() {
        match ply {
            // While the Citrine's hand is to move, and while the Neo's is.
            5 | 8 => control.drop_link(ADDRESS).unwrap(),
            11 => {
                room.hand.does("unplug").await;
                room.hand.sees("unplugged").await;
                room.hand.does("plug").await;
            }
            _ => {}
        }
        room.plays(&game, ply, ply % 2 == 0).await;
    }
    room.kept(&game).await;
}
