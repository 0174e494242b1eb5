//! Percentiles of so few pieces that they are the longest of them, or next to it.

use super::metric::Metric;
use super::summary::Summary;
use super::value::Value;

/// The percentiles, of what they are, and the least of it that makes them more than the longest.
const PERCENTILES: [(Metric, Metric, f64); 6] = [
    (Metric::AttemptP95, Metric::Attempts, 20.0),
    (Metric::AttemptP99, Metric::Attempts, 100.0),
    (Metric::CallP95, Metric::Calls, 20.0),
    (Metric::CallP99, Metric::Calls, 100.0),
    (Metric::DoneP95, Metric::Work, 20.0),
    (Metric::DoneP99, Metric::Work, 100.0),
];

/// The percentiles over too few pieces, by the median over seeds of how many there are: p95 of under 20 and p99 of under
/// 100. Those of which there was nothing to measure are no percentiles.
///
/// ```
/// use offpeak::trial::{Carried, Log, Metric, Score, Summary, Work, few};
///
/// let work = Work { due_ms: 0, done_ms: Some(1_000), carried: Carried::InSlot };
/// let of = |count| {
///     let log = Log { works: vec![work; count], ..Log::default() };
///     few(&Summary::of(&[Score::of(&log)]))
/// };
/// assert_eq!(of(19), [Metric::DoneP95, Metric::DoneP99]);
/// assert_eq!(of(20), [Metric::DoneP99]);
/// assert_eq!(of(100), []);
/// assert_eq!(of(0), []);
/// ```
#[must_use]
pub fn few(summary: &Summary) -> Vec<Metric> {
    let found = PERCENTILES.iter().filter(|(figure, of, least)| {
        let count = summary.spread(*of).median;
        let is_few = matches!(count, Value::Measured(count) if count < *least);
        is_few && summary.spread(*figure).measured > 0
    });
    found.map(|(figure, _, _)| *figure).collect()
}

/// The same in words: `16 slots, 12 calls: p95 and p99 are next to the maximum`; empty if there are enough.
pub(super) fn few_words(summary: &Summary) -> String {
    let few = few(summary);
    let of = [
        (Metric::Work, "slot", (Metric::DoneP95, Metric::DoneP99)),
        (Metric::Calls, "call", (Metric::CallP95, Metric::CallP99)),
        (
            Metric::Attempts,
            "attempt",
            (Metric::AttemptP95, Metric::AttemptP99),
        ),
    ];
    let counted = |of: Metric, word: &str| {
        let count = of.show(summary.spread(of).median);
        let plural = if count == "1" { "" } else { "s" };
        format!("{count} {word}{plural}")
    };
    let (mut both, mut one) = (Vec::new(), Vec::new());
    for (of, word, (p95, p99)) in of {
        if few.contains(&p95) {
            both.push(counted(of, word));
        } else if few.contains(&p99) {
            one.push(counted(of, word));
        }
    }
    let said = [
        (both, "p95 and p99 are next to the maximum"),
        (one, "p99 is next to the maximum"),
    ];
    let said = said.iter().filter(|(counts, _)| !counts.is_empty());
    let said = said.map(|(counts, words)| format!("{}: {words}", counts.join(", ")));
    said.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Carried, Log, Score, Work};

    fn words(count: usize) -> String {
        let work = Work {
            due_ms: 0,
            done_ms: Some(60_000),
            carried: Carried::InSlot,
        };
        let log = Log {
            works: vec![work; count],
            ..Log::default()
        };
        few_words(&Summary::of(&[Score::of(&log)]))
    }

    #[test]
    fn few_slots_are_said_up_to_both_bounds() {
        assert_eq!(words(0), "");
        assert_eq!(words(1), "1 slot: p95 and p99 are next to the maximum");
        assert_eq!(words(19), "19 slots: p95 and p99 are next to the maximum");
        assert_eq!(words(20), "20 slots: p99 is next to the maximum");
        assert_eq!(words(99), "99 slots: p99 is next to the maximum");
        assert_eq!(words(100), "");
    }
}
