use std::sync::Arc;

use chrono::TimeDelta;

use super::*;
use crate::engine::pause::{Pause, PauseTarget};
use crate::engine::plan::Plan;
use crate::schedule::DeferRule;
use crate::sim::SimPlan;

fn at(text: &str) -> DateTime<Utc> {
    format!("2026-12-01T{text}Z").parse().unwrap()
}

/// `a` at 17:00 and 17:01, `b` at 17:45, a pickup slot at 20:30 (UTC).
fn plan() -> SimPlan {
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = plan.job("a", "main", &["0,1 2 * * *"]).unwrap();
    let plan = plan.job("b", "main", &["45 2 * * *"]).unwrap();
    plan.pickup("main", &["30 5 * * *"]).unwrap()
}

/// What a wake-up does with everything that is due since 16:00.
fn woken(plan: Arc<Plan>, now: DateTime<Utc>, busy: &[&str]) -> Wake {
    woken_beside(&Pauses::default(), plan, now, busy)
}

fn woken_beside(pauses: &Pauses, plan: Arc<Plan>, now: DateTime<Utc>, busy: &[&str]) -> Wake {
    let starts = ["job:a", "job:b", "pickup:main"].map(|name| (name.to_owned(), at("00:00:00")));
    let timeline = Timeline::new(plan, starts.to_vec(), now);
    let busy = busy.iter().map(JobId::new).collect();
    let due = timeline.agenda.due(at("16:00:00"), now);
    let scene = Scene {
        timeline: &timeline,
        now,
        busy: &busy,
        pauses,
        targets: Targets::new(&timeline, now),
    };
    wake(scene, &due)
}

fn fates(plan: Arc<Plan>, now: DateTime<Utc>, busy: &[&str]) -> Vec<String> {
    words(woken(plan, now, busy))
}

fn words(wake: Wake) -> Vec<String> {
    let claims = wake.claims.into_iter();
    let word = |fate: &Fate| match fate {
        Fate::Fire => "fire".to_owned(),
        Fate::Skip(reason) => reason.to_string(),
        Fate::CatchUp(_) => "catch_up".to_owned(),
    };
    claims
        .map(|claim| format!("{} {}", claim.slot.job, word(&claim.fate)))
        .collect()
}

#[test]
fn a_slot_in_time_fires() {
    assert_eq!(fates(plan().build(), at("17:00:00"), &[]), ["a fire"]);
}

#[test]
fn of_two_slots_of_one_job_within_the_grace_the_later_fires() {
    assert_eq!(
        fates(plan().build(), at("17:01:00"), &[]),
        ["a merged", "a fire"]
    );
}

#[test]
fn a_minute_of_lateness_is_in_time_and_a_millisecond_more_is_missed() {
    let late = |millis| {
        fates(
            plan().build(),
            at("17:46:00") + TimeDelta::milliseconds(millis),
            &[],
        )
    };
    assert_eq!(late(0), ["a missed", "a catch_up", "b fire"]);
    assert_eq!(late(1), ["a missed", "a catch_up", "b catch_up"]);
}

#[test]
fn a_busy_job_overlaps_but_is_caught_up_when_it_was_missed() {
    assert_eq!(
        fates(plan().build(), at("17:45:00"), &["a", "b"]),
        ["a missed", "a catch_up", "b overlap"]
    );
}

#[test]
fn a_disabled_job_is_skipped_in_time_and_late() {
    let plan = plan()
        .with_jobs(|planned| planned.job.state = JobState::Disabled)
        .build();
    assert_eq!(
        fates(Arc::clone(&plan), at("17:00:00"), &[]),
        ["a disabled"]
    );
    assert_eq!(
        fates(plan, at("18:00:00"), &[]),
        ["a disabled", "a disabled", "b disabled"]
    );
}

#[test]
fn a_pickup_slot_in_time_takes_deferrals_and_a_missed_one_does_nothing() {
    let pickups = |now| woken(plan().build(), now, &[]).pickups;
    let expected = Pickup {
        group: GroupId::new("main"),
        fire_at: at("20:30:00"),
    };
    assert_eq!(pickups(at("20:31:00")), [expected]);
    assert_eq!(pickups(at("20:31:01")), []);
}

#[test]
fn caught_up_work_waits_for_a_later_slot() {
    let claims = woken(plan().build(), at("17:30:00"), &[]).claims;
    let Fate::CatchUp(wait) = &claims[1].fate else {
        panic!("{claims:?}")
    };
    assert_eq!(
        (wait.not_before, wait.to, wait.carries),
        (at("17:30:00"), Some(at("17:45:00")), 0)
    );
}

#[test]
fn open_slots_promised_in_one_wake_up_keep_the_gap() {
    let plan = plan()
        .with_jobs(|planned| planned.defer.rule = DeferRule::OpenSlot)
        .build();
    let claims = woken(plan, at("18:30:00"), &[]).claims;
    let promised: Vec<_> = claims
        .iter()
        .filter_map(|claim| match &claim.fate {
            Fate::CatchUp(wait) => wait.to,
            Fate::Fire | Fate::Skip(_) => None,
        })
        .collect();
    assert_eq!(promised, [at("18:31:00"), at("18:46:00")]);
}

fn pause_of_a(since: &str, until: &str) -> Pauses {
    Pauses::new(vec![Pause {
        target: PauseTarget::Job(JobId::new("a")),
        since: at(since),
        until: Some(at(until)),
        reason: None,
        ended_at: None,
    }])
}

fn words_beside(pauses: &Pauses, now: &str) -> Vec<String> {
    words(woken_beside(pauses, plan().build(), at(now), &[]))
}

#[test]
fn a_slot_in_a_pause_is_paused_in_time_and_late() {
    let pauses = pause_of_a("17:00:00", "17:01:00");
    assert_eq!(words_beside(&pauses, "17:00:30"), ["a paused"]);
    assert_eq!(
        words_beside(&pauses, "18:00:00"),
        ["a paused", "a catch_up", "b catch_up"]
    );
}

#[test]
fn a_paused_slot_does_not_supersede_an_earlier_one() {
    let pauses = pause_of_a("17:00:30", "19:00:00");
    assert_eq!(
        words_beside(&pauses, "18:00:00"),
        ["a catch_up", "a paused", "b catch_up"]
    );
}
