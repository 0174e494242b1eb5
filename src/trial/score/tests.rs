use super::*;
use crate::money::Dollars;
use crate::trial::{Call, Opening};

fn send(at_ms: u64, latency_ms: u64, end: SendEnd) -> Send {
    Send {
        at_ms,
        latency_ms,
        group: 0,
        end,
    }
}

/// A log of calls, each by its requests in order; a call is answered if its last request is.
fn calls(calls: &[&[Send]]) -> Log {
    let mut log = Log::default();
    for sends in calls {
        let from = log.sends.len();
        log.sends.extend_from_slice(sends);
        let (first, last) = (sends[0], sends[sends.len() - 1]);
        log.calls.push(Call {
            name: log.calls.len() as u64,
            began_ms: first.at_ms,
            ended_ms: last.at_ms + last.latency_ms,
            is_answered: last.end == SendEnd::Answered,
            sends: from..log.sends.len(),
        });
    }
    log
}

fn works(works: &[(u64, Option<u64>, Carried)]) -> Log {
    let works = works.iter().map(|(due_ms, done_ms, carried)| Work {
        due_ms: *due_ms,
        done_ms: *done_ms,
        carried: *carried,
    });
    Log {
        works: works.collect(),
        ..Log::default()
    }
}

fn number(log: &Log, metric: Metric) -> Option<f64> {
    Score::of(log).get(metric).measured()
}

fn numbers<const N: usize>(log: &Log, metrics: [Metric; N]) -> Vec<f64> {
    let measured = metrics.map(|metric| number(log, metric));
    measured.into_iter().flatten().collect()
}

#[test]
fn empty_log_counts_nothing_and_measures_nothing() {
    use crate::trial::Unit;

    let score = Score::of(&Log::default());
    for metric in Metric::ALL {
        let expected = match metric.unit() {
            Unit::Count | Unit::Dollars => Value::Measured(0.0),
            Unit::Ratio | Unit::Span => Value::Nothing,
        };
        assert_eq!(score.get(*metric), expected, "{metric}");
    }
}

#[test]
fn work_counts_once_where_it_was_done() {
    let log = works(&[
        (0, Some(10), Carried::InSlot),
        (0, Some(20), Carried::InSlot),
        (0, Some(30), Carried::Next),
        (0, Some(40), Carried::NextDay),
        (0, None, Carried::Lost),
        (0, None, Carried::Lost),
        (0, None, Carried::Lost),
        (0, None, Carried::Waiting),
    ]);
    let counts = [
        Metric::Work,
        Metric::InSlot,
        Metric::Next,
        Metric::NextDay,
        Metric::Lost,
        Metric::Waiting,
    ];
    assert_eq!(numbers(&log, counts), [8.0, 2.0, 1.0, 1.0, 3.0, 1.0]);
}

#[test]
fn done_is_counted_from_the_slot_with_undone_work_above_all() {
    let log = works(&[
        (100, Some(110), Carried::InSlot),
        (100, Some(1_100), Carried::Next),
        (100, None, Carried::Lost),
    ]);
    let score = Score::of(&log);
    assert_eq!(score.get(Metric::DoneP50), Value::Measured(1_000.0));
    assert_eq!(score.get(Metric::DoneP95), Value::Beyond);
    assert_eq!(score.get(Metric::DoneMax), Value::Beyond);
    let all_done = works(&[(100, Some(110), Carried::InSlot)]);
    assert_eq!(number(&all_done, Metric::DoneMax), Some(10.0));
}

/// The figures of a report, and those of a trial, of the same spans.
#[test]
fn percentiles_are_those_of_completion() {
    use std::time::Duration;

    use crate::report::Completion;

    for (done, of) in [
        (1, 1),
        (1, 2),
        (0, 3),
        (19, 20),
        (20, 20),
        (95, 100),
        (94, 100),
        (99, 100),
        (100, 100),
        (990, 1_000),
        (989, 1_000),
    ] {
        let spans: Vec<u64> = (0..done).map(|at| at * 7_919 % 1_009).collect();
        let mut durations: Vec<_> = spans.iter().copied().map(Duration::from_millis).collect();
        let it = Completion::of(&mut durations, of);
        let expected = [it.p50, it.p95, it.p99, it.max].map(|span| {
            span.map_or(Value::Beyond, |span| {
                Value::Measured(span.as_millis() as f64)
            })
        });
        assert_eq!(percentiles(spans, of), expected, "{done} of {of}");
    }
}

#[test]
fn troubled_calls_are_told_from_smooth_ones() {
    use SendEnd::{Answered, Broken, Fatal, Refused};

    let log = calls(&[
        &[send(0, 5, Answered)],
        &[
            send(0, 1, Refused),
            send(10, 1, Refused),
            send(20, 5, Answered),
        ],
        &[send(0, 1, Fatal)],
        &[send(0, 9, Broken), send(20, 5, Answered)],
    ]);
    let metrics = [
        Metric::Calls,
        Metric::Unanswered,
        Metric::Attempts,
        Metric::MeanAttempts,
        Metric::TroubledCalls,
        Metric::AttemptsPerTroubledCall,
        Metric::Wasted,
    ];
    assert_eq!(numbers(&log, metrics), [4.0, 1.0, 7.0, 1.75, 3.0, 2.0, 4.0]);
    let smooth = Score::of(&calls(&[&[send(0, 5, Answered)]]));
    assert_eq!(
        smooth.get(Metric::AttemptsPerTroubledCall),
        Value::Nothing,
        "no call was troubled"
    );
    assert_eq!(smooth.get(Metric::TroubledCalls), Value::Measured(0.0));
}

#[test]
fn broken_request_is_resent_only_if_another_follows() {
    use SendEnd::{Answered, Broken, Refused};

    let resent = |sends: &[Send]| number(&calls(&[sends]), Metric::Resent);
    assert_eq!(resent(&[send(0, 1, Broken)]), Some(0.0));
    assert_eq!(resent(&[send(0, 1, Broken), send(9, 1, Broken)]), Some(1.0));
    assert_eq!(
        resent(&[
            send(0, 1, Broken),
            send(9, 1, Broken),
            send(19, 1, Answered)
        ]),
        Some(2.0)
    );
    assert_eq!(
        resent(&[send(0, 1, Refused), send(9, 1, Answered)]),
        Some(0.0),
        "no work was done for a refusal"
    );
}

#[test]
fn unanswered_call_took_longer_than_all_that_were_answered() {
    use SendEnd::{Answered, Refused};

    let log = calls(&[
        &[send(0, 2_000, Answered)],
        &[send(0, 1, Refused)],
        &[send(0, 1, Refused), send(4_000, 2_000, Answered)],
    ]);
    let score = Score::of(&log);
    assert_eq!(score.get(Metric::CallP50), Value::Measured(6_000.0));
    assert_eq!(score.get(Metric::CallP95), Value::Beyond);
}

#[test]
fn every_request_has_its_latency_however_it_ended() {
    use SendEnd::{Answered, Broken, Fatal, Refused};

    let log = calls(&[
        &[
            send(0, 40, Broken),
            send(0, 10, Refused),
            send(0, 20, Answered),
        ],
        &[send(0, 30, Fatal)],
    ]);
    let metrics = [Metric::AttemptP50, Metric::AttemptP95, Metric::AttemptMax];
    assert_eq!(numbers(&log, metrics), [20.0, 40.0, 40.0]);
}

#[test]
fn minute_is_half_open_and_of_one_group() {
    let most = |sends: &[(u16, u64)]| {
        let sends: Vec<Send> = sends
            .iter()
            .map(|(group, at_ms)| Send {
                group: *group,
                ..send(*at_ms, 1, SendEnd::Answered)
            })
            .collect();
        most_in_a_minute(&sends)
    };
    assert_eq!(most(&[]), 0);
    assert_eq!(most(&[(0, 59_999), (0, 0)]), 2, "in any order");
    assert_eq!(most(&[(0, 60_000), (0, 0)]), 1);
    assert_eq!(most(&[(0, 0), (1, 1), (0, 2)]), 2);
    assert_eq!(most(&[(0, 0), (0, 30_000), (0, 60_000), (0, 89_999)]), 3);
    assert_eq!(most(&[(0, 90_000), (1, 0), (1, 10)]), 2);
    assert_eq!(most(&[(0, u64::MAX), (1, 0)]), 1);
}

#[test]
fn yields_and_openings_are_told_apart() {
    let opening = |is_false| Opening { at_ms: 0, is_false };
    let log = Log {
        yields: [
            (YieldReason::Budget, 8),
            (YieldReason::Breaker, 9),
            (YieldReason::Hint, 2),
            (YieldReason::Peak, 1),
        ]
        .into(),
        openings: vec![opening(true), opening(false), opening(false)],
        dollars: Dollars::from_nanos(1_500_000_000),
        ..Log::default()
    };
    let metrics = [
        Metric::Yields,
        Metric::YieldsBudget,
        Metric::YieldsBreaker,
        Metric::YieldsOther,
        Metric::Openings,
        Metric::FalseOpenings,
        Metric::Dollars,
    ];
    assert_eq!(numbers(&log, metrics), [20.0, 8.0, 9.0, 3.0, 3.0, 1.0, 1.5]);
}

#[test]
fn yields_of_one_gate_leave_the_others_at_none() {
    let log = Log {
        yields: [(YieldReason::Hold, 4)].into(),
        ..Log::default()
    };
    let metrics = [
        Metric::Yields,
        Metric::YieldsBudget,
        Metric::YieldsBreaker,
        Metric::YieldsOther,
    ];
    assert_eq!(numbers(&log, metrics), [4.0, 0.0, 0.0, 4.0]);
}

/// Work that was put off asks anew for the same answer: it must not look like two that were quick to come.
#[test]
fn calls_of_one_name_are_one_answer() {
    use SendEnd::{Answered, Broken, Refused};

    let put_off = [send(0, 1, Refused), send(9, 1, Broken)];
    let done = [send(7_200_000, 1, Answered)];
    let mut log = calls(&[&put_off, &[send(5, 1, Answered)], &done]);
    log.calls[2].name = log.calls[0].name;
    let figures = [
        Metric::Calls,
        Metric::MeanAttempts,
        Metric::TroubledCalls,
        Metric::AttemptsPerTroubledCall,
        Metric::Wasted,
        Metric::Resent,
    ];
    assert_eq!(numbers(&log, figures), [3.0, 2.0, 1.0, 3.0, 2.0, 1.0]);
}
