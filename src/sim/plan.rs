//! A plan without files, for examples and tests in virtual time.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::{GroupPlan, Plan, PlannedJob};
use crate::guard::{BreakerPolicy, BudgetPolicy, GuardPolicy, PolicyError, RetryPolicy};
use crate::job::{
    Check, Delivery, GroupId, Handing, Job, JobId, JobState, KeyId, OnEmptyInput, Schedule,
    Template, TextSource,
};
use crate::schedule::defer::OnExhausted;
use crate::schedule::{
    CronError, CronExpr, DeferPolicy, DeferRule, Missed, PeakWindow, PeakWindows, Timetable, Zone,
    ZoneError, Zones,
};

/// Minutes of the day of the built-in peak windows.
const PEAKS: [(u16, u16); 2] = [(7 * 60, 9 * 60), (18 * 60, 23 * 60)];

/// A plan that grows job by job, with the defaults of the configuration.
#[derive(Debug, Clone)]
pub struct SimPlan {
    plan: Plan,
    zone: Zone,
    retry: RetryPolicy,
}

/// Why a plan cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SimPlanError {
    /// An expression.
    #[error("cron `{text}`: {source}")]
    Cron {
        /// As written.
        text: String,
        /// What is wrong.
        source: CronError,
    },
    /// A zone.
    #[error(transparent)]
    Zone(#[from] ZoneError),
    /// A policy.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

impl SimPlan {
    /// An empty plan whose jobs and peak windows (07:00-09:00 and 18:00-23:00) are in this zone.
    pub fn new(zone: &str) -> Result<Self, SimPlanError> {
        let zone = Zones::bundled().get(zone)?;
        let days = [true; 7];
        let windows = PEAKS.map(|(start, end)| PeakWindow { start, end, days });
        let plan = Plan {
            jobs: BTreeMap::new(),
            groups: BTreeMap::new(),
            peaks: PeakWindows::new(zone.clone(), windows.to_vec()),
            min_gap: Duration::from_mins(15),
            grace: Duration::from_secs(20),
            edge: None,
        };
        let retry = RetryPolicy::new(3, Duration::from_secs(1), Duration::from_secs(30), 0.5)?;
        Ok(Self { plan, zone, retry })
    }

    /// Adds a job to a group; both are made if they are new.
    pub fn job(mut self, id: &str, group: &str, crons: &[&str]) -> Result<Self, SimPlanError> {
        let group = GroupId::new(group);
        self.ensure_group(&group)?;
        let job = self.plain_job(JobId::new(id), group, crons);
        let planned = PlannedJob {
            timetable: self.timetable(crons)?,
            retry: self.retry,
            defer: DeferPolicy {
                rule: DeferRule::NextSlot,
                max: 3,
                expires_after: Duration::from_hours(24),
                on_exhausted: OnExhausted::Defer,
            },
            missed: Missed::Once,
            job,
        };
        self.plan.jobs.insert(planned.job.id.clone(), planned);
        Ok(self)
    }

    /// Gives a group pickup slots; the group is made if it is new.
    pub fn pickup(mut self, group: &str, crons: &[&str]) -> Result<Self, SimPlanError> {
        let timetable = self.timetable(crons)?;
        self.ensure_group(&GroupId::new(group))?.pickup = Some(timetable);
        Ok(self)
    }

    /// Changes a job; does nothing if there is none of this name.
    #[must_use]
    pub fn with_job(mut self, id: &str, change: impl FnOnce(&mut PlannedJob)) -> Self {
        if let Some(planned) = self.plan.jobs.get_mut(id) {
            change(planned);
        }
        self
    }

    /// Changes every job.
    #[must_use]
    pub fn with_jobs(mut self, change: impl FnMut(&mut PlannedJob)) -> Self {
        self.plan.jobs.values_mut().for_each(change);
        self
    }

    /// Changes every group's guard.
    #[must_use]
    pub fn with_guards(mut self, mut change: impl FnMut(&mut GuardPolicy)) -> Self {
        let groups = self.plan.groups.values_mut();
        groups.for_each(|group| change(&mut group.guard));
        self
    }

    /// Removes a job; its group stays.
    #[must_use]
    pub fn without_job(mut self, id: &str) -> Self {
        self.plan.jobs.remove(id);
        self
    }

    /// The plan.
    #[must_use]
    pub fn build(self) -> Arc<Plan> {
        Arc::new(self.plan)
    }

    fn ensure_group(&mut self, group: &GroupId) -> Result<&mut GroupPlan, SimPlanError> {
        let fresh = GroupPlan {
            guard: default_guard()?,
            pickup: None,
        };
        Ok(self.plan.groups.entry(group.clone()).or_insert(fresh))
    }

    fn timetable(&self, crons: &[&str]) -> Result<Timetable, SimPlanError> {
        let parse = |text: &&str| {
            let wrong = |source| SimPlanError::Cron {
                text: (*text).to_owned(),
                source,
            };
            CronExpr::parse(text).map_err(wrong)
        };
        let exprs: Result<Vec<CronExpr>, SimPlanError> = crons.iter().map(parse).collect();
        Ok(Timetable::new(exprs?, self.zone.clone()))
    }

    fn plain_job(&self, id: JobId, group: GroupId, crons: &[&str]) -> Job {
        Job {
            template: Template {
                name: None,
                model: "claude-sim".to_owned(),
                max_tokens: 4000,
                system: Vec::new(),
                prompt: TextSource::Inline(format!("Do the work of {id}.")),
                delivery: Delivery::Stream,
                extra: Vec::new(),
            },
            then: Vec::new(),
            for_each: None,
            concurrency: 1,
            handing: Handing::Direct,
            fallback_model: None,
            max_cost: None,
            id,
            description: None,
            state: JobState::Enabled,
            key: KeyId::new(group.as_str()),
            group,
            schedule: Schedule {
                crons: crons.iter().map(|cron| (*cron).to_owned()).collect(),
                zone: self.zone.name().to_owned(),
            },
            inputs: Vec::new(),
            on_empty_input: OnEmptyInput::Skip,
            output: None,
            check: Check::default(),
            timeout: Duration::from_mins(10),
            notify: None,
        }
    }
}

fn default_guard() -> Result<GuardPolicy, PolicyError> {
    const TEN: NonZeroU32 = NonZeroU32::new(10).expect("ten is not zero");
    let breaker = BreakerPolicy {
        min_samples: TEN,
        failure_ratio: 0.5,
        window: Duration::from_mins(2),
        cooldown: Duration::from_mins(1),
        stale_after: Duration::from_mins(10),
    };
    Ok(GuardPolicy {
        budget: BudgetPolicy::new(30, Duration::from_mins(1))?,
        breaker: breaker.checked()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_expression_is_named() {
        let plan = SimPlan::new("Asia/Tokyo").unwrap();
        let error = plan.job("digest", "main", &["0 25 * * *"]).unwrap_err();
        assert!(
            error.to_string().starts_with("cron `0 25 * * *`: "),
            "{error}"
        );
    }

    #[test]
    fn jobs_of_one_group_share_it() {
        let plan = SimPlan::new("Asia/Tokyo").unwrap();
        let plan = plan.job("a", "main", &["0 2 * * *"]).unwrap();
        let plan = plan.job("b", "main", &["45 2 * * *"]).unwrap().build();
        assert_eq!((plan.jobs.len(), plan.groups.len()), (2, 1));
    }
}
