//! A plan comes to stand, and another takes its place.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::super::notice::Notice;
use super::super::plan::Plan;
use super::super::ports::{Claim, Fate, StoreError};
use super::super::tick::Wake;
use super::super::timeline::{Moment, Timeline, adopt};
use super::super::zones::{self, Moved};
use super::Daemon;
use crate::outcome::SkipReason;
use crate::schedule::Entry;

impl Daemon {
    pub(super) async fn reload(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let since = *self.reload_since.get_or_insert(now);
        let plan = Arc::clone(&self.plans.borrow());
        self.take_plan(plan, now).await?;
        self.reload_since = None;
        if !Arc::ptr_eq(&self.plans.borrow_and_update(), &self.timeline.plan) {
            // A newer one came while this one was written down.
            self.plans.mark_changed();
        }
        // An earlier try may have been written and not heard of: its schedules began then, so that what was due since
        // is claimed now. What the old plan has claimed meanwhile stays claimed.
        self.watermark = self.watermark.min(since);
        self.promises.clear();
        self.stand();
        Ok(())
    }

    /// Takes note of a plan's schedules and zones.
    pub(super) async fn take_plan(
        &mut self,
        plan: Arc<Plan>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let store = Arc::clone(&self.desk.world.store);
        let known = store.schedules().await?;
        let moved = zones::moved(&plan, &known, self.watermark);
        let moment = self.moment(now);
        if !moved.zones.is_empty() {
            // Claimed before the new zones are on record, so that a crash in between forgets nothing.
            let starts = known.into_iter().map(|row| (row.name, row.starts_at));
            let timeline = Timeline::standing(Arc::clone(&plan), starts.collect(), moment);
            self.claim_moved(&Arc::new(timeline), &moved, now).await?;
        }
        self.stand_on(adopt(&*store, plan, moment).await?);
        if !moved.zones.is_empty() {
            self.desk.say(Notice::ZonesChanged {
                again: moved.again.len(),
                behind: moved.behind.len(),
                zones: moved.zones,
            });
        }
        Ok(())
    }

    /// Deals with the firings that a change of zone data moves over the watermark. The timeline is that of the new
    /// plan, which does not stand yet.
    async fn claim_moved(
        &mut self,
        timeline: &Arc<Timeline>,
        moved: &Moved,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let Wake { mut claims, .. } = self.decide(timeline, &moved.behind, now).await?;
        for claim in self.decide(timeline, &moved.again, now).await?.claims {
            claims.push(Claim {
                fate: Fate::Skip(SkipReason::Merged),
                ..claim
            });
        }
        if !claims.is_empty() {
            let moment = (now, self.watermark);
            self.claim(timeline, claims, moment).await?;
        }
        Ok(())
    }

    pub(super) const fn moment(&self, now: DateTime<Utc>) -> Moment {
        let watermark = self.watermark;
        Moment { now, watermark }
    }

    /// A plan stands: finds its next entry.
    pub(super) fn stand(&mut self) {
        self.look_ahead();
        let jobs = self.timeline.plan.jobs.len();
        let next = self.fires.clone();
        self.desk.say(Notice::Planned { jobs, next });
    }

    /// Finds what comes after the watermark. A disabled job's entry is only recorded, so it is not what fires next.
    pub(super) fn look_ahead(&mut self) {
        let [ahead, carriers_ahead] = &mut self.ahead;
        self.next = ahead.next_after(&self.timeline.agenda, self.watermark);
        self.fires = carriers_ahead.next_after(&self.timeline.carriers, self.watermark);
    }

    /// Goes by another timeline from here on.
    pub(super) fn stand_on(&mut self, timeline: Arc<Timeline>) {
        self.timeline = timeline;
        self.ahead = Default::default();
    }

    /// What is due at an instant.
    pub(super) fn due(&mut self, now: DateTime<Utc>) -> Vec<Entry> {
        let [ahead, _] = &mut self.ahead;
        ahead.due(&self.timeline.agenda, self.watermark, now)
    }
}
