//! What the jobs of a simulated schedule send, in sizes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::answer::Usage;
use crate::job::{JobId, Request};
use crate::money::Dollars;
use crate::sim::world::StepLoad;

/// What an answer costs: of a request, by the model that took it, for what was counted; `None` if a price is unknown.
pub type Prices = Arc<dyn Fn(&Request, &str, &Usage) -> Option<Dollars> + Send + Sync>;

/// What the jobs of a simulated schedule send.
#[derive(Clone)]
pub struct Workload {
    /// By job; one that is not here sends a small request.
    pub jobs: BTreeMap<JobId, JobLoad>,
    /// What answers cost.
    pub prices: Prices,
    /// How long a client waits for the first byte before it breaks off.
    pub first_byte_timeout: Duration,
}

impl fmt::Debug for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Workload({:?})", self.jobs)
    }
}

/// What one slot of a job sends.
#[derive(Debug, Clone, PartialEq)]
pub struct JobLoad {
    /// How many items its `for_each` has; `None` for a job without.
    pub items: Option<u32>,
    /// The steps of its chain, at least one.
    pub steps: Vec<StepLoad>,
}
