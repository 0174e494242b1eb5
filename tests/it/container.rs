//! The daemon as process 1: what a container does to it, without a container engine.
//!
//! The kernel delivers no signal to process 1 that it has no handler for. Where
//! namespaces are not permitted there is nothing to test, but in CI they are.

use std::process::{Command, Stdio};

use crate::cli_daemon::{Log, quiet};
use crate::cli_daemon_stop::{due_now, serving};
use crate::scenario::{Running, Scenario};

const FLAGS: [&str; 5] = [
    "--user",
    "--map-root-user",
    "--pid",
    "--fork",
    "--kill-child",
];

/// Whether this machine lets us have a process 1; never a reason to be silent in CI.
fn is_permitted() -> bool {
    let probe = Command::new("unshare").args(FLAGS).arg("true").output();
    let is_permitted = probe.is_ok_and(|probe| probe.status.success());
    #[expect(clippy::disallowed_methods, reason = "a test asks where it runs")]
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(is_permitted || !is_ci, "CI must permit user namespaces");
    if !is_permitted {
        let why = "skipped: `unshare --user --pid` is not permitted here";
        let _ = std::io::Write::write_all(&mut std::io::stderr(), why.as_bytes());
    }
    is_permitted
}

/// A daemon that is process 1 of its namespace, behind `unshare`, which exits as it does.
fn start(scenario: &Scenario) -> Log {
    let daemon = scenario.command(&["daemon"]);
    let mut command = Command::new("unshare");
    command
        .args(FLAGS)
        .arg(daemon.get_program())
        .args(daemon.get_args())
        .current_dir(scenario.path())
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null());
    let variables = daemon.get_envs();
    command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    Log::of(Running::spawn(&mut command))
}

/// The daemon's number outside its namespace.
fn inner(log: &Log) -> String {
    let parent = log.running.id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap();
    let mut children = processes.filter_map(|entry| {
        let id = entry.ok()?.file_name().into_string().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(") ")?;
        (rest.split(' ').nth(1)? == parent).then_some(id)
    });
    children.next().unwrap()
}

fn signal(log: &Log, name: &str) {
    let status = Command::new("kill")
        .arg(format!("-{name}"))
        .arg(inner(log))
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn process_1_stops_at_either_signal() {
    if !is_permitted() {
        return;
    }
    for name in ["TERM", "INT"] {
        let scenario = quiet();
        let mut log = start(&scenario);
        log.until("plan stands");
        // It is what it is tested as.
        assert_eq!(scenario.read(".offpeak/daemon.lock").trim(), "1");
        signal(&log, name);
        log.until("stopped");
        assert_eq!(log.code(), 0, "{name}");
    }
}

#[test]
fn process_1_drains_and_the_second_signal_ends_it() {
    if !is_permitted() {
        return;
    }
    let slow = "rules: [{ then: { slow: { first_byte: 300ms } } }]\n";
    let (scenario, mock) = serving(slow, "");
    due_now(&scenario);
    let mut log = start(&scenario);
    log.until("run started");
    signal(&log, "TERM");
    assert_eq!(log.until("run ended")["outcome"], "succeeded");
    assert_eq!(log.code(), 0);
    drop(mock);

    let (scenario, _mock) = serving(
        "rules: [{ then: { silence: {} } }]\n",
        "daemon: { grace: 1h }\n",
    );
    due_now(&scenario);
    let mut log = start(&scenario);
    log.until("run started");
    signal(&log, "TERM");
    log.until("stopping; no new slots");
    signal(&log, "TERM");
    assert_eq!(log.code(), 143);
    scenario.run(&["store", "check"]).exits(0).says("sound");
    let status = scenario
        .run(&["status", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(status["deferrals"].as_array().unwrap().len(), 1);
}
