//! `serve`: waits for a slot, a finished run, a new plan or the stop signal.
//!
//! One future that polls its running slots. It spawns nothing and owns no
//! timer, so that the same code runs in virtual time.

mod planning;
mod waking;

use std::future::pending;
use std::sync::{Arc, Weak};
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::{FutureExt, select_biased};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use super::clocks;
use super::desk::{Desk, Patience};
use super::error::EngineError;
use super::notice::Notice;
use super::plan::Plan;
use super::ports::{Pending, StoreError, Tick, World};
use super::promise::{Promises, span_until};
use super::pulse::{Beat, Health, Pulse};
use super::stop::{Drained, Stop, StopSignal};
use super::timeline::Timeline;
use crate::schedule::{Ahead, Entry};

use waking::SWEEP;

/// How soon a wake-up that the store failed is tried again: several times within a slot's grace of a minute.
const RETRY: Duration = Duration::from_secs(5);

/// Runs the schedule until the stop signal, then drains.
///
/// The plan is the latest value of `plans`; a new value takes its place once the slots due before it are dealt with. A
/// store that fails later on is reported as [`Notice::StoreFailed`] and tried again until [`Notice::StoreWorks`];
/// nothing is sent meanwhile.
///
/// # Errors
///
/// [`EngineError::Store`] if the store fails at the start.
pub async fn serve(
    world: World,
    plans: watch::Receiver<Arc<Plan>>,
    stop: watch::Receiver<Stop>,
    notices: UnboundedSender<Notice>,
) -> Result<Drained, EngineError> {
    serve_with_pulse(world, plans, stop, notices, Pulse::unfelt()).await
}

/// [`serve`] that says at every wake-up that it lives, also while it drains.
///
/// # Errors
///
/// As those of [`serve`].
pub async fn serve_with_pulse(
    world: World,
    plans: watch::Receiver<Arc<Plan>>,
    stop: watch::Receiver<Stop>,
    notices: UnboundedSender<Notice>,
    pulse: Pulse,
) -> Result<Drained, EngineError> {
    let desk = Desk::new(
        world,
        StopSignal::new(stop),
        notices,
        Patience::UntilStopped,
    );
    clocks::wait_until_set(&desk).await;
    if clocks::is_unset(desk.now()) {
        return Ok(Drained {
            running: 0,
            unclosed: 0,
        });
    }
    let mut daemon = Daemon::start(desk, plans, pulse).await?;
    while !daemon.desk.stop.is_raised() {
        let rest = daemon.wake_up().await;
        daemon.beat(rest);
        daemon.wait(rest).await;
    }
    Ok(daemon.drain().await)
}

struct Daemon {
    desk: Arc<Desk>,
    plans: watch::Receiver<Arc<Plan>>,
    timeline: Arc<Timeline>,
    /// Where the daemon stands in the timeline's agenda, and among its carriers.
    ahead: [Ahead; 2],
    /// Every slot up to here has been dealt with. The store is told only when there was one.
    watermark: DateTime<Utc>,
    /// The first entry after the watermark.
    next: Option<Entry>,
    /// The first entry after it that fires.
    fires: Option<Entry>,
    promises: Promises,
    /// Whether the clock fell behind the making of this program, which has been said.
    is_unset: bool,
    running: FuturesUnordered<Pending<'static, ()>>,
    /// Alive while one of those that run ends the work that no slot will take.
    closing_orphans: Weak<()>,
    /// Alive while answers that are owed are being delivered.
    delivering: Weak<()>,
    /// When the next answer that is owed may be delivered, as far as is known.
    owed_at: Option<DateTime<Utc>>,
    /// Alive while batches are being looked at.
    looking: Weak<()>,
    /// When the next batch is looked at, as far as is known.
    batch_at: Option<DateTime<Utc>>,
    /// When answers are looked for that another process left owed, by the clock that never steps.
    look_at: Duration,
    /// When the plan that stands ready was first tried to be adopted.
    reload_since: Option<DateTime<Utc>>,
    /// When runs that nobody works on are looked for next, by the clock that never steps.
    sweep_at: Duration,
    pulse: Pulse,
}

impl Daemon {
    async fn start(
        desk: Arc<Desk>,
        mut plans: watch::Receiver<Arc<Plan>>,
        pulse: Pulse,
    ) -> Result<Self, StoreError> {
        let store = &desk.world.store;
        let now = desk.now();
        for run in store.recover(&[], now).await? {
            desk.say(Notice::Recovered { run: Box::new(run) });
        }
        let known = store.watermark().await?;
        if known.is_none() {
            // Written at once, so that a crash before the first slot misses nothing.
            let (watermark, slots) = (now, Vec::new());
            store
                .claim(Tick {
                    now,
                    watermark,
                    slots,
                })
                .await?;
        }
        let watermark = known.unwrap_or(now);
        let plan = Arc::clone(&plans.borrow_and_update());
        let timeline = Arc::new(Timeline::new(Arc::clone(&plan), Vec::new(), now));
        let mut daemon = Self {
            reload_since: None,
            sweep_at: desk.world.clock.elapsed() + SWEEP,
            desk,
            plans,
            timeline,
            ahead: Default::default(),
            watermark,
            next: None,
            fires: None,
            promises: Promises::default(),
            is_unset: false,
            running: FuturesUnordered::new(),
            closing_orphans: Weak::new(),
            delivering: Weak::new(),
            owed_at: None,
            looking: Weak::new(),
            batch_at: None,
            look_at: Duration::ZERO,
            pulse,
        };
        daemon.occupy_batches().await?;
        daemon.take_plan(plan, now).await?;
        daemon.stand();
        Ok(daemon)
    }

    /// Sleeps until something may be due, something ended, a plan came or the stop signal did.
    async fn wait(&mut self, rest: Option<Duration>) {
        let clock = Arc::clone(&self.desk.world.clock);
        let desk = Arc::clone(&self.desk);
        let mut plans = self.plans.clone();
        let span = rest.unwrap_or(RETRY).min(self.pulse.longest());
        // A new plan that could not be adopted must not wake the retry at once.
        let new_plan = async {
            if rest.is_none() || plans.changed().await.is_err() {
                pending::<()>().await;
            }
        };
        select_biased! {
            () = desk.stop.reaches(Stop::Drain).fuse() => {}
            _ended = self.running.select_next_some() => {}
            () = Box::pin(new_plan.fuse()) => {}
            () = clock.sleep(span).fuse() => {}
        }
    }

    async fn drain(mut self) -> Drained {
        let running = self.running.len();
        self.desk.say(Notice::Draining { running });
        while !self.running.is_empty() {
            self.beat(Some(self.pulse.longest()));
            self.drain_on().await;
        }
        Drained {
            running,
            unclosed: self.desk.unclosed(),
        }
    }

    /// Waits until a run ends, or until the next sign of life is due.
    async fn drain_on(&mut self) {
        let clock = Arc::clone(&self.desk.world.clock);
        select_biased! {
            _ended = self.running.select_next_some() => {}
            () = clock.sleep(self.pulse.longest()).fuse() => {}
        }
    }

    /// A wake-up is over, and this is what lies ahead.
    fn beat(&self, rest: Option<Duration>) {
        let health = rest.map_or(Health::Failing, |_| Health::Sound);
        self.pulse.beat(Beat {
            next: self.fires.clone(),
            promised_at: self.promises.next(),
            health,
        });
    }

    fn span(&self) -> Duration {
        let now = self.desk.now();
        let next = self.next.as_ref().map(|entry| entry.fire_at);
        let others = self.promises.next().into_iter();
        // What is under way wakes the daemon when it ends.
        let owed_at = self.owed_at.filter(|_| self.delivering.strong_count() == 0);
        let batch_at = self.batch_at.filter(|_| self.looking.strong_count() == 0);
        let others = others.chain(owed_at).chain(batch_at);
        let wake_at = next.into_iter().chain(others).min();
        let longest = self.pulse.longest();
        wake_at.map_or(longest, |at| span_until(at, now).min(longest))
    }
}
