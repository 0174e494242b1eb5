//! A kill at every point of a night: each slot still ends in one outcome, and nothing is lost.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use offpeak::engine::Notice;
use offpeak::engine::ports::Clock;
use offpeak::outcome::{Outcome, YieldReason};
use offpeak::sim::{self, Scripted, SimUpstream};

use super::harness::{House, at, rotation, seconds};

/// A house whose first call is exhausted, so that a night has every kind of step.
fn house() -> House {
    let failed = || Scripted::status(529, "overloaded_error", None);
    let house = House::new("2026-12-01T16:59", rotation().build(), |clock| {
        SimUpstream::scripted(clock, [failed(), failed(), failed()])
    });
    house.gate.slow_down();
    house
}

/// Polls a future this many times and then drops it; `None` if it ended or the limit of time came before.
fn crash_after<F: Future>(house: &House, polls: usize, limit: Duration, future: F) -> Option<()> {
    let mut future = pin!(future);
    let mut left = polls;
    let crashing = std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(Some(()));
        }
        left -= 1;
        future.as_mut().poll(context).map(|_| None)
    });
    sim::run_until(&house.clock, limit, crashing).flatten()
}

#[test]
fn a_kill_at_every_point_of_a_night_loses_nothing() {
    let mut points = 0;
    loop {
        let house = house();
        let limit = Duration::from_hours(1);
        let crashed = crash_after(&house, points, limit, house.daemon()).is_some();
        house.gate.speed_up();
        house.live_until("2026-12-01T20:30");
        house.check(at("2026-12-01T16:59"), at("2026-12-01T20:30"));
        assert!(
            house.pending().is_empty(),
            "killed after {points} polls: {:?}",
            house.pending()
        );
        let answered = house.workspace.delivered();
        for id in ["a", "b", "c", "d"] {
            let is_answered = answered.iter().any(|(slot, _)| slot.job.as_str() == id);
            assert!(
                is_answered,
                "killed after {points} polls: {id} has no answer\n{:#?}",
                house.runs()
            );
        }
        if !crashed {
            break;
        }
        points += 1;
    }
    assert!(points > 100, "only {points} points to crash at");
}

#[test]
fn a_run_that_was_cut_off_is_deferred_and_never_sent_again_at_once() {
    let mut house = House::new("2026-12-01T16:59", rotation().build(), |clock| {
        SimUpstream::scripted(clock, [Scripted::answer(seconds(60), "an answer")])
    });
    house.live_for(seconds(90));
    house.told();
    house.live_for(seconds(60));
    assert_eq!(house.sends(), ["a@17:00:00"]);
    let recovered = house.told().into_iter().find_map(|notice| match notice {
        Notice::Recovered { run } => Some(run),
        _ => None,
    });
    let run = recovered.unwrap();
    assert_eq!(
        run.outcome,
        Some(Outcome::Yielded(YieldReason::Interrupted))
    );
    assert!(run.note.unwrap().contains("may have been billed"));
    house.live_until("2026-12-01T18:00");
    assert_eq!(house.sends()[1..], ["b@17:45:00", "a@17:45:01"]);
}

#[test]
fn a_daemon_that_crashes_in_every_slot_gives_the_work_up_in_the_end() {
    let plan = rotation()
        .with_jobs(|planned| planned.job.timeout = Duration::from_mins(10))
        .build();
    let house = House::new("2026-12-01T16:59", plan, |clock| {
        SimUpstream::new(clock, |_, request| {
            let is_poison = request.prompt.starts_with("a ");
            Scripted::answer(seconds(if is_poison { 300 } else { 1 }), "an answer")
        })
    });
    let crashes = [
        "2026-12-01T17:02",
        "2026-12-01T17:47",
        "2026-12-01T19:02",
        "2026-12-01T19:47",
    ];
    for crash in crashes {
        house.live_until(crash);
    }
    house.live_until("2026-12-02T16:30");
    assert_eq!(house.pending()[0].wait.carries, 4);
    house.plans.send_modify(|plan| {
        // Its own slot would take the work over, so that the job is moved away from it.
        let plan = std::sync::Arc::make_mut(plan);
        let other = plan.jobs["c"].timetable.clone();
        plan.jobs.get_mut("a").unwrap().timetable = other;
    });
    house.live_until("2026-12-02T18:00");
    assert!(
        house
            .runs()
            .contains(&"a deferred: failed: carried_too_often".to_owned()),
        "{:?}",
        house.runs()
    );
    assert!(house.clock.now() >= at("2026-12-02T18:00"));
}
