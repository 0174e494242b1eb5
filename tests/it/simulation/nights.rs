//! Single nights: how one slot ends.

use std::time::Duration;

use offpeak::answer::{FailureKind, StopReason};
use offpeak::engine::Notice;
use offpeak::engine::ports::{Clock, Fate};
use offpeak::job::{Check, JobState};
use offpeak::money::Dollars;
use offpeak::outcome::SkipReason;
use offpeak::sim::{Fault, Scripted, SimPlan, SimUpstream};

use super::harness::{House, at, job, rotation, seconds, single};

/// One night of a single job against a list of replies.
fn night(plan: SimPlan, list: Vec<Scripted>) -> House {
    let house = House::new("2026-12-01T16:50", plan.build(), |clock| {
        SimUpstream::scripted(clock, list)
    });
    house.live_until("2026-12-01T21:00");
    house
}

#[test]
fn every_slot_of_a_healthy_night_fires_on_time() {
    let mut house = House::new("2026-12-01T16:50", rotation().build(), SimUpstream::healthy);
    house.live_until("2026-12-01T23:00");
    assert_eq!(
        house.sends(),
        ["a@17:00:00", "b@17:45:00", "c@19:00:00", "d@19:45:00"]
    );
    for notice in house.told() {
        if let Notice::Started { late, .. } = notice {
            assert_eq!(late, Duration::ZERO);
        }
    }
    house.check(at("2026-12-01T16:50"), at("2026-12-01T23:00"));
    house.check_deliveries();
}

#[test]
fn notices_tell_the_path_of_a_slot_in_order() {
    let mut house = night(
        single(),
        vec![Scripted::status(529, "overloaded_error", None)],
    );
    let words: Vec<&str> = house
        .told()
        .iter()
        .map(|notice| match notice {
            Notice::Planned { .. } => "planned",
            Notice::Started { .. } => "started",
            Notice::Attempted { .. } => "attempted",
            Notice::Ended { .. } => "ended",
            _ => "other",
        })
        .collect();
    assert_eq!(
        words,
        ["planned", "started", "attempted", "attempted", "ended"]
    );
}

#[test]
fn a_retry_waits_as_long_as_the_server_asks() {
    let hinted = Scripted::status(429, "rate_limit_error", Some(seconds(20)));
    let house = night(single(), vec![hinted]);
    // Half a draw lengthens a hint by half of half the ratio: 20 s · (1 + 0.25 · 0.5), and the attempt took 80 ms.
    assert_eq!(house.sends(), ["a@17:00:00", "a@17:00:22"]);
    let run = house.store.runs().pop().unwrap();
    assert_eq!(run.attempts[1].wait, Duration::from_millis(22_500));
}

#[test]
fn what_the_history_keeps_of_an_attempt() {
    let house = night(
        single(),
        vec![Scripted::broken(seconds(3), FailureKind::Cut)],
    );
    let run = house.store.runs().pop().unwrap();
    let first = run.attempts[0].end.as_ref().unwrap();
    assert_eq!(
        (first.latency, first.error_type.as_deref()),
        (seconds(3), Some("cut"))
    );
    let second = run.attempts[1].end.as_ref().unwrap();
    assert_eq!((second.status, second.latency), (Some(200), seconds(1)));
    assert!(run.cost_usd.unwrap() > Dollars::ZERO && run.usage.is_some());
}

#[test]
fn an_attempt_over_its_timeout_is_cut_and_tried_again() {
    let slow = Scripted::answer(Duration::from_mins(30), "too late");
    let house = night(single(), vec![slow]);
    assert_eq!(house.sends(), ["a@17:00:00", "a@17:10:01"]);
}

#[test]
fn no_retry_starts_in_a_peak_window() {
    // The window begins at 22:00 UTC; the third attempt would start in it.
    let plan = SimPlan::new("Asia/Tokyo")
        .unwrap()
        .job("a", "main", &["55 6 * * *"])
        .unwrap();
    let slow = || Scripted::answer(Duration::from_mins(4), "slow");
    let plan = plan.with_job("a", |planned| planned.job.timeout = Duration::from_mins(3));
    let house = House::new("2026-12-01T21:00", plan.build(), |clock| {
        SimUpstream::scripted(clock, [slow(), slow(), slow()])
    });
    house.live_until("2026-12-02T20:00");
    assert_eq!(house.sends(), ["a@21:55:00", "a@21:58:01"]);
    assert_eq!(house.runs(), ["a scheduled: yielded: peak"]);
    assert_eq!(house.pending()[0].wait.not_before, at("2026-12-02T00:00"));
}

#[test]
fn an_incomplete_answer_is_kept_beside_and_delivers_nothing() {
    let cut = Scripted::stopped(seconds(1), "half an ans", StopReason::MaxTokens);
    let house = night(single(), vec![cut]);
    assert_eq!(house.runs(), ["a scheduled: incomplete: truncated"]);
    assert_eq!(house.workspace.beside()[0].1, "half an ans");
    assert!(house.workspace.delivered().is_empty());
}

#[test]
fn an_empty_answer_leaves_no_file() {
    let house = night(single(), vec![Scripted::answer(seconds(1), " \n")]);
    assert_eq!(house.runs(), ["a scheduled: incomplete: empty"]);
    assert!(house.workspace.beside().is_empty());
}

#[test]
fn an_answer_that_fails_its_check_is_incomplete() {
    let check = Check {
        min_chars: Some(1000),
        ..Check::default()
    };
    let house = night(
        single().with_job("a", |planned| planned.job.check = check),
        vec![],
    );
    assert_eq!(house.runs(), ["a scheduled: incomplete: failed_check"]);
}

#[test]
fn an_answer_that_cannot_be_delivered_is_kept_in_the_store() {
    let house = House::new("2026-12-01T16:50", single().build(), SimUpstream::healthy);
    house
        .workspace
        .break_job(&job("a"), Fault::Output("disk full".to_owned()));
    house.live_until("2026-12-01T21:00");
    let run = house.store.runs().pop().unwrap();
    assert_eq!(house.runs(), ["a scheduled: failed: output"]);
    let note = "disk full; the answer is kept in the store: `offpeak history a --text` prints it; \
                a daemon delivers it again at 2026-12-01 17:01:01Z";
    assert_eq!(run.note.as_deref(), Some(note));
    assert_eq!(
        house.store.answer(run.id).as_deref(),
        Some("a complete answer")
    );
}

#[test]
fn empty_inputs_skip_and_unreadable_ones_fail_without_a_request() {
    let faults = [
        (Fault::Empty, "a scheduled: skipped: empty_input"),
        (
            Fault::Input("gone".to_owned()),
            "a scheduled: failed: input",
        ),
    ];
    for (fault, expected) in faults {
        let house = House::new("2026-12-01T16:50", single().build(), SimUpstream::healthy);
        house.workspace.break_job(&job("a"), fault);
        house.live_until("2026-12-01T21:00");
        assert_eq!(house.runs(), [expected]);
        assert!(house.sends().is_empty());
    }
}

#[test]
fn a_request_that_the_api_rejects_fails_after_one_attempt() {
    let house = night(
        single(),
        vec![Scripted::status(404, "not_found_error", None)],
    );
    let run = house.store.runs().pop().unwrap();
    assert_eq!(house.runs(), ["a scheduled: failed: fatal"]);
    assert_eq!(
        (run.attempts.len(), run.note.as_deref()),
        (1, Some("status 404 not_found_error: scripted 404"))
    );
}

#[test]
fn a_slot_whose_job_still_runs_is_skipped_as_overlap() {
    let plan = SimPlan::new("Asia/Tokyo")
        .unwrap()
        .job("a", "main", &["0,15,30 2 * * *"])
        .unwrap();
    let plan = plan.with_job("a", |planned| planned.job.timeout = Duration::from_mins(20));
    let house = night(
        plan,
        vec![Scripted::answer(Duration::from_mins(16), "long")],
    );
    assert_eq!(
        house.runs(),
        [
            "a scheduled: succeeded",
            "a scheduled: skipped: overlap",
            "a scheduled: succeeded"
        ]
    );
    assert_eq!(house.sends(), ["a@17:00:00", "a@17:30:00"]);
}

#[test]
fn a_slot_whose_job_is_just_being_carried_is_skipped_as_overlap() {
    let plan = SimPlan::new("Asia/Tokyo")
        .unwrap()
        .job("a", "main", &["0 2,3 * * *"])
        .unwrap();
    let plan = plan.job("b", "main", &["45 2 * * *"]).unwrap();
    let plan = plan.with_job("a", |planned| planned.job.timeout = Duration::from_mins(20));
    let failed = || Scripted::status(529, "overloaded_error", None);
    let list = vec![
        failed(),
        failed(),
        failed(),
        Scripted::answer(seconds(1), "b"),
        Scripted::answer(Duration::from_mins(18), "long"),
    ];
    let house = night(plan, list);
    assert_eq!(
        house.runs(),
        [
            "a scheduled: exhausted",
            "b scheduled: succeeded",
            "a deferred: succeeded",
            "a scheduled: skipped: overlap"
        ]
    );
}

#[test]
fn a_disabled_job_is_recorded_and_carries_nothing() {
    let plan = rotation().with_job("b", |planned| planned.job.state = JobState::Disabled);
    let failed = || Scripted::status(529, "overloaded_error", None);
    let mut house = night(plan, vec![failed(), failed(), failed()]);
    assert_eq!(
        house.store.runs()[0].deferred.as_ref().unwrap().to,
        Some(at("2026-12-01T19:00"))
    );
    assert_eq!(house.sends()[3..5], ["c@19:00:00", "a@19:00:01"]);
    let recorded = house.told().into_iter().find_map(|notice| match notice {
        Notice::Recorded { slot, fate } => Some((slot.job, fate)),
        _ => None,
    });
    let (skipped, fate) = recorded.unwrap();
    assert_eq!(skipped, job("b"));
    assert!(matches!(fate, Fate::Skip(SkipReason::Disabled)));
}

#[test]
fn an_outage_opens_the_breaker_and_a_probe_closes_it() {
    let crons: Vec<String> = (0..12).map(|job| format!("{job} 2 * * *")).collect();
    let plan = crons
        .iter()
        .enumerate()
        .fold(SimPlan::new("Asia/Tokyo").unwrap(), |plan, (n, cron)| {
            plan.job(&format!("j{n:02}"), "main", &[cron]).unwrap()
        });
    let plan = plan.pickup("main", &["0 3 * * *"]).unwrap();
    let down_until = at("2026-12-01T17:20");
    let house = House::new("2026-12-01T16:50", plan.build(), |clock| {
        SimUpstream::new(clock, move |now, _| {
            if now < down_until {
                Scripted::status(529, "overloaded_error", None)
            } else {
                Scripted::answer(seconds(1), "well again")
            }
        })
    });
    house.live_until("2026-12-01T18:30");
    let runs = house.runs();
    assert!(
        runs.iter().any(|run| run.ends_with("yielded: breaker")),
        "{runs:?}"
    );
    assert!(
        house
            .store
            .all_deferrals()
            .iter()
            .all(|row| row.state != offpeak::engine::keep::DeferralState::Pending)
    );
    let guard = house.store.guard(&offpeak::job::GroupId::new("main"));
    assert_eq!(guard.breaker.state, offpeak::guard::BreakerState::Closed);
    house.check(at("2026-12-01T16:50"), at("2026-12-01T18:30"));
}

/// A wake-up awaited the store and polled no run meanwhile: with a thousand slots of one minute, the requests of all
/// waited for each look at the deferrals.
#[test]
fn runs_go_on_while_a_wake_up_waits_for_the_store() {
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = plan.job("a", "main", &["0 2 * * *"]).unwrap();
    let plan = plan.job("b", "other", &["1 2 * * *"]).unwrap();
    let slow = Scripted::answer(seconds(90), "done");
    let house = House::new("2026-12-01T16:59", plan.build(), |clock| {
        SimUpstream::scripted(clock, [slow])
    });
    let script = async {
        house.until("2026-12-01T17:00").await;
        house.clock.sleep(seconds(30)).await;
        house.gate.hold_wake_ups();
    };
    house.live_beside(seconds(600), script);
    assert_eq!(house.sends(), ["a@17:00:00"], "the wake-up of b waits");
    assert_eq!(house.runs(), ["a scheduled: succeeded"]);
}
