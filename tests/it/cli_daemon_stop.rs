//! Stopping the real daemon at every point of its work, and what is left then.

use std::path::Path;
use std::time::Duration;

use chrono::TimeDelta;
use offpeak::clock::SystemClock;
use offpeak::engine::ports::{Clock, Finish, ManualStart, NewDeferral, Store};
use offpeak::job::{GroupId, JobId};
use offpeak::outcome::{Outcome, YieldReason};
use offpeak::schedule::DeferRule;
use offpeak::slot::{Origin, Slot};
use offpeak::store::SqliteStore;

use crate::cli_daemon::{Log, quiet};
use crate::cli_run::mock;
use crate::scenario::{Ends, Running, Scenario};
use crate::systemd::Manager;

/// Between two looks at what another process does.
pub const PAUSE: Duration = Duration::from_millis(5);

/// How many looks there are at most: minutes, on a machine that has much else to do.
const LOOKS: usize = 20_000;

/// A folder whose one job fires on leap days only, the stand-in behind it, and more settings.
pub fn serving(script: &str, settings: &str) -> (Scenario, Running) {
    let scenario = quiet();
    let (running, url) = mock(&scenario, script);
    let text = format!(
        "rules: {{ peaks: {{ windows: [] }} }}\nupstream: {{ base_url: \"{url}\" }}\n{settings}"
    );
    scenario.write("offpeak.yaml", text);
    scenario.write("jobs/later.yaml", job("prompt: { text: hi }"));
    (scenario.env("PATH", "/usr/bin:/bin"), running)
}

fn job(fields: &str) -> String {
    format!("cron: \"0 5 29 2 *\"\ntimezone: UTC\n{fields}\n")
}

/// Leaves work in the store that a daemon takes at once: a promise whose instant has just come.
pub fn due_now(scenario: &Scenario) {
    let store = SqliteStore::open(&scenario.path().join(".offpeak")).unwrap();
    let now = SystemClock::new().now();
    // Instants are kept to the millisecond, and work goes to a later slot than its own.
    let before = now - TimeDelta::seconds(1);
    let work = async {
        let start = ManualStart {
            slot: Slot {
                job: JobId::new("later"),
                fire_at: before,
            },
            group: GroupId::new("main"),
            model: "claude-sonnet-5-5".to_owned(),
            lease_until: now,
        };
        let run = store.begin_manual(start).await.unwrap();
        let wait = NewDeferral {
            not_before: before,
            to: Some(now),
            carries: 1,
            rule: DeferRule::OpenSlot,
            reason: YieldReason::Shutdown,
            origin: Origin::Deferred,
        };
        let finish = Finish {
            run,
            outcome: Outcome::Yielded(YieldReason::Shutdown),
            note: None,
            answer: None,
            cost_usd: None,
            delivery: None,
            output: None,
            deferral: Some(wait),
            carried: None,
            now,
        };
        store.finish(finish).await.unwrap();
    };
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(work);
}

/// How the last run ended, once the store is sound.
fn last(scenario: &Scenario) -> String {
    scenario.run(&["store", "check"]).exits(0).says("sound");
    let done = scenario
        .run(&["history", "-n", "1", "--format", "json"])
        .exits(0);
    let run = done.json();
    let reason = run["reason"].as_str().unwrap_or("none");
    format!("{}: {reason}", run["outcome"].as_str().unwrap())
}

/// How many deferrals wait.
fn pending(scenario: &Scenario) -> usize {
    let status = scenario
        .run(&["status", "--format", "json"])
        .exits(0)
        .json();
    status["deferrals"].as_array().unwrap().len()
}

/// The numbers that a program wrote, once it has written them all.
fn numbers(path: &Path) -> Vec<u32> {
    let read = || {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.ends_with('\n')
            .then(|| text.lines().map(|line| line.parse().unwrap()).collect())
    };
    std::iter::repeat_with(|| {
        std::thread::park_timeout(PAUSE);
        read()
    })
    .take(LOOKS)
    .flatten()
    .next()
    .unwrap()
}

/// Whether a process is there and not only its remains.
fn is_alive(id: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else {
        return false;
    };
    !stat.contains(") Z ")
}

/// Waits until these processes are gone.
fn are_gone(ids: &[u32]) -> bool {
    let tries = std::iter::repeat_with(|| {
        std::thread::park_timeout(PAUSE);
        ids.iter().any(|id| is_alive(*id))
    });
    tries.take(LOOKS).any(|is_any| !is_any)
}

/// A program that writes down itself and its child, and then never ends; inputs run beside their job file.
const HANGS: &str =
    "[\"sh\", \"-c\", \"sleep 1000 & printf '%s\\\\n' $$ $! > ids.new; mv ids.new ids; wait\"]";

#[test]
fn request_in_flight_ends_within_the_grace() {
    let slow = "rules: [{ then: { slow: { first_byte: 400ms } } }]\n";
    let (scenario, _mock) = serving(slow, "");
    due_now(&scenario);
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("run started");
    log.signal("TERM");
    assert_eq!(log.until("stopping; no new slots")["running"], 1);
    assert_eq!(log.until("run ended")["outcome"], "succeeded");
    assert_eq!(log.code(), 0);
    assert_eq!(last(&scenario), "succeeded: none");
    assert_eq!(pending(&scenario), 0);
}

#[test]
fn request_over_the_grace_yields_and_its_work_waits() {
    let (scenario, _mock) = serving(
        "rules: [{ then: { silence: {} } }]\n",
        "daemon: { grace: 100ms }\n",
    );
    due_now(&scenario);
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("run started");
    log.signal("INT");
    log.until("attempt cancelled; it may have been billed");
    assert_eq!(log.code(), 0);
    assert_eq!(last(&scenario), "yielded: shutdown");
    assert_eq!(pending(&scenario), 1);
}

#[test]
fn second_signal_ends_the_grace_and_is_the_exit_code() {
    for (first, second, code) in [("TERM", "TERM", 143), ("TERM", "INT", 130)] {
        let (scenario, _mock) = serving(
            "rules: [{ then: { silence: {} } }]\n",
            "daemon: { grace: 1h }\n",
        );
        due_now(&scenario);
        let mut log = Log::start(&scenario, &["daemon"]);
        log.until("run started");
        log.signal(first);
        log.until("stopping; no new slots");
        log.signal(second);
        assert_eq!(log.code(), code);
        assert_eq!(last(&scenario), "yielded: shutdown");
        assert_eq!(pending(&scenario), 1);
    }
}

#[test]
fn wait_between_retries_ends_at_the_signal() {
    let (scenario, _mock) = serving(
        "latency: { median: 1ms }\nrules: [{ then: { error: { status: 529 } } }]\n",
        "retry: { base_delay: 10m, max_delay: 10m }\n",
    );
    due_now(&scenario);
    let mut log = Log::start(&scenario, &["daemon"]);
    assert_eq!(log.until("attempt failed")["n"], 1);
    log.signal("TERM");
    assert_eq!(log.code(), 0);
    assert_eq!(last(&scenario), "yielded: shutdown");
    assert_eq!(pending(&scenario), 1);
}

#[test]
fn input_command_over_the_grace_ends_with_its_children() {
    let (scenario, _mock) = serving("", "daemon: { grace: 100ms }\n");
    let fields =
        format!("inputs: {{ all: {{ command: {HANGS} }} }}\nprompt: {{ text: \"{{{{ all }}}}\" }}");
    scenario.write("jobs/later.yaml", job(&fields));
    due_now(&scenario);
    let log = Log::start(&scenario, &["daemon"]);
    let ids = numbers(&scenario.path().join("jobs/ids"));
    let _ends = Ends::of(&scenario.read("jobs/ids"));
    assert!(
        ids.len() == 2 && ids.iter().all(|id| is_alive(*id)),
        "{ids:?}"
    );
    log.signal("TERM");
    assert_eq!(log.code(), 0);
    assert!(are_gone(&ids), "{ids:?}");
    assert_eq!(last(&scenario), "yielded: shutdown");
    assert_eq!(pending(&scenario), 1);
}

#[test]
fn output_command_over_the_grace_ends_with_its_children_and_the_answer_is_kept() {
    let (scenario, _mock) = serving("latency: { median: 1ms }\n", "daemon: { grace: 100ms }\n");
    let fields = format!("prompt: {{ text: hi }}\noutput: {{ command: {HANGS} }}");
    scenario.write("jobs/later.yaml", job(&fields));
    due_now(&scenario);
    let log = Log::start(&scenario, &["daemon"]);
    let ids = numbers(&scenario.path().join("ids"));
    let _ends = Ends::of(&scenario.read("ids"));
    log.signal("TERM");
    assert_eq!(log.code(), 0);
    assert!(are_gone(&ids), "{ids:?}");
    assert_eq!(last(&scenario), "failed: output");
}

/// The store's file, written to by somebody who does not come to an end.
fn lock(scenario: &Scenario) -> rusqlite::Connection {
    let path = scenario.path().join(".offpeak/offpeak.db");
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

// Signals were heard from the moment on at which everything stood; before it they were fatal, or lost as process 1.
#[test]
fn signal_before_the_first_plan_stands_ends_the_start() {
    for signal in ["TERM", "INT"] {
        let scenario = quiet();
        let manager = Manager::at_path(&scenario);
        let scenario = scenario.env("NOTIFY_SOCKET", &manager.address);
        drop(SqliteStore::open(&scenario.path().join(".offpeak")).unwrap());
        let _held = lock(&scenario);
        let mut log = Log::start(&scenario, &["daemon"]);
        log.until("no collision and no peak firing");
        log.signal(signal);
        log.until("stopped before the first plan stood");
        assert_eq!(log.code(), 0);
        scenario.run(&["store", "check"]).exits(0).says("sound");
    }
}

// While files were read again nobody listened for signals: the stop waited for the end of the reload.
#[test]
fn signal_during_a_reload_stops_and_nothing_is_ready_after_it() {
    let scenario = quiet();
    let manager = Manager::at_path(&scenario);
    let scenario = scenario.env("NOTIFY_SOCKET", &manager.address);
    let log = Log::start(&scenario, &["daemon"]);
    manager.until("READY=1");
    scenario.write("jobs/later.yaml", "cron: \"0 99 * * *\"\n");
    // A reload ends with a write.
    let held = lock(&scenario);
    log.signal("HUP");
    manager.until("RELOADING=1");
    log.signal("TERM");
    let said = manager.until("STOPPING=1");
    assert!(!said.contains(&"READY=1".to_owned()), "{said:?}");
    drop(held);
    assert_eq!(log.code(), 0);
    scenario.run(&["store", "check"]).exits(0).says("sound");
}

#[test]
fn restart_takes_up_what_a_stop_left() {
    let (scenario, mock) = serving(
        "rules: [{ then: { silence: {} } }]\n",
        "daemon: { grace: 100ms }\n",
    );
    due_now(&scenario);
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("run started");
    log.signal("TERM");
    assert_eq!(log.code(), 0);
    drop(mock);
    let deferral = || {
        let status = scenario
            .run(&["status", "--format", "json"])
            .exits(0)
            .json();
        status["deferrals"][0].clone()
    };
    let left = deferral();
    assert_eq!(left["carries"], 2, "{left}");
    let mut again = Log::start(&scenario, &["daemon"]);
    again.until("plan stands");
    again.signal("TERM");
    assert_eq!(again.code(), 0);
    assert_eq!(deferral(), left);
}
