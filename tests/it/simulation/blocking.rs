//! The store on disk for virtual time: every step is over before anybody waits, so that no clock runs ahead of it.

use std::path::Path;

use chrono::{DateTime, Utc};
use futures_util::FutureExt;
use offpeak::engine::audit::ScheduleRow;
use offpeak::engine::pause::Pauses;
use offpeak::engine::ports::{
    Ask, Claimed, Collected, Deferral, Delivery, Finish, ManualStart, Offer, OpenBatch, PickupAt,
    PieceEnd, Progress, Redelivered, Store, Stored, Taken, Tick, Told,
};
use offpeak::guard::{Permit, Refusal};
use offpeak::job::Which;
use offpeak::outcome::{Outcome, Run, RunId};
use offpeak::piece::Item;
use offpeak::slot::Slot;
use offpeak::store::SqliteStore;

/// The store on disk; each of its futures is done when it is first asked.
pub struct BlockingStore {
    inner: SqliteStore,
    runtime: tokio::runtime::Runtime,
}

impl BlockingStore {
    pub fn open(folder: &Path) -> Self {
        Self {
            inner: SqliteStore::open(folder).unwrap(),
            runtime: tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap(),
        }
    }

    pub fn done<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    pub fn inner(&self) -> &SqliteStore {
        &self.inner
    }
}

macro_rules! blocking {
    ($(fn $name:ident<$life:lifetime>(&$_life:lifetime $self:ident $(, $arg:ident: $of:ty)*) -> $out:ty;)*) => {
        impl Store for BlockingStore {
            $(fn $name<$life>(&$life $self $(, $arg: $of)*) -> Stored<$life, $out> {
                let done = $self.done($self.inner.$name($($arg),*));
                async { done }.boxed()
            })*
        }
    };
}

blocking! {
    fn adopt<'a>(&'a self, schedules: &'a [(String, String)], now: DateTime<Utc>) -> Vec<(String, DateTime<Utc>)>;
    fn watermark<'a>(&'a self) -> Option<DateTime<Utc>>;
    fn claim<'a>(&'a self, tick: Tick) -> Vec<Claimed>;
    fn schedules<'a>(&'a self) -> Vec<ScheduleRow>;
    fn skip<'a>(&'a self, starts: &'a [(String, DateTime<Utc>)]) -> ();
    fn rewind<'a>(&'a self, watermark: DateTime<Utc>) -> ();
    fn take_deferral<'a>(&'a self, pickup: PickupAt<'a>, now: DateTime<Utc>) -> Option<Taken>;
    fn deferrals<'a>(&'a self) -> Vec<Deferral>;
    fn pauses<'a>(&'a self) -> Pauses;
    fn begin_manual<'a>(&'a self, start: ManualStart) -> RunId;
    fn admit<'a>(&'a self, ask: Ask<'a>) -> Result<Permit, Refusal>;
    fn record<'a>(&'a self, told: Told<'a>) -> ();
    fn collect<'a>(&'a self, collected: Collected<'a>) -> ();
    fn batches<'a>(&'a self) -> Vec<OpenBatch>;
    fn looked<'a>(&'a self, run: RunId, next: DateTime<Utc>) -> ();
    fn progress<'a>(&'a self, slot: &'a Slot, which: Which) -> Progress;
    fn split<'a>(&'a self, slot: &'a Slot, offer: Offer<'a>, now: DateTime<Utc>) -> Vec<Item>;
    fn settle<'a>(&'a self, end: PieceEnd) -> ();
    fn deliveries<'a>(&'a self) -> Vec<Delivery>;
    fn redelivered<'a>(&'a self, end: Redelivered) -> Option<Outcome>;
    fn finish<'a>(&'a self, finish: Finish) -> ();
    fn recover<'a>(&'a self, under_way: &'a [RunId], now: DateTime<Utc>) -> Vec<Run>;
}
