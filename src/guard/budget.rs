//! The budget of one group: a log of sends, not a bucket.
//!
//! A bucket that refills, or a counter that starts anew each minute, lets
//! nearly twice its number through around an edge. A log has no edge.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::BudgetPolicy;
use super::span::{elapsed, later};

/// A sliding log of sends: never more than `calls` in any half-open span `[t, t + per)`.
///
/// A send exactly `per` ago no longer counts. When the wall clock steps back,
/// sends that now lie in the future are moved to now: they count for a full
/// `per` again, so that the step admits no extra send, and no longer than
/// that, so that it cannot jam the group either.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Budget {
    /// The instants of the sends that still count, oldest first.
    pub sent: VecDeque<DateTime<Utc>>,
}

impl Budget {
    /// Drops the sends that no longer count, and moves those in the future to now.
    ///
    /// A later policy with a longer `per` does not bring dropped sends back.
    pub fn settle(&mut self, policy: &BudgetPolicy, now: DateTime<Utc>) {
        clamp(&mut self.sent, now);
        while self
            .sent
            .front()
            .is_some_and(|at| elapsed(*at, now) >= policy.per())
        {
            self.sent.pop_front();
        }
    }

    /// Whether one more send fits.
    #[must_use]
    pub fn has_room(&self, policy: &BudgetPolicy, now: DateTime<Utc>) -> bool {
        self.decisive(policy)
            .is_none_or(|at| elapsed(at.min(now), now) >= policy.per())
    }

    /// The earliest instant at which one more send fits; now, if it does.
    #[must_use]
    pub fn room_at(&self, policy: &BudgetPolicy, now: DateTime<Utc>) -> DateTime<Utc> {
        self.decisive(policy)
            .map_or(now, |at| later(at.min(now), policy.per()).max(now))
    }

    /// Counts one send.
    pub fn spend(&mut self, now: DateTime<Utc>) {
        clamp(&mut self.sent, now);
        self.sent.push_back(now);
    }

    /// The send that must stop counting before one more fits: the `calls`-th from the end.
    fn decisive(&self, policy: &BudgetPolicy) -> Option<DateTime<Utc>> {
        let calls = usize::try_from(policy.calls()).unwrap_or(usize::MAX);
        self.sent
            .len()
            .checked_sub(calls)
            .and_then(|place| self.sent.get(place))
            .copied()
    }
}

/// Moves instants from the future of a clock that stepped back to now; the order stays.
fn clamp(sent: &mut VecDeque<DateTime<Utc>>, now: DateTime<Utc>) {
    for at in sent.iter_mut().rev().take_while(|at| **at > now) {
        *at = now;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NANO: Duration = Duration::from_nanos(1);

    fn at(seconds: u64) -> DateTime<Utc> {
        later(DateTime::UNIX_EPOCH, Duration::from_secs(seconds))
    }

    fn three_a_minute() -> BudgetPolicy {
        BudgetPolicy::new(3, Duration::from_mins(1)).unwrap()
    }

    fn spent(seconds: &[u64]) -> Budget {
        Budget {
            sent: seconds.iter().copied().map(at).collect(),
        }
    }

    #[test]
    fn an_empty_log_has_room_now() {
        let budget = Budget::default();
        assert!(budget.has_room(&three_a_minute(), at(5)));
        assert_eq!(budget.room_at(&three_a_minute(), at(5)), at(5));
    }

    #[test]
    fn the_last_call_fits_and_one_more_does_not() {
        assert!(spent(&[0, 1]).has_room(&three_a_minute(), at(2)));
        assert!(!spent(&[0, 1, 2]).has_room(&three_a_minute(), at(3)));
    }

    #[test]
    fn a_send_stops_counting_exactly_per_later() {
        let budget = spent(&[10, 20, 30]);
        assert!(!budget.has_room(&three_a_minute(), at(70) - NANO));
        assert!(budget.has_room(&three_a_minute(), at(70)));
        assert_eq!(budget.room_at(&three_a_minute(), at(31)), at(70));
        assert_eq!(budget.room_at(&three_a_minute(), at(75)), at(75));
    }

    #[test]
    fn settling_drops_what_no_longer_counts_and_nothing_else() {
        let mut budget = spent(&[0, 10, 20]);
        budget.settle(&three_a_minute(), at(70));
        assert_eq!(budget, spent(&[20]));
    }

    #[test]
    fn a_tighter_policy_looks_at_the_newest_sends() {
        let one = BudgetPolicy::new(1, Duration::from_mins(1)).unwrap();
        let budget = spent(&[0, 10, 20]);
        assert_eq!(budget.room_at(&one, at(21)), at(80));
    }

    #[test]
    fn a_step_back_neither_admits_more_nor_jams() {
        let mut budget = spent(&[1000, 1001, 1002]);
        budget.settle(&three_a_minute(), at(100));
        assert!(!budget.has_room(&three_a_minute(), at(160) - NANO));
        assert_eq!(budget.room_at(&three_a_minute(), at(100)), at(160));
        assert!(budget.has_room(&three_a_minute(), at(160)));
    }

    #[test]
    fn spending_after_a_step_back_keeps_the_order() {
        let mut budget = spent(&[50, 1000]);
        budget.spend(at(100));
        assert_eq!(budget, spent(&[50, 100, 100]));
    }

    #[test]
    fn asking_changes_nothing() {
        let budget = spent(&[1000, 1001, 1002]);
        let before = budget.clone();
        assert_eq!(budget.room_at(&three_a_minute(), at(100)), at(160));
        assert_eq!(budget, before);
    }
}
