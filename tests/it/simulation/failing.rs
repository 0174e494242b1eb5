//! A store that fails at every single step of a night in turn: each slot still ends in one outcome, and nothing is sent
//! that is not on record.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::FutureExt;
use offpeak::engine::ports::{Clock, Finish, ManualStart, NewDeferral, Store};
use offpeak::job::GroupId;
use offpeak::outcome::{Outcome, YieldReason};
use offpeak::schedule::DeferRule;
use offpeak::sim::{MemoryStore, Scripted, SimPlan, SimUpstream};
use offpeak::slot::{Origin, Slot};

use super::gate::{Deed, Fate, Step};
use super::harness::{House, Named, job, rotation};
use super::night;

/// Every step of a night in order, and when; each is asked what becomes of it.
#[derive(Default)]
struct Steps(Vec<(Step, DateTime<Utc>)>);

/// A night in which `fate` says what becomes of each step, given all so far.
fn night(fate: impl Fn(&Steps) -> Fate + Send + 'static) -> (House, Steps) {
    let house = night::house();
    let steps = Arc::new(Mutex::new(Steps::default()));
    let (seen, clock) = (Arc::clone(&steps), house.clock.clone());
    house.gate.judge_by(move |step| {
        let mut seen = seen.lock().unwrap();
        seen.0.push((step, clock.now()));
        fate(&seen)
    });
    night::live(&house);
    house.gate.judge_by(|_| Fate::Works);
    night::rest(&house);
    let steps = std::mem::take(&mut *steps.lock().unwrap());
    (house, steps)
}

/// Lets the n-th step of a kind, counted from 0, meet its fate; whether the night had that many.
fn broken(step: Step, n: usize, fate: Fate) -> (House, bool) {
    let (house, steps) = night(move |seen| match seen.0.last() {
        Some((last, _)) if *last == step && seen.of(step).count() == n + 1 => fate,
        Some(_) | None => Fate::Works,
    });
    let was_hit = steps.of(step).count() > n;
    (house, was_hit)
}

impl Steps {
    fn of(&self, kind: Step) -> impl Iterator<Item = DateTime<Utc>> {
        let of_kind = self.0.iter().filter(move |(step, _)| *step == kind);
        of_kind.map(|(_, at)| *at)
    }
}

/// Breaks one write after another, until a night has none that late; answers how many there were.
fn each_write(fate: Fate, look: impl Fn(&House)) -> usize {
    for n in 0.. {
        let (house, was_hit) = broken(Step::Write, n, fate);
        night::check(&house, &(n, fate));
        look(&house);
        if !was_hit {
            return n;
        }
    }
    unreachable!("a night has an end")
}

/// Where nothing crashed, an answer is delivered once.
fn once(house: &House) {
    house.check_deliveries();
    house.check_budgets();
}

#[test]
fn a_write_that_fails_costs_no_slot() {
    assert!(each_write(Fate::Fails, once) > 80);
}

#[test]
fn a_write_whose_answer_is_lost_costs_no_slot_and_counts_once() {
    // A claim that was written and not heard of left its slot without a run until the next start, and a record that was
    // told twice gave the breaker two samples.
    assert!(each_write(Fate::IsLost, once) > 80);
}

#[test]
fn a_crash_before_each_write_loses_nothing() {
    assert!(each_write(Fate::DiesBefore, |_| {}) > 80);
}

#[test]
fn a_crash_after_each_write_loses_nothing() {
    assert!(each_write(Fate::DiesAfter, |_| {}) > 80);
}

#[test]
fn a_read_that_fails_costs_no_slot() {
    let (_, steps) = night(|_| Fate::Works);
    let writes: Vec<DateTime<Utc>> = steps.of(Step::Write).collect();
    // Of the reads of idle wake-ups, which are all alike, every fortieth will do.
    let reads = steps.of(Step::Read).enumerate();
    let tried: Vec<usize> = reads
        .filter(|(n, at)| n % 40 == 0 || writes.contains(at))
        .map(|(n, _)| n)
        .collect();
    assert!(tried.len() > 80, "only {} reads", tried.len());
    for n in tried {
        let (house, was_hit) = broken(Step::Read, n, Fate::Fails);
        assert!(was_hit);
        night::check(&house, &n);
        once(&house);
    }
}

/// How long the disk is full.
const FULL: TimeDelta = TimeDelta::minutes(7);

/// When the disk was full, if the n-th write is the first that fails.
fn full_from(steps: &Steps, n: usize) -> Option<DateTime<Utc>> {
    steps.of(Step::Write).nth(n)
}

#[test]
fn a_disk_that_is_full_for_minutes_costs_no_slot_and_nothing_is_sent_meanwhile() {
    for n in 0.. {
        let (house, steps) = night(move |seen| {
            let Some((Step::Write, now)) = seen.0.last() else {
                return Fate::Works;
            };
            match full_from(seen, n) {
                Some(from) if *now < from + FULL => Fate::Fails,
                Some(_) | None => Fate::Works,
            }
        });
        night::check(&house, &n);
        once(&house);
        let Some(from) = full_from(&steps, n) else {
            assert!(n > 60, "only {n} writes");
            return;
        };
        for sent in house.upstream.sent() {
            // What was admitted by the last write before it may go out at that instant.
            let is_meanwhile = from < sent.at && sent.at < from + FULL;
            assert!(!is_meanwhile, "{} was sent at {}", sent.job(), sent.at);
        }
    }
}

/// What a person's run in another process leaves: work of `job` for the next slot.
fn left_by_a_person(store: &MemoryStore, id: &str, now: DateTime<Utc>) {
    let start = ManualStart {
        slot: Slot {
            fire_at: now,
            job: job(id),
        },
        group: GroupId::new("main"),
        model: "claude-sim".to_owned(),
        lease_until: now + FULL,
    };
    let run = store.begin_manual(start).now_or_never().unwrap().unwrap();
    let wait = NewDeferral {
        not_before: now,
        to: None,
        carries: 1,
        rule: DeferRule::NextSlot,
        reason: YieldReason::Budget,
        origin: Origin::Deferred,
    };
    let finish = Finish {
        run,
        outcome: Outcome::Yielded(YieldReason::Budget),
        note: None,
        answer: None,
        cost_usd: None,
        delivery: None,
        output: None,
        deferral: Some(wait),
        carried: None,
        now,
    };
    store.finish(finish).now_or_never().unwrap().unwrap();
}

/// The rotation, in which work waits for a slot of its own job.
fn own_slots() -> SimPlan {
    rotation().with_jobs(|planned| planned.defer.rule = DeferRule::OwnSlot)
}

/// A night at ten past: `a` has left work that waits for its next slot.
fn with_work_of_a() -> House {
    let house = House::new("2026-12-01T16:50", own_slots().build(), |clock| {
        let failed = Scripted::status(529, "overloaded_error", None);
        SimUpstream::scripted(clock, vec![failed; 3])
    });
    house.live_until("2026-12-01T17:10");
    house
}

/// Orphans were ended inside the wake-up, and one that was taken and could not be closed was tried again and again until
/// the stop signal: no slot fired, and no sign of life came.
#[test]
fn an_orphan_that_cannot_be_closed_keeps_no_slot_back() {
    let house = with_work_of_a();
    house
        .plans
        .send_replace(own_slots().without_job("a").build());
    house.gate.refuse(Some(Deed::Finish));
    let script = async {
        house.until("2026-12-01T18:00").await;
        assert_eq!(house.sends()[3..], ["b@17:45:00"]);
        house.gate.refuse(None);
    };
    house.live_beside(Duration::from_hours(3), script);
    assert_eq!(
        house.sends()[3..],
        ["b@17:45:00", "c@19:00:00", "d@19:45:00"]
    );
    let gone = house.runs().into_iter();
    let gone = gone.filter(|run| run.ends_with("failed: job_gone"));
    assert_eq!(gone.collect::<Vec<_>>(), ["a deferred: failed: job_gone"]);
    house.check_rows();
}

/// The closing of orphans goes on beside the wake-ups, and what it was told once must not outlive the plan.
#[test]
fn work_whose_job_comes_back_while_an_orphan_cannot_be_closed_is_done() {
    let house = House::new("2026-12-01T16:50", own_slots().build(), |clock| {
        let failed = Scripted::status(529, "overloaded_error", None);
        SimUpstream::scripted(clock, vec![failed; 6])
    });
    house.live_until("2026-12-01T17:50");
    let without = own_slots().without_job("a").without_job("b");
    house.plans.send_replace(without.build());
    house.gate.refuse(Some(Deed::Finish));
    let script = async {
        house.until("2026-12-01T18:00").await;
        house.plans.send_replace(own_slots().build());
        house.until("2026-12-01T18:10").await;
        house.gate.refuse(None);
    };
    house.live_beside(Duration::from_hours(24), script);
    let gone = house.runs().into_iter();
    let gone = gone.filter(|run| run.ends_with("failed: job_gone"));
    assert_eq!(gone.collect::<Vec<_>>(), ["a deferred: failed: job_gone"]);
    assert!(house.pending().is_empty());
    house.check_rows();
}

/// The newest plan was marked as seen when the one before it stood.
#[test]
fn a_plan_that_comes_while_another_is_adopted_stands_too() {
    let house = House::new("2026-12-01T17:30", rotation().build(), SimUpstream::healthy);
    let script = async {
        house.until("2026-12-01T17:35").await;
        let plans = house.plans.clone();
        let mut newest = Some(rotation().without_job("d").build());
        house.gate.judge_by(move |step| {
            // The first write of a quiet time is that of the adoption.
            if step == Step::Write
                && let Some(plan) = newest.take()
            {
                plans.send_replace(plan);
            }
            Fate::Works
        });
        house
            .plans
            .send_replace(rotation().without_job("c").build());
    };
    house.live_beside(Duration::from_hours(4), script);
    assert_eq!(house.sends(), ["b@17:45:00", "c@19:00:00"]);
}

#[test]
fn work_that_arrives_while_orphans_are_ended_is_not_sent_at_once() {
    // Whatever was taken then was run, at an instant that is in no schedule.
    let house = with_work_of_a();
    let (store, clock, mut writes) = (Arc::clone(&house.store), house.clock.clone(), 0);
    house.gate.judge_by(move |step| {
        writes += usize::from(step == Step::Write);
        // Recovery and adoption; then the orphan is taken and ended.
        if writes == 4 {
            writes += 1;
            left_by_a_person(&store, "d", clock.now());
        }
        Fate::Works
    });
    house
        .plans
        .send_replace(own_slots().without_job("a").build());
    house.live_until("2026-12-01T17:50");
    assert_eq!(house.sends()[3..], ["b@17:45:00", "d@17:45:01"]);
    assert!(
        house
            .runs()
            .contains(&"a deferred: failed: job_gone".to_owned())
    );
    house.check_rows();
}
