//! How the account handles what no Lichess in software says, with time as a value.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use boardbridge::{
    bus::{
        account::{Ask, NotDone, Side},
        pairings::Saying,
    },
    chess::game::Game,
    front_end::lichess::{
        objects,
        request::{InGame, OfChallenge, Request},
        session::{LichessAccount, Outcome, PAUSE, Ticket},
        settings::{Accept, Settings, TakeBacks},
    },
    vocabulary::{BoardName, ClientId, ClientPlace, Command, GameEnd, LinkState, Snapshot},
};

use shakmaty::Color;

const CLIENT: ClientId = ClientId(7);
const WAIT: Duration = Duration::from_secs(3);

fn settings() -> Settings {
    Settings {
        accept: Accept::Ask,
        take_backs: TakeBacks::Ask,
        url: "https://lichess.org".to_owned(),
    }
}

fn game(moves: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
}

/// An account whose board and Lichess are the test.
struct Rig {
    session: LichessAccount,
    now: Instant,
    number: u64,
    commands: Vec<Command>,
    notices: Vec<String>,
    answers: Vec<(u64, Result<String, NotDone>)>,
}

impl Rig {
    fn new(settings: Settings) -> Self {
        Self::of(LichessAccount::new(CLIENT, settings))
    }

    fn of(session: LichessAccount) -> Self {
        let mut rig = Self {
            session,
            now: Instant::now(),
            number: 0,
            commands: Vec::new(),
            notices: Vec::new(),
            answers: Vec::new(),
        };
        rig.session.connected();
        // Who it is.
        assert_eq!(rig.request(), Some(Request::Account));
        rig.answered(Outcome::Done("{\"username\":\"Me\"}".to_owned()));
        rig.drains();
        rig
    }

    /// In a game as White in which these moves were made.
    fn playing(moves: &str) -> Self {
        let mut rig = Self::new(settings());
        rig.event(START);
        rig.full(moves);
        rig
    }

    fn event(&mut self, text: &str) {
        self.session.event(objects::read(text.as_bytes()).unwrap());
        self.drains();
    }

    fn line(&mut self, text: &str) {
        let line = objects::read(text.as_bytes()).unwrap();
        self.session.line(self.now, SystemTime::UNIX_EPOCH, line);
        self.drains();
    }

    fn full(&mut self, moves: &str) {
        self.line(&format!(
            r#"{{"type":"gameFull","id":"Abcd1234","clock":{{"initial":900000,"increment":0}},"white":{{"name":"Me"}},
                "black":{{"name":"Other"}},"initialFen":"startpos","speed":"rapid","state":{{"type":"gameState",
                "moves":"{moves}","wtime":900000,"btime":900000,"winc":0,"binc":0,"status":"started"}}}}"#
        ));
    }

    fn state(&mut self, moves: &str) {
        self.line(&format!(
            r#"{{"type":"gameState","moves":"{moves}","wtime":9000,"btime":9000,"winc":0,"binc":0,"status":"started"}}"#
        ));
    }

    fn drains(&mut self) {
        while let Some(command) = self.session.seat().poll_command() {
            if let Command::Target { number, .. } = command {
                self.number = number;
            }
            self.commands.push(command);
        }
        while let Some(notice) = self.session.poll_notice() {
            self.notices.push(notice.to_string());
        }
        while let Some((Ticket(ticket), answer)) = self.session.poll_reply() {
            self.answers.push((ticket, answer));
        }
    }

    fn request(&mut self) -> Option<Request> {
        self.session.poll_request(self.now)
    }

    /// What is asked in the game.
    fn asks(&mut self) -> Option<InGame> {
        match self.request()? {
            Request::InGame(id, what) => {
                assert_eq!(id, "Abcd1234");
                Some(what)
            }
            other => panic!("{other:?}"),
        }
    }

    fn answered(&mut self, outcome: Outcome) {
        self.session.answered(self.now, outcome);
        self.drains();
    }

    fn snapshot(&self, moves: &str) -> Snapshot {
        let mut snapshot = Snapshot::new(BoardName::default());
        snapshot.link = LinkState::Up;
        snapshot.sure = true;
        snapshot.correction_wait = WAIT;
        snapshot.game = Arc::new(game(moves));
        snapshot.places.push(ClientPlace {
            client: CLIENT,
            number: self.number,
            joined: true,
            put_out: false,
            answer: Vec::new(),
        });
        snapshot
    }

    fn board(&mut self, snapshot: &Snapshot) {
        self.session.snapshot(self.now, snapshot);
        self.drains();
    }

    /// The hand makes the last of these moves.
    fn hand(&mut self, moves: &str) {
        let mut snapshot = self.snapshot(moves);
        snapshot.places[0].answer = vec![game(moves).last().unwrap()];
        self.board(&snapshot);
    }

    /// The moves of the last target.
    fn target(&self) -> String {
        let target = self
            .commands
            .iter()
            .rev()
            .find_map(|command| match command {
                Command::Target { game, .. } => Some(game.to_string()),
                _ => None,
            });
        target.unwrap_or_default()
    }

    fn is_told(&self, words: &str) -> bool {
        self.notices.iter().any(|notice| notice.contains(words))
    }
}

const RESIGNED: &str = r#"{"type":"gameState","moves":"e2e4","status":"resign","winner":"black"}"#;
const START: &str = r#"{"type":"gameStart","game":{"gameId":"Abcd1234","fullId":"Abcd1234wxyz","color":"white","speed":"rapid",
    "opponent":{"username":"Other"},"compat":{"board":true}}}"#;

fn moved(rig: &mut Rig) -> Option<String> {
    match rig.asks()? {
        InGame::Move(m) => Some(m.to_string()),
        other => panic!("{other:?}"),
    }
}

fn done() -> Outcome {
    Outcome::Done("{\"ok\":true}".to_owned())
}

#[test]
fn after_too_many_requests_nothing_is_asked_for_a_minute_and_the_move_is_sent_then() {
    let mut rig = Rig::playing("");
    rig.hand("e2e4");
    assert_eq!(moved(&mut rig).as_deref(), Some("e2e4"));
    rig.answered(Outcome::TooMany);
    assert!(rig.is_told("pause"));
    assert!(!rig.session.may_ask(rig.now));
    // The whole pause again, if the daemon starts anew in it.
    let (kept, board) = (rig.session.memory(), rig.snapshot("e2e4"));
    let started = LichessAccount::restored(rig.now, kept, settings(), &board);
    assert!(!started.may_ask(rig.now + PAUSE - Duration::from_millis(1)));
    assert!(started.may_ask(rig.now + PAUSE));
    rig.now += PAUSE - Duration::from_millis(1);
    assert_eq!(rig.request(), None);
    rig.now += Duration::from_millis(1);
    assert!(rig.session.may_ask(rig.now));
    assert_eq!(moved(&mut rig).as_deref(), Some("e2e4"));
    rig.answered(done());
    assert_eq!(rig.request(), None);
}

#[test]
fn the_player_is_told_for_as_long_as_nothing_can_be_sent() {
    let mut rig = Rig::playing("e2e4 e7e5");
    let notice = |rig: &Rig| rig.session.told_pairing().unwrap().notice;
    rig.session.disconnected("no route to host");
    assert!(
        notice(&rig)
            .unwrap()
            .contains("the connection is lost; trying again: no route")
    );
    rig.session.connected();
    assert_eq!(notice(&rig), None);
    rig.session.pause(rig.now);
    assert!(
        notice(&rig)
            .unwrap()
            .contains("nothing is sent for a minute")
    );
    rig.now = rig.session.deadline().unwrap();
    rig.session.timeout(rig.now);
    assert_eq!(notice(&rig), None);
}

#[test]
fn the_player_is_told_when_the_win_can_be_claimed() {
    let mut rig = Rig::playing("e2e4 e7e5");
    let notice = |rig: &Rig| rig.session.pairing().unwrap().notice.clone().unwrap();
    rig.line(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":5}"#);
    assert!(notice(&rig).contains("in 5 s you can claim the win, by both kings"));
    rig.now = rig.session.deadline().unwrap();
    rig.session.timeout(rig.now);
    assert!(notice(&rig).contains("you can claim the win now, by both kings"));
    assert_eq!(rig.session.deadline(), None);
    rig.line(r#"{"type":"opponentGone","gone":false}"#);
    assert_eq!(rig.session.pairing().unwrap().notice, None);
    // Gone again.
    rig.line(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":5}"#);
    assert!(rig.session.deadline().is_some());
}

#[test]
fn who_asks_for_something_in_that_minute_is_told_so_at_once() {
    let computer = Ask::Computer {
        level: 1.try_into().unwrap(),
        time: "3d".parse().unwrap(),
        side: Side::Random,
    };
    let mut lobby = Rig::new(settings());
    lobby.session.pause(lobby.now);
    lobby.session.asked(computer, Ticket(1));
    let mut game = Rig::playing("");
    game.session.pause(game.now);
    game.session.said(Saying::Resign, Ticket(1));
    for mut rig in [lobby, game] {
        rig.drains();
        let why = rig.answers[0].1.as_ref().unwrap_err().to_string();
        assert!(why.contains("pause"), "{why}");
        rig.now += PAUSE;
        assert_eq!(rig.request(), None);
    }
}

#[test]
fn a_state_without_our_move_takes_nothing_back() {
    let mut rig = Rig::playing("");
    rig.hand("e2e4");
    moved(&mut rig).unwrap();
    rig.state("");
    assert_eq!(rig.target(), "startpos moves e2e4");
    rig.answered(done());
    rig.state("");
    assert_eq!(rig.target(), "startpos moves e2e4");
    rig.state("e2e4");
    rig.state("e2e4 e7e5");
    assert_eq!(rig.target(), "startpos moves e2e4 e7e5");
    assert_eq!(rig.request(), None);
}

#[test]
fn a_move_without_an_answer_is_sent_again_only_if_the_game_still_waits_for_it() {
    for arrived in [false, true] {
        let mut rig = Rig::playing("");
        let before = rig.session.game_stream();
        rig.hand("e2e4");
        moved(&mut rig).unwrap();
        rig.answered(Outcome::Lost("cut".to_owned()));
        assert_ne!(rig.session.game_stream(), before, "the game is read again");
        assert_eq!(rig.request(), None, "not before it is read");
        rig.full(if arrived { "e2e4" } else { "" });
        let again = moved(&mut rig);
        assert_eq!(again.is_none(), arrived, "{again:?}");
    }
}

#[test]
fn a_move_made_while_the_daemon_was_away_counts_only_if_the_game_waits_for_it() {
    for (moves, counts) in [("", true), ("d2d4 d7d5", false), ("e2e4 c7c5", false)] {
        let mut rig = Rig::playing("");
        rig.hand("e2e4");
        let memory = serde_json::to_string(&rig.session.memory()).unwrap();
        let memory = serde_json::from_str(&memory).unwrap();
        let board = rig.snapshot("e2e4");
        let mut rig = Rig::of(LichessAccount::restored(
            Instant::now(),
            memory,
            settings(),
            &board,
        ));
        assert_eq!(rig.request(), None, "the game is read first");
        rig.full(moves);
        assert_eq!(moved(&mut rig).is_some(), counts, "{moves}");
        let wanted = if counts { "e2e4" } else { moves };
        assert_eq!(rig.target(), format!("startpos moves {wanted}"));
    }
}

#[test]
fn kings_in_the_centre_resign_offer_a_draw_or_claim_the_win() {
    let moves = "e2e4 e7e5";
    for (end, wanted) in [
        (GameEnd::resigned(Color::White), Some(InGame::Resign)),
        (GameEnd::AGREED, Some(InGame::Draw(true))),
        (GameEnd::resigned(Color::Black), None),
    ] {
        let mut rig = Rig::playing(moves);
        let mut snapshot = rig.snapshot(moves);
        snapshot.sign = Some(end);
        rig.board(&snapshot);
        rig.board(&snapshot);
        assert_eq!(rig.asks(), wanted);
        rig.answered(done());
        assert_eq!(rig.request(), None, "once");
        // The opponent has left.
        if wanted.is_none() {
            assert!(rig.is_told("has not resigned"));
            rig.line(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":5}"#);
            let usual = rig.snapshot(moves);
            rig.board(&usual);
            rig.now += Duration::from_secs(5);
            rig.board(&snapshot);
            assert_eq!(rig.asks(), Some(InGame::ClaimVictory));
        }
    }
}

#[test]
fn a_resignation_while_lichess_is_out_of_reach_is_kept_and_sent_once_if_the_game_still_runs() {
    let moves = "e2e4 e7e5";
    let resign = |rig: &mut Rig| {
        let mut snapshot = rig.snapshot(moves);
        snapshot.sign = Some(GameEnd::resigned(Color::White));
        rig.board(&snapshot);
    };
    // Before the stream is back, through a restart too.
    for restart in [false, true] {
        let mut rig = Rig::playing(moves);
        rig.session.lost_stream();
        resign(&mut rig);
        assert!(rig.is_told("will be sent"), "{:?}", rig.notices);
        assert_eq!(rig.request(), None);
        if restart {
            let memory = serde_json::to_string(&rig.session.memory()).unwrap();
            let memory = serde_json::from_str(&memory).unwrap();
            let board = rig.snapshot(moves);
            rig = Rig::of(LichessAccount::restored(
                Instant::now(),
                memory,
                settings(),
                &board,
            ));
            assert_eq!(rig.request(), None);
        }
        rig.full(moves);
        assert_eq!(rig.asks(), Some(InGame::Resign));
        rig.answered(done());
        assert_eq!(rig.request(), None);
        rig.session.lost_stream();
        rig.full(moves);
        assert_eq!(rig.request(), None);
    }
    // The answer is lost; Lichess may have it.
    for arrived in [false, true] {
        let mut rig = Rig::playing(moves);
        resign(&mut rig);
        assert_eq!(rig.asks(), Some(InGame::Resign));
        rig.answered(Outcome::Lost("cut".to_owned()));
        assert_eq!(rig.request(), None, "not before the game is read");
        if arrived {
            rig.line(
                r#"{"type":"gameFull","id":"Abcd1234","state":{"moves":"e2e4 e7e5","status":"resign","winner":"black"}}"#,
            );
            assert_eq!(rig.request(), None);
        } else {
            rig.full(moves);
            assert_eq!(rig.asks(), Some(InGame::Resign));
        }
    }
    // The hand thinks better of it.
    let mut rig = Rig::playing(moves);
    rig.session.lost_stream();
    resign(&mut rig);
    rig.hand("e2e4 e7e5 g1f3");
    rig.full(moves);
    assert_eq!(moved(&mut rig).as_deref(), Some("g1f3"));
    rig.answered(done());
    assert_eq!(rig.request(), None);
}

#[test]
fn a_move_that_was_taken_back_while_the_daemon_was_away_is_taken_back_on_the_board() {
    let mut rig = Rig::playing("");
    rig.hand("e2e4");
    moved(&mut rig).unwrap();
    rig.answered(done());
    let memory = serde_json::to_string(&rig.session.memory()).unwrap();
    let memory = serde_json::from_str(&memory).unwrap();
    let board = rig.snapshot("e2e4");
    let mut rig = Rig::of(LichessAccount::restored(
        Instant::now(),
        memory,
        settings(),
        &board,
    ));
    rig.full("");
    assert_eq!(rig.target(), "startpos");
    assert_eq!(rig.request(), None);
}

#[test]
fn a_move_that_lichess_has_not_heard_of_is_taken_back_by_the_hand_alone() {
    let mut rig = Rig::playing("e2e4 e7e5");
    rig.session.lost_stream();
    rig.hand("e2e4 e7e5 g1f3");
    assert_eq!(rig.request(), None, "the stream is away");
    let mut snapshot = rig.snapshot("e2e4 e7e5");
    snapshot.taken_back = true;
    rig.board(&snapshot);
    rig.now = rig.session.deadline().unwrap();
    rig.session.timeout(rig.now);
    rig.drains();
    assert_eq!(rig.target(), "startpos moves e2e4 e7e5");
    rig.full("e2e4 e7e5");
    assert_eq!(rig.request(), None);
}

#[test]
fn the_board_is_told_the_clocks_with_every_move() {
    let told = |rig: &Rig| {
        let mut told = rig.commands.iter().rev();
        let clocks = told.find(|command| matches!(command, Command::Clocks { .. }));
        clocks.map(ToString::to_string)
    };
    let mut rig = Rig::playing("e2e4");
    // No clock runs before both have moved.
    assert_eq!(told(&rig).as_deref(), Some("clocks 7 900 900 stopped"));
    rig.state("e2e4 e7e5");
    assert_eq!(told(&rig).as_deref(), Some("clocks 7 9 9 white"));
    rig.line(
        r#"{"type":"gameState","moves":"e2e4 e7e5","wtime":7500,"btime":9000,"status":"resign","winner":"black"}"#,
    );
    assert_eq!(told(&rig).as_deref(), Some("clocks 7 7.5 9 stopped"));
}

#[test]
fn a_hand_that_takes_back_asks_once_until_the_pieces_are_put_back() {
    let moves = "e2e4 e7e5";
    let mut rig = Rig::playing(moves);
    let mut snapshot = rig.snapshot("");
    snapshot.taken_back = true;
    for _ in 0..2 {
        rig.board(&snapshot);
        if let Some(at) = rig.session.deadline().filter(|at| *at < rig.now + WAIT) {
            rig.now = at;
        }
        rig.session.timeout(rig.now);
    }
    assert_eq!(rig.asks(), Some(InGame::TakeBack(true)));
    rig.answered(done());
    assert_eq!(rig.request(), None);
    rig.state("");
    assert_eq!(rig.target(), "startpos");
}

#[test]
fn take_backs_may_be_agreed_to_or_declined_by_the_configuration() {
    for (take_backs, wanted) in [
        (TakeBacks::Yes, Some(InGame::TakeBack(true))),
        (TakeBacks::No, Some(InGame::TakeBack(false))),
        (TakeBacks::Ask, None),
    ] {
        let mut rig = Rig::new(Settings {
            take_backs,
            ..settings()
        });
        rig.event(START);
        rig.full("e2e4 e7e5");
        for _ in 0..2 {
            rig.line(
                r#"{"type":"gameState","moves":"e2e4 e7e5","wtime":1,"btime":1,"status":"started","btakeback":true}"#,
            );
        }
        assert_eq!(rig.asks(), wanted);
        rig.answered(done());
        assert_eq!(rig.request(), None);
    }
}

/// An offer that was declined by a move would be a new one, and an answer to a proposal that was withdrawn a proposal of ours.
#[test]
fn what_the_board_asks_for_is_sent_after_a_pause_only_if_it_still_holds() {
    const MOVES: &str = "e2e4 e7e5";
    let by_kings = |rig: &mut Rig, end| {
        let mut snapshot = rig.snapshot(MOVES);
        snapshot.sign = Some(end);
        rig.board(&snapshot);
    };
    let proposed = |rig: &mut Rig| {
        rig.line(
            r#"{"type":"gameState","moves":"e2e4 e7e5","wtime":1,"btime":1,"status":"started","btakeback":true}"#,
        );
    };
    let answered = |rig: &mut Rig| {
        rig.session = LichessAccount::new(
            CLIENT,
            Settings {
                take_backs: TakeBacks::Yes,
                ..settings()
            },
        );
        rig.session.connected();
        assert_eq!(rig.request(), Some(Request::Account));
        rig.answered(Outcome::Done("{\"username\":\"Me\"}".to_owned()));
        rig.event(START);
        rig.full(MOVES);
        proposed(rig);
    };
    let takes_back = |rig: &mut Rig| {
        let mut snapshot = rig.snapshot("");
        snapshot.taken_back = true;
        rig.board(&snapshot);
        rig.now = rig.session.deadline().unwrap();
        rig.session.timeout(rig.now);
    };
    let draws = |rig: &mut Rig| by_kings(rig, GameEnd::AGREED);
    let claims = |rig: &mut Rig| {
        rig.line(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":0}"#);
        by_kings(rig, GameEnd::resigned(Color::Black));
    };
    let stays = |_: &mut Rig| {};
    let withdraws = |rig: &mut Rig| rig.state(MOVES);
    let plays = |rig: &mut Rig| rig.hand("e2e4 e7e5 g1f3");
    let returns = |rig: &mut Rig| rig.line(r#"{"type":"opponentGone","gone":false}"#);
    type Step<'a> = &'a dyn Fn(&mut Rig);
    let cases: [(Step<'_>, InGame, Step<'_>, bool); 11] = [
        (&answered, InGame::TakeBack(true), &stays, true),
        (&answered, InGame::TakeBack(true), &withdraws, false),
        (&answered, InGame::TakeBack(true), &plays, false),
        (&takes_back, InGame::TakeBack(true), &stays, true),
        (&takes_back, InGame::TakeBack(true), &proposed, true),
        (&takes_back, InGame::TakeBack(true), &plays, false),
        (&draws, InGame::Draw(true), &stays, true),
        (&draws, InGame::Draw(true), &plays, false),
        (&claims, InGame::ClaimVictory, &stays, true),
        (&claims, InGame::ClaimVictory, &plays, false),
        (&claims, InGame::ClaimVictory, &returns, false),
    ];
    for (number, (says, asked, meanwhile, holds)) in cases.into_iter().enumerate() {
        // What happens meanwhile may come before the refusal, too.
        for late in [false, true] {
            let mut rig = Rig::playing(MOVES);
            says(&mut rig);
            assert_eq!(rig.asks(), Some(asked), "{number}");
            if late {
                rig.answered(Outcome::TooMany);
            }
            meanwhile(&mut rig);
            if !late {
                rig.answered(Outcome::TooMany);
            }
            rig.now += PAUSE;
            let mut sent = Vec::new();
            while let Some(what) = rig.asks() {
                rig.answered(done());
                sent.push(what);
            }
            assert_eq!(sent.contains(&asked), holds, "{number} {late}: {sent:?}");
            assert!(sent.len() <= 1, "{number} {late}: {sent:?}");
        }
    }
}

#[test]
fn games_that_a_board_may_not_play_are_left_alone_in_words() {
    for (keys, words) in [
        (
            r#""speed":"blitz","compat":{"board":false}"#,
            "blitz only by challenge",
        ),
        (r#""speed":"bullet","compat":{"board":false}"#, "no bullet"),
        (r#""variant":{"key":"atomic"}"#, "the variant atomic"),
    ] {
        let mut rig = Rig::new(settings());
        rig.event(&format!(
            r#"{{"type":"gameStart","game":{{"gameId":"Abcd1234","fullId":"x",{keys}}}}}"#
        ));
        assert!(rig.is_told(words), "{:?}", rig.notices);
        assert_eq!(rig.session.game_stream(), None);
    }
}

/// Only the game's identifiers are certain to be in the event.
#[test]
fn a_variant_that_only_the_game_itself_tells_is_left_alone_in_the_same_words() {
    let start = r#"{"type":"gameStart","game":{"gameId":"Abcd1234","fullId":"Abcd1234wxyz"}}"#;
    let full = |variant: &str| {
        format!(
            r#"{{"type":"gameFull","id":"Abcd1234","variant":{{"key":"{variant}"}},"white":{{"name":"Me"}},
                "black":{{"name":"Other"}},"initialFen":"startpos","state":{{"moves":"e2e4","status":"started"}}}}"#
        )
    };
    let mut rig = Rig::new(settings());
    rig.event(start);
    rig.line(&full("atomic"));
    assert!(rig.is_told("is not played on the board: the variant atomic"));
    assert_eq!(rig.target(), "");
    assert_eq!(rig.session.game_stream(), None);
    let listed = rig.session.standing(BoardName::default()).games;
    assert!(listed[0].unfit.is_some() && !listed[0].on_board);
    // The board is free for another game.
    rig.event(&start.replace("Abcd1234", "Next1234"));
    assert_eq!(rig.session.game_stream().unwrap().0, "Next1234");
    let mut rig = Rig::new(settings());
    rig.event(start);
    rig.line(&full("fromPosition"));
    assert_eq!(rig.target(), "startpos moves e2e4");
}

#[test]
fn a_game_with_a_clock_takes_the_board_from_one_without() {
    let mut rig = Rig::new(settings());
    let start = |id: &str, speed: &str| {
        format!(
            r#"{{"type":"gameStart","game":{{"gameId":"{id}","fullId":"x","color":"black","speed":"{speed}"}}}}"#
        )
    };
    let on = |rig: &Rig| rig.session.game_stream().unwrap().0;
    rig.event(&start("Slow0001", "correspondence"));
    assert_eq!(on(&rig), "Slow0001");
    rig.event(&start("Slow0002", "correspondence"));
    assert_eq!(on(&rig), "Slow0001");
    rig.event(&start("Fast0001", "rapid"));
    assert_eq!(on(&rig), "Fast0001");
    rig.event(&start("Fast0002", "rapid"));
    assert_eq!(on(&rig), "Fast0001");
}

fn seek(time: &str) -> Ask {
    Ask::Seek {
        time: time.parse().unwrap(),
        rated: false,
        side: Side::Random,
    }
}

#[test]
fn a_seek_is_answered_when_lichess_has_taken_or_refused_it() {
    let mut rig = Rig::new(settings());
    rig.session.asked(seek("15+10"), Ticket(1));
    rig.drains();
    assert!(rig.answers.is_empty() && rig.session.seek().is_some());
    rig.session.seek_opened();
    rig.drains();
    assert!(rig.answers[0].1.as_ref().unwrap().contains("15+10"));
    // The same again is looked for already.
    rig.session.asked(seek("15+10"), Ticket(2));
    rig.drains();
    assert!(rig.answers[1].1.is_ok());
    rig.session.asked(seek("5+0"), Ticket(3));
    let refused = Outcome::Refused("Invalid time control".to_owned());
    rig.session.seek_ended(rig.now, refused);
    rig.drains();
    let Err(NotDone::Refused(words)) = &rig.answers[2].1 else {
        panic!("{:?}", rig.answers);
    };
    assert!(
        words.contains("Invalid time control") && words.contains("10+0"),
        "{words}"
    );
    assert!(rig.session.seek().is_none() && !rig.is_told("Invalid"));
}

/// Lichess keeps a search in days by itself, and its API cannot end it.
#[test]
fn a_search_in_days_is_not_said_to_be_withdrawn() {
    let mut rig = Rig::new(settings());
    rig.session.asked(seek("3d"), Ticket(1));
    // Lichess may have it already.
    rig.session.asked(Ask::Withdraw, Ticket(2));
    rig.session.seek_opened();
    rig.session
        .seek_ended(rig.now, Outcome::Done(String::new()));
    rig.session.asked(Ask::Withdraw, Ticket(3));
    rig.drains();
    for refused in [0, 2] {
        let why = rig.answers[refused].1.as_ref().unwrap_err();
        assert!(why.to_string().contains("withdraw it there"), "{why}");
    }
    let said = rig.answers[1].1.as_ref().unwrap();
    assert!(said.contains("withdraw it there"), "{said}");
    // One with a clock can be.
    rig.session.asked(seek("15+10"), Ticket(4));
    rig.session.seek_opened();
    rig.session.asked(Ask::Withdraw, Ticket(5));
    rig.drains();
    assert_eq!(rig.answers[4].1.as_deref(), Ok("withdrawn"));
    assert!(rig.session.seek().is_none());
}

#[test]
fn a_seek_that_lichess_has_not_taken_ends_with_the_connection_and_one_that_it_has_does_not() {
    for opened in [false, true] {
        let mut rig = Rig::new(settings());
        rig.session.asked(seek("15+10"), Ticket(1));
        if opened {
            rig.session.seek_opened();
        }
        rig.session.disconnected("cut");
        rig.drains();
        assert_eq!(rig.session.seek().is_some(), opened);
        assert_eq!(rig.answers[0].1.is_ok(), opened);
        // Nor can one begin now.
        rig.session.asked(seek("10+0"), Ticket(2));
        rig.drains();
        let words = rig.answers[1].1.clone().unwrap_err().to_string();
        assert!(
            words.contains("not connected") && words.contains("cut"),
            "{words}"
        );
    }
    let mut rig = Rig::new(settings());
    rig.session.pause(rig.now);
    rig.session.asked(seek("15+10"), Ticket(1));
    rig.drains();
    let words = rig.answers[0].1.clone().unwrap_err().to_string();
    assert!(words.contains("pause"), "{words}");
}

#[test]
fn a_search_is_open_again_only_when_lichess_has_it_again() {
    let mut rig = Rig::new(settings());
    rig.session.asked(seek("15+10"), Ticket(1));
    rig.session.seek_opened();
    rig.session.disconnected("cut");
    rig.session.connected();
    rig.session.asked(seek("15+10"), Ticket(2));
    rig.drains();
    assert_eq!(rig.answers.len(), 1, "{:?}", rig.answers);
    rig.session.seek_opened();
    rig.drains();
    assert!(rig.answers[1].1.is_ok(), "{:?}", rig.answers);
}

#[test]
fn an_open_search_that_ends_without_an_opponent_is_told() {
    let lost = Outcome::Lost("reset".to_owned());
    for (outcome, cuts, why) in [(lost, 5, "reset"), (Outcome::TooMany, 0, "pause")] {
        let mut rig = Rig::new(settings());
        rig.session.asked(seek("15+10"), Ticket(1));
        rig.session.seek_opened();
        // Its connection may be lost without the others.
        for _ in 0..cuts {
            rig.session.seek_ended(rig.now, outcome.clone());
            // It may have led to a game, of which the other connection tells first.
            assert!(rig.session.seek().is_none());
            rig.now = rig.session.deadline().unwrap();
            rig.session.timeout(rig.now);
            assert!(rig.session.seek().is_some());
            rig.session.seek_opened();
        }
        rig.session.seek_ended(rig.now, outcome);
        rig.drains();
        let told = rig.notices.last().unwrap();
        assert!(
            told.contains("no longer looking for an opponent") && told.contains(why),
            "{told}"
        );
        assert!(rig.session.seek().is_none());
    }
}

#[test]
fn a_search_in_days_stands_on_lichess_and_is_not_sent_twice() {
    for all in [false, true] {
        let mut rig = Rig::new(settings());
        rig.session.asked(seek("3d"), Ticket(1));
        rig.session.seek_opened();
        if all {
            rig.session.disconnected("cut");
            rig.session.connected();
        } else {
            let lost = Outcome::Lost("reset".to_owned());
            rig.session.seek_ended(rig.now, lost);
        }
        rig.drains();
        assert!(rig.session.seek().is_none());
        let told = rig.notices.iter();
        assert!(
            !told
                .clone()
                .any(|notice| notice.contains("no longer looking")),
            "{:?}",
            rig.notices
        );
    }
}

#[test]
fn what_has_not_begun_when_its_person_has_left_does_not_begin() {
    let mut rig = Rig::new(settings());
    let computer = Ask::Computer {
        level: 1.try_into().unwrap(),
        time: "15+10".parse().unwrap(),
        side: Side::Random,
    };
    rig.session.asked(computer, Ticket(1));
    rig.session.has_left(Ticket(1));
    assert_eq!(rig.request(), None);
    rig.session.asked(seek("15+10"), Ticket(2));
    rig.session.has_left(Ticket(1));
    assert!(rig.session.seek().is_some());
    rig.session.has_left(Ticket(2));
    assert!(rig.session.seek().is_none());
}

#[test]
fn what_could_become_a_game_that_no_board_may_play_is_not_asked() {
    let mut rig = Rig::new(settings());
    let challenge = Ask::Challenge {
        user: "Someone".to_owned(),
        time: "1+0".parse().unwrap(),
        rated: false,
        side: Side::Random,
    };
    rig.session.asked(challenge, Ticket(1));
    rig.session.said(Saying::Draw, Ticket(2));
    rig.drains();
    let words = |n: usize| rig.answers[n].1.clone().unwrap_err().to_string();
    assert!(words(0).contains("no bullet"), "{}", words(0));
    assert!(words(1).contains("no game"), "{}", words(1));
}

#[test]
fn challenges_are_listed_accepted_or_left_alone_as_configured() {
    let challenge = |id: &str| {
        format!(
            r#"{{"type":"challenge","challenge":{{"id":"{id}","status":"created","challenger":{{"id":"o","name":"Other"}},
               "speed":"rapid","rated":false,"timeControl":{{"type":"clock","show":"15+10"}},"direction":"in"}}}}"#
        )
    };
    let mut rig = Rig::new(settings());
    rig.event(&challenge("Chal0001"));
    assert!(
        rig.is_told("Other challenges you (15+10, casual)"),
        "{:?}",
        rig.notices
    );
    rig.event(&challenge("Chal0002"));
    rig.session.asked(Ask::Accept(None), Ticket(1));
    rig.drains();
    let words = rig.answers[0].1.clone().unwrap_err().to_string();
    assert!(
        words.contains("Chal0001") && words.contains("Chal0002"),
        "{words}"
    );
    rig.session
        .asked(Ask::Accept(Some("Chal0002".to_owned())), Ticket(2));
    let accept = |id: &str| Some(Request::OfChallenge(id.to_owned(), OfChallenge::Accept));
    assert_eq!(rig.request(), accept("Chal0002"));
    for (accept_key, wanted) in [(Accept::All, accept("Chal0003")), (Accept::None, None)] {
        let mut rig = Rig::new(Settings {
            accept: accept_key,
            ..settings()
        });
        rig.event(&challenge("Chal0003"));
        assert_eq!(rig.request(), wanted);
    }
}

#[test]
fn a_challenge_is_told_with_its_clock_also_where_lichess_does_not_put_it_in_words() {
    let told = |time: &str| {
        let mut rig = Rig::new(settings());
        rig.event(&format!(
            r#"{{"type":"challenge","challenge":{{"id":"Chal0001","status":"created","challenger":{{"id":"o","name":"Other"}},
               "speed":"rapid","rated":false,"timeControl":{{{time}}},"direction":"in"}}}}"#
        ));
        format!("{:?}", rig.notices)
    };
    for (time, words) in [
        (r#""type":"clock","limit":900,"increment":10"#, "15+10"),
        (r#""type":"clock","limit":30"#, "0.5+0"),
        (r#""type":"correspondence","daysPerTurn":3"#, "3d"),
        (r#""type":"unlimited""#, "no clock"),
    ] {
        let words = format!("Other challenges you ({words}, casual)");
        assert!(told(time).contains(&words), "{}", told(time));
    }
}

/// The ends that the board was told.
fn ends(rig: &Rig) -> Vec<String> {
    let told = rig.commands.iter().filter_map(|command| match command {
        Command::Ended { end, .. } => Some(end.words()),
        _ => None,
    });
    told.collect()
}

#[test]
fn every_end_is_told_as_lichess_has_it_and_no_winner_is_guessed() {
    let moves = "e2e4 e7e5 g1f3";
    for (status, winner, wanted, words) in [
        ("aborted", None, "aborted *", "aborted"),
        (
            "mate",
            Some("white"),
            "checkmate 1-0",
            "checkmate, you have won",
        ),
        ("mate", None, "checkmate *", "checkmate"),
        (
            "resign",
            Some("black"),
            "resignation 0-1",
            "White resigned, you have lost",
        ),
        (
            "stalemate",
            None,
            "stalemate 1/2-1/2",
            "a draw by stalemate",
        ),
        (
            "stalemate",
            Some("black"),
            "stalemate 0-1",
            "Black won: stalemate, you have lost",
        ),
        (
            "timeout",
            Some("white"),
            "abandoned 1-0",
            "White won: Black left, you have won",
        ),
        (
            "timeout",
            None,
            "abandoned 1/2-1/2",
            "a draw: a player left",
        ),
        ("draw", None, "agreement 1/2-1/2", "a draw by agreement"),
        (
            "outoftime",
            Some("black"),
            "time 0-1",
            "Black won on time, you have lost",
        ),
        (
            "outoftime",
            Some("white"),
            "time 1-0",
            "White won on time, you have won",
        ),
        ("outoftime", None, "time 1/2-1/2", "time ran out"),
        ("cheat", Some("white"), "cheat 1-0", "Black broke the rules"),
        ("cheat", None, "cheat *", "broke the rules"),
        (
            "noStart",
            Some("black"),
            "no-start 0-1",
            "White did not make the first move",
        ),
        ("noStart", None, "no-start *", "the first move was not made"),
        ("unknownFinish", None, "unknown 1/2-1/2", "a draw"),
        (
            "insufficientMaterialClaim",
            None,
            "insufficient-material 1/2-1/2",
            "too few pieces",
        ),
        (
            "variantEnd",
            Some("white"),
            "variant 1-0",
            "by the rules of the variant",
        ),
        (
            "variantEnd",
            None,
            "variant 1/2-1/2",
            "by the rules of the variant",
        ),
        (
            "struckByLightning",
            Some("black"),
            "unknown 0-1",
            "Black won, you have lost",
        ),
        ("struckByLightning", None, "unknown *", "not known"),
    ] {
        let mut rig = Rig::playing(moves);
        let winner = winner.map_or(String::new(), |winner| format!(r#","winner":"{winner}""#));
        rig.line(&format!(
            r#"{{"type":"gameState","moves":"{moves}","wtime":9,"btime":0,"status":"{status}"{winner}}}"#
        ));
        assert_eq!(ends(&rig), [wanted], "{status}{winner}");
        assert!(rig.is_told(words), "{status}{winner}: {:?}", rig.notices);
        let pairing = rig.session.pairing().unwrap();
        let shown = pairing.clocks.as_ref().unwrap();
        assert_eq!(shown.clocks.runs, None, "{status}");
        assert_eq!(rig.session.game_stream(), None);
    }
}

#[test]
fn a_draw_is_told_as_what_the_position_lets_be_claimed() {
    let knights = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
    let mut rig = Rig::playing(knights);
    rig.line(&format!(
        r#"{{"type":"gameState","moves":"{knights}","status":"draw"}}"#
    ));
    assert_eq!(ends(&rig), ["repetition 1/2-1/2"]);
}

#[test]
fn an_end_is_told_although_the_last_move_cannot_be_read() {
    let mut rig = Rig::playing("e2e4");
    rig.line(r#"{"type":"gameState","moves":"e2e4 e7e2","status":"outoftime","winner":"white"}"#);
    assert_eq!(ends(&rig), ["time 1-0"]);
}

const FINISH: &str = r#"{"type":"gameFinish","game":{"gameId":"Abcd1234","fullId":"Abcd1234wxyz","winner":"black",
    "status":{"id":35,"name":"outoftime"}}}"#;

#[test]
fn an_end_that_only_the_stream_of_events_tells_is_read_from_the_game_with_its_last_move() {
    let mut rig = Rig::playing("e2e4");
    let before = rig.session.game_stream();
    rig.event(FINISH);
    assert_eq!(ends(&rig), [""; 0], "its last moves are not known yet");
    assert_ne!(rig.session.game_stream(), before, "the game is read again");
    rig.line(
        r#"{"type":"gameFull","id":"Abcd1234","state":{"moves":"e2e4 e7e5","status":"outoftime","winner":"black"}}"#,
    );
    assert_eq!(ends(&rig), ["time 0-1"]);
    assert_eq!(rig.target(), "startpos moves e2e4 e7e5");
    // The game cannot be read any more.
    let mut rig = Rig::playing("e2e4");
    rig.event(FINISH);
    rig.session.no_game();
    rig.drains();
    assert_eq!(ends(&rig), ["time 0-1"]);
    // Nothing is known of it.
    let mut rig = Rig::playing("e2e4");
    rig.event(&FINISH.replace("winner", "other").replace("status", "state"));
    rig.session.no_game();
    rig.drains();
    assert_eq!(ends(&rig), ["unknown *"]);
}

#[test]
fn an_end_that_was_kept_is_still_told() {
    let mut rig = Rig::playing("e2e4");
    rig.line(RESIGNED);
    let memory = rig.session.memory();
    let board = rig.snapshot("e2e4");
    let rig = Rig::of(LichessAccount::restored(
        Instant::now(),
        memory,
        settings(),
        &board,
    ));
    assert_eq!(ends(&rig), ["resignation 0-1"]);
}

#[test]
fn a_game_that_was_not_heard_before_a_restart_takes_nothing_from_the_one_before() {
    let mut rig = Rig::playing("e2e4");
    rig.line(RESIGNED);
    let next = START
        .replace("Abcd1234", "Efgh5678")
        .replace("Other", "Third");
    rig.event(&next);
    let memory = rig.session.memory();
    let board = rig.snapshot("e2e4");
    let mut rig = Rig::of(LichessAccount::restored(
        Instant::now(),
        memory,
        settings(),
        &board,
    ));
    rig.event(&next);
    rig.full("");
    assert_eq!(rig.session.pairing().unwrap().over, None);
}

#[test]
fn castling_is_sent_as_the_king_and_its_rook_and_read_in_either_form() {
    let odd = "rk5r/pppp1ppp/8/8/8/8/PPPP1PPP/RK5R w KQkq - 0 1";
    let usual = "r3k2r/pppp1ppp/8/8/8/8/PPPP1PPP/R3K2R w KQkq - 0 1";
    let near = "r1k5/pppp1ppp/8/8/8/8/PPPP1PPP/RKR5 w CAa - 0 1";
    for (variant, start, read, sent) in [
        ("fromPosition", odd, "b1a1", "b1a1"),
        ("fromPosition", odd, "b1h1", "b1h1"),
        // A step of the king: nothing stands on its square.
        ("fromPosition", odd, "b1c1", "b1c1"),
        ("chess960", odd, "b1a1", "b1a1"),
        // The king's step to its own rook's square is castling, also next to it.
        ("chess960", near, "b1c1", "b1c1"),
        ("fromPosition", usual, "e1g1", "e1h1"),
        ("fromPosition", usual, "e1h1", "e1h1"),
        ("fromPosition", usual, "e1c1", "e1a1"),
        ("chess960", usual, "e1a1", "e1a1"),
    ] {
        let begin = || {
            let mut rig = Rig::new(settings());
            rig.event(START);
            rig.line(&format!(
                r#"{{"type":"gameFull","id":"Abcd1234","variant":{{"key":"{variant}"}},"initialFen":"{start}",
                    "state":{{"moves":"","status":"started"}}}}"#
            ));
            rig
        };
        let mut made = Game::from_fen(start).unwrap();
        made.play_uci([read]).unwrap();
        let mut rig = begin();
        let mut snapshot = rig.snapshot("");
        snapshot.game = Arc::new(made.clone());
        snapshot.places[0].answer = vec![made.last().unwrap()];
        rig.board(&snapshot);
        assert_eq!(moved(&mut rig).as_deref(), Some(sent), "{variant} {read}");
        rig.answered(done());
        rig.state(sent);
        assert_eq!(rig.target(), made.to_string());
        assert_eq!(rig.request(), None);
        let mut rig = begin();
        rig.state(read);
        assert_eq!(rig.target(), made.to_string());
    }
}

#[test]
fn the_first_move_is_asked_for_in_time() {
    let mut rig = Rig::new(settings());
    rig.event(START);
    rig.line(
        r#"{"type":"gameFull","id":"Abcd1234","state":{"moves":"","status":"started",
            "expiration":{"idleMillis":1000,"millisToMove":21000}}}"#,
    );
    assert!(rig.is_told("within 20 s"), "{:?}", rig.notices);
}

#[test]
fn the_hands_colour_is_found_by_the_names_where_the_event_does_not_tell_it() {
    for (white, black, hand) in [
        (
            r#"{"id":"me","name":"Me"}"#,
            r#"{"id":"other","name":"Other"}"#,
            Color::White,
        ),
        (
            r#"{"id":"other","name":"Other"}"#,
            r#"{"id":"me","name":"Me"}"#,
            Color::Black,
        ),
        (r#"{"aiLevel":3}"#, r#"{"id":"ME"}"#, Color::Black),
    ] {
        let mut rig = Rig::new(settings());
        rig.event(r#"{"type":"gameStart","game":{"gameId":"Abcd1234","fullId":"Abcd1234wxyz"}}"#);
        rig.line(&format!(
            r#"{{"type":"gameFull","id":"Abcd1234","white":{white},"black":{black},"initialFen":"startpos",
                "state":{{"type":"gameState","moves":"","status":"started"}}}}"#
        ));
        assert_eq!(
            rig.session.pairing().unwrap().hand,
            Some(hand),
            "{white} {black}"
        );
    }
}

#[test]
fn a_challenge_that_became_a_game_is_not_withdrawn_and_an_own_one_is_not_accepted() {
    let challenge = |id: &str, by: &str| {
        format!(
            r#"{{"type":"challenge","challenge":{{"id":"{id}","status":"created","challenger":{{"id":"{by}","name":"{by}"}},
               "speed":"rapid","rated":false,"timeControl":{{"type":"clock","show":"15+10"}}}}}}"#
        )
    };
    let mut rig = Rig::new(Settings {
        accept: Accept::All,
        ..settings()
    });
    rig.event(&challenge("Abcd1234", "Me"));
    assert_eq!(rig.request(), None, "it is our own");
    rig.event(START);
    rig.session.asked(Ask::Withdraw, Ticket(1));
    assert_eq!(rig.request(), None, "that would abort the game");
    // Two at once: there is one board.
    let mut rig = Rig::new(Settings {
        accept: Accept::All,
        ..settings()
    });
    rig.event(&challenge("Chal0001", "One"));
    rig.event(&challenge("Chal0002", "Two"));
    let of = |id: &str, what| Some(Request::OfChallenge(id.to_owned(), what));
    assert_eq!(rig.request(), of("Chal0001", OfChallenge::Accept));
    rig.answered(done());
    assert_eq!(rig.request(), of("Chal0002", OfChallenge::Decline("later")));
}

#[test]
fn a_clock_below_nothing_hides_no_move() {
    let mut rig = Rig::playing("");
    rig.line(
        r#"{"type":"gameState","moves":"e2e4 e7e5","wtime":-20,"btime":9,"status":"started",
            "expiration":{"idleMillis":-3,"millisToMove":20000}}"#,
    );
    assert_eq!(rig.target(), "startpos moves e2e4 e7e5");
    rig.line(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":-1}"#);
    assert!(rig.is_told("has left"));
}

#[test]
fn a_running_game_that_is_not_found_once_is_read_again() {
    let mut rig = Rig::playing("e2e4 e7e5");
    let before = rig.session.game_stream();
    rig.session.no_game();
    assert_ne!(rig.session.game_stream(), before);
    assert!(rig.session.game_stream().is_some());
    rig.event(r#"{"type":"gameFinish","game":{"gameId":"Abcd1234","fullId":"Abcd1234wxyz"}}"#);
    rig.session.no_game();
    assert_eq!(rig.session.game_stream(), None);
}

#[test]
fn going_berserk_is_possible_in_a_tournament_and_told_of_the_opponent() {
    let mut rig = Rig::new(settings());
    rig.event(START);
    let state = |wtime, btime| {
        format!(
            r#"{{"type":"gameState","moves":"","wtime":{wtime},"btime":{btime},"winc":0,"binc":0,"status":"started"}}"#
        )
    };
    rig.line(&format!(
        r#"{{"type":"gameFull","id":"Abcd1234","tournamentId":"Aren0001","clock":{{"initial":600000,"increment":0}},
            "white":{{"name":"Me"}},"black":{{"name":"Other"}},"initialFen":"startpos","state":{}}}"#,
        state(600_000, 600_000)
    ));
    let can = |rig: &Rig| {
        rig.session
            .pairing()
            .unwrap()
            .can
            .contains(&Saying::Berserk)
    };
    assert!(can(&rig));
    rig.session.said(Saying::Berserk, Ticket(1));
    assert_eq!(rig.asks(), Some(InGame::Berserk));
    rig.answered(done());
    rig.line(&state(300_000, 300_000));
    assert!(!can(&rig));
    assert!(rig.is_told("Other goes berserk"), "{:?}", rig.notices);
    rig = Rig::playing("");
    assert!(!can(&rig), "it is not a tournament");
}

#[test]
fn a_correspondence_challenge_is_named_by_its_days() {
    let mut rig = Rig::new(settings());
    rig.event(
        r#"{"type":"challenge","challenge":{"id":"Chal0001","challenger":{"id":"o","name":"Other"},"rated":true,
            "timeControl":{"type":"correspondence","daysPerTurn":3},"direction":"in"}}"#,
    );
    assert!(
        rig.is_told("Other challenges you (3d, rated)"),
        "{:?}",
        rig.notices
    );
}

#[test]
fn what_lichess_says_at_length_is_cut_and_moves_are_not() {
    let mut rig = Rig::new(settings());
    let long = "\u{e9}".repeat(30_000);
    for number in 0..200 {
        rig.event(&format!(
            r#"{{"type":"gameStart","game":{{"gameId":"game{number:04}","color":"white","speed":"{long}","source":"{long}",
            "opponent":{{"username":"{long}"}},"compat":{{"board":true}}}}}}"#
        ));
        rig.event(&format!(
            r#"{{"type":"challenge","challenge":{{"id":"{number:04}{long}","challenger":{{"name":"{long}"}},
            "speed":"{long}","timeControl":{{"show":"{long}"}}}},"compat":{{"board":true}}}}"#
        ));
    }
    let board: BoardName = "neo".parse().unwrap();
    let standing = serde_json::to_string(&rig.session.standing(board)).unwrap();
    // With the board's game, the head and the body: what docs/bounds.md has for each of 32 unread readers.
    assert!(standing.len() < 128 * 1024, "{}", standing.len());
    let moves = ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(500).join(" ");
    let line = format!(r#"{{"type":"gameState","moves":"{moves}"}}"#);
    match objects::read(line.as_bytes()).unwrap() {
        objects::Line::GameState(state) => assert_eq!(state.moves, moves),
        other => panic!("{other:?}"),
    }
}
