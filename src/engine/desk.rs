//! What all running slots share: the world, the stop signal, the notices, and the runs under way.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc::UnboundedSender;

use super::notice::Notice;
use super::outage::{Outage, Over};
use super::ports::{StoreError, World};
use super::stop::{Stop, StopSignal};
use crate::job::JobId;
use crate::outcome::RunId;

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
    under_way: Mutex<BTreeMap<RunId, JobId>>,
    beginning: AtomicUsize,
    in_doubt: AtomicBool,
    owes: AtomicBool,
    has_handed_in: AtomicBool,
    unclosed: AtomicUsize,
    outage: Mutex<Outage>,
}

/// A run is under way, and its job busy, while this lives.
#[derive(Debug)]
pub(super) struct Busy {
    desk: Arc<Desk>,
    run: RunId,
    stays: bool,
}

/// A run is being begun while this lives: the store may know of it before we do.
#[derive(Debug)]
pub(super) struct Beginning<'a>(&'a Desk);

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
            under_way: Mutex::default(),
            beginning: AtomicUsize::new(0),
            in_doubt: AtomicBool::new(false),
            owes: AtomicBool::new(false),
            has_handed_in: AtomicBool::new(false),
            unclosed: AtomicUsize::new(0),
            outage: Mutex::default(),
        })
    }

    pub fn now(&self) -> DateTime<Utc> {
        self.world.clock.now()
    }

    /// Nobody listening is fine: the store holds what must not be lost.
    pub fn say(&self, notice: Notice) {
        let _ = self.notices.send(notice);
    }

    /// Says that the store failed, unless this was said since it worked last. What it was asked for may have been written
    /// all the same.
    pub fn say_failed(&self, error: &StoreError) {
        self.in_doubt.store(true, Ordering::Relaxed);
        let message = error.to_string();
        if self.lock_outage().note(&message, self.now()) {
            self.say(Notice::StoreFailed { message });
        }
    }

    /// A write worked: says so if one had failed before.
    pub fn say_works(&self) {
        let over = self.lock_outage().end();
        if let Some(Over { since, failures }) = over {
            self.say(Notice::StoreWorks { since, failures });
        }
    }

    /// How many steps of the store failed since a write worked.
    pub fn failures(&self) -> usize {
        self.lock_outage().failures()
    }

    /// Whether the store has failed since the last time that this was asked.
    pub fn take_doubt(&self) -> bool {
        self.in_doubt.swap(false, Ordering::Relaxed)
    }

    /// Notes that an answer may be owed to its places.
    pub fn note_owed(&self) {
        self.owes.store(true, Ordering::Relaxed);
    }

    /// Whether answers may be owed since the last time that this was asked.
    pub fn take_owed(&self) -> bool {
        self.owes.swap(false, Ordering::Relaxed)
    }

    /// Notes that the batches on record have changed.
    pub fn note_batch(&self) {
        self.has_handed_in.store(true, Ordering::Relaxed);
    }

    /// Whether they have since the last time that this was asked.
    pub fn take_batch(&self) -> bool {
        self.has_handed_in.swap(false, Ordering::Relaxed)
    }

    /// Marks a run as under way.
    pub fn occupy(self: &Arc<Self>, run: RunId, job: &JobId) -> Busy {
        self.lock_runs().insert(run, job.clone());
        Busy {
            desk: Arc::clone(self),
            run,
            stays: false,
        }
    }

    /// Marks that a run is being begun.
    pub fn begin(&self) -> Beginning<'_> {
        self.beginning.fetch_add(1, Ordering::Relaxed);
        Beginning(self)
    }

    /// The jobs that a run works for.
    pub fn busy(&self) -> BTreeSet<JobId> {
        self.lock_runs().values().cloned().collect()
    }

    /// The runs under way; `None` while one is being begun, as its name is not known yet.
    pub fn under_way(&self) -> Option<Vec<RunId>> {
        let is_known = self.beginning.load(Ordering::Relaxed) == 0;
        is_known.then(|| self.lock_runs().keys().copied().collect())
    }

    /// Notes a run that could not be closed in the store; the next start closes it as interrupted.
    pub fn leave_unclosed(&self) {
        self.unclosed.fetch_add(1, Ordering::Relaxed);
    }

    /// How many runs could not be closed.
    pub fn unclosed(&self) -> usize {
        self.unclosed.load(Ordering::Relaxed)
    }

    /// Writes to the store until it works, within the patience. What fails for good is tried once.
    ///
    /// # Errors
    ///
    /// The last error, when the patience is at its end or the error [lasts](StoreError::is_lasting).
    pub async fn persist<T, F>(&self, write: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut pause = FIRST_PAUSE;
        let mut hurried = 0;
        loop {
            let error = match write().await {
                Ok(done) => {
                    self.say_works();
                    return Ok(done);
                }
                Err(error) => error,
            };
            self.say_failed(&error);
            if error.is_lasting() {
                return Err(error);
            }
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

    /// A map cannot be left half changed, so a panic elsewhere poisons nothing.
    fn lock_runs(&self) -> MutexGuard<'_, BTreeMap<RunId, JobId>> {
        let lock = self.under_way.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_outage(&self) -> MutexGuard<'_, Outage> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Busy {
    /// Leaves the run under way: it waits for a batch, and whoever looks at that occupies it anew.
    pub fn stay(mut self) {
        self.stays = true;
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if !self.stays {
            self.desk.lock_runs().remove(&self.run);
        }
    }
}

impl Drop for Beginning<'_> {
    fn drop(&mut self) {
        self.0.beginning.fetch_sub(1, Ordering::Relaxed);
    }
}
