//! Kills at every kind of point, one and several in a row: each slot still ends in one outcome, and nothing is lost.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::engine::Plan;
use offpeak::engine::ports::{Clock, Dice};
use offpeak::outcome::{Outcome, Run};
use offpeak::schedule::Timetable;
use offpeak::sim::{self, Fault, Scripted, SimDice, SimPlan, SimUpstream};
use offpeak::slot::Origin;

use super::gate::{Fate, Step};
use super::harness::{House, at, job, rotation, seconds, single};
use super::night::{self, END, SINCE};

/// Polls a life this many times while something goes on, and then drops it as a kill does; whether it came to that.
///
/// Idle wake-ups are not counted: they are all alike, and there are a hundred for each that does something.
fn killed_after(house: &House, polls: usize, life: impl Future<Output = ()>) -> bool {
    let mut life = pin!(life);
    let mut left = polls;
    let killing = std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(true);
        }
        let written = house.gate.written_at();
        left -= usize::from(house.clock.elapsed().saturating_sub(written) <= seconds(3));
        life.as_mut().poll(context).map(|()| false)
    });
    let limit = house.clock.elapsed() + night::left(house);
    sim::run_until(&house.clock, limit, killing).unwrap_or(false)
}

/// The plan that arrives in the middle of the night: one job is edited, one is new.
fn edited() -> Arc<Plan> {
    let mut plan = (*night::plan()).clone();
    let timetable = |cron: &str| single_timetable(cron);
    let mut added = plan.jobs["spent"].clone();
    added.job.id = job("added");
    added.timetable = timetable("36 2 * * *");
    plan.jobs.insert(job("added"), added);
    plan.jobs.get_mut("well").unwrap().timetable = timetable("34 2 * * *");
    Arc::new(plan)
}

fn single_timetable(cron: &str) -> Timetable {
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = plan.job("a", "main", &[cron]).unwrap().build();
    plan.jobs["a"].timetable.clone()
}

/// The night, whose inputs and outputs take their time so that there are points within them.
fn slow_house() -> House {
    let house = night::house();
    for id in night::JOBS {
        house
            .workspace
            .break_job(&job(id), Fault::SlowInput(seconds(1)));
        house
            .workspace
            .break_job(&job(id), Fault::SlowOutput(seconds(1)));
    }
    house.gate.slow_down();
    house
}

/// One life: a daemon, a person, and a plan that changes at 17:15.
async fn life(house: &House) {
    let reload = async {
        if house.clock.now() < at("2026-12-01T17:15") {
            house.until("2026-12-01T17:15").await;
            house.plans.send_replace(edited());
        }
    };
    let person = async {
        if house.clock.now() < at("2026-12-01T16:55") {
            night::person(house).await;
        }
    };
    let serving = async {
        house.daemon().await;
    };
    futures_util::future::join3(serving, person, reload).await;
}

/// Deferred work is never sent at once after a restart: each of its runs belongs to a slot of its group.
fn check_carried(house: &House) {
    let plans = [night::plan(), edited()];
    let mut slots: BTreeMap<&str, Vec<&Timetable>> = BTreeMap::new();
    for plan in &plans {
        for planned in plan.jobs.values() {
            let of_group = slots.entry(planned.job.group.as_str()).or_default();
            of_group.push(&planned.timetable);
        }
        for (id, group) in &plan.groups {
            let of_group = slots.entry(id.as_str()).or_default();
            of_group.extend(&group.pickup);
        }
    }
    // Open-slot work has instants of its own.
    let is_carried = |run: &&Run| {
        let sent = !run.attempts.is_empty() && run.job.as_str() != "open";
        sent && matches!(run.origin, Origin::Deferred | Origin::CatchUp)
    };
    for run in house.store.runs().iter().filter(is_carried) {
        let of_group = &slots[run.group.as_str()];
        let span = (run.started_at - TimeDelta::minutes(3), run.started_at);
        let slot = of_group
            .iter()
            .any(|it| !it.between(span.0, span.1).is_empty());
        assert!(slot, "no slot of its group carries {run:#?}");
    }
}

fn finish_and_check(house: &House, context: &dyn std::fmt::Debug) {
    house.gate.speed_up();
    house.plans.send_replace(edited());
    house.live_for(night::left(house));
    night::check_work(house, context);
    check_carried(house);
}

#[test]
fn a_kill_at_any_point_of_a_night_with_every_kind_of_slot_loses_nothing() {
    let mut kills = 0;
    // Every third point: with the offsets of the other tests each step is hit on both sides.
    for polls in (0..).step_by(3) {
        let house = slow_house();
        let was_killed = killed_after(&house, polls, life(&house));
        finish_and_check(&house, &polls);
        if !was_killed {
            break;
        }
        kills += 1;
    }
    assert!(kills > 100, "only {kills} kills");
}

#[test]
fn several_kills_in_a_row_lose_nothing() {
    let mut kills = 0;
    for seed in 0..30 {
        let house = slow_house();
        let dice = SimDice::seeded(seed);
        for _ in 0..6 {
            let polls = Duration::from_secs_f64(dice.draw() * 200.0).as_secs();
            let polls = usize::try_from(polls).unwrap();
            kills += usize::from(killed_after(&house, polls, life(&house)));
            let away = Duration::from_secs_f64(dice.draw() * 90.0);
            house.pass(away.min(night::left(&house)));
        }
        finish_and_check(&house, &seed);
    }
    assert!(kills > 100, "only {kills} kills");
}

#[test]
fn a_crash_loop_at_the_start_begins_nothing_and_loses_nothing() {
    let house = slow_house();
    for n in 0..60 {
        killed_after(&house, n % 20, life(&house));
    }
    finish_and_check(&house, &"a crash loop");
}

#[test]
fn a_persons_run_that_is_killed_at_any_point_beside_the_daemon_ends_as_interrupted() {
    let mut kills = 0;
    for polls in 0.. {
        let house = slow_house();
        let mut was_killed = false;
        let person = async {
            was_killed = Kill(Box::pin(night::person(&house)), polls).await;
        };
        house.live_beside(night::left(&house), person);
        house.gate.speed_up();
        house.check(at(SINCE), at(END));
        if !was_killed {
            break;
        }
        kills += 1;
    }
    assert!(kills > 10, "only {kills} kills");
}

/// A future that is dropped after so many polls; whether it was.
struct Kill<'a>(std::pin::Pin<Box<dyn Future<Output = ()> + 'a>>, usize);

impl Future for Kill<'_> {
    type Output = bool;

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> Poll<bool> {
        if self.1 == 0 {
            return Poll::Ready(true);
        }
        self.1 -= 1;
        self.0.as_mut().poll(context).map(|()| false)
    }
}

/// A house whose daemon dies at the n-th write after an instant, and has a second life after that.
fn dies_at_write(n: usize, fate: Fate) -> House {
    let house = House::new("2026-12-01T16:59", rotation().build(), SimUpstream::healthy);
    let (clock, mut seen) = (house.clock.clone(), 0);
    house.gate.judge_by(move |step| {
        let is_in_slot = clock.now() >= at("2026-12-01T17:00");
        seen += usize::from(step == Step::Write && is_in_slot);
        let is_hit = step == Step::Write && is_in_slot && seen == n;
        if is_hit { fate } else { Fate::Works }
    });
    house.live_for(seconds(90));
    house.gate.judge_by(|_| Fate::Works);
    house
}

#[test]
fn an_answer_that_came_before_a_kill_is_delivered_again_and_never_asked_for_again() {
    // Claim, admission, record, end: the fourth write of the slot.
    let house = dies_at_write(4, Fate::DiesBefore);
    assert_eq!(house.workspace.delivered().len(), 1);
    house.live_until("2026-12-01T18:00");
    let run = house.store.runs().remove(0);
    assert_eq!(run.outcome, Some(Outcome::Succeeded));
    let note = run.note.unwrap_or_default();
    assert!(
        note.starts_with("delivered on try 1, at 2026-12-01 17:0"),
        "{note}"
    );
    // The same slot's output is written again, whole, over the first.
    let delivered = house.workspace.delivered().into_iter();
    let of_a = delivered.filter(|(slot, _)| slot.job == job("a"));
    let of_a: Vec<DateTime<Utc>> = of_a.map(|(slot, _)| slot.fire_at).collect();
    assert_eq!(of_a, [at("2026-12-01T17:00"); 2]);
    assert_eq!(house.sends(), ["a@17:00:00", "b@17:45:00"]);
}

#[test]
fn an_end_that_was_written_before_a_kill_is_not_done_again() {
    let house = dies_at_write(4, Fate::DiesAfter);
    house.live_until("2026-12-01T18:00");
    assert_eq!(house.sends(), ["a@17:00:00", "b@17:45:00"]);
    assert_eq!(
        house.runs(),
        ["a scheduled: succeeded", "b scheduled: succeeded"]
    );
}

#[test]
fn an_admission_that_was_written_before_a_kill_counts_as_perhaps_billed() {
    let house = dies_at_write(2, Fate::DiesAfter);
    assert!(house.sends().is_empty());
    house.live_until("2026-12-01T18:00");
    let note = house.store.runs()[0].note.clone().unwrap();
    assert!(note.contains("may have been billed"), "{note}");
    assert_eq!(house.sends(), ["b@17:45:00", "a@17:45:01"]);
}

#[test]
fn a_claim_that_was_written_before_a_kill_has_sent_nothing() {
    let house = dies_at_write(1, Fate::DiesAfter);
    house.live_until("2026-12-01T18:00");
    let note = house.store.runs()[0].note.clone().unwrap();
    assert_eq!(note, "cut off before anything was sent");
    assert_eq!(house.sends(), ["b@17:45:00", "a@17:45:01"]);
}

#[test]
fn a_claim_whose_answer_was_lost_goes_on_without_a_restart() {
    // Its run was open until the next start, which may be a year away.
    let house = House::new("2026-12-01T16:59", rotation().build(), SimUpstream::healthy);
    let (clock, mut is_over) = (house.clock.clone(), false);
    house.gate.judge_by(move |step| {
        let is_hit = step == Step::Write && clock.now() >= at("2026-12-01T17:00") && !is_over;
        is_over |= is_hit;
        if is_hit { Fate::IsLost } else { Fate::Works }
    });
    house.live_until("2026-12-01T18:00");
    assert_eq!(
        house.runs(),
        [
            "a scheduled: yielded: interrupted",
            "b scheduled: succeeded",
            "a deferred: succeeded"
        ]
    );
}

#[test]
fn a_plan_whose_adoption_was_not_heard_of_begins_when_it_was_written() {
    // Its schedules began with the first try, and the slot of that moment was passed over by the second.
    let house = House::new("2026-12-01T16:59", single().build(), SimUpstream::healthy);
    let script = async {
        house.until("2026-12-01T17:44").await;
        house.clock.sleep(seconds(58)).await;
        let mut is_over = false;
        house.gate.judge_by(move |step| {
            let is_hit = step == Step::Write && !is_over;
            is_over |= is_hit;
            if is_hit { Fate::IsLost } else { Fate::Works }
        });
        house.plans.send_replace(rotation().build());
    };
    house.live_beside(Duration::from_hours(1), script);
    assert_eq!(house.sends(), ["a@17:00:00", "b@17:45:03"]);
    house.audit();
}

#[test]
fn a_persons_run_that_was_killed_is_closed_by_a_daemon_that_goes_on() {
    // It was closed at the daemon's next start only, and `status` showed it as under way until then.
    let house = House::new("2026-12-01T12:00", rotation().build(), |clock| {
        SimUpstream::scripted(clock, [Scripted::answer(seconds(300), "never heard of")])
    });
    let person = async {
        let asked = offpeak::engine::Asked {
            plan: house.plans.borrow().clone(),
            job: job("a"),
            fire_at: house.clock.now(),
        };
        let run =
            offpeak::engine::run_once(house.world(), asked, house.stop.subscribe(), house.sender());
        let killed = futures_util::future::select(Box::pin(run), house.clock.sleep(seconds(30)));
        drop(killed.await);
    };
    house.live_beside(Duration::from_hours(3), person);
    assert_eq!(house.runs(), ["a manual: failed: interrupted"]);
    let run = house.store.runs().remove(0);
    assert!(run.note.unwrap().contains("may have been billed"));
}
