//! `pause`, `resume`, `retry` and `drop` beside a living daemon.

use super::{house, slot_after, slots};
use crate::kills::house::{House, eventually};

const HASTY: &str = "retry: { base_delay: 1ms, max_delay: 5ms }\n";

/// A house of two jobs where work of `amber` waits, and a daemon that lives.
fn deferred() -> House {
    let script = "rules:\n  - { times: 3, then: { error: { status: 529 } } }\n";
    let house = house(script, HASTY, &["amber", "birch"]);
    house.make_due(&["amber"]);
    let daemon = house.daemon();
    assert_eq!(slot_after(&house, "amber", 0)["outcome"], "exhausted");
    daemon.stop();
    house.make_due(&[]);
    house
}

/// The newest run of `amber`, once it has ended.
fn newest(house: &House) -> serde_json::Value {
    let newest = || house.history_of("amber").pop().unwrap();
    eventually("it ends", || newest()["outcome"].is_string());
    newest()
}

/// Promises what waits an instant that has just come, and wakes the daemon.
fn make_ripe(house: &House, daemon: &crate::kills::house::Daemon) {
    house
        .store()
        .execute_batch(
            "UPDATE deferrals SET rule = 'open_slot', to_at = unixepoch() * 1000, not_before = fire_at
             WHERE state = 'pending'",
        )
        .unwrap();
    daemon.running.signal("HUP");
}

#[test]
fn pause_beside_a_daemon_skips_the_next_slot_and_resume_brings_the_one_after_it_back() {
    let house = house("{}", HASTY, &["amber", "birch"]);
    let mut daemon = house.daemon();
    daemon.until("plan stands");
    house
        .scenario
        .run(&["pause", "amber", "--reason", "holidays"])
        .exits(0);
    daemon.stop();
    house.make_due(&["amber", "birch"]);
    let daemon = house.daemon();
    assert_eq!(slot_after(&house, "birch", 0)["outcome"], "succeeded");
    let run = slot_after(&house, "amber", 0);
    assert_eq!(
        (&run["outcome"], &run["reason"]),
        (&"skipped".into(), &"paused".into())
    );
    house
        .scenario
        .run(&["resume", "amber"])
        .exits(0)
        .says("the pause is lifted");
    daemon.stop();
    house.make_due(&["amber"]);
    let before = slots(&house, "amber").len();
    let daemon = house.daemon();
    assert_eq!(slot_after(&house, "amber", before)["outcome"], "succeeded");
    daemon.stop();
    house.is_sound();
}

#[test]
fn deferred_work_of_a_paused_job_waits_beside_a_living_daemon_until_resume() {
    let house = deferred();
    let mut daemon = house.daemon();
    daemon.until("plan stands");
    house.scenario.run(&["pause", "amber"]).exits(0);
    make_ripe(&house, &daemon);
    daemon.until("plan stands");
    assert_eq!(house.requests_of("amber").len(), 3);
    house.scenario.run(&["resume", "amber"]).exits(0);
    make_ripe(&house, &daemon);
    eventually("it goes on", || house.requests_of("amber").len() == 4);
    let run = newest(&house);
    assert_eq!(
        (&run["outcome"], &run["origin"]),
        (&"succeeded".into(), &"deferred".into())
    );
    daemon.stop();
    house.is_sound();
}

#[test]
fn work_that_is_dropped_beside_a_living_daemon_never_runs_until_it_is_asked_for_again() {
    let house = deferred();
    let mut daemon = house.daemon();
    daemon.until("plan stands");
    house.scenario.run(&["drop", "amber"]).exits(0);
    make_ripe(&house, &daemon);
    daemon.until("plan stands");
    assert_eq!(house.requests_of("amber").len(), 3);
    assert_eq!(house.status()["deferrals"], serde_json::json!([]));

    house.scenario.run(&["retry", "amber"]).exits(0);
    make_ripe(&house, &daemon);
    eventually("it goes on", || house.requests_of("amber").len() == 4);
    assert_eq!(newest(&house)["outcome"], "succeeded");
    daemon.stop();
    house.is_sound();
}
