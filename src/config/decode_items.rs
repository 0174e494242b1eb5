//! `for_each` and `concurrency`: what a job makes a call for each, and how many at once.

use std::path::{Component, Path, PathBuf};

use glob::Pattern;

use crate::job::{ForEach, Input, ItemSource, Output, Presence, Which};
use crate::lint::Rule;

use super::context::{Context, reason};
use super::decode_defaults::JobDefaults;
use super::decode_text::{Origin, SOURCES, input_source, missing_file};
use super::fields::{Field, Fields};
use super::item_variables::ITEM;
use super::mistakes::Mistake;
use super::source::Place;
use super::typed;

/// The most bytes of a list: it is never cut, as half a line would become an item.
pub const MAX_LIST_BYTES: usize = 32 << 20;

const EXPECTED: &str =
    "`{ files: PATTERN }`, `{ lines: { file: PATH } }` or `{ records: { file: PATH } }`";

/// Reads `for_each`.
pub fn for_each(
    cx: &mut Context<'_>,
    field: Field<'_>,
    folder: &Path,
    defaults: &JobDefaults,
) -> Option<ForEach> {
    let mut fields = Fields::open(cx, field, EXPECTED)?;
    let sources = ["files", "lines", "records"].map(|name| fields.take(name));
    let which = fields.take("changed_since");
    let limit = fields.take("limit");
    fields.close(cx);
    let mut named = sources.into_iter().flatten();
    let source = match (named.next(), named.next()) {
        (Some(one), None) => source(cx, one, folder, defaults),
        (Some(one), Some(other)) => {
            let message = format!("`{}` and `{}` exclude each other", one.name, other.name);
            let mistake = Mistake::new(Rule::BadField, other.key.clone(), message)
                .related(one.key.clone(), format!("`{}` stands here", one.name))
                .help("keep one of them, or make two jobs of it");
            cx.report(mistake);
            None
        }
        (None, _) => {
            let message = "`for_each` does not say where its items come from".to_owned();
            cx.bad_field(
                field.key.clone(),
                message,
                Some(format!("write {EXPECTED}")),
            );
            None
        }
    };
    let is_changed_only = which.is_some();
    let words = [("last_success", Which::ChangedSinceSuccess)];
    let which = which.map_or(Some(Which::All), |field| typed::word(cx, field, &words));
    let limit = match limit {
        Some(field) if !is_changed_only => {
            let reason = "without `changed_since` the same items would be taken in every slot, and the rest never";
            let help = "add `changed_since: last_success`, or name fewer items";
            cx.bad_field(
                field.key.clone(),
                format!("`limit`: {reason}"),
                Some(help.to_owned()),
            );
            None
        }
        Some(field) => typed::integer(cx, field, 1..=10_000),
        None => None,
    };
    Some(ForEach {
        source: source?,
        which: which?,
        limit,
    })
}

fn source(
    cx: &mut Context<'_>,
    field: Field<'_>,
    folder: &Path,
    defaults: &JobDefaults,
) -> Option<ItemSource> {
    match field.name {
        "files" => files(cx, field, folder),
        "lines" => list(cx, field, folder, defaults).map(ItemSource::Lines),
        _ => list(cx, field, folder, defaults).map(ItemSource::Records),
    }
}

/// Reads where a list comes from. It has no `max_bytes`: see [`MAX_LIST_BYTES`].
fn list(
    cx: &mut Context<'_>,
    field: Field<'_>,
    folder: &Path,
    defaults: &JobDefaults,
) -> Option<Box<Input>> {
    let mut fields = Fields::open(cx, field, SOURCES)?;
    let optional = fields.read(cx, "optional", typed::boolean).unwrap_or(false);
    let presence = if optional {
        Presence::Optional
    } else {
        Presence::Required
    };
    let from = Origin {
        folder,
        presence,
        timeout: defaults.input_timeout,
    };
    let what = format!("`{}`", field.name);
    let source = input_source(cx, fields, (field, &what), from)?;
    Some(Box::new(Input {
        name: field.name.to_owned(),
        source,
        presence,
        max_bytes: MAX_LIST_BYTES,
    }))
}

/// Reads a pattern: the folder that it begins with, and the rest of it.
fn files(cx: &mut Context<'_>, field: Field<'_>, folder: &Path) -> Option<ItemSource> {
    let text = typed::text(cx, field)?;
    if let Err(error) = Pattern::new(&text) {
        let after = text.char_indices().map(|(at, _)| at).nth(error.pos);
        let at = after.unwrap_or(text.len());
        let place = typed::within(field.node, &text, at..text.len());
        let message = format!("`files`: the pattern cannot be read: {}", error.msg);
        let help = "`*` stands for any part of a name, `**` alone between slashes for any folders, `[ab]` for one of some letters";
        cx.bad_field(place, message, Some(help.to_owned()));
        return None;
    }
    let (fixed, pattern) = divided(&text);
    let problem = if pattern.as_os_str().is_empty() || text.ends_with('/') {
        Some("it names a folder, and items are files; a pattern such as `docs/**/*.md` names files")
    } else if text.contains(char::is_control) {
        Some("a name with control characters is never matched; leave them out")
    } else if pattern
        .components()
        .any(|part| part == Component::ParentDir)
    {
        Some("`..` may stand at the beginning only; write the folder that is meant")
    } else {
        None
    };
    if let Some(problem) = problem {
        let (reason, help) = problem.split_once("; ").unwrap_or((problem, ""));
        cx.refuse(field, reason, help);
        return None;
    }
    let root = folder.join(fixed);
    let found = match std::fs::metadata(&root) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err("it is no folder".to_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err("no such folder".to_owned())
        }
        Err(error) => Err(reason(&error)),
    };
    if let Err(reason) = found {
        missing_file(cx, field, &root, &reason);
    }
    Some(ItemSource::Files {
        folder: root,
        pattern: pattern.to_str()?.to_owned(),
    })
}

/// The folders of a pattern before its first sign that stands for something, and the rest; the last part is never a
/// folder.
fn divided(pattern: &str) -> (PathBuf, PathBuf) {
    let parts: Vec<Component<'_>> = Path::new(pattern)
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    let stands_for_more = |part: &Component<'_>| {
        let text = part.as_os_str().to_string_lossy();
        text.contains(['*', '?', '['])
    };
    let first = parts.iter().position(stands_for_more);
    let fixed = first.unwrap_or(parts.len().saturating_sub(1));
    let (fixed, rest) = parts.split_at(fixed);
    (fixed.iter().collect(), rest.iter().collect())
}

/// Reads `concurrency`.
pub fn concurrency(cx: &mut Context<'_>, fields: &mut Fields<'_>) -> u32 {
    let Some(field) = fields.take("concurrency") else {
        return 1;
    };
    if !fields.has("for_each") {
        let message = "`concurrency`: without `for_each` there is one piece of work only";
        let help = "remove it, or add `for_each`";
        cx.bad_field(field.key.clone(), message.to_owned(), Some(help.to_owned()));
        return 1;
    }
    typed::integer(cx, field, 1..=16).unwrap_or(1)
}

/// Reports an output file that is the same for every item.
pub fn lacks_item(cx: &mut Context<'_>, output: &Output, place: &Place) {
    let Some(path) = &output.file else {
        return;
    };
    let environment = minijinja::Environment::empty();
    // What cannot be read as a template is a mistake that has been told.
    if crate::tag::excess(path).is_some() {
        return;
    }
    let Ok(template) = environment.template_from_str(path) else {
        return;
    };
    if template.undeclared_variables(false).contains(ITEM) {
        return;
    }
    let message = format!("every item of `for_each` would be written to one file, `{path}`");
    let help = "give each its own, for example with `{{ item.name }}` in the path";
    cx.report(Mistake::new(Rule::OutputCollision, place.clone(), message).help(help));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_begins_with_the_folders_that_stand_for_themselves() {
        let table = [
            ("../docs/en/**/*.md", "../docs/en", "**/*.md"),
            ("*.md", "", "*.md"),
            ("./a/b.md", "a", "b.md"),
            ("/srv/[ab]/x?", "/srv", "[ab]/x?"),
            ("b.md", "", "b.md"),
        ];
        for (pattern, folder, rest) in table {
            let expected = (PathBuf::from(folder), PathBuf::from(rest));
            assert_eq!(divided(pattern), expected, "{pattern}");
        }
    }
}
