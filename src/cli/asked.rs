//! What a person's question to the API came to, where it is no answer.

use chrono::{DateTime, Utc};

use super::CliError;
use crate::answer::{FailureKind, SendFailure};
use crate::guard::{HoldCause, classify};
use crate::job::KeyId;

/// The error for a question that broke; `what` names it, such as `the models cannot be listed`.
#[must_use]
pub fn broken(key: &KeyId, what: &str, failure: &SendFailure, now: DateTime<Utc>) -> CliError {
    let status = failure.status.filter(|status| *status >= 300);
    let status = match (status, &failure.error_type) {
        (None, _) => String::new(),
        (Some(status), None) => format!("status {status}: "),
        (Some(status), Some(kind)) => format!("status {status} ({kind}): "),
    };
    let request = failure.request_id.as_ref();
    let request = request.map_or_else(String::new, |id| format!(" [{id}]"));
    CliError::Upstream {
        what: format!("key `{key}`: {what}: {status}{}{request}", failure.message),
        help: help(failure, now),
    }
}

fn help(failure: &SendFailure, now: DateTime<Utc>) -> &'static str {
    match failure.kind {
        FailureKind::Connect
        | FailureKind::FirstByteTimeout
        | FailureKind::IdleTimeout
        | FailureKind::AttemptTimeout
        | FailureKind::Cut => {
            "look at the network and at `upstream.base_url`, and ask again; nothing was changed"
        }
        FailureKind::Redirect => "nothing was sent there",
        FailureKind::NotAMessage | FailureKind::TooLarge | FailureKind::StreamError => {
            "`upstream.base_url` leads to something else than the API, or to a gateway that does not offer this"
        }
        FailureKind::Unsendable => "look at the key and at the job's fields",
        FailureKind::Status => help_for_status(failure, now),
    }
}

/// The guard reads the words of an error with care; here it only helps to say what to do.
fn help_for_status(failure: &SendFailure, now: DateTime<Utc>) -> &'static str {
    match classify(failure, now).hold.map(|hold| hold.cause) {
        Some(HoldCause::Billing) => {
            "the account has no credit, or cannot be charged: mend that in the console; runs fail there too"
        }
        Some(HoldCause::SpendCap) => {
            "a spend limit is reached: raise it in the console, or wait until it lifts"
        }
        Some(HoldCause::Authentication) => "look at the secret that `keys` names for this key",
        Some(HoldCause::Hint | HoldCause::Person) | None => match failure.status {
            Some(401 | 403) => "look at the secret that `keys` names for this key",
            Some(404) => {
                "`offpeak models` lists what the key can use; a gateway under `upstream.base_url` may not offer this"
            }
            Some(429 | 500..) => "ask again later; nothing was changed",
            Some(_) | None => "`offpeak dry-run JOB` shows the whole request",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: u16, kind: &str, message: &str) -> String {
        let failure = SendFailure {
            status: Some(status),
            error_type: Some(kind.to_owned()),
            request_id: Some("req_1".to_owned()),
            ..SendFailure::new(FailureKind::Status, message)
        };
        broken(
            &KeyId::new("main"),
            "no count",
            &failure,
            DateTime::UNIX_EPOCH,
        )
        .to_string()
    }

    #[test]
    fn each_refusal_has_its_own_way_out() {
        for (status, kind, message, expected) in [
            (
                401,
                "authentication_error",
                "invalid x-api-key",
                "`keys` names",
            ),
            (403, "permission_error", "no", "`keys` names"),
            (402, "billing_error", "declined", "no credit"),
            (
                400,
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API.",
                "no credit",
            ),
            (404, "not_found_error", "model: m", "offpeak models"),
            (429, "rate_limit_error", "too many", "again later"),
            (529, "overloaded_error", "Overloaded", "again later"),
            (400, "invalid_request_error", "tools: no", "dry-run"),
        ] {
            let told = told(status, kind, message);
            assert!(told.contains(expected), "{told}");
            let start =
                format!("key `main`: no count: status {status} ({kind}): {message} [req_1]\n");
            assert!(told.starts_with(&start), "{told}");
        }
    }

    #[test]
    fn what_broke_on_the_way_is_told_without_a_status() {
        for (kind, expected) in [
            (FailureKind::Connect, "network"),
            (FailureKind::Redirect, "nothing was sent"),
            (FailureKind::NotAMessage, "something else than the API"),
            (FailureKind::Unsendable, "the job's fields"),
        ] {
            let failure = SendFailure::new(kind, "it broke");
            let error = broken(
                &KeyId::new("main"),
                "no list",
                &failure,
                DateTime::UNIX_EPOCH,
            );
            let told = error.to_string();
            assert!(
                told.starts_with("key `main`: no list: it broke\n"),
                "{told}"
            );
            assert!(told.contains(expected), "{told}");
        }
    }
}
