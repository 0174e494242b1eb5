//! Takes the rows of a history one by one and keeps of them what the figures need, some twenty bytes an attempt.

mod close;
mod names;
mod peaks;

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::breakdown::Breakdown;
use super::facts::{AttemptFact, CallFact, EndFact, MergeFact, RunFact, Scope};
use super::figures::{By, Figures};
use super::summary::may_be_billed;
use crate::outcome::{Class, Outcome, RunId};
pub(super) use names::Names;
use peaks::PeakMap;

/// Nothing was measured.
const NONE: u32 = u32::MAX;

/// Takes rows and becomes a [`Breakdown`]: first all runs, then all calls, then all attempts. They may come in any order;
/// that of the store is the quickest.
///
/// Give it the neighbours too, the runs of an hour before the span and of a week after it: a retry collision is one of
/// two runs, whichever was asked for, and work may be done long after it was due.
#[derive(Debug)]
pub struct Tally {
    scope: Scope,
    peaks: PeakMap,
    names: [Names; 3],
    runs: Vec<RunRow>,
    calls: Vec<CallRow>,
    samples: Vec<Sample>,
    merges: HashMap<(u32, i64), i64>,
    total: Figures,
    figures: [Vec<Figures>; 4],
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
    pub group: u32,
    pub job: u32,
    pub model: u32,
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
    pub model: u32,
    /// Input tokens, if none of them was read from the cache.
    pub cold: u32,
    pub is_errand: bool,
    pub is_sent: bool,
}

/// What is kept of an attempt that was measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub total: u32,
    /// [`NONE`] if no byte came.
    pub first: u32,
    pub call: u32,
    /// Seconds since 1970.
    pub started: u32,
    pub hour: u8,
    pub is_peak: bool,
    pub n: u8,
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
            runs: Vec::new(),
            calls: Vec::new(),
            samples: Vec::new(),
            merges: HashMap::new(),
            total: Figures::default(),
            figures: [
                Vec::new(),
                Vec::new(),
                Vec::new(),
                vec![Figures::default(); 24],
            ],
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
        let row = RunRow {
            id: fact.id.0,
            fire_at: fact.fire_at.timestamp_millis(),
            started_at: fact.started_at.timestamp_millis(),
            ended_at: fact
                .finished_at
                .unwrap_or(fact.started_at)
                .timestamp_millis(),
            group: self.name(By::Group, fact.group),
            job: self.name(By::Job, fact.job),
            model: self.name(By::Model, fact.model),
            outcome: fact.outcome.clone(),
            is_deferred: fact.is_deferred,
            is_asked,
            is_retried: false,
        };
        if let (true, Some(Outcome::Yielded(gate))) = (is_asked, &fact.outcome) {
            let gate = *gate;
            let keys = row.keys(row.model, hour(row.started_at));
            self.each(keys, |figures| {
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
        let model = match fact.model {
            Some(model) => self.name(By::Model, model),
            None => self.runs[at].model,
        };
        let run = &self.runs[at];
        if run.is_asked && !fact.is_errand {
            let keys = run.keys(model, hour(run.started_at));
            self.each(keys, |figures| {
                if fact.is_answered {
                    figures.answer(fact.usage.as_ref(), fact.cost);
                } else {
                    figures.broken(fact.cost);
                }
            });
        }
        let cold = fact.usage.filter(|usage| usage.cache_read_tokens == 0);
        let cold = cold.map_or(0, |usage| {
            usage.input_tokens + usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
        });
        self.calls.push(CallRow {
            id: fact.id,
            run: narrow(at as u64),
            model,
            cold: narrow(cold),
            is_errand: fact.is_errand,
            is_sent: false,
        });
    }

    /// Says that all calls were given.
    pub fn calls_end(&mut self) {
        self.calls.sort_unstable_by_key(|call| call.id);
        self.last.1 = 0;
    }

    /// The range of the calls that were taken; `None` if there is none.
    #[must_use]
    pub fn call_range(&self) -> Option<(i64, i64)> {
        Some((self.calls.first()?.id, self.calls.last()?.id))
    }

    /// The range of the runs that were taken; `None` if there is none.
    #[must_use]
    pub fn run_range(&self) -> Option<(RunId, RunId)> {
        Some((RunId(self.runs.first()?.id), RunId(self.runs.last()?.id)))
    }

    /// Takes an attempt, after all calls; one of a call that was not given is left out.
    pub fn attempt(&mut self, fact: &AttemptFact<'_>) {
        let Some(at) = find(&self.calls, self.last.1, fact.call, |call| call.id) else {
            return;
        };
        self.last.1 = at;
        let call = &mut self.calls[at];
        let is_first = !std::mem::replace(&mut call.is_sent, true);
        let (model, is_errand) = (call.model, call.is_errand);
        let run = &mut self.runs[call.run as usize];
        run.is_retried |= fact.n > 1 && !is_errand;
        if !run.is_asked {
            return;
        }
        let is_over = run.outcome.is_some();
        let keys = run.keys(model, hour(run.started_at));
        let is_wasted = fact
            .end
            .as_ref()
            .map_or(is_over, |end| end.class != Some(Class::Success));
        let is_lost = fact.end.as_ref().map_or(is_over, may_be_billed);
        self.each(keys, |figures| {
            if is_errand {
                figures.errands += 1;
                return;
            }
            figures.attempts += 1;
            figures.calls += usize::from(is_first);
            figures.wasted += usize::from(is_wasted);
            figures.tokens.unknown += usize::from(is_lost);
            figures.dollars.unknown += usize::from(is_lost);
        });
        if let (false, Some(end)) = (is_errand, &fact.end) {
            self.sample(at, fact, end);
        }
    }

    fn sample(&mut self, call: usize, fact: &AttemptFact<'_>, end: &EndFact<'_>) {
        if end.class.is_none() {
            return;
        }
        let started = fact.started_at.timestamp();
        self.samples.push(Sample {
            total: narrow(end.total_ms),
            first: end.first_byte_ms.map_or(NONE, narrow),
            call: narrow(call as u64),
            started: u32::try_from(started).unwrap_or_default(),
            hour: hour(started * 1000),
            is_peak: self.peaks.is_peak(fact.started_at),
            n: u8::try_from(fact.n).unwrap_or(u8::MAX),
        });
    }

    /// The figures of everything that was taken.
    #[must_use]
    pub fn finish(self) -> Breakdown {
        close::close(self)
    }

    fn name(&mut self, by: By, name: &str) -> u32 {
        let Some(names) = self.names.get_mut(by.index()) else {
            return 0;
        };
        let at = names.number(name);
        let figures = &mut self.figures[by.index()];
        if figures.len() <= at as usize {
            figures.resize(at as usize + 1, Figures::default());
        }
        at
    }

    /// Does the same to the total and to each set that these keys name.
    fn each(&mut self, keys: [u32; 4], change: impl Fn(&mut Figures)) {
        change(&mut self.total);
        for (figures, key) in self.figures.iter_mut().zip(keys) {
            if let Some(figures) = figures.get_mut(key as usize) {
                change(figures);
            }
        }
    }
}

impl RunRow {
    /// The keys by group, job, model and hour.
    pub(super) fn keys(&self, model: u32, hour: u8) -> [u32; 4] {
        [self.group, self.job, model, hour.into()]
    }
}

/// The row with this id: beside the last one, or anywhere.
fn find<T>(rows: &[T], last: usize, id: i64, of: impl Fn(&T) -> i64) -> Option<usize> {
    let near = [last, last + 1].into_iter();
    let mut near = near.filter(|at| rows.get(*at).is_some_and(|row| of(row) == id));
    near.next()
        .or_else(|| rows.binary_search_by_key(&id, of).ok())
}

/// The hour of the day in Japan, which has not changed its clocks since 1951.
fn hour(at_ms: i64) -> u8 {
    let hours = at_ms.div_euclid(3_600_000) + 9;
    u8::try_from(hours.rem_euclid(24)).unwrap_or_default()
}

/// Longer than the column holds counts as the longest: seven weeks for milliseconds.
fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(NONE).min(NONE - 1)
}

#[cfg(test)]
mod tests;
