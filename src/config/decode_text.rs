//! `prompt`, `system` and `inputs`: what a job sends, and where it comes from.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::job::{CacheTtl, Input, InputSource, Presence, SystemBlock, TextSource};
use crate::lint::Rule;

use super::context::{Context, regular, shown_path};
use super::decode_defaults::{JobDefaults, timeout};
use super::decode_url::web_input;
use super::fields::{Field, Fields, open_entries};
use super::item_variables::ITEM;
use super::mistakes::{Mistake, Related};
use super::node::{Node, Value};
use super::templates::{self, Template, Variables};
use super::typed;

/// What an input, or a list of items, may be.
pub const SOURCES: &str =
    "`{ file: PATH }`, `{ command: [PROGRAM, ARGUMENT] }` or `{ url: https://… }`";

/// Where a job's relative paths start, and the variables of its templates.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The folder of the job file, absolute.
    pub folder: &'a Path,
    /// What fills its templates.
    pub variables: Variables<'a>,
}

/// Reads `prompt`.
pub fn prompt(
    cx: &mut Context<'_>,
    field: Field<'_>,
    around: Surroundings<'_>,
) -> Option<TextSource> {
    let mut fields = Fields::open(cx, field, "`{ file: PATH }` or `{ text: … }`")?;
    let source = text_source(cx, &mut fields, field, around);
    fields.close(cx);
    source
}

/// Reads `system`: a block, or a list of blocks.
pub fn system(
    cx: &mut Context<'_>,
    field: Field<'_>,
    around: Surroundings<'_>,
) -> Option<Vec<SystemBlock<TextSource>>> {
    if matches!(&field.node.value, Value::List(items) if items.is_empty()) {
        cx.expected(field, "a block such as `{ file: PATH }`, or a list of them");
        return None;
    }
    let blocks = typed::one_or_many(field).into_iter();
    let blocks: Vec<_> = blocks
        .map(|block| system_block(cx, block, around))
        .collect();
    blocks.into_iter().collect()
}

/// A text, and how long everything up to its end is cached.
fn system_block(
    cx: &mut Context<'_>,
    field: Field<'_>,
    around: Surroundings<'_>,
) -> Option<SystemBlock<TextSource>> {
    let mut fields = Fields::open(cx, field, "`{ file: PATH }` or `{ text: … }`")?;
    let source = text_source(cx, &mut fields, field, around);
    let ttls = [("5m", CacheTtl::FiveMinutes), ("1h", CacheTtl::OneHour)];
    let cache = fields.read(cx, "cache", |cx, f| typed::word(cx, f, &ttls));
    fields.close(cx);
    let text = source?;
    Some(SystemBlock { text, cache })
}

fn text_source(
    cx: &mut Context<'_>,
    fields: &mut Fields<'_>,
    owner: Field<'_>,
    around: Surroundings<'_>,
) -> Option<TextSource> {
    match (fields.take("file"), fields.take("text")) {
        (Some(file), None) => text_file(cx, file, around).map(TextSource::File),
        (None, Some(text)) => inline(cx, text, around.variables).map(TextSource::Inline),
        (Some(file), Some(text)) => {
            let message = format!("`{}`: `file` and `text` exclude each other", owner.name);
            let mistake = Mistake::new(Rule::BadField, text.key.clone(), message);
            cx.report(
                mistake
                    .related(file.key.clone(), "`file` stands here")
                    .help("keep one of them"),
            );
            None
        }
        (None, None) => {
            let message = format!("`{}`: neither `file` nor `text` is there", owner.name);
            cx.bad_field(
                owner.key.clone(),
                message,
                Some("write `{ file: PATH }` or `{ text: … }`".to_owned()),
            );
            None
        }
    }
}

/// Reads a template that stands in the YAML.
pub fn inline(cx: &mut Context<'_>, field: Field<'_>, variables: Variables<'_>) -> Option<String> {
    let text = typed::text(cx, field)?;
    let template = Template {
        text: &text,
        place: field.node.place.clone(),
        named: None,
    };
    templates::check(cx, &template, variables);
    Some(text)
}

fn text_file(cx: &mut Context<'_>, field: Field<'_>, around: Surroundings<'_>) -> Option<PathBuf> {
    let path = around.folder.join(typed::text(cx, field)?);
    match cx.read_text(&path) {
        Ok(source) => {
            let named = Some(Related {
                place: field.place(),
                label: "it is named here".to_owned(),
            });
            let place = source.place(0..source.text().len());
            templates::check(
                cx,
                &Template {
                    text: source.text(),
                    place,
                    named,
                },
                around.variables,
            );
            Some(path)
        }
        Err(reason) => {
            missing_file(cx, field, &path, &reason);
            // Whoever accepts that it is missing means the file of the slot's hour.
            Some(path)
        }
    }
}

/// Reports what a job reads and what is not there.
pub fn missing_file(cx: &mut Context<'_>, field: Field<'_>, path: &Path, reason: &str) {
    let path = shown_path(path, cx.folder);
    let message = format!("`{}`: {path} cannot be read: {reason}", field.name);
    let help = "a relative path starts at the folder of the file that names it";
    cx.report(Mistake::new(Rule::MissingFile, field.place(), message).help(help));
}

/// Reads `inputs`, in the order of the file.
pub fn inputs(
    cx: &mut Context<'_>,
    field: Field<'_>,
    folder: &Path,
    defaults: &JobDefaults,
) -> Vec<Input> {
    let entries = open_entries(cx, field, &format!("a map of names to {SOURCES}"));
    let fields = entries.unwrap_or_default().iter().filter_map(Field::of);
    fields
        .filter_map(|field| input(cx, field, folder, defaults))
        .collect()
}

/// The names of `inputs`, those with mistakes included, so that a template may use them.
pub fn input_names(node: &Node) -> Vec<&str> {
    match &node.value {
        Value::Map(entries) => entries
            .iter()
            .filter_map(Field::of)
            .map(|field| field.name)
            .collect(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::List(_) => Vec::new(),
    }
}

fn input(
    cx: &mut Context<'_>,
    field: Field<'_>,
    folder: &Path,
    defaults: &JobDefaults,
) -> Option<Input> {
    let named = input_name(cx, field);
    let mut fields = Fields::open(cx, field, SOURCES)?;
    let optional = fields.read(cx, "optional", typed::boolean).unwrap_or(false);
    let presence = if optional {
        Presence::Optional
    } else {
        Presence::Required
    };
    let max_bytes = fields
        .read(cx, "max_bytes", typed::size)
        .unwrap_or(defaults.input_max_bytes);
    let what = format!("the input `{}`", field.name);
    let from = Origin {
        folder,
        presence,
        timeout: defaults.input_timeout,
    };
    let source = input_source(cx, fields, (field, &what), from);
    Some(Input {
        name: named?.to_owned(),
        source: source?,
        presence,
        max_bytes,
    })
}

/// What a text's origin is read with.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The folder of the job file, absolute.
    pub folder: &'a Path,
    /// Whether it may be missing.
    pub presence: Presence,
    /// How long a command or a fetch may take that says nothing of it.
    pub timeout: Duration,
}

/// Reads the fields that say where a text comes from, the last ones of their map: exactly one of `file`, `command` and
/// `url`.
pub fn input_source<'a>(
    cx: &mut Context<'_>,
    mut fields: Fields<'a>,
    (field, what): (Field<'a>, &str),
    from: Origin<'_>,
) -> Option<InputSource> {
    let (file, command, url) = (
        fields.take("file"),
        fields.take("command"),
        fields.take("url"),
    );
    let (header_env, limit) = (fields.take("header_env"), fields.take("timeout"));
    fields.close(cx);
    let limit = limit.and_then(|limit| {
        if command.or(url).is_some() {
            return timeout(cx, limit);
        }
        let help = "remove it, or read a `command` or a `url`";
        cx.refuse(limit, "there is no command to wait for", help);
        None
    });
    let limit = limit.unwrap_or(from.timeout);
    if let Some(headers) = header_env.filter(|_| url.is_none()) {
        let help = "remove it, or fetch a `url`";
        cx.refuse(headers, "there is no address to send headers to", help);
    }
    let named = [file, command, url].into_iter().flatten();
    if let [first, second, ..] = named.collect::<Vec<_>>()[..] {
        cx.bad_field(
            second.key.clone(),
            format!("`{}` and `{}` exclude each other", first.name, second.name),
            Some("keep one of them".to_owned()),
        );
        return None;
    }
    if let Some(file) = file {
        return input_file(cx, file, from);
    }
    if let Some(command) = command {
        return Some(InputSource::Command {
            argv: typed::argv(cx, command)?,
            folder: from.folder.to_owned(),
            timeout: limit,
        });
    }
    if let Some(url) = url {
        let input = web_input(cx, url, header_env, limit)?;
        return Some(InputSource::Url(Box::new(input)));
    }
    cx.bad_field(
        field.key.clone(),
        format!("{what} has neither `file`, `command` nor `url`"),
        Some(format!("write {SOURCES}")),
    );
    None
}

fn input_name<'a>(cx: &mut Context<'_>, field: Field<'a>) -> Option<&'a str> {
    variable_name(cx, field, (field.name, "input"))
}

/// A name that a variable may have, of an input or a step; a mistake is marked where the field has its place.
pub fn variable_name<'a>(
    cx: &mut Context<'_>,
    field: Field<'_>,
    (name, what): (&'a str, &str),
) -> Option<&'a str> {
    let place = if what == "input" {
        field.key.clone()
    } else {
        field.place()
    };
    if templates::BUILT_IN.contains(&name) || name == ITEM {
        let message = format!("the {what} `{name}` would hide the built-in variable of that name");
        cx.bad_field(place, message, Some("give it another name".to_owned()));
        return None;
    }
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if starts && name.chars().all(is_inside) {
        return Some(name);
    }
    let article = if what == "input" { "an" } else { "a" };
    let message =
        format!("`{name}` is no name for {article} {what}; expected letters, digits and `_`");
    let help = format!("write `{}`", name.replace(|c| !is_inside(c), "_"));
    cx.bad_field(place, message, Some(help));
    None
}

fn input_file(cx: &mut Context<'_>, field: Field<'_>, from: Origin<'_>) -> Option<InputSource> {
    let path = from.folder.join(typed::text(cx, field)?);
    // What is optional may be missing, and perhaps only today.
    let found = if from.presence == Presence::Optional && !path.exists() {
        Ok(())
    } else {
        regular(&path)
    };
    if let Err(reason) = found {
        missing_file(cx, field, &path, &reason);
    }
    Some(InputSource::File(path))
}
