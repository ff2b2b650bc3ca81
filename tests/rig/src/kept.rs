//! A daemon that starts with kept values that were edited by hand, or written by another version: two boards and the clients that
//! play there. Whatever the values say, it must come to rest.

use std::{
    sync::OnceLock,
    time::{Duration, Instant, SystemTime},
};

use boardbridge::{
    board::claims::RETURN_WAIT,
    chess::game::Game,
    front_end::{
        lichess::{
            objects,
            session::LichessAccount as Lichess,
            settings::{Accept, Settings, TakeBacks},
        },
        link::{Player, Side, session as link},
        opponent::{
            session::{OpponentGame as Opponent, Place, SavedOpponent as Opposed},
            settings::Hand,
        },
        whitepawn::session::{Action, AppConversation as App, Identity},
    },
    vocabulary::{BoardName, ClientId, ClientName, Command, Event, Snapshot},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use simulators::HandAction;

use crate::{
    cable::{Cable, Passed},
    clock::Clocked,
    program::Program,
};

/// Rounds of commands and snapshots within one moment: some twenty are usual after a start.
const MAX_ROUNDS: usize = 500;
/// By then everything is at rest: longer than any wait of a client for another.
const REST: Duration = Duration::from_mins(15);
/// Commands that are no unrest in as long again: a client that cannot get its boards states its game once a minute, by two commands
/// at each of two boards, and a game that is over may begin again by itself.
const MAX_COMMANDS: usize = 100;

/// The clients of the two boards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clients {
    /// The boards are linked, and an app wants the second one.
    LinkAndApp,
    /// An engine plays on the first, an app on the second.
    EngineAndApp,
    /// A game on Lichess on the first; a link waits for that board.
    LichessAndLink,
    /// Two programs in one game on the first, a program that has lost its connection on the second; a link waits for both.
    ProgramsAndLink,
}

impl Clients {
    /// Each kind.
    pub const ALL: [Self; 4] = [
        Self::LinkAndApp,
        Self::EngineAndApp,
        Self::LichessAndLink,
        Self::ProgramsAndLink,
    ];
}

/// One change of what was kept.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    /// Which of all values within it, counted through.
    pub at: u16,
    /// What becomes of it.
    pub how: u8,
}

/// What such clients keep in mid-game, also what is left out because it is as usual: an edit finds only what is there.
pub fn kept_by(clients: Clients) -> &'static Value {
    static KEPT: [OnceLock<Value>; 4] = [const { OnceLock::new() }; 4];
    KEPT[clients as usize].get_or_init(|| {
        let mut kept = World::in_play(clients).kept();
        for board in ["first", "second"] {
            if let Some(board) = kept.pointer_mut(&format!("/{board}/rest")) {
                spell_out(board, &usual());
            }
        }
        kept
    })
}

/// What is left out of a board's value.
fn usual() -> Value {
    json!({
        "held": {
            "base": 0, "lead": [], "by_hand_from": 0, "found": 0, "seen": null, "opening": "known", "suspected": false,
            "unconfirmed": false, "listed": null, "remembered": false,
        },
        "claims": {"kept": null},
        "verdict": {
            "end": null, "result": null, "untold": null, "programs": null, "sign": null, "unjudged": false,
        },
        "leading": {"leads": false, "new_game": false, "by_hand": false, "left": null, "turned": false},
        "hand": {"plays": null, "put_to_start": 0},
        "identity": {"over": false, "begins": false},
        "sent": null,
        "driver": null,
    })
}

/// Adds what is missing.
fn spell_out(value: &mut Value, usual: &Value) {
    let (Some(value), Some(usual)) = (value.as_object_mut(), usual.as_object()) else {
        return;
    };
    for (key, usual) in usual {
        spell_out(value.entry(key).or_insert_with(|| usual.clone()), usual);
    }
}

/// How many values that is, each with those within it: the numbers of an [`Edit`] begin again after that.
///
/// # Panics
/// If they are more than an edit can count.
pub fn values_of(clients: Clients) -> u16 {
    match count(kept_by(clients)).try_into() {
        Ok(count) => count,
        Err(error) => panic!("{error}"),
    }
}

/// The claims to both boards, within what is kept.
pub fn claims(kept: &mut Value) -> impl Iterator<Item = &mut Value> {
    let boards = kept.as_object_mut().into_iter().flatten();
    let boards = boards.filter(|(name, _)| ["first", "second"].contains(&name.as_str()));
    boards.filter_map(|(_, board)| board.pointer_mut("/rest/claims"))
}

/// Whether the app and Lichess are there again after the start. Programs, which are clients of the daemon, never are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// Before their boards are left.
    Soon,
    /// Never.
    Never,
}

/// Starts the daemon with what such clients keep in mid-game, edited, and lets a long time pass.
///
/// # Panics
/// If it does not come to rest.
pub fn comes_to_rest(clients: Clients, back: Back, edit: impl FnOnce(&mut Value)) {
    let mut kept = kept_by(clients).clone();
    edit(&mut kept);
    let mut world = World::started(clients, &kept);
    if back == Back::Soon {
        world.pass(RETURN_WAIT / 3);
        world.connects();
    }
    world.pass(REST);
    let before = world.commands;
    world.pass(REST);
    let commands = world.commands - before;
    assert!(
        commands <= MAX_COMMANDS,
        "{commands} commands: {}",
        world.story()
    );
}

impl Edit {
    /// Makes the change.
    pub fn apply(self, kept: &mut Value) {
        let count = count(kept);
        let other = nth(
            kept,
            &mut ((usize::from(self.at) * 31 + usize::from(self.how)) % count),
        )
        .cloned();
        let Some(value) = nth(kept, &mut (usize::from(self.at) % count)) else {
            return;
        };
        *value = match (self.how % 12, &mut *value) {
            (0..4, Value::Bool(is)) => (!*is).into(),
            (0, Value::Number(_)) => u64::MAX.into(),
            (1, Value::Number(_)) => 0.into(),
            (2, Value::Number(number)) => number.as_u64().unwrap_or(1).saturating_add(1).into(),
            (3, Value::Number(number)) => number.as_u64().unwrap_or(1).saturating_sub(1).into(),
            (0..3, Value::Array(items)) => {
                let twice = items.iter().chain(&*items).cloned();
                twice.collect()
            }
            (3, Value::Array(items)) => {
                items.pop();
                Value::Array(std::mem::take(items))
            }
            (0..4, Value::Null) => other.unwrap_or_default(),
            (9, Value::Number(_)) => i64::MAX.into(),
            (4, _) => Value::Null,
            (5, _) => json!("e2e4"),
            (6, _) => json!(true),
            (7, _) => json!(-1),
            (8, Value::Object(fields)) => {
                let name = fields.keys().next().cloned();
                name.and_then(|name| fields.remove(&name));
                Value::Object(std::mem::take(fields))
            }
            _ => other.unwrap_or_default(),
        };
    }
}

fn count(value: &Value) -> usize {
    let within: usize = match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    };
    1 + within
}

fn nth<'a>(value: &'a mut Value, n: &mut usize) -> Option<&'a mut Value> {
    if *n == 0 {
        return Some(value);
    }
    *n -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, n)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, n)),
        _ => None,
    }
}

struct World {
    cables: [Cable; 2],
    link: Option<link::LinkedGame>,
    app: Option<App>,
    opponent: Option<Opponent>,
    lichess: Option<Lichess>,
    now: Instant,
    /// Given to the boards so far.
    commands: usize,
    last: String,
}

fn read<T: DeserializeOwned>(kept: &Value, name: &str) -> Option<T> {
    serde_json::from_value(kept[name].clone()).ok()
}

fn players(clients: [ClientId; 2]) -> [Player; 2] {
    let player = |client, name: &str| Player {
        client,
        label: ClientName::Link(name.into()),
        name: name.into(),
    };
    let [first, second] = clients;
    [player(first, "second"), player(second, "first")]
}

impl World {
    /// The daemon starts with this.
    fn started(clients: Clients, kept: &Value) -> Self {
        let now = Instant::now();
        let mut cables =
            [true, false].map(|is_citrine| Cable::novag(is_citrine, Duration::from_millis(700)));
        for (cable, name) in cables.iter_mut().zip(["first", "second"]) {
            if let Some(memory) = read(kept, name) {
                cable.core.recall(now, memory);
            }
        }
        let boards = cables.each_ref().map(Cable::snapshot);
        let [first, second] = &boards;
        let has = |these: &[Clients]| these.contains(&clients);
        let linked = [
            Clients::LinkAndApp,
            Clients::LichessAndLink,
            Clients::ProgramsAndLink,
        ];
        let link = has(&linked).then(|| {
            if let Some(memory) = read::<link::SavedLink>(kept, "link") {
                let players = players(memory.clients());
                link::LinkedGame::restored(now, memory, players, [first, second])
            } else {
                let players = players([ClientId(101), ClientId(102)]);
                link::LinkedGame::new(now, players, Side::First, [first, second])
            }
        });
        let identity = Identity {
            version: "1".to_owned(),
            serial: String::new(),
        };
        let label = ClientName::App("tcp".into());
        let app =
            has(&[Clients::LinkAndApp, Clients::EngineAndApp]).then(|| match read(kept, "app") {
                Some(memory) => App::restored(memory, label.clone(), identity.clone(), second),
                None => App::new(ClientId(103), label.clone(), identity.clone()),
            });
        let opponent = has(&[Clients::EngineAndApp]).then(|| {
            let memory: Option<Opposed> = read(kept, "opponent");
            let memory = memory.filter(|memory| memory.suits(Some(Hand::White)));
            let place = Place {
                client: memory
                    .as_ref()
                    .map_or(ClientId(104), |memory| memory.seat.client),
                board: BoardName::default(),
                hand: Some(Hand::White),
            };
            let label = ClientName::Engine("engine".into());
            match memory {
                Some(memory) => Opponent::restored(memory, place, label, first),
                None => Opponent::new(place, label),
            }
        });
        let settings = Settings {
            accept: Accept::None,
            take_backs: TakeBacks::Ask,
            url: "https://lichess.org".to_owned(),
        };
        let lichess = has(&[Clients::LichessAndLink]).then(|| match read(kept, "lichess") {
            Some(memory) => Lichess::restored(now, memory, settings.clone(), first),
            None => Lichess::new(ClientId(105), settings.clone()),
        });
        for cable in &mut cables {
            cable.plug(now);
        }
        Self {
            cables,
            link,
            app,
            opponent,
            lichess,
            now,
            commands: 0,
            last: String::new(),
        }
    }

    /// Every client is in the middle of a game, or waits for one.
    fn in_play(clients: Clients) -> Self {
        let mut world = Self::started(clients, &Value::Null);
        if clients == Clients::ProgramsAndLink {
            world.programs_play();
        }
        world.connects();
        if let Some(app) = &mut world.app {
            app.line("the test", b"NG1Y");
        }
        // Longer than it takes to set a board up.
        let wait = Duration::from_mins(2);
        for (board, m) in [(0, "e2e4"), (1, "e7e5"), (0, "g1f3")] {
            world.pass(wait);
            if let Ok(m) = m.parse() {
                world.cables[board].hand(world.now, HandAction::Move(m));
            }
        }
        world.pass(wait);
        if clients == Clients::ProgramsAndLink {
            let client = ClientId(108);
            world.cables[1].command(world.now, Command::Lost { client });
            world.pass(wait);
        }
        let plies = world.cables[0].snapshot().game.len();
        assert!(plies > 0, "nobody has played: {}", world.story());
        world
    }

    /// The app and Lichess are connected.
    fn connects(&mut self) {
        if let Some(app) = &mut self.app {
            app.line("the test", b"H0010023");
        }
        if let Some(lichess) = &mut self.lichess {
            let game = json!({"gameId": "Abcd1234", "color": "white", "fen": "", "source": "friend", "speed": "rapid",
                "variant": {"key": "standard"}, "compat": {"board": true}});
            let start = json!({"type": "gameStart", "game": game});
            let state = json!({"type": "gameState", "moves": "", "wtime": 9000, "btime": 9000, "status": "started"});
            let full = json!({"type": "gameFull", "id": "Abcd1234", "white": {"name": "Me"}, "initialFen": "startpos",
                "state": state});
            lichess.connected();
            if let Ok(event) = objects::read(start.to_string().as_bytes()) {
                lichess.event(event);
            }
            if let Ok(line) = objects::read(full.to_string().as_bytes()) {
                lichess.line(self.now, SystemTime::UNIX_EPOCH, line);
            }
        }
    }

    /// Programs have the boards before others ask for them, and await the hand.
    fn programs_play(&mut self) {
        for (board, client, label) in [
            (0, 106, "10.0.0.5:4000"),
            (0, 107, "10.0.0.5:4001"),
            (1, 108, "10.0.0.6:4000"),
        ] {
            let client = ClientId(client);
            let mut program = Program {
                client,
                label,
                number: 0,
            };
            for command in [program.states(&Game::standard()), program.awaits(true)] {
                self.cables[board].command(self.now, command);
            }
        }
    }

    fn kept(&self) -> Value {
        let [first, second] = self.cables.each_ref().map(|cable| cable.core.memory());
        json!({
            "first": first,
            "second": second,
            "link": self.link.as_ref().map(link::LinkedGame::memory),
            "app": self.app.as_ref().map(|app| app.memory(false)),
            "opponent": self.opponent.as_ref().map(Opponent::memory),
            "lichess": self.lichess.as_ref().map(Lichess::memory),
        })
    }

    /// Gives every client of a board its news.
    fn tell(&mut self, side: Side, events: &[Event], state: &Snapshot) {
        let now = self.now;
        if let Some(link) = &mut self.link {
            link.snapshot(now, side, state);
        }
        match side {
            Side::First => {
                if let Some(opponent) = &mut self.opponent {
                    opponent.snapshot(now, events, state);
                }
                if let Some(lichess) = &mut self.lichess {
                    lichess.snapshot(now, state);
                }
            }
            Side::Second => {
                if let Some(app) = &mut self.app {
                    app.snapshot(state);
                }
            }
        }
    }

    /// Gives the boards what their clients want; whether that is anything.
    fn ask(&mut self) -> bool {
        let before = self.commands;
        let mut asked = Vec::new();
        if let Some(link) = &mut self.link {
            for side in Side::BOTH {
                while let Some(command) = link.seats()[side.index()].poll_command() {
                    asked.push((side, command));
                }
            }
            while link.poll_notice().is_some() {}
        }
        if let Some(app) = &mut self.app {
            while let Some(action) = app.poll_action() {
                if let Action::Ask(command) = action {
                    asked.push((Side::Second, command));
                }
            }
            while app.next_message().is_some() {
                app.sent(self.now);
            }
        }
        if let Some(opponent) = &mut self.opponent {
            while let Some(command) = opponent.seat().poll_command() {
                asked.push((Side::First, command));
            }
            while opponent.poll_notice().is_some() {}
        }
        if let Some(lichess) = &mut self.lichess {
            while let Some(command) = lichess.seat().poll_command() {
                asked.push((Side::First, command));
            }
            while lichess.poll_notice().is_some() || lichess.poll_reply().is_some() {}
        }
        for (side, command) in asked {
            self.commands += 1;
            self.last = format!("{side:?} {command}");
            self.cables[side.index()].command(self.now, command);
        }
        self.commands > before
    }
}

impl Clocked for World {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }

    fn carry(&mut self) {
        for _ in 0..MAX_ROUNDS {
            let mut moved = self.ask();
            for side in Side::BOTH {
                let mut events = Vec::new();
                let cable = &mut self.cables[side.index()];
                moved |= cable.carry(self.now, |_, passed| {
                    if let Passed::Happened(event) = passed {
                        events.push(event);
                    }
                });
                let state = cable.core.poll_snapshot();
                if let Some(state) = state {
                    moved = true;
                    self.tell(side, &events, &state);
                }
            }
            if !moved {
                return;
            }
        }
        panic!("no rest: {}", self.story());
    }

    fn deadline(&self) -> Option<Instant> {
        let cables = self.cables.iter().map(Cable::deadline);
        let link = self.link.as_ref().and_then(link::LinkedGame::deadline);
        let opponent = self.opponent.as_ref().and_then(Opponent::deadline);
        let lichess = self.lichess.as_ref().and_then(Lichess::deadline);
        cables.chain([link, opponent, lichess]).flatten().min()
    }

    fn timeout(&mut self, now: Instant) {
        for cable in &mut self.cables {
            cable.timeout(now);
        }
        if let Some(link) = &mut self.link {
            link.timeout(now);
        }
        if let Some(opponent) = &mut self.opponent {
            opponent.timeout(now);
        }
        if let Some(lichess) = &mut self.lichess {
            lichess.timeout(now);
        }
    }

    fn story(&self) -> String {
        let games = self
            .cables
            .each_ref()
            .map(|cable| cable.snapshot().game.to_string());
        format!("{} commands, last {}; {games:?}", self.commands, self.last)
    }
}
