//! What happens to a request that meets a rule.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::span::span;

/// What happens to a request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A status that is no success.
    Error(ErrorReply),
    /// The connection breaks inside the stream; a whole answer breaks in its middle.
    Cut(After),
    /// The connection closes without a reply.
    HangUp {},
    /// An answer that takes its time.
    Slow(Slow),
    /// Not a byte any more; with `after`, once so many events were sent.
    Silence(Silence),
    /// An `error` event inside the stream; a whole answer gets the error as its body.
    StreamError(StreamError),
    /// Any reply at all, such as a login page under status 200.
    Body(BodyReply),
    /// A redirect.
    Redirect(Redirect),
    /// An answer with another end or another text.
    Answer(Scripted),
    /// An answer that pauses after a search; it goes on when its blocks are sent back unchanged.
    Pause {},
    /// An answer with a server tool that failed.
    ToolError(ToolError),
    /// A batch that takes its time.
    Batch(BatchPace),
    /// A batch that does not end before its parts expire.
    NeverEnds {},
    /// A part of a batch that is not answered.
    Part(PartFault),
}

impl Fault {
    /// An error of the usual shape for this status.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::Error(ErrorReply {
            status,
            ..ErrorReply::default()
        })
    }

    /// 429 with a `retry-after` of so many seconds.
    #[must_use]
    pub fn rate_limit(retry_after: u64) -> Self {
        Self::Error(ErrorReply {
            status: 429,
            retry_after: Some(retry_after),
            ..ErrorReply::default()
        })
    }

    /// A stream that breaks after so many events.
    #[must_use]
    pub const fn cut(after: usize) -> Self {
        Self::Cut(After { after })
    }

    /// The word for it in YAML and in listings.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Error(_) => "error",
            Self::Cut(_) => "cut",
            Self::HangUp {} => "hang_up",
            Self::Slow(_) => "slow",
            Self::Silence(_) => "silence",
            Self::StreamError(_) => "stream_error",
            Self::Body(_) => "body",
            Self::Redirect(_) => "redirect",
            Self::Answer(_) => "answer",
            Self::Pause {} => "pause",
            Self::ToolError(_) => "tool_error",
            Self::Batch(_) => "batch",
            Self::NeverEnds {} => "never_ends",
            Self::Part(_) => "part",
        }
    }

    /// Whether it can happen there; a rule with a fault that cannot is passed over.
    #[must_use]
    pub const fn fits(&self, endpoint: Endpoint) -> bool {
        match self {
            Self::Error(_)
            | Self::Cut(_)
            | Self::HangUp {}
            | Self::Slow(_)
            | Self::Silence(_)
            | Self::Body(_)
            | Self::Redirect(_) => !matches!(endpoint, Endpoint::Parts),
            Self::StreamError(_) => matches!(endpoint, Endpoint::Messages),
            Self::Answer(_) | Self::Pause {} | Self::ToolError(_) => {
                matches!(endpoint, Endpoint::Messages | Endpoint::Parts)
            }
            Self::Batch(_) | Self::NeverEnds {} => matches!(endpoint, Endpoint::Batches),
            Self::Part(_) => matches!(endpoint, Endpoint::Parts),
        }
    }
}

/// What is asked for, and so what a rule decides about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endpoint {
    /// `POST /v1/messages`: one message.
    Messages,
    /// `POST /v1/messages/batches`: a batch that is handed in.
    Batches,
    /// A part of a batch.
    Parts,
    /// `POST /v1/messages/count_tokens`.
    CountTokens,
    /// `GET /v1/models` and `GET /v1/models/ID`.
    Models,
}

impl Endpoint {
    /// Whether a model works there: a rule that names no endpoint means these.
    #[must_use]
    pub const fn is_work(self) -> bool {
        match self {
            Self::Messages | Self::Batches | Self::Parts => true,
            Self::CountTokens | Self::Models => false,
        }
    }
}

/// A status that is no success.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorReply {
    /// From 400 to 599.
    pub status: u16,
    /// `error.type`; without it the usual one of the status.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// `error.details.error_code`.
    #[serde(default)]
    pub code: Option<String>,
    /// `error.message`.
    #[serde(default)]
    pub message: Option<String>,
    /// The header of this name, in seconds.
    #[serde(default)]
    pub retry_after: Option<u64>,
    /// Further headers, `x-should-retry` or another `retry-after` among them.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// What the body looks like.
    #[serde(default)]
    pub shape: Shape,
}

/// What an error body looks like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// As the API writes it.
    #[default]
    Json,
    /// As a proxy writes it, without a `request-id`.
    Html,
    /// Nothing.
    Empty,
}

/// A place in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// So many events come first; 0 leaves the status and headers only.
    pub after: usize,
}

/// An answer that takes its time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Slow {
    /// Before status and headers.
    #[serde(deserialize_with = "span")]
    pub first_byte: Duration,
    /// Between two events.
    #[serde(deserialize_with = "span")]
    pub gap: Duration,
}

/// Where silence begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Silence {
    /// After so many events; without it before status and headers.
    pub after: Option<usize>,
}

/// An `error` event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamError {
    /// So many events come first.
    pub after: usize,
    /// `error.type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `error.message`.
    #[serde(default)]
    pub message: Option<String>,
}

/// Any reply at all.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyReply {
    /// The status.
    pub status: u16,
    /// The header; without it there is none.
    #[serde(default)]
    pub content_type: Option<String>,
    /// The body.
    #[serde(default)]
    pub text: String,
}

/// A redirect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redirect {
    /// The `location`.
    pub to: String,
}

/// An answer with another end or another text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scripted {
    /// Any word; without it `end_turn`.
    pub stop_reason: Option<String>,
    /// The text; without it the usual one. An empty text leaves `content` empty.
    pub text: Option<String>,
}

/// A server tool that failed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolError {
    /// The tool, such as `web_search`.
    pub tool: String,
    /// The `error_code`, such as `max_uses_exceeded`.
    pub code: String,
}

/// How long a batch takes; both must have passed. Without a rule it takes what the latency says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BatchPace {
    /// So many looks find it under way.
    pub looks: u32,
    /// Since it was handed in.
    #[serde(deserialize_with = "span")]
    pub span: Duration,
}

/// A part of a batch that is not answered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartFault {
    /// What becomes of it.
    pub outcome: PartOutcome,
    /// `error.type` of a part that is errored; without it `api_error`.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// `error.message`.
    #[serde(default)]
    pub message: Option<String>,
}

/// What becomes of a part that is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartOutcome {
    /// It was refused.
    Errored,
    /// Its turn did not come in time.
    Expired,
    /// It was cancelled.
    Canceled,
    /// The line of its result is broken.
    Broken,
}
