//! What the decoders share: the mistakes so far, zone data, files already read.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::job::JobId;
use crate::lint::Rule;

use super::bounded::read_bounded;
use super::crowd::Crowd;
use super::fields::Field;
use super::mistakes::Mistake;
use super::node::{Node, Value};
use super::source::{Place, Source};
use super::zoneinfo::ZoneShelf;

/// Bytes of a message or an advice: longer than any list of our own names.
const MAX_SENTENCE: usize = 600;
/// Longer values are cut in messages.
const MAX_SHOWN: usize = 40;

/// What the decoders share.
#[derive(Debug)]
pub struct Context<'o> {
    /// The working folder, absolute.
    pub folder: &'o Path,
    /// The zone data at hand.
    pub zones: ZoneShelf<'o>,
    /// What was found wrong so far.
    pub mistakes: Vec<Mistake>,
    /// The job that is being decoded.
    pub job: Option<JobId>,
    /// How many templates were tried at length.
    pub long_trials: usize,
    /// How many mistakes each file holds.
    pub crowd: Crowd,
    texts: BTreeMap<PathBuf, Result<Arc<Source>, String>>,
}

impl<'o> Context<'o> {
    /// Nothing wrong so far.
    pub fn new(folder: &'o Path, zones: ZoneShelf<'o>) -> Self {
        Self {
            folder,
            zones,
            mistakes: Vec::new(),
            job: None,
            long_trials: 0,
            crowd: Crowd::default(),
            texts: BTreeMap::new(),
        }
    }

    /// Takes down a mistake of the job at hand.
    pub fn report(&mut self, mut mistake: Mistake) {
        if !self.crowd.admits(&mistake.place) {
            return;
        }
        mistake.message = bounded(mistake.message);
        mistake.help = mistake.help.map(bounded);
        mistake.job = mistake.job.or_else(|| self.job.clone());
        self.mistakes.push(mistake);
    }

    /// Takes down a mistake of the rule `bad-field`.
    pub fn bad_field(&mut self, place: Place, message: String, help: Option<String>) {
        self.report(Mistake::new(Rule::BadField, place, message).maybe_help(help));
    }

    /// The value is not what the field takes.
    pub fn expected(&mut self, field: Field<'_>, expected: &str) {
        self.expected_or(field, expected, None);
    }

    /// The value is not what the field takes, and perhaps it can be told what was meant.
    pub fn expected_or(&mut self, field: Field<'_>, expected: &str, help: Option<String>) {
        let message = format!(
            "`{}`: expected {expected}, found {}",
            field.name,
            shown(field.node)
        );
        self.bad_field(field.place(), message, help);
    }

    /// The value is of the right type and not allowed here.
    pub fn refuse(&mut self, field: Field<'_>, reason: &str, help: impl Into<String>) {
        self.bad_field(
            field.place(),
            format!("`{}`: {reason}", field.name),
            Some(help.into()),
        );
    }

    /// A field that must be there is not.
    pub fn missing(&mut self, owner: &Place, name: &str, help: impl Into<String>) {
        self.bad_field(
            owner.clone(),
            format!("the field `{name}` is missing"),
            Some(help.into()),
        );
    }

    /// A field stands in its map twice.
    pub fn repeated(&mut self, field: Field<'_>, first: &Place) {
        let message = format!("the field `{}` is repeated", field.name);
        let mistake = Mistake::new(Rule::BadField, field.key.clone(), message)
            .related(first.clone(), "it stands here first")
            .help("keep one of them");
        self.report(mistake);
    }

    /// Takes down every API key that stands in a file.
    pub fn report_secrets(&mut self, source: &Arc<Source>) {
        for secret in source.secrets() {
            let place = source.place(secret.clone());
            let message = "an API key stands in this file";
            let help = "take it out, make a new one, and name the variable or file that holds it: \
                        `keys: { main: { env: ANTHROPIC_API_KEY } }`";
            self.report(Mistake::new(Rule::LiteralSecret, place, message).help(help));
        }
    }

    /// The text of a prompt file, read once; the error is what the system says.
    pub fn read_text(&mut self, path: &Path) -> Result<Arc<Source>, String> {
        if let Some(read) = self.texts.get(path) {
            return read.clone();
        }
        let name = shown_path(path, self.folder);
        let read = regular(path)
            .and_then(|()| read_bounded(path).map_err(|unread| unread.to_string()))
            .map(|text| Source::new(path.to_owned(), &name, text));
        self.texts.insert(path.to_owned(), read.clone());
        read
    }
}

/// A pipe or a device would be read for ever, or once too often.
pub fn regular(path: &Path) -> Result<(), String> {
    let metadata = std::fs::metadata(path).map_err(|error| reason(&error))?;
    match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => Ok(()),
        (_, true) => Err("it is a folder".to_owned()),
        (_, false) => Err("it is no regular file".to_owned()),
    }
}

/// Refuses what is no regular file before it is opened: to open a pipe waits for whoever writes to it.
pub fn must_be_a_file(path: &Path) -> Result<(), String> {
    let metadata = std::fs::metadata(path).map_err(|error| reason(&error))?;
    if metadata.is_file() {
        Ok(())
    } else {
        Err("it is no regular file".to_owned())
    }
}

/// A value in words, for messages: scalars as written.
pub fn shown(node: &Node) -> String {
    match &node.value {
        Value::Text(text) if text.is_empty() => "an empty text".to_owned(),
        Value::Text(text) => {
            let line = text.lines().next().unwrap_or_default();
            let cut: String = line.chars().take(MAX_SHOWN).collect();
            let dots = if cut.len() < text.trim_end().len() {
                "…"
            } else {
                ""
            };
            format!("`{cut}{dots}`")
        }
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => format!("`{}`", node.place.text()),
        Value::List(items) if items.is_empty() => "an empty list".to_owned(),
        Value::Map(entries) if entries.is_empty() => "an empty map".to_owned(),
        Value::Null | Value::List(_) | Value::Map(_) => node.kind().to_owned(),
    }
}

/// A text of bearable length that moves no cursor: a name in it may be as long as a file, and hold anything.
fn bounded(mut text: String) -> String {
    if text.len() > MAX_SENTENCE {
        text.truncate(text.floor_char_boundary(MAX_SENTENCE));
        text.shrink_to_fit();
        text.push('…');
    }
    if text.contains(char::is_control) {
        text = text.replace(char::is_control, "\u{fffd}");
    }
    text
}

/// A path as shown to people: relative to the working folder when inside it.
pub fn shown_path(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder)
        .unwrap_or(path)
        .display()
        .to_string()
}

/// A path without `.` and `..`, by its text alone: what it names need not exist yet.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// What the system says, without its error number.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error")
                .next()
                .unwrap_or_default()
                .to_lowercase()
        }
    }
}
