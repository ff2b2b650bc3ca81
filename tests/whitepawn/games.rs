//! Whole games through a simulated phone: app, emulator, bus, board and player, over real sockets and pseudo-terminals.
//! The simulated app is strict: every byte of every message is checked, and every move must be legal in its own game.

use boardbridge::chess::game::{Game, uci};
use shakmaty::Color;
use simulators::{hand::Plays, run::Kind, swpp::Place};
use tokio::time::timeout;

use crate::support::{
    FAST_CITRINE, FAST_UCB, Hand, House, PATIENCE,
    kept::{games_in, kept_in},
    phone::Phone,
};

const GAMES: &str = include_str!("../games/lichess.uci");
const TCP: &str = "[[whitepawn]]\nboard = \"board\"\ntcp = { listen = \"127.0.0.1:0\" }\n";

fn game(number: usize) -> Game {
    let mut game = Game::standard();
    let line = GAMES.lines().nth(number - 1).unwrap();
    game.play_uci(line.split_whitespace()).unwrap();
    game
}

/// Plays a game to its end: the player one colour, the phone the other. `plays` is the phone's colour.
async fn whole_game(
    house: &House,
    hand: &mut Hand,
    phone: &mut Phone,
    number: usize,
    plays: Plays,
) {
    let game = game(number);
    let hands = match plays {
        Plays::White => Color::Black,
        Plays::Black => Color::White,
        Plays::Both => panic!("nothing is left for the hand"),
    };
    phone.tells("new-game").await;
    for (ply, &m) in game.moves().iter().enumerate() {
        let m = uci(m);
        if Color::from_white(ply % 2 == 0) == hands {
            house.asks_at(ply).await;
            hand.does(&m.to_string()).await;
            phone.tells(&format!("made {m}")).await;
        } else {
            phone.tells(&format!("sent {m}")).await;
            let before = hand.sees(&format!("executed {m}")).await;
            assert!(!before.iter().any(|r| r.starts_with("fault")), "{before:?}");
        }
    }
    phone.tells("ended").await;
}

/// What these tests wait for.
trait Waits {
    async fn asks_at(&self, plies: usize);
    async fn knows_the_app_is_away(&self);
}

impl Waits for House {
    /// Waits until the player is told to move after so many plies.
    async fn asks_at(&self, plies: usize) {
        self.knows("board", plies).await;
        self.asks_for_a_move("board").await;
    }

    /// Waits until the daemon has noticed that the phone hung up. A move in the same instant counts as received.
    async fn knows_the_app_is_away(&self) {
        let mut clients = self.daemon.bus().clients().subscribe();
        let away = clients.wait_for(|clients| clients.values().all(|client| client.peer.is_none()));
        timeout(PATIENCE, away).await.unwrap().unwrap();
    }
}

async fn on(keys: &str, kind: Kind, more: &str) -> (House, Hand) {
    let folder = House::folder();
    let hand = Hand::new(kind, folder.path().join("board"), true);
    let more = format!("{more}{}", kept_in(&folder.path().join("games")));
    let house = House::with(folder, &[("board", keys)], &more).await;
    (house, hand)
}

#[tokio::test]
async fn an_app_and_the_games_kept_miss_no_move_when_they_lag() {
    let folder = House::folder();
    let mut hand = Hand::new(Kind::NovagCitrine, folder.path().join("board"), true);
    let more = format!("{TCP}{}", kept_in(&folder.path().join("games")));
    let house = House::lagging(folder, &[("board", FAST_CITRINE)], &more).await;
    let mut phone = Phone::new(tcp(&house), GAMES, Some((25, Plays::Black))).await;
    whole_game(&house, &mut hand, &mut phone, 25, Plays::Black).await;
    house.awaits("board", 0).await;
    kept(house, &[25]).await;
}

/// Stops the daemon, which has archived exactly these games to their ends.
async fn kept(house: House, numbers: &[usize]) {
    let House { daemon, folder } = house;
    daemon.stop().await;
    let games = games_in(&folder.path().join("games"));
    let wanted: Vec<Game> = numbers.iter().copied().map(game).collect();
    let found: Vec<Game> = games.iter().map(|read| read.game.clone()).collect();
    assert_eq!(found, wanted);
    for read in games {
        assert_ne!(read.tag("Result"), "*", "{:?}", read.tags);
        let mut players = [read.tag("White"), read.tag("Black")];
        players.sort_unstable();
        assert_eq!(players, ["Hand on board", "WhitePawn app"]);
    }
}

fn tcp(house: &House) -> Place {
    Place::Tcp(house.address("whitepawn for board").to_string())
}

/// The games of these numbers, with the phone's colours, go through whole, and are archived.
async fn games_over_tcp(keys: &str, kind: Kind, games: &[(usize, Plays)]) {
    let (house, mut hand) = on(keys, kind, TCP).await;
    for &(number, plays) in games {
        let mut phone = Phone::new(tcp(&house), GAMES, Some((number, plays))).await;
        whole_game(&house, &mut hand, &mut phone, number, plays).await;
        house.awaits("board", 0).await;
    }
    let numbers: Vec<usize> = games.iter().map(|(number, _)| *number).collect();
    kept(house, &numbers).await;
}

// Castling either way by either side, en passant, promotions, mate.

#[tokio::test]
async fn games_are_played_over_tcp_on_a_citrine() {
    let games = [(1, Plays::Black), (2, Plays::White)];
    games_over_tcp(FAST_CITRINE, Kind::NovagCitrine, &games).await;
}

#[tokio::test]
async fn more_games_are_played_over_tcp_on_a_citrine() {
    let games = [(9, Plays::White), (25, Plays::Black), (38, Plays::White)];
    games_over_tcp(FAST_CITRINE, Kind::NovagCitrine, &games).await;
}

#[tokio::test]
async fn games_are_played_over_tcp_on_a_ucb() {
    let games = [(25, Plays::White), (26, Plays::Black)];
    games_over_tcp(FAST_UCB, Kind::NovagUcb, &games).await;
}

#[tokio::test]
async fn a_game_is_played_over_a_pseudo_terminal() {
    let folder = House::folder();
    let link = folder.path().join("phone");
    let mut phone = Phone::new(
        Place::Pty(Some(link.clone())),
        GAMES,
        Some((21, Plays::Black)),
    )
    .await;
    let mut hand = Hand::new(Kind::NovagCitrine, folder.path().join("board"), true);
    let more = format!("[[whitepawn]]\nboard = \"board\"\nserial = {{ port = {link:?} }}\n");
    let house = House::with(folder, &[("board", FAST_CITRINE)], &more).await;
    whole_game(&house, &mut hand, &mut phone, 21, Plays::Black).await;
}

#[tokio::test]
async fn a_game_crosses_two_daemons_from_the_phone_to_the_wood() {
    let (far, mut hand) = on(FAST_CITRINE, Kind::NovagCitrine, TCP).await;
    let address = far.address("whitepawn for board");
    let board = format!(
        "[boards.board]\nkind = \"swpp\"\nmove_wait = \"50ms\"\ntcp = {{ address = \"{address}\" }}\n{TCP}"
    );
    let near = House::with(House::folder(), &[], &board).await;
    for (number, plays) in [(1, Plays::White), (26, Plays::Black)] {
        let mut phone = Phone::new(tcp(&near), GAMES, Some((number, plays))).await;
        whole_game(&far, &mut hand, &mut phone, number, plays).await;
        near.awaits("board", 0).await;
        // The end is told all the way.
        far.awaits("board", 0).await;
    }
}

#[tokio::test]
async fn a_phone_and_a_board_that_come_and_go_play_one_game() {
    let (house, mut hand) = on(FAST_CITRINE, Kind::NovagCitrine, TCP).await;
    let mut phone = Phone::new(tcp(&house), GAMES, None).await;
    phone.tells("ready").await;
    phone.does("new-game 3 Y").await;
    let game = game(33);
    for (ply, &m) in game.moves().iter().enumerate() {
        let m = uci(m);
        if ply % 2 == 0 {
            house.asks_at(ply).await;
            match ply % 8 {
                // The phone is away while the hand moves.
                2 => {
                    phone.does("hang-up").await;
                    phone.tells("hung-up").await;
                    house.knows_the_app_is_away().await;
                    hand.does(&m.to_string()).await;
                    house.knows("board", ply + 1).await;
                    phone.does("connect").await;
                    phone.tells("ready").await;
                }
                // It comes back before the hand has moved.
                4 => {
                    phone.does("connect").await;
                    phone.tells("ready").await;
                    hand.does(&m.to_string()).await;
                }
                // The board is away for a moment.
                6 => {
                    hand.does("unplug").await;
                    hand.sees("unplugged").await;
                    hand.does("plug").await;
                    hand.sees("plugged").await;
                    house.asks_at(ply).await;
                    hand.does(&m.to_string()).await;
                }
                _ => hand.does(&m.to_string()).await,
            }
            phone.tells(&format!("made {m}")).await;
        } else {
            let unplugged = ply % 6 == 5;
            if unplugged {
                hand.does("unplug").await;
                hand.sees("unplugged").await;
            }
            phone.does(&m.to_string()).await;
            phone.tells(&format!("sent {m}")).await;
            if unplugged {
                hand.does("plug").await;
            }
            hand.sees(&format!("executed {m}")).await;
        }
    }
    phone.does("end 1").await;
    house.awaits("board", 0).await;
    kept(house, &[33]).await;
}
