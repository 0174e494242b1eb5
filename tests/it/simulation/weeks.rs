//! Weeks of six sites against everything that an upstream does, with restarts and moved clocks.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::answer::{FailureKind, StopReason};
use offpeak::engine::Plan;
use offpeak::engine::keep::DeferralState;
use offpeak::engine::ports::{Clock, Dice};
use offpeak::guard::{BreakerState, BudgetPolicy};
use offpeak::job::GroupId;
use offpeak::outcome::Outcome;
use offpeak::sim::{Scripted, SimDice, SimPlan, SimUpstream, VirtualClock};

use super::harness::{House, at, seconds};

const SITES: [&str; 6] = ["berlin", "kyoto", "lima", "oslo", "perth", "quito"];

/// Six groups, each with the rotation, a job that fires eight times a night, and a pickup slot.
fn sites() -> Arc<Plan> {
    let plan = SITES
        .iter()
        .fold(SimPlan::new("Asia/Tokyo").unwrap(), |plan, site| {
            let crons = ["0 2 * * *", "45 2 * * *", "0 4 * * *", "45 4 * * *"];
            let plan = crons.iter().enumerate().fold(plan, |plan, (n, cron)| {
                plan.job(&format!("{site}-{n}"), site, &[cron]).unwrap()
            });
            let plan = plan
                .job(&format!("{site}-often"), site, &["15 10-17 * * *"])
                .unwrap();
            plan.pickup(site, &["30 5 * * *", "45 17 * * *"]).unwrap()
        });
    plan.with_guards(|guard| guard.budget = BudgetPolicy::new(5, seconds(60)).unwrap())
        .build()
}

/// An upstream that is unwell a third of the time, and down for 30 hours.
fn unwell(seed: u64) -> impl FnOnce(&VirtualClock) -> SimUpstream {
    let dice = SimDice::seeded(seed);
    let down = at("2026-12-05T12:00")..at("2026-12-06T18:00");
    move |clock| {
        SimUpstream::new(clock, move |now, _| {
            if down.contains(&now) {
                return Scripted::broken(seconds(2), FailureKind::Connect);
            }
            reply(dice.draw(), dice.draw())
        })
    }
}

fn reply(which: f64, how: f64) -> Scripted {
    let latency = Duration::from_secs_f64(2.0 + how * 90.0);
    let hint = Duration::from_secs_f64(how * 60.0);
    match which {
        ..0.66 => Scripted::answer(latency, "a complete answer"),
        ..0.74 => Scripted::status(429, "rate_limit_error", Some(hint)),
        ..0.84 => Scripted::status(529, "overloaded_error", None),
        ..0.88 => Scripted::broken(latency, FailureKind::Cut),
        ..0.91 => Scripted::answer(Duration::from_mins(20), "too late"),
        ..0.93 => Scripted::stopped(latency, "half", StopReason::MaxTokens),
        ..0.95 => Scripted::status(429, "rate_limit_error", Some(hint * 100)),
        _ => Scripted::status(500, "api_error", None),
    }
}

/// Lets the sites come to rest in good health, and looks at everything.
fn come_to_rest(house: &House, since: DateTime<Utc>) {
    house.check(since, house.clock.now());
    let deferrals = house.store.all_deferrals();
    assert!(deferrals.len() > 20, "only {} deferrals", deferrals.len());
    let done = deferrals
        .iter()
        .filter(|row| row.state == DeferralState::Done)
        .count();
    assert!(
        done * 4 > deferrals.len(),
        "{done} of {} were picked up",
        deferrals.len()
    );
    for row in &deferrals {
        let is_late = row.state == DeferralState::Pending
            && row.deferral.wait.not_before < house.clock.now() - TimeDelta::days(2);
        assert!(!is_late, "nobody takes {row:?}");
    }
    for site in SITES {
        let guard = house.store.guard(&GroupId::new(site));
        assert_eq!(guard.breaker.state, BreakerState::Closed, "{site}");
    }
}

#[test]
fn two_weeks_of_six_sites_end_every_slot_and_keep_every_bound() {
    for seed in 1..=3 {
        let house = House::new("2026-12-01T12:00", sites(), unwell(seed));
        house.live_until("2026-12-15T12:00");
        // A request that is under way at the end is the only thing that may be open.
        let house = settled(house);
        come_to_rest(&house, at("2026-12-01T12:00"));
        house.check_budgets();
        house.check_deliveries();
        let outcomes = outcomes(&house);
        for word in ["succeeded", "yielded", "exhausted", "incomplete"] {
            assert!(
                outcomes.iter().any(|outcome| outcome.as_str() == word),
                "seed {seed}: no run is {word}"
            );
        }
        assert_eq!(house.store.slots().len(), 14 * 6 * 12);
    }
}

#[test]
fn four_weeks_with_restarts_moved_clocks_and_a_week_away_end_every_slot() {
    for seed in 1..=3 {
        let house = House::new("2026-12-01T12:00", sites(), unwell(seed));
        let dice = SimDice::seeded(seed);
        let mut is_away = false;
        while house.clock.elapsed() < Duration::from_hours(24 * 28) {
            house.live_for(Duration::from_secs_f64(dice.draw() * 40_000.0));
            // Under three hours: the schedule that is checked goes on from where it was.
            let step = Duration::from_secs_f64(dice.draw() * 7200.0);
            let step = TimeDelta::from_std(step).unwrap();
            let is_back = dice.draw() < 0.5;
            if dice.draw() < 0.2 {
                house.clock.step(if is_back { -step } else { step });
            }
            house.pass(Duration::from_secs_f64(dice.draw() * 3000.0));
            if !is_away && house.clock.elapsed() > Duration::from_hours(24 * 14) {
                is_away = true;
                house.pass(Duration::from_hours(24 * 7));
            }
        }
        // Past every instant that a stepped clock has shown, and in the middle of no slot.
        house.live_for(Duration::from_hours(48));
        let house = settled(house);
        come_to_rest(&house, at("2026-12-01T12:00"));
        assert!(
            house
                .runs()
                .iter()
                .any(|run| run.ends_with("yielded: missed"))
        );
    }
}

/// Runs until no slot is in the middle of something, at most an hour.
fn settled(house: House) -> House {
    house.stop.send_replace(offpeak::engine::Stop::Drain);
    assert!(house.live_for(Duration::from_hours(1)).is_some());
    house
}

fn outcomes(house: &House) -> Vec<Outcome> {
    house
        .store
        .runs()
        .into_iter()
        .filter_map(|run| run.outcome)
        .collect()
}
