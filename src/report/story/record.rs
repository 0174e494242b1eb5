//! What is on record of one slot, as plain values.

use std::path::PathBuf;

use chrono::{DateTime, Utc};

use crate::job::{GroupId, JobId};
use crate::outcome::{Outcome, Run, RunId, YieldReason};

/// What is on record of one slot.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Whose slot.
    pub job: JobId,
    /// The nominal instant.
    pub fire_at: DateTime<Utc>,
    /// When the daemon claimed it; `None` for a run that a person asked for, and if the claim was pruned.
    pub claimed_at: Option<DateTime<Utc>>,
    /// Its runs, oldest first.
    pub runs: Vec<Run>,
    /// Its deferred work, oldest row first.
    pub works: Vec<Work>,
    /// The items that it was split into, in order.
    pub items: Vec<ItemRecord>,
    /// The answers that were owed to their places, in the order in which they came.
    pub deliveries: Vec<DeliveryRecord>,
    /// The message batches that its runs handed in.
    pub batches: Vec<BatchRecord>,
    /// The pauses of its job or group that covered its fire time or are on now.
    pub pauses: Vec<PauseRecord>,
    /// The hold of its group now.
    pub hold: Option<HoldRecord>,
}

/// Deferred work and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Where it stands.
    pub state: WorkState,
    /// Why it was deferred last.
    pub reason: YieldReason,
    /// Not before this instant.
    pub not_before: DateTime<Utc>,
    /// The slot that takes it, as known when it was deferred.
    pub to: Option<DateTime<Utc>>,
    /// How often it has been carried.
    pub carries: u32,
    /// The slot that made the same call, for merged work whose run is still on record.
    pub merged_into: Option<DateTime<Utc>>,
}

/// Where deferred work stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkState {
    /// It waits for a slot.
    Waits,
    /// A run carries it.
    Runs,
    /// It ended.
    Ended,
}

/// One of the things that a slot makes a call for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemRecord {
    /// Its name within the slot.
    pub name: String,
    /// How it ended; `None` while it is to be done.
    pub outcome: Option<Outcome>,
    /// One sentence for a person.
    pub note: Option<String>,
}

/// An answer that was owed to its places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRecord {
    /// The run that brought it.
    pub run: RunId,
    /// The item that it is for.
    pub item: Option<String>,
    /// Where it stands.
    pub state: DeliveryState,
    /// How often it was tried.
    pub tries: u32,
    /// When the answer came.
    pub since: DateTime<Utc>,
    /// The next try, while it is owed.
    pub not_before: DateTime<Utc>,
    /// Where it went, if that is a file.
    pub output: Option<PathBuf>,
    /// What went wrong last.
    pub trouble: Option<String>,
    /// When it was delivered, or left in the store.
    pub ended_at: Option<DateTime<Utc>>,
}

/// Where a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// It is tried again.
    Owed,
    /// Its places have it.
    Delivered,
    /// It is left in the store.
    Left,
}

impl DeliveryState {
    /// The word used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owed => "owed",
            Self::Delivered => "delivered",
            Self::Left => "left",
        }
    }
}

/// A message batch that a run handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRecord {
    /// The run.
    pub run: RunId,
    /// The server's name for it.
    pub id: String,
    /// How many calls it holds.
    pub calls: u32,
    /// How often it was looked at in vain.
    pub looks: u32,
    /// The next look, while its run is open.
    pub look_at: DateTime<Utc>,
    /// When calls without an answer expire.
    pub expires_at: DateTime<Utc>,
}

/// A pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PauseRecord {
    /// What `offpeak resume` is told to lift it.
    pub target: String,
    /// When it began.
    pub since: DateTime<Utc>,
    /// When it ends by itself, or was lifted; `None` if it lasts until a person lifts it.
    pub until: Option<DateTime<Utc>>,
    /// Why, in a person's words.
    pub reason: Option<String>,
    /// Whether it is on now.
    pub is_on: bool,
}

/// A hold of the slot's group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldRecord {
    /// The group.
    pub group: GroupId,
    /// When it lifts by itself; `None` waits for a person.
    pub until: Option<DateTime<Utc>>,
    /// One sentence for a person.
    pub note: String,
}
