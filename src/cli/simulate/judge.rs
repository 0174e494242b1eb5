//! Conditions under which the command says no.

use crate::trial::{Condition, Held, Summary};

/// A condition and what came of it.
#[derive(Debug)]
pub struct Judged {
    /// What was asked.
    pub condition: Condition,
    /// What was found.
    pub held: Held,
    /// In how many of the seeds there was anything to measure.
    pub measured: usize,
    /// How many seeds there were.
    pub seeds: usize,
}

impl Judged {
    /// Judges a condition; no summary means that nothing was lived through.
    #[must_use]
    pub fn of(condition: Condition, summary: Option<&Summary>) -> Self {
        let held = summary.map_or(Held::Nothing, |summary| condition.holds(summary));
        let spread = summary.map(|summary| summary.spread(condition.metric()));
        Self {
            condition,
            held,
            measured: spread.map_or(0, |spread| spread.measured),
            seeds: spread.map_or(0, |spread| spread.seeds),
        }
    }

    /// Whether the command says no. A check that measured nothing has shown nothing, and must not pass for a good one.
    #[must_use]
    pub const fn fails(&self) -> bool {
        match self.held {
            Held::Holds(_) | Held::Nothing => true,
            Held::DoesNot(_) => false,
        }
    }
}
