//! The port of message batches: many requests at half price, whose answers are collected later.

use chrono::{DateTime, Utc};

use super::Pending;
use crate::answer::{Answer, SendFailure};
use crate::job::{KeyId, Request};

/// Sends many requests at half price, to be collected later.
///
/// Each method asks once: no retry, no redirect. The timeouts are held inside, and dropping the future cancels what is
/// under way on this side only. A failure means what it means for a message, so that the guard can classify it.
pub trait Batches: Send + Sync {
    /// Hands in the parts as one batch. All of them have the same key and names of their own,
    /// [`BatchPart::is_name`]; they are at most 100,000, and 256 MB as a body. How the answer would travel otherwise
    /// counts for nothing here. A reply that is lost leaves a batch that may run and be billed.
    ///
    /// # Errors
    /// [`FailureKind::Unsendable`](crate::answer::FailureKind::Unsendable) names what of the parts breaks these bounds;
    /// nothing is sent then.
    fn submit<'a>(
        &'a self,
        parts: &'a [BatchPart],
    ) -> Pending<'a, Result<SubmittedBatch, SendFailure>>;
    /// Asks how far a batch is; `key` is the one that it was handed in with.
    fn look<'a>(
        &'a self,
        key: &'a KeyId,
        id: &'a str,
    ) -> Pending<'a, Result<BatchState, SendFailure>>;
    /// Brings the results of a batch that has ended, in no order: at most one for each part, if the server keeps to its
    /// word. They can be brought again for 29 days.
    ///
    /// What cannot be read is one [`BatchOutcome::Unreadable`] and loses nothing else; a connection that breaks fails
    /// the whole, as a result that did not come must not count as missing.
    fn collect<'a>(
        &'a self,
        key: &'a KeyId,
        batch: &'a BatchState,
    ) -> Pending<'a, Result<Vec<BatchResult>, SendFailure>>;
    /// Asks that a batch end; what is answered already stays so, and its results can be collected once it has ended.
    fn cancel<'a>(
        &'a self,
        key: &'a KeyId,
        id: &'a str,
    ) -> Pending<'a, Result<BatchState, SendFailure>>;
}

/// One request of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchPart {
    /// What its result is known by, unique within the batch; see [`BatchPart::is_name`].
    pub name: String,
    /// What to send.
    pub request: Request,
}

impl BatchPart {
    /// Whether a text can name a part: 1 to 64 of the ASCII letters and digits, `-` and `_`.
    #[must_use]
    pub fn is_name(text: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (1..=64).contains(&text.len()) && text.chars().all(is_plain)
    }
}

/// A batch that was taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedBatch {
    /// The server's name for it.
    pub id: String,
    /// When parts without an answer expire; `None` if the server does not say.
    pub expires_at: Option<DateTime<Utc>>,
    /// The `request-id` header.
    pub request_id: Option<String>,
}

/// How far a batch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchState {
    /// The server's name for it.
    pub id: String,
    /// Whether there are results.
    pub stage: BatchStage,
    /// Where the results are, as the server says; [`Batches::collect`] follows it only to the place that the key is for.
    pub results_url: Option<String>,
}

/// Whether a batch has results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchStage {
    /// Not yet.
    Processing,
    /// Not yet: it was asked to end.
    Canceling,
    /// They can be collected.
    Ended,
    /// A word that this version does not know, kept as it came; not yet.
    Other(String),
}

/// What became of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchResult {
    /// The part; `None` if the result does not even say that.
    pub name: Option<String>,
    /// What became of it.
    pub outcome: BatchOutcome,
}

/// What became of one part of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchOutcome {
    /// It was answered, at half price.
    Answered(Answer),
    /// It was refused or failed, which is not billed; with a status if the error's type has a usual one.
    Errored(SendFailure),
    /// The batch ran out of time before its turn came; not billed.
    Expired,
    /// The batch was cancelled before its turn came; not billed.
    Canceled,
    /// The result is of no known kind, broken, or too large: what was found, as a sentence. It may have been billed.
    Unreadable(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        let longest = "a".repeat(64);
        for name in ["a", "A-9_z", longest.as_str()] {
            assert!(BatchPart::is_name(name), "{name}");
        }
        let over = "a".repeat(65);
        for text in ["", "a b", "a/b", "ä", "a.md", over.as_str()] {
            assert!(!BatchPart::is_name(text), "{text}");
        }
    }
}
