//! Tells what one slot did and why, in sentences, from what is on record of it.
//!
//! [`tell`] takes a [`Record`] and returns a [`Story`]; [`render_story`] draws it as text. Nothing is read here, and
//! nothing is asked of the plan but what [`Knowledge`] holds.

mod advice;
mod attempts;
mod clock;
mod cost;
mod drawing;
mod end;
mod pieces;
mod record;
mod runs;
mod words;

use chrono::{DateTime, Utc};

use crate::outcome::{SkipReason, YieldReason};
use crate::slot::Origin;
use clock::{Face, counted, span};
use cost::cost;
use end::End;

pub use clock::{Civil, Clocks};
pub use drawing::render_story;
pub use pieces::Sum;
pub use record::{
    BatchRecord, DeliveryRecord, DeliveryState, HoldRecord, ItemRecord, PauseRecord, Record, Work,
    WorkState,
};

/// What the plan in force says of the job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// Whether the job is in it.
    pub is_planned: bool,
    /// How often its work is carried.
    pub max_carries: Option<u32>,
    /// The most that an answer may be long, in tokens.
    pub max_tokens: Option<u32>,
}

/// What a slot did, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    /// Which slot.
    pub headline: String,
    /// How it stands, in one sentence.
    pub gist: String,
    /// What happened, in order.
    pub told: Vec<Told>,
    /// What may be done, most important first; empty if nothing has to be.
    pub next: Vec<Advice>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Of what kind.
    pub about: About,
    /// When, if that is on record.
    pub at: Option<DateTime<Utc>>,
    /// A sentence or two.
    pub text: String,
}

/// What a sentence is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The claim of the slot.
    Claim,
    /// The beginning of a run.
    Run,
    /// A request and what the upstream said.
    Attempt,
    /// A message batch.
    Batch,
    /// A gate that refused.
    Gate,
    /// The end of a run.
    Outcome,
    /// Where the work went.
    Deferral,
    /// Items.
    Items,
    /// An answer on its way to its places.
    Delivery,
    /// Tokens and dollars.
    Cost,
}

impl About {
    /// The word used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Run => "run",
            Self::Attempt => "attempt",
            Self::Batch => "batch",
            Self::Gate => "gate",
            Self::Outcome => "outcome",
            Self::Deferral => "deferral",
            Self::Items => "items",
            Self::Delivery => "delivery",
            Self::Cost => "cost",
        }
    }
}

/// Something that a person may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What, as part of a sentence.
    pub text: String,
    /// The command for it.
    pub command: Option<String>,
}

/// Tells what a slot did.
#[must_use]
pub fn tell(record: &Record, knowledge: Knowledge, clocks: Clocks<'_>) -> Story {
    let face = Face {
        clocks,
        fire_at: record.fire_at,
    };
    let end = End::of(record);
    let runs = 0..record.runs.len();
    let mut told: Vec<Told> = runs
        .flat_map(|at| runs::run(record, at, knowledge, &face))
        .collect();
    told.extend(pieces::items(record));
    told.extend(pieces::deliveries(record, &face));
    told.extend(asked_again(record, &face));
    told.extend(cost(&record.runs));
    Story {
        headline: headline(record, &face),
        gist: gist(record, &end, &face),
        told,
        next: advice::advice(record, &end, knowledge, &face),
    }
}

fn headline(record: &Record, face: &Face<'_>) -> String {
    let group = record
        .runs
        .last()
        .map(|run| format!(" (group {})", run.group));
    let what = if is_asked_for(record) { "run" } else { "slot" };
    format!(
        "{}, {what} of {}{}",
        record.job,
        face.full(record.fire_at),
        group.unwrap_or_default()
    )
}

/// Whether a person asked for the work, by `offpeak run`: then the schedule knows no such slot.
fn is_asked_for(record: &Record) -> bool {
    let first = record.runs.first();
    first.is_some_and(|run| run.origin == Origin::Manual)
}

fn gist(record: &Record, end: &End<'_>, face: &Face<'_>) -> String {
    match end {
        End::Nothing => "Nothing is on record but its claim.".to_owned(),
        End::Running => "Under way, as far as is on record.".to_owned(),
        End::Collecting => "Under way: its answers come with a batch.".to_owned(),
        End::Succeeded(run) => {
            let done = run.finished_at.unwrap_or(run.started_at);
            let late = (done - record.fire_at).to_std().unwrap_or_default();
            let sent: usize = record.runs.iter().map(|run| run.attempts.len()).sum();
            let runs = match record.runs.len() {
                0 | 1 => String::new(),
                runs => format!(" in {runs} runs"),
            };
            let since = if is_asked_for(record) {
                "it was asked for"
            } else {
                "the slot"
            };
            format!(
                "Succeeded {} after {since}, with {}{runs}.",
                span(late),
                counted(sent, "attempt")
            )
        }
        End::Waits(work) => match work.to {
            Some(to) => format!(
                "Not done yet: the work waits for the slot of {}.",
                face.at_peaks(to)
            ),
            None => format!(
                "Not done yet: the work waits for the first slot that may take it, not before {}.",
                face.at(work.not_before)
            ),
        },
        End::Incomplete(reason) => format!("Answered, but incomplete: {reason}."),
        End::Exhausted => {
            "Not done: every attempt failed, and the work is not carried on.".to_owned()
        }
        End::Failed(reason) => format!("Failed: {reason}."),
        End::Skipped(SkipReason::Merged) => {
            "Merged: another slot of the job does its work.".to_owned()
        }
        End::Skipped(reason) => format!("Skipped: {reason}."),
        End::Yielded(reason) => {
            format!("Yielded: {reason}; nothing on record carries the work on.")
        }
    }
}

/// Work that waits once more after its last run was over.
fn asked_again(record: &Record, face: &Face<'_>) -> Option<Told> {
    let work = record
        .works
        .iter()
        .find(|work| work.state == WorkState::Waits)?;
    if work.reason != YieldReason::Asked {
        return None;
    }
    let to = work.to.map_or_else(
        || "the first slot that may take it".to_owned(),
        |to| format!("the slot of {}", face.at_peaks(to)),
    );
    Some(Told {
        about: About::Deferral,
        at: None,
        text: format!("A person asked for the work again, by `offpeak retry`; it waits for {to}."),
    })
}

#[cfg(test)]
mod tests;
