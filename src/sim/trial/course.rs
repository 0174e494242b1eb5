//! A schedule and its sizes, made ready to be lived through by any client in any world.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};

use super::workload::{JobLoad, Workload};
use crate::engine::Plan;
use crate::job::{Check, GroupId, Job, JobId, JobState, Request, SystemBlock};
use crate::price::Estimate;
use crate::schedule::PeakWindows;
use crate::sim::world::{StepLoad, mark};
use crate::slot::Slot;

/// So many days more are lived through, so that what was put off on the last one can be picked up.
const AFTER: u32 = 2;

/// What a job sends of which nothing is known: a small request.
const SMALL: u64 = 100;

/// The days that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    /// The first instant; a slot at this very instant is not due any more, as for a daemon that starts then.
    pub from: DateTime<Utc>,
    /// How many; work due up to the last instant counts, whenever it is done.
    pub count: u32,
}

/// A schedule and its sizes, made ready to be lived through by any client in any world.
#[derive(Debug, Clone)]
pub struct Course {
    pub(super) plan: Arc<Plan>,
    pub(super) workload: Arc<Workload>,
    pub(super) days: Days,
    /// The slots that count, in order.
    pub(super) due: Vec<Slot>,
    /// Those after the days that count, in order: they may take what was put off.
    pub(super) later: Vec<Slot>,
    /// Every slot that may be reached, with its name.
    names: Arc<HashMap<Slot, u64>>,
    loads: Arc<Loads>,
    pub(super) groups: Arc<BTreeMap<GroupId, u16>>,
}

/// The sizes of all calls, by number.
#[derive(Debug)]
struct Loads {
    steps: Vec<StepLoad>,
    /// Where the steps of each job begin.
    first: HashMap<JobId, usize>,
}

/// Which call a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallMark {
    /// The call's name; each arm sends the same calls under the same names.
    pub call: u64,
    /// Its size, by number.
    pub load: usize,
    /// The limit that it counts against.
    pub group: u16,
}

impl Days {
    /// The first instant after the days that count.
    #[must_use]
    pub fn until(&self) -> DateTime<Utc> {
        self.from + TimeDelta::days(self.count.into())
    }

    /// How many days are lived through.
    pub(super) const fn lived(&self) -> u32 {
        self.count + AFTER
    }
}

impl Course {
    /// Makes a plan ready. Disabled jobs are left out; answers are checked for nothing, go nowhere, and nobody is told.
    #[must_use]
    pub fn new(plan: &Plan, workload: Workload, days: Days) -> Self {
        let mut plan = plan.clone();
        plan.edge = None;
        plan.jobs
            .retain(|_, planned| planned.job.state == JobState::Enabled);
        for planned in plan.jobs.values_mut() {
            planned.job.check = Check::default();
            planned.job.output = None;
            planned.job.notify = None;
        }
        let groups = plan.groups.keys().cloned();
        let groups = groups.zip(0..).collect::<BTreeMap<GroupId, u16>>();
        let names = names(&plan, days);
        // A job that lists no item has nothing to do, in any arm.
        let has_work = |slot: &&Slot| {
            let load = workload.jobs.get(&slot.job);
            load.and_then(|load| load.items) != Some(0)
        };
        let mut slots: Vec<Slot> = names.keys().filter(has_work).cloned().collect();
        slots.sort_unstable();
        let later = slots.split_off(slots.partition_point(|slot| slot.fire_at <= days.until()));
        Self {
            loads: Arc::new(Loads::of(&plan, &workload)),
            plan: Arc::new(plan),
            workload: Arc::new(workload),
            days,
            due: slots,
            later,
            names: Arc::new(names),
            groups: Arc::new(groups),
        }
    }

    /// The same schedule as if it had no peak windows: one that breaks their rule is lived through as it stands, and
    /// not put off at every attempt.
    #[must_use]
    pub fn heedless_of_peaks(mut self) -> Self {
        let mut plan = Plan::clone(&self.plan);
        plan.peaks = PeakWindows::new(plan.peaks.zone().clone(), Vec::new());
        self.plan = Arc::new(plan);
        self
    }

    /// The plan that is lived through.
    #[must_use]
    pub const fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// How many slots count.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.due.len()
    }

    /// How many groups there are.
    pub(super) fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Milliseconds since the start.
    pub(super) fn ms(&self, at: DateTime<Utc>) -> u64 {
        u64::try_from((at - self.days.from).num_milliseconds()).unwrap_or(0)
    }

    /// How many items a job has; `None` for a job without `for_each`.
    pub(super) fn items(&self, job: &Job) -> Option<u32> {
        job.for_each.as_ref()?;
        let load = self.workload.jobs.get(&job.id);
        Some(load.and_then(|load| load.items).unwrap_or(1))
    }

    /// Names a call: of a slot, for an item counted from 1 or 0 if there is none, of a step counted from 0.
    pub(super) fn mark(&self, job: &Job, slot: &Slot, (item, step): (u32, usize)) -> CallMark {
        // A slot that lies beyond the days is named by its instant.
        let beyond = || mark(&format!("{} {}", slot.job, slot.fire_at));
        let slot_name = self.names.get(slot).copied().unwrap_or_else(beyond);
        let first = self.loads.first.get(&job.id).copied().unwrap_or_default();
        let steps = job.then.len();
        CallMark {
            call: mark(&format!("{slot_name:x} {item} {step}")),
            load: first + step.min(steps),
            group: self.groups.get(&job.group).copied().unwrap_or_default(),
        }
    }

    /// The size of a call.
    pub(super) fn load(&self, mark: CallMark) -> &StepLoad {
        &self.loads.steps[mark.load.min(self.loads.steps.len() - 1)]
    }
}

impl CallMark {
    /// The request of a call: its prompt is nothing but the mark.
    pub(super) fn request(self, job: &Job, step: usize) -> Request {
        let template = job.chain().nth(step).unwrap_or(&job.template);
        let system = template.system.iter().map(|block| SystemBlock {
            text: String::new(),
            cache: block.cache,
        });
        Request {
            key: job.key.clone(),
            model: template.model.clone(),
            max_tokens: template.max_tokens,
            system: system.collect(),
            prompt: format!("{:x} {} {}", self.call, self.load, self.group),
            so_far: Vec::new(),
            delivery: template.delivery,
            extra: template.extra.clone(),
            timeout: job.timeout,
        }
    }

    /// Reads what [`CallMark::request`] wrote.
    pub(super) fn of(request: &Request) -> Option<Self> {
        let mut parts = request.prompt.split(' ');
        Some(Self {
            call: u64::from_str_radix(parts.next()?, 16).ok()?,
            load: parts.next()?.parse().ok()?,
            group: parts.next()?.parse().ok()?,
        })
    }
}

impl Loads {
    fn of(plan: &Plan, workload: &Workload) -> Self {
        let mut loads = Self {
            steps: Vec::new(),
            first: HashMap::new(),
        };
        for planned in plan.jobs.values() {
            let job = &planned.job;
            loads.first.insert(job.id.clone(), loads.steps.len());
            let known = workload.jobs.get(&job.id);
            let step = |at: usize, max_tokens| {
                let of_job = |load: &JobLoad| load.steps.get(at).cloned();
                known.and_then(of_job).unwrap_or_else(|| small(max_tokens))
            };
            let templates = job.chain().enumerate();
            let steps = templates.map(|(at, template)| step(at, template.max_tokens));
            loads.steps.extend(steps);
        }
        if loads.steps.is_empty() {
            loads.steps.push(small(1));
        }
        loads
    }
}

fn small(max_tokens: u32) -> StepLoad {
    StepLoad {
        input_tokens: SMALL,
        cached: None,
        max_tokens,
        estimate: Estimate {
            output_max: max_tokens.into(),
            ..Estimate::default()
        },
    }
}

/// Names every slot by its job, its day in the job's zone, and its number on that day: so that a slot keeps its name
/// when a new schedule moves it within its day.
fn names(plan: &Plan, days: Days) -> HashMap<Slot, u64> {
    let until = days.from + TimeDelta::days(days.lived().into());
    let mut names = HashMap::new();
    for planned in plan.jobs.values() {
        let job = &planned.job.id;
        let zone = planned.timetable.zone();
        let mut last: Option<(NaiveDate, u32)> = None;
        // From midnight on, so that the numbers do not hang on the minute at which the days begin.
        let midnight = zone.firing_at(zone.civil(days.from).date().and_time(NaiveTime::MIN));
        let just_before = midnight - TimeDelta::milliseconds(1);
        for fire_at in planned.timetable.between(just_before, until) {
            let day = zone.civil(fire_at).date();
            let number = match last {
                Some((same, number)) if same == day => number + 1,
                Some(_) | None => 0,
            };
            last = Some((day, number));
            if fire_at <= days.from {
                continue;
            }
            let slot = Slot {
                fire_at,
                job: job.clone(),
            };
            names.insert(slot, mark(&format!("{job} {day} {number}")));
        }
    }
    names
}
