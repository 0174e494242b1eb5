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

/// Asks for a copy at a place that must stay as it is.
#[track_caller]
fn is_refused(scenario: &Scenario, to: &str, why: &str) {
    let refused = scenario.run_for_a_minute(&["store", "backup", to]);
    assert_eq!(
        refused.code, 2,
        "{to}: {}{}",
        refused.stdout, refused.stderr
    );
    refused.complains(to).complains(why);
}

#[test]
fn backup_replaces_no_database_of_another_program() {
    // Cause: whatever began as SQLite's files do was taken for an older copy.
    let scenario = deferred();
    let notes = scenario.path().join("notes.db");
    let foreign = "CREATE TABLE meta (a); PRAGMA user_version = 4";
    let connection = rusqlite::Connection::open(&notes).unwrap();
    connection.execute_batch(foreign).unwrap();
    drop(connection);
    let before = fs::read(&notes).unwrap();
    is_refused(
        &scenario,
        "notes.db",
        "no copy of a store; name another file",
    );
    assert_eq!(fs::read(&notes).unwrap(), before);
}

#[test]
fn backup_takes_the_place_of_no_pipe_link_or_device() {
    use std::os::unix::fs::FileTypeExt;
    // Cause: what has no length was taken for an empty file: `store backup /dev/null` by root replaced the device.
    let scenario = deferred();
    let path = |name: &str| scenario.path().join(name);
    let made = std::process::Command::new("mkfifo")
        .arg(path("pipe"))
        .status();
    assert!(made.unwrap().success());
    is_refused(&scenario, "pipe", "no regular file");
    assert!(
        fs::symlink_metadata(path("pipe"))
            .unwrap()
            .file_type()
            .is_fifo()
    );
    let socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    is_refused(&scenario, "socket", "no regular file");
    drop(socket);
    fs::write(path("empty"), "").unwrap();
    for (target, link) in [("empty", "link"), ("nowhere", "dangling")] {
        std::os::unix::fs::symlink(path(target), path(link)).unwrap();
        is_refused(&scenario, link, "it is a link");
        assert!(fs::symlink_metadata(path(link)).unwrap().is_symlink());
    }
    scenario.run(&["store", "backup", "empty"]).exits(0);
}

#[test]
fn backup_takes_the_place_of_nothing_that_a_store_in_use_needs() {
    // Cause: another store, live or after a crash, and the files beside one were replaced like an older copy.
    let scenario = deferred();
    let path = |name: &str| scenario.path().join(name);
    for name in [
        "copy.db-wal",
        "copy.db-shm",
        "copy.db-journal",
        "daemon.lock",
    ] {
        is_refused(&scenario, name, "a file beside a store");
        assert!(!path(name).exists());
    }
    is_refused(&scenario, ".offpeak/copy.db", "name a file in another");
    fs::create_dir(path("other")).unwrap();
    scenario
        .run(&["store", "backup", "other/offpeak.db"])
        .exits(0);
    fs::write(path("other/offpeak.db-wal"), "steps").unwrap();
    let before = fs::read(path("other/offpeak.db")).unwrap();
    is_refused(&scenario, "other/offpeak.db", "a log stands beside it");
    fs::remove_file(path("other/offpeak.db-wal")).unwrap();
    fs::write(path("other/daemon.lock"), "").unwrap();
    for name in ["other/offpeak.db", "other/copy.db"] {
        is_refused(&scenario, name, "that of a store; name");
    }
    assert_eq!(fs::read(path("other/offpeak.db")).unwrap(), before);
    assert_eq!(
        scenario.files("other"),
        ["other/daemon.lock", "other/offpeak.db"]
    );
}
