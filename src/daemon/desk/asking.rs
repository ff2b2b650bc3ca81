//! Boards that are asked something, which takes seconds: what they are, before they are added, and to let their lamps run.

use std::path::PathBuf;

use tokio::{
    sync::oneshot,
    task::{AbortHandle, JoinSet},
};

use super::{
    Desk,
    line::{in_use, which},
    trial::Trial,
};
use crate::{
    bus::desk::{Granted, Refused},
    discovery::{Sighting, Way, probe::Finding},
    driver::identity::Identity,
    text::escape::escaped,
    vocabulary::BoardName,
};

/// Where an answer to a wish goes.
pub(super) type Answer = oneshot::Sender<Result<Granted, Refused>>;

/// What a wish comes to.
pub(super) enum Grant {
    /// It is granted.
    Now(Granted),
    /// A board is asked first.
    Ask(Question),
}

/// What a board is asked.
pub(super) enum Question {
    /// What it is, so that it can be added, by this name.
    Which(Sighting, PathBuf, Option<BoardName>),
    /// To let its lamps run.
    Try(Trial),
}

impl Question {
    fn sighting(&self) -> &Sighting {
        match self {
            Self::Which(sighting, ..) => sighting,
            Self::Try(trial) => &trial.sighting,
        }
    }
}

/// A port that was asked what is connected to it, and who wants to know.
pub(in crate::daemon) struct Asked {
    pub sighting: Sighting,
    pub name: Option<BoardName>,
    pub finding: Finding,
    pub answer: Answer,
}

/// The boards that are being asked.
#[derive(Default)]
pub(super) struct Asking {
    tasks: JoinSet<Option<Asked>>,
    busy: Vec<(String, AbortHandle)>,
}

impl Asking {
    /// Whether the board of this name among those found is being asked.
    pub fn is_busy(&self, id: &str) -> bool {
        let mut busy = self.busy.iter();
        busy.any(|(other, task)| other == id && !task.is_finished())
    }

    /// Asks.
    pub fn begin(&mut self, question: Question, answer: Answer) {
        self.busy.retain(|(_, task)| !task.is_finished());
        let id = question.sighting().id();
        let task = self.tasks.spawn(async move {
            match question {
                Question::Which(sighting, port, name) => {
                    let (finding, line) = which(&port).await;
                    line.closed().await;
                    Some(Asked {
                        sighting,
                        name,
                        finding,
                        answer,
                    })
                }
                Question::Try(trial) => {
                    // The one who asked may have given up.
                    let _ = answer.send(trial.run().await);
                    None
                }
            }
        });
        self.busy.push((id, task));
    }

    /// Waits for a port that was asked what it is. Cancel safe.
    pub async fn asked(&mut self) -> Asked {
        loop {
            match self.tasks.join_next().await {
                Some(Ok(Some(asked))) => return asked,
                Some(_) => {}
                None => std::future::pending().await,
            }
        }
    }
}

impl Desk {
    /// The board that was found by this name, and what it is, as far as that is known or said.
    pub(super) async fn sighting(
        &mut self,
        id: &str,
        kind: Option<&str>,
    ) -> Result<(Sighting, Option<&'static Identity>), Refused> {
        if self.asking.is_busy(id) {
            let words = "this board is being asked already: one moment";
            return Err(Refused::NotNow(words.to_owned()));
        }
        let sightings = self.sightings().await;
        let sighting = sightings.into_iter().find(|sighting| sighting.id() == id);
        let Some(sighting) = sighting else {
            let words = "this board is no longer there, or is used already: look again";
            return Err(Refused::Missing(words.to_owned()));
        };
        if let Way::Serial(port) = &sighting.way
            && self.is_opened(port)
        {
            return Err(in_use(port).await);
        }
        let Some(kind) = kind else {
            let make = match &sighting.makes[..] {
                [make] => Some(*make),
                _ => None,
            };
            return Ok((sighting, make));
        };
        let mut makes = sighting.makes.iter().copied();
        let Some(make) = makes.find(|make| make.kind.as_str() == kind) else {
            let kinds: Vec<&str> = sighting
                .makes
                .iter()
                .map(|make| make.kind.as_str())
                .collect();
            return Err(Refused::Bad(format!(
                "it cannot be a {}: take one of {}",
                escaped(kind),
                kinds.join(", ")
            )));
        };
        Ok((sighting, Some(make)))
    }
}
