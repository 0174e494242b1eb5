//! Day and month fields in words.
//!
//! The texts are fields of expressions that were read before, so what does not
//! look like a field is passed on as it is.

const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

/// Of a step, at most so many days are told one by one.
const FEW: usize = 6;

/// `1st`, `2nd`, `3rd`, `11th`.
pub(super) fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// The English name of a month, counted from 1; empty for any other number.
pub(super) fn month(number: u32) -> &'static str {
    let index = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
    index.and_then(|n| MONTHS.get(n)).copied().unwrap_or("")
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [init @ .., last] => {
            let init: Vec<&str> = init.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", init.join(", "), last.as_ref())
        }
    }
}

/// A field for the days of the month: `the 1st and the 15th`.
pub(super) fn dates(field: &str) -> String {
    let items: Vec<String> = field.split(',').map(date).collect();
    listed(&items)
}

fn date(item: &str) -> String {
    let the = |day: u32| format!("the {}", ordinal(day));
    let upper = item.to_ascii_uppercase();
    if upper == "L" {
        return "the last day of the month".to_owned();
    }
    if upper == "LW" {
        return "the last working day of the month".to_owned();
    }
    if let Some(day) = upper.strip_suffix('W').and_then(|day| day.parse().ok()) {
        return format!("the working day nearest to {}", the(day));
    }
    match span(item, |text| text.parse().ok()) {
        Some((first, last, 1)) if first == last => the(first),
        Some((first, last, 1)) => format!("{} to {}", the(first), the(last)),
        Some((first, last, step)) => {
            let days: Vec<String> = (first..=last)
                .step_by(usize::try_from(step).unwrap_or(1))
                .map(the)
                .collect();
            if days.len() <= FEW {
                listed(&days)
            } else {
                format!(
                    "every {} day from {} to {}",
                    ordinal(step),
                    the(first),
                    the(last)
                )
            }
        }
        None => item.to_owned(),
    }
}

/// A field for the days of the week: `every Monday and the last Friday of the month`.
pub(super) fn weekdays(field: &str) -> String {
    let (mut every, mut some) = (Vec::new(), Vec::new());
    for item in field.split(',') {
        let last = item.strip_suffix(['l', 'L']);
        let nth = item.split_once('#');
        if let Some(days) = last {
            some.push(format!("the last {} of the month", weekday_span(days)));
        } else if let Some((days, nth)) = nth {
            let nth = nth.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
            let nth = nth.and_then(|n| ORDINALS.get(n)).copied().unwrap_or("nth");
            some.push(format!("the {nth} {} of the month", weekday_span(days)));
        } else {
            every.push(weekday_span(item));
        }
    }
    if !every.is_empty() {
        some.insert(0, format!("every {}", listed(&every)));
    }
    listed(&some)
}

fn weekday_span(item: &str) -> String {
    let name = |day: u32| WEEKDAYS[(day % 7) as usize];
    match span(item, weekday_number) {
        Some((first, last, 1)) if first == last => name(first).to_owned(),
        // `sun` after another day is the seventh.
        Some((first, 0, 1)) => format!("{} to Sunday", name(first)),
        Some((first, last, 1)) => format!("{} to {}", name(first), name(last)),
        Some((first, last, step)) => {
            let days: Vec<&str> = (first..=last)
                .step_by(usize::try_from(step).unwrap_or(1))
                .map(name)
                .collect();
            listed(&days)
        }
        None => item.to_owned(),
    }
}

fn weekday_number(text: &str) -> Option<u32> {
    let by_name = |(_, name): &(u32, &str)| name[..3].eq_ignore_ascii_case(text);
    let named = || (0..).zip(WEEKDAYS).find(by_name).map(|(day, _)| day);
    text.parse().ok().or_else(named)
}

/// First, last and step of `a`, `a-b` and `a-b/n`.
fn span(item: &str, number: impl Fn(&str) -> Option<u32>) -> Option<(u32, u32, u32)> {
    let (range, step) = match item.split_once('/') {
        Some((range, step)) => (range, step.parse().ok().filter(|step| *step > 0)?),
        None => (item, 1),
    };
    match range.split_once('-') {
        Some((first, last)) => Some((number(first)?, number(last)?, step)),
        None => number(range).map(|only| (only, only, step)),
    }
}

/// The first day of an item of the days of the month: of `a`, `aW`, `a-b` and `a-b/n`.
pub(super) fn first_date(item: &str) -> Option<u32> {
    let plain = item.strip_suffix(['w', 'W']).unwrap_or(item);
    span(plain, |text| text.parse().ok()).map(|(first, ..)| first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_endings() {
        let told: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 31].map(ordinal).into();
        assert_eq!(
            told.join(" "),
            "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 23rd 31st"
        );
    }

    #[test]
    fn days_of_the_month_are_told_item_by_item() {
        assert_eq!(dates("1,15"), "the 1st and the 15th");
        assert_eq!(dates("1-7"), "the 1st to the 7th");
        assert_eq!(
            dates("l,LW,15w"),
            "the last day of the month, the last working day of the month and the working day nearest to the 15th"
        );
        assert_eq!(dates("1-15/7"), "the 1st, the 8th and the 15th");
        assert_eq!(dates("1-31/2"), "every 2nd day from the 1st to the 31st");
    }

    #[test]
    fn days_of_the_week_are_told_by_their_names() {
        assert_eq!(weekdays("mon"), "every Monday");
        assert_eq!(weekdays("1-5"), "every Monday to Friday");
        assert_eq!(weekdays("SAT-sun"), "every Saturday to Sunday");
        assert_eq!(weekdays("0,7,3"), "every Sunday, Sunday and Wednesday");
        assert_eq!(weekdays("1-5/2"), "every Monday, Wednesday and Friday");
        assert_eq!(weekdays("fri#2"), "the second Friday of the month");
        assert_eq!(
            weekdays("5L,mon"),
            "every Monday and the last Friday of the month"
        );
    }

    #[test]
    fn first_day_of_an_item_is_read_through_its_mark() {
        let firsts = ["31", "29-31", "29-31/2", "30W", "L", "LW"].map(first_date);
        assert_eq!(firsts, [Some(31), Some(29), Some(29), Some(30), None, None]);
    }
}
