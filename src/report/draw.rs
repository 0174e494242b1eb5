//! Draws a report, or two of them side by side, as plain text.

mod bars;
mod sections;
pub(super) mod tail;

use super::breakdown::{Breakdown, Section};
use super::compare::{Change, Unit, compare};
use super::facts::Scope;
use super::figures::{By, Figures};
use super::render::{
    attempts, completion_row, counted, dollars, percentile_row, slots, tokens, yields,
};
use super::table::{Align, lay_out};
use super::tail::Advice;
use super::view::{View, span};

/// The figures of a span: all of them, then told apart, then the tail with advice. With `by` that way alone, in full.
/// `place_of` says where the line stands that a piece of advice is about.
#[must_use]
pub fn render_breakdown(
    report: &Breakdown,
    by: Option<By>,
    view: &View,
    place_of: &dyn Fn(&Advice) -> Option<String>,
) -> String {
    let mut parts = vec![
        title(&report.scope, view),
        counts(&report.total, view),
        spans(&report.total, view),
    ];
    for section in shown(report, by) {
        parts.push(match by {
            None => sections::short(section, view),
            Some(_) => sections::full(section, view),
        });
    }
    parts.extend(tail::render(&report.tail, view, place_of));
    parts.join("\n")
}

/// The figures of two spans and how they changed; with `by` p99 and waste of each row too.
#[must_use]
pub fn render_comparison(
    before: &Breakdown,
    now: &Breakdown,
    by: Option<By>,
    view: &View,
) -> String {
    let head = ["", "before", "now", "change"].map(str::to_owned).to_vec();
    let aligns = [Align::Left, Align::Right, Align::Right, Align::Right];
    let rows = compare(&before.total, &now.total)
        .into_iter()
        .map(|change| {
            let [was, is, by] = cells(&change);
            vec![change.name.to_owned(), was, is, by]
        });
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    let few = few_words(before, now);
    let mut parts = vec![format!(
        "before  {}now     {}",
        title(&before.scope, view),
        title(&now.scope, view)
    )];
    parts.push(lay_out(&rows, &aligns, view.width) + &few + uneven(before, now));
    // Days of two spans are not the same days: beside each other they stand only if they are asked for.
    let both = shown(before, by).zip(shown(now, by));
    for (was, is) in both.filter(|(_, is)| by.is_some() || is.by != By::Day) {
        parts.push(sections::side_by_side(was, is, view));
    }
    parts.join("\n")
}

/// Percentiles of few samples look as firm as others: this says so.
pub(super) fn few_words(before: &Breakdown, now: &Breakdown) -> String {
    let few = [("before", before), ("now", now)]
        .into_iter()
        .filter_map(|(word, report)| {
            let samples = report.total.latency.map_or(0, |latency| latency.samples);
            (samples < 100)
                .then(|| format!("{word}: {}, too few for p99", counted(samples, "attempt")))
        });
    few.map(|line| line + "\n").collect()
}

/// Counts of spans of unlike length cannot be compared, percentiles and ratios can.
pub(super) fn uneven(before: &Breakdown, now: &Breakdown) -> &'static str {
    let length = |report: &Breakdown| report.scope.until - report.scope.since;
    if length(before) == length(now) {
        ""
    } else {
        "the spans are not equally long: counts and dollars do not compare\n"
    }
}

fn shown(report: &Breakdown, by: Option<By>) -> impl Iterator<Item = &Section> {
    report
        .sections
        .iter()
        .filter(move |section| by.is_none_or(|by| section.by == by))
}

/// The span of a report in words, and what it is restricted to.
#[must_use]
pub fn between(scope: &Scope, view: &View) -> String {
    let only = [
        scope.job.as_ref().map(|job| format!(", job {job}")),
        scope.group.as_ref().map(|group| format!(", group {group}")),
    ];
    format!(
        "from {} to {} ({}){}",
        view.time(scope.since),
        view.time(scope.until),
        view.label,
        only.into_iter().flatten().collect::<String>()
    )
}

pub(super) fn title(scope: &Scope, view: &View) -> String {
    format!("work due {}\n", between(scope, view))
}

fn counts(total: &Figures, view: &View) -> String {
    let rows: Vec<Vec<String>> = count_rows(total)
        .into_iter()
        .map(|(word, text)| vec![word.to_owned(), text])
        .collect();
    lay_out(&rows, &[Align::Left, Align::Left], view.width)
}

/// The counts, each with its name.
pub(super) fn count_rows(total: &Figures) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("slots", slots(&total.slots)),
        (
            "attempts",
            attempts(
                (total.attempts, total.calls, total.wasted),
                total.mean_attempts(),
            ),
        ),
        ("yields", yields(&total.yields)),
        ("tokens", tokens(&total.tokens)),
        ("dollars", dollars(&total.dollars)),
        (
            "cache",
            format!(
                "{} of {} read from it",
                total.cache_hits,
                counted(total.counted, "answer")
            ),
        ),
    ];
    if total.errands > 0 {
        rows.push((
            "batches",
            format!("{}, in no other figure", counted(total.errands, "request")),
        ));
    }
    rows
}

fn spans(total: &Figures, view: &View) -> String {
    let head = ["", "p50", "p95", "p99", "max", "of"]
        .map(str::to_owned)
        .to_vec();
    let rows = [
        head,
        percentile_row("latency", total.latency.as_ref()),
        percentile_row("first byte", total.first_byte.as_ref()),
        completion_row(&total.completion),
    ];
    let right = Align::Right;
    lay_out(
        &rows,
        &[Align::Left, right, right, right, right, Align::Left],
        view.width,
    )
}

/// Before, now and the change, as people read them.
pub(super) fn cells(change: &Change) -> [String; 3] {
    let shown = |figure: Option<f64>| match (figure, change.unit) {
        (None, _) => "-".to_owned(),
        (Some(figure), Unit::Count) => format!("{figure:.0}"),
        (Some(figure), Unit::Ratio) => format!("{figure:.2}"),
        (Some(figure), Unit::Dollars) => format!("{figure:.4}"),
        (Some(figure), Unit::Millis) => {
            span(std::time::Duration::from_secs_f64(figure.max(0.0) / 1000.0))
        }
    };
    let by = change.percent().map_or_else(|| "-".to_owned(), percent);
    [shown(change.before), shown(change.now), by]
}

/// A change in whole hundredths; one that rounds to none has not fallen.
fn percent(by: f64) -> String {
    let whole = by.round();
    let whole = if whole == 0.0 { 0.0 } else { whole };
    format!("{whole:+.0} %")
}

#[cfg(test)]
mod tests;
