//! Commands over the broker for our boards: from clients of other daemons, and from anybody who presses a button.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Instant, SystemTime},
};

use serde_json::Value;
use tokio::task::JoinSet;
use tracing::info;

use super::{
    complaints::Complaints,
    guests::{Guest, Guests, Told},
    messages::{Answer, COMMAND_LIFE, Envelope, MAX_COMMAND, MAX_ID, Online},
    orders::{self, Order},
    outbox::Message,
    senders::{Outcome, Senders, Verdict},
    settings::DaemonName,
    topics::Topic,
    turns::Turns,
};
use crate::{
    bus::{
        BoardHandle, Bus,
        clients::{Client, ClientKind, Presence},
    },
    front_end::buttons,
    system::clock,
    text::lines::printable,
    vocabulary::{BoardName, ClientId, ClientName, Command},
};

/// Buttons that wait for an opponent at once.
const MAX_BUTTONS: usize = 16;

/// Who says what to our boards.
pub struct Commands {
    daemon: DaemonName,
    bus: Bus,
    /// Numbers for clients.
    number: Arc<dyn Fn() -> ClientId + Send + Sync>,
    guests: Guests,
    presences: BTreeMap<ClientId, Presence>,
    /// Which statement of each client's game was passed on last.
    stated: BTreeMap<ClientId, u64>,
    senders: Senders,
    turns: Turns,
    buttons: JoinSet<Option<Pressed>>,
}

/// What came of a button that somebody waits for.
struct Pressed {
    from: DaemonName,
    id: String,
    outcome: Result<(), String>,
}

/// Why a command is not carried out, in words for its sender.
enum Refusal {
    /// For good: it is refused again whenever it comes.
    Final(String),
    /// There is no room for it now: it may come again.
    NoRoom(String),
}

impl Commands {
    /// Nobody has said anything yet.
    pub fn new(
        daemon: DaemonName,
        bus: Bus,
        number: Arc<dyn Fn() -> ClientId + Send + Sync>,
    ) -> Self {
        Self {
            daemon,
            bus,
            number,
            guests: Guests::default(),
            presences: BTreeMap::new(),
            stated: BTreeMap::new(),
            senders: Senders::default(),
            turns: Turns::default(),
            buttons: JoinSet::new(),
        }
    }

    /// We have so many boards now.
    pub fn have_boards(&mut self, boards: usize) {
        self.senders.have_boards(boards);
    }

    /// The guest that has this number here.
    pub fn guest(&self, here: ClientId) -> Option<Guest> {
        self.guests.guest(here)
    }

    /// A daemon says whether it is there: what our boards are to be told of its clients.
    pub fn online(&mut self, daemon: &DaemonName, said: &Online) -> Vec<Told> {
        let told = if said.online {
            let mut told = self.guests.started(daemon, said.epoch);
            told.extend(self.guests.away(daemon, false));
            told
        } else {
            self.guests.away(daemon, true)
        };
        self.forget_lost(&told);
        told
    }

    /// All clients of other daemons are lost: what our boards are to be told.
    pub fn all_lost(&mut self) -> Vec<Told> {
        let told = self.guests.all_lost();
        self.forget_lost(&told);
        told
    }

    fn forget_lost(&mut self, told: &[Told]) {
        for (_, command) in told {
            if let Command::Lost { client } = command {
                self.presences.remove(client);
                self.stated.remove(client);
            }
        }
    }

    /// The answer to a button whose outcome has come.
    pub async fn pressed(&mut self) -> Option<Option<Message>> {
        let pressed = self.buttons.join_next().await?;
        Some(pressed.ok().flatten().map(|pressed| {
            let Pressed { from, id, outcome } = pressed;
            self.senders.conclude(&from, &id, came_of(&outcome));
            answer(&from, &id, outcome)
        }))
    }

    /// A button of Home Assistant's.
    pub fn press(&mut self, board: Option<BoardHandle>, payload: &[u8]) {
        if payload == b"ready" {
            let order = orders::read(&Value::String("ready".to_owned()));
            if let (Ok(Order::Say(saying)), Some(board)) = (order, board) {
                let (bus, name) = (self.bus.clone(), board.name.clone());
                let pressed = self.button(async move {
                    if let Err(why) = buttons::say(&bus, &board, saying).await {
                        info!(board = %name, "a button over the broker does nothing: {why}");
                    }
                    None
                });
                if let Err(Refusal::Final(why) | Refusal::NoRoom(why)) = pressed {
                    info!("a button over the broker does nothing: {why}");
                }
            }
        }
    }

    /// A command for a board of ours, `here` if there is such a board. Returns the answers to all that are carried out now, unless they
    /// come later, or never.
    pub fn command(
        &mut self,
        now: Instant,
        at: SystemTime,
        (name, here): (&BoardName, Option<BoardHandle>),
        payload: &[u8],
        complaints: &mut Complaints,
    ) -> Vec<Message> {
        let envelope = if payload.len() > MAX_COMMAND {
            Err(format!("a command has at most {MAX_COMMAND} bytes"))
        } else {
            serde_json::from_slice::<Envelope>(payload).map_err(|error| error.to_string())
        };
        let envelope = match envelope {
            Ok(envelope) => envelope,
            Err(error) => {
                let error = printable(error.as_bytes(), 200);
                complaints.complain(
                    name.as_str(),
                    &format!("a command for {name} over the broker is not understood: {error}"),
                );
                return Vec::new();
            }
        };
        if envelope.id.is_empty() || envelope.id.len() > MAX_ID {
            let words = format!(
                "a command of {} has no identifier of at most {MAX_ID} bytes",
                envelope.from
            );
            complaints.complain(envelope.from.as_str(), &words);
            return Vec::new();
        }
        match self.admit(now, at, &envelope) {
            Ok(true) => {}
            Ok(false) => return Vec::new(),
            Err(outcome) => {
                let (from, id) = (&envelope.from, &envelope.id);
                return vec![concluded(from, id, outcome, complaints)];
            }
        }
        let ready = match self.turns.take(now, name, envelope) {
            Ok(ready) => ready,
            Err(late) => {
                let words = "the command comes after one that follows it".to_owned();
                return vec![self.concludes(&late, Err(Refusal::Final(words)), complaints)];
            }
        };
        let ready = ready.into_iter();
        ready
            .filter_map(|envelope| self.carried_out(name, here.clone(), &envelope, complaints))
            .collect()
    }

    /// When [`Self::overdue`] has something.
    pub fn deadline(&self) -> Option<Instant> {
        self.turns.deadline()
    }

    /// What has waited in vain for a command before it, and the board it is for: to be [carried out](Self::carried_out).
    pub fn overdue(&mut self, now: Instant) -> Vec<(BoardName, Envelope)> {
        self.turns.overdue(now)
    }

    /// Whether a command is to be carried out, or passed over without a word.
    ///
    /// # Errors
    /// What is answered at once: it was carried out before, or why it is not.
    fn admit(
        &mut self,
        now: Instant,
        at: SystemTime,
        envelope: &Envelope,
    ) -> Result<bool, Result<(), String>> {
        let until = envelope
            .is_good(at)
            .map_err(|late| Err(late.words().to_owned()))?;
        match self
            .senders
            .judge(now, at, &envelope.from, &envelope.id, until)
        {
            Verdict::New => Ok(true),
            Verdict::Again(Outcome::Pending) => Ok(false),
            Verdict::Again(Outcome::Done) => Err(Ok(())),
            Verdict::Again(Outcome::Refused) => Err(Err(
                "the command was refused before, and is not tried again".to_owned(),
            )),
            Verdict::TooMany(true) => {
                Err(Err("there are too many commands: wait a second".to_owned()))
            }
            Verdict::TooMany(false) => Ok(false),
        }
    }

    /// Carries a command out; returns its answer, unless that comes later.
    pub fn carried_out(
        &mut self,
        name: &BoardName,
        here: Option<BoardHandle>,
        envelope: &Envelope,
        complaints: &mut Complaints,
    ) -> Option<Message> {
        let here = here.ok_or_else(|| format!("{} has no board `{name}`", self.daemon));
        let outcome = self.carry_out(here, envelope).transpose()?;
        Some(self.concludes(envelope, outcome, complaints))
    }

    /// The answer to a command that was taken; what came of it is remembered.
    fn concludes(
        &mut self,
        Envelope { from, id, .. }: &Envelope,
        outcome: Result<(), Refusal>,
        complaints: &mut Complaints,
    ) -> Message {
        let outcome = match outcome {
            Err(Refusal::NoRoom(words)) => {
                self.senders.forget(from, id);
                return concluded(from, id, Err(words), complaints);
            }
            Err(Refusal::Final(words)) => Err(words),
            Ok(()) => Ok(()),
        };
        self.senders.conclude(from, id, came_of(&outcome));
        concluded(from, id, outcome, complaints)
    }

    /// Carries a command out, or says why not; `None` if its answer comes later.
    fn carry_out(
        &mut self,
        here: Result<BoardHandle, String>,
        envelope: &Envelope,
    ) -> Result<Option<()>, Refusal> {
        let order = orders::read(&envelope.command);
        let order = order.map_err(|error| Refusal::Final(error.to_string()))?;
        let here = here.map_err(Refusal::Final)?;
        let board = &here.name;
        let (mut begun, mut of) = (None, None);
        let statement = match order {
            Order::Statement(command) => command,
            Order::Again(command, again) => {
                begun = Some(again);
                command
            }
            Order::OfGame(command, number) => {
                of = Some(number);
                command
            }
            Order::PutOut => {
                give(&here, Command::PutOut).map_err(Refusal::NoRoom)?;
                return Ok(Some(()));
            }
            Order::Say(saying) => {
                let bus = self.bus.clone();
                let (from, id) = (envelope.from.clone(), envelope.id.clone());
                self.button(async move {
                    let said = buttons::say(&bus, &here, saying).await;
                    let outcome = said.map_err(|why| why.to_string());
                    Some(Pressed { from, id, outcome })
                })?;
                return Ok(None);
            }
            Order::Promote(role) => {
                let bus = self.bus.clone();
                let (from, id) = (envelope.from.clone(), envelope.id.clone());
                self.button(async move {
                    let said = buttons::promote(&bus, &here, role).await;
                    let outcome = said.map_err(|why| why.to_string());
                    Some(Pressed { from, id, outcome })
                })?;
                return Ok(None);
            }
        };
        let Some(there) = statement.client() else {
            return Ok(Some(()));
        };
        let guest = Guest {
            daemon: envelope.from.clone(),
            epoch: envelope.epoch,
            client: there,
        };
        let lost = self.guests.comes(&guest);
        self.forget_lost(&lost);
        for (board, lost) in lost {
            // One whose board has too much to do is forgotten there when another wants it.
            if let Some(board) = self.bus.board(board.as_str()) {
                let _ = give(&board, lost);
            }
        }
        let client = self.guests.number(&guest, board, || (self.number)());
        if begun.is_some_and(|begun| begun.is_so(client, &here.state())) {
            return Ok(Some(()));
        }
        if of.is_some_and(|number| self.stated.get(&client) != Some(&number)) {
            let words = "the game that it is about has not been stated: it may be lost";
            return Err(Refusal::Final(words.to_owned()));
        }
        let mut command = statement.of(client);
        let states = match &command {
            Command::Target { number, .. } => Some(*number),
            _ => None,
        };
        if let Command::Target { label, .. } = &mut command {
            *label = label.elsewhere(guest.daemon.as_str());
            self.lists(client, label.clone(), board);
        }
        let leaves = command.leaves();
        give(&here, command).map_err(Refusal::NoRoom)?;
        if let Some(number) = states {
            self.stated.insert(client, number);
        }
        if leaves && self.guests.leaves(&guest, board) {
            self.presences.remove(&client);
            self.stated.remove(&client);
        }
        Ok(Some(()))
    }

    /// Lists a client of another daemon.
    fn lists(&mut self, id: ClientId, label: ClientName, board: &BoardName) {
        let clients = self.bus.clients();
        let presence = self
            .presences
            .entry(id)
            .or_insert_with(|| clients.enter(Client::new(id, label.clone(), ClientKind::Remote)));
        presence.change(|client| {
            client.label = label;
            client.board = Some(board.clone());
        });
    }

    /// Waits for what comes of a button.
    fn button(
        &mut self,
        pressed: impl Future<Output = Option<Pressed>> + Send + 'static,
    ) -> Result<(), Refusal> {
        if self.buttons.len() >= MAX_BUTTONS {
            let words = "too many buttons wait for what comes of them: try again in a moment";
            return Err(Refusal::NoRoom(words.to_owned()));
        }
        self.buttons.spawn(pressed);
        Ok(())
    }
}

/// Says a command to a board, unless too many wait there.
pub fn give(board: &BoardHandle, command: Command) -> Result<(), String> {
    let given = board.commands.try_send(command);
    given.map_err(|_| format!("{} has too much to do now: try again", board.name))
}

fn came_of(outcome: &Result<(), String>) -> Outcome {
    match outcome {
        Ok(()) => Outcome::Done,
        Err(_) => Outcome::Refused,
    }
}

/// The answer to a command whose outcome is known; a failure is told here too.
fn concluded(
    from: &DaemonName,
    id: &str,
    outcome: Result<(), String>,
    complaints: &mut Complaints,
) -> Message {
    if let Err(words) = &outcome {
        complaints.complain(from.as_str(), &format!("{from}: {words}"));
    }
    answer(from, id, outcome)
}

fn answer(to: &DaemonName, id: &str, outcome: Result<(), String>) -> Message {
    let answer = Answer::to(clock::now(), id, outcome);
    let payload = serde_json::to_string(&answer).unwrap_or_default();
    Message::once(&Topic::answers(to), payload).within(COMMAND_LIFE)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use tokio::sync::{broadcast, mpsc};

    use super::*;
    use crate::{
        bus::{
            CAPACITY, COMMANDS, Publisher,
            pairings::{Pairing, Saying},
        },
        vocabulary::Snapshot,
    };

    /// A house with one board, whose opponent takes a draw offer.
    struct Rig {
        bus: Bus,
        board: BoardHandle,
        commands: Commands,
        complaints: Complaints,
    }

    impl Rig {
        fn new() -> Self {
            let (publications, _) = broadcast::channel(CAPACITY);
            let name: BoardName = "table".parse().unwrap();
            let board = BoardHandle {
                name: name.clone(),
                way: "in a test".into(),
                commands: mpsc::channel(COMMANDS).0,
                publisher: Publisher::new(publications.clone(), Snapshot::new(name)),
            };
            let bus = Bus::new(publications, vec![board.clone()]);
            let number = Arc::new(|| ClientId(1));
            let commands = Commands::new("hall-1".parse().unwrap(), bus.clone(), number);
            Self {
                bus,
                board,
                commands,
                complaints: Complaints::default(),
            }
        }

        /// Says a command; what is answered at once.
        fn says(&mut self, id: &str, command: &Value) -> Vec<Answer> {
            let at = SystemTime::now();
            let until = humantime::format_rfc3339_seconds(at + Duration::from_mins(1)).to_string();
            self.gets(
                at,
                &json!({ "id": id, "from": "hall-2", "expires": until, "command": command }),
            )
        }

        fn gets(&mut self, at: SystemTime, envelope: &Value) -> Vec<Answer> {
            let named = (&self.board.name.clone(), Some(self.board.clone()));
            let payload = envelope.to_string();
            let answers = self.commands.command(
                Instant::now(),
                at,
                named,
                payload.as_bytes(),
                &mut self.complaints,
            );
            answers.iter().map(read).collect()
        }
    }

    fn read(message: &Message) -> Answer {
        serde_json::from_slice(&message.payload).unwrap()
    }

    #[tokio::test]
    async fn a_command_that_comes_twice_is_answered_as_the_first_and_not_before_it() {
        let mut rig = Rig::new();
        let draw = json!("draw");
        let pairing = Pairing {
            can: vec![Saying::Draw],
            ..Pairing::default()
        };
        let mut entry = rig.bus.pairings().enter(rig.board.name.clone(), pairing);
        assert_eq!(rig.says("1", &draw), []);
        assert_eq!(rig.says("1", &draw), [], "its opponent has not answered");
        let hears = async {
            let said = entry.said().await;
            said.answer.send(Err("no, thanks".to_owned())).unwrap();
        };
        let (pressed, ()) = tokio::join!(rig.commands.pressed(), hears);
        let error = read(&pressed.unwrap().unwrap()).error;
        assert!(error.unwrap().contains("no, thanks"));
        let again = rig.says("1", &draw);
        assert!(!again[0].done && again[0].error.is_some(), "{again:?}");
        // What is no command is refused both times.
        for _ in 0..2 {
            assert!(rig.says("2", &json!("castle"))[0].error.is_some());
        }
    }

    #[test]
    fn a_command_that_lacks_something_is_refused_if_its_sender_is_known() {
        let mut rig = Rig::new();
        let mut gets = |envelope: Value| rig.gets(SystemTime::now(), &envelope);
        let refused = gets(json!({ "id": "1", "from": "hall-2", "command": "ready" }));
        let error = refused[0].error.as_deref().unwrap_or_default();
        assert!(error.contains("expires"), "{refused:?}");
        assert_eq!(gets(json!({ "id": 1, "from": "hall-2" })), []);
        assert_eq!(gets(json!({ "id": "", "from": "hall-2" })), []);
    }

    #[tokio::test]
    async fn a_button_for_which_there_is_no_room_is_refused_and_may_come_again() {
        let mut rig = Rig::new();
        let draw = json!("draw");
        let mut entry = rig
            .bus
            .pairings()
            .enter(rig.board.name.clone(), Pairing::default());
        for number in 0..MAX_BUTTONS {
            assert_eq!(rig.says(&number.to_string(), &draw), []);
        }
        let refused = rig.says("x", &draw);
        assert!(refused[0].error.is_some(), "{refused:?}");
        let hears = async {
            let _ = entry.said().await.answer.send(Ok(()));
        };
        let (pressed, ()) = tokio::join!(rig.commands.pressed(), hears);
        assert!(read(&pressed.unwrap().unwrap()).done);
        assert_eq!(rig.says("x", &draw), [], "it waits for its opponent now");
    }
}
