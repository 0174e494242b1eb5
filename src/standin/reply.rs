//! Replies as HTTP: whole bodies, paced event streams, and the ways in which they break.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::Response;
use hyper::body::Frame;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::engine::ports::Clock;

use super::fault::{ErrorReply, Shape};
use super::text::pieces;

/// A body that may break.
pub(super) type Body = UnsyncBoxBody<Bytes, io::Error>;

/// A stream has at most so many text events: each may be a wait.
const MAX_TEXT_EVENTS: usize = 16;

/// An answer before it takes one of the two forms.
#[derive(Debug, Clone)]
pub(super) struct Spoken {
    /// The message id.
    pub id: String,
    /// The model.
    pub model: String,
    /// The content blocks, whole.
    pub content: Vec<Value>,
    /// Why it ends.
    pub stop_reason: String,
    /// The counters, as the API writes them.
    pub usage: Value,
}

/// How a stream ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    /// As it should.
    Whole,
    /// The connection breaks after so many events.
    Cut(usize),
    /// Nothing further comes after so many events.
    Silence(usize),
    /// An `error` event comes after so many others, and the connection closes.
    Error(usize, Value),
}

impl Spoken {
    /// The Message in one piece.
    pub fn message(&self) -> Value {
        json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": self.content,
            "stop_reason": self.stop_reason, "stop_sequence": null, "usage": self.usage,
        })
    }

    /// The Message as the data of events.
    fn events(&self) -> Vec<Value> {
        let mut start = self.message();
        start["content"] = json!([]);
        start["stop_reason"] = Value::Null;
        start["usage"]["output_tokens"] = json!(1);
        let mut events = vec![
            json!({ "type": "message_start", "message": start }),
            json!({ "type": "ping" }),
        ];
        for (index, block) in self.content.iter().enumerate() {
            let (start, deltas) = in_pieces(block);
            events.push(
                json!({ "type": "content_block_start", "index": index, "content_block": start }),
            );
            events.extend(deltas.into_iter().map(
                |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ));
            events.push(json!({ "type": "content_block_stop", "index": index }));
        }
        let delta = json!({ "stop_reason": self.stop_reason, "stop_sequence": null });
        let usage = json!({ "output_tokens": self.usage["output_tokens"] });
        events.push(json!({ "type": "message_delta", "delta": delta, "usage": usage }));
        events.push(json!({ "type": "message_stop" }));
        events
    }

    /// How many waits a stream of this answer has.
    pub fn waits(&self) -> u32 {
        let texts = self
            .content
            .iter()
            .filter_map(|block| block["text"].as_str());
        let count: usize = texts.map(|text| pieces(text, MAX_TEXT_EVENTS).len()).sum();
        u32::try_from(count).unwrap_or(1).max(1)
    }

    /// The Message as a stream with a wait before each text event.
    pub fn stream(&self, clock: Arc<dyn Clock>, gap: Duration, end: &End) -> Body {
        let mut steps = VecDeque::new();
        for event in self.events() {
            let is_text = event["delta"]["type"] == "text_delta";
            let wait = if is_text { gap } else { Duration::ZERO };
            steps.push_back(Step {
                wait,
                act: Act::Send(frame(&event)),
            });
        }
        match end {
            End::Whole => {}
            End::Cut(after) => {
                steps.truncate(*after);
                steps.push_back(Step {
                    wait: Duration::ZERO,
                    act: Act::Break,
                });
            }
            End::Silence(after) => {
                steps.truncate(*after);
                steps.push_back(Step {
                    wait: Duration::ZERO,
                    act: Act::Hang,
                });
            }
            End::Error(after, error) => {
                steps.truncate(*after);
                steps.push_back(Step {
                    wait: Duration::ZERO,
                    act: Act::Send(frame(error)),
                });
            }
        }
        paced(clock, steps)
    }
}

/// A block as it begins in a stream, and the deltas that make it whole.
fn in_pieces(block: &Value) -> (Value, Vec<Value>) {
    let mut start = block.clone();
    let deltas = match block["type"].as_str() {
        Some("text") => {
            start["text"] = json!("");
            let texts = pieces(block["text"].as_str().unwrap_or_default(), MAX_TEXT_EVENTS);
            let delta = |piece: &str| json!({ "type": "text_delta", "text": piece });
            texts.into_iter().map(delta).collect()
        }
        Some("thinking") => {
            start["thinking"] = json!("");
            start["signature"] = json!("");
            vec![
                json!({ "type": "thinking_delta", "thinking": block["thinking"] }),
                json!({ "type": "signature_delta", "signature": block["signature"] }),
            ]
        }
        Some("server_tool_use") => {
            start["input"] = json!({});
            let input = block["input"].to_string();
            let (left, right) = input.split_at(input.floor_char_boundary(input.len() / 2));
            let delta = |part: &str| json!({ "type": "input_json_delta", "partial_json": part });
            ["", left, right].map(delta).to_vec()
        }
        Some(_) | None => Vec::new(),
    };
    (start, deltas)
}

struct Step {
    wait: Duration,
    act: Act,
}

enum Act {
    Send(Bytes),
    Break,
    Hang,
}

/// One event with its name line.
fn frame(data: &Value) -> Bytes {
    let name = data["type"].as_str().unwrap_or("error");
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

fn paced(clock: Arc<dyn Clock>, steps: VecDeque<Step>) -> Body {
    let frames = stream::unfold((clock, steps), |(clock, mut steps)| async move {
        let step = steps.pop_front()?;
        if !step.wait.is_zero() {
            clock.sleep(step.wait).await;
        }
        let item = match step.act {
            Act::Send(bytes) => Ok(Frame::data(bytes)),
            Act::Hang => std::future::pending().await,
            Act::Break => {
                // Lets the server flush what it has before the connection goes.
                tokio::task::yield_now().await;
                Err(io::Error::new(
                    io::ErrorKind::ConnectionAborted,
                    "cut by the script",
                ))
            }
        };
        Some((item, (clock, steps)))
    });
    StreamBody::new(frames).boxed_unsync()
}

/// A body whose second half never comes, and the connection with it.
pub(super) fn half(clock: Arc<dyn Clock>, bytes: &[u8]) -> Body {
    let first = Bytes::copy_from_slice(&bytes[..bytes.len() / 2]);
    let steps = [Act::Send(first), Act::Break].map(|act| Step {
        wait: Duration::ZERO,
        act,
    });
    paced(clock, VecDeque::from(steps))
}

/// Bytes that are there at once.
pub(super) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into())
        .map_err(|never: Infallible| match never {})
        .boxed_unsync()
}

/// A JSON reply.
pub(super) fn json_reply(status: u16, request_id: &str, body: &Value) -> Response<Body> {
    reply(
        status,
        full(body.to_string()),
        &[
            ("content-type", "application/json"),
            ("request-id", request_id),
        ],
    )
}

/// A reply with these headers; one that cannot be a header is left out.
pub(super) fn reply(status: u16, body: Body, headers: &[(&str, &str)]) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() =
        hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value),
        ) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// An error as the API or a proxy before it writes it.
pub(super) fn error_reply(error: &ErrorReply, request_id: &str) -> Response<Body> {
    let status = error.status;
    let mut response = match error.shape {
        Shape::Json => json_reply(status, request_id, &error_body(error, request_id)),
        Shape::Html => {
            let page = format!(
                "<html><head><title>{status} {}</title></head><body><hr>proxy</body></html>\n",
                usual_message(status)
            );
            reply(status, full(page), &[(CONTENT_TYPE.as_str(), "text/html")])
        }
        Shape::Empty => reply(status, full(Bytes::new()), &[]),
    };
    let retry_after = error
        .retry_after
        .map(|seconds| ("retry-after".to_owned(), seconds.to_string()));
    for (name, value) in retry_after
        .iter()
        .map(|(name, value)| (name, value))
        .chain(&error.headers)
    {
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value),
        ) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// The JSON of an error.
pub(super) fn error_body(error: &ErrorReply, request_id: &str) -> Value {
    let kind = error
        .kind
        .as_deref()
        .unwrap_or_else(|| usual_type(error.status));
    let message = error
        .message
        .as_deref()
        .unwrap_or_else(|| usual_message(error.status));
    let mut body = json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": request_id });
    if let Some(code) = &error.code {
        body["error"]["details"] = json!({ "error_code": code });
    }
    body
}

/// The `error.type` that the API gives with a status.
const fn usual_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    }
}

const fn usual_message(status: u16) -> &'static str {
    match status {
        401 => "invalid x-api-key",
        402 => "Your payment method was declined.",
        403 => "Your API key does not have permission for this.",
        404 => "Not found",
        413 => "Request exceeds the maximum size",
        429 => "This request would exceed your organization's rate limit.",
        502 => "Bad Gateway",
        503 => "Service Temporarily Unavailable",
        504 => "Gateway Timeout",
        529 => "Overloaded",
        400..=499 => "The request is not valid.",
        _ => "Internal server error",
    }
}
