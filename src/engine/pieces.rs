//! The rules of a slot's pieces that every store shares: which items a slot takes, when an answer that is owed is tried
//! again, and what its delivery amends.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use super::ports::{After, Offer, Undelivered};
use crate::job::Which;
use crate::outcome::{FailReason, Outcome};
use crate::piece::Item;

/// The first wait before an answer is delivered once more; each further one is twice as long.
const FIRST_WAIT: TimeDelta = TimeDelta::minutes(1);

/// No wait is longer: a disk or a server that works again is noticed within this.
const LONGEST_WAIT: TimeDelta = TimeDelta::hours(1);

/// An answer is delivered for so long; after that it is left in the store.
const PATIENCE: TimeDelta = TimeDelta::hours(24);

/// What is remembered of an item: the content with which it was tried last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// As [`Item::mark`].
    pub mark: String,
    /// Whether it succeeded.
    pub is_done: bool,
}

/// The items that a slot takes of those that are there.
///
/// Of changed ones those come first that an earlier slot left undone, then those that were never tried as they are, then
/// those that were tried and did not succeed: one that fails each time must not keep the others out.
#[must_use]
pub fn choose(
    offer: Offer<'_>,
    memory: impl Fn(&Item) -> Option<Memory>,
    left: &BTreeSet<String>,
) -> Vec<Item> {
    let limit = offer.limit.map_or(usize::MAX, |limit| limit as usize);
    let mut chosen: Vec<(u8, &Item)> = match offer.which {
        Which::All => offer.items.iter().map(|item| (0, item)).collect(),
        Which::ChangedSinceSuccess => {
            let rank = |item: &Item| match memory(item) {
                Some(known) if known.mark == item.mark && known.is_done => None,
                _ if left.contains(&item.key) => Some(0),
                Some(known) if known.mark == item.mark => Some(2),
                Some(_) | None => Some(1),
            };
            let ranked = offer.items.iter();
            ranked
                .filter_map(|item| Some((rank(item)?, item)))
                .collect()
        }
    };
    chosen.sort_by_key(|(rank, _)| *rank);
    chosen.truncate(limit);
    chosen.into_iter().map(|(_, item)| item.clone()).collect()
}

/// The worst of several ends: a failure before an incomplete answer, the first of each kind; `None` if all succeeded.
#[must_use]
pub fn worst<'a>(ends: impl Iterator<Item = &'a Outcome>) -> Option<Outcome> {
    let mut worst: Option<&Outcome> = None;
    for end in ends.filter(|end| **end != Outcome::Succeeded) {
        let is_worse =
            matches!(end, Outcome::Failed(_)) && !matches!(worst, Some(Outcome::Failed(_)));
        if worst.is_none() || is_worse {
            worst = Some(end);
        }
    }
    worst.cloned()
}

/// Whether an item counts as done for `changed_since`: it succeeded, or its answer is only on its way.
#[must_use]
pub fn is_done(outcome: &Outcome, then: Option<&After>) -> bool {
    match outcome {
        Outcome::Succeeded => true,
        Outcome::Failed(FailReason::Output) => matches!(then, Some(After::Again(..))),
        Outcome::Incomplete(_)
        | Outcome::Yielded(_)
        | Outcome::Exhausted
        | Outcome::Failed(_)
        | Outcome::Skipped(_) => false,
    }
}

/// What is done about an answer that did not get everywhere, after so many tries.
#[must_use]
pub fn after(lost: &Undelivered, tries: u32, since: DateTime<Utc>, now: DateTime<Utc>) -> After {
    let doublings = tries.saturating_sub(1).min(16);
    let wait = (FIRST_WAIT * 2_i32.pow(doublings)).min(LONGEST_WAIT);
    let at = now + wait;
    if lost.may_work_later && at - since <= PATIENCE {
        After::Again(at, lost.message.clone())
    } else {
        After::GiveUp(lost.message.clone())
    }
}

/// How a run counts once an answer of its slot that was owed is delivered; `None` if nothing changes. `pieces` are the
/// outcomes of the slot's items, after the delivery; none for a job without.
#[must_use]
pub fn amended<'a>(run: &Outcome, pieces: impl Iterator<Item = &'a Outcome>) -> Option<Outcome> {
    let owed = Outcome::Failed(FailReason::Output);
    if *run != owed {
        return None;
    }
    let pieces: Vec<&Outcome> = pieces.collect();
    let is_open = |piece: &&Outcome| **piece == owed || matches!(piece, Outcome::Yielded(_));
    if pieces.iter().any(is_open) {
        return None;
    }
    Some(worst(pieces.into_iter()).unwrap_or(Outcome::Succeeded))
}

/// The note of a run or item whose answer got everywhere in the end.
#[must_use]
pub fn delivered_note(tries: u32, at: DateTime<Utc>) -> String {
    format!(
        "delivered on try {tries}, at {}",
        at.format("%Y-%m-%d %H:%M:%SZ")
    )
}

/// The note of a run whose answer is not tried any more.
#[must_use]
pub fn given_up_note(tries: u32, trouble: &str) -> String {
    format!("{trouble}; after {tries} tries the answer is left in the store")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, mark: &str) -> Item {
        Item {
            name: name.to_owned(),
            key: name.to_owned(),
            mark: mark.to_owned(),
            text: None,
        }
    }

    fn names(items: &[Item]) -> Vec<&str> {
        items.iter().map(|item| item.name.as_str()).collect()
    }

    fn offer(items: &[Item], limit: Option<u32>) -> Offer<'_> {
        Offer {
            items,
            which: Which::ChangedSinceSuccess,
            limit,
        }
    }

    fn done(mark: &str) -> Memory {
        Memory {
            mark: mark.to_owned(),
            is_done: true,
        }
    }

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn lost() -> Undelivered {
        Undelivered {
            message: "no room".to_owned(),
            output: None,
            may_work_later: true,
        }
    }

    #[test]
    fn every_item_is_taken_in_order_up_to_the_limit() {
        let items = [item("b", "1"), item("a", "1"), item("c", "1")];
        let all = Offer {
            which: Which::All,
            ..offer(&items, Some(2))
        };
        let chosen = choose(all, |_| Some(done("1")), &BTreeSet::new());
        assert_eq!(names(&chosen), ["b", "a"]);
    }

    #[test]
    fn an_item_that_was_done_as_it_is_is_left_out() {
        let items = [item("a", "1"), item("b", "2")];
        let chosen = choose(offer(&items, None), |_| Some(done("1")), &BTreeSet::new());
        assert_eq!(names(&chosen), ["b"]);
    }

    #[test]
    fn what_was_left_goes_first_and_what_failed_goes_last() {
        let items = [item("a", "1"), item("b", "1"), item("c", "1")];
        let failed = || Memory {
            is_done: false,
            ..done("1")
        };
        let memory = |item: &Item| (item.name == "a").then(failed);
        let left = BTreeSet::from(["c".to_owned()]);
        let chosen = choose(offer(&items, None), memory, &left);
        assert_eq!(names(&chosen), ["c", "b", "a"]);
        let chosen = choose(offer(&items, Some(2)), memory, &left);
        assert_eq!(names(&chosen), ["c", "b"]);
    }

    #[test]
    fn what_was_left_and_done_since_is_left_out() {
        let items = [item("a", "1")];
        let left = BTreeSet::from(["a".to_owned()]);
        let chosen = choose(offer(&items, None), |_| Some(done("1")), &left);
        assert!(chosen.is_empty(), "{chosen:?}");
    }

    #[test]
    fn waits_double_up_to_an_hour_and_end_after_a_day() {
        let since = at("2026-12-01T05:00:00Z");
        let wait = |tries, now| match after(&lost(), tries, since, now) {
            After::Again(then, _) => Some((then - now).num_minutes()),
            After::Done | After::GiveUp(_) => None,
        };
        let minutes: Vec<Option<i64>> = (1..=8).map(|tries| wait(tries, since)).collect();
        let expected = [1, 2, 4, 8, 16, 32, 60, 60];
        assert_eq!(minutes, expected.map(Some));
        assert_eq!(wait(30, at("2026-12-02T04:00:00Z")), Some(60));
        assert_eq!(wait(30, at("2026-12-02T04:00:01Z")), None);
    }

    #[test]
    fn a_mistake_in_the_job_is_not_tried_again() {
        let since = at("2026-12-01T05:00:00Z");
        let lost = Undelivered {
            may_work_later: false,
            ..lost()
        };
        assert_eq!(
            after(&lost, 1, since, since),
            After::GiveUp("no room".to_owned())
        );
    }

    #[test]
    fn only_a_run_that_wanted_nothing_but_its_delivery_succeeds_by_it() {
        let owed = Outcome::Failed(FailReason::Output);
        let well = [Outcome::Succeeded, Outcome::Succeeded];
        assert_eq!(amended(&owed, well.iter()), Some(Outcome::Succeeded));
        assert_eq!(amended(&owed, [].iter()), Some(Outcome::Succeeded));
        assert_eq!(amended(&owed, [owed.clone()].iter()), None);
        let fatal = Outcome::Failed(FailReason::Fatal);
        let rest = [Outcome::Succeeded, fatal.clone()];
        assert_eq!(amended(&owed, rest.iter()), Some(fatal.clone()));
        assert_eq!(amended(&fatal, well.iter()), None);
    }
}
