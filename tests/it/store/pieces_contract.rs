//! What both stores promise of answers, items and deliveries.

use std::sync::Arc;

use offpeak::engine::ports::{
    After, Brought, Collected, Delivery, DeliveryEnd, HandedIn, Offer, PieceEnd, Progress,
    Redelivered, Role,
};
use offpeak::guard::Bill;
use offpeak::job::{KeyId, Which};
use offpeak::money::Dollars;
use offpeak::outcome::{FailReason, SkipReason};
use offpeak::piece::Item;

use super::*;

fn name(item: Option<&str>, step: u32) -> CallName {
    CallName {
        item: item.map(Arc::from),
        step,
        part: 1,
    }
}

fn item(name: &str, mark: &str) -> Item {
    Item {
        name: name.to_owned(),
        key: name.to_owned(),
        mark: mark.to_owned(),
        text: Some(format!("text of {name}")),
    }
}

fn names(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.name.as_str()).collect()
}

fn due(minutes: i64) -> Slot {
    slot("digest", minute(minutes))
}

/// One attempt of a call that brings an answer.
fn bring(bench: &Bench, run: RunId, call: &CallName, text: &str, role: Role) {
    let (group, now) = (main_group(), minute(1));
    let ask = Ask {
        run,
        call,
        model: "claude-test",
        group: &group,
        policy: &policy(),
        n: 1,
        wait: Duration::ZERO,
        lease: Duration::from_secs(30),
        reserve: None,
        now,
    };
    let permit = wait(bench.store.admit(ask)).unwrap().unwrap();
    let mut end = overloaded(1).end;
    (end.class, end.usage) = (Some(Class::Success), None);
    let answer = answer(text);
    let told = Told {
        run,
        call,
        group: &group,
        policy: &policy(),
        n: 1,
        permit,
        sample: Some(Sample::Success),
        hold: None,
        bill: Bill::default(),
        batch: None,
        cost_usd: Dollars::from_f64(0.25),
        end,
        answer: Some(Brought {
            answer: &answer,
            role,
        }),
        now,
    };
    wait(bench.store.record(told)).unwrap();
}

fn split(bench: &Bench, slot: &Slot, items: &[Item], which: Which) -> Vec<Item> {
    let offer = Offer {
        items,
        which,
        limit: None,
    };
    wait(bench.store.split(slot, offer, minute(1))).unwrap()
}

fn settle(bench: &Bench, run: RunId, slot: &Slot, item: &str, outcome: Outcome) {
    let end = PieceEnd {
        run,
        slot: slot.clone(),
        item: Arc::from(item),
        outcome,
        note: None,
        delivery: None,
        now: minute(2),
    };
    wait(bench.store.settle(end)).unwrap();
}

fn progress(bench: &Bench, slot: &Slot) -> Progress {
    wait(bench.store.progress(slot, Which::All)).unwrap()
}

fn owed(bench: &Bench) -> Vec<Delivery> {
    wait(bench.store.deliveries()).unwrap()
}

fn again(at: DateTime<Utc>) -> DeliveryEnd {
    DeliveryEnd {
        placed: 1,
        output: Some("out/a.md".into()),
        then: After::Again(at, "no room".to_owned()),
    }
}

fn done() -> DeliveryEnd {
    DeliveryEnd {
        placed: 1,
        output: Some("out/a.md".into()),
        then: After::Done,
    }
}

fn redelivered(bench: &Bench, id: i64, end: DeliveryEnd) {
    let now = minute(9);
    wait(bench.store.redelivered(Redelivered { id, end, now })).unwrap();
}

pub fn answers_of_many_calls_are_added_up(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    bench_bring_two(bench, run);
    let known = bench.run(run);
    assert_eq!(known.attempts.len(), 2);
    assert_eq!(known.attempts[1].call, name(None, 2));
    assert_eq!(known.usage.map(|usage| usage.input_tokens), Some(22));
    assert_eq!(known.cost_usd, Dollars::from_f64(0.5));
    bench.audit();
}

fn bench_bring_two(bench: &Bench, run: RunId) {
    bring(bench, run, &name(None, 1), "outline", Role::Step);
    bring(bench, run, &name(None, 2), "draft", Role::Owed);
}

pub fn answers_of_steps_are_known_to_later_runs_and_dropped_at_the_end(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    bring(bench, run, &name(None, 1), "outline", Role::Step);
    bench.finish(Finish {
        deferral: Some(next_slot(minute(1))),
        ..ended(run, Outcome::Yielded(YieldReason::Budget), minute(1))
    });
    let known = progress(bench, &due(0));
    assert_eq!((known.open, known.of), (None, 0));
    assert_eq!(known.steps.len(), 1);
    assert_eq!(
        (known.steps[0].step, known.steps[0].text.as_str()),
        (1, "outline")
    );
    let taken = bench.take(None, minute(45)).unwrap();
    bench.finish(Finish {
        carried: Some(taken.deferral.id),
        ..ended(taken.run, Outcome::Succeeded, minute(46))
    });
    assert_eq!(progress(bench, &due(0)).steps, []);
}

pub fn slot_is_split_once(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    let first = [item("a", "1"), item("b", "1")];
    assert_eq!(
        names(&split(bench, &due(0), &first, Which::All)),
        ["a", "b"]
    );
    let later = [item("z", "1")];
    let kept = split(bench, &due(0), &later, Which::All);
    assert_eq!(kept, first);
    settle(bench, run, &due(0), "a", Outcome::Succeeded);
    let known = progress(bench, &due(0));
    assert_eq!(names(&known.open.unwrap()), ["b"]);
    assert_eq!(known.of, 2);
}

pub fn item_that_succeeded_as_it_is_is_not_taken_again(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    let items = [item("a", "1"), item("b", "1"), item("c", "1")];
    let changed = Which::ChangedSinceSuccess;
    split(bench, &due(0), &items, changed);
    settle(bench, run, &due(0), "a", Outcome::Succeeded);
    settle(bench, run, &due(0), "b", Outcome::Failed(FailReason::Fatal));
    bench.finish(ended(run, Outcome::Failed(FailReason::Fatal), minute(3)));
    let items = [
        item("a", "1"),
        item("b", "1"),
        item("c", "1"),
        item("d", "1"),
    ];
    // What was cut short was never tried as it is; what failed comes last.
    let next = split(bench, &due(45), &items, changed);
    assert_eq!(names(&next), ["c", "d", "b"]);
    let again = split(bench, &due(90), &[item("a", "2")], changed);
    assert_eq!(names(&again), ["a"]);
}

pub fn items_that_a_run_leaves_for_good_have_its_outcome(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    split(bench, &due(0), &[item("a", "1")], Which::All);
    bench.finish(ended(run, Outcome::Failed(FailReason::Expired), minute(3)));
    assert_eq!(progress(bench, &due(0)).open, Some(Vec::new()));
}

pub fn items_that_were_left_go_first_in_the_next_slot_and_are_merged_into_none(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    let items = [item("a", "1"), item("b", "1")];
    let changed = Which::ChangedSinceSuccess;
    split(bench, &due(0), &items, changed);
    bench.finish(Finish {
        deferral: Some(next_slot(minute(1))),
        ..ended(run, Outcome::Yielded(YieldReason::Budget), minute(1))
    });
    bench.fire("digest", minute(45));
    let merged = bench
        .runs()
        .into_iter()
        .any(|run| run.outcome == Some(Outcome::Skipped(SkipReason::Merged)));
    assert!(!merged);
    assert_eq!(names(&progress(bench, &due(0)).open.unwrap()), ["a", "b"]);
    let now = [item("0", "1"), item("a", "1"), item("b", "1")];
    assert_eq!(
        names(&split(bench, &due(45), &now, changed)),
        ["a", "b", "0"]
    );
}

pub fn answer_is_owed_from_its_record_on(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    bring(bench, run, &name(None, 1), "text", Role::Owed);
    assert_eq!(owed(bench), [], "its run is at it");
    let recovered = wait(bench.store.recover(&[], minute(5))).unwrap();
    assert_eq!(
        recovered[0].outcome,
        Some(Outcome::Failed(FailReason::Output))
    );
    assert_eq!(
        recovered[0].deferred, None,
        "no further call is made for it"
    );
    let waiting = owed(bench);
    assert_eq!(waiting.len(), 1);
    assert_eq!((waiting[0].run, waiting[0].slot.clone()), (run, due(0)));
    assert_eq!(
        (waiting[0].answer.clone(), waiting[0].tries),
        (answer("text"), 0)
    );
    redelivered(bench, waiting[0].id, done());
    assert_eq!(bench.run(run).outcome, Some(Outcome::Succeeded));
    assert_eq!(bench.answer(run), None);
    bench.audit();
}

pub fn delivered_answer_amends_run_slot_and_item(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    split(
        bench,
        &due(0),
        &[item("a", "1"), item("b", "1")],
        Which::All,
    );
    bring(bench, run, &name(Some("a"), 1), "text", Role::Owed);
    let end = PieceEnd {
        run,
        slot: due(0),
        item: Arc::from("a"),
        outcome: Outcome::Failed(FailReason::Output),
        note: None,
        delivery: Some(again(minute(3))),
        now: minute(2),
    };
    wait(bench.store.settle(end)).unwrap();
    settle(bench, run, &due(0), "b", Outcome::Succeeded);
    bench.finish(ended(run, Outcome::Failed(FailReason::Output), minute(3)));
    let waiting = owed(bench);
    assert_eq!((waiting[0].tries, waiting[0].placed), (1, 1));
    assert_eq!(waiting[0].not_before, minute(3));
    assert_eq!(waiting[0].item, Some(item("a", "1")));
    redelivered(bench, waiting[0].id, again(minute(20)));
    assert_eq!(owed(bench)[0].not_before, minute(20));
    redelivered(bench, waiting[0].id, done());
    assert_eq!(owed(bench), []);
    let known = bench.run(run);
    assert_eq!(known.outcome, Some(Outcome::Succeeded));
    let note = known.note.unwrap();
    assert!(note.starts_with("delivered on try 3"), "{note}");
    bench.audit();
    // Told twice, it counts once.
    redelivered(bench, waiting[0].id, again(minute(30)));
    assert_eq!(owed(bench), []);
}

pub fn answer_that_is_given_up_stays_in_the_store(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    bring(bench, run, &name(None, 1), "text", Role::Owed);
    bench.finish(Finish {
        answer: Some(answer("text")),
        delivery: Some(again(minute(3))),
        ..ended(run, Outcome::Failed(FailReason::Output), minute(2))
    });
    let id = owed(bench)[0].id;
    let end = DeliveryEnd {
        then: After::GiveUp("no room".to_owned()),
        ..again(minute(3))
    };
    redelivered(bench, id, end);
    assert_eq!(owed(bench), []);
    assert_eq!(bench.answer(run).as_deref(), Some("text"));
    let note = bench.run(run).note.unwrap();
    assert_eq!(
        note,
        "no room; after 2 tries the answer is left in the store"
    );
    assert_eq!(
        bench.run(run).outcome,
        Some(Outcome::Failed(FailReason::Output))
    );
}

pub fn answer_whose_record_failed_is_owed_from_the_end_of_its_run(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    bench.finish(Finish {
        answer: Some(answer("text")),
        delivery: Some(again(minute(3))),
        ..ended(run, Outcome::Failed(FailReason::Output), minute(2))
    });
    assert_eq!(owed(bench)[0].answer.text, "text");
}

/// An attempt that handed a batch in.
fn hand_in(bench: &Bench, run: RunId, parts: Vec<Option<Arc<str>>>) {
    let (group, call) = (main_group(), name(None, 0));
    let ask = Ask {
        run,
        call: &call,
        model: "claude-test",
        group: &group,
        policy: &policy(),
        n: 1,
        wait: Duration::ZERO,
        lease: Duration::from_secs(30),
        reserve: None,
        now: minute(1),
    };
    let permit = wait(bench.store.admit(ask)).unwrap().unwrap();
    let told = Told {
        run,
        call: &call,
        group: &group,
        policy: &policy(),
        n: 1,
        permit,
        sample: Some(Sample::Success),
        hold: None,
        bill: Bill::default(),
        end: cancelled(1).end,
        answer: None,
        batch: Some(HandedIn {
            id: "msgbatch_1".to_owned(),
            key: KeyId::new("main"),
            expires_at: minute(1440),
            look_at: minute(6),
            parts,
        }),
        cost_usd: None,
        now: minute(1),
    };
    wait(bench.store.record(told)).unwrap();
}

pub fn run_that_waits_for_a_batch_is_left_open_by_a_crash(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    let parts = vec![Some(Arc::from("a")), None];
    hand_in(bench, run, parts.clone());
    assert_eq!(wait(bench.store.recover(&[], minute(5))).unwrap(), []);
    let open = wait(bench.store.batches()).unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!((open[0].run, open[0].slot.clone()), (run, due(0)));
    assert_eq!((open[0].looks, open[0].batch.parts.clone()), (0, parts));
    assert_eq!(open[0].batch.expires_at, minute(1440));
    wait(bench.store.looked(run, minute(16))).unwrap();
    let open = wait(bench.store.batches()).unwrap();
    assert_eq!((open[0].looks, open[0].batch.look_at), (1, minute(16)));
    bench.finish(ended(run, Outcome::Succeeded, minute(17)));
    assert_eq!(wait(bench.store.batches()).unwrap(), []);
    bench.audit();
}

pub fn answer_of_a_batch_is_taken_down_once_and_owed(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    hand_in(bench, run, vec![None]);
    let (call, text) = (name(None, 1), answer("text"));
    for _ in 0..2 {
        let collected = Collected {
            run,
            call: &call,
            answer: Brought {
                answer: &text,
                role: Role::Owed,
            },
            cost_usd: Dollars::from_f64(0.5),
            now: minute(2),
        };
        wait(bench.store.collect(collected)).unwrap();
    }
    let known = bench.run(run);
    assert_eq!(known.cost_usd, Dollars::from_f64(0.5));
    assert_eq!(known.usage.map(|usage| usage.input_tokens), Some(11));
    bench.finish(Finish {
        answer: Some(answer("text")),
        delivery: Some(done()),
        output: Some("out/a.md".into()),
        ..ended(run, Outcome::Succeeded, minute(3))
    });
    assert_eq!(bench.answer(run), None);
    assert_eq!(owed(bench), []);
}

pub fn slot_knows_how_the_worst_of_its_items_ended(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    let items = [item("a", "1"), item("b", "1"), item("c", "1")];
    split(bench, &due(0), &items, Which::All);
    assert_eq!(progress(bench, &due(0)).worst, None);
    settle(bench, run, &due(0), "a", Outcome::Succeeded);
    settle(bench, run, &due(0), "b", Outcome::Failed(FailReason::Fatal));
    let worst = progress(bench, &due(0)).worst;
    assert_eq!(worst, Some(Outcome::Failed(FailReason::Fatal)));
}

pub fn item_whose_answer_is_on_its_way_counts_as_not_delivered_until_it_is_there(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    split(bench, &due(0), &[item("a", "1")], Which::All);
    bring(bench, run, &name(Some("a"), 1), "text", Role::Owed);
    let known = progress(bench, &due(0));
    assert_eq!(known.open, Some(Vec::new()));
    assert_eq!(known.worst, Some(Outcome::Failed(FailReason::Output)));
    // A crash; a later run finds nothing to do and ends.
    wait(bench.store.recover(&[], minute(2))).unwrap();
    let taken = bench.take(None, minute(45)).unwrap();
    bench.finish(Finish {
        carried: Some(taken.deferral.id),
        ..ended(taken.run, Outcome::Failed(FailReason::Output), minute(46))
    });
    let id = owed(bench)[0].id;
    let told = Redelivered {
        id,
        end: done(),
        now: minute(50),
    };
    let counts = wait(bench.store.redelivered(told)).unwrap();
    assert_eq!(counts, Some(Outcome::Succeeded));
    assert_eq!(bench.run(taken.run).outcome, Some(Outcome::Succeeded));
    bench.audit();
}

pub fn item_whose_answer_is_on_its_way_is_not_asked_for_by_the_next_slot(bench: &Bench) {
    let run = bench.fire("digest", minute(0));
    let (items, changed) = ([item("a", "1")], Which::ChangedSinceSuccess);
    split(bench, &due(0), &items, changed);
    bring(bench, run, &name(Some("a"), 1), "text", Role::Owed);
    let end = PieceEnd {
        run,
        slot: due(0),
        item: Arc::from("a"),
        outcome: Outcome::Failed(FailReason::Output),
        note: None,
        delivery: Some(again(minute(3))),
        now: minute(2),
    };
    wait(bench.store.settle(end)).unwrap();
    bench.finish(ended(run, Outcome::Failed(FailReason::Output), minute(3)));
    assert_eq!(split(bench, &due(45), &items, changed), []);
    // Given up, it is asked for again.
    let end = DeliveryEnd {
        then: After::GiveUp("no room".to_owned()),
        ..again(minute(3))
    };
    redelivered(bench, owed(bench)[0].id, end);
    assert_eq!(names(&split(bench, &due(90), &items, changed)), ["a"]);
}

pub fn item_that_another_slot_has_done_as_it_is_is_left_out(bench: &Bench) {
    let (items, changed) = ([item("a", "1"), item("b", "1")], Which::ChangedSinceSuccess);
    bench.fire("digest", minute(0));
    split(bench, &due(0), &items, changed);
    let later = bench.fire("digest", minute(45));
    split(bench, &due(45), &items, changed);
    settle(bench, later, &due(45), "a", Outcome::Succeeded);
    let open = |which| {
        wait(bench.store.progress(&due(0), which))
            .unwrap()
            .open
            .unwrap()
    };
    assert_eq!(names(&open(changed)), ["b"]);
    assert_eq!(names(&open(Which::All)), ["b"]);
}

pub fn persons_run_that_was_killed_leaves_no_item_behind(bench: &Bench) {
    let start = offpeak::engine::ports::ManualStart {
        slot: slot("digest", minute(0)),
        group: main_group(),
        model: "claude-test".to_owned(),
        lease_until: minute(5),
    };
    wait(bench.store.begin_manual(start)).unwrap();
    let (items, changed) = ([item("a", "1")], Which::ChangedSinceSuccess);
    split(bench, &due(0), &items, changed);
    wait(bench.store.recover(&[], minute(10))).unwrap();
    assert_eq!(progress(bench, &due(0)).open, Some(Vec::new()));
}
