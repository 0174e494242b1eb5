//! A report: the figures of all work in a span, and of each group, job, model and hour.

use super::facts::Scope;
use super::figures::{By, Figures};
use super::tail::Tail;

/// A report.
#[derive(Debug, Clone, PartialEq)]
pub struct Breakdown {
    /// What it is about.
    pub scope: Scope,
    /// The figures of everything.
    pub total: Figures,
    /// The same told apart, in the order of [`By::ALL`].
    pub sections: [Section; 4],
    /// The slowest attempts, and why.
    pub tail: Tail,
}

impl Breakdown {
    /// Whether there was nothing to report on: no slot, no attempt, no answer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == Figures::default()
    }
}

/// The figures of work told apart in one way.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The way.
    pub by: By,
    /// Names and figures, by name; hours of the day as `00` to `23`.
    pub rows: Vec<(String, Figures)>,
}

impl Section {
    /// The figures of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Figures> {
        let at = self
            .rows
            .binary_search_by(|(row, _)| row.as_str().cmp(name))
            .ok()?;
        Some(&self.rows[at].1)
    }
}
