//! A disk that is full for the outputs while the store has room.

use std::io::{BufRead, BufReader};

use super::room::{Disk, in_small_room, may_mount};
use crate::scenario::{Running, Scenario};

/// A job whose answer is paid for, and the stand-in that gives it.
fn paid_for() -> (Scenario, Running) {
    let scenario = Scenario::new()
        .job("digest", "0 5 * * *")
        .env("ANTHROPIC_API_KEY", "test-key-1234")
        .file("script.yaml", "latency: { median: 1ms }\n");
    let mut mock = scenario.start(&["mock", "--port", "0", "--script", "script.yaml"]);
    let mut line = String::new();
    BufReader::new(mock.stdout()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap();
    let settings = format!("upstream: {{ base_url: \"{url}\" }}\n");
    scenario.write("offpeak.yaml", settings);
    (scenario, mock)
}

/// The answer is in the store, the history says where, and nothing half-written is left.
#[track_caller]
fn answer_is_kept(scenario: &Scenario) {
    let failed = scenario.run(&["run", "digest"]).exits(1);
    assert!(
        failed.stdout.contains("failed: output"),
        "{}",
        failed.stdout
    );
    let history = scenario
        .run(&["history", "digest", "-n", "1", "--text", "--format", "json"])
        .exits(0)
        .json();
    let note = history["note"].as_str().unwrap();
    assert!(
        note.contains("`offpeak history digest --text` prints it"),
        "{note}"
    );
    assert!(!history["answer"].as_str().unwrap().trim().is_empty());
    assert!(history["output"].is_null());
    scenario.run(&["store", "check"]).exits(0);
}

#[test]
fn answer_that_finds_no_room_is_kept_in_the_store() {
    if may_mount() {
        in_small_room("disk::outputs::run_whose_output_disk_is_full");
    }
    // Wherever: what stands in the way is no full disk, but the answer goes the same way.
    let (scenario, _mock) = paid_for();
    scenario.write(
        "jobs/digest.yaml",
        "cron: \"0 5 * * *\"\ntimezone: UTC\nprompt: { text: hi }\noutput: { file: out.md, keep_previous: true }\n",
    );
    scenario.write("out.md", "old");
    scenario.write(
        "out.md.previous/x",
        "a folder in the place of the old answer",
    );
    answer_is_kept(&scenario);
}

#[test]
#[ignore = "the test above runs it where a small disk can be mounted"]
fn run_whose_output_disk_is_full() {
    let (scenario, _mock) = paid_for();
    let disk = Disk::under(&scenario.path().join("out"));
    scenario.run(&["run", "digest"]).exits(0);
    let (before, us) = (scenario.files("out"), std::process::id());
    let old = std::fs::read(scenario.path().join(&before[0])).unwrap();
    disk.fill(us);
    answer_is_kept(&scenario);
    disk.free(us);
    assert_eq!(scenario.files("out"), before, "no temporary file is left");
    let new = std::fs::read(scenario.path().join(&before[0])).unwrap();
    assert_eq!(new, old, "the output of the run before is whole");
}
