//! What a GUI is told about a board besides the search, if it set the option `UCI_InfoJSON`: the proposal `info json`
//! of Banksia GUI. Snapshots and time go in, lines come out; `docs/info-json.md` lists them all.
//!
//! [`picture`] is what should be shown, [`mod@line`] how it is written, [`text`] how foreign text is made safe. This
//! module keeps what the GUI already shows, so that only changes are sent, and not too often.

pub mod line;
pub mod picture;
pub mod text;

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::vocabulary::{ClientName, Snapshot};
use line::{Info, MAX_ROWS, Rows, TableLine};
use picture::{Picture, Table};

/// The time between two refreshes. A hand is slower; a piece that flickers on its sensor is reported at this rate, with
/// its final state.
pub const REFRESH: Duration = Duration::from_millis(200);
/// How long a board may take to notice a `go`, and a GUI to send one after its position, before the earlier state is shown. Both
/// come at once, unless many clients wait for the board, or the GUI only states a position.
pub const NOTICE: Duration = Duration::from_millis(200);
/// Rows of a table that are changed one by one; with more, the whole table is sent again.
pub const MAX_CHANGED: usize = 8;

/// How a client relates to the board of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stand {
    /// It has the board, or no client has.
    pub own: bool,
    /// The board knows of the client's last `go`.
    pub noticed: bool,
}

/// Everything `info json` for one GUI, without I/O. See the module documentation.
#[derive(Debug)]
pub struct InfoJson {
    /// The client's name among the holders of a board.
    client: ClientName,
    on: bool,
    /// What should be shown; `None` without a board.
    latest: Option<(Arc<Snapshot>, Stand)>,
    /// What the GUI shows.
    shown: Picture,
    /// Everything must be sent, changed or not.
    again: bool,
    /// Something may have changed since the last refresh.
    stale: bool,
    /// No refresh before this time.
    rests_until: Option<Instant>,
    /// The board should notice a position or a `go` by this time.
    awaits_notice: Option<Instant>,
    lines: VecDeque<String>,
}

impl InfoJson {
    /// Switched off, for a client of this name.
    pub fn new(client: ClientName) -> Self {
        Self {
            client,
            on: false,
            latest: None,
            shown: Picture::default(),
            again: false,
            stale: false,
            rests_until: None,
            awaits_notice: None,
            lines: VecDeque::new(),
        }
    }

    /// The GUI turns the information on or off.
    pub fn switch(&mut self, on: bool, now: Instant) {
        let before = std::mem::replace(&mut self.on, on);
        if on && !before {
            self.again = true;
            // What was asked for is sent at once, however recent the last refresh.
            self.refresh(now);
        }
    }

    /// The board's state has changed.
    pub fn snapshot(&mut self, snapshot: &Arc<Snapshot>, stand: Stand, now: Instant) {
        self.latest = Some((snapshot.clone(), stand));
        self.stale = true;
        if stand.noticed {
            self.awaits_notice = None;
        }
        self.timeout(now);
    }

    /// The GUI stopped a search or stated a position: before it reads the next line, it may also have sent `go` and
    /// cleared everything.
    pub fn before_go(&mut self, now: Instant) {
        self.awaits_notice = Some(now + NOTICE);
    }

    /// The GUI sent `go`: it has cleared everything.
    pub fn thinking(&mut self, now: Instant) {
        self.shown = Picture::default();
        self.again = true;
        self.stale = true;
        self.awaits_notice = Some(now + NOTICE);
    }

    /// The GUI turned to another board, or to none.
    pub fn turn_away(&mut self) {
        self.latest = None;
        self.stale = true;
    }

    /// When to call [`Self::timeout`].
    pub fn deadline(&self) -> Option<Instant> {
        let waits = self.rests_until.max(self.awaits_notice);
        waits.filter(|_| self.on && self.stale)
    }

    /// Time has passed.
    pub fn timeout(&mut self, now: Instant) {
        let passed = |time: Option<Instant>| time.is_none_or(|time| time <= now);
        if self.stale && passed(self.rests_until) && passed(self.awaits_notice) {
            self.refresh(now);
        }
    }

    /// The next line for the GUI.
    pub fn poll_line(&mut self) -> Option<String> {
        self.lines.pop_front()
    }

    /// Sends what the GUI does not show yet.
    fn refresh(&mut self, now: Instant) {
        if !self.on {
            return;
        }
        let picture = match &self.latest {
            Some((snapshot, Stand { own: true, .. })) => Picture::of(snapshot, &self.client),
            Some((snapshot, _)) => Picture::from_afar(snapshot, &self.client),
            None => Picture::default(),
        };
        let before = std::mem::replace(&mut self.shown, picture);
        let again = std::mem::take(&mut self.again);
        self.stale = false;
        self.awaits_notice = None;
        let told = self.lines.len();
        let Picture {
            tables,
            arrows,
            bubbles,
        } = &self.shown;
        for (was, is) in before.tables.iter().zip(tables) {
            tell(was, is, again, &mut self.lines);
        }
        let both_empty = before.arrows.is_empty() && arrows.is_empty();
        if before.arrows != *arrows || (again && !both_empty) {
            self.lines.extend(Info::Arrow(arrows).line());
        }
        let both_empty = before.bubbles.is_empty() && bubbles.is_empty();
        if before.bubbles != *bubbles || (again && !both_empty) {
            self.lines.extend(Info::Bubble(bubbles).line());
        }
        if self.lines.len() > told {
            self.rests_until = Some(now + REFRESH);
        }
    }
}

/// Writes the lines that turn `was` into `is` on the GUI.
fn tell(was: &Table, is: &Table, again: bool, lines: &mut VecDeque<String>) {
    if was.rows == is.rows && (!again || is.rows.is_empty()) {
        return;
    }
    let key = is.header.first().copied();
    let line = |header, updatedby, rows| {
        Info::Table(TableLine {
            name: is.name,
            header,
            updatedby,
            rows,
        })
        .line()
    };
    let same_keys = was.rows.len() <= is.rows.len()
        && (was.rows.iter().zip(&is.rows)).all(|(was, is)| was.first() == is.first());
    let before = was.rows.iter().map(Some).chain(std::iter::repeat(None));
    let changed =
        (is.rows.iter().zip(before)).filter_map(|(is, was)| (Some(is) != was).then_some(is));
    let few = changed.clone().count() <= MAX_CHANGED;
    if !again && !is.whole && !was.rows.is_empty() && same_keys && few {
        lines.extend(changed.filter_map(|row| line(None, key, Rows::Row(row))));
        return;
    }
    let (first, rest) = is.rows.split_at(is.rows.len().min(MAX_ROWS));
    lines.extend(line(Some(is.header), None, Rows::Rows(first)));
    lines.extend(
        rest.chunks(MAX_ROWS)
            .filter_map(|rows| line(None, key, Rows::Rows(rows))),
    );
}
