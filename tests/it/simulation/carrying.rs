//! Which slot takes yielded work, and how it ends.

use std::time::Duration;

use offpeak::engine::Notice;
use offpeak::engine::keep::DeferralState;
use offpeak::engine::ports::Clock;
use offpeak::job::JobState;
use offpeak::outcome::{FailReason, Outcome};
use offpeak::schedule::DeferRule;
use offpeak::schedule::defer::OnExhausted;
use offpeak::sim::{Scripted, SimPlan, SimUpstream};

use super::harness::{House, at, job, rotation, seconds, single};

fn overloaded() -> Scripted {
    Scripted::status(529, "overloaded_error", None)
}

fn three_times_overloaded() -> [Scripted; 3] {
    [overloaded(), overloaded(), overloaded()]
}

/// One night in which the first call is exhausted, under a rule.
fn exhausted_night(plan: SimPlan, rule: DeferRule) -> House {
    let plan = plan.with_jobs(|planned| planned.defer.rule = rule).build();
    let house = House::new("2026-12-01T16:50", plan, |clock| {
        SimUpstream::scripted(clock, three_times_overloaded())
    });
    house.live_until("2026-12-01T23:00");
    house
}

#[test]
fn next_slot_takes_yielded_work_after_its_own() {
    let house = exhausted_night(rotation(), DeferRule::NextSlot);
    assert_eq!(
        house.sends()[..5],
        [
            "a@17:00:00",
            "a@17:00:01",
            "a@17:00:03",
            "b@17:45:00",
            "a@17:45:01"
        ]
    );
    assert_eq!(
        house.runs()[..3],
        [
            "a scheduled: exhausted",
            "b scheduled: succeeded",
            "a deferred: succeeded"
        ]
    );
    assert_eq!(
        house.store.runs()[0].deferred.as_ref().unwrap().to,
        Some(at("2026-12-01T17:45"))
    );
    house.check(at("2026-12-01T16:50"), at("2026-12-01T23:00"));
}

#[test]
fn deferred_work_keeps_the_slot_at_which_it_was_due() {
    let house = exhausted_night(rotation(), DeferRule::NextSlot);
    let delivered = house.workspace.delivered();
    let of_a = delivered
        .iter()
        .find(|(slot, _)| slot.job == job("a"))
        .unwrap();
    assert_eq!(of_a.0.fire_at, at("2026-12-01T17:00"));
}

#[test]
fn own_slot_waits_for_the_jobs_next_slot_and_the_two_are_one() {
    let house = exhausted_night(rotation(), DeferRule::OwnSlot);
    assert_eq!(house.pending()[0].wait.to, Some(at("2026-12-02T17:00")));
    house.live_until("2026-12-02T17:30");
    let runs = house.runs();
    assert_eq!(
        runs[4..],
        ["a scheduled: succeeded", "a deferred: skipped: merged"]
    );
    assert_eq!(house.store.all_deferrals()[0].state, DeferralState::Merged);
    house.check(at("2026-12-01T16:50"), at("2026-12-02T17:30"));
}

#[test]
fn open_slot_fires_at_the_first_free_minute() {
    let house = exhausted_night(rotation(), DeferRule::OpenSlot);
    assert_eq!(house.sends()[3..5], ["a@17:15:00", "b@17:45:00"]);
    assert_eq!(house.runs()[1], "a deferred: succeeded");
}

#[test]
fn two_open_slots_keep_the_gap_from_each_other() {
    let plan = rotation()
        .with_jobs(|planned| planned.defer.rule = DeferRule::OpenSlot)
        .build();
    let down_until = at("2026-12-01T18:00");
    let house = House::new("2026-12-01T16:50", plan, |clock| {
        SimUpstream::new(clock, move |now, _| {
            if now < down_until {
                overloaded()
            } else {
                Scripted::answer(seconds(1), "well again")
            }
        })
    });
    house.live_until("2026-12-01T23:00");
    let sends = house.sends();
    // Each has one more go; `a` at 17:15 is exhausted twice and fails, `b` at 17:45 finds 18:00 free.
    assert_eq!(sends[3], "a@17:15:00");
    assert_eq!(sends[9..11], ["b@18:00:00", "c@19:00:00"]);
    house.check(at("2026-12-01T16:50"), at("2026-12-01T23:00"));
}

#[test]
fn a_promise_that_was_missed_is_taken_by_the_next_slot() {
    let plan = rotation()
        .with_jobs(|planned| planned.defer.rule = DeferRule::OpenSlot)
        .build();
    let house = House::new("2026-12-01T16:50", plan, |clock| {
        SimUpstream::scripted(clock, three_times_overloaded())
    });
    house.live_until("2026-12-01T17:10");
    house.pass(Duration::from_mins(20));
    house.live_until("2026-12-01T23:00");
    assert_eq!(house.sends()[3..5], ["b@17:45:00", "a@17:45:01"]);
}

#[test]
fn a_promise_that_was_missed_moves_to_the_next_free_minute() {
    let plan = single()
        .with_jobs(|planned| planned.defer.rule = DeferRule::OpenSlot)
        .build();
    let house = House::new("2026-12-01T16:50", plan, |clock| {
        SimUpstream::scripted(clock, three_times_overloaded())
    });
    house.live_until("2026-12-01T17:10");
    house.pass(Duration::from_mins(20));
    house.live_until("2026-12-01T23:00");
    assert_eq!(house.sends()[3..], ["a@17:31:00"]);
}

#[test]
fn a_promise_takes_no_work_that_waits_for_a_slot() {
    let plan = rotation()
        .with_job("b", |planned| planned.defer.rule = DeferRule::OpenSlot)
        .build();
    let fails: Vec<Scripted> = three_times_overloaded()
        .into_iter()
        .chain(three_times_overloaded())
        .collect();
    let house = House::new("2026-12-01T16:50", plan, |clock| {
        SimUpstream::scripted(clock, fails)
    });
    house.live_until("2026-12-01T23:00");
    // `a` was exhausted at 17:00 and waits for 17:45, where `b` is exhausted too and `a` goes on; `b` alone gets 18:00.
    assert_eq!(
        house.sends()[6..9],
        ["a@17:45:03", "b@18:00:00", "c@19:00:00"]
    );
}

#[test]
fn pickup_slots_do_nothing_but_take_deferrals() {
    let plan = single().pickup("main", &["30 5 * * *"]).unwrap();
    let house = exhausted_night(plan, DeferRule::NextSlot);
    assert_eq!(house.sends()[3..], ["a@20:30:00"]);
    assert_eq!(
        house.runs(),
        ["a scheduled: exhausted", "a deferred: succeeded"]
    );
    house.check(at("2026-12-01T16:50"), at("2026-12-01T23:00"));
}

#[test]
fn a_hint_holds_the_whole_group_and_all_its_work_goes_on_together() {
    let hinted = Scripted::status(429, "rate_limit_error", Some(Duration::from_hours(1)));
    let house = House::new("2026-12-01T16:50", rotation().build(), |clock| {
        SimUpstream::scripted(clock, [hinted])
    });
    house.live_until("2026-12-01T23:00");
    assert_eq!(
        house.runs()[..5],
        [
            "a scheduled: yielded: hint",
            "b scheduled: yielded: hold",
            "c scheduled: succeeded",
            "a deferred: succeeded",
            "b deferred: succeeded",
        ]
    );
    assert_eq!(
        house.sends()[1..4],
        ["c@19:00:00", "a@19:00:01", "b@19:00:02"]
    );
}

#[test]
fn work_over_the_budget_goes_on_once_there_is_room() {
    let plan = single()
        .pickup("main", &["30 5 * * *", "45 5 * * *"])
        .unwrap();
    let plan = plan
        .job("b", "main", &["45 2 * * *"])
        .unwrap()
        .with_guards(|guard| {
            guard.budget = offpeak::guard::BudgetPolicy::new(3, Duration::from_hours(3)).unwrap();
        });
    let house = exhausted_night(plan, DeferRule::NextSlot);
    // The budget is spent until 20:00:00, 20:00:01 and 20:00:03: one of the two has room at each of the three.
    assert_eq!(house.runs()[1], "b scheduled: yielded: budget");
    assert_eq!(house.sends()[3..], ["a@20:30:00", "b@20:30:01"]);
    house.check_budgets();
}

#[test]
fn a_slot_takes_no_more_once_a_gate_refuses() {
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = plan.job("a", "main", &["0 2 2 * *"]).unwrap();
    let plan = plan.job("b", "main", &["20 2 2 * *"]).unwrap();
    let plan = plan.pickup("main", &["0 3 * * *"]).unwrap().build();
    let refused = Scripted::status(402, "billing_error", None);
    let house = House::new("2026-12-01T16:50", plan, |clock| {
        SimUpstream::scripted(clock, [refused])
    });
    house.live_until("2026-12-01T21:00");
    let mut carries: Vec<u32> = house.pending().iter().map(|it| it.wait.carries).collect();
    carries.sort_unstable();
    assert_eq!(house.runs().len(), 3);
    assert_eq!(
        carries,
        [1, 2],
        "`b` is spared a slot that would refuse it too"
    );
}

#[test]
fn work_that_was_carried_to_the_maximum_fails_loudly() {
    let plan = SimPlan::new("Asia/Tokyo")
        .unwrap()
        .job("a", "main", &["0 2 2 * *"])
        .unwrap();
    let plan = plan
        .pickup("main", &["0 3 * * *", "0 4 * * *", "0 5 * * *"])
        .unwrap()
        .build();
    let refused = || Scripted::status(402, "billing_error", None);
    let mut house = House::new("2026-12-01T16:50", plan, |clock| {
        SimUpstream::scripted(clock, [refused()])
    });
    house.live_until("2026-12-01T21:00");
    assert_eq!(
        house.runs(),
        [
            "a scheduled: yielded: hold",
            "a deferred: yielded: hold",
            "a deferred: yielded: hold",
            "a deferred: failed: carried_too_often",
        ]
    );
    assert_eq!(house.sends().len(), 1);
    assert_eq!(house.store.all_deferrals()[0].state, DeferralState::Failed);
    let ended = house
        .told()
        .into_iter()
        .filter(|it| matches!(it, Notice::Ended { .. }));
    assert_eq!(ended.count(), 4);
}

#[test]
fn work_that_is_too_old_fails_after_it_had_its_slot() {
    let plan = SimPlan::new("Asia/Tokyo")
        .unwrap()
        .job("a", "main", &["0 2 2 * *"])
        .unwrap();
    let plan = plan.pickup("main", &["30 5 * * *"]).unwrap();
    let plan = plan.with_jobs(|planned| planned.defer.max = 9).build();
    let refused = || Scripted::status(402, "billing_error", None);
    let house = House::new("2026-12-01T16:50", plan, |clock| {
        SimUpstream::scripted(clock, [refused()])
    });
    house.live_until("2026-12-04T21:00");
    let last = house.store.runs().pop().unwrap();
    assert_eq!(house.runs().len(), 3);
    assert_eq!(last.outcome, Some(Outcome::Failed(FailReason::Expired)));
    assert_eq!(last.started_at, at("2026-12-02T20:30"));
}

#[test]
fn work_whose_only_slot_is_far_away_still_gets_it() {
    let plan = SimPlan::new("Asia/Tokyo")
        .unwrap()
        .job("a", "main", &["0 2 2 * *"])
        .unwrap();
    let plan = plan.pickup("main", &["30 5 10 * *"]).unwrap().build();
    let house = House::new("2026-12-01T16:50", plan, |clock| {
        SimUpstream::scripted(clock, three_times_overloaded())
    });
    house.live_until("2026-12-10T21:00");
    assert_eq!(
        house.runs(),
        ["a scheduled: exhausted", "a deferred: succeeded"]
    );
}

#[test]
fn exhaustion_is_deferred_once() {
    let plan = single()
        .pickup("main", &["0 3 * * *", "0 4 * * *"])
        .unwrap()
        .build();
    let house = House::new("2026-12-01T16:50", plan, |clock| {
        SimUpstream::new(clock, |_, _| overloaded())
    });
    house.live_until("2026-12-01T21:00");
    assert_eq!(
        house.runs(),
        ["a scheduled: exhausted", "a deferred: failed: exhausted"]
    );
    assert_eq!(house.sends().len(), 6);
}

#[test]
fn exhaustion_fails_at_once_where_the_job_says_so() {
    let plan = rotation().with_jobs(|planned| planned.defer.on_exhausted = OnExhausted::Fail);
    let house = exhausted_night(plan, DeferRule::NextSlot);
    assert_eq!(house.runs()[0], "a scheduled: failed: exhausted");
    assert!(house.pending().is_empty());
}

const RULES: [DeferRule; 3] = [DeferRule::NextSlot, DeferRule::OwnSlot, DeferRule::OpenSlot];

/// The rotation, every job of it under one rule.
fn rotation_under(rule: DeferRule) -> SimPlan {
    rotation().with_jobs(|planned| planned.defer.rule = rule)
}

#[test]
fn deferred_work_of_a_job_that_is_gone_or_disabled_fails_under_every_rule() {
    // Own-slot work was kept for ever: only a slot of its job may take it, and its job had none any more.
    for rule in RULES {
        let gone = rotation_under(rule).without_job("a");
        let disabled =
            rotation_under(rule).with_job("a", |planned| planned.job.state = JobState::Disabled);
        for later in [gone, disabled] {
            let house = House::new("2026-12-01T16:50", rotation_under(rule).build(), |clock| {
                SimUpstream::scripted(clock, three_times_overloaded())
            });
            house.live_until("2026-12-01T17:10");
            house.plans.send_replace(later.build());
            house.live_until("2026-12-01T18:00");
            let mut ends = house.runs();
            ends.sort();
            assert_eq!(
                ends,
                [
                    "a deferred: failed: job_gone",
                    "a scheduled: exhausted",
                    "b scheduled: succeeded"
                ],
                "{rule:?}"
            );
            assert!(house.pending().is_empty(), "{rule:?}");
        }
    }
}

#[test]
fn own_slot_work_of_a_run_that_outlives_its_job_fails() {
    let plan = rotation_under(DeferRule::OwnSlot);
    let house = House::new("2026-12-01T16:50", plan.build(), |clock| {
        SimUpstream::scripted(clock, three_times_overloaded())
    });
    let removal = async {
        house
            .clock
            .sleep(Duration::from_mins(10) + seconds(2))
            .await;
        let later = rotation_under(DeferRule::OwnSlot).without_job("a");
        house.plans.send_replace(later.build());
    };
    house.live_beside(Duration::from_mins(12), removal);
    assert_eq!(
        house.runs(),
        ["a scheduled: exhausted", "a deferred: failed: job_gone"]
    );
}

#[test]
fn work_whose_job_and_group_are_gone_fails_at_once_under_every_rule() {
    for rule in RULES {
        let house = House::new("2026-12-01T16:50", rotation_under(rule).build(), |clock| {
            SimUpstream::scripted(clock, three_times_overloaded())
        });
        house.live_until("2026-12-01T17:10");
        let other = SimPlan::new("Asia/Tokyo")
            .unwrap()
            .job("x", "other", &["0 2 * * *"])
            .unwrap();
        house.plans.send_replace(other.build());
        house.live_for(seconds(60));
        assert_eq!(
            house.runs()[1..],
            ["a deferred: failed: job_gone"],
            "{rule:?}"
        );
    }
}

#[test]
fn a_job_that_moves_to_another_group_takes_its_deferral_along() {
    let house = House::new("2026-12-01T16:50", rotation().build(), |clock| {
        SimUpstream::scripted(clock, three_times_overloaded())
    });
    house.live_until("2026-12-01T17:30");
    let plan = rotation()
        .without_job("a")
        .job("a", "other", &["0 2 * * *"])
        .unwrap();
    let plan = plan.pickup("other", &["0 3 * * *"]).unwrap();
    house.plans.send_replace(plan.build());
    house.live_until("2026-12-01T18:30");
    let carried = house.store.runs().pop().unwrap();
    assert_eq!(
        house.runs()[1..],
        ["b scheduled: succeeded", "a deferred: succeeded"]
    );
    assert_eq!(carried.started_at, at("2026-12-01T18:00"));
    assert_eq!(
        house.upstream.sent().pop().unwrap().request.key.as_str(),
        "other"
    );
}
