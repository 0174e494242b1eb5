//! A report as a table for spreadsheets: a row a set of work, one column a figure, empty where there is none.

use std::time::Duration;

use crate::outcome::YieldReason;
use crate::report::{Breakdown, By, Figures, Percentiles};

/// A column and how it is filled.
type Column = (&'static str, fn(&Figures) -> String);

/// The columns after `span`, `by` and `name`, up to those of the gates.
const COLUMNS: [Column; 30] = [
    ("attempts", |it| it.attempts.to_string()),
    ("calls", |it| it.calls.to_string()),
    ("mean_attempts", |it| known(it.mean_attempts())),
    ("wasted", |it| it.wasted.to_string()),
    ("batch_requests", |it| it.errands.to_string()),
    ("latency_samples", |it| samples(it.latency.as_ref())),
    ("latency_p50_ms", |it| ms(it.latency.map(|it| it.p50))),
    ("latency_p95_ms", |it| ms(it.latency.map(|it| it.p95))),
    ("latency_p99_ms", |it| ms(it.latency.map(|it| it.p99))),
    ("latency_max_ms", |it| ms(it.latency.map(|it| it.max))),
    ("first_byte_samples", |it| samples(it.first_byte.as_ref())),
    ("first_byte_p50_ms", |it| ms(it.first_byte.map(|it| it.p50))),
    ("first_byte_p95_ms", |it| ms(it.first_byte.map(|it| it.p95))),
    ("first_byte_p99_ms", |it| ms(it.first_byte.map(|it| it.p99))),
    ("first_byte_max_ms", |it| ms(it.first_byte.map(|it| it.max))),
    ("work_due", |it| it.completion.due.to_string()),
    ("work_done", |it| it.completion.completed.to_string()),
    ("due_to_done_p50_ms", |it| ms(it.completion.p50)),
    ("due_to_done_p95_ms", |it| ms(it.completion.p95)),
    ("due_to_done_p99_ms", |it| ms(it.completion.p99)),
    ("due_to_done_max_ms", |it| ms(it.completion.max)),
    ("input_tokens", |it| {
        it.tokens.counted.input_tokens.to_string()
    }),
    ("cache_write_tokens", |it| {
        it.tokens.counted.cache_write_tokens().to_string()
    }),
    ("cache_read_tokens", |it| {
        it.tokens.counted.cache_read_tokens.to_string()
    }),
    ("output_tokens", |it| {
        it.tokens.counted.output_tokens.to_string()
    }),
    ("answers", |it| it.counted.to_string()),
    ("cache_hits", |it| it.cache_hits.to_string()),
    ("dollars", |it| it.dollars.known.as_f64().to_string()),
    ("unknown_costs", |it| it.dollars.unknown.to_string()),
    ("yields", |it| it.yielded().to_string()),
];

/// The head, then the rows of the span, then those of the span before; with `by` that way alone.
pub(super) fn report(now: &Breakdown, before: Option<&Breakdown>, by: Option<By>) -> String {
    let mut text = head();
    for (span, report) in std::iter::once(("now", now)).chain(before.map(|it| ("before", it))) {
        if report.is_empty() {
            continue;
        }
        text.push_str(&row([span, "total", ""], &report.total));
        for section in &report.sections {
            if by.is_none_or(|by| section.by == by) {
                for (name, figures) in &section.rows {
                    text.push_str(&row([span, section.by.as_str(), name], figures));
                }
            }
        }
    }
    text
}

fn head() -> String {
    let names = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    let gates = YieldReason::ALL.iter().map(|gate| format!("yields_{gate}"));
    let names: Vec<String> = ["span", "by", "name"]
        .map(str::to_owned)
        .into_iter()
        .chain(names)
        .chain(gates)
        .collect();
    names.join(",") + "\n"
}

fn row(keys: [&str; 3], figures: &Figures) -> String {
    let cells = COLUMNS.iter().map(|(_, fill)| fill(figures));
    let gates = YieldReason::ALL.iter().map(|gate| {
        figures
            .yields
            .get(gate)
            .copied()
            .unwrap_or_default()
            .to_string()
    });
    let cells: Vec<String> = keys
        .map(quoted)
        .into_iter()
        .chain(cells)
        .chain(gates)
        .collect();
    cells.join(",") + "\n"
}

/// A text as one cell, as RFC 4180 has it.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn samples(found: Option<&Percentiles>) -> String {
    found.map_or(0, |it| it.samples).to_string()
}

fn ms(span: Option<Duration>) -> String {
    span.map(|span| span.as_millis().to_string())
        .unwrap_or_default()
}

fn known(figure: Option<f64>) -> String {
    figure
        .map(|figure| format!("{figure:.4}"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_break_a_row_are_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"hi\""), "\"say \"\"hi\"\"\"");
    }

    #[test]
    fn every_row_has_as_many_cells_as_the_head() {
        let row = row(["now", "job", "digest"], &Figures::default());
        assert_eq!(row.matches(',').count(), head().matches(',').count());
        assert!(head().ends_with("yields_asked\n"), "{}", head());
    }
}
