//! What one run of a slot did: how it began, what it sent, how it ended, where its work went.

use chrono::{DateTime, TimeDelta, Utc};

use super::attempts::attempts;
use super::clock::{Face, counted, span};
use super::pieces::batches;
use super::words;
use super::{About, Knowledge, Record, Told};
use crate::outcome::{FailReason, IncompleteReason, Outcome, Run, SkipReason};
use crate::slot::Origin;

/// A slot that is claimed within a minute is on time.
const ON_TIME: TimeDelta = TimeDelta::minutes(1);

/// Everything that a run did, in order.
pub(super) fn run(record: &Record, at: usize, knowledge: Knowledge, face: &Face<'_>) -> Vec<Told> {
    let Some(run) = record.runs.get(at) else {
        return Vec::new();
    };
    let mut told = Vec::new();
    told.extend(began(record, at, run, face));
    told.extend(attempts(run, face));
    told.extend(batches(record, run, face));
    let is_out = run.outcome.is_none() && record.batches.iter().any(|it| it.run == run.id);
    if !is_out {
        told.push(ended(record, run, face));
    }
    told.extend(deferred(run, knowledge, face));
    told
}

fn began(record: &Record, at: usize, run: &Run, face: &Face<'_>) -> Vec<Told> {
    let mut told = Vec::new();
    let before = at.checked_sub(1).and_then(|at| record.runs.get(at));
    if let (0, Some(claimed_at), Origin::Scheduled) = (at, record.claimed_at, run.origin) {
        told.push(claimed(record.fire_at, claimed_at));
    }
    let is_unsent = run.attempts.is_empty() && run.finished_at == Some(run.started_at);
    if is_unsent {
        return told;
    }
    let late = (run.started_at - record.fire_at)
        .to_std()
        .unwrap_or_default();
    let model = match before {
        Some(before) if before.model == run.model => String::new(),
        Some(_) | None => format!(", with the model {}", run.model),
    };
    let text = match run.origin {
        Origin::Scheduled => format!("The run began{model}."),
        Origin::Manual => format!("A person asked for this run, by `offpeak run`{model}."),
        Origin::CatchUp => format!(
            "The work was caught up, {} after its slot{model}.",
            span(late)
        ),
        Origin::Deferred if before.is_some_and(is_over) => {
            format!(
                "A person had asked for the work again (`offpeak retry`), and it was done anew{model}."
            )
        }
        Origin::Deferred => {
            let slot = before.and_then(|before| before.deferred.as_ref()?.to);
            let slot = slot.filter(|to| *to <= run.started_at);
            let slot =
                slot.map_or_else(String::new, |to| format!(" in the slot of {}", face.at(to)));
            format!(
                "The deferred work went on{slot}, {} after its own{model}.",
                span(late)
            )
        }
    };
    told.push(Told {
        about: About::Run,
        at: Some(run.started_at),
        text,
    });
    told
}

/// Whether nothing was to come after a run, unless a person asked for it.
fn is_over(run: &Run) -> bool {
    run.outcome.is_some() && run.deferred.is_none()
}

fn claimed(fire_at: DateTime<Utc>, claimed_at: DateTime<Utc>) -> Told {
    let late = claimed_at - fire_at;
    let text = if late <= ON_TIME {
        "The slot was claimed on time.".to_owned()
    } else {
        format!(
            "The slot was claimed {} late: no daemon was at work at its time, or the machine slept.",
            span(late.to_std().unwrap_or_default())
        )
    };
    Told {
        about: About::Claim,
        at: Some(claimed_at),
        text,
    }
}

fn ended(record: &Record, run: &Run, face: &Face<'_>) -> Told {
    let Some(outcome) = &run.outcome else {
        return Told {
            about: About::Outcome,
            at: None,
            text: "The run has no end yet: it is under way, or a crash cut it off and the daemon's next start closes it."
                .to_owned(),
        };
    };
    let about = match outcome {
        Outcome::Yielded(_) => About::Gate,
        Outcome::Succeeded
        | Outcome::Incomplete(_)
        | Outcome::Exhausted
        | Outcome::Failed(_)
        | Outcome::Skipped(_) => About::Outcome,
    };
    let mut text = match outcome {
        Outcome::Succeeded => succeeded(run),
        Outcome::Incomplete(_) | Outcome::Failed(_) if !record.items.is_empty() => {
            format!("Not every item succeeded, so the run counts as {outcome}.")
        }
        Outcome::Incomplete(reason) => incomplete(*reason, run),
        Outcome::Yielded(reason) => words::gate(*reason, run, face),
        Outcome::Exhausted => exhausted(run),
        Outcome::Failed(reason) => words::failure(*reason).to_owned(),
        Outcome::Skipped(reason) => skipped(record, *reason, face),
    };
    if let Some(note) = note(run).filter(|_| !is_told_by_delivery(record, run)) {
        text = format!("{text} {note}");
    }
    Told {
        about,
        at: run.finished_at,
        text,
    }
}

fn succeeded(run: &Run) -> String {
    match &run.output {
        Some(path) => format!("The answer was complete, and went to `{}`.", path.display()),
        None if run.attempts.is_empty() && run.usage.is_none() => {
            "All that was left of the work was done.".to_owned()
        }
        None => "The answer was complete.".to_owned(),
    }
}

fn incomplete(reason: IncompleteReason, run: &Run) -> String {
    let stopped = match reason {
        IncompleteReason::Truncated | IncompleteReason::Unfinished => run.stop_reason.as_ref(),
        IncompleteReason::Refused | IncompleteReason::Empty | IncompleteReason::FailedCheck => None,
    };
    let stopped = stopped.map_or_else(String::new, |stop| format!(" (`{}`)", stop.as_str()));
    let kept = match &run.output {
        Some(path) => format!(
            "it is kept in `{}`, and a good file was not touched",
            path.display()
        ),
        None => format!(
            "it is kept in the store: `offpeak history {} --text`",
            run.job
        ),
    };
    format!("{}{stopped}; {kept}.", words::shortfall(reason))
}

fn exhausted(run: &Run) -> String {
    format!(
        "{} brought no answer, though another might: the call is exhausted.",
        counted(run.attempts.len(), "attempt")
    )
}

fn skipped(record: &Record, reason: SkipReason, face: &Face<'_>) -> String {
    let mut text = words::skipped(reason).to_owned();
    match reason {
        SkipReason::Merged => {
            let into = record.works.iter().find_map(|work| work.merged_into);
            if let Some(into) = into {
                text = format!(
                    "The slot of {} makes the same call, so the work was merged into it.",
                    face.at(into)
                );
            }
        }
        SkipReason::Paused => {
            let covers = |at: &DateTime<Utc>| record.fire_at < *at;
            let pause = record.pauses.iter().find(|pause| {
                pause.since <= record.fire_at && pause.until.as_ref().is_none_or(covers)
            });
            if let Some(pause) = pause {
                let why = pause.reason.as_ref();
                text = format!(
                    "{text} The pause of `{}` began at {}{}.",
                    pause.target,
                    face.at(pause.since),
                    why.map_or_else(String::new, |why| format!(": {why}"))
                );
            }
        }
        SkipReason::EmptyInput
        | SkipReason::Overlap
        | SkipReason::Disabled
        | SkipReason::Missed => {}
    }
    text
}

/// Whether the sentence on a delivery says what the note of its run does.
fn is_told_by_delivery(record: &Record, run: &Run) -> bool {
    let mut owed = record.deliveries.iter().filter(|owed| owed.run == run.id);
    run.outcome == Some(Outcome::Failed(FailReason::Output))
        && owed.any(|owed| owed.item.is_none() && owed.trouble.is_some())
}

/// What the run's note says that the other sentences do not.
fn note(run: &Run) -> Option<String> {
    let ends = run
        .attempts
        .iter()
        .filter_map(|attempt| attempt.end.as_ref());
    let messages: Vec<&str> = ends.filter_map(|end| end.message.as_deref()).collect();
    let is_open = run.attempts.iter().any(|attempt| attempt.end.is_none());
    let is_said = |part: &&str| {
        SAID.iter().any(|start| part.starts_with(start))
            || (is_open && OF_OPEN.iter().any(|start| part.starts_with(start)))
            || messages
                .iter()
                .any(|message| !message.is_empty() && part.contains(message))
    };
    let parts = run.note.as_deref()?.split("; ");
    let rest: Vec<&str> = parts.filter(|part| !is_said(part)).collect();
    (!rest.is_empty()).then(|| format!("({})", rest.join("; ")))
}

/// How parts of a note begin that say what the outcome, the deferral or the delivery says.
const SAID: [&str; 12] = [
    "goes on in",
    "joined with the slot of",
    "delivered on try",
    "was carried as often as",
    "is older than `defer",
    "failed to the last attempt and",
    "its job is gone",
    "the answer was cut (",
    "raise `max_tokens`",
    "the model declined",
    "the answer holds no text",
    "the model stopped with",
];

/// The same for what an attempt without an end says.
const OF_OPEN: [&str; 2] = ["cut off while attempt", "it may have been billed"];

fn deferred(run: &Run, knowledge: Knowledge, face: &Face<'_>) -> Option<Told> {
    let deferred = run.deferred.as_ref()?;
    let to = match deferred.to {
        Some(to) => format!("to the slot of {}", face.at_peaks(to)),
        None => "to the first slot that may take it".to_owned(),
    };
    let carries = match (deferred.carries, knowledge.max_carries) {
        (0, _) => String::new(),
        (carries, Some(max)) => format!(" (carry {carries} of {max})"),
        (carries, None) => format!(" (carry {carries})"),
    };
    Some(Told {
        about: About::Deferral,
        at: None,
        text: format!(
            "The work was deferred {to}, not before {}{carries}.",
            face.at(deferred.not_before)
        ),
    })
}
