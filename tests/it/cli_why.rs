//! `why`: the story of a slot, from stores that the library or a real `run` has written.

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::engine::pause::{Pause, PauseTarget};
use offpeak::engine::ports::{Fate, NewDeferral, PickupAt, Store};
use offpeak::guard::{Hold, HoldCause};
use offpeak::job::{GroupId, JobId};
use offpeak::outcome::{FailReason, Outcome, SkipReason, YieldReason};
use offpeak::schedule::DeferRule;
use offpeak::slot::Origin;
use offpeak::store::SqliteStore;

use crate::cli_history::{claim, day, ended, store, wait};
use crate::cli_run::mock;
use crate::scenario::{Running, Scenario};

const DIGEST: (&str, &str) = ("digest", "main");

fn folder() -> Scenario {
    Scenario::new().job("digest", "0 5 * * *")
}

/// A folder with a stand-in that follows a script.
fn served(script: &str) -> (Scenario, Running) {
    let scenario = folder().env("ANTHROPIC_API_KEY", "test-key-1234");
    let (running, url) = mock(&scenario, script);
    scenario.write(
        "offpeak.yaml",
        format!(
            "upstream: {{ base_url: \"{url}\" }}\nretry: {{ base_delay: 20ms, max_delay: 30ms }}\n"
        ),
    );
    (scenario, running)
}

fn fired(store: &SqliteStore, at: DateTime<Utc>, outcome: Outcome) {
    let run = claim(store, DIGEST, (at, at), Fate::Fire);
    wait(store.finish(ended(run, outcome, at + TimeDelta::minutes(1)))).unwrap();
}

fn work(to: DateTime<Utc>, reason: YieldReason) -> NewDeferral {
    NewDeferral {
        not_before: to - TimeDelta::minutes(30),
        to: Some(to),
        carries: 1,
        rule: DeferRule::NextSlot,
        reason,
        origin: Origin::Deferred,
    }
}

/// Without line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_retried_run_is_told_with_its_request_ids() {
    let (scenario, _mock) = served(
        "latency: { median: 1ms }\nrules:\n  - { times: 1, then: { error: { status: 529 } } }\n",
    );
    scenario.run(&["run", "digest"]).exits(0);
    let listed = scenario.run(&["history", "--format", "json"]).json();
    let told = scenario
        .run(&["why", "digest"])
        .exits(0)
        .says("with 2 attempts.\n")
        .says("A person asked for this run, by `offpeak run`")
        .says("Attempt 1 got status 529 `overloaded_error`")
        .says("Attempt 2, after ")
        .says("The answer was complete, and went to `")
        .says("Counted: ")
        .says("Nothing has to be done.\n");
    for attempt in listed["attempts"].as_array().unwrap() {
        let id = attempt["request_id"].as_str().unwrap();
        assert!(told.stdout.contains(id), "{}", told.stdout);
    }
}

#[test]
fn exhausted_work_is_told_with_where_it_waits() {
    let (scenario, _mock) = served(
        "latency: { median: 1ms }\nrules:\n  - { times: 9, then: { error: { status: 529 } } }\n",
    );
    scenario.run(&["run", "digest"]).exits(75);
    scenario
        .run(&["why", "digest"])
        .exits(0)
        .says("Not done yet: the work waits for the slot of ")
        .says("3 attempts brought no answer, though another might")
        .says("(carry 1 of 3).");
    let told = scenario
        .run(&["why", "digest", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(told["outcome"], "exhausted");
    assert_eq!(told["runs"][0]["attempts"].as_array().unwrap().len(), 3);
    assert_eq!(told["waiting"]["reason"], "exhausted");
    assert_eq!(told["waiting"]["carries"], 1);
    let about: Vec<&str> = told["story"]
        .as_array()
        .unwrap()
        .iter()
        .map(|told| told["about"].as_str().unwrap())
        .collect();
    assert_eq!(
        about,
        [
            "run", "attempt", "attempt", "attempt", "outcome", "deferral"
        ]
    );
}

#[test]
fn a_bad_request_says_what_to_do() {
    let (scenario, _mock) = served(
        "latency: { median: 1ms }\nrules:\n  - { times: 9, then: { error: { status: 400 } } }\n",
    );
    scenario.run(&["run", "digest"]).exits(1);
    let told = scenario.run(&["why", "digest"]).exits(0);
    assert!(told.stdout.contains("Failed: fatal.\n"), "{}", told.stdout);
    assert!(
        told.stdout.contains("          offpeak dry-run digest\n")
            && told.stdout.contains("          offpeak retry digest 20"),
        "{}",
        told.stdout
    );
    let told = scenario
        .run(&["why", "digest", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(told["next"][0]["command"], "offpeak dry-run digest");
}

#[test]
fn items_and_steps_are_told_by_name() {
    let (scenario, _mock) = served(
        "latency: { median: 1ms }\nrules:\n  - { when: { contains: BAD }, then: { error: { status: 400 } } }\n",
    );
    scenario.write(
        "jobs/digest.yaml",
        "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nfor_each: { lines: { file: ../list } }\n\
         prompt: { text: \"{{ item.text }}\" }\noutput: { append: log.md }\n",
    );
    scenario.write("list", "one\nBAD\nthree\n");
    scenario.run(&["run", "digest"]).exits(1);
    scenario
        .run(&["why", "digest"])
        .exits(0)
        .says("The slot was split into 3 items: 2 succeeded, 1 did not.")
        .says("Attempt 1 of `line 2` got status 400")
        .says("`line 2`: failed: fatal");
    let told = scenario
        .run(&["why", "digest", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(told["items"]["succeeded"], 2);
    assert_eq!(told["items"]["list"][1]["outcome"], "failed");
}

/// A slot that yielded at 05:00 and was done two hours later.
fn carried(scenario: &Scenario) {
    let store = store(scenario);
    let (at, later) = (day(0), day(0) + TimeDelta::hours(2));
    let first = claim(&store, DIGEST, (at, at), Fate::Fire);
    let mut finish = ended(first, Outcome::Yielded(YieldReason::Budget), at);
    finish.deferral = Some(work(later, YieldReason::Budget));
    wait(store.finish(finish)).unwrap();
    let group = GroupId::new("main");
    let pickup = PickupAt {
        group: &group,
        home: &group,
        job: None,
        fire_at: later,
        skip: &[],
    };
    let taken = wait(store.take_deferral(pickup, later)).unwrap().unwrap();
    let mut finish = ended(taken.run, Outcome::Succeeded, later + TimeDelta::minutes(1));
    finish.carried = Some(taken.deferral.id);
    wait(store.finish(finish)).unwrap();
}

#[test]
fn a_deferral_is_followed_to_its_end() {
    let scenario = folder();
    carried(&scenario);
    let told = scenario.run(&["why", "digest", "2026-12-01"]).exits(0);
    insta::assert_snapshot!(told.stdout);
    let by_hour = scenario
        .run(&["why", "digest", "2026-12-01 07:00"])
        .exits(0);
    assert_eq!(
        by_hour.stdout, told.stdout,
        "deferred work is found by the time at which it ran, too"
    );
}

#[test]
fn a_slot_is_named_by_an_instant_a_local_time_or_its_day() {
    let scenario = folder();
    let store = store(&scenario);
    for days in 0..3 {
        fired(&store, day(days), Outcome::Succeeded);
    }
    drop(store);
    let told = |at: &str| scenario.run(&["why", "digest", at]).exits(0);
    for at in [
        "2026-12-02T05:00:00+09:00",
        "2026-12-01T20:00:00Z",
        "2026-12-02T05:00",
        "2026-12-02 05:00",
        "2026-12-02",
    ] {
        told(at).says("digest, slot of Wed 2026-12-02 05:00 JST (group main)\n");
    }
}

#[test]
fn the_last_slot_that_did_not_succeed_is_meant_or_else_the_last() {
    let scenario = folder();
    let store = store(&scenario);
    fired(&store, day(0), Outcome::Succeeded);
    fired(&store, day(1), Outcome::Succeeded);
    let told = || scenario.run(&["why", "digest"]).exits(0);
    told().says("slot of Wed 2026-12-02 05:00");
    fired(&store, day(2), Outcome::Failed(FailReason::Input));
    fired(&store, day(3), Outcome::Succeeded);
    told().says("slot of Thu 2026-12-03 05:00");
}

#[test]
fn missed_and_paused_slots_say_so() {
    let scenario = folder();
    let store = store(&scenario);
    let late = day(0) + TimeDelta::hours(3);
    let catch_up = NewDeferral {
        carries: 0,
        origin: Origin::CatchUp,
        ..work(day(1), YieldReason::Missed)
    };
    claim(&store, DIGEST, (day(0), late), Fate::CatchUp(catch_up));
    let told = scenario.run(&["why", "digest"]).exits(0);
    let text = flat(&told.stdout);
    assert!(text.contains("The slot was claimed 3 h late"), "{text}");
    assert!(text.contains("missed while the daemon was away"), "{text}");
    let pause = Pause {
        target: PauseTarget::Job(JobId::new("digest")),
        since: day(1),
        until: None,
        reason: Some("holidays".to_owned()),
        ended_at: None,
    };
    wait(store.pause(pause)).unwrap();
    let skip = Fate::Skip(SkipReason::Paused);
    claim(&store, DIGEST, (day(2), day(2)), skip);
    let told = scenario.run(&["why", "digest", "2026-12-03"]).exits(0);
    let text = flat(&told.stdout);
    assert!(text.contains("The pause of `job:digest` began"), "{text}");
    assert!(text.contains("holidays"), "{text}");
    assert!(text.contains("offpeak resume job:digest"), "{text}");
}

#[test]
fn merged_work_names_the_slot_that_did_it() {
    let scenario = folder();
    let store = store(&scenario);
    let first = claim(&store, DIGEST, (day(0), day(0)), Fate::Fire);
    let mut finish = ended(first, Outcome::Yielded(YieldReason::Breaker), day(0));
    finish.deferral = Some(work(day(1), YieldReason::Breaker));
    wait(store.finish(finish)).unwrap();
    fired(&store, day(1), Outcome::Succeeded);
    let told = scenario.run(&["why", "digest", "2026-12-01"]).exits(0);
    let text = flat(&told.stdout);
    assert!(
        text.contains("The slot of Wed 2026-12-02 05:00 makes the same call"),
        "{text}"
    );
    let told = scenario
        .run(&["why", "digest", "2026-12-01", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(told["merged_into"], "2026-12-01T20:00:00Z");
}

#[test]
fn a_hold_that_a_person_lifts_is_the_next_thing_to_do() {
    let scenario = folder();
    let store = store(&scenario);
    let first = claim(&store, DIGEST, (day(0), day(0)), Fate::Fire);
    let mut finish = ended(first, Outcome::Yielded(YieldReason::Hold), day(0));
    finish.deferral = Some(work(day(1), YieldReason::Hold));
    wait(store.finish(finish)).unwrap();
    let hold = Hold {
        cause: HoldCause::Billing,
        until: None,
        since: day(0),
        note: "the account has no credit".to_owned(),
    };
    wait(store.hold(GroupId::new("main"), hold)).unwrap();
    let told = scenario
        .run(&["why", "digest", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(told["next"][0]["command"], "offpeak resume main");
    assert_eq!(told["hold"]["note"], "the account has no credit");
}

#[test]
fn an_answer_that_no_place_has_is_told_with_what_went_wrong() {
    let (scenario, _mock) = served("latency: { median: 1ms }\n");
    scenario.write("out.md", "old");
    scenario.write(
        "out.md.previous/x",
        "a folder in the place of the old answer",
    );
    scenario.write(
        "jobs/digest.yaml",
        "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: { text: hi }\n\
         output: { file: out.md, keep_previous: true }\n",
    );
    scenario.run(&["run", "digest"]).exits(1);
    let told = scenario
        .run(&["why", "digest"])
        .exits(0)
        .says("Failed: output.\n")
        .says("The answer came, but it could not be delivered everywhere.");
    assert!(
        told.stdout
            .contains("          offpeak history digest --text\n"),
        "{}",
        told.stdout
    );
    let told = scenario
        .run(&["why", "digest", "--format", "json"])
        .exits(0)
        .json();
    let owed = &told["deliveries"][0];
    assert!(
        owed["trouble"].as_str().unwrap().contains("out.md"),
        "{owed}"
    );
    assert_eq!(owed["tries"], 1, "{owed}");
}

#[test]
fn a_batch_that_is_out_is_told_with_its_next_look() {
    let scenario = folder();
    let store = store(&scenario);
    claim(&store, DIGEST, (day(0), day(0)), Fate::Fire);
    let raw = rusqlite::Connection::open(store.path()).unwrap();
    raw.execute_batch(&format!(
        "INSERT INTO batches VALUES (1, 'msgbatch_7', 'main', {expires}, {look}, 3);
         INSERT INTO batch_parts VALUES (1, 1, 'a.md'), (1, 2, 'b.md');",
        expires = day(1).timestamp_millis(),
        look = (day(0) + TimeDelta::minutes(90)).timestamp_millis(),
    ))
    .unwrap();
    scenario
        .run(&["why", "digest"])
        .exits(0)
        .says("Under way: its answers come with a batch.\n")
        .says("2 calls went out as the batch `msgbatch_7`; it was looked at 3 times in vain; the next look is at 06:30")
        .says("Nothing has to be done.\n");
    let told = scenario
        .run(&["why", "digest", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(told["batches"][0]["next_look"], "2026-11-30T21:30:00Z");
    assert_eq!(told.get("outcome"), None);
}

#[test]
fn without_a_store_there_is_nothing_to_tell() {
    let scenario = folder();
    scenario
        .run(&["why", "digest"])
        .exits(1)
        .complains("nothing is on record of job `digest`: there is no history yet")
        .complains("offpeak run digest");
    scenario
        .run(&["why", "digets"])
        .exits(2)
        .complains("there is no job `digets`")
        .complains("did you mean `digest`?");
    assert_eq!(scenario.files(".offpeak"), [""; 0], "a look makes no store");
}

#[test]
fn an_empty_store_and_an_unknown_job_are_told_apart() {
    let scenario = folder();
    drop(store(&scenario));
    scenario
        .run(&["why", "digest"])
        .exits(1)
        .complains("nothing is on record of job `digest`\n")
        .complains("offpeak status");
    scenario
        .run(&["why", "digets"])
        .exits(2)
        .complains("did you mean `digest`?");
}

#[test]
fn a_slot_that_is_not_on_record_names_its_neighbours() {
    let scenario = folder();
    let store = store(&scenario);
    fired(&store, day(0), Outcome::Succeeded);
    fired(&store, day(4), Outcome::Succeeded);
    let done = scenario.run(&["why", "digest", "2026-12-03"]).exits(1);
    assert_eq!(done.stdout, "");
    done.complains("nothing is on record of job `digest` on 2026-12-03\n")
        .complains("Tue 2026-12-01 05:00 JST (`offpeak why digest 2026-11-30T20:00:00Z`)")
        .complains("Sat 2026-12-05 05:00 JST (`offpeak why digest 2026-12-04T20:00:00Z`)");
    scenario
        .run(&["why", "digest", "2026-12-01T05:01"])
        .exits(1)
        .complains("at Tue 2026-12-01 05:01 JST");
}

#[test]
fn a_job_that_is_gone_is_told_and_not_asked_for_again() {
    let scenario = folder();
    let store = store(&scenario);
    let run = claim(&store, ("old", "main"), (day(0), day(0)), Fate::Fire);
    wait(store.finish(ended(run, Outcome::Failed(FailReason::Input), day(0)))).unwrap();
    let told = scenario
        .run(&["why", "old"])
        .exits(0)
        .says("Failed: input.");
    assert!(!told.stdout.contains("offpeak retry"), "{}", told.stdout);
}

#[test]
fn a_time_that_cannot_be_read_is_wrong_usage() {
    folder()
        .run(&["why", "digest", "yesterday"])
        .exits(2)
        .complains("2026-12-01T05:00:00+09:00");
}

#[test]
fn a_store_of_another_version_is_refused_in_clear_words() {
    let scenario = folder();
    let path = store(&scenario).path().to_owned();
    let raw = rusqlite::Connection::open(&path).unwrap();
    for (version, words) in [(99, "use a newer offpeak"), (1, "bring it up to date")] {
        raw.pragma_update(None, "user_version", version).unwrap();
        for command in [&["why", "digest"][..], &["history"]] {
            scenario.run(command).exits(2).complains(words);
        }
    }
}
