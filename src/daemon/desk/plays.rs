//! Who plays at boards: an engine, two people, another board, a chess program.

use tracing::info;

use super::{
    Desk,
    change::{Change, Edit},
    done, engines, files,
};
use crate::{
    bus::desk::{Granted, Play, Programs, Refused},
    daemon::Daemon,
    text::escape::escaped,
    vocabulary::BoardName,
};

impl Desk {
    pub(super) async fn play(
        &mut self,
        daemon: &mut Daemon,
        board: BoardName,
        play: Play,
    ) -> Result<Granted, Refused> {
        self.exists(&board)?;
        let engine = match &play.engine {
            None => None,
            // Only what was found: a page must not start any program.
            Some(wanted) => {
                let engines = engines::installed();
                let found = engines
                    .iter()
                    .find(|engine| engine.name == *wanted || engine.path == *wanted);
                let found = found.ok_or_else(|| {
                    Refused::Missing(format!(
                        "{} is not installed: sudo apt install stockfish",
                        escaped(wanted)
                    ))
                })?;
                Some(found.path.clone())
            }
        };
        let text = files::opponent(&board, engine.as_deref(), &play);
        let path = files::of_play(self.state()?, board.as_str());
        self.edit(daemon, Edit::write(path, text)).await?;
        let who = play.engine.as_deref().unwrap_or("two people");
        info!(board = %board, "{who} may play there");
        Ok(done(format!("{who} may play at {board}")))
    }

    pub(super) async fn stop(
        &mut self,
        daemon: &mut Daemon,
        board: &BoardName,
    ) -> Result<Granted, Refused> {
        let missing = format!(
            "the opponent of {board} was not started here: what the main file says is changed there"
        );
        self.end(daemon, board.as_str(), missing).await
    }

    pub(super) async fn link(
        &mut self,
        daemon: &mut Daemon,
        boards: [BoardName; 2],
    ) -> Result<Granted, Refused> {
        let [first, second] = &boards;
        self.exists(first)?;
        self.exists(second)?;
        let path = files::of_play(self.state()?, &format!("{first}.{second}"));
        let edit = Edit::write(path, files::link(&boards));
        self.edit(daemon, edit).await?;
        Ok(done(format!("{first} and {second} play each other")))
    }

    pub(super) async fn unlink(
        &mut self,
        daemon: &mut Daemon,
        id: &str,
    ) -> Result<Granted, Refused> {
        let id = if id.contains('.') { id } else { "." };
        let missing = "there is no such link that was started here".to_owned();
        self.end(daemon, id, missing).await
    }

    /// Ends what was started by this name.
    async fn end(
        &mut self,
        daemon: &mut Daemon,
        id: &str,
        missing: String,
    ) -> Result<Granted, Refused> {
        if !self.config.plays.iter().any(|known| known == id) {
            return Err(Refused::Missing(missing));
        }
        let path = files::of_play(self.state()?, id);
        self.edit(daemon, Edit::remove(path)).await?;
        Ok(done("ended".to_owned()))
    }

    /// Lets chess programs of the network connect, or those of this machine only.
    pub(super) async fn admit(
        &mut self,
        daemon: &mut Daemon,
        programs: Programs,
    ) -> Result<Granted, Refused> {
        if self.config.says_programs {
            return Err(Refused::NotNow(format!(
                "`listen` under [uci] is in {}, and is changed there",
                self.file.display()
            )));
        }
        let path = files::of_settings(self.state()?);
        let (edit, words) = match programs {
            Programs::Network => (
                Edit::write(path, files::open_to_network()),
                "chess programs of the network may connect",
            ),
            Programs::Here => (
                Edit::remove(path),
                "only chess programs on this machine may connect",
            ),
        };
        self.edit(daemon, edit).await?;
        info!("{words}");
        Ok(done(words.to_owned()))
    }

    /// Changes one file.
    async fn edit(&mut self, daemon: &mut Daemon, edit: Edit) -> Result<(), Refused> {
        let change = Change::make(self.state()?, vec![edit], None).await?;
        self.change(daemon, change, None).await
    }
}
