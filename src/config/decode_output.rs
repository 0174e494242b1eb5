//! `output` and `check`: where an answer goes, and what it must satisfy.

use crate::job::{Check, Output, Previous};

use super::context::Context;
use super::decode_text::inline;
use super::fields::{Field, Fields};
use super::source::Place;
use super::templates::BUILT_IN;
use super::typed;

/// Reads `output`, and the place of its file.
pub fn output(cx: &mut Context<'_>, field: Field<'_>) -> Option<(Output, Option<Place>)> {
    let mut fields = Fields::open(
        cx,
        field,
        "`{ file: PATH }` or `{ command: [PROGRAM, ARGUMENT] }`",
    )?;
    let file = fields.take("file");
    let place = file.map(|file| file.place());
    // A path is settled before the inputs are read, so only what the slot says can be in it.
    let path = file.and_then(|file| output_path(cx, file));
    let keep_previous = fields.take("keep_previous");
    let previous = match keep_previous.and_then(|keep| typed::boolean(cx, keep)) {
        Some(true) => Previous::Keep,
        Some(false) | None => Previous::Replace,
    };
    let command_field = fields.take("command");
    let command = command_field.and_then(|command| typed::argv(cx, command));
    fields.close(cx);
    if file.is_none() && command_field.is_none() {
        cx.missing(field.key, "file", "write `{ file: \"out/{{ date }}.md\" }`, or `command` for a program that takes the answer");
        return None;
    }
    if let Some(keep) = keep_previous.filter(|_| file.is_none()) {
        cx.refuse(
            keep,
            "there is no file to keep",
            "add `file`, or remove this",
        );
    }
    Some((
        Output {
            file: path,
            previous,
            command,
        },
        place,
    ))
}

fn output_path(cx: &mut Context<'_>, field: Field<'_>) -> Option<String> {
    let path = inline(cx, field, &BUILT_IN)?;
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
