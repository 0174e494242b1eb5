//! The recovery that the README describes, step by step.

use std::fs;

use super::room::{Disk, in_each_room};
use super::running::{Daemon, quiet};

#[test]
fn copy_made_while_the_daemon_runs_brings_the_store_back() {
    let scenario = quiet();
    let mut daemon = Daemon::start(&scenario);
    daemon.until("plan stands");
    scenario.run(&["store", "backup", "copy.db"]).exits(0);
    let path = |name: &str| scenario.path().join(name);
    // What comes after the copy is lost, and must not come back in part.
    scenario.run(&["pause", "later"]).exits(0);
    daemon.ends("KILL");
    assert!(path(".offpeak/offpeak.db-wal").exists());
    // Both: a log that is whole would bring back the pages that it holds.
    for name in [".offpeak/offpeak.db", ".offpeak/offpeak.db-wal"] {
        fs::write(path(name), "?".repeat(20_000)).unwrap();
    }
    scenario.run(&["daemon"]).exits(2);

    fs::rename(path(".offpeak"), path(".offpeak.damaged")).unwrap();
    fs::create_dir(path(".offpeak")).unwrap();
    fs::copy(path("copy.db"), path(".offpeak/offpeak.db")).unwrap();
    scenario.run(&["store", "check"]).exits(0).says("sound");
    let mut daemon = Daemon::start(&scenario);
    daemon.until("plan stands");
    let status = scenario.run(&["status", "--format", "json"]).exits(0);
    assert_eq!(status.json()["pauses"], serde_json::json!([]));
    assert_eq!(daemon.ends("TERM"), 0);
    scenario.run(&["store", "check"]).exits(0).says("sound");
}

#[test]
fn copy_that_finds_no_room_names_its_own_place() {
    in_each_room("disk::restore::copy_to_a_full_disk");
}

#[test]
#[ignore = "the test above runs it where a disk can be made full"]
fn copy_to_a_full_disk() {
    // Cause: a failure of the copy was told as one of the store, whose disk had room.
    let scenario = quiet();
    scenario.run(&["pause", "later"]).exits(0);
    let disk = Disk::under(&scenario.path().join("copies"));
    let process = std::process::id();
    disk.fill(process);
    let refused = scenario.run(&["store", "backup", "copies/copy.db"]);
    disk.free(process);
    refused
        .exits(2)
        .complains("copies/copy.db: ")
        .complains("or name another file");
    assert_eq!(scenario.files("copies"), Vec::<String>::new());
    scenario
        .run(&["store", "backup", "copies/copy.db"])
        .exits(0);
}
