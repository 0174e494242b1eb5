//! How many mistakes of one file are kept and listed: nobody reads a hundred thousand.

use std::collections::BTreeMap;

use super::mistakes::{Mistake, Unreadable};
use super::source::Place;

/// Mistakes of one file that are kept. Past them the file counts as unreadable, whatever level its rules have.
const MAX_KEPT: usize = 10_000;
/// Mistakes of one file that are listed.
const MAX_LISTED: usize = 100;

/// How many mistakes were found, by file.
#[derive(Debug, Default)]
pub struct Crowd {
    found: BTreeMap<String, usize>,
    overfull: Vec<Unreadable>,
}

impl Crowd {
    /// Counts a mistake; whether it is to be kept.
    pub fn admits(&mut self, place: &Place) -> bool {
        let file = place.file();
        if !self.found.contains_key(file) {
            self.found.insert(file.to_owned(), 0);
        }
        let Some(found) = self.found.get_mut(file) else {
            return true;
        };
        *found += 1;
        if *found == MAX_KEPT + 1 {
            self.overfull.push(Unreadable {
                path: file.to_owned(),
                place: Some(place.clone()),
                message: format!("this file holds more than {MAX_KEPT} mistakes"),
                help: Some("mend the first ones: the others are often of the same kind".to_owned()),
            });
        }
        *found <= MAX_KEPT
    }

    /// Whether a further mistake of this file would be kept: what is counted only needs no words.
    pub fn has_room(&self, place: &Place) -> bool {
        self.found
            .get(place.file())
            .is_none_or(|found| *found < MAX_KEPT)
    }

    /// The files with more mistakes than are kept.
    pub fn into_overfull(self) -> Vec<Unreadable> {
        self.overfull
    }
}

/// The first hundred mistakes of each file, and one in place of the others; what is accepted stays.
pub fn listed(mistakes: Vec<Mistake>) -> Vec<Mistake> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let unaccepted = mistakes.iter().filter(|mistake| mistake.accepted.is_none());
    for mistake in unaccepted {
        *counts.entry(mistake.place.file().to_owned()).or_default() += 1;
    }
    counts.retain(|_, count| *count > MAX_LISTED);
    if counts.is_empty() {
        return mistakes;
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut listed = Vec::new();
    for mistake in mistakes {
        let total = counts.get(mistake.place.file());
        let Some(total) = total.filter(|_| mistake.accepted.is_none()) else {
            listed.push(mistake);
            continue;
        };
        let number = seen.entry(mistake.place.file().to_owned()).or_default();
        *number += 1;
        if *number <= MAX_LISTED {
            listed.push(mistake);
        } else if *number == MAX_LISTED + 1 {
            listed.push(others(mistake, total - MAX_LISTED));
        }
    }
    listed
}

/// One mistake in place of many, at the first of them and as bad as it.
fn others(first: Mistake, count: usize) -> Mistake {
    let message = match count {
        1 => "one more mistake stands in this file, here".to_owned(),
        count => format!("{count} more mistakes stand in this file, the first of them here"),
    };
    Mistake {
        message,
        related: None,
        help: Some("mend the ones above first".to_owned()),
        ..first
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;
    use crate::lint::Rule;

    fn mistakes(file: &str, count: usize) -> Vec<Mistake> {
        let source = Source::new(format!("/w/{file}").into(), file, "x\n".repeat(count));
        let place = |at: usize| source.place(2 * at..2 * at + 1);
        let mistake = |at| Mistake::new(Rule::BadField, place(at), format!("m{at}"));
        (0..count).map(mistake).collect()
    }

    #[test]
    fn a_hundred_are_listed_and_the_rest_is_counted_for_each_file() {
        let all = [mistakes("a", 100), mistakes("b", 101), mistakes("c", 350)].concat();
        let listed = listed(all);
        let of = |file: &str| {
            let mistakes = listed.iter().filter(|mistake| mistake.place.file() == file);
            let last = mistakes.clone().next_back().unwrap();
            (mistakes.count(), last.to_string())
        };
        assert_eq!(of("a"), (100, "a:100:1: bad-field: m99".into()));
        let one = "b:101:1: bad-field: one more mistake stands in this file, here; mend the ones above first";
        assert_eq!(of("b"), (101, one.into()));
        let many = "c:101:1: bad-field: 250 more mistakes stand in this file, the first of them here; \
                    mend the ones above first";
        assert_eq!(of("c"), (101, many.into()));
    }

    #[test]
    fn what_is_accepted_is_listed_however_much() {
        let mut all = mistakes("a", 300);
        for mistake in &mut all {
            mistake.accepted = Some("comes later".into());
        }
        assert_eq!(listed(all).len(), 300);
    }

    #[test]
    fn a_file_of_too_many_mistakes_is_unreadable() {
        let mut crowd = Crowd::default();
        let all = mistakes("a", MAX_KEPT + 5);
        let kept = all.iter().filter(|mistake| crowd.admits(&mistake.place));
        assert_eq!(kept.count(), MAX_KEPT);
        let said: Vec<String> = crowd
            .into_overfull()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            said,
            [
                "a:10001:1: this file holds more than 10000 mistakes; mend the first ones: the others are often of the same kind"
            ]
        );
    }
}
