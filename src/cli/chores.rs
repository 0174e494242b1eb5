//! The daemon's chores on `tokio-cron-scheduler`: pruning, checkpoints, the liveness row.
//!
//! Slots never run here: the scheduler freezes a zone's offset when a job is
//! added, knows no catch-up, and is silent after the clock steps back, until
//! the instant at which it wanted to run next. The chores can bear the first
//! two, and begin anew when the engine takes over a time that lies far back.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};
use tracing::{debug, info, warn};

use crate::engine::ports::{Clock, StoreError};
use crate::store::{Liveness, SqliteStore};

/// Once a minute: `status` says to the minute when a daemon that is gone was last there.
const LIVENESS: &str = "30 * * * * *";
/// Once an hour, at a minute at which few schedules fire.
const CHECKPOINT: &str = "0 53 * * * *";
/// Once a day, after the peak window of the morning in most zones' terms.
const PRUNE: &str = "0 37 3 * * *";

/// A log that is longer after a checkpoint is worth a word: emptied every hour, it stays below a few megabytes.
const LONG_LOG: u64 = 64 << 20;

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

/// The chores at work.
pub struct Running {
    chores: Chores,
    scheduler: RefCell<JobScheduler>,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Running")
    }
}

/// Starts the chores; they end with what comes back.
pub async fn start(chores: Chores) -> Result<Running, JobSchedulerError> {
    let scheduler = RefCell::new(schedule(&chores).await?);
    Ok(Running { chores, scheduler })
}

impl Running {
    /// Goes by the clock as it is now: the next runs were reckoned by one that was far ahead.
    pub async fn begin_anew(&self) {
        match schedule(&self.chores).await {
            Ok(next) => end(self.scheduler.replace(next)).await,
            Err(error) => {
                warn!(%error, "the chores cannot begin anew; they wait until the clock is where it was");
            }
        }
    }

    /// Ends the chores.
    pub async fn end(self) {
        end(self.scheduler.into_inner()).await;
    }
}

async fn end(mut scheduler: JobScheduler) {
    if let Err(error) = scheduler.shutdown().await {
        warn!(%error, "the chores did not stop cleanly");
    }
}

/// A scheduler that performs the chores.
async fn schedule(chores: &Chores) -> Result<JobScheduler, JobSchedulerError> {
    let scheduler = JobScheduler::new().await?;
    for (expression, chore) in [
        (LIVENESS, Chore::Liveness),
        (CHECKPOINT, Chore::Checkpoint),
        (PRUNE, Chore::Prune),
    ] {
        let (chores, fails) = (chores.clone(), Arc::new(AtomicBool::new(false)));
        let job = Job::new_async(expression, move |_, _| {
            let (chores, fails) = (chores.clone(), Arc::clone(&fails));
            Box::pin(async move { chores.perform(chore, &fails).await })
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
    }
}

#[derive(Debug, Clone, Copy)]
enum Chore {
    Liveness,
    Checkpoint,
    Prune,
}

impl Chores {
    /// Says that a chore fails when it begins to, and not each minute of a night: `fails` is whether it did last time.
    async fn perform(&self, chore: Chore, fails: &AtomicBool) {
        let done = match chore {
            Chore::Liveness => self.store.touch(beat(self.clock.now())).await,
            Chore::Checkpoint => self.checkpoint().await,
            Chore::Prune => self.prune().await,
        };
        let did_fail = fails.swap(done.is_err(), Ordering::Relaxed);
        match done {
            Ok(()) if did_fail => info!(?chore, "chore works again"),
            Ok(()) => debug!(?chore, "chore done"),
            Err(error) if did_fail => debug!(?chore, %error, "chore failed again"),
            Err(error) => warn!(?chore, %error, "chore failed; it is tried again at its next time"),
        }
    }

    async fn checkpoint(&self) -> Result<(), StoreError> {
        let bytes = self.store.checkpoint().await?;
        if bytes > LONG_LOG {
            warn!(
                bytes,
                "the store's log cannot be emptied: another process reads an old state of the file; see what has it open"
            );
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::clock::SystemClock;

    /// When each chore is next, in seconds since 1970.
    async fn nexts(running: &Running) -> Vec<u64> {
        let metadata = Arc::clone(&running.scheduler.borrow().context.metadata_storage);
        let ticks = metadata.write().await.list_next_ticks().await.unwrap();
        ticks.iter().map(|tick| tick.next_tick).collect()
    }

    // The next run was reckoned by a clock a year ahead: once it was set right, there was no sign of life and no
    // pruning for a year.
    #[test]
    fn chores_begin_anew_after_the_clock_stepped_back() {
        let folder = tempfile::tempdir().unwrap();
        let chores = Chores {
            store: Arc::new(SqliteStore::open(folder.path()).unwrap()),
            clock: Arc::new(SystemClock::new()),
            keep: Duration::from_hours(24),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let running = start(chores).await.unwrap();
            let now = SystemClock::new().now();
            let metadata = Arc::clone(&running.scheduler.borrow().context.metadata_storage);
            let mut metadata = metadata.write().await;
            for tick in metadata.list_next_ticks().await.unwrap() {
                let next = Some(now + TimeDelta::days(365));
                let id = (&tick.id.unwrap()).into();
                metadata
                    .set_next_and_last_tick(id, next, Some(now))
                    .await
                    .unwrap();
            }
            drop(metadata);
            let day = now + TimeDelta::days(1) + TimeDelta::minutes(10);
            let day = u64::try_from(day.timestamp()).unwrap();
            assert!(nexts(&running).await.iter().all(|next| *next > day));
            running.begin_anew().await;
            let nexts = nexts(&running).await;
            assert_eq!(nexts.len(), 3);
            assert!(nexts.iter().all(|next| *next < day), "{nexts:?}");
            running.end().await;
        });
    }
}
