//! Draws a summary as plain text.

use std::collections::BTreeMap;
use std::time::Duration;

use super::chain::{Chain, ChainEnd};
use super::percentiles::{Completion, Percentiles};
use super::summary::{Costs, Outcomes, Summary, Tokens};
use super::table::{Align, lay_out};
use super::view::{View, span, waits};
use crate::outcome::YieldReason;

/// The counts, the percentiles, and what became of every deferral.
#[must_use]
pub fn render_summary(summary: &Summary, view: &View) -> String {
    let mut text = counts(summary, view);
    text.push('\n');
    text.push_str(&spans(summary, view));
    if !summary.deferred.is_empty() {
        text.push('\n');
        text.push_str(&deferrals(&summary.deferred, view));
    }
    text
}

fn counts(summary: &Summary, view: &View) -> String {
    let rows = [
        ("slots", slots(&summary.slots)),
        (
            "attempts",
            attempts(
                (summary.attempts, summary.calls, summary.wasted),
                summary.mean_attempts(),
            ),
        ),
        ("yields", yields(&summary.yields)),
        ("tokens", tokens(&summary.tokens)),
        ("dollars", dollars(&summary.dollars)),
    ];
    let rows = rows.map(|(word, text)| vec![word.to_owned(), text]);
    lay_out(&rows, &[Align::Left, Align::Left], view.width)
}

/// How many slots, and how many of each outcome that occurred.
pub(super) fn slots(slots: &Outcomes) -> String {
    let named = slots.named().into_iter().filter(|(_, count)| *count > 0);
    let named = join(named.map(|(word, count)| format!("{count} {word}")));
    total_of(slots.total(), &named)
}

/// How many yields, and how many at each gate.
pub(super) fn yields(yields: &BTreeMap<YieldReason, usize>) -> String {
    let named = join(yields.iter().map(|(gate, count)| format!("{count} {gate}")));
    total_of(yields.values().sum(), &named)
}

/// The attempts, the calls that they were for, and the attempts that brought no answer.
pub(super) fn attempts(
    (attempts, calls, wasted): (usize, usize, usize),
    mean: Option<f64>,
) -> String {
    let mean = mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.2}"));
    let calls = counted(calls, "call");
    format!("{attempts} in {calls}, {mean} a call; {wasted} brought no answer")
}

fn total_of(total: usize, named: &str) -> String {
    if named.is_empty() {
        return total.to_string();
    }
    format!("{total}: {named}")
}

pub(super) fn tokens(tokens: &Tokens) -> String {
    let counted = &tokens.counted;
    let written = counted.cache_write_tokens();
    let mut parts = vec![
        format!("{} in", counted.input_tokens),
        format!("{} out", counted.output_tokens),
        format!("{written} to the cache"),
        format!("{} from the cache", counted.cache_read_tokens),
    ];
    parts.extend(unknown(tokens.unknown, "count"));
    parts.join(", ")
}

pub(super) fn dollars(dollars: &Costs) -> String {
    let mut parts = vec![format!("{:.4}", dollars.known.as_f64())];
    parts.extend(unknown(dollars.unknown, "cost"));
    parts.join(", ")
}

/// What may have been billed beside the sum; a sum alone would look like the whole.
fn unknown(attempts: usize, what: &str) -> Option<String> {
    (attempts > 0).then(|| format!("and {} of unknown {what}", counted(attempts, "attempt")))
}

fn spans(summary: &Summary, view: &View) -> String {
    let head = ["", "p50", "p95", "p99", "max", "of"]
        .map(str::to_owned)
        .to_vec();
    let mut rows = vec![head];
    rows.push(percentile_row("latency", summary.latency.as_ref()));
    rows.push(percentile_row("first byte", summary.first_byte.as_ref()));
    rows.push(completion_row(&summary.completion));
    let aligns = [
        Align::Left,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Left,
    ];
    lay_out(&rows, &aligns, view.width)
}

pub(super) fn percentile_row(word: &str, figures: Option<&Percentiles>) -> Vec<String> {
    let Some(figures) = figures else {
        return row(word, [None; 4], "no attempts".to_owned());
    };
    let few = if figures.is_few() {
        ", too few for p99"
    } else {
        ""
    };
    let spans = [figures.p50, figures.p95, figures.p99, figures.max].map(Some);
    row(
        word,
        spans,
        format!("{}{few}", counted(figures.samples, "attempt")),
    )
}

pub(super) fn completion_row(completion: &Completion) -> Vec<String> {
    let spans = [
        completion.p50,
        completion.p95,
        completion.p99,
        completion.max,
    ];
    row(
        "due to done",
        spans,
        format!(
            "{}, {} done",
            counted(completion.due, "slot"),
            completion.completed
        ),
    )
}

fn row(word: &str, spans: [Option<Duration>; 4], of: String) -> Vec<String> {
    let cells = spans.map(|figure| figure.map_or_else(|| "-".to_owned(), span));
    [word.to_owned()]
        .into_iter()
        .chain(cells)
        .chain([of])
        .collect()
}

fn deferrals(chains: &[Chain], view: &View) -> String {
    let head = [
        &view.head("deferred work of"),
        "job",
        "deferred",
        "attempts",
        "became",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(chains.iter().map(|chain| {
        vec![
            view.time(chain.fire_at),
            chain.job.to_string(),
            format!("{}x", chain.deferrals),
            chain.attempts.to_string(),
            became(chain, view),
        ]
    }));
    lay_out(
        &rows,
        &[
            Align::Left,
            Align::Left,
            Align::Right,
            Align::Right,
            Align::Left,
        ],
        view.width,
    )
}

fn became(chain: &Chain, view: &View) -> String {
    match &chain.end {
        ChainEnd::Succeeded(at) => {
            let after = chain.completed_after().unwrap_or_default();
            format!(
                "succeeded at {}, {} after it was due",
                view.time(*at),
                span(after)
            )
        }
        ChainEnd::Incomplete(reason) => format!("incomplete: {reason}"),
        ChainEnd::Exhausted => "exhausted".to_owned(),
        ChainEnd::Failed(reason) => format!("failed: {reason}"),
        ChainEnd::Skipped(reason) => format!("skipped: {reason}"),
        ChainEnd::Yielded(reason) => format!("yielded: {reason}"),
        ChainEnd::Waiting(deferred) => format!("waiting: {}", waits(deferred, view)),
        ChainEnd::Running => "running".to_owned(),
    }
}

pub(super) fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

pub(super) fn counted(count: usize, word: &str) -> String {
    if count == 1 {
        format!("1 {word}")
    } else {
        format!("{count} {word}s")
    }
}

#[cfg(test)]
mod tests;
