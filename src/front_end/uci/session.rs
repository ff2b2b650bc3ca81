//! One GUI's conversation, without I/O: lines, snapshots and time go in, lines and commands come out.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use shakmaty::{ByColor, CastlingMode, Color, Move, Position, Role, uci::UciMove};

use super::{
    board_choice::Choice,
    command::{self, Go, Mode, UciCommand},
    info_json::{InfoJson, NOTICE, Stand},
    introduction::introduction,
    statement::Statement,
    throttle::{INSTANT, Word},
    told::Told,
};
use crate::{
    chess::{
        game::{Game, uci},
        guidance::in_short,
    },
    front_end::seat::Seat,
    vocabulary::{
        Advice, BoardName, ClientId, ClientName, Clocks, Command, Event, Occasion, Snapshot,
    },
};

/// The most moves of an `info … pv` line: a player may play on for as long as an analysis lasts.
const MAX_PV: usize = 64;

/// How often a GUI that awaits a move is told why it does not have the board: often enough to be found by a person who looks, and
/// seldom enough to leave other lines in sight.
pub const REMINDER: Duration = Duration::from_secs(30);

/// How long after `Board ready` an event counts as its effect: the board's task answers in its next pass.
const CONFIRM_WAIT: Duration = Duration::from_secs(1);

/// An action that a session asks for.
#[derive(Debug)]
pub enum Action {
    /// Send this line to the GUI.
    Say(String),
    /// Give this command to the board chosen at that moment.
    Ask(Command),
    /// Turn to this board.
    Choose(BoardName),
    /// Send nothing more and close.
    Close,
}

/// A `go` that has not been answered.
#[derive(Debug)]
struct Search {
    mode: Mode,
    only: Vec<Move>,
    /// The hand's moves that the GUI has been shown.
    shown: Vec<Move>,
}

/// The other clients' game on the board that a GUI waits for.
#[derive(Debug)]
struct Others {
    /// The game, as far as it was sent.
    game: Arc<Game>,
    /// When the GUI was last told why it waits.
    told: Option<Instant>,
    /// When to tell it, if it awaits a move then: before that, the board may give the GUI its game.
    due: Instant,
}

/// A relay gives a sign of life every [`ALIVE_EVERY`](super::relay::session::ALIVE_EVERY). One that gives none for this
/// long is stopped, as `PyChess` stops an engine whose game is over: its game no longer has an owner.
pub const ALIVE_WAIT: Duration = Duration::from_secs(12);

/// Whether the program at the other end runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// It sends no signs of life: it is not a relay.
    Unknown,
    /// It runs, and gives another sign until then.
    Runs(Instant),
    /// It has been stopped.
    Stopped,
}

/// One GUI's conversation. See the module documentation.
#[derive(Debug)]
pub struct GuiConversation {
    seat: Seat,
    choice: Choice,
    statement: Statement,
    search: Option<Search>,
    promotion: Role,
    /// Castling is written as king takes rook (`UCI_Chess960`).
    chess960: bool,
    debug: bool,
    /// What was last sent, so that nothing is sent twice.
    told: Told,
    advice_due: bool,
    /// When `Board ready` was pressed, until the GUI is told what that confirmed.
    pressed: Option<Instant>,
    /// The GUI waits for the board.
    others: Option<Others>,
    life: Life,
    /// The board was told clocks of the game.
    timed: bool,
    json: InfoJson,
    actions: VecDeque<Action>,
}

impl GuiConversation {
    /// A conversation with a GUI that can choose among these boards; it begins with the first.
    pub fn new(client: ClientId, label: ClientName, boards: impl Into<Arc<[BoardName]>>) -> Self {
        Self {
            json: InfoJson::new(label.clone()),
            seat: Seat::new(client, label),
            choice: Choice::among(boards.into()),
            statement: Statement::default(),
            search: None,
            promotion: Role::Queen,
            chess960: false,
            debug: false,
            told: Told::default(),
            advice_due: false,
            pressed: None,
            others: None,
            life: Life::Unknown,
            timed: false,
            actions: VecDeque::new(),
        }
    }

    /// The next thing to do.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The board chosen.
    pub fn board(&self) -> Option<&BoardName> {
        self.choice.board()
    }

    /// Whether the GUI wants to be told everything (`debug on`).
    pub fn debug(&self) -> bool {
        self.debug
    }

    /// Whether it has begun a game on the chosen board.
    pub fn plays(&self) -> bool {
        self.statement.is_said()
    }

    /// Whether it waits for another client to leave the board.
    pub fn waits(&self) -> bool {
        self.others.is_some()
    }

    /// Whether the GUI awaits a move.
    pub fn awaits(&self) -> bool {
        self.search.is_some()
    }

    /// Sends the GUI a text.
    pub fn info(&mut self, text: &str) {
        self.say(format!("info string {text}"));
    }

    /// Tells the reason of a refusal, unless it was told just now.
    fn refuse(&mut self, now: Instant, why: &str) {
        if self.told.refuses(now, why) {
            self.info(why);
        }
    }

    fn say(&mut self, line: impl Into<String>) {
        self.actions.push_back(Action::Say(line.into()));
    }

    /// Passes on all of the seat's commands, in order: after this, another board may be chosen.
    fn ask(&mut self) {
        let commands = std::iter::from_fn(|| self.seat.poll_command());
        self.actions.extend(commands.map(Action::Ask));
    }

    /// When to call [`Self::timeout`].
    pub fn deadline(&self) -> Option<Instant> {
        let others = self.others.as_ref().filter(|_| self.search.is_some());
        let deadlines = [
            self.json.deadline(),
            self.told.throttle.deadline(),
            others.map(|others| others.due),
            match self.life {
                Life::Runs(until) => Some(until),
                Life::Unknown | Life::Stopped => None,
            },
        ];
        deadlines.into_iter().flatten().min()
    }

    /// These events happened on the board: tells what `Board ready` confirmed.
    pub fn happened(&mut self, events: &[Event], now: Instant) {
        let confirms = |event: &&Event| matches!(event, Event::Executed { .. } | Event::Mended);
        let Some(event) = events.iter().find(confirms) else {
            return;
        };
        let is_due = |at: Instant| now < at + CONFIRM_WAIT;
        if self.pressed.take().is_some_and(is_due)
            && let Some(board) = self.choice.board()
        {
            self.info(&format!("{board}: Board ready: {event}"));
        }
    }

    /// Time has passed.
    pub fn timeout(&mut self, now: Instant) {
        if matches!(self.life, Life::Runs(until) if until <= now) {
            self.life = Life::Stopped;
            self.seat.is_away(true);
            self.ask();
        }
        self.json.timeout(now);
        self.say_json();
        if let Some(latest) = self.told.due(now) {
            self.advise(&latest, now);
        }
        let awaits = self.awaits();
        if let Some(others) = (self.others).take_if(|others| awaits && others.due <= now)
            && let Some(latest) = self.told.latest()
        {
            self.others = Some(Others {
                told: Some(now),
                due: now + REMINDER,
                ..others
            });
            self.tell_why(&latest);
        }
    }

    /// Sends the pending `info json` lines.
    fn say_json(&mut self) {
        while let Some(line) = self.json.poll_line() {
            self.say(line);
        }
    }

    /// A line came from the GUI.
    pub fn line(&mut self, line: &str, now: Instant) {
        let command = command::parse(line);
        if self.life == Life::Stopped {
            self.seat.is_away(false);
            self.ask();
        }
        if self.life != Life::Unknown || matches!(command, UciCommand::Alive) {
            self.life = Life::Runs(now + ALIVE_WAIT);
        }
        match command {
            UciCommand::Uci => self.introduce(),
            UciCommand::IsReady => self.say("readyok"),
            UciCommand::Debug(on) => self.debug = on,
            UciCommand::SetOption { name, value } => {
                self.set_option(&name, value.as_deref(), now);
            }
            UciCommand::NewGame => {
                self.end_search();
                self.seat.announce();
                self.ask();
            }
            UciCommand::Position(text) => {
                self.end_search();
                self.json.before_go(now);
                self.position(text, now);
            }
            UciCommand::Go(go) => {
                self.end_search();
                self.json.thinking(now);
                self.go(go, now);
            }
            UciCommand::Stop => {
                self.end_search();
                self.json.before_go(now);
            }
            UciCommand::PonderHit => {
                if let Some(search) = &mut self.search {
                    let ponders = std::mem::replace(&mut search.mode, Mode::Move) != Mode::Move;
                    if !self.answer_if_shown() && ponders && !self.is_over() {
                        // No longer an analysis for the board either.
                        self.seat.awaits(true);
                        self.ask();
                    }
                }
            }
            UciCommand::Quit => {
                self.end_search();
                self.seat.leave();
                self.ask();
                self.actions.push_back(Action::Close);
            }
            UciCommand::Alive | UciCommand::Unknown => {}
        }
    }

    fn introduce(&mut self) {
        let name = self.choice.board().map_or("no board", BoardName::as_str);
        for line in introduction(name, self.choice.option()) {
            self.say(line);
        }
        self.say("uciok");
    }

    fn set_option(&mut self, name: &str, value: Option<&str>, now: Instant) {
        match (name.to_ascii_lowercase().as_str(), value) {
            ("board", Some(value)) => self.choose(value, now),
            ("board ready", _) => {
                self.pressed = Some(now);
                self.seat.ready();
                self.ask();
            }
            ("promotion", Some(value)) => match promotion(value) {
                Some(role) => {
                    self.promotion = role;
                    self.state_promotion();
                }
                None => self.info("Promotion is one of queen, rook, bishop, knight"),
            },
            ("uci_chess960", Some(value)) => self.chess960 = value.eq_ignore_ascii_case("true"),
            ("uci_infojson", Some(value)) => match value.to_ascii_lowercase().parse() {
                Ok(on) => {
                    self.json.switch(on, now);
                    self.say_json();
                }
                Err(_) => self.info("UCI_InfoJSON is true or false"),
            },
            ("board" | "promotion" | "uci_infojson", None) => {
                self.info(&format!("option {name} needs a value"));
            }
            // Options of other engines, such as Hash: the specification lets a GUI try them.
            _ => {}
        }
    }

    fn choose(&mut self, value: &str, now: Instant) {
        // What a GUI sends for an empty text.
        if value.is_empty() || value == "<empty>" {
            return;
        }
        let found = self.choice.find(value);
        if found.is_some() && found.as_ref() == self.choice.board() {
            return;
        }
        self.end_search();
        self.seat.leave();
        self.ask();
        self.turn_to(found.clone(), value);
        if found.is_none() {
            let why = self.choice.why_none();
            self.refuse(now, &why);
        }
    }

    /// Leaves the board for this one, found by `name`.
    fn turn_to(&mut self, board: Option<BoardName>, name: &str) {
        self.statement.unsay();
        self.json.turn_away();
        self.told = Told::default();
        self.others = None;
        self.choice.turn_to(board.clone(), name);
        if let Some(board) = board {
            self.actions.push_back(Action::Choose(board));
            if self.promotion != Role::Queen {
                self.state_promotion();
            }
        }
    }

    /// The boards are now these; the GUI is told of them at its next `uci`. `gone`: the board chosen is not the one it
    /// was.
    pub fn set_boards(&mut self, boards: impl Into<Arc<[BoardName]>>, gone: bool) {
        if gone && let Some(name) = self.choice.board().cloned() {
            self.info(&format!(
                "the board {name} has been taken out of BoardBridge's configuration: the game on it is over"
            ));
            self.end_search();
            self.turn_to(None, name.as_str());
        }
        if let Some(board) = self.choice.set_boards(boards.into()) {
            self.info(&format!("the board {board} is there now"));
            self.turn_to(Some(board.clone()), board.as_str());
        }
    }

    /// The board chosen is called `board` among these now. If the GUI plays there, what the board was told is told again, and the GUI
    /// notices nothing. For a GUI that waits, or has said nothing, the board is told nothing: that could push out the one that plays. Such
    /// a GUI has to state its game itself.
    pub fn goes_on_at(
        &mut self,
        board: &BoardName,
        boards: impl Into<Arc<[BoardName]>>,
        now: Instant,
    ) {
        let goes_on = self.plays() && !self.waits();
        if !goes_on && self.awaits() {
            self.info(&format!("the board is called {board} now: ask it again"));
            self.end_search();
        }
        self.choice.set_boards(boards.into());
        self.turn_to(Some(board.clone()), board.as_str());
        if !goes_on {
            return;
        }
        self.state(now);
        if let Some(search) = &mut self.search {
            search.shown.clear();
            let analyses = search.mode != Mode::Move;
            self.seat.awaits(true);
            if analyses {
                self.seat.analyses();
            }
            self.ask();
        }
    }

    fn position(&mut self, text: &str, now: Instant) {
        match self.statement.set(text) {
            Ok(()) => self.state(now),
            Err(why) => self.refuse(now, &why),
        }
    }

    /// States the game to the board.
    fn state(&mut self, now: Instant) {
        let Ok(game) = self.statement.game() else {
            return;
        };
        if let Some(others) = &mut self.others {
            others.due = now + NOTICE;
            if let Some(told) = others.told {
                others.due = others.due.max(told + INSTANT);
            }
        }
        self.seat.state(game, Occasion::default(), false);
        self.ask();
        self.statement.said();
        if self.promotion != Role::Queen {
            self.state_promotion();
        }
    }

    fn state_promotion(&mut self) {
        self.seat.promotes_to(self.promotion);
        self.ask();
    }

    fn go(&mut self, go: Go, now: Instant) {
        let game = match self.statement.game() {
            Ok(game) => game,
            Err(why) => {
                let why = why.clone();
                self.refuse(now, &why);
                self.say("bestmove 0000");
                return;
            }
        };
        if self.choice.board().is_none() {
            let why = self.choice.why_none();
            self.refuse(now, &why);
            self.say("bestmove 0000");
            return;
        }
        let position = game.position();
        let asked = go.search_moves.len();
        let legal = |m: UciMove| m.to_move(position).ok();
        let search_moves: Vec<_> = go.search_moves.into_iter().filter_map(legal).collect();
        let over = position.legal_moves().is_empty();
        let turn = position.turn();
        if search_moves.len() < asked {
            self.info("searchmoves has moves that are illegal here: they are left out");
        }
        if let Some(others) = &mut self.others {
            // This `go` may give it the board.
            others.due = others.due.max(now + NOTICE);
        }
        if !self.statement.can_be_answered() {
            self.state(now);
        }
        self.search = Some(Search {
            mode: go.mode,
            only: search_moves,
            shown: Vec::new(),
        });
        if over {
            if go.mode == Mode::Move {
                self.search = None;
                self.say("bestmove (none)");
            }
            return;
        }
        self.tell_clocks(go.mode, go.left, turn);
        self.seat.awaits(true);
        // Pondering counts as analysis until `ponderhit`.
        if go.mode != Mode::Move {
            self.seat.analyses();
        }
        self.ask();
        // Sent once the board has noticed the `go`: its advice until then is for the previous position.
        self.advice_due = true;
    }

    /// Tells the board the clocks of a game that is played, so that it can show them.
    fn tell_clocks(&mut self, mode: Mode, left: ByColor<Option<Duration>>, turn: Color) {
        let left = left.white.zip(left.black).filter(|_| mode == Mode::Move);
        let clocks = left.map(|(white, black)| Clocks {
            left: ByColor { white, black },
            runs: Some(turn),
        });
        if std::mem::replace(&mut self.timed, clocks.is_some()) || clocks.is_some() {
            self.seat.clocks(clocks);
        }
    }

    /// Ends a search because of a command from the GUI: with the hand's move if there is one.
    fn end_search(&mut self) {
        if self.search.is_some() && !self.answer_if_shown() {
            self.search = None;
            self.say(if self.is_over() {
                "bestmove (none)"
            } else {
                "bestmove 0000"
            });
            self.seat.awaits(false);
            self.ask();
        }
    }

    /// Whether the game that was stated has no further move.
    fn is_over(&self) -> bool {
        matches!(self.statement.game(), Ok(game) if game.position().legal_moves().is_empty())
    }

    /// Answers with the move already shown, if there is one.
    fn answer_if_shown(&mut self) -> bool {
        let shown = self.search.as_ref().and_then(|s| s.shown.first()).copied();
        if let Some(m) = shown {
            self.answer(m);
        }
        shown.is_some()
    }

    fn answer(&mut self, m: Move) {
        let told = worded(m, self.chess960);
        // Some GUIs play what they were last shown (En Croissant to 0.12.2).
        if (self.search.take()).is_some_and(|search| search.shown.is_empty()) {
            self.say(line_of(&[told.to_string()]));
        }
        self.say(format!("bestmove {told}"));
        self.seat.answered(m);
        self.ask();
        // A `go` for the same position again asks for another move: that is a take-back.
        self.statement.answered();
    }

    /// The chosen board has a new snapshot.
    pub fn snapshot(&mut self, snapshot: &Arc<Snapshot>, now: Instant) {
        if self.choice.board() != Some(&snapshot.board) {
            return;
        }
        // Before `bestmove`: some GUIs accept nothing between two searches.
        self.json.snapshot(snapshot, self.stand(snapshot), now);
        self.say_json();
        if self.statement.is_said()
            && let Some(place) = self.seat.look(snapshot)
        {
            if place.joined {
                self.others = None;
                self.played(&place.answer);
            } else if let Some(others) = &mut self.others {
                let before = std::mem::replace(&mut others.game, snapshot.game.clone());
                if others.told.is_some() {
                    self.tell_others(&before, &snapshot.game);
                }
            } else {
                self.others = Some(Others {
                    game: snapshot.game.clone(),
                    told: None,
                    due: now + NOTICE,
                });
            }
        }
        // Clients that wait are told of the other clients' moves; they need no more of that game.
        let has = self.has(snapshot);
        if let Some(result) = self.told.result(snapshot).filter(|_| has) {
            self.info(&format!("the board says: {result}"));
        }
        if let Some(end) = self.told.kings(snapshot).filter(|_| has) {
            self.info(&format!(
                "{}: the game is over: {end}, by the kings in the centre. End it in the program too",
                snapshot.board
            ));
        }
        self.told.snapshot(snapshot);
        self.advise(snapshot, now);
    }

    /// Sends what the player should know or do, if that is new.
    fn advise(&mut self, snapshot: &Snapshot, now: Instant) {
        let Snapshot {
            advice, guidance, ..
        } = snapshot;
        let current = self.seat.place(snapshot).is_some();
        let waits = self.others.is_some();
        let repeat = current && self.advice_due && snapshot.awaiting && !waits;
        // Between games and while the program thinks, only what cannot wait for the next `go`.
        let urgent = matches!(
            advice,
            Advice::PutBack { .. }
                | Advice::Mistake { .. }
                | Advice::Misplaced(_)
                | Advice::SetUpByHand(_)
        );
        let wanted = match self.search {
            // Not before the board has noticed the `go`: then it is told once.
            Some(_) => current && (repeat || !self.advice_due),
            None => self.statement.is_said() && urgent,
        };
        if !wanted || waits {
            self.told.throttle.leave(advice, guidance);
            return;
        }
        let list = in_short(guidance);
        let word = self.told.throttle.look(advice, guidance, repeat, now);
        // A message that was sent only just now is repeated when its time has come.
        self.advice_due &= !repeat || self.told.throttle.deadline().is_some();
        match word {
            None => {}
            Some(Word::Task) => {
                self.info(&format!("{}: {}", snapshot.board, advice.with(&list)));
                if let Some(why) = self.told.unheard(snapshot, repeat) {
                    self.info(&format!("{}: {why}", snapshot.board));
                }
                self.mind_take_back(snapshot);
            }
            Some(Word::List) => self.info(&format!("{}: {list}", snapshot.board)),
        }
    }

    /// A take-back reported between two searches is reported again in the next one, until the program knows it.
    fn mind_take_back(&mut self, snapshot: &Snapshot) {
        match (&snapshot.advice, &self.search) {
            (Advice::PutBack { .. }, None) => self.told.taken_back(snapshot),
            (advice, Some(_)) => {
                let is_told = matches!(advice, Advice::PutBack { .. });
                let game = self.statement.game().as_ref().ok();
                let board = &snapshot.game;
                if let Some(made) = game.and_then(|game| self.told.take_taken_back(game, board))
                    && !is_told
                {
                    let made = worded(made, self.chess960);
                    self.info(&format!(
                        "{}: {made} was taken back on the board, but it stands in the program's game",
                        snapshot.board
                    ));
                }
            }
            (_, None) => {}
        }
    }

    /// Whether this client has the board.
    fn has(&self, snapshot: &Snapshot) -> bool {
        self.seat.known(snapshot).is_some_and(|place| place.joined)
    }

    /// How this client relates to the board.
    fn stand(&self, snapshot: &Snapshot) -> Stand {
        let place = self.seat.place(snapshot);
        Stand {
            own: self.has(snapshot) || (place.is_none() && snapshot.holders.is_empty()),
            noticed: place.is_some_and(|place| !place.joined)
                || (place.is_some() && snapshot.awaiting),
        }
    }

    /// Tells a GUI why it does not have the board, and the way out.
    fn tell_why(&mut self, snapshot: &Snapshot) {
        let board = &snapshot.board;
        if self.seat.known(snapshot).is_some_and(|place| place.put_out) {
            self.info(&format!(
                "your program was put out of the board {board} (`boardbridge release`): begin a new game in it, or let it \
                 connect again, to play there"
            ));
        } else {
            self.info(&format!(
                "waiting for {board}: it is in another game, with {}. To play now, end that game or close its program, or \
                 run `boardbridge release {board}`",
                ClientName::join(&snapshot.holders, " and ")
            ));
        }
    }

    /// Tells a GUI that waits for the board what is being played on it.
    fn tell_others(&mut self, before: &Game, game: &Game) {
        let known = before.common_plies(game).unwrap_or(0);
        if known == before.len() {
            for ply in known..game.len() {
                let text = format!("in the other game: {}", game.san(ply));
                self.info(&text);
            }
        } else if before != game {
            self.info(&format!("the other game is at: {}", game.fen()));
        }
    }

    /// The hand has played `answer` in the GUI's position.
    fn played(&mut self, answer: &[Move]) {
        let chess960 = self.chess960;
        let told = |m| worded(m, chess960);
        let Some(search) = &mut self.search else {
            return;
        };
        let first = answer.first().copied();
        if let Some(m) = first
            && !search.only.is_empty()
            && !search.only.contains(&m)
        {
            let wanted: Vec<_> = search.only.iter().map(|&m| told(m).to_string()).collect();
            let text = format!(
                "{} is not among the moves the program asked for: please take it back and make one of {}",
                told(m),
                wanted.join(" ")
            );
            self.info(&text);
            self.seat.refuse();
            self.ask();
            return;
        }
        match (search.mode, first) {
            (Mode::Move, Some(m)) => self.answer(m),
            (Mode::Move, None) => {}
            (Mode::Infinite | Mode::Ponder, _) => {
                if search.shown.starts_with(answer) && search.shown.len() > answer.len() {
                    let back = told(search.shown[answer.len()]);
                    search.shown = answer.to_vec();
                    self.info(&format!("{back} was taken back on the board"));
                } else if search.shown != answer {
                    search.shown = answer.to_vec();
                    let moves: Vec<_> = answer
                        .iter()
                        .take(MAX_PV)
                        .map(|&m| told(m).to_string())
                        .collect();
                    self.say(line_of(&moves));
                }
            }
        }
    }

    /// The connection is lost: gives the board back. A game that is not over is kept for the program's address.
    pub fn closed(&mut self) {
        self.search = None;
        self.seat.lose();
        self.ask();
    }
}

/// What the hand has played, as an `info … pv` line. Scid shows no line without a score.
fn line_of(moves: &[String]) -> String {
    format!(
        "info depth {} score cp 0 pv {}",
        moves.len(),
        moves.join(" ")
    )
}

/// A move as a GUI writes it.
fn worded(m: Move, chess960: bool) -> UciMove {
    if chess960 {
        m.to_uci(CastlingMode::Chess960)
    } else {
        uci(m)
    }
}

fn promotion(value: &str) -> Option<Role> {
    Some(match value.to_ascii_lowercase().as_str() {
        "queen" => Role::Queen,
        "rook" => Role::Rook,
        "bishop" => Role::Bishop,
        "knight" => Role::Knight,
        _ => return None,
    })
}
