//! Pauses, and work that a person takes up again or drops.

use std::sync::Arc;
use std::time::Duration;

use offpeak::engine::again::{Again, Dropping, NotAgain, NotDropped, Which, wait_again};
use offpeak::engine::pause::{Pause, PauseTarget};
use offpeak::engine::ports::Clock;
use offpeak::engine::{Asked, run_once};
use offpeak::job::{GroupId, JobState};
use offpeak::outcome::{FailReason, Outcome};
use offpeak::schedule::DeferRule;
use offpeak::sim::{self, Scripted, SimUpstream};
use offpeak::slot::Slot;

use super::harness::{House, at, job, rotation, seconds, single};

fn of_job(id: &str) -> PauseTarget {
    PauseTarget::Job(job(id))
}

fn of_group(id: &str) -> PauseTarget {
    PauseTarget::Group(GroupId::new(id))
}

fn pause(house: &House, target: PauseTarget, until: Option<&str>) {
    house.store.pause(Pause {
        target,
        since: house.clock.now(),
        until: until.map(at),
        reason: None,
        ended_at: None,
    });
}

fn lift(house: &House, target: &PauseTarget) {
    house
        .store
        .lift_pause(target, house.clock.now())
        .expect("a pause is on");
}

fn well(start: &str, plan: sim::SimPlan) -> House {
    House::new(start, plan.build(), |clock| {
        SimUpstream::scripted(clock, [])
    })
}

/// `a` yields at 17:00 UTC because of a hint of half an hour, and its work waits for `b` at 17:45.
fn yielded(plan: sim::SimPlan) -> House {
    let hint = Scripted::status(429, "rate_limit_error", Some(Duration::from_mins(30)));
    House::new("2026-12-01T16:50", plan.build(), |clock| {
        SimUpstream::scripted(clock, [hint])
    })
}

pub fn retry(house: &House, fire_at: Option<&str>) -> Result<Slot, NotAgain> {
    let plan = house.plans.borrow().clone();
    let now = house.clock.now();
    let planned = &plan.jobs["a"].job;
    let asked = Again {
        job: job("a"),
        fire_at: fire_at.map(at),
        group: planned.group.clone(),
        model: planned.template.model.clone(),
        wait: wait_again(Arc::clone(&plan), &job("a"), &house.pending(), now).unwrap(),
        now,
    };
    house.store.retry(asked)
}

fn drop_work(house: &House, which: Which) -> Result<Vec<Slot>, NotDropped> {
    house.store.drop_deferrals(&Dropping {
        job: job("a"),
        which,
        reason: Some("stale".to_owned()),
        now: house.clock.now(),
    })
}

#[test]
fn slots_of_a_paused_job_are_skipped_and_the_others_fire() {
    let house = well("2026-12-01T16:50", rotation());
    pause(&house, of_job("a"), None);
    house.live_until("2026-12-01T18:00");
    assert_eq!(
        house.runs(),
        ["a scheduled: skipped: paused", "b scheduled: succeeded"]
    );
    lift(&house, &of_job("a"));
    house.live_until("2026-12-02T17:30");
    assert_eq!(
        house.runs().last().unwrap(),
        "a scheduled: succeeded",
        "it fires again"
    );
    house.check(at("2026-12-01T16:50"), at("2026-12-02T17:30"));
}

#[test]
fn a_pause_that_comes_while_the_daemon_runs_needs_no_signal() {
    let house = well("2026-12-01T16:50", rotation());
    house.live_beside(Duration::from_hours(4), async {
        house.until("2026-12-01T17:30").await;
        pause(&house, of_group("main"), Some("2026-12-01T19:30"));
    });
    assert_eq!(house.sends(), ["a@17:00:00", "d@19:45:00"]);
    assert_eq!(
        house.runs()[1..3],
        [
            "b scheduled: skipped: paused",
            "c scheduled: skipped: paused"
        ]
    );
    house.check(at("2026-12-01T16:50"), at("2026-12-01T20:50"));
}

#[test]
fn a_pause_a_second_before_the_slot_is_heeded() {
    let house = well("2026-12-01T16:50", single());
    house.live_beside(Duration::from_hours(1), async {
        // The daemon sleeps until 17:00 by then; nothing wakes it in between.
        house.clock.sleep(seconds(599)).await;
        pause(&house, of_job("a"), None);
    });
    assert_eq!(house.runs(), ["a scheduled: skipped: paused"]);
    assert!(house.sends().is_empty());
}

#[test]
fn work_under_way_goes_on_through_a_pause() {
    let slow = Scripted::answer(seconds(120), "an answer");
    let house = House::new("2026-12-01T16:50", single().build(), |clock| {
        SimUpstream::scripted(clock, [slow])
    });
    house.live_beside(Duration::from_hours(1), async {
        house.until("2026-12-01T17:01").await;
        pause(&house, of_job("a"), None);
    });
    assert_eq!(house.runs(), ["a scheduled: succeeded"]);
    house.audit();
}

#[test]
fn slots_missed_in_a_pause_are_not_caught_up_even_after_its_end() {
    let house = well("2026-12-01T16:50", rotation());
    house.live_until("2026-12-01T16:55");
    pause(&house, of_group("main"), Some("2026-12-01T18:00"));
    // The daemon is away from before the pause until after it.
    house.pass(Duration::from_mins(150));
    house.live_until("2026-12-01T23:00");
    let runs = house.runs();
    assert_eq!(
        runs[..3],
        [
            "a scheduled: skipped: paused",
            "b scheduled: skipped: paused",
            "c scheduled: yielded: missed"
        ]
    );
    assert!(house.pending().is_empty());
    house.check(at("2026-12-01T16:50"), at("2026-12-01T23:00"));
}

#[test]
fn a_slot_missed_before_the_pause_is_caught_up_although_later_ones_are_paused() {
    let plan = single().job("b", "main", &["0 5 * * *"]).unwrap();
    let house = well("2026-12-01T16:50", plan);
    house.live_until("2026-12-01T16:55");
    house.pass(Duration::from_hours(6));
    pause(&house, of_job("a"), None);
    house.pass(Duration::from_hours(24));
    lift(&house, &of_job("a"));
    house.live_until("2026-12-03T16:30");
    let of_a: Vec<String> = house
        .runs()
        .into_iter()
        .filter(|run| run.starts_with("a "))
        .collect();
    assert_eq!(
        of_a,
        [
            "a scheduled: yielded: missed",
            "a scheduled: skipped: paused",
        ]
    );
    // The pause is over; the next slot of the group takes the work of the first day.
    house.live_until("2026-12-03T17:30");
    assert!(house.pending().is_empty());
    house.check(at("2026-12-01T16:50"), at("2026-12-03T17:30"));
}

#[test]
fn a_disabled_jobs_slots_are_disabled_in_a_pause_too() {
    let disabled = single().with_job("a", |planned| planned.job.state = JobState::Disabled);
    let house = well("2026-12-01T16:50", disabled);
    pause(&house, of_group("main"), None);
    house.live_until("2026-12-01T18:00");
    assert_eq!(house.runs(), ["a scheduled: skipped: disabled"]);
}

#[test]
fn deferred_work_of_a_paused_job_waits_and_then_goes() {
    let house = yielded(rotation());
    house.live_until("2026-12-01T17:10");
    pause(&house, of_job("a"), Some("2026-12-01T19:30"));
    house.live_until("2026-12-01T19:30");
    assert_eq!(house.pending().len(), 1, "neither b nor c has taken it");
    house.live_until("2026-12-01T23:00");
    assert_eq!(
        house.sends(),
        [
            "a@17:00:00",
            "b@17:45:00",
            "c@19:00:00",
            "d@19:45:00",
            "a@19:45:01"
        ]
    );
    house.check(at("2026-12-01T16:50"), at("2026-12-01T23:00"));
}

#[test]
fn deferred_work_of_a_paused_group_outlives_crash_and_pause() {
    for rule in [DeferRule::NextSlot, DeferRule::OwnSlot, DeferRule::OpenSlot] {
        let plan = rotation().pickup("main", &["30 3 * * *"]).unwrap();
        let house = yielded(plan.with_jobs(|planned| planned.defer.rule = rule));
        house.live_until("2026-12-01T17:10");
        pause(&house, of_group("main"), None);
        house.live_until("2026-12-01T20:00");
        house.live_until("2026-12-02T02:00");
        assert_eq!(house.sends(), ["a@17:00:00"], "{rule:?}");
        assert_eq!(house.pending().len(), 1, "{rule:?}");
        lift(&house, &of_group("main"));
        house.live_until("2026-12-02T23:00");
        assert!(house.pending().is_empty(), "{rule:?}");
        let delivered = house.workspace.delivered();
        assert!(
            delivered.iter().any(|(slot, _)| slot.job == job("a")),
            "{rule:?}"
        );
        house.check(at("2026-12-01T16:50"), at("2026-12-02T23:00"));
    }
}

#[test]
fn a_job_that_moved_waits_for_its_new_group_and_not_for_its_old_one() {
    for (paused, waits) in [("main", false), ("side", true)] {
        let house = yielded(rotation());
        house.live_until("2026-12-01T17:10");
        let moved = rotation().job("e", "side", &["30 3 * * *"]).unwrap();
        let moved = moved.with_job("a", |planned| planned.job.group = GroupId::new("side"));
        house.plans.send_replace(moved.build());
        pause(&house, of_group(paused), None);
        house.live_until("2026-12-01T19:00");
        assert_eq!(house.pending().len() == 1, waits, "{paused} is paused");
    }
}

#[test]
fn a_person_runs_a_paused_job_all_the_same() {
    let house = well("2026-12-01T10:00", single());
    pause(&house, of_job("a"), None);
    let asked = Asked {
        plan: house.plans.borrow().clone(),
        job: job("a"),
        fire_at: house.clock.now(),
    };
    let run = run_once(house.world(), asked, house.stop.subscribe(), house.sender());
    let finish = sim::run(&house.clock, run).unwrap().unwrap();
    assert_eq!(finish.outcome, Outcome::Succeeded);
}

#[test]
fn a_failed_slot_is_taken_up_again_in_the_groups_next_slot() {
    let no = Scripted::status(400, "invalid_request_error", None);
    let house = House::new("2026-12-01T16:50", rotation().build(), |clock| {
        SimUpstream::scripted(clock, [no])
    });
    house.live_until("2026-12-01T17:10");
    assert_eq!(house.runs(), ["a scheduled: failed: fatal"]);
    assert_eq!(retry(&house, None).unwrap().fire_at, at("2026-12-01T17:00"));
    house.audit();
    assert_eq!(house.pending()[0].wait.to, Some(at("2026-12-01T17:45")));
    assert!(matches!(retry(&house, None), Err(NotAgain::Pending(_))));
    house.live_until("2026-12-01T18:30");
    assert_eq!(
        house.runs()[1..],
        [
            "a manual: yielded: asked",
            "b scheduled: succeeded",
            "a deferred: succeeded"
        ]
    );
    assert!(matches!(
        retry(&house, None),
        Err(NotAgain::Succeeded(_, None))
    ));
    house.check(at("2026-12-01T16:50"), at("2026-12-01T18:30"));
}

#[test]
fn a_paused_slot_can_be_taken_up_after_the_pause() {
    let house = well("2026-12-01T16:50", rotation());
    pause(&house, of_job("a"), Some("2026-12-01T17:30"));
    house.live_until("2026-12-01T17:40");
    retry(&house, Some("2026-12-01T17:00")).unwrap();
    house.live_until("2026-12-01T18:30");
    assert_eq!(house.sends(), ["b@17:45:00", "a@17:45:01"]);
    house.check(at("2026-12-01T16:50"), at("2026-12-01T18:30"));
}

#[test]
fn dropped_work_fails_and_is_not_taken() {
    let house = yielded(rotation());
    house.live_until("2026-12-01T17:10");
    let dropped = drop_work(&house, Which::Newest).unwrap();
    assert_eq!(dropped[0].fire_at, at("2026-12-01T17:00"));
    house.audit();
    assert_eq!(drop_work(&house, Which::All), Err(NotDropped::Nothing));
    house.live_until("2026-12-01T18:30");
    assert_eq!(house.sends(), ["a@17:00:00", "b@17:45:00"]);
    let run = &house.store.runs()[1];
    assert_eq!(run.outcome, Some(Outcome::Failed(FailReason::Dropped)));
    assert_eq!(run.note.as_deref(), Some("dropped by a person: stale"));
    // What was dropped may be wanted after all.
    retry(&house, None).unwrap();
    house.check(at("2026-12-01T16:50"), at("2026-12-01T18:30"));
}

#[test]
fn work_under_way_is_neither_taken_up_nor_dropped() {
    let hint = Scripted::status(429, "rate_limit_error", Some(Duration::from_mins(30)));
    let slow = Scripted::answer(seconds(120), "an answer");
    let quick = Scripted::answer(seconds(1), "an answer");
    let house = House::new("2026-12-01T16:50", rotation().build(), |clock| {
        SimUpstream::scripted(clock, [hint, quick, slow])
    });
    house.live_beside(Duration::from_hours(2), async {
        house.until("2026-12-01T17:46").await;
        assert!(matches!(retry(&house, None), Err(NotAgain::UnderWay(_))));
        assert_eq!(drop_work(&house, Which::Newest), Err(NotDropped::UnderWay));
    });
    assert_eq!(house.runs().last().unwrap(), "a deferred: succeeded");
    house.audit();
}
