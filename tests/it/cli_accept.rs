//! `accept` in a job and `rules.severity` in `offpeak.yaml`, as their users see them.

use crate::scenario::{Done, Scenario};

const JOB: &str = "timezone: Asia/Tokyo\nprompt: { text: \"Say hello on {{ date }}.\" }\n";

fn job(cron: &str, more: &str) -> String {
    // A run that ends before the next slot.
    format!("cron: \"{cron}\"\ntimeout: 1m\n{JOB}{more}")
}

/// Two jobs five minutes apart, the later one with more fields.
fn close(more: &str) -> Scenario {
    Scenario::new()
        .file("jobs/a.yaml", &job("0 5 * * *", ""))
        .file("jobs/b.yaml", &job("5 5 * * *", more))
}

fn validate(scenario: &Scenario) -> Done {
    scenario.run(&["validate", "--from", "2026-12-01"])
}

fn findings(scenario: &Scenario) -> Vec<serde_json::Value> {
    let done = scenario.run(&["validate", "--from", "2026-12-01", "--format", "json"]);
    let verdict = done.json();
    verdict["findings"].as_array().unwrap().clone()
}

#[test]
fn accepted_finding_is_listed_with_its_reason_and_stops_nothing() {
    validate(&close("")).exits(1).says("error[key-gap]");
    let scenario = close("accept: { key-gap: \"staging key\" }\n");
    validate(&scenario)
        .exits(0)
        .says("note[key-gap]")
        .says("accepted: staging key")
        .says("2 jobs in 1 group: no peak firing before 2054-12-02, 1 accepted");
    scenario
        .run(&["validate", "--from", "2026-12-01", "--strict"])
        .exits(0);
    let found = findings(&scenario);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["accepted"], "staging key");
    assert_eq!(found[0]["severity"], "error");
    assert!(findings(&close(""))[0]["accepted"].is_null());
}

#[test]
fn severity_of_the_settings_decides_the_exit_code() {
    let with = |severity: &str| {
        let text = format!("rules: {{ severity: {{ {severity} }} }}\n");
        validate(&close("").file("offpeak.yaml", &text))
    };
    with("key-gap: warn").exits(0).says("warning[key-gap]");
    with("key-gap: off, comfortable-gap: off")
        .exits(0)
        .says("no peak firing before");
    with("key-gap: off, comfortable-gap: error")
        .exits(1)
        .says("error[comfortable-gap]");
}

#[test]
fn rules_that_cannot_be_set_or_accepted_are_named_with_the_nearest() {
    let set = |severity: &str| {
        let text = format!("rules: {{ severity: {{ {severity} }} }}\n");
        validate(&close("").file("offpeak.yaml", &text)).exits(1)
    };
    set("key-gep: warn")
        .says("there is no rule `key-gep`")
        .says("did you mean `key-gap`?");
    set("bad-cron: off")
        .says("`bad-cron` always stays an error")
        .says("remove this and mend what it finds; `offpeak validate --explain bad-cron` says how");
    set("key-gap: never").says("key-gap: never");
    let accept = |text: &str| validate(&close(&format!("accept: {{ {text} }}\n"))).exits(1);
    accept("key-gab: \"staging key\"").says("did you mean `key-gap`?");
    accept("bad-zone: \"no\"").says("`bad-zone` always stays an error");
    accept("unused-accept: \"no\"")
        .says("`unused-accept` is about `accept` itself: no job can accept it")
        .says("for the whole folder write in offpeak.yaml `rules: { severity: { unused-accept: off } }`");
    accept("same-secret: \"no\"")
        .says("`same-secret` is no matter of one job: no job can accept it")
        .says("for the whole folder write in offpeak.yaml `rules: { severity: { same-secret: off } }`");
}

#[test]
fn keys_of_two_groups_that_name_one_variable_or_file_are_told() {
    let with = |more: &str| {
        let keys = "keys:\n  main: { env: ONE }\n  night: { env: ONE }\n  ";
        let files = "a: { file: x/../k, group: main }\n  b: { file: k, group: main }\n";
        let scenario = Scenario::new().file("jobs/a.yaml", &job("0 5 * * *", ""));
        validate(&scenario.file("offpeak.yaml", &format!("{keys}{files}{more}")))
    };
    let message = "key `main` of group `main` and key `night` of group `night` hold the same secret: \
                   both name the variable `ONE`";
    let done = with("").exits(0);
    done.says(&format!("warning[same-secret]: {message}"))
        .says(" --> offpeak.yaml:3:17")
        .says("--- `main` names it here")
        .says("help: the provider counts both groups as one: give both keys one `group`, as in `night: { …, group: main }`")
        .says("1 warning");
    with("rules: { severity: { same-secret: error } }\n")
        .exits(1)
        .says("error[same-secret]");
    let none = with("rules: { severity: { same-secret: off } }\n").exits(0);
    assert!(!none.stdout.contains("same-secret"), "{}", none.stdout);
    // A file of one group may have two names; another group's is told once.
    with("  c: { file: ./k, group: day }\n  d: { file: k, group: day }\n")
        .exits(0)
        .says("key `a` of group `main` and key `c` of group `day` hold the same secret: both name the file k")
        .says("2 warnings");
}

#[test]
fn rule_accepted_for_nothing_is_advice_that_says_what_to_remove() {
    let scenario = Scenario::new().file(
        "jobs/a.yaml",
        &job(
            "0 5 * * *",
            "accept: { peak-window: \"batch\", missing-file: \"made later\" }\n",
        ),
    );
    validate(&scenario)
        .exits(0)
        .says("warning[unused-accept]")
        .says("`a` accepts peak-window, which finds nothing in it")
        .says("remove `peak-window` from its `accept`")
        .says("`a` accepts missing-file, which finds nothing in it");
    scenario
        .run(&["validate", "--from", "2026-12-01", "--strict"])
        .exits(1);
    let places: Vec<_> = findings(&scenario)
        .iter()
        .map(|found| (found["line"].clone(), found["column"].clone()))
        .collect();
    assert_eq!(places, [(5.into(), 33.into()), (5.into(), 11.into())]);
    scenario
        .run(&["validate", "--from", "2026-12-01", "--format", "github"])
        .exits(0)
        .says("line=5,col=11,endLine=5,endColumn=22,title=unused-accept");
}

#[test]
fn missing_file_and_a_shared_output_are_accepted_by_the_jobs_they_concern() {
    let prompt = "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: { file: later.md }\n\
                  accept: { missing-file: \"made later\" }\n";
    validate(&Scenario::new().file("jobs/a.yaml", prompt))
        .exits(0)
        .says("note[missing-file]")
        .says("accepted: made later");
    let output = "output: { file: out/one.md }\n";
    let shared = |of_a: &str, of_b: &str| {
        Scenario::new()
            .file("jobs/a.yaml", &job("0 3 * * *", &format!("{output}{of_a}")))
            .file("jobs/b.yaml", &job("0 5 * * *", &format!("{output}{of_b}")))
    };
    let accept = "accept: { output-collision: \"on purpose\" }\n";
    validate(&shared("", ""))
        .exits(1)
        .says("error[output-collision]");
    for scenario in [shared(accept, ""), shared("", accept)] {
        validate(&scenario).exits(0).says("note[output-collision]");
        let unused = findings(&scenario)
            .iter()
            .any(|found| found["rule"] == "unused-accept");
        assert!(!unused);
    }
}
