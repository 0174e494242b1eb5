//! One file's text, and places in it.
//!
//! The text of a [`Source`] never holds an Anthropic key: secrets are masked
//! byte for byte before anything parses, quotes or renders it.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How every Anthropic secret begins.
const SECRET_PREFIX: &str = "sk-ant-";
/// The fewest bytes after the prefix that make a secret; `sk-ant-…` in a comment is none.
const MIN_SECRET_TAIL: usize = 6;

/// The text of one file, masked, with its lines counted.
pub struct Source {
    path: PathBuf,
    name: String,
    text: String,
    line_starts: Vec<usize>,
    secrets: Vec<Range<usize>>,
}

/// A byte range in a source; cheap to clone.
#[derive(Clone)]
pub struct Place {
    source: Arc<Source>,
    span: Range<usize>,
}

impl Source {
    /// Takes a text in, masking what looks like an Anthropic secret. `name` is the path as shown.
    #[must_use]
    pub fn new(path: PathBuf, name: &str, text: String) -> Arc<Self> {
        // A file may have any name; a terminal must not obey it.
        let name = name.replace(char::is_control, "\u{fffd}");
        let secrets = find_secrets(&text);
        let text = mask(
            text,
            'x',
            secrets
                .iter()
                .map(|span| span.start + SECRET_PREFIX.len()..span.end),
        );
        Self::with_secrets(path, name, text, secrets)
    }

    /// The same file with these spans masked as well, by dots: they never make a name or a number.
    #[must_use]
    pub fn masked(&self, spans: Vec<Range<usize>>) -> Arc<Self> {
        let text = mask(self.text.clone(), '.', spans.into_iter());
        Self::with_secrets(
            self.path.clone(),
            self.name.clone(),
            text,
            self.secrets.clone(),
        )
    }

    fn with_secrets(
        path: PathBuf,
        name: String,
        text: String,
        secrets: Vec<Range<usize>>,
    ) -> Arc<Self> {
        // YAML ends a line at a lone carriage return too.
        let bytes = text.as_bytes();
        let ends_line = |(at, byte): &(usize, &u8)| {
            **byte == b'\n' || (**byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
        };
        let breaks = bytes.iter().enumerate().filter(ends_line);
        let line_starts = std::iter::once(0)
            .chain(breaks.map(|(at, _)| at + 1))
            .collect();
        Arc::new(Self {
            path,
            name,
            text,
            line_starts,
            secrets,
        })
    }

    /// The absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path as shown to people: relative to the working folder when inside it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text; every byte stands where it stands in the file, secrets are masked.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where secrets stood.
    #[must_use]
    pub fn secrets(&self) -> &[Range<usize>] {
        &self.secrets
    }

    /// How many lines there are; a last one may be empty.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.line_starts.len()
    }

    /// The line that holds a byte, counted from 1.
    #[must_use]
    pub fn line(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }

    /// Where a line begins; the end of the text for a line past the last.
    #[must_use]
    pub fn line_start(&self, line: usize) -> usize {
        self.line_starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(self.text.len())
    }

    /// The bytes of one line, without its line break.
    #[must_use]
    pub fn line_span(&self, line: usize) -> Range<usize> {
        let start = self.line_start(line);
        let end = self.line_start(line + 1);
        start..start + self.text[start..end].trim_end_matches(['\n', '\r']).len()
    }

    /// What stands before a byte in its line; a byte order mark is no part of a line.
    #[must_use]
    pub fn line_before(&self, at: usize) -> &str {
        let start = self.line_start(self.line(at));
        self.text[start..floor(&self.text, at)].trim_start_matches('\u{feff}')
    }

    /// A place in this source; a span that does not fit the text is moved to where it does.
    #[must_use]
    pub fn place(self: &Arc<Self>, span: Range<usize>) -> Place {
        let end = floor(&self.text, span.end);
        let start = floor(&self.text, span.start.min(end));
        Place {
            source: Arc::clone(self),
            span: start..end,
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("path", &self.path)
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

impl Place {
    /// The file.
    #[must_use]
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The file's path as shown to people.
    #[must_use]
    pub fn file(&self) -> &str {
        self.source.name()
    }

    /// The byte range in the file.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The text in the range, as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.source.text[self.span.clone()]
    }

    /// The line of the first byte, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.source.line(self.span.start)
    }

    /// The character within the line, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.source.line_before(self.span.start).chars().count() + 1
    }

    /// The line of the first byte behind the range, counted from 1.
    #[must_use]
    pub fn end_line(&self) -> usize {
        self.source.line(self.span.end)
    }

    /// The first character behind the range within its line, counted from 1.
    #[must_use]
    pub fn end_column(&self) -> usize {
        self.source.line_before(self.span.end).chars().count() + 1
    }

    /// Whether the range holds a masked Anthropic secret.
    #[must_use]
    pub fn holds_secret(&self) -> bool {
        let secrets = &self.source.secrets;
        let next = secrets.partition_point(|secret| secret.end <= self.span.start);
        secrets
            .get(next)
            .is_some_and(|secret| secret.start < self.span.end)
    }

    /// Another range in the same file.
    #[must_use]
    pub fn at(&self, span: Range<usize>) -> Self {
        self.source.place(span)
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.span == other.span && self.source.path == other.source.path
    }
}

impl Eq for Place {}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file(), self.line(), self.column())
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({self})")
    }
}

fn find_secrets(text: &str) -> Vec<Range<usize>> {
    let is_tail = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(SECRET_PREFIX) {
        let start = from + at;
        let tail = start + SECRET_PREFIX.len();
        let end = text[tail..]
            .find(|c| !is_tail(c))
            .map_or(text.len(), |length| tail + length);
        if end - tail >= MIN_SECRET_TAIL {
            found.push(start..end);
        }
        from = end;
    }
    found
}

/// Puts a letter in place of every byte of the spans; white space stays, so that YAML keeps its shape.
fn mask(text: String, letter: char, spans: impl Iterator<Item = Range<usize>>) -> String {
    let mut masked = text;
    for span in spans {
        let hide = |byte: u8| {
            if byte.is_ascii_whitespace() {
                char::from(byte)
            } else {
                letter
            }
        };
        let hidden: String = masked[span.clone()].bytes().map(hide).collect();
        masked.replace_range(span, &hidden);
    }
    masked
}

fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Arc<Source> {
        Source::new("/w/a.yaml".into(), "a.yaml", text.into())
    }

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let source = source("a: é\nbé: c\n");
        let place = source.place(11..12);
        assert_eq!((place.text(), place.line(), place.column()), ("c", 2, 5));
        assert_eq!(place.to_string(), "a.yaml:2:5");
        assert_eq!((place.end_line(), place.end_column()), (2, 6));
        let both = source.place(3..13);
        assert_eq!((both.end_line(), both.end_column()), (3, 1));
        assert_eq!(source.line_span(1), 0..5);
        assert_eq!(source.line_span(9), 13..13);
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        assert_eq!(source("\u{feff}a: b").place(6..7).column(), 4);
    }

    #[test]
    fn a_span_outside_the_text_is_moved_inside() {
        let source = source("é");
        assert_eq!(source.place(1..99).span(), 0..2);
        assert_eq!(source.place(7..9).span(), 2..2);
    }

    #[test]
    fn a_secret_is_masked_without_moving_a_byte() {
        let text = "a: sk-ant-api03-Zq_9\nb: sk-ant-…\nc: sk-ant-\n";
        let source = source(text);
        assert_eq!(
            source.text(),
            "a: sk-ant-xxxxxxxxxx\nb: sk-ant-…\nc: sk-ant-\n"
        );
        let spans: Vec<_> = source
            .secrets()
            .iter()
            .map(|span| (span.start, span.end))
            .collect();
        assert_eq!(spans, [(3, 20)]);
        assert!(!format!("{source:?}").contains("Zq_9"));
    }

    #[test]
    fn masking_by_hand_keeps_white_space() {
        assert_eq!(
            source("a: hé\n lo\n")
                .masked(std::iter::once(3..10).collect())
                .text(),
            "a: ...\n ..\n"
        );
    }
}
