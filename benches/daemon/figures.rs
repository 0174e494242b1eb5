//! Percentiles in words.

use std::time::Duration;

/// Median, extremes and two percentiles of what was measured.
pub fn spans(mut all: Vec<Duration>) -> String {
    all.sort_unstable();
    if all.is_empty() {
        return "nothing was measured".to_owned();
    }
    let at = |percent: usize| {
        // The nearest rank, counted from one.
        let rank = (percent * all.len()).div_ceil(100);
        all[rank.max(1) - 1].as_secs_f64() * 1_000.0
    };
    format!(
        "p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms, max {:.1} ms (min {:.1} ms, n = {})",
        at(50),
        at(95),
        at(99),
        at(100),
        at(0),
        all.len()
    )
}
