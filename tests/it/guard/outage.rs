//! Half an hour of outage, lived through in virtual time with the default policies.

use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::answer::{FailureKind, SendFailure};
use offpeak::engine::{Action, Call, CallEnd, CallSettings, Event};
use offpeak::guard::span::{elapsed, later};
use offpeak::guard::{BreakerState, Guard, RetryPolicy, Sample, Then, Verdict, classify};
use offpeak::outcome::Class;

use super::{SECOND, default_guard, night};

const LEASE: Duration = Duration::from_secs(605);

/// An upstream that answers at once, and fails at once while it is down.
struct Outage {
    from: DateTime<Utc>,
    until: DateTime<Utc>,
    draws: u64,
    guard: Guard,
    failures: u32,
    answered_at: Option<DateTime<Utc>>,
}

impl Outage {
    fn new(from: DateTime<Utc>, seed: u64) -> Self {
        let until = later(from, SECOND * 1800);
        Self {
            from,
            until,
            draws: seed,
            guard: Guard::default(),
            failures: 0,
            answered_at: None,
        }
    }

    /// A fixed series: only its spread matters.
    fn draw(&mut self) -> f64 {
        self.draws = self
            .draws
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.draws >> 33).expect("in bounds")) / f64::from(1_u32 << 31)
    }

    fn verdict(&mut self, now: DateTime<Utc>) -> Verdict {
        if self.from <= now && now < self.until {
            self.failures += 1;
            return classify(
                &SendFailure {
                    status: Some(529),
                    ..SendFailure::new(FailureKind::Status, "Overloaded")
                },
                now,
            );
        }
        if now >= self.until {
            self.answered_at.get_or_insert(now);
        }
        Verdict {
            class: Class::Success,
            sample: Sample::Success,
            hint: None,
            hold: None,
            then: Then::Answer,
        }
    }

    /// Drives one call to its end.
    fn call(&mut self, mut now: DateTime<Utc>) -> CallEnd {
        let policy = default_guard();
        let mut call = Call::new(CallSettings {
            retry: RetryPolicy::new(3, SECOND, SECOND * 30, 0.5).expect("in bounds"),
            peaks: None,
        });
        let mut permit = None;
        let mut event = Event::Begun;
        loop {
            event = match call.step(now, event) {
                Action::Ask { .. } => match self.guard.admit(&policy, now, LEASE) {
                    Ok(admitted) => {
                        permit = Some(admitted);
                        Event::Admitted
                    }
                    Err(refusal) => Event::Refused(refusal),
                },
                Action::Send { .. } => Event::Ended {
                    verdict: self.verdict(now),
                    draw: self.draw(),
                },
                Action::Record { sample, .. } => {
                    let permit = permit.take().expect("a record follows a send");
                    self.guard
                        .record(&policy, permit, sample.expect("nothing is cancelled"), now);
                    Event::Recorded
                }
                Action::Wait(wait) => {
                    now = later(now, wait);
                    Event::Waited
                }
                Action::Done(end) => return end,
            };
        }
    }
}

/// Lives through 30 minutes of outage with a call every 5 s, after `healthy` calls `gap` apart.
fn live_through(healthy: u32, gap: Duration, seed: u64) -> Outage {
    let from = later(night(), gap * healthy);
    let mut outage = Outage::new(from, seed);
    for n in 0..healthy {
        assert_eq!(outage.call(later(night(), gap * n)), CallEnd::Answered);
    }
    for n in 0..(1800 + 300) / 5 {
        outage.call(later(from, SECOND * 5 * n));
    }
    outage
}

fn assert_bounded(outage: &Outage, what: &str) {
    assert!(
        outage.failures <= 40,
        "{what}: {} failing requests",
        outage.failures
    );
    // It must have gone on probing: one a cooldown.
    assert!(
        outage.failures >= 30,
        "{what}: {} failing requests",
        outage.failures
    );
    let healthy = outage.answered_at.expect("an answer after the outage");
    assert!(
        elapsed(outage.until, healthy) <= SECOND * 60,
        "{what}: healthy only at {healthy}"
    );
}

#[test]
fn an_outage_of_half_an_hour_costs_at_most_forty_requests() {
    for seed in 0..50 {
        assert_bounded(&live_through(0, SECOND * 5, seed), &format!("seed {seed}"));
    }
}

#[test]
fn ten_thousand_healthy_calls_before_an_outage_do_not_make_it_dearer() {
    for (seed, gap) in [(1, 2), (2, 3), (3, 5), (4, 60)] {
        let outage = live_through(10_000, SECOND * gap, seed);
        assert_bounded(&outage, &format!("calls {gap} s apart"));
    }
}

#[test]
fn calls_flow_again_after_the_outage() {
    let mut outage = live_through(0, SECOND * 5, 7);
    let after = later(outage.until, SECOND * 300);
    for n in 0..100 {
        assert_eq!(outage.call(later(after, SECOND * 5 * n)), CallEnd::Answered);
    }
    assert_eq!(outage.guard.breaker.state, BreakerState::Closed);
}
