//! Two spans side by side.

use super::figures::Figures;

/// What a figure is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things.
    Count,
    /// A ratio.
    Ratio,
    /// Milliseconds.
    Millis,
    /// United States dollars.
    Dollars,
}

/// One figure of two spans.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Its name, in words.
    pub name: &'static str,
    /// What it is counted in.
    pub unit: Unit,
    /// Before; `None` where there was nothing to measure.
    pub before: Option<f64>,
    /// Now.
    pub now: Option<f64>,
}

impl Change {
    /// By how many hundredths of what it was the figure rose; `None` if either is unknown or it was zero.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        let (before, now) = self.before.zip(self.now)?;
        (before > 0.0).then(|| (now - before) / before * 100.0)
    }
}

/// The figures of two spans, in the order in which they are shown.
#[must_use]
pub fn compare(before: &Figures, now: &Figures) -> Vec<Change> {
    type Of = fn(&Figures) -> Option<f64>;
    let millis: [(&'static str, Of); 9] = [
        ("latency p50", |it| it.latency.map(|it| ms(it.p50))),
        ("latency p95", |it| it.latency.map(|it| ms(it.p95))),
        ("latency p99", |it| it.latency.map(|it| ms(it.p99))),
        ("latency max", |it| it.latency.map(|it| ms(it.max))),
        ("first byte p50", |it| it.first_byte.map(|it| ms(it.p50))),
        ("first byte p99", |it| it.first_byte.map(|it| ms(it.p99))),
        ("due to done p50", |it| it.completion.p50.map(ms)),
        ("due to done p95", |it| it.completion.p95.map(ms)),
        ("due to done p99", |it| it.completion.p99.map(ms)),
    ];
    let counts: [(&'static str, Of); 5] = [
        ("work due", |it| Some(it.completion.due as f64)),
        ("work done", |it| Some(it.completion.completed as f64)),
        ("attempts", |it| Some(it.attempts as f64)),
        ("wasted", |it| Some(it.wasted as f64)),
        ("yields", |it| Some(it.yielded() as f64)),
    ];
    let ratios: [(&'static str, Of); 2] = [
        ("attempts a call", Figures::mean_attempts),
        ("cache hits", Figures::cache_share),
    ];
    let dollars: [(&'static str, Of); 1] = [("dollars", |it| Some(it.dollars.known.as_f64()))];
    let of = |unit: Unit, rows: &[(&'static str, Of)]| -> Vec<Change> {
        let rows = rows.iter().map(|(name, of)| Change {
            name,
            unit,
            before: of(before),
            now: of(now),
        });
        rows.collect()
    };
    [
        of(Unit::Millis, &millis),
        of(Unit::Count, &counts),
        of(Unit::Ratio, &ratios),
        of(Unit::Dollars, &dollars),
    ]
    .concat()
}

fn ms(span: std::time::Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: Option<f64>, now: Option<f64>) -> Option<f64> {
        Change {
            name: "wasted",
            unit: Unit::Count,
            before,
            now,
        }
        .percent()
    }

    #[test]
    fn change_is_told_in_hundredths_of_what_was() {
        assert_eq!(change(Some(200.0), Some(82.0)), Some(-59.0));
        assert_eq!(change(Some(4.0), Some(6.0)), Some(50.0));
        assert_eq!(change(Some(4.0), Some(4.0)), Some(0.0));
    }

    #[test]
    fn nothing_to_compare_with_gives_no_change() {
        assert_eq!(change(Some(0.0), Some(3.0)), None);
        assert_eq!(change(None, Some(3.0)), None);
        assert_eq!(change(Some(3.0), None), None);
    }

    #[test]
    fn figures_of_two_spans_stand_in_one_row_each() {
        let before = Figures {
            attempts: 46,
            calls: 10,
            wasted: 36,
            ..Figures::default()
        };
        let now = Figures {
            attempts: 12,
            calls: 10,
            wasted: 2,
            ..Figures::default()
        };
        let rows = compare(&before, &now);
        let row = |name: &str| *rows.iter().find(|row| row.name == name).unwrap();
        assert_eq!(
            (row("wasted").before, row("wasted").now),
            (Some(36.0), Some(2.0))
        );
        assert_eq!(row("attempts a call").before, Some(4.6));
        assert_eq!(row("latency p99").before, None, "nothing was measured");
    }
}
