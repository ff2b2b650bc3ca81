//! Clients of other daemons that play on our boards.

use std::collections::{BTreeMap, BTreeSet};

use super::settings::DaemonName;
use crate::vocabulary::{BoardName, ClientId, Command};

/// Clients of other daemons at once, over all: as many as programs here, for each of as many daemons as a hall has tables.
pub const MAX_GUESTS: usize = 2_048;

/// A client of another daemon.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Guest {
    /// Its daemon.
    pub daemon: DaemonName,
    /// Which start of that daemon it belongs to; 0 if nobody says.
    pub epoch: u64,
    /// Its number there.
    pub client: ClientId,
}

#[derive(Debug)]
struct Known {
    /// Its number here.
    here: ClientId,
    /// The boards that it has said anything to.
    boards: BTreeSet<BoardName>,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Guests {
    known: BTreeMap<Guest, Known>,
    by_number: BTreeMap<ClientId, Guest>,
}

/// What a board is to be told of a guest.
pub type Told = (BoardName, Command);

impl Guests {
    /// The guest that has this number here.
    pub fn guest(&self, here: ClientId) -> Option<Guest> {
        self.by_number.get(&here).cloned()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The number here of a guest that says something to a board; a new one gets one from `number`. `None` if there are too many.
    pub fn number(
        &mut self,
        guest: &Guest,
        board: &BoardName,
        number: impl FnOnce() -> ClientId,
    ) -> Option<ClientId> {
        if let Some(known) = self.known.get_mut(guest) {
            if !known.boards.contains(board) {
                known.boards.insert(board.clone());
            }
            return Some(known.here);
        }
        if self.known.len() >= MAX_GUESTS {
            return None;
        }
        let here = number();
        let boards = BTreeSet::from([board.clone()]);
        self.by_number.insert(here, guest.clone());
        self.known.insert(guest.clone(), Known { here, boards });
        Some(here)
    }

    /// The guest has left this board for good.
    pub fn leaves(&mut self, guest: &Guest, board: &BoardName) {
        let Some(known) = self.known.get_mut(guest) else {
            return;
        };
        known.boards.remove(board);
        if known.boards.is_empty() {
            let here = known.here;
            self.known.remove(guest);
            self.by_number.remove(&here);
        }
    }

    /// A daemon is away, or back: its clients keep their boards until others want them.
    pub fn away(&self, daemon: &DaemonName, on: bool) -> Vec<Told> {
        let of = self
            .known
            .iter()
            .filter(|(guest, _)| guest.daemon == *daemon);
        let told = of.flat_map(|(_, known)| {
            let client = known.here;
            let boards = known.boards.iter();
            boards.map(move |board| (board.clone(), Command::Away { client, on }))
        });
        told.collect()
    }

    /// A daemon has started again: its clients of before are lost. Those that do not say which start they belong to are not known to be.
    pub fn started(&mut self, daemon: &DaemonName, epoch: u64) -> Vec<Told> {
        let old = |guest: &Guest| guest.daemon == *daemon && (1..epoch).contains(&guest.epoch);
        let lost = self.known.extract_if(.., |guest, _| old(guest));
        let mut told = Vec::new();
        for (_, Known { here, boards }) in lost {
            self.by_number.remove(&here);
            let boards = boards.into_iter();
            told.extend(boards.map(|board| (board, Command::Lost { client: here })));
        }
        told
    }

    /// All of them are lost: we leave the broker.
    pub fn all_lost(&mut self) -> Vec<Told> {
        self.by_number.clear();
        let known = std::mem::take(&mut self.known).into_values();
        let told = known.flat_map(|known| {
            let lost = move |board| (board, Command::Lost { client: known.here });
            known.boards.into_iter().map(lost)
        });
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guest(epoch: u64, client: u64) -> Guest {
        Guest {
            daemon: "hall-2".parse().unwrap(),
            epoch,
            client: ClientId(client),
        }
    }

    #[test]
    fn a_guest_keeps_its_number_until_it_leaves() {
        let mut guests = Guests::default();
        let board: BoardName = "citrine".parse().unwrap();
        let mut next = 10..;
        let mut number = || ClientId(next.next().unwrap());
        assert_eq!(
            guests.number(&guest(1, 7), &board, &mut number),
            Some(ClientId(10))
        );
        assert_eq!(
            guests.number(&guest(1, 7), &board, &mut number),
            Some(ClientId(10))
        );
        assert_eq!(guests.guest(ClientId(10)), Some(guest(1, 7)));
        guests.leaves(&guest(1, 7), &board);
        assert!(guests.is_empty());
        assert_eq!(
            guests.number(&guest(1, 7), &board, &mut number),
            Some(ClientId(11))
        );
    }

    #[test]
    fn the_clients_of_a_daemon_that_started_again_are_lost_but_not_its_new_ones() {
        let mut guests = Guests::default();
        let board: BoardName = "citrine".parse().unwrap();
        guests.number(&guest(1, 7), &board, || ClientId(10));
        guests.number(&guest(2, 7), &board, || ClientId(11));
        let told = guests.started(&"hall-2".parse().unwrap(), 2);
        let told: Vec<String> = told
            .iter()
            .map(|(_, command)| command.to_string())
            .collect();
        assert_eq!(told, ["lost 10"]);
        assert_eq!(guests.len(), 1);
        let told = guests.away(&"hall-2".parse().unwrap(), true);
        assert_eq!(told[0].1.to_string(), "away 11 on");
    }

    #[test]
    fn a_client_that_does_not_say_its_start_is_not_lost_by_a_sign_of_life() {
        let mut guests = Guests::default();
        let board: BoardName = "citrine".parse().unwrap();
        guests.number(&guest(0, 7), &board, || ClientId(10));
        assert!(
            guests
                .started(&"hall-2".parse().unwrap(), 1_796_000_000_000)
                .is_empty()
        );
        assert_eq!(guests.guest(ClientId(10)), Some(guest(0, 7)));
    }
}
