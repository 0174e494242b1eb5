//! Random worlds: random schedules, policies, faults of the store, answers, kills, absences and edits, then an audit.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use offpeak::answer::{FailureKind, StopReason};
use offpeak::engine::ports::{Clock, Dice};
use offpeak::engine::{Plan, Stop};
use offpeak::guard::BudgetPolicy;
use offpeak::job::{GroupId, JobId, JobState, KeyId};
use offpeak::schedule::{DeferRule, Missed};
use offpeak::sim::{self, Scripted, SimDice, SimPlan, SimUpstream};

use super::gate::{Fate, Step};
use super::harness::{House, seconds};

const GROUPS: [&str; 3] = ["x", "y", "z"];

/// Chances of one world; the same seed makes the same world.
struct Chance(SimDice);

impl Chance {
    fn below(&self, limit: u64) -> u64 {
        self.span(limit).as_secs().min(limit - 1)
    }

    /// Up to so many seconds.
    fn span(&self, limit: u64) -> Duration {
        seconds(limit).mul_f64(self.0.draw())
    }

    fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }
}

/// Nine jobs in three groups, at off-peak hours in Tokyo; each group has pickup slots.
fn plan(chance: &Chance) -> Plan {
    let cron = || {
        let (minute, hour) = (
            chance.below(60),
            chance.of(&[0, 1, 2, 4, 6, 9, 11, 14, 17, 23]),
        );
        format!("{minute} {hour} * * *")
    };
    let empty = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = (0..9).fold(empty, |plan, n| {
        let crons = [cron(), cron()];
        let crons: Vec<&str> = crons.iter().map(String::as_str).collect();
        let count = 1 + usize::from(chance.one_in(3));
        plan.job(&format!("job-{n}"), GROUPS[n % 3], &crons[..count])
            .unwrap()
    });
    let plan = GROUPS.iter().fold(plan, |plan, group| {
        plan.pickup(group, &["55 5,12 * * *"]).unwrap()
    });
    let rules = [DeferRule::NextSlot, DeferRule::OwnSlot, DeferRule::OpenSlot];
    let plan = plan.with_jobs(|planned| {
        planned.defer.rule = chance.of(&rules);
        planned.defer.max = chance.of(&[1, 2, 3]);
        planned.missed = chance.of(&[Missed::Once, Missed::Once, Missed::Skip]);
    });
    let calls = u32::try_from(2 + chance.below(4)).unwrap();
    let plan = plan.with_guards(|guard| {
        guard.budget = BudgetPolicy::new(calls, seconds(600)).unwrap();
        guard.breaker.min_samples = 3.try_into().unwrap();
    });
    (*plan.build()).clone()
}

fn answer(chance: &Chance) -> Scripted {
    let latency = chance.span(120);
    match chance.below(20) {
        0..12 => Scripted::answer(latency, "a complete answer"),
        12..15 => Scripted::status(529, "overloaded_error", None),
        15 => Scripted::status(429, "rate_limit_error", Some(chance.span(4000))),
        16 => Scripted::broken(latency, FailureKind::Cut),
        17 => Scripted::stopped(latency, "half", StopReason::MaxTokens),
        18 => Scripted::status(401, "authentication_error", None),
        _ => Scripted::status(500, "api_error", None),
    }
}

/// Takes a job away, disables it, or moves it to another group with its pending work.
fn edit(plan: &mut Plan, chance: &Chance) {
    let job = JobId::new(format!("job-{}", chance.below(9)));
    let group = chance.of(&GROUPS);
    let jobs = plan.jobs.len();
    match (plan.jobs.get_mut(&job), chance.below(3)) {
        (Some(_), 0) if jobs > 6 => {
            plan.jobs.remove(&job);
        }
        (Some(planned), 1) => planned.job.state = JobState::Disabled,
        (Some(planned), _) => {
            planned.job.group = GroupId::new(group);
            planned.job.key = KeyId::new(group);
        }
        (None, _) => {}
    }
}

/// One life of the daemon with a store that fails now and then; a start that fails is tried again.
fn live(house: &House, seed: u64, span: Duration) {
    let dice = SimDice::seeded(seed);
    house.gate.judge_by(move |step| match (dice.draw(), step) {
        (..0.02, _) => Fate::Fails,
        (..0.03, Step::Write) => Fate::IsLost,
        (_, _) => Fate::Works,
    });
    let limit = house.clock.elapsed() + span;
    let life = async {
        while house.served().await.is_err() {
            house.clock.sleep(seconds(5)).await;
        }
    };
    sim::run_until(&house.clock, limit, life);
    house.gate.judge_by(|_| Fate::Works);
}

/// A week of lives, absences and edits.
fn week(seed: u64) -> House {
    let chance = Arc::new(Chance(SimDice::seeded(seed)));
    let first = plan(&chance);
    let answers = Arc::clone(&chance);
    let house = House::new("2026-12-01T00:10", Arc::new(first), move |clock| {
        SimUpstream::new(clock, move |_, _| answer(&answers))
    });
    let mut lives = 0;
    while house.clock.elapsed() < Duration::from_hours(24 * 7) {
        lives += 1;
        live(&house, seed * 1000 + lives, chance.span(40_000));
        if chance.one_in(3) {
            house.pass(chance.span(50_000));
        }
        if chance.one_in(4) {
            let mut plan = (**house.plans.borrow()).clone();
            edit(&mut plan, &chance);
            house.plans.send_replace(Arc::new(plan));
        }
        for group in GROUPS {
            // A person lifts holds that nothing else lifts.
            house.store.resume(&GroupId::new(group));
        }
    }
    house
}

#[test]
fn random_worlds_keep_every_promise() {
    for seed in 1..=6 {
        let house = week(seed);
        // Two days in which nothing fails but the upstream, and an orderly end.
        house.live_for(Duration::from_hours(48));
        house.stop.send_replace(Stop::Drain);
        assert!(
            house.live_for(Duration::from_hours(1)).is_some(),
            "seed {seed}"
        );
        house.check_rows();
        house.check_budgets();
        let now = house.clock.now();
        for waiting in house.pending() {
            let since = now - waiting.wait.not_before;
            assert!(
                since < TimeDelta::hours(26),
                "seed {seed}: nobody takes {waiting:?}"
            );
        }
        let runs = house.store.runs();
        let attempts: usize = runs.iter().map(|run| run.attempts.len()).sum();
        assert!(
            attempts > 60,
            "seed {seed}: a dull world of {attempts} attempts"
        );
    }
}
