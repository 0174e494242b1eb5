//! A report: the figures of all work in a span, and of each group, job, model, hour and day.

use super::dots::Dot;
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
    pub sections: [Section; 5],
    /// The slowest attempts, and why.
    pub tail: Tail,
    /// Attempts one by one, in the order in which they were sent: all of them, or if they are more than
    /// [`MAX_DOTS`](super::MAX_DOTS) the slowest and an even pick of the rest.
    pub dots: Vec<Dot>,
    /// How many attempts the dots stand for.
    pub dots_of: usize,
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
    /// Names and figures, by name; hours of the day as `00` to `23`, days as `2026-12-01`.
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
