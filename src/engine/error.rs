//! Why the engine could not do its own job.

use super::ports::{Finish, StoreError};
use crate::job::JobId;
use crate::outcome::Outcome;

/// Why the engine could not begin.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The job to run is not in the plan.
    #[error("there is no job `{0}` with a group in the plan")]
    UnknownJob(JobId),
    /// An answer came, and the store took no end of the run; the answer is in it.
    #[error(
        "run {} could not be closed and counts as interrupted; {}, and the store does not know it",
        .0.run.0,
        whereabouts(.0)
    )]
    Unrecorded(Box<Finish>),
}

/// What became of the answer, in words.
fn whereabouts(finish: &Finish) -> String {
    match (&finish.output, &finish.outcome) {
        (Some(path), _) => format!("its answer was delivered to {}", path.display()),
        (None, Outcome::Succeeded) => "its answer was delivered".to_owned(),
        (None, outcome) => format!("its answer went to no file ({outcome})"),
    }
}
