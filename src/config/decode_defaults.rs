//! `defaults`: what a job gets that does not say; and `defer.pickup`, which needs them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::job::{GroupId, KeyId, OnEmptyInput};
use crate::lint::Rule;
use crate::schedule::{CronExpr, Missed, Timetable, Zone};

use super::checked::KeyConfig;
use super::context::Context;
use super::decode_settings::{BUILT_IN, DAY, SECOND};
use super::fields::{Field, Fields, open_entries};
use super::mistakes::Mistake;
use super::node::Value;
use super::source::Place;
use super::{typed, value};

/// The most tokens that any model may answer with, with room to grow.
const MAX_TOKENS: u32 = 1_000_000;

/// What a job gets that does not say.
#[derive(Debug)]
pub struct JobDefaults {
    /// The zone, if there is one.
    pub zone: DefaultZone,
    /// The key, if there is one.
    pub key: DefaultKey,
    /// The model.
    pub model: String,
    /// The most tokens of an answer.
    pub max_tokens: u32,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// What happens to missed slots.
    pub missed: Missed,
    /// What to do when every input is empty.
    pub on_empty_input: OnEmptyInput,
    /// Where an input is cut.
    pub input_max_bytes: usize,
    /// How long an input command may run.
    pub input_timeout: Duration,
}

/// The key of jobs that name none.
#[derive(Debug, Clone)]
pub enum DefaultKey {
    /// This one.
    Named(KeyId),
    /// There is none: the built-in name is not among the user's keys.
    None,
    /// What is named is no key, which is reported already.
    Wrong,
}

/// The zone of jobs that name none.
#[derive(Debug, Clone)]
pub enum DefaultZone {
    /// This one.
    Named(Zone),
    /// There is none: such a job is a mistake.
    None,
    /// What is named is no zone, which is reported already.
    Wrong,
}

/// Pickup slots of groups, each with the places of its expressions.
pub type Pickup = BTreeMap<GroupId, (Timetable, Vec<Place>)>;

/// Reads `defaults`.
pub fn job_defaults(
    cx: &mut Context<'_>,
    root: &mut Fields<'_>,
    keys: &BTreeMap<KeyId, KeyConfig>,
) -> JobDefaults {
    let mut fields = root.section(cx, "defaults");
    let zone = match fields.take("timezone").map(|field| typed::zone(cx, field)) {
        Some(Some(zone)) => DefaultZone::Named(zone),
        Some(None) => DefaultZone::Wrong,
        None => DefaultZone::None,
    };
    let mut inputs = fields.section(cx, "inputs");
    let defaults = JobDefaults {
        zone,
        key: default_key(cx, &mut fields, keys),
        model: fields.read(cx, "model", model).expect(BUILT_IN),
        max_tokens: fields.read(cx, "max_tokens", max_tokens).expect(BUILT_IN),
        timeout: fields.read(cx, "timeout", timeout).expect(BUILT_IN),
        missed: fields.read(cx, "missed", missed).expect(BUILT_IN),
        on_empty_input: fields
            .read(cx, "on_empty_input", on_empty_input)
            .expect(BUILT_IN),
        input_max_bytes: inputs.read(cx, "max_bytes", typed::size).expect(BUILT_IN),
        input_timeout: inputs.read(cx, "timeout", timeout).expect(BUILT_IN),
    };
    inputs.close(cx);
    fields.close(cx);
    defaults
}

fn default_key(
    cx: &mut Context<'_>,
    fields: &mut Fields<'_>,
    keys: &BTreeMap<KeyId, KeyConfig>,
) -> DefaultKey {
    let upper = fields.has("key");
    let field = fields.take("key").expect(BUILT_IN);
    if upper {
        return known_key(cx, field, keys).map_or(DefaultKey::Wrong, DefaultKey::Named);
    }
    match &field.node.value {
        Value::Text(name) if keys.contains_key(name.as_str()) => {
            DefaultKey::Named(KeyId::new(name))
        }
        Value::Text(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::List(_)
        | Value::Map(_) => DefaultKey::None,
    }
}

/// The key that stands in `keys`, or a mistake with the nearest name.
pub fn known_key(
    cx: &mut Context<'_>,
    field: Field<'_>,
    keys: &BTreeMap<KeyId, KeyConfig>,
) -> Option<KeyId> {
    let name = typed::text(cx, field)?;
    if let Some((key, _)) = keys.get_key_value(name.as_str()) {
        return Some(key.clone());
    }
    if field.node.place.holds_secret() {
        return None;
    }
    let names = || keys.keys().map(KeyId::as_str);
    let help = match value::nearest(&name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("`keys` in offpeak.yaml holds {}", value::listed(names())),
    };
    let message = format!("`{}`: there is no key `{name}`", field.name);
    cx.report(Mistake::new(Rule::UnknownKey, field.place(), message).help(help));
    None
}

/// A model's id: one word.
pub fn model(cx: &mut Context<'_>, field: Field<'_>) -> Option<String> {
    let model = typed::text(cx, field)?;
    if model.len() <= 128 && model.chars().all(|c| c.is_ascii_graphic()) {
        return Some(model);
    }
    cx.expected(field, "a model's id such as `claude-sonnet-5-5`");
    None
}

/// The most tokens of an answer.
pub fn max_tokens(cx: &mut Context<'_>, field: Field<'_>) -> Option<u32> {
    typed::integer(cx, field, 1..=MAX_TOKENS)
}

/// How long one whole attempt, or an input command, may take.
pub fn timeout(cx: &mut Context<'_>, field: Field<'_>) -> Option<Duration> {
    typed::duration(cx, field, SECOND..=DAY)
}

/// `once` or `skip`.
pub fn missed(cx: &mut Context<'_>, field: Field<'_>) -> Option<Missed> {
    typed::word(cx, field, &[("once", Missed::Once), ("skip", Missed::Skip)])
}

/// `skip`, `fail` or `send`.
pub fn on_empty_input(cx: &mut Context<'_>, field: Field<'_>) -> Option<OnEmptyInput> {
    let words = [
        ("skip", OnEmptyInput::Skip),
        ("fail", OnEmptyInput::Fail),
        ("send", OnEmptyInput::Send),
    ];
    typed::word(cx, field, &words)
}

/// Reads `defer.pickup`: expressions for every group, or a map of groups to their own, in one zone.
pub fn pickup(
    cx: &mut Context<'_>,
    field: Field<'_>,
    keys: &BTreeMap<KeyId, KeyConfig>,
    zone: &Zone,
) -> Option<Pickup> {
    let groups: Vec<&GroupId> = keys.values().map(|key| &key.group).collect();
    if let Value::Map(_) = field.node.value {
        let mut pickup = Pickup::new();
        for field in open_entries(cx, field, "a map of groups")?
            .iter()
            .filter_map(Field::of)
        {
            let Some(group) = groups.iter().find(|group| group.as_str() == field.name) else {
                unknown_group(cx, field, &groups);
                continue;
            };
            pickup.extend(pickup_slots(cx, field, zone).map(|slots| ((*group).clone(), slots)));
        }
        return Some(pickup);
    }
    if matches!(&field.node.value, Value::List(items) if items.is_empty()) {
        return Some(Pickup::new());
    }
    let slots = pickup_slots(cx, field, zone)?;
    Some(
        groups
            .into_iter()
            .map(|group| (group.clone(), slots.clone()))
            .collect(),
    )
}

fn pickup_slots(
    cx: &mut Context<'_>,
    field: Field<'_>,
    zone: &Zone,
) -> Option<(Timetable, Vec<Place>)> {
    let (exprs, places): (Vec<CronExpr>, Vec<Place>) = typed::crons(cx, field)?.into_iter().unzip();
    Some((Timetable::new(exprs, zone.clone()), places))
}

fn unknown_group(cx: &mut Context<'_>, field: Field<'_>, groups: &[&GroupId]) {
    let message = format!("`pickup`: there is no group `{}`", field.name);
    let help = format!(
        "the groups of `keys` are {}",
        value::listed(groups.iter().map(|group| group.as_str()))
    );
    cx.bad_field(field.key.clone(), message, Some(help));
}
