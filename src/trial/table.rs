//! Tables of figures: the first column to the left, all others to the right, as text or as Markdown.

use std::ops::Range;

use crate::report::{Align, columns_of, lay_out};

/// A head and rows, all of as many cells.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// The table as text, in parts one below the other where its columns do not fit beside each other.
    ///
    /// A number is never cut: where not even one column fits, lines are longer than `width`.
    pub(super) fn text(&self, width: usize) -> String {
        let parts = self.parts(width);
        let texts: Vec<String> = parts.iter().map(Self::lines).collect();
        texts.join("\n")
    }

    /// All columns, or four, two or one at a time: the most at a time of which every part fits.
    ///
    /// Arms and what sets them apart come in pairs, which stay together so long as two fit.
    fn parts(&self, width: usize) -> Vec<Self> {
        let columns = self.head.len().saturating_sub(1);
        let mut parts = vec![self.part(1..columns + 1)];
        for at_a_time in [4, 2, 1] {
            if parts.iter().all(|part| part.width() <= width) {
                break;
            }
            if at_a_time >= columns {
                continue;
            }
            let starts = (1..=columns).step_by(at_a_time);
            parts = starts
                .map(|start| self.part(start..(start + at_a_time).min(columns + 1)))
                .collect();
        }
        parts
    }

    /// These columns, with the first beside them; rows that have nothing in any of them are left out.
    fn part(&self, columns: Range<usize>) -> Self {
        let is_whole = columns.len() + 1 == self.head.len();
        let cut = |row: &Vec<String>| -> Vec<String> {
            let cells = row[columns.clone()].iter();
            row.iter().take(1).chain(cells).cloned().collect()
        };
        let has_any = |row: &Vec<String>| is_whole || row[1..].iter().any(|cell| !cell.is_empty());
        Self {
            head: cut(&self.head),
            rows: self.rows.iter().map(cut).filter(has_any).collect(),
        }
    }

    /// The table as it is. A head that is wider than what stands below it goes on in the next line.
    fn lines(&self) -> String {
        let columns: Vec<usize> = (0..self.head.len()).map(|at| self.column(at)).collect();
        let mut rows = head_rows(&self.head, &columns);
        rows.extend(self.rows.iter().cloned());
        for row in &mut rows {
            for (cell, column) in row.iter_mut().zip(&columns).skip(1) {
                // The last column of a laid out table stands to the left.
                *cell = " ".repeat(column.saturating_sub(columns_of(cell))) + cell;
            }
        }
        lay_out(&rows, &vec![Align::Left; columns.len()], self.width())
    }

    /// How many columns of a terminal the text takes.
    pub(super) fn width(&self) -> usize {
        let columns = (0..self.head.len()).map(|at| self.column(at) + 2);
        columns.sum::<usize>().saturating_sub(2)
    }

    /// The table as Markdown.
    pub(super) fn markdown(&self) -> String {
        let line = |row: &[String]| {
            let cells = row
                .iter()
                .map(|cell| format!(" {} |", cell.replace('|', "\\|")));
            format!("|{}\n", cells.collect::<String>())
        };
        let rule = format!(
            "|---|{}\n",
            "---:|".repeat(self.head.len().saturating_sub(1))
        );
        let rows = self.rows.iter().map(|row| line(row));
        [line(&self.head), rule].into_iter().chain(rows).collect()
    }

    /// A column is as wide as its widest cell, and wide enough for its head in two lines.
    fn column(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(at));
        let widest = cells.map(|cell| columns_of(cell)).max().unwrap_or(0);
        widest.max(narrowest(&self.head[at]))
    }
}

/// The narrowest column in which a name takes no more than two lines.
fn narrowest(name: &str) -> usize {
    let widths = 0..columns_of(name);
    let mut fitting = widths.filter(|width| {
        let lines = broken(name, *width);
        lines.len() <= 2 && lines.iter().all(|line| columns_of(line) <= *width)
    });
    fitting.next().unwrap_or(columns_of(name))
}

/// The head, each name broken at blanks into lines that fit its column.
fn head_rows(head: &[String], columns: &[usize]) -> Vec<Vec<String>> {
    let names = head.iter().zip(columns);
    let lines: Vec<Vec<String>> = names.map(|(name, column)| broken(name, *column)).collect();
    let most = lines.iter().map(Vec::len).max().unwrap_or(0);
    let row = |at: usize| {
        let cell = |lines: &Vec<String>| lines.get(at).cloned().unwrap_or_default();
        lines.iter().map(cell).collect()
    };
    (0..most).map(row).collect()
}

/// A text in lines of at most so many columns, but for longer words.
pub(super) fn broken(name: &str, column: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split(' ') {
        match lines.last_mut() {
            Some(line) if columns_of(line) + 1 + columns_of(word) <= column => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(head: &[&str], rows: &[&[&str]]) -> Table {
        let cells = |row: &[&str]| row.iter().map(|cell| (*cell).to_owned()).collect();
        Table {
            head: cells(head),
            rows: rows.iter().map(|row| cells(row)).collect(),
        }
    }

    #[test]
    fn figures_stand_to_the_right_in_the_last_column_too() {
        let table = table(
            &["", "a", "b"],
            &[&["lost", "7", "10"], &["work", "336", "8"]],
        );
        assert_eq!(
            table.text(80),
            "        a   b\nlost    7  10\nwork  336   8\n"
        );
        assert_eq!(table.width(), 13);
    }

    #[test]
    fn columns_that_do_not_fit_go_into_a_table_below() {
        let table = table(
            &["", "a", "b", "c"],
            &[&["lost", "12345", "10", "7"], &["work", "", "", "8"]],
        );
        assert_eq!(table.text(18).lines().count(), 3);
        let pairs = "          a   b\nlost  12345  10\n\n      c\nlost  7\nwork  8\n";
        assert_eq!(table.text(17), pairs);
        assert_eq!(table.text(15), pairs);
        let single =
            "          a\nlost  12345\n\n       b\nlost  10\n\n      c\nlost  7\nwork  8\n";
        assert_eq!(table.text(14), single);
        assert_eq!(table.text(3), single, "a number is never cut");
    }

    #[test]
    fn long_head_goes_on_below() {
        let table = table(&["", "old client, new times"], &[&["lost", "1m30s (1–2)"]]);
        assert_eq!(
            table.text(80),
            "      old client,\n        new times\nlost  1m30s (1–2)\n"
        );
        assert_eq!(narrowest("old client, new times"), 11);
        assert_eq!((narrowest("lost"), narrowest("")), (4, 0));
        assert_eq!(broken("a b c", 3), ["a b", "c"]);
        assert_eq!(broken("longer", 3), ["longer"]);
    }

    #[test]
    fn markdown_keeps_a_bar_of_a_name_in_its_cell() {
        assert_eq!(
            table(&["", "a|b"], &[&["lost", "1"]]).markdown(),
            "|  | a\\|b |\n|---|---:|\n| lost | 1 |\n"
        );
    }
}
