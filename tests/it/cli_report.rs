//! `report`: figures of the history as text, JSON and CSV.

use crate::scenario::Scenario;

/// A folder whose store holds runs at given instants.
pub fn folder() -> Scenario {
    let scenario = Scenario::new()
        .job("digest", "0 5 * * *")
        .job("links", "0 4 * * *")
        .env("ANTHROPIC_API_KEY", "test-key-1234")
        .file(
            "offpeak.yaml",
            "upstream: { base_url: \"http://127.0.0.1:9\" }\nretry: { base_delay: 1ms, max_delay: 20ms }\n",
        );
    scenario.run(&["run", "digest"]).exits(75);
    sql(
        &scenario,
        "DELETE FROM deferrals; DELETE FROM runs; DELETE FROM calls; DELETE FROM attempts",
    );
    scenario
}

/// Statements on its store.
pub fn sql(scenario: &Scenario, statements: &str) {
    rusqlite::Connection::open(scenario.path().join(".offpeak/offpeak.db"))
        .unwrap()
        .execute_batch(statements)
        .unwrap();
}

/// 2026-12-04T20:00:00Z, which is 05:00 in Japan.
const FIVE: i64 = 1_796_414_400_000;
const MINUTE: i64 = 60_000;

/// A run of this job at so many minutes after five that succeeded at its last attempt.
pub fn answered(scenario: &Scenario, id: i64, job: &str, minutes: i64, latencies: &[i64]) {
    let at = FIVE + minutes * MINUTE;
    let mut rows = format!(
        "INSERT INTO runs (id, job, fire_at, origin, grp, model, started_at, finished_at, outcome)
         VALUES ({id}, '{job}', {at}, 'scheduled', 'main', 'claude-sonnet-5-5', {at}, {at} + 60000, 'succeeded');
         INSERT INTO calls (id, run, model, stop_reason, input_tokens, cache_write_5m_tokens, cache_write_1h_tokens,
           cache_read_tokens, output_tokens, cost_usd)
         VALUES ({id}, {id}, 'claude-sonnet-5-5', 'end_turn', 15000, 0, 0, 0, 10, 0.05);"
    );
    for (index, latency) in latencies.iter().enumerate() {
        let n = index + 1;
        let (class, status) = if n == latencies.len() {
            ("success", 200)
        } else {
            ("retryable", 529)
        };
        let row = format!(
            "INSERT INTO attempts (call, n, started_at, wait_ms, latency_ms, first_byte_ms, status, class)
             VALUES ({id}, {n}, {at}, 0, {latency}, {latency} / 2, {status}, '{class}');"
        );
        rows.push_str(&row);
    }
    sql(scenario, &rows);
}

const DECEMBER: [&str; 4] = ["--since", "2026-12-01", "--until", "2026-12-20"];

/// The command over the first weeks of December.
pub fn report(more: &[&'static str]) -> Vec<&'static str> {
    [&["report"][..], &DECEMBER, more].concat()
}

#[test]
fn folder_without_a_store_has_nothing_to_report_and_gets_none() {
    let scenario = Scenario::new().job("digest", "0 5 * * *");
    scenario
        .run(&["report"])
        .exits(0)
        .says("nothing to report: no work was due from");
    let empty = scenario
        .run(&["report", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(empty["total"]["attempts"], 0);
    assert_eq!(empty["tail"]["samples"], 0);
    let table = scenario.run(&["report", "--format", "csv"]).exits(0).stdout;
    assert_eq!(table.lines().count(), 1, "the head alone: {table}");
    assert!(!scenario.path().join(".offpeak").exists());
}

#[test]
fn store_without_runs_and_span_without_work_say_so_and_draw_nothing() {
    let scenario = folder();
    let nothing = scenario.run(&["report"]).exits(0);
    assert_eq!(nothing.stdout.lines().count(), 1, "{}", nothing.stdout);
    answered(&scenario, 1, "digest", 0, &[700]);
    scenario
        .run(&["report", "--since", "2026-01-01", "--until", "2026-02-01"])
        .exits(0)
        .says("nothing to report: no work was due from 2026-01-01 09:00 to 2026-02-01 09:00 (JST)")
        .says("--days");
}

#[test]
fn one_sample_is_told_as_that() {
    let scenario = folder();
    answered(&scenario, 1, "digest", 0, &[700]);
    scenario
        .run(&report(&[]))
        .exits(0)
        .says("slots     1: 1 succeeded")
        .says("attempts  1 in 1 call, 1.00 a call; 0 brought no answer")
        .says("latency      700ms  700ms  700ms  700ms  1 attempt, too few for p99")
        .says("few")
        .says("the slowest 1 attempt, 700ms and more")
        .says("long cold input: 15000 tokens");
    let found = scenario.run(&report(&["--format", "json"])).exits(0).json();
    assert_eq!(found["total"]["latency"]["few"], true);
}

#[test]
fn advice_names_the_file_and_the_line() {
    let scenario = folder();
    answered(&scenario, 1, "digest", 0, &[300, 9000]);
    answered(&scenario, 2, "links", 2, &[300, 8000]);
    scenario
        .run(&report(&[]))
        .exits(0)
        .says("retry collision: 1m00s from links")
        .says(
            "jobs/digest.yaml:1: `cron` of `digest`, 4 of the slowest: it retries beside `links`",
        );
    let found = scenario.run(&report(&["--format", "json"])).exits(0).json();
    let advice = &found["tail"]["advice"][0];
    assert_eq!(
        (&advice["job"], &advice["file"], &advice["line"]),
        (&"digest".into(), &"jobs/digest.yaml".into(), &1.into())
    );
    // A job file that is broken or gone leaves its name.
    std::fs::remove_file(scenario.path().join("jobs/digest.yaml")).unwrap();
    scenario
        .run(&report(&[]))
        .exits(0)
        .says("job digest: `cron` of `digest`");
}

#[test]
fn json_has_every_figure_in_its_place() {
    let scenario = folder();
    answered(&scenario, 1, "digest", 0, &[300, 9000]);
    answered(&scenario, 2, "links", 2, &[8000]);
    let found = scenario.run(&report(&["--format", "json"])).exits(0).json();
    assert_eq!(
        (&found["version"], &found["since"]),
        (&1.into(), &"2026-12-01T00:00:00Z".into())
    );
    let total = &found["total"];
    assert_eq!(total["slots"], serde_json::json!({ "succeeded": 2 }));
    assert_eq!(
        total["latency"],
        serde_json::json!({
            "samples": 3, "few": true, "p50_ms": 8000, "p95_ms": 9000, "p99_ms": 9000, "max_ms": 9000,
        })
    );
    assert_eq!(
        (&total["mean_attempts"], &total["wasted"]),
        (&1.5.into(), &1.into())
    );
    assert_eq!(
        total["completion"],
        serde_json::json!({
            "due": 2, "done": 2, "p50_ms": 60000, "p95_ms": 60000, "p99_ms": 60000, "max_ms": 60000,
        })
    );
    assert_eq!(total["tokens"]["input"], 30000);
    assert_eq!(
        total["dollars"],
        serde_json::json!({ "known": 0.1, "unknown": 0 })
    );
    assert_eq!(
        total["cache"],
        serde_json::json!({ "answers": 2, "hits": 0 })
    );
    assert_eq!(found["groups"][0]["group"], "main");
    assert_eq!(found["jobs"][1]["job"], "links");
    assert_eq!(found["models"][0]["model"], "claude-sonnet-5-5");
    assert_eq!(found["hours"][0]["hour"], "05");
    assert_eq!(found["days"][0]["day"], "2026-12-05");
    assert_eq!(found["days"][0]["latency"], total["latency"]);
    assert_eq!(
        found["tail"]["worst"][0]["patterns"][0]["pattern"],
        "long_cold_input"
    );
    assert_eq!(found["tail"]["advice"][0]["field"], "system");
    let only = scenario
        .run(&report(&["--by", "job", "--format", "json"]))
        .exits(0)
        .json();
    assert!(only["jobs"].is_array() && only["groups"].is_null());
}

#[test]
fn csv_has_a_head_and_a_row_for_each_set_of_work() {
    let scenario = folder();
    answered(&scenario, 1, "digest", 0, &[300, 9000]);
    answered(&scenario, 2, "links", 2, &[8000]);
    let table = scenario
        .run(&report(&["--by", "job", "--format", "csv"]))
        .exits(0)
        .stdout;
    let rows: Vec<&str> = table.lines().collect();
    assert!(
        rows[0].starts_with(
            "span,by,name,attempts,calls,mean_attempts,wasted,batch_requests,latency_samples,latency_p50_ms,"
        ),
        "{}",
        rows[0]
    );
    assert!(
        rows[1].starts_with("now,total,,3,2,1.5000,1,0,3,8000,9000,9000,9000,"),
        "{}",
        rows[1]
    );
    assert!(
        rows[2].starts_with("now,job,digest,2,1,2.0000,1,"),
        "{}",
        rows[2]
    );
    assert!(
        rows[3].starts_with("now,job,links,1,1,1.0000,0,"),
        "{}",
        rows[3]
    );
    assert_eq!(rows.len(), 4);
    let columns = rows[0].split(',').count();
    assert!(
        rows.iter().all(|row| row.split(',').count() == columns),
        "{table}"
    );
}

#[test]
fn days_are_a_line_until_they_are_asked_for() {
    let scenario = folder();
    answered(&scenario, 1, "digest", 0, &[300, 9000]);
    // 23:30 of the same day in Japan, and half past midnight of the next but one.
    answered(&scenario, 2, "digest", 18 * 60 + 30, &[400]);
    answered(&scenario, 3, "digest", 43 * 60 + 30, &[6000]);
    let text = scenario.run(&report(&[])).exits(0).stdout;
    let line = "p99 from 2026-12-05 to 12-07 JST  █·▆  up to 9.0s on 12-05";
    assert!(text.contains(line), "{text}");
    assert!(!text.contains("day (JST)"), "{text}");
    let table = scenario.run(&report(&["--by", "day"])).exits(0).stdout;
    assert!(
        table.contains("day (JST)") && table.contains(line),
        "{table}"
    );
    let compared = [&["--compare", "20d"][..], &["--by", "day"]].concat();
    let both = scenario.run(&report(&compared)).exits(0).stdout;
    assert!(both.contains("2026-12-05"), "{both}");
    let both = scenario.run(&report(&compared[..2])).exits(0).stdout;
    assert!(!both.contains("2026-12-05 "), "{both}");
    let rows = scenario
        .run(&report(&["--by", "day", "--format", "csv"]))
        .exits(0)
        .stdout;
    let days: Vec<&str> = rows
        .lines()
        .filter(|row| row.starts_with("now,day,"))
        .collect();
    assert_eq!(days.len(), 2, "{rows}");
    assert!(
        days[0].starts_with("now,day,2026-12-05,3,2,1.5000,1,"),
        "{rows}"
    );
    assert!(
        days[1].starts_with("now,day,2026-12-07,1,1,1.0000,0,"),
        "{rows}"
    );
    let only = scenario
        .run(&report(&["--by", "day", "--format", "json"]))
        .exits(0)
        .json();
    assert!(only["days"].is_array() && only["hours"].is_null());
}

#[test]
fn two_spans_stand_side_by_side_with_the_change() {
    let scenario = folder();
    answered(&scenario, 1, "digest", -15 * 24 * 60, &[300, 300, 4000]);
    answered(&scenario, 2, "digest", 0, &[2000]);
    let args = [
        "report",
        "--since",
        "2026-12-01",
        "--until",
        "2026-12-15",
        "--compare",
        "14d",
    ];
    scenario
        .run(&args)
        .exits(0)
        .says("before  work due from 2026-11-17 09:00 to 2026-12-01 09:00 (JST)")
        .says("latency p99        4.0s    2.0s  -50 %")
        .says("attempts a call    3.00    1.00  -67 %")
        .says("wasted                2       0  -100 %");
    let found = scenario
        .run(&[&args[..], &["--format", "json"]].concat())
        .exits(0)
        .json();
    assert_eq!(found["before"]["total"]["attempts"], 3);
    assert_eq!(found["changes"][2]["name"], "latency p99");
    assert_eq!(found["changes"][2]["percent"], -50.0);
    assert!(!found.to_string().contains("null"), "{found}");
    let changes = found["changes"].as_array().unwrap();
    assert!(
        changes.iter().any(|it| it.get("percent").is_none()),
        "{found}"
    );
    let table = scenario
        .run(&[&args[..], &["--format", "csv"]].concat())
        .exits(0)
        .stdout;
    assert!(table.contains("\nbefore,total,,3,1,"), "{table}");
}

#[test]
fn work_that_went_into_a_later_slot_is_measured_from_its_own() {
    let scenario = folder();
    let due = FIVE - 60 * MINUTE;
    sql(
        &scenario,
        &format!(
            "INSERT INTO runs (id, job, fire_at, origin, grp, model, started_at, finished_at, outcome, reason)
             VALUES (1, 'digest', {due}, 'deferred', 'main', 'm', {FIVE}, {FIVE}, 'skipped', 'merged');"
        ),
    );
    answered(&scenario, 2, "digest", 0, &[700]);
    sql(
        &scenario,
        &format!(
            "INSERT INTO deferrals (job, fire_at, grp, model, state, not_before, carries, rule, reason, origin,
               created_at, run, ended_at)
             VALUES ('digest', {due}, 'main', 'm', 'merged', {due}, 1, 'next_slot', 'budget', 'deferred', {due}, 2, {FIVE})"
        ),
    );
    let found = scenario.run(&report(&["--format", "json"])).exits(0).json();
    assert_eq!(found["total"]["completion"]["due"], 2);
    assert_eq!(found["total"]["completion"]["max_ms"], 61 * MINUTE);
}

#[test]
fn names_that_nobody_knows_are_refused_with_the_nearest() {
    let scenario = folder();
    answered(&scenario, 1, "digest", 0, &[700]);
    scenario
        .run(&report(&["--job", "digst"]))
        .exits(2)
        .complains("there is no job `digst`")
        .complains("`digest`");
    scenario
        .run(&report(&["--group", "mian"]))
        .exits(2)
        .complains("there is no group `mian`")
        .complains("`main`");
    // One that is gone from the files and still in the history is known.
    answered(&scenario, 2, "old-job", 0, &[700]);
    scenario
        .run(&report(&["--job", "old-job"]))
        .exits(0)
        .says("slots     1: 1 succeeded");
    scenario
        .run(&report(&["--job", "links"]))
        .exits(0)
        .says("nothing to report")
        .says("job links");
}

#[test]
fn spans_that_are_none_are_refused() {
    let scenario = folder();
    scenario
        .run(&["report", "--since", "2026-12-02", "--until", "2026-12-01"])
        .exits(2)
        .complains("the span is empty: `--since` must lie before `--until`");
    scenario
        .run(&["report", "--days", "0"])
        .exits(2)
        .complains("--days");
    scenario
        .run(&["report", "--days", "3", "--since", "2026-12-01"])
        .exits(2)
        .complains("cannot be used with");
    scenario
        .run(&["report", "--compare", "2"])
        .exits(2)
        .complains("90m");
    scenario
        .run(&["report", "--until=-262143-01-02"])
        .exits(2)
        .complains("the span begins before the calendar");
    scenario
        .run(&["report", "--compare", "400000000d"])
        .exits(2)
        .complains("`--compare` goes back before the calendar");
}

#[test]
fn store_of_another_version_is_refused_with_the_way_out() {
    let scenario = folder();
    sql(&scenario, "PRAGMA user_version = 99");
    scenario.run(&report(&[])).exits(2).complains("99");
    sql(&scenario, "PRAGMA user_version = 1");
    scenario
        .run(&report(&[]))
        .exits(2)
        .complains("schema version 1 is older")
        .complains("up to date");
}

#[test]
fn row_that_no_version_writes_is_told() {
    let scenario = folder();
    answered(&scenario, 1, "digest", 0, &[700]);
    for (damage, told) in [
        (
            "UPDATE attempts SET class = 'fine'",
            "column `class` holds `fine`",
        ),
        (
            "UPDATE attempts SET latency_ms = -1",
            "column `latency_ms` holds `-1`",
        ),
        (
            "UPDATE runs SET outcome = 'odd'",
            "column `outcome` holds `odd: `",
        ),
    ] {
        sql(&scenario, damage);
        scenario.run(&report(&[])).exits(1).complains(told);
    }
}

#[test]
fn table_format_is_of_report_alone() {
    Scenario::new()
        .job("digest", "0 5 * * *")
        .run(&["history", "--format", "csv"])
        .exits(2)
        .complains("`--format csv` is for `report` only");
}
