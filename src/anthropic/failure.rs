//! Turns a reply that is no answer into a [`SendFailure`].
//!
//! Error bodies may be JSON of our shape, of another shape, HTML, empty, cut or
//! huge. Whatever comes, the status is kept with a short clean excerpt; what
//! the failure means is the guard's part.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use secrecy::SecretString;
use serde_json::Value;

use crate::answer::{FailureKind, Hint, SendFailure, ShouldRetry};
use crate::guard::hint;

use super::redact::redact;

/// No more of an error body is read.
pub const MAX_ERROR_BYTES: usize = 64 * 1024;

/// The longest excerpt, in characters.
const MAX_EXCERPT: usize = 200;

/// The longest word (`error.type`, `request-id`) that is kept, in characters.
pub(super) const MAX_WORD: usize = 100;

/// What status and headers say.
#[derive(Debug)]
pub struct Head {
    /// The status.
    pub status: u16,
    /// What kind of body follows.
    pub media: Media,
    request_id: Option<String>,
    hint: Option<Hint>,
    should_retry: Option<ShouldRetry>,
    location: Option<String>,
}

/// What kind of body follows, by `content-type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// `text/event-stream`.
    EventStream,
    /// The header is missing.
    Unsaid,
    /// Anything else.
    Other,
}

impl Head {
    /// Reads the headers that arrived at this instant; any of them may be missing or malformed.
    #[must_use]
    pub fn read(
        status: u16,
        headers: &HeaderMap,
        now: DateTime<Utc>,
        secret: &SecretString,
    ) -> Self {
        let text = |name: &str| {
            headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::trim)
        };
        Self {
            status,
            media: match text(CONTENT_TYPE.as_str()) {
                None | Some("") => Media::Unsaid,
                Some(kind) if kind.to_ascii_lowercase().starts_with("text/event-stream") => {
                    Media::EventStream
                }
                Some(_) => Media::Other,
            },
            request_id: text("request-id")
                .filter(|id| !id.is_empty())
                .map(|id| tidy(&redact(id, secret), MAX_WORD)),
            hint: hint::read(text("retry-after-ms"), text("retry-after"), now),
            should_retry: match text("x-should-retry") {
                Some(word) if word.eq_ignore_ascii_case("true") => Some(ShouldRetry::Yes),
                Some(word) if word.eq_ignore_ascii_case("false") => Some(ShouldRetry::No),
                Some(_) | None => None,
            },
            location: text(LOCATION.as_str()).map(str::to_owned),
        }
    }

    /// The `request-id`.
    #[must_use]
    pub fn request_id(&self) -> Option<String> {
        self.request_id.clone()
    }

    /// A failure of this kind with what the headers say.
    #[must_use]
    pub fn failure(&self, kind: FailureKind, message: impl Into<String>) -> SendFailure {
        SendFailure {
            status: Some(self.status),
            request_id: self.request_id.clone(),
            hint: self.hint,
            should_retry: self.should_retry,
            ..SendFailure::new(kind, message)
        }
    }

    /// A redirect: followed, it would carry the key along.
    #[must_use]
    pub fn redirect(&self, secret: &SecretString) -> SendFailure {
        let to = self
            .location
            .as_deref()
            .map_or(Cow::Borrowed("nowhere"), |place| {
                Cow::Owned(excerpt(place, secret))
            });
        let message = format!(
            "redirected to {to}, which would take the key along; set `upstream.base_url` to the address that answers"
        );
        self.failure(FailureKind::Redirect, message)
    }

    /// A status that is no success, with the first [`MAX_ERROR_BYTES`] of its body.
    #[must_use]
    pub fn refused(&self, body: &[u8], secret: &SecretString) -> SendFailure {
        let seen = seen(body, secret);
        let failure = if seen.is_empty() {
            let message = format!("status {} with an empty body", self.status);
            self.failure(FailureKind::Status, message)
        } else {
            self.failure(FailureKind::Status, seen)
        };
        told_by(failure, body, secret)
    }

    /// A success with a body that is no Message.
    #[must_use]
    pub fn not_a_message(&self, body: &[u8], secret: &SecretString) -> SendFailure {
        self.not_a("Message", body, secret)
    }

    /// A success with a body that is not what was asked for, such as a Message.
    #[must_use]
    pub fn not_a(&self, what: &str, body: &[u8], secret: &SecretString) -> SendFailure {
        let seen = seen(body, secret);
        let message = if seen.is_empty() {
            format!("an empty body where a {what} was expected")
        } else {
            format!("no {what}: {}", tidy(&seen, MAX_EXCERPT - 20))
        };
        told_by(
            self.failure(FailureKind::NotAMessage, message),
            body,
            secret,
        )
    }

    /// An `error` event inside a stream.
    #[must_use]
    pub fn stream_error(&self, data: &Value, secret: &SecretString) -> SendFailure {
        let failure = self.failure(
            FailureKind::StreamError,
            "an `error` event without a message",
        );
        told(failure, data, secret)
    }
}

/// The beginning of a body, clean.
fn seen(body: &[u8], secret: &SecretString) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(MAX_ERROR_BYTES)]);
    excerpt(&text, secret)
}

/// Adds what a body says about itself, if it is JSON.
fn told_by(failure: SendFailure, body: &[u8], secret: &SecretString) -> SendFailure {
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => told(failure, &value, secret),
        Err(_) => failure,
    }
}

/// Adds what an error body or event says about itself, in our shape or in that of a gateway.
pub(super) fn told(mut failure: SendFailure, body: &Value, secret: &SecretString) -> SendFailure {
    let error = &body["error"];
    let word = |value: &Value| {
        value
            .as_str()
            .filter(|text| !text.is_empty())
            .map(|text| tidy(&redact(text, secret), MAX_WORD))
    };
    failure.error_type = word(&error["type"]);
    failure.error_code = word(&error["details"]["error_code"]);
    failure.request_id = failure.request_id.or_else(|| word(&body["request_id"]));
    let said = [&error["message"], error, &body["message"], &body["detail"]];
    if let Some(message) = said
        .into_iter()
        .find_map(Value::as_str)
        .filter(|text| !text.trim().is_empty())
    {
        failure.message = excerpt(message, secret);
    }
    failure
}

/// A short text on one line, without markup, control characters or secrets.
pub(super) fn excerpt(text: &str, secret: &SecretString) -> String {
    let clean = redact(text, secret);
    let start = clean.trim_start().trim_start_matches('\u{feff}');
    let text = if start.starts_with('<') {
        Cow::Owned(without_markup(start))
    } else {
        Cow::Borrowed(start)
    };
    tidy(&text, MAX_EXCERPT)
}

/// The title of an HTML page, or else its text.
fn without_markup(html: &str) -> String {
    // ASCII case folding keeps every byte in its place.
    let folded = html.to_ascii_lowercase();
    if let Some(open) = folded.find("<title") {
        let from = folded[open..]
            .find('>')
            .map_or(html.len(), |end| open + end + 1);
        let to = folded[from..]
            .find("</")
            .map_or(html.len(), |end| from + end);
        if !html[from..to].trim().is_empty() {
            return html[from..to].to_owned();
        }
    }
    let mut text = String::with_capacity(html.len());
    for piece in html.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, after)| after));
        text.push(' ');
    }
    text
}

/// Joins the words with single blanks and cuts at so many characters.
pub(super) fn tidy(text: &str, max_chars: usize) -> String {
    let mut line = String::new();
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > max_chars * 4 {
            break;
        }
    }
    if let Some((cut, _)) = line.char_indices().nth(max_chars) {
        let keep = line[..cut]
            .char_indices()
            .next_back()
            .map_or(0, |(last, _)| last);
        line.truncate(keep);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests;
