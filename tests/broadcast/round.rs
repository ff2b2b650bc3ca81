//! The round's state machine against the server's rules, on a clock that only the test moves.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant, SystemTime},
};

use boardbridge::{
    bus::{
        BoardHandle, Bus, CAPACITY, COMMANDS, Publisher,
        delayed::Told,
        pairings::{Pairing, Player},
    },
    chess::game::Game,
    front_end::{
        broadcast::{
            delay::Now,
            pairing_file::Pairings,
            round::{Answer, Ask, Details, Notice, Round, SavedBoard, Seen},
            trouble::Trouble,
        },
        running_game::RunningGame,
    },
    vocabulary::{BoardName, ClientName, GameEnd, Reason, Snapshot},
};
use shakmaty::{ByColor, Color, KnownOutcome, Outcome, Position};
use tokio::sync::{broadcast, mpsc};

use super::server::{Mood, Server};

const MINUTE: Duration = Duration::from_secs(60);

/// The daemon, the server and the clock.
struct Hall {
    server: Server,
    round: Round,
    delay: Duration,
    begun: Instant,
    passed: Duration,
    /// What the time of day is ahead.
    ahead: Duration,
    kept: BTreeMap<BoardName, String>,
    said: Vec<Notice>,
}

impl Hall {
    fn new(delay: Duration) -> Self {
        let begun = Instant::now();
        let ahead = Duration::ZERO;
        let now = at(begun, Duration::ZERO, ahead);
        Self {
            server: Server::new(),
            round: Round::new("aBcDeFgH", delay, now),
            delay,
            begun,
            passed: Duration::ZERO,
            ahead,
            kept: BTreeMap::new(),
            said: Vec::new(),
        }
    }

    fn now(&self) -> Now {
        at(self.begun, self.passed, self.ahead)
    }

    /// Lets this time pass, and the daemon do what it has to.
    fn wait(&mut self, span: Duration) {
        let until = self.passed + span;
        loop {
            self.work();
            let next = self.round.deadline(self.now().at);
            let next = next.map(|next| next.saturating_duration_since(self.begun));
            match next {
                Some(next) if next <= until => {
                    assert!(next > self.passed, "{next:?} does not wait");
                    self.passed = next;
                }
                _ => break,
            }
        }
        self.passed = until;
        self.work();
    }

    fn work(&mut self) {
        while let Some(ask) = self.round.poll_request(self.now()) {
            self.keep();
            let answer = match &ask {
                Ask::Round => self.server.about(self.passed),
                Ask::Push(body) => self.server.push(body, self.passed),
            };
            let answer = match answer {
                None => Answer::Lost("the connection broke".to_owned()),
                Some((200, body)) => Answer::Done(body.to_string()),
                Some((status, body)) => Answer::Refused(status, body.to_string()),
            };
            self.round.answered(answer, self.now().at);
        }
        self.keep();
        while let Some(notice) = self.round.poll_notice() {
            self.said.push(notice);
        }
    }

    fn keep(&mut self) {
        while let Some((board, saved)) = self.round.poll_kept() {
            self.kept
                .insert(board, serde_json::to_string(&saved).unwrap());
        }
    }

    /// The daemon is killed, and started again after this time.
    fn restarts(&mut self, after: Duration) {
        self.passed += after;
        self.round = Round::new("aBcDeFgH", self.delay, self.now());
        for (board, saved) in &self.kept {
            let saved: SavedBoard = serde_json::from_str(saved).unwrap();
            self.round.restore(board.clone(), saved, self.now());
        }
    }

    fn sees(&mut self, seen: Seen) {
        let now = self.now();
        self.round.seen(seen, now);
    }

    fn troubles(&self) -> Vec<&Trouble> {
        fn trouble(notice: &Notice) -> Option<&Trouble> {
            match notice {
                Notice::Trouble(trouble) => Some(trouble),
                _ => None,
            }
        }
        self.said.iter().filter_map(trouble).collect()
    }
}

impl Drop for Hall {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.server.wrongs, Vec::<String>::new());
        }
    }
}

fn at(begun: Instant, passed: Duration, ahead: Duration) -> Now {
    Now {
        at: begun + passed,
        day: SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000) + passed + ahead,
    }
}

fn board(name: &str) -> BoardName {
    name.parse().unwrap()
}

/// The game on a board that began at this second.
fn seen(name: &str, since: u64, game: &Game) -> Seen {
    Seen {
        board: board(name),
        linked: None,
        id: format!("{name}-{since}"),
        since: SystemTime::UNIX_EPOCH + Duration::from_secs(since),
        game: game.clone(),
        clocks: Vec::new(),
        end: None,
        details: Details {
            number: "19300501".to_owned(),
            ..Details::default()
        },
        now: None,
    }
}

fn game(moves: &[&str]) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.iter().copied()).unwrap();
    game
}

/// Makes some legal move that ends no game.
fn any_move(game: &mut Game, random: &mut fastrand::Rng) {
    let legal = game.position().legal_moves();
    let goes_on = |m: &&shakmaty::Move| {
        let mut next = game.clone();
        next.push(**m) && GameEnd::by_rules(&next).is_none()
    };
    let moves: Vec<_> = legal.iter().filter(goes_on).collect();
    let m = *moves[random.usize(..moves.len())];
    assert!(game.push(m));
}

#[test]
fn sixty_four_games_with_a_delay_lose_nothing_over_cuts_and_restarts_and_show_nothing_early() {
    let delay = 10 * MINUTE;
    let mut hall = Hall::new(delay);
    let mut random = fastrand::Rng::with_seed(7);
    let mut games: Vec<(String, Game, Vec<Duration>)> = (0..64)
        .map(|number| (format!("b{number:02}"), Game::standard(), Vec::new()))
        .collect();
    for second in 0..2400_u64 {
        if second < 1500 {
            for (name, game, made) in &mut games {
                if random.u8(..40) == 0 {
                    any_move(game, &mut random);
                    made.push(hall.passed);
                    let seen = seen(name, 1000, game);
                    hall.round
                        .seen(seen, at(hall.begun, hall.passed, hall.ahead));
                }
            }
        }
        match second {
            300 | 900 => hall.server.mood = Mood::Cut,
            1000 => hall.server.mood = Mood::Unanswered,
            420 | 1005 => hall.server.mood = Mood::Fine,
            700 | 950 => {
                hall.restarts(Duration::from_secs(20));
                for (name, game, _) in &games {
                    hall.sees(seen(name, 1000, game));
                }
            }
            1300 => hall.server.mood = Mood::Status(429),
            1302 => hall.server.mood = Mood::Fine,
            _ => {}
        }
        hall.wait(Duration::from_secs(1));
    }
    assert_eq!(hall.server.chapters.len(), 64, "each game keeps its GameId");
    for (name, game, made) in &games {
        let chapter = hall.server.chapter(name);
        assert_eq!(chapter.sans.len(), game.len(), "{name} has lost moves");
        assert_eq!(chapter.tag("White"), format!("Board {name} White"));
        assert_eq!(
            (chapter.tag("Event"), chapter.tag("Round")),
            ("Köln Open", "Round 3")
        );
        assert_eq!(chapter.tag("Result"), "*");
        for (arrived, made) in chapter.arrived.iter().zip(made) {
            assert!(
                *arrived >= *made + delay,
                "{name}: {arrived:?} is before its time, {made:?}"
            );
        }
    }
    let waits = hall.server.pushes.windows(2).map(|two| two[1].0 - two[0].0);
    assert!(waits.max().unwrap() < 3 * MINUTE);
}

#[test]
fn without_a_delay_each_move_goes_at_once_and_at_rest_everything_once_a_minute() {
    let mut hall = Hall::new(Duration::ZERO);
    hall.server.delay = 300;
    hall.sees(seen("neo", 1, &game(&["e2e4"])));
    hall.wait(Duration::from_secs(3));
    assert_eq!(hall.server.chapter("neo").sans, ["e4"]);
    let said = hall.said[0].to_string();
    assert!(
        said.contains("after 300 s") && hall.troubles().is_empty(),
        "{said}"
    );
    for ply in 2..=4 {
        hall.sees(seen(
            "neo",
            1,
            &game(&["e2e4", "e7e5", "g1f3", "b8c6"][..ply]),
        ));
        hall.wait(Duration::from_millis(100));
    }
    hall.wait(Duration::from_secs(2));
    assert_eq!(hall.server.chapter("neo").sans.len(), 4);
    let before = hall.server.pushes.len();
    assert!(before <= 4);
    hall.wait(5 * MINUTE);
    assert_eq!(hall.server.pushes.len(), before + 5);
    assert_eq!(hall.server.asked, 1);
}

#[test]
fn a_delay_on_both_sides_is_told_once() {
    let mut hall = Hall::new(MINUTE);
    hall.server.delay = 300;
    hall.sees(seen("neo", 1, &game(&["e2e4"])));
    hall.wait(3 * MINUTE);
    let two = Trouble::TwoDelays {
        server: Duration::from_secs(300),
        here: MINUTE,
    };
    assert_eq!(hall.troubles(), [&two]);
}

#[test]
fn clocks_names_results_and_positions_are_told_as_far_as_they_are_known() {
    let mut hall = Hall::new(Duration::ZERO);
    let boards = [board("neo"), board("ucb"), board("toy")];
    let file = "board,white,black,white_elo,black_elo,white_fide,black_fide\n\
        neo,\"Müller, Zoë\",Cleo,2011,,4611234,\nucb,,,,,1503014,24116068\n";
    hall.round
        .pairings(Pairings::read(file.as_bytes(), &boards).unwrap());
    let mut neo = seen(
        "neo",
        1,
        &game(&["f2f3", "e7e5", "g2g4", "d8h4"]).truncated(3),
    );
    neo.clocks = vec![
        Some(Duration::from_secs(598)),
        None,
        Some(Duration::from_secs(3725)),
    ];
    hall.sees(neo);
    hall.sees(seen("ucb", 2, &game(&["d2d4"])));
    let mut end = Game::from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").unwrap();
    end.play_uci(["e2e4"]).unwrap();
    let mut toy = seen("toy", 3, &end);
    toy.details.players = ByColor {
        white: Some(Player {
            name: "Łukasz".to_owned(),
            title: Some("GM".to_owned()),
            rating: Some(2600),
        }),
        black: Some(Player {
            name: "?".to_owned(),
            ..Player::default()
        }),
    };
    hall.sees(toy.clone());
    hall.wait(Duration::from_secs(5));
    let neo = hall.server.chapter("neo");
    assert_eq!(
        (
            neo.tag("White"),
            neo.tag("WhiteElo"),
            neo.tag("WhiteFideId")
        ),
        ("Müller, Zoë", "2011", "4611234")
    );
    assert_eq!((neo.tag("Black"), neo.tag("BlackElo")), ("Cleo", ""));
    let clocks: Vec<_> = neo.clocks.iter().map(Option::as_deref).collect();
    assert_eq!(clocks, [Some("0:09:58"), None, Some("1:02:05")]);
    let ucb = hall.server.chapter("ucb");
    assert_eq!(
        (ucb.tag("White"), ucb.tag("BlackFideId")),
        ("Board ucb White", "24116068")
    );
    let shown = hall.server.chapter("toy");
    assert_eq!(
        (
            shown.tag("White"),
            shown.tag("WhiteTitle"),
            shown.tag("Black")
        ),
        ("Łukasz", "GM", "Board toy Black")
    );
    assert_eq!(shown.tag("SetUp"), "1");
    // Mate, resignation; the front-end that knew the names has left.
    hall.sees(seen("neo", 1, &game(&["f2f3", "e7e5", "g2g4", "d8h4"])));
    toy.end = Some(GameEnd::resigned(Color::Black));
    toy.details.players = ByColor::default();
    hall.sees(toy);
    // A corrected file renames, and makes no other game.
    let file = "[Board \"neo\"]\n[White \"Anna Müller\"]\n[Black \"Cleo\"]\n\n*\n";
    hall.round
        .pairings(Pairings::read(file.as_bytes(), &boards).unwrap());
    hall.wait(Duration::from_secs(5));
    let neo = hall.server.chapter("neo");
    assert_eq!(
        (neo.tag("Result"), neo.tag("Termination"), neo.tag("White")),
        ("0-1", "normal", "Anna Müller")
    );
    let toy = hall.server.chapter("toy");
    assert_eq!((toy.tag("Result"), toy.tag("White")), ("1-0", "Łukasz"));
    assert_eq!(hall.server.chapters.len(), 3);
}

#[test]
fn a_move_taken_back_before_its_time_is_never_shown_and_one_after_it_is_cut_in_time() {
    let mut hall = Hall::new(MINUTE);
    hall.sees(seen("neo", 1, &game(&["e2e4"])));
    hall.wait(Duration::from_secs(30));
    hall.sees(seen("neo", 1, &game(&["e2e4", "e7e5"])));
    hall.wait(Duration::from_secs(10));
    hall.sees(seen("neo", 1, &game(&["e2e4", "c7c5"])));
    hall.wait(Duration::from_secs(55));
    assert_eq!(hall.server.chapter("neo").sans, ["e4"]);
    hall.wait(Duration::from_secs(10));
    assert_eq!(hall.server.chapter("neo").sans, ["e4", "c5"]);
    // Both were shown.
    hall.sees(seen("neo", 1, &game(&["d2d4"])));
    hall.wait(Duration::from_secs(55));
    assert_eq!(hall.server.chapter("neo").sans, ["e4", "c5"]);
    hall.wait(Duration::from_secs(10));
    assert_eq!(hall.server.chapter("neo").sans, ["d4"]);
}

#[test]
fn the_next_game_on_a_board_is_another_and_pieces_put_up_are_not() {
    let mut hall = Hall::new(Duration::ZERO);
    let boards = [board("neo")];
    let file = "neo,Zoë,Cleo\n";
    hall.round
        .pairings(Pairings::read(file.as_bytes(), &boards).unwrap());
    // Over before the round began here.
    hall.sees(seen("neo", 1, &game(&["f2f3", "e7e5", "g2g4", "d8h4"])));
    hall.wait(Duration::from_secs(5));
    assert!(hall.server.chapters.is_empty());
    // The game of the file is there before its first move, as one game.
    hall.sees(seen("neo", 2, &Game::standard()));
    hall.wait(Duration::from_secs(5));
    hall.sees(seen("neo", 3, &Game::standard()));
    hall.wait(Duration::from_secs(5));
    let mate = game(&["f2f3", "e7e5", "g2g4", "d8h4"]);
    hall.sees(seen("neo", 3, &mate));
    hall.wait(Duration::from_secs(5));
    assert_eq!(hall.server.chapters.len(), 1);
    assert_eq!(hall.server.chapter("neo").tag("Result"), "0-1");
    // The pieces are put up after it: no second game before it has a move.
    hall.sees(seen("neo", 4, &Game::standard()));
    hall.wait(2 * MINUTE);
    hall.restarts(MINUTE);
    hall.sees(seen("neo", 4, &Game::standard()));
    hall.wait(2 * MINUTE);
    assert_eq!(hall.server.chapters.len(), 1);
    hall.sees(seen("neo", 4, &game(&["e2e4"])));
    hall.wait(Duration::from_secs(5));
    assert_eq!(hall.server.chapters.len(), 2);
}

#[test]
fn a_game_that_ended_in_a_cut_is_not_lost_by_the_next_one_and_a_restart() {
    let mut hall = Hall::new(Duration::ZERO);
    hall.server.mood = Mood::Cut;
    hall.sees(seen("neo", 1, &game(&["f2f3", "e7e5", "g2g4"])));
    hall.wait(Duration::from_secs(5));
    hall.sees(seen("neo", 1, &game(&["f2f3", "e7e5", "g2g4", "d8h4"])));
    hall.sees(seen("neo", 2, &game(&["e2e4"])));
    hall.wait(MINUTE);
    hall.restarts(MINUTE);
    hall.sees(seen("neo", 2, &game(&["e2e4"])));
    hall.wait(MINUTE);
    let unreachable = |trouble: &&&Trouble| matches!(trouble, Trouble::Unreachable(_));
    assert_eq!(
        hall.troubles().iter().filter(unreachable).count(),
        2,
        "once a run"
    );
    hall.server.mood = Mood::Fine;
    hall.wait(2 * MINUTE);
    assert_eq!(hall.server.chapters["neo-1"].tag("Result"), "0-1");
    assert_eq!(hall.server.chapters["neo-2"].sans, ["e4"]);
}

#[test]
fn many_long_games_go_in_pushes_that_the_server_takes() {
    let mut hall = Hall::new(Duration::ZERO);
    let mut long = Game::standard();
    for file in "abcdegh".chars() {
        for _ in 0..25 {
            long.play_uci(["g1f3", "g8f6", "f3g1", "f6g8"]).unwrap();
        }
        let pawns = [format!("{file}2{file}3"), format!("{file}7{file}6")];
        long.play_uci(pawns.iter().map(String::as_str)).unwrap();
    }
    for number in 0..130 {
        let mut seen = seen(&format!("b{number:03}"), 1, &long);
        seen.clocks = vec![Some(Duration::from_secs(3599)); long.len()];
        hall.sees(seen);
    }
    hall.wait(MINUTE);
    assert_eq!(hall.server.chapters.len(), 130);
    assert_eq!(hall.server.chapter("b000").sans.len(), 600);
    assert!(hall.troubles().contains(&&Trouble::TooManyGames));
    assert!(hall.troubles().contains(&&Trouble::TooLong(board("b000"))));
    // A server that takes less is sent less.
    hall.server.mood = Mood::Status(413);
    hall.wait(2 * MINUTE);
    assert!(hall.troubles().contains(&&Trouble::TooLarge));
    hall.server.mood = Mood::Fine;
    hall.wait(2 * MINUTE);
}

#[test]
fn what_only_a_person_can_mend_is_told_once_and_tried_each_minute() {
    for (status, trouble) in [
        (401, Trouble::NotAccepted),
        (404, Trouble::NoRound("aBcDeFgH".to_owned())),
    ] {
        let mut hall = Hall::new(Duration::ZERO);
        hall.server.mood = Mood::Status(status);
        hall.sees(seen("neo", 1, &game(&["e2e4"])));
        hall.wait(10 * MINUTE);
        assert_eq!(hall.troubles(), [&trouble]);
        assert!(
            (9..=11).contains(&hall.server.asked),
            "{}",
            hall.server.asked
        );
        hall.server.mood = Mood::Fine;
        hall.wait(2 * MINUTE);
        assert_eq!(hall.said.last(), Some(&Notice::Mended));
        assert_eq!(hall.server.chapter("neo").sans, ["e4"]);
    }
    let mut hall = Hall::new(Duration::ZERO);
    hall.sees(seen("neo", 1, &game(&["e2e4"])));
    hall.wait(MINUTE);
    hall.server.mood = Mood::Status(403);
    hall.sees(seen("neo", 1, &game(&["e2e4", "e7e5"])));
    hall.wait(5 * MINUTE);
    assert_eq!(hall.troubles().len(), 1);
    assert!(hall.troubles()[0].to_string().contains("contributor"));
}

#[test]
fn a_server_that_has_only_the_push_gets_every_game() {
    let mut hall = Hall::new(Duration::ZERO);
    hall.server.is_push_only = true;
    hall.sees(seen("neo", 1, &game(&["e2e4"])));
    hall.wait(Duration::from_secs(5));
    let neo = hall.server.chapter("neo");
    assert_eq!((neo.tag("Event"), neo.tag("Round")), ("?", "?"));
    hall.sees(seen("neo", 1, &game(&["e2e4", "e7e5"])));
    hall.wait(Duration::from_secs(5));
    assert_eq!(hall.server.chapter("neo").sans, ["e4", "e5"]);
    assert!(hall.troubles().is_empty(), "{:?}", hall.troubles());
    assert_eq!(hall.server.asked, 1);
    // A push that is refused is a reason to ask again.
    hall.server.is_push_only = false;
    hall.server.mood = Mood::Status(403);
    hall.sees(seen("neo", 1, &game(&["e2e4", "e7e5", "g1f3"])));
    hall.wait(Duration::from_secs(5));
    hall.server.mood = Mood::Fine;
    hall.wait(2 * MINUTE);
    let neo = hall.server.chapter("neo");
    assert_eq!((neo.tag("Event"), neo.sans.len()), ("Köln Open", 3));
}

#[test]
fn an_error_of_one_game_is_told_once_with_its_board() {
    let mut hall = Hall::new(Duration::ZERO);
    hall.server.mood = Mood::GameError;
    hall.sees(seen("neo", 1, &game(&["e2e4"])));
    hall.wait(5 * MINUTE);
    assert_eq!(hall.troubles().len(), 1);
    let words = hall.troubles()[0].to_string();
    assert!(
        words.contains("neo") && words.contains("Cannot parse moves"),
        "{words}"
    );
}

#[test]
fn a_game_that_the_server_could_not_read_is_not_forgotten_for_the_next_one() {
    let mut hall = Hall::new(Duration::ZERO);
    hall.server.mood = Mood::GameError;
    let mate = game(&["f2f3", "e7e5", "g2g4", "d8h4"]);
    hall.sees(seen("neo", 1, &mate.truncated(3)));
    hall.wait(Duration::from_secs(5));
    hall.sees(seen("neo", 1, &mate));
    hall.wait(Duration::from_secs(5));
    hall.sees(seen("neo", 2, &game(&["e2e4"])));
    hall.wait(Duration::from_secs(30));
    let pushes = hall.server.pushes.len();
    assert!(pushes <= 4, "{pushes} pushes of what cannot be read");
    hall.server.mood = Mood::Fine;
    hall.wait(2 * MINUTE);
    assert_eq!(hall.server.chapters["neo-1"].tag("Result"), "0-1");
    assert_eq!(hall.server.chapters["neo-2"].sans, ["e4"]);
}

#[test]
fn a_clock_that_is_set_lets_nothing_come_early_also_after_a_restart() {
    let mut hall = Hall::new(10 * MINUTE);
    hall.sees(seen("neo", 1, &game(&["e2e4"])));
    hall.wait(MINUTE);
    hall.sees(seen("neo", 1, &game(&["e2e4", "e7e5"])));
    hall.wait(MINUTE);
    // The network has come, and with it the time.
    hall.ahead = Duration::from_secs(86_400);
    hall.wait(MINUTE);
    hall.restarts(MINUTE);
    hall.sees(seen("neo", 1, &game(&["e2e4", "e7e5"])));
    hall.wait(5 * MINUTE);
    assert!(hall.server.chapters.is_empty());
    hall.wait(2 * MINUTE);
    assert_eq!(hall.server.chapter("neo").sans, ["e4", "e5"]);
    let arrived = &hall.server.chapter("neo").arrived;
    assert!(
        arrived[0] >= 10 * MINUTE && arrived[1] >= 11 * MINUTE,
        "{arrived:?}"
    );
}

/// A bus with these boards.
fn bus(names: &[&str]) -> Bus {
    let publications = broadcast::channel(CAPACITY).0;
    let handles = names.iter().map(|name| BoardHandle {
        name: board(name),
        way: "nowhere".into(),
        commands: mpsc::channel(COMMANDS).0,
        publisher: Publisher::new(publications.clone(), Snapshot::new(board(name))),
    });
    Bus::new(publications.clone(), handles.collect())
}

/// The same as [`seen`], as a board publishes it, with its players.
fn shown_at(bus: &Bus, mut seen: Seen) -> Seen {
    let state = Snapshot {
        since: Some(seen.since),
        game: seen.game.clone().into(),
        took: vec![Some(Duration::from_secs(7)); seen.game.len()].into(),
        ending: seen.end,
        ..Snapshot::new(seen.board.clone())
    };
    let handle = bus.board(seen.board.as_str()).unwrap();
    handle.publisher.publish([], Some(state));
    let paired = Pairing {
        players: seen.details.players.clone(),
        clock_times: seen.clocks.clone(),
        ..Pairing::default()
    };
    seen.now = Some(Told {
        state: handle.state(),
        paired: Some(paired.into()),
    });
    seen
}

#[test]
fn whoever_else_tells_a_delayed_game_tells_it_no_earlier_also_after_a_restart() {
    let delay = 10 * MINUTE;
    let mut hall = Hall::new(delay);
    // The others are told whether the server is there or not.
    hall.server.mood = Mood::Cut;
    let bus = bus(&["neo", "ucb"]);
    let neo = bus.board("neo").unwrap();
    bus.delayed()
        .set([(board("neo"), "aBcDeFgH".to_owned())].into());
    let told = |hall: &mut Hall| {
        hall.round.advance(hall.now().at);
        let told = hall.round.told(&neo.name);
        bus.delayed().tell("aBcDeFgH", &neo.name, told);
        RunningGame::told(&bus, &neo)
    };
    let second = Duration::from_secs(1);
    let mate = game(&["f2f3", "e7e5", "g2g4", "d8h4"]);
    let mut first = seen("neo", 1, &mate.truncated(1));
    first.details.players.white = Some(Player {
        name: "Anna Beck".to_owned(),
        ..Player::default()
    });
    first.clocks = vec![Some(MINUTE); 3];
    hall.sees(shown_at(&bus, first.clone()));
    assert!(told(&mut hall).unwrap().game().is_empty());
    hall.wait(delay - second);
    first.game = mate.truncated(3);
    first.end = Some(GameEnd {
        outcome: Outcome::Known(KnownOutcome::Decisive {
            winner: Color::Black,
        }),
        reason: Reason::Resignation,
    });
    hall.sees(shown_at(&bus, first.clone()));
    assert!(told(&mut hall).unwrap().game().is_empty());
    hall.wait(second);
    let one = told(&mut hall).unwrap();
    assert_eq!((one.game().len(), one.told_end()), (1, None));
    assert_eq!((one.clock(0), one.clock(1)), (Some(MINUTE), None));
    assert_eq!(one.state.took.len(), 1);
    // The next game begins, and the daemon is started again.
    let next = seen("neo", 2, &game(&["d2d4"]));
    hall.sees(shown_at(&bus, next.clone()));
    hall.wait(Duration::ZERO);
    hall.restarts(MINUTE);
    hall.sees(shown_at(&bus, next.clone()));
    assert_eq!(told(&mut hall).unwrap().game().len(), 1);
    hall.wait(delay - MINUTE - second);
    let whole = told(&mut hall).unwrap();
    assert_eq!(*whole.game(), mate.truncated(3));
    assert_eq!((whole.told_end(), whole.since), (first.end, first.since));
    assert_eq!(whole.clock(2), Some(MINUTE));
    let white = whole.paired.unwrap().players.white.clone();
    assert_eq!(white, first.details.players.white);
    hall.wait(MINUTE);
    let second_game = told(&mut hall).unwrap();
    assert_eq!(*second_game.game(), next.game);
    assert_eq!(second_game.since, next.since);
    // Another board is not delayed.
    hall.sees(shown_at(&bus, seen("ucb", 1, &mate)));
    let ucb = RunningGame::told(&bus, &bus.board("ucb").unwrap()).unwrap();
    assert_eq!(*ucb.game(), mate);
}

#[test]
fn of_two_linked_boards_with_one_game_the_delayed_one_tells_it() {
    for (delayed, teller) in [
        (None, "left"),
        (Some("left"), "left"),
        (Some("right"), "right"),
    ] {
        let bus = bus(&["left", "right"]);
        let rounds = delayed.map(|name| (board(name), "aBcDeFgH".to_owned()));
        bus.delayed().set(rounds.into_iter().collect());
        let _entries = [("left", "right"), ("right", "left")].map(|(name, with)| {
            shown_at(&bus, seen(name, 1, &game(&["e2e4"])));
            let client = ClientName::Link(with.into());
            let handle = bus.board(name).unwrap();
            let held = Snapshot {
                holders: vec![client.clone()],
                ..Snapshot::clone(&handle.state())
            };
            handle.publisher.publish([], Some(held));
            let pairing = Pairing {
                client: Some(client),
                ..Pairing::default()
            };
            bus.pairings().enter(board(name), pairing)
        });
        for name in ["left", "right"] {
            let here = RunningGame::of(&bus, &bus.board(name).unwrap()).unwrap();
            let elsewhere = here.is_told_elsewhere_or_later(&bus);
            assert_eq!(elsewhere, name != teller, "{name}, {delayed:?}");
        }
    }
}
