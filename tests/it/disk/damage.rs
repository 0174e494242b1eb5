//! A file that is damaged or read-only: what is said, with which code, and that nothing is made worse.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::room::{Disk, in_small_room, may_mount};
use super::running::{Daemon, quiet};
use crate::scenario::Scenario;

/// A store with one run in it, as a daemon that was killed leaves it: its last steps are in the log only.
fn crashed() -> Scenario {
    let scenario = at_rest();
    let mut daemon = Daemon::start(&scenario);
    daemon.until("plan stands");
    daemon.ends("KILL");
    scenario
}

/// The same at rest: the file is whole by itself.
fn at_rest() -> Scenario {
    let scenario = quiet();
    let mut daemon = Daemon::start(&scenario);
    daemon.until("plan stands");
    daemon.ends("TERM");
    scenario
}

fn file(scenario: &Scenario) -> PathBuf {
    scenario.path().join(".offpeak/offpeak.db")
}

fn log(scenario: &Scenario) -> PathBuf {
    scenario.path().join(".offpeak/offpeak.db-wal")
}

/// Every command that opens the file says what is wrong, names it and the way out; the file stays as it is.
#[track_caller]
fn is_refused(scenario: &Scenario, path: &Path, way_out: &str) {
    let before = fs::read(path).ok();
    for args in [
        &["daemon"][..],
        &["status"],
        &["history"],
        &["store", "check"],
        &["store", "backup", "copy.db"],
    ] {
        let done = scenario.run_for_a_minute(args);
        assert_eq!(done.code, 2, "{args:?}: {}{}", done.stdout, done.stderr);
        assert!(done.stderr.contains("offpeak.db"), "{}", done.stderr);
        assert!(done.stderr.contains(way_out), "{args:?}: {}", done.stderr);
    }
    assert!(
        fs::read(path).ok() == before,
        "{} was changed",
        path.display()
    );
    assert!(!scenario.path().join("copy.db").exists());
    // What needs no store goes on.
    scenario.run(&["validate"]).exits(0);
    scenario.run(&["plan"]).exits(0);
}

#[test]
fn header_that_is_garbage_is_refused() {
    let scenario = at_rest();
    let mut bytes = fs::read(file(&scenario)).unwrap();
    bytes[..64].fill(b'?');
    fs::write(file(&scenario), bytes).unwrap();
    is_refused(&scenario, &file(&scenario), "move the file away");
}

#[test]
fn file_that_lost_its_end_is_refused() {
    let scenario = at_rest();
    let bytes = fs::read(file(&scenario)).unwrap();
    fs::write(file(&scenario), &bytes[..bytes.len() / 2]).unwrap();
    is_refused(&scenario, &file(&scenario), "move the file away");
}

#[test]
fn file_of_a_newer_version_is_refused() {
    let scenario = at_rest();
    let connection = rusqlite::Connection::open(file(&scenario)).unwrap();
    connection
        .execute_batch("PRAGMA user_version = 99")
        .unwrap();
    drop(connection);
    is_refused(&scenario, &file(&scenario), "use a newer offpeak");
}

#[test]
fn file_without_a_byte_does_not_cost_the_log_beside_it() {
    // The library took the file for a new one and removed the log.
    let scenario = crashed();
    assert!(fs::metadata(log(&scenario)).unwrap().len() > 0);
    fs::write(file(&scenario), "").unwrap();
    is_refused(&scenario, &log(&scenario), "move both away");
}

#[test]
fn folder_in_the_place_of_the_file_is_refused() {
    let scenario = quiet();
    fs::create_dir_all(file(&scenario)).unwrap();
    is_refused(&scenario, &file(&scenario), "--store");
}

#[test]
fn log_that_is_lost_costs_its_steps_and_nothing_else() {
    let scenario = crashed();
    fs::remove_file(log(&scenario)).unwrap();
    scenario.run(&["store", "check"]).exits(0);
    let mut daemon = Daemon::start(&scenario);
    daemon.until("plan stands");
    assert_eq!(daemon.ends("TERM"), 0);
}

#[test]
fn log_that_is_garbage_is_not_taken_for_steps() {
    let scenario = at_rest();
    fs::write(log(&scenario), "?".repeat(20_000)).unwrap();
    scenario.run(&["store", "check"]).exits(0).says("sound");
}

#[test]
fn damaged_page_is_found_by_the_check() {
    // The rows were read first, and their failure hid what the file's own check has to say.
    let scenario = at_rest();
    let connection = rusqlite::Connection::open(file(&scenario)).unwrap();
    let page: u32 = connection
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'runs'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    drop(connection);
    let mut bytes = fs::read(file(&scenario)).unwrap();
    let end = usize::try_from(page).unwrap() * 4096;
    bytes[end - 4096..end].fill(0x5a);
    fs::write(file(&scenario), bytes).unwrap();
    scenario
        .run(&["store", "check"])
        .exits(1)
        .says("rows      cannot be read")
        .says("wrong     ")
        .says("offpeak store backup");
    let verdict = scenario.run(&["store", "check", "--format", "json"]);
    assert_eq!(verdict.exits(1).json()["ok"], false);
}

/// Reading needs no write access; a daemon says what it needs.
#[track_caller]
fn is_read_only(scenario: &Scenario) {
    for args in [
        &["status"][..],
        &["history"],
        &["validate"],
        &["plan"],
        &["store", "check"],
    ] {
        scenario.run(args).exits(0);
    }
    let refused = scenario.run_for_a_minute(&["daemon"]).exits(2);
    refused.complains(".offpeak").complains("--store");
}

#[test]
fn read_only_folder_is_read_and_a_daemon_says_what_it_needs() {
    if may_mount() {
        in_small_room("disk::damage::store_on_a_read_only_disk");
    }
    let scenario = at_rest();
    let folder = scenario.path().join(".offpeak");
    let mode = |mode| {
        let at = |path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        at(file(&scenario), mode & 0o666).unwrap();
        at(folder.clone(), mode).unwrap();
    };
    mode(0o500);
    // The mode stops no root, whose daemon started and kept this test for ever: a folder in the lock's place does.
    if fs::write(folder.join("probe"), "").is_ok() {
        let lock = folder.join("daemon.lock");
        fs::remove_file(&lock).unwrap();
        fs::create_dir(&lock).unwrap();
    }
    is_read_only(&scenario);
    mode(0o700);
}

#[test]
#[ignore = "the test above runs it where a disk can be mounted"]
fn store_on_a_read_only_disk() {
    let scenario = quiet();
    let folder = scenario.path().join(".offpeak");
    let _disk = Disk::under(&folder);
    let remount = |how: &str| {
        let mut mount = Command::new("mount");
        let mount = mount.args(["-o", &format!("remount,{how}")]).arg(&folder);
        assert!(mount.status().unwrap().success());
    };
    // After a crash, whose log is still there, and after a clean end.
    for signal in ["KILL", "TERM"] {
        remount("rw");
        let mut daemon = Daemon::start(&scenario);
        daemon.until("plan stands");
        daemon.ends(signal);
        remount("ro");
        is_read_only(&scenario);
    }
}
