//! One call as a machine without I/O: the only place where the three layers meet.
//!
//! Its steps are the retry layer; `Ask` asks budget and breaker, `Record`
//! tells the breaker. A driver does what the [`Action`] says and reports back
//! with an [`Event`]: the daemon with timers and sockets, the simulator with
//! an event queue, a property test with anything.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::guard::span::later;
use crate::guard::{Hold, Refusal, RetryPolicy, Sample, Step, Then, Verdict, next_step};
use crate::outcome::{Class, FailReason, YieldReason};
use crate::schedule::PeakWindows;

/// What a call goes by.
#[derive(Debug, Clone)]
pub struct CallSettings {
    /// Attempts and waits.
    pub retry: RetryPolicy,
    /// No attempt starts in these; `None` for a run that a person asked for.
    pub peaks: Option<PeakWindows>,
}

/// One call, from its first attempt to its end.
///
/// It never asks for more than `max_attempts` sends, whatever it is told. An
/// event that does not fit means that the driver has lost its place: the call
/// then stops as at the stop signal, and gives the permit back if it has one.
#[derive(Debug)]
pub struct Call {
    settings: CallSettings,
    state: State,
}

/// What the driver reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The call begins.
    Begun,
    /// The guard admitted the attempt; the driver keeps the permit.
    Admitted,
    /// The guard refused.
    Refused(Refusal),
    /// The attempt ended by itself. `draw` sets the jitter of a wait that may follow.
    Ended {
        /// What its end means.
        verdict: Verdict,
        /// 0 ≤ d < 1.
        draw: f64,
    },
    /// The driver cancelled the attempt: the grace after the stop signal is over.
    Cancelled,
    /// What `Record` asked for is durable.
    Recorded,
    /// The wait is over.
    Waited,
    /// The stop signal came while waiting or before asking.
    Stopped,
}

/// What the driver does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Ask the guard for attempt `n`, which comes after `wait`.
    Ask {
        /// Counted from 1.
        n: u32,
        /// The wait before it, zero for the first.
        wait: Duration,
    },
    /// Send the attempt.
    Send {
        /// Counted from 1.
        n: u32,
    },
    /// Record how the attempt ended.
    Record {
        /// To the history; `None` if we cancelled it.
        class: Option<Class>,
        /// To the breaker; `None` gives the permit back.
        sample: Option<Sample>,
        /// The group must be held.
        hold: Option<Hold>,
    },
    /// Pass this span, unless the stop signal comes.
    Wait(Duration),
    /// The call is over.
    Done(CallEnd),
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum CallEnd {
    /// The last attempt brought an answer; the driver has it.
    Answered,
    /// A gate refused, or a wait would be too long.
    Yielded {
        /// Which gate.
        reason: YieldReason,
        /// Not before this instant, if known.
        not_before: Option<DateTime<Utc>>,
    },
    /// Retryable to the last attempt.
    Exhausted,
    /// Not retryable.
    Failed(FailReason),
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    /// Not begun.
    Fresh,
    /// The guard is asked for attempt `n`.
    Asking { n: u32 },
    /// Attempt `n` is under way.
    Sending { n: u32 },
    /// The end of attempt `n` is being recorded; this follows.
    Recording { n: u32, next: Next },
    /// The wait after attempt `n`.
    Waiting { n: u32, wait: Duration },
    /// Over.
    Over(CallEnd),
}

/// What follows the record of an attempt.
#[derive(Debug, Clone, PartialEq)]
enum Next {
    Wait(Duration),
    End(CallEnd),
}

/// What becomes of a call after an attempt, and the hold that the group needs.
struct Course {
    next: Next,
    hold: Option<Hold>,
}

/// The stop signal, or a driver that has lost its place.
const STOPPED: CallEnd = CallEnd::Yielded {
    reason: YieldReason::Shutdown,
    not_before: None,
};

impl Call {
    /// A call that has not begun.
    #[must_use]
    pub fn new(settings: CallSettings) -> Self {
        Self {
            settings,
            state: State::Fresh,
        }
    }

    /// Takes what happened, says what to do next.
    ///
    /// Peak windows are looked at when an attempt is about to be asked for,
    /// which is also the instant that the history keeps as its start. After
    /// [`Action::Done`] every event brings the same end again.
    pub fn step(&mut self, now: DateTime<Utc>, event: Event) -> Action {
        let (state, action) = match (self.state.clone(), event) {
            (State::Fresh, Event::Begun) => self.ask(1, Duration::ZERO, now),
            (State::Waiting { n, wait }, Event::Waited) => self.ask(n + 1, wait, now),
            (State::Asking { n }, Event::Admitted) => (State::Sending { n }, Action::Send { n }),
            (State::Asking { .. }, Event::Refused(refusal)) => over(CallEnd::Yielded {
                reason: refusal.reason,
                not_before: refusal.until,
            }),
            (State::Sending { n }, Event::Ended { verdict, draw }) => {
                self.record(n, verdict, draw, now)
            }
            (State::Sending { n }, _) => {
                let next = Next::End(STOPPED);
                (
                    State::Recording { n, next },
                    Action::Record {
                        class: None,
                        sample: None,
                        hold: None,
                    },
                )
            }
            (
                State::Recording {
                    n,
                    next: Next::Wait(wait),
                },
                Event::Recorded,
            ) => (State::Waiting { n, wait }, Action::Wait(wait)),
            (
                State::Recording {
                    next: Next::End(end),
                    ..
                }
                | State::Over(end),
                _,
            ) => over(end),
            (
                State::Fresh
                | State::Asking { .. }
                | State::Waiting { .. }
                | State::Recording { .. },
                _,
            ) => over(STOPPED),
        };
        self.state = state;
        action
    }

    /// Asks for attempt `n`, unless it would start in a peak window.
    fn ask(&self, n: u32, wait: Duration, now: DateTime<Utc>) -> (State, Action) {
        match self.peak(now) {
            Some(peak) => over(peak),
            None => (State::Asking { n }, Action::Ask { n, wait }),
        }
    }

    /// Records the end of attempt `n`, and keeps what follows.
    fn record(&self, n: u32, verdict: Verdict, draw: f64, now: DateTime<Utc>) -> (State, Action) {
        let Course { next, hold } = self.course(n, &verdict, draw, now);
        // What the answer itself says of the group goes before a hold for its hint.
        let hold = verdict.hold.or(hold);
        let action = Action::Record {
            class: Some(verdict.class),
            sample: Some(verdict.sample),
            hold,
        };
        (State::Recording { n, next }, action)
    }

    fn course(&self, n: u32, verdict: &Verdict, draw: f64, now: DateTime<Utc>) -> Course {
        match next_step(&self.settings.retry, n, verdict.class, verdict.hint, draw) {
            Step::Stop => stopped(verdict, now),
            Step::Yield(hint) => hinted(YieldReason::Hint, Some(hint), now),
            Step::Wait(wait) => match self.peak(later(now, wait)) {
                // The time left is shorter than the wait. If the server asked for it, the whole group waits.
                Some(peak) => Course {
                    next: Next::End(peak),
                    hold: hint_hold(verdict.hint, now),
                },
                None => Course {
                    next: Next::Wait(wait),
                    hold: None,
                },
            },
        }
    }

    /// The end of a call whose next attempt would start at this instant, if that lies in a peak window.
    fn peak(&self, at: DateTime<Utc>) -> Option<CallEnd> {
        let peaks = self
            .settings
            .peaks
            .as_ref()
            .filter(|peaks| peaks.is_peak(at))?;
        Some(CallEnd::Yielded {
            reason: YieldReason::Peak,
            not_before: peaks.next_open(at),
        })
    }
}

fn over(end: CallEnd) -> (State, Action) {
    (State::Over(end.clone()), Action::Done(end))
}

/// What becomes of a call without a further attempt.
fn stopped(verdict: &Verdict, now: DateTime<Utc>) -> Course {
    let end = match verdict.then {
        Then::Answer => CallEnd::Answered,
        Then::Exhaust => CallEnd::Exhausted,
        Then::Fail(reason) => CallEnd::Failed(reason),
        Then::Yield(reason) => match &verdict.hold {
            Some(hold) => CallEnd::Yielded {
                reason,
                not_before: hold.until,
            },
            None => return hinted(reason, verdict.hint, now),
        },
    };
    Course {
        next: Next::End(end),
        hold: None,
    }
}

/// A yield until the hint's instant, and the hold of the group until then.
fn hinted(reason: YieldReason, hint: Option<Duration>, now: DateTime<Utc>) -> Course {
    let hold = hint_hold(hint, now);
    let not_before = hold.as_ref().and_then(|hold| hold.until);
    Course {
        next: Next::End(CallEnd::Yielded { reason, not_before }),
        hold,
    }
}

fn hint_hold(hint: Option<Duration>, now: DateTime<Utc>) -> Option<Hold> {
    hint.filter(|hint| !hint.is_zero())
        .map(|hint| Hold::for_hint(later(now, hint), now))
}

#[cfg(test)]
mod tests;
