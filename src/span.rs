//! Durations as users write them: one form for every file that they write.

use std::fmt::Write;
use std::time::Duration;

/// Reads a duration: whole numbers with units from the longest to the shortest, such as `90s`, `1h30m`, `400d`, `250ms`.
///
/// `None` for any other text: no unit, a fraction, a sign, a blank, units out of order, or more than can be counted.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(offpeak::span::parse("1h30m"), Some(Duration::from_mins(90)));
/// assert_eq!(offpeak::span::parse("1.5h"), None);
/// ```
#[must_use]
pub fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    let mut longest = Duration::MAX;
    while !rest.is_empty() {
        let (number, after) = leading_digits(rest)?;
        let unit_end = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let unit = unit(&after[..unit_end])?;
        if unit >= longest {
            return None;
        }
        longest = unit;
        total = total.checked_add(unit.checked_mul(u32::try_from(number).ok()?)?)?;
        rest = &after[unit_end..];
    }
    (longest < Duration::MAX).then_some(total)
}

fn unit(name: &str) -> Option<Duration> {
    match name {
        "ms" => Some(Duration::from_millis(1)),
        "s" => Some(Duration::from_secs(1)),
        "m" => Some(Duration::from_mins(1)),
        "h" => Some(Duration::from_hours(1)),
        "d" => Some(Duration::from_hours(24)),
        _ => None,
    }
}

fn leading_digits(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Writes a duration as a user does: the largest units that say it exactly, in whole milliseconds.
///
/// [`parse`] reads it back.
#[must_use]
pub fn show(span: Duration) -> String {
    let mut millis = span.as_millis();
    let mut shown = String::new();
    for (name, size) in [
        ("d", 86_400_000),
        ("h", 3_600_000),
        ("m", 60_000),
        ("s", 1_000),
        ("ms", 1),
    ] {
        // `24h` reads better than `1d` for a limit of a day; from two days on days do.
        if millis < size || (name == "d" && millis < 2 * size) {
            continue;
        }
        let _infallible = write!(shown, "{}{name}", millis / size);
        millis %= size;
    }
    if shown.is_empty() {
        "0s".to_owned()
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_units_from_long_to_short() {
        let seconds = |text| parse(text).map(|span| span.as_secs_f64());
        assert_eq!(seconds("15m"), Some(900.0));
        assert_eq!(seconds("1h30m"), Some(5_400.0));
        assert_eq!(seconds("400d"), Some(34_560_000.0));
        assert_eq!(seconds("1m250ms"), Some(60.25));
        assert_eq!(seconds("0s"), Some(0.0));
    }

    #[test]
    fn other_texts_are_no_durations() {
        for text in [
            "",
            "15",
            "m",
            "15 m",
            "1.5h",
            "-1s",
            "30m1h",
            "1m1m",
            "1w",
            "99999999999d",
            "15M",
            "１s",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_shown_duration_reads_back_as_itself() {
        for text in [
            "0s", "250ms", "90s", "15m", "24h", "25h", "2d", "400d", "1h30m", "36h5s",
        ] {
            let span = parse(text).unwrap();
            assert_eq!(parse(&show(span)), Some(span), "{text}");
        }
        assert_eq!(show(Duration::from_hours(24)), "24h");
        assert_eq!(show(Duration::from_hours(400 * 24)), "400d");
    }
}
