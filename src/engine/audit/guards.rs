//! Budget and breaker: what they counted is what was sent.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Ledger, Violation};
use crate::guard::Guard;
use crate::job::GroupId;
use crate::outcome::{Attempt, Run};

/// Runs of several processes are written in another order than they began by no more than this.
const SIDE_BY_SIDE: TimeDelta = TimeDelta::minutes(1);

/// Longer than a run with all its attempts and waits.
const LONGEST_RUN: TimeDelta = TimeDelta::days(1);

/// Groups whose guard does not fit the attempts on record.
///
/// A row that holds no send says nothing: it was tidied, or begun anew at a person's word. Instants are compared to the
/// millisecond, which is as fine as the store keeps them.
pub(super) fn unaccounted(ledger: &Ledger) -> Vec<Violation> {
    let mut found = Vec::new();
    for (group, guard) in &ledger.guards {
        let runs = || ledger.runs.iter().filter(|run| run.group == *group);
        let attempts: usize = runs().map(|run| run.attempts.len()).sum();
        let newest = runs().rev().find_map(newest);
        let newest = newest.filter(|attempt| !was_set_back(&ledger.runs, attempt.started_at));
        found.extend(of_group(group, guard, attempts, newest));
    }
    found
}

/// Whether the clock was set back from about this instant: whatever was sent then moves to the new time in the row of
/// its group, and its attempt stays where it was.
fn was_set_back(runs: &[Run], at: DateTime<Utc>) -> bool {
    let is_step = |from: DateTime<Utc>, to: DateTime<Utc>| {
        from - to > SIDE_BY_SIDE && to < at && at - from < LONGEST_RUN
    };
    let mut begun = DateTime::<Utc>::MIN_UTC;
    for run in runs {
        let mut own: Vec<DateTime<Utc>> = run.attempts.iter().map(|it| it.started_at).collect();
        if has_many_calls(run) {
            own.sort();
        }
        let mut latest = run.started_at;
        let within = own.into_iter().chain(run.finished_at).any(|instant| {
            let step = is_step(latest, instant);
            latest = latest.max(instant);
            step
        });
        if within || is_step(begun, run.started_at) {
            return true;
        }
        begun = begun.max(run.started_at);
    }
    false
}

/// The attempt of a run that was sent last: calls for several items may go on side by side.
fn newest(run: &Run) -> Option<&Attempt> {
    if has_many_calls(run) {
        run.attempts.iter().max_by_key(|attempt| attempt.started_at)
    } else {
        run.attempts.last()
    }
}

fn has_many_calls(run: &Run) -> bool {
    let first = run.attempts.first();
    run.attempts.last().map(|it| &it.call) != first.map(|it| &it.call)
}

fn of_group(
    group: &GroupId,
    guard: &Guard,
    attempts: usize,
    newest: Option<&Attempt>,
) -> Vec<Violation> {
    let mut found = Vec::new();
    let sent = &guard.budget.sent;
    let latest = sent.back().map(chrono::DateTime::timestamp_millis);
    // Attempts are admitted under the lock of this row, so that the latest send is never before an attempt.
    let unspent = latest
        .zip(newest)
        .is_some_and(|(latest, attempt)| attempt.started_at.timestamp_millis() > latest);
    if unspent || sent.len() > attempts {
        found.push(Violation::Unspent(group.clone()));
    }
    if guard.breaker.samples.len() > attempts {
        found.push(Violation::Overcounted(group.clone()));
    }
    found
}
