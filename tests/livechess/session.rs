//! One client's conversation by `LiveChess`, without a socket: what no simulated board and no page does.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use boardbridge::{
    chess::game::Game,
    front_end::livechess::session::{Action, MAX_FEEDS, PageConversation},
    vocabulary::{BoardName, ClientId, ClientName, ClientPlace, Command, LinkState, Snapshot},
};
use fastrand::Rng;
use proptest::prelude::*;
use rig::{
    cable::Cable,
    clock::{Clocked, log},
};
use serde_json::{Value, json};
use shakmaty::Position;
use simulators::HandAction;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

fn game(moves: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
}

struct Rig {
    session: PageConversation,
    held: Game,
    taken_back: bool,
    /// The client's number at the board, that of its target, and its game.
    claim: Option<(ClientId, u64, Game)>,
    said: Vec<Value>,
}

impl Rig {
    fn new() -> Self {
        let next = AtomicU64::new(1);
        let number = Arc::new(move || ClientId(next.fetch_add(1, Ordering::Relaxed)));
        let label = ClientName::LiveChess("127.0.0.1:5000".parse().unwrap());
        Self {
            session: PageConversation::new(label, number),
            held: Game::standard(),
            taken_back: false,
            claim: None,
            said: Vec::new(),
        }
    }

    fn board(&self) -> Snapshot {
        let mut snapshot = Snapshot::new(BoardName::default());
        snapshot.link = LinkState::Up;
        snapshot.sure = true;
        snapshot.taken_back = self.taken_back;
        if let Some((client, number, game)) = &self.claim {
            let game = game.clone().rebased(&self.held);
            let answer = if self.held.continues(&game) {
                self.held.moves()[game.len()..].to_vec()
            } else {
                Vec::new()
            };
            snapshot.places = vec![ClientPlace {
                client: *client,
                number: *number,
                joined: true,
                put_out: false,
                answer,
            }];
        }
        snapshot.game = Arc::new(self.held.clone());
        snapshot
    }

    fn acts(&mut self) {
        while let Some(action) = self.session.poll_action() {
            match action {
                Action::Say(text) => self.said.push(serde_json::from_str(&text).unwrap()),
                Action::Takes(..) => {}
                Action::Ask(
                    _,
                    Command::Target {
                        client,
                        number,
                        game,
                        ..
                    },
                ) => {
                    self.claim = Some((client, number, *game));
                }
                // The board shows the last move already: it lets the client go with what it says.
                Action::Ask(_, Command::Release { .. } | Command::Ended { .. }) => {
                    self.claim = None;
                }
                Action::Ask(..) => {}
            }
        }
    }

    fn calls(&mut self, text: &str) {
        let board = Arc::new(self.board());
        self.session.message(7, text, &[board]);
        self.acts();
    }

    fn sets_up(&mut self, fen: &str) {
        let serial = BoardName::default();
        self.calls(
            &json!({"id": 2, "call": "subscribe", "param":
                    {"feed": "eboardevent", "id": 1, "param": {"serialnr": serial}}})
            .to_string(),
        );
        self.calls(
            &json!({"id": 3, "call": "call", "param":
                    {"id": 1, "method": "setup", "param": {"fen": fen}}})
            .to_string(),
        );
    }

    /// The board holds this.
    fn holds(&mut self, moves: &str, taken_back: bool) {
        self.held = game(moves);
        self.taken_back = taken_back;
        // Once more, as the board has taken the new target.
        for _ in 0..2 {
            let board = self.board();
            self.session.snapshot(7, &board);
            self.acts();
            self.taken_back = false;
        }
    }

    /// The lists published since then.
    fn lists(&mut self) -> Vec<String> {
        let said = std::mem::take(&mut self.said);
        let lists = said
            .iter()
            .filter_map(|said| said["param"]["san"].as_array());
        let text = |list: &Vec<Value>| {
            let sans = list.iter().map(|san| san.as_str().unwrap());
            sans.collect::<Vec<_>>().join(" ")
        };
        lists.map(text).collect()
    }
}

#[test]
fn a_corrected_move_is_published_as_the_shorter_list_and_the_new_one() {
    let mut rig = Rig::new();
    rig.sets_up(START);
    assert_eq!(rig.lists(), [""]);
    rig.holds("e2e3", false);
    assert_eq!(rig.lists()[0], "e3");
    rig.holds("e2e4", true);
    let mut lists = rig.lists();
    lists.dedup();
    assert_eq!(lists, ["", "e4"]);
}

#[test]
fn moves_that_come_together_are_published_one_by_one() {
    let mut rig = Rig::new();
    rig.sets_up(START);
    rig.lists();
    rig.holds("e2e4 e7e5 g1f3", false);
    let mut lists = rig.lists();
    lists.dedup();
    assert_eq!(lists, ["e4", "e4 e5", "e4 e5 Nf3"]);
}

#[test]
fn a_position_in_the_middle_of_the_boards_game_begins_an_empty_list() {
    let mut rig = Rig::new();
    rig.held = game("e2e4 e7e5 g1f3");
    let fen = rig.held.fen().to_string();
    rig.sets_up(&fen);
    assert_eq!(rig.lists(), [""]);
    rig.holds("e2e4 e7e5 g1f3 b8c6", false);
    rig.holds("e2e4 e7e5 g1f3", true);
    // Further back is before its game.
    rig.holds("e2e4", true);
    let mut lists = rig.lists();
    lists.dedup();
    assert_eq!(lists, ["Nc6", ""]);
}

#[test]
fn after_a_game_that_ended_the_pieces_are_published_as_they_are_put_back() {
    let mut rig = Rig::new();
    rig.sets_up(START);
    rig.holds("", false);
    rig.holds("f2f3 e7e5 g2g4 d8h4", false);
    rig.said.clear();
    rig.holds("", false);
    let start = Game::standard().position().board().to_string();
    let last = rig.said.last().map(|said| &said["param"]["board"]);
    assert_eq!(last, Some(&json!(start)));
}

#[test]
fn a_client_has_a_bounded_number_of_feeds() {
    let mut rig = Rig::new();
    let serial = BoardName::default();
    for id in 0..=MAX_FEEDS {
        rig.calls(
            &json!({"id": 2, "call": "subscribe", "param":
                    {"feed": "eboardevent", "id": id, "param": {"serialnr": serial}}})
            .to_string(),
        );
    }
    let last = rig.said.last().unwrap();
    assert_eq!(last["response"], "error", "{last}");
}

/// A client, a core and a simulated board, on one virtual clock.
struct Desk {
    session: PageConversation,
    cable: Cable,
    began: Instant,
    now: Instant,
    said: Vec<Value>,
    /// Snapshots and commands that are on their way, in their order.
    snapshots: VecDeque<Snapshot>,
    commands: VecDeque<Command>,
    /// What passes next.
    random: Rng,
}

impl Clocked for Desk {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }

    fn carry(&mut self) {
        let mut moved = true;
        while moved {
            let at = self.now - self.began;
            moved = self.cable.carry(self.now, |_, passed| {
                log("CONVERGENCE_LOG", at, || passed.to_string());
            });
            self.snapshots.extend(self.cable.core.poll_snapshot());
            moved |= self.passes();
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.cable.deadline()
    }

    fn timeout(&mut self, now: Instant) {
        self.cable.timeout(now);
    }
}

impl Desk {
    fn new(is_citrine: bool, seed: u64) -> Self {
        let next = AtomicU64::new(1);
        let number = Arc::new(move || ClientId(next.fetch_add(1, Ordering::Relaxed)));
        let label = ClientName::LiveChess("127.0.0.1:5000".parse().unwrap());
        let now = Instant::now();
        let mut desk = Self {
            session: PageConversation::new(label, number),
            cable: Cable::novag(is_citrine, Duration::from_millis(100)),
            began: now,
            now,
            said: Vec::new(),
            snapshots: VecDeque::new(),
            commands: VecDeque::new(),
            random: Rng::with_seed(seed),
        };
        desk.cable.plug(now);
        desk
    }

    /// A snapshot reaches the client, or a command the core, whichever is quicker. `false` if none is on its way.
    fn passes(&mut self) -> bool {
        let (snapshots, commands) = (self.snapshots.len(), self.commands.len());
        if snapshots + commands == 0 {
            return false;
        }
        if self.random.usize(..snapshots + commands) < snapshots {
            if let Some(snapshot) = self.snapshots.pop_front() {
                self.session.snapshot(7, &snapshot);
                self.acts();
            }
        } else if let Some(command) = self.commands.pop_front() {
            self.cable.command(self.now, command);
        }
        true
    }

    fn acts(&mut self) {
        while let Some(action) = self.session.poll_action() {
            match action {
                Action::Say(text) => {
                    log("CONVERGENCE_LOG", self.now - self.began, || text.clone());
                    self.said.push(serde_json::from_str(&text).unwrap());
                }
                Action::Takes(..) => {}
                Action::Ask(_, command) => self.commands.push_back(command),
            }
        }
    }

    fn calls(&mut self, call: &Value) {
        let board = Arc::new(self.cable.snapshot());
        self.session.message(7, &call.to_string(), &[board]);
        self.acts();
        self.carry();
    }

    fn subscribes(&mut self) {
        let serial = BoardName::default();
        self.calls(&json!({"id": 2, "call": "subscribe", "param":
                    {"feed": "eboardevent", "id": 1, "param": {"serialnr": serial}}}));
    }

    fn sets_up(&mut self, fen: &str) {
        self.subscribes();
        self.calls(&json!({"id": 3, "call": "call", "param":
                    {"id": 1, "method": "setup", "param": {"fen": fen}}}));
    }

    fn hand(&mut self, moves: &str) {
        for m in moves.split_whitespace() {
            let action = HandAction::Move(m.parse().unwrap());
            self.cable.hand(self.now, action);
        }
    }

    /// What the feeds have said since: the pieces, the list and whether both agree.
    fn feeds(&mut self) -> Vec<(String, Option<String>, Option<bool>)> {
        let said = std::mem::take(&mut self.said);
        let feeds = said.iter().filter(|said| said["response"] == "feed");
        let feeds = feeds.map(|said| &said["param"]);
        feeds
            .map(|feed| {
                let san = feed["san"].as_array().map(|list| {
                    let sans = list.iter().map(|san| san.as_str().unwrap());
                    sans.collect::<Vec<_>>().join(" ")
                });
                let board = feed["board"].as_str().unwrap().to_owned();
                (board, san, feed["match"].as_bool())
            })
            .collect()
    }
}

#[test]
fn what_the_hand_plays_for_both_colours_in_one_burst_is_published_whole_and_stays() {
    let whole = "e2e4 e7e5 g1f3 b8c6 f1b5";
    let ways = [(true, true), (true, false), (false, false)];
    for ((is_citrine, is_away), seed) in ways
        .into_iter()
        .flat_map(|way| (0..30).map(move |n| (way, n)))
    {
        let mut desk = Desk::new(is_citrine, seed);
        desk.sets_up(START);
        desk.pass(Duration::from_secs(120));
        desk.feeds();
        if is_away {
            let now = desk.now;
            desk.cable.unplug(now, "the cable");
            desk.pass(Duration::from_secs(1));
            desk.hand(whole);
            while desk.cable.board.poll_transmit().is_some() {}
            let now = desk.now;
            desk.cable.plug(now);
        } else {
            desk.hand(whole);
        }
        desk.pass(Duration::from_secs(120));
        let mut lists: Vec<_> = desk.feeds().into_iter().filter_map(|feed| feed.1).collect();
        lists.dedup();
        let all = [
            "e4",
            "e4 e5",
            "e4 e5 Nf3",
            "e4 e5 Nf3 Nc6",
            "e4 e5 Nf3 Nc6 Bb5",
        ];
        let from = lists.iter().position(|list| !list.is_empty()).unwrap();
        assert_eq!(
            lists[from..],
            all,
            "citrine {is_citrine}, away {is_away}, seed {seed}"
        );
        assert_eq!(*desk.cable.snapshot().game, game(whole));
        desk.hand("a7a6");
        desk.pass(Duration::from_secs(10));
        let feeds = desk.feeds();
        let last = feeds.last().unwrap().1.clone();
        assert_eq!(last.as_deref(), Some("e4 e5 Nf3 Nc6 Bb5 a6"));
    }
}

#[test]
fn what_the_hand_plays_for_both_colours_while_the_board_is_away_and_the_page_comes_again_counts() {
    for seed in 0..30 {
        let mut desk = Desk::new(true, seed);
        desk.sets_up(START);
        desk.pass(Duration::from_secs(120));
        desk.hand("e2e4");
        desk.pass(Duration::from_secs(10));
        desk.hand("e7e5");
        desk.pass(Duration::from_secs(10));
        let now = desk.now;
        desk.cable.unplug(now, "the cable");
        desk.pass(Duration::from_secs(1));
        // The page is loaded again.
        desk.sets_up(&game("e2e4 e7e5").fen().to_string());
        desk.pass(Duration::from_secs(1));
        desk.feeds();
        desk.hand("g1f3 b8c6 f1b5");
        while desk.cable.board.poll_transmit().is_some() {}
        let now = desk.now;
        desk.cable.plug(now);
        desk.pass(Duration::from_secs(120));
        let mut lists: Vec<_> = desk.feeds().into_iter().filter_map(|feed| feed.1).collect();
        lists.dedup();
        let from = lists.iter().position(|list| !list.is_empty());
        let all = ["Nf3", "Nf3 Nc6", "Nf3 Nc6 Bb5"];
        assert_eq!(lists[from.unwrap_or(0)..], all, "seed {seed}");
        assert_eq!(
            *desk.cable.snapshot().game,
            game("e2e4 e7e5 g1f3 b8c6 f1b5")
        );
    }
}

/// The moves were made before any page came: the last one of them may answer it, as it may a program.
#[test]
fn of_a_game_that_nobody_plays_a_page_is_given_the_last_move_at_most() {
    let whole = "e2e4 e7e5 g1f3 b8c6 f1b5";
    for is_citrine in [true, false] {
        for (plies, given) in [(1, ""), (2, ""), (3, ""), (4, "Bb5")] {
            let mut desk = Desk::new(is_citrine, 0);
            desk.pass(Duration::from_secs(30));
            for m in whole.split_whitespace() {
                desk.hand(m);
                desk.pass(Duration::from_secs(10));
            }
            assert_eq!(*desk.cable.snapshot().game, game(whole));
            desk.sets_up(&game(whole).truncated(plies).fen().to_string());
            desk.pass(Duration::from_secs(30));
            let lists = desk.feeds().into_iter().filter_map(|feed| feed.1);
            let longest = lists.max_by_key(String::len);
            assert_eq!(
                longest.as_deref(),
                Some(given),
                "citrine {is_citrine}, {plies}"
            );
        }
    }
}

#[test]
fn each_move_is_one_feed_and_the_pieces_match_until_they_stand_otherwise() {
    for (is_citrine, seed) in [true, false]
        .into_iter()
        .flat_map(|kind| (0..30).map(move |n| (kind, n)))
    {
        let mut desk = Desk::new(is_citrine, seed);
        desk.sets_up(START);
        desk.pass(Duration::from_secs(120));
        assert_eq!(desk.feeds().last().unwrap().2, Some(true));
        let whole = "e2e4 e7e5 g1f3 b8c6";
        for plies in 1..=4 {
            let played = game(whole).truncated(plies);
            desk.hand(&played.uci_moves().last().unwrap().to_string());
            desk.pass(Duration::from_secs(20));
            let feed = (
                played.position().board().to_string(),
                Some(played.sans().join(" ")),
                Some(true),
            );
            assert_eq!(desk.feeds(), [feed], "citrine {is_citrine}, seed {seed}");
        }
        // Without `setup`: the pieces, once.
        let mut desk = Desk::new(is_citrine, seed);
        desk.subscribes();
        desk.pass(Duration::from_secs(20));
        desk.feeds();
        for plies in 1..=4 {
            let played = game(whole).truncated(plies);
            desk.hand(&played.uci_moves().last().unwrap().to_string());
            desk.pass(Duration::from_secs(20));
            let feed = (played.position().board().to_string(), None, None);
            assert_eq!(desk.feeds(), [feed], "citrine {is_citrine}, seed {seed}");
        }
    }
}

proptest! {
    /// Whatever a client sends: each call has one answer with its id, and lists change by one move at a time.
    #[test]
    fn whatever_a_client_sends_each_call_is_answered_once(
        acts in prop::collection::vec((0..8_u8, 0..4_usize, "\\PC{0,30}"), 0..40)
    ) {
        let games = ["", "e2e4", "e2e4 e7e5", "d2d4"];
        let mut rig = Rig::new();
        for (what, which, text) in acts {
            let before = rig.said.len();
            let id = json!(10 + which);
            match what {
                0 => rig.calls(&text),
                1 => rig.sets_up(START),
                2 => rig.sets_up(&text),
                3 => rig.calls(&json!({"id": id, "call": text}).to_string()),
                4 => rig.calls(&json!({"id": id, "call": "call", "param": {"id": 1, "method": "flip", "param": {"flip": true}}}).to_string()),
                5 => rig.calls(&json!({"id": id, "call": "unsubscribe", "param": {"id": 1}}).to_string()),
                _ => rig.holds(games[which], what == 6),
            }
            let new = &rig.said[before..];
            let answers = new.iter().filter(|said| said["response"] != "feed").count();
            let calls = match what { 1 | 2 => 2, 6 | 7 => 0, _ => 1 };
            prop_assert_eq!(answers, calls);
            if (3..6).contains(&what) {
                prop_assert_eq!(&new[0]["id"], &id);
            }
        }
        let mut before: Vec<Value> = Vec::new();
        for said in &rig.said {
            if said["response"] == "call" && said["id"] == 3 {
                before.clear();
            }
            let Some(list) = said["param"]["san"].as_array() else { continue };
            let common = before.iter().zip(list).filter(|(a, b)| a == b).count();
            prop_assert!(list.len() <= before.len() + 1);
            prop_assert_eq!(common, before.len().min(list.len()));
            before.clone_from(list);
        }
    }
}
