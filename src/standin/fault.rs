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
