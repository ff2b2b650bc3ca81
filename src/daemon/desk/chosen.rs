//! What is set for the daemon as a whole: which chess programs connect, how Lichess is played, what
//! saved games say, on which boards the `WhitePawn` app plays.

use std::collections::BTreeMap;

use toml_edit::{DocumentMut, Value};
use tracing::info;

use super::{Desk, added_boards::text_if_there, change::Edit, done, files};
use crate::{
    bus::desk::{Granted, Programs, Refused, Setting},
    config::Key,
    daemon::Daemon,
    front_end::pgn_text::{MAX_TAG, TagText},
    vocabulary::{Accept, AppWay, BoardName, TakeBacks},
};

/// What a setting writes.
enum Written {
    /// The value of a key; none where that is the default.
    Key(Key, Option<Value>),
    /// The board that the app reaches in this way.
    App(AppWay, Option<BoardName>),
}

/// What a setting writes, and what is said then.
type Chosen = (Written, String);

impl Desk {
    /// Changes a setting, unless the main file has it.
    pub(super) async fn set(
        &mut self,
        daemon: &mut Daemon,
        setting: Setting,
    ) -> Result<Granted, Refused> {
        let (written, words) = self.chosen(setting)?;
        let (is_fixed, name, table) = match &written {
            Written::Key(key, _) => {
                let table = format!("[{}]", key.table);
                (self.config.says(*key), key.name, table)
            }
            Written::App(way, _) => {
                let is_fixed = self.apps_fixed().contains(&way.key());
                (is_fixed, way.key(), "[[whitepawn]]".to_owned())
            }
        };
        if is_fixed {
            return Err(Refused::NotNow(format!(
                "`{name}` under {table} is in {}, and is changed there",
                self.file.display()
            )));
        }
        let with = |text: &str| match written {
            Written::Key(key, value) => files::with_setting(text, key, value),
            Written::App(way, board) => files::with_app(text, way, board.as_ref()),
        };
        let edit = self.edit_of_settings(with).await?;
        self.edit(daemon, edit).await?;
        info!("{words}");
        Ok(done(words))
    }

    /// Which board the app reaches in which way.
    pub(super) fn apps(&self) -> BTreeMap<AppWay, BoardName> {
        let apps = self.config.whitepawn.iter();
        apps.filter_map(|app| Some((app.app_way()?, app.board.clone())))
            .collect()
    }

    /// The ways in which the main file lets the app reach a board.
    pub(super) fn apps_fixed(&self) -> Vec<&'static str> {
        let ways = self.apps().into_keys();
        let fixed = ways.filter(|way| !self.config.apps.contains(way));
        fixed.map(AppWay::key).collect()
    }

    fn chosen(&self, setting: Setting) -> Result<Chosen, Refused> {
        let (key, value, words): (Key, Option<Value>, &str) = match setting {
            Setting::LichessBoard(board) => return self.lichess_board(&board),
            Setting::WhitepawnTcp(board) => return self.app(AppWay::Tcp, &board),
            Setting::WhitepawnBle(board) => return self.app(AppWay::Ble, &board),
            Setting::WhitepawnRfcomm(board) => return self.app(AppWay::Rfcomm, &board),
            Setting::Player(name) => {
                return tag(Key::PLAYER, name.trim(), |tag| match tag {
                    Some(player) => format!("the player at the board is called {player}"),
                    None => "the player at the board has no name".to_owned(),
                });
            }
            Setting::Site(name) => {
                return tag(Key::SITE, name.trim(), |tag| match tag {
                    Some(site) => format!("saved games name {site} as the place"),
                    None => "saved games name no place".to_owned(),
                });
            }
            Setting::Programs(Programs::Network) => (
                Key::LISTEN,
                Some(files::open_to_network().into()),
                "chess programs of the network may connect",
            ),
            Setting::Programs(Programs::Here) => (
                Key::LISTEN,
                None,
                "only chess programs on this machine may connect",
            ),
            Setting::LichessAccept(Accept::Ask) => {
                (Key::ACCEPT, None, "challenges wait for an answer")
            }
            Setting::LichessAccept(Accept::All) => (
                Key::ACCEPT,
                Some("all".into()),
                "challenges are accepted while the board has no game",
            ),
            Setting::LichessAccept(Accept::None) => (
                Key::ACCEPT,
                Some("none".into()),
                "challenges are left alone",
            ),
            Setting::LichessTakeBacks(TakeBacks::Ask) => {
                (Key::TAKE_BACKS, None, "take-backs wait for an answer")
            }
            Setting::LichessTakeBacks(TakeBacks::Yes) => (
                Key::TAKE_BACKS,
                Some("yes".into()),
                "take-backs are accepted",
            ),
            Setting::LichessTakeBacks(TakeBacks::No) => (
                Key::TAKE_BACKS,
                Some("no".into()),
                "take-backs are declined",
            ),
            Setting::EveryMove(true) => (
                Key::EVERY_MOVE,
                Some(true.into()),
                "each move of a running game is saved at once",
            ),
            Setting::EveryMove(false) => (
                Key::EVERY_MOVE,
                None,
                "a running game is saved when it begins, rests or ends",
            ),
        };
        Ok((Written::Key(key, value), words.to_owned()))
    }

    fn lichess_board(&self, board: &BoardName) -> Result<Chosen, Refused> {
        self.exists(board)?;
        let mut links = self.config.link.iter();
        if links.any(|link| link.boards.contains(board)) {
            return Err(Refused::NotNow(format!(
                "{board} plays another board: end that first, or choose another board"
            )));
        }
        let words = format!("games on Lichess are played at {board}");
        let name = Some(board.as_str().into());
        Ok((Written::Key(Key::BOARD, name), words))
    }

    /// The board that the app reaches in this way, or none for an empty name.
    fn app(&self, way: AppWay, name: &str) -> Result<Chosen, Refused> {
        if name.is_empty() {
            let words = "the WhitePawn app is switched off here".to_owned();
            return Ok((Written::App(way, None), words));
        }
        let board = name.parse::<BoardName>();
        let board = board.map_err(|error| Refused::Bad(error.to_string()))?;
        self.exists(&board)?;
        let words = format!("the WhitePawn app may play on {board}");
        Ok((Written::App(way, Some(board)), words))
    }

    /// The file of settings with this change, which may leave nothing in it.
    pub(super) async fn edit_of_settings(
        &self,
        with: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Edit, Refused> {
        let path = files::of_settings(self.state()?);
        let text = text_if_there(&path).await?;
        // What else is in it would be lost.
        if let Err(error) = text.parse::<DocumentMut>() {
            return Err(Refused::NotNow(format!(
                "{} cannot be read: mend it, or remove it. {}",
                path.display(),
                error.message().trim()
            )));
        }
        Ok(match with(&text) {
            Some(text) => Edit::write(path, text),
            None => Edit::remove(path),
        })
    }
}

/// A tag of saved games, or none for an empty text.
fn tag(key: Key, text: &str, words: impl Fn(Option<&str>) -> String) -> Result<Chosen, Refused> {
    if text.is_empty() {
        return Ok((Written::Key(key, None), words(None)));
    }
    let Some(TagText(tag)) = TagText::new(text) else {
        return Err(Refused::Bad(format!(
            "write {MAX_TAG} letters, digits, signs and spaces at most, in one line"
        )));
    };
    let words = words(Some(&tag));
    Ok((Written::Key(key, Some(tag.into())), words))
}
