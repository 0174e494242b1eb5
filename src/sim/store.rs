//! The store in memory, for virtual time.
//!
//! It keeps the same promises as the store on disk, less durability: each
//! method is one step under one lock, and a step that fails changes nothing.

mod ahead;
mod batches;
mod claim;
mod deliveries;
mod person;
mod pieces;
mod rows;

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};

use self::rows::{DeferralRow, Rows};
use crate::engine::audit::{Ledger, ScheduleRow};
use crate::engine::keep::{DeferralRecord, DeferralState};
use crate::engine::pause::Pauses;
use crate::engine::ports::{
    Ask, Claimed, Collected, Deferral, Delivery, Finish, ManualStart, Offer, OpenBatch, PickupAt,
    PieceEnd, Progress, Redelivered, Store, Stored, Taken, Tick, Told,
};
use crate::guard::{Guard, Permit, Refusal};
use crate::job::{GroupId, Which};
use crate::outcome::{Outcome, Run, RunId};
use crate::piece::Item;
use crate::slot::Slot;

/// The store in memory. Nothing outlives it.
#[derive(Debug, Default)]
pub struct MemoryStore {
    rows: Mutex<Rows>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Every run so far, oldest first.
    #[must_use]
    pub fn runs(&self) -> Vec<Run> {
        let rows = self.lock();
        let kept = rows.runs.iter().filter(|row| !row.is_taken_back);
        kept.map(|row| row.run.clone()).collect()
    }

    /// Looks at every run so far, oldest first, without copying any.
    pub fn with_runs<T>(&self, look: impl FnOnce(&[&Run]) -> T) -> T {
        let rows = self.lock();
        let kept = rows.runs.iter().filter(|row| !row.is_taken_back);
        let kept: Vec<&Run> = kept.map(|row| &row.run).collect();
        look(&kept)
    }

    /// The text of a run's answer; `None` if it brought none, or the text went to [`Run::output`].
    #[must_use]
    pub fn answer(&self, run: RunId) -> Option<String> {
        self.lock().text(run)
    }

    /// Every claimed slot with the outcome of its own run; `None` while that runs.
    #[must_use]
    pub fn slots(&self) -> Vec<(Slot, Option<Outcome>)> {
        self.lock()
            .slots
            .iter()
            .map(|(slot, outcome)| (slot.clone(), outcome.clone()))
            .collect()
    }

    /// Every deferral so far, and what became of it, oldest row first.
    #[must_use]
    pub fn all_deferrals(&self) -> Vec<DeferralRecord> {
        let record = |row: &DeferralRow| DeferralRecord {
            deferral: row.deferral.clone(),
            state: row.state,
            run: row.run,
            ended_at: row.ended_at,
        };
        let rows = self.lock();
        let kept = rows.deferrals.iter().filter(|row| !row.is_taken_back);
        kept.map(record).collect()
    }

    /// All rows as they are now.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        let (slots, runs, deferrals) = (self.slots(), self.runs(), self.all_deferrals());
        let rows = self.lock();
        Ledger {
            watermark: rows.watermark,
            schedules: rows.schedule_rows(),
            slots,
            runs,
            deferrals,
            guards: rows.guards.clone().into_iter().collect(),
        }
    }

    /// Whether work that was due up to an instant is under way or waits for a slot, also as part of the work of a later
    /// slot that took it over.
    #[must_use]
    pub fn has_open_work(&self, until: DateTime<Utc>) -> bool {
        let rows = self.lock();
        let mut taken: BTreeSet<Slot> = BTreeSet::new();
        // A row comes after those whose work its slot has taken over.
        for row in &rows.deferrals {
            let slot = &row.deferral.slot;
            let is_asked = slot.fire_at <= until || taken.contains(slot);
            let by = row.run.filter(|_| row.state == DeferralState::Merged);
            let by = by.and_then(|by| rows.runs.get(rows::index(by)));
            if let (true, Some(by)) = (is_asked, by) {
                taken.insert(by.run.slot());
            }
        }
        let is_asked = |slot: &Slot| slot.fire_at <= until || taken.contains(slot);
        // What is open is young.
        let mut runs = rows.runs.iter().rev();
        let mut waits = rows.deferrals.iter().rev();
        runs.any(|row| row.run.outcome.is_none() && is_asked(&row.run.slot()))
            || waits.any(|row| row.state == DeferralState::Pending && is_asked(&row.deferral.slot))
    }

    /// When a breaker opened, and whose, in order.
    #[must_use]
    pub fn openings(&self) -> Vec<(GroupId, DateTime<Utc>)> {
        self.lock().openings.clone()
    }

    /// A group's guard; a new one if the group has sent nothing.
    #[must_use]
    pub fn guard(&self, group: &GroupId) -> Guard {
        self.lock().guards.get(group).cloned().unwrap_or_default()
    }

    /// No step leaves the rows half changed, so a panic elsewhere poisons nothing.
    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn adopt<'a>(
        &'a self,
        schedules: &'a [(String, String)],
        now: DateTime<Utc>,
    ) -> Stored<'a, Vec<(String, DateTime<Utc>)>> {
        Box::pin(async move { Ok(self.lock().adopt(schedules, now)) })
    }

    fn watermark(&self) -> Stored<'_, Option<DateTime<Utc>>> {
        Box::pin(async move { Ok(self.lock().watermark) })
    }

    fn claim(&self, tick: Tick) -> Stored<'_, Vec<Claimed>> {
        Box::pin(async move { Ok(self.lock().claim(tick)) })
    }

    fn rewind(&self, watermark: DateTime<Utc>) -> Stored<'_, ()> {
        Box::pin(async move {
            self.lock().rewind(watermark);
            Ok(())
        })
    }

    fn schedules(&self) -> Stored<'_, Vec<ScheduleRow>> {
        Box::pin(async move { Ok(self.lock().schedule_rows()) })
    }

    fn skip<'a>(&'a self, starts: &'a [(String, DateTime<Utc>)]) -> Stored<'a, ()> {
        Box::pin(async move {
            self.lock().skip(starts);
            Ok(())
        })
    }

    fn take_deferral<'a>(
        &'a self,
        pickup: PickupAt<'a>,
        now: DateTime<Utc>,
    ) -> Stored<'a, Option<Taken>> {
        Box::pin(async move { Ok(self.lock().take_deferral(pickup, now)) })
    }

    fn deferrals(&self) -> Stored<'_, Vec<Deferral>> {
        Box::pin(async move { Ok(self.lock().pending()) })
    }

    fn pauses(&self) -> Stored<'_, Pauses> {
        Box::pin(async move { Ok(self.lock().pauses()) })
    }

    fn begin_manual(&self, start: ManualStart) -> Stored<'_, RunId> {
        Box::pin(async move { Ok(self.lock().begin_manual(start)) })
    }

    fn admit<'a>(&'a self, ask: Ask<'a>) -> Stored<'a, Result<Permit, Refusal>> {
        Box::pin(async move { self.lock().admit(ask) })
    }

    fn record<'a>(&'a self, told: Told<'a>) -> Stored<'a, ()> {
        Box::pin(async move { self.lock().record(told) })
    }

    fn collect<'a>(&'a self, collected: Collected<'a>) -> Stored<'a, ()> {
        Box::pin(async move {
            self.lock().collect(collected);
            Ok(())
        })
    }

    fn batches(&self) -> Stored<'_, Vec<OpenBatch>> {
        Box::pin(async move { Ok(self.lock().open_batches()) })
    }

    fn looked(&self, run: RunId, next: DateTime<Utc>) -> Stored<'_, ()> {
        Box::pin(async move {
            self.lock().looked(run, next);
            Ok(())
        })
    }

    fn progress<'a>(&'a self, slot: &'a Slot, which: Which) -> Stored<'a, Progress> {
        Box::pin(async move { Ok(self.lock().progress(slot, which)) })
    }

    fn split<'a>(
        &'a self,
        slot: &'a Slot,
        offer: Offer<'a>,
        _now: DateTime<Utc>,
    ) -> Stored<'a, Vec<Item>> {
        Box::pin(async move { Ok(self.lock().split(slot, offer)) })
    }

    fn settle(&self, end: PieceEnd) -> Stored<'_, ()> {
        Box::pin(async move {
            self.lock().settle(&end);
            Ok(())
        })
    }

    fn deliveries(&self) -> Stored<'_, Vec<Delivery>> {
        Box::pin(async move { Ok(self.lock().owed()) })
    }

    fn redelivered(&self, end: Redelivered) -> Stored<'_, Option<Outcome>> {
        Box::pin(async move { Ok(self.lock().redelivered(&end)) })
    }

    fn finish(&self, finish: Finish) -> Stored<'_, ()> {
        Box::pin(async move { self.lock().finish(finish) })
    }

    fn recover<'a>(&'a self, under_way: &'a [RunId], now: DateTime<Utc>) -> Stored<'a, Vec<Run>> {
        Box::pin(async move { Ok(self.lock().recover(under_way, now)) })
    }
}
