//! Counts and percentiles over the runs of a span.

use std::collections::BTreeMap;
use std::time::Duration;

use super::chain::{Chain, ChainEnd, follow};
use super::facts::EndFact;
use super::percentiles::{Completion, Percentiles};
use super::tally::RunRow;
use crate::answer::{FailureKind, Usage};
use crate::money::Dollars;
use crate::outcome::{Attempt, AttemptEnd, Class, Outcome, Run, YieldReason};

/// What happened in a set of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Slots by how their work ended.
    pub slots: Outcomes,
    /// How many runs there were: one a slot, and one more for each time that its work was carried.
    pub runs: usize,
    /// How many runs sent at least one request.
    pub calls: usize,
    /// How many requests were sent in all.
    pub attempts: usize,
    /// How many of them ended without a whole answer; those under way are left out.
    pub wasted: usize,
    /// Runs that yielded, by gate.
    pub yields: BTreeMap<YieldReason, usize>,
    /// From the start of an attempt to its end; attempts that we cancelled are left out.
    pub latency: Option<Percentiles>,
    /// From the start of an attempt to its first byte, where one came.
    pub first_byte: Option<Percentiles>,
    /// From the slot at which work was due to its complete answer.
    pub completion: Completion,
    /// Every piece of work that was deferred at least once.
    pub deferred: Vec<Chain>,
    /// What the answers cost.
    pub dollars: Costs,
    /// What the answers counted.
    pub tokens: Tokens,
}

impl Summary {
    /// Attempts a call, over the runs that sent at least one; `None` if none did.
    #[must_use]
    pub fn mean_attempts(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.attempts as f64 / self.calls as f64)
    }
}

/// Slots by how their work ended. Their sum is the number of slots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// A complete answer.
    pub succeeded: usize,
    /// An answer that is kept beside the output.
    pub incomplete: usize,
    /// A gate refused, and the work is not carried on.
    pub yielded: usize,
    /// The work waits for a later slot.
    pub waiting: usize,
    /// Retryable to the last attempt, and not carried on.
    pub exhausted: usize,
    /// Failed for good.
    pub failed: usize,
    /// Nothing was to be done.
    pub skipped: usize,
    /// Under way.
    pub running: usize,
}

impl Outcomes {
    /// The counts with their words, in the order of the documentation.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, usize); 8] {
        [
            ("succeeded", self.succeeded),
            ("incomplete", self.incomplete),
            ("yielded", self.yielded),
            ("waiting", self.waiting),
            ("exhausted", self.exhausted),
            ("failed", self.failed),
            ("skipped", self.skipped),
            ("running", self.running),
        ]
    }

    /// How many slots there are.
    #[must_use]
    pub fn total(&self) -> usize {
        self.named().iter().map(|(_, count)| count).sum()
    }

    /// Counts one slot by the end of its last run.
    pub(super) fn add(&mut self, last: &RunRow) {
        let counter = match (&last.outcome, last.is_deferred) {
            (None, _) => &mut self.running,
            (Some(_), true) => &mut self.waiting,
            (Some(Outcome::Succeeded), false) => &mut self.succeeded,
            (Some(Outcome::Incomplete(_)), false) => &mut self.incomplete,
            (Some(Outcome::Yielded(_)), false) => &mut self.yielded,
            (Some(Outcome::Exhausted), false) => &mut self.exhausted,
            (Some(Outcome::Failed(_)), false) => &mut self.failed,
            (Some(Outcome::Skipped(_)), false) => &mut self.skipped,
        };
        *counter += 1;
    }

    /// Adds the counts of other slots.
    pub(super) fn plus(&mut self, other: &Self) {
        self.succeeded += other.succeeded;
        self.incomplete += other.incomplete;
        self.yielded += other.yielded;
        self.waiting += other.waiting;
        self.exhausted += other.exhausted;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.running += other.running;
    }

    fn count(&mut self, end: &ChainEnd) {
        let counter = match end {
            ChainEnd::Succeeded(_) => &mut self.succeeded,
            ChainEnd::Incomplete(_) => &mut self.incomplete,
            ChainEnd::Yielded(_) => &mut self.yielded,
            ChainEnd::Waiting(_) => &mut self.waiting,
            ChainEnd::Exhausted => &mut self.exhausted,
            ChainEnd::Failed(_) => &mut self.failed,
            ChainEnd::Skipped(_) => &mut self.skipped,
            ChainEnd::Running => &mut self.running,
        };
        *counter += 1;
    }
}

/// What answers cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Costs {
    /// The sum of the known costs.
    pub known: Dollars,
    /// Attempts that may have been billed and whose cost is not known.
    pub unknown: usize,
}

/// What answers counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The sums of the known counters.
    pub counted: Usage,
    /// Attempts that may have been billed and whose counters are not known.
    pub unknown: usize,
}

/// Sums up runs; their order does not matter.
///
/// Completion is counted from the slot at which work was due, so give whole chains: all runs whose `fire_at` lies in
/// the span, whenever they were carried.
///
/// ```
/// let summary = offpeak::report::summarize(&[]);
/// assert_eq!(summary.slots.total(), 0);
/// assert_eq!(summary.mean_attempts(), None);
/// ```
#[must_use]
pub fn summarize(runs: &[Run]) -> Summary {
    let chains = follow(runs);
    let mut slots = Outcomes::default();
    for chain in &chains {
        slots.count(&chain.end);
    }
    let attempts = || runs.iter().flat_map(|run| &run.attempts);
    let ends = || attempts().filter_map(|attempt| attempt.end.as_ref());
    Summary {
        slots,
        runs: runs.len(),
        calls: runs.iter().filter(|run| !run.attempts.is_empty()).count(),
        attempts: attempts().count(),
        wasted: runs.iter().map(wasted).sum(),
        yields: yields(runs),
        latency: percentiles(
            ends()
                .filter(|end| end.class.is_some())
                .map(|end| end.latency),
        ),
        first_byte: percentiles(ends().filter_map(|end| end.first_byte)),
        completion: completion(&chains),
        deferred: chains
            .into_iter()
            .filter(|chain| chain.deferrals > 0)
            .collect(),
        dollars: dollars(runs),
        tokens: tokens(runs),
    }
}

fn percentiles(spans: impl Iterator<Item = Duration>) -> Option<Percentiles> {
    Percentiles::of(&mut spans.collect::<Vec<_>>())
}

fn completion(chains: &[Chain]) -> Completion {
    let mut spans: Vec<Duration> = chains.iter().filter_map(Chain::completed_after).collect();
    Completion::of(
        &mut spans,
        chains.iter().filter(|chain| chain.is_due()).count(),
    )
}

/// An attempt without an end is under way while its run is, and lost with it after.
fn wasted(run: &Run) -> usize {
    let is_wasted = |attempt: &&Attempt| match &attempt.end {
        Some(AttemptEnd { class, .. }) => *class != Some(Class::Success),
        None => run.outcome.is_some(),
    };
    run.attempts.iter().filter(is_wasted).count()
}

fn yields(runs: &[Run]) -> BTreeMap<YieldReason, usize> {
    let mut yields = BTreeMap::new();
    for run in runs {
        if let Some(Outcome::Yielded(reason)) = run.outcome {
            *yields.entry(reason).or_default() += 1;
        }
    }
    yields
}

fn dollars(runs: &[Run]) -> Costs {
    let mut dollars = Costs::default();
    for run in runs {
        dollars.known = dollars.known.plus(run.cost_usd.unwrap_or_default());
        dollars.unknown += unknown(run, run.cost_usd.as_ref());
    }
    dollars
}

fn tokens(runs: &[Run]) -> Tokens {
    let mut tokens = Tokens::default();
    for run in runs {
        if let Some(usage) = &run.usage {
            tokens.counted = tokens.counted + *usage;
        }
        tokens.unknown += unknown(run, run.usage.as_ref());
    }
    tokens
}

/// Attempts of a run that may have been billed and of which nothing is known: what a run knows, it knows of its answer.
fn unknown<T>(run: &Run, known: Option<&T>) -> usize {
    let lost = run.attempts.iter().filter(|attempt| is_lost(run, attempt));
    let has_answer = run.stop_reason.is_some() || run.usage.is_some();
    lost.count() + usize::from(has_answer && known.is_none())
}

/// Whether the API may have begun to answer, and to bill, an attempt whose answer we do not have.
///
/// A refusal with a status above 299 is free, and so is what never reached the API. A stream that broke or stopped, a
/// wait that we ended and an attempt that a crash cut off may be billed in part or in whole. What was counted before it
/// broke shows that it had begun; where it would have ended is not known, so its cost is not either.
fn is_lost(run: &Run, attempt: &Attempt) -> bool {
    let Some(end) = &attempt.end else {
        return run.outcome.is_some();
    };
    may_be_billed(&EndFact {
        total_ms: 0,
        first_byte_ms: None,
        class: end.class,
        status: end.status,
        error_type: end.error_type.as_deref(),
        is_counted: end.usage.is_some(),
    })
}

/// The same for an attempt that ended.
pub(super) fn may_be_billed(end: &EndFact<'_>) -> bool {
    let is_answer = end.class == Some(Class::Success);
    let is_refused = end.status.is_some_and(|status| status > 299);
    let is_unsent = [FailureKind::Connect, FailureKind::Unsendable]
        .iter()
        .any(|kind| end.error_type == Some(kind.as_str()));
    end.is_counted || !(is_answer || is_refused || is_unsent)
}

#[cfg(test)]
mod tests;
