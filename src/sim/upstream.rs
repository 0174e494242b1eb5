//! An API that does what a script says.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{SimBatches, VirtualClock};
use crate::answer::{Answer, FailureKind, Hint, Reply, SendFailure, StopReason, Usage};
use crate::engine::ports::{Batches, Clock, Pending, Upstream};
use crate::job::Request;
use crate::money::Dollars;
use crate::price::{Estimate, Growth};

/// What one request meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scripted {
    /// From the start of the attempt to its end; the request's timeout cuts it.
    pub latency: Duration,
    /// What comes back then.
    pub result: Result<Reply, SendFailure>,
}

/// One request as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// When it was sent, by the wall clock.
    pub at: DateTime<Utc>,
    /// What was sent.
    pub request: Request,
}

/// Says what a request meets, given the instant and the request.
pub type Script = dyn FnMut(DateTime<Utc>, &Request) -> Scripted + Send;

/// An API that does what a script says, and remembers every request.
#[derive(Clone)]
pub struct SimUpstream {
    clock: VirtualClock,
    inner: Arc<Mutex<Inner>>,
    batches: Option<SimBatches>,
}

struct Inner {
    script: Box<Script>,
    sent: Vec<Sent>,
}

impl fmt::Debug for SimUpstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimUpstream({} sent)", self.lock().sent.len())
    }
}

impl Scripted {
    /// A complete answer after this long.
    #[must_use]
    pub fn answer(latency: Duration, text: impl Into<String>) -> Self {
        Self::stopped(latency, text, StopReason::EndTurn)
    }

    /// An answer that stopped for this reason.
    #[must_use]
    pub fn stopped(latency: Duration, text: impl Into<String>, stop_reason: StopReason) -> Self {
        let text = text.into();
        let usage = Usage {
            input_tokens: 100,
            output_tokens: text.len() as u64 / 4 + 1,
            ..Usage::default()
        };
        let answer = Answer {
            id: "msg_sim".to_owned(),
            model: "claude-sim".to_owned(),
            text,
            stop_reason,
            usage: Some(usage),
            paused: None,
            tool_errors: Vec::new(),
        };
        let reply = Reply {
            answer,
            status: 200,
            request_id: Some("req_sim".to_owned()),
            first_byte: Some(latency / 2),
        };
        Self {
            latency,
            result: Ok(reply),
        }
    }

    /// An error status with its type and, maybe, the wait that the server asks for.
    #[must_use]
    pub fn status(status: u16, error_type: &str, hint: Option<Duration>) -> Self {
        let failure = SendFailure {
            status: Some(status),
            error_type: Some(error_type.to_owned()),
            hint: hint.map(Hint::After),
            ..SendFailure::new(FailureKind::Status, format!("scripted {status}"))
        };
        Self {
            latency: Duration::from_millis(80),
            result: Err(failure),
        }
    }

    /// A failure of the transport after this long.
    #[must_use]
    pub fn broken(latency: Duration, kind: FailureKind) -> Self {
        Self {
            latency,
            result: Err(SendFailure::new(kind, "scripted")),
        }
    }
}

impl SimUpstream {
    /// An API that asks this closure about every request.
    #[must_use]
    pub fn new(
        clock: &VirtualClock,
        script: impl FnMut(DateTime<Utc>, &Request) -> Scripted + Send + 'static,
    ) -> Self {
        let inner = Inner {
            script: Box::new(script),
            sent: Vec::new(),
        };
        Self {
            clock: clock.clone(),
            inner: Arc::new(Mutex::new(inner)),
            batches: None,
        }
    }

    /// An API that goes through a list and then answers in a second for ever.
    #[must_use]
    pub fn scripted(clock: &VirtualClock, list: impl IntoIterator<Item = Scripted>) -> Self {
        let mut list: VecDeque<Scripted> = list.into_iter().collect();
        Self::new(clock, move |_, _| {
            let next = list.pop_front();
            next.unwrap_or_else(|| Scripted::answer(Duration::from_secs(1), "a complete answer"))
        })
    }

    /// An API that is always well: every answer takes a second.
    #[must_use]
    pub fn healthy(clock: &VirtualClock) -> Self {
        Self::scripted(clock, [])
    }

    /// The same, with message batches.
    #[must_use]
    pub fn with_batches(mut self, batches: SimBatches) -> Self {
        self.batches = Some(batches);
        self
    }

    /// Every request so far, in order.
    #[must_use]
    pub fn sent(&self) -> Vec<Sent> {
        self.lock().sent.clone()
    }

    /// A script that panicked takes its test with it, so the state behind it does not matter.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, request: &Request) -> Scripted {
        let at = self.clock.now();
        let mut inner = self.lock();
        inner.sent.push(Sent {
            at,
            request: request.clone(),
        });
        (inner.script)(at, request)
    }
}

impl Upstream for SimUpstream {
    fn send<'a>(&'a self, request: &'a Request) -> Pending<'a, Result<Reply, SendFailure>> {
        Box::pin(async move {
            let Scripted { latency, result } = self.take(request);
            self.clock.sleep(latency.min(request.timeout)).await;
            if latency > request.timeout {
                let late = "no whole answer within the timeout";
                return Err(SendFailure::new(FailureKind::AttemptTimeout, late));
            }
            result
        })
    }

    fn cost(&self, _: &Request, _: &str, usage: &Usage) -> Option<Dollars> {
        Some(price(usage.output_tokens))
    }

    fn estimate(&self, request: &Request) -> Estimate {
        let tokens = request.prompt.len() as u64;
        let output_max = u64::from(request.max_tokens);
        Estimate {
            tokens_low: 0,
            tokens,
            tokens_high: tokens,
            output_max,
            cost_low: Some(Dollars::ZERO),
            cost: Some(price(output_max)),
            cost_high: Some(price(output_max)),
            growth: Growth::None,
        }
    }

    fn batches(&self) -> Option<&dyn Batches> {
        self.batches.as_ref().map(|it| it as &dyn Batches)
    }
}

/// A made-up price: a cent for a thousand tokens of output.
const fn price(output_tokens: u64) -> Dollars {
    Dollars::from_nanos(output_tokens.saturating_mul(10_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Delivery, KeyId};
    use crate::sim::run;

    fn request() -> Request {
        Request {
            key: KeyId::new("main"),
            model: "claude-sim".to_owned(),
            max_tokens: 100,
            system: Vec::new(),
            prompt: "hello".to_owned(),
            so_far: Vec::new(),
            delivery: Delivery::Stream,
            extra: Vec::new(),
            timeout: Duration::from_secs(10),
        }
    }

    fn send(scripted: Scripted) -> (Result<Reply, SendFailure>, Duration) {
        let clock = VirtualClock::new("2026-12-01T00:00:00Z".parse().unwrap());
        let upstream = SimUpstream::scripted(&clock, [scripted]);
        let result = run(&clock, upstream.send(&request())).unwrap();
        assert_eq!(upstream.sent().len(), 1);
        (result, clock.elapsed())
    }

    #[test]
    fn an_answer_takes_its_latency() {
        let scripted = Scripted::answer(Duration::from_secs(3), "good morning");
        let (result, took) = send(scripted);
        assert_eq!(result.unwrap().answer.text, "good morning");
        assert_eq!(took, Duration::from_secs(3));
    }

    #[test]
    fn an_answer_over_the_timeout_is_cut_at_it() {
        let scripted = Scripted::answer(Duration::from_secs(11), "too late");
        let (result, took) = send(scripted);
        assert_eq!(result.unwrap_err().kind, FailureKind::AttemptTimeout);
        assert_eq!(took, Duration::from_secs(10));
    }
}
