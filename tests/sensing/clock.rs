//! The clock beside a DGT board, and the lamps and the display of a Revelation II, in games.

use std::time::Duration;

use boardbridge::{
    chess::game::Game,
    vocabulary::{Clocks, Command},
};
use rig::clock::Clocked as _;
use shakmaty::{ByColor, Color, uci::UciMove};
use simulators::{
    HandAction, SimulatedBoard as _,
    dgt::{
        self,
        clock::{Button, Kind, Side},
    },
    pieces::{self, Order},
};

use super::table::Table;

type Board = Table<dgt::Dgt>;

fn person() -> pieces::Settings {
    pieces::Settings {
        hand_delay: Some(Duration::from_millis(700)),
        ..pieces::Settings::default()
    }
}

fn board(clock: dgt::clock::Settings, pieces: pieces::Settings) -> Board {
    let settings = dgt::Settings {
        clock: Some(clock),
        pieces,
        ..dgt::Settings::default()
    };
    let mut table = Table::new(dgt::Dgt::new(settings), "");
    table.hears = false;
    table
}

fn with(kind: Kind) -> dgt::clock::Settings {
    dgt::clock::Settings {
        kind,
        ..dgt::clock::Settings::default()
    }
}

fn tidily(m: UciMove) -> Order {
    Order::Do(HandAction::Move(m))
}

impl Board {
    /// The program tells the clocks of the game, in seconds.
    fn tells(&mut self, white: u64, black: u64, runs: Option<Color>) {
        let [white, black] = [white, black].map(Duration::from_secs);
        let clocks = Some(Clocks {
            left: ByColor { white, black },
            runs,
        });
        self.told_of(clocks);
    }

    fn told_of(&mut self, clocks: Option<Clocks>) {
        let client = self.program.client;
        self.core
            .command(self.now, Command::Clocks { client, clocks });
    }

    /// The clock beside the board comes to show this.
    fn shows(&mut self, left: u32, right: u32, runs: Option<Side>) {
        let counts = Some((left, right, runs));
        self.comes(&format!("{counts:?}"), |table| {
            table.wood.clock_counts() == counts
        });
    }
}

#[test]
fn the_clocks_of_the_game_run_on_the_clock_beside_the_board() {
    for kind in [Kind::Dgt3000, Kind::Xl] {
        let mut table = board(with(kind), person());
        table.plays("e2e4 e7e5", true, tidily);
        table.tells(300, 299, Some(Color::White));
        table.shows(299, 299, Some(Side::Left));
        // It counts by itself, and is not disturbed.
        let from = table.now;
        table.shows(290, 299, Some(Side::Left));
        let passed = table.now - from;
        assert!(
            (8..=10).contains(&passed.as_secs()),
            "{passed:?}: {}",
            table.story()
        );
        // The hand's move is taken: Black's clock runs at once.
        table.plays("g1f3", true, tidily);
        table.comes("Black's clock", |table| {
            table
                .wood
                .clock_counts()
                .is_some_and(|counts| counts.2 == Some(Side::Right))
        });
        // The program's move is shown, and the times go on.
        table.tells(280, 270, Some(Color::White));
        table.plays("b8c6", true, tidily);
        table.comes("the times", |table| table.wood.clock_text().is_empty());
        let (left, right, runs) = table.wood.clock_counts().unwrap();
        assert!(left < 280 && left > 260, "{left}");
        assert_eq!((right, runs), (270, Some(Side::Left)));
        // The program has no clocks any more: they stop.
        table.told_of(None);
        table.comes("rest", |table| {
            table
                .wood
                .clock_counts()
                .is_some_and(|counts| counts.2.is_none())
        });
        assert_eq!(table.faults, [""; 0], "{}", table.story());
    }
}

#[test]
fn the_sides_of_the_clock_follow_the_way_the_board_lies() {
    let person = pieces::Settings {
        turned: true,
        ..person()
    };
    let mut table = board(with(Kind::Dgt3000), person);
    table.plays("e2e4 e7e5", true, tidily);
    table.tells(300, 200, Some(Color::White));
    table.shows(200, 299, Some(Side::Right));
}

#[test]
fn a_clock_that_comes_back_is_given_the_times_again() {
    let mut table = board(with(Kind::Dgt3000), person());
    table.plays("e2e4 e7e5", true, tidily);
    table.tells(300, 200, Some(Color::White));
    table.shows(295, 200, Some(Side::Left));
    table.unlink();
    table.waits(Duration::from_secs(10));
    table.tells(280, 200, Some(Color::White));
    table.link();
    table.shows(275, 200, Some(Side::Left));
    assert_eq!(table.faults, [""; 0], "{}", table.story());
}

#[test]
fn a_clock_in_another_mode_is_told_of_once_and_set_when_its_mode_is_right() {
    let clock = dgt::clock::Settings {
        settable: false,
        ..dgt::clock::Settings::default()
    };
    let mut table = board(clock, person());
    table.plays("e2e4 e7e5", true, tidily);
    for left in [300, 290, 280] {
        table.tells(left, 300, Some(Color::White));
        table.waits(Duration::from_secs(5));
    }
    assert_eq!(table.faults.len(), 1, "{}", table.story());
    assert!(table.faults[0].contains("mode 25"), "{:?}", table.faults);
    // Moves are shown all the same.
    table.faults.clear();
    table.plays("g1f3 b8c6", true, tidily);
    table.wood.set_clock_mode(table.now, true);
    table.tells(250, 260, None);
    table.shows(250, 260, None);
}

#[test]
fn a_clock_that_refuses_the_times_is_told_of_once_and_tried_again_in_the_next_game() {
    const SETS: &str = r"> +\n\x03\n";
    let clock = dgt::clock::Settings {
        refuses: Some(0x0a),
        ..dgt::clock::Settings::default()
    };
    let mut table = board(clock, person());
    table.plays("e2e4 e7e5", true, tidily);
    for left in [300, 290, 280] {
        table.tells(left, 300, Some(Color::White));
        table.waits(Duration::from_secs(20));
    }
    let sets = |table: &Board| table.whole_story().matches(SETS).count();
    assert_eq!(sets(&table), 3, "{}", table.whole_story());
    assert_eq!(table.faults.len(), 1, "{}", table.story());
    assert!(table.faults[0].contains("page"), "{:?}", table.faults);
    // Moves are shown all the same.
    table.faults.clear();
    table.plays("g1f3 b8c6", true, tidily);
    table.waits(Duration::from_secs(20));
    assert_eq!(sets(&table), 3);
    table.told_of(None);
    table.game = Game::standard();
    table.states(true);
    table.wood.hand(table.now, HandAction::NewGame);
    table.is_ready();
    table.tells(300, 300, Some(Color::White));
    table.waits(Duration::from_secs(60));
    assert!((4..=6).contains(&sets(&table)), "{}", sets(&table));
}

#[test]
fn a_clock_whose_game_ended_while_the_link_was_down_is_stopped() {
    let mut table = board(with(Kind::Dgt3000), person());
    table.plays("e2e4 e7e5", true, tidily);
    table.tells(300, 200, Some(Color::White));
    table.shows(295, 200, Some(Side::Left));
    table.unlink();
    table.waits(Duration::from_secs(10));
    table.told_of(None);
    table.link();
    table.comes("rest", |table| {
        table
            .wood
            .clock_counts()
            .is_some_and(|counts| counts.2.is_none())
    });
    let (left, right, _) = table.wood.clock_counts().unwrap();
    assert!(left < 290 && left > 270, "{left}");
    assert_eq!(right, 200);
}

#[test]
fn fast_moves_leave_the_clock_with_the_last_times() {
    let mut table = board(with(Kind::Dgt3000), person());
    table.plays("e2e4 e7e5", true, tidily);
    // Both sides move within a second: acknowledgements may be those of the times before.
    for (white, black, runs) in [
        (60, 60, Color::White),
        (59, 60, Color::Black),
        (59, 58, Color::White),
        (57, 58, Color::Black),
    ] {
        table.tells(white, black, Some(runs));
        table.waits(Duration::from_millis(400));
    }
    table.shows(57, 50, Some(Side::Right));
    assert_eq!(table.faults, [""; 0], "{}", table.story());
}

#[test]
fn the_back_button_asks_once_to_take_back_and_other_buttons_and_the_lever_do_not() {
    const ASKS: &str = "the player asks to take the last move back";
    let mut table = board(with(Kind::Dgt3000), person());
    table.plays("e2e4 e7e5", true, tidily);
    table.tells(300, 300, Some(Color::White));
    table.shows(298, 300, Some(Side::Left));
    for button in [Button::Run, Button::Plus, Button::Minus] {
        table.wood.press(table.now, button);
        table.waits(Duration::from_secs(2));
    }
    table.wood.press_lever(table.now);
    table.waits(Duration::from_secs(2));
    table.wood.press_lever(table.now);
    assert!(!table.story().contains(ASKS), "{}", table.story());
    table.wood.press(table.now, Button::Back);
    table.waits(Duration::from_secs(4));
    assert_eq!(table.story().matches(ASKS).count(), 1, "{}", table.story());
    table.plays("g1f3 b8c6", true, tidily);
}

/// The board's settle time is far longer than the test waits.
fn slow_with_a_clock() -> Board {
    let settings = dgt::Settings {
        clock: Some(with(Kind::Dgt3000)),
        pieces: person(),
        ..dgt::Settings::default()
    };
    let mut table = Table::new(dgt::Dgt::new(settings), "settle = \"10s\"");
    table.hears = false;
    table.states(true);
    table.is_ready();
    table
}

#[test]
fn the_lever_says_that_the_pieces_stand_if_they_do() {
    const MENDED: &str = "the pieces are in place again";
    for set_up in [true, false] {
        let mut table = slow_with_a_clock();
        table.game = Game::from_fen("8/8/4k3/8/8/4K3/4P3/8 w - - 0 1").unwrap();
        table.states(false);
        table.waits(Duration::from_secs(1));
        if set_up {
            let position = table.game.position().clone();
            let pieces = simulators::game::Game::from_start(position);
            let order = HandAction::SetUp(Box::new(pieces));
            table.wood.hand(table.now, order);
            table.comes("the position", |table| table.story().contains(". set-up"));
            table.waits(Duration::from_secs(1));
        }
        table.wood.press_lever(table.now);
        table.waits(Duration::from_secs(2));
        assert_eq!(table.story().contains(MENDED), set_up, "{}", table.story());
    }
}

#[test]
fn the_lever_at_the_start_begins_no_new_game() {
    let mut table = board(with(Kind::Dgt3000), person());
    table.plays("e2e4 e7e5", true, tidily);
    table.wood.hand(table.now, HandAction::NewGame);
    table.waits(Duration::from_millis(300));
    table.wood.press_lever(table.now);
    table.waits(Duration::from_millis(50));
    assert_eq!(table.snapshot().game.len(), 2, "{}", table.story());
}

#[test]
fn a_revelation_shows_moves_with_its_lamps_and_its_display() {
    let revelation = |keys: &str| {
        let settings = dgt::Settings {
            model: dgt::Model::Revelation,
            clock: Some(with(Kind::Revelation)),
            pieces: person(),
            ..dgt::Settings::default()
        };
        let keys = format!("rfcomm = {{ address = \"00:06:66:0A:0B:0C\" }}\n{keys}");
        let mut table = Table::new(dgt::Dgt::new(settings), &keys);
        table.hears = false;
        table
    };
    let moves = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 d2d3 f8c5 e1g1 e8g8 c1g5";
    for hand_has_white in [true, false] {
        let mut table = revelation("model = \"revelation-ii\"");
        table.plays(moves, hand_has_white, tidily);
        assert!(table.story().contains(". lit"), "{}", table.story());
        assert!(table.story().contains(". clock"), "{}", table.story());
        table.waits(Duration::from_secs(3));
        assert!(table.wood.lamps().is_empty(), "{}", table.story());
    }
    // Nobody said that it is one: it is told nothing that hangs another board.
    let mut table = revelation("");
    table.hears = true;
    table.plays_through(moves, true, tidily);
    assert!(!table.whole_story().contains(". lit"), "{}", table.story());
    // Its display does not take the text of a DGT 3000, and the player is told so once.
    assert_eq!(table.faults.len(), 1, "{}", table.story());
    assert!(table.faults[0].contains("refuses"), "{:?}", table.faults);
}
