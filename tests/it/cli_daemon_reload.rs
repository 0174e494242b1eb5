//! Taking changed files over, as editors, checkouts and accidents change them.

use std::io::Write;

use crate::cli_daemon::{Log, quiet};
use crate::cli_daemon_stop::{PAUSE, due_now, serving};

const REFUSED: &str = "the old plan stands: the new files cannot be used";

fn off(hour: usize) -> String {
    format!("enabled: false\ncron: \"0 {hour} * * *\"\ntimezone: UTC\nprompt: {{ text: hi }}\n")
}

#[test]
fn many_files_at_once_are_taken_over_together_or_not_at_all() {
    let scenario = quiet();
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    // Before the others, so that no look at them is without it.
    scenario.write("jobs/zz.yaml", "cron: \"0 99 * * *\"\n");
    for n in 0..60 {
        scenario.write(&format!("jobs/n{n}.yaml"), off(n % 24));
    }
    log.signal("HUP");
    let refusal = log.until(REFUSED);
    assert!(refusal["findings"].to_string().contains("99"), "{refusal}");
    scenario.write("jobs/zz.yaml", off(5));
    // No plan stood between the first one and that of all the files.
    assert_eq!(log.until("plan stands")["jobs"], 62);
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn half_of_a_file_is_refused_and_the_whole_is_taken_over() {
    let scenario = quiet();
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    let path = scenario.path().join("jobs/more.yaml");
    let text = off(5);
    let (half, other) = text.split_at(text.len() - 8);
    let mut file = std::fs::File::create(path).unwrap();
    file.write_all(half.as_bytes()).unwrap();
    log.until(REFUSED);
    file.write_all(other.as_bytes()).unwrap();
    drop(file);
    assert_eq!(log.until("plan stands")["jobs"], 2);
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn file_that_is_cut_to_nothing_while_it_is_saved_keeps_the_old_plan() {
    let scenario = quiet();
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("plan stands");
    let text = scenario.read("jobs/later.yaml");
    scenario.write("jobs/later.yaml", "");
    log.until(REFUSED);
    scenario.write("jobs/later.yaml", text);
    assert_eq!(log.until("plan stands")["next_job"], "later");
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn work_that_has_begun_ends_by_the_definition_it_began_with() {
    let (scenario, _mock) = serving("latency: { median: 1ms }\n", "");
    let job = |output: &str, key: &str| {
        let wait = "touch begun; while [ ! -e go ]; do sleep 0.02; done; echo ready";
        format!(
            "cron: \"0 5 29 2 *\"\ntimezone: UTC\nkey: {key}\n\
             inputs: {{ all: {{ command: [\"sh\", \"-c\", \"{wait}\"] }} }}\n\
             prompt: {{ text: \"{{{{ all }}}}\" }}\noutput: {{ file: \"{output}\" }}\n"
        )
    };
    let settings = scenario.read("offpeak.yaml");
    let with_key = |key: &str| {
        let keys = format!("keys: {{ {key}: {{ env: ANTHROPIC_API_KEY }} }}\n");
        scenario.write("offpeak.yaml", format!("{settings}{keys}"));
    };
    with_key("main");
    scenario.write("jobs/later.yaml", job("old.md", "main"));
    due_now(&scenario);
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("run started");
    let begun = || scenario.path().join("jobs/begun").exists();
    while !begun() {
        std::thread::park_timeout(PAUSE);
    }
    // The client was exchanged under the run: it looked for its key among the new ones, and failed.
    with_key("renamed");
    scenario.write("jobs/later.yaml", job("new.md", "renamed"));
    log.signal("HUP");
    log.until("plan stands");
    scenario.write("jobs/go", "");
    let ended = log.until("run ended");
    assert_eq!(ended["outcome"], "succeeded", "{ended}");
    assert!(!scenario.read("old.md").is_empty());
    assert!(!scenario.path().join("new.md").exists());
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}
