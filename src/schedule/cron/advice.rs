//! What to write instead of a value or a count of fields that cron does not know.

use super::field::Field;

/// The help for a number outside of its field.
pub(super) fn outside(field: Field, value: u16) -> String {
    let text = match (field, value) {
        (Field::Hour, 24 | 25) => {
            "hours run from 0 to 23, and 0 is midnight: write `0` for 24 and `1` for 25"
        }
        (Field::Hour, _) => "hours run from 0, which is midnight, to 23",
        (Field::Minute, 60) => "minutes run from 0 to 59: write `0` and the hour after",
        (Field::Minute, _) => "minutes run from 0 to 59; hours stand in the second field",
        (Field::DayOfMonth, _) => {
            "days run from 1 to 31; `L` is the last of the month, whatever its length"
        }
        (Field::Month, _) => "months run from 1 to 12, or from jan to dec",
        (Field::DayOfWeek, _) => "days run from 0 to 7, or from sun to sat; 0 and 7 are Sunday",
    };
    text.to_owned()
}

/// The help for a name that is written out, cut short, or misspelt; `None` if it is near to none.
pub(super) fn spelt_out(field: Field, word: &str) -> Option<String> {
    let (names, _) = field.names();
    // Whole names have nine letters at most.
    if !(2..=12).contains(&word.len()) {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let fits = |name: &str| word.starts_with(name) || name.starts_with(&word);
    let slip = |name: &str| word.len() == 3 && strsim::damerau_levenshtein(&word, name) == 1;
    let name = only(names, fits).or_else(|| only(names, slip))?;
    Some(format!("names have three letters: write `{name}`"))
}

/// The one name that a rule names; `None` for none or several.
fn only<'a>(names: &[&'a str], rule: impl Fn(&str) -> bool) -> Option<&'a str> {
    let mut found = names.iter().filter(|name| rule(name));
    let first = found.next()?;
    found.next().is_none().then_some(*first)
}

/// The help for what is no value of a field at all.
pub(super) fn no_value(field: Field, text: &str) -> String {
    let upper = text.to_ascii_uppercase();
    if let Some((hour, minute)) = clock_time(text) {
        return format!("for {hour:02}:{minute:02} each day write `{minute} {hour} * * *`");
    }
    match upper.as_str() {
        "H" | "R" | "~" => {
            return "nothing is drawn here: write the number, so that the schedule can be proved"
                .to_owned();
        }
        "L" | "LW" if field == Field::DayOfMonth => {
            return "`L` stands alone or in a list: days counted from the end are not supported"
                .to_owned();
        }
        "L" | "W" | "LW" => {
            return "`L` and `W` belong to the days: `0 5 L * *` is the last of the month; \
                    a weekday is named with them, such as `friL`"
                .to_owned();
        }
        _ => {}
    }
    if !text.is_ascii() {
        return "write plain digits and plain blanks; this looks like them and is another sign"
            .to_owned();
    }
    let (min, max) = field.bounds();
    format!(
        "write `*`, a number from {min} to {max}, a range `{min}-{max}`, a list with commas, or a step `*/2`"
    )
}

/// A time of day as people write it: `5:30`, `05:30`, `5am`, `11pm`.
pub(super) fn clock_time(text: &str) -> Option<(u16, u16)> {
    let lower = text.to_ascii_lowercase();
    let (digits, noon) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(digits), _) => (digits, Some(0)),
        (_, Some(digits)) => (digits, Some(12)),
        (None, None) => (lower.as_str(), None),
    };
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "00"));
    if noon.is_none() && !digits.contains(':') {
        return None;
    }
    let number = |part: &str| {
        let plain = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| part.parse::<u16>().ok()).flatten()
    };
    let (hour, minute) = (number(hour)?, number(minute)?);
    let hour = match noon {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(noon) => hour % 12 + noon,
    };
    (hour < 24 && minute < 60).then_some((hour, minute))
}
