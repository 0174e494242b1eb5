//! All that the engine asks of the world.
//!
//! Each port has an implementation at the edge and one in virtual time. The
//! methods return boxed futures so that a [`World`] is one plain value.

mod batch;
mod handed_in;
mod pieces;
mod store_error;
mod texts;

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

pub use batch::{
    BatchOutcome, BatchPart, BatchResult, BatchStage, BatchState, Batches, SubmittedBatch,
};
pub use handed_in::{Collected, HandedIn, OpenBatch, part_name};
pub use pieces::{
    After, Brought, Delivery, DeliveryEnd, Offer, PieceEnd, Progress, Redelivered, Role, StepAnswer,
};
pub use store_error::StoreError;
pub use texts::{Brief, Gathered, Parcel, Place, Reached, Undelivered, Unready};

use super::audit::ScheduleRow;
use super::pause::Pauses;
use crate::answer::{Answer, Reply, SendFailure, Usage};
use crate::guard::{Bill, GuardPolicy, Hold, Permit, Refusal, Sample};
use crate::job::{GroupId, Job, JobId, Request, Which};
use crate::money::Dollars;
use crate::outcome::{AttemptEnd, Outcome, Run, RunId, SkipReason, YieldReason};
use crate::piece::{CallName, Item};
use crate::price::Estimate;
use crate::slot::{Origin, Slot};

/// The future that a port returns.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Everything outside the engine, as one value.
#[derive(Clone)]
pub struct World {
    /// Tells and passes time.
    pub clock: Arc<dyn Clock>,
    /// Sends requests.
    pub upstream: Arc<dyn Upstream>,
    /// Keeps what must not be lost.
    pub store: Arc<dyn Store>,
    /// Reads prompts and inputs, writes answers.
    pub workspace: Arc<dyn Workspace>,
    /// Draws jitter.
    pub dice: Arc<dyn Dice>,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("World")
    }
}

/// Tells and passes time.
pub trait Clock: Send + Sync {
    /// The wall clock; it may step.
    fn now(&self) -> DateTime<Utc>;
    /// Time since an arbitrary instant; it never steps back. Latencies are differences of it.
    fn elapsed(&self) -> Duration;
    /// Passes a span of [`Clock::elapsed`].
    fn sleep(&self, span: Duration) -> Pending<'_, ()>;
}

/// Draws jitter.
pub trait Dice: Send + Sync {
    /// A number in 0 ≤ d < 1.
    fn draw(&self) -> f64;
}

/// Sends requests.
pub trait Upstream: Send + Sync {
    /// Sends one request once: no retry, no redirect. Holds the timeouts itself; dropping the future cancels.
    fn send<'a>(&'a self, request: &'a Request) -> Pending<'a, Result<Reply, SendFailure>>;
    /// Dollars for what was counted of a request, answered or not, by the model that took it; `None` if a price is
    /// unknown.
    fn cost(&self, request: &Request, model: &str, usage: &Usage) -> Option<Dollars>;
    /// What a request will take, told offline.
    fn estimate(&self, request: &Request) -> Estimate;
    /// The way to message batches; `None` if there is none.
    fn batches(&self) -> Option<&dyn Batches> {
        None
    }
}

/// Reads prompts and inputs, writes answers.
pub trait Workspace: Send + Sync {
    /// Reads a job's inputs for one run.
    fn gather<'a>(&'a self, job: &'a Job, slot: &'a Slot) -> Pending<'a, Gathered>;
    /// Lists the items of a job's `for_each`, in their order; none for a job without.
    fn list<'a>(&'a self, job: &'a Job) -> Pending<'a, Result<Vec<Item>, Unready>>;
    /// Fills in the template of one call.
    fn fill<'a>(&'a self, brief: Brief<'a>) -> Pending<'a, Result<Request, Unready>>;
    /// Delivers a complete answer to the places that do not have it yet; an old output file stays whole until the new
    /// one is. The answer is where it went, if that is a file.
    fn deliver<'a>(
        &'a self,
        parcel: Parcel<'a>,
    ) -> Pending<'a, Result<Option<PathBuf>, Undelivered>>;
    /// Keeps an incomplete answer beside the output; never over it.
    fn keep_beside<'a>(
        &'a self,
        parcel: Parcel<'a>,
    ) -> Pending<'a, Result<Option<PathBuf>, String>>;
}

/// What a port of the store returns.
pub type Stored<'a, T> = Pending<'a, Result<T, StoreError>>;

/// Keeps what must not be lost. Every method is one transaction, durable when it returns.
pub trait Store: Send + Sync {
    /// Takes note of what a plan was made of, `(name, fingerprint)`: the schedules of jobs and of groups' pickup slots,
    /// and the zones that they go by. A name that is new or whose fingerprint changed starts after `now`; one that is
    /// gone is forgotten. Returns where each starts.
    fn adopt<'a>(
        &'a self,
        schedules: &'a [(String, String)],
        now: DateTime<Utc>,
    ) -> Stored<'a, Vec<(String, DateTime<Utc>)>>;
    /// The instant up to which every slot has been dealt with; `None` in a new store.
    fn watermark(&self) -> Stored<'_, Option<DateTime<Utc>>>;
    /// Claims the slots of one wake-up and moves the watermark, all or nothing. Slots that someone else has claimed are
    /// left out of the answer; those that [`keep::is_void`](super::keep::is_void) says are claimed anew. A `Fire` or
    /// `CatchUp` claim closes, as merged into the new run, the pending deferrals of the same job whose `not_before` its slot
    /// has reached. The pauses on record at that moment have the last word, [`Pauses::fate`].
    fn claim(&self, tick: Tick) -> Stored<'_, Vec<Claimed>>;
    /// The schedules on record.
    fn schedules(&self) -> Stored<'_, Vec<ScheduleRow>>;
    /// Moves the starts of schedules ahead, never back: what lies before is not looked at any more.
    fn skip<'a>(&'a self, starts: &'a [(String, DateTime<Utc>)]) -> Stored<'a, ()>;
    /// Sets the watermark back after the clock stepped back by more than three hours; further still, to before the
    /// slots that the clock recorded while it was ahead and nothing was sent for. Holds and breakers are set back too.
    /// Pending work whose instant lies ahead may go at once; only what a missed slot left that lies ahead itself waits
    /// for that slot.
    fn rewind(&self, watermark: DateTime<Utc>) -> Stored<'_, ()>;
    /// Takes the oldest pending deferral that a slot of this group may carry, and starts its run; none of a job or home
    /// group that is paused at that moment.
    fn take_deferral<'a>(
        &'a self,
        pickup: PickupAt<'a>,
        now: DateTime<Utc>,
    ) -> Stored<'a, Option<Taken>>;
    /// The pending deferrals, by `not_before`.
    fn deferrals(&self) -> Stored<'_, Vec<Deferral>>;
    /// Every pause on record, also those that have ended.
    fn pauses(&self) -> Stored<'_, Pauses>;
    /// Starts a run that a person asked for; `lease_until` tells others when it counts as lost. Its row has the instant
    /// of the asking, or one that is later by milliseconds if a run of the job has that, [`super::keep::manual_instant`].
    fn begin_manual(&self, start: ManualStart) -> Stored<'_, RunId>;
    /// Asks the group's guard, spends on admission, and records that attempt `n` of the run starts now.
    fn admit<'a>(&'a self, ask: Ask<'a>) -> Stored<'a, Result<Permit, Refusal>>;
    /// Uses up the permit, places a hold if there is one, and records how the attempt ended and what it brought. An
    /// attempt ends once: what was recorded and not heard of counts for nothing when it is told again.
    fn record<'a>(&'a self, told: Told<'a>) -> Stored<'a, ()>;
    /// Takes down an answer that came with a batch; one that is there already stays.
    fn collect<'a>(&'a self, collected: Collected<'a>) -> Stored<'a, ()>;
    /// The batches whose runs are still open, by their next look.
    fn batches(&self) -> Stored<'_, Vec<OpenBatch>>;
    /// Takes down that a batch was looked at, and when it is next.
    fn looked(&self, run: RunId, next: DateTime<Utc>) -> Stored<'_, ()>;
    /// How far the work of a slot has come in earlier runs: its items, and the answers that its steps have.
    /// Of items that changed only, those count as done that another slot has done as they are.
    fn progress<'a>(&'a self, slot: &'a Slot, which: Which) -> Stored<'a, Progress>;
    /// Splits the work of a slot into items, once: [`pieces::choose`](super::pieces::choose) says which. The answer is
    /// what is on record then.
    fn split<'a>(
        &'a self,
        slot: &'a Slot,
        offer: Offer<'a>,
        now: DateTime<Utc>,
    ) -> Stored<'a, Vec<Item>>;
    /// Ends an item of a run that goes on.
    fn settle(&self, end: PieceEnd) -> Stored<'_, ()>;
    /// Ends a run; a deferral among it is durable when this returns.
    fn finish(&self, finish: Finish) -> Stored<'_, ()>;
    /// The answers that wait to be delivered once more, by their instants.
    fn deliveries(&self) -> Stored<'_, Vec<Delivery>>;
    /// Takes down how a further try to deliver an answer ended. Once it is delivered, item, run and slot are amended:
    /// what had failed for want of the delivery has succeeded. Returns how the slot's last run counts now.
    fn redelivered(&self, end: Redelivered) -> Stored<'_, Option<Outcome>>;
    /// The daemon's runs that nobody works on, closed as interrupted, each with a deferral; and manual runs past their
    /// lease. Runs that wait for a batch are left alone. `under_way` are the runs that go on: none at the start, when whatever is open was cut off by a crash.
    fn recover<'a>(&'a self, under_way: &'a [RunId], now: DateTime<Utc>) -> Stored<'a, Vec<Run>>;
}

/// The slots of one wake-up.
#[derive(Debug, Clone)]
pub struct Tick {
    /// The wake-up.
    pub now: DateTime<Utc>,
    /// The new watermark.
    pub watermark: DateTime<Utc>,
    /// What to claim.
    pub slots: Vec<Claim>,
}

/// One slot to claim.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The slot.
    pub slot: Slot,
    /// Its group.
    pub group: GroupId,
    /// The job's model.
    pub model: String,
    /// What becomes of it.
    pub fate: Fate,
}

/// What becomes of a claimed slot.
#[derive(Debug, Clone)]
pub enum Fate {
    /// It runs now.
    Fire,
    /// Recorded as skipped.
    Skip(SkipReason),
    /// Recorded as yielded `missed`, with deferred work of origin catch-up.
    CatchUp(NewDeferral),
}

/// A claim that succeeded.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The slot.
    pub slot: Slot,
    /// Its run.
    pub run: RunId,
    /// What became of it: as asked, or skipped because of a pause.
    pub fate: Fate,
}

/// Deferred work to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDeferral {
    /// Not before this instant.
    pub not_before: DateTime<Utc>,
    /// The slot that will take it, as known now. For an open slot this is the promised instant itself.
    pub to: Option<DateTime<Utc>>,
    /// Carries so far, this one included.
    pub carries: u32,
    /// What slots may take it.
    pub rule: crate::schedule::DeferRule,
    /// Why there is deferred work.
    pub reason: YieldReason,
    /// `Deferred` or `CatchUp`.
    pub origin: Origin,
}

/// A pending deferral: the durable row that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deferral {
    /// The row's name.
    pub id: i64,
    /// The slot at which the work was due.
    pub slot: Slot,
    /// Its group.
    pub group: GroupId,
    /// How it waits.
    pub wait: NewDeferral,
}

/// Which slot takes deferrals.
#[derive(Debug, Clone, Copy)]
pub struct PickupAt<'a> {
    /// The group that the rows were written with.
    pub group: &'a GroupId,
    /// The slot's own group, whose pause counts: a job that moved has left the other.
    pub home: &'a GroupId,
    /// The slot's job; `None` for a pickup slot or a promised open slot.
    pub job: Option<&'a JobId>,
    /// The slot's instant.
    pub fire_at: DateTime<Utc>,
    /// Deferrals that this slot has already carried and that yielded again.
    pub skip: &'a [i64],
}

/// A deferral whose run has started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The deferral.
    pub deferral: Deferral,
    /// Its run.
    pub run: RunId,
}

/// A run that a person asked for.
#[derive(Debug, Clone)]
pub struct ManualStart {
    /// The job and the instant of asking.
    pub slot: Slot,
    /// Its group.
    pub group: GroupId,
    /// The job's model.
    pub model: String,
    /// When it counts as lost.
    pub lease_until: DateTime<Utc>,
}

/// An attempt that asks for admission.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The run.
    pub run: RunId,
    /// Which of its calls.
    pub call: &'a CallName,
    /// The model that is asked.
    pub model: &'a str,
    /// The group.
    pub group: &'a GroupId,
    /// What the guard goes by.
    pub policy: &'a GuardPolicy,
    /// Counted from 1.
    pub n: u32,
    /// The wait before it.
    pub wait: Duration,
    /// The attempt's timeout plus 5 s.
    pub lease: Duration,
    /// What it may cost at most; `None` if its price is unknown.
    pub reserve: Option<Dollars>,
    /// When.
    pub now: DateTime<Utc>,
}

/// An attempt that ended.
#[derive(Debug)]
pub struct Told<'a> {
    /// The run.
    pub run: RunId,
    /// Which of its calls.
    pub call: &'a CallName,
    /// The group.
    pub group: &'a GroupId,
    /// What the guard goes by.
    pub policy: &'a GuardPolicy,
    /// Counted from 1.
    pub n: u32,
    /// From [`Store::admit`].
    pub permit: Permit,
    /// What the breaker is told; `None` gives the permit back: we cancelled it ourselves.
    pub sample: Option<Sample>,
    /// The group must be held.
    pub hold: Option<Hold>,
    /// What it cost, against what was reserved for it.
    pub bill: Bill,
    /// How it ended.
    pub end: AttemptEnd,
    /// What it brought.
    pub answer: Option<Brought<'a>>,
    /// The batch that was taken in by it: its run stays open until the results are there.
    pub batch: Option<HandedIn>,
    /// Dollars of the call so far, its failed attempts included; `None` means unknown, not zero.
    pub cost_usd: Option<Dollars>,
    /// When.
    pub now: DateTime<Utc>,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct Finish {
    /// The run.
    pub run: RunId,
    /// How.
    pub outcome: Outcome,
    /// One sentence for a person.
    pub note: Option<String>,
    /// The answer, if one came; kept whole when it could not be delivered. `None` for a run of many items.
    pub answer: Option<Answer>,
    /// Dollars, of failed attempts too; `None` means unknown, not zero.
    pub cost_usd: Option<Dollars>,
    /// What became of the answer that was owed, if one was.
    pub delivery: Option<DeliveryEnd>,
    /// Where the answer went, complete or kept beside.
    pub output: Option<PathBuf>,
    /// The work that goes on in a later slot.
    pub deferral: Option<NewDeferral>,
    /// The deferral that this run carried; it ends with the run.
    pub carried: Option<i64>,
    /// When.
    pub now: DateTime<Utc>,
}
