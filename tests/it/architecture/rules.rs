//! The rules of the house, each a function from a file to what is wrong with it.

use super::source::Source;

/// Ring 0, ring 1, and so on; a module may use lower rings.
const RINGS: &[&[&str]] = &[
    &[
        "job", "piece", "slot", "answer", "outcome", "money", "price", "secret", "span", "tag",
        "markup",
    ],
    &["schedule", "lint", "strip", "guard", "report", "trial"],
    &["engine"],
    &[
        "config",
        "workspace",
        "anthropic",
        "store",
        "clock",
        "dice",
        "notify",
        "sim",
        "standin",
    ],
    &["cli", "main"],
];

/// The arrows inside a ring.
const INSIDE: &[(&str, &str)] = &[
    ("slot", "job"),
    ("outcome", "job"),
    ("outcome", "slot"),
    ("outcome", "answer"),
    ("outcome", "piece"),
    ("outcome", "money"),
    ("job", "money"),
    ("price", "answer"),
    ("price", "job"),
    ("price", "money"),
    ("lint", "schedule"),
    ("strip", "schedule"),
    ("strip", "lint"),
    ("trial", "report"),
    ("standin", "anthropic"),
    ("workspace", "anthropic"),
    ("notify", "workspace"),
    ("main", "cli"),
];

/// What words and core never touch: whatever waits, reads, writes, draws or serialises.
const NOT_IN_CORE: &[&str] = &[
    "tokio",
    "serde",
    "serde_json",
    "serde_yaml",
    "tracing",
    "rand",
    "futures_util",
    "reqwest",
    "rusqlite",
    "hyper",
    "minijinja",
    "tempfile",
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "std::io",
    "async",
    "SystemTime",
    "Instant",
    "println",
    "eprintln",
];

/// What the engine never touches: it asks its ports. It owns its tasks and waits by its clock, or virtual time breaks.
const NOT_IN_ENGINE: &[&str] = &[
    "tokio::spawn",
    "tokio::task",
    "tokio::time",
    "serde",
    "serde_json",
    "serde_yaml",
    "rand",
    "reqwest",
    "rusqlite",
    "hyper",
    "minijinja",
    "tempfile",
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "SystemTime",
    "Instant",
    "println",
    "eprintln",
];

/// Words that the glossary replaces, by their beginning.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("blackout", "peak window"),
    ("requeue", "defer"),
    ("postpon", "defer"),
    ("backfill", "catch-up"),
    ("tenant", "group"),
    ("blacklist", "hold"),
    ("whitelist", "admit"),
];

/// Groups of words that the glossary replaces.
const OTHER_PHRASES: &[(&str, &str)] = &[
    ("cooldown timeout", "cooldown"),
    ("carry over", "defer"),
    ("carried over", "deferred"),
    ("give up", "yield"),
    ("gave up", "yielded"),
];

/// A file is split before it is longer, test code left out.
const MAX_LINES: usize = 400;

/// Arrows that lead to the same ring or up.
pub fn wrong_arrows(source: &Source) -> Vec<String> {
    let Some(from) = source.top() else {
        return Vec::new();
    };
    let mut wrong = Vec::new();
    for (offset, to) in arrows(source) {
        if let Some(reason) = refusal(from, &to) {
            wrong.push(format!(
                "{}: `{from}` uses `{to}`: {reason}",
                source.place(offset)
            ));
        }
    }
    wrong
}

fn refusal(from: &str, to: &str) -> Option<String> {
    if from == to || INSIDE.contains(&(from, to)) {
        return None;
    }
    match (ring(from), ring(to)) {
        (Some(own), Some(other)) if other < own => None,
        (Some(own), Some(other)) => Some(format!("ring {own} may not use ring {other}")),
        (_, None) => Some("it stands in no ring".to_owned()),
        (None, _) => Some("the user stands in no ring".to_owned()),
    }
}

fn ring(module: &str) -> Option<usize> {
    RINGS.iter().position(|ring| ring.contains(&module))
}

/// The top-level modules that a file names, with the byte offset of each.
fn arrows(source: &Source) -> Vec<(usize, String)> {
    let bare = &source.bare;
    let mut arrows = Vec::new();
    for root in ["crate::", "offpeak::"] {
        for offset in words_at(bare, root) {
            arrows.extend(
                heads(&bare[offset + root.len()..])
                    .into_iter()
                    .map(|head| (offset, head)),
            );
        }
    }
    for offset in words_at(bare, "super::") {
        let path = &bare[offset..];
        let ups = path.split("::").take_while(|part| *part == "super").count();
        // A `super` in the middle of a chain was counted with the first of the chain.
        if !bare[..offset].ends_with("super::") && ups >= source.module.len() {
            arrows.extend(
                heads(&path[ups * "super::".len()..])
                    .into_iter()
                    .map(|head| (offset, head)),
            );
        }
    }
    arrows
}

/// The first names of a path or of a group of paths: `job::Job` and `{job::Job, slot::{A, B}}`.
fn heads(path: &str) -> Vec<String> {
    let Some(group) = path.strip_prefix('{') else {
        return vec![name(path)];
    };
    let mut depth = 0;
    let mut heads = Vec::new();
    let mut start = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                heads.push(name(group[start..at].trim()));
                start = at + 1;
            }
            _ => {}
        }
        if c == '}' && start == at + 1 {
            break;
        }
    }
    heads.retain(|head| !head.is_empty());
    heads
}

/// The identifier at the beginning, or the `*` of a glob.
fn name(path: &str) -> String {
    if path.starts_with('*') {
        return "*".to_owned();
    }
    path.chars().take_while(|c| is_word(*c)).collect()
}

/// Modules at the top that stand in no ring, or in the table and not in the source.
pub fn wrong_rings(sources: &[Source]) -> Vec<String> {
    let mut wrong = Vec::new();
    for source in sources {
        if let Some(top) = source.top().filter(|top| ring(top).is_none()) {
            wrong.push(format!("{}: `{top}` stands in no ring", source.path));
        }
    }
    for module in RINGS.iter().copied().flatten() {
        if !sources.iter().any(|source| source.top() == Some(module)) {
            wrong.push(format!("`{module}` stands in a ring and not in src"));
        }
    }
    wrong
}

/// What a ring never touches.
pub fn outside_reach(source: &Source) -> Vec<String> {
    let banned = match source.top().and_then(ring) {
        Some(0 | 1) => NOT_IN_CORE,
        Some(2) => NOT_IN_ENGINE,
        Some(_) | None => return Vec::new(),
    };
    // `use std::{fs, io}` names the same as `use std::fs; use std::io`.
    let groups = ["std", "tokio"].iter().flat_map(|root| {
        let at_root = words_at(&source.bare, &format!("{root}::{{")).into_iter();
        at_root.flat_map(move |offset| {
            let heads = heads(&source.bare[offset + root.len() + "::".len()..]);
            heads
                .into_iter()
                .map(move |head| (offset, format!("{root}::{head}")))
        })
    });
    let grouped = groups.filter(|(_, path)| banned.contains(&path.as_str()));
    let plain = banned.iter().flat_map(|word| {
        words_at(&source.bare, word)
            .into_iter()
            .map(|offset| (offset, (*word).to_owned()))
    });
    plain
        .chain(grouped)
        .map(|(offset, word)| {
            format!(
                "{}: ring {} touches `{word}`",
                source.place(offset),
                source.top().and_then(ring).unwrap_or(0)
            )
        })
        .collect()
}

/// A file that is too long to hold in view.
pub fn too_long(source: &Source) -> Vec<String> {
    let lines = source.lines;
    if lines <= MAX_LINES {
        Vec::new()
    } else {
        vec![format!(
            "{}: {lines} lines; split it by {MAX_LINES}",
            source.path
        )]
    }
}

/// Silenced lints and hidden panics.
pub fn shortcuts(source: &Source) -> Vec<String> {
    let found = |text: &'static str, instead: &'static str| {
        let places = source
            .bare
            .match_indices(text)
            .map(|(offset, _)| source.place(offset));
        places
            .map(move |place| format!("{place}: `{text}`; {instead}"))
            .collect::<Vec<_>>()
    };
    [
        found(
            "#[allow(",
            "use `#[expect(…, reason = …)]` on the smallest item",
        ),
        found(
            "#![allow(",
            "use `#[expect(…, reason = …)]` on the smallest item",
        ),
        found(
            ".unwrap()",
            "return an error, or `expect` what our own code guarantees",
        ),
        found("todo!(", "finish it"),
        found("unimplemented!(", "finish it"),
    ]
    .concat()
}

/// Identifiers and texts in words that the glossary replaces.
pub fn other_words(source: &Source) -> Vec<String> {
    let found = other_words_in(&source.code);
    found
        .into_iter()
        .map(|(offset, what)| format!("{}: {what}", source.place(offset)))
        .collect()
}

/// The same for any text: its offset, the word and what to say instead.
pub fn other_words_in(text: &str) -> Vec<(usize, String)> {
    let lower = text.to_ascii_lowercase();
    let words = OTHER_WORDS
        .iter()
        .flat_map(|(word, instead)| starts_at(text, word).map(move |at| (at, *word, *instead)));
    let phrases = OTHER_PHRASES.iter().flat_map(|(phrase, instead)| {
        lower
            .match_indices(phrase)
            .map(move |(at, _)| (at, *phrase, *instead))
    });
    words
        .chain(phrases)
        .map(|(at, word, instead)| (at, format!("`{word}`; the glossary says `{instead}`")))
        .collect()
}

/// Where a word begins: after anything but a letter, or at a capital letter inside an identifier.
fn starts_at<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let lower = text.to_ascii_lowercase();
    let places: Vec<usize> = lower.match_indices(word).map(|(at, _)| at).collect();
    places.into_iter().filter(move |&at| {
        let is_capital = text[at..].starts_with(|c: char| c.is_ascii_uppercase());
        is_capital || !text[..at].ends_with(|c: char| c.is_alphabetic())
    })
}

/// Files of the test binary that its root does not name: they would never run.
pub fn orphans(root: &str, files: &[String]) -> Vec<String> {
    let is_named = |file: &str| {
        root.lines()
            .any(|line| line.trim() == format!("mod {file};"))
    };
    let orphans = files
        .iter()
        .filter(|file| *file != "main" && !is_named(file));
    orphans
        .map(|file| format!("tests/it/{file}.rs is not in tests/it/main.rs"))
        .collect()
}

/// The offsets at which a path or word stands by itself, not as a part of a longer word.
fn words_at(text: &str, word: &str) -> Vec<usize> {
    let is_whole = |at: usize| {
        let ends = !word.ends_with(is_word) || !text[at + word.len()..].starts_with(is_word);
        ends && !text[..at].ends_with(is_word)
    };
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(|&at| is_whole(at))
        .collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
