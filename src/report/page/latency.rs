//! The first picture: how latency percentiles went over the days.

use std::fmt::Write;
use std::time::Duration;

use super::days::Days;
use super::markings::{key, paragraph, section};
use super::scale::LogScale;
use super::sheet::{Frame, Picture, Sheet};
use super::table::{Table, left, right};
use crate::report::figures::Figures;
use crate::report::percentiles::Percentiles;
use crate::report::render::counted;
use crate::report::view::span;
use crate::span::show;

/// Marks of nearer days would cover each other: the lines alone are drawn.
const MARK_PITCH: f64 = 7.0;

/// The least distance of two names at the ends of lines.
const NAME_GAP: f64 = 13.0;

/// One of the lines.
struct Line {
    name: &'static str,
    meaning: &'static str,
    of: fn(&Percentiles) -> Duration,
    /// The outline of its mark around a point.
    mark: fn(f64, f64) -> String,
}

const LINES: [Line; 3] = [
    Line {
        name: "p50",
        meaning: "half of the attempts took no longer",
        of: |it| it.p50,
        mark: |x, y| {
            format!(
                "M{:.1} {y:.1}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
                x - 3.5
            )
        },
    },
    Line {
        name: "p95",
        meaning: "95 of 100 took no longer",
        of: |it| it.p95,
        mark: |x, y| format!("M{:.1} {:.1}h6.4v6.4h-6.4z", x - 3.2, y - 3.2),
    },
    Line {
        name: "p99",
        meaning: "99 of 100 took no longer",
        of: |it| it.p99,
        mark: |x, y| format!("M{x:.1} {:.1}l4.2 7.2h-8.4z", y - 4.4),
    },
];

/// The part of the page: the picture with its numbers, or a sentence where nothing was measured.
pub(super) fn part(days: Option<&Days<'_>>, total: &Figures) -> String {
    let heading = "Latency by day";
    let drawn = days.and_then(|days| Some((days, scale(days)?)));
    let Some(((days, scale), latency)) = drawn.zip(total.latency.as_ref()) else {
        let none = "No attempt was measured, so there are no latencies to draw.";
        return section("latency", heading, &paragraph("note", none));
    };
    let intro = "From the start of an attempt to its end, failed attempts too, by the day in Japan on which it began. \
                 The scale is logarithmic: each step is a multiple of the one below.";
    let mut body = paragraph("intro", intro);
    body.push_str("<figure>\n");
    body.push_str(&picture(days, &scale, latency));
    body.push_str("<figcaption>\n");
    body.push_str(&signs(days));
    body.push_str(
        &few(latency)
            .map(|few| paragraph("note", &few))
            .unwrap_or_default(),
    );
    body.push_str("</figcaption>\n</figure>\n");
    body.push_str(&table(days).html());
    section("latency", heading, &body)
}

/// That the samples are few, if they are.
pub(super) fn few(latency: &Percentiles) -> Option<String> {
    let attempts = counted(latency.samples, "attempt");
    if latency.is_very_few() {
        Some(format!(
            "Few samples: {attempts} in all. Percentiles of so few say little."
        ))
    } else if latency.is_few() {
        Some(format!(
            "{attempts} in all are too few for p99: it is the longest or next to it."
        ))
    } else {
        None
    }
}

fn scale(days: &Days<'_>) -> Option<LogScale> {
    let measured = days.rows.iter().filter_map(|(_, it)| it.latency.as_ref());
    LogScale::of(measured.flat_map(|it| [it.p50, it.p95, it.p99]))
}

fn picture(days: &Days<'_>, scale: &LogScale, latency: &Percentiles) -> String {
    let few = few(latency)
        .map(|few| format!(" {few}"))
        .unwrap_or_default();
    let picture = Picture {
        id: "latency-picture",
        title: format!("Latency percentiles by day, {}", days.words()),
        words: format!(
            "Three lines over the days, on a logarithmic scale. Over all days p50 is {}, p95 {} and p99 {}, of {}.{few} \
             The table below has the numbers of each day.",
            span(latency.p50),
            span(latency.p95),
            span(latency.p99),
            counted(latency.samples, "attempt"),
        ),
    };
    picture.html(|sheet| draw(sheet, days, scale, latency))
}

fn draw(sheet: &mut Sheet, days: &Days<'_>, scale: &LogScale, latency: &Percentiles) {
    let frame = frame(sheet, days, sheet.layout.pick(250.0, 210.0));
    latency_axis(sheet, &frame, scale);
    day_axis(sheet, &frame, days);
    if latency.is_very_few() {
        let attempts = counted(latency.samples, "attempt");
        let place = (frame.left + 2.0, frame.top - 8.0);
        sheet.text("soft start", place, &format!("few samples: {attempts}"));
    }
    let mut ends = Vec::new();
    for line in &LINES {
        ends.extend(draw_line(sheet, &frame, (days, scale), line));
    }
    for (name, x, y) in apart(ends, &frame) {
        sheet.text("name start", (x + 8.0, y + 4.0), name);
    }
}

/// The room within the axes, as wide as the days need, and so high.
pub(super) fn frame(sheet: &mut Sheet, days: &Days<'_>, height: f64) -> Frame {
    let (left, right) = (46.0, 36.0);
    sheet.width = sheet.width.max(days.least_width() + left + right);
    sheet.height = height + 50.0;
    Frame {
        left,
        right: sheet.width - right,
        top: 24.0,
        bottom: height + 24.0,
    }
}

/// Lines across at the marks of the scale.
pub(super) fn latency_axis(sheet: &mut Sheet, frame: &Frame, scale: &LogScale) {
    let mut grid = String::new();
    for mark in &scale.marks {
        let y = frame.y(scale.at(*mark));
        // The memory of a text cannot fail.
        let _ = write!(grid, "M{:.1} {y:.1}H{:.1}", frame.left, frame.right);
        sheet.text("soft end", (frame.left - 6.0, y + 4.0), &show(*mark));
    }
    sheet.path("grid", &grid);
}

/// Dates below, and a tick at each.
pub(super) fn day_axis(sheet: &mut Sheet, frame: &Frame, days: &Days<'_>) {
    let mut ticks = format!("M{:.1} {:.1}H{:.1}", frame.left, frame.bottom, frame.right);
    for (day, date) in days.labels(frame) {
        let x = days.x(frame, day);
        // The memory of a text cannot fail.
        let _ = write!(ticks, "M{x:.1} {:.1}v4", frame.bottom);
        sheet.text("soft mid", (x, frame.bottom + 17.0), &date);
    }
    sheet.path("axis", &ticks);
}

/// Draws one percentile; where its last point is.
fn draw_line(
    sheet: &mut Sheet,
    frame: &Frame,
    (days, scale): (&Days<'_>, &LogScale),
    line: &Line,
) -> Option<(&'static str, f64, f64)> {
    let (mut path, mut firm, mut weak) = (String::new(), String::new(), String::new());
    let has_marks = days.pitch(frame) >= MARK_PITCH;
    let mut last: Option<(u64, f64, f64)> = None;
    let points = days
        .rows
        .iter()
        .filter_map(|(day, it)| Some((*day, it.latency?)));
    let points: Vec<(u64, Percentiles)> = points.collect();
    for (at, (day, latency)) in points.iter().enumerate() {
        let (x, y) = (days.x(frame, *day), frame.y(scale.at((line.of)(latency))));
        let follows = at > 0 && points[at - 1].0 + 1 == *day;
        let leads = points.get(at + 1).is_some_and(|(next, _)| day + 1 == *next);
        let step = if follows { 'L' } else { 'M' };
        // The memory of a text cannot fail.
        let _ = write!(path, "{step}{x:.1} {y:.1}");
        // A day without neighbours would not be seen without its mark.
        if has_marks || !(follows || leads) {
            let marks = if latency.is_very_few() {
                &mut weak
            } else {
                &mut firm
            };
            marks.push_str(&(line.mark)(x, y));
        }
        last = Some((*day, x, y));
    }
    let name = line.name;
    sheet.path(&format!("line {name}"), &path);
    sheet.path(&format!("mark {name}"), &firm);
    sheet.path(&format!("mark few {name}"), &weak);
    last.map(|(_, x, y)| (name, x, y))
}

/// Moves names that stand at one height apart, the slowest on top.
fn apart(mut ends: Vec<(&'static str, f64, f64)>, frame: &Frame) -> Vec<(&'static str, f64, f64)> {
    // Percentiles rise, so their order is that of the lines.
    ends.reverse();
    let mut least = frame.top;
    for (_, _, y) in &mut ends {
        *y = y.max(least);
        least = *y + NAME_GAP;
    }
    let mut most = frame.bottom;
    for (_, _, y) in ends.iter_mut().rev() {
        *y = y.min(most);
        most = *y - NAME_GAP;
    }
    ends
}

fn signs(days: &Days<'_>) -> String {
    let meanings = LINES
        .each_ref()
        .map(|line| format!("{}: {}", line.name, line.meaning));
    let drawings = LINES.each_ref().map(|line| {
        format!(
            "<path class=\"line {name}\" d=\"M1 7H29\"/><path class=\"mark {name}\" d=\"{}\"/>",
            (line.mark)(15.0, 7.0),
            name = line.name
        )
    });
    let meanings = meanings.iter().map(String::as_str);
    let mut entries: Vec<(String, &str)> = drawings.into_iter().zip(meanings).collect();
    let mut measured = days.rows.iter().filter_map(|(_, it)| it.latency.as_ref());
    if measured.any(Percentiles::is_very_few) {
        let hollow = LINES.iter().zip([4.0, 15.0, 26.0]).map(|(line, x)| {
            let (name, d) = (line.name, (line.mark)(x, 7.0));
            format!("<path class=\"mark few {name}\" d=\"{d}\"/>")
        });
        entries.push((hollow.collect(), "hollow: a day of fewer than 20 samples"));
    }
    key(&entries)
}

fn table(days: &Days<'_>) -> Table {
    let rows = days.rows.iter().filter_map(|(day, it)| {
        let latency = it.latency?;
        let few = if latency.is_very_few() { "few" } else { "" };
        Some(vec![
            days.date(*day).to_string(),
            latency.samples.to_string(),
            span(latency.p50),
            span(latency.p95),
            span(latency.p99),
            span(latency.max),
            few.to_owned(),
        ])
    });
    Table {
        id: "latency-table".to_owned(),
        caption: "Latency by day; days without an attempt are left out".to_owned(),
        head: vec![
            left("day (JST)"),
            right("attempts"),
            right("p50"),
            right("p95"),
            right("p99"),
            right("max"),
            left("samples"),
        ],
        rows: rows.collect(),
    }
}
