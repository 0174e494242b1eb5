//! `pause`, `resume`, `retry` and `drop`.

use crate::scenario::Scenario;

/// Two jobs of the group `main`; the upstream refuses every connection.
fn folder() -> Scenario {
    Scenario::new()
        .job("digest", "0 5 * * *")
        .job("review", "0 6 * * *")
        .env("ANTHROPIC_API_KEY", "test-key-1234")
        .file(
            "offpeak.yaml",
            "upstream: { base_url: \"http://127.0.0.1:9\" }\nretry: { base_delay: 1ms, max_delay: 20ms }\n",
        )
}

/// The same with a deferral of `digest`.
fn deferred() -> Scenario {
    let scenario = folder();
    scenario.run(&["run", "digest"]).exits(75);
    scenario
}

fn status(scenario: &Scenario) -> serde_json::Value {
    scenario
        .run(&["status", "--format", "json"])
        .exits(0)
        .json()
}

/// The newest run.
fn newest(scenario: &Scenario) -> serde_json::Value {
    scenario
        .run(&["history", "-n", "1", "--format", "json"])
        .exits(0)
        .json()
}

fn is_sound(scenario: &Scenario) {
    scenario.run(&["store", "check"]).exits(0).says("sound");
}

#[test]
fn a_paused_job_is_shown_until_it_is_resumed() {
    let scenario = folder();
    scenario
        .run(&["pause", "digest", "--reason", "holidays"])
        .exits(0)
        .says("job digest: paused until `offpeak resume digest` (holidays); its slots are skipped");
    scenario
        .run(&["status"])
        .exits(0)
        .says("paused    digest               until `offpeak resume digest` (holidays), began")
        .says("), paused\n");
    let pauses = &status(&scenario)["pauses"];
    assert_eq!(pauses[0]["job"], "digest");
    assert_eq!(pauses[0]["reason"], "holidays");
    assert!(pauses[0]["since"].as_str().unwrap().ends_with('Z'));
    assert!(pauses[0].get("until").is_none());
    scenario
        .run(&["resume", "digest"])
        .exits(0)
        .says("job digest: the pause is lifted (began")
        .says("holidays)");
    scenario
        .run(&["resume", "digest"])
        .exits(0)
        .says("job digest: there was no pause");
    assert_eq!(status(&scenario)["pauses"], serde_json::json!([]));
    is_sound(&scenario);
}

#[test]
fn a_paused_group_is_resumed_apart_from_its_jobs() {
    let scenario = folder();
    let paused = scenario
        .run(&["pause", "main", "--for", "8h", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(paused["group"], "main");
    assert!(paused["until"].as_str().unwrap() > paused["since"].as_str().unwrap());
    scenario
        .run(&["status"])
        .exits(0)
        .says("paused    group main           until ");
    scenario.run(&["pause", "job:digest"]).exits(0);
    scenario
        .run(&["resume", "digest"])
        .exits(0)
        .says("the pause is lifted")
        .says("its group is paused still: `offpeak resume group:main`");
    let told = scenario
        .run(&["resume", "digest", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        told,
        serde_json::json!({ "job": "digest", "pause_lifted": false, "group_paused": true })
    );
    scenario
        .run(&["resume", "group:main"])
        .exits(0)
        .says("group main: the pause is lifted")
        .says("group main: there was no hold; the breaker is closed");
    let told = scenario
        .run(&["resume", "main", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        told,
        serde_json::json!({ "group": "main", "lifted": false, "pause_lifted": false })
    );
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_one() {
    let scenario = folder();
    for (name, what, help) in [
        (
            "digets",
            "there is no job and no group `digets`",
            "`digest`",
        ),
        ("mian", "there is no job and no group `mian`", "`main`"),
        ("job:digets", "there is no job `digets`", "`digest`"),
        ("group:digest", "there is no group `digest`", "main"),
        (
            "zzz",
            "no group `zzz`",
            "the names are: digest, main, review",
        ),
    ] {
        for command in ["pause", "resume"] {
            scenario
                .run(&[command, name])
                .exits(2)
                .complains(what)
                .complains(help);
        }
    }
    for command in ["retry", "drop"] {
        scenario
            .run(&[command, "digets"])
            .exits(2)
            .complains("there is no job `digets`")
            .complains("did you mean `digest`?");
    }
}

#[test]
fn where_there_is_no_store_nothing_is_lifted_and_none_is_made() {
    // Cause: the store was opened for writing, and so made, before it was known that there is something to change.
    let scenario = folder();
    scenario.run(&["resume", "mian"]).exits(2);
    scenario
        .run(&["resume", "main"])
        .exits(0)
        .says("there was no hold");
    scenario
        .run(&["resume", "digest"])
        .exits(0)
        .says("there was no pause");
    scenario
        .run(&["drop", "digets"])
        .exits(2)
        .complains("did you mean `digest`?");
    scenario
        .run(&["drop", "digest"])
        .exits(1)
        .complains("no work of job `digest` is pending");
    scenario
        .run(&["retry", "digest"])
        .exits(1)
        .complains("has no slot on record yet");
    assert!(!scenario.path().join(".offpeak").exists());
}

#[test]
fn a_name_of_a_job_and_of_a_group_is_asked_back() {
    let scenario = folder().job("main", "0 4 * * *");
    scenario
        .run(&["pause", "main"])
        .exits(2)
        .complains("`main` is the name of a job and of a group")
        .complains("write `job:main` or `group:main`");
    scenario
        .run(&["pause", "job:main"])
        .exits(0)
        .says("job main: paused until `offpeak resume main`");
}

#[test]
fn an_end_that_is_past_or_endless_is_refused() {
    let scenario = folder();
    scenario
        .run(&["pause", "digest", "--until", "2001-01-01"])
        .exits(2)
        .complains("`--until 2001-01-01T00:00:00Z` is past")
        .complains("with `--for`");
    scenario
        .run(&["pause", "digest", "--for", "4000000000d"])
        .exits(2)
        .complains("`--for` is longer than the calendar");
    scenario
        .run(&["pause", "digest", "--for", "soon"])
        .exits(2)
        .complains("such as 90m, 8h or 30d");
    scenario
        .run(&["pause", "digest", "--for", "1h", "--until", "2099-01-01"])
        .exits(2)
        .complains("cannot be used with");
    assert_eq!(status(&scenario)["pauses"], serde_json::json!([]));
}

#[test]
fn a_job_that_is_gone_can_be_resumed() {
    let scenario = folder();
    scenario.run(&["pause", "digest"]).exits(0);
    std::fs::remove_file(scenario.path().join("jobs/digest.yaml")).unwrap();
    scenario
        .run(&["resume", "digest"])
        .exits(0)
        .says("job digest: the pause is lifted");
    scenario.run(&["resume", "digest"]).exits(2);
}

#[test]
fn a_run_of_a_paused_job_goes_ahead_with_a_note_and_its_work_waits() {
    let scenario = folder();
    scenario
        .run(&["pause", "digest", "--reason", "holidays"])
        .exits(0);
    scenario.run(&["run", "digest"]).exits(75).complains(
        "job digest is paused until `offpeak resume digest` (holidays); this run goes ahead",
    );
    scenario
        .run(&["status"])
        .exits(0)
        .says("exhausted: waits for the end of the pause");
}

#[test]
fn a_reason_of_several_lines_breaks_no_line_of_what_is_told() {
    // Cause: reasons were kept as they came. One with a line break or an escape sequence made up lines of `status`.
    let scenario = deferred();
    let reason = "gone\n\u{1b}[2Jdaemon    running\r\n";
    scenario
        .run(&["drop", "digest", "--reason", reason])
        .exits(0);
    let note = "dropped by a person: gone [2Jdaemon running";
    assert_eq!(newest(&scenario)["note"], note);
    scenario
        .run(&["pause", "digest", "--reason", reason])
        .exits(0)
        .says("(gone [2Jdaemon running); its slots are skipped");
    scenario
        .run(&["status"])
        .exits(0)
        .says("(gone [2Jdaemon running), began");
}

#[test]
fn dropped_work_is_in_the_history_and_can_be_asked_for_again() {
    let scenario = deferred();
    scenario
        .run(&["retry", "digest"])
        .exits(1)
        .complains("the work of the slot of")
        .complains("is pending already")
        .complains("see `offpeak status`");
    scenario
        .run(&["drop", "digest", "--reason", "stale"])
        .exits(0)
        .says("job digest: the work of the slot of")
        .says("is dropped");
    let run = newest(&scenario);
    assert_eq!(
        (&run["outcome"], &run["reason"]),
        (&"failed".into(), &"dropped".into())
    );
    assert_eq!(run["note"], "dropped by a person: stale");
    is_sound(&scenario);
    scenario
        .run(&["drop", "digest"])
        .exits(1)
        .complains("no work of job `digest` is pending");
    scenario
        .run(&["retry", "digest"])
        .exits(0)
        .says("is pending again; goes on in the slot of");
    let asked = newest(&scenario);
    assert_eq!(
        (&asked["outcome"], &asked["reason"], &asked["origin"]),
        (&"yielded".into(), &"asked".into(), &"manual".into())
    );
    assert_eq!(asked["fire_at"], run["fire_at"]);
    assert_eq!(status(&scenario)["deferrals"][0]["reason"], "asked");
    is_sound(&scenario);
}

#[test]
fn a_slot_is_named_by_its_instant() {
    let scenario = deferred();
    let fire_at = newest(&scenario)["fire_at"].as_str().unwrap().to_owned();
    scenario
        .run(&["drop", "digest", "2001-01-01"])
        .exits(1)
        .complains("no work of the slot of 2001-01-01T00:00:00Z of job `digest` is pending");
    let dropped = scenario
        .run(&["drop", "digest", &fire_at, "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        dropped,
        serde_json::json!({ "job": "digest", "dropped": [fire_at] })
    );
    scenario
        .run(&["retry", "digest", "2001-01-01"])
        .exits(1)
        .complains("job `digest` has no slot of 2001-01-01T00:00:00Z on record")
        .complains("see `offpeak history digest`");
    scenario.run(&["pause", "main"]).exits(0);
    let again = scenario
        .run(&["retry", "digest", &fire_at, "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(again["fire_at"], fire_at.as_str());
    assert_eq!(again["paused"]["group"], "main");
    scenario.run(&["drop", "digest", "--all"]).exits(0);
    scenario
        .run(&["retry", "digest"])
        .exits(0)
        .says("is pending again; group main is paused until `offpeak resume main`");
    scenario
        .run(&["drop", "digest", &fire_at, "--all"])
        .exits(2)
        .complains("cannot be used with");
    is_sound(&scenario);
}

#[test]
fn a_slot_that_succeeded_or_is_under_way_is_not_taken_up_again() {
    let scenario = deferred();
    let sql = |statements: &str| {
        rusqlite::Connection::open(scenario.path().join(".offpeak/offpeak.db"))
            .unwrap()
            .execute_batch(statements)
            .unwrap();
    };
    scenario
        .run(&["retry", "review"])
        .exits(1)
        .complains("job `review` has no slot on record yet")
        .complains("offpeak run review");
    sql("UPDATE deferrals SET state = 'running', run = 1");
    scenario
        .run(&["drop", "digest"])
        .exits(1)
        .complains("the work of job `digest` is under way");
    sql("DELETE FROM deferrals; UPDATE runs SET outcome = NULL, reason = NULL");
    scenario
        .run(&["retry", "digest"])
        .exits(1)
        .complains("of job `digest` is under way");
    sql("UPDATE runs SET outcome = 'succeeded'");
    scenario
        .run(&["retry", "digest"])
        .exits(1)
        .complains("of job `digest` succeeded")
        .complains("run it once more: offpeak run digest");
    sql(
        "INSERT INTO runs (job, fire_at, origin, grp, model, started_at, finished_at, outcome, reason)
         VALUES ('digest', 0, 'manual', 'main', 'm', 0, 0, 'failed', 'fatal')",
    );
    scenario
        .run(&["retry", "digest"])
        .exits(1)
        .complains("the newest that did not: offpeak retry digest 1970-01-01T00:00:00Z");
}

#[test]
fn a_disabled_jobs_work_is_not_taken_up_again_and_can_be_dropped() {
    let scenario = deferred();
    let job = scenario.read("jobs/digest.yaml");
    scenario.write("jobs/digest.yaml", format!("enabled: false\n{job}"));
    scenario
        .run(&["retry", "digest"])
        .exits(1)
        .complains("job `digest` is disabled: no slot would take its work")
        .complains("offpeak run digest");
    std::fs::remove_file(scenario.path().join("jobs/digest.yaml")).unwrap();
    scenario.run(&["drop", "digest"]).exits(0);
    is_sound(&scenario);
}
