//! Attempts, as they are gathered.

use chrono::{DateTime, Utc};

use super::{NONE, hour, narrow};
use crate::outcome::Class;
use crate::report::facts::AttemptFact;
use crate::report::summary::may_be_billed;

/// Attempts of a history, of which nothing need be known but themselves: they may be gathered beside the runs and calls
/// that they belong to.
#[derive(Debug, Default)]
pub struct Attempts {
    /// No call has a smaller id.
    first: i64,
    pub(super) rows: Vec<Sample>,
}

/// What is kept of an attempt.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Sample {
    pub total: u32,
    /// [`NONE`] if no byte came.
    pub first: u32,
    /// How far the id of its call lies after the first; once the calls are known, the place of that.
    pub call: u32,
    /// Seconds since 1970.
    pub started: u32,
    pub n: u8,
    pub state: State,
    /// Whether the API may have billed it and its cost is not known.
    pub is_lost: bool,
    pub is_peak: bool,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum State {
    /// Not yet, or in a crash.
    Open,
    /// By our own hand: nothing was measured.
    Cancelled,
    Answered,
    Failed,
}

impl Attempts {
    /// None yet, of calls none of which has an id below this.
    #[must_use]
    pub const fn of(first: i64) -> Self {
        Self {
            first,
            rows: Vec::new(),
        }
    }

    /// Takes an attempt; one of a call that lies four billion and more after the first is left out.
    pub fn take(&mut self, fact: &AttemptFact<'_>) {
        let Some(call) = fact.call.checked_sub(self.first) else {
            return;
        };
        let Ok(call) = u32::try_from(call) else {
            return;
        };
        let started = u32::try_from(fact.started_at.timestamp());
        let end = fact.end.as_ref();
        self.rows.push(Sample {
            total: end.map_or(0, |end| narrow(end.total_ms)),
            first: end.and_then(|end| end.first_byte_ms).map_or(NONE, narrow),
            call,
            started: started.unwrap_or_default(),
            n: u8::try_from(fact.n).unwrap_or(u8::MAX),
            state: end.map_or(State::Open, |end| match end.class {
                None => State::Cancelled,
                Some(Class::Success) => State::Answered,
                Some(Class::Retryable | Class::Fatal) => State::Failed,
            }),
            is_lost: end.is_some_and(may_be_billed),
            is_peak: false,
        });
    }

    /// The id of the call that an attempt belongs to, as long as calls are not known.
    pub(super) fn call_of(&self, row: &Sample) -> i64 {
        self.first + i64::from(row.call)
    }
}

impl Sample {
    /// When it was sent, to the second.
    pub(in super::super) fn at(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(self.started.into(), 0).unwrap_or_default()
    }

    /// The same in milliseconds since 1970.
    pub(super) fn started_ms(&self) -> i64 {
        i64::from(self.started) * 1000
    }

    /// The hour of the day in Japan in which it was sent.
    pub(in super::super) fn hour(&self) -> u8 {
        hour(self.started_ms())
    }

    pub(super) const fn is_measured(&self) -> bool {
        matches!(self.state, State::Answered | State::Failed)
    }
}
