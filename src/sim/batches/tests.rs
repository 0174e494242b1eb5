//! A batch in virtual time from its beginning to each of its ends.

use super::*;
use crate::job::{Delivery, Request};
use crate::sim::run;

const HOUR: Duration = Duration::from_hours(1);

fn part(name: &str) -> BatchPart {
    let request = Request {
        key: KeyId::new("main"),
        model: "claude-sim".to_owned(),
        max_tokens: 100,
        system: Vec::new(),
        prompt: format!("about {name}"),
        so_far: Vec::new(),
        delivery: Delivery::Whole,
        extra: Vec::new(),
        timeout: Duration::from_secs(10),
    };
    BatchPart {
        name: name.to_owned(),
        request,
    }
}

fn clock() -> VirtualClock {
    VirtualClock::new("2026-12-01T00:00:00Z".parse().unwrap())
}

/// Hands in two parts and looks once after each of these spans; the last state, and what can be collected then.
fn outcomes(
    batches: &SimBatches,
    clock: &VirtualClock,
    spans: &[Duration],
) -> (BatchStage, Vec<BatchResult>) {
    let key = KeyId::new("main");
    run(clock, async {
        let parts = [part("a"), part("b")];
        let id = batches.submit(&parts).await.unwrap().id;
        let mut state = batches.look(&key, &id).await.unwrap();
        for span in spans {
            clock.sleep(*span).await;
            state = batches.look(&key, &id).await.unwrap();
        }
        let results = batches.collect(&key, &state).await;
        (state.stage, results.unwrap_or_default())
    })
    .unwrap()
}

#[test]
fn batch_ends_after_its_span_with_results_in_reverse() {
    let clock = clock();
    let batches = SimBatches::healthy(&clock, HOUR);
    let (stage, early) = outcomes(&batches, &clock, &[HOUR / 2]);
    assert_eq!((stage, early), (BatchStage::Processing, Vec::new()));
    let (stage, results) = outcomes(&batches, &clock, &[HOUR]);
    assert_eq!(stage, BatchStage::Ended);
    let names: Vec<_> = results
        .iter()
        .map(|result| result.name.as_deref())
        .collect();
    assert_eq!(names, [Some("b"), Some("a")]);
    let BatchOutcome::Answered(answer) = &results[1].outcome else {
        panic!("{results:?}");
    };
    assert_eq!(answer.text, "about a");
    assert_eq!(answer.usage.unwrap().tier, Tier::Batch);
    assert_eq!(batches.handed_in()[1].parts, [part("a"), part("b")]);
    assert_eq!(batches.looks(), 4);
}

#[test]
fn script_says_what_becomes_of_each_part_once() {
    let clock = clock();
    let mut asked = 0;
    let batches = SimBatches::new(&clock, HOUR, move |part| {
        asked += 1;
        BatchOutcome::Unreadable(format!("{} {asked}", part.name))
    });
    let key = KeyId::new("main");
    let (first, again) = run(&clock, async {
        let parts = [part("a"), part("b")];
        let id = batches.submit(&parts).await.unwrap().id;
        clock.sleep(HOUR).await;
        let state = batches.look(&key, &id).await.unwrap();
        let first = batches.collect(&key, &state).await.unwrap();
        (first, batches.collect(&key, &state).await.unwrap())
    })
    .unwrap();
    assert_eq!(first, again);
    assert_eq!(first[0].outcome, BatchOutcome::Unreadable("b 1".to_owned()));
}

#[test]
fn batch_that_takes_a_day_expires() {
    let clock = clock();
    let batches = SimBatches::healthy(&clock, Duration::MAX);
    let (stage, results) = outcomes(&batches, &clock, &[HOUR * 23, HOUR]);
    assert_eq!(stage, BatchStage::Ended);
    assert!(
        results
            .iter()
            .all(|result| result.outcome == BatchOutcome::Expired)
    );
    assert_eq!(results.len(), 2);
}

#[test]
fn cancelled_batch_ends_and_another_key_sees_none() {
    let clock = clock();
    let batches = SimBatches::healthy(&clock, HOUR);
    let (key, other) = (KeyId::new("main"), KeyId::new("spare"));
    run(&clock, async {
        let parts = [part("a")];
        let id = batches.submit(&parts).await.unwrap().id;
        let failure = batches.cancel(&other, &id).await.unwrap_err();
        assert_eq!(failure.status, Some(404));
        let state = batches.cancel(&key, &id).await.unwrap();
        assert_eq!(state.stage, BatchStage::Canceling);
        let state = batches.look(&key, &id).await.unwrap();
        assert_eq!(state.stage, BatchStage::Ended);
        let results = batches.collect(&key, &state).await.unwrap();
        assert_eq!(results[0].outcome, BatchOutcome::Canceled);
        let state = batches.cancel(&key, &id).await.unwrap();
        assert_eq!(state.stage, BatchStage::Ended);
    })
    .unwrap();
}

#[test]
fn refusals_come_first_and_take_nothing_in() {
    let clock = clock();
    let batches = SimBatches::healthy(&clock, HOUR);
    batches.refuse(Scripted::status(529, "overloaded_error", None).result.err());
    run(&clock, async {
        let parts = [part("a")];
        let failure = batches.submit(&parts).await.unwrap_err();
        assert_eq!((failure.status, batches.handed_in().len()), (Some(529), 0));
        assert!(batches.submit(&parts).await.is_ok());
    })
    .unwrap();
}
