use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::engine::ports::{Deferral, NewDeferral};
use crate::job::{GroupId, JobId};
use crate::outcome::{DeferredTo, SkipReason, YieldReason};
use crate::schedule::DeferRule;
use crate::sim::SimPlan;
use crate::sim::trial::{Days, Workload};

fn at(hour: i64) -> DateTime<Utc> {
    // The slot of the first day: two in the morning in Japan.
    "2026-11-30T17:00:00Z".parse::<DateTime<Utc>>().unwrap() + TimeDelta::hours(hour)
}

/// One job that is due once a day at two, for two days.
fn course() -> Course {
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = plan.job("digest", "main", &["0 2 * * *"]).unwrap().build();
    let workload = Workload {
        jobs: [].into(),
        prices: Arc::new(|_, _, _| None),
        first_byte_timeout: Duration::from_mins(5),
    };
    let days = Days {
        from: at(-2),
        count: 2,
    };
    Course::new(&plan, workload, days)
}

fn run(id: i64, of: i64, (origin, outcome, done): (Origin, Outcome, DateTime<Utc>)) -> Run {
    Run {
        id: RunId(id),
        job: JobId::new("digest"),
        fire_at: at(of),
        origin,
        group: GroupId::new("main"),
        model: "claude-sim".to_owned(),
        started_at: at(of),
        finished_at: Some(done),
        outcome: Some(outcome),
        note: None,
        attempts: Vec::new(),
        stop_reason: None,
        usage: None,
        cost_usd: None,
        output: None,
        deferred: None,
    }
}

fn put_off(id: i64, of: i64) -> Run {
    let outcome = Outcome::Yielded(YieldReason::Breaker);
    Run {
        deferred: Some(DeferredTo {
            not_before: at(of),
            to: None,
            carries: 1,
        }),
        ..run(id, of, (Origin::Scheduled, outcome, at(of)))
    }
}

fn works(runs: &[Run], deferrals: &[DeferralRecord]) -> Vec<(Option<u64>, Carried)> {
    let runs: Vec<&Run> = runs.iter().collect();
    let rows = Rows {
        runs: &runs,
        deferrals,
        openings: Vec::new(),
    };
    let works = record(&course(), rows).works.into_iter();
    works
        .map(|work| (work.done_ms.map(|done| done - work.due_ms), work.carried))
        .collect()
}

const HOUR: u64 = 3_600_000;

#[test]
fn work_is_done_where_its_last_run_brought_it() {
    let done = |origin, at| run(9, 0, (origin, Outcome::Succeeded, at));
    let own = works(&[done(Origin::Scheduled, at(1))], &[]);
    assert_eq!(own[0], (Some(HOUR), Carried::InSlot));
    // A slot that nothing is known of was not reached.
    assert_eq!(own[1], (None, Carried::Waiting));
    for (late, carried) in [
        (at(12) - TimeDelta::milliseconds(1), Carried::Next),
        (at(12), Carried::NextDay),
    ] {
        let runs = [put_off(1, 0), done(Origin::Deferred, late)];
        assert_eq!(works(&runs, &[])[0].1, carried);
    }
    assert_eq!(works(&[put_off(1, 0)], &[])[0], (None, Carried::Waiting));
}

#[test]
fn slot_that_was_skipped_as_overlap_did_not_do_its_work() {
    let skipped = Outcome::Skipped(SkipReason::Overlap);
    let runs = [run(1, 0, (Origin::Scheduled, skipped, at(0)))];
    assert_eq!(works(&runs, &[])[0], (None, Carried::Lost));
}

fn merged(of: i64, by: i64) -> DeferralRecord {
    DeferralRecord {
        deferral: Deferral {
            id: of + 1,
            slot: Slot {
                fire_at: at(of),
                job: JobId::new("digest"),
            },
            group: GroupId::new("main"),
            wait: NewDeferral {
                origin: Origin::Deferred,
                reason: YieldReason::Breaker,
                not_before: at(of),
                rule: DeferRule::NextSlot,
                carries: 1,
                to: None,
            },
        },
        state: DeferralState::Merged,
        run: Some(RunId(by)),
        ended_at: Some(at(of)),
    }
}

/// The second slot takes over the first one's work, and a third, after the days that count, that of both.
#[test]
fn work_that_was_taken_over_is_done_with_the_slot_that_took_it_through_every_merge() {
    let third = |outcome| Run {
        cost_usd: Some(Dollars::from_nanos(7)),
        ..run(3, 48, (Origin::Scheduled, outcome, at(49)))
    };
    let runs = [put_off(1, 0), put_off(2, 24), third(Outcome::Succeeded)];
    let rows = [merged(0, 2), merged(24, 3)];
    assert_eq!(
        works(&runs, &rows),
        [
            (Some(49 * HOUR), Carried::NextDay),
            (Some(25 * HOUR), Carried::NextDay)
        ]
    );
    let all: Vec<&Run> = runs.iter().collect();
    let rows = Rows {
        runs: &all,
        deferrals: &rows,
        openings: Vec::new(),
    };
    let log = record(&course(), rows);
    assert_eq!(
        log.dollars,
        Dollars::from_nanos(7),
        "who did it was paid for it"
    );
    assert_eq!(log.yields[&YieldReason::Breaker], 2);
}
