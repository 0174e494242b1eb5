//! How many items a job has, and some of them to look at.

use super::assumed::Kind;
use super::{Reader, stand_in};
use crate::job::{ForEach, ItemSource, Job, Which};
use crate::piece::Item;
use crate::workspace::{Listing, RunCommands};

/// How many items are taken where nobody knows: few enough to be done in one slot.
pub(super) const UNLISTED: u32 = 10;

/// So many items are looked at to find one of middling size.
const LOOKED_AT: usize = 15;

/// The items of a job.
pub(super) struct Items {
    /// How many a slot takes; `None` for a job without.
    pub(super) count: Option<u32>,
    listed: Vec<Item>,
}

impl Items {
    /// Some of them, spread evenly over the list.
    pub(super) fn some(&self) -> impl Iterator<Item = &Item> {
        let count = self.listed.len();
        let looked_at = count.min(LOOKED_AT);
        let places = (0..looked_at).map(move |place| place * count / looked_at);
        places.filter_map(|place| self.listed.get(place))
    }
}

impl Reader<'_> {
    /// The items as they are now; those that only a command or an address would tell are taken for a few.
    pub(super) async fn items(&mut self, job: &Job) -> Items {
        let Some(for_each) = &job.for_each else {
            return Items {
                count: None,
                listed: Vec::new(),
            };
        };
        let listed = match self.files.items(job, RunCommands::No).await {
            Ok(Listing::Items(listed)) => listed,
            Ok(Listing::None | Listing::NotRun) | Err(_) => {
                self.assumed.note(Kind::Unlisted, &job.id, None);
                return self.unlisted(for_each);
            }
        };
        let kind = match (listed.len(), for_each.which) {
            (0, _) => Some(Kind::NoItem),
            (_, Which::ChangedSinceSuccess) => Some(Kind::Changed),
            (_, Which::All) => None,
        };
        if let Some(kind) = kind {
            self.assumed.note(kind, &job.id, None);
        }
        if listed.len() > 1 {
            self.assumed.note(Kind::Middle, &job.id, None);
        }
        let count = u32::try_from(listed.len()).unwrap_or(u32::MAX);
        Items {
            count: Some(taken(for_each, count)),
            listed,
        }
    }

    fn unlisted(&self, for_each: &ForEach) -> Items {
        let texts = match &for_each.source {
            // Their texts would be read, and there is no file.
            ItemSource::Files { .. } => Vec::new(),
            ItemSource::Lines(_) | ItemSource::Records(_) => {
                let text = stand_in(self.guess.unread_tokens);
                // Another of the same size shows what changes from item to item.
                vec![text.replace("words", "terms"), text]
            }
        };
        let listed = texts.into_iter().zip(1..).map(|(text, number)| Item {
            name: format!("line {number}"),
            key: String::new(),
            mark: String::new(),
            text: Some(text),
        });
        Items {
            count: Some(taken(for_each, UNLISTED)),
            listed: listed.collect(),
        }
    }
}

/// How many of so many items one slot takes.
fn taken(for_each: &ForEach, count: u32) -> u32 {
    for_each.limit.map_or(count, |limit| limit.min(count))
}
