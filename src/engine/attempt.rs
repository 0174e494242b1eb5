//! How an attempt ended, in the words of the history.

use std::time::Duration;

use crate::answer::{FailureKind, Reply, SendFailure};
use crate::guard::Verdict;
use crate::outcome::AttemptEnd;

/// An attempt that brought an answer.
pub(super) fn answered(reply: &Reply, verdict: &Verdict, latency: Duration) -> AttemptEnd {
    AttemptEnd {
        first_byte: reply.first_byte,
        status: Some(reply.status),
        class: Some(verdict.class),
        request_id: reply.request_id.clone(),
        ..blank(latency)
    }
}

/// An attempt that failed by itself.
pub(super) fn failed(failure: &SendFailure, verdict: &Verdict, latency: Duration) -> AttemptEnd {
    let own_word = || kind_word(failure.kind).map(str::to_owned);
    AttemptEnd {
        first_byte: failure.first_byte,
        status: failure.status,
        class: Some(verdict.class),
        error_type: failure.error_type.clone().or_else(own_word),
        error_code: failure.error_code.clone(),
        request_id: failure.request_id.clone(),
        hint: verdict.hint,
        message: Some(failure.message.clone()),
        usage: failure.usage,
        ..blank(latency)
    }
}

/// An attempt that the stop signal cut off.
pub(super) fn cancelled(latency: Duration) -> AttemptEnd {
    AttemptEnd {
        error_type: Some("cancelled".to_owned()),
        message: Some("cancelled by the stop signal; it may have been billed".to_owned()),
        ..blank(latency)
    }
}

/// What a person reads about a failed attempt.
pub(super) fn trouble(failure: &SendFailure) -> String {
    let status = failure.status.map(|status| format!("status {status}"));
    let word = failure
        .error_code
        .as_deref()
        .or(failure.error_type.as_deref());
    let word = word.or_else(|| kind_word(failure.kind)).map(str::to_owned);
    let head: Vec<String> = status.into_iter().chain(word).collect();
    match (head.is_empty(), failure.message.is_empty()) {
        (true, _) => failure.message.clone(),
        (false, true) => head.join(" "),
        (false, false) => format!("{}: {}", head.join(" "), failure.message),
    }
}

fn blank(latency: Duration) -> AttemptEnd {
    AttemptEnd {
        latency,
        first_byte: None,
        status: None,
        class: None,
        error_type: None,
        error_code: None,
        request_id: None,
        hint: None,
        message: None,
        usage: None,
    }
}

/// Our own word for what broke; `None` where the status says it.
const fn kind_word(kind: FailureKind) -> Option<&'static str> {
    match kind {
        FailureKind::Connect => Some("connect"),
        FailureKind::FirstByteTimeout => Some("first_byte_timeout"),
        FailureKind::IdleTimeout => Some("idle_timeout"),
        FailureKind::AttemptTimeout => Some("attempt_timeout"),
        FailureKind::Cut => Some("cut"),
        FailureKind::Status => None,
        FailureKind::StreamError => Some("stream_error"),
        FailureKind::NotAMessage => Some("not_a_message"),
        FailureKind::TooLarge => Some("too_large"),
        FailureKind::Redirect => Some("redirect"),
        FailureKind::Unsendable => Some("unsendable"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16, error_type: Option<&str>, message: &str) -> SendFailure {
        SendFailure {
            status: Some(status),
            error_type: error_type.map(str::to_owned),
            ..SendFailure::new(FailureKind::Status, message)
        }
    }

    #[test]
    fn trouble_names_status_and_type_before_the_message() {
        let failure = status(529, Some("overloaded_error"), "Overloaded");
        assert_eq!(trouble(&failure), "status 529 overloaded_error: Overloaded");
        assert_eq!(trouble(&status(503, None, "")), "status 503");
    }

    #[test]
    fn a_failure_of_the_transport_goes_by_our_own_word() {
        let failure = SendFailure::new(FailureKind::Cut, "connection reset");
        assert_eq!(trouble(&failure), "cut: connection reset");
        let verdict = crate::guard::classify(&failure, chrono::DateTime::UNIX_EPOCH);
        let end = failed(&failure, &verdict, Duration::from_secs(1));
        assert_eq!(end.error_type.as_deref(), Some("cut"));
    }

    #[test]
    fn the_word_of_the_api_goes_before_our_own() {
        let mut failure = status(400, Some("invalid_request_error"), "no such model");
        failure.kind = FailureKind::StreamError;
        let verdict = crate::guard::classify(&failure, chrono::DateTime::UNIX_EPOCH);
        let end = failed(&failure, &verdict, Duration::from_secs(1));
        assert_eq!(end.error_type.as_deref(), Some("invalid_request_error"));
    }

    #[test]
    fn what_was_counted_before_a_cut_is_kept() {
        let usage = crate::answer::Usage {
            input_tokens: 900,
            output_tokens: 3,
            ..crate::answer::Usage::default()
        };
        let failure = SendFailure {
            usage: Some(usage),
            ..SendFailure::new(FailureKind::Cut, "connection reset")
        };
        let verdict = crate::guard::classify(&failure, chrono::DateTime::UNIX_EPOCH);
        let end = failed(&failure, &verdict, Duration::from_secs(1));
        assert_eq!(end.usage, Some(usage));
    }

    #[test]
    fn an_attempt_that_we_cancelled_has_no_class() {
        assert_eq!(cancelled(Duration::from_secs(3)).class, None);
    }
}
