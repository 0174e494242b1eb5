//! How many fields a text has, and what to say when it is not five.

use std::ops::Range;

use super::field::Field;
use super::{CronError, advice};

const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

const FIELDS: &str = "minute hour day-of-month month day-of-week";

/// What a nickname stands for; `None` if the text is none.
pub(super) fn nickname(text: &str) -> Result<Option<&'static str>, CronError> {
    let word = text.trim_matches(is_blank);
    if !word.starts_with('@') {
        return Ok(None);
    }
    let start = text.len() - text.trim_start_matches(is_blank).len();
    let span = start..start + word.len();
    if let Some((_, fields)) = NICKNAMES
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(word))
    {
        return Ok(Some(fields));
    }
    let lower = word.to_ascii_lowercase();
    if lower == "@reboot" {
        let help = "a slot needs a time of day; start `offpeak run JOB` from the system's own start-up instead";
        return Err(CronError::new(span, "`@reboot` names no fire time").help(help));
    }
    if lower.starts_with("@every") {
        let help = "write the fields, such as `*/30 * * * *` for every 30 minutes";
        return Err(
            CronError::new(span, format!("`{word}` is an interval, not a fire time")).help(help),
        );
    }
    let first = word.split(is_blank).next().unwrap_or_default();
    if NICKNAMES
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case(first))
    {
        let rest = span.start + first.len()..span.end;
        return Err(CronError::new(rest, format!("`{first}` stands alone"))
            .help(format!("write `{first}`, or five fields: {FIELDS}")));
    }
    let error = CronError::new(span, format!("unknown nickname `{word}`"));
    Err(match near(&lower) {
        Some(name) => error.help(format!("did you mean `{name}`?")),
        None => error.help(format!("write five fields: {FIELDS}")),
    })
}

/// The nickname that was meant, by the rule of every other name: one slip in three letters at most.
fn near(word: &str) -> Option<&'static str> {
    // The longest nickname has nine letters.
    if word.len() > 16 {
        return None;
    }
    let names = NICKNAMES.iter().map(|(name, _)| *name);
    let (distance, name) = names
        .map(|name| (strsim::damerau_levenshtein(name, word), name))
        .min_by_key(|(distance, _)| *distance)?;
    let longest = word.chars().count().max(name.len());
    (distance <= longest / 3).then_some(name)
}

/// The places of the five fields.
pub(super) fn five_fields(text: &str) -> Result<[Range<usize>; 5], CronError> {
    let spans = field_spans(text);
    <[Range<usize>; 5]>::try_from(spans).map_err(|spans| wrong_count(text, &spans))
}

fn field_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::with_capacity(5);
    let mut start = None;
    for (at, letter) in text.char_indices() {
        match (is_blank(letter), start) {
            (true, Some(from)) => {
                spans.push(from..at);
                start = None;
            }
            (false, None) => start = Some(at),
            (true, None) | (false, Some(_)) => {}
        }
    }
    spans.extend(start.map(|from| from..text.len()));
    spans
}

/// Blanks as cron has them; a no-break space is a typing mistake, not a blank.
fn is_blank(letter: char) -> bool {
    letter.is_ascii_whitespace()
}

fn wrong_count(text: &str, spans: &[Range<usize>]) -> CronError {
    let whole = match spans {
        [] => {
            return CronError::new(0..text.len(), "the expression is empty")
                .help(format!("write five fields: {FIELDS}"));
        }
        [first, .., last] => first.start..last.end,
        [only] => only.clone(),
    };
    let count = spans.len();
    let said = count_in_words(count);
    if let Some(extra) = spans
        .iter()
        .skip(5)
        .find(|span| is_command(&text[(*span).clone()]))
    {
        let message = format!(
            "{said}: `{}` is no part of an expression",
            &text[extra.clone()]
        );
        return CronError::new(extra.start..whole.end, message)
            .help("keep the first five fields; the job says what to send");
    }
    if let Some((first, last)) = torn_list(text, spans) {
        let joined: String = spans[first..=last]
            .iter()
            .map(|span| &text[span.clone()])
            .collect();
        let message = format!("{said}, expected five: a stray blank tears a list apart");
        let help = format!("write `{joined}` without blanks");
        return CronError::new(spans[first].end..spans[last].start, message).help(help);
    }
    let fields: Vec<&str> = spans.iter().map(|span| &text[span.clone()]).collect();
    match (count, spans) {
        (6, [.., last]) if is_year(fields[5]) => CronError::new(
            last.clone(),
            "six fields: years are not supported; drop the last",
        )
        .help(format!("write `{}`", without_marks(&fields[..5]))),
        (6, [first, ..]) => CronError::new(
            first.clone(),
            "six fields: leading seconds are not supported; drop the first",
        )
        .help(format!("write `{}`", without_marks(&fields[1..]))),
        (7, _) => CronError::new(
            whole,
            "seven fields: neither seconds nor years are supported; drop the first and the last",
        )
        .help(format!("write `{}`", without_marks(&fields[1..6]))),
        _ => CronError::new(whole, format!("{said}, expected five")).help(too_few(&fields)),
    }
}

/// Fields as cron writes them: Quartz has a `?` for a day field that does not count.
fn without_marks(fields: &[&str]) -> String {
    let fields: Vec<&str> = fields
        .iter()
        .map(|field| if *field == "?" { "*" } else { field })
        .collect();
    fields.join(" ")
}

/// Which field is missing, where that can be known; else what the five are.
fn too_few(fields: &[&str]) -> String {
    let is_number = |field: &str| field.bytes().all(|byte| byte.is_ascii_digit());
    let reads = |kind: Field, field: &str| kind.parse(field, 0).is_ok();
    match fields {
        [time] => {
            if let Some((hour, minute)) = advice::clock_time(time) {
                return format!("for {hour:02}:{minute:02} each day write `{minute} {hour} * * *`");
            }
        }
        [hour, "*", "*", "*"] if is_number(hour) && reads(Field::Hour, hour) => {
            return format!(
                "a field is missing: `0 {hour} * * *` is once a day, `{hour} * * * *` once an hour"
            );
        }
        [minute, hour, "*", "*"]
            if is_number(minute)
                && reads(Field::Minute, minute)
                && is_number(hour)
                && reads(Field::Hour, hour) =>
        {
            return format!("the day of week is missing: write `{minute} {hour} * * *`");
        }
        [_, _, _, _] => {
            if let Some((name, text)) = only_completion(fields) {
                return format!("the {name} is missing: write `{text}`");
            }
        }
        _ => {}
    }
    format!("write five fields: {FIELDS}, such as `0 5 * * *`")
}

/// The one place where a `*` more makes an expression of four fields, and its name; `None` if there are several.
fn only_completion(fields: &[&str]) -> Option<(&'static str, String)> {
    const ALL: [Field; 5] = [
        Field::Minute,
        Field::Hour,
        Field::DayOfMonth,
        Field::Month,
        Field::DayOfWeek,
    ];
    // Two numbers at the start are a time of day.
    let is_number = |field: &&str| field.bytes().all(|byte| byte.is_ascii_digit());
    let from = if fields.iter().take(2).all(is_number) {
        2
    } else {
        0
    };
    let mut found: Option<(&'static str, String)> = None;
    for (at, field) in ALL.iter().enumerate().skip(from) {
        let mut all = fields.to_vec();
        all.insert(at, "*");
        let text = all.join(" ");
        let reads = ALL
            .iter()
            .zip(&all)
            .all(|(field, text)| field.parse(text, 0).is_ok());
        match &found {
            _ if !reads => {}
            Some((_, known)) if *known == text => {}
            Some(_) => return None,
            None => found = Some((field.name(), text)),
        }
    }
    found
}

fn count_in_words(count: usize) -> String {
    match count {
        1 => "one field".to_owned(),
        2 => "two fields".to_owned(),
        3 => "three fields".to_owned(),
        4 => "four fields".to_owned(),
        5 => "five fields".to_owned(),
        6 => "six fields".to_owned(),
        7 => "seven fields".to_owned(),
        more => format!("{more} fields"),
    }
}

/// The fields, from the first to the last, that blanks around a comma, dash or slash tore apart.
fn torn_list(text: &str, spans: &[Range<usize>]) -> Option<(usize, usize)> {
    let torn = |at: usize| match (spans.get(at), spans.get(at + 1)) {
        (Some(left), Some(right)) => {
            text[left.clone()].ends_with([',', '-', '/']) || is_continuation(&text[right.clone()])
        }
        _ => false,
    };
    let first = (0..spans.len()).find(|at| torn(*at))?;
    let last = (first..spans.len()).find(|at| !torn(*at))?;
    Some((first, last))
}

/// A slash at the start is a path more often than a torn step.
fn is_continuation(word: &str) -> bool {
    let digit_follows = word.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    word.starts_with([',', '-']) || (word.starts_with('/') && digit_follows)
}

/// Whether a further field looks like the command of a crontab line; `MON-FRI` is a weekday.
fn is_command(word: &str) -> bool {
    if Field::DayOfWeek.parse(word, 0).is_ok() {
        return false;
    }
    word.starts_with(['/', '.', '~', '$'])
        || word.chars().filter(char::is_ascii_alphabetic).count() > 3
}

fn is_year(word: &str) -> bool {
    word.bytes().take_while(u8::is_ascii_digit).count() >= 4
}
