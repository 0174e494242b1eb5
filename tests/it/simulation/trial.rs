//! Whole schedules in a drawn world: what must hold in any world, and that the simulator is the daemon.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::engine::ports::World;
use offpeak::engine::{Plan, Stop, serve};
use offpeak::job::JobId;
use offpeak::outcome::{Class, Outcome, YieldReason};
use offpeak::price::Estimate;
use offpeak::sim::trial::{
    Client, Course, Days, JobLoad, Layers, StepLoad, TrialEdge, Workload, client_dice, live,
    live_all,
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
    // Ten failures open its breaker, and whatever comes within its cooldown waits.
    assert!(literal.sends.len() <= slots * 10);

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
        guard.budget = offpeak::guard::BudgetPolicy::new(2, Duration::from_mins(1)).unwrap();
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

/// What a run did, as both can tell it.
type Told = (
    DateTime<Utc>,
    JobId,
    Option<Outcome>,
    Vec<(u64, u64, Option<Class>)>,
);

fn told_by_daemon(course: &Course, world: &WorldModel, seed: u64, days: u32) -> Vec<Told> {
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
    let ms = |at: DateTime<Utc>| u64::try_from((at - start()).num_milliseconds()).unwrap();
    let ledger = store.done(store.inner().ledger()).unwrap();
    let told = ledger.runs.into_iter().map(|run| {
        let attempts = run.attempts.iter().map(|attempt| {
            let end = attempt.end.as_ref().unwrap();
            let latency = u64::try_from(end.latency.as_millis()).unwrap();
            (ms(attempt.started_at), latency, end.class)
        });
        (run.fire_at, run.job, run.outcome, attempts.collect())
    });
    told.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// The simulator is held to the daemon: on the store on disk, waking every thirty seconds, the daemon sends the same
    /// requests at the same instants, meets the same ends, and yields as often at the same gates.
    #[test]
    fn simulator_and_daemon_do_the_same(
        seed in 0_u64..1_000,
        per_day in 0.0..20.0_f64,
        server_error in 0.0..0.4_f64,
        requests in 1_u32..6,
        is_stacked in any::<bool>(),
    ) {
        let mut world = WorldModel::default();
        world.overload.per_day = per_day;
        world.overload.lasts = Duration::from_mins(15);
        world.faults.server_error = server_error;
        world.limit.requests = requests;
        let times: &dyn Fn(u32, u32) -> String = if is_stacked { &stacked } else { &apart };
        let days = 2;
        let course = course(&plan(times).build(), days);
        let log = lived(&course, &world, Client::Guarded, seed);
        let until = start() + TimeDelta::days(days.into());
        let mut told = told_by_daemon(&course, &world, seed, days);
        told.retain(|(fire_at, ..)| *fire_at <= until);

        let mut sends: Vec<(u64, u64, SendEnd)> =
            log.sends.iter().map(|send| (send.at_ms, send.latency_ms, send.end)).collect();
        sends.sort_unstable_by_key(|(at, latency, _)| (*at, *latency));
        let mut sent: Vec<(u64, u64, Option<Class>)> =
            told.iter().flat_map(|(.., attempts)| attempts.clone()).collect();
        sent.sort_unstable_by_key(|(at, latency, _)| (*at, *latency));
        prop_assert_eq!(sends.len(), sent.len());
        for ((at, latency, end), (sent_at, took, class)) in sends.into_iter().zip(sent) {
            prop_assert_eq!((at, latency), (sent_at, took));
            let is_same = match class {
                Some(Class::Success) => end == SendEnd::Answered,
                Some(Class::Fatal) => end == SendEnd::Fatal,
                Some(Class::Retryable) | None => {
                    end == SendEnd::Refused || end == SendEnd::Broken
                }
            };
            prop_assert!(is_same, "{:?} {:?}", end, class);
        }
        let mut yields: BTreeMap<YieldReason, usize> = BTreeMap::new();
        for (_, _, outcome, _) in &told {
            if let Some(Outcome::Yielded(gate)) = outcome {
                *yields.entry(*gate).or_default() += 1;
            }
        }
        prop_assert_eq!(yields, log.yields);
        let done = told.iter().filter(|(_, _, outcome, _)| *outcome == Some(Outcome::Succeeded));
        let in_log = log.works.iter().filter(|work| work.done_ms.is_some());
        // Work that a later slot of its job took over is done with that slot's work.
        prop_assert!(done.count() <= in_log.count());
    }
}
