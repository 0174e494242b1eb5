//! Slots and runs: each slot once, with one outcome.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::{Ledger, ScheduleRow, Scope, UnderWay, Violation};
use crate::engine::{timeline, zones};
use crate::job::JobId;
use crate::outcome::{Outcome, Run};
use crate::piece::CallName;
use crate::schedule::{Timetable, Zones};
use crate::slot::{Origin, Slot};

/// Fire times of the schedules on record, up to the watermark, that nobody has claimed.
pub(super) fn unclaimed(ledger: &Ledger, scope: Scope<'_>) -> Vec<Violation> {
    let Some(watermark) = ledger.watermark else {
        return Vec::new();
    };
    let claimed: BTreeSet<&Slot> = ledger.slots.iter().map(|(slot, _)| slot).collect();
    let mut found = Vec::new();
    for row in &ledger.schedules {
        // Pickup slots do no work of their own, so that none of them is claimed.
        let Some(job) = timeline::job_of(&row.name) else {
            continue;
        };
        let Some((timetable, since)) = timetable_of(row, ledger, scope) else {
            found.push(Violation::Unreadable(row.name.clone()));
            continue;
        };
        let from = row.starts_at.max(since).max(scope.kept_from);
        let due = timetable.between(from, watermark).into_iter();
        let slots = due.map(|fire_at| Slot {
            fire_at,
            job: job.clone(),
        });
        found.extend(
            slots
                .filter(|slot| !claimed.contains(slot))
                .map(Violation::Unclaimed),
        );
    }
    found
}

/// The timetable of a schedule on record, by the offsets that the daemon goes by, and since when it goes by them: what
/// was computed by older zone data cannot be computed again.
fn timetable_of(
    row: &ScheduleRow,
    ledger: &Ledger,
    scope: Scope<'_>,
) -> Option<(Timetable, DateTime<Utc>)> {
    let name = timeline::zone_of(&row.fingerprint)?;
    let (zone, since) = match zones::recorded(&ledger.schedules, name) {
        Some(known) => (Zones::recorded(name, &known.fingerprint)?, known.starts_at),
        None => (scope.zones.get(name).ok()?, row.starts_at),
    };
    Some((timeline::timetable_of(&row.fingerprint, zone)?, since))
}

/// Claims and the runs of their slots that do not fit each other.
pub(super) fn contradictions(ledger: &Ledger, scope: Scope<'_>) -> Vec<Violation> {
    let mut own: BTreeMap<Slot, Vec<&Run>> = BTreeMap::new();
    for run in &ledger.runs {
        if run.origin == Origin::Scheduled {
            own.entry(run.slot()).or_default().push(run);
        }
    }
    let mut found = Vec::new();
    for (slot, outcome) in &ledger.slots {
        let runs = own.remove(slot).unwrap_or_default();
        found.extend(contradiction(slot, outcome.as_ref(), &runs, scope));
    }
    // A claim is kept longer than its run, so that every run that is left has lost its claim.
    found.extend(own.into_keys().map(Violation::Unmatched));
    found
}

fn contradiction(
    slot: &Slot,
    outcome: Option<&Outcome>,
    runs: &[&Run],
    scope: Scope<'_>,
) -> Option<Violation> {
    match (runs, outcome) {
        ([], Some(_)) if slot.fire_at < scope.kept_from => None,
        ([], Some(_)) => Some(Violation::Unmatched(slot.clone())),
        ([], None) => Some(Violation::Unclosed(slot.clone())),
        ([run], outcome) if run.outcome.as_ref() == outcome => None,
        ([_], _) => Some(Violation::Contradiction(slot.clone())),
        (_, _) => Some(Violation::FiredTwice(slot.clone())),
    }
}

/// Runs that have not ended, and attempts that do not fit their run.
pub(super) fn runs(ledger: &Ledger, scope: Scope<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for run in &ledger.runs {
        let told = |violation: fn(_, JobId) -> Violation| violation(run.id, run.job.clone());
        if run.outcome.is_none() && scope.under_way == UnderWay::None {
            found.push(told(Violation::Unended));
        }
        if is_misnumbered(run) {
            found.push(told(Violation::Misnumbered));
        }
        if is_sent_late(run) {
            found.push(told(Violation::SentLate));
        }
    }
    found
}

/// Whether an attempt started after the end of its run. A clock that was set back during the run says nothing about the
/// order: the run then took less time on the wall than its waits and attempts did.
fn is_sent_late(run: &Run) -> bool {
    let Some(end) = run.finished_at else {
        return false;
    };
    let took = run.attempts.iter().map(|attempt| {
        let latency = attempt.end.as_ref().map(|end| end.latency);
        attempt.wait + latency.unwrap_or_default()
    });
    let took = TimeDelta::from_std(took.sum()).unwrap_or(TimeDelta::MAX);
    let is_after = run.attempts.iter().any(|attempt| attempt.started_at > end);
    is_after && end - run.started_at >= took
}

/// Whether the attempts of a call are not numbered from 1 on, in their order.
fn is_misnumbered(run: &Run) -> bool {
    let mut latest: BTreeMap<&CallName, u32> = BTreeMap::new();
    run.attempts.iter().any(|attempt| {
        let known = latest.insert(&attempt.call, attempt.n).unwrap_or(0);
        attempt.n != known + 1
    })
}
