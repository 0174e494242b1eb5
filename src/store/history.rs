//! Reading runs back.

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, Params, Row, params};

use super::columns::{
    class, count_or_none, geo, get, instant, instant_or_none, ms, origin, outcome, span_or_none,
    speed, tier, word, word_or_none,
};
use super::fault::Fault;
use crate::answer::{StopReason, Usage};
use crate::job::{GroupId, JobId};
use crate::money::Dollars;
use crate::outcome::{Attempt, AttemptEnd, DeferredTo, Run, RunId};
use crate::piece::CallName;
use crate::slot::Slot;

/// Which runs to read; an absent field lets every run pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    /// Runs of this job.
    pub job: Option<JobId>,
    /// Runs that counted against this group.
    pub group: Option<GroupId>,
    /// Runs whose outcome has this word, as [`crate::outcome::Outcome::as_str`] gives it.
    pub outcome: Option<String>,
    /// Runs that started at or after this instant.
    pub from: Option<DateTime<Utc>>,
    /// Runs that started before this instant.
    pub until: Option<DateTime<Utc>>,
    /// The newest so many.
    pub limit: Option<u32>,
}

const COLUMNS: &str = "
    SELECT r.id, r.job, r.fire_at, r.origin, r.grp, r.model, r.started_at, r.finished_at, r.outcome, r.reason,
      r.note, r.output, r.next_not_before, r.next_at, r.next_carries,
      c.stop_reason, c.input_tokens, c.cache_write_5m_tokens, c.cache_write_1h_tokens, c.cache_read_tokens,
      c.output_tokens, c.web_searches, c.tier, c.geo, c.speed, c.cost_usd, c.id AS call, c.item, c.step, c.part,
      a.n, a.started_at AS sent_at, a.wait_ms, a.latency_ms, a.first_byte_ms, a.status, a.class, a.error_type,
      a.error_code, a.request_id, a.hint_ms, a.message, a.input_tokens AS lost_input_tokens,
      a.cache_write_5m_tokens AS lost_cache_write_5m_tokens, a.cache_write_1h_tokens AS lost_cache_write_1h_tokens,
      a.cache_read_tokens AS lost_cache_read_tokens, a.output_tokens AS lost_output_tokens,
      a.web_searches AS lost_web_searches, a.tier AS lost_tier, a.geo AS lost_geo, a.speed AS lost_speed";

const JOINS: &str = "
    LEFT JOIN calls c ON c.run = r.id LEFT JOIN attempts a ON a.call = c.id
    ORDER BY r.id, c.id, a.n";

/// The runs that pass the filter, newest last.
pub(super) fn runs(store: &Connection, filter: &HistoryFilter) -> Result<Vec<Run>, Fault> {
    let values = params![
        filter.job.as_ref().map(JobId::as_str),
        filter.group.as_ref().map(GroupId::as_str),
        filter.outcome,
        filter.from.map(ms),
        filter.until.map(ms),
        filter.limit.map_or(-1, i64::from),
    ];
    select(store, &chosen(filter), values)
}

/// Asks only for what is asked: a condition that may be absent keeps its index from being used. The times must not lead
/// to theirs, which is not in the order of the newest.
fn chosen(filter: &HistoryFilter) -> String {
    let conditions = [
        (filter.job.is_some(), "job = ?1"),
        (filter.group.is_some(), "grp = ?2"),
        (filter.outcome.is_some(), "outcome = ?3"),
        (filter.from.is_some(), "+started_at >= ?4"),
        (filter.until.is_some(), "+started_at < ?5"),
    ];
    let asked = conditions.iter().filter(|(is_asked, _)| *is_asked);
    let asked: Vec<&str> = std::iter::once("true")
        .chain(asked.map(|(_, condition)| *condition))
        .collect();
    let asked = asked.join(" AND ");
    format!("FROM (SELECT * FROM runs WHERE {asked} ORDER BY id DESC LIMIT ?6) r")
}

/// One run.
pub(super) fn run(store: &Connection, id: RunId) -> Result<Option<Run>, Fault> {
    Ok(select(store, "FROM (SELECT * FROM runs WHERE id = ?1) r", [id.0])?.pop())
}

/// The runs of a slot, oldest first.
pub(super) fn of_slot(store: &Connection, slot: &Slot) -> Result<Vec<Run>, Fault> {
    let values = params![slot.job.as_str(), ms(slot.fire_at)];
    select(
        store,
        "FROM (SELECT * FROM runs WHERE job = ?1 AND fire_at = ?2) r",
        values,
    )
}

/// The runs that have not ended.
pub(super) fn under_way(store: &Connection) -> Result<Vec<Run>, Fault> {
    select(
        store,
        "FROM (SELECT * FROM runs WHERE outcome IS NULL) r",
        [],
    )
}

/// The answer's text of a run, if it went nowhere else.
pub(super) fn answer(store: &Connection, id: RunId) -> Result<Option<String>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT answer FROM calls WHERE run = ?1 AND answer IS NOT NULL AND role IS NOT 'step' ORDER BY id",
    )?;
    let texts: Vec<String> = select
        .query_map([id.0], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok((!texts.is_empty()).then(|| texts.join("\n\n")))
}

fn select(store: &Connection, chosen: &str, values: impl Params) -> Result<Vec<Run>, Fault> {
    let mut statement = store.prepare_cached(&format!("{COLUMNS} {chosen} {JOINS}"))?;
    let mut rows = statement.query(values)?;
    let mut runs: Vec<Run> = Vec::new();
    let mut costs: Vec<(bool, Option<Dollars>)> = Vec::new();
    let mut last = None;
    while let Some(row) = rows.next()? {
        let attempt = attempt(row)?;
        let id: i64 = get(row, "id")?;
        if runs.last().is_none_or(|run| run.id != RunId(id)) {
            runs.push(decode(row)?);
            costs.clear();
        }
        let call: Option<i64> = get(row, "call")?;
        let is_new = last != call;
        last = call;
        if let Some(run) = runs.last_mut() {
            run.attempts.extend(attempt);
            if is_new && call.is_some() {
                let word = get::<Option<String>>(row, "stop_reason")?;
                let cost = get::<Option<f64>>(row, "cost_usd")?.and_then(Dollars::from_f64);
                costs.push((word.is_some(), cost));
                run.cost_usd = Run::cost_of(costs.iter().copied());
                if let Some(word) = word {
                    run.count(StopReason::from(word.as_str()), usage(row, "")?);
                }
            }
        }
    }
    Ok(runs)
}

fn decode(row: &Row<'_>) -> Result<Run, Fault> {
    Ok(Run {
        id: RunId(get(row, "id")?),
        job: JobId::new(get::<String>(row, "job")?),
        fire_at: instant(row, "fire_at")?,
        origin: word(row, "origin", origin)?,
        group: GroupId::new(get::<String>(row, "grp")?),
        model: get(row, "model")?,
        started_at: instant(row, "started_at")?,
        finished_at: instant_or_none(row, "finished_at")?,
        outcome: outcome(row)?,
        note: get(row, "note")?,
        attempts: Vec::new(),
        stop_reason: None,
        usage: None,
        cost_usd: None,
        output: get::<Option<String>>(row, "output")?.map(PathBuf::from),
        deferred: deferred(row)?,
    })
}

fn deferred(row: &Row<'_>) -> Result<Option<DeferredTo>, Fault> {
    let Some(not_before) = instant_or_none(row, "next_not_before")? else {
        return Ok(None);
    };
    let carries = count_or_none(row, "next_carries")?.unwrap_or_default();
    Ok(Some(DeferredTo {
        not_before,
        to: instant_or_none(row, "next_at")?,
        carries,
    }))
}

/// All counters are written together, so one that is there vouches for the rest. A prefix tells those of a failed
/// attempt, `lost_`, from those of the answer.
pub(super) fn usage(row: &Row<'_>, prefix: &str) -> Result<Option<Usage>, Fault> {
    let named = |column: &str| format!("{prefix}{column}");
    let known = |column| count_or_none(row, &named(column));
    let Some(input_tokens) = known("input_tokens")? else {
        return Ok(None);
    };
    let tokens = |column| Ok::<u64, Fault>(known(column)?.unwrap_or_default());
    Ok(Some(Usage {
        input_tokens,
        cache_write_5m_tokens: tokens("cache_write_5m_tokens")?,
        cache_write_1h_tokens: tokens("cache_write_1h_tokens")?,
        cache_read_tokens: tokens("cache_read_tokens")?,
        output_tokens: tokens("output_tokens")?,
        web_searches: tokens("web_searches")?,
        tier: word_or_none(row, &named("tier"), tier)?.unwrap_or_default(),
        geo: word_or_none(row, &named("geo"), geo)?.unwrap_or_default(),
        speed: word_or_none(row, &named("speed"), speed)?.unwrap_or_default(),
    }))
}

fn attempt(row: &Row<'_>) -> Result<Option<Attempt>, Fault> {
    let Some(n) = count_or_none(row, "n")? else {
        return Ok(None);
    };
    let wait = span_or_none(row, "wait_ms")?.unwrap_or_default();
    Ok(Some(Attempt {
        call: CallName {
            item: get::<Option<String>>(row, "item")?.map(Arc::from),
            step: count_or_none(row, "step")?.unwrap_or(1),
            part: count_or_none(row, "part")?.unwrap_or(1),
        },
        n,
        started_at: instant(row, "sent_at")?,
        wait,
        end: attempt_end(row)?,
    }))
}

fn attempt_end(row: &Row<'_>) -> Result<Option<AttemptEnd>, Fault> {
    let Some(latency) = span_or_none(row, "latency_ms")? else {
        return Ok(None);
    };
    Ok(Some(AttemptEnd {
        latency,
        first_byte: span_or_none(row, "first_byte_ms")?,
        status: count_or_none(row, "status")?,
        class: word_or_none(row, "class", class)?,
        error_type: get(row, "error_type")?,
        error_code: get(row, "error_code")?,
        request_id: get(row, "request_id")?,
        hint: span_or_none(row, "hint_ms")?,
        message: get(row, "message")?,
        usage: usage(row, "lost_")?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::SqliteStore;

    /// What the runs of a filter are looked for through, without the rows that belong to them.
    fn way(store: &Connection, filter: &HistoryFilter) -> Vec<String> {
        let chosen = chosen(filter);
        let mut explain = store
            .prepare(&format!("EXPLAIN QUERY PLAN SELECT * {chosen}"))
            .unwrap();
        // A plan needs no values.
        let steps = explain.raw_query().mapped(|row| row.get("detail"));
        steps.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn newest_runs_are_found_without_a_look_at_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let store = Connection::open(store.path()).unwrap();
        let none = HistoryFilter {
            limit: Some(20),
            ..HistoryFilter::default()
        };
        let by_job = HistoryFilter {
            job: Some(JobId::new("digest")),
            ..none.clone()
        };
        let by_group = HistoryFilter {
            group: Some(GroupId::new("main")),
            ..none.clone()
        };
        let by_outcome = HistoryFilter {
            outcome: Some("failed".to_owned()),
            from: Some(DateTime::UNIX_EPOCH),
            ..none.clone()
        };
        for (filter, expected) in [
            (none, "SCAN runs"),
            (by_job, "INDEX runs_by_job (job=?)"),
            (by_group, "INDEX runs_by_group (grp=?)"),
            (by_outcome, "INDEX runs_by_outcome (outcome=?)"),
        ] {
            let steps = way(&store, &filter);
            assert!(
                steps.iter().any(|step| step.contains(expected)),
                "{expected}: {steps:?}"
            );
            // In the order of ids from the newest on, the scan ends at the limit.
            let sorts = steps.iter().any(|step| step.contains("TEMP B-TREE"));
            assert!(!sorts, "{steps:?}");
        }
    }
}
