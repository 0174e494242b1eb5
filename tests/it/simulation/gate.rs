//! The store behind a gate: each step of it may fail, lose its answer, or be the moment of a crash.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::engine::audit::ScheduleRow;
use offpeak::engine::pause::Pauses;
use offpeak::engine::ports::{
    Ask, Claimed, Clock, Collected, Deferral, Delivery, Finish, ManualStart, Offer, OpenBatch,
    PickupAt, PieceEnd, Progress, Redelivered, Store, StoreError, Stored, Taken, Tick, Told,
};
use offpeak::guard::{Permit, Refusal};
use offpeak::job::Which;
use offpeak::outcome::{Outcome, Run, RunId};
use offpeak::piece::Item;
use offpeak::sim::{MemoryStore, VirtualClock};
use offpeak::slot::Slot;

/// The store behind a gate: it fails while closed, and every step of it is a point to crash at.
pub struct GatedStore {
    inner: Arc<MemoryStore>,
    closed: AtomicBool,
    slow: AtomicBool,
    /// No step answers any more.
    stuck: AtomicBool,
    /// Whoever asks for the pauses is never answered.
    held: AtomicBool,
    /// What fails while everything else works.
    refused: Mutex<Option<Deed>>,
    judge: Mutex<Judge>,
    is_dead: AtomicBool,
    clock: VirtualClock,
    written_at: Mutex<Duration>,
}

/// Says what becomes of each step.
pub type Judge = Box<dyn FnMut(Step) -> Fate + Send>;

/// What a step does to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Read,
    Write,
}

/// What a step is for, where a test tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Adopt,
    Finish,
}

/// What becomes of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Works,
    /// It fails, and nothing was written.
    Fails,
    /// It was done, and the answer is an error.
    IsLost,
    /// The process dies before it is done.
    DiesBefore,
    /// The process dies after it was done and before anybody heard of it.
    DiesAfter,
}

impl GatedStore {
    pub fn new(inner: Arc<MemoryStore>, clock: VirtualClock) -> Self {
        Self {
            inner,
            closed: AtomicBool::new(false),
            slow: AtomicBool::new(false),
            stuck: AtomicBool::new(false),
            held: AtomicBool::new(false),
            refused: Mutex::new(None),
            judge: Mutex::new(Box::new(|_| Fate::Works)),
            is_dead: AtomicBool::new(false),
            written_at: Mutex::new(clock.elapsed()),
            clock,
        }
    }

    /// When the last write was asked for, by the clock that never steps.
    pub fn written_at(&self) -> Duration {
        *self.written_at.lock().unwrap()
    }

    /// Lets every step fail from here on.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    pub fn open(&self) {
        self.closed.store(false, Ordering::Relaxed);
    }

    /// Lets every step take two polls more: one before it is done and one after.
    pub fn slow_down(&self) {
        self.slow.store(true, Ordering::Relaxed);
    }

    pub fn speed_up(&self) {
        self.slow.store(false, Ordering::Relaxed);
    }

    /// Lets no step answer any more: a disk that is gone and does not say so.
    pub fn stick(&self) {
        self.stuck.store(true, Ordering::Relaxed);
    }

    /// Lets a wake-up with a slot due wait for ever: it is the only one to ask for the pauses.
    pub fn hold_wake_ups(&self) {
        self.held.store(true, Ordering::Relaxed);
    }

    /// Lets this alone fail from here on, or nothing.
    pub fn refuse(&self, deed: Option<Deed>) {
        *self.refused.lock().unwrap() = deed;
    }

    fn unless_refused<'a, T: Send + 'a>(&self, deed: Deed, step: Stored<'a, T>) -> Stored<'a, T> {
        if *self.refused.lock().unwrap() == Some(deed) {
            let error = StoreError::Failed(format!("no {deed:?}"));
            return Box::pin(std::future::ready(Err(error)));
        }
        step
    }

    /// Asks this judge about every step from here on.
    pub fn judge_by(&self, judge: impl FnMut(Step) -> Fate + Send + 'static) {
        *self.judge.lock().unwrap() = Box::new(judge);
        self.is_dead.store(false, Ordering::Relaxed);
    }

    /// Whether a step was the moment of a crash; whoever polls the daemon then drops it.
    pub fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }

    fn guarded<'a, T: Send + 'a>(&'a self, kind: Step, step: Stored<'a, T>) -> Stored<'a, T> {
        Box::pin(async move {
            if kind == Step::Write {
                *self.written_at.lock().unwrap() = self.clock.elapsed();
            }
            self.rest().await;
            if self.stuck.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
            if self.closed.load(Ordering::Relaxed) {
                return Err(StoreError::Failed("the disk is full".to_owned()));
            }
            let fate = (*self.judge.lock().unwrap())(kind);
            let done = match fate {
                Fate::Works => step.await,
                Fate::Fails => Err(StoreError::Failed("the disk is full".to_owned())),
                Fate::IsLost => {
                    step.await?;
                    Err(StoreError::Failed("the answer was lost".to_owned()))
                }
                Fate::DiesBefore => self.die().await,
                Fate::DiesAfter => {
                    step.await?;
                    self.die().await
                }
            };
            self.rest().await;
            done
        })
    }

    async fn die<T>(&self) -> T {
        self.is_dead.store(true, Ordering::Relaxed);
        std::future::pending().await
    }

    async fn rest(&self) {
        let mut rested = !self.slow.load(Ordering::Relaxed);
        std::future::poll_fn(|context| {
            if rested {
                return Poll::Ready(());
            }
            rested = true;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

impl Store for GatedStore {
    fn adopt<'a>(
        &'a self,
        schedules: &'a [(String, String)],
        now: DateTime<Utc>,
    ) -> Stored<'a, Vec<(String, DateTime<Utc>)>> {
        let step = self.guarded(Step::Write, self.inner.adopt(schedules, now));
        self.unless_refused(Deed::Adopt, step)
    }

    fn watermark(&self) -> Stored<'_, Option<DateTime<Utc>>> {
        self.guarded(Step::Read, self.inner.watermark())
    }

    fn claim(&self, tick: Tick) -> Stored<'_, Vec<Claimed>> {
        self.guarded(Step::Write, self.inner.claim(tick))
    }

    fn schedules(&self) -> Stored<'_, Vec<ScheduleRow>> {
        self.guarded(Step::Read, self.inner.schedules())
    }

    fn skip<'a>(&'a self, starts: &'a [(String, DateTime<Utc>)]) -> Stored<'a, ()> {
        self.guarded(Step::Write, self.inner.skip(starts))
    }

    fn rewind(&self, watermark: DateTime<Utc>) -> Stored<'_, ()> {
        self.guarded(Step::Write, self.inner.rewind(watermark))
    }

    fn take_deferral<'a>(
        &'a self,
        pickup: PickupAt<'a>,
        now: DateTime<Utc>,
    ) -> Stored<'a, Option<Taken>> {
        self.guarded(Step::Write, self.inner.take_deferral(pickup, now))
    }

    fn deferrals(&self) -> Stored<'_, Vec<Deferral>> {
        self.guarded(Step::Read, self.inner.deferrals())
    }

    fn pauses(&self) -> Stored<'_, Pauses> {
        if self.held.load(Ordering::Relaxed) {
            return Box::pin(std::future::pending());
        }
        self.guarded(Step::Read, self.inner.pauses())
    }

    fn begin_manual(&self, start: ManualStart) -> Stored<'_, RunId> {
        self.guarded(Step::Write, self.inner.begin_manual(start))
    }

    fn admit<'a>(&'a self, ask: Ask<'a>) -> Stored<'a, Result<Permit, Refusal>> {
        self.guarded(Step::Write, self.inner.admit(ask))
    }

    fn record<'a>(&'a self, told: Told<'a>) -> Stored<'a, ()> {
        self.guarded(Step::Write, self.inner.record(told))
    }

    fn collect<'a>(&'a self, collected: Collected<'a>) -> Stored<'a, ()> {
        self.guarded(Step::Write, self.inner.collect(collected))
    }

    fn batches(&self) -> Stored<'_, Vec<OpenBatch>> {
        self.guarded(Step::Read, self.inner.batches())
    }

    fn looked(&self, run: RunId, next: DateTime<Utc>) -> Stored<'_, ()> {
        self.guarded(Step::Write, self.inner.looked(run, next))
    }

    fn progress<'a>(&'a self, slot: &'a Slot, which: Which) -> Stored<'a, Progress> {
        self.guarded(Step::Read, self.inner.progress(slot, which))
    }

    fn split<'a>(
        &'a self,
        slot: &'a Slot,
        offer: Offer<'a>,
        now: DateTime<Utc>,
    ) -> Stored<'a, Vec<Item>> {
        self.guarded(Step::Write, self.inner.split(slot, offer, now))
    }

    fn settle(&self, end: PieceEnd) -> Stored<'_, ()> {
        self.guarded(Step::Write, self.inner.settle(end))
    }

    fn deliveries(&self) -> Stored<'_, Vec<Delivery>> {
        self.guarded(Step::Read, self.inner.deliveries())
    }

    fn redelivered(&self, end: Redelivered) -> Stored<'_, Option<Outcome>> {
        self.guarded(Step::Write, self.inner.redelivered(end))
    }

    fn finish(&self, finish: Finish) -> Stored<'_, ()> {
        let step = self.guarded(Step::Write, self.inner.finish(finish));
        self.unless_refused(Deed::Finish, step)
    }

    fn recover<'a>(&'a self, under_way: &'a [RunId], now: DateTime<Utc>) -> Stored<'a, Vec<Run>> {
        self.guarded(Step::Write, self.inner.recover(under_way, now))
    }
}
