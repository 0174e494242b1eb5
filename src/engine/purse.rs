//! What a run may cost: its calls share one purse, also those that go on side by side.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::cost::{Cost, Room, room};
use super::ports::Upstream;
use crate::answer::{Reply, SendFailure};
use crate::guard::{Bill, Reserve};
use crate::job::Request;
use crate::money::Dollars;

/// What a run has cost, and what it may cost.
#[derive(Debug)]
pub(super) struct Purse {
    cap: Option<Dollars>,
    spent: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    cost: Cost,
    /// What the attempts under way may cost.
    reserved: Dollars,
}

impl Purse {
    /// The purse of a run that may cost so much.
    pub fn new(cap: Option<Dollars>) -> Self {
        Self {
            cap,
            spent: Mutex::default(),
        }
    }

    /// Sets aside what an attempt may cost, if there is room.
    pub fn take(&self, next: Option<Dollars>) -> Room {
        let mut spent = self.lock();
        let room = room(self.cap, spent.cost.committed().plus(spent.reserved), next);
        if room == Room::Go {
            spent.reserved = spent.reserved.plus(next.unwrap_or_default());
        }
        room
    }

    /// Whether there is room only once attempts under way have cost less than they may.
    pub fn must_wait(&self, next: Option<Dollars>) -> bool {
        let spent = self.lock();
        let committed = spent.cost.committed();
        let is_full = room(self.cap, committed.plus(spent.reserved), next) == Room::NotInThisRun;
        is_full && room(self.cap, committed, next) == Room::Go
    }

    /// Nothing was sent after all.
    pub fn give_back(&self, reserve: Option<Dollars>) {
        let mut spent = self.lock();
        spent.reserved = spent.reserved.minus(reserve.unwrap_or_default());
    }

    /// An attempt ended: what was set aside for it gives way to what it cost.
    pub fn pay(
        &self,
        upstream: &dyn Upstream,
        request: &Request,
        reserve: Option<Reserve>,
        result: Option<&Result<Reply, SendFailure>>,
    ) -> Bill {
        self.give_back(reserve.map(|reserve| reserve.amount));
        self.lock().cost.add(upstream, request, reserve, result)
    }

    /// Adds what an answer of a batch cost.
    pub fn count(&self, cost: Option<Dollars>) {
        self.lock().cost.count(cost);
    }

    /// Dollars of the run so far; `None` if nothing was counted, or if any of it has no known price.
    pub fn known(&self) -> Option<Dollars> {
        self.lock().cost.known()
    }

    /// No step leaves the state half changed, so a panic elsewhere poisons nothing.
    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn cents(cents: u64) -> Dollars {
        Dollars::from_nanos(cents * 10_000_000)
    }

    #[test]
    fn attempts_side_by_side_share_the_cap() {
        let purse = Purse::new(Some(cents(10)));
        assert_eq!(purse.take(Some(cents(6))), Room::Go);
        assert_eq!(purse.take(Some(cents(6))), Room::NotInThisRun);
        assert!(purse.must_wait(Some(cents(6))));
        purse.give_back(Some(cents(6)));
        assert!(!purse.must_wait(Some(cents(6))));
        assert_eq!(purse.take(Some(cents(6))), Room::Go);
    }

    #[test]
    fn a_run_without_a_cap_has_room() {
        let purse = Purse::new(None);
        assert_eq!(purse.take(None), Room::Go);
        assert_eq!(purse.known(), None);
    }
}
