use std::sync::Arc;

use super::*;
use crate::engine::ports::NewDeferral;
use crate::outcome::YieldReason;
use crate::sim::SimPlan;
use crate::slot::{Origin, Slot};

fn at(text: &str) -> DateTime<Utc> {
    format!("2026-12-01T{text}Z").parse().unwrap()
}

/// `a` and `b` in `main`, `c` in `other`.
fn timeline() -> Timeline {
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = plan.job("a", "main", &["0 2 * * *"]).unwrap();
    let plan = plan.job("b", "main", &["45 2 * * *"]).unwrap();
    let plan = plan.job("c", "other", &["0 3 * * *"]).unwrap();
    Timeline::new(Arc::clone(&plan.build()), Vec::new(), at("00:00:00"))
}

fn deferral(id: i64, job: &str, group: &str, rule: DeferRule) -> Deferral {
    let wait = NewDeferral {
        not_before: at("17:00:00"),
        to: None,
        carries: 1,
        rule,
        reason: YieldReason::Budget,
        origin: Origin::Deferred,
    };
    let slot = Slot {
        fire_at: at("17:00:00"),
        job: JobId::new(job),
    };
    Deferral {
        id,
        slot,
        group: GroupId::new(group),
        wait,
    }
}

/// `group: rows left out` of each source.
fn found(place: &Place, pending: &[Deferral], tried: &[i64], busy: &[&str]) -> Vec<String> {
    let tried = tried.iter().copied().collect();
    let busy = busy.iter().map(JobId::new).collect();
    let sources = sources(&timeline(), place, pending, (&tried, &busy));
    sources
        .iter()
        .map(|source| format!("{}: {:?}", source.rows_of, source.skip))
        .collect()
}

fn main_slot() -> Place {
    Place {
        job: Some(JobId::new("b")),
        ..Place::pickup(GroupId::new("main"), at("17:45:00"))
    }
}

#[test]
fn a_group_without_work_has_no_source() {
    let pending = [deferral(1, "c", "other", DeferRule::NextSlot)];
    assert!(found(&main_slot(), &[], &[], &[]).is_empty());
    assert!(found(&main_slot(), &pending, &[], &[]).is_empty());
}

#[test]
fn what_was_tried_in_this_slot_and_what_is_busy_is_left_out() {
    let pending = [
        deferral(1, "a", "main", DeferRule::NextSlot),
        deferral(2, "b", "main", DeferRule::NextSlot),
        deferral(3, "b", "main", DeferRule::NextSlot),
    ];
    assert_eq!(found(&main_slot(), &pending, &[2], &[]), ["main: [2]"]);
    assert_eq!(found(&main_slot(), &pending, &[], &["a"]), ["main: [1]"]);
    assert!(found(&main_slot(), &pending, &[2, 3], &["a"]).is_empty());
}

#[test]
fn a_promised_slot_leaves_work_that_waits_for_the_schedule() {
    let pending = [
        deferral(1, "a", "main", DeferRule::NextSlot),
        deferral(2, "a", "main", DeferRule::OwnSlot),
        deferral(3, "b", "main", DeferRule::OpenSlot),
    ];
    let place = |ids: &[i64]| {
        let ids = ids.iter().copied().collect();
        Place::promise(GroupId::new("main"), at("18:00:00"), ids)
    };
    assert_eq!(found(&place(&[3]), &pending, &[], &[]), ["main: [1, 2]"]);
    assert!(found(&place(&[4]), &pending, &[], &[]).is_empty());
}

#[test]
fn rows_of_a_job_that_moved_follow_it() {
    let pending = [
        deferral(1, "a", "other", DeferRule::NextSlot),
        deferral(2, "c", "other", DeferRule::NextSlot),
        deferral(3, "b", "main", DeferRule::NextSlot),
    ];
    assert_eq!(
        found(&main_slot(), &pending, &[], &[]),
        ["other: [2]", "main: []"]
    );
    let place = Place::pickup(GroupId::new("other"), at("18:00:00"));
    assert_eq!(found(&place, &pending, &[], &[]), ["other: [1]"]);
}

#[test]
fn rows_of_a_job_that_is_gone_stay_with_their_group() {
    let pending = [deferral(1, "gone", "main", DeferRule::NextSlot)];
    assert_eq!(found(&main_slot(), &pending, &[], &[]), ["main: []"]);
}
