use super::super::samples::run;
use super::*;
use crate::answer::FailureKind;
use crate::outcome::{FailReason, IncompleteReason, SkipReason};

#[test]
fn no_runs_give_an_empty_summary() {
    let summary = summarize(&[]);
    assert_eq!(
        (summary.slots.total(), summary.runs, summary.attempts),
        (0, 0, 0)
    );
    assert_eq!((summary.mean_attempts(), summary.latency), (None, None));
    assert_eq!(summary.completion, Completion::default());
}

#[test]
fn every_slot_is_counted_once_by_how_its_work_ended() {
    let runs = [
        run(1, "a", 0, Outcome::Yielded(YieldReason::Breaker)).deferred_to(45),
        run(2, "a", 0, Outcome::Succeeded).carried_at(45),
        run(3, "b", 0, Outcome::Incomplete(IncompleteReason::Empty)),
        run(4, "c", 0, Outcome::Yielded(YieldReason::Budget)).deferred_to(45),
        run(5, "d", 0, Outcome::Yielded(YieldReason::Budget)),
        run(6, "e", 0, Outcome::Exhausted),
        run(7, "f", 0, Outcome::Failed(FailReason::Fatal)),
        run(8, "g", 0, Outcome::Skipped(SkipReason::Overlap)),
        run(9, "h", 0, Outcome::Succeeded).under_way(),
    ];
    let summary = summarize(&runs);
    let once = Outcomes {
        succeeded: 1,
        incomplete: 1,
        yielded: 1,
        waiting: 1,
        exhausted: 1,
        failed: 1,
        skipped: 1,
        running: 1,
    };
    assert_eq!(
        (summary.slots, summary.slots.total(), summary.runs),
        (once, 8, 9)
    );
}

#[test]
fn each_yield_counts_at_its_gate_even_when_the_work_succeeds_later() {
    let runs = [
        run(1, "a", 0, Outcome::Yielded(YieldReason::Breaker)).deferred_to(45),
        run(2, "a", 0, Outcome::Yielded(YieldReason::Breaker))
            .carried_at(45)
            .deferred_to(105),
        run(3, "a", 0, Outcome::Succeeded).carried_at(105),
        run(4, "b", 0, Outcome::Yielded(YieldReason::Budget)).deferred_to(45),
    ];
    let yields = summarize(&runs).yields;
    assert_eq!(
        yields,
        BTreeMap::from([(YieldReason::Budget, 1), (YieldReason::Breaker, 2)])
    );
}

#[test]
fn mean_attempts_leaves_out_runs_that_sent_nothing() {
    let runs = [
        run(1, "a", 0, Outcome::Succeeded)
            .attempt(5, Some(Class::Retryable))
            .attempt(5, Some(Class::Retryable))
            .answered(None),
        run(2, "b", 0, Outcome::Succeeded).answered(None),
        run(3, "c", 0, Outcome::Yielded(YieldReason::Budget)),
    ];
    let summary = summarize(&runs);
    assert_eq!((summary.calls, summary.attempts, summary.wasted), (2, 4, 2));
    assert!((summary.mean_attempts().unwrap() - 2.0).abs() < f64::EPSILON);
}

#[test]
fn attempt_without_an_end_is_wasted_once_its_run_is_over() {
    let under_way = run(1, "a", 0, Outcome::Succeeded)
        .open_attempt()
        .under_way();
    assert_eq!(summarize(&[under_way]).wasted, 0);
    let cut_off = run(1, "a", 0, Outcome::Yielded(YieldReason::Interrupted)).open_attempt();
    assert_eq!(summarize(&[cut_off]).wasted, 1);
}

#[test]
fn cancelled_attempt_is_wasted_and_its_latency_says_nothing() {
    let summary =
        summarize(&[run(1, "a", 0, Outcome::Yielded(YieldReason::Shutdown)).attempt(7000, None)]);
    assert_eq!((summary.wasted, summary.latency), (1, None));
}

#[test]
fn latency_takes_failures_too_and_first_byte_only_where_one_came() {
    let summary = summarize(&[run(1, "a", 0, Outcome::Succeeded)
        .attempt(9000, Some(Class::Retryable))
        .answered(None)]);
    let latency = summary.latency.unwrap();
    assert_eq!((latency.samples, latency.max), (2, Duration::from_secs(9)));
    let first_byte = summary.first_byte.unwrap();
    assert_eq!(
        (first_byte.samples, first_byte.max),
        (1, Duration::from_millis(500))
    );
}

#[test]
fn deferred_work_stays_in_the_denominator() {
    let runs = [
        run(1, "a", 0, Outcome::Succeeded),
        run(2, "b", 0, Outcome::Yielded(YieldReason::Breaker)).deferred_to(45),
        run(3, "b", 0, Outcome::Succeeded).carried_at(45),
        run(4, "c", 0, Outcome::Yielded(YieldReason::Breaker)).deferred_to(45),
        run(5, "d", 0, Outcome::Skipped(SkipReason::EmptyInput)),
    ];
    let completion = summarize(&runs).completion;
    assert_eq!((completion.due, completion.completed), (3, 2));
    assert_eq!(
        (completion.p50, completion.p95),
        (Some(Duration::from_mins(46)), None)
    );
}

#[test]
fn every_deferral_is_listed_with_its_end_and_nothing_else() {
    let runs = [
        run(1, "a", 0, Outcome::Succeeded),
        run(2, "b", 0, Outcome::Yielded(YieldReason::Breaker)).deferred_to(45),
        run(3, "b", 0, Outcome::Skipped(SkipReason::Merged)).carried_at(45),
    ];
    let deferred = summarize(&runs).deferred;
    assert_eq!(deferred.len(), 1);
    assert_eq!(
        (deferred[0].job.as_str(), &deferred[0].end),
        ("b", &ChainEnd::Skipped(SkipReason::Merged))
    );
}

#[test]
fn unknown_costs_and_counters_are_counted_apart() {
    let mut uncounted = run(3, "c", 0, Outcome::Succeeded).answered(None);
    uncounted.usage = None;
    let runs = [
        run(1, "a", 0, Outcome::Succeeded).answered(Some(0.25)),
        run(2, "b", 0, Outcome::Succeeded).answered(Some(0.5)),
        uncounted,
        run(4, "d", 0, Outcome::Yielded(YieldReason::Interrupted)).open_attempt(),
        run(5, "e", 0, Outcome::Exhausted).attempt(5, Some(Class::Retryable)),
    ];
    let summary = summarize(&runs);
    assert_eq!(
        summary.dollars,
        Costs {
            known: Dollars::from_f64(0.75).unwrap(),
            unknown: 2
        }
    );
    assert_eq!(
        summary.tokens.counted,
        Usage {
            input_tokens: 200,
            output_tokens: 20,
            ..Usage::default()
        }
    );
    assert_eq!(summary.tokens.unknown, 2);
}

// Only runs without an answer that a crash had cut off were counted; the rest looked free.
#[test]
fn attempts_that_may_have_been_billed_are_of_unknown_cost() {
    let night = || run(1, "a", 0, Outcome::Exhausted);
    for (run, unknown) in [
        (night().broken(FailureKind::Cut, Some(200)), 1),
        (night().broken(FailureKind::StreamError, Some(200)), 1),
        (night().broken(FailureKind::FirstByteTimeout, None), 1),
        (night().broken(FailureKind::IdleTimeout, Some(200)), 1),
        (night().broken(FailureKind::AttemptTimeout, None), 1),
        (night().attempt(5, None), 1),
        (night().cut_attempt(900), 1),
        (night().open_attempt(), 1),
        (night().open_attempt().under_way(), 0),
        (night().broken(FailureKind::Connect, None), 0),
        (night().broken(FailureKind::Unsendable, None), 0),
        (night().attempt(5, Some(Class::Retryable)), 0),
        (night().attempt(5, Some(Class::Fatal)), 0),
    ] {
        let summary = summarize(std::slice::from_ref(&run));
        assert_eq!(summary.dollars.unknown, unknown, "{:?}", run.attempts);
        assert_eq!(summary.tokens.unknown, unknown, "{:?}", run.attempts);
    }
}

#[test]
fn an_answer_of_known_cost_leaves_the_lost_attempts_before_it_unknown() {
    let run = run(1, "a", 0, Outcome::Succeeded)
        .broken(FailureKind::Cut, Some(200))
        .broken(FailureKind::AttemptTimeout, Some(200))
        .attempt(5, Some(Class::Retryable))
        .answered(Some(0.25));
    let summary = summarize(&[run]);
    let expected = Costs {
        known: Dollars::from_f64(0.25).unwrap(),
        unknown: 2,
    };
    assert_eq!(summary.dollars, expected);
    assert_eq!(summary.tokens.unknown, 2);
}
