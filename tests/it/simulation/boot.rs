//! Boots with a wrong clock that is corrected minutes later.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::engine::Notice;
use offpeak::engine::ports::Clock;
use offpeak::sim::{SimPlan, SimUpstream};

use super::harness::{House, at, rotation, seconds, single};

/// Sets the clock to an instant.
fn set(house: &House, instant: &str) {
    house.clock.step(at(instant) - house.clock.now());
}

/// A boot whose clock shows one time for five minutes and then another.
fn boot(house: &House, wrong: &str, right: &str, span: Duration) {
    set(house, wrong);
    let script = async {
        house.clock.sleep(Duration::from_mins(5)).await;
        set(house, right);
    };
    house.live_beside(span, script);
}

fn was_said(told: &[Notice], which: fn(&Notice) -> bool) -> usize {
    told.iter().filter(|notice| which(notice)).count()
}

#[test]
fn a_first_boot_in_1970_waits_for_the_clock_and_has_missed_nothing() {
    let mut house = House::new("1970-01-01T00:00", rotation().build(), SimUpstream::healthy);
    boot(
        &house,
        "1970-01-01T00:00",
        "2026-12-01T16:50",
        Duration::from_mins(66),
    );
    assert_eq!(house.sends(), ["a@17:00:00", "b@17:45:00"]);
    assert_eq!(house.runs().len(), 2);
    let unset = |notice: &Notice| matches!(notice, Notice::ClockUnset { .. });
    assert_eq!(was_said(&house.told(), unset), 1);
    house.check(at("2026-12-01T16:50"), at("2026-12-01T17:50"));
}

#[test]
fn a_boot_in_1970_with_a_store_that_knows_better_catches_up_what_was_really_missed() {
    let house = House::new("2026-12-01T16:50", rotation().build(), SimUpstream::healthy);
    house.live_until("2026-12-01T17:10");
    boot(
        &house,
        "1970-01-01T00:00",
        "2026-12-01T18:50",
        Duration::from_hours(2),
    );
    assert_eq!(
        house.sends(),
        ["a@17:00:00", "c@19:00:00", "b@19:00:01", "d@19:45:00"]
    );
    house.check(at("2026-12-01T16:50"), at("2026-12-01T20:45"));
}

#[test]
fn a_clock_that_falls_to_1970_while_running_fires_nothing_until_it_is_set_again() {
    let mut house = House::new("2026-12-01T16:50", rotation().build(), SimUpstream::healthy);
    let script = async {
        house.until("2026-12-01T17:10").await;
        set(&house, "1970-01-01T17:00");
        house.clock.sleep(Duration::from_mins(10)).await;
        set(&house, "2026-12-01T17:20");
    };
    house.live_beside(Duration::from_hours(4), script);
    assert_eq!(
        house.sends(),
        ["a@17:00:00", "b@17:45:00", "c@19:00:00", "d@19:45:00"]
    );
    let told = house.told();
    assert_eq!(
        was_said(&told, |it| matches!(it, Notice::ClockUnset { .. })),
        1
    );
    assert_eq!(
        was_said(&told, |it| matches!(it, Notice::SteppedBack { .. })),
        0
    );
    house.check(at("2026-12-01T16:50"), at("2026-12-01T20:50"));
}

/// Once a year's slots had been recorded as missed by a clock that was ahead, their claims kept them from firing.
#[test]
fn a_boot_a_year_ahead_neither_uses_up_the_slots_of_the_year_nor_forgets_last_night() {
    let house = House::new("2026-12-01T16:50", rotation().build(), SimUpstream::healthy);
    house.live_until("2026-12-01T17:10");
    // Away for the rest of the night: `b`, `c` and `d` are missed.
    boot(
        &house,
        "2027-12-03T12:00",
        "2026-12-02T12:00",
        Duration::from_hours(10),
    );
    assert_eq!(
        house.sends()[1..],
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
    let carried: Vec<DateTime<Utc>> = house
        .store
        .runs()
        .iter()
        .filter(|run| run.origin == offpeak::slot::Origin::CatchUp && !run.attempts.is_empty())
        .map(|run| run.fire_at)
        .collect();
    assert_eq!(
        carried,
        ["2026-12-01T17:45", "2026-12-01T19:00", "2026-12-01T19:45"].map(at),
        "last night's work has last night's date"
    );
    house.check_runs();
    house.audit();
    house.live_for(Duration::from_hours(48));
    let nights = house.sends().len() - 8;
    assert_eq!(nights, 8, "two more nights: {:?}", house.sends());
    house.audit();
}

#[test]
fn slots_of_a_clock_that_was_hours_ahead_fire_when_their_time_really_comes() {
    let house = House::new("2026-12-01T12:00", rotation().build(), SimUpstream::healthy);
    let script = async {
        house.clock.sleep(seconds(600)).await;
        house.clock.step(TimeDelta::hours(9));
        house.clock.sleep(seconds(600)).await;
        house.clock.step(TimeDelta::hours(-9));
    };
    house.live_beside(Duration::from_mins(485), script);
    assert_eq!(
        house.sends(),
        ["a@17:00:00", "b@17:45:00", "c@19:00:00", "d@19:45:00"]
    );
    house.check(at("2026-12-01T12:00"), at("2026-12-01T20:04"));
    house.check_deliveries();
}

#[test]
fn a_boot_months_behind_does_not_date_jobs_before_they_were_made() {
    let house = House::new("2026-12-01T16:50", single().build(), SimUpstream::healthy);
    house.live_until("2026-12-01T17:10");
    boot(
        &house,
        "2026-03-01T12:00",
        "2026-12-02T16:50",
        Duration::from_mins(30),
    );
    assert_eq!(house.sends(), ["a@17:00:00", "a@17:00:00"]);
    house.check(at("2026-12-01T16:50"), at("2026-12-02T17:15"));
}

#[test]
fn a_jump_of_thirty_years_records_a_day_of_minutes_and_catches_up_one() {
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = plan.job("often", "main", &["* * * * *"]).unwrap();
    let plan = plan.job("yearly", "main", &["0 2 1 3 *"]).unwrap();
    let mut house = House::new("2026-12-01T16:00", plan.build(), SimUpstream::healthy);
    house.live_for(seconds(30));
    house.clock.step(TimeDelta::days(30 * 365));
    house.live_for(seconds(15));
    let runs = house.store.runs();
    let of = |id: &str| runs.iter().filter(|run| run.job.as_str() == id).count();
    assert_eq!((of("often"), of("yearly")), (1_440, 30));
    // The last minute is within its grace and fires; the last first of March waits for a slot.
    assert_eq!((house.pending().len(), house.sends().len()), (1, 1));
    let skipped = house.told().into_iter().find_map(|notice| match notice {
        Notice::SpanSkipped {
            schedules, most, ..
        } => Some((schedules, most)),
        _ => None,
    });
    assert_eq!(skipped, Some((1, 1_440)));
    house.audit();
}

#[test]
fn the_stop_signal_ends_the_wait_for_a_clock_that_is_not_set() {
    let house = House::new("1970-01-01T00:00", single().build(), SimUpstream::healthy);
    let script = async {
        house.clock.sleep(seconds(12)).await;
        house.stop.send_replace(offpeak::engine::Stop::Drain);
    };
    let drained = house.live_beside(seconds(13), script).unwrap();
    assert_eq!((drained.running, drained.unclosed), (0, 0));
    assert_eq!(house.store.ledger().watermark, None);
}
