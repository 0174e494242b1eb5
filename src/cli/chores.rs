//! The daemon's chores on `tokio-cron-scheduler`: pruning, checkpoints, the liveness row.
//!
//! Slots never run here: the scheduler freezes a zone's offset when a job is
//! added, knows no catch-up, and is silent after the clock steps back. The
//! chores can bear all three.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};
use tracing::{debug, warn};

use crate::engine::ports::{Clock, StoreError};
use crate::store::{Liveness, SqliteStore};

/// Once a minute: `status` says to the minute when a daemon that is gone was last there.
const LIVENESS: &str = "30 * * * * *";
/// Once an hour, at a minute at which few schedules fire.
const CHECKPOINT: &str = "0 53 * * * *";
/// Once a day, after the peak window of the morning in most zones' terms.
const PRUNE: &str = "0 37 3 * * *";

/// What the chores work on.
#[derive(Clone)]
pub struct Chores {
    /// The store.
    pub store: Arc<SqliteStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Rows older than this are pruned.
    pub keep: Duration,
}

impl std::fmt::Debug for Chores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Chores")
    }
}

/// Starts the chores; they end with the scheduler.
pub async fn start(chores: Chores) -> Result<JobScheduler, JobSchedulerError> {
    let scheduler = JobScheduler::new().await?;
    for (expression, chore) in [
        (LIVENESS, Chore::Liveness),
        (CHECKPOINT, Chore::Checkpoint),
        (PRUNE, Chore::Prune),
    ] {
        let chores = chores.clone();
        let job = Job::new_async(expression, move |_, _| {
            let chores = chores.clone();
            Box::pin(async move { chores.perform(chore).await })
        })?;
        scheduler.add(job).await?;
    }
    scheduler.start().await?;
    Ok(scheduler)
}

/// The sign of life of this process.
#[must_use]
pub fn beat(at: DateTime<Utc>) -> Liveness {
    Liveness {
        at,
        pid: std::process::id(),
        next: None,
    }
}

#[derive(Debug, Clone, Copy)]
enum Chore {
    Liveness,
    Checkpoint,
    Prune,
}

impl Chores {
    async fn perform(&self, chore: Chore) {
        let done = match chore {
            Chore::Liveness => self.store.touch(beat(self.clock.now())).await,
            Chore::Checkpoint => self.store.checkpoint().await,
            Chore::Prune => self.prune().await,
        };
        match done {
            Ok(()) => debug!(?chore, "chore done"),
            Err(error) => warn!(?chore, %error, "chore failed; it is tried again at its next time"),
        }
    }

    async fn prune(&self) -> Result<(), StoreError> {
        let keep = TimeDelta::from_std(self.keep).unwrap_or(TimeDelta::MAX);
        let before = self
            .clock
            .now()
            .checked_sub_signed(keep)
            .unwrap_or(DateTime::<Utc>::MIN_UTC);
        let pruned = self.store.prune(before).await?;
        debug!(?pruned, "pruned");
        Ok(())
    }
}
