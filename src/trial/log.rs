//! What one arm did over one seed.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::money::Dollars;
use crate::outcome::YieldReason;

/// From here on work counts as done the next day: twelve hours.
const NEXT_DAY_MS: u64 = 12 * 3_600_000;

/// What one arm did over one seed. Instants are milliseconds since the start of the span.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Log {
    /// The work of every slot that was due, by instant.
    pub works: Vec<Work>,
    /// Every call, in order of their runs; work that was put off and tried again makes its calls anew.
    pub calls: Vec<Call>,
    /// Every request, those of one call side by side and in order.
    pub sends: Vec<Send>,
    /// Runs that yielded, by gate.
    pub yields: BTreeMap<YieldReason, usize>,
    /// When a breaker opened.
    pub openings: Vec<Opening>,
    /// What the answers cost, as far as prices are known.
    pub dollars: Dollars,
}

/// The work of one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// The slot.
    pub due_ms: u64,
    /// When its last complete answer was there; `None` if it never was.
    pub done_ms: Option<u64>,
    /// Where it was done.
    pub carried: Carried,
}

/// Where work was done, counted from its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Carried {
    /// In its own slot.
    InSlot,
    /// In a later slot, less than twelve hours after its own.
    Next,
    /// Twelve hours after its slot or later.
    NextDay,
    /// Nowhere, and nothing waits to do it.
    Lost,
    /// Nowhere yet: it was still waiting when the span ended.
    Waiting,
}

impl Carried {
    /// What is done so long after its slot, in another than its own.
    #[must_use]
    pub const fn later(late_ms: u64) -> Self {
        if late_ms < NEXT_DAY_MS {
            Self::Next
        } else {
            Self::NextDay
        }
    }
}

/// One call: one answer wanted, in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Which answer was wanted: work that was put off wants the same again, in another call.
    pub name: u64,
    /// When its first request was sent.
    pub began_ms: u64,
    /// When its last request ended.
    pub ended_ms: u64,
    /// Whether it ended in an answer.
    pub is_answered: bool,
    /// Its requests in [`Log::sends`]; at least one.
    pub sends: Range<usize>,
}

impl Call {
    /// The call of a name whose requests stand here, in order; `None` if there are none.
    #[must_use]
    pub fn of(name: u64, all: &[Send], sends: Range<usize>) -> Option<Self> {
        let own = all.get(sends.clone())?;
        let (first, last) = (own.first()?, own.last()?);
        Some(Self {
            name,
            began_ms: first.at_ms,
            ended_ms: last.at_ms + last.latency_ms,
            is_answered: last.end == SendEnd::Answered,
            sends,
        })
    }
}

/// One request, as the server saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Send {
    /// When it was sent.
    pub at_ms: u64,
    /// From its start to its end.
    pub latency_ms: u64,
    /// The group that it counts against, by number.
    pub group: u16,
    /// How it ended.
    pub end: SendEnd,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendEnd {
    /// With a whole answer.
    Answered,
    /// Refused before any work was done for it: 429, 529, most 5xx.
    Refused,
    /// Refused for what it is; the same request would be refused again.
    Fatal,
    /// Broken off after work had begun: it may have been billed.
    Broken,
}

/// A breaker opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// When.
    pub at_ms: u64,
    /// Whether the upstream was well at that moment: nothing was wrong with it but single requests.
    pub is_false: bool,
}
