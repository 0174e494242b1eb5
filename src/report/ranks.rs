//! Nearest ranks of many overlapping sets in one walk over sorted values.

use std::time::Duration;

use super::percentiles::{Completion, Percentiles, rank};

/// A set, by its number.
pub(super) type Cell = u32;

/// The values at the ranks of one set.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ranked {
    /// How many values the set has seen.
    seen: usize,
    /// How many it is made of, those that have no value included.
    of: usize,
    /// At how many seen values the next rank is reached; nothing to be looked at before.
    next: usize,
    at: [Option<u32>; 3],
    max: u32,
}

const PERCENTS: [usize; 3] = [50, 95, 99];

/// Sets whose sizes are counted first and whose values come in rising order after.
#[derive(Debug)]
pub(super) struct Ranks(Vec<Ranked>);

impl Ranked {
    /// Keeps a value for the ranks that it has, and looks where the next one lies.
    fn reach(&mut self, value: u32) {
        self.next = usize::MAX;
        for (at, percent) in self.at.iter_mut().zip(PERCENTS) {
            let rank = rank(percent, self.of);
            if rank == self.seen {
                *at = Some(value);
            } else if rank > self.seen {
                self.next = self.next.min(rank);
            }
        }
    }
}

impl Ranks {
    /// This many empty sets.
    pub(super) fn new(cells: usize) -> Self {
        Self(vec![Ranked::default(); cells])
    }

    /// Counts one member of a set.
    pub(super) fn count(&mut self, cell: Cell) {
        if let Some(ranked) = self.0.get_mut(cell as usize) {
            ranked.of += 1;
        }
    }

    /// Takes the next value of a set, no smaller than the one before.
    pub(super) fn take(&mut self, cell: Cell, value: u32) {
        let Some(ranked) = self.0.get_mut(cell as usize) else {
            return;
        };
        if ranked.seen == ranked.next {
            ranked.reach(value);
        }
        ranked.seen += 1;
        ranked.max = value;
    }

    /// A set's percentiles; `None` if it is empty.
    pub(super) fn percentiles(&self, cell: Cell) -> Option<Percentiles> {
        let ranked = self.0.get(cell as usize)?;
        let [Some(p50), Some(p95), Some(p99)] = ranked.at else {
            return None;
        };
        Some(Percentiles {
            samples: ranked.seen,
            p50: millis(p50),
            p95: millis(p95),
            p99: millis(p99),
            max: millis(ranked.max),
        })
    }

    /// The same of a set of which some members have no value: those rank above all that have one.
    pub(super) fn completion(&self, cell: Cell) -> Completion {
        let ranked = self.0.get(cell as usize).copied().unwrap_or_default();
        let [p50, p95, p99] = ranked.at.map(|at| at.map(millis));
        let is_whole = ranked.seen == ranked.of && ranked.of > 0;
        Completion {
            due: ranked.of,
            completed: ranked.seen,
            p50,
            p95,
            p99,
            max: is_whole.then(|| millis(ranked.max)),
        }
    }
}

fn millis(value: u32) -> Duration {
    Duration::from_millis(value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(values: &[u32], of: usize) -> Ranks {
        let mut ranks = Ranks::new(1);
        for _ in 0..of {
            ranks.count(0);
        }
        for value in values {
            ranks.take(0, *value);
        }
        ranks
    }

    /// The walk and the plain sort agree on every size.
    #[test]
    fn walk_finds_the_ranks_that_sorting_finds() {
        for size in [1, 2, 19, 20, 21, 99, 100, 101, 1000] {
            let values: Vec<u32> = (0..size).map(|at| at * 7).collect();
            let mut spans: Vec<Duration> = values.iter().map(|value| millis(*value)).collect();
            let ranks = walked(&values, values.len());
            assert_eq!(ranks.percentiles(0), Percentiles::of(&mut spans), "{size}");
            let due = values.len() + values.len() / 20;
            assert_eq!(
                walked(&values, due).completion(0),
                Completion::of(&mut spans, due),
                "{size} of {due}"
            );
        }
    }

    #[test]
    fn empty_set_has_no_figures() {
        assert_eq!(Ranks::new(1).percentiles(0), None);
        assert_eq!(Ranks::new(1).completion(0), Completion::default());
        assert_eq!(Ranks::new(1).percentiles(7), None, "nor has one beyond");
    }
}
