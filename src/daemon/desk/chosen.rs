//! What is set for the daemon as a whole: which chess programs connect, how Lichess is played, what saved games say.

use toml_edit::Value;
use tracing::info;

use super::{Desk, boards::text_of, change::Edit, done, files};
use crate::{
    bus::desk::{Granted, Programs, Refused, Setting},
    config::Key,
    daemon::Daemon,
    front_end::pgn_text::{MAX_TAG, TagText},
    vocabulary::{Accept, BoardName, TakeBacks},
};

/// What a setting writes: the key, its value, which is none where that is the default, and what is said then.
type Chosen = (Key, Option<Value>, String);

impl Desk {
    /// Changes a setting, unless the main file has it.
    pub(super) async fn set(
        &mut self,
        daemon: &mut Daemon,
        setting: Setting,
    ) -> Result<Granted, Refused> {
        let (key, value, words) = self.chosen(setting)?;
        if self.config.says(key) {
            let Key { table, name } = key;
            return Err(Refused::NotNow(format!(
                "`{name}` under [{table}] is in {}, and is changed there",
                self.file.display()
            )));
        }
        let edit = self.edit_of_settings(key, value).await?;
        self.edit(daemon, edit).await?;
        info!("{words}");
        Ok(done(words))
    }

    fn chosen(&self, setting: Setting) -> Result<Chosen, Refused> {
        let (key, value, words): (Key, Option<Value>, &str) = match setting {
            Setting::LichessBoard(board) => return self.lichess_board(&board),
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
        Ok((key, value, words.to_owned()))
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
        Ok((Key::BOARD, Some(board.as_str().into()), words))
    }

    /// What gives this key of the file of settings this value, or takes it out.
    pub(super) async fn edit_of_settings(
        &self,
        key: Key,
        value: Option<Value>,
    ) -> Result<Edit, Refused> {
        let path = files::of_settings(self.state()?);
        let text = if path.exists() {
            text_of(&path).await?
        } else {
            String::new()
        };
        Ok(match files::with_setting(&text, key, value) {
            Some(text) => Edit::write(path, text),
            None => Edit::remove(path),
        })
    }
}

/// A tag of saved games, or none for an empty text.
fn tag(key: Key, text: &str, words: impl Fn(Option<&str>) -> String) -> Result<Chosen, Refused> {
    if text.is_empty() {
        return Ok((key, None, words(None)));
    }
    let Some(TagText(tag)) = TagText::new(text) else {
        return Err(Refused::Bad(format!(
            "write {MAX_TAG} letters, digits, signs and spaces at most, in one line"
        )));
    };
    let words = words(Some(&tag));
    Ok((key, Some(tag.into()), words))
}
