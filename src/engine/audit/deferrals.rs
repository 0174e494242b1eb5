//! Deferred work: it waits, it is carried, or it has ended.

use std::collections::BTreeMap;

use super::{Ledger, Scope, Violation};
use crate::engine::keep::{DeferralRecord, DeferralState};
use crate::outcome::{Run, RunId};
use crate::slot::Slot;

/// Work waits exactly if the last run of its slot left it.
pub(super) fn chains(ledger: &Ledger, scope: Scope<'_>) -> Vec<Violation> {
    let mut last: BTreeMap<Slot, &Run> = BTreeMap::new();
    for run in &ledger.runs {
        last.insert(run.slot(), run);
    }
    let mut open: BTreeMap<Slot, usize> = BTreeMap::new();
    for record in ledger.deferrals.iter().filter(|record| is_open(record)) {
        *open.entry(record.deferral.slot.clone()).or_default() += 1;
    }
    let mut found = Vec::new();
    for (slot, run) in last {
        let waiting = open.remove(&slot).unwrap_or(0);
        let left = usize::from(run.outcome.is_some() && run.deferred.is_some());
        // While a run carries the work, the row is open too.
        let carried = usize::from(run.outcome.is_none() && waiting == 1);
        if waiting < left && run.finished_at.is_some_and(|at| at >= scope.kept_from) {
            found.push(Violation::Lost(slot));
        } else if waiting > left + carried {
            found.push(Violation::Ghost(slot));
        }
    }
    // The runs that open work came from are never pruned.
    found.extend(open.into_keys().map(Violation::Ghost));
    found
}

/// Rows that contradict themselves or the run that they name.
pub(super) fn adrift(ledger: &Ledger) -> Vec<Violation> {
    let under_way: Vec<RunId> = ledger
        .runs
        .iter()
        .filter(|run| run.outcome.is_none())
        .map(|run| run.id)
        .collect();
    let is_adrift = |record: &&DeferralRecord| match record.state {
        DeferralState::Pending => record.run.is_some() || record.ended_at.is_some(),
        DeferralState::Running => {
            record.ended_at.is_some() || !record.run.is_some_and(|run| under_way.contains(&run))
        }
        DeferralState::Done | DeferralState::Failed | DeferralState::Merged => {
            record.ended_at.is_none()
        }
    };
    let records = ledger.deferrals.iter().filter(is_adrift);
    records
        .map(|record| Violation::Adrift(record.deferral.slot.clone()))
        .collect()
}

fn is_open(record: &DeferralRecord) -> bool {
    match record.state {
        DeferralState::Pending | DeferralState::Running => true,
        DeferralState::Done | DeferralState::Failed | DeferralState::Merged => false,
    }
}
