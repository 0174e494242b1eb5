//! Lists the items of a job: files, lines, records.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use glob::{MatchOptions, Pattern};
use ring::digest::{Context, SHA256, digest};
use walkdir::{DirEntry, WalkDir};

use super::error::WorkspaceError;
use super::inputs::{open, unreadable};
use crate::piece::Item;

/// The most items that a job may have.
pub const MAX_ITEMS: usize = 10_000;

/// The most files and folders that are looked at for a pattern: far more than any folder of documents holds, and
/// fewer than a whole disk.
const MAX_ENTRIES: usize = 1_000_000;

/// How many bytes of a hash tell two contents apart.
const MARK_BYTES: usize = 16;

/// As in a shell: `*` matches no slash and no hidden name.
const HOW: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// What a look at a job's items found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// The job has no `for_each`.
    None,
    /// They come from a command that was not run, or from an address that was not fetched.
    NotRun,
    /// These, in their order.
    Items(Vec<Item>),
}

/// The files below a folder that fit a pattern, without their marks, by name.
///
/// A link to a file counts as the file; a link to a folder is not followed, so that no walk turns in a circle.
pub(super) fn files(folder: &Path, pattern: &str) -> Result<Vec<Item>, WorkspaceError> {
    let place = || format!("{}/{pattern}", folder.display());
    let compiled = Pattern::new(pattern).map_err(|error| WorkspaceError::Items {
        place: place(),
        problem: error.to_string(),
    })?;
    // The walk tells of a missing folder in words of its own.
    fs::read_dir(folder).map_err(|source| unreadable(folder, source))?;
    let mut names = Vec::new();
    for (looked_at, entry) in walk(folder, pattern).enumerate() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => match gone_or(folder, error) {
                None => continue,
                Some(error) => return Err(error),
            },
        };
        if looked_at >= MAX_ENTRIES {
            return Err(WorkspaceError::Items {
                place: place(),
                problem: format!(
                    "more than {MAX_ENTRIES} files and folders were looked at; begin the pattern with a smaller folder"
                ),
            });
        }
        let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let name = path.to_string_lossy();
        if !compiled.matches_with(&name, HOW) || !is_file(&entry) {
            continue;
        }
        let Some(name) = path
            .to_str()
            .filter(|name| !name.contains(char::is_control))
        else {
            return Err(WorkspaceError::Items {
                place: place(),
                problem: format!(
                    "the name of `{}` is no plain text; rename it",
                    name.escape_debug()
                ),
            });
        };
        names.push(name.to_owned());
        bounded(names.len(), &place)?;
    }
    names.sort_unstable();
    Ok(names.into_iter().map(file).collect())
}

fn walk(
    folder: &Path,
    pattern: &str,
) -> impl Iterator<Item = Result<DirEntry, walkdir::Error>> + use<> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let depth = if parts.contains(&"**") {
        usize::MAX
    } else {
        parts.len()
    };
    let wants_hidden = parts.iter().any(|part| part.starts_with('.'));
    let is_hidden = |entry: &DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".");
    let walk = WalkDir::new(folder).min_depth(1).max_depth(depth);
    walk.into_iter()
        .filter_entry(move |entry| wants_hidden || !is_hidden(entry))
}

/// What the walk could not read; `None` for what has gone in the meantime.
fn gone_or(folder: &Path, error: walkdir::Error) -> Option<WorkspaceError> {
    let path = error.path().unwrap_or(folder).to_owned();
    let source = error
        .into_io_error()
        .unwrap_or_else(|| io::Error::other("a link leads back"));
    (source.kind() != io::ErrorKind::NotFound).then(|| unreadable(&path, source))
}

/// Whether it is a regular file, or a link to one.
fn is_file(entry: &DirEntry) -> bool {
    let kind = entry.file_type();
    kind.is_file()
        || kind.is_symlink() && fs::metadata(entry.path()).is_ok_and(|found| found.is_file())
}

fn file(name: String) -> Item {
    Item {
        key: name.clone(),
        name,
        mark: String::new(),
        text: None,
    }
}

/// The mark of a file's content; bytes beyond `max` count for nothing, as no request can hold them.
pub(super) fn mark_of_file(path: &Path, max: u64) -> Result<String, WorkspaceError> {
    let (file, _) = open(path)?;
    let mut file = file.take(max.saturating_add(1));
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = file
            .read(&mut buffer)
            .map_err(|source| unreadable(path, source))?;
        if read == 0 {
            return Ok(hex(context.finish().as_ref()));
        }
        context.update(&buffer[..read]);
    }
}

/// The lines of a text that are not blank.
pub(super) fn lines(place: &str, text: &str) -> Result<Vec<Item>, WorkspaceError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let texts = lines.map(|(number, line)| (number, line.to_owned()));
    named("line", place, texts)
}

/// The elements of a JSON list, or the JSON values of a text with one a line.
pub(super) fn records(place: &str, text: &str) -> Result<Vec<Item>, WorkspaceError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let wrong = |line: usize, error: &serde_json::Error| {
        let said = error.to_string();
        // The place is ours to tell: of a single line, the parser knows only that it is its first.
        let said = said.split(" at line ").next().unwrap_or_default();
        WorkspaceError::Items {
            place: format!("{place}:{line}:{}", error.column()),
            problem: format!("{said}; write one JSON value a line, or one list of them"),
        }
    };
    if text.trim_start().starts_with('[') {
        match serde_json::from_str::<Vec<serde_json::Value>>(text) {
            Ok(list) => {
                let texts = list.iter().map(ToString::to_string);
                return named("record", place, (1..).zip(texts));
            }
            // The lines may hold a list each.
            Err(error) if !begins_with_a_list_on_a_line(text) => {
                return Err(wrong(error.line(), &error));
            }
            Err(_) => {}
        }
    }
    let mut texts = Vec::new();
    for (line, written) in (1..).zip(text.lines()) {
        let written = written.trim();
        if written.is_empty() {
            continue;
        }
        serde_json::from_str::<serde::de::IgnoredAny>(written)
            .map_err(|error| wrong(line, &error))?;
        texts.push(written.to_owned());
        bounded(texts.len(), &|| place.to_owned())?;
    }
    named("record", place, (1..).zip(texts))
}

fn begins_with_a_list_on_a_line(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok())
}

/// Items that are known by their content: an equal one has a number more in its key.
fn named(
    what: &str,
    place: &str,
    texts: impl Iterator<Item = (usize, String)>,
) -> Result<Vec<Item>, WorkspaceError> {
    let mut items = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (number, text) in texts {
        let mark = hex(digest(&SHA256, text.as_bytes()).as_ref());
        let count = seen.entry(mark.clone()).or_default();
        *count += 1;
        let key = match *count {
            1 => mark.clone(),
            count => format!("{mark}-{count}"),
        };
        items.push(Item {
            name: format!("{what} {number}"),
            key,
            mark,
            text: Some(text),
        });
        bounded(items.len(), &|| place.to_owned())?;
    }
    Ok(items)
}

fn bounded(count: usize, place: &dyn Fn() -> String) -> Result<(), WorkspaceError> {
    if count <= MAX_ITEMS {
        return Ok(());
    }
    Err(WorkspaceError::Items {
        place: place(),
        problem: format!(
            "there are more than {MAX_ITEMS} items; make several jobs of it, each with a part of them"
        ),
    })
}

fn hex(hash: &[u8]) -> String {
    let mut text = String::with_capacity(2 * MARK_BYTES);
    for byte in hash.iter().take(MARK_BYTES) {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests;
