//! Both clock changes of a year while the daemon runs, in zones that do it each in its own way.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::engine::keep::DeferralState;
use offpeak::engine::ports::Clock;
use offpeak::schedule::{DeferRule, Transition, Zones};
use offpeak::sim::{Scripted, SimPlan, SimUpstream};

use super::harness::{House, at, seconds};

const ZONES: [&str; 4] = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
];

/// A minute in the middle of what clocks skip or go through twice: minutes after midnight.
fn inside(change: Transition) -> i64 {
    // What is skipped begins at the old civil time of the change and ends at the new one; what is repeated, the other way.
    let end = change.at.timestamp() + i64::from(change.before.max(change.after));
    let shift = i64::from((change.after - change.before).abs());
    (end - shift / 2).rem_euclid(86_400) / 60
}

/// A job at a civil time within the change, one that keeps even spacing, and one that defers to an open slot.
fn plan(zone: &str, change: Transition) -> SimPlan {
    let minute = inside(change);
    let fixed = format!("{} {} * * *", minute % 60, minute / 60);
    let plan = SimPlan::new(zone).unwrap();
    let plan = plan.job("fixed", "one", &[&fixed]).unwrap();
    let plan = plan.job("even", "two", &["*/10 * * * *"]).unwrap();
    let plan = plan
        .job("late", "three", &["30 0 * * *", "30 6 * * *"])
        .unwrap();
    plan.with_job("late", |planned| planned.defer.rule = DeferRule::OpenSlot)
}

fn sent_at(house: &House, id: &str) -> Vec<DateTime<Utc>> {
    let sent = house.upstream.sent().into_iter();
    sent.filter(|it| it.request.prompt.starts_with(id))
        .map(|it| it.at)
        .collect()
}

/// Lives over a change, with a restart before it, one in the middle of an hour that may be repeated, and one after.
fn lived(zone: &str, change: Transition) -> House {
    let start = change.at - TimeDelta::hours(12);
    let house = House::new("2026-12-01T00:00", plan(zone, change).build(), |clock| {
        // The first request of `late` yields for an hour, so that its open slot falls into the change.
        let mut is_first = true;
        SimUpstream::new(clock, move |_, request| {
            let yields = request.prompt.starts_with("late") && std::mem::take(&mut is_first);
            if yields {
                Scripted::status(429, "rate_limit_error", Some(Duration::from_hours(1)))
            } else {
                Scripted::answer(seconds(1), "done")
            }
        })
    });
    house.clock.step(start - house.clock.now());
    for until in [-5 * 60, 10 * 60, 12 * 3_600] {
        let until = change.at + TimeDelta::seconds(until);
        house.live_for((until - house.clock.now()).to_std().unwrap() + seconds(30));
    }
    house
}

#[test]
fn every_slot_around_a_clock_change_has_one_outcome_and_fires_when_the_rule_says() {
    // Morocco's clocks changed for Ramadan until 2026.
    let (from, until) = (at("2026-01-15T00:00"), at("2028-01-01T00:00"));
    for name in ZONES {
        let mut changes = Zones::bundled().get(name).unwrap().transitions(from, until);
        changes.truncate(2);
        assert_eq!(changes.len(), 2, "{name}");
        for change in changes {
            let house = lived(name, change);
            let case = format!("{name} at {}: {:?}", change.at, sent_at(&house, "fixed"));
            house.check(change.at - TimeDelta::hours(12), house.clock.now());
            house.check_deliveries();
            house.check_budgets();
            let shift = TimeDelta::seconds((change.after - change.before).abs().into());
            // A time that is skipped happens once, as the clocks jump; one that comes twice happens the first time.
            let once = if change.after > change.before {
                change.at
            } else {
                change.at - shift / 2
            };
            assert_eq!(sent_at(&house, "fixed"), [once], "{case}");
            let even = house.store.slots().into_iter();
            let even: Vec<DateTime<Utc>> = even
                .filter(|(slot, _)| slot.job.as_str() == "even")
                .map(|(slot, _)| slot.fire_at)
                .collect();
            for pair in even.windows(2) {
                assert_eq!(pair[1] - pair[0], TimeDelta::minutes(10), "{case}");
            }
            let late = house.store.all_deferrals().into_iter();
            let late: Vec<DeferralState> = late
                .filter(|row| row.deferral.slot.job.as_str() == "late")
                .map(|row| row.state)
                .collect();
            assert_eq!(late, [DeferralState::Done], "{case}");
        }
    }
}
