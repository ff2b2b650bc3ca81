//! Games kept: what is played on a board is in a PGN file, whatever happens to the board, the daemon and the disk.

use std::{
    fs,
    io::{self, BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use boardbridge::{
    board::{core::Core, settings::BoardConfig},
    bus::pairings::{Pairing, Player},
    chess::game::Game,
    front_end::{
        pgn::{
            archive::{Archive, Notice, RETRY_WAIT, WRITE_GAP},
            folder::{Folder, GameFile, Writing, remedy},
            settings::GamesConfig,
        },
        pgn_text::TagText,
    },
    vocabulary::{
        BoardName, By, Channel, ClientName, Command as BoardCommand, GameEnd, Judge, LinkState,
        Reason, Snapshot,
    },
};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use rig::{clock::Clocked, program::Program};
use shakmaty::{ByColor, CastlingMode, Color, Outcome, Position, fen::Fen};
use simulators::run::Kind;
use tempfile::TempDir;
use tokio::time::timeout;

use crate::support::{
    FAST_CITRINE, Gui, Hand, House, PATIENCE,
    kept::{Read, files_in, games_in, kept_in, read},
};

fn game(moves: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
}

fn from(fen: &str, moves: &str) -> Game {
    let mut game = Game::from_fen(fen).unwrap();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
}

/// A time zone 5:30 hours ahead of UTC.
fn zone() -> TimeZone {
    TimeZone::posix("BBT-05:30").unwrap()
}

/// An archive with a clock and a folder of its own.
struct Rig {
    archive: Archive,
    folder: Folder,
    config: GamesConfig,
    snapshot: Snapshot,
    now: Instant,
    at: SystemTime,
    writings: usize,
    _temporary: Option<TempDir>,
}

impl Rig {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("games");
        Self::at(&path, Some(temporary))
    }

    fn at(path: &Path, temporary: Option<TempDir>) -> Self {
        let board: BoardName = "citrine".parse().unwrap();
        let config = GamesConfig::default();
        let folder = Folder::new(path, board.clone());
        Self {
            archive: Archive::new(board.clone(), &config, zone(), None),
            folder,
            config,
            snapshot: Snapshot {
                sure: true,
                ..Snapshot::new(board)
            },
            now: Instant::now(),
            at: SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_275_012),
            writings: 0,
            _temporary: temporary,
        }
    }

    /// The daemon is killed and restarted.
    fn restart(&mut self) {
        let last = self.folder.open().unwrap();
        self.archive = Archive::new(self.snapshot.board.clone(), &self.config, zone(), last);
    }

    /// The board has this game, and no one leads it.
    fn stands(&mut self, game: Game) {
        self.led(game, None);
    }

    /// The board has this game, and is led to `target`. Moves that are not in the target are the player's.
    fn led(&mut self, game: Game, target: Option<Game>) {
        let common = self.snapshot.game.common_plies(&game).unwrap_or(0);
        let mut by: Vec<Option<By>> = self.snapshot.by.iter().copied().take(common).collect();
        let shared = target.as_ref().and_then(|t| t.common_plies(&game));
        let last = target.as_ref().map(Game::len);
        by.extend((by.len()..game.len()).map(|ply| {
            if shared.is_none_or(|shared| shared <= ply) {
                Some(By::Hand)
            } else {
                (last == Some(ply + 1)).then_some(By::Target)
            }
        }));
        self.snapshot.by = by.into();
        self.snapshot.game = Arc::new(game);
        self.snapshot.target = target.map(Arc::new);
        self.look();
    }

    fn look(&mut self) {
        self.at += Duration::from_secs(1);
        self.now += Duration::from_millis(100);
        self.archive.see(self.at, &self.snapshot);
        self.write();
    }

    /// Writes what is to be written now.
    fn write(&mut self) {
        while let Some(writing) = self.archive.poll_write(self.now) {
            self.writings += 1;
            let result = self.folder.write(&writing);
            self.archive.written(self.now, result);
        }
    }

    /// The moves of a game, one after the other.
    fn played(&mut self, moves: &str) {
        let whole = game(moves);
        for ply in 1..=whole.len() {
            self.stands(whole.truncated(ply));
        }
    }

    /// Advances the time until all is written.
    fn settle(&mut self) -> Vec<Read> {
        while let Some(deadline) = self.archive.deadline() {
            self.now = self.now.max(deadline);
            self.write();
        }
        games_in(self.folder.path())
    }

    fn lines(&mut self) -> Vec<String> {
        self.settle().iter().map(Read::moves).collect()
    }
}

const LONG: &str = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5 a4b3 d7d6";

#[test]
fn the_players_that_a_front_end_names_are_in_the_file_also_after_a_restart() {
    let mut rig = Rig::new();
    let named = |name: &str| {
        Some(Player {
            name: name.to_owned(),
            ..Player::default()
        })
    };
    let pairing = Pairing {
        players: ByColor {
            white: named("Anna"),
            black: named("Op\"p"),
        },
        event: Some("rated blitz game".to_owned()),
        site: Some("https://lichess.org/abcdefgh".to_owned()),
        ..Pairing::default()
    };
    let whole = game("e2e4 e7e5 g1f3");
    for ply in 1..=whole.len() {
        let played = whole.truncated(ply);
        rig.led(played.clone(), Some(played));
        rig.archive.name(&rig.snapshot, &pairing);
    }
    // The next game, the other way round, is told before the board is led to it.
    rig.led(whole, Some(game("")));
    let next = Pairing {
        players: ByColor {
            white: pairing.players.black.clone(),
            black: pairing.players.white.clone(),
        },
        ..Pairing::default()
    };
    rig.archive.name(&rig.snapshot, &next);
    rig.settle();
    rig.restart();
    // Before anybody says again who plays.
    rig.stands(game("e2e4 e7e5 g1f3 b8c6"));
    let games = rig.settle();
    let players = [games[0].tag("White"), games[0].tag("Black")];
    assert_eq!(players, ["Anna", "Op\"p"]);
    let at = [games[0].tag("Event"), games[0].tag("Site")];
    assert_eq!(at, ["rated blitz game", "https://lichess.org/abcdefgh"]);
    assert_eq!(rig.lines(), ["e2e4 e7e5 g1f3 b8c6"]);
}

#[test]
fn a_game_that_nobody_leads_is_kept_though_it_is_a_guess_and_one_in_doubt_is_not() {
    for (seen, led, kept) in [
        (true, false, true),
        (false, false, false),
        (true, true, false),
    ] {
        let mut rig = Rig::new();
        rig.snapshot.link = LinkState::Up;
        rig.snapshot.sure = false;
        let whole = game("e2e4 e7e5");
        for ply in 1..=whole.len() {
            let played = whole.truncated(ply);
            let by = if seen { By::Hand } else { By::HandUnseen };
            rig.snapshot.by = vec![Some(by); ply].into();
            rig.snapshot.game = Arc::new(played);
            rig.snapshot.target = led.then(|| Arc::new(game("")));
            rig.look();
        }
        assert_eq!(rig.folder.path().exists(), kept, "{seen}, {led}");
        if kept {
            assert_eq!(rig.lines(), ["e2e4 e7e5"]);
        }
    }
}

#[test]
fn a_game_has_its_tags_its_moves_and_what_is_known_of_them() {
    let mut rig = Rig::new();
    rig.config.site = Some(TagText("Kitchen \"North\" \\ table".to_owned()));
    rig.config.player = Some(TagText("Anna".to_owned()));
    rig.restart_without_file();
    rig.snapshot.holders = vec!["192.168.1.7:4711".into()];
    rig.snapshot.took = Arc::new([Some(Duration::from_millis(12_400))]);
    rig.led(game("e2e4"), Some(game("")));
    rig.led(game("e2e4"), Some(game("e2e4 e7e5")));
    rig.snapshot.took = Arc::new([Some(Duration::from_millis(12_400)), None]);
    rig.led(game("e2e4 e7e5"), Some(game("e2e4 e7e5")));
    let games = rig.settle();
    assert_eq!(games.len(), 1);
    let read = &games[0];
    assert_eq!(read.moves(), "e2e4 e7e5");
    assert_eq!(read.comments, ["[%emt 0:00:12]"]);
    for (name, value) in [
        ("Event", "?"),
        ("Site", "Kitchen \"North\" \\ table"),
        ("Date", "2026.11.21"),
        ("Round", "-"),
        ("White", "Anna"),
        ("Black", "Chess program at 192.168.1.7"),
        ("Result", "*"),
        ("Time", "21:00:13"),
        ("GameStartTime", "2026-11-21T21:00:13 +0530"),
        ("UTCDate", "2026.11.21"),
        ("UTCTime", "15:30:13"),
        ("TimeControl", "?"),
        ("Termination", ""),
        ("SetUp", ""),
    ] {
        assert_eq!(read.tag(name), value, "{name}");
    }
    let annotator = read.tag("Annotator");
    assert!(annotator.starts_with("BoardBridge "), "{annotator}");
    assert!(annotator.ends_with(" on citrine"), "{annotator}");
    let file = &files_in(rig.folder.path())[0];
    assert_eq!(file.file_name().unwrap(), "2026-11-21_153013_citrine_1.pgn");
}

#[test]
fn a_game_that_is_over_keeps_its_opponent_when_another_one_comes_to_its_board() {
    let mut rig = Rig::new();
    rig.snapshot.holders = vec![ClientName::Engine("Stockfish".into())];
    rig.led(game("e2e4"), Some(game("")));
    rig.led(game("e2e4 e7e5"), Some(game("e2e4 e7e5")));
    rig.snapshot.ending = Some(GameEnd::resigned(Color::White));
    rig.look();
    rig.settle();
    for restarted in [false, true] {
        if restarted {
            rig.restart();
        }
        rig.snapshot.holders = vec![ClientName::Engine("Another".into())];
        rig.look();
        let games = rig.settle();
        assert_eq!(games[0].tag("Black"), "Stockfish", "{restarted}");
    }
}

/// The board's core knows a game from the next one.
fn is_the_game(rig: &mut Rig, number: u64) {
    rig.snapshot.since = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(number));
}

#[test]
fn a_game_that_begins_like_the_one_before_has_a_file_of_its_own_however_quick_its_first_move_is() {
    for (first, second) in [
        ("f2f3 e7e5 g2g4 d8h4", "f2f3 d7d5"),
        ("e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7", "e2e4 e7e5 f1c4"),
        ("e2e4 e7e5 g1f3 b8c6 f1b5", "e2e4 e7e5 g1f3"),
        ("e2e4 e7e5 g1f3 b8c6 f1b5", "e2e4 e7e5 g1f3 b8c6 f1b5"),
    ] {
        for led in [false, true] {
            let mut rig = Rig::new();
            let target = |moves: &str| led.then(|| game(moves));
            is_the_game(&mut rig, 1);
            rig.led(game(first), target(first));
            rig.snapshot.ending = Some(GameEnd::resigned(Color::White));
            rig.look();
            rig.settle();
            // The next game is stated, and its first move made, before anybody looks.
            is_the_game(&mut rig, 2);
            rig.snapshot.ending = None;
            for plies in 1..=second.split(' ').count() {
                let moves = game(second).truncated(plies);
                rig.led(moves, target(second));
            }
            assert_eq!(rig.lines(), [first, second], "{led}");
        }
    }
}

#[test]
fn a_mated_game_that_is_looked_through_is_no_other_game_until_it_is_played_on_otherwise() {
    let mate = "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7";
    let mut rig = Rig::new();
    is_the_game(&mut rig, 1);
    rig.played(mate);
    // It is open again, so the core counts it as another one.
    is_the_game(&mut rig, 2);
    for plies in [3, 4, 5] {
        rig.stands(game(mate).truncated(plies));
    }
    assert_eq!(rig.lines(), [mate]);
    let other = "e2e4 e7e5 d1h5 b8c6 f1c4 g7g6";
    rig.stands(game(other));
    assert_eq!(rig.lines(), [mate, other]);
}

#[test]
fn a_game_that_is_over_with_its_first_move_has_the_names_of_its_players() {
    let mut rig = Rig::new();
    let stalemate = from("7k/8/6K1/8/8/8/5Q2/8 w - - 0 1", "f2f7");
    let named = |name: &str| {
        Some(Player {
            name: name.to_owned(),
            ..Player::default()
        })
    };
    let players = Pairing {
        players: ByColor {
            white: named("Me"),
            black: named("Somebody"),
        },
        ..Pairing::default()
    };
    rig.stands(stalemate);
    rig.archive.name(&rig.snapshot, &players);
    let games = rig.settle();
    assert_eq!(games[0].tag("Black"), "Somebody");
    // Who comes to the board after it does not.
    let others = Pairing {
        event: Some("Another".to_owned()),
        ..players
    };
    rig.look();
    rig.archive.name(&rig.snapshot, &others);
    assert_eq!(rig.settle()[0].tag("Event"), games[0].tag("Event"));
}

#[test]
fn names_have_the_letters_of_any_language_also_in_a_file_that_goes_on() {
    let mut rig = Rig::new();
    rig.config.site = Some(TagText("Köln".to_owned()));
    rig.config.player = Some(TagText("Jürgen Łoś".to_owned()));
    rig.restart_without_file();
    rig.snapshot.holders = vec![ClientName::Engine("Σ 1\u{202e}\n".into())];
    rig.led(game("e2e4"), Some(game("")));
    rig.led(game("e2e4 e7e5"), Some(game("e2e4 e7e5")));
    rig.settle();
    rig.restart();
    rig.led(game("e2e4 e7e5 g1f3"), Some(game("e2e4 e7e5")));
    let games = rig.settle();
    assert_eq!(games.len(), 1);
    assert_eq!(games[0].moves(), "e2e4 e7e5 g1f3");
    for (name, value) in [
        ("Site", "Köln"),
        ("White", "Jürgen Łoś"),
        ("Black", "Σ 1??"),
    ] {
        assert_eq!(games[0].tag(name), value);
    }
}

#[test]
fn a_game_has_the_time_of_its_own_first_move() {
    let times = |rig: &mut Rig| -> Vec<String> {
        let games = rig.settle();
        games
            .iter()
            .map(|read| read.tag("UTCTime").to_owned())
            .collect()
    };
    let begun = "15:30:13";
    // Another first move, the same first move in another game, and one that took the place of the first unseen.
    for (before, after, start_seen) in [
        ("e2e4", "d2d4", true),
        ("e2e4 e7e5", "e2e4 c7c5", true),
        ("e2e4", "d2d4", false),
    ] {
        let mut rig = Rig::new();
        rig.played(before);
        assert_eq!(times(&mut rig), [begun]);
        if start_seen {
            rig.stands(game(""));
        }
        rig.at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_275_012 + 3600);
        rig.played(after);
        assert_eq!(rig.lines(), [after]);
        assert_eq!(times(&mut rig), ["16:30:13"], "{before}, then {after}");
        let file = &files_in(rig.folder.path())[0];
        assert_eq!(file.file_name().unwrap(), "2026-11-21_163013_citrine_1.pgn");
    }
    // The board forgot its game, and is led into it again.
    let mut rig = Rig::new();
    rig.played("e2e4 e7e5");
    rig.led(game(""), Some(game("e2e4 e7e5")));
    rig.led(game("e2e4"), Some(game("e2e4 e7e5")));
    rig.led(game("e2e4 e7e5"), Some(game("e2e4 e7e5")));
    assert_eq!(times(&mut rig), [begun]);
    // The daemon was restarted between the two games.
    let mut rig = Rig::new();
    rig.played("e2e4");
    rig.settle();
    rig.restart();
    rig.stands(game(""));
    rig.at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_275_012 + 3600);
    rig.played("e2e4 c7c5");
    assert_eq!(rig.lines(), ["e2e4", "e2e4 c7c5"]);
    assert_eq!(times(&mut rig), [begun, "16:30:13"]);
}

#[test]
fn no_move_is_no_game() {
    let mut rig = Rig::new();
    rig.stands(game(""));
    rig.stands(from("4k3/8/8/8/8/8/4P3/4K3 b - - 3 40", ""));
    assert_eq!(rig.archive.deadline(), None);
    assert!(!rig.folder.path().exists());
}

#[test]
fn what_is_not_certain_is_not_written() {
    let mut rig = Rig::new();
    rig.stands(game("e2e4"));
    rig.snapshot.sure = false;
    rig.stands(game("e2e4 e7e5"));
    assert_eq!(rig.lines(), ["e2e4"]);
}

#[test]
fn moves_taken_back_are_no_longer_in_the_game() {
    for (whole, back, then) in [
        ("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1", 6, "d2d3"),
        ("e2e4 d7d5 e4d5 d8d5", 2, "b1c3"),
        ("e2e4 d7d5 e4d5 c7c6 d5c6 d8b6 c6b7 e8d8 b7a8q", 8, "b7a8n"),
    ] {
        let mut rig = Rig::new();
        rig.played(whole);
        let plies = game(whole).len();
        for ply in (back..plies).rev() {
            rig.stands(game(whole).truncated(ply));
        }
        let mut wanted = game(whole).truncated(back);
        assert_eq!(rig.settle()[0].game, wanted);
        wanted.play_uci([then]).unwrap();
        rig.stands(wanted.clone());
        let games = rig.settle();
        assert_eq!(games.len(), 1);
        assert_eq!(games[0].game, wanted);
    }
}

#[test]
fn a_board_that_forgot_its_game_and_is_led_back_goes_on_with_it() {
    let mut rig = Rig::new();
    rig.played(LONG);
    rig.led(game(""), Some(game(LONG)));
    for ply in 1..=game(LONG).len() {
        rig.led(game(LONG).truncated(ply), Some(game(LONG)));
        assert_eq!(rig.lines(), [LONG]);
    }
    let on = format!("{LONG} c2c3");
    rig.led(game(&on), Some(game(LONG)));
    assert_eq!(rig.lines(), [on]);
}

#[test]
fn a_game_that_another_one_interrupted_goes_on_in_its_file() {
    let mut rig = Rig::new();
    let moves = |plies: usize| game("e2e4 c7c5 g1f3 d7d6 d2d4").truncated(plies);
    let begins = |rig: &mut Rig| {
        rig.at += Duration::from_hours(1);
        rig.snapshot.since = Some(rig.at);
    };
    begins(&mut rig);
    for plies in 1..=3 {
        rig.led(moves(plies), Some(moves(plies)));
    }
    begins(&mut rig);
    for other in ["d2d4", "d2d4 d7d5", "d2d4 d7d5 c2c4"] {
        rig.led(game(other), Some(game(other)));
    }
    rig.snapshot.ending = Some(GameEnd::resigned(Color::White));
    rig.look();
    rig.snapshot.ending = None;
    begins(&mut rig);
    for plies in 1..=4 {
        rig.led(moves(plies), Some(moves(4)));
    }
    rig.led(moves(5), Some(moves(4)));
    let kept: Vec<usize> = rig.settle().iter().map(|read| read.game.len()).collect();
    assert_eq!(kept, [5, 3]);
}

#[test]
fn another_game_has_another_file_also_with_the_same_opening() {
    let mut rig = Rig::new();
    rig.played("e2e4 e7e5 g1f3 b8c6");
    rig.stands(game(""));
    rig.played("e2e4 e7e5 g1f3 g8f6");
    rig.stands(game(""));
    rig.played("d2d4");
    assert_eq!(
        rig.lines(),
        ["e2e4 e7e5 g1f3 b8c6", "e2e4 e7e5 g1f3 g8f6", "d2d4"]
    );
}

#[test]
fn a_programs_next_game_is_in_its_own_file_from_its_first_move_also_with_the_same_opening() {
    let mut rig = Rig::new();
    let whole = game("e2e4 e7e5 g1f3 b8c6");
    rig.led(whole.clone(), Some(whole));
    rig.led(game(""), Some(game("")));
    // The hand's move goes beyond the program's game.
    rig.led(game("e2e4"), Some(game("")));
    assert_eq!(rig.lines(), ["e2e4 e7e5 g1f3 b8c6", "e2e4"]);
    rig.led(game("e2e4 e7e5"), Some(game("e2e4 e7e5")));
    assert_eq!(rig.lines(), ["e2e4 e7e5 g1f3 b8c6", "e2e4 e7e5"]);
}

#[test]
fn games_begun_in_one_second_have_two_files() {
    let mut rig = Rig::new();
    let at = rig.at;
    for moves in ["e2e4 e7e5 g1f3", "d2d4 d7d5 c2c4"] {
        rig.at = at;
        rig.stands(game(moves));
        rig.stands(game(""));
    }
    assert_eq!(rig.lines(), ["e2e4 e7e5 g1f3", "d2d4 d7d5 c2c4"]);
}

#[test]
fn a_first_move_put_back_is_not_a_game_of_its_own() {
    let mut rig = Rig::new();
    rig.played("e2e4 e7e5");
    rig.stands(game(""));
    rig.played("d2d4 d7d5 c2c4");
    assert_eq!(rig.lines(), ["d2d4 d7d5 c2c4"]);
}

#[test]
fn a_game_looked_through_and_played_on_otherwise_is_not_lost() {
    let mut rig = Rig::new();
    rig.played(LONG);
    rig.led(game(LONG).truncated(4), Some(game(LONG).truncated(4)));
    assert_eq!(rig.lines(), [LONG], "only looked at");
    rig.stands(game("e2e4 e7e5 g1f3 b8c6 f1c4"));
    assert_eq!(rig.lines(), [LONG, "e2e4 e7e5 g1f3 b8c6 f1c4"]);
    // Back in the first.
    rig.stands(game(&format!("{LONG} c2c3")));
    assert_eq!(
        rig.lines(),
        [&format!("{LONG} c2c3"), "e2e4 e7e5 g1f3 b8c6 f1c4"]
    );
}

#[test]
fn a_game_told_from_another_of_its_positions_is_the_same_game() {
    let mut rig = Rig::new();
    rig.played(LONG);
    let middle = game(LONG).truncated(10).fen().to_string();
    let rest = LONG.split(' ').skip(10).collect::<Vec<_>>().join(" ");
    rig.stands(from(&middle, &format!("{rest} c2c3")));
    assert_eq!(rig.lines(), [format!("{LONG} c2c3")]);
    // And one whose beginning becomes known later.
    let mut rig = Rig::new();
    rig.stands(from(&middle, &rest));
    assert_eq!(rig.settle()[0].tag("SetUp"), "1");
    rig.stands(game(LONG));
    assert_eq!(rig.lines(), [LONG]);
}

#[test]
fn a_game_from_a_position_with_black_to_move_is_numbered_so() {
    let mut rig = Rig::new();
    let fen = "4k3/4p3/8/8/8/8/4P3/4K3 b - - 3 40";
    rig.stands(from(fen, "e7e5 e2e4 e8e7"));
    let read = &rig.settle()[0];
    assert_eq!(read.tag("FEN"), fen);
    assert_eq!(read.moves(), "e7e5 e2e4 e8e7");
    let text = fs::read_to_string(&files_in(rig.folder.path())[0]).unwrap();
    assert!(text.contains("\n\n40... e5 41. e4 Ke7 *\n"), "{text}");
}

#[test]
fn the_result_is_what_the_rules_or_the_players_say() {
    let mut rig = Rig::new();
    rig.played("f2f3 e7e5 g2g4 d8h4");
    let read = &rig.settle()[0];
    assert_eq!(read.tag("Result"), "0-1");
    assert_eq!(read.tag("Termination"), "normal");
    // Taken back it is open again.
    rig.stands(game("f2f3 e7e5 g2g4"));
    assert_eq!(rig.settle()[0].tag("Result"), "*");
    let time = GameEnd::won(Reason::Time, Color::Black);
    let left = GameEnd::won(Reason::Abandoned, Color::White);
    let cheat = GameEnd::won(Reason::Cheat, Color::White);
    let unknown = GameEnd::won(Reason::Unknown, Color::Black);
    for (end, result, termination) in [
        (GameEnd::resigned(Color::White), "0-1", "normal"),
        (GameEnd::resigned(Color::Black), "1-0", "normal"),
        (GameEnd::AGREED, "1/2-1/2", "normal"),
        (GameEnd::ABORTED, "*", "abandoned"),
        (time, "0-1", "time forfeit"),
        (GameEnd::drawn(Reason::Time), "1/2-1/2", "time forfeit"),
        (left, "1-0", "abandoned"),
        (cheat, "1-0", "rules infraction"),
        (GameEnd::without_result(Reason::NoStart), "*", "abandoned"),
        (
            GameEnd::drawn(Reason::InsufficientMaterial),
            "1/2-1/2",
            "normal",
        ),
        (unknown, "0-1", ""),
    ] {
        let mut rig = Rig::new();
        rig.played("e2e4 e7e5");
        rig.snapshot.ending = Some(end);
        rig.look();
        rig.snapshot.ending = None;
        rig.look();
        let read = &rig.settle()[0];
        assert_eq!(read.tag("Result"), result);
        assert_eq!(read.tag("Termination"), termination);
        rig.stands(game(""));
        rig.played("e2e4 e7e5 g1f3");
        assert_eq!(rig.lines(), ["e2e4 e7e5", "e2e4 e7e5 g1f3"], "{end}");
    }
}

#[test]
fn how_a_game_ended_stays_in_its_file_when_that_is_written_again() {
    for (end, termination) in [
        (GameEnd::won(Reason::Time, Color::Black), "time forfeit"),
        (
            GameEnd::won(Reason::Cheat, Color::White),
            "rules infraction",
        ),
        (GameEnd::drawn(Reason::Unknown), ""),
    ] {
        let mut rig = Rig::new();
        rig.played("e2e4 e7e5");
        rig.snapshot.ending = Some(end);
        rig.look();
        rig.snapshot.ending = None;
        let before = rig.settle()[0].clone();
        rig.restart();
        rig.snapshot.took = Arc::new([None, Some(Duration::from_secs(5))]);
        rig.look();
        let after = &rig.settle()[0];
        assert_ne!(*after, before, "it was written again");
        assert_eq!(after.tag("Result"), end.outcome.to_string());
        assert_eq!(after.tag("Termination"), termination);
    }
}

#[test]
fn no_claim_overrules_a_mate() {
    for (end, judge) in [
        (GameEnd::ABORTED, Judge::Program),
        (GameEnd::AGREED, Judge::Hand),
        (GameEnd::resigned(Color::Black), Judge::Hand),
    ] {
        let mut rig = Rig::new();
        rig.played("f2f3 e7e5 g2g4 d8h4");
        rig.snapshot.ending = Some(end);
        rig.snapshot.judge = Some(judge);
        rig.look();
        let read = &rig.settle()[0];
        assert_eq!(read.tag("Result"), "0-1", "{end}");
        assert_eq!(read.tag("Termination"), "normal", "{end}");
    }
}

/// A UCB with a player, a program that takes every move, and an archive.
struct Board {
    core: Core,
    now: Instant,
    archive: Archive,
    target: Game,
    program: Program,
}

impl Clocked for Board {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }

    fn carry(&mut self) {
        while self.core.poll_event().is_some() || self.core.poll_transmit(self.now).is_some() {}
    }

    fn deadline(&self) -> Option<Instant> {
        self.core.deadline()
    }

    fn timeout(&mut self, now: Instant) {
        self.core.timeout(now);
    }
}

impl Board {
    /// At the start of a game, with the program waiting for the player.
    fn begun() -> Self {
        let name: BoardName = "ucb".parse().unwrap();
        let config = BoardConfig::from_toml("kind = \"novag-ucb\"").unwrap();
        let driver = config.driver();
        let mut board = Self {
            core: Core::new(name.clone(), driver, config.correction_wait),
            now: Instant::now(),
            archive: Archive::new(name, &GamesConfig::default(), zone(), None),
            target: Game::standard(),
            program: Program {
                label: "127.0.0.1:4711",
                ..Program::default()
            },
        };
        board.core.link_up(board.now);
        board.hears("N");
        board.states();
        board
    }

    fn hears(&mut self, line: &str) {
        let line = format!("{line}\r\n");
        self.core
            .received(self.now, Channel::Serial, line.as_bytes());
        self.pass(Duration::from_secs(5));
    }

    fn command(&mut self, command: BoardCommand) {
        self.core.command(self.now, command);
        self.pass(Duration::from_secs(5));
    }

    /// The program states its game, and waits for the player.
    fn states(&mut self) {
        let command = self.program.states(&self.target);
        self.command(command);
        self.command(self.program.awaits(true));
    }

    /// The player moves, and the program takes the move over.
    fn plays(&mut self, m: &str) {
        self.hears(&format!("M{m}"));
        self.target.play_uci([m]).unwrap();
        self.command(self.program.answered(m.parse().unwrap()));
    }

    fn looks(&mut self) {
        self.archive.see(SystemTime::now(), &self.core.snapshot());
    }

    fn kept(&mut self) -> Read {
        self.looks();
        read(&self.archive.flush(self.now).unwrap().text)
    }
}

#[test]
fn the_hands_moves_are_the_hands_however_late_the_keeper_looks() {
    for looks in [0, 1, 2] {
        let mut board = Board::begun();
        for m in ["e2e4", "e7e5", "g1f3"] {
            board.plays(m);
            if looks > 0 {
                board.looks();
            }
            board.states();
            if looks > 1 {
                board.looks();
            }
        }
        let read = board.kept();
        assert_eq!(read.moves(), "e2e4 e7e5 g1f3");
        assert_eq!(read.tag("White"), "Hand on ucb");
        assert_eq!(read.tag("Black"), "Hand on ucb");
        // And the program's are the program's.
        let mut board = Board::begun();
        for (m, reply) in [("e2e4", "e7e5"), ("g1f3", "b8c6")] {
            board.plays(m);
            if looks > 0 {
                board.looks();
            }
            board.target.play_uci([reply]).unwrap();
            board.states();
            if looks > 1 {
                board.looks();
            }
            board.hears(&format!("M{reply}"));
        }
        let read = board.kept();
        assert_eq!(read.moves(), "e2e4 e7e5 g1f3 b8c6");
        assert_eq!(read.tag("White"), "Hand on ucb");
        assert_eq!(read.tag("Black"), "Chess program");
    }
}

#[test]
fn what_was_seen_of_one_game_is_not_told_of_the_next() {
    let mut board = Board::begun();
    board.plays("e2e4");
    let snapshot = board.core.snapshot();
    assert_eq!(*snapshot.by, [Some(By::Hand)]);
    assert!(snapshot.took[0].is_some());
    board.command(BoardCommand::NewGame {
        client: board.program.client,
    });
    board.target = game(LONG);
    board.states();
    board.pass(Duration::from_secs(200));
    let snapshot = board.core.snapshot();
    assert_eq!(*snapshot.game, game(LONG));
    assert_eq!((snapshot.by[0], snapshot.took[0]), (None, None));
}

#[test]
fn the_programs_word_is_for_the_last_move_of_its_game_also_if_that_is_yet_to_be_shown() {
    let mut rig = Rig::new();
    rig.led(game("e2e4"), Some(game("e2e4 e7e5")));
    rig.snapshot.ending = Some(GameEnd::resigned(Color::White));
    rig.snapshot.judge = Some(Judge::Program);
    rig.look();
    assert_eq!(rig.settle()[0].tag("Result"), "*");
    // The machine judges the new position by the rules.
    rig.snapshot.ending = None;
    rig.snapshot.judge = None;
    rig.led(game("e2e4 e7e5"), Some(game("e2e4 e7e5")));
    rig.led(game("e2e4 e7e5"), None);
    assert_eq!(rig.settle()[0].tag("Result"), "0-1");
    rig.stands(game(""));
    rig.played("e2e4 e7e5");
    let results: Vec<String> = rig
        .settle()
        .iter()
        .map(|r| r.tag("Result").to_owned())
        .collect();
    assert_eq!(results, ["0-1", "*"]);
}

#[test]
fn a_game_that_ends_while_the_pieces_are_off_it_has_its_result() {
    let (before, whole) = (game("e2e4"), game("e2e4 e7e5"));
    let mut taken_back = Rig::new();
    taken_back.led(whole.clone(), Some(whole.clone()));
    let mut never_shown = Rig::new();
    for rig in [&mut taken_back, &mut never_shown] {
        rig.snapshot.ending = Some(GameEnd::resigned(Color::White));
        rig.snapshot.judge = Some(Judge::Program);
        rig.led(before.clone(), Some(whole.clone()));
    }
    // The hand puts up the next game at once.
    never_shown.snapshot.ending = None;
    never_shown.snapshot.judge = None;
    never_shown.led(game(""), None);
    for mut rig in [taken_back, never_shown] {
        let read = &rig.settle()[0];
        assert_eq!(read.tag("Result"), "0-1");
        assert_eq!(read.moves(), "e2e4 e7e5");
    }
}

#[test]
fn a_game_goes_on_in_its_file_after_the_daemon_was_restarted() {
    let mut rig = Rig::new();
    rig.snapshot.holders = vec!["127.0.0.1:4711".into()];
    let plies = game(LONG).len();
    for ply in 1..=plies {
        let target = if ply % 2 == 0 { ply } else { ply - 1 };
        rig.led(
            game(LONG).truncated(ply),
            Some(game(LONG).truncated(target)),
        );
    }
    let before = rig.settle();
    rig.restart();
    rig.stands(game(LONG));
    assert_eq!(rig.settle(), before, "nothing has changed");
    rig.restart();
    rig.snapshot.sure = false;
    rig.stands(game(""));
    rig.snapshot.sure = true;
    rig.stands(game(&format!("{LONG} c2c3 e8g8")));
    let games = rig.settle();
    assert_eq!(games.len(), 1);
    assert_eq!(games[0].moves(), format!("{LONG} c2c3 e8g8"));
    assert_eq!(games[0].tag("White"), "Hand on citrine");
    assert_eq!(games[0].tag("Black"), "Chess program");
    assert_eq!(games[0].tag("UTCTime"), before[0].tag("UTCTime"));
    // One that takes back the last move at the same time.
    rig.restart();
    rig.stands(game(&format!("{LONG} c2c3 c8b7")));
    assert_eq!(rig.lines(), [format!("{LONG} c2c3 c8b7")]);
}

#[test]
fn another_game_after_a_restart_has_another_file() {
    for (before, after) in [
        (LONG, "e2e4 e7e5"),
        (LONG, "d2d4"),
        ("f2f3 e7e5 g2g4 d8h4", "f2f3 e7e5"),
        ("e2e4", "d2d4"),
    ] {
        let mut rig = Rig::new();
        rig.played(before);
        rig.settle();
        rig.restart();
        rig.played(after);
        assert_eq!(rig.lines(), [before, after]);
    }
}

#[test]
fn foreign_and_broken_files_are_left_alone() {
    let mut rig = Rig::new();
    rig.played("e2e4 e7e5");
    rig.settle();
    let file = files_in(rig.folder.path()).remove(0);
    let ours = fs::read_to_string(&file).unwrap();
    let foreign: Vec<Vec<u8>> = [
        ours.replace(" on citrine", " on ucb"),
        ours.replace("BoardBridge", "Scid"),
        ours.replace("e5", "e5 {a novelty}"),
        ours.replace("e5", "e5 $1"),
        ours.replace("e5", "e5 (1... c5)"),
        ours.replace("e5", "Ke7 2. Ke2 Ke8 3. Ke8"),
        ours.replace(" *\n", "\n"),
        format!("{ours}{ours}"),
        ours[..ours.len() / 2].to_owned(),
        String::new(),
        "x".repeat(200_000),
    ]
    .into_iter()
    .map(String::into_bytes)
    .chain([vec![0xff, 0xfe, 0]])
    .collect();
    for text in foreign {
        fs::write(&file, &text).unwrap();
        rig.restart();
        rig.stands(game("e2e4 e7e5 g1f3"));
        while let Some(deadline) = rig.archive.deadline() {
            rig.now = deadline;
            rig.write();
        }
        assert_eq!(fs::read(&file).unwrap(), text);
        let mut count = 0;
        for path in files_in(rig.folder.path()) {
            if path != file {
                assert_eq!(read(&fs::read_to_string(&path).unwrap()).game.len(), 3);
                fs::remove_file(path).unwrap();
                count += 1;
            }
        }
        assert_eq!(count, 1, "{}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn other_files_in_the_folder_are_never_touched() {
    let mut rig = Rig::new();
    fs::create_dir_all(rig.folder.path()).unwrap();
    let others = [
        "2026-11-21_153013_citrine_1.pgn.bak",
        "2026-11-21_153013_citrine_2_1.pgn",
        "9999-11-21_153013_citrine_x.pgn",
        "é-11-21_153013_citrine_1.pgn",
        ".citrine-2~abc.tmp",
        "my best games.pgn",
    ];
    for name in others {
        fs::write(rig.folder.path().join(name), name).unwrap();
    }
    let left = rig.folder.path().join(".citrine~abc.tmp");
    fs::write(&left, "half").unwrap();
    rig.restart();
    assert!(!left.exists(), "what a power cut left is cleaned up");
    rig.played("e2e4");
    for name in others {
        let text = fs::read_to_string(rig.folder.path().join(name)).unwrap();
        assert_eq!(text, name);
    }
    assert!(
        rig.folder
            .path()
            .join("2026-11-21_153013_citrine_1.pgn")
            .exists()
    );
}

/// A file in the folder that is not one of the program's.
fn put(kind: &str, at: &Path, elsewhere: &Path) {
    match kind {
        "fifo" => {
            let made = Command::new("mkfifo").arg(at).status().unwrap();
            assert!(made.success());
        }
        "socket" => drop(std::os::unix::net::UnixListener::bind(at).unwrap()),
        _ => std::os::unix::fs::symlink(elsewhere, at).unwrap(),
    }
}

/// A thread's result for a folder. Opening must not block.
fn opened(folder: &Folder) -> io::Result<Option<GameFile>> {
    let (answer, answered) = std::sync::mpsc::channel();
    let folder = folder.clone();
    std::thread::spawn(move || answer.send(folder.open()));
    answered.recv_timeout(PATIENCE).unwrap()
}

#[test]
fn only_regular_files_are_opened() {
    for kind in ["fifo", "socket", "link"] {
        let mut rig = Rig::new();
        let path = rig.folder.path().to_owned();
        fs::create_dir_all(&path).unwrap();
        let elsewhere = path.with_file_name("elsewhere");
        // As the last game: it is left alone, and another file taken.
        fs::write(&elsewhere, "somebody's").unwrap();
        let last = path.join("2099-11-21_153013_citrine_1.pgn");
        put(kind, &last, &elsewhere);
        assert_eq!(opened(&rig.folder).unwrap(), None, "{kind}");
        rig.played("e2e4");
        assert!(fs::symlink_metadata(&last).is_ok_and(|found| !found.is_file()));
        // As the lock: said in words, and what it leads to is not made.
        fs::remove_file(path.join(".citrine.lock")).unwrap();
        fs::remove_file(&elsewhere).unwrap();
        put(kind, &path.join(".citrine.lock"), &elsewhere);
        let folder = Folder::new(&path, "citrine".parse().unwrap());
        let error = opened(&folder).unwrap_err();
        assert!(
            error.to_string().contains("is not a regular file"),
            "{error}"
        );
        assert!(remedy(&error).contains("remove it"), "{error}");
        assert!(!elsewhere.exists(), "{kind}");
    }
}

#[test]
fn two_boards_of_one_name_do_not_write_over_each_other_in_one_folder() {
    let mut first = Rig::new();
    first.played("e2e4 e7e5");
    first.settle();
    let half = first.folder.path().join(".citrine~abc.tmp");
    fs::write(&half, "half").unwrap();
    let path = first.folder.path().to_owned();
    let second = Folder::new(&path, "citrine".parse().unwrap());
    let error = second.open().unwrap_err();
    assert_eq!(
        error.to_string(),
        "another BoardBridge keeps the games of citrine there"
    );
    assert!(remedy(&error).contains("stop that one"), "{error}");
    assert!(half.exists(), "it is being written");
    let mut rig = Rig::at(&path, None);
    rig.snapshot.game = Arc::new(game("e2e4 e7e5 g1f3"));
    rig.archive.see(rig.at, &rig.snapshot);
    let writing = rig.archive.poll_write(rig.now).unwrap();
    assert!(rig.folder.write(&writing).is_err());
    let other = Folder::new(&path, "ucb".parse().unwrap());
    assert!(other.open().is_ok(), "another board");
    fs::remove_file(half).unwrap();
    assert_eq!(first.lines(), ["e2e4 e7e5"]);
    // The first one ends, and the other goes on with a file of its own.
    drop(first.folder);
    rig.folder.write(&writing).unwrap();
    assert_eq!(games_in(&path).len(), 2);
}

#[test]
fn moves_shown_to_and_fro_do_not_wear_the_memory_card() {
    let mut rig = Rig::new();
    rig.played("e2e4 e7e5");
    let (began, writings) = (rig.now, rig.writings);
    for _ in 0..500 {
        rig.stands(game("e2e4 e7e5 g1f3"));
        rig.stands(game("e2e4 e7e5"));
    }
    rig.stands(game("e2e4 e7e5 f2f4"));
    let gaps = (rig.now - began).as_secs() / WRITE_GAP.as_secs();
    assert!(rig.writings - writings <= gaps as usize + 1);
    assert_eq!(
        rig.lines(),
        ["e2e4 e7e5 f2f4"],
        "the last is always written"
    );
}

#[test]
fn a_viewer_that_follows_the_file_gets_every_move() {
    let mut rig = Rig::new();
    rig.config.every_move = true;
    rig.restart_without_file();
    for ply in 1..=6 {
        rig.now += WRITE_GAP;
        rig.stands(game(LONG).truncated(ply));
        assert_eq!(games_in(rig.folder.path())[0].game.len(), ply);
    }
}

#[test]
fn a_running_game_is_written_when_it_begins_when_it_stands_and_when_it_is_no_longer_played() {
    let mut rig = Rig::new();
    let written = |rig: &Rig| games_in(rig.folder.path())[0].game.len();
    let plays = |rig: &mut Rig, plies: std::ops::RangeInclusive<usize>| {
        for ply in plies {
            rig.now += WRITE_GAP;
            rig.stands(game(LONG).truncated(ply));
        }
    };
    plays(&mut rig, 1..=6);
    assert_eq!((written(&rig), rig.writings), (1, 1), "it has begun");
    rig.now = rig.archive.deadline().unwrap();
    rig.write();
    assert_eq!(written(&rig), 6, "it has stood for a while");
    plays(&mut rig, 7..=8);
    assert_eq!(rig.writings, 2);
    // A move is taken back.
    plays(&mut rig, 7..=7);
    assert_eq!((written(&rig), rig.writings), (7, 3));
    // The board is lost.
    plays(&mut rig, 8..=9);
    rig.now += WRITE_GAP;
    rig.snapshot.sure = false;
    rig.look();
    rig.snapshot.sure = true;
    assert_eq!((written(&rig), rig.writings), (9, 4));
    // It is over.
    plays(&mut rig, 10..=11);
    rig.now += WRITE_GAP;
    rig.snapshot.ending = Some(GameEnd {
        outcome: Outcome::Known(shakmaty::KnownOutcome::Draw),
        reason: Reason::Agreement,
    });
    rig.look();
    rig.snapshot.ending = None;
    assert_eq!((written(&rig), rig.writings), (11, 5));
    // Another one begins.
    plays(&mut rig, 12..=14);
    rig.stands(game(""));
    rig.now += WRITE_GAP;
    rig.stands(game("d2d4"));
    rig.now += WRITE_GAP;
    rig.write();
    assert_eq!((written(&rig), rig.writings), (14, 7));
    assert_eq!(rig.lines(), [LONG, "d2d4"]);
}

#[test]
fn a_game_that_has_ended_is_written_while_the_disk_is_spared() {
    let mut rig = Rig::new();
    rig.stands(game("f2f3 e7e5"));
    // From here on nothing that can wait is written.
    let see = |rig: &mut Rig, moves: &str| {
        rig.now += WRITE_GAP;
        rig.snapshot.game = Arc::new(game(moves));
        rig.snapshot.by = vec![Some(By::Hand); rig.snapshot.game.len()].into();
        rig.archive.see(rig.at, &rig.snapshot);
    };
    see(&mut rig, "f2f3 e7e5 g2g4");
    assert_eq!(rig.archive.poll_ended(rig.now), None, "it goes on");
    assert_eq!(rig.archive.ended_deadline(), None);
    rig.snapshot.ending = Some(GameEnd {
        outcome: Outcome::Known(shakmaty::KnownOutcome::Decisive {
            winner: Color::Black,
        }),
        reason: Reason::Checkmate,
    });
    see(&mut rig, "f2f3 e7e5 g2g4 d8h4");
    rig.snapshot.ending = None;
    // Another one begins before anything was written.
    see(&mut rig, "");
    see(&mut rig, "d2d4");
    let over = rig.archive.poll_ended(rig.now).unwrap();
    assert!(over.text.contains("Qh4# 0-1"), "{}", over.text);
    assert_eq!(rig.archive.ended_deadline(), None, "it is being written");
    let result = rig.folder.write(&over);
    rig.archive.written(rig.now, result);
    rig.now += WRITE_GAP;
    assert_eq!(rig.archive.poll_ended(rig.now), None, "the next one waits");
    // Left for another one, without an end.
    let left = "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 c1g5 f8e7 e2e3";
    see(&mut rig, left);
    assert_eq!(rig.archive.poll_ended(rig.now), None, "it may go on");
    see(&mut rig, "");
    assert!(rig.archive.poll_ended(rig.now).is_some());
}

#[test]
fn what_the_board_held_when_the_daemon_was_killed_is_written_at_the_next_start() {
    for begun in [true, false] {
        let mut rig = Rig::new();
        let began = rig.at;
        if begun {
            rig.played("e2e4");
        }
        rig.snapshot.game = Arc::new(game(LONG));
        rig.restart();
        rig.snapshot.sure = false;
        rig.snapshot.remembered = true;
        rig.snapshot.began = Some(began);
        // The board may never come back.
        rig.at += Duration::from_hours(1);
        rig.now += WRITE_GAP;
        rig.look();
        let kept = games_in(rig.folder.path());
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].moves(), LONG);
        assert_eq!(
            kept[0].tag("UTCTime"),
            if begun { "15:30:13" } else { "15:30:12" }
        );
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_told_once_and_tried_again() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("games");
    fs::write(&path, "in the way").unwrap();
    let mut rig = Rig::at(&path, Some(temporary));
    let mut told = Vec::new();
    let mut tries = 0;
    for ply in 1..=8 {
        rig.now += WRITE_GAP;
        rig.snapshot.game = Arc::new(game(LONG).truncated(ply));
        rig.archive.see(rig.at, &rig.snapshot);
        let writing = rig.archive.poll_write(rig.now).unwrap();
        let result = rig.folder.write(&writing);
        assert!(remedy(result.as_ref().unwrap_err()).contains("directory"));
        told.push(rig.archive.written(rig.now, result));
        tries += 1;
    }
    assert_eq!(tries, 8, "every move tries again");
    assert_eq!(told[0], Notice::Trouble);
    assert!(told[1..].iter().all(|notice| *notice == Notice::Nothing));
    fs::remove_file(&path).unwrap();
    rig.now += RETRY_WAIT;
    let writing = rig.archive.poll_write(rig.now).unwrap();
    let result = rig.folder.write(&writing);
    assert_eq!(rig.archive.written(rig.now, result), Notice::Mended);
    assert_eq!(games_in(&path)[0].game.len(), 8);
}

#[test]
fn games_wait_for_room_on_a_full_disk() {
    let mut rig = Rig::new();
    let full = || Err::<String, _>(io::Error::from(io::ErrorKind::StorageFull));
    assert!(remedy(&full().unwrap_err()).contains("room"));
    let openings = ["e2e4 e7e5 g1f3", "d2d4 d7d5 c2c4", "c2c4 e7e5 b1c3"];
    for moves in openings {
        rig.at += Duration::from_secs(60);
        rig.now += WRITE_GAP;
        for moves in [moves, ""] {
            rig.snapshot.game = Arc::new(game(moves));
            rig.archive.see(rig.at, &rig.snapshot);
        }
        assert!(rig.archive.poll_write(rig.now).is_some());
        rig.archive.written(rig.now, full());
    }
    assert_eq!(rig.lines(), openings);
}

impl Rig {
    /// Other words in the configuration.
    fn restart_without_file(&mut self) {
        self.archive = Archive::new(self.snapshot.board.clone(), &self.config, zone(), None);
    }
}

/// Random moves from a position.
fn wander(game: &mut Game, plies: usize, random: &mut fastrand::Rng) {
    for _ in 0..plies {
        let legal = game.position().legal_moves();
        let Some(&m) = random.choice(legal.iter()) else {
            return;
        };
        game.push(m);
    }
}

fn start(which: usize, random: &mut fastrand::Rng) -> Game {
    match which {
        0 => Game::standard(),
        1 => Game::from_fen("8/P1P5/7k/8/8/7K/p1p5/8 b - - 0 1").unwrap(),
        2 => {
            let fen: Fen = "bnrbkrqn/pppppppp/8/8/8/8/PPPPPPPP/BNRBKRQN w KQkq - 0 1"
                .parse()
                .unwrap();
            Game::from_start(fen.into_position(CastlingMode::Chess960).unwrap())
        }
        _ => {
            let mut game = Game::standard();
            let plies = random.usize(0..120);
            wander(&mut game, plies, random);
            Game::from_start(game.position().clone())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_game_from_any_start_is_read_back_as_it_was_played(
        seed in any::<u64>(), which in 0..6usize, plies in 1..300usize
    ) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut whole = start(which, &mut random);
        wander(&mut whole, plies, &mut random);
        prop_assume!(!whole.is_empty());
        let mut rig = Rig::new();
        rig.snapshot.took = (0..whole.len())
            .map(|_| random.bool().then(|| Duration::from_secs(random.u64(0..100_000))))
            .collect();
        rig.stands(whole.clone());
        let games = rig.settle();
        prop_assert_eq!(games.len(), 1);
        prop_assert_eq!(&games[0].game, &whole);
        let end = GameEnd::by_rules(&whole);
        let outcome = end.map_or(Outcome::Unknown, |end| end.outcome);
        prop_assert_eq!(games[0].outcome, Some(outcome));
        let times = rig.snapshot.took.iter().flatten().count();
        prop_assert_eq!(games[0].comments.len(), times);
        // And so do we, after a restart.
        rig.restart();
        rig.stands(whole);
        prop_assert_eq!(rig.settle(), games);
    }

    #[test]
    fn any_file_is_read_or_left_alone_without_fault(
        text in "(\\[(Annotator|FEN|UTCDate|UTCTime|Variant) \"(BoardBridge 0 on citrine|[ -~]{0,9})\"\\]\n){0,4}\n?\\PC{0,80}",
        bytes in prop::collection::vec(any::<u8>(), 0..40)
    ) {
        let mut rig = Rig::new();
        let text = [text.into_bytes(), bytes].concat();
        let last = GameFile { file: "x.pgn".to_owned(), text };
        rig.archive = Archive::new(rig.snapshot.board.clone(), &rig.config, zone(), Some(last));
        rig.stands(game("e2e4"));
        prop_assert_eq!(rig.lines(), ["e2e4"]);
    }

    #[test]
    fn whatever_the_board_shows_in_the_end_is_the_last_line_of_a_file(
        seed in any::<u64>(), steps in 1..60usize
    ) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut rig = Rig::new();
        let mut shown = Game::standard();
        for _ in 0..steps {
            match random.u8(0..10) {
                0 => shown = Game::standard(),
                1 => shown = start(5, &mut random),
                2..=3 => shown = shown.truncated(shown.len().saturating_sub(random.usize(0..4))),
                4 => rig.restart_after_writing(),
                5 => rig.snapshot.sure = random.bool(),
                _ => wander(&mut shown, random.usize(1..4), &mut random),
            }
            rig.stands(shown.clone());
        }
        rig.snapshot.sure = true;
        wander(&mut shown, 1, &mut random);
        rig.stands(shown.clone());
        prop_assume!(!shown.is_empty());
        let games = rig.settle();
        let there = games.iter().any(|read| {
            read.game.position() == shown.position() && read.game.clone().moves().ends_with(shown.moves())
        });
        prop_assert!(there, "{shown}\n{games:#?}");
    }
}

impl Rig {
    fn restart_after_writing(&mut self) {
        if self.folder.path().exists() {
            self.settle();
        }
        self.restart();
    }
}

#[tokio::test]
async fn a_daemon_that_stops_has_written_every_move() {
    let folder = House::folder();
    let games = folder.path().join("games");
    let mut hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let boards = [("citrine", FAST_CITRINE)];
    let house = House::with(folder, &boards, &kept_in(&games)).await;
    let mut gui = house.gui().await;
    gui.asks("").await;
    house.asks_for_a_move("citrine").await;
    let mut moves = String::new();
    for pair in ["e2e4 e7e5", "g1f3 b8c6", "f1c4 f8c5", "e1g1 g8f6"] {
        let (mine, reply) = pair.split_once(' ').unwrap();
        hand.answers(&mut gui, mine).await;
        moves = format!("{moves} {pair}");
        gui.asks(moves.trim()).await;
        hand.sees(&format!("executed {reply}")).await;
        house.asks_for_a_move("citrine").await;
    }
    let House { daemon, folder } = house;
    daemon.stop().await;
    let kept = games_in(&games);
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].moves(), moves.trim());
    assert_eq!(kept[0].tag("White"), "Hand on citrine");
    assert_eq!(kept[0].tag("Black"), "Chess program");
    drop(folder);
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_holds_up_no_board() {
    let folder = House::folder();
    let games = folder.path().join("file/games");
    fs::write(folder.path().join("file"), "in the way").unwrap();
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let boards = [("citrine", FAST_CITRINE)];
    let house = House::with(folder, &boards, &kept_in(&games)).await;
    let mut gui = house.gui().await;
    gui.asks("").await;
    house.asks_for_a_move("citrine").await;
    hand.answers(&mut gui, "e2e4").await;
    let House { daemon, folder } = house;
    daemon.stop().await;
    drop(folder);
}

/// The daemon in a process that is killed with this.
struct Mortal(Child);

impl Mortal {
    fn start(config: &Path) -> (Self, std::net::SocketAddr) {
        Self::under(config, "ulimit -c 0")
    }

    /// A daemon for which the shell has set a limit.
    fn under(config: &Path, limit: &str) -> (Self, std::net::SocketAddr) {
        let mut child = Command::new("sh")
            .args(["-c", &format!("{limit}; exec \"$@\""), "sh"])
            .args([env!("CARGO_BIN_EXE_boardbridge"), "run", "--config"])
            .arg(config)
            .env("BOARDBRIDGE_STATE__DIRECTORY", "off")
            .env("TZ", "BBT-05:30")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = log.find_map(|line| line.ok().filter(|line| line.contains("uci listens at")));
        let address = line.unwrap().rsplit_once(' ').unwrap().1.parse().unwrap();
        // The log is read on, so that the daemon does not block on it.
        std::thread::spawn(move || log.for_each(drop));
        (Self(child), address)
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        // SIGKILL: the daemon hears nothing of it.
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[tokio::test]
async fn a_daemon_killed_at_any_moment_leaves_whole_files_and_goes_on_with_the_game() {
    let folder = House::folder();
    let games = folder.path().join("games");
    let port = folder.path().join("citrine");
    let mut hand = Hand::new(Kind::NovagCitrine, port.clone(), true);
    let config = folder.path().join("bb.toml");
    let text = format!(
        "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"off\"\n{}\
         [boards.citrine]\n{FAST_CITRINE}serial = {{ port = {port:?} }}\n",
        kept_in(&games)
    );
    fs::write(&config, text).unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    let moves: Vec<&str> = LONG.split(' ').collect();
    for pair in 0..moves.len() / 2 {
        let (daemon, address) = Mortal::start(&config);
        let mut gui = Gui::connect(address).await;
        gui.asks(&moves[..2 * pair].join(" ")).await;
        if pair > 0 {
            let reply = moves[2 * pair - 1];
            hand.sees(&format!("executed {reply}")).await;
        } else {
            gui.hears_of("to move on the board").await;
        }
        let mine = moves[2 * pair];
        hand.answers(&mut gui, mine).await;
        // Somewhere between before and after the writing.
        let moment = Duration::from_micros(random.u64(0..20_000));
        tokio::time::sleep(moment).await;
        drop(daemon);
        for entry in fs::read_dir(&games).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().unwrap() == "pgn" {
                let read = read(&fs::read_to_string(&path).unwrap());
                let played = moves[..=2 * pair].join(" ");
                assert!(played.starts_with(&read.moves()), "{played}\n{read:?}");
            }
        }
    }
    // The last daemon is let live until it has written, and cleans up what the others left.
    let (daemon, address) = Mortal::start(&config);
    let mut gui = Gui::connect(address).await;
    gui.asks(LONG).await;
    hand.sees(&format!("executed {}", moves[moves.len() - 1]))
        .await;
    hand.answers(&mut gui, "c2c3").await;
    terminate(daemon).await;
    let kept = games_in(&games);
    assert_eq!(kept.len(), 1, "{kept:#?}");
    assert_eq!(kept[0].moves(), format!("{LONG} c2c3"));
    let started = kept[0].tag("GameStartTime");
    assert!(started.ends_with(" +0530"), "{started}");
    let (date, utc) = (kept[0].tag("UTCDate"), kept[0].tag("UTCTime"));
    assert!(!started.contains(utc), "{started}, {date} {utc}");
}

#[tokio::test]
async fn a_limit_on_the_size_of_files_does_not_end_the_daemon() {
    let folder = House::folder();
    let port = folder.path().join("citrine");
    let games = folder.path().join("games");
    let mut hand = Hand::new(Kind::NovagCitrine, port.clone(), true);
    let config = folder.path().join("bb.toml");
    let text = format!(
        "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"off\"\n{}\
         [boards.citrine]\n{FAST_CITRINE}record = {:?}\nserial = {{ port = {port:?} }}\n",
        kept_in(&games),
        folder.path().join("records"),
    );
    fs::write(&config, text).unwrap();
    let (mut daemon, address) = Mortal::under(&config, "ulimit -f 0");
    let mut gui = Gui::connect(address).await;
    gui.asks("").await;
    gui.hears_of("to move on the board").await;
    hand.answers(&mut gui, "e2e4").await;
    // The game has been written, as far as that goes: a file's name is tried.
    let tried = async {
        while !games.join(".citrine.lock").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, tried).await.unwrap();
    gui.shows(&mut hand, "e2e4 e7e5").await;
    hand.answers(&mut gui, "g1f3").await;
    assert_eq!(daemon.0.try_wait().unwrap(), None);
    assert_eq!(games_in(&games).len(), 0);
}

/// SIGTERM, and the wait for the end.
async fn terminate(mut daemon: Mortal) {
    let id = daemon.0.id().to_string();
    assert!(Command::new("kill").arg(id).status().unwrap().success());
    let ended = tokio::task::spawn_blocking(move || daemon.0.wait().map(|status| (daemon, status)));
    let (_, status) = timeout(PATIENCE, ended).await.unwrap().unwrap().unwrap();
    assert!(status.success(), "{status}");
}

#[test]
fn a_game_that_a_board_takes_far_back_ply_by_ply_keeps_its_moves() {
    let mut rig = Rig::new();
    rig.played(LONG);
    let whole = game(LONG);
    let target = whole.truncated(2);
    for plies in (2..whole.len()).rev() {
        rig.led(whole.truncated(plies), Some(target.clone()));
    }
    rig.led(game("e2e4 e7e5 f1c4"), Some(target));
    assert_eq!(rig.lines(), [LONG, "e2e4 e7e5 f1c4"]);
}

#[test]
fn a_few_plies_that_a_board_takes_back_one_by_one_are_dropped() {
    let mut rig = Rig::new();
    rig.played(LONG);
    let whole = game(LONG);
    let target = whole.truncated(10);
    for plies in (10..whole.len()).rev() {
        rig.led(whole.truncated(plies), Some(target.clone()));
    }
    let mut other = target.clone();
    other.play_uci(["d2d4"]).unwrap();
    rig.led(other.clone(), Some(target));
    let moves: Vec<String> = other.uci_moves().map(|m| m.to_string()).collect();
    assert_eq!(rig.lines(), [moves.join(" ")]);
}

#[test]
fn a_folder_that_is_deleted_is_made_again_and_still_ours() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games");
    let ours = Folder::new(&path, "citrine".parse().unwrap());
    let mut writing = Writing {
        over: None,
        instead_of: None,
        stem: "2026-11-21_153012_citrine".to_owned(),
        text: "1. e4 *\n".to_owned(),
    };
    let file = ours.write(&writing).unwrap();
    fs::remove_dir_all(&path).unwrap();
    writing.over = Some(file.clone());
    assert_eq!(ours.write(&writing).unwrap(), file);
    assert_eq!(fs::read_to_string(path.join(file)).unwrap(), writing.text);
    let second = Folder::new(&path, "citrine".parse().unwrap());
    let error = second.open().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ResourceBusy, "{error}");
}
