//! Whole games between linked boards: two players, two simulated boards on real pseudo-terminals, one daemon or two.

use std::{net::SocketAddr, time::Duration};

use boardbridge::{
    bus::pairings::{NotSaid, Saying},
    chess::game::{Game, uci},
    vocabulary::{ClientName, GameEnd, Snapshot},
};
use shakmaty::{Color, Position};
use simulators::run::Kind;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::support::{FAST_CITRINE, FAST_UCB, Gui, Hand, House};

const GAMES: &str = include_str!("../games/lichess.uci");

fn game(number: usize) -> Game {
    let mut game = Game::standard();
    let line = GAMES.lines().nth(number - 1).unwrap();
    game.play_uci(line.split_whitespace()).unwrap();
    game
}

fn board(kind: Kind, folder: &tempfile::TempDir, name: &str) -> Hand {
    Hand::new(kind, folder.path().join(name), true)
}

/// A Citrine and a UCB.
fn boards(folder: &tempfile::TempDir) -> [Hand; 2] {
    [
        board(Kind::NovagCitrine, folder, "citrine"),
        board(Kind::NovagUcb, folder, "ucb"),
    ]
}

/// A player's board.
struct Place<'a> {
    house: &'a House,
    name: &'static str,
    hand: Hand,
}

impl Place<'_> {
    /// Waits until it is this player's turn after this many plies.
    async fn turn(&self, plies: usize) {
        self.house.knows(self.name, plies).await;
        self.house.asks_for_a_move(self.name).await;
    }

    /// Waits until the board has shown the move, and the player has made it.
    async fn executes(&mut self, m: &str) {
        let before = self.hand.sees(&format!("executed {m}")).await;
        assert!(!before.iter().any(|r| r.starts_with("fault")), "{before:?}");
    }

    async fn holds(&self, game: &Game) {
        let same = |snapshot: &Snapshot| {
            let led = snapshot
                .target
                .as_ref()
                .is_none_or(|target| **target == *game);
            led && *snapshot.game == *game
        };
        self.house.until(self.name, same).await;
    }
}

/// The players at a Citrine of one daemon and a UCB of the other, which may be the same.
fn places<'a>([near, far]: [&'a House; 2], [citrine, ucb]: [Hand; 2]) -> [Place<'a>; 2] {
    [(near, "citrine", citrine), (far, "ucb", ucb)].map(|(house, name, hand)| Place {
        house,
        name,
        hand,
    })
}

/// Plays a game between two players; the first has White.
async fn whole_game(places: &mut [Place<'_>; 2], game: &Game) {
    for (ply, &m) in game.moves().iter().enumerate() {
        let m = uci(m).to_string();
        let mover = ply % 2;
        places[mover].turn(ply).await;
        places[mover].hand.does(&m).await;
        places[1 - mover].executes(&m).await;
    }
    for place in places {
        place.holds(game).await;
    }
}

#[tokio::test]
async fn a_link_that_lags_misses_no_move() {
    let folder = House::folder();
    let hands = boards(&folder);
    let keys = [("citrine", FAST_CITRINE), ("ucb", FAST_UCB)];
    let house = House::lagging(folder, &keys, LOCAL).await;
    whole_game(&mut places([&house, &house], hands), &game(26)).await;
}

const LOCAL: &str = "[[link]]\nboards = [\"citrine\", \"ucb\"]\n";

async fn two_boards(more: &str) -> (House, [Hand; 2]) {
    let folder = House::folder();
    let hands = boards(&folder);
    let keys = [("citrine", FAST_CITRINE), ("ucb", FAST_UCB)];
    (House::with(folder, &keys, more).await, hands)
}

/// The fixtures' shortest games: castlings, captures, a promotion; some end by mate, the others are abandoned.
const SHORT: [usize; 10] = [26, 33, 25, 21, 12, 38, 36, 1, 17, 7];

async fn local_games(numbers: &[usize]) {
    for &number in numbers {
        let (house, hands) = two_boards(LOCAL).await;
        let mut places = places([&house, &house], hands);
        let game = game(number);
        whole_game(&mut places, &game).await;
        if game.position().legal_moves().is_empty() {
            // Either hand begins the next one.
            places[1].hand.does("new-game").await;
            places[0].hand.sees("new-game").await;
            for place in &places {
                place.holds(&Game::standard()).await;
            }
        }
    }
}

#[tokio::test]
async fn a_player_at_a_linked_board_resigns_and_begins_the_next_game_by_a_press() {
    let (house, hands) = two_boards(LOCAL).await;
    let pairings = house.daemon.bus().pairings();
    let mut places = places([&house, &house], hands);
    places[0].turn(0).await;
    let ucb = || "ucb".parse().unwrap();
    let refused = async |words: &str| {
        let said = pairings.say(&ucb(), Saying::TakeBack).await;
        let told = matches!(&said, Err(NotSaid::NotNow(how)) if how.contains(words));
        assert!(told, "{said:?}");
    };
    refused("no game in progress").await;
    places[0].hand.does("e2e4").await;
    places[1].executes("e2e4").await;
    refused("with the pieces").await;
    pairings.say(&ucb(), Saying::Resign).await.unwrap();
    let lost = |state: &Snapshot| state.ending == Some(GameEnd::resigned(Color::Black));
    for name in ["citrine", "ucb"] {
        house.until(name, lost).await;
    }
    let citrine = "citrine".parse().unwrap();
    assert_eq!(pairings.at(&citrine).unwrap().can, [Saying::NewGame]);
    pairings.say(&citrine, Saying::NewGame).await.unwrap();
    for place in &places {
        place.holds(&Game::standard()).await;
    }
}

#[tokio::test]
async fn five_games_are_played_between_two_boards_of_one_daemon() {
    local_games(&SHORT[..5]).await;
}

/// A connection between two daemons that the test can cut.
struct Cable {
    address: SocketAddr,
    cut: watch::Sender<u32>,
}

impl Cable {
    async fn to(far: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (cut, cuts) = watch::channel(0);
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let mut cuts = cuts.clone();
                cuts.mark_unchanged();
                tokio::spawn(async move {
                    let mut far = TcpStream::connect(far).await.unwrap();
                    tokio::select! {
                        _ = cuts.changed() => {}
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                    }
                });
            }
        });
        Self { address, cut }
    }

    fn is_cut(&self) {
        self.cut.send_modify(|cuts| *cuts += 1);
    }
}

/// A local board and a remote one, with a cable between them.
async fn across() -> (House, House, [Hand; 2], Cable) {
    let folder = House::folder();
    let there = board(Kind::NovagUcb, &folder, "ucb");
    let served = "[[whitepawn]]\nboard = \"ucb\"\ntcp = { listen = \"127.0.0.1:0\" }\n";
    let far = House::with(folder, &[("ucb", FAST_UCB)], served).await;
    let cable = Cable::to(far.address("whitepawn for ucb")).await;
    let folder = House::folder();
    let here = board(Kind::NovagCitrine, &folder, "citrine");
    let link = format!(
        "[[link]]\nboards = [\"citrine\"]\nwith = \"tcp:{}\"\n",
        cable.address
    );
    let near = House::with(folder, &[("citrine", FAST_CITRINE)], &link).await;
    (near, far, [here, there], cable)
}

async fn games_across(numbers: &[usize]) {
    for &number in numbers {
        // A game that is given up cannot be told: each has daemons of its own.
        let (near, far, hands, _cable) = across().await;
        let mut places = places([&near, &far], hands);
        let game = game(number);
        whole_game(&mut places, &game).await;
        if game.position().legal_moves().is_empty() {
            // The next one begins at the side that has the link.
            places[0].hand.does("new-game").await;
            places[1].holds(&Game::standard()).await;
            places[0].turn(0).await;
            places[0].hand.does("d2d4").await;
            places[1].executes("d2d4").await;
        }
    }
}

#[tokio::test]
async fn five_other_games_are_played_between_two_daemons() {
    games_across(&SHORT[5..]).await;
}

#[tokio::test]
async fn two_boards_that_come_and_go_play_one_game() {
    let (house, hands) = two_boards(LOCAL).await;
    let mut places = places([&house, &house], hands);
    let game = game(33);
    for (ply, &m) in game.moves().iter().enumerate() {
        let m = uci(m).to_string();
        let mover = ply % 2;
        places[mover].turn(ply).await;
        match ply {
            // The Citrine, which can tell what was played meanwhile, is away while its hand moves.
            6 => {
                places[0].hand.does("unplug").await;
                places[0].hand.sees("unplugged").await;
                places[0].hand.does(&m).await;
                places[0].hand.sees("made").await;
                places[0].hand.does("plug").await;
            }
            // Either is away while the other's hand moves.
            9 | 12 => {
                places[1 - mover].hand.does("unplug").await;
                places[1 - mover].hand.sees("unplugged").await;
                places[mover].hand.does(&m).await;
                house.knows(places[mover].name, ply + 1).await;
                places[1 - mover].hand.does("plug").await;
                if mover == 0 {
                    // A UCB that was away is given the position instead.
                    places[1].hand.sees("set-up").await;
                    continue;
                }
            }
            // It leaves in the middle of a shown move.
            15 => {
                places[mover].hand.does(&m).await;
                places[1 - mover].hand.does("unplug").await;
                let before = places[1 - mover].hand.sees("unplugged").await;
                places[1 - mover].hand.does("plug").await;
                if before.contains(&format!("executed {m}")) {
                    continue;
                }
            }
            _ => places[mover].hand.does(&m).await,
        }
        places[1 - mover].executes(&m).await;
    }
    for place in &places {
        place.holds(&game).await;
    }
}

#[tokio::test]
async fn two_daemons_whose_connection_breaks_play_one_game() {
    let (near, far, hands, cable) = across().await;
    let mut places = places([&near, &far], hands);
    let game = game(26);
    for (ply, &m) in game.moves().iter().enumerate() {
        let m = uci(m).to_string();
        let mover = ply % 2;
        places[mover].turn(ply).await;
        // Before a move, or just after it: it is on its way then, or lost.
        if ply == 6 {
            cable.is_cut();
        }
        places[mover].hand.does(&m).await;
        if ply == 10 {
            near.knows("citrine", ply + 1).await;
            cable.is_cut();
        }
        places[1 - mover].executes(&m).await;
    }
    for place in &places {
        place.holds(&game).await;
    }
}

#[tokio::test]
async fn a_reload_that_changes_both_boards_goes_on_with_their_game() {
    let folder = House::folder();
    let mut hands = boards(&folder);
    let names = ["citrine", "ucb"];
    let keys = [("citrine", FAST_CITRINE), ("ucb", FAST_UCB)];
    let mut house = House::with(folder, &keys, LOCAL).await;
    let game = game(12);
    for (ply, &m) in game.moves().iter().enumerate() {
        if ply % 4 == 3 {
            let wait = Duration::from_millis(150 + ply as u64);
            let changed = |keys: &str| keys.replace("150ms", &format!("{}ms", wait.as_millis()));
            let keys = [FAST_CITRINE, FAST_UCB].map(changed);
            let keys = [(names[0], keys[0].as_str()), (names[1], keys[1].as_str())];
            house.reloads(&keys, LOCAL).await;
            for name in names {
                let is_back =
                    |state: &Snapshot| state.correction_wait == wait && state.link.is_open();
                house.until(name, is_back).await;
            }
        }
        let m = uci(m).to_string();
        let mut at = names.into_iter();
        let mut places = hands.map(|hand| Place {
            house: &house,
            name: at.next().unwrap(),
            hand,
        });
        places[ply % 2].turn(ply).await;
        places[ply % 2].hand.does(&m).await;
        places[1 - ply % 2].executes(&m).await;
        hands = places.map(|place| place.hand);
    }
}

#[tokio::test]
async fn a_reload_that_changes_the_link_goes_on_with_its_game_unless_the_sides_change() {
    let folder = House::folder();
    let mut hands = boards(&folder);
    let keys = [("citrine", FAST_CITRINE), ("ucb", FAST_UCB)];
    let mut house = House::with(folder, &keys, LOCAL).await;
    // Citrine plays White without this key, too.
    let named = format!("{LOCAL}white = \"citrine\"\n");
    for (ply, m) in ["e2e4", "e7e5", "g1f3"].into_iter().enumerate() {
        let [here, there] = places([&house, &house], hands);
        let mut at = [here, there];
        at[ply % 2].turn(ply).await;
        at[ply % 2].hand.does(m).await;
        at[1 - ply % 2].executes(m).await;
        hands = at.map(|place| place.hand);
        if ply == 0 {
            house.reloads(&keys, &named).await;
        }
    }
    let turned = format!("{LOCAL}white = \"ucb\"\n");
    house.reloads(&keys, &turned).await;
    for name in ["citrine", "ucb"] {
        house.knows(name, 0).await;
    }
}

#[tokio::test]
async fn a_take_back_on_one_board_is_one_on_the_other() {
    let folder = House::folder();
    let hands = boards(&folder);
    // A take-back is followed while the hand may still mend it.
    let citrine = FAST_CITRINE.replace("correction_wait = \"150ms\"", "correction_wait = \"2s\"");
    let keys = [("citrine", citrine.as_str()), ("ucb", FAST_UCB)];
    let house = House::with(folder, &keys, LOCAL).await;
    let mut places = places([&house, &house], hands);
    places[0].turn(0).await;
    places[0].hand.does("e2e4").await;
    places[1].executes("e2e4").await;
    places[0].hand.does("take-back").await;
    places[1].hand.sees("new-game").await;
    places[0].turn(0).await;
    places[0].hand.does("d2d4").await;
    places[1].executes("d2d4").await;
}

#[tokio::test]
async fn the_boards_of_a_link_are_seen_as_its_own_and_that_of_another_is_no_engine() {
    let (near, _far, _hands, cable) = across().await;
    near.awaits("citrine", 1).await;
    let holders = near
        .daemon
        .bus()
        .board("citrine")
        .unwrap()
        .state()
        .holders
        .clone();
    assert_eq!(
        ClientName::join(&holders, " "),
        format!("the link with tcp:{}", cable.address)
    );
    let mut gui = near.gui().await;
    gui.says("uci").await;
    gui.hears("uciok").await;
    assert!(
        !gui.log.iter().any(|line| line.contains("@far")),
        "{:?}",
        gui.log
    );
    let mut watch = Gui::connect(near.address("status")).await;
    watch.hears_of("citrine@far").await;
}
