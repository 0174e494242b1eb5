//! Stories by hand: each a slot of 02:00 or later, on Saturday, 5 December 2026, in Japan.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, FixedOffset, NaiveDateTime, TimeDelta, Utc};

use super::*;
use crate::answer::StopReason;
use crate::job::{GroupId, JobId};
use crate::outcome::{
    Attempt, AttemptEnd, Class, DeferredTo, FailReason, IncompleteReason, Outcome, Run, RunId,
};
use crate::piece::CallName;
use crate::report::samples::{at, run};
use crate::report::table::columns_of;
use crate::slot::Origin;

const PLANNED: Knowledge = Knowledge {
    is_planned: true,
    max_carries: Some(3),
    max_tokens: Some(4000),
};

fn tokyo(at: DateTime<Utc>) -> (NaiveDateTime, String) {
    let offset = FixedOffset::east_opt(9 * 3600).unwrap();
    (at.with_timezone(&offset).naive_local(), "JST".to_owned())
}

fn new_york(at: DateTime<Utc>) -> (NaiveDateTime, String) {
    let offset = FixedOffset::west_opt(5 * 3600).unwrap();
    (at.with_timezone(&offset).naive_local(), "EST".to_owned())
}

const CLOCKS: Clocks<'static> = Clocks {
    job: &tokyo,
    peaks: None,
};

fn told(record: &Record) -> String {
    told_by(record, PLANNED, CLOCKS)
}

fn told_by(record: &Record, knowledge: Knowledge, clocks: Clocks<'_>) -> String {
    let story = tell(record, knowledge, clocks);
    let text = render_story(&story, clocks, record.fire_at, 80);
    for line in text.lines() {
        assert!(columns_of(line) <= 80, "{line}");
    }
    text
}

/// The same without line breaks.
fn flat(record: &Record) -> String {
    let text = told(record);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn record(runs: Vec<Run>) -> Record {
    let fire_at = runs[0].fire_at;
    Record {
        job: JobId::new("digest"),
        fire_at,
        claimed_at: Some(fire_at),
        runs,
        works: Vec::new(),
        items: Vec::new(),
        deliveries: Vec::new(),
        batches: Vec::new(),
        pauses: Vec::new(),
        hold: None,
    }
}

fn digest(id: i64, outcome: Outcome) -> Run {
    run(id, "digest", 0, outcome)
}

/// A failed attempt.
fn failed(n: u32, status: u16, kind: &str, message: &str) -> Attempt {
    let class = if status == 529 || status == 429 {
        Class::Retryable
    } else {
        Class::Fatal
    };
    Attempt {
        call: CallName::only(),
        n,
        started_at: at(0) + TimeDelta::seconds(i64::from(n) * 3 - 2),
        wait: Duration::from_millis(if n == 1 { 0 } else { 1_900 }),
        end: Some(AttemptEnd {
            latency: Duration::from_millis(340),
            first_byte: None,
            status: Some(status),
            class: Some(class),
            error_type: Some(kind.to_owned()),
            error_code: None,
            request_id: Some(format!("req_{n}")),
            hint: None,
            message: Some(message.to_owned()),
            usage: None,
        }),
    }
}

fn overloaded(n: u32) -> Attempt {
    failed(n, 529, "overloaded_error", "Overloaded")
}

fn with(mut run: Run, attempts: Vec<Attempt>) -> Run {
    run.attempts = attempts;
    run
}

/// An answer at this minute, after `before`.
fn answered(run: Run, before: Vec<Attempt>) -> Run {
    let n = u32::try_from(before.len()).unwrap() + 1;
    let mut run = with(run.answered(Some(0.0123)), before);
    run.output = Some(PathBuf::from("out/digest/2026-12-05.md"));
    let began = run.started_at + TimeDelta::seconds(i64::from(n) * 3 - 3);
    run.attempts.push(Attempt {
        call: CallName::only(),
        n,
        started_at: began,
        wait: Duration::from_millis(if n == 1 { 0 } else { 1_900 }),
        end: Some(AttemptEnd {
            latency: Duration::from_millis(4_200),
            first_byte: Some(Duration::from_millis(800)),
            status: Some(200),
            class: Some(Class::Success),
            error_type: None,
            error_code: None,
            request_id: Some(format!("req_{n}")),
            hint: None,
            message: None,
            usage: None,
        }),
    });
    run
}

fn deferred(mut run: Run, not_before: i64, to: i64, carries: u32) -> Run {
    run.deferred = Some(DeferredTo {
        not_before: at(not_before),
        to: Some(at(to)),
        carries,
    });
    run.note = Some("goes on in the slot of 2026-12-04 19:00:00Z".to_owned());
    run
}

fn waiting(reason: YieldReason, to: i64) -> Work {
    Work {
        state: WorkState::Waits,
        reason,
        not_before: at(to - 5),
        to: Some(at(to)),
        carries: 1,
        merged_into: None,
    }
}

/// A run that carried the work two hours later.
fn carried(id: i64, outcome: Outcome) -> Run {
    digest(id, outcome).carried_at(120)
}

#[test]
fn a_plain_success() {
    insta::assert_snapshot!(told(&record(vec![answered(
        digest(1, Outcome::Succeeded),
        vec![]
    )])));
}

#[test]
fn retried_twice_then_answered() {
    let mut second = overloaded(2);
    second.end.as_mut().unwrap().hint = Some(Duration::from_millis(1_800));
    let run = answered(digest(1, Outcome::Succeeded), vec![overloaded(1), second]);
    insta::assert_snapshot!(told(&record(vec![run])));
}

#[test]
fn a_long_hint_is_deferred_and_done_in_the_next_slot() {
    let mut limited = failed(1, 429, "rate_limit_error", "This would exceed the limit.");
    limited.end.as_mut().unwrap().hint = Some(Duration::from_mins(40));
    let first = with(
        digest(1, Outcome::Yielded(YieldReason::Hint)),
        vec![limited],
    );
    let runs = vec![
        deferred(first, 40, 120, 1),
        answered(carried(2, Outcome::Succeeded), vec![]),
    ];
    insta::assert_snapshot!(told(&record(runs)));
}

#[test]
fn exhausted_twice_fails_for_good() {
    let thrice = || vec![overloaded(1), overloaded(2), overloaded(3)];
    let mut last = with(carried(2, Outcome::Failed(FailReason::Exhausted)), thrice());
    for attempt in &mut last.attempts {
        attempt.started_at += TimeDelta::hours(2);
    }
    last.note = Some(
        "status 529 overloaded_error: Overloaded; failed to the last attempt and is not deferred"
            .to_owned(),
    );
    let first = deferred(with(digest(1, Outcome::Exhausted), thrice()), 1, 120, 1);
    insta::assert_snapshot!(told(&record(vec![first, last])));
}

#[test]
fn a_peak_window_is_told_in_both_zones() {
    let first = deferred(
        with(
            digest(1, Outcome::Yielded(YieldReason::Peak)),
            vec![overloaded(1)],
        ),
        420,
        480,
        1,
    );
    let mut record = record(vec![first]);
    record.works.push(waiting(YieldReason::Peak, 480));
    let clocks = Clocks {
        job: &new_york,
        peaks: Some(&tokyo),
    };
    insta::assert_snapshot!(told_by(&record, PLANNED, clocks));
}

#[test]
fn a_budget_without_room() {
    let first = deferred(digest(1, Outcome::Yielded(YieldReason::Budget)), 2, 120, 1);
    let runs = vec![first, answered(carried(2, Outcome::Succeeded), vec![])];
    insta::assert_snapshot!(told(&record(runs)));
}

#[test]
fn an_open_breaker() {
    let mut record = record(vec![deferred(
        digest(1, Outcome::Yielded(YieldReason::Breaker)),
        3,
        120,
        1,
    )]);
    record.works.push(waiting(YieldReason::Breaker, 120));
    record.pauses.push(PauseRecord {
        target: "group:main".to_owned(),
        since: at(30),
        until: None,
        reason: None,
        is_on: true,
    });
    insta::assert_snapshot!(told(&record));
}

#[test]
fn a_hold_by_two_refused_keys() {
    let refused = |n| failed(n, 401, "authentication_error", "invalid x-api-key");
    let first = with(
        digest(1, Outcome::Yielded(YieldReason::Hold)),
        vec![refused(1)],
    );
    let mut record = record(vec![deferred(first, 1, 120, 1)]);
    record.works.push(waiting(YieldReason::Hold, 120));
    record.hold = Some(HoldRecord {
        group: GroupId::new("main"),
        until: None,
        note: "the key was refused twice".to_owned(),
    });
    insta::assert_snapshot!(told(&record));
}

#[test]
fn missed_and_caught_up() {
    let mut missed = digest(1, Outcome::Yielded(YieldReason::Missed));
    missed.started_at = at(182);
    missed.finished_at = Some(at(182));
    let mut caught_up = answered(digest(2, Outcome::Succeeded).carried_at(240), vec![]);
    caught_up.origin = Origin::CatchUp;
    let mut record = record(vec![deferred(missed, 182, 240, 0), caught_up]);
    record.claimed_at = Some(at(182));
    insta::assert_snapshot!(told(&record));
}

#[test]
fn cut_off_by_a_crash() {
    let mut open = overloaded(1);
    open.end = None;
    let mut cut = with(
        digest(1, Outcome::Yielded(YieldReason::Interrupted)),
        vec![open],
    );
    cut = deferred(cut, 10, 120, 1);
    cut.note = Some("cut off while attempt 1 was under way; it may have been billed".to_owned());
    let mut record = record(vec![cut]);
    record.works.push(waiting(YieldReason::Interrupted, 120));
    insta::assert_snapshot!(told(&record));
}

#[test]
fn merged_into_the_next_slot_of_the_job() {
    let first = deferred(
        digest(1, Outcome::Yielded(YieldReason::Budget)),
        2,
        24 * 60,
        1,
    );
    let mut merged = digest(2, Outcome::Skipped(SkipReason::Merged));
    merged.origin = Origin::Deferred;
    merged.started_at = at(24 * 60);
    merged.finished_at = Some(at(24 * 60));
    merged.note =
        Some("joined with the slot of 2026-12-05 17:00:00Z, which makes the same call".to_owned());
    let mut record = record(vec![first, merged]);
    record.works.push(Work {
        state: WorkState::Ended,
        merged_into: Some(at(24 * 60)),
        ..waiting(YieldReason::Budget, 24 * 60)
    });
    insta::assert_snapshot!(told(&record));
}

#[test]
fn skipped_for_each_reason() {
    let mut stories = Vec::new();
    for reason in SkipReason::ALL {
        let mut run = digest(1, Outcome::Skipped(*reason));
        run.finished_at = Some(run.started_at);
        let mut record = record(vec![run]);
        if *reason == SkipReason::Paused {
            record.pauses.push(PauseRecord {
                target: "job:digest".to_owned(),
                since: at(-60),
                until: Some(at(600)),
                reason: Some("holidays".to_owned()),
                is_on: true,
            });
        }
        stories.push(format!("--- {reason}\n{}", told(&record)));
    }
    insta::assert_snapshot!(stories.concat());
}

#[test]
fn a_cut_answer_says_which_limit_to_raise() {
    let mut run = answered(
        digest(1, Outcome::Incomplete(IncompleteReason::Truncated)),
        vec![],
    );
    run.stop_reason = Some(StopReason::MaxTokens);
    run.output = Some(PathBuf::from("out/digest/2026-12-05.incomplete.md"));
    run.note =
        Some("the answer was cut (max_tokens); raise `max_tokens` or ask for less".to_owned());
    insta::assert_snapshot!(told(&record(vec![run])));
}

fn item(name: &str, outcome: Option<Outcome>, note: Option<&str>) -> ItemRecord {
    ItemRecord {
        name: name.to_owned(),
        outcome,
        note: note.map(str::to_owned),
    }
}

#[test]
fn many_items_of_which_some_failed() {
    let mut run = digest(1, Outcome::Failed(FailReason::Fatal));
    let mut items = Vec::new();
    for n in 0..9_u32 {
        let name = format!("docs/{n}.md");
        let is_bad = n % 3 == 0;
        let mut attempt = failed(1, 400, "invalid_request_error", "prompt is too long");
        attempt.call.item = Some(Arc::from(name.as_str()));
        if !is_bad {
            let end = attempt.end.as_mut().unwrap();
            end.class = Some(Class::Success);
        }
        run.attempts.push(attempt);
        let outcome = if is_bad {
            Outcome::Failed(FailReason::Fatal)
        } else {
            Outcome::Succeeded
        };
        let note = is_bad.then_some("status 400: prompt is too long");
        items.push(item(&name, Some(outcome), note));
    }
    items.push(item("docs/9.md", None, None));
    let mut record = record(vec![run]);
    record.items = items;
    insta::assert_snapshot!(told(&record));
}

#[test]
fn more_failures_than_one_wants_to_read_are_counted() {
    let mut run = digest(1, Outcome::Failed(FailReason::Fatal));
    run.attempts = (1..=9).map(|_| failed(1, 400, "x", "no")).collect();
    let mut record = record(vec![run]);
    let no = || Some(Outcome::Failed(FailReason::Fatal));
    record.items = (0..7).map(|n| item(&format!("{n}"), no(), None)).collect();
    let text = flat(&record);
    assert!(
        text.contains("3 more without an answer; `offpeak history digest"),
        "{text}"
    );
    assert!(
        text.contains("2 more; `offpeak history digest --items` lists"),
        "{text}"
    );
}

#[test]
fn a_chain_that_yielded_at_its_second_step() {
    let mut first = answered(digest(1, Outcome::Yielded(YieldReason::Budget)), vec![]);
    first.output = None;
    let mut second = answered(carried(2, Outcome::Succeeded), vec![]);
    second.attempts[0].call.step = 2;
    insta::assert_snapshot!(told(&record(vec![deferred(first, 2, 120, 1), second])));
}

#[test]
fn a_batch_that_is_out() {
    let mut handed = overloaded(1);
    handed.call.step = 0;
    handed.end.as_mut().unwrap().class = Some(Class::Success);
    let mut record = record(vec![with(
        digest(1, Outcome::Succeeded).under_way(),
        vec![handed],
    )]);
    record.batches.push(BatchRecord {
        run: RunId(1),
        id: "msgbatch_7".to_owned(),
        calls: 12,
        looks: 3,
        look_at: at(60),
        expires_at: at(24 * 60),
    });
    insta::assert_snapshot!(told(&record));
    record.runs[0].outcome = Some(Outcome::Succeeded);
    record.batches[0].looks = 0;
    let text = flat(&record);
    assert!(text.contains("the first look found its results"), "{text}");
}

fn owed(state: DeliveryState, tries: u32) -> DeliveryRecord {
    DeliveryRecord {
        run: RunId(1),
        item: None,
        state,
        tries,
        since: at(1),
        not_before: at(30),
        output: None,
        trouble: Some("out/digest: no space left on device".to_owned()),
        ended_at: (state == DeliveryState::Delivered).then(|| at(25)),
    }
}

#[test]
fn undelivered_then_delivered() {
    let mut run = answered(digest(1, Outcome::Succeeded), vec![]);
    run.note = Some("delivered on try 3, at 2026-12-04 17:25:00Z".to_owned());
    let mut record = record(vec![run]);
    record.deliveries.push(owed(DeliveryState::Delivered, 3));
    insta::assert_snapshot!(told(&record));
}

#[test]
fn still_owed_and_left_in_the_store() {
    let mut run = answered(digest(1, Outcome::Failed(FailReason::Output)), vec![]);
    run.output = None;
    run.note = Some("said twice".to_owned());
    let mut record = record(vec![run]);
    assert!(flat(&record).contains("(said twice)"));
    record.deliveries.push(owed(DeliveryState::Owed, 1));
    let text = flat(&record);
    assert!(!text.contains("said twice"), "{text}");
    assert!(
        text.contains("after 1 try in vain: out/digest: no space"),
        "{text}"
    );
    assert!(text.contains("Next: the answer is kept"), "{text}");
    record.deliveries[0] = owed(DeliveryState::Owed, 0);
    assert!(flat(&record).contains("a daemon delivers it"));
    record.deliveries[0] = owed(DeliveryState::Left, 12);
    assert!(flat(&record).contains("is left in the store after 12 tries"));
    record.deliveries[0] = owed(DeliveryState::Delivered, 1);
    assert!(
        !flat(&record).contains("owed"),
        "a delivery at once is no news"
    );
}

#[test]
fn work_that_a_person_asked_for_again() {
    let bad = || {
        with(
            digest(1, Outcome::Failed(FailReason::Fatal)),
            vec![failed(
                1,
                400,
                "invalid_request_error",
                "max_tokens: too large",
            )],
        )
    };
    let mut record = record(vec![bad()]);
    record.works.push(waiting(YieldReason::Asked, 120));
    let text = flat(&record);
    assert!(text.contains("it waits for the slot of 04:00"), "{text}");
    record.works.clear();
    record
        .runs
        .push(answered(carried(2, Outcome::Succeeded), vec![]));
    let text = flat(&record);
    assert!(
        text.contains("A person had asked for the work again"),
        "{text}"
    );
}

#[test]
fn every_reason_is_told_and_only_a_planned_job_is_asked_for_again() {
    let ends = YieldReason::ALL
        .iter()
        .map(|it| Outcome::Yielded(*it))
        .chain(FailReason::ALL.iter().map(|it| Outcome::Failed(*it)))
        .chain(
            IncompleteReason::ALL
                .iter()
                .map(|it| Outcome::Incomplete(*it)),
        )
        .chain([Outcome::Exhausted]);
    for end in ends {
        let record = record(vec![digest(1, end.clone())]);
        let planned = told(&record);
        assert!(planned.contains("\nNext: "), "{end}: {planned}");
        let gone = told_by(&record, Knowledge::default(), CLOCKS);
        assert!(!gone.contains("offpeak retry digest"), "{end}: {gone}");
    }
}

#[test]
fn what_a_person_asked_for_is_no_slot() {
    let mut run = answered(digest(1, Outcome::Succeeded), vec![]);
    run.origin = Origin::Manual;
    let mut record = record(vec![run]);
    record.claimed_at = None;
    let text = flat(&record);
    assert!(
        text.starts_with("digest, run of Sat 2026-12-05 02:00 JST"),
        "{text}"
    );
    assert!(
        text.contains("after it was asked for, with 1 attempt."),
        "{text}"
    );
}

#[test]
fn a_word_that_is_longer_than_the_line_stays_whole() {
    let mut run = answered(digest(1, Outcome::Succeeded), vec![]);
    let long = "x".repeat(90);
    run.output = Some(PathBuf::from(&long));
    let record = record(vec![run]);
    let story = tell(&record, PLANNED, CLOCKS);
    assert!(render_story(&story, CLOCKS, record.fire_at, 40).contains(&long));
}

#[test]
fn what_a_server_said_cannot_move_the_cursor() {
    let bad = failed(1, 400, "x", "a\u{1b}[2Jb\nc");
    let run = with(digest(1, Outcome::Failed(FailReason::Fatal)), vec![bad]);
    let text = flat(&record(vec![run]));
    assert!(text.contains("a [2Jb c"), "{text}");
}
