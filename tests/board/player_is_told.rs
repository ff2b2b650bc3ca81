//! Messages to the player of a board that does not see its squares, while positions are set up, games end and programs
//! come and go: a core, the board's messages, and a manual clock.

use std::time::{Duration, Instant};

use boardbridge::{
    board::{core::Core, settings::BoardConfig},
    chess::{
        game::Game,
        guidance::{Action, in_words},
    },
    driver::{citrine, ucb},
    vocabulary::{
        Advice, BoardName, Channel, ClientId, Command, Event, GameEnd, Judge, LinkState, Reason,
        Snapshot,
    },
};
use rig::{clock::Clocked, program::Program};
use shakmaty::{Color, Square};

const CLIENT: ClientId = ClientId(1);
/// Few pieces: 29 have to be taken off the start position.
const ENDGAME: &str = "4k3/8/8/8/8/8/8/R3K3 w - - 0 1";

const FOOLS_MATE: [&str; 4] = ["f2f3", "e7e5", "g2g4", "d8h4"];

struct Rig {
    core: Core,
    now: Instant,
    program: Program,
    events: Vec<Event>,
}

fn game(moves: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
}

fn endgame() -> Game {
    Game::from_fen(ENDGAME).unwrap()
}

fn core(kind: &str) -> Core {
    let board = BoardConfig::from_toml(&format!("kind = \"{kind}\"")).unwrap();
    let wait = board.correction_wait;
    Core::new(BoardName::default(), board.driver(), wait)
}

impl Clocked for Rig {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }

    fn carry(&mut self) {
        loop {
            let mut moved = false;
            while let Some(event) = self.core.poll_event() {
                self.events.push(event);
                moved = true;
            }
            while self.core.poll_transmit(self.now).is_some() {
                moved = true;
            }
            if !moved {
                return;
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.core.deadline()
    }

    fn timeout(&mut self, now: Instant) {
        self.core.timeout(now);
    }
}

impl Rig {
    fn new(kind: &str) -> Self {
        let mut rig = Self {
            core: core(kind),
            now: Instant::now(),
            program: Program::default(),
            events: Vec::new(),
        };
        rig.core.link_up(rig.now);
        rig.carry();
        rig
    }

    /// The daemon is killed, and goes on with what it kept.
    fn goes_on(&mut self, kind: &str) {
        let kept = serde_json::to_string(&self.core.memory()).unwrap();
        self.core = core(kind);
        let memory = serde_json::from_str(&kept).unwrap();
        self.core.recall(self.now, memory);
        self.core.link_up(self.now);
        self.carry();
    }

    /// A UCB with the pieces just put on their starting squares.
    fn ucb() -> Self {
        let mut rig = Self::new("novag-ucb");
        rig.hears("N\r\n");
        rig.waits(5);
        rig
    }

    fn swpp() -> Self {
        let mut rig = Self::new("swpp");
        rig.waits(1);
        rig.hears("H101     1.2\n");
        rig
    }

    fn citrine() -> Self {
        let mut rig = Self::new("novag-citrine");
        for text in [
            "New Game\r\n",
            ".Referee on\r\n",
            "Xmit on\r\n",
            "Game   1\r\n.      white       black\r\n",
            "br bn bb bq bk bb bn br\r\nbp bp bp bp bp bp bp bp\r\n   ::    ::    ::    ::\r\n\
             ::    ::    ::    ::   \r\n   ::    ::    ::    ::\r\n::    ::    ::    ::   \r\n\
             WP WP WP WP WP WP WP WP\r\nWR WN WB WQ WK WB WN WR\r\n",
        ] {
            rig.waits(1);
            rig.hears(text);
        }
        rig.waits(3);
        rig
    }

    /// A Citrine that shows the program's answer to the first move.
    fn citrine_shows() -> Self {
        let mut rig = Self::citrine();
        rig.begins();
        rig.answers("M   1   e2-e4\r\n", "e2e4");
        rig.follows(game("e2e4 e7e5"));
        rig.waits(1);
        rig.hears("M   1,  e7-e5\r\n");
        rig
    }

    fn waits(&mut self, seconds: u64) {
        self.pass(Duration::from_secs(seconds));
        self.core.timeout(self.now);
        self.carry();
    }

    fn hears(&mut self, text: &str) {
        self.core
            .received(self.now, Channel::Serial, text.as_bytes());
        self.carry();
    }

    fn says(&mut self, command: Command) {
        self.core.command(self.now, command);
        self.carry();
    }

    fn follows(&mut self, game: Game) {
        let (target, awaits) = (self.program.states(&game), self.program.awaits(true));
        self.says(target);
        self.says(awaits);
    }

    fn takes(&mut self, answer: &str) {
        self.says(self.program.answered(answer.parse().unwrap()));
    }

    /// The hand moves in these words, which is the answer.
    fn answers(&mut self, words: &str, answer: &str) {
        self.hears(words);
        self.takes(answer);
    }

    /// A game begins from the start.
    fn begins(&mut self) {
        self.follows(game(""));
        self.waits(1);
    }

    fn ready(&mut self) {
        self.says(Command::Ready { client: CLIENT });
    }

    fn new_game(&mut self) {
        self.says(Command::NewGame { client: CLIENT });
    }

    /// In the words of a UCB.
    fn kings_in_the_centre(&mut self) {
        self.hears("Me1e4\r\n");
        self.waits(1);
        self.hears("Me8d4\r\n");
    }

    /// The player moves both sides of a game from its start, a move a second, in the board's messages.
    fn plays(&mut self, moves: &[&str], words: impl Fn(&str) -> String) {
        self.follows(game(""));
        for (ply, m) in moves.iter().enumerate() {
            self.waits(1);
            self.hears(&words(m));
            self.takes(m);
            self.follows(game(&moves[..=ply].join(" ")));
        }
    }

    fn snapshot(&self) -> Snapshot {
        self.core.snapshot()
    }

    fn has(&self, moves: &str) {
        assert_eq!(*self.snapshot().game, game(moves));
    }

    fn ending(&self) -> Option<GameEnd> {
        self.snapshot().ending
    }

    fn to_do(&self) -> String {
        in_words(&self.snapshot().guidance)
    }

    fn ends(&self) -> usize {
        let ended = |event: &&Event| matches!(event, Event::Ended { .. });
        self.events.iter().filter(ended).count()
    }
}

#[test]
fn a_set_up_is_asked_for_until_the_hand_proves_that_it_was_made() {
    let mut rig = Rig::ucb();
    rig.follows(endgame());
    for _ in 0..3 {
        rig.waits(60);
        assert_eq!(rig.snapshot().guidance.len(), 29);
    }
    rig.hears("Ma1a8\r\n");
    assert_eq!(rig.to_do(), "");
}

#[test]
fn a_set_up_is_asked_for_after_a_restart_too_until_it_was_made() {
    let mut rig = Rig::ucb();
    rig.follows(endgame());
    rig.waits(10);
    for left in [29, 0] {
        rig.goes_on("novag-ucb");
        rig.follows(endgame());
        rig.waits(10);
        assert_eq!(rig.snapshot().guidance.len(), left);
        rig.ready();
    }
}

#[test]
fn board_ready_ends_what_was_asked_for() {
    let mut rig = Rig::ucb();
    rig.follows(endgame());
    rig.waits(5);
    rig.ready();
    assert_eq!(rig.to_do(), "");
    assert!(matches!(rig.snapshot().advice, Advice::YourMove(_)));
}

#[test]
fn another_position_in_mid_set_up_is_asked_for_from_what_stood_before() {
    let mut rig = Rig::ucb();
    rig.follows(endgame());
    rig.waits(5);
    rig.follows(Game::from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").unwrap());
    rig.waits(5);
    let snapshot = rig.snapshot();
    assert!(
        !snapshot.advice.to_string().contains("R3K3"),
        "{}",
        snapshot.advice
    );
    assert_eq!(snapshot.guidance.len(), 29);
    let rook_off = |a: &Action| a.from == Some(Square::A1) && a.to.is_none();
    assert!(snapshot.guidance.iter().any(rook_off));
}

#[test]
fn a_board_that_cannot_tell_whether_its_move_was_made_does_not_ask_for_it_as_if_it_were_not() {
    /// How the board reports a move.
    type Report = fn(&str) -> String;
    // A Citrine is asked every 15 s, and nobody answers here.
    let boards: [(Rig, Report, &str, u64); 3] = [
        (
            Rig::citrine(),
            |m| format!("M   1   {m}\r\n"),
            "M   1,  e7-e5\r\n",
            4,
        ),
        (
            Rig::ucb(),
            |m| format!("M{}\r\n", m.replace('-', "")),
            "",
            60,
        ),
        (
            Rig::swpp(),
            |m| format!("MB {}\n", m.replace('-', "")),
            "",
            60,
        ),
    ];
    for (mut rig, words, echo, seconds) in boards {
        rig.follows(game(""));
        rig.waits(2);
        rig.answers(&words("e2-e4"), "e2e4");
        rig.follows(game("e2e4 e7e5"));
        rig.waits(1);
        rig.hears(echo);
        for _ in 0..3 {
            rig.waits(seconds);
            assert_eq!(
                rig.snapshot().advice.to_string(),
                "shown: e7e5. Make it if you have not, then your move."
            );
        }
        // It is one instruction from the time when the board has the move.
        let asked =
            |event: &&Event| matches!(event, Event::Advice { text } if text.contains("e7e5"));
        let asked: Vec<_> = rig.events.iter().filter(asked).collect();
        assert!(asked.len() <= 2, "{asked:?}");
        rig.ready();
        assert!(matches!(rig.snapshot().advice, Advice::YourMove(_)));
        rig.hears(&words("g1-f3"));
        rig.has("e2e4 e7e5 g1f3");
    }
}

/// Its nine lines take it almost two seconds.
#[test]
fn a_hand_that_is_quicker_than_a_set_up_has_moved_in_it() {
    for millis in [100, 900, 1700] {
        let mut rig = Rig::ucb();
        rig.follows(endgame());
        rig.pass(Duration::from_millis(millis));
        rig.answers("Ma1a8\r\n", "a1a8");
        rig.waits(5);
        let mut played = endgame();
        played.play_uci(["a1a8"]).unwrap();
        assert_eq!(*rig.snapshot().game, played);
        played.play_uci(["e8d7"]).unwrap();
        rig.follows(played);
        rig.waits(20);
        rig.answers("Ma8a7\r\n", "a8a7");
    }
}

#[test]
fn nobody_is_asked_to_set_up_for_a_program_that_has_left() {
    let mut rig = Rig::ucb();
    rig.follows(endgame());
    rig.waits(5);
    rig.says(Command::Release { client: CLIENT });
    rig.waits(5);
    assert_eq!(rig.snapshot().advice, Advice::Nothing);
    assert_eq!(rig.to_do(), "");
}

#[test]
fn a_move_that_was_shown_is_not_asked_for_when_its_game_has_ended_or_its_program_left() {
    let ended = Command::Ended {
        client: CLIENT,
        end: GameEnd::resigned(Color::White),
    };
    for leaves in [Command::Release { client: CLIENT }, ended] {
        let mut rig = Rig::citrine_shows();
        assert!(matches!(rig.snapshot().advice, Advice::Shown { .. }));
        rig.says(leaves);
        rig.waits(10);
        assert_eq!(rig.snapshot().advice, Advice::Nothing);
        assert_eq!(*rig.snapshot().game, game("e2e4 e7e5"));
    }
}

#[test]
fn a_game_that_ended_before_its_first_move_does_not_end_the_next() {
    let mut rig = Rig::citrine();
    rig.begins();
    rig.says(Command::Ended {
        client: CLIENT,
        end: GameEnd::ABORTED,
    });
    rig.waits(1);
    assert_eq!(rig.ending(), Some(GameEnd::ABORTED));
    rig.new_game();
    rig.begins();
    assert_eq!(rig.ending(), None);
}

/// Scid announces no game, and states each by positions.
#[test]
fn the_first_move_of_a_program_that_states_positions_is_shown_though_the_game_before_began_with_it()
{
    let mut rig = Rig::citrine_shows();
    rig.says(Command::Release { client: CLIENT });
    rig.hears("New Game\r\n");
    rig.waits(1);
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    rig.follows(Game::from_fen(fen).unwrap());
    rig.waits(10);
    let advice = rig.snapshot().advice.to_string();
    assert_eq!(advice, "make the move e2e4 on the board");
}

#[test]
fn after_a_power_cut_the_list_of_an_earlier_set_up_is_not_told_again() {
    let mut rig = Rig::ucb();
    rig.follows(endgame());
    rig.waits(5);
    rig.answers("Ma1a8\r\n", "a1a8");
    rig.waits(5);
    rig.hears(" \r\n");
    rig.follows(Game::from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").unwrap());
    rig.hears("P\r\n");
    rig.waits(5);
    assert!(rig.snapshot().guidance.len() < 5, "{}", rig.to_do());
}

#[test]
fn a_home_made_board_is_asked_for_the_start_of_the_next_game_until_it_moves() {
    let mut rig = Rig::swpp();
    rig.begins();
    rig.answers("MB e2e4\n", "e2e4");
    rig.new_game();
    rig.follows(game(""));
    rig.waits(30);
    assert_eq!(rig.to_do(), "move the white pawn from e4 to e2");
    rig.hears("MB d2d4\n");
    assert_eq!(rig.to_do(), "");
}

#[test]
fn what_the_board_reports_as_put_where_it_was_asked_for_is_off_the_list() {
    type Report = fn(&str) -> String;
    let boards: [(Rig, Report); 2] = [
        (Rig::swpp(), |m| format!("MB {m}\n")),
        (Rig::ucb(), |m| format!("M{m}\r\n")),
    ];
    for (mut rig, words) in boards {
        rig.begins();
        rig.answers(&words("e2e4"), "e2e4");
        rig.follows(game("e2e4 e7e5"));
        rig.waits(20);
        rig.answers(&words("g1f3"), "g1f3");
        // The program takes all back, and the hand begins with the piece that it likes.
        rig.follows(game(""));
        rig.waits(5);
        let mistakes = |rig: &Rig| {
            let it = |event: &&Event| matches!(event, Event::Mistake { .. });
            rig.events.iter().filter(it).count()
        };
        let before = mistakes(&rig);
        for (left, m) in ["e5e7", "f3g1", "e4e2"].iter().enumerate() {
            assert_eq!(rig.snapshot().guidance.len(), 3 - left, "{}", rig.to_do());
            rig.hears(&words(m));
        }
        assert_eq!(rig.to_do(), "");
        assert_eq!(mistakes(&rig), before);
        if rig.snapshot().tells_all {
            assert!(rig.events.contains(&Event::Mended));
        } else {
            // Set up by hand: perhaps in the board too.
            rig.ready();
        }
        assert!(matches!(rig.snapshot().advice, Advice::YourMove(_)));
        rig.hears(&words("d2d4"));
        rig.has("d2d4");
    }
}

#[test]
fn board_ready_ends_a_mistake_on_a_home_made_board() {
    let mut rig = Rig::swpp();
    rig.begins();
    rig.hears("MB e2e5\n");
    assert_eq!(rig.to_do(), "move the white pawn from e5 to e2");
    rig.ready();
    assert_eq!(rig.to_do(), "");
}

#[test]
fn the_hands_seconds_are_counted_where_the_board_does_not_tell_that_a_shown_move_was_made() {
    let mut rig = Rig::swpp();
    rig.follows(game(""));
    rig.waits(2);
    rig.answers("MB e2e4\n", "e2e4");
    rig.waits(4);
    rig.follows(game("e2e4 e7e5"));
    rig.waits(7);
    rig.hears("MB g1f3\n");
    let took: Vec<_> = rig.snapshot().took.iter().copied().collect();
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(took, [seconds(2), None, seconds(7)]);
}

#[test]
fn another_games_seconds_are_not_those_of_a_position_that_is_set_up() {
    let mut rig = Rig::ucb();
    rig.follows(game(""));
    rig.waits(7);
    rig.answers("Me2e4\r\n", "e2e4");
    assert!(rig.snapshot().took[0].is_some());
    rig.new_game();
    rig.follows(game("e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6"));
    rig.waits(200);
    assert_eq!(rig.snapshot().game.len(), 10);
    assert_eq!(rig.snapshot().took[0], None);
}

#[test]
fn what_a_citrine_says_of_its_last_move_in_one_breath_with_it_stays() {
    for breaths in [
        &["M   1   e2-e4\r\nM#1\r\n"][..],
        &["M   1   e2-e4\r\n", "M#1\r\n"][..],
    ] {
        let mut rig = Rig::citrine();
        rig.begins();
        for breath in breaths {
            rig.hears(breath);
        }
        assert_eq!(rig.ending(), Some(GameEnd::drawn(Reason::Repetition)));
        assert_eq!(rig.ends(), 1);
    }
}

#[test]
fn a_programs_end_stays_while_the_board_is_given_its_last_position() {
    let mut rig = Rig::ucb();
    rig.begins();
    rig.answers("Me2e4\r\n", "e2e4");
    rig.core.link_down(rig.now, "gone".to_owned());
    rig.follows(game("e2e4 e7e5"));
    rig.says(Command::Ended {
        client: CLIENT,
        end: GameEnd::resigned(Color::White),
    });
    rig.core.link_up(rig.now);
    rig.waits(200);
    assert_eq!(rig.snapshot().game.len(), 2);
    assert_eq!(rig.ending(), Some(GameEnd::resigned(Color::White)));
    rig.follows(game(""));
    rig.waits(200);
    assert_eq!(rig.ending(), None);
}

#[test]
fn a_game_taken_back_to_its_beginning_has_no_end_once_a_program_begins_the_next() {
    let mut rig = Rig::citrine();
    rig.begins();
    rig.answers("M   1   e2-e4\r\n", "e2e4");
    rig.says(Command::Ended {
        client: CLIENT,
        end: GameEnd::ABORTED,
    });
    rig.waits(1);
    assert_eq!(rig.ending(), Some(GameEnd::ABORTED));
    rig.hears("T   1   e2-e4\r\n");
    rig.waits(10);
    rig.begins();
    rig.has("");
    assert_eq!(rig.ending(), None);
    rig.answers("M   1   e2-e4\r\n", "e2e4");
    rig.waits(1);
    rig.has("e2e4");
    assert_eq!(rig.ending(), None);
}

#[test]
fn a_mate_stays_a_mate_whatever_is_done_after_it() {
    let mut rig = Rig::ucb();
    rig.plays(&FOOLS_MATE, |m| format!("M{m}\r\n"));
    assert_eq!(
        rig.ending(),
        Some(GameEnd::won(Reason::Checkmate, Color::Black))
    );
    rig.kings_in_the_centre();
    rig.waits(60);
    // Nothing is to be put right either.
    assert_eq!(rig.to_do(), "");
    rig.says(Command::Ended {
        client: CLIENT,
        end: GameEnd::ABORTED,
    });
    assert_eq!(
        rig.ending(),
        Some(GameEnd::won(Reason::Checkmate, Color::Black))
    );
    assert_eq!(rig.snapshot().judge, Some(Judge::Rules));
    assert_eq!(rig.ends(), 1);
}

#[test]
fn kings_in_the_centre_of_a_game_without_moves_do_not_keep_the_next_from_beginning() {
    let mut rig = Rig::ucb();
    rig.begins();
    rig.kings_in_the_centre();
    rig.waits(5);
    assert_eq!(rig.ending(), Some(GameEnd::AGREED));
    rig.new_game();
    rig.follows(game(""));
    rig.waits(5);
    assert_eq!(rig.ending(), None);
    assert_eq!(
        rig.to_do(),
        "move the black king from d4 to e8, then move the white king from e4 to e1"
    );
}

#[test]
fn kings_in_the_centre_end_a_game_also_while_a_move_is_shown_or_nobody_has_the_board() {
    let mut rig = Rig::swpp();
    rig.begins();
    rig.answers("MB e2e4\n", "e2e4");
    rig.follows(game("e2e4 c7c6"));
    rig.waits(5);
    // The pawn is not moved: it is given up.
    for m in ["e1e3", "e3d4", "e8e5"] {
        rig.hears(&format!("MB {m}\n"));
        rig.waits(1);
    }
    assert_eq!(rig.ending(), Some(GameEnd::resigned(Color::White)));
    let mut rig = Rig::swpp();
    for m in ["e2e4", "c7c5", "e1d4", "e8d5"] {
        rig.hears(&format!("MB {m}\n"));
        rig.waits(1);
    }
    assert_eq!(rig.ending(), Some(GameEnd::AGREED));
    // The pieces are put up again.
    rig.hears("MB d2d4\n");
    rig.waits(5);
    assert_eq!(rig.ending(), None);
    assert_eq!(*rig.snapshot().game, game("d2d4"));
}

#[test]
fn a_game_ended_by_the_kings_stays_so_when_its_program_leaves() {
    let mut rig = Rig::ucb();
    rig.begins();
    rig.kings_in_the_centre();
    rig.waits(5);
    rig.says(Command::Release { client: CLIENT });
    rig.waits(60);
    assert_eq!(rig.ending(), Some(GameEnd::AGREED));
    assert_eq!(rig.to_do(), "");
}

#[test]
fn a_move_from_an_empty_square_puts_nothing_right() {
    let mut rig = Rig::swpp();
    rig.begins();
    rig.answers("MB e2e4\n", "e2e4");
    rig.follows(game("e2e4 e7e5"));
    rig.waits(5);
    for m in ["e4d5", "h5g6"] {
        rig.hears(&format!("MB {m}\n"));
        rig.waits(1);
    }
    assert_eq!(rig.to_do(), "move the white pawn from d5 to e4");
    assert!(!rig.events.contains(&Event::Mended));
    rig.hears("MB d5e4\n");
    rig.waits(1);
    assert_eq!(rig.to_do(), "");
}

#[test]
fn kings_that_are_put_back_after_a_lost_link_are_no_end_any_more() {
    let mut rig = Rig::swpp();
    rig.begins();
    rig.answers("MB e2e4\n", "e2e4");
    rig.follows(game("e2e4 e7e5"));
    for m in ["e1e3", "e3d5", "e8d4"] {
        rig.waits(1);
        rig.hears(&format!("MB {m}\n"));
    }
    assert_eq!(rig.ending(), Some(GameEnd::AGREED));
    rig.core.link_down(rig.now, "gone".to_owned());
    rig.waits(3);
    rig.core.link_up(rig.now);
    rig.waits(1);
    rig.hears("H101     1.2\n");
    rig.waits(5);
    for m in ["d5e1", "d4e8"] {
        rig.hears(&format!("MB {m}\n"));
        rig.waits(1);
    }
    rig.hears("MB g1f3\n");
    let snapshot = rig.snapshot();
    assert_eq!(snapshot.ending, None);
    assert_eq!(*snapshot.game, game("e2e4 e7e5 g1f3"));
}

#[test]
fn a_game_that_is_played_on_after_the_fifth_repetition_goes_on() {
    let mut rig = Rig::ucb();
    let knights = ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(4);
    rig.plays(&knights, |m| format!("M{m}\r\n"));
    assert_eq!(rig.ending(), Some(GameEnd::drawn(Reason::Repetition)));
    rig.waits(1);
    rig.hears("Me2e4\r\n");
    assert_eq!(rig.ending(), None);
    assert_eq!(rig.ends(), 1);
}

#[test]
fn a_mate_that_is_taken_back_on_a_home_made_board_is_no_end_any_more() {
    let mut rig = Rig::swpp();
    rig.plays(&FOOLS_MATE, |m| format!("MB {m}\n"));
    assert_eq!(
        rig.ending(),
        Some(GameEnd::won(Reason::Checkmate, Color::Black))
    );
    rig.follows(game("f2f3 e7e5 g2g4"));
    rig.waits(1);
    rig.ready();
    assert_eq!(rig.snapshot().game.len(), 3);
    assert_eq!(rig.ending(), None);
}

#[test]
fn a_program_that_awaits_another_move_goes_on_after_kings_in_the_centre() {
    let mut rig = Rig::ucb();
    rig.begins();
    rig.kings_in_the_centre();
    rig.waits(5);
    assert_eq!(rig.to_do(), "");
    rig.follows(game(""));
    assert_eq!(rig.ending(), None);
    assert!(!rig.snapshot().guidance.is_empty());
}

#[test]
fn a_move_made_while_a_citrine_tells_its_game_is_not_the_first_of_another() {
    let mut rig = Rig::new("novag-citrine");
    rig.waits(1);
    rig.hears("Game   3\r\n.      white       black\r\n.   1  e2-e4       e7-e5\r\n");
    rig.hears("M   3   c2-c4\r\n");
    let first = |event: &Event| matches!(event, Event::Moved { ply: 1, uci, .. } if uci.to_string() == "c2c4");
    assert!(!rig.events.iter().any(first), "{:?}", rig.events);
    // It is asked for its list again, and that has the move in its place.
    rig.waits(1);
    rig.hears(
        "Game   3\r\n.      white       black\r\n.   1  e2-e4       e7-e5\r\n.   2  g1-f3       b8-c6\r\n\
         .   3  c2-c4\r\n",
    );
    rig.waits(3);
    let told = game("e2e4 e7e5 g1f3 b8c6 c2c4");
    assert_eq!(*rig.snapshot().game, told);
}

#[test]
fn what_a_shown_move_brings_back_is_not_to_be_put_elsewhere_before_it() {
    let mut rig = Rig::ucb();
    rig.follows(game("e2e4"));
    rig.waits(60);
    rig.ready();
    rig.follows(endgame());
    rig.waits(5);
    assert!(!rig.to_do().is_empty());
    rig.follows(game(""));
    rig.waits(120);
    assert_eq!(rig.to_do(), "move the white pawn from e4 to e2");
    // The pawn may never have left e4.
    rig.follows(game("e2e4"));
    rig.waits(1);
    rig.has("e2e4");
    assert_eq!(rig.to_do(), "");
}

#[test]
fn several_moves_that_cannot_be_played_are_mended_when_all_are_taken_back() {
    let mut rig = Rig::swpp();
    rig.begins();
    for m in ["a1a5", "h1h5"] {
        rig.hears(&format!("MB {m}\n"));
    }
    assert_eq!(rig.snapshot().guidance.len(), 2);
    rig.hears("MB a5a1\n");
    assert_eq!(rig.to_do(), "move the white rook from h5 to h1");
    rig.hears("MB h5h1\n");
    assert_eq!(rig.to_do(), "");
    let mended = |event: &&Event| matches!(event, Event::Mended);
    assert_eq!(rig.events.iter().filter(mended).count(), 1);
}

#[test]
fn a_ucb_counts_as_there_when_it_has_spoken_and_is_shown_moves_before() {
    let mut rig = Rig::new("novag-ucb");
    rig.waits(3600);
    let link = rig.snapshot().link;
    assert_eq!(link, LinkState::Unheard { garbled: false });
    assert!(link.why().unwrap().contains("6 wires"));
    rig.follows(game("e2e4"));
    rig.waits(61);
    rig.has("e2e4");
    rig.hears("\u{fffd}\u{fffd}\r\n");
    let link = rig.snapshot().link;
    assert_eq!(link, LinkState::Unheard { garbled: true });
    assert!(link.why().unwrap().contains("baud"));
    rig.hears("Me7e5\r\n");
    assert_eq!(rig.snapshot().link, LinkState::Up);
    // What it said on another link says nothing of this one.
    rig.core.link_down(rig.now, "the cable".to_owned());
    rig.core.link_up(rig.now);
    rig.carry();
    assert_ne!(rig.snapshot().link, LinkState::Up);
}

#[test]
fn a_board_of_another_kind_than_configured_is_named() {
    for (kind, words, other) in [
        ("novag-ucb", "M   1   e2-e4\r\n", citrine::KIND),
        ("novag-ucb", "New Game\r\n", citrine::KIND),
        ("novag-ucb", "ID.UCBII V1.09\r\n", citrine::KIND),
        ("novag-citrine", "Me2e4\r\n", ucb::KIND),
        ("novag-citrine", "V\r\n", ucb::KIND),
    ] {
        let mut rig = Rig::new(kind);
        rig.hears(words);
        rig.waits(60);
        let snapshot = rig.snapshot();
        assert_eq!(snapshot.link, LinkState::Stranger(other), "{kind}: {words}");
        let told = format!("kind = \"{other}\"");
        assert!(snapshot.advice.to_string().contains(&told));
        assert!(snapshot.link.why().unwrap().contains(&told));
        let named = |event: &&Event| matches!(event, Event::Stranger { .. });
        assert_eq!(rig.events.iter().filter(named).count(), 1);
    }
}

#[test]
fn a_board_whose_words_cannot_be_read_is_not_only_silent() {
    let mut rig = Rig::new("novag-citrine");
    rig.hears("\u{80}\u{9e}\r\n");
    rig.waits(60);
    assert!(rig.snapshot().advice.to_string().contains("baud"));
}

#[test]
fn a_ucb_of_which_nothing_is_known_is_given_time_to_put_the_pieces_up_before_its_first_move() {
    let shows = |rig: &Rig| *rig.snapshot().game == game("e2e4");
    let mut rig = Rig::new("novag-ucb");
    rig.follows(game("e2e4"));
    rig.waits(55);
    assert!(!shows(&rig));
    assert_eq!(rig.snapshot().advice, Advice::NewGame { may_move: false });
    rig.waits(10);
    assert!(shows(&rig));
    // The go key and the button say that they stand.
    for ready in [true, false] {
        let mut rig = Rig::new("novag-ucb");
        rig.follows(game("e2e4"));
        rig.waits(5);
        assert!(!shows(&rig));
        if ready {
            rig.ready();
        } else {
            rig.hears("J\r\n");
        }
        rig.waits(1);
        assert!(shows(&rig), "{ready}");
    }
    // Those that have just been put there stand.
    let mut rig = Rig::ucb();
    rig.follows(game("e2e4"));
    rig.waits(1);
    assert!(shows(&rig));
}

#[test]
fn a_ucb_that_is_switched_on_with_the_program_there_is_given_the_time_too() {
    let mut rig = Rig::new("novag-ucb");
    rig.follows(game(""));
    rig.waits(5);
    rig.hears(" \r\n");
    rig.hears("P\r\n");
    rig.waits(5);
    rig.follows(game("e2e4"));
    rig.waits(45);
    rig.has("");
    rig.hears("J\r\n");
    rig.waits(1);
    rig.has("e2e4");
}

#[test]
fn board_ready_confirms_what_was_asked_for_when_it_was_pressed() {
    let mended = |rig: &Rig| rig.events.contains(&Event::Mended);
    let executed = |rig: &Rig, m: &str| {
        let it = |event: &Event| matches!(event, Event::Executed { uci } if uci.to_string() == m);
        rig.events.iter().any(it)
    };
    let mut rig = Rig::new("novag-ucb");
    rig.follows(game("e2e4"));
    rig.waits(61);
    rig.follows(game("e2e4"));
    assert!(matches!(rig.snapshot().advice, Advice::Shown { .. }));
    // The player has put the last piece in place, and has not seen the lamps yet.
    rig.ready();
    assert!(mended(&rig) && !executed(&rig, "e2e4"));
    assert!(matches!(rig.snapshot().advice, Advice::Shown { .. }));
    assert_eq!(rig.to_do(), "");
    rig.waits(1);
    rig.ready();
    assert!(executed(&rig, "e2e4"));
    assert!(matches!(rig.snapshot().advice, Advice::YourMove(_)));
    // The same with two moves.
    let mut rig = Rig::ucb();
    rig.follows(game("e2e4 e7e5"));
    rig.waits(17);
    rig.has("e2e4 e7e5");
    rig.ready();
    assert!(executed(&rig, "e2e4") && !executed(&rig, "e7e5"));
    assert!(matches!(rig.snapshot().advice, Advice::Shown { .. }));
    rig.waits(5);
    rig.ready();
    assert!(executed(&rig, "e7e5"));
}

#[test]
fn a_ucb_is_given_the_position_at_once_when_the_program_changes_its_shown_move() {
    let mut rig = Rig::ucb();
    rig.follows(game("e2e4 e7e5"));
    rig.waits(17);
    rig.follows(game("e2e4 c7c5"));
    assert!(matches!(rig.snapshot().advice, Advice::SetUp { .. }));
    // Nine lines.
    rig.waits(3);
    rig.has("e2e4 c7c5");
}

#[test]
fn a_ucb_is_led_back_from_another_move_than_the_shown_one_after_the_time_for_a_correction() {
    let mut rig = Rig::ucb();
    rig.follows(game("e2e4"));
    rig.waits(1);
    rig.hears("Me2e3\r\n");
    let set_up = |event: &&Event| matches!(event, Event::SetUp { .. });
    let given = |rig: &Rig| rig.events.iter().filter(set_up).count();
    let before = given(&rig);
    rig.waits(2);
    assert!(matches!(rig.snapshot().advice, Advice::Mistake { .. }));
    // Three seconds in all, and nine lines.
    rig.waits(4);
    assert_eq!(given(&rig), before + 1);
    assert!(rig.to_do().starts_with("move the white pawn from e3"));
}
