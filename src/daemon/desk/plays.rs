//! Who plays at boards: an engine, two people, another board.

use std::slice;

use tracing::info;

use super::{
    Desk,
    change::{Change, Edit},
    done, engines, files,
};
use crate::{
    bus::desk::{Granted, Play, Refused},
    config::added::MAX_ADDED,
    daemon::Daemon,
    text::escape::escaped,
    vocabulary::{BoardName, ClientName},
};

impl Desk {
    pub(super) async fn play(
        &mut self,
        daemon: &mut Daemon,
        board: BoardName,
        play: Play,
    ) -> Result<Granted, Refused> {
        self.exists(&board)?;
        self.is_free(daemon, &board, board.as_str())?;
        self.has_room_for(board.as_str())?;
        let strength = play.elo.is_some() || play.level.is_some();
        if play.engine.is_none() && (strength || play.hand.is_some() || play.go.is_some()) {
            let words = "two people play without an engine: name one, or leave its strength, colour and time out";
            return Err(Refused::Bad(words.to_owned()));
        }
        let engine = match &play.engine {
            None => None,
            // Only what was found: a page must not start any program.
            Some(wanted) => {
                let engines = engines::installed().await;
                let found = engines
                    .iter()
                    .find(|engine| engine.name == *wanted || engine.path == *wanted);
                let found = found.ok_or_else(|| {
                    Refused::Missing(format!(
                        "no chess engine here is called {}: `sudo apt install stockfish` brings one",
                        escaped(wanted)
                    ))
                })?;
                Some(found.path.clone())
            }
        };
        let text = files::opponent(&board, engine.as_deref(), &play);
        files::check_opponent(&text).map_err(Refused::Bad)?;
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
        if !self
            .config
            .plays
            .iter()
            .any(|known| known == board.as_str())
        {
            self.exists(board)?;
        }
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
        if first == second {
            return Err(Refused::Bad(format!(
                "{first} cannot play against itself: choose another board"
            )));
        }
        let id = id_of(&boards);
        let of_lichess = self.of_lichess();
        for board in &boards {
            self.is_free(daemon, board, &id)?;
            if of_lichess == Some(board) {
                let words = format!("games on Lichess are played at {board}: choose another board");
                return Err(Refused::NotNow(words));
            }
        }
        self.has_room_for(&id)?;
        let path = files::of_play(self.state()?, &id);
        let edit = Edit::write(path, files::link(&boards));
        self.edit(daemon, edit).await?;
        Ok(done(format!("{first} and {second} play each other")))
    }

    /// Whether another file of who plays is read.
    fn has_room_for(&self, id: &str) -> Result<(), Refused> {
        let plays = &self.config.plays;
        if plays.len() < MAX_ADDED || plays.iter().any(|known| known == id) {
            return Ok(());
        }
        Err(Refused::NotNow(format!(
            "{MAX_ADDED} games were started already: write the others in {}",
            self.file.display()
        )))
    }

    /// The board that was named or chosen for Lichess: it plays no other board.
    pub(super) fn of_lichess(&self) -> Option<&BoardName> {
        let named = self.config.lichess.as_ref();
        let named = named.and_then(|entry| entry.board.as_ref());
        named.or(self.config.lichess_chosen.as_ref())
    }

    /// Who plays: the boards of each opponent and link, and whether it was started here.
    fn playing(&self) -> impl Iterator<Item = (&[BoardName], bool)> {
        let opponents = self.config.opponent.iter();
        let opponents = opponents.map(|entry| slice::from_ref(&entry.board));
        let links = self.config.link.iter().map(|link| &*link.boards);
        opponents.chain(links).map(|boards| {
            let is_started = self.config.plays.contains(&id_of(boards));
            (boards, is_started)
        })
    }

    /// Boards whose opponent or link is in the main file.
    pub(super) fn fixed(&self) -> Vec<BoardName> {
        let in_main = self.playing().filter(|(_, is_started)| !is_started);
        in_main.flat_map(|(boards, _)| boards).cloned().collect()
    }

    /// Whether a board has no opponent; but for one that was started here by this name.
    fn is_free(&self, daemon: &Daemon, board: &BoardName, but: &str) -> Result<(), Refused> {
        let state = daemon
            .bus()
            .board(board.as_str())
            .map(|board| board.state());
        if state.is_some_and(|state| state.holders.contains(&ClientName::Lichess)) {
            return Err(Refused::NotNow(format!(
                "{board} is in a game on Lichess: end that first"
            )));
        }
        let mut others = self.playing().filter(|(boards, is_started)| {
            boards.contains(board) && !(*is_started && id_of(boards) == but)
        });
        let Some((_, is_started)) = others.next() else {
            return Ok(());
        };
        Err(Refused::NotNow(if is_started {
            format!("{board} has an opponent already: stop that first")
        } else {
            let file = self.file.display();
            format!("{board} has an opponent already, in {file}, and that is changed there")
        }))
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

    /// Changes one file.
    pub(super) async fn edit(&mut self, daemon: &mut Daemon, edit: Edit) -> Result<(), Refused> {
        let change = Change::make(self.state()?, vec![edit], None).await?;
        self.change(daemon, change, None).await
    }
}

/// What names an opponent or a link of these boards.
fn id_of(boards: &[BoardName]) -> String {
    let names: Vec<&str> = boards.iter().map(BoardName::as_str).collect();
    names.join(".")
}
