//! The strip as one self-contained SVG picture.
//!
//! No script, no font and no address but the namespace. Colours are classes in
//! an embedded style that follows the reader's choice of light or dark; what a
//! renderer without media queries shows is the light one. Each slot carries its
//! words as a `<title>`, which browsers show as a tooltip.

mod page;
#[cfg(test)]
mod tests;
mod tip;

use super::days::{DAY, Day};
use super::listing::{self, Entry, clock_changes, entries, head, title};
use super::rows::{Cell, ends_at, peak_minutes, rows};
use super::{Lane, Mark, Strip, Tick, ticks};
use crate::markup;
use page::{BASELINE, LEFT, MARK_WIDTH, Page, ROW, x_of};

/// Slots within so many minutes share one mark: nearer ones would cover each other.
const CELL: u16 = 15;

/// Between rows and legend, and between lanes.
const GAP: u32 = 10;
/// The height of a line of the legend.
const ENTRY: u32 = 18;
/// The longest text of a legend entry, in characters.
const ENTRY_CHARS: usize = 150;
/// How many hues tell jobs apart; the letters tell them for sure.
const HUES: usize = 8;

/// Draws a strip.
#[must_use]
pub fn picture(strip: &Strip<'_>) -> String {
    let mut page = Page::new();
    page.text("h1", LEFT, 34, "Schedule");
    page.text("soft", LEFT, 54, &head(strip));
    page.down(66);
    for note in clock_changes(strip) {
        page.text("soft", LEFT, page.y + 10, &note);
        page.down(16);
    }
    // The picture in words, for who cannot see it.
    let mut words = Vec::new();
    for lane in &strip.lanes {
        words.push(draw_lane(&mut page, strip, lane));
    }
    page.down(GAP);
    for line in KEY {
        page.text("soft", LEFT, page.y + 8, line);
        page.down(16);
    }
    page.down(GAP);
    page.finish(&format!("Schedule, {}", head(strip)), &words.join("\n"))
}

/// What the drawing means, below it.
const KEY: [&str; 2] = [
    "Each mark is a slot and the bar behind it its longest run. Hatched: peak window. Dashed +: pickup slot.",
    "A number: so many slots, 9 if more. Red ring and !: collision or peak firing.",
];

fn told(entry: &Entry) -> String {
    if entry.trouble.is_empty() {
        return entry.text.clone();
    }
    format!("{}; {}", entry.text, entry.trouble)
}

/// Draws a lane, and tells it in words.
fn draw_lane(page: &mut Page, strip: &Strip<'_>, lane: &Lane<'_>) -> String {
    let ticks = ticks(strip, lane);
    let (entries, rest) = entries(strip, lane, &ticks);
    let title = title(lane, &ticks);
    page.down(2 * GAP);
    page.text("h2", LEFT, page.y + 12, &title);
    page.down(18);
    if !ticks.is_empty() {
        draw_rows(page, strip, lane, &ticks);
    }
    draw_legend(page, lane, &entries, rest);
    let jobs = entries
        .iter()
        .map(|entry| format!("{}: {}", entry.name, told(entry)));
    format!("{title}. {}", jobs.collect::<Vec<_>>().join(". "))
}

fn draw_rows(page: &mut Page, strip: &Strip<'_>, lane: &Lane<'_>, ticks: &[Tick]) {
    page.hours();
    let top = page.y;
    for day in strip.days.rows() {
        let peaks = peak_minutes(&strip.rules.peaks, day);
        draw_ground(page, day, &peaks);
        page.down(ROW);
    }
    page.hour_lines(top);
    for (row, cells) in (0..).zip(rows(strip, ticks, CELL)) {
        let marked: Vec<&Cell<'_>> = cells.iter().filter(|cell| !cell.ticks.is_empty()).collect();
        // A run goes on behind the marks of later slots, in later rows too.
        for cell in &marked {
            draw_runs(page, top, strip, lane, cell);
        }
        for cell in &marked {
            draw_mark(page, top + row * ROW, strip, lane, cell);
        }
    }
    page.down(GAP);
}

/// A row with its date, its windows, and what clocks skip.
fn draw_ground(page: &mut Page, day: &Day, peaks: &[super::Minutes]) {
    let y = page.y;
    page.text_end(
        "label",
        LEFT - 10,
        y + BASELINE,
        &day.date.format("%a %m-%d").to_string(),
    );
    page.rect("track", x_of(0), y + 2, x_of(DAY) - x_of(0));
    for (class, spans) in [("peak", peaks), ("skipped", &day.skipped)] {
        for span in spans {
            page.rect(
                class,
                x_of(span.start),
                y + 2,
                x_of(span.end) - x_of(span.start),
            );
        }
    }
}

/// How long the runs of a cell may last, behind its mark.
fn draw_runs(page: &mut Page, top: u32, strip: &Strip<'_>, lane: &Lane<'_>, cell: &Cell<'_>) {
    let ends = cell.ticks.iter().map(|tick| ends_at(&strip.days, tick));
    let (Some(first), Some(until)) = (cell.ticks.first(), ends.max()) else {
        return;
    };
    let class = format!("run {}", hue(lane, first));
    for piece in strip.days.pieces(first.at, until) {
        let row = u32::try_from(piece.row).unwrap_or_default();
        let (from, until) = (x_of(piece.minutes.start), x_of(piece.minutes.end));
        page.bar(&class, from, top + row * ROW, until - from);
    }
}

/// One slot, or the number of slots that stand too near to be told apart.
fn draw_mark(page: &mut Page, y: u32, strip: &Strip<'_>, lane: &Lane<'_>, cell: &Cell<'_>) {
    let Some(first) = cell.ticks.first() else {
        return;
    };
    let slots = cell.slots();
    let (class, sign) = match first.members.first() {
        Some(member) if slots == 1 => (hue(lane, first), lane.members[*member].mark.to_string()),
        // One digit, or marks of the least gap would cover each other; the tip has the number.
        Some(_) | None => ("many".to_owned(), slots.min(9).to_string()),
    };
    let is_wrong = cell.is_in_trouble();
    let class = if is_wrong {
        format!("{class} bad")
    } else {
        class
    };
    let minute = strip.days.place(first.at).map_or(0, |(_, minute)| minute);
    page.mark(
        &page::MarkShape {
            class: &class,
            sign: &sign,
            x: x_of(minute),
            y,
        },
        &tip::of_cell(strip, lane, cell),
    );
    if is_wrong {
        page.text("warn", x_of(minute) + MARK_WIDTH + 2, y + BASELINE, "!");
    }
}

/// The class that gives a job its hue.
fn hue(lane: &Lane<'_>, tick: &Tick) -> String {
    let first = tick.members.first().copied().unwrap_or_default();
    match lane.members.get(first).map(|member| member.mark) {
        Some(Mark::Pickup) => "pickup".to_owned(),
        Some(Mark::Letter(_) | Mark::Rest) | None => format!("j{}", first % HUES),
    }
}

fn draw_legend(page: &mut Page, lane: &Lane<'_>, entries: &[Entry], rest: usize) {
    for (index, entry) in entries.iter().enumerate() {
        let class = match entry.mark {
            Mark::Pickup => "pickup".to_owned(),
            Mark::Letter(_) | Mark::Rest => format!("j{}", index % HUES),
        };
        let y = page.y;
        page.swatch(&class, LEFT, y, &entry.mark.to_string());
        let text = markup::cut(&told(entry), ENTRY_CHARS);
        page.entry(LEFT + 20, y + 12, &entry.name, &text);
        page.down(ENTRY);
    }
    let mut more = Vec::new();
    if rest > 0 {
        more.push(format!("and {rest} more jobs, drawn as {}", Mark::Rest));
    }
    if !lane.disabled.is_empty() {
        let names = lane.disabled.iter().map(ToString::to_string);
        let names: Vec<String> = names.take(listing::LISTED).collect();
        let hidden = lane.disabled.len() - names.len();
        let tail = if hidden > 0 {
            format!(" and {hidden} more")
        } else {
            String::new()
        };
        more.push(format!("disabled, not drawn: {}{tail}", names.join(", ")));
    }
    for line in more {
        page.text(
            "soft",
            LEFT + 20,
            page.y + 12,
            &markup::cut(&line, ENTRY_CHARS),
        );
        page.down(ENTRY);
    }
}
