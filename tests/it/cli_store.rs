//! `store check` and `store backup`.

use std::fs;

use crate::scenario::Scenario;

/// A folder whose store holds one run that yielded: the upstream refuses every connection.
fn deferred() -> Scenario {
    let scenario = Scenario::new()
        .job("digest", "0 5 * * *")
        .env("ANTHROPIC_API_KEY", "test-key-1234")
        .file(
            "offpeak.yaml",
            "upstream: { base_url: \"http://127.0.0.1:9\" }\nretry: { base_delay: 1ms, max_delay: 20ms }\n",
        );
    scenario.run(&["run", "digest"]).exits(75);
    scenario
}

/// Statements straight into the file, as a fault would leave it.
fn sql(scenario: &Scenario, statements: &str) {
    rusqlite::Connection::open(scenario.path().join(".offpeak/offpeak.db"))
        .unwrap()
        .execute_batch(statements)
        .unwrap();
}

#[test]
fn store_of_a_run_is_sound() {
    let scenario = deferred();
    scenario
        .run(&["store", "check"])
        .exits(0)
        .says("0 slots, 1 run, 1 deferral")
        .says("sound");
    let verdict = scenario
        .run(&["store", "check", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(verdict["ok"], true);
    assert_eq!(
        (&verdict["runs"], &verdict["deferrals"]),
        (&1.into(), &1.into())
    );
    assert_eq!(verdict["violations"], serde_json::json!([]));
}

#[test]
fn work_that_waits_nowhere_is_told_and_exits_with_1() {
    let scenario = deferred();
    sql(&scenario, "DELETE FROM deferrals");
    scenario
        .run(&["store", "check"])
        .exits(1)
        .says("wrong     the slot of `digest` at")
        .says("left work that waits nowhere")
        .says("1 violation");
    let verdict = scenario
        .run(&["store", "check", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(verdict["ok"], false);
    assert_eq!(verdict["violations"].as_array().unwrap().len(), 1);
}

#[test]
fn run_that_a_crash_left_open_is_no_violation_and_is_named() {
    let scenario = deferred();
    sql(
        &scenario,
        "UPDATE runs SET outcome = NULL, reason = NULL, finished_at = NULL, next_not_before = NULL;
         DELETE FROM deferrals",
    );
    scenario
        .run(&["store", "check"])
        .exits(0)
        .says("under way 1 run");
}

#[test]
fn damaged_guard_row_is_told_with_the_way_out() {
    let scenario = deferred();
    sql(&scenario, "UPDATE guards SET state = '{'");
    scenario
        .run(&["store", "check"])
        .exits(1)
        .says("`offpeak resume main` begins a new one");
}

#[test]
fn folder_without_a_store_says_what_makes_one() {
    let scenario = Scenario::new().job("digest", "0 5 * * *");
    for args in [&["store", "check"][..], &["store", "backup", "copy.db"]] {
        scenario
            .run(args)
            .exits(2)
            .complains("there is no store in")
            .complains("the first `daemon` or `run` makes one");
    }
    assert!(!scenario.path().join("copy.db").exists());
}

#[test]
fn backup_is_a_store_and_replaces_an_older_one() {
    let scenario = deferred();
    for _ in 0..2 {
        scenario
            .run(&["store", "backup", "copies/../copy.db"])
            .exits(2)
            .complains("copy.db");
        fs::create_dir_all(scenario.path().join("elsewhere")).unwrap();
        scenario
            .run(&["store", "backup", "elsewhere/offpeak.db"])
            .exits(0)
            .says("wrote")
            .says("elsewhere/offpeak.db");
    }
    let history = scenario
        .run(&["history", "--format", "json"])
        .exits(0)
        .stdout;
    let copied = scenario
        .run(&["--store", "elsewhere", "history", "--format", "json"])
        .exits(0)
        .stdout;
    assert_eq!(history, copied);
    assert_eq!(scenario.files("elsewhere"), ["elsewhere/offpeak.db"]);
}

#[test]
fn backup_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let scenario = deferred();
    scenario.run(&["store", "backup", "copy.db"]).exits(0);
    let mode = fs::metadata(scenario.path().join("copy.db"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o077, 0);
}

#[test]
fn backup_never_takes_the_place_of_something_else() {
    let scenario = deferred().file("notes.md", "keep me");
    scenario
        .run(&["store", "backup", "notes.md"])
        .exits(2)
        .complains("no copy of a store");
    assert_eq!(scenario.read("notes.md"), "keep me");
    scenario
        .run(&["store", "backup", "jobs"])
        .exits(2)
        .complains("it is a folder");
    scenario
        .run(&["store", "backup", ".offpeak/offpeak.db"])
        .exits(2)
        .complains("it is the store itself");
    scenario.run(&["store", "check"]).exits(0);
}
