//! Attempts: admitted under the lock of their group's guard, recorded when they end.

use std::time::Duration;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, named_params, params};

use super::columns::{count, ms, span_ms};
use super::fault::Fault;
use super::{batches, call, delivery, guard_row};
use crate::answer::{Answer, Usage};
use crate::engine::keep;
use crate::engine::ports::{Brought, HandedIn, Role};
use crate::guard::{Bill, GuardPolicy, Hold, Permit, Refusal, Sample};
use crate::job::GroupId;
use crate::money::Dollars;
use crate::outcome::{AttemptEnd, RunId};
use crate::piece::CallName;

/// An attempt that asks for admission, as owned values.
pub(super) struct Asking {
    pub(super) run: RunId,
    pub(super) call: CallName,
    pub(super) model: String,
    pub(super) group: GroupId,
    pub(super) policy: GuardPolicy,
    pub(super) n: u32,
    pub(super) wait: Duration,
    pub(super) lease: Duration,
    pub(super) reserve: Option<Dollars>,
    pub(super) now: DateTime<Utc>,
}

/// An attempt that ended, as owned values.
pub(super) struct Telling {
    pub(super) run: RunId,
    pub(super) call: CallName,
    pub(super) group: GroupId,
    pub(super) policy: GuardPolicy,
    pub(super) n: u32,
    pub(super) permit: Permit,
    pub(super) sample: Option<Sample>,
    pub(super) hold: Option<Hold>,
    pub(super) bill: Bill,
    pub(super) end: AttemptEnd,
    pub(super) answer: Option<(Answer, Role)>,
    pub(super) batch: Option<HandedIn>,
    pub(super) cost_usd: Option<Dollars>,
    pub(super) now: DateTime<Utc>,
}

/// Asks the guard; on admission the attempt is on disk before it is sent.
pub(super) fn admit(store: &Connection, ask: &Asking) -> Result<Result<Permit, Refusal>, Fault> {
    let (answer, now) = guard_row::change(store, &ask.group, ask.now, |guard, now| {
        (
            guard.admit_costing(&ask.policy, now, ask.lease, ask.reserve),
            now,
        )
    })?;
    if answer.is_ok() {
        // A failure here undoes the spending too: all is one transaction.
        let mut select =
            store.prepare_cached("SELECT 1 FROM runs WHERE id = ?1 AND outcome IS NULL")?;
        if !select.exists([ask.run.0])? {
            return Err(keep::no_run_under_way(ask.run).into());
        }
        // A person's run of many calls counts as lost a while after its latest one.
        store
            .prepare_cached(
                "UPDATE runs SET lease_until = max(lease_until, ?2) WHERE id = ?1 AND lease_until IS NOT NULL",
            )?
            .execute(params![ask.run.0, ms(keep::lease_after(now, ask.lease))])?;
        let call = call::open(store, ask.run, &ask.call, Some(&ask.model))?;
        let mut insert = store.prepare_cached(
            "INSERT INTO attempts (call, n, started_at, wait_ms) VALUES (?1, ?2, ?3, ?4)",
        )?;
        insert.execute(params![call, ask.n, ms(now), span_ms(ask.wait)])?;
    }
    Ok(answer)
}

/// Whether a call has made this attempt.
fn made(store: &Connection, call: i64, n: u32) -> Result<bool, Fault> {
    let mut select = store.prepare_cached("SELECT 1 FROM attempts WHERE call = ?1 AND n = ?2")?;
    Ok(select.exists(params![call, n])?)
}

/// Uses up the permit and records how the attempt ended.
pub(super) fn record(store: &Connection, told: Telling) -> Result<(), Fault> {
    let missing = || Fault::from(keep::no_attempt(told.run, told.n));
    let call = call::find(store, told.run, &told.call)?.ok_or_else(missing)?;
    let mut update = store.prepare_cached(
        "UPDATE attempts SET latency_ms = :latency, first_byte_ms = :first_byte, status = :status, class = :class,
           error_type = :error_type, error_code = :error_code, request_id = :request_id, hint_ms = :hint,
           message = :message, input_tokens = :input, cache_write_5m_tokens = :write_5m,
           cache_write_1h_tokens = :write_1h, cache_read_tokens = :read, output_tokens = :output,
           web_searches = :searches, tier = :tier, geo = :geo, speed = :speed
         WHERE call = :call AND n = :n AND latency_ms IS NULL",
    )?;
    let end = &told.end;
    let tokens = |which: fn(&Usage) -> u64| end.usage.as_ref().map(|usage| count(which(usage)));
    let words = |which: fn(&Usage) -> &'static str| end.usage.as_ref().map(which);
    let changed = update.execute(named_params! {
        ":call": call,
        ":n": told.n,
        ":latency": span_ms(end.latency),
        ":first_byte": end.first_byte.map(span_ms),
        ":status": end.status,
        ":class": end.class.map(crate::outcome::Class::as_str),
        ":error_type": end.error_type,
        ":error_code": end.error_code,
        ":request_id": end.request_id,
        ":hint": end.hint.map(span_ms),
        ":message": end.message,
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
    if changed == 0 {
        // It has ended already, and the caller was not told: the guard must not count it twice.
        return if made(store, call, told.n)? {
            Ok(())
        } else {
            Err(missing())
        };
    }
    if let Some(cost) = told.cost_usd {
        call::cost(store, call, cost)?;
    }
    if let Some(batch) = &told.batch {
        batches::hand_in(store, told.run, batch)?;
    }
    if let Some((answer, role)) = &told.answer {
        let role = *role;
        call::answer(store, call, Brought { answer, role })?;
        if role == Role::Owed {
            delivery::owe(store, call, told.now)?;
        }
    }
    guard_row::tell(store, &told.group, told.now, move |guard, now| {
        match told.sample {
            Some(sample) => guard.record(&told.policy, told.permit, sample, now),
            None => guard.release(told.permit),
        }
        guard.pay(&told.bill, now);
        if let Some(hold) = told.hold {
            guard.place_hold(hold);
        }
    })
}
