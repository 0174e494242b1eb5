//! What the jobs of a simulated schedule send, in sizes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::answer::Usage;
use crate::job::{CacheTtl, JobId, Request};
use crate::money::Dollars;
use crate::price::Estimate;

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

/// What one call sends.
#[derive(Debug, Clone, PartialEq)]
pub struct StepLoad {
    /// All input tokens, those of the cached part included.
    pub input_tokens: u64,
    /// The part that asks to be cached, if the model caches so much.
    pub cached: Option<CachedPart>,
    /// The most tokens of output.
    pub max_tokens: u32,
    /// What the client reserves for it.
    pub estimate: Estimate,
}

/// The part of a request that the API caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachedPart {
    /// Calls with the same mark find each other's entry: it stands for group, model and text.
    pub mark: u64,
    /// Its tokens.
    pub tokens: u64,
    /// How long an entry lives after its last use.
    pub ttl: CacheTtl,
}
