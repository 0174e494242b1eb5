//! What `status` says of answers that are owed and of batches that are out.

use std::io::Write;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{times, twins};
use crate::engine::ports::{Delivery, OpenBatch};
use crate::schedule::Zone;

/// A line for each answer that waits to be delivered, and for each batch whose results are still to come.
pub fn lines(
    owed: &[Delivery],
    batches: &[OpenBatch],
    (zone, now): (&Zone, DateTime<Utc>),
    out: &mut dyn Write,
) -> std::io::Result<()> {
    for delivery in owed {
        let item = delivery
            .item
            .as_ref()
            .map(|item| format!(" `{}`", item.name));
        writeln!(
            out,
            "owed      {:<20} due {}{}, delivered in vain {}: next try {}",
            delivery.slot.job,
            times::short(zone, now, delivery.slot.fire_at),
            item.unwrap_or_default(),
            counted(u64::from(delivery.tries), "time"),
            times::distance(now, delivery.not_before),
        )?;
    }
    for open in batches {
        writeln!(
            out,
            "batch     {:<20} due {}, {} in {}: next look {}",
            open.slot.job,
            times::short(zone, now, open.slot.fire_at),
            counted(open.batch.parts.len() as u64, "call"),
            open.batch.id,
            times::distance(now, open.batch.look_at),
        )?;
    }
    Ok(())
}

/// The answers that are owed, as JSON.
pub fn owed(owed: &[Delivery]) -> Vec<Value> {
    let one = |delivery: &Delivery| {
        json!({
            "job": delivery.slot.job.as_str(),
            "fire_at": twins::instant(delivery.slot.fire_at),
            "item": delivery.item.as_ref().map(|item| item.name.as_str()),
            "tries": delivery.tries,
            "not_before": twins::instant(delivery.not_before),
        })
    };
    owed.iter().map(one).collect()
}

/// The batches that are out, as JSON.
pub fn batches(batches: &[OpenBatch]) -> Vec<Value> {
    let one = |open: &OpenBatch| {
        json!({
            "job": open.slot.job.as_str(),
            "fire_at": twins::instant(open.slot.fire_at),
            "id": open.batch.id,
            "calls": open.batch.parts.len(),
            "looks": open.looks,
            "next_look": twins::instant(open.batch.look_at),
            "expires_at": twins::instant(open.batch.expires_at),
        })
    };
    batches.iter().map(one).collect()
}

fn counted(number: u64, word: &str) -> String {
    match number {
        1 => format!("1 {word}"),
        _ => format!("{number} {word}s"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::answer::{Answer, StopReason};
    use crate::engine::ports::HandedIn;
    use crate::job::{JobId, KeyId};
    use crate::outcome::RunId;
    use crate::schedule::Zones;
    use crate::slot::{Origin, Slot};

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn slot() -> Slot {
        Slot {
            fire_at: at("2026-12-01T20:00:00Z"),
            job: JobId::new("digest"),
        }
    }

    fn delivery() -> Delivery {
        Delivery {
            id: 1,
            run: RunId(1),
            slot: slot(),
            item: None,
            answer: Answer {
                id: "msg_1".to_owned(),
                model: "claude-sonnet-5-5".to_owned(),
                text: "text".to_owned(),
                stop_reason: StopReason::EndTurn,
                usage: None,
                paused: None,
                tool_errors: Vec::new(),
            },
            tries: 1,
            placed: 0,
            newer: Vec::new(),
            since: at("2026-12-01T20:00:09Z"),
            not_before: at("2026-12-01T20:05:00Z"),
        }
    }

    fn batch() -> OpenBatch {
        OpenBatch {
            run: RunId(2),
            slot: slot(),
            origin: Origin::Scheduled,
            carried: None,
            looks: 3,
            batch: HandedIn {
                id: "msgbatch_7".to_owned(),
                key: KeyId::new("main"),
                expires_at: at("2026-12-02T20:00:00Z"),
                look_at: at("2026-12-01T20:10:00Z"),
                parts: vec![Some(Arc::from("a.md")), Some(Arc::from("b.md"))],
            },
        }
    }

    #[test]
    fn what_waits_outside_the_slots_has_its_lines() {
        let zone = Zones::bundled().get("Asia/Tokyo").unwrap();
        let now = at("2026-12-01T20:04:00Z");
        let mut out = Vec::new();
        lines(&[delivery()], &[batch()], (&zone, now), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let mut lines = text.lines();
        let owed = lines.next().unwrap();
        assert!(owed.starts_with("owed      digest"), "{owed}");
        assert!(
            owed.ends_with("delivered in vain 1 time: next try in 1 min"),
            "{owed}"
        );
        let batch = lines.next().unwrap();
        assert!(
            batch.contains("2 calls in msgbatch_7: next look in 6 min"),
            "{batch}"
        );
    }

    #[test]
    fn programs_read_the_same() {
        assert_eq!(owed(&[delivery()])[0]["tries"], 1);
        let batch = &batches(&[batch()])[0];
        assert_eq!((&batch["calls"], &batch["looks"]), (&json!(2), &json!(3)));
        assert_eq!(batch["next_look"], "2026-12-01T20:10:00Z");
    }
}
