//! The port of the engine, and what the shell reads and changes.

use chrono::{DateTime, Utc};

use super::attempt::{self, Asking, Telling};
use super::chores::{self, Liveness, Pruned};
use super::claim::{self, SlotRecord};
use super::history::{self, HistoryFilter};
use super::open::SqliteStore;
use super::pieces::ItemEnd;
use super::refused::{self, RefusedFiles};
use super::run::{self, Start};
use super::{ahead, batches, deferral, delivery, guard_row, ledger, pause, pieces, standing};
use crate::engine::alert::Standing;
use crate::engine::audit::{Ledger, ScheduleRow};
use crate::engine::keep::DeferralRecord;
use crate::engine::pause::Pauses;
use crate::engine::ports::{
    Ask, Claimed, Collected, Deferral, Delivery, Finish, ManualStart, Offer, OpenBatch, PickupAt,
    PieceEnd, Progress, Redelivered, Store, StoreError, Stored, Taken, Tick, Told,
};
use crate::guard::{Guard, Hold, Permit, Refusal};
use crate::job::{GroupId, JobId, Which};
use crate::outcome::{Outcome, Run, RunId};
use crate::piece::Item;
use crate::slot::{Origin, Slot};

impl Store for SqliteStore {
    fn adopt<'a>(
        &'a self,
        schedules: &'a [(String, String)],
        now: DateTime<Utc>,
    ) -> Stored<'a, Vec<(String, DateTime<Utc>)>> {
        let schedules = schedules.to_vec();
        Box::pin(
            self.worker
                .write(move |store| claim::adopt(store, &schedules, now)),
        )
    }

    fn watermark(&self) -> Stored<'_, Option<DateTime<Utc>>> {
        Box::pin(self.worker.read(|store| claim::watermark(store)))
    }

    fn claim(&self, tick: Tick) -> Stored<'_, Vec<Claimed>> {
        Box::pin(self.worker.write(move |store| claim::claim(store, &tick)))
    }

    fn rewind(&self, watermark: DateTime<Utc>) -> Stored<'_, ()> {
        Box::pin(
            self.worker
                .write(move |store| ahead::rewind(store, watermark)),
        )
    }

    fn schedules(&self) -> Stored<'_, Vec<ScheduleRow>> {
        Box::pin(self.worker.read(|store| ledger::schedules(store)))
    }

    fn skip<'a>(&'a self, starts: &'a [(String, DateTime<Utc>)]) -> Stored<'a, ()> {
        let starts = starts.to_vec();
        Box::pin(self.worker.write(move |store| ahead::skip(store, &starts)))
    }

    fn take_deferral<'a>(
        &'a self,
        pickup: PickupAt<'a>,
        now: DateTime<Utc>,
    ) -> Stored<'a, Option<Taken>> {
        let (group, home, job, skip) = (
            pickup.group.clone(),
            pickup.home.clone(),
            pickup.job.cloned(),
            pickup.skip.to_vec(),
        );
        let fire_at = pickup.fire_at;
        Box::pin(self.worker.write(move |store| {
            let pickup = PickupAt {
                group: &group,
                home: &home,
                job: job.as_ref(),
                fire_at,
                skip: &skip,
            };
            deferral::take(store, pickup, now)
        }))
    }

    fn deferrals(&self) -> Stored<'_, Vec<Deferral>> {
        Box::pin(self.worker.read(|store| deferral::pending(store)))
    }

    fn pauses(&self) -> Stored<'_, Pauses> {
        Box::pin(self.worker.read(|store| pause::all(store)))
    }

    fn begin_manual(&self, start: ManualStart) -> Stored<'_, RunId> {
        let start = Start {
            now: start.slot.fire_at,
            slot: start.slot,
            group: start.group,
            model: start.model,
            origin: Origin::Manual,
            lease_until: Some(start.lease_until),
        };
        Box::pin(
            self.worker
                .write(move |store| run::start_manual(store, start)),
        )
    }

    fn admit<'a>(&'a self, ask: Ask<'a>) -> Stored<'a, Result<Permit, Refusal>> {
        let asking = Asking {
            run: ask.run,
            call: ask.call.clone(),
            model: ask.model.to_owned(),
            group: ask.group.clone(),
            policy: *ask.policy,
            n: ask.n,
            wait: ask.wait,
            lease: ask.lease,
            reserve: ask.reserve,
            now: ask.now,
        };
        Box::pin(
            self.worker
                .write(move |store| attempt::admit(store, &asking)),
        )
    }

    fn record<'a>(&'a self, told: Told<'a>) -> Stored<'a, ()> {
        let telling = Telling {
            run: told.run,
            call: told.call.clone(),
            group: told.group.clone(),
            policy: *told.policy,
            n: told.n,
            permit: told.permit,
            sample: told.sample,
            hold: told.hold,
            bill: told.bill,
            end: told.end,
            answer: told.answer.map(|it| (it.answer.clone(), it.role)),
            batch: told.batch,
            cost_usd: told.cost_usd,
            now: told.now,
        };
        Box::pin(
            self.worker
                .write(move |store| attempt::record(store, telling)),
        )
    }

    fn collect<'a>(&'a self, collected: Collected<'a>) -> Stored<'a, ()> {
        let Collected {
            run,
            call,
            answer,
            cost_usd,
            now,
        } = collected;
        let (name, role, answer) = (call.clone(), answer.role, answer.answer.clone());
        Box::pin(self.worker.write(move |store| {
            let brought = (&answer, role, cost_usd);
            batches::collect(store, (run, &name), brought, now)
        }))
    }

    fn batches(&self) -> Stored<'_, Vec<OpenBatch>> {
        Box::pin(self.worker.read(|store| batches::open(store)))
    }

    fn looked(&self, run: RunId, next: DateTime<Utc>) -> Stored<'_, ()> {
        Box::pin(
            self.worker
                .write(move |store| batches::looked(store, run, next)),
        )
    }

    fn progress<'a>(&'a self, slot: &'a Slot, which: Which) -> Stored<'a, Progress> {
        let slot = slot.clone();
        Box::pin(
            self.worker
                .read(move |store| pieces::progress(store, &slot, which)),
        )
    }

    fn split<'a>(
        &'a self,
        slot: &'a Slot,
        offer: Offer<'a>,
        now: DateTime<Utc>,
    ) -> Stored<'a, Vec<Item>> {
        let (slot, items) = (slot.clone(), offer.items.to_vec());
        let (which, limit) = (offer.which, offer.limit);
        Box::pin(self.worker.write(move |store| {
            let offer = Offer {
                items: &items,
                which,
                limit,
            };
            pieces::split(store, &slot, offer, now)
        }))
    }

    fn settle(&self, end: PieceEnd) -> Stored<'_, ()> {
        Box::pin(self.worker.write(move |store| pieces::settle(store, &end)))
    }

    fn finish(&self, finish: Finish) -> Stored<'_, ()> {
        Box::pin(self.worker.write(move |store| run::finish(store, &finish)))
    }

    fn deliveries(&self) -> Stored<'_, Vec<Delivery>> {
        Box::pin(self.worker.read(|store| delivery::pending(store)))
    }

    fn redelivered(&self, end: Redelivered) -> Stored<'_, Option<Outcome>> {
        Box::pin(
            self.worker
                .write(move |store| delivery::redelivered(store, &end)),
        )
    }

    fn recover<'a>(&'a self, under_way: &'a [RunId], now: DateTime<Utc>) -> Stored<'a, Vec<Run>> {
        let under_way = under_way.to_vec();
        Box::pin(
            self.worker
                .write(move |store| run::recover(store, &under_way, now)),
        )
    }
}

/// What the shell reads and changes, beside the port.
impl SqliteStore {
    /// The runs that pass the filter, newest last.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the file cannot be read.
    pub async fn history(&self, filter: HistoryFilter) -> Result<Vec<Run>, StoreError> {
        self.worker
            .read(move |store| history::runs(store, &filter))
            .await
    }

    /// One run; `None` if there is none of this name, or it was pruned.
    pub async fn run(&self, id: RunId) -> Result<Option<Run>, StoreError> {
        self.worker.read(move |store| history::run(store, id)).await
    }

    /// Closes the runs that a person asked for and that are past their lease, for a `run` beside or without a daemon.
    /// The daemon's own stay open: it may be at work on them, and closes them itself with [`Store::recover`].
    pub async fn give_up(&self, now: DateTime<Utc>) -> Result<Vec<Run>, StoreError> {
        self.worker
            .write(move |store| run::give_up(store, now))
            .await
    }

    /// How a job stood before a run, runs that a person asked for left out; `None` if the history does not tell.
    pub async fn standing(
        &self,
        job: JobId,
        before: RunId,
    ) -> Result<Option<Standing>, StoreError> {
        self.worker
            .read(move |store| standing::standing(store, &job, before))
            .await
    }

    /// The text of a run's answer; `None` if it brought none, or the text went to [`Run::output`].
    pub async fn answer(&self, id: RunId) -> Result<Option<String>, StoreError> {
        self.worker
            .read(move |store| history::answer(store, id))
            .await
    }

    /// How the items that a run ended have ended, in their order; empty for a run without items.
    pub async fn items(&self, run: RunId) -> Result<Vec<ItemEnd>, StoreError> {
        self.worker
            .read(move |store| pieces::ends(store, run))
            .await
    }

    /// The runs that go on just now, or that a crash has cut off.
    pub async fn under_way(&self) -> Result<Vec<Run>, StoreError> {
        self.worker.read(|store| history::under_way(store)).await
    }

    /// What is on record of a slot; `None` if nobody has claimed it.
    pub async fn slot(&self, slot: Slot) -> Result<Option<SlotRecord>, StoreError> {
        self.worker
            .read(move |store| claim::slot(store, &slot))
            .await
    }

    /// Every deferral that was not pruned, and what became of it, oldest row first.
    pub async fn all_deferrals(&self) -> Result<Vec<DeferralRecord>, StoreError> {
        self.worker.read(|store| deferral::all(store)).await
    }

    /// All rows at one moment, for [`crate::engine::audit`].
    pub async fn ledger(&self) -> Result<Ledger, StoreError> {
        self.worker.read(|store| ledger::ledger(store)).await
    }

    /// What is wrong with the file itself, a line each; empty if nothing is.
    pub async fn damage(&self) -> Result<Vec<String>, StoreError> {
        // Outside a transaction: damage that ends the check would fail its end too, and hide what was found.
        self.worker.chore(|store| ledger::damage(store)).await
    }

    /// Every group that has sent something or is held, by name. A group whose row cannot be read is left out, so that
    /// it hides no other; [`SqliteStore::damaged_guards`] names it.
    pub async fn guards(&self) -> Result<Vec<(GroupId, Guard)>, StoreError> {
        self.worker.read(|store| guard_row::all(store)).await
    }

    /// Every group whose guard row is damaged, or was written by a newer version, by name, with what is wrong and the
    /// way out. Such a group sends nothing; [`SqliteStore::resume`] replaces a damaged row.
    pub async fn damaged_guards(&self) -> Result<Vec<(GroupId, String)>, StoreError> {
        self.worker.read(|store| guard_row::damaged(store)).await
    }

    /// Holds a group at a person's word; a longer or harder hold is kept.
    pub async fn hold(&self, group: GroupId, hold: Hold) -> Result<(), StoreError> {
        let now = hold.since;
        self.worker
            .write(move |store| {
                guard_row::change(store, &group, now, |guard, _| guard.place_hold(hold))
            })
            .await
    }

    /// Lifts a group's hold at a person's word, and closes its breaker.
    pub async fn resume(&self, group: GroupId, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.worker
            .write(move |store| guard_row::resume(store, &group, now))
            .await
    }

    /// Takes down that the files cannot be taken over, or, with `None`, that they were.
    pub async fn refuse_files(&self, refused: Option<RefusedFiles>) -> Result<(), StoreError> {
        self.worker
            .write(move |store| refused::set(store, refused.as_ref()))
            .await
    }

    /// The files that the daemon could not take over; `None` if there are none.
    pub async fn refused_files(&self) -> Result<Option<RefusedFiles>, StoreError> {
        self.worker.read(|store| refused::find(store)).await
    }

    /// Writes the daemon's sign of life.
    pub async fn touch(&self, beat: Liveness) -> Result<(), StoreError> {
        self.worker
            .write(move |store| chores::touch(store, beat))
            .await
    }

    /// The daemon's last sign of life; `None` if no daemon has used this store.
    pub async fn liveness(&self) -> Result<Option<Liveness>, StoreError> {
        self.worker.read(|store| chores::liveness(store)).await
    }

    /// Removes what ended before an instant, at most a month of history at once. Pending work, and the runs that it
    /// came from, stay.
    ///
    /// Goes in short steps, each a transaction of its own: slots that come due meanwhile are claimed between two of
    /// them, and what an error leaves is removed the next time.
    pub async fn prune(&self, older_than: DateTime<Utc>) -> Result<Pruned, StoreError> {
        let reach = self
            .worker
            .read(move |store| chores::reach(store, older_than))
            .await?;
        let mut pruned = Pruned::default();
        loop {
            let step = self
                .worker
                .write(move |store| chores::prune_some(store, reach))
                .await?;
            pruned += step;
            if step == Pruned::default() {
                return Ok(pruned);
            }
        }
    }

    /// Moves the write-ahead log into the file and empties it; puts it off if someone is reading or writing just now.
    /// The answer is how many bytes the log still has.
    pub async fn checkpoint(&self) -> Result<u64, StoreError> {
        self.worker.chore(chores::checkpoint).await?;
        Ok(self.log_bytes())
    }
}
