//! What jobs ask of the API, read from their body fields for the linter.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::anthropic::{Models, Refuses};
use crate::job::{CacheTtl, Job, Template};
use crate::lint::{Breakpoint, Limits, Refusal, Sampling, Shape, Thinking, ToolChoice};

/// Reads what jobs ask for; the limits of each model once.
#[derive(Debug)]
pub struct Shapes<'a> {
    models: &'a Models,
    version: &'a str,
    limits: HashMap<String, Option<Arc<Limits>>>,
}

impl<'a> Shapes<'a> {
    /// Nothing read yet; the version is that of the API.
    #[must_use]
    pub fn new(models: &'a Models, version: &'a str) -> Self {
        Self {
            models,
            version,
            limits: HashMap::new(),
        }
    }

    /// What each step of a job asks of its own model.
    pub fn of(&mut self, job: &Job) -> Vec<Shape> {
        let steps = job.chain();
        steps.map(|step| self.of_step(step, &step.model)).collect()
    }

    /// What each step of a job asks when this model is asked in place of its own.
    pub fn at(&mut self, job: &Job, model: &str) -> Vec<Shape> {
        job.chain().map(|step| self.of_step(step, model)).collect()
    }

    fn of_step(&mut self, template: &Template, model: &str) -> Shape {
        let fields = template.extra.iter();
        // The decoder has written them as JSON.
        let read = fields.filter_map(|(name, text)| {
            let value = serde_json::from_str(text).ok()?;
            Some((name.as_str(), value))
        });
        let fields: HashMap<&str, Value> = read.collect();
        Shape {
            step: template.name.clone(),
            model: model.to_owned(),
            limits: self.limits(model),
            version: self.version.trim().to_owned(),
            max_tokens: template.max_tokens,
            thinking: fields.get("thinking").and_then(thinking),
            sampling: sampling(&fields),
            tool_choice: fields
                .get("tool_choice")
                .map_or(ToolChoice::Free, tool_choice),
            region: fields
                .get("inference_geo")
                .and_then(|region| region.as_str().map(str::to_owned)),
            breakpoints: breakpoints(template, &fields),
        }
    }

    fn limits(&mut self, id: &str) -> Option<Arc<Limits>> {
        if let Some(known) = self.limits.get(id) {
            return known.clone();
        }
        let limits = self.models.find(id).map(|model| {
            Arc::new(Limits {
                max_output_tokens: model.max_output_tokens,
                refuses: model.refuses.iter().copied().map(refusal).collect(),
            })
        });
        self.limits.insert(id.to_owned(), limits.clone());
        limits
    }
}

const fn refusal(refuses: Refuses) -> Refusal {
    match refuses {
        Refuses::Sampling => Refusal::Sampling,
        Refuses::EnabledThinking => Refusal::EnabledThinking,
        Refuses::AdaptiveThinking => Refusal::AdaptiveThinking,
        Refuses::DisabledThinking => Refusal::DisabledThinking,
        Refuses::ForcedTool => Refusal::ForcedTool,
        Refuses::InferenceGeo => Refusal::Region,
    }
}

fn thinking(value: &Value) -> Option<Thinking> {
    match value["type"].as_str()? {
        "adaptive" => Some(Thinking::Adaptive),
        "disabled" => Some(Thinking::Disabled),
        "enabled" => Some(Thinking::Enabled(value["budget_tokens"].as_u64())),
        _ => None,
    }
}

/// The sampling parameters that are set; 1 is what holds without the first two.
fn sampling(fields: &HashMap<&str, Value>) -> Vec<Sampling> {
    let set = ["temperature", "top_p", "top_k"]
        .into_iter()
        .filter_map(|name| {
            let value = fields.get(name).filter(|value| !value.is_null())?;
            let is_one = value.as_f64() == Some(1.0);
            Some(Sampling {
                field: name.to_owned(),
                is_default: is_one && name != "top_k",
            })
        });
    set.collect()
}

fn tool_choice(value: &Value) -> ToolChoice {
    match value["type"].as_str() {
        Some("any" | "tool") => ToolChoice::Forced,
        Some(_) | None => ToolChoice::Free,
    }
}

/// The API reads tools, then the system prompt; the breakpoint that it places by itself stands after both.
fn breakpoints(template: &Template, fields: &HashMap<&str, Value>) -> Vec<Breakpoint> {
    let tools = fields.get("tools").and_then(Value::as_array);
    let tools = tools.into_iter().flatten();
    let tools = tools.filter_map(|tool| Some(("tools", life(tool.get("cache_control")?)?)));
    let system = template.system.iter();
    let system = system.filter_map(|block| Some(("system", block.cache?)));
    let automatic = fields.get("cache_control").and_then(life);
    let automatic = automatic.map(|life| ("cache_control", life));
    let all = tools.chain(system).chain(automatic);
    all.map(|(field, life)| Breakpoint { field, life })
        .collect()
}

fn life(control: &Value) -> Option<CacheTtl> {
    control["type"].as_str()?;
    Some(match control["ttl"].as_str() {
        Some("1h") => CacheTtl::OneHour,
        Some(_) | None => CacheTtl::FiveMinutes,
    })
}
