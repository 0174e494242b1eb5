//! The pace of a run of many calls: it keeps within its group's budget by waiting, so that it does not refuse itself.
//!
//! The guard has the last word. What others send counts there and not here: a run that they leave no room yields.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::guard::GuardPolicy;
use crate::outcome::YieldReason;

/// How soon a call looks again while others of its run hold the room.
pub(super) const SOON: Duration = Duration::from_secs(1);

/// The budget counts a send that is exactly as old as its window.
const PAST: TimeDelta = TimeDelta::milliseconds(1);

/// A gate's refusal: which, and not before when.
pub(super) type Gate = (YieldReason, Option<DateTime<Utc>>);

/// The sends of a run, and whether it may begin another call.
#[derive(Debug)]
pub(super) struct Pace {
    calls: usize,
    per: TimeDelta,
    /// The most sends of one call.
    need: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sent: VecDeque<DateTime<Utc>>,
    under_way: usize,
    gate: Option<Gate>,
}

/// Whether a run may begin another call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Turn {
    /// It may; the call counts as under way.
    Go,
    /// Not yet.
    Wait(Duration),
    /// Not in this slot: a gate refused another call of the run.
    Over(Gate),
}

impl Pace {
    pub fn new(policy: &GuardPolicy, max_attempts: u32) -> Self {
        let calls = policy.budget.calls() as usize;
        Self {
            calls,
            per: TimeDelta::from_std(policy.budget.per()).unwrap_or(TimeDelta::MAX),
            need: (max_attempts as usize).min(calls),
            state: Mutex::default(),
        }
    }

    /// Whether a call may begin.
    pub fn begin(&self, now: DateTime<Utc>) -> Turn {
        let mut state = self.lock();
        if let Some(gate) = state.gate {
            return Turn::Over(gate);
        }
        // A clock that was set back must not make the run wait for it.
        for at in &mut state.sent {
            *at = (*at).min(now);
        }
        while state.sent.front().is_some_and(|at| now - *at > self.per) {
            state.sent.pop_front();
        }
        let wanted = state.under_way.saturating_add(1).saturating_mul(self.need);
        if state.sent.len().saturating_add(wanted) <= self.calls || is_alone(&state) {
            state.under_way += 1;
            return Turn::Go;
        }
        let wait = match state.sent.front() {
            Some(oldest) if state.under_way == 0 => *oldest + self.per + PAST - now,
            Some(_) | None => return Turn::Wait(SOON),
        };
        Turn::Wait(wait.to_std().unwrap_or(SOON))
    }

    /// A call is over.
    pub fn end(&self) {
        let mut state = self.lock();
        state.under_way = state.under_way.saturating_sub(1);
    }

    /// An attempt was admitted.
    pub fn note(&self, at: DateTime<Utc>) {
        self.lock().sent.push_back(at);
    }

    /// A gate refused: the run begins no further call.
    pub fn close(&self, gate: Gate) {
        self.lock().gate.get_or_insert(gate);
    }

    /// The gate that ended the run's calls.
    pub fn gate(&self) -> Option<Gate> {
        self.lock().gate
    }

    /// No step leaves the state half changed, so a panic elsewhere poisons nothing.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call begins whatever the numbers say if nothing stands against it.
fn is_alone(state: &State) -> bool {
    state.under_way == 0 && state.sent.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(second)
    }

    fn pace(calls: usize, need: usize) -> Pace {
        Pace {
            calls,
            per: TimeDelta::seconds(60),
            need,
            state: Mutex::default(),
        }
    }

    #[test]
    fn a_call_begins_while_its_retries_have_room() {
        let pace = pace(4, 3);
        assert_eq!(pace.begin(at(0)), Turn::Go);
        pace.note(at(0));
        pace.end();
        assert_eq!(pace.begin(at(1)), Turn::Go);
        pace.note(at(1));
        pace.end();
        let wait = Duration::from_millis(58_001);
        assert_eq!(pace.begin(at(2)), Turn::Wait(wait));
        assert_eq!(pace.begin(at(60)), Turn::Wait(Duration::from_millis(1)));
        assert_eq!(pace.begin(at(61)), Turn::Go);
    }

    #[test]
    fn a_clock_that_was_set_back_is_not_waited_for() {
        let pace = pace(3, 3);
        assert_eq!(pace.begin(at(100_000)), Turn::Go);
        pace.note(at(100_000));
        pace.end();
        assert_eq!(pace.begin(at(0)), Turn::Wait(Duration::from_millis(60_001)));
    }

    #[test]
    fn calls_side_by_side_share_the_room() {
        let pace = pace(7, 3);
        assert_eq!(pace.begin(at(0)), Turn::Go);
        assert_eq!(pace.begin(at(0)), Turn::Go);
        assert_eq!(pace.begin(at(0)), Turn::Wait(SOON));
        pace.end();
        assert_eq!(pace.begin(at(0)), Turn::Go);
    }

    #[test]
    fn a_budget_below_the_attempts_of_a_call_still_lets_one_begin() {
        let pace = pace(1, 1);
        assert_eq!(pace.begin(at(0)), Turn::Go);
    }

    #[test]
    fn nothing_begins_after_a_refusal() {
        let pace = pace(30, 3);
        pace.close((YieldReason::Budget, Some(at(9))));
        pace.close((YieldReason::Breaker, None));
        let over = Turn::Over((YieldReason::Budget, Some(at(9))));
        assert_eq!(pace.begin(at(0)), over);
    }
}
