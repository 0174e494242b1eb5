//! `validate` as its users see it.

use crate::scenario::{Scenario, repository};

const FROM: [&str; 2] = ["--from", "2026-12-01"];

fn validate(scenario: &Scenario) -> crate::scenario::Done {
    scenario.run(&["validate", FROM[0], FROM[1]])
}

#[test]
fn a_safe_rotation_exits_with_0_and_shows_the_next_firings() {
    let scenario = Scenario::new()
        .job("early", "0 5 * * *")
        .job("later", "15 5 * * *");
    let done = validate(&scenario).exits(0);
    assert_eq!(done.stderr, "");
    done.says("Wed 2026-12-02 05:00 JST")
        .says("2 jobs in 1 group: no collision and no peak firing before 20");
}

#[test]
fn fifteen_minutes_pass_and_one_less_does_not() {
    validate(&Scenario::new().job("a", "0 5 * * *").job("b", "15 5 * * *")).exits(0);
    validate(&Scenario::new().job("a", "0 5 * * *").job("b", "14 5 * * *"))
        .exits(1)
        .says("key-gap")
        .says("14 min");
}

#[test]
fn a_collision_marks_both_files_and_suggests_a_legal_time() {
    let done = validate(&Scenario::new().job("a", "0 5 * * *").job("b", "5 5 * * *")).exits(1);
    done.says("jobs/b.yaml:1:7")
        .says("jobs/a.yaml")
        .says("error[key-gap]");
}

#[test]
fn the_repositorys_rotation_passes() {
    let root = repository();
    let root = root.to_str().unwrap();
    Scenario::new()
        .run(&["-C", root, "validate", "jobs", "--from", "2026-12-01"])
        .exits(0)
        .says("4 jobs in 1 group");
}

#[test]
fn json_names_rule_instants_and_place() {
    let scenario = Scenario::new().job("a", "0 5 * * *").job("b", "5 5 * * *");
    let done = scenario
        .run(&["validate", FROM[0], FROM[1], "--format", "json"])
        .exits(1);
    let verdict = done.json();
    assert_eq!(verdict["version"], 1);
    assert_eq!(verdict["from"], "2026-12-01T00:00:00Z");
    assert_eq!(verdict["jobs"], 2);
    assert_eq!(verdict["ok"], false);
    let finding = &verdict["findings"][0];
    assert_eq!(finding["rule"], "key-gap");
    assert_eq!(finding["severity"], "error");
    assert_eq!(finding["job"], "b");
    assert_eq!(finding["at"], "2026-12-01T20:05:00Z");
    assert_eq!(finding["other"], "a");
    assert_eq!(finding["other_at"], "2026-12-01T20:00:00Z");
    assert_eq!(finding["gap_seconds"], 300);
    assert_eq!(finding["per_year"], 365);
    assert_eq!(finding["file"], "jobs/b.yaml");
    assert_eq!(finding["line"], 1);
    assert!(finding["suggestion"]["cron"].is_string());
}

#[test]
fn a_peak_firing_is_an_error_on_the_first_minute_and_none_on_the_last() {
    validate(&Scenario::new().job("a", "0 7 * * *"))
        .exits(1)
        .says("peak-window");
    validate(&Scenario::new().job("a", "0 9 * * *")).exits(0);
    validate(&Scenario::new().job("a", "59 22 * * *"))
        .exits(1)
        .says("peak-window");
    validate(&Scenario::new().job("a", "0 23 * * *")).exits(0);
}

#[test]
fn strict_turns_advice_into_an_exit_code() {
    let scenario = Scenario::new().job("a", "0 5 * * *").job("b", "20 5 * * *");
    validate(&scenario)
        .exits(0)
        .says("warning[comfortable-gap]");
    scenario
        .run(&["validate", FROM[0], FROM[1], "--strict"])
        .exits(1);
}

#[test]
fn an_empty_folder_says_what_to_do() {
    let done = validate(&Scenario::new()).exits(2);
    assert!(format!("{}{}", done.stdout, done.stderr).contains("offpeak init"));
}

#[test]
fn invalid_yaml_exits_with_2_and_marks_the_place() {
    let scenario = Scenario::new().file("jobs/a.yaml", "cron: \"0 5 * * *\"\n  prompt: [\n");
    let done = validate(&scenario).exits(2);
    assert!(done.stdout.contains("jobs/a.yaml:2"), "{}", done.stdout);
}

#[test]
fn an_unquoted_cron_is_told_to_be_quoted() {
    let scenario = Scenario::new().file(
        "jobs/a.yaml",
        "cron: */5 * * * *\ntimezone: Asia/Tokyo\nprompt: { text: hi }\n",
    );
    let done = validate(&scenario);
    assert_ne!(done.code, 0);
    done.says("quotes");
}

#[test]
fn five_mistakes_in_two_files_are_five_findings() {
    let scenario = Scenario::new()
        .file("jobs/a.yaml", "cron: \"0 27 * * *\"\ntimezone: JST\npromt: { text: hi }\n")
        .file("jobs/b.yaml", "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: { text: \"{{ nope }}\" }\nkey: other\n");
    let done = scenario
        .run(&["validate", FROM[0], FROM[1], "--format", "json"])
        .exits(1);
    let verdict = done.json();
    let mut rules: Vec<&str> = verdict["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    rules.sort_unstable();
    for rule in [
        "bad-cron",
        "bad-field",
        "bad-zone",
        "unknown-key",
        "unknown-variable",
    ] {
        assert!(rules.contains(&rule), "no {rule} in {rules:?}");
    }
    validate(&scenario)
        .exits(1)
        .says("Asia/Tokyo")
        .says("did you mean `prompt`");
}

#[test]
fn a_secret_in_a_file_is_found_and_never_echoed() {
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let scenario = Scenario::new().job("a", "0 5 * * *").file(
        "offpeak.yaml",
        &format!("keys: {{ main: {{ env: {secret} }} }}\n"),
    );
    let done = validate(&scenario);
    assert_ne!(done.code, 0);
    assert!(done.stdout.contains("literal-secret"), "{}", done.stdout);
    assert!(!done.stdout.contains(secret) && !done.stderr.contains(secret));
}

#[test]
fn a_missing_key_in_the_environment_is_no_matter_of_validate() {
    validate(&Scenario::new().job("a", "0 5 * * *")).exits(0);
}

#[test]
fn an_unreadable_folder_exits_with_2() {
    let done = Scenario::new().run(&["-C", "nowhere", "validate"]).exits(2);
    assert!(format!("{}{}", done.stdout, done.stderr).contains("nowhere"));
}

#[test]
fn an_output_over_a_file_of_offpeaks_own_is_refused() {
    for target in [
        "jobs/a.yaml",
        "./jobs/../jobs/a.yaml",
        "offpeak.yaml",
        ".offpeak/offpeak.db",
        "jobs/p.md",
    ] {
        let job = format!(
            "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: {{ file: p.md }}\noutput: {{ file: \"{target}\" }}\n"
        );
        let scenario = Scenario::new()
            .file("jobs/a.yaml", &job)
            .file("jobs/p.md", "hi");
        validate(&scenario).exits(1).says("output-collision");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_among_the_job_files_is_named_and_waits_for_nobody() {
    let scenario = Scenario::new().job("a", "0 5 * * *");
    let pipe = scenario.path().join("jobs/pipe.yaml");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    validate(&scenario)
        .exits(2)
        .says("jobs/pipe.yaml")
        .says("no regular file");
}

#[test]
fn a_reader_that_has_seen_enough_does_not_change_the_verdict() {
    let scenario = Scenario::new().job("a", "0 5 * * *").job("b", "5 5 * * *");
    let mut running = scenario.start(&["validate", FROM[0], FROM[1]]);
    drop(running.stdout());
    assert_eq!(running.wait().code, 1);
}

#[test]
fn a_proof_where_no_zone_data_reaches_is_refused() {
    let scenario = Scenario::new().job("a", "0 5 * * *");
    scenario
        .run(&["validate", "--from", "2500-01-01"])
        .exits(2)
        .complains("1971 to 2170");
}

#[test]
fn a_file_name_does_not_move_the_terminal() {
    let scenario = Scenario::new().file("jobs/a\u{1b}[31m.yaml", "cron: \"0 5 * * *\"\n");
    let done = validate(&scenario).exits(1);
    assert!(!done.stdout.contains('\u{1b}'), "{:?}", done.stdout);
}
