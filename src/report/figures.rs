//! The figures of one set of work: a group, a job, a model, an hour, a day, or all of it.

use std::collections::BTreeMap;

use super::percentiles::{Completion, Percentiles};
use super::summary::{Costs, Outcomes, Tokens};
use crate::answer::Usage;
use crate::money::Dollars;
use crate::outcome::YieldReason;

/// The figures of one set of work.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Slots by how their work ended.
    pub slots: Outcomes,
    /// Answers that were wanted and for which at least one request was sent.
    pub calls: usize,
    /// Requests sent for answers.
    pub attempts: usize,
    /// How many of them ended without a whole answer; those under way are left out.
    pub wasted: usize,
    /// Requests about batches, handing in and looking: in no other figure.
    pub errands: usize,
    /// Runs that yielded, by gate.
    pub yields: BTreeMap<YieldReason, usize>,
    /// From the start of an attempt to its end; attempts that we cancelled are left out.
    pub latency: Option<Percentiles>,
    /// From the start of an attempt to its first byte, where one came.
    pub first_byte: Option<Percentiles>,
    /// From the slot at which work was due to its complete answer.
    pub completion: Completion,
    /// What the answers counted.
    pub tokens: Tokens,
    /// Answers whose counters are known.
    pub counted: usize,
    /// How many of them read from the cache.
    pub cache_hits: usize,
    /// What the answers cost.
    pub dollars: Costs,
}

impl Figures {
    /// Attempts a call; `None` if nothing was sent.
    #[must_use]
    pub fn mean_attempts(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.attempts as f64 / self.calls as f64)
    }

    /// The share of answers that read from the cache; `None` if none was counted.
    #[must_use]
    pub fn cache_share(&self) -> Option<f64> {
        (self.counted > 0).then(|| self.cache_hits as f64 / self.counted as f64)
    }

    /// Runs that yielded, at any gate.
    #[must_use]
    pub fn yielded(&self) -> usize {
        self.yields.values().sum()
    }

    /// Counts an answer with what is known of it.
    pub(super) fn answer(&mut self, usage: Option<&Usage>, cost: Option<Dollars>) {
        match usage {
            Some(usage) => {
                self.tokens.counted = self.tokens.counted + *usage;
                self.counted += 1;
                self.cache_hits += usize::from(usage.cache_read_tokens > 0);
            }
            None => self.tokens.unknown += 1,
        }
        match cost {
            Some(cost) => self.dollars.known = self.dollars.known.plus(cost),
            None => self.dollars.unknown += 1,
        }
    }

    /// Adds what was counted of other work. Percentiles do not add up: they are found for each set by itself.
    pub(super) fn add(&mut self, other: &Self) {
        self.slots.plus(&other.slots);
        self.calls += other.calls;
        self.attempts += other.attempts;
        self.wasted += other.wasted;
        self.errands += other.errands;
        for (gate, count) in &other.yields {
            *self.yields.entry(*gate).or_default() += count;
        }
        self.tokens.counted = self.tokens.counted + other.tokens.counted;
        self.tokens.unknown += other.tokens.unknown;
        self.counted += other.counted;
        self.cache_hits += other.cache_hits;
        self.dollars.known = self.dollars.known.plus(other.dollars.known);
        self.dollars.unknown += other.dollars.unknown;
    }

    /// Adds what a call cost that has no answer: attempts that broke off were counted.
    pub(super) fn broken(&mut self, cost: Option<Dollars>) {
        self.dollars.known = self.dollars.known.plus(cost.unwrap_or_default());
    }
}

/// How work is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum By {
    /// By the group it counts against.
    Group,
    /// By job.
    Job,
    /// By the model that was asked.
    Model,
    /// By the hour of the day in Japan: of an attempt's start, of a run's start, of a slot.
    Hour,
    /// By the day in Japan, as the hour.
    Day,
}

impl By {
    /// Every way, in the order of a report.
    pub const ALL: [Self; 5] = [Self::Group, Self::Job, Self::Model, Self::Hour, Self::Day];

    /// The word of the command line, of JSON and of tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Job => "job",
            Self::Model => "model",
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }

    pub(super) const fn index(self) -> usize {
        match self {
            Self::Group => 0,
            Self::Job => 1,
            Self::Model => 2,
            Self::Hour => 3,
            Self::Day => 4,
        }
    }
}
