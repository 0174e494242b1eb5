//! Histories for the tests of reports, row by row, on one night in Japan.

use chrono::{DateTime, TimeDelta, Timelike, Utc};

use super::facts::{AttemptFact, CallFact, EndFact, MergeFact, RunFact, Scope};
use super::samples::at;
use super::{Breakdown, Tally};
use crate::answer::Usage;
use crate::job::{GroupId, JobId};
use crate::money::Dollars;
use crate::outcome::{Class, Outcome, RunId};

/// A run with what it sent; its call has the same number.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub job: &'static str,
    pub group: &'static str,
    pub model: &'static str,
    pub fire_at: DateTime<Utc>,
    pub started_at: DateTime<Utc>,
    pub took: TimeDelta,
    pub outcome: Option<Outcome>,
    pub is_deferred: bool,
    /// Latencies in milliseconds; `None` is an attempt without an end. The last one is the answer of a run that
    /// succeeded.
    pub attempts: Vec<Option<u64>>,
    pub is_errand: bool,
    pub usage: Option<Usage>,
    pub cost: Option<f64>,
}

/// A run due `minutes` after two that took these attempts and ended so.
pub(super) fn sent(job: &'static str, minutes: i64, outcome: Outcome, attempts: &[u64]) -> Sent {
    let usage = (outcome == Outcome::Succeeded).then(|| Usage {
        input_tokens: 1000,
        output_tokens: 100,
        ..Usage::default()
    });
    Sent {
        job,
        group: "main",
        model: "claude-sonnet-5-5",
        fire_at: at(minutes),
        started_at: at(minutes),
        took: TimeDelta::minutes(1),
        cost: usage.map(|_| 0.01),
        usage,
        outcome: Some(outcome),
        is_deferred: false,
        attempts: attempts.iter().copied().map(Some).collect(),
        is_errand: false,
    }
}

/// A run that succeeded at its first attempt.
pub(super) fn answered(job: &'static str, minutes: i64, millis: u64) -> Sent {
    sent(job, minutes, Outcome::Succeeded, &[millis])
}

/// The night from 02:00 on and the day after.
pub(super) fn scope() -> Scope {
    Scope {
        since: at(0),
        until: at(24 * 60),
        job: None,
        group: None,
    }
}

/// A tally of these runs, numbered in their order from 1; the peak windows are those of the defaults.
pub(super) fn tally(scope: Scope, runs: &[Sent], merges: &[(&str, i64, i64)]) -> Breakdown {
    let mut tally = Tally::new(scope, Box::new(is_peak));
    let numbered: Vec<(i64, &Sent)> = (1..).zip(runs).collect();
    // The order of the rows must not matter.
    for (id, sent) in numbered.iter().rev().copied() {
        tally.run(&RunFact {
            id: RunId(id),
            job: sent.job,
            group: sent.group,
            model: sent.model,
            fire_at: sent.fire_at,
            started_at: sent.started_at,
            finished_at: sent.outcome.as_ref().map(|_| sent.started_at + sent.took),
            outcome: sent.outcome.clone(),
            is_deferred: sent.is_deferred,
        });
    }
    tally.runs_end();
    for (job, due, into) in merges {
        let (fire_at, into) = (at(*due), at(*into));
        tally.merge(&MergeFact { job, fire_at, into });
    }
    for (id, sent) in numbered.iter().rev().copied() {
        if !sent.attempts.is_empty() || sent.usage.is_some() {
            tally.call(&CallFact {
                id,
                run: RunId(id),
                is_errand: sent.is_errand,
                model: None,
                is_answered: sent.usage.is_some(),
                usage: sent.usage,
                cost: sent.cost.and_then(Dollars::from_f64),
            });
        }
    }
    tally.calls_end();
    for (id, sent) in numbered {
        for (n, latency) in (1..).zip(&sent.attempts) {
            let is_last = n as usize == sent.attempts.len();
            let class = match &sent.outcome {
                Some(Outcome::Succeeded) if is_last => Class::Success,
                Some(_) | None => Class::Retryable,
            };
            tally.attempt(&AttemptFact {
                call: id,
                n,
                started_at: sent.started_at,
                end: latency.map(|latency| end(latency, class)),
            });
        }
    }
    tally.finish()
}

/// The same over the whole night.
pub(super) fn night(runs: &[Sent]) -> Breakdown {
    tally(scope(), runs, &[])
}

/// The same of one job or one group.
pub(super) fn only(job: Option<&str>, group: Option<&str>) -> Scope {
    Scope {
        job: job.map(JobId::new),
        group: group.map(GroupId::new),
        ..scope()
    }
}

fn end(latency: u64, class: Class) -> EndFact<'static> {
    let is_answer = class == Class::Success;
    EndFact {
        total_ms: latency,
        first_byte_ms: is_answer.then_some(latency / 2),
        class: Some(class),
        status: Some(if is_answer { 200 } else { 529 }),
        error_type: None,
        is_counted: false,
    }
}

fn is_peak(at: DateTime<Utc>) -> bool {
    matches!((at + TimeDelta::hours(9)).hour(), 7..9 | 18..23)
}
