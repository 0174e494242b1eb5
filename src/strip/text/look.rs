//! How wide a drawing is, and which characters it is made of.

use std::fmt::Write;

use chrono::NaiveDate;

use super::super::days::DAY;

/// How wide a drawing is, and which characters it is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns; fewer than 40 count as 40.
    pub width: usize,
    /// The characters.
    pub glyphs: Glyphs,
}

/// Which characters a drawing is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// Blocks and lines.
    Unicode,
    /// What every terminal has.
    Ascii,
}

impl Glyphs {
    pub(super) const fn open(self) -> char {
        match self {
            Self::Unicode => '\u{b7}',
            Self::Ascii => '.',
        }
    }

    pub(super) const fn peak(self) -> char {
        match self {
            Self::Unicode => '\u{2591}',
            Self::Ascii => '#',
        }
    }

    pub(super) const fn run(self) -> char {
        match self {
            Self::Unicode => '\u{2501}',
            Self::Ascii => '=',
        }
    }

    pub(super) const fn run_in_peak(self) -> char {
        match self {
            Self::Unicode => '\u{2593}',
            Self::Ascii => '%',
        }
    }

    pub(super) const fn skipped(self) -> char {
        match self {
            Self::Unicode | Self::Ascii => '~',
        }
    }
}

/// The minutes that a cell may have, the finest first. A quarter of an hour is the least gap that is built in, so that
/// in such cells slots at that distance never meet.
const CELLS: [u16; 6] = [5, 10, 15, 20, 30, 60];

/// A day as `Tue 01 `: the shortest label.
const SHORT: usize = 7;
/// A day as `Tue 12-01 `.
const LONG: usize = 10;
/// The fewest columns of a drawing.
const NARROWEST: usize = 40;
/// The fewest columns between the numbers of two hours.
const HOURS_APART: u16 = 4;

impl Look {
    /// A drawing of so many columns.
    #[must_use]
    pub fn new(width: usize, glyphs: Glyphs) -> Self {
        let width = width.max(NARROWEST);
        Self { width, glyphs }
    }

    /// The minutes of a cell: the finest that fit beside the shortest label.
    pub(super) fn minutes(self) -> u16 {
        let fits = |minutes: &u16| SHORT + usize::from(DAY / minutes) <= self.width;
        CELLS.into_iter().find(fits).unwrap_or(60)
    }

    fn has_room(self) -> bool {
        LONG + usize::from(DAY / self.minutes()) <= self.width
    }

    /// What stands before a row.
    pub(super) fn label(self, date: NaiveDate) -> String {
        let form = if self.has_room() {
            "%a %m-%d "
        } else {
            "%a %d "
        };
        date.format(form).to_string()
    }

    /// As many blanks as a label is wide.
    pub(super) fn hours_label(self) -> String {
        " ".repeat(if self.has_room() { LONG } else { SHORT })
    }

    /// The hours above the rows, each over the first cell of its hour.
    pub(super) fn hours(self) -> String {
        let columns = 60 / self.minutes();
        let step = [1, 2, 3, 6]
            .into_iter()
            .find(|step| step * columns >= HOURS_APART);
        let step = step.unwrap_or(6);
        let width = usize::from(step * columns);
        let mut line = self.hours_label();
        for hour in (0..24).step_by(step.into()) {
            // The memory of a text cannot fail.
            let _ = write!(line, "{hour:02}{:1$}", "", width - 2);
        }
        line.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_the_finest_that_fit() {
        let minutes = |width| Look::new(width, Glyphs::Ascii).minutes();
        assert_eq!(
            [0, 40, 54, 55, 78, 79, 102, 103, 151, 295].map(minutes),
            [60, 60, 60, 30, 30, 20, 20, 15, 10, 5]
        );
    }

    #[test]
    fn hours_stand_over_their_cells_and_never_touch() {
        let hours = |width| Look::new(width, Glyphs::Ascii).hours();
        assert_eq!(hours(40), "          00    06    12    18");
        assert!(hours(80).starts_with("       00    02    04"));
        assert!(hours(106).starts_with("          00  01  02"));
    }
}
