//! What comes back from the API: an answer, or the way in which there is none.

use std::ops::Add;
use std::time::Duration;

use chrono::{DateTime, Utc};

/// A whole Message: parsed, with a known end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The message id, for support requests.
    pub id: String,
    /// The model that answered.
    pub model: String,
    /// The `text` blocks in order, joined.
    pub text: String,
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// What was counted; `None` means unknown, not zero.
    pub usage: Option<Usage>,
    /// The content blocks as a JSON list, if the model paused: it goes on when they are sent back unchanged.
    pub paused: Option<String>,
    /// The server tools that failed inside the answer, a line each such as `web_search: max_uses_exceeded`.
    pub tool_errors: Vec<String>,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// Finished.
    EndTurn,
    /// Hit one of the request's stop sequences.
    StopSequence,
    /// The output was cut at `max_tokens`.
    MaxTokens,
    /// The context was full and the output cut.
    ContextWindowExceeded,
    /// Wants a client tool; we have none.
    ToolUse,
    /// A server-tool loop paused.
    PauseTurn,
    /// The model declined.
    Refusal,
    /// A value that this version does not know; kept as it came.
    Other(String),
}

impl StopReason {
    /// The API's word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::StopSequence => "stop_sequence",
            Self::MaxTokens => "max_tokens",
            Self::ContextWindowExceeded => "model_context_window_exceeded",
            Self::ToolUse => "tool_use",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::Other(word) => word,
        }
    }
}

impl From<&str> for StopReason {
    fn from(word: &str) -> Self {
        match word {
            "end_turn" => Self::EndTurn,
            "stop_sequence" => Self::StopSequence,
            "max_tokens" => Self::MaxTokens,
            "model_context_window_exceeded" => Self::ContextWindowExceeded,
            "tool_use" => Self::ToolUse,
            "pause_turn" => Self::PauseTurn,
            "refusal" => Self::Refusal,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// Token counters of one answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens after the last cache breakpoint.
    pub input_tokens: u64,
    /// Tokens written to the cache for five minutes.
    pub cache_write_5m_tokens: u64,
    /// Tokens written to the cache for one hour.
    pub cache_write_1h_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Billed output, thinking included.
    pub output_tokens: u64,
    /// Searches of the web, billed one by one.
    pub web_searches: u64,
    /// At which rate it was served.
    pub tier: Tier,
    /// Where it was computed.
    pub geo: Geo,
    /// How fast it was served.
    pub speed: Speed,
}

impl Usage {
    /// Tokens written to the cache, for however long.
    #[must_use]
    pub const fn cache_write_tokens(&self) -> u64 {
        self.cache_write_5m_tokens
            .saturating_add(self.cache_write_1h_tokens)
    }
}

/// At which rate an answer was served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tier {
    /// The list price; what an answer that does not say was served at.
    #[default]
    Standard,
    /// Capacity that was bought before.
    Priority,
    /// Half the list price: the answer came in a batch.
    Batch,
}

impl Tier {
    /// The word of the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Priority => "priority",
            Self::Batch => "batch",
        }
    }
}

/// Where an answer was computed, as far as the price depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Geo {
    /// Anywhere, at the list price.
    #[default]
    Anywhere,
    /// In the United States, which costs a tenth more.
    Us,
}

impl Geo {
    /// The word of the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anywhere => "global",
            Self::Us => "us",
        }
    }
}

/// How fast an answer was served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Speed {
    /// At the list price.
    #[default]
    Standard,
    /// At about twice the list price.
    Fast,
}

impl Speed {
    /// The word of the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Fast => "fast",
        }
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(more.input_tokens),
            cache_write_5m_tokens: self
                .cache_write_5m_tokens
                .saturating_add(more.cache_write_5m_tokens),
            cache_write_1h_tokens: self
                .cache_write_1h_tokens
                .saturating_add(more.cache_write_1h_tokens),
            cache_read_tokens: self
                .cache_read_tokens
                .saturating_add(more.cache_read_tokens),
            output_tokens: self.output_tokens.saturating_add(more.output_tokens),
            web_searches: self.web_searches.saturating_add(more.web_searches),
            tier: shared(self.tier, more.tier),
            geo: shared(self.geo, more.geo),
            speed: shared(self.speed, more.speed),
        }
    }
}

/// What a sum says of its parts: what they have in common, and else what stands for the list price.
fn shared<T: PartialEq + Default + Copy>(one: T, other: T) -> T {
    if one == other { one } else { T::default() }
}

/// A reply that held a whole [`Answer`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The message.
    pub answer: Answer,
    /// The HTTP status, 200 in practice.
    pub status: u16,
    /// The `request-id` header.
    pub request_id: Option<String>,
    /// From the start of the attempt to the first byte of the body.
    pub first_byte: Option<Duration>,
}

/// How an attempt failed to bring a whole [`Answer`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendFailure {
    /// What broke.
    pub kind: FailureKind,
    /// The HTTP status, if one arrived.
    pub status: Option<u16>,
    /// `error.type` of the body or of the stream's error event.
    pub error_type: Option<String>,
    /// `error.details.error_code`.
    pub error_code: Option<String>,
    /// A short excerpt, cleaned of control characters and of secrets.
    pub message: String,
    /// The `request-id` header, or `request_id` of the body.
    pub request_id: Option<String>,
    /// The wait that the server asked for.
    pub hint: Option<Hint>,
    /// The `x-should-retry` header.
    pub should_retry: Option<ShouldRetry>,
    /// From the start of the attempt to the first byte of the body.
    pub first_byte: Option<Duration>,
    /// What was counted before it broke; it may be billed.
    pub usage: Option<Usage>,
}

impl SendFailure {
    /// A failure with a kind and a message, and nothing from a server.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            status: None,
            error_type: None,
            error_code: None,
            message: message.into(),
            request_id: None,
            hint: None,
            should_retry: None,
            first_byte: None,
            usage: None,
        }
    }
}

/// What broke in an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// No connection: refused, unresolved, TLS, or over the connect timeout.
    Connect,
    /// No first byte in time.
    FirstByteTimeout,
    /// Silence between two bytes for too long.
    IdleTimeout,
    /// The whole attempt took too long.
    AttemptTimeout,
    /// The connection broke before the answer was whole.
    Cut,
    /// An HTTP status that is no success.
    Status,
    /// An `error` event inside a stream.
    StreamError,
    /// Status 200 and no Message.
    NotAMessage,
    /// More bytes than the limit allows.
    TooLarge,
    /// A redirect: the base URL is wrong.
    Redirect,
    /// The request cannot be built: the key's secret or a field is unusable.
    Unsendable,
}

/// The wait that the server asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// Counted from the arrival of the reply.
    After(Duration),
    /// Not before this instant.
    At(DateTime<Utc>),
}

impl FailureKind {
    /// The word used in the history where the upstream gave none.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::FirstByteTimeout => "first_byte_timeout",
            Self::IdleTimeout => "idle_timeout",
            Self::AttemptTimeout => "attempt_timeout",
            Self::Cut => "cut",
            Self::Status => "status",
            Self::StreamError => "stream_error",
            Self::NotAMessage => "not_a_message",
            Self::TooLarge => "too_large",
            Self::Redirect => "redirect",
            Self::Unsendable => "unsendable",
        }
    }
}

/// The `x-should-retry` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShouldRetry {
    /// `true`.
    Yes,
    /// `false`.
    No,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_has_all_counters_and_the_price_words_that_its_parts_share() {
        let part = |tier| Usage {
            input_tokens: 1,
            cache_write_5m_tokens: 2,
            cache_write_1h_tokens: 3,
            cache_read_tokens: 4,
            output_tokens: 5,
            web_searches: 6,
            tier,
            geo: Geo::Us,
            speed: Speed::Fast,
        };
        let sum = part(Tier::Batch) + part(Tier::Batch);
        let expected = Usage {
            input_tokens: 2,
            cache_write_5m_tokens: 4,
            cache_write_1h_tokens: 6,
            cache_read_tokens: 8,
            output_tokens: 10,
            web_searches: 12,
            ..part(Tier::Batch)
        };
        assert_eq!(sum, expected);
        let mixed = sum + part(Tier::Priority);
        assert_eq!((mixed.tier, mixed.web_searches), (Tier::Standard, 18));
    }
}
