//! The results of a batch: a JSON object a line, in no order.
//!
//! A line that is broken, too long or of an unknown kind is told as such and
//! loses no other.

use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::{FailureKind, SendFailure, Tier, Usage};
use crate::engine::ports::{BatchOutcome, BatchPart, BatchResult};

use super::super::failure::{Head, MAX_ERROR_BYTES, excerpt, told};
use super::super::redact::redacted;
use super::super::wire::{Message, is_object, word};

/// The most bytes of all results together: an answer for each of a hundred thousand parts must not take the memory of
/// a small machine.
pub(super) const MAX_ALL_BYTES: usize = 256 * 1024 * 1024;

/// The part's name stands near the beginning of its line, if the line is of any use.
const NAME_WITHIN: usize = 256;

/// The results as far as they have come.
pub(super) struct Results<'a> {
    max_line: usize,
    max_all: usize,
    secret: &'a SecretString,
    /// The line that the last chunk left unfinished; of one over the limit its beginning.
    line: Vec<u8>,
    place: Place,
    total: usize,
    found: Vec<BatchResult>,
    /// The first bytes, in case they are something else altogether.
    opening: Vec<u8>,
}

/// Where the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Inside,
    /// In a line that is over the limit.
    Beyond,
    /// After everything that is read.
    Full,
}

/// One line; what is missing or of another type is `None`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    #[serde(deserialize_with = "word")]
    custom_id: Option<String>,
    result: Option<Outcome>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Outcome {
    #[serde(rename = "type", deserialize_with = "word")]
    kind: Option<String>,
    message: Option<Box<RawValue>>,
    error: Value,
}

impl<'a> Results<'a> {
    /// Nothing has come; a line may have so many bytes.
    pub fn new(max_line: usize, secret: &'a SecretString) -> Self {
        Self {
            max_line,
            max_all: MAX_ALL_BYTES,
            secret,
            line: Vec::new(),
            place: Place::Inside,
            total: 0,
            found: Vec::new(),
            opening: Vec::new(),
        }
    }

    /// Takes the next bytes, cut anywhere; says whether nothing further is read.
    pub fn take(&mut self, chunk: &[u8]) -> bool {
        if self.place == Place::Full {
            return true;
        }
        let room = MAX_ERROR_BYTES - self.opening.len();
        self.opening
            .extend_from_slice(&chunk[..chunk.len().min(room)]);
        self.total = self.total.saturating_add(chunk.len());
        if self.total > self.max_all {
            self.place = Place::Full;
            self.unreadable(format!(
                "the results are over {} bytes in all; the rest is not read",
                self.max_all
            ));
            return true;
        }
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.extend(&rest[..end]);
            self.end_line();
            rest = &rest[end + 1..];
        }
        self.extend(rest);
        false
    }

    /// The results, once everything has come; the failure is boxed, as it is large.
    pub fn finish(mut self, head: &Head) -> Result<Vec<BatchResult>, Box<SendFailure>> {
        let last = self.line.trim_ascii();
        let is_cut = serde_json::from_slice::<Value>(last).is_err_and(|error| error.is_eof());
        if self.place == Place::Inside && is_cut && !last.is_empty() {
            let failure = head.failure(FailureKind::Cut, "the results end inside a line");
            return Err(Box::new(failure));
        }
        if self.place != Place::Full {
            self.end_line();
        }
        if self.found.iter().all(|result| result.name.is_none()) {
            let failure = head.not_a("list of results", &self.opening, self.secret);
            return Err(Box::new(failure));
        }
        Ok(self.found)
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.place != Place::Inside {
            return;
        }
        if self.line.len() + bytes.len() > self.max_line {
            let room = NAME_WITHIN.saturating_sub(self.line.len());
            self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
            self.line.truncate(NAME_WITHIN);
            self.line.shrink_to_fit();
            self.place = Place::Beyond;
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if self.place == Place::Beyond {
            self.place = Place::Inside;
            let message = format!(
                "the result is over {} bytes, the limit of `upstream.max_answer_bytes`",
                self.max_line
            );
            self.found.push(BatchResult {
                name: name_in(&line),
                outcome: BatchOutcome::Unreadable(message),
            });
        } else if !line.trim_ascii().is_empty() {
            let result = read(line.trim_ascii(), self.secret);
            self.found.push(result);
        }
    }

    fn unreadable(&mut self, message: String) {
        self.found.push(BatchResult {
            name: None,
            outcome: BatchOutcome::Unreadable(message),
        });
    }
}

/// Reads a whole line.
fn read(line: &[u8], secret: &SecretString) -> BatchResult {
    let unreadable = |name: Option<String>, what: &str| BatchResult {
        name,
        outcome: BatchOutcome::Unreadable(excerpt(what, secret)),
    };
    let parsed = str::from_utf8(line).map_err(|error| error.to_string());
    let parsed = parsed.and_then(|text| {
        if is_object(line) {
            serde_json::from_str::<Line>(text).map_err(|error| error.to_string())
        } else {
            Err("no object".to_owned())
        }
    });
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(problem) => return unreadable(name_in(line), &format!("no JSON result: {problem}")),
    };
    let name = parsed.custom_id.filter(|name| BatchPart::is_name(name));
    let outcome = parsed.result.unwrap_or_default();
    let outcome = match outcome.kind.as_deref() {
        Some("succeeded") => answered(outcome.message.as_deref(), secret),
        Some("errored") => BatchOutcome::Errored(errored(&outcome.error, secret)),
        Some("expired") => BatchOutcome::Expired,
        Some("canceled") => BatchOutcome::Canceled,
        Some(other) => return unreadable(name, &format!("a result of the unknown kind `{other}`")),
        None => return unreadable(name, "a result without a kind"),
    };
    BatchResult { name, outcome }
}

fn answered(message: Option<&RawValue>, secret: &SecretString) -> BatchOutcome {
    let text = message.map_or("null", RawValue::get);
    let message = Message::read(text.as_bytes()).ok();
    match message.and_then(Message::into_answer) {
        Some(mut answer) => {
            // What comes in a batch costs half, whether it says so or not.
            let tier = Tier::Batch;
            answer.usage = answer.usage.map(|usage| Usage { tier, ..usage });
            BatchOutcome::Answered(redacted(answer, secret))
        }
        None => BatchOutcome::Unreadable(excerpt(&format!("no Message: {text}"), secret)),
    }
}

/// The error of a part, which comes as a whole error body or as its inner part.
fn errored(error: &Value, secret: &SecretString) -> SendFailure {
    let failure = SendFailure::new(FailureKind::Status, "an error without a message");
    let failure = if error["error"].is_object() {
        told(failure, error, secret)
    } else {
        told(failure, &serde_json::json!({ "error": error }), secret)
    };
    SendFailure {
        status: failure.error_type.as_deref().and_then(usual_status),
        ..failure
    }
}

/// The status that the API gives with an `error.type`.
fn usual_status(error_type: &str) -> Option<u16> {
    match error_type {
        "invalid_request_error" => Some(400),
        "authentication_error" => Some(401),
        "billing_error" => Some(402),
        "permission_error" => Some(403),
        "not_found_error" => Some(404),
        "conflict_error" => Some(409),
        "request_too_large" => Some(413),
        "rate_limit_error" => Some(429),
        "api_error" => Some(500),
        "timeout_error" => Some(504),
        "overloaded_error" => Some(529),
        _ => None,
    }
}

/// The part's name in a line that is no JSON, if it stands where it should.
fn name_in(line: &[u8]) -> Option<String> {
    let start = &line[..line.len().min(NAME_WITHIN)];
    let text = start.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let (_, rest) = text.split_once("\"custom_id\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let (name, _) = rest.strip_prefix('"')?.split_once('"')?;
    BatchPart::is_name(name).then(|| name.to_owned())
}

#[cfg(test)]
mod tests;
