//! What is set for the daemon as a whole: which chess programs connect, where Lichess is played, what is done with challenges.

use tracing::info;

use super::{
    Desk,
    boards::text_of,
    change::Edit,
    done,
    files::{self, Key},
};
use crate::{
    bus::desk::{Granted, Programs, Refused, Setting},
    config::added::{ACCEPT, BOARD},
    daemon::Daemon,
    vocabulary::Accept,
};

impl Desk {
    /// Changes a setting, unless the main file has it.
    pub(super) async fn set(
        &mut self,
        daemon: &mut Daemon,
        setting: Setting,
    ) -> Result<Granted, Refused> {
        let says = |key| self.config.says_lichess.contains(&key);
        let (key, fixed) = match &setting {
            Setting::Programs(_) => (files::LISTEN, self.config.says_programs),
            Setting::LichessBoard(_) => (files::LICHESS_BOARD, says(BOARD)),
            Setting::LichessAccept(_) => (files::LICHESS_ACCEPT, says(ACCEPT)),
        };
        if fixed {
            let Key { table, name } = key;
            return Err(Refused::NotNow(format!(
                "`{name}` under [{table}] is in {}, and is changed there",
                self.file.display()
            )));
        }
        let (value, words) = match setting {
            Setting::Programs(Programs::Network) => (
                Some(files::open_to_network()),
                "chess programs of the network may connect".to_owned(),
            ),
            Setting::Programs(Programs::Here) => (
                None,
                "only chess programs on this machine may connect".to_owned(),
            ),
            Setting::LichessBoard(board) => {
                self.exists(&board)?;
                let mut links = self.config.link.iter();
                if links.any(|link| link.boards.contains(&board)) {
                    return Err(Refused::NotNow(format!(
                        "{board} plays another board: end that first, or choose another board"
                    )));
                }
                let words = format!("games on Lichess are played at {board}");
                (Some(board.to_string()), words)
            }
            Setting::LichessAccept(Accept::Ask) => {
                (None, "challenges wait for an answer".to_owned())
            }
            Setting::LichessAccept(Accept::All) => (
                Some("all".to_owned()),
                "challenges are accepted while the board has no game".to_owned(),
            ),
            Setting::LichessAccept(Accept::None) => (
                Some("none".to_owned()),
                "challenges are left alone".to_owned(),
            ),
        };
        let edit = self.edit_of_settings(key, value).await?;
        self.edit(daemon, edit).await?;
        info!("{words}");
        Ok(done(words))
    }

    /// What gives this key of the file of settings this value, or takes it out.
    pub(super) async fn edit_of_settings(
        &self,
        key: Key,
        value: Option<String>,
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
