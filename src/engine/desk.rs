//! What all running slots share: the world, the stop signal, the notices, and who is busy.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc::UnboundedSender;

use super::notice::Notice;
use super::ports::{StoreError, World};
use super::stop::{Stop, StopSignal};
use crate::job::JobId;

/// The first pause before a failed write is tried again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// No pause is longer: a disk that has room again is noticed within this.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Tries that a person at a terminal waits for, and a daemon that is draining.
const FEW_TRIES: u32 = 3;

/// How long a failing store is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// Until the stop signal: the daemon has nothing better to do.
    UntilStopped,
    /// A few seconds: a person waits.
    FewTries,
}

/// What all running slots share.
#[derive(Debug)]
pub(super) struct Desk {
    pub world: World,
    pub stop: StopSignal,
    notices: UnboundedSender<Notice>,
    patience: Patience,
    busy: Mutex<BTreeMap<JobId, usize>>,
    unclosed: AtomicUsize,
}

/// A job is busy while this lives.
#[derive(Debug)]
pub(super) struct Busy {
    desk: Arc<Desk>,
    job: JobId,
}

impl Desk {
    pub fn new(
        world: World,
        stop: StopSignal,
        notices: UnboundedSender<Notice>,
        patience: Patience,
    ) -> Arc<Self> {
        Arc::new(Self {
            world,
            stop,
            notices,
            patience,
            busy: Mutex::default(),
            unclosed: AtomicUsize::new(0),
        })
    }

    pub fn now(&self) -> DateTime<Utc> {
        self.world.clock.now()
    }

    /// Nobody listening is fine: the store holds what must not be lost.
    pub fn say(&self, notice: Notice) {
        let _ = self.notices.send(notice);
    }

    pub fn say_failed(&self, error: &StoreError) {
        self.say(Notice::StoreFailed {
            message: error.to_string(),
        });
    }

    /// Marks a job as busy.
    pub fn occupy(self: &Arc<Self>, job: &JobId) -> Busy {
        *self.lock_busy().entry(job.clone()).or_default() += 1;
        Busy {
            desk: Arc::clone(self),
            job: job.clone(),
        }
    }

    /// The jobs that a run works for.
    pub fn busy(&self) -> BTreeSet<JobId> {
        self.lock_busy().keys().cloned().collect()
    }

    /// Notes a run that could not be closed in the store; the next start closes it as interrupted.
    pub fn leave_unclosed(&self) {
        self.unclosed.fetch_add(1, Ordering::Relaxed);
    }

    /// How many runs could not be closed.
    pub fn unclosed(&self) -> usize {
        self.unclosed.load(Ordering::Relaxed)
    }

    /// Writes to the store until it works, within the patience.
    ///
    /// # Errors
    ///
    /// The last error, when the patience is at its end.
    pub async fn persist<T, F>(&self, write: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut pause = FIRST_PAUSE;
        let mut hurried = 0;
        loop {
            let error = match write().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            self.say_failed(&error);
            hurried += u32::from(self.is_in_hurry());
            if hurried >= FEW_TRIES || self.stop.level() == Stop::Now {
                return Err(error);
            }
            self.pause(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn is_in_hurry(&self) -> bool {
        match self.patience {
            Patience::UntilStopped => self.stop.is_raised(),
            Patience::FewTries => true,
        }
    }

    /// The stop signal ends a pause, but not twice: further tries come a second apart.
    async fn pause(&self, span: Duration) {
        if self.stop.is_raised() {
            self.world.clock.sleep(FIRST_PAUSE).await;
        } else {
            self.stop.or_stop(self.world.clock.sleep(span)).await;
        }
    }

    /// Counts cannot be left half changed, so a panic elsewhere poisons nothing.
    fn lock_busy(&self) -> MutexGuard<'_, BTreeMap<JobId, usize>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut busy = self.desk.lock_busy();
        if let Some(count) = busy.get_mut(&self.job) {
            *count -= 1;
            if *count == 0 {
                busy.remove(&self.job);
            }
        }
    }
}
