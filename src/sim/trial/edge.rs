//! The daemon's ports in a simulated world: what it sends reaches the server of the trial.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::course::{CallMark, Course};
use crate::answer::{Answer, FailureKind, Hint, Reply, SendFailure, StopReason, Tier, Usage};
use crate::engine::ports::{
    BatchOutcome, BatchPart, Batches, Brief, Clock, Gathered, Parcel, Pending, Undelivered,
    Unready, Upstream, Workspace,
};
use crate::job::{Job, Request};
use crate::money::Dollars;
use crate::piece::Item;
use crate::price::Estimate;
use crate::sim::world::{Asked, Served, ServedEnd, Server};
use crate::sim::{SimBatches, VirtualClock};
use crate::slot::Slot;

/// The upstream and the folder of a simulated daemon: what it sends reaches the server of the trial.
pub struct TrialEdge {
    course: Course,
    clock: VirtualClock,
    server: Arc<Mutex<Server>>,
    batches: SimBatches,
}

impl fmt::Debug for TrialEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TrialEdge")
    }
}

impl TrialEdge {
    /// The ports of one course, before one server. The clock must show the start of the course.
    #[must_use]
    pub fn new(course: &Course, clock: &VirtualClock, server: Server) -> Self {
        let lasts = server.world().batches.lasts;
        let server = Arc::new(Mutex::new(server));
        let (of_batch, script_course) = (Arc::clone(&server), course.clone());
        let batches = SimBatches::new(clock, lasts, move |part| {
            in_batch(&script_course, &of_batch, part)
        });
        Self {
            course: course.clone(),
            clock: clock.clone(),
            server,
            batches,
        }
    }

    /// Whether nothing was wrong with the upstream as a whole.
    #[must_use]
    pub fn is_well(&self, at_ms: u64) -> bool {
        lock(&self.server).is_well(at_ms)
    }

    fn serve(&self, request: &Request) -> Option<Served> {
        let mark = CallMark::of(request)?;
        let at_ms = u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(lock(&self.server).serve(Asked {
            at_ms,
            group: mark.group,
            call: mark.call,
            load: self.course.load(mark),
            timeout: request.timeout,
            first_byte_timeout: self.course.workload.first_byte_timeout,
        }))
    }
}

/// No step leaves the server half changed, so a panic elsewhere poisons nothing.
fn lock(server: &Mutex<Server>) -> MutexGuard<'_, Server> {
    server.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a part of a batch meets: no limit and no overload, only what it is itself refused for.
fn in_batch(course: &Course, server: &Mutex<Server>, part: &BatchPart) -> BatchOutcome {
    let Some(mark) = CallMark::of(&part.request) else {
        return BatchOutcome::Errored(unmarked());
    };
    let usage = lock(server).serve_in_batch(mark.call, course.load(mark));
    match usage {
        Some(usage) => {
            let tier = Tier::Batch;
            let answer = answer(Usage { tier, ..usage }, &part.request.model);
            BatchOutcome::Answered(answer)
        }
        None => BatchOutcome::Errored(status(400, "invalid_request_error", None)),
    }
}

impl Upstream for TrialEdge {
    fn send<'a>(&'a self, request: &'a Request) -> Pending<'a, Result<Reply, SendFailure>> {
        Box::pin(async move {
            let served = self.serve(request).ok_or_else(unmarked)?;
            self.clock.sleep(served.latency).await;
            result(served, &request.model)
        })
    }

    fn cost(&self, request: &Request, model: &str, usage: &Usage) -> Option<Dollars> {
        (self.course.workload.prices)(request, model, usage)
    }

    fn estimate(&self, request: &Request) -> Estimate {
        let mark = CallMark::of(request);
        mark.map_or_else(Estimate::default, |mark| self.course.load(mark).estimate)
    }

    fn batches(&self) -> Option<&dyn Batches> {
        Some(&self.batches)
    }
}

#[expect(clippy::result_large_err, reason = "as the port has it")]
fn result(served: Served, model: &str) -> Result<Reply, SendFailure> {
    let broken = |kind: FailureKind| SendFailure {
        first_byte: served.first_byte,
        ..SendFailure::new(kind, "simulated")
    };
    Err(match served.end {
        ServedEnd::Answered(usage) => {
            return Ok(Reply {
                answer: answer(usage, model),
                status: 200,
                request_id: None,
                first_byte: served.first_byte,
            });
        }
        ServedEnd::Limited(wait) => status(429, "rate_limit_error", wait.map(Hint::After)),
        ServedEnd::Overloaded => status(529, "overloaded_error", None),
        ServedEnd::ServerError => status(500, "api_error", None),
        ServedEnd::Refused => status(400, "invalid_request_error", None),
        ServedEnd::Cut => broken(FailureKind::Cut),
        ServedEnd::FirstByteTimeout => broken(FailureKind::FirstByteTimeout),
        ServedEnd::Timeout => broken(FailureKind::AttemptTimeout),
    })
}

fn status(status: u16, error_type: &str, hint: Option<Hint>) -> SendFailure {
    SendFailure {
        status: Some(status),
        error_type: Some(error_type.to_owned()),
        hint,
        ..SendFailure::new(FailureKind::Status, "simulated")
    }
}

/// Only this folder's requests reach this upstream.
fn unmarked() -> SendFailure {
    SendFailure::new(FailureKind::Unsendable, "no request of this trial")
}

/// The model is named: an answer is paid for by the price of the one that gave it.
fn answer(usage: Usage, model: &str) -> Answer {
    Answer {
        id: String::new(),
        model: model.to_owned(),
        text: "simulated".to_owned(),
        stop_reason: StopReason::EndTurn,
        usage: Some(usage),
        paused: None,
        tool_errors: Vec::new(),
    }
}

impl Workspace for TrialEdge {
    fn gather<'a>(&'a self, _: &'a Job, _: &'a Slot) -> Pending<'a, Gathered> {
        Box::pin(async { Gathered::Ready(Vec::new()) })
    }

    /// Every item has changed since it was last done: the most that there can be to do.
    fn list<'a>(&'a self, job: &'a Job) -> Pending<'a, Result<Vec<Item>, Unready>> {
        let mark = self.clock.now().timestamp_millis().to_string();
        let item = |number: u32| Item {
            name: number.to_string(),
            key: number.to_string(),
            mark: mark.clone(),
            text: None,
        };
        let count = self.course.items(job).unwrap_or_default();
        let items: Vec<Item> = (1..=count).map(item).collect();
        Box::pin(async { Ok(items) })
    }

    fn fill<'a>(&'a self, brief: Brief<'a>) -> Pending<'a, Result<Request, Unready>> {
        let item = brief.item.and_then(|item| item.name.parse().ok());
        let step = brief.answers.len();
        let mark = self
            .course
            .mark(brief.job, brief.slot, (item.unwrap_or_default(), step));
        let request = mark.request(brief.job, step);
        Box::pin(async { Ok(request) })
    }

    fn deliver<'a>(&'a self, _: Parcel<'a>) -> Pending<'a, Result<Option<PathBuf>, Undelivered>> {
        Box::pin(async { Ok(None) })
    }

    fn keep_beside<'a>(&'a self, _: Parcel<'a>) -> Pending<'a, Result<Option<PathBuf>, String>> {
        Box::pin(async { Ok(None) })
    }
}
