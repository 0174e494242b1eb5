//! What the store keeps of the pieces of a slot's work: answers, items, deliveries.

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::answer::Answer;
use crate::job::Which;
use crate::outcome::{Outcome, RunId};
use crate::piece::Item;
use crate::slot::Slot;

/// The answer of an attempt.
#[derive(Debug, Clone, Copy)]
pub struct Brought<'a> {
    /// The answer, whole: what earlier parts of it said stands before.
    pub answer: &'a Answer,
    /// What it is to its run.
    pub role: Role,
}

/// What an answer is to its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is to be delivered: it is owed from here on, whatever becomes of the run.
    Owed,
    /// It is what a later step needs.
    Step,
    /// It ended, and is incomplete.
    Whole,
    /// More of it is to come: its text is not kept here.
    Part,
}

/// How far the work of a slot has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// Its items that still have no end and are not owed a delivery, in order; `None` before it was split.
    pub open: Option<Vec<Item>>,
    /// How many items it was split into.
    pub of: usize,
    /// The worst end of those that have one, success left out; an answer that is owed counts as not delivered.
    pub worst: Option<Outcome>,
    /// The texts of the steps that were answered, in order.
    pub steps: Vec<StepAnswer>,
}

/// The answer of a step, for those after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepAnswer {
    /// The item's name; `None` for a job without `for_each`.
    pub item: Option<Arc<str>>,
    /// Counted from 1.
    pub step: u32,
    /// What the model wrote.
    pub text: String,
}

/// The items that a slot may be split into.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// All of them, in order.
    pub items: &'a [Item],
    /// Which are taken.
    pub which: Which,
    /// The most that are taken.
    pub limit: Option<u32>,
}

/// How an item ended.
#[derive(Debug, Clone)]
pub struct PieceEnd {
    /// The run that worked on it.
    pub run: RunId,
    /// Its slot.
    pub slot: Slot,
    /// Its name.
    pub item: Arc<str>,
    /// How.
    pub outcome: Outcome,
    /// One sentence for a person.
    pub note: Option<String>,
    /// What became of the answer that was owed, if one was.
    pub delivery: Option<DeliveryEnd>,
    /// When.
    pub now: DateTime<Utc>,
}

/// How a try to deliver an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryEnd {
    /// The kinds of places that have it now, as [`Reached::bits`](super::Reached::bits).
    pub placed: u32,
    /// Where it went, if that is a file.
    pub output: Option<PathBuf>,
    /// What is done about it.
    pub then: After,
}

/// What is done about an answer after a try to deliver it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// It is everywhere.
    Done,
    /// It is tried again then; what went wrong.
    Again(DateTime<Utc>, String),
    /// It is left in the store; what went wrong.
    GiveUp(String),
}

/// An answer that waits to be delivered.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The row's name.
    pub id: i64,
    /// Its run.
    pub run: RunId,
    /// Whose work.
    pub slot: Slot,
    /// The item that it is for; its text only if it was kept with the slot.
    pub item: Option<Item>,
    /// The answer.
    pub answer: Answer,
    /// How often it was tried.
    pub tries: u32,
    /// The kinds of places that have it, as [`Reached::bits`](super::Reached::bits).
    pub placed: u32,
    /// The files that hold answers of later slots of its job.
    pub newer: Vec<PathBuf>,
    /// When it came.
    pub since: DateTime<Utc>,
    /// Not before this instant.
    pub not_before: DateTime<Utc>,
}

/// How a further try to deliver an answer ended.
#[derive(Debug, Clone)]
pub struct Redelivered {
    /// Of [`Delivery`].
    pub id: i64,
    /// How.
    pub end: DeliveryEnd,
    /// When.
    pub now: DateTime<Utc>,
}
