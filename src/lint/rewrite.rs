//! Cron texts with their times of day moved.

/// Minutes of a day.
pub(super) const DAY_MINUTES: i64 = 1_440;

/// The text of an expression with all its times of day, given ascending, `shift` minutes later.
///
/// The day fields stay as they are written, and so does a minute or hour
/// field that says the same as before. `None` if a time would leave its day,
/// or if one minute and one hour field cannot say the new times.
pub(super) fn shifted(text: &str, times: &[i64], shift: i64) -> Option<String> {
    let fields = fields(text)?;
    let moved: Vec<i64> = times.iter().map(|time| time + shift).collect();
    if moved.iter().any(|time| !(0..DAY_MINUTES).contains(time)) {
        return None;
    }
    let (old, new) = (Clock::of(times), Clock::of(&moved));
    if new.minutes.len() * new.hours.len() != moved.len() {
        return None;
    }
    let minute = if old.minutes == new.minutes {
        fields[0].to_owned()
    } else {
        written(&new.minutes, 60)
    };
    let hour = if old.hours == new.hours {
        fields[1].to_owned()
    } else {
        written(&new.hours, 24)
    };
    Some(format!(
        "{minute} {hour} {} {} {}",
        fields[2], fields[3], fields[4]
    ))
}

/// The five fields of a text; those that a nickname stands for.
fn fields(text: &str) -> Option<[&str; 5]> {
    let text = match text.trim().to_ascii_lowercase().as_str() {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        _ => text,
    };
    let fields: Vec<&str> = text.split_whitespace().collect();
    fields.try_into().ok()
}

/// Times of day as the values of the two fields.
struct Clock {
    minutes: Vec<i64>,
    hours: Vec<i64>,
}

impl Clock {
    fn of(times: &[i64]) -> Self {
        let distinct = |part: fn(i64) -> i64| {
            let mut values: Vec<i64> = times.iter().map(|time| part(*time)).collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        Self {
            minutes: distinct(|time| time % 60),
            hours: distinct(|time| time / 60),
        }
    }
}

/// The values of a field, ascending, as a star, a range, a range with a step, or a list.
fn written(values: &[i64], all: usize) -> String {
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return String::new();
    };
    match step_of(values) {
        Some(1) if values.len() == all => "*".to_owned(),
        Some(1) => format!("{first}-{last}"),
        Some(step) if values.len() > 4 => format!("{first}-{last}/{step}"),
        Some(_) | None => values
            .iter()
            .map(i64::to_string)
            .collect::<Vec<_>>()
            .join(","),
    }
}

/// The distance between each value and the next, if there are three values or more and it is one.
fn step_of(values: &[i64]) -> Option<i64> {
    let [first, second, _, ..] = values else {
        return None;
    };
    let step = second - first;
    values
        .windows(2)
        .all(|pair| pair[1] - pair[0] == step)
        .then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(text: &str) -> Vec<i64> {
        crate::schedule::CronExpr::parse(text)
            .unwrap()
            .times()
            .iter()
            .map(|time| i64::from(*time))
            .collect()
    }

    fn moved(text: &str, shift: i64) -> Option<String> {
        shifted(text, &times(text), shift)
    }

    #[test]
    fn minute_and_hour_move_and_day_fields_stay_as_written() {
        let table = [
            ("0 2 * * *", 45, Some("45 2 * * *")),
            ("0 2 * * MON-fri", -15, Some("45 1 * * MON-fri")),
            ("30 2  1,15 */2 7#1", 60, Some("30 3 1,15 */2 7#1")),
            ("@daily", 75, Some("15 1 * * *")),
            ("@weekly", 5, Some("5 0 * * 0")),
            ("0 */6 * * *", 30, Some("30 */6 * * *")),
            ("0 */6 * * *", 60, Some("0 1,7,13,19 * * *")),
            ("0 8-16 * * *", 60, Some("0 9-17 * * *")),
            ("0 0-20/2 * * *", 60, Some("0 1-21/2 * * *")),
            ("0,30 2 * * *", 15, Some("15,45 2 * * *")),
            ("0 * * * *", 17, Some("17 * * * *")),
            ("*/10 * * * *", 5, Some("5-55/10 * * * *")),
        ];
        for (text, shift, expected) in table {
            assert_eq!(moved(text, shift).as_deref(), expected, "{text} {shift:+}");
        }
    }

    #[test]
    fn times_that_leave_their_day_or_need_two_expressions_are_not_written() {
        assert_eq!(moved("50 23 * * *", 10), None);
        assert_eq!(moved("0 0 * * *", -1), None);
        assert_eq!(moved("0,30 2 * * *", 30), None);
        assert_eq!(moved("0 * * * *", 60), None);
    }

    #[test]
    fn written_times_are_the_moved_times() {
        for text in [
            "0,20,40 1-5 * * *",
            "7 3,9,21 * * *",
            "*/5 2 * * *",
            "0 1-23/2 * * *",
            "1-4 2-3 * * *",
        ] {
            for shift in -200..200 {
                if let Some(new) = moved(text, shift) {
                    let expected: Vec<i64> = times(text).iter().map(|time| time + shift).collect();
                    assert_eq!(times(&new), expected, "{text} {shift:+} gives {new}");
                }
            }
        }
    }
}
