//! What the linter needs to know of a job.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::NaiveDate;

use super::{Rule, Shape};
use crate::job::{CacheTtl, GroupId, JobId};
use crate::money::Dollars;
use crate::schedule::Timetable;

/// What the linter needs to know of one job, or of one group's pickup slots.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The job; pickup slots are named `pickup:GROUP`.
    pub job: JobId,
    /// The group it counts against.
    pub group: GroupId,
    /// When it fires.
    pub timetable: Timetable,
    /// What one run may take.
    pub effort: Effort,
    /// What it sends; `None` if that is not known, as of pickup slots.
    pub prompt: Option<Prompt>,
    /// The models of the later steps of a chain; empty if there is one prompt.
    pub later_models: Vec<Arc<Model>>,
    /// What it asks of the API, a shape for each step; empty of pickup slots.
    pub shapes: Vec<Shape>,
    /// The model that is asked after the first, and the requests as they go there; `None` if there is none.
    pub fallback: Option<Fallback>,
    /// What it may spend: of each step, then of each step when it goes to the fallback; empty of pickup slots.
    pub tolls: Vec<Toll>,
    /// The rules that the job accepts, each with its reason.
    pub accepted: BTreeMap<Rule, String>,
}

impl Subject {
    /// A subject whose runs take no time, whose prompt is not known, and that accepts nothing.
    #[must_use]
    pub fn new(job: JobId, group: GroupId, timetable: Timetable) -> Self {
        Self {
            job,
            group,
            timetable,
            effort: Effort::NONE,
            prompt: None,
            later_models: Vec::new(),
            shapes: Vec::new(),
            fallback: None,
            tolls: Vec::new(),
            accepted: BTreeMap::new(),
        }
    }

    /// The same with runs of at most one attempt of this length.
    #[must_use]
    pub fn lasting(mut self, timeout: Duration) -> Self {
        self.effort = Effort {
            timeout,
            ..Effort::ONE
        };
        self
    }
}

/// What would be asked of a job's fallback.
#[derive(Debug, Clone, PartialEq)]
pub struct Fallback {
    /// The model.
    pub model: Arc<Model>,
    /// The request of each step with this model in place of its own.
    pub shapes: Vec<Shape>,
}

/// What a job may spend, and what an answer of one of its calls may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toll {
    /// The model's id as the job names it.
    pub model: String,
    /// Whether that is the fallback.
    pub is_fallback: bool,
    /// The most tokens that the answer may have.
    pub max_tokens: u32,
    /// Dollars for an answer of that length alone; `None` if its price is unknown.
    pub answer: Option<Dollars>,
    /// The caps that hold for it.
    pub caps: Vec<Cap>,
}

/// The most that may be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap {
    /// The field that says so, such as `max_cost`.
    pub field: &'static str,
    /// Dollars.
    pub most: Dollars,
}

/// What bounds one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Effort {
    /// How many calls a run makes at most; 0 for pickup slots. Those of one item if nobody knows how many items there
    /// will be.
    pub calls: u32,
    /// How the calls hang together.
    pub pieces: Pieces,
    /// How many attempts a call makes at most.
    pub attempts: u32,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How long the wait before a retry may be.
    pub max_delay: Duration,
}

impl Effort {
    /// No call.
    pub const NONE: Self = Self {
        calls: 0,
        pieces: Pieces::ONE,
        attempts: 0,
        timeout: Duration::ZERO,
        max_delay: Duration::ZERO,
    };
    /// One call of one attempt that takes no time.
    pub const ONE: Self = Self {
        calls: 1,
        pieces: Pieces::ONE,
        attempts: 1,
        timeout: Duration::ZERO,
        max_delay: Duration::ZERO,
    };

    /// How many calls follow one another at most: the others are made beside them.
    #[must_use]
    pub fn calls_in_a_row(self) -> u32 {
        let chain = self.pieces.chain.max(1);
        let rounds = self.calls.div_ceil(chain);
        rounds.div_ceil(self.pieces.at_once.max(1)) * chain
    }

    /// Whether a run may make more than one call.
    #[must_use]
    pub const fn may_repeat(self) -> bool {
        match self.pieces.items {
            Items::Known => self.calls > 1,
            Items::Unknown => true,
        }
    }

    /// The longest that one run may take: every attempt to its timeout, every wait at its cap.
    #[must_use]
    pub fn worst_case(self) -> Duration {
        let attempts = self.timeout.saturating_mul(self.attempts);
        let waits = self
            .max_delay
            .saturating_mul(self.attempts.saturating_sub(1));
        attempts
            .saturating_add(waits)
            .saturating_mul(self.calls_in_a_row())
    }
}

/// How the calls of a run hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pieces {
    /// How many calls each item takes, one after another; at least 1.
    pub chain: u32,
    /// How many items may be under way at once; at least 1.
    pub at_once: u32,
    /// Whether it is known how many items there are at most.
    pub items: Items,
}

impl Pieces {
    /// One call after the other.
    pub const ONE: Self = Self {
        chain: 1,
        at_once: 1,
        items: Items::Known,
    };
}

/// Whether it is known how many items a run has at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Items {
    /// It is.
    Known,
    /// Nobody knows before the slot.
    Unknown,
}

/// What a job sends, as far as it is known offline.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The model that answers.
    pub model: Arc<Model>,
    /// Estimated tokens of the whole input: system prompt, prompt and those inputs whose size is known.
    pub tokens: u64,
    /// Estimated tokens that inputs of unknown size may add, by their `max_bytes`.
    pub more_tokens: u64,
    /// The parts that can be cached, each longer than the one before: the system prompt up to each of its cache
    /// breakpoints, or the whole of it if it has none.
    pub prefixes: Vec<Prefix>,
}

/// The part of a prompt that another call can find in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    /// Which other prefixes are the same.
    pub identity: Identity,
    /// Estimated tokens, from the start of the request.
    pub tokens: u64,
    /// Those of them that no shorter prefix of the prompt holds.
    pub own_tokens: u64,
    /// How long it is cached; `None` if it is not.
    pub cache: Option<CacheTtl>,
    /// With which block of the system prompt it ends, counted from 1; `None` if that is a single block.
    pub block: Option<usize>,
}

/// Which prefixes are the same, text by text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Identity {
    /// Equal prefixes are the same at every slot.
    Steady(Arc<str>),
    /// Equal prefixes may be the same at two slots, as with `{{ date }}`; prefixes that differ never are.
    Loose(Arc<str>),
    /// It is another at every slot, as with `{{ slot }}`.
    Fleeting,
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The id as the job names it.
    pub id: String,
    /// Whether it is in the table of models.
    pub known: Known,
    /// The date of the table, from which all that follows is.
    pub as_of: NaiveDate,
    /// The last day on which it answers; `None` if no end is announced.
    pub ends_on: Option<NaiveDate>,
    /// A current model of its family; `None` if there is none.
    pub successor: Option<String>,
    /// A shorter prefix is not cached; `None` if unknown.
    pub min_cacheable_tokens: Option<u64>,
    /// What input costs; `None` if unknown.
    pub price: Option<InputPrice>,
}

impl Model {
    /// Whether a prefix of so many tokens is long enough to be cached; it is if the least length is unknown.
    #[must_use]
    pub fn can_cache(&self, tokens: u64) -> bool {
        self.min_cacheable_tokens
            .is_none_or(|least| tokens >= least)
    }
}

/// Whether a model is in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// It is.
    Yes,
    /// It is not, and nothing is near it.
    No,
    /// It is not, and this name is near it.
    Near(String),
}

/// Dollars for a million input tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InputPrice {
    /// Neither written to the cache nor read from it.
    pub fresh: f64,
    /// Written to the cache for five minutes.
    pub write_5m: f64,
    /// Written to the cache for one hour.
    pub write_1h: f64,
    /// Read from the cache.
    pub read: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_case_is_every_attempt_to_its_timeout_and_every_wait_at_its_cap() {
        let effort = Effort {
            calls: 2,
            pieces: Pieces::ONE,
            attempts: 3,
            timeout: Duration::from_mins(10),
            max_delay: Duration::from_secs(30),
        };
        assert_eq!(effort.worst_case(), Duration::from_mins(62));
        let five_by_two = Effort {
            calls: 15,
            pieces: Pieces {
                chain: 3,
                at_once: 2,
                items: Items::Known,
            },
            ..effort
        };
        assert_eq!(five_by_two.calls_in_a_row(), 9);
        assert_eq!(five_by_two.worst_case(), Duration::from_mins(9 * 31));
        assert_eq!(Effort::NONE.worst_case(), Duration::ZERO);
    }
}
