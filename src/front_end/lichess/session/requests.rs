//! The requests that wait for Lichess, one after the other, and what becomes of them.

use std::{collections::VecDeque, time::Instant};

use super::{LichessAccount, Outcome, Ticket, lost};
use crate::{
    bus::account::NotDone,
    front_end::lichess::{
        notice::Notice,
        objects,
        play::SendOutcome,
        request::{InGame, Request},
    },
};

/// Requests that may wait: a person presses one button at a time.
pub const MAX_REQUESTS: usize = 16;

impl LichessAccount {
    /// The next request; [`Self::answered`] has to follow before there is another.
    pub fn poll_request(&mut self, now: Instant) -> Option<Request> {
        if self.under_way.is_some() || !self.may_ask(now) {
            return None;
        }
        self.pause.ends(now);
        let next = match self.of_play().or_else(|| self.of_board()) {
            Some(request) => (request, None),
            None => self.queue.pop_front()?,
        };
        self.under_way = Some(next.clone());
        Some(next.0)
    }

    /// The hand's move or resignation: it goes before all other requests.
    pub(super) fn of_play(&mut self) -> Option<Request> {
        let play = self.play.as_mut()?;
        let what = play.next_request()?;
        Some(Request::InGame(play.id().to_owned(), what))
    }

    /// What else the board asks for in its game.
    pub(super) fn of_board(&mut self) -> Option<Request> {
        let play = self.play.as_ref().filter(|play| play.end().is_none())?;
        let wish = play.next_wish(&mut self.out)?;
        let request = Request::InGame(play.id().to_owned(), wish.what);
        self.wish = Some(wish);
        Some(request)
    }

    /// A person asks something in the game at the board.
    pub(super) fn in_game(&mut self, what: InGame, ticket: Ticket) {
        match self.running().map(|play| play.id().to_owned()) {
            Some(id) => self.ask_for(Request::InGame(id, what), Some(ticket)),
            None => self.refuse(Some(ticket), "there is no game at the board"),
        }
    }

    pub(super) fn ask_for(&mut self, request: Request, ticket: Option<Ticket>) {
        if ticket.is_some() && self.pause.lasts() {
            // Its person does not wait for a minute.
            self.refuse(ticket, &Notice::Pause.to_string());
        } else if self.queue.len() < MAX_REQUESTS {
            self.queue.push_back((request, ticket));
        } else {
            self.refuse(ticket, "too much was asked at once: try again");
        }
    }

    pub(super) fn reply(&mut self, ticket: Option<Ticket>, answer: Result<String, NotDone>) {
        match (ticket, answer) {
            (Some(ticket), answer) => self.replies.push_back((ticket, answer)),
            (None, Err(why)) => self.out.notices.push_back(Notice::Refused(why.to_string())),
            (None, Ok(_)) => {}
        }
    }

    /// Answers that it cannot be done now.
    pub(super) fn refuse(&mut self, ticket: Option<Ticket>, words: &str) {
        self.reply(ticket, Err(words.to_owned().into()));
    }

    /// The request under way has this result.
    pub fn answered(&mut self, now: Instant, outcome: Outcome) {
        let Some((request, ticket)) = self.under_way.take() else {
            return;
        };
        let wish = self.wish.take();
        if outcome == Outcome::TooMany {
            self.pause(now);
        }
        if outcome == Outcome::NoToken {
            self.no_token();
        }
        let sent = match &outcome {
            Outcome::Done(_) => SendOutcome::Taken,
            Outcome::TooMany => SendOutcome::NotSent,
            Outcome::Refused(_) => SendOutcome::Refused,
            Outcome::Lost(_) | Outcome::NoToken => SendOutcome::Unsure,
        };
        let stream = self.stream;
        let play = match &request {
            Request::InGame(id, _) => self.play.as_mut().filter(|play| play.id() == id),
            _ => None,
        };
        match (&request, ticket) {
            (Request::InGame(_, InGame::Move(m)), _) => {
                if play.is_some_and(|play| play.sent(*m, sent, stream, &mut self.out)) {
                    self.lost_stream();
                }
                return;
            }
            // The hand resigned by the kings.
            (Request::InGame(_, InGame::Resign | InGame::Abort), None) => {
                if play.is_some_and(|play| play.resigned(sent, stream)) {
                    self.lost_stream();
                }
                if sent != SendOutcome::Refused {
                    return;
                }
            }
            _ => {}
        }
        match (request, outcome) {
            (Request::Account, Outcome::Done(text)) => {
                let me = objects::read::<objects::Me>(text.as_bytes());
                self.user = me.ok().map(|me| Notice::words(&me.username));
            }
            (Request::Account, _) => self.asked_user = false,
            (Request::Challenge { .. }, Outcome::Done(_)) => {
                self.reply(
                    ticket,
                    Ok("challenged: the game begins when they accept".to_owned()),
                );
            }
            (request, Outcome::Done(_)) => {
                if let Request::OfChallenge(id, _) = &request {
                    self.challenges.is_gone(id);
                }
                self.reply(ticket, Ok("done".to_owned()));
            }
            (request, Outcome::Refused(words)) => {
                self.reply(ticket, Err(request.refused(&Notice::words(&words))));
            }
            (_, Outcome::NoToken) => self.refuse(ticket, &Notice::NoToken.to_string()),
            // A request by a button is not repeated after the pause; one from the board is.
            (request, Outcome::TooMany) if ticket.is_none() => match wish {
                Some(wish) => self.out.again(wish),
                None => self.queue.push_front((request, None)),
            },
            (_, Outcome::TooMany) => self.refuse(ticket, &Notice::Pause.to_string()),
            (_, Outcome::Lost(why)) => self.refuse(ticket, &lost(&why)),
        }
    }

    /// Requests of a game that is over are dropped.
    pub(super) fn drop_needless(&mut self) {
        let Some(play) = &self.play else { return };
        let id = play.id().to_owned();
        let (gone, rest): (VecDeque<_>, _) = self
            .queue
            .drain(..)
            .partition(|(request, _)| matches!(request, Request::InGame(of, _) if *of == id));
        self.queue = rest;
        self.out.wishes.clear();
        for (_, ticket) in gone {
            if ticket.is_some() {
                self.refuse(ticket, "the game is over");
            }
        }
    }

    /// The person with this ticket no longer waits for the answer. Their request is dropped if it has not begun, and their
    /// search is withdrawn: a game must not begin with nobody there.
    pub fn has_left(&mut self, ticket: Ticket) {
        self.queue.retain(|(_, of)| *of != Some(ticket));
        self.seek.take_if(|seek| seek.ticket == ticket);
    }
}
