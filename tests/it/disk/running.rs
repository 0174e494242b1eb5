//! A daemon whose disk fills up, and whose file goes away and comes back.

use std::fs;

use serde_json::Value;

use super::room::{Disk, in_each_room};
use crate::log::Lines;
use crate::scenario::{Running, Scenario};

const FAILS: &str = "the store does not work; slots wait, nothing is sent";
const WORKS: &str = "the store works again; what waited goes on";
const JOB: &str = "enabled: false\ncron: \"0 5 * * *\"\ntimezone: UTC\nprompt: { text: hi }\n";

/// A daemon with one job that fires on leap days, and its log.
pub struct Daemon {
    pub running: Running,
    lines: Lines,
}

impl Daemon {
    pub fn start(scenario: &Scenario) -> Self {
        let mut running = scenario.start(&["daemon"]);
        let lines = Lines::of(running.stderr());
        Self { running, lines }
    }

    /// The lines up to the one with this message, which is the last.
    #[track_caller]
    pub fn until(&mut self, message: &str) -> Vec<Value> {
        let before = self.lines.seen().len();
        self.lines.until(message);
        let seen = self.lines.seen()[before..].lines();
        seen.map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub fn ends(self, signal: &str) -> i32 {
        self.running.signal(signal);
        self.running.wait().code
    }
}

/// A folder whose one job fires on leap days only.
pub fn quiet() -> Scenario {
    Scenario::new()
        .file("offpeak.yaml", "rules: { peaks: { windows: [] } }\n")
        .file(
            "jobs/later.yaml",
            "cron: \"0 5 29 2 *\"\ntimezone: UTC\nprompt: { text: hi }\n",
        )
        .env("ANTHROPIC_API_KEY", "test-key-1234")
}

#[test]
fn daemon_outlives_a_full_disk_and_says_when_it_is_over() {
    in_each_room("disk::running::daemon_on_a_disk_that_fills_up");
}

#[test]
#[ignore = "the test above runs it where a disk can be made full"]
fn daemon_on_a_disk_that_fills_up() {
    let scenario = quiet();
    let disk = Disk::under(&scenario.path().join(".offpeak"));
    let mut daemon = Daemon::start(&scenario);
    daemon.until("plan stands");
    let id = daemon.running.id();
    disk.fill(id);
    scenario.write("jobs/more.yaml", JOB);
    let said = daemon.until(FAILS);
    let why = said.last().unwrap()["error"].as_str().unwrap();
    assert!(why.contains("offpeak.db"), "{why}");
    // Reading needs no room.
    let status = scenario.run(&["status", "--format", "json"]).exits(0);
    assert_eq!(status.json()["daemon"]["pid"], id);
    scenario.run(&["history"]).exits(0);
    disk.free(id);
    let said = daemon.until(WORKS);
    assert!(
        said.iter().all(|line| line["message"] != FAILS),
        "said once: {said:#?}"
    );
    assert!(said.last().unwrap()["failures"].as_u64().unwrap() >= 1);
    // A disabled job takes part in the plan, and the plan waited for the disk.
    let planned = said.iter().any(|line| line["jobs"] == 2);
    assert!(planned, "{said:#?}");
    assert_eq!(daemon.ends("TERM"), 0);
    scenario.run(&["store", "check"]).exits(0).says("sound");
}

/// A daemon whose part of the store is moved away says so, and goes on once it is back.
#[track_caller]
fn stops_while_away(part: &str) {
    let scenario = quiet();
    let mut daemon = Daemon::start(&scenario);
    daemon.until("plan stands");
    let path = scenario.path().join(".offpeak").join(part);
    let away = scenario.path().join("away");
    fs::rename(&path, &away).unwrap();
    scenario.write("jobs/more.yaml", JOB);
    let said = daemon.until(FAILS);
    let why = said.last().unwrap()["error"].as_str().unwrap();
    assert!(why.contains(&format!("{part}: the file is gone")), "{why}");
    fs::rename(&away, &path).unwrap();
    daemon.until(WORKS);
    assert_eq!(daemon.ends("TERM"), 0);
    scenario.run(&["store", "check"]).exits(0).says("sound");
}

#[test]
fn file_or_log_that_is_moved_away_stops_the_daemon_until_it_is_back() {
    // A removed log went unnoticed: the daemon and a `run` beside it would have written into two different ones.
    std::thread::scope(|scope| {
        for part in ["offpeak.db", "offpeak.db-wal"] {
            scope.spawn(move || stops_while_away(part));
        }
    });
}

#[test]
fn daemon_whose_shared_memory_is_removed_writes_nothing_until_it_is_back() {
    // Cause: the file and its log were watched, and `-shm` was not. A process that came later made a new one, and both
    // wrote by a view of their own: records were lost, and the budget was spent twice.
    stops_while_away("offpeak.db-shm");
}

#[test]
fn daemon_that_has_written_nothing_for_long_is_in_status() {
    let scenario = quiet();
    let mut daemon = Daemon::start(&scenario);
    daemon.until("plan stands");
    let unwritten = || {
        let status = scenario.run(&["status", "--format", "json"]).exits(0);
        status.json()["unwritten_since"].clone()
    };
    assert!(unwritten().is_null());
    let connection = rusqlite::Connection::open(scenario.path().join(".offpeak/offpeak.db"));
    connection
        .unwrap()
        .execute_batch("UPDATE meta SET beat_at = beat_at - 600000")
        .unwrap();
    assert!(unwritten().is_string());
    scenario
        .run(&["status"])
        .exits(0)
        .says("store     last written 10 min ago")
        .says("nothing is sent");
    assert_eq!(daemon.ends("TERM"), 0);
    // A daemon that is gone is another matter, and said as such.
    assert!(unwritten().is_null());
}

// The signal that goes with such a limit ended the daemon without a line.
#[test]
fn limit_of_a_files_size_is_a_full_disk_and_no_death() {
    let scenario = quiet();
    let program = scenario.command(&[]).get_program().to_owned();
    let done = std::process::Command::new("sh")
        .args(["-c", "ulimit -f 8; exec \"$0\" daemon"])
        .arg(program)
        .current_dir(scenario.path())
        .env("ANTHROPIC_API_KEY", "test-key-1234")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("offpeak.db"), "{said}");
}
