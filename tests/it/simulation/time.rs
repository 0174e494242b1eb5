//! Clocks that step, machines that sleep, daemons that were away.

use std::time::Duration;

use chrono::TimeDelta;
use offpeak::engine::Notice;
use offpeak::engine::keep::DeferralState;
use offpeak::engine::ports::Clock;
use offpeak::schedule::Missed;
use offpeak::sim::SimUpstream;

use super::harness::{House, at, rotation, seconds, single};

/// A night in which the wall clock steps once.
fn stepped(when: &str, by: TimeDelta) -> House {
    let house = House::new("2026-12-01T16:50", rotation().build(), SimUpstream::healthy);
    let script = async {
        house.until(when).await;
        house.clock.step(by);
    };
    house.live_beside(Duration::from_hours(20), script);
    house
}

#[test]
fn a_step_forward_over_a_slot_catches_it_up() {
    let house = stepped("2026-12-01T16:55", TimeDelta::minutes(30));
    assert_eq!(house.runs()[0], "a scheduled: yielded: missed");
    assert_eq!(house.sends()[..2], ["b@17:45:00", "a@17:45:01"]);
    house.check(at("2026-12-01T16:50"), at("2026-12-02T13:00"));
}

#[test]
fn a_step_forward_to_just_after_a_slot_fires_it_within_its_grace() {
    let house = stepped("2026-12-01T16:55", TimeDelta::seconds(280));
    assert_eq!(house.runs()[0], "a scheduled: succeeded");
}

#[test]
fn a_step_forward_is_seen_within_half_a_minute() {
    let house = stepped("2026-12-01T16:55", TimeDelta::minutes(30));
    let missed = &house.store.runs()[0];
    let seen = missed.finished_at.unwrap() - at("2026-12-01T17:25");
    assert!(seen <= TimeDelta::seconds(30), "{seen}");
}

#[test]
fn a_small_step_back_fires_nothing_twice() {
    let mut house = stepped("2026-12-01T17:10", TimeDelta::hours(-1));
    assert_eq!(
        house.sends(),
        ["a@17:00:00", "b@17:45:00", "c@19:00:00", "d@19:45:00"]
    );
    assert!(
        !house
            .told()
            .iter()
            .any(|notice| matches!(notice, Notice::SteppedBack { .. }))
    );
    house.check_deliveries();
}

#[test]
fn a_long_step_back_is_adopted_and_said_and_fires_nothing_twice() {
    let mut house = stepped("2026-12-01T20:00", TimeDelta::hours(-5));
    // The old time comes again; the slots that were dealt with in it stay dealt with.
    assert_eq!(
        house.sends(),
        ["a@17:00:00", "b@17:45:00", "c@19:00:00", "d@19:45:00"]
    );
    let told = house.told();
    let back = told.iter().find_map(|notice| match notice {
        Notice::SteppedBack { from, to } => Some((*from, *to)),
        _ => None,
    });
    let (from, to) = back.unwrap();
    assert!(from - to > TimeDelta::hours(4) && to >= at("2026-12-01T15:00"));
    house.check(at("2026-12-01T14:50"), at("2026-12-02T07:50"));
}

#[test]
fn a_clock_that_was_a_year_ahead_does_not_keep_a_new_schedule_waiting() {
    let house = House::new("2027-12-01T03:00", rotation().build(), SimUpstream::healthy);
    house.live_for(Duration::from_mins(10));
    house.clock.step(TimeDelta::days(-365));
    house.live_for(Duration::from_hours(24));
    assert_eq!(
        house.sends(),
        ["a@17:00:00", "b@17:45:00", "c@19:00:00", "d@19:45:00"]
    );
}

#[test]
fn a_week_away_leaves_one_catch_up_a_job_and_no_stampede() {
    let house = House::new("2026-12-01T16:50", rotation().build(), SimUpstream::healthy);
    house.live_until("2026-12-01T21:00");
    let healthy = house.sends().len();
    house.pass(Duration::from_hours(24 * 7));
    house.live_for(seconds(60));
    assert_eq!(
        house.sends().len(),
        healthy,
        "nothing is sent at the start itself"
    );
    assert_eq!(house.pending().len(), 4);
    house.live_until("2026-12-09T21:00");
    // `a` is merged with its own slot; the others are carried there one at a time.
    assert_eq!(
        house.sends()[healthy..],
        [
            "a@17:00:00",
            "b@17:00:01",
            "c@17:00:02",
            "d@17:00:03",
            "b@17:45:00",
            "c@19:00:00",
            "d@19:45:00"
        ]
    );
    let states: Vec<DeferralState> = house
        .store
        .all_deferrals()
        .into_iter()
        .map(|row| row.state)
        .collect();
    assert_eq!(
        states
            .iter()
            .filter(|state| **state == DeferralState::Done)
            .count(),
        3
    );
    house.check(at("2026-12-01T16:50"), at("2026-12-09T21:00"));
    house.check_deliveries();
}

#[test]
fn a_job_that_skips_missed_slots_records_them_and_nothing_else() {
    let plan = single().with_job("a", |planned| planned.missed = Missed::Skip);
    let house = House::new("2026-12-01T16:50", plan.build(), SimUpstream::healthy);
    house.live_for(seconds(60));
    house.pass(Duration::from_hours(48));
    house.live_for(seconds(60));
    assert_eq!(
        house.runs(),
        [
            "a scheduled: skipped: missed",
            "a scheduled: skipped: missed"
        ]
    );
    assert!(house.pending().is_empty());
}

#[test]
fn a_job_that_was_never_seen_has_missed_nothing() {
    let house = House::new("2026-12-01T16:50", single().build(), SimUpstream::healthy);
    house.live_until("2026-12-01T17:10");
    house.pass(Duration::from_hours(24));
    house.plans.send_replace(rotation().build());
    house.live_for(seconds(60));
    assert_eq!(
        house.runs(),
        ["a scheduled: succeeded", "a scheduled: yielded: missed"]
    );
}

#[test]
fn a_crash_before_the_first_slot_misses_nothing() {
    let house = House::new("2026-12-01T16:50", single().build(), SimUpstream::healthy);
    house.live_for(seconds(1));
    house.pass(Duration::from_hours(2));
    house.live_for(seconds(1));
    assert_eq!(house.runs(), ["a scheduled: yielded: missed"]);
}

#[test]
fn an_idle_daemon_sees_a_moved_clock_within_half_a_minute() {
    let mut house = House::new("2026-12-01T00:00", single().build(), SimUpstream::healthy);
    let script = async {
        house.clock.sleep(seconds(3600)).await;
        house.clock.step(TimeDelta::hours(-4));
        house.clock.sleep(seconds(30)).await;
    };
    house.live_beside(seconds(3630), script);
    let told = house.told();
    assert!(
        matches!(told.last(), Some(Notice::SteppedBack { .. })),
        "{told:?}"
    );
    assert!(house.sends().is_empty());
}
