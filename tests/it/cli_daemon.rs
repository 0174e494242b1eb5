//! `daemon` as a process: start, fire, stop, lock, reload.

use serde_json::Value;

use crate::log::Lines;
use crate::scenario::{Running, Scenario};

pub const SETTINGS: &str = "rules: { peaks: { windows: [] } }\n";

/// A daemon whose log is read line by line.
pub struct Log {
    /// The process.
    pub running: Running,
    lines: Lines,
}

impl Log {
    pub fn start(scenario: &Scenario, args: &[&str]) -> Self {
        Self::of(scenario.start(args))
    }

    pub fn of(mut running: Running) -> Self {
        let lines = Lines::of(running.stderr());
        Self { running, lines }
    }

    /// Reads on until a line with this message.
    #[track_caller]
    pub fn until(&mut self, message: &str) -> Value {
        self.lines.until(message)
    }

    /// Everything that follows, to the end of the process.
    #[track_caller]
    pub fn rest(&mut self) -> String {
        self.lines.rest()
    }

    pub fn signal(&self, name: &str) {
        self.running.signal(name);
    }

    pub fn code(self) -> i32 {
        self.running.wait().code
    }
}

/// A folder whose one job fires on leap days only.
pub fn quiet() -> Scenario {
    Scenario::new()
        .file("offpeak.yaml", SETTINGS)
        .file(
            "jobs/later.yaml",
            "cron: \"0 5 29 2 *\"\ntimezone: UTC\nprompt: { text: hi }\n",
        )
        .env("ANTHROPIC_API_KEY", "test-key-1234")
}

#[test]
fn a_daemon_says_what_is_next_and_stops_at_sigterm() {
    let scenario = quiet();
    let mut log = Log::start(&scenario, &["daemon"]);
    let plan = log.until("plan stands");
    assert_eq!(plan["jobs"], 1);
    assert_eq!(plan["next_job"], "later");
    let status = scenario
        .run(&["status", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(status["daemon"]["pid"], log.running.id());
    log.signal("TERM");
    log.until("stopped");
    assert_eq!(log.code(), 0);
    let status = scenario
        .run(&["status", "--format", "json"])
        .exits(0)
        .json();
    assert!(status["daemon"].is_null());
}

#[test]
fn an_interrupt_stops_it_too() {
    let scenario = quiet();
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    log.signal("INT");
    assert_eq!(log.code(), 0);
}

#[test]
fn a_second_daemon_on_one_store_names_the_first() {
    let scenario = quiet();
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    let id = log.running.id().to_string();
    scenario.run(&["daemon"]).exits(1).complains(&id);
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn a_stale_lock_blocks_nobody() {
    let scenario = quiet();
    let mut first = Log::start(&scenario, &["daemon"]);
    first.until("plan stands");
    first.signal("KILL");
    assert_eq!(first.code(), -1);
    let mut second = Log::start(&scenario, &["daemon"]);
    second.until("plan stands");
    second.signal("TERM");
    assert_eq!(second.code(), 0);
}

#[test]
fn an_unsafe_schedule_is_refused_and_named_if_allowed() {
    let scenario = Scenario::new()
        .file("offpeak.yaml", SETTINGS)
        .job("a", "0 5 * * *")
        .job("b", "5 5 * * *")
        .env("ANTHROPIC_API_KEY", "test-key-1234");
    scenario
        .run(&["daemon"])
        .exits(1)
        .complains("key-gap")
        .complains("--allow-unsafe");
    let mut log = Log::start(&scenario, &["daemon", "--allow-unsafe"]);
    assert!(
        log.until("unsafe schedule allowed")["finding"]
            .as_str()
            .unwrap()
            .contains("key-gap")
    );
    log.until("plan stands");
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn sighup_takes_a_new_plan_and_a_bad_set_keeps_the_old_one() {
    let scenario = quiet();
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    scenario.write(
        "jobs/more.yaml",
        "enabled: false\ncron: \"0 5 * * *\"\ntimezone: UTC\nprompt: { text: hi }\n",
    );
    log.signal("HUP");
    assert_eq!(log.until("plan stands")["jobs"], 2);
    scenario.write(
        "jobs/more.yaml",
        "cron: \"0 99 * * *\"\ntimezone: UTC\nprompt: { text: hi }\n",
    );
    log.signal("HUP");
    let refusal = log.until("the old plan stands: the new files cannot be used");
    assert!(
        refusal["findings"].as_str().unwrap().contains("99"),
        "{refusal}"
    );
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn changed_files_are_taken_over_without_a_signal_and_a_broken_set_is_in_status() {
    let scenario = quiet();
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    // As an editor saves: a new file takes the place of the old one.
    scenario.write(
        "jobs/.more.yaml.tmp",
        "enabled: false\ncron: \"0 5 * * *\"\ntimezone: UTC\nprompt: { text: hi }\n",
    );
    let (written, job) = (
        scenario.path().join("jobs/.more.yaml.tmp"),
        scenario.path().join("jobs/more.yaml"),
    );
    std::fs::rename(written, &job).unwrap();
    assert_eq!(log.until("plan stands")["jobs"], 2);
    let is_refused = || {
        let status = scenario.run(&["status", "--format", "json"]).exits(0);
        status.json()["refused_files"].clone()
    };
    assert!(is_refused().is_null());

    scenario.write("jobs/more.yaml", "cron: \"0 99 * * *\"\n");
    log.until("the old plan stands: the new files cannot be used");
    // The log line comes before the row.
    let refused = std::iter::repeat_with(is_refused)
        .take(200)
        .find(|refused| !refused.is_null())
        .expect("the refusal is in the store");
    assert!(refused["why"].to_string().contains("99"), "{refused}");
    scenario
        .run(&["status"])
        .exits(0)
        .says("files     not taken over")
        .says("99");

    std::fs::remove_file(&job).unwrap();
    assert_eq!(log.until("plan stands")["jobs"], 1);
    let lifted = std::iter::repeat_with(is_refused)
        .take(200)
        .any(|refused| refused.is_null());
    assert!(lifted);
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn folder_of_jobs_that_is_replaced_is_taken_over() {
    let scenario = quiet();
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    let path = |name: &str| scenario.path().join(name);
    std::fs::rename(path("jobs"), path("jobs.old")).unwrap();
    let refusal = log.until("the old plan stands: the new files cannot be used");
    assert!(
        refusal["findings"].to_string().contains("jobs"),
        "{refusal}"
    );
    std::fs::rename(path("jobs.old"), path("jobs")).unwrap();
    log.until("plan stands");
    scenario.write(
        "jobs/more.yaml",
        "enabled: false\ncron: \"0 5 * * *\"\ntimezone: UTC\nprompt: { text: hi }\n",
    );
    assert_eq!(log.until("plan stands")["jobs"], 2);
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn the_folder_of_the_store_must_be_writable() {
    let scenario = quiet();
    scenario.write("blocked", "a file, not a folder");
    scenario
        .run(&["daemon", "--store", "blocked"])
        .exits(2)
        .complains("blocked");
}

#[test]
fn a_log_on_a_pipe_is_json() {
    let scenario = quiet();
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    log.signal("TERM");
    let rest = log.rest();
    assert!(!rest.is_empty());
    assert!(
        rest.lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok()),
        "{rest}"
    );
    assert_eq!(log.code(), 0);
}

#[test]
fn a_reload_with_a_key_that_is_not_there_keeps_the_old_plan() {
    let scenario = quiet();
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    scenario.write(
        "offpeak.yaml",
        format!("{SETTINGS}keys: {{ main: {{ env: NOT_SET }} }}\n"),
    );
    log.signal("HUP");
    let refusal = log.until("the old plan stands: the new files cannot be used");
    assert!(
        refusal["findings"].as_str().unwrap().contains("NOT_SET"),
        "{refusal}"
    );
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn a_missing_key_of_a_disabled_job_stops_nobody() {
    let scenario = quiet().file(
        "offpeak.yaml",
        &format!(
            "{SETTINGS}keys: {{ main: {{ env: ANTHROPIC_API_KEY }}, other: {{ env: NOT_SET }} }}\n"
        ),
    );
    let off =
        "enabled: false\nkey: other\ncron: \"0 5 * * *\"\ntimezone: UTC\nprompt: { text: hi }\n";
    scenario.write("jobs/off.yaml", off);
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

/// Two groups whose keys hold one secret, with this severity of `same-secret` if any.
fn sharing(severity: &str) -> Scenario {
    let settings = format!(
        "rules: {{ peaks: {{ windows: [] }}, severity: {{ {severity} }} }}\n\
         keys: {{ main: {{ env: ANTHROPIC_API_KEY }}, spare: {{ env: SPARE_KEY, group: night }} }}\n"
    );
    quiet()
        .file("offpeak.yaml", &settings)
        .env("SPARE_KEY", "test-key-1234")
}

const SHARED: &str =
    "same-secret: key `main` of group `main` and key `spare` of group `night` hold the same secret";
const ONE_GROUP: &str =
    "the provider counts both groups as one; give both keys one `group` in offpeak.yaml";

#[test]
fn two_groups_with_one_secret_are_a_warning_without_the_secret() {
    let scenario = sharing("");
    let mut log = Log::start(&scenario, &["daemon"]);
    let warning = log.until(ONE_GROUP);
    assert_eq!(warning["level"], "WARN");
    assert_eq!(warning["finding"], SHARED);
    assert!(!warning.to_string().contains("test-key-1234"));
    log.until("plan stands");
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn one_secret_in_two_groups_is_refused_where_the_settings_say_so() {
    let scenario = sharing("same-secret: error");
    let done = scenario.run(&["daemon"]).exits(1);
    assert!(!done.stderr.contains("test-key-1234"));
    done.complains(SHARED)
        .complains("give both keys one `group` in offpeak.yaml, or start with --allow-unsafe");
    let mut log = Log::start(&scenario, &["daemon", "--allow-unsafe"]);
    assert_eq!(log.until(ONE_GROUP)["finding"], SHARED);
    log.until("plan stands");
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn one_secret_in_two_groups_is_no_matter_where_the_settings_say_so() {
    let scenario = sharing("same-secret: off");
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    let seen = log.lines.seen();
    assert!(!seen.contains("same-secret"), "{seen}");
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn a_reload_that_brings_one_secret_to_two_groups_keeps_the_old_plan() {
    let scenario = sharing("same-secret: error");
    let apart = format!("{SETTINGS}keys: {{ main: {{ env: ANTHROPIC_API_KEY }} }}\n");
    let shared = scenario.read("offpeak.yaml");
    scenario.write("offpeak.yaml", apart);
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    scenario.write("offpeak.yaml", shared);
    log.signal("HUP");
    let refusal = log.until("the old plan stands: the new files cannot be used");
    assert!(
        refusal["findings"].as_str().unwrap().contains(SHARED),
        "{refusal}"
    );
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn an_address_that_cannot_be_used_is_a_warning_and_no_reason_to_stop() {
    let settings = "notify: { ops: { webhook_env: OPS_URL } }\ndeadman: { url_env: DEADMAN_URL }\n";
    let scenario = quiet()
        .file("offpeak.yaml", &format!("{SETTINGS}{settings}"))
        .file(
            "jobs/later.yaml",
            "cron: \"0 5 29 2 *\"\ntimezone: UTC\nprompt: { text: hi }\nnotify: ops\n",
        )
        .env("OPS_URL", "planted-7Zq9x");
    let mut log = Log::start(&scenario, &["daemon"]);
    let unusable = "nobody is told: the address in this variable cannot be used";
    let entry = log.until(unusable);
    assert_eq!(entry["variable"], "OPS_URL");
    assert!(!entry.to_string().contains("planted"), "{entry}");
    let unset = "nobody is told: this variable, which should hold the address, is not set";
    assert_eq!(log.until(unset)["variable"], "DEADMAN_URL");
    log.until("plan stands");
    log.signal("TERM");
    log.until("stopped");
    assert_eq!(log.code(), 0);
}
