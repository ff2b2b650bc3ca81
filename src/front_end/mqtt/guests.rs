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

    /// A guest says something: what boards are to be told of those that make way for it. One of a later start of its daemon shows that
    /// those of before are gone, though the daemon has not said so yet; and where there are too many, the daemon that has most of them
    /// loses its first one.
    pub fn comes(&mut self, guest: &Guest) -> Vec<Told> {
        if self.known.contains_key(guest) {
            return Vec::new();
        }
        let mut told = self.started(&guest.daemon, guest.epoch);
        if self.known.len() < MAX_GUESTS {
            return told;
        }
        let mut shares: BTreeMap<&DaemonName, (usize, &Guest)> = BTreeMap::new();
        for guest in self.known.keys() {
            shares.entry(&guest.daemon).or_insert((0, guest)).0 += 1;
        }
        let most = shares.into_values().max_by_key(|(count, _)| *count);
        let lost = most.map(|(_, first)| first.clone());
        if let Some(lost) = lost.and_then(|lost| self.known.remove(&lost)) {
            told.extend(self.told_lost(lost));
        }
        told
    }

    /// The number here of a guest that says something to a board; a new one gets one from `number`.
    pub fn number(
        &mut self,
        guest: &Guest,
        board: &BoardName,
        number: impl FnOnce() -> ClientId,
    ) -> ClientId {
        if let Some(known) = self.known.get_mut(guest) {
            if !known.boards.contains(board) {
                known.boards.insert(board.clone());
            }
            return known.here;
        }
        let here = number();
        let boards = BTreeSet::from([board.clone()]);
        self.by_number.insert(here, guest.clone());
        self.known.insert(guest.clone(), Known { here, boards });
        here
    }

    /// The guest has left this board for good. `true` if it has said nothing to another.
    pub fn leaves(&mut self, guest: &Guest, board: &BoardName) -> bool {
        let Some(known) = self.known.get_mut(guest) else {
            return true;
        };
        known.boards.remove(board);
        if !known.boards.is_empty() {
            return false;
        }
        let here = known.here;
        self.known.remove(guest);
        self.by_number.remove(&here);
        true
    }

    fn told_lost(&mut self, Known { here, boards }: Known) -> Vec<Told> {
        self.by_number.remove(&here);
        let lost = |board| (board, Command::Lost { client: here });
        boards.into_iter().map(lost).collect()
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
        let lost: Vec<Known> = lost.map(|(_, lost)| lost).collect();
        lost.into_iter()
            .flat_map(|lost| self.told_lost(lost))
            .collect()
    }

    /// All of them are lost: we leave the broker.
    pub fn all_lost(&mut self) -> Vec<Told> {
        let known = std::mem::take(&mut self.known).into_values();
        known.flat_map(|known| self.told_lost(known)).collect()
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
            ClientId(10)
        );
        assert_eq!(
            guests.number(&guest(1, 7), &board, &mut number),
            ClientId(10)
        );
        assert_eq!(guests.guest(ClientId(10)), Some(guest(1, 7)));
        guests.leaves(&guest(1, 7), &board);
        assert!(guests.is_empty());
        assert_eq!(
            guests.number(&guest(1, 7), &board, &mut number),
            ClientId(11)
        );
    }

    #[test]
    fn the_daemon_that_has_most_makes_room() {
        let mut guests = Guests::default();
        let board: BoardName = "citrine".parse().unwrap();
        let theirs = Guest {
            daemon: "hall-3".parse().unwrap(),
            ..guest(0, 1)
        };
        guests.number(&theirs, &board, || ClientId(1));
        for client in 2..=MAX_GUESTS as u64 {
            guests.number(&guest(0, client), &board, || ClientId(client));
        }
        assert!(guests.comes(&theirs).is_empty(), "it is there already");
        let another = Guest {
            client: ClientId(7),
            ..theirs.clone()
        };
        let told = guests.comes(&another);
        assert_eq!(told[0].1.to_string(), "lost 2");
        guests.number(&another, &board, || ClientId(9_999));
        assert_eq!(guests.len(), MAX_GUESTS);
        assert_eq!(guests.guest(ClientId(1)), Some(theirs));
        assert_eq!(guests.guest(ClientId(2)), None);
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

    #[test]
    fn a_client_of_a_later_start_shows_that_those_of_before_are_gone() {
        let mut guests = Guests::default();
        let board: BoardName = "citrine".parse().unwrap();
        guests.number(&guest(1, 7), &board, || ClientId(10));
        let told = guests.comes(&guest(2, 3));
        let told = told
            .iter()
            .map(|(board, command)| format!("{board}: {command}"));
        assert_eq!(told.collect::<Vec<_>>(), ["citrine: lost 10"]);
        assert!(guests.is_empty());
    }
}
