//! `retry` and `drop`: each one step on a job's runs and deferrals.

use rusqlite::Connection;

use super::fault::Fault;
use super::history::{self, HistoryFilter};
use super::open::SqliteStore;
use super::run::{self, Ended, Start};
use super::{deferral, delivery, pieces};
use crate::engine::again::{self, Again, Dropping, NotAgain, NotDropped};
use crate::engine::keep::DeferralState;
use crate::engine::ports::StoreError;
use crate::outcome::{FailReason, Outcome, YieldReason};
use crate::slot::{Origin, Slot};

impl SqliteStore {
    /// Makes the work of a slot pending again; answers which slot's, or why not. The asking is a run of its own, so
    /// that the history tells of it and the slot's own outcome stays.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the file cannot be read or written.
    pub async fn retry(&self, asked: Again) -> Result<Result<Slot, NotAgain>, StoreError> {
        self.worker.write(move |store| retry(store, &asked)).await
    }

    /// Ends pending work of a job as failed; answers the slots whose work it was, oldest first, or why there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the file cannot be read or written.
    pub async fn drop_deferrals(
        &self,
        dropping: Dropping,
    ) -> Result<Result<Vec<Slot>, NotDropped>, StoreError> {
        self.worker
            .write(move |store| drop_deferrals(store, &dropping))
            .await
    }
}

fn retry(store: &Connection, asked: &Again) -> Result<Result<Slot, NotAgain>, Fault> {
    let filter = HistoryFilter {
        job: Some(asked.job.clone()),
        ..HistoryFilter::default()
    };
    let runs = history::runs(store, &filter)?;
    let open = deferral::open_of(store, &asked.job)?.into_iter();
    let open: Vec<_> = open.map(|(it, _, state)| (it.slot, state)).collect();
    let slot = match again::slot_again(&runs, &open, asked.fire_at) {
        Ok(slot) => slot,
        Err(why) => return Ok(Err(why)),
    };
    if delivery::is_owed_for(store, &slot)? {
        return Ok(Err(NotAgain::Owed(slot)));
    }
    let start = Start {
        slot: slot.clone(),
        group: asked.group.clone(),
        model: asked.model.clone(),
        origin: Origin::Manual,
        now: asked.now,
        lease_until: None,
    };
    let run = run::start(store, &start)?;
    let ended = Ended {
        outcome: Outcome::Yielded(YieldReason::Asked),
        note: Some(again::AGAIN_NOTE.to_owned()),
        now: asked.now,
    };
    run::close(store, run, &ended)?;
    pieces::reopen(store, &slot)?;
    deferral::write(store, run, &asked.wait, asked.now)?;
    Ok(Ok(slot))
}

fn drop_deferrals(
    store: &Connection,
    dropping: &Dropping,
) -> Result<Result<Vec<Slot>, NotDropped>, Fault> {
    let open = deferral::open_of(store, &dropping.job)?;
    let states: Vec<_> = open
        .iter()
        .map(|(it, _, state)| (it.clone(), *state))
        .collect();
    let ids = match again::chosen(&states, dropping.which) {
        Ok(ids) => ids,
        Err(why) => return Ok(Err(why)),
    };
    let mut dropped = Vec::new();
    for (deferral, model, _) in open.into_iter().filter(|(it, ..)| ids.contains(&it.id)) {
        let ended = Ended {
            outcome: Outcome::Failed(FailReason::Dropped),
            note: Some(again::dropped_note(dropping.reason.as_deref())),
            now: dropping.now,
        };
        let run = deferral::end_unsent(store, &deferral, model, &ended)?;
        deferral::set_state(store, deferral.id, DeferralState::Failed, Some(run))?;
        dropped.push(deferral.slot);
    }
    Ok(Ok(dropped))
}
