//! Message batches: handed in as one, looked at through restarts, and sorted out part by part.

use std::time::Duration;

use offpeak::answer::{FailureKind, SendFailure};
use offpeak::engine::PlannedJob;
use offpeak::engine::ports::{BatchOutcome, BatchPart};
use offpeak::job::{ForEach, Handing, ItemSource, Which};
use offpeak::outcome::{Outcome, Run};
use offpeak::piece::Item;
use offpeak::sim::{SimBatches, SimPlan, SimUpstream, VirtualClock};

use super::harness::{House, job, rotation, single};

const HOUR: Duration = Duration::from_hours(1);

fn as_batch(planned: &mut PlannedJob) {
    planned.job.handing = Handing::Batch;
}

fn each(planned: &mut PlannedJob) {
    planned.job.for_each = Some(ForEach {
        source: ItemSource::Files {
            folder: "/docs".into(),
            pattern: "*.md".to_owned(),
        },
        which: Which::ChangedSinceSuccess,
        limit: None,
    });
}

fn items(names: &[&str]) -> Vec<Item> {
    let item = |name: &&str| Item {
        name: (*name).to_owned(),
        key: (*name).to_owned(),
        mark: "1".to_owned(),
        text: None,
    };
    names.iter().map(item).collect()
}

/// A house whose job `a` is handed in as batches.
fn house(plan: SimPlan, batches: impl FnOnce(&VirtualClock) -> SimBatches) -> (House, SimBatches) {
    let plan = plan.with_job("a", as_batch).build();
    let mut kept = None;
    let house = House::new("2026-12-01T16:50", plan, |clock| {
        let batches = batches(clock);
        kept = Some(batches.clone());
        SimUpstream::healthy(clock).with_batches(batches)
    });
    (house, kept.unwrap())
}

fn of_a(house: &House) -> Vec<Run> {
    let runs = house.store.runs().into_iter();
    runs.filter(|run| run.job == job("a")).collect()
}

fn outcomes(house: &House) -> Vec<String> {
    let outcome = |run: Run| run.outcome.map_or("open".to_owned(), |it| it.to_string());
    of_a(house).into_iter().map(outcome).collect()
}

fn part(
    outcome: impl Fn(&BatchPart) -> BatchOutcome + Send + 'static,
) -> impl FnOnce(&VirtualClock) -> SimBatches {
    move |clock| SimBatches::new(clock, HOUR, move |part| outcome(part))
}

#[test]
fn a_slot_is_handed_in_and_its_answer_collected_when_it_is_there() {
    let (house, batches) = house(rotation(), |clock| SimBatches::healthy(clock, HOUR));
    house.live_until("2026-12-01T17:30");
    assert_eq!(outcomes(&house), ["open"]);
    assert_eq!(house.sends(), Vec::<String>::new());
    house.live_until("2026-12-01T18:30");
    assert_eq!(outcomes(&house), ["succeeded"]);
    assert_eq!(batches.handed_in().len(), 1);
    assert_eq!(batches.handed_in()[0].parts[0].name, "p1");
    // After five minutes, and then every ten.
    assert_eq!(batches.looks(), 7);
    assert_eq!(house.sends(), ["b@17:45:00"]);
    let run = of_a(&house).remove(0);
    assert_eq!(run.usage.map(|usage| usage.input_tokens), Some(100));
    house.audit();
}

#[test]
fn a_batch_survives_restarts_and_is_handed_in_once() {
    let (house, batches) = house(rotation(), |clock| SimBatches::healthy(clock, HOUR));
    for minute in ["17:01", "17:07", "17:40", "18:02", "18:40"] {
        house.live_until(&format!("2026-12-01T{minute}"));
    }
    assert_eq!(outcomes(&house), ["succeeded"]);
    assert_eq!(batches.handed_in().len(), 1);
    let delivered = house.workspace.delivered().into_iter();
    assert_eq!(
        delivered.filter(|(slot, _)| slot.job == job("a")).count(),
        1
    );
    house.audit();
}

#[test]
fn the_next_slot_of_a_job_whose_batch_is_out_is_skipped_as_overlap() {
    let (house, _) = house(single(), |clock| SimBatches::healthy(clock, 30 * HOUR));
    house.live_until("2026-12-02T16:59");
    house.live_until("2026-12-02T17:01");
    assert_eq!(outcomes(&house)[1..], ["skipped: overlap"]);
}

#[test]
fn nobody_looks_at_a_batch_in_a_peak_window() {
    // 09:00 UTC is 18:00 in Tokyo, and the window ends at 23:00.
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let plan = plan.job("a", "main", &["40 17 * * *"]).unwrap();
    let plan = plan.with_job("a", as_batch).build();
    let mut kept = None;
    let house = House::new("2026-12-01T08:00", plan, |clock| {
        let batches = SimBatches::healthy(clock, HOUR);
        kept = Some(batches.clone());
        SimUpstream::healthy(clock).with_batches(batches)
    });
    let batches: SimBatches = kept.unwrap();
    house.live_until("2026-12-01T13:59");
    let looks = batches.looks();
    assert!(looks <= 2, "{looks} looks before the window");
    assert_eq!(outcomes(&house), ["open"]);
    house.live_until("2026-12-01T14:20");
    assert_eq!(outcomes(&house), ["succeeded"]);
}

#[test]
fn each_part_has_its_own_outcome_and_one_bad_line_loses_nothing() {
    let (house, batches) = house(
        rotation().with_job("a", each),
        part(|part| match part.name.as_str() {
            "p1" => SimBatches::answer("one"),
            "p2" => BatchOutcome::Errored(SendFailure {
                status: Some(400),
                error_type: Some("invalid_request_error".to_owned()),
                ..SendFailure::new(FailureKind::Status, "too long")
            }),
            "p3" => BatchOutcome::Unreadable("not JSON".to_owned()),
            _ => SimBatches::answer("four"),
        }),
    );
    house
        .workspace
        .set_items(&job("a"), items(&["a", "b", "c", "d"]));
    house.live_until("2026-12-01T18:30");
    assert_eq!(batches.handed_in()[0].parts.len(), 4);
    assert_eq!(outcomes(&house)[0], "exhausted");
    let note = of_a(&house)[0].note.clone().unwrap();
    let head = "2 of 4 items succeeded in this run, 1 left; `b`: failed: fatal";
    assert!(note.starts_with(head), "{note}");
    assert!(note.contains("`c`: exhausted, not JSON"), "{note}");
    // What has no result goes on in a later slot, alone.
    house.live_until("2026-12-01T20:30");
    assert_eq!(batches.handed_in().len(), 2);
    assert_eq!(batches.handed_in()[1].parts.len(), 1);
    house.audit();
}

#[test]
fn parts_that_expire_go_on_in_a_later_slot() {
    let (house, batches) = house(rotation(), |clock| {
        let mut first = true;
        SimBatches::new(clock, HOUR, move |_| {
            if std::mem::take(&mut first) {
                BatchOutcome::Expired
            } else {
                SimBatches::answer("at last")
            }
        })
    });
    house.live_until("2026-12-01T20:59");
    assert_eq!(outcomes(&house), ["yielded: batch", "succeeded"]);
    assert_eq!(batches.handed_in().len(), 2);
    house.audit();
}

#[test]
fn a_batch_that_is_refused_yields_like_a_call() {
    let (house, batches) = house(rotation(), |clock| {
        let batches = SimBatches::healthy(clock, HOUR);
        let busy = || SendFailure {
            status: Some(529),
            error_type: Some("overloaded_error".to_owned()),
            ..SendFailure::new(FailureKind::Status, "Overloaded")
        };
        batches.refuse([busy(), busy(), busy()]);
        batches
    });
    house.live_until("2026-12-01T17:10");
    assert_eq!(outcomes(&house), ["exhausted"]);
    house.live_until("2026-12-01T19:59");
    assert_eq!(outcomes(&house)[1..], ["succeeded"]);
    assert_eq!(batches.handed_in().len(), 1);
    house.audit();
}

#[test]
fn a_reply_that_was_lost_is_not_asked_for_again_at_once() {
    let (house, batches) = house(rotation(), |clock| {
        let batches = SimBatches::healthy(clock, HOUR);
        batches.refuse([SendFailure::new(FailureKind::Cut, "connection reset")]);
        batches
    });
    house.live_until("2026-12-01T17:30");
    assert_eq!(outcomes(&house), ["exhausted"]);
    assert_eq!(of_a(&house)[0].attempts.len(), 1);
    assert!(batches.handed_in().is_empty());
}

#[test]
fn a_batch_whose_job_is_gone_ends_with_a_record() {
    let (house, _) = house(rotation(), |clock| SimBatches::healthy(clock, HOUR));
    house.live_until("2026-12-01T17:03");
    let plan = rotation().without_job("a").build();
    house.plans.send_replace(plan);
    house.live_until("2026-12-01T18:30");
    assert_eq!(outcomes(&house), ["failed: job_gone"]);
}

#[test]
fn a_run_that_a_person_asks_for_is_answered_at_once() {
    let (house, batches) = house(single(), |clock| SimBatches::healthy(clock, HOUR));
    let finish = super::manual::ask(&house, "a").unwrap();
    assert_eq!(finish.outcome, Outcome::Succeeded);
    assert!(batches.handed_in().is_empty());
}

#[test]
fn a_clock_that_was_set_back_keeps_no_batch_waiting() {
    let (house, batches) = house(rotation(), |clock| SimBatches::healthy(clock, HOUR));
    house.live_until("2026-12-01T17:03");
    house.clock.step(-chrono::TimeDelta::hours(14));
    house.live_for(Duration::from_mins(2));
    assert_eq!(batches.looks(), 1);
}

#[test]
fn a_store_that_fails_when_a_look_is_due_puts_it_off_only() {
    let (house, batches) = house(rotation(), |clock| SimBatches::healthy(clock, HOUR));
    house.live_until("2026-12-01T17:03");
    let script = async {
        house.until("2026-12-01T17:04").await;
        house.gate.close();
        house.until("2026-12-01T17:20").await;
        house.gate.open();
    };
    house.live_beside(2 * HOUR, script);
    assert_eq!(outcomes(&house), ["succeeded"]);
    assert_eq!(batches.handed_in().len(), 1);
}

#[test]
fn a_proxy_that_refuses_a_look_loses_no_batch() {
    let (house, batches) = house(rotation(), |clock| SimBatches::healthy(clock, HOUR));
    house.live_until("2026-12-01T17:03");
    let forbidden = SendFailure {
        status: Some(403),
        ..SendFailure::new(FailureKind::Status, "a page of a proxy")
    };
    batches.refuse_looks([forbidden]);
    house.live_until("2026-12-01T18:30");
    assert_eq!(outcomes(&house), ["succeeded"]);
    assert_eq!(batches.handed_in().len(), 1);
}

#[test]
fn a_job_that_changed_its_shape_meanwhile_gets_what_was_paid_for() {
    let (house, _) = house(rotation().with_job("a", each), |clock| {
        SimBatches::healthy(clock, HOUR)
    });
    house.workspace.set_items(&job("a"), items(&["a", "b"]));
    house.live_until("2026-12-01T17:03");
    house.plans.send_replace(rotation().build());
    house.live_until("2026-12-01T18:30");
    assert_eq!(outcomes(&house), ["succeeded"]);
    let delivered = house.workspace.delivered().into_iter();
    assert_eq!(
        delivered.filter(|(slot, _)| slot.job == job("a")).count(),
        2
    );
}
