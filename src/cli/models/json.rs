//! The models for programs.

use serde_json::{Value, json};

use super::{Problem, Section};
use crate::anthropic::{Listed, Models};
use crate::cli::json::instant;
use crate::money::Dollars;
use crate::price::Price;

/// Every section, with the date of the prices.
#[must_use]
pub fn of(sections: &[Section<'_>], table: &Models) -> Value {
    let keys: Vec<Value> = sections
        .iter()
        .map(|section| of_section(section, table))
        .collect();
    json!({ "version": 1, "prices_as_of": table.as_of().to_string(), "keys": keys })
}

fn of_section(section: &Section<'_>, table: &Models) -> Value {
    let models = section.models.iter();
    let models: Vec<Value> = models
        .map(|model| of_model(section, model, table))
        .collect();
    let problems: Vec<Value> = section.problems.iter().map(of_problem).collect();
    json!({
        "key": section.key.as_str(),
        "group": section.group.as_str(),
        "models": models,
        "problems": problems,
    })
}

fn of_model(section: &Section<'_>, model: &Listed, table: &Models) -> Value {
    let mut value = json!({ "id": model.id, "jobs": section.jobs_of(model) });
    let known = table.find(&model.id);
    let mut put = |name: &str, told: Option<Value>| {
        if let Some(told) = told {
            value[name] = told;
        }
    };
    put(
        "display_name",
        model.display_name.as_ref().map(|name| json!(name)),
    );
    put(
        "lifecycle",
        model.lifecycle.as_ref().map(|word| json!(word.as_str())),
    );
    put(
        "deprecated_at",
        model.deprecated_at.map(|at| json!(instant(at))),
    );
    put("retires_at", model.retires_at.map(|at| json!(instant(at))));
    put(
        "max_input_tokens",
        model.max_input_tokens.map(|most| json!(most)),
    );
    put("max_tokens", model.max_tokens.map(|most| json!(most)));
    put("price", known.and_then(|known| known.price).map(of_price));
    let long = known.and_then(|known| known.long_prompt);
    put(
        "long_prompt",
        long.map(|long| json!({ "over_tokens": long.over_tokens, "price": of_price(long.price) })),
    );
    value
}

/// Dollars for a million tokens.
fn of_price(price: Price) -> Value {
    json!({
        "input": price.input.as_f64(),
        "output": price.output.as_f64(),
        "cache_write_5m": price.cache_write_5m.as_f64(),
        "cache_write_1h": price.cache_write_1h.as_f64(),
        "cache_read": price.cache_read.map(Dollars::as_f64),
    })
}

fn of_problem(problem: &Problem<'_>) -> Value {
    let mut value = json!({
        "job": problem.job.as_str(),
        "field": problem.field,
        "model": problem.model,
        "problem": problem.standing.as_str(),
        "help": problem.help,
    });
    if let Some(at) = problem.retires_at {
        value["retires_at"] = json!(instant(at));
    }
    value
}
