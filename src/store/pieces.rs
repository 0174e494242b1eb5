//! Items and steps: how far the work of a slot has come, and what is remembered of what was done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns::{count_or_none, get, ms, outcome};
use super::delivery;
use super::fault::Fault;
use crate::engine::keep::Parts;
use crate::engine::pieces::{self, Memory};
use crate::engine::ports::{Offer, PieceEnd, Progress, StepAnswer};
use crate::job::{JobId, Which};
use crate::outcome::{FailReason, Outcome, RunId, YieldReason};
use crate::piece::Item;
use crate::slot::Slot;

/// How an item of a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemEnd {
    /// Its name within the slot.
    pub name: String,
    /// How; `None` while it is to be done once more.
    pub outcome: Option<Outcome>,
    /// One sentence for a person.
    pub note: Option<String>,
}

/// How old the note that an item was seen may grow before it is written anew.
const SEEN: TimeDelta = TimeDelta::days(1);

/// An item without an end whose answer is not owed to its places: there is still a call to make for it.
const OPEN: &str = "outcome IS NULL AND name NOT IN (
    SELECT c.item FROM runs r JOIN calls c ON c.run = r.id JOIN deliveries d ON d.call = c.id
    WHERE r.job = ?1 AND r.fire_at = ?2 AND c.item IS NOT NULL AND d.state <> 'given_up')";

/// Among these, one that no other slot has done as it is since.
const ALONE: &str = "NOT EXISTS (
    SELECT 1 FROM items o WHERE o.job = items.job AND o.key = items.key AND o.mark = items.mark
      AND o.fire_at <> items.fire_at AND o.outcome = 'succeeded' AND o.ended_at >= items.fire_at)";

/// Among these, one that is not remembered as done as it is.
const UNDONE: &str = "NOT EXISTS (
    SELECT 1 FROM memory m WHERE m.job = items.job AND m.key = items.key AND m.mark = items.mark
      AND m.mark <> '' AND m.is_done)";

/// The items of a slot whose answers are on their way to their places.
const OWED: &str =
    "SELECT c.item FROM runs r JOIN calls c ON c.run = r.id JOIN deliveries d ON d.call = c.id
    WHERE r.job = ?1 AND r.fire_at = ?2 AND c.item IS NOT NULL AND d.state = 'pending'";

/// How far the work of a slot has come.
pub(super) fn progress(store: &Connection, slot: &Slot, which: Which) -> Result<Progress, Fault> {
    let of = split_into(store, slot)?;
    let condition = match which {
        Which::All => format!("{OPEN} AND {ALONE}"),
        Which::ChangedSinceSuccess => format!("{OPEN} AND {ALONE} AND {UNDONE}"),
    };
    let open = (of > 0)
        .then(|| select(store, slot, &condition))
        .transpose()?;
    Ok(Progress {
        open,
        of,
        worst: worst(store, slot)?,
        steps: steps(store, slot)?,
    })
}

/// Splits a slot's work, once.
pub(super) fn split(
    store: &Connection,
    slot: &Slot,
    offer: Offer<'_>,
    now: DateTime<Utc>,
) -> Result<Vec<Item>, Fault> {
    if split_into(store, slot)? == 0 {
        let left = left(store, slot)?;
        let mut known: BTreeMap<&str, Memory> = BTreeMap::new();
        for item in offer.items {
            let memory = remembered(store, &slot.job, item, now)?;
            known.extend(memory.map(|memory| (item.key.as_str(), memory)));
        }
        let of = |item: &Item| known.get(item.key.as_str()).cloned();
        for (at, item) in pieces::choose(offer, of, &left).iter().enumerate() {
            insert(store, slot, at + 1, item)?;
        }
    }
    select(store, slot, OPEN)
}

/// Ends an item.
pub(super) fn settle(store: &Connection, end: &PieceEnd) -> Result<(), Fault> {
    if let Some(of) = &end.delivery {
        delivery::end_first(store, (end.run, Some(&end.item)), of, end.now)?;
    }
    close(store, end)
}

/// Writes the end of an item, and what is remembered of it.
pub(super) fn close(store: &Connection, end: &PieceEnd) -> Result<(), Fault> {
    let (outcome, reason) = (end.outcome.as_str(), end.outcome.reason());
    let mut update = store.prepare_cached(
        "UPDATE items SET run = ?4, outcome = ?5, reason = ?6, note = ?7, ended_at = ?8
         WHERE job = ?1 AND fire_at = ?2 AND name = ?3",
    )?;
    update.execute(params![
        end.slot.job.as_str(),
        ms(end.slot.fire_at),
        &*end.item,
        end.run.0,
        outcome,
        reason,
        end.note,
        ms(end.now)
    ])?;
    let mut remember = store.prepare_cached(
        "INSERT INTO memory (job, key, mark, is_done, seen_at)
         SELECT job, key, mark, ?4, ?5 FROM items WHERE job = ?1 AND fire_at = ?2 AND name = ?3
         ON CONFLICT (job, key) DO UPDATE SET mark = excluded.mark, is_done = excluded.is_done,
           seen_at = excluded.seen_at",
    )?;
    let is_done = pieces::is_done(&end.outcome, end.delivery.as_ref().map(|end| &end.then));
    remember.execute(params![
        end.slot.job.as_str(),
        ms(end.slot.fire_at),
        &*end.item,
        is_done,
        ms(end.now)
    ])?;
    Ok(())
}

/// How the worst item of a slot ended so far; one whose answer is on its way counts as not delivered.
fn worst(store: &Connection, slot: &Slot) -> Result<Option<Outcome>, Fault> {
    let values = params![slot.job.as_str(), ms(slot.fire_at)];
    let mut select = store.prepare_cached(
        "SELECT outcome, reason FROM items
         WHERE job = ?1 AND fire_at = ?2 AND outcome <> 'succeeded' ORDER BY position",
    )?;
    let found = select.query_and_then(values, outcome)?;
    let mut ends: Vec<Outcome> = Vec::new();
    for end in found {
        ends.extend(end?);
    }
    let mut owed = store.prepare_cached(&format!(
        "SELECT 1 FROM items WHERE job = ?1 AND fire_at = ?2 AND outcome IS NULL AND name IN ({OWED})"
    ))?;
    if owed.exists(values)? {
        ends.push(Outcome::Failed(FailReason::Output));
    }
    Ok(pieces::worst(ends.iter()))
}

/// Ends the items of a slot that a run leaves, when nobody will work on them any more. One whose answer is on its way
/// is amended when that is there.
pub(super) fn close_rest(
    store: &Connection,
    (run, slot): (RunId, &Slot),
    outcome: &Outcome,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let undelivered = Outcome::Failed(FailReason::Output);
    let mut owed = store.prepare_cached(&format!(
        "UPDATE items SET run = ?3, outcome = ?4, reason = ?5, ended_at = ?6
         WHERE job = ?1 AND fire_at = ?2 AND outcome IS NULL AND name IN ({OWED})"
    ))?;
    owed.execute(params![
        slot.job.as_str(),
        ms(slot.fire_at),
        run.0,
        undelivered.as_str(),
        undelivered.reason(),
        ms(now)
    ])?;
    let mut update = store.prepare_cached(
        "UPDATE items SET run = ?3, outcome = ?4, reason = ?5, ended_at = ?6
         WHERE job = ?1 AND fire_at = ?2 AND outcome IS NULL",
    )?;
    update.execute(params![
        slot.job.as_str(),
        ms(slot.fire_at),
        run.0,
        outcome.as_str(),
        outcome.reason(),
        ms(now)
    ])?;
    // No later step needs what the earlier ones said.
    let mut forget = store.prepare_cached(
        "UPDATE calls SET answer = NULL WHERE role = 'step' AND answer IS NOT NULL
           AND run IN (SELECT id FROM runs WHERE job = ?1 AND fire_at = ?2)",
    )?;
    forget.execute(params![slot.job.as_str(), ms(slot.fire_at)])?;
    Ok(())
}

/// Makes a slot's items that did not succeed be done anew; nothing is delivered that was to come of earlier runs.
pub(super) fn reopen(store: &Connection, slot: &Slot) -> Result<(), Fault> {
    let values = params![slot.job.as_str(), ms(slot.fire_at)];
    let mut items = store.prepare_cached(
        "UPDATE items SET run = NULL, outcome = NULL, reason = NULL, note = NULL, ended_at = NULL
         WHERE job = ?1 AND fire_at = ?2 AND outcome IS NOT 'succeeded'",
    )?;
    items.execute(values)?;
    let mut owed = store.prepare_cached(
        "UPDATE deliveries SET state = 'given_up' WHERE state = 'pending' AND call IN (
           SELECT c.id FROM runs r JOIN calls c ON c.run = r.id WHERE r.job = ?1 AND r.fire_at = ?2)",
    )?;
    owed.execute(values)?;
    Ok(())
}

/// The outcomes of a slot's items; one that is still to be done counts as yielded.
pub(super) fn outcomes(store: &Connection, slot: &Slot) -> Result<Vec<Outcome>, Fault> {
    let mut select = store
        .prepare_cached("SELECT outcome, reason FROM items WHERE job = ?1 AND fire_at = ?2")?;
    let values = params![slot.job.as_str(), ms(slot.fire_at)];
    let open = || Outcome::Yielded(YieldReason::Interrupted);
    let found = select.query_and_then(values, outcome)?;
    found.map(|end| Ok(end?.unwrap_or_else(open))).collect()
}

/// The answer of an item is not on its way any more, and did not arrive.
pub(super) fn give_up(
    store: &Connection,
    slot: &Slot,
    (item, note): (&str, &str),
) -> Result<(), Fault> {
    let values = params![slot.job.as_str(), ms(slot.fire_at), item, note];
    store
        .prepare_cached("UPDATE items SET note = ?4 WHERE job = ?1 AND fire_at = ?2 AND name = ?3")?
        .execute(values)?;
    let mut forget = store.prepare_cached(
        "UPDATE memory SET is_done = 0 WHERE job = ?1 AND (key, mark) IN (
           SELECT key, mark FROM items WHERE job = ?1 AND fire_at = ?2 AND name = ?3)",
    )?;
    forget.execute(params![slot.job.as_str(), ms(slot.fire_at), item])?;
    Ok(())
}

/// How the items that a run ended have ended, in their order.
pub(super) fn ends(store: &Connection, run: RunId) -> Result<Vec<ItemEnd>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT name, outcome, reason, note FROM items WHERE run = ?1 ORDER BY job, fire_at, position",
    )?;
    let end = |row: &Row<'_>| {
        Ok(ItemEnd {
            name: get(row, "name")?,
            outcome: outcome(row)?,
            note: get(row, "note")?,
        })
    };
    select.query_and_then([run.0], end)?.collect()
}

/// An item of a slot by its name; `None` if the slot was split into others, or not at all.
pub(super) fn find(store: &Connection, slot: &Slot, name: &str) -> Result<Option<Item>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT name, key, mark, text FROM items WHERE job = ?1 AND fire_at = ?2 AND name = ?3",
    )?;
    let mut found =
        select.query_and_then(params![slot.job.as_str(), ms(slot.fire_at), name], decode)?;
    found.next().transpose()
}

/// Whether a slot's work has items that are still to be done.
pub(super) fn parts(store: &Connection, slot: &Slot) -> Result<Parts, Fault> {
    let mut select = store.prepare_cached(
        "SELECT 1 FROM items WHERE job = ?1 AND fire_at = ?2 AND outcome IS NULL",
    )?;
    let has_items = select.exists(params![slot.job.as_str(), ms(slot.fire_at)])?;
    Ok(if has_items { Parts::Items } else { Parts::One })
}

fn split_into(store: &Connection, slot: &Slot) -> Result<usize, Fault> {
    let mut select =
        store.prepare_cached("SELECT count(*) AS n FROM items WHERE job = ?1 AND fire_at = ?2")?;
    let values = params![slot.job.as_str(), ms(slot.fire_at)];
    let mut rows = select.query_and_then(values, |row| count_or_none::<usize>(row, "n"))?;
    Ok(rows.next().transpose()?.flatten().unwrap_or_default())
}

fn select(store: &Connection, slot: &Slot, condition: &str) -> Result<Vec<Item>, Fault> {
    let mut statement = store.prepare_cached(&format!(
        "SELECT name, key, mark, text FROM items WHERE job = ?1 AND fire_at = ?2 AND {condition} ORDER BY position"
    ))?;
    let values = params![slot.job.as_str(), ms(slot.fire_at)];
    statement.query_and_then(values, decode)?.collect()
}

fn decode(row: &Row<'_>) -> Result<Item, Fault> {
    Ok(Item {
        name: get(row, "name")?,
        key: get(row, "key")?,
        mark: get(row, "mark")?,
        text: get(row, "text")?,
    })
}

fn steps(store: &Connection, slot: &Slot) -> Result<Vec<StepAnswer>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT c.item, c.step, c.answer FROM runs r JOIN calls c ON c.run = r.id
         WHERE r.job = ?1 AND r.fire_at = ?2 AND c.role = 'step' AND c.answer IS NOT NULL ORDER BY c.step, c.id",
    )?;
    let values = params![slot.job.as_str(), ms(slot.fire_at)];
    let step = |row: &Row<'_>| {
        Ok(StepAnswer {
            item: get::<Option<String>>(row, "item")?.map(Arc::from),
            step: count_or_none(row, "step")?.unwrap_or(1),
            text: get(row, "answer")?,
        })
    };
    select.query_and_then(values, step)?.collect()
}

/// The keys of items that other slots of the job left undone.
fn left(store: &Connection, slot: &Slot) -> Result<BTreeSet<String>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT key FROM items WHERE job = ?1 AND outcome IS NULL AND fire_at <> ?2",
    )?;
    let values = params![slot.job.as_str(), ms(slot.fire_at)];
    select
        .query_and_then(values, |row| get(row, "key"))?
        .collect()
}

/// What is remembered of an item; takes down that it is still there.
fn remembered(
    store: &Connection,
    job: &JobId,
    item: &Item,
    now: DateTime<Utc>,
) -> Result<Option<Memory>, Fault> {
    let mut select = store
        .prepare_cached("SELECT mark, is_done, seen_at FROM memory WHERE job = ?1 AND key = ?2")?;
    let found = select
        .query_row(params![job.as_str(), item.key], |row| {
            let known = Memory {
                mark: row.get(0)?,
                is_done: row.get(1)?,
            };
            Ok((known, row.get::<_, i64>(2)?))
        })
        .optional()?;
    let Some((known, seen_at)) = found else {
        return Ok(None);
    };
    if seen_at < ms(now - SEEN) {
        store
            .prepare_cached("UPDATE memory SET seen_at = ?3 WHERE job = ?1 AND key = ?2")?
            .execute(params![job.as_str(), item.key, ms(now)])?;
    }
    Ok(Some(known))
}

fn insert(store: &Connection, slot: &Slot, position: usize, item: &Item) -> Result<(), Fault> {
    let mut insert = store.prepare_cached(
        "INSERT INTO items (job, fire_at, position, name, key, mark, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    insert.execute(params![
        slot.job.as_str(),
        ms(slot.fire_at),
        i64::try_from(position).unwrap_or(i64::MAX),
        item.name,
        item.key,
        item.mark,
        item.text
    ])?;
    Ok(())
}
