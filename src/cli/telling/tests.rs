use chrono::{DateTime, TimeDelta, Utc};

use super::*;
use crate::clock::LapseClock;
use crate::engine::ports::{Claim, Fate, Finish, ManualStart, NewDeferral, Store, Tick};
use crate::guard::{Hold, HoldCause};
use crate::job::{GroupId, JobId};
use crate::notify::fixture::{Manner, Receiver};
use crate::notify::{Entry, Format, Way};
use crate::outcome::{FailReason, Outcome, RunId, YieldReason};
use crate::schedule::DeferRule;
use crate::sim::VirtualClock;
use crate::slot::{Origin, Slot};

const FATAL: Outcome = Outcome::Failed(FailReason::Fatal);

/// A store and a clock that stands; tellers come and go.
struct Night {
    store: Arc<SqliteStore>,
    clock: VirtualClock,
    slots: i64,
    _folder: tempfile::TempDir,
}

impl Night {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            store: Arc::new(SqliteStore::open(folder.path()).unwrap()),
            clock: VirtualClock::new("2026-12-01T00:00:00Z".parse().unwrap()),
            slots: 0,
            _folder: folder,
        }
    }

    fn teller(&self, routes: Routes) -> Teller {
        Teller::start(
            Arc::clone(&self.store),
            Arc::new(self.clock.clone()),
            routes,
        )
    }

    fn next_slot(&mut self, job: &str) -> Slot {
        self.slots += 1;
        Slot {
            fire_at: self.clock.now() + TimeDelta::minutes(self.slots),
            job: JobId::new(job),
        }
    }

    /// Claims a slot, ends its run, and brings the engine's notice of it.
    async fn ends(&mut self, job: &str, outcome: Outcome) -> Notice {
        let slot = self.next_slot(job);
        let tick = Tick {
            now: slot.fire_at,
            watermark: slot.fire_at,
            slots: vec![Claim {
                slot: slot.clone(),
                group: GroupId::new("main"),
                model: "m".to_owned(),
                fate: Fate::Fire,
            }],
        };
        let run = self.store.claim(tick).await.unwrap()[0].run;
        let later = matches!(outcome, Outcome::Yielded(_) | Outcome::Exhausted);
        let finish = Finish {
            deferral: later.then(|| deferral(slot.fire_at)),
            ..finish(run, outcome, slot.fire_at)
        };
        self.store.finish(finish.clone()).await.unwrap();
        Notice::Ended {
            slot,
            finish: Box::new(finish),
        }
    }

    /// A run that a person asks for, in a process of its own.
    async fn person_runs(&mut self, job: &str, outcome: Outcome) {
        let slot = self.next_slot(job);
        let at = slot.fire_at;
        let start = ManualStart {
            lease_until: at,
            slot,
            group: GroupId::new("main"),
            model: "m".to_owned(),
        };
        let run = self.store.begin_manual(start).await.unwrap();
        self.store.finish(finish(run, outcome, at)).await.unwrap();
    }

    async fn hold(&self) {
        let hold = Hold {
            cause: HoldCause::Billing,
            until: None,
            since: self.clock.now(),
            note: "pay".to_owned(),
        };
        self.store.hold(GroupId::new("main"), hold).await.unwrap();
    }

    async fn resume(&self) {
        let group = GroupId::new("main");
        self.store.resume(group, self.clock.now()).await.unwrap();
    }
}

fn finish(run: RunId, outcome: Outcome, now: DateTime<Utc>) -> Finish {
    Finish {
        run,
        outcome,
        note: Some("a note".to_owned()),
        answer: None,
        cost_usd: None,
        delivery: None,
        output: None,
        deferral: None,
        carried: None,
        now,
    }
}

fn deferral(at: DateTime<Utc>) -> NewDeferral {
    NewDeferral {
        not_before: at,
        to: None,
        carries: 1,
        rule: DeferRule::NextSlot,
        reason: YieldReason::Budget,
        origin: Origin::Deferred,
    }
}

/// Both jobs of the group name one entry.
fn routes(receiver: &Receiver) -> Routes {
    let route = |job| (JobId::new(job), (GroupId::new("main"), "ops".to_owned()));
    Routes {
        jobs: ["digest", "review"].map(route).into(),
        entries: vec![Entry {
            name: "ops".to_owned(),
            way: Way::Webhook(receiver.address(), Format::Json),
            on: Change::ALL.into(),
            timeout: Duration::from_secs(10),
        }],
        deadman: None,
    }
}

#[tokio::test]
async fn each_change_is_told_once_and_not_again_after_a_restart() {
    let (mut night, receiver) = (Night::new(), Receiver::start(Manner::Takes));
    let yielded = Outcome::Yielded(YieldReason::Budget);
    let teller = night.teller(routes(&receiver));
    for outcome in [
        Outcome::Succeeded,
        yielded,
        Outcome::Exhausted,
        FATAL,
        FATAL,
    ] {
        teller.hear(&night.ends("digest", outcome).await);
    }
    teller.finish().await;
    assert_eq!(receiver.events(), ["failed"]);
    let body: serde_json::Value = serde_json::from_str(&receiver.heard()[0].1).unwrap();
    let told = ["job", "group", "fire_at", "outcome", "reason", "note"].map(|name| &body[name]);
    let expected = [
        "digest",
        "main",
        "2026-12-01T00:04:00Z",
        "failed",
        "fatal",
        "a note",
    ];
    assert_eq!(told, expected);
    assert_eq!(body["attempts"], 0);

    let teller = night.teller(routes(&receiver));
    teller.hear(&night.ends("digest", FATAL).await);
    teller.hear(&night.ends("review", Outcome::Succeeded).await);
    teller.finish().await;
    assert_eq!(receiver.events(), ["failed"]);

    let teller = night.teller(routes(&receiver));
    for outcome in [Outcome::Succeeded, Outcome::Succeeded, FATAL] {
        teller.hear(&night.ends("digest", outcome).await);
    }
    teller.finish().await;
    assert_eq!(receiver.events(), ["failed", "recovered", "failed"]);
}

#[tokio::test]
async fn what_a_person_asked_for_changes_nothing() {
    let (mut night, receiver) = (Night::new(), Receiver::start(Manner::Takes));
    let teller = night.teller(routes(&receiver));
    teller.hear(&night.ends("digest", FATAL).await);
    teller.finish().await;
    night.person_runs("digest", Outcome::Succeeded).await;
    let teller = night.teller(routes(&receiver));
    teller.hear(&night.ends("digest", FATAL).await);
    teller.hear(&night.ends("digest", Outcome::Succeeded).await);
    teller.finish().await;
    assert_eq!(receiver.events(), ["failed", "recovered"]);
}

#[tokio::test]
async fn a_hold_is_told_once_for_all_jobs_of_its_group() {
    let (mut night, receiver) = (Night::new(), Receiver::start(Manner::Takes));
    let held = Outcome::Yielded(YieldReason::Hold);
    let teller = night.teller(routes(&receiver));
    teller.hear(&night.ends("digest", Outcome::Succeeded).await);
    night.hold().await;
    for job in ["digest", "review", "digest"] {
        teller.hear(&night.ends(job, held.clone()).await);
    }
    receiver.until(1).await;
    night.resume().await;
    teller.hear(&night.ends("review", Outcome::Succeeded).await);
    teller.finish().await;
    assert_eq!(receiver.events(), ["held", "recovered"]);
}

#[tokio::test]
async fn a_hold_that_another_process_lifts_is_seen_within_a_minute() {
    let (mut night, receiver) = (Night::new(), Receiver::start(Manner::Takes));
    night.hold().await;
    let mut routes = routes(&receiver);
    routes.entries[0].timeout = Duration::from_hours(24);
    // A minute in a tenth of a second.
    let clock = Arc::new(LapseClock::new(night.clock.now(), 600.0));
    let teller = Teller::start(Arc::clone(&night.store), clock.clone(), routes);
    teller.hear(&night.ends("digest", FATAL).await);
    receiver.until(1).await;
    night.resume().await;
    receiver.until(2).await;
    // The hold stood before the start, so that its beginning is not told.
    assert_eq!(receiver.events(), ["failed", "recovered"]);
}

#[tokio::test]
async fn a_silent_receiver_holds_up_the_end_for_two_seconds_and_nothing_else() {
    let (mut night, receiver) = (Night::new(), Receiver::start(Manner::Silent));
    let teller = night.teller(routes(&receiver));
    for outcome in [FATAL, Outcome::Succeeded, FATAL, Outcome::Succeeded] {
        let notice = night.ends("digest", outcome).await;
        teller.hear(&notice);
    }
    receiver.until(1).await;
    assert_eq!(night.clock.elapsed(), Duration::ZERO);
    let passing = async {
        loop {
            tokio::task::yield_now().await;
            let _ = night.clock.advance_within(Duration::from_secs(5));
        }
    };
    tokio::select! {
        biased;
        () = teller.finish() => {}
        () = passing => {}
    }
    assert!(night.clock.elapsed() <= Duration::from_secs(5));
    assert_eq!(receiver.events(), ["failed"]);
}

#[tokio::test]
async fn others_are_told_after_a_change_of_the_files() {
    let mut night = Night::new();
    let (before, after) = (
        Receiver::start(Manner::Takes),
        Receiver::start(Manner::Takes),
    );
    let teller = night.teller(routes(&before));
    teller.hear(&night.ends("digest", FATAL).await);
    teller.exchange(routes(&after));
    teller.hear(&night.ends("digest", Outcome::Succeeded).await);
    // While nobody listens the history alone knows.
    teller.exchange(Routes::default());
    teller.hear(&night.ends("digest", FATAL).await);
    teller.exchange(routes(&after));
    teller.hear(&night.ends("digest", Outcome::Succeeded).await);
    teller.finish().await;
    assert_eq!(before.events(), ["failed"]);
    assert_eq!(after.events(), ["recovered", "recovered"]);
}

#[tokio::test]
async fn every_good_slot_rings_and_no_other() {
    let (mut night, watcher) = (Night::new(), Receiver::start(Manner::Takes));
    let timeout = Duration::from_secs(10);
    let teller = night.teller(Routes {
        deadman: Some((watcher.address(), timeout)),
        ..Routes::default()
    });
    teller.hear(&night.ends("digest", FATAL).await);
    teller.hear(&night.ends("digest", Outcome::Succeeded).await);
    watcher.until(1).await;
    let nothing_to_ask = Outcome::Skipped(crate::outcome::SkipReason::EmptyInput);
    teller.hear(&night.ends("digest", nothing_to_ask).await);
    teller.finish().await;
    assert_eq!(watcher.heard().len(), 2);
}
