//! The head of the page: the figures of everything, and beside them those of the span before.

use super::markings::{coded, paragraph, section};
use super::table::{Table, left, right};
use crate::markup::escaped;
use crate::report::breakdown::Breakdown;
use crate::report::compare::compare;
use crate::report::draw::{cells, count_rows, few_words, title, uneven};
use crate::report::figures::Figures;
use crate::report::render::{completion_row, percentile_row};
use crate::report::view::{View, span};

/// The figures of everything: the foremost large, then all.
pub(super) fn figures(total: &Figures) -> String {
    let counts = count_rows(total).into_iter().map(|(word, text)| {
        format!(
            "<div><dt>{}</dt><dd>{}</dd></div>\n",
            escaped(word),
            escaped(&text)
        )
    });
    let body = format!(
        "{}<dl class=\"counts\">\n{}</dl>\n{}",
        tiles(total),
        counts.collect::<String>(),
        spans(total).html()
    );
    section("figures", "All of it", &body)
}

fn tiles(total: &Figures) -> String {
    let latency = total.latency;
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let tiles = [
        ("p50 latency", or_dash(latency.map(|it| span(it.p50)))),
        ("p95 latency", or_dash(latency.map(|it| span(it.p95)))),
        ("p99 latency", or_dash(latency.map(|it| span(it.p99)))),
        (
            "attempts a call",
            or_dash(total.mean_attempts().map(|it| format!("{it:.2}"))),
        ),
        ("wasted", total.wasted.to_string()),
        ("yields", total.yielded().to_string()),
    ];
    let tiles = tiles.map(|(word, figure)| {
        format!(
            "<div><dt>{}</dt><dd>{}</dd></div>\n",
            escaped(word),
            escaped(&figure)
        )
    });
    format!("<dl class=\"tiles\">\n{}</dl>\n", tiles.concat())
}

fn spans(total: &Figures) -> Table {
    Table {
        id: "spans".to_owned(),
        caption: "Percentiles of everything".to_owned(),
        head: vec![
            left("time"),
            right("p50"),
            right("p95"),
            right("p99"),
            right("max"),
            left("of"),
        ],
        rows: vec![
            percentile_row("latency", total.latency.as_ref()),
            percentile_row("first byte", total.first_byte.as_ref()),
            completion_row(&total.completion),
        ],
    }
}

/// The figures before and now.
pub(super) fn comparison(before: &Breakdown, now: &Breakdown, view: &View) -> String {
    let changes = compare(&before.total, &now.total);
    let rows = changes.iter().map(|change| {
        let name = [change.name.to_owned()];
        name.into_iter().chain(cells(change)).collect()
    });
    let table = Table {
        id: "changes".to_owned(),
        caption: "Before and now".to_owned(),
        head: vec![
            left("figure"),
            right("before"),
            right("now"),
            right("change"),
        ],
        rows: rows.collect(),
    };
    let words = few_words(before, now) + uneven(before, now);
    let notes = words.lines().map(|line| paragraph("note", line));
    let body = format!(
        "<p class=\"intro\">Before: {}<br>Now: {}</p>\n{}{}",
        coded(title(&before.scope, view).trim_end()),
        coded(title(&now.scope, view).trim_end()),
        table.html(),
        notes.collect::<String>()
    );
    section("comparison", "Before and now", &body)
}
