//! Values in words: `42`, `1.75`, `1m30s`, `+3`, `-59 %`.

use std::time::Duration;

use super::contrast::{Change, Interval};
use super::metric::{Metric, Unit};
use super::summary::Spread;
use super::value::Value;
use crate::report::span;

/// What stands for a span beyond measure, as in every report.
pub(super) const BEYOND: &str = "-";

impl Metric {
    /// A value of this figure in words, as tables have it: `42`, `1.75`, `1m30s`; `-` beyond measure, and blank if there
    /// was nothing to measure.
    ///
    /// ```
    /// use offpeak::trial::{Metric, Value};
    ///
    /// assert_eq!(Metric::DoneP99.show(Value::Measured(90_000.0)), "1m30s");
    /// ```
    #[must_use]
    pub fn show(self, it: Value) -> String {
        value(it, self.unit())
    }
}

/// A value of an arm; blank if there was nothing to measure.
pub(super) fn value(value: Value, unit: Unit) -> String {
    match value {
        Value::Nothing => String::new(),
        Value::Below => "less".to_owned(),
        Value::Beyond => BEYOND.to_owned(),
        Value::Measured(number) => amount(number, unit),
    }
}

/// A difference, with its sign; `more` and `less` where only one side could be measured.
pub(super) fn difference(difference: Value, unit: Unit) -> String {
    match difference {
        Value::Nothing => String::new(),
        Value::Below => "less".to_owned(),
        Value::Beyond => "more".to_owned(),
        Value::Measured(number) => {
            let shown = amount(number.abs(), unit);
            // What rounds to nothing has no sign.
            let is_zero = shown == amount(0.0, unit);
            let sign = match number {
                _ if is_zero => "",
                number if number < 0.0 => "-",
                _ => "+",
            };
            format!("{sign}{shown}")
        }
    }
}

/// The quartiles in brackets; blank if they read alike.
pub(super) fn quartiles(spread: &Spread, unit: Unit) -> String {
    let [low, high] = [spread.low, spread.high].map(|end| value(end, unit));
    if low == high {
        return String::new();
    }
    if spread.high == Value::Beyond {
        return format!("(≥{low})");
    }
    format!("({low}–{high})")
}

/// The quartiles of a difference; blank if they read alike.
pub(super) fn difference_quartiles(spread: &Spread, unit: Unit) -> String {
    let [low, high] = [spread.low, spread.high].map(|end| difference(end, unit));
    if low == high {
        return String::new();
    }
    format!("{low} to {high}")
}

/// A change in hundredths.
pub(super) fn change(change: Option<&Change>) -> String {
    change.map_or_else(String::new, |change| percent(change.estimate) + " %")
}

/// A share in hundredths; blank if it is no number.
pub(super) fn share(share: Value) -> String {
    let shown = share.measured().map(|share| percent(share) + " %");
    shown.unwrap_or_default()
}

/// The interval of a change in hundredths.
pub(super) fn interval(interval: Option<&Interval>) -> String {
    let end = |end: Value| match end {
        Value::Measured(share) => percent(share),
        Value::Beyond => "more".to_owned(),
        Value::Below => "less".to_owned(),
        Value::Nothing => String::new(),
    };
    interval.map_or_else(String::new, |it| {
        format!("{} to {} %", end(it.low), end(it.high))
    })
}

fn percent(share: f64) -> String {
    let hundredths = (share * 100.0).round();
    if hundredths == 0.0 {
        return "0".to_owned();
    }
    format!("{hundredths:+.0}")
}

fn amount(number: f64, unit: Unit) -> String {
    match unit {
        Unit::Count => format!("{number:.0}"),
        Unit::Span => span(Duration::from_secs_f64(number.max(0.0) / 1000.0)),
        // Cents are what a fortnight is reckoned in, and too coarse for a night.
        Unit::Dollars if number > 0.0 && number < 1.0 => format!("{number:.4}"),
        Unit::Ratio | Unit::Dollars => format!("{number:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in_their_unit() {
        let number = Value::Measured;
        for (it, unit, expected) in [
            (number(42.0), Unit::Count, "42"),
            (number(1.756), Unit::Ratio, "1.76"),
            (number(90_000.0), Unit::Span, "1m30s"),
            (number(0.99), Unit::Dollars, "0.9900"),
            (number(1.0), Unit::Dollars, "1.00"),
            (number(0.0), Unit::Dollars, "0.00"),
            (Value::Beyond, Unit::Span, "-"),
            (Value::Nothing, Unit::Ratio, ""),
        ] {
            assert_eq!(value(it, unit), expected);
        }
    }

    #[test]
    fn differences_have_a_sign_unless_they_round_to_nothing() {
        for (it, unit, expected) in [
            (Value::Measured(3.0), Unit::Count, "+3"),
            (Value::Measured(-90_000.0), Unit::Span, "-1m30s"),
            (Value::Measured(-0.001), Unit::Ratio, "0.00"),
            (Value::Measured(0.0), Unit::Count, "0"),
            (Value::Beyond, Unit::Span, "more"),
            (Value::Below, Unit::Span, "less"),
        ] {
            assert_eq!(difference(it, unit), expected);
        }
    }

    #[test]
    fn changes_are_whole_hundredths() {
        let shown = |estimate| {
            change(Some(&Change {
                estimate,
                interval: None,
            }))
        };
        assert_eq!(shown(-0.594), "-59 %");
        assert_eq!(shown(0.125), "+13 %");
        assert_eq!(shown(-0.004), "0 %");
        assert_eq!(change(None), "");
        let ends = Interval {
            low: Value::Measured(-0.62),
            high: Value::Beyond,
        };
        assert_eq!(interval(Some(&ends)), "-62 to more %");
    }

    #[test]
    fn quartiles_are_left_out_where_they_read_alike() {
        let spread = |numbers: [f64; 4]| Spread::of(numbers.map(Value::Measured));
        assert_eq!(
            quartiles(&spread([1.0, 2.0, 3.0, 4.0]), Unit::Count),
            "(1–3)"
        );
        assert_eq!(quartiles(&spread([2.0; 4]), Unit::Count), "");
        assert_eq!(
            quartiles(&spread([9_010.0, 9_020.0, 9_030.0, 9_040.0]), Unit::Span),
            "",
            "tenths of a second are shown"
        );
        assert_eq!(
            difference_quartiles(&spread([-4.0, -2.0, 0.0, 3.0]), Unit::Count),
            "-4 to 0"
        );
        assert_eq!(difference_quartiles(&spread([1.0; 4]), Unit::Count), "");
    }

    #[test]
    fn quartile_beyond_measure_has_no_upper_end() {
        let minute = Value::Measured(60_000.0);
        let spread = Spread::of([minute, minute, Value::Beyond, Value::Beyond]);
        assert_eq!(quartiles(&spread, Unit::Span), "(≥1m00s)");
        assert_eq!(quartiles(&Spread::of([Value::Beyond]), Unit::Span), "");
    }
}
