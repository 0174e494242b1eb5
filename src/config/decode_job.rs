//! One job: from its fields to a checked job with its policies.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::engine::PlannedJob;
use crate::job::{
    Check, GroupId, Input, Job, JobId, JobState, KeyId, OnEmptyInput, Schedule, Template,
    TextSource,
};
use crate::lint::Rule;
use crate::schedule::{CronExpr, DeferPolicy, Timetable, Zone};

use super::answer_schema::DecodedSchema;
use super::context::Context;
use super::decode_defaults::{
    DefaultKey, DefaultZone, known_key, max_tokens, missed, model, on_empty_input, timeout,
};
use super::decode_output::{OutputPlaces, check, output};
use super::decode_policies::{defer, tighter_retry};
use super::decode_request::asked;
use super::decode_rules::{Accepted, accept};
use super::decode_settings::Settings;
use super::decode_text::{Surroundings, input_names, inputs, prompt, system};
use super::fields::{Field, Fields};
use super::source::Place;
use super::{templates, typed, value};

/// The fields of a job of which the API may refuse what they say together.
const ASKING: [&str; 6] = [
    "fallback_model",
    "max_tokens",
    "model",
    "system",
    "thinking",
    "tools",
];

/// A job whose schedule could be read, and where the linter's findings about it belong.
#[derive(Debug)]
pub struct DecodedJob {
    /// The job; fields with mistakes hold what `defaults` says.
    pub planned: PlannedJob,
    /// Where the job begins.
    pub place: Place,
    /// Where each of its cron expressions stands.
    pub crons: Vec<Place>,
    /// The rules that it accepts, each with its reason and its place.
    pub accepted: BTreeMap<Rule, Accepted>,
    /// Where its output files are named.
    pub output: OutputPlaces,
    /// The file in which its answer's schema stands.
    pub schema_file: Option<PathBuf>,
    /// Where the fields stand that say what is asked of the API.
    pub asking: BTreeMap<String, Place>,
}

/// Reads a job's fields but for its `id`. `None` if its schedule, zone or key could not be read: then there is nothing
/// to lint.
pub fn job(
    cx: &mut Context<'_>,
    mut fields: Fields<'_>,
    id: &JobId,
    settings: &Settings,
    folder: &Path,
) -> Option<DecodedJob> {
    let defaults = &settings.defaults;
    let place = fields.owner().clone();
    let when = schedule(cx, &mut fields, settings);
    let key = key(cx, &mut fields, settings);
    let retry = fields.read(cx, "retry", |cx, f| tighter_retry(cx, f, &settings.retry));
    let defer = fields.read(cx, "defer", |cx, f| job_defer(cx, f, &settings.defer));
    let missed = fields.read(cx, "missed", missed).unwrap_or(defaults.missed);
    let content = content(cx, &mut fields, settings, folder);
    let (output, output_places) = fields.read(cx, "output", output).unzip();
    let state = state(cx, &mut fields);
    let description = fields.read(cx, "description", typed::text);
    let check = fields.read(cx, "check", |cx, f| Some(check(cx, f)));
    let (schema, schema_file) = content.schema.map(|it| (it.schema, it.file)).unzip();
    let check = Check {
        schema,
        ..check.unwrap_or_default()
    };
    let timeout = fields
        .read(cx, "timeout", timeout)
        .unwrap_or(defaults.timeout);
    let max_cost = fields.read(cx, "max_cost", typed::cap);
    let notify = fields.read(cx, "notify", |cx, f| notify(cx, f, settings));
    let accepted = fields.read(cx, "accept", accept).unwrap_or_default();
    not_yet(cx, &mut fields);
    fields.close(cx);

    let (exprs, crons, zone) = when?;
    let (key, group) = key?;
    let schedule = Schedule {
        crons: exprs.iter().map(|expr| expr.text().to_owned()).collect(),
        zone: zone.name().to_owned(),
    };
    let job = Job {
        id: id.clone(),
        description,
        state,
        key,
        group,
        schedule,
        template: content.template,
        then: Vec::new(),
        for_each: None,
        concurrency: 1,
        fallback_model: content.fallback_model,
        max_cost,
        inputs: content.inputs,
        on_empty_input: content.on_empty_input,
        output,
        check,
        timeout,
        notify,
    };
    let planned = PlannedJob {
        job,
        timetable: Timetable::new(exprs, zone),
        retry: retry.unwrap_or(settings.retry),
        defer: defer.unwrap_or(settings.defer),
        missed,
    };
    Some(DecodedJob {
        planned,
        place,
        crons,
        accepted,
        output: output_places.unwrap_or_default(),
        schema_file: schema_file.flatten(),
        asking: content.asking,
    })
}

fn state(cx: &mut Context<'_>, fields: &mut Fields<'_>) -> JobState {
    match fields.read(cx, "enabled", typed::boolean) {
        Some(false) => JobState::Disabled,
        Some(true) | None => JobState::Enabled,
    }
}

fn schedule(
    cx: &mut Context<'_>,
    fields: &mut Fields<'_>,
    settings: &Settings,
) -> Option<(Vec<CronExpr>, Vec<Place>, Zone)> {
    if !fields.has("cron") {
        let help = "write when the job fires: `cron: \"0 5 * * *\"`";
        cx.missing(fields.owner(), "cron", help);
    }
    let crons = fields.read(cx, "cron", typed::crons);
    let zone = match (fields.take("timezone"), &settings.defaults.zone) {
        (Some(field), _) => typed::zone(cx, field),
        (None, DefaultZone::Named(zone)) => Some(zone.clone()),
        (None, DefaultZone::Wrong) => None,
        (None, DefaultZone::None) => {
            let help = "name it here, or for all jobs in offpeak.yaml: \
                        `defaults: { timezone: Asia/Tokyo }`";
            cx.missing(fields.owner(), "timezone", help);
            None
        }
    };
    let (exprs, places) = crons?.into_iter().unzip();
    Some((exprs, places, zone?))
}

fn key(
    cx: &mut Context<'_>,
    fields: &mut Fields<'_>,
    settings: &Settings,
) -> Option<(KeyId, GroupId)> {
    let key = match (fields.take("key"), &settings.defaults.key) {
        (Some(field), _) => known_key(cx, field, &settings.keys)?,
        (None, DefaultKey::Named(key)) => key.clone(),
        (None, DefaultKey::Wrong) => return None,
        (None, DefaultKey::None) => {
            let names = value::listed(settings.keys.keys().map(KeyId::as_str));
            cx.missing(
                fields.owner(),
                "key",
                format!("name one of {names} here, or for all jobs: `defaults: {{ key: … }}`"),
            );
            return None;
        }
    };
    let group = settings.keys.get(&key)?.group.clone();
    Some((key, group))
}

fn job_defer(cx: &mut Context<'_>, field: Field<'_>, outer: &DeferPolicy) -> Option<DeferPolicy> {
    let mut fields = Fields::open(cx, field, "a map")?;
    let policy = defer(cx, &mut fields, Some(outer));
    if let Some(pickup) = fields.take_hidden("pickup") {
        cx.bad_field(
            pickup.key.clone(),
            "pickup slots belong to a group, not to a job".to_owned(),
            Some("move `pickup` to `defer` in offpeak.yaml".to_owned()),
        );
    }
    fields.close(cx);
    Some(policy)
}

/// What the job sends. A part with mistakes is left out: the configuration is not used then.
struct Content {
    inputs: Vec<Input>,
    on_empty_input: OnEmptyInput,
    template: Template,
    fallback_model: Option<String>,
    schema: Option<DecodedSchema>,
    asking: BTreeMap<String, Place>,
}

fn content(
    cx: &mut Context<'_>,
    fields: &mut Fields<'_>,
    settings: &Settings,
    folder: &Path,
) -> Content {
    let defaults = &settings.defaults;
    let own = ASKING.iter().filter(|name| fields.has(name));
    let own: Vec<(String, Place)> = own
        .map(|name| ((*name).to_owned(), fields.place_of(name)))
        .collect();
    let inputs_field = fields.take("inputs");
    let names = inputs_field
        .map(|field| input_names(field.node))
        .unwrap_or_default();
    let inputs = inputs_field
        .map(|field| inputs(cx, field, folder, defaults))
        .unwrap_or_default();
    let on_empty_input = fields
        .read(cx, "on_empty_input", on_empty_input)
        .unwrap_or(defaults.on_empty_input);
    let variables: Vec<&str> = templates::BUILT_IN.into_iter().chain(names).collect();
    let around = Surroundings {
        folder,
        variables: &variables,
    };
    let system = fields.read(cx, "system", |cx, f| system(cx, f, around));
    if !fields.has("prompt") {
        cx.missing(
            fields.owner(),
            "prompt",
            "write `prompt: { file: PATH }` or `prompt: { text: … }`",
        );
    }
    let prompt = fields.read(cx, "prompt", |cx, f| prompt(cx, f, around));
    let max_tokens = fields
        .read(cx, "max_tokens", max_tokens)
        .unwrap_or(defaults.max_tokens);
    let asked = asked(cx, fields, folder, max_tokens);
    let template = Template {
        name: None,
        model: fields
            .read(cx, "model", model)
            .unwrap_or_else(|| defaults.model.clone()),
        max_tokens,
        system: system.unwrap_or_default(),
        prompt: prompt.unwrap_or_else(|| TextSource::Inline(String::new())),
        delivery: asked.delivery,
        extra: asked.extra,
    };
    let first = &template.model;
    let fallback_model = fields.read(cx, "fallback_model", |cx, f| fallback(cx, f, first));
    Content {
        inputs,
        on_empty_input,
        template,
        fallback_model,
        schema: asked.schema,
        asking: own.into_iter().chain(asked.places).collect(),
    }
}

/// The model that is asked in place of the first; one that is the first itself would be asked for nothing.
fn fallback(cx: &mut Context<'_>, field: Field<'_>, first: &str) -> Option<String> {
    let fallback = model(cx, field)?;
    if fallback != first {
        return Some(fallback);
    }
    cx.bad_field(
        field.place(),
        format!("`fallback_model` is `{first}`, the model that the job asks first"),
        Some("name another model, or remove it".to_owned()),
    );
    None
}

fn notify(cx: &mut Context<'_>, field: Field<'_>, settings: &Settings) -> Option<String> {
    let name = typed::text(cx, field)?;
    if settings.notify.contains_key(&name) {
        return Some(name);
    }
    let names = || settings.notify.keys().map(String::as_str);
    let help = match value::nearest(&name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if settings.notify.is_empty() => {
            "add it in offpeak.yaml: `notify: { ops: { webhook_env: OPS_WEBHOOK_URL } }`".to_owned()
        }
        None => format!("`notify` in offpeak.yaml holds {}", value::listed(names())),
    };
    cx.bad_field(
        field.place(),
        format!("`notify`: there is no entry `{name}`"),
        Some(help),
    );
    None
}

/// Fields that a later version will read. Ignoring them would run the job otherwise than its author means.
fn not_yet(cx: &mut Context<'_>, fields: &mut Fields<'_>) {
    for name in ["for_each", "steps", "delivery"] {
        if let Some(field) = fields.take_hidden(name) {
            let message = format!("`{name}` is not supported by this version");
            cx.bad_field(field.key.clone(), message, Some("remove it".to_owned()));
        }
    }
}
