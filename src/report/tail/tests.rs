use std::time::Duration;

use chrono::TimeDelta;

use crate::outcome::{Outcome, YieldReason};
use crate::report::fixture::{Sent, answered, night, only, sent, tally};
use crate::report::samples::at;
use crate::report::{Evidence, Field};

/// Twenty quiet attempts outside the windows, of 1.0 to 1.2 s.
fn quiet() -> Vec<Sent> {
    (0..20)
        .map(|n| answered("calm", n * 5, 1000 + n.unsigned_abs() * 10))
        .collect()
}

/// From 18:00 to 18:59 in Japan, a run a minute.
fn evening(latency: impl Fn(u64) -> u64) -> Vec<Sent> {
    (0..40)
        .map(|n| answered("late", 16 * 60 + n, latency(n.unsigned_abs())))
        .collect()
}

fn is_peak(evidence: &Evidence) -> bool {
    matches!(evidence, Evidence::PeakJitter { .. })
}

#[test]
fn attempts_in_a_peak_window_that_spreads_wider_are_jitter() {
    let runs = [quiet(), evening(|n| 1000 + n * 500)].concat();
    let tail = night(&runs).tail;
    assert_eq!((tail.samples, tail.peak_jitter, tail.none), (20, 20, 0));
    assert_eq!(
        tail.worst[0].evidence,
        [Evidence::PeakJitter {
            hour: 18,
            spread: Some(Duration::from_secs(9)),
            off_peak: Some(Duration::from_millis(90)),
        }]
    );
    assert_eq!(
        (tail.advice[0].job.as_str(), tail.advice[0].field),
        ("late", Field::Cron)
    );
    assert_eq!(tail.advice[0].samples, 20);
}

#[test]
fn peak_window_that_is_as_quiet_as_the_night_is_no_jitter() {
    let runs = [quiet(), evening(|n| 2000 + n)].concat();
    let tail = night(&runs).tail;
    assert_eq!((tail.peak_jitter, tail.none), (0, 20));
    assert_eq!(tail.advice, []);
}

#[test]
fn peak_window_with_few_samples_says_that_nothing_can_be_compared() {
    let tail = night(&[answered("late", 16 * 60, 9000)]).tail;
    assert_eq!((tail.samples, tail.peak_jitter), (1, 1));
    let Evidence::PeakJitter {
        spread, off_peak, ..
    } = &tail.worst[0].evidence[0]
    else {
        panic!("{:?}", tail.worst[0]);
    };
    assert_eq!((spread, off_peak), (&None, &None));
}

fn retried(job: &'static str, minutes: i64) -> Sent {
    sent(job, minutes, Outcome::Succeeded, &[300, 9000])
}

#[test]
fn two_runs_of_a_group_that_retry_within_minutes_collide() {
    let tail = night(&[retried("a", 0), retried("b", 5)]).tail;
    assert_eq!((tail.samples, tail.retry_collision, tail.none), (4, 4, 0));
    let of_a = tail.worst.iter().find(|sample| sample.job == "a").unwrap();
    assert_eq!(
        of_a.evidence,
        [Evidence::RetryCollision {
            other: "b".to_owned(),
            apart: Duration::from_mins(4),
        }]
    );
    let advice = &tail.advice[0];
    assert_eq!(
        (advice.job.as_str(), advice.field, advice.samples),
        ("a", Field::Cron, 4)
    );
    assert!(advice.words.contains("`b`"), "{}", advice.words);
}

#[test]
fn a_long_run_before_others_is_a_neighbour_of_all_that_begin_while_it_lasts() {
    let mut long = retried("long", 0);
    long.took = TimeDelta::minutes(50);
    let tail = night(&[long, retried("short", 10), retried("last", 40)]).tail;
    let of_last = tail
        .worst
        .iter()
        .find(|sample| sample.job == "last")
        .unwrap();
    assert_eq!(
        of_last.evidence,
        [Evidence::RetryCollision {
            other: "long".to_owned(),
            apart: Duration::ZERO,
        }]
    );
}

#[test]
fn retries_alone_apart_or_of_another_group_do_not_collide() {
    let mut elsewhere = retried("b", 1);
    elsewhere.group = "archive";
    let pairs = [
        vec![retried("a", 0)],
        vec![retried("a", 0), answered("b", 1, 9000)],
        vec![retried("a", 0), retried("b", 7)],
        vec![retried("a", 0), elsewhere],
    ];
    for runs in pairs {
        assert_eq!(night(&runs).tail.retry_collision, 0, "{runs:?}");
    }
}

#[test]
fn the_other_run_of_a_collision_need_not_be_asked_for() {
    let runs = [retried("a", 0), retried("b", 2)];
    let tail = tally(only(Some("a"), None), &runs, &[]).tail;
    assert_eq!((tail.samples, tail.retry_collision), (2, 2));
}

fn cold(job: &'static str, written: u64, read: u64) -> Sent {
    let mut run = answered(job, 0, 20_000);
    if let Some(usage) = &mut run.usage {
        (usage.input_tokens, usage.cache_write_1h_tokens) = (2000, written);
        usage.cache_read_tokens = read;
    }
    run
}

#[test]
fn long_input_that_reads_nothing_from_the_cache_is_cold() {
    let tail = night(&[cold("a", 10_000, 0)]).tail;
    assert_eq!(
        tail.worst[0].evidence,
        [Evidence::LongColdInput { tokens: 12_000 }]
    );
    assert_eq!(tail.advice[0].field, Field::System);
    assert_eq!(
        night(&[cold("a", 9_999, 0)]).tail.long_cold_input,
        0,
        "it is short"
    );
    assert_eq!(
        night(&[cold("a", 10_000, 1)]).tail.long_cold_input,
        0,
        "it was warm"
    );
}

#[test]
fn an_attempt_may_show_several_patterns() {
    let mut runs = [cold("a", 20_000, 0), retried("b", 1)];
    runs[0].attempts = vec![Some(300), Some(20_000)];
    let tail = night(&runs).tail;
    assert_eq!(
        (tail.samples, tail.retry_collision, tail.long_cold_input),
        (4, 4, 2)
    );
    assert_eq!(tail.worst[0].evidence.len(), 2);
    assert!(!tail.worst[0].evidence.iter().any(is_peak));
}

#[test]
fn the_tail_is_what_lies_at_or_over_p99_and_at_least_the_worst_twenty() {
    let night_of = |count: i64| -> Vec<Sent> {
        (0..count)
            .map(|n| answered("a", n / 10, n.unsigned_abs() + 1))
            .collect()
    };
    let tail = night(&night_of(100)).tail;
    assert_eq!((tail.samples, tail.from), (20, Duration::from_millis(81)));
    let tail = night(&night_of(4000)).tail;
    assert_eq!((tail.samples, tail.from), (41, Duration::from_millis(3960)));
    assert_eq!(tail.worst.len(), 20);
    assert_eq!(
        tail.worst[0].latency,
        Duration::from_secs(4),
        "the slowest first"
    );
    assert_eq!(tail.worst[0].at, at(399));
}

#[test]
fn attempts_of_yielded_runs_are_in_the_tail_too() {
    let tail = night(&[sent("a", 0, Outcome::Yielded(YieldReason::Hint), &[60_000])]).tail;
    assert_eq!((tail.samples, tail.none), (1, 1));
}
