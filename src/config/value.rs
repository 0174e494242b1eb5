//! Texts that stand for sizes, windows and days; for durations see [`crate::span`].
//!
//! Plain functions from text to value; the caller knows the place and says
//! what was expected.

/// Names that a message lists; every map of ours has fewer fields.
const MAX_NAMES: usize = 40;
/// Names that a word is compared with.
const MAX_COMPARED: usize = 1_000;
/// Letters of the longest word that a name is looked for.
const MAX_LETTERS: usize = 64;

/// A number of bytes: `500`, `60k` (1024 each), `2m`.
#[must_use]
pub fn size(text: &str) -> Option<usize> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number: usize = text[..text.len() - unit.len()].parse().ok()?;
    let factor = match unit {
        "" => 1,
        "k" | "K" => 1_024,
        "m" | "M" => 1_024 * 1_024,
        _ => return None,
    };
    number.checked_mul(factor)
}

/// A daily span such as `07:00-09:00`, as minutes of the day: one part, or two for a span over midnight.
///
/// The second part of a span over midnight belongs to the day after. `None` for a text of another form or a span of
/// no length.
#[must_use]
pub fn window(text: &str) -> Option<Vec<(u16, u16)>> {
    let (start, end) = text.split_once('-')?;
    let (start, end) = (minute(start.trim())?, minute(end.trim())?);
    match (start, end) {
        (1440, _) => None,
        (start, end) if start == end => None,
        (start, end) if start < end => Some(vec![(start, end)]),
        (start, 0) => Some(vec![(start, 1440)]),
        (start, end) => Some(vec![(start, 1440), (0, end)]),
    }
}

/// `HH:MM` as a minute of the day; `24:00` is 1440.
fn minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !(1..=2).contains(&hour.len()) || minute.len() != 2 || !digits(hour) || !digits(minute) {
        return None;
    }
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    let total = hour * 60 + minute;
    (minute < 60 && total <= 1440).then_some(total)
}

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Days of the week, Monday first: `mon-fri`, `sat,sun`, `fri-mon`.
#[must_use]
pub fn days(text: &str) -> Option<[bool; 7]> {
    let mut set = [false; 7];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (day(first)?, day(last)?);
        let span = (last + 7 - first) % 7;
        for offset in 0..=span {
            set[(first + offset) % 7] = true;
        }
    }
    Some(set)
}

fn day(text: &str) -> Option<usize> {
    let name = text.trim().to_ascii_lowercase();
    DAYS.iter().position(|day| *day == name)
}

/// The nearest of some names, if one is near enough to have been meant: one slip in three letters at most.
///
/// Case counts for nothing, and letters that changed places are one slip. Of names that are equally near, the first.
///
/// ```
/// use offpeak::config::nearest;
///
/// assert_eq!(nearest("digset", ["digest", "review"]), Some("digest"));
/// assert_eq!(nearest("news", ["digest", "review"]), None);
/// ```
#[must_use]
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    let lower = word.to_lowercase();
    // Names of another length are never near, and a word may be as long as a file.
    let of_like_length = |name: &&str| {
        let name = name.chars().count();
        letters.abs_diff(name) <= letters.max(name) / 3 && letters <= MAX_LETTERS
    };
    let score = |name: &str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    let (distance, name) = names
        .into_iter()
        .filter(of_like_length)
        .take(MAX_COMPARED)
        .map(|name| (score(name), name))
        .min_by_key(|(distance, _)| *distance)?;
    let longest = letters.max(name.chars().count());
    // One slip in three letters; a name of two letters must fit but for case.
    (distance <= longest / 3).then_some(name)
}

/// Names for a message: `a`, `b` and `c`.
#[must_use]
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut quoted: Vec<String> = Vec::new();
    let mut others = 0_usize;
    for name in names {
        if quoted.len() < MAX_NAMES {
            quoted.push(format!("`{name}`"));
        } else {
            others += 1;
        }
    }
    if others > 0 {
        return format!("{} and {others} more", quoted.join(", "));
    }
    match quoted.as_slice() {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_count_in_1024s() {
        assert_eq!(size("60k"), Some(61_440));
        assert_eq!(size("2M"), Some(2_097_152));
        assert_eq!(size("7"), Some(7));
        for text in [
            "",
            "k",
            "60kb",
            "-1",
            "1.5k",
            "99999999999999999999",
            "18446744073709551615k",
        ] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn a_window_over_midnight_is_two_spans() {
        assert_eq!(window("07:00-09:00"), Some(vec![(420, 540)]));
        assert_eq!(window("23:00-01:00"), Some(vec![(1380, 1440), (0, 60)]));
        assert_eq!(window("18:00-24:00"), Some(vec![(1080, 1440)]));
        assert_eq!(window("18:00-00:00"), Some(vec![(1080, 1440)]));
        assert_eq!(window("0:00-24:00"), Some(vec![(0, 1440)]));
        for text in [
            "",
            "07:00",
            "07:00-07:00",
            "7-9",
            "07:60-08:00",
            "24:01-01:00",
            "24:00-01:00",
            "a:00-b:00",
            "07:0-08:00",
            "+7:00-08:00",
        ] {
            assert_eq!(window(text), None, "{text}");
        }
    }

    #[test]
    fn days_are_ranges_and_lists_monday_first() {
        assert_eq!(
            days("mon-fri"),
            Some([true, true, true, true, true, false, false])
        );
        assert_eq!(
            days("Sat, sun"),
            Some([false, false, false, false, false, true, true])
        );
        assert_eq!(
            days("fri-mon"),
            Some([true, false, false, false, true, true, true])
        );
        for text in ["", "monday", "mon-", "1-5"] {
            assert_eq!(days(text), None, "{text}");
        }
    }

    #[test]
    fn only_a_near_name_is_suggested() {
        assert_eq!(nearest("timezon", ["cron", "timezone"]), Some("timezone"));
        assert_eq!(nearest("corn", ["cron", "timezone"]), Some("cron"));
        assert_eq!(nearest("zz", ["cron", "to"]), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn names_are_listed_in_words() {
        assert_eq!(listed(["a"]), "`a`");
        assert_eq!(listed(["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(listed([]), "none");
    }
}
