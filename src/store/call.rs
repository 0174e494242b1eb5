//! Calls: the answers that a run wants, each found by its name.

use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::columns::count;
use super::fault::Fault;
use crate::answer::{Answer, Usage};
use crate::engine::ports::{Brought, Role};
use crate::money::Dollars;
use crate::outcome::RunId;
use crate::piece::CallName;

/// The row of a call; `None` if nothing was ever asked for it.
pub(super) fn find(store: &Connection, run: RunId, name: &CallName) -> Result<Option<i64>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT id FROM calls WHERE run = ?1 AND coalesce(item, '') = ?2 AND step = ?3 AND part = ?4",
    )?;
    let item = name.item.as_deref().unwrap_or_default();
    let values = params![run.0, item, name.step, name.part];
    Ok(select.query_row(values, |row| row.get(0)).optional()?)
}

/// The row of a call, written if it is new.
pub(super) fn open(
    store: &Connection,
    run: RunId,
    name: &CallName,
    model: Option<&str>,
) -> Result<i64, Fault> {
    if let Some(id) = find(store, run, name)? {
        return Ok(id);
    }
    let mut insert = store.prepare_cached(
        "INSERT INTO calls (run, item, step, part, model) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    insert.execute(params![
        run.0,
        name.item.as_deref(),
        name.step,
        name.part,
        model
    ])?;
    Ok(store.last_insert_rowid())
}

/// Whether a run has brought the answer that it was for, complete or not.
pub(super) fn is_answered(store: &Connection, run: RunId) -> Result<bool, Fault> {
    let mut select =
        store.prepare_cached("SELECT 1 FROM calls WHERE run = ?1 AND role IN ('owed', 'whole')")?;
    Ok(select.exists([run.0])?)
}

/// Writes what a call brought.
pub(super) fn answer(store: &Connection, call: i64, brought: Brought<'_>) -> Result<(), Fault> {
    let Brought { answer, role } = brought;
    let tokens = |which: fn(&Usage) -> u64| answer.usage.as_ref().map(|it| count(which(it)));
    let words = |which: fn(&Usage) -> &'static str| answer.usage.as_ref().map(which);
    let mut update = store.prepare_cached(
        "UPDATE calls SET message_id = :message_id, answered_by = :answered_by, answer = :answer, role = :role,
           stop_reason = :stop_reason, input_tokens = :input, cache_write_5m_tokens = :write_5m,
           cache_write_1h_tokens = :write_1h, cache_read_tokens = :read, output_tokens = :output,
           web_searches = :searches, tier = :tier, geo = :geo, speed = :speed
         WHERE id = :id",
    )?;
    update.execute(named_params! {
        ":id": call,
        ":message_id": answer.id,
        ":answered_by": answer.model,
        ":answer": kept(answer, role),
        ":role": word(role),
        ":stop_reason": answer.stop_reason.as_str(),
        ":input": tokens(|usage| usage.input_tokens),
        ":write_5m": tokens(|usage| usage.cache_write_5m_tokens),
        ":write_1h": tokens(|usage| usage.cache_write_1h_tokens),
        ":read": tokens(|usage| usage.cache_read_tokens),
        ":output": tokens(|usage| usage.output_tokens),
        ":searches": tokens(|usage| usage.web_searches),
        ":tier": words(|usage| usage.tier.as_str()),
        ":geo": words(|usage| usage.geo.as_str()),
        ":speed": words(|usage| usage.speed.as_str()),
    })?;
    Ok(())
}

/// Writes what a call has cost so far.
pub(super) fn cost(store: &Connection, call: i64, cost: Dollars) -> Result<(), Fault> {
    store
        .prepare_cached("UPDATE calls SET cost_usd = ?2 WHERE id = ?1")?
        .execute(params![call, cost.as_f64()])?;
    Ok(())
}

/// Drops the text of an answer that is in a file now, and owed to nobody any more.
pub(super) fn drop_text(
    store: &Connection,
    (run, item): (RunId, Option<&str>),
) -> Result<(), Fault> {
    let mut update = store.prepare_cached(
        "UPDATE calls SET answer = NULL WHERE run = ?1 AND coalesce(item, '') = ?2 AND role IN ('owed', 'whole')",
    )?;
    update.execute(params![run.0, item.unwrap_or_default()])?;
    Ok(())
}

fn kept(answer: &Answer, role: Role) -> Option<&str> {
    match role {
        Role::Owed | Role::Step | Role::Whole => Some(&answer.text),
        Role::Part => None,
    }
}

const fn word(role: Role) -> &'static str {
    match role {
        Role::Owed => "owed",
        Role::Step => "step",
        Role::Whole => "whole",
        Role::Part => "part",
    }
}
