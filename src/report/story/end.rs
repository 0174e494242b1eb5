//! How a slot stands, all its runs taken together.

use super::{Record, Work, WorkState};
use crate::outcome::{FailReason, IncompleteReason, Outcome, Run, SkipReason, YieldReason};

/// How a slot stands.
pub(super) enum End<'a> {
    /// Nothing is on record but the claim.
    Nothing,
    Succeeded(&'a Run),
    Incomplete(IncompleteReason),
    Exhausted,
    Failed(FailReason),
    Skipped(SkipReason),
    Yielded(YieldReason),
    Waits(&'a Work),
    /// A batch is out.
    Collecting,
    Running,
}

impl<'a> End<'a> {
    pub fn of(record: &'a Record) -> Self {
        let open = record
            .works
            .iter()
            .find(|work| work.state == WorkState::Waits);
        if let Some(work) = open {
            return Self::Waits(work);
        }
        let Some(run) = record.runs.last() else {
            return Self::Nothing;
        };
        match &run.outcome {
            None if record.batches.iter().any(|batch| batch.run == run.id) => Self::Collecting,
            None => Self::Running,
            Some(Outcome::Succeeded) => Self::Succeeded(run),
            Some(Outcome::Incomplete(reason)) => Self::Incomplete(*reason),
            Some(Outcome::Yielded(reason)) => Self::Yielded(*reason),
            Some(Outcome::Exhausted) => Self::Exhausted,
            Some(Outcome::Failed(reason)) => Self::Failed(*reason),
            Some(Outcome::Skipped(reason)) => Self::Skipped(*reason),
        }
    }
}
