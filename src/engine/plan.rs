//! What the engine goes by: checked jobs, groups and windows, as plain values, and what they are done through.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::ports::{Upstream, Workspace};
use crate::guard::{GuardPolicy, RetryPolicy};
use crate::job::{GroupId, Job, JobId};
use crate::schedule::{DeferPolicy, Missed, PeakWindows, Timetable};

/// A whole checked schedule; made by `config`, passed down by value.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The jobs by name.
    pub jobs: BTreeMap<JobId, PlannedJob>,
    /// The groups by name; every job's group is here.
    pub groups: BTreeMap<GroupId, GroupPlan>,
    /// When nothing fires.
    pub peaks: PeakWindows,
    /// The least gap between two firings of one group.
    pub min_gap: Duration,
    /// How long requests in flight may go on after the stop signal.
    pub grace: Duration,
    /// What its runs send and write through; `None` means what the [`World`](super::ports::World) has.
    pub edge: Option<Edge>,
}

/// What the runs of one plan send and write through, from their beginning to their end.
///
/// A later plan brings its own: a key that it renamed or left out is still there for the runs that began before it.
#[derive(Clone)]
pub struct Edge {
    /// Sends requests.
    pub upstream: Arc<dyn Upstream>,
    /// Reads prompts and inputs, writes answers.
    pub workspace: Arc<dyn Workspace>,
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Edge")
    }
}

/// A job and the policies that hold for it.
#[derive(Debug, Clone)]
pub struct PlannedJob {
    /// What to send, with which key, on what schedule.
    pub job: Job,
    /// The compiled schedule.
    pub timetable: Timetable,
    /// How its calls are retried.
    pub retry: RetryPolicy,
    /// How its yielded work is carried.
    pub defer: DeferPolicy,
    /// What happens to its missed slots.
    pub missed: Missed,
}

/// What holds for a group.
#[derive(Debug, Clone)]
pub struct GroupPlan {
    /// Budget and breaker.
    pub guard: GuardPolicy,
    /// Pickup slots: they do no work of their own and only take deferrals.
    pub pickup: Option<Timetable>,
}
