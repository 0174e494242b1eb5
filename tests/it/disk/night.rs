//! A night in virtual time over a real file on a real disk that is full now and then.

use std::future::{Future, ready};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::future::join;
use offpeak::engine::audit::{ScheduleRow, Scope, UnderWay, audit};
use offpeak::engine::pause::Pauses;
use offpeak::engine::ports::{
    Ask, Claimed, Clock, Collected, Deferral, Delivery, Finish, ManualStart, Offer, OpenBatch,
    PickupAt, PieceEnd, Progress, Redelivered, Store, Stored, Taken, Tick, Told, World,
};
use offpeak::engine::{Notice, Stop, serve};
use offpeak::guard::{Permit, Refusal};
use offpeak::job::Which;
use offpeak::outcome::{Outcome, Run, RunId};
use offpeak::piece::Item;
use offpeak::schedule::Zones;
use offpeak::sim::{self, Scripted, SimDice, SimPlan, SimUpstream, SimWorkspace, VirtualClock};
use offpeak::slot::Slot;
use offpeak::store::{HistoryFilter, SqliteStore};
use tokio::sync::{mpsc, watch};

use super::room::{Disk, in_each_room};
use super::wait;

/// The store on disk, whose steps take no virtual time.
struct OnDisk(SqliteStore);

/// Does a step of the file while the virtual clock stands still.
fn at_once<'a, T: Send + 'a>(step: Stored<'a, T>) -> Stored<'a, T> {
    Box::pin(ready(wait(step)))
}

impl Store for OnDisk {
    fn adopt<'a>(
        &'a self,
        schedules: &'a [(String, String)],
        now: DateTime<Utc>,
    ) -> Stored<'a, Vec<(String, DateTime<Utc>)>> {
        at_once(self.0.adopt(schedules, now))
    }

    fn watermark(&self) -> Stored<'_, Option<DateTime<Utc>>> {
        at_once(self.0.watermark())
    }

    fn claim(&self, tick: Tick) -> Stored<'_, Vec<Claimed>> {
        at_once(self.0.claim(tick))
    }

    fn schedules(&self) -> Stored<'_, Vec<ScheduleRow>> {
        at_once(self.0.schedules())
    }

    fn skip<'a>(&'a self, starts: &'a [(String, DateTime<Utc>)]) -> Stored<'a, ()> {
        at_once(self.0.skip(starts))
    }

    fn rewind(&self, watermark: DateTime<Utc>) -> Stored<'_, ()> {
        at_once(self.0.rewind(watermark))
    }

    fn take_deferral<'a>(
        &'a self,
        pickup: PickupAt<'a>,
        now: DateTime<Utc>,
    ) -> Stored<'a, Option<Taken>> {
        at_once(self.0.take_deferral(pickup, now))
    }

    fn deferrals(&self) -> Stored<'_, Vec<Deferral>> {
        at_once(self.0.deferrals())
    }

    fn pauses(&self) -> Stored<'_, Pauses> {
        at_once(self.0.pauses())
    }

    fn begin_manual(&self, start: ManualStart) -> Stored<'_, RunId> {
        at_once(self.0.begin_manual(start))
    }

    fn admit<'a>(&'a self, ask: Ask<'a>) -> Stored<'a, Result<Permit, Refusal>> {
        at_once(self.0.admit(ask))
    }

    fn record<'a>(&'a self, told: Told<'a>) -> Stored<'a, ()> {
        at_once(self.0.record(told))
    }

    fn collect<'a>(&'a self, collected: Collected<'a>) -> Stored<'a, ()> {
        at_once(self.0.collect(collected))
    }

    fn batches(&self) -> Stored<'_, Vec<OpenBatch>> {
        at_once(self.0.batches())
    }

    fn looked(&self, run: RunId, next: DateTime<Utc>) -> Stored<'_, ()> {
        at_once(self.0.looked(run, next))
    }

    fn progress<'a>(&'a self, slot: &'a Slot, which: Which) -> Stored<'a, Progress> {
        at_once(self.0.progress(slot, which))
    }

    fn split<'a>(
        &'a self,
        slot: &'a Slot,
        offer: Offer<'a>,
        now: DateTime<Utc>,
    ) -> Stored<'a, Vec<Item>> {
        at_once(self.0.split(slot, offer, now))
    }

    fn settle(&self, end: PieceEnd) -> Stored<'_, ()> {
        at_once(self.0.settle(end))
    }

    fn deliveries(&self) -> Stored<'_, Vec<Delivery>> {
        at_once(self.0.deliveries())
    }

    fn redelivered(&self, end: Redelivered) -> Stored<'_, Option<Outcome>> {
        at_once(self.0.redelivered(end))
    }

    fn finish(&self, finish: Finish) -> Stored<'_, ()> {
        at_once(self.0.finish(finish))
    }

    fn recover<'a>(&'a self, under_way: &'a [RunId], now: DateTime<Utc>) -> Stored<'a, Vec<Run>> {
        at_once(self.0.recover(under_way, now))
    }
}

/// 02:00, 02:45, 04:00 and 04:45 in Tokyo: 17:00, 17:45, 19:00 and 19:45 in UTC.
fn rotation() -> SimPlan {
    let jobs = [
        ("a", "0 2 * * *"),
        ("b", "45 2 * * *"),
        ("c", "0 4 * * *"),
        ("d", "45 4 * * *"),
    ];
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    jobs.iter().fold(plan, |plan, (id, cron)| {
        plan.job(id, "main", &[cron]).unwrap()
    })
}

/// Waits until the virtual clock shows a time of the night, with its seconds.
fn until<'a>(clock: &'a VirtualClock, time: &str) -> impl Future<Output = ()> + use<'a> {
    let at: DateTime<Utc> = format!("2026-12-01T{time}Z").parse().unwrap();
    async move { clock.sleep((at - clock.now()).to_std().unwrap()).await }
}

#[test]
fn full_disk_of_a_night_costs_no_slot() {
    in_each_room("disk::night::night_on_a_disk_that_is_full_now_and_then");
}

#[test]
#[ignore = "the test above runs it where a disk can be made full"]
fn night_on_a_disk_that_is_full_now_and_then() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::under(&folder.path().join("state"));
    let us = std::process::id();
    let store = SqliteStore::open(&folder.path().join("state")).unwrap();
    let store = Arc::new(OnDisk(store));
    let clock = VirtualClock::new("2026-12-01T16:50:00Z".parse().unwrap());
    let minute = Duration::from_mins(1);
    let answers = ["b", "a", "c", "d"].map(|text| Scripted::answer(minute, text));
    let upstream = SimUpstream::scripted(&clock, answers);
    let world = World {
        clock: Arc::new(clock.clone()),
        upstream: Arc::new(upstream.clone()),
        store: store.clone(),
        workspace: Arc::new(SimWorkspace::new(&clock)),
        dice: Arc::new(SimDice::fixed(0.5)),
    };
    let (_plans, plan) = watch::channel(rotation().build());
    let (stop, stopped) = watch::channel(Stop::Running);
    let (notices, mut heard) = mpsc::unbounded_channel();
    let script = async {
        // Past the grace of the first slot.
        until(&clock, "16:55:00").await;
        disk.fill(us);
        until(&clock, "17:10:00").await;
        disk.free(us);
        // Into the grace of the third, and while the answer to the fourth is under way.
        for (full, free) in [("18:59:00", "19:00:30"), ("19:45:30", "19:55:00")] {
            until(&clock, full).await;
            disk.fill(us);
            until(&clock, free).await;
            disk.free(us);
        }
        until(&clock, "21:00:00").await;
        stop.send_replace(Stop::Drain);
    };
    let (drained, ()) =
        sim::run(&clock, join(serve(world, plan, stopped, notices), script)).unwrap();
    assert_eq!(drained.unwrap().unclosed, 0);

    let sent: Vec<String> = upstream
        .sent()
        .iter()
        .map(|sent| sent.request.prompt.split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(sent, ["b", "a", "c", "d"], "each once, the first caught up");
    let runs = wait(store.0.history(HistoryFilter::default())).unwrap();
    let shown: Vec<String> = runs
        .iter()
        .map(|run| {
            let outcome = run.outcome.as_ref().unwrap();
            format!("{} {}: {outcome}", run.job, run.origin)
        })
        .collect();
    assert_eq!(
        shown,
        [
            "a scheduled: yielded: missed",
            "b scheduled: succeeded",
            "a catch_up: succeeded",
            "c scheduled: succeeded",
            "d scheduled: succeeded",
        ]
    );
    let third = runs.iter().find(|run| run.job.as_str() == "c").unwrap();
    assert!(third.started_at > third.fire_at, "late, within its grace");

    each_outage_is_told_twice(&mut heard);
    is_sound(&store.0);
}

/// Six lines for three outages, which lasted 26 minutes of tries every few seconds.
#[track_caller]
fn each_outage_is_told_twice(heard: &mut mpsc::UnboundedReceiver<Notice>) {
    let said: Vec<Notice> = std::iter::from_fn(|| heard.try_recv().ok()).collect();
    let outages: Vec<usize> = said
        .iter()
        .filter_map(|notice| match notice {
            Notice::StoreFailed { .. } => Some(0),
            Notice::StoreWorks { failures, .. } => Some(*failures),
            _ => None,
        })
        .collect();
    let [0, first, 0, second, 0, third] = outages.as_slice() else {
        panic!("{outages:?}");
    };
    assert!(*first > 20 && *second > 2 && *third > 2, "{outages:?}");
}

#[track_caller]
fn is_sound(store: &SqliteStore) {
    let zones = Zones::bundled();
    let scope = Scope {
        zones: &zones,
        kept_from: DateTime::<Utc>::MIN_UTC,
        under_way: UnderWay::None,
    };
    assert_eq!(audit(&wait(store.ledger()).unwrap(), scope), []);
    assert_eq!(wait(store.damage()).unwrap(), [""; 0]);
}
