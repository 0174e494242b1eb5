//! A group's guard as one row, read, asked and written under one lock.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};

use super::columns::ms;
use super::fault::Fault;
use super::guard_text::{FORMAT, Unreadable, decode, encode};
use crate::engine::keep;
use crate::engine::ports::StoreError;
use crate::guard::Guard;
use crate::job::GroupId;

/// A group and what its row holds.
type GuardRow = (GroupId, Result<Guard, Unreadable>);

/// Reads a group's guard, changes it, and writes it back if it is another one then. Runs in the caller's transaction.
/// `change` goes by the instant that it is given: `now`, or the row's own if that is a moment later.
pub(super) fn change<T>(
    store: &Connection,
    group: &GroupId,
    now: DateTime<Utc>,
    change: impl FnOnce(&mut Guard, DateTime<Utc>) -> T,
) -> Result<T, Fault> {
    let before = load(store, group)?;
    let mut guard = before.clone();
    let now = keep::instant_in_row(&before, now);
    let answer = change(&mut guard, now);
    if guard != before {
        save(store, group, &guard, now)?;
    }
    Ok(answer)
}

/// Tells a group's guard how an attempt ended. A damaged row stays as it is: its group sends nothing until a person
/// begins a new one, which holds nothing and has counted nothing, and the attempt's answer must not be lost for that.
pub(super) fn tell(
    store: &Connection,
    group: &GroupId,
    now: DateTime<Utc>,
    tell: impl FnOnce(&mut Guard, DateTime<Utc>),
) -> Result<(), Fault> {
    match change(store, group, now, tell) {
        Err(fault) => match text(store, group)?.map(|text| decode(&text)) {
            Some(Err(Unreadable::Damaged(_))) => Ok(()),
            None | Some(Ok(_) | Err(Unreadable::Newer(_))) => Err(fault),
        },
        told => told,
    }
}

/// Lifts a hold at a person's word. A damaged row is replaced by a new guard: this is the way out of it.
pub(super) fn resume(store: &Connection, group: &GroupId, now: DateTime<Utc>) -> Result<(), Fault> {
    let mut guard = match text(store, group)?.map(|text| decode(&text)) {
        None | Some(Err(Unreadable::Damaged(_))) => Guard::default(),
        Some(Err(newer @ Unreadable::Newer(_))) => return Err(unreadable(group, &newer)),
        Some(Ok(guard)) => guard,
    };
    guard.resume();
    save(store, group, &guard, now)?;
    // What waited for the hold or for the breaker may go at the group's next slot.
    store.execute(
        "UPDATE deferrals SET not_before = ?2, to_at = NULL
         WHERE grp = ?1 AND state = 'pending' AND not_before > ?2 AND rule <> 'open_slot'
           AND reason IN ('hold', 'hint', 'breaker')",
        (group.as_str(), now.timestamp_millis()),
    )?;
    Ok(())
}

/// Every group whose guard can be read, by name. A row that cannot be read stops its own group only.
pub(super) fn all(store: &Connection) -> Result<Vec<(GroupId, Guard)>, Fault> {
    let readable = rows(store)?.into_iter();
    Ok(readable
        .filter_map(|(group, guard)| Some((group, guard.ok()?)))
        .collect())
}

/// Every group whose guard cannot be read, by name, and why.
pub(super) fn damaged(store: &Connection) -> Result<Vec<(GroupId, String)>, Fault> {
    let unreadable = rows(store)?.into_iter();
    Ok(unreadable
        .filter_map(|(group, guard)| {
            let why = explain(&group, &guard.err()?);
            Some((group, why))
        })
        .collect())
}

fn rows(store: &Connection) -> Result<Vec<GuardRow>, Fault> {
    let mut select = store.prepare_cached("SELECT grp, state FROM guards ORDER BY grp")?;
    let mut rows = select.query([])?;
    let mut guards = Vec::new();
    while let Some(row) = rows.next()? {
        let group = GroupId::new(row.get::<_, String>("grp")?);
        guards.push((group, decode(&row.get::<_, String>("state")?)));
    }
    Ok(guards)
}

fn load(store: &Connection, group: &GroupId) -> Result<Guard, Fault> {
    match text(store, group)? {
        None => Ok(Guard::default()),
        Some(text) => decode(&text).map_err(|why| unreadable(group, &why)),
    }
}

fn save(
    store: &Connection,
    group: &GroupId,
    guard: &Guard,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let text = encode(guard)
        .map_err(|error| StoreError::Failed(format!("guard of group `{group}`: {error}")))?;
    let mut upsert = store.prepare_cached(
        "INSERT INTO guards (grp, state, changed_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (grp) DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at",
    )?;
    upsert.execute(params![group.as_str(), text, ms(now)])?;
    Ok(())
}

fn text(store: &Connection, group: &GroupId) -> Result<Option<String>, Fault> {
    let mut select = store.prepare_cached("SELECT state FROM guards WHERE grp = ?1")?;
    Ok(select
        .query_row([group.as_str()], |row| row.get(0))
        .optional()?)
}

fn unreadable(group: &GroupId, why: &Unreadable) -> Fault {
    StoreError::Lasting(explain(group, why)).into()
}

/// What is wrong with a row, and the way out.
fn explain(group: &GroupId, why: &Unreadable) -> String {
    match why {
        Unreadable::Damaged(what) => {
            format!(
                "the guard row of group `{group}` is damaged ({what}); `offpeak resume {group}` begins a new one"
            )
        }
        Unreadable::Newer(found) => format!(
            "the guard row of group `{group}` has format {found}, newer than this program knows ({FORMAT}); use a \
             newer offpeak"
        ),
    }
}
