//! Whether the store works, as far as the engine has seen.
//!
//! A disk that stays full for a night fails every few seconds. A person wants to read of it twice: when it began, and
//! when it was over.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

/// How many different complaints of one outage are told; a message with a number in it must not fill the log.
const MOST_TOLD: usize = 5;

/// Keeps count while the store fails.
#[derive(Debug, Default)]
pub(super) struct Outage {
    going_on: Option<GoingOn>,
}

/// An outage that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Over {
    /// When the store failed first.
    pub since: DateTime<Utc>,
    /// How many steps it failed.
    pub failures: usize,
}

#[derive(Debug)]
struct GoingOn {
    since: DateTime<Utc>,
    failures: usize,
    told: BTreeSet<String>,
}

impl Outage {
    /// Takes note of a step that failed; whether that is news.
    pub fn note(&mut self, message: &str, now: DateTime<Utc>) -> bool {
        let going_on = self.going_on.get_or_insert_with(|| GoingOn {
            since: now,
            failures: 0,
            told: BTreeSet::new(),
        });
        going_on.failures += 1;
        going_on.told.len() < MOST_TOLD && going_on.told.insert(message.to_owned())
    }

    /// Takes note of a step that worked; `None` if none had failed before.
    pub fn end(&mut self) -> Option<Over> {
        self.going_on.take().map(|it| Over {
            since: it.since,
            failures: it.failures,
        })
    }

    /// How many steps failed since the last that worked.
    pub fn failures(&self) -> usize {
        self.going_on.as_ref().map_or(0, |it| it.failures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

    #[test]
    fn each_complaint_is_news_once_and_the_end_counts_them_all() {
        let mut outage = Outage::default();
        assert_eq!(outage.end(), None);
        let later = START + chrono::TimeDelta::hours(1);
        let news: Vec<bool> = ["full", "full", "gone", "full", "gone"]
            .iter()
            .zip([START, later, later, later, later])
            .map(|(message, at)| outage.note(message, at))
            .collect();
        assert_eq!(news, [true, false, true, false, false]);
        assert_eq!(outage.failures(), 5);
        let over = Over {
            since: START,
            failures: 5,
        };
        assert_eq!(outage.end(), Some(over));
        assert_eq!((outage.end(), outage.failures()), (None, 0));
        assert!(outage.note("full", later), "a second outage is news again");
    }

    #[test]
    fn complaints_that_always_differ_end_at_a_limit() {
        let mut outage = Outage::default();
        let told = (0..100)
            .filter(|n| outage.note(&format!("run {n}"), START))
            .count();
        assert_eq!((told, outage.failures()), (MOST_TOLD, 100));
    }
}
