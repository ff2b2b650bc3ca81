//! Slots for connections, shared among the addresses they come from: when all are taken, an idle connection of the
//! address with the most of them makes room for a new one. One that has only just come may be spared: it makes room only
//! for an address that has fewer. Of the connections that play one game together, all but the first may have to make room.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// Wait after a connection could not be accepted (file descriptors exhausted).
pub const ACCEPT_WAIT: Duration = Duration::from_millis(200);
/// How long a connection that makes room may take to end. It has nothing left to do.
pub const LEAVE_WAIT: Duration = Duration::from_secs(2);

/// What counts as one address: this machine is one, and so is an IPv6 network (64 bits), as a machine may give itself
/// any address in it.
pub fn origin(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        address if address.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let network = address.to_bits() & !u128::from(u64::MAX);
            Ipv6Addr::from_bits(network).into()
        }
    }
}

/// Slots for connections.
#[derive(Clone, Debug)]
pub struct Slots {
    /// How long a connection is spared.
    spared: Duration,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug)]
struct Taken {
    /// The total.
    all: usize,
    /// The maximum per address.
    each: usize,
    next: u64,
    by: BTreeMap<u64, Seat>,
}

#[derive(Debug)]
struct Seat {
    origin: IpAddr,
    /// When it was taken.
    since: Instant,
    /// When its connection was last useful, if ever.
    used: Option<Instant>,
    /// The game that its client plays.
    game: Option<Joined>,
    leave: CancellationToken,
    left: CancellationToken,
}

/// A game that several connections may play.
#[derive(Debug)]
struct Joined {
    name: Arc<str>,
    /// A connection that joined earlier has a lower number.
    order: u64,
}

/// Players of one game that only make room for an address that has fewer connections: one for each colour. Further ones are
/// surplus, and make room for any.
const PLAYERS: usize = 2;

impl Slots {
    /// This many slots, with this maximum per address. A connection is spared for so long.
    pub fn new(all: usize, each: usize, spared: Duration) -> Self {
        let taken = Taken {
            all,
            each,
            next: 0,
            by: BTreeMap::new(),
        };
        Self {
            spared,
            taken: Arc::new(Mutex::new(taken)),
        }
    }

    /// Changes how many there are, and the maximum per address. Connections beyond them stay.
    pub fn resize(&self, all: usize, each: usize) {
        let mut taken = self.lock();
        (taken.all, taken.each) = (all, each);
    }

    /// How many are taken.
    pub fn taken(&self) -> usize {
        self.lock().by.len()
    }

    /// A slot for a connection from this address, once another one has made room if necessary. `None` if none
    /// does.
    pub async fn take(&self, address: IpAddr) -> Option<Slot> {
        let origin = origin(address);
        let deadline = Instant::now() + LEAVE_WAIT;
        loop {
            let left = match self.lock().room(origin, self.spared) {
                Room::Free(id, leave) => {
                    return Some(Slot {
                        id,
                        leave,
                        slots: self.clone(),
                    });
                }
                Room::Soon(left) => left,
                Room::None => return None,
            };
            let rest = deadline.saturating_duration_since(Instant::now());
            timeout(rest, left.cancelled()).await.ok()?;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        // A panic while holding the lock leaves nothing half done.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Room {
    /// The slot, and the token that tells its connection to leave.
    Free(u64, CancellationToken),
    /// Ready once this has happened.
    Soon(CancellationToken),
    None,
}

impl Taken {
    fn room(&mut self, origin: IpAddr, spared: Duration) -> Room {
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for seat in self.by.values() {
            *counts.entry(seat.origin).or_default() += 1;
        }
        let too_many = counts.get(&origin).is_some_and(|count| *count >= self.each);
        if !too_many && self.by.len() < self.all {
            let id = self.next;
            self.next += 1;
            let seat = Seat {
                origin,
                since: Instant::now(),
                used: None,
                game: None,
                leave: CancellationToken::new(),
                left: CancellationToken::new(),
            };
            let leave = seat.leave.clone();
            self.by.insert(id, seat);
            return Room::Free(id, leave);
        }
        let concerned = |seat: &&Seat| seat.origin == origin || !too_many;
        let count = |origin: &IpAddr| counts.get(origin).copied().unwrap_or(0);
        // After one has made room for the other, the newcomer's address has no more than the other.
        let has_many = |seat: &Seat| count(&seat.origin) > count(&origin) + 1;
        let before = self.joined_before();
        let joined_before = |seat: &Seat| {
            let order = seat.game.as_ref()?.order;
            before.get(&order).copied()
        };
        let may_go = |seat: &&Seat| {
            let goes = match joined_before(seat) {
                None => has_many(seat) || seat.since.elapsed() >= spared,
                Some(0) => false,
                Some(1..PLAYERS) => has_many(seat),
                Some(PLAYERS..) => true,
            };
            goes || seat.leave.is_cancelled()
        };
        let share = |seat: &&Seat| {
            let count = count(&seat.origin);
            let before = joined_before(seat);
            let plays = before.is_some_and(|before| before < PLAYERS);
            // One that is already leaving is waited for. Players go after idle and surplus ones, and of one game the one that
            // joined last; of those that were never useful, the oldest is first.
            (
                !seat.leave.is_cancelled(),
                plays,
                before.is_some(),
                Reverse(count),
                Reverse(before),
                seat.used,
            )
        };
        let seats = self.by.values().filter(concerned).filter(may_go);
        match seats.min_by_key(share) {
            Some(seat) => {
                seat.leave.cancel();
                Room::Soon(seat.left.clone())
            }
            None => Room::None,
        }
    }
}

impl Taken {
    /// For each connection that plays a game, by its order: how many others had joined its game before.
    fn joined_before(&self) -> BTreeMap<u64, usize> {
        let mut orders: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for game in self.by.values().filter_map(|seat| seat.game.as_ref()) {
            orders.entry(&game.name).or_default().push(game.order);
        }
        let mut before = BTreeMap::new();
        for mut orders in orders.into_values() {
            orders.sort_unstable();
            before.extend(orders.into_iter().zip(0..));
        }
        before
    }
}

/// A connection's slot, until it is dropped.
#[derive(Debug)]
pub struct Slot {
    id: u64,
    leave: CancellationToken,
    slots: Slots,
}

impl Slot {
    /// Cancelled when the connection has to make room.
    pub fn leave(&self) -> &CancellationToken {
        &self.leave
    }

    /// The connection was useful now.
    pub fn used(&self) {
        if let Some(seat) = self.slots.lock().by.get_mut(&self.id) {
            seat.used = Some(Instant::now());
        }
    }

    /// The connection plays the game of this name, or none. The first one that plays a game never makes room.
    pub fn plays(&self, game: Option<&str>) {
        let mut taken = self.slots.lock();
        let order = taken.next;
        let Some(seat) = taken.by.get_mut(&self.id) else {
            return;
        };
        if seat.game.as_ref().map(|game| &*game.name) != game {
            seat.game = game.map(|name| Joined {
                name: name.into(),
                order,
            });
            taken.next += 1;
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(seat) = self.slots.lock().by.remove(&self.id) {
            seat.left.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [192, 168, 1, last].into()
    }

    /// The next one to come, and the connection that makes room for it.
    async fn comes(slots: &Slots, from: u8, there: &mut Vec<(u8, Slot)>) -> Option<u8> {
        let taking = slots.take(address(from));
        tokio::pin!(taking);
        if let Some(slot) = futures_util::FutureExt::now_or_never(&mut taking) {
            there.push((from, slot?));
            return Some(from);
        }
        let leaving = |(_, slot): &(u8, Slot)| slot.leave().is_cancelled();
        let at = there.iter().position(leaving)?;
        let (who, slot) = there.remove(at);
        drop(slot);
        there.push((from, taking.await?));
        Some(who)
    }

    const SPARED: Duration = Duration::from_secs(3);

    #[tokio::test(start_paused = true)]
    async fn a_burst_costs_nobody_a_place_in_its_first_seconds() {
        let slots = Slots::new(4, 3, SPARED);
        let mut there = Vec::new();
        for _ in 0..3 {
            assert_eq!(comes(&slots, 1, &mut there).await, Some(1));
        }
        // Whether or not they have said something.
        there[1].1.used();
        let first: Vec<u64> = there.iter().map(|(_, slot)| slot.id).collect();
        for _ in 0..10 {
            assert!(slots.take(address(1)).await.is_none(), "of its own address");
        }
        assert_eq!(comes(&slots, 2, &mut there).await, Some(2));
        // An address that has fewer is not kept out.
        assert_eq!(comes(&slots, 3, &mut there).await, Some(1));
        assert_eq!(
            comes(&slots, 3, &mut there).await,
            None,
            "as many as the others"
        );
        assert_eq!(
            there
                .iter()
                .filter(|(_, slot)| first.contains(&slot.id))
                .count(),
            2
        );
        tokio::time::advance(SPARED).await;
        assert_eq!(comes(&slots, 3, &mut there).await, Some(1));
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_of_the_address_with_most_makes_room() {
        let slots = Slots::new(4, 3, Duration::ZERO);
        let mut there = Vec::new();
        for _ in 0..3 {
            assert_eq!(comes(&slots, 1, &mut there).await, Some(1));
        }
        // An address with its full share gives up one of its own.
        let oldest = there[0].1.id;
        assert_eq!(comes(&slots, 1, &mut there).await, Some(1));
        assert!(there.iter().all(|(_, slot)| slot.id != oldest));
        // Others need not wait for that.
        assert_eq!(comes(&slots, 2, &mut there).await, Some(2));
        assert_eq!(comes(&slots, 3, &mut there).await, Some(1));
        assert_eq!(slots.taken(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_plays_makes_no_room_and_whoever_spoke_last_does_so_last() {
        let slots = Slots::new(3, 3, Duration::ZERO);
        let mut there = Vec::new();
        for _ in 0..3 {
            comes(&slots, 1, &mut there).await;
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        there[0].1.plays(Some("one"));
        there[1].1.used();
        let (spoke, silent) = (there[1].1.id, there[2].1.id);
        comes(&slots, 2, &mut there).await;
        assert!(there.iter().all(|(_, slot)| slot.id != silent));
        assert!(there.iter().any(|(_, slot)| slot.id == spoke));
        for (game, (_, slot)) in ["one", "two", "three"].into_iter().zip(&there) {
            slot.plays(Some(game));
        }
        assert!(slots.take(address(3)).await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn those_that_join_one_game_make_room_the_last_first_and_whoever_has_a_game_alone_does_not()
     {
        let slots = Slots::new(6, 5, SPARED);
        let mut there = Vec::new();
        for (from, game) in [
            (2, "two"),
            (1, "one"),
            (1, "one"),
            (1, "one"),
            (1, "one"),
            (1, "one"),
        ] {
            comes(&slots, from, &mut there).await;
            there.last().unwrap().1.plays(Some(game));
        }
        let id = |at: usize| there[at].1.id;
        let (alone, first, second) = (id(0), id(1), id(2));
        // Of its own address too, at once.
        for from in [3, 4, 1] {
            let last = there.iter().rfind(|(from, _)| *from == 1).unwrap();
            let last = last.1.id;
            assert_eq!(comes(&slots, from, &mut there).await, Some(1));
            assert!(there.iter().all(|(_, slot)| slot.id != last));
            there.last().unwrap().1.plays(Some(&from.to_string()));
        }
        let stays = |id| there.iter().any(|(_, slot): &(u8, Slot)| slot.id == id);
        assert!(stays(alone) && stays(first) && stays(second));
        // A game's two players keep their places from an address that has as many.
        assert_eq!(comes(&slots, 1, &mut there).await, None);
        assert_eq!(comes(&slots, 5, &mut there).await, Some(1));
        let stays = |id| there.iter().any(|(_, slot): &(u8, Slot)| slot.id == id);
        assert!(stays(alone) && stays(first) && !stays(second));
    }

    #[test]
    fn a_machine_is_one_address() {
        let same = |a: &str, b: &str| origin(a.parse().unwrap()) == origin(b.parse().unwrap());
        assert!(same("127.0.0.1", "127.9.9.9") && same("127.0.0.1", "::1"));
        assert!(same("::ffff:10.0.0.1", "10.0.0.1") && same("fd00::1", "fd00::2:3"));
        assert!(!same("10.0.0.1", "10.0.0.2") && !same("fd00:0:0:1::1", "fd00:0:0:2::1"));
    }
}
