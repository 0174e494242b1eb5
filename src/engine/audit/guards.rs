//! Budget and breaker: what they counted is what was sent.

use super::{Ledger, Violation};
use crate::guard::Guard;
use crate::job::GroupId;
use crate::outcome::Attempt;

/// Groups whose guard does not fit the attempts on record.
///
/// A row that holds no send says nothing: it was tidied, or begun anew at a person's word. Instants are compared to the
/// millisecond, which is as fine as the store keeps them.
pub(super) fn unaccounted(ledger: &Ledger) -> Vec<Violation> {
    let mut found = Vec::new();
    for (group, guard) in &ledger.guards {
        let runs = || ledger.runs.iter().filter(|run| run.group == *group);
        let attempts: usize = runs().map(|run| run.attempts.len()).sum();
        let newest = runs().rev().find_map(|run| run.attempts.last());
        found.extend(of_group(group, guard, attempts, newest));
    }
    found
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
