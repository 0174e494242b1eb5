//! Runs that a person asks for.

use std::time::Duration;

use offpeak::engine::ports::{Clock, Finish};
use offpeak::engine::{Asked, EngineError, run_once};
use offpeak::job::JobState;
use offpeak::outcome::{FailReason, Outcome, YieldReason};
use offpeak::sim::{self, Scripted, SimUpstream};
use offpeak::slot::Origin;

use super::harness::{House, at, job, rotation, seconds};

pub fn ask(house: &House, id: &str) -> Result<Finish, EngineError> {
    let asked = Asked {
        plan: house.plans.borrow().clone(),
        job: job(id),
        fire_at: house.clock.now(),
    };
    let run = run_once(house.world(), asked, house.stop.subscribe(), house.sender());
    sim::run(&house.clock, run).unwrap()
}

fn house(list: Vec<Scripted>) -> House {
    House::new("2026-12-01T10:00", rotation().build(), |clock| {
        SimUpstream::scripted(clock, list)
    })
}

#[test]
fn a_run_that_a_person_asks_for_goes_ahead_in_a_peak_window() {
    // 10:00 UTC is 19:00 in Tokyo.
    let house = house(vec![Scripted::status(529, "overloaded_error", None)]);
    let finish = ask(&house, "a").unwrap();
    assert_eq!(
        (finish.outcome, house.sends().len()),
        (Outcome::Succeeded, 2)
    );
    assert_eq!(house.store.runs()[0].origin, Origin::Manual);
}

#[test]
fn a_manual_run_leaves_the_schedule_as_it_is() {
    let house = house(vec![]);
    ask(&house, "a").unwrap();
    assert!(house.store.slots().is_empty());
    house.live_until("2026-12-01T23:00");
    assert_eq!(
        house.sends()[1..],
        ["a@17:00:00", "b@17:45:00", "c@19:00:00", "d@19:45:00"]
    );
}

#[test]
fn a_manual_run_that_yields_is_deferred_for_the_daemon() {
    let hinted = Scripted::status(429, "rate_limit_error", Some(Duration::from_mins(30)));
    let house = house(vec![hinted]);
    let finish = ask(&house, "b").unwrap();
    assert_eq!(finish.outcome, Outcome::Yielded(YieldReason::Hint));
    assert_eq!(finish.deferral.unwrap().to, Some(at("2026-12-01T17:00")));
    house.live_until("2026-12-01T17:30");
    assert_eq!(house.sends()[1..], ["a@17:00:00", "b@17:00:01"]);
}

#[test]
fn a_manual_run_of_a_disabled_job_that_yields_fails_at_once() {
    // It was deferred, and failed hours later in a slot that could not do its work.
    let hinted = Scripted::status(429, "rate_limit_error", Some(Duration::from_mins(30)));
    let disabled = rotation().with_job("b", |planned| planned.job.state = JobState::Disabled);
    let house = House::new("2026-12-01T10:00", disabled.build(), |clock| {
        SimUpstream::scripted(clock, [hinted])
    });
    let finish = ask(&house, "b").unwrap();
    assert_eq!(finish.outcome, Outcome::Failed(FailReason::JobGone));
    assert_eq!(finish.deferral, None);
    let note = finish.note.unwrap();
    assert!(
        note.contains("yielded: hint; its job is gone or disabled"),
        "{note}"
    );
    assert!(house.pending().is_empty());
}

#[test]
fn a_manual_run_takes_no_deferrals() {
    let hinted = Scripted::status(429, "rate_limit_error", Some(seconds(60)));
    let house = house(vec![hinted]);
    ask(&house, "b").unwrap();
    house.pass(seconds(120));
    ask(&house, "a").unwrap();
    assert_eq!(house.pending().len(), 1);
    assert_eq!(house.sends().len(), 2);
}

#[test]
fn an_unknown_job_is_an_error_and_writes_nothing() {
    let house = house(vec![]);
    let error = ask(&house, "nobody").unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no job `nobody` with a group in the plan"
    );
    assert!(house.runs().is_empty());
}

#[test]
fn a_store_that_fails_is_an_error_within_seconds() {
    let house = house(vec![]);
    house.gate.close();
    assert!(matches!(ask(&house, "a"), Err(EngineError::Store(_))));
    assert!(house.clock.elapsed() < seconds(10));
    assert!(house.sends().is_empty());
}

/// The answer was thrown away when its attempt could not be recorded, though it was there and paid for.
#[test]
fn a_store_that_fails_during_a_run_is_given_up_soon_and_the_answer_is_delivered() {
    let house = house(vec![Scripted::answer(seconds(60), "an answer")]);
    let script = async {
        house.clock.sleep(seconds(30)).await;
        house.gate.close();
    };
    let asked = Asked {
        plan: house.plans.borrow().clone(),
        job: job("a"),
        fire_at: house.clock.now(),
    };
    let run = run_once(house.world(), asked, house.stop.subscribe(), house.sender());
    let result = sim::run(&house.clock, futures_util::future::join(run, script))
        .unwrap()
        .0;
    let error = result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "run 1 could not be closed and counts as interrupted; its answer was delivered to out/a.md, and the store \
         does not know it"
    );
    let EngineError::Unrecorded(finish) = error else {
        panic!("{error}");
    };
    assert_eq!(finish.answer.unwrap().text, "an answer");
    let delivered = house.workspace.delivered();
    assert_eq!(delivered.len(), 1);
    assert_eq!(delivered[0].1, "an answer");
    assert!(house.clock.elapsed() < seconds(90));
    assert_eq!(house.sends().len(), 1);
    house.gate.open();
    house.pass(Duration::from_hours(2));
    house.live_for(seconds(1));
    assert_eq!(house.runs(), ["a manual: failed: interrupted"]);
}
