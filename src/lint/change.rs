//! A proposed change of one cron expression.

use std::fmt;

use crate::job::{GroupId, JobId};

/// One cron expression that another should take the place of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The job; pickup slots are named `pickup:GROUP`.
    pub job: JobId,
    /// Its group.
    pub group: GroupId,
    /// Which of the job's cron expressions, counted from 0.
    pub cron: usize,
    /// The expression as it is, its fields one blank apart.
    pub from: String,
    /// The expression as it should be.
    pub to: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} → {}", self.job, self.from, self.to)
    }
}
