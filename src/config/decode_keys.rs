//! `keys`: names for secrets that stand elsewhere, and what no message about them may show.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::job::{GroupId, KeyId};
use crate::lint::Rule;

use super::checked::{Exposure, KeyConfig, KeySource};
use super::context::{Context, plain, shown_path};
use super::decode_url;
use super::fields::{Field, Fields, open_entries};
use super::mistakes::Mistake;
use super::node::{Entry, Node, Value};
use super::source::{Place, Source};
use super::typed;

/// Masks what may be a secret in the wrong place under `keys`, `notify`, `deadman` and `upstream`, and in jobs, so that
/// no message and no snippet shows it.
///
/// A value counts as one unless it is a name, a variable or a path where one belongs.
#[must_use]
pub fn masked(source: &Arc<Source>, tree: &Node) -> Option<Arc<Source>> {
    let mut spans = Vec::new();
    for section in tree
        .entries()
        .iter()
        .filter(|entry| is_named(entry, "keys") || is_named(entry, "notify"))
    {
        for item in section.value.entries() {
            hide_fields(item, &mut spans);
        }
    }
    for section in tree
        .entries()
        .iter()
        .filter(|entry| is_named(entry, "deadman"))
    {
        hide_fields(section, &mut spans);
    }
    for section in tree
        .entries()
        .iter()
        .filter(|entry| is_named(entry, "upstream"))
    {
        hide_addresses(&section.value, &mut spans);
    }
    decode_url::hide(tree, &mut spans);
    (!spans.is_empty()).then(|| source.masked(spans))
}

/// Hides what may be a secret among the fields of an entry; of one that is no map, all.
fn hide_fields(entry: &Entry, spans: &mut Vec<Range<usize>>) {
    let Value::Map(fields) = &entry.value.value else {
        return hide(&entry.value, spans);
    };
    for field in fields.iter().filter(|field| !is_harmless(field)) {
        hide(&field.value, spans);
    }
}

/// Hides the addresses under `upstream` that may hold a secret, under whatever name they stand.
fn hide_addresses(node: &Node, spans: &mut Vec<Range<usize>>) {
    match &node.value {
        Value::Text(text) if may_hold_secret(text) => hide(node, spans),
        Value::List(items) => items.iter().for_each(|item| hide_addresses(item, spans)),
        Value::Map(fields) => {
            for field in fields {
                hide_addresses(&field.value, spans);
            }
        }
        Value::Text(_) | Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
}

/// Whether a password may stand in an address, before an `@` or where the port belongs, or a token in its query or
/// fragment. A right address has none of them.
fn may_hold_secret(text: &str) -> bool {
    if text.contains(['@', '?', '#']) {
        return true;
    }
    let is_right = reqwest::Url::parse(text).is_ok_and(|url| url.has_host());
    let port = |rest: &str| {
        let port = rest.split('/').next().unwrap_or_default();
        rest.starts_with("//") || port.bytes().all(|byte| byte.is_ascii_digit())
    };
    !is_right && text.split(':').skip(1).any(|rest| !port(rest))
}

/// Hides every text of a value, however deep it lies, without its quotes.
pub fn hide(node: &Node, spans: &mut Vec<Range<usize>>) {
    match &node.value {
        Value::Text(_) => {
            let span = node.place.span();
            let quoted = node.place.text().starts_with(['"', '\'']) && span.len() >= 2;
            spans.push(if quoted {
                span.start + 1..span.end - 1
            } else {
                span
            });
        }
        Value::List(items) => items.iter().for_each(|item| hide(item, spans)),
        Value::Map(fields) => {
            for field in fields {
                hide(&field.value, spans);
            }
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
}

pub fn is_named(entry: &Entry, name: &str) -> bool {
    matches!(&entry.key.value, Value::Text(text) if text == name)
}

fn is_harmless(field: &Entry) -> bool {
    let text = match &field.value.value {
        Value::Text(text) => text,
        // A list of changes or words of a program; a list or map in any other place may hold anything.
        Value::List(_) => return is_named(field, "on") || is_named(field, "command"),
        Value::Map(_) => return false,
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => return true,
    };
    match &field.key.value {
        Value::Text(name) => match name.as_str() {
            "env" | "webhook_env" | "url_env" => is_variable(text),
            "credential" => is_credential(text),
            "file" | "group" => true,
            // A word or a span, never an address.
            "format" | "on" | "timeout" => typed::is_name(text),
            _ => false,
        },
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::List(_)
        | Value::Map(_) => false,
    }
}

/// Reads `keys`; paths are relative to `folder`, that of the file that names them.
pub fn keys(
    cx: &mut Context<'_>,
    field: Field<'_>,
    folder: &Path,
) -> Option<BTreeMap<KeyId, KeyConfig>> {
    let (mut keys, mut named_sources) = (BTreeMap::new(), Vec::new());
    for entry in open_entries(
        cx,
        field,
        "a map of names to `{ env: VARIABLE }`, `{ file: PATH }` or `{ credential: NAME }`",
    )? {
        let Some(field) = Field::of(entry) else {
            continue;
        };
        let named = named(cx, field, "key");
        let (config, place) = key(cx, field, folder).unzip();
        if let Some(name) = named {
            named_sources.extend(
                config
                    .clone()
                    .zip(place)
                    .map(|(key, place)| (name, key, place)),
            );
            // A key with a mistake stays known, so that the jobs that name it are not wrong too.
            let nowhere = || KeyConfig {
                source: KeySource::Env(String::new()),
                group: GroupId::new(name),
                exposure: Exposure::Refused,
            };
            keys.entry(KeyId::new(name))
                .or_insert(config.unwrap_or_else(nowhere));
        }
    }
    report_shared(cx, &named_sources);
    if matches!(&field.node.value, Value::Map(entries) if entries.is_empty()) {
        cx.expected(
            field,
            "at least one key such as `main: { env: ANTHROPIC_API_KEY }`",
        );
    }
    (!keys.is_empty()).then_some(keys)
}

/// Tells of the first two keys of every two groups that name one variable or file: no secret has to be read for that.
fn report_shared(cx: &mut Context<'_>, keys: &[(&str, KeyConfig, Place)]) {
    let mut told = BTreeSet::new();
    for (index, (two, second, place)) in keys.iter().enumerate() {
        for (one, first, first_place) in &keys[..index] {
            let mut groups = [&first.group, &second.group];
            groups.sort();
            if first.group == second.group || first.source != second.source || !told.insert(groups)
            {
                continue;
            }
            let message = format!(
                "key `{one}` of group `{}` and key `{two}` of group `{}` hold the same secret: both name {}",
                first.group,
                second.group,
                shown(cx, &second.source)
            );
            let help = format!(
                "the provider counts both groups as one: give both keys one `group`, as in `{two}: {{ …, group: {} }}`",
                first.group
            );
            let mistake = Mistake::new(Rule::SameSecret, place.clone(), message)
                .related(first_place.clone(), format!("`{one}` names it here"));
            cx.report(mistake.help(help));
        }
    }
}

fn shown(cx: &Context<'_>, source: &KeySource) -> String {
    match source {
        KeySource::Env(name) => format!("the variable `{name}`"),
        KeySource::File(path) => format!("the file {}", shown_path(path, cx.folder)),
        KeySource::Credential(name) => format!("the credential `{name}`"),
    }
}

/// The name of an entry that the user names; another text is a mistake.
pub fn named<'a>(cx: &mut Context<'_>, field: Field<'a>, what: &str) -> Option<&'a str> {
    if typed::is_name(field.name) {
        return Some(field.name);
    }
    let message = format!(
        "`{}` is no name for a {what}; expected {}",
        field.name,
        typed::NAME
    );
    cx.bad_field(field.key.clone(), message, None);
    None
}

/// Reads a key, and where its variable, file or credential is named.
fn key(cx: &mut Context<'_>, field: Field<'_>, folder: &Path) -> Option<(KeyConfig, Place)> {
    if let Value::Text(_) = field.node.value {
        literal(cx, field);
        return None;
    }
    let expected = "`{ env: VARIABLE }`, `{ file: PATH }` or `{ credential: NAME }`";
    let mut fields = Fields::open(cx, field, expected)?;
    for name in ["key", "value", "secret", "token", "api_key"] {
        if let Some(secret) = fields.take_hidden(name) {
            literal(cx, secret);
        }
    }
    let named = ["env", "file", "credential"].map(|name| fields.take(name));
    let group = fields
        .read(cx, "group", typed::name)
        .unwrap_or_else(|| field.name.to_owned());
    let allow_exposed = fields.take("allow_exposed");
    fields.close(cx);
    let exposure = allow_exposed.map_or(Exposure::Refused, |allow| exposure(cx, allow, named[0]));
    let place = named
        .into_iter()
        .flatten()
        .next()
        .map(|field| field.place());
    let key = KeyConfig {
        source: source(cx, field, named, folder)?,
        group: GroupId::new(group),
        exposure,
    };
    Some((key, place?))
}

/// Where the secret is found: exactly one of variable, file and credential.
fn source(
    cx: &mut Context<'_>,
    owner: Field<'_>,
    named: [Option<Field<'_>>; 3],
    folder: &Path,
) -> Option<KeySource> {
    match named {
        [Some(env), None, None] => Some(KeySource::Env(variable(cx, env, "ANTHROPIC_API_KEY")?)),
        [None, Some(file), None] => {
            let path = plain(&folder.join(typed::text(cx, file)?));
            Some(KeySource::File(path))
        }
        [None, None, Some(name)] => credential(cx, name).map(KeySource::Credential),
        [None, None, None] => {
            let help = "say where the secret is found: `env: VARIABLE`, `file: PATH` or \
                        `credential: NAME`";
            cx.missing(owner.key, "env", help);
            None
        }
        [first, second, third] => {
            let mut found = [first, second, third].into_iter().flatten();
            if let (Some(one), Some(two)) = (found.next(), found.next()) {
                let reason = format!("`{}` and `{}` exclude each other", one.name, two.name);
                cx.refuse(two, &reason, "keep one of them");
            }
            None
        }
    }
}

/// What becomes of an exposed file; a variable has none.
fn exposure(cx: &mut Context<'_>, allow: Field<'_>, env: Option<Field<'_>>) -> Exposure {
    if env.is_some() {
        let reason = "a variable has no owner and no mode";
        cx.refuse(
            allow,
            reason,
            "remove it: it is for `file` and `credential`",
        );
        return Exposure::Refused;
    }
    match typed::boolean(cx, allow) {
        Some(true) => Exposure::Allowed,
        Some(false) | None => Exposure::Refused,
    }
}

/// The name of a systemd credential; what is none is not repeated.
fn credential(cx: &mut Context<'_>, field: Field<'_>) -> Option<String> {
    let name = typed::text(cx, field)?;
    if is_credential(&name) {
        return Some(name);
    }
    if !field.node.place.holds_secret() {
        // What stands here may be the secret itself, so it is not repeated.
        let reason = "this is no name of a credential (letters, digits, `-`, `_` and `.`; a letter \
                      or digit first)";
        let help = "write the name that stands in the unit's LoadCredential=NAME:PATH";
        cx.refuse(field, reason, help);
    }
    None
}

/// Whether a text can name a credential: one file in a folder, and never the folder itself or one above it.
fn is_credential(text: &str) -> bool {
    typed::is_name(text)
}

fn literal(cx: &mut Context<'_>, field: Field<'_>) {
    if field.node.place.holds_secret() {
        // Every Anthropic secret of the file is reported already.
        return;
    }
    let message = format!("`{}`: a secret must not stand in this file", field.name);
    let help =
        "name the environment variable or the file that holds it: `{ env: ANTHROPIC_API_KEY }`";
    cx.report(Mistake::new(Rule::LiteralSecret, field.place(), message).help(help));
}

/// The name of an environment variable, such as `example`; what is none is not repeated.
pub fn variable(cx: &mut Context<'_>, field: Field<'_>, example: &str) -> Option<String> {
    let name = typed::text(cx, field)?;
    if is_variable(&name) {
        return Some(name);
    }
    if field.node.place.holds_secret() {
        return None;
    }
    // What stands here may be the secret itself, so it is not repeated.
    let reason = "this is no name of an environment variable (letters, digits and `_`)";
    let help = format!("write the variable's name, such as `{example}`, never the secret itself");
    cx.refuse(field, reason, &help);
    None
}

/// Whether a text can name an environment variable. Longer ones than 64 are more likely a secret.
pub fn is_variable(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
