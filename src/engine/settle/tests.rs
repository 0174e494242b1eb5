use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;

use super::*;
use crate::job::{AnswerSchema, GroupId, JobId};
use crate::schedule::DeferRule;

const DAY: Duration = Duration::from_hours(24);

fn slot() -> Slot {
    Slot {
        fire_at: "2026-12-01T17:00:00Z".parse().unwrap(),
        job: JobId::new("digest"),
    }
}

fn policy() -> DeferPolicy {
    DeferPolicy {
        rule: DeferRule::NextSlot,
        max: 3,
        expires_after: DAY,
        on_exhausted: OnExhausted::Defer,
    }
}

fn wait(carries: u32, reason: YieldReason) -> NewDeferral {
    let (not_before, origin) = (slot().fire_at, Origin::Deferred);
    NewDeferral {
        not_before,
        to: None,
        carries,
        rule: DeferRule::NextSlot,
        reason,
        origin,
    }
}

fn answer(text: &str, stop_reason: StopReason) -> Answer {
    let (id, model) = ("msg".to_owned(), "claude-sim".to_owned());
    Answer {
        id,
        model,
        text: text.to_owned(),
        stop_reason,
        usage: None,
        paused: None,
        tool_errors: Vec::new(),
    }
}

fn refused(carried: Option<&NewDeferral>, reason: YieldReason, late: TimeDelta) -> Settled {
    let slot = slot();
    let past = Past {
        slot: &slot,
        wait: carried,
        has_exhausted: false,
    };
    yielded(&policy(), past, (reason, None), slot.fire_at + late)
}

#[test]
fn only_an_end_of_the_models_own_is_complete() {
    let table = [
        (StopReason::EndTurn, None),
        (StopReason::StopSequence, None),
        (StopReason::MaxTokens, Some(IncompleteReason::Truncated)),
        (
            StopReason::ContextWindowExceeded,
            Some(IncompleteReason::Truncated),
        ),
        (StopReason::Refusal, Some(IncompleteReason::Refused)),
        (StopReason::ToolUse, Some(IncompleteReason::Unfinished)),
        (StopReason::PauseTurn, Some(IncompleteReason::Unfinished)),
        (
            StopReason::Other("new".to_owned()),
            Some(IncompleteReason::Unfinished),
        ),
    ];
    for (stop, expected) in table {
        assert_eq!(
            judge(&Check::default(), &answer("text", stop.clone())),
            expected,
            "{stop:?}"
        );
    }
}

#[test]
fn a_text_is_measured_in_characters_on_both_sides_of_the_bound() {
    let check = Check {
        min_chars: Some(3),
        ..Check::default()
    };
    let judged = |text| judge(&check, &answer(text, StopReason::EndTurn));
    assert_eq!(judged("日本語"), None);
    assert_eq!(judged("日本"), Some(IncompleteReason::FailedCheck));
}

#[test]
fn every_wanted_text_must_occur_and_blanks_are_empty() {
    let check = Check {
        contains: vec!["# Digest".to_owned(), "end".to_owned()],
        ..Check::default()
    };
    let judged = |text| judge(&check, &answer(text, StopReason::EndTurn));
    assert_eq!(judged("# Digest … end"), None);
    assert_eq!(judged("# Digest"), Some(IncompleteReason::FailedCheck));
    assert_eq!(judged(" \n\t"), Some(IncompleteReason::Empty));
}

#[test]
fn an_answer_that_its_schema_does_not_take_fails_its_check_and_the_note_says_why() {
    let compare = |text: &str| (text != "{}").then(|| "the answer is no JSON".to_owned());
    let check = Check {
        min_chars: Some(1),
        schema: Some(AnswerSchema::new("{}", Arc::new(compare))),
        ..Check::default()
    };
    let judged = |text| judge(&check, &answer(text, StopReason::EndTurn));
    assert_eq!(judged("{}"), None);
    assert_eq!(judged("hello"), Some(IncompleteReason::FailedCheck));
    assert_eq!(judged(" "), Some(IncompleteReason::Empty));
    let note = |text| {
        let answer = answer(text, StopReason::EndTurn);
        shortfall(IncompleteReason::FailedCheck, &check, &answer)
    };
    assert_eq!(note("hello"), "`answer_schema`: the answer is no JSON");
    // A cut answer is cut, whatever it looks like.
    assert_eq!(
        judge(&check, &answer("{", StopReason::MaxTokens)),
        Some(IncompleteReason::Truncated)
    );
}

#[test]
fn a_yield_goes_on_not_before_the_gates_instant_and_never_before_now() {
    let (slot, now) = (slot(), slot().fire_at);
    let past = Past {
        slot: &slot,
        wait: None,
        has_exhausted: false,
    };
    let until = |at| {
        yielded(&policy(), past, (YieldReason::Budget, Some(at)), now)
            .wait
            .unwrap()
    };
    let later = now + TimeDelta::minutes(1);
    assert_eq!(until(later).not_before, later);
    assert_eq!(until(now - TimeDelta::minutes(1)).not_before, now);
    assert_eq!(until(now).carries, 1);
}

#[test]
fn work_that_was_carried_to_the_maximum_fails() {
    let last = refused(
        Some(&wait(2, YieldReason::Budget)),
        YieldReason::Budget,
        TimeDelta::hours(1),
    );
    assert_eq!(last.wait.unwrap().carries, 3);
    let over = refused(
        Some(&wait(3, YieldReason::Budget)),
        YieldReason::Budget,
        TimeDelta::hours(1),
    );
    assert_eq!(
        over,
        Settled {
            outcome: Outcome::Failed(FailReason::CarriedTooOften),
            wait: None
        }
    );
}

#[test]
fn work_expires_only_after_it_had_a_slot() {
    let late = TimeDelta::hours(25);
    assert_eq!(
        refused(None, YieldReason::Peak, late).outcome,
        Outcome::Yielded(YieldReason::Peak)
    );
    let carried = wait(1, YieldReason::Peak);
    let outcome = refused(Some(&carried), YieldReason::Peak, late).outcome;
    assert_eq!(outcome, Outcome::Failed(FailReason::Expired));
}

#[test]
fn exhaustion_is_deferred_once_even_with_a_yield_in_between() {
    let (slot, now) = (slot(), slot().fire_at);
    let first = exhausted(
        &policy(),
        Past {
            slot: &slot,
            wait: None,
            has_exhausted: false,
        },
        now,
    );
    assert_eq!(first.outcome, Outcome::Exhausted);
    let between = refused(first.wait.as_ref(), YieldReason::Budget, TimeDelta::zero());
    assert_eq!(between.outcome, Outcome::Yielded(YieldReason::Budget));
    let second = exhausted(
        &policy(),
        Past {
            slot: &slot,
            wait: between.wait.as_ref(),
            has_exhausted: false,
        },
        now,
    );
    assert_eq!(
        second,
        Settled {
            outcome: Outcome::Failed(FailReason::Exhausted),
            wait: None
        }
    );
}

#[test]
fn exhaustion_fails_where_the_job_says_so() {
    let policy = DeferPolicy {
        on_exhausted: OnExhausted::Fail,
        ..policy()
    };
    let slot = slot();
    let settled = exhausted(
        &policy,
        Past {
            slot: &slot,
            wait: None,
            has_exhausted: false,
        },
        slot.fire_at,
    );
    assert_eq!(settled.outcome, Outcome::Failed(FailReason::Exhausted));
}

#[test]
fn carried_work_keeps_its_origin() {
    let carried = NewDeferral {
        origin: Origin::CatchUp,
        ..wait(0, YieldReason::Missed)
    };
    let again = refused(Some(&carried), YieldReason::Budget, TimeDelta::hours(30))
        .wait
        .unwrap();
    assert_eq!((again.origin, again.carries), (Origin::CatchUp, 1));
}

#[test]
fn work_that_crashes_cut_off_again_and_again_lapses() {
    let lapses = |carries, reason, late| {
        let deferral = Deferral {
            id: 1,
            slot: slot(),
            group: GroupId::new("main"),
            wait: wait(carries, reason),
        };
        lapsed(&policy(), &deferral, slot().fire_at + late)
    };
    let (soon, late) = (TimeDelta::hours(1), TimeDelta::hours(25));
    assert_eq!(lapses(3, YieldReason::Interrupted, soon), None);
    assert_eq!(
        lapses(4, YieldReason::Interrupted, soon),
        Some(FailReason::CarriedTooOften)
    );
    assert_eq!(lapses(1, YieldReason::Interrupted, late), None);
    assert_eq!(
        lapses(2, YieldReason::Interrupted, late),
        Some(FailReason::Expired)
    );
    assert_eq!(lapses(4, YieldReason::Budget, late), None);
}

#[test]
fn work_of_a_disabled_job_is_not_deferred_and_the_note_keeps_the_cause() {
    let slot = slot();
    let past = Past {
        slot: &slot,
        wait: None,
        has_exhausted: false,
    };
    let told = || Some("status 429".to_owned());
    let by_gate = refused(None, YieldReason::Shutdown, TimeDelta::zero());
    let (settled, trouble) = of_disabled(by_gate, told());
    assert_eq!(settled.outcome, Outcome::Failed(FailReason::JobGone));
    assert_eq!(settled.wait, None);
    assert_eq!(
        note(trouble, &settled).unwrap(),
        "status 429; yielded: shutdown; its job is gone or disabled"
    );
    let (settled, _) = of_disabled(exhausted(&policy(), past, slot.fire_at), told());
    assert_eq!(settled.outcome, Outcome::Failed(FailReason::Exhausted));
    assert_eq!(settled.wait, None);
}

#[test]
fn end_of_a_disabled_jobs_run_that_leaves_no_work_stays_as_it_is() {
    let succeeded = || Settled {
        outcome: Outcome::Succeeded,
        wait: None,
    };
    assert_eq!(of_disabled(succeeded(), None), (succeeded(), None));
}

#[test]
fn a_note_says_what_was_found_and_what_follows() {
    let mut settled = refused(None, YieldReason::Hint, TimeDelta::zero());
    settled.wait.as_mut().unwrap().to = Some(slot().fire_at + TimeDelta::minutes(45));
    let text = note(Some("status 429".to_owned()), &settled).unwrap();
    assert_eq!(
        text,
        "status 429; goes on in the slot of 2026-12-01 17:45:00Z"
    );
    let succeeded = Settled {
        outcome: Outcome::Succeeded,
        wait: None,
    };
    assert_eq!(note(None, &succeeded), None);
}
