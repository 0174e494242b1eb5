//! `output` and `check`: where an answer goes, and what it must satisfy.

use crate::job::{Check, FrontMatter, Output, Previous};

use super::context::Context;
use super::decode_keys::variable;
use super::decode_notify::address_literal;
use super::decode_text::inline;
use super::decode_url::LITERAL_WEBHOOKS;
use super::fields::{Field, Fields};
use super::item_variables::ItemKind;
use super::source::Place;
use super::templates::{BUILT_IN, Variables};
use super::typed;

/// Where the paths of an output are named.
#[derive(Debug, Clone, Default)]
pub struct OutputPlaces {
    /// That of the file.
    pub file: Option<Place>,
    /// That of the file to which is appended.
    pub append: Option<Place>,
}

/// Reads `output`, and the places of its paths.
pub fn output(
    cx: &mut Context<'_>,
    field: Field<'_>,
    item: Option<ItemKind>,
) -> Option<(Output, OutputPlaces)> {
    let mut fields = Fields::open(
        cx,
        field,
        "`{ file: PATH }`, `{ append: PATH }`, `{ command: [PROGRAM, ARGUMENT] }` or `{ webhook_env: VARIABLE }`",
    )?;
    let (file, append) = (fields.take("file"), fields.take("append"));
    let places = OutputPlaces {
        file: file.map(|file| file.place()),
        append: append.map(|append| append.place()),
    };
    let keep_previous = fields.take("keep_previous");
    let front_matter = fields.take("front_matter");
    let (command, webhook) = (fields.take("command"), fields.take("webhook_env"));
    let mut is_literal = false;
    for name in LITERAL_WEBHOOKS {
        if let Some(address) = fields.take_hidden(name) {
            address_literal(cx, address, "webhook_env: ANSWERS_URL");
            is_literal = true;
        }
    }
    fields.close(cx);
    let is_anywhere = [file, append, command, webhook].iter().any(Option::is_some);
    if !is_anywhere {
        if !is_literal {
            cx.missing(field.key, "file", "write `{ file: \"out/{{ date }}.md\" }`, or `append`, `command` or `webhook_env` for other places");
        }
        return None;
    }
    if let Some(keep) = keep_previous.filter(|_| file.is_none()) {
        let help = "add `file`, or remove this";
        cx.refuse(keep, "there is no file to keep", help);
    }
    if let Some(matter) = front_matter.filter(|_| file.or(append).is_none()) {
        let help = "add `file` or `append`, or remove this";
        cx.refuse(matter, "there is no file to begin with it", help);
    }
    let previous = match keep_previous.and_then(|keep| typed::boolean(cx, keep)) {
        Some(true) => Previous::Keep,
        Some(false) | None => Previous::Replace,
    };
    let front_matter = match front_matter.and_then(|matter| typed::boolean(cx, matter)) {
        Some(true) => FrontMatter::Yaml,
        Some(false) | None => FrontMatter::None,
    };
    // A path is settled before the inputs are read, so only what the slot and the item say can be in it.
    let output = Output {
        file: file.and_then(|file| output_path(cx, file, item)),
        previous,
        append: append.and_then(|append| output_path(cx, append, item)),
        front_matter,
        command: command.and_then(|command| typed::argv(cx, command)),
        webhook_env: webhook.and_then(|webhook| variable(cx, webhook, "ANSWERS_URL")),
    };
    Some((output, places))
}

fn output_path(cx: &mut Context<'_>, field: Field<'_>, item: Option<ItemKind>) -> Option<String> {
    let (texts, item) = (&BUILT_IN, item.map(ItemKind::in_path));
    let path = inline(cx, field, Variables { texts, item })?;
    if path.trim_end().ends_with('/') || path.contains('\0') || path.contains('\n') {
        cx.expected(field, "the path of a file");
        return None;
    }
    if strays(&path) {
        let reason = "this leads out of the working folder";
        let help = "a path that is meant to begins with `/` or `..`";
        cx.refuse(field, reason, help);
        return None;
    }
    Some(path)
}

/// Whether a path leads above where it starts, and does not say so at its beginning. What values add is seen at a run.
fn strays(path: &str) -> bool {
    let first = path.split('/').find(|part| *part != ".");
    let normal = normal_path(path, "job");
    first != Some("..") && (normal == ".." || normal.starts_with("../"))
}

/// A path in the form in which two jobs' outputs are compared: the same text means the same file.
pub fn normal_path(path: &str, job: &str) -> String {
    let mut normal = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once("{{") {
        let (inside, tail) = after.split_once("}}").unwrap_or((after, ""));
        normal.push_str(before);
        match inside.trim() {
            "job" => normal.push_str(job),
            variable => normal.extend(["{{", variable, "}}"]),
        }
        rest = tail;
    }
    normal.push_str(rest);
    let mut parts: Vec<&str> = Vec::new();
    for (index, part) in normal.split('/').enumerate() {
        match (index, part, parts.last()) {
            // Nothing lies above the root.
            (1.., "", _) | (_, ".", _) | (_, "..", Some(&"")) => {}
            (_, "..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Reads `check`.
pub fn check(cx: &mut Context<'_>, field: Field<'_>) -> Check {
    let Some(mut fields) = Fields::open(cx, field, "a map such as `{ min_chars: 200 }`") else {
        return Check::default();
    };
    let min_chars = fields.read(cx, "min_chars", |cx, f| {
        typed::integer(cx, f, 1..=10_000_000)
    });
    let contains = fields
        .read(cx, "contains", typed::texts)
        .unwrap_or_default();
    fields.close(cx);
    Check {
        min_chars: min_chars.and_then(|chars| usize::try_from(chars).ok()),
        contains,
        schema: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_path_that_begins_so_may_lead_out() {
        for path in ["out/../../a.md", "{{ date }}/../../a.md", "./a/../../b.md"] {
            assert!(strays(path), "{path}");
        }
        let meant = ["../a.md", "./../a.md", "../../a.md", "/srv/../a.md"];
        for path in meant.into_iter().chain(["out/../a.md", "a..b/..c.md"]) {
            assert!(!strays(path), "{path}");
        }
    }

    #[test]
    fn paths_that_name_one_file_have_one_form() {
        let form = |path| normal_path(path, "digest");
        assert_eq!(form("./out/{{date}}.md"), form("out//{{ date }}.md"));
        assert_eq!(form("out/{{ job }}.md"), "out/digest.md");
        assert_ne!(form("/out/a.md"), form("out/a.md"));
        assert_ne!(form("out/{{ date }}.md"), form("out/{{ slot }}.md"));
        assert_eq!(form("out/{{ date"), "out/{{date}}");
        assert_eq!(form("./out/../out/{{date}}.md"), form("out/{{ date }}.md"));
        assert_eq!(form("a/b/../../../c.md"), "../c.md");
        assert_eq!(form("../../c.md"), "../../c.md");
        assert_eq!(form("/../out/a.md"), "/out/a.md");
    }
}
