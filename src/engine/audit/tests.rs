use std::collections::VecDeque;
use std::time::Duration;

use super::*;
use crate::engine::keep::DeferralState;
use crate::engine::ports::{Deferral, NewDeferral};
use crate::outcome::{Attempt, DeferredTo, YieldReason};
use crate::piece::CallName;
use crate::schedule::DeferRule;
use crate::slot::Origin;

/// An instant of the days of the tests: 02:00 in Tokyo is 17:00 in UTC.
fn at(text: &str) -> DateTime<Utc> {
    format!("2026-12-{text}:00Z").parse().unwrap()
}

fn slot(day: &str) -> Slot {
    Slot {
        fire_at: at(&format!("{day}T17:00")),
        job: JobId::new("a"),
    }
}

fn run(id: i64, of: &Slot, origin: Origin, outcome: Option<Outcome>) -> Run {
    let started_at = of.fire_at + chrono::TimeDelta::minutes(id);
    Run {
        id: RunId(id),
        job: of.job.clone(),
        fire_at: of.fire_at,
        origin,
        group: GroupId::new("main"),
        model: "m".to_owned(),
        started_at,
        finished_at: outcome
            .as_ref()
            .map(|_| started_at + chrono::TimeDelta::seconds(50)),
        outcome,
        note: None,
        attempts: vec![Attempt {
            call: CallName::only(),
            n: 1,
            started_at,
            wait: Duration::ZERO,
            end: None,
        }],
        stop_reason: None,
        usage: None,
        cost_usd: None,
        output: None,
        deferred: None,
    }
}

fn leaving(run: Run) -> Run {
    let deferred = Some(DeferredTo {
        not_before: at("02T18:00"),
        to: None,
        carries: 1,
    });
    Run { deferred, ..run }
}

fn record(of: &Slot, state: DeferralState) -> DeferralRecord {
    DeferralRecord {
        deferral: Deferral {
            id: 1,
            slot: of.clone(),
            group: GroupId::new("main"),
            wait: NewDeferral {
                not_before: at("02T18:00"),
                to: None,
                carries: 1,
                rule: DeferRule::NextSlot,
                reason: YieldReason::Breaker,
                origin: Origin::Deferred,
            },
        },
        state,
        run: None,
        ended_at: None,
    }
}

/// Two days of one job: an answer, and a yield whose work waits.
fn sound() -> Ledger {
    let (first, second) = (slot("01"), slot("02"));
    let (done, yielded) = (Outcome::Succeeded, Outcome::Yielded(YieldReason::Breaker));
    let mut guard = Guard::default();
    guard.budget.sent = VecDeque::from([at("02T17:02")]);
    Ledger {
        watermark: Some(at("02T20:00")),
        schedules: vec![
            ScheduleRow {
                name: "job:a".to_owned(),
                fingerprint: "Asia/Tokyo\n0 2 * * *".to_owned(),
                starts_at: at("01T00:00"),
            },
            ScheduleRow {
                name: "pickup:main".to_owned(),
                fingerprint: "Asia/Tokyo\n30 5 * * *".to_owned(),
                starts_at: at("01T00:00"),
            },
        ],
        slots: vec![
            (first.clone(), Some(done.clone())),
            (second.clone(), Some(yielded.clone())),
        ],
        runs: vec![
            run(1, &first, Origin::Scheduled, Some(done)),
            leaving(run(2, &second, Origin::Scheduled, Some(yielded))),
        ],
        deferrals: vec![record(&second, DeferralState::Pending)],
        guards: vec![(GroupId::new("main"), guard)],
    }
}

fn found(ledger: &Ledger, under_way: UnderWay) -> Vec<Violation> {
    let zones = Zones::bundled();
    let scope = Scope {
        zones: &zones,
        kept_from: at("01T00:00"),
        under_way,
    };
    audit(ledger, scope)
}

/// What is wrong with the sound ledger once it is changed.
fn broken(change: impl FnOnce(&mut Ledger)) -> Vec<Violation> {
    let mut ledger = sound();
    change(&mut ledger);
    found(&ledger, UnderWay::None)
}

#[test]
fn sound_ledger_has_no_violation() {
    assert_eq!(broken(|_| {}), []);
    assert_eq!(found(&Ledger::default(), UnderWay::None), []);
}

#[test]
fn fire_time_that_nobody_claimed_is_found() {
    let missing = broken(|ledger| {
        ledger.slots.remove(0);
        ledger.runs.remove(0);
    });
    assert_eq!(missing, [Violation::Unclaimed(slot("01"))]);
    // It was due before the schedule began, or lies behind what is kept.
    let early = broken(|ledger| {
        ledger.slots.remove(0);
        ledger.runs.remove(0);
        ledger.schedules[0].starts_at = at("01T17:00");
    });
    assert_eq!(early, []);
}

#[test]
fn fire_time_after_the_watermark_is_not_missed() {
    let later = broken(|ledger| ledger.watermark = Some(at("03T16:59")));
    assert_eq!(later, []);
    let due = broken(|ledger| ledger.watermark = Some(at("03T17:00")));
    assert_eq!(due, [Violation::Unclaimed(slot("03"))]);
}

#[test]
fn schedule_that_cannot_be_read_is_told() {
    for text in ["Nowhere/Here\n0 2 * * *", "Asia/Tokyo\n0 2 * *", ""] {
        let found = broken(|ledger| text.clone_into(&mut ledger.schedules[0].fingerprint));
        assert_eq!(found, [Violation::Unreadable("job:a".to_owned())]);
    }
}

#[test]
fn slot_and_its_run_must_say_the_same() {
    let unclosed = broken(|ledger| {
        ledger.slots[0].1 = None;
        ledger.runs.remove(0);
    });
    assert_eq!(unclosed, [Violation::Unclosed(slot("01"))]);
    let unmatched = broken(|ledger| drop(ledger.runs.remove(0)));
    assert_eq!(unmatched, [Violation::Unmatched(slot("01"))]);
    let contradiction = broken(|ledger| ledger.slots[0].1 = Some(Outcome::Exhausted));
    assert_eq!(contradiction, [Violation::Contradiction(slot("01"))]);
    let twice = broken(|ledger| {
        let again = run(0, &slot("01"), Origin::Scheduled, Some(Outcome::Succeeded));
        ledger.runs.insert(0, again);
    });
    assert_eq!(twice, [Violation::FiredTwice(slot("01"))]);
    let unclaimed = broken(|ledger| {
        let stray = run(0, &slot("05"), Origin::Scheduled, Some(Outcome::Succeeded));
        ledger.runs.insert(0, stray);
    });
    assert_eq!(unclaimed, [Violation::Unmatched(slot("05"))]);
}

#[test]
fn run_under_way_is_a_violation_only_where_nobody_is_at_work() {
    let mut ledger = sound();
    ledger.slots[0].1 = None;
    ledger.runs[0].outcome = None;
    ledger.runs[0].finished_at = None;
    assert_eq!(found(&ledger, UnderWay::Allowed), []);
    assert_eq!(
        found(&ledger, UnderWay::None),
        [Violation::Unended(RunId(1), JobId::new("a"))]
    );
}

#[test]
fn attempt_after_the_end_or_out_of_number_is_found() {
    let late = broken(|ledger| {
        let end = ledger.runs[0].finished_at.unwrap();
        ledger.runs[0].attempts[0].started_at = end + chrono::TimeDelta::milliseconds(1);
    });
    assert_eq!(late, [Violation::SentLate(RunId(1), JobId::new("a"))]);
    let misnumbered = broken(|ledger| ledger.runs[0].attempts[0].n = 2);
    assert_eq!(
        misnumbered,
        [Violation::Misnumbered(RunId(1), JobId::new("a"))]
    );
}

#[test]
fn clock_that_was_set_back_during_a_run_makes_no_late_request() {
    let back = broken(|ledger| {
        ledger.runs[0].finished_at = Some(ledger.runs[0].started_at - chrono::TimeDelta::hours(1));
    });
    assert_eq!(back, []);
}

#[test]
fn clock_set_back_by_seconds_during_an_attempt_makes_no_late_request() {
    let back = broken(|ledger| {
        let run = &mut ledger.runs[0];
        let end = run.finished_at.unwrap();
        run.attempts[0].started_at = end + chrono::TimeDelta::seconds(2);
        run.attempts[0].wait = Duration::from_mins(1);
    });
    assert_eq!(back, []);
}

#[test]
fn guard_that_a_clock_set_back_has_moved_is_no_violation() {
    let moved = broken(|ledger| {
        ledger.guards[0].1.budget.sent = VecDeque::from([at("02T12:00")]);
        ledger.runs[1].finished_at = Some(at("02T12:00"));
    });
    assert_eq!(moved, []);
}

#[test]
fn fire_times_go_by_the_offsets_on_record_and_only_since_they_are() {
    let mut ledger = sound();
    let zone = |offsets: &str, since: &str| ScheduleRow {
        name: "zone:Asia/Tokyo".to_owned(),
        fingerprint: offsets.to_owned(),
        starts_at: at(since),
    };
    ledger.schedules.push(zone("28800", "01T00:00"));
    let unclaimed = found(&ledger, UnderWay::None);
    assert!(
        matches!(unclaimed.first(), Some(Violation::Unclaimed(_))),
        "{unclaimed:?}"
    );
    ledger.schedules.pop();
    ledger.schedules.push(zone("28800", "02T18:30"));
    assert_eq!(found(&ledger, UnderWay::None), []);
}

#[test]
fn work_waits_exactly_if_the_last_run_left_it() {
    let lost = broken(|ledger| ledger.deferrals.clear());
    assert_eq!(lost, [Violation::Lost(slot("02"))]);
    let ended = broken(|ledger| {
        ledger.deferrals[0].state = DeferralState::Done;
        ledger.deferrals[0].ended_at = Some(at("02T19:00"));
    });
    assert_eq!(ended, [Violation::Lost(slot("02"))]);
    let ghost = broken(|ledger| ledger.runs[1].deferred = None);
    assert_eq!(ghost, [Violation::Ghost(slot("02"))]);
    let twice = broken(|ledger| {
        ledger
            .deferrals
            .push(record(&slot("02"), DeferralState::Pending));
    });
    assert_eq!(twice, [Violation::Ghost(slot("02"))]);
    let stray = broken(|ledger| {
        ledger
            .deferrals
            .push(record(&slot("05"), DeferralState::Pending));
    });
    assert_eq!(stray, [Violation::Ghost(slot("05"))]);
}

#[test]
fn carried_work_is_open_while_its_run_goes_on() {
    let mut ledger = sound();
    let mut carrying = run(3, &slot("02"), Origin::Deferred, None);
    carrying.attempts.clear();
    ledger.runs.push(carrying);
    ledger.deferrals[0].state = DeferralState::Running;
    ledger.deferrals[0].run = Some(RunId(3));
    assert_eq!(found(&ledger, UnderWay::Allowed), []);
    ledger.deferrals[0].run = Some(RunId(2));
    assert_eq!(
        found(&ledger, UnderWay::Allowed),
        [Violation::Adrift(slot("02"))]
    );
}

#[test]
fn deferral_that_contradicts_itself_is_adrift() {
    let adrift = [Violation::Adrift(slot("02"))];
    assert_eq!(
        broken(|ledger| ledger.deferrals[0].ended_at = Some(at("02T19:00"))),
        adrift
    );
    assert_eq!(
        broken(|ledger| ledger.deferrals[0].run = Some(RunId(2))),
        adrift
    );
    let ended = broken(|ledger| {
        ledger.runs[1].deferred = None;
        ledger.deferrals[0].state = DeferralState::Failed;
    });
    assert_eq!(ended, adrift);
}

#[test]
fn guard_that_does_not_fit_the_attempts_is_found() {
    let main = || GroupId::new("main");
    let unspent = broken(|ledger| {
        ledger.guards[0].1.budget.sent = VecDeque::from([at("02T17:01")]);
    });
    assert_eq!(unspent, [Violation::Unspent(main())]);
    let invented = broken(|ledger| {
        ledger.guards[0].1.budget.sent = VecDeque::from([at("02T17:02"); 3]);
    });
    assert_eq!(invented, [Violation::Unspent(main())]);
    let overcounted = broken(|ledger| {
        let sample = crate::guard::SampledAt {
            at: at("02T17:02"),
            sample: crate::guard::Sample::Failure,
        };
        ledger.guards[0].1.breaker.samples = VecDeque::from([sample; 3]);
    });
    assert_eq!(overcounted, [Violation::Overcounted(main())]);
    let tidied = broken(|ledger| ledger.guards[0].1.budget.sent.clear());
    assert_eq!(tidied, []);
}

#[test]
fn pruned_rows_are_not_missed() {
    let mut ledger = sound();
    ledger.runs.remove(0);
    let zones = Zones::bundled();
    let scope = Scope {
        zones: &zones,
        kept_from: at("02T00:00"),
        under_way: UnderWay::None,
    };
    assert_eq!(audit(&ledger, scope), []);
    ledger.slots.remove(0);
    assert_eq!(audit(&ledger, scope), []);
}

#[test]
fn each_violation_names_what_it_is_about() {
    let (id, job, group) = (RunId(7), JobId::new("a"), GroupId::new("main"));
    let of_run: [fn(RunId, JobId) -> Violation; 3] = [
        Violation::Unended,
        Violation::Misnumbered,
        Violation::SentLate,
    ];
    for violation in of_run {
        assert!(
            violation(id, job.clone())
                .to_string()
                .contains("run 7 of `a`")
        );
    }
    let of_slot: [fn(Slot) -> Violation; 8] = [
        Violation::Unclaimed,
        Violation::Unclosed,
        Violation::FiredTwice,
        Violation::Contradiction,
        Violation::Unmatched,
        Violation::Lost,
        Violation::Ghost,
        Violation::Adrift,
    ];
    for violation in of_slot {
        let text = violation(slot("01")).to_string();
        assert!(
            text.contains("the slot of `a` at 2026-12-01 17:00:00Z"),
            "{text}"
        );
    }
    for violation in [Violation::Unspent, Violation::Overcounted] {
        assert!(
            violation(group.clone())
                .to_string()
                .contains("group `main`")
        );
    }
    let unreadable = Violation::Unreadable("job:a".to_owned()).to_string();
    assert!(unreadable.contains("`job:a`"));
}
