//! Draws a list of runs as plain text.

use chrono::{DateTime, Utc};

use super::table::{Align, clean, columns_of, cut, lay_out};
use super::view::{View, span, waits};
use crate::money::Dollars;
use crate::outcome::Run;

/// The least room for notes beside the other columns; with less they stand below.
const NOTE: usize = 20;

/// A column: its head and how it lines up, and whether it stays where there is little room.
struct Column {
    head: &'static str,
    align: Align,
    is_kept: bool,
}

const fn column(head: &'static str, align: Align) -> Column {
    Column {
        head,
        align,
        is_kept: true,
    }
}

const fn roomy(head: &'static str, align: Align) -> Column {
    Column {
        head,
        align,
        is_kept: false,
    }
}

/// Without the note.
const COLUMNS: [Column; 8] = [
    column("slot", Align::Left),
    column("job", Align::Left),
    roomy("origin", Align::Left),
    column("ran", Align::Left),
    column("outcome", Align::Left),
    column("attempts", Align::Right),
    roomy("latency", Align::Right),
    column("cost", Align::Right),
];

/// A table of runs in the order given: slot, job, why it was done when it was, when it was done if not at its slot,
/// outcome, attempts, latency of the last attempt, cost, note.
///
/// Where there is little room, origin and latency are left out, and each note stands below its run.
#[must_use]
pub fn render_runs(runs: &[Run], view: &View) -> String {
    let head = COLUMNS.map(|column| match column.head {
        "slot" => view.head("slot"),
        other => other.to_owned(),
    });
    let mut rows = vec![head.to_vec()];
    rows.extend(runs.iter().map(|run| cells(run, view)));
    let notes: Vec<String> = runs.iter().map(|run| note(run, view)).collect();
    if width(&rows) + NOTE <= view.width {
        let ends = std::iter::once("note").chain(notes.iter().map(String::as_str));
        for (row, end) in rows.iter_mut().zip(ends) {
            row.push(end.to_owned());
        }
        let aligns = COLUMNS.iter().map(|column| column.align);
        let aligns: Vec<Align> = aligns.chain([Align::Left]).collect();
        return lay_out(&rows, &aligns, view.width);
    }
    narrow(&rows, &notes, view)
}

/// How wide the columns are, with the gap behind each.
fn width(rows: &[Vec<String>]) -> usize {
    let widest = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| columns_of(cell)).max().unwrap_or_default() + 2
    };
    (0..COLUMNS.len()).map(widest).sum()
}

fn narrow(rows: &[Vec<String>], notes: &[String], view: &View) -> String {
    let kept: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let cells = row.iter().zip(&COLUMNS);
            let kept = cells.filter(|(_, column)| column.is_kept);
            kept.map(|(cell, _)| cell.clone()).collect()
        })
        .collect();
    let aligns = COLUMNS.iter().filter(|column| column.is_kept);
    let aligns: Vec<Align> = aligns.map(|column| column.align).collect();
    let table = lay_out(&kept, &aligns, usize::MAX);
    let below = std::iter::once("").chain(notes.iter().map(String::as_str));
    let mut text = String::new();
    for (line, note) in table.lines().zip(below) {
        text.extend([line, "\n"]);
        if !note.is_empty() {
            text.extend(["    ", &cut(note, view.width.saturating_sub(4)), "\n"]);
        }
    }
    text
}

fn cells(run: &Run, view: &View) -> Vec<String> {
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
        ran(run.fire_at, run.started_at, view),
        outcome,
        run.attempts.len().to_string(),
        last.map_or_else(|| "-".to_owned(), |end| span(end.latency)),
        run.cost_usd
            .map_or_else(|| "-".to_owned(), |cost: Dollars| cost.to_string()),
    ]
}

/// When a run began, if that is not the minute of its slot; with the date if that is another.
fn ran(fire_at: DateTime<Utc>, started_at: DateTime<Utc>, view: &View) -> String {
    let (slot, began) = (view.time(fire_at), view.time(started_at));
    match (slot.split_once(' '), began.split_once(' ')) {
        _ if slot == began => String::new(),
        (Some((due, _)), Some((day, time))) if due == day => time.to_owned(),
        _ => began
            .split_once('-')
            .map_or(began.clone(), |it| it.1.to_owned()),
    }
}

/// On one line: what a server or a program said must not move the cursor.
fn note(run: &Run, view: &View) -> String {
    let carried = run.deferred.as_ref().map(|deferred| waits(deferred, view));
    let parts: Vec<String> = carried.into_iter().chain(run.note.clone()).collect();
    clean(&parts.join("; "))
}

#[cfg(test)]
mod tests;
