//! The figures told apart, a table for each way.

use super::markings::{paragraph, section};
use super::table::{Table, left, right};
use crate::markup::escaped;
use crate::price::prompt_tokens;
use crate::report::breakdown::{Breakdown, Section};
use crate::report::figures::{By, Figures};
use crate::report::table::Align;
use crate::report::view::span;

/// A table shows no more rows than this: those with the highest p99. A page of ten thousand jobs is of no use.
const ROWS: usize = 500;

/// What a cell of a row holds.
type Fill = fn(&Figures) -> String;

const COLUMNS: [(&str, Fill); 18] = [
    ("attempts", |it| it.attempts.to_string()),
    ("a call", |it| {
        known(it.mean_attempts(), |it| format!("{it:.2}"))
    }),
    ("wasted", |it| it.wasted.to_string()),
    ("yields", |it| it.yielded().to_string()),
    ("p50", |it| known(it.latency, |it| span(it.p50))),
    ("p95", |it| known(it.latency, |it| span(it.p95))),
    ("p99", |it| known(it.latency, |it| span(it.p99))),
    ("max", |it| known(it.latency, |it| span(it.max))),
    ("first byte p50", |it| {
        known(it.first_byte, |it| span(it.p50))
    }),
    ("first byte p99", |it| {
        known(it.first_byte, |it| span(it.p99))
    }),
    ("work due", |it| it.completion.due.to_string()),
    ("done", |it| it.completion.completed.to_string()),
    ("due to done p50", |it| known(it.completion.p50, span)),
    ("due to done p99", |it| known(it.completion.p99, span)),
    ("tokens in", |it| {
        prompt_tokens(&it.tokens.counted).to_string()
    }),
    ("out", |it| it.tokens.counted.output_tokens.to_string()),
    ("cache hits", |it| {
        format!("{} of {}", it.cache_hits, it.counted)
    }),
    ("dollars", |it| {
        let unknown = if it.dollars.unknown > 0 { " +?" } else { "" };
        format!("{:.4}{unknown}", it.dollars.known.as_f64())
    }),
];

/// The part of the page: one way alone, or all but the days, which stand under their pictures.
pub(super) fn part(report: &Breakdown, by: Option<By>) -> String {
    let is_shown = |it: &&Section| by.map_or(it.by != By::Day, |by| it.by == by);
    let shown = report.sections.iter().filter(is_shown);
    let tables: String = shown.filter(|it| !it.rows.is_empty()).map(told).collect();
    let note = "Latencies of fewer than 20 samples are marked. +? means that attempts may have been billed whose cost is \
                not known. A dash is a percentile that falls on work that is not done, or nothing measured.";
    section("apart", "Told apart", &(paragraph("intro", note) + &tables))
}

fn told(section: &Section) -> String {
    let by = section.by.as_str();
    let (rows, more) = highest(section);
    let mut head = vec![match section.by {
        By::Hour | By::Day => left(&format!("{by} (JST)")),
        By::Group | By::Job | By::Model => left(by),
    }];
    head.extend(COLUMNS.iter().map(|(word, _)| right(word)));
    head.push(("samples".to_owned(), Align::Left));
    let rows = rows.into_iter().map(|(name, figures)| {
        let is_few = figures.latency.is_some_and(|it| it.is_very_few());
        let few = if is_few { "few" } else { "" };
        let cells = COLUMNS.iter().map(|(_, fill)| fill(figures));
        std::iter::once(name.clone())
            .chain(cells)
            .chain([few.to_owned()])
            .collect()
    });
    let table = Table {
        id: format!("by-{by}"),
        caption: format!("Figures by {by}"),
        head,
        rows: rows.collect(),
    };
    let more = if more > 0 {
        let more = format!("And {more} more with a lower p99: --format csv has them all.");
        paragraph("note", &more)
    } else {
        String::new()
    };
    format!("<h3>By {}</h3>\n{}{more}", escaped(by), table.html())
}

/// The rows that are shown, by name, and how many are not.
fn highest(section: &Section) -> (Vec<&(String, Figures)>, usize) {
    let mut rows: Vec<_> = section.rows.iter().collect();
    let more = rows.len().saturating_sub(ROWS);
    if more > 0 {
        rows.sort_by_key(|(_, it)| std::cmp::Reverse(it.latency.map(|latency| latency.p99)));
        rows.truncate(ROWS);
        rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    }
    (rows, more)
}

fn known<T>(figure: Option<T>, show: impl Fn(T) -> String) -> String {
    figure.map_or_else(|| "-".to_owned(), show)
}
