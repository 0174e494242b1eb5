//! A plan that stands: its jobs and the two agendas made of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::plan::{GroupPlan, Plan, PlannedJob};
use super::ports::{Deferral, NewDeferral, Store, StoreError};
use super::zones;
use crate::job::{GroupId, Job, JobId, JobState};
use crate::schedule::defer::{Carried, Clearance, target};
use crate::schedule::{Agenda, AgendaLine, CronExpr, OpenSlots, Timetable, Zone};

/// A plan and the instants at which its schedules begin.
#[derive(Debug, Clone)]
pub(super) struct Timeline {
    pub plan: Arc<Plan>,
    /// Every slot, those of disabled jobs too: they are recorded as skipped.
    pub agenda: Agenda,
    /// The slots that can take deferrals: those of enabled jobs, and pickup slots.
    pub carriers: Agenda,
}

/// A job and its group, both as planned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planned<'a> {
    pub job: &'a PlannedJob,
    pub group: &'a GroupPlan,
}

/// Where the daemon stands in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub now: DateTime<Utc>,
    /// Every slot up to here has been dealt with.
    pub watermark: DateTime<Utc>,
}

/// Takes note of a plan's schedules and zones in the store; a schedule that is new or was edited begins now.
pub(super) async fn adopt(
    store: &dyn Store,
    plan: Arc<Plan>,
    moment: Moment,
) -> Result<Arc<Timeline>, StoreError> {
    let mut schedules = fingerprints(&plan);
    schedules.extend(zones::rows(&plan));
    let starts = store.adopt(&schedules, moment.now).await?;
    Ok(Arc::new(Timeline::standing(plan, starts, moment)))
}

/// The names of a plan's schedules and what identifies each: expressions and the zone's name.
fn fingerprints(plan: &Plan) -> Vec<(String, String)> {
    let jobs = plan.jobs.values();
    let jobs = jobs.map(|planned| (job_name(&planned.job.id), fingerprint(&planned.timetable)));
    let pickups = plan.groups.iter().filter_map(|(id, group)| {
        let timetable = group.pickup.as_ref()?;
        Some((pickup_name(id), fingerprint(timetable)))
    });
    jobs.chain(pickups).collect()
}

impl Timeline {
    /// Joins a plan with the instants after which its schedules begin; one that is not named begins now.
    ///
    /// A start that lies ahead was written before the wall clock stepped back. It counts as now: the watermark keeps
    /// what is behind it from firing twice, and otherwise nothing would fire until the old time comes.
    pub fn new(plan: Arc<Plan>, starts: Vec<(String, DateTime<Utc>)>, now: DateTime<Utc>) -> Self {
        let starts: BTreeMap<String, DateTime<Utc>> = starts.into_iter().collect();
        let begin = |name: &str| starts.get(name).map_or(now, |at| (*at).min(now));
        let job_line = |planned: &PlannedJob| AgendaLine {
            group: planned.job.group.clone(),
            job: Some(planned.job.id.clone()),
            timetable: planned.timetable.clone(),
            starts_after: begin(&job_name(&planned.job.id)),
        };
        let pickup_line = |(id, group): (&GroupId, &GroupPlan)| {
            Some(AgendaLine {
                group: id.clone(),
                job: None,
                timetable: group.pickup.clone()?,
                starts_after: begin(&pickup_name(id)),
            })
        };
        let pickups: Vec<AgendaLine> = plan.groups.iter().filter_map(pickup_line).collect();
        let enabled = plan
            .jobs
            .values()
            .filter(|planned| is_enabled(&planned.job));
        let carriers = enabled
            .map(job_line)
            .chain(pickups.iter().cloned())
            .collect();
        let agenda = plan.jobs.values().map(job_line).chain(pickups).collect();
        Self {
            agenda: Agenda::new(agenda),
            carriers: Agenda::new(carriers),
            plan,
        }
    }

    /// As [`Timeline::new`], where slots before now may still be due: a start that lies ahead was written by a clock
    /// that was set back since, and what came after the watermark has not been dealt with.
    pub fn standing(plan: Arc<Plan>, starts: Vec<(String, DateTime<Utc>)>, moment: Moment) -> Self {
        let Moment { now, watermark } = moment;
        let known = |start: DateTime<Utc>| if start > now { watermark } else { start };
        let starts = starts.into_iter();
        let starts = starts.map(|(name, start)| (name, known(start))).collect();
        Self::new(plan, starts, now)
    }

    /// The schedules with more fire times between watermark and now than `most`, each with the start that leaves those.
    pub fn starts_that_leave(&self, most: usize, moment: Moment) -> Vec<(String, DateTime<Utc>)> {
        let lines = self.agenda.lines().iter();
        lines
            .filter_map(|line| {
                let after = moment.watermark.max(line.starts_after);
                let start = line.timetable.last_but(most, after, moment.now)?;
                let name = line
                    .job
                    .as_ref()
                    .map_or_else(|| pickup_name(&line.group), job_name);
                Some((name, start))
            })
            .collect()
    }

    /// The same timeline after the wall clock stepped back to `now`.
    pub fn begun_by(&self, now: DateTime<Utc>) -> Self {
        let clamp = |agenda: &Agenda| {
            let lines = agenda.lines().iter().cloned();
            let clamped = lines.map(|line| AgendaLine {
                starts_after: line.starts_after.min(now),
                ..line
            });
            Agenda::new(clamped.collect())
        };
        let (agenda, carriers) = (clamp(&self.agenda), clamp(&self.carriers));
        Self {
            plan: Arc::clone(&self.plan),
            agenda,
            carriers,
        }
    }

    /// A job and its group; `None` if the plan has not both.
    pub fn planned(&self, job: &JobId) -> Option<Planned<'_>> {
        let job = self.plan.jobs.get(job)?;
        let group = self.plan.groups.get(&job.job.group)?;
        Some(Planned { job, group })
    }

    /// A job that can do deferred work: planned and enabled.
    pub fn active(&self, job: &JobId) -> Option<Planned<'_>> {
        self.planned(job)
            .filter(|planned| is_enabled(&planned.job.job))
    }

    /// The group whose slots take a deferral: that of the job as planned now, or else the one it was written with.
    pub fn home<'a>(&'a self, deferral: &'a Deferral) -> &'a GroupId {
        let planned = self.active(&deferral.slot.job);
        planned.map_or(&deferral.group, |planned| &planned.job.job.group)
    }

    /// The slot that takes a job's yielded work, if nothing is promised to other work of its group.
    pub fn target(
        &self,
        job: &Job,
        wait: &NewDeferral,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let carried = Carried {
            job: &job.id,
            group: &job.group,
            not_before: wait.not_before,
        };
        let clearance = self.clearance();
        Some(target(wait.rule, carried, now, &self.carriers, clearance)?.fire_at)
    }

    /// The free instants of a group, as far as the schedule tells.
    pub fn open_slots(&self, group: &GroupId) -> OpenSlots<'_> {
        OpenSlots::new(group, &self.carriers, self.clearance())
    }

    fn clearance(&self) -> Clearance<'_> {
        Clearance {
            min_gap: self.plan.min_gap,
            peaks: &self.plan.peaks,
            taken: &[],
        }
    }
}

fn is_enabled(job: &Job) -> bool {
    match job.state {
        JobState::Enabled => true,
        JobState::Disabled => false,
    }
}

/// The mark of a job's schedule: jobs and groups may share names.
const JOB: &str = "job:";

pub(super) fn job_name(job: &JobId) -> String {
    format!("{JOB}{job}")
}

/// The job of a schedule's name; `None` for that of pickup slots.
pub(super) fn job_of(name: &str) -> Option<JobId> {
    name.strip_prefix(JOB).map(JobId::new)
}

fn pickup_name(group: &GroupId) -> String {
    format!("pickup:{group}")
}

pub(super) fn fingerprint(timetable: &Timetable) -> String {
    let zone = timetable.zone().name();
    let exprs = timetable.exprs().iter();
    std::iter::once(zone)
        .chain(exprs.map(CronExpr::text))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The name of the zone that a fingerprint was made of.
pub(super) fn zone_of(fingerprint: &str) -> Option<&str> {
    fingerprint.lines().next()
}

/// The timetable that a fingerprint was made of; `None` if an expression is unknown by now.
pub(super) fn timetable_of(fingerprint: &str, zone: Zone) -> Option<Timetable> {
    let lines = fingerprint.lines().skip(1);
    let exprs: Option<Vec<CronExpr>> = lines.map(|text| CronExpr::parse(text).ok()).collect();
    Some(Timetable::new(exprs?, zone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::SimPlan;

    fn at(text: &str) -> DateTime<Utc> {
        format!("2026-12-01T{text}Z").parse().unwrap()
    }

    fn plan() -> Arc<Plan> {
        let plan = SimPlan::new("Asia/Tokyo").unwrap();
        let plan = plan.job("a", "main", &["0 2 * * *"]).unwrap();
        let plan = plan.job("b", "main", &["45 2 * * *"]).unwrap();
        plan.pickup("main", &["30 5 * * *"]).unwrap().build()
    }

    #[test]
    fn a_fingerprint_changes_with_expression_and_zone_only() {
        let of = |zone: &str, cron: &str| {
            let plan = SimPlan::new(zone)
                .unwrap()
                .job("a", "main", &[cron])
                .unwrap();
            let renamed =
                plan.with_job("a", |planned| planned.job.template.model = zone.to_owned());
            fingerprints(&renamed.build())
        };
        assert_eq!(of("Asia/Tokyo", "0 2 * * *"), of("Asia/Tokyo", "0 2 * * *"));
        assert_ne!(of("Asia/Tokyo", "0 2 * * *"), of("Asia/Tokyo", "0 3 * * *"));
        assert_ne!(of("Asia/Tokyo", "0 2 * * *"), of("Asia/Seoul", "0 2 * * *"));
    }

    #[test]
    fn a_job_and_a_group_of_one_name_have_two_schedules() {
        let plan = SimPlan::new("Asia/Tokyo")
            .unwrap()
            .job("main", "main", &["0 2 * * *"])
            .unwrap();
        let plan = plan.pickup("main", &["30 5 * * *"]).unwrap().build();
        let names: Vec<String> = fingerprints(&plan)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["job:main", "pickup:main"]);
    }

    #[test]
    fn a_start_that_lies_ahead_counts_as_now() {
        let starts = vec![("job:a".to_owned(), at("23:00:00"))];
        let timeline = Timeline::new(plan(), starts, at("16:00:00"));
        assert_eq!(
            timeline.agenda.next_after(at("16:00:00")).unwrap().fire_at,
            at("17:00:00")
        );
    }

    #[test]
    fn slots_of_disabled_jobs_are_in_the_agenda_but_carry_nothing() {
        let mut plan = plan();
        Arc::make_mut(&mut plan)
            .jobs
            .get_mut("b")
            .unwrap()
            .job
            .state = JobState::Disabled;
        let timeline = Timeline::new(plan, Vec::new(), at("17:00:00"));
        let (group, after) = (GroupId::new("main"), at("17:00:00"));
        let next = |agenda: &Agenda| agenda.next_in_group(&group, after).unwrap().fire_at;
        assert_eq!(next(&timeline.agenda), at("17:45:00"));
        assert_eq!(next(&timeline.carriers), at("20:30:00"));
    }
}
