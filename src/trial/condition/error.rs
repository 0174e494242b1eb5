//! What is wrong with a condition, and where.

use std::fmt;

use crate::trial::metric::{Metric, Unit};

/// The most letters of a mistake that a message repeats.
const MAX_SHOWN: usize = 40;

/// A condition that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: found {}, expected {expected}", quoted(found))]
pub struct ConditionError {
    /// Where the mistake begins, in characters from 1.
    pub column: usize,
    /// What stands there; empty at the end.
    pub found: String,
    /// What should stand there.
    pub expected: Expected,
}

/// What a condition needs at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Expected {
    /// The word of a figure.
    Figure {
        /// The word that is near enough to have been meant.
        nearest: Option<&'static str>,
    },
    /// A sign.
    Relation,
    /// A value in this unit.
    Value(Unit),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Figure {
                nearest: Some(word),
            } => write!(f, "a figure; did you mean `{word}`?"),
            Self::Figure { nearest: None } => {
                f.write_str("a figure: p50, p95, p99, max")?;
                Metric::ALL
                    .iter()
                    .try_for_each(|metric| write!(f, ", {metric}"))
            }
            Self::Relation => f.write_str("one of `>`, `>=`, `<`, `<=`, `=`, `!=`"),
            Self::Value(Unit::Span) => {
                f.write_str("a duration with its units, such as `90s` or `1m30s`")
            }
            Self::Value(Unit::Count) => f.write_str("a whole number"),
            Self::Value(Unit::Ratio) => f.write_str("a number, such as `1.5`"),
            Self::Value(Unit::Dollars) => f.write_str("dollars as a number, such as `1.50`"),
        }
    }
}

/// What was found, on one line.
fn quoted(found: &str) -> String {
    if found.is_empty() {
        return "the end".to_owned();
    }
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let shown: String = found.chars().take(MAX_SHOWN).map(plain).collect();
    let mark = if found.chars().count() > MAX_SHOWN {
        "…"
    } else {
        ""
    };
    format!("`{shown}{mark}`")
}
