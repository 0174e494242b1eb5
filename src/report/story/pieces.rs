//! Items, batches and deliveries of a slot.

use super::clock::{Face, counted};
use super::{About, BatchRecord, DeliveryRecord, DeliveryState, ItemRecord, Record, Told};
use crate::outcome::{Outcome, Run, SkipReason};

/// So many items that did not succeed are named.
const MOST: usize = 5;

/// What a run handed in as message batches.
pub(super) fn batches(record: &Record, run: &Run, face: &Face<'_>) -> Vec<Told> {
    let of_run = record.batches.iter().filter(|batch| batch.run == run.id);
    of_run.map(|batch| handed_in(batch, run, face)).collect()
}

fn handed_in(batch: &BatchRecord, run: &Run, face: &Face<'_>) -> Told {
    let calls = counted(batch.calls as usize, "call");
    let looks = match (&run.outcome, batch.looks) {
        (Some(_), 0) => "the first look found its results".to_owned(),
        (None, 0) => "it was not looked at yet".to_owned(),
        (Some(_) | None, looks) => {
            format!(
                "it was looked at {} in vain",
                counted(looks as usize, "time")
            )
        }
    };
    let next = match run.outcome {
        Some(_) => String::new(),
        None => format!(
            "; the next look is at {}, and calls without an answer expire at {}",
            face.at(batch.look_at),
            face.at(batch.expires_at)
        ),
    };
    Told {
        about: About::Batch,
        at: None,
        text: format!(
            "{calls} went out as the batch `{}`; {looks}{next}.",
            batch.id
        ),
    }
}

/// How the items of a slot ended, and the first of those that did not succeed.
pub(super) fn items(record: &Record) -> Vec<Told> {
    if record.items.is_empty() {
        return Vec::new();
    }
    let sum = Sum::of(&record.items);
    let mut told = vec![plain(About::Items, sum.sentence(record.items.len()))];
    let short: Vec<&ItemRecord> = record.items.iter().filter(|item| is_short(item)).collect();
    told.extend(short.iter().take(MOST).map(|item| named(item)));
    if short.len() > MOST {
        let text = format!(
            "{} more; `offpeak history {} --items` lists every item.",
            short.len() - MOST,
            record.job
        );
        told.push(plain(About::Items, text));
    }
    told
}

/// How many items ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    /// With a complete answer.
    pub succeeded: usize,
    /// Without one.
    pub failed: usize,
    /// Nothing was to be done, or another slot does it.
    pub skipped: usize,
    /// Still to be done.
    pub left: usize,
}

impl Sum {
    /// Counts items.
    #[must_use]
    pub fn of(items: &[ItemRecord]) -> Self {
        let mut sum = Self::default();
        for item in items {
            match &item.outcome {
                Some(Outcome::Succeeded) => sum.succeeded += 1,
                Some(Outcome::Skipped(_)) => sum.skipped += 1,
                Some(
                    Outcome::Incomplete(_)
                    | Outcome::Yielded(_)
                    | Outcome::Exhausted
                    | Outcome::Failed(_),
                ) => sum.failed += 1,
                None => sum.left += 1,
            }
        }
        sum
    }

    fn sentence(self, all: usize) -> String {
        let parts = [
            (self.succeeded, "succeeded"),
            (self.failed, "did not"),
            (self.skipped, "skipped"),
            (self.left, "still to be done"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("{number} {what}"))
            .collect();
        format!(
            "The slot was split into {}: {}.",
            counted(all, "item"),
            parts.join(", ")
        )
    }
}

fn is_short(item: &ItemRecord) -> bool {
    match &item.outcome {
        Some(Outcome::Succeeded | Outcome::Skipped(SkipReason::Merged)) | None => false,
        Some(
            Outcome::Incomplete(_)
            | Outcome::Yielded(_)
            | Outcome::Exhausted
            | Outcome::Failed(_)
            | Outcome::Skipped(_),
        ) => true,
    }
}

fn named(item: &ItemRecord) -> Told {
    let outcome = item.outcome.as_ref().map(ToString::to_string);
    let note = item.note.as_ref();
    let note = note.map_or_else(String::new, |note| format!(" ({note})"));
    plain(
        About::Items,
        format!("`{}`: {}{note}.", item.name, outcome.unwrap_or_default()),
    )
}

/// The deliveries that did not go well at once.
pub(super) fn deliveries(record: &Record, face: &Face<'_>) -> Vec<Told> {
    let troubled = record.deliveries.iter().filter(|owed| is_news(owed));
    troubled.map(|owed| delivery(owed, face)).collect()
}

fn is_news(owed: &DeliveryRecord) -> bool {
    match owed.state {
        DeliveryState::Delivered => owed.tries > 1,
        DeliveryState::Owed | DeliveryState::Left => true,
    }
}

fn delivery(owed: &DeliveryRecord, face: &Face<'_>) -> Told {
    let item = owed.item.as_ref();
    let item = item.map_or_else(String::new, |item| format!(" for `{item}`"));
    let trouble = owed.trouble.as_ref();
    let trouble = trouble.map_or_else(String::new, |trouble| format!(": {trouble}"));
    let tries = counted(owed.tries as usize, "try").replace("trys", "tries");
    let text = match owed.state {
        DeliveryState::Delivered => format!(
            "The answer{item} was owed to its places from {} on, and was delivered at the {} try; the model was not \
             called again.",
            face.at(owed.since),
            ordinal(owed.tries)
        ),
        DeliveryState::Owed if owed.tries == 0 => format!(
            "The answer{item} is owed to its places since {}; a daemon delivers it.",
            face.at(owed.since)
        ),
        DeliveryState::Owed => format!(
            "The answer{item} is owed to its places since {}, after {tries} in vain{trouble}. A daemon tries again at {}; \
             the model is not called again.",
            face.at(owed.since),
            face.at(owed.not_before)
        ),
        DeliveryState::Left => {
            format!("The answer{item} is left in the store after {tries}{trouble}.")
        }
    };
    Told {
        about: About::Delivery,
        at: owed.ended_at,
        text,
    }
}

fn ordinal(number: u32) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}

fn plain(about: About, text: String) -> Told {
    Told {
        about,
        at: None,
        text,
    }
}
