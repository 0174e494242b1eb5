//! What is to be proved, and how bad it is when it does not hold.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Rule, Severity};
use crate::schedule::PeakWindows;

/// The rules to prove.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The least gap between two firings of one group; exactly this gap passes.
    pub min_gap: Duration,
    /// The gap below which advice is given.
    pub comfortable_gap: Duration,
    /// The peak windows.
    pub peaks: PeakWindows,
    /// What a breaker needs to open; `None` skips that rule.
    pub breaker: Option<BreakerNeed>,
    /// How bad each rule is.
    pub levels: Levels,
}

impl Rules {
    /// Rules with their built-in severities and without a breaker.
    #[must_use]
    pub fn new(min_gap: Duration, comfortable_gap: Duration, peaks: PeakWindows) -> Self {
        Self {
            min_gap,
            comfortable_gap,
            peaks,
            breaker: None,
            levels: Levels::default(),
        }
    }
}

/// What a group's breaker needs to open, and what bounds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerNeed {
    /// How many samples it wants.
    pub min_samples: u32,
    /// Within which span.
    pub window: Duration,
    /// The budget: at most so many sends …
    pub calls: u32,
    /// … in any span of this length.
    pub per: Duration,
    /// How long yielded work may wait; so many slots may come together.
    pub expires_after: Duration,
}

/// How bad a rule is, as the settings say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The daemon refuses to start.
    Error,
    /// Advice.
    Warn,
    /// Not looked for.
    Off,
}

/// Severities that the settings change; all others are built in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels(BTreeMap<Rule, Level>);

impl Levels {
    /// Sets a rule; a rule that is not settable keeps its own severity.
    pub fn set(&mut self, rule: Rule, level: Level) {
        if rule.is_settable() {
            self.0.insert(rule, level);
        }
    }

    /// How bad a finding of a rule is; `None` if it is not looked for.
    #[must_use]
    pub fn severity(&self, rule: Rule) -> Option<Severity> {
        match self.0.get(&rule) {
            None => Some(rule.severity()),
            Some(Level::Error) => Some(Severity::Error),
            Some(Level::Warn) => Some(Severity::Warning),
            Some(Level::Off) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_change_what_is_settable_and_nothing_else() {
        let mut levels = Levels::default();
        assert_eq!(levels.severity(Rule::KeyGap), Some(Severity::Error));
        levels.set(Rule::KeyGap, Level::Warn);
        levels.set(Rule::Overrun, Level::Error);
        levels.set(Rule::ClockChange, Level::Off);
        levels.set(Rule::BadCron, Level::Off);
        assert_eq!(levels.severity(Rule::KeyGap), Some(Severity::Warning));
        assert_eq!(levels.severity(Rule::Overrun), Some(Severity::Error));
        assert_eq!(levels.severity(Rule::ClockChange), None);
        assert_eq!(levels.severity(Rule::BadCron), Some(Severity::Error));
    }
}
