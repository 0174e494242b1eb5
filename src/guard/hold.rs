//! A group that must not send until an instant or a person.

use chrono::{DateTime, Utc};

/// Why a group is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HoldCause {
    /// The server asked for a wait longer than a run may take.
    Hint,
    /// 401 twice.
    Authentication,
    /// 402, or credit used up.
    Billing,
    /// A monthly or contract spend cap.
    SpendCap,
    /// A person paused the group.
    Person,
}

/// A hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// Why.
    pub cause: HoldCause,
    /// When it lifts by itself; `None` waits for `offpeak resume`.
    pub until: Option<DateTime<Utc>>,
    /// Since when.
    pub since: DateTime<Utc>,
    /// One sentence for a person.
    pub note: String,
}

impl HoldCause {
    /// Every cause, for tables and parsers.
    pub const ALL: [Self; 5] = [
        Self::Hint,
        Self::Authentication,
        Self::Billing,
        Self::SpendCap,
        Self::Person,
    ];

    /// The word used in the store, in JSON and in log lines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Authentication => "authentication",
            Self::Billing => "billing",
            Self::SpendCap => "spend_cap",
            Self::Person => "person",
        }
    }

    /// The cause with this word, if there is one.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == word)
    }
}

impl Hold {
    /// A hold because the server asked for a long wait.
    #[must_use]
    pub fn for_hint(until: DateTime<Utc>, now: DateTime<Utc>) -> Self {
        Self {
            cause: HoldCause::Hint,
            until: Some(until),
            since: now,
            note: "the server asked for a wait longer than a run may take; nothing to do"
                .to_owned(),
        }
    }

    /// Counts a hint's hold as placed now if the wall clock stepped back behind it.
    ///
    /// A hint is a span, so that it moves with the clock; a cap lifts at an
    /// instant of the calendar and stays.
    pub fn settle(&mut self, now: DateTime<Utc>) {
        if self.cause == HoldCause::Hint && self.since > now {
            self.until = self.until.map(|until| until - (self.since - now));
            self.since = now;
        }
    }

    /// Whether it still holds; at `until` itself it no longer does.
    #[must_use]
    pub fn is_active(&self, now: DateTime<Utc>) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// Whether it lasts longer than another: to a later instant, or until a person.
    #[must_use]
    pub fn outlasts(&self, other: &Self) -> bool {
        match (self.until, other.until) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(mine), Some(theirs)) => mine > theirs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    fn hold(until: Option<i64>) -> Hold {
        Hold {
            until: until.map(at),
            ..Hold::for_hint(at(0), at(0))
        }
    }

    #[test]
    fn a_hold_ends_at_its_instant() {
        assert!(hold(Some(10)).is_active(at(9)));
        assert!(!hold(Some(10)).is_active(at(10)));
        assert!(hold(None).is_active(at(i64::from(i32::MAX))));
    }

    #[test]
    fn a_hold_until_a_person_outlasts_every_instant() {
        assert!(hold(None).outlasts(&hold(Some(10))));
        assert!(!hold(Some(10)).outlasts(&hold(None)));
        assert!(!hold(None).outlasts(&hold(None)));
        assert!(hold(Some(11)).outlasts(&hold(Some(10))));
        assert!(!hold(Some(10)).outlasts(&hold(Some(10))));
    }

    #[test]
    fn a_step_back_moves_a_hint_and_no_cap() {
        let placed = Hold {
            since: at(1000),
            ..hold(Some(1060))
        };
        let mut hint = placed.clone();
        hint.settle(at(100));
        assert_eq!((hint.since, hint.until), (at(100), Some(at(160))));
        let mut cap = Hold {
            cause: HoldCause::SpendCap,
            ..placed.clone()
        };
        cap.settle(at(100));
        assert_eq!((cap.since, cap.until), (at(1000), Some(at(1060))));
        let mut later = placed.clone();
        later.settle(at(1030));
        assert_eq!(later, placed);
    }

    #[test]
    fn every_cause_is_found_by_its_word() {
        for cause in HoldCause::ALL {
            assert_eq!(HoldCause::from_word(cause.as_str()), Some(cause));
        }
        assert_eq!(HoldCause::from_word("weather"), None);
    }
}
