//! A group that must not send until an instant or a person.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::span;

/// A cap that was met so far ahead was met by a clock that was wrong, and the instant at which it lifts was reckoned
/// from it.
const WRONG_CLOCK: TimeDelta = TimeDelta::hours(3);

/// A wait beyond this outlasts a night's slots, so that its note offers a way out.
const LONG_WAIT: Duration = Duration::from_hours(24);

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
            note: hint_note(until, now),
        }
    }

    /// Counts a hint's hold as placed now if the wall clock stepped back behind it.
    ///
    /// A hint is a span, so that it moves with the clock; a cap lifts at an
    /// instant of the calendar and stays. Only a cap from a clock that was far
    /// ahead is over: its month is not ours, and the server says so again.
    pub fn settle(&mut self, now: DateTime<Utc>) {
        if self.cause == HoldCause::SpendCap && self.since - now > WRONG_CLOCK {
            self.until = self.until.map(|until| until.min(now));
        }
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

/// What the server asked for, and what a person can do about it.
///
/// A wait of days is legal and kept, but it may be the slip of a gateway: there is a way out.
fn hint_note(until: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let seconds = u64::try_from((until - now).num_seconds()).unwrap_or(0);
    let wait = Duration::from_secs(seconds);
    let asked = format!("the server asked for a wait of {}", span::show(wait));
    if wait > LONG_WAIT {
        format!("{asked}; wait, or resume if that is a mistake")
    } else {
        format!("{asked}; nothing to do")
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
    fn a_cap_met_by_a_clock_that_was_a_year_ahead_is_over_and_one_that_waits_for_a_person_is_not() {
        let year = 365 * 86_400;
        let mut cap = Hold {
            cause: HoldCause::SpendCap,
            since: at(year),
            ..hold(Some(year + 60))
        };
        let mut stays = Hold {
            until: None,
            ..cap.clone()
        };
        cap.settle(at(100));
        stays.settle(at(100));
        assert!(!cap.is_active(at(100)));
        assert!(stays.is_active(at(100)));
    }

    #[test]
    fn the_note_of_a_hint_says_how_long_and_offers_a_way_out_of_days() {
        let note = |seconds| Hold::for_hint(at(seconds), at(0)).note;
        assert_eq!(
            note(90),
            "the server asked for a wait of 1m30s; nothing to do"
        );
        assert_eq!(
            note(86_400),
            "the server asked for a wait of 24h; nothing to do"
        );
        assert_eq!(
            note(3 * 86_400),
            "the server asked for a wait of 3d; wait, or resume if that is a mistake"
        );
        assert!(note(-5).contains("0s"));
    }

    #[test]
    fn every_cause_is_found_by_its_word() {
        for cause in HoldCause::ALL {
            assert_eq!(HoldCause::from_word(cause.as_str()), Some(cause));
        }
        assert_eq!(HoldCause::from_word("weather"), None);
    }
}
