//! A wake-up: what is due, what was left behind, and where the clock stands.

use std::collections::BTreeMap;
use std::mem::take;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::stream::StreamExt;
use futures_util::{FutureExt, select_biased};

use super::super::clocks;
use super::super::collect::LONGEST_REST;
use super::super::notice::Notice;
use super::super::pickup::Place;
use super::super::ports::{Claim, Claimed, Deferral, Delivery, Fate, OpenBatch, StoreError, Tick};
use super::super::runner::{Runner, Work};
use super::super::targets::Targets;
use super::super::tick::{Scene, Wake, wake};
use super::super::timeline::Timeline;
use super::Daemon;
use crate::job::JobId;
use crate::outcome::RunId;
use crate::schedule::Entry;
use crate::slot::{Origin, Slot};

/// How often at least runs that nobody works on are looked for: a person's run that was killed is past its lease some
/// day.
pub(super) const SWEEP: Duration = Duration::from_hours(1);

/// How often answers are looked for that a person's run left owed; our own are known.
const LOOK: Duration = Duration::from_mins(5);

/// Whether an instant has come, or was reckoned by a clock that was ahead and has been set back since: none is set
/// further ahead.
fn has_come(at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    at <= now || at - now > LONGEST_REST + clocks::LONG_STEP
}

impl Daemon {
    /// Deals with what is due; the answer is how long to sleep at most, `None` while the store fails.
    pub(super) async fn wake_up(&mut self) -> Option<Duration> {
        let failures = self.desk.failures();
        let (mut done, has_ended) = self.wake_beside_runs().await;
        // Reading may work where writing does not, as on a full disk: only a write ends an outage.
        if done.is_ok() && failures > 0 && self.desk.failures() == failures {
            done = self.prove_store().await;
        }
        if let Err(error) = done {
            self.desk.say_failed(&error);
        }
        if self.desk.failures() > 0 {
            return None;
        }
        // A run that ended meanwhile may have left work that this wake-up has not seen.
        Some(if has_ended {
            Duration::ZERO
        } else {
            self.span()
        })
    }

    /// Wakes up while the runs go on: the store may keep us waiting, and a request must not be late for that. Says
    /// whether one ended.
    async fn wake_beside_runs(&mut self) -> (Result<(), StoreError>, bool) {
        let mut running = take(&mut self.running);
        let mut has_ended = false;
        let woken = {
            let mut waking = pin!(self.try_wake_up().fuse());
            loop {
                select_biased! {
                    woken = waking => break woken,
                    _ended = running.select_next_some() => has_ended = true,
                }
            }
        };
        running.extend(take(&mut self.running));
        self.running = running;
        (woken, has_ended)
    }

    /// Writes what is true anyway, to see whether the store takes it.
    async fn prove_store(&mut self) -> Result<(), StoreError> {
        let (now, watermark) = (self.desk.now(), self.watermark);
        let tick = Tick {
            now,
            watermark,
            slots: Vec::new(),
        };
        self.desk.world.store.claim(tick).await?;
        self.desk.say_works();
        Ok(())
    }

    async fn try_wake_up(&mut self) -> Result<(), StoreError> {
        let now = self.desk.now();
        if self.is_still_unset(now) {
            return Ok(());
        }
        if self.watermark - now > clocks::LONG_STEP {
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
        self.keep_promises(now).await?;
        self.deliver_owed(now).await?;
        self.look_at_batches(now).await?;
        // Last, so that a row that cannot be closed keeps no slot back.
        self.sweep(now).await
    }

    /// Closes the runs that are open in the store and that nobody works on: a claim may have been written whose answer
    /// was lost, and its slot would wait for the next start.
    async fn sweep(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let elapsed = self.desk.world.clock.elapsed();
        let Some(under_way) = self.desk.under_way() else {
            return Ok(());
        };
        if !self.desk.take_doubt() && elapsed < self.sweep_at {
            return Ok(());
        }
        for run in self.desk.world.store.recover(&under_way, now).await? {
            self.desk.note_owed();
            self.desk.say(Notice::Recovered { run: Box::new(run) });
        }
        self.sweep_at = elapsed + SWEEP;
        Ok(())
    }

    /// Nothing is due by a clock that was never set; what is under way goes on.
    fn is_still_unset(&mut self, now: DateTime<Utc>) -> bool {
        let is_unset = clocks::is_unset(now);
        if is_unset && !self.is_unset {
            self.desk.say(Notice::ClockUnset { now });
        }
        self.is_unset = is_unset;
        is_unset
    }

    /// Adopts the new time. Slots that something was sent for in the old one do not fire again.
    async fn step_back(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let store = &self.desk.world.store;
        store.rewind(now).await?;
        let watermark = store.watermark().await?.unwrap_or(now);
        self.desk.say(Notice::SteppedBack {
            from: self.watermark,
            to: now,
        });
        self.watermark = watermark;
        self.stand_on(Arc::new(self.timeline.begun_by(watermark)));
        self.promises.clear();
        self.desk.note_owed();
        self.desk.note_batch();
        self.look_ahead();
        Ok(())
    }

    async fn tick(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        if now - self.watermark > clocks::LONG_STEP {
            let plan = &self.timeline.plan;
            let timeline = clocks::bridge(&self.desk, plan, self.moment(now)).await?;
            self.stand_on(timeline);
        }
        let timeline = Arc::clone(&self.timeline);
        let due = self.due(now);
        let Wake { claims, pickups } = self.decide(&timeline, &due, now).await?;
        if !claims.is_empty() {
            self.claim(&timeline, claims, (now, now)).await?;
        }
        self.watermark = now;
        self.look_ahead();
        for pickup in pickups {
            self.pick_up(Place::pickup(pickup.group, pickup.fire_at));
        }
        Ok(())
    }

    /// What becomes of entries of a timeline, given what is on record and under way.
    pub(super) async fn decide(
        &mut self,
        timeline: &Timeline,
        entries: &[Entry],
        now: DateTime<Utc>,
    ) -> Result<Wake, StoreError> {
        let pending = self.desk.world.store.deferrals().await?;
        let pauses = self.desk.world.store.pauses().await?;
        let scene = Scene {
            timeline,
            now,
            pauses: &pauses,
            busy: &self.desk.busy(),
            targets: Targets::new(timeline, now).beside(&pending),
        };
        Ok(wake(scene, entries))
    }

    /// Claims slots; those that fire go by this timeline.
    pub(super) async fn claim(
        &mut self,
        timeline: &Arc<Timeline>,
        claims: Vec<Claim>,
        (now, watermark): (DateTime<Utc>, DateTime<Utc>),
    ) -> Result<(), StoreError> {
        let tick = Tick {
            now,
            watermark,
            slots: claims,
        };
        for Claimed { slot, run, fate } in self.desk.world.store.claim(tick).await? {
            match fate {
                Fate::Fire => self.fire(timeline, slot, run),
                Fate::Skip(_) | Fate::CatchUp(_) => self.desk.say(Notice::Recorded { slot, fate }),
            }
        }
        Ok(())
    }

    fn fire(&self, timeline: &Arc<Timeline>, slot: Slot, run: RunId) {
        let work = Work {
            run,
            origin: Origin::Scheduled,
            carried_at: slot.fire_at,
            carried: None,
            busy: self.desk.occupy(run, &slot.job),
            slot,
        };
        self.running
            .push(Box::pin(self.runner(timeline).run_slot(work)));
    }

    fn pick_up(&self, place: Place) {
        let runner = self.runner(&self.timeline);
        self.running
            .push(Box::pin(async move { runner.take_deferrals(&place).await }));
    }

    async fn keep_promises(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let pending = self.desk.world.store.deferrals().await?;
        self.close_orphans(&pending);
        self.promises.refresh(&pending, &self.timeline, now);
        for place in self.promises.due(&pending, &self.timeline, now) {
            self.pick_up(place);
        }
        Ok(())
    }

    /// Delivers the answers that are owed and whose instant has come, beside everything else. One that is being
    /// delivered is left out until that has ended.
    async fn deliver_owed(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let elapsed = self.desk.world.clock.elapsed();
        if self.delivering.strong_count() > 0 {
            return Ok(());
        }
        let is_due = self.owed_at.is_some_and(|at| at <= now) || elapsed >= self.look_at;
        if !self.desk.take_owed() && !is_due {
            return Ok(());
        }
        let owed = self.desk.world.store.deliveries().await;
        let owed = owed.inspect_err(|_| self.desk.note_owed())?;
        self.look_at = elapsed + LOOK;
        let (due, later): (Vec<Delivery>, Vec<Delivery>) = owed
            .into_iter()
            .partition(|it| has_come(it.not_before, now));
        self.owed_at = later.first().map(|it| it.not_before);
        if due.is_empty() {
            return Ok(());
        }
        if self.desk.failures() > 0 {
            self.desk.note_owed();
            return Ok(());
        }
        let mark = Arc::new(());
        self.delivering = Arc::downgrade(&mark);
        // One job's slow place must not hold up the answers of another.
        let mut of_jobs: BTreeMap<JobId, Vec<Delivery>> = BTreeMap::new();
        for delivery in due {
            let job = delivery.slot.job.clone();
            of_jobs.entry(job).or_default().push(delivery);
        }
        for due in of_jobs.into_values() {
            let (runner, mark) = (self.runner(&self.timeline), Arc::clone(&mark));
            self.running.push(Box::pin(async move {
                runner.redeliver(due).await;
                drop(mark);
            }));
        }
        Ok(())
    }

    /// The jobs whose batches are still to come count as running from the start on.
    pub(super) async fn occupy_batches(&mut self) -> Result<(), StoreError> {
        for open in self.desk.world.store.batches().await? {
            self.desk.occupy(open.run, &open.slot.job).stay();
        }
        self.desk.note_batch();
        Ok(())
    }

    /// Looks at the batches whose time has come, one after the other and beside everything else.
    async fn look_at_batches(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let is_due = self.batch_at.is_some_and(|at| at <= now);
        if self.looking.strong_count() > 0 || !(self.desk.take_batch() || is_due) {
            return Ok(());
        }
        let open = self.desk.world.store.batches().await;
        let open = open.inspect_err(|_| self.desk.note_batch())?;
        let (due, later): (Vec<OpenBatch>, Vec<OpenBatch>) = open
            .into_iter()
            .partition(|it| has_come(it.batch.look_at, now));
        self.batch_at = later.first().map(|it| it.batch.look_at);
        if due.is_empty() {
            return Ok(());
        }
        if self.desk.failures() > 0 {
            self.desk.note_batch();
            return Ok(());
        }
        let mark = Arc::new(());
        self.looking = Arc::downgrade(&mark);
        let runner = self.runner(&self.timeline);
        self.running.push(Box::pin(async move {
            for open in due {
                if !runner.desk.stop.is_raised() {
                    runner.clone().look(open).await;
                }
            }
            drop(mark);
        }));
        Ok(())
    }

    /// Ends what no slot will take, beside everything else. At every wake-up: a run that began by an older plan may
    /// leave work that this one has no slot for.
    ///
    /// Not while the store fails: each try that fails wakes the daemon up at once.
    fn close_orphans(&mut self, pending: &[Deferral]) {
        if self.closing_orphans.strong_count() > 0 || self.desk.failures() > 0 {
            return;
        }
        let runner = self.runner(&self.timeline);
        let Some(orphans) = runner.orphans(pending) else {
            return;
        };
        let mark = Arc::new(());
        self.closing_orphans = Arc::downgrade(&mark);
        let plans = self.plans.clone();
        self.running.push(Box::pin(async move {
            runner.fail_orphans(orphans, plans).await;
            drop(mark);
        }));
    }

    fn runner(&self, timeline: &Arc<Timeline>) -> Runner {
        Runner {
            desk: Arc::clone(&self.desk),
            timeline: Arc::clone(timeline),
        }
    }
}
