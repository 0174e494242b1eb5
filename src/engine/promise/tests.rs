use crate::engine::ports::NewDeferral;
use crate::job::JobId;
use crate::outcome::YieldReason;
use crate::sim::SimPlan;
use crate::slot::{Origin, Slot};

use super::*;

fn at(text: &str) -> DateTime<Utc> {
    format!("2026-12-01T{text}Z").parse().unwrap()
}

/// `a` at 17:00 and `b` at 17:45 in one group.
fn timeline(now: DateTime<Utc>) -> Timeline {
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = plan.job("a", "main", &["0 2 * * *"]).unwrap();
    let plan = plan.job("b", "main", &["45 2 * * *"]).unwrap();
    let starts = ["job:a", "job:b"].map(|name| (name.to_owned(), at("00:00:00")));
    Timeline::new(plan.build(), starts.to_vec(), now)
}

fn deferral(id: i64, to: Option<DateTime<Utc>>, carries: u32) -> Deferral {
    let wait = NewDeferral {
        not_before: at("17:00:00"),
        to,
        carries,
        rule: DeferRule::OpenSlot,
        reason: YieldReason::Budget,
        origin: Origin::Deferred,
    };
    let slot = Slot {
        fire_at: at("17:00:00"),
        job: JobId::new("a"),
    };
    Deferral {
        id,
        slot,
        group: GroupId::new("main"),
        wait,
    }
}

fn next(pending: &[Deferral], now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let mut promises = Promises::default();
    promises.refresh(pending, &timeline(now), now);
    promises.next()
}

#[test]
fn a_promise_that_holds_stays_as_written() {
    assert_eq!(
        next(&[deferral(1, Some(at("17:15:00")), 1)], at("17:01:00")),
        Some(at("17:15:00"))
    );
}

#[test]
fn a_promise_too_near_to_a_slot_moves_past_it() {
    assert_eq!(
        next(&[deferral(1, Some(at("17:40:00")), 1)], at("17:01:00")),
        Some(at("18:00:00"))
    );
}

#[test]
fn a_promise_is_due_within_its_grace_and_moves_when_it_was_missed() {
    let written = [deferral(1, Some(at("17:15:00")), 1)];
    assert_eq!(next(&written, at("17:16:00")), Some(at("17:15:00")));
    assert_eq!(next(&written, at("17:16:01")), Some(at("17:17:00")));
}

#[test]
fn work_without_a_promise_gets_one() {
    assert_eq!(
        next(&[deferral(1, None, 1)], at("17:01:00")),
        Some(at("17:15:00"))
    );
}

#[test]
fn one_instant_is_promised_once() {
    let both = [
        deferral(1, Some(at("17:15:00")), 1),
        deferral(2, Some(at("17:15:00")), 1),
    ];
    let (now, mut promises) = (at("17:01:00"), Promises::default());
    promises.refresh(&both, &timeline(now), now);
    let kept: Vec<_> = promises.kept.values().map(|promise| promise.at).collect();
    assert_eq!(kept, [at("17:15:00"), at("17:30:00")]);
}

#[test]
fn a_due_promise_is_used_once_and_a_later_one_follows() {
    let pending = [deferral(1, Some(at("17:15:00")), 1)];
    let (now, mut promises) = (at("17:15:00"), Promises::default());
    promises.refresh(&pending, &timeline(now), now);
    let due = promises.due(&pending, &timeline(now), now);
    assert_eq!(
        due,
        [Place::promise(
            GroupId::new("main"),
            at("17:15:00"),
            [1].into()
        )]
    );
    assert!(promises.due(&pending, &timeline(now), now).is_empty());
    assert_eq!(promises.next(), Some(at("17:30:00")));
}

#[test]
fn work_that_yields_again_has_a_promise_of_its_own() {
    let (now, mut promises) = (at("17:01:00"), Promises::default());
    promises.refresh(&[deferral(1, Some(at("17:15:00")), 1)], &timeline(now), now);
    promises.refresh(&[deferral(1, Some(at("18:00:00")), 2)], &timeline(now), now);
    assert_eq!(promises.next(), Some(at("18:00:00")));
}

#[test]
fn work_that_is_no_longer_pending_is_forgotten() {
    let (now, mut promises) = (at("17:01:00"), Promises::default());
    promises.refresh(&[deferral(1, Some(at("17:15:00")), 1)], &timeline(now), now);
    promises.refresh(&[], &timeline(now), now);
    assert_eq!(promises.next(), None);
}

#[test]
fn an_instant_that_is_past_is_no_time_away() {
    assert_eq!(
        span_until(at("17:00:00"), at("17:00:01")),
        std::time::Duration::ZERO
    );
    assert_eq!(
        span_until(at("17:00:01"), at("17:00:00")),
        std::time::Duration::from_secs(1)
    );
}
