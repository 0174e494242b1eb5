//! The third picture: attempts by whether they were answered, and yields by gate, per day.

use std::fmt::Write;

use super::days::Days;
use super::latency::{day_axis, frame};
use super::markings::{key, paragraph, section};
use super::scale::CountScale;
use super::sheet::{Frame, Picture, Sheet, oblong, stripes};
use super::table::{Table, left, right};
use crate::outcome::YieldReason;
use crate::report::figures::Figures;
use crate::report::render::counted;

/// How much of a day's width its bar takes.
const BAR: f64 = 0.66;

/// Stripes and rims of narrower days would run together: their waste is drawn plain.
const STRIPED: f64 = 7.0;

/// Narrower days have no number above their bar.
const NUMBERED: f64 = 13.0;

/// The height of the attempts' bars, of a gate's bars, and of the gate's name above them.
const ATTEMPTS: f64 = 130.0;
const GATE: f64 = 26.0;
const GATE_NAME: f64 = 38.0;

/// The part of the page: the picture with its numbers, or a sentence where there was neither.
pub(super) fn part(days: Option<&Days<'_>>, total: &Figures) -> String {
    let heading = "Attempts and yields by day";
    let has_counts = |days: &&Days<'_>| {
        let mut rows = days.rows.iter();
        rows.any(|(_, it)| it.attempts > 0 || it.yielded() > 0)
    };
    let Some(days) = days.filter(has_counts) else {
        let none = "Nothing was sent and nothing yielded, so there is nothing to count.";
        return section("counts", heading, &paragraph("note", none));
    };
    let gates: Vec<YieldReason> = total.yields.keys().copied().collect();
    let intro = "By the day in Japan on which the run began. A yield is a run that a gate refused; it is no attempt.";
    let body = format!(
        "{}<figure>\n{}<figcaption>\n{}</figcaption>\n</figure>\n{}",
        paragraph("intro", intro),
        picture(days, total, &gates),
        signs(total, &gates),
        table(days, &gates).html()
    );
    section("counts", heading, &body)
}

/// Those under way count here: whether they are wasted is not known.
fn answered(figures: &Figures) -> usize {
    figures.attempts.saturating_sub(figures.wasted)
}

fn picture(days: &Days<'_>, total: &Figures, gates: &[YieldReason]) -> String {
    let yields = gates.iter().map(|gate| told(days, *gate));
    let yields = match gates {
        [] => "No run yielded.".to_owned(),
        _ => format!("Yields by gate: {}.", yields.collect::<Vec<_>>().join("; ")),
    };
    let picture = Picture {
        id: "counts-picture",
        title: format!("Attempts and yields by day, {}", days.words()),
        words: format!(
            "Bars for each day: {} in all, {} of them wasted. {yields} The table below has the numbers of each day.",
            counted(total.attempts, "attempt"),
            total.wasted,
        ),
    };
    picture.html(|sheet| draw(sheet, days, gates))
}

fn draw(sheet: &mut Sheet, days: &Days<'_>, gates: &[YieldReason]) {
    let lanes = gates.len() as f64 * (GATE + GATE_NAME);
    // Axes without anything in them would be an empty picture.
    let has_attempts = days.rows.iter().any(|(_, it)| it.attempts > 0);
    let height = if has_attempts {
        ATTEMPTS
    } else {
        -GATE_NAME / 2.0
    };
    let whole = frame(sheet, days, height + lanes);
    let attempts = Frame {
        bottom: whole.top + height,
        ..whole
    };
    if has_attempts {
        draw_attempts(sheet, &attempts, days);
    }
    let most = gates
        .iter()
        .flat_map(|gate| days.rows.iter().map(|(_, it)| yields(it, *gate)));
    let most = most.max().unwrap_or(1).max(1);
    let mut top = attempts.bottom;
    for gate in gates {
        let place = (whole.left + 2.0, top + 20.0);
        sheet.text("soft start", place, &told(days, *gate));
        let lane = Frame {
            top: top + GATE_NAME,
            bottom: top + GATE_NAME + GATE,
            ..whole
        };
        draw_gate(sheet, &lane, days, (*gate, most));
        top = lane.bottom;
    }
    day_axis(sheet, &whole, days);
}

fn draw_attempts(sheet: &mut Sheet, frame: &Frame, days: &Days<'_>) {
    let most = days.rows.iter().map(|(_, it)| it.attempts).max();
    let scale = CountScale::up_to(most.unwrap_or_default());
    let mut grid = String::new();
    for mark in scale.marks() {
        let y = frame.y(scale.at(mark));
        // The memory of a text cannot fail.
        let _ = write!(grid, "M{:.1} {y:.1}H{:.1}", frame.left, frame.right);
        sheet.text("soft end", (frame.left - 6.0, y + 4.0), &mark.to_string());
    }
    sheet.path("grid", &grid);
    sheet.text(
        "soft start",
        (frame.left + 2.0, frame.top - 10.0),
        "attempts",
    );
    sheet.define_stripes("waste");
    let (mut whole, mut waste) = (String::new(), String::new());
    for (day, figures) in &days.rows {
        let [low, high] = [answered(figures), figures.attempts].map(|it| frame.y(scale.at(it)));
        let (x, width) = bar(days, frame, *day);
        oblong(&mut whole, (x, low), (width, frame.bottom - low));
        oblong(&mut waste, (x, high), (width, low - high));
    }
    sheet.path("whole", &whole);
    if days.pitch(frame) >= STRIPED {
        sheet.striped("waste", &waste);
    } else {
        sheet.path("waste-plain", &waste);
    }
}

fn draw_gate(
    sheet: &mut Sheet,
    frame: &Frame,
    days: &Days<'_>,
    (gate, most): (YieldReason, usize),
) {
    sheet.path(
        "grid",
        &format!("M{:.1} {:.1}H{:.1}", frame.left, frame.bottom, frame.right),
    );
    let mut bars = String::new();
    for (day, figures) in &days.rows {
        let count = yields(figures, gate);
        if count == 0 {
            continue;
        }
        let y = frame.y(count as f64 / most as f64);
        let (x, width) = bar(days, frame, *day);
        oblong(&mut bars, (x, y), (width, frame.bottom - y));
        if days.pitch(frame) >= NUMBERED {
            sheet.text("mid", (x + width / 2.0, y - 3.0), &count.to_string());
        }
    }
    sheet.path("yields", &bars);
}

/// Where a day's bar begins, and its width.
fn bar(days: &Days<'_>, frame: &Frame, day: u64) -> (f64, f64) {
    // A single day has no bar as wide as the picture.
    let width = (days.pitch(frame) * BAR).min(56.0);
    (days.x(frame, day) - width / 2.0, width)
}

fn yields(figures: &Figures, gate: YieldReason) -> usize {
    figures.yields.get(&gate).copied().unwrap_or_default()
}

/// A gate's yields in words.
fn told(days: &Days<'_>, gate: YieldReason) -> String {
    let counts = || days.rows.iter().map(|(_, it)| yields(it, gate));
    let most = counts().max().unwrap_or_default();
    format!(
        "yields: {gate} {}, at most {most} a day",
        counts().sum::<usize>()
    )
}

fn signs(total: &Figures, gates: &[YieldReason]) -> String {
    let mut entries = Vec::new();
    if total.attempts > 0 {
        let waste = format!(
            "<defs>{}</defs><path class=\"waste\" fill=\"url(#key-waste)\" d=\"M3 1h24v12h-24z\"/>",
            stripes("key-waste", "waste")
        );
        let whole = "<path class=\"whole\" d=\"M3 1h24v12h-24z\"/>".to_owned();
        entries.push((whole, "answered, or under way"));
        entries.push((waste, "wasted, on top: brought no whole answer"));
    }
    if !gates.is_empty() {
        let yields = "<path class=\"yields\" d=\"M3 5h24v8h-24z\"/>".to_owned();
        entries.push((yields, "yields, a row for each gate"));
    }
    let missing = match (total.attempts, gates) {
        (0, _) => paragraph("note", "Nothing was sent."),
        (_, []) => paragraph("note", "No run yielded."),
        (_, [_, ..]) => String::new(),
    };
    key(&entries) + &missing
}

fn table(days: &Days<'_>, gates: &[YieldReason]) -> Table {
    let mut head = vec![
        left("day (JST)"),
        right("attempts"),
        right("answered"),
        right("wasted"),
        right("yields"),
    ];
    head.extend(gates.iter().map(|gate| right(&gate.to_string())));
    let rows = days.rows.iter().map(|(day, it)| {
        let counts = [it.attempts, answered(it), it.wasted, it.yielded()];
        let by_gate = gates.iter().map(|gate| yields(it, *gate));
        let counts = counts.into_iter().chain(by_gate).map(|it| it.to_string());
        std::iter::once(days.date(*day).to_string())
            .chain(counts)
            .collect()
    });
    Table {
        id: "counts-table".to_owned(),
        caption: "Attempts and yields by day; days without anything are left out".to_owned(),
        head,
        rows: rows.collect(),
    }
}
