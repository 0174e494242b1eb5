//! Cron texts with their times of day moved.

use std::rc::Rc;

/// Minutes of a day.
pub(super) const DAY_MINUTES: i64 = 1_440;

/// The times of day of one expression, as the values of its minute and hour fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Clock {
    /// Ascending; shared, for a field has few turns and a clock many.
    minutes: Rc<[i64]>,
    /// Ascending.
    hours: Rc<[i64]>,
}

impl Clock {
    /// The values that make these times of day, given in minutes.
    pub(super) fn of(times: &[i64]) -> Self {
        Self {
            minutes: distinct(times.iter().map(|time| time % 60)),
            hours: distinct(times.iter().map(|time| time / 60)),
        }
    }

    /// Every clock that turns the two fields, each as a whole and around its end; this one is not among them.
    ///
    /// A turn keeps how many times a day has. Where all times can move together and one minute and one hour field can
    /// say the result, that is a turn too.
    pub(super) fn turns(&self) -> impl Iterator<Item = Self> + '_ {
        let hours = turned(&self.hours, 24);
        let all = turned(&self.minutes, 60)
            .into_iter()
            .flat_map(move |minutes| {
                let with = move |hours| Self {
                    minutes: Rc::clone(&minutes),
                    hours,
                };
                hours.clone().into_iter().map(with)
            });
        all.filter(move |clock| clock != self)
    }

    /// The times of day in minutes, ascending.
    pub(super) fn times(&self) -> impl Iterator<Item = i64> + '_ {
        let of_hour = |hour: &'_ i64| {
            let hour = *hour;
            self.minutes.iter().map(move |minute| hour * 60 + minute)
        };
        self.hours.iter().flat_map(of_hour)
    }
}

/// The text of an expression with other times of day.
///
/// The day fields stay as they are written, and so does a minute or hour
/// field that says the same as before.
pub(super) fn rewritten(text: &str, old: &Clock, new: &Clock) -> Option<String> {
    let [minute, hour, day, month, weekday] = fields(text)?;
    let minute = if old.minutes == new.minutes {
        minute.to_owned()
    } else {
        written(&new.minutes, 60)
    };
    let hour = if old.hours == new.hours {
        hour.to_owned()
    } else {
        written(&new.hours, 24)
    };
    Some(format!("{minute} {hour} {day} {month} {weekday}"))
}

/// The text of an expression with all its times of day, given ascending, `shift` minutes later.
///
/// `None` if a time would leave its day, or if one minute and one hour field cannot say the new times.
pub(super) fn shifted(text: &str, times: &[i64], shift: i64) -> Option<String> {
    let moved: Vec<i64> = times.iter().map(|time| time + shift).collect();
    let new = Clock::of(&moved);
    let stays = moved.iter().all(|time| (0..DAY_MINUTES).contains(time));
    (stays && new.times().eq(moved.iter().copied()))
        .then(|| rewritten(text, &Clock::of(times), &new))
        .flatten()
}

fn distinct(values: impl Iterator<Item = i64>) -> Rc<[i64]> {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.into()
}

/// The values of a field turned by every number of places, each set once.
fn turned(values: &[i64], all: i64) -> Vec<Rc<[i64]>> {
    let turn = |places| distinct(values.iter().map(|value| (value + places) % all));
    let mut turns: Vec<Rc<[i64]>> = (0..all).map(turn).collect();
    turns.sort_unstable();
    turns.dedup();
    turns
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

    /// The text of the turn whose times of day are all so much later.
    fn moved(text: &str, shift: i64) -> Option<String> {
        let old = Clock::of(&times(text));
        let wanted: Vec<i64> = old.times().map(|time| time + shift).collect();
        let turn = old
            .turns()
            .find(|turn| turn.times().eq(wanted.iter().copied()))?;
        rewritten(text, &old, &turn)
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
    fn field_turns_around_its_end_where_its_times_cannot_move_together() {
        let clock = |text| Clock::of(&times(text));
        let turns_to = |old, new| clock(old).turns().any(|turn| turn == clock(new));
        assert!(turns_to("50 * * * *", "5 * * * *"));
        assert!(turns_to("0 0,23 * * *", "0 0,1 * * *"));
        assert_eq!(clock("* * * * *").turns().count(), 0);
    }

    #[test]
    fn written_times_are_those_of_the_turn_and_as_many_as_before() {
        for text in [
            "0,20,40 1-5 * * *",
            "7 3,9,21 * * *",
            "*/5 2 * * *",
            "0 1-23/2 * * *",
            "1-4 2-3 * * *",
            "*/7 */5 * * *",
        ] {
            let old = Clock::of(&times(text));
            for turn in old.turns() {
                let new = rewritten(text, &old, &turn).unwrap();
                assert_eq!(
                    times(&new),
                    turn.times().collect::<Vec<_>>(),
                    "{text}: {new}"
                );
                assert_eq!(times(&new).len(), times(text).len(), "{text}: {new}");
            }
        }
    }
}
