//! Why the engine could not do its own job.

use super::ports::StoreError;
use crate::job::JobId;

/// Why the engine could not begin.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The job to run is not in the plan.
    #[error("there is no job `{0}` with a group in the plan")]
    UnknownJob(JobId),
}
