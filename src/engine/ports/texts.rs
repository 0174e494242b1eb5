//! What goes to and fro between the engine and a workspace.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::answer::Answer;
use crate::job::Job;
use crate::outcome::FailReason;
use crate::piece::Item;
use crate::slot::Slot;

/// What became of a job's inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gathered {
    /// The texts by name, in the order of the file.
    Ready(Vec<(String, String)>),
    /// Every input was empty, and the job skips then.
    Empty,
    /// They cannot be used.
    Failed(Unready),
}

/// Why there is nothing to send: the reason, and a sentence for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unready {
    /// The reason.
    pub reason: FailReason,
    /// A sentence for a person.
    pub message: String,
}

/// What one call's template is filled in with.
#[derive(Debug, Clone, Copy)]
pub struct Brief<'a> {
    /// Whose template.
    pub job: &'a Job,
    /// The slot at which the work was due.
    pub slot: &'a Slot,
    /// From [`Workspace::gather`](super::Workspace::gather).
    pub inputs: &'a [(String, String)],
    /// The item whose turn it is; `None` for a job without `for_each`.
    pub item: Option<&'a Item>,
    /// The answers of the steps before, in order: their number says which step is next.
    pub answers: &'a [String],
}

/// An answer on its way to where the job wants it.
#[derive(Debug, Clone, Copy)]
pub struct Parcel<'a> {
    /// Whose answer.
    pub job: &'a Job,
    /// The slot at which the work was due.
    pub slot: &'a Slot,
    /// The item that it is for; `None` for a job without `for_each`.
    pub item: Option<&'a Item>,
    /// What the model wrote.
    pub answer: &'a Answer,
    /// The kinds of places that have it already, and those that get it now.
    pub reached: &'a Reached,
    /// Files that a later slot's answer stands in; they are left alone.
    pub newer: &'a [PathBuf],
}

/// A kind of place that an answer goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A file of its own.
    File,
    /// The end of a file.
    Append,
    /// A program.
    Command,
    /// A webhook.
    Webhook,
}

/// The kinds of places that an answer has reached. Known at any moment, also when a delivery is cut off.
#[derive(Debug, Default)]
pub struct Reached(AtomicU32);

impl Reached {
    /// As it was stored, see [`Reached::bits`].
    #[must_use]
    pub const fn new(bits: u32) -> Self {
        Self(AtomicU32::new(bits))
    }

    /// To be stored: the kinds, not their order in an output that may be edited meanwhile.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether this kind of place has the answer.
    #[must_use]
    pub fn has(&self, place: Place) -> bool {
        self.bits() & place.bit() != 0
    }

    /// It has it now.
    pub fn add(&self, place: Place) {
        self.0.fetch_or(place.bit(), Ordering::Relaxed);
    }
}

impl Place {
    const fn bit(self) -> u32 {
        match self {
            Self::File => 1,
            Self::Append => 2,
            Self::Command => 4,
            Self::Webhook => 8,
        }
    }
}

/// An answer that did not get everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// A sentence for a person.
    pub message: String,
    /// Where it went, if that is a file.
    pub output: Option<PathBuf>,
    /// Whether another try may end better: the place itself is no mistake in the job.
    pub may_work_later: bool,
}
