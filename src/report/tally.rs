//! Takes the rows of a history one by one and keeps of them what the figures need, some twenty bytes an attempt.

mod attempts;
mod close;
mod count;
mod kinds;
mod names;
mod peaks;
mod sets;
mod sort;
mod work;

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::breakdown::Breakdown;
use super::facts::{AttemptFact, CallFact, MergeFact, RunFact, Scope};
use super::figures::By;
use crate::outcome::Outcome;
use crate::price::prompt_tokens;
pub use attempts::Attempts;
pub(super) use attempts::{Sample, State};
pub(super) use kinds::{Kind, Kinds};
pub(super) use names::Names;
use peaks::PeakMap;
use sets::{Days, Sets, hour};

/// Nothing was measured.
const NONE: u32 = u32::MAX;

/// Takes rows and becomes a [`Breakdown`]: first all runs, then all calls, then all attempts. They may come in any order;
/// that of the store is the quickest. Attempts may be gathered apart, beside the runs and calls, see [`Attempts`].
///
/// Give it the neighbours too, the runs of an hour before the span and of a month after it: a retry collision is one of
/// two runs, whichever was asked for, and work may be done long after it was due.
#[derive(Debug)]
pub struct Tally {
    scope: Scope,
    peaks: PeakMap,
    names: [Names; 3],
    kinds: Kinds,
    days: Days,
    runs: Vec<RunRow>,
    calls: Vec<CallRow>,
    attempts: Attempts,
    merges: HashMap<(u32, i64), i64>,
    sets: Sets,
    /// Where the last run and the last call were found: the next one stands beside it.
    last: (usize, usize),
}

/// What is kept of a run.
#[derive(Debug)]
pub(super) struct RunRow {
    pub id: i64,
    pub fire_at: i64,
    pub started_at: i64,
    /// When it ended; of one under way, when it began.
    pub ended_at: i64,
    pub kind: u32,
    pub outcome: Option<Outcome>,
    pub is_deferred: bool,
    /// Whether it is of the scope, and no neighbour.
    pub is_asked: bool,
    /// Whether a call of it was sent a second time.
    pub is_retried: bool,
}

/// What is kept of a call.
#[derive(Debug)]
pub(super) struct CallRow {
    pub id: i64,
    pub run: u32,
    /// That of the run, but for the model.
    pub kind: u32,
    /// Input tokens, if none of them was read from the cache.
    pub cold: u32,
    pub is_errand: bool,
    pub is_sent: bool,
}

impl Tally {
    /// Nothing taken yet. `is_peak` says whether an instant lies in a peak window; it is asked once a minute of the
    /// history.
    #[must_use]
    pub fn new(scope: Scope, is_peak: Box<dyn Fn(DateTime<Utc>) -> bool + Send>) -> Self {
        Self {
            scope,
            peaks: PeakMap::new(is_peak),
            names: Default::default(),
            kinds: Kinds::default(),
            days: Days::default(),
            runs: Vec::new(),
            calls: Vec::new(),
            attempts: Attempts::default(),
            merges: HashMap::new(),
            sets: Sets::default(),
            last: (0, 0),
        }
    }

    /// What it is about.
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Takes a run.
    pub fn run(&mut self, fact: &RunFact<'_>) {
        let is_asked = (self.scope.since..self.scope.until).contains(&fact.fire_at)
            && self
                .scope
                .job
                .as_ref()
                .is_none_or(|job| job.as_str() == fact.job)
            && self
                .scope
                .group
                .as_ref()
                .is_none_or(|group| group.as_str() == fact.group);
        let kind = Kind {
            group: self.name(By::Group, fact.group),
            job: self.name(By::Job, fact.job),
            model: self.name(By::Model, fact.model),
        };
        let row = RunRow {
            id: fact.id.0,
            fire_at: fact.fire_at.timestamp_millis(),
            started_at: fact.started_at.timestamp_millis(),
            ended_at: fact
                .finished_at
                .unwrap_or(fact.started_at)
                .timestamp_millis(),
            kind: self.kinds.number(kind),
            outcome: fact.outcome.clone(),
            is_deferred: fact.is_deferred,
            is_asked,
            is_retried: false,
        };
        if let (true, Some(Outcome::Yielded(gate))) = (is_asked, &fact.outcome) {
            let gate = *gate;
            let keys = self.days.keys(row.kind, row.started_at);
            self.sets.each(keys, |figures| {
                *figures.yields.entry(gate).or_default() += 1;
            });
        }
        self.runs.push(row);
    }

    /// Says that all runs were given.
    pub fn runs_end(&mut self) {
        self.runs.sort_unstable_by_key(|run| run.id);
    }

    /// Takes work that went into a later slot, after the runs.
    pub fn merge(&mut self, fact: &MergeFact<'_>) {
        let job = self.name(By::Job, fact.job);
        let due = fact.fire_at.timestamp_millis();
        self.merges.insert((job, due), fact.into.timestamp_millis());
    }

    /// Takes a call, after all runs; one of a run that was not given is left out.
    pub fn call(&mut self, fact: &CallFact<'_>) {
        let Some(at) = find(&self.runs, self.last.0, fact.run.0, |run| run.id) else {
            return;
        };
        self.last.0 = at;
        let (kind, is_asked) = (self.runs[at].kind, self.runs[at].is_asked);
        let kind = match fact.model {
            Some(model) => {
                let model = self.name(By::Model, model);
                self.kinds.of_model(kind, model)
            }
            None => kind,
        };
        if is_asked && !fact.is_errand {
            let keys = self.days.keys(kind, self.runs[at].started_at);
            self.sets.each(keys, |figures| {
                if fact.is_answered {
                    figures.answer(fact.usage.as_ref(), fact.cost);
                } else {
                    figures.broken(fact.cost);
                }
            });
        }
        let cold = fact.usage.filter(|usage| usage.cache_read_tokens == 0);
        self.calls.push(CallRow {
            id: fact.id,
            run: narrow(at as u64),
            kind,
            cold: narrow(cold.as_ref().map_or(0, prompt_tokens)),
            is_errand: fact.is_errand,
            is_sent: false,
        });
    }

    /// Says that all calls were given.
    pub fn calls_end(&mut self) {
        self.calls.sort_unstable_by_key(|call| call.id);
        self.attempts = Attempts::of(self.calls.first().map_or(0, |call| call.id));
    }

    /// Takes an attempt, after all calls; one of a call that was not given is left out.
    pub fn attempt(&mut self, fact: &AttemptFact<'_>) {
        self.attempts.take(fact);
    }

    /// Takes attempts that were gathered apart, in place of those given one by one.
    pub fn attempts(&mut self, attempts: Attempts) {
        self.attempts = attempts;
    }

    /// The figures of everything that was taken.
    #[must_use]
    pub fn finish(self) -> Breakdown {
        close::close(self)
    }

    fn name(&mut self, by: By, name: &str) -> u32 {
        let names = self.names.get_mut(by.index());
        names.map_or(0, |names| names.number(name))
    }
}

/// The row with this id: beside the last one, or anywhere.
fn find<T>(rows: &[T], last: usize, id: i64, of: impl Fn(&T) -> i64) -> Option<usize> {
    let near = [last, last + 1].into_iter();
    let mut near = near.filter(|at| rows.get(*at).is_some_and(|row| of(row) == id));
    near.next()
        .or_else(|| rows.binary_search_by_key(&id, of).ok())
}

/// Longer than the column holds counts as the longest: seven weeks for milliseconds.
fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(NONE).min(NONE - 1)
}

#[cfg(test)]
mod tests;
