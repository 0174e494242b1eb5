//! Reads a condition from left to right.

use super::{Aggregate, Condition, ConditionError, Expected, Relation};
use crate::span;
use crate::trial::metric::{Metric, Unit};

/// Figures that may be asked for by their last word.
const SHORT: [(&str, Metric); 4] = [
    ("p50", Metric::DoneP50),
    ("p95", Metric::DoneP95),
    ("p99", Metric::DoneP99),
    ("max", Metric::DoneMax),
];

/// A longer word is no slip of the finger.
const MAX_LETTERS: usize = 64;

/// What is left to read of a text.
#[derive(Debug, Clone, Copy)]
struct Rest<'a> {
    whole: &'a str,
    at: usize,
}

pub(super) fn read(text: &str) -> Result<Condition, ConditionError> {
    let mut rest = Rest { whole: text, at: 0 };
    let aggregate = rest.aggregate().unwrap_or(Aggregate::Median);
    let metric = rest.metric()?;
    let relation = rest.relation()?;
    let limit = rest.limit(metric.unit())?;
    Ok(Condition {
        aggregate,
        metric,
        relation,
        limit,
    })
}

impl<'a> Rest<'a> {
    fn skip_blanks(&mut self) {
        self.at = self.whole.len() - self.text().trim_start().len();
    }

    fn text(self) -> &'a str {
        &self.whole[self.at..]
    }

    /// The letters, digits and underscores that come next.
    fn word(self) -> &'a str {
        let is_other = |c: char| !(c.is_alphanumeric() || c == '_');
        let end = self.text().find(is_other);
        &self.text()[..end.unwrap_or(self.text().len())]
    }

    fn aggregate(&mut self) -> Option<Aggregate> {
        self.skip_blanks();
        let word = self.word();
        let found = Aggregate::ALL.into_iter().find(|it| it.as_str() == word)?;
        self.at += word.len();
        Some(found)
    }

    fn metric(&mut self) -> Result<Metric, ConditionError> {
        self.skip_blanks();
        let word = self.word();
        let short = SHORT.iter().find(|(name, _)| *name == word);
        let metric = short.map(|(_, metric)| *metric);
        let Some(metric) = metric.or_else(|| Metric::from_word(word)) else {
            let nearest = nearest(word);
            let found = if word.is_empty() { self.text() } else { word };
            return Err(self.error(found, Expected::Figure { nearest }));
        };
        self.at += word.len();
        Ok(metric)
    }

    fn relation(&mut self) -> Result<Relation, ConditionError> {
        self.skip_blanks();
        let starts = |it: &Relation| self.text().starts_with(it.as_str());
        let Some(relation) = Relation::ALL.into_iter().find(starts) else {
            return Err(self.error(self.text(), Expected::Relation));
        };
        self.at += relation.as_str().len();
        Ok(relation)
    }

    fn limit(&mut self, unit: Unit) -> Result<f64, ConditionError> {
        self.skip_blanks();
        let text = self.text().trim_end();
        let limit = match unit {
            Unit::Span => span::parse(text).map(|span| span.as_millis() as f64),
            Unit::Count => text.parse().ok().filter(|_| is_number(text, 1)),
            Unit::Ratio | Unit::Dollars => text.parse().ok().filter(|_| is_number(text, 2)),
        };
        limit
            .filter(|limit| limit.is_finite())
            .ok_or_else(|| self.error(text, Expected::Value(unit)))
    }

    fn error(self, found: &str, expected: Expected) -> ConditionError {
        ConditionError {
            column: self.whole[..self.at].chars().count() + 1,
            found: found.trim_end().to_owned(),
            expected,
        }
    }
}

/// Whether a text is digits, in so many parts at most with a point between them: no sign, no exponent.
fn is_number(text: &str, max_parts: usize) -> bool {
    let mut parts = text.split('.');
    text.split('.').count() <= max_parts
        && parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The figure that was meant, by the rule of every other name: one slip in three letters at most.
fn nearest(word: &str) -> Option<&'static str> {
    if word.len() > MAX_LETTERS {
        return None;
    }
    let lower = word.to_lowercase();
    let short = SHORT.iter().map(|(name, _)| *name);
    let names = short.chain(Metric::ALL.iter().map(|metric| metric.as_str()));
    let (distance, name) = names
        .map(|name| (strsim::damerau_levenshtein(name, &lower), name))
        .min_by_key(|(distance, _)| *distance)?;
    let longest = word.chars().count().max(name.len());
    (distance <= longest / 3).then_some(name)
}
