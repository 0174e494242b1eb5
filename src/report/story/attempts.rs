//! What the upstream was asked and what it said.

use super::clock::{Face, counted, span};
use super::{About, Told};
use crate::outcome::{Attempt, AttemptEnd, Class, Run};

/// So many attempts are told one by one; of more, the first that failed.
const MOST: usize = 6;

/// A sentence for each attempt of a run; of many, the first that failed and a sum.
pub(super) fn attempts(run: &Run, face: &Face<'_>) -> Vec<Told> {
    if run.attempts.len() <= MOST {
        let told = run.attempts.iter().enumerate();
        return told
            .map(|(at, attempt)| one(run, at, attempt, face))
            .collect();
    }
    let failed = run.attempts.iter().enumerate();
    let failed: Vec<(usize, &Attempt)> = failed
        .filter(|(_, attempt)| !is_answered(attempt))
        .collect();
    let mut told = vec![sum(run, failed.len())];
    let shown = failed.iter().take(MOST);
    told.extend(shown.map(|(at, attempt)| one(run, *at, attempt, face)));
    if failed.len() > MOST {
        told.push(Told {
            about: About::Attempt,
            at: None,
            text: format!(
                "{} more without an answer; `offpeak history {} --format json` has them all.",
                failed.len() - MOST,
                run.job
            ),
        });
    }
    told
}

fn sum(run: &Run, failed: usize) -> Told {
    let text = match failed {
        0 => format!("All {} attempts were answered.", run.attempts.len()),
        _ => format!(
            "{} were made; {failed} of them brought no answer:",
            counted(run.attempts.len(), "attempt")
        ),
    };
    Told {
        about: About::Attempt,
        at: run.attempts.first().map(|attempt| attempt.started_at),
        text,
    }
}

fn is_answered(attempt: &Attempt) -> bool {
    let class = attempt.end.as_ref().and_then(|end| end.class);
    class == Some(Class::Success)
}

fn one(run: &Run, at: usize, attempt: &Attempt, face: &Face<'_>) -> Told {
    let before = run.attempts[..at]
        .iter()
        .rev()
        .find(|other| other.call == attempt.call);
    let name = match attempt.call.step {
        0 => format!("Request {} for the batch", attempt.n),
        _ => format!("Attempt {}{}", attempt.n, of_call(attempt)),
    };
    let waited = waited(attempt, before.and_then(|other| other.end.as_ref()));
    let said = match &attempt.end {
        None if run.outcome.is_none() => " is under way.".to_owned(),
        None => " has no end on record; it may have been billed.".to_owned(),
        Some(end) => said(end, attempt, face),
    };
    Told {
        about: About::Attempt,
        at: Some(attempt.started_at),
        text: format!("{name}{waited}{said}"),
    }
}

fn of_call(attempt: &Attempt) -> String {
    match attempt.call.to_string() {
        plain if plain.is_empty() => plain,
        call => format!(" of {call}"),
    }
}

/// The wait before an attempt: the server's hint is a floor under the backoff.
fn waited(attempt: &Attempt, before: Option<&AttemptEnd>) -> String {
    if attempt.n == 1 || attempt.wait.is_zero() {
        return String::new();
    }
    let hint = before.and_then(|end| end.hint);
    let why = match hint {
        Some(hint) if attempt.wait >= hint => "as the server had asked for",
        Some(_) | None => "of backoff",
    };
    format!(", after {} {why},", span(attempt.wait))
}

fn said(end: &AttemptEnd, attempt: &Attempt, face: &Face<'_>) -> String {
    let took = span(end.latency);
    let request = end.request_id.as_ref();
    let request = request.map_or_else(String::new, |id| format!(" (request `{id}`)"));
    let Some(class) = end.class else {
        return format!(" was cancelled by offpeak itself after {took}{request}.");
    };
    let kind: Vec<String> = end
        .status
        .map(|status| format!("status {status}"))
        .into_iter()
        .chain(end.error_type.as_ref().map(|kind| format!("`{kind}`")))
        .chain(end.error_code.as_ref().map(|code| format!("`{code}`")))
        .collect();
    let kind = kind.join(" ");
    match class {
        Class::Success => format!(" was answered after {took}{request}."),
        Class::Retryable | Class::Fatal => {
            let got = if kind.is_empty() {
                " failed".to_owned()
            } else {
                format!(" got {kind}")
            };
            let message = end.message.as_ref();
            let message = message.map_or_else(String::new, |text| {
                format!(": \u{201c}{}\u{201d}", text.trim_end_matches('.'))
            });
            format!(
                "{got} after {took}{request}{message}.{}",
                hint(end, attempt, face)
            )
        }
    }
}

fn hint(end: &AttemptEnd, attempt: &Attempt, face: &Face<'_>) -> String {
    let Some(hint) = end.hint else {
        return String::new();
    };
    let until = chrono::TimeDelta::from_std(end.latency + hint)
        .ok()
        .and_then(|all| attempt.started_at.checked_add_signed(all));
    let until = until.map_or_else(String::new, |at| format!(", until {}", face.at(at)));
    format!(" It asked to wait {}{until}.", span(hint))
}
