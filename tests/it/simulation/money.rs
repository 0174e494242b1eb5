//! Caps in dollars over whole nights: `max_cost` of a run, and the day of a group. A token costs a thousandth of a cent.

use offpeak::answer::FailureKind;
use offpeak::guard::{BudgetPolicy, DollarCaps};
use offpeak::money::Dollars;
use offpeak::sim::{Scripted, SimPlan, SimUpstream};

use super::harness::{House, seconds, single};

const START: &str = "2026-11-30T16:00";

fn cents(cents: u64) -> Dollars {
    Dollars::from_nanos(cents * 10_000_000)
}

/// A group that may spend so many cents a day; an attempt of its job may cost four.
fn a_day(plan: SimPlan, day: u64) -> SimPlan {
    let caps = DollarCaps {
        day: Some(cents(day)),
        month: None,
    };
    plan.with_guards(|guard| {
        let calls = BudgetPolicy::new(30, seconds(60)).unwrap();
        guard.budget = calls.costing(caps);
    })
}

fn capped(max_cost: u64) -> SimPlan {
    single().with_jobs(|planned| planned.job.max_cost = Some(cents(max_cost)))
}

fn night(plan: SimPlan, script: impl IntoIterator<Item = Scripted>) -> House {
    let list: Vec<Scripted> = script.into_iter().collect();
    let house = House::new(START, plan.build(), |clock| {
        SimUpstream::scripted(clock, list)
    });
    house.live_until("2026-11-30T18:00");
    house
}

#[test]
fn a_run_that_fits_goes_and_costs_what_it_used() {
    let house = night(capped(4), []);
    assert_eq!(house.runs(), ["a scheduled: succeeded"]);
    // Seventeen letters are five tokens.
    let cost = house.store.runs()[0].cost_usd;
    assert_eq!(cost, Some(Dollars::from_nanos(50_000)));
    house.audit();
}

#[test]
fn a_call_that_is_too_dear_for_any_run_fails_and_sends_nothing() {
    let house = night(capped(3), []);
    assert_eq!(house.runs(), ["a scheduled: failed: max_cost"]);
    let note = house.store.runs()[0].note.clone().unwrap();
    assert!(
        note.contains("one call may cost $0.04, and `max_cost` is $0.03"),
        "{note}"
    );
    assert!(house.sends().is_empty() && house.pending().is_empty());
}

#[test]
fn a_call_that_is_too_dear_for_any_day_fails_and_does_not_wait_for_ever() {
    let house = night(a_day(single(), 3), []);
    assert_eq!(house.runs(), ["a scheduled: failed: over_budget"]);
    assert!(house.sends().is_empty() && house.pending().is_empty());
}

#[test]
fn a_retry_that_may_cost_too_much_is_left_to_a_later_run() {
    // The first attempt was cut and may have been billed; a second could make eight cents of it.
    let cut = Scripted::broken(seconds(3), FailureKind::Cut);
    let house = night(capped(7), [cut]);
    assert_eq!(house.runs(), ["a scheduled: yielded: max_cost"]);
    assert_eq!(house.sends().len(), 1);
    assert_eq!(house.pending().len(), 1);
    house.audit();
}

#[test]
fn a_retry_after_an_attempt_that_was_free_has_all_of_the_cap() {
    let overloaded = Scripted::status(529, "overloaded_error", None);
    let house = night(capped(4), [overloaded]);
    assert_eq!(house.runs(), ["a scheduled: succeeded"]);
    assert_eq!(house.sends().len(), 2);
}

#[test]
fn a_full_day_yields_until_midnight_of_utc() {
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = plan.job("a", "main", &["0 2 * * *", "0 3 * * *"]).unwrap();
    let cut = Scripted::broken(seconds(3), FailureKind::Cut);
    let plan = a_day(plan, 7).with_jobs(|planned| planned.job.description = None);
    let house = House::new(START, plan.build(), |clock| {
        SimUpstream::scripted(clock, [cut])
    });
    house.live_until("2026-11-30T17:30");
    assert_eq!(house.runs(), ["a scheduled: yielded: dollars"]);
    let wait = house.pending().remove(0).wait;
    assert_eq!(wait.not_before.to_string(), "2026-12-01 00:00:00 UTC");
    // What the cut attempt may have cost counts to the day's end, after a crash as well.
    house.live_until("2026-11-30T18:30");
    assert_eq!(
        house.runs().last().unwrap(),
        "a scheduled: yielded: dollars"
    );
    assert_eq!(house.sends().len(), 1);
    // The next night is another day of UTC.
    house.live_until("2026-12-01T18:30");
    let last = house.runs().pop().unwrap();
    assert!(last.ends_with("succeeded"), "{last}");
    house.audit();
}

#[test]
fn answers_that_cost_little_leave_room_for_many() {
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = plan.job("a", "main", &["0 0-6 * * *"]).unwrap();
    let house = House::new(START, a_day(plan, 5).build(), SimUpstream::healthy);
    house.live_until("2026-11-30T22:00");
    assert_eq!(house.runs().len(), 5);
    assert!(
        house.runs().iter().all(|run| run.ends_with("succeeded")),
        "{:?}",
        house.runs()
    );
}
