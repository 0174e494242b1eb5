//! The plan's schedules, the watermark, and the claims of a wake-up.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, Row, params};

use super::columns::{get, instant, instant_or_none, ms, outcome};
use super::fault::Fault;
use super::run::{self, Ended, Start};
use super::{ahead, deferral, pause};
use crate::engine::ports::{Claim, Claimed, Fate, Tick};
use crate::job::GroupId;
use crate::outcome::{Outcome, RunId, YieldReason};
use crate::slot::{Origin, Slot};

/// What is on record of a claimed slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotRecord {
    /// The group that it counted against.
    pub group: GroupId,
    /// When it was claimed: the wake-up that found it due.
    pub claimed_at: DateTime<Utc>,
    /// When its own run ended; `None` while that goes on.
    pub closed_at: Option<DateTime<Utc>>,
    /// How its own run ended. Work that yielded goes on as a deferral, with runs of its own.
    pub outcome: Option<Outcome>,
}

/// Takes note of the schedules of a plan; answers where each starts.
pub(super) fn adopt(
    store: &Connection,
    schedules: &[(String, String)],
    now: DateTime<Utc>,
) -> Result<Vec<(String, DateTime<Utc>)>, Fault> {
    forget_others(store, schedules)?;
    let mut upsert = store.prepare_cached(
        "INSERT INTO schedules (name, fingerprint, starts_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (name) DO UPDATE SET fingerprint = excluded.fingerprint, starts_at = excluded.starts_at
         WHERE fingerprint <> excluded.fingerprint",
    )?;
    for (name, fingerprint) in schedules {
        upsert.execute(params![name, fingerprint, ms(now)])?;
    }
    let mut starts = store.prepare_cached("SELECT starts_at FROM schedules WHERE name = ?1")?;
    let start_of = |(name, _): &(String, String)| {
        let start = starts
            .query_and_then([name], |row| instant(row, "starts_at"))?
            .next();
        Ok((
            name.clone(),
            start.ok_or(rusqlite::Error::QueryReturnedNoRows)??,
        ))
    };
    schedules.iter().map(start_of).collect()
}

fn forget_others(store: &Connection, schedules: &[(String, String)]) -> Result<(), Fault> {
    let mut names = store.prepare_cached("SELECT name FROM schedules")?;
    let names: Vec<String> = names
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let known: BTreeSet<&str> = schedules.iter().map(|(name, _)| name.as_str()).collect();
    let mut delete = store.prepare_cached("DELETE FROM schedules WHERE name = ?1")?;
    for name in names.iter().filter(|name| !known.contains(name.as_str())) {
        delete.execute([name])?;
    }
    Ok(())
}

/// The instant up to which every slot has been dealt with.
pub(super) fn watermark(store: &Connection) -> Result<Option<DateTime<Utc>>, Fault> {
    let mut meta = store.prepare_cached("SELECT watermark FROM meta")?;
    let mut rows = meta.query_and_then([], |row| instant_or_none(row, "watermark"))?;
    rows.next().transpose().map(Option::flatten)
}

/// Claims the slots that nobody has claimed yet, and moves the watermark forward.
pub(super) fn claim(store: &Connection, tick: &Tick) -> Result<Vec<Claimed>, Fault> {
    let mut claimed = Vec::new();
    let pauses = pause::all(store)?;
    for claim in &tick.slots {
        let claim = Claim {
            fate: pauses.fate(claim, tick.now),
            ..claim.clone()
        };
        let is_ours = insert_slot(store, &claim, tick.now)?
            || (ahead::take_back(store, &claim, tick.now)?
                && insert_slot(store, &claim, tick.now)?);
        if is_ours {
            let run = begin(store, &claim, tick.now)?;
            claimed.push(Claimed {
                slot: claim.slot,
                run,
                fate: claim.fate,
            });
        }
    }
    store.execute(
        "UPDATE meta SET watermark = max(coalesce(watermark, ?1), ?1)",
        [ms(tick.watermark)],
    )?;
    Ok(claimed)
}

/// Whether the slot is ours: the unique row is the claim.
fn insert_slot(store: &Connection, claim: &Claim, now: DateTime<Utc>) -> Result<bool, Fault> {
    let mut insert = store.prepare_cached(
        "INSERT INTO slots (job, fire_at, grp, claimed_at, fate) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO NOTHING",
    )?;
    let slot = &claim.slot;
    let fate = fate_word(&claim.fate);
    Ok(insert.execute(params![
        slot.job.as_str(),
        ms(slot.fire_at),
        claim.group.as_str(),
        ms(now),
        fate
    ])? == 1)
}

fn begin(store: &Connection, claim: &Claim, now: DateTime<Utc>) -> Result<RunId, Fault> {
    let run = run::start(
        store,
        &Start {
            slot: claim.slot.clone(),
            group: claim.group.clone(),
            model: claim.model.clone(),
            origin: Origin::Scheduled,
            now,
            lease_until: None,
        },
    )?;
    match &claim.fate {
        Fate::Fire => deferral::merge_into(store, run, &claim.slot, now)?,
        Fate::Skip(reason) => {
            run::close(store, run, &Ended::plain(Outcome::Skipped(*reason), now))?;
        }
        Fate::CatchUp(wait) => {
            deferral::merge_into(store, run, &claim.slot, now)?;
            run::close(
                store,
                run,
                &Ended::plain(Outcome::Yielded(YieldReason::Missed), now),
            )?;
            deferral::write(store, run, wait, now)?;
        }
    }
    Ok(run)
}

const fn fate_word(fate: &Fate) -> &'static str {
    match fate {
        Fate::Fire => "fire",
        Fate::Skip(_) => "skip",
        Fate::CatchUp(_) => "catch_up",
    }
}

/// What is on record of a slot.
pub(super) fn slot(store: &Connection, slot: &Slot) -> Result<Option<SlotRecord>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT grp, claimed_at, closed_at, outcome, reason FROM slots WHERE job = ?1 AND fire_at = ?2",
    )?;
    let mut rows = select.query_and_then(params![slot.job.as_str(), ms(slot.fire_at)], decode)?;
    rows.next().transpose()
}

fn decode(row: &Row<'_>) -> Result<SlotRecord, Fault> {
    Ok(SlotRecord {
        group: GroupId::new(get::<String>(row, "grp")?),
        claimed_at: instant(row, "claimed_at")?,
        closed_at: instant_or_none(row, "closed_at")?,
        outcome: outcome(row)?,
    })
}
