//! The story of a slot as one object.

use serde_json::{Value, json};

use crate::cli::json as twins;
use crate::outcome::Outcome;
use crate::report::{
    BatchRecord, DeliveryRecord, ItemRecord, PauseRecord, Record, Story, Sum, Work, WorkState,
};

/// The facts, and the sentences that were made of them.
pub(super) fn story(record: &Record, story: &Story) -> Value {
    let last = record.runs.last();
    let outcome = last.and_then(|run| run.outcome.as_ref());
    twins::compact(json!({
        "job": record.job.as_str(),
        "fire_at": twins::instant(record.fire_at),
        "group": last.map(|run| run.group.as_str()),
        "claimed_at": record.claimed_at.map(twins::instant),
        "outcome": outcome.map(Outcome::as_str),
        "reason": outcome.and_then(Outcome::reason),
        "gist": story.gist,
        "story": story.told.iter().map(|told| twins::compact(json!({
            "about": told.about.as_str(),
            "at": told.at.map(twins::instant),
            "text": told.text,
        }))).collect::<Vec<_>>(),
        "next": story.next.iter().map(|advice| twins::compact(json!({
            "text": advice.text,
            "command": advice.command,
        }))).collect::<Vec<_>>(),
        "runs": record.runs.iter().map(twins::run).collect::<Vec<_>>(),
        "waiting": record.works.iter().find(|work| work.state == WorkState::Waits).map(waiting),
        "merged_into": record.works.iter().find_map(|work| work.merged_into).map(twins::instant),
        "items": (!record.items.is_empty()).then(|| items(&record.items)),
        "deliveries": record.deliveries.iter().map(delivery).collect::<Vec<_>>(),
        "batches": record.batches.iter().map(batch).collect::<Vec<_>>(),
        "pauses": record.pauses.iter().map(pause).collect::<Vec<_>>(),
        "hold": record.hold.as_ref().map(|hold| twins::compact(json!({
            "group": hold.group.as_str(),
            "until": hold.until.map(twins::instant),
            "note": hold.note,
        }))),
    }))
}

fn waiting(work: &Work) -> Value {
    twins::compact(json!({
        "reason": work.reason.as_str(),
        "not_before": twins::instant(work.not_before),
        "to": work.to.map(twins::instant),
        "carries": work.carries,
    }))
}

fn items(items: &[ItemRecord]) -> Value {
    let sum = Sum::of(items);
    let list = items.iter().map(|item| {
        let outcome = item.outcome.as_ref();
        twins::compact(json!({
            "name": item.name,
            "outcome": outcome.map(Outcome::as_str),
            "reason": outcome.and_then(Outcome::reason),
            "note": item.note,
        }))
    });
    json!({
        "succeeded": sum.succeeded,
        "failed": sum.failed,
        "skipped": sum.skipped,
        "left": sum.left,
        "list": list.collect::<Vec<_>>(),
    })
}

fn delivery(owed: &DeliveryRecord) -> Value {
    twins::compact(json!({
        "item": owed.item,
        "state": owed.state.as_str(),
        "tries": owed.tries,
        "since": twins::instant(owed.since),
        "not_before": twins::instant(owed.not_before),
        "output": owed.output.as_ref().map(|path| path.display().to_string()),
        "trouble": owed.trouble,
        "ended_at": owed.ended_at.map(twins::instant),
    }))
}

fn batch(batch: &BatchRecord) -> Value {
    json!({
        "id": batch.id,
        "calls": batch.calls,
        "looks": batch.looks,
        "next_look": twins::instant(batch.look_at),
        "expires_at": twins::instant(batch.expires_at),
    })
}

fn pause(pause: &PauseRecord) -> Value {
    twins::compact(json!({
        "target": pause.target,
        "since": twins::instant(pause.since),
        "until": pause.until.map(twins::instant),
        "reason": pause.reason,
        "on": pause.is_on,
    }))
}
