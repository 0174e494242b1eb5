//! The endpoints: what is asked, whether it may be asked so, and what the script makes of it.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::{HeaderMap, Method, Request, Response};

use crate::anthropic::MAX_BATCH_BYTES;
use crate::anthropic::wire::MAX_BODY_BYTES;
use crate::engine::ports::Clock;
use crate::job::Delivery;

use super::ask::{Ask, invalid};
use super::batch::{Asked, Shelf};
use super::catalog::Wanted;
use super::fault::{BodyReply, Endpoint, ErrorReply, Fault, Redirect, Slow, StreamError};
use super::ledger::{Arrival, Decision, Ledger, Seen};
use super::reply::{self, Body, End, error_body, error_reply};

/// Headers whose values carry a key.
const SECRET_HEADERS: [&str; 4] = [
    "x-api-key",
    "authorization",
    "proxy-authorization",
    "cookie",
];

/// The part of an answer's time that passes before its first byte.
const FIRST_BYTE_SHARE: f64 = 0.25;

/// The status of a redirect: one that keeps method, body and, if followed carelessly, the key.
const REDIRECT: u16 = 307;

/// Everything behind the sockets.
pub(super) struct Site {
    clock: Arc<dyn Clock>,
    started: Duration,
    ledger: Mutex<Ledger>,
    pub shelf: Shelf,
}

/// How a message request is answered.
struct Play {
    request_id: String,
    ask: Ask,
    decision: Decision,
}

impl Play {
    /// When the answer's bytes come: as the script says, or by the latency that was drawn.
    fn pace(&self, waits: u32) -> Slow {
        if let Some(Fault::Slow(slow)) = self.decision.fault {
            return slow;
        }
        let latency = self.decision.latency;
        let first_byte = latency.mul_f64(FIRST_BYTE_SHARE);
        Slow {
            first_byte,
            gap: latency.saturating_sub(first_byte) / waits,
        }
    }
}

impl Site {
    /// A site that opens now.
    pub fn new(clock: Arc<dyn Clock>, ledger: Ledger) -> Self {
        Self {
            started: clock.elapsed(),
            clock,
            ledger: Mutex::new(ledger),
            shelf: Shelf::default(),
        }
    }

    /// The latest message requests, oldest first.
    pub fn seen(&self) -> Vec<Seen> {
        self.with_ledger(|ledger| ledger.seen())
    }

    /// The age of the stand-in.
    pub fn age(&self) -> Duration {
        self.clock.elapsed().saturating_sub(self.started)
    }

    /// The clock by which everything passes.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Lets a moment pass.
    pub async fn pause(&self) {
        self.clock.sleep(Duration::from_millis(100)).await;
    }

    /// Answers one request; an error closes the connection without a reply.
    pub async fn answer(self: Arc<Self>, request: Request<Incoming>) -> io::Result<Response<Body>> {
        let (head, body) = request.into_parts();
        // A base URL may carry a path, so any prefix will do.
        let path = head.uri.path().to_owned();
        let route = path.find("/v1/").map_or("", |at| &path[at..]);
        match (&head.method, route) {
            (&Method::POST, "/v1/messages") => {
                let raw = read(body, MAX_BODY_BYTES).await?;
                self.message(path, &head.headers, raw).await
            }
            (&Method::POST, "/v1/messages/count_tokens") => {
                let raw = read(body, MAX_BODY_BYTES).await?;
                self.count(&head.headers, raw).await
            }
            (method, _) if route.starts_with("/v1/messages/batches") => {
                let asked = Asked {
                    method,
                    path: &path,
                    headers: &head.headers,
                };
                let raw = read(body, MAX_BATCH_BYTES).await?;
                self.batches(asked, raw).await
            }
            (&Method::GET, "/v1/models") => {
                let query = head.uri.query().unwrap_or_default();
                self.models(&head.headers, Wanted::List(query)).await
            }
            (&Method::GET, _) if route.starts_with("/v1/models/") => {
                let id = &route["/v1/models/".len()..];
                self.models(&head.headers, Wanted::One(id)).await
            }
            _ => Ok(problem(
                404,
                &format!("no such endpoint: {} {path}", head.method),
            )),
        }
    }

    async fn message(
        &self,
        path: String,
        headers: &HeaderMap,
        raw: Option<Bytes>,
    ) -> io::Result<Response<Body>> {
        let ask = Ask::read(raw.as_deref().unwrap_or_default());
        let flaw = match raw {
            None => Some(invalid(413, "the body is over 32 MB")),
            Some(_) => ask.flaw(headers).or_else(|| self.gone(&ask)),
        };
        let at = self.clock.now();
        let decision = self.with_ledger(|ledger| {
            let (prompt, system) = (ask.prompt(), ask.system());
            let mut decision = ledger.decide(&Arrival {
                endpoint: Endpoint::Messages,
                model: ask.model(),
                texts: [&prompt, &system, &ask.raw],
                at,
                age: self.age(),
            });
            if let Some(error) = flaw {
                decision.fault = Some(Fault::Error(error));
            }
            ledger.remember(Seen {
                n: decision.n,
                at,
                path,
                headers: redacted(headers),
                model: ask.model().to_owned(),
                body: ask.raw.clone(),
                status: status_of(decision.fault.as_ref(), ask.delivery()),
                fault: decision.fault.as_ref().map(Fault::as_str),
            });
            decision
        });
        let request_id = format!("req_standin_{:06}", decision.n);
        self.play(Play {
            request_id,
            ask,
            decision,
        })
        .await
    }

    async fn play(&self, play: Play) -> io::Result<Response<Body>> {
        let id = play.request_id.as_str();
        let delivery = play.ask.delivery();
        let end = match &play.decision.fault {
            None
            | Some(
                Fault::Answer(_)
                | Fault::Slow(_)
                | Fault::Pause {}
                | Fault::ToolError(_)
                | Fault::Batch(_)
                | Fault::NeverEnds {}
                | Fault::Part(_),
            ) => End::Whole,
            Some(Fault::Cut(cut)) => End::Cut(cut.after),
            Some(Fault::StreamError(error)) => {
                let reply = stream_error(error);
                if delivery == Delivery::Whole {
                    return Ok(error_reply(&reply, id));
                }
                End::Error(error.after, error_body(&reply, id))
            }
            Some(Fault::Silence(silence)) => match (silence.after, delivery) {
                (Some(after), Delivery::Stream) => End::Silence(after),
                (Some(_), Delivery::Whole) | (None, _) => return std::future::pending().await,
            },
            Some(Fault::Error(error)) => return Ok(error_reply(error, id)),
            Some(Fault::Body(body)) => return Ok(any_reply(body)),
            Some(Fault::Redirect(redirect)) => return Ok(redirect_reply(redirect)),
            Some(Fault::HangUp {}) => return Err(hung_up()),
        };
        Ok(self.speak(&play, &end).await)
    }

    /// Gives an answer in the form that was asked for, and in its time.
    async fn speak(&self, play: &Play, end: &End) -> Response<Body> {
        let fault = play.decision.fault.as_ref();
        let spoken = play.ask.spoken(fault, &play.request_id);
        let pace = play.pace(spoken.waits());
        let clock = Arc::clone(&self.clock);
        let headers = |kind| {
            let id = play.request_id.as_str();
            [("content-type", kind), ("request-id", id)]
        };
        match play.ask.delivery() {
            Delivery::Stream => {
                self.pass(pace.first_byte).await;
                let body = spoken.stream(clock, pace.gap, end);
                reply::reply(200, body, &headers("text/event-stream; charset=utf-8"))
            }
            Delivery::Whole => {
                self.pass(pace.first_byte + pace.gap * spoken.waits()).await;
                let message = spoken.message().to_string();
                let body = if *end == End::Whole {
                    reply::full(message)
                } else {
                    reply::half(clock, message.as_bytes())
                };
                reply::reply(200, body, &headers("application/json"))
            }
        }
    }

    /// Lets a span pass.
    pub async fn pass(&self, span: Duration) {
        if !span.is_zero() {
            self.clock.sleep(span).await;
        }
    }

    /// Works on the ledger.
    pub fn with_ledger<T>(&self, work: impl FnOnce(&mut Ledger) -> T) -> T {
        work(&mut self.ledger.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The body, or `None` if it is over its limit.
async fn read(body: Incoming, max_bytes: usize) -> io::Result<Option<Bytes>> {
    match Limited::new(body, max_bytes).collect().await {
        Ok(whole) => Ok(Some(whole.to_bytes())),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Ok(None),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// A refusal in the form of the API.
pub(super) fn problem(status: u16, message: &str) -> Response<Body> {
    error_reply(&invalid(status, message), "req_standin_none")
}

/// Any reply at all.
pub(super) fn any_reply(body: &BodyReply) -> Response<Body> {
    let kind = body.content_type.as_deref();
    let headers = kind.map(|kind| ("content-type", kind));
    reply::reply(
        body.status,
        reply::full(body.text.clone()),
        headers.as_slice(),
    )
}

/// A redirect.
pub(super) fn redirect_reply(redirect: &Redirect) -> Response<Body> {
    let headers = [("location", redirect.to.as_str())];
    reply::reply(REDIRECT, reply::full(Bytes::new()), &headers)
}

/// Why the connection closes without a reply.
pub(super) fn hung_up() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "hung up by the script")
}

/// The status and the error that a whole answer has in place of an `error` event.
pub(super) fn stream_error(error: &StreamError) -> ErrorReply {
    ErrorReply {
        status: if error.kind == "overloaded_error" {
            529
        } else {
            500
        },
        kind: Some(error.kind.clone()),
        message: error.message.clone(),
        ..ErrorReply::default()
    }
}

/// The status of the reply, if there is one.
pub(super) fn status_of(fault: Option<&Fault>, delivery: Delivery) -> Option<u16> {
    match (fault, delivery) {
        (
            None
            | Some(
                Fault::Answer(_)
                | Fault::Slow(_)
                | Fault::Cut(_)
                | Fault::Pause {}
                | Fault::ToolError(_)
                | Fault::Batch(_)
                | Fault::NeverEnds {}
                | Fault::Part(_),
            ),
            _,
        )
        | (Some(Fault::StreamError(_)), Delivery::Stream) => Some(200),
        (Some(Fault::StreamError(error)), Delivery::Whole) => Some(stream_error(error).status),
        (Some(Fault::Silence(silence)), Delivery::Stream) => silence.after.map(|_| 200),
        (Some(Fault::Silence(_)), Delivery::Whole) | (Some(Fault::HangUp {}), _) => None,
        (Some(Fault::Error(error)), _) => Some(error.status),
        (Some(Fault::Body(body)), _) => Some(body.status),
        (Some(Fault::Redirect(_)), _) => Some(REDIRECT),
    }
}

pub(super) fn redacted(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
        let is_secret = SECRET_HEADERS.contains(&name.as_str());
        let text = if is_secret {
            "[redacted]".to_owned()
        } else {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        };
        (name.as_str().to_owned(), text)
    };
    headers.iter().map(shown).collect()
}
