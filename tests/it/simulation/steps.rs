//! Steps of the wall clock of every size, at every kind of moment.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::engine::Notice;
use offpeak::engine::Plan;
use offpeak::engine::pause::{Pause, PauseTarget};
use offpeak::engine::ports::Clock;
use offpeak::guard::BudgetPolicy;
use offpeak::outcome::{Outcome, SkipReason, YieldReason};
use offpeak::schedule::DeferRule;
use offpeak::sim::{Scripted, SimPlan, SimUpstream};

use super::harness::{House, at, job, seconds};

/// Slots every two hours outside the peaks: 14:00 to 20:00 and 00:00 to 08:00 in UTC.
fn every_two_hours() -> SimPlan {
    let jobs = [
        ("a", "0 9,15,1 * * *"),
        ("b", "0 11,17,3 * * *"),
        ("c", "0 13,23,5 * * *"),
    ];
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    jobs.iter().fold(plan, |plan, (id, cron)| {
        plan.job(id, "main", &[cron]).unwrap()
    })
}

/// What goes on when the clock steps: the slot of 16:00 is `a`'s.
struct Moment {
    name: &'static str,
    at: &'static str,
    plan: fn() -> Arc<Plan>,
    /// What the first request of `a` meets.
    first: fn() -> Scripted,
}

fn healthy() -> Scripted {
    Scripted::answer(seconds(1), "done")
}

fn slow() -> Scripted {
    Scripted::answer(seconds(60), "after a minute")
}

fn asks_for_a_wait_within_the_run() -> Scripted {
    Scripted::status(429, "rate_limit_error", Some(seconds(20)))
}

fn asks_for_a_longer_wait() -> Scripted {
    Scripted::status(429, "rate_limit_error", Some(Duration::from_mins(30)))
}

fn plain() -> Arc<Plan> {
    every_two_hours().build()
}

fn open() -> Arc<Plan> {
    every_two_hours()
        .with_jobs(|planned| planned.defer.rule = DeferRule::OpenSlot)
        .build()
}

fn own() -> Arc<Plan> {
    every_two_hours()
        .with_jobs(|planned| planned.defer.rule = DeferRule::OwnSlot)
        .build()
}

const MOMENTS: [Moment; 7] = [
    Moment {
        name: "idle",
        at: "2026-12-01T15:00:00Z",
        plan: plain,
        first: healthy,
    },
    Moment {
        name: "just before a slot",
        at: "2026-12-01T15:59:58Z",
        plan: plain,
        first: healthy,
    },
    Moment {
        name: "an attempt in flight",
        at: "2026-12-01T16:00:10Z",
        plan: plain,
        first: slow,
    },
    Moment {
        name: "between retries",
        at: "2026-12-01T16:00:10Z",
        plan: plain,
        first: asks_for_a_wait_within_the_run,
    },
    Moment {
        name: "a deferral and a hold",
        at: "2026-12-01T16:10:00Z",
        plan: plain,
        first: asks_for_a_longer_wait,
    },
    Moment {
        name: "an open-slot promise",
        at: "2026-12-01T16:10:00Z",
        plan: open,
        first: asks_for_a_longer_wait,
    },
    Moment {
        name: "an own-slot deferral",
        at: "2026-12-01T16:10:00Z",
        plan: own,
        first: asks_for_a_longer_wait,
    },
];

/// Seconds to a minute, just under and over the grace, an hour, just under and over the long step, a day, and most of a
/// year: no clock from before 2026 is believed.
const SIZES: [i64; 9] = [5, 59, 60, 61, 3_600, 10_799, 10_860, 86_400, 300 * 86_400];

fn house(moment: &Moment) -> House {
    let first = moment.first;
    House::new("2026-12-01T13:00", (moment.plan)(), move |clock| {
        let mut first = Some(first());
        SimUpstream::new(clock, move |_, request| {
            let is_ours = request.prompt.starts_with("a ");
            let scripted = if is_ours { first.take() } else { None };
            scripted.unwrap_or_else(|| Scripted::answer(seconds(1), "done"))
        })
    })
}

fn live(moment: &Moment, by: TimeDelta) -> House {
    let house = house(moment);
    let when: DateTime<Utc> = moment.at.parse().unwrap();
    let script = async {
        let span = (when - house.clock.now()).to_std().unwrap();
        house.clock.sleep(span).await;
        house.clock.step(by);
    };
    // Until 23:20 had the clock not stepped: no slot is near.
    house.live_beside(Duration::from_mins(620), script);
    house
}

/// Whether a slot was in time: it was sent for, or a gate refused it.
fn was_in_time(house: &House, id: &str, fire_at: DateTime<Utc>) -> bool {
    let runs = house.store.runs();
    let own = runs
        .iter()
        .find(|run| run.job == job(id) && run.fire_at == fire_at);
    own.is_some_and(|run| {
        !matches!(
            run.outcome,
            Some(Outcome::Skipped(SkipReason::Missed) | Outcome::Yielded(YieldReason::Missed))
        )
    })
}

fn check(house: &House, from: DateTime<Utc>, case: &str) {
    let until = house.clock.now();
    house.check_runs();
    house.check_sends();
    house.check_deliveries();
    house.audit();
    let plan = house.plans.borrow().clone();
    for planned in plan.jobs.values() {
        for fire_at in planned.timetable.between(from, until) {
            let id = planned.job.id.as_str();
            assert!(
                was_in_time(house, id, fire_at),
                "{case}: {id} at {fire_at} was passed over"
            );
        }
    }
    let sent = house.upstream.sent();
    for span in sent.windows(7) {
        let width = (span[6].at - span[0].at).abs();
        assert!(
            width > TimeDelta::minutes(1),
            "{case}: a stampede, {:?}",
            house.sends()
        );
    }
}

#[test]
fn no_step_of_any_size_at_any_moment_fires_twice_or_stampedes_or_silences_a_slot() {
    for moment in &MOMENTS {
        for size in SIZES.iter().flat_map(|size| [*size, -*size]) {
            let by = TimeDelta::seconds(size);
            let mut house = live(moment, by);
            let stepped_at = moment.at.parse::<DateTime<Utc>>().unwrap() + by;
            let case = format!("{} {size} s, {:?}", moment.name, house.sends());
            // What the step jumps over by more than the grace is missed, and seen within half a minute.
            check(&house, stepped_at + TimeDelta::seconds(31), &case);
            let told = house.told();
            let said = told
                .iter()
                .any(|it| matches!(it, Notice::SteppedBack { .. }));
            assert_eq!(said, size < -10_830, "{case}");
        }
    }
}

#[test]
fn work_that_waits_is_done_within_the_day_whatever_the_step() {
    for moment in MOMENTS
        .iter()
        .filter(|moment| moment.name.contains("deferral"))
    {
        for size in SIZES.iter().flat_map(|size| [*size, -*size]) {
            let house = live(moment, TimeDelta::seconds(size));
            house.live_for(Duration::from_hours(20));
            let case = format!("{} {size} s, {:?}", moment.name, house.sends());
            let left = house.pending();
            assert!(
                left.iter().all(|it| it.slot.fire_at > house.clock.now()),
                "{case}: {left:?}"
            );
        }
    }
}

#[test]
fn a_suspend_during_a_request_is_a_step_and_the_answer_counts() {
    for (asleep, next) in [
        (TimeDelta::seconds(50), "b@18:00:00"),
        (TimeDelta::hours(5), "a@00:00:00"),
    ] {
        let moment = &MOMENTS[2];
        let house = live(moment, asleep);
        assert_eq!(house.runs()[1], "a scheduled: succeeded", "{asleep}");
        assert_eq!(house.sends()[2], next, "{asleep}");
    }
}

#[test]
fn a_machine_that_slept_over_a_slot_fires_it_within_the_grace_and_catches_it_up_after_it() {
    let idle = &MOMENTS[0];
    let within = live(idle, TimeDelta::minutes(60) + TimeDelta::seconds(20));
    assert!(
        within.sends()[1].starts_with("a@16:00:"),
        "{:?}",
        within.sends()
    );
    let after = live(idle, TimeDelta::minutes(63));
    assert_eq!(after.runs()[1], "a scheduled: yielded: missed");
    assert_eq!(after.sends()[1..3], ["b@18:00:00", "a@18:00:01"]);
}

/// Something is on record of a group from a clock that is a year ahead; then the clock is set back.
fn set_back_a_year(plan: Arc<Plan>, first: Scripted) -> House {
    let house = House::new("2027-12-01T15:50", plan, |clock| {
        SimUpstream::scripted(clock, [first])
    });
    house.live_for(Duration::from_mins(20));
    assert_eq!(house.sends(), ["a@16:00:00"]);
    house.clock.step(TimeDelta::days(-365));
    house.live_for(Duration::from_hours(5));
    house.audit();
    house
}

#[test]
fn a_budget_spent_in_the_future_does_not_block_the_group() {
    let one_an_hour = BudgetPolicy::new(1, Duration::from_hours(1)).unwrap();
    let plan = every_two_hours().with_guards(|guard| guard.budget = one_an_hour);
    let house = set_back_a_year(plan.build(), Scripted::answer(seconds(1), "done"));
    // What was sent counts for the budget's hour once more, from the next attempt at 18:00 on, and no longer.
    assert_eq!(house.sends()[1..], ["c@20:00:00"]);
}

#[test]
fn a_breaker_opened_in_the_future_does_not_stay_open() {
    let opened = Scripted::broken(seconds(1), offpeak::answer::FailureKind::Connect);
    let plan = every_two_hours().with_guards(|guard| guard.breaker.min_samples = NonZeroU32::MIN);
    let house = set_back_a_year(plan.build(), opened);
    assert_eq!(
        house.sends()[1..],
        ["b@18:00:00", "a@18:00:01", "c@20:00:00"]
    );
}

#[test]
fn a_hold_placed_in_the_future_moves_with_the_clock() {
    let house = set_back_a_year(plain(), asks_for_a_longer_wait());
    // The yielded work is a year old by its slot's date, and goes with the next slot all the same.
    assert_eq!(
        house.sends()[1..],
        ["b@18:00:00", "a@18:00:01", "c@20:00:00"]
    );
}

#[test]
fn a_pause_with_an_end_holds_until_it_whatever_the_clock_did_in_between() {
    let house = House::new("2026-12-01T15:50", plain(), SimUpstream::healthy);
    house.store.pause(Pause {
        target: PauseTarget::Job(job("a")),
        since: house.clock.now(),
        until: Some(at("2026-12-02T01:00")),
        reason: None,
        ended_at: None,
    });
    let script = async {
        house.until("2026-12-01T15:55").await;
        house.clock.step(TimeDelta::days(-1));
        house.clock.sleep(seconds(60)).await;
        house.clock.step(TimeDelta::days(1));
    };
    house.live_beside(Duration::from_hours(17), script);
    let of_a: Vec<String> = house
        .sends()
        .into_iter()
        .filter(|it| it.starts_with('a'))
        .collect();
    assert_eq!(of_a, ["a@06:00:00"]);
    house.audit();
}
