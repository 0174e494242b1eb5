//! The strip as lines of text.
//!
//! Every line is spans with a tone; what a tone looks like, and whether
//! anything does, is the caller's choice. Nothing is told by tone alone.

mod look;
#[cfg(test)]
mod tests;
mod wrap;

pub use look::{Glyphs, Look};

use super::listing::{self, Entry, clock_changes, entries, head, title};
use super::rows::{Cell, Ground, rows};
use super::{Lane, Mark, Strip, ticks};
use wrap::{TIE, columns_of, wrapped};

/// What a span of text is, for colour where there is any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    Plain,
    /// A heading.
    Title,
    /// What matters least: open time, the hours.
    Quiet,
    /// A peak window.
    Peak,
    /// The slot of a job.
    Slot,
    /// A pickup slot.
    Pickup,
    /// A run under way, at worst.
    Run,
    /// A collision or a peak firing.
    Trouble,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// What it is.
    pub tone: Tone,
    /// As shown.
    pub text: String,
}

/// One line of text.
pub type Line = Vec<Span>;

fn span(tone: Tone, text: impl Into<String>) -> Span {
    let text = text.into();
    Span { tone, text }
}

/// Draws a strip, one lane after the other, and remembers which signs it used.
#[derive(Debug)]
pub struct Painter<'s, 'a> {
    strip: &'s Strip<'a>,
    look: Look,
    signs: Vec<Sign>,
}

/// What the legend explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    Slot,
    Rest,
    Several,
    Pickup,
    Run,
    Peak,
    RunInPeak,
    Skipped,
    Trouble,
}

impl<'s, 'a> Painter<'s, 'a> {
    /// Begins a drawing.
    #[must_use]
    pub const fn new(strip: &'s Strip<'a>, look: Look) -> Self {
        Self {
            strip,
            look,
            signs: Vec::new(),
        }
    }

    /// What the days are, and what clock changes do to them.
    #[must_use]
    pub fn head(&self) -> Vec<Line> {
        let mut lines = wrapped(&head(self.strip), self.look.width, 0);
        for note in clock_changes(self.strip) {
            lines.extend(wrapped(&note, self.look.width, 0));
        }
        lines
            .into_iter()
            .map(|line| vec![span(Tone::Title, line)])
            .collect()
    }

    /// One group: its rows under the hours, then its jobs.
    #[must_use]
    pub fn lane(&mut self, lane: &Lane<'_>) -> Vec<Line> {
        let ticks = ticks(self.strip, lane);
        let heads = wrapped(&title(lane, &ticks), self.look.width, 2);
        let mut lines: Vec<Line> = heads
            .into_iter()
            .map(|line| vec![span(Tone::Title, line)])
            .collect();
        if !ticks.is_empty() {
            lines.push(vec![span(Tone::Quiet, self.look.hours())]);
            let grid = rows(self.strip, &ticks, self.look.minutes());
            for (day, cells) in self.strip.days.rows().iter().zip(&grid) {
                let label = span(Tone::Plain, self.look.label(day.date));
                let mut spans = vec![label];
                spans.extend(cells.iter().map(|cell| self.cell(lane, cell)));
                lines.push(joined(spans));
                lines.extend(self.underline(cells));
            }
        }
        let (entries, rest) = entries(self.strip, lane, &ticks);
        self.list(lane, &entries, rest, &mut lines);
        lines
    }

    /// What the signs mean that were used so far.
    #[must_use]
    pub fn legend(&self) -> Vec<Line> {
        let mut signs = self.signs.clone();
        signs.sort_unstable();
        if signs.is_empty() {
            return Vec::new();
        }
        let glyphs = self.look.glyphs;
        let mut words: Vec<String> = signs
            .into_iter()
            .map(|sign| match sign {
                Sign::Slot => "a letter is a slot of that job".to_owned(),
                Sign::Rest => format!("{}{TIE}slot of a job without a letter", Mark::Rest),
                Sign::Several => "a number is so many slots, 9 if more".to_owned(),
                Sign::Pickup => format!("{}{TIE}pickup slot", Mark::Pickup),
                Sign::Run => format!("{}{TIE}run at its longest", glyphs.run()),
                Sign::Peak => format!("{}{TIE}peak window", glyphs.peak()),
                Sign::RunInPeak => {
                    format!("{}{TIE}such a run in a peak window", glyphs.run_in_peak())
                }
                Sign::Skipped => format!("{}{TIE}skipped by the clocks", glyphs.skipped()),
                Sign::Trouble => format!("!{TIE}collision or peak firing"),
            })
            .collect();
        words.push(format!("a column is {}{TIE}min", self.look.minutes()));
        let text = format!("Signs: {}.", words.join("; "));
        let lines = wrapped(&text, self.look.width, 7);
        lines
            .into_iter()
            .map(|line| vec![span(Tone::Quiet, line)])
            .collect()
    }

    fn uses(&mut self, sign: Sign) {
        if !self.signs.contains(&sign) {
            self.signs.push(sign);
        }
    }

    fn cell(&mut self, lane: &Lane<'_>, cell: &Cell<'_>) -> Span {
        let Some(first) = cell.ticks.first().and_then(|tick| tick.members.first()) else {
            return self.ground(cell);
        };
        let is_pickup = cell.ticks.iter().all(|tick| tick.slots == tick.pickups);
        let mark = lane.members[*first].mark;
        let (sign, text) = match cell.slots() {
            1 => (sign_of(mark), mark.to_string()),
            slots => (Sign::Several, slots.min(9).to_string()),
        };
        self.uses(sign);
        let tone = if cell.is_in_trouble() {
            Tone::Trouble
        } else if is_pickup {
            Tone::Pickup
        } else {
            Tone::Slot
        };
        span(tone, text)
    }

    fn ground(&mut self, cell: &Cell<'_>) -> Span {
        let glyphs = self.look.glyphs;
        let (sign, tone, glyph) = match (cell.is_busy, cell.ground) {
            (true, Ground::Peak) => (Sign::RunInPeak, Tone::Run, glyphs.run_in_peak()),
            (true, Ground::Open | Ground::Skipped) => (Sign::Run, Tone::Run, glyphs.run()),
            (false, Ground::Peak) => (Sign::Peak, Tone::Peak, glyphs.peak()),
            (false, Ground::Skipped) => (Sign::Skipped, Tone::Quiet, glyphs.skipped()),
            (false, Ground::Open) => return span(Tone::Quiet, glyphs.open()),
        };
        self.uses(sign);
        span(tone, glyph)
    }

    /// A second line where something is wrong: `!` below each slot in trouble.
    fn underline(&mut self, cells: &[Cell<'_>]) -> Option<Line> {
        let last = cells.iter().rposition(Cell::is_in_trouble)?;
        self.uses(Sign::Trouble);
        let blanks = " ".repeat(columns_of(&self.look.hours_label()));
        let marks = cells[..=last]
            .iter()
            .map(|cell| if cell.is_in_trouble() { '!' } else { ' ' });
        Some(vec![
            span(Tone::Plain, blanks),
            span(Tone::Trouble, marks.collect::<String>()),
        ])
    }

    fn list(&self, lane: &Lane<'_>, entries: &[Entry], rest: usize, lines: &mut Vec<Line>) {
        let disabled = lane.disabled.iter().map(ToString::to_string);
        let disabled: Vec<String> = disabled.take(listing::LISTED).collect();
        let names = entries.iter().map(|entry| &entry.name).chain(&disabled);
        let column = names.map(|name| columns_of(name)).max().unwrap_or(0);
        let column = column.min(self.look.width / 4);
        for entry in entries {
            let tone = if entry.mark == Mark::Pickup {
                Tone::Pickup
            } else {
                Tone::Slot
            };
            let head = vec![span(Tone::Plain, "  "), span(tone, entry.mark.to_string())];
            let mut text = entry.text.clone();
            if !entry.trouble.is_empty() {
                text = format!("{text}; !{TIE}{}", entry.trouble);
            }
            lines.extend(self.item(head, &entry.name, &text, column));
        }
        if rest > 0 {
            let text = format!("  and {rest} more, drawn as {}", Mark::Rest);
            lines.push(vec![span(Tone::Quiet, text)]);
        }
        for name in &disabled {
            let head = vec![span(Tone::Plain, "  "), span(Tone::Quiet, "-")];
            lines.extend(self.item(head, name, "disabled, not drawn", column));
        }
        if lane.disabled.len() > disabled.len() {
            let more = lane.disabled.len() - disabled.len();
            lines.push(vec![span(
                Tone::Quiet,
                format!("  and {more} more disabled"),
            )]);
        }
    }

    /// A mark, a name and a text that goes on below its own beginning.
    fn item(&self, head: Line, name: &str, text: &str, column: usize) -> Vec<Line> {
        let indent = 5 + column + 2;
        let gap = (column + 2).saturating_sub(columns_of(name)).max(2);
        let first = format!("     {name}{}{text}", " ".repeat(gap));
        let mut lines = wrapped(&first, self.look.width, indent).into_iter();
        let begin = lines.next().unwrap_or_default();
        let mut spans = head;
        spans.push(span(Tone::Plain, begin.get(3..).unwrap_or_default()));
        let mut told = vec![spans];
        told.extend(lines.map(|line| vec![span(Tone::Plain, line)]));
        told
    }
}

const fn sign_of(mark: Mark) -> Sign {
    match mark {
        Mark::Letter(_) => Sign::Slot,
        Mark::Rest => Sign::Rest,
        Mark::Pickup => Sign::Pickup,
    }
}

/// The same line with neighbours of one tone in one span.
fn joined(line: Line) -> Line {
    let mut joined: Line = Vec::new();
    for part in line {
        match joined.last_mut() {
            Some(last) if last.tone == part.tone => last.text.push_str(&part.text),
            Some(_) | None => joined.push(part),
        }
    }
    joined
}
