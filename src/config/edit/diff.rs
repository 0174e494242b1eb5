//! What an edit changes, as a unified diff of the masked texts.
//!
//! The edit knows which lines it touches, so nothing has to be compared.

use std::ops::RangeInclusive;

use super::FileEdit;

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;

/// One line of a unified diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// What it shows.
    pub side: Side,
    /// Its text with its sign, without a line break.
    pub text: String,
}

/// What a line of a diff shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Names of the file.
    File,
    /// Where the lines stand.
    Hunk,
    /// What stays.
    Both,
    /// What was.
    Old,
    /// What is.
    New,
}

/// Lines that change together.
#[derive(Debug)]
struct Block {
    /// The old lines, counted from 1.
    old: RangeInclusive<usize>,
    /// The new ones.
    new: Vec<String>,
}

impl FileEdit {
    /// The edit as a unified diff with three lines around each change; secrets are masked.
    #[must_use]
    pub fn diff(&self) -> Vec<DiffLine> {
        let mut lines = vec![
            line(Side::File, "--- ", self.file()),
            line(Side::File, "+++ ", self.file()),
        ];
        let blocks = self.blocks();
        // How many lines more the new text has before the hunk.
        let mut more = 0;
        for hunk in blocks.chunk_by(|one, two| two.old.start() - one.old.end() <= 2 * CONTEXT + 1) {
            self.hunk(hunk, &mut more, &mut lines);
        }
        lines
    }

    /// The lines that change; splices on one line are one block.
    fn blocks(&self) -> Vec<Block> {
        let lines_of =
            |splice: &super::Splice| self.source.line(splice.start)..=self.source.line(splice.end);
        let touch =
            |one: &super::Splice, two: &super::Splice| lines_of(two).start() <= lines_of(one).end();
        let groups = self.splices.chunk_by(touch);
        let block = |splices: &[super::Splice]| {
            let (first, last) = (&splices[0], &splices[splices.len() - 1]);
            let old = *lines_of(first).start()..=*lines_of(last).end();
            let (start, end) = (
                self.source.line_start(*old.start()),
                self.source.line_span(*old.end()).end,
            );
            let mut text = self.source.text()[start..end].to_owned();
            for splice in splices.iter().rev() {
                text.replace_range(splice.start - start..splice.end - start, &splice.text);
            }
            let new = text.lines().map(str::to_owned).collect();
            Block { old, new }
        };
        groups.map(block).collect()
    }

    fn hunk(&self, blocks: &[Block], more: &mut isize, lines: &mut Vec<DiffLine>) {
        let last_line = self.source.text().lines().count();
        let start = blocks[0].old.start().saturating_sub(CONTEXT).max(1);
        let end = (blocks[blocks.len() - 1].old.end() + CONTEXT).min(last_line);
        let grown =
            |block: &Block| block.new.len().cast_signed() - block.old.clone().count().cast_signed();
        let grown: isize = blocks.iter().map(grown).sum();
        let length = end + 1 - start;
        let header = format!(
            "@@ -{start},{length} +{},{} @@",
            start.saturating_add_signed(*more),
            length.saturating_add_signed(grown)
        );
        *more += grown;
        lines.push(line(Side::Hunk, "", &header));
        let old = |number: usize| &self.source.text()[self.source.line_span(number)];
        let unended = !self.source.text().ends_with('\n');
        let mut next = start;
        let mut show = |side, sign, text: &str, number: usize| {
            lines.push(line(side, sign, text));
            if unended && number == last_line {
                lines.push(line(side, "\\ ", "No newline at end of file"));
            }
        };
        for block in blocks {
            (next..*block.old.start())
                .for_each(|number| show(Side::Both, " ", old(number), number));
            block
                .old
                .clone()
                .for_each(|number| show(Side::Old, "-", old(number), number));
            let last_new = block.old.end() + 1 - block.new.len();
            for (index, text) in block.new.iter().enumerate() {
                show(Side::New, "+", text, last_new + index);
            }
            next = block.old.end() + 1;
        }
        (next..=end).for_each(|number| show(Side::Both, " ", old(number), number));
    }
}

/// A line with its sign; a terminal must not obey what a file holds.
fn line(side: Side, sign: &str, text: &str) -> DiffLine {
    let tame = |c: char| {
        if c.is_control() && c != '\t' {
            '\u{fffd}'
        } else {
            c
        }
    };
    let text = text.trim_end_matches(['\r', '\n']).chars().map(tame);
    DiffLine {
        side,
        text: sign.chars().chain(text).collect(),
    }
}
