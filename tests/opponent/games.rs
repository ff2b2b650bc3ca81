//! Whole games against an engine, and by two hands, on simulated boards: the daemon, the engine's process, take-backs,
//! crashes, restarts, other clients. Stockfish plays where it is installed.

use std::{fs, os::unix::fs::symlink, path::Path, time::Duration};

use boardbridge::{
    bus::{
        News, Subscription,
        pairings::{Pairing, Saying},
    },
    chess::game::{Game, uci},
    vocabulary::{BoardName, Event, GameEnd, Reason, Snapshot},
};
use shakmaty::{Color, Position};
use simulators::{
    HandAction,
    bluez::{ADAPTER, Bluez, address::Address},
    neo::{self, Neo},
    run::Kind,
};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::support::{
    FAST_CITRINE, FAST_DGT, FAST_UCB, Hand, House, PATIENCE,
    kept::{games_in, kept_in},
    process::Process,
};

/// A game that ends by mate.
const MATE: &str = "e2e4 e7e5 g1f3 d7d6 f1c4 c8g4 b1c3 g7g6 f3e5 g4d1 c4f7 e8e7 c3d5";
const HOME_MADE: &str = "kind = \"swpp\"\nmove_wait = \"50ms\"\ncorrection_wait = \"150ms\"\n";
const NEO: &str = "kind = \"miko-neo\"\nsettle = \"100ms\"\ncorrection_wait = \"150ms\"\n";
const STOCKFISH: &str = "/usr/games/stockfish";
/// Options and limits for a quick game.
const WEAK: &str = "options = { Threads = 1, Hash = 1 }\ngo = \"depth 5\"\n";

fn mate() -> Game {
    let mut game = Game::standard();
    game.play_uci(MATE.split_whitespace()).unwrap();
    game
}

pub(crate) fn moves(game: &Game) -> Vec<String> {
    game.moves().iter().map(|&m| uci(m).to_string()).collect()
}

/// An engine that plays one colour of this game.
pub(crate) fn scripted(folder: &Path, game: &[String]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opponent/engine.sh");
    for (ply, m) in game.iter().enumerate() {
        fs::write(folder.join(ply.to_string()), m).unwrap();
    }
    format!("engine = [{script:?}, {folder:?}]\ngo = \"depth 1\"\npatience = \"2s\"\n")
}

/// A daemon with an opponent at its only board, and the hand there.
struct Table {
    house: House,
    hand: Hand,
    board: &'static str,
    news: Subscription,
}

impl Table {
    async fn new(kind: Kind, folder: TempDir, opponent: &str, more: &str) -> Self {
        let (board, keys) = match kind {
            Kind::NovagCitrine => ("citrine", FAST_CITRINE),
            Kind::NovagUcb => ("ucb", FAST_UCB),
            Kind::DgtBoard => ("dgt", FAST_DGT),
            _ => ("diy", HOME_MADE),
        };
        let hand = Hand::new(kind, folder.path().join(board), true);
        Self::with(hand, board, keys, folder, opponent, more).await
    }

    async fn with(
        hand: Hand,
        board: &'static str,
        keys: &str,
        folder: TempDir,
        opponent: &str,
        more: &str,
    ) -> Self {
        let more = format!("[[opponent]]\nboard = {board:?}\n{opponent}{more}");
        let house = House::with(folder, &[(board, keys)], &more).await;
        let news = house.daemon.bus().subscribe();
        Self {
            house,
            hand,
            board,
            news,
        }
    }

    fn pairing(&self) -> Pairing {
        let pairings = self.house.daemon.bus().pairings();
        Pairing::clone(&pairings.at(&self.name()).unwrap())
    }

    fn name(&self) -> BoardName {
        self.board.parse().unwrap()
    }

    async fn says(&self, saying: Saying) -> Result<(), String> {
        let pairings = self.house.daemon.bus().pairings();
        let said = pairings.say(&self.name(), saying).await;
        said.map_err(|error| error.to_string())
    }

    /// Waits until the hand has to move after this many plies.
    async fn turn(&self, plies: usize) {
        let asked = |state: &Snapshot| {
            let led = state.target.as_ref().is_some_and(|t| t.len() == plies);
            led && state.awaiting && state.sure && state.game.len() == plies
        };
        self.house.until(self.board, asked).await;
        self.house.asks_for_a_move(self.board).await;
    }

    /// Waits until the client is told of this.
    async fn tells(&mut self, words: &str) {
        let told = async {
            loop {
                if let News::Published(publication) = self.news.next().await
                    && publication.events.iter().any(
                        |event| matches!(event, Event::Client { text, .. } if text.contains(words)),
                    )
                {
                    return;
                }
            }
        };
        let told = timeout(PATIENCE, told).await;
        told.unwrap_or_else(|_| panic!("never told: {words}"));
    }

    /// Plays these moves from this ply on: the hand its own, the engine the others.
    async fn plays(&mut self, game: &[String], from: usize, hand: Color) {
        for (ply, m) in game.iter().enumerate().skip(from) {
            if (ply % 2 == 0) == hand.is_white() {
                self.turn(ply).await;
                self.hand.does(m).await;
            } else {
                let before = self.hand.sees(&format!("executed {m}")).await;
                assert!(!before.iter().any(|r| r.starts_with("fault")), "{before:?}");
            }
        }
    }

    async fn ends(&self, end: GameEnd) {
        let over = |state: &Snapshot| state.ending == Some(end);
        self.house.until(self.board, over).await;
    }
}

#[tokio::test]
async fn a_game_is_played_against_an_engine_and_its_end_is_told() {
    let game = mate();
    let folder = House::folder();
    let games = kept_in(&folder.path().join("games"));
    let kept = folder.path().join("games");
    let opponent = scripted(folder.path(), &moves(&game))
        + "options = { \"Skill Level\" = 3, Nonsense = true }\n";
    let more = format!("{games}player = \"Anna\"\n");
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, &more).await;
    table.tells("no option `Nonsense`").await;
    table.plays(&moves(&game), 0, Color::White).await;
    table
        .ends(GameEnd::won(Reason::Checkmate, Color::White))
        .await;
    let players = table.pairing().players;
    let name = |color| players.get(color).as_ref().unwrap().name.clone();
    assert_eq!(name(Color::White), "Anna");
    assert_eq!(name(Color::Black), "Scripted 1.0");
    let heard = fs::read_to_string(table.house.folder.path().join("heard")).unwrap();
    assert!(
        heard.contains("setoption name Skill Level value 3\nisready\n"),
        "{heard}"
    );
    assert_eq!(heard.matches("ucinewgame").count(), 1, "{heard}");
    let House { daemon, folder } = table.house;
    daemon.stop().await;
    let found = games_in(&kept);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].moves(), moves(&game).join(" "));
    assert_eq!(found[0].tag("White"), "Anna");
    assert_eq!(found[0].tag("Black"), "Scripted 1.0");
    drop(folder);
}

#[tokio::test]
async fn an_engine_that_says_its_name_after_the_first_move_has_it_in_the_kept_game() {
    let game = moves(&mate());
    let folder = House::folder();
    let (held, kept) = (folder.path().join("held"), folder.path().join("games"));
    fs::write(&held, "").unwrap();
    let opponent = scripted(folder.path(), &game);
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, &kept_in(&kept)).await;
    table.turn(0).await;
    table.hand.does(&game[0]).await;
    let moved = |state: &Snapshot| state.game.len() == 1;
    table.house.until("citrine", moved).await;
    fs::remove_file(&held).unwrap();
    table.plays(&game, 1, Color::White).await;
    let won = GameEnd::won(Reason::Checkmate, Color::White);
    table.ends(won).await;
    table.house.daemon.stop().await;
    assert_eq!(games_in(&kept)[0].tag("Black"), "Scripted 1.0");
}

#[tokio::test]
async fn a_game_is_played_against_an_engine_on_a_board_of_pieces() {
    let game = mate();
    let folder = House::folder();
    let opponent = scripted(folder.path(), &moves(&game));
    let mut table = Table::new(Kind::DgtBoard, folder, &opponent, "").await;
    table.plays(&moves(&game), 0, Color::White).await;
    let won = GameEnd::won(Reason::Checkmate, Color::White);
    table.ends(won).await;
}

#[tokio::test]
async fn another_name_of_the_player_and_another_folder_stop_no_game_and_no_page() {
    let game = moves(&mate());
    let folder = House::folder();
    let opponent = scripted(folder.path(), &game);
    let boards = [("citrine", FAST_CITRINE)];
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, "").await;
    table.plays(&game[..2], 0, Color::White).await;
    let (before, mut changes) = (
        table.house.daemon.ports(),
        table.house.daemon.bus().pairings().changes(),
    );
    let player = |table: &Table| table.pairing().players.white.map(|player| player.name);
    assert_eq!(player(&table), None);
    let games = kept_in(&table.house.folder.path().join("games"));
    let more = format!("[[opponent]]\nboard = \"citrine\"\n{opponent}{games}player = \"Anna\"\n");
    table.house.reloads(&boards, &more).await;
    while player(&table).as_deref() != Some("Anna") {
        timeout(PATIENCE, changes.next()).await.unwrap();
    }
    assert_eq!(table.house.daemon.ports(), before);
    table.plays(&game, 2, Color::White).await;
    table
        .ends(GameEnd::won(Reason::Checkmate, Color::White))
        .await;
    let heard = fs::read_to_string(table.house.folder.path().join("heard")).unwrap();
    assert_eq!(heard.matches("ucinewgame").count(), 1, "{heard}");
}

#[tokio::test]
async fn a_reload_that_changes_the_board_goes_on_with_the_same_game() {
    let game = moves(&mate());
    let folder = House::folder();
    let opponent = scripted(folder.path(), &game);
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, "").await;
    table.plays(&game[..2], 0, Color::White).await;
    let changed =
        FAST_CITRINE.replace("correction_wait = \"150ms\"", "correction_wait = \"200ms\"");
    let games = kept_in(&table.house.folder.path().join("games"));
    let more = format!("[[opponent]]\nboard = \"citrine\"\n{opponent}{games}");
    table.house.reloads(&[("citrine", &changed)], &more).await;
    let is_back =
        |state: &Snapshot| state.correction_wait.as_millis() == 200 && state.link.is_open();
    table.house.until("citrine", is_back).await;
    table.turn(2).await;
    table.hand.does(&game[2]).await;
    let before = table.hand.sees(&format!("executed {}", game[3])).await;
    // Begun anew between the two sends of a move, the board's task lights it again: that may cross the hand's next move.
    let crosses = format!("fault illegal: {}", game[1].to_uppercase());
    let wrong = |r: &String| r.starts_with("fault") && *r != crosses;
    assert!(!before.iter().any(wrong), "{before:?}");
    table.plays(&game, 4, Color::White).await;
    table
        .ends(GameEnd::won(Reason::Checkmate, Color::White))
        .await;
    let heard = fs::read_to_string(table.house.folder.path().join("heard")).unwrap();
    assert_eq!(heard.matches("ucinewgame").count(), 1, "{heard}");
}

#[tokio::test]
async fn a_reload_that_changes_the_engine_goes_on_with_the_same_game() {
    let game = moves(&mate());
    let folder = House::folder();
    let opponent = scripted(folder.path(), &game);
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, "").await;
    table.plays(&game[..2], 0, Color::White).await;
    let boards = [("citrine", FAST_CITRINE)];
    let games = kept_in(&table.house.folder.path().join("games"));
    let changed = opponent.replace("depth 1", "depth 2");
    let more = format!("[[opponent]]\nboard = \"citrine\"\n{changed}{games}");
    table.house.reloads(&boards, &more).await;
    table.plays(&game[..4], 2, Color::White).await;
    // With other sides it is another game.
    let more = more.replace("go = ", "hand = \"black\"\ngo = ");
    table.house.reloads(&boards, &more).await;
    table.house.knows("citrine", 0).await;
}

#[tokio::test]
async fn an_engine_whose_board_got_another_task_plays_there() {
    let game = moves(&mate());
    let folder = House::folder();
    let opponent = scripted(folder.path(), &game);
    let opponent = format!("[[opponent]]\nboard = \"citrine\"\n{opponent}");
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    // Of another daemon at first, which is not there.
    let far = "[boards.citrine]\nkind = \"remote\"\nmqtt = { daemon = \"hall\", board = \"citrine\" }\n\
               [mqtt]\nurl = \"mqtt://127.0.0.1:1\"\nname = \"here\"\n";
    let mut house = House::with(folder, &[], &format!("{far}{opponent}")).await;
    let here = [("citrine", FAST_CITRINE)];
    house.reloads(&here, &opponent).await;
    let news = house.daemon.bus().subscribe();
    let mut table = Table {
        house,
        hand,
        board: "citrine",
        news,
    };
    table.plays(&game[..2], 0, Color::White).await;
}

#[tokio::test]
async fn an_engine_that_crashes_hangs_or_cheats_is_started_again_with_the_same_game() {
    let game = moves(&mate());
    let folder = House::folder();
    let opponent = scripted(folder.path(), &game);
    for (ply, fault) in [(1, "crash"), (3, "e1e8"), (5, "hang")] {
        fs::write(folder.path().join(format!("once-{ply}")), fault).unwrap();
    }
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, "").await;
    let told = [
        "ended (exit status 3)",
        "`e1e8`, which is not a legal move",
        "not answered within 2 s",
    ];
    for (index, words) in told.into_iter().enumerate() {
        let ply = 2 * index;
        table.turn(ply).await;
        table.hand.does(&game[ply]).await;
        table.tells(words).await;
        let notice = table.pairing().notice.unwrap();
        assert!(
            notice.contains("started again with the same game"),
            "{notice}"
        );
        table
            .hand
            .sees(&format!("executed {}", game[ply + 1]))
            .await;
        table.tells("plays again").await;
    }
    assert_eq!(table.pairing().notice, None);
    table.plays(&game, 6, Color::White).await;
    table
        .ends(GameEnd::won(Reason::Checkmate, Color::White))
        .await;
}

#[tokio::test]
async fn an_engine_that_cannot_play_weaker_is_known_to_play_at_full_strength_while_its_game_lasts()
{
    let game = moves(&mate());
    let folder = House::folder();
    let opponent =
        scripted(folder.path(), &game) + "options = { UCI_LimitStrength = true, uci_elo = 1500 }\n";
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, "").await;
    table.tells("no option `uci_elo`").await;
    let full = "this engine cannot play weaker: it plays at full strength";
    table.plays(&game[..2], 0, Color::White).await;
    table.turn(2).await;
    assert_eq!(table.pairing().notice.as_deref(), Some(full));
    table.plays(&game, 2, Color::White).await;
    table
        .ends(GameEnd::won(Reason::Checkmate, Color::White))
        .await;
}

#[tokio::test]
async fn moves_put_back_are_taken_back_and_the_engine_answers_again() {
    let game: Vec<String> = ["e2e4", "e7e5", "g1f3", "b8c6"].map(str::to_owned).into();
    let folder = House::folder();
    let opponent = scripted(folder.path(), &game);
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, "").await;
    table.plays(&game, 0, Color::White).await;
    table.turn(4).await;
    table.hand.does("take-back").await;
    table.hand.does("take-back").await;
    table.tells("2 moves were taken back").await;
    table.turn(2).await;
    table.hand.does("b1c3").await;
    table.hand.sees("executed b8c6").await;
    table.turn(4).await;
    // Only the engine's move: it answers again.
    table.hand.does("take-back").await;
    table.tells("a move was taken back").await;
    table.hand.sees("executed b8c6").await;
    table.turn(4).await;
    table.says(Saying::TakeBack).await.unwrap();
    table.turn(2).await;
    assert_eq!(
        table.says(Saying::Draw).await.unwrap_err(),
        "the engine declines: play on, or put the kings on a light and a dark square in the centre"
    );
    table.says(Saying::Resign).await.unwrap();
    table.ends(GameEnd::resigned(Color::White)).await;
    assert_eq!(
        table.says(Saying::Resign).await.unwrap_err(),
        "no game in progress: make the first move, or press 'new game'"
    );
}

#[tokio::test]
async fn the_engine_begins_when_the_pieces_stand_at_the_start_and_colours_alternate() {
    let game = moves(&mate());
    let folder = House::folder();
    let opponent = scripted(folder.path(), &game) + "hand = \"alternate\"\n";
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, "").await;
    table.plays(&game[..4], 0, Color::White).await;
    table.says(Saying::Resign).await.unwrap();
    table.ends(GameEnd::resigned(Color::White)).await;
    table.hand.does("new-game").await;
    table.plays(&game[..4], 0, Color::Black).await;
    assert_eq!(table.pairing().hand, Some(Color::Black));
}

#[tokio::test]
async fn while_no_game_is_on_a_gui_gets_the_board_and_in_a_game_it_waits() {
    let game = moves(&mate());
    let folder = House::folder();
    let opponent = scripted(folder.path(), &game);
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, "").await;
    table.turn(0).await;
    let mut gui = table.house.gui().await;
    gui.asks("").await;
    table.tells("the board is with").await;
    assert!(
        table
            .pairing()
            .notice
            .unwrap()
            .contains("a game begins when it is free")
    );
    let refused = table.says(Saying::NewGame).await.unwrap_err();
    assert!(refused.contains("boardbridge release citrine"), "{refused}");
    table.turn(0).await;
    table.hand.answers(&mut gui, "d2d4").await;
    drop(gui);
    table.house.awaits("citrine", 0).await;
    table.hand.does("new-game").await;
    table.plays(&game[..4], 0, Color::White).await;
    let mut gui = table.house.gui().await;
    gui.asks("").await;
    table
        .house
        .until("citrine", |state| state.waiting.len() == 1)
        .await;
    table.plays(&game[..8], 4, Color::White).await;
    assert!(gui.answers().is_empty());
}

#[tokio::test]
async fn a_resigned_game_is_kept_with_its_result_though_a_gui_waits_for_the_board() {
    let game = moves(&mate());
    let folder = House::folder();
    let kept = folder.path().join("games");
    let opponent = scripted(folder.path(), &game);
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, &kept_in(&kept)).await;
    table.plays(&game[..4], 0, Color::White).await;
    let mut gui = table.house.gui().await;
    gui.asks("").await;
    table
        .house
        .until("citrine", |state| state.waiting.len() == 1)
        .await;
    table.says(Saying::Resign).await.unwrap();
    table
        .house
        .until("citrine", |state| state.waiting.is_empty())
        .await;
    table.house.daemon.stop().await;
    let found = games_in(&kept);
    assert_eq!(found[0].tag("Result"), "0-1");
    assert_eq!(found[0].tag("Termination"), "normal");
}

#[tokio::test]
async fn a_game_that_is_left_for_another_keeps_its_own_players() {
    let game = moves(&mate());
    let folder = House::folder();
    let kept = folder.path().join("games");
    let opponent = scripted(folder.path(), &game) + "hand = \"alternate\"\n";
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, &kept_in(&kept)).await;
    table.plays(&game[..4], 0, Color::White).await;
    table.says(Saying::NewGame).await.unwrap();
    table.tells("you play Black").await;
    table.house.daemon.stop().await;
    let found = games_in(&kept);
    assert_eq!(found[0].tag("Black"), "Scripted 1.0");
    let white = found[0].tag("White");
    assert!(white.starts_with("Hand on"), "{white}");
}

#[tokio::test]
async fn two_hands_play_a_game_that_is_kept() {
    for kind in [Kind::NovagCitrine, Kind::NovagUcb, Kind::SwppBoard] {
        let game = mate();
        let folder = House::folder();
        let kept = folder.path().join("games");
        let games = kept_in(&kept);
        let are_named = kind == Kind::NovagCitrine;
        let names = "white = \"Anna\"\nblack = \"Bert\"\n";
        let opponent = if are_named { names } else { "" };
        let mut table = Table::new(kind, folder, opponent, &games).await;
        if kind == Kind::SwppBoard {
            // It begins its game when it is told to: a move before that is in no game.
            table.hand.sees("announced").await;
        }
        for (ply, m) in moves(&game).iter().enumerate() {
            table.turn(ply).await;
            table.hand.does(m).await;
        }
        table
            .ends(GameEnd::won(Reason::Checkmate, Color::White))
            .await;
        table.house.daemon.stop().await;
        let found = games_in(&kept);
        assert_eq!(found.len(), 1, "{kind}");
        assert_eq!(found[0].moves(), moves(&game).join(" "));
        assert_eq!(found[0].tag("Result"), "1-0");
        if are_named {
            assert_eq!(found[0].tag("White"), "Anna");
            assert_eq!(found[0].tag("Black"), "Bert");
            continue;
        }
        let name = found[0].tag("White").to_owned();
        assert!(name.starts_with("Hand on"), "{name}");
        assert_eq!(found[0].tag("Black"), name);
    }
}

#[tokio::test]
async fn a_restart_goes_on_with_the_same_game() {
    let game = moves(&mate());
    let folder = House::folder();
    let state = folder.path().join("state");
    let opponent = scripted(folder.path(), &game);
    let more = format!("[state]\ndirectory = {state:?}\n");
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, &more).await;
    table.plays(&game[..5], 0, Color::White).await;
    table.hand.sees(&format!("shown {}", game[5])).await;
    let Table {
        house, hand, board, ..
    } = table;
    let House { daemon, folder } = house;
    daemon.stop().await;
    let mut table = Table::with(hand, board, FAST_CITRINE, folder, &opponent, &more).await;
    table.turn(6).await;
    table.hand.does(&game[6]).await;
    // The new daemon lights the engine's move once more, for it may not have been made yet. That may cross the hand's
    // next move on the wire; the board then shows an error and goes on.
    let before = table.hand.sees(&format!("executed {}", game[7])).await;
    let crossed = format!("fault illegal: {}", game[5].to_ascii_uppercase());
    let wrong = |report: &&String| report.starts_with("fault") && **report != crossed;
    assert_eq!(before.iter().find(wrong), None);
    table.plays(&game, 8, Color::White).await;
    table
        .ends(GameEnd::won(Reason::Checkmate, Color::White))
        .await;
    let heard = fs::read_to_string(table.house.folder.path().join("heard")).unwrap();
    assert_eq!(heard.matches("uci\n").count(), 2, "{heard}");
}

#[tokio::test]
async fn a_daemon_that_is_killed_after_every_move_of_the_hand_plays_one_game() {
    let game = moves(&mate());
    let folder = House::folder();
    let opponent = scripted(folder.path(), &game);
    let port = folder.path().join("citrine");
    let mut hand = Hand::new(Kind::NovagCitrine, port.clone(), true);
    let bluez = Bluez::start().unwrap();
    let text = format!(
        "[boards.citrine]\n{FAST_CITRINE}serial = {{ port = {port:?} }}\n[[opponent]]\nboard = \"citrine\"\n{opponent}"
    );
    let mut process = Process::keeping(&bluez, &text);
    let mut random = fastrand::Rng::with_seed(5);
    let mut watch = process.watch().await;
    for (ply, m) in game.iter().enumerate() {
        if ply % 2 == 0 {
            watch.asks_at(ply).await;
            hand.does(m).await;
            hand.sees(&format!("made {m}")).await;
            if ply + 1 == game.len() {
                break;
            }
            // Somewhere between before and after all that follows a move.
            tokio::time::sleep(Duration::from_micros(random.u64(0..40_000))).await;
            process.again("KILL", |_| {});
            watch = process.watch().await;
        } else {
            let before = hand.sees(&format!("executed {m}")).await;
            let wrong = |report: &String| {
                ["fault", "new-game", "made"]
                    .iter()
                    .any(|word| report.starts_with(word))
            };
            assert!(!before.iter().any(wrong), "{before:?}");
        }
    }
    watch.tells("the game is over: checkmate").await;
    let kept = process.kept().await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0].moves(), game.join(" "));
    assert_eq!(kept[0].tag("Result"), "1-0");
}

/// Stockfish, at a path of its own.
fn stockfish(folder: &Path) -> Option<String> {
    if !Path::new(STOCKFISH).exists() {
        println!("skipped: {STOCKFISH} is not installed");
        return None;
    }
    let engine = folder.join("stockfish");
    symlink(STOCKFISH, &engine).unwrap();
    Some(format!("engine = {engine:?}\n{WEAK}"))
}

/// Kills the engine that was started from this folder.
fn kill_engine(folder: &Path) {
    let path = folder.join("stockfish");
    let of_folder = |process: &fs::DirEntry| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.starts_with(path.as_os_str().as_encoded_bytes())
    };
    let found = fs::read_dir("/proc").unwrap().flatten().find(of_folder);
    let number = found.unwrap().file_name().into_string().unwrap();
    let status = std::process::Command::new("kill")
        .args(["-KILL", &number])
        .status();
    assert!(status.unwrap().success());
}

/// A hand that plays at random, until the game is over.
async fn plays_stockfish(table: &mut Table, hand: Color, kill_at: usize) {
    let mut random = fastrand::Rng::with_seed(7);
    let board = table.house.daemon.bus().board(table.board).unwrap();
    let mut killed = false;
    loop {
        let mut feed = board.feed();
        let mut target = Game::standard();
        let ready = async {
            loop {
                let (_, state) = feed.next().await;
                let Some(led) = &state.target else {
                    if state.ending.is_some() {
                        return true;
                    }
                    continue;
                };
                target = Game::clone(led);
                let turn = led.turn() == hand && state.awaiting;
                if turn && state.sure && *state.game == target {
                    return false;
                }
            }
        };
        if timeout(Duration::from_secs(60), ready).await.unwrap() {
            break;
        }
        if !killed && target.len() >= kill_at {
            killed = true;
            kill_engine(table.house.folder.path());
            table.tells("signal 9").await;
        }
        if let Some(shown) = target.last() {
            let shown = format!("executed {}", uci(shown));
            table.hand.sees(&shown).await;
        }
        table.house.asks_for_a_move(table.board).await;
        let legal = target.position().legal_moves();
        let m = legal[random.usize(..legal.len())];
        table.hand.does(&uci(m).to_string()).await;
        let made = target.len() + 1;
        table
            .house
            .until(table.board, |state| {
                state.game.len() >= made || state.target.is_none()
            })
            .await;
    }
    assert!(killed);
    let state = board.state();
    assert!(GameEnd::by_rules(&state.game).is_some(), "{}", state.game);
}

#[tokio::test]
async fn stockfish_plays_a_whole_game_on_a_citrine_though_it_is_killed() {
    let folder = House::folder();
    let Some(opponent) = stockfish(folder.path()) else {
        return;
    };
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, "").await;
    plays_stockfish(&mut table, Color::White, 6).await;
    assert!(
        table
            .pairing()
            .players
            .black
            .unwrap()
            .name
            .starts_with("Stockfish")
    );
}

#[tokio::test]
async fn stockfish_begins_a_whole_game_on_a_home_made_board_though_it_is_killed() {
    let folder = House::folder();
    let Some(opponent) = stockfish(folder.path()) else {
        return;
    };
    let opponent = opponent + "hand = \"black\"\n";
    let mut table = Table::new(Kind::SwppBoard, folder, &opponent, "").await;
    plays_stockfish(&mut table, Color::Black, 5).await;
}

#[tokio::test]
async fn stockfish_plays_a_whole_game_on_a_neo_though_it_is_killed() {
    let folder = House::folder();
    let Some(opponent) = stockfish(folder.path()) else {
        return;
    };
    let bluez = Bluez::start().unwrap();
    let settings = neo::Settings {
        suffix: "001".to_owned(),
        speed: crate::support::SPEED,
        hand_delay: Some(Duration::from_millis(20)),
        strict: false,
        ..neo::Settings::default()
    };
    let address = Address([0x02, 0xBB, 0, 0, 0, 0x01]);
    let board = bluez.host(ADAPTER, address, Neo::new(settings)).unwrap();
    let text = format!(
        "[boards.neo]\n{NEO}ble = {{ name = \"Square Off Neo\" }}\n[[opponent]]\nboard = \"neo\"\n{opponent}"
    );
    let mut process = Process::start(&bluez, &text);
    let mut watch = process.watch().await;
    let mut random = fastrand::Rng::with_seed(3);
    let mut killed = false;
    let mut plies = 0;
    let mut game = Game::standard();
    while GameEnd::by_rules(&game).is_none() {
        watch.asks_at(plies).await;
        game = Game::standard();
        game.play_uci(watch.target().iter().map(String::as_str))
            .unwrap();
        if plies >= 6 && !killed {
            killed = true;
            kill_engine(folder.path());
            watch.tells("signal 9").await;
        }
        let position = game.position().board().clone();
        let standing = timeout(PATIENCE, async {
            while !board.with(|neo| !neo.is_driving() && *neo.table().board() == position) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        standing.await.unwrap();
        // Short games: a hand that does not promote needs no choice of pieces.
        let legal = game.position().legal_moves();
        let legal: Vec<_> = legal.iter().filter(|m| !m.is_promotion()).collect();
        let m = uci(*legal[random.usize(..legal.len())]);
        board.with(|neo| neo.hand(std::time::Instant::now(), HandAction::Move(m)));
        game.play_uci([m.to_string().as_str()]).unwrap();
        if GameEnd::by_rules(&game).is_some() {
            break;
        }
        watch.is_led_beyond(plies + 1).await;
        game = Game::standard();
        game.play_uci(watch.target().iter().map(String::as_str))
            .unwrap();
        plies += 2;
    }
    assert!(killed);
    watch.tells("the game is over").await;
}

#[tokio::test]
async fn a_position_that_the_hand_sets_up_on_the_board_is_played_by_the_engine_and_kept() {
    const PAWN: &str = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    let folder = House::folder();
    let kept = folder.path().join("games");
    let games = kept_in(&kept);
    let game = ["e2e4", "e8e7", "e1e2", "e7e6"].map(str::to_owned);
    let opponent = scripted(folder.path(), &game);
    let mut table = Table::new(Kind::NovagCitrine, folder, &opponent, &games).await;
    table.turn(0).await;
    table.hand.does(&format!("set-up {PAWN}")).await;
    let begins = |state: &Snapshot| {
        state
            .target
            .as_ref()
            .is_some_and(|t| t.fen().to_string() == PAWN)
    };
    table.house.until(table.board, begins).await;
    table.plays(&game, 0, Color::White).await;
    table.turn(4).await;
    let heard = fs::read_to_string(table.house.folder.path().join("heard")).unwrap();
    let position = format!("position fen {PAWN} moves e2e4\n");
    assert!(heard.contains(&position), "{heard}");
    let House { daemon, folder } = table.house;
    daemon.stop().await;
    let found = games_in(&kept);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].moves(), game.join(" "));
    assert_eq!(found[0].tag("SetUp"), "1");
    assert_eq!(found[0].tag("FEN"), PAWN);
    drop(folder);
}

#[tokio::test]
async fn a_game_begun_while_the_cable_was_out_is_answered_once_its_first_move_is_seen() {
    let game = ["f2f3", "e7e5", "g2g4", "d8h4"].map(str::to_owned);
    let folder = House::folder();
    let opponent = scripted(folder.path(), &game);
    let mut table = Table::new(Kind::NovagUcb, folder, &opponent, "").await;
    table.plays(&game, 0, Color::White).await;
    let lost = GameEnd::won(Reason::Checkmate, Color::Black);
    table.ends(lost).await;
    // The board cannot be asked: what it told while nobody heard it is lost.
    for unheard in ["unplug", "new-game", "e2e4"] {
        table.hand.does(unheard).await;
    }
    table.hand.sees("made e2e4").await;
    table.house.until(table.board, |b| !b.link.is_open()).await;
    table.hand.does("plug").await;
    table.house.until(table.board, |b| b.link.is_open()).await;
    table.hand.does("take-back").await;
    table.hand.does("e2e4").await;
    table.turn(2).await;
}
