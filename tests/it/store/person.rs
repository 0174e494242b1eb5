//! What both stores promise of pauses, `retry` and `drop`.

use super::*;
use offpeak::engine::again::Which;
use offpeak::outcome::{FailReason, SkipReason};

fn digest() -> PauseTarget {
    PauseTarget::Job(JobId::new("digest"))
}

fn pause(target: PauseTarget, since: i64, until: Option<i64>) -> Pause {
    Pause {
        target,
        since: minute(since),
        until: until.map(minute),
        reason: Some("holidays".to_owned()),
        ended_at: None,
    }
}

fn again(fire_at: Option<DateTime<Utc>>, now: i64) -> Again {
    let wait = NewDeferral {
        carries: 0,
        reason: YieldReason::Asked,
        ..next_slot(minute(now))
    };
    Again {
        job: JobId::new("digest"),
        fire_at,
        group: main_group(),
        model: "another-model".to_owned(),
        wait,
        now: minute(now),
    }
}

fn dropping(which: Which, now: i64) -> Dropping {
    Dropping {
        job: JobId::new("digest"),
        which,
        reason: Some("stale".to_owned()),
        now: minute(now),
    }
}

fn failed(bench: &Bench, fire_at: i64) {
    let run = bench.fire("digest", minute(fire_at));
    let outcome = Outcome::Failed(FailReason::Fatal);
    bench.finish(ended(run, outcome, minute(fire_at)));
}

pub fn pause_is_on_record_after_its_end(bench: &Bench) {
    assert_eq!(wait(bench.store.pauses()).unwrap().all(), []);
    assert_eq!(bench.lift_pause(&digest(), minute(0)), None);
    let asked = pause(digest(), 1, Some(9));
    bench.pause(asked.clone());
    assert_eq!(
        wait(bench.store.pauses()).unwrap().all(),
        std::slice::from_ref(&asked)
    );
    assert_eq!(bench.lift_pause(&digest(), minute(5)), Some(asked.clone()));
    assert_eq!(bench.lift_pause(&digest(), minute(6)), None);
    let ended = Pause {
        ended_at: Some(minute(5)),
        ..asked
    };
    assert_eq!(wait(bench.store.pauses()).unwrap().all(), [ended]);
}

pub fn second_pause_takes_the_place_of_the_first(bench: &Bench) {
    let group = pause(PauseTarget::Group(main_group()), 0, None);
    bench.pause(group.clone());
    bench.pause(pause(digest(), 1, None));
    bench.pause(pause(digest(), 2, Some(9)));
    let first = Pause {
        ended_at: Some(minute(2)),
        ..pause(digest(), 1, None)
    };
    let on_record = [group, first, pause(digest(), 2, Some(9))];
    assert_eq!(wait(bench.store.pauses()).unwrap().all(), on_record);
}

pub fn claim_in_a_pause_is_skipped(bench: &Bench) {
    bench.pause(pause(digest(), 1, Some(9)));
    let caught_up = || Fate::CatchUp(next_slot(minute(20)));
    let claimed = bench.claim(
        minute(20),
        vec![
            claim("digest", minute(0), caught_up()),
            claim("digest", minute(1), Fate::Fire),
            claim("digest", minute(8), caught_up()),
            claim("digest", minute(9), Fate::Fire),
            claim("review", minute(5), Fate::Fire),
        ],
    );
    let outcomes: Vec<String> = claimed
        .iter()
        .map(|claimed| match &claimed.fate {
            Fate::Fire => "fire".to_owned(),
            Fate::Skip(reason) => reason.to_string(),
            Fate::CatchUp(_) => "catch_up".to_owned(),
        })
        .collect();
    assert_eq!(outcomes, ["catch_up", "paused", "paused", "fire", "fire"]);
    let paused = Some(Outcome::Skipped(SkipReason::Paused));
    assert_eq!(bench.run(claimed[1].run).outcome, paused);
    assert_eq!(bench.slot_end(&slot("digest", minute(8))), paused);
    bench.audit();
}

pub fn paused_work_is_not_taken(bench: &Bench) {
    bench.defer("digest", minute(0), next_slot(minute(1)));
    bench.defer("review", minute(2), next_slot(minute(3)));
    bench.pause(pause(digest(), 4, Some(9)));
    let taken = bench.take(None, minute(5)).unwrap();
    assert_eq!(taken.deferral.slot.job, JobId::new("review"));
    bench.pause(pause(PauseTarget::Group(main_group()), 6, None));
    assert_eq!(bench.take(None, minute(10)), None);
    assert_eq!(wait(bench.store.deferrals()).unwrap().len(), 1);
    bench.lift_pause(&PauseTarget::Group(main_group()), minute(11));
    assert!(bench.take(None, minute(11)).is_some());
    bench.audit();
}

pub fn pause_of_another_group_holds_nothing(bench: &Bench) {
    bench.defer("digest", minute(0), next_slot(minute(1)));
    let other = GroupId::new("archive");
    bench.pause(pause(PauseTarget::Group(other.clone()), 2, None));
    // The job has moved to the paused group, although its row keeps the old one.
    let (group, fire_at) = (main_group(), minute(5));
    let pickup = PickupAt {
        group: &group,
        home: &other,
        job: None,
        fire_at,
        skip: &[],
    };
    assert_eq!(
        wait(bench.store.take_deferral(pickup, fire_at)).unwrap(),
        None
    );
    assert!(bench.take(None, fire_at).is_some());
}

pub fn failed_slot_is_pending_again(bench: &Bench) {
    failed(bench, 0);
    failed(bench, 10);
    assert_eq!(
        bench.retry(again(Some(minute(0)), 20)),
        Ok(slot("digest", minute(0)))
    );
    assert_eq!(bench.retry(again(None, 21)), Ok(slot("digest", minute(10))));
    bench.audit();
    let asked = bench.runs()[2].clone();
    assert_eq!(
        (asked.origin, asked.outcome, asked.fire_at),
        (
            Origin::Manual,
            Some(Outcome::Yielded(YieldReason::Asked)),
            minute(0)
        )
    );
    assert_eq!(asked.note.as_deref(), Some("a person asked for it again"));
    assert_eq!(
        bench.slot_end(&slot("digest", minute(0))),
        Some(Outcome::Failed(FailReason::Fatal)),
        "the slot's own outcome stays"
    );
    let taken = bench.take(Some("review"), minute(25)).unwrap();
    assert_eq!(taken.deferral.slot, slot("digest", minute(0)));
    let run = bench.run(taken.run);
    assert_eq!(
        (run.origin, run.model.as_str()),
        (Origin::Deferred, "another-model")
    );
    bench.finish(Finish {
        carried: Some(taken.deferral.id),
        ..ended(taken.run, Outcome::Succeeded, minute(25))
    });
    bench.audit();
}

pub fn work_that_is_done_waiting_or_under_way_is_not_pending_again(bench: &Bench) {
    assert_eq!(bench.retry(again(None, 0)), Err(NotAgain::Unknown));
    let run = bench.fire("digest", minute(0));
    let first = slot("digest", minute(0));
    let under_way = Err(NotAgain::UnderWay(first.clone()));
    assert_eq!(bench.retry(again(None, 1)), under_way);
    bench.finish(ended(run, Outcome::Succeeded, minute(1)));
    let succeeded = Err(NotAgain::Succeeded(first, None));
    assert_eq!(bench.retry(again(None, 2)), succeeded);
    bench.defer("digest", minute(10), next_slot(minute(11)));
    let second = slot("digest", minute(10));
    let pending = Err(NotAgain::Pending(second.clone()));
    assert_eq!(bench.retry(again(None, 12)), pending);
    bench.take(None, minute(15)).unwrap();
    let under_way = Err(NotAgain::UnderWay(second));
    assert_eq!(bench.retry(again(None, 16)), under_way);
    assert_eq!(bench.runs().len(), 3, "a refusal writes nothing");
    bench.audit();
}

pub fn dropped_work_has_failed(bench: &Bench) {
    for fire_at in [0, 10, 20] {
        bench.defer("digest", minute(fire_at), next_slot(minute(60)));
    }
    bench.defer("review", minute(30), next_slot(minute(60)));
    let of = |fire_at| slot("digest", minute(fire_at));
    let dropped = bench.drop_deferrals(dropping(Which::Newest, 40));
    assert_eq!(dropped, Ok(vec![of(20)]));
    let dropped = bench.drop_deferrals(dropping(Which::All, 41));
    assert_eq!(dropped, Ok(vec![of(0), of(10)]));
    bench.audit();
    let row = &bench.all_deferrals()[2];
    assert_eq!(
        (row.state, row.ended_at),
        (DeferralState::Failed, Some(minute(40)))
    );
    let run = bench.run(row.run.unwrap());
    assert_eq!(run.outcome, Some(Outcome::Failed(FailReason::Dropped)));
    assert_eq!(run.note.as_deref(), Some("dropped by a person: stale"));
    assert_eq!(run.fire_at, minute(20));
    let pending = wait(bench.store.deferrals()).unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].slot, slot("review", minute(30)));
}

pub fn only_pending_work_is_dropped(bench: &Bench) {
    let drop_newest = |now| bench.drop_deferrals(dropping(Which::Newest, now));
    assert_eq!(drop_newest(0), Err(NotDropped::Nothing));
    bench.defer("digest", minute(1), next_slot(minute(2)));
    let elsewhere = bench.drop_deferrals(dropping(Which::At(minute(2)), 3));
    assert_eq!(elsewhere, Err(NotDropped::Nothing));
    bench.take(None, minute(5)).unwrap();
    assert_eq!(drop_newest(6), Err(NotDropped::UnderWay));
    bench.audit();
}
