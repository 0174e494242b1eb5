//! Turns the engine's notices into log lines.

use tracing::{error, info, warn};

use crate::engine::Notice;
use crate::engine::ports::{After, Delivery, DeliveryEnd, Fate, Finish};
use crate::outcome::{Attempt, Class, Outcome};
use crate::slot::Slot;

/// Writes one notice to the log.
pub fn write(notice: &Notice) {
    match notice {
        Notice::Planned { jobs, next } => {
            let next_at = next.as_ref().map(|entry| entry.fire_at.to_rfc3339());
            let next_job = next
                .as_ref()
                .and_then(|entry| entry.job.as_ref().map(ToString::to_string));
            info!(jobs, next_at, next_job, "plan stands");
        }
        Notice::Started {
            slot,
            run,
            origin,
            late,
        } => {
            let late_ms = u64::try_from(late.as_millis()).unwrap_or(u64::MAX);
            info!(job = %slot.job, fire_at = %slot.fire_at.to_rfc3339(), run = run.0, %origin, late_ms, "run started");
        }
        Notice::Attempted { slot, attempt } => attempted(slot, attempt),
        Notice::Ended { slot, finish } => ended(slot, finish),
        Notice::Unrecorded { slot, finish } => unrecorded(slot, finish),
        Notice::Recorded { slot, fate } => recorded(slot, fate),
        Notice::Recovered { run } => {
            let (job, note) = (run.job.as_str(), run.note.as_deref());
            let outcome = run.outcome.as_ref().map(Outcome::as_str);
            warn!(job, fire_at = %run.fire_at.to_rfc3339(), run = run.id.0, outcome, note, "a run that was cut off is closed");
        }
        Notice::Redelivered { delivery, end, .. } => redelivered(delivery, end),
        Notice::SteppedBack { from, to } => {
            warn!(from = %from.to_rfc3339(), to = %to.to_rfc3339(), "the clock stepped back; the new time holds");
        }
        Notice::ClockUnset { now } => {
            warn!(now = %now.to_rfc3339(), "the clock shows a time before 2026-01-01; nothing is due until it is set");
        }
        Notice::SpanSkipped {
            from,
            to,
            schedules,
            most,
        } => {
            warn!(from = %from.to_rfc3339(), to = %to.to_rfc3339(), schedules, most,
                "the clock jumped ahead; only the latest missed slots of these schedules are recorded");
        }
        Notice::ZonesChanged {
            zones,
            again,
            behind,
        } => {
            warn!(
                zones = zones.join(", "),
                again, behind, "zone data has changed; what is ahead goes by it"
            );
        }
        Notice::StoreFailed { message } => {
            // Not a field `message`: that is the line's own name for its text.
            error!(
                error = message,
                "the store does not work; slots wait, nothing is sent"
            );
        }
        Notice::StoreWorks { since, failures } => {
            warn!(since = %since.to_rfc3339(), failures, "the store works again; what waited goes on");
        }
        Notice::Draining { running } => info!(running, "stopping; no new slots"),
    }
}

fn attempted(slot: &Slot, attempt: &Attempt) {
    let Some(end) = &attempt.end else { return };
    let (job, n) = (slot.job.as_str(), attempt.n);
    let call = Some(attempt.call.to_string()).filter(|call| !call.is_empty());
    let latency_ms = u64::try_from(end.latency.as_millis()).unwrap_or(u64::MAX);
    let request_id = end.request_id.as_deref();
    let (status, error_type) = (end.status, end.error_type.as_deref());
    match end.class {
        Some(Class::Success) => info!(
            job,
            call, n, status, latency_ms, request_id, "attempt answered"
        ),
        Some(Class::Retryable | Class::Fatal) => {
            let error = end.message.as_deref();
            warn!(
                job,
                call, n, status, error_type, latency_ms, request_id, error, "attempt failed"
            );
        }
        None => warn!(
            job,
            n, latency_ms, "attempt cancelled; it may have been billed"
        ),
    }
}

fn ended(slot: &Slot, finish: &Finish) {
    let (job, fire_at) = (slot.job.as_str(), slot.fire_at.to_rfc3339());
    let (outcome, reason) = (finish.outcome.as_str(), finish.outcome.reason());
    let note = finish.note.as_deref();
    let output = finish
        .output
        .as_ref()
        .map(|path| path.display().to_string());
    match &finish.outcome {
        Outcome::Succeeded | Outcome::Skipped(_) => {
            info!(job, fire_at, outcome, reason, output, note, "run ended");
        }
        Outcome::Yielded(_) | Outcome::Incomplete(_) | Outcome::Exhausted => {
            let to = finish
                .deferral
                .as_ref()
                .and_then(|deferral| deferral.to)
                .map(|to| to.to_rfc3339());
            warn!(
                job,
                fire_at,
                outcome,
                reason,
                deferred_to = to,
                note,
                "run ended"
            );
        }
        Outcome::Failed(_) => error!(job, fire_at, outcome, reason, note, "run ended"),
    }
}

fn unrecorded(slot: &Slot, finish: &Finish) {
    let output = finish
        .output
        .as_ref()
        .map(|path| path.display().to_string());
    let (outcome, note) = (finish.outcome.to_string(), finish.note.as_deref());
    error!(job = %slot.job, fire_at = %slot.fire_at.to_rfc3339(), run = finish.run.0, outcome, output, note,
        "an answer came and the store does not know it; its run counts as interrupted");
}

fn redelivered(delivery: &Delivery, end: &DeliveryEnd) {
    let (job, fire_at) = (
        delivery.slot.job.as_str(),
        delivery.slot.fire_at.to_rfc3339(),
    );
    let item = delivery.item.as_ref().map(|item| item.name.as_str());
    let tries = delivery.tries.saturating_add(1);
    let output = end.output.as_ref().map(|path| path.display().to_string());
    match &end.then {
        After::Done => info!(job, fire_at, item, tries, output, "answer delivered"),
        After::Again(at, error) => {
            let next = at.to_rfc3339();
            warn!(
                job,
                fire_at, item, tries, next, error, "answer not delivered yet"
            );
        }
        After::GiveUp(error) => error!(
            job,
            fire_at, item, tries, error, "answer not delivered; it is left in the store"
        ),
    }
}

fn recorded(slot: &Slot, fate: &Fate) {
    let (job, fire_at) = (slot.job.as_str(), slot.fire_at.to_rfc3339());
    match fate {
        Fate::Fire => {}
        Fate::Skip(reason) => info!(job, fire_at, %reason, "slot skipped"),
        Fate::CatchUp(deferral) => {
            let to = deferral.to.map(|to| to.to_rfc3339());
            warn!(
                job,
                fire_at,
                deferred_to = to,
                "slot missed; its work is caught up"
            );
        }
    }
}
