use super::*;
use crate::outcome::{FailReason, RunId};
use crate::schedule::DeferRule;

fn at(hour: u32) -> DateTime<Utc> {
    format!("2026-12-01T{hour:02}:00:00Z").parse().unwrap()
}

fn slot(hour: u32) -> Slot {
    Slot {
        fire_at: at(hour),
        job: JobId::new("a"),
    }
}

fn run(id: i64, hour: u32, outcome: Option<Outcome>) -> Run {
    Run {
        id: RunId(id),
        job: JobId::new("a"),
        fire_at: at(hour),
        origin: Origin::Scheduled,
        group: GroupId::new("main"),
        model: "m".to_owned(),
        started_at: at(hour),
        finished_at: outcome.as_ref().map(|_| at(hour)),
        outcome,
        note: None,
        attempts: Vec::new(),
        stop_reason: None,
        usage: None,
        cost_usd: None,
        output: None,
        deferred: None,
    }
}

fn failed(id: i64, hour: u32) -> Run {
    run(id, hour, Some(Outcome::Failed(FailReason::Fatal)))
}

fn waiting(id: i64, hour: u32, state: DeferralState) -> (Deferral, DeferralState) {
    let wait = NewDeferral {
        not_before: at(hour),
        to: None,
        carries: 1,
        rule: DeferRule::NextSlot,
        reason: YieldReason::Budget,
        origin: Origin::Deferred,
    };
    let deferral = Deferral {
        id,
        slot: slot(hour),
        group: GroupId::new("main"),
        wait,
    };
    (deferral, state)
}

#[test]
fn the_newest_slot_is_taken_up_or_the_one_that_is_named() {
    let runs = [failed(1, 1), failed(2, 3), failed(3, 2)];
    assert_eq!(slot_again(&runs, &[], None), Ok(slot(3)));
    assert_eq!(slot_again(&runs, &[], Some(at(2))), Ok(slot(2)));
    assert_eq!(slot_again(&runs, &[], Some(at(4))), Err(NotAgain::Unknown));
    assert_eq!(slot_again(&[], &[], None), Err(NotAgain::Unknown));
}

#[test]
fn the_last_run_of_a_slot_says_how_it_stands() {
    let answered = [failed(1, 1), run(2, 1, Some(Outcome::Succeeded))];
    assert_eq!(
        slot_again(&answered, &[], None),
        Err(NotAgain::Succeeded(slot(1), None))
    );
    let goes_on = [failed(1, 1), run(2, 1, None)];
    assert_eq!(
        slot_again(&goes_on, &[], None),
        Err(NotAgain::UnderWay(slot(1)))
    );
    let pending = [(slot(1), DeferralState::Pending)];
    assert_eq!(
        slot_again(&[failed(1, 1)], &pending, None),
        Err(NotAgain::Pending(slot(1)))
    );
}

#[test]
fn an_older_slot_is_offered_where_the_newest_succeeded() {
    let runs = [
        failed(1, 1),
        failed(2, 2),
        run(3, 3, Some(Outcome::Succeeded)),
    ];
    let offered = NotAgain::Succeeded(slot(3), Some(slot(2)));
    assert_eq!(slot_again(&runs, &[], None), Err(offered));
}

#[test]
fn the_newest_is_dropped_or_the_named_one_or_all() {
    let open = [
        waiting(1, 3, DeferralState::Pending),
        waiting(2, 1, DeferralState::Pending),
        waiting(3, 2, DeferralState::Running),
    ];
    assert_eq!(chosen(&open, Which::Newest), Ok(vec![1]));
    assert_eq!(chosen(&open, Which::At(at(1))), Ok(vec![2]));
    assert_eq!(chosen(&open, Which::All), Ok(vec![2, 1]));
    assert_eq!(chosen(&open, Which::At(at(2))), Err(NotDropped::UnderWay));
    assert_eq!(chosen(&open, Which::At(at(5))), Err(NotDropped::Nothing));
    assert_eq!(chosen(&[], Which::All), Err(NotDropped::Nothing));
}

#[test]
fn the_note_of_dropped_work_holds_the_persons_words() {
    assert_eq!(dropped_note(Some("stale")), "dropped by a person: stale");
    assert_eq!(dropped_note(None), "dropped by a person");
}
