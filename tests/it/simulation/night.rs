//! One night with every kind of slot, for the tests that break something in the middle of it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use offpeak::engine::ports::Clock;
use offpeak::engine::{Asked, Plan, run_once};
use offpeak::guard::BudgetPolicy;
use offpeak::schedule::DeferRule;
use offpeak::sim::{self, Scripted, SimPlan, SimUpstream, VirtualClock};

use super::harness::{House, at, job, seconds};

/// When the daemon of the night begins, after half an hour without one: `late` has missed its slot.
pub const START: &str = "2026-12-01T16:50";
/// When the schedules begin.
pub const SINCE: &str = "2026-12-01T16:10";
/// When everything has come to rest, a person's lost run included.
pub const END: &str = "2026-12-01T18:25";

/// The jobs of the night; each has an answer by the end of it, or waits for a slot that is still to come.
pub const JOBS: [&str; 10] = [
    "well", "retried", "spent", "first", "second", "own", "open", "sick", "late", "asked",
];

/// What each job is for is its name; the times are in Tokyo, where 02:00 is 17:00 in UTC.
pub fn plan() -> Arc<Plan> {
    let jobs = [
        ("well", "main", "0 2 * * *"),
        ("retried", "main", "6 2 * * *"),
        ("spent", "main", "12 2 * * *"),
        ("first", "tight", "1 2 * * *"),
        ("second", "tight", "7 2 * * *"),
        ("own", "own", "2,32 2 * * *"),
        ("open", "open", "3 2 * * *"),
        ("sick", "sick", "4 2 * * *"),
        ("late", "late", "30 1 * * *"),
        ("asked", "asked", "40 2 * * *"),
    ];
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = jobs.iter().fold(plan, |plan, (id, group, cron)| {
        plan.job(id, group, &[cron]).unwrap()
    });
    let groups = ["main", "tight", "own", "open", "sick", "late", "asked"];
    let plan = groups.iter().fold(plan, |plan, group| {
        plan.pickup(group, &["20,35,50 2 * * *", "20 3 * * *"])
            .unwrap()
    });
    let plan = plan
        .with_job("own", |planned| planned.defer.rule = DeferRule::OwnSlot)
        .with_job("open", |planned| planned.defer.rule = DeferRule::OpenSlot)
        .with_jobs(|planned| planned.defer.max = 9)
        // A person's run that is lost is past its lease within the night.
        .with_job("asked", |planned| planned.job.timeout = seconds(60))
        .build();
    let mut plan = (*plan).clone();
    for (id, group) in &mut plan.groups {
        match id.as_str() {
            "tight" => {
                group.guard.budget = BudgetPolicy::new(1, Duration::from_mins(10)).unwrap();
            }
            "sick" => {
                group.guard.breaker.min_samples = 2.try_into().unwrap();
            }
            _ => {}
        }
    }
    Arc::new(plan)
}

/// The first requests of some jobs fail; the rest is answered in two seconds.
pub fn upstream(clock: &VirtualClock) -> SimUpstream {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    SimUpstream::new(clock, move |_, request| {
        let job = request.prompt.split(' ').next().unwrap().to_owned();
        let n = seen.entry(job.clone()).or_default();
        *n += 1;
        let overloaded = Scripted::status(529, "overloaded_error", None);
        match (job.as_str(), *n) {
            ("retried" | "sick", 1..=2) | ("spent" | "own" | "open", 1..=3) => overloaded,
            ("asked", 1) => Scripted::status(429, "rate_limit_error", Some(seconds(120))),
            _ => Scripted::answer(seconds(2), "a complete answer"),
        }
    })
}

/// The house on the eve: its schedules are known, and half an hour has passed without a daemon.
pub fn house() -> House {
    let house = House::new(SINCE, plan(), upstream);
    house.live_for(seconds(10));
    let rest = (at(START) - house.clock.now()).to_std().unwrap();
    house.pass(rest);
    house
}

/// A person asks for a run while the night goes on.
pub async fn person(house: &House) {
    house.until("2026-12-01T16:55").await;
    let asked = Asked {
        plan: house.plans.borrow().clone(),
        job: job("asked"),
        fire_at: house.clock.now(),
    };
    let run = run_once(house.world(), asked, house.stop.subscribe(), house.sender());
    // What the person is told is no matter here: the store holds what must not be lost.
    let _told = run.await;
}

/// One life of the daemon beside a person: to the end of the night, or to a crash.
pub fn live(house: &House) {
    let serving = async {
        // A start that fails is tried again, as systemd does.
        while house.served().await.is_err() {
            house.clock.sleep(seconds(5)).await;
        }
    };
    let both = async {
        futures_util::future::join(serving, person(house)).await;
    };
    let limit = house.clock.elapsed() + left(house);
    sim::run_until(&house.clock, limit, until_dead(house, both));
}

/// A daemon that works from here on, to the end of the night.
pub fn rest(house: &House) {
    house.live_for(left(house));
}

/// Polls a life until it ends or the gate says that the process is dead.
async fn until_dead(house: &House, life: impl Future<Output = ()>) {
    let mut life = pin!(life);
    std::future::poll_fn(|context| {
        let polled = life.as_mut().poll(context);
        if house.gate.is_dead() {
            return Poll::Ready(());
        }
        polled
    })
    .await;
}

pub fn left(house: &House) -> Duration {
    (at(END) - house.clock.now()).to_std().unwrap()
}

/// What must hold in the morning, whatever happened.
pub fn check(house: &House, context: &dyn Debug) {
    house.check(at(SINCE), at(END));
    check_work(house, context);
}

/// As [`check`], for a night whose plan was changed on the way.
pub fn check_work(house: &House, context: &dyn Debug) {
    let said = |text: String| format!("{context:?}: {text}\n{:#?}", house.store.runs());
    house.check_rows();
    // Only what came too late for the night may wait, and it waits for a slot.
    for waiting in house.pending() {
        let is_ahead = waiting.wait.to.is_some_and(|to| to > at(END));
        assert!(is_ahead, "{}", said(format!("lost: {waiting:#?}")));
    }
    let delivered = house.workspace.delivered();
    for id in JOBS {
        let is_done = delivered.iter().any(|(slot, _)| slot.job.as_str() == id);
        let waits = house.pending().iter().any(|it| it.slot.job.as_str() == id);
        assert!(is_done || waits, "{}", said(format!("{id} has no answer")));
    }
    // Each request is an attempt on record of a run of its slot, and what may have been billed says so.
    let mut attempts: BTreeMap<String, usize> = BTreeMap::new();
    for run in house.store.runs() {
        let head = format!("{} {}", run.job, run.fire_at.format("%Y-%m-%dT%H:%MZ"));
        *attempts.entry(head).or_default() += run.attempts.len();
        let is_open = run.attempts.iter().any(|attempt| attempt.end.is_none());
        assert!(!is_open || run.note.is_some(), "{run:?} says nothing");
    }
    for sent in house.upstream.sent() {
        let head = sent.request.prompt.lines().next().unwrap();
        let left = attempts.get_mut(head).filter(|left| **left > 0);
        let left = left.unwrap_or_else(|| panic!("{}", said(format!("{head} is not on record"))));
        *left -= 1;
    }
}
