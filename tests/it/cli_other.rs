//! `init`, `config`, `completions`, `man`, and what holds for every command.

use crate::scenario::Scenario;

#[test]
fn init_makes_a_folder_that_passes_and_overwrites_nothing() {
    let scenario = Scenario::new();
    scenario
        .run(&["init", "night"])
        .exits(0)
        .says("wrote night/jobs/daily-digest.yaml");
    scenario
        .run(&[
            "-C",
            "night",
            "validate",
            "--from",
            "2026-12-01",
            "--strict",
        ])
        .exits(0);
    scenario.write("night/jobs/daily-digest.yaml", "mine");
    scenario
        .run(&["init", "night"])
        .exits(2)
        .complains("nothing was written");
    assert_eq!(scenario.read("night/jobs/daily-digest.yaml"), "mine");
}

#[test]
fn the_defaults_are_yaml_that_passes_as_settings() {
    let scenario = Scenario::new().job("a", "0 5 * * *");
    let defaults = scenario.run(&["config", "--defaults"]).exits(0).stdout;
    assert!(defaults.contains("min_gap: 15m") && defaults.contains('#'));
    scenario.write("offpeak.yaml", &defaults);
    scenario.run(&["validate", "--from", "2026-12-01"]).exits(0);
}

#[test]
fn config_says_what_is_in_force() {
    let scenario = Scenario::new()
        .job("a", "0 5 * * *")
        .file("other.yaml", "rules: { min_gap: 20m }\n");
    scenario
        .run(&["config"])
        .exits(0)
        .says("spacing   15 min")
        .says("env ANTHROPIC_API_KEY: not set");
    scenario
        .run(&["config", "--config", "other.yaml"])
        .exits(0)
        .says("spacing   20 min");
    let shown = scenario
        .run(&["config", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(shown["min_gap_seconds"], 900);
    assert_eq!(shown["keys"]["main"]["found"], "not set");
}

#[test]
fn completions_and_the_manual_name_every_command() {
    let scenario = Scenario::new();
    let manual = scenario.run(&["man"]).exits(0).stdout;
    let script = scenario.run(&["completions", "bash"]).exits(0).stdout;
    for command in ["validate", "dry\\-run", "daemon", "demo"] {
        assert!(manual.contains(command), "{command}");
    }
    for command in ["validate", "dry-run", "daemon", "demo"] {
        assert!(script.contains(command), "{command}");
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    let scenario = Scenario::new();
    scenario.run(&["no-such-command"]).exits(2);
    scenario
        .run(&["validate", "--from", "tomorrow"])
        .exits(2)
        .complains("2026-12-01");
    scenario.run(&["--version"]).exits(0).says("offpeak 0.1.0");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let scenario = Scenario::new();
    let mut running = scenario.start(&["config", "--defaults"]);
    drop(running.stdout());
    let done = running.wait();
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
}

#[test]
fn config_tells_what_is_wrong_in_the_settings_and_prints_none() {
    let scenario = Scenario::new()
        .job("digest", "0 27 * * *")
        .file("offpeak.yaml", "rules: { min_gap: soon, max_gap: 1h }\n");
    for format in ["human", "json"] {
        let done = scenario.run(&["config", "--format", format]).exits(1);
        assert_eq!(done.stdout, "");
        assert!(!done.stderr.contains("bad-cron"), "{}", done.stderr);
        done.complains("`min_gap`: expected")
            .complains("unknown field `max_gap`");
    }
    // A job's mistakes are no matter of the settings.
    scenario.write("offpeak.yaml", "rules: { min_gap: 20m }\n");
    scenario.run(&["config"]).exits(0).says("spacing   20 min");
}

// One broken job file took away every command that a person needs then: `status`, `pause`, even the backup.
#[test]
fn broken_job_file_takes_away_no_command_that_looks_back_or_talks_to_the_store() {
    let scenario = Scenario::new()
        .job("a", "0 5 * * *")
        .file("jobs/zz.yaml", "cron: [");
    drop(offpeak::store::SqliteStore::open(&scenario.path().join(".offpeak")).unwrap());
    scenario
        .run(&["why", "a"])
        .exits(1)
        .complains("nothing is on record of job `a`");
    for args in [
        &["status"][..],
        &["history"],
        &["store", "check"],
        &["store", "backup", "copy.db"],
        &["pause", "a"],
        &["resume", "a"],
    ] {
        scenario.run(args).exits(0);
    }
    scenario.run(&["validate"]).exits(2).says("zz.yaml");
    let broken = Scenario::new().file("offpeak.yaml", "store: [");
    broken.run(&["status"]).exits(2).complains("offpeak.yaml");
    broken.run(&["status", "--store", "elsewhere"]).exits(0);
}

// An answer could become a job whose commands were run, or take the place of a key.
#[test]
fn output_that_would_become_a_job_or_a_key_is_no_output() {
    for (output, expected) in [
        ("jobs/{{ date }}.yaml", "would become a job"),
        ("jobs/new.yml", "would become a job"),
        ("secret", "is a file that offpeak reads"),
    ] {
        let job = format!(
            "cron: \"0 5 * * *\"\ntimezone: UTC\nprompt: {{ text: hi }}\noutput: {{ file: \"{output}\" }}\n"
        );
        let scenario = Scenario::new()
            .file("offpeak.yaml", "keys: { main: { file: secret } }\n")
            .file("secret", "sk-test-1")
            .file("jobs/a.yaml", &job);
        scenario
            .run(&["validate"])
            .exits(1)
            .says("output-collision")
            .says(expected);
    }
}
