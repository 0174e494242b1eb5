//! Budget, breaker and hold are one for all processes, as the server counts.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use super::{house, slot_after, slots, yielded};
use crate::kills::house::{House, eventually, instant, soon};
use crate::scenario::Running;

const ALL_BUSY: &str = "rules:\n  - { then: { error: { status: 529 } } }\n";

const HASTY: &str = "retry: { base_delay: 1ms, max_delay: 5ms }\n";

#[test]
fn budget_of_a_daemon_and_many_runs_holds_as_the_server_counts() {
    let settings =
        format!("{HASTY}budget: {{ calls: 7, per: 1h }}\nbreaker: {{ min_samples: 100 }}\n");
    let house = house(ALL_BUSY, &settings, &["amber", "birch", "cedar", "daisy"]);
    house.make_due(&["amber", "birch"]);
    let daemon = house.daemon();
    let runs: Vec<Running> = (0..6)
        .map(|n| house.scenario.start(&["run", ["cedar", "daisy"][n % 2]]))
        .collect();
    for run in runs {
        assert_eq!(run.wait().code, 75);
    }
    for job in ["amber", "birch"] {
        slot_after(&house, job, 0);
    }
    // Eight calls of three attempts each wanted to go.
    assert_eq!(house.requests().len(), 7);
    let history = house.history();
    let attempts = history
        .iter()
        .map(|run| run["attempts"].as_array().unwrap());
    assert_eq!(attempts.map(Vec::len).sum::<usize>(), 7);
    assert!(history.iter().any(|run| run["reason"] == "budget"));
    daemon.stop();
    house.is_sound();
}

#[test]
fn no_window_at_the_server_ever_holds_more_than_the_budget() {
    let (calls, per) = (3, TimeDelta::seconds(1));
    let house = house("{}", "budget: { calls: 3, per: 1s }\n", &["amber", "birch"]);
    house.make_due(&["amber"]);
    let daemon = house.daemon();
    for _ in 0..4 {
        let wave: Vec<Running> = (0..6)
            .map(|_| house.scenario.start(&["run", "birch"]))
            .collect();
        for run in wave {
            run.wait();
        }
    }
    daemon.stop();
    let seen = house.requests();
    let arrived: BTreeMap<String, DateTime<Utc>> = seen
        .iter()
        .map(|seen| (format!("req_standin_{:06}", seen.n), seen.at))
        .collect();
    // A request is counted when it is admitted, and arrives after that; on a busy machine well after.
    let history = house.history();
    let attempts = history
        .iter()
        .flat_map(|run| run["attempts"].as_array().unwrap());
    let delays = attempts.map(|attempt| {
        arrived[attempt["request_id"].as_str().unwrap()] - instant(&attempt["started_at"])
    });
    let delay = delays.max().unwrap();
    for window in seen.windows(calls + 1) {
        assert!(
            window[calls].at - window[0].at >= per - delay,
            "{window:#?}"
        );
    }
    assert!(history.iter().any(|run| run["reason"] == "budget"));
    house.is_sound();
}

#[test]
fn breaker_that_a_daemon_opened_refuses_a_run() {
    let settings = format!(
        "{HASTY}breaker: {{ min_samples: 3, window: 1h, cooldown: 1h, stale_after: 2h }}\n"
    );
    let house = house(ALL_BUSY, &settings, &["amber", "birch"]);
    house.make_due(&["amber"]);
    let daemon = house.daemon();
    assert_eq!(slot_after(&house, "amber", 0)["outcome"], "exhausted");
    yielded(house.scenario.start(&["run", "birch"]), "breaker");
    assert_eq!(house.requests().len(), 3);
    daemon.stop();
    house.is_sound();
}

#[test]
fn breaker_that_a_run_opened_refuses_a_daemon_and_one_probe_goes_for_all() {
    // The probe is never answered, so that nobody else is let through meanwhile.
    let script = "rules:\n  - { times: 3, then: { error: { status: 529 } } }\n  - { then: { silence: {} } }\n";
    let settings = format!(
        "{HASTY}breaker: {{ min_samples: 3, window: 1h, cooldown: 1h, stale_after: 2h }}\n"
    );
    let house = house(script, &settings, &["amber", "birch"]);
    house.scenario.run(&["run", "amber"]).exits(75);
    house.make_due(&["amber"]);
    let daemon = house.daemon();
    assert_eq!(slot_after(&house, "amber", 0)["reason"], "breaker");
    daemon.stop();
    assert_eq!(house.requests().len(), 3);

    let settings = house.scenario.read("offpeak.yaml");
    house.scenario.write(
        "offpeak.yaml",
        settings.replace("cooldown: 1h", "cooldown: 1s"),
    );
    house.make_due(&["birch"]);
    let mut daemon = house.daemon();
    daemon.until("run started");
    let mut runs: Vec<Running> = Vec::new();
    let has_probe = || house.requests().len() == 4;
    eventually("a probe", || {
        runs.extend((0..2).map(|_| house.scenario.start(&["run", "amber"])));
        soon(300, has_probe)
    });
    runs.extend((0..3).map(|_| house.scenario.start(&["run", "amber"])));
    let manual = |run: &&serde_json::Value| run["origin"] == "manual";
    eventually("all but the probe are refused", || {
        let ended = house.history();
        let open = ended.iter().filter(|run| run["outcome"].is_null()).count();
        ended.iter().filter(manual).count() > runs.len() && open == 1
    });
    assert_eq!(house.requests().len(), 4);
    assert!(house.history().iter().any(|run| run["reason"] == "breaker"));
    runs.clear();
    daemon.kill();
    house.is_sound();
}

#[test]
fn hold_that_two_processes_bring_about_stops_a_third_until_resume() {
    let script = "rules:\n  - { times: 2, then: { error: { status: 401 } } }\n";
    let house = house(script, HASTY, &["amber", "birch", "cedar"]);
    yielded(house.scenario.start(&["run", "amber"]), "hold");
    house.make_due(&["birch"]);
    let daemon = house.daemon();
    assert_eq!(slot_after(&house, "birch", 0)["reason"], "hold");
    assert_eq!(house.requests().len(), 2);
    yielded(house.scenario.start(&["run", "cedar"]), "hold");
    assert_eq!(house.requests().len(), 2, "a held group sends nothing");
    house
        .scenario
        .run(&["resume", "main"])
        .exits(0)
        .says("the hold is lifted");
    house.scenario.run(&["run", "cedar"]).exits(0);
    daemon.stop();

    // The daemon is stopped by the hold of a run as well.
    hold_by_runs(&house);
    house.make_due(&["birch"]);
    let before = house.requests().len();
    let runs = slots(&house, "birch").len();
    let daemon = house.daemon();
    assert_eq!(slot_after(&house, "birch", runs)["reason"], "hold");
    assert_eq!(house.requests().len(), before);
    daemon.stop();
    house.is_sound();
}

/// A hold as 402 leaves it.
fn hold_by_runs(house: &House) {
    let script = "rules:\n  - { then: { error: { status: 402 } } }\n";
    let other = super::house(script, HASTY, &["amber"]);
    let settings = house.scenario.read("offpeak.yaml");
    let borrowed = other.scenario.read("offpeak.yaml");
    house.scenario.write("offpeak.yaml", borrowed);
    yielded(house.scenario.start(&["run", "amber"]), "hold");
    house.scenario.write("offpeak.yaml", settings);
}
