//! What `simulate` found, as JSON; `docs/simulate.md` says what each member means.

use serde_json::{Map, Value as Json, json};

use super::arms::{Arm, Effect, Of};
use super::judge::Judged;
use super::schedule::Schedule;
use super::{Head, Trial};
use crate::cli::json::instant;
use crate::trial::{Change, Contrast, Held, Metric, Spread, Summary, Unit, Value, few};

/// The whole of it.
pub fn trial(trial: &Trial<'_>) -> Json {
    let Head { days, seeds, world } = &trial.head;
    let mut value = json!({
        "version": 1,
        "from": instant(days.from),
        "days": days.count,
        "seeds": { "first": seeds.start, "count": seeds.end - seeds.start },
        "world": world.file.as_deref().unwrap_or("default"),
        "schedules": trial.schedules().map(schedule).collect::<Vec<_>>(),
        "arms": trial.arms.iter().map(arm).collect::<Vec<_>>(),
        "assumed": trial.assumed,
        "conditions": trial.judged.iter().map(condition).collect::<Vec<_>>(),
        "ok": trial.is_ok(),
    });
    if !trial.effects.is_empty() {
        value["contrasts"] = trial.effects.iter().map(effect).collect();
    }
    value
}

fn schedule(schedule: &Schedule) -> Json {
    json!({
        "schedule": schedule.which.as_str(),
        "jobs": schedule.jobs,
        "slots": schedule.course.slots(),
        "errors": schedule.errors,
    })
}

fn arm(arm: &Arm) -> Json {
    let few = few(&arm.summary);
    json!({
        "client": arm.client.as_str(),
        "schedule": arm.schedule.as_str(),
        "figures": figures(&arm.summary),
        "few": few.into_iter().map(Metric::as_str).collect::<Vec<_>>(),
    })
}

/// The figures of which there was something to measure.
fn figures(summary: &Summary) -> Map<String, Json> {
    let figure = |metric: &Metric| {
        let spread = summary.spread(*metric);
        let figure = self::spread(spread, metric.unit());
        (spread.measured > 0).then(|| (metric.as_str().to_owned(), figure))
    };
    Metric::ALL.iter().filter_map(figure).collect()
}

/// Numbers in the unit of the figure; a rank that is beyond measure is named in place of a number.
fn spread(spread: &Spread, unit: Unit) -> Json {
    let ranks = [
        ("median", spread.median),
        ("q25", spread.low),
        ("q75", spread.high),
        ("least", spread.least),
        ("most", spread.most),
    ];
    let mut value = Map::new();
    value.insert("seeds".to_owned(), spread.measured.into());
    let mut named = |name: &str, found: Value| {
        let ranks = ranks.iter().filter(|(_, rank)| *rank == found);
        let ranks: Vec<&str> = ranks.map(|(rank, _)| *rank).collect();
        if !ranks.is_empty() {
            value.insert(name.to_owned(), ranks.into());
        }
    };
    named("beyond", Value::Beyond);
    named("below", Value::Below);
    for (name, rank) in ranks {
        if let Value::Measured(found) = rank {
            value.insert(name.to_owned(), number(found, unit));
        }
    }
    value.into()
}

/// Whole where the unit is.
fn number(number: f64, unit: Unit) -> Json {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "counts and milliseconds stay far below 2 to the 53rd"
    )]
    match unit {
        Unit::Count | Unit::Span => (number.round() as i64).into(),
        Unit::Ratio | Unit::Dollars => rounded(number),
    }
}

/// To a billionth, as dollars are kept.
fn rounded(number: f64) -> Json {
    ((number * 1e9).round() / 1e9).into()
}

fn effect(effect: &Effect) -> Json {
    let mut value = match effect.of {
        Of::Schedule(client) => json!({ "of": "schedule", "client": client.as_str() }),
        Of::Guards(schedule) => json!({ "of": "guards", "schedule": schedule.as_str() }),
        Of::Both => json!({ "of": "both" }),
    };
    let changes = effect.contrasts.iter();
    let changes = changes.filter(|it| it.difference.measured > 0 || it.beyond > 0);
    let changes = changes.map(|it| (it.metric.as_str().to_owned(), contrast(it)));
    value["changes"] = Json::Object(changes.collect());
    value
}

fn contrast(contrast: &Contrast) -> Json {
    let mut value = json!({
        "difference": spread(&contrast.difference, contrast.metric.unit()),
    });
    if contrast.relative.measured > 0 {
        value["relative"] = spread(&contrast.relative, Unit::Ratio);
    }
    if contrast.beyond > 0 {
        value["both_beyond"] = contrast.beyond.into();
    }
    if let Some(Change { estimate, interval }) = contrast.change {
        value["change"] = json!({ "estimate": rounded(estimate) });
        for (name, end) in interval
            .iter()
            .flat_map(|it| [("low", it.low), ("high", it.high)])
        {
            if let Value::Measured(end) = end {
                value["change"][name] = rounded(end);
            }
        }
    }
    value
}

fn condition(judged: &Judged) -> Json {
    let mut value = json!({
        "condition": judged.condition.to_string(),
        "fails": judged.fails(),
        "seeds": judged.measured,
    });
    match judged.held {
        Held::Holds(Value::Measured(found)) | Held::DoesNot(Value::Measured(found)) => {
            value["measured"] = number(found, judged.condition.metric().unit());
        }
        Held::Holds(Value::Beyond) | Held::DoesNot(Value::Beyond) => value["beyond"] = true.into(),
        Held::Holds(Value::Nothing | Value::Below)
        | Held::DoesNot(Value::Nothing | Value::Below)
        | Held::Nothing => {}
    }
    value
}
