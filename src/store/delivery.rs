//! Answers that are owed to their places: from the record of the answer on, until they are there.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use super::call;
use super::columns::{count_or_none, get, instant, ms, outcome};
use super::fault::Fault;
use super::{pieces, run};
use crate::answer::{Answer, StopReason};
use crate::engine::keep;
use crate::engine::pieces::{amended, delivered_note, given_up_note};
use crate::engine::ports::{After, Delivery, DeliveryEnd, PieceEnd, Redelivered};
use crate::job::JobId;
use crate::outcome::{Outcome, RunId};
use crate::slot::{Origin, Slot};

/// Takes down that an answer is owed to its places.
pub(super) fn owe(store: &Connection, call: i64, now: DateTime<Utc>) -> Result<(), Fault> {
    let mut insert = store.prepare_cached(
        "INSERT INTO deliveries (call, state, tries, placed, since, not_before) VALUES (?1, 'pending', 0, 0, ?2, ?2)
         ON CONFLICT (call) DO NOTHING",
    )?;
    insert.execute(params![call, ms(now)])?;
    Ok(())
}

/// Takes down how the first try of a run ended, for its item or for itself.
pub(super) fn end_first(
    store: &Connection,
    (run, item): (RunId, Option<&str>),
    end: &DeliveryEnd,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let mut select = store.prepare_cached(
        "SELECT d.id FROM calls c JOIN deliveries d ON d.call = c.id
         WHERE c.run = ?1 AND coalesce(c.item, '') = ?2 AND d.state = 'pending'",
    )?;
    let values = params![run.0, item.unwrap_or_default()];
    let id: Option<i64> = select.query_row(values, |row| row.get(0)).optional()?;
    if let Some(id) = id {
        write(store, id, end, now)?;
    }
    if !keep::keeps_text(end.output.as_deref(), Some(&end.then)) {
        call::drop_text(store, (run, item))?;
    }
    Ok(())
}

/// Whether a run without items has an answer that is still owed.
pub(super) fn is_owed(store: &Connection, run: RunId) -> Result<bool, Fault> {
    let mut select = store.prepare_cached(
        "SELECT 1 FROM calls c JOIN deliveries d ON d.call = c.id
         WHERE c.run = ?1 AND c.item IS NULL AND d.state = 'pending'",
    )?;
    Ok(select.exists([run.0])?)
}

/// Whether an answer of a slot is still owed.
pub(super) fn is_owed_for(store: &Connection, slot: &Slot) -> Result<bool, Fault> {
    let mut select = store.prepare_cached(
        "SELECT 1 FROM runs r JOIN calls c ON c.run = r.id JOIN deliveries d ON d.call = c.id
         WHERE r.job = ?1 AND r.fire_at = ?2 AND d.state = 'pending'",
    )?;
    Ok(select.exists(params![slot.job.as_str(), ms(slot.fire_at)])?)
}

/// The answers that wait, of runs that have ended.
pub(super) fn pending(store: &Connection) -> Result<Vec<Delivery>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT d.id, d.tries, d.placed, d.since, d.not_before, c.item, c.message_id, c.answered_by, c.answer,
           c.stop_reason, c.input_tokens, c.cache_write_5m_tokens, c.cache_write_1h_tokens, c.cache_read_tokens,
           c.output_tokens, c.web_searches, c.tier, c.geo, c.speed, r.id AS run, r.job, r.fire_at
         FROM deliveries d JOIN calls c ON c.id = d.call JOIN runs r ON r.id = c.run
         WHERE d.state = 'pending' AND r.outcome IS NOT NULL ORDER BY d.not_before, d.id",
    )?;
    let found = select.query_and_then([], |row| decode(store, row))?;
    found.collect()
}

/// Takes down how a further try ended, and amends what had failed for want of it.
pub(super) fn redelivered(
    store: &Connection,
    told: &Redelivered,
) -> Result<Option<Outcome>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT c.run, c.item, d.tries FROM deliveries d JOIN calls c ON c.id = d.call
         WHERE d.id = ?1 AND d.state = 'pending'",
    )?;
    let found = select
        .query_row([told.id], |row| {
            Ok((RunId(row.get(0)?), row.get(1)?, row.get::<_, u32>(2)?))
        })
        .optional()?;
    // It has ended already, and the caller was not told.
    let Some((run, item, tries)): Option<(RunId, Option<String>, u32)> = found else {
        return Ok(None);
    };
    let slot = run::slot(store, run)?;
    write(store, told.id, &told.end, told.now)?;
    let tries = tries.saturating_add(1);
    match &told.end.then {
        After::Done => {
            let note = delivered_note(tries, told.now);
            if !keep::keeps_text(told.end.output.as_deref(), Some(&told.end.then)) {
                call::drop_text(store, (run, item.as_deref()))?;
            }
            amend(store, (run, item, &slot), &note, told)?;
        }
        After::Again(..) => {}
        After::GiveUp(trouble) => {
            let note = given_up_note(tries, trouble);
            if let Some(item) = &item {
                pieces::give_up(store, &slot, (item, &note))?;
            } else {
                store
                    .prepare_cached("UPDATE runs SET note = ?2 WHERE id = ?1")?
                    .execute(params![run.0, note])?;
            }
        }
    }
    Ok(last_run(store, &slot)?.and_then(|(_, outcome)| outcome))
}

/// The last run of a slot, and how it ended.
fn last_run(store: &Connection, slot: &Slot) -> Result<Option<(RunId, Option<Outcome>)>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT id, outcome, reason FROM runs WHERE job = ?1 AND fire_at = ?2 ORDER BY id DESC LIMIT 1",
    )?;
    let values = params![slot.job.as_str(), ms(slot.fire_at)];
    let mut found = select.query_and_then(values, |row| {
        Ok::<_, Fault>((RunId(get(row, "id")?), outcome(row)?))
    })?;
    found.next().transpose()
}

/// Amends what had failed for want of a delivery: of a job with items, the slot's last run once all items are well.
fn amend(
    store: &Connection,
    (run, item, slot): (RunId, Option<String>, &Slot),
    note: &str,
    told: &Redelivered,
) -> Result<(), Fault> {
    let mut of = run;
    if let Some(item) = item {
        let end = PieceEnd {
            run,
            slot: slot.clone(),
            item: item.into(),
            outcome: Outcome::Succeeded,
            note: Some(note.to_owned()),
            delivery: None,
            now: told.now,
        };
        pieces::close(store, &end)?;
        if let Some((last, _)) = last_run(store, slot)? {
            of = last;
        }
    }
    let mut select = store.prepare_cached("SELECT outcome, reason FROM runs WHERE id = ?1")?;
    let mut rows = select.query_and_then([of.0], outcome)?;
    let ended = rows.next().transpose()?.flatten();
    let outcomes = pieces::outcomes(store, slot)?;
    let Some(outcome) = ended.and_then(|ended| amended(&ended, outcomes.iter())) else {
        return Ok(());
    };
    let output = told.end.output.as_ref();
    let output = output.map(|path| path.to_string_lossy().into_owned());
    let (word, reason) = (outcome.as_str(), outcome.reason());
    let mut runs = store.prepare_cached(
        "UPDATE runs SET outcome = ?2, reason = ?3, note = ?4, output = coalesce(?5, output) WHERE id = ?1",
    )?;
    runs.execute(params![of.0, word, reason, note, output])?;
    let mut slots = store.prepare_cached(
        "UPDATE slots SET outcome = ?2, reason = ?3
         WHERE (job, fire_at) = (SELECT job, fire_at FROM runs WHERE id = ?1 AND origin = ?4)",
    )?;
    slots.execute(params![of.0, word, reason, Origin::Scheduled.as_str()])?;
    Ok(())
}

fn write(store: &Connection, id: i64, end: &DeliveryEnd, now: DateTime<Utc>) -> Result<(), Fault> {
    let (state, not_before, trouble, ended_at) = match &end.then {
        After::Done => ("done", None, None, Some(now)),
        After::Again(at, trouble) => ("pending", Some(*at), Some(trouble), None),
        After::GiveUp(trouble) => ("given_up", None, Some(trouble), Some(now)),
    };
    let output = end.output.as_ref();
    let mut update = store.prepare_cached(
        "UPDATE deliveries SET state = :state, tries = tries + 1, placed = :placed, trouble = :trouble,
           not_before = coalesce(:not_before, not_before), output = coalesce(:output, output), ended_at = :ended_at
         WHERE id = :id",
    )?;
    update.execute(named_params! {
        ":id": id,
        ":state": state,
        ":placed": end.placed,
        ":trouble": trouble,
        ":not_before": not_before.map(ms),
        ":output": output.map(|path| path.to_string_lossy().into_owned()),
        ":ended_at": ended_at.map(ms),
    })?;
    Ok(())
}

/// The files that hold answers of later slots of the job.
fn newer(store: &Connection, slot: &Slot) -> Result<Vec<PathBuf>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT DISTINCT d.output FROM runs r JOIN calls c ON c.run = r.id JOIN deliveries d ON d.call = c.id
         WHERE r.job = ?1 AND r.fire_at > ?2 AND d.output IS NOT NULL",
    )?;
    let values = params![slot.job.as_str(), ms(slot.fire_at)];
    let found = select.query_and_then(values, |row| {
        Ok(PathBuf::from(get::<String>(row, "output")?))
    })?;
    found.collect()
}

fn slot(row: &Row<'_>) -> Result<Slot, Fault> {
    Ok(Slot {
        fire_at: instant(row, "fire_at")?,
        job: JobId::new(get::<String>(row, "job")?),
    })
}

fn decode(store: &Connection, row: &Row<'_>) -> Result<Delivery, Fault> {
    let slot = slot(row)?;
    let item = match get::<Option<String>>(row, "item")? {
        Some(name) => pieces::find(store, &slot, &name)?,
        None => None,
    };
    let text =
        |column| Ok::<String, Fault>(get::<Option<String>>(row, column)?.unwrap_or_default());
    Ok(Delivery {
        id: get(row, "id")?,
        run: RunId(get(row, "run")?),
        item,
        answer: Answer {
            id: text("message_id")?,
            model: text("answered_by")?,
            text: text("answer")?,
            stop_reason: StopReason::from(text("stop_reason")?.as_str()),
            usage: super::history::usage(row, "")?,
            paused: None,
            tool_errors: Vec::new(),
        },
        newer: newer(store, &slot)?,
        slot,
        tries: count_or_none(row, "tries")?.unwrap_or_default(),
        placed: count_or_none(row, "placed")?.unwrap_or_default(),
        since: instant(row, "since")?,
        not_before: instant(row, "not_before")?,
    })
}
