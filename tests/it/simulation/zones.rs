//! Zone data that changes under the daemon, while it runs and between two runs.

use std::sync::Arc;
use std::time::Duration;

use offpeak::engine::{Notice, Plan};
use offpeak::schedule::Zones;
use offpeak::sim::{SimPlan, SimUpstream};

use super::gate::Deed;
use super::harness::{House, at, rotation};

/// The rotation by other offsets of Tokyo, as they are written down.
fn by_offsets(plan: SimPlan, offsets: &str) -> Arc<Plan> {
    let zone = Zones::recorded("Asia/Tokyo", offsets).unwrap();
    plan.with_jobs(|planned| planned.timetable = planned.timetable.in_zone(zone.clone()))
        .build()
}

/// How the new data comes.
#[derive(Clone, Copy, Debug)]
enum Comes {
    WhileItRuns,
    BetweenTwoRuns,
}

/// A night of the rotation in which the data changes at half past five: `a` has fired and `b` has not.
fn upgraded(offsets: &str, comes: Comes) -> House {
    let house = House::new(
        "2026-12-01T16:50",
        by_offsets(rotation(), "32400"),
        SimUpstream::healthy,
    );
    let new = by_offsets(rotation(), offsets);
    match comes {
        Comes::WhileItRuns => {
            let script = async {
                house.until("2026-12-01T17:30").await;
                house.plans.send_replace(new);
            };
            house.live_beside(Duration::from_hours(5), script);
        }
        Comes::BetweenTwoRuns => {
            house.live_until("2026-12-01T17:29");
            house.plans.send_replace(new);
            house.pass(Duration::from_mins(1));
            house.live_until("2026-12-01T21:50");
        }
    }
    house.check_runs();
    house.check_deliveries();
    house.audit();
    house
}

fn changes(house: &mut House) -> Vec<(Vec<String>, usize, usize)> {
    let told = house.told().into_iter();
    told.filter_map(|notice| match notice {
        Notice::ZonesChanged {
            zones,
            again,
            behind,
        } => Some((zones, again, behind)),
        _ => None,
    })
    .collect()
}

#[test]
fn a_slot_that_was_dealt_with_and_would_come_again_does_not_fire_twice() {
    for comes in [Comes::WhileItRuns, Comes::BetweenTwoRuns] {
        // An hour less: every civil time comes an hour later.
        let mut house = upgraded("28800", comes);
        assert_eq!(
            house.sends(),
            ["a@17:00:00", "b@18:45:00", "c@20:00:00", "d@20:45:00"],
            "{comes:?}"
        );
        assert_eq!(house.runs()[1], "a scheduled: skipped: merged", "{comes:?}");
        assert_eq!(changes(&mut house), [(vec!["Asia/Tokyo".to_owned()], 1, 0)]);
    }
}

#[test]
fn a_slot_that_was_to_come_and_now_lies_behind_is_recorded_and_caught_up() {
    for comes in [Comes::WhileItRuns, Comes::BetweenTwoRuns] {
        // An hour more: the slot of `b` was at 16:45 by the new data.
        let mut house = upgraded("36000", comes);
        assert_eq!(
            house.sends(),
            ["a@17:00:00", "c@18:00:00", "b@18:00:01", "d@18:45:00"],
            "{comes:?}"
        );
        assert_eq!(house.runs()[1], "b scheduled: yielded: missed", "{comes:?}");
        assert_eq!(changes(&mut house), [(vec!["Asia/Tokyo".to_owned()], 0, 1)]);
    }
}

#[test]
fn a_firing_that_was_held_back_stays_so_over_a_restart() {
    let house = upgraded("28800", Comes::WhileItRuns);
    let sent = house.sends();
    let house = upgraded_and_restarted();
    assert_eq!(house.sends(), sent);
}

/// A crash right after the change, before the civil time of `a` comes again at 18:00.
fn upgraded_and_restarted() -> House {
    let house = House::new(
        "2026-12-01T16:50",
        by_offsets(rotation(), "32400"),
        SimUpstream::healthy,
    );
    house.live_until("2026-12-01T17:30");
    house.plans.send_replace(by_offsets(rotation(), "28800"));
    house.live_until("2026-12-01T17:40");
    house.live_until("2026-12-01T21:50");
    house.audit();
    house
}

#[test]
fn data_that_differs_only_years_ahead_changes_no_slot_and_loses_none_of_those_missed_meanwhile() {
    let far = format!("32400 {}:36000", at("2031-01-01T00:00").timestamp());
    let house = House::new(
        "2026-12-01T16:50",
        by_offsets(rotation(), "32400"),
        SimUpstream::healthy,
    );
    house.live_until("2026-12-01T17:10");
    house.plans.send_replace(by_offsets(rotation(), &far));
    house.pass(Duration::from_hours(1));
    house.live_until("2026-12-01T20:50");
    assert_eq!(
        house.sends(),
        ["a@17:00:00", "c@19:00:00", "b@19:00:01", "d@19:45:00"]
    );
    house.check(at("2026-12-01T16:50"), at("2026-12-01T20:50"));
}

/// The new plan's agenda was in use from the claims on that its zones called for, although the store had not taken it: the
/// slot of `b` was passed over at its time by the plan that stood.
#[test]
fn new_zones_whose_plan_cannot_be_adopted_move_nothing() {
    let mut house = House::new(
        "2026-12-01T16:50",
        by_offsets(rotation(), "32400"),
        SimUpstream::healthy,
    );
    let script = async {
        house.until("2026-12-01T17:30").await;
        house.gate.refuse(Some(Deed::Adopt));
        // An hour less: every civil time comes an hour later.
        house.plans.send_replace(by_offsets(rotation(), "28800"));
        house.until("2026-12-01T17:50").await;
        house.gate.refuse(None);
    };
    house.live_beside(Duration::from_hours(5), script);
    assert_eq!(
        house.sends(),
        ["a@17:00:00", "b@17:45:00", "c@20:00:00", "d@20:45:00"]
    );
    assert_eq!(changes(&mut house).len(), 1);
    house.check_runs();
    house.audit();
}

/// The audit once went by the program's zones, and called every slot of the years before a new law unclaimed.
#[test]
fn slots_computed_by_older_data_are_no_violation() {
    let house = House::new(
        "2026-12-01T16:50",
        by_offsets(rotation(), "28800"),
        SimUpstream::healthy,
    );
    house.live_until("2026-12-03T21:00");
    assert_eq!(house.sends()[0], "a@18:00:00");
    house.audit();
    house.plans.send_replace(by_offsets(rotation(), "32400"));
    house.live_until("2026-12-04T21:00");
    house.audit();
}

#[test]
fn even_spacing_goes_on_through_a_change_of_data() {
    let plan = || {
        let plan = SimPlan::new("Asia/Tokyo").unwrap();
        plan.job("even", "main", &["*/20 * * * *"]).unwrap()
    };
    let house = House::new(
        "2026-12-01T16:50",
        by_offsets(plan(), "32400"),
        SimUpstream::healthy,
    );
    house.live_until("2026-12-01T17:30");
    house.plans.send_replace(by_offsets(plan(), "28800"));
    house.live_until("2026-12-01T18:30");
    assert_eq!(
        house.sends(),
        [
            "even@17:00:00",
            "even@17:20:00",
            "even@17:40:00",
            "even@18:00:00",
            "even@18:20:00"
        ]
    );
}
