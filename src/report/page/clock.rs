//! The second picture: every attempt at its time of the day in Japan, with the peak windows shaded.

use std::fmt::Write;
use std::ops::Range;

use chrono::{DateTime, Timelike, Utc};

use super::assembly::PageView;
use super::days::Days;
use super::latency::latency_axis;
use super::markings::{key, paragraph, section};
use super::scale::LogScale;
use super::shade::{self, DAY, Held, shades};
use super::sheet::{Frame, Picture, Sheet, oblong, stripes};
use super::table::{Table, left, right};
use crate::report::breakdown::Breakdown;
use crate::report::dots::{Dot, DotEnd};
use crate::report::percentiles::Percentiles;
use crate::report::render::counted;
use crate::report::view::{View, span};

/// The signs of more attempts than this are smaller.
const DENSE: usize = 600;

/// A window narrower than this has no name above it.
const NAMED: f64 = 34.0;

type Shades = [(Range<u16>, Held)];

/// The part of the page: the picture with its numbers, or a sentence where nothing was measured.
pub(super) fn part(report: &Breakdown, days: Option<&Days<'_>>, page: &PageView<'_>) -> String {
    let heading = "Attempts over the day";
    let scale = LogScale::of(report.dots.iter().map(|dot| dot.latency));
    let Some((days, scale)) = days.zip(scale) else {
        let none = "No attempt was measured, so there is none to draw.";
        return section("clock", heading, &paragraph("note", none));
    };
    let shades = shades(days, page.view.offset, page.is_peak);
    let intro = "Each sign is an attempt: to the right the time of the day in Japan at which it began, upwards how long \
                 it took. The scale is logarithmic: each step is a multiple of \
                 the one below.";
    let picked = picked(report).map(|note| paragraph("note", &note));
    let body = format!(
        "{}<figure>\n{}<figcaption>\n{}{}</figcaption>\n</figure>\n{}",
        paragraph("intro", intro),
        picture(report, &scale, &shades),
        signs(&shades),
        picked.unwrap_or_default(),
        table(report, &page.view).html()
    );
    section("clock", heading, &body)
}

/// That not all attempts are drawn, if so.
fn picked(report: &Breakdown) -> Option<String> {
    let (drawn, of) = (report.dots.len(), report.dots_of);
    (drawn < of).then(|| {
        format!("{drawn} of {of} attempts are drawn: the slowest, and an even pick of the rest.")
    })
}

fn picture(report: &Breakdown, scale: &LogScale, shades: &Shades) -> String {
    let failed = report.dots.iter().filter(|dot| dot.end == DotEnd::Failed);
    let in_peak = report.dots.iter().filter(|dot| dot.is_peak);
    let picture = Picture {
        id: "clock-picture",
        title: "Attempts over the day in Japan, by latency".to_owned(),
        words: format!(
            "A sign for each of {}, {} of them failed and {} begun in a peak window; {}. The scale of latencies is \
             logarithmic. The table below has the numbers.",
            counted(report.dots.len(), "attempt"),
            failed.count(),
            in_peak.count(),
            shade::words(shades),
        ),
    };
    picture.html(|sheet| draw(sheet, report, scale, shades))
}

fn draw(sheet: &mut Sheet, report: &Breakdown, scale: &LogScale, shades: &Shades) {
    let height = sheet.layout.pick(300.0, 250.0);
    sheet.height = height + 50.0;
    let frame = Frame {
        left: 46.0,
        right: sheet.width - 14.0,
        top: 24.0,
        bottom: height + 24.0,
    };
    draw_windows(sheet, &frame, shades);
    latency_axis(sheet, &frame, scale);
    hour_axis(sheet, &frame);
    if report
        .total
        .latency
        .as_ref()
        .is_some_and(Percentiles::is_very_few)
    {
        let attempts = counted(report.dots_of, "attempt");
        let place = (frame.left + 2.0, frame.top - 8.0);
        sheet.text("soft start", place, &format!("few samples: {attempts}"));
    }
    let is_dense = report.dots.len() > DENSE;
    let arm = if is_dense { 2.2 } else { 3.0 };
    let (mut answered, mut failed) = (String::new(), String::new());
    for dot in &report.dots {
        let (x, y) = place(dot, &frame, scale);
        // The memory of a text cannot fail.
        let _ = match dot.end {
            DotEnd::Answered => write!(answered, "M{x:.1} {y:.1}h0"),
            DotEnd::Failed => write!(failed, "{}", cross(x, y, arm)),
        };
    }
    let [dots, crosses] = if is_dense {
        ["dots dense", "crosses dense"]
    } else {
        ["dots", "crosses"]
    };
    sheet.path(dots, &answered);
    sheet.path(crosses, &failed);
}

fn cross(x: f64, y: f64, arm: f64) -> String {
    let (left, top, size) = (x - arm, y - arm, 2.0 * arm);
    format!("M{left:.1} {top:.1}l{size} {size}m0-{size}l-{size} {size}")
}

fn place(dot: &Dot, frame: &Frame, scale: &LogScale) -> (f64, f64) {
    let share = f64::from(second_of_day(dot.at)) / 86_400.0;
    (frame.x(share), frame.y(scale.at(dot.latency)))
}

fn second_of_day(at: DateTime<Utc>) -> u32 {
    let there = at.with_timezone(&View::jst(0).offset);
    there.num_seconds_from_midnight()
}

fn draw_windows(sheet: &mut Sheet, frame: &Frame, shades: &Shades) {
    sheet.define_stripes("peak");
    sheet.define_stripes("part");
    let mut boxes = [String::new(), String::new()];
    for (minutes, held) in shades {
        let [from, until] =
            [minutes.start, minutes.end].map(|minute| frame.x(f64::from(minute) / f64::from(DAY)));
        let [always, sometimes] = &mut boxes;
        let d = match held {
            Held::Always => always,
            Held::Sometimes => sometimes,
        };
        oblong(
            d,
            (from, frame.top),
            (until - from, frame.bottom - frame.top),
        );
        if until - from >= NAMED {
            let place = (f64::midpoint(from, until), frame.top - 6.0);
            sheet.text("soft mid", place, "peak");
        }
    }
    let [always, sometimes] = boxes;
    sheet.striped("peak", &always);
    sheet.striped("part", &sometimes);
}

/// The hours below.
fn hour_axis(sheet: &mut Sheet, frame: &Frame) {
    let step = sheet.layout.pick(2, 4);
    let mut ticks = format!("M{:.1} {:.1}H{:.1}", frame.left, frame.bottom, frame.right);
    for hour in (0_u8..=24).step_by(step) {
        let x = frame.x(f64::from(hour) / 24.0);
        // The memory of a text cannot fail.
        let _ = write!(ticks, "M{x:.1} {:.1}v4", frame.bottom);
        sheet.text("soft mid", (x, frame.bottom + 17.0), &format!("{hour:02}"));
    }
    sheet.path("axis", &ticks);
}

fn signs(shades: &Shades) -> String {
    let window = |name: &str| {
        let id = format!("key-{name}");
        let stripes = stripes(&id, name);
        format!(
            "<defs>{stripes}</defs><path class=\"{name}\" fill=\"url(#{id})\" d=\"M1 1h28v12h-28z\"/>"
        )
    };
    let mut entries = vec![
        (
            "<path class=\"dots\" d=\"M15 7h0\"/>".to_owned(),
            "answered",
        ),
        (
            format!("<path class=\"crosses\" d=\"{}\"/>", cross(15.0, 7.0, 3.0)),
            "failed",
        ),
    ];
    let has = |sought: Held| shades.iter().any(|(_, held)| *held == sought);
    if has(Held::Always) {
        entries.push((window("peak"), "peak window"));
    }
    if has(Held::Sometimes) {
        entries.push((window("part"), "peak window on some of the days"));
    }
    let words = shade::words(shades);
    key(&entries) + &paragraph("note", &format!("Times in Japan: {words}."))
}

fn table(report: &Breakdown, view: &View) -> Table {
    let rows = report.dots.iter().map(|dot| {
        let end = match dot.end {
            DotEnd::Answered => "answered",
            DotEnd::Failed => "failed",
        };
        let at = dot.at.with_timezone(&view.offset);
        vec![
            at.format("%Y-%m-%d %H:%M:%S").to_string(),
            span(dot.latency),
            end.to_owned(),
            if dot.is_peak { "peak" } else { "" }.to_owned(),
        ]
    });
    Table {
        id: "clock-table".to_owned(),
        caption: "The attempts that are drawn".to_owned(),
        head: vec![
            left("sent (JST)"),
            right("latency"),
            left("end"),
            left("window"),
        ],
        rows: rows.collect(),
    }
}
