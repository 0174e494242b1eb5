//! A report as JSON; `docs/report.md` says what each member means.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::cli::json::{Place, instant};
use crate::job::{GroupId, JobId};
use crate::report::{
    Breakdown, By, Change, Completion, Evidence, Figures, Percentiles, Section, Tail, TailAdvice,
    TailSample, Unit, compare,
};

/// Where the line stands that a piece of advice is about.
type PlaceOf<'a> = &'a dyn Fn(&TailAdvice) -> Option<Place>;

/// The whole report, or with `by` that way alone.
pub(super) fn report(
    now: &Breakdown,
    before: Option<&Breakdown>,
    by: Option<By>,
    place_of: PlaceOf<'_>,
) -> Value {
    let mut value = breakdown(now, by);
    value.insert("tail".to_owned(), tail(&now.tail, place_of));
    if let Some(before) = before {
        let changes = compare(&before.total, &now.total);
        value.insert("before".to_owned(), breakdown(before, by).into());
        value.insert("changes".to_owned(), changes.iter().map(change).collect());
    }
    value.into()
}

fn breakdown(report: &Breakdown, by: Option<By>) -> Map<String, Value> {
    let scope = &report.scope;
    let mut value = Map::new();
    let mut put = |name: &str, member: Value| {
        if !member.is_null() {
            value.insert(name.to_owned(), member);
        }
    };
    put("version", 1.into());
    put("since", instant(scope.since).into());
    put("until", instant(scope.until).into());
    put("job", scope.job.as_ref().map(JobId::as_str).into());
    put("group", scope.group.as_ref().map(GroupId::as_str).into());
    put("total", figures(&report.total).into());
    for section in report
        .sections
        .iter()
        .filter(|section| by.is_none_or(|by| section.by == by))
    {
        put(plural(section.by), rows(section));
    }
    value
}

const fn plural(by: By) -> &'static str {
    match by {
        By::Group => "groups",
        By::Job => "jobs",
        By::Model => "models",
        By::Hour => "hours",
        By::Day => "days",
    }
}

fn rows(section: &Section) -> Value {
    let rows = section.rows.iter().map(|(name, it)| {
        let mut row = Map::new();
        row.insert(section.by.as_str().to_owned(), name.as_str().into());
        row.extend(figures(it));
        Value::from(row)
    });
    rows.collect()
}

fn figures(it: &Figures) -> Map<String, Value> {
    let slots = it.slots.named().into_iter().filter(|(_, count)| *count > 0);
    let yields = it
        .yields
        .iter()
        .map(|(gate, count)| (gate.as_str(), *count));
    let counted = &it.tokens.counted;
    let members = [
        ("slots", counts(slots)),
        ("calls", it.calls.into()),
        ("attempts", it.attempts.into()),
        ("mean_attempts", it.mean_attempts().into()),
        ("wasted", it.wasted.into()),
        ("batch_requests", it.errands.into()),
        ("yields", counts(yields)),
        ("latency", it.latency.as_ref().map(percentiles).into()),
        ("first_byte", it.first_byte.as_ref().map(percentiles).into()),
        ("completion", completion(&it.completion)),
        (
            "tokens",
            json!({
                "input": counted.input_tokens,
                "cache_write": counted.cache_write_tokens(),
                "cache_read": counted.cache_read_tokens,
                "output": counted.output_tokens,
                "unknown": it.tokens.unknown,
            }),
        ),
        (
            "cache",
            json!({ "answers": it.counted, "hits": it.cache_hits }),
        ),
        (
            "dollars",
            json!({ "known": it.dollars.known.as_f64(), "unknown": it.dollars.unknown }),
        ),
    ];
    let known = members.into_iter().filter(|(_, member)| !member.is_null());
    known
        .map(|(name, member)| (name.to_owned(), member))
        .collect()
}

fn counts(counts: impl Iterator<Item = (&'static str, usize)>) -> Value {
    let members: Map<String, Value> = counts
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect();
    members.into()
}

fn percentiles(it: &Percentiles) -> Value {
    json!({
        "samples": it.samples,
        "few": it.is_very_few(),
        "p50_ms": millis(it.p50),
        "p95_ms": millis(it.p95),
        "p99_ms": millis(it.p99),
        "max_ms": millis(it.max),
    })
}

/// A percentile that falls on work that is not done is left out.
fn completion(it: &Completion) -> Value {
    let mut value = json!({ "due": it.due, "done": it.completed });
    let spans = [
        ("p50_ms", it.p50),
        ("p95_ms", it.p95),
        ("p99_ms", it.p99),
        ("max_ms", it.max),
    ];
    for (name, span) in spans {
        if let Some(span) = span {
            value[name] = millis(span).into();
        }
    }
    value
}

fn tail(tail: &Tail, place_of: PlaceOf<'_>) -> Value {
    json!({
        "samples": tail.samples,
        "from_ms": millis(tail.from),
        "peak_jitter": tail.peak_jitter,
        "retry_collision": tail.retry_collision,
        "long_cold_input": tail.long_cold_input,
        "none": tail.none,
        "worst": tail.worst.iter().map(sample).collect::<Vec<_>>(),
        "advice": tail.advice.iter().map(|it| advice(it, place_of)).collect::<Vec<_>>(),
    })
}

fn sample(it: &TailSample) -> Value {
    json!({
        "at": instant(it.at),
        "job": it.job,
        "group": it.group,
        "model": it.model,
        "n": it.n,
        "latency_ms": millis(it.latency),
        "patterns": it.evidence.iter().map(evidence).collect::<Vec<_>>(),
    })
}

fn evidence(it: &Evidence) -> Value {
    match it {
        Evidence::PeakJitter {
            hour,
            spread,
            off_peak,
        } => json!({
            "pattern": "peak_jitter",
            "hour": format!("{hour:02}"),
            "spread_ms": spread.map(millis),
            "off_peak_spread_ms": off_peak.map(millis),
        }),
        Evidence::RetryCollision { other, apart } => json!({
            "pattern": "retry_collision",
            "other": other,
            "apart_ms": millis(*apart),
        }),
        Evidence::LongColdInput { tokens } => {
            json!({ "pattern": "long_cold_input", "tokens": tokens })
        }
    }
}

fn advice(it: &TailAdvice, place_of: PlaceOf<'_>) -> Value {
    let mut value = json!({
        "job": it.job,
        "field": it.field.as_str(),
        "samples": it.samples,
        "message": it.words,
    });
    if let Some(place) = place_of(it) {
        value["file"] = place.file.into();
        value["line"] = place.line.into();
    }
    value
}

fn change(it: &Change) -> Value {
    let unit = match it.unit {
        Unit::Count => "count",
        Unit::Ratio => "ratio",
        Unit::Millis => "ms",
        Unit::Dollars => "dollars",
    };
    let mut value = json!({ "name": it.name, "unit": unit });
    let known = [
        ("before", it.before),
        ("now", it.now),
        ("percent", it.percent()),
    ];
    for (name, figure) in known {
        if let Some(figure) = figure {
            value[name] = figure.into();
        }
    }
    value
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
