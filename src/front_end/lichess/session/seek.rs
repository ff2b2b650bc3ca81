//! The search for an opponent.

use std::time::{Duration, Instant};

use super::{LichessAccount, Outcome, Ticket, lost};
use crate::{
    front_end::lichess::{notice::Notice, request::Request},
    vocabulary::TimeControl,
};

/// How many times the connection of one search may be lost while the others stay.
const MAX_CUTS: u8 = 5;
/// How long after that it is opened again: by then the stream of events has told of a game that the search led to.
const CUT_WAIT: Duration = Duration::from_secs(5);

/// A search for an opponent.
#[derive(Debug)]
pub(super) struct Sought {
    request: Request,
    pub time: TimeControl,
    /// The person who has asked for it.
    pub ticket: Ticket,
    stage: Stage,
    /// How many times its own connection was lost.
    cuts: u8,
}

impl Sought {
    /// Whether it stands on Lichess without a connection, and cannot be ended from here.
    fn stays(&self) -> bool {
        self.stage == Stage::Open && matches!(self.time, TimeControl::Days(_))
    }

    /// When its lost connection is opened again.
    pub fn deadline(&self) -> Option<Instant> {
        match self.stage {
            Stage::Cut(again) => again,
            Stage::Asked | Stage::Open => None,
        }
    }

    /// That time may have come.
    pub fn timeout(&mut self, now: Instant) {
        if let Stage::Cut(again) = &mut self.stage {
            again.take_if(|again| *again <= now);
        }
    }
}

/// How far the search for an opponent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Lichess has not accepted it yet; the person waits for the answer.
    Asked,
    /// Lichess has accepted it.
    Open,
    /// Its connection was lost. It is opened again: at this time, or else with the next stream of events.
    Cut(Option<Instant>),
}

impl LichessAccount {
    /// Looks for an opponent; the requester is answered when Lichess has accepted it.
    pub(super) fn seeks(&mut self, request: Request, time: TimeControl, ticket: Ticket) {
        if self.pause.lasts() {
            self.refuse(Some(ticket), &Notice::Pause.to_string());
            return;
        }
        if !self.connected {
            let why = self.problem();
            let why = why.unwrap_or_else(|| "it has not answered yet".to_owned());
            self.refuse(Some(ticket), &format!("Lichess is not connected: {why}"));
            return;
        }
        self.unanswered_seek_ends("another search has taken its place");
        let known = self.seek.take();
        let is_open =
            known.is_some_and(|known| known.request == request && known.stage == Stage::Open);
        self.seek = Some(Sought {
            request,
            time,
            ticket,
            stage: Stage::Asked,
            cuts: 0,
        });
        if is_open {
            self.seek_opened();
        }
    }

    /// Gives up a search that Lichess has not accepted yet, for this reason.
    pub(super) fn unanswered_seek_ends(&mut self, why: &str) {
        let unanswered = self.seek.take_if(|seek| seek.stage == Stage::Asked);
        if let Some(Sought { ticket, .. }) = unanswered {
            self.refuse(Some(ticket), why);
        }
    }

    /// The connection is lost, and the search with it, for this reason.
    pub(super) fn seek_is_cut(&mut self, why: &str) {
        self.unanswered_seek_ends(why);
        self.seek.take_if(|seek| seek.stays());
        if let Some(seek) = &mut self.seek
            && seek.stage == Stage::Open
        {
            seek.stage = Stage::Cut(None);
        }
    }

    /// Answers the person who waits for the search.
    pub(super) fn seek_is_answered(&mut self, words: &str) {
        let waits = self.seek.as_ref().filter(|seek| seek.stage == Stage::Asked);
        if let Some(ticket) = waits.map(|seek| seek.ticket) {
            self.reply(Some(ticket), Ok(words.to_owned()));
        }
    }

    /// Lichess has accepted the search.
    pub fn seek_opened(&mut self) {
        let Some(Sought { time, .. }) = &self.seek else {
            return;
        };
        let words = match time {
            TimeControl::Clock { .. } => format!("looking for an opponent ({time})"),
            // It outlives the connection, and the API cannot end it.
            TimeControl::Days(_) => format!(
                "looking for an opponent ({time}): it stands on Lichess until somebody takes it; withdraw it there"
            ),
        };
        self.seek_is_answered(&words);
        if let Some(seek) = &mut self.seek {
            seek.stage = Stage::Open;
        }
    }

    /// The seek whose answer has to stay open: Lichess searches for as long.
    pub fn seek(&self) -> Option<&Request> {
        let waits = |seek: &&Sought| matches!(seek.stage, Stage::Cut(Some(_)));
        let seek = self.seek.as_ref().filter(|seek| !waits(seek));
        seek.map(|seek| &seek.request)
    }

    /// The search has ended, with an opponent or without.
    pub fn seek_ended(&mut self, now: Instant, outcome: Outcome) {
        match outcome {
            Outcome::TooMany => self.pause(now),
            Outcome::NoToken => self.no_token(),
            _ => {}
        }
        let Some(mut seek) = self.seek.take() else {
            return;
        };
        let is_cut = seek.stage != Stage::Asked && matches!(outcome, Outcome::Lost(_));
        if is_cut && seek.stays() {
            return;
        }
        if is_cut && seek.cuts < MAX_CUTS {
            seek.stage = Stage::Cut(Some(now + CUT_WAIT));
            seek.cuts += 1;
            self.seek = Some(seek);
            return;
        }
        let why = match outcome {
            Outcome::Refused(words) => seek.request.refused(&Notice::words(&words)),
            Outcome::Lost(why) => lost(&why).into(),
            Outcome::TooMany => Notice::Pause.to_string().into(),
            Outcome::NoToken => Notice::NoToken.to_string().into(),
            Outcome::Done(_) => return,
        };
        if seek.stage == Stage::Asked {
            self.reply(Some(seek.ticket), Err(why));
        } else {
            let notice = Notice::NoLongerSought(why.to_string());
            self.out.notices.push_back(notice);
        }
    }
}
