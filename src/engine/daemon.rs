//! `serve`: waits for a slot, a finished run, a new plan or the stop signal.
//!
//! One future that polls its running slots. It spawns nothing and owns no
//! timer, so that the same code runs in virtual time.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::{FutureExt, select_biased};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use super::desk::{Desk, Patience};
use super::error::EngineError;
use super::notice::Notice;
use super::pickup::Place;
use super::plan::Plan;
use super::ports::{Claim, Claimed, Fate, Pending, StoreError, Tick, World};
use super::promise::{Promises, span_until};
use super::runner::{Runner, Work};
use super::stop::{Drained, Stop, StopSignal};
use super::tick::{Scene, Wake, wake};
use super::timeline::{Timeline, adopt, promised};
use crate::outcome::RunId;
use crate::schedule::Entry;
use crate::slot::{Origin, Slot};

/// No sleep is longer, so that a wall clock that was moved is seen.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// How soon a wake-up that the store failed is tried again: several times within a slot's grace of a minute.
const RETRY: Duration = Duration::from_secs(5);

/// A step back that is longer is taken for a correction: the new time holds. Debian's cron draws the line here too.
const LONG_STEP: TimeDelta = TimeDelta::hours(3);

/// Runs the schedule until the stop signal, then drains.
///
/// The plan is the latest value of `plans`; a new value takes its place once the slots due before it are dealt with. A
/// store that fails later on is reported as [`Notice::StoreFailed`] and tried again; nothing is sent meanwhile.
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
    let desk = Desk::new(
        world,
        StopSignal::new(stop),
        notices,
        Patience::UntilStopped,
    );
    let mut daemon = Daemon::start(desk, plans).await?;
    while !daemon.desk.stop.is_raised() {
        let rest = daemon.wake_up().await;
        daemon.wait(rest).await;
    }
    Ok(daemon.drain().await)
}

struct Daemon {
    desk: Arc<Desk>,
    plans: watch::Receiver<Arc<Plan>>,
    timeline: Arc<Timeline>,
    /// Every slot up to here has been dealt with. The store is told only when there was one.
    watermark: DateTime<Utc>,
    /// The first entry after the watermark.
    next: Option<Entry>,
    promises: Promises,
    running: FuturesUnordered<Pending<'static, ()>>,
}

impl Daemon {
    async fn start(
        desk: Arc<Desk>,
        mut plans: watch::Receiver<Arc<Plan>>,
    ) -> Result<Self, StoreError> {
        let store = &desk.world.store;
        let now = desk.now();
        for run in store.recover(now).await? {
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
        let timeline = adopt(&*desk.world.store, plan, now).await?;
        let mut daemon = Self {
            desk,
            plans,
            timeline,
            watermark,
            next: None,
            promises: Promises::default(),
            running: FuturesUnordered::new(),
        };
        daemon.stand();
        Ok(daemon)
    }

    /// Deals with what is due; the answer is how long to sleep at most, `None` if the store failed.
    async fn wake_up(&mut self) -> Option<Duration> {
        match self.try_wake_up().await {
            Ok(()) => Some(self.span()),
            Err(error) => {
                self.desk.say_failed(&error);
                None
            }
        }
    }

    async fn try_wake_up(&mut self) -> Result<(), StoreError> {
        let now = self.desk.now();
        if self.watermark - now > LONG_STEP {
            self.step_back(now).await?;
        }
        if self.next.as_ref().is_some_and(|next| next.fire_at <= now) {
            self.tick(now).await?;
        }
        self.watermark = self.watermark.max(now);
        // After the tick: what was due before a new plan came is due by the old one.
        if self.plans.has_changed().unwrap_or(false) {
            self.reload(now).await?;
        }
        self.keep_promises(now).await
    }

    /// Adopts the new time. Slots that were claimed in the old one do not fire again.
    async fn step_back(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.desk.world.store.rewind(now).await?;
        self.desk.say(Notice::SteppedBack {
            from: self.watermark,
            to: now,
        });
        self.watermark = now;
        self.timeline = Arc::new(self.timeline.begun_by(now));
        self.promises.clear();
        self.next = self.timeline.agenda.next_after(now);
        Ok(())
    }

    async fn tick(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let due = self.timeline.agenda.due(self.watermark, now);
        let pending = self.desk.world.store.deferrals().await?;
        let pauses = self.desk.world.store.pauses().await?;
        let groups = self.timeline.plan.groups.keys();
        let scene = Scene {
            timeline: &self.timeline,
            now,
            pauses: &pauses,
            busy: &self.desk.busy(),
            promised: groups
                .map(|group| (group.clone(), promised(&pending, group)))
                .collect(),
        };
        let Wake { claims, pickups } = wake(scene, &due);
        if !claims.is_empty() {
            self.claim(claims, now).await?;
        }
        self.watermark = now;
        self.next = self.timeline.agenda.next_after(now);
        for pickup in pickups {
            self.pick_up(Place::pickup(pickup.group, pickup.fire_at));
        }
        Ok(())
    }

    async fn claim(&mut self, claims: Vec<Claim>, now: DateTime<Utc>) -> Result<(), StoreError> {
        let tick = Tick {
            now,
            watermark: now,
            slots: claims,
        };
        for Claimed { slot, run, fate } in self.desk.world.store.claim(tick).await? {
            match fate {
                Fate::Fire => self.fire(slot, run),
                Fate::Skip(_) | Fate::CatchUp(_) => self.desk.say(Notice::Recorded { slot, fate }),
            }
        }
        Ok(())
    }

    fn fire(&self, slot: Slot, run: RunId) {
        let work = Work {
            run,
            origin: Origin::Scheduled,
            carried_at: slot.fire_at,
            carried: None,
            busy: self.desk.occupy(&slot.job),
            slot,
        };
        self.running.push(Box::pin(self.runner().run_slot(work)));
    }

    fn pick_up(&self, place: Place) {
        let runner = self.runner();
        self.running
            .push(Box::pin(async move { runner.take_deferrals(&place).await }));
    }

    async fn keep_promises(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let pending = self.desk.world.store.deferrals().await?;
        // At every wake-up: a run that began by an older plan may leave work that this one has no slot for.
        self.runner().fail_orphans(&pending).await;
        self.promises.refresh(&pending, &self.timeline, now);
        for place in self.promises.due(&pending, &self.timeline, now) {
            self.pick_up(place);
        }
        Ok(())
    }

    async fn reload(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let plan = Arc::clone(&self.plans.borrow());
        self.timeline = adopt(&*self.desk.world.store, plan, now).await?;
        self.plans.mark_unchanged();
        self.promises.clear();
        self.stand();
        Ok(())
    }

    /// A plan stands: finds its next entry.
    fn stand(&mut self) {
        self.next = self.timeline.agenda.next_after(self.watermark);
        let jobs = self.timeline.plan.jobs.len();
        self.desk.say(Notice::Planned {
            jobs,
            next: self.next.clone(),
        });
    }

    /// Sleeps until something may be due, something ended, a plan came or the stop signal did.
    async fn wait(&mut self, rest: Option<Duration>) {
        let clock = Arc::clone(&self.desk.world.clock);
        let desk = Arc::clone(&self.desk);
        let mut plans = self.plans.clone();
        let span = rest.unwrap_or(RETRY);
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
        while self.running.next().await.is_some() {}
        Drained {
            running,
            unclosed: self.desk.unclosed(),
        }
    }

    fn span(&self) -> Duration {
        let now = self.desk.now();
        let next = self.next.as_ref().map(|entry| entry.fire_at);
        let wake_at = next.into_iter().chain(self.promises.next()).min();
        wake_at.map_or(LONGEST_SLEEP, |at| span_until(at, now).min(LONGEST_SLEEP))
    }

    fn runner(&self) -> Runner {
        Runner {
            desk: Arc::clone(&self.desk),
            timeline: Arc::clone(&self.timeline),
        }
    }
}
