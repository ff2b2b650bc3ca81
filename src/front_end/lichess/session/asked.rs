//! What the player asks of the account, and says to the opponent.

use super::{LichessAccount, Ticket, seek::Sought};
use crate::{
    bus::{
        account::{Ask, NotDone, Side},
        pairings::Saying,
    },
    front_end::lichess::{
        notice::Notice,
        play::Play,
        request::{InGame, OfChallenge, Request, is_plain},
    },
    vocabulary::TimeControl,
};

/// The most seconds for each move in a challenge; a seek may have more.
const MAX_INCREMENT: u32 = 60;

impl LichessAccount {
    /// The player says something to the opponent.
    pub fn said(&mut self, saying: Saying, ticket: Ticket) {
        let offer = self.running().and_then(Play::offer);
        match saying {
            Saying::Ready => {
                self.out.seat.ready();
                self.reply(Some(ticket), Ok("done".to_owned()));
            }
            Saying::NewGame => {
                let words =
                    "to start a Lichess game, seek or challenge: `boardbridge lichess seek 15+10`";
                self.refuse(Some(ticket), words);
            }
            Saying::Draw => self.in_game(InGame::Draw(true), ticket),
            Saying::TakeBack => self.in_game(InGame::TakeBack(true), ticket),
            Saying::Decline => match offer {
                Some(Saying::Draw) => self.in_game(InGame::Draw(false), ticket),
                Some(_) => self.in_game(InGame::TakeBack(false), ticket),
                None => self.refuse(Some(ticket), "nothing is offered"),
            },
            Saying::Resign => self.in_game(InGame::Resign, ticket),
            Saying::Abort => self.in_game(InGame::Abort, ticket),
            Saying::Berserk => self.in_game(InGame::Berserk, ticket),
        }
    }

    /// The player asks something of the account.
    pub fn asked(&mut self, ask: Ask, ticket: Ticket) {
        if let Some(why) = self.refusal(&ask) {
            self.reply(Some(ticket), Err(why));
            return;
        }
        match ask {
            Ask::Seek { time, rated, side } => {
                let request = Request::Seek { time, rated, side };
                self.seeks(request, time, ticket);
            }
            Ask::Withdraw => {
                let own = self
                    .challenges
                    .list()
                    .iter()
                    .filter(|challenge| challenge.own);
                let own: Vec<String> = own.map(|challenge| challenge.id.clone()).collect();
                let ends = |seek: &Sought| matches!(seek.time, TimeControl::Clock { .. });
                let seeks = self.seek.as_ref().is_some_and(ends);
                if !seeks && own.is_empty() {
                    let words = "nothing here can be withdrawn. A correspondence search stands on Lichess until somebody takes it: withdraw it there";
                    self.refuse(Some(ticket), words);
                    return;
                }
                if seeks {
                    self.unanswered_seek_ends("withdrawn");
                    self.seek = None;
                }
                for id in own {
                    self.ask_for(Request::OfChallenge(id, OfChallenge::Cancel), None);
                }
                self.reply(Some(ticket), Ok("withdrawn".to_owned()));
            }
            Ask::Challenge {
                user,
                time,
                rated,
                side,
            } => {
                let request = Request::Challenge {
                    user,
                    time,
                    rated,
                    side,
                };
                self.ask_for(request, Some(ticket));
            }
            Ask::Computer { level, time, side } => {
                self.ask_for(Request::Computer { level, time, side }, Some(ticket));
            }
            Ask::Accept(id) => self.of_challenge(id.as_deref(), OfChallenge::Accept, ticket),
            Ask::Decline(id) => {
                self.of_challenge(id.as_deref(), OfChallenge::Decline("generic"), ticket);
            }
        }
    }

    /// Why this cannot be asked, in words with the remedy.
    pub(super) fn refusal(&self, ask: &Ask) -> Option<NotDone> {
        let refused = |words: String| Some(NotDone::Refused(words));
        let (time, is_seek) = match ask {
            Ask::Seek {
                time: TimeControl::Days(_),
                side: Side::White | Side::Black,
                ..
            } => {
                let words = "Lichess draws the colour of a correspondence game that anyone may join: leave it out, or challenge someone";
                return refused(words.to_owned());
            }
            Ask::Seek { time, .. } => (time, true),
            Ask::Challenge { user, .. } if !is_plain(user) => {
                return refused(format!("`{}` is not a player's name", Notice::words(user)));
            }
            Ask::Challenge { time, .. } | Ask::Computer { time, .. } => (time, false),
            Ask::Withdraw | Ask::Accept(_) | Ask::Decline(_) => return None,
        };
        if let TimeControl::Clock { increment, .. } = time
            && !is_seek
            && *increment > MAX_INCREMENT
        {
            return refused(format!(
                "Lichess adds at most {MAX_INCREMENT} s for each move in a challenge, and {time} adds {increment}"
            ));
        }
        // A challenge could become a game that the board may not play; a seek is judged by the server.
        if !is_seek && time.is_bullet() {
            return refused(format!(
                "Lichess lets boards play no bullet, and {time} is bullet: take 3+2 or longer"
            ));
        }
        if self.running().is_some_and(Play::is_timed) {
            let words = "a game runs at the board: finish it first";
            return Some(NotDone::NotNow(words.to_owned()));
        }
        None
    }

    pub(super) fn of_challenge(&mut self, id: Option<&str>, what: OfChallenge, ticket: Ticket) {
        let chosen = self.challenges.meant(id);
        let chosen = chosen.and_then(|challenge| match (what, &challenge.unfit) {
            (OfChallenge::Accept, Some(why)) => Err(why.clone()),
            _ => Ok(challenge.id.clone()),
        });
        match chosen {
            Ok(id) => self.ask_for(Request::OfChallenge(id, what), Some(ticket)),
            Err(words) => self.refuse(Some(ticket), &words),
        }
    }
}
