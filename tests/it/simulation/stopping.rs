//! The stop signal, a failing store, and a plan that changes.

use std::time::Duration;

use offpeak::engine::Notice;
use offpeak::engine::ports::{Clock, Store};
use offpeak::engine::{Drained, Stop};
use offpeak::sim::{Fault, Scripted, SimUpstream};

use super::harness::{House, at, job, rotation, seconds, single};

/// A request of this length at 17:00:00, and the stop signals at these seconds.
fn stopped(latency: u64, signals: &[(u64, Stop)]) -> (House, Drained, Duration) {
    let house = House::new("2026-12-01T16:59", rotation().build(), |clock| {
        SimUpstream::scripted(clock, [Scripted::answer(seconds(latency), "an answer")])
    });
    let mut ended = Duration::ZERO;
    let script = async {
        house.until("2026-12-01T17:00").await;
        let mut passed = 0;
        for (second, level) in signals {
            house.clock.sleep(seconds(second - passed)).await;
            passed = *second;
            house.stop.send_replace(*level);
        }
    };
    let both = async {
        let daemon = async {
            let drained = house.daemon().await;
            ended = house.clock.elapsed().saturating_sub(seconds(60));
            drained
        };
        futures_util::future::join(daemon, script).await.0
    };
    let drained = offpeak::sim::run(&house.clock, both).unwrap();
    (house, drained, ended)
}

#[test]
fn a_drain_lets_a_request_end_within_the_grace() {
    let (house, drained, ended) = stopped(25, &[(10, Stop::Drain)]);
    assert_eq!(house.runs(), ["a scheduled: succeeded"]);
    assert_eq!(
        (drained.running, drained.unclosed, ended),
        (1, 0, seconds(25))
    );
}

#[test]
fn a_request_over_the_grace_is_cancelled_and_its_work_deferred() {
    let (house, _, ended) = stopped(60, &[(10, Stop::Drain)]);
    assert_eq!(house.runs(), ["a scheduled: yielded: shutdown"]);
    assert_eq!(ended, seconds(30));
    assert_eq!(house.pending()[0].wait.to, Some(at("2026-12-01T17:45")));
    let run = house.store.runs().pop().unwrap();
    assert_eq!(run.attempts[0].end.as_ref().unwrap().class, None);
    assert!(
        house
            .store
            .guard(&offpeak::job::GroupId::new("main"))
            .breaker
            .samples
            .is_empty()
    );
}

/// A store that could not be written cost the answer that had just come: only its record had failed.
#[test]
fn an_answer_that_comes_while_a_daemon_stops_without_a_store_is_delivered_and_nothing_more_is_sent()
{
    let mut house = House::new("2026-12-01T16:59", rotation().build(), |clock| {
        SimUpstream::scripted(clock, [Scripted::answer(seconds(20), "an answer")])
    });
    let script = async {
        house.until("2026-12-01T17:00").await;
        house.clock.sleep(seconds(10)).await;
        house.gate.close();
        house.stop.send_replace(Stop::Drain);
    };
    let drained = house.live_beside(Duration::from_hours(1), script);
    assert_eq!(drained.unwrap().unclosed, 1);
    let delivered = house.workspace.delivered();
    assert_eq!(delivered.len(), 1);
    assert_eq!(delivered[0].1, "an answer");
    assert_eq!(house.sends(), ["a@17:00:00"]);
    let told = house.told().into_iter().find_map(|notice| match notice {
        Notice::Unrecorded { finish, .. } => finish.note,
        _ => None,
    });
    let note = told.expect("the loss is said");
    let expected = "the attempt that brought the answer is not on record: store: the disk is full";
    assert!(note.contains(expected), "{note}");
}

#[test]
fn a_second_signal_cancels_at_once_and_loses_nothing() {
    let (house, drained, ended) = stopped(60, &[(10, Stop::Drain), (12, Stop::Now)]);
    assert_eq!(house.runs(), ["a scheduled: yielded: shutdown"]);
    assert_eq!((drained.unclosed, ended), (0, seconds(12)));
    assert_eq!(house.pending().len(), 1);
}

#[test]
fn a_wait_between_retries_ends_at_the_signal() {
    let house = House::new("2026-12-01T16:59", rotation().build(), |clock| {
        SimUpstream::scripted(
            clock,
            [Scripted::status(429, "rate_limit_error", Some(seconds(25)))],
        )
    });
    let script = async {
        house.until("2026-12-01T17:00").await;
        house.clock.sleep(seconds(5)).await;
        house.stop.send_replace(Stop::Drain);
    };
    let drained = house.live_beside(seconds(66), script);
    assert_eq!(
        drained,
        Some(Drained {
            running: 1,
            unclosed: 0
        })
    );
    assert_eq!(house.runs(), ["a scheduled: yielded: shutdown"]);
}

#[test]
fn a_drain_starts_no_slot_and_takes_no_deferral() {
    let (house, ..) = stopped(25, &[(10, Stop::Drain)]);
    assert_eq!(house.sends(), ["a@17:00:00"]);
    assert_eq!(
        house.live_until("2026-12-01T23:00"),
        Some(Drained {
            running: 0,
            unclosed: 0
        })
    );
    assert_eq!(house.sends(), ["a@17:00:00"]);
}

#[test]
fn an_input_that_hangs_is_given_up_after_the_grace() {
    let house = House::new("2026-12-01T16:59", rotation().build(), SimUpstream::healthy);
    house
        .workspace
        .break_job(&job("a"), Fault::SlowInput(Duration::from_hours(1)));
    let script = async {
        house.until("2026-12-01T17:00").await;
        house.stop.send_replace(Stop::Drain);
    };
    assert!(house.live_beside(seconds(81), script).is_some());
    assert_eq!(house.runs(), ["a scheduled: yielded: shutdown"]);
}

#[test]
fn an_answer_whose_delivery_hangs_is_kept_in_the_store() {
    let house = House::new("2026-12-01T16:59", rotation().build(), SimUpstream::healthy);
    house
        .workspace
        .break_job(&job("a"), Fault::SlowOutput(Duration::from_hours(1)));
    let script = async {
        house.until("2026-12-01T17:01").await;
        house.stop.send_replace(Stop::Drain);
    };
    assert!(house.live_beside(seconds(141), script).is_some());
    let run = house.store.runs().pop().unwrap();
    assert_eq!(house.runs(), ["a scheduled: failed: output"]);
    assert_eq!(
        house.store.answer(run.id).as_deref(),
        Some("a complete answer")
    );
}

/// A night in which the store fails between two instants.
fn failing_store(from: &str, until: &str) -> (House, Vec<Notice>) {
    let mut house = House::new("2026-12-01T16:50", rotation().build(), SimUpstream::healthy);
    let script = async {
        house.until(from).await;
        house.gate.close();
        house.until(until).await;
        house.gate.open();
    };
    house.live_beside(Duration::from_hours(5), script);
    let told = house.told();
    (house, told)
}

/// The steps that failed in an outage that was said once at its begin and once at its end.
#[track_caller]
fn failures_of_the_outage(told: &[Notice]) -> usize {
    let said: Vec<&Notice> = told
        .iter()
        .filter(|notice| {
            matches!(
                notice,
                Notice::StoreFailed { .. } | Notice::StoreWorks { .. }
            )
        })
        .collect();
    // It was a line every five seconds, all night.
    match said.as_slice() {
        [
            Notice::StoreFailed { .. },
            Notice::StoreWorks { failures, .. },
        ] => *failures,
        said => panic!("{said:?}"),
    }
}

#[test]
fn a_store_that_works_again_within_a_minute_costs_no_slot() {
    let (house, told) = failing_store("2026-12-01T16:59", "2026-12-01T17:00");
    assert!(failures_of_the_outage(&told) >= 2);
    assert_eq!(house.runs().len(), 4);
    house.check(at("2026-12-01T16:50"), at("2026-12-01T21:50"));
}

#[test]
fn while_the_store_fails_nothing_is_sent_and_the_slot_is_caught_up() {
    let (house, told) = failing_store("2026-12-01T16:55", "2026-12-01T17:10");
    let failures = failures_of_the_outage(&told);
    assert!(
        (100..=400).contains(&failures),
        "{failures} wake-ups in 15 minutes"
    );
    assert_eq!(house.sends()[..2], ["b@17:45:00", "a@17:45:01"]);
    assert_eq!(house.runs()[0], "a scheduled: yielded: missed");
    house.check(at("2026-12-01T16:50"), at("2026-12-01T21:50"));
}

#[test]
fn an_answer_waits_for_a_store_that_fails_in_the_middle() {
    let mut house = House::new("2026-12-01T16:50", rotation().build(), |clock| {
        SimUpstream::scripted(clock, [Scripted::answer(seconds(60), "worth keeping")])
    });
    let script = async {
        house.until("2026-12-01T17:00").await;
        house.clock.sleep(seconds(30)).await;
        house.gate.close();
        house.clock.sleep(seconds(300)).await;
        house.gate.open();
    };
    house.live_beside(Duration::from_hours(1), script);
    assert_eq!(
        house.runs(),
        ["a scheduled: succeeded", "b scheduled: succeeded"]
    );
    assert_eq!(house.sends(), ["a@17:00:00", "b@17:45:00"]);
    assert!(failures_of_the_outage(&house.told()) > 3);
}

#[test]
fn a_run_that_cannot_be_closed_is_tried_once_and_its_job_goes_on() {
    // Cause: a run that had ended in the store already was closed again and again for ever, and its job stayed busy.
    let mut house = House::new("2026-12-01T16:50", single().build(), |clock| {
        SimUpstream::scripted(clock, [Scripted::answer(seconds(60), "too late")])
    });
    let script = async {
        house.until("2026-12-01T17:00").await;
        house.clock.sleep(seconds(30)).await;
        let lost = house.store.recover(&[], house.clock.now()).await.unwrap();
        assert_eq!(lost.len(), 1);
    };
    house.live_beside(Duration::from_hours(25), script);
    assert_eq!(house.sends(), ["a@17:00:00", "a@17:00:00"]);
    assert_eq!(house.runs()[0], "a scheduled: yielded: interrupted");
    assert!(house.runs().contains(&"a scheduled: succeeded".to_owned()));
    assert_eq!(failures_of_the_outage(&house.told()), 1);
}

#[test]
fn a_new_plan_starts_after_its_arrival() {
    let house = House::new("2026-12-01T16:50", single().build(), SimUpstream::healthy);
    let script = async {
        house.until("2026-12-01T18:00").await;
        house.plans.send_replace(rotation().build());
    };
    house.live_beside(Duration::from_hours(6), script);
    // `b` at 17:45 belongs to the past of the new plan: it has missed nothing.
    assert_eq!(house.sends(), ["a@17:00:00", "c@19:00:00", "d@19:45:00"]);
}

#[test]
fn a_plan_that_arrives_with_a_slot_changes_nothing_of_that_slot() {
    let house = House::new("2026-12-01T16:50", rotation().build(), SimUpstream::healthy);
    let script = async {
        house.until("2026-12-01T17:00").await;
        house
            .plans
            .send_replace(rotation().without_job("a").build());
    };
    house.live_beside(Duration::from_hours(1), script);
    assert_eq!(house.sends(), ["a@17:00:00", "b@17:45:00"]);
}

#[test]
fn a_plan_that_cannot_be_adopted_is_tried_again_in_peace() {
    let mut house = House::new("2026-12-01T16:50", single().build(), SimUpstream::healthy);
    let script = async {
        house.until("2026-12-01T16:55").await;
        house.gate.close();
        house.plans.send_replace(rotation().build());
        house.until("2026-12-01T16:58").await;
        house.gate.open();
    };
    house.live_beside(Duration::from_hours(6), script);
    assert_eq!(
        house.sends(),
        ["a@17:00:00", "b@17:45:00", "c@19:00:00", "d@19:45:00"]
    );
    let failures = failures_of_the_outage(&house.told());
    assert!(
        (30..=50).contains(&failures),
        "{failures} wake-ups in three minutes"
    );
}

#[test]
fn the_daemons_future_may_move_between_threads() {
    let house = House::new("2026-12-01T16:50", single().build(), SimUpstream::healthy);
    let (plans, stop) = (house.plans.subscribe(), house.stop.subscribe());
    let serving = offpeak::engine::serve(house.world(), plans, stop, house.sender());
    let thread = std::thread::spawn(move || drop(serving));
    thread.join().unwrap();
}
