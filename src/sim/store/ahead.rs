//! What a clock that was ahead has written, once it was set back.

use chrono::{DateTime, TimeDelta, Utc};

use super::rows::{DeferralRow, Rows, RunRow};
use crate::engine::keep::{self, DeferralState};
use crate::slot::{Origin, Slot};

impl Rows {
    pub(super) fn skip(&mut self, starts: &[(String, DateTime<Utc>)]) {
        for (name, start) in starts {
            if let Some((_, starts_at)) = self.schedules.get_mut(name) {
                *starts_at = (*starts_at).max(*start);
            }
        }
    }

    pub(super) fn rewind(&mut self, now: DateTime<Utc>) {
        let behind = self.slots.keys().filter(|slot| slot.fire_at <= now);
        let void = behind.filter(|slot| self.is_void(slot, now));
        let first = void.map(|slot| slot.fire_at - TimeDelta::seconds(1)).min();
        self.watermark = Some(first.map_or(now, |first| first.min(now)));
        for guard in self.guards.values_mut() {
            guard.set_back(now);
        }
        for row in &mut self.deferrals {
            if row.state == DeferralState::Pending && keep::is_freed_by_rewind(&row.deferral, now) {
                row.deferral.wait.not_before = now;
                row.deferral.wait.to = None;
            }
        }
    }

    /// Takes back the record of a slot that may be claimed anew; whether it was one.
    pub(super) fn take_back(&mut self, slot: &Slot, now: DateTime<Utc>) -> bool {
        if !self.is_void(slot, now) || self.runs_of(slot).count() != 1 {
            return false;
        }
        let own = self.runs_of(slot).map(|row| row.run.id).next();
        if let Some(id) = own {
            self.run_row(id).is_taken_back = true;
        }
        let of_slot = |row: &&mut DeferralRow| row.deferral.slot == *slot;
        for row in self.deferrals.iter_mut().filter(of_slot) {
            row.is_taken_back = true;
            row.state = DeferralState::Merged;
        }
        self.slots.remove(slot);
        true
    }

    fn is_void(&self, slot: &Slot, now: DateTime<Utc>) -> bool {
        let outcome = self.slots.get(slot).and_then(Option::as_ref);
        self.claimed_at(slot)
            .is_some_and(|at| keep::is_void(at, outcome, now))
    }

    /// A slot's own run begins with the claim.
    fn claimed_at(&self, slot: &Slot) -> Option<DateTime<Utc>> {
        let mut runs = self.runs_of(slot);
        let own = runs.find(|row| row.run.origin == Origin::Scheduled)?;
        Some(own.run.started_at)
    }

    fn runs_of<'a>(&'a self, slot: &'a Slot) -> impl Iterator<Item = &'a RunRow> {
        let of_slot = |row: &&RunRow| {
            !row.is_taken_back && row.run.job == slot.job && row.run.fire_at == slot.fire_at
        };
        self.runs.iter().filter(of_slot)
    }
}
