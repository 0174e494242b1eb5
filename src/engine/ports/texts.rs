//! What goes to and fro between the engine and a workspace.

use std::path::PathBuf;

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
    /// From [`Workspace::gather`].
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
    /// How many of the output's places have it already, in their order: file, append, command, webhook.
    pub placed: u32,
}

/// An answer that did not get everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// A sentence for a person.
    pub message: String,
    /// How many of the output's places have it now.
    pub placed: u32,
    /// Where it went, if that is a file.
    pub output: Option<PathBuf>,
    /// Whether another try may end better: the place itself is no mistake in the job.
    pub may_work_later: bool,
}
