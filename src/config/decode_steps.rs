//! `steps`: a chain of calls, each with the answers of those before it.

use crate::job::{SystemBlock, TextSource};
use crate::lint::Rule;

use super::context::Context;
use super::decode_defaults::{max_tokens, model};
use super::decode_text::{Surroundings, prompt, system, variable_name};
use super::fields::{Field, Fields};
use super::mistakes::Mistake;
use super::node::{Node, Value};
use super::source::Place;
use super::templates::Variables;
use super::typed;

/// One answer needs no chain.
const LEAST: usize = 2;
/// More steps than this want a program, not a job file.
const MOST: usize = 5;

const EXPECTED: &str = "a step such as `{ id: outline, prompt: { file: outline.md } }`";

/// One step; what it leaves out is as the job says.
#[derive(Debug)]
pub struct Step {
    /// The variable that holds its answer in later steps; `None` for a job with one prompt.
    pub id: Option<String>,
    /// The user message.
    pub prompt: TextSource,
    /// The model.
    pub model: Option<String>,
    /// The most tokens of its answer.
    pub max_tokens: Option<u32>,
    /// The system prompt, in the place of the job's.
    pub system: Option<Vec<SystemBlock<TextSource>>>,
    /// Where its own fields stand, by name.
    asking: Vec<(&'static str, Place)>,
}

impl Step {
    /// The one step of a job with one prompt.
    pub const fn of_prompt(prompt: TextSource) -> Self {
        Self {
            id: None,
            prompt,
            model: None,
            max_tokens: None,
            system: None,
            asking: Vec::new(),
        }
    }

    /// Where its own fields stand, as `(STEP.FIELD, place)`.
    pub fn places(&self) -> impl Iterator<Item = (String, Place)> {
        let id = self.id.as_deref().unwrap_or_default();
        let places = self.asking.iter();
        places.map(move |(field, place)| (format!("{id}.{field}"), place.clone()))
    }
}

/// Reads `steps`, in their order. A step with mistakes is left out, but later ones may use its answer.
pub fn steps(cx: &mut Context<'_>, field: Field<'_>, around: Surroundings<'_>) -> Vec<Step> {
    let Value::List(items) = &field.node.value else {
        cx.expected(field, "a list of steps");
        return Vec::new();
    };
    if !(LEAST..=MOST).contains(&items.len()) {
        let message = format!("`steps`: {} found, {LEAST} to {MOST} expected", items.len());
        let help = match items.len() {
            0..LEAST => "write a single call as `prompt`",
            _ => "let one prompt do the work of several steps",
        };
        cx.bad_field(field.key.clone(), message, Some(help.to_owned()));
        return Vec::new();
    }
    let mut known = around.variables.texts.to_vec();
    let mut ids: Vec<(&str, &Place)> = Vec::new();
    let mut steps = Vec::new();
    for item in items {
        let texts = &known;
        let around = Surroundings {
            variables: Variables {
                texts,
                ..around.variables
            },
            ..around
        };
        steps.extend(step(cx, item, around, &ids));
        if let Some((id, place)) = id_of(item) {
            ids.push((id, place));
            known.push(id);
        }
    }
    steps
}

fn step(
    cx: &mut Context<'_>,
    item: &Node,
    around: Surroundings<'_>,
    ids: &[(&str, &Place)],
) -> Option<Step> {
    let start = match &item.value {
        Value::Map(entries) => entries.first().map(|entry| &entry.key.place),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::List(_) => None,
    };
    let owner = Field {
        name: "steps",
        key: start.unwrap_or(&item.place),
        node: item,
    };
    let mut fields = Fields::open(cx, owner, EXPECTED)?;
    if !fields.has("id") {
        let help = "name the step: later ones find its answer by that name, as in `id: outline`";
        cx.missing(fields.owner(), "id", help);
    }
    let id = fields.read(cx, "id", |cx, f| step_id(cx, f, around.variables, ids));
    if !fields.has("prompt") {
        let help = "write `prompt: { file: PATH }` or `prompt: { text: … }`";
        cx.missing(fields.owner(), "prompt", help);
    }
    let asking = ["max_tokens", "model", "system"].into_iter();
    let asking = asking
        .filter(|name| fields.has(name))
        .map(|name| (name, fields.place_of(name)))
        .collect();
    let model = fields.read(cx, "model", model);
    let max_tokens = fields.read(cx, "max_tokens", max_tokens);
    let system = fields.read(cx, "system", |cx, f| system(cx, f, around));
    let prompt = fields.read(cx, "prompt", |cx, f| prompt(cx, f, around));
    fields.close(cx);
    Some(Step {
        id: Some(id?),
        prompt: prompt?,
        model,
        max_tokens,
        system,
        asking,
    })
}

fn step_id(
    cx: &mut Context<'_>,
    field: Field<'_>,
    variables: Variables<'_>,
    ids: &[(&str, &Place)],
) -> Option<String> {
    let id = typed::text(cx, field)?;
    variable_name(cx, field, (&id, "step"))?;
    if let Some((_, first)) = ids.iter().find(|(known, _)| *known == id) {
        let message = format!("two steps are named `{id}`");
        let mistake = Mistake::new(Rule::BadField, field.place(), message)
            .related((*first).clone(), "the first one")
            .help("rename one of them");
        cx.report(mistake);
        return None;
    }
    if variables.texts.contains(&id.as_str()) {
        let reason = format!("the step `{id}` would hide the input of that name");
        cx.bad_field(field.place(), reason, Some("rename one of them".to_owned()));
        return None;
    }
    Some(id)
}

/// The id of a step, whatever else is wrong with it.
fn id_of(item: &Node) -> Option<(&str, &Place)> {
    let Value::Map(entries) = &item.value else {
        return None;
    };
    let mut fields = entries.iter().filter_map(Field::of);
    let id = fields.find(|field| field.name == "id")?;
    match &id.node.value {
        Value::Text(text) => Some((text, &id.node.place)),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::List(_)
        | Value::Map(_) => None,
    }
}
