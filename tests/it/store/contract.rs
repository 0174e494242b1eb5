//! What both stores promise.

pub use super::person::*;
pub use super::pieces_contract::*;
use super::*;
use std::collections::BTreeSet;

use offpeak::engine::ports::ManualStart;
use offpeak::guard::HoldCause;
use offpeak::outcome::{DeferredTo, FailReason, IncompleteReason, SkipReason};

pub fn new_store_knows_nothing(bench: &Bench) {
    assert_eq!(wait(bench.store.watermark()).unwrap(), None);
    assert_eq!(wait(bench.store.deferrals()).unwrap(), []);
    assert_eq!(wait(bench.store.recover(&[], minute(0))).unwrap(), []);
    assert_eq!(bench.take(None, minute(0)), None);
    assert_eq!(bench.runs(), []);
}

fn named(name: &str, fingerprint: &str) -> (String, String) {
    (name.to_owned(), fingerprint.to_owned())
}

pub fn schedule_starts_when_it_is_first_seen_or_edited(bench: &Bench) {
    let plan = [named("digest", "0 5"), named("review", "0 6")];
    let adopted = wait(bench.store.adopt(&plan, minute(1))).unwrap();
    assert_eq!(
        adopted,
        [
            ("digest".to_owned(), minute(1)),
            ("review".to_owned(), minute(1))
        ]
    );
    let plan = [
        named("review", "30 6"),
        named("digest", "0 5"),
        named("weekly", "0 7 * * 1"),
    ];
    let adopted = wait(bench.store.adopt(&plan, minute(2))).unwrap();
    let starts = [
        ("review", minute(2)),
        ("digest", minute(1)),
        ("weekly", minute(2)),
    ];
    assert_eq!(
        adopted,
        starts.map(|(name, start)| (name.to_owned(), start))
    );
}

pub fn schedule_that_was_gone_starts_anew(bench: &Bench) {
    let plan = [named("digest", "0 5")];
    wait(bench.store.adopt(&plan, minute(1))).unwrap();
    wait(bench.store.adopt(&[], minute(2))).unwrap();
    let adopted = wait(bench.store.adopt(&plan, minute(3))).unwrap();
    assert_eq!(adopted, [("digest".to_owned(), minute(3))]);
}

pub fn slot_is_claimed_once(bench: &Bench) {
    let twice = || {
        vec![
            claim("digest", minute(0), Fate::Fire),
            claim("digest", minute(0), Fate::Fire),
        ]
    };
    let claimed = bench.claim(minute(0), twice());
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].slot, slot("digest", minute(0)));
    let others = vec![
        claim("digest", minute(0), Fate::Fire),
        claim("review", minute(0), Fate::Fire),
    ];
    let claimed = bench.claim(minute(1), others);
    assert_eq!(
        claimed
            .iter()
            .map(|claimed| &claimed.slot)
            .collect::<Vec<_>>(),
        [&slot("review", minute(0))]
    );
    let run = bench.run(claimed[0].run);
    assert_eq!(
        (run.origin, run.started_at, run.fire_at),
        (Origin::Scheduled, minute(1), minute(0))
    );
    assert_eq!(
        (run.model.as_str(), run.group),
        ("model-of-review", main_group())
    );
    assert_eq!((run.outcome, run.finished_at), (None, None));
    assert_eq!(bench.runs().len(), 2);
}

pub fn watermark_moves_forward_until_it_is_rewound(bench: &Bench) {
    bench.claim(minute(5), vec![]);
    bench.claim(minute(3), vec![]);
    assert_eq!(wait(bench.store.watermark()).unwrap(), Some(minute(5)));
    bench.fire("digest", minute(6));
    wait(bench.store.rewind(minute(-300))).unwrap();
    assert_eq!(wait(bench.store.watermark()).unwrap(), Some(minute(-300)));
    // The claim stands: the same civil time comes twice, the slot does not.
    assert!(
        bench
            .claim(minute(-200), vec![claim("digest", minute(6), Fate::Fire)])
            .is_empty()
    );
}

pub fn skipped_slot_ends_at_once(bench: &Bench) {
    let skip = Fate::Skip(SkipReason::Overlap);
    let claimed = bench.claim(minute(1), vec![claim("digest", minute(0), skip)]);
    let run = bench.run(claimed[0].run);
    assert_eq!(run.outcome, Some(Outcome::Skipped(SkipReason::Overlap)));
    assert_eq!(run.finished_at, Some(minute(1)));
    assert_eq!(bench.slot_end(&slot("digest", minute(0))), run.outcome);
    assert_eq!(wait(bench.store.recover(&[], minute(2))).unwrap(), []);
}

pub fn missed_slot_becomes_deferred_work(bench: &Bench) {
    let caught_up = NewDeferral {
        reason: YieldReason::Missed,
        origin: Origin::CatchUp,
        ..next_slot(minute(90))
    };
    let fate = Fate::CatchUp(caught_up.clone());
    let claimed = bench.claim(minute(90), vec![claim("digest", minute(0), fate)]);
    let run = bench.run(claimed[0].run);
    assert_eq!(run.outcome, Some(Outcome::Yielded(YieldReason::Missed)));
    assert_eq!(
        run.deferred,
        Some(DeferredTo {
            not_before: minute(90),
            to: None,
            carries: 1
        })
    );
    assert_eq!(bench.slot_end(&slot("digest", minute(0))), run.outcome);
    let pending = wait(bench.store.deferrals()).unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!(
        (&pending[0].wait, &pending[0].slot),
        (&caught_up, &slot("digest", minute(0)))
    );
    let taken = bench.take(Some("review"), minute(105)).unwrap();
    let run = bench.run(taken.run);
    assert_eq!(
        (run.origin, run.fire_at, run.started_at),
        (Origin::CatchUp, minute(0), minute(105))
    );
    assert_eq!(run.model, "model-of-digest");
}

/// Two pieces of work of one job waited side by side, and were two calls in the next slot.
pub fn missed_slot_takes_over_the_ripe_deferrals_of_its_job(bench: &Bench) {
    bench.defer("digest", minute(0), next_slot(minute(10)));
    bench.defer("review", minute(0), next_slot(minute(10)));
    let missed = |at| claim("digest", at, Fate::CatchUp(next_slot(minute(60))));
    bench.claim(minute(60), vec![missed(minute(9))]);
    assert_eq!(wait(bench.store.deferrals()).unwrap().len(), 3);
    bench.claim(minute(61), vec![missed(minute(45))]);
    let mut waiting: Vec<_> = wait(bench.store.deferrals())
        .unwrap()
        .into_iter()
        .map(|it| (it.slot.job, it.slot.fire_at))
        .collect();
    waiting.sort();
    // What was caught up with at minute 60 waits until then, and is no part of the slot before.
    let expected = [
        (JobId::new("digest"), minute(9)),
        (JobId::new("digest"), minute(45)),
        (JobId::new("review"), minute(0)),
    ];
    assert_eq!(waiting, expected);
    bench.audit();
}

pub fn firing_slot_takes_over_the_ripe_deferrals_of_its_job(bench: &Bench) {
    bench.defer("digest", minute(0), next_slot(minute(45)));
    bench.defer("review", minute(1), next_slot(minute(45)));
    bench.defer("digest", minute(2), next_slot(minute(46)));
    let run = bench.fire("digest", minute(45));
    let pending = wait(bench.store.deferrals()).unwrap();
    let waiting: Vec<_> = pending
        .iter()
        .map(|deferral| deferral.slot.clone())
        .collect();
    assert_eq!(
        waiting,
        [slot("review", minute(1)), slot("digest", minute(2))]
    );
    let merged = bench.runs().pop().unwrap();
    assert_eq!(merged.outcome, Some(Outcome::Skipped(SkipReason::Merged)));
    assert_eq!(
        (merged.fire_at, merged.origin),
        (minute(0), Origin::Deferred)
    );
    assert!(
        merged.note.unwrap().contains("2026-10-21 17:45:00Z"),
        "names the slot that makes the call"
    );
    // The slot's own record stays what it was, and the firing run goes on.
    assert_eq!(
        bench.slot_end(&slot("digest", minute(0))),
        Some(Outcome::Yielded(YieldReason::Budget))
    );
    assert_eq!(bench.run(run).outcome, None);
}

pub fn own_run_ends_its_slot_and_leaves_its_work(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    assert_eq!(bench.slot_end(&slot("digest", minute(0))), None);
    let deferral = Some(NewDeferral {
        to: Some(minute(45)),
        ..next_slot(minute(3))
    });
    let note = Some("the budget has no room".to_owned());
    bench.finish(Finish {
        deferral,
        note,
        ..ended(run, Outcome::Yielded(YieldReason::Budget), minute(1))
    });
    let run = bench.run(run);
    assert_eq!(run.outcome, Some(Outcome::Yielded(YieldReason::Budget)));
    assert_eq!(run.finished_at, Some(minute(1)));
    assert_eq!(run.note.as_deref(), Some("the budget has no room"));
    assert_eq!(
        run.deferred,
        Some(DeferredTo {
            not_before: minute(3),
            to: Some(minute(45)),
            carries: 1
        })
    );
    assert_eq!(bench.slot_end(&slot("digest", minute(0))), run.outcome);
    assert_eq!(wait(bench.store.deferrals()).unwrap().len(), 1);
}

pub fn deferral_goes_to_a_later_slot_of_its_group(bench: &Bench) {
    bench.defer("digest", minute(0), next_slot(minute(20)));
    let (other, job) = (GroupId::new("archive"), JobId::new("review"));
    let elsewhere = PickupAt {
        group: &other,
        home: &other,
        job: Some(&job),
        fire_at: minute(30),
        skip: &[],
    };
    assert_eq!(
        wait(bench.store.take_deferral(elsewhere, minute(30))).unwrap(),
        None
    );
    assert_eq!(
        bench.take(Some("review"), minute(20) - TimeDelta::milliseconds(1)),
        None
    );
    let id = wait(bench.store.deferrals()).unwrap()[0].id;
    assert_eq!(bench.take_but(Some("review"), minute(20), &[id]), None);
    let taken = bench.take(Some("review"), minute(20)).unwrap();
    assert_eq!(
        (taken.deferral.id, taken.deferral.slot),
        (id, slot("digest", minute(0)))
    );
    // A slot never takes the work that yielded at its own instant, however soon the gate would open.
    bench.defer("digest", minute(50), next_slot(minute(50)));
    assert_eq!(bench.take(Some("review"), minute(50)), None);
    assert!(bench.take(None, minute(51)).is_some());
}

pub fn own_slot_deferral_waits_for_its_job(bench: &Bench) {
    bench.defer(
        "digest",
        minute(0),
        NewDeferral {
            rule: DeferRule::OwnSlot,
            ..next_slot(minute(1))
        },
    );
    assert_eq!(bench.take(Some("review"), minute(45)), None);
    assert_eq!(bench.take(None, minute(46)), None);
    assert!(bench.take(Some("digest"), minute(47)).is_some());
}

pub fn open_slot_deferral_waits_for_its_promise(bench: &Bench) {
    let open = NewDeferral {
        rule: DeferRule::OpenSlot,
        to: Some(minute(30)),
        ..next_slot(minute(1))
    };
    bench.defer("digest", minute(0), open.clone());
    assert_eq!(bench.take(Some("review"), minute(29)), None);
    assert!(bench.take(None, minute(30)).is_some());
    // With no instant to be promised, any slot will do: work is never lost.
    bench.defer("digest", minute(40), NewDeferral { to: None, ..open });
    assert!(bench.take(Some("review"), minute(45)).is_some());
}

pub fn oldest_slot_is_taken_first(bench: &Bench) {
    bench.defer("weekly", minute(2), next_slot(minute(3)));
    bench.defer("digest", minute(0), next_slot(minute(5)));
    bench.defer("review", minute(1), next_slot(minute(4)));
    let by_instant: Vec<_> = wait(bench.store.deferrals())
        .unwrap()
        .into_iter()
        .map(|found| found.slot.job)
        .collect();
    assert_eq!(by_instant, ["weekly", "review", "digest"].map(JobId::new));
    let taken = [(); 3].map(|()| bench.take(None, minute(45)).unwrap().deferral.slot.job);
    assert_eq!(taken, ["digest", "review", "weekly"].map(JobId::new));
}

pub fn taken_deferral_is_nobody_elses(bench: &Bench) {
    bench.defer("digest", minute(0), next_slot(minute(1)));
    let taken = bench.take(Some("review"), minute(45)).unwrap();
    assert_eq!(bench.take(None, minute(50)), None);
    assert_eq!(wait(bench.store.deferrals()).unwrap(), []);
    // Its job's next slot does not merge what is running already.
    bench.fire("digest", minute(60));
    assert_eq!(bench.run(taken.run).outcome, None);
}

pub fn carried_work_that_yields_again_waits_in_its_row(bench: &Bench) {
    bench.defer("digest", minute(0), next_slot(minute(1)));
    let taken = bench.take(Some("review"), minute(45)).unwrap();
    let again = NewDeferral {
        carries: 2,
        reason: YieldReason::Breaker,
        ..next_slot(minute(47))
    };
    bench.finish(Finish {
        deferral: Some(again.clone()),
        carried: Some(taken.deferral.id),
        ..ended(
            taken.run,
            Outcome::Yielded(YieldReason::Breaker),
            minute(46),
        )
    });
    let pending = wait(bench.store.deferrals()).unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!(
        (pending[0].id, &pending[0].wait),
        (taken.deferral.id, &again)
    );
    assert_eq!(bench.run(taken.run).deferred.unwrap().carries, 2);
    // The slot was recorded by its own run; the carrying run does not touch it.
    assert_eq!(
        bench.slot_end(&slot("digest", minute(0))),
        Some(Outcome::Yielded(YieldReason::Budget))
    );
    assert_eq!(
        bench.take(None, minute(90)).unwrap().deferral.id,
        taken.deferral.id
    );
}

pub fn carried_work_ends_with_its_run(bench: &Bench) {
    let ends = [
        Outcome::Succeeded,
        Outcome::Incomplete(IncompleteReason::Empty),
        Outcome::Failed(FailReason::CarriedTooOften),
        Outcome::Exhausted,
    ];
    for (night, outcome) in (0..).zip(ends) {
        let at = minute(night * 1440);
        bench.defer("digest", at, next_slot(at));
        let taken = bench.take(None, at + TimeDelta::minutes(45)).unwrap();
        let carried = Some(taken.deferral.id);
        bench.finish(Finish {
            carried,
            ..ended(taken.run, outcome.clone(), at + TimeDelta::minutes(46))
        });
        assert_eq!(
            bench.take(None, at + TimeDelta::minutes(90)),
            None,
            "{outcome}"
        );
        assert_eq!(
            wait(bench.store.recover(&[], at + TimeDelta::minutes(91))).unwrap(),
            [],
            "{outcome}"
        );
    }
    // A driver that forgets to name the deferral does not leave it behind.
    bench.defer("digest", minute(-600), next_slot(minute(-600)));
    let taken = bench.take(None, minute(-500)).unwrap();
    bench.finish(ended(taken.run, Outcome::Succeeded, minute(-499)));
    assert_eq!(bench.take(None, minute(-400)), None);
}

pub fn run_ends_once(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    let yielded = ended(run, Outcome::Yielded(YieldReason::Peak), minute(1));
    let yielded = Finish {
        deferral: Some(next_slot(minute(2))),
        ..yielded
    };
    bench.finish(yielded.clone());
    // The same end again: whoever asked was not told that it had been written.
    bench.finish(Finish {
        now: minute(2),
        ..yielded
    });
    assert_eq!(bench.run(run).finished_at, Some(minute(1)));
    assert_eq!(wait(bench.store.deferrals()).unwrap().len(), 1);
    let error = wait(
        bench
            .store
            .finish(ended(run, Outcome::Succeeded, minute(3))),
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("ended as `yielded: peak` already"),
        "{error}"
    );
    let error = wait(
        bench
            .store
            .finish(ended(RunId(999), Outcome::Succeeded, minute(3))),
    )
    .unwrap_err();
    assert!(error.to_string().contains("there is no run 999"), "{error}");
}

pub fn run_cannot_end_a_deferral_that_it_does_not_carry(bench: &Bench) {
    bench.defer("digest", minute(0), next_slot(minute(1)));
    let id = wait(bench.store.deferrals()).unwrap()[0].id;
    let run = bench.fire("review", minute(45));
    let finish = Finish {
        carried: Some(id),
        ..ended(run, Outcome::Succeeded, minute(46))
    };
    let error = wait(bench.store.finish(finish)).unwrap_err();
    assert!(error.to_string().contains("does not carry"), "{error}");
    assert_eq!(bench.run(run).outcome, None, "nothing was changed");
}

pub fn answer_is_kept_whole_unless_it_went_to_a_file(bench: &Bench) {
    let undelivered = bench.fire("digest", minute(0));
    let text = "第一行\nwith \0 and ' in it";
    let finish = ended(undelivered, Outcome::Failed(FailReason::Output), minute(1));
    bench.finish(Finish {
        answer: Some(answer(text)),
        cost_usd: Dollars::from_f64(0.125),
        ..finish
    });
    assert_eq!(bench.answer(undelivered).as_deref(), Some(text));
    let run = bench.run(undelivered);
    assert_eq!(
        (run.usage, run.stop_reason),
        (answer("").usage, Some(StopReason::EndTurn))
    );
    assert_eq!((run.cost_usd, run.output), (Dollars::from_f64(0.125), None));
    let delivered = bench.fire("digest", minute(45));
    let finish = ended(delivered, Outcome::Succeeded, minute(46));
    let uncounted = Answer {
        usage: None,
        stop_reason: StopReason::Other("novel".to_owned()),
        ..answer("text")
    };
    bench.finish(Finish {
        answer: Some(uncounted),
        output: Some("out/digest.md".into()),
        ..finish
    });
    assert_eq!(bench.answer(delivered), None);
    let run = bench.run(delivered);
    assert_eq!(run.output.as_deref(), Some(Path::new("out/digest.md")));
    assert_eq!(
        (run.usage, run.stop_reason),
        (None, Some(StopReason::Other("novel".to_owned())))
    );
}

pub fn crash_defers_what_was_running(bench: &Bench) {
    let quiet = bench.fire("digest", minute(0));
    let sending = bench.fire("review", minute(1));
    let between = bench.fire("weekly", minute(2));
    assert!(bench.admit(sending, 1, minute(1)).is_ok());
    let permit = bench.admit(between, 1, minute(2)).unwrap();
    bench.record(between, permit, minute(2), overloaded(1));
    let delivering = bench.fire("monthly", minute(3));
    let permit = bench.admit(delivering, 1, minute(3)).unwrap();
    let mut answered = overloaded(1);
    (answered.sample, answered.end.class) = (Some(Sample::Success), Some(Class::Success));
    bench.record(delivering, permit, minute(3), answered);
    let recovered = wait(bench.store.recover(&[], minute(10))).unwrap();
    assert_eq!(
        recovered.iter().map(|run| run.id).collect::<Vec<_>>(),
        [quiet, sending, between, delivering]
    );
    let notes = recovered
        .iter()
        .map(|run| run.note.clone().unwrap())
        .collect::<Vec<_>>();
    assert_eq!(
        notes,
        [
            "cut off before anything was sent",
            "cut off while attempt 1 was under way; it may have been billed",
            "cut off after attempt 1",
            "cut off after attempt 1 was answered and billed; the answer may have been delivered"
        ]
    );
    for run in &recovered {
        assert_eq!(run, &bench.run(run.id));
        assert_eq!(
            run.outcome,
            Some(Outcome::Yielded(YieldReason::Interrupted))
        );
        assert_eq!(run.finished_at, Some(minute(10)));
        assert_eq!(
            run.deferred,
            Some(DeferredTo {
                not_before: minute(10),
                to: None,
                carries: 1
            })
        );
        let own = Slot {
            fire_at: run.fire_at,
            job: run.job.clone(),
        };
        assert_eq!(bench.slot_end(&own), run.outcome);
    }
    let expected = NewDeferral {
        reason: YieldReason::Interrupted,
        ..next_slot(minute(10))
    };
    let pending = wait(bench.store.deferrals()).unwrap();
    assert!(
        pending.iter().all(|deferral| deferral.wait == expected),
        "{pending:?}"
    );
    assert_eq!(pending.len(), 4);
    assert_eq!(
        wait(bench.store.recover(&[], minute(11))).unwrap(),
        [],
        "once is enough"
    );
}

pub fn manual_runs_of_one_instant_are_two_slots(bench: &Bench) {
    // Cause: their work was one slot by name, so that `drop` and `retry` could not tell it apart.
    let ask = |job: &str| {
        let start = ManualStart {
            slot: slot(job, minute(0)),
            group: main_group(),
            model: String::new(),
            lease_until: minute(60),
        };
        let run = wait(bench.store.begin_manual(start)).unwrap();
        let yielded = ended(run, Outcome::Yielded(YieldReason::Budget), minute(1));
        bench.finish(Finish {
            deferral: Some(next_slot(minute(2))),
            ..yielded
        });
        bench.run(run)
    };
    let runs = ["digest", "digest", "review"].map(ask);
    let next = minute(0) + TimeDelta::milliseconds(1);
    assert_eq!(
        runs.each_ref().map(|run| run.fire_at),
        [minute(0), next, minute(0)]
    );
    assert_eq!(runs[1].started_at, minute(0));
    let waiting = wait(bench.store.deferrals()).unwrap();
    let slots: BTreeSet<Slot> = waiting.into_iter().map(|found| found.slot).collect();
    assert_eq!(slots.len(), 3);
}

pub fn crash_of_a_carrying_run_counts_one_carry(bench: &Bench) {
    let rule = DeferRule::OwnSlot;
    let waiting = NewDeferral {
        rule,
        carries: 2,
        origin: Origin::CatchUp,
        ..next_slot(minute(1))
    };
    bench.defer("digest", minute(0), waiting);
    let taken = bench.take(Some("digest"), minute(45)).unwrap();
    let recovered = wait(bench.store.recover(&[], minute(50))).unwrap();
    assert_eq!(
        recovered.iter().map(|run| run.id).collect::<Vec<_>>(),
        [taken.run]
    );
    let pending = wait(bench.store.deferrals()).unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].id, taken.deferral.id);
    let (reason, origin) = (YieldReason::Interrupted, Origin::CatchUp);
    let expected = NewDeferral {
        rule,
        carries: 3,
        reason,
        origin,
        ..next_slot(minute(50))
    };
    assert_eq!(pending[0].wait, expected);
}

pub fn runs_that_go_on_are_not_recovered(bench: &Bench) {
    let going = bench.fire("digest", minute(0));
    let lost = bench.fire("review", minute(1));
    let recovered = wait(bench.store.recover(&[going], minute(2))).unwrap();
    let ids: Vec<_> = recovered.iter().map(|run| run.id).collect();
    assert_eq!(ids, [lost]);
    assert_eq!(bench.run(going).outcome, None);
}

/// The answer to a record may be lost, and it is told again: one 401 was two strikes, and held the group for good.
pub fn attempt_ends_once(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    let Permit { generation, probe } = bench.admit(run, 1, second(0)).unwrap();
    for _told in ["not heard of", "again"] {
        let hold = Hold {
            cause: HoldCause::Authentication,
            until: None,
            since: second(1),
            note: "the key was refused".to_owned(),
        };
        let told = Tell {
            hold: Some(hold),
            ..overloaded(1)
        };
        bench.record(run, Permit { generation, probe }, second(1), told);
    }
    assert!(bench.admit(run, 2, second(2)).is_ok());
    bench.audit();
}

pub fn manual_run_is_given_up_after_its_lease(bench: &Bench) {
    let start = ManualStart {
        slot: slot("digest", minute(0)),
        group: main_group(),
        model: "claude-sonnet-5-5".to_owned(),
        lease_until: minute(30),
    };
    let run = wait(bench.store.begin_manual(start)).unwrap();
    let begun = bench.run(run);
    assert_eq!(
        (begun.origin, begun.started_at),
        (Origin::Manual, minute(0))
    );
    assert_eq!(
        wait(
            bench
                .store
                .recover(&[], minute(30) - TimeDelta::milliseconds(1))
        )
        .unwrap(),
        []
    );
    let given_up = wait(bench.store.recover(&[], minute(30))).unwrap();
    assert_eq!(given_up.len(), 1);
    assert_eq!(
        given_up[0].outcome,
        Some(Outcome::Failed(FailReason::Interrupted))
    );
    assert_eq!(
        wait(bench.store.deferrals()).unwrap(),
        [],
        "a person asks again if they still want it"
    );
    // It was only slow: what really happened is what the history says.
    bench.finish(ended(run, Outcome::Succeeded, minute(31)));
    assert_eq!(bench.run(run).outcome, Some(Outcome::Succeeded));
    // Its instant is no slot of the schedule.
    assert_eq!(
        bench
            .claim(minute(40), vec![claim("digest", minute(0), Fate::Fire)])
            .len(),
        1
    );
}

pub fn attempt_is_on_record_before_it_is_sent(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    let permit = bench.admit(run, 1, second(2)).unwrap();
    let sent = bench.run(run).attempts;
    assert_eq!(sent.len(), 1);
    assert_eq!(
        (sent[0].n, sent[0].started_at, sent[0].end.clone()),
        (1, second(2), None)
    );
    assert_eq!(sent[0].wait, Duration::from_millis(1500));
    bench.record(run, permit, second(3), overloaded(1));
    let permit = bench.admit(run, 2, second(5)).unwrap();
    bench.record(run, permit, second(6), cancelled(2));
    let ends: Vec<_> = bench
        .run(run)
        .attempts
        .into_iter()
        .map(|attempt| attempt.end.unwrap())
        .collect();
    assert_eq!(ends, [overloaded(1).end, cancelled(2).end]);
}

pub fn refused_attempt_leaves_no_trace(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    for n in 1..=5 {
        assert!(bench.admit(run, n, second(0)).is_ok());
    }
    let refusal = bench.admit(run, 6, second(1)).unwrap_err();
    assert_eq!(
        (refusal.reason, refusal.until),
        (YieldReason::Budget, Some(second(10)))
    );
    assert_eq!(bench.run(run).attempts.len(), 5);
    assert!(bench.admit(run, 6, second(10)).is_ok());
}

pub fn attempt_that_waited_for_the_row_counts_from_when_it_had_it(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    for n in 1..=4 {
        assert!(bench.admit(run, n, second(5)).is_ok());
    }
    // Asked first, admitted last: the four must not be dated back to it.
    assert!(bench.admit(run, 5, second(3)).is_ok());
    assert_eq!(bench.run(run).attempts[4].started_at, second(5));
    let refusal = bench.admit(run, 6, second(14)).unwrap_err();
    assert_eq!(refusal.until, Some(second(15)));
    assert!(bench.admit(run, 6, second(15)).is_ok());
}

pub fn clock_that_was_set_back_is_believed(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    assert!(bench.admit(run, 1, minute(0)).is_ok());
    assert!(bench.admit(run, 2, minute(-2)).is_ok());
    assert_eq!(bench.run(run).attempts[1].started_at, minute(-2));
}

pub fn failing_samples_open_the_breaker_to_one_probe(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    for n in 1..=2 {
        let permit = bench.admit(run, n, second(0)).unwrap();
        bench.record(run, permit, second(1), overloaded(n));
    }
    let refusal = bench.admit(run, 3, second(2)).unwrap_err();
    assert_eq!(
        (refusal.reason, refusal.until),
        (YieldReason::Breaker, Some(second(61)))
    );
    let probe = bench.admit(run, 3, second(61)).unwrap();
    assert_eq!(
        bench.admit(run, 4, second(62)).unwrap_err().reason,
        YieldReason::Breaker
    );
    let well = Tell {
        sample: Some(Sample::Success),
        ..cancelled(3)
    };
    bench.record(run, probe, second(63), well);
    assert!(bench.admit(run, 4, second(64)).is_ok());
}

pub fn cancelled_attempt_gives_its_probe_back(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    for n in 1..=2 {
        let permit = bench.admit(run, n, second(0)).unwrap();
        bench.record(run, permit, second(1), overloaded(n));
    }
    let probe = bench.admit(run, 3, second(61)).unwrap();
    bench.record(run, probe, second(62), cancelled(3));
    assert!(bench.admit(run, 4, second(63)).is_ok());
}

pub fn hold_is_placed_with_the_record(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    let permit = bench.admit(run, 1, second(0)).unwrap();
    let hold = Hold {
        cause: HoldCause::Hint,
        until: Some(second(300)),
        since: second(1),
        note: "the server asked for 299 s".to_owned(),
    };
    let told = Tell {
        hold: Some(hold),
        ..overloaded(1)
    };
    bench.record(run, permit, second(1), told);
    let refusal = bench.admit(run, 2, second(299)).unwrap_err();
    assert_eq!(refusal.until, Some(second(300)));
    assert!(bench.admit(run, 2, second(300)).is_ok());
}

pub fn attempt_of_no_run_spends_nothing(bench: &Bench) {
    for n in 1..=6 {
        let error = wait(admit(&*bench.store, RunId(999), n, second(0))).unwrap_err();
        assert!(
            error.to_string().contains("run 999 is not under way"),
            "{error}"
        );
    }
    let run = bench.fire("digest", minute(0));
    for n in 1..=5 {
        assert!(bench.admit(run, n, second(1)).is_ok(), "attempt {n}");
    }
    assert_eq!(bench.run(run).attempts.len(), 5);
}

pub fn nothing_is_sent_for_a_run_that_has_ended(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    bench.finish(ended(run, Outcome::Succeeded, second(1)));
    let error = wait(admit(&*bench.store, run, 1, second(2))).unwrap_err();
    assert!(error.to_string().contains("is not under way"), "{error}");
    assert_eq!(bench.run(run).attempts, []);
    let other = bench.fire("review", minute(1));
    assert!(bench.admit(other, 1, minute(1)).is_ok());
}

pub fn what_became_of_a_deferral_is_on_record(bench: &Bench) {
    use DeferralState::{Done, Failed, Merged, Pending, Running};
    for (job, at) in ["done", "failed", "running", "merged", "pending"]
        .iter()
        .zip(0..)
    {
        bench.defer(job, minute(at), next_slot(minute(10)));
    }
    let taken = [(); 3].map(|()| bench.take(None, minute(20)).unwrap());
    bench.finish(ended(taken[0].run, Outcome::Succeeded, minute(21)));
    bench.finish(ended(taken[1].run, Outcome::Exhausted, minute(22)));
    let by = bench.fire("merged", minute(30));
    let records = bench.all_deferrals();
    let found = records
        .iter()
        .map(|record| (record.state, record.run, record.ended_at));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            (Done, Some(taken[0].run), Some(minute(21))),
            (Failed, Some(taken[1].run), Some(minute(22))),
            (Running, Some(taken[2].run), None),
            (Merged, Some(by), Some(minute(30))),
            (Pending, None, None),
        ]
    );
    assert_eq!(records[0].deferral, taken[0].deferral);
}

/// A clock that was a year ahead for a minute once used up a year's slots.
pub fn slot_recorded_ahead_is_claimed_anew_once_the_clock_was_set_back(bench: &Bench) {
    let day = 24 * 60;
    let missed = || Fate::Skip(SkipReason::Missed);
    let ahead = vec![
        claim("digest", minute(day), missed()),
        claim("review", minute(day), Fate::Fire),
        claim(
            "weekly",
            minute(day),
            Fate::CatchUp(missed_wait(minute(2 * day))),
        ),
    ];
    bench.claim(minute(2 * day), ahead);
    wait(bench.store.rewind(minute(0))).unwrap();
    assert_eq!(wait(bench.store.watermark()).unwrap(), Some(minute(0)));
    let again = ["digest", "review", "weekly"].map(|job| claim(job, minute(day), Fate::Fire));
    let claimed = bench.claim(minute(day), again.to_vec());
    let jobs: Vec<&str> = claimed.iter().map(|it| it.slot.job.as_str()).collect();
    assert_eq!(
        jobs,
        ["digest", "weekly"],
        "what was sent is not sent again"
    );
    assert_eq!(wait(bench.store.deferrals()).unwrap(), []);
    let of_digest = bench.runs();
    let of_digest = of_digest.iter().filter(|run| run.job.as_str() == "digest");
    assert_eq!(of_digest.count(), 1);
}

fn missed_wait(not_before: DateTime<Utc>) -> NewDeferral {
    NewDeferral {
        carries: 0,
        reason: YieldReason::Missed,
        origin: Origin::CatchUp,
        ..next_slot(not_before)
    }
}

pub fn rewind_goes_back_to_what_the_clock_ahead_decided_and_frees_what_waits(bench: &Bench) {
    let day = 24 * 60;
    bench.claim(minute(0), vec![claim("review", minute(0), Fate::Fire)]);
    let run = bench.runs()[0].id;
    let finish = ended(run, Outcome::Yielded(YieldReason::Budget), minute(day));
    wait(bench.store.finish(Finish {
        deferral: Some(next_slot(minute(day))),
        ..finish
    }))
    .unwrap();
    let missed = vec![claim("digest", minute(10), Fate::Skip(SkipReason::Missed))];
    bench.claim(minute(day), missed);
    wait(bench.store.rewind(minute(60))).unwrap();
    let watermark = wait(bench.store.watermark()).unwrap().unwrap();
    assert_eq!(watermark, minute(10) - TimeDelta::seconds(1));
    let waiting = wait(bench.store.deferrals()).unwrap();
    assert_eq!(waiting[0].wait.not_before, minute(60));
}

pub fn starts_of_schedules_are_skipped_ahead_and_never_back(bench: &Bench) {
    let plan = [named("digest", "0 5"), named("review", "0 6")];
    wait(bench.store.adopt(&plan, minute(10))).unwrap();
    let skips = [
        ("digest".to_owned(), minute(20)),
        ("review".to_owned(), minute(5)),
    ];
    wait(bench.store.skip(&skips)).unwrap();
    let starts: Vec<_> = wait(bench.store.schedules())
        .unwrap()
        .into_iter()
        .map(|row| (row.name, row.fingerprint, row.starts_at))
        .collect();
    let digest = ("digest".to_owned(), "0 5".to_owned(), minute(20));
    let review = ("review".to_owned(), "0 6".to_owned(), minute(10));
    assert_eq!(starts, [digest, review]);
}
