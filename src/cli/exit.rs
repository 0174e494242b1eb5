//! Exit codes; listed in the README and pinned by a test.

use std::process::ExitCode;

use crate::outcome::Outcome;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Done,
    /// 1: no: findings, or the work failed.
    No,
    /// 2: wrong usage, or a file that cannot be read.
    Usage,
    /// 4: the answer is incomplete.
    Incomplete,
    /// 75: yielded; the work is deferred.
    Yielded,
    /// 130: cut short by an interrupt; what was under way is deferred.
    Interrupted,
    /// 143: cut short by a termination signal; what was under way is deferred.
    Terminated,
}

impl Exit {
    /// Every code, in order.
    pub const ALL: [Self; 7] = [
        Self::Done,
        Self::No,
        Self::Usage,
        Self::Incomplete,
        Self::Yielded,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The number that the shell sees.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Incomplete => 4,
            Self::Yielded => 75,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// The code of `run` for an outcome; `deferred` work of an exhausted call counts as yielded.
    #[must_use]
    pub const fn of(outcome: &Outcome, deferral: Deferral) -> Self {
        match (outcome, deferral) {
            (Outcome::Succeeded | Outcome::Skipped(_), _) => Self::Done,
            (Outcome::Incomplete(_), _) => Self::Incomplete,
            (Outcome::Yielded(_), _) | (Outcome::Exhausted, Deferral::Written) => Self::Yielded,
            (Outcome::Exhausted, Deferral::None) | (Outcome::Failed(_), _) => Self::No,
        }
    }
}

/// Whether a run left a deferral.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deferral {
    /// Its work goes on in a later slot.
    Written,
    /// It does not.
    None,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{FailReason, IncompleteReason, SkipReason, YieldReason};

    #[test]
    fn codes_are_the_documented_ones() {
        let codes: Vec<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 4, 75, 130, 143]);
    }

    #[test]
    fn each_outcome_has_its_code() {
        let none = Deferral::None;
        assert_eq!(Exit::of(&Outcome::Succeeded, none).code(), 0);
        assert_eq!(
            Exit::of(&Outcome::Skipped(SkipReason::EmptyInput), none).code(),
            0
        );
        assert_eq!(
            Exit::of(&Outcome::Incomplete(IncompleteReason::Refused), none).code(),
            4
        );
        assert_eq!(
            Exit::of(&Outcome::Yielded(YieldReason::Budget), none).code(),
            75
        );
        assert_eq!(
            Exit::of(&Outcome::Failed(FailReason::Fatal), none).code(),
            1
        );
        assert_eq!(Exit::of(&Outcome::Exhausted, none).code(), 1);
        assert_eq!(Exit::of(&Outcome::Exhausted, Deferral::Written).code(), 75);
    }
}
