//! Message batches: handed in, looked at, collected, cancelled.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use hyper::header::HOST;
use hyper::{HeaderMap, Method, Response};
use serde_json::{Value, json};

use crate::anthropic::MAX_BATCH_PARTS;
use crate::engine::ports::BatchPart;
use crate::job::Delivery;

use super::api::{Site, any_reply, hung_up, problem, redacted, redirect_reply, status_of};
use super::ask::{Ask, flaw_of_headers, invalid};
use super::catalog::unknown;
use super::fault::{BatchPace, Endpoint, ErrorReply, Fault, PartFault, PartOutcome, Silence};
use super::ledger::{Arrival, Decision, Seen};
use super::reply::{self, Body, error_body, error_reply, json_reply};

/// The path of all of them.
const ROUTE: &str = "/v1/messages/batches";

/// So many batches are kept, so that a stand-in that serves for days stays small.
const MAX_BATCHES: usize = 100;

/// What is not answered after this long expires.
const LIFETIME: TimeDelta = TimeDelta::hours(24);

/// A request for something of a batch.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub method: &'a Method,
    pub path: &'a str,
    pub headers: &'a HeaderMap,
}

/// The latest batches, oldest first.
#[derive(Default)]
pub(super) struct Shelf(Mutex<VecDeque<Batch>>);

struct Batch {
    id: String,
    /// Its own address.
    url: String,
    created_at: DateTime<Utc>,
    /// Looks that still find it under way, and the age of the stand-in before which it does not end; `None` never ends.
    due: Option<(u32, Duration)>,
    stage: Stage,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    InProgress,
    Canceling,
    Answered,
    Canceled,
    Expired,
}

struct Part {
    name: String,
    ask: Ask,
    fault: Option<Fault>,
    is_gone: bool,
}

impl Site {
    /// Answers whatever is asked about batches.
    pub async fn batches(
        &self,
        asked: Asked<'_>,
        raw: Option<Bytes>,
    ) -> io::Result<Response<Body>> {
        let start = asked.path.find(ROUTE).unwrap_or_default() + ROUTE.len();
        let steps: Vec<&str> = asked.path[start..].split('/').skip(1).collect();
        if asked.method == Method::POST && steps.is_empty() {
            return self.take_in(asked, raw).await;
        }
        if let Some(error) = flaw_of_headers(asked.headers) {
            return Ok(error_reply(&error, "req_standin_none"));
        }
        let (now, age) = (self.clock().now(), self.age());
        let reply = match (asked.method, steps.as_slice()) {
            (&Method::GET, [id]) => self.shelf.with(id, |batch| batch.look(now, age)),
            (&Method::GET, [id, "results"]) => self.shelf.with(id, |batch| batch.results()),
            (&Method::POST, [id, "cancel"]) => self.shelf.with(id, Batch::cancel),
            _ => None,
        };
        let missing = || problem(404, &format!("no such batch: {}", asked.path));
        Ok(reply.unwrap_or_else(missing))
    }

    async fn take_in(&self, asked: Asked<'_>, raw: Option<Bytes>) -> io::Result<Response<Body>> {
        let body: Option<Value> = raw
            .as_deref()
            .and_then(|raw| serde_json::from_slice(raw).ok());
        let flaw = match &raw {
            None => Some(invalid(413, "the body is over 256 MB")),
            Some(_) => flaw_of_headers(asked.headers).or_else(|| flaw(body.as_ref())),
        };
        let parts = parts_of(body.as_ref().filter(|_| flaw.is_none()));
        let (decision, batch) = self.decide(asked, raw.as_deref().unwrap_or_default(), flaw, parts);
        let id = format!("req_standin_{:06}", decision.n);
        let is_cut = match &decision.fault {
            Some(Fault::Error(error)) => return Ok(error_reply(error, &id)),
            Some(Fault::Body(body)) => return Ok(any_reply(body)),
            Some(Fault::Redirect(redirect)) => return Ok(redirect_reply(redirect)),
            Some(Fault::HangUp {}) => return Err(hung_up()),
            Some(Fault::Silence(Silence { .. })) => return std::future::pending().await,
            Some(Fault::Slow(slow)) => {
                self.pass(slow.first_byte).await;
                false
            }
            Some(Fault::Cut(_)) => true,
            Some(
                Fault::StreamError(_)
                | Fault::Answer(_)
                | Fault::Pause {}
                | Fault::ToolError(_)
                | Fault::Batch(_)
                | Fault::NeverEnds {}
                | Fault::Part(_),
            )
            | None => false,
        };
        let described = batch.describe();
        // It is taken in even if its reply breaks: that is what a lost reply costs.
        self.shelf.put(batch);
        if is_cut {
            let body = reply::half(self.clock(), described.to_string().as_bytes());
            return Ok(reply::reply(
                200,
                body,
                &[("content-type", "application/json")],
            ));
        }
        Ok(json_reply(200, &id, &described))
    }

    /// Numbers a batch, and decides about it and about each of its parts.
    fn decide(
        &self,
        asked: Asked<'_>,
        raw: &[u8],
        flaw: Option<ErrorReply>,
        mut parts: Vec<Part>,
    ) -> (Decision, Batch) {
        let (at, age) = (self.clock().now(), self.age());
        let body = String::from_utf8_lossy(raw).into_owned();
        let model = parts.first().map_or("", |part| part.ask.model()).to_owned();
        let decision = self.with_ledger(|ledger| {
            let whole = Arrival {
                endpoint: Endpoint::Batches,
                model: &model,
                texts: ["", "", &body],
                at,
                age,
            };
            let mut decision = ledger.decide(&whole);
            for part in &mut parts {
                let (prompt, system) = (part.ask.prompt(), part.ask.system());
                let decided = ledger.decide(&Arrival {
                    endpoint: Endpoint::Parts,
                    model: part.ask.model(),
                    texts: [&prompt, &system, &part.ask.raw],
                    ..whole
                });
                part.fault = decided.fault;
                part.is_gone = ledger.offered().is_gone(part.ask.model());
            }
            if let Some(error) = flaw {
                decision.fault = Some(Fault::Error(error));
            }
            ledger.remember(Seen {
                n: decision.n,
                at,
                path: asked.path.to_owned(),
                headers: redacted(asked.headers),
                model: model.clone(),
                body: body.clone(),
                status: status_of(decision.fault.as_ref(), Delivery::Whole),
                fault: decision.fault.as_ref().map(Fault::as_str),
            });
            decision
        });
        let pace = match &decision.fault {
            Some(Fault::NeverEnds {}) => None,
            Some(Fault::Batch(pace)) => Some(*pace),
            Some(_) | None => Some(BatchPace {
                looks: 0,
                span: decision.latency,
            }),
        };
        let id = format!("msgbatch_standin_{:06}", decision.n);
        let host = asked.headers.get(HOST).and_then(|host| host.to_str().ok());
        let batch = Batch {
            url: format!("http://{}{}/{id}", host.unwrap_or_default(), asked.path),
            id,
            created_at: at,
            due: pace.map(|pace| (pace.looks, age + pace.span)),
            stage: Stage::InProgress,
            parts,
        };
        (decision, batch)
    }
}

impl Shelf {
    fn put(&self, batch: Batch) {
        let mut batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if batches.len() == MAX_BATCHES {
            batches.pop_front();
        }
        batches.push_back(batch);
    }

    fn with<T>(&self, id: &str, work: impl FnOnce(&mut Batch) -> T) -> Option<T> {
        let mut batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        batches.iter_mut().find(|batch| batch.id == id).map(work)
    }
}

impl Batch {
    fn look(&mut self, now: DateTime<Utc>, age: Duration) -> Response<Body> {
        let has_expired = now >= self.expires_at();
        self.stage = match (self.stage, &mut self.due) {
            (Stage::InProgress, _) if has_expired => Stage::Expired,
            (Stage::InProgress, Some((0, at))) if age >= *at => Stage::Answered,
            (Stage::InProgress, Some((looks, _))) => {
                *looks = looks.saturating_sub(1);
                Stage::InProgress
            }
            (Stage::Canceling, _) => Stage::Canceled,
            (stage, _) => stage,
        };
        json_reply(200, "req_standin_batch", &self.describe())
    }

    fn cancel(&mut self) -> Response<Body> {
        if self.stage == Stage::InProgress {
            self.stage = Stage::Canceling;
        }
        json_reply(200, "req_standin_batch", &self.describe())
    }

    /// A line for each part, the last first: nobody may count on their order.
    fn results(&self) -> Response<Body> {
        if !self.has_ended() {
            return problem(404, "the batch has no results yet");
        }
        let lines = self.parts.iter().enumerate().rev();
        let lines = lines.map(|(index, part)| self.line(index, part) + "\n");
        let headers = [
            ("content-type", "application/x-jsonl"),
            ("request-id", "req_standin_batch"),
        ];
        reply::reply(200, reply::full(lines.collect::<String>()), &headers)
    }

    fn line(&self, index: usize, part: &Part) -> String {
        let name = &part.name;
        let result = match (self.stage, &part.fault) {
            (Stage::Expired, _) => json!({ "type": "expired" }),
            (Stage::Answered, Some(Fault::Part(fault))) => match fault.outcome {
                PartOutcome::Broken => {
                    return format!(
                        r#"{{"custom_id":"{name}","result":{{"type":"succeeded","mess"#
                    );
                }
                PartOutcome::Expired => json!({ "type": "expired" }),
                PartOutcome::Canceled => json!({ "type": "canceled" }),
                PartOutcome::Errored => errored(&scripted_error(fault), &self.id),
            },
            (Stage::Answered, _) => match part.flaw() {
                Some(error) => errored(&error, &self.id),
                None => self.answer(index, part),
            },
            (Stage::InProgress | Stage::Canceling | Stage::Canceled, _) => {
                json!({ "type": "canceled" })
            }
        };
        json!({ "custom_id": name, "result": result }).to_string()
    }

    fn answer(&self, index: usize, part: &Part) -> Value {
        let id = format!("{}_{index}", self.id.replacen("msgbatch_", "req_", 1));
        let mut message = part.ask.spoken(part.fault.as_ref(), &id).message();
        message["usage"]["service_tier"] = json!("batch");
        json!({ "type": "succeeded", "message": message })
    }

    fn describe(&self) -> Value {
        let has_ended = self.has_ended();
        let status = match self.stage {
            Stage::InProgress => "in_progress",
            Stage::Canceling => "canceling",
            Stage::Answered | Stage::Canceled | Stage::Expired => "ended",
        };
        json!({
            "id": self.id, "type": "message_batch", "processing_status": status,
            "request_counts": { "processing": if has_ended { 0 } else { self.parts.len() } },
            "created_at": self.created_at.to_rfc3339(), "expires_at": self.expires_at().to_rfc3339(),
            "results_url": has_ended.then(|| format!("{}/results", self.url)),
        })
    }

    fn has_ended(&self) -> bool {
        match self.stage {
            Stage::InProgress | Stage::Canceling => false,
            Stage::Answered | Stage::Canceled | Stage::Expired => true,
        }
    }

    fn expires_at(&self) -> DateTime<Utc> {
        self.created_at + LIFETIME
    }
}

impl Part {
    /// What the API would refuse; in a batch it says so in the results only.
    fn flaw(&self) -> Option<ErrorReply> {
        match self.ask.delivery() {
            Delivery::Stream => Some(invalid(400, "stream: not supported in a batch")),
            Delivery::Whole => self
                .ask
                .flaw_of_body()
                .or_else(|| self.is_gone.then(|| unknown(self.ask.model()))),
        }
    }
}

/// What the API would refuse of a batch as a whole.
fn flaw(body: Option<&Value>) -> Option<ErrorReply> {
    let requests = body.and_then(|body| body["requests"].as_array());
    let Some(requests) = requests.filter(|requests| !requests.is_empty()) else {
        return Some(invalid(400, "requests: at least one is required"));
    };
    if requests.len() > MAX_BATCH_PARTS {
        return Some(invalid(400, "requests: at most 100000"));
    }
    let mut names = HashSet::new();
    requests.iter().find_map(|request| {
        let name = request["custom_id"].as_str().unwrap_or_default();
        let problem = if !BatchPart::is_name(name) {
            "should match ^[a-zA-Z0-9_-]{1,64}$"
        } else if !names.insert(name) {
            "must be unique"
        } else if !request["params"].is_object() {
            return Some(invalid(400, "requests: params: Field required"));
        } else {
            return None;
        };
        Some(invalid(400, &format!("requests: custom_id: {problem}")))
    })
}

fn parts_of(body: Option<&Value>) -> Vec<Part> {
    let requests = body.and_then(|body| body["requests"].as_array());
    let part = |request: &Value| Part {
        name: request["custom_id"].as_str().unwrap_or_default().to_owned(),
        ask: Ask::read(request["params"].to_string().as_bytes()),
        fault: None,
        is_gone: false,
    };
    requests.into_iter().flatten().map(part).collect()
}

fn scripted_error(fault: &PartFault) -> ErrorReply {
    ErrorReply {
        status: 500,
        kind: fault.kind.clone(),
        message: fault.message.clone(),
        ..ErrorReply::default()
    }
}

fn errored(error: &ErrorReply, id: &str) -> Value {
    json!({ "type": "errored", "error": error_body(error, &id.replacen("msgbatch_", "req_", 1)) })
}
