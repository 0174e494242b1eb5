//! The filters of `history`, over a store with slots of two jobs in two groups.

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::engine::ports::{Claim, Fate, Finish, Store, Tick};
use offpeak::job::{GroupId, JobId};
use offpeak::outcome::{FailReason, Outcome, RunId, SkipReason};
use offpeak::slot::Slot;
use offpeak::store::SqliteStore;

use crate::scenario::Scenario;

/// 05:00 on Tuesday, 1 December 2026, in Japan, and so many days later.
pub fn day(days: i64) -> DateTime<Utc> {
    let first: DateTime<Utc> = "2026-11-30T20:00:00Z".parse().unwrap();
    first + TimeDelta::days(days)
}

/// Waits on this thread.
pub fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(work)
}

/// The store of a folder, made if there is none.
pub fn store(scenario: &Scenario) -> SqliteStore {
    SqliteStore::open(&scenario.path().join(".offpeak")).unwrap()
}

/// Claims a slot and lets it meet its fate.
pub fn claim(
    store: &SqliteStore,
    (job, group): (&str, &str),
    (fire_at, now): (DateTime<Utc>, DateTime<Utc>),
    fate: Fate,
) -> RunId {
    let claim = Claim {
        slot: Slot {
            fire_at,
            job: JobId::new(job),
        },
        group: GroupId::new(group),
        model: "claude-sonnet-5-5".to_owned(),
        fate,
    };
    let tick = Tick {
        now,
        watermark: now,
        slots: vec![claim],
    };
    wait(store.claim(tick)).unwrap()[0].run
}

/// How a run ends that sent nothing.
pub fn ended(run: RunId, outcome: Outcome, now: DateTime<Utc>) -> Finish {
    Finish {
        run,
        outcome,
        note: None,
        answer: None,
        cost_usd: None,
        delivery: None,
        output: None,
        deferral: None,
        carried: None,
        now,
    }
}

fn folder() -> Scenario {
    let scenario = Scenario::new()
        .job("digest", "0 5 * * *")
        .job("review", "0 6 * * *");
    let store = store(&scenario);
    for (days, outcome) in [
        (0, Outcome::Succeeded),
        (1, Outcome::Failed(FailReason::Input)),
        (2, Outcome::Succeeded),
    ] {
        let at = day(days);
        let run = claim(&store, ("digest", "main"), (at, at), Fate::Fire);
        wait(store.finish(ended(run, outcome, at + TimeDelta::minutes(1)))).unwrap();
    }
    let skip = Fate::Skip(SkipReason::Disabled);
    claim(&store, ("review", "archive"), (day(2), day(2)), skip);
    drop(store);
    scenario
}

fn days(scenario: &Scenario, filters: &[&str]) -> Vec<String> {
    let args = [&["history", "--format", "json"], filters].concat();
    let listed = scenario.run(&args).exits(0).stdout;
    let day = |line: &str| {
        let run: serde_json::Value = serde_json::from_str(line).unwrap();
        format!(
            "{} {}",
            run["job"].as_str().unwrap(),
            &run["fire_at"].as_str().unwrap()[..10]
        )
    };
    listed.lines().map(day).collect()
}

#[test]
fn runs_are_chosen_by_group_outcome_and_span() {
    let scenario = folder();
    assert_eq!(days(&scenario, &[]).len(), 4);
    assert_eq!(
        days(&scenario, &["--group", "archive"]),
        ["review 2026-12-02"]
    );
    assert_eq!(
        days(&scenario, &["--outcome", "failed"]),
        ["digest 2026-12-01"]
    );
    assert_eq!(
        days(&scenario, &["--until", "2026-12-02"]),
        ["digest 2026-11-30", "digest 2026-12-01"]
    );
    assert_eq!(
        days(
            &scenario,
            &["--since", "2026-12-01", "--until", "2026-12-02T20:00:00Z"]
        ),
        ["digest 2026-12-01"],
        "the end is excluded"
    );
    assert_eq!(
        days(&scenario, &["digest", "--outcome", "succeeded", "-n", "1"]),
        ["digest 2026-12-02"],
        "the filters count before the newest are taken"
    );
}

#[test]
fn a_filter_that_lets_nothing_pass_says_so() {
    let scenario = folder();
    scenario
        .run(&["history", "--until", "2020-01-01"])
        .exits(0)
        .says("no runs in this span\n");
    let none = ["history", "--outcome", "exhausted", "--format", "json"];
    assert_eq!(scenario.run(&none).exits(0).stdout, "");
}

#[test]
fn a_wrong_word_lists_the_right_ones() {
    folder()
        .run(&["history", "--outcome", "late"])
        .exits(2)
        .complains("succeeded, incomplete, yielded, exhausted, failed, skipped");
}

#[test]
fn an_unknown_group_is_no_empty_history() {
    let scenario = folder();
    scenario
        .run(&["history", "--group", "mian"])
        .exits(2)
        .complains("there is no group `mian`")
        .complains("did you mean `main`?");
    scenario
        .run(&["history", "--group", "main", "--since", "2999-01-01"])
        .exits(0)
        .says("no runs in this span");
}
