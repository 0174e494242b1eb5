//! Percentiles by nearest rank: every figure is one that was measured.

use std::time::Duration;

/// Below this many samples, p99 is the maximum or next to it.
const FEW: usize = 100;

/// Below this many samples, p95 is the maximum or next to it.
const VERY_FEW: usize = 20;

/// Percentiles of measured spans.
///
/// ```
/// use std::time::Duration;
/// use offpeak::report::Percentiles;
///
/// let mut spans: Vec<_> = (1..=200).map(Duration::from_millis).collect();
/// let figures = Percentiles::of(&mut spans).unwrap();
/// assert_eq!(figures.p95, Duration::from_millis(190));
/// assert!(!figures.is_few());
/// assert_eq!(Percentiles::of(&mut []), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    /// How many spans were measured, at least one.
    pub samples: usize,
    /// Half of them took no longer.
    pub p50: Duration,
    /// 95 of 100 took no longer.
    pub p95: Duration,
    /// 99 of 100 took no longer.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

impl Percentiles {
    /// The percentiles of these spans, which are sorted on the way; `None` if there are none.
    #[must_use]
    pub fn of(spans: &mut [Duration]) -> Option<Self> {
        spans.sort_unstable();
        let max = *spans.last()?;
        let at = |percent| {
            spans
                .get(rank(percent, spans.len()))
                .copied()
                .unwrap_or(max)
        };
        Some(Self {
            samples: spans.len(),
            p50: at(50),
            p95: at(95),
            p99: at(99),
            max,
        })
    }

    /// Whether there are too few samples for p99 to say more than the maximum.
    #[must_use]
    pub fn is_few(&self) -> bool {
        self.samples < FEW
    }

    /// Whether there are too few samples for any of the figures to say much.
    #[must_use]
    pub fn is_very_few(&self) -> bool {
        self.samples < VERY_FEW
    }
}

/// How long work took from the instant at which it was due, deferrals included.
///
/// Work that has not come to a complete answer took longer than any that has:
/// a percentile that falls on it is `None`, so that work which was put off or
/// lost never makes the figures look better.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Completion {
    /// How many pieces of work were due.
    pub due: usize,
    /// How many of them came to a complete answer.
    pub completed: usize,
    /// Half of the work was complete after this span.
    pub p50: Option<Duration>,
    /// 95 of 100 were.
    pub p95: Option<Duration>,
    /// 99 of 100 were.
    pub p99: Option<Duration>,
    /// All were.
    pub max: Option<Duration>,
}

impl Completion {
    /// The spans of completed work, among `due` pieces of work in all; sorts the spans on the way.
    #[must_use]
    pub fn of(spans: &mut [Duration], due: usize) -> Self {
        spans.sort_unstable();
        let at = |percent| spans.get(rank(percent, due)).copied();
        let max = if spans.len() < due {
            None
        } else {
            spans.last().copied()
        };
        Self {
            due,
            completed: spans.len(),
            p50: at(50),
            p95: at(95),
            p99: at(99),
            max,
        }
    }
}

/// The nearest rank, counted from 0: the smallest that has `percent` of all at or below it.
pub(crate) fn rank(percent: usize, of: usize) -> usize {
    (percent * of).div_ceil(100).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(spans: &[u64]) -> Vec<Duration> {
        spans.iter().copied().map(Duration::from_secs).collect()
    }

    #[test]
    fn single_sample_is_every_percentile() {
        let figures = Percentiles::of(&mut seconds(&[7])).unwrap();
        let seven = Duration::from_secs(7);
        assert_eq!(
            figures,
            Percentiles {
                samples: 1,
                p50: seven,
                p95: seven,
                p99: seven,
                max: seven
            }
        );
    }

    #[test]
    fn rank_is_the_nearest_one_at_or_above() {
        // 20 samples: p95 is the 19th, p50 the 10th; 21 samples: p95 is the 20th, p50 the 11th.
        for (of, percent, expected) in [
            (20, 50, 9),
            (20, 95, 18),
            (21, 50, 10),
            (21, 95, 19),
            (100, 99, 98),
            (101, 99, 99),
            (1, 1, 0),
        ] {
            assert_eq!(rank(percent, of), expected, "p{percent} of {of}");
        }
    }

    #[test]
    fn order_of_the_samples_does_not_matter() {
        assert_eq!(
            Percentiles::of(&mut seconds(&[3, 1, 2])),
            Percentiles::of(&mut seconds(&[1, 2, 3]))
        );
    }

    #[test]
    fn ninety_nine_samples_are_few_and_a_hundred_are_not() {
        let figures = |n: usize| Percentiles::of(&mut vec![Duration::ZERO; n]).unwrap();
        assert!(figures(99).is_few());
        assert!(!figures(100).is_few());
        assert!(figures(19).is_very_few() && !figures(20).is_very_few());
    }

    #[test]
    fn no_sample_gives_no_figures() {
        assert_eq!(Percentiles::of(&mut []), None);
        assert_eq!(Completion::of(&mut [], 0), Completion::default());
    }

    #[test]
    fn unfinished_work_counts_as_longer_than_all_finished() {
        let completion = Completion::of(&mut seconds(&[5, 1]), 4);
        assert_eq!(
            (completion.p50, completion.p95),
            (Some(Duration::from_secs(5)), None)
        );
        assert_eq!((completion.completed, completion.max), (2, None));
    }

    #[test]
    fn maximum_stands_once_all_work_is_complete() {
        let completion = Completion::of(&mut seconds(&[5, 1]), 2);
        assert_eq!(
            (completion.p99, completion.max),
            (Some(Duration::from_secs(5)), Some(Duration::from_secs(5)))
        );
    }
}
