//! One daemon a store; everything else may use the store beside it.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use super::house;
use crate::kills::house::{House, eventually};

const SILENT: &str = "rules:\n  - { then: { silence: {} } }\n";

#[track_caller]
fn is_refused(house: &House, pid: u32) {
    house
        .scenario
        .run(&["daemon"])
        .exits(1)
        .complains(&format!("another daemon (process {pid}) uses the store"))
        .complains("stop it first, or give another folder with --store");
}

#[test]
fn second_daemon_is_refused_with_the_process_of_the_first_even_while_that_is_stopped() {
    let house = house(SILENT, "", &["amber"]);
    let mut daemon = house.daemon();
    daemon.until("plan stands");
    let pid = daemon.running.id();
    is_refused(&house, pid);
    daemon.running.signal("STOP");
    is_refused(&house, pid);
    house
        .scenario
        .run(&["status"])
        .exits(0)
        .says(&format!("running, pid {pid}"));
    daemon.running.signal("CONT");
    daemon.stop();
    let mut next = house.daemon();
    next.until("plan stands");
    is_refused(&house, next.running.id());
    next.stop();
}

#[test]
fn second_daemon_is_refused_before_it_opens_the_file() {
    // Cause: the file was opened, and brought up to date, before the lock said that another daemon works with it. A file
    // of a version that the second one cannot open shows which of the two comes first.
    let house = house(SILENT, "", &["amber"]);
    let mut daemon = house.daemon();
    daemon.until("plan stands");
    let file = house.scenario.path().join(".offpeak/offpeak.db");
    let connection = rusqlite::Connection::open(file).unwrap();
    let version: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    is_refused(&house, daemon.running.id());
    connection
        .pragma_update(None, "user_version", version)
        .unwrap();
    daemon.stop();
}

#[test]
fn lock_of_a_killed_daemon_and_a_file_of_garbage_block_nobody() {
    let house = house(SILENT, "", &["amber"]);
    let lock = house.scenario.path().join(".offpeak/daemon.lock");
    for garbage in [&b"\xff\xfe\0 nonsense"[..], b"", b"1\n", b"-5\n"] {
        fs::write(&lock, garbage).unwrap();
        house.scenario.run(&["status"]).exits(0).says("not running");
        let mut daemon = house.daemon();
        daemon.until("plan stands");
        assert_eq!(
            fs::read_to_string(&lock).unwrap(),
            format!("{}\n", daemon.running.id())
        );
        is_refused(&house, daemon.running.id());
        daemon.kill();
        house.scenario.run(&["status"]).exits(0).says("not running");
    }
}

#[test]
fn those_that_look_and_copy_work_beside_a_daemon_at_work() {
    let house = house(SILENT, "", &["amber"]);
    house.make_due(&["amber"]);
    let daemon = house.daemon();
    eventually("the request", || house.requests().len() == 1);
    assert_eq!(house.status()["daemon"]["pid"], daemon.running.id());
    let run = house.history_of("amber").pop().unwrap();
    assert!(run.get("outcome").is_none_or(serde_json::Value::is_null));
    house
        .scenario
        .run(&["store", "check"])
        .exits(0)
        .says("under way 1 run");
    fs::create_dir(house.scenario.path().join("copy")).unwrap();
    house
        .scenario
        .run(&["store", "backup", "copy/offpeak.db"])
        .exits(0);
    house
        .scenario
        .run(&["--store", "copy", "store", "check"])
        .exits(0)
        .says("under way 1 run");
    daemon.kill();
    house.is_sound();
}

#[test]
fn lookers_never_keep_a_daemon_from_starting() {
    let house = house(SILENT, "", &["amber"]);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Whoever looks on after a panic here would look for ever.
        let _over = Over(&is_over);
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    house.scenario.run(&["status"]).exits(0);
                }
            });
        }
        for _ in 0..10 {
            house.settle();
        }
    });
}

/// It is over when this goes, however that comes about.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
