//! Draws what is wrong as a snippet of the user's file with the place marked.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level as DrawnLevel, Renderer, Snippet,
};

use crate::lint::{Finding, Rule, Severity};

use super::mistakes::{Mistake, Unreadable};
use super::source::{Place, Source};
use super::sources::Sources;

/// Bytes of lines that are searched for one snippet: more are cut, because the search costs time for each.
const MAX_DRAWN: usize = 16 * 1_024;
/// Bytes that are shown before and behind a mark in a line that is cut.
const NEIGHBOURHOOD: usize = 60;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Nothing runs until it is mended.
    Error,
    /// Advice.
    Warning,
    /// Accepted by a job.
    Accepted,
}

/// Whether the text goes to a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// No colour.
    Plain,
    /// With the terminal's colours.
    Color,
}

/// One thing to say about the user's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How bad it is.
    pub level: Level,
    /// What was found, and what was expected.
    pub title: String,
    /// The rule; `None` for a file that could not be read.
    pub rule: Option<Rule>,
    /// The places, the first one first; the others belong to it.
    pub marks: Vec<Mark>,
    /// More to say, a line each.
    pub notes: Vec<String>,
    /// The way out.
    pub help: Option<String>,
}

/// A marked place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Where.
    pub place: Place,
    /// A few words beside the mark; empty for none.
    pub label: String,
}

impl From<&Mistake> for Report {
    fn from(mistake: &Mistake) -> Self {
        let primary = Mark {
            place: mistake.place.clone(),
            label: String::new(),
        };
        let related = mistake.related.iter().map(|other| Mark {
            place: other.place.clone(),
            label: other.label.clone(),
        });
        Self {
            level: level(mistake.severity, mistake.accepted.as_ref()),
            title: mistake.message.clone(),
            rule: Some(mistake.rule),
            marks: std::iter::once(primary).chain(related).collect(),
            notes: mistake.accepted.iter().map(accepted).collect(),
            help: mistake.help.clone(),
        }
    }
}

impl From<&Unreadable> for Report {
    fn from(unreadable: &Unreadable) -> Self {
        let title = match &unreadable.place {
            Some(_) => unreadable.message.clone(),
            None => format!("{}: {}", unreadable.path, unreadable.message),
        };
        let marks = unreadable
            .place
            .iter()
            .map(|place| Mark {
                place: place.clone(),
                label: String::new(),
            })
            .collect();
        Self {
            level: Level::Error,
            title,
            rule: None,
            marks,
            notes: Vec::new(),
            help: unreadable.help.clone(),
        }
    }
}

impl Report {
    /// Puts a finding of the linter where it belongs: at its cron expression, at the entry of `accept` that it is
    /// about, or where its job begins.
    #[must_use]
    pub fn of_finding(finding: &Finding, sources: &Sources) -> Self {
        let accept = finding
            .accepts
            .and_then(|rule| sources.accept_place(&finding.job, rule));
        let field = finding
            .field
            .as_deref()
            .and_then(|field| sources.asking_place(&finding.job, field));
        let own = accept.or(field).or_else(|| {
            let cron = finding.cron?;
            let pickup = || sources.pickup_place(&finding.group, cron);
            sources.cron_place(&finding.job, cron).or_else(pickup)
        });
        let mut marks = Vec::new();
        marks.extend(
            own.or_else(|| sources.job_place(&finding.job))
                .map(|place| Mark {
                    place,
                    label: String::new(),
                }),
        );
        if let Some(other) = &finding.other {
            let pickup = || sources.pickup_place(&finding.group, other.cron);
            let place = sources.cron_place(&other.job, other.cron).or_else(pickup);
            let label = format!("`{}` fires here", other.job);
            marks.extend(
                place
                    .map(|place| Mark { place, label })
                    .filter(|mark| marks.first().is_none_or(|first| first.place != mark.place)),
            );
        }
        Self {
            level: level(finding.severity, finding.accepted.as_ref()),
            title: finding.message.clone(),
            rule: Some(finding.rule),
            marks,
            notes: finding.accepted.iter().map(accepted).collect(),
            help: finding
                .suggestion
                .as_ref()
                .map(|suggestion| format!("a legal time near it is `{}`", suggestion.cron))
                .or_else(|| finding.help.clone()),
        }
    }
}

fn level(severity: Severity, accepted: Option<&String>) -> Level {
    match (accepted, severity) {
        (Some(_), _) => Level::Accepted,
        (None, Severity::Error) => Level::Error,
        (None, Severity::Warning) => Level::Warning,
    }
}

fn accepted(reason: &String) -> String {
    format!("accepted: {reason}")
}

/// Draws reports, a blank line between two; lines are as wide as `width` columns allow.
#[must_use]
pub fn render(reports: &[Report], style: Style, width: usize) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Color => Renderer::styled(),
    };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(width);
    let drawn: Vec<String> = reports
        .iter()
        .map(|report| draw(&renderer, report))
        .collect();
    let mut text = drawn.join("\n\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn draw(renderer: &Renderer, report: &Report) -> String {
    let level = match report.level {
        Level::Error => DrawnLevel::ERROR,
        Level::Warning => DrawnLevel::WARNING,
        Level::Accepted => DrawnLevel::NOTE,
    };
    let text = match report.marks.first().filter(|mark| is_cut(mark)) {
        Some(mark) => format!("{}: {}", mark.place, report.title),
        None => report.title.clone(),
    };
    let mut title = level.primary_title(clean(&text));
    if let Some(rule) = report.rule {
        title = title.id(rule.as_str());
    }
    let mut group = Group::with_title(title).elements(snippets(&report.marks));
    for note in &report.notes {
        group = group.element(DrawnLevel::NOTE.message(clean(note)));
    }
    if let Some(help) = &report.help {
        group = group.element(DrawnLevel::HELP.message(clean(help)));
    }
    renderer.render(&[group])
}

/// One snippet a file; each holds no more lines than its marks need.
fn snippets(marks: &[Mark]) -> Vec<Element<'_>> {
    let mut files: Vec<(&Source, Vec<(usize, &Mark)>)> = Vec::new();
    for (index, mark) in marks.iter().enumerate() {
        let source = &**mark.place.source();
        match files
            .iter_mut()
            .find(|(known, _)| known.path() == source.path())
        {
            Some((_, marks)) => marks.push((index, mark)),
            None => files.push((source, vec![(index, mark)])),
        }
    }
    files
        .into_iter()
        .flat_map(|(source, marks)| snippets_of_file(source, &marks))
        .collect()
}

/// One snippet, or one a mark if the lines from the first to the last mark are too many to be searched.
fn snippets_of_file<'a>(source: &'a Source, marks: &[(usize, &'a Mark)]) -> Vec<Element<'a>> {
    if lines(source, marks).len() <= MAX_DRAWN {
        return vec![snippet(source, marks).into()];
    }
    marks
        .iter()
        .map(|(index, mark)| {
            if is_cut(mark) {
                cut_snippet(source, *index, mark).into()
            } else {
                snippet(source, &[(*index, *mark)]).into()
            }
        })
        .collect()
}

/// Whether a mark stands in a line too long to be drawn whole.
fn is_cut(mark: &Mark) -> bool {
    let source = mark.place.source();
    lines(source, &[(0, mark)]).len() > MAX_DRAWN
}

/// The bytes of all lines from the first mark's to the last one's.
fn lines(source: &Source, marks: &[(usize, &Mark)]) -> Range<usize> {
    let spans = || {
        marks
            .iter()
            .map(|(_, mark)| marked(source, mark.place.span()))
    };
    let first = source.line(spans().map(|span| span.start).min().unwrap_or_default());
    let last = source.line(spans().map(|span| span.end).max().unwrap_or_default());
    let start = source.line_start(first);
    start..source.line_span(last).end.max(start)
}

fn snippet<'a>(source: &'a Source, marks: &[(usize, &'a Mark)]) -> Snippet<'a, Annotation<'a>> {
    let lines = lines(source, marks);
    let annotations = marks.iter().map(|(index, mark)| {
        let span = marked(source, mark.place.span());
        annotation(
            *index,
            mark,
            span.start - lines.start..span.end - lines.start,
        )
    });
    Snippet::source(still(&source.text()[lines.clone()]))
        .line_start(source.line(lines.start))
        .path(source.name())
        .annotations(annotations.collect::<Vec<_>>())
}

/// The neighbourhood of a mark in a line as long as a file. Columns would count from the cut, so it names no place.
fn cut_snippet<'a>(
    source: &'a Source,
    index: usize,
    mark: &'a Mark,
) -> Snippet<'a, Annotation<'a>> {
    let line = source.line_span(mark.place.line());
    let span = marked(source, mark.place.span());
    let text = source.text();
    let end = text.floor_char_boundary(span.end.min(span.start + NEIGHBOURHOOD));
    let from = text
        .floor_char_boundary(span.start.saturating_sub(NEIGHBOURHOOD))
        .max(line.start);
    let to = text.floor_char_boundary(end + NEIGHBOURHOOD).min(line.end);
    Snippet::source(still(&text[from..to]))
        .line_start(mark.place.line())
        .annotation(annotation(index, mark, span.start - from..end - from))
}

fn annotation(index: usize, mark: &Mark, span: Range<usize>) -> Annotation<'_> {
    let kind = if index == 0 {
        AnnotationKind::Primary
    } else {
        AnnotationKind::Context
    };
    let annotation = kind.span(span);
    if mark.label.is_empty() {
        annotation
    } else {
        annotation.label(clean(&mark.label))
    }
}

/// The part of a span that is marked: its first line. A text of thirty lines says nothing in red.
fn marked(source: &Source, span: Range<usize>) -> Range<usize> {
    let line = source.line_span(source.line(span.start));
    let end = span.end.min(line.end);
    span.start.min(end)..end
}

/// An excerpt in which no sign moves the cursor: the renderer shows those of one byte itself, and those of two are
/// replaced by one of two, so that marks stay where they are.
fn still(text: &str) -> Cow<'_, str> {
    let moves = |c: char| matches!(c, '\u{80}'..='\u{9f}');
    if text.contains(moves) {
        return Cow::Owned(text.replace(moves, "\u{b7}"));
    }
    Cow::Borrowed(text)
}

/// Text of the user in a title must not move the cursor or the lines.
fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}
