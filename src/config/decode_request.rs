//! What a job asks of the API beside its texts: `thinking`, `effort`, `answer_schema`, `tools`, `service_tier`, and
//! other body fields by `request`.

use std::path::Path;

use serde_json::{Map, Value as Json, json};

use crate::job::Delivery;

use super::answer_schema::{DecodedSchema, answer_schema};
use super::context::Context;
use super::fields::{Field, Fields, open_entries};
use super::node::{Node, Value};
use super::source::Place;
use super::typed;
use super::value::{listed, nearest};

/// From this many tokens on, an answer that is not streamed may outlast the ten minutes that networks keep a silent
/// connection: 600 s at the 3600 s for 128,000 tokens that the official clients reckon with.
const MAX_WHOLE_TOKENS: u32 = 21_333;

/// The most tokens that a model may be told to think with; how many it takes is for the linter to say.
const MAX_BUDGET: u32 = 1_000_000;

/// The server tools that have a short name, and their types.
const SERVER_TOOLS: [(&str, &str); 1] = [("web_search", "web_search_20260318")];

/// The body fields that have a field of their own in the job, and how that is written.
const OWN_FIELDS: [(&str, &str); 6] = [
    ("model", "model: …"),
    ("max_tokens", "max_tokens: …"),
    ("system", "system: …"),
    ("thinking", "thinking: adaptive"),
    ("tools", "tools: [web_search]"),
    ("service_tier", "service_tier: standard_only"),
];

/// What a job asks for.
#[derive(Debug)]
pub struct Asked {
    /// How the answer travels.
    pub delivery: Delivery,
    /// The body fields as `(name, JSON text)`.
    pub extra: Vec<(String, String)>,
    /// The same for a step whose answer is not the job's: what it must look like is not asked for.
    pub extra_between: Vec<(String, String)>,
    /// What the answer must look like.
    pub schema: Option<DecodedSchema>,
    /// Where each of the body fields stands in `request`.
    pub places: Vec<(String, Place)>,
}

/// Reads everything of a job that becomes a body field of its own.
pub fn asked(
    cx: &mut Context<'_>,
    fields: &mut Fields<'_>,
    folder: &Path,
    max_tokens: u32,
) -> Asked {
    let thinking = fields.read(cx, "thinking", thinking);
    let effort = fields.read(cx, "effort", effort);
    let schema = fields.read(cx, "answer_schema", |cx, f| answer_schema(cx, f, folder));
    let tools = fields.read(cx, "tools", tools);
    let service_tier = fields.read(cx, "service_tier", |cx, f| {
        let tiers = [("auto", "auto"), ("standard_only", "standard_only")];
        typed::word(cx, f, &tiers)
    });
    let mut request = Request::default();
    if let Some(field) = fields.take("request") {
        request.read(cx, field, max_tokens);
    }
    let format = schema
        .as_ref()
        .map(|schema| json!({ "type": "json_schema", "schema": schema.json }));
    let own = [
        ("effort", effort.map(|word| json!(word))),
        ("format", format),
    ];
    let rest = Rest {
        thinking,
        tools,
        service_tier: service_tier.map(|tier| json!(tier)),
        extra: request.extra,
    };
    let between: Map<String, Json> = parts(&own[..1])
        .chain(request.output_config.clone())
        .collect();
    let whole = parts(&own).chain(request.output_config).collect();
    Asked {
        delivery: request.delivery,
        extra: rest.around(whole),
        extra_between: rest.around(between),
        schema,
        places: request.places,
    }
}

fn parts(own: &[(&str, Option<Json>)]) -> impl Iterator<Item = (String, Json)> {
    own.iter()
        .filter_map(|(name, value)| Some(((*name).to_owned(), value.clone()?)))
}

/// The body fields but for `output_config`.
struct Rest {
    thinking: Option<Json>,
    tools: Option<Json>,
    service_tier: Option<Json>,
    extra: Vec<(String, String)>,
}

impl Rest {
    /// All body fields, with this `output_config` in its place.
    fn around(&self, output_config: Map<String, Json>) -> Vec<(String, String)> {
        let output_config = Some(Json::Object(output_config)).filter(|it| *it != json!({}));
        let named = [
            ("thinking", self.thinking.as_ref()),
            ("output_config", output_config.as_ref()),
            ("tools", self.tools.as_ref()),
            ("service_tier", self.service_tier.as_ref()),
        ];
        let named = named
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_string())));
        named.chain(self.extra.iter().cloned()).collect()
    }
}

fn thinking(cx: &mut Context<'_>, field: Field<'_>) -> Option<Json> {
    const WAYS: &str = "`adaptive`, `disabled` or `{ budget_tokens: 4000 }`";
    if let Value::Text(_) = field.node.value {
        let word = typed::word(
            cx,
            field,
            &[("adaptive", "adaptive"), ("disabled", "disabled")],
        )?;
        return Some(json!({ "type": word }));
    }
    if let Value::Null = field.node.value {
        cx.expected(field, WAYS);
        return None;
    }
    let mut fields = Fields::open(cx, field, WAYS)?;
    let budget = fields.take("budget_tokens");
    let kind = fields.take_hidden("type");
    fields.close(cx);
    if let Some(kind) = kind {
        let message = "`thinking`: the type is not written here".to_owned();
        cx.bad_field(kind.key.clone(), message, Some(format!("write {WAYS}")));
        return None;
    }
    let Some(budget) = budget else {
        cx.missing(field.key, "budget_tokens", format!("write {WAYS}"));
        return None;
    };
    let tokens = typed::integer(cx, budget, 1..=MAX_BUDGET)?;
    Some(json!({ "type": "enabled", "budget_tokens": tokens }))
}

fn effort(cx: &mut Context<'_>, field: Field<'_>) -> Option<&'static str> {
    let words = ["low", "medium", "high", "xhigh", "max"].map(|word| (word, word));
    typed::word(cx, field, &words)
}

/// A list of tools: a short name, or a map as the API takes it.
fn tools(cx: &mut Context<'_>, field: Field<'_>) -> Option<Json> {
    let expected = "a list of tools such as `[web_search]`";
    let Value::List(items) = &field.node.value else {
        cx.expected(field, expected);
        return None;
    };
    if items.is_empty() {
        cx.expected(field, expected);
        return None;
    }
    let tools: Vec<_> = items
        .iter()
        .map(|item| tool(cx, field.element(item)))
        .collect();
    tools.into_iter().collect()
}

fn tool(cx: &mut Context<'_>, field: Field<'_>) -> Option<Json> {
    let Value::Text(name) = &field.node.value else {
        let expected = "a tool's name, or a map such as `{ type: web_search_20260318, name: web_search, max_uses: 3 }`";
        let entries = open_entries(cx, field, expected)?;
        if entries.is_empty() {
            cx.expected(field, expected);
            return None;
        }
        let named = entries.iter().filter_map(Field::of);
        let named = named.filter(|entry| matches!(entry.name, "type" | "name"));
        let texts: Vec<_> = named.map(|entry| typed::text(cx, entry)).collect();
        texts.into_iter().collect::<Option<Vec<_>>>()?;
        return json(cx, field, field.node);
    };
    if let Some((name, kind)) = SERVER_TOOLS.iter().find(|(known, _)| known == name) {
        return Some(json!({ "type": kind, "name": name }));
    }
    let names = || SERVER_TOOLS.iter().map(|(name, _)| *name);
    let help = nearest(name, names()).map_or_else(
        || {
            format!(
                "only {} has a short name; write any other as the API takes it: `{{ type: …, name: … }}`",
                listed(names())
            )
        },
        |name| format!("did you mean `{name}`?"),
    );
    cx.refuse(field, &format!("there is no tool `{name}`"), help);
    None
}

/// What `request` holds.
#[derive(Debug)]
struct Request {
    delivery: Delivery,
    extra: Vec<(String, String)>,
    output_config: Map<String, Json>,
    places: Vec<(String, Place)>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            delivery: Delivery::Stream,
            extra: Vec::new(),
            output_config: Map::new(),
            places: Vec::new(),
        }
    }
}

impl Request {
    /// Reads `request`: how the answer travels, and other body fields as JSON.
    fn read(&mut self, cx: &mut Context<'_>, field: Field<'_>, max_tokens: u32) {
        let example = "a map of body fields such as `{ stop_sequences: [END] }`";
        let entries = open_entries(cx, field, example).unwrap_or_default();
        for field in entries.iter().filter_map(Field::of) {
            self.places.push((field.name.to_owned(), field.place()));
            match field.name {
                "stream" => self.delivery = delivery(cx, field, max_tokens),
                "output_config" => self.output_config = output_config(cx, field),
                "messages" => cx.bad_field(
                    field.key.clone(),
                    "the messages are made from `prompt`".to_owned(),
                    Some("move the text to `prompt`".to_owned()),
                ),
                name => match OWN_FIELDS.iter().find(|(own, _)| *own == name) {
                    Some((_, way)) => own_field(cx, field, way),
                    None => self.extra.extend(
                        json(cx, field, field.node)
                            .map(|value| (name.to_owned(), value.to_string())),
                    ),
                },
            }
        }
    }
}

/// The parts of `output_config` that have no field of their own in the job.
fn output_config(cx: &mut Context<'_>, field: Field<'_>) -> Map<String, Json> {
    let mut parts = Map::new();
    let entries = open_entries(cx, field, "a map").unwrap_or_default();
    for entry in entries.iter().filter_map(Field::of) {
        match entry.name {
            "effort" => own_field(cx, entry, "effort: high"),
            "format" => own_field(cx, entry, "answer_schema: { type: object, … }"),
            name => parts.extend(json(cx, entry, entry.node).map(|value| (name.to_owned(), value))),
        }
    }
    parts
}

fn own_field(cx: &mut Context<'_>, field: Field<'_>, way: &str) {
    cx.bad_field(
        field.key.clone(),
        format!("`{}` has its own field in the job", field.name),
        Some(format!("move it out of `request`: `{way}`")),
    );
}

fn delivery(cx: &mut Context<'_>, field: Field<'_>, max_tokens: u32) -> Delivery {
    let stream = typed::boolean(cx, field).unwrap_or(true);
    if stream {
        return Delivery::Stream;
    }
    if max_tokens > MAX_WHOLE_TOKENS {
        let reason = format!(
            "an answer of up to {max_tokens} tokens must be streamed: networks drop a silent connection after ten minutes"
        );
        cx.refuse(
            field,
            &reason,
            format!("remove it, or set `max_tokens` to {MAX_WHOLE_TOKENS} at most"),
        );
    }
    Delivery::Whole
}

/// A value as JSON.
pub fn json(cx: &mut Context<'_>, field: Field<'_>, node: &Node) -> Option<Json> {
    Some(match &node.value {
        Value::Null => Json::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(number) => {
            let Ok(number) = i64::try_from(*number) else {
                cx.expected(Field { node, ..field }, "a number that fits 64 bits");
                return None;
            };
            number.into()
        }
        Value::Float(number) => serde_json::Number::from_f64(*number)?.into(),
        Value::Text(text) => text.clone().into(),
        Value::List(items) => items
            .iter()
            .map(|item| json(cx, field, item))
            .collect::<Option<Vec<_>>>()?
            .into(),
        Value::Map(_) => {
            let entries = open_entries(cx, Field { node, ..field }, "a map")?
                .iter()
                .filter_map(Field::of);
            let pairs =
                entries.map(|inner| Some((inner.name.to_owned(), json(cx, inner, inner.node)?)));
            Json::Object(pairs.collect::<Option<_>>()?)
        }
    })
}
