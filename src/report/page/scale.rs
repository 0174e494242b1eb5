//! Axes: where a value stands, and which values are written beside them.

use std::time::Duration;

/// The milliseconds that may stand beside an axis of latencies. Those marked are enough where the axis is long.
const MARKS: [(u64, bool); 29] = [
    (1, true),
    (2, false),
    (5, false),
    (10, true),
    (20, false),
    (50, false),
    (100, true),
    (200, false),
    (500, false),
    (1_000, true),
    (2_000, false),
    (5_000, false),
    (10_000, true),
    (20_000, false),
    (60_000, true),
    (120_000, false),
    (300_000, false),
    (600_000, true),
    (1_200_000, false),
    (3_600_000, true),
    (7_200_000, false),
    (18_000_000, false),
    (36_000_000, true),
    (86_400_000, false),
    (172_800_000, false),
    (432_000_000, true),
    (864_000_000, false),
    (1_728_000_000, false),
    // Seven weeks are the longest that is counted.
    (4_320_000_000, true),
];

/// More marks than this stand too close.
const MAX_MARKS: usize = 6;

/// A logarithmic axis: latencies lie between a tenth of a second and minutes, and each step tells as much.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LogScale {
    low: u64,
    high: u64,
    /// What is written beside it, rising.
    pub marks: Vec<Duration>,
}

impl LogScale {
    /// An axis that holds these spans; `None` if there are none.
    pub(super) fn of(spans: impl Iterator<Item = Duration>) -> Option<Self> {
        let (mut low, mut high) = (u64::MAX, 0);
        for span in spans {
            let ms = clamped(span);
            (low, high) = (low.min(ms), high.max(ms));
        }
        if low > high {
            return None;
        }
        let first = MARKS.iter().rposition(|(ms, _)| *ms <= low).unwrap_or(0);
        let last = MARKS.iter().position(|(ms, _)| *ms >= high);
        let last = last.unwrap_or(MARKS.len() - 1);
        // One value alone has a mark below and one above.
        let last = last.max(first + 1).min(MARKS.len() - 1);
        let first = first.min(last - 1);
        let within = &MARKS[first..=last];
        let all = within.len() <= MAX_MARKS;
        let shown = within.iter().filter(|(_, is_enough)| all || *is_enough);
        Some(Self {
            low: MARKS[first].0,
            high: MARKS[last].0,
            marks: shown.map(|(ms, _)| Duration::from_millis(*ms)).collect(),
        })
    }

    /// Where a span stands: 0 at the low end, 1 at the high one.
    pub(super) fn at(&self, span: Duration) -> f64 {
        let [low, high, ms] = [self.low, self.high, clamped(span)].map(|ms| (ms as f64).log2());
        ((ms - low) / (high - low)).clamp(0.0, 1.0)
    }
}

/// No logarithm is there for nothing.
fn clamped(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// A plain axis from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CountScale {
    /// Between one mark and the next.
    pub step: usize,
    /// The mark at the top.
    pub top: usize,
}

impl CountScale {
    /// An axis up to this count, with four steps at most.
    pub(super) fn up_to(most: usize) -> Self {
        let most = most.max(1);
        let mut step = 1_usize;
        let mut factors = [2, 5, 10].into_iter().cycle();
        let mut power = 1_usize;
        while most.div_ceil(step) > 4 {
            let factor = factors.next().unwrap_or(10);
            step = power.saturating_mul(factor);
            if factor == 10 {
                power = step;
            }
        }
        Self {
            step,
            top: step.saturating_mul(most.div_ceil(step)),
        }
    }

    /// Where a count stands: 0 at the bottom, 1 at the top.
    pub(super) fn at(self, count: usize) -> f64 {
        count as f64 / self.top as f64
    }

    /// What is written beside it.
    pub(super) fn marks(self) -> impl Iterator<Item = usize> {
        (0..=self.top / self.step).map(move |at| at * self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(ms: &[u64]) -> LogScale {
        LogScale::of(ms.iter().copied().map(Duration::from_millis)).unwrap()
    }

    fn marks(ms: &[u64]) -> Vec<u128> {
        let scale = scale(ms);
        scale.marks.iter().map(Duration::as_millis).collect()
    }

    #[test]
    fn one_value_stands_between_two_marks() {
        assert_eq!(marks(&[700]), [500, 1000]);
        assert_eq!(marks(&[500]), [500, 1000], "on a mark");
        assert_eq!(marks(&[0]), [1, 2], "nothing is the least");
        let high = marks(&[u64::MAX]);
        assert_eq!(high, [1_728_000_000, 4_320_000_000]);
    }

    #[test]
    fn long_axes_have_fewer_marks() {
        assert_eq!(marks(&[300, 2500]), [200, 500, 1000, 2000, 5000]);
        assert_eq!(
            marks(&[120, 90_000]),
            [100, 1000, 10_000, 60_000],
            "one a decade"
        );
        assert!(marks(&[0, u64::MAX]).len() <= 12);
    }

    #[test]
    fn every_value_stands_within_the_axis_and_in_order() {
        let scale = scale(&[0, 10, u64::MAX]);
        let at = |ms| scale.at(Duration::from_millis(ms));
        assert!((at(0) - 0.0).abs() < 1e-9 && (at(u64::MAX) - 1.0).abs() < 1e-9);
        assert!(at(10) < at(100) && at(100) < at(60_000));
    }

    #[test]
    fn no_span_has_no_axis() {
        assert_eq!(LogScale::of(std::iter::empty()), None);
    }

    #[test]
    fn counts_have_few_round_marks() {
        for (most, expected) in [
            (0, vec![0, 1]),
            (1, vec![0, 1]),
            (4, vec![0, 1, 2, 3, 4]),
            (5, vec![0, 2, 4, 6]),
            (9, vec![0, 5, 10]),
            (46, vec![0, 20, 40, 60]),
            (160, vec![0, 50, 100, 150, 200]),
            (1000, vec![0, 500, 1000]),
        ] {
            let scale = CountScale::up_to(most);
            assert_eq!(scale.marks().collect::<Vec<_>>(), expected, "{most}");
            assert!(scale.at(most) <= 1.0);
        }
    }
}
