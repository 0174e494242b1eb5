//! How a portion of a run ends.

use std::path::PathBuf;

use crate::answer::Answer;
use crate::engine::call::CallEnd;
use crate::engine::pace::Gate;
use crate::engine::ports::{DeliveryEnd, StoreError};
use crate::outcome::{FailReason, Outcome, YieldReason};

/// What became of a portion.
#[derive(Debug)]
pub struct Piece {
    pub end: End,
    pub answer: Option<Answer>,
    pub delivery: Option<DeliveryEnd>,
    pub output: Option<PathBuf>,
    pub trouble: Option<String>,
    /// Why the store does not know of the attempt that brought the answer.
    pub unrecorded: Option<StoreError>,
}

/// How a portion ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// For good.
    Closed(Outcome),
    /// A gate refused.
    Left(Gate),
    /// Retryable to the last attempt.
    Exhausted,
}

impl Piece {
    pub fn new(end: End, trouble: Option<String>) -> Self {
        Self {
            end,
            answer: None,
            delivery: None,
            output: None,
            trouble,
            unrecorded: None,
        }
    }

    pub fn failed(reason: FailReason, trouble: Option<String>) -> Self {
        Self::new(End::Closed(Outcome::Failed(reason)), trouble)
    }

    /// The same end for another portion.
    pub fn again(&self) -> Self {
        Self::new(self.end.clone(), self.trouble.clone())
    }

    pub const fn left(gate: Gate, trouble: Option<String>) -> Self {
        Self {
            end: End::Left(gate),
            answer: None,
            delivery: None,
            output: None,
            trouble,
            unrecorded: None,
        }
    }
}

/// The gate that a stop signal is.
pub const STOPPED: Gate = (YieldReason::Shutdown, None);

impl End {
    pub const fn of(end: &CallEnd) -> Self {
        match end {
            CallEnd::Yielded { reason, not_before } => Self::Left((*reason, *not_before)),
            CallEnd::Exhausted => Self::Exhausted,
            CallEnd::Failed(reason) => Self::Closed(Outcome::Failed(*reason)),
            // The machine says so only after an answer.
            CallEnd::Answered => Self::Closed(Outcome::Failed(FailReason::NotAMessage)),
        }
    }
}
