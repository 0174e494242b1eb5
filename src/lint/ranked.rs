//! The first findings of a group and rule, and a count of the rest.
//!
//! What a job accepts is ranked apart from what is open, so that a hundred
//! accepted findings crowd out no open one.

use std::collections::{BTreeSet, BinaryHeap};

use super::Rule;
use super::board::Group;

/// How many findings of one rule and group are told one by one. A group with
/// more is saturated; a longer list helps nobody.
pub(super) const TOLD: usize = 100;

/// What one rule finds in one group: open and accepted items, each ranked by themselves.
#[derive(Debug)]
pub(super) struct Ledger<T> {
    rule: Rule,
    open: Ranked<T>,
    accepted: Ranked<T>,
    used: BTreeSet<usize>,
}

/// What one rule found in one group.
#[derive(Debug)]
pub(super) struct Found<T> {
    /// The rule.
    pub(super) rule: Rule,
    /// What nobody accepts.
    pub(super) open: Told<T>,
    /// What a job accepts.
    pub(super) accepted: Told<T>,
    /// The classes that accept the rule and in which it found something, told or only counted.
    pub(super) used: BTreeSet<usize>,
}

impl<T: Ord> Ledger<T> {
    /// Nothing yet.
    pub(super) fn new(rule: Rule) -> Self {
        Self {
            rule,
            open: Ranked::new(),
            accepted: Ranked::new(),
            used: BTreeSet::new(),
        }
    }

    /// Where to rank what was found in one class, or between two: it is accepted if either accepts the rule. That is
    /// what the acceptance of a finding comes to, told before there is one: most of what is ranked is only counted.
    ///
    /// To ask is to say that something was found.
    pub(super) fn of(&mut self, group: &Group, classes: [usize; 2]) -> &mut Ranked<T> {
        let accepting = classes
            .into_iter()
            .filter(|class| group.classes[*class].accepted.contains(&self.rule));
        let mut is_accepted = false;
        for class in accepting {
            is_accepted = true;
            self.used.insert(class);
        }
        if is_accepted {
            &mut self.accepted
        } else {
            &mut self.open
        }
    }

    /// What is to be told.
    pub(super) fn finish(self) -> Found<T> {
        Found {
            rule: self.rule,
            open: self.open.finish(),
            accepted: self.accepted.finish(),
            used: self.used,
        }
    }
}

/// Keeps the smallest items, one more than are told, and counts all.
#[derive(Debug)]
pub(super) struct Ranked<T> {
    kept: BinaryHeap<T>,
    seen: usize,
}

/// What was kept.
#[derive(Debug)]
pub(super) struct Told<T> {
    /// The first items, in order.
    pub(super) first: Vec<T>,
    /// The first item that is not told, and how many there are.
    pub(super) rest: Option<(T, usize)>,
}

impl<T: Ord> Ranked<T> {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self {
            kept: BinaryHeap::new(),
            seen: 0,
        }
    }

    /// Takes one item.
    pub(super) fn push(&mut self, item: T) {
        self.seen += 1;
        if self.kept.len() <= TOLD {
            self.kept.push(item);
        } else if self.kept.peek().is_some_and(|last| item < *last) {
            self.kept.pop();
            self.kept.push(item);
        }
    }

    /// Counts items that are known to come after a hundred others that were taken.
    pub(super) fn count(&mut self, items: usize) {
        self.seen += items;
    }

    /// Counts items without looking at them, if each of them would come after
    /// everything kept; says whether it did.
    pub(super) fn pass_over(&mut self, items: usize, too_late: impl Fn(&T) -> bool) -> Passed {
        if self.kept.len() > TOLD && self.kept.peek().is_some_and(too_late) {
            self.seen += items;
            return Passed::Counted;
        }
        Passed::Not
    }

    /// The items told, in order, and the rest.
    pub(super) fn finish(self) -> Told<T> {
        let mut first = self.kept.into_sorted_vec();
        let rest = if first.len() > TOLD {
            first.pop()
        } else {
            None
        };
        Told {
            first,
            rest: rest.map(|item| (item, self.seen - TOLD)),
        }
    }
}

/// Whether items were counted without a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    /// They are counted.
    Counted,
    /// They must be pushed one by one.
    Not,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hundred_items_are_told_and_nothing_rests() {
        let mut ranked = Ranked::new();
        (0..100).rev().for_each(|item| ranked.push(item));
        let told = ranked.finish();
        assert_eq!(told.first, (0..100).collect::<Vec<_>>());
        assert_eq!(told.rest, None);
    }

    #[test]
    fn first_hundred_of_many_are_told_and_the_rest_is_counted() {
        let mut ranked = Ranked::new();
        (0..1_000).rev().for_each(|item| ranked.push(item));
        assert_eq!(ranked.pass_over(50, |last| *last < 2_000), Passed::Counted);
        assert_eq!(ranked.pass_over(50, |last| *last < 50), Passed::Not);
        let told = ranked.finish();
        assert_eq!(told.first, (0..100).collect::<Vec<_>>());
        assert_eq!(told.rest, Some((100, 950)));
    }
}
