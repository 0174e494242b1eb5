use super::*;
use crate::guard::HoldCause;
use crate::outcome::{FailReason, IncompleteReason, YieldReason};

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).unwrap()
}

const FATAL: Outcome = Outcome::Failed(FailReason::Fatal);
const CUT: Outcome = Outcome::Incomplete(IncompleteReason::Truncated);
const DROPPED: Outcome = Outcome::Failed(FailReason::Dropped);
const BUDGET: Outcome = Outcome::Yielded(YieldReason::Budget);
const EMPTY: Outcome = Outcome::Skipped(SkipReason::EmptyInput);
const MERGED: Outcome = Outcome::Skipped(SkipReason::Merged);

#[test]
fn a_job_stands_as_its_last_work_that_ended() {
    let later = Some(at(60));
    let table = [
        (Outcome::Succeeded, None, Some(Standing::Fine)),
        (FATAL, None, Some(Standing::Failing)),
        (CUT, None, Some(Standing::Failing)),
        (Outcome::Exhausted, None, Some(Standing::Failing)),
        (Outcome::Exhausted, later, None),
        (BUDGET, later, None),
        (EMPTY, None, None),
        (MERGED, None, None),
        (DROPPED, None, None),
    ];
    for (outcome, later, standing) in table {
        assert_eq!(
            Standing::after(&outcome, later),
            standing,
            "{outcome} {later:?}"
        );
    }
}

/// The changes that a job's runs make, one after the other, in the engine's order.
fn changes(outcomes: &[(Outcome, Option<DateTime<Utc>>)]) -> Vec<Option<Change>> {
    let mut before = Standing::Fine;
    let turn = |(outcome, later): &(Outcome, Option<DateTime<Utc>>)| {
        let now = Standing::after(outcome, *later)?;
        let change = before.turn(now);
        before = now;
        change
    };
    outcomes.iter().map(turn).collect()
}

#[test]
fn every_change_is_told_once_and_yields_are_none() {
    let told = changes(&[
        (Outcome::Succeeded, None),
        (BUDGET, Some(at(60))),
        (FATAL, None),
        (FATAL, None),
        (CUT, None),
        (Outcome::Exhausted, Some(at(60))),
        (EMPTY, None),
        (Outcome::Succeeded, None),
        (Outcome::Succeeded, None),
        (FATAL, None),
    ]);
    let (failed, recovered) = (Some(Change::Failed), Some(Change::Recovered));
    let expected = [
        None, None, failed, None, None, None, None, recovered, None, failed,
    ];
    assert_eq!(told, expected);
}

#[test]
fn good_slots_are_those_that_succeed_or_have_nothing_to_ask() {
    let ending = |outcome| Ending {
        slot: Slot {
            fire_at: at(0),
            job: JobId::new("digest"),
        },
        run: RunId(1),
        outcome,
        note: None,
        later: None,
        at: at(1),
    };
    let table = [
        (Outcome::Succeeded, true),
        (EMPTY, true),
        (MERGED, false),
        (FATAL, false),
        (CUT, false),
        (BUDGET, false),
        (Outcome::Exhausted, false),
    ];
    for (outcome, good) in table {
        assert_eq!(ending(outcome.clone()).is_good(), good, "{outcome}");
    }
}

fn hold(cause: HoldCause, until: Option<i64>) -> Hold {
    Hold {
        cause,
        until: until.map(at),
        since: at(0),
        note: "n".to_owned(),
    }
}

fn guards(held: Option<Hold>) -> Vec<(GroupId, Guard)> {
    let guard = Guard {
        hold: held,
        ..Guard::default()
    };
    vec![
        (GroupId::new("main"), guard),
        (GroupId::new("other"), Guard::default()),
    ]
}

#[test]
fn a_hold_is_told_when_it_is_placed_and_when_it_ends() {
    let (hint, billing) = (
        hold(HoldCause::Hint, Some(100)),
        hold(HoldCause::Billing, None),
    );
    let longer = hold(HoldCause::Hint, Some(200));
    let mut holds = Holds::default();
    let steps = [
        (0, None, None),
        (10, Some(&hint), Some(News::Held(hint.clone()))),
        (20, Some(&hint), None),
        (30, Some(&longer), None),
        (40, Some(&billing), Some(News::Held(billing.clone()))),
        (50, None, Some(News::Free(billing.clone()))),
        (60, Some(&hint), Some(News::Held(hint.clone()))),
        // The row keeps a hold that is over until somebody asks.
        (100, Some(&hint), Some(News::Free(hint.clone()))),
        (110, None, None),
    ];
    for (second, held, news) in steps {
        let told = holds.turns(&guards(held.cloned()), at(second));
        let expected = news.map(|news| Alert {
            group: GroupId::new("main"),
            news,
            at: at(second),
        });
        assert_eq!(
            told,
            expected.into_iter().collect::<Vec<_>>(),
            "second {second}"
        );
    }
}

#[test]
fn a_hold_that_stands_at_the_first_look_was_told_before() {
    let billing = hold(HoldCause::Billing, None);
    let mut holds = Holds::default();
    assert_eq!(holds.turns(&guards(Some(billing.clone())), at(0)), []);
    let told = holds.turns(&guards(None), at(10));
    assert_eq!(told[0].news, News::Free(billing.clone()));
    assert_eq!(told[0].change(), Change::Recovered);
    holds.clear();
    assert_eq!(holds.turns(&guards(Some(billing)), at(20)), []);
}

#[test]
fn holds_are_looked_at_while_they_stand_and_after_runs_that_may_place_one() {
    let mut holds = Holds::default();
    assert_eq!(holds.look_in(at(0)), None);
    assert!(holds.concerns(&Outcome::Succeeded), "the first look");
    holds.turns(&guards(None), at(0));
    assert_eq!(holds.look_in(at(0)), None);
    let table = [
        (Outcome::Succeeded, false),
        (CUT, false),
        (EMPTY, false),
        (BUDGET, true),
        (FATAL, true),
        (Outcome::Exhausted, true),
    ];
    for (outcome, due) in table {
        assert_eq!(holds.concerns(&outcome), due, "{outcome}");
    }
    let spans = [
        (Some(10), 10),
        (Some(3_000), 60),
        (None, 60),
        // A moment before its end is not asked for in a loop.
        (Some(1), 1),
    ];
    for (until, seconds) in spans {
        holds.turns(&guards(Some(hold(HoldCause::SpendCap, until))), at(0));
        let expected = Some(Duration::from_secs(seconds));
        assert_eq!(holds.look_in(at(0)), expected, "{until:?}");
        assert!(holds.concerns(&Outcome::Succeeded));
    }
}
