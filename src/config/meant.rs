//! What was probably meant by a value of the wrong form: advice, never a reading.

use std::time::Duration;

use crate::span;

use super::fields::Field;
use super::node::{Node, Value};

/// Longer values are not looked at.
const MAX_LOOKED_AT: usize = 40;

/// The help for a field that takes a text and holds something else.
pub fn text(field: Field<'_>) -> Option<String> {
    let written = field.node.place.text();
    match &field.node.value {
        Value::Bool(_) | Value::Int(_) | Value::Float(_) if written.len() <= MAX_LOOKED_AT => {
            Some(format!("put it in quotes: `\"{written}\"`"))
        }
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => Some("put it in quotes".to_owned()),
        Value::Map(_) if is_tag(field.node) => {
            Some("a text that begins with `{{` needs quotes: `\"{{ date }}\"`".to_owned())
        }
        Value::Null => Some("write the text behind the colon, or take the field away".to_owned()),
        Value::Text(_) => Some("write the text, or take the field away".to_owned()),
        Value::List(_) | Value::Map(_) => None,
    }
}

/// Whether a map is a template that lacks its quotes: `{{ log }}`.
fn is_tag(node: &Node) -> bool {
    let start = node.place.span().start;
    node.place.source().text()[start..].starts_with("{{")
}

/// `true` or `false` for what other languages and YAML 1.1 call so.
pub fn boolean(node: &Node) -> Option<bool> {
    let word = match &node.value {
        Value::Text(text) if text.len() <= MAX_LOOKED_AT => text.to_ascii_lowercase(),
        Value::Int(number @ (0 | 1)) => number.to_string(),
        Value::Text(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::List(_)
        | Value::Map(_) => return None,
    };
    match word.as_str() {
        "yes" | "y" | "on" | "true" | "1" => Some(true),
        "no" | "n" | "off" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// The whole number in `4k`, `4_000`, `4,000`, `"4000"` and `1e3`.
pub fn integer(node: &Node) -> Option<u32> {
    match &node.value {
        Value::Text(text) if text.len() <= MAX_LOOKED_AT => {
            let plain = text
                .trim()
                .replace(['_', ',', ' '], "")
                .to_ascii_lowercase();
            let (digits, factor) = match plain.strip_suffix('k') {
                Some(digits) => (digits, 1_000),
                None => (plain.as_str(), 1),
            };
            whole(digits.parse().ok()?)?.checked_mul(factor)
        }
        Value::Float(number) => whole(*number),
        Value::Text(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::List(_)
        | Value::Map(_) => None,
    }
}

fn whole(number: f64) -> Option<u32> {
    let text = (number.fract() == 0.0).then(|| number.to_string())?;
    text.parse().ok()
}

/// The help for a duration: the form that would be right.
pub fn duration(node: &Node) -> Option<String> {
    let text = match &node.value {
        Value::Text(text) => text.trim(),
        Value::Int(_) | Value::Float(_) => node.place.text(),
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => return None,
    };
    if text.starts_with('-') {
        return Some("a duration is never negative".to_owned());
    }
    let (meant, has_unit) = meant_duration(text)?;
    let right = span::show(meant);
    if has_unit {
        return Some(format!("write `{right}`"));
    }
    let seconds = format!("{text}s");
    Some(if seconds == right || span::parse(&seconds).is_none() {
        format!("write a unit: `{right}`")
    } else {
        format!("write a unit: `{seconds}` or `{right}`")
    })
}

/// A duration in the forms that other programs take, and whether a unit was written: `5 m`, `1.5h`, `10 minutes`,
/// `PT10M`, `600`.
fn meant_duration(text: &str) -> Option<(Duration, bool)> {
    if text.len() > MAX_LOOKED_AT {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let mut rest = lower.strip_prefix("pt").unwrap_or(&lower);
    let (mut total, mut has_unit) = (Duration::ZERO, false);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, after) = rest.split_at(end.unwrap_or(rest.len()));
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_ascii_alphabetic());
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        let seconds = match unit {
            "ms" | "msec" | "millis" => 0.001,
            "" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
            "d" | "day" | "days" => 86_400.0,
            "w" | "week" | "weeks" => 604_800.0,
            _ => return None,
        };
        let part = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
        total = total.checked_add(part)?;
        has_unit |= !unit.is_empty();
        rest = after.trim_start_matches([' ', ',']);
    }
    (!total.is_zero()).then_some((total, has_unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Option<String> {
        let (meant, has_unit) = meant_duration(text)?;
        Some(format!(
            "{}{}",
            span::show(meant),
            if has_unit { "" } else { "?" }
        ))
    }

    #[test]
    fn durations_of_other_programs_are_known() {
        for (text, meant) in [
            ("5 m", "5m"),
            ("1.5h", "1h30m"),
            ("10 minutes", "10m"),
            ("10M", "10m"),
            ("PT10M", "10m"),
            ("1h 30m", "1h30m"),
            ("1 hour, 30 min", "1h30m"),
            ("2w", "14d"),
            ("600", "10m?"),
            ("0.25", "250ms?"),
        ] {
            assert_eq!(written(text).as_deref(), Some(meant), "{text}");
        }
        for text in [
            "",
            "soon",
            "5 parsecs",
            "1.2.3s",
            "0",
            "1e9999d",
            "99999999999999999999999w",
        ] {
            assert_eq!(written(text), None, "{text}");
        }
    }
}
