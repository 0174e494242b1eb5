//! The first findings of a group and rule, and a count of the rest.

use std::collections::BinaryHeap;

/// How many findings of one rule and group are told one by one. A group with
/// more is saturated; a longer list helps nobody.
pub(super) const TOLD: usize = 100;

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
            kept: BinaryHeap::with_capacity(TOLD + 2),
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
