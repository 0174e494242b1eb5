use super::super::samples::{at, run};
use super::*;
use crate::outcome::Class;

#[test]
fn runs_of_one_slot_are_one_chain_in_order() {
    let runs = [
        run(3, "a", 0, Outcome::Succeeded)
            .carried_at(105)
            .attempt(9, Some(Class::Success)),
        run(1, "a", 0, Outcome::Yielded(YieldReason::Breaker))
            .deferred_to(45)
            .attempt(9, Some(Class::Retryable)),
        run(2, "a", 0, Outcome::Exhausted)
            .carried_at(45)
            .deferred_to(105)
            .attempt(9, Some(Class::Retryable)),
    ];
    let expected = Chain {
        job: JobId::new("a"),
        fire_at: at(0),
        runs: 3,
        deferrals: 2,
        attempts: 3,
        end: ChainEnd::Succeeded(at(106)),
    };
    assert_eq!(follow(&runs), [expected]);
}

#[test]
fn slots_of_other_jobs_and_instants_are_other_chains_in_order() {
    let done = Outcome::Succeeded;
    let runs = [
        run(1, "b", 0, done.clone()),
        run(2, "a", 45, done.clone()),
        run(3, "a", 0, done),
    ];
    let order: Vec<_> = follow(&runs)
        .into_iter()
        .map(|chain| (chain.fire_at, chain.job.to_string()))
        .collect();
    assert_eq!(
        order,
        [
            (at(0), "a".to_owned()),
            (at(0), "b".to_owned()),
            (at(45), "a".to_owned())
        ]
    );
}

#[test]
fn end_is_that_of_the_last_run() {
    let cases = [
        (
            run(1, "a", 0, Outcome::Succeeded),
            ChainEnd::Succeeded(at(1)),
        ),
        (
            run(1, "a", 0, Outcome::Incomplete(IncompleteReason::Truncated)),
            ChainEnd::Incomplete(IncompleteReason::Truncated),
        ),
        (run(1, "a", 0, Outcome::Exhausted), ChainEnd::Exhausted),
        (
            run(1, "a", 0, Outcome::Failed(FailReason::Fatal)),
            ChainEnd::Failed(FailReason::Fatal),
        ),
        (
            run(1, "a", 0, Outcome::Skipped(SkipReason::Merged)),
            ChainEnd::Skipped(SkipReason::Merged),
        ),
        (
            run(1, "a", 0, Outcome::Yielded(YieldReason::Hold)),
            ChainEnd::Yielded(YieldReason::Hold),
        ),
        (
            run(1, "a", 0, Outcome::Succeeded).under_way(),
            ChainEnd::Running,
        ),
    ];
    for (run, expected) in cases {
        assert_eq!(follow(&[run])[0].end, expected);
    }
}

#[test]
fn deferred_work_without_a_later_run_is_waiting() {
    let chains = follow(&[run(1, "a", 0, Outcome::Yielded(YieldReason::Hint)).deferred_to(45)]);
    let waiting = DeferredTo {
        not_before: at(40),
        to: Some(at(45)),
        carries: 1,
    };
    assert_eq!(chains[0].end, ChainEnd::Waiting(waiting));
}

#[test]
fn completion_counts_from_the_slot_at_which_work_was_due() {
    let chain = &follow(&[run(1, "a", 0, Outcome::Succeeded).carried_at(45)])[0];
    assert_eq!(chain.completed_after(), Some(Duration::from_mins(46)));
}

#[test]
fn clock_that_stepped_back_gives_no_negative_span() {
    let chain = &follow(&[run(1, "a", 45, Outcome::Succeeded).carried_at(0)])[0];
    assert_eq!(chain.completed_after(), Some(Duration::ZERO));
}

#[test]
fn skipped_work_was_not_due() {
    let is_due = |outcome| follow(&[run(1, "a", 0, outcome)])[0].is_due();
    assert!(!is_due(Outcome::Skipped(SkipReason::EmptyInput)));
    assert!(is_due(Outcome::Failed(FailReason::Input)));
    assert!(is_due(Outcome::Yielded(YieldReason::Budget)));
}
