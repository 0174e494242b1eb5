//! Single attempts, as a picture shows them.

use std::time::Duration;

use chrono::{DateTime, Utc};

/// No more attempts than this are kept one by one.
pub const MAX_DOTS: usize = 2_000;

/// Of more than that, so many of the slowest stay: what a picture is looked at for.
pub(super) const SLOWEST: usize = 500;

/// One attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dot {
    /// When it was sent, to the second.
    pub at: DateTime<Utc>,
    /// From the start to its end.
    pub latency: Duration,
    /// How it ended.
    pub end: DotEnd,
    /// Whether it began in a peak window.
    pub is_peak: bool,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DotEnd {
    /// With a whole answer.
    Answered,
    /// Without one.
    Failed,
}

/// Of so many attempts in the order of time, each with whether it is one of the [`SLOWEST`], those to show: the slowest,
/// and of the rest one in so many.
pub(super) fn pick<T>(by_time: impl Iterator<Item = (T, bool)>, of: usize) -> Vec<T> {
    if of <= MAX_DOTS {
        return by_time.map(|(attempt, _)| attempt).collect();
    }
    let (keep, rest) = (MAX_DOTS - SLOWEST, of - SLOWEST);
    let mut passed = 0;
    let picked = by_time.filter(|(_, is_slow)| {
        if *is_slow {
            return true;
        }
        let before = passed * keep / rest;
        passed += 1;
        passed * keep / rest > before
    });
    picked.map(|(attempt, _)| attempt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The attempts from `slow` on are the slowest.
    fn picked(of: usize, slow: usize) -> Vec<usize> {
        pick(
            (0..of).map(|at| (at, (slow..slow + SLOWEST).contains(&at))),
            of,
        )
    }

    #[test]
    fn all_attempts_are_shown_up_to_the_most() {
        assert!(picked(0, 0).is_empty());
        assert_eq!(picked(MAX_DOTS, 0), (0..MAX_DOTS).collect::<Vec<_>>());
        assert_eq!(picked(MAX_DOTS + 1, 0).len(), MAX_DOTS);
    }

    #[test]
    fn of_more_the_slowest_stay_and_the_rest_is_picked_evenly() {
        let of = 100_500;
        let dots = picked(of, 40_000);
        assert_eq!(dots.len(), MAX_DOTS);
        let slow = |at: &usize| (40_000..40_500).contains(at);
        assert_eq!(dots.iter().filter(|at| slow(at)).count(), SLOWEST);
        let rest: Vec<usize> = dots.into_iter().filter(|at| !slow(at)).collect();
        let gaps = rest.windows(2).map(|pair| pair[1] - pair[0]);
        let (least, most) = (gaps.clone().min(), gaps.max());
        assert!(
            least >= Some(66) && most <= Some(67 + SLOWEST),
            "{least:?} {most:?}"
        );
        assert!(rest[0] < 67 && rest[rest.len() - 1] > of - 68);
    }
}
