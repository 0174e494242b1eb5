//! Answers that are owed to their places: delivered again by themselves, and never asked for again.

use std::time::Duration;

use offpeak::engine::again::NotAgain;
use offpeak::engine::ports::Clock;
use offpeak::outcome::{Outcome, Run};
use offpeak::sim::{Fault, SimUpstream};

use super::harness::{House, job, rotation, seconds};

fn broken() -> House {
    let house = House::new("2026-12-01T16:50", rotation().build(), SimUpstream::healthy);
    let fault = Fault::Output("disk full".to_owned());
    house.workspace.break_job(&job("a"), fault);
    house
}

fn first(house: &House) -> Run {
    house.store.runs().remove(0)
}

#[test]
fn an_answer_is_delivered_again_until_it_is_there_and_the_run_has_succeeded_then() {
    let house = broken();
    house.live_until("2026-12-01T17:02");
    let run = first(&house);
    assert_eq!(house.runs(), ["a scheduled: failed: output"]);
    assert!(house.store.answer(run.id).is_some());
    house.workspace.mend_job(&job("a"));
    // One minute after the first try, then two: the third try.
    house.live_until("2026-12-01T17:10");
    assert_eq!(house.runs(), ["a scheduled: succeeded"]);
    let run = first(&house);
    let note = "delivered on try 3, at 2026-12-01 17:03:01Z";
    assert_eq!(run.note.as_deref(), Some(note));
    assert_eq!(run.output, Some("out/a.md".into()));
    assert_eq!(house.store.answer(run.id), None, "it is in its file");
    assert_eq!(house.sends(), ["a@17:00:00"]);
    house.audit();
}

#[test]
fn an_answer_survives_restarts_until_it_is_delivered() {
    let house = broken();
    for minute in ["17:01", "17:04", "17:20"] {
        house.live_until(&format!("2026-12-01T{minute}"));
    }
    house.workspace.mend_job(&job("a"));
    house.live_until("2026-12-01T18:30");
    assert_eq!(first(&house).outcome, Some(Outcome::Succeeded));
    let of_a = house
        .sends()
        .iter()
        .filter(|it| it.starts_with('a'))
        .count();
    assert_eq!(of_a, 1);
    house.audit();
}

#[test]
fn an_answer_that_stays_undelivered_for_a_day_is_left_in_the_store() {
    let house = broken();
    house.live_until("2026-12-03T12:00");
    let run = first(&house);
    assert_eq!(run.outcome.unwrap().to_string(), "failed: output");
    let note = run.note.unwrap();
    assert!(note.starts_with("disk full; after 29 tries"), "{note}");
    assert_eq!(
        house.store.answer(run.id).as_deref(),
        Some("a complete answer")
    );
}

#[test]
fn the_answer_of_a_job_that_is_gone_is_left_in_the_store() {
    let house = broken();
    house.live_until("2026-12-01T17:01");
    house
        .plans
        .send_replace(rotation().without_job("a").build());
    house.live_until("2026-12-01T17:10");
    let note = first(&house).note.unwrap();
    assert!(note.starts_with("its job is gone; after 2 tries"), "{note}");
}

#[test]
fn work_whose_answer_is_on_its_way_is_not_asked_for_again() {
    let house = broken();
    house.live_until("2026-12-01T17:01");
    let refused = super::pausing::retry(&house, None).unwrap_err();
    assert!(matches!(refused, NotAgain::Owed(_)), "{refused:?}");
    house.workspace.mend_job(&job("a"));
    house.live_for(Duration::from_hours(2));
    let of_a = house.workspace.delivered().into_iter();
    let of_a = of_a.filter(|(slot, _)| slot.job == job("a"));
    assert_eq!(of_a.count(), 1);
    assert_eq!(first(&house).outcome, Some(Outcome::Succeeded));
    house.audit();
}

#[test]
fn nothing_is_delivered_again_after_the_stop_signal() {
    let house = broken();
    house.live_until("2026-12-01T17:00");
    let script = async {
        house.clock.sleep(seconds(30)).await;
        house.stop.send_replace(offpeak::engine::Stop::Drain);
    };
    let drained = house.live_beside(Duration::from_mins(5), script);
    assert!(drained.is_some());
    assert!(house.workspace.delivered().is_empty());
}

#[test]
fn a_clock_that_was_set_back_keeps_no_answer_back() {
    let house = broken();
    house.live_until("2026-12-01T17:01");
    house.workspace.mend_job(&job("a"));
    house.clock.step(-chrono::TimeDelta::hours(12));
    house.live_for(Duration::from_mins(2));
    assert_eq!(first(&house).outcome, Some(Outcome::Succeeded));
    assert_eq!(house.sends(), ["a@17:00:00"]);
}
