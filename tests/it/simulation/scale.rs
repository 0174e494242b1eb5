//! Five hundred jobs that were missed for a week: one deferred run each, spread over the slots, and no cost that grows
//! with the square of what waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::engine::Plan;
use offpeak::engine::keep::DeferralState;
use offpeak::engine::ports::Clock;
use offpeak::guard::BudgetPolicy;
use offpeak::job::{GroupId, JobState};
use offpeak::outcome::{FailReason, Outcome, Run, SkipReason, YieldReason};
use offpeak::schedule::DeferRule;
use offpeak::sim::{Scripted, SimPlan, SimUpstream};
use offpeak::slot::Origin;

use super::gate::Fate;
use super::harness::{House, at, rotation, seconds};

const JOBS: usize = 500;

/// The daemon's first life begins here: 09:10 in Tokyo, off-peak.
const BEGUN: &str = "2026-12-01T00:10";
/// It comes back here, a week later, in the middle of the night.
const BACK: &str = "2026-12-08T15:05";

/// Off-peak times of a day in Tokyo, this many minutes apart.
fn times(apart: usize) -> Vec<(usize, usize)> {
    let minutes = (0..24 * 60).step_by(apart);
    let is_peak = |at: &usize| (7 * 60..9 * 60).contains(at) || (18 * 60..23 * 60).contains(at);
    let open = minutes.filter(|at| !is_peak(at));
    open.map(|at| (at / 60, at % 60)).collect()
}

/// Groups of fifty jobs, each job once a day, the slots of a group twenty minutes apart.
fn daily(groups: usize) -> SimPlan {
    let times = times(20);
    (0..50 * groups).fold(SimPlan::new("Asia/Tokyo").unwrap(), |plan, n| {
        let (hour, minute) = times[n / groups];
        let (id, group) = (format!("job-{n:03}"), format!("group-{}", n % groups));
        plan.job(&id, &group, &[&format!("{minute} {hour} * * *")])
            .unwrap()
    })
}

/// Four groups of 125 jobs, each job once a week, the slots of a group 45 minutes apart.
fn weekly() -> SimPlan {
    let times = times(45);
    (0..JOBS).fold(SimPlan::new("Asia/Tokyo").unwrap(), |plan, n| {
        let (day, nth) = (n / 4 % 7, n / 28);
        let (hour, minute) = times[nth];
        let (id, group) = (format!("job-{n:03}"), format!("group-{}", n % 4));
        let cron = format!("{minute} {hour} * * {day}");
        plan.job(&id, &group, &[&cron]).unwrap()
    })
}

/// A house whose daemon was away for a week, and what its first wake-up asks of the store.
fn back_after_a_week(plan: Arc<Plan>) -> (House, Arc<AtomicUsize>) {
    let house = House::new(BEGUN, plan, SimUpstream::healthy);
    house.live_for(seconds(60));
    house.pass((at(BACK) - house.clock.now()).to_std().unwrap());
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&steps);
    house.gate.judge_by(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Fate::Works
    });
    (house, steps)
}

fn caught_up(house: &House) -> Vec<Run> {
    let runs = house.store.runs().into_iter();
    runs.filter(|run| run.origin == Origin::CatchUp).collect()
}

/// The fire times of a group's jobs in a span.
fn slots_of(
    plan: &Plan,
    group: &GroupId,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> BTreeSet<DateTime<Utc>> {
    let jobs = plan.jobs.values().filter(|it| it.job.group == *group);
    jobs.flat_map(|it| it.timetable.between(from, to)).collect()
}

#[test]
fn a_week_away_leaves_each_of_five_hundred_jobs_one_piece_of_work_for_the_next_slots() {
    let plan =
        daily(10).with_guards(|guard| guard.budget = BudgetPolicy::new(5, seconds(60)).unwrap());
    let plan = plan.build();
    let (house, steps) = back_after_a_week(Arc::clone(&plan));
    house.live_for(seconds(1));
    assert_eq!(house.pending().len(), JOBS);
    assert!(house.upstream.sent().is_empty(), "a stampede");
    // Recovery, watermark, schedules, and one wake-up: what waits is looked at as a whole.
    let first = steps.load(Ordering::Relaxed);
    assert!(first <= 12, "{first} steps for the first wake-up");
    let missed = house
        .runs()
        .iter()
        .filter(|run| run.ends_with("skipped: missed"))
        .count();
    assert!(missed > JOBS * 5, "{missed} slots are on record as missed");

    house.live_for(Duration::from_hours(48));
    house.check(at(BEGUN), house.clock.now());
    house.check_budgets();
    house.check_deliveries();
    assert!(house.pending().is_empty());
    check_order(&house, &plan);
    // A gate refuses once in a slot at most, and each piece of work is refused once at most.
    let refused = |run: &&Run| run.outcome == Some(Outcome::Yielded(YieldReason::Budget));
    let (runs, mut carries) = (caught_up(&house), BTreeMap::new());
    for run in runs.iter().filter(refused) {
        *carries.entry(run.job.clone()).or_insert(0) += 1;
    }
    assert!(
        !carries.is_empty() && carries.values().all(|it| *it == 1),
        "{carries:?}"
    );
    // A person pays per step of the store: admission, record, end, and two looks for the next.
    let runs = house
        .store
        .runs()
        .iter()
        .filter(|run| !run.attempts.is_empty())
        .count();
    let all = steps.load(Ordering::Relaxed) - first;
    let idle = 48 * 60 * 2 + 1500;
    assert!(all < runs * 8 + idle, "{all} steps for {runs} runs");
}

#[test]
fn work_that_waited_already_is_one_with_the_slot_that_was_missed() {
    // A job came back with two calls to make: what it had yielded, and its missed slot.
    let house = House::new("2026-12-01T16:50", rotation().build(), |clock| {
        let failed = Scripted::status(529, "overloaded_error", None);
        SimUpstream::scripted(clock, vec![failed; 3])
    });
    house.live_until("2026-12-01T17:10");
    house.pass(Duration::from_hours(24 * 7));
    house.live_for(seconds(1));
    let mut waiting: Vec<String> = house
        .pending()
        .into_iter()
        .map(|it| it.slot.job.to_string())
        .collect();
    waiting.sort();
    assert_eq!(waiting, ["a", "b", "c", "d"]);
    house.live_until("2026-12-09T16:00");
    house.check(at("2026-12-01T16:50"), house.clock.now());
    assert!(house.pending().is_empty());
}

/// In each slot its own work goes first, in time, and then what is oldest.
fn check_order(house: &House, plan: &Plan) {
    let runs = house.store.runs();
    for group in plan.groups.keys() {
        let since = at(BACK);
        let mut last = DateTime::<Utc>::MIN_UTC;
        for slot in slots_of(plan, group, since, house.clock.now()) {
            let of_slot = |run: &&Run| {
                let within =
                    run.started_at >= slot && run.started_at < slot + TimeDelta::minutes(20);
                run.group == *group && within && !run.attempts.is_empty()
            };
            let of_slot: Vec<&Run> = runs.iter().filter(of_slot).collect();
            let Some((own, carried)) = of_slot.split_first() else {
                panic!("{group} did nothing at {slot}");
            };
            assert_eq!((own.origin, own.started_at), (Origin::Scheduled, slot));
            for run in carried {
                assert_eq!(run.origin, Origin::CatchUp);
                // Work that was refused is older than all that was not tried yet, and goes on first.
                assert!(
                    run.fire_at >= last,
                    "{run:?} is older than what went before"
                );
                last = run.fire_at;
            }
        }
    }
}

#[test]
fn five_hundred_open_slots_keep_the_gap_and_stay_off_peak() {
    let plan = weekly()
        .with_jobs(|planned| planned.defer.rule = DeferRule::OpenSlot)
        .build();
    let (house, steps) = back_after_a_week(Arc::clone(&plan));
    house.live_for(seconds(1));
    assert_eq!(house.pending().len(), JOBS);
    let first = steps.load(Ordering::Relaxed);
    assert!(first <= 12, "{first} steps for the first wake-up");
    check_promises(&house, &plan);
    // Their own slots take some of it over; the rest is done at an instant of its own.
    let days = Duration::from_hours(24);
    house.live_for(days);
    house.check(at(BEGUN), house.clock.now());
    for waiting in house.pending() {
        let to = waiting.wait.to.unwrap();
        assert!(to > house.clock.now(), "nobody took {waiting:?}");
    }
    check_gaps(&house, &plan);
}

/// No two promises of a group, and no promise and slot, are nearer to each other than the gap.
fn check_promises(house: &House, plan: &Plan) {
    let mut promised: BTreeMap<GroupId, Vec<DateTime<Utc>>> = BTreeMap::new();
    for waiting in house.pending() {
        let to = waiting.wait.to.unwrap();
        assert!(!plan.peaks.is_peak(to), "{to} is in a peak window");
        promised.entry(waiting.group).or_default().push(to);
    }
    for (group, mut instants) in promised {
        let last = *instants.iter().max().unwrap();
        instants.extend(slots_of(plan, &group, at(BACK), last + TimeDelta::hours(1)));
        check_apart(&group, instants);
    }
}

fn check_apart(group: &GroupId, mut instants: Vec<DateTime<Utc>>) {
    instants.sort_unstable();
    for pair in instants.windows(2) {
        assert!(
            pair[1] - pair[0] >= TimeDelta::minutes(15),
            "{group}: {pair:?}"
        );
    }
}

/// What was sent kept the gap: one call an instant.
fn check_gaps(house: &House, plan: &Plan) {
    let runs = caught_up(house);
    let done = runs.iter().filter(|run| !run.attempts.is_empty());
    let mut sent: BTreeMap<GroupId, Vec<DateTime<Utc>>> = BTreeMap::new();
    for run in done {
        sent.entry(run.group.clone())
            .or_default()
            .push(run.started_at);
    }
    let all: usize = sent.values().map(Vec::len).sum();
    assert!(all > JOBS / 12, "only {all} at instants of their own");
    for (group, mut instants) in sent {
        instants.extend(slots_of(plan, &group, at(BACK), house.clock.now()));
        check_apart(&group, instants);
    }
}

#[test]
fn open_slots_that_were_missed_go_to_instants_of_their_own_again() {
    // The first of the new instants took all that had been promised an earlier one: a burst at a new fire time.
    let plan = weekly()
        .with_jobs(|planned| planned.defer.rule = DeferRule::OpenSlot)
        .build();
    let (house, _) = back_after_a_week(Arc::clone(&plan));
    house.live_for(seconds(1));
    house.pass(Duration::from_hours(24));
    // Not far from the next free instant, and before the next slot.
    house.live_for(Duration::from_mins(20));
    let runs = caught_up(&house);
    let sent: Vec<DateTime<Utc>> = runs
        .iter()
        .filter(|run| run.group == GroupId::new("group-0") && !run.attempts.is_empty())
        .map(|run| run.started_at)
        .collect();
    let slots = slots_of(&plan, &GroupId::new("group-0"), at(BACK), house.clock.now());
    let at_new_times = sent.iter().filter(|at| {
        let near = slots.range(**at - TimeDelta::minutes(10)..=**at);
        near.count() == 0
    });
    assert!(at_new_times.count() <= 1, "{sent:?}");
}

#[test]
fn a_group_that_is_down_for_days_starves_nobody_over_a_fortnight() {
    let plan =
        daily(2).with_guards(|guard| guard.budget = BudgetPolicy::new(4, seconds(60)).unwrap());
    let plan = plan.with_jobs(|planned| planned.defer.max = 50).build();
    let down = at("2026-12-02T00:00")..at("2026-12-04T00:00");
    let house = House::new(BEGUN, plan, move |clock| {
        SimUpstream::new(clock, move |now, _| {
            if down.contains(&now) {
                Scripted::status(503, "api_error", None)
            } else {
                Scripted::answer(seconds(1), "an answer")
            }
        })
    });
    house.live_for(Duration::from_hours(24 * 14));
    house.live_for(seconds(120));
    house.check(at(BEGUN), house.clock.now());
    assert!(house.pending().is_empty(), "{:#?}", house.pending().len());
    let answered: BTreeSet<_> = house
        .workspace
        .delivered()
        .into_iter()
        .map(|(slot, _)| slot.job)
        .collect();
    assert_eq!(answered.len(), 100);
    // What a slot leaves is dealt with within two days: by its next slots, or by its job's own.
    for row in house.store.all_deferrals() {
        assert_ne!(row.state, DeferralState::Pending);
        let age = row.ended_at.unwrap() - row.deferral.slot.fire_at;
        assert!(age < TimeDelta::days(2), "{row:?}");
    }
}

#[test]
fn five_hundred_pieces_of_work_whose_jobs_are_gone_end_on_record_at_once() {
    for rule in [DeferRule::NextSlot, DeferRule::OwnSlot, DeferRule::OpenSlot] {
        let plan = daily(10)
            .with_jobs(|planned| planned.defer.rule = rule)
            .build();
        let (house, _) = back_after_a_week(plan);
        house.live_for(seconds(1));
        // Every job is renamed, and every group with it.
        let other = SimPlan::new("Asia/Tokyo").unwrap();
        let other = other.job("renamed", "elsewhere", &["0 2 * * *"]).unwrap();
        house.plans.send_replace(other.build());
        house.live_for(seconds(40));
        let gone = Some(Outcome::Failed(FailReason::JobGone));
        let ended = caught_up(&house)
            .iter()
            .filter(|run| run.outcome == gone)
            .count();
        assert_eq!(ended, JOBS, "{rule:?}");
        assert!(house.pending().is_empty());
        assert!(house.upstream.sent().is_empty());
        house.check_rows();
    }
}

#[test]
fn work_of_a_renamed_job_ends_on_record_and_the_new_name_has_missed_nothing() {
    let house = House::new("2026-12-01T16:50", rotation().build(), |clock| {
        let failed = || Scripted::status(529, "overloaded_error", None);
        SimUpstream::scripted(clock, [failed(), failed(), failed()])
    });
    house.live_until("2026-12-01T17:10");
    let renamed = rotation()
        .without_job("a")
        .job("a-2", "main", &["0 2 * * *"])
        .unwrap();
    house.plans.send_replace(renamed.build());
    house.live_until("2026-12-02T17:10");
    let runs = house.runs();
    assert!(
        runs.contains(&"a deferred: failed: job_gone".to_owned()),
        "{runs:?}"
    );
    assert_eq!(runs.last().unwrap(), "a-2 scheduled: succeeded");
    assert!(house.pending().is_empty());
    house.check_rows();
}

#[test]
fn work_of_a_group_that_lost_its_last_slot_ends_on_record() {
    let plan = rotation().pickup("main", &["30 5 * * *"]).unwrap();
    let house = House::new("2026-12-01T16:50", plan.build(), |clock| {
        let failed = || Scripted::status(529, "overloaded_error", None);
        SimUpstream::scripted(clock, [failed(), failed(), failed()])
    });
    house.live_until("2026-12-01T17:10");
    let idle = rotation().with_jobs(|planned| planned.job.state = JobState::Disabled);
    house.plans.send_replace(idle.build());
    house.live_until("2026-12-02T17:10");
    let runs = house.runs();
    assert_eq!(runs[1], "a deferred: failed: job_gone");
    let disabled = Outcome::Skipped(SkipReason::Disabled);
    assert!(
        runs[2..]
            .iter()
            .all(|run| run.ends_with(&disabled.to_string())),
        "{runs:?}"
    );
    assert!(house.pending().is_empty());
    house.check_rows();
}

#[test]
fn work_that_moved_from_another_group_is_not_passed_over_by_younger_work() {
    // Rows of the slot's own group went first whatever their age.
    let plan = rotation().job("far", "other", &["50 1 * * *"]).unwrap();
    let house = House::new("2026-12-01T16:40", plan.build(), |clock| {
        let failed = Scripted::status(529, "overloaded_error", None);
        SimUpstream::scripted(clock, vec![failed; 6])
    });
    house.live_until("2026-12-01T17:10");
    let moved = rotation().job("far", "main", &["50 1 * * *"]).unwrap();
    house.plans.send_replace(moved.build());
    house.live_until("2026-12-01T18:00");
    assert_eq!(
        house.sends()[6..],
        ["b@17:45:00", "far@17:45:01", "a@17:45:02"]
    );
}
