//! The JSON that the commands print: twins of core types, with stable names.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde_json::{Value, json};

use super::money;
use crate::answer::Usage;
use crate::config::{self, Mistake, Unreadable};
use crate::engine::pause::{Pause, PauseTarget};
use crate::engine::ports::{Deferral, NewDeferral};
use crate::guard::{BreakerState, DollarCaps, Guard};
use crate::job::{GroupId, JobId};
use crate::lint::Finding;
use crate::money::Dollars;
use crate::outcome::{Attempt, Run};
use crate::slot::Slot;

/// The JSON Schema (draft 2020-12) of what `validate --format json` prints.
pub const VALIDATE_SCHEMA: &str = include_str!("../../schemas/validate.schema.json");

/// An instant in UTC with `Z`, to the second where that is exact.
#[must_use]
pub fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// Drops the members that are null: absent fields are left out.
pub(super) fn compact(mut value: Value) -> Value {
    if let Value::Object(map) = &mut value {
        map.retain(|_, member| !member.is_null());
    }
    value
}

fn millis(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Where a finding stands in the user's files.
#[derive(Debug, Clone, Serialize)]
pub struct Place {
    /// The file, relative to the working folder where it lies inside.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// The character within the line, counted from 1.
    pub column: usize,
    /// The line of the first character behind it.
    pub end_line: usize,
    /// The first character behind it, counted from 1.
    pub end_column: usize,
}

impl From<&config::Place> for Place {
    fn from(place: &config::Place) -> Self {
        Self {
            file: place.file().to_owned(),
            line: place.line(),
            column: place.column(),
            end_line: place.end_line(),
            end_column: place.end_column(),
        }
    }
}

/// One mistake in the files.
#[must_use]
pub fn mistake(mistake: &Mistake) -> Value {
    let place = Place::from(&mistake.place);
    compact(json!({
        "rule": mistake.rule.as_str(),
        "severity": mistake.severity.as_str(),
        "job": mistake.job.as_ref().map(JobId::as_str),
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "message": mistake.message,
        "help": mistake.help,
        "accepted": mistake.accepted,
    }))
}

/// One file that could not be read.
#[must_use]
pub fn unreadable(unreadable: &Unreadable) -> Value {
    let place = unreadable.place.as_ref().map(Place::from);
    compact(json!({
        "rule": "unreadable",
        "severity": "error",
        "file": unreadable.path,
        "line": place.as_ref().map(|place| place.line),
        "column": place.as_ref().map(|place| place.column),
        "end_line": place.as_ref().map(|place| place.end_line),
        "end_column": place.as_ref().map(|place| place.end_column),
        "message": unreadable.message,
        "help": unreadable.help,
    }))
}

/// One linter finding.
#[must_use]
pub fn finding(finding: &Finding, place: Option<&Place>) -> Value {
    compact(json!({
        "rule": finding.rule.as_str(),
        "severity": finding.severity.as_str(),
        "job": finding.job.as_str(),
        "at": finding.at.map(instant),
        "other": finding.other.as_ref().map(|other| other.job.as_str()),
        "other_at": finding.other.as_ref().map(|other| instant(other.at)),
        "group": finding.group.as_str(),
        "gap_seconds": finding.gap.map(|gap| gap.as_secs()),
        "per_year": finding.per_year,
        "file": place.map(|place| place.file.as_str()),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "end_line": place.map(|place| place.end_line),
        "end_column": place.map(|place| place.end_column),
        "message": finding.message,
        "help": finding.help,
        "suggestion": finding.suggestion.as_ref().map(|found| json!({ "cron": found.cron })),
        "accepted": finding.accepted,
    }))
}

/// One run.
#[must_use]
pub fn run(run: &Run) -> Value {
    compact(json!({
        "job": run.job.as_str(),
        "fire_at": instant(run.fire_at),
        "origin": run.origin.as_str(),
        "outcome": run.outcome.as_ref().map(crate::outcome::Outcome::as_str),
        "reason": run.outcome.as_ref().and_then(crate::outcome::Outcome::reason),
        "note": run.note,
        "started_at": instant(run.started_at),
        "finished_at": run.finished_at.map(instant),
        "group": run.group.as_str(),
        "model": run.model,
        "attempts": run.attempts.iter().map(attempt).collect::<Vec<_>>(),
        "stop_reason": run.stop_reason.as_ref().map(crate::answer::StopReason::as_str),
        "usage": run.usage.map(usage),
        "cost_usd": run.cost_usd.map(Dollars::as_f64),
        "output": run.output.as_ref().map(|path| path.display().to_string()),
        "deferred": run.deferred.as_ref().map(|to| compact(json!({
            "not_before": instant(to.not_before),
            "to": to.to.map(instant),
            "carries": to.carries,
        }))),
    }))
}

fn attempt(attempt: &Attempt) -> Value {
    let end = attempt.end.as_ref();
    compact(json!({
        "item": attempt.call.item.as_deref(),
        "step": (attempt.call.step != 1).then_some(attempt.call.step),
        "part": (attempt.call.part > 1).then_some(attempt.call.part),
        "n": attempt.n,
        "status": end.and_then(|end| end.status),
        "class": end.and_then(|end| end.class).map(crate::outcome::Class::as_str),
        "error_type": end.and_then(|end| end.error_type.as_deref()),
        "error_code": end.and_then(|end| end.error_code.as_deref()),
        "request_id": end.and_then(|end| end.request_id.as_deref()),
        "started_at": instant(attempt.started_at),
        "latency_ms": end.map(|end| millis(end.latency)),
        "first_byte_ms": end.and_then(|end| end.first_byte).map(millis),
        "hint_ms": end.and_then(|end| end.hint).map(millis),
        "wait_ms": millis(attempt.wait),
        "message": end.and_then(|end| end.message.as_deref()),
        "usage": end.and_then(|end| end.usage).map(usage),
    }))
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "cache_write_5m_tokens": usage.cache_write_5m_tokens,
        "cache_write_1h_tokens": usage.cache_write_1h_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
        "web_searches": usage.web_searches,
        "tier": usage.tier.as_str(),
        "geo": usage.geo.as_str(),
        "speed": usage.speed.as_str(),
    })
}

/// One pending deferral.
#[must_use]
pub fn deferral(deferral: &Deferral) -> Value {
    let wait = &deferral.wait;
    compact(json!({
        "job": deferral.slot.job.as_str(),
        "fire_at": instant(deferral.slot.fire_at),
        "group": deferral.group.as_str(),
        "origin": wait.origin.as_str(),
        "reason": wait.reason.as_str(),
        "not_before": instant(wait.not_before),
        "to": wait.to.map(instant),
        "carries": wait.carries,
    }))
}

/// One pause.
#[must_use]
pub fn pause(pause: &Pause) -> Value {
    let (job, group) = match &pause.target {
        PauseTarget::Job(job) => (Some(job.as_str()), None),
        PauseTarget::Group(group) => (None, Some(group.as_str())),
    };
    compact(json!({
        "job": job,
        "group": group,
        "since": instant(pause.since),
        "until": pause.until.map(instant),
        "reason": pause.reason,
    }))
}

/// Work that is pending again.
#[must_use]
pub fn again(slot: &Slot, wait: &NewDeferral, paused: Option<&Pause>) -> Value {
    compact(json!({
        "job": slot.job.as_str(),
        "fire_at": instant(slot.fire_at),
        "to": wait.to.map(instant),
        "paused": paused.map(pause),
    }))
}

/// How a group's guard stands.
#[must_use]
pub fn guard(group: &GroupId, guard: &Guard, caps: &DollarCaps, now: DateTime<Utc>) -> Value {
    let (breaker, since) = match guard.breaker.state {
        BreakerState::Closed => ("closed", None),
        BreakerState::Open { since } => ("open", Some(since)),
        BreakerState::HalfOpen { since, .. } => ("half_open", Some(since)),
    };
    compact(json!({
        "group": group.as_str(),
        "breaker": breaker,
        "since": since.map(instant),
        "hold": guard.hold.as_ref().filter(|hold| hold.is_active(now)).map(|hold| compact(json!({
            "since": instant(hold.since),
            "until": hold.until.map(instant),
            "note": hold.note,
        }))),
        "spent": money::spent(guard, caps, now),
    }))
}
