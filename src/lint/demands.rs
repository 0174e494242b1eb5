//! What a place must keep that is called legal, and what makes it a good one.

use super::board::Class;
use super::{Rule, Rules};

/// What the rules demand of firings that are moved; a rule that is off demands nothing, and one that only warns as
/// much as one that stops the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Demands {
    /// Two firings of a group are at least so many seconds apart; 0 if they may be anywhere.
    pub(super) least: i64,
    /// So many seconds are comfortable; never less than the least gap.
    pub(super) comfortable: i64,
    /// Whether firings keep out of the peak windows.
    pub(super) off_peak: bool,
    /// Whether runs had better end before the next window.
    pub(super) in_time: bool,
}

impl Demands {
    /// What these rules demand of every job.
    pub(super) fn of(rules: &Rules) -> Self {
        let is_on = |rule| rules.levels.severity(rule).is_some();
        let gap = |rule, gap| if is_on(rule) { super::seconds(gap) } else { 0 };
        let least = gap(Rule::KeyGap, rules.min_gap);
        Self {
            least,
            comfortable: gap(Rule::ComfortableGap, rules.comfortable_gap).max(least),
            off_peak: is_on(Rule::PeakWindow),
            in_time: is_on(Rule::Overrun),
        }
    }

    /// Whether jobs of a class keep out of the windows: they need not if they accept to lie in them.
    pub(super) fn off_peak_of(self, class: &Class) -> bool {
        self.off_peak && !class.accepted.contains(&Rule::PeakWindow)
    }

    /// Whether jobs of a class keep the least gap: they need not if they accept less.
    pub(super) fn apart_of(self, class: &Class) -> bool {
        self.least > 0 && !class.accepted.contains(&Rule::KeyGap)
    }

    /// The seconds that a run of a class had better have before the next window; 0 if that is no matter.
    pub(super) fn room_of(self, class: &Class) -> i64 {
        if self.in_time && !class.accepted.contains(&Rule::Overrun) {
            class.worst_case
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::Level;
    use crate::lint::fixture::rules;

    #[test]
    fn rule_that_is_off_demands_nothing_and_one_that_warns_does() {
        let of = |rule, level| {
            let mut rules = rules("UTC", vec![]);
            rules.levels.set(rule, level);
            Demands::of(&rules)
        };
        let all = of(Rule::KeyGap, Level::Warn);
        assert_eq!((all.least, all.comfortable), (900, 2_700));
        assert!(all.off_peak && all.in_time);
        assert_eq!(of(Rule::KeyGap, Level::Off), Demands { least: 0, ..all });
        let cramped = Demands {
            comfortable: 900,
            ..all
        };
        assert_eq!(of(Rule::ComfortableGap, Level::Off), cramped);
        assert!(!of(Rule::PeakWindow, Level::Off).off_peak);
        assert!(of(Rule::PeakWindow, Level::Warn).off_peak);
        assert!(!of(Rule::Overrun, Level::Off).in_time);
    }
}
