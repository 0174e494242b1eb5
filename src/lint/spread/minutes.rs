//! Sets of the minutes of a day.

use crate::lint::rewrite::DAY_MINUTES;

const WORDS: usize = 23;
const LAST: i64 = DAY_MINUTES - 1;

/// A set of minutes of a day, 0 to 1439.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Minutes([u64; WORDS]);

impl Minutes {
    /// No minute.
    pub(super) const NONE: Self = Self([0; WORDS]);

    /// Every minute of the day.
    pub(super) fn all() -> Self {
        let mut all = Self::NONE;
        all.fill(0, LAST);
        all
    }

    /// The minutes that a question is answered with yes for.
    pub(super) fn such_that(holds: impl Fn(i64) -> bool) -> Self {
        let mut such = Self::NONE;
        for minute in (0..DAY_MINUTES).filter(|minute| holds(*minute)) {
            such.fill(minute, minute);
        }
        such
    }

    /// Whether a minute is in the set; minutes of other days are not.
    pub(super) fn contains(&self, minute: i64) -> bool {
        place(minute).is_some_and(|(word, bit)| self.0[word] >> bit & 1 == 1)
    }

    /// Adds the minutes from one to another, both included; those of other days are left out.
    pub(super) fn fill(&mut self, from: i64, to: i64) {
        let ends = place(from.max(0)).zip(place(to.min(LAST)));
        let Some(((first, low), (last, high))) = ends.filter(|_| from <= to) else {
            return;
        };
        let (low, high) = (u64::MAX << low, u64::MAX >> (63 - high));
        if first == last {
            self.0[first] |= low & high;
            return;
        }
        self.0[first] |= low;
        self.0[first + 1..last].fill(u64::MAX);
        self.0[last] |= high;
    }

    /// Takes a minute out.
    pub(super) fn remove(&mut self, minute: i64) {
        if let Some((word, bit)) = place(minute) {
            self.0[word] &= !(1 << bit);
        }
    }

    /// Adds another set.
    pub(super) fn add(&mut self, other: &Self) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }

    /// The minutes of both sets.
    pub(super) fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// The minutes that are not in another set.
    pub(super) fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// How many there are.
    pub(super) fn count(&self) -> i64 {
        self.0.iter().map(|word| i64::from(word.count_ones())).sum()
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// The first minute at or after one.
    pub(super) fn first_from(&self, minute: i64) -> Option<i64> {
        let (start, bit) = place(minute.max(0))?;
        let masked = |word: usize| {
            let cut = if word == start {
                u64::MAX << bit
            } else {
                u64::MAX
            };
            self.0[word] & cut
        };
        let word = (start..WORDS).find(|word| masked(*word) != 0)?;
        minute_of(word, masked(word).trailing_zeros())
    }

    /// The last minute at or before one.
    pub(super) fn last_until(&self, minute: i64) -> Option<i64> {
        let (start, bit) = place(minute.min(LAST))?;
        let masked = |word: usize| {
            let cut = if word == start {
                u64::MAX >> (63 - bit)
            } else {
                u64::MAX
            };
            self.0[word] & cut
        };
        let word = (0..=start).rev().find(|word| masked(*word) != 0)?;
        minute_of(word, masked(word).ilog2())
    }

    /// The minute nearest to one; of two the earlier.
    pub(super) fn nearest(&self, minute: i64) -> Option<i64> {
        let around = [self.last_until(minute), self.first_from(minute)];
        let around = around.into_iter().flatten();
        around.min_by_key(|found| (found - minute).abs())
    }

    /// The minutes, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        std::iter::successors(self.first_from(0), |minute| self.first_from(minute + 1))
    }

    /// The longest rows of minutes one after another, as first and last minute, ascending.
    pub(super) fn runs(&self) -> Vec<(i64, i64)> {
        let others = Self::all().without(self);
        let mut runs = Vec::new();
        let mut next = self.first_from(0);
        while let Some(first) = next {
            let end = others.first_from(first).unwrap_or(DAY_MINUTES);
            runs.push((first, end - 1));
            next = self.first_from(end);
        }
        runs
    }
}

/// The word and the bit of a minute of the day.
fn place(minute: i64) -> Option<(usize, u32)> {
    let minute = u32::try_from(minute).ok()?;
    let word = usize::try_from(minute / 64).ok()?;
    (i64::from(minute) <= LAST).then_some((word, minute % 64))
}

fn minute_of(word: usize, bit: u32) -> Option<i64> {
    Some(i64::try_from(word).ok()? * 64 + i64::from(bit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(runs: &[(i64, i64)]) -> Minutes {
        let mut set = Minutes::NONE;
        for (from, to) in runs {
            set.fill(*from, *to);
        }
        set
    }

    #[test]
    fn runs_are_filled_across_words_and_cut_at_the_ends_of_the_day() {
        let filled = set(&[(-5, 0), (60, 200), (1_430, 1_600), (9, 8), (2_000, 3_000)]);
        assert_eq!(filled.runs(), [(0, 0), (60, 200), (1_430, 1_439)]);
        assert_eq!(filled.count(), 1 + 141 + 10);
        assert!(filled.contains(128) && !filled.contains(201));
        assert!(!filled.contains(-1) && !filled.contains(1_440));
        assert_eq!(Minutes::all().count(), 1_440);
    }

    #[test]
    fn minutes_are_found_forwards_backwards_and_nearest() {
        let some = set(&[(10, 10), (100, 110), (1_439, 1_439)]);
        assert_eq!(
            [11, 100, 111, 1_440].map(|minute| some.first_from(minute)),
            [Some(100), Some(100), Some(1_439), None]
        );
        assert_eq!(
            [9, 10, 99, 5_000].map(|minute| some.last_until(minute)),
            [None, Some(10), Some(10), Some(1_439)]
        );
        assert_eq!(
            [0, 55, 56, 105, 1_400].map(|minute| some.nearest(minute)),
            [Some(10), Some(10), Some(100), Some(105), Some(1_439)]
        );
        assert_eq!(some.iter().count(), 13);
        assert_eq!(Minutes::NONE.nearest(3), None);
    }

    #[test]
    fn sets_are_joined_met_and_taken_apart() {
        let (one, other) = (set(&[(0, 99)]), set(&[(50, 149)]));
        let mut both = one.clone();
        both.add(&other);
        assert_eq!(both.runs(), [(0, 149)]);
        assert_eq!(one.and(&other).runs(), [(50, 99)]);
        assert_eq!(one.without(&other).runs(), [(0, 49)]);
        both.remove(7);
        assert_eq!(both.runs(), [(0, 6), (8, 149)]);
        assert_eq!(
            Minutes::such_that(|minute| minute < 3).iter().last(),
            Some(2)
        );
        assert!(Minutes::NONE.is_empty() && !one.is_empty());
    }
}
