//! Draws a list of runs as plain text.

use super::table::{Align, lay_out};
use super::view::{View, span, waits};
use crate::outcome::Run;

/// A table of runs in the order given: slot, job, why it was done when it was, outcome, attempts, latency of the last
/// attempt, note.
#[must_use]
pub fn render_runs(runs: &[Run], view: &View) -> String {
    let head = [
        &view.head("slot"),
        "job",
        "origin",
        "outcome",
        "attempts",
        "latency",
        "note",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(runs.iter().map(|run| run_row(run, view)));
    let aligns = [
        Align::Left,
        Align::Left,
        Align::Left,
        Align::Left,
        Align::Right,
        Align::Right,
        Align::Left,
    ];
    lay_out(&rows, &aligns, view.width)
}

fn run_row(run: &Run, view: &View) -> Vec<String> {
    let outcome = run
        .outcome
        .as_ref()
        .map_or_else(|| "running".to_owned(), ToString::to_string);
    let last = run
        .attempts
        .iter()
        .rev()
        .find_map(|attempt| attempt.end.as_ref());
    vec![
        view.time(run.fire_at),
        run.job.to_string(),
        run.origin.to_string(),
        outcome,
        run.attempts.len().to_string(),
        last.map_or_else(|| "-".to_owned(), |end| span(end.latency)),
        note(run, view),
    ]
}

fn note(run: &Run, view: &View) -> String {
    let carried = run.deferred.as_ref().map(|deferred| waits(deferred, view));
    let parts: Vec<String> = carried.into_iter().chain(run.note.clone()).collect();
    parts.join("; ")
}

#[cfg(test)]
mod tests;
