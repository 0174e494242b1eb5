//! One job: from its fields to a checked job with its policies.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::engine::PlannedJob;
use crate::job::{Check, GroupId, Job, JobId, JobState, KeyId, Output, Schedule};
use crate::lint::Rule;
use crate::schedule::{CronExpr, DeferPolicy, Timetable, Zone};

use super::context::Context;
use super::decode_content::content;
use super::decode_defaults::{DefaultKey, DefaultZone, known_key, missed, timeout};
use super::decode_delivery::handing;
use super::decode_items::{concurrency, lacks_item};
use super::decode_output::{OutputPlaces, check, output};
use super::decode_policies::{defer, tighter_retry};
use super::decode_rules::{Accepted, accept};
use super::decode_settings::Settings;
use super::fields::{Field, Fields};
use super::item_variables::ItemKind;
use super::source::Place;
use super::{typed, value};

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
    let handing = handing(cx, &mut fields);
    let content = content(cx, &mut fields, settings, folder);
    let concurrency = concurrency(cx, &mut fields);
    let (output, output_places) = own_output(cx, &mut fields, content.item);
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
        then: content.then,
        for_each: content.for_each,
        concurrency,
        handing,
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
        output: output_places,
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

/// Reads `output` and the places of its paths; each item must have a file for itself.
fn own_output(
    cx: &mut Context<'_>,
    fields: &mut Fields<'_>,
    item: Option<ItemKind>,
) -> (Option<Output>, OutputPlaces) {
    let read = fields.read(cx, "output", |cx, f| output(cx, f, item));
    let Some((output, places)) = read else {
        return (None, OutputPlaces::default());
    };
    if let (Some(_), Some(place)) = (item, &places.file) {
        lacks_item(cx, &output, place);
    }
    (Some(output), places)
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
