//! What had to be assumed of the jobs, in words.

use std::collections::{BTreeMap, BTreeSet};

use super::Guess;
use super::items::UNLISTED;
use crate::cli::money::grouped;
use crate::job::JobId;

/// So many names stand in a line; the rest is counted.
const NAMES: usize = 4;

/// What had to be assumed, of which jobs.
#[derive(Debug, Default)]
pub struct Assumed(BTreeMap<Kind, BTreeSet<String>>);

/// What was assumed; in the order in which it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The text of an input that a command or an address would bring.
    NotRun,
    /// The text of an input whose file cannot be read.
    Unreadable,
    /// That there is something in inputs that are all empty now.
    Empty,
    /// How many items there are.
    Unlisted,
    /// That the job has no item at any slot.
    NoItem,
    /// That all items are new at each slot.
    Changed,
    /// That items are of one size.
    Middle,
    /// How long the answers are that later steps repeat.
    Answers,
    /// The size of a request that cannot be made.
    Unfilled,
    /// That a cached part is never read.
    Fleeting,
}

impl Assumed {
    /// Notes it of a job, or of an input or step of it.
    pub(super) fn note(&mut self, kind: Kind, job: &JobId, part: Option<&str>) {
        let name = match part {
            Some(part) => format!("`{part}` of `{job}`"),
            None => format!("`{job}`"),
        };
        self.0.entry(kind).or_default().insert(name);
    }

    /// One line for each kind.
    #[must_use]
    pub fn lines(&self, guess: &Guess) -> Vec<String> {
        let line = |(kind, names): (&Kind, &BTreeSet<String>)| {
            format!("{}: {}", kind.words(guess), listed(names))
        };
        self.0.iter().map(line).collect()
    }
}

impl Kind {
    fn words(self, guess: &Guess) -> String {
        let tokens = grouped(guess.unread_tokens);
        match self {
            Self::NotRun => {
                format!("a command that is not run, or an address, brings {tokens} tokens")
            }
            Self::Unreadable => format!("a file that cannot be read holds {tokens} tokens"),
            Self::Empty => {
                format!("inputs that are all empty now hold {tokens} tokens each at a slot")
            }
            Self::Unlisted => format!("items that are not known before a slot are {UNLISTED}"),
            Self::NoItem => "a job without an item now has none at any slot".to_owned(),
            Self::Changed => "all items have changed at each slot, up to the limit".to_owned(),
            Self::Middle => "all items are as large as the middle one".to_owned(),
            Self::Answers => format!(
                "an answer that a later step repeats has {} of its `max_tokens`",
                guess.answer_share
            ),
            Self::Unfilled => {
                format!("a request that cannot be made now has {tokens} tokens and no cached part")
            }
            Self::Fleeting => {
                "a cached part that is another at each slot or item, or cannot be told, is never read"
                    .to_owned()
            }
        }
    }
}

fn listed(names: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES).map(String::as_str).collect();
    match names.len().saturating_sub(NAMES) {
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}
