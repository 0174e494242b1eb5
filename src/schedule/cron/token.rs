//! The pieces of a field: checked one by one so that an error has a place, a
//! reason and a way out.

use std::ops::Range;

use super::field::Field;
use super::{CronError, advice};

/// A piece of a field and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) field: Field,
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl Token<'_> {
    pub(super) fn span(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    fn error(self, what: &str) -> CronError {
        CronError::new(
            self.span(),
            format!("{} `{}` {what}", self.field.name(), self.text),
        )
    }

    /// Splits at the first of a character; the second part lies behind it.
    fn split(self, at: char) -> Option<(Self, Self)> {
        let (head, tail) = self.text.split_once(at)?;
        Some((
            Token { text: head, ..self },
            Token {
                text: tail,
                start: self.start + head.len() + 1,
                ..self
            },
        ))
    }

    /// One item of a list, with numbers for names.
    pub(super) fn in_numbers(self, whole: &str) -> Result<String, CronError> {
        if self.text.is_empty() {
            // An empty span has nothing to underline: take the comma.
            let comma = if self.start == 0 {
                0..1
            } else {
                self.start - 1..self.start
            };
            let message = format!(
                "{} `{whole}` has an empty item in its list",
                self.field.name()
            );
            return Err(CronError::new(comma, message).help("remove the extra comma"));
        }
        if let Some((range, step)) = self.split('/') {
            return Ok(format!("{}/{}", range.stepped(step)?, step.step()?));
        }
        if self.text == "*" && whole != "*" {
            return Err(self
                .error("stands in a list, but it covers every value")
                .help("write `*` alone"));
        }
        if self.text == "*" {
            return Ok("*".to_owned());
        }
        self.marked_or_plain()
    }

    /// The part before a step.
    fn stepped(self, step: Token<'_>) -> Result<String, CronError> {
        if self.text == "*" {
            return Ok("*".to_owned());
        }
        if self.text.is_empty() {
            return Err(self
                .error("lacks the part before its step")
                .help(format!("write `*/{}`", step.text)));
        }
        if let Some((from, to)) = self.split('-') {
            return self.range(from, to);
        }
        let value = self.value()?;
        let (_, max) = self.field.bounds();
        let help = format!("write `{value}-{max}/{}`, or `{value}` alone", step.text);
        Err(self.error("has a step but no end").help(help))
    }

    fn step(self) -> Result<u16, CronError> {
        let (name, size) = (self.field.name(), self.field.size());
        match self.number() {
            Some(0) => Err(CronError::new(
                self.span(),
                format!("{name} step `{}` is zero", self.text),
            )
            .help("write a step of at least 1")),
            Some(step) if step > size => {
                let (min, max) = self.field.bounds();
                let message = format!(
                    "{name} step `{}` is longer than the field, {min}-{max}",
                    self.text
                );
                let help = format!(
                    "steps start anew with each field: `*/{step}` would mean `{min}`; list the values instead"
                );
                Err(CronError::new(self.span(), message).help(help))
            }
            Some(step) => Ok(step),
            None => Err(CronError::new(
                self.span(),
                format!("{name} step `{}` is not a number", self.text),
            )
            .help(format!("write a number from 1 to {size}, such as `*/5`"))),
        }
    }

    /// A value or range, with the marks of its field.
    fn marked_or_plain(self) -> Result<String, CronError> {
        let upper = self.text.to_ascii_uppercase();
        match self.field {
            Field::DayOfMonth if upper == "L" || upper == "LW" => return Ok(upper),
            Field::DayOfMonth if upper.ends_with('W') => {
                let day = Token {
                    text: &self.text[..self.text.len() - 1],
                    ..self
                };
                return Ok(format!("{}W", day.value()?));
            }
            Field::DayOfWeek if upper == "L" => {
                return Err(self
                    .error("does not say which weekday")
                    .help("write `5L` or `friL` for the last Friday"));
            }
            Field::DayOfWeek if upper.ends_with('L') => {
                let day = Token {
                    text: &self.text[..self.text.len() - 1],
                    ..self
                };
                return Ok(format!("{}L", day.value()?));
            }
            Field::DayOfWeek => {
                if let Some((days, nth)) = self.split('#') {
                    return Ok(format!("{}#{}", days.plain()?, nth.nth()?));
                }
            }
            Field::Minute | Field::Hour | Field::DayOfMonth | Field::Month => {}
        }
        self.plain()
    }

    fn nth(self) -> Result<u16, CronError> {
        self.number()
            .filter(|n| (1..=5).contains(n))
            .ok_or_else(|| {
                let message = format!("`#{}` names no week of a month: expected 1 to 5", self.text);
                CronError::new(self.span(), message)
                    .help("write the week's number, such as `fri#2` for the second Friday, or `friL` for the last")
            })
    }

    fn plain(self) -> Result<String, CronError> {
        match self.split('-') {
            Some((from, to)) => self.range(from, to),
            None => Ok(self.value()?.to_string()),
        }
    }

    fn range(self, from: Token<'_>, to: Token<'_>) -> Result<String, CronError> {
        if from.text.is_empty() || to.text.is_empty() {
            let (min, max) = self.field.bounds();
            return Err(self
                .error("is a range with an end missing")
                .help(format!("write both ends, such as `{min}-{max}`")));
        }
        let first = from.value()?;
        let mut last = to.value()?;
        if self.field == Field::DayOfWeek && to.text.eq_ignore_ascii_case("sun") && first > 0 {
            last = 7;
        }
        if first > last {
            return Err(self
                .error("is a range that runs backwards")
                .help(self.unrolled(first, last)));
        }
        Ok(format!("{first}-{last}"))
    }

    /// What a backward range probably means.
    fn unrolled(self, first: u16, last: u16) -> String {
        let (min, max) = self.field.bounds();
        let span = |from: u16, to: u16| {
            if from == to {
                from.to_string()
            } else {
                format!("{from}-{to}")
            }
        };
        if self.field != Field::DayOfWeek {
            return format!("write `{},{}`", span(first, max), span(min, last));
        }
        // Sunday ends the first part as 7 or begins the second as 0, not both.
        match (first, last) {
            (7, _) => format!("write `{}`", span(0, last)),
            (_, 0) => format!("write `{}`", span(first, 7)),
            _ => format!("write `{},{}`", span(first, 6), span(0, last)),
        }
    }

    fn value(self) -> Result<u16, CronError> {
        let (min, max) = self.field.bounds();
        if let Some(value) = self.number() {
            if (min..=max).contains(&value) {
                return Ok(value);
            }
            let error = self.error(&format!("is outside {min}-{max}"));
            return Err(error.help(advice::outside(self.field, value)));
        }
        let (names, first) = self.field.names();
        if let Some((value, _)) = (first..)
            .zip(names)
            .find(|(_, name)| name.eq_ignore_ascii_case(self.text))
        {
            return Ok(value);
        }
        Err(self.not_a_value())
    }

    fn not_a_value(self) -> CronError {
        let (min, max) = self.field.bounds();
        let (names, _) = self.field.names();
        if self.text == "?" {
            return self.error("is not cron's").help("write `*` for any day");
        }
        if let Some(help) = advice::spelt_out(self.field, self.text) {
            return self.error("is not a name").help(help);
        }
        let error = match names {
            [first, .., last] => self.error(&format!(
                "is neither in {min}-{max} nor a name from {first} to {last}"
            )),
            _ => self.error(&format!("is not a number in {min}-{max}")),
        };
        error.help(advice::no_value(self.field, self.text))
    }

    /// Digits only: `u16` would also read `+5`. Too many digits are out of any range.
    fn number(self) -> Option<u16> {
        let digits = !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| self.text.parse().unwrap_or(u16::MAX))
    }
}
