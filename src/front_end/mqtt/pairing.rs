//! Who plays whom on a board of another daemon: the pairing of the API's object, with what only daemons need.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use shakmaty::{ByColor, Color};

use crate::{
    bus::pairings::{ClocksAt, Pairing, Player, Saying},
    chess::game::MAX_PLIES,
    system::clock,
    vocabulary::{ClientName, Clocks, Evaluation, Snapshot},
};

/// What is only for other daemons.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PeerPairing {
    client: Option<ClientName>,
    /// Whether its game is over; it is the one on the board then.
    over: bool,
    began: Option<String>,
}

impl PeerPairing {
    /// That of a board in this state.
    pub fn of(pairing: &Pairing, board: &Snapshot) -> Self {
        let over = pairing.over.as_ref();
        Self {
            client: pairing.client.clone(),
            over: over.is_some_and(|over| over == board.played()),
            began: pairing.began.map(clock::exact),
        }
    }
}

/// The pairing as the API has it.
#[derive(Debug, Deserialize)]
struct Said {
    white: Option<Player>,
    black: Option<Player>,
    hand: Option<Side>,
    tournament: Option<String>,
    site: Option<String>,
    clocks: Option<SaidClocks>,
    #[serde(default)]
    clock_times: Vec<Option<f64>>,
    evaluation: Option<Evaluation>,
    offer: Option<Saying>,
    #[serde(default)]
    chat: Vec<String>,
    notice: Option<String>,
    #[serde(default)]
    can: Vec<Saying>,
}

#[derive(Debug, Deserialize)]
struct SaidClocks {
    white: f64,
    black: f64,
    at: String,
    runs: Option<Side>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    White,
    Black,
}

impl From<Side> for Color {
    fn from(side: Side) -> Self {
        match side {
            Side::White => Self::White,
            Side::Black => Self::Black,
        }
    }
}

impl SaidClocks {
    fn read(&self) -> Option<ClocksAt> {
        let left = |seconds| Duration::try_from_secs_f64(seconds).ok();
        Some(ClocksAt {
            clocks: Clocks {
                left: ByColor {
                    white: left(self.white)?,
                    black: left(self.black)?,
                },
                runs: self.runs.map(Color::from),
            },
            at: humantime::parse_rfc3339(&self.at).ok()?,
        })
    }
}

/// The pairing of a board in this state; `None` if there is none, or nothing here understands it.
pub fn read(said: &Value, peer: Option<&PeerPairing>, board: &Snapshot) -> Option<Pairing> {
    let said = Option::<Said>::deserialize(said).ok()??;
    let peer = peer.cloned().unwrap_or_default();
    let began = peer.began.as_ref();
    Some(Pairing {
        client: peer.client,
        over: peer.over.then(|| board.played().clone()),
        players: ByColor {
            white: said.white,
            black: said.black,
        },
        hand: said.hand.map(Color::from),
        event: said.tournament,
        began: began.and_then(|began| humantime::parse_rfc3339(began).ok()),
        site: said.site,
        clocks: said.clocks.and_then(|clocks| clocks.read()),
        clock_times: times(&said.clock_times).to_vec(),
        evaluation: said.evaluation,
        offer: said.offer,
        chat: said.chat.into_iter().collect(),
        notice: said.notice,
        can: said.can,
    })
}

/// Times in seconds, of as many moves as a game has at most.
pub fn times(seconds: &[Option<f64>]) -> Arc<[Option<Duration>]> {
    let time = |seconds: &Option<f64>| Duration::try_from_secs_f64((*seconds)?).ok();
    seconds.iter().take(MAX_PLIES).map(time).collect()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::{front_end::objects, vocabulary::BoardName};

    #[test]
    fn a_pairing_is_at_the_other_daemon_as_it_is_here() {
        let board = Snapshot::new(BoardName::default());
        let player = Player {
            name: "Anna".to_owned(),
            title: Some("WGM".to_owned()),
            rating: Some(2_400),
        };
        let second = Duration::from_secs(1);
        let pairing = Pairing {
            client: Some(ClientName::Lichess),
            over: Some(board.played().clone()),
            players: ByColor {
                white: Some(player),
                black: None,
            },
            hand: Some(Color::Black),
            event: Some("rated blitz".to_owned()),
            began: Some(SystemTime::UNIX_EPOCH + second),
            site: Some("https://example.org/1".to_owned()),
            clocks: Some(ClocksAt {
                clocks: Clocks {
                    left: ByColor {
                        white: 90 * second,
                        black: second / 2,
                    },
                    runs: Some(Color::White),
                },
                at: SystemTime::UNIX_EPOCH + 2 * second,
            }),
            clock_times: vec![None, Some(90 * second)],
            evaluation: Some(Evaluation::Cp(-120)),
            offer: Some(Saying::Draw),
            chat: ["hello".to_owned()].into_iter().collect(),
            notice: Some("the opponent has left".to_owned()),
            can: vec![Saying::Draw, Saying::TakeBack],
        };
        let peer = PeerPairing::of(&pairing, &board);
        let said = objects::pairing(&pairing);
        assert_eq!(read(&said, Some(&peer), &board), Some(pairing));
        assert_eq!(read(&Value::Null, None, &board), None);
        let strange = serde_json::json!({ "white": 7 });
        assert_eq!(read(&strange, None, &board), None);
    }
}
