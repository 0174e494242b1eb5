//! Whole schedules in a drawn world: what must hold in any world, and that the simulator is the daemon.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::engine::ports::World;
use offpeak::engine::{Plan, Stop, serve};
use offpeak::guard::BudgetPolicy;
use offpeak::job::{ForEach, ItemSource, JobId, Which};
use offpeak::outcome::{Run, YieldReason};
use offpeak::price::Estimate;
use offpeak::sim::trial::{
    Client, Course, Days, JobLoad, Layers, Rows, StepLoad, TrialEdge, Workload, client_dice, live,
    live_all, record,
};
use offpeak::sim::world::WorldModel;
use offpeak::sim::{self, SimPlan, VirtualClock};
use offpeak::trial::{Carried, Log, SendEnd};
use proptest::prelude::*;
use tokio::sync::{mpsc, watch};

use super::blocking::BlockingStore;

const DAY: Duration = Duration::from_hours(24);

const ALL: [Client; 3] = [
    Client::Guarded,
    Client::Layered(Layers::FIVE_INSIDE_TEN),
    Client::Literal,
];

/// Midnight in Japan, so that days are whole.
fn start() -> DateTime<Utc> {
    "2026-11-30T15:00:00Z".parse().unwrap()
}

/// Six sites of one key, four slots a night each: twenty minutes apart, or stacked at two hours of the peaks and two off.
fn plan(times: &dyn Fn(u32, u32) -> String) -> SimPlan {
    let mut plan = SimPlan::new("Asia/Tokyo").unwrap();
    for site in 0..6 {
        let crons: Vec<String> = (0..4).map(|slot| times(site, slot)).collect();
        let crons: Vec<&str> = crons.iter().map(String::as_str).collect();
        plan = plan.job(&format!("site-{site}"), "main", &crons).unwrap();
    }
    plan
}

fn apart(site: u32, slot: u32) -> String {
    let minute = 5 + (slot * 6 + site) * 17;
    format!("{} {} * * *", minute % 60, minute / 60)
}

fn stacked(_: u32, slot: u32) -> String {
    format!("0 {} * * *", [2, 4, 8, 20][slot as usize])
}

fn workload() -> Workload {
    let step = StepLoad {
        input_tokens: 4_000,
        cached: None,
        max_tokens: 2_000,
        estimate: Estimate::default(),
    };
    let load = JobLoad {
        items: None,
        steps: vec![step],
    };
    let sites = (0..6).map(|site| (JobId::new(format!("site-{site}")), load.clone()));
    Workload {
        jobs: sites.collect(),
        prices: Arc::new(|_, _, _| None),
        first_byte_timeout: Duration::from_mins(5),
    }
}

fn course(plan: &Plan, days: u32) -> Course {
    let from = start();
    Course::new(plan, workload(), Days { from, count: days })
}

fn lived(course: &Course, world: &WorldModel, client: Client, seed: u64) -> Log {
    live(course, &Arc::new(world.clone()), client, seed).unwrap()
}

fn wasted(log: &Log) -> usize {
    let sends = log.sends.iter();
    sends.filter(|send| send.end != SendEnd::Answered).count()
}

fn lost(log: &Log) -> usize {
    log.works
        .iter()
        .filter(|work| work.done_ms.is_none())
        .count()
}

#[test]
fn every_slot_of_the_days_is_work_and_none_besides() {
    let plan = plan(&apart).build();
    let course = course(&plan, 14);
    assert_eq!(course.slots(), 14 * 24);
    for client in ALL {
        let log = lived(&course, &WorldModel::default(), client, 1);
        assert_eq!(log.works.len(), 14 * 24, "{client:?}");
        let in_order = log.works.is_sorted_by_key(|work| work.due_ms);
        assert!(in_order, "{client:?}");
        let last = log.works.last().unwrap().due_ms;
        assert!(Duration::from_millis(last) <= DAY * 14, "{client:?}");
    }
}

/// Nothing goes wrong: guards and retries must not show at all.
#[test]
fn in_a_world_that_is_well_all_arms_are_alike() {
    let world = WorldModel::default().well();
    for times in [&apart as &dyn Fn(u32, u32) -> String, &stacked] {
        // In the peaks no daemon starts anything, whatever the schedule says: the old one is run without windows.
        let open = without_peaks(plan(times));
        let course = course(&open, 14);
        let logs = ALL.map(|client| lived(&course, &world, client, 7));
        for log in &logs {
            assert!(log.yields.is_empty() && log.openings.is_empty());
            assert_eq!(log.sends.len(), 14 * 24, "one request a call");
            assert!(log.works.iter().all(|work| work.carried == Carried::InSlot));
        }
        let latencies = logs.each_ref().map(|log| {
            let mut all: Vec<u64> = log.sends.iter().map(|send| send.latency_ms).collect();
            all.sort_unstable();
            all
        });
        assert_eq!(latencies[0], latencies[1]);
        assert_eq!(latencies[0], latencies[2]);
        let done = logs.each_ref().map(|log| {
            let spans = log
                .works
                .iter()
                .map(|work| work.done_ms.unwrap() - work.due_ms);
            spans.collect::<Vec<_>>()
        });
        assert_eq!(done[0], done[1]);
        assert_eq!(done[0], done[2]);
    }
}

fn without_peaks(plan: SimPlan) -> Arc<Plan> {
    let plan = plan.build();
    let zone = plan.peaks.zone().clone();
    Arc::new(Plan {
        peaks: offpeak::schedule::PeakWindows::new(zone, Vec::new()),
        ..Plan::clone(&plan)
    })
}

/// Everything fails for ever: what is sent is bounded by the settings, and nothing is done.
#[test]
fn in_a_dead_world_requests_are_bounded_by_formula() {
    let world = WorldModel::default().well().dead();
    let plan = without_peaks(plan(&stacked));
    let days = 3;
    let course = course(&plan, days);
    let slots = course.slots();

    let old = lived(&course, &world, ALL[1], 1);
    assert_eq!(old.sends.len(), slots * 50, "five times ten for each");

    let literal = lived(&course, &world, Client::Literal, 1);
    // Ten failures open its breaker; five others may be on their way then.
    let until = u64::from(days) * 86_400_000;
    let sends = literal.sends.iter().filter(|send| send.at_ms <= until);
    assert!(sends.count() <= 15 * (literal.openings.len() + 1));
    assert!(literal.yields[&YieldReason::Breaker] > 0);

    let new = lived(&course, &world, Client::Guarded, 1);
    // Three attempts, and one carry of work that was exhausted.
    assert!(new.sends.len() <= slots * 3 * 2, "{}", new.sends.len());
    // Once it is open the breaker lets one probe pass in a cooldown, and ten samples open it.
    assert!(!new.openings.is_empty());
    assert!(new.openings.iter().all(|opening| !opening.is_false));
    for log in [&old, &literal, &new] {
        assert_eq!(lost(log), slots);
        assert_eq!(wasted(log), log.sends.len());
    }
}

/// The figures must depend on what they are said to be about.
#[test]
fn guards_that_never_refuse_change_what_happens() {
    let mut world = WorldModel::default();
    world.overload.per_day = 12.0;
    world.overload.lasts = Duration::from_mins(20);
    // Six at once: a single call of a slot never gives the ten samples that open a breaker.
    let with = course(&without_peaks(plan(&stacked)), 7);
    let without = plan(&stacked).with_guards(|guard| {
        guard.breaker.min_samples = NonZeroU32::new(1_000).unwrap();
    });
    let without = course(&without_peaks(without), 7);
    let breaker = |log: &Log| log.yields.get(&YieldReason::Breaker).copied().unwrap_or(0);
    let (mut guarded, mut bare) = ((0, 0), (0, 0));
    for seed in 1..=3 {
        let log = lived(&with, &world, Client::Guarded, seed);
        guarded = (guarded.0 + breaker(&log), guarded.1 + wasted(&log));
        let log = lived(&without, &world, Client::Guarded, seed);
        bare = (bare.0 + breaker(&log), bare.1 + wasted(&log));
    }
    assert_eq!(bare.0, 0, "no breaker opens");
    assert!(guarded.0 > 0, "a breaker opens");
    assert!(guarded.1 < bare.1, "{guarded:?} {bare:?}");
}

#[test]
fn budget_that_is_small_makes_work_wait() {
    let world = WorldModel::default().well();
    let small = plan(&stacked).with_guards(|guard| {
        guard.budget = BudgetPolicy::new(2, Duration::from_mins(1)).unwrap();
    });
    let course = course(&without_peaks(small), 3);
    let log = lived(&course, &world, Client::Guarded, 1);
    assert!(
        log.yields
            .get(&YieldReason::Budget)
            .is_some_and(|it| *it > 0)
    );
    assert!(log.works.iter().any(|work| work.carried != Carried::InSlot));
}

#[test]
fn seed_repeats_and_another_differs_whatever_the_number_of_cores() {
    let course = course(&plan(&apart).build(), 3);
    let world = Arc::new(WorldModel::default());
    for client in ALL {
        let all = live_all(&course, &world, client, (1..5, Log::clone)).unwrap();
        assert_eq!(all.len(), 4);
        for (log, seed) in all.iter().zip(1..) {
            assert_eq!(*log, live(&course, &world, client, seed).unwrap());
        }
        assert_ne!(all[0].sends, all[1].sends);
    }
}

/// A slot that a new schedule moves within its day meets the same draws: without weather and load only its time differs.
#[test]
fn work_that_moves_within_its_day_stays_the_same_work() {
    let mut world = WorldModel::default();
    world.peaks.windows.clear();
    (world.overload.per_day, world.congestion.per_day) = (0.0, 0.0);
    (world.limit.requests, world.limit.input_tokens) = (u32::MAX, u64::MAX);
    let of = |times: &dyn Fn(u32, u32) -> String| {
        let course = course(&without_peaks(plan(times)), 14);
        let log = lived(&course, &world, ALL[1], 3);
        let mut latencies: Vec<u64> = log.sends.iter().map(|send| send.latency_ms).collect();
        latencies.sort_unstable();
        latencies
    };
    assert_eq!(of(&apart), of(&stacked));
}

/// The log of the daemon on the store on disk, waking every thirty seconds.
fn log_of_daemon(course: &Course, world: &WorldModel, seed: u64, days: u32) -> Log {
    let folder = tempfile::tempdir().unwrap();
    let clock = VirtualClock::new(start());
    let server = course.server(&Arc::new(world.clone()), seed).unwrap();
    let edge = Arc::new(TrialEdge::new(course, &clock, server));
    let store = Arc::new(BlockingStore::open(folder.path()));
    let world = World {
        clock: Arc::new(clock.clone()),
        upstream: edge.clone(),
        store: store.clone(),
        workspace: edge,
        dice: Arc::new(client_dice(seed)),
    };
    let (_plans, plan) = watch::channel(Arc::clone(course.plan()));
    let (_stop, stop) = watch::channel(Stop::Running);
    let (notices, _unheard) = mpsc::unbounded_channel();
    let daemon = Box::pin(serve(world, plan, stop, notices));
    assert!(sim::run_until(&clock, DAY * (days + 2), daemon).is_none());
    let ledger = store.done(store.inner().ledger()).unwrap();
    let runs: Vec<&Run> = ledger.runs.iter().collect();
    let rows = Rows {
        runs: &runs,
        deferrals: &ledger.deferrals,
        openings: Vec::new(),
    };
    record(course, rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// The simulator is held to the daemon: on the store on disk, waking every thirty seconds, the daemon sends the same
    /// requests at the same instants, meets the same ends, yields as often at the same gates, and does the same work at
    /// the same time.
    #[test]
    fn simulator_and_daemon_do_the_same(
        seed in 0_u64..1_000,
        per_day in 0.0..20.0_f64,
        server_error in 0.0..0.4_f64,
        requests in 1_u32..6,
        budget in 2_u32..12,
        items in prop::option::of(1_u32..4),
        is_stacked in any::<bool>(),
    ) {
        let mut world = WorldModel::default();
        world.overload.per_day = per_day;
        world.overload.lasts = Duration::from_mins(15);
        world.faults.server_error = server_error;
        world.limit.requests = requests;
        let times: &dyn Fn(u32, u32) -> String = if is_stacked { &stacked } else { &apart };
        let days = 2;
        let plan = plan(times).with_guards(|guard| {
            guard.budget = BudgetPolicy::new(budget, Duration::from_mins(1)).unwrap();
        });
        let plan = plan.with_jobs(|planned| planned.job.for_each = items.map(|_| files()));
        let mut workload = workload();
        workload.jobs.values_mut().for_each(|load| load.items = items);
        let course = Course::new(&plan.build(), workload, Days { from: start(), count: days });
        let log = lived(&course, &world, Client::Guarded, seed);
        // When a breaker opened is not on record.
        let log = Log { openings: Vec::new(), ..log };
        prop_assert!(!log.sends.is_empty());
        prop_assert_eq!(log, log_of_daemon(&course, &world, seed, days));
    }
}

fn files() -> ForEach {
    ForEach {
        source: ItemSource::Files {
            folder: PathBuf::new(),
            pattern: String::new(),
        },
        which: Which::All,
        limit: None,
    }
}

/// What a gate of the printed layers refuses waits for a later slot: its own does not try it again.
#[test]
fn printed_layers_leave_refused_work_to_a_later_slot() {
    let world = WorldModel::default().well().dead();
    let mut plan = SimPlan::new("Asia/Tokyo").unwrap();
    for site in 0..6 {
        plan = plan
            .job(&format!("site-{site}"), "main", &["0 2 * * *"])
            .unwrap();
    }
    let course = course(&plan.build(), 1);
    let log = lived(&course, &world, Client::Literal, 1);
    assert_eq!(log.openings.len(), 1, "ten failures on the first night");
    // The first night all six meet the breaker. The next one tries three of them to the end, and meets it with the fourth,
    // so that three wait once more; these the third night tries to the end. Both lie after the day that counts.
    assert_eq!(log.yields, [(YieldReason::Breaker, 6 + 3)].into());
    assert!(log.works.iter().all(|work| work.carried == Carried::Lost));
}

#[test]
fn slot_at_the_first_instant_is_not_due_and_one_at_the_last_is() {
    let at_midnight = |_: u32, slot: u32| format!("{} 0 * * *", slot * 15);
    let course = course(&plan(&at_midnight).build(), 2);
    // The first midnight is left out, and that after the second day counts.
    assert_eq!(course.slots(), 6 * 4 * 2);
    for client in ALL {
        let log = lived(&course, &WorldModel::default().well(), client, 1);
        assert_eq!(log.works.len(), 48, "{client:?}");
        assert_eq!(log.works[0].due_ms, 15 * 60_000, "{client:?}");
        assert_eq!(log.works[47].due_ms, 2 * 86_400_000, "{client:?}");
        assert_eq!(lost(&log), 0, "{client:?}");
    }
}

#[test]
fn job_that_lists_nothing_has_no_work_in_any_arm() {
    let plan = plan(&apart).with_job("site-1", |planned| planned.job.for_each = Some(files()));
    let mut workload = workload();
    workload.jobs.get_mut("site-1").unwrap().items = Some(0);
    let course = Course::new(
        &plan.build(),
        workload,
        Days {
            from: start(),
            count: 2,
        },
    );
    assert_eq!(course.slots(), 2 * 5 * 4);
    for client in ALL {
        let log = lived(&course, &WorldModel::default().well(), client, 1);
        assert_eq!((log.works.len(), lost(&log)), (40, 0), "{client:?}");
    }
}
