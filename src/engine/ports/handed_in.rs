//! What the store keeps of batches: handed in by a run that stays open until the results are there.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{Brought, Deferral};
use crate::job::KeyId;
use crate::money::Dollars;
use crate::outcome::RunId;
use crate::piece::CallName;
use crate::slot::{Origin, Slot};

/// A batch that was taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedIn {
    /// The server's name for it.
    pub id: String,
    /// The key that it was handed in with.
    pub key: KeyId,
    /// When parts without an answer expire.
    pub expires_at: DateTime<Utc>,
    /// When it is looked at first.
    pub look_at: DateTime<Utc>,
    /// The items of its parts, in order: the n-th part is named [`part_name`] of n. `None` is the one part of a job
    /// without items.
    pub parts: Vec<Option<Arc<str>>>,
}

/// A batch whose results are still to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenBatch {
    /// Its run.
    pub run: RunId,
    /// The slot at which the work was due.
    pub slot: Slot,
    /// Why the run was done when it was.
    pub origin: Origin,
    /// The deferral that the run carries.
    pub carried: Option<Deferral>,
    /// How often it was looked at.
    pub looks: u32,
    /// What was handed in; `look_at` is the next look.
    pub batch: HandedIn,
}

/// An answer that came with a batch.
#[derive(Debug, Clone, Copy)]
pub struct Collected<'a> {
    /// Its run.
    pub run: RunId,
    /// Which of its calls.
    pub call: &'a CallName,
    /// What came.
    pub answer: Brought<'a>,
    /// Dollars; `None` means unknown, not zero.
    pub cost_usd: Option<Dollars>,
    /// When.
    pub now: DateTime<Utc>,
}

/// The name of the n-th part of a batch, counted from 1.
#[must_use]
pub fn part_name(n: usize) -> String {
    format!("p{n}")
}
