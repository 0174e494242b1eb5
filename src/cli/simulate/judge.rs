//! Conditions under which the command says no.

use crate::trial::{Condition, Held, Summary};

/// A condition and what came of it.
#[derive(Debug)]
pub struct Judged {
    /// What was asked.
    pub condition: Condition,
    /// What was found.
    pub held: Held,
}

impl Judged {
    /// Judges a condition; no summary means that nothing was lived through.
    #[must_use]
    pub fn of(condition: Condition, summary: Option<&Summary>) -> Self {
        let held = summary.map_or(Held::Nothing, |summary| condition.holds(summary));
        Self { condition, held }
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
