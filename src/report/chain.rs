//! Follows work from the slot at which it was due, through every deferral, to its end.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::job::JobId;
use crate::outcome::{
    DeferredTo, FailReason, IncompleteReason, Outcome, Run, SkipReason, YieldReason,
};

/// The runs of one piece of work, in order, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// Whose work it is.
    pub job: JobId,
    /// The slot at which it was due.
    pub fire_at: DateTime<Utc>,
    /// How many runs handled it, at least one.
    pub runs: usize,
    /// How many times it was put off.
    pub deferrals: usize,
    /// How many HTTP requests it took.
    pub attempts: usize,
    /// What became of it.
    pub end: ChainEnd,
}

/// What became of a piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainEnd {
    /// A complete answer, at this instant.
    Succeeded(DateTime<Utc>),
    /// An answer that is kept beside the output.
    Incomplete(IncompleteReason),
    /// Retryable to the last attempt, and not carried on.
    Exhausted,
    /// It failed for good.
    Failed(FailReason),
    /// Nothing was to be done.
    Skipped(SkipReason),
    /// A gate refused, and it is not carried on.
    Yielded(YieldReason),
    /// It waits for a later slot.
    Waiting(DeferredTo),
    /// It is under way.
    Running,
}

impl Chain {
    /// The span from the slot at which the work was due to its complete answer; a negative one counts as zero.
    #[must_use]
    pub fn completed_after(&self) -> Option<Duration> {
        match self.end {
            ChainEnd::Succeeded(at) => Some((at - self.fire_at).to_std().unwrap_or_default()),
            ChainEnd::Incomplete(_)
            | ChainEnd::Exhausted
            | ChainEnd::Failed(_)
            | ChainEnd::Skipped(_)
            | ChainEnd::Yielded(_)
            | ChainEnd::Waiting(_)
            | ChainEnd::Running => None,
        }
    }

    /// Whether a complete answer was due: of skipped work it was not, and work that was merged is counted where it went.
    #[must_use]
    pub fn is_due(&self) -> bool {
        match self.end {
            ChainEnd::Skipped(_) => false,
            ChainEnd::Succeeded(_)
            | ChainEnd::Incomplete(_)
            | ChainEnd::Exhausted
            | ChainEnd::Failed(_)
            | ChainEnd::Yielded(_)
            | ChainEnd::Waiting(_)
            | ChainEnd::Running => true,
        }
    }
}

/// The chains of these runs, by the instant at which the work was due, then by job.
#[must_use]
pub fn follow(runs: &[Run]) -> Vec<Chain> {
    let mut works: BTreeMap<(DateTime<Utc>, &JobId), Vec<&Run>> = BTreeMap::new();
    for run in runs {
        works.entry((run.fire_at, &run.job)).or_default().push(run);
    }
    works.into_values().filter_map(chain).collect()
}

fn chain(mut work: Vec<&Run>) -> Option<Chain> {
    work.sort_by_key(|run| run.id);
    let last = *work.last()?;
    Some(Chain {
        job: last.job.clone(),
        fire_at: last.fire_at,
        runs: work.len(),
        deferrals: work.iter().filter(|run| run.deferred.is_some()).count(),
        attempts: work.iter().map(|run| run.attempts.len()).sum(),
        end: end(last),
    })
}

fn end(last: &Run) -> ChainEnd {
    match (&last.outcome, &last.deferred) {
        (None, _) => ChainEnd::Running,
        (Some(_), Some(deferred)) => ChainEnd::Waiting(deferred.clone()),
        (Some(Outcome::Succeeded), None) => {
            ChainEnd::Succeeded(last.finished_at.unwrap_or(last.started_at))
        }
        (Some(Outcome::Incomplete(reason)), None) => ChainEnd::Incomplete(*reason),
        (Some(Outcome::Exhausted), None) => ChainEnd::Exhausted,
        (Some(Outcome::Failed(reason)), None) => ChainEnd::Failed(*reason),
        (Some(Outcome::Skipped(reason)), None) => ChainEnd::Skipped(*reason),
        (Some(Outcome::Yielded(reason)), None) => ChainEnd::Yielded(*reason),
    }
}

#[cfg(test)]
mod tests;
