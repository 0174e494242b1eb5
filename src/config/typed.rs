//! Readers of one field: a value of the right type and range, or a mistake.

use std::ops::RangeInclusive;
use std::time::Duration;

use chrono::NaiveDate;

use crate::lint::Rule;
use crate::money::Dollars;
use crate::schedule::{CronExpr, Zone};
use crate::span;

use super::context::{Context, shown};
use super::fields::Field;
use super::meant;
use super::mistakes::Mistake;
use super::node::{Node, Value};
use super::source::Place;
use super::value;

/// Expressions of one job: each minute of a day can be named by far fewer.
const MAX_CRONS: usize = 500;
/// Bytes of the longest zone's name, twice.
const MAX_ZONE: usize = 64;

/// A text of at least one character.
pub fn text(cx: &mut Context<'_>, field: Field<'_>) -> Option<String> {
    match &field.node.value {
        Value::Text(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Text(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::List(_)
        | Value::Map(_) => {
            cx.expected_or(field, "a text", meant::text(field));
            None
        }
    }
}

/// A name: letters, digits, `-`, `_` and `.`, a letter or digit first, at most 64.
pub fn name(cx: &mut Context<'_>, field: Field<'_>) -> Option<String> {
    let name = text(cx, field)?;
    if is_name(&name) {
        return Some(name);
    }
    cx.expected(field, NAME);
    None
}

/// What [`is_name`] asks for, in words.
pub const NAME: &str = "a name of letters, digits, `-`, `_` and `.`, at most 64";

/// Whether a text can name a job, a key or a group.
pub fn is_name(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(inside)
}

/// `true` or `false`.
pub fn boolean(cx: &mut Context<'_>, field: Field<'_>) -> Option<bool> {
    if let Value::Bool(value) = field.node.value {
        return Some(value);
    }
    let help = meant::boolean(field.node).map(|word| format!("write `{word}`"));
    cx.expected_or(field, "`true` or `false`", help);
    None
}

/// A whole number in a range.
pub fn integer(cx: &mut Context<'_>, field: Field<'_>, range: RangeInclusive<u32>) -> Option<u32> {
    let Value::Int(number) = field.node.value else {
        let help = meant::integer(field.node).map(|number| format!("write `{number}`"));
        cx.expected_or(field, "a whole number", help);
        return None;
    };
    let fits = u32::try_from(number)
        .ok()
        .filter(|number| range.contains(number));
    if fits.is_none() {
        let message = format!(
            "`{}`: {} is outside {} to {}",
            field.name,
            shown(field.node),
            range.start(),
            range.end()
        );
        cx.bad_field(field.place(), message, None);
    }
    fits
}

/// A number from 0 to 1.
pub fn ratio(cx: &mut Context<'_>, field: Field<'_>) -> Option<f64> {
    let number = match field.node.value {
        Value::Float(number) => number,
        Value::Int(0) => 0.0,
        Value::Int(1) => 1.0,
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Map(_) => f64::NAN,
    };
    if (0.0..=1.0).contains(&number) {
        return Some(number);
    }
    cx.expected(field, "a number from 0 to 1");
    None
}

/// The most dollars that may be spent: above nothing, to a million.
pub fn cap(cx: &mut Context<'_>, field: Field<'_>) -> Option<Dollars> {
    let found = dollars(field.node).filter(|cap| *cap > Dollars::ZERO);
    if found.is_none() {
        let expected = "a number of dollars above 0, at most 1000000, such as `2.50`";
        cx.expected(field, expected);
    }
    found
}

/// What a million tokens cost: nothing, to a million dollars.
pub fn price(cx: &mut Context<'_>, field: Field<'_>) -> Option<Dollars> {
    let found = dollars(field.node);
    if found.is_none() {
        let expected = "dollars for a million tokens, 0 to 1000000, such as `3.75`";
        cx.expected(field, expected);
    }
    found
}

fn dollars(node: &Node) -> Option<Dollars> {
    const MOST: f64 = 1_000_000.0;
    let number = match node.value {
        Value::Int(number) => f64::from(u32::try_from(number).ok()?),
        Value::Float(number) => number,
        Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
            return None;
        }
    };
    Dollars::from_f64(number).filter(|_| number <= MOST)
}

/// A day such as `2026-11-01`.
pub fn day(cx: &mut Context<'_>, field: Field<'_>) -> Option<NaiveDate> {
    let text = text(cx, field)?;
    // The parser alone would take blanks and signs.
    let date = NaiveDate::parse_from_str(&text, "%Y-%m-%d").ok();
    let date = date.filter(|date| date.to_string() == text);
    if date.is_none() {
        cx.expected(field, "a day such as `2026-11-01`");
    }
    date
}

/// A duration in a range.
pub fn duration(
    cx: &mut Context<'_>,
    field: Field<'_>,
    range: RangeInclusive<Duration>,
) -> Option<Duration> {
    let parsed = match &field.node.value {
        Value::Text(text) => span::parse(text),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::List(_)
        | Value::Map(_) => None,
    };
    let Some(found) = parsed else {
        let expected = "a duration such as `90s`, `15m` or `1h30m`";
        cx.expected_or(field, expected, meant::duration(field.node));
        return None;
    };
    if range.contains(&found) {
        return Some(found);
    }
    let bounds = (span::show(*range.start()), span::show(*range.end()));
    let message = format!(
        "`{}`: {} is outside {} to {}",
        field.name,
        shown(field.node),
        bounds.0,
        bounds.1
    );
    cx.bad_field(field.place(), message, None);
    None
}

/// A number of bytes, at least one and at most 32 MB: no request may be larger.
pub fn size(cx: &mut Context<'_>, field: Field<'_>) -> Option<usize> {
    const MAX: usize = 32 * 1_024 * 1_024;
    let parsed = match &field.node.value {
        Value::Int(number) => usize::try_from(*number).ok(),
        Value::Text(text) => value::size(text),
        Value::Null | Value::Bool(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => None,
    };
    let fits = parsed.filter(|bytes| (1..=MAX).contains(bytes));
    if fits.is_none() {
        cx.expected(field, "a size from 1 to 32m such as `60k`");
    }
    fits
}

/// One of a few words.
pub fn word<T: Copy>(cx: &mut Context<'_>, field: Field<'_>, words: &[(&str, T)]) -> Option<T> {
    let names = || words.iter().map(|(name, _)| *name);
    let Value::Text(text) = &field.node.value else {
        cx.expected(field, &format!("one of {}", value::listed(names())));
        return None;
    };
    let found = words
        .iter()
        .find(|(name, _)| name == text)
        .map(|(_, meaning)| *meaning);
    if found.is_none() {
        let message = format!(
            "`{}`: {} is none of {}",
            field.name,
            shown(field.node),
            value::listed(names())
        );
        let help = value::nearest(text, names()).map(|name| format!("did you mean `{name}`?"));
        cx.bad_field(field.place(), message, help);
    }
    found
}

/// The elements of a list, or a single value as a list of one.
pub fn one_or_many(field: Field<'_>) -> Vec<Field<'_>> {
    match &field.node.value {
        Value::List(items) => items.iter().map(|item| field.element(item)).collect(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Map(_) => vec![field],
    }
}

/// A list of texts; a single text is a list of one.
pub fn texts(cx: &mut Context<'_>, field: Field<'_>) -> Option<Vec<String>> {
    let read: Vec<_> = one_or_many(field)
        .into_iter()
        .map(|item| text(cx, item))
        .collect();
    read.into_iter().collect()
}

/// A program and its arguments: a list, because no shell takes a line apart.
pub fn argv(cx: &mut Context<'_>, field: Field<'_>) -> Option<Vec<String>> {
    let Value::List(items) = &field.node.value else {
        cx.expected(
            field,
            "a list such as `[\"journalctl\", \"--since\", \"yesterday\"]`",
        );
        return None;
    };
    if items.is_empty() {
        cx.expected(field, "a program and its arguments");
        return None;
    }
    let argument = |cx: &mut Context<'_>, (index, node)| -> Option<String> {
        let item = field.element(node);
        match &node.value {
            // An empty argument is an argument; an empty program is none.
            Value::Text(text) if index > 0 => Some(text.clone()),
            Value::Int(_) | Value::Float(_) | Value::Bool(_) => Some(node.place.text().to_owned()),
            Value::Text(_) | Value::Null | Value::List(_) | Value::Map(_) => text(cx, item),
        }
    };
    let read: Vec<_> = items
        .iter()
        .enumerate()
        .map(|item| argument(cx, item))
        .collect();
    read.into_iter().collect()
}

/// One or more cron expressions, each with its place.
pub fn crons(cx: &mut Context<'_>, field: Field<'_>) -> Option<Vec<(CronExpr, Place)>> {
    let items = one_or_many(field);
    if items.is_empty() {
        cx.expected(
            field,
            "at least one cron expression such as `\"0 5 * * *\"`",
        );
        return None;
    }
    if items.len() > MAX_CRONS {
        let message = format!(
            "`{}`: {} expressions, at most {MAX_CRONS}",
            field.name,
            items.len()
        );
        let help = "write ranges and lists such as `\"0,30 1-5 * * *\"`, or make two jobs of it";
        cx.bad_field(field.place(), message, Some(help.to_owned()));
        return None;
    }
    // Every expression is read, so that every mistake is found.
    let read: Vec<_> = items.into_iter().map(|item| cron(cx, item)).collect();
    let read: Option<Vec<_>> = read.into_iter().collect();
    Some(distinct(cx, read?))
}

/// The expressions without those that only say again when an earlier one fires.
fn distinct(cx: &mut Context<'_>, read: Vec<(CronExpr, Place)>) -> Vec<(CronExpr, Place)> {
    let mut kept: Vec<(CronExpr, Place)> = Vec::new();
    for (expr, place) in read {
        let says_it = |(known, _): &&(CronExpr, Place)| {
            known.day_key() == expr.day_key()
                && known.times() == expr.times()
                && known.spacing() == expr.spacing()
        };
        let Some((known, first)) = kept.iter().find(says_it) else {
            kept.push((expr, place));
            continue;
        };
        let message = if known.text() == expr.text() {
            format!("the expression `{}` stands here twice", expr.text())
        } else {
            format!("`{}` fires when `{}` does", expr.text(), known.text())
        };
        let mistake = Mistake::new(Rule::BadCron, place, message)
            .related(first.clone(), "the first one")
            .help("keep one of them");
        cx.report(mistake);
    }
    kept
}

fn cron(cx: &mut Context<'_>, field: Field<'_>) -> Option<(CronExpr, Place)> {
    let Value::Text(text) = &field.node.value else {
        cx.expected(field, "a cron expression in quotes such as `\"0 5 * * *\"`");
        return None;
    };
    match CronExpr::parse(text) {
        Ok(expr) => Some((expr, field.node.place.clone())),
        Err(error) => {
            let place = within(field.node, text, error.span);
            cx.report(Mistake::new(Rule::BadCron, place, error.message).maybe_help(error.help));
            None
        }
    }
}

/// An IANA zone.
pub fn zone(cx: &mut Context<'_>, field: Field<'_>) -> Option<Zone> {
    let name = text(cx, field)?;
    if name.len() > MAX_ZONE {
        let message = format!("unknown time zone {}", shown(field.node));
        let help = "write an IANA name such as `Asia/Tokyo` or `UTC`";
        cx.report(Mistake::new(Rule::BadZone, field.place(), message).help(help));
        return None;
    }
    match cx.zones.get(&name) {
        Ok(zone) => Some(zone),
        Err(error) => {
            let help = match &error.suggestion {
                Some(zone) => format!("did you mean `{zone}`?"),
                None => "write an IANA name such as `Asia/Tokyo` or `UTC`".to_owned(),
            };
            cx.report(Mistake::new(Rule::BadZone, field.place(), error.to_string()).help(help));
            None
        }
    }
}

/// The place of a range of a text's bytes; the whole text if it is not written as it reads.
pub fn within(node: &Node, text: &str, range: std::ops::Range<usize>) -> Place {
    let written = node.place.text();
    match written.find(text) {
        Some(offset) if range.end <= text.len() => {
            let start = node.place.span().start + offset;
            node.place.at(start + range.start..start + range.end)
        }
        _ => node.place.clone(),
    }
}
